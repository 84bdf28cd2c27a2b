# Pictures of spike patterns: drawn into the recording with their lags, aligned to their
# windows, and counted (patterns_histograms.R).

#' Plots of spike patterns
#'
#' Eight pictures of what [mine_patterns()] found. `"raster"` is a stretch of the recording
#' with patterns drawn into it. `"dots"` aligns the occurrences of one pattern.
#' `"hypergraph"` shows which units patterns share. The others are histograms over all patterns:
#' `"participation"`, how many patterns each unit takes part in; `"size"`, how many patterns there
#' are of each number of spikes; `"counts"`, how many occur how often; `"lags"`, when in a pattern
#' its spikes come, and how long patterns last; `"statistics"`, these four side by side. These
#' count without listing, and take seconds for millions of patterns.
#'
#' # Which patterns
#' Those that occur most above what the rates of their units would make (by Poisson
#' surprise): neither the largest, which may be there a few times by chance, nor the most
#' frequent, which busy units make. This chooses what to draw, and is no test. Patterns are
#' often variants of each other; so that a picture shows different things, one that shares
#' more than half of its units with those taken before is passed over. To choose yourself,
#' give those you want: `patterns = found[c(3, 8)]`.
#'
#' # The raster
#' A line connects the spikes of an occurrence, each drawn bold where it was fired: at its
#' own unit, in the bin that its lag says. Where a unit fired several times in that bin,
#' the first is taken. Without `from` and `to` the stretch is where most occurrences lie,
#' about 12 times as long as the longest lasting pattern, and longer where spikes are few.
#' Units stand in the order of the patterns drawn, from top to bottom, then the other
#' units.
#'
#' # The dots
#' A panel for each unit of the pattern, and in it a row for each occurrence. Time begins
#' where the window opens. All spikes of the unit in the window are drawn: those of the
#' pattern in colour, the others in grey. Bands are the bins at the pattern's lags. Of more
#' than 200 occurrences as many are drawn, taken at even steps.
#'
#' # The hypergraph
#' Circles are units. An area holds the units of a pattern, and lines of its colour lead to
#' each of them from one point; a unit in the area without such a line is no part of it.
#' Units that are in the same patterns lie close to each other. Lags are in the names only.
#'
#' @param object A `patterns` object.
#' @param type Which picture.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param patterns For `"raster"`, `"dots"` and `"hypergraph"`: how many patterns to draw, or a
#'   `patterns` object. By default three in the raster and six in the hypergraph; the dots show
#'   one, and take the first.
#' @param from,to For `"raster"`: the stretch to draw, in seconds.
#' @param order For `"raster"`: the order of the units. `"patterns"` as described;
#'   `"levels"` and `"rate"` as in [autoplot.spike_trains()].
#' @param others For `"raster"`: how many of the units that are in no pattern to draw, `Inf`
#'   for all of them; by default all of up to a hundred units, else 40, at even steps.
#' @param recording The [spike_trains] that `"raster"` and `"dots"` look into; by default
#'   those that were mined.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' For an object without the recording that the picture needs; for patterns of another
#' recording; and where ggplot2 is not installed, or igraph for `"hypergraph"`. Where there is no
#' pattern, the picture and a message say so. `from`, `to` and `order` are refused for
#' other pictures than `"raster"`, and `patterns` for histograms.
#' @references
#' Torre E, Picado-Muino D, Denker M, Borgelt C, Gruen S (2013). Statistical evaluation
#' of synchronous spike patterns extracted by frequent item set mining. *Frontiers in
#' Computational Neuroscience*, 7, 132. \doi{10.3389/fncom.2013.00132}
#' @seealso [mine_patterns()], [pattern_occurrences()], [itemsets], [autoplot.itemsets()]
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' x <- simulate_patterns(duration = 20)
#' found <- mine_patterns(x, bin_size = 0.005, window_bins = 8, min_spikes = 3, min_count = 8,
#'                        threads = 2)
#' plot(found, patterns = 1)
#' plot(found, type = "dots")
#' plot(found, type = "participation")
#' plot(found, type = "lags")
#' plot(found, type = "statistics")
#' @examplesIf rlang::is_installed(c("ggplot2", "igraph"))
#' plot(found, type = "hypergraph")
#' @exportS3Method ggplot2::autoplot
autoplot.patterns <- function(object,
                              type = c("raster", "dots", "participation", "size",
                                       "counts", "lags", "hypergraph", "statistics"),
                              ..., patterns = NULL, from = NULL, to = NULL,
                              order = c("patterns", "levels", "rate"), others = NULL,
                              recording = attr(object, "recording", exact = TRUE)) {
  check_no_dots(draws = "patterns")
  check_whole_sets(object, "object")
  type <- check_choice(type)
  ordered <- !missing(order)
  order <- check_choice(order)
  if (no_sets(object)) return(empty_picture("There is no pattern", "nothing"))
  drawn <- switch(type, raster = 3, dots = 1, hypergraph = 6)
  useless <- c(patterns = is.null(drawn) && !is.null(patterns),
               c(from = !is.null(from), to = !is.null(to), order = ordered,
                 others = !is.null(others)) & type != "raster")
  refuse_if(any(useless), names(useless)[useless][[1L]],
            sprintf("left out with `type = \"%s\"`, which has no use for it", type), "given")
  if (!is.null(others)) others <- check_count(others, min = 0, infinite = TRUE)
  if (!is.null(drawn)) {
    refuse_if(is.null(recording), "recording", "the spike trains to look into", "NULL",
              "These patterns do not know their recording; give it.")
    check_spike_trains(recording, "recording")
    patterns <- choose_patterns(object, patterns, drawn, recording)
    check_units_known(pattern_table(patterns)$unit, recording, "patterns")
  }
  switch(
    type,
    raster = plot_pattern_raster(recording, patterns, from, to, order, others),
    dots = plot_pattern_dots(recording, patterns[1L]),
    hypergraph = plot_pattern_hypergraph(patterns, tabulate(
      pattern_occurrences(recording, patterns)$pattern, length(patterns)
    )),
    participation = plot_participation(object, "Unit", "patterns"),
    size = plot_sizes(object, "Size (spikes in the pattern)", "Number of patterns"),
    counts = plot_set_counts(object, "Occurrences of a pattern", "Number of patterns"),
    lags = plot_pattern_lags(object), statistics = plot_pattern_statistics(object)
  )
}

