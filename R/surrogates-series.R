# Surrogates of a time series: what it would look like if only so much of it were real.

#' Surrogates of a time series
#'
#' Series that share certain properties with the one given and are random otherwise. A
#' quantity that is much the same for surrogates as for the series says no more than
#' those properties do; that is how [ccm()] tests a skill.
#'
#' # What each method keeps
#' * `"shuffle"`: the values. Their order is random: no dynamics at all.
#' * `"phase"` (Ebisuzaki 1997): the power spectrum, and with it mean, standard deviation
#'   and autocorrelation. The phases of the Fourier transform are random: a linear
#'   process. The component at the highest frequency, which has no phase when the number
#'   of rows is even, changes sign or does not.
#' * `"seasonal"`: the mean of each season, which is a place in the `period`. What is left
#'   over is shuffled. Two variables that share nothing but a season look like this. With
#'   `spline = TRUE` the cycle is a smoothing spline through the seasons, which goes round
#'   without a step ([stats::smooth.spline()] over three rounds, as in rEDM): for many
#'   seasons with few values each, such as days of a year. With `alpha`, normal noise of that
#'   standard deviation is added to each value.
#' * `"twin"` (Thiel et al. 2006): the trajectory. Two points in the space of `E` delay
#'   coordinates are twins when they are within a distance (in the largest difference of a
#'   coordinate) of just the same points. A surrogate starts at a point drawn at random and
#'   goes on to the next row of that point or of one of its twins, each as likely as the
#'   other: another run of the same system, from another start. Twins that run into the
#'   end of the data, with no twin on the way, are not taken. A series with few twins has
#'   surrogates that go round in stretches of it: look at them.
#'
#' * `"shift"`: everything but the place in time. A stretch of the series is closed to a ring,
#'   and a surrogate is that ring from another start. The stretch is 80 to 90 % of the series,
#'   so long that what comes after it, up to the end of the series, is most like the rows at its
#'   beginning: what oscillates goes on where the ring closes. Some rows appear twice for
#'   that, and others not. A series of fewer than ten rows is shifted as a whole. Where a
#'   period of 2 to 100 rows explains more than a tenth of the variance, the mean of each place in
#'   the period stays where it is, and the rest is shifted.
#'
#' `NA` stay where they are for `"shuffle"` and `"seasonal"`, and move with the other values
#' for `"shift"`. For `"phase"` and `"twin"`, which need every row, they are an error.
#'
#' @param x Numeric vector, or a [ts]; one value a row, at equal steps in time.
#' @param n_surrogates Number of surrogates.
#' @param surrogate The method, which says what surrogates keep; see below. [causal_map()]
#'   takes the same methods, and `"shift"` where nothing is said; [ccm()] takes all but that
#'   one, and like this function `"phase"` where nothing is said.
#' @param ... Not used; must be empty. All arguments after it are given by name.
#' @param period For `"seasonal"`: rows of a season's round, such as 12 for months.
#'   By default the [frequency()] of a `ts`.
#' @param spline For `"seasonal"`: whether the cycle is a smoothing spline, and not the mean
#'   of each season.
#' @param alpha For `"seasonal"`: standard deviation of the noise added to each value, in
#'   units of the series.
#' @param E,tau For `"twin"`: coordinates of a point, and the rows from one to the next,
#'   as in [simplex()].
#' @param recurrence For `"twin"`: the share of all pairs of points that are within the
#'   distance. Lower makes twins closer, and fewer.
#'
#' @return A numeric matrix with a row for each value of `x` and a column for each
#'   surrogate. [set.seed()] decides it; a surrogate does not depend on
#'   `n_surrogates`.
#' @section Errors:
#' For values that are not finite numbers; `NA` where a method needs every row; a missing
#' `period`; an argument of another method; a series too short for its embedding; and too few
#' twins to go on from.
#' @references
#' Bluestein LI (1970). A linear filtering approach to the computation of discrete Fourier
#' transform. *IEEE Transactions on Audio and Electroacoustics*, 18, 451-455.
#'
#' Ebisuzaki W (1997). A method to estimate the statistical significance of a correlation
#' when the data are serially correlated. *Journal of Climate*, 10, 2147-2153.
#'
#' Thiel M, Romano MC, Kurths J, Rolfs M, Kliegl R (2006). Twin surrogates to test for
#' complex synchronisation. *Europhysics Letters*, 75, 535-541.
#' \doi{10.1209/epl/i2006-10147-0}
#' @seealso [ccm()]
#' @examples
#' x <- sin(2 * pi * (1:240) / 12) + rnorm(240, sd = 0.3)
#' set.seed(1)
#' seasons <- surrogate_series(x, 100, "seasonal", period = 12)
#' dim(seasons)
#' # The same spectrum, other phases:
#' phases <- surrogate_series(x, 100, "phase")
#' range(apply(phases, 2, sd) - sd(x))
#' @export
surrogate_series <- function(x, n_surrogates = 100,
                             surrogate = c("phase", "shuffle", "seasonal", "twin", "shift"),
                             ..., period = NULL, spline = FALSE, alpha = 0, E = 2, tau = -1,
                             recurrence = 0.1) {
  check_given(x = "a numeric vector of at least two values")
  check_no_dots()
  method <- check_choice(surrogate)
  n <- check_count(n_surrogates, "n_surrogates")
  x <- check_series(x, complete = method %in% c("phase", "twin"), method)
  check_room(length(x), n, "n_surrogates", "small enough")
  given <- c(period = !is.null(period), spline = !missing(spline), alpha = !missing(alpha),
             E = !missing(E), tau = !missing(tau), recurrence = !missing(recurrence))
  check_taken(names(given)[given], method, list(seasonal = c("period", "spline", "alpha"),
                                                twin = c("E", "tau", "recurrence")),
              "left out with `surrogate = \"%s\"`",
              \(methods) sprintf("It is an argument of %s.", methods))
  if (method == "seasonal") {
    period <- check_period(x, period)
    spline <- check_flag(spline)
    alpha <- check_number(alpha, min = 0)
  }
  if (method == "twin") {
    E <- check_count(E, max = 1000)
    tau <- check_count(tau, min = -1e6, max = 1e6)
    refuse_if(tau == 0, "tau", "a whole number of rows other than 0", "0")
    recurrence <- check_number(recurrence, above = 0, max = 1)
  }
  make <- if (method == "seasonal") season_shuffler(x, period, spline, alpha) else
    surrogate_maker(x, method, period, E, tau, recurrence)
  key <- random_key()
  # Walks among twins go on row by row.
  bar <- if (method == "twin") common_bar("Walking among twins", n) else \(n) NULL
  out <- vapply(seq_len(n), \(k) {
    bar(1)
    make(key, k)
  }, double(length(x)))
  matrix(out, length(x), n)
}

