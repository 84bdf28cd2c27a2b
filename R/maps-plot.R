# Pictures of causal maps: which there are, and the heat map. The others are in
# maps-histograms.R and maps-network.R, the order of series in maps-order.R.

#' Plots of causal maps
#'
#' `"heatmap"` shows all pairs. `"network"` draws the strongest links as arrows from cause
#' to effect. `"degree"` counts the links of each series, as a cause and as an effect.
#' `"asymmetry"` compares the two directions of each pair. `"E"` shows how many dimensions
#' series have, and how well those are predicted.
#'
#' # The heat map
#' A column is a cause (target), a row an effect (library). Series stand in an order that
#' puts those with alike rows and columns next to each other: Euclidean distance of both
#' together, Ward's clustering. With `groups` they are sorted by group first. Self prediction
#' is left out. A rho of 0 or less means no skill, and has one colour.
#'
#' Of more than 400 series several share a pixel, which is the mean of their pairs, as the
#' caption says. Of more than 500 series 500 at even steps are clustered, by their rho with
#' 100 series, and each of the others is put beside the nearest. Maps in files are read in
#' blocks.
#'
#' # Degrees
#' A link is a rho above `threshold`: without one the highest twentieth of all pairs are
#' links. The grey line is what there were if as many links had been dealt out at random
#' (binomial). Series with more than that explains at all (probability 0.001 over all
#' series) are named.
#'
#' # Asymmetry
#' A point is a pair of series, and the further below the line, the more one-sided it is.
#' Many pairs are counted in squares. The three most one-sided are named, cause first. Of
#' more than 2,000 series 2,000 at even steps are taken.
#'
#' # Dimensions
#' Above the number of series of each E; below, for each E, median and quartiles of how
#' well these series are predicted: the mean over the other libraries, and by themselves.
#'
#' @param object What [causal_map()] returned.
#' @param type Which picture.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param groups For `"heatmap"` and `"network"`: a factor with the group of each series, in
#'   the order of the map or named by series.
#' @param threshold For `"degree"` and `"network"`: rho above which there is a link. In
#'   networks 0 by default.
#' @param links For `"network"`: how many links to draw, the strongest.
#' @param layout For `"network"`: a function of an igraph graph that returns a matrix of two
#'   columns, or such a matrix with series as row names: where they are drawn. By default
#'   strong links are short; up to six series stand on a circle.
#' @param direct For `"network"`: what [direct_links()] returned for this map. Then direct
#'   links are drawn solid, mediated ones dashed, and no others.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' For `groups` that do not fit, and where ggplot2 (for `"network"` also igraph) is not installed.
#' Where no rho is known, the picture and a message say so.
#' @seealso [causal_map()], [compare_maps()], [as.igraph.causal_map()].
#' @examplesIf rlang::is_installed("ggplot2")
#' x <- simulate_coupled_maps(steps = 300)
#' map <- causal_map(x, E_max = 5, threads = 2)
#' plot(map)
#' plot(map, type = "asymmetry")
#' plot(map, type = "E")
#' @exportS3Method ggplot2::autoplot
autoplot.causal_map <- function(object,
                                type = c("heatmap", "network", "degree", "asymmetry", "E"),
                                ..., groups = NULL, threshold = NULL, links = 40,
                                layout = NULL, direct = NULL) {
  check_no_dots()
  draw_map(object, check_choice(type), groups, threshold, links, layout, direct)
}

draw_map <- function(object, type, groups, threshold, links, layout, direct) {
  rlang::check_installed("ggplot2", "to draw causal maps.", call = user_frame())
  check_whole_map(object, "object")
  groups <- check_groups(groups, all_series(object))
  if (!is.null(threshold)) threshold <- check_number(threshold)
  links <- check_count(links)
  check_layout(layout)
  check_direct(direct, object)
  switch(
    EXPR = type,  # else `E` is taken for the beginning of it
    heatmap = heat_map(object, groups, skill_fill),
    network = plot_links(object, links, threshold, groups, layout, direct),
    degree = plot_degrees(object, threshold),
    asymmetry = plot_asymmetry(object),
    E = plot_dimensions(object)
  )
}

#' @rdname autoplot.causal_map
#' @exportS3Method ggplot2::autoplot
autoplot.causal_links <- function(object, type = c("network", "degree"), ..., groups = NULL,
                                  threshold = NULL, links = 40, layout = NULL,
                                  direct = NULL) {
  check_no_dots()
  draw_map(object, check_choice(type), groups, threshold, links, layout, direct)
}

# ---- Heat map ------------------------------------------------------------------------

#' A heat map, also of differences and of strengths
#' @param fill Gives the scale of colours for values.
#' @param empty,layer,axes What the colour of no value is called, what is drawn, and what
#'   columns and rows are called.
#' @noRd
heat_map <- function(x, groups, fill, empty = "Beige", layer = "rho",
                     axes = c("Cause (target)", "Effect (library)"), subtitle = NULL) {
  order <- map_order(x, groups)
  cells <- map_pixels(x, order, layer = layer)
  shape <- nrow(x) / ncol(x)
  if (all(is.na(cells$value))) return(no_rho_picture())
  ggplot2::ggplot() +
    ggplot2::geom_raster(aes_from(x = "x", y = "y", fill = "value"), data = cells$frame) +
    group_lines(x, order, groups) +
    map_axis(ggplot2::scale_x_continuous, axes[[1L]], colnames(x)[order$columns], groups) +
    map_axis(ggplot2::scale_y_reverse, axes[[2L]], rownames(x)[order$rows], groups) +
    # Cells of a map that is long and narrow are no squares.
    ggplot2::coord_fixed(xlim = c(0.5, ncol(x) + 0.5), ylim = c(nrow(x) + 0.5, 0.5),
                         ratio = min(max(shape, 0.5), 2) / shape, expand = FALSE) +
    theme_synfire() +
    map_theme(x, groups) +
    fill(cells$value) +
    ggplot2::labs(subtitle = subtitle, caption = map_caption(x, cells, order, empty))
}

