# Multiview forecasts: many small state spaces instead of one large one.

#' Forecast from many views of a system
#'
#' With more variables than a state space needs, every choice of some of them is another
#' view of the same attractor. Each view forecasts the library by [simplex()], leaving out
#' the row it forecasts; the views that do best are kept, and their forecasts are averaged
#' (Ye and Sugihara 2016). Noise that differs between views averages out.
#'
#' Coordinates to choose from are the `E` lags of each of the `columns`. They are taken
#' from the whole of the data, so the first vectors of the library may reach back to rows
#' before it. Each view has its own rows, as in rEDM: those where all of its coordinates are
#' known. The mean at a row is that of the views that forecast it. A view of coordinates that
#' are all constant in the library, or with fewer library rows than `knn`, has no rank, and
#' comes last.
#'
#' @inheritParams simplex
#' @param lib,pred Rows to learn from and to predict from, as in [simplex()]. Without both,
#'   the first and the second half of the rows, as in rEDM; without one of them, that is
#'   all rows.
#' @param columns Columns whose lags are coordinates to choose from.
#' @param D Coordinates of a view; by default as many as there are `columns`.
#' @param E Lags of each column.
#' @param knn Neighbours; by default, and with 0, `D + 1`.
#' @param multiview How many views are averaged; by default, and with 0, the square root of
#'   the number of all views, rounded down. With more than there are, all of them are, with a
#'   warning.
#' @param train_lib Rank views by how they forecast the library. With `FALSE` they are
#'   ranked by their forecasts of `pred`: what is then averaged has seen the answers.
#' @param exclude_target Leave the lags of `target` out.
#' @param ignore_nan Leave out the rows of `lib` and `pred` that miss a coordinate of a view?
#'   If not, they are an error, except where a lag lies before or after the data.
#'
#' @return An object of class `multiview`, a list:
#'   * `view`: a data frame with a row for each view averaged, the best first. `Col_1`, ...,
#'     `Col_D` number its coordinates and `name_1`, ..., `name_D` name them, such as
#'     `"x(t-1)"`; `rho`, `MAE`, `RMSE` and `CAE` are those of its forecasts of `pred`
#'     ([prediction_error()]), and `rho_rank` is the rho that ranked it.
#'   * `predictions`: the mean forecast, a table as from [simplex()], without the variance.
#'
#'   Its attribute `views` is the number of views that were ranked. [as.data.frame()] gives
#'   the predictions as a plain data frame.
#' @section Errors:
#' As for [simplex()]; for a `D` above the number of coordinates, and a choice of more than
#' a million views.
#' @references
#' Ye H, Sugihara G (2016). Information leverage in interconnected ecosystems: overcoming
#' the curse of dimensionality. *Science*, 353, 922-925. \doi{10.1126/science.aag0863}
#' @seealso [autoplot.multiview()]
#' @examples
#' n <- 200
#' x <- y <- rep(0.3, n)
#' for (t in 2:n) {
#'   x[t] <- x[t - 1] * (3.8 - 3.8 * x[t - 1] - 0.02 * y[t - 1])
#'   y[t] <- y[t - 1] * (3.5 - 3.5 * y[t - 1] - 0.1 * x[t - 1])
#' }
#' set.seed(1)
#' noisy <- data.frame(t = 1:n, x = x + rnorm(n, sd = 0.05), y = y + rnorm(n, sd = 0.05))
#' many <- multiview(noisy, columns = c("x", "y"), target = "x", lib = c(1, 100),
#'                   pred = c(101, 200), D = 3, E = 3, threads = 2)
#' many$view
#' prediction_error(many$predictions)
#' @export
multiview <- function(x, columns = NULL, target = NULL, lib = NULL, pred = NULL, D = NULL,
                      E = 1, tau = -1, Tp = 1, knn = NULL, exclusion_radius = 0,
                      multiview = NULL, train_lib = TRUE, exclude_target = FALSE,
                      valid_lib = NULL, segments = NULL, no_time = FALSE, ignore_nan = TRUE,
                      device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL) {
  begun <- check_given(x = "a data frame, its first column the time")
  train_lib <- check_flag(train_lib)
  exclude_target <- check_flag(exclude_target)
  exclusion_radius <- edm_exclusion(exclusion_radius)
  device <- check_choice(device)
  threads <- check_threads(threads)
  ignore_nan <- check_flag(ignore_nan)
  lags <- edm_data(x, columns, target, E = E, tau = tau, segments = segments, no_time = no_time)
  left_out <- if (exclude_target) lags$target_name
  D <- check_view_size(D, lags, left_out)
  knn <- edm_knn(knn, D + 1)
  views <- all_views(D, lags, left_out)
  kept <- check_view_number(multiview, ncol(views))

  rows <- length(lags$first)
  if (is.null(lib) && is.null(pred) && rows > 1L) {
    half <- rows %/% 2L
    lib <- c(1L, half)
    pred <- c(half + 1L, rows)
  }
  data <- view_data(lags, lib, pred, Tp, valid_lib)
  if (!ignore_nan) check_views_complete(data, lags)
  knn <- views_knn(views, data, knn)
  where <- simplex_where(device, gpus, threads, data, ncol(views) * D / data$dims)
  forecast <- function(views, data) {
    view_forecasts(views, data, knn, exclusion_radius, where)
  }
  rho <- rank_views(views, if (train_lib) view_data(lags, lib, lib, Tp, valid_lib) else data,
                    forecast)
  best <- order(-rho)[seq_len(kept)]
  chosen <- views[, best, drop = FALSE]
  forecasts <- forecast(chosen, data)

  predictions <- data$frame
  names(predictions)[[1L]] <- lags$time_name
  predictions$Predictions <- NA_real_
  mean <- rowMeans(forecasts, na.rm = TRUE)
  predictions$Predictions[data$any$place] <- replace(mean, is.nan(mean), NA)
  parameters <- list(columns = lags$columns, target = lags$target_name, D = D, E = lags$E,
                     tau = lags$tau, Tp = data$Tp, knn = knn,
                     exclusion_radius = exclusion_radius, multiview = kept)
  structure(
    list(view = view_table(chosen, coordinate_names(lags), forecasts, data, rho[best]),
         predictions = new_edm(predictions, "edm_prediction", "Multiview", parameters,
                               begun)),
    class = c("multiview", "synfire_result"), views = ncol(views), call = begun$call
  )
}

