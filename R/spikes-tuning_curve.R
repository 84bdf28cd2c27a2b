# Tuning curves: how fast units fire by the value of a behaviour, such as a place or a speed.

#' Tuning curves
#'
#' The rate of each unit by the value of a behaviour: spikes in each range of values, divided by
#' the time for which the behaviour was in that range (the occupancy).
#'
#' A value holds from its time until that of the next value, but at most for `max_gap`, as a
#' behaviour that was not tracked for a while is not known. The last value holds as long as the
#' median time between values. Time outside of the recording, or between trials, does not count,
#' nor does that in which the value is missing or outside of `breaks`. All of this is computed in
#' ticks of the recording's clock, to which the times of values are rounded.
#'
#' Range k goes from `breaks[k]` to just below `breaks[k + 1]`; the last one also has its end.
#'
#' With `sigma` both spikes and time are weighted by a Gaussian of the distance between the middles
#' of ranges, before they are divided. Ranges in which the behaviour never was have no rate.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param behaviour A data frame with a column `time`, in seconds on the clock of the recording,
#'   increasing, and one numeric column with the value from then on, under any name; `NA` where it
#'   is not known.
#' @param breaks How many ranges of equal width from the smallest to the largest value, or the
#'   increasing ends of ranges.
#' @param sigma Standard deviation of the Gaussian, in the unit of the value; `NULL` for no
#'   smoothing.
#' @param max_gap Longest time for which a value holds, in seconds; by default ten times the
#'   median time between values.
#' @return A data frame of class `tuning_curve` with a row for each range of each unit and the
#'   columns `unit` (factor), `from`, `to` (of the range, in the unit of the value), `count`
#'   (spikes), `seconds` (occupancy), and `rate` (Hz, smoothed with `sigma`; `NA` without
#'   occupancy). Attributes: `value`, the name of the behaviour; `sigma`; `max_gap`; and
#'   `left_out`, for how many seconds of the recording no range was known.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: also where the behaviour and
#' the recording have no time in common.
#' @references
#' O'Keefe J, Dostrovsky J (1971). The hippocampus as a spatial map. Preliminary evidence from unit
#' activity in the freely-moving rat. *Brain Research*, 34, 171-175.
#' \doi{10.1016/0006-8993(71)90358-1}
#' @seealso [autoplot.tuning_curve()] for pictures; [psth()] for rates around events.
#' @examples
#' # A unit that fires around the middle of a track
#' set.seed(1)
#' track <- data.frame(time = seq(0, 60, by = 0.05))
#' track$place <- 50 - 50 * cos(track$time)
#' fires <- runif(nrow(track)) < 0.5 * dnorm(track$place, 50, 10) / dnorm(0, 0, 10)
#' x <- spike_trains(c(track$time[fires], runif(100, 0, 60)),
#'                   rep(c("place", "other"), c(sum(fires), 100)), start = 0, end = 60)
#' curves <- tuning_curve(x, track, breaks = 10)
#' curves
#' if (rlang::is_installed("ggplot2")) plot(curves)
#' @export
tuning_curve <- function(x, behaviour, breaks = 20, sigma = NULL, max_gap = NULL) {
  check_given(x = "a recording", behaviour = "a data frame of `time` and a value")
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  behaviour <- check_behaviour(behaviour, attr(x, "resolution"))
  if (!is.null(sigma)) sigma <- check_number(sigma, above = 0)
  usual <- round(stats::median(diff(behaviour$ticks)))
  resolution <- attr(x, "resolution")
  max_gap <- if (is.null(max_gap)) ticks_to_seconds(10 * usual, resolution) else
    check_number(max_gap, above = 0)
  edges <- value_edges(breaks, behaviour$value)
  held <- values_held(x, behaviour$ticks, usual, raw_ticks(max_gap, resolution))
  bin <- value_bin(behaviour$value, edges)
  n_bins <- length(edges) - 1L
  bin_held <- bin[held$sample]
  ticks_held <- sum_by_unit(held$length[!is.na(bin_held)], bin_held[!is.na(bin_held)], n_bins)
  seconds <- ticks_to_seconds(ticks_held, resolution)
  refuse_if(sum(seconds) == 0, "behaviour",
            sprintf("a table with values within `breaks` in the recorded time, %s to %s s",
                    exact(attr(x, "start")), exact(attr(x, "end"))),
            sprintf("one from %s to %s s without any", exact(min(behaviour$time)),
                    exact(max(behaviour$time))),
            "See whether the behaviour and the spikes are on the same clock, in seconds.")
  of_spike <- bin[sample_of_spikes(x, held)]
  units <- levels(x$unit)
  known <- !is.na(of_spike)
  count <- tabulate(of_spike[known] + n_bins * (as.integer(x$unit)[known] - 1),
                    n_bins * length(units))
  out <- list(unit = as_factor(rep(seq_along(units), each = n_bins), units),
              from = rep(edges[-length(edges)], length(units)),
              to = rep(edges[-1L], length(units)), count = count,
              seconds = rep(seconds, length(units)),
              rate = as.vector(rates_by_value(matrix(count, n_bins), seconds, edges, sigma)))
  new_table(out, "tuning_curve", about = list(
    value = behaviour$name, sigma = sigma, max_gap = max_gap,
    left_out = max(0, observed_seconds(x) - sum(seconds))
  ))
}

