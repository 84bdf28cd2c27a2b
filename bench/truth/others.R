# Recordings for bench/truth.R that simulate_assemblies() does not make: what is hard, or is no
# assembly, in recordings of other people. Poisson units around activations at random times.

#' Spikes of units, activations of groups among them, and the truth
#'
#' @param rates Hz, one a unit.
#' @param gain Function of time (s), from 0 to 1, that thins a unit: `gain(t, unit)`.
#' @param groups List of groups: `units`, `lags` (s), `times` (s), and `jitter` (s, standard
#'   deviation), `width` (s) within which a lag is right, `speed` (by how much lags of each
#'   activation are shorter), `kind`.
#' @param more Data frame of more spikes: `time`, `unit`.
others_recording <- function(duration, rates, groups = list(), gain = NULL, more = NULL) {
  name <- \(k) sprintf("u%02d", k)
  spikes <- lapply(seq_along(rates), \(k) {
    t <- stats::runif(stats::rpois(1, rates[[k]] * duration), 0, duration)
    if (!is.null(gain)) t <- t[stats::runif(length(t)) < gain(t, k)]
    data.frame(time = t, unit = rep(k, length(t)))
  })
  spikes <- c(spikes, list(more), lapply(groups, activation_spikes))
  spikes <- do.call(rbind, spikes)
  spikes <- spikes[spikes$time >= 0 & spikes$time < duration, ]
  spikes <- spikes[order(spikes$time), ]
  x <- spike_trains(spikes$time, name(spikes$unit), start = 0, end = duration)
  of <- seq_along(groups)
  attr(x, "truth") <- list(
    assemblies = data.frame(
      assembly = of, kind = vapply(groups, `[[`, "", "kind"),
      width = vapply(groups, `[[`, 0, "width"),
      units = I(lapply(groups, \(g) name(g$units))), lags = I(lapply(groups, `[[`, "lags"))
    ),
    activations = data.frame(assembly = rep(of, lengths(lapply(groups, `[[`, "times"))),
                             time = as.double(unlist(lapply(groups, `[[`, "times"))),
                             speed = as.double(unlist(lapply(groups, speeds_of))))
  )
  x
}

speeds_of <- function(g) if (is.null(g$speed)) rep(1, length(g$times)) else g$speed

activation_spikes <- function(g) {
  n <- length(g$times)
  lag <- outer(speeds_of(g), g$lags, \(speed, lag) lag / speed) +
    stats::rnorm(n * length(g$lags), 0, g$jitter)
  data.frame(time = as.vector(g$times + lag), unit = rep(g$units, each = n))
}

group <- function(kind, units, lags, times, jitter, width = 4 * jitter + 0.002, speed = NULL) {
  list(kind = kind, units = units, lags = lags, times = times, jitter = jitter, width = width,
       speed = speed)
}

#' So many random times at least `apart` seconds apart
apart_times <- function(n, duration, apart) {
  free <- sort(stats::runif(n, 0, duration - apart * (n + 1)))
  free + apart * seq_len(n)
}

rates_of <- function(n) pmin(12, stats::rlnorm(n, log(3), 0.7))

#' Six units one after the other, played 0.7 to 1.4 times as fast
warped <- function(span) {
  function(k) {
    g <- group(sprintf("speed varies, %d ms", round(1000 * span)), sample(30, 6),
               seq(0, span, length.out = 6), apart_times(150, 600, 1), 0.002,
               speed = exp(stats::runif(150, log(0.7), log(1.4))))
    g$width <- 0.3 * span
    others_recording(600, rates_of(30), list(g))
  }
}

