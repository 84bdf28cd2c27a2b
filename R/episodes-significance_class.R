# The table of tested episodes: printing, what it says in words, subsetting.

significance_columns <- c("episode", "size", "count", "mean", "lower", "upper", "excess",
                          "p", "p_adjusted", "significant", "units", "low", "high")

#' "1,000 surrogates (dither = 0.015)", "(joint_isi, dither = 0.015)"
#' @noRd
surrogates_text <- function(x) {
  made <- attr(x, "surrogate", exact = TRUE)
  told <- made$parameters
  # The histogram of intervals is told of where it is another than surrogate_trains() has.
  for (name in c("refractory", "truncation_limit", "n_bins", "sigma")) {
    if (identical(told[[name]], formals(surrogate_trains)[[name]])) told[[name]] <- NULL
  }
  # The method "dither" has its own name as a parameter.
  how <- c(setdiff(made$method, names(told)), sprintf("%s = %s", names(told), exact(told)))
  sprintf("%s (%s)", counted(attr(x, "n_surrogates", exact = TRUE), "surrogate"), toString(how))
}

correction_text <- function(x) {
  correction <- attr(x, "correction", exact = TRUE)
  switch(correction, max = "family-wise within each size, by the largest score",
         none = "not corrected for the number of tests", BH = , BY = , TSBH = ,
         TSBKY = sprintf("false discovery rate, %s", correction),
         sprintf("family-wise, %s", correction))
}

is_tested <- function(x) !is.na(.subset2(x, "p"))

#' @export
check_sound.episode_significance <- function(x, arg) {
  check_table(x, significance_columns, "episode_significance", arg)
}

significance_title <- function(x) {
  tested <- sum(is_tested(x))
  if (tested == 0L) {
    return(sprintf("# %s, none of them tested", counted(nrow(x), "episode")))
  }
  c(sprintf("# %s tested against %s", counted(tested, "episode"), surrogates_text(x)),
    sprintf("# %s significant at %s (%s)", commas(sum(.subset2(x, "significant"))),
            exact(attr(x, "alpha", exact = TRUE)), correction_text(x)))
}

#' Rows by excess, the largest first
#' @noRd
by_excess <- function(x, rows = which(is_tested(x))) {
  rows[order(-.subset2(x, "excess")[rows], .subset2(x, "episode")[rows], method = "radix")]
}

#' The first `n` rows that were tested: in the user's order, or else by excess
#' @noRd
tested_rows <- function(x, n) {
  if (is_ordered(x)) return(utils::head(which(is_tested(x)), n))
  # Units by themselves are not tested, and are few.
  p <- .subset2(x, "p")
  rows <- top_rows(.subset2(x, "excess"), n + if (anyNA(p)) sum(is.na(p)) else 0)
  utils::head(rows[!is.na(p[rows])], n)
}

#' @export
print.episode_significance <- function(x, n = 10, ...) {
  n <- check_count(n, min = 0, infinite = TRUE)
  check_sound(x, "x")
  cat(significance_title(x), sep = "\n")
  tested <- sum(is_tested(x))
  if (tested > 0L) {
    o <- tested_rows(x, n)
    print_left(data.frame(size = x$size[o], count = x$count[o], mean = signif(x$mean[o], 3),
                          excess = signif(x$excess[o], 3),
                          p_adjusted = zero_p_text(x$p_adjusted[o],
                                                   attr(x, "below", exact = TRUE)),
                          " " = ifelse(x$significant[o], "*", " "), check.names = FALSE),
               list(episode = row_pieces(x, o)))
    more_line(tested - length(o), if (!is_ordered(x)) "largest excess first here")
  }
  invisible(x)
}

# ---- In words ------------------------------------------------------------------------

#' @export
summary.episode_significance <- function(object, n = 5, ...) {
  begin_method(object)
  n <- check_count(n, min = 0, infinite = TRUE)
  tested <- is_tested(object)
  significant <- .subset2(object, "significant")
  size <- .subset2(object, "size")
  sizes <- sort(unique(size[tested]))
  of_size <- \(value, what) vapply(sizes, \(z) what(value[tested & size == z]), 0)
  by_size <- data.frame(size = sizes, tested = of_size(tested, sum),
                        significant = of_size(significant, sum),
                        most_excess = signif(of_size(.subset2(object, "excess"), max), 3))
  structure(list(title = significance_title(object), by_size = by_size,
                 words = significance_words(object, tested, significant, n),
                 warning = too_few_surrogates(object, sum(tested))),
            class = "summary.episode_significance")
}

