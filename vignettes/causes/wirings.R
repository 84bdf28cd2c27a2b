# Pairs of series whose wiring is known: fourteen kinds of them.
#
# `draw_pair(kind)` draws one pair, with R's random numbers, so that set.seed() decides it. It
# returns a list: `data`, a data frame of `time`, `x` and `y`; and `truth`, TRUE or FALSE for
# c(xy =, yx =): does x drive y, directly or through others, and does y drive x?
#
# Most series are populations or the like, drawn from three families of maps with a chaotic
# course, each with a growth rate of its own. A series j with causes i takes the step
#
#   mixed    x_j' = f((1 - sum c_i) x_j + sum c_i x_i), f(x) = r x (1 - x), r from 3.7 to 4
#   rivals   x_j' = x_j (r (1 - x_j) - sum b_i x_i), r from 3.7 to 3.82
#   bursts   x_j' = x_j exp(r (1 - x_j) - sum w_i (x_i - 1)), r from 2.7 to 3.05 (Ricker 1954)
#
# where a cause is seen as it was `delay` - 1 steps before, so that a delay of 1 is the next
# step. Strengths differ by family: `c` from 0.15 to 0.4, `b` from 0.08 to 0.2, `w` from 0.25
# to 0.6. What is seen has noise of 0 to 5 % of the standard deviation.

wiring_kinds <- c("none", "one way", "both ways", "common driver", "chain", "synchronised",
                  "white-noise driver", "seasonal", "trending", "lagged", "short", "noisy",
                  "linear", "spikes")

families <- list(
  mixed = list(growth = c(3.7, 4), strength = c(0.15, 0.4)),
  rivals = list(growth = c(3.7, 3.82), strength = c(0.08, 0.2)),
  bursts = list(growth = c(2.7, 3.05), strength = c(0.25, 0.6))
)

between <- function(range) runif(1, range[[1L]], range[[2L]])

one_step <- function(family, x, r, push, total) {
  switch(family,
    mixed = {
      v <- (1 - total) * x + push
      r * v * (1 - v)
    },
    # A population that its rivals would end is kept alive.
    rivals = pmax(x * (r * (1 - x) - push), 0.01),
    bursts = x * exp(r * (1 - x) - (push - total))
  )
}

# A system of series with links, a data frame of `from`, `to`, `delay` and `strength`, where NA
# stands for a strength drawn at random. `given` are series that are not maps, by column.
run_system <- function(n, links, steps, family = sample(names(families), 1), given = NULL,
                       factor = 1) {
  about <- families[[family]]
  r <- runif(n, about$growth[[1L]], about$growth[[2L]])
  links$strength <- factor * vapply(links$delay, function(d) between(about$strength), 0)
  past <- 1000L
  x <- matrix(runif(n, 0.2, 0.8), past + steps, n, byrow = TRUE)
  for (k in seq_along(given)) if (!is.null(given[[k]])) x[, k] <- given[[k]](past + steps)
  maps <- setdiff(seq_len(n), which(!vapply(given, is.null, NA)))
  total <- vapply(seq_len(n), function(j) sum(links$strength[links$to == j]), 0)
  for (t in 20:(past + steps - 1L)) {
    push <- numeric(n)
    for (l in seq_along(links$from)) {
      to <- links$to[[l]]
      then <- t + 1L - links$delay[[l]]
      push[[to]] <- push[[to]] + links$strength[[l]] * x[then, links$from[[l]]]
    }
    x[t + 1L, maps] <- one_step(family, x[t, ], r, push, total)[maps]
  }
  x[past + seq_len(steps), , drop = FALSE]
}

link_table <- function(from = integer(), to = integer(), delay = 1L) {
  list(from = from, to = to, delay = rep_len(delay, length(from)))
}

seen_with_noise <- function(x, share) {
  x + rnorm(length(x)) * rep(share * apply(x, 2L, sd), each = nrow(x))
}

as_pair <- function(x, xy, yx, noise = runif(1, 0, 0.05)) {
  x <- seen_with_noise(x, noise)
  list(data = data.frame(time = seq_len(nrow(x)), x = x[, 1L], y = x[, 2L]),
       truth = c(xy = xy, yx = yx))
}

