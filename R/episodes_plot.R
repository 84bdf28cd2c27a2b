# Pictures of episodes: how many, where in the recording, as a network, how exact in time.

#' Plots of episodes
#'
#' Four pictures of what [mine_episodes()] found. `"counts"` shows how many episodes there
#' are of each size, and how their counts are distributed. `"raster"` is a stretch of the
#' recording with occurrences drawn into it. `"network"` shows the steps between units.
#' `"lags"` shows how the lags of each step are distributed.
#'
#' # Which episodes
#' The largest episodes are often variants of each other. So that a picture shows
#' different things, episodes are taken in the order of size, then count, and one that
#' shares more than half of its units with those taken before is passed over. `episodes`
#' sets how many are taken, or says which.
#'
#' # The raster
#' A line connects the events of an occurrence; its spikes are drawn bold. Occurrences
#' are the non-overlapped ones that [episode_occurrences()] gives, those that attain the
#' count. Without `from` and `to` the stretch is where most of them lie; it is six times
#' as long as a typical occurrence of the longest lasting episode, and longer where spikes
#' are few. Units stand in the order of the episodes drawn, from top to bottom, then the
#' other units.
#'
#' # The network
#' An arrow is a step of an episode, as in [as.igraph.episodes()]: wider for higher
#' counts, coloured by its delay interval, or by its count where all steps have the same
#' interval. At most `edges` steps are drawn: first those that are part of an episode of
#' three or more units, then the others, by count. Units without such a step are left
#' out. So is, where names are long, what they have in common at the beginning.
#'
#' @param object,x An `episodes` object with counts.
#' @param type Which picture.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param episodes For `"raster"` and `"lags"`: how many episodes to draw, a character
#'   vector of those wanted (as in the column `episode`), or an `episodes` object.
#' @param from,to For `"raster"`: the stretch to draw, in seconds.
#' @param order For `"raster"`: the order of the units. `"episodes"` as described;
#'   `"levels"` and `"rate"` as in [autoplot.spike_trains()].
#' @param edges For `"network"`: the largest number of steps to draw.
#' @param layout For `"network"`: positions of the units. A function of an igraph graph
#'   that gives a matrix, such as [igraph::layout_in_circle()], or a two-column matrix of
#'   positions with the units as row names, such as the places of electrodes.
#' @param bins For `"lags"`: number of bins of each histogram.
#' @param recording The [spike_trains] that `"raster"` and `"lags"` look into; by default
#'   those that were mined.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' For an object without episodes, or without what the picture needs (counts, a
#' recording, an episode of at least two units); for episodes that are not among those
#' given; and where ggplot2 or igraph is not installed.
#' @seealso [as.igraph.episodes()], [episode_occurrences()], [episode_lags()]
#' @examplesIf rlang::is_installed(c("ggplot2", "igraph"))
#' set.seed(1)
#' x <- simulate_sym26(duration = 10)
#' intervals <- cbind(low = c(0, 0.005, 0.010), high = c(0.005, 0.010, 0.015))
#' found <- mine_episodes(x, min_count = 100, intervals = intervals, threads = 2)
#' plot(found)
#' plot(found, type = "raster", episodes = 2)
#' plot(found, type = "network", edges = 16)
#' plot(found, type = "lags", episodes = 1)
#' @exportS3Method ggplot2::autoplot
autoplot.episodes <- function(object, type = c("counts", "raster", "network", "lags"), ...,
                              episodes = 3, from = NULL, to = NULL,
                              order = c("episodes", "levels", "rate"), edges = 25,
                              layout = NULL, bins = 20,
                              recording = attr(object, "recording", exact = TRUE)) {
  rlang::check_installed("ggplot2", "to draw episodes.")
  check_no_dots()
  call <- rlang::current_env()
  type <- check_choice(type)
  order <- check_choice(order)
  edges <- check_count(edges)
  check_episodes(object, call = call)
  bins <- check_count(bins)
  if (!is.null(from)) from <- check_number(from)
  if (!is.null(to)) to <- check_number(to)
  check_episode_choice(object, episodes, call)
  if (!is.null(recording)) check_spike_trains(recording, "recording", call)
  check_layout(layout)
  if (nrow(object) == 0L) {
    abort_arg("object", "a table with at least one episode", "empty",
              "Mine with a lower `min_count`, or with wider `intervals`.", call = call)
  }
  if (type %in% c("raster", "lags")) {
    if (is.null(recording)) {
      abort_arg("recording", "the spike trains to look into", "NULL",
                "These episodes do not know their recording; give it.", call = call)
    }
    episodes <- choose_episodes(object, episodes, call)
  }
  switch(
    type,
    counts = plot_counts(object, call),
    raster = plot_episode_raster(recording, episodes, from, to, order, call),
    network = plot_network(object, edges, layout, call),
    lags = autoplot.episode_lags(episode_lags(recording, episodes, bins = bins))
  )
}

