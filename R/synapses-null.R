# What the statistic of connections gives where there are none, and what follows for each pair.

# Shifts of the lags that stand for short ones without connections, beyond `max_lag`, in s.
null_shifts <- c(0.01, 0.025, 0.04)

# The quantiles of the best window's z by which p values go.
null_levels <- c(0.1, 0.5, 0.9, 0.97)

#' Quantiles of the best z without connections
#'
#' Those of the recording, but no less spread than those of independent Poisson trains. Of few
#' values they are uncertain, and then they are at least those of Poisson trains.
#' @param z Of all pairs, directions and shifts; of fewer spikes with its sign changed.
#' @param poisson Quantiles of Poisson trains.
#' @noRd
chance_quantiles <- function(z, poisson) {
  q <- stats::quantile(z, null_levels, names = FALSE)
  share <- enough_nulls(length(z))
  q <- share * q + (1 - share) * pmax(q, poisson)
  q[[3L]] <- max(q[[3L]], poisson[[3L]])
  q[[4L]] <- max(q[[4L]], q[[3L]] + poisson[[4L]] - poisson[[3L]])
  q
}

#' How far so many null values can be relied on, from 0 to 1
#' @noRd
enough_nulls <- function(n) min(1, n / 300)

#' Scale and shift of the bulk of all pairs, most of which are not connected
#'
#' What many pairs share and long lags do not show makes the bulk of z wider, and moves it. The
#' square root is between no correction, which lets too many pairs pass, and the whole one, which
#' hides connections where many units are connected.
#' @noRd
bulk_of <- function(z, null) {
  if (length(z) == 0L) return(list(scale = 1, shift = 0, middle = 0))
  q <- stats::quantile(z, c(0.1, 0.5), names = FALSE)
  spread <- (q[[2L]] - q[[1L]] + 0.1) / (null[[2L]] - null[[1L]] + 0.1)
  share <- min(1, length(z) / 60)
  list(scale = sqrt(max(1, spread))^share, shift = share * max(0, q[[2L]] - null[[2L]]),
       middle = q[[2L]])
}

from_bulk <- function(z, bulk, few) {
  ((z - bulk$middle) / bulk$scale + bulk$middle - bulk$shift) / few
}

to_bulk <- function(z, bulk, few) {
  (z * few + bulk$shift - bulk$middle) * bulk$scale + bulk$middle
}

#' Probability of a z as large, by the quantiles of `null_levels`
#'
#' Beyond the quantile of 0.9 the tail is that of a normal distribution, whose width the
#' quantile of 0.97 gives.
#' @noRd
tail_p <- function(z, q) {
  width <- (q[[4L]]^2 - q[[3L]]^2) / log(0.1 / 0.03)
  p <- 0.1 * exp(-(z^2 - q[[3L]]^2) / width)
  inside <- z <= q[[3L]]
  below <- unique(cummax(c(-50, q[1:3])))
  at <- c(0, null_levels[1:3])[match(below, cummax(c(-50, q[1:3])))]
  p[inside] <- 1 - stats::approx(below, at, pmax(z[inside], -50), rule = 2)$y
  pmin(1, pmax(p, 1e-300))
}

#' The z at which `tail_p()` is `p`, for p of at most 0.1
#' @noRd
tail_z <- function(p, q) {
  width <- (q[[4L]]^2 - q[[3L]]^2) / log(0.1 / 0.03)
  sqrt(q[[3L]]^2 + width * pmax(0, log(0.1 / p)))
}

#' p values of all directions of all pairs
#'
#' @param found Columns of `scan_pairs()`.
#' @param null What `null_of()` gave.
#' @param spread Of each pair: its z are divided by the root.
#' @return The columns of the more probable sign: `up` (whether it is more spikes), `z` (as
#'   `from_bulk()` gives it, with its sign), `raw`, `count`, `expected`, `noise`, `lo`, `p`, `q`.
#'   Attribute `bulk`: that of both signs.
#' @noRd
judge_pairs <- function(found, null, spread) {
  spread <- rep(sqrt(spread), each = 2L)
  found$up_z <- found$up_z / spread
  found$down_z <- found$down_z / spread
  bulk <- list(up = bulk_of(found$up_z, null$up), down = bulk_of(-found$down_z, null$down))
  more <- from_bulk(found$up_z, bulk$up, null$few)
  fewer <- from_bulk(-found$down_z, bulk$down, null$few)
  p_more <- tail_p(more, null$up)
  p_fewer <- tail_p(fewer, null$down)
  up <- p_more < p_fewer | p_more == p_fewer & found$up_z > -found$down_z
  pick <- \(name) {
    out <- found[[paste0("down_", name)]]
    out[up] <- found[[paste0("up_", name)]][up]
    out
  }
  p <- pmin(1, 2 * pmin(p_more, p_fewer))
  list(up = up, z = ifelse(up, more, -fewer), raw = pick("z"), count = pick("count"),
       expected = pick("expected"), noise = pick("noise"), lo = pick("lo"), p = p,
       q = stats::p.adjust(p, "BH"), bulk = bulk)
}