# ---- Which patterns, and what to call them -----------------------------------------

#' The patterns that an argument `patterns` asks for
#' @noRd
choose_patterns <- function(x, patterns, default, recording) {
  if (inherits(patterns, "patterns")) {
    refuse_if(no_sets(patterns), "patterns", "a result with at least one pattern", "empty")
    return(patterns)
  }
  n <- if (is.null(patterns)) default else check_count(patterns)
  # What was counted was counted in the recording mined, whichever is drawn.
  if (!is.null(attr(x, "sorted_by", exact = TRUE))) return(x[seq_len(min(n, length(x)))])
  take_sets(x, best_patterns(x, n, own_recording(x) %||% recording))
}

# ---- Raster ------------------------------------------------------------------------

plot_pattern_raster <- function(x, patterns, from, to, order, others) {
  from <- if (!is.null(from)) check_number(from)
  to <- if (!is.null(to)) check_number(to)
  found <- pattern_spans(patterns, pattern_occurrences(x, patterns))
  window <- dense_window(x, found, from, to, spans = 12,
                         spikes = max(250, 4 * nlevels(.subset2(x, "unit"))))
  named <- list(units = split(pattern_table(patterns)$unit, pattern_table(patterns)$pattern))
  # Those of this recording, which need not be the one that was mined.
  labels <- pattern_names(patterns, tabulate(found$episode, length(named$units)))
  order <- if (order == "patterns") "episodes" else order
  # A line needs room: patterns have fewer units than rasters have rows.
  found_raster(x, found, named, window, order, others, what = "patterns", highest = 8,
               \(rows, inside, crowded) {
    spikes <- pattern_spikes(x, patterns, inside)
    spikes$row <- rows$y[match(spikes$unit, rows$unit)]
    spikes$pattern <- factor(labels[spikes$pattern], labels)
    list(ggplot2::geom_path(aes_from(x = "time", y = "row", group = "group", colour = "pattern"),
                            data = spikes, linewidth = if (crowded) 0.25 else 0.5, alpha = 0.75,
                            lineend = "round", show.legend = TRUE),
         ggplot2::geom_point(aes_from(x = "time", y = "row", colour = "pattern"), data = spikes,
                             size = if (crowded) 0.8 else 1.7, shape = 16, show.legend = FALSE),
         found_colours(labels, pattern_key_title(patterns)))
  }) + ggplot2::theme(legend.title = ggplot2::element_text(size = 9, colour = syn_muted))
}

