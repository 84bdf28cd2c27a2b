# Sets of items by the million, in flat arrays: what `itemsets` and `patterns` share.

#' @param items Integers, the items of all sets one after the other, increasing within a
#'   set.
#' @param runs List of `size` (integer) and `n` (double): sets of equal size in a row.
#' @param count Integer, one for each set.
#' @param about Attributes that say where they come from; `labels` or, for patterns,
#'   `units` and `window` are what the items mean.
#' @param class Classes before "itemsets". There has to be one: S4 methods go by the name
#'   of the first class, and arules has some for its own "itemsets".
#' @noRd
new_itemsets <- function(items, runs, count, about, class = "mined_itemsets") {
  x <- structure(list(items = items, runs = runs, count = count),
                 class = c(class, "itemsets", "synfire_result"))
  attributes(x)[names(about)] <- about
  x
}

about_itemsets <- function(x) {
  about <- attributes(x)
  about[setdiff(names(about), c("names", "class"))]
}

#' Itemsets and spike patterns
#'
#' What [mine_patterns()] and [frequent_itemsets()] find: millions of sets, kept in three
#' flat arrays and shown as a table when asked. All of this takes seconds at most for
#' millions of sets, but [as.data.frame()] of them all.
#'
#' # What there is
#' `length(x)` is the number of sets. `x$size` gives the number of items of each, and
#' `x$count` how many transactions hold it, or for patterns how many windows. Itemsets have
#' `x$support`, the share of the transactions that hold each. Patterns have `x$n_units`, how
#' many different units, and `x$duration`, the time from the first bin to that of the last
#' spike, in seconds (its lag in bins times the bin size).
#' `format(x)` and `as.character(x)` spell the sets out: `{a, b}` for items; `A@0 B@3
#' C@7` for a pattern in which B fires 3 and C 7 bins after the bin of A. Sets found in
#' two ways are compared by these names, `format(x) %in% format(y)`.
#'
#' # Storage
#' `x$items` holds the items of all sets one after the other, increasing within a set, as
#' whole numbers from 0: places among the labels of the items less 1, for patterns
#' `lag * n + unit - 1` with `n` units, lags in bins and places among the units.
#' `x$runs` is a list of `size` and `n`: so many sets of that size follow each other.
#' `x$count` has an integer for each set. Two engines found the same if these three are
#' [identical()].
#'
#' @param x,object A set of `patterns` or `itemsets`.
#' @param i Which sets: numbers, all positive (repeats allowed) or all negative, or TRUE
#'   or FALSE for each.
#' @param name One of the columns above, or of the three arrays.
#' @param decreasing TRUE for the largest first.
#' @param by What to sort by, names of columns: `"count"` (the default) and `"size"`, for
#'   itemsets also `"support"`, for patterns `"n_units"` and `"duration"`. Ties
#'   are settled by the next one, and then stay in the order they are in.
#' @param condition Which sets to keep: an expression of the same columns, such as
#'   `size >= 4 & count > 20`.
#' @param items,units Keep sets that hold these items, or spikes of these units.
#' @param match `"all"` of them or `"any"`.
#' @param n How many sets to print: the largest ones and among them the most frequent,
#'   each with its number in `x`; after `sort()` the first ones.
#' @param row.names Names for the rows of the table, or `NULL`.
#' @param optional Not used; R gives it to every method.
#' @param times Add the list of the times at which the windows of each pattern open?
#' @param long A row for each spike of each pattern, without columns of lists, as
#'   [utils::write.csv()] needs it? Not with `times`.
#' @param ... Not used; must be empty.
#'
#' @return
#' `[`, `sort()`, `subset()`, `unique()`, [head()] and [tail()] give the same class; so
#' does `c()`, which keeps the attributes that all have in common. `$` gives a vector,
#' `format()` and `as.character()` a name for each set. `as.list()` gives a character
#' vector of items for each set; for each pattern an integer vector of lags, in bins, named
#' by the units. `duplicated()` is TRUE for each set that has been there before.
#'
#' `as.data.frame()` gives a row for each set: `items` (list of character vectors), `size`,
#' `count` and `support` (a share), for patterns
#'   \describe{
#'     \item{pattern}{its name}
#'     \item{size}{number of spikes}
#'     \item{units}{list of character vectors, the units in order of their lags}
#'     \item{lags}{list of integers, in bins from the opening of the window}
#'     \item{count}{number of windows}
#'     \item{duration}{seconds from the first bin to that of the last spike}
#'     \item{times}{list of numbers, the opening of each window in seconds; only with
#'       `times = TRUE`, from the recording that was mined}
#'   }
#' With `long = TRUE` there is a row for each spike of each pattern: `number` (place of the
#' pattern in `x`), `pattern`, `size`, `count`, `duration`, and of the spike `unit`,
#' `lag` (bins) and `delay` (the same in seconds).
#'
#' `summary()` gives a list: `by_size`, a data frame with the number of sets of each size
#' and the least, median and most occurrences, and the `engine`, `device`, `threads`, `elapsed`
#' (s, the whole call), `mining_elapsed` (s, the search) and `peak_memory` (bytes).
#'
#' @section Errors:
#' Errors about an argument, sets that are not there among them, have the class
#' `synfire_error_argument`.
#' @seealso [pattern_occurrences()] for the windows of patterns;
#'   [as_arules()] for other packages.
#' @examples
#' set.seed(1)
#' x <- simulate_patterns(duration = 20, units = 8)
#' found <- mine_patterns(x, bin_size = 0.005, window_bins = 10, min_spikes = 3, min_count = 10,
#'                        threads = 2)
#' found
#' summary(found)
#' sort(found, by = c("size", "count"))[1:3]
#' few <- subset(found, duration <= 0.025, units = c("u01", "u02"))
#' head(as.data.frame(few, times = TRUE))
#' head(as.data.frame(few, long = TRUE))
#' @name itemsets
#' @aliases patterns
NULL