# Two series of maps with a chaotic course, not in step, as series that go round or go in step
# are kinds of their own: elsewhere those are drawn again that visit fewer than 100 of 1,000 equal
# parts of their range (of fewer rows, half as many as these), or whose correlation is above 0.9.
chaotic <- function(draw) {
  repeat {
    x <- draw()
    part <- function(v) floor(999 * (v - min(v)) / diff(range(v)))
    visited <- apply(x, 2L, function(v) length(unique(part(v))))
    if (abs(cor(x[, 1L], x[, 2L])) <= 0.9 && all(visited >= min(100, nrow(x) / 2))) return(x)
  }
}

# One of the first four wirings, drawn at random, for the kinds that hide it.
any_wiring <- function(steps, ...) {
  draw_pair(sample(c("none", "one way", "both ways", "common driver"), 1), steps, ...)
}

ar_series <- function(n, a, noise = rnorm(n)) as.numeric(stats::filter(noise, a, "recursive"))

# `factor` is how strong the links of one way and of a common driver are, compared with those above.
draw_pair <- function(kind, steps = 500L, noise = runif(1, 0, 0.05), factor = 1) {
  delays <- function(n, from, to) sample(from:to, n, replace = TRUE)
  switch(kind,
    "none" = {
      alone <- function() run_system(1L, link_table(), steps)
      as_pair(chaotic(\() cbind(alone(), alone())), FALSE, FALSE, noise)
    },
    "one way" = as_pair(chaotic(\() {
      run_system(2L, link_table(1L, 2L), steps, factor = factor)
    }), TRUE, FALSE, noise),
    # Half as strong each, or most pairs of the first family go in step.
    "both ways" = as_pair(chaotic(\() {
      run_system(2L, link_table(1:2, 2:1), steps, factor = 0.5)
    }), TRUE, TRUE, noise),
    # The driver is series 3, and reaches each after 1 to 3 steps.
    "common driver" = {
      links <- link_table(c(3L, 3L), 1:2, delays(2, 1, 3))
      as_pair(chaotic(\() run_system(3L, links, steps, factor = factor)[, 1:2]), FALSE, FALSE, noise)
    },
    # Of the first family, and twice as strong: elsewhere too little of x reaches y through a
    # third (see "weak chain").
    "chain" = chained_pair("mixed", 2, steps, noise),
    "weak chain" = chained_pair(c("rivals", "bursts"), 1, steps, noise),
    "synchronised" = synchronised_pair(steps, noise),
    # x is white noise, and drives y after 1 to 3 steps.
    "white-noise driver" = {
      x <- run_system(2L, link_table(1L, 2L, delays(1, 1, 3)), steps,
                      given = list(function(n) runif(n, 0.1, 0.9), NULL))
      as_pair(x, TRUE, FALSE, noise)
    },
    "seasonal" = seasonal_pair(steps),
    "trending" = trending_pair(steps, noise),
    "lagged" = {
      links <- link_table(1L, 2L, delays(1, 2, 5))
      as_pair(chaotic(\() run_system(2L, links, steps)), TRUE, FALSE, noise)
    },
    "short" = any_wiring(sample(25:60, 1)),
    "noisy" = any_wiring(steps, noise = runif(1, 0.5, 1)),
    "linear" = linear_pair(steps),
    "spikes" = spike_pair(steps)
  )
}

# x drives a third, which drives y.
chained_pair <- function(among, factor, steps, noise) {
  x <- chaotic(\() {
    run_system(3L, link_table(1:2, 2:3), steps, sample(among, 1), factor = factor)[, c(1L, 3L)]
  })
  as_pair(x, TRUE, FALSE, noise)
}

# x drives y so strongly that y follows it, one of the two ways in which series can be in step:
# y is a copy with its own growth rate, or both pull each other.
synchronised_pair <- function(steps, noise) {
  r <- runif(1, 3.7, 4) + c(0, runif(1, -0.02, 0.02))
  mutual <- runif(1) < 0.5
  c <- runif(1, 0.75, 0.95)
  x <- matrix(runif(2, 0.2, 0.8), steps + 500L, 2L, byrow = TRUE)
  f <- function(v) pmin(r, 4) * v * (1 - v)
  for (t in seq_len(steps + 499L)) {
    now <- f(x[t, ])
    x[t + 1L, ] <- if (mutual) {
      c((1 - c / 2) * now[[1L]] + c / 2 * now[[2L]], (1 - c / 2) * now[[2L]] + c / 2 * now[[1L]])
    } else {
      c(now[[1L]], (1 - c) * now[[2L]] + c * now[[1L]])
    }
  }
  as_pair(x[500L + seq_len(steps), ], TRUE, mutual, noise)
}