#' The behaviour as `time`, `ticks`, `value` and its `name`
#' @noRd
check_behaviour <- function(behaviour, resolution) {
  value <- setdiff(names(behaviour), "time")
  sound <- is.data.frame(behaviour) && "time" %in% names(behaviour) && length(value) == 1L &&
    is_plain_numeric(behaviour$time) && is_plain_numeric(behaviour[[value]])
  refuse_if(!sound, "behaviour",
            "a data frame of two numeric columns, `time` (s) and the value from then on",
            some_columns(behaviour))
  refuse_if(nrow(behaviour) < 2L, "behaviour", "a table of at least two values",
            paste("one of", counted(nrow(behaviour), "row")))
  refuse_if(!all(is.finite(behaviour$time)), "behaviour",
            "a table with a finite `time` in each row",
            "one with a missing or infinite time", "Leave these rows out.")
  ticks <- round_to_ticks(behaviour$time, resolution)
  late <- which(diff(ticks) <= 0)
  refuse_if(length(late), "behaviour",
            sprintf("a table whose times increase by a tick of %s s or more",
                    exact(resolution)),
            sprintf("one with %s s after %s s in row %s", exact(behaviour$time[late[1L] + 1L]),
                    exact(behaviour$time[late[1L]]), commas(late[1L] + 1L)),
            "Sort it by time and keep one row for each time.")
  refuse_if(!any(is.finite(behaviour[[value]])), "behaviour",
            "a table with at least one finite value", "one without any")
  list(time = behaviour$time, ticks = ticks, value = as.double(behaviour[[value]]), name = value)
}

#' Ends of the ranges of values
#' @noRd
value_edges <- function(breaks, value) {
  if (length(breaks) == 1L) {
    n <- check_count(breaks, "breaks", max = 1e4)
    ends <- range(value[is.finite(value)])
    refuse_if(ends[[1L]] == ends[[2L]], "breaks",
              "the ends of ranges, where all values are the same", exact(n))
    return(seq(ends[[1L]], ends[[2L]], length.out = n + 1L))
  }
  refuse_if(!is_plain_numeric(breaks) || length(breaks) < 2L || length(breaks) > 1e4 + 1 ||
              !all(is.finite(breaks)) || any(diff(breaks) <= 0), "breaks",
            "a number of ranges, or at least two increasing finite ends of ranges",
            describe(breaks))
  as.double(breaks)
}

value_bin <- function(value, edges) {
  bin <- findInterval(value, edges, rightmost.closed = TRUE)
  replace(bin, is.na(value) | bin == 0L | bin == length(edges), NA_integer_)
}

