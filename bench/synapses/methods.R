# The methods of bench/synapses.R, and how what they say is scored.
#
# A method is a function of a recording (recordings.R) that gives a list: `score`, a matrix
# [from, to] that is larger the surer the method is of a synapse, and `sign`, a matrix of 1, -1
# and 0 (not called), or of the sign that a call would have where `best` is TRUE: a method
# without a rule of its own, whose calls are those of the threshold with the largest F1. Or
# `said`: why there is nothing.

# ---- This package ------------------------------------------------------------------------

#' The scores of all pairs are what find_synapses() has before it chooses
ours <- function(recording, limit = NULL, ...) {
  x <- recording$x
  home <- asNamespace("synfire")
  kept <- new.env()
  suppressMessages(trace("second_stage", exit = bquote(.(function(value) {
    kept$judged <- value$judged
  })(returnValue())), where = home, print = FALSE))
  on.exit(suppressMessages(untrace("second_stage", where = home)))
  found <- suppressWarnings(find_synapses(x, max_lag = recording$max_lag, ...))
  tested <- which(attr(found, "units")$tested)
  pairs <- utils::combn(tested, 2L)
  from <- c(rbind(pairs[1L, ], pairs[2L, ]))
  to <- c(rbind(pairs[2L, ], pairs[1L, ]))
  score <- empty(x)
  surest <- order(-kept$judged$p, abs(kept$judged$z))
  score[cbind(from, to)[surest, ]] <- seq_along(surest)
  sign <- empty(x)
  called <- as.data.frame(found)
  called <- called[called$kind %in% "connection", ]
  sign[cbind(called$from, called$to)] <- called$sign
  list(score = score, sign = sign, kinds = table(found$kind), told = attr(found, "bursts")$judged)
}

empty <- function(x) {
  units <- levels(x$unit)
  matrix(0, length(units), length(units), dimnames = list(units, units))
}

# ---- The plain recipe --------------------------------------------------------------------

#' Windows of 2 ms against a Poisson number whose mean is a Gaussian of 10 ms around them,
#' hollow in the window; the smallest p value of a pair, corrected for the number of windows,
#' and a false discovery rate of 5 % over all pairs and signs (Benjamini & Hochberg 1995)
recipe <- function(recording, limit = NULL) {
  x <- recording$x
  bin <- if (attr(x, "resolution") > 5e-4) 1e-3 else 5e-4
  counts <- cross_correlogram(x, bin, 0.05)
  lag <- attr(counts, "lag")
  width <- round(0.002 / bin)
  starts <- which(lag > 0 & lag + (width - 1) * bin <= recording$max_lag + bin / 1e3)
  n <- dim(counts)[[2L]]
  flat <- matrix(unclass(counts), length(lag))
  up <- down <- rep(1, n * n)
  for (start in starts) {
    window <- start + seq_len(width) - 1L
    weight <- exp(-(lag - mean(lag[window]))^2 / (2 * 0.01^2))
    weight[window] <- 0
    expected <- width * colSums(flat * weight) / sum(weight)
    seen <- colSums(flat[window, , drop = FALSE])
    up <- pmin(up, stats::ppois(seen - 1, expected, lower.tail = FALSE))
    down <- pmin(down, stats::ppois(seen, expected))
  }
  off <- which(!diag(n))
  q <- stats::p.adjust(pmin(1, length(starts) * c(up[off], down[off])), "BH")
  q <- matrix(q, ncol = 2L)
  score <- sign <- empty(x)
  score[off] <- -log(pmin(up, down)[off] + 1e-300)
  sign[off] <- (pmin(q[, 1L], q[, 2L]) <= 0.05) * ifelse(up[off] <= down[off], 1, -1)
  list(score = score, sign = sign)
}

# ---- Elephant ----------------------------------------------------------------------------

# Bytes that TSPE may take: it makes all bins of all units as doubles, twice.
tspe_memory <- 14e9

