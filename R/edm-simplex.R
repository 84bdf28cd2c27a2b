# Simplex projection: the data frame a user has, and predictions back in one.

#' Predict from the nearest neighbours in delay coordinates
#'
#' Simplex projection (Sugihara and May 1990): a state is predicted to do what the most
#' similar states of the library did, weighted by how similar they are. Arguments, rows
#' and numbers are those of rEDM.
#'
#' # What is computed
#' The point of row t has the coordinates x\[t\], x\[t + tau\], ..., x\[t + (E - 1) tau\],
#' those of the first column, then those of the next. Its neighbours are the `knn` nearest
#' library rows in Euclidean distance; rows at equal distance are taken in the order
#' in which they follow row t in a fixed shuffle, which knows nothing about time. Numbers on a
#' common grid, such as counts and tenths, are equally far apart where their numbers of steps are.
#' With distances d and the nearest of them d1 (at least about a millionth of how far values lie
#' from their mean), the prediction for row t + `Tp` is the mean of the target `Tp` rows after
#' each neighbour with weights exp(-d / d1), and the variance that of these values about it,
#' with the same weights.
#'
#' Where library and prediction overlap, no row is a neighbour of itself, nor is one at
#' most `exclusion_radius` rows away. If this leaves fewer than `knn`, these are used. A
#' library that has fewer than `knn` points to begin with is used as it is, with a warning.
#'
#' # Rows of library and prediction
#' The library holds the rows of `lib` whose delay vector lies within their pair of `lib`.
#' As in rEDM, the pair given last ends `Tp` rows earlier if `Tp` is positive, while targets
#' may lie after the other pairs, and if `Tp` is negative each pair begins `-Tp - 1` rows
#' later. A row that lies in several pairs is in the library once.
#' The delay vectors of `pred` may reach before it, but not out of the data. Neither they
#' nor targets cross `segments`: give these where rows next to each other are not.
#'
#' Several rows may have the same time, such as months of which only the year is given: rows
#' count as steps all the same, and a message says so. A time that comes back after others
#' is an error, since it looks as if trials were stacked that no `segments` tell apart.
#'
#' Rows with a missing value among their coordinates are neither library nor prediction; with
#' `ignore_nan = FALSE` they are an error. A neighbour whose target is missing makes the
#' prediction `NA`. Infinite values count as missing.
#'
#' @param x Data frame of series, a row a time, equally spaced; its first column is the
#'   time, of any class. Rows count in the order they have. Time series of class `ts`, `zoo`
#'   and `xts` bring their times along; a single one is the column `x`.
#' @param columns Names of the columns to predict from: a character vector, or one string
#'   of names parted by blanks or commas. May be left out if there is but one.
#' @param target Name of the column to predict; by default the first of `columns`.
#' @param lib,pred Rows to learn from and to predict from: `c(first, last)`, or several
#'   pairs as in `c(1, 50, 61, 100)`, or a string of these numbers. Pairs may overlap and
#'   come in any order. By default all rows.
#' @param E Embedding dimension: lags of each column. With `embedded` the number of
#'   columns.
#' @param Tp Prediction interval, in rows: positive, 0 or negative.
#' @param knn Number of neighbours; `NULL` or 0 stands for `E + 1`. More than the library has
#'   points are all of them, with a warning.
#' @param tau Lag between coordinates, in rows: -1 looks back one row at a time, a positive
#'   one ahead.
#' @param exclusion_radius Library rows this near to the predicted one, in rows, are left
#'   out.
#' @param embedded Are the columns the coordinates already?
#' @param valid_lib TRUE or FALSE for each row: may it be in the library?
#' @param no_time Has `x` no column of times? Then rows count as times, in `Time`.
#' @param segments What tells trials, replicates or stretches between gaps apart: the name
#'   of a column, or a vector with a value for each row. Where it changes, a new segment
#'   begins, and no delay vector or target reaches across.
#' @param ignore_nan Leave out the rows of `lib` and `pred` that miss a coordinate? If not,
#'   they are an error.
#' @param generate Number of rows to forecast beyond the last row of `pred`, one by one,
#'   each from the predictions before it; 0 for none. Takes one column, which is the
#'   target too, `Tp = 1` and a negative `tau`. The library stays as it is.
#' @param include_state Keep the neighbours, their distances and the points, in the
#'   attribute `state`?
#' @param device `"cpu"`, `"gpu"`, or `"auto"` for the one that should be sooner done. Both
#'   find the same neighbours; predictions agree to within 1e-12 of their size.
#' @param gpus Numbers of the GPUs that share the work, from 1; by default the first.
#' @param threads Number of threads on the CPU; by default those this process may use.
#'   Results never depend on it.
#'
#' @return A table ([edm_tables]) with the time column under its own name,
#'   `Observations` (the target at that time), `Predictions` and `Pred_Variance`. Its rows
#'   are, for each pair of `pred`, those rows and the `Tp` after it (before it, if
#'   negative), `NA` where there is no prediction; rows at the edge of the data without a
#'   delay vector are left out. Times go on beyond the data in steps of the last one
#'   (before it, of the first one). With `generate`, the rows are the last of `pred` and
#'   the forecast ones.
#'
#'   With `include_state`, the attribute `state` is a list of what the predictions were made
#'   from; rows are numbers of rows of `x`:
#'   \describe{
#'     \item{neighbours, distances}{matrices: the rows of the neighbours, and how far they
#'       are; a row for each of `pred`, the nearest neighbour in the first column, `NA` after
#'       the last}
#'     \item{lib, pred}{the rows of the library, and those that are predicted from}
#'     \item{target}{for each row of `x` the value that it predicts, `Tp` rows later}
#'     \item{points}{matrix of the coordinates of all rows of `x`}
#'   }
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: `x` that is no data
#' frame, columns that are unknown (the nearest name is suggested) or not numeric, a time
#' that comes back in a segment, `lib` or `pred` outside the data or reversed, `E` below 1, a
#' library without any point. Results are `NA`, never `NaN`.
#' @references Sugihara G, May RM (1990). Nonlinear forecasting as a way of distinguishing
#'   chaos from measurement error in time series. *Nature* 344:734-741.
#' @seealso [embed_dimension()] to choose `E`, [prediction_error()].
#' @examples
#' logistic <- Reduce(\(x, i) 3.8 * x * (1 - x), 1:299, 0.3, accumulate = TRUE)
#' x <- data.frame(time = 1:300, x = logistic)
#' found <- simplex(x, "x", lib = c(1, 200), pred = c(201, 300), E = 2, threads = 2)
#' found
#' prediction_error(found)
#'
#' # which states each forecast was made from
#' state <- attr(simplex(x, "x", E = 2, include_state = TRUE, threads = 2), "state")
#' head(cbind(row = state$pred, state$neighbours))
#'
#' # the library alone, and ten steps ahead
#' simplex(x, "x", E = 2, generate = 10, threads = 2)
#' @export
simplex <- function(x, columns = NULL, target = NULL, lib = NULL, pred = NULL, E = NULL,
                    Tp = 1, knn = NULL, tau = -1, exclusion_radius = 0, embedded = FALSE,
                    valid_lib = NULL, no_time = FALSE, segments = NULL, ignore_nan = TRUE,
                    generate = 0, include_state = FALSE, device = c("cpu", "gpu", "auto"),
                    gpus = NULL, threads = NULL) {
  begun <- check_given(x = "a data frame, its first column the time")
  data <- edm_data(x, columns, target, lib, pred, E, tau, Tp, embedded, valid_lib,
                   segments, no_time, ignore_nan)
  knn <- library_knn(data, edm_knn(knn, data$E + 1L))
  exclusion <- edm_exclusion(exclusion_radius)
  generate <- check_count(generate, min = 0, max = 1e6)
  include_state <- check_state(include_state, generate)
  device <- check_choice(device)
  threads <- check_threads(threads)
  where <- simplex_where(device, gpus, threads, data)
  predict <- function(points, lib, pred, target) {
    simplex_at(points, lib, pred, target, knn, exclusion, where)
  }
  frame <- if (generate > 0) {
    generate_frame(data, generate, predict)$frame
  } else {
    predicted_frame(data, predict(data$points, data$lib, data$pred, data$target))
  }
  new_edm(frame, "edm_prediction", "Simplex",
          edm_parameters(data, knn = knn, exclusion_radius = exclusion), begun,
          state = if (include_state) edm_state(data, knn, exclusion, where))
}

