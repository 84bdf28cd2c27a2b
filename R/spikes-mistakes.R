# Mistakes that everybody makes: milliseconds for seconds, times and units swapped, a clock
# that starts again with each trial. What cannot be meant is an error; what is only
# unlikely is a warning. Both name the remedy.

#' A warning about data or about a choice that does not suit them
#' @noRd
warn_unlikely <- function(text, hint) {
  warn_about("unlikely", escape_braces(text), i = escape_braces(hint), call = user_frame())
}

# Times on a coarser clock are no spikes at which milliseconds could be meant.
finest_of_slow <- 0.02

# ---- When a recording is made ------------------------------------------------------------

#' Error or warning where times and units look swapped
#'
#' @param named What `unit_codes()` gives for `unit`.
#' @noRd
check_swapped <- function(time, unit, named, arg) {
  n <- length(time)
  units <- length(named$levels)
  if (n < 10L || is.factor(unit)) return(invisible())
  if (is.double(unit)) {
    number <- as.double(named$levels)
    decimals <- any(number != round(number), na.rm = TRUE)
    refuse_if(decimals && all(time == round(time), na.rm = TRUE), arg,
              "spike times, and `unit` the names of units",
              "whole numbers alone, while `unit` holds decimals: they look swapped",
              "The first argument is the time: `spike_trains(time, unit)`.")
  }
  # Few spikes may be of a unit each; few times of many units are no spikes.
  times <- if (n >= 50L && units >= 0.9 * n) length(unique(time)) else 0L
  if (times > 1L && (n >= 1000L || times < n / 2)) {
    warn_unlikely(
      sprintf("There are nearly as many units (%s) as spikes (%s).", commas(units), commas(n)),
      "Are times and units swapped? The first argument is the time, the second the unit."
    )
  }
}

#' Warning where the rate of units shows that times are not in seconds
#'
#' Times in milliseconds that are read as seconds give a thousandth of the rate. Neurons
#' that fire less than once in twenty seconds seldom have fifty spikes each, and those that
#' fire less than once in a hundred seldom twenty.
#' @param seconds From the first to the last spike.
#' @noRd
check_slow <- function(n, units, seconds) {
  each <- n / units
  if (!(each >= 50 && each < 0.05 * seconds || each >= 20 && each < 0.01 * seconds)) {
    return(invisible())
  }
  warn_unlikely(
    sprintf("Units fire at %s Hz, over %s s.", format(signif(each / seconds, 2)), short(seconds)),
    "Times are taken in seconds. Say `time_unit = \"ms\"` where they are in milliseconds."
  )
}

#' Warning where the times of units fall back again and again, as a restarting clock's do
#'
#' Times in no order fall back at half of all steps. A clock that restarts falls back
#' seldom, from late times to early ones.
#' @param ticks Times in the order in which they came.
#' @noRd
check_restarts <- function(ticks, code) {
  part <- seq_len(min(length(ticks), 1e6))
  code <- as.integer(code)[part]
  o <- order(code, method = "radix")
  ticks <- ticks[part][o]
  code <- code[o]
  same <- which(code[-1L] == code[-length(code)])
  before <- ticks[same]
  after <- ticks[same + 1L]
  back <- after < before
  falls <- tabulate(code[same][back], max(code))
  steps <- tabulate(code[same], max(code))
  often <- stats::median(falls[steps > 0L])
  if (length(same) < 50L || often < 3 || sum(falls) > 0.3 * length(same)) return(invisible())
  span <- range(ticks)
  place <- \(t) mean((t - span[[1L]]) / (span[[2L]] - span[[1L]]))
  if (place(before[back]) < 0.5 || place(after[back]) > 0.35) return(invisible())
  warn_unlikely(
    sprintf("The times of each unit fall back about %s times, from late ones to early ones.",
            commas(round(often))),
    paste("Where the clock starts again with each trial, give `trial`, the trial of each",
          "spike; otherwise trials are laid over each other.")
  )
}

