# Draws networks: places of nodes, curved edges and labels, for every result that has links.

#' Radius of the circles on a map, where neighbours may be close
#' @noRd
map_radius <- function(place) {
  between <- stats::dist(place)
  # What is left between two of them is for an arrow.
  max(0.006, min(network_radius(place), 0.24 * between[between > 0]))
}

#' Radius of the circles: as large as fits between neighbours, within what can be read
#' @noRd
network_radius <- function(place) {
  between <- if (nrow(place) > 1L) min(stats::dist(place)) else 1
  max(0.015, min(0.08, 0.3 / sqrt(nrow(place)), 0.4 * between))
}

#' Error unless a layout is of a kind that network_layout() can use
#' @noRd
check_layout <- function(layout) {
  if (is.null(layout) || is.function(layout)) return(invisible())
  fits <- if (is.data.frame(layout)) all(vapply(layout, is.numeric, NA)) else
    is.matrix(layout) && is.numeric(layout)
  refuse_if(!fits || ncol(layout) != 2L, "layout",
            "a function, or a matrix of two columns of numbers", describe(layout))
}

#' Positions within [-1, 1], a row a unit
#' @noRd
network_layout <- function(steps, names, layout) {
  if (is.matrix(layout) || is.data.frame(layout)) {
    place <- as.matrix(layout)
    row <- match(names, rownames(place))
    refuse_if(!is.numeric(place) || ncol(place) != 2L || !all(is.finite(place)) || anyNA(row),
              "layout", "a function, or a finite two-column matrix with all units as row names",
              if (anyNA(row)) sprintf("without \"%s\"", names[is.na(row)][[1L]]) else
                describe(layout))
    place <- place[row, , drop = FALSE]
  } else {
    graph <- layout_graph(steps, names)
    place <- keep_random_state(if (is.null(layout)) pack_components(graph) else
                                 tryCatch(layout(graph), error = \(e) {
      abort_arg("layout", "a function that can lay out a graph of igraph",
                paste0("one that stops: ", conditionMessage(e)))
    }))
    refuse_if(!is.matrix(place) || !is.numeric(place) || !all(is.finite(place)) ||
                !identical(dim(place), c(length(names), 2L)), "layout",
              "a function that gives a matrix of two columns, a row a unit", describe(layout))
  }
  for (column in 1:2) place[, column] <- place[, column] - mean(range(place[, column]))
  most <- max(abs(place))
  place <- if (most > 0) place / most else place
  dimnames(place) <- list(names, c("x", "y"))
  place
}

#' The undirected graph whose layout is made; strong steps are short
#' @noRd
layout_graph <- function(steps, names) {
  a <- match(steps$from, names)
  b <- match(steps$to, names)
  pairs <- stats::aggregate(list(weight = steps$weight), list(a = pmin(a, b), b = pmax(a, b)),
                            max)
  pairs <- pairs[pairs$a != pairs$b, ]
  graph <- igraph::make_empty_graph(length(names), directed = FALSE) |>
    igraph::add_edges(rbind(pairs$a, pairs$b))
  # Against the strongest step of the two units, so that weak chains are not drawn out.
  strongest <- vapply(seq_along(names), \(u) {
    max(pairs$weight[pairs$a == u | pairs$b == u], 1)
  }, 1)
  strong <- pairs$weight / pmin(strongest[pairs$a], strongest[pairs$b])
  igraph::set_edge_attr(graph, "weight", value = 1 / pmax(strong, 0.3))
}