#' The stretches of recorded time in which one value holds
#'
#' @param ticks Of the values.
#' @param usual How long the last one holds, in ticks.
#' @param most How long any one holds at most, in ticks.
#' @return A list, stretches in order of time: `start`, `length` (ticks), and `sample`, the number
#'   of the value.
#' @noRd
values_held <- function(x, ticks, usual, most) {
  until <- pmin(c(ticks[-1L], ticks[[length(ticks)]] + usual), ticks + most)
  recorded <- stretches(x)
  # Between two neighbouring edges nothing changes.
  edge <- sort(unique(c(ticks, until, recorded$start, recorded$stop)))
  start <- edge[-length(edge)]
  sample <- findInterval(start, ticks)
  trial <- findInterval(start, recorded$start)
  inside <- sample > 0L & trial > 0L
  inside[inside] <- start[inside] < until[sample[inside]] &
    start[inside] < recorded$stop[trial[inside]]
  list(start = start[inside], length = diff(edge)[inside], sample = sample[inside])
}

#' The number of the value that holds at each spike, `NA` for none
#' @noRd
sample_of_spikes <- function(x, held) {
  ticks <- train_ticks(x)
  at <- findInterval(ticks, held$start)
  end <- c(NA, held$start + held$length)[at + 1L]
  # The last tick of a recording, or of a trial, belongs to it.
  last <- ticks == end & ticks %in% stretches(x)$stop
  out <- held$sample[replace(at, at == 0L, NA_integer_)]
  replace(out, !(ticks < end | last) %in% TRUE, NA_integer_)
}

rates_by_value <- function(count, seconds, edges, sigma) {
  if (is.null(sigma)) {
    rate <- count / seconds
  } else {
    middle <- (edges[-1L] + edges[-length(edges)]) / 2
    weight <- exp(-0.5 * (outer(middle, middle, `-`) / sigma)^2)
    rate <- (weight %*% count) / as.vector(weight %*% seconds)
  }
  rate[seconds == 0, ] <- NA
  rate
}

# ---- The class -----------------------------------------------------------------------

check_tuning <- function(x, arg = rlang::caller_arg(x)) {
  check_table(x, c("unit", "from", "to", "count", "seconds", "rate"), "tuning_curve", arg)
  sound <- is.factor(x$unit) && is.double(x$from) && is.double(x$to) && is.numeric(x$count) &&
    is.double(x$seconds) && is.double(x$rate) && rlang::is_string(attr(x, "value", exact = TRUE)) &&
    rlang::is_double(attr(x, "left_out", exact = TRUE), n = 1L, finite = TRUE)
  refuse_changed(sound, arg, "tuning_curve")
}

#' @rdname tuning_curve
#' @param n Number of rows to print.
#' @param ... Not used.
#' @export
print.tuning_curve <- function(x, ..., n = 6L) {
  check_tuning(x)
  n <- check_count(n, min = 0, infinite = TRUE)
  left_out <- attr(x, "left_out", exact = TRUE)
  cat("<tuning_curve> ", counted(length(unique(x$unit)), "unit"), " by ",
      attr(x, "value", exact = TRUE), if (nrow(x)) sprintf(
        ", %s from %s to %s", counted(nrow(unique(plain_table(x)[c("from", "to")])), "range"),
        short_numbers(min(x$from)), short_numbers(max(x$to))), "\n", sep = "")
  if (left_out > 0) cat(short_numbers(signif(left_out, 3)), " s of the recording without a known ",
                        "value in these ranges\n", sep = "")
  print_rows(x, n, "row")
  invisible(x)
}

