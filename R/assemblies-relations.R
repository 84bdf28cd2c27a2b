# How assemblies are related: which are one motif, which are reversed, which share members.

#' How often two trains of moments come together at one shift
#'
#' @param a,b Increasing times, in any unit.
#' @param width How far shifts may differ.
#' @param reach The longest shift.
#' @param whole The recorded time.
#' @return `share`: of the moments of the one that has fewer, the share that has a moment of the
#'   other at the shift at which most have, beyond chance; and this `shift`, of `b` after `a`.
#' @noRd
come_together <- function(a, b, width, reach, whole) {
  first <- findInterval(a - reach, b, left.open = TRUE)
  n <- findInterval(a + reach, b) - first
  shift <- b[sequence(n, first + 1L)] - rep(a, n)
  fewer <- min(length(a), length(b))
  chance <- length(a) * length(b) * width / whole
  if (length(shift) == 0L || chance >= fewer) return(list(share = 0, shift = NA_real_))
  shift <- sort(shift)
  most <- densest(shift, width)
  # Several moments of one train may be near one of the other.
  together <- min(length(most), fewer)
  list(share = max(0, (together - chance) / (fewer - chance)),
       shift = stats::median(shift[most]))
}

#' The places of most sorted numbers that are within a width
#' @noRd
densest <- function(sorted, width) {
  within <- findInterval(sorted + width, sorted) - seq_along(sorted) + 1L
  seq_len(max(0L, within)) + which.max(within)[1L] - 1L
}

#' Whether two groups are one motif: half of the members of the smaller one and half of the
#' activations of the rarer one, at one shift, are those of the other
#'
#' Units that fire twice in a motif make a group of their second spikes, and groups of first
#' spikes of some and second spikes of others.
#' @noRd
one_motif <- function(shared, sizes, together) shared >= 2L & 2 * shared >= sizes & together >= 0.5

#' Whether the order of lags of one is that of the other reversed
#'
#' Told from pairs of members whose windows are apart in both.
#' @param a,b Lags of the members that are shared; `wide_a`, `wide_b`, their widths.
#' @noRd
is_reversed <- function(a, b, wide_a, wide_b) {
  if (length(a) < 3L) return(FALSE)
  later <- function(lag) outer(lag, lag, `-`)
  apart <- function(lag, width) abs(later(lag)) > outer(width, width, pmax) / 2
  told <- upper.tri(diag(length(a))) & apart(a, wide_a) & apart(b, wide_b)
  sum(told) >= 3L && mean((later(a) * later(b))[told] < 0) >= 0.9
}

#' A row for each two assemblies that have members in common
#' @noRd
assembly_relations <- function(x) {
  whole <- observed_seconds(attr(x, "recording", exact = TRUE))
  units <- unique(unlist(x$units))
  member <- vapply(x$units, \(own) units %in% own, logical(length(units)))
  shared <- crossprod(matrix(as.numeric(member), length(units)))
  pairs <- which(upper.tri(shared) & shared > 0, arr.ind = TRUE)
  pairs <- pairs[order(pairs[, 1L], pairs[, 2L]), , drop = FALSE]
  rows <- lapply(seq_len(nrow(pairs)), \(k) {
    relation_of(x, pairs[[k, 1L]], pairs[[k, 2L]], whole)
  })
  none <- data.frame(assembly = integer(), other = integer(), relation = character(),
                     shared = integer(), together = double(), shift = double())
  do.call(rbind, c(list(none), rows))
}

relation_of <- function(x, a, b, whole) {
  units <- intersect(x$units[[a]], x$units[[b]])
  own <- match(units, x$units[[a]])
  others <- match(units, x$units[[b]])
  sizes <- min(lengths(x$units[c(a, b)]))
  width <- max(x$width[c(a, b)])
  reach <- max(unlist(x$lags[c(a, b)])) + width
  both <- come_together(x$times[[a]], x$times[[b]], width, reach, whole)
  n <- length(units)
  relation <- if (one_motif(n, sizes, both$share)) "same motif" else if (
    2 * n >= sizes && is_reversed(x$lags[[a]][own], x$lags[[b]][others], x$widths[[a]][own],
                                  x$widths[[b]][others])) "reversed" else if (
    n == sizes) "subset" else "shares members"
  data.frame(assembly = x$assembly[[a]], other = x$assembly[[b]], relation = relation, shared = n,
             together = both$share, shift = if (both$share >= 0.5) both$shift else NA_real_)
}

#' The relations in words
#' @noRd
relation_words <- function(x) {
  of <- assembly_relations(x)
  shown <- of[of$relation != "shares members", ]
  said <- vapply(seq_len(nrow(shown)), \(k) relation_sentence(shown[k, ]), "")
  left <- nrow(shown) - 5L
  c(utils::head(said, 5L),
    if (left > 0L) sprintf("And %s, in `as.data.frame(x, what = \"relations\")`.",
                           counted(left, "more relation")),
    shared_words(x))
}

relation_sentence <- function(of) {
  members <- counted(of$shared, "member")
  switch(
    of$relation,
    `same motif` = sprintf(paste(
      "Assemblies %d and %d are one motif: they share %s, and the second one comes %s the first",
      "one each time."), of$assembly, of$other, members, after_text(of$shift)),
    reversed = sprintf(
      "Assembly %d is assembly %d in reverse order (%s), as in forward and reverse replay.",
      of$other, of$assembly, members),
    subset = sprintf("All members of the smaller of assemblies %d and %d (%s) are in the other%s.",
                     of$assembly, of$other, members,
                     if (is.na(of$shift)) ", at other times" else "")
  )
}

after_text <- function(shift) {
  if (abs(shift) < 5e-4) return("at the time of")
  paste(duration_text(abs(shift)), if (shift > 0) "after" else "before")
}

#' Units that are in several assemblies
#' @noRd
shared_words <- function(x) {
  often <- table(unlist(x$units))
  shared <- names(often)[often > 1L]
  if (length(shared) == 0L) return(NULL)
  sprintf("%s in more than one assembly.",
          if (length(shared) == 1L) paste("Unit", shared, "is") else
    paste("Units", units_text(shared), "are"))
}
