# The raster: a mark for each spike, or an image where marks would cover each other.

#' Raster plot of spike trains
#'
#' A row for each unit, the first level at the bottom, and a mark for each spike. Marks of
#' more than `max_marks` spikes would cover each other, so spikes are counted in
#' rectangles of time and unit instead, and drawn as an image on a logarithmic scale of
#' colour; this takes a second or two for a million spikes. White is no spike at all.
#' Beyond 400 units an image row stands for several neighbouring units.
#'
#' Trials are bands with their label above; what is white belongs to none. Where there are
#' too many units to read all their names, only some have theirs. Of names with more than
#' twelve letters, two dots replace what all have in common.
#'
#' The package plotly makes a raster interactive: it zooms where you draw a rectangle, and names the
#' unit and the time where you point, `plotly::ggplotly(p, tooltip = c("unit", "x", "fill"))` for a
#' picture `p` of `autoplot()`. `htmlwidgets::saveWidget()` writes it to a page.
#'
#' `by` puts units with the same value of a column of [unit_table()] next to each other, such
#' as those of an area: lines part the groups, the values stand on the right, and each group
#' has its own colour of marks. Groups stand from top to bottom in the order of the factor, or
#' sorted. To see trials by condition, see [psth()].
#'
#' @param object A [spike_trains] object.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param order `"levels"`, the first level at the bottom; `"rate"`, the busiest unit at the
#'   top; or `"place"`, from top to bottom by the columns of [unit_table()] that are called
#'   `area`, `depth`, and `y` and `x`: smaller depths are higher up. With `by`, this is the
#'   order within each group.
#' @param by Name of a column of [unit_table()] with at most 20 different values, by which
#'   units are grouped; `NULL` for none.
#' @param events Times of events, in seconds, or a data frame with a column `time` and, where
#'   they last, such as a stimulus, `end`; drawn as lines, and as bands from `time` to `end`,
#'   behind marks and over an image.
#' @param max_marks Number of spikes up to which each gets its own mark; `Inf` always
#'   draws marks, 0 always the image. `NULL` draws marks for at most 600 spikes of a unit on
#'   average, and at most 30,000 in all.
#' @param bins Number of columns of the image.
#' @return `autoplot()` gives a ggplot object whose x axis is time in seconds and whose y
#'   axis counts units from 1; `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For arguments out of range (`synfire_error_argument`), and where ggplot2 is not
#' installed.
#' @examplesIf rlang::is_installed("ggplot2")
#' plot(songbird)
#' ggplot2::autoplot(mouse, order = "rate", max_marks = 0, bins = 50)
#'
#' # An area that is made up for each unit
#' unit_table(songbird) <- data.frame(unit = levels(songbird$unit),
#'                                    area = rep(c("HVC", "RA"), 37))
#' plot(songbird, by = "area")
#' plot(songbird, events = data.frame(time = c(2, 6), end = c(3, 7)))
#' @examplesIf rlang::is_installed(c("ggplot2", "plotly")) && interactive()
#' # To zoom, and to point at spikes
#' plotly::ggplotly(ggplot2::autoplot(songbird), tooltip = c("unit", "x", "fill"))
#' @importFrom rlang .data
#' @exportS3Method ggplot2::autoplot
autoplot.spike_trains <- function(object, ..., order = c("levels", "rate", "place"),
                                  by = NULL, events = NULL, max_marks = NULL, bins = 1000) {
  check_no_dots(draws = "spike trains")
  check_spike_trains(object, "object")
  order <- check_choice(order)
  check_order_place(object, order)
  groups <- unit_groups(object, by)
  events <- drawn_events(events, object)
  if (!is.null(max_marks)) max_marks <- check_count(max_marks, min = 0, infinite = TRUE)
  bins <- check_count(bins, max = 1e5)

  row <- unit_rows(object, order, groups)
  marks <- if (is.null(max_marks)) marks_fit(object) else nrow(object) <= max_marks
  ggplot2::ggplot() +
    raster_trials(object, length(row)) +
    (if (marks) raster_events(events, length(row))) +
    (if (marks) raster_marks(object, row, groups) else raster_image(object, row, bins)) +
    (if (!marks) raster_events(events, length(row))) +
    raster_groups(row, groups) +
    theme_synfire() +
    raster_axes(object, row, groups) +
    (if (!is.null(events)) {
      caption(paste0("Red lines: ", counted(nrow(events), "event"), ".",
                     if (any(events$end > events$start)) " Bands: until they end."))
    }) +
    ggplot2::theme(
      panel.grid.major.y = ggplot2::element_blank(),
      axis.ticks.x.bottom = ggplot2::element_line(colour = syn_muted),
      # Trials say more than lines at round seconds.
      panel.grid.major.x = if (is.null(attr(object, "trials", exact = TRUE)) && marks) {
        ggplot2::element_line(colour = syn_grid)
      } else {
        ggplot2::element_blank()
      }
    )
}

