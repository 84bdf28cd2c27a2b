# Pictures of cross mapping: skill against library size and against the lag, and the
# coefficients of an S-map over time.

#' Plots of cross mapping
#'
#' [ccm()] is drawn as a curve for each direction: mean skill against library size, in a
#' band that holds the middle 95 percent of the samples. Where there are surrogates, a
#' dashed line is their upper 95 percent: skill below it is no more than they have.
#' Convergence, a curve that rises and levels off above that line, is what speaks for a
#' cause; high skill alone is not. [ccm_lag()] is drawn as skill against `Tp`, the largest of
#' each direction marked: a cause is best found where `Tp` is at most 0.
#'
#' Legends name the cause that the direction tests: when x predicts y, y leaves its trace
#' in x, so y drives x.
#'
#' @param object,x What [ccm()] or [ccm_lag()] gives.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' Where no skill is known, and where ggplot2 is not installed.
#' @seealso [autoplot.edm_skill()]
#' @exportS3Method ggplot2::autoplot
autoplot.ccm <- function(object, ...) {
  rlang::check_installed("ggplot2", "to draw cross mapping.")
  rlang::check_dots_empty()
  curves <- long_skill(object, "LibSize")
  band <- ccm_band(object)
  null <- ccm_null(object)
  ggplot2::ggplot(curves, ggplot2::aes(x = .data$at, colour = .data$direction)) +
    zero_line(c(curves$rho, band$low, null$high)) +
    (if (!is.null(band)) {
      ggplot2::geom_ribbon(
        ggplot2::aes(x = .data$at, ymin = .data$low, ymax = .data$high,
                     fill = .data$direction),
        data = band, inherit.aes = FALSE, alpha = 0.18, show.legend = FALSE, na.rm = TRUE
      )
    }) +
    (if (!is.null(null)) {
      ggplot2::geom_line(ggplot2::aes(y = .data$high), data = null, linetype = "dashed",
                         linewidth = 0.5, show.legend = FALSE, na.rm = TRUE)
    }) +
    ggplot2::geom_line(ggplot2::aes(y = .data$rho), linewidth = 0.8, na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(y = .data$rho), size = 1.6, na.rm = TRUE) +
    direction_scale(levels(curves$direction), "colour") +
    direction_scale(levels(curves$direction), "fill") +
    ggplot2::scale_x_continuous(name = "Library size (rows)", breaks = skill_breaks) +
    skill_axis(c(curves$rho, band$low, band$high, null$high), "Cross map skill (rho)") +
    (if (!is.null(null)) {
      ggplot2::labs(subtitle = "Dashed: 95 percent of the surrogates are below")
    }) +
    theme_synfire() +
    direction_theme()
}

#' @rdname autoplot.ccm
#' @export
plot.ccm <- function(x, ...) draw(autoplot.ccm(x, ...))

#' @rdname autoplot.ccm
#' @exportS3Method ggplot2::autoplot
autoplot.ccm_lag <- function(object, ...) {
  rlang::check_installed("ggplot2", "to draw cross mapping.")
  rlang::check_dots_empty()
  curves <- long_skill(object, "Tp")
  best <- do.call(rbind, lapply(split(curves, curves$direction), \(d) d[which.max(d$rho), ]))
  ggplot2::ggplot(curves, ggplot2::aes(x = .data$at, y = .data$rho, colour = .data$direction)) +
    zero_line(curves$rho) +
    ggplot2::geom_vline(xintercept = 0, colour = syn_muted, linewidth = 0.3) +
    ggplot2::geom_line(linewidth = 0.8, na.rm = TRUE) +
    ggplot2::geom_point(size = 1.4, na.rm = TRUE) +
    ggplot2::geom_point(data = best, size = 3.4, show.legend = FALSE) +
    direction_scale(levels(curves$direction), "colour") +
    ggplot2::scale_x_continuous(name = "Tp (rows)", breaks = skill_breaks) +
    skill_axis(curves$rho, "Cross map skill (rho)") +
    theme_synfire() +
    direction_theme()
}

#' @rdname autoplot.ccm
#' @export
plot.ccm_lag <- function(x, ...) draw(autoplot.ccm_lag(x, ...))

#' A row for each direction and value of the first column
#' @noRd
long_skill <- function(object, parameter, call = rlang::caller_env()) {
  directions <- grep(":", names(object), fixed = TRUE, value = TRUE)
  curves <- do.call(rbind, lapply(directions, \(d) {
    data.frame(at = object[[parameter]], rho = object[[d]], direction = d)
  }))
  check_skill(curves, parameter, call)
  curves$direction <- factor(curves$direction, directions)
  curves
}

direction_scale <- function(directions, aesthetic) {
  make <- switch(aesthetic, colour = ggplot2::scale_colour_manual,
                 fill = ggplot2::scale_fill_manual)
  make(name = NULL, labels = direction_labels(directions), drop = FALSE,
       values = rlang::set_names(syn_palette(length(directions)), directions))
}

#' What a direction "x:y" says if its skill converges
#' @noRd
direction_labels <- function(directions) {
  vapply(strsplit(directions, ":", fixed = TRUE), \(name) {
    sprintf("%s predicts %s: does %s drive %s?", name[[1L]], name[[2L]], name[[2L]],
            name[[1L]])
  }, "")
}

direction_theme <- function() {
  ggplot2::theme(legend.position = "top", legend.justification = "left",
                 legend.direction = "vertical",
                 legend.key.height = ggplot2::unit(4.5, "mm"),
                 legend.margin = ggplot2::margin(0, 0, 0, 0))
}