#' @rdname autoplot.episodes
#' @export
plot.episodes <- function(x, ...) draw(autoplot.episodes(x, ...))

draw <- function(plot) {
  print(plot)
  invisible(plot)
}

# ---- Which episodes, and what to call them -----------------------------------------

#' Error unless an argument `episodes` is a number, episodes, or names of some in the table
#' @noRd
check_episode_choice <- function(x, episodes, call) {
  if (inherits(episodes, "episodes")) return(check_episodes(episodes, "episodes", call))
  if (!is.character(episodes)) return(check_count(episodes, call = call))
  unknown <- episodes[!episodes %in% .subset2(x, "episode")]
  if (length(episodes) == 0L || length(unknown) > 0L) {
    abort_arg("episodes", "a number, or episodes of the table",
              if (length(unknown)) {
                sprintf("\"%s\", which is not among them", unknown[[1L]])
              } else {
                "empty"
              },
              call = call)
  }
}

#' The episodes that an argument `episodes` asks for, of at least two units
#' @noRd
choose_episodes <- function(x, episodes, call = rlang::caller_env()) {
  chosen <- if (inherits(episodes, "episodes")) {
    episodes
  } else if (is.character(episodes)) {
    x[match(episodes, .subset2(x, "episode")), ]
  } else {
    x[best_episodes(x, episodes), ]
  }
  chosen <- chosen[.subset2(chosen, "size") >= 2L, ]
  if (nrow(chosen) == 0L) {
    abort_arg("episodes", "at least one episode of two or more units", "none", call = call)
  }
  chosen
}

#' Rows of the largest episodes that differ from each other
#' @noRd
best_episodes <- function(x, n) {
  units <- .subset2(x, "units")
  size <- .subset2(x, "size")
  rows <- order(-size, -.subset2(x, "count"), .subset2(x, "episode"), method = "radix")
  rows <- rows[size[rows] >= 2L]
  distinct_rows(units, rows, n)
}

#' The first `n` of rows, passing over those that share most units with earlier ones
#' @noRd
distinct_rows <- function(units, rows, n) {
  best <- integer()
  taken <- character()
  for (row in rows) {
    if (length(best) == n) break
    own <- unique(units[[row]])
    if (length(best) > 0L && sum(own %in% taken) > length(own) / 2) next
    best <- c(best, row)
    taken <- c(taken, own)
  }
  best
}

#' "A > B > C", the middle of long ones left out; with "(size, count)" where asked for
#' @noRd
chain_names <- function(x, count = FALSE, most = 6L) {
  names <- vapply(.subset2(x, "units"), \(u) {
    n <- length(u)
    paste(if (n > most) c(u[1:(most - 3L)], "...", u[[n]]) else u, collapse = " > ")
  }, character(1))
  if (count && !anyNA(.subset2(x, "count"))) {
    names <- sprintf("%s (%d units, %s times)", names, .subset2(x, "size"),
                     commas_each(.subset2(x, "count")))
  }
  # Episodes with the same units differ in their intervals.
  twice <- names %in% names[duplicated(names)]
  names[twice] <- paste0(names[twice], " #", seq_along(names)[twice])
  names
}

