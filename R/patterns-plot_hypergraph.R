# The hypergraph of patterns: which units are together in which patterns, without their lags.

#' Units as circles, and around those of each pattern an area
#'
#' @param patterns Those to draw.
#' @param times How often each occurs.
#' @noRd
plot_pattern_hypergraph <- function(patterns, times) {
  rlang::check_installed("igraph", "to place the units of patterns.")
  members <- lapply(split(pattern_table(patterns)$unit, pattern_table(patterns)$pattern), unique)
  labels <- as.character(attr(patterns, "units", exact = TRUE))
  units <- labels[labels %in% unlist(members)]
  place <- hypergraph_layout(members, units)
  radius <- network_radius(place)
  areas <- hypergraph_areas(members, place, radius)
  names <- pattern_names(patterns, times)
  short <- shorten_labels(units, radius)
  areas$pattern <- factor(names[areas$pattern], names)
  ends <- place[unlist(members), , drop = FALSE]
  pattern <- rep(seq_along(members), lengths(members))
  # From the middle of the units of a pattern, which lies in its area.
  spokes <- data.frame(pattern = factor(names[pattern], names), xend = ends[, 1L],
                       yend = ends[, 2L], x = stats::ave(ends[, 1L], pattern),
                       y = stats::ave(ends[, 2L], pattern))
  colours <- named_palette(names)
  ggplot2::ggplot() +
    ggplot2::geom_polygon(aes_from(x = "x", y = "y", group = "pattern", fill = "pattern",
                                   colour = "pattern"), data = areas, alpha = 0.12,
                          linewidth = 0.4) +
    ggplot2::geom_segment(aes_from(x = "x", y = "y", xend = "xend", yend = "yend",
                                   colour = "pattern"), data = spokes, linewidth = 0.8,
                          show.legend = FALSE) +
    node_layers(place, radius, short$labels) +
    ggplot2::scale_colour_manual(values = colours, limits = names, guide = "none") +
    ggplot2::scale_fill_manual(name = pattern_key_title(patterns), values = colours,
                               limits = names,
                               guide = ggplot2::guide_legend(ncol = 1, title.position = "top",
                                                             override.aes = list(alpha = 0.4))) +
    theme_network(paste(c(sprintf("%s, %s of %s units.", counted(length(patterns), "pattern"),
                                  commas(length(units)), commas(length(labels))),
                          short$left_out), collapse = " ")) +
    legend_on_top(legend.title = ggplot2::element_text(size = 9, colour = syn_muted),
                  legend.key.size = ggplot2::unit(3.5, "mm"))
}

#' Places of units, as network_layout() gives them
#'
#' Each pattern is a vertex of its own, with an edge to each of its units: units that share
#' many patterns come close.
#' @noRd
hypergraph_layout <- function(members, units) {
  vertices <- c(paste("unit", units), paste("pattern", seq_along(members)))
  steps <- data.frame(from = paste("pattern", rep(seq_along(members), lengths(members))),
                      to = paste("unit", unlist(members)), weight = 1)
  place <- network_layout(steps, vertices, NULL)[seq_along(units), , drop = FALSE]
  rownames(place) <- units
  place
}

#' Convex areas around the units of each pattern, rounded, and wider where they hold others
#'
#' @return Data frame `pattern` (its place), `x`, `y`; larger patterns first, to be covered.
#' @noRd
hypergraph_areas <- function(members, place, radius) {
  o <- order(lengths(members))
  depth <- integer(length(members))
  for (k in seq_along(o)) {
    inside <- vapply(members[o[seq_len(k - 1L)]], \(units) any(units %in% members[[o[[k]]]]), NA)
    depth[[o[[k]]]] <- 1L + max(0L, depth[o[seq_len(k - 1L)]][inside])
  }
  areas <- lapply(rev(o), \(k) {
    own <- place[members[[k]], , drop = FALSE]
    edge <- node_circles(own, radius * (1.3 + 0.25 * min(depth[[k]], 6L)))
    hull <- grDevices::chull(edge$x, edge$y)
    data.frame(pattern = k, x = edge$x[hull], y = edge$y[hull])
  })
  do.call(rbind, areas)
}
