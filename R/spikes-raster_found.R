# Rasters that show where chains, patterns or assemblies were found in a recording.

#' The recording, over which rasters draw what was found in it
#' @noRd
found_background <- function(shown, rows, few) {
  list(raster_trials(shown, sum(rows$height)),
       if (few) raster_background(shown, rows) else
         raster_image(shown, rlang::set_names(rows$y, rows$unit), 1000))
}

#' A stretch of a recording, over which what was found in it is drawn
#'
#' @param found Data frame with the `start` and `end` of each occurrence.
#' @param named Its `units`, a vector for each chain or pattern, get the upper rows.
#' @param window The stretch, in seconds.
#' @param layers Function of the rows of the units, of the occurrences inside the window, and of
#'   whether these are many, that gives the layers to draw over the spikes.
#' @noRd
found_raster <- function(x, found, named, window, order, others, layers,
                         what = "episodes", highest = 3) {
  all_units <- nlevels(.subset2(x, "unit"))
  x <- keep_drawn(x, units_of_chains(named), others, order)
  shown <- keep_time(x, window, arg = "from, to")
  few <- nrow(shown) <= 30000L
  rows <- episode_rows(x, named, order, tall = few, highest = highest)
  inside <- found[found$start >= window[[1L]] & found$end <= window[[2L]], ]
  ggplot2::ggplot() +
    found_background(shown, rows, few) +
    layers(rows, inside, nrow(inside) > 200L) +
    theme_synfire() +
    episode_axes(shown, rows, named, all_units, what) +
    found_theme(rows)
}

#' A colour for each label, and a legend with a line for each
#' @noRd
found_colours <- function(labels, name = NULL) {
  ggplot2::scale_colour_manual(
    name = name, values = named_palette(labels), limits = labels, drop = FALSE,
    guide = ggplot2::guide_legend(ncol = 1, title.position = if (!is.null(name)) "top",
                                  override.aes = list(linewidth = 1.2, alpha = 1))
  )
}

#' What these rasters add to the theme of all pictures
#' @noRd
found_theme <- function(rows) {
  ggplot2::theme(panel.grid.major.y = ggplot2::element_blank(),
                 axis.ticks.x.bottom = ggplot2::element_line(colour = syn_muted),
                 axis.text.y = ggplot2::element_text(size = if (nrow(rows) <= 30L) 8 else 7),
                 legend.position = "top", legend.justification = "left",
                 legend.key.height = ggplot2::unit(4.5, "mm"),
                 legend.margin = ggplot2::margin(0, 0, 0, 0))
}

#' The stretch to draw: in seconds, whole ticks
#'
#' @param found Data frame `episode`, `start`, `end`; those of one do not nest.
#' @param spans How many times as long as what lasts longest, at least.
#' @param spikes So long that it has as many spikes, on average, at least.
#' @noRd
dense_window <- function(x, found, from, to, spans = 6, spikes = 50) {
  resolution <- attr(x, "resolution", exact = TRUE)
  bounds <- interval_seconds(x)
  if (!is.null(from) && !is.null(to)) {
    if (from >= to) abort_arg("from", "before `to`", exact(from))
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
  first <- units_of_chains(episodes)
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

units_of_chains <- function(episodes) {
  unique(as.character(unlist(.subset2(episodes, "units"), use.names = FALSE)))
}

#' The axes of a raster; where units are too many, those of the episodes have names
#'
#' @param all_units How many units the recording has, of which some may be drawn.
#' @noRd
episode_axes <- function(x, rows, episodes, all_units, what = "episodes") {
  axes <- raster_axes(x, rlang::set_names(rows$y, rows$unit))
  if (nrow(rows) <= 40L && nrow(rows) == all_units) return(axes)
  named <- units_of_chains(episodes)
  title <- units_title(all_units, nrow(rows), length(named), what)
  named <- named[thin(length(named), 40L)]
  named_axes(x, axes, title, rows$y[match(named, rows$unit)], named, sum(rows$height) + 0.5)
}

#' The time axis of a raster, and beside it some names
#'
#' @param axes What `raster_axes()` gives.
#' @param ... For `scale_y_continuous()`.
#' @noRd
named_axes <- function(x, axes, title, places, names, top, ...) {
  is_x <- vapply(axes, \(part) inherits(part, "Scale") && "x" %in% part$aesthetics, NA)
  list(axes[is_x],
       ggplot2::scale_y_continuous(name = title, breaks = places, labels = short_names(names),
                                   expand = ggplot2::expansion(add = 0.6), ...),
       ggplot2::coord_cartesian(ylim = c(0.5, top), xlim = interval_seconds(x)))
}

raster_background <- function(x, rows) {
  unit <- as.integer(.subset2(x, "unit"))
  y <- rows$y[unit]
  half <- 0.35 * rows$height[unit]
  marks <- data.frame(time = .subset2(x, "time"), low = y - half, high = y + half)
  time_marks(marks, colour = "#9AA1AB", linewidth = if (nrow(marks) <= 4000L) 0.4 else 0.2)
}

# ---- Names of chains and patterns ------------------------------------------------------

#' Words as one text, without those in the middle where they are more than `most`
#'
#' @param first How many are kept before the gap; after it is the last one.
#' @noRd
cut_middle <- function(words, most, first, sep) {
  n <- length(words)
  paste(if (n > most) c(words[seq_len(first)], "...", words[[n]]) else words, collapse = sep)
}

#' Names with their numbers where several are equal
#' @noRd
told_apart <- function(names) {
  twice <- names %in% names[duplicated(names)]
  names[twice] <- paste0(names[twice], " #", seq_along(names)[twice])
  names
}
