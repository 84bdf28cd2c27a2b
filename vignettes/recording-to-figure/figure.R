# The figures of vignette("recording-to-figure"): panels side by side, with their letters.

# Draws ggplot objects onto one page. `rows` is a list with the names of the panels of each row,
# which share its width evenly unless `widths` (a list like `rows`) says otherwise.
draw_panels <- function(panels, rows, heights, widths = lapply(rows, \(row) rep(1, length(row)))) {
  grid::grid.newpage()
  grid::pushViewport(grid::viewport(layout = grid::grid.layout(length(rows), 1, heights = heights)))
  for (i in seq_along(rows)) {
    grid::pushViewport(grid::viewport(layout.pos.row = i, layout = grid::grid.layout(
      1, length(rows[[i]]), widths = widths[[i]]
    )))
    for (j in seq_along(rows[[i]])) {
      name <- rows[[i]][[j]]
      grid::pushViewport(grid::viewport(layout.pos.col = j))
      print(panels[[name]], newpage = FALSE)
      grid::grid.text(name, x = grid::unit(4, "pt"), y = grid::unit(1, "npc") - grid::unit(4, "pt"),
                      just = c("left", "top"), gp = grid::gpar(fontface = "bold", fontsize = 14))
      grid::popViewport()
    }
    grid::popViewport()
  }
  grid::popViewport()
}

# What all panels share: text of 10 points, a title beside the letter, no caption.
in_panel <- function(plot, title) {
  plot + ggplot2::labs(title = paste0("      ", title), caption = NULL) +
    ggplot2::theme(plot.title = ggplot2::element_text(size = 10, face = "plain"),
                   plot.title.position = "plot", text = ggplot2::element_text(size = 10),
                   plot.margin = ggplot2::margin(6, 8, 4, 8))
}

# Above the parts of a plot, names without what is in brackets behind them.
short_strips <- function(plot) {
  plot$facet$params$labeller <- ggplot2::as_labeller(\(name) sub(" [(].*", "", name))
  plot
}

# Names of units at the raster of assemblies as large as their rows are.
small_units <- function(plot) plot + ggplot2::theme(axis.text.y = ggplot2::element_text(size = 7.5))

# ---- A recording of few units --------------------------------------------------------------

# Spikes of all units between two times.
plot_units <- function(x, from, to) {
  spikes <- as.data.frame(x)
  spikes <- spikes[spikes$time >= from & spikes$time <= to, ]
  ggplot2::ggplot(spikes, ggplot2::aes(time, factor(unit, rev(levels(x$unit))))) +
    ggplot2::geom_point(shape = 124, size = 4, colour = synfire_colours()[["blue"]]) +
    ggplot2::labs(x = "Time (s)", y = "Unit") +
    theme_synfire()
}

# Cross-correlograms of each two units, and what independent ones with constant rates give.
plot_pairs <- function(pairs) {
  units <- dimnames(pairs)[["reference"]]
  both <- utils::combn(length(units), 2)
  spikes <- as.vector(attr(pairs, "spikes"))
  table <- do.call(rbind, lapply(seq_len(ncol(both)), \(k) {
    i <- both[1, k]
    j <- both[2, k]
    data.frame(pair = sprintf("%s, then %s", units[[i]], units[[j]]),
               lag = 1000 * attr(pairs, "lag"), count = pairs[, i, j],
               chance = spikes[[i]] * spikes[[j]] * attr(pairs, "bin_size") /
                 attr(pairs, "duration"))
  }))
  ggplot2::ggplot(table, ggplot2::aes(lag, count)) +
    ggplot2::geom_col(fill = synfire_colours()[["blue"]], width = 1000 * attr(pairs, "bin_size")) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = chance), linetype = "dashed",
                        colour = synfire_colours()[["vermilion"]]) +
    ggplot2::facet_wrap(~factor(pair, unique(pair)), scales = "free_y") +
    ggplot2::labs(x = "Lag (ms)", y = "Pairs of spikes") +
    theme_synfire()
}

# Rates over the session, a line for each unit.
plot_rates <- function(bins) {
  time <- attr(bins, "time")
  units <- colnames(bins)
  table <- data.frame(time = rep(time, length(units)),
                      unit = factor(rep(units, each = length(time)), units),
                      rate = as.vector(unclass(bins)) / attr(bins, "bin_size"))
  ggplot2::ggplot(table, ggplot2::aes(time, rate, colour = unit)) +
    ggplot2::geom_line(linewidth = 0.5) +
    ggplot2::scale_colour_manual(values = unname(synfire_colours(length(units))), name = "Unit") +
    ggplot2::labs(x = "Time (s)", y = "Rate (Hz)") +
    theme_synfire()
}

# ---- A causal map --------------------------------------------------------------------------

# A causal map of a few series: a square for each cause (column) and effect (row), with the lag
# of the best prediction in seconds (`step` is a bin). Framed are those that `links`
# (causal_links()) has.
draw_small_map <- function(map, links, step) {
  names <- colnames(map)
  pairs <- data.frame(cause = factor(rep(names, each = length(names)), names),
                      effect = factor(rep(names, length(names)), rev(names)),
                      rho = as.vector(unclass(map)), lag = as.vector(attr(map, "lag")) * step,
                      p = as.vector(attr(map, "p_value")))
  pairs <- pairs[pairs$cause != pairs$effect, ]
  pairs$text <- sprintf("%.2f\n%s\np = %.3f", pairs$rho, lag_text(pairs$lag), pairs$p)
  ggplot2::ggplot(pairs, ggplot2::aes(cause, effect)) +
    ggplot2::geom_tile(ggplot2::aes(fill = pmax(rho, 0)), width = 0.96, height = 0.96) +
    ggplot2::geom_tile(data = links, fill = NA, colour = synfire_colours()[["vermilion"]],
                       linewidth = 1.2, width = 0.92, height = 0.92) +
    ggplot2::geom_text(ggplot2::aes(label = text, colour = rho > 0.25), size = 2.7,
                       lineheight = 0.95) +
    ggplot2::scale_fill_gradientn(colours = c("#F3F4F6", synfire_colours(4, "counts")),
                                  limits = c(0, 0.5), oob = \(v, ...) pmin(v, 0.5), name = "rho") +
    ggplot2::scale_colour_manual(values = c(`FALSE` = "#1B1F24", `TRUE` = "#FFFFFF"),
                                 guide = "none") +
    ggplot2::labs(x = "Cause", y = "Effect") +
    theme_synfire() +
    ggplot2::theme(panel.grid = ggplot2::element_blank(), axis.line = ggplot2::element_blank(),
                   legend.position = "none")
}

lag_text <- function(seconds) {
  ifelse(seconds == 0, "same step", paste(abs(seconds), ifelse(seconds < 0, "s before", "s after")))
}

# Links of a map in which the past of the cause is seen in the effect, with a p value of `alpha` at
# most after a correction for the number of pairs (Bonferroni).
causal_links <- function(map, alpha = 0.05) {
  p <- attr(map, "p_value")
  pairs <- nrow(p) * (nrow(p) - 1)
  at <- which(p * pairs <= alpha & attr(map, "lag") < 0 & row(p) != col(p), arr.ind = TRUE)
  data.frame(cause = factor(colnames(p)[at[, 2]], colnames(p)),
             effect = factor(rownames(p)[at[, 1]], rev(rownames(p))))
}
