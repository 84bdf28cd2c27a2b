# What follows for a link from its test, and what forbids any sentence about it.

#' Why links cannot be told, or NA
#'
#' @param from,to Columns of `value`, the series in standard units.
#' @param rho Of the map.
#' @param of Why a series allows no sentence, or NA.
#' @noRd
link_obstacles <- function(from, to, rho, value, of) {
  reason <- of[to]
  reason[is.na(reason)] <- of[from][is.na(reason)]
  close <- which(is.na(reason) & rho >= verdict_rules$in_step)
  for (some in pieces(length(close), max(1, floor(2^22 / nrow(value))))) {
    some <- close[some]
    together <- column_correlations(value[, from[some], drop = FALSE],
                                    value[, to[some], drop = FALSE])
    reason[some[abs(together) >= verdict_rules$in_step]] <- "in step"
  }
  reason
}

#' Correlation of each column of x with that of y, in the rows that both have; 0 for none
#' @noRd
column_correlations <- function(x, y) {
  gone <- is.na(x) | is.na(y)
  if (any(gone)) x[gone] <- y[gone] <- NA
  centred <- \(v) v - rep(colMeans(v, na.rm = TRUE), each = nrow(v))
  x <- centred(x)
  y <- centred(y)
  total <- \(v) colSums(v, na.rm = TRUE)
  rho <- total(x * y) / sqrt(total(x^2) * total(y^2))
  rho[is.na(rho)] <- 0
  rho
}

#' What follows for each tested link
#'
#' @param from,to Numbers of series of the source.
#' @param found What join_blocks() gives.
#' @return A list, by link: `kind`, one of `direct_link_kinds`; `through`, numbers of series of
#'   each; `reason`, or NA; and the `q_value`.
#' @noRd
link_verdicts <- function(from, to, found, alpha) {
  test <- found$test
  # Rows that are missing may leave too few for a test.
  known <- !is.na(test$p_value)
  q <- stats::p.adjust(test$p_value, "BH")
  sure <- known & looks_direct(q, test$t, test$linear, alpha)
  # Links that would be direct, were it not for another reason.
  noisy <- sure & !is.na(found$noisy)
  hidden <- sure & !noisy & found$hidden
  direct <- sure & !noisy & !hidden
  reason <- rep(NA_character_, length(from))
  reason[noisy] <- "noise"
  reason[hidden] <- "hidden"
  reason[!known] <- "short"
  kinds <- kinds_of_links(from, to, direct, known & test$alone <= alpha, found$parties)
  kinds$kind[pair_together(from, to, direct, test$p_together, alpha)] <- "undirected"
  kinds$kind[!is.na(reason)] <- "refused"
  kinds$through[kinds$kind %in% c("undirected", "refused")] <- list(integer())
  kinds$through[noisy] <- as.list(found$noisy[noisy])
  c(kinds, list(reason = reason, q_value = q))
}

#' Whether two series go together at the same step, and neither drives the other directly
#'
#' Both rows of a pair have to say so, where both were looked at.
#' @noRd
pair_together <- function(from, to, direct, p, alpha) {
  pair <- pair_key(pmin(from, to), pmax(from, to))
  pair <- match(pair, unique(pair))
  by_pair <- order(pair, -p)
  weakest <- p[by_pair][match(seq_len(max(pair, 0L)), pair[by_pair])][pair]
  q <- stats::p.adjust(weakest, "BH")
  !is.na(q) & q <= alpha & !pair %in% pair[direct]
}

#' The kind of each link by the direct ones and the parties, and through whom
#'
#' @param from,to Numbers of series of the tested links.
#' @param direct Whether each is direct.
#' @param alone Whether its cause improves the forecast without parties.
#' @param parties Numbers of the parties of its effect.
#' @return A list: `kind`, and `through`, numbers of series of each.
#' @noRd
kinds_of_links <- function(from, to, direct, alone, parties) {
  open <- which(!direct & alone)
  # A row for each other party of the effect of such a link.
  link <- rep(open, lengths(parties[open]))
  other <- as.integer(unlist(parties[open], use.names = FALSE))
  own <- other == from[link]
  link <- link[!own]
  other <- other[!own]
  leads <- leads_to(from[direct], to[direct])
  # Those through which the cause reaches the effect, and those that drive both.
  between <- leads(from[link], other)
  above <- leads(other, from[link])
  # Without others it is significant by itself, but not among all links.
  kind <- ifelse(direct, "direct", "unsupported")
  kind[link] <- "explained"
  kind[link[above]] <- "common driver"
  kind[link[between]] <- "mediated"
  named <- ifelse(kind[link] == "mediated", between, kind[link] == "explained" | above)
  through <- split(other[named], factor(link[named], seq_along(from)))
  list(kind = kind, through = unname(through))
}

#' A function that says whether one or two direct links lead from series to others
#' @noRd
leads_to <- function(from, to) {
  by_effect <- order(to)
  cause <- from[by_effect]
  n <- max(from, to, 0L)
  first <- match(seq_len(n), to[by_effect])
  count <- tabulate(to, n)
  # Two links in a row: for each link all that lead to its cause.
  times <- count[from]
  before <- cause[sequence(times[times > 0L], first[from][times > 0L])]
  reached <- unique(c(pair_key(from, to), pair_key(before, rep(to, times))))
  \(a, b) pair_key(a, b) %in% reached
}
