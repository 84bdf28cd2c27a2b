# Pairs of units that fire at a preferred lag of each other: narrow peaks of cross-correlograms,
# tested against surrogates, for all pairs, lags and widths together.

# Widths of peaks that are looked for, in bins, and how many bins on either side they are
# compared with, from how far on.
pair_widths <- data.frame(width = c(1L, 5L, 25L), from = c(2L, 6L, 26L), to = c(7L, 15L, 55L))
pair_lags <- 50L
most_paired <- 200L

#' The widths and lags of `x`: fewer where its times are those of frames of a camera
#'
#' @return A list: `bin` (ticks), `widths` (rows of `pair_widths`), `lags` and `reach`, of what
#'   they are compared with (bins).
#' @noRd
pair_plan <- function(x) {
  resolution <- attr(x, "resolution", exact = TRUE)
  bin <- max(1, round(0.001 / resolution), frame_ticks(train_ticks(x)))
  seconds <- ticks_to_seconds(bin, resolution)
  short <- pair_widths$width * seconds <= 0.15 | pair_widths$width == 1L
  widths <- pair_widths[short, , drop = FALSE]
  lags <- min(pair_lags, max(10, floor(0.25 / seconds)))
  list(bin = bin, seconds = seconds, widths = widths, lags = lags,
       reach = lags + max(widths$to))
}

#' Test all pairs of units
#'
#' A window of 1, 5 or 25 bins is compared with the bins beside it: what is expected is what
#' those hold, so that rates which change together over longer times are no evidence. The
#' evidence is -log10 of the binomial probability of so many of the lags of both in the window. The
#' p value of a pair is the share of surrogates in which any pair, at any lag and width, has as
#' much evidence. In surrogates each unit is shifted by itself within pieces of the recording.
#'
#' @return A list: `pairs`, a data frame of those with p <= `alpha`, the surest first; `all`, how many
#'   were tested; `units`, of how many; `counts`, the cross-correlogram; and the settings. Or
#'   a string, why no pair was tested.
#' @noRd
test_pairs <- function(x, alpha, threads, max_memory) {
  spikes <- tabulate(as.integer(x$unit)[!is.na(trial_of(x))], nlevels(x$unit))
  if (sum(spikes > 0) < 2L) return("fewer than two units have spikes")
  plan <- pair_plan(x)
  reach <- plan$reach * plan$seconds
  pieces <- pair_pieces(x, max(4 * reach, min(10, observed_seconds(x) / 50)))
  if (nrow(pieces) < 5L) {
    return(sprintf("the recording is shorter than five pieces of %s, in which surrogates are made",
                   duration_text(4 * reach)))
  }
  chosen <- paired_units(x, spikes, plan, max_memory)
  if (length(chosen) < 2L) return("two units are more than `max_memory` allows")
  units <- levels(x$unit)[chosen]
  y <- keep_units(x, rlang::quo(!!units), rlang::current_env())
  count <- \(one) cross_correlogram(one, plan$seconds, reach, threads = threads,
                                    max_memory = max_memory)
  counts <- count(y)
  n <- ceiling(1 / alpha * (1 - 1e-9)) - 1
  largest <- vapply(seq_len(n), \(k) {
    max(0, pair_evidence(count(shifted_units(y, pieces)), plan)$evidence)
  }, 0)
  found <- pair_evidence(counts, plan)
  found$p <- vapply(found$evidence, \(v) (1 + sum(largest >= v)) / (n + 1), 0)
  sure <- found[found$p <= alpha * (1 + 1e-9), , drop = FALSE]
  rownames(sure) <- NULL
  list(pairs = sure, all = choose(length(chosen), 2), units = length(chosen),
       of = sum(spikes > 0), counts = counts,
       bin = plan$seconds, widths = plan$widths$width * plan$seconds, lags = plan$lags,
       max_lag = plan$lags * plan$seconds, n_surrogates = n, alpha = alpha,
       piece = stats::median(pieces$end - pieces$start))
}

#' The busiest units, as many as can be counted in some seconds and within `max_memory`
#' @noRd
paired_units <- function(x, spikes, plan, max_memory) {
  busiest <- order(-spikes)[seq_len(min(most_paired, sum(spikes > 0)))]
  reach <- plan$reach * plan$seconds
  work <- cumsum(spikes[busiest])^2 / max(observed_seconds(x), reach) * 2 * reach
  memory <- 80 * seq_along(busiest)^2 * plan$reach + 60 * nrow(x)
  sort(busiest[seq_len(sum(work <= 1e9 & memory <= max_memory))])
}

