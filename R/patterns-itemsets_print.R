# Itemsets and patterns on the screen: titles, the table that print() shows, the summary.

#' "7 itemsets", of some of those found "3 of 7 itemsets"
#' @noRd
sets_text <- function(x, one) {
  n <- length(x)
  all <- attr(x, "mined", exact = TRUE) %||% n
  if (n == all) counted(n, one) else sprintf("%s of %s", commas(n), counted(all, one))
}

#' Lines that say what a set of sets is
#' @noRd
itemset_title <- function(x) UseMethod("itemset_title")

#' @export
itemset_title.itemsets <- function(x) {
  n <- length(x)
  target <- attr(x, "target", exact = TRUE)
  transactions <- attr(x, "transactions", exact = TRUE)
  paste0("# ", sets_text(x, trimws(paste(target, "itemset"))),
         if (n > 0L) sprintf(" of up to %s items", commas(max(x$runs$size))),
         if (!is.null(transactions)) {
           least <- attr(x, "parameters", exact = TRUE)$min_count
           sprintf(", %s of %s transactions", if (is.null(least)) "in some" else
             paste("each in at least", commas(least)), commas(transactions))
         })
}

#' Sets for the screen, in pieces that can be left out
#' @noRd
set_pieces <- function(x) UseMethod("set_pieces")

#' @export
set_pieces.itemsets <- function(x) {
  lapply(as.list(x), \(items) {
    n <- length(items)
    paste0(c("{", rep(", ", n))[seq_len(n)], items, rep(c("", "}"), c(n - 1L, 1L)))
  })
}

#' Columns of the table on the screen, without the name
#' @noRd
shown_columns <- function(x) UseMethod("shown_columns")

#' @export
shown_columns.itemsets <- function(x) {
  list(size = x$size, count = x$count, support = signif(x$support, 3))
}

#' The first `n` sets when the largest come first and, among them, the most frequent
#' @noRd
largest_sets <- function(x, n) {
  runs <- .subset2(x, "runs")
  before <- cumsum(runs$n) - runs$n
  found <- integer()
  for (size in rev(which(tabulate(runs$size) > 0L))) {
    if (length(found) >= n) break
    of <- which(runs$size == size)
    if (length(runs$size) == 1L) return(top_rows(.subset2(x, "count"), n))
    sets <- sequence(runs$n[of], before[of] + 1)
    found <- c(found, sets[top_rows(.subset2(x, "count")[sets], n - length(found))])
  }
  found
}

#' @rdname itemsets
#' @export
print.itemsets <- function(x, n = 10, ...) {
  # S4 objects of arules' class of the same name come here, too.
  if (isS4(x)) return(methods::show(x))
  n <- check_count(n, min = 0, infinite = TRUE)
  check_whole_sets(x, "x")
  cat(itemset_title(x), sep = "\n")
  if (length(x) > 0L) {
    sorted <- !is.null(attr(x, "sorted_by", exact = TRUE))
    o <- if (sorted) seq_len(min(n, length(x))) else largest_sets(x, n)
    shown <- take_sets(x, o)
    print_left(as.data.frame(c(list("no." = o), shown_columns(shown)), optional = TRUE),
               rlang::set_names(list(set_pieces(shown)),
                                if (inherits(x, "patterns")) "pattern" else "items"))
    more_line(length(x) - length(o), if (!sorted) "largest first here")
  }
  invisible(x)
}

#' The sets least likely to be as frequent by chance, or NULL where nothing says so
#' @noRd
surprising_sets <- function(x) UseMethod("surprising_sets")

#' @export
surprising_sets.itemsets <- function(x) NULL

#' @rdname itemsets
#' @export
summary.itemsets <- function(object, ...) {
  begin_method(object)
  runs <- object$runs
  before <- cumsum(runs$n) - runs$n
  counts <- lapply(split(seq_along(runs$size), runs$size), function(of) {
    object$count[sequence(runs$n[of], before[of] + 1)]
  })
  about <- c("engine", "device", "threads", "elapsed", "mining_elapsed", "peak_memory")
  structure(c(list(title = itemset_title(object), by_size = counts_by_size(
    counts, if (inherits(object, "patterns")) "patterns" else "itemsets"
  )), rlang::set_names(attributes(object)[about], about),
  list(surprising = surprising_sets(object))), class = "summary.itemsets")
}

#' @export
print.summary.itemsets <- function(x, ...) {
  cat(x$title, sep = "\n")
  print_surprising(x$surprising, "spade()")
  if (nrow(x$by_size) > 0L) {
    cat("\nOccurrences by size\n")
    shown <- x$by_size
    shown[-1L] <- lapply(shown[-1L], format, big.mark = ",", scientific = FALSE)
    print(shown, row.names = FALSE)
  }
  if (!is.null(x$engine)) {
    cat(sprintf("\nengine \"%s\"%s, %s, %s s (%s s of them mining), %s at most\n", x$engine,
                if (identical(x$device, "gpu")) " on a GPU" else "", counted(x$threads, "thread"),
                format(x$elapsed, digits = 3), format(x$mining_elapsed, digits = 3),
                bytes_text(x$peak_memory)))
  }
  invisible(x)
}
