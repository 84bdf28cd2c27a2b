# How far predictions are from what was observed.

#' How far predictions are from what was observed
#'
#' Pearson's correlation, the mean and the sum of absolute errors, and the root mean square
#' error.
#'
#' @param x Observed values, or a table of predictions (see [simplex()]), which holds both.
#' @param predicted Predicted values, as many as observed; only if `x` is no table.
#' @param na_rm Leave out pairs of which one is missing? If not, one of them makes all
#'   four `NA`.
#'
#' @return A data frame of one row:
#'   \describe{
#'     \item{MAE}{mean of |observed - predicted|, in units of the series}
#'     \item{rho}{Pearson's correlation; `NA` for fewer than 3 pairs and where either side
#'       is constant}
#'     \item{RMSE}{square root of the mean squared error, in units of the series}
#'     \item{CAE}{sum of |observed - predicted| ("cumulative absolute error"), in units of
#'       the series}
#'   }
#'   All but `rho` are there from one pair on. What is not finite counts as missing.
#'
#'   rEDM 2.0 and pyEDM 2.5 differ: their `MAE` is the largest of observed - predicted, not
#'   the mean of its size, they round all to six digits, and give nothing below five pairs.
#'
#' @section Errors:
#' What is not numeric, or of different lengths, raises an error of the class
#' `synfire_error_argument`.
#' @examples
#' prediction_error(c(1, 2, 3, NA), c(1.1, 1.9, 3.2, 4))
#' prediction_error(c(1, 2, 3, NA), c(1.1, 1.9, 3.2, 4), na_rm = FALSE)
#' @export
prediction_error <- function(x, predicted = NULL, na_rm = TRUE) {
  check_given(x = "observed values, or a table of predictions")
  na_rm <- check_flag(na_rm)
  if (is.data.frame(x)) {
    refuse_if(!all(c("Observations", "Predictions") %in% names(x)), "x",
              "a table with the columns Observations and Predictions", describe(x))
    refuse_if(!is.null(predicted), "predicted", "left out where `x` is a table",
              describe(predicted))
    predicted <- x$Predictions
    x <- x$Observations
  }
  x <- error_numbers(x, "x", "numeric")
  must <- sprintf("%d numbers, as `x`", length(x))
  predicted <- error_numbers(predicted, "predicted", must)
  if (length(predicted) != length(x)) abort_arg("predicted", must, describe(predicted))
  error_frame(x, predicted, na_rm)
}

#' @param observed,predicted Doubles, as many of the one as of the other.
#' @noRd
error_frame <- function(observed, predicted, na_rm = TRUE) {
  fit <- .Call(r_edm_fit, observed, predicted, 1L)
  if (!na_rm && fit$pairs < length(observed)) fit[] <- list(NA_real_)
  new_frame(fit[c("MAE", "rho", "RMSE", "CAE")], 1L)
}

#' Numbers as doubles; a time series is numbers, too
#' @noRd
error_numbers <- function(x, arg, must) {
  if (inherits(x, c("ts", "zoo"))) x <- as.vector(x)
  if (!is_plain_numeric(x)) abort_arg(arg, must, describe(x))
  as.double(x)
}

#' Pearson's correlation of pairs that are finite; NA below 3 pairs or for a constant
#'
#' @param predicted Doubles, or a matrix, each column of which has a correlation of its own.
#' @noRd
edm_rho <- function(observed, predicted, threads = 1L) {
  .Call(r_edm_fit, observed, predicted, threads)$rho
}

#' Are values equal to within the rounding of a weighted mean?
#' @noRd
is_constant <- function(x) {
  ends <- range(x)
  ends[[2L]] - ends[[1L]] <= 8 * .Machine$double.eps * max(abs(ends))
}
