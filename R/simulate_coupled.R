# Series that drive each other, with a wiring that is known.

#' Simulate coupled logistic maps
#'
#' Chaotic populations, some of whose offspring go elsewhere (Kaneko 1992). With
#' \eqn{f_j(x) = r_j x (1 - x)} and `wiring[i, j]` written \eqn{w_{ij}}{w[i, j]}, series
#' \eqn{j} goes on as
#' \deqn{x_j(t+1) = \left(1 - \sum_i w_{ij}\right) f_j(x_j(t)) + \sum_i w_{ij} f_i(x_i(t))}{
#' x[j](t + 1) = (1 - sum of w[i, j]) f[j](x[j](t)) + sum of w[i, j] f[i](x[i](t))}
#' which keeps it between 0 and 1 whatever the wiring. Links of 0.03 to 0.1 leave the
#' series all but uncorrelated; much stronger ones synchronise them, and then nothing can
#' tell the cause from the effect.
#'
#' @param steps Rows of the result.
#' @param wiring Square matrix of link strengths: `wiring[cause, effect]`, at least 0,
#'   those into a series together at most 1, zeros on the diagonal. Its names become those
#'   of the series. `NULL`: drawn at random.
#' @param series,causes,strength Of a random wiring: number of series, number of causes
#'   of each (drawn at random among the others; by default two, or all others where they
#'   are fewer), and the strength of every link.
#' @param r Growth rate, from 1 to 4: one for all, or one for each series. `NULL`: drawn
#'   for each uniformly from 3.87 to 4, where the maps are chaotic.
#' @param noise Standard deviation of the noise of observation, as a share of that of each
#'   series.
#' @param transient Steps that pass before the first row.
#'
#' @return Numeric matrix `steps` x series, of at most 200 MB, with the attribute `truth`: the
#'   wiring, `truth[cause, effect]`. [set.seed()] decides all.
#' @references
#' Kaneko K (1992). Overview of coupled map lattices. *Chaos*, 2, 279-282.
#' \doi{10.1063/1.165869}
#' @seealso [causal_map()], [simulate_lorenz96()], [simulate_calcium()]
#' @examples
#' # One drives the other, and not the other way round:
#' x <- simulate_coupled_maps(300, wiring = rbind(c(0, 0.1), c(0, 0)))
#' attr(x, "truth")
#' # Ten, with two causes each:
#' set.seed(1)
#' x <- simulate_coupled_maps(300, series = 10)
#' which(attr(x, "truth") > 0, arr.ind = TRUE)[1:4, ]
#' @export
simulate_coupled_maps <- function(steps = 1000, wiring = NULL, series = 10,
                                  causes = min(2, series - 1), strength = 0.05, r = NULL,
                                  noise = 0, transient = 500) {
  call <- rlang::current_env()
  steps <- check_count(steps)
  noise <- check_number(noise, min = 0)
  transient <- check_count(transient, min = 0, max = 1e7)
  key <- random_key()
  if (is.null(wiring)) {
    series <- check_count(series, max = most_series)
    causes <- check_count(causes, min = 0, max = series - 1)
    strength <- check_number(strength, min = 0)
    wiring <- strength * draw_causes(matrix(TRUE, series, series), causes, key)
    dimnames(wiring) <- rep(list(series_names("x", series)), 2L)
  }
  wiring <- check_wiring(wiring, call)
  n <- nrow(wiring)
  check_room(n, steps, "steps", "few enough", most_simulated)
  if (is.null(r)) {
    r <- 3.87 + 0.13 * random_uniform(n, key, sim_stream(2))
  } else if (!(is_plain_numeric(r) && length(r) %in% c(1, n) && all(is.finite(r)) &&
                 all(r >= 1 & r <= 4))) {
    abort_arg("r", sprintf("NULL, or 1 or %d numbers from 1 to 4", n), describe(r))
  }
  r <- rep_len(r, n)
  stays <- 1 - colSums(wiring)
  step <- function(x) {
    f <- r * x * (1 - x)
    stays * f + colSums(wiring * f)
  }
  x <- run_map(step, 0.1 + 0.8 * random_uniform(n, key, sim_stream(3)), steps, transient)
  observed(x, wiring, noise, key)
}

