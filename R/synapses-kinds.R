# What kind of pair each is, and the table of the result.

# Nothing is called unless the smallest q value is so much below the false discovery rate.
gate_share <- 0.4

# Spikes that a window must have for a peak, and expect for a dip.
least_seen <- 5

# Share of what a link explains in the window of a pair from which the pair is explained.
least_explained <- 0.25

#' The kinds of all pairs that are reported
#'
#' @param second What `second_stage()` gave.
#' @return Vectors of directions or of pairs: `call`, `refused`, `explained` (directions), and
#'   `same`, `common`, `wide` (pairs); `centre` and `broad`, what was seen around lag 0 and beside
#'   the hollow baseline alone.
#' @noRd
kinds_of <- function(work, plan, second, false_discovery) {
  judged <- second$judged
  pair <- rep(seq_along(work$a), each = 2L)
  open <- length(judged$q) > 0L && min(judged$q) <= gate_share * false_discovery
  wanted <- open & reaches(judged$q, false_discovery)
  enough <- ifelse(judged$up, judged$count, judged$expected) >= least_seen
  call <- wanted & enough
  centre <- work$centre(list(near = floor(plan$ms * (1 + 1e-9)), from = round(2 * plan$ms),
                             to = round(8 * plan$ms), same = floor(plan$ms / 2 * (1 + 1e-9))))
  z0 <- centre$z[pair]
  near <- (judged$lo - 1 + 0.5) <= 2 * plan$ms
  fewer <- pmin(work$n[work$a + 1L], work$n[work$b + 1L])
  same <- centre$same > 0.2 * fewer & centre$z > 5
  # A sorter that sees one of two spikes at a time leaves a hole around lag 0, and what is
  # beside it says nothing.
  hole <- centre$count < 0.25 * centre$around & centre$around > 12
  shadow <- call & (hole[pair] | !judged$up & judged$lo < 1.5 * plan$ms & z0 < -4 &
                      centre$count[pair] < 0.25 * centre$expected[pair])
  same[pair[shadow]] <- TRUE
  call <- call & !same[pair]
  both <- peaks_on_both_sides(work, plan, which(call & judged$up & z0 > 4 & near))
  shared <- call & (!judged$up & z0 > 5 & z0 > 2 * abs(judged$z) | seq_along(call) %in% both)
  call <- call & !shared
  explained <- !call & !shared & !same[pair] & is_explained(second, false_discovery)
  directed <- any_side(call | explained)
  centre$p <- stats::pnorm(-centre$z)
  centre$q <- stats::p.adjust(centre$p, "BH")
  common <- !same & !directed & (any_side(shared) | centre$z > 5 & centre$count >= 10 &
                                   centre$q <= gate_share * false_discovery)
  refused <- wanted & !enough & !same[pair] & !common[pair]
  broad <- broad_pairs(work, plan)
  wide <- broad$q <= false_discovery & !same & !common & !directed & !any_side(refused)
  list(call = call, refused = refused, explained = explained, same = same, common = common,
       wide = wide, centre = centre, broad = broad)
}

any_side <- function(flag) {
  n <- length(flag) / 2
  flag[2L * seq_len(n) - 1L] | flag[2L * seq_len(n)]
}

#' Those of some directions whose other side has a peak, too, beside the hollow baseline alone
#' @noRd
peaks_on_both_sides <- function(work, plan, directions) {
  if (length(directions) == 0L) return(directions)
  pair <- (directions + 1L) %/% 2L
  options <- scan_options(plan, min(hollow_widths), folded = 0, mask = 0, rest = 0)
  z <- work$scan(options, work$a[pair], work$b[pair])$up_z
  odd <- directions %% 2L == 1L
  first <- 2L * seq_along(pair) - 1L
  own <- ifelse(odd, z[first], z[first + 1L])
  other <- ifelse(odd, z[first + 1L], z[first])
  directions[other > 0.4 * own]
}

#' Which directions the first stage calls and the second does not, as other links explain them
#' @noRd
is_explained <- function(second, false_discovery) {
  before <- second$before
  extra <- before$count - before$expected
  open <- min(before$q, 1) <= gate_share * false_discovery
  enough <- ifelse(before$up, before$count, before$expected) >= least_seen
  open & reaches(before$q, false_discovery) & enough &
    !reaches(second$judged$q, false_discovery) & !is.na(second$via) &
    second$explained * sign(extra) >= least_explained * abs(extra)
}

#' Pairs that fire together on both sides of lag 0, beside the widest hollow baseline alone
#'
#' @return By pair: `z` of the weaker side, its `count` and `expected`, `p` and `q`.
#' @noRd
broad_pairs <- function(work, plan) {
  options <- scan_options(plan, max(hollow_widths), folded = 0, mask = 0, rest = 0)
  found <- work$scan(options)
  null <- null_of(work, options, plan)
  first <- 2L * seq_along(work$a) - 1L
  weaker <- first + (found$up_z[first + 1L] < found$up_z[first])
  z <- found$up_z[weaker] / null$few
  p <- tail_p(z, null$up)
  list(z = z, count = found$up_count[weaker], expected = found$up_expected[weaker], p = p,
       q = stats::p.adjust(p, "BH"))
}

