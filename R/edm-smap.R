# S-maps: a linear model of its own for each prediction, and what it says about the
# dynamics.

#' Predict from local linear models, and keep their coefficients
#'
#' The S-map (sequentially locally weighted global linear map, Sugihara 1994) fits a linear
#' model for each prediction, in which library points near to the predicted one weigh more.
#' `theta` says how much more: at 0 all weigh the same and the model is an autoregression;
#' if a larger `theta` predicts better, the dynamics depend on the state they are in
#' ([predict_nonlinear()]). The coefficients are the partial derivatives of the target by
#' the coordinates at each time: how strongly they interact then (Deyle et al. 2016).
#'
#' # What is computed
#' Points, rows of library and prediction, and the order of neighbours are those of
#' [simplex()]. [smap_map()] has all rows whose target is within the series, and so some more
#' where `tau` and `Tp` are both positive, or `Tp` is below -1. With distances d of the neighbours
#' and their mean d0, rows (1, coordinates) and targets of the neighbours are multiplied by
#' exp(-`theta` d / d0), and the model is the least squares solution, the shortest one where there
#' are several: singular values up to 2.2e-16 times the number of neighbours (or of coefficients,
#' if larger) times the largest one count as 0. The prediction is the model at the predicted
#' point. Its variance is that of the neighbours' targets about it, with the same weights.
#'
#' The neighbours of a point are by default as many as the library has points, less one:
#' all but the point itself, or, where it is not in the library, all but the farthest. This
#' is what rEDM does. Points that `valid_lib` leaves out count among that number, so that
#' as soon as there are such, all the others are neighbours.
#'
#' A neighbour whose target is missing stays one, so that d0 is the mean of all distances;
#' but the model is fitted without it. That is rEDM's rule, too. Where no neighbour has a
#' target, there is no prediction.
#'
#' With a `ridge` above 0 the squares of all coefficients but `C0` cost that much, where
#' the mean of the squared errors, by squared weights, costs 1 (ridge regression, Hoerl and
#' Kennard 1970). It tames coefficients of coordinates that nearly depend on each other, at
#' the price of drawing them to 0; `ridge` is in squared units of the coordinates.
#'
#' There are two ways to find the models, and they agree to 1e-6 and better. Where all of
#' the library are neighbours, it has at least twice as many points as the model has
#' coefficients, and 8 rows or more are predicted, the normal equations of many models are
#' made together, as a product of two matrices, and solved by Cholesky's method. This takes
#' two thirds to a fifth of the time. It loses digits where coordinates nearly depend on each
#' other. So a bound for the error of each model is found, too, and a model that rounding
#' may have changed by more than 1e-9 of it is made again in the other way, as are all
#' models elsewhere: its rows are reduced to a triangle by modified Gram-Schmidt in blocks,
#' which is solved by Jacobi rotations, as accurate as a singular value decomposition of
#' all rows. Where even that is not enough, since the nearest neighbours contradict each
#' other and outweigh the others by far, a slower way keeps what light rows say (Cox and
#' Higham 1998). The last digits may depend on the processor and on which other rows are
#' predicted, but not on the number of threads.
#'
#' @inheritParams simplex
#' @param theta How much near points weigh more, at least 0.
#' @param knn Number of neighbours; `NULL` or 0 stands for one less than the library has
#'   points, those that `valid_lib` leaves out among them.
#' @param ridge What squared coefficients cost, at least 0.
#' @param device `"cpu"`, `"gpu"`, or `"auto"` for the one that should be sooner done. What
#'   they give agrees to 1e-7 and better. The GPU makes the models in the first of the two
#'   ways, and those that are not precise enough are made again on the CPU.
#' @param gpus Numbers of the GPUs that share the work, from 1; by default the first.
#'
#' @return A list of class `smap` of three data frames with the same rows, those that
#'   [simplex()] returns, and the time column under its own name:
#'   \describe{
#'     \item{predictions}{a table ([edm_tables]) with `Observations`, `Predictions` and
#'       `Pred_Variance`}
#'     \item{coefficients}{of the model that made each prediction, so at the time that is
#'       predicted: `C0`, the value at the origin, and for each coordinate a column like
#'       `"\u2202y/\u2202x(t-0)"`, in units of the target by units of the coordinate}
#'     \item{singular_values}{`C0`, `C1`, ...: singular values of the weighted rows,
#'       decreasing; 0 beyond the number of neighbours}
#'   }
#'   With `include_state`, its attribute `state` is that of [simplex()].
#'   Its `print()` shows what it is, `summary()` gives [prediction_error()] in a data frame
#'   of one row, and `as.data.frame()` the predictions as a plain data frame.
#'
#' @inheritSection simplex Errors
#' @references Sugihara G (1994). Nonlinear forecasting for the classification of natural
#'   time series. *Philosophical Transactions of the Royal Society A* 348:477-495.
#'
#'   Deyle ER, May RM, Munch SB, Sugihara G (2016). Tracking and forecasting ecosystem
#'   interactions in real time. *Proceedings of the Royal Society B* 283:20152258.
#'
#'   Cox AJ, Higham NJ (1998). Stability of Householder QR factorization for weighted least
#'   squares problems. *Numerical Analysis 1997*, Pitman Research Notes in Mathematics
#'   380:57-73.
#'
#'   Hoerl AE, Kennard RW (1970). Ridge regression: biased estimation for nonorthogonal
#'   problems. *Technometrics* 12:55-67.
#' @seealso [predict_nonlinear()] to choose `theta`, [simplex()].
#' @examples
#' x <- data.frame(time = 1:200, x = sin(1:200 / 16), y = cos(1:200 / 16))
#' found <- smap(x, c("x", "y"), "x", lib = c(1, 100), pred = c(101, 200), theta = 3,
#'               embedded = TRUE, threads = 2)
#' found
#' # on a circle the future is the same turn of the present everywhere
#' head(found$coefficients)
#' @export
smap <- function(x, columns = NULL, target = NULL, lib = NULL, pred = NULL, E = NULL,
                 Tp = 1, knn = NULL, tau = -1, theta = 0, exclusion_radius = 0,
                 embedded = FALSE, ridge = 0, valid_lib = NULL, no_time = FALSE,
                 segments = NULL, ignore_nan = TRUE, generate = 0, include_state = FALSE,
                 device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL) {
  begun <- check_given(x = "a data frame, its first column the time")
  device <- check_choice(device)
  data <- edm_data(x, columns, target, lib, pred, E, tau, Tp, embedded, valid_lib, segments,
                   no_time, ignore_nan)
  theta <- check_number(theta, min = 0)
  knn <- smap_knn(knn, data)
  exclusion <- edm_exclusion(exclusion_radius)
  ridge <- check_number(ridge, min = 0)
  generate <- check_count(generate, min = 0, max = 1e6)
  include_state <- check_state(include_state, generate)
  threads <- check_threads(threads)
  where <- smap_where(device, gpus, threads, data, 1, generate)
  # A forecast has one row, as a table of it has.
  predict <- function(points, lib, pred, target, shown = list(rows = 1L, place = 1L)) {
    smap_at(points, lib, pred, target, theta, knn, exclusion, ridge, where, shown)
  }
  if (generate > 0) {
    made <- generate_frame(data, generate, predict)
    frame <- made$frame
    models <- generated_models(made$fits, data$dims + 1L)
  } else {
    shown <- list(rows = length(data$frame$Observations), place = data$place)
    models <- predict(data$points, data$lib, data$pred, data$target, shown)
    frame <- predicted_frame(data, models)
  }
  parameters <- edm_parameters(data, theta = theta, knn = knn,
                               exclusion_radius = exclusion, ridge = ridge)
  slopes <- paste0("\u2202", data$target_name, "/\u2202", coordinate_names(data))
  structure(
    list(
      predictions = new_edm(frame, "edm_prediction", "S-map", parameters, begun),
      coefficients = model_frame(frame[1L], models$coefficients, c("C0", slopes)),
      singular_values = model_frame(frame[1L], models$singular, paste0("C", seq(0, length(slopes))))
    ),
    class = c("smap", "synfire_result"),
    state = if (include_state) {
      # Where the whole library are neighbours there is little to search for.
      edm_state(data, knn, exclusion, list(gpus = NULL, threads = threads))
    }
  )
}

