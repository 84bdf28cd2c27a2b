# Histograms of spike patterns and itemsets. All count in passes over the flat arrays, so
# that millions of patterns need neither a table nor much memory.

#' Plots of itemsets
#'
#' Histograms of what [frequent_itemsets()] found: `"size"`, how
#' many sets there are of each number of items; `"counts"`, how many are in how many
#' transactions; `"participation"`, how many sets each item takes part in.
#'
#' @param object An `itemsets` object.
#' @param type Which picture.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' Where ggplot2 is not installed. Where there is no set, the picture and a message say so.
#' @seealso [autoplot.patterns()]
#' @examplesIf rlang::is_installed("ggplot2")
#' baskets <- list(c("bread", "butter", "milk"), c("bread", "butter"), c("bread", "milk"),
#'                 c("beer", "bread", "butter"), "beer")
#' sets <- frequent_itemsets(baskets, min_count = 2, threads = 1)
#' plot(sets)
#' plot(sets, type = "participation")
#' @exportS3Method ggplot2::autoplot
autoplot.itemsets <- function(object, type = c("size", "counts", "participation"), ...) {
  check_no_dots(draws = "itemsets")
  check_whole_sets(object, "object")
  type <- check_choice(type)
  if (no_sets(object)) return(empty_picture("There is no set", "nothing"))
  switch(type, size = plot_sizes(object, "Size (items in the set)", "Number of sets"),
         counts = plot_set_counts(object, "Count (transactions)", "Number of sets"),
         participation = plot_participation(object, "Item", "sets"))
}

# ---- Counting ----------------------------------------------------------------------

#' Number of sets of each size: data frame `size`, `number`
#' @noRd
size_counts <- function(x) {
  runs <- .subset2(x, "runs")
  number <- rowsum(as.double(runs$n), runs$size, reorder = TRUE)
  data.frame(size = as.integer(rownames(number)), number = as.vector(number))
}

#' Number of sets for ranges of occurrences: data frame `low`, `high`, `number`
#'
#' Ranges hold equally many whole numbers, one each where at most `most` of these suffice.
#' @noRd
count_ranges <- function(x, most = 60L) {
  number <- tabulate(.subset2(x, "count"))
  least <- which(number > 0L)[[1L]]
  steps <- c(1, 2, 5) * rep(10^(0:9), each = 3L)
  width <- steps[match(TRUE, (length(number) - least + 1) / steps <= most)]
  low <- seq(least, length(number), by = width)
  part <- (seq.int(least, length(number)) - least) %/% width + 1
  data.frame(low = low, high = low + width - 1,
             number = as.vector(rowsum(as.double(number[least:length(number)]), part)))
}

#' How many sets each unit or item is in, once however often it is in a set
#' @noRd
participation_counts <- function(x, at_once = 2^16) {
  n <- length(part_labels(x))
  number <- double(n)
  by_size(x, logical(length(x)), at_once = at_once, do = \(rows) {
    part <- lapply(rows, \(items) items %% n)
    # A unit may be in a pattern at several lags; an item without lags does not repeat.
    if (inherits(x, "patterns")) part <- Map(`[`, part, first_parts(part))
    for (one in part) number <<- number + tabulate(one + 1L, n)
    TRUE
  })
  number
}

#' Number of spikes at each lag, the first of each pattern left out; of patterns by the
#' lag of their last: data frame `lag` (bins), `spikes`, `patterns`
#' @noRd
lag_counts <- function(x, at_once = 5e6) {
  window <- attr(x, "window_bins", exact = TRUE)
  item <- .subset2(x, "items")
  spikes <- double(window)
  for (part in pieces(length(item), at_once)) {
    spikes <- spikes + tabulate(item_lags(x, item[part]) + 1L, window)
  }
  spikes[[1L]] <- spikes[[1L]] - length(x)
  data.frame(lag = seq_len(window) - 1L, spikes = spikes,
             patterns = as.double(tabulate(last_lags(x) + 1L, window)))
}

# ---- Drawing -----------------------------------------------------------------------

plot_sizes <- function(x, x_name, y_name) {
  bars <- size_counts(x)
  bars$label <- commas_each(bars$number)
  ggplot2::ggplot(bars) +
    bars_from_zero(bars$size - 0.35, bars$size + 0.35, bars$number) +
    (if (nrow(bars) <= 12L) bar_labels("size")) +
    ggplot2::scale_x_continuous(name = x_name, breaks = \(limits) whole_breaks(limits, 20L),
                                expand = ggplot2::expansion(add = 0.4)) +
    log_count_axis(y_name) +
    theme_histogram()
}

