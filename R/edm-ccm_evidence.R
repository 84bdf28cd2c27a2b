# What is measured before a sentence about causes: numbers for one direction, all of them from
# the series alone.

#' What [ccm()] keeps for the verdict on a direction
#' @noRd
verdict_problem <- function(map, exclusion, threads, key) {
  at_row <- (seq_along(map$columns) - 1L) * (if (map$embedded) 1L else map$E) + 1L
  c(
    list(series = points_matrix(map$points)[, at_row, drop = FALSE], cause = map$observed,
         own = map$target_name %in% map$columns, knn = if (map$knn != map$E + 1L) map$knn,
         exclusion = exclusion, threads = threads, key = key,
         step = map$step %||% max(1L, if (!map$embedded) abs(map$tau)),
         names = c(cause = map$target_name, effect = paste(map$columns, collapse = " + "))),
    map[c("first", "last", "valid", "E", "tau", "Tp", "embedded")]
  )
}

#' The same two series the other way round
#' @noRd
turned_round <- function(problem) {
  out <- problem
  out$series <- cbind(problem$cause)
  out$cause <- problem$series[, 1L]
  out$names[] <- rev(problem$names)
  out$own <- FALSE
  # One column has as many dimensions as predict it best.
  out$embedded <- FALSE
  if (out$tau == 0) out$tau <- -1L
  out
}

#' The numbers for one direction, up to the first obstacle
#'
#' @return A list: `names`; `traits` of `effect` and `cause`; `obstacle`, what forbids a
#'   sentence (see refusal()), or NULL. And, as far as they were needed: `rows`; `together`, see
#'   there; `own`, see own_skill(); `cross`, see cross_skill(); `gain`, see
#'   skill_gain(); `helped`, see forecast_help().
#' @noRd
evidence <- function(problem, alpha, traits = pair_traits(problem)) {
  names <- problem$names
  on.exit(tick(problem, Inf))
  problem$slow <- is_slow(problem)
  out <- list(names = names, traits = traits, slow = problem$slow)
  out$obstacle <- self_obstacle(problem) %||% trait_obstacle(traits$effect, names[["effect"]]) %||%
    trait_obstacle(traits$cause, names[["cause"]])
  if (!is.null(out$obstacle)) return(out)
  # A p value of alpha takes so many.
  problem$surrogates <- pmax(verdict_rules$surrogates, ceiling(1 / alpha) - 1)
  problem$lags <- lags_to_try(problem)
  problem$dims <- dimensions_to_try(problem)
  rows <- evidence_rows(problem)
  out$rows <- length(rows)
  out$obstacle <- row_obstacle(length(rows), problem) %||% slow_obstacle(problem)
  if (!is.null(out$obstacle)) return(out)
  out$together <- together(problem, rows)
  out$obstacle <- copy_obstacle(out$together, names)
  if (!is.null(out$obstacle)) return(out)
  out$own <- own_skill(problem, rows, traits$effect)
  out$obstacle <- own_obstacle(out$own, names[["effect"]], alpha)
  if (!is.null(out$obstacle)) return(out)
  out$cross <- cross_skill(problem, rows, out$own$ties, traits$cause)
  out$gain <- skill_gain(problem, rows, out$cross, traits$cause)
  # Only then does the verdict depend on it.
  found <- signs(out, alpha)
  rises <- rise(out) >= verdict_rules$mutual[["rise"]]
  if (out$slow || found$beyond && found$before && rises) {
    out$helped <- forecast_help(problem, rows)
  }
  out
}

#' Problems with a progress bar in common
#'
#' Each has as many steps as a direction takes that has all signs of a cause: searches for
#' neighbours among all rows. A direction that is told sooner is done at once.
#' @noRd
with_progress <- function(problems, alpha, frame = parent.frame()) {
  own <- max(verdict_rules$surrogates[["own"]], ceiling(1 / alpha) - 1)
  each <- own + 160
  bar <- common_bar("Weighing evidence", each * length(problems), frame)
  lapply(problems, \(problem) {
    left <- each
    problem$tick <- \(steps) {
      steps <- min(steps, left)
      left <<- left - steps
      bar(steps)
    }
    problem
  })
}

tick <- function(problem, steps) if (!is.null(problem$tick)) problem$tick(steps)

