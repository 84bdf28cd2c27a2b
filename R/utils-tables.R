# Tables of results: what they stay when rows or columns of them are chosen or changed.
#
# A result that is a data frame has the class `synfire_table` before "data.frame". What
# comes out of `[`, `$<-`, `[[<-`, `[<-`, `names<-`, rbind(), merge(), transform() and the
# verbs of dplyr is either a result of the same class, whole and with all it knows, or a
# plain data frame; never something in between:
#
# * Rows may be chosen and ordered freely. Rows that are not there (NA) make it plain, and
#   so does any choice of rows where these mean something only together (signatures).
# * Columns may be added, and added ones changed. Losing, renaming or changing one of its
#   own columns makes it plain, except for the count and support of episodes.
# * Rows of two results together are a plain data frame, unless both are parts of one.
#   Episodes stay episodes, and forget where they are from.
# * as.data.frame(), tibble::as_tibble() and data.table::as.data.table() give plain tables,
#   also of results that are no data frames. The user's order of rows is what is printed
#   and drawn, unless a title says otherwise.

#' @param columns Named list of columns, each as long as the others, or a data frame.
#' @param class Classes before "synfire_table".
#' @param about Named list of attributes that say where it comes from.
#' @noRd
new_table <- function(columns, class, about = list()) {
  rows <- if (length(columns)) length(columns[[1L]]) else 0L
  attributes(columns) <- c(
    list(names = names(columns), row.names = .set_row_names(rows),
         class = c(class, "synfire_table", "data.frame"), columns = names(columns), rows = rows),
    about
  )
  columns
}

#' The columns that make a table what it is; others were added by the user
#' @noRd
own_columns <- function(x) attr(x, "columns", exact = TRUE) %||% names(x)

#' The same columns as a plain data frame; nothing is copied
#' @noRd
plain_table <- function(x) {
  # attr() would write out the numbers of millions of rows.
  attributes(x) <- list(names = names(x), row.names = .row_names_info(x, 0L),
                        class = "data.frame")
  x
}

#' A data frame made from `x`, with all that `x` knows about itself
#' @noRd
whole_again <- function(out, x) {
  about <- attributes(x)
  about <- about[setdiff(names(about), c("names", "row.names"))]
  attributes(out)[names(about)] <- about
  if (is.numeric(attr(out, "row.names"))) attr(out, "row.names") <- .set_row_names(nrow(out))
  out
}

#' Whether each row of a table is there, and has what the class needs
#' @noRd
rows_are_there <- function(x, class = x) UseMethod("rows_are_there", class)

#' @export
rows_are_there.default <- function(x, class = x) {
  !anyNA(.subset2(x, own_columns(class)[[1L]]))
}

#' What is left of `x` after rows or columns of it were chosen
#'
#' Numbers of rows that do not rise say that the user put them into an order: printing and
#' drawing keep to it.
#' @noRd
chosen_from <- function(out, x) {
  if (!all(own_columns(x) %in% names(out)) || !rows_are_there(out, x)) return(plain_table(out))
  numbers <- attr(out, "row.names")
  out <- whole_again(out, x)
  if (is.integer(numbers) && is.unsorted(numbers)) attr(out, "ordered") <- TRUE
  out
}

#' What `x` is after its columns were changed
#' @noRd
changed_from <- function(out, x) UseMethod("changed_from", x)

#' @export
changed_from.default <- function(out, x) {
  own <- own_columns(x)
  same <- all(own %in% names(out)) && all(vapply(setdiff(own, free_columns(x)), \(name) {
    identical(.subset2(x, name), .subset2(out, name))
  }, NA)) && is_sound_change(x, out)
  if (same) whole_again(out, x) else plain_table(out)
}

#' Its own columns that may change, and whether a table with these changes is sound
#' @noRd
free_columns <- function(x) UseMethod("free_columns")
#' @export
free_columns.default <- function(x) NULL
#' @noRd
is_sound_change <- function(x, out) UseMethod("is_sound_change")
#' @export
is_sound_change.default <- function(x, out) TRUE

#' Tables of one class as one table of that class, or NULL where there is none
#' @noRd
join_tables <- function(x, parts) UseMethod("join_tables")
#' @export
join_tables.default <- function(x, parts) NULL

# ---- Choosing and changing -----------------------------------------------------------

#' @export
`[.synfire_table` <- function(x, ...) {
  out <- NextMethod()
  if (is.data.frame(out)) chosen_from(out, x) else out
}

#' @export
`$<-.synfire_table` <- function(x, name, value) {
  out <- plain_table(x)
  out[[name]] <- value
  changed_from(out, x)
}

#' @export
`$<-.spike_trains` <- `$<-.synfire_table`

#' @export
`[[<-.synfire_table` <- function(x, i, j, value) {
  out <- plain_table(x)
  if (missing(j)) out[[i]] <- value else out[[i, j]] <- value
  changed_from(out, x)
}

#' @export
`[[<-.spike_trains` <- `[[<-.synfire_table`

