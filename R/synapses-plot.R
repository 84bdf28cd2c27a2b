# Pictures of connections: as a matrix, as a network, their correlograms, and over distance.

sign_names <- c("excitatory", "inhibitory")
sign_colours <- c(excitatory = "#D55E00", inhibitory = "#0072B2", none = "#6B7280")

#' "excitatory" or "inhibitory", a factor
#' @noRd
sign_factor <- function(sign) factor(sign_names[ifelse(sign > 0, 1L, 2L)], sign_names)

#' Pictures of connections
#'
#' Four pictures of what [find_synapses()] found. Excitation is red in all of them, and inhibition
#' blue.
#'
#' * `"matrix"`: a row for each unit that a connection comes from, a column for each that it goes
#'   to, coloured by strength on a scale of square roots. Pairs that were not tested are grey. Of
#'   more than 80 units, connections are dots, as squares would be too small. Of up to 60 units,
#'   signs mark the pairs that are no connection: explained by others, common input,
#'   same cell or wide.
#' * `"network"`: arrows with a head for excitation, with a bar for inhibition, wider where the
#'   connection is stronger. Where locations are known, units stand there, as on a map of the
#'   probe; units without a connection are dots. Else units without one are left out.
#' * `"correlograms"`: of the clearest connections, how often the second unit fires at which lag of
#'   the first one. The line is the slow baseline, with the band in which 95 % of the counts of each
#'   bin are expected. The window that was tested is shaded; its count is compared with the baseline
#'   that is expected in it, which is why a single bin beyond the band is no evidence. In a table
#'   without connections, such as `found[found$kind %in% "common input", ]`, its rows are drawn.
#' * `"distance"`: the strength of each connection with its 95 % interval against the distance
#'   between the two units, where locations are known.
#'
#' @param object What [find_synapses()] gave.
#' @param type Which picture.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param n For `"correlograms"`: how many to draw, up to 100; those with the largest absolute `z`,
#'   or, of a table whose rows you have put into an order, the first ones.
#' @param edges For `"network"`: the largest number of connections to draw, those with the largest
#'   absolute `z`.
#' @param layout For `"network"`: positions of the units, as in [autoplot.episodes()].
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly. Where
#'   there is no connection, a message says so, and the picture does.
#' @section Errors:
#' For arguments out of range (`synfire_error_argument`); for `"distance"` without locations; and
#' where ggplot2, or igraph for `"network"`, is not installed.
#' @seealso [find_synapses()], [as.igraph.synapses()].
#' @examplesIf rlang::is_installed(c("ggplot2", "igraph"))
#' set.seed(1)
#' a <- sort(runif(3000, 0, 300))
#' b <- c(a[runif(3000) < 0.3] + 0.002, runif(2000, 0, 300))
#' x <- spike_trains(c(a, b), rep(c("a", "b"), c(3000, length(b))), start = 0, end = 301)
#' found <- find_synapses(x, threads = 2)
#' plot(found, type = "correlograms")
#' plot(found, type = "network")
#' @exportS3Method ggplot2::autoplot
autoplot.synapses <- function(object, type = c("matrix", "network", "correlograms", "distance"),
                              ..., n = 12, edges = 100, layout = NULL) {
  check_no_dots(draws = "connections")
  type <- check_choice(type)
  check_synapses(object)
  n <- check_count(n, max = 100)
  edges <- check_count(edges)
  check_layout(layout)
  refuse_if(!is.null(layout) && type != "network", "layout",
            "left out unless `type` is \"network\"", "given")
  found <- connections_of(object)
  if (type == "distance") {
    refuse_if(!"distance" %in% names(object), "type",
              "\"matrix\", \"network\" or \"correlograms\" where no locations are known",
              "\"distance\"", "Give `find_synapses()` the argument `locations`.")
    found <- found[!is.na(found$distance), , drop = FALSE]
  }
  rows <- if (type == "correlograms" && nrow(found) == 0L) nrow(object) else nrow(found)
  if (rows == 0L && (type != "matrix" || sum(attr(object, "units", exact = TRUE)$tested) < 2L)) {
    return(empty_picture(nothing_drawn(object), "nothing"))
  }
  switch(type, matrix = draw_synapse_matrix(object, found),
         network = draw_synapse_network(object, found, edges, layout),
         correlograms = draw_synapse_correlograms(object, n),
         distance = draw_synapse_distance(found))
}

#' Why there is nothing to draw
#' @noRd
nothing_drawn <- function(x) {
  if (any(attr(x, "rows", exact = TRUE) > nrow(x))) return("No row of the table is a connection")
  if (attr(x, "tests", exact = TRUE) == 0) return("No pair of units could be tested")
  if (!bursts_judged(x)) return("Connections cannot be told from bursts")
  "No connection is supported"
}

