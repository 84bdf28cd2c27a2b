# Pictures of direct links.

#' Network of direct links
#'
#' Arrows from causes to effects: solid where the recording supports a direct link, dashed and
#' grey where a link is mediated, and grey without a head where two series go together within a
#' step. Links of other kinds are left out; the caption counts them.
#' Darker arrows take away more of the error of the forecast. Where there is no link to draw, the
#' picture says so.
#'
#' @param object What [direct_links()] returned.
#' @param mediated Whether to draw mediated links.
#' @param links How many links to draw at most: direct ones first, those with the highest `t`.
#' @inheritParams autoplot.causal_map
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For `groups` that do not fit, and where ggplot2 or igraph is not installed.
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
  check_no_dots()
  mediated <- check_flag(mediated)
  series <- attr(object, "series", exact = TRUE)
  drawing <- check_drawing(links, groups, layout, series)
  found <- plain_table(object)[clear_order(object), ]
  wanted <- found$link == "direct" | first_of_pairs(found) | mediated & found$link == "mediated"
  if (!any(wanted)) return(no_link_picture(object, mediated))
  drawn <- utils::head(found[wanted, ], drawing$links)
  arrows <- data.frame(from = drawn$cause, to = drawn$effect,
                       weight = pmin(pmax(drawn$gain, 0), 1),
                       dashed = drawn$link == "mediated",
                       undirected = drawn$link == "undirected")
  arrows$weight[arrows$dashed | arrows$undirected] <- NA
  network_picture(arrows, series, drawing$groups, layout,
                  weighted_edges("Error taken\naway (share)"),
                  \(left_out) direct_caption(object, drawn, left_out))
}

#' A picture without arrows that says why
#' @noRd
no_link_picture <- function(x, mediated) {
  said <- if (nrow(x) == 0L) format(x) else {
    c(sprintf("No direct %slink was found: there is no arrow to draw.",
              if (mediated) "or mediated " else ""),
      paste0("Not drawn: ", kinds_text(x), "."))
  }
  said <- paste(strwrap(said, 60), collapse = "\n")
  ggplot2::ggplot(data.frame(x = 0, y = 0, said = said)) +
    ggplot2::geom_text(ggplot2::aes(x = .data$x, y = .data$y, label = .data$said),
                       colour = syn_ink) +
    ggplot2::theme_void()
}

direct_caption <- function(x, drawn, names_left_out) {
  left <- table(x$link) - table(drawn$link)
  # A line stands for both rows of a pair.
  left[["undirected"]] <- sum(first_of_pairs(x)) - sum(drawn$link == "undirected")
  kinds <- c(if (any(drawn$link == "direct")) "solid where the recording supports a direct link",
             if (any(drawn$link == "mediated")) "dashed where a link is mediated",
             if (any(drawn$link == "undirected")) {
               "without a head where two go together within a step"
             })
  paste(c(
    "Arrows go from cause to effect:", paste0(paste(kinds, collapse = ",\n"), "."),
    if (any(left > 0)) sprintf("Not drawn: %s.", counts_text(left)),
    names_left_out
  ), collapse = "\n")
}

# ---- Two tables ----------------------------------------------------------------------

change_colours <- c(appeared = "#D55E00", vanished = "#0072B2", kept = "#6B7280",
                    "cannot be told" = "#6B7280")

#' @rdname compare_maps
#' @param links How many links to draw at most: those that changed first.
#' @param layout As in [autoplot.causal_map()].
#' @exportS3Method ggplot2::autoplot
autoplot.direct_links_comparison <- function(object, ..., groups = NULL, links = 60,
                                             layout = NULL) {
  check_no_dots()
  series <- attr(object, "series", exact = TRUE)
  drawing <- check_drawing(links, groups, layout, series)
  found <- plain_table(object)[object$change %in% names(change_colours), ]
  refuse_if(nrow(found) == 0L, "object",
            "a comparison with a link that is direct in one of the tables", "one without any")
  drawn <- utils::head(found, drawing$links)
  arrows <- data.frame(
    from = drawn$cause, to = drawn$effect, change = drawn$change,
    weight = pmin(pmax(drawn$gain_a, drawn$gain_b, 0, na.rm = TRUE), 1),
    dashed = drawn$change == "cannot be told"
  )
  network_picture(arrows, series, drawing$groups, layout, \(curves) list(
    edge_layer(curves, colour = .data$change, linetype = .data$dashed),
    ggplot2::scale_colour_manual(name = "Direct link", values = change_colours)
  ), \(left_out) change_caption(found, drawn, object, left_out))
}

change_caption <- function(found, drawn, x, names_left_out) {
  labels <- attr(x, "labels", exact = TRUE)
  left <- nrow(found) - nrow(drawn)
  paste(c(
    sprintf("From %s (a) to %s (b). Arrows go from cause to effect.", labels[[1L]], labels[[2L]]),
    if (any(drawn$change %in% c("appeared", "vanished"))) {
      "A link that appeared or vanished was found in one of them alone."
    },
    if (any(drawn$change == "cannot be told")) "Dashed: refused in one of them.",
    if (left > 0) sprintf("Not drawn: %s.", counted(left, "link")),
    names_left_out
  ), collapse = "\n")
}
