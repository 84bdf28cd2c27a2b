# The surrogates that episodes are compared with, where the user leaves the choice to us.

#' Arguments of surrogates that episodes of `x` are compared with
#'
#' What is not given scales with the question: `dither` with the delay intervals, and the
#' histogram of inter-spike intervals with `dither` and the units.
#' @param dither Seconds, or NULL.
#' @param more List of further arguments of the method.
#' @param width Width of the widest delay interval, in seconds.
#' @return List of `dither` and `more`, for choose_surrogates().
#' @noRd
scaled_surrogates <- function(x, surrogate, dither, more, width) {
  if (is.null(dither)) dither <- min(dithered_widths * width, lengths_of_trials(x))
  if (isTRUE(surrogate %in% c("joint_isi", "isi_dither"))) {
    scaled <- isi_histogram(x, check_number(dither, above = 0))
    given <- names(more)
    if (any(c("truncation_limit", "n_bins") %in% given)) scaled <- scaled["sigma"]
    more <- c(more, scaled[setdiff(names(scaled), given)])
  }
  list(dither = dither, more = more)
}

# How far spikes move unless the user says, in widths of the widest interval. The delay
# between two spikes then spreads over twelve widths: at most a sixth of those that were in
# the interval stay in it.
dithered_widths <- 3

#' The median intervals of the units that fire like a clock, in seconds, named by unit
#' @noRd
clock_intervals <- function(x) {
  isi <- isi_statistics(x)
  clocks <- which(isi$intervals >= 20 & isi$lv < 0.1)
  rlang::set_names(isi$median[clocks], as.character(isi$unit[clocks]))
}

#' The histogram of intervals for joint-ISI dithering, in seconds
#'
#' Bins of a millisecond up to 0.1 s, as surrogate_trains() has them, but finer for a
#' `dither` of a few milliseconds. Units that fire like a clock need a histogram that holds
#' two of their intervals; else these would be taken apart.
#' @noRd
isi_histogram <- function(x, dither) {
  most <- 400
  bin <- min(0.001, dither / 4)
  limit <- max(100 * bin, 3 * clock_intervals(x))
  bin <- min(max(bin, limit / most), dither / 4)
  n_bins <- min(most, round(limit / bin))
  list(truncation_limit = bin * n_bins, n_bins = n_bins, sigma = min(0.002, signif(dither / 15, 6)))
}
