# Expected counts of any kind of pattern, with their excess and surprise.

#' Columns of counts, with the expected count, the excess and the surprise of each
#' @noRd
with_excess <- function(columns, expected) {
  columns$expected <- expected
  columns$excess <- columns$count - expected
  columns$surprise <- surprise(columns$count, expected)
  new_frame(columns, length(expected))
}

#' Minus the logarithm of the probability of such a count or more
#' @noRd
surprise <- function(count, expected) {
  -stats::ppois(count - 1, expected, lower.tail = FALSE, log.p = TRUE) / log(10)
}

#' The recording that `expected_counts()` was given
#' @noRd
counted_recording <- function(recording, call = rlang::caller_env()) {
  refuse_if(is.null(recording), "recording", "the recording in which they were counted", "NULL",
            "These do not know their recording; give it.", call = call)
  rlang::try_fetch(as_spike_trains(recording), synfire_error_argument = \(e) {
    abort_arg("recording", "a recording, or what `as_spike_trains()` takes",
              describe(recording), "`as_spike_trains(recording)` says what is wrong with it.",
              call = call)
  })
}

#' Spikes of each unit within trials, per second; named by unit
#' @noRd
observed_rates <- function(x) {
  unit <- .subset2(x, "unit")
  inside <- !is.na(trial_of(x))
  spikes <- tabulate(unit[inside], nlevels(unit))
  rlang::set_names(spikes / max(sum(lengths_of_trials(x)), 1e-300), levels(unit))
}
