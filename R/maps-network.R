# Causal maps as networks: arrows from causes to effects.

#' Network of a causal map
#'
#' A directed graph with a vertex for each series and an edge from a cause to an effect for
#' each link: from the target of a high rho to its library, see [causal_map_tables].
#'
#' @param x What [causal_map()] returned.
#' @param threshold Only links whose rho is above it. A rho of 0 or less is no skill, and
#'   many functions of igraph take no such weight; for all pairs give -1.
#' @inheritParams causal_map_tables
#' @param ... Not used; must be empty.
#' @return An igraph graph. Vertex attributes: `name` and `E` (`NA` for a series that is no
#'   target). Edge attributes: `weight`, the rho, and where the map has them `lag`,
#'   `p_value` and `convergence`. There are no loops. The edges are in the order of
#'   [as.data.frame()][causal_map_tables].
#' @details For functions of igraph that take weights as distances, as shortest paths do,
#'   give them others: `weights = 1 - igraph::E(graph)$weight`.
#' @section Errors:
#' Where igraph is not installed; for `alpha` without p values.
#' @seealso [causal_map()], [autoplot.causal_map()] with `type = "network"` to draw it.
#' @examplesIf rlang::is_installed("igraph")
#' x <- simulate_coupled_maps(steps = 300)
#' map <- causal_map(x, E_max = 5, threads = 2)
#' graph <- igraph::as.igraph(map, max_links = 10)
#' igraph::strength(graph, mode = "out")
#' @exportS3Method igraph::as.igraph
as.igraph.causal_map <- function(x, ..., threshold = 0, alpha = NULL, max_links = Inf) {
  rlang::check_installed("igraph", "to make a network of a causal map.")
  check_no_dots()
  check_whole_map(x)
  limits <- check_links(x, check_number(threshold), alpha, max_links)
  link_graph(map_links(x, limits), map_series(x), x)
}

#' @rdname as.igraph.causal_map
#' @exportS3Method igraph::as.igraph
as.igraph.causal_links <- function(x, ..., threshold = 0, alpha = NULL, max_links = Inf) {
  rlang::check_installed("igraph", "to make a network of a causal map.")
  check_no_dots()
  check_whole_map(x)
  limits <- check_links(x, check_number(threshold), alpha, max_links)
  link_graph(map_links(x, limits), attr(x, "series", exact = TRUE), x)
}

link_graph <- function(links, series, x) {
  edges <- data.frame(from = links$cause, to = links$effect, weight = links$rho)
  more <- setdiff(names(links), c("cause", "effect", "rho"))
  igraph::graph_from_data_frame(
    cbind(edges, links[more]), directed = TRUE,
    vertices = data.frame(name = series, E = series_dimensions(x, series))
  )
}

# ---- Drawing it ----------------------------------------------------------------------

plot_links <- function(x, most, threshold, groups, layout, direct, call) {
  rlang::check_installed("igraph", "to draw the network of a causal map.")
  limits <- check_links(x, threshold %||% 0, NULL, most, call)
  found <- if (is.null(direct)) map_links(x, limits) else {
    direct_map_links(direct, limits, all_series(x), call)
  }
  above <- format(limits$threshold)
  if (nrow(found) == 0L) {
    abort_arg("object", sprintf("a map with at least one %srho above %s of two series",
                                if (is.null(direct)) "" else "direct or mediated link and a ",
                                above), "without any", call = call)
  }
  links <- data.frame(from = found$cause, to = found$effect, weight = found$rho)
  links$dashed <- if (is.null(direct)) FALSE else found$link == "mediated"
  what <- if (is.null(direct)) "link" else "direct or mediated link"
  network_picture(links, all_series(x), groups, layout, weighted_edges("Skill\n(rho)"),
                  \(left_out) {
    said <- links_caption(nrow(links), most, what, above, left_out)
    if (is.null(direct)) said <- paste(said, collapse = " ")
    paste(c(said, if (any(links$dashed)) "Mediated ones are dashed.",
            reason_lines(x)), collapse = "\n")
  }, call)
}