#' Each component laid out by stress, then placed beside each other in rows
#' @noRd
pack_components <- function(graph) {
  parts <- igraph::components(graph)
  place <- matrix(0, igraph::vcount(graph), 2L)
  boxes <- lapply(seq_len(parts$no), \(k) {
    member <- which(parts$membership == k)
    one <- igraph::layout_with_kk(igraph::induced_subgraph(graph, member))
    # The longer side lies.
    one <- upright(one)
    list(member = member, place = one, size = apply(one, 2L, \(v) diff(range(v))))
  })
  boxes <- boxes[order(-vapply(boxes, \(b) length(b$member), 1))]
  gap <- 1
  widest <- max(vapply(boxes, \(b) b$size[[1L]], 1),
                # Pictures are wider than high.
                sqrt(1.6 * sum(vapply(boxes, \(b) prod(b$size + gap), 1))))
  left <- 0
  top <- 0
  low <- 0
  for (box in boxes) {
    if (left > 0 && left + box$size[[1L]] > widest * 1.0001) {
      left <- 0
      top <- low - gap
    }
    place[box$member, 1L] <- left + box$place[, 1L] - min(box$place[, 1L])
    place[box$member, 2L] <- top - box$size[[2L]] + box$place[, 2L] - min(box$place[, 2L])
    left <- left + box$size[[1L]] + gap
    low <- min(low, top - box$size[[2L]])
  }
  place
}

#' Rotates points so that they spread most along x
#' @noRd
upright <- function(place) {
  if (nrow(place) < 2L) return(place - place)
  centred <- sweep(place, 2L, colMeans(place))
  rotated <- centred %*% svd(centred, nu = 0L)$v
  # The sign of a singular vector is arbitrary: the first vertex goes to the left top.
  if (rotated[1L, 1L] > 0) rotated[, 1L] <- -rotated[, 1L]
  if (rotated[1L, 2L] < 0) rotated[, 2L] <- -rotated[, 2L]
  rotated
}

#' Evaluates with a fixed seed; the caller's random numbers go on as if nothing happened
#' @noRd
keep_random_state <- function(expr, seed = 1) {
  home <- globalenv()
  old <- get0(".Random.seed", home, inherits = FALSE)
  on.exit(if (is.null(old)) rm(list = intersect(".Random.seed", ls(home, all.names = TRUE)),
                               envir = home) else
            assign(".Random.seed", old, home))
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  expr
}

#' Curves of the edges, cut where they meet the circles of the units
#'
#' Edges between the same two units bend apart; a single one is nearly straight.
#' @noRd
edge_curves <- function(steps, place, radius) {
  a <- match(steps$from, rownames(place))
  b <- match(steps$to, rownames(place))
  pair <- paste(pmin(a, b), pmax(a, b))
  nth <- stats::ave(seq_along(pair), pair, FUN = seq_along)
  of <- stats::ave(seq_along(pair), pair, FUN = length)
  # A bend is to the left of the direction of the pair, whatever that of the edge.
  bend <- ifelse(of == 1, 0.08, (nth - (of + 1) / 2) * 0.28)
  bend <- ifelse(of > 1 & bend == 0, 0.03, bend)
  middle <- colMeans(place)
  curves <- lapply(seq_along(a), \(i) {
    from <- place[a[[i]], ]
    to <- place[b[[i]], ]
    line <- if (a[[i]] == b[[i]]) {
      loop_curve(from, middle, radius, nth[[i]])
    } else {
      bent_curve(from, to, if (a[[i]] < b[[i]]) bend[[i]] else -bend[[i]], radius)
    }
    data.frame(x = line[, 1L], y = line[, 2L], edge = i)
  })
  curves <- do.call(rbind, curves)
  cbind(curves, steps[curves$edge, ], row.names = NULL)
}

#' Heads of the arrows of edges, no longer than the greater part of a short edge
#'
#' @param curves Edges that are `TRUE` in `undirected` have no head.
#' @param bar Whether they are bars across the end, as inhibition is drawn.
#' @noRd
edge_arrows <- function(curves, bar = FALSE) {
  # From one end of the picture to the other it is 2, and seldom less than 100 mm.
  mm <- vapply(split(curves[c("x", "y")], curves$edge), \(line) {
    50 * sum(sqrt(diff(line$x)^2 + diff(line$y)^2))
  }, 0)
  # Groups, the edges with a minus, are drawn from the last edge to the first.
  long <- pmin(2.2, 0.6 * mm) * (if (bar) 0.6 else 1)
  long[unique(curves$edge[curves$undirected %in% TRUE])] <- 0
  long <- rev(long)
  ggplot2::arrow(length = ggplot2::unit(long, "mm"), angle = if (bar) 90 else 22,
                 type = if (bar) "open" else "closed")
}

