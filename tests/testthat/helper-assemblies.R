# Slow and obvious versions of what find_assemblies() measures.

# Trials one after the other with a lag's reach between them, cut into segments: the ticks of
# each unit, the segment of each of them, and the first tick and the bins of each segment.
laid_out <- function(x, ladder, margin) {
  trains <- synfire:::trains_of(x)
  trial <- trains$trial %||% rep(1L, length(trains$tick))
  apart <- floor(((2 * margin + 1) * ladder$bin + 1) / 2)
  length <- trains$stop - trains$start
  opened <- trains$start[[1L]] + cumsum(c(0, length[-length(length)] + apart))
  inside <- which(!is.na(trial))
  trial <- trial[inside]
  tick <- trains$tick[inside] - trains$start[trial] + opened[trial]
  pieces <- pmax(1, floor((length + 1) / ladder$segment))
  each <- floor((length + 1) / pieces)
  before <- c(0, cumsum(pieces))
  start <- unlist(lapply(seq_along(pieces), \(k) opened[[k]] + (seq_len(pieces[[k]]) - 1) * each[[k]]))
  stop <- unlist(lapply(seq_along(pieces), \(k) {
    c(opened[[k]] + seq_len(pieces[[k]] - 1) * each[[k]] - 1, opened[[k]] + length[[k]])
  }))
  segment <- before[trial] + pmin(floor((tick - opened[trial]) / each[trial]) + 1, pieces[trial])
  unit <- factor(trains$unit[inside], levels = seq_len(trains$units))
  list(tick = split(tick, unit), segment = split(segment, unit), start = start,
       from = trains$start, later = opened - trains$start, to = opened + length,
       bins = floor((stop - start) / ladder$bin) + 1)
}

# Counts of lags of b after a that are nearest to k bins, for all pairs of units a < b.
counted_lags <- function(of, bin, margin, later = of) {
  n <- length(of)
  count <- array(0, c(2 * margin + 1, n, n))
  for (a in seq_len(n)) for (b in seq_len(n)) {
    if (a >= b) next
    lag <- outer(later[[b]], of[[a]], `-`)
    k <- sign(lag) * floor((2 * abs(lag) + bin) / (2 * bin))
    k <- k[abs(k) <= margin] + margin + 1
    count[, a, b] <- tabulate(k, 2 * margin + 1)
  }
  count
}

# Trains of the predictor: each event has, at each tick after it, the spikes of the ten events
# before it and the ten after it of its kind for which no later event has come yet, around the ends
# of their order, and again where there are fewer.
moved_trains <- function(laid, events) {
  trial <- findInterval(events$tick, laid$from)
  at <- events$tick + laid$later[trial]
  until <- pmin(c(at[-1L], Inf), laid$to[trial] + 1)
  lapply(laid$tick, \(own) {
    event <- findInterval(own, at)
    after <- own - at[event]
    unlist(lapply(seq_along(at), \(e) {
      alike <- which(events$kind == events$kind[[e]])
      here <- match(e, alike)
      others <- alike[(here + seq_along(alike) - 1) %% length(alike) + 1][-length(alike)]
      unlist(lapply(sort(unique(until[others] - at[others])), \(end) {
        longer <- others[until[others] - at[others] >= end]
        before <- until[others] - at[others]
        begin <- max(0, before[before < end])
        from <- c(rep_len(longer, 10), rep_len(rev(longer), 10))
        unlist(lapply(from, \(j) {
          a <- after[event == j & after >= begin & after < min(end, until[[e]] - at[[e]])]
          at[[e]] + a
        }))
      }))
    }))
  })
}

# The same in a surrogate (numbered from 0): each unit is shifted by itself around each segment,
# by whole bins, and lags go around it, too.
shifted_lags <- function(laid, bin, margin, key, surrogate) {
  n <- length(laid$tick)
  segments <- length(laid$start)
  count <- array(0, c(2 * margin + 1, n, n))
  at <- lapply(seq_len(n), \(u) {
    word <- oracle_words(key, surrogate, u - 1, segments)
    shift <- floor(word * laid$bins / 2^32)
    k <- laid$segment[[u]]
    floor((laid$tick[[u]] - laid$start[k]) / bin) + shift[k]
  })
  for (a in seq_len(n)) for (b in seq_len(n)) {
    if (a >= b) next
    for (k in seq_len(segments)) {
      lag <- outer(at[[b]][laid$segment[[b]] == k], at[[a]][laid$segment[[a]] == k], `-`)
      for (j in seq_len(2 * margin + 1)) {
        count[j, a, b] <- count[j, a, b] + sum((lag - (j - margin - 1)) %% laid$bins[[k]] == 0)
      }
    }
  }
  count
}

