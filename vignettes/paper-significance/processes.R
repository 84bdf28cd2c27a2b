# Spike trains of independent units, with the regularity that is asked for and a rate that
# may change: what vignette("paper-significance") and bench/spade-science.R test on.
#
# A profile is a list: `rate[k]` Hz from `time[k]` to `time[k + 1]`, in seconds. Each process
# takes one and gives the times of the spikes of one unit:
#
#   poisson      Poisson process
#   refractory   Poisson process with a dead time after each spike
#   gamma        gamma process in operational time; its coefficient of variation is
#                1 / sqrt(shape), so that a shape above 1 is more regular than Poisson

#' Times of the points of a process on the line of the integrated rate
at_integrated <- function(points, time, rate) {
  integral <- c(0, cumsum(rate * diff(time)))
  stats::approx(integral, time, points[points > 0 & points < max(integral)])$y
}

fire <- list(
  poisson = function(profile) {
    n <- sum(profile$rate * diff(profile$time))
    at_integrated(sort(stats::runif(stats::rpois(1, n), 0, n)), profile$time, profile$rate)
  },
  # What is left of a Poisson process that fires faster by the dead time it will lose.
  refractory = function(profile, dead = 0.004) {
    profile$rate <- profile$rate / (1 - profile$rate * dead)
    time <- fire$poisson(profile)
    keep <- logical(length(time))
    last <- -Inf
    for (k in seq_along(time)) if (time[[k]] - last >= dead) {
      keep[[k]] <- TRUE
      last <- time[[k]]
    }
    time[keep]
  },
  # Begins long before the recording does.
  gamma = function(profile, shape = 4) {
    n <- sum(profile$rate * diff(profile$time))
    points <- cumsum(stats::rgamma(ceiling(n + 10 * sqrt(n) + 40), shape, shape))
    at_integrated(points - stats::runif(1, 10, 20), profile$time, profile$rate)
  }
)

#' Profile of a rate that steps from `low` to `high` and back in each trial of `trial` seconds
#'
#' The step begins `onset` seconds into the trial and takes `step` seconds. Without one
#' `high` is NA.
step_profile <- function(low, high, step, trials, trial = 1, onset = 0.4) {
  if (is.na(high)) return(list(time = c(0, trials * trial), rate = low))
  from <- trial * (seq_len(trials) - 1) + onset
  list(time = c(0, rbind(from, from + step), trials * trial),
       rate = c(rep(c(low, high), trials), low))
}

#' A recording of one unit for each profile, cut into trials
independent_units <- function(process, profiles, trials, trial = 1, ...) {
  times <- lapply(profiles, fire[[process]], ...)
  from <- trial * (seq_len(trials) - 1)
  spike_trains(unlist(times), factor(rep(seq_along(times), lengths(times)), seq_along(times)),
               start = 0, end = trials * trial,
               trials = data.frame(start = from, end = from + trial))
}