#' Traits of both series
#'
#' A slow series goes round by itself: only a season that both have is taken away.
#' @noRd
pair_traits <- function(problem) {
  out <- list(effect = traits_at_step(problem$series[, 1L], problem),
              cause = traits_at_step(problem$cause, problem))
  if (out$effect$constant || out$cause$constant || !is_slow(problem)) return(out)
  if (out$effect$period == out$cause$period) return(out)
  lapply(out, \(one) {
    if (trait_reasons(one) %in% "cycle") return(one)
    one$rest <- one$rest + one$season
    one$season <- rep(mean(one$rest, na.rm = TRUE), length(one$rest))
    one$rest <- one$rest - one$season
    one$period <- 0L
    one
  })
}

#' Traits of a series, the drift of a slow one among few rows: it takes its time to come back
#' @noRd
traits_at_step <- function(x, problem) {
  out <- series_traits(x, problem$first)
  if (out$constant || problem$step == 1L) return(out)
  apart <- max(1L, length(x) %/% verdict_rules$drift_rows)
  rows <- which((seq_along(x) - problem$first) %% apart == 0)
  few <- traits_of_each(cbind(x[rows]), match(problem$first[rows], rows))
  if (!few$constant) out$drift <- few$drift
  out
}

# ---- What is tried -------------------------------------------------------------------

#' Rows of a typical segment: half of all rows are in longer ones
#' @noRd
segment_rows <- function(problem) stats::median(problem$last - problem$first + 1)

#' Lags to both sides, two to a step, fewer in short segments
#' @noRd
lags_to_try <- function(problem) {
  apart <- (problem$step + 1L) %/% 2L
  typical <- segment_rows(problem) %/% apart
  most <- max(verdict_rules$lags, abs(problem$Tp) %/% apart + 3L)
  # A third of the shortest segments is left to look from.
  least <- max(min(2, (typical - 1) %/% 3), 1)
  most <- max(min(most, typical %/% 6), least)
  as.integer(apart * -most:most)
}

#' Dimensions whose delay vectors leave most rows of a segment
#' @noRd
dimensions_to_try <- function(problem) {
  if (problem$embedded) return(problem$E)
  back <- max(problem$lags, segment_rows(problem) %/% 4)
  most <- min(verdict_rules$E_max, sum(!is.na(problem$cause)) %/% 60, 1 + back %/% abs(problem$tau))
  as.integer(seq_len(max(2, most)))
}

#' Points of dimension E, a matrix as edm_data() makes them
#' @noRd
points_of <- function(problem, E) {
  if (problem$embedded) return(problem$series)
  series <- lapply(seq_len(ncol(problem$series)), \(k) problem$series[, k])
  lags <- as.double(problem$tau) * (seq_len(E) - 1)
  points_matrix(list(values = series, lags = lags, first = problem$first, last = problem$last))
}

#' Rows that all dimensions and lags have in common
#' @noRd
evidence_rows <- function(problem) {
  complete <- rowSums(is.na(points_of(problem, max(problem$dims)))) == 0
  row <- seq_along(problem$cause)
  reach <- max(problem$lags)
  which(complete & problem$valid & !is.na(problem$cause) & row - reach >= problem$first &
          row + reach <= problem$last)
}

#' Correlation of both series, now and at the lag where it is largest
#' @noRd
together <- function(problem, rows) {
  shift <- lagged_targets(problem$cause, problem$lags, problem)[rows, , drop = FALSE]
  rho <- stats::cor(problem$series[rows, 1L], shift, use = "pairwise.complete.obs")[1L, ]
  at <- which.max(abs(rho))
  list(now = rho[problem$lags == 0], most = rho[[at]], lag = problem$lags[[at]])
}

# ---- Skill ---------------------------------------------------------------------------

#' What cross_map() takes, with all of `rows` as the library
#' @noRd
map_of_points <- function(problem, points, rows, targets) {
  knn <- as.integer(problem$knn %||% (ncol(points) + 1L))
  list(points = points, lib = rows, target = targets, knn = knn)
}

#' Skill of libraries of some sizes for the targets of such a map
#' @noRd
skill_in <- function(map, sizes, samples, problem) {
  cross_map(map, list(map$lib), map$target, sizes, samples, problem$exclusion, 0,
            edm_place("cpu", NULL, 0), problem$threads, problem$key)
}

