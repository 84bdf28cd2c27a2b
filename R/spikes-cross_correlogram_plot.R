# Pictures of cross-correlograms: some pairs, or all of them as a matrix.

#' Pictures of cross-correlograms
#'
#' `type = "pairs"` draws the lag histograms of some pairs, a panel each, with a dashed
#' line for what independent units with constant rates would give; a unit with itself is
#' drawn in another colour. `type = "matrix"` draws all pairs as a square each: how far
#' the bin that is least like chance is from it, in standard deviations (`z` of
#' [summary()]), on a scale of square roots.
#'
#' @param object A [cross_correlogram()].
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param type `"pairs"` or `"matrix"`; by default `"pairs"` where units are chosen or
#'   there are at most five of them.
#' @param reference,target Names of units, for `"pairs"`: up to ten of each. By default
#'   the five busiest units.
#' @param y For `"pairs"`: `"count"`, or `"rate"` in Hz of the target.
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For arguments out of range (`synfire_error_argument`), and where ggplot2 is not
#' installed.
#' @examplesIf rlang::is_installed("ggplot2")
#' counts <- cross_correlogram(mouse, bin_size = 0.005, max_lag = 0.2, threads = 2)
#' plot(counts)
#' ggplot2::autoplot(counts, type = "matrix")
#' @exportS3Method ggplot2::autoplot
autoplot.cross_correlogram <- function(object, ..., type = NULL, reference = NULL,
                                       target = NULL, y = c("count", "rate")) {
  check_no_dots(draws = "cross-correlograms")
  check_correlogram(object)
  y <- check_choice(y)
  units <- units_of_counts(object)
  if (length(units) == 0L) return(empty_picture("There is no unit", "nothing"))
  chosen <- !is.null(reference) || !is.null(target)
  type <- if (is.null(type)) {
    if (chosen || length(units) <= 5L) "pairs" else "matrix"
  } else {
    check_choice(type, c("pairs", "matrix"))
  }
  if (type == "matrix") {
    refuse_if(chosen, if (is.null(reference)) "target" else "reference",
              "NULL where `type` is \"matrix\"", "given")
    return(correlogram_matrix(object))
  }
  correlogram_pairs(object, few_units(reference, object), few_units(target, object), y)
}

#' Names of at most ten units
#' @noRd
few_units <- function(chosen, x, arg = rlang::caller_arg(chosen)) {
  force(arg)
  units <- units_of_counts(x)
  panel_units(chosen, units, rowSums(attr(x, "spikes", exact = TRUE)), 5L, 10L, arg)
}

correlogram_pairs <- function(x, reference, target, y) {
  table <- as.data.frame(x, reference = reference, target = target)
  table$reference <- factor(table$reference, reference)
  table$target <- factor(table$target, target)
  table$lag <- table$lag * 1e3
  table$height <- if (y == "rate") table$rate else table$count
  # What chance gives, on the same scale.
  spikes <- rowSums(attr(x, "spikes", exact = TRUE))[as.character(table$reference)]
  table$chance <- if (y == "rate") {
    table$expected / spikes / attr(x, "bin_size", exact = TRUE)
  } else {
    table$expected
  }
  table$self <- as.character(table$reference) == as.character(table$target)
  table$pair <- pair_labels(table$reference, table$target)
  width <- attr(x, "bin_size", exact = TRUE) * 1e3
  # Axes of many small panels have room for a few numbers.
  many <- max(length(reference), length(target)) > 3L
  ggplot2::ggplot(table, aes_from(x = "lag")) +
    ggplot2::geom_col(aes_from(y = "height", fill = "self"), width = width, na.rm = TRUE) +
    ggplot2::geom_line(ggplot2::aes(y = .data$chance, linetype = "Independent,\nconstant rates"),
                       colour = syn_colours[["vermilion"]], na.rm = TRUE) +
    ggplot2::scale_linetype_manual(values = "dashed", name = NULL) +
    ggplot2::scale_fill_manual(values = c(`FALSE` = syn_colours[["blue"]], `TRUE` = syn_muted),
                               name = NULL,
                               labels = c(`FALSE` = "Two units", `TRUE` = "A unit with itself")) +
    ggplot2::facet_wrap(ggplot2::vars(.data$pair), scales = "free_y", ncol = length(target)) +
    ggplot2::scale_x_continuous(breaks = \(limits) pretty(limits, if (many) 2 else 5)) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = c(0, 0.05)),
                                limits = c(0, NA), n.breaks = if (many) 3,
                                labels = short_numbers) +
    ggplot2::labs(x = "Lag (ms): above 0 the second unit fires after the first",
                  y = if (y == "rate") "Rate of the second unit (Hz)" else "Pairs of spikes") +
    theme_synfire() +
    legend_on_top() +
    (if (many) small_panels(max(length(reference), length(target))))
}

pair_labels <- function(reference, target) {
  short <- short_names(union(levels(reference), levels(target)))
  rows <- short[seq_len(nlevels(reference))]
  columns <- short[match(levels(target), union(levels(reference), levels(target)))]
  # Long names take a line each.
  between <- if (max(nchar(c(rows, columns))) > 6L && length(columns) > 3L) "\nto " else " to "
  labels <- paste0(rep(rows, each = length(columns)), between, rep(columns, length(rows)))
  code <- (as.integer(reference) - 1L) * length(columns) + as.integer(target)
  as_factor(code, make.unique(labels))
}

correlogram_matrix <- function(x) {
  pairs <- summary(x)
  n <- ncol(x)
  z <- matrix(NA_real_, n, n)
  pair <- cbind(as.integer(pairs$reference), as.integer(pairs$target))
  z[pair] <- z[pair[, 2:1, drop = FALSE]] <- pairs$z
  pair_image(z, dimnames(x)[[2L]], "Bin least\nlike chance (z)")
}
