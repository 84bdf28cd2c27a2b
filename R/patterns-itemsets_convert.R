# Itemsets and patterns as other packages hold sets.

#' Itemsets for arules
#'
#' Sets as the class `itemsets` of the package arules, to be inspected, filtered or drawn
#' (arulesViz) with its functions. In the other direction, [frequent_itemsets()] takes arules'
#' `transactions` and sparse matrices as they are.
#'
#' @param x A set of [itemsets] or `patterns`.
#' @return arules' `itemsets`; their quality measures are `support` (share of the
#'   transactions) and `count`. The items of `patterns` are all units at all lags of the
#'   window, lag 0 first, named `unit@lag`; their quality measure is the `count` alone, and
#'   the table of items has the columns `unit` and `lag` (in bins).
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; sets with 2^31 items
#' or more in total are one. There is an error where arules is not installed.
#' @examplesIf rlang::is_installed("arules")
#' baskets <- list(c("bread", "butter"), c("bread", "butter", "jam"), "jam")
#' as_arules(frequent_itemsets(baskets, min_count = 1, threads = 2))
#' @export
as_arules <- function(x) {
  check_given(x = "`itemsets` or `patterns`")
  refuse_if(isS4(x) || !inherits(x, "itemsets"), "x", "`itemsets` or `patterns`", describe(x),
            "Find some with `frequent_itemsets()` or `mine_patterns()`.")
  check_whole_sets(x, "x")
  rlang::check_installed("arules", "for its itemsets.")
  n <- as.double(length(.subset2(x, "items")))
  most <- .Machine$integer.max
  refuse_if(n > most, "x", sprintf("sets with at most %s items in total", commas(most)),
            sprintf("%s sets with %s", commas(length(x)), commas(n)), "Choose some of them.")
  # Its namespace defines the classes.
  classes <- asNamespace("arules")
  table <- item_table(x)
  held <- methods::new(methods::getClass("ngCMatrix", where = asNamespace("Matrix")),
                       i = .subset2(x, "items"), p = c(0L, cumsum(x$size)),
                       Dim = c(nrow(table), length(x)))
  sets <- methods::new(methods::getClass("itemMatrix", where = classes), data = held,
                       itemInfo = table)
  transactions <- attr(x, "transactions", exact = TRUE)
  quality <- data.frame(count = .subset2(x, "count"))
  if (!is.null(transactions)) quality <- data.frame(support = x$support, quality)
  methods::new(methods::getClass("itemsets", where = classes), items = sets, quality = quality)
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