#' "(5, 15]", in milliseconds
#' @noRd
interval_names <- function(low, high) {
  ms <- \(v) trimws(format_each(signif(1000 * v, 9)))
  sprintf("(%s, %s]", ms(low), ms(high))
}

format_each <- function(v) vapply(v, format, character(1), digits = 9, scientific = FALSE)

# ---- Counts ------------------------------------------------------------------------

plot_counts <- function(x, call) {
  if (anyNA(.subset2(x, "count"))) {
    abort_arg("object", "episodes that have been counted", "without counts",
              "See `count_episodes()`.", call = call)
  }
  panels <- c("Number of episodes", "Count of an episode: median, middle half, range")
  size <- .subset2(x, "size")
  sizes <- sort(unique(size))
  number <- tabulate(match(size, sizes))
  count <- split(as.double(.subset2(x, "count")), factor(size, sizes))
  spread <- data.frame(
    size = sizes, panel = factor(panels[[2L]], panels),
    t(vapply(count, stats::quantile, double(5), probs = c(0, 0.25, 0.5, 0.75, 1), type = 1,
             names = FALSE))
  )
  names(spread)[3:7] <- c("least", "lower", "median", "upper", "most")
  bars <- data.frame(size = sizes, number = number, label = commas_each(number),
                     panel = factor(panels[[1L]], panels))
  # A logarithmic scale has no zero: bars stand on a half, so that one episode shows.
  ggplot2::ggplot() +
    ggplot2::geom_rect(
      ggplot2::aes(xmin = .data$size - 0.35, xmax = .data$size + 0.35, ymin = 0.5,
                   ymax = .data$number),
      data = bars, fill = syn_colours[["sky"]]
    ) +
    ggplot2::geom_text(
      ggplot2::aes(x = .data$size, y = .data$number, label = .data$label), data = bars,
      vjust = -0.5, size = 3.2, colour = syn_ink
    ) +
    ggplot2::geom_linerange(
      ggplot2::aes(x = .data$size, ymin = .data$least, ymax = .data$most), data = spread,
      colour = syn_colours[["blue"]], linewidth = 0.5
    ) +
    ggplot2::geom_linerange(
      ggplot2::aes(x = .data$size, ymin = .data$lower, ymax = .data$upper), data = spread,
      colour = syn_colours[["blue"]], linewidth = 2.6
    ) +
    ggplot2::geom_point(
      ggplot2::aes(x = .data$size, y = .data$median), data = spread, shape = 21, size = 2.2,
      fill = "white", colour = syn_colours[["blue"]], stroke = 0.9
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 1, scales = "free_y") +
    ggplot2::scale_x_continuous(
      name = "Size (units in the episode)",
      breaks = \(limits) whole_breaks(limits, 20L), expand = ggplot2::expansion(add = 0.4)
    ) +
    ggplot2::scale_y_continuous(
      name = NULL, trans = "log10", breaks = log_breaks, labels = commas_each,
      expand = ggplot2::expansion(mult = c(0.02, 0.14))
    ) +
    theme_synfire() +
    ggplot2::theme(
      panel.grid.major.x = ggplot2::element_blank(),
      strip.text = ggplot2::element_text(size = ggplot2::rel(1.1), colour = syn_ink),
      panel.spacing.y = ggplot2::unit(5, "mm")
    )
}

#' Whole numbers within limits, at most about `most` of them
#' @noRd
whole_breaks <- function(limits, most) {
  first <- max(1, ceiling(limits[[1L]]))
  last <- floor(limits[[2L]])
  if (last < first) return(first)
  (first - 1) + thin(last - first + 1, most)
}

#' Powers of ten, and between them 2 and 5 where the range is short
#' @noRd
log_breaks <- function(limits) {
  decades <- log10(limits[[2L]] / limits[[1L]])
  tens <- 10^(floor(log10(limits[[1L]])):ceiling(log10(limits[[2L]])))
  breaks <- if (decades > 3) tens else sort(c(outer(c(1, 2, 5), tens)))
  breaks[breaks >= max(1, limits[[1L]]) & breaks <= limits[[2L]]]
}

