# Pictures of matrices of units: spikes in bins over time, and a number for each pair of units.

#' Picture of spikes in bins
#'
#' An image with a row for each unit, the first one at the bottom, and a column for each bin, or,
#' of many, for several bins and units, of which it shows the mean. Trials follow one another,
#' with their labels above.
#'
#' @param object What [bin_spikes()] or [activation_rate()] gives.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For objects that were changed (`synfire_error_argument`), and where ggplot2 is not installed.
#' Where there is no unit, the picture and a message say so.
#' @seealso [bin_spikes()].
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' plot(bin_spikes(simulate_sym26(duration = 20), 0.1))
#' @exportS3Method ggplot2::autoplot
autoplot.binned_spikes <- function(object, ...) {
  check_no_dots(draws = "spikes in bins")
  words <- binned_words(object)
  time <- attr(object, "time", exact = TRUE)
  bin <- attr(object, "bin_size", exact = TRUE)
  sound <- is.matrix(object) && is.numeric(object) && is.double(time) &&
    length(time) == nrow(object) && rlang::is_double(bin, n = 1L, finite = TRUE)
  refuse_if(!sound, "object", sprintf("what `%s()` gives", words$from), "one that was changed")
  if (length(object) == 0L) {
    return(empty_picture(sprintf("There is no %s", words$one), "nothing"))
  }
  trial <- attr(object, "trial", exact = TRUE)
  units <- colnames(object)
  image <- mean_cells(as.matrix(object), 1000L, 400L)
  # Trials are moved together, so that time without a trial takes no room.
  start <- if (is.null(trial)) time[[1L]] else 0
  image$time <- start + image$row * bin
  runs <- if (!is.null(trial)) group_runs(replace(as.character(trial), is.na(trial), ""))
  runs <- runs[runs$group != "", ]
  ggplot2::ggplot(image) +
    ggplot2::geom_raster(aes_from(x = "time", y = "column", fill = "value")) +
    ggplot2::scale_fill_gradientn(colours = c("white", syn_scale), limits = c(0, NA),
                                  na.value = syn_grid, labels = short_numbers,
                                  name = words$legend) +
    time_axis(if (is.null(trial)) "Time (s)" else "Time in trials, one after the other (s)",
              (runs$middle - 0.5) * bin, runs$group) +
    unit_axis(units, words$axis) +
    theme_synfire() +
    without("panel.grid.major")
}

#' Means of neighbouring cells of a matrix, at most so many rows and columns
#'
#' @return Data frame `row` and `column` (the middle of the cells, rows from 0), `value`.
#' @noRd
mean_cells <- function(x, rows, columns) {
  tall <- ceiling(nrow(x) / rows)
  wide <- ceiling(ncol(x) / columns)
  across <- (seq_len(nrow(x)) - 1L) %/% tall
  along <- (seq_len(ncol(x)) - 1L) %/% wide
  known <- !is.na(x)
  x[!known] <- 0
  fold <- \(v) if (tall > 1 || wide > 1) {
    t(rowsum(t(rowsum(v, across, reorder = FALSE)), along, reorder = FALSE))
  } else {
    v
  }
  value <- fold(x + 0) / fold(known + 0)
  value[is.nan(value)] <- NA
  data.frame(row = (rep(seq_len(nrow(value)), ncol(value)) - 0.5) * tall,
             column = (rep(seq_len(ncol(value)), each = nrow(value)) - 1) * wide + (wide + 1) / 2,
             value = as.vector(value))
}

# ---- Pairs of units ------------------------------------------------------------------

#' An image of a number for each pair of units, blue below 0 and red above, on a scale of square
#' roots, as a few pairs have most
#' @noRd
pair_image <- function(value, units, name) {
  n <- length(units)
  # A picture has no more dots.
  squares <- mean_cells(value, 600L, 600L)
  wide <- ceiling(n / 600)
  squares$row <- squares$row + 0.5
  most <- max(abs(squares$value), 0, na.rm = TRUE)
  if (most == 0) most <- 1
  root <- \(z) sign(z) * sqrt(abs(z))
  # Rounded towards 0, as the scale ends at the largest.
  step <- 10^(floor(log10(most)) - 1)
  breaks <- c(-1, -0.25, 0, 0.25, 1) * floor(most / step * (1 + 1e-9)) * step
  squares$root <- root(squares$value)
  ggplot2::ggplot(squares, aes_from(x = "row", y = "column", fill = "root")) +
    ggplot2::geom_raster() +
    ggplot2::scale_fill_gradient2(low = syn_colours[["blue"]], mid = "white",
                                  high = syn_colours[["vermilion"]], na.value = syn_grid,
                                  limits = root(c(-1, 1) * most * 1.001), breaks = root(breaks),
                                  labels = signif(breaks, 2), name = name) +
    unit_axis(units, scale = ggplot2::scale_x_continuous) +
    unit_axis(units) +
    ggplot2::coord_fixed() +
    theme_synfire() +
    without("panel.grid.major") +
    (if (wide > 1) {
      caption(sprintf("A square is the mean of %d x %d pairs, without those that are not known.",
                      wide, wide))
    }) +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5,
                                                       size = if (n > 25L) 6 else 8))
}

#' Picture of spike time tiling coefficients
#'
#' A square for each pair of units, red above 0 and blue below, on a scale of square roots; grey
#' are units with themselves and those without spikes.
#'
#' @param object What [sttc()] gives.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For objects that were changed (`synfire_error_argument`), and where ggplot2 is not installed.
#' With fewer than two units, the picture and a message say so.
#' @seealso [sttc()], [autoplot.cross_correlogram()] for lags.
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' plot(sttc(simulate_sym26(duration = 20), threads = 2))
#' @exportS3Method ggplot2::autoplot
autoplot.sttc <- function(object, ...) {
  check_no_dots(draws = "spike time tiling coefficients")
  dt <- attr(object, "dt", exact = TRUE)
  sound <- is.matrix(object) && is.double(object) && nrow(object) == ncol(object) &&
    rlang::is_double(dt, n = 1L, finite = TRUE)
  refuse_if(!sound, "object", "what `sttc()` gives", "one that was changed")
  if (nrow(object) < 2L) return(empty_picture("There are no two units", "no pair"))
  value <- as.matrix(object)
  diag(value) <- NA
  pair_image(value, rownames(object) %||% as.character(seq_len(nrow(object))),
             sprintf("Spike time\ntiling\n(%s ms)", exact(dt * 1e3)))
}
