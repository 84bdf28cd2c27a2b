# Pictures of wirings.

#' Network of a wiring
#'
#' Arrows from causes to effects, darker where the link is stronger. Links of hidden series
#' are dashed. This is the truth beside which `plot()` of [direct_links()] can be laid.
#'
#' @param object,x What [wiring()] returned.
#' @param links How many links to draw at most: the strongest first, and where no strength is
#'   given, in the order of `as.data.frame(x)`.
#' @inheritParams autoplot.causal_map
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For a wiring without links, for `groups` that do not fit, and where ggplot2 or igraph is not
#' installed.
#' @seealso [wiring()], [truth_links()], [autoplot.direct_links()].
#' @examplesIf rlang::is_installed("ggplot2") && rlang::is_installed("igraph")
#' set.seed(1)
#' plot(wiring(c(chain = 2, hidden_driver = 1, loop = 1), strength = c(0.05, 0.1, 0.2)))
#' @exportS3Method ggplot2::autoplot
autoplot.wiring <- function(object, ..., groups = NULL, links = 60, layout = NULL) {
  check_no_dots()
  call <- rlang::current_env()
  check_wiring_parts(object, "object", call)
  drawing <- check_drawing(links, groups, layout, object$series, call)
  arrows <- wiring_arrows(object)
  if (nrow(arrows) == 0L) abort_arg("object", "a wiring with links", "one without", call = call)
  drawn <- utils::head(arrows, drawing$links)
  network_picture(drawn, object$series, drawing$groups, layout,
                  if (anyNA(drawn$weight)) plain_edges else weighted_edges("Strength", from = 0),
                  \(left_out) wiring_caption(arrows, drawn, left_out), call)
}

#' @rdname autoplot.wiring
#' @export
plot.wiring <- function(x, ...) draw(autoplot.wiring(x, ...))

#' The links, the strongest first
#' @noRd
wiring_arrows <- function(x) {
  links <- x$links
  arrows <- data.frame(from = x$series[links$cause], to = x$series[links$effect],
                       weight = links$strength,
                       dashed = x$hidden[links$cause] | x$hidden[links$effect])
  arrows[order(-arrows$weight), ]
}

plain_edges <- function(curves) edge_layer(curves, colour = I(syn_muted), linetype = .data$dashed)

wiring_caption <- function(arrows, drawn, names_left_out) {
  left <- nrow(arrows) - nrow(drawn)
  paste(c(
    "Arrows go from cause to effect.",
    if (any(drawn$dashed)) "Dashed: from or to a hidden series.",
    if (left > 0) sprintf("Not drawn: %s.", counted(left, "link")),
    if (nzchar(names_left_out)) sprintf("Names of series begin with \"%s\".", names_left_out)
  ), collapse = "\n")
}
