# A stretch of a recording, with the spikes of assemblies in colour.

#' Spikes of members in their windows at the activations that reach into a stretch
#'
#' @return Data frame `unit`, `time`, `assembly` (its label) and `group`, the same for the spikes
#'   of an activation, which are next to each other in the order of lags.
#' @noRd
spikes_of_activations <- function(x, rows, labels, window) {
  parts <- lapply(seq_along(rows), \(k) {
    row <- rows[[k]]
    lags <- x$lags[[row]]
    half <- x$widths[[row]] / 2
    times <- x$times[[row]]
    reach <- max(lags + half)
    which <- which(times >= window[[1L]] - reach & times <= window[[2L]] + max(half))
    spikes <- spikes_around(x, row, lags - half, lags + half, which)
    spikes <- spikes[spikes$time >= window[[1L]] & spikes$time <= window[[2L]], ]
    spikes <- spikes[order(spikes$activation, spikes$member, spikes$time), ]
    data.frame(unit = x$units[[row]][spikes$member], time = spikes$time,
               assembly = rep(labels[[k]], nrow(spikes)),
               group = if (nrow(spikes)) paste(k, spikes$activation) else character())
  })
  do.call(rbind, parts)
}

#' The stretch to draw where none was asked for: some activations of each assembly, as far as
#' spikes can be told apart
#' @noRd
raster_stretch <- function(x, rows, from, to) {
  recording <- attr(x, "recording", exact = TRUE)
  reach <- vapply(rows, \(row) max(x$lags[[row]] + x$widths[[row]]), 0)
  found <- do.call(rbind, lapply(seq_along(rows), \(k) {
    row <- rows[[k]]
    data.frame(episode = rep(row, x$count[[row]]), start = x$times[[row]],
               end = x$times[[row]] + reach[[k]])
  }))
  seconds <- sum(lengths_of_trials(recording))
  # About ten activations, if no unit has many spikes in that time.
  wanted <- 10 * seconds / nrow(found)
  spikes <- min(wanted * nrow(recording) / seconds, 40 * nlevels(recording$unit))
  dense_window(recording, found, from, to, spans = 6, spikes = spikes)
}

draw_assembly_raster <- function(x, rows, from, to) {
  recording <- attr(x, "recording", exact = TRUE)
  window <- raster_stretch(x, rows, from, to)
  all_units <- nlevels(recording$unit)
  drawn <- x[rows, ]
  shown <- keep_time(keep_drawn(recording, units_of_chains(drawn), NULL, "episodes"),
                     window, arg = "from, to")
  few <- nrow(shown) <= 30000L
  heights <- episode_rows(shown, drawn, "episodes", tall = few)
  labels <- assembly_names(x, rows)
  own <- spikes_of_activations(x, rows, labels, window)
  at <- match(own$unit, heights$unit)
  own$y <- heights$y[at]
  own$half <- 0.42 * heights$height[at]
  strip <- activation_strip(own, labels, sum(heights$height))
  ggplot2::ggplot() +
    found_background(shown, heights, few) +
    ggplot2::geom_segment(ggplot2::aes(x = .data$time, xend = .data$time,
                                       y = .data$y - .data$half, yend = .data$y + .data$half,
                                       colour = .data$assembly), data = own, linewidth = 0.9) +
    ggplot2::geom_segment(aes_from(x = "from", xend = "to", y = "y", yend = "y",
                                   colour = "assembly"), data = strip$activations,
                          linewidth = 1.8, lineend = "square") +
    assembly_scale(x, rows, labels, guide = "none") +
    theme_synfire() +
    found_theme(heights) +
    ggplot2::theme(axis.text.y = ggplot2::element_text(size = 6.5)) +
    assembly_raster_axes(shown, heights, drawn, all_units, strip$rows) +
    caption("In colour: spikes of members in their windows at activations.",
            "On top: from the first to the last of them.", left_out_text(x, rows))
}

#' A row for each assembly above those of the units, with its activations
#'
#' @param own What spikes_of_activations() gives.
#' @param top Height of all units together.
#' @return `rows`: data frame `label`, `y`; `activations`: `assembly`, `from`, `to`, `y`.
#' @noRd
activation_strip <- function(own, labels, top) {
  step <- max(1, 0.035 * top)
  y <- top + 0.5 + step * (rev(seq_along(labels)) + 0.2)
  first <- !duplicated(own$group)
  activations <- data.frame(
    assembly = own$assembly[first],
    from = as.double(tapply(own$time, factor(own$group, own$group[first]), min)),
    to = as.double(tapply(own$time, factor(own$group, own$group[first]), max)),
    y = y[match(own$assembly[first], labels)]
  )
  list(rows = data.frame(label = labels, y = y), activations = activations)
}

#' The axes of rasters, with the names of the members, of few units all names, and those of the
#' assemblies
#' @noRd
assembly_raster_axes <- function(shown, heights, drawn, all_units, strip) {
  axes <- raster_axes(shown, rlang::set_names(heights$y, heights$unit))
  members <- units_of_chains(drawn)
  named <- if (all_units <= 40L) heights$unit else members[thin(length(members), 40L)]
  named_axes(shown, axes, units_title(all_units, nrow(heights), length(members), "assemblies"),
             c(heights$y[match(named, heights$unit)], strip$y), c(short_names(named), strip$label),
             max(strip$y), guide = ggplot2::guide_axis(check.overlap = TRUE))
}
