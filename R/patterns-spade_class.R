# The result of spade(): as a table, in print, and summed up in words.

#' Results of SPADE
#'
#' What [spade()] returns, and the tables of its stages, in words and as plain tables.
#'
#' @param x,object What [spade()] returned, its `summary()`, or what [pattern_spectrum()],
#'   [pvalue_spectrum()] or [test_signatures()] did.
#' @param i Which patterns: numbers, all positive or all negative, or TRUE or FALSE for
#'   each.
#' @param times Whether to add the times of the occurrences, a list column.
#' @param long Whether to give a row for each spike of each pattern, without columns of
#'   lists, as [utils::write.csv()] needs it; not with `times`.
#' @param n How many patterns or signatures to print: those with the smallest p values, and
#'   among them the largest and most frequent; of tables, the first.
#' @param row.names Names for the rows of the table, or `NULL`.
#' @param optional Not used; R gives it to every method.
#' @param ... Not used, must be empty.
#' @return
#' * `length()`: the number of patterns. `[`: the same result with some of them; what was
#'   mined and tested stays.
#' * `format()`: a line for each pattern.
#' * `as.data.frame()`: a row for each pattern: `pattern` (as text), `size`, `units` and
#'   `lags` (lists; lags in bins), `count`, `duration` (s), `p`, `p_adjusted`, the
#'   stability where it was asked for, and with `times` a list of `times` (s). With `long`
#'   there is a row for each spike of each pattern: `number` (place of the pattern in `x`),
#'   `pattern`, `size`, `count`, `duration`, `p`, `p_adjusted`, stability, and of the
#'   spike `unit`, `lag` (bins) and `delay` (the same in seconds).
#' * Of the other tables `as.data.frame()` and `[` give plain data frames, all or a part.
#' * `summary()`: an object of class `summary.spade` with the element `words`, in which its
#'   `print()` says what was mined, what was tested, and what was found. A p value of 0 is
#'   shown as less than `1 / (n + 1)`, for `n` surrogates.
#' @seealso [spade()], [autoplot.spade()].
#' @examples
#' set.seed(1)
#' x <- simulate_patterns(duration = 30, units = 10, rate = 4)
#' found <- spade(x, bin_size = 0.005, window_bins = 8, min_count = 4, n_surrogates = 100,
#'                threads = 2)
#' as.data.frame(found, times = TRUE)
#' head(as.data.frame(found, long = TRUE))
#' format(found[1])
#' found$tests
#' @name spade_tables
#' @aliases summary.spade signature_tests
NULL

#' @rdname spade_tables
#' @export
length.spade <- function(x) length(.subset2(x, "patterns"))

#' @export
str.spade <- function(object, ...) utils::str(unclass(object), ...)

#' @rdname spade_tables
#' @export
`[.spade` <- function(x, i, ...) {
  begin_method(x)
  if (missing(i)) return(x)
  i <- set_numbers(i, length(x))
  parts <- unclass(x)
  parts$patterns <- parts$patterns[i]
  parts$p <- parts$p[i]
  parts$p_adjusted <- parts$p_adjusted[i]
  if (!is.null(parts$stability)) parts$stability <- take_rows(parts$stability, i)
  structure(parts, class = class(x))
}

#' @rdname spade_tables
#' @export
as.data.frame.spade <- function(x, row.names = NULL, optional = FALSE, ..., times = FALSE,
                                long = FALSE) {
  check_no_dots(but = frame_arguments)
  check_sound(x, "x")
  found <- c(list(p = x$p, p_adjusted = x$p_adjusted), as.list(x$stability)[-1L])
  if (check_long(long, times)) return(long_table(x$patterns, found))
  columns <- as.list(as.data.frame(x$patterns, times = times))
  columns <- append(columns, found, match("duration", names(columns)))
  new_frame(columns, length(x), row.names)
}

#' @rdname spade_tables
#' @export
format.spade <- function(x, ...) {
  begin_method(x)
  shown <- shown_p(x)
  sprintf("%s  (%s times, p %s)", format(x$patterns), commas_each(x$patterns$count), shown$p)
}

#' p values of the patterns for the screen, raw and adjusted: a list of `p`, `p_adjusted`
#' @noRd
shown_p <- function(x) {
  if (is.null(x$tests)) {
    unknown <- rep("unknown", length(x))
    return(list(p = unknown, p_adjusted = unknown))
  }
  lapply(tests_shown(x$tests), `[`, signature_rows(x$patterns, x$tests))
}

#' p values of tests for the screen; of those that are 0, what they are less than
#' @noRd
tests_shown <- function(tests) {
  text <- \(p, bound) paste0(ifelse(p %in% 0, "< ", ""), short_p(bound))
  list(p = text(tests$p, p_bound(tests)),
       p_adjusted = text(tests$p_adjusted, adjusted_bound(tests)))
}