#' Simulate a ring of Lorenz (1996)
#'
#' A ring on which something is carried around, damped and pushed, as air around the Earth:
#' \deqn{dx_j/dt = (x_{j+1} - x_{j-2}) x_{j-1} - x_j + F}{
#' dx[j]/dt = (x[j + 1] - x[j - 2]) x[j - 1] - x[j] + F}
#' So the causes of each series are the next one, the previous one and the one before
#' that. Integrated by the Runge-Kutta method of order 4.
#'
#' @param series Number of series on the ring, at least 4.
#' @param forcing \eqn{F}; above about 5 the ring is chaotic.
#' @param interval Time from a row to the next. It is cut into equal steps of the
#'   integration of at most 0.02; at most 2000.
#' @param transient Rows that pass before the first one that is kept.
#' @inheritParams simulate_coupled_maps
#'
#' @return Numeric matrix `steps` x `series`, of at most 200 MB, with the attribute `truth`:
#'   `truth[cause, effect]`, 1 for a link and 0 for none. [set.seed()] decides all.
#' @references
#' Lorenz EN (1996). Predictability: a problem partly solved. *Seminar on Predictability*,
#' ECMWF, 1-18.
#' @seealso [causal_map()], [simulate_coupled_maps()]
#' @examples
#' set.seed(1)
#' x <- simulate_lorenz96(200, series = 6)
#' attr(x, "truth")
#' @export
simulate_lorenz96 <- function(steps = 1000, series = 10, forcing = 8, interval = 0.1,
                              noise = 0, transient = 100) {
  steps <- check_count(steps)
  n <- check_count(series, min = 4, max = most_series)
  check_room(n, steps, "steps", "few enough", most_simulated)
  forcing <- check_number(forcing)
  interval <- check_number(interval, above = 0)
  noise <- check_number(noise, min = 0)
  transient <- check_count(transient, min = 0, max = 1e7)
  key <- random_key()
  ring <- \(shift) (seq_len(n) - 1 + shift) %% n + 1
  ahead <- ring(1)
  behind <- ring(-1)
  before <- ring(-2)
  slope <- \(x) (x[ahead] - x[before]) * x[behind] - x + forcing
  parts <- ceiling(interval / 0.02)
  if (parts > 1e5) {
    abort_arg("interval", "at most 2000, a hundred thousand steps of the integration",
              format(interval))
  }
  h <- interval / parts
  step <- function(x) {
    for (part in seq_len(parts)) {
      k1 <- slope(x)
      k2 <- slope(x + h / 2 * k1)
      k3 <- slope(x + h / 2 * k2)
      k4 <- slope(x + h * k3)
      x <- x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    }
    x
  }
  x <- run_map(step, forcing + random_normal(n, key, sim_stream(3)), steps, transient)
  if (!all(is.finite(x))) {
    abort_arg("forcing", "so small that steps of 0.02 follow the ring", format(forcing))
  }
  truth <- matrix(0, n, n, dimnames = rep(list(series_names("x", n)), 2L))
  truth[cbind(c(ahead, behind, before), seq_len(n))] <- 1
  observed(x, truth, noise, key)
}

