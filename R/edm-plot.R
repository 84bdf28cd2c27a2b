# Pictures of empirical dynamic modelling: skill against a parameter, and observed and
# predicted. Those of cross mapping are in edm-ccm_plot.R.

#' Plots of skill and of predictions
#'
#' `embed_dimension()`, `predict_interval()` and `predict_nonlinear()` give a curve of skill
#' against their parameter, the best one marked; `embed_dimension()` with several `tau` or
#' `Tp` a map of skill, `E` against them. Predictions of `simplex()`, `smap()` and
#' `multiview()` are drawn over time (`"series"`), with a band of one standard deviation of
#' the neighbours on both sides, or against what was observed (`"scatter"`), where a
#' perfect forecast lies on the line. Of long series that rise and fall too often to be seen, rows
#' from the middle are drawn over time; of more than 5,000 predictions the scatter plot counts them
#' in squares. `"coefficients"` of an S-map are its local slopes over time: how much each coordinate
#' moves the target, state by state. The twelve largest have a panel; of more than 1,000 rows,
#' medians of successive rows are drawn.
#'
#' A time column that is no number, date or date-time is drawn by row, with its values as
#' labels.
#'
#' @param object What the function gave.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param type Which picture.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' Where there is nothing to draw: no row, or no prediction; and where ggplot2 is not
#' installed.
#' @seealso [autoplot.ccm()]
#' @examplesIf rlang::is_installed("ggplot2")
#' logistic <- Reduce(\(x, i) 3.8 * x * (1 - x), 1:199, 0.3, accumulate = TRUE)
#' x <- data.frame(time = 1:200, x = logistic)
#' plot(embed_dimension(x, "x", threads = 2))
#' found <- smap(x, "x", lib = c(1, 100), pred = c(101, 200), E = 2, theta = 3, threads = 2)
#' plot(found)
#' plot(found, type = "series")
#' @name edm_plots
NULL

# ---- Skill -------------------------------------------------------------------------

#' @rdname edm_plots
#' @exportS3Method ggplot2::autoplot
autoplot.edm_skill <- function(object, ...) {
  check_no_dots(draws = "skill")
  parameter <- names(object)[[1L]]
  check_skill(object, parameter)
  if (all(c("E", "tau", "Tp") %in% names(object))) return(plot_skill_map(object))
  curve <- data.frame(value = object[[1L]], rho = object$rho)
  # Skill falls with how far one looks ahead: its largest value is no choice to be made.
  best <- if (parameter %in% c("E", "Theta")) curve[which.max(curve$rho), ]
  plot <- ggplot2::ggplot(curve, ggplot2::aes(x = .data$value, y = .data$rho)) +
    zero_line(curve$rho) +
    ggplot2::geom_line(colour = syn_colours[["blue"]], na.rm = TRUE) +
    ggplot2::geom_point(colour = syn_colours[["blue"]], size = 1.6, na.rm = TRUE)
  if (!is.null(best)) {
    plot <- plot + ggplot2::geom_point(data = best, colour = syn_colours[["vermilion"]], size = 3) +
      ggplot2::labs(subtitle = sprintf("Best: %s = %s, rho = %.3f", parameter,
                                       format(best$value), best$rho))
  }
  plot + ggplot2::scale_x_continuous(name = skill_label(parameter), breaks = skill_breaks) +
    skill_axis(curve$rho) +
    theme_synfire()
}

check_skill <- function(object, parameter) {
  refuse_if(!any(is.finite(object$rho)), "object",
            sprintf("skill for at least one %s", parameter), "without any")
}

skill_label <- function(parameter) {
  labels <- c(E = "Embedding dimension E", Tp = "Prediction interval Tp (rows)",
              Theta = "Nonlinearity theta", ExclusionRadius = "Exclusion radius (rows)",
              tau = "Lag tau (rows)")
  if (parameter %in% names(labels)) labels[[parameter]] else parameter
}