# Half the mean square of what counts in successive windows differ by, over their mean;
# windows without a spike next to empty ones add nothing.
allan <- function(ticks, width) {
  if (length(ticks) == 0L) return(1)
  window <- floor(ticks / width)
  count <- tabulate(window - min(window) + 2, max(window) - min(window) + 3)
  max(1, sum(diff(count)^2) / (2 * length(ticks)))
}

clip <- function(u) pmin(pmax(u, -2), 2)

# What pairs have in common at one lag: a share of what is expected, and its variance. Of few
# pairs, steps begin with 0, and the variance is that of shares below the mean.
# `more` is by which factor more is expected in windows than beside them.
common_of <- function(inside, beside, clumps, few, more) {
  use <- inside + beside > 0
  inside <- inside[use]
  beside <- beside[use]
  more <- more[use]
  expected <- beside / 4 * more
  excess <- inside - expected
  counts <- 1 + more / 4
  clumps <- clumps[use]
  if (length(excess) == 0L || sum(expected) == 0) return(c(0, 0))
  common <- spread <- 0
  if (!few) {
    common <- sum(excess) / sum(expected)
    spread <- max(0, sum((excess - common * expected)^2) - sum(expected * counts * clumps)) /
      sum(expected^2)
  }
  for (round in 1:4) {
    base <- more * (inside + beside) / (4 + more * (1 + common))
    variance <- base * counts * clumps * (1 + common) + spread * base^2
    u <- clip((excess - common * expected) / sqrt(variance))
    weight <- base^2 / variance
    square <- if (few) 2 * pmin(u, 0)^2 else u^2
    common <- max(-0.9, common + sum(u * base / sqrt(variance)) / sum(weight))
    spread <- max(0, spread + sum((square / 0.9205 - 1) * weight) / sum(weight^2))
  }
  # What is common is known with a standard error.
  c(common, spread + 1 / sum(weight))
}

z_of <- function(inside, beside, clumps, common, spread, more = 1) {
  common <- (1 + common) * more - 1
  expected <- beside / 4 * (1 + common)
  base <- max(0.5, expected)
  inflation <- clumps + spread * base / 1.25
  if (inside <= expected || inside < 2) return(0)
  share <- (1 + common) / (5 + common)
  n <- inside + beside
  if (inside - 0.5 <= n * share) return(0)
  d <- 2 * ((inside - 0.5) * log((inside - 0.5) / (n * share)) +
              (beside + 0.5) * log((beside + 0.5) / (n * (1 - share))))
  sqrt(max(0, d) / inflation)
}

# By which share a window has more places for its lags in trials of so many bins than the lags
# beside it, in each of which there is a place for every bin that has another one so much later.
edge_share <- function(lags, beside, bins) {
  places <- function(lags) sum(vapply(lags, \(l) sum(pmax(0, bins - abs(l))), 0))
  if (places(beside) == 0) 0 else 4 * places(lags) / places(beside) - 1
}

bins_of_trials <- function(x, bin) {
  trains <- synfire:::trains_of(x)
  pmax(1, floor((trains$stop - trains$start + 1) / bin + 0.5))
}

# Counts in and beside the windows of a rung: pairs a < b x lags `at`, in bins.
windows_of <- function(count, of, ladder, width) {
  half <- (width - 1) / 2
  margin <- (dim(count)[[1L]] - 1) / 2
  step <- if (half < 2) 1 else half / 2
  at <- seq(-floor(ladder$lags / step), floor(ladder$lags / step)) * step
  pairs <- t(utils::combn(length(of), 2))
  allan_of <- vapply(of, allan, 0, width = width * ladder$bin)
  sum_of <- function(p, from, to) {
    sum(count[(from:to) + margin + 1, pairs[p, 1], pairs[p, 2]])
  }
  next_to <- half + half + 1 + seq_len(2 * width)
  list(
    pairs = pairs, at = at, half = half, step = step,
    clumps = allan_of[pairs[, 1]] * allan_of[pairs[, 2]],
    inside = outer(seq_len(nrow(pairs)), at, Vectorize(\(p, k) sum_of(p, k - half, k + half))),
    beside = outer(seq_len(nrow(pairs)), at, Vectorize(\(p, k) {
      sum_of(p, k - max(next_to), k - min(next_to)) + sum_of(p, k + min(next_to), k + max(next_to))
    })),
    edge = \(trials) vapply(at, \(k) edge_share(k + (-half:half), k + c(-next_to, next_to), trials),
                            0)
  )
}

