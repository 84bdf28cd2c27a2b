# Joint rates: pairs of units that fire together, at whatever lag, more often than chance. Narrow
# and wide peaks of cross-correlograms are tested against surrogates, for all pairs, lags and widths
# together. Whether a pair is connected is another question, see report-connections.R.

# Widths of peaks that are looked for, in bins, and the bins on either side that they are compared
# with: `from` to `near`, and from there to `far`.
pair_widths <- data.frame(peak = c("narrow", "narrow", "wide"), width = c(1L, 5L, 25L),
                          from = c(2L, 6L, 26L), near = c(5L, 10L, 55L), far = c(15L, 20L, 55L))
pair_lags <- 50L
pair_shift <- 25L       # bins
most_paired <- 200L
pair_surrogates <- 199L

#' The widths and lags of `x`: fewer where its times are those of frames of a camera
#'
#' @return A list: `bin` (ticks), `widths` (rows of `pair_widths`), `lags` and `reach`, of what
#'   they are compared with (bins).
#' @noRd
pair_plan <- function(x) {
  resolution <- attr(x, "resolution", exact = TRUE)
  bin <- max(1, round(0.001 / resolution), frame_ticks(x))
  seconds <- ticks_to_seconds(bin, resolution)
  short <- pair_widths$width * seconds <= 0.15 | pair_widths$width == 1L
  widths <- pair_widths[short, , drop = FALSE]
  lags <- min(pair_lags, max(10, floor(0.25 / seconds)))
  list(bin = bin, seconds = seconds, widths = widths, lags = lags, reach = lags + max(widths$far))
}

#' Test all pairs of units
#'
#' A window of 1, 5 or 25 bins is compared with the bins beside it: what is expected is what
#' those hold, so that rates which change together over longer times are no evidence. The p value
#' of a peak is the share of surrogates in which any pair, at any lag, has as much evidence of a
#' peak of its kind, times the number of kinds. For wide peaks, each unit is shifted by itself to
#' any place within pieces of the recording. For narrow ones it is shifted by at most 25 bins, so
#' that surrogates keep all that units have in common over longer times.
#'
#' @return A list: `pairs`, a data frame of those with p <= `alpha`, first those with narrow
#'   peaks, the surest first; `all`, how many were tested; `units`, of how many; `counts`, the
#'   cross-correlogram; and the settings. Or a string, why no pair was tested.
#' @noRd
test_pairs <- function(x, alpha, threads, max_memory) {
  spikes <- spikes_in_trials(x)
  if (sum(spikes > 0) < 2L) return("fewer than two units have spikes")
  plan <- pair_plan(x)
  reach <- plan$reach * plan$seconds
  if (sum(pair_pieces(trains_of(x), 4 * plan$reach * plan$bin)$n) < 5) {
    return(sprintf("the recording is shorter than five pieces of %s, in which surrogates are made",
                   duration_text(4 * reach)))
  }
  work <- pair_work(x, spikes, plan)
  chosen <- paired_units(x, work, plan, max_memory)
  if (length(chosen) < 2L) return("two units are more than `max_memory` allows")
  units <- levels(x$unit)[chosen]
  y <- keep_units(x, rlang::quo(!!units))
  counts <- cross_correlogram(y, plan$seconds, reach, threads = threads, max_memory = max_memory)
  kinds <- unique(plan$widths$peak)
  # Fewer surrogates where each takes long, but as many as p values of alpha need.
  n <- max(ceiling(length(kinds) / alpha * (1 - 1e-9)) - 1,
           min(pair_surrogates, floor(3e9 / work[[length(chosen)]])))
  trains <- trains_of(y)
  both <- length(kinds) == 2L
  seconds <- c(narrow = min(40 * pair_shift * plan$seconds, observed_seconds(x) / 50),
               wide = min(10, observed_seconds(x) / 50))
  # Frames are long: what keeps its rhythm over the recording does so in surrogates.
  if (!both) seconds[] <- observed_seconds(x)
  found <- lapply(kinds, \(kind) {
    widths <- plan$widths[plan$widths$peak == kind, ]
    ticks <- seconds[[kind]] / attr(x, "resolution", exact = TRUE)
    places <- spikes_in_pieces(trains, pair_pieces(trains, max(4 * plan$reach * plan$bin, ticks)))
    largest <- vapply(seq_len(n), \(k) {
      moved <- shifted_units(trains, places, plan$bin, if (both && kind == "narrow") pair_shift)
      held <- count_lags(moved, plan$bin, plan$lags + max(widths$far), threads, max_memory)
      max(0, strongest_windows(pairs_of_counts(held), plan$lags, widths)$evidence)
    }, 0)
    found <- pair_evidence(counts, plan$lags, widths)
    found$p <- pmin(1, length(kinds) * (1 + vapply(found$evidence, \(v) sum(largest >= v),
                                                   0)) / (n + 1))
    found[found$p <= alpha * (1 + 1e-9), , drop = FALSE]
  })
  found <- do.call(rbind, found)
  pair <- paste(pmin(found$reference, found$target), pmax(found$reference, found$target),
                sep = "\r")
  found <- found[!duplicated(pair), , drop = FALSE]
  rownames(found) <- NULL
  list(pairs = found, all = choose(length(chosen), 2),
       units = length(chosen), of = sum(spikes > 0), counts = counts,
       bin = plan$seconds, widths = plan$widths$width * plan$seconds, lags = plan$lags,
       max_lag = plan$lags * plan$seconds, n_surrogates = n, alpha = alpha,
       peaks = plan$widths$peak, shift = pair_shift * plan$seconds,
       piece = if (both) max(4 * reach, seconds[["wide"]]))
}