#' Rows by how clear they are, unless the user put them into an order
#' @noRd
clearest <- function(rows, x, n) {
  if (!is_ordered(x)) rows <- rows[order(-abs(rows$z), method = "radix"), , drop = FALSE]
  utils::head(rows, n)
}

# ---- Matrix --------------------------------------------------------------------------

draw_synapse_matrix <- function(x, found) {
  units <- attr(x, "units", exact = TRUE)
  n <- nrow(units)
  root <- \(v) sign(v) * sqrt(abs(v))
  most <- max(abs(found$strength), 0.001)
  # Of both sides of the scale those that are there, with a round number near each end.
  sides <- c(if (any(found$sign < 0)) -1, if (any(found$sign > 0) || nrow(found) == 0L) 1)
  digit <- 10^floor(log10(most))
  ends <- floor(most / digit * (1 + 1e-9)) * digit * sides
  breaks <- sort(c(0, ends, signif(ends / 4, 1)))
  keep <- thin(n, 30L)
  name <- \(what) {
    if (n == length(keep)) what else sprintf("%s (%s units, some named)", what, commas(n))
  }
  ggplot2::ggplot(mapping = aes_from(x = "to", y = "from")) +
    (if (n <= most_squares) matrix_squares(x) else matrix_dots(found, units)) +
    (if (n <= 60L) matrix_marks(x, units)) +
    ggplot2::scale_fill_gradient2(low = sign_colours[["inhibitory"]], mid = "white",
                                  high = sign_colours[["excitatory"]], na.value = syn_grid,
                                  limits = root(range(0, sides) * most * 1.001),
                                  breaks = root(breaks),
                                  labels = breaks, name = "Strength\n(extra spikes\nper spike)") +
    ggplot2::scale_x_continuous(name = name("To"), breaks = keep,
                                labels = short_names(units$unit)[keep],
                                limits = c(0.5, n + 0.5), expand = c(0, 0)) +
    ggplot2::scale_y_reverse(name = name("From"), breaks = keep,
                             labels = short_names(units$unit)[keep],
                             limits = c(n + 0.5, 0.5), expand = c(0, 0)) +
    ggplot2::coord_fixed() +
    theme_synfire() +
    ggplot2::theme(panel.grid.major = ggplot2::element_blank(),
                   panel.border = ggplot2::element_rect(fill = NA, colour = syn_grid),
                   axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5)) +
    caption(if (nrow(found) == 0L) paste0(nothing_drawn(x), "."),
            if (n <= most_squares || !all(units$tested)) "Grey: not tested.")
}

# Units up to which a square of the matrix is large enough to be seen.
most_squares <- 80L

#' All pairs as squares
#' @noRd
matrix_squares <- function(x) {
  strengths <- as.matrix(x)
  squares <- data.frame(from = as.vector(row(strengths)), to = as.vector(col(strengths)),
                        strength = as.vector(strengths))
  squares$root <- sign(squares$strength) * sqrt(abs(squares$strength))
  ggplot2::geom_raster(aes_from(fill = "root"), data = squares)
}

#' Connections as dots that can be seen among very many pairs; bands for units not tested
#' @noRd
matrix_dots <- function(found, units) {
  out <- which(!units$tested)
  band <- \(...) ggplot2::geom_rect(ggplot2::aes(...), data = data.frame(at = out),
                                    fill = syn_grid, inherit.aes = FALSE)
  dots <- data.frame(from = match(found$from, units$unit), to = match(found$to, units$unit),
                     root = sign(found$strength) * sqrt(abs(found$strength)))
  list(if (length(out)) list(
         band(xmin = .data$at - 0.5, xmax = .data$at + 0.5, ymin = -Inf, ymax = Inf),
         band(ymin = .data$at - 0.5, ymax = .data$at + 0.5, xmin = -Inf, xmax = Inf)),
       ggplot2::geom_point(aes_from(fill = "root"), data = dots, shape = 22, size = 1.7,
                           stroke = 0.15, colour = syn_muted))
}

#' Signs on pairs that are no connection
#' @noRd
matrix_marks <- function(x, units) {
  marks <- plain_table(x)
  marks <- marks[marks$kind %in% synapse_kinds[-1L], , drop = FALSE]
  if (nrow(marks) == 0L) return(NULL)
  dots <- data.frame(from = match(marks$from, units$unit), to = match(marks$to, units$unit),
                     kind = droplevels(marks$kind))
  list(ggplot2::geom_point(aes_from(shape = "kind"), data = dots, colour = syn_ink,
                           size = min(2, max(0.8, 40 / nrow(units)))),
       ggplot2::scale_shape_manual(name = "No connection", drop = TRUE,
                                   values = c(explained = 4, `common input` = 1, `same cell` = 0,
                                              wide = 5)))
}

