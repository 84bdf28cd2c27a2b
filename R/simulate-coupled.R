# Series that drive each other, with a wiring that is known.

#' Simulate coupled logistic maps
#'
#' Chaotic populations, some of whose offspring go elsewhere (Kaneko 1992). With
#' \eqn{f_j(x) = r_j x (1 - x)} and `wiring[i, j]` written \eqn{w_{ij}}{w[i, j]}, series
#' \eqn{j} goes on as
#' \deqn{x_j(t+1) = \left(1 - \sum_i w_{ij}\right) f_j(x_j(t)) + \sum_i w_{ij} f_i(x_i(t))}{
#' x[j](t + 1) = (1 - sum of w[i, j]) f[j](x[j](t)) + sum of w[i, j] f[i](x[i](t))}
#' which keeps it between 0 and 1 whatever the wiring. A link with a delay of \eqn{d}
#' steps brings \eqn{f_i(x_i(t + 1 - d))}{f[i](x[i](t + 1 - d))} instead; before the first
#' step all series are at rest where they begin. Links of 0.03 to 0.1 leave the
#' series all but uncorrelated; much stronger ones synchronise them, and then nothing can
#' tell the cause from the effect.
#'
#' @param steps Rows of the result.
#' @param wiring Which series drive which: a [wiring()], or what `wiring()` makes one of,
#'   such as names of motifs (`"chain"`), numbers of them (`c(chain = 20, loop = 5)`) or a
#'   square matrix of strengths, `wiring[cause, effect]`. The strengths of the links into
#'   a series together are at most 1. `NULL`: drawn at random.
#' @param series,causes,strength Of a random wiring: number of series, number of causes
#'   of each (drawn at random among the others; by default two, or all others where they
#'   are fewer), and the strength of every link. `strength` is also that of the links of a
#'   `wiring` that leaves it to the simulator. Of more than 5,000 series, give a `wiring`.
#' @param r Growth rate, from 1 to 4: one for all, or one for each series. `NULL`: drawn
#'   for each uniformly from 3.87 to 4, where the maps are chaotic.
#' @param noise Standard deviation of the noise of observation, as a share of that of each
#'   series.
#' @param transient Steps that pass before the first row.
#'
#' @return Numeric matrix `steps` x series, of at most 2 GB, with the attributes `truth`
#'   (the strength of each link, `truth[cause, effect]`), `delay` (its steps, 0 where
#'   there is no link) and `wiring` (a [wiring()], which also knows the hidden series). Of
#'   more than 5,000 series, `truth` and `delay` are sparse matrices of the package
#'   Matrix. [truth_links()] says which links are direct, which lead through others, and
#'   which pairs share a driver. [set.seed()] decides all.
#' @references
#' Kaneko K (1992). Overview of coupled map lattices. *Chaos*, 2, 279-282.
#' \doi{10.1063/1.165869}
#' @seealso [wiring()], [truth_links()], [causal_map()], [simulate_lorenz96()],
#'   [simulate_calcium()]
#' @examples
#' # One drives the other, and not the other way round:
#' x <- simulate_coupled_maps(300, wiring = rbind(c(0, 0.1), c(0, 0)))
#' attr(x, "truth")
#' # Ten, with two causes each:
#' set.seed(1)
#' x <- simulate_coupled_maps(300, series = 10)
#' which(attr(x, "truth") > 0, arr.ind = TRUE)[1:4, ]
#' # Chains, and pairs driven by a series that is not in the result:
#' x <- simulate_coupled_maps(300, c(chain = 2, hidden_driver = 2), strength = 0.1)
#' truth_links(x)
#' @export
simulate_coupled_maps <- function(steps = 1000, wiring = NULL, series = 10,
                                  causes = min(2, series - 1), strength = 0.05, r = NULL,
                                  noise = 0, transient = 500) {
  call <- rlang::current_env()
  steps <- check_count(steps)
  noise <- check_number(noise, min = 0)
  transient <- check_count(transient, min = 0, max = 1e7)
  key <- random_key()
  strength <- check_number(strength, min = 0)
  if (is.null(wiring)) {
    series <- check_count(series, max = most_series)
    causes <- check_count(causes, min = 0, max = series - 1)
    wiring <- strength * draw_causes(matrix(TRUE, series, series), causes, key)
    dimnames(wiring) <- rep(list(series_names("x", series)), 2L)
  }
  wiring <- wiring_of(wiring, strength, most_into = 1, call)
  n <- length(wiring$series)
  check_steps(steps, wiring, call)
  if (is.null(r)) {
    r <- 3.87 + 0.13 * random_uniform(n, key, sim_stream(2))
  } else if (!(is_plain_numeric(r) && length(r) %in% c(1, n) && all(is.finite(r)) &&
                 all(r >= 1 & r <= 4))) {
    abort_arg("r", sprintf("NULL, or 1 or %d numbers from 1 to 4", n), describe(r))
  }
  x <- run_wired(wiring, "logistic", rep_len(as.double(r), n),
                 0.1 + 0.8 * random_uniform(n, key, sim_stream(3)), steps, transient, call)
  with_wiring(with_noise(x, noise, key, sim_stream(4)), wiring, call)
}