# ---- Raster ------------------------------------------------------------------------

plot_episode_raster <- function(x, episodes, from, to, order, call) {
  found <- episode_occurrences(x, episodes)
  window <- dense_window(x, found, from, to, call)
  shown <- keep_time(x, window, call, "from, to")
  few <- nrow(shown) <= 30000L
  rows <- episode_rows(x, episodes, order, tall = few)
  inside <- found[found$start >= window[[1L]] & found$end <= window[[2L]], ]
  colours <- syn_palette(nrow(episodes))
  # Those of this recording, which need not be the one that was mined.
  episodes$count <- tabulate(match(found$episode, episodes$episode), nrow(episodes))
  labels <- chain_names(episodes, count = TRUE)
  paths <- occurrence_paths(inside, episodes, rows, labels)
  crowded <- nrow(inside) > 200L

  ggplot2::ggplot() +
    raster_trials(shown, sum(rows$height)) +
    (if (few) raster_background(shown, rows) else {
      raster_image(shown, rlang::set_names(rows$y, rows$unit), 1000)
    }) +
    ggplot2::geom_path(
      ggplot2::aes(x = .data$time, y = .data$row, group = .data$group,
                   colour = .data$episode),
      data = paths, linewidth = if (crowded) 0.25 else 0.55, alpha = 0.75,
      lineend = "round", show.legend = TRUE
    ) +
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$time, xend = .data$time, y = .data$row - .data$half,
                   yend = .data$row + .data$half, colour = .data$episode),
      data = paths, linewidth = if (crowded) 0.25 else 0.9, show.legend = FALSE
    ) +
    ggplot2::scale_colour_manual(
      name = NULL, values = rlang::set_names(colours, labels), limits = labels,
      drop = FALSE,
      guide = ggplot2::guide_legend(
        ncol = 1, override.aes = list(linewidth = 1.2, alpha = 1)
      )
    ) +
    theme_synfire() +
    episode_axes(shown, rows, episodes) +
    ggplot2::theme(
      panel.grid.major.y = ggplot2::element_blank(),
      axis.ticks.x.bottom = ggplot2::element_line(colour = syn_muted),
      axis.text.y = ggplot2::element_text(size = if (nrow(rows) <= 30L) 8 else 7),
      legend.position = "top", legend.justification = "left",
      legend.key.height = ggplot2::unit(4.5, "mm"),
      legend.margin = ggplot2::margin(0, 0, 0, 0)
    )
}

#' The stretch to draw: in seconds, whole ticks
#'
#' @param found Data frame `episode`, `start`, `end`; those of one do not nest.
#' @param spans How many times as long as what lasts longest, at least.
#' @param spikes So long that it has as many spikes, on average, at least.
#' @noRd
dense_window <- function(x, found, from, to, call, spans = 6, spikes = 50) {
  resolution <- attr(x, "resolution", exact = TRUE)
  bounds <- c(attr(x, "start", exact = TRUE), attr(x, "end", exact = TRUE))
  if (!is.null(from) && !is.null(to)) {
    if (from >= to) abort_arg("from", "before `to`", exact(from), call = call)
    return(c(from, to))
  }
  length <- bounds[[2L]] - bounds[[1L]]
  if (nrow(found) > 0L) {
    typical <- max(tapply(found$end - found$start, found$episode, stats::median))
    length <- max(min(length / 5, spikes * length / nrow(x)), spans * typical)
  } else if (nrow(x) > 0L) {
    length <- 250 * length / nrow(x)
  }
  length <- max(length, resolution)
  length <- min(length, bounds[[2L]] - bounds[[1L]])
  on_clock <- \(v) ticks_to_seconds(round_to_ticks(v, resolution), resolution)
  if (!is.null(from)) return(c(from, max(on_clock(from + length), from)))
  if (!is.null(to)) return(c(min(on_clock(to - length), to), to))

  # Occurrences of one episode do not nest, so their ends are sorted as well. The
  # square root prefers a stretch with several episodes to one full of a single one.
  score <- 0
  start <- sort(unique(found$start))
  margin <- 0.03 * length
  for (one in split(found[c("start", "end")], found$episode)) {
    ends <- findInterval(start + length - 2 * margin, sort(one$end))
    begun <- findInterval(start, sort(one$start), left.open = TRUE)
    score <- score + sqrt(pmax(0, ends - begun))
  }
  first <- if (length(start) > 0L) start[[which.max(score)]] - margin else bounds[[1L]]
  first <- min(max(first, bounds[[1L]]), bounds[[2L]] - length)
  window <- on_clock(c(first, first + length))
  c(max(window[[1L]], bounds[[1L]]), min(window[[2L]], bounds[[2L]]))
}

