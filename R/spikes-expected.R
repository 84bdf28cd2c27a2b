# How often chains and patterns would occur by chance: the generic function, and what its methods
# share.

#' Columns of counts, with the expected count, the excess and the surprise of each
#' @noRd
with_excess <- function(columns, expected) {
  columns$expected <- expected
  columns$excess <- columns$count - expected
  columns$surprise <- surprise(columns$count, expected)
  new_frame(columns, length(expected))
}

#' Print what is least likely by chance: a table whose last column is the episode or pattern
#' @param test The function that tests it.
#' @noRd
print_surprising <- function(x, test) {
  if (is.null(x)) return(invisible())
  cat("\nLeast likely by chance, if units fired independently, each of other units\n")
  print_left(x[-5L], as.list(x[5L]))
  cat("expected_counts() explains these columns; ", test, " tests against surrogates.\n", sep = "")
}

#' Minus the logarithm of the probability of such a count or more
#' @noRd
surprise <- function(count, expected) {
  -stats::ppois(count - 1, expected, lower.tail = FALSE, log.p = TRUE) / log(10)
}

#' The recording that `expected_counts()` was given
#' @noRd
counted_recording <- function(recording) {
  refuse_if(is.null(recording), "recording", "the recording in which they were counted", "NULL",
            "These do not know their recording; give it.")
  call <- user_frame()
  rlang::try_fetch(as_spike_trains(recording), synfire_error_argument = \(e) {
    abort_arg("recording", "a recording, or what `as_spike_trains()` takes", describe(recording),
              "`as_spike_trains(recording)` says what is wrong with it.", call = call)
  })
}

#' Error where a recording lacks units of the episodes, or patterns, that are looked for in it
#' @noRd
check_units_known <- function(units, recording, of) {
  unknown <- setdiff(units, levels(.subset2(recording, "unit")))
  refuse_if(length(unknown), "recording", sprintf("one with the units of the %s", of),
            sprintf("without unit \"%s\"", unknown[[1L]]))
}

#' Spikes of each unit within trials, per second; named by unit
#' @noRd
observed_rates <- function(x) {
  rates <- spikes_in_trials(x) / max(sum(lengths_of_trials(x)), 1e-300)
  rlang::set_names(rates, levels(.subset2(x, "unit")))
}

#' How often episodes or patterns would occur by chance
#'
#' The count to expect if every unit fired at random, at its own rate and independently of
#' all others (independent Poisson processes), and how far the count is beyond it. This
#' takes no surrogates, and a second for a million episodes: a way to rank what was found,
#' and to choose a threshold ([suggest_min_count()]). It is no test. Rates that change
#' together, bursts and refractoriness all make counts that independent units would not
#' make; [episode_significance()] and [spade()] compare with surrogates that keep them.
#'
#' # How it is computed
#' **Episodes.** Counts are of non-overlapped occurrences: after each occurrence the search
#' begins anew. The expected count is the observed time divided by the mean time that the
#' search takes for one occurrence. The mean length of an occurrence is first taken off the
#' time of each trial, as an occurrence must lie within it.
#'
#' The mean time for one occurrence is a sum over the units of the chain. Each spike of a unit
#' opens a window in which the next unit has to fire; windows that overlap make one longer
#' window. The sum adds up, for each unit, the mean time until it fires within a window that
#' the units before it have opened. Its terms follow from queueing theory: while such a window
#' is open, a queue with a fixed service time is busy.
#'
#' **Patterns.** The number of bins in which a window could open, times the probability
#' that each of its units fires in its bin: the share of all bins in which the unit fires.
#'
#' # How accurate it is
#' Expected counts of episodes were compared with the mean count in simulated recordings of
#' independent Poisson units. Pairs of two different units are within 1 % of the simulation.
#' Longer chains are 1 to 11 % off as a rule. The two largest errors were these: where windows
#' hold many spikes, the expected count was up to 37 % too high; and where the simulated mean
#' was only 3, it was 33 % too low. A unit that comes twice in an episode makes the expected
#' count up to 16 % too high. An expected count that is too high makes `excess` and `surprise`
#' too low.
#'
#' @param x What [mine_episodes()], [episode()] or [mine_patterns()] gives.
#' @param recording The recording in which they were counted: [spike_trains()], or
#'   anything [as_spike_trains()] takes; by default the one that was mined.
#' @return For episodes the table itself, in its order, with three more columns; for
#'   patterns a data frame with a row for each, `number`, `pattern`, `size` and `count`, and
#'   these columns:
#'   \describe{
#'     \item{expected}{the count to expect}
#'     \item{excess}{`count - expected`}
#'     \item{surprise}{how unlikely so high a count is, as a power of ten: 3 for a
#'       probability of 0.001 that a Poisson variable with the mean `expected` reaches
#'       `count`. `NA` without a count.}
#'   }
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: where the recording is
#' not known, or does not have a unit of the episodes.
#' @references
#' Takacs L (1962). *Introduction to the theory of queues*. Oxford University Press. For
#' how long at least one server of a queue without waiting is busy.
#'
#' Gruen S, Diesmann M, Aertsen A (2002). Unitary events in multiple single-neuron spiking
#' activity: I. Detection and significance. *Neural Computation*, 14, 43-80.
#' \doi{10.1162/089976602753284455}. For surprise as a measure.
#' @seealso [suggest_min_count()], [episode_significance()].
#' @examples
#' found <- mine_episodes(songbird, min_count = 16, intervals = c(0.02, 0.12), threads = 2)
#' counted <- expected_counts(found)
#' counted[order(-counted$surprise), ]
#' @export
expected_counts <- function(x, recording = attr(x, "recording", exact = TRUE)) {
  check_given(x = "what `mine_episodes()` or `mine_patterns()` gives")
  UseMethod("expected_counts")
}

#' @export
expected_counts.default <- function(x, recording) {
  abort_arg("x", "what `mine_episodes()` or `mine_patterns()` gives", describe(x),
            call = quote(expected_counts()))
}
