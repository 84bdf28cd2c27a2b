# Pictures of cross mapping: skill against library size, and against the delay.

#' Plots of cross mapping
#'
#' [ccm()] is drawn as a curve for each direction: mean skill against library size, in a
#' band that holds 95 percent of the samples. With surrogates each direction has a
#' panel, where the grey band holds 90 percent of the surrogates and the dashed line is their
#' median. What speaks for a cause is a curve that rises, levels off, and leaves the grey
#' band; high skill alone does not.
#'
#' [ccm_lag()] is drawn as skill against `Tp`, the largest of each direction marked. A cause
#' acts from the past, at a `Tp` of at most 0.
#'
#' Legends name the cause that a direction tests: if y drives x, it is x that predicts y.
#'
#' @param object What [ccm()] or [ccm_lag()] gives.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' Where no skill is known, and where ggplot2 is not installed.
#' @seealso [ccm()], [autoplot.edm_skill()]
#' @examplesIf rlang::is_installed("ggplot2")
#' x <- y <- 0.4
#' for (t in 1:199) {
#'   x[t + 1] <- x[t] * (3.8 - 3.8 * x[t] - 0.02 * y[t])
#'   y[t + 1] <- y[t] * (3.5 - 3.5 * y[t] - 0.1 * x[t])
#' }
#' set.seed(1)
#' data <- data.frame(time = 1:200, x, y)
#' plot(ccm(data, "x", "y", E = 2, samples = 30, n_surrogates = 30, threads = 2))
#' plot(ccm_lag(data, "x", "y", E = 2, threads = 2))
#' @exportS3Method ggplot2::autoplot
autoplot.ccm <- function(object, ...) {
  check_no_dots(draws = "cross mapping")
  curves <- long_skill(object)
  band <- sample_band(object)
  null <- attr(object, "surrogates", exact = TRUE)
  if (!is.null(null)) null$direction <- factor(null$direction, levels(curves$direction))
  labels <- direction_labels(object)
  plot <- ggplot2::ggplot(curves, ggplot2::aes(x = .data$at)) +
    zero_line(c(curves$rho, band$low, null$low)) +
    (if (!is.null(null)) null_layers(null)) +
    ggplot2::geom_ribbon(
      ggplot2::aes(ymin = .data$low, ymax = .data$high, fill = .data$direction),
      data = band, alpha = 0.2, show.legend = FALSE
    ) +
    ggplot2::geom_line(ggplot2::aes(y = .data$rho, colour = .data$direction),
                       linewidth = 0.8, na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(y = .data$rho, colour = .data$direction), size = 1.6,
                        na.rm = TRUE) +
    direction_scale(ggplot2::scale_colour_manual, labels, panels = !is.null(null)) +
    direction_scale(ggplot2::scale_fill_manual, labels, panels = TRUE) +
    ggplot2::scale_x_continuous(name = "Library size (rows)", n.breaks = 5) +
    skill_axis(c(curves$rho, band$low, null$low), "Cross map skill (rho)") +
    theme_synfire() +
    direction_theme()
  band_words <- "Bands: the middle 95 % of the libraries drawn."
  if (is.null(null)) return(plot + caption(band_words))
  plot +
    caption(band_words, "Grey band: the middle 90 % of surrogates of the series that is predicted.",
            "Dashed: the median of the surrogates.") +
    ggplot2::facet_wrap(ggplot2::vars(.data$direction),
                        labeller = ggplot2::as_labeller(sub(": ", ":\n", labels, fixed = TRUE))) +
    ggplot2::theme(panel.spacing.x = ggplot2::unit(5, "mm"))
}

#' @rdname autoplot.ccm
#' @exportS3Method ggplot2::autoplot
autoplot.ccm_lag <- function(object, ...) {
  check_no_dots(draws = "cross mapping")
  curves <- long_skill(object)
  peak <- attr(object, "best", exact = TRUE)
  peak <- curves[!is.na(curves$rho) & curves$at == peak[as.character(curves$direction)], ]
  labels <- direction_labels(object)
  ggplot2::ggplot(curves, ggplot2::aes(x = .data$at, y = .data$rho, colour = .data$direction)) +
    zero_line(curves$rho) +
    ggplot2::geom_vline(xintercept = 0, colour = syn_muted, linewidth = 0.3) +
    ggplot2::geom_line(linewidth = 0.8, na.rm = TRUE) +
    ggplot2::geom_point(size = 1.4, na.rm = TRUE) +
    ggplot2::geom_point(data = peak, size = 3.4, show.legend = FALSE) +
    direction_scale(ggplot2::scale_colour_manual, labels) +
    ggplot2::scale_x_continuous(name = "Tp (rows)", breaks = skill_breaks) +
    skill_axis(curves$rho, "Cross map skill (rho)") +
    theme_synfire() +
    direction_theme() +
    caption("Large point: the highest skill. Right of the line at 0 the cause would come later.")
}

#' A row for each direction and value of the first column, which is `at`
#' @noRd
long_skill <- function(object) {
  directions <- names(object)[-1L]
  curves <- data.frame(
    at = rep(object[[1L]], length(directions)),
    rho = unlist(lapply(directions, \(d) object[[d]]), use.names = FALSE),
    direction = factor(rep(directions, rep(nrow(object), length(directions))), directions)
  )
  check_skill(curves, names(object)[[1L]])
  curves
}

#' What holds 95 percent of the samples of each direction and library size
#' @noRd
sample_band <- function(object) {
  samples <- attr(object, "samples", exact = TRUE)
  samples <- samples[!is.na(samples$rho), ]
  limit <- \(p) \(rho) stats::quantile(rho, p, names = FALSE)
  low <- stats::aggregate(rho ~ LibSize + direction, samples, limit(0.025))
  high <- stats::aggregate(rho ~ LibSize + direction, samples, limit(0.975))
  data.frame(at = low$LibSize, direction = factor(low$direction, names(object)[-1L]),
             low = low$rho, high = high$rho)
}

null_layers <- function(null) {
  # A direction without any skill has no band, and a band of nothing is a warning.
  null <- null[!is.na(null$low), ]
  list(
    ggplot2::geom_ribbon(
      ggplot2::aes(x = .data$LibSize, ymin = .data$low, ymax = .data$high),
      data = null, fill = syn_muted, alpha = 0.25
    ),
    ggplot2::geom_line(ggplot2::aes(x = .data$LibSize, y = .data$median), data = null,
                       colour = syn_muted, linetype = "dashed", linewidth = 0.5)
  )
}

#' What a direction says if its skill converges
#' @noRd
direction_labels <- function(object) {
  ends <- direction_ends(object)
  directions <- names(object)[-1L]
  at <- seq_along(directions)
  names <- unique(c(ends$cause[at], ends$effect[at]))
  # The sentence has room for four names of 16 letters.
  short <- rlang::set_names(if (max(nchar(names)) > 16L) short_names(names, 8L) else names, names)
  cause <- short[ends$cause[at]]
  effect <- short[ends$effect[at]]
  words <- sprintf("%s predicts %s: does %s drive %s?", effect, cause, cause, effect)
  rlang::set_names(words, directions)
}

#' @param panels Are there panels that say it already?
#' @noRd
direction_scale <- function(scale, labels, panels = FALSE) {
  scale(name = NULL, labels = labels, drop = FALSE, guide = if (panels) "none" else "legend",
        values = named_palette(names(labels)))
}

direction_theme <- function() {
  legend_on_top(legend.direction = "vertical", legend.key.height = ggplot2::unit(4.5, "mm"),
                legend.margin = ggplot2::margin(0, 0, 0, 0))
}