#' Rows of the units: those of the episodes from the top down, then the others
#'
#' Among many units those of the episodes get higher rows where `tall`, at most `highest`
#' times as high.
#' @return Data frame `unit`, in the order of the levels, `y` (middle), `height`.
#' @noRd
episode_rows <- function(x, episodes, order, tall, highest = 3) {
  names <- levels(.subset2(x, "unit"))
  first <- named_units(episodes)
  if (order != "episodes") {
    row <- unit_rows(x, order)
    return(data.frame(unit = names, y = unname(row), height = rep(1, length(row))))
  }
  from_top <- c(first, setdiff(names, first))
  height <- rep(1, length(from_top))
  if (tall && length(names) > 40L) {
    others <- length(names) - length(first)
    height[seq_along(first)] <- min(highest, max(1, 0.8 * others / length(first)))
  }
  y <- sum(height) + 0.5 - cumsum(height) + height / 2
  at <- match(names, from_top)
  data.frame(unit = names, y = y[at], height = height[at])
}

named_units <- function(episodes) {
  unique(as.character(unlist(.subset2(episodes, "units"), use.names = FALSE)))
}

#' Events of occurrences, in the order in which lines go through them
#' @noRd
occurrence_paths <- function(found, episodes, rows, labels) {
  which <- match(found$episode, .subset2(episodes, "episode"))
  units <- .subset2(episodes, "units")[which]
  n <- lengths(units)
  at <- match(as.character(unlist(units, use.names = FALSE)), rows$unit)
  data.frame(
    time = as.double(unlist(found$times, use.names = FALSE)),
    row = rows$y[at], half = 0.42 * rows$height[at],
    group = rep(seq_along(n), n),
    episode = factor(labels[rep(which, n)], labels)
  )
}

#' The axes of a raster; where units are too many, those of the episodes have names
#' @noRd
episode_axes <- function(x, rows, episodes, what = "episodes") {
  axes <- raster_axes(x, rlang::set_names(rows$y, rows$unit))
  if (nrow(rows) <= 40L) return(axes)
  named <- named_units(episodes)
  named <- named[thin(length(named), 40L)]
  is_x <- vapply(axes, \(part) inherits(part, "Scale") && "x" %in% part$aesthetics, TRUE)
  list(
    axes[is_x],
    ggplot2::scale_y_continuous(
      name = sprintf("Unit (%s, those of the %s named)", commas(nrow(rows)), what),
      breaks = rows$y[match(named, rows$unit)], labels = named,
      expand = ggplot2::expansion(add = 0.6)
    ),
    ggplot2::coord_cartesian(
      xlim = c(attr(x, "start", exact = TRUE), attr(x, "end", exact = TRUE)),
      ylim = c(0.5, sum(rows$height) + 0.5)
    )
  )
}

raster_background <- function(x, rows) {
  unit <- as.integer(.subset2(x, "unit"))
  y <- rows$y[unit]
  half <- 0.35 * rows$height[unit]
  marks <- data.frame(time = .subset2(x, "time"), low = y - half, high = y + half)
  ggplot2::geom_segment(
    ggplot2::aes(x = .data$time, xend = .data$time, y = .data$low, yend = .data$high),
    data = marks, colour = "#9AA1AB", linewidth = if (nrow(marks) <= 4000L) 0.4 else 0.2
  )
}

