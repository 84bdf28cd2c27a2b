# Random pairs of maps, flows, neurons and linear series, with links that are known: what
# measure-flows.R gives to ccm().

flow_kinds <- c(
  "logistic, one way", "logistic, both ways", "ricker, one way", "ricker, both ways",
  "henon, one way", "henon, both ways", "lorenz, one way", "lorenz, both ways",
  "lorenz, both ways, alike", "roessler, one way", "roessler, both ways", "roessler to lorenz",
  "fitzhugh-nagumo, one way", "morris-lecar, one way", "mackey-glass, one way",
  "mackey-glass, both ways", "oscillators, one way", "linear, one way", "linear, both ways",
  "logistic, driver", "lorenz, driver", "roessler, driver of lorenz", "oscillators, driver",
  "linear, driver", "logistic, none", "lorenz, none", "roessler, none",
  "roessler and lorenz, none", "mackey-glass, none", "oscillators, none"
)

#' A pair of one kind
#'
#' @return A list: `data`, with columns time, x and y; `truth`, named logical: is there a link from
#'   x to y, and from y to x?
draw_flow <- function(kind, rows) {
  parts <- strsplit(kind, ", ")[[1L]]
  system <- parts[[1L]]
  way <- if (length(parts) == 1L) "one way" else parts[[2L]]
  links <- switch(way, `one way` = c(1, 0), `both ways` = c(1, 1), c(0, 0))
  alike <- identical(utils::tail(parts, 1L), "alike")
  driver <- startsWith(way, "driver")
  asked <- rows
  # A hidden driver reaches one of both first.
  if (driver) rows <- rows + 20L
  xy <- switch(
    system, logistic = draw_logistic(rows, links, driver), ricker = draw_ricker(rows, links),
    henon = draw_henon(rows, links), lorenz = draw_lorenz(rows, links, driver, alike),
    roessler = if (driver) draw_two_lorenz(rows) else draw_roessler(rows, links),
    `roessler to lorenz` = draw_roessler_lorenz(rows, 1),
    `roessler and lorenz` = draw_roessler_lorenz(rows, 0),
    `fitzhugh-nagumo` = draw_fitzhugh(rows), `morris-lecar` = draw_morris(rows),
    `mackey-glass` = draw_mackey(rows, links), linear = draw_linear(rows, links, driver),
    oscillators = draw_oscillators(rows, links, driver)
  )
  if (driver) {
    later <- sample(0:if (system %in% c("logistic", "linear")) 3L else 20L, 1L)
    first <- sample(2L)
    xy <- cbind(xy[seq_len(asked), first[[1L]]], xy[later + seq_len(asked), first[[2L]]])
    rows <- asked
  }
  noise <- stats::runif(1, 0, 0.05)
  xy <- apply(xy, 2L, \(x) x + stats::rnorm(rows, sd = noise * stats::sd(x)))
  list(data = data.frame(time = seq_len(rows), x = xy[, 1L], y = xy[, 2L]),
       truth = c(`x drives y` = links[[1L]] > 0, `y drives x` = links[[2L]] > 0))
}


# ---- Maps ----------------------------------------------------------------------------

iterate <- function(rows, start, step, burn = 200L) {
  out <- matrix(0, rows + burn, length(start))
  out[1L, ] <- start
  for (t in seq_len(rows + burn - 1L)) out[t + 1L, ] <- step(out[t, ])
  out[burn + seq_len(rows), ]
}

draw_logistic <- function(rows, links, driver) {
  r <- stats::runif(3, 3.65, 3.9)
  b <- stats::runif(2, 0.1, 0.3) * if (driver) 1 else links / (1 + all(links > 0))
  from <- if (driver) c(3, 3) else c(1, 2)
  xy <- iterate(rows, stats::runif(3, 0.2, 0.8), \(s) {
    c(s[1] * (r[1] - r[1] * s[1] - b[2] * s[if (driver) 3 else 2]),
      s[2] * (r[2] - r[2] * s[2] - b[1] * s[from[1]]), 0.999 * s[3] * (1 - s[3]) * r[3])
  })
  xy[, 1:2]
}

draw_ricker <- function(rows, links) {
  r <- stats::runif(2, 2.7, 3.2)
  b <- stats::runif(2, 0.15, 0.4) * links / (1 + all(links > 0))
  iterate(rows, stats::runif(2, 0.2, 0.8), \(s) {
    s * exp(r * (1 - s) - c(b[2] * s[2], b[1] * s[1]))
  })
}

