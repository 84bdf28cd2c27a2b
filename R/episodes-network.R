# The network of a table of episodes: units, and the steps between them.

#' Network of the steps in episodes
#'
#' A directed multigraph with a vertex for each unit of the episodes and an edge for each
#' step: a pair of units, in this order, and the delay interval between them. Steps with
#' the same units and another interval are different edges.
#'
#' Vertices stand in the order of the recording's units, where the episodes know their
#' recording, else in the order in which they come. A unit that is in no episode has no
#' vertex; a unit that is an episode of its own only is a vertex without edges.
#'
#' @param x An `episodes` object, as [mine_episodes()] gives it.
#' @param ... Not used; must be empty.
#' @return An igraph graph. Vertex attributes: `name`, the unit, and `spikes`, its number
#'   of spikes in the recording (`NA` without one). Edge attributes: `low` and `high`, the
#'   interval in seconds; `count`, the highest count of an episode that contains the step
#'   (`NA` where none of them has been counted); `episodes`, the number of episodes that
#'   contain it; `size`, the size of the largest of these.
#' @section Errors:
#' Where igraph is not installed.
#' @seealso [autoplot.episodes()] with `type = "network"` to draw it.
#' @examplesIf rlang::is_installed("igraph")
#' set.seed(1)
#' x <- simulate_sym26(duration = 10)
#' intervals <- cbind(low = c(0, 0.005, 0.010), high = c(0.005, 0.010, 0.015))
#' found <- mine_episodes(x, min_count = 100, intervals = intervals, threads = 2)
#' graph <- igraph::as.igraph(found)
#' igraph::degree(graph, mode = "out")
#' @exportS3Method igraph::as.igraph
as.igraph.episodes <- function(x, ...) {
  rlang::check_installed("igraph", "to make a network of episodes.")
  check_no_dots()
  check_episodes(x)
  steps <- episode_steps(x)
  vertices <- data.frame(name = episode_units(x))
  recording <- own_recording(x)
  vertices$spikes <- if (is.null(recording)) {
    rep(NA_integer_, nrow(vertices))
  } else {
    unit <- .subset2(recording, "unit")
    tabulate(unit, nlevels(unit))[match(vertices$name, levels(unit))]
  }
  igraph::graph_from_data_frame(steps, directed = TRUE, vertices = vertices)
}

#' Units of the episodes, each once
#' @noRd
episode_units <- function(x) {
  units <- unique(as.character(unlist(.subset2(x, "units"), use.names = FALSE)))
  recording <- own_recording(x)
  if (is.null(recording)) return(units)
  known <- levels(.subset2(recording, "unit"))
  c(known[known %in% units], setdiff(units, known))
}

#' The steps of the episodes: a row for each (from, to, low, high)
#'
#' @return Data frame `from`, `to`, `low`, `high`, `count`, `episodes`, `size`; in the
#'   order in which the steps first come.
#' @noRd
episode_steps <- function(x) {
  units <- .subset2(x, "units")
  n_steps <- pmax(lengths(units) - 1L, 0L)
  owner <- rep(seq_along(units), n_steps)
  all <- data.frame(
    from = as.character(unlist(lapply(units, \(u) u[-length(u)]), use.names = FALSE)),
    to = as.character(unlist(lapply(units, \(u) u[-1L]), use.names = FALSE)),
    low = as.double(unlist(.subset2(x, "low"), use.names = FALSE)),
    high = as.double(unlist(.subset2(x, "high"), use.names = FALSE))
  )
  key <- step_keys(all)
  steps <- all[!duplicated(key), , drop = FALSE]
  row.names(steps) <- NULL

  count <- as.double(.subset2(x, "count"))[owner]
  # Where a step comes more than once, the last assignment stays.
  rising <- order(count, na.last = NA)
  steps$count <- rep(NA_real_, nrow(steps))
  steps$count[key[rising]] <- count[rising]
  # An episode that goes through the same step twice is one episode.
  once <- !duplicated((owner - 1) * max(1, key) + key)
  steps$episodes <- tabulate(key[once], nrow(steps))
  rising <- order(n_steps[owner])
  steps$size <- integer(nrow(steps))
  steps$size[key[rising]] <- (n_steps[owner] + 1L)[rising]
  steps
}