#' Skill of each E against tau, in a panel for each Tp; against Tp where there is one tau
#' @noRd
plot_skill_map <- function(object) {
  across <- if (length(unique(object$tau)) > 1L) "tau" else "Tp"
  levels <- \(value) factor(value, sort(unique(value)))
  cells <- data.frame(E = levels(object$E), across = levels(object[[across]]),
                      rho = as.double(object$rho),
                      panel = levels(if (across == "tau") object$Tp else 1))
  best <- cells[which.max(cells$rho), ]
  panels <- nlevels(cells$panel) > 1L
  ggplot2::ggplot(cells, ggplot2::aes(x = .data$E, y = .data$across)) +
    ggplot2::geom_tile(ggplot2::aes(fill = .data$rho)) +
    ggplot2::geom_tile(data = best, fill = NA, colour = syn_colours[["vermilion"]], linewidth = 1) +
    (if (panels) {
      ggplot2::facet_wrap(ggplot2::vars(.data$panel),
                          labeller = ggplot2::as_labeller(\(Tp) paste("Tp", Tp)))
    }) +
    ggplot2::scale_fill_gradientn(name = "Skill (rho)", colours = c("white", syn_scale),
                                  limits = c(min(0, cells$rho, na.rm = TRUE), NA),
                                  na.value = syn_grid) +
    ggplot2::scale_x_discrete(name = skill_label("E"), breaks = some_levels) +
    ggplot2::scale_y_discrete(name = skill_label(across), breaks = some_levels) +
    ggplot2::labs(subtitle = sprintf("Best: E = %s, %s = %s%s, rho = %.3f", best$E, across,
                                     best$across, if (panels) paste(", Tp =", best$panel) else "",
                                     best$rho)) +
    theme_synfire() +
    (if (anyNA(cells$rho)) {
      caption("A grey cell has no skill to show: no correlation, or too small a library.")
    })
}

#' At most twelve labels of an axis of levels
#' @noRd
some_levels <- function(levels) levels[seq(1, length(levels), by = ceiling(length(levels) / 12))]

#' Skill from at most 0 to 1, or as far as it goes where it is high all over
#' @noRd
skill_axis <- function(rho, name = "Skill (rho)") {
  rho <- rho[is.finite(rho)]
  ggplot2::scale_y_continuous(
    name = name, limits = c(min(rho, if (min(rho) < 0.5) 0), NA), n.breaks = 5,
    expand = ggplot2::expansion(mult = 0.04)
  )
}

zero_line <- function(values) {
  if (any(values < 0, na.rm = TRUE)) {
    ggplot2::geom_hline(yintercept = 0, colour = syn_muted, linewidth = 0.3)
  }
}

#' About eight breaks, at whole numbers where the axis is long enough for two of them
#' @noRd
skill_breaks <- function(limits) {
  breaks <- pretty(limits, 8)
  whole <- breaks[breaks == round(breaks) & breaks >= limits[[1L]] & breaks <= limits[[2L]]]
  if (length(whole) >= 2L) whole else breaks
}

# ---- Forecasts of views and of S-maps ----------------------------------------------

#' @rdname edm_plots
#' @exportS3Method ggplot2::autoplot
autoplot.multiview <- function(object, type = c("series", "scatter"), ...) {
  autoplot.edm_prediction(object$predictions, type, ...)
}

#' @rdname edm_plots
#' @exportS3Method ggplot2::autoplot
autoplot.smap <- function(object, type = c("coefficients", "series", "scatter"), ...) {
  check_no_dots(draws = "an S-map")
  type <- check_choice(type)
  if (type != "coefficients") return(autoplot.edm_prediction(object$predictions, type))
  plot_coefficients(object$coefficients)
}

# Coefficients that have a panel, and rows that have a point.
most_coefficients <- 12L
most_points <- 1000L

