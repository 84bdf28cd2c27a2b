# The units of a recording: names, natural order, numbers of them for people.

#' A factor from codes that are known to be right
#' @noRd
as_factor <- function(code, levels) structure(code, levels = levels, class = "factor")

#' Units as a factor without missing values
#' @noRd
unit_factor <- function(unit, n, arg = "unit") {
  named <- unit_codes(unit, n, arg)
  as_factor(known_units(named, arg), named$levels)
}

#' Units as small numbers
#'
#' @return For each spike a `code`, for each code the number of its `unit` (0 where it is
#'   missing), and the `levels`, the names of the units.
#' @noRd
unit_codes <- function(unit, n, arg = "unit") {
  plain <- is.character(unit) || is.factor(unit) || is_plain_numeric(unit)
  refuse_if(!plain, arg, "a factor, character or numeric vector",
            if (is.object(unit)) sprintf("of class %s", class(unit)[[1L]]) else describe(unit))
  refuse_if(!length(unit) %in% c(1L, n), arg,
            sprintf("as long as `time` (%s), or of length 1", commas(n)),
            sprintf("of length %s", commas(length(unit))))
  named <- if (is.factor(unit)) factor_codes(unit) else value_codes(unit)
  if (length(unit) != n) named$code <- rep(named$code, n)
  named
}

factor_codes <- function(unit) {
  named <- levels(unit) %||% character()
  shown <- clean_text(named)
  known <- unique(shown[!is.na(named)])
  # The codes of a factor need no copy.
  list(code = if (typeof(unit) == "integer") unit else as.integer(unit),
       unit = match(shown, known, nomatch = 0L, incomparables = NA), levels = known)
}

value_codes <- function(unit) {
  found <- finish_status(.Call(r_distinct, unit), "naming the units of this recording")
  values <- found$values
  if (is.numeric(values)) {
    labels <- number_labels(values)
    labels[!is.finite(values)] <- NA_character_
    # Numbers equal to 15 digits share a label, so they are one unit.
    levels <- unique(labels[order(values, method = "radix")])
  } else {
    labels <- clean_text(values)
    levels <- unique(labels)
    levels <- levels[natural_order(levels)]
  }
  levels <- levels[!is.na(levels)]
  list(code = found$code, unit = match(labels, levels, nomatch = 0L, incomparables = NA),
       levels = levels)
}

#' The number of the unit of each spike, or an error where one has none
#' @noRd
known_units <- function(named, arg) {
  unit <- named$unit[named$code]
  missing_unit <- is.na(unit) | unit == 0L
  refuse_if(any(missing_unit), arg, "given for each spike",
            sprintf("missing for %s of %s spikes, the first in row %d", commas(sum(missing_unit)),
                    commas(length(missing_unit)), which(missing_unit)[[1L]]),
            "Drop these rows first, or name the unit.")
  unit
}

#' Labels without an exponent where the number is whole: 100000, not 1e+05
#' @noRd
number_labels <- function(values) {
  whole <- !is.na(values) & values == round(values) & abs(values) < 1e15
  out <- as.character(values)
  out[whole] <- sprintf("%.0f", values[whole] + 0)
  out
}

#' Order in which runs of digits count as numbers, the same in every locale
#'
#' Labels that are all plain numbers are ordered as numbers, so that -2 comes before -1.
#' @noRd
natural_order <- function(labels) {
  if (length(labels) == 0L) return(integer())
  plain <- "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$"
  if (all(grepl(plain, labels))) return(order(as.double(labels), labels, method = "radix"))
  at <- gregexpr("[0-9]+", labels)
  digits <- regmatches(labels, at)
  width <- max(0L, nchar(unlist(digits)))
  pad <- \(run) {
    run <- sub("^0+(?=.)", "", run, perl = TRUE)
    paste0(strrep("0", width - nchar(run)), run)
  }
  key <- labels
  regmatches(key, at) <- lapply(digits, pad)
  order(key, labels, method = "radix")
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

#' The table of units in the order of `levels`, or NULL
#'
#' @return Its `unit` is a factor with `levels`, and after them the units that the table
#'   alone names.
#' @noRd
check_unit_table <- function(table, levels, arg = "unit_table") {
  if (is.null(table)) return(NULL)
  refuse_if(!is.data.frame(table) || !"unit" %in% names(table), arg,
            "NULL, or a data frame with a column `unit`", some_columns(table))
  table <- as.data.frame(table)
  twice_named <- unique(names(table)[duplicated(names(table))])
  refuse_if(length(twice_named), arg, "a data frame with a different name for each column",
            sprintf("one with %s more than once", some(twice_named)))
  unit <- label_text(table[["unit"]])
  refuse_if(length(unit) != nrow(table) || anyNA(unit) || anyDuplicated(unit),
            sprintf("%s$unit", arg), "the name of a unit, a different one in each row",
            if (length(unit) != nrow(table)) describe(table[["unit"]]) else
              if (anyNA(unit)) "missing in some rows" else
                sprintf("the same in some rows: %s", some(unique(unit[duplicated(unit)]))))
  unknown <- setdiff(levels, unit)
  refuse_if(length(unknown), arg, "a table with a row for each unit",
            sprintf("without one for %s of %s units: %s", commas(length(unknown)),
                    commas(length(levels)), some(unknown)),
            "Add rows for them; what is not known of a unit may be NA.")
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
