# Methods that say which series drives which. Each takes a matrix of steps x series and
# gives a list of `score` and `called`, matrices [cause, effect] as score.R describes
# them.
#
# All that look at lags know that no link takes more than `longest_delay` steps. Where a
# method tests many pairs, its p values are corrected after Benjamini and Hochberg (1995),
# and a link is called at 0.05.

alpha <- 0.05
longest_delay <- 3L

#' Pairs called by their p values: the diagonal is not tested
by_p_values <- function(p) {
  tested <- row(p) != col(p)
  p[tested] <- stats::p.adjust(p[tested], "BH")
  p[!tested | is.na(p)] <- 1
  p <= alpha
}

#' `x` so many steps later, without those before the first: rows of lag 0 to `most`
lagged <- function(x, lag, most) x[(most + 1L - lag):(nrow(x) - lag), , drop = FALSE]

# ---- Granger causality -----------------------------------------------------------------

#' Rows of all series at lags 1 to `order`, after a column of ones; the lags of a series
#' are side by side
history <- function(x, order, most) {
  parts <- lapply(seq_len(order), \(lag) lagged(x, lag, most))
  all <- do.call(cbind, parts)
  cbind(1, all[, order(rep(seq_len(ncol(x)), order)), drop = FALSE])
}

#' The order with the lowest BIC of the whole vector autoregression, among some
order_by_bic <- function(x, orders) {
  most <- max(orders)
  now <- lagged(x, 0L, most)
  bic <- vapply(orders, \(order) {
    fit <- stats::.lm.fit(history(x, order, most), now)
    n <- nrow(now)
    covariance <- crossprod(fit$residuals) / n
    as.numeric(determinant(covariance)$modulus) + log(n) / n * ncol(x)^2 * order
  }, 0)
  orders[[which.min(bic)]]
}

#' Granger causality given all other series (Granger 1969; Geweke 1984)
#'
#' Least squares; the order is that of the lowest BIC, at least the longest delay and at
#' most twice as much. The F test of a cause drops its lags from the equation of the
#' effect, by way of the coefficients and their covariance, which is the same as fitting
#' again without them.
granger <- function(x) {
  series <- ncol(x)
  order <- order_by_bic(x, longest_delay:(2L * longest_delay))
  now <- lagged(x, 0L, order)
  past <- history(x, order, order)
  decomposed <- qr(past)
  inverse <- chol2inv(qr.R(decomposed))
  coefficients <- qr.coef(decomposed, now)
  free <- nrow(past) - ncol(past)
  variance <- colSums(qr.resid(decomposed, now)^2) / free
  f <- t(vapply(seq_len(series), \(cause) {
    of <- 1L + (cause - 1L) * order + seq_len(order)
    b <- coefficients[of, , drop = FALSE]
    colSums(b * solve(inverse[of, of, drop = FALSE], b)) / order / variance
  }, double(series)))
  dimnames(f) <- list(colnames(x), colnames(x))
  list(score = f, called = by_p_values(stats::pf(f, order, free, lower.tail = FALSE)))
}

# ---- PCMCI and PCMCI+ ----------------------------------------------------------------------------

#' What theirs.py gives for PCMCI and PCMCI+ (Runge 2020), as score and called
#'
#' A link is called where the graph has an arrow at any lag. A link at lag 0 without a
#' direction is not held against it: it is neither called nor does it count for the score.
#' A pair has the score of its lag with the lowest p value, and of equal ones the largest
#' test statistic.
read_pcmci <- function(numbers, series) {
  size <- c(longest_delay + 1L, series, series)
  parts <- lapply(1:3, \(k) {
    aperm(array(numbers[(k - 1L) * prod(size) + seq_len(prod(size))], size), 3:1)
  })
  p <- parts[[1L]]
  arrow <- parts[[3L]] > 0
  now <- slice.index(p, 3L) == 1L
  # Ranks of all links at once, so that p values that are equal to the last digit are in
  # order.
  sure <- array(order(order(-p, abs(parts[[2L]]))), dim(p))
  sure[now & !arrow] <- 0
  list(score = apply(sure, 1:2, max), called = apply(arrow, 1:2, any))
}

# ---- This package ----------------------------------------------------------------------

#' A causal map has a score for each pair, its rho, and calls none
map_by <- function(x, device = "cpu", threads = 1) {
  map <- suppressMessages(synfire::causal_map(x, device = device, threads = threads))
  list(score = t(map[, ]), called = matrix(FALSE, ncol(x), ncol(x)))
}

#' The direct links of a causal map, by the defaults but for the map's `Tp`
#'
#' Of the pairs that were tested, the score is their t. Below that come the pairs that were
#' refused or not looked at, by their rho.
direct_by <- function(x, Tp = 0, device = "cpu", threads = 1) {
  map <- suppressMessages(synfire::causal_map(x, Tp = Tp, device = device,
                                              threads = threads))
  found <- suppressMessages(synfire::direct_links(map, x, device = device,
                                                  threads = threads))
  score <- t(map[, ]) - 1e6
  called <- score != score
  at <- cbind(match(found$cause, colnames(x)), match(found$effect, colnames(x)))
  tested <- !is.na(found$t)
  score[at[tested, , drop = FALSE]] <- found$t[tested]
  undirected <- called
  called[at] <- found$link == "direct"
  undirected[at] <- found$link == "undirected"
  list(score = score, called = called, undirected = undirected)
}