#' A number for each step, the same for the same step
#'
#' Group numbers rather than pasted text, in which units with odd names could collide.
#' @noRd
step_keys <- function(steps) {
  number <- \(v) match(v, unique(v))
  key <- number(steps$from)
  for (column in c("to", "low", "high")) {
    this <- number(steps[[column]])
    key <- number((key - 1) * max(1, this) + this)
  }
  key
}

#' The steps that are not among those to drop
#' @noRd
without_steps <- function(steps, drop) {
  key <- step_keys(rbind(steps, drop))
  own <- seq_len(nrow(steps))
  steps[!key[own] %in% key[-own], , drop = FALSE]
}

# ---- Drawing it ----------------------------------------------------------------------

#' @param drop Steps, as episode_steps() gives them, that are left out.
#' @noRd
plot_network <- function(x, edges, layout, call, drop = NULL) {
  rlang::check_installed("igraph", "to draw a network of episodes.")
  steps <- episode_steps(x)
  all <- without_steps(steps, drop)
  # Chains may stand out where none of their pairs does by itself.
  if (nrow(all) == 0L) all <- steps
  if (nrow(all) == 0L) return(empty_picture("No unit follows another", "no network"))
  counted <- !anyNA(all$count)
  # Without counts, steps that are in many episodes come first.
  all$weight <- if (counted) all$count else all$episodes
  # Most pairs of busy units are frequent by chance; what goes on to a third is rarer.
  steps <- all[order(all$size < 3L, -all$weight, all$from, all$to, method = "radix"), ]
  steps <- steps[seq_len(min(edges, nrow(steps))), ]
  names <- episode_units(x)
  names <- names[names %in% c(steps$from, steps$to)]
  recording <- own_recording(x)
  array <- if (is.null(layout)) unit_places(recording)
  mapped <- !is.null(array) && all(names %in% rownames(array))
  place <- network_layout(steps, names, if (mapped) array else layout, call)
  areas <- unit_areas(recording)

  radius <- if (mapped) map_radius(place) else network_radius(place)
  curves <- edge_curves(steps, place, radius)
  # Groups are drawn in their order: what ranks first comes last, on top.
  curves$group <- -curves$edge
  circles <- node_circles(place, radius)
  short <- shorten_labels(names)

  known <- unique(steps[c("low", "high")])
  known <- known[order(known$low, known$high), ]
  intervals <- interval_names(known$low, known$high)
  by_interval <- length(intervals) > 1L && length(intervals) <= 8L
  curves$interval <- factor(interval_names(curves$low, curves$high), intervals)
  what <- if (counted) "Count" else "Episodes"
  # Wide lines would hide what is close to each other.
  narrow <- min(1, max(0.4, radius / 0.03))
  width <- ggplot2::scale_linewidth_continuous(
    name = what, range = c(0.4 * sqrt(narrow), 1.9 * narrow), breaks = weight_breaks(steps$weight),
    labels = commas_each
  )

  ggplot2::ggplot() +
    ggplot2::geom_path(
      ggplot2::aes(x = .data$x, y = .data$y, group = .data$group, linewidth = .data$weight,
                   colour = if (by_interval) .data$interval else .data$weight),
      data = curves, lineend = "butt", linejoin = "mitre", arrow = edge_arrows(curves),
      key_glyph = key_without_arrow
    ) +
    (if (mapped) array_layer(array, names)) +
    node_layers(circles, place, short$labels, areas[names]) +
    width +
    (if (by_interval) {
      ggplot2::scale_colour_manual(
        name = "Delay (ms)", values = rlang::set_names(syn_palette(length(intervals)), intervals),
        limits = intervals,
        guide = ggplot2::guide_legend(order = 1, override.aes = list(linewidth = 1.4))
      )
    } else {
      ggplot2::scale_colour_gradientn(colours = syn_scale[-1L], guide = "none")
    }) +
    ggplot2::coord_equal(clip = "off") +
    ggplot2::labs(
      caption = network_caption(nrow(steps), nrow(all), intervals, by_interval, short$left_out,
                                mapped)
    ) +
    theme_synfire() +
    ggplot2::theme(
      axis.text = ggplot2::element_blank(), axis.title = ggplot2::element_blank(),
      axis.line.x.bottom = ggplot2::element_blank(), axis.ticks = ggplot2::element_blank(),
      panel.grid.major = ggplot2::element_blank(),
      plot.caption = ggplot2::element_text(colour = syn_muted)
    )
}

