# Two systems of series whose wiring is known, beside simulate_coupled_maps() of the package:
# a small brain seen as calcium, and a ring of Lorenz (1996). Both follow set.seed(); they draw
# from the random numbers of the package, as its own simulators do.
simulated <- new.env(parent = asNamespace("synfire"))

# Links of neurons in regions. Each neuron but the hubs has one cause in its own region. The first
# neuron of a region is its hub: it drives eight of ten neurons of the region, and one of ten
# elsewhere. With the stimulus the hub of the first region drives all neurons of the last region
# but its hub, and the hub of the second region drives its own region alone.
simulated$region_links <- function(region, stimulus, key) {
  n <- length(region)
  of <- as.integer(region)
  hub <- match(levels(region), region)
  same <- outer(of, of, `==`)
  local <- same & row(same) != col(same)
  local[hub, ] <- local[, hub] <- FALSE
  links <- matrix(0, n, n)
  for (effect in seq_len(n)) {
    from <- which(local[, effect])
    drawn <- order(random_uniform(length(from), key, sim_stream(1, effect)))
    links[from[drawn[seq_len(min(1, length(from)))]], effect] <- 1
  }
  reach <- matrix(random_uniform(n * length(hub), key, sim_stream(5)), length(hub))
  links[hub, ] <- reach < ifelse(same[hub, ], 0.8, 0.1)
  if (stimulus) {
    links[hub[[1L]], of == max(of)] <- 1
    links[hub[[2L]], of != 2L] <- 0
  }
  links[, hub] <- 0
  links
}

# Activity that comes in bursts by itself (the map of Ricker 1954) and is held down by its causes:
# a(t + 1) = a(t) exp(r (1 - a(t)) - sum of w (a[cause](t + 1 - delay) - 1)).
simulated$bursting <- function(links, delay, growth, start, steps, transient) {
  past <- matrix(start, max(1, delay) + 1L, length(start), byrow = TRUE)
  out <- matrix(0, steps, length(start))
  at <- which(links != 0, arr.ind = TRUE)
  for (t in seq_len(transient + steps)) {
    seen <- past[cbind(delay[at], at[, 1L])]
    held <- tapply(links[at] * (seen - 1), factor(at[, 2L], seq_along(start)), sum, default = 0)
    now <- past[1L, ] * exp(growth * (1 - past[1L, ]) - held)
    past <- rbind(now, past[-nrow(past), , drop = FALSE])
    if (t > transient) out[t - transient, ] <- now
  }
  out
}

# Calcium that spikes, or activity itself, make jump and that decays.
simulated$calcium_trace <- function(jump, decay, level, frame_rate) {
  c(stats::filter(jump, exp(-1 / frame_rate / decay), "recursive", init = level))
}

# Times of spikes, in frames, of a Poisson process with these expected numbers a frame.
simulated$spike_times <- function(expected, key, stream) {
  before <- c(0, cumsum(expected))
  arrivals <- unit_arrivals(before[[length(before)]], key, stream)
  frame <- findInterval(arrivals, before, all.inside = TRUE)
  frame - 1 + (arrivals - before[frame]) / expected[frame]
}

# Relative fluorescence, steps x neurons, with the attributes `truth` [cause, effect], `region`,
# `hubs` and, as two neurons of the last region turn the animal, `turning` and `turned_by`. The
# same seed gives the same animal at rest and with the stimulus. With `wiring`, a matrix of
# strengths, there are no regions; with `firing_rate` (Hz), spikes make the calcium rise.
simulated$simulate_calcium <- function(steps = 1600, neurons = 60, condition = "rest",
                                       strength = 0.2, noise = 0.03, wiring = NULL, delay = 1,
                                       firing_rate = NULL, decay = 1.5, frame_rate = 2) {
  regions <- c("tectum", "habenula", "pallium", "hindbrain")
  key <- random_key()
  region <- if (is.null(wiring)) factor(regions[sort(rep_len(1:4, neurons))], regions)
  if (is.null(wiring)) wiring <- strength * region_links(region, condition == "stimulus", key)
  n <- ncol(wiring)
  take <- match(condition, c("rest", "stimulus"))
  activity <- bursting(wiring, delay + 0 * wiring, 2.8 + 0.3 * random_uniform(n, key, sim_stream(2)),
                       0.1 + 0.8 * random_uniform(n, key, sim_stream(3, take)), steps, 100)
  names <- sprintf("n%0*d", max(2L, nchar(n)), seq_len(n))
  trace <- vapply(seq_len(n), \(j) {
    if (is.null(firing_rate)) {
      level <- 1 / (1 - exp(-1 / frame_rate / decay))
      seen <- calcium_trace(activity[, j], decay, level, frame_rate)
    } else {
      at <- spike_times(activity[, j] * firing_rate / frame_rate, key, sim_stream(6 + take, j))
      frame <- floor(at) + 1
      jump <- numeric(steps)
      jump[unique(frame)] <- rowsum(exp(-(frame - at) / frame_rate / decay), frame, reorder = FALSE)
      seen <- 1 + calcium_trace(jump, decay, firing_rate * decay, frame_rate)
    }
    seen / stats::quantile(seen, 0.1) - 1
  }, numeric(steps))
  trace <- matrix(trace, steps, dimnames = list(NULL, names))
  x <- with_noise(trace, noise, key, sim_stream(4, take))
  attr(x, "truth") <- structure(wiring, dimnames = list(names, names))
  if (!is.null(region)) {
    by <- which(as.integer(region) == 4L)[2:3]
    push <- tanh(activity[, by[[1L]]] - activity[, by[[2L]]])
    turning <- matrix(stats::filter(c(0, push[-steps]), 0.5, "recursive"))
    attr(x, "region") <- region
    attr(x, "hubs") <- names[match(regions, region)]
    attr(x, "turning") <- c(with_noise(turning, noise, key, sim_stream(6, take)))
    attr(x, "turned_by") <- c(left = names[[by[[1L]]]], right = names[[by[[2L]]]])
  }
  x
}

# dx[j]/dt = (x[j + 1] - x[j - 2]) x[j - 1] - x[j] + 8, by the Runge-Kutta method of order 4: each
# series is driven by the next one, the previous one and the one before that.
simulated$simulate_lorenz96 <- function(steps = 1000, series = 10, noise = 0, interval = 0.1) {
  key <- random_key()
  ring <- \(shift) (seq_len(series) - 1 + shift) %% series + 1
  slope <- \(x) (x[ring(1)] - x[ring(-2)]) * x[ring(-1)] - x + 8
  parts <- ceiling(interval / 0.02)
  h <- interval / parts
  state <- 8 + random_normal(series, key, sim_stream(3))
  x <- matrix(0, steps, series, dimnames = list(NULL, sprintf("x%02d", seq_len(series))))
  for (t in seq_len(100 + steps)) {
    for (part in seq_len(parts)) {
      k1 <- slope(state)
      k2 <- slope(state + h / 2 * k1)
      k3 <- slope(state + h / 2 * k2)
      k4 <- slope(state + h * k3)
      state <- state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    }
    if (t > 100) x[t - 100, ] <- state
  }
  truth <- matrix(0, series, series, dimnames = rep(list(colnames(x)), 2L))
  truth[cbind(c(ring(1), ring(-1), ring(-2)), seq_len(series))] <- 1
  structure(with_noise(x, noise, key, sim_stream(4)), truth = truth)
}

for (name in ls(simulated)) environment(simulated[[name]]) <- simulated
simulate_calcium <- simulated$simulate_calcium
simulate_lorenz96 <- simulated$simulate_lorenz96
