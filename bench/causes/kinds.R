# Thirty kinds of systems whose wiring is known, and one whose links act within a step.
#
# `draw_kind(kind, steps)` draws one with R's random numbers: a list of `x`, a matrix of
# steps x series with 3 to 8 recorded series in an order of their own; `wiring`, a logical
# matrix [cause, effect]; and `noisy`, the name of the series that has more noise than the
# others, or NULL. `numbered_kind(kind, number)` is the same from a seed of its own: odd
# numbers are for training, and even ones are held out. vignettes/causes/wirings.R and
# simulated.R of vignettes/causal-maps and systems.R beside this must be sourced first.
#
# A system is drawn again until every series is lively and no two are correlated beyond 0.9
# (is_lively()). Wirings are those of draw_links(): chains, forks, mediators with and without
# a link beside them, and loops. What is recorded has noise of 0 to 5 % of each series'
# standard deviation (calcium and blood 0 to 20 %), or of the share `noise`.

kinds <- list(
  maps = c("logistic", "ricker", "henon", "tent, delays 1-3", "food web", "logistic, driven"),
  flows = c("lorenz", "roessler", "roessler and lorenz", "mackey-glass", "kuramoto",
            "fitzhugh-nagumo", "morris-lecar", "jansen-rit", "lorenz 96"),
  linear = c("var", "weak var", "heavy-tailed var", "oscillating var", "var, 300 steps"),
  "noise on one" = c("noisy logistic", "noisy ricker", "noisy henon", "noisy var"),
  hidden = c("hidden state", "hidden mackey-glass", "hidden var", "hidden roessler"),
  observation = c("calcium", "spike counts"),
  "too slow" = "bold"
)

#' One system; `noise` is that of the one noisy series where a kind has one (else 20 %), and
#' of all series where it has none
draw_kind <- function(kind, steps = 1000L, noise = NULL) {
  repeat {
    system <- try_kind(kind, sample(3:8, 1L), as.integer(steps))
    if (is_lively_kind(system, kind)) break
  }
  n <- ncol(system$x)
  noisy <- startsWith(kind, "noisy ")
  most <- if (kind %in% c("calcium", "bold")) 0.2 else 0.05
  share <- if (noisy) 0.02 else if (is.null(noise)) runif(n, 0, most) else noise
  share <- rep_len(share, n)
  if (noisy) share[[system$noisy]] <- if (is.null(noise)) 0.2 else noise
  # Counts are seen as they are.
  x <- if (kind == "spike counts") system$x else seen_with_noise(system$x, share)
  order <- sample.int(n)
  names <- sprintf("s%d", seq_len(n))
  list(x = matrix(x[, order], nrow(x), dimnames = list(NULL, names)),
       wiring = matrix(system$wiring[order, order], n, dimnames = list(names, names)),
       noisy = if (noisy) names[[match(system$noisy, order)]])
}

numbered_kind <- function(kind, number, ...) {
  set.seed(number + 1000 * match(kind, unlist(kinds)))
  draw_kind(kind, ...)
}

is_lively_kind <- function(system, kind) {
  x <- system$x
  if (!all(is.finite(x))) return(FALSE)
  if (kind == "spike counts") return(all(colMeans(x > 0) > 0.02) && is_apart(x))
  is_lively(x)
}