#' Simulate a ring of Lorenz (1996)
#'
#' A ring on which something is carried around, damped and pushed, as air around the
#' Earth:
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
#' @return Numeric matrix `steps` x `series`, of at most 2 GB, with the attributes `truth`
#'   (`truth[cause, effect]`, 1 for a link and 0 for none) and `wiring`, for
#'   [truth_links()]. The ring has no steps, so no link has a delay. [set.seed()] decides
#'   all.
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
  wiring <- make_wiring(truth, arg = "series", call = rlang::current_env())
  wiring$links$delay <- rep(NA_integer_, nrow(wiring$links))
  x <- with_wiring(with_noise(x, noise, key, sim_stream(4)), wiring)
  attr(x, "delay") <- NULL
  colnames(x) <- wiring$series
  x
}

# ---- What the simulations share ----------------------------------------------------

#' Most series of a wiring that is drawn, or held, as a dense matrix, and most bytes of a
#' result.
#' @noRd
most_series <- 5000
most_simulated <- 2e9

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

#' The wiring of a simulation, all of whose links have a strength
#' @param most_into Most that the strengths of the links into one series may sum to.
#' @noRd
wiring_of <- function(wiring, strength, most_into, call) {
  wiring <- if (inherits(wiring, "wiring")) {
    check_wiring_parts(wiring, "wiring", call)
  } else {
    make_wiring(wiring, arg = "wiring", call = call)
  }
  links <- wiring$links
  wiring$links$strength[is.na(links$strength)] <- strength
  into <- rowsum(wiring$links$strength, links$effect)
  if (any(into > most_into + 1e-9)) {
    worst <- which.max(into)
    abort_arg("wiring",
              sprintf("such that the strengths of what drives a series sum to at most %d",
                      most_into),
              sprintf("one in which what drives \"%s\" sums to %.4g",
                      wiring$series[as.integer(rownames(into)[[worst]])], into[[worst]]),
              call = call)
  }
  wiring
}

#' Error where a simulation would take too much memory
#' @noRd
check_steps <- function(steps, wiring, call) {
  check_room(sum(!wiring$hidden), steps, "steps", "few enough", most_simulated, call)
  check_room(length(wiring$series), max(1, wiring$links$delay), "wiring",
             "of so few series and short delays as", most_simulated, call)
}

#' Series that drive each other, step by step
#' @param growth,start Numbers for each series, hidden ones too.
#' @return Matrix `steps` x series that are not hidden.
#' @noRd
run_wired <- function(wiring, kind, growth, start, steps, transient, call) {
  x <- .Call(
    r_coupled_maps, links_by_effect(wiring),
    list(growth = growth, start = start, kept = which(!wiring$hidden) - 1L),
    list(kind = match(kind, c("logistic", "ricker")) - 1, steps = steps, transient = transient)
  )
  x <- finish_status(x, "the simulated series", "Take fewer `steps` or series.", call = call)
  dimnames(x) <- list(NULL, wiring$series[!wiring$hidden])
  x
}

#' States of a ring from row to row
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

#' Columns with normal noise, whose standard deviation is so large a share of each one's
#' @noRd
with_noise <- function(x, noise, key, stream) {
  # One row has no standard deviation, and no noise.
  if (noise == 0 || nrow(x) < 2L) return(x)
  n <- nrow(x)
  for (j in seq_len(ncol(x))) {
    quiet <- x[, j]
    x[, j] <- quiet +
      random_normal(n, key, stream, (j - 1) * n, length(x)) * (noise * stats::sd(quiet))
  }
  x
}
