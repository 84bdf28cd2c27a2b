# Delay vectors as a table.

#' Delay vectors of one or several series
#'
#' The coordinates that [simplex()] works in: each row of the table holds the value of a
#' series and of its lags (Takens 1981).
#'
#' @inheritParams simplex
#' @param columns Columns to embed, each with `E` lags.
#' @param E Number of coordinates for each column.
#'
#' @return A data frame with the rows of `x`: the time column under its own name (not with
#'   `no_time`), then for each column its lags 0, `tau`, 2 `tau`, ..., named like `x(t-0)`,
#'   `x(t-1)`. `NA` where a lag is outside the data or its segment. With the target bound
#'   to it, `simplex(embedded = TRUE)` takes it.
#'
#' @inheritSection simplex Errors
#' @references Takens F (1981). Detecting strange attractors in turbulence. *Lecture Notes
#'   in Mathematics* 898:366-381.
#' @seealso [embed_dimension()] finds an `E`.
#' @examples
#' x <- data.frame(year = 2001:2008, fish = c(3, 5, 2, 8, 6, 1, 4, 7))
#' delay_embed(x, "fish", E = 3)
#' delay_embed(x, "fish", E = 2, tau = 2)
#' @export
delay_embed <- function(x, columns = NULL, E, tau = -1, segments = NULL, no_time = FALSE) {
  check_given(x = "a data frame, its first column the time",
              E = "given, the number of lags of each column")
  data <- edm_data(x, columns, E = E, tau = tau, segments = segments, no_time = no_time)
  names <- coordinate_names(data)
  time <- if (!no_time) stats::setNames(list(data$time), data$time_name)
  all <- points_matrix(data$points)
  points <- lapply(seq_along(names), \(k) all[, k])
  new_frame(c(time, stats::setNames(points, names)), nrow(all))
}

#' Names of the coordinates of a point
#' @noRd
coordinate_names <- function(data) {
  if (data$embedded) return(data$columns)
  lags <- abs(data$tau) * (seq_len(data$E) - 1L)
  sign <- if (data$tau > 0L) "+" else "-"
  paste0(rep(data$columns, each = data$E), "(t", sign, lags, ")")
}