# ---- Views ---------------------------------------------------------------------------

check_view_size <- function(D, lags, left_out) {
  columns <- setdiff(lags$columns, left_out)
  most <- length(columns) * lags$E
  refuse_if(most == 0, "columns", "other columns than `target` where `exclude_target = TRUE`",
            describe(lags$columns))
  if (is_default(D)) return(min(length(lags$columns), most))
  D <- check_count(D, "D")
  refuse_if(D > most, "D", sprintf("at most the %d coordinates there are", as.integer(most)),
            format(D), "Take fewer, a larger `E`, or more `columns`.")
  D
}

#' NULL, or the 0 that stands for it in rEDM
#' @noRd
is_default <- function(number) is.null(number) || is.numeric(number) && identical(number + 0, 0)

#' All choices of `D` coordinates, in the columns of a matrix
#' @noRd
all_views <- function(D, lags, left_out) {
  choice <- which(rep(!lags$columns %in% left_out, each = lags$E))
  refuse_if(choose(length(choice), D) > 1e6, "D", "such that there are at most a million views",
            sprintf("%g of %d coordinates, %.3g views", D, length(choice),
                    choose(length(choice), D)), "Choose fewer `columns`, or a smaller `E`.")
  views <- utils::combn(length(choice), D)
  matrix(choice[views], nrow(views))
}

check_view_number <- function(multiview, views) {
  if (is_default(multiview)) return(floor(sqrt(views)))
  multiview <- check_count(multiview, "multiview")
  if (multiview > views) {
    warn_about("views", "Only {counted(views, 'view')} can be made, and all are averaged.",
               x = "`multiview` is {commas(multiview)}.", call = user_frame())
  }
  min(multiview, views)
}

#' Those of some rows where all coordinates of a view are known
#' @noRd
rows_of_view <- function(rows, view, data) {
  rows[!Reduce(`|`, lapply(data$points$values[view], \(values) is.na(values[rows])))]
}

#' Stop where a row of `lib` or `pred` misses a coordinate, other than beyond the data
#' @noRd
check_views_complete <- function(data, lags) {
  row <- outer(seq_along(lags$first), rep(lags$tau * (seq_len(lags$E) - 1L),
                                          length(lags$columns)), `+`)
  beyond <- row < lags$first | row > lags$last
  points <- ifelse(beyond, 0, points_matrix(data$points))
  check_complete(c(data$any$lib, data$any$pred), points, lags)
}