# ---- Network -------------------------------------------------------------------------

#' Positions of all units, a matrix with their names, or NULL where they are not known
#' @noRd
synapse_places <- function(x) {
  units <- attr(x, "units", exact = TRUE)
  if (!all(c("x", "y") %in% names(units))) return(NULL)
  place <- cbind(x = units$x, y = units$y)
  rownames(place) <- units$unit
  if (all(is.finite(place)) && nrow(place) > 0L) place
}

draw_synapse_network <- function(x, found, edges, layout) {
  rlang::check_installed("igraph", "to draw a network of connections.")
  drawn <- clearest(found, x, edges)
  steps <- data.frame(from = drawn$from, to = drawn$to, sign = sign_factor(drawn$sign),
                      strength = abs(drawn$strength), weight = sqrt(abs(drawn$strength)))
  steps$weight <- (1 + steps$weight / max(steps$weight, 1e-9)) / 2
  units <- attr(x, "units", exact = TRUE)$unit
  names <- units[units %in% c(steps$from, steps$to)]
  array <- synapse_places(x)
  if (is.null(array) && is.null(layout) && length(names) <= 6L) layout <- igraph::layout_in_circle
  parts <- network_parts(steps, names, layout, array)
  lines <- lapply(sign_names, \(sign) {
    own <- parts$curves[parts$curves$sign == sign, , drop = FALSE]
    if (nrow(own)) ggplot2::geom_path(
      aes_from(x = "x", y = "y", group = "group", colour = "sign", linewidth = "strength"),
      data = own, lineend = "butt", linejoin = "mitre",
      arrow = edge_arrows(own, bar = sign == "inhibitory"), key_glyph = key_without_arrow)
  })
  narrow <- min(1, max(0.4, parts$radius / 0.03))
  ggplot2::ggplot() +
    lines +
    parts$nodes +
    ggplot2::scale_colour_manual(
      name = NULL, values = sign_colours[sign_names], drop = TRUE,
      guide = ggplot2::guide_legend(order = 1, override.aes = list(linewidth = 1.4))) +
    width_scale(steps$strength, c(0.15, 1.7) * narrow, trans = "sqrt",
                name = "Strength (extra or\nmissing spikes per spike)",
                breaks = strength_breaks(steps$strength)) +
    theme_network(synapse_network_caption(x, found, drawn, names, parts$left_out, parts$mapped))
}

#' A weak, a middle and a strong strength, with one digit each; one of them where all connections
#' are about equally strong
#' @noRd
strength_breaks <- function(strength) {
  ends <- range(strength[strength > 0])
  digit <- 10^floor(log10(ends))
  # Round numbers within the range.
  ends <- c(ceiling(ends[[1L]] / digit[[1L]]) * digit[[1L]],
            floor(ends[[2L]] / digit[[2L]]) * digit[[2L]])
  # Rounded down, as a break above all strengths would leave the legend empty.
  step <- digit[[2L]] / 10
  if (ends[[1L]] >= ends[[2L]]) return(floor(max(strength) / step) * step)
  unique(c(ends[[1L]], signif(sqrt(prod(ends)), 1), ends[[2L]]))
}

synapse_network_caption <- function(x, found, drawn, names, left_out, mapped) {
  alone <- sum(attr(x, "units", exact = TRUE)$tested) - length(names)
  paste(c(
    paste0(if (nrow(drawn) < nrow(found)) sprintf("The clearest %s of %s connections.",
                                                  commas(nrow(drawn)), commas(nrow(found))) else
      paste0(counted(nrow(found), "connection"), "."),
      if (any(drawn$sign < 0)) " A bar at the end is inhibition."),
    if (mapped) "Units stand where they lie; dots are the others." else
      if (alone > 0L) sprintf("Without a connection: %s more.", counted(alone, "unit")),
    left_out
  ), collapse = "\n")
}

# ---- Correlograms --------------------------------------------------------------------