draw_henon <- function(rows, links) {
  b <- stats::runif(2, 0.1, 0.3) * links / (1 + all(links > 0))
  repeat {
    xy <- iterate(rows, stats::runif(4, -0.1, 0.1), \(s) {
      c(1.4 - s[1] * (b[2] * s[3] + (1 - b[2]) * s[1]) + 0.3 * s[2], s[1],
        1.4 - s[3] * (b[1] * s[1] + (1 - b[1]) * s[3]) + 0.28 * s[4], s[3])
    })
    if (all(is.finite(xy))) return(xy[, c(1, 3)])
  }
}

# ---- Flows ---------------------------------------------------------------------------

#' Runge-Kutta of order 4, seen every `every` units of time
integrate <- function(rows, every, start, slope, most, noise = 0, burn = 200) {
  inner <- max(1L, ceiling(every / most))
  h <- every / inner
  s <- start
  step <- function(s) {
    a <- slope(s)
    b <- slope(s + h / 2 * a)
    c <- slope(s + h / 2 * b)
    d <- slope(s + h * c)
    s <- s + h / 6 * (a + 2 * b + 2 * c + d)
    if (any(noise > 0)) s + sqrt(h) * noise * stats::rnorm(length(s)) else s
  }
  for (k in seq_len(ceiling(burn / h / 4))) s <- step(s)
  out <- matrix(0, rows, length(s))
  for (t in seq_len(rows)) {
    for (k in seq_len(inner)) s <- step(s)
    out[t, ] <- s
  }
  out
}

#' Time between rows where an oscillation takes so long
sampling <- function(oscillation) oscillation / exp(stats::runif(1, log(5), log(40)))

lorenz_slope <- function(s, r, push_x = 0, push_y = 0) {
  c(10 * (s[2] - s[1]) + push_x, s[1] * (r - s[3]) - s[2] + push_y, s[1] * s[2] - 8 / 3 * s[3])
}

draw_lorenz <- function(rows, links, driver, alike) {
  r <- stats::runif(3, 27, 38)
  if (alike) r[] <- 28
  b <- stats::runif(2, 1.5, 4) * if (driver) 1 else links / (1 + all(links > 0))
  out <- integrate(rows, sampling(0.75), stats::rnorm(9, sd = 5) + c(0, 0, 25), \(s) {
    hidden <- s[7]
    c(lorenz_slope(s[1:3], r[1], b[2] * ((if (driver) hidden else s[4]) - s[1])),
      lorenz_slope(s[4:6], r[2], b[1] * ((if (driver) hidden else s[1]) - s[4])),
      if (driver) lorenz_slope(s[7:9], r[3]) else c(0, 0, 0))
  }, 0.02, burn = 60)
  out[, c(1, 4)]
}

roessler_slope <- function(s, w, push = 0) {
  c(-w * s[2] - s[3] + push, w * s[1] + 0.2 * s[2], 0.2 + s[3] * (s[1] - 5.7))
}

draw_roessler <- function(rows, links) {
  w <- c(stats::runif(1, 0.9, 1.1), 0)
  w[2] <- w[1] * sample(c(0.8, 0.9, 1.12, 1.25), 1) * stats::runif(1, 0.98, 1.02)
  b <- stats::runif(2, 0.04, 0.16) * links / (1 + all(links > 0))
  out <- integrate(rows, sampling(6), c(stats::rnorm(2), 0.1, stats::rnorm(2), 0.1), \(s) {
    c(roessler_slope(s[1:3], w[1], b[2] * (s[4] - s[1])),
      roessler_slope(s[4:6], w[2], b[1] * (s[1] - s[4])))
  }, 0.1, burn = 400)
  out[, c(1, 4)]
}

#' A Roessler system six times as fast drives a Lorenz system (Le Van Quyen et al. 1999)
draw_roessler_lorenz <- function(rows, link) {
  b <- link * stats::runif(1, 0.5, 2.5)
  out <- integrate(rows, sampling(0.9), c(stats::rnorm(2), 0.1, stats::rnorm(3, sd = 3) + 1), \(s) {
    c(6 * c(-s[2] - s[3], s[1] + 0.2 * s[2], 0.2 + s[3] * (s[1] - 5.7)),
      lorenz_slope(s[4:6], 28, 0, b * s[2]^2 / 2))
  }, 0.02, burn = 60)
  out[, c(2, 4)]
}

