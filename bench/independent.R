# The p value of the best group in recordings of independent units, from find_assemblies(): each
# unit is a Poisson process. A table of how often it is at most 0.05, 0.1 and 0.5, in percent.
#
#   Rscript bench/independent.R [from=1] [to=12] [cores=1] [out=FILE]
#
# `from` and `to` are rows of `cells`; with `out` the rows are added to that file, or replace those
# of the same cells in it. `none` is the share of recordings in which no three units have pairs
# with an excess at lags that agree, so that p is 1; `reported` that with any assembly; `uniform` is
# the p value of a Kolmogorov-Smirnov test against uniform p values, of recordings with a group.

library(synfire)
options(cli.progress_show_after = Inf, width = 160)

cells <- utils::read.table(header = TRUE, text = "
  units rate seconds surrogates recordings
     20  1.0     300         39        200
     30  0.3     600         39        200
     12 10.0      60         39        200
    100  1.0      60         39        200
     12  0.1    1200         39        200
     20  3.0     120         39        200
     40  0.1    1200         39        200
     50  1.0     120         39        200
     40 10.0      60         39        200
    100  0.3     300         39        200
    200  1.0      60         39        200
    200  0.2     300         39        200")

independent_units <- function(units, rate, seconds) {
  n <- stats::rpois(units, rate * seconds)
  label <- sprintf("u%03d", seq_len(units))
  spike_trains(stats::runif(sum(n), 0, seconds), factor(rep(label, n), levels = label), start = 0,
               end = seconds)
}

# Seeds are even numbers.
best_of <- function(cell, k) {
  set.seed(2 * k)
  x <- independent_units(cell$units, cell$rate, cell$seconds)
  found <- suppressMessages(find_assemblies(x, n_surrogates = cell$surrogates, threads = 1))
  c(attr(found, "best"), reported = nrow(found) > 0)
}

measure <- function(cell) {
  best <- simplify2array(parallel::mclapply(seq_len(cell$recordings), \(k) best_of(cell, k),
                                            mc.cores = cores))
  any <- is.finite(best["score", ])
  at_most <- function(p) 100 * mean(best["p", ] <= p * (1 + 1e-9))
  # Ranks among surrogates, spread evenly over the p value that each stands for.
  spread <- best["p", any] - stats::runif(sum(any)) / (cell$surrogates + 1)
  data.frame(cell, p_0.05 = at_most(0.05), p_0.1 = at_most(0.1), p_0.5 = at_most(0.5),
             none = 100 * mean(!any), reported = 100 * mean(best["reported", ]),
             uniform = if (sum(any) > 0) signif(stats::ks.test(spread, "punif")$p.value, 2) else NA)
}

given <- strsplit(commandArgs(TRUE), "=", fixed = TRUE)
given <- stats::setNames(lapply(given, `[`, 2L), vapply(given, `[`, "", 1L))
rows <- seq(as.integer(c(given$from, 1L)[[1L]]), as.integer(c(given$to, nrow(cells))[[1L]]))
cores <- as.integer(c(given$cores, 1L)[[1L]])

#' Adds a row to a file, or replaces that of the same cell
keep <- function(row, file) {
  all <- if (file.exists(file)) rbind(utils::read.csv(file), row) else row
  again <- duplicated(all[c("units", "rate", "seconds")], fromLast = TRUE)
  utils::write.csv(all[!again, ], file, row.names = FALSE)
}

for (row in rows) {
  measured <- measure(cells[row, ])
  print(measured, row.names = FALSE)
  if (!is.null(given$out)) keep(measured, given$out)
}