#' Correlation of each target with its forecasts from all rows, each from the others
#' @return A number for each column of `targets`, 0 where there is no correlation.
#' @noRd
skill_of <- function(problem, E, rows, targets) {
  skill_of_points(problem, points_of(problem, E), rows, targets)
}

skill_of_points <- function(problem, points, rows, targets) {
  tick(problem, 1)
  # So many at a time that memory stays small; neighbours are found anew for each lot.
  lot <- max(1L, as.integer(2e7 / nrow(targets)))
  lots <- split(seq_len(ncol(targets)), (seq_len(ncol(targets)) - 1L) %/% lot)
  rho <- lapply(lots, \(some) {
    part <- if (length(lots) == 1L) targets else targets[, some, drop = FALSE]
    skill_in(map_of_points(problem, points, rows, part), length(rows), 1, problem)$rho
  })
  rho <- unlist(rho, use.names = FALSE)
  rho[is.na(rho)] <- 0
  rho
}

#' How well the effect is forecast from its own past, one step ahead, beyond its season
#'
#' @return A list: `skill` by dimension, `ties`, the dimensions that are about as good as the
#'   best, `best`, and of that `rho`, its `p` among surrogates, and their `median`.
#' @noRd
own_skill <- function(problem, rows, traits) {
  target <- cbind(shifted(traits$rest, problem$step, problem))
  skill <- vapply(problem$dims, \(E) skill_of(problem, E, rows, target), 0)
  ties <- problem$dims[skill >= max(skill) - verdict_rules$ties]
  # One lag cannot tell what a second series did.
  if (any(ties > 1L)) ties <- ties[ties > 1L]
  ties <- utils::head(ties, verdict_rules$dims)
  best <- problem$dims[[which.max(skill)]]
  others <- chosen_surrogates(traits, problem$first, problem$surrogates[["own"]], problem$key)
  null <- apply(others, 2L, \(one) {
    alike <- problem
    alike$series[, 1L] <- one + traits$season
    skill_of(alike, best, rows, cbind(shifted(one, problem$step, problem)))
  })
  list(skill = skill, ties = ties, best = best, rho = max(skill),
       p = (1 + sum(null >= max(skill))) / (1 + length(null)), median = stats::median(null))
}

#' Skill of predicting the cause at all lags, in the best of the tied dimensions
#'
#' @return A list: `E`; `lags` and `rho` there; `past`, `now` and `future`, indices of the
#'   best lag below 0, of lag 0 and of the best one above; `top`, the best one at or below 0;
#'   `p` and `median` of surrogates of the cause, each with its best dimension and lag;
#'   `over_now` and `over_future`, by how many standard errors the past is ahead; `agree`, do
#'   dimensions that predict as well have their highest skill on the same side of 0?
#' @noRd
cross_skill <- function(problem, rows, ties, traits) {
  lags <- problem$lags
  back <- which(lags <= 0)
  targets <- lagged_targets(traits$rest, lags, problem)
  n <- problem$surrogates[["cause"]]
  others <- chosen_surrogates(traits, problem$first, n, rev(problem$key))
  all <- cbind(targets, lagged_targets(others, lags[back], problem))
  made <- vapply(ties, \(E) skill_of(problem, E, rows, all), double(ncol(all)))
  rho <- made[seq_along(lags), , drop = FALSE]
  null <- apply(array(made[-seq_along(lags), ], c(n, length(back) * length(ties))), 1L, max)
  best <- which.max(apply(rho[back, , drop = FALSE], 2L, max))
  one <- rho[, best]
  highest <- function(among) among[[which.max(one[among])]]
  out <- list(E = ties[[best]], lags = lags, rho = one, top = highest(back),
              past = highest(which(lags < 0)), now = which(lags == 0),
              future = highest(which(lags > 0)))
  out$p <- (1 + sum(null >= one[[out$top]])) / (1 + n)
  out$median <- stats::median(null)
  error <- lag_errors(problem, out$E, rows, targets, one)
  out$over_now <- error(out$past, out$now)
  out$over_future <- error(out$past, out$future)
  as_good <- apply(rho, 2L, max) >= max(rho) - verdict_rules$ties
  ahead <- apply(rho, 2L, \(r) lags[[which.max(r)]]) > 0
  out$agree <- !any(ahead[as_good]) || all(ahead[as_good])
  out
}