key_without_arrow <- function(data, params, size) {
  ggplot2::draw_key_path(data, params[names(params) != "arrow"], size)
}

bent_curve <- function(from, to, bend, radius, n = 60L) {
  along <- to - from
  control <- (from + to) / 2 + bend * c(-along[[2L]], along[[1L]])
  s <- seq(0, 1, length.out = n)
  line <- outer((1 - s)^2, from) + outer(2 * s * (1 - s), control) + outer(s^2, to)
  distance <- \(point) sqrt(colSums((t(line) - point)^2))
  clear <- distance(from) > radius & distance(to) > radius * 1.12
  if (sum(clear) >= 2L) line[clear, , drop = FALSE] else line[c(n %/% 3L, n - n %/% 3L), ]
}

loop_curve <- function(at, middle, radius, nth, n = 40L) {
  out <- at - middle
  angle <- if (all(abs(out) < 1e-9)) pi / 2 else atan2(out[[2L]], out[[1L]])
  size <- radius * (0.8 + 0.35 * nth)
  centre <- at + (radius + size * 0.75) * c(cos(angle), sin(angle))
  s <- angle + pi + seq(0.6, 2 * pi - 0.6, length.out = n)
  line <- cbind(centre[[1L]] + size * cos(s), centre[[2L]] + size * sin(s))
  clear <- sqrt((line[, 1L] - at[[1L]])^2 + (line[, 2L] - at[[2L]])^2) > radius * 1.1
  line[clear, , drop = FALSE]
}

#' How large names are written, in mm, and whether they then fit into the circles
#' @noRd
node_text <- function(labels, radius) {
  # The picture is 2 wide, and seldom less than 100 mm; a letter is half as wide as it is high.
  # A circle is narrower at the height of the letters than across its middle.
  fits <- 0.78 * 100 * radius / (0.55 * max(1L, nchar(labels)))
  inside <- fits >= 2
  list(size = if (inside) min(3.6, fits) else 2.6, inside = inside)
}

node_circles <- function(place, radius, n = 48L) {
  s <- seq(0, 2 * pi, length.out = n + 1L)[-1L]
  data.frame(x = rep(place[, 1L], each = n) + radius * cos(s),
             y = rep(place[, 2L], each = n) + radius * sin(s),
             unit = rep(seq_len(nrow(place)), each = n))
}

#' Labels of a network without the letters that all names begin with, or end with
#'
#' Numbers stand for some names that are too long, and the sentences explain them.
#' @param radius Of the circles.
#' @param what Such as "units".
#' @return `labels`, and `left_out`, sentences about what the labels leave out, or NULL.
#' @noRd
shorten_labels <- function(names, radius, what = "units") {
  common <- if (length(names) > 1L && max(nchar(names)) > 3L) same_letters(names) else 0L
  labels <- substring(names, common + 1L)
  last <- if (length(names) > 1L) same_letters(labels, at_end = TRUE) else 0L
  if (last <= 3L) last <- 0L
  letters <- c(if (common > 0L) sprintf("begin with \"%s\"", substring(names[[1L]], 1L, common)),
               if (last > 0L) {
                 sprintf("end with \"%s\"", substring(names[[1L]], nchar(names[[1L]]) - last + 1L))
               })
  labels <- short_names(substring(labels, 1L, nchar(labels) - last))
  said <- if (length(letters)) {
    sprintf("Names of %s %s.", what, paste(letters, collapse = " and "))
  }
  n <- length(labels)
  if (!node_text(labels, radius)$inside) {
    if (max(nchar(labels)) > 6L && n <= 30L && n * max(nchar(labels)) > 60L) {
      said <- c(said, paste0("Numbers: ", toString(paste0(seq_len(n), "=", labels)), "."))
      labels <- as.character(seq_len(n))
    } else if (n > 6L) {
      said <- c(said, "Names that would cover others are left out.")
      labels <- short_names(labels, 6L)
    }
  }
  list(labels = labels, left_out = said)
}