plot_coefficients <- function(coefficients) {
  n <- nrow(coefficients)
  all <- as.matrix(coefficients[-1L])
  refuse_if(!any(is.finite(all)), "object", "an S-map with at least one prediction", "without any")
  size <- apply(abs(all), 2L, stats::median, na.rm = TRUE)
  values <- all[, sort(utils::head(order(-size), most_coefficients)), drop = FALSE]
  labels <- coefficient_labels(colnames(values))
  # Of many rows a point stands for a piece, and a band for what its rows have.
  piece <- if (n > most_points) (seq_len(n) - 1) %/% ceiling(n / 300) else seq_len(n)
  part <- \(p) as.vector(apply(values, 2L, \(v) {
    vapply(split(v, piece), stats::quantile, 0, p, names = FALSE, na.rm = TRUE)
  }))
  time <- plot_time(coefficients[[1L]][!duplicated(piece)], names(coefficients)[[1L]])
  long <- data.frame(time = rep(time$at, ncol(values)),
                     value = if (n > most_points) part(0.5) else as.vector(values),
                     name = factor(rep(labels, each = length(time$at)), labels))
  ggplot2::ggplot(long, ggplot2::aes(x = .data$time, y = .data$value)) +
    ggplot2::geom_hline(yintercept = 0, colour = syn_muted, linewidth = 0.3) +
    (if (n > most_points) {
      ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$low, ymax = .data$high),
                           data = cbind(long, low = part(0.05), high = part(0.95)),
                           fill = syn_colours[["sky"]], alpha = 0.5)
    }) +
    ggplot2::geom_line(colour = syn_colours[["blue"]], linewidth = 0.5, na.rm = TRUE) +
    ggplot2::geom_point(colour = syn_colours[["blue"]], size = 0.6, na.rm = TRUE) +
    ggplot2::facet_wrap(ggplot2::vars(.data$name), ncol = ceiling(length(labels) / 4),
                        scales = "free_y") +
    time$scale +
    ggplot2::scale_y_continuous(name = "Coefficient", n.breaks = 4) +
    theme_synfire() +
    (if (n > most_points) {
      caption(sprintf("A point is the median of %s rows in succession, the band holds 90 %% of them.",
                      commas(sum(piece == 0))))
    }) +
    (if (ncol(values) < ncol(all)) {
      ggplot2::labs(subtitle = sprintf("The %d of %s coefficients with the largest median size",
                                       ncol(values), commas(ncol(all))))
    })
}

#' Names of coefficients for panels: of long ones without the target, and without their middle
#' @noRd
coefficient_labels <- function(names) {
  # The sign of a partial derivative is not in the fonts of every device.
  labels <- gsub("\u2202", "d", names)
  if (max(nchar(labels)) <= 24L) return(labels)
  cut <- sub("^\u2202.*/\u2202", "d/d", names)
  n <- nchar(cut)
  cut <- ifelse(n <= 24L, cut, paste0(substr(cut, 1L, 11L), "..", substring(cut, n - 10L)))
  if (anyDuplicated(cut)) labels else cut
}

# ---- Observed and predicted --------------------------------------------------------

#' @rdname edm_plots
#' @exportS3Method ggplot2::autoplot
autoplot.edm_prediction <- function(object, type = c("series", "scatter"), ...) {
  check_no_dots(draws = "predictions")
  type <- check_choice(type)
  refuse_if(!any(is.finite(object$Predictions)), "object", "a table with at least one prediction",
            "without any")
  switch(type, series = plot_series(object), scatter = plot_scatter(object))
}

plot_series <- function(object) {
  rows <- readable_rows(as.double(object$Observations))
  said <- paste0(error_text(object), if (length(rows) < nrow(object)) sprintf(
    "\nDrawn: %s of %s rows, from the middle. The scatter plot has all.",
    commas(length(rows)), commas(nrow(object))))
  target <- attr(object, "parameters")$target
  object <- as.data.frame(object)[rows, , drop = FALSE]
  time <- plot_time(object[[1L]], names(object)[[1L]])
  line <- function(what) {
    data.frame(time = time$at, value = as.double(object[[what]]), what = what)
  }
  lines <- rbind(line("Observations"), line("Predictions"))
  ggplot2::ggplot(lines, ggplot2::aes(x = .data$time, y = .data$value)) +
    (if (!is.null(object$Pred_Variance)) {
      ggplot2::geom_ribbon(
        ggplot2::aes(x = .data$time, ymin = .data$low, ymax = .data$high, group = .data$run),
        data = prediction_band(object, time$at), inherit.aes = FALSE,
        fill = syn_colours[["sky"]], alpha = 0.35
      )
    }) +
    ggplot2::geom_line(ggplot2::aes(colour = .data$what), linewidth = 0.5, na.rm = TRUE) +
    # A row between two without a value is no line.
    ggplot2::geom_point(ggplot2::aes(colour = .data$what), size = 0.8, na.rm = TRUE) +
    ggplot2::scale_colour_manual(
      name = NULL, labels = c("observed", "predicted"),
      values = c(Observations = syn_ink, Predictions = syn_colours[["blue"]])
    ) +
    time$scale +
    ggplot2::scale_y_continuous(name = target %||% "Value", n.breaks = 5) +
    ggplot2::labs(subtitle = said) +
    theme_synfire() +
    (if (!is.null(object$Pred_Variance)) {
      caption("Band: one standard deviation of the neighbours' values on either side.")
    }) +
    legend_on_top()
}

