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
  call <- rlang::current_env()
  check_given(x = "a spike_trains object", value = "a data frame or NULL")
  # The old table may be what is wrong with it.
  if (inherits(x, "spike_trains")) attr(x, "unit_table") <- NULL
  check_spike_trains(x, "x", call)
  value <- check_unit_table(value, levels(.subset2(x, "unit")), call = call)
  if (!is.null(value)) {
    about <- attributes(x)
    x <- unclass(x)
    # New silent units come after the others, so that no code changes.
    x$unit <- structure(as.integer(x$unit), levels = levels(value$unit), class = "factor")
    attributes(x) <- about
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

#' The table of units in the order of `levels`, or NULL
#'
#' @return Its `unit` is a factor with `levels`, and after them the units that the table
#'   alone names.
#' @noRd
check_unit_table <- function(table, levels, arg = "unit_table", call = rlang::caller_env()) {
  if (is.null(table)) return(NULL)
  refuse_if(!is.data.frame(table) || !"unit" %in% names(table), arg,
            "NULL, or a data frame with a column `unit`",
            if (is.data.frame(table)) sprintf("a data frame with the columns %s",
                                              if (ncol(table)) some(names(table), 12L) else
                                                "(none)") else
              describe(table), call = call)
  table <- as.data.frame(table)
  twice_named <- unique(names(table)[duplicated(names(table))])
  refuse_if(length(twice_named), arg, "a data frame with a different name for each column",
            sprintf("one with %s more than once", some(twice_named)), call = call)
  unit <- label_text(table[["unit"]])
  refuse_if(length(unit) != nrow(table) || anyNA(unit) || anyDuplicated(unit),
            sprintf("%s$unit", arg), "the name of a unit, a different one in each row",
            if (length(unit) != nrow(table)) describe(table[["unit"]]) else
              if (anyNA(unit)) "missing in some rows" else
                sprintf("the same in some rows: %s", some(unique(unit[duplicated(unit)]))),
            call = call)
  unknown <- setdiff(levels, unit)
  refuse_if(length(unknown), arg, "a table with a row for each unit",
            sprintf("without one for %s of %s units: %s", commas(length(unknown)),
                    commas(length(levels)), some(unknown)),
            "Add rows for them; what is not known of a unit may be NA.", call = call)
  all_units <- c(levels, setdiff(unit, levels))
  in_order_of_units(table, unit, all_units)
}

#' Labels of units or trials as text; `character()` for what cannot name any
#' @noRd
label_text <- function(unit) {
  if (is.factor(unit)) unit <- as.character(unit)
  if (is_plain_numeric(unit)) {
    known <- is.finite(unit)
    unit <- replace(number_labels(unit), !known, NA_character_)
  }
  if (is.logical(unit) && !is.object(unit)) unit <- as.character(unit)
  if (is.character(unit)) clean_text(as.vector(unit)) else character()
}

#' Rows of a table for these units, and `unit` as a factor in front
#' @noRd
in_order_of_units <- function(table, unit, units) {
  table <- table[match(units, unit), , drop = FALSE]
  table$unit <- factor(units, levels = units)
  row.names(table) <- NULL
  table[c("unit", setdiff(names(table), "unit"))]
}

#' The table of units for some of them, or NULL
#'
#' @param units The levels that are left, in their new order.
#' @noRd
units_of_table <- function(table, units) {
  if (is.null(table)) return(NULL)
  in_order_of_units(table, as.character(table$unit), units)
}

#' What is wrong with the table of units of `x`, or NULL
#' @noRd
unit_table_fault <- function(x) {
  table <- attr(x, "unit_table", exact = TRUE)
  if (is.null(table)) return(NULL)
  levels <- levels(.subset2(x, "unit"))
  ok <- is.data.frame(table) && length(table) > 0L && names(table)[[1L]] == "unit" &&
    is.factor(.subset2(table, "unit")) &&
    identical(as.character(.subset2(table, "unit")), as.character(levels))
  if (!ok) {
    list(is = "its table of units has no row for each unit in the order of `levels(x$unit)`",
         hint = "Set it once more with `unit_table(x) <- table`.")
  }
}
