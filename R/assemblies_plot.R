# Pictures of assemblies.

#' Pictures of assemblies
#'
#' * `type = "aligned"`: the spikes of the members around all activations of an assembly, one
#'   panel each. A member is a band, in the order of lags, and in it each activation is a line of
#'   dots, the first at the top; shaded is the member's window.
#' * `type = "raster"`: a stretch of the recording; spikes of members at activations are in the
#'   colour of the assembly, and all others grey.
#' * `type = "time"`: how many activations there are over the recording.
#'
#' @param object,x What [find_assemblies()] gave.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param type `"aligned"`, `"raster"` or `"time"`.
#' @param assemblies Numbers of the assemblies to draw, up to 12; by default the first six.
#' @param from,to For `"raster"`: the stretch to draw, in seconds; by default one with many
#'   activations.
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For arguments out of range (`synfire_error_argument`), where there is no assembly to draw, and
#' where ggplot2 is not installed.
#' @seealso [find_assemblies()].
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' x <- simulate_assemblies(duration = 60, units = 15, assemblies = c("synchrony", "sequence"),
#'                          size = 4, count = 60)
#' found <- find_assemblies(x, max_lag = 0.1, n_surrogates = 19, threads = 2)
#' plot(found)
#' plot(found, type = "raster")
#' @exportS3Method ggplot2::autoplot
autoplot.assemblies <- function(object, ..., type = c("aligned", "raster", "time"),
                                assemblies = NULL, from = NULL, to = NULL) {
  rlang::check_installed("ggplot2", "to draw assemblies.")
  check_no_dots()
  type <- check_choice(type)
  check_assemblies_table(object)
  rows <- drawn_assemblies(object, assemblies)
  if (type != "raster" && !(is.null(from) && is.null(to))) {
    abort_arg(if (is.null(from)) "to" else "from", "left out unless `type` is \"raster\"", "given")
  }
  switch(type, aligned = draw_aligned(object, rows), time = draw_activations(object, rows),
         raster = draw_assembly_raster(object, rows, from, to))
}

#' @rdname autoplot.assemblies
#' @export
plot.assemblies <- function(x, ...) {
  rlang::check_installed("ggplot2", "to draw assemblies.")
  draw(autoplot.assemblies(x, ...))
}

#' Rows to draw
#' @noRd
drawn_assemblies <- function(x, assemblies, call = rlang::caller_env()) {
  if (nrow(x) == 0L) {
    abort_arg("object", "a table with an assembly", "one without", call = call)
  }
  if (is.null(assemblies)) return(utils::head(seq_len(nrow(x)), 6L))
  ok <- is_plain_numeric(assemblies) && length(assemblies) %in% 1:12 &&
    !anyDuplicated(assemblies) && all(assemblies %in% x$assembly)
  if (!ok) {
    abort_arg("assemblies", "up to 12 numbers from the column `assembly`", describe(assemblies),
              call = call)
  }
  match(assemblies, x$assembly)
}

assembly_label_levels <- function(x, rows) {
  vapply(rows, \(row) {
    sprintf("Assembly %d (%s)", x$assembly[[row]], counted(x$count[[row]], "activation"))
  }, "")
}

# ---- Aligned -------------------------------------------------------------------------

#' Spikes of the members around the activations of one assembly, at most some thousands
#'
#' @return Data frame `lag` (ms), `y`, from 1 (first activation) to 0 in each member's band.
#' @noRd
aligned_spikes <- function(x, row, most = 400L) {
  recording <- attr(x, "recording")
  lags <- x$lags[[row]]
  widths <- x$widths[[row]]
  margin <- max(2 * max(widths), 0.4 * (max(lags) + max(widths)))
  range <- c(min(lags - widths / 2) - margin, max(lags + widths / 2) + margin)
  times <- x$times[[row]]
  which <- if (length(times) > most) round(seq(1, length(times), length.out = most)) else
    seq_along(times)
  size <- x$size[[row]]
  parts <- lapply(seq_len(size), \(m) {
    own <- recording$time[as.character(recording$unit) == x$units[[row]][[m]]]
    first <- findInterval(times[which] + range[[1L]], own, left.open = TRUE)
    last <- findInterval(times[which] + range[[2L]], own)
    n <- last - first
    at <- sequence(n, first + 1L)
    k <- rep(seq_along(which), n)
    lag <- own[at] - times[which][k]
    data.frame(lag = lag * 1e3, y = size - m + 0.95 - 0.9 * (k - 0.5) / length(which),
               inside = abs(lag - lags[[m]]) <= widths[[m]] / 2)
  })
  do.call(rbind, parts)
}