network_caption <- function(drawn, all, intervals, by_interval, left_out, mapped) {
  c(
    if (drawn < all) sprintf("%s of %s steps.", commas(drawn), commas(all)) else
      sprintf("%s %s.", commas(all), if (all == 1L) "step" else "steps"),
    if (length(intervals) == 1L) sprintf("Delay %s ms.", intervals),
    if (!by_interval && length(intervals) > 1L) sprintf("%d delay intervals.", length(intervals)),
    if (nzchar(left_out)) sprintf("Names of units begin with \"%s\".", left_out),
    if (mapped) "\nUnits stand where they lie; dots are the others."
  ) |> paste(collapse = " ")
}

weight_breaks <- function(weight) {
  for (n in 3:5) {
    breaks <- pretty(weight, n)
    inside <- breaks[breaks >= min(weight) & breaks <= max(weight) & breaks == round(breaks)]
    if (length(inside) >= 2L) return(inside)
  }
  unique(range(weight))
}

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
  max(0.03, min(0.08, 0.3 / sqrt(nrow(place)), 0.32 * between))
}

#' Error unless a layout is of a kind that network_layout() can use
#' @noRd
check_layout <- function(layout, call = rlang::caller_env()) {
  if (is.null(layout) || is.function(layout)) return(invisible())
  fits <- if (is.data.frame(layout)) all(vapply(layout, is.numeric, NA)) else
    is.matrix(layout) && is.numeric(layout)
  if (!fits || ncol(layout) != 2L) {
    abort_arg("layout", "a function, or a matrix of two columns of numbers", describe(layout),
              call = call)
  }
}

#' Positions within [-1, 1], a row a unit
#' @noRd
network_layout <- function(steps, names, layout, call) {
  if (is.matrix(layout) || is.data.frame(layout)) {
    place <- as.matrix(layout)
    row <- match(names, rownames(place))
    if (!is.numeric(place) || ncol(place) != 2L || !all(is.finite(place)) || anyNA(row)) {
      abort_arg("layout",
                "a function, or a finite two-column matrix with all units as row names",
                if (anyNA(row)) sprintf("without \"%s\"", names[is.na(row)][[1L]]) else
                  describe(layout),
                call = call)
    }
    place <- place[row, , drop = FALSE]
  } else {
    graph <- layout_graph(steps, names)
    place <- keep_random_state(if (is.null(layout)) pack_components(graph) else {
      layout_by(layout, graph, call)
    })
    if (!is.matrix(place) || !is.numeric(place) || !all(is.finite(place)) ||
          !identical(dim(place), c(length(names), 2L))) {
      abort_arg("layout", "a function that gives a matrix of two columns, a row a unit",
                describe(layout), call = call)
    }
  }
  for (column in 1:2) place[, column] <- place[, column] - mean(range(place[, column]))
  most <- max(abs(place))
  place <- if (most > 0) place / most else place
  dimnames(place) <- list(names, c("x", "y"))
  place
}

#' What the user's function makes of a graph
#' @noRd
layout_by <- function(layout, graph, call) {
  tryCatch(layout(graph), error = \(e) {
    abort_arg("layout", "a function that can lay out a graph of igraph",
              paste0("one that stops: ", conditionMessage(e)), call = call)
  })
}