#' Whether marks of all spikes can be told apart: each row of a page is some 600 of them wide
#' @noRd
marks_fit <- function(x) nrow(x) <= min(30000, 600 * nlevels(.subset2(x, "unit")))

#' Row of each level in the raster, counted from the bottom and named by level
#'
#' @param groups Group of each level, a factor whose first level is on top; or NULL.
#' @noRd
unit_rows <- function(x, order = "levels", groups = NULL) {
  unit <- .subset2(x, "unit")
  n <- nlevels(unit)
  from_bottom <- switch(order, levels = seq_len(n),
                        rate = order(tabulate(unit, n), method = "radix"),
                        place = rev(match(units_in_place(x), levels(unit))))
  if (!is.null(groups)) {
    from_bottom <- from_bottom[order(-as.integer(groups[from_bottom]), method = "radix")]
  }
  row <- integer(n)
  row[from_bottom] <- seq_len(n)
  rlang::set_names(row, levels(unit))
}

raster_marks <- function(x, row, groups = NULL) {
  unit <- as.integer(.subset2(x, "unit"))
  y <- unname(row)[unit]
  marks <- data.frame(time = .subset2(x, "time"), low = y - 0.4, high = y + 0.4,
                      unit = .subset2(x, "unit"))
  # Thinner marks keep dense trains apart.
  width <- if (nrow(marks) <= 2000) 0.4 else if (nrow(marks) <= 10000) 0.25 else 0.15
  if (is.null(groups)) return(say_unit(time_marks(marks, linewidth = width, colour = syn_ink)))
  marks$group <- groups[unit]
  list(say_unit(time_marks(marks, aes_from(colour = "group"), linewidth = width)),
       ggplot2::scale_colour_manual(values = named_palette(levels(groups)), guide = "none"))
}

#' Upright lines at the `time` of each mark, from `low` to `high`
#' @noRd
time_marks <- function(marks, more = NULL, ...) {
  place <- aes_from(x = "time", xend = "time", y = "low", yend = "high")
  ggplot2::geom_segment(utils::modifyList(place, as.list(more)), data = marks, ...)
}

#' A layer whose marks name their unit when plotly shows it; ggplot2 itself draws no such thing
#' @noRd
say_unit <- function(layer) {
  layer$mapping$unit <- rlang::quo(.data$unit)
  layer
}

#' Lines between groups of units
#' @noRd
raster_groups <- function(row, groups) {
  if (is.null(groups)) return(NULL)
  ends <- utils::head(group_runs(groups[order(row)])$end, -1L)
  if (length(ends)) ggplot2::geom_hline(yintercept = ends, colour = syn_muted, linewidth = 0.3)
}

raster_image <- function(x, row, bins) {
  resolution <- attr(x, "resolution", exact = TRUE)
  image <- raster_counts(x, row, bins)
  top <- max(1, image$cells$spikes, na.rm = TRUE)
  breaks <- 10^(0:ceiling(log10(top)))
  if (top < 100) breaks <- sort(c(breaks, 3 * breaks))
  breaks <- breaks[breaks <= top]
  seconds <- image$width * resolution
  name <- sprintf("Spikes in\n%s s%s", format(signif(seconds, 2), scientific = seconds < 1e-4),
                  if (image$group > 1L) sprintf("\nand %d units", image$group) else "")
  by_row <- names(row)[order(row)]
  line <- (image$cells$row - (image$group + 1) / 2) / image$group
  last <- by_row[pmin(length(row), (line + 1) * image$group)]
  image$cells$unit <- by_row[line * image$group + 1]
  several <- last != image$cells$unit
  image$cells$unit[several] <- paste(image$cells$unit, "to", last)[several]
  list(say_unit(ggplot2::geom_raster(aes_from(x = "time", y = "row", fill = "spikes"),
                                     data = image$cells)),
       ggplot2::scale_fill_gradientn(colours = syn_scale, trans = "log10", na.value = "#FFFFFF00",
                                     breaks = breaks, limits = c(1, max(top, 2)),
                                     labels = commas_each(breaks), name = name))
}