#' A function that makes surrogate `k` of a series under a key
#' @noRd
surrogate_maker <- function(x, method, period, E, tau, recurrence = 0.1) {
  switch(method, shuffle = shuffler(x), phase = phase_shifter(x),
         seasonal = season_shuffler(x, period), twin = twin_walker(x, E, tau, recurrence),
         shift = ring_shifter(x))
}

check_series <- function(x, complete, method) {
  one <- if (inherits(x, c("ts", "zoo"))) as.vector(x) else x
  refuse_if(!is_plain_numeric(one) || length(one) < 2L || length(one) != NROW(one), "x",
            "a numeric vector of at least two values", describe(x))
  refuse_if(any(is.infinite(x)), "x", "finite",
            sprintf("%g in row %d", x[is.infinite(x)][[1L]], which(is.infinite(x))[[1L]]))
  refuse_if(complete && anyNA(x), "x", sprintf("without NA for `surrogate = \"%s\"`", method),
            sprintf("NA in %d rows, the first of them row %d", sum(is.na(x)),
                    which(is.na(x))[[1L]]), "Take a stretch without gaps, or fill them first.")
  x
}

check_period <- function(x, period) {
  refuse_if(is.null(period) && stats::frequency(x) < 2, "period",
            "the number of rows of a season's round", "NULL",
            "Give it, such as 12 for months; only a `ts` knows its own.")
  check_count(period %||% stats::frequency(x), "period", min = 2, max = length(x))
}

# Each of these looks at the series once, and gives a function that makes surrogate `k`
# under a key.

shuffler <- function(x) {
  x <- as.double(x)
  x[is.nan(x)] <- NA
  seen <- which(!is.na(x))
  \(key, k) {
    x[seen] <- x[seen][order(random_uniform(length(seen), key, k))]
    x
  }
}

season_shuffler <- function(x, period, spline = FALSE, alpha = 0) {
  x <- as.double(x)
  season <- (seq_along(x) - 1) %% period + 1
  cycle <- if (spline) season_spline(x, season, period) else {
    stats::ave(x, season, FUN = \(v) mean(v, na.rm = TRUE))
  }
  # A season without values has no mean, and nothing that would be added to it.
  cycle[is.nan(cycle)] <- NA
  rest <- shuffler(x - cycle)
  n <- length(x)
  # Numbers of a stream after those that shuffle it.
  noise <- \(key, k) alpha * stats::qnorm(random_uniform(2 * n, key, k)[n + seq_len(n)])
  \(key, k) cycle + rest(key, k) + if (alpha == 0) 0 else noise(key, k)
}