#' The number of neighbours, by default one less than the library has without `valid_lib`
#' @noRd
smap_knn <- function(knn, data) {
  most <- max(min(length(data$all_lib) - 1L, length(data$lib)), 1L)
  library_knn(data, edm_knn(knn, most))
}

#' Predictions and models at the rows `pred`
#'
#' @param theta One or several: distances are computed once for all.
#' @param where Of smap_where().
#' @param shown NULL where predictions alone are wanted, or how many `rows` the table of the
#'   models of one theta has, and in which of them (`place`) each of `pred` is.
#' @return A list: `predictions`, `variance` (matrices `[length(pred), theta]`) and, if
#'   wanted, `coefficients` and `singular` (lists of E + 1 columns of that table).
#' @noRd
smap_at <- function(points, lib, pred, target, theta, knn, exclusion, ridge, where,
                    shown = NULL) {
  asked <- in_order(pred)
  if (!is.null(shown)) shown$at <- asked$at
  out <- .Call(r_edm_smap, points, lib, asked$rows, target, theta,
               c(list(k = knn, exclusion = exclusion, ridge = ridge, shown = shown), where))
  out <- finish_status(out, "fitting so many models")
  if (identical(asked$rows, pred)) return(out)
  for (part in c("predictions", "variance")) out[[part]] <- out[[part]][asked$at, , drop = FALSE]
  out
}

