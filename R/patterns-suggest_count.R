# A count that patterns hardly reach by chance, and what a search is foreseen to take.

#' Suggest a `min_count` to look for spike patterns with
#'
#' Suggests the smallest number of occurrences that no pattern of `min_spikes` spikes reaches
#' in a few surrogates of the recording. With the `min_count` of [spade()] and
#' [mine_patterns()] at this number, what is found is mostly beyond chance, and the search
#' is short; far below it, most patterns are chance, and they may be too many to be listed.
#'
#' Larger patterns reach fewer occurrences by chance. So a large pattern that is rare is found
#' with a larger `min_spikes`, and the count that is suggested for that. The numbers for the
#' next two sizes are in the message.
#'
#' Of each surrogate the largest count of a pattern of `min_spikes` spikes is looked for, and
#' nothing is listed, so that this takes seconds where listing all patterns takes hours.
#' The count that the largest of `n_surrogates` counts is reached by chance with
#' a probability of 1 / (`n_surrogates` + 1), at most, where the surrogates are what the
#' recording would be by chance. That is no test: [spade()] makes one.
#'
#' @inheritParams spade
#' @param min_spikes Least number of spikes of a pattern.
#' @param n_surrogates Number of surrogates, at least 1.
#' @return A whole number, at least 2. A message says how many patterns of the recording
#'   reach it; `suppressMessages()` leaves it out. The surrogates depend on [set.seed()].
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`, those about memory
#' `synfire_error_budget` and `synfire_error_memory`.
#' @seealso [spade()], [mine_patterns()]; [suggest_min_count()] for episodes.
#' @examples
#' set.seed(1)
#' x <- simulate_patterns(duration = 30, units = 10, rate = 4)
#' min_count <- suggest_pattern_count(x, bin_size = 0.005, window_bins = 8, threads = 2)
#' spade(x, 0.005, 8, min_count = min_count, n_surrogates = 100, threads = 2)
#' @export
suggest_pattern_count <- function(x, bin_size, window_bins, min_spikes = 3,
                                  min_units = min_spikes, n_surrogates = 5,
                                  surrogate = NULL, dither = NULL, ...,
                                  threads = NULL, max_memory = 4e9) {
  check_given(x = "a recording", bin_size = "the length of a bin in seconds",
              window_bins = "the length of the windows in bins")
  search <- pattern_search(x, bin_size, window_bins, min_spikes, 2, Inf, Inf, min_units)
  n <- check_count(n_surrogates, "n_surrogates", max = 1e4)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  refuse_if(nrow(search$x) == 0L, "x", "a recording with spikes", "one without")
  made <- pattern_surrogates(search, surrogate, dither, list(...))
  sizes <- max(min_spikes, min_units) + 0:2
  most <- vapply(sizes, \(size) chance_count(search, made, size, n, threads, max_memory), 0)
  count <- max(2, most[[1L]] + 1)
  filters <- utils::modifyList(search$filters, list(min_count = count))
  found <- pilot_mining(search, filters, threads, min(max_memory, pilot_bytes))
  many <- if (is.null(found)) "More patterns than fit 100 MB" else
    counted(length(found), "pattern")
  info("min_count",
       paste("In {counted(n, 'surrogate')} no pattern of {sizes[[1L]]} spikes occurs more than",
             "{commas(most[[1L]])} times. {many} of the recording occur{if",
             "(identical(many, '1 pattern')) 's'} {commas(count)} times or more."),
       paste("Patterns of {sizes[[2L]]} spikes occur up to {commas(most[[2L]])} times there,",
             "those of {sizes[[3L]]} up to {commas(most[[3L]])}: a larger {.arg min_spikes}",
             "needs a smaller {.arg min_count}."))
  count
}

#' The largest count of a pattern of `size` spikes in any of some surrogates, 0 where there
#' is none that occurs twice
#' @noRd
chance_count <- function(search, made, size, n, threads, max_memory) {
  search$filters <- list(min_spikes = size, max_spikes = size, min_count = 2, max_count = Inf,
                         min_units = search$filters$min_units)
  max(0, surrogate_maxima(search, made, n, threads = threads, max_memory = max_memory)$maxima)
}

# ---- Before a long search ----------------------------------------------------------------

# Bytes of the search that shows how much there is to be found.
pilot_bytes <- 1e8

# Seconds after which a job is said to be long.
long_seconds <- 60

#' What mining finds within so many bytes, or NULL where that is more
#' @noRd
pilot_mining <- function(...) {
  tryCatch(suppressWarnings(mine_search(...)), synfire_error_budget = \(e) NULL)
}

#' mine_patterns() with other filters
#'
#' @param ... Its other arguments.
#' @noRd
mine_search <- function(search, filters, threads, max_memory, ...) {
  mine_patterns(search$x, search$bin_size, search$window, filters$min_spikes, filters$min_count,
                filters$max_spikes, filters$max_count, filters$min_units, ..., threads = threads,
                max_memory = max_memory)
}

#' The patterns of a recording, or an error before a search that would not end well
#'
#' Mined within a small part of the memory first, which is enough for most. Where it is not,
#' mining with larger counts shows how fast patterns become more.
#' @param made What pattern_surrogates() gives, or NULL.
#' @param ... The other arguments of mine_patterns().
#' @noRd
mine_or_foresee <- function(search, made, threads, max_memory, ...) {
  mine <- \(filters, bytes) pilot_mining(search, filters, threads, bytes, ...)
  mined <- if (max_memory > pilot_bytes) mine(search$filters, pilot_bytes)
  if (is.null(mined) && max_memory > pilot_bytes) foresee(search, made, threads, max_memory, mine)
  mined %||% mine_search(search, search$filters, threads, max_memory, ...)
}

#' Error where the patterns are foreseen to take more than the memory, else how much they
#' take at least
#'
#' Patterns of larger sizes become frequent as the count goes down, so that memory grows by
#' more than the inverse of the count. On a recording of 25 units, of 72 min, it grew more
#' than 45 times from a count of 127 to one of 10, by a power of 1.5. So where a larger count
#' already fills the memory of the pilot, that says about how much another one needs.
#' @param mine Function of filters and bytes.
#' @noRd
foresee <- function(search, made, threads, max_memory, mine) {
  made <- made %||% suppressMessages(pattern_surrogates(search, NULL, NULL, list()))
  filters <- search$filters
  size <- max(filters$min_spikes, filters$min_units)
  chance <- chance_count(search, made, size, 1, threads, max_memory)
  pilot <- pilot_steps(filters, chance, mine)
  more <- (pilot$over / filters$min_count)^1.5
  advice <- c(
    if (chance >= filters$min_count) sprintf(
      paste("In a surrogate a pattern of %s spikes occurs %s times: most of what occurs less",
            "often is chance."), size, commas(chance)
    ),
    if (!is.null(pilot$found)) sprintf("`min_count = %s` finds %s in %s.", commas(pilot$count),
                                       counted(length(pilot$found), "pattern"),
                                       work_text(attr(pilot$found, "elapsed"))),
    paste("Raise `min_count`, for which `suggest_pattern_count()` suggests a value, raise",
          "`min_spikes`, or lower `window_bins`.")
  )
  if (pilot$bytes * more > max_memory) {
    abort_about(
      "budget", "These patterns are too many to be listed.",
      x = sprintf(paste("With `min_count = %s` they take about %s or more, and `max_memory` is",
                        "%s: with `min_count = %s` they take %s already."),
                  commas(filters$min_count), bytes_text(pilot$bytes * more),
                  bytes_text(max_memory), commas(pilot$over), bytes_text(pilot$bytes)),
      rlang::set_names(escape_braces(advice), "i")
    )
  }
  info("long", sprintf("Mining these patterns takes about %s and %s, or more.",
                       work_text(pilot$seconds * more), bytes_text(pilot$bytes * more)),
       escape_braces(advice))
}

#' Mining with counts from that of chance down, while it takes little
#'
#' @return List: the last `count` with which mining keeps to the memory of the pilot, and what
#'   it `found`, NULL where there is none; the last one that was tried, `over`, the `seconds`
#'   it took, and the `bytes` that it needs at least.
#' @noRd
pilot_steps <- function(filters, chance, mine) {
  out <- list(over = filters$min_count, seconds = 0, bytes = pilot_bytes)
  count <- max(chance + 1, 2 * filters$min_count)
  began <- proc.time()[["elapsed"]]
  now <- began
  while (count > filters$min_count && count <= filters$max_count && now < began + 5) {
    found <- mine(utils::modifyList(filters, list(min_count = count)), pilot_bytes)
    out$over <- count
    out$seconds <- proc.time()[["elapsed"]] - now
    out$bytes <- if (is.null(found)) pilot_bytes else attr(found, "peak_memory")
    now <- now + out$seconds
    if (is.null(found)) break
    out[c("count", "found")] <- list(count, found)
    count <- floor(count / sqrt(2))
  }
  out
}

#' Seconds of work, as one would say them
#' @noRd
work_text <- function(seconds) {
  if (seconds < 90) return(seconds_text(seconds))
  at <- findInterval(seconds, c(90, 90 * 60, 48 * 3600, 730 * 86400))
  sprintf("%s %s", commas(signif(seconds / c(60, 3600, 86400, 365.25 * 86400)[[at]], 2)),
          c("min", "h", "days", "years")[[at]])
}

#' Says before a long job how long the surrogates take, going by the first
#'
#' @param seconds That mining the recording took: where surrogates that take as long are no
#'   long job, nothing is looked at.
#' @param first Function that mines one surrogate with one thread.
#' @noRd
foresee_surrogates <- function(n, seconds, threads, min_count, first) {
  rounds <- n / min(n, threads)
  if (rounds * seconds < long_seconds) return(invisible())
  each <- system.time(first())[["elapsed"]]
  if (rounds * each < long_seconds) return(invisible())
  info("long", sprintf("%s take about %s with %s: the first took %s.", counted(n, "surrogate"),
                       work_text(rounds * each), counted(threads, "thread"), work_text(each)),
       sprintf(paste("A larger `min_count` than %s takes less: `suggest_pattern_count()`",
                     "suggests one. A `folder` keeps what is done when you stop."),
               commas(min_count)))
}