#' Where neighbours are searched: options of the compiled code
#'
#' @param times How often they are.
#' @return A list: `gpus` (from 0; NULL for the CPU) and `threads`.
#' @noRd
simplex_where <- function(device, gpus, threads, data, times = 1) {
  pairs <- as.double(length(data$any$lib)) * length(data$any$pred)
  seconds <- 5e-11 * pairs * data$dims * times / threads
  list(gpus = gpus_of(edm_place(device, gpus, seconds)), threads = threads)
}

#' Predictions of `target` at the rows `pred`
#' @noRd
simplex_at <- function(points, lib, pred, target, knn, exclusion, where) {
  asked <- in_order(pred)
  out <- .Call(r_edm_simplex, points, lib, asked$rows, target,
               c(list(k = knn, exclusion = exclusion), where))
  out <- finish_status(out, "predicting so many rows")
  lapply(out, \(value) {
    dim(value) <- NULL
    if (identical(asked$rows, pred)) value else value[asked$at]
  })
}

#' @noRd
check_state <- function(include_state, generate) {
  include_state <- check_flag(include_state, "include_state")
  refuse_if(include_state && generate > 0, "include_state", "FALSE with `generate`", "TRUE",
            "Each step of `generate` has neighbours of its own.")
  include_state
}

#' What predictions were made from, for the attribute `state`
#' @noRd
edm_state <- function(data, knn, exclusion, where) {
  check_room(length(data$pred), 1.5 * knn, "include_state", "FALSE")
  asked <- in_order(data$pred)
  near <- .Call(r_edm_neighbours, data$points, data$lib, asked$rows,
                c(list(k = knn, exclusion = exclusion), where))
  near <- finish_status(near, "keeping so many neighbours")
  points <- points_matrix(data$points)
  colnames(points) <- coordinate_names(data)
  list(neighbours = near$row[asked$at, , drop = FALSE],
       distances = near$distance[asked$at, , drop = FALSE],
       lib = data$lib, pred = data$pred, target = data$target, points = points)
}