# ---- Lags and occurrences ----------------------------------------------------------

#' Plots of lags and occurrences
#'
#' For [episode_lags()]: a histogram for each step of an episode, over its delay interval.
#' For [episode_occurrences()]: a row for each occurrence, aligned to its first event, a
#' mark for each event.
#'
#' @param object,x What [episode_lags()] or [episode_occurrences()] gives.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param max_occurrences At most as many occurrences of an episode are drawn, taken
#'   at even steps.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' For an empty table, and where ggplot2 is not installed.
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' x <- simulate_sym26(duration = 10)
#' chain <- episode(c("A", "B", "C"), low = c(0, 0.005), high = c(0.005, 0.010))
#' plot(episode_lags(x, chain))
#' plot(episode_occurrences(x, chain))
#' @exportS3Method ggplot2::autoplot
autoplot.episode_lags <- function(object, ...) {
  rlang::check_installed("ggplot2", "to draw lags.")
  check_no_dots()
  check_table(object, c("episode", "edge", "from", "to", "lag_low", "lag_high", "count"),
              "episode_lags")
  if (nrow(object) == 0L || anyNA(object$episode)) {
    abort_arg("object", "a table with at least one step",
              if (nrow(object) == 0L) "empty" else "one with rows that are not there")
  }
  episodes <- unique(object$episode)
  key <- paste(match(object$episode, episodes), object$edge)
  panels <- unique(key)
  first <- match(panels, key)
  strip <- sprintf("%s > %s", object$from[first], object$to[first])
  bars <- data.frame(
    panel = factor(key, panels), low = 1000 * object$lag_low, high = 1000 * object$lag_high,
    count = object$count, episode = factor(object$episode, episodes)
  )
  size <- tapply(object$edge, object$episode, max)[episodes]
  labels <- lag_legend(object, episodes, first)
  # Episodes of one size stand under each other.
  columns <- if (length(episodes) > 1L && length(unique(size)) == 1L && size[[1L]] <= 6L) size[[1L]]
  ggplot2::ggplot(bars) +
    ggplot2::geom_rect(
      ggplot2::aes(xmin = .data$low, xmax = .data$high, ymin = 0, ymax = .data$count,
                   fill = .data$episode),
      colour = "white", linewidth = 0.15
    ) +
    ggplot2::facet_wrap(
      ggplot2::vars(.data$panel), scales = "free_x", ncol = columns,
      labeller = ggplot2::as_labeller(rlang::set_names(strip, panels))
    ) +
    ggplot2::scale_fill_manual(
      name = NULL, values = syn_palette(length(episodes)), labels = labels,
      guide = if (length(episodes) > 1L) ggplot2::guide_legend(ncol = 1) else "none"
    ) +
    ggplot2::scale_x_continuous(
      name = "Lag (ms)", n.breaks = 4, expand = ggplot2::expansion(mult = 0.01)
    ) +
    ggplot2::scale_y_continuous(
      name = "Occurrences", limits = c(0, NA), n.breaks = 4,
      expand = ggplot2::expansion(mult = c(0, 0.06))
    ) +
    theme_synfire() +
    ggplot2::theme(
      panel.grid.major.x = ggplot2::element_blank(),
      axis.ticks.x.bottom = ggplot2::element_line(colour = syn_muted),
      legend.position = "top", legend.justification = "left",
      legend.key.size = ggplot2::unit(3.5, "mm"), panel.spacing.x = ggplot2::unit(5, "mm")
    )
}

lag_legend <- function(lags, episodes, first) {
  steps <- split(first, factor(lags$episode[first], episodes))
  chain_names(list(units = lapply(steps, \(i) {
    c(as.character(lags$from[i[[1L]]]), as.character(lags$to[i]))
  })))
}

