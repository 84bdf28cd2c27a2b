# Which units are together in which patterns, without their lags; and four histograms side
# by side.

#' Units as circles, and around those of each pattern an area
#'
#' @param patterns Those to draw.
#' @param times How often each occurs.
#' @noRd
plot_pattern_hypergraph <- function(patterns, times, call) {
  rlang::check_installed("igraph", "to place the units of patterns.")
  members <- lapply(split(pattern_table(patterns)$unit, pattern_table(patterns)$pattern), unique)
  labels <- as.character(attr(patterns, "units", exact = TRUE))
  units <- labels[labels %in% unlist(members)]
  place <- hypergraph_layout(members, units, call)
  radius <- network_radius(place)
  areas <- hypergraph_areas(members, place, radius)
  names <- pattern_names(patterns, times)
  short <- shorten_labels(units)
  areas$pattern <- factor(names[areas$pattern], names)
  ends <- place[unlist(members), , drop = FALSE]
  pattern <- rep(seq_along(members), lengths(members))
  # From the middle of the units of a pattern, which lies in its area.
  spokes <- data.frame(
    pattern = factor(names[pattern], names), xend = ends[, 1L], yend = ends[, 2L],
    x = stats::ave(ends[, 1L], pattern), y = stats::ave(ends[, 2L], pattern)
  )
  colours <- rlang::set_names(syn_palette(length(names)), names)
  ggplot2::ggplot() +
    ggplot2::geom_polygon(
      aes_from(x = "x", y = "y", group = "pattern", fill = "pattern", colour = "pattern"),
      data = areas, alpha = 0.12, linewidth = 0.4
    ) +
    ggplot2::geom_segment(
      aes_from(x = "x", y = "y", xend = "xend", yend = "yend", colour = "pattern"),
      data = spokes, linewidth = 0.8, show.legend = FALSE
    ) +
    node_layers(place, radius, short$labels) +
    ggplot2::scale_colour_manual(values = colours, limits = names, guide = "none") +
    ggplot2::scale_fill_manual(
      name = pattern_key_title(patterns), values = colours, limits = names,
      guide = ggplot2::guide_legend(ncol = 1, title.position = "top",
                                    override.aes = list(alpha = 0.4))
    ) +
    theme_network(hypergraph_caption(patterns, labels, units, short$left_out)) +
    legend_on_top(legend.title = ggplot2::element_text(size = 9, colour = syn_muted))
}

#' What the names of patterns mean
#' @noRd
pattern_key_title <- function(patterns) {
  sprintf("Unit@lag, in bins of %s ms", exact(1000 * attr(patterns, "bin_size", exact = TRUE)))
}

hypergraph_caption <- function(patterns, labels, units, left_out) {
  paste(c(
    sprintf("%s, %s of %s units.", counted(length(patterns), "pattern"), commas(length(units)),
            commas(length(labels))),
    if (nzchar(left_out)) sprintf("Names of units begin with \"%s\".", left_out)
  ), collapse = " ")
}

#' Places of units, as network_layout() gives them
#'
#' Each pattern is a vertex of its own, with an edge to each of its units: units that share
#' many patterns come close.
#' @noRd
hypergraph_layout <- function(members, units, call) {
  vertices <- c(paste("unit", units), paste("pattern", seq_along(members)))
  steps <- data.frame(
    from = paste("pattern", rep(seq_along(members), lengths(members))),
    to = paste("unit", unlist(members)), weight = 1
  )
  place <- network_layout(steps, vertices, NULL, call)[seq_along(units), , drop = FALSE]
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

#' How often patterns occur, how many spikes they have, when these come, and of which units
#' they are, in four histograms
#' @noRd
plot_pattern_statistics <- function(x) {
  bin_ms <- 1000 * attr(x, "bin_size", exact = TRUE)
  # The axis counts patterns in three panels and spikes in one, so each says which it is.
  panels <- c("Patterns by occurrences", "Patterns by size (spikes)",
              "Spikes after the first, by lag (ms)", "Patterns by unit (its number)")
  bars <- function(panel, low, high, number) {
    data.frame(panel = factor(panels[[panel]], panels), low = low, high = high, number = number)
  }
  occurrences <- count_ranges(x)
  sizes <- size_counts(x)
  lags <- lag_counts(x)
  units <- participation_counts(x)
  all <- rbind(
    bars(1L, occurrences$low - 0.5, occurrences$high + 0.5, occurrences$number),
    bars(2L, sizes$size - 0.35, sizes$size + 0.35, sizes$number),
    bars(3L, (lags$lag - 0.42) * bin_ms, (lags$lag + 0.42) * bin_ms, lags$spikes),
    bars(4L, seq_along(units) - 0.42, seq_along(units) + 0.42, units)
  )
  ggplot2::ggplot(all) +
    ggplot2::geom_rect(
      ggplot2::aes(xmin = .data$low, xmax = .data$high, ymin = 0, ymax = .data$number),
      fill = syn_colours[["sky"]]
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 2, scales = "free",
                        strip.position = "bottom") +
    ggplot2::scale_x_continuous(
      name = NULL, labels = commas_each,
      breaks = \(limits) {
        breaks <- pretty(limits, 6)
        unique(round(breaks[abs(breaks - round(breaks)) < 1e-6 & breaks >= 0]))
      },
      expand = ggplot2::expansion(mult = 0.03)
    ) +
    count_axis("Number") +
    theme_histogram() +
    ggplot2::theme(
      strip.placement = "outside",
      strip.text = ggplot2::element_text(hjust = 0.5, size = ggplot2::rel(1.1),
                                         colour = syn_ink),
      panel.spacing = ggplot2::unit(5, "mm")
    )
}
