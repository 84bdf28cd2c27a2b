# Wirings of systems, autoregressive systems, and which systems are worth a look. kinds.R has
# the kinds of systems that are made of these.

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
  link_table(links[, 1L], links[, 2L], sample(3L, nrow(links), replace = TRUE))
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