#' @rdname itemsets
#' @export
length.itemsets <- function(x) length(.subset2(x, "count"))

# ---- Columns -------------------------------------------------------------------------

#' Columns of one value a set, by name: functions, as some take a while
#' @noRd
itemset_columns <- function(x) UseMethod("itemset_columns")

#' @export
itemset_columns.itemsets <- function(x) {
  list(size = itemset_sizes, count = itemset_counts, support = itemset_supports)
}

itemset_sizes <- function(x) {
  runs <- .subset2(x, "runs")
  rep(runs$size, runs$n)
}

itemset_counts <- function(x) .subset2(x, "count")

#' Shares of the transactions; NA for sets whose number of transactions is not known
#' @noRd
itemset_supports <- function(x) {
  itemset_counts(x) / max(1, attr(x, "transactions", exact = TRUE) %||% NA)
}

#' What the members of sets are called: units of patterns, labels of items
#' @noRd
part_labels <- function(x) {
  as.character(attr(x, "units", exact = TRUE) %||% attr(x, "labels", exact = TRUE))
}

#' @rdname itemsets
#' @export
`$.itemsets` <- function(x, name) {
  if (name %in% c("items", "runs", "count")) return(.subset2(x, name))
  columns <- itemset_columns(x)
  refuse_if(!name %in% names(columns), "name", sprintf("one of %s", toString(dollar_names(x))),
            name)
  columns[[name]](x)
}

#' @rdname itemsets
#' @export
`[[.itemsets` <- function(x, i, ...) {
  if (is.character(i) && length(i) == 1L && !is.na(i)) return(`$.itemsets`(x, i))
  abort_arg("i", sprintf("one of %s", toString(dollar_names(x))), describe(i),
            "`x[i]` chooses sets by their numbers.")
}

dollar_names <- function(x) c(names(itemset_columns(x)), "items", "runs")

#' @importFrom utils .DollarNames
#' @export
.DollarNames.itemsets <- function(x, pattern = "") {
  grep(pattern, dollar_names(x), value = TRUE)
}

