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
  links <- map_links(x, check_links(x, check_number(threshold), alpha, max_links))
  edges <- data.frame(from = links$cause, to = links$effect, weight = links$rho)
  more <- setdiff(names(links), c("cause", "effect", "rho"))
  series <- all_series(x)
  igraph::graph_from_data_frame(
    cbind(edges, links[more]), directed = TRUE,
    vertices = data.frame(name = series, E = series_dimensions(x, series))
  )
}

#' @rdname as.igraph.causal_map
#' @exportS3Method igraph::as.igraph
as.igraph.causal_links <- as.igraph.causal_map

# ---- Drawing it ----------------------------------------------------------------------

plot_links <- function(x, most, threshold, groups, layout, direct) {
  rlang::check_installed("igraph", "to draw the network of a causal map.")
  limits <- check_links(x, threshold %||% 0, NULL, most)
  found <- if (is.null(direct)) map_links(x, limits) else direct_map_links(direct, limits)
  above <- format(limits$threshold)
  if (nrow(found) == 0L) {
    return(empty_picture(sprintf("No %srho of two series is above %s",
                                 if (is.null(direct)) "" else "link is direct or mediated whose ",
                                 above), "no network"))
  }
  links <- data.frame(from = found$cause, to = found$effect, weight = found$rho)
  links$dashed <- if (is.null(direct)) FALSE else found$link == "mediated"
  what <- if (is.null(direct)) "link" else "direct or mediated link"
  network_picture(links, all_series(x), groups, layout, weighted_edges("Skill\n(rho)"),
                  \(left_out) {
    said <- c(
      "Arrows go from cause to effect.",
      if (nrow(links) == most) sprintf("The %s strongest %ss.", commas(most), what) else
        sprintf("All %s with a rho above %s.", counted(nrow(links), what), above),
      left_out
    )
    if (is.null(direct)) said <- paste(said, collapse = " ")
    paste(c(said, if (any(links$dashed)) "Mediated ones are dashed.",
            reason_lines(x)), collapse = "\n")
  })
}
