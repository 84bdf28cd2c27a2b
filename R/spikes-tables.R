# The two tables that a recording carries: what is known of its trials and of its units.

#' The tables of trials and of units of a recording
#'
#' `trial_table()` gives what is known about each trial, such as its condition.
#' `unit_table()` gives what is known about each unit, such as its area, depth, quality,
#' position or electrode. `unit_table(x) <- table` sets the table of units. A part of a
#' recording keeps the rows of its own trials and units. Pictures use the columns `area`,
#' `depth`, `x` and `y` where they are there.
#'
#' @param x A [spike_trains] object.
#' @param value `NULL` for none, or a data frame with a column `unit`, which names each
#'   unit of `x` once, and any further columns. Rows may be in any order. A unit that has
#'   no spike in `x` becomes a level of `x$unit`: a silent unit.
#' @return `trial_table()`: `NULL`, or a data frame with a row for each trial, in their
#'   order in time, and the columns `trial`, `start` and `end` (both in seconds), then
#'   those that were given.
#'
#'   `unit_table()`: `NULL`, or a data frame with a row for each level of `x$unit`, in
#'   their order, and the column `unit`, a factor with these levels, then those that were
#'   given.
#' @section Errors:
#' For a table without a column `unit`, with a unit twice, or without a row for a unit
#' that has spikes (`synfire_error_argument`).
#' @examples
#' x <- spike_trains(
#'   c(0.1, 0.2, 1.1), c("A", "B", "A"),
#'   trials = data.frame(start = c(0, 1), end = c(0.5, 1.5), condition = c("go", "stop")),
#'   unit_table = data.frame(unit = c("A", "B", "C"), area = c("CA1", "CA3", "CA3"))
#' )
#' trial_table(x)
#' unit_table(x)
#' unit_table(x)$depth <- c(100, 250, 300)  # micrometres
#' unit_table(x[unit = c("C", "A")])
#' @export
unit_table <- function(x) {
  check_given(x = "a spike_trains object")
  check_spike_trains(x)
  attr(x, "unit_table", exact = TRUE)
}

#' @rdname unit_table
#' @export
`unit_table<-` <- function(x, value) {
  check_given(x = "a spike_trains object", value = "a data frame or NULL")
  # The old table may be what is wrong with it.
  if (inherits(x, "spike_trains")) attr(x, "unit_table") <- NULL
  check_spike_trains(x, "x")
  value <- check_unit_table(value, levels(.subset2(x, "unit")))
  if (!is.null(value)) {
    columns <- unclass(x)
    # New silent units come after the others, so that no code changes.
    columns$unit <- as_factor(as.integer(x$unit), levels(value$unit))
    x <- with_columns(x, columns)
  }
  attr(x, "unit_table") <- value
  x
}

#' @rdname unit_table
#' @export
trial_table <- function(x) {
  check_given(x = "a spike_trains object")
  check_spike_trains(x)
  attr(x, "trials", exact = TRUE)
}