# str() would take the sets for elements.
#' @importFrom utils str
#' @export
str.itemsets <- function(object, ...) utils::str(unclass(object), ...)

# ---- Choosing ------------------------------------------------------------------------

#' Where sets are: how many items come before each, and its size
#' @noRd
locate_sets <- function(x, i) {
  runs <- .subset2(x, "runs")
  # Sets and items up to the end of each run; counted from the end, nothing is put before.
  sets <- cumsum(runs$n)
  run <- findInterval(i - 1, sets) + 1L
  size <- runs$size[run]
  items <- cumsum(runs$n * runs$size)[run]
  list(before = items - (sets[run] - (i - 1)) * size, size = size)
}

#' @param i Numbers of sets, none out of range.
#' @noRd
take_sets <- function(x, i) {
  at <- locate_sets(x, i)
  runs <- rle(at$size)
  new_itemsets(take_items(x, at), list(size = runs$values, n = as.double(runs$lengths)),
               .subset2(x, "count")[i], about_itemsets(x), set_class(x))
}

#' Items of the sets at given places, some sets at a time: indices take more than items
#' @noRd
take_items <- function(x, at) {
  items <- .subset2(x, "items")
  taken <- integer(sum(as.double(at$size)))
  filled <- 0
  for (sets in pieces(length(at$size), 2^16)) {
    size <- at$size[sets]
    from <- rep(at$before[sets] - c(0, cumsum(size[-length(size)])), size)
    here <- seq_along(from)
    taken[filled + here] <- items[from + here]
    filled <- filled + length(here)
  }
  taken
}

set_class <- function(x) setdiff(class(x), c("itemsets", "synfire_result"))

#' @rdname itemsets
#' @export
`[.itemsets` <- function(x, i, ...) {
  check_no_dots()
  if (missing(i)) return(x)
  i <- set_numbers(i, length(x))
  out <- take_sets(x, i)
  # Printing and drawing keep to an order that the user made.
  if (is.unsorted(i)) structure(out, sorted_by = "number") else out
}

#' Numbers of the sets that an index means
#' @noRd
set_numbers <- function(i, n) {
  wrong <- \(is) abort_arg("i", sprintf(paste("numbers from 1 to %s, all negative ones, or TRUE or",
                                              "FALSE for each set"), commas(n)), is)
  if (is.logical(i)) {
    if (length(i) != n || anyNA(i)) wrong(if (anyNA(i)) "NA for some" else describe(i))
    return(which(i))
  }
  if (!is.numeric(i) || is.object(i)) wrong(describe(i))
  if (length(i) == 0L) return(integer())
  bounds <- range(i)
  if (anyNA(bounds)) wrong("NA for some")
  if (bounds[[2L]] > n || bounds[[1L]] < -n || bounds[[1L]] < 0 && bounds[[2L]] > 0) {
    wrong(paste(unique(exact(bounds)), collapse = " to "))
  }
  if (is.double(i) && any(i != round(i))) wrong("not whole for some")
  # Negative ones leave out, and 0 means none, as everywhere in R.
  if (bounds[[1L]] <= 0) seq_len(n)[i] else i
}

#' @importFrom utils head
#' @export
head.itemsets <- function(x, n = 6L, ...) {
  check_no_dots()
  n <- check_count(n, min = -Inf, infinite = TRUE)
  take_sets(x, seq_len(if (n < 0) max(0, length(x) + n) else min(n, length(x))))
}

#' @importFrom utils tail
#' @export
tail.itemsets <- function(x, n = 6L, ...) {
  check_no_dots()
  n <- check_count(n, min = -Inf, infinite = TRUE)
  left <- if (n < 0) max(0, length(x) + n) else min(n, length(x))
  take_sets(x, length(x) - left + seq_len(left))
}