#' Arrows between series that stand where strong links are short
#'
#' @param links Data frame `from`, `to` and `weight`, from 0 to 1 or NA, the strongest
#'   first; and what `edges` needs.
#' @param series Names of all series, in their order.
#' @param edges Function of the points of all arrows, each with the columns of its link,
#'   that gives their layers and scales.
#' @param caption Function of what the names of series begin with and labels leave out.
#' @noRd
network_picture <- function(links, series, groups, layout, edges, caption, call) {
  names <- series[series %in% c(links$from, links$to)]
  if (is.null(layout) && length(names) <= 6L) layout <- igraph::layout_in_circle
  # Distances that follow the weight itself would pull the network into strings.
  near <- links
  weight <- replace(links$weight, is.na(links$weight), 0)
  near$weight <- (1 + pmax(weight, 0) / max(weight, 1e-9)) / 2
  place <- network_layout(near, names, layout, call)
  radius <- network_radius(place)
  curves <- edge_curves(links, place, radius)
  # The strongest come first in the table, and are drawn last, on top.
  curves$group <- -curves$edge
  circles <- node_circles(place, radius)
  circles$series <- names[circles$unit]
  short <- shorten_labels(names)

  ggplot2::ggplot() +
    edges(curves) +
    node_layer(circles, groups) +
    ggplot2::geom_text(
      ggplot2::aes(x = .data$x, y = .data$y, label = .data$label),
      data = data.frame(x = place[, 1L], y = place[, 2L], label = short$labels),
      size = node_text(short$labels), colour = syn_ink
    ) +
    ggplot2::coord_equal(clip = "off") +
    ggplot2::labs(caption = caption(short$left_out)) +
    theme_synfire() +
    ggplot2::theme(
      axis.text = ggplot2::element_blank(), axis.title = ggplot2::element_blank(),
      axis.line.x.bottom = ggplot2::element_blank(), axis.ticks = ggplot2::element_blank(),
      panel.grid.major = ggplot2::element_blank(),
      legend.key.height = ggplot2::unit(9, "mm"), legend.key.width = ggplot2::unit(3.5, "mm"),
      plot.caption = ggplot2::element_text(colour = syn_muted)
    )
}

#' Arrows as dark and wide as they weigh; those without a weight are grey
#'
#' @param name Of the weight, for the legend.
#' @param from Where the scale begins, or `NULL` for the least weight, where all have one.
#' @noRd
weighted_edges <- function(name, from = NULL) {
  function(curves) {
    limits <- if (!is.null(from)) c(from, max(curves$weight, from + 0.01, na.rm = TRUE))
    curves$width <- replace(curves$weight, is.na(curves$weight), from)
    list(
      edge_layer(curves, colour = .data$weight, linewidth = .data$width,
                 linetype = .data$dashed),
      ggplot2::scale_linewidth_continuous(range = c(0.4, 1.4), limits = limits,
                                          guide = "none"),
      ggplot2::scale_colour_gradientn(name = name, colours = syn_scale, n.breaks = 5,
                                      limits = limits, na.value = syn_muted)
    )
  }
}

#' Arrows, and dashes for those that are `TRUE` in `linetype`
#' @param ... More aesthetics.
#' @noRd
edge_layer <- function(curves, ...) {
  list(
    ggplot2::geom_path(
      ggplot2::aes(x = .data$x, y = .data$y, group = .data$group, ...),
      data = curves, lineend = "butt", linejoin = "mitre", arrow = edge_arrows(curves)
    ),
    ggplot2::scale_linetype_manual(values = c(`FALSE` = "solid", `TRUE` = "42"),
                                   guide = "none")
  )
}

node_layer <- function(circles, groups) {
  if (is.null(groups)) {
    return(ggplot2::geom_polygon(
      ggplot2::aes(x = .data$x, y = .data$y, group = .data$unit), data = circles,
      fill = "white", colour = syn_ink, linewidth = 0.5
    ))
  }
  circles$of <- groups[circles$series]
  colours <- rlang::set_names(syn_palette(nlevels(groups)), levels(groups))
  list(
    ggplot2::geom_polygon(
      ggplot2::aes(x = .data$x, y = .data$y, group = .data$unit, fill = .data$of),
      data = circles, colour = syn_ink, linewidth = 0.5
    ),
    # Light, so that names can be read on them.
    ggplot2::scale_fill_manual(name = "Group", values = lighten(colours), drop = FALSE)
  )
}

#' Half way to white
#' @noRd
lighten <- function(colours) {
  mixed <- (grDevices::col2rgb(colours) + 255) / 2
  rlang::set_names(grDevices::rgb(mixed[1L, ], mixed[2L, ], mixed[3L, ], maxColorValue = 255),
                   names(colours))
}

links_caption <- function(drawn, most, what, above, left_out) {
  c(
    "Arrows go from cause to effect.",
    if (drawn == most) sprintf("The %s strongest %ss.", commas(drawn), what) else
      sprintf("All %s with a rho above %s.", counted(drawn, what), above),
    if (nzchar(left_out)) sprintf("Names of series begin with \"%s\".", left_out)
  )
}
