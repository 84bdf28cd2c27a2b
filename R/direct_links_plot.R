# Pictures of direct links.

#' Network of direct links
#'
#' Arrows from causes to effects: solid where a link is direct, dashed where it is mediated.
#' Links of other kinds are left out; the caption counts them. Darker arrows take away more of
#' the error of the forecast.
#'
#' @param object,x What [direct_links()] returned.
#' @param mediated Whether to draw mediated links.
#' @param links How many links to draw at most: direct ones first, those with the highest `t`.
#' @inheritParams autoplot.causal_map
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For a table without any such link, for `groups` that do not fit, and where ggplot2 or
#' igraph is not installed.
#' @seealso [direct_links()], [autoplot.causal_map()].
#' @examplesIf rlang::is_installed("ggplot2") && rlang::is_installed("igraph")
#' wiring <- rbind(c(0, 0.2, 0), c(0, 0, 0.2), 0)
#' set.seed(1)
#' x <- simulate_coupled_maps(400, wiring, noise = 0.02)
#' links <- direct_links(causal_map(x, E = 3, threads = 2), x, threshold = 0.1, threads = 2)
#' plot(links)
#' @exportS3Method ggplot2::autoplot
autoplot.direct_links <- function(object, ..., mediated = TRUE, groups = NULL, links = 60,
                                  layout = NULL) {
  rlang::check_installed("ggplot2", "to draw direct links.")
  rlang::check_installed("igraph", "to draw the network of direct links.")
  check_no_dots()
  call <- rlang::current_env()
  mediated <- check_flag(mediated)
  links <- check_count(links)
  check_layout(layout)
  groups <- check_groups(groups, attr(object, "series", exact = TRUE), call)
  found <- plain_table(object)[clear_order(object), ]
  wanted <- found$link == "direct" | mediated & found$link == "mediated"
  if (!any(wanted)) {
    abort_arg("object", "a table with at least one link to draw", kinds_text(object),
              call = call)
  }
  drawn <- utils::head(found[wanted, ], links)
  arrows <- data.frame(from = drawn$cause, to = drawn$effect,
                       weight = pmin(pmax(drawn$gain, 0), 1),
                       dashed = drawn$link == "mediated")
  network_picture(arrows, attr(object, "series", exact = TRUE), groups, layout,
                  "Error taken\naway (share)",
                  \(left_out) direct_caption(object, drawn, left_out), call)
}

#' @rdname autoplot.direct_links
#' @export
plot.direct_links <- function(x, ...) draw(autoplot.direct_links(x, ...))

direct_caption <- function(x, drawn, names_left_out) {
  left <- table(x$link) - table(drawn$link)
  paste(c(
    "Arrows go from cause to effect.",
    if (any(drawn$link == "mediated")) "Dashed ones are mediated.",
    if (any(left > 0)) sprintf("Not drawn: %s.", counts_text(left)),
    if (nzchar(names_left_out)) sprintf("Names of series begin with \"%s\".", names_left_out)
  ), collapse = "\n")
}