#' @rdname itemsets
#' @export
sort.itemsets <- function(x, decreasing = TRUE, by = NULL, ...) {
  begin_method(x)
  decreasing <- check_flag(decreasing)
  columns <- itemset_columns(x)
  by <- by %||% names(columns)[[2L]]
  refuse_if(!is.character(by) || length(by) == 0L || !all(by %in% names(columns)), "by",
            sprintf("among %s", toString(names(columns))), some(format(by)))
  keys <- lapply(unname(columns[by]), \(column) column(x))
  x <- take_sets(x, do.call(order, c(keys, list(decreasing = decreasing, method = "radix"))))
  # Printing and drawing keep to an order that was asked for.
  structure(x, sorted_by = by)
}

#' @rdname itemsets
#' @export
subset.itemsets <- function(x, condition, items = NULL, match = c("all", "any"), ...) {
  check_no_dots()
  match <- check_choice(match)
  condition <- if (!missing(condition)) substitute(condition)
  keep_sets(x, condition, parent.frame(), items, match, "items")
}

#' Sets that meet a condition and hold the members that are asked for
#'
#' @param condition An expression, in which columns are known by their names, or `NULL`.
#' @param parent The environment of the user's call.
#' @param wanted,match Names of members, or `NULL`, and whether `"all"` or `"any"` must be there.
#' @param arg What the user calls them.
#' @noRd
keep_sets <- function(x, condition, parent, wanted, match, arg) {
  check_whole_sets(x, "x")
  columns <- itemset_columns(x)
  known <- new.env(parent = parent)
  lapply(names(columns), \(name) delayedAssign(name, columns[[name]](x), assign.env = known))
  keep <- eval(condition, known) %||% rep(TRUE, length(x))
  refuse_if(!is.logical(keep) || length(keep) != length(x), "condition",
            "TRUE or FALSE for each set", describe(keep))
  if (!is.null(wanted)) keep <- keep & holding(x, wanted, match, arg)
  take_sets(x, which(keep))
}

#' Which sets hold all or any of some labels
#' @noRd
holding <- function(x, wanted, match, arg) {
  labels <- part_labels(x)
  if (is_plain_numeric(wanted)) wanted <- number_labels(wanted)
  refuse_if(!is.character(wanted) && !is.factor(wanted), arg, "names", describe(wanted))
  wanted <- unique(as.character(wanted))
  unknown <- setdiff(wanted, labels)
  refuse_if(length(unknown), arg, sprintf("among the %s %s", commas(length(labels)), arg),
            sprintf("not, for %s", some(encodeString(unknown, quote = "\""))))
  codes <- match(wanted, labels) - 1L
  by_size(x, logical(length(x)), function(rows) {
    parts <- lapply(rows, `%%`, length(labels))
    some <- \(codes) Reduce(`|`, lapply(parts, `%in%`, codes))
    if (match == "any") return(some(codes))
    Reduce(`&`, lapply(codes, some), rep(TRUE, length(rows[[1L]])))
  })
}

#' A value for each set, from the items of sets of one size
#'
#' @param do Called with a list of vectors, the first, second ... items of some sets of one size;
#'   gives a value for each set.
#' @param init What the values are like; as long as `x`.
#' @param at_once Most sets of a call.
#' @noRd
by_size <- function(x, init, do, at_once = 2^16) {
  runs <- .subset2(x, "runs")
  items <- .subset2(x, "items")
  sets_before <- c(0, cumsum(runs$n))
  items_before <- c(0, cumsum(runs$n * runs$size))
  for (of_size in split(seq_along(runs$size), runs$size)) {
    size <- runs$size[[of_size[[1L]]]]
    # Sets found by a search are sorted by size: no need to list where they are.
    sorted <- length(of_size) == 1L
    sets <- if (!sorted) sequence(runs$n[of_size], sets_before[of_size] + 1)
    listed <- if (!sorted) locate_sets(x, sets)$before
    for (k in pieces(sum(runs$n[of_size]), at_once)) {
      before <- if (sorted) items_before[[of_size]] + (k - 1) * size else listed[k]
      init[if (sorted) sets_before[[of_size]] + k else sets[k]] <-
        do(lapply(seq_len(size), \(place) items[before + place]))
    }
  }
  init
}