#' The undirected graph whose layout is made; strong steps are short
#' @noRd
layout_graph <- function(steps, names) {
  a <- match(steps$from, names)
  b <- match(steps$to, names)
  pairs <- stats::aggregate(
    list(weight = steps$weight), list(a = pmin(a, b), b = pmax(a, b)), max
  )
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
                sqrt(sum(vapply(boxes, \(b) prod(b$size + gap), 1))))
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
  on.exit(if (is.null(old)) {
    rm(list = intersect(".Random.seed", ls(home, all.names = TRUE)), envir = home)
  } else {
    assign(".Random.seed", old, home)
  })
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
#' @noRd
edge_arrows <- function(curves) {
  # From one end of the picture to the other it is 2, and seldom less than 100 mm.
  mm <- vapply(split(curves[c("x", "y")], curves$edge), \(line) {
    50 * sum(sqrt(diff(line$x)^2 + diff(line$y)^2))
  }, 0)
  # Groups, the edges with a minus, are drawn from the last edge to the first.
  ggplot2::arrow(length = ggplot2::unit(rev(pmin(2.2, 0.6 * mm)), "mm"), angle = 22,
                 type = "closed")
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

#' Size of names that fit into circles
#' @noRd
node_text <- function(labels) {
  size <- c(3.6, 3.6, 2.8, 2.8)[max(1L, nchar(labels))]
  if (is.na(size)) 2.4 else size
}

node_circles <- function(place, radius, n = 48L) {
  s <- seq(0, 2 * pi, length.out = n + 1L)[-1L]
  data.frame(
    x = rep(place[, 1L], each = n) + radius * cos(s),
    y = rep(place[, 2L], each = n) + radius * sin(s),
    unit = rep(seq_len(nrow(place)), each = n)
  )
}

#' Labels without what they have in common at the beginning
#' @noRd
shorten_labels <- function(names) {
  common <- 0L
  if (length(names) > 1L && max(nchar(names)) > 3L) {
    letters <- strsplit(names, "")
    most <- min(lengths(letters)) - 1L
    while (common < most &&
           length(unique(vapply(letters, `[[`, "", common + 1L))) == 1L) common <- common + 1L
    # A number is not torn apart: ch11, ch12 become 11, 12.
    while (common > 0L && grepl("[0-9]", letters[[1L]][[common]])) common <- common - 1L
  }
  list(labels = substring(names, common + 1L), left_out = substring(names[[1L]], 1L, common))
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
  ggplot2::geom_point(
    ggplot2::aes(x = .data$x, y = .data$y), size = 0.5, colour = "#C4C9D0",
    data = dots[abs(dots$x) <= 1.3 & abs(dots$y) <= 1.3, , drop = FALSE]
  )
}

#' Units as circles with their labels
#' @param place Matrix of their places, x and y.
#' @param areas Area of each unit, a factor, or NULL.
#' @noRd
node_layers <- function(circles, place, labels, areas = NULL) {
  small <- diff(range(circles$x[circles$unit == 1L])) < 0.055
  circles$area <- areas[circles$unit]
  list(
    if (is.null(areas)) {
      ggplot2::geom_polygon(
        ggplot2::aes(x = .data$x, y = .data$y, group = .data$unit), data = circles,
        fill = "white", colour = syn_ink, linewidth = 0.5
      )
    } else {
      ggplot2::geom_polygon(
        ggplot2::aes(x = .data$x, y = .data$y, group = .data$unit, fill = .data$area),
        data = circles, colour = syn_ink, linewidth = 0.5
      )
    },
    if (!is.null(areas)) {
      ggplot2::scale_fill_manual(name = "Area", values = lighten(
        rlang::set_names(syn_palette(nlevels(areas)), levels(areas))
      ))
    },
    ggplot2::geom_text(
      ggplot2::aes(x = .data$x, y = .data$y, label = .data$label),
      data = data.frame(x = place[, 1L], y = place[, 2L], label = labels),
      # Names stand above circles that are too small for them.
      size = node_text(labels), colour = syn_ink, check_overlap = small,
      vjust = if (small) -0.9 else 0.5
    )
  )
}