# Whether all pairs together have more or fewer counts at a lag than beside it, or differ by more
# than counts do: by 4.5 standard deviations. `edge` is the share that ends of trials make.
anything_shared <- function(w, edge) {
  stands_out <- vapply(seq_along(w$at), \(k) {
    same <- unique(c(k, length(w$at) + 1 - k))
    inside <- sum(w$inside[, same])
    beside <- sum(w$beside[, same])
    clumps <- if (beside > 0) sum(w$clumps * w$beside[, same]) / beside else 1
    expected <- beside / 4 * (1 + edge[[k]])
    below <- (inside - expected) / sqrt(1.25 * clumps * max(0.5, expected))
    max(z_of(inside, beside, clumps, edge[[k]], 0), -below) > 4.5
  }, NA)
  part <- rep((1 + edge) / 4, each = nrow(w$inside))
  variance <- (w$inside + part^2 * w$beside) * w$clumps
  more <- sum((w$inside - part * w$beside)^2 - variance)
  independent <- 1 + (diff(range(w$at)) + 1) / (2 * w$half + 1)
  any(stands_out) || more > 4.5 * sqrt(2 * sum(rowSums(variance)^2) / independent)
}

# Peaks of the histograms `count` of all pairs a < b, as rows of unit a, unit b, rung, lag, z in
# 1/1024: the windows whose z is `least` at least and that no one within half a width exceeds.
# `of` are the ticks of each unit; `trials` are the lengths in bins of those that what is common to
# pairs comes from, NULL where nothing is taken off. `predicted` are histograms
# like `count`, or NULL.
slow_peaks <- function(count, of, ladder, widths, least, trials, predicted = NULL,
                       unsure = 0) {
  rungs <- lapply(widths, \(width) {
    w <- windows_of(count, of, ladder, width)
    w$more <- w$inside * 0 + 1
    if (is.null(predicted)) return(w)
    p <- windows_of(predicted, of, ladder, width)
    w$more <- (p$inside + 0.5) / (p$beside / 4 + 0.5)
    w$clumps <- w$clumps * (1 + 2 * unsure)
    w
  })
  known <- is.null(trials) || !is.null(predicted)
  edges <- lapply(rungs, \(w) if (known) 0 * w$at else w$edge(trials))
  fitted <- !is.null(trials) && nrow(rungs[[1L]]$pairs) >= 28 &&
    (!is.null(predicted) || any(mapply(anything_shared, rungs, edges)))
  found <- list()
  for (r in seq_along(widths)) {
    w <- rungs[[r]]
    z <- w$inside * 0
    for (k in seq_along(w$at)) {
      same <- unique(c(k, length(w$at) + 1 - k))
      common <- if (fitted) {
        common_of(c(w$inside[, same]), c(w$beside[, same]), rep(w$clumps, length(same)),
                  nrow(w$pairs) < 100, c(w$more[, same]))
      } else {
        c(edges[[r]][[k]], 0)
      }
      for (p in seq_len(nrow(w$pairs))) {
        z[p, k] <- z_of(w$inside[p, k], w$beside[p, k], w$clumps[[p]], common[[1L]], common[[2L]],
                        w$more[p, k])
      }
    }
    z <- pmin(floor(z * 1024 + 0.5), 30 * 1024)
    for (p in seq_len(nrow(w$pairs))) for (k in which(z[p, ] >= least)) {
      near <- which(abs(w$at - w$at[[k]]) <= max(w$half, w$step))
      largest <- near[z[p, near] == max(z[p, near])]
      if (largest[[1L]] == k) {
        found <- c(found, list(c(w$pairs[p, ], r, w$at[[k]], z[p, k])))
      }
    }
  }
  found <- matrix(as.double(unlist(found)), ncol = 5, byrow = TRUE)
  found <- found[order(found[, 2], found[, 1], found[, 3], found[, 4]), , drop = FALSE]
  storage.mode(found) <- "integer"
  found
}

