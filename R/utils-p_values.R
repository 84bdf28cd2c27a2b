# p values from surrogates, and what many tests at once make of them.

p_estimators <- c("(k+1)/(n+1)", "k/n")

# Family-wise error first, then the share of false discoveries.
corrections <- c("none", "bonferroni", "sidak", "holm", "holm-sidak", "hochberg", "hommel",
                 "BH", "BY", "TSBH", "TSBKY")

# What Elephant calls those that have another name there.
elephant_corrections <- c(
  no = "none", "simes-hochberg" = "hochberg", fdr_bh = "BH", fdr_by = "BY",
  fdr_tsbh = "TSBH", fdr_tsbky = "TSBKY"
)

check_correction <- function(correction, choices = corrections) {
  check_not_elephant(correction, elephant_corrections, "correction")
  check_choice(correction, choices, "correction")
}

#' The p value when `reached` of `n` surrogates reach what was seen
#' @noRd
surrogate_p <- function(reached, n, estimator) {
  if (estimator == "k/n") reached / n else (reached + 1) / (n + 1)
}

#' Is a p value small enough? Rounding does not decide: 3 * (1 / 60) is 0.05 here
#' @noRd
reaches <- function(p, level) p <= level * (1 + 1e-9)

#' p values adjusted for each other: what is at most `alpha` is significant
#'
#' @param correction One of `corrections`.
#' @param alpha The two-stage methods estimate at this level how many nulls are true.
#' @noRd
adjust_p <- function(p, correction, alpha) {
  m <- length(p)
  switch(
    correction,
    # 1 - (1 - p)^m, also where p is tiny.
    sidak = -expm1(m * log1p(-p)),
    "holm-sidak" = {
      o <- order(p)
      stepped <- cummax(-expm1((m - seq_len(m) + 1) * log1p(-p[o])))
      stepped[order(o)]
    },
    TSBH = two_stage(p, alpha, 1),
    TSBKY = two_stage(p, alpha, 1 + alpha),
    stats::p.adjust(p, correction)
  )
}

#' The step-up method with the number of true nulls estimated by a first round
#'
#' What the first round, at `alpha / factor`, does not reject are taken to be the true
#' nulls; the second goes by their number in place of all. Where it rejects none or all,
#' there is no second round.
#' @noRd
two_stage <- function(p, alpha, factor) {
  first <- stats::p.adjust(p, "BH")
  rejected <- sum(reaches(first, alpha / factor))
  nulls <- if (rejected == length(p)) length(p) else length(p) - rejected
  pmin(1, first * factor * nulls / length(p))
}

#' The p value with which a single one of `m` tests is significant, whatever the others'
#' @noRd
sufficient_p <- function(m, correction, alpha) {
  m <- max(1, m)
  switch(
    correction,
    none = alpha,
    sidak = , "holm-sidak" = -expm1(log1p(-alpha) / m),
    BY = alpha / (m * sum(1 / seq_len(m))),
    TSBKY = alpha / (1 + alpha) / m,
    alpha / m
  )
}

#' @param what What the number is, for the advice.
#' @noRd
check_alpha <- function(alpha, arg = "alpha", what = "probability of an error") {
  refuse_if(!(is_number(alpha) && alpha > 0 && alpha < 1), arg, "a number above 0 and below 1",
            describe(alpha), sprintf("It is the %s that is taken, such as 0.05.", what))
  as.double(alpha)
}

#' Two digits, more where a larger number has them anyway
#' @noRd
short_p <- function(p) {
  vapply(p, \(one) if (is.na(one)) "-" else format(signif(one, 2), scientific = one < 1e-4), "")
}

#' The same where no surrogate may have spoken against it: that is not 0
#' @param below What it is less than.
#' @noRd
zero_p_text <- function(p, below) {
  ifelse(p %in% 0, paste("<", short_p(below)), short_p(p))
}

#' How many of some maxima are as large as each of some counts
#' @noRd
count_reaching <- function(maxima, count) {
  length(maxima) - findInterval(count, sort(maxima), left.open = TRUE)
}

#' Error where a choice has the name that Elephant gives it
#'
#' @param names What it is called here, by the names there.
#' @noRd
check_not_elephant <- function(x, names, arg, hint = NULL) {
  refuse_if(is.character(x) && length(x) == 1L && x %in% names(names), arg,
            sprintf("\"%s\" for what Elephant calls \"%s\"", names[[x]], x),
            encodeString(x, quote = "\""), hint)
}
