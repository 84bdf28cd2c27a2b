# Systems of series whose wiring is known. `draw_system(data, series, steps)` draws one
# with R's random numbers: a list of `x`, a matrix of steps x series, and `wiring`, a
# logical matrix [cause, effect]. The maps are those of vignettes/causes/wirings.R, which
# must be sourced first.
#
#   mixed, rivals, bursts   chaotic maps
#   linear                  a vector autoregression with normal noise
#   calcium                 neurons whose activity is that of "bursts", as an indicator of
#                           calcium shows it at two frames a second (vignettes/causal-maps/simulated.R)
#   spikes                  the same, where activity is the rate of spikes drawn at random

longest_delay <- 3L
data_kinds <- c("mixed", "rivals", "bursts", "linear", "calcium", "spikes")

#' Links of a system, as link_table() makes them, each after 1 to 3 steps
#'
#' Three series are a chain, a common driver, a chain with a direct link beside it, or a
#' loop. More grow as a tree, in which every series has a cause among those before it:
#' chains and common drivers. To these come links that shorten a chain of two, and loops
#' that lead from a series back to the one or two before it on its chain. A series has at
#' most two causes.
draw_links <- function(series) {
  links <- if (series == 3L) {
    switch(sample(4L, 1L), cbind(1:2, 2:3), cbind(c(1L, 1L), 2:3),
           cbind(c(1L, 2L, 1L), c(2L, 3L, 3L)), cbind(1:3, c(2L, 3L, 1L)))
  } else {
    grow_links(series)
  }
  link_table(links[, 1L], links[, 2L], sample(longest_delay, nrow(links), replace = TRUE))
}

grow_links <- function(series) {
  cause <- c(NA, 1L, vapply(3:series, \(k) sample.int(k - 1L, 1L), 0L))
  tree <- cbind(cause[-1L], 2:series)
  third <- which(!is.na(cause) & !is.na(cause[cause]))
  some <- \(k) third[sample.int(length(third), min(k, length(third)))]
  shorter <- some(series %/% 3L)
  back <- some(max(series %/% 7L, rbinom(1L, 1L, 0.5)))
  again <- ifelse(runif(length(back)) < 0.5, cause[back], cause[cause[back]])
  links <- rbind(tree, cbind(cause[cause[shorter]], shorter),
                 cbind(back, again))
  # Of what a series has for a third cause, nothing is kept.
  nth <- stats::ave(links[, 2L], links[, 2L], FUN = seq_along)
  links[nth <= 2L, , drop = FALSE]
}

#' Autoregressive series: each keeps shares of itself, one and two steps before (`keeps`),
#' and adds one of each cause
run_linear <- function(series, links, steps, strength = c(0.2, 0.5), innovations = rnorm,
                       keeps = rbind(runif(series, 0, 0.8), 0)) {
  past <- 200L
  force(keeps)
  many <- length(links$from)
  into <- matrix(0, many, series)
  into[cbind(seq_len(many), links$to)] <- runif(many, strength[[1L]], strength[[2L]]) *
    sample(c(-1, 1), many, TRUE)
  x <- matrix(innovations((past + steps) * series), past + steps, series)
  for (t in 4:(past + steps)) {
    push <- drop(x[cbind(t - links$delay, links$from)] %*% into)
    x[t, ] <- x[t, ] + keeps[1L, ] * x[t - 1L, ] + keeps[2L, ] * x[t - 2L, ] + push
  }
  x[past + seq_len(steps), , drop = FALSE]
}

#' Neurons seen through an indicator; a link has a strength of 0.2 to 0.5
run_calcium <- function(series, links, steps, spikes) {
  strength <- delay <- matrix(0, series, series)
  at <- cbind(links$from, links$to)
  strength[at] <- runif(nrow(at), 0.2, 0.5)
  delay[at] <- links$delay
  x <- simulate_calcium(steps, wiring = strength, delay = delay, noise = 0,
                        firing_rate = if (spikes) 10)
  matrix(x, steps)
}

#' Whether no series goes round, grows without end or is in step with another
is_lively <- function(x) {
  if (!all(is.finite(x)) || max(abs(x)) > 1e3) return(FALSE)
  part <- function(v) floor(999 * (v - min(v)) / diff(range(v)))
  visited <- apply(x, 2L, function(v) length(unique(part(v))))
  all(visited >= 100) && is_apart(x)
}

is_apart <- function(x) {
  together <- abs(stats::cor(x))
  all(together[upper.tri(together)] <= 0.9)
}

draw_system <- function(data, series, steps) {
  repeat {
    links <- draw_links(series)
    x <- switch(data, linear = run_linear(series, links, steps),
                calcium = , spikes = run_calcium(series, links, steps, data == "spikes"),
                run_system(series, links, steps, data))
    if (is_lively(x)) break
  }
  wiring <- matrix(FALSE, series, series)
  wiring[cbind(links$from, links$to)] <- TRUE
  x <- seen_with_noise(x, runif(1, 0, 0.1))
  colnames(x) <- rownames(wiring) <- colnames(wiring) <- sprintf("s%02d", seq_len(series))
  list(x = x, wiring = wiring)
}
