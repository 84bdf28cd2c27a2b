# usage: Rscript tools/demo.R [FILE]
# Mines a recording and draws what it finds into demo-output/. Without a file the
# recording is simulated. From the environment: TIME_UNIT (s, ms, us) of the times in the
# file; INTERVALS, delays in ms, as in 0-5,5-10; MIN_COUNT; OUT, the folder.

library(synfire)

options(width = max(100, getOption("width")))
say <- function(...) cat(sprintf(...), "\n", sep = "")
setting <- function(name) {
  value <- Sys.getenv(name)
  if (nzchar(value)) value
}
short <- function(n) format(n, big.mark = ",", digits = 3, trim = TRUE)

read_file <- function(file) {
  unit <- setting("TIME_UNIT")
  x <- if (is.null(unit)) read_spikes(file) else read_spikes(file, time_unit = unit)
  seconds <- attr(x, "end") - attr(x, "start")
  # A neuron that fires once in ten minutes is rare, times in ms without a word are not.
  if (is.null(unit) && nrow(x) < 0.02 * seconds * nlevels(x$unit)) {
    say("Spikes are very rare here. If times in the file are in ms, add TIME_UNIT=ms.")
  }
  x
}

parse_intervals <- function(text) {
  if (is.null(text)) return(cbind(low = c(0, 5, 10), high = c(5, 10, 15)) / 1000)
  parts <- strsplit(strsplit(text, ",")[[1L]], "-")
  bounds <- suppressWarnings(vapply(parts, \(p) as.numeric(p)[1:2], numeric(2)))
  if (anyNA(bounds)) stop("INTERVALS must be such as 0-5,5-10 (ms), not ", text)
  structure(t(bounds) / 1000, dimnames = list(NULL, c("low", "high")))
}

# From the count that is suggested upwards, until what is found fits into memory: bursts
# can make numbers explode. Where no pair reaches it, the most frequent pairs are shown.
mine_as_suggested <- function(x, intervals) {
  min_count <- suggest_min_count(x, intervals)
  pairs <- mine_episodes(x, min_count = 1, intervals = intervals, max_size = 2)
  most <- max(pairs$count[pairs$size == 2L], 1)
  min_count <- max(2, min(min_count, ceiling(most / 2)))
  repeat {
    found <- tryCatch(mine_episodes(x, min_count = min_count, intervals = intervals,
                                    max_memory = 1e9),
                      synfire_error_budget = \(e) NULL)
    if (!is.null(found)) return(found)
    min_count <- 2 * min_count
  }
}

picture <- function(found, type, file, width, height, ...) {
  plot <- ggplot2::autoplot(found, type = type, ...)
  ggplot2::ggsave(file, plot, width = width, height = height, dpi = 150, bg = "white")
  say("  %s", file)
}

main <- function(file = NULL) {
  folder <- setting("OUT")
  if (is.null(folder)) folder <- "demo-output"
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  intervals <- parse_intervals(setting("INTERVALS"))
  min_count <- setting("MIN_COUNT")

  if (is.null(file)) {
    say("Simulating Sym26: 26 neurons, 60 s, two planted chains.")
    set.seed(1)
    x <- simulate_sym26()
    if (is.null(min_count)) min_count <- 300
  } else {
    say("Reading %s.", file)
    x <- read_file(file)
  }
  say("%s", format(x))
  say("\nMining with delays of %s ms.",
      paste(sprintf("(%s, %s]", short(1000 * intervals[, 1]), short(1000 * intervals[, 2])),
            collapse = ", "))
  found <- if (is.null(min_count)) {
    mine_as_suggested(x, intervals)
  } else {
    mine_episodes(x, min_count = as.numeric(min_count), intervals = intervals)
  }
  levels <- attr(found, "levels")
  say("min_count = %s%s: %s candidates counted exactly in %.2f s.\n",
      short(attr(found, "min_count")),
      if (is.null(min_count)) " (chosen here; set MIN_COUNT to change it)" else "",
      short(sum(levels$candidates)), attr(found, "elapsed"))
  print(found)

  say("\nPictures:")
  picture(found, "counts", file.path(folder, "counts.png"), 8, 5)
  if (all(found$size < 2L)) {
    say("No unit follows another often enough to be drawn. Lower MIN_COUNT.")
    return(invisible())
  }
  picture(found, "raster", file.path(folder, "raster.png"), 9, 5.6)
  picture(found, "network", file.path(folder, "network.png"), 8, 5.6)
  picture(found, "lags", file.path(folder, "lags.png"), 9, 5.6)
}

arguments <- commandArgs(trailingOnly = TRUE)
main(if (length(arguments) > 0L) arguments[[1L]])
