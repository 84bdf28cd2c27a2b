# Skill against one argument: embedding dimension, prediction interval, exclusion radius, theta.

#' Skill of simplex projection against the embedding dimension
#'
#' Predicts with every `E` from 1 to `E_max` and compares with what was observed. The `E`
#' that predicts best is the number of lags that unfold the dynamics (Sugihara and May
#' 1990). A data frame is searched for one target, whose skill at each `E` is returned; a
#' matrix, or a data set in an HDF5 file, for the best `E` of each of its series, as
#' [causal_map()] needs them.
#'
#' In a data frame with one column, all `E` take one pass over the pairs of rows.
#'
#' Give several `tau` or `Tp` to search all three together: every combination is tried, and
#' `plot()` draws a map of skill. How far ahead the best `Tp` lies says little, since what is
#' near is easy to predict; compare `E` and `tau` at the `Tp` that matters to you.
#'
#' With `embedded`, the `columns` are the coordinates already, and `E` is how many of them
#' are used, from the first on: of a table of [delay_embed()] this gives the skill against
#' the number of lags. (rEDM and pyEDM take all columns for every `E` there.)
#'
#' Without `lib` and `pred`, `validation` says which rows are compared: `"loo"`, every row
#' is predicted from all others, or `"split"`, the second half of the rows from the first
#' one (the half that is shorter by one, of an odd number). Of a matrix, delay vectors of the
#' second half stay within it; those of a data frame reach back into the first.
#'
#' The series of a matrix are searched in single precision, with all threads or on a GPU.
#' For many series of a data frame give `as.matrix(x)`, without its column of times.
#'
#' @inheritParams simplex
#' @param x A data frame, as [simplex()] takes it; or a numeric matrix of time steps (rows)
#'   and series (columns), or the path of an HDF5 file with such a matrix. Several series of
#'   a `ts` or `zoo` object are a matrix unless `columns` or `target` name some.
#' @param ... Arguments of the methods, which follow.
#' @param E_max Largest embedding dimension: by default 10, as in rEDM, for a data frame, and
#'   20, as in [causal_map()], for a matrix. With `embedded` at most the number of `columns`.
#' @param Tp,tau Prediction interval and lag between coordinates, in rows, as in [simplex()].
#'   Of several, for a data frame, every combination is tried.
#' @param validation How to validate; for a data frame where neither `lib` nor `pred` is given.
#' @param dataset Path of the data set in the file.
#' @param max_memory Bytes that the search may take, at most.
#'
#' @return Of a data frame, a table ([edm_tables]) with the columns `E` and `rho`, Pearson's
#'   correlation of predictions and observations ([prediction_error()]). `NA` where there is
#'   no correlation, and where the library has fewer than `E + 1` points. The attribute
#'   `optimal` is the `E` of the first maximum.
#'
#'   With several `tau` or `Tp` the columns are `E`, `tau`, `Tp` and `rho`, a row for each
#'   combination, and `optimal` is a vector of the three, with their names.
#'
#'   Of a matrix or a file, a data frame with a row for each series: `series` (name), `E`
#'   (integer, that of the first maximum of rho) and `rho` there. `NA` where there is no
#'   correlation at any `E`: constant series, or too few steps. The attribute `skill` is the
#'   matrix of rho, series x `E`.
#'
#' @inheritSection simplex Errors
#' @references Sugihara G, May RM (1990). Nonlinear forecasting as a way of distinguishing
#'   chaos from measurement error in time series. *Nature* 344:734-741.
#' @seealso [simplex()], [predict_interval()], [predict_nonlinear()]; [causal_map()], whose
#'   `E` can be taken from the result.
#' @examples
#' logistic <- Reduce(\(x, i) 3.8 * x * (1 - x), 1:299, 0.3, accumulate = TRUE)
#' x <- data.frame(time = 1:300, x = logistic)
#' found <- embed_dimension(x, "x", threads = 2)
#' found
#' attr(found, "optimal")
#'
#' # E and tau together
#' both <- embed_dimension(x, "x", E_max = 4, tau = -1:-3, threads = 2)
#' attr(both, "optimal")
#'
#' # Each series of a matrix
#' series <- cbind(logistic, season = sin(1:300 / 9))
#' best <- embed_dimension(series, E_max = 5, threads = 2)
#' best
#' map <- causal_map(series, E = setNames(best$E, best$series), threads = 2)
#' @export
embed_dimension <- function(x, ...) {
  check_given(x = paste("a data frame, its first column the time, a numeric matrix of time",
                        "steps and series, or the path of an HDF5 file"))
  UseMethod("embed_dimension")
}

# Several series are those of a matrix, unless some of them are named.
#' @export
embed_dimension.ts <- function(x, ...) {
  named <- NCOL(x) == 1L || ...length() > 0L && is.character(..1) ||
    any(c("columns", "target") %in% ...names())
  table <- table_of_series(x, no_time = !named)
  embed_dimension(if (named) table else as.matrix(table), ...)
}

