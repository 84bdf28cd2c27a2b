# The raster: a mark for each spike, or an image where marks would cover each other.

#' Raster plot of spike trains
#'
#' A row for each unit, the first level at the bottom, and a mark for each spike. Beyond
#' `max_marks` spikes marks would only cover each other, so spikes are counted in
#' rectangles of time and unit instead, and drawn as an image on a logarithmic scale of
#' colour; this takes a second or two for a million spikes. White is no spike at all.
#' Beyond 400 units an image row stands for several neighbouring units.
#'
#' Trials are bands with their label above; what is white belongs to none. Names of
#' units are thinned out where there are too many to read.
#'
#' @param object,x A [spike_trains] object.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param order `"levels"`, the first level at the bottom, or `"rate"`, the busiest unit
#'   at the top.
#' @param max_marks Number of spikes up to which each gets its own mark; `Inf` always
#'   draws marks, 0 always the image.
#' @param bins Number of columns of the image.
#' @return `autoplot()` gives a ggplot object whose x axis is time in seconds and whose y
#'   axis counts units from 1; `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For arguments out of range (`synfire_error_argument`), and where ggplot2 is not
#' installed.
#' @examplesIf rlang::is_installed("ggplot2")
#' x <- spike_trains(runif(300, 0, 10), sample(c("A", "B", "C"), 300, replace = TRUE),
#'                   start = 0, end = 10)
#' plot(x)
#' ggplot2::autoplot(x, order = "rate", max_marks = 0, bins = 50)
#' @importFrom rlang .data
#' @exportS3Method ggplot2::autoplot
autoplot.spike_trains <- function(object, ..., order = c("levels", "rate"),
                                  max_marks = 30000, bins = 1000) {
  rlang::check_installed("ggplot2", "to draw spike trains.")
  check_no_dots()
  check_spike_trains(object, "object")
  order <- check_choice(order)
  max_marks <- check_count(max_marks, min = 0, infinite = TRUE)
  bins <- check_count(bins, max = 1e5)

  row <- unit_rows(object, order)
  marks <- nrow(object) <= max_marks
  plot <- ggplot2::ggplot() +
    raster_trials(object, length(row)) +
    (if (marks) raster_marks(object, row) else raster_image(object, row, bins)) +
    theme_synfire() +
    raster_axes(object, row) +
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
  plot
}

#' @rdname autoplot.spike_trains
#' @export
plot.spike_trains <- function(x, ...) {
  rlang::check_installed("ggplot2", "to draw spike trains.")
  p <- autoplot.spike_trains(x, ...)
  print(p)
  invisible(p)
}

#' Row of each level in the raster, counted from the bottom and named by level
#' @noRd
unit_rows <- function(x, order = "levels") {
  unit <- .subset2(x, "unit")
  n <- nlevels(unit)
  row <- seq_len(n)
  if (order == "rate") row[order(tabulate(unit, n), method = "radix")] <- seq_len(n)
  rlang::set_names(row, levels(unit))
}

raster_marks <- function(x, row) {
  y <- unname(row)[as.integer(.subset2(x, "unit"))]
  marks <- data.frame(time = .subset2(x, "time"), low = y - 0.4, high = y + 0.4)
  # Thinner marks keep dense trains apart.
  width <- if (nrow(marks) <= 2000) 0.4 else if (nrow(marks) <= 10000) 0.25 else 0.15
  ggplot2::geom_segment(
    ggplot2::aes(x = .data$time, xend = .data$time, y = .data$low, yend = .data$high),
    data = marks, colour = syn_ink, linewidth = width
  )
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
  list(
    ggplot2::geom_raster(
      ggplot2::aes(x = .data$time, y = .data$row, fill = .data$spikes), data = image$cells
    ),
    ggplot2::scale_fill_gradientn(
      colours = syn_scale, trans = "log10", na.value = "#FFFFFF00", breaks = breaks,
      limits = c(1, max(top, 2)), labels = commas_each(breaks), name = name
    )
  )
}

commas_each <- function(n) vapply(n, commas, character(1))

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
  list(
    cells = data.frame(
      time = ticks_to_seconds(bounds[[1L]] + ((shown - 1) %/% n_rows + 0.5) * width - 0.5,
                              resolution),
      row = ((shown - 1) %% n_rows) * group + (group + 1) / 2,
      spikes = ifelse(counts[shown] > 0L, counts[shown], NA_integer_)
    ),
    width = width, group = group
  )
}

raster_trials <- function(x, n_rows) {
  trials <- attr(x, "trials", exact = TRUE)
  if (is.null(trials)) return(NULL)
  bands <- data.frame(start = trials$start, end = trials$end, low = 0.5, high = n_rows + 0.5)
  list(
    ggplot2::geom_rect(
      ggplot2::aes(xmin = .data$start, xmax = .data$end, ymin = .data$low, ymax = .data$high),
      data = bands, fill = syn_band, colour = NA
    ),
    # Where trials touch only their starts tell them apart.
    if (nrow(bands) <= 200L) ggplot2::geom_segment(
      ggplot2::aes(x = .data$start, xend = .data$start, y = .data$low, yend = .data$high),
      data = bands, colour = syn_colours[["sky"]], linewidth = 0.3
    )
  )
}

raster_axes <- function(x, row) {
  n <- length(row)
  trials <- attr(x, "trials", exact = TRUE)
  above <- if (is.null(trials)) ggplot2::waiver() else {
    keep <- thin(nrow(trials), 15L)
    ggplot2::sec_axis(~., name = "Trial", breaks = ((trials$start + trials$end) / 2)[keep],
                      labels = as.character(trials$trial)[keep])
  }
  by_row <- names(row)[order(row)]
  keep <- thin(n, 40L)
  list(
    ggplot2::scale_x_continuous(
      name = "Time (s)", expand = ggplot2::expansion(mult = 0.01), sec.axis = above
    ),
    ggplot2::scale_y_continuous(
      name = if (n == length(keep)) "Unit" else sprintf("Unit (%s, some named)", commas(n)),
      breaks = keep, labels = by_row[keep], expand = ggplot2::expansion(add = 0.6)
    ),
    # Not limits, which would drop marks that the bounds cut.
    ggplot2::coord_cartesian(
      xlim = c(attr(x, "start", exact = TRUE), attr(x, "end", exact = TRUE)),
      ylim = c(0.5, max(1, n) + 0.5)
    ),
    if (n > 25L) ggplot2::theme(axis.text.y = ggplot2::element_text(size = 6))
  )
}

#' At most `most` of 1..n, at even steps of 1, 2, 5, 10, 20, ...
#' @noRd
thin <- function(n, most) {
  if (n == 0L) return(integer())
  steps <- c(1, 2, 5) * rep(10^(0:9), each = 3L)
  seq.int(1L, n, by = steps[match(TRUE, n / steps <= most)])
}
