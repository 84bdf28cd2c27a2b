# What goes in and what comes out: making and reading large recordings, lag histograms of
# all pairs, and printing large results.
#
# Rscript bench/recordings.R [small]      `small` is a tenth of everything
#
# Seconds by the clock and of the processor, medians of three. Of a table on disk the first
# reading is left out.

library(synfire)
options(width = 120)
part <- if ("small" %in% commandArgs(TRUE)) 0.1 else 1

timed <- function(what, threads, run, times = 3) {
  run_once <- function(k) {
    gc()
    spent <- system.time(run())
    c(spent[["elapsed"]], spent[["user.self"]] + spent[["sys.self"]])
  }
  spent <- apply(vapply(seq_len(times), run_once, c(0, 0)), 1, stats::median)
  data.frame(what = what, threads = threads, seconds = round(spent[[1]], 2),
             processor = round(spent[[2]], 2))
}

set.seed(1)
n <- 4e7 * part
time <- stats::runif(n, 0, 7200)
unit <- sample(1000L, n, TRUE)
rows <- list(
  timed("spike_trains(), 40 million unsorted spikes, units as integers", 2,
        \() spike_trains(time, unit)),
  timed("the same, units as text", 2, local({
    text <- sprintf("unit%04d", unit)
    \() spike_trains(time, text)
  }))
)

# 10 million rows are about 200 MB.
m <- 1e7 * part
file <- tempfile(fileext = ".csv")
writeLines(c("time,unit", sprintf("%.6f,%d", sort(time[seq_len(m)]), unit[seq_len(m)])), file)
megabytes <- file.size(file) / 1e6
invisible(read_spikes(file))
rows$csv <- timed(sprintf("read_spikes(), a table of %.0f MB", megabytes), 2,
                  \() read_spikes(file))
unlink(file)

x <- spike_trains(time[seq_len(m)] / 7.2, unit[seq_len(m)], start = 0, end = 1000)
rows$lags <- timed("cross_correlogram(), 1,000 units, 10 million spikes, 50 ms in bins of 1 ms", 1,
                   \() cross_correlogram(x, 0.001, 0.05, threads = 1), times = 1)

episodes <- mine_episodes(simulate_sym26(20), 20, cbind(c(0, 0.005), c(0.005, 0.010)))
many <- episodes[rep(seq_len(nrow(episodes)), length.out = m), ]
invisible(utils::capture.output(print(many)))
rows$print <- timed("print(), 10 million episodes", 1, \() utils::capture.output(print(many)))

rows <- do.call(rbind, rows)
row.names(rows) <- NULL
if (part < 1) cat("A tenth of all numbers.\n")
print(rows, right = FALSE)