#' Simulate a calcium recording of a larval zebrafish
#'
#' Neurons in regions of a brain, two frames a second, in one of two conditions between
#' which certain links change. It stands in for recordings of whole brains by light-sheet
#' microscopy: small, and with a wiring that is known.
#'
#' Every neuron has an activity that comes in bursts by itself (the map of Ricker 1954)
#' and is held down by what drives it,
#' \deqn{a_j(t+1) = a_j(t) \exp\left(r_j (1 - a_j(t)) - \sum_i w_{ij} (a_i(t) - 1)\right)}{
#' a[j](t + 1) = a[j](t) exp(r[j] (1 - a[j](t)) - sum of w[i, j] (a[i](t) - 1))}
#' with \eqn{r_j}{r[j]} uniform from 2.8 to 3.1. A frame is a step. Each spike of activity
#' makes the calcium jump, which then decays exponentially; what is seen is its change
#' relative to the trace's tenth percentile, with noise.
#'
#' Links, all of one strength: each neuron but the hubs has one cause in its own region.
#' The first neuron of each region is its hub: it drives eight of ten neurons of the
#' region, and one of ten elsewhere, drawn at random. With `condition = "stimulus"` the
#' hub of the first region drives, in addition, every neuron of the last one but its hub,
#' and the hub of the second region drives nothing outside its own.
#'
#' What the animal does is simulated as well. Two neurons of the last region, its second and
#' third, turn it to the left and to the right, and a turn halves from frame to frame:
#' \deqn{b(t+1) = b(t) / 2 + \tanh(a_{left}(t) - a_{right}(t))}{
#' b(t + 1) = b(t) / 2 + tanh(a[left](t) - a[right](t))}
#' with \eqn{b = 0} in the first frame. So which neurons drive the behaviour is known, too.
#'
#' @param neurons Number of neurons, at least three a region; the first regions have one
#'   more where they cannot have as many each.
#' @param regions Names of two or more regions.
#' @param condition `"rest"` or `"stimulus"`. With the same seed (and the same other
#'   arguments) both are recordings of the same animal.
#' @param strength Strength of all links, from 0 to 1.
#' @param decay Time constant of the decay of calcium, in seconds.
#' @param noise Standard deviation of the noise, as a share of that of each trace, and of
#'   that of the turning.
#' @inheritParams simulate_coupled_maps
#'
#' @return Numeric matrix `steps` x `neurons`, of at most 200 MB, of relative fluorescence,
#'   two frames a second, with the attributes `truth` (`truth[cause, effect]`, the strength of
#'   each link in this condition), `region` (factor, an element a neuron), `hubs` (names, one
#'   for each region), `turning` (a number a frame, above 0 to the left) and `turned_by` (names
#'   of the neurons `left` and `right`). [set.seed()] decides all.
#' @references
#' Ricker WE (1954). Stock and recruitment. *Journal of the Fisheries Research Board of
#' Canada*, 11, 559-623. \doi{10.1139/f54-039}
#'
#' Watanakeesuntorn W, Takahashi K, Ichikawa K, Park J, Sugihara G, Takano R, Haga J,
#' Pao GM (2020). Massively parallel causal inference of whole brain dynamics at single
#' neuron resolution. *ICPADS 2020*, 196-205. \doi{10.1109/ICPADS51040.2020.00035}
#' @seealso [causal_map()], [simulate_coupled_maps()]
#' @examples
#' set.seed(1)
#' rest <- simulate_calcium(300)
#' set.seed(1)
#' stimulus <- simulate_calcium(300, condition = "stimulus")
#' table(attr(rest, "region"))
#' # Links that the stimulus makes and undoes:
#' table(attr(stimulus, "truth") - attr(rest, "truth"))
#' # The neurons that turn the fish, and how far it turns:
#' attr(rest, "turned_by")
#' range(attr(rest, "turning"))
#' @export
simulate_calcium <- function(steps = 1600, neurons = 60,
                             regions = c("tectum", "habenula", "pallium", "hindbrain"),
                             condition = c("rest", "stimulus"), strength = 0.2, decay = 1.5,
                             noise = 0.03, transient = 100) {
  steps <- check_count(steps)
  if (!(is.character(regions) && length(regions) >= 2L && !anyNA(regions) &&
          anyDuplicated(regions) == 0L)) {
    abort_arg("regions", "two or more different names", describe(regions))
  }
  n <- check_count(neurons, min = 3 * length(regions), max = most_series)
  check_room(n, steps, "steps", "few enough", most_simulated)
  condition <- check_choice(condition)
  strength <- check_number(strength, min = 0, max = 1)
  decay <- check_number(decay, above = 0, max = 1e6)
  noise <- check_number(noise, min = 0)
  transient <- check_count(transient, min = 0, max = 1e7)
  key <- random_key()
  region <- factor(regions[sort(rep_len(seq_along(regions), n))], regions)
  truth <- strength * calcium_wiring(region, condition, key)
  dimnames(truth) <- rep(list(series_names("n", n)), 2L)
  hubs <- colnames(truth)[match(regions, region)]

  r <- 2.8 + 0.3 * random_uniform(n, key, sim_stream(2))
  step <- \(a) a * exp(r * (1 - a) - colSums(truth * (a - 1)))
  # The two conditions are two recordings: other starts, other noise.
  take <- match(condition, c("rest", "stimulus"))
  start <- 0.1 + 0.8 * random_uniform(n, key, sim_stream(3, take))
  kept <- exp(-0.5 / decay)
  activity <- run_map(step, start, steps, transient)
  seen <- apply(activity, 2L, \(of_one) {
    # The level that steady activity of 1 would have led to before the first frame.
    calcium <- stats::filter(of_one, kept, "recursive", init = 1 / (1 - kept))
    calcium / stats::quantile(calcium, 0.1) - 1
  })
  x <- observed(matrix(seen, steps), truth, noise, key, take)
  attr(x, "region") <- region
  attr(x, "hubs") <- hubs
  turned_by <- which(as.integer(region) == length(regions))[2:3]
  turning <- turns(activity[, turned_by, drop = FALSE])
  attr(x, "turning") <- c(with_noise(turning, noise, key, sim_stream(6, take)))
  attr(x, "turned_by") <- rlang::set_names(colnames(x)[turned_by], c("left", "right"))
  x
}