# ---- Rows ----------------------------------------------------------------------------

#' Rows of directed kinds, as columns
#' @noRd
directed_rows <- function(work, second, kinds) {
  at <- which(kinds$call | kinds$explained | kinds$refused)
  is_explained <- kinds$explained[at]
  pick <- \(name) {
    ifelse(is_explained, second$before[[name]][at], second$judged[[name]][at])
  }
  count <- pick("count")
  baseline <- pick("expected")
  refused <- kinds$refused[at]
  up <- as.logical(pick("up"))
  list(from = work$from[at] + 1L, to = work$to[at] + 1L,
       kind = ifelse(refused, NA, ifelse(is_explained, "explained", "connection")),
       sign = ifelse(up, 1L, -1L), lo = as.integer(pick("lo")), count = count,
       baseline = baseline, noise = pick("noise"), z = pick("z"), p_value = second$judged$p[at],
       q_value = second$judged$q[at], via = ifelse(is_explained, second$via[at], NA),
       reason = ifelse(refused, few_reason(up, count, baseline), NA))
}

few_reason <- function(up, count, baseline) {
  ifelse(up, sprintf("Its window has %s spikes, and %d are needed.", format_some(count),
                     least_seen),
         sprintf("Chance gives its window %s spikes, and %d are needed for a dip.",
                 format_some(baseline), least_seen))
}

format_some <- function(v) vapply(v, \(one) format(one, digits = 2), "")

#' Rows of kinds without a direction
#' @noRd
symmetric_rows <- function(work, kinds) {
  at <- which(kinds$same | kinds$common | kinds$wide)
  wide <- kinds$wide[at]
  same <- kinds$same[at]
  pick <- \(name) ifelse(wide, kinds$broad[[name]][at], kinds$centre[[name]][at])
  z <- pick("z")
  n <- length(at)
  list(from = work$a[at] + 1L, to = work$b[at] + 1L,
       kind = ifelse(wide, "wide", ifelse(same, "same cell", "common input")),
       sign = ifelse(same, NA_integer_, 1L), lo = integer(n), count = pick("count"),
       baseline = pick("expected"), noise = numeric(n), z = z,
       p_value = ifelse(same, NA_real_, pick("p")), q_value = ifelse(same, NA_real_, pick("q")),
       via = rep(NA_integer_, n),
       reason = rep(NA_character_, n))
}

# Rows whose correlograms are kept.
most_correlograms <- 20000L

#' Correlograms of rows, and their slow part without the peaks of these rows
#' @noRd
correlograms_of <- function(work, plan, rows, hollow) {
  n <- min(length(rows$from), most_correlograms)
  keep <- seq_len(n)
  size <- dim(work$counts)
  column <- (rows$to[keep] - 1) * size[[2L]] + rows$from[keep] - 1
  # A matrix of three columns would be taken for places in three dimensions.
  counts <- work$counts[as.vector(outer(seq_len(size[[1L]]), column * size[[1L]], "+"))]
  dim(counts) <- c(size[[1L]], n)
  level <- counts + 0
  middle <- plan$lags + 1
  # A peak of the other direction is none of the slow part, either.
  directed <- which(!is.na(rows$lo[keep]) & rows$lo[keep] > 0L)
  other <- match(paste(rows$to[keep], rows$from[keep]), paste(rows$from[directed],
                                                              rows$to[directed]))
  own <- match(keep, directed)
  for (row in keep) {
    for (link in list(list(directed[own[[row]]], 1), list(directed[other[[row]]], -1))) {
      if (is.na(link[[1L]])) next
      peak <- peak_bins(rows$lo[[link[[1L]]]], plan)
      level[middle + link[[2L]] * peak, row] <- rows$baseline[[link[[1L]]]] / plan$width
    }
    if (rows$lo[[row]] == 0L) level[, row] <- without_centre(level[, row], rows$kind[[row]], plan)
  }
  slow <- .Call(r_synapse_slow, level, c(list(smooth = hollow * plan$ms), work$limits))
  slow <- finish_status(slow, "smoothing correlograms")
  list(counts = counts, baseline = pmax(slow, 0))
}

#' Bins that the peak of a window may take, see `syn_explain_options`
#' @noRd
peak_bins <- function(lo, plan) {
  from <- max(1, lo - round(plan$ms))
  seq(from, max(from, min(plan$reach, lo + plan$width + round(2 * plan$ms))))
}

#' A correlogram whose peak around lag 0 is replaced by what is beside it
#' @noRd
without_centre <- function(count, kind, plan) {
  lag <- abs(seq_along(count) - plan$lags - 1) / plan$ms
  ends <- if (kind == "wide") c(15, 25) else c(3, 8)
  count[lag < ends[[1L]]] <- mean(count[lag >= ends[[1L]] & lag <= ends[[2L]]])
  count
}

