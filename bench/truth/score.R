# What a method says of the assemblies in a recording, against those that were planted.
#
# Assemblies are data frames, a row an assembly, with the list columns `units` (names) and
# `lags` (seconds, in the order of `units`, from any zero) and `times` (seconds: the moments that lags are
# counted from; NA where a method does not say them). Those found have `p`, small where the method is
# sure, and the planted ones `kind` and `width`; a planted lag is where a window begins.

#' How much two sets of units have in common, a matrix [planted, found]: units in both as a
#' share of those in either
overlaps <- function(planted, found) {
  share <- \(a, b) length(intersect(a, b)) / length(union(a, b))
  m <- vapply(found$units, \(b) vapply(planted$units, share, numeric(1), b = b),
              numeric(nrow(planted)))
  matrix(m, nrow(planted), nrow(found))
}

#' Which found assembly stands for each planted one, NA for none
#'
#' Pairs are made from the largest overlap down, of the same overlap from that with most lags right,
#' each planted and each found one in one pair at most. An assembly stands for another if they share
#' two units.
pair_up <- function(planted, found) {
  partner <- rep(NA_integer_, nrow(planted))
  share <- overlaps(planted, found)
  for (k in seq_len(nrow(planted))) for (j in seq_len(nrow(found))) {
    right <- lags_right(planted[k, ], found[j, ])
    share[k, j] <- if (is.na(right)) 0 else share[k, j] + right / 1000
  }
  while (any(share > 0)) {
    best <- which(share == max(share), arr.ind = TRUE)[1L, ]
    partner[[best[[1L]]]] <- best[[2L]]
    share[best[[1L]], ] <- 0
    share[, best[[2L]]] <- 0
  }
  partner
}

#' Which found assemblies are false: no planted one has two of their units and more than half
#' of them
is_false <- function(planted, found) {
  vapply(found$units, \(units) {
    shared <- vapply(planted$units, \(own) length(intersect(own, units)), integer(1))
    !any(shared >= 2L & shared > length(units) / 2)
  }, logical(1))
}

#' Share of the members in both whose lags agree within the width of the planted windows
lags_right <- function(planted, found, slack = 0) {
  both <- intersect(planted$units[[1L]], found$units[[1L]])
  if (length(both) < 2L) return(NA_real_)
  apart <- found$lags[[1L]][match(both, found$units[[1L]])] -
    planted$lags[[1L]][match(both, planted$units[[1L]])]
  mean(abs(apart - stats::median(apart)) <= planted$width + slack)
}

#' How many of two increasing vectors of times are pairs, each time in one pair at most, of times that
#' are no further apart than `within`
matched <- function(a, b, within) {
  i <- j <- 1L
  n <- 0L
  while (i <= length(a) && j <= length(b)) {
    together <- abs(a[[i]] - b[[j]]) <= within
    n <- n + together
    first <- a[[i]] < b[[j]]
    i <- i + (together || first)
    j <- j + (together || !first)
  }
  n
}

#' Recall and precision of the times of activations, of assemblies that share two units
#'
#' Where lags are counted from differs by what the lags of units in both differ by in the median. A found
#' time is right within the planted width and `slack` (seconds), as windows that are found may be
#' wider.
score_times <- function(planted, found, slack = 0.005) {
  both <- intersect(planted$units[[1L]], found$units[[1L]])
  own <- sort(found$times[[1L]], na.last = TRUE)
  if (length(both) < 2L || anyNA(own)) return(c(recall = NA_real_, precision = NA_real_))
  apart <- found$lags[[1L]][match(both, found$units[[1L]])] -
    planted$lags[[1L]][match(both, planted$units[[1L]])]
  middle <- planted$times[[1L]] + planted$width / 2
  right <- matched(own + stats::median(apart), sort(middle), planted$width + slack)
  c(recall = right / length(middle), precision = right / length(own))
}

#' One row for each planted assembly: its kind and size, `recall` and `precision` of its
#' members, whether they are `exact`ly right, the share of `lags` that are, and recall and precision of
#' the times of its activations
score_members <- function(planted, found) {
  partner <- pair_up(planted, found)
  rows <- lapply(seq_len(nrow(planted)), \(k) {
    j <- partner[[k]]
    mine <- if (is.na(j)) character() else found$units[[j]]
    common <- length(intersect(mine, planted$units[[k]]))
    times <- if (is.na(j)) c(recall = NA_real_, precision = NA_real_) else
      score_times(planted[k, ], found[j, ])
    data.frame(
      kind = planted$kind[[k]], size = length(planted$units[[k]]),
      recall = common / length(planted$units[[k]]),
      precision = if (is.na(j)) NA_real_ else common / length(mine),
      exact = setequal(mine, planted$units[[k]]),
      lags = if (is.na(j)) NA_real_ else lags_right(planted[k, ], found[j, ]),
      times_recall = times[["recall"]], times_precision = times[["precision"]]
    )
  })
  do.call(rbind, rows)
}

#' A recording's score: `members` (score_members()), numbers `found`, `false` and of `pieces`,
#' which are about a planted assembly but do not stand for it
score_recording <- function(planted, found) {
  false <- sum(is_false(planted, found))
  partners <- if (nrow(planted) > 0L) sum(!is.na(pair_up(planted, found))) else 0L
  list(members = if (nrow(planted) > 0L) score_members(planted, found), found = nrow(found),
       false = false, pieces = max(0L, nrow(found) - false - partners))
}

#' The largest p at which a method reports at most `rate` false assemblies a recording
#'
#' @param results A list with for each recording `planted` and `found`.
#' @return -1 where even its surest ones are too many false, Inf where all are few enough.
p_at_false_rate <- function(results, rate) {
  false <- sort(unlist(lapply(results, \(r) r$found$p[is_false(r$planted, r$found)])))
  allowed <- floor(rate * length(results) + 1e-9)
  if (length(false) <= allowed) return(Inf)
  p <- unique(sort(unlist(lapply(results, \(r) r$found$p))))
  right <- p[p < false[[allowed + 1L]]]
  if (length(right) == 0L) -1 else max(right)
}

#' What is left of the found ones at a p value
up_to <- function(results, p) {
  lapply(results, \(r) list(planted = r$planted, found = r$found[r$found$p <= p, ]))
}

#' Recall of members and share of exactly right assemblies by kind
#'
#' @return Data frame `kind`, `planted` (how many), `recall`, `precision`, `exact`, `lags`,
#'   `times_recall`, `times_precision` (in percent; those of lags and times are means over the
#'   assemblies that were found).
score_kinds <- function(results) {
  rows <- do.call(rbind, lapply(results, \(r) score_members(r$planted, r$found)))
  percent <- \(x) if (all(is.na(x))) NA_real_ else 100 * mean(x, na.rm = TRUE)
  by_kind <- lapply(unique(rows$kind), \(kind) {
    mine <- rows[rows$kind == kind, ]
    data.frame(kind = kind, planted = nrow(mine), recall = percent(mine$recall),
               precision = percent(mine$precision), exact = percent(mine$exact),
               lags = percent(mine$lags), times_recall = percent(mine$times_recall),
               times_precision = percent(mine$times_precision))
  })
  do.call(rbind, by_kind)
}

#' How many of the planted assemblies of a recording have exactly the right members
exactly_right <- function(results) {
  vapply(results, \(r) sum(score_members(r$planted, r$found)$exact), numeric(1))
}