# Two series that have a season in common and nothing else. The season, which is not a sine, is
# added to noise with a memory or to maps, or it changes how fast two maps grow.
seasonal_pair <- function(steps) {
  period <- sample(c(7L, 12L, 24L, 52L), 1)
  sharp <- runif(1, 0.5, 2)
  round <- function(shift, n = steps) {
    v <- exp(sharp * sin(2 * pi * (seq_len(n) + shift) / period))
    (v - mean(v)) / sd(v)
  }
  shift <- c(0L, sample(0:period, 1))
  one <- switch(sample(3, 1),
    function(k) runif(1, 0.5, 2) * round(shift[[k]]) +
      as.numeric(scale(ar_series(steps, runif(1, 0, 0.8)))),
    function(k) runif(1, 0.5, 2) * round(shift[[k]]) +
      as.numeric(scale(run_system(1L, link_table(), steps))),
    function(k) {
      r <- 3.75 + 0.12 * pmax(pmin(round(shift[[k]], steps + 100L), 2), -2) * runif(1, 0.5, 1)
      x <- Reduce(function(x, r) r * x * (1 - x), r, runif(1, 0.2, 0.8), accumulate = TRUE)
      x[100L + seq_len(steps)]
    }
  )
  as_pair(cbind(one(1L), one(2L)), FALSE, FALSE, runif(1, 0, 0.05))
}

# Two series that have nothing to do with each other and both go somewhere: a straight line, a
# curve that levels off, or a walk at random, with maps or noise about it.
trending_pair <- function(steps, noise) {
  one <- function() {
    rest <- if (runif(1) < 0.5) run_system(1L, link_table(), steps)[, 1L] else {
      ar_series(steps, runif(1, 0, 0.8))
    }
    trend <- switch(sample(3, 1), seq_len(steps), log(seq_len(steps) + 20),
                    cumsum(rnorm(steps)))
    as.numeric(scale(rest)) + runif(1, 0.7, 3) * sample(c(-1, 1), 1) * as.numeric(scale(trend))
  }
  as_pair(cbind(one(), one()), FALSE, FALSE, noise)
}

# Autoregressive series: none, one way, both ways, or a common driver.
linear_pair <- function(steps) {
  wiring <- sample(4, 1)
  n <- steps + 100L
  a <- runif(3, 0, 0.9)
  c <- runif(2, 0.2, 0.8)
  delay <- sample(1:3, 2, replace = TRUE)
  x <- matrix(rnorm(3 * n), n, 3L)
  for (t in 5:n) {
    x[t, 3L] <- x[t, 3L] + a[[3L]] * x[t - 1L, 3L]
    x[t, 1L] <- x[t, 1L] + a[[1L]] * x[t - 1L, 1L] +
      (if (wiring == 3) 0.3 * c[[1L]] * x[t - delay[[1L]], 2L] else 0) +
      (if (wiring == 4) c[[1L]] * x[t - delay[[1L]], 3L] else 0)
    x[t, 2L] <- x[t, 2L] + a[[2L]] * x[t - 1L, 2L] +
      (if (wiring == 2) c[[2L]] * x[t - delay[[2L]], 1L] else 0) +
      (if (wiring == 3) 0.3 * c[[2L]] * x[t - delay[[2L]], 1L] else 0) +
      (if (wiring == 4) c[[2L]] * x[t - delay[[2L]], 3L] else 0)
  }
  as_pair(x[100L + seq_len(steps), 1:2], wiring %in% 2:3, wiring == 3)
}

# Counts of spikes in bins: a mean of 0.1 to 3 a bin, Poisson, from the activity of one of the
# first four wirings.
spike_pair <- function(steps) {
  pair <- any_wiring(steps, noise = 0)
  for (name in c("x", "y")) {
    activity <- pmax(pair$data[[name]], 0)
    rate <- exp(runif(1, log(0.1), log(3)))
    pair$data[[name]] <- as.double(rpois(steps, activity / mean(activity) * rate))
  }
  pair
}
