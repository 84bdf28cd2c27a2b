# How much of a pattern rests on single spikes or windows.

#' Stability of patterns
#'
#' A pattern and its occurrences hold each other: all windows with those spikes, and all
#' spikes that those windows have in common. How much of it would be left if some of the
#' spikes, or some of the windows, had not been there? Patterns that are there by chance
#' tend to break.
#'
#' # The two kinds
#' * `intensional`: of all subsets of the pattern's spikes, the share that occurs in just
#'   the same windows as the pattern and in no other.
#' * `extensional`: of all subsets of its windows, the share whose windows have just the
#'   spikes of the pattern in common and no other.
#'
#' The whole set and the empty set are subsets, too; no spikes occur in all windows, and no
#' windows have all spikes in common. The names are those of Elephant, by what the subsets
#' are taken of. (Kuznetsov, and Babin with him, call intensional what keeps the
#' intent, the spikes, and so have these two the other way round.)
#'
#' # Estimates
#' A set with no more than `n_subsets` subsets has all of them looked at: the value is
#' exact. Of larger ones, `n_subsets` are drawn at random with replacement, each as likely
#' as any other. With probability `1 - delta` the estimate is then off by no more than
#' `epsilon`, if there are \eqn{\log(2 / \delta) / (2 \epsilon^2) + 1} of them (Babin and
#' Kuznetsov 2012), and that, rounded, is how many there are by default. [set.seed()]
#' decides them, for any number of threads; each pattern has its own stream of random
#' numbers, by its place in `patterns`.
#'
#' @inheritParams reduce_patterns
#' @param n_subsets How many subsets to draw for each pattern and kind; `NULL` for as many
#'   as `delta` and `epsilon` ask for.
#' @param delta,epsilon The probability, above 0 and below 1, that an estimate is off by
#'   more than `epsilon`, above 0. Not used with `n_subsets`.
#' @param type Which kinds to find.
#' @param threads Number of threads; `NULL` for those this process may use.
#' @param max_memory Bytes that may be held besides `patterns`: about 40 for each spike of
#'   the recording, 12 for each spike of the patterns, and 6 for each of their occurrences.
#'   Each thread adds 8 for each bin with spikes, 4 for each unit and bin of a window, and
#'   for each item (a unit at a lag) that is anywhere in the windows of its pattern as many
#'   bits as there are windows. Where that is too much for all threads together, fewer go
#'   on, and the result is the same.
#' @return A data frame with a row for each pattern: `pattern`, its name, and `intensional`
#'   and `extensional`, from 0 to 1, as far as they were asked for. The attributes
#'   `n_subsets` and `key` say how many subsets were drawn and with which random numbers.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; 2^31 occurrences or
#' more give `synfire_error_too_large`, more than fits in `max_memory` on one thread gives
#' `synfire_error_budget`, and more than the machine has memory for
#' `synfire_error_memory`.
#' @references
#' Babin MA, Kuznetsov SO (2012). Approximating concept stability. *Formal Concept
#' Analysis, ICFCA 2012, Lecture Notes in Computer Science*, 7278, 7-15.
#' \doi{10.1007/978-3-642-29892-9_7}
#'
#' Quaglio P, Yegenoglu A, Torre E, Endres DM, Gruen S (2017). Detection and evaluation of
#' spatio-temporal spike patterns in massively parallel spike train data with SPADE.
#' *Frontiers in Computational Neuroscience*, 11, 41. \doi{10.3389/fncom.2017.00041}
#' @seealso [mine_patterns()], [reduce_patterns()]
#' @examples
#' set.seed(1)
#' x <- simulate_patterns(duration = 20, units = 8)
#' found <- mine_patterns(x, bin_size = 0.005, window_bins = 10, min_spikes = 3, min_count = 8,
#'                        threads = 2)
#' stable <- pattern_stability(found, threads = 2)
#' head(stable)
#' # Those of which a fair share of the parts occurs nowhere else; with `|` a second
#' # threshold, of the extensional stability, can let others in, as Elephant does.
#' found[stable$intensional > 0.3]
#' @export
pattern_stability <- function(patterns, n_subsets = NULL, delta = 0.05, epsilon = 0.05,
                              type = c("intensional", "extensional"), threads = NULL,
                              max_memory = 4e9) {
  check_given(patterns = "what `mine_patterns()` gives")
  check_mined(patterns)
  n_subsets <- check_subsets(n_subsets, delta, epsilon)
  check_kinds(type, "type")
  here <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  key <- random_key()
  options <- list(subsets = n_subsets, threads = here, max_memory = max_memory, key = key,
                  intensional = "intensional" %in% type, extensional = "extensional" %in% type)
  found <- .Call(r_pattern_stability, mined_events(patterns), patterns_to_find(patterns), options)
  found <- finish_status(found, "finding the stability of these patterns",
                         fewer_patterns, limit_of = "occurrences")
  found <- found[kinds_of_stability %in% type]
  names(found) <- kinds_of_stability[kinds_of_stability %in% type]
  structure(c(list(pattern = format(patterns)), found), class = "data.frame",
            row.names = .set_row_names(length(patterns)), n_subsets = n_subsets, key = key)
}

#' Some rows of what pattern_stability() gives, which stay that
#' @noRd
take_rows <- function(stability, rows) {
  about <- attributes(stability)[c("n_subsets", "key")]
  columns <- lapply(unclass(stability)[names(stability)], `[`, rows)
  structure(columns, class = "data.frame", row.names = .set_row_names(length(rows)),
            n_subsets = about$n_subsets, key = about$key)
}

kinds_of_stability <- c("intensional", "extensional")

check_kinds <- function(type, arg) {
  if (is.character(type) && length(type) > 0L && all(type %in% kinds_of_stability)) return()
  abort_arg(arg, "\"intensional\", \"extensional\" or both", describe(type))
}

#' How many subsets to draw
#' @noRd
check_subsets <- function(n_subsets, delta, epsilon) {
  if (!is.null(n_subsets)) n_subsets <- check_count(n_subsets, max = 2^53)
  delta <- check_number(delta, above = 0, max = 1 - 2^-53)
  epsilon <- check_number(epsilon, above = 0)
  if (!is.null(n_subsets)) return(n_subsets)
  n <- round(log(2 / delta) / (2 * epsilon^2) + 1)
  refuse_if(n > 2^53, "epsilon", "large enough for a number of subsets that can be drawn",
            format(epsilon))
  n
}