#' The other units of the array, as dots where they lie
#'
#' @param array Positions of all units; `names` are those that the network has.
#' @noRd
array_layer <- function(array, names) {
  # The same shift and scale as the network has.
  own <- array[names, , drop = FALSE]
  centre <- apply(own, 2L, \(v) mean(range(v)))
  scale <- max(abs(t(own) - centre))
  if (scale == 0) return(NULL)
  others <- unique(array[!rownames(array) %in% names, , drop = FALSE])
  dots <- as.data.frame(t((t(others) - centre) / scale))
  ggplot2::geom_point(aes_from(x = "x", y = "y"), size = 0.5, colour = "#C4C9D0",
                      data = dots[abs(dots$x) <= 1.3 & abs(dots$y) <= 1.3, , drop = FALSE])
}

#' Circles of a network, which groups colour, and what is written in them
#'
#' @param place Matrix of their places, x and y.
#' @param groups Group of each node, a factor, or NULL; `name` is what the legend calls it.
#' @noRd
node_layers <- function(place, radius, labels, groups = NULL, name = "Area") {
  circles <- node_circles(place, radius)
  text <- node_text(labels, radius)
  outline <- \(...) ggplot2::geom_polygon(..., data = circles, colour = syn_ink, linewidth = 0.5)
  nodes <- if (is.null(groups)) {
    outline(aes_from(x = "x", y = "y", group = "unit"), fill = "white")
  } else {
    circles$group <- groups[circles$unit]
    # Light, so that names can be read on them.
    colours <- lighten(named_palette(levels(groups)))
    list(outline(aes_from(x = "x", y = "y", group = "unit", fill = "group")),
         ggplot2::scale_fill_manual(name = name, values = colours, drop = name == "Area"))
  }
  # Room for names beside the outermost circles.
  half <- if (text$inside) 0 else 0.0143 * nchar(labels)
  room <- data.frame(x = c(place[, 1L] - half, place[, 1L] + half))
  list(nodes, ggplot2::geom_text(
    aes_from(x = "x", y = "y", label = "label"),
    # Names are above circles that are too small for them.
    data = data.frame(x = place[, 1L], y = place[, 2L] + if (text$inside) 0 else 1.2 * radius,
                      label = labels),
    size = text$size, colour = syn_ink, check_overlap = !text$inside,
    vjust = if (text$inside) 0.5 else 0
  ), ggplot2::geom_blank(aes_from(x = "x"), data = room))
}

#' Arrows between series that stand where strong links are short
#'
#' @param links Data frame `from`, `to` and `weight`, from 0 to 1 or NA, the strongest
#'   first; and what `edges` needs.
#' @param series Names of all series, in their order.
#' @param edges Function of the points of all arrows, each with the columns of its link,
#'   that gives their layers and scales.
#' @param caption Function of the sentence about letters that labels leave out, or NULL.
#' @noRd
network_picture <- function(links, series, groups, layout, edges, caption) {
  names <- series[series %in% c(links$from, links$to)]
  if (is.null(layout) && length(names) <= 6L) layout <- igraph::layout_in_circle
  # Distances that follow the weight itself would pull the network into strings.
  near <- links
  weight <- replace(links$weight, is.na(links$weight), 0)
  near$weight <- (1 + pmax(weight, 0) / max(weight, 1e-9)) / 2
  parts <- network_parts(near, names, layout, NULL, groups, "series", "Group")
  curves <- parts$curves
  curves$weight <- links$weight[curves$edge]
  ggplot2::ggplot() +
    edges(curves) +
    parts$nodes +
    theme_network(caption(parts$left_out)) +
    ggplot2::theme(legend.key.height = ggplot2::unit(9, "mm"),
                   legend.key.width = ggplot2::unit(3.5, "mm"))
}