#' Where each row peaks within its window, and how many bins around it are above half of that
#' @param fast Counts without their slow part, turned up where the row is a dip.
#' @noRd
peaks_of <- function(fast, rows, plan) {
  middle <- plan$lags + 1
  out <- vapply(seq_len(ncol(fast)), \(row) {
    lo <- rows$lo[[row]]
    window <- if (lo > 0L) lo + seq_len(plan$width) - 1L else 0L
    peak <- window[[which.max(fast[middle + window, row])]]
    above <- fast[, row] > fast[[middle + peak, row]] / 2
    at <- middle + peak
    right <- which(!above[seq(at, length(above))])
    left <- which(!above[seq(at, 1L)])
    width <- c(right, length(above) - at + 2)[[1L]] + c(left, at + 1)[[1L]] - 3
    c(peak, max(1, width))
  }, c(0, 0))
  list(peak = out[1L, ], width = out[2L, ])
}

# ---- The object ----------------------------------------------------------------------

#' The smallest strength that could have been found, from x to
#' @noRd
power_of <- function(work, second, units, false_discovery) {
  n <- nrow(units)
  out <- matrix(NA_real_, n, n, dimnames = list(from = units$unit, to = units$unit))
  judged <- second$judged
  tests <- length(judged$q)
  if (tests == 0L) return(out)
  # The p value with which one more pair would be called.
  open <- min(judged$q) <= gate_share * false_discovery
  called <- sum(reaches(judged$q, false_discovery))
  least <- if (open) (called + 1) * false_discovery / tests else
    gate_share * false_discovery / tests
  z <- to_bulk(tail_z(min(0.1, least / 2), second$null$up), judged$bulk$up, second$null$few)
  expected <- pmax(second$found$up_expected, 0)
  noise <- (1 + second$found$up_noise) * rep(second$found$spread, each = 2L)
  # The root of a count grows by half of z: from this follows how many spikes z takes.
  spikes <- pmax(z * sqrt(expected * noise) + z^2 / 4 * noise, least_seen - expected)
  from <- work$from + 1L
  out[cbind(work$units[from], work$units[work$to + 1L])] <- spikes / work$n[from]
  out
}

#' @param about Attributes.
#' @noRd
new_synapses <- function(second, work, units, x, plan, about) {
  false_discovery <- about$false_discovery
  kinds <- kinds_of(work, plan, second, false_discovery)
  rows <- Map(c, directed_rows(work, second, kinds), symmetric_rows(work, kinds))
  kind <- factor(rows$kind, synapse_kinds)
  o <- order(kind, rows$p_value, -abs(rows$z), rows$from, rows$to)
  rows <- lapply(rows, `[`, o)
  kind <- kind[o]
  name <- \(u) levels(x$unit)[work$units[u]]
  seen <- correlograms_of(work, plan, rows, second$hollow)
  shown <- seq(-plan$shown, plan$shown) + plan$lags + 1
  keep <- seq_len(ncol(seen$counts))
  turned <- ifelse(is.na(rows$sign[keep]), 1L, rows$sign[keep])
  peaks <- peaks_of(t(t(seen$counts - seen$baseline) * turned), rows, plan)
  n <- work$n[rows$from]
  extra <- rows$count - rows$baseline
  slack <- stats::qnorm(0.975) * sqrt(pmax(0, rows$count + rows$noise * pmax(0, rows$baseline)))
  padded <- \(v) c(v, rep(NA_real_, length(kind) - length(v)))
  places <- cbind(units$x, units$y)[work$units, , drop = FALSE]
  apart <- places[rows$from, , drop = FALSE] - places[rows$to, , drop = FALSE]
  calls <- sum(kinds$call)
  synapses_table(list(
    from = name(rows$from), to = name(rows$to), kind = kind, sign = as.integer(rows$sign),
    lag = padded(peaks$peak) * plan$bin_size, width = padded(peaks$width) * plan$bin_size,
    strength = extra / n, strength_low = (extra - slack) / n, strength_high = (extra + slack) / n,
    count = rows$count, baseline = rows$baseline, z = rows$z, p_value = rows$p_value,
    q_value = rows$q_value, via = name(rows$via), distance = sqrt(rowSums(apart^2)),
    reason = as.character(rows$reason)
  ), c(list(
    tests = length(second$judged$q), expected_false = false_discovery * calls,
    power = power_of(work, second, units, false_discovery), units = units,
    scale = second$hollow / 1000,
    inflation = c(excitatory = second$judged$bulk$up$scale,
                  inhibitory = second$judged$bulk$down$scale),
    correlograms = seen$counts[shown, , drop = FALSE],
    baseline = seen$baseline[shown, , drop = FALSE], windows = windows_of(rows, plan)
  ), about))
}

#' Edges of the windows that rows are about, in seconds; of symmetric kinds, those around lag 0
#' @noRd
windows_of <- function(rows, plan) {
  directed <- rows$lo > 0L
  half <- ifelse(rows$kind %in% "wide", round(15 * plan$ms), floor(plan$ms * (1 + 1e-9))) + 0.5
  low <- ifelse(directed, rows$lo - 0.5, -half)
  cbind(low = low, high = ifelse(directed, rows$lo + plan$width - 0.5, half)) * plan$bin_size
}
