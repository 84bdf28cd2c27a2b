# Spikes of the members of assemblies lined up at the activations.

#' Spikes of the members around the activations of one assembly
#'
#' @return Data frame `lag` (ms), `y`, from 1 (first activation) to 0 in each member's band,
#'   `inside` its window.
#' @noRd
aligned_spikes <- function(x, row, most = 400L) {
  lags <- x$lags[[row]]
  widths <- x$widths[[row]]
  range <- aligned_range(x, row)
  which <- even_steps(x$count[[row]], most)
  dots <- spikes_around(x, row, range[[1L]], range[[2L]], which)
  place <- (match(dots$activation, which) - 0.5) / max(1, length(which))
  data.frame(lag = dots$lag * 1e3, y = x$size[[row]] - dots$member + 0.95 - 0.9 * place,
             inside = in_window(dots$lag, lags[dots$member], widths[dots$member]))
}

#' From when to when around an activation spikes are shown, in seconds
#' @noRd
aligned_range <- function(x, row) {
  lags <- x$lags[[row]]
  half <- x$widths[[row]] / 2
  margin <- max(4 * max(half), 0.4 * (max(lags) + 2 * max(half)))
  c(min(lags - half) - margin, max(lags + half) + margin)
}

#' A band for each member of the assemblies, in the order of lags, with its window
#' @noRd
member_bands <- function(x, rows, labels) {
  panels_of(rows, labels, \(row, k) {
    data.frame(low = (x$lags[[row]] - x$widths[[row]] / 2) * 1e3,
               high = (x$lags[[row]] + x$widths[[row]] / 2) * 1e3,
               y = x$size[[row]] - seq_len(x$size[[row]]), unit = short_names(x$units[[row]]))
  })
}

draw_aligned <- function(x, rows) {
  labels <- assembly_label_levels(x, rows)
  dots <- panels_of(rows, labels, \(row, k) aligned_spikes(x, row))
  bands <- member_bands(x, rows, labels)
  # Also where no spike lies outside of the windows.
  reach <- data.frame(lag = 1e3 * unlist(lapply(rows, \(row) aligned_range(x, row))),
                      panel = factor(rep(labels, each = 2L), labels))
  size <- min(1.2, max(0.45, 25 / max(x$count[rows])))
  ggplot2::ggplot(dots) +
    band_layers(bands) +
    ggplot2::geom_blank(aes_from(x = "lag"), data = reach) +
    ggplot2::geom_point(aes_from(x = "lag", y = "y"), colour = "#9AA1AB",
                        data = dots[!dots$inside, ], shape = 16, size = size) +
    ggplot2::geom_point(aes_from(x = "lag", y = "y", colour = "panel"),
                        data = dots[dots$inside, ], shape = 16, size = 1.2 * size) +
    assembly_scale(x, rows, labels, guide = "none") +
    band_names(bands) +
    caption("A band is a member, a line of dots in it an activation, the first at the top.",
            "Shaded: the window in which the member counts.", left_out_text(x, rows))
}

#' Windows of members, and lines between their bands
#' @noRd
band_layers <- function(bands) {
  list(ggplot2::geom_rect(ggplot2::aes(xmin = .data$low, xmax = .data$high, ymin = .data$y,
                                       ymax = .data$y + 1), data = bands, fill = syn_band_strong),
       ggplot2::geom_hline(aes_from(yintercept = "y"), data = bands, colour = syn_grid))
}

#' Names of members in their bands, panels and axes
#'
#' @param right Share of the width to leave free on the right.
#' @noRd
band_names <- function(bands, right = 0.02) {
  # Names share a panel with the dots: its width is 7 inches by the number of panels in a row.
  columns <- ggplot2::wrap_dims(nlevels(bands$panel))[[2L]]
  left <- min(0.5, (0.15 + 0.075 * max(nchar(bands$unit))) * columns / 7)
  list(ggplot2::geom_text(ggplot2::aes(x = -Inf, y = .data$y + 0.5, label = .data$unit),
                          data = bands, hjust = -0.1, size = 3, colour = syn_ink),
       ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = c(left / (1 - left),
                                                                        right))),
       ggplot2::facet_wrap(~panel, scales = "free"),
       ggplot2::labs(x = "Time from the activation (ms)", y = NULL), theme_synfire(),
       ggplot2::theme(axis.text.y = ggplot2::element_blank(),
                      axis.ticks.y = ggplot2::element_blank(),
                      # Room for the last number of the axis.
                      plot.margin = ggplot2::margin(5.5, 18, 5.5, 5.5),
                      panel.grid.major.y = ggplot2::element_blank()))
}
