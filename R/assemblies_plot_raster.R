# A stretch of a recording, with the spikes of assemblies in colour.

#' Spikes of members in their windows at the activations that reach into a stretch
#'
#' @return Data frame `unit`, `time`, `assembly` (its label) and `group`, which is the same for
#'   the spikes of an activation; those of one in the order of lags.
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
               number = rep(x$assembly[[row]], nrow(spikes)),
               group = if (nrow(spikes)) paste(k, spikes$activation) else character())
  })
  do.call(rbind, parts)
}

#' The stretch to draw where none was asked for: some activations of each assembly, as far as
#' spikes can be told apart
#' @noRd
raster_stretch <- function(x, rows, from, to, call) {
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
  dense_window(recording, found, from, to, call, spans = 6, spikes = spikes)
}

draw_assembly_raster <- function(x, rows, from, to, call) {
  recording <- attr(x, "recording", exact = TRUE)
  window <- raster_stretch(x, rows, from, to, call)
  all_units <- nlevels(recording$unit)
  drawn <- x[rows, ]
  shown <- keep_time(keep_drawn(recording, units_of_chains(drawn), NULL, "episodes", call),
                     window, call, "from, to")
  few <- nrow(shown) <= 30000L
  heights <- episode_rows(shown, drawn, "episodes", tall = few)
  labels <- assembly_names(x, rows)
  own <- spikes_of_activations(x, rows, labels, window)
  at <- match(own$unit, heights$unit)
  own$y <- heights$y[at]
  own$half <- 0.42 * heights$height[at]
  top <- sum(heights$height) + 0.5
  ggplot2::ggplot() +
    found_background(shown, heights, few) +
    ggplot2::geom_path(
      ggplot2::aes(x = .data$time, y = .data$y, group = .data$group, colour = .data$assembly),
      data = own, linewidth = 0.3, alpha = 0.5
    ) +
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$time, xend = .data$time, y = .data$y - .data$half,
                   yend = .data$y + .data$half, colour = .data$assembly),
      data = own, linewidth = 0.9, show.legend = TRUE
    ) +
    ggplot2::geom_text(
      ggplot2::aes(x = .data$time, y = top + 0.02 * top, label = .data$number,
                   colour = .data$assembly),
      data = own[!duplicated(own$group), ], size = 3, vjust = 0, check_overlap = TRUE,
      show.legend = FALSE
    ) +
    assembly_scale(x, rows, labels, name = NULL, drop = FALSE,
                   guide = ggplot2::guide_legend(override.aes = list(linewidth = 1.4,
                                                                     alpha = 1))) +
    theme_synfire() +
    assembly_raster_axes(shown, heights, drawn, all_units, top) +
    found_theme(heights) +
    caption("In colour: spikes of members in their windows at activations, joined in the order",
            "of lags. Above each activation: the number of the assembly.")
}

#' The axes of rasters of episodes, with room for the numbers above
#' @noRd
assembly_raster_axes <- function(shown, heights, drawn, all_units, top) {
  axes <- episode_axes(shown, heights, drawn, all_units, "assemblies")
  keep <- vapply(axes, \(part) !inherits(part, "Coord"), NA)
  list(axes[keep], ggplot2::coord_cartesian(
    xlim = c(attr(shown, "start", exact = TRUE), attr(shown, "end", exact = TRUE)),
    ylim = c(0.5, top * 1.07)
  ))
}