map_theme <- function(x, groups) {
  size <- \(n) if (!is.null(groups) || n <= 25L) 9 else if (n <= 40L) 7 else 5.5
  turned <- is.null(groups) && max(nchar(colnames(x)), 0L) * ncol(x) > 60
  ggplot2::theme(
    panel.grid.major = ggplot2::element_blank(),
    panel.border = ggplot2::element_rect(fill = NA, colour = syn_muted, linewidth = 0.3),
    axis.line.x.bottom = ggplot2::element_blank(),
    axis.text.x = if (turned) {
      ggplot2::element_text(size = size(ncol(x)), angle = 90, hjust = 1, vjust = 0.5)
    } else {
      ggplot2::element_text(size = size(ncol(x)))
    },
    axis.text.y = ggplot2::element_text(size = size(nrow(x))),
    plot.caption = ggplot2::element_text(colour = syn_muted, hjust = 0),
    plot.caption.position = "plot",
    legend.key.height = ggplot2::unit(9, "mm"), legend.key.width = ggplot2::unit(3.5, "mm")
  )
}

#' An axis with the names of series as long as they can be read, or of their groups
#' @noRd
map_axis <- function(scale, title, names, groups) {
  n <- length(names)
  if (!is.null(groups)) {
    run <- group_runs(groups[names])
    return(scale(name = title, breaks = run$middle, labels = run$group,
                 guide = ggplot2::guide_axis(check.overlap = TRUE)))
  }
  if (n <= 60L) return(scale(name = title, breaks = seq_len(n), labels = short_names(names)))
  scale(name = sprintf("%s, %s series", title, commas(n)), breaks = NULL)
}

group_lines <- function(x, order, groups) {
  if (is.null(groups)) return(NULL)
  between <- function(names) utils::head(group_runs(groups[names])$end, -1L)
  list(
    ggplot2::geom_vline(xintercept = between(colnames(x)[order$columns]), colour = syn_ink,
                        linewidth = 0.3),
    ggplot2::geom_hline(yintercept = between(rownames(x)[order$rows]), colour = syn_ink,
                        linewidth = 0.3)
  )
}

#' Colours of skill, from 0, or from where nearly all of it begins
#' @noRd
skill_fill <- function(rho) {
  rho <- rho[!is.na(rho)]
  low <- max(0, floor(10 * stats::quantile(rho, 0.01, names = FALSE)) / 10)
  high <- max(rho, low + 0.01)
  breaks <- pretty(c(low, high), 5)
  breaks <- breaks[breaks >= low & breaks <= high]
  below <- any(rho < low)
  ggplot2::scale_fill_gradientn(
    name = "Skill\n(rho)", colours = c("#F6FAFD", syn_scale), limits = c(low, high),
    breaks = breaks, na.value = syn_empty, oob = \(x, range = c(0, 1), ...) pmax(x, range[[1L]]),
    labels = \(at) paste0(at, ifelse(below & at == low, " or less", ""))
  )
}

syn_empty <- "#DDD8CB"  # what there is no value for; warm, apart from the scale

#' @param empty What the colour of no value is called.
#' @noRd
map_caption <- function(x, cells, order, empty) {
  c(
    if (cells$width > 1L) {
      sprintf("A pixel is the mean of %d x %d pairs.", cells$width, cells$width)
    },
    if (order$sampled > 0L) {
      sprintf("Order by clustering of %s series; each other beside the nearest of these.",
              commas(order$sampled))
    },
    if (anyNA(cells$value)) {
      self <- sum(!is.na(self_column(x)))
      if (cells$width == 1L && sum(is.na(cells$value)) == self) {
        paste0(empty, ": self prediction, left out.")
      } else if (cells$width == 1L && self > 0L) {
        paste0(empty, ": self prediction, left out, and pairs without a value.")
      } else {
        paste0(empty, ": no value.")
      }
    },
    reason_lines(x)
  ) |> strwrap(90) |> paste(collapse = "\n")
}

#' Means of squares of pairs, in the order given
#'
#' @return list(frame = data frame `x`, `y`, `value`, in series from 1; `value`; `width`,
#'   how many series a pixel is wide and high).
#' @noRd
map_pixels <- function(x, order, most = 400L, layer = "rho") {
  width <- ceiling(max(dim(x)) / most)
  row_of <- (order(order$rows) - 1L) %/% width + 1L
  column_of <- (order(order$columns) - 1L) %/% width + 1L
  size <- c(max(row_of), max(column_of))
  sum <- known <- matrix(0, size[[1L]], size[[2L]])
  pair_blocks(x, function(rows, values) {
    is_known <- !is.na(values)
    values[!is_known] <- 0
    at <- sort(unique(row_of[rows]))
    squares <- \(m) unname(rowsum(t(rowsum(m, row_of[rows])), column_of))
    sum[at, ] <<- sum[at, ] + t(squares(values))
    known[at, ] <<- known[at, ] + t(squares(is_known + 0))
    NULL
  }, layer)
  value <- as.vector(quotient(sum, known))
  centre <- \(k) (k - 0.5) * width + 0.5
  frame <- plain_frame(x = centre(rep(seq_len(size[[2L]]), each = size[[1L]])),
                       y = centre(rep(seq_len(size[[1L]]), size[[2L]])), value = value)
  list(frame = frame, value = value, width = width)
}