# The best z of independent Poisson trains, for `max_lag` in ms: of both signs and of 45,000
# pairs. They are nearly the same for bins of 0.5 and of 1 ms, and for all hollow baselines.
poisson_table <- list(max_lag = c(3, 4, 5, 7, 10, 15, 20, 30),
                      q10 = c(-1.46, -0.99, -0.63, -0.10, 0.28, 0.68, 0.92, 1.19),
                      q50 = c(-0.21, 0.15, 0.43, 0.80, 1.12, 1.40, 1.57, 1.78),
                      q90 = c(0.99, 1.34, 1.57, 1.84, 2.05, 2.24, 2.37, 2.52),
                      q97 = c(1.58, 1.91, 2.11, 2.34, 2.53, 2.69, 2.79, 2.92))

#' Quantiles of the best z of independent Poisson trains
#' @noRd
poisson_quantiles <- function(max_lag) {
  at <- \(column) stats::approx(poisson_table$max_lag, column, 1000 * max_lag, rule = 2)$y
  q <- vapply(poisson_table[-1L], at, 0, USE.NAMES = FALSE)
  list(up = q, down = q)
}

#' By how much more the counts of a pair vary at long lags than those of Poisson trains, at least 1
#'
#' Over what one pair in twenty reaches by chance, so that this hardly ever lowers the evidence of
#' pairs without a rhythm.
#' @param spread Of each pair, from the compiled code.
#' @param windows Of how many windows it is the mean.
#' @noRd
excess_spread <- function(spread, windows) {
  if (windows == 0) return(rep(1, length(spread)))
  pmax(1, spread * windows / stats::qchisq(0.95, windows))
}

# ---- Stages --------------------------------------------------------------------------

# Standard deviations of the hollow baseline that are tried, in ms, and how much wider than
# the null the bulk of all pairs may be for one to be taken before the last.
hollow_widths <- c(20, 15, 10)
most_inflation <- 1.15

#' @param rest 0 where nobody reads the spread of pairs.
#' @noRd
scan_options <- function(plan, hollow, folded = 3, mask = 4, rest = plan$rest) {
  c(plan[c("lags", "reach", "width", "guard", "pad")],
    list(rest = rest, hollow = hollow * plan$ms, folded = folded * plan$ms, mask = mask))
}

#' z without connections, at one width of the hollow baseline
#' @noRd
null_of <- function(work, options, plan, spread = 1) {
  options$rest <- 0
  z <- work$null(c(options, list(shift = as.integer(plan$shift), smooth = options$hollow)))
  # Those of a pair are side by side.
  each <- 2L * length(plan$shift)
  z <- lapply(z, `/`, sqrt(if (length(spread) > 1L) rep(spread[work$few], each = each) else 1))
  poisson <- poisson_quantiles(plan$max_lag)
  n <- length(z$up)
  if (n == 0L) return(c(poisson, few = 1.15))
  list(up = chance_quantiles(z$up, poisson$up), down = chance_quantiles(-z$down, poisson$down),
       few = 1 + 0.15 * (1 - enough_nulls(n)))
}

#' All pairs beside the widest hollow baseline that leaves no structure in their bulk
#' @noRd
first_stage <- function(work, plan) {
  for (hollow in hollow_widths) {
    options <- scan_options(plan, hollow)
    found <- work$scan(options)
    found$spread <- excess_spread(found$spread,
                                  2 * (plan$lags + 1 - plan$rest) %/% plan$width)
    null <- null_of(work, options, plan, found$spread)
    judged <- judge_pairs(found, null, found$spread)
    if (max(judged$bulk$up$scale, judged$bulk$down$scale) <= most_inflation) break
  }
  list(hollow = hollow, options = options, found = found, null = null, judged = judged)
}