# Peaks that find_assemblies() looks at, in the recording and in `n` surrogates from `from` on.
peaks_of <- function(x, max_lag, n, from = 0, segment = NULL, widest = NULL, least = 2.5,
                     gpus = NULL, threads = 1, max_memory = 1e9, key = c(17, 4),
                     locked_to = NULL, ...) {
  ladder <- synfire:::assembly_ladder(x, max_lag, segment)
  ladder$widest <- widest %||% ladder$widest
  events <- synfire:::locked_events(locked_to, x)[c("tick", "kind")]
  .Call(synfire:::r_assembly_peaks, synfire:::trains_of(x),
        c(ladder, list(events = events, n = n, from = from, least = least * 1024, key = key,
                       gpus = gpus,
                       threads = threads, max_memory = max_memory, ...)))
}

# The same, slowly.
slow_peaks_of <- function(x, max_lag, n, from = 0, segment = NULL, widest = NULL, least = 2.5,
                          key = c(17, 4), locked_to = NULL) {
  ladder <- synfire:::assembly_ladder(x, max_lag, segment)
  half <- c(0, 2^(0:20))
  widths <- 2 * half[2 * half + 1 <= (widest %||% ladder$widest)] + 1
  last <- max(widths)
  margin <- ladder$lags + (last - 1) / 2 + (last + 1) / 2 + 2 * last + 1
  laid <- laid_out(x, ladder, margin)
  peaks <- function(count, trials, predicted = NULL) {
    slow_peaks(count, laid$tick, ladder, widths, least * 1024, trials, predicted, unsure)
  }
  unsure <- 0
  predicted <- if (!is.null(locked_to)) {
    events <- synfire:::locked_events(locked_to, x)
    trial <- findInterval(events$tick, laid$from)
    length <- pmin(c(events$tick[-1L], Inf), (laid$to - laid$later)[trial] + 1) - events$tick
    alike <- table(events$kind)[as.character(events$kind)]
    unsure <- sum(length / pmin(20, pmax(1, alike - 1))) / sum(length)
    moved <- moved_trains(laid, events)
    counted_lags(laid$tick, ladder$bin, margin, moved)
  }
  list(recording = peaks(counted_lags(laid$tick, ladder$bin, margin),
                         bins_of_trials(x, ladder$bin), predicted),
       surrogates = lapply(seq_len(n) - 1 + from, \(s) {
         peaks(shifted_lags(laid, ladder$bin, margin, key, s), NULL)
       }),
       width = as.integer(widths))
}

# Whether a population burst is under way in each step of time.
burst_steps <- function(x, step) {
  n <- floor((attr(x, "end") - attr(x, "start")) / step + 1e-9) + 1
  at <- floor((x$time - attr(x, "start")) / step + 1e-9) + 1
  raised <- expected <- variance <- units <- 0
  for (own in split(at, x$unit)) {
    if (length(own) == 0L) next
    count <- tabulate(own, n)
    around <- count + c(0, count[-n]) + c(count[-1L], 0)
    least <- max(around) + 1
    while (least > 1 && mean(around >= least - 1) <= 0.25) least <- least - 1
    q <- mean(around >= least)
    raised <- raised + (around >= least)
    expected <- expected + q
    variance <- variance + q * (1 - q)
    units <- units + 1
  }
  if (units < 12) return(logical(n))
  raised >= max(expected + 0.4 * (units - expected), expected + 4 * sqrt(variance))
}

# The evidence of the best triangle in a matrix of peaks (unit a, unit b, rung, lag, z): the
# sum of the z of three pairs whose lags agree within `off` bins, each cut at 6, over the root
# of three; the largest of the three is 3 or more. Where there is none, that of the least.
slow_triangle <- function(peaks, off) {
  sum_of <- function(z) sum(pmin(z, 6 * 1024)) / 1024 / sqrt(3)
  best <- sum_of(c(3, 2.5, 2.5) * 1024)
  between <- function(a, b) peaks[peaks[, 1] == a & peaks[, 2] == b, , drop = FALSE]
  for (a in 1:4) for (b in 2:5) for (c in 3:6) {
    if (a >= b || b >= c) next
    ab <- between(a, b)
    ac <- between(a, c)
    bc <- between(b, c)
    for (i in seq_len(nrow(ab))) for (j in seq_len(nrow(ac))) for (k in seq_len(nrow(bc))) {
      z <- c(ab[i, 5], ac[j, 5], bc[k, 5])
      agree <- abs(ab[i, 4] + bc[k, 4] - ac[j, 4]) <= off
      if (agree && max(z) >= 3 * 1024) best <- max(best, sum_of(z))
    }
  }
  best
}
