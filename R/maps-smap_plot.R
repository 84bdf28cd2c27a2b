# Pictures of maps of S-maps.

#' Plots of maps of S-maps
#'
#' `"skill"` shows rho of all pairs, `"strength"` the signed mean responses: red where the
#' target rises with the library, blue where it falls.
#'
#' A column is a target, a row a library. Both pictures have the same order of series, as in
#' [autoplot.causal_map()]: series with alike skill stand next to each other. Self
#' prediction is left out. Of more than 400 series several share a pixel, the mean of their
#' pairs. The outermost 0.5 % of the strengths share a colour.
#'
#' @param object What [smap_map()] returned, or [open_causal_map()] from its file.
#' @param type Which picture.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param groups A factor with the group of each series, in the order of the map or named by
#'   series: these are put side by side.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' For `groups` that do not fit, and where ggplot2 is not installed. Where no rho is known, the
#' picture and a message say so.
#' @seealso [smap_map()], [autoplot.causal_map()].
#' @examplesIf rlang::is_installed("ggplot2")
#' map <- smap_map(scale(simulate_coupled_maps(steps = 300)), E = 2, threads = 2)
#' plot(map)
#' plot(map, type = "strength")
#' @exportS3Method ggplot2::autoplot
autoplot.smap_map <- function(object, type = c("skill", "strength"), ..., groups = NULL) {
  check_no_dots(draws = "maps")
  check_whole_map(object, "object")
  type <- check_choice(type)
  groups <- check_groups(groups, map_series(object))
  axes <- c("Target", "Library")
  if (type == "skill") return(heat_map(object, groups, skill_fill, axes = axes))
  # The scale must have a width even where nothing responds.
  fill <- \(values) difference_fill(values, "Strength", least = .Machine$double.xmin * 1e10)
  heat_map(object, groups, fill, "Grey", "strength", axes)
}