#' Units whose rates rise and fall together over seconds, and one group of twelve of them
shared_gain <- function(k) {
  wave <- stats::spline(seq(0, 600, 5), stats::runif(121), xout = seq(0, 600, 0.1))
  gain <- stats::approxfun(wave$x, pmin(1, pmax(0.1, wave$y)))
  others_recording(600, 2 * rates_of(30), gain = \(t, unit) gain(t), groups = list(
    group("twelve of thirty, shared gain", sample(30, 12), stats::runif(12, 0, 0.1),
          apart_times(150, 600, 1), 0.002)
  ))
}

fast_units <- function(k) {
  own <- sample(30, 6)
  rates <- replace(rates_of(30), own, stats::runif(6, 15, 30))
  others_recording(600, rates, list(group("units of 15 to 30 Hz", own, stats::runif(6, 0, 0.05),
                                          apart_times(200, 600, 1), 0.002)))
}

rare_group <- function(k) {
  others_recording(1200, rates_of(50), list(group("twelve units, 20 times", sample(50, 12),
                                                  stats::runif(12, 0, 0.2),
                                                  apart_times(20, 1200, 5), 0.002)))
}

#' A sequence, and the same backwards at other times
replay <- function(k) {
  own <- sample(30, 6)
  lags <- seq(0, 0.1, length.out = 6)
  at <- apart_times(200, 600, 1)
  forward <- sample(200, 100)
  others_recording(600, rates_of(30), list(
    group("forward", own, lags, at[forward], 0.002),
    group("backward", own, rev(lags), at[-forward], 0.002)
  ))
}

#' Twenty units that respond to events one after the other, each by itself
responses <- function(width) {
  function(k) {
    event <- apart_times(150, 600, 2)
    more <- lapply(1:20, \(unit) {
      at <- rep(event, stats::rpois(length(event), 1.5))
      data.frame(time = at + unit * 0.02 + stats::rnorm(length(at), 0, width / 2), unit = unit)
    })
    others_recording(600, rates_of(30), more = do.call(rbind, more))
  }
}

#' Two units that see one cell, a second or a quarter of a second apart, and others
doubled <- function(k) {
  t <- stats::runif(3000, 0, 600)
  again <- sample(t, 2400)
  more <- data.frame(time = c(t, again + stats::rnorm(2400, 0, 3e-4)),
                     unit = rep(1:2, c(3000, 2400)))
  others_recording(600, c(0.01, 0.01, rates_of(28)), more = more)
}

#' Calcium events of a camera with six planes, in runs of frames
planes <- function(k) {
  run <- lapply(1:60, \(unit) {
    from <- sort(sample(2980, stats::rpois(1, 60)))
    frame <- unique(unlist(lapply(from, \(f) f + seq_len(sample(3:10, 1)))))
    data.frame(time = frame * 0.2 + unit %% 6 / 30, unit = unit)
  })
  others_recording(600, rep(0, 60), more = do.call(rbind, run))
}

other_cases <- list(
  slow_none = list(title = "no assembly, 30 units of 0.3 Hz, 10 min", planted = FALSE,
                   make = \(k) others_recording(600, rep(0.3, 30))),
  gain = list(title = "shared gain", make = shared_gain, planted = TRUE),
  fast = list(title = "fast units, jitter of 2 ms", make = fast_units, planted = TRUE),
  rare = list(title = "large and rare", make = rare_group, planted = TRUE),
  warp60 = list(title = "speed varies, span of 60 ms", make = warped(0.06), planted = TRUE),
  warp150 = list(title = "speed varies, span of 150 ms", make = warped(0.15), planted = TRUE),
  warp400 = list(title = "speed varies, span of 400 ms", make = warped(0.4), planted = TRUE),
  replay = list(title = "a sequence, forward and backward", make = replay, planted = TRUE),
  responses_none = list(title = "no assembly, 20 of 30 units respond to events within 40 ms",
                        make = responses(0.04), planted = FALSE),
  doubled_none = list(title = "no assembly, two units see one cell", make = doubled,
                      planted = FALSE),
  planes_none = list(title = "no assembly, calcium events in six planes", make = planes,
                     planted = FALSE)
)