#' The cycle of seasons as a smoothing spline through three rounds of it
#' @noRd
season_spline <- function(x, season, period) {
  known <- which(!is.na(x))
  # One season alone has no curve.
  if (length(unique(season[known])) < 2L) return(rep(mean(x[known]), length(x)))
  at <- c(season[known] - period, season[known], season[known] + period)
  fit <- stats::smooth.spline(at, rep(x[known], 3L))
  stats::predict(fit, season)$y
}

phase_shifter <- function(x) {
  n <- length(x)
  spectrum <- fourier(as.double(x))
  # Frequencies that have a mirror image; what is between them is the highest.
  half <- (n - 1) %/% 2
  \(key, k) {
    u <- random_uniform(half + 1, key, k)
    turned <- spectrum
    at <- seq_len(half) + 1L
    turned[at] <- turned[at] * exp(2i * pi * u[seq_len(half)])
    turned[n + 2L - at] <- Conj(turned[at])
    if (n %% 2 == 0) turned[half + 2L] <- turned[half + 2L] * sign(u[half + 1] - 0.5)
    Re(fourier(turned, inverse = TRUE)) / n
  }
}

ring_shifter <- function(x) {
  x <- as.double(x)
  n <- length(x)
  # What has a season in common with others is in step with them: that stays.
  traits <- series_traits(x, rep(1L, n))
  season <- if (isTRUE(traits$period > 0)) traits$season else 0
  x <- x - season
  ring <- closed_stretch(x)
  round <- ring[[2L]] - ring[[1L]] + 1
  \(key, k) {
    by <- 1 + floor(random_uniform(1, key, k) * (round - 1))
    x[ring[[1L]] + (by + seq_len(n) - ring[[1L]]) %% round] + season
  }
}

#' First and last row of the stretch whose end goes on best at its beginning
#' @noRd
closed_stretch <- function(x) {
  n <- length(x)
  z <- x - mean(x, na.rm = TRUE)
  z[is.na(z)] <- 0
  if (n < 10L || all(z == 0)) return(c(1, n))
  z <- z / max(abs(z))
  most <- n %/% 5
  overlap <- seq(max(1, n %/% 10), most)
  # What the first and the last rows have in common, for each overlap of the two.
  head <- z[seq_len(most)]
  tail <- z[n - most + seq_len(most)]
  gap <- rep(0, stats::nextn(2 * most) - most)
  products <- stats::fft(Conj(stats::fft(c(head, gap))) * stats::fft(c(tail, gap)), inverse = TRUE)
  products <- Re(products[most - overlap + 1]) / (most + length(gap))
  squares <- cumsum(head^2)[overlap] + cumsum(rev(tail)^2)[overlap]
  # Rounded, so that no rounding of the values decides: tenths give what whole numbers give.
  best <- overlap[[which.min(round((squares - 2 * products) / overlap, 9))]]
  # It is closed where values and their steps differ least.
  step <- c(diff(z), 0)
  unit <- c(mean(z^2), max(mean(step^2), 1e-300))
  rows <- seq_len(best)
  last <- rows + n - best
  apart <- (z[rows] - z[last])^2 / unit[[1L]] + (step[rows] - step[last])^2 / unit[[2L]]
  if (best > 1) apart[[best]] <- Inf # its step is not known
  first <- which.min(round(apart, 9))
  c(first, first + n - best - 1)
}

#' The discrete Fourier transform, in n log n steps for every n
#'
#' fft() takes n times the largest prime factor of n. Where that is large, the transform is a
#' convolution with a chirp (Bluestein 1970), of a length that fft() is fast for.
#' @noRd
fourier <- function(x, inverse = FALSE) {
  n <- length(x)
  if (largest_factor(n) < 1000) return(stats::fft(x, inverse = inverse))
  # k^2 modulo 2 n, so that no digit of the angle is lost
  turns <- (seq_len(n) - 1)^2 %% (2 * n)
  chirp <- exp((if (inverse) 1i else -1i) * pi * turns / n)
  long <- stats::nextn(2 * n - 1)
  gap <- rep(0, long - 2 * n + 1)
  ahead <- stats::fft(c(x * chirp, rep(0, long - n)))
  around <- stats::fft(c(Conj(chirp), gap, rev(Conj(chirp)[-1L])))
  chirp * stats::fft(ahead * around, inverse = TRUE)[seq_len(n)] / long
}

largest_factor <- function(n) {
  most <- 1
  for (p in c(2, seq(3, max(3, sqrt(n)), by = 2))) {
    while (n %% p == 0) {
      n <- n / p
      most <- p
    }
  }
  max(n, most)
}

# ---- Twins -------------------------------------------------------------------------

