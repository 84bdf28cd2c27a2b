# The two works of this page, and how the result of each is told from another one.

#' Chaotic series, smoothed as calcium is
make_series <- function(series, steps) {
  set.seed(1)
  x <- matrix(0, steps, series)
  state <- runif(series, 0.1, 0.9)
  r <- runif(series, 3.87, 4)
  level <- state
  for (t in seq_len(steps)) {
    state <- r * state * (1 - state)
    level <- 0.7 * level + state
    x[t, ] <- level
  }
  x
}

#' Units that fire at random: nothing but the search is to take time
make_spikes <- function(duration) {
  set.seed(2)
  synfire::simulate_patterns(duration = duration, units = 100, rate = 30)
}

works <- list(
  map = list(
    make = \(size) make_series(size, 1600),
    call = \(x, where, ...) {
      synfire::causal_map(x, E_max = 20, file = where, device = "cpu", ...)
    },
    whole = \(x, ...) synfire::causal_map(x, E_max = 20, device = "cpu", ...),
    numbers = \(map) list(unname(as.matrix(map[])), unname(attr(map, "E")))
  ),
  patterns = list(
    make = make_spikes,
    call = \(x, where, ...) mine(x, folder = where, ...),
    whole = \(x, ...) mine(x, ...),
    numbers = \(found) list(found$count, found$items)
  )
)

mine <- function(x, ...) {
  synfire::mine_patterns(x, 0.003, 20, min_spikes = 4, min_count = 8, ...)
}

fingerprint <- function(work, result) rlang::hash(works[[work]]$numbers(result))