#' What is recorded without noise, who drives whom of that, and which series is to be noisy
try_kind <- function(kind, n, steps) {
  if (kind == "lorenz 96") return(draw_lorenz96(max(n, 5L), steps))
  if (kind == "food web") {
    links <- web_links(n)
    return(recorded(run_maps("ricker", n, links, steps), links))
  }
  links <- draw_links(n)
  if (kind %in% c("logistic", "ricker", "henon", "logistic, driven")) links$delay[] <- 1L
  if (startsWith(kind, "noisy ")) {
    links <- mediated_links(n)
    noisy <- a_mediator(links)
    kind <- sub("noisy ", "", kind)
  } else {
    noisy <- NULL
  }
  if (kind == "var, 300 steps") steps <- min(steps, 300L)
  # A hidden driver is one series more.
  hidden <- startsWith(kind, "hidden ") && kind != "hidden state"
  if (hidden) links <- with_hidden(links, n)
  all <- n + hidden
  x <- switch(
    kind,
    logistic = , ricker = , henon =
      run_maps(kind, n, links, steps, range = if (is.null(noisy)) map_strengths[[kind]] else
        strong_maps[[kind]]),
    "tent, delays 1-3" = run_maps("tent", n, links, steps),
    "logistic, driven" = run_maps("logistic", n, links, steps, driven = runif(1, 0.01, 0.04)),
    lorenz = run_lorenz(n, links, steps), roessler = run_roessler(n, links, steps),
    "roessler and lorenz" = , "hidden roessler" = run_mixed(all, links, steps, hidden),
    "mackey-glass" = , "hidden mackey-glass" = run_mackey_glass(all, links, steps),
    kuramoto = run_kuramoto(n, links, steps),
    "fitzhugh-nagumo" = run_fitzhugh_nagumo(n, links, steps),
    "morris-lecar" = run_morris_lecar(n, links, steps),
    "jansen-rit" = run_jansen_rit(n, links, steps),
    var = , "var, 300 steps" = run_linear(n, links, steps),
    "hidden var" = run_linear(all, links, steps,
                              keeps = rbind(c(runif(n, 0, 0.8), runif(1, 0.8, 0.95)), 0)),
    "weak var" = run_linear(n, links, steps, strength = c(0.1, 0.2)),
    "heavy-tailed var" = run_linear(n, links, steps, innovations = \(k) rt(k, 3)),
    "oscillating var" = run_linear(n, links, steps, keeps = oscillating(n)),
    "hidden state" = run_state(n, links, steps),
    calcium = run_neurons(n, links, steps, calcium = TRUE),
    "spike counts" = run_neurons(n, links, steps), bold = run_bold(n, links, steps),
    stop("no such kind: ", kind)
  )
  c(recorded(x, links, n), list(noisy = noisy))
}

#' The first `n` of the series of a system, and the links among them
recorded <- function(x, links, n = ncol(x)) {
  wiring <- matrix(FALSE, ncol(x), ncol(x))
  wiring[cbind(links$from, links$to)] <- TRUE
  list(x = x[, seq_len(n), drop = FALSE], wiring = wiring[seq_len(n), seq_len(n)])
}

# ---- Wirings ---------------------------------------------------------------------------

#' Links of a system in which a series lies between two others, all with a delay of a step
mediated_links <- function(n) {
  repeat {
    links <- draw_links(n)
    if (!is.null(a_mediator(links))) break
  }
  links$delay[] <- 1L
  links
}

#' One of the series that one series drives, and that drives another
a_mediator <- function(links) {
  among <- unique(unlist(lapply(seq_along(links$from), \(k) {
    if (any(links$to == links$from[[k]] & links$from != links$to[[k]])) links$from[[k]]
  })))
  if (length(among)) among[[sample.int(length(among), 1L)]]
}

#' A further series, number `n` + 1, that drives two or more of the others
with_hidden <- function(links, n) {
  reached <- sort(sample.int(n, sample(max(2L, n %/% 2L):n, 1L)))
  link_table(c(links$from, rep(n + 1L, length(reached))), c(links$to, reached),
             c(links$delay, sample(3L, length(reached), replace = TRUE)))
}

#' Pairs of species along a tree: one harms the other, both harm each other, or one feeds on
#' the other, which is a link that harms and one that helps
web_links <- function(n) {
  parts <- lapply(2:n, \(k) {
    pair <- c(sample.int(k - 1L, 1L), k)
    pair <- pair[sample.int(2L)]
    switch(sample.int(3L, 1L), list(from = pair[1L], to = pair[2L], sign = 1),
           list(from = pair, to = rev(pair), sign = c(1, 1)),
           list(from = pair, to = rev(pair), sign = c(1, -1)))
  })
  of <- \(name) unlist(lapply(parts, `[[`, name))
  c(link_table(of("from"), of("to")), list(sign = of("sign")))
}

#' The strengths of links as a matrix [cause, effect], drawn from a range
strengths <- function(n, links, range) {
  strength <- matrix(0, n, n)
  strength[cbind(links$from, links$to)] <- runif(length(links$from), range[[1L]], range[[2L]])
  strength
}

# ---- Maps ------------------------------------------------------------------------------

map_strengths <- list(logistic = c(0.1, 0.3), ricker = c(0.2, 0.5), henon = c(0.15, 0.4),
                      tent = c(0.1, 0.3))
# Where one series is noisy links are strong: enough of the first reaches the last.
strong_maps <- list(logistic = c(0.2, 0.4), ricker = c(0.4, 0.7), henon = c(0.3, 0.5))