#' p values, and in place of 0 what they are less than, raw and adjusted
#' @noRd
p_bound <- function(tests) {
  n <- attr(attr(tests, "pvalues", exact = TRUE), "n_surrogates", exact = TRUE)
  pmax(tests$p, 1 / (n + 1))
}

adjusted_bound <- function(tests) {
  bound <- tests$p_adjusted
  bound[tests$tested] <- adjust_p(p_bound(tests)[tests$tested],
                                  attr(tests, "correction", exact = TRUE),
                                  attr(tests, "alpha", exact = TRUE))
  bound
}

#' @export
check_sound.spade <- function(x, arg) {
  parts <- unclass(x)
  if (!is.list(parts) || !are_spade(parts)) abort_changed(arg, "what `spade()` gives")
}

are_spade <- function(parts) {
  patterns <- \(p) inherits(p, "patterns")
  number <- \(v) is_plain_numeric(v) && length(v) == 1L
  chosen <- parts$parameters
  text <- c("surrogate", "correction", "spectrum", "p_estimator", "reduction")
  numbers <- c("n_surrogates", "alpha", "min_spikes", "max_spikes", "min_count", "max_count",
               "min_units")
  patterns(parts$patterns) && patterns(parts$mined) && is.list(chosen) &&
    all(vapply(chosen[text], \(v) is.character(v) && length(v) == 1L, NA)) &&
    all(vapply(chosen[numbers], number, NA)) &&
    is.double(parts$p) && length(parts$p) == length(parts$patterns) &&
    is.double(parts$p_adjusted) && length(parts$p_adjusted) == length(parts$patterns) &&
    (is.null(parts$stability) ||
       is.data.frame(parts$stability) && nrow(parts$stability) == length(parts$patterns)) &&
    inherits(parts$spectrum, "pattern_spectrum") && is_spectrum(parts$spectrum, "patterns") &&
    number(parts$significant) && number(parts$explained) &&
    (is.null(parts$unstable) || number(parts$unstable)) &&
    is.character(parts$device) && length(parts$device) == 1L && number(parts$threads) &&
    is.numeric(parts$elapsed) &&
    (is.null(parts$tests) || inherits(parts$tests, "signature_tests") && are_tests(parts$tests)) &&
    (is.null(parts$pvalues) ||
       inherits(parts$pvalues, "pvalue_spectrum") && are_pvalues(parts$pvalues)) &&
    is.null(parts$tests) == is.null(parts$pvalues)
}

# ---- Printing ------------------------------------------------------------------------

#' @rdname spade_tables
#' @export
print.spade <- function(x, n = 10, ...) {
  begin_method(x)
  n <- check_count(n, min = 0, infinite = TRUE)
  cat(spade_title(x), sep = "\n")
  if (length(x) == 0L) {
    words <- c(found_words(x), if (!is.null(x$tests)) {
      trimws(too_few_words(x, attr(x$tests, "tests", exact = TRUE)))
    })
    cat(words_wrapped(words), sep = "\n")
  } else {
    sorted <- !is.null(attr(x$patterns, "sorted_by", exact = TRUE))
    o <- if (sorted) seq_along(x$p) else {
      order(x$p, -x$patterns$size, -x$patterns$count, method = "radix")
    }
    o <- utils::head(o, n)
    shown <- take_sets(x$patterns, o)
    p <- lapply(shown_p(x), `[`, o)
    names(p) <- c("p", "adjusted")
    print_left(as.data.frame(c(list("no." = o), shown_columns(shown), p), optional = TRUE),
               list(pattern = set_pieces(shown)))
    more_line(length(x) - length(o), if (!sorted) "smallest p first here")
  }
  invisible(x)
}

spade_title <- function(x) {
  n <- length(x)
  left <- found_in_all(x)
  chosen <- x$parameters
  what <- paste(if (left == 1L) "pattern" else "patterns",
                if (n > 0L) sprintf("of up to %s spikes", commas(max(x$patterns$size))))
  # Some may have been chosen.
  how_many <- if (n == left) commas(n) else paste(commas(n), "of", commas(left))
  first <- if (chosen$n_surrogates == 0) {
    sprintf("# %s spike %s, without p values: no surrogates", how_many, trimws(what))
  } else {
    sprintf("# %s significant spike %s, of %s found", if (left == 0L) "No" else how_many,
            trimws(what), commas(length(x$mined)))
  }
  c(first, utils::tail(itemset_title(x$mined), 1L),
    if (!is.null(x$tests)) sprintf("# %s (%s), %s tested, alpha %s (%s)",
                                   counted(chosen$n_surrogates, "surrogate"), chosen$surrogate,
                                   counted(attr(x$tests, "tests"), "signature"),
                                   exact(chosen$alpha), chosen$correction))
}