#' @rdname autoplot.episode_lags
#' @export
plot.episode_lags <- function(x, ...) draw(autoplot.episode_lags(x, ...))

#' @rdname autoplot.episode_lags
#' @exportS3Method ggplot2::autoplot
autoplot.episode_occurrences <- function(object, ..., max_occurrences = 200) {
  rlang::check_installed("ggplot2", "to draw occurrences.")
  check_no_dots()
  max_occurrences <- check_count(max_occurrences)
  check_table(object, c("episode", "times"), "episode_occurrences")
  if (nrow(object) == 0L || anyNA(object$episode)) {
    abort_arg("object", "a table with at least one occurrence",
              if (nrow(object) == 0L) "empty" else "one with rows that are not there")
  }
  episodes <- unique(object$episode)
  # Taking rows loses the attribute, not the name.
  asked <- attr(object, "episodes", exact = TRUE)
  units <- if (is.null(asked)) lapply(episodes, spell_units) else
    asked$units[match(episodes, asked$episode)]
  labels <- chain_names(list(units = units))
  parts <- lapply(seq_along(episodes), \(k) {
    own <- which(object$episode == episodes[[k]])
    own <- own[unique(round(seq(1, length(own), length.out = min(length(own), max_occurrences))))]
    n <- length(units[[k]])
    times <- matrix(unlist(object$times[own], use.names = FALSE), nrow = n)
    data.frame(
      lag = as.double(1000 * (times - rep(times[1L, ], each = n))),
      row = rep(seq_along(own), each = n), position = rep(seq_len(n), length(own)),
      episode = factor(labels[[k]], labels)
    )
  })
  events <- do.call(rbind, parts)
  middle <- stats::aggregate(lag ~ position + episode, events, stats::median)
  middle$unit <- unlist(units, use.names = FALSE)
  middle$row <- tapply(events$row, events$episode, max)[middle$episode]
  ggplot2::ggplot(events) +
    (if (max(events$row) > 60) {
      # Marks as high as a row could no longer be seen.
      ggplot2::geom_point(
        ggplot2::aes(x = .data$lag, y = .data$row, colour = factor(.data$position %% 4)),
        size = 0.7, shape = 16
      )
    } else {
      ggplot2::geom_segment(
        ggplot2::aes(x = .data$lag, xend = .data$lag, y = .data$row - 0.4,
                     yend = .data$row + 0.4, colour = factor(.data$position %% 4)),
        linewidth = 0.8
      )
    }) +
    ggplot2::geom_text(
      ggplot2::aes(x = .data$lag, y = .data$row, label = .data$unit,
                   colour = factor(.data$position %% 4)),
      data = middle, vjust = -0.9, size = 3, fontface = "bold"
    ) +
    # Four colours by turns keep neighbouring events apart at any size.
    ggplot2::scale_colour_manual(
      values = rlang::set_names(syn_palette(4L), c("1", "2", "3", "0")), guide = "none"
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$episode), scales = "free", ncol = 1) +
    ggplot2::scale_x_continuous(name = "Time since the first event (ms)",
                                expand = ggplot2::expansion(mult = 0.03)) +
    ggplot2::scale_y_continuous(
      name = "Occurrence", breaks = \(limits) {
        breaks <- pretty(limits, 4)
        breaks[breaks >= 1 & breaks == round(breaks) & breaks <= limits[[2L]]]
      },
      expand = ggplot2::expansion(mult = c(0.03, 0.14))
    ) +
    ggplot2::coord_cartesian(clip = "off") +
    theme_synfire() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank(),
                   axis.ticks.x.bottom = ggplot2::element_line(colour = syn_muted))
}

#' @rdname autoplot.episode_lags
#' @export
plot.episode_occurrences <- function(x, ...) draw(autoplot.episode_occurrences(x, ...))

#' The units of an episode written out
#' @noRd
spell_units <- function(episode) {
  strsplit(episode, " -\\([^]]*\\]-> ")[[1L]]
}
