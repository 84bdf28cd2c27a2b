# Sets of items by the million, in flat arrays: what `itemsets` and `patterns` share.

#' @param items Integers, the items of all sets one after the other, increasing within a
#'   set.
#' @param runs List of `size` (integer) and `n` (double): sets of equal size in a row.
#' @param occurrences Integer, one for each set.
#' @param about Attributes that say where they come from; `labels` or, for patterns,
#'   `units` and `window`, are names of items.
#' @param class Classes before "itemsets".
#' @noRd
new_itemsets <- function(items, runs, occurrences, about, class = character()) {
  x <- structure(list(items = items, runs = runs, occurrences = occurrences),
                 class = c(class, "itemsets"))
  attributes(x)[names(about)] <- about
  x
}

#' @export
length.itemsets <- function(x) length(.subset2(x, "occurrences"))