plot_set_counts <- function(x, x_name, y_name) {
  bars <- count_ranges(x)
  bars <- bars[bars$number > 0, ]
  ggplot2::ggplot(bars) +
    bars_from_zero(bars$low - 0.5, bars$high + 0.5, bars$number) +
    ggplot2::scale_x_continuous(name = x_name, labels = commas_each, breaks = counting_breaks(7),
                                expand = ggplot2::expansion(mult = 0.02)) +
    log_count_axis(y_name) +
    theme_histogram()
}

bars_from_zero <- function(low, high, number) {
  sky_bars(.data$low, .data$high, data = data.frame(low = low, high = high, number = number),
           colour = "white", linewidth = 0.15)
}

plot_participation <- function(x, what, sets) {
  labels <- short_names(part_labels(x))
  n <- length(labels)
  bars <- data.frame(place = seq_len(n), label = labels, number = participation_counts(x))
  named <- if (n <= 40L) seq_len(n) else thin(n, 20L)
  # Where the axis cannot name all, those that stand out are named on their bars.
  top <- if (length(named) < n) utils::head(order(-bars$number), 6L)
  ggplot2::ggplot(bars) +
    sky_bars(.data$place - 0.4, .data$place + 0.4) +
    (if (length(top) > 0L) bar_labels("place", 2.8, data = bars[top, ], check_overlap = TRUE)) +
    ggplot2::scale_x_continuous(name = if (length(named) == n) what else
                                         sprintf("%s (%s, some named)", what, commas(n)),
                                breaks = named, labels = labels[named],
                                expand = ggplot2::expansion(add = 0.6)) +
    count_axis(sprintf("Number of %s with it", sets)) +
    theme_histogram() +
    (if (sum(nchar(labels[named])) > 80L) ggplot2::theme(
      axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5, size = 7)
    ))
}

plot_pattern_lags <- function(x) {
  panels <- c("Spikes after the first", "Patterns by the lag of their last spike")
  counts <- lag_counts(x)
  bin_ms <- 1000 * attr(x, "bin_size", exact = TRUE)
  bars <- data.frame(lag = rep(counts$lag * bin_ms, 2),
                     number = c(counts$spikes, counts$patterns),
                     panel = factor(rep(panels, each = nrow(counts)), panels))
  ggplot2::ggplot(bars) +
    sky_bars(.data$lag - 0.42 * bin_ms, .data$lag + 0.42 * bin_ms) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 1, scales = "free_y") +
    ggplot2::scale_x_continuous(name = "Lag (ms)",
                                breaks = counts$lag[thin(nrow(counts), 12L)] * bin_ms,
                                expand = ggplot2::expansion(mult = 0.02)) +
    count_axis("Number") +
    theme_histogram() +
    large_strips()
}

count_axis <- function(name) {
  ggplot2::scale_y_continuous(
    name = name, labels = commas_each, limits = c(0, NA),
    # Whole ones; pretty() is off by rounding where there are few.
    breaks = \(limits) unique(round(pretty(limits, 4))),
    expand = ggplot2::expansion(mult = c(0, 0.1))
  )
}

#' How often patterns occur, how many spikes they have, when these come, and of which units
#' they are, in four histograms
#' @noRd
plot_pattern_statistics <- function(x) {
  bin_ms <- 1000 * attr(x, "bin_size", exact = TRUE)
  occurrences <- count_ranges(x)
  sizes <- size_counts(x)
  lags <- lag_counts(x)
  units <- participation_counts(x)
  bars <- \(middle, half, number) data.frame(low = middle - half, high = middle + half,
                                             number = number)
  # The axis counts patterns in three panels and spikes in one, so each says which it is.
  panels <- list(
    "Patterns by occurrences" = data.frame(low = occurrences$low - 0.5,
                                           high = occurrences$high + 0.5,
                                           number = occurrences$number),
    "Patterns by size (spikes)" = bars(sizes$size, 0.35, sizes$number),
    "Later spikes by lag (ms)" = bars(lags$lag * bin_ms, 0.42 * bin_ms, lags$spikes),
    "Patterns by unit (its number)" = bars(seq_along(units), 0.42, units)
  )
  all <- do.call(rbind, unname(panels))
  all$panel <- factor(rep(names(panels), vapply(panels, nrow, 0L)), names(panels))
  ggplot2::ggplot(all) +
    sky_bars(.data$low, .data$high) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 2, scales = "free",
                        strip.position = "bottom") +
    ggplot2::scale_x_continuous(
      name = NULL, labels = commas_each,
      breaks = \(limits) {
        breaks <- pretty(limits, 6)
        unique(round(breaks[abs(breaks - round(breaks)) < 1e-6 & breaks >= 0]))
      },
      expand = ggplot2::expansion(mult = 0.03)
    ) +
    count_axis("Number") +
    theme_histogram(strip.placement = "outside") +
    large_strips(hjust = 0.5) +
    ggplot2::theme(panel.spacing = ggplot2::unit(5, "mm"))
}
