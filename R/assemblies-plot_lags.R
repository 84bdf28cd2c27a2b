# How often each member fires when the other members do.

#' The spikes of the members outside of population bursts, on a clock on which no window reaches
#' from one trial into the next
#'
#' @return List of `ticks` (a vector for each member), `shift` (ticks by which each trial is
#'   moved), and `duration` of all trials together, without bursts.
#' @noRd
member_trains <- function(x, row) {
  recording <- attr(x, "recording", exact = TRUE)
  trains <- trains_of(recording)
  reach <- ceiling(4 * max(x$lags[[row]] + x$widths[[row]]) /
                     attr(recording, "resolution", exact = TRUE))
  trial <- trains$trial %||% rep(1L, length(trains$tick))
  shift <- (seq_along(trains$start) - 1) * reach
  members <- match(x$units[[row]], levels(recording$unit))
  of_member <- match(as.integer(recording$unit), members)
  inside <- which(!is.na(of_member) & !is.na(trial) & !in_bursts(recording$time, x))
  list(ticks = unname(split(trains$tick[inside] + shift[trial[inside]],
                            factor(of_member[inside], seq_along(members)))), shift = shift,
       duration = sum(lengths_of_trials(recording)) * 
         (1 - attr(x, "left_out", exact = TRUE) %||% 0))
}

#' Whether times are in the population bursts in which nothing was looked for
#' @noRd
in_bursts <- function(time, x) {
  bursts <- attr(x, "bursts", exact = TRUE)
  if (NROW(bursts) == 0L) return(logical(length(time)))
  k <- findInterval(time, bursts$start)
  k > 0L & time < c(0, bursts$end)[k + 1L]
}

#' How surprising 0, 1, 2, ... spikes in a window are: -log of the probability that a Poisson
#' process has as many or more, 6 at most
#' @noRd
surprise_of <- function(mean, most = 64L) {
  pmin(6, -stats::ppois(seq_len(most) - 2, mean, lower.tail = FALSE, log.p = TRUE))
}

#' Moments at which members' spikes in their windows are most surprising
#'
#' @param ticks Spikes of each of these members, in ticks.
#' @param lags,widths Of their windows, in ticks.
#' @param duration Of the recording, in ticks.
#' @param n How many moments at most; none nearer to another than the widest window.
#' @return Ticks, the most surprising first.
#' @noRd
surprising_moments <- function(ticks, lags, widths, duration, n) {
  spikes <- lengths(ticks)
  member <- rep(seq_along(ticks), spikes)
  middle <- unlist(ticks) - lags[member]
  # Each spike is in its window from one moment on, up to another.
  at <- c(middle - widths[member] / 2, middle + widths[member] / 2)
  change <- rep(c(1L, -1L), each = length(middle))
  member <- c(member, member)
  o <- order(at, change, method = "radix")
  at <- at[o]
  change <- change[o]
  member <- member[o]
  gain <- numeric(length(at))
  for (m in seq_along(ticks)) {
    own <- which(member == m)
    surprise <- surprise_of(spikes[[m]] * widths[[m]] / duration)
    gain[own] <- diff(c(0, surprise[pmin(64L, cumsum(change[own]) + 1L)]))
  }
  score <- cumsum(gain)
  # A rise that is followed by a fall is the best moment far and near.
  best <- which(gain > 1e-9 & c(gain[-1L], -1) < 1e-9 & c(diff(at), 1) > 0)
  middles <- (at[best] + at[pmin(best + 1L, length(at))]) / 2
  apart_moments(middles[order(-score[best], method = "radix")], max(widths), n)
}

#' The first `n` of these ticks that are not nearer than `apart` to one before them
#' @noRd
apart_moments <- function(at, apart, n) {
  if (length(at) == 0L) return(at)
  # Of each stretch as long as `apart` at most one is taken.
  cell <- floor((at - min(at)) / apart) + 2
  taken <- rep(NA_real_, max(cell) + 1)
  chosen <- 0L
  for (k in seq_along(at)) {
    near <- abs(taken[cell[[k]] + -1:1] - at[[k]]) < apart
    if (any(near, na.rm = TRUE)) next
    taken[[cell[[k]]]] <- at[[k]]
    chosen <- chosen + 1L
    if (chosen == n) break
  }
  taken[!is.na(taken)]
}