#' Occurrences with where they start and end, named as those of episodes
#'
#' @param found What pattern_occurrences() gives.
#' @return Data frame `episode` (place of the pattern), `occurrence`, `start`, `end`: from
#'   the window's opening to the end of the last spike's bin, in seconds.
#' @noRd
pattern_spans <- function(patterns, found) {
  spikes <- pattern_table(patterns)
  bins <- as.vector(tapply(spikes$lag, spikes$pattern, max)) + 1
  bin_size <- attr(patterns, "bin_size", exact = TRUE)
  data.frame(episode = found$pattern, occurrence = found$occurrence, start = found$time,
             end = found$time + bins[found$pattern] * bin_size)
}

#' The spikes of occurrences, in the order in which lines go through them
#'
#' @param found Rows of what pattern_spans() gives.
#' @return Data frame `pattern` (its place), `group` (the row of `found`), `unit` (label),
#'   `time` (of the first spike of the unit in the bin, seconds).
#' @noRd
pattern_spikes <- function(x, patterns, found) {
  resolution <- attr(x, "resolution", exact = TRUE)
  bin <- round_to_ticks(attr(patterns, "bin_size", exact = TRUE), resolution)
  table <- pattern_table(patterns)
  own <- split(seq_len(nrow(table)), table$pattern)[found$episode]
  row <- as.integer(unlist(own, use.names = FALSE))
  group <- rep(seq_along(own), lengths(own))
  opens <- round_to_ticks(found$start, resolution)[group] + table$lag[row] * bin
  ticks <- unit_ticks(x, table$unit)
  first <- double(length(row))
  for (unit in names(ticks)) {
    at <- which(table$unit[row] == unit)
    first[at] <- ticks[[unit]][findInterval(opens[at], ticks[[unit]], left.open = TRUE) + 1L]
  }
  data.frame(pattern = table$pattern[row], group = group, unit = table$unit[row],
             time = ticks_to_seconds(first, resolution))
}

#' Ticks of the spikes of some units: a list named by unit, each increasing
#' @noRd
unit_ticks <- function(x, units) {
  units <- unique(units)
  own <- factor(as.character(.subset2(x, "unit")), units)
  split(train_ticks(x), own)
}

# ---- Dots --------------------------------------------------------------------------

