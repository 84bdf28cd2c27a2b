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
#' @param wiring Which series drive which: a square matrix of the strengths of links,
#'   `wiring[cause, effect]`, 0 where there is no link; its column names are those of the
#'   series. The strengths of the links into a series together are at most 1. `NULL`: drawn
#'   at random.
#' @param delay How many steps after its cause an effect follows, at least 1: one whole
#'   number for all links, or a matrix of the shape of `wiring`.
#' @param series,causes,strength Of a random wiring: number of series, at most 5,000; number
#'   of causes of each (drawn at random among the others; by default two, or all others where
#'   they are fewer); and the strength of every link.
#' @param r Growth rate, from 1 to 4: one for all, or one for each series. `NULL`: drawn
#'   for each uniformly from 3.87 to 4, where the maps are chaotic.
#' @param noise Standard deviation of the noise of observation, as a share of that of each
#'   series.
#' @param transient Steps that pass before the first row.
#'
#' @return Numeric matrix `steps` x series, of at most 2 GB, with the attributes `truth`
#'   (the strength of each link, `truth[cause, effect]`) and `delay` (its steps, 0 where
#'   there is no link). [set.seed()] decides all.
#' @section Errors:
#' Every error has the class `synfire_error_argument`.
#' @references
#' Kaneko K (1992). Overview of coupled map lattices. *Chaos*, 2, 279-282.
#' \doi{10.1063/1.165869}
#' @seealso [causal_map()], [direct_links()]
#' @examples
#' # One drives the other, and not the other way round:
#' x <- simulate_coupled_maps(300, wiring = rbind(c(0, 0.1), c(0, 0)))
#' attr(x, "truth")
#' # Ten, with two causes each:
#' set.seed(1)
#' x <- simulate_coupled_maps(300, series = 10)
#' which(attr(x, "truth") > 0, arr.ind = TRUE)[1:4, ]
#' # A chain whose links take three steps:
#' chain <- rbind(c(0, 0.2, 0), c(0, 0, 0.2), 0)
#' x <- simulate_coupled_maps(300, chain, delay = 3)
#' attr(x, "delay")
#' @export
simulate_coupled_maps <- function(steps = 1000, wiring = NULL, delay = 1, series = 10,
                                  causes = min(2, series - 1), strength = 0.05, r = NULL,
                                  noise = 0, transient = 500) {
  steps <- check_count(steps)
  noise <- check_number(noise, min = 0)
  transient <- check_count(transient, min = 0, max = 1e7)
  strength <- check_number(strength, min = 0)
  key <- random_key()
  if (is.null(wiring)) {
    series <- check_count(series, max = most_series)
    causes <- check_count(causes, min = 0, max = series - 1)
    wiring <- strength * draw_causes(series, causes, key)
  }
  wiring <- check_wiring(wiring)
  delay <- check_delay(delay, wiring)
  n <- ncol(wiring)
  check_room(n, steps, "steps", "few enough", most_simulated)
  check_room(n, max(1, delay), "delay", "short enough", most_simulated)
  if (is.null(r)) {
    r <- 3.87 + 0.13 * random_uniform(n, key, sim_stream(2))
  } else {
    r <- check_numbers(r, "r", c(1, n), 1, 4, sprintf("NULL, or 1 or %d numbers from 1 to 4", n))
  }
  x <- run_coupled(wiring, delay, r,
                   0.1 + 0.8 * random_uniform(n, key, sim_stream(3)), steps, transient)
  structure(with_noise(x, noise, key, sim_stream(4)), truth = wiring, delay = delay)
}

# Most series, most bytes of a result, and most steps that a link may take.
most_series <- 5000
most_simulated <- 2e9
most_delay <- 10000

#' The strengths of links as a matrix of doubles with the names of the series
#' @noRd
check_wiring <- function(wiring) {
  fault <- if (!is_square(wiring) || nrow(wiring) > most_series) {
    describe(wiring)
  } else if (!all(is.finite(wiring)) || any(wiring < 0)) {
    "one with a missing, infinite or negative strength"
  } else if (any(diag(wiring) != 0)) {
    "one with a link from a series to itself"
  } else if (any(colSums(wiring) > 1 + 1e-9)) {
    into <- colSums(wiring)
    sprintf("one in which what drives series %d sums to %.4g", which.max(into), max(into))
  }
  refuse_if(!is.null(fault), "wiring",
            paste("a square matrix of strengths of at least 0, 0 on the diagonal, of", "at most",
                  commas(most_series), "series, such that the strengths of",
                  "what drives a series sum to at most 1"), fault)
  names <- colnames(wiring) %||% rownames(wiring) %||%
    sprintf("x%0*d", max(2L, nchar(ncol(wiring))), seq_len(ncol(wiring)))
  refuse_if(anyNA(names) || anyDuplicated(names) || any(names == ""), "wiring",
            "such that each series has a name of its own",
            "one in which series have the same name, or none")
  matrix(as.double(wiring), nrow(wiring), dimnames = list(names, names))
}

#' Whether a value is a square matrix of numbers
#' @noRd
is_square <- function(x) {
  is_plain_numeric(x) && is.matrix(x) && nrow(x) == ncol(x) && nrow(x) > 0L
}

#' The steps of each link as a matrix, 0 where there is no link
#' @noRd
check_delay <- function(delay, wiring) {
  fits <- is_plain_numeric(delay) && (length(delay) == 1L || identical(dim(delay), dim(wiring)))
  steps <- if (fits) rep_len(as.double(delay), length(wiring))[wiring > 0]
  if (!fits || !all(is.finite(steps)) || any(steps < 1 | steps > most_delay | steps %% 1 != 0)) {
    abort_arg("delay", sprintf("one whole number from 1 to %s, or a matrix of such numbers like
                               `wiring`", commas(most_delay)), describe(delay))
  }
  out <- 0 * wiring
  out[wiring > 0] <- steps
  out
}

#' Series that drive each other, step by step
#' @param growth,start A number for each series.
#' @noRd
run_coupled <- function(wiring, delay, growth, start, steps, transient) {
  linked <- wiring > 0
  links <- list(first = c(0L, cumsum(as.integer(colSums(linked)))),
                cause = row(wiring)[linked] - 1L, delay = as.integer(delay[linked]),
                strength = wiring[linked])
  x <- .Call(r_coupled_maps, links, list(growth = growth, start = start),
             list(steps = steps, transient = transient))
  x <- finish_status(x, "the simulated series", "Take fewer `steps` or series.")
  dimnames(x) <- list(NULL, colnames(wiring))
  x
}

#' Draw causes of each series
#' @return Matrix of 0 and 1 [cause, effect], without links from a series to itself.
#' @noRd
draw_causes <- function(n, causes, key) {
  out <- matrix(0, n, n)
  for (effect in seq_len(n)) {
    from <- seq_len(n)[-effect]
    drawn <- order(random_uniform(length(from), key, sim_stream(1, effect)))
    out[from[drawn[seq_len(min(causes, length(from)))]], effect] <- 1
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
