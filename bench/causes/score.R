# What a method says of the links of a system, against the wiring that the system was made
# with.
#
# A wiring is a logical matrix [cause, effect]. A method gives two matrices of the same
# shape: `score`, how sure it is of each direct link, and `called`, TRUE where it says
# that there is one. The diagonal, a series and itself, counts nowhere. It may give a third,
# `undirected`, TRUE where it says that two series have a link and not which way: of pairs without
# their order these count as called, and of links they do not.

#' Who drives whom, through any number of others; the diagonal says who is part of a loop
paths <- function(wiring) {
  reached <- wiring
  for (through in seq_len(nrow(wiring))) {
    reached <- reached | outer(reached[, through], reached[through, ], `&`)
  }
  reached
}

#' What each ordered pair of series is, a matrix [cause, effect] of words, NA on the
#' diagonal
#'
#'   direct       a link leads from the one to the other
#'   mediated     no link, but a path through others
#'   backwards    neither, but a link or path leads from the other to the one
#'   shared       no path either way, and a third series leads to both
#'   unrelated    nothing of all that
kinds_of_pairs <- function(wiring) {
  path <- paths(wiring)
  shared <- crossprod(path) > 0
  kind <- ifelse(wiring, "direct", ifelse(path, "mediated", ifelse(
    t(path), "backwards", ifelse(shared, "shared", "unrelated")
  )))
  diag(kind) <- NA
  kind
}

#' Area under the ROC curve: how often one of the `yes` has a higher score than one of the
#' others, a tie being half; NA where there is only one sort. Who has no score comes last.
area_under_roc <- function(score, yes) {
  score[is.na(score)] <- -Inf
  n <- c(sum(yes), sum(!yes))
  if (any(n == 0L)) return(NA_real_)
  (sum(rank(score)[yes]) - n[[1L]] * (n[[1L]] + 1) / 2) / prod(n)
}

#' Area under the curve of precision and recall, by steps (average precision): the mean share
#' of links among all pairs that have at least the score of a link; NA where there is none
area_under_pr <- function(score, yes) {
  score[is.na(score)] <- -Inf
  if (!any(yes)) return(NA_real_)
  above <- \(of) rank(-of, ties.method = "max")
  mean(above(score[yes]) / above(score)[yes])
}

#' One row: the areas, and for each kind how many pairs there are and how many were called
score_links <- function(found, wiring) {
  kind <- kinds_of_pairs(wiring)
  pairs <- !is.na(kind)
  called <- found$called & pairs
  of <- function(word) {
    is <- pairs & kind == word
    stats::setNames(list(sum(is), sum(called & is)), paste0(word, c("", "_called")))
  }
  words <- c("direct", "mediated", "backwards", "shared", "unrelated")
  either <- \(of) (of | t(of))[upper.tri(of)]
  linked <- either(wiring)
  said <- either(if (is.null(found$undirected)) called else called | found$undirected)
  data.frame(auc = area_under_roc(found$score[pairs], wiring[pairs]),
             precision = area_under_pr(found$score[pairs], wiring[pairs]),
             lapply(words, of), linked = sum(linked), linked_called = sum(linked & said),
             apart = sum(!linked), apart_called = sum(!linked & said))
}

#' Scores of several systems as one row: means of the areas, shares of all pairs in percent,
#' and F1 of all pairs
pool_scores <- function(rows) {
  areas <- c("auc", "precision")
  sums <- colSums(rows[setdiff(names(rows), areas)])
  share <- function(called, of) {
    if (sum(sums[of]) == 0) NA_real_ else 100 * sum(sums[called]) / sum(sums[of])
  }
  others <- c("mediated", "backwards", "shared", "unrelated")
  called <- function(kinds) paste0(kinds, "_called")
  right <- sums[["direct_called"]]
  wrong <- sum(sums[called(others)])
  data.frame(
    found = share("direct_called", "direct"), false = share(called(others), others),
    mediated = share("mediated_called", "mediated"),
    shared = share("shared_called", "shared"),
    f1 = 2 * right / (right + wrong + sums[["direct"]]),
    as.list(colMeans(rows[areas])), links = sums[["direct"]], false_links = wrong,
    other_pairs = sum(sums[others]), mediated_pairs = sums[["mediated"]],
    shared_pairs = sums[["shared"]], pairs_found = share("linked_called", "linked"),
    pairs_false = share("apart_called", "apart")
  )
}
