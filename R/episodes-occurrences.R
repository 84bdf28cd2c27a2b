# Where episodes occur, and with which delays.

#' Find where episodes occur
#'
#' @inheritParams count_episodes
#' @param which `"nonoverlapped"` for the occurrences that are counted: going forward in
#'   time, each the first to end after the one before has ended, and starting as late as
#'   it can. `"all"` for every occurrence, overlapping or not.
#' @param max_occurrences Most occurrences to return, of all episodes together. There is
#'   an error when there are more: in a burst the number of all occurrences grows with
#'   the power of the episode's size.
#' @return A data frame of class `episode_occurrences` with a row for each occurrence:
#'   \describe{
#'     \item{episode}{name of the episode}
#'     \item{occurrence}{number of the occurrence, from 1 within its episode}
#'     \item{trial}{label of the trial; `NA` in recordings without trials}
#'     \item{start, end}{times of the first and last spike, in seconds}
#'     \item{times}{list of numeric vectors, the time of each unit's spike, in seconds}
#'   }
#'   The attributes `episodes` and `recording` hold what was looked for and where.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; more occurrences than
#' `max_occurrences` give `synfire_error_too_large`.
#' @inherit mine_episodes references
#' @examples
#' x <- spike_trains(c(0.001, 0.004, 0.020, 0.024), c("A", "B", "A", "B"))
#' episode_occurrences(x, episode(c("A", "B"), low = 0, high = 0.005))
#' @export
episode_occurrences <- function(x, episodes, which = c("nonoverlapped", "all"),
                                max_occurrences = 1e6) {
  check_given(x = "a recording", episodes = "an `episodes` table")
  x <- as_spike_trains(x)
  codes <- episode_codes(episodes, x)
  which <- check_choice(which)
  max_occurrences <- check_count(max_occurrences, max = .Machine$integer.max)
  trains <- trains_of(x)
  rows <- .Call(r_episode_occurrences, trains, codes$units, codes$low, codes$high,
                which == "all", max_occurrences)
  rows <- finish_status(
    rows, "listing these occurrences",
    "Raise `max_occurrences`, choose fewer episodes, or `which = \"nonoverlapped\"`.",
    limit_of = "occurrences"
  )
  n <- vapply(rows, ncol, 0L)
  first <- unlist(lapply(rows, \(m) m[1L, ]))
  last <- unlist(lapply(rows, \(m) m[nrow(m), ]))
  trials <- attr(x, "trials")
  new_table(list(episode = rep(episodes$episode, n), occurrence = sequence(n),
                 trial = if (is.null(trials)) rep(NA, length(first)) else
                           trials$trial[trains$trial[first]], start = x$time[first],
                 end = x$time[last],
                 times = unlist(lapply(rows, \(m) lapply(seq_len(ncol(m)), \(i) x$time[m[, i]])),
                                recursive = FALSE) %||% list()), "episode_occurrences",
            list(episodes = episodes, recording = x))
}

#' @export
print.episode_occurrences <- function(x, n = 10, ...) {
  n <- check_count(n, min = 0, infinite = TRUE)
  check_table(x, c("occurrence", "trial", "start", "end", "episode"), "episode_occurrences")
  cat(occurrences_title(x, "episode"), sep = "\n")
  if (nrow(x) > 0L) {
    shown <- first_rows(x, n, c("occurrence", "trial", "start", "end", "episode"))
    if (all(is.na(shown$trial))) shown$trial <- NULL
    print_left(shown[names(shown) != "episode"], list(episode = name_pieces(shown$episode)))
    more_line(nrow(x) - n)
  }
  invisible(x)
}

#' Delays between the units of episodes
#'
#' Histograms of the delays that the counted occurrences of an episode really have, one
#' for each step of the episode. A delay that the circuit fixes shows as a peak; one that
#' comes about by chance spreads over its interval, with a slope where units fire so often
#' that a shorter delay is found first.
#'
#' @inheritParams count_episodes
#' @param bins Number of bins an interval is cut into.
#' @return A data frame of class `episode_lags` with a row for each bin of each step:
#'   \describe{
#'     \item{episode}{name of the episode}
#'     \item{edge}{number of the step, from 1}
#'     \item{from, to}{units before and after the step}
#'     \item{lag_low, lag_high}{bounds of the bin in seconds; the delay is above the
#'       first and at most the second}
#'     \item{count}{non-overlapped occurrences, each starting as late as it can, with
#'       such a delay}
#'   }
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`.
#' @seealso [episode_occurrences()]
#' @examples
#' x <- spike_trains(c(0.001, 0.004, 0.020, 0.024), c("A", "B", "A", "B"))
#' episode_lags(x, episode(c("A", "B"), low = 0, high = 0.005), bins = 5)
#' @export
episode_lags <- function(x, episodes, bins = 20) {
  check_given(x = "a recording", episodes = "an `episodes` table")
  x <- as_spike_trains(x)
  episode_codes(episodes, x)
  # Listed twice, an episode would find the occurrences of both under its name.
  episodes <- episodes[!duplicated(episodes$episode), ]
  bins <- check_count(bins, max = 1e6)
  found <- episode_occurrences(x, episodes, max_occurrences = .Machine$integer.max)
  resolution <- attr(x, "resolution")
  at <- split(found$times, factor(found$episode, unique(episodes$episode)))
  parts <- lapply(which(episodes$size > 1L), function(i) {
    times <- at[[episodes$episode[[i]]]]
    ticks <- matrix(round_to_ticks(unlist(times), resolution), nrow = episodes$size[[i]])
    lapply(seq_len(episodes$size[[i]] - 1L), function(k) {
      bounds <- seconds_to_ticks(c(episodes$low[[i]][[k]], episodes$high[[i]][[k]]),
                                 resolution, "episodes")
      lag <- ticks[k + 1L, ] - ticks[k, ]
      # Whole ticks decide the bin: the smallest b with lag <= low + b * width.
      bin <- ceiling((lag - bounds[[1L]]) * bins / diff(bounds))
      edges <- ticks_to_seconds(bounds[[1L]], resolution) +
        seq(0, bins) * (diff(bounds) * resolution) / bins
      data.frame(episode = episodes$episode[[i]], edge = k, from = episodes$units[[i]][[k]],
                 to = episodes$units[[i]][[k + 1L]], lag_low = edges[-(bins + 1)],
                 lag_high = edges[-1L], count = tabulate(bin, bins))
    })
  })
  none <- data.frame(episode = character(), edge = integer(), from = character(),
                     to = character(), lag_low = numeric(), lag_high = numeric(),
                     count = integer())
  out <- do.call(rbind, c(list(none), unlist(parts, recursive = FALSE)))
  new_table(out, "episode_lags")
}

#' @export
print.episode_lags <- function(x, n = 10, ...) {
  n <- check_count(n, min = 0, infinite = TRUE)
  columns <- c("episode", "edge", "from", "to", "lag_low", "lag_high", "count")
  check_table(x, columns, "episode_lags")
  cat(sprintf("# %s: a histogram of delays for each step of an episode\n", rows_text(x, "bin")))
  if (nrow(x) > 0L && n > 0) {
    shown <- first_rows(x, n, columns)
    shown[["lag (ms)"]] <- interval_names(shown$lag_low, shown$lag_high)
    print_left(shown[c("edge", "from", "to", "lag (ms)", "count")],
               list(episode = name_pieces(shown$episode)))
  }
  more_line(nrow(x) - n)
  invisible(x)
}