twin_walker <- function(x, E, tau, recurrence) {
  x <- as.double(x)
  points <- delay_points(x, E, tau)
  rows <- attr(points, "rows")
  group <- twin_groups(points, recurrence)
  exits <- twin_exits(group)
  refuse_if(length(unlist(exits)) == 0L, "recurrence",
            "high enough for a surrogate to go on where the data end", format(recurrence),
            "There are too few twins; raise it, or lower `E`.")
  count <- lengths(exits)
  before <- cumsum(count) - count
  exit <- unlist(exits)
  starts <- which(count[group] > 0)
  n <- length(x)
  \(key, k) {
    u <- random_uniform(n, key, k)
    at <- integer(n)
    at[[1L]] <- starts[[ceiling(u[[1L]] * length(starts))]]
    for (t in seq_len(n - 1L)) {
      g <- group[[at[[t]]]]
      at[[t + 1L]] <- exit[[before[[g]] + ceiling(u[[t + 1L]] * count[[g]])]]
    }
    x[rows[at]]
  }
}

delay_points <- function(x, E, tau) {
  shift <- (seq_len(E) - 1) * tau
  rows <- seq_along(x)
  rows <- rows[rows + min(shift) >= 1 & rows + max(shift) <= length(x)]
  refuse_if(length(rows) < 2L, "x", sprintf("longer for `E` = %g and `tau` = %g", E, tau),
            sprintf("%d values", length(x)))
  structure(matrix(x[outer(rows, shift, `+`)], length(rows)), rows = rows)
}

#' Which points are twins of each other
#'
#' Twins have the same row of the recurrence matrix, so they form groups. Groups are
#' refined by 32 columns of it at a time, so that it is never there as a whole. A point
#' that is alone in its group stays so, and is not looked at again.
#' @return The number of its group for each point.
#' @noRd
twin_groups <- function(points, recurrence) {
  n <- nrow(points)
  radius <- recurrence_radius(points, recurrence)
  group <- seq_len(n)
  open <- group
  of <- rep(1L, n)
  bar <- common_bar("Finding twins", n)
  # Points far apart in time, and so mostly in space, tell more than a stretch of them.
  apart <- ceiling(n / 32)
  for (first in seq_len(apart)) {
    block <- seq(first, n, by = apart)
    near <- point_distances(points[open, , drop = FALSE], points[block, , drop = FALSE]) <= radius
    key <- of * 2^32 + as.vector(near %*% 2^(seq_along(block) - 1))
    of <- match(key, unique(key))
    twins <- tabulate(of)[of] > 1L
    open <- open[twins]
    of <- of[twins]
    if (length(open) == 0L) break
    bar(length(block))
  }
  # Twins have the number of the first of them.
  group[open] <- open[match(of, of)]
  match(group, unique(group))
}

#' Distances (largest difference of a coordinate) of points to others
#' @noRd
point_distances <- function(points, others) {
  distance <- matrix(0, nrow(points), nrow(others))
  for (e in seq_len(ncol(points))) {
    distance <- pmax(distance, abs(outer(points[, e], others[, e], `-`)))
  }
  distance
}

#' The distance within which a share of all pairs lies, from at most 500 points to all
#' @noRd
recurrence_radius <- function(points, recurrence) {
  n <- nrow(points)
  some <- even_steps(n, 500)
  distance <- point_distances(points, points[some, , drop = FALSE])
  # A point is no pair with itself.
  distance <- distance[-(some + (seq_along(some) - 1) * n)]
  stats::quantile(distance, recurrence, names = FALSE, type = 1)
}

#' Where a walk can go on to from each group without running out of data
#' @return A list: for each group, the points that follow one of its members.
#' @noRd
twin_exits <- function(group) {
  n <- length(group)
  follows <- seq_len(n - 1L) + 1L
  repeat {
    # A point from whose group nothing leads on is a dead end, and so is what leads only
    # to dead ends.
    exits <- split(follows, factor(group[follows - 1L], seq_len(max(group))))
    alive <- lengths(exits)[group[follows]] > 0
    if (all(alive)) return(unname(exits))
    follows <- follows[alive]
  }
}

#' Surrogates that keep all that is linear in a series and its season
#'
#' The season is subtracted, each segment of the rest gets random phases, and the season is added
#' again. Straight lines fill missing values for this, and they are missing again afterwards.
#'
#' @param key Decides the random phases, see random_key().
#' @return Matrix of rows x surrogates of `rest`, without the season.
#' @noRd
chosen_surrogates <- function(traits, first, n, key) {
  pieces <- lapply(unique(first), \(start) {
    rows <- which(first == start)
    rest <- filled(traits$rest[rows])
    if (length(rows) < 3L) return(matrix(rest, length(rows), n))
    make <- surrogate_maker(rest, "phase")
    matrix(vapply(seq_len(n), \(k) make(key, k + n * (start - 1)), rest), length(rows))
  })
  out <- do.call(rbind, pieces)
  out[is.na(traits$rest), ] <- NA
  out
}