#' How far a fish turns in each frame
#' @param activity Matrix of steps x the neurons that turn it to the left and to the right.
#' @return Matrix of one column.
#' @noRd
turns <- function(activity) {
  push <- tanh(activity[, 1L] - activity[, 2L])
  before <- c(0, push[-length(push)])
  matrix(stats::filter(before, 0.5, "recursive"))
}

#' Links of the neurons of regions
#' @return Matrix of 0 and 1 [cause, effect].
#' @noRd
calcium_wiring <- function(region, condition, key) {
  n <- length(region)
  of <- as.integer(region)
  hub <- match(levels(region), region)
  same <- outer(of, of, `==`)
  local <- same
  local[hub, ] <- local[, hub] <- FALSE
  links <- draw_causes(local, 1, key)
  reach <- matrix(random_uniform(n * length(hub), key, sim_stream(5)), length(hub))
  links[hub, ] <- reach < ifelse(same[hub, ], 0.8, 0.1)
  if (condition == "stimulus") {
    links[hub[[1L]], of == max(of)] <- 1
    links[hub[[2L]], of != 2L] <- 0
  }
  links[, hub] <- 0
  links
}

# ---- What the simulations share ----------------------------------------------------

#' More series, and more bytes of them, are a step that Ctrl-C would have to wait for.
#' @noRd
most_series <- 5000
most_simulated <- 2e8

series_names <- function(prefix, n) sprintf("%s%0*d", prefix, max(2L, nchar(n)), seq_len(n))

#' Draw causes of each series
#' @param allowed Logical matrix [cause, effect].
#' @return Matrix of 0 and 1 [cause, effect], without links from a series to itself.
#' @noRd
draw_causes <- function(allowed, causes, key) {
  diag(allowed) <- FALSE
  n <- nrow(allowed)
  out <- matrix(0, n, n)
  for (effect in seq_len(n)) {
    from <- which(allowed[, effect])
    drawn <- order(random_uniform(length(from), key, sim_stream(1, effect)))
    out[from[drawn[seq_len(min(causes, length(from)))]], effect] <- 1
  }
  out
}

check_wiring <- function(wiring, call) {
  ok <- is_plain_numeric(wiring) && is.matrix(wiring) && nrow(wiring) == ncol(wiring) &&
    nrow(wiring) > 0L && nrow(wiring) <= most_series && all(is.finite(wiring)) &&
    all(wiring >= 0) && all(diag(wiring) == 0)
  if (!ok) {
    abort_arg("wiring", paste("a square matrix of strengths of at least 0, 0 on the diagonal,",
                              "of at most", commas(most_series), "series"),
              describe(wiring), call = call)
  }
  most <- max(colSums(wiring))
  if (most > 1 + 1e-9) {
    abort_arg("wiring", "a matrix whose columns each sum to at most 1",
              sprintf("one with a column that sums to %.4g", most), call = call)
  }
  names <- colnames(wiring) %||% rownames(wiring) %||% series_names("x", nrow(wiring))
  matrix(as.double(wiring), nrow(wiring), dimnames = list(names, names))
}

#' States of a system from step to step
#' @return Matrix `steps` x length(x).
#' @noRd
run_map <- function(step, x, steps, transient) {
  out <- matrix(0, steps, length(x))
  for (t in seq_len(transient)) x <- step(x)
  for (t in seq_len(steps)) {
    x <- step(x)
    out[t, ] <- x
  }
  out
}

#' What is seen of a system: with noise, names and the truth
#' @noRd
observed <- function(x, truth, noise, key, take = 0) {
  x <- with_noise(x, noise, key, sim_stream(4, take))
  dimnames(x) <- list(NULL, colnames(truth))
  attr(x, "truth") <- truth
  x
}

#' Columns with normal noise, whose standard deviation is so large a share of each one's
#' @noRd
with_noise <- function(x, noise, key, stream) {
  # One row has no standard deviation, and no noise.
  if (noise == 0 || nrow(x) < 2L) return(x)
  x + random_normal(length(x), key, stream) *
    rep(noise * apply(x, 2L, stats::sd), each = nrow(x))
}