#' Sentences: what stands out, the largest excess first, each with other units
#' @noRd
significance_words <- function(x, tested, significant, n) {
  if (!any(tested)) {
    return(if (nrow(x) == 0L) "There is no episode." else
      if (identical(attr(x, "n_surrogates", exact = TRUE), 0)) "No surrogate was made." else
        "Single units are not tested: surrogates keep their spikes.")
  }
  if (!any(significant)) {
    best <- by_excess(x)[[1L]]
    return(c("No episode stands out: all counts are within what surrogates give.",
             paste("The most frequent beyond chance is", episode_sentence(x, best))))
  }
  rows <- distinct_rows(.subset2(x, "units"), by_excess(x, which(significant)), n)
  c(sprintf("%s of %s %s out from chance. %s:", commas(sum(significant)),
            counted(sum(tested), "episode"), if (sum(significant) == 1L) "stands" else "stand",
            if (length(rows) > 1L) "Those with the largest excess, of different units" else
              "The largest excess"),
    vapply(rows, \(row) paste("-", episode_sentence(x, row)), ""), pairs_words(x, significant))
}

#' "A > B > C, 876 times; in surrogates 1.2 on average, 0 to 4 in 95 % of them (p = ...)"
#' @noRd
episode_sentence <- function(x, row) {
  p <- zero_p_text(.subset2(x, "p_adjusted")[[row]], attr(x, "below", exact = TRUE))
  one <- \(column) .subset2(x, column)[[row]]
  sprintf("%s, %s; in surrogates %s on average, %s to %s in 95 %% of them (p %s).",
          one("episode"), times_text(one("count")), format(signif(one("mean"), 3)),
          commas(one("lower")), commas(one("upper")),
          if (startsWith(p, "<")) p else paste("=", p))
}

#' What larger episodes owe to pairs
#' @noRd
pairs_words <- function(x, significant) {
  size <- .subset2(x, "size")
  pairs <- sum(significant & size == 2L)
  larger <- sum(significant & size > 2L)
  if (pairs == 0L || larger == 0L) return(NULL)
  sprintf(paste("%s of them %s; what has more units may owe its excess to a pair it",
                "contains."), commas(pairs), if (pairs == 1L) "is a pair" else "are pairs")
}

#' A warning where a p value of 0 makes significant what more surrogates might not, else NULL
#' @noRd
zero_warning <- function(x, n, alpha) {
  zeros <- sum(.subset2(x, "p_adjusted") %in% 0)
  below <- attr(x, "below", exact = TRUE)
  if (zeros == 0L || reaches(below, alpha)) return(NULL)
  sprintf(paste("%s significant with a p value of 0, of which %s %s no more than that it is",
                "less than %s, adjusted: use more."), they_are(zeros), counted(n, "surrogate"),
          if (n == 1) "says" else "say", short_p(below))
}

#' A warning where no p value can be small enough, else NULL
#' @noRd
too_few_surrogates <- function(x, tested) {
  if (tested == 0L) return(NULL)
  correction <- attr(x, "correction", exact = TRUE)
  n <- attr(x, "n_surrogates", exact = TRUE)
  alpha <- attr(x, "alpha", exact = TRUE)
  if (attr(x, "p_estimator", exact = TRUE) == "k/n") return(zero_warning(x, n, alpha))
  alone <- if (correction == "max") alpha else sufficient_p(tested, correction, alpha)
  if (reaches(1 / (n + 1), alone)) return(NULL)
  sprintf("%s %s no p value below %s; one episode by itself needs %s or less, %s.",
          counted(n, "surrogate"), if (n == 1) "gives" else "give", short_p(1 / (n + 1)),
          short_p(alone), counted(ceiling(1 / alone - 1e-6) - 1, "surrogate"))
}

#' @export
print.summary.episode_significance <- function(x, ...) {
  cat(x$title, sep = "\n")
  cat("\n")
  cat(strwrap(x$words, exdent = 2), sep = "\n")
  if (!is.null(x$warning)) cat("\n", paste0(strwrap(x$warning, exdent = 2), "\n"), sep = "")
  if (nrow(x$by_size) > 0L) {
    cat("\nBy size\n")
    print(x$by_size, row.names = FALSE)
  }
  invisible(x)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.episode_significance <- function(x, ...) {
  begin_method(x)
  tidy_frame(term = as.character(x$episode), size = x$size, count = x$count, estimate = x$excess,
             statistic = .subset2(x, "z"), p.value = x$p, adj.p.value = x$p_adjusted)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.episode_significance <- function(x, ...) {
  begin_method(x)
  tidy_frame(episodes = nrow(x), tested = sum(is_tested(x)), significant = sum(x$significant),
             alpha = attr(x, "alpha", exact = TRUE),
             n_surrogates = attr(x, "n_surrogates", exact = TRUE))
}
