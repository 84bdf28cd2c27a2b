# How often members fire around activations that were found without them.

#' How surprising the spikes of each member are at each activation
#'
#' @return Matrix, activations x members: -log of the probability that a Poisson process with
#'   the member's mean rate has as many or more in its window, 6 at most.
#' @noRd
member_surprise <- function(x, row) {
  recording <- attr(x, "recording", exact = TRUE)
  spikes <- x$spikes[[row]]
  member <- match(x$units[[row]], levels(recording$unit))
  rate <- tabulate(recording$unit, nlevels(recording$unit))[member] /
    sum(lengths_of_trials(recording))
  chance <- stats::ppois(spikes - 1, rep(rate * x$widths[[row]], each = nrow(spikes)),
                         lower.tail = FALSE, log.p = TRUE)
  matrix(pmin(6, -chance), nrow(spikes))
}

#' Numbers of the activations, for each member, that the other members' spikes are enough for
#' @noRd
found_by_others <- function(x, row) {
  surprise <- member_surprise(x, row)
  all <- rowSums(surprise)
  lapply(seq_len(ncol(surprise)), \(m) which(all - surprise[, m] >= min(all) - 1e-9))
}

#' Histograms of the lags of each member's spikes
#'
#' @return List of `bars`: data frame `member`, `from`, `to` (ms), `rate` and `expected` (Hz),
#'   and `members`: `member`, `activations` (how many were found by the others), `excess`
#'   (spikes an activation), `expected` (Hz).
#' @noRd
lag_profiles <- function(x, row) {
  lags <- x$lags[[row]]
  widths <- x$widths[[row]]
  finest <- min(attr(x, "window", exact = TRUE))
  range <- c(min(lags - 3 * widths), max(lags + 3 * widths))
  bin <- finest * max(1, round(stats::median(widths) / finest / 4),
                      ceiling(diff(range) / finest / 300))
  edges <- seq(floor(range[[1L]] / bin) - 0.5, ceiling(range[[2L]] / bin) + 0.5) * bin
  spikes <- spikes_around(x, row, edges[[1L]], edges[[length(edges)]])
  found <- found_by_others(x, row)
  parts <- lapply(seq_along(lags), \(m) {
    own <- spikes$lag[spikes$member == m & spikes$activation %in% found[[m]]]
    one_profile(own, length(found[[m]]), lags[[m]], widths[[m]], edges)
  })
  list(
    bars = do.call(rbind, lapply(seq_along(parts), \(m) cbind(member = m, parts[[m]]$bars))),
    members = do.call(rbind, lapply(seq_along(parts), \(m) {
      data.frame(member = m, activations = length(found[[m]]), excess = parts[[m]]$excess,
                 expected = parts[[m]]$expected)
    }))
  )
}

#' @param lag Lags of a member's spikes, from `n` activations.
#' @noRd
one_profile <- function(lag, n, middle, width, edges) {
  away <- abs(lag - middle)
  beside <- sum(away > width & away <= 3 * width) / n
  inside <- sum(away <= width / 2) / n
  count <- graphics::hist(lag[lag >= edges[[1L]] & lag < edges[[length(edges)]]], edges,
                          right = FALSE, plot = FALSE)$counts
  list(bars = data.frame(from = edges[-length(edges)] * 1e3, to = edges[-1L] * 1e3,
                         rate = count / n / diff(edges)),
       excess = inside - beside / 4, expected = beside / 4 / width)
}

draw_lag_profiles <- function(x, rows) {
  labels <- assembly_label_levels(x, rows)
  bands <- member_bands(x, rows, labels)
  profiles <- lapply(rows, \(row) lag_profiles(x, row))
  bars <- do.call(rbind, lapply(seq_along(rows), \(k) {
    bars <- profiles[[k]]$bars
    bars <- bars[is.finite(bars$rate), ]
    base <- x$size[[rows[[k]]]] - bars$member
    highest <- stats::ave(bars$rate, bars$member, FUN = max)
    data.frame(from = bars$from, to = bars$to, low = base,
               high = base + 0.85 * bars$rate / pmax(highest, 1e-9),
               panel = rep(factor(labels[[k]], labels), nrow(bars)))
  }))
  about <- do.call(rbind, lapply(profiles, `[[`, "members"))
  top <- unlist(lapply(profiles, \(p) {
    vapply(p$members$member, \(m) max(p$bars$rate[p$bars$member == m], 1e-9), 0)
  }))
  bands$level <- bands$y + 0.85 * about$expected / top
  bands$excess <- ifelse(about$activations == 0, "no data", sprintf("%+.2f", about$excess))
  ggplot2::ggplot(bars) +
    band_layers(bands) +
    ggplot2::geom_rect(ggplot2::aes(xmin = .data$from, xmax = .data$to, ymin = .data$low,
                                    ymax = .data$high, fill = .data$panel)) +
    ggplot2::geom_segment(ggplot2::aes(x = -Inf, xend = Inf, y = .data$level,
                                       yend = .data$level),
                          data = bands[is.finite(bands$level), ], linetype = "dashed",
                          linewidth = 0.3, colour = syn_ink) +
    ggplot2::geom_text(ggplot2::aes(x = Inf, y = .data$y + 0.7, label = .data$excess),
                       data = bands, hjust = 1.1, size = 2.8, colour = syn_ink) +
    assembly_scale(x, rows, labels, "fill", guide = "none") +
    band_names(bands, right = 0.12) +
    caption("Spikes of each member around the activations that the other members are enough for.",
            "Dashed: beside the window (shaded). Right: spikes an activation above that.")
}