plot_pattern_dots <- function(x, pattern) {
  spikes <- pattern_table(pattern)
  units <- unique(spikes$unit)
  found <- pattern_occurrences(x, pattern)
  refuse_if(nrow(found) == 0L, "recording", "one in which the pattern occurs",
            "one in which it does not")
  dots <- dot_display(x, pattern, found, most = 200L)
  bin_ms <- 1000 * attr(pattern, "bin_size", exact = TRUE)
  bands <- data.frame(panel = factor(spikes$unit, units), low = spikes$lag * bin_ms,
                      high = (spikes$lag + 1) * bin_ms)
  lines <- length(unique(dots$row)) * length(units)
  size <- if (lines <= 100L) 1.7 else if (lines <= 400L) 1.3 else 0.7
  strips <- vapply(split(spikes$lag, bands$panel), \(lag) {
    lags <- paste(format_each(signif(lag * bin_ms, 9)), collapse = ", ")
    paste(strwrap(paste(lags, "ms"), 16), collapse = "\n")
  }, character(1))
  # Those of the pattern last, so that nothing hides them.
  dots <- dots[order(dots$own), ]
  dots$colour <- ifelse(dots$own, as.character(dots$panel), "other")
  ggplot2::ggplot(dots) +
    ggplot2::geom_rect(ggplot2::aes(xmin = .data$low, xmax = .data$high, ymin = -Inf, ymax = Inf,
                                    fill = "bin of the pattern"), data = bands) +
    ggplot2::scale_fill_manual(name = NULL, values = c("bin of the pattern" = syn_band_strong)) +
    ggplot2::geom_point(aes_from(x = "time", y = "row", colour = "colour"), size = size,
                        shape = 16) +
    ggplot2::scale_colour_manual(values = c(named_palette(units), other = "#9AA1AB"),
                                 guide = "none") +
    ggplot2::facet_grid(rows = ggplot2::vars(.data$panel),
                        labeller = ggplot2::as_labeller(rlang::set_names(sprintf("%s\n%s",
                                                                                 short_names(units),
                                                                                 strips[units]),
                                                                         units))) +
    ggplot2::scale_x_continuous(
      name = "Time since the window opened (ms)", expand = ggplot2::expansion(mult = 0.005),
      limits = c(0, attr(pattern, "window_bins", exact = TRUE) * bin_ms)
    ) +
    ggplot2::scale_y_continuous(name = sprintf("Occurrence (%s)", commas(nrow(found))),
                                breaks = counting_breaks(3),
                                expand = ggplot2::expansion(mult = 0.04, add = 0.6)) +
    ggplot2::labs(subtitle = pattern_names(pattern, nrow(found))) +
    theme_synfire() +
    caption("Coloured: spikes of the pattern; grey: other spikes of its units.") +
    ggplot2::theme(plot.subtitle = ggplot2::element_text(size = 9),
                   panel.grid.major.y = ggplot2::element_blank(),
                   panel.border = ggplot2::element_rect(colour = syn_grid, fill = NA),
                   axis.ticks.x.bottom = ggplot2::element_line(colour = syn_muted),
                   axis.line.x.bottom = ggplot2::element_blank(), legend.position = "top",
                   legend.justification = "left",
                   strip.text.y.right = ggplot2::element_text(angle = 0, hjust = 0,
                                                              colour = syn_ink),
                   panel.spacing.y = ggplot2::unit(2, "mm"))
}

#' All spikes of a pattern's units in its windows
#'
#' @param found What pattern_occurrences() gives for this one pattern.
#' @param most Of more occurrences as many are kept, at even steps.
#' @return Data frame `panel` (factor of unit labels, by lag), `row` (the occurrence's
#'   number), `time` (ms since the window opened), `own` (in a bin of the pattern).
#' @noRd
dot_display <- function(x, pattern, found, most) {
  resolution <- attr(x, "resolution", exact = TRUE)
  bin <- round_to_ticks(attr(pattern, "bin_size", exact = TRUE), resolution)
  spikes <- pattern_table(pattern)
  units <- unique(spikes$unit)
  kept <- even_steps(nrow(found), most)
  opens <- round_to_ticks(found$time[kept], resolution)
  last <- opens + attr(pattern, "window_bins", exact = TRUE) * bin - 1
  trials <- trial_ticks(x)
  if (!is.null(trials)) last <- pmin(last, trials$end[findInterval(opens, trials$start)])
  ticks <- unit_ticks(x, units)
  parts <- lapply(units, \(unit) {
    before <- findInterval(opens, ticks[[unit]], left.open = TRUE)
    n <- findInterval(last, ticks[[unit]]) - before
    row <- rep(seq_along(opens), n)
    since <- ticks[[unit]][sequence(n, before + 1L)] - opens[row]
    data.frame(panel = rep(unit, length(row)), row = found$occurrence[kept][row],
               time = 1000 * ticks_to_seconds(since, resolution),
               own = (since %/% bin) %in% spikes$lag[spikes$unit == unit])
  })
  dots <- do.call(rbind, parts)
  dots$panel <- factor(dots$panel, units)
  dots
}
