# Skill against embedding dimension, prediction interval and exclusion radius.

#' Skill of simplex projection against the embedding dimension
#'
#' Predicts with every `E` from 1 to `E_max` and compares with what was observed. The `E`
#' that predicts best is the number of lags that unfold the dynamics (Sugihara and May
#' 1990). With one column, all of them take one pass over the pairs of rows.
#'
#' Without `lib` and `pred`, `validation` says which rows are compared: `"loo"`, every row
#' is predicted from all others, or `"split"`, the second half of the rows from the first
#' one (the half that is shorter by one, of an odd number).
#'
#' @inheritParams simplex
#' @param E_max Largest embedding dimension.
#' @param validation How to validate where neither `lib` nor `pred` is given.
#'
#' @return A table ([edm_tables]) with the columns `E` and `rho`, Pearson's correlation of
#'   predictions and observations ([prediction_error()]). `NA` where there is no
#'   correlation, and where the library has fewer than `E + 1` points. The attribute
#'   `optimal` is the `E` of the first maximum.
#'
#' @inheritSection simplex Errors
#' @references Sugihara G, May RM (1990). Nonlinear forecasting as a way of distinguishing
#'   chaos from measurement error in time series. *Nature* 344:734-741.
#' @seealso [simplex()], [predict_interval()], [predict_nonlinear()].
#' @examples
#' logistic <- Reduce(\(x, i) 3.8 * x * (1 - x), 1:299, 0.3, accumulate = TRUE)
#' x <- data.frame(time = 1:300, x = logistic)
#' found <- embed_dimension(x, "x", threads = 2)
#' found
#' attr(found, "optimal")
#' @export
embed_dimension <- function(x, columns = NULL, target = NULL, lib = NULL, pred = NULL,
                            E_max = 10, Tp = 1, tau = -1, exclusion_radius = 0,
                            valid_lib = NULL, no_time = FALSE, segments = NULL,
                            validation = c("loo", "split"),
                            device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL) {
  check_given(x = "a data frame, its first column the time")
  started <- proc.time()[["elapsed"]]
  call <- match.call()
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
  here <- environment()
  prepare <- function(E) {
    edm_data(x, columns, target, lib, pred, E, tau, Tp, FALSE, valid_lib, segments, no_time,
             here)
  }
  data <- prepare(E_max)
  where <- simplex_where(device, gpus, threads, data)
  rho <- if (length(data$columns) == 1L) {
    sweep_skill(data, exclusion, where)
  } else {
    # Sums over several columns would round differently if lags came before columns.
    vapply(seq_len(E_max), \(E) simplex_skill(prepare(E), E + 1L, exclusion, where, here), 0)
  }
  parameters <- list(
    columns = data$columns, target = data$target_name, tau = data$tau, Tp = data$Tp,
    exclusion_radius = exclusion
  )
  new_edm_skill(data.frame(E = seq_len(E_max), rho = rho), parameters, call, started)
}

#' Skill at all E up to that of `data`, which is of one column, in one pass
#' @noRd
sweep_skill <- function(data, exclusion, where, call = rlang::caller_env()) {
  reach <- leading(data$points)
  from <- between(data$pred_pairs$from, data$pred_pairs$to)
  pred <- from[reach[from] > 0L]
  used <- integer(length(reach))
  for (E in seq_len(data$E)) {
    rows <- library_rows(data$lib_pairs, data$tau * (E - 1L), data$Tp, data$embedded, data)
    used[rows[reach[rows] >= E]] <- E
  }
  used[!data$valid] <- 0L
  lib <- which(used > 0L)
  predictions <- .Call(r_edm_sweep, data$points, lib, used[lib], pred, reach[pred],
                       data$target, c(list(step = 1, exclusion = exclusion), where))
  predictions <- finish_status(predictions, "predicting so many rows", call = call)
  observed <- data$target[pred]
  vapply(seq_len(data$E), \(E) {
    if (sum(used >= E) <= E) NA_real_ else edm_rho(observed, predictions[, E])
  }, 0)
}

#' For each row, how many coordinates from the first on are there
#' @noRd
leading <- function(points) {
  there <- !is.na(points)
  reach <- integer(nrow(points))
  for (k in seq_len(ncol(points))) reach <- reach + (reach == k - 1L & there[, k])
  reach
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
                             no_time = FALSE, segments = NULL,
                             device = c("cpu", "gpu", "auto"), gpus = NULL,
                             threads = NULL) {
  check_given(x = "a data frame, its first column the time")
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  exclusion <- edm_exclusion(exclusion_radius)
  device <- check_choice(device)
  threads <- check_threads(threads)
  here <- environment()
  prepare <- function(Tp) {
    edm_data(x, columns, target, lib, pred, E, tau, Tp, embedded, valid_lib, segments,
             no_time, here)
  }
  data <- prepare(1)
  Tp_max <- check_count(Tp_max, max = max(nrow(x) - 1, 1))
  knn <- edm_knn(knn, data$E + 1L)
  check_library(data, knn)
  where <- simplex_where(device, gpus, threads, data, Tp_max)
  rho <- vapply(seq_len(Tp_max), \(Tp) {
    simplex_skill(if (Tp > 1L) prepare(Tp) else data, knn, exclusion, where, here)
  }, 0)
  new_edm_skill(data.frame(Tp = seq_len(Tp_max), rho = rho),
                skill_parameters(data, "Tp", knn = knn, exclusion_radius = exclusion),
                call, started)
}

#' Skill of simplex projection against the exclusion radius
#'
#' Rows that follow each other closely are alike because little time has passed, not
#' because the dynamics came back. Skill that drops as they are left out was owed to that.
#'
#' @inheritParams simplex
#' @param exclusion_radius Radii to try, in rows.
#'
#' @return A table ([edm_tables]) with the columns `exclusion_radius` and `rho`, Pearson's
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
                                     device = c("cpu", "gpu", "auto"), gpus = NULL,
                                     threads = NULL) {
  check_given(x = "a data frame, its first column the time")
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  here <- environment()
  if (!is_plain_numeric(exclusion_radius) || length(exclusion_radius) == 0L) {
    abort_arg("exclusion_radius", "whole numbers of rows", describe(exclusion_radius))
  }
  radii <- vapply(exclusion_radius, edm_exclusion, 0L, call = here)
  device <- check_choice(device)
  threads <- check_threads(threads)
  data <- edm_data(x, columns, target, lib, pred, E, tau, Tp, embedded, valid_lib,
                   segments, no_time)
  knn <- edm_knn(knn, data$E + 1L)
  check_library(data, knn)
  where <- simplex_where(device, gpus, threads, data, length(radii))
  rho <- vapply(radii, \(radius) simplex_skill(data, knn, radius, where, here), 0)
  new_edm_skill(data.frame(exclusion_radius = radii, rho = rho),
                skill_parameters(data, knn = knn), call, started)
}

#' Correlation of predictions and observations; NA with fewer library points than `knn`
#' @noRd
simplex_skill <- function(data, knn, exclusion, where, call) {
  if (length(data$lib) < knn) return(NA_real_)
  predicted <- simplex_at(data$points, data$lib, data$pred, data$target, knn, exclusion,
                          where, call)
  edm_rho(data$target[data$pred], predicted$predictions)
}

#' What all rows of a sweep have in common
#' @noRd
skill_parameters <- function(data, swept = NULL, ...) {
  all <- edm_parameters(data, ...)
  all[setdiff(names(all), c(swept, "library", "predicted"))]
}