#' Histograms of the spikes of each member around the moments that the others point to
#'
#' @return List of `bars`: data frame `member`, `from`, `to` (ms) and `rate` (Hz), and `members`:
#'   `member`, `moments` (how many), `excess` (spikes a moment), `expected` (Hz).
#' @noRd
lag_profiles <- function(x, row) {
  resolution <- attr(attr(x, "recording", exact = TRUE), "resolution", exact = TRUE)
  lags <- x$lags[[row]]
  widths <- x$widths[[row]]
  finest <- min(attr(x, "window", exact = TRUE))
  range <- c(min(lags - 3 * widths), max(lags + 3 * widths))
  bin <- finest * max(1, round(stats::median(widths) / finest / 4),
                      ceiling(diff(range) / finest / 300))
  edges <- seq(floor(range[[1L]] / bin) - 0.5, ceiling(range[[2L]] / bin) + 0.5) * bin
  trains <- member_trains(x, row)
  parts <- lapply(seq_along(lags), \(m) {
    moments <- surprising_moments(trains$ticks[-m], lags[-m] / resolution,
                                  widths[-m] / resolution, trains$duration / resolution,
                                  x$count[[row]])
    own <- trains$ticks[[m]]
    first <- findInterval(moments + edges[[1L]] / resolution, own)
    n <- findInterval(moments + edges[[length(edges)]] / resolution, own) - first
    lag <- (own[sequence(n, first + 1L)] - rep(moments, n)) * resolution
    one_profile(lag, length(moments), lags[[m]], widths[[m]], edges)
  })
  bars <- lapply(seq_along(parts), \(m) cbind(member = m, parts[[m]]$bars))
  members <- lapply(seq_along(parts), \(m) cbind(member = m, parts[[m]]$about))
  list(bars = do.call(rbind, bars), members = do.call(rbind, members))
}

#' @param lag Lags of a member's spikes after each of `n` moments, in seconds.
#' @noRd
one_profile <- function(lag, n, middle, width, edges) {
  away <- abs(lag - middle)
  beside <- sum(away > width & away <= 3 * width) / max(1, n)
  inside <- sum(in_window(lag, middle, width)) / max(1, n)
  count <- tabulate(findInterval(lag, edges), length(edges) - 1L)
  list(bars = data.frame(from = edges[-length(edges)] * 1e3, to = edges[-1L] * 1e3,
                         rate = count / max(1, n) / diff(edges)),
       about = data.frame(moments = n, excess = inside - beside / 4,
                          expected = beside / 4 / width))
}

draw_lag_profiles <- function(x, rows) {
  labels <- assembly_label_levels(x, rows)
  bands <- member_bands(x, rows, labels)
  profiles <- lapply(rows, \(row) lag_profiles(x, row))
  about <- do.call(rbind, lapply(profiles, `[[`, "members"))
  bars <- panels_of(rows, labels, \(row, k) {
    bars <- profiles[[k]]$bars
    bars$highest <- pmax(stats::ave(bars$rate, bars$member, FUN = max), 1e-9)
    bars$base <- x$size[[row]] - bars$member
    bars
  })
  bands$level <- bands$y + band_share * about$expected /
    bars$highest[!duplicated(bars[c("panel", "member")])]
  bands$excess <- sprintf("%+.2f", about$excess)
  bands$from <- as.vector(tapply(bars$from, bars$panel, min)[bands$panel])
  bands$to <- as.vector(tapply(bars$to, bars$panel, max)[bands$panel])
  ggplot2::ggplot(bars) +
    band_layers(bands) +
    ggplot2::geom_rect(ggplot2::aes(xmin = .data$from, xmax = .data$to, ymin = .data$base,
                                    ymax = .data$base + band_share * .data$rate / .data$highest,
                                    fill = .data$panel)) +
    ggplot2::geom_segment(aes_from(x = "from", xend = "to", y = "level", yend = "level"),
                          data = bands[bands$level < bands$y + 1, ], linetype = "dashed",
                          linewidth = 0.3, colour = syn_ink) +
    ggplot2::geom_text(ggplot2::aes(x = Inf, y = .data$y + 0.7, label = .data$excess),
                       data = bands, hjust = 1.1, size = 2.8, colour = syn_ink) +
    assembly_scale(x, rows, labels, "fill", guide = "none") +
    band_names(bands, right = 0.12) +
    caption("Spikes of each member around the moments at which the others fire in their windows.",
            "Dashed: the mean beside its window (shaded). Right: extra spikes in it per moment.",
            left_out_text(x, rows))
}

# How much of its band the highest bar of a member takes.
band_share <- 0.85