#' Spikes counted in cells of time and rows of units
#'
#' @return `cells`: data frame `time` (middle of the column, seconds), `row` (middle, in
#'   units), `spikes` (NA for none), for the occupied cells and those of the first row and
#'   column; `width` in ticks; `group`, units a row.
#' @noRd
raster_counts <- function(x, row, bins, max_rows = 400L) {
  resolution <- attr(x, "resolution", exact = TRUE)
  bounds <- interval_ticks(x)
  width <- max(1, ceiling((bounds[[2L]] - bounds[[1L]] + 1) / bins))
  n_columns <- (bounds[[2L]] - bounds[[1L]]) %/% width + 1
  group <- max(1, ceiling(length(row) / max_rows))
  n_rows <- max(1, ceiling(length(row) / group))

  column <- (train_ticks(x) - bounds[[1L]]) %/% width
  line <- (unname(row)[as.integer(.subset2(x, "unit"))] - 1) %/% group
  counts <- tabulate(column * n_rows + line + 1, n_columns * n_rows)
  # geom_raster() takes the grid from the cells it sees: one row and one column in full,
  # empty or not, show it the whole.
  shown <- union(which(counts > 0L), c(seq_len(n_rows), 1 + n_rows * (seq_len(n_columns) - 1)))
  list(cells = data.frame(time = ticks_to_seconds(bounds[[1L]] +
                                                    ((shown - 1) %/% n_rows + 0.5) * width - 0.5,
                                                  resolution),
                          row = ((shown - 1) %% n_rows) * group + (group + 1) / 2,
                          spikes = ifelse(counts[shown] > 0L, counts[shown], NA_integer_)),
       width = width, group = group)
}

raster_trials <- function(x, n_rows) {
  trials <- attr(x, "trials", exact = TRUE)
  if (is.null(trials)) return(NULL)
  bands <- data.frame(start = trials$start, end = trials$end, low = 0.5, high = n_rows + 0.5)
  list(
    ggplot2::geom_rect(aes_from(xmin = "start", xmax = "end", ymin = "low", ymax = "high"),
                       data = bands, fill = syn_band, colour = NA),
    # Where trials touch only their starts tell them apart.
    if (nrow(bands) <= 200L) ggplot2::geom_segment(
      aes_from(x = "start", xend = "start", y = "low", yend = "high"),
      data = bands, colour = syn_colours[["sky"]], linewidth = 0.3
    )
  )
}

#' Events to draw: `start` and `end`, the same where they do not last; or NULL
#' @noRd
drawn_events <- function(events, x) {
  if (is.null(events)) return(NULL)
  start <- check_events(events, x, NULL)$time
  end <- if (is.data.frame(events)) events[["end"]]
  refuse_if(!is.null(end) && (!is_plain_numeric(end) || !all(is.finite(end)) || any(end < start)),
            "events", "with finite times in its column `end`, none before its `time`",
            if (is_plain_numeric(end) && all(is.finite(end))) "one that ends before it begins" else
              describe(end))
  data.frame(start = start, end = end %||% start)
}

raster_events <- function(events, n_rows) {
  if (is.null(events)) return(NULL)
  events$low <- 0.5
  events$high <- n_rows + 0.5
  lasting <- events[events$end > events$start, , drop = FALSE]
  list(
    ggplot2::geom_rect(aes_from(xmin = "start", xmax = "end", ymin = "low", ymax = "high"),
                       data = lasting, fill = syn_colours[["orange"]], alpha = 0.25),
    ggplot2::geom_segment(aes_from(x = "start", xend = "start", y = "low", yend = "high"),
                          data = events, colour = syn_colours[["vermilion"]],
                          linewidth = if (nrow(events) <= 50L) 0.5 else 0.2)
  )
}

#' The axis of time, and above it the labels of trials, of many only some
#' @param middle Of each trial; none without trials.
#' @noRd
time_axis <- function(name, middle, label) {
  kept <- thin(length(middle), 15L)
  above <- if (length(kept)) ggplot2::sec_axis(~., name = "Trial", breaks = middle[kept],
                                               labels = as.character(label)[kept])
  ggplot2::scale_x_continuous(name = name, expand = ggplot2::expansion(mult = 0.01),
                              sec.axis = above %||% ggplot2::waiver())
}

raster_axes <- function(x, row, groups = NULL) {
  n <- length(row)
  trials <- attr(x, "trials", exact = TRUE)
  by_row <- short_names(names(row)[order(row)])
  keep <- thin(n, 40L)
  runs <- if (!is.null(groups)) group_runs(groups[order(row)])
  beside <- if (is.null(runs) || n == 0L) ggplot2::waiver() else {
    ggplot2::sec_axis(~., name = NULL, breaks = runs$middle, labels = runs$group,
                      guide = ggplot2::guide_axis(check.overlap = TRUE))
  }
  list(
    time_axis("Time (s)", (trials$start + trials$end) / 2, trials$trial),
    ggplot2::scale_y_continuous(name = if (n == length(keep)) "Unit" else
                                         sprintf("Unit (%s, some named)", commas(n)),
                                breaks = keep, labels = by_row[keep],
                                expand = ggplot2::expansion(add = min(0.6, 0.05 * n)),
                                sec.axis = beside),
    # Not limits, which would drop marks that the bounds cut.
    ggplot2::coord_cartesian(xlim = interval_seconds(x), ylim = c(0.5, max(1, n) + 0.5)),
    if (n > 25L) ggplot2::theme(axis.text.y.left = ggplot2::element_text(size = 6))
  )
}
