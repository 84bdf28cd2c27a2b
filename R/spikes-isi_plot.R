# Printing and pictures of intervals between spikes, of rates, and of bursts.

check_isi <- function(x, arg = rlang::caller_arg(x)) {
  check_table(x, c("unit", "spikes", "intervals", "cv2", "violation_share"), "isi_statistics", arg)
  held <- attr(x, "histogram", exact = TRUE)
  sound <- is.factor(x$unit) && is.numeric(x$spikes) && is.numeric(x$cv2) && is.list(held) &&
    is.matrix(held$count) && is.numeric(held$count) && ncol(held$count) == nlevels(x$unit) &&
    is.double(held$from) && nrow(held$count) == length(held$from) &&
    rlang::is_double(attr(x, "refractory", exact = TRUE), n = 1L, finite = TRUE) &&
    rlang::is_double(attr(x, "seconds", exact = TRUE), n = 1L, finite = TRUE)
  refuse_changed(sound, arg, "isi_statistics")
}

#' @rdname isi_statistics
#' @param n Number of rows to print.
#' @param ... Not used.
#' @export
print.isi_statistics <- function(x, ..., n = 20L) {
  check_isi(x)
  n <- check_count(n, min = 0, infinite = TRUE)
  cat("<isi_statistics> ", rows_text(x, "unit"), ", ",
      counted(sum(as.double(x$intervals)), "interval"), "; violations are below ",
      exact(attr(x, "refractory", exact = TRUE)), " s\n", sep = "")
  print_rows(x, n, "unit")
  invisible(x)
}

#' Pictures of intervals and rates
#'
#' * `type = "intervals"`: how long the intervals between spikes are, on a logarithmic axis,
#'   with those below the refractory period in red. Up to twelve units get a panel each; more
#'   are rows of an image, whose colour is the share of the unit's intervals in each bin.
#' * `type = "rates"`: the mean rate of each unit, the busiest at the top.
#' * `type = "regularity"`: CV2 of each unit against its rate; the dashed line is a Poisson
#'   process.
#'
#' @param object What [isi_statistics()] gives.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param type What to draw, see above.
#' @param unit For `"intervals"`: names of up to twelve units, to have a panel each.
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For arguments out of range (`synfire_error_argument`), and where ggplot2 is not installed.
#' Where there is nothing to draw, the picture and a message say so.
#' @seealso [isi_statistics()].
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' found <- isi_statistics(simulate_sym26(duration = 20))
#' plot(found)
#' plot(found, unit = c("A", "B"))
#' plot(found, type = "rates")
#' plot(found, type = "regularity")
#' @exportS3Method ggplot2::autoplot
autoplot.isi_statistics <- function(object, ..., type = c("intervals", "rates", "regularity"),
                                    unit = NULL) {
  check_no_dots(draws = "intervals between spikes")
  check_isi(object)
  type <- check_choice(type)
  refuse_if(!is.null(unit) && type != "intervals", "unit",
            "left out unless `type` is \"intervals\"", "given")
  rate <- object$spikes / attr(object, "seconds", exact = TRUE)
  switch(type, intervals = draw_intervals(object, unit), rates = draw_rates(object$unit, rate),
         regularity = draw_regularity(rate, object$cv2))
}

draw_intervals <- function(x, unit) {
  x <- x[x$intervals > 0, ]
  if (nrow(x) == 0L) return(empty_picture("No unit has two spikes", "no interval"))
  held <- attr(x, "histogram", exact = TRUE)
  units <- as.character(x$unit)
  panels <- !is.null(unit) || length(units) <= most_panels
  shown <- if (panels) panel_units(unit, units, x$spikes, usual = most_panels) else units
  counts <- held$count[, match(shown, levels(x$unit)), drop = FALSE]
  cells <- data.frame(unit = factor(rep(shown, each = nrow(counts)), shown),
                      row = rep(seq_along(shown), each = nrow(counts)),
                      from = held$from, to = held$to, count = as.vector(counts),
                      share = as.vector(counts / rep(colSums(counts), each = nrow(counts))))
  cells <- cells[cells$count > 0L, ]
  name <- "Interval between spikes (s)"
  if (!panels) {
    return(unit_cells(cells, shown, "share", colours = syn_scale, limits = c(0, NA),
                      name = "Share of the\nunit's intervals") +
             log_axis(ggplot2::scale_x_continuous, name))
  }
  refractory <- attr(x, "refractory", exact = TRUE)
  cells$short <- cells$to <= refractory * (1 + 1e-6)
  ggplot2::ggplot(cells) +
    ggplot2::geom_rect(aes_from(xmin = "from", xmax = "to", ymax = "count", fill = "short"),
                       ymin = 0, colour = "white", linewidth = 0.2) +
    ggplot2::scale_fill_manual(values = c(`FALSE` = syn_colours[["blue"]],
                                          `TRUE` = syn_colours[["vermilion"]]), guide = "none") +
    ggplot2::facet_wrap(ggplot2::vars(.data$unit), scales = "free_y",
                        labeller = ggplot2::as_labeller(short_names)) +
    log_axis(ggplot2::scale_x_continuous, name) +
    ggplot2::scale_y_continuous(name = "Intervals", limits = c(0, NA), breaks = whole_numbers,
                                labels = short_numbers,
                                expand = ggplot2::expansion(mult = c(0, 0.05))) +
    theme_synfire() +
    (if (length(shown) > 4L) small_panels(4L)) +
    caption(if (length(shown) < length(units)) {
      sprintf("%s of %s.", commas(length(shown)), counted(length(units), "unit"))
    }, sprintf("Red: below %s ms.", exact(refractory * 1e3)))
}

