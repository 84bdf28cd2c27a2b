# Spikes of members around the activations of their assembly.

#' Spikes of each member between two lags from each activation, of its trial alone
#'
#' @param row The assembly.
#' @param low,high Lags in seconds, for all members or each; `low` is in, `high` is not.
#' @param which Numbers of the activations.
#' @return Data frame `activation` (number), `member` (its place), `time` and `lag` (seconds).
#' @noRd
spikes_around <- function(x, row, low, high, which = seq_along(x$times[[row]])) {
  recording <- attr(x, "recording", exact = TRUE)
  resolution <- attr(recording, "resolution", exact = TRUE)
  members <- match(x$units[[row]], levels(recording$unit))
  of_member <- match(seq_len(nlevels(recording$unit)), members, 0L)[as.integer(recording$unit)]
  inside <- which(of_member > 0L)
  own <- split(round_to_ticks(recording$time[inside], resolution),
               structure(of_member[inside], levels = paste(seq_along(members)), class = "factor"))
  times <- round_to_ticks(x$times[[row]][which], resolution)
  low <- rep_len(low, length(members)) / resolution - 1e-3
  high <- rep_len(high, length(members)) / resolution - 1e-3
  first <- lapply(seq_along(members), \(m) findInterval(times + low[[m]], own[[m]]))
  n <- lapply(seq_along(members), \(m) {
    pmax(0L, findInterval(times + high[[m]], own[[m]]) - first[[m]])
  })
  at <- unlist(lapply(seq_along(members), \(m) {
    own[[m]][sequence(n[[m]], first[[m]] + 1L)]
  }))
  k <- rep(rep(seq_along(which), length(members)), unlist(n))
  spikes <- new_frame(list(activation = which[k],
                           member = rep(seq_along(members), vapply(n, sum, 0)),
                           time = ticks_to_seconds(at, resolution),
                           lag = ticks_to_seconds(at - times[k], resolution)), length(k))
  trials <- trial_ticks(recording)
  if (is.null(trials)) return(spikes)
  # The middle of an activation is in its trial, even where the first member is missing.
  middle <- times + round_to_ticks(max(x$lags[[row]]) / 2, resolution)
  spikes[findInterval(at, trials$start) == findInterval(middle, trials$start)[k], ]
}

#' Whether lags are in windows around others, to within the rounding of seconds
#' @noRd
in_window <- function(lag, middle, width) {
  lag >= middle - width / 2 - 1e-9 & lag < middle + width / 2 - 1e-9
}

#' The bin in which lags and widths were looked at, in seconds; any where nothing was looked at
#' @noRd
bin_seconds <- function(assemblies) c(attr(assemblies, "window", exact = TRUE), 0.001)[[1L]]