#' Warning where the bounds of a recording look given in the unit of the times
#'
#' Bounds are in seconds whatever the unit of the times. Those that leave nearly all of the
#' recording empty, and that hold the spikes when they are read in that unit, are seldom meant.
#' @param start,end As the user gave them.
#' @param per_second How many of the unit there are in a second.
#' @noRd
check_bounds_unit <- function(x, start, end, per_second) {
  n <- nrow(x)
  given <- c(start = start, end = end)
  if (per_second == 1 || n < 2L || is.null(given)) return(invisible())
  time <- .subset2(x, "time")[c(1L, n)]
  length <- attr(x, "end") - attr(x, "start")
  tick <- attr(x, "resolution")
  meant <- given / per_second
  fits <- all(c(start / per_second <= time[[1L]] + tick, end / per_second >= time[[2L]] - tick))
  if (!fits || length <= 100 * (time[[2L]] - time[[1L]]) || time[[1L]] == time[[2L]]) {
    return(invisible())
  }
  warn_unlikely(
    sprintf("The recording is %s s long, and all of its spikes lie within %s s.", short(length),
            short(time[[2L]] - time[[1L]])),
    sprintf("`start` and `end` are in seconds, whatever the `time_unit`: did you mean %s?",
            paste0("`", names(meant), " = ", exact(signif(meant, 15)), "`", collapse = ", "))
  )
}

# ---- When a recording is mined -----------------------------------------------------------

#' Median interval between the spikes of a unit, in seconds; NA without any
#' @noRd
median_isi <- function(x) {
  part <- seq_len(min(nrow(x), 1e6))
  code <- as.integer(.subset2(x, "unit"))[part]
  o <- order(code, method = "radix")
  time <- .subset2(x, "time")[part][o]
  code <- code[o]
  stats::median(diff(time)[diff(code) == 0L])
}

#' Milliseconds as one would write them in seconds: 5 ms is 0.005
#' @noRd
as_if_ms <- function(seconds) exact(signif(seconds / 1000, 6))

#' Error for delays that no two spikes can have, warning for those that take in many
#'
#' @param seconds Matrix of intervals, a row each.
#' @noRd
check_delays_fit <- function(x, seconds) {
  low <- min(seconds[, 1L])
  high <- max(seconds[, 2L])
  if (nrow(x) < 2L || high < 1 || attr(x, "resolution") > finest_of_slow) return(invisible())
  longest <- max(lengths_of_trials(x))
  shown <- sprintf("`intervals` are in seconds: for %s to %s ms write `c(%s, %s)`.", exact(low),
                   exact(high), as_if_ms(low), as_if_ms(high))
  refuse_if(low >= longest, "intervals",
            sprintf("delays that fit into %s of %s s",
                    if (is.null(attr(x, "trials"))) "the recording" else "the longest trial",
                    short(longest)), sprintf("delays above %s s", exact(low)), shown)
  if (high < 2 || nrow(x) < 100L) return(invisible())
  isi <- median_isi(x)
  if (is.na(isi) || high < 5 * isi) return(invisible())
  warn_unlikely(
    sprintf(paste("Delays of up to %s s are long: half of the intervals between spikes of a unit",
                  "are below %s s."), exact(high), format(signif(isi, 2))), shown
  )
}

#' Error for bins so long that the search would not end, warning where that is unlikely meant
#'
#' @param bin Ticks of a bin.
#' @param window Bins of a window.
#' @param filters As `pattern_search()` gives them.
#' @param warn Whether to warn; `FALSE` where a function that is called next does.
#' @noRd
check_bins_fit <- function(x, bin, window, filters, warn = TRUE) {
  resolution <- attr(x, "resolution", exact = TRUE)
  seconds <- ticks_to_seconds(bin, resolution)
  if (seconds < 1 || nrow(x) < 100L || resolution > finest_of_slow) return(invisible())
  isi <- median_isi(x)
  if (is.na(isi) || seconds < 2 * isi) return(invisible())
  at <- floor((train_ticks(x) - interval_ticks(x)[[1L]]) / bin)
  code <- as.integer(.subset2(x, "unit"))
  units <- length(unique(code))
  bins <- length(unique(at))
  filled <- length(unique(at * (nlevels(.subset2(x, "unit")) + 1) + code)) / (units * bins)
  hint <- sprintf("`bin_size` is in seconds: for %s ms write `bin_size = %s`.", exact(seconds),
                  as_if_ms(seconds))
  # Any two windows share so many items, and each set of windows may share a set of them.
  shared <- filled^2 * units * window
  refuse_if(min(shared, bins) >= 25 && filters$min_count < bins / 2 && filters$max_spikes > 4,
            "bin_size", "so short that few units fire in a bin",
            sprintf("%s s, and a unit fires in %s %% of all bins: the search would not end",
                    exact(seconds), round(100 * filled)), hint)
  if (warn) warn_unlikely(
    sprintf(paste("Bins of %s s are long: half of the intervals between spikes of a unit are",
                  "below %s s, and a unit counts once in a bin."), exact(seconds),
            format(signif(isi, 2))), hint
  )
}