#' An image of cells, a row for each unit: `from`, `to` and the colour's `value` are columns
#' @param ... For the scale of colours.
#' @noRd
unit_cells <- function(cells, units, value, ..., from = "from", to = "to", half = 0.5,
                       outline = 0.1) {
  # Outlines close the gaps that rounding leaves between cells, and keep short ones in sight.
  ggplot2::ggplot(cells) +
    ggplot2::geom_rect(ggplot2::aes(xmin = .data[[from]], xmax = .data[[to]],
                                    ymin = .data$row - half,
                                    ymax = .data$row + half, fill = .data[[value]],
                                    colour = .data[[value]]), linewidth = outline) +
    ggplot2::scale_fill_gradientn(..., aesthetics = c("fill", "colour")) +
    unit_axis(units) +
    theme_synfire() +
    without("panel.grid.major.y")
}

draw_rates <- function(unit, rate) {
  known <- which(rate > 0)
  if (length(known) == 0L) return(empty_picture("No unit has a spike", "no rate"))
  known <- known[order(rate[known])]
  dots <- data.frame(rate = rate[known], row = seq_along(known))
  silent <- length(rate) - length(known)
  ggplot2::ggplot(dots, aes_from(x = "rate", y = "row")) +
    ggplot2::geom_point(colour = syn_colours[["blue"]],
                        size = if (nrow(dots) > 100L) 0.8 else 1.6) +
    log_axis(ggplot2::scale_x_continuous, "Mean rate (Hz)") +
    unit_axis(as.character(unit)[known]) +
    theme_synfire() +
    (if (silent > 0L) caption(sprintf("Without a spike: %s.", counted(silent, "unit"))))
}

draw_regularity <- function(rate, cv2) {
  dots <- data.frame(rate = rate, cv2 = cv2)[rate > 0 & is.finite(cv2), ]
  if (nrow(dots) == 0L) return(empty_picture("No unit has three spikes", "no regularity"))
  ggplot2::ggplot(dots, aes_from(x = "rate", y = "cv2")) +
    ggplot2::geom_hline(yintercept = 1, colour = syn_muted, linetype = "dashed") +
    ggplot2::geom_point(colour = syn_colours[["blue"]], alpha = 0.7) +
    log_axis(ggplot2::scale_x_continuous, "Mean rate (Hz)") +
    ggplot2::scale_y_continuous(name = "CV2 of its intervals", limits = c(0, NA)) +
    theme_synfire() +
    caption("A dot is a unit. Dashed: a Poisson process.")
}

# ---- Bursts --------------------------------------------------------------------------

check_bursts <- function(x, arg = rlang::caller_arg(x)) {
  check_table(x, c("unit", "start", "end", "duration", "spikes", "rate"), "bursts", arg)
  span <- attr(x, "interval", exact = TRUE)
  sound <- is.factor(x$unit) && is.double(x$start) && is.double(x$end) && is.numeric(x$spikes) &&
    rlang::is_double(span, n = 2L, finite = TRUE)
  refuse_changed(sound, arg, "bursts")
}

#' @rdname bursts
#' @param n Number of rows to print.
#' @param ... Not used.
#' @export
print.bursts <- function(x, ..., n = 10L) {
  check_bursts(x)
  n <- check_count(n, min = 0, infinite = TRUE)
  cat("<bursts> ", rows_text(x, "burst"), " of ", commas(length(unique(x$unit))), " of ",
      counted(nlevels(x$unit), "unit"), "\n", sep = "")
  print_rows(x, n, "burst", digits = 6)
  invisible(x)
}

#' Picture of bursts
#'
#' A row for each unit, the first level at the bottom, as in the raster of the recording, and a
#' bar for each burst from its first to its last spike. The colour says how many spikes it has.
#'
#' @param object What [bursts()] gives.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For objects that were changed (`synfire_error_argument`), and where ggplot2 is not installed.
#' Where there is no burst, the picture and a message say so.
#' @seealso [bursts()], [autoplot.spike_trains()] for the spikes.
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' x <- simulate_culture(duration = 30, channels = 8)
#' plot(bursts(x))
#' @exportS3Method ggplot2::autoplot
autoplot.bursts <- function(object, ...) {
  check_no_dots(draws = "bursts")
  check_bursts(object)
  if (nrow(object) == 0L) return(empty_picture("No burst was found", "nothing"))
  bars <- data.frame(start = object$start, end = object$end, row = as.integer(object$unit),
                     spikes = object$spikes)
  unit_cells(bars, levels(object$unit), "spikes", from = "start", to = "end",
             colours = syn_scale, trans = "log10",
             labels = short_numbers, name = "Spikes in\na burst",
             breaks = \(limits) 10^log_places(log10(limits)), half = 0.4, outline = 0.2) +
    ggplot2::scale_x_continuous(name = "Time (s)", expand = ggplot2::expansion(mult = 0.01)) +
    ggplot2::coord_cartesian(xlim = attr(object, "interval", exact = TRUE))
}