#' Rows of a series whose ups and downs can be seen beside each other: all, or from the middle
#' @noRd
readable_rows <- function(values, most_turns = 400L, most_rows = 5000L) {
  turns <- which(diff(sign(diff(values))) != 0)
  n <- length(values)
  range <- c(1, n)
  if (length(turns) > most_turns) {
    range <- turns[length(turns) %/% 2 + c(-1, 1) * most_turns %/% 4]
  }
  middle <- sum(range) / 2
  seq(max(range[[1L]], ceiling(middle - most_rows / 2)),
      min(range[[2L]], floor(middle + most_rows / 2)))
}

#' One standard deviation of the neighbours on both sides, in runs without a gap
#' @noRd
prediction_band <- function(object, time) {
  centre <- as.double(object$Predictions)
  spread <- sqrt(as.double(object$Pred_Variance))
  known <- is.finite(centre) & is.finite(spread)
  data.frame(time = time, low = centre - spread, high = centre + spread,
             run = cumsum(!known))[known, ]
}

plot_scatter <- function(object) {
  pairs <- data.frame(observed = as.double(object$Observations),
                      predicted = as.double(object$Predictions))
  pairs <- pairs[is.finite(pairs$observed) & is.finite(pairs$predicted), ]
  limits <- range(pairs)
  many <- nrow(pairs) > 5000L
  ggplot2::ggplot(pairs, ggplot2::aes(x = .data$observed, y = .data$predicted)) +
    ggplot2::geom_abline(slope = 1, intercept = 0, colour = syn_muted, linewidth = 0.3) +
    (if (many) list(
      ggplot2::geom_bin_2d(bins = 80),
      ggplot2::scale_fill_gradientn(name = "Predictions", colours = syn_scale, trans = "log10",
                                    labels = commas_each)
    ) else ggplot2::geom_point(
      colour = syn_colours[["blue"]], alpha = if (nrow(pairs) > 500L) 0.3 else 0.7,
      size = 1.4, shape = 16
    )) +
    ggplot2::coord_fixed(xlim = limits, ylim = limits) +
    ggplot2::labs(x = "Observed", y = "Predicted", subtitle = error_text(object)) +
    theme_synfire() +
    caption("On the line a prediction is as observed.")
}

#' Skill in words, below the title
#' @noRd
error_text <- function(object) {
  error <- prediction_error(object)
  sprintf("rho = %s, MAE = %s, RMSE = %s", signif(error$rho, 3), signif(error$MAE, 3),
          signif(error$RMSE, 3))
}

#' Where rows stand on the axis of time, and that axis
#' @noRd
plot_time <- function(time, name) {
  if (is.numeric(time)) {
    return(list(at = as.double(time), scale = ggplot2::scale_x_continuous(name = name)))
  }
  if (inherits(time, "Date")) return(list(at = time, scale = ggplot2::scale_x_date(name = name)))
  if (inherits(time, "POSIXct")) {
    return(list(at = time, scale = ggplot2::scale_x_datetime(name = name)))
  }
  rows <- even_steps(length(time), 5)
  list(at = seq_along(time), scale = ggplot2::scale_x_continuous(
    name = name, labels = as.character(time)[rows], breaks = rows
  ))
}
