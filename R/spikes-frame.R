# Recordings as data frames: a function that changes a column of a recording gives a plain data
# frame.

#' @export
rbind.spike_trains <- function(..., deparse.level = 1) {
  parts <- list(...)
  parts <- parts[!vapply(parts, is.null, logical(1))]
  # Intervals, clocks and trials of different recordings have no common meaning.
  same <- all(vapply(parts, inherits, logical(1), what = "spike_trains")) &&
    length(unique(lapply(parts, \(x) own_attributes(x)[own_names != "unit_table"]))) == 1L
  plain <- lapply(parts, \(x) if (inherits(x, "spike_trains")) bare_columns(x) else x)
  out <- do.call(rbind, plain)
  if (!same || !is.data.frame(out)) return(out)
  own <- own_attributes(parts[[1L]])
  tables <- lapply(parts, attr, "unit_table", exact = TRUE)
  own["unit_table"] <- list(one_unit_table(tables, levels(out$unit)))
  with_attributes(out, own)
}

#' One table of units from several, or NULL where they differ in columns or contradict
#' @noRd
one_unit_table <- function(tables, units) {
  columns <- lapply(tables, names)
  if (any(lengths(tables) == 0L) || length(unique(columns)) != 1L) return(NULL)
  all_rows <- unique(do.call(rbind, tables))
  unit <- as.character(all_rows$unit)
  if (anyDuplicated(unit) || !setequal(unit, units)) return(NULL)
  in_order_of_units(all_rows, unit, units)
}

# What the verbs of dplyr do with a data frame of a class: choose rows, change columns,
# and everything else.

#' @exportS3Method dplyr::dplyr_row_slice
dplyr_row_slice.spike_trains <- function(data, i, ...) {
  rows <- seq_len(.row_names_info(data, 2L))[i]
  # A recording has no other order, and no spike twice.
  if (!is.unsorted(rows, strictly = TRUE)) return(data[rows, ])
  plain <- as.data.frame(data)
  with_attributes(plain[rows, , drop = FALSE], own_attributes(data))
}

#' @exportS3Method dplyr::dplyr_reconstruct
dplyr_reconstruct.spike_trains <- function(data, template) bare_columns(data)

#' @exportS3Method tibble::as_tibble
as_tibble.spike_trains <- function(x, ...) tibble::as_tibble(as.data.frame(x), ...)

#' @exportS3Method data.table::as.data.table
as.data.table.spike_trains <- function(x, ...) data.table::as.data.table(as.data.frame(x), ...)

# ---- Plain data frames -------------------------------------------------------------------

own_names <- c("start", "end", "resolution", "trials", "unit_table")

#' What a recording says beside its spikes
#' @noRd
own_attributes <- function(x) {
  rlang::set_names(lapply(own_names, \(name) attr(x, name, exact = TRUE)), own_names)
}

with_attributes <- function(x, own) {
  for (name in names(own)) attr(x, name) <- own[[name]]
  x
}

#' Its columns as a plain data frame, and nothing else
#' @noRd
bare_columns <- function(x) {
  parts <- unclass(x)
  named <- names(parts)
  attributes(parts) <- NULL
  rows <- if (length(parts)) length(parts[[1L]]) else 0L
  structure(parts, names = named, class = "data.frame", row.names = .set_row_names(rows))
}

#' A recording whose columns were changed is a plain table that keeps its attributes
#' @noRd
#' @exportS3Method
changed_from.spike_trains <- function(out, x) with_attributes(out, own_attributes(x))

#' @rdname as_spike_trains
#' @param row.names `NULL`, or names for the rows.
#' @param optional,stringsAsFactors As for any data frame; they change nothing.
#' @export
as.data.frame.spike_trains <- function(x, row.names = NULL, optional = FALSE, ...,
                                       stringsAsFactors = FALSE) {
  check_flag(stringsAsFactors)
  out <- bare_columns(x)
  trials <- attr(x, "trials", exact = TRUE)
  # An object that somebody broke has a table all the same: it is the way to mend it.
  if (!is.null(trials) && is.null(columns_fault(x)) && is.null(clock_fault(x)) &&
        is.null(trials_fault(x))) {
    out$trial <- trials$trial[trial_of(x)]
  }
  if (!is.null(row.names)) row.names(out) <- row.names
  with_attributes(out, own_attributes(x))
}