#' Chaotic maps (those of one_step(), of Henon 1976 and a tent that leans), with noise of so
#' large a standard deviation in each step
run_maps <- function(family, n, links, steps, driven = 0, range = map_strengths[[family]]) {
  past <- 500L
  many <- length(links$from)
  weight <- runif(many, range[[1L]], range[[2L]])
  if (!is.null(links$sign)) weight <- weight * links$sign
  into <- matrix(0, many, n)
  into[cbind(seq_len(many), links$to)] <- weight
  total <- colSums(into)
  own <- switch(family, logistic = runif(n, 3.7, 4), ricker = runif(n, 2.7, 3.05),
                henon = runif(n, 1.35, 1.4), tent = runif(n, 0.3, 0.7))
  advance <- switch(
    family,
    logistic = \(x, before, push) one_step("mixed", x, own, push, total),
    ricker = \(x, before, push) one_step("bursts", x, own, push, total),
    henon = \(x, before, push) own - ((1 - total) * x + push) * x + 0.3 * before,
    tent = \(x, before, push) {
      v <- (1 - total) * x + push
      ifelse(v < own, v / own, (1 - v) / (1 - own))
    }
  )
  x <- matrix(runif(n, 0.2, 0.8), past + steps, n, byrow = TRUE)
  for (t in 4:(past + steps - 1L)) {
    push <- drop(x[cbind(t + 1L - links$delay, links$from)] %*% into)
    x[t + 1L, ] <- advance(x[t, ], x[t - 1L, ], push)
    if (driven > 0) x[t + 1L, ] <- pmin(pmax(x[t + 1L, ] + driven * rnorm(n), 0), 1)
  }
  x[past + seq_len(steps), , drop = FALSE]
}

# ---- Flows -----------------------------------------------------------------------------
#
# `state` is a matrix of series x variables. Links act at once, mostly by the difference of
# the cause and the effect.

#' Steps of a flow by the Runge-Kutta method of order 4, with noise of so large a standard
#' deviation a unit of time in each variable; `see` gives what is recorded of a state
run_flow <- function(slope, state, steps, interval, h, noise = 0, past = 200L,
                     see = \(state) state[, 1L]) {
  parts <- ceiling(interval / h)
  h <- interval / parts
  noise <- rep(rep_len(noise, ncol(state)), each = nrow(state)) * sqrt(h)
  x <- matrix(NA_real_, steps, nrow(state))
  for (t in seq_len(past + steps)) {
    for (part in seq_len(parts)) {
      k1 <- slope(state)
      k2 <- slope(state + h / 2 * k1)
      k3 <- slope(state + h / 2 * k2)
      k4 <- slope(state + h * k3)
      state <- state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4) + noise * rnorm(length(state))
    }
    if (!all(is.finite(state))) break
    if (t > past) x[t - past, ] <- see(state)
  }
  x
}

#' What links bring, by the difference of cause and effect
pull <- function(strength) {
  total <- colSums(strength)
  by_effect <- t(strength)
  \(x) drop(by_effect %*% x) - total * x
}

random_state <- function(n, variables) matrix(rnorm(n * variables), n)

run_lorenz <- function(n, links, steps) {
  pulled <- pull(strengths(n, links, c(1.5, 4)))
  r <- runif(n, 27, 33)
  slope <- function(s) {
    x <- s[, 1L]
    cbind(10 * (s[, 2L] - x) + pulled(x), x * (r - s[, 3L]) - s[, 2L],
          x * s[, 2L] - 8 / 3 * s[, 3L])
  }
  run_flow(slope, 5 * random_state(n, 3L), steps, runif(1, 0.05, 0.1), 0.025, noise = 0.2)
}

run_roessler <- function(n, links, steps) {
  pulled <- pull(strengths(n, links, c(0.04, 0.1)))
  speed <- runif(n, 0.85, 1.15)
  slope <- function(s) {
    x <- s[, 1L]
    cbind(-speed * s[, 2L] - s[, 3L] + pulled(x), speed * x + 0.2 * s[, 2L],
          0.2 + s[, 3L] * (x - 5.7))
  }
  run_flow(slope, random_state(n, 3L), steps, runif(1, 0.4, 0.7), 0.1, noise = c(0.02, 0.02, 0))
}