#' How many patterns spade() gave, of which `x` may have some
#' @noRd
found_in_all <- function(x) {
  from <- if (x$parameters$n_surrogates == 0) length(x$mined) else x$significant
  from - (x$unstable %||% 0L) - x$explained
}

#' @rdname spade_tables
#' @export
summary.spade <- function(object, ...) {
  begin_method(object)
  words <- c(Mined = mined_words(object), Surrogates = surrogate_words(object),
             Tested = tested_words(object), Found = found_words(object),
             Took = elapsed_words(object))
  structure(list(title = spade_title(object)[[1L]], words = words), class = "summary.spade")
}

#' @export
print.summary.spade <- function(x, ...) {
  cat(x$title, "", sep = "\n")
  cat(words_wrapped(sprintf("%s: %s", names(x$words), x$words)), sep = "\n")
  invisible(x)
}

mined_words <- function(x) {
  chosen <- x$parameters
  recording <- own_recording(x$mined)
  upto <- \(low, high) if (is.finite(high)) paste(commas(low), "to", commas(high)) else
    paste(commas(low), "or more")
  sprintf(paste("%s of %s spikes and %s occurrences, of at least %s, in bins of %s ms and windows",
                "of %s; %s, %s s."), counted(length(x$mined), "closed pattern"),
          upto(chosen$min_spikes, chosen$max_spikes), upto(chosen$min_count, chosen$max_count),
          counted(chosen$min_units, "unit"),
          exact(1000 * attr(x$mined, "bin_size", exact = TRUE)),
          counted(attr(x$mined, "window_bins", exact = TRUE), "bin"),
          counted(nlevels(recording$unit), "unit"),
          commas(round(attr(recording, "end") - attr(recording, "start"), 3)))
}

surrogate_words <- function(x) {
  n <- x$parameters$n_surrogates
  if (n == 0) return("None were asked for, so there are no p values, and nothing was tested.")
  if (is.null(x$pvalues)) return("None were made, as there is no pattern to test.")
  made <- attr(x$pvalues, "surrogate", exact = TRUE)$parameters
  sprintf("%s, made by the method \"%s\"%s and mined with the same filters.",
          counted(n, "surrogate"), x$parameters$surrogate,
          if (length(made) == 0L) "" else
            sprintf(" (%s)", paste(names(made), "=", format_each(unlist(made)), collapse = ", ")))
}

tested_words <- function(x) {
  tests <- x$tests
  if (is.null(tests)) return(NULL)
  m <- attr(tests, "tests", exact = TRUE)
  kind <- if (x$parameters$spectrum == "3d#") "size, duration and occurrences" else
    "size and occurrences"
  left <- nrow(tests) - m
  significant <- sum(tests$significant)
  paste0(sprintf("%s (%s) that patterns have", counted(m, "signature"), kind),
         if (left > 0L) sprintf("; %s left out, as every surrogate reaches %s",
                                if (left == 1L) "1 more is" else paste(commas(left), "more are"),
                                if (left == 1L) "it" else "them"),
         sprintf(". With alpha = %s and %s, %s.", exact(x$parameters$alpha),
                 if (x$parameters$correction == "none") "no correction for many tests" else
                   sprintf("the correction \"%s\"", x$parameters$correction),
                 if (significant == 0L) "none is significant" else
                   sprintf("%s significant", they_are(significant))), too_few_words(x, m))
}

#' That surrogates are too few for the tests, if so
#' @noRd
too_few_words <- function(x, m) {
  n <- x$parameters$n_surrogates
  if (x$parameters$p_estimator == "k/n") return(zero_words(x, n))
  enough <- sufficient_p(m, x$parameters$correction, x$parameters$alpha)
  if (m == 0L || reaches(1 / (n + 1), enough)) return(NULL)
  sprintf(paste(" Among %s, a single one is significant with p of %s at most, and %s can give",
                "no less than %s: use %s or more."), counted(m, "test"), short_p(enough),
          counted(n, "surrogate"), short_p(1 / (n + 1)), commas(ceiling((1 - 1e-9) / enough) - 1))
}

#' That p values are 0 because there are too few surrogates, if that makes signatures significant
#' @noRd
zero_words <- function(x, n) {
  zero <- x$tests$significant & x$tests$p == 0
  bound <- adjusted_bound(x$tests)[zero]
  if (all(reaches(bound, x$parameters$alpha))) return(NULL)
  sprintf(paste(" Of these %s significant with a p value of 0, of which %s say no more than",
                "that it is less than %s, adjusted less than %s: use more."), they_are(sum(zero)),
          counted(n, "surrogate"), short_p(1 / (n + 1)), short_p(max(bound)))
}