#' One or several series as they are seen from each row, one lag after the other
#' @noRd
lagged_targets <- function(x, lags, ends) {
  x <- unname(cbind(x))
  row <- seq_len(nrow(x))
  do.call(cbind, lapply(lags, \(lag) x[shifted(row, lag, ends), , drop = FALSE]))
}

#' A function that gives by how many standard errors one lag is ahead of another
#'
#' Rows are drawn again a hundred times in blocks of ten steps; skill is compared on Fisher's scale.
#' @noRd
lag_errors <- function(problem, E, rows, targets, rho) {
  n <- length(rows)
  block <- min(10L * problem$step, n %/% 5L)
  starts <- random_below(100L * ceiling(n / block), n - block + 1L, problem$key, 0)
  weight <- apply(matrix(starts, 100L), 1L, \(start) {
    tabulate(outer(seq_len(block), start, `+`), n)
  })
  map <- map_of_points(problem, points_of(problem, E), rows, targets)
  where <- list(gpus = NULL, threads = problem$threads)
  fisher <- \(rho) atanh(pmax(pmin(rho, 0.99999), -0.99999))
  drawn <- function(k) {
    forecast <- simplex_at(map$points, rows, rows, targets[, k], map$knn, problem$exclusion,
                           where)$predictions
    seen <- targets[rows, k]
    known <- is.finite(forecast) & is.finite(seen)
    fisher(weighted_rho(forecast[known], seen[known], weight[known, , drop = FALSE]))
  }
  function(one, other) {
    error <- stats::sd(drawn(one) - drawn(other), na.rm = TRUE)
    difference <- fisher(rho[[one]]) - fisher(rho[[other]])
    if (is.na(error) || error == 0) 0 else difference / error
  }
}

#' Correlation of x and y under each column of weights
#' @noRd
weighted_rho <- function(x, y, weight) {
  total <- colSums(weight)
  mean_of <- \(v) colSums(weight * v) / total
  mx <- mean_of(x)
  my <- mean_of(y)
  spread <- (mean_of(x^2) - mx^2) * (mean_of(y^2) - my^2)
  (mean_of(x * y) - mx * my) / sqrt(pmax(spread, 1e-300))
}

#' Which share of what is missing to a skill of 1 goes with each doubling of the library
#'
#' A line through log(1 - rho) against the logarithm of the library size, from an eighth of
#' the rows to all of them, with forty libraries of each size.
#' @noRd
skill_gain <- function(problem, rows, cross, traits) {
  target <- lagged_targets(traits$rest, cross$lags[[cross$top]], problem)
  map <- map_of_points(problem, points_of(problem, cross$E), rows, target)
  sizes <- unique(round(length(rows) / 2^(3:0)))
  sizes <- as.integer(sizes[sizes > map$knn + 1L])
  if (length(sizes) < 3L) return(list(gain = NA_real_))
  skill <- skill_in(map, sizes, 40, problem)
  tick(problem, 40 * sum(sizes / length(rows)))
  rho <- mean_skill(skill, sizes)[, 1L]
  if (anyNA(rho)) return(list(gain = NA_real_))
  fit <- stats::lm.fit(cbind(1, log2(sizes)), log(pmax(1 - rho, 1e-4)))
  list(gain = 1 - exp(fit$coefficients[[2L]]), sizes = sizes, rho = rho)
}

# ---- The next step of the effect -----------------------------------------------------

