# How fast an assembly is played at each activation, and in which order its members fire.

#' Speeds are looked for up to this factor faster and slower than the lags
#' @noRd
fastest <- 2

#' Speed and order of each activation of one assembly
#'
#' @return List of `speed` and `order`, a number for each activation; see [find_assemblies()].
#' @noRd
speed_and_order <- function(x, row) {
  if (x$count[[row]] == 0L) return(list(speed = double(), order = double()))
  spikes <- spikes_at_speeds(x, row)
  list(speed = fit_speeds(x, row, spikes)$speed, order = firing_order(x, row, spikes))
}

#' Whether the span of the lags is longer than a window, so that a speed can be seen in it
#' @noRd
has_span <- function(x, row) max(x$lags[[row]]) > x$width[[row]]

#' The lag that changes least with the speed: where windows are narrow
#' @noRd
pivot_lag <- function(x, row) stats::weighted.mean(x$lags[[row]], x$widths[[row]]^-2)

#' Spikes of the members in their windows, at any speed that is looked for
#'
#' @return Data frame as of spikes_around(), but activation by activation.
#' @noRd
spikes_at_speeds <- function(x, row) {
  pivot <- pivot_lag(x, row)
  from_pivot <- x$lags[[row]] - pivot
  most <- if (has_span(x, row)) fastest else 1
  half <- x$widths[[row]] / 2
  spikes <- spikes_around(x, row, pivot + pmin(from_pivot * most, from_pivot / most) - half,
                          pivot + pmax(from_pivot * most, from_pivot / most) + half)
  new_frame(lapply(spikes, `[`, order(spikes$activation)), nrow(spikes))
}

#' The place of each spike in a matrix, activations x members
#' @noRd
places_of <- function(spikes, n) spikes$activation + n * (spikes$member - 1L)

#' Kendall's rank correlation of lags and first spikes in the windows, at each activation
#'
#' `NA` where fewer than three lags have a spike.
#' @noRd
firing_order <- function(x, row, spikes) {
  lags <- x$lags[[row]]
  inside <- which(in_window(spikes$lag, lags[spikes$member], x$widths[[row]][spikes$member]))
  time <- matrix(NA_real_, x$count[[row]], length(lags))
  # Of several spikes the first one is written last.
  inside <- rev(inside)
  time[places_of(spikes, nrow(time))[inside]] <- spikes$lag[inside]
  pairs <- which(outer(lags, lags, `<`), arr.ind = TRUE)
  agree <- pairs_told <- numeric(nrow(time))
  for (k in seq_len(nrow(pairs))) {
    later <- sign(time[, pairs[[k, 2L]]] - time[, pairs[[k, 1L]]])
    told <- !is.na(later)
    agree[told] <- agree[told] + later[told]
    pairs_told <- pairs_told + told
  }
  ifelse(lags_there(!is.na(time), lags) >= 3L, agree / pairs_told, NA_real_)
}

#' At how many different lags members are there, at each activation
#' @param there Matrix, activations x members.
#' @noRd
lags_there <- function(there, lags) colSums(rowsum(t(there) + 0, lags) > 0)

#' Speeds by lines through the spikes, and which spikes these are
#'
#' The times of the members' spikes are a line of their lags, with a start and a slope for each
#' activation, a shift for each member, as lags are known to a part of a window, and jitter. The
#' weight of a spike is the probability that it belongs to the line and not to the rest of what
#' the member fires. Jitter is first as wide as the windows and becomes half as long in each round,
#' until it is that of the spikes: so lines move away from where windows held them.
#'
#' @param spikes What spikes_at_speeds() gave.
#' @return List of `speed`, of `spikes` with the columns `x` (lag), `y` (time, less the shift; both
#'   from the pivot on) and `share` (probability), and of `there`, a matrix, activations x members:
#'   which members have a spike on the line.
#' @noRd
fit_speeds <- function(x, row, spikes) {
  n <- x$count[[row]]
  if (!has_span(x, row) || nrow(spikes) == 0L) {
    return(list(speed = rep(NA_real_, n)))
  }
  pivot <- pivot_lag(x, row)
  lags <- x$lags[[row]] - pivot
  member <- spikes$member
  at <- spikes$activation
  place <- places_of(spikes, n)
  starts <- c(TRUE, diff(place) != 0)
  ends <- list(run = c(which(starts)[-1L] - 1L, length(place)), line = findInterval(seq_len(n), at))
  run <- cumsum(starts)
  spikes$x <- lags[member]
  spikes$y <- spikes$lag - pivot
  rate <- member_rates(x, row)[member]
  widest <- x$widths[[row]][member] / 2
  narrowest <- min(widest)
  least <- bin_seconds(x) / sqrt(12)
  jitter <- max(widest)
  shift <- numeric(length(lags))
  off <- spikes$y - spikes$x
  for (round in 1:10) {
    spread <- if (jitter < narrowest) jitter else pmin(jitter, widest)
    share <- exp(-0.5 * (off / spread)^2) * (1 / sqrt(2 * pi) / spread)
    share <- share / (sums_to(share, ends$run)[run] + rate)
    line <- lines_through(spikes$x, spikes$y - shift[member], share * (min(spread) / spread)^2,
                          ends$line)
    off <- spikes$y - line$start[at] - line$slope[at] * spikes$x
    shift <- member_shifts(off, share, member, lags)
    off <- off - shift[member]
    # Each line takes two spikes' worth of it.
    free <- max(sum(share) - 2 * n, sum(share) / 4)
    jitter <- max(jitter / 2, sqrt(sum(share * off^2) / free), least)
  }
  spikes$y <- spikes$y - shift[member]
  spikes$share <- share
  there <- matrix(FALSE, n, length(lags))
  there[place[starts]] <- sums_to(share, ends$run) > 0.5
  known <- lags_there(there, lags) >= 3L & 2 * rowSums(there) > length(lags) &
    line$slope > 1 / fastest & line$slope < fastest
  list(speed = ifelse(known, 1 / line$slope, NA_real_), spikes = spikes, there = there)
}