# ---- How much to look at -------------------------------------------------------------

#' About how many pairs of spikes the busiest one, two, ... units have
#' @noRd
pair_work <- function(x, spikes, plan) {
  busiest <- sort(spikes[spikes > 0], decreasing = TRUE)
  reach <- 2 * plan$reach * plan$seconds
  cumsum(utils::head(busiest, most_paired))^2 / max(observed_seconds(x), reach) * reach
}

#' The busiest units, as many as can be counted in some seconds and within `max_memory`
#' @noRd
paired_units <- function(x, work, plan, max_memory) {
  spikes <- spikes_in_trials(x)
  memory <- 80 * seq_along(work)^2 * plan$reach + 150 * nrow(x)
  sort(order(-spikes)[seq_len(sum(work <= 4e8 & memory <= max_memory))])
}

# ---- Surrogates ----------------------------------------------------------------------

#' Equal pieces of the recording or of each trial
#'
#' @param trains What `trains_of()` gives.
#' @param length About how long, in ticks.
#' @return A list, an element a trial: `n`, how many pieces, and `long`, ticks of each but the
#'   last, which has what is left.
#' @noRd
pair_pieces <- function(trains, length) {
  span <- trains$stop - trains$start + 1
  n <- pmax(1, floor(span / length))
  list(n = n, long = pmax(1, span %/% n))
}

#' Of each spike in a trial the piece that it is in
#'
#' Only pieces in which a unit has spikes are numbered: a long recording may have very many
#' others.
#'
#' @return A list, an element a spike: `spike`, which one, `from` and `long` of its piece (ticks),
#'   and `cell`, a number of the unit in the piece, up to `cells`.
#' @noRd
spikes_in_pieces <- function(trains, pieces) {
  inside <- if (is.null(trains$trial)) seq_along(trains$tick) else which(!is.na(trains$trial))
  trial <- if (is.null(trains$trial)) rep(1L, length(inside)) else trains$trial[inside]
  start <- trains$start[trial]
  usual <- pieces$long[trial]
  last <- pieces$n[trial] - 1
  piece <- pmin((trains$tick[inside] - start) %/% usual, last)
  from <- start + piece * usual
  number <- (c(0, cumsum(pieces$n))[trial] + piece) * trains$units + as.integer(trains$unit)[inside]
  known <- unique(number)
  list(spike = inside, from = from,
       long = ifelse(piece == last, trains$stop[trial] + 1 - from, usual),
       cell = match(number, known), cells = length(known))
}

#' A surrogate: each unit is shifted by itself, around the end of each piece
#'
#' @param places What `spikes_in_pieces()` gives.
#' @param bin In ticks: shifts are whole bins, which keeps frames what they are.
#' @param most Bins that a shift may have to either side; `NULL` for any place in the piece.
#' @return Like `trains`.
#' @noRd
shifted_units <- function(trains, places, bin, most = NULL) {
  u <- random_uniform(places$cells, random_key(), 0)[places$cell]
  by <- if (is.null(most)) floor(u * places$long / bin) else floor(u * (2 * most + 1)) - most
  tick <- places$from + (trains$tick[places$spike] - places$from + by * bin) %% places$long
  unit <- as.integer(trains$unit)[places$spike]
  o <- order(tick, unit, method = "radix")
  trains$tick <- tick[o]
  trains$unit <- unit[o]
  if (!is.null(trains$trial)) trains$trial <- trains$trial[places$spike][o]
  trains
}