#' How much less is missing to a perfect forecast of the effect once the cause is known
#'
#' A cause that is known takes the place of what lags of the effect tell of it, and tells it
#' better. Forecasts of the next row from the effect's own lags, in the best of all dimensions, are
#' compared with those from one to three lags and one earlier or present value of the cause, or two
#' values in a row, with as many coordinates at most. How much such a value weighs in distances,
#' in terms of the effect's spread, is tried, too.
#'
#' @return c(one =, two =): the share of 1 - rho that goes with one value of the cause and with two;
#'   below 0 where forecasts get worse, `NA` with too few rows.
#' @noRd
forecast_help <- function(problem, rows) {
  # A season is part of the effect's own lags, and of the forecast.
  target <- cbind(shifted(problem$series[, 1L], problem$step, problem))
  lags <- rev(problem$lags[problem$lags <= 0])
  cause <- lagged_targets(problem$cause, lags, problem)
  rows <- rows[!rowSums(is.na(cause[rows, , drop = FALSE]))]
  if (length(rows) < verdict_rules$rows) return(c(one = NA_real_, two = NA_real_))
  cause <- cause * stats::sd(problem$series[rows, 1L]) / stats::sd(problem$cause[rows])
  skill <- \(points) skill_of_points(problem, points, rows, target)
  own <- vapply(problem$dims, \(E) skill(points_of(problem, E)), 0)
  lacking <- max(1 - max(own), 1e-6)
  share <- function(values) {
    few <- if (problem$embedded) problem$dims else problem$dims[problem$dims <= 4L - values]
    # A slow series has longer histories.
    if (problem$slow) few <- union(few, problem$dims[[which.max(own)]])
    points <- lapply(few, \(E) points_of(problem, E))
    1 - (1 - skill_with(skill, points, cause, values)) / lacking
  }
  c(one = share(1L), two = share(2L))
}

#' The best skill with so many values of the cause, one row after the other
#'
#' The lag that does best with a weight of a half is tried with the others as well.
#' @param points Points of the effect alone, a list.
#' @param cause Matrix of the cause at all lags, the latest first.
#' @noRd
skill_with <- function(skill, points, cause, values) {
  with_cause <- Vectorize(\(k, lag, weight) {
    skill(cbind(points[[k]], weight * cause[, lag + seq_len(values) - 1L]))
  })
  each <- seq_along(points)
  tried <- outer(each, seq_len(ncol(cause) - values + 1L), with_cause, weight = 0.5)
  lag <- arrayInd(which.max(tried), dim(tried))[[2L]]
  max(tried, outer(each, c(0.125, 0.25, 1, 2), \(k, weight) with_cause(k, lag, weight)))
}

#' The verdict on each direction of cross mapping
#'
#' @param problems A list of what verdict_problem() gave, one for each direction.
#' @param asked p value of the surrogates that the user asked for, or `NA`, of each.
#' @return A data frame with a row for each direction; see the value of `summary()`.
#' @noRd
ccm_verdicts <- function(problems, asked, alpha) {
  # The other direction is about the same two series.
  both <- if (length(problems) == 2L) problems else c(problems, lapply(problems, turned_round))
  traits <- pair_traits(both[[1L]])
  both <- with_progress(both, alpha)
  measured <- Map(\(problem, traits) evidence(problem, alpha, traits), both,
                  list(traits, list(effect = traits$cause, cause = traits$effect)))
  rows <- lapply(seq_along(problems), \(k) {
    verdict_row(measured[[k]], judge(measured[[k]], measured[[3L - k]], asked[[k]], alpha))
  })
  do.call(rbind, rows)
}

verdict_row <- function(one, verdict) {
  own <- one$own
  cross <- one$cross
  at <- \(k) if (is.null(cross)) NA_real_ else cross$rho[[cross[[k]]]]
  number <- \(x) x %||% NA_real_
  period <- one$traits$cause$period
  data.frame(
    verdict = verdict$verdict,
    supported = c(supported = TRUE, `not supported` = FALSE)[verdict$verdict][[1L]],
    reason = verdict$reason, rows = number(one$rows),
    E = as.integer(number(cross$E)),
    E_ties = if (is.null(own)) NA_character_ else toString(own$ties),
    own = number(own$rho), own_p = number(own$p),
    lag = if (is.null(cross)) NA_integer_ else as.integer(cross$lags[[cross$top]]),
    skill = at("top"), skill_now = at("now"), skill_future = at("future"),
    over_now = number(cross$over_now), over_future = number(cross$over_future),
    gain = number(one$gain$gain), helped = number(one$helped[["one"]]),
    helped_by_two = number(one$helped[["two"]]), surrogate_p = number(cross$p),
    surrogate = if (is.null(cross)) NA_character_ else if (period == 0) "phase" else
      sprintf("phase and season of %d rows", period),
    drift = number(one$traits$effect$drift),
    repeated = number(one$traits$effect$repeated), together = number(one$together$now),
    said = verdict$said
  )
}