#' Lag histograms of rows with their baselines and windows
#'
#' @return A list of data frames: `bars` (`lag` in ms, `count`, `base`, `low`, `high`, `sign`) and
#'   `windows`, both with `panel`.
#' @noRd
synapse_correlograms <- function(x, n) {
  rows <- connections_of(x)
  if (nrow(rows) == 0L) rows <- plain_table(x)
  rows <- clearest(rows, x, n)
  counts <- attr(x, "correlograms", exact = TRUE)
  keys <- synapse_keys(rows$from, rows$to)
  at <- match(keys, colnames(counts))
  bin <- attr(x, "bin_size", exact = TRUE)
  lag <- (seq_len(nrow(counts)) - (nrow(counts) + 1) / 2) * bin
  near <- abs(lag) <= max(0.02, 2.5 * attr(x, "max_lag", exact = TRUE)) + bin / 4
  named <- rows
  named[c("from", "to")] <- short_members(list(rows$from, rows$to))
  labels <- make.unique(paste0(pair_arrows(named), ifelse(
    rows$kind %in% "connection", "", paste0(" (", ifelse(is.na(rows$kind), "refused",
                                                         as.character(rows$kind)), ")"))))
  panel <- factor(labels, labels)
  base <- attr(x, "baseline", exact = TRUE)[near, at, drop = FALSE]
  bars <- data.frame(
    lag = rep(lag[near] * 1e3, length(at)), count = as.vector(counts[near, at, drop = FALSE]),
    base = pmax(as.vector(base), 0), panel = rep(panel, each = sum(near)),
    sign = rep(factor(ifelse(is.na(rows$sign) | !rows$kind %in% "connection", "none",
                             sign_names[ifelse(rows$sign > 0, 1L, 2L)]), names(sign_colours)),
               each = sum(near)))
  bars$low <- stats::qpois(0.025, bars$base)
  bars$high <- stats::qpois(0.975, bars$base)
  windows <- attr(x, "windows", exact = TRUE)
  windows <- windows[match(keys, rownames(windows)), , drop = FALSE]
  list(bars = bars,
       windows = data.frame(low = windows[, 1L] * 1e3, high = windows[, 2L] * 1e3, panel = panel))
}

draw_synapse_correlograms <- function(x, n) {
  drawn <- synapse_correlograms(x, n)
  bin <- attr(x, "bin_size", exact = TRUE) * 1e3
  found <- nrow(connections_of(x))
  of <- if (found) found else nrow(x)
  panels <- nrow(drawn$windows)
  ggplot2::ggplot(drawn$bars, aes_from(x = "lag")) +
    shaded_windows(drawn$windows, inherit.aes = FALSE) +
    ggplot2::geom_col(aes_from(y = "count", fill = "sign"), width = bin) +
    ggplot2::geom_ribbon(aes_from(ymin = "low", ymax = "high"), fill = syn_ink, alpha = 0.15) +
    ggplot2::geom_line(aes_from(y = "base"), colour = syn_ink, linewidth = 0.5) +
    ggplot2::geom_vline(xintercept = 0, colour = syn_ink, linetype = "dotted", linewidth = 0.3) +
    # Light, so that line and band can be seen on them.
    ggplot2::scale_fill_manual(values = lighten(sign_colours), guide = "none") +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free_y",
                        ncol = c(1L, 2L, 3L, 4L)[findInterval(panels, c(1, 2, 5, 10))]) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = c(0, 0.05)),
                                limits = c(0, NA), labels = short_numbers) +
    ggplot2::labs(x = "Lag (ms): above 0 the second unit fires after the first",
                  y = "Pairs of spikes in a bin") +
    theme_synfire() +
    caption(paste0(
      if (panels < of) sprintf("%s of %s. ", commas(panels),
                               counted(of, if (found) "connection" else "pair")),
      "Line and band: the slow baseline, and where 95 % of bins are expected."),
      paste(c("Shaded: the window that was tested.",
              if (found > 0L) "Red: excitation; blue: inhibition."), collapse = " "))
}

# ---- Distance ------------------------------------------------------------------------

draw_synapse_distance <- function(found) {
  dots <- data.frame(distance = found$distance, strength = found$strength,
                     low = found$strength_low, high = found$strength_high,
                     sign = sign_factor(found$sign))
  ggplot2::ggplot(dots, aes_from(x = "distance", y = "strength", colour = "sign")) +
    ggplot2::geom_hline(yintercept = 0, colour = syn_muted) +
    ggplot2::geom_linerange(aes_from(ymin = "low", ymax = "high"), alpha = 0.5) +
    ggplot2::geom_point(size = 1.6) +
    ggplot2::scale_colour_manual(name = NULL, values = sign_colours[sign_names], drop = TRUE) +
    ggplot2::scale_x_continuous(limits = c(0, NA)) +
    ggplot2::labs(x = "Distance (\u00B5m)", y = "Strength (extra spikes per spike)") +
    theme_synfire() +
    caption("A dot is a connection, with its 95 % interval.")
}