#' Roessler's flow six times as fast, and Lorenz'. The first is one that nothing drives, or
#' the last series alone (`hidden`); links add the cause, in its standard deviations.
run_mixed <- function(n, links, steps, hidden = FALSE) {
  roessler <- if (hidden) seq_len(n) == n else !seq_len(n) %in% links$to
  if (!any(roessler)) roessler[[1L]] <- TRUE
  by_effect <- t(strengths(n, links, c(8, 16))) * ifelse(roessler, 0.03, 1)
  r <- runif(n, 27, 33)
  speed <- 6 * runif(n, 0.9, 1.1)
  slope <- function(s) {
    x <- s[, 1L]
    y <- s[, 2L]
    z <- s[, 3L]
    drive <- drop(by_effect %*% (x / ifelse(roessler, 5, 8)))
    lorenz <- cbind(10 * (y - x) + drive, x * (r - z) - y, x * y - 8 / 3 * z)
    cbind(-y - z + drive, x + 0.2 * y, 0.2 + z * (x - 5.7))[roessler, ] -> lorenz[roessler, ]
    lorenz[roessler, ] <- lorenz[roessler, ] * speed[roessler]
    lorenz
  }
  run_flow(slope, random_state(n, 3L), steps, runif(1, 0.06, 0.1), 0.02, noise = c(0.1, 0.1, 0))
}

#' Mackey and Glass (1977), by Heun's method
run_mackey_glass <- function(n, links, steps) {
  pulled <- pull(strengths(n, links, c(0.02, 0.05)))
  h <- 0.5
  each <- sample(6:10, 1L)
  back <- sample(34:44, n, replace = TRUE)
  past <- 1000L
  x <- matrix(NA_real_, past + steps * each, n)
  x[seq_len(50L), ] <- rep(runif(n, 0.5, 1.3), each = 50L)
  made <- function(v) 0.2 * v / (1 + v^10)
  shake <- 0.005 * sqrt(h)
  for (t in 50:(nrow(x) - 1L)) {
    now <- x[t, ]
    first <- made(x[cbind(t - back, seq_len(n))]) - 0.1 * now + pulled(now)
    then <- now + h * first
    second <- made(x[cbind(t + 1L - back, seq_len(n))]) - 0.1 * then + pulled(then)
    x[t + 1L, ] <- now + h / 2 * (first + second) + shake * rnorm(n)
  }
  x[past + each * seq_len(steps), , drop = FALSE]
}

#' The sines of phases (Kuramoto 1984)
run_kuramoto <- function(n, links, steps) {
  by_effect <- t(strengths(n, links, c(0.2, 0.5)))
  speed <- runif(n, 0.7, 1.7)
  slope <- function(s) {
    sine <- sin(s[, 1L])
    cosine <- cos(s[, 1L])
    matrix(speed + cosine * drop(by_effect %*% sine) - sine * drop(by_effect %*% cosine))
  }
  run_flow(slope, matrix(runif(n, 0, 2 * pi)), steps, runif(1, 0.3, 0.6), 0.15, noise = 0.2,
           see = \(s) sin(s[, 1L]))
}

run_fitzhugh_nagumo <- function(n, links, steps) {
  pulled <- pull(strengths(n, links, c(0.03, 0.08)))
  current <- runif(n, 0.35, 0.75)
  slope <- function(s) {
    v <- s[, 1L]
    cbind(v - v^3 / 3 - s[, 2L] + current + pulled(v), 0.08 * (v + 0.7 - 0.8 * s[, 2L]))
  }
  run_flow(slope, random_state(n, 2L), steps, runif(1, 1.5, 3), 0.5, noise = c(0.1, 0))
}

#' Morris and Lecar (1981), voltages in mV and times in ms; a link is a synapse that excites
#' or inhibits
run_morris_lecar <- function(n, links, steps) {
  by_effect <- t(strengths(n, links, c(0.15, 0.4)))
  reversal <- ifelse(runif(n) < 0.75, 20, -80)
  current <- runif(n, 40, 50)
  slope <- function(s) {
    v <- s[, 1L]
    open <- by_effect * rep(1 / (1 + exp(-(v + 10) / 5)), each = n)
    synapses <- drop(open %*% reversal) - rowSums(open) * v
    calcium <- 4 * (1 + tanh((v + 1.2) / 18)) / 2
    fed <- current - 2 * (v + 60) - calcium * (v - 120) - 8 * s[, 2L] * (v + 84) + synapses
    cbind(fed / 20, 0.067 * ((1 + tanh((v - 12) / 17.4)) / 2 - s[, 2L]) *
            cosh((v - 12) / 34.8))
  }
  run_flow(slope, cbind(runif(n, -50, 10), 0.1), steps, runif(1, 3, 5), 1, noise = c(1, 0))
}

