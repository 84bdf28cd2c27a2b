# The network of assemblies: units, and the steps from each member to the next.

#' Network of assemblies
#'
#' A directed multigraph with a vertex for each unit that is a member, and for each assembly an
#' edge from each member to the next one in the order of lags. It says in which order the members
#' fire, not that one makes the other fire.
#'
#' @param x What [find_assemblies()] gave.
#' @param ... Not used; must be empty.
#' @return An igraph graph. Vertices stand in the order of the recording's units. Vertex
#'   attributes: `name`, the unit; `spikes`, its number in the recording; `assemblies`, of how
#'   many it is a member; and `x` and `y`, where the table of units has them. Edge attributes:
#'   `assembly`, its number; `lag`, by how much the second of the two units is later, in seconds;
#'   `width`, the mean length of their two windows, in seconds; `count`, in how many
#'   activations both fire; and `p`, that of the assembly.
#' @section Errors:
#' Where igraph is not installed.
#' @seealso [autoplot.assemblies()] with `type = "network"` to draw it.
#' @examplesIf rlang::is_installed("igraph")
#' set.seed(1)
#' x <- simulate_assemblies(duration = 60, units = 15, assemblies = c("synchrony", "sequence"),
#'                          size = 4, count = 60)
#' found <- find_assemblies(x, max_lag = 0.1, n_surrogates = 19, threads = 2)
#' graph <- igraph::as.igraph(found)
#' igraph::components(graph)$no
#' igraph::E(graph)$lag
#' @exportS3Method igraph::as.igraph
as.igraph.assemblies <- function(x, ...) {
  rlang::check_installed("igraph", "to make a network of assemblies.")
  begin_method(x)
  recording <- attr(x, "recording", exact = TRUE)
  units <- levels(recording$unit)
  number <- table(factor(unlist(x$units), units))
  vertices <- data.frame(name = units, spikes = tabulate(recording$unit, length(units)),
                         assemblies = as.integer(number))
  places <- unit_places(recording)
  if (!is.null(places)) vertices <- cbind(vertices, places[units, , drop = FALSE])
  igraph::graph_from_data_frame(assembly_steps(x), directed = TRUE,
                                vertices = vertices[number > 0L, , drop = FALSE])
}

#' The steps of assemblies: a row for each member but the last
#'
#' @return Data frame `from`, `to`, `assembly`, `lag`, `width`, `count`, `p`.
#' @noRd
assembly_steps <- function(x) {
  parts <- lapply(seq_len(nrow(x)), \(row) {
    first <- seq_len(x$size[[row]] - 1L)
    units <- x$units[[row]]
    fired <- x$spikes[[row]] > 0
    data.frame(from = units[first], to = units[first + 1L], assembly = x$assembly[[row]],
               lag = diff(x$lags[[row]]),
               width = (x$widths[[row]][first] + x$widths[[row]][first + 1L]) / 2,
               count = colSums(fired[, first, drop = FALSE] & fired[, first + 1L, drop = FALSE]),
               p = x$p[[row]])
  })
  none <- data.frame(from = character(), to = character(), assembly = integer(), lag = double(),
                     width = double(), count = double(), p = double())
  out <- do.call(rbind, c(list(none), parts))
  row.names(out) <- NULL
  out
}

# ---- Drawing it ----------------------------------------------------------------------

draw_assembly_network <- function(x, rows, layout) {
  rlang::check_installed("igraph", "to draw a network of assemblies.")
  recording <- attr(x, "recording", exact = TRUE)
  steps <- assembly_steps(x[rows, ])
  # The first member of an assembly comes first, and so stands on the left. Steps of an assembly
  # pull its members together, whatever its count.
  drawn <- network_parts(cbind(steps, weight = rep(1, nrow(steps))), unique(unlist(x$units[rows])),
                         layout, unit_places(recording), unit_areas(recording))
  curves <- drawn$curves
  labels <- assembly_names(x, rows)
  curves$label <- factor(labels[match(curves$assembly, x$assembly[rows])], labels)
  step_layer <- \(curves, ...) if (nrow(curves) > 0L) {
    ggplot2::geom_path(aes_from(x = "x", y = "y", group = "group", colour = "label"),
                       data = curves, linewidth = 0.8, lineend = "butt", linejoin = "mitre",
                       key_glyph = key_without_arrow, ...)
  }
  # Members of overlapping windows fire together: no order is drawn between them.
  ordered <- curves[curves$lag >= curves$width, ]
  ggplot2::ggplot() +
    step_layer(ordered, arrow = edge_arrows(ordered)) +
    step_layer(curves[curves$lag < curves$width, ]) +
    drawn$nodes +
    assembly_scale(x, rows, labels, name = NULL, drop = FALSE,
                   guide = ggplot2::guide_legend(override.aes = list(linewidth = 1.4))) +
    theme_network() +
    caption(c(
      "Arrows go to the next member in the order of lags; lines without a head join members",
      "whose windows overlap.",
      if (drawn$mapped) "Units stand where they lie; dots are the others.",
      drawn$left_out, left_out_text(x, rows)
    ))
}