#' What was used, for the attribute `parameters`
#' @noRd
edm_parameters <- function(data, ...) {
  given <- list(...)
  known <- data[setdiff(c("E", "tau", "Tp", "embedded"), names(given))]
  c(list(columns = data$columns, target = data$target_name), known, given,
    list(library = length(data$lib), predicted = length(data$pred)))
}

#' Predictions next to time and observations
#' @noRd
predicted_frame <- function(data, predicted) {
  rows <- length(data$frame$Observations)
  at <- \(values) {
    out <- rep(NA_real_, rows)
    out[data$place] <- values
    out
  }
  new_frame(c(unclass(data$frame), list(Predictions = at(predicted$predictions),
                                        Pred_Variance = at(predicted$variance))), rows)
}

#' Forecast row by row from what has been forecast
#'
#' The row whose future is to be predicted is no neighbour of itself, so its point may
#' take the place of an observed one.
#'
#' @param predict Function of points, library, row and target that gives a list with
#'   `predictions` and `variance`.
#' @return A list: `frame`, the table, and `fits`, what `predict` gave for each of its rows
#'   but the first.
#' @noRd
generate_frame <- function(data, steps, predict) {
  n <- length(data$observed)
  refuse_if(data$embedded || length(data$columns) > 1L || data$target_name != data$columns,
            "generate", "0 unless one column is predicted from its own lags", format(steps))
  refuse_if(data$Tp != 1L || data$tau > 0L, "generate", "0 unless `Tp` is 1 and `tau` negative",
            format(steps))
  end <- max(data$pred_pairs$to)
  refuse_if(data$last[[end]] != n, "generate", "0 unless `pred` ends in the last segment",
            format(steps))
  rows <- end + 0:steps
  value <- c(data$observed[seq_len(end)], rep(NA_real_, steps))
  points <- points_matrix(data$points)[pmin(seq_len(max(n, end + steps)), n), , drop = FALSE]
  target <- c(data$target, rep(NA_real_, max(0, end + steps - n)))
  variance <- rep(NA_real_, steps)
  fits <- vector("list", steps)
  for (k in seq_len(steps)) {
    row <- end + k - 1L
    back <- row + data$tau * (seq_len(data$E) - 1L)
    points[row, ] <- if (min(back) < data$first[[end]]) NA_real_ else value[back]
    if (anyNA(points[row, ])) break
    fits[[k]] <- predict(points, setdiff(data$lib, row), row, target)
    value[[row + 1L]] <- fits[[k]]$predictions
    variance[[k]] <- fits[[k]]$variance
  }
  outside <- which(rows > n)
  frame <- list(
    times_at(data$time, rows, outside, rep(data$first[[end]], length(outside)),
             rep(n, length(outside))),
    data$observed[ifelse(rows <= n, rows, NA)], c(NA_real_, value[end + seq_len(steps)]),
    c(NA_real_, variance)
  )
  names(frame) <- c(data$time_name, "Observations", "Predictions", "Pred_Variance")
  frame <- new_frame(frame, steps + 1)
  list(frame = frame, fits = fits)
}