#' Pictures of tuning curves
#'
#' `type = "curves"` draws a panel for each unit and a last one for the occupancy.
#' `type = "image"` draws a row for each unit, sorted by the value at which it fires most, and
#' shows its rate relative to its highest: units with the smallest such values are at the bottom.
#'
#' @param object What [tuning_curve()] gives.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param type `"curves"` or `"image"`; by default `"curves"` where units are chosen or there are
#'   at most twelve of them.
#' @param unit For `"curves"`: names of up to twelve units; by default the busiest.
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For arguments out of range (`synfire_error_argument`), and where ggplot2 is not installed.
#' Where there is no spike at a known value, the picture and a message say so.
#' @seealso [tuning_curve()].
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' x <- simulate_sym26(duration = 20)
#' wheel <- data.frame(time = 0:200 / 10, speed = 10 + cumsum(rnorm(201)))
#' plot(tuning_curve(x, wheel, breaks = 8), unit = c("A", "B"))
#' plot(tuning_curve(x, wheel, breaks = 8), type = "image")
#' @exportS3Method ggplot2::autoplot
autoplot.tuning_curve <- function(object, ..., type = NULL, unit = NULL) {
  check_no_dots(draws = "tuning curves")
  check_tuning(object)
  units <- levels(droplevels(object$unit))
  type <- if (is.null(type)) {
    if (is.null(unit) && length(units) > most_panels) "image" else "curves"
  } else {
    check_choice(type, c("curves", "image"))
  }
  refuse_if(type == "image" && !is.null(unit), "unit", "NULL where `type` is \"image\"", "given")
  if (sum(object$count) == 0) return(empty_picture("No spike is at a known value", "no curve"))
  if (type == "image") draw_tuning_image(object) else draw_tuning_curves(object, units, unit)
}

draw_tuning_curves <- function(x, units, unit) {
  spikes <- sum_by_unit(x$count, match(as.character(x$unit), units), length(units))
  shown <- panel_units(unit, units, spikes, usual = most_panels)
  time <- "Time at the value (s)"
  panels <- c(paste(short_names(shown), "(Hz)"), time)
  table <- plain_table(x)
  curves <- table[as.character(table$unit) %in% shown, ]
  rows <- data.frame(panel = panels[match(as.character(curves$unit), shown)], from = curves$from,
                     to = curves$to, height = curves$rate)
  spent <- unique(table[c("from", "to", "seconds")])
  rows <- rbind(rows, data.frame(panel = time, from = spent$from, to = spent$to,
                                 height = spent$seconds))
  rows$panel <- factor(rows$panel, panels)
  rows$kind <- rows$panel == time
  ggplot2::ggplot(rows) +
    ggplot2::geom_rect(aes_from(xmin = "from", xmax = "to", ymax = "height", fill = "kind"),
                       ymin = 0, na.rm = TRUE) +
    ggplot2::scale_fill_manual(values = c(`FALSE` = syn_colours[["blue"]], `TRUE` = syn_muted),
                               guide = "none") +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free_y") +
    ggplot2::scale_x_continuous(name = attr(x, "value", exact = TRUE)) +
    ggplot2::scale_y_continuous(name = NULL, limits = c(0, NA), n.breaks = 4,
                                expand = ggplot2::expansion(mult = c(0, 0.05))) +
    theme_synfire() +
    (if (length(shown) > 4L) small_panels(4L)) +
    (if (length(shown) < length(units)) {
      caption(sprintf("%s of %s.", commas(length(shown)), counted(length(units), "unit")))
    })
}

draw_tuning_image <- function(x) {
  code <- as.integer(x$unit)
  highest <- rep(NA_real_, nlevels(x$unit))
  by_rate <- order(x$rate, na.last = NA)
  highest[code[by_rate]] <- x$rate[by_rate]
  best <- highest
  best[code[by_rate]] <- x$from[by_rate]
  firing <- which(highest > 0)
  firing <- firing[order(best[firing])]
  cells <- data.frame(from = x$from, to = x$to, row = match(code, firing),
                      share = x$rate / highest[code])
  cells <- cells[!is.na(cells$row), ]
  unit_cells(cells, levels(x$unit)[firing], "share", colours = c("white", syn_scale),
             limits = c(0, 1), na.value = syn_grid,
             name = "Rate relative\nto the unit's\nhighest") +
    ggplot2::scale_x_continuous(name = attr(x, "value", exact = TRUE),
                                expand = ggplot2::expansion(mult = 0.01)) +
    caption("Units are sorted by the value at which they fire most. Grey: never there.")
}