#' Equal pieces of the recording or of each trial, about as long as asked for, in seconds
#' @noRd
pair_pieces <- function(x, length) {
  trials <- attr(x, "trials", exact = TRUE)
  start <- trials$start %||% attr(x, "start", exact = TRUE)
  end <- trials$end %||% attr(x, "end", exact = TRUE)
  resolution <- attr(x, "resolution", exact = TRUE)
  parts <- Map(\(from, to) {
    n <- max(1, floor((to - from) / length))
    edges <- round_to_ticks(seq(from, to, length.out = n + 1), resolution)
    # The tick of an edge belongs to what begins there.
    last <- edges[-1L] - c(rep(1, n - 1), 0)
    data.frame(start = edges[-(n + 1)], end = last)
  }, start, end)
  pieces <- do.call(rbind, parts)
  # Trials may touch.
  touch <- which(pieces$start[-1L] <= pieces$end[-nrow(pieces)])
  pieces$end[touch] <- pieces$start[touch + 1L] - 1
  pieces <- pieces[pieces$end > pieces$start, , drop = FALSE]
  data.frame(start = ticks_to_seconds(pieces$start, resolution),
             end = ticks_to_seconds(pieces$end, resolution))
}

#' A surrogate: each unit is shifted by itself, around the end of each piece
#' @noRd
shifted_units <- function(x, pieces) {
  resolution <- attr(x, "resolution", exact = TRUE)
  ticks <- train_ticks(x)
  from <- round_to_ticks(pieces$start, resolution)
  long <- round_to_ticks(pieces$end, resolution) - from + 1
  piece <- findInterval(ticks, from)
  known <- which(piece > 0L)
  known <- known[ticks[known] < from[piece[known]] + long[piece[known]]]
  piece <- piece[known]
  code <- as.integer(x$unit)[known]
  key <- random_key()
  units <- nlevels(x$unit)
  by <- random_uniform(units * nrow(pieces), key, 0)[code + (piece - 1) * units]
  moved <- from[piece] + (ticks[known] - from[piece] + floor(by * long[piece])) %% long[piece]
  build_spike_trains(
    moved, structure(code, levels = levels(x$unit), class = "factor"),
    start = attr(x, "start", exact = TRUE), end = attr(x, "end", exact = TRUE),
    resolution = resolution, trials = attr(x, "trials", exact = TRUE), quiet = TRUE
  )
}

#' Of each pair, the window with most evidence
#'
#' @param counts A cross-correlogram.
#' @param plan What `pair_plan()` gives.
#' @return Data frame `reference`, `target` (the one that fires later), `lag`, `width` (s),
#'   `count`, `expected`, `evidence`, of pairs with any.
#' @noRd
pair_evidence <- function(counts, plan) {
  units <- dim(counts)[[2L]]
  lag <- attr(counts, "lag", exact = TRUE)
  bin <- attr(counts, "bin_size", exact = TRUE)
  pair <- which(upper.tri(diag(units)), arr.ind = TRUE)
  held <- matrix(plain_counts(counts), length(lag))[, pair[, 1L] + (pair[, 2L] - 1L) * units,
                                                    drop = FALSE]
  sums <- rbind(0, apply(held, 2L, cumsum))
  middle <- length(lag) %/% 2L + 1L + seq.int(-plan$lags, plan$lags)
  span <- \(from, to) sums[middle + to + 1L, , drop = FALSE] - sums[middle + from, , drop = FALSE]
  best <- do.call(rbind, lapply(seq_len(nrow(plan$widths)), \(k) {
    size <- plan$widths$width[[k]]
    half <- size %/% 2L
    from <- plan$widths$from[[k]]
    to <- plan$widths$to[[k]]
    window <- span(-half, half)
    beside <- span(-to, -from) + span(from, to)
    share <- size / (2 * (to - from + 1))
    high <- which((window - share * beside)^2 > 9 * (share * beside + 0.3) &
                    window > share * beside)
    evidence <- -stats::pbinom(window[high] - 1, window[high] + beside[high], share / (1 + share),
                               lower.tail = FALSE, log.p = TRUE) / log(10)
    column <- (high - 1L) %/% nrow(window) + 1L
    data.frame(column = column, row = (high - 1L) %% nrow(window) + 1L,
               width = rep(size, length(high)), count = window[high],
               expected = share * beside[high], evidence = evidence)
  }))
  best <- best[order(-best$evidence), , drop = FALSE]
  best <- best[!duplicated(best$column), , drop = FALSE]
  at <- lag[middle][best$row]
  later <- at >= 0
  names <- dimnames(counts)[[2L]]
  data.frame(
    reference = names[ifelse(later, pair[best$column, 1L], pair[best$column, 2L])],
    target = names[ifelse(later, pair[best$column, 2L], pair[best$column, 1L])],
    lag = abs(at), width = best$width * bin, count = best$count, expected = best$expected,
    evidence = best$evidence
  )
}