found_words <- function(x) {
  if (length(x$mined) == 0L) return("No pattern passes the filters.")
  unstable <- if (!is.null(x$unstable)) {
    sprintf("%s not stable enough.", they_are(x$unstable))
  }
  if (x$parameters$n_surrogates == 0) {
    return(paste(c(unstable, best_words(x)), collapse = " "))
  }
  if (x$significant == 0L) return("No significant pattern.")
  reduced <- if (x$parameters$reduction != "none" && x$significant > (x$unstable %||% 0L)) {
    sprintf("Of these %s explained by others (%s), which leaves %s.", they_are(x$explained),
            x$parameters$reduction, counted(found_in_all(x), "pattern"))
  }
  paste(c(paste(counted(x$significant, "pattern"), "with a significant signature."),
          if (!is.null(unstable)) paste("Of these", unstable), reduced, best_words(x)),
          collapse = " ")
}

#' The largest pattern, spelt out
#' @noRd
best_words <- function(x) {
  if (length(x) == 0L) return(NULL)
  best <- x[order(-x$patterns$size, -x$patterns$count)[[1L]]]
  p <- if (is.null(x$tests)) "" else sprintf(", p %s, adjusted %s", shown_p(best)$p,
                                             shown_p(best)$p_adjusted)
  sprintf("Largest: %s, %s%s.", format(best$patterns), counted(best$patterns$count, "time"), p)
}

elapsed_words <- function(x) {
  where <- if (x$device == "gpu") "surrogates on the GPU" else counted(x$threads, "thread")
  sprintf("%s; %s.", paste(sprintf("%s %s s", names(x$elapsed), format_each(signif(x$elapsed, 2))),
                           collapse = ", "), where)
}

# ---- The tables of the stages ----------------------------------------------------------

#' @rdname spade_tables
#' @export
print.pattern_spectrum <- function(x, n = 10, ...) {
  begin_method(x)
  print_signatures(x, n, sprintf("# %s of %s", counted(nrow(x), "signature"),
                                 counted(sum(x$patterns), "pattern")), as.data.frame(x))
}

#' @rdname spade_tables
#' @export
print.pvalue_spectrum <- function(x, n = 10, ...) {
  begin_method(x)
  title <- sprintf("# %s that some of %s reach", counted(nrow(x), "signature"),
                   counted(attr(x, "n_surrogates"), "surrogate"))
  print_signatures(x, n, title, as.data.frame(x))
}

#' @rdname spade_tables
#' @export
print.signature_tests <- function(x, n = 10, ...) {
  begin_method(x)
  frame <- as.data.frame(x)
  title <- sprintf("# %s of %s significant, %s tested, alpha %s (%s)",
                   commas(sum(x$significant)), counted(nrow(x), "signature"),
                   commas(attr(x, "tests")), exact(attr(x, "alpha")), attr(x, "correction"))
  frame[c("p", "p_adjusted")] <- tests_shown(x)
  o <- order(!x$significant, x$p, method = "radix")
  print_signatures(x, n, title, frame[o, ], "significant first here")
}

#' @param shown What is printed, a plain data frame.
#' @noRd
print_signatures <- function(x, n, title, shown, order = NULL) {
  n <- check_count(n, min = 0, infinite = TRUE)
  cat(title, sep = "\n")
  if (nrow(shown) > 0L) {
    if (!is.null(shown$duration)) shown$duration <- 1000 * shown$duration
    names(shown)[names(shown) == "duration"] <- "duration (ms)"
    print(first_rows(shown, n), row.names = FALSE)
    more_line(nrow(shown) - n, order)
  }
  invisible(x)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.spade <- function(x, ...) {
  begin_method(x)
  found <- x$patterns
  tidy_frame(term = format(found), size = found$size, estimate = found$count,
             duration = found$duration, p.value = x$p, adj.p.value = x$p_adjusted)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.spade <- function(x, ...) {
  begin_method(x)
  tidy_frame(patterns = length(x), mined = length(x$mined), alpha = x$parameters$alpha,
             n_surrogates = x$parameters$n_surrogates)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.signature_tests <- function(x, ...) {
  begin_method(x)
  term <- paste0("size ", x$size, if (!is.null(x$duration)) {
    sprintf(", duration %s ms", format_each(signif(1000 * x$duration, 9)))
  }, ", count ", x$count)
  tidy_frame(term = term, estimate = x$patterns, p.value = x$p, adj.p.value = x$p_adjusted)
}
