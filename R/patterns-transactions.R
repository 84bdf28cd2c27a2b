# Transactions: sets of items in the forms users hold them, made into flat arrays.

#' Transactions as flat arrays
#'
#' @param x What `frequent_itemsets()` takes: a list of vectors, a data frame, a matrix
#'   or a sparse matrix with a row for each transaction, or arules' `transactions`.
#' @return List of `first` (whole doubles, from 0, one more than transactions), `item`
#'   (integers from 0; transaction t holds `item[first[t] + 1]` up to
#'   `item[first[t + 1]]`, in any order, repeated where `x` repeats them), `items` (how
#'   many different ones there may be) and `labels` (their names).
#' @noRd
as_transactions_parts <- function(x, arg = rlang::caller_arg(x)) {
  if (inherits(x, "itemMatrix")) return(arules_parts(x))
  if (inherits(x, "Matrix")) return(sparse_parts(x, arg))
  if (is.data.frame(x)) return(table_parts(x, arg))
  if (is.matrix(x)) return(matrix_parts(x, arg))
  if (is.list(x) && !is.object(x)) return(list_parts(x, arg))
  abort_arg(arg, transactions_must, describe(x))
}

transactions_must <- paste(
  "a list of vectors, a data frame, a matrix or a sparse matrix with a row for each",
  "transaction, or arules' transactions"
)

# ---- Lists ---------------------------------------------------------------------------

list_parts <- function(x, arg) {
  n <- lengths(x, use.names = FALSE)
  kind <- item_kinds(x)
  odd <- which(is.na(kind))
  refuse_if(length(odd), arg, "a list of character vectors, factors or whole numbers",
            sprintf("%s in transaction %s", describe(x[[odd[[1L]]]]), commas(odd[[1L]])))
  named <- kind %in% c("text", "factor")
  refuse_if(any(named) && any(kind == "number"), arg,
            "a list with items of one kind, names or numbers",
            sprintf("names in transaction %s and numbers in transaction %s",
                    commas(which(named)[[1L]]), commas(which(kind == "number")[[1L]])))
  # unlist() would give the codes of a factor where another vector is none.
  factors <- which(kind == "factor")
  x[factors] <- lapply(x[factors], as.character)
  item <- unlist(x[n > 0L], use.names = FALSE) %||% integer()
  first <- c(0, cumsum(as.double(n)))
  missing <- which(is.na(item))
  if (length(missing)) abort_missing(findInterval(missing[[1L]] - 1, first), arg)
  if (any(kind == "number")) check_item_numbers(item, first, arg)
  ids <- sort(unique(item), method = "radix")
  list(first = first, item = match(item, ids) - 1L, items = length(ids),
       labels = if (is.numeric(ids)) number_labels(ids) else as.character(ids))
}

#' What item_kind() gives for the elements of a list
#' @noRd
item_kinds <- function(x) {
  kind <- rep("text", length(x))
  # This is a primitive, so it is asked of millions soon.
  other <- which(!vapply(x, is.character, NA, USE.NAMES = FALSE))
  kind[other] <- vapply(x[other], item_kind, "", USE.NAMES = FALSE)
  kind
}

#' "text", "factor", "number" or "none", NA for what cannot hold items
#' @noRd
item_kind <- function(x) {
  if (is.character(x)) return("text")
  if (is.factor(x)) return("factor")
  if (is.numeric(x) && !is.object(x)) return("number")
  # NA alone is logical; the error calls it missing.
  if (length(x) == 0L || is.logical(x) && all(is.na(x))) return("none")
  NA_character_
}

check_item_numbers <- function(item, first, arg) {
  wrong <- which(abs(item) > .Machine$integer.max | item != round(item))
  refuse_if(length(wrong), arg, "a list of whole numbers up to 2^31 - 1, where items are numbers",
            sprintf("%s in transaction %s", exact(item[[wrong[[1L]]]]),
                    commas(findInterval(wrong[[1L]] - 1, first))))
}

abort_missing <- function(transaction, arg) {
  abort_arg(arg, "transactions without missing items",
            sprintf("NA in transaction %s", commas(transaction)), "Leave out what is not known.")
}

# ---- Tables --------------------------------------------------------------------------

matrix_parts <- function(x, arg) {
  refuse_if(!is.logical(x) && !is_plain_numeric(x), arg,
            "logical, or numbers with 0 for what a transaction does not hold, as a matrix",
            describe(x))
  at <- which(is.na(x) | x != 0, arr.ind = TRUE, useNames = FALSE)
  missing <- is.na(x[at])
  if (any(missing)) abort_missing(min(at[missing, 1L]), arg)
  row_parts(at[, 1L], at[, 2L] - 1L, nrow(x), column_labels(x, arg))
}

sparse_parts <- function(x, arg) {
  rlang::check_installed("Matrix", "to read sparse matrices.", call = user_frame())
  labels <- column_labels(x, arg)
  x <- methods::as(methods::as(x, "CsparseMatrix"), "generalMatrix")
  row <- x@i + 1L
  item <- rep(seq_len(ncol(x)) - 1L, diff(x@p))
  # A pattern matrix has no values.
  if (!inherits(x, "nMatrix")) {
    if (anyNA(x@x)) abort_missing(min(row[is.na(x@x)]), arg)
    held <- x@x != 0
    row <- row[held]
    item <- item[held]
  }
  row_parts(row, item, nrow(x), labels)
}

#' Logical columns are items; of others each value is one, named column=value
#' @noRd
table_parts <- function(x, arg) {
  is_flag <- vapply(x, is.logical, NA)
  is_text <- vapply(x, \(column) is.factor(column) || is.character(column), NA)
  odd <- which(!is_flag & !is_text)
  refuse_if(length(odd), arg, "a data frame of logical columns, factors or character vectors",
            sprintf("%s in column \"%s\"", kind_of(x[[odd[[1L]]]]), names(x)[[odd[[1L]]]]),
            "Cut numbers into intervals with cut().")
  missing <- vapply(x, \(column) match(TRUE, is.na(column)), 0L, USE.NAMES = FALSE)
  if (!all(is.na(missing))) abort_missing(min(missing, na.rm = TRUE), arg)
  columns <- lapply(x, \(column) if (is.logical(column)) which(column) else seq_along(column))
  names <- Map(function(column, name, rows) {
    if (is.logical(column)) rep(name, length(rows)) else paste0(name, "=", column)
  }, x, names(x), columns)
  names <- as.character(unlist(names, use.names = FALSE))
  labels <- sort(unique(names), method = "radix")
  row_parts(as.integer(unlist(columns, use.names = FALSE)), match(names, labels) - 1L,
            nrow(x), labels)
}

#' Entries of a table, row by row
#' @noRd
row_parts <- function(row, item, rows, labels) {
  list(first = c(0, cumsum(as.double(tabulate(row, rows)))),
       item = item[order(row, method = "radix")], items = length(labels), labels = labels)
}

column_labels <- function(x, arg) {
  labels <- colnames(x) %||% as.character(seq_len(ncol(x)))
  again <- labels[duplicated(labels)]
  refuse_if(length(again), arg, "a matrix whose columns have different names",
            sprintf("not: \"%s\" names several", again[[1L]]))
  labels
}

# arules keeps a column for each transaction.
arules_parts <- function(x) {
  list(first = as.double(x@data@p), item = x@data@i, items = nrow(x@data),
       labels = as.character(x@itemInfo$labels))
}