#' @export
embed_dimension.zoo <- embed_dimension.ts

#' @rdname embed_dimension
#' @export
embed_dimension.data.frame <- function(x, columns = NULL, target = NULL, lib = NULL,
                                       pred = NULL, E_max = 10, Tp = 1, tau = -1,
                                       exclusion_radius = 0, embedded = FALSE,
                                       valid_lib = NULL, no_time = FALSE, segments = NULL,
                                       ignore_nan = TRUE, validation = c("loo", "split"),
                                       device = c("cpu", "gpu", "auto"), gpus = NULL,
                                       threads = NULL, ...) {
  begun <- check_given()
  check_no_dots()
  E_max <- check_count(E_max, max = 1000)
  validation <- check_choice(validation)
  exclusion <- edm_exclusion(exclusion_radius)
  device <- check_choice(device)
  threads <- check_threads(threads)
  if (is.null(lib) && is.null(pred) && validation == "split" && is.data.frame(x) &&
        nrow(x) > 1L) {
    half <- nrow(x) %/% 2L
    lib <- c(1L, half)
    pred <- c(half + 1L, nrow(x))
  }
  embedded <- check_flag(embedded)
  grid <- dimension_grid(tau, Tp, embedded)
  where <- NULL
  all <- cli::cli_progress_along(seq_len(nrow(grid)), name = "Searching")
  skill <- times_told_once(lapply(all, \(k) {
    prepare <- function(E) {
      edm_data(x, columns, target, lib, pred, if (!embedded) E, grid$tau[[k]], grid$Tp[[k]],
               embedded, valid_lib, segments, no_time, ignore_nan)
    }
    data <- prepare(E_max)
    where <<- where %||% simplex_where(device, gpus, threads, data, nrow(grid))
    most <- if (embedded) min(E_max, data$E) else E_max
    rho <- if (length(data$columns) == 1L || embedded) {
      sweep_skill(data, most, exclusion, where)
    } else {
      # Sums over several columns would round differently if lags came before columns.
      vapply(seq_len(most), \(E) simplex_skill(prepare(E), E + 1L, exclusion, where), 0)
    }
    list(rho = rho, columns = data$columns, target = data$target_name)
  }))
  E <- seq_along(skill[[1L]]$rho)
  frame <- data.frame(E = rep(E, nrow(grid)), rho = unlist(lapply(skill, `[[`, "rho")))
  if (nrow(grid) > 1L) {
    frame <- data.frame(frame[1L], grid[rep(seq_len(nrow(grid)), each = length(E)), ], frame[2L],
                        row.names = NULL)
  }
  parameters <- list(
    columns = skill[[1L]]$columns, target = skill[[1L]]$target, tau = unique(grid$tau),
    Tp = unique(grid$Tp), exclusion_radius = exclusion
  )
  new_edm_skill(frame, parameters, begun)
}

#' All pairs of `tau` and `Tp`
#' @noRd
dimension_grid <- function(tau, Tp, embedded) {
  tau <- check_lags(tau, "tau")
  Tp <- check_lags(Tp, "Tp")
  refuse_if(embedded && length(tau) > 1L, "tau", "left out where `columns` are `embedded`",
            sprintf("%d lags", length(tau)), "The columns are the coordinates already.")
  expand.grid(tau = tau, Tp = Tp)
}

#' Skill at all E up to `E_max` in one pass
#'
#' @param data Of one column, or of columns that are coordinates.
#' @noRd
sweep_skill <- function(data, E_max, exclusion, where) {
  points <- data$points
  if (E_max < data$dims) points$values <- points$values[seq_len(E_max)]
  reach <- pmin(data$reach, as.integer(E_max))
  from <- between(data$pred_pairs$from, data$pred_pairs$to)
  from <- from[reach[from] > 0L]
  asked <- in_order(from)
  used <- pmin(reach, library_depth(data, E_max))
  used[!data$valid] <- 0L
  lib <- which(used > 0L)
  options <- list(step = 1, exclusion = exclusion, at = asked$at, observed = data$target[from])
  rho <- .Call(r_edm_sweep, points, lib, used[lib], asked$rows, reach[asked$rows],
               data$target, c(options, where))
  rho <- finish_status(rho, "predicting so many rows")
  points <- rev(cumsum(rev(tabulate(used, E_max))))
  rho[points <= seq_len(E_max)] <- NA_real_
  rho
}