#' @noRd
member_rates <- function(x, row) {
  recording <- attr(x, "recording", exact = TRUE)
  members <- match(x$units[[row]], levels(recording$unit))
  tabulate(recording$unit, nlevels(recording$unit))[members] / observed_seconds(recording)
}

#' Sums of successive parts of a vector
#' @param ends The last place of each part; that of the part before it (0) where there is none.
#' @noRd
sums_to <- function(value, ends) {
  up_to <- numeric(length(ends))
  up_to[ends > 0L] <- cumsum(value)[ends]
  up_to - c(0, up_to[-length(up_to)])
}

#' A straight line through the spikes of each activation, by weighted least squares
#'
#' @param weight At most 1; of less than a millionth in all, nothing is known.
#' @param ends The last spike of each activation.
#' @noRd
lines_through <- function(x, y, weight, ends) {
  wx <- weight * x
  all <- sums_to(weight, ends)
  x_mean <- sums_to(wx, ends) / all
  y_mean <- sums_to(weight * y, ends) / all
  slope <- (sums_to(wx * y, ends) - all * x_mean * y_mean) /
    (sums_to(wx * x, ends) - all * x_mean^2)
  slope <- pmin(fastest, pmax(1 / fastest, slope))
  none <- all < 1e-6 | !is.finite(slope)
  slope[none] <- 1
  list(slope = slope, start = ifelse(none, 0, y_mean - slope * x_mean))
}

#' By how much each member comes later than its lag, on the whole, at any speed: what a line of
#' all lags does not say already
#' @noRd
member_shifts <- function(off, share, member, lags) {
  of <- rowsum(cbind(share, share * off), member)
  sums <- matrix(0, length(lags), 2L)
  sums[as.integer(rownames(of)), ] <- of
  mean_off <- ifelse(sums[, 1L] > 0, sums[, 2L] / sums[, 1L], 0)
  stats::lm.wfit(cbind(1, lags), mean_off, sums[, 1L] + 1e-6)$residuals
}

# ---- In words ------------------------------------------------------------------------

#' Whether speeds vary by more than jitter: whether two halves of the members say the same
#'
#' Every second member, in the order of lags, is in one half; the slopes of their lines have jitter
#' of their own.
#' @param fit What fit_speeds() gave.
#' @noRd
speeds_vary <- function(fit) {
  n <- length(fit$speed)
  half <- \(odd) {
    own <- fit$spikes[fit$spikes$member %% 2L == odd, ]
    slope <- lines_through(own$x, own$y, own$share, findInterval(seq_len(n), own$activation))$slope
    enough <- rowSums(fit$there[, seq_len(ncol(fit$there)) %% 2L == odd, drop = FALSE]) >= 2L
    ifelse(enough & !is.na(fit$speed), slope, NA_real_)
  }
  one <- half(1L)
  other <- half(0L)
  both <- !is.na(one) & !is.na(other)
  sum(both) >= 20L && isTRUE(suppressWarnings(stats::cor(one[both], other[both])) > 0.6)
}

#' @noRd
speed_text <- function(x, row) {
  if (x$count[[row]] < 20L || !has_span(x, row)) return("")
  fit <- fit_speeds(x, row, spikes_at_speeds(x, row))
  if (all(is.na(fit$speed)) || !speeds_vary(fit)) return("")
  ends <- stats::quantile(fit$speed / stats::median(fit$speed, na.rm = TRUE), c(0.1, 0.9),
                          na.rm = TRUE)
  sprintf(" Eight in ten activations are played %s to %s times as fast as usual.",
          format(signif(ends[[1L]], 2)), format(signif(ends[[2L]], 2)))
}