#' Columns of cortex (Jansen and Rit 1995), whose firing adds to the input of others
run_jansen_rit <- function(n, links, steps) {
  by_effect <- t(strengths(n, links, c(15, 40)))
  many <- 135 * runif(n, 0.95, 1.05)
  input <- runif(n, 90, 150)
  fires <- function(v) 5 / (1 + exp(0.56 * (6 - v)))
  slope <- function(s) {
    seen <- fires(s[, 2L] - s[, 3L])
    come <- input + drop(by_effect %*% seen)
    cbind(s[, 4:6],
          325 * seen - 200 * s[, 4L] - 1e4 * s[, 1L],
          325 * (come + 0.8 * many * fires(many * s[, 1L])) - 200 * s[, 5L] - 1e4 * s[, 2L],
          1100 * 0.25 * many * fires(0.25 * many * s[, 1L]) - 100 * s[, 6L] - 2500 * s[, 3L])
  }
  run_flow(slope, 0.1 * abs(random_state(n, 6L)), steps, runif(1, 0.008, 0.012), 0.002,
           noise = c(0, 0, 0, 0, 325 * 2, 0), see = \(s) s[, 2L] - s[, 3L])
}

draw_lorenz96 <- function(n, steps) {
  x <- simulate_lorenz96(steps, n, interval = runif(1, 0.05, 0.1))
  list(x = matrix(x, steps), wiring = unname(attr(x, "truth")) > 0)
}

# ---- Linear ----------------------------------------------------------------------------

#' Shares of themselves, one and two steps before, that make series swing with periods of 6 to
#' 20 steps
oscillating <- function(n) {
  r <- runif(n, 0.85, 0.95)
  rbind(2 * r * cos(2 * pi / runif(n, 6, 20)), -r^2)
}

# ---- Neurons ---------------------------------------------------------------------------

#' Rates of firing; all follow one state that is up or down, each so many steps later
run_state <- function(n, links, steps) {
  past <- 200L
  strength <- runif(length(links$from), 0.4, 0.8) * sample(c(-1, 1), length(links$from), TRUE)
  into <- matrix(0, length(strength), n)
  into[cbind(seq_along(strength), links$to)] <- strength
  stays <- runif(1, 0.93, 0.98)
  up <- cumsum(runif(past + steps) > stays) %% 2
  follows <- runif(n, 0.5, 1.2)
  late <- sample(0:2, n, replace = TRUE)
  keeps <- runif(n, 0.2, 0.7)
  x <- matrix(0, past + steps, n)
  for (t in 4:(past + steps)) {
    push <- drop(x[cbind(t - links$delay, links$from)] %*% into)
    x[t, ] <- keeps * x[t - 1L, ] + tanh(push + follows * up[t - late] + 0.5 * rnorm(n))
  }
  x[past + seq_len(steps), , drop = FALSE]
}

#' Counts of spikes in bins of 25 ms, or calcium at ten frames a second, which rises and decays
#' and saturates. A spike of the cause changes the rate of the effect one to three bins later;
#' three of four causes excite.
run_neurons <- function(n, links, steps, calcium = FALSE) {
  bins <- if (calcium) 4L * steps else steps
  past <- 400L
  base <- log(runif(n, 0.08, 0.25))
  excites <- runif(n) < 0.75
  strength <- ifelse(excites[links$from], runif(length(links$from), 0.8, 1.4), -1.5)
  into <- matrix(0, length(strength), n)
  into[cbind(seq_along(strength), links$to)] <- strength
  count <- matrix(0, past + bins, n)
  for (t in 4:(past + bins)) {
    push <- drop(count[cbind(t - links$delay, links$from)] %*% into)
    count[t, ] <- pmin(rpois(n, exp(base + pmin(push, 2) - count[t - 1L, ])), 3)
  }
  if (!calcium) return(count[past + seq_len(bins), , drop = FALSE])
  decay <- runif(n, 0.4, 1)
  x <- vapply(seq_len(n), \(j) {
    level <- ar_series(past + bins, exp(-0.025 / decay[[j]]), count[, j])
    level <- ar_series(past + bins, exp(-0.025 / 0.1), level)
    level / (level + 2 * mean(level))
  }, double(past + bins))
  x[past + 4L * seq_len(steps), , drop = FALSE]
}

#' Activity in steps of a tenth of a second, as blood shows it, every two to three
#' seconds
run_bold <- function(n, links, steps) {
  each <- sample(20:30, 1L)
  fast <- run_linear(n, links, (steps + 20L) * each, keeps = rbind(runif(n, 0.3, 0.7), 0))
  at <- seq(0, 30, by = 0.1)
  blood <- stats::dgamma(at, 6) - stats::dgamma(at, 16) / 6
  x <- apply(fast, 2L, \(v) stats::filter(v, blood, sides = 1L))
  x[each * (20L + seq_len(steps)), , drop = FALSE]
}
