# One method of this package on one recording, for bench/truth.R, which starts this.
#
#   Rscript worker.R METHOD BIN RECORDING RESULT DURATION
#
# RECORDING is a table of `time` and `unit`; RESULT, a table of `assembly`, `unit`, `lag` and
# `p`, is written.
suppressPackageStartupMessages(library(synfire))
options(cli.progress_show_after = Inf)
given <- commandArgs(TRUE)
bin <- suppressWarnings(as.numeric(given[[2L]]))
table <- utils::read.csv(given[[3L]])
x <- spike_trains(table$time, factor(table$unit), start = 0, end = as.numeric(given[[5L]]))
set.seed(1)

#' @param units,lags Lists with the units (numbers) and lags of each assembly
#' @param p A number for each
as_table <- function(units, lags, p) {
  data.frame(assembly = rep(seq_along(units), lengths(units)), unit = unlist(units),
             lag = unlist(lags), p = rep(p, lengths(units)))
}

# Windows of at most 20 bins that last 0.1 s, or 3 bins where these are long. A pattern occurs
# in a quarter of the activations that are to be found at least, were there 60 of them.
by_spade <- function(x) {
  window <- max(3, min(20, ceiling(0.1 / bin)))
  found <- spade(x, bin, window, min_spikes = 3, min_count = 15, max_spikes = 6,
                 n_surrogates = 200, surrogate = "dither", dither = max(0.015, 3 * bin),
                 alpha = 0.05, threads = 1)
  kept <- found$patterns
  as_table(lapply(kept$units, \(u) as.integer(as.character(u))), lapply(kept$lags, as.numeric),
           if (length(kept$p_value)) kept$p_value else numeric())
}

by_assemblies <- function(x) {
  found <- as.data.frame(find_assemblies(x, threads = 1))
  p <- if (is.null(found$p)) found$p_value else found$p
  as_table(lapply(found$units, \(u) as.integer(as.character(u))), found$lags, p)
}

result <- switch(given[[1L]], spade = by_spade(x), ours = by_assemblies(x))
utils::write.csv(result, given[[4L]], row.names = FALSE)