#' The largest E, up to `E_max`, for which each row is one of library_rows()
#' @noRd
library_depth <- function(data, E_max) {
  pairs <- cut_pairs(data$lib_pairs, data)
  from <- pairs$from + if (data$Tp < 0L && !data$embedded) -data$Tp - 1L else 0L
  to <- pairs$to - max(data$Tp, 0L) * (seq_along(pairs$to) == length(pairs$to))
  rows <- between(from, to)
  sizes <- pmax(to - from + 1L, 0L)
  # How many rows of its pair a row can look back on, or ahead to, with itself.
  room <- sequence(sizes, if (data$tau < 0L) 1L else sizes, if (data$tau < 0L) 1L else -1L)
  steps <- if (data$embedded || E_max == 1) rep(E_max, length(rows)) else
    if (abs(data$tau) > 1L) 1L + (room - 1L) %/% abs(data$tau) else room
  depth <- pmin.int(as.integer(steps), as.integer(E_max))
  target <- rows + data$Tp
  if (!one_segment(data) || min(target, 1L) < 1L || max(target, 1L) > length(data$last)) {
    depth[target < data$first[rows] | target > data$last[rows]] <- 0L
  }
  if (length(sizes) > 1L) {
    # Of a row in several pairs the largest is assigned last.
    last <- order(depth)
    rows <- rows[last]
    depth <- depth[last]
  }
  out <- integer(length(data$first))
  out[rows] <- depth
  out
}

#' Skill of simplex projection against the prediction interval
#'
#' How fast predictions get worse the further they look ahead. In chaotic dynamics they do
#' so fast; noise about a constant is as hard to predict tomorrow as next year (Sugihara
#' and May 1990).
#'
#' @inheritParams simplex
#' @param Tp_max Largest prediction interval, in rows.
#'
#' @return A table ([edm_tables]) with the columns `Tp`, from 1 to `Tp_max`, and `rho`,
#'   Pearson's correlation of predictions and observations ([prediction_error()]); `NA`
#'   where there is none, and where the library has fewer than `knn` points.
#'
#' @inheritSection simplex Errors
#' @references Sugihara G, May RM (1990). Nonlinear forecasting as a way of distinguishing
#'   chaos from measurement error in time series. *Nature* 344:734-741.
#' @seealso [simplex()], [embed_dimension()].
#' @examples
#' logistic <- Reduce(\(x, i) 3.8 * x * (1 - x), 1:299, 0.3, accumulate = TRUE)
#' x <- data.frame(time = 1:300, x = logistic)
#' predict_interval(x, "x", E = 2, threads = 2)
#' @export
predict_interval <- function(x, columns = NULL, target = NULL, lib = NULL, pred = NULL,
                             Tp_max = 10, E = NULL, knn = NULL, tau = -1,
                             exclusion_radius = 0, embedded = FALSE, valid_lib = NULL,
                             no_time = FALSE, segments = NULL, ignore_nan = TRUE,
                             device = c("cpu", "gpu", "auto"), gpus = NULL,
                             threads = NULL) {
  begun <- check_given(x = "a data frame, its first column the time")
  exclusion <- edm_exclusion(exclusion_radius)
  device <- check_choice(device)
  threads <- check_threads(threads)
  prepare <- function(Tp) {
    edm_data(x, columns, target, lib, pred, E, tau, Tp, embedded, valid_lib, segments,
             no_time, ignore_nan)
  }
  times_told_once({
    data <- prepare(1)
    Tp_max <- check_count(Tp_max, max = max(nrow(x) - 1, 1))
    knn <- library_knn(data, edm_knn(knn, data$E + 1L))
    where <- simplex_where(device, gpus, threads, data, Tp_max)
    rho <- vapply(seq_len(Tp_max), \(Tp) {
      simplex_skill(if (Tp > 1L) prepare(Tp) else data, knn, exclusion, where)
    }, 0)
  })
  new_edm_skill(data.frame(Tp = seq_len(Tp_max), rho = rho),
                skill_parameters(data, "Tp", knn = knn, exclusion_radius = exclusion),
                begun)
}