# ---- Evidence ------------------------------------------------------------------------

#' Counts of all pairs of different units, lags x pairs
#' @noRd
pairs_of_counts <- function(counts) {
  units <- dim(counts)[[2L]]
  dim(counts) <- c(dim(counts)[[1L]], units^2)
  counts[, which(upper.tri(diag(units))), drop = FALSE]
}

#' Of each pair of units, the window with most evidence
#'
#' @param counts A cross-correlogram.
#' @return Data frame `reference`, `target` (the one that fires later), `peak`, `lag`, `width`
#'   (s), `count`, `expected`, `evidence`, of pairs with any, the surest first.
#' @noRd
pair_evidence <- function(counts, lags, widths) {
  bin <- attr(counts, "bin_size", exact = TRUE)
  names <- dimnames(counts)[[2L]]
  pair <- which(upper.tri(diag(length(names))), arr.ind = TRUE)
  best <- strongest_windows(pairs_of_counts(plain_array(counts)), lags, widths)
  best <- best[order(-best$evidence), , drop = FALSE]
  best <- best[!duplicated(best$pair), , drop = FALSE]
  later <- best$lag >= 0
  data.frame(reference = names[ifelse(later, pair[best$pair, 1L], pair[best$pair, 2L])],
             target = names[ifelse(later, pair[best$pair, 2L], pair[best$pair, 1L])],
             peak = rep(widths$peak[[1L]], nrow(best)), lag = abs(best$lag) * bin,
             width = best$width * bin, count = best$count, expected = best$expected,
             evidence = best$evidence)
}

#' All windows that hold clearly more than those beside them
#'
#' Expected is the mean of the bins beside a window. Where those near it hold more than those far
#' from it, the window is on top of something wider, and as much more is expected in it as a
#' parabola through both has there. The evidence is -log10 of the binomial probability of so many
#' in the window, of all that are in it and beside it.
#'
#' @param held Counts, lags x pairs; the lag in the middle is 0.
#' @param lags How many to either side are looked at.
#' @param widths Rows of `pair_widths`.
#' @return Data frame `pair`, `lag` and `width` (bins), `count`, `expected`, `evidence`.
#' @noRd
strongest_windows <- function(held, lags, widths) {
  middle <- nrow(held) %/% 2L + 1L + seq.int(-lags, lags)
  total <- c(0, cumsum(as.double(held)))
  before <- matrix(total[-length(total)], nrow(held))
  after <- matrix(total[-1L], nrow(held))
  sums <- \(from, to) after[middle + to, , drop = FALSE] - before[middle + from, , drop = FALSE]
  both <- \(from, to) sums(-to, -from) + sums(from, to)
  found <- lapply(seq_len(nrow(widths)), \(k) {
    w <- widths[k, ]
    window <- sums(-(w$width %/% 2L), w$width %/% 2L)
    beside <- both(w$from, w$far)
    share <- w$width / (2 * (w$far - w$from + 1))
    expected <- share * beside
    if (w$near < w$far) {
      near <- both(w$from, w$near)
      steeper <- w$width * parabola_top(near / (2 * (w$near - w$from + 1)),
                                        (beside - near) / (2 * (w$far - w$near)), w)
      expected <- pmax(expected, steeper)
    }
    high <- which(window > expected & (window - expected)^2 > 9 * (expected + 0.3))
    few <- expected[high]
    evidence <- -stats::pbeta(share / (1 + share), window[high], few / share + 1,
                              log.p = TRUE) / log(10)
    data.frame(pair = (high - 1L) %/% nrow(window) + 1L,
               lag = (high - 1L) %% nrow(window) - lags, width = rep(w$width, length(high)),
               count = window[high], expected = few, evidence = evidence)
  })
  do.call(rbind, found)
}

#' Mean in a window, of a parabola with these means in the bins near to it and far from it
#' @noRd
parabola_top <- function(near, far, w) {
  squares <- \(from, to) mean(seq.int(from, to)^2)
  inside <- squares(-(w$width %/% 2L), w$width %/% 2L)
  nearer <- squares(w$from, w$near)
  near + (near - far) * (nearer - inside) / (squares(w$near + 1L, w$far) - nearer)
}