#' @export
`[<-.synfire_table` <- function(x, i, j, value) {
  out <- plain_table(x)
  if (nargs() < 4L) {
    if (missing(i)) out[] <- value else out[i] <- value
  } else {
    out[i, j] <- value
  }
  changed_from(out, x)
}

#' @export
`[<-.spike_trains` <- `[<-.synfire_table`

#' @export
`names<-.synfire_table` <- function(x, value) {
  out <- plain_table(x)
  names(out) <- value
  changed_from(out, x)
}

#' @export
`names<-.spike_trains` <- `names<-.synfire_table`

#' @export
rbind.synfire_table <- function(..., deparse.level = 1) {
  parts <- list(...)
  parts <- parts[!vapply(parts, is.null, NA)]
  joined <- join_tables(parts[[1L]], parts)
  if (!is.null(joined)) return(joined)
  bare <- lapply(parts, \(part) if (inherits(part, "synfire_table")) plain_table(part) else part)
  out <- do.call(rbind, c(bare, list(deparse.level = deparse.level)))
  if (are_parts_of_one(parts)) chosen_from(out, parts[[1L]]) else out
}

#' Whether tables say the same about where they come from
#' @noRd
are_parts_of_one <- function(parts) {
  about <- lapply(parts, \(part) {
    known <- attributes(part)
    known[sort(setdiff(names(known), c("names", "row.names", "ordered")))]
  })
  all(vapply(about[-1L], identical, NA, about[[1L]]))
}

# ---- As a plain table ----------------------------------------------------------------

# What data.frame(), cbind() and R itself give to every as.data.frame().
frame_arguments <- c("stringsAsFactors", "make.names", "cut.names", "col.names",
                     "fix.empty.names", "check.names", "nm")

#' A plain data frame of columns, with the row names that were asked for
#' @noRd
new_frame <- function(columns, rows, row.names = NULL) {
  attr(columns, "row.names") <- .set_row_names(rows)
  class(columns) <- "data.frame"
  if (!is.null(row.names)) row.names(columns) <- row.names
  columns
}

#' @export
as.data.frame.synfire_table <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_no_dots(but = frame_arguments)
  out <- plain_table(x)
  if (!is.null(row.names)) row.names(out) <- row.names
  out
}

#' Results as tibbles and as tables of data.table
#'
#' `tibble::as_tibble()` and `data.table::as.data.table()` take every result of this
#' package. They give the table that [as.data.frame()] gives, and take the same arguments.
#'
#' @param x A result.
#' @param ... Arguments of the `as.data.frame()` method of the result, such as
#'   `long = TRUE` for patterns.
#' @param .rows,.name_repair As for `tibble::as_tibble()`.
#' @param keep.rownames Not used.
#' @return A tibble, or a `data.table`.
#' @examplesIf rlang::is_installed("tibble")
#' tibble::as_tibble(mine_episodes(songbird, 16, c(0.02, 0.12), threads = 2))
#' @name as_tibble.synfire_table
#' @exportS3Method tibble::as_tibble
as_tibble.synfire_table <- function(x, ..., .rows = NULL, .name_repair = "check_unique") {
  tibble::as_tibble(as.data.frame(x, ...), .rows = .rows, .name_repair = .name_repair)
}

#' @exportS3Method tibble::as_tibble
as_tibble.synfire_result <- as_tibble.synfire_table
#' @exportS3Method tibble::as_tibble
as_tibble.causal_map <- as_tibble.synfire_table

#' @rdname as_tibble.synfire_table
#' @exportS3Method data.table::as.data.table
as.data.table.synfire_table <- function(x, keep.rownames = FALSE, ...) {
  data.table::as.data.table(as.data.frame(x, ...))
}

#' @exportS3Method data.table::as.data.table
as.data.table.synfire_result <- as.data.table.synfire_table
#' @exportS3Method data.table::as.data.table
as.data.table.causal_map <- as.data.table.synfire_table

# What the verbs of dplyr do with a data frame of a class: choose rows, change columns,
# and everything else.

#' @exportS3Method dplyr::dplyr_row_slice
dplyr_row_slice.synfire_table <- function(data, i, ...) data[i, , drop = FALSE]

#' @exportS3Method dplyr::dplyr_col_modify
dplyr_col_modify.synfire_table <- function(data, cols) {
  out <- plain_table(data)
  for (name in names(cols)) out[[name]] <- cols[[name]]
  changed_from(out, data)
}

#' @exportS3Method dplyr::dplyr_col_modify
dplyr_col_modify.spike_trains <- dplyr_col_modify.synfire_table

#' @exportS3Method dplyr::dplyr_reconstruct
dplyr_reconstruct.synfire_table <- function(data, template) plain_table(data)

#' The matrix or array without class and attributes of ours
#' @noRd
plain_array <- function(x) {
  attributes(x) <- list(dim = dim(x), dimnames = dimnames(x))
  x
}

#' A data frame of columns that are known to be right, in a fraction of the time
#' @noRd
plain_frame <- function(...) {
  columns <- list(...)
  new_frame(columns, length(columns[[1L]]))
}