#' Where models for so many values of theta are made, as options of the compiled code
#' @noRd
smap_where <- function(device, gpus, threads, data, thetas, generate = 0) {
  models <- thetas * if (generate > 0) generate else length(data$pred)
  terms <- data$dims + 2
  pair <- 1e-9 + 1e-11 * terms * (terms + 1)
  seconds <- models * (length(data$lib) * pair + 3e-9 * terms^3) / threads
  list(gpus = gpus_of(edm_place(device, gpus, seconds)), threads = threads)
}

#' Models of the forecast rows; the first row of the table has none
#' @noRd
generated_models <- function(fits, unknowns) {
  lapply(c(coefficients = "coefficients", singular = "singular"), \(part) {
    values <- vapply(fits, \(fit) {
      as.double(unlist(fit[[part]]) %||% rep(NA_real_, unknowns))
    }, double(unknowns))
    lapply(seq_len(unknowns), \(k) c(NA_real_, values[k, ]))
  })
}

#' @param time Data frame of the time column.
#' @param values A list of the other columns.
#' @noRd
model_frame <- function(time, values, names) {
  new_frame(c(time, stats::setNames(values, names)), nrow(time))
}

smap_parts <- c("predictions", "coefficients", "singular_values")

#' @export
format.smap <- function(x, ...) {
  check_whole_result(x, smap_parts)
  check_no_dots()
  c(format(x$predictions),
    paste("Coefficients", toString(names(x$coefficients)[-1L]), "and singular values"))
}

#' @export
print.smap <- function(x, n = 5, ...) {
  check_no_dots()
  n <- check_count(n, infinite = TRUE)
  cat(format(x), sep = "\n")
  for (part in names(x)) {
    cat("\n$", part, "\n", sep = "")
    print(utils::head(as.data.frame(x[[part]]), n), row.names = FALSE)
  }
  rows <- nrow(x$predictions)
  if (rows > n) cat(sprintf("... and %s more rows each\n", commas(rows - n)))
  invisible(x)
}

#' @export
summary.smap <- function(object, ...) {
  check_whole_result(object, smap_parts, arg = "object")
  check_no_dots()
  summary(object$predictions)
}

#' @export
as.data.frame.smap <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_whole_result(x, smap_parts)
  check_no_dots(but = frame_arguments)
  as.data.frame(x$predictions, row.names)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.smap <- function(x, ...) {
  check_whole_result(x, smap_parts)
  glance.edm_prediction(x$predictions, ...)
}

#' @rdname tidiers
#' @exportS3Method generics::augment
augment.smap <- function(x, ...) {
  check_whole_result(x, smap_parts)
  augment.edm_prediction(x$predictions, ...)
}