#' Skill of simplex projection against the exclusion radius
#'
#' Rows that follow each other closely are alike because little time has passed, not
#' because the dynamics came back. Skill that drops as they are left out was owed to that.
#'
#' @inheritParams simplex
#' @param exclusion_radius Radii to try, in rows.
#'
#' @return A table ([edm_tables]) with the columns `ExclusionRadius` and `rho`, Pearson's
#'   correlation of predictions and observations ([prediction_error()]).
#'
#' @inheritSection simplex Errors
#' @references Theiler J (1986). Spurious dimension from correlation algorithms applied to
#'   limited time-series data. *Physical Review A* 34:2427-2432.
#' @seealso [simplex()], [embed_dimension()].
#' @examples
#' x <- data.frame(time = 1:300, x = sin(1:300 / 9) + cos(1:300 / 23))
#' predict_exclusion_radius(x, "x", E = 3, exclusion_radius = c(0, 2, 5, 10), threads = 2)
#' @export
predict_exclusion_radius <- function(x, columns = NULL, target = NULL, lib = NULL,
                                     pred = NULL, exclusion_radius = 0:20, E = NULL,
                                     Tp = 1, knn = NULL, tau = -1, embedded = FALSE,
                                     valid_lib = NULL, no_time = FALSE, segments = NULL,
                                     ignore_nan = TRUE, device = c("cpu", "gpu", "auto"),
                                     gpus = NULL, threads = NULL) {
  begun <- check_given(x = "a data frame, its first column the time")
  refuse_if(!is_plain_numeric(exclusion_radius) || length(exclusion_radius) == 0L,
            "exclusion_radius", "whole numbers of rows", describe(exclusion_radius))
  radii <- vapply(exclusion_radius, edm_exclusion, 0L)
  device <- check_choice(device)
  threads <- check_threads(threads)
  data <- edm_data(x, columns, target, lib, pred, E, tau, Tp, embedded, valid_lib,
                   segments, no_time, ignore_nan)
  knn <- library_knn(data, edm_knn(knn, data$E + 1L))
  where <- simplex_where(device, gpus, threads, data, length(radii))
  rho <- vapply(radii, \(radius) simplex_skill(data, knn, radius, where), 0)
  new_edm_skill(data.frame(ExclusionRadius = radii, rho = rho),
                skill_parameters(data, knn = knn), begun)
}

#' Skill of S-maps against theta
#'
#' How well [smap()] predicts with each `theta`. At `theta = 0` the model is the same
#' everywhere; if skill rises as near points weigh more, the dynamics depend on the state
#' they are in, which no linear model does (Sugihara 1994). Distances are computed once for
#' all `theta`.
#'
#' @inheritParams smap
#' @param theta Values to try, at least 0; by default those of rEDM. For a curve that
#'   begins with the linear model, let them begin with 0.
#'
#' @return A table ([edm_tables]) with the columns `Theta` and `rho`, Pearson's correlation of
#'   predictions and observations ([prediction_error()]); `NA` where there is none. The attribute
#'   `optimal` is the `theta` of the first maximum.
#'
#' @inheritSection simplex Errors
#' @inherit smap references
#' @seealso [smap()], [embed_dimension()].
#' @examples
#' logistic <- Reduce(\(x, i) 3.8 * x * (1 - x), 1:299, 0.3, accumulate = TRUE)
#' x <- data.frame(time = 1:300, x = logistic)
#' predict_nonlinear(x, "x", theta = 0:9, E = 2, threads = 2)
#' @export
predict_nonlinear <- function(x, columns = NULL, target = NULL, lib = NULL, pred = NULL,
                              theta = c(0.01, 0.1, 0.3, 0.5, 0.75, 1, 1.5, 2:9), E = NULL,
                              Tp = 1, knn = NULL, tau = -1, exclusion_radius = 0,
                              embedded = FALSE, ridge = 0, valid_lib = NULL,
                              no_time = FALSE, segments = NULL, ignore_nan = TRUE,
                              device = c("cpu", "gpu", "auto"), gpus = NULL,
                              threads = NULL) {
  begun <- check_given(x = "a data frame, its first column the time")
  device <- check_choice(device)
  if (!is_plain_numeric(theta) || length(theta) == 0L || !all(is.finite(theta)) || any(theta < 0)) {
    abort_arg("theta", "finite numbers of at least 0", describe(theta))
  }
  data <- edm_data(x, columns, target, lib, pred, E, tau, Tp, embedded, valid_lib, segments,
                   no_time, ignore_nan)
  knn <- smap_knn(knn, data)
  exclusion <- edm_exclusion(exclusion_radius)
  ridge <- check_number(ridge, min = 0)
  threads <- check_threads(threads)
  where <- smap_where(device, gpus, threads, data, length(theta))
  fit <- smap_at(data$points, data$lib, data$pred, data$target, as.double(theta), knn,
                 exclusion, ridge, where)
  observed <- data$target[data$pred]
  rho <- edm_rho(observed, fit$predictions, threads)
  parameters <- skill_parameters(data, knn = knn, exclusion_radius = exclusion, ridge = ridge)
  new_edm_skill(data.frame(Theta = theta, rho = rho), parameters, begun)
}

#' Correlation of predictions and observations; NA with fewer library points than `knn`
#' @noRd
simplex_skill <- function(data, knn, exclusion, where) {
  if (length(data$lib) < knn) return(NA_real_)
  predicted <- simplex_at(data$points, data$lib, data$pred, data$target, knn, exclusion, where)
  edm_rho(data$target[data$pred], predicted$predictions)
}

#' What all rows of a sweep have in common
#' @noRd
skill_parameters <- function(data, swept = NULL, ...) {
  all <- edm_parameters(data, ...)
  all[setdiff(names(all), c(swept, "library", "predicted"))]
}
