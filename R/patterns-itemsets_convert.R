# Itemsets and patterns as other packages hold sets.

#' Itemsets as a sparse matrix or for arules
#'
#' `as_incidence()` gives the sets as a sparse matrix, for linear algebra, clustering or
#' the comparison of sets. `as_arules()` gives them as the class `itemsets` of the package
#' arules, to be inspected, filtered or drawn (arulesViz) with its functions.
#'
#' In the other direction, [frequent_itemsets()] takes arules' `transactions` and sparse
#' matrices as they are.
#'
#' @param x A set of [itemsets] or `patterns`.
#' @return
#' `as_incidence()`: a matrix of class `ngCMatrix` with a row for each item and a column
#' for each set, TRUE where the set holds the item. The items of `patterns` are all units
#' at all lags of the window, lag 0 first, named `unit@lag`.
#'
#' `as_arules()`: arules' `itemsets`, their quality measures `support` (share of the
#' transactions) and `count`; of patterns the `count` alone, and the columns `unit` and
#' `lag` (in bins) in the table of items.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; sets with 2^31 items
#' or more in total are one. There is an error where Matrix or arules is not installed.
#' @examplesIf rlang::is_installed("Matrix")
#' baskets <- list(c("bread", "butter"), c("bread", "butter", "jam"), "jam")
#' found <- closed_itemsets(baskets, min_count = 1, threads = 2)
#' as_incidence(found)
#' @examplesIf rlang::is_installed("arules")
#' as_arules(found)
#' @export
as_incidence <- function(x) {
  check_given(x = "`itemsets` or `patterns`")
  check_sets(x)
  rlang::check_installed("Matrix", "for sparse matrices.")
  n <- as.double(length(.subset2(x, "items")))
  most <- .Machine$integer.max
  refuse_if(n > most, "x", sprintf("sets with at most %s items in total", commas(most)),
            sprintf("%s sets with %s", commas(length(x)), commas(n)), "Choose some of them.")
  labels <- item_table(x)$labels
  class <- methods::getClass("ngCMatrix", where = asNamespace("Matrix"))
  methods::new(class, i = .subset2(x, "items"), p = c(0L, cumsum(x$size)),
               Dim = c(length(labels), length(x)), Dimnames = list(labels, NULL))
}

#' @rdname as_incidence
#' @export
as_arules <- function(x) {
  check_given(x = "`itemsets` or `patterns`")
  check_sets(x)
  rlang::check_installed("arules", "for its itemsets.")
  # Its namespace defines the classes.
  classes <- asNamespace("arules")
  incidence <- as_incidence(x)
  dimnames(incidence) <- list(NULL, NULL)
  held <- methods::new(methods::getClass("itemMatrix", where = classes),
                       data = incidence, itemInfo = item_table(x))
  transactions <- attr(x, "transactions", exact = TRUE)
  quality <- data.frame(count = .subset2(x, "count"))
  if (!is.null(transactions)) {
    quality <- data.frame(support = x$support, quality)
  }
  methods::new(methods::getClass("itemsets", where = classes), items = held, quality = quality)
}

check_sets <- function(x, call = rlang::caller_env()) {
  refuse_if(isS4(x) || !inherits(x, "itemsets"), "x", "`itemsets` or `patterns`", describe(x),
            "Find some with `frequent_itemsets()` or `mine_patterns()`.", call = call)
  check_whole_sets(x, "x", call)
}

#' Names of all items there may be, in order
#' @noRd
item_table <- function(x) {
  if (!inherits(x, "patterns")) return(data.frame(labels = attr(x, "labels", exact = TRUE)))
  units <- attr(x, "units", exact = TRUE)
  lags <- seq_len(attr(x, "window_bins", exact = TRUE)) - 1L
  unit <- rep(units, length(lags))
  lag <- rep(lags, each = length(units))
  data.frame(labels = paste0(unit, "@", lag), unit = unit, lag = lag)
}