#' @rdname itemsets
#' @param incomparables Not used.
#' @export
duplicated.itemsets <- function(x, incomparables = FALSE, ...) {
  begin_method(x)
  by_size(x, logical(length(x)), function(rows) {
    # Stable: among equal ones the first stays first.
    o <- do.call(order, c(rows, list(method = "radix")))
    n <- length(o)
    same <- rep(TRUE, n - 1L)
    for (row in rows) same <- same & row[o[-1L]] == row[o[-n]]
    again <- logical(n)
    again[o[-1L]] <- same
    again
  }, at_once = length(x))
}

#' @rdname itemsets
#' @export
unique.itemsets <- function(x, incomparables = FALSE, ...) {
  begin_method(x)
  take_sets(x, which(!duplicated(x)))
}

#' @rdname itemsets
#' @export
c.itemsets <- function(...) {
  parts <- list(...)
  first <- parts[[1L]]
  meaning <- c("class", "units", "window_bins", "bin_size", "labels")
  for (other in parts[-1L]) {
    refuse_if(!inherits(other, "itemsets") ||
                !identical(attributes(other)[meaning], attributes(first)[meaning]), "...",
              "sets of the same items; for patterns, units, window and bin size",
              if (inherits(other, "itemsets")) "of different ones" else describe(other))
  }
  about <- about_itemsets(first)
  common <- vapply(names(about), \(name) {
    all(vapply(parts, \(x) identical(attr(x, name, exact = TRUE), about[[name]]), NA))
  }, NA)
  join <- \(get) unlist(lapply(parts, get), use.names = FALSE)
  new_itemsets(join(\(x) .subset2(x, "items")), list(size = join(\(x) .subset2(x, "runs")$size),
                                                     n = join(\(x) .subset2(x, "runs")$n)),
               join(itemset_counts), about[common & names(about) != "sorted_by"],
               set_class(first))
}

# ---- Names ---------------------------------------------------------------------------

#' @rdname itemsets
#' @export
format.itemsets <- function(x, ...) {
  check_whole_sets(x, "x")
  labels <- attr(x, "labels", exact = TRUE)
  by_size(x, character(length(x)), function(rows) {
    paste0("{", do.call(paste, c(lapply(rows, \(items) labels[items + 1L]), sep = ", ")), "}")
  })
}

#' @rdname itemsets
#' @export
as.character.itemsets <- function(x, ...) format(x)

#' Whole numbers as a factor, without a look at each
#' @noRd
numbered <- function(codes, n) {
  structure(codes, levels = as.character(seq_len(n)), class = "factor")
}

#' Cut a vector with one element an item into a list with one a set
#'
#' @param at_once Most sets that are cut in one call of R's, which nothing can interrupt.
#' @noRd
split_sets <- function(x, values, at_once = 2^16) {
  size <- itemset_sizes(x)
  end <- cumsum(as.double(size))
  out <- vector("list", length(x))
  for (k in pieces(length(x), at_once)) {
    before <- end[[k[[1L]]]] - size[[k[[1L]]]]
    own <- values[before + seq_len(end[[k[[length(k)]]]] - before)]
    out[k] <- unname(split(own, numbered(rep(seq_along(k), size[k]), length(k))))
  }
  out
}

#' @rdname itemsets
#' @export
as.list.itemsets <- function(x, ...) {
  check_whole_sets(x, "x")
  split_sets(x, attr(x, "labels", exact = TRUE)[.subset2(x, "items") + 1L])
}

#' @rdname itemsets
#' @export
as.data.frame.itemsets <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_no_dots(but = frame_arguments)
  check_whole_sets(x, "x")
  new_frame(list(items = as.list(x), size = x$size, count = x$count, support = x$support),
            length(x), row.names)
}

#' @export
as.matrix.itemsets <- function(x, ...) {
  abort_arg("x", "a table", describe(x),
            "`as.data.frame()` makes a table of sets.")
}