#' Total spiking probability edges of Elephant (De Blasi et al. 2019), bins of 1 ms
#' @param max_delay In bins; 25 is its default.
tspe <- function(recording, limit, max_delay = 25) {
  x <- recording$x
  end <- attr(x, "end") - attr(x, "start")
  needed <- 16 * nlevels(x$unit) * end * 1000
  if (needed > tspe_memory) {
    return(list(said = sprintf("would need %.0f GB", needed / 1e9)))
  }
  times <- split(as.numeric(x$time) - attr(x, "start"), x$unit)
  took <- ask_once("elephant", "tspe", unlist(times, use.names = FALSE), list(
    sizes = unname(lengths(times)), end = ceiling(end), max_delay = max_delay
  ), limit)
  if (!is.null(took$said)) return(took)
  found <- empty(x)
  found[] <- took$result
  diag(found) <- 0
  list(score = abs(found), sign = sign(found), best = TRUE, seconds = took$wall[[1L]])
}

methods <- list("find_synapses()" = ours, "hollow Gaussian, Poisson" = recipe,
                "Elephant TSPE" = tspe,
                "Elephant TSPE, our max_lag" = \(recording, limit) {
                  tspe(recording, limit, round(1000 * recording$max_lag))
                })

# ---- Scores ------------------------------------------------------------------------------

#' Area under precision against recall; pairs with the same score come together
average_precision <- function(score, link) {
  o <- order(score, decreasing = TRUE)
  last <- !duplicated(score[o], fromLast = TRUE)
  hits <- cumsum(link[o])[last]
  sum(diff(c(0, hits)) * hits / which(last)) / sum(link)
}

#' Twice the right calls, by the calls and the synapses; a right call has the right sign
f1_of <- function(sign, truth) 2 * sum(sign != 0 & sign == sign(truth)) /
  max(1, sum(sign != 0) + sum(truth != 0))

#' Signs of calls at the threshold with the largest F1
best_calls <- function(score, sign, truth) {
  o <- order(score, decreasing = TRUE)
  right <- cumsum(sign[o] == sign(truth[o]) & truth[o] != 0)
  best <- which.max(2 * right / (seq_along(o) + sum(truth != 0)))
  ifelse(rank(-score, ties.method = "first") <= best, sign, 0)
}

#' Matthews' correlation of calls and synapses, whatever their sign
matthews <- function(call, link) {
  n <- as.double(table(factor(call, c(FALSE, TRUE)), factor(link, c(FALSE, TRUE))))
  bottom <- sqrt((n[[1L]] + n[[2L]]) * (n[[3L]] + n[[4L]]) * (n[[1L]] + n[[3L]]) *
                   (n[[2L]] + n[[4L]]))
  if (bottom == 0) 0 else (n[[1L]] * n[[4L]] - n[[2L]] * n[[3L]]) / bottom
}

# Synapses that are not weak, in units of the threshold distance (simulate_network()).
is_strong <- function(truth) truth > 0.05 | truth < -0.15

#' One row of scores over all ordered pairs
#' @param ours Whether the truth is in units of the threshold distance.
score_synapses <- function(found, truth, ours) {
  off <- !diag(nrow(truth))
  truth <- truth[off]
  score <- found$score[off]
  sign <- found$sign[off]
  none <- all(truth == 0)
  if (isTRUE(found$best)) {
    # Without a synapse there is no threshold that is best.
    sign <- if (none) rep(NA, length(sign)) else best_calls(score, sign, truth)
  }
  right <- sum(sign != 0 & sign == sign(truth))
  strong <- ifelse(is_strong(truth), truth, 0)
  recall <- \(which) if (any(which)) mean(sign[which] == sign(truth[which])) else NA
  data.frame(
    pairs = length(truth), excitatory = sum(truth > 0), inhibitory = sum(truth < 0),
    calls = sum(sign != 0),
    average_precision = if (none) NA else average_precision(score, truth != 0),
    mcc = if (none) NA else matthews(sign != 0, truth != 0),
    f1 = if (none) NA else f1_of(sign, truth),
    # A call of a weak synapse is neither right nor wrong here.
    f1_strong = if (none || !ours) NA else
      f1_of(sign[truth == 0 | strong != 0], strong[truth == 0 | strong != 0]),
    wrong = if (isTRUE(sum(sign != 0) > 0)) 1 - right / sum(sign != 0) else NA,
    recall_excitatory = recall(truth > 0), recall_inhibitory = recall(truth < 0)
  )
}