#' The number of neighbours that at least one of the views has in its library
#' @noRd
views_knn <- function(views, data, knn) {
  counts <- vapply(seq_len(ncol(views)), \(k) {
    length(rows_of_view(data$any$lib, views[, k], data))
  }, 0L)
  data$lib <- rows_of_view(data$any$lib, views[, which.max(counts)], data)
  library_knn(data, knn)
}

#' What each view forecasts, in a column, at each row to predict from; NA where it does not
#' @noRd
view_forecasts <- function(views, data, knn, exclusion, where) {
  storage.mode(views) <- "integer"
  asked <- in_order(data$any$pred)
  lib <- in_order(data$any$lib)$rows
  out <- .Call(r_edm_views, data$points, lib, asked$rows, views, data$target,
               c(list(k = knn, exclusion = exclusion), where))
  finish_status(out, "forecasting so many rows")[asked$at, , drop = FALSE]
}

#' The rho of each view, NA where its coordinates tell nothing of where a row is
#'
#' @param most Forecasts that are kept at a time.
#' @noRd
rank_views <- function(views, data, forecast, most = 2e7) {
  observed <- data$target[data$any$pred]
  tells <- vapply(data$points$values, \(v) {
    v <- v[data$any$lib]
    v <- v[!is.na(v)]
    length(v) > 0L && !is_constant(v)
  }, NA)
  rho <- rep(NA_real_, ncol(views))
  useful <- which(colSums(matrix(tells[views], nrow(views))) > 0)
  together <- max(1, most %/% max(1, length(observed)))
  for (some in split(useful, (seq_along(useful) - 1) %/% together)) {
    forecasts <- forecast(views[, some, drop = FALSE], data)
    rho[some] <- edm_rho(observed, forecasts)
  }
  rho
}

#' Lags of the whole of the data as coordinates
#' @noRd
view_data <- function(lags, lib, pred, Tp, valid_lib) {
  coordinates <- sprintf("lag%d", seq_len(lags$dims))
  block <- data.frame(lags$time, points_matrix(lags$points), lags$observed)
  names(block) <- c("time", coordinates, "target")
  # The user was told of the times when the lags were made.
  suppressMessages(edm_data(block, coordinates, "target", lib, pred, Tp = Tp, embedded = TRUE,
                            valid_lib = valid_lib, segments = lags$first),
                   classes = "synfire_message_times")
}

# ---- Results -------------------------------------------------------------------------

view_table <- function(views, names, forecasts, data, rho_rank) {
  observed <- data$target[data$any$pred]
  error <- apply(forecasts, 2L, \(p) prediction_error(observed, p), simplify = FALSE)
  number <- seq_len(nrow(views))
  out <- data.frame(
    rlang::set_names(as.data.frame(t(views)), paste0("Col_", number)),
    do.call(rbind, error)[c("rho", "MAE", "RMSE", "CAE")],
    rlang::set_names(as.data.frame(matrix(names[t(views)], ncol(views))), paste0("name_", number)),
    rho_rank = rho_rank
  )
  rownames(out) <- NULL
  out
}

#' @param x,object What `multiview()` gives.
#' @param ... Not used, must be empty.
#' @rdname multiview
#' @export
format.multiview <- function(x, ...) {
  check_whole_result(x, c("view", "predictions"), "views")
  check_no_dots()
  c(sprintf("Mean of the best %s of %s views", commas(nrow(x$view)),
            commas(attr(x, "views", exact = TRUE))),
    format(x$predictions))
}

#' @rdname multiview
#' @export
print.multiview <- function(x, ...) {
  cat(format(x, ...), "", sep = "\n")
  names <- x$view[grep("^name_", names(x$view))]
  best <- data.frame(view = do.call(paste, c(names, sep = " ")), rho = x$view$rho,
                     rho_rank = x$view$rho_rank)
  print(utils::head(best, 10L), row.names = FALSE, digits = 4)
  if (nrow(best) > 10L) cat(sprintf("... and %s more views\n", commas(nrow(best) - 10L)))
  invisible(x)
}

#' @rdname multiview
#' @export
summary.multiview <- function(object, ...) {
  check_whole_result(object, c("view", "predictions"), "views", "object")
  check_no_dots()
  cbind(summary(object$predictions), views = attr(object, "views", exact = TRUE),
        averaged = nrow(object$view))
}

#' @export
as.data.frame.multiview <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_whole_result(x, "predictions")
  check_no_dots(but = frame_arguments)
  as.data.frame(x$predictions, row.names)
}
