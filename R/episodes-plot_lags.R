# How exact episodes are in time: their lags, and their occurrences one below the other.

#' Plots of lags and occurrences
#'
#' For [episode_lags()]: a histogram for each step of an episode, over its delay interval.
#' For [episode_occurrences()]: a row for each occurrence, aligned to its first event, a
#' mark for each event. Both draw the first six episodes, and say below how many there are.
#'
#' @param object What [episode_lags()] or [episode_occurrences()] gives.
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
  check_no_dots(draws = "lags")
  check_table(object, c("episode", "edge", "from", "to", "lag_low", "lag_high", "count"),
              "episode_lags")
  refuse_if(anyNA(object$episode), "object", "a table of steps",
            "one with rows that are not there")
  if (nrow(object) == 0L) return(empty_picture("There is no step", "no lag"))
  all_episodes <- unique(object$episode)
  episodes <- utils::head(all_episodes, most_drawn_chains)
  object <- object[object$episode %in% episodes, ]
  key <- paste(match(object$episode, episodes), object$edge)
  panels <- unique(key)
  first <- match(panels, key)
  steps <- short_members(list(object$from[first], object$to[first]))
  strip <- paste(steps[[1L]], steps[[2L]], sep = " > ")
  bars <- data.frame(panel = factor(key, panels), low = 1000 * object$lag_low,
                     high = 1000 * object$lag_high, count = object$count,
                     episode = factor(object$episode, episodes))
  size <- tapply(object$edge, object$episode, max)[episodes]
  units <- lapply(split(first, factor(object$episode[first], episodes)), \(i) {
    c(as.character(object$from[i[[1L]]]), as.character(object$to[i]))
  })
  # Episodes of one size stand under each other.
  alike <- length(episodes) > 1L && length(unique(size)) == 1L
  columns <- if (alike && size[[1L]] > 1L && size[[1L]] <= 6L) size[[1L]]
  ggplot2::ggplot(bars) +
    ggplot2::geom_rect(ggplot2::aes(xmin = .data$low, xmax = .data$high, ymin = 0,
                                    ymax = .data$count, fill = .data$episode), colour = "white",
                       linewidth = 0.15) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free_x", ncol = columns,
                        labeller = ggplot2::as_labeller(rlang::set_names(strip, panels))) +
    ggplot2::scale_fill_manual(
      name = NULL, values = syn_palette(length(episodes)),
      labels = chain_names(list(units = units)),
      # A panel is a chain of two units by itself.
      guide = if (length(panels) > length(episodes) && length(episodes) > 1L) {
        ggplot2::guide_legend(ncol = 1)
      } else "none"
    ) +
    ggplot2::scale_x_continuous(name = "Lag (ms)", n.breaks = 4,
                                expand = ggplot2::expansion(mult = 0.01)) +
    ggplot2::scale_y_continuous(name = "Occurrences", limits = c(0, NA),
                                breaks = whole_numbers,
                                expand = ggplot2::expansion(mult = c(0, 0.06))) +
    theme_histogram() +
    legend_on_top(legend.key.size = ggplot2::unit(3.5, "mm"),
                  panel.spacing.x = ggplot2::unit(5, "mm"),
                  # Half of the last number on the axis.
                  plot.margin = ggplot2::margin(5.5, 11, 5.5, 5.5)) +
    first_chains_caption(episodes, all_episodes)
}

# Episodes whose lags or occurrences a picture shows.
most_drawn_chains <- 6L

first_chains_caption <- function(drawn, all) {
  if (length(drawn) < length(all)) {
    caption(sprintf("The first %d of %s.", length(drawn), counted(length(all), "episode")))
  }
}

#' @rdname autoplot.episode_lags
#' @exportS3Method ggplot2::autoplot
autoplot.episode_occurrences <- function(object, ..., max_occurrences = 200) {
  check_no_dots(draws = "occurrences")
  max_occurrences <- check_count(max_occurrences)
  check_table(object, c("episode", "times"), "episode_occurrences")
  refuse_if(anyNA(object$episode), "object", "a table of occurrences",
            "one with rows that are not there")
  if (nrow(object) == 0L) return(empty_picture("There is no occurrence", "nothing"))
  all_episodes <- unique(object$episode)
  episodes <- utils::head(all_episodes, most_drawn_chains)
  # Taking rows loses the attribute, not the name.
  asked <- attr(object, "episodes", exact = TRUE)
  units <- if (is.null(asked)) lapply(episodes, spell_units) else
    asked$units[match(episodes, asked$episode)]
  labels <- chain_names(list(units = units))
  parts <- lapply(seq_along(episodes), \(k) {
    own <- which(object$episode == episodes[[k]])
    own <- own[even_steps(length(own), max_occurrences)]
    n <- length(units[[k]])
    times <- matrix(unlist(object$times[own], use.names = FALSE), nrow = n)
    data.frame(lag = as.double(1000 * (times - rep(times[1L, ], each = n))),
               row = rep(seq_along(own), each = n), position = rep(seq_len(n), length(own)),
               episode = factor(labels[[k]], labels))
  })
  events <- do.call(rbind, parts)
  middle <- stats::aggregate(lag ~ position + episode, events, stats::median)
  middle$unit <- unlist(short_members(units))
  middle$row <- tapply(events$row, events$episode, max)[middle$episode]
  ggplot2::ggplot(events, ggplot2::aes(x = .data$lag, y = .data$row,
                                       colour = factor(.data$position %% 4))) +
    (if (max(events$row) > 60) {
      # Marks as high as a row could no longer be seen.
      ggplot2::geom_point(size = 0.7, shape = 16)
    } else {
      ggplot2::geom_segment(ggplot2::aes(xend = .data$lag, y = .data$row - 0.4,
                                         yend = .data$row + 0.4), linewidth = 0.8)
    }) +
    ggplot2::geom_text(aes_from(label = "unit"), data = middle, vjust = -0.9, size = 3,
                       fontface = "bold", check_overlap = TRUE) +
    # Four colours by turns keep neighbouring events apart at any size.
    ggplot2::scale_colour_manual(
      values = rlang::set_names(syn_palette(4L), c("1", "2", "3", "0")), guide = "none"
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$episode), scales = "free", ncol = 1) +
    ggplot2::scale_x_continuous(name = "Time since the first event (ms)",
                                expand = ggplot2::expansion(mult = 0.03)) +
    ggplot2::scale_y_continuous(name = "Occurrence",
                                breaks = counting_breaks(if (length(episodes) > 3L) 2 else 4),
                                # Names of units need as much room above low panels.
                                expand = ggplot2::expansion(
                                  mult = c(0.03, 0.14 * max(1, 0.6 * length(episodes)))
                                )) +
    ggplot2::coord_cartesian(clip = "off") +
    theme_synfire() +
    first_chains_caption(episodes, all_episodes) +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank(),
                   # Names of first units are on the left.
                   strip.text = ggplot2::element_text(hjust = 1),
                   axis.ticks.x.bottom = ggplot2::element_line(colour = syn_muted))
}
