# One method of this package on one recording, for bench/truth.R, which starts this.
#
#   Rscript worker.R METHOD BIN RECORDING RESULT DURATION
#
# RECORDING is a table of `time` and `unit`; RESULT, a table of `assembly`, `unit`, `lag`, `p` and
# `times`, is written.
suppressPackageStartupMessages(library(synfire))
options(cli.progress_show_after = Inf)
given <- commandArgs(TRUE)
bin <- suppressWarnings(as.numeric(given[[2L]]))
table <- utils::read.csv(given[[3L]])
x <- spike_trains(table$time, factor(table$unit), start = 0, end = as.numeric(given[[5L]]))
set.seed(1)

#' @param units,lags,times Lists with the units (numbers), lags and times of each assembly
#' @param p A number for each
as_table <- function(units, lags, p, times) {
  times <- vapply(times, \(t) paste(sprintf("%.6f", t), collapse = " "), "")
  data.frame(assembly = rep(seq_along(units), lengths(units)), unit = unlist(units),
             lag = unlist(lags), p = rep(p, lengths(units)), times = rep(times, lengths(units)))
}

# Windows of at most 20 bins that last 0.1 s, or 3 bins where these are long; at least 30
# occurrences, as assemblies of the small recordings are activated 100 times.
by_spade <- function(x) {
  window <- max(3, min(20, ceiling(0.1 / bin)))
  found <- as.data.frame(spade(x, bin, window, min_spikes = 3, min_count = 30,
                               n_surrogates = 100, surrogate = "dither",
                               dither = max(0.015, 3 * bin), threads = 1), times = TRUE)
  # With 100 surrogates most p values are the same: among these, the more spikes the surer.
  surer <- rank(-found$count * lengths(found$units), ties.method = "first")
  as_table(lapply(found$units, as.integer), lapply(found$lags, \(lag) lag * bin),
           found$p + 1e-9 * surer, found$times)
}

by_assemblies <- function(x) {
  found <- as.data.frame(find_assemblies(x, threads = 1))
  # By the score, which tells apart what no surrogate comes near.
  as_table(lapply(found$units, as.integer), found$lags, 1 / (1 + exp(pmin(found$score, 500))),
           found$times)
}

result <- switch(given[[1L]], spade = by_spade(x), ours = by_assemblies(x))
utils::write.csv(result, given[[4L]], row.names = FALSE)
