# Checks that sets of items are sound: a set that was changed by hand would lead the code that
# reads it astray.

#' Error unless sets are as a search leaves them: who changes their parts by hand may err
#' @noRd
check_whole_sets <- function(x, arg) {
  wrong <- broken_part(x)
  refuse_if(!is.null(wrong), arg, "as it was found, or chosen from that with `[`",
            sprintf("an object whose %s was changed", wrong),
            "`as.data.frame()` gives a table to change.")
}

#' @export
check_sound.itemsets <- function(x, arg) check_whole_sets(x, arg)

#' Which part of sets cannot be right, or NULL
#' @noRd
broken_part <- function(x) {
  if (!is.list(x)) return("contents")
  runs <- .subset2(x, "runs")
  items <- .subset2(x, "items")
  count <- .subset2(x, "count")
  counts <- \(v, least) {
    # A choice among millions of sets has millions of runs. Fractions among them are looked
    # for in some: they rarely add up to as many sets as there are.
    some <- if (length(v) > 1e5) even_steps(length(v), 1e5) else seq_along(v)
    is_plain_numeric(v) && !anyNA(v) && (length(v) == 0L || min(v) >= least) &&
      (is.integer(v) || all(v[some] == round(v[some])))
  }
  if (!is.list(runs) || !is.integer(runs$size) || length(runs$size) != length(runs$n) ||
      !counts(runs$size, 1) || !counts(runs$n, 0)) {
    return("`runs`")
  }
  if (!is.integer(count) || length(count) != sum(runs$n)) return("`count`")
  if (!is.integer(items) || length(items) != sum(runs$n * runs$size)) return("`items`")
  lags <- inherits(x, "patterns")
  labels <- attr(x, if (lags) "units" else "labels", exact = TRUE)
  window <- if (lags) attr(x, "window_bins", exact = TRUE) else 1
  bin_size <- attr(x, "bin_size", exact = TRUE)
  if (!is.character(labels)) return("list of names")
  if (!(is_number(window) && window >= 1)) return("`window_bins`")
  # range() would copy them first.
  if (length(items) > 0L && (anyNA(items) || min(items) < 0L ||
                               max(items) >= window * length(labels))) {
    return("`items`")
  }
  if (lags && !(is_number(bin_size) && is.finite(bin_size) && bin_size > 0)) return("`bin_size`")
}

check_patterns <- function(patterns) {
  refuse_if(!inherits(patterns, "patterns"), "patterns",
            "what `mine_patterns()` gives, or some of it", describe(patterns))
  check_whole_sets(patterns, "patterns")
}

no_sets <- function(x) length(.subset2(x, "count")) == 0L