draw_aligned <- function(x, rows) {
  labels <- assembly_label_levels(x, rows)
  as_panel <- \(k) factor(labels[[k]], labels)
  dots <- do.call(rbind, lapply(seq_along(rows), \(k) {
    cbind(aligned_spikes(x, rows[[k]]), panel = as_panel(k))
  }))
  bands <- do.call(rbind, lapply(seq_along(rows), \(k) {
    row <- rows[[k]]
    data.frame(low = (x$lags[[row]] - x$widths[[row]] / 2) * 1e3,
               high = (x$lags[[row]] + x$widths[[row]] / 2) * 1e3,
               y = x$size[[row]] - seq_len(x$size[[row]]), unit = x$units[[row]],
               panel = as_panel(k))
  }))
  ggplot2::ggplot(dots) +
    ggplot2::geom_rect(ggplot2::aes(xmin = .data$low, xmax = .data$high, ymin = .data$y,
                                    ymax = .data$y + 1), data = bands, fill = syn_band_strong) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = .data$y), data = bands, colour = syn_grid) +
    ggplot2::geom_point(ggplot2::aes(x = .data$lag, y = .data$y, colour = .data$inside),
                        shape = 16, size = 0.45) +
    ggplot2::geom_text(ggplot2::aes(x = -Inf, y = .data$y + 0.5, label = .data$unit),
                       data = bands, hjust = -0.1, size = 3, colour = syn_ink) +
    ggplot2::scale_colour_manual(values = c(`FALSE` = syn_muted, `TRUE` = syn_colours[["blue"]]),
                                 guide = "none") +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = c(0.16, 0.02))) +
    ggplot2::facet_wrap(~panel, scales = "free") +
    ggplot2::labs(x = "Time from the activation (ms)", y = NULL) +
    theme_synfire() +
    ggplot2::theme(axis.text.y = ggplot2::element_blank(),
                   panel.grid.major.y = ggplot2::element_blank()) +
    caption("A band is a member, a line of dots in it an activation, the first at the top.",
            "Shaded: the window in which the member counts.")
}

# ---- Over time -----------------------------------------------------------------------

draw_activations <- function(x, rows) {
  labels <- assembly_label_levels(x, rows)
  recording <- attr(x, "recording")
  bounds <- c(attr(recording, "start"), attr(recording, "end"))
  dots <- do.call(rbind, lapply(seq_along(rows), \(k) {
    data.frame(time = x$times[[rows[[k]]]], panel = rep(factor(labels[[k]], labels),
                                                        x$count[[rows[[k]]]]))
  }))
  ggplot2::ggplot(dots, ggplot2::aes(x = .data$time)) +
    ggplot2::geom_histogram(breaks = seq(bounds[[1L]], bounds[[2L]], length.out = 61),
                            fill = syn_colours[["blue"]]) +
    ggplot2::facet_wrap(~panel, ncol = 1, scales = "free_y") +
    ggplot2::labs(x = "Time (s)",
                  y = sprintf("Activations in %s", duration_text(diff(bounds) / 60))) +
    theme_synfire()
}

# ---- Raster --------------------------------------------------------------------------

#' Spikes of members at activations: data frame `unit`, `time`, `panel`
#' @noRd
spikes_of_activations <- function(x, rows, labels, from, to) {
  recording <- attr(x, "recording")
  unit <- as.character(recording$unit)
  do.call(rbind, lapply(seq_along(rows), \(k) {
    row <- rows[[k]]
    times <- x$times[[row]]
    times <- times[times >= from - 2 & times <= to + 2]
    do.call(rbind, lapply(seq_len(x$size[[row]]), \(m) {
      own <- recording$time[unit == x$units[[row]][[m]]]
      middle <- times + x$lags[[row]][[m]]
      half <- x$widths[[row]][[m]] / 2
      own <- own[own >= from & own <= to]
      near <- vapply(own, \(t) any(abs(t - middle) <= half), NA)
      data.frame(unit = rep(x$units[[row]][[m]], sum(near)), time = own[near],
                 panel = rep(labels[[k]], sum(near)))
    }))
  }))
}

draw_assembly_raster <- function(x, rows, from, to, call = rlang::caller_env()) {
  recording <- attr(x, "recording")
  found <- do.call(rbind, lapply(rows, \(row) {
    data.frame(episode = rep(row, x$count[[row]]),
               start = x$times[[row]],
               end = x$times[[row]] + max(x$lags[[row]] + x$widths[[row]]))
  }))
  for (arg in c("from", "to")) {
    if (!is.null(get(arg))) check_number(get(arg), arg, call = call)
  }
  window <- dense_window(recording, found, from, to, call, spans = 12, spikes = 600)
  labels <- sprintf("Assembly %d", x$assembly[rows])
  order <- unique(c(unlist(x$units[rows]), levels(recording$unit)))
  shown <- recording$time >= window[[1L]] & recording$time <= window[[2L]]
  all <- data.frame(time = recording$time[shown],
                    unit = factor(as.character(recording$unit[shown]), rev(order)))
  own <- spikes_of_activations(x, rows, labels, window[[1L]], window[[2L]])
  own$unit <- factor(own$unit, rev(order))
  few <- length(order) <= 60L
  ggplot2::ggplot(all, ggplot2::aes(x = .data$time, y = .data$unit)) +
    ggplot2::geom_point(shape = 124, size = if (few) 1.6 else 0.8, colour = "#B6BBC4") +
    ggplot2::geom_point(ggplot2::aes(colour = .data$panel), data = own, shape = 124,
                        size = if (few) 3 else 1.6) +
    ggplot2::scale_y_discrete(drop = FALSE, breaks = if (few) order else NULL) +
    ggplot2::scale_colour_manual(name = NULL, limits = labels,
                                 values = rlang::set_names(syn_palette(length(rows)), labels)) +
    ggplot2::labs(x = "Time (s)", y = NULL) +
    theme_synfire() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank(),
                   axis.text.y = ggplot2::element_text(size = 7), legend.position = "top",
                   legend.justification = "left") +
    caption("In colour: spikes of members in their windows at activations.")
}