#' Arrows as dark and wide as they weigh; those without a weight are grey
#'
#' @param name Of the weight, for the legend.
#' @noRd
weighted_edges <- function(name) {
  function(curves) {
    curves$weight <- pmax(curves$weight, 0)
    curves$width <- replace(curves$weight, is.na(curves$weight), 0)
    list(edge_layer(curves, colour = .data$weight, linewidth = .data$width,
                    linetype = .data$dashed),
         width_scale(curves$width, c(0.35, 1.5), guide = "none"),
         ggplot2::scale_colour_gradientn(name = name, colours = syn_scale, n.breaks = 5,
                                         limits = from_zero(curves$width), na.value = syn_muted))
  }
}

#' Limits of a scale that begins at 0, so that values that are nearly equal look equal
#' @noRd
from_zero <- function(weight) c(0, max(weight, 0.01))

#' Widths of lines, from that of a line without weight to that of the heaviest
#' @param ... For `scale_linewidth_continuous()`.
#' @noRd
width_scale <- function(weight, range, ...) {
  ggplot2::scale_linewidth_continuous(range = range, limits = from_zero(weight), ...)
}

#' Arrows, and dashes for those that are `TRUE` in `linetype`
#' @param ... More aesthetics.
#' @noRd
edge_layer <- function(curves, ...) {
  list(ggplot2::geom_path(ggplot2::aes(x = .data$x, y = .data$y, group = .data$group, ...),
                          data = curves, lineend = "butt", linejoin = "mitre",
                          arrow = edge_arrows(curves)),
       ggplot2::scale_linetype_manual(values = c(`FALSE` = "solid", `TRUE` = "42"),
                                      guide = "none"))
}

weight_breaks <- function(weight) {
  for (n in 3:5) {
    breaks <- pretty(weight, n)
    inside <- breaks[breaks >= min(weight) & breaks <= max(weight) & breaks == round(breaks)]
    if (length(inside) >= 2L) return(inside)
  }
  unique(range(weight))
}

#' How many links to draw, and the group of each series
#' @noRd
check_drawing <- function(links, groups, layout, series) {
  rlang::check_installed("ggplot2", "to draw a network.", call = user_frame())
  rlang::check_installed("igraph", "to draw a network.", call = user_frame())
  check_layout(layout)
  list(links = check_count(links), groups = check_groups(groups, series))
}

#' The parts of a picture of a network
#'
#' @param steps,names,layout As network_layout() takes them.
#' @param array Places of units on their array, or `NULL`; a layout goes before.
#' @param groups Areas of units, or `NULL`; `legend` is their title.
#' @param what What nodes are, in words.
#' @return List: `curves`, `radius`, layers of the `nodes`, whether units are `mapped` to their
#'   places, and what is said of names that were `left_out`.
#' @noRd
network_parts <- function(steps, names, layout, array, groups = NULL, what = "units",
                          legend = "Area") {
  mapped <- is.null(layout) && !is.null(array) && all(names %in% rownames(array))
  place <- network_layout(steps, names, if (mapped) array else layout)
  radius <- if (mapped) map_radius(place) else network_radius(place)
  curves <- edge_curves(steps, place, radius)
  # Groups are drawn in their order: what ranks first comes last, on top.
  curves$group <- -curves$edge
  short <- shorten_labels(names, radius, what)
  list(curves = curves, radius = radius, mapped = mapped, left_out = short$left_out,
       nodes = list(if (mapped) array_layer(array, names),
                    node_layers(place, radius, short$labels, groups[names], legend)))
}