#' A hidden Roessler system drives two Lorenz systems
draw_two_lorenz <- function(rows) {
  b <- stats::runif(2, 1, 3)
  r <- stats::runif(2, 27, 38)
  out <- integrate(rows, sampling(0.8), c(stats::rnorm(2), 0.1, stats::rnorm(6, sd = 3) + 1), \(s) {
    c(6 * c(-s[2] - s[3], s[1] + 0.2 * s[2], 0.2 + s[3] * (s[1] - 5.7)),
      lorenz_slope(s[4:6], r[1], 0, b[1] * s[2]), lorenz_slope(s[7:9], r[2], 0, b[2] * s[2]))
  }, 0.02, burn = 60)
  out[, c(4, 7)]
}

draw_fitzhugh <- function(rows) {
  b <- stats::runif(1, 0.02, 0.12)
  now <- stats::runif(2, 0.35, 0.7)
  out <- integrate(rows, sampling(38), stats::rnorm(4, sd = 0.3), \(s) {
    c(s[1] - s[1]^3 / 3 - s[2] + now[1], 0.08 * (s[1] + 0.7 - 0.8 * s[2]),
      s[3] - s[3]^3 / 3 - s[4] + now[2] + b * (s[1] - s[3]), 0.08 * (s[3] + 0.7 - 0.8 * s[4]))
  }, 0.5, noise = c(0.06, 0, 0.06, 0), burn = 600)
  out[, c(1, 3)]
}

draw_morris <- function(rows) {
  b <- stats::runif(1, 0.1, 0.6)
  now <- stats::runif(2, 90, 120)
  one <- function(v, n, push) {
    m <- (1 + tanh((v + 1.2) / 18)) / 2
    c((now[1] - 4.4 * m * (v - 120) - 8 * n * (v + 84) - 2 * (v + 60) + push) / 20,
      0.04 * ((1 + tanh((v - 2) / 30)) / 2 - n) * cosh((v - 2) / 60))
  }
  out <- integrate(rows, sampling(90), c(-20, 0.2, 0, 0.3), \(s) {
    c(one(s[1], s[2], 0), one(s[3], s[4], now[2] - now[1] + b * (s[1] - s[3])))
  }, 1, noise = c(1.5, 0, 1.5, 0), burn = 1000)
  out[, c(1, 3)]
}

draw_mackey <- function(rows, links) {
  b <- stats::runif(2, 0.1, 0.35) * links / (1 + all(links > 0))
  back <- sample(17:30, 2L)
  every <- round(50 / exp(stats::runif(1, log(5), log(40))))
  n <- 1000L + rows * every
  x <- y <- stats::runif(n, 0.8, 1.2)
  for (t in 31:(n - 1L)) {
    was <- c(x[t - back[1]], y[t - back[2]])
    other <- c(y[t - back[1]], x[t - back[2]])
    seen <- (1 - b[2:1]) * was + b[2:1] * other
    grown <- 0.2 * seen / (1 + seen^10)
    x[t + 1L] <- 0.9 * x[t] + grown[1]
    y[t + 1L] <- 0.9 * y[t] + grown[2]
  }
  cbind(x, y)[1000L + every * seq_len(rows), ]
}

draw_linear <- function(rows, links, driver) {
  root <- stats::runif(3, 0.5, 0.9)
  b <- stats::runif(2, 0.2, 0.5) * if (driver) 1 else links
  if (all(links > 0)) b <- 2 * b * sqrt((1 - root[[1L]]) * (1 - root[[2L]]))
  e <- matrix(stats::rnorm(3 * (rows + 200)), ncol = 3L)
  xy <- e
  for (t in 2:nrow(e)) {
    was <- xy[t - 1L, ]
    xy[t, ] <- root * was + e[t, ] +
      c(b[2] * was[if (driver) 3 else 2], b[1] * was[if (driver) 3 else 1], 0)
  }
  xy[200L + seq_len(rows), 1:2]
}

#' Linear oscillators that noise drives
draw_oscillators <- function(rows, links, driver) {
  period <- exp(stats::runif(3, log(5), log(40)))
  period[2:3] <- period[1] * stats::runif(2, 0.8, 1.25)
  root <- stats::runif(3, 0.9, 0.99)
  a <- 2 * root * cos(2 * pi / period)
  b <- stats::runif(2, 0.2, 0.6) * (1 - root[1:2]) * if (driver) 4 else 4 * links
  e <- matrix(stats::rnorm(3 * (rows + 400)), ncol = 3L)
  xy <- e
  for (t in 3:nrow(e)) {
    was <- xy[t - 1L, ]
    xy[t, ] <- a * was - root^2 * xy[t - 2L, ] + e[t, ] +
      c(b[2] * was[if (driver) 3 else 2], b[1] * was[if (driver) 3 else 1], 0)
  }
  xy[400L + seq_len(rows), 1:2]
}
