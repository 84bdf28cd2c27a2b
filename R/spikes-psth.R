# Peri-stimulus time histograms: how units fire around events, or in the course of trials.

#' Peri-stimulus time histogram
#'
#' The mean rate of each unit around events, such as the onset of a stimulus, or in the
#' course of the trials; for all events or for each condition. `autoplot()` draws it below
#' the raster of single events.
#'
#' Bins lie from `from` to `to`, around each event. Bin k holds the spikes from
#' `from + (k - 1) * bin_size` to just before `from + k * bin_size` after the event, on
#' the exact clock of the recording. The time of an event is rounded to a tick.
#'
#' An event is left out if some of its bins lie outside of the recording or, where there
#' are trials, outside of the trial of the event: it would lower the mean. Where two
#' events are close to each other, a spike may count for both.
#'
#' `rate` is the number of spikes divided by the number of events and by `bin_size`. `se`
#' is its standard error: the standard deviation of the counts of single events, divided
#' by the square root of their number and by `bin_size`.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param events Times of events, in seconds: a numeric vector, or a data frame with a
#'   column `time` and, if you like, further columns with the conditions. `NULL` takes the
#'   starts of the trials of `x`.
#' @param from,to First and last second around each event; `to - from` is a whole number
#'   of bins. Without `events` the default is from 0 to the end of the last whole bin in
#'   the shortest trial.
#' @param bin_size Length of a bin, in seconds; a whole number of ticks.
#' @param by Name of the column that holds the condition of each event: a column of
#'   `events` or, without `events`, of the trials of `x`. `NULL` for no conditions. Events
#'   whose condition is missing are left out.
#' @return A data frame of class `psth` with a row for each bin of each unit, and of each
#'   condition where there are some, and the columns `unit` (factor), the column that `by`
#'   names (factor), `time` (s, where the bin begins, from the event), `count` (spikes of
#'   all events), `rate` and `se` (Hz; `se` is NA for a single event), and `events` (how
#'   many). Attributes: `bin_size` (s); `by`; `spikes`, a data frame of the single spikes
#'   with `event` (number), `unit`, `time` (s from the event); `event_table`, a data frame
#'   of the events that were used, with `event`, `time` and `condition`; and `left_out`,
#'   the number of events that were left out.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: also when every event
#' is left out, and for a recording without trials where `events` are not given.
#' @references
#' Gerstein GL, Kiang NYS (1960). An approach to the quantitative analysis of
#' electrophysiological data from single neurons. *Biophysical Journal*, 1, 15-28.
#' \doi{10.1016/S0006-3495(60)86872-5}
#' @seealso [bin_spikes()] for the whole recording in bins.
#' @examples
#' set.seed(1)
#' stimulus <- data.frame(time = seq(1, 59, by = 2), tone = rep(c("high", "low"), 15))
#' response <- stimulus$time[stimulus$tone == "high"] + 0.1 + rexp(15, 50)
#' x <- spike_trains(c(runif(600, 0, 60), response), "A", start = 0, end = 60)
#' p <- psth(x, stimulus, from = -0.5, to = 1, bin_size = 0.05, by = "tone")
#' p
#' if (rlang::is_installed("ggplot2")) plot(p)
#' @export
psth <- function(x, events = NULL, from = NULL, to = NULL, bin_size = 0.01, by = NULL) {
  check_given(x = "a recording")
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  resolution <- attr(x, "resolution")
  bin <- check_bin_size(bin_size, resolution)
  table <- check_events(events, x, by)
  edges <- psth_edges(from, to, bin, is.null(events), x)
  ticks <- round_to_ticks(table$time, resolution)
  keep <- within_one(x, ticks + edges[[1L]], ticks + edges[[2L]]) & !is.na(table$condition)
  refuse_if(!any(keep), if (is.null(events)) "x" else "events",
            sprintf("%s at least one event with %s to %s s around it in %s",
                    if (is.null(events)) "a recording whose trials give" else "times of",
                    exact(ticks_to_seconds(edges[[1L]], resolution)),
                    exact(ticks_to_seconds(edges[[2L]], resolution)),
                    if (is.null(attr(x, "trials"))) "the recording" else "one trial"),
            sprintf("%s, all of them outside or too near the ends",
                    counted(nrow(table), "event")),
            paste("Events are in seconds. Narrow `from` and `to`, or see whether events and spikes",
                  "are on the same clock."))
  table <- table[keep, , drop = FALSE]
  table$condition <- droplevels(table$condition)
  spikes <- around_events(x, ticks[keep], edges)
  n_bins <- (edges[[2L]] - edges[[1L]]) / bin
  levels <- levels(table$condition)
  units <- levels(x$unit)
  refuse_if(n_bins * length(units) * length(levels) >= 2^31, "bin_size",
            "such that there are fewer than 2^31 bins of all units", paste(exact(bin_size), "s"))
  counts <- event_counts(spikes, table$condition, bin, n_bins, units, edges[[1L]])
  new_psth(counts, table, spikes, bin, edges, units, by, sum(!keep), resolution)
}

#' Events as a data frame of `time` and `condition`, a factor
#' @param arg Name of the argument that `events` were given as.
#' @noRd
check_events <- function(events, x, by, arg = "events") {
  of <- if (is.null(events)) "trials of `x`" else arg
  if (is.null(events)) {
    trials <- attr(x, "trials", exact = TRUE)
    refuse_if(is.null(trials), arg, "times of events, as the recording has no trials", "NULL")
    events <- as.data.frame(trials)
    events$time <- trials$start
  } else if (is_plain_numeric(events) && is.null(dim(events))) {
    events <- data.frame(time = events)
  }
  time <- if (is.data.frame(events)) events[["time"]]
  refuse_if(!is_plain_numeric(time) || length(time) != nrow(events) || !all(is.finite(time)) ||
              length(time) == 0L, arg,
            "finite times in seconds, or a data frame with such a column `time`",
            some_columns(events))
  condition <- rep("all", nrow(events))
  if (!is.null(by)) {
    by <- check_string(by, "by")
    known <- setdiff(names(events), c("unit", "time", "count", "rate", "se", "events"))
    refuse_if(!by %in% known, "by",
              sprintf("the name of a column of the %s with their conditions", of),
              encodeString(by, quote = "\""),
              if (length(known)) sprintf("There is %s.", some(known)))
    condition <- events[[by]]
  }
  refuse_if(!is.atomic(condition) || length(condition) != nrow(events), "by",
            "the name of a column with a value for each event", describe(condition))
  if (!is.factor(condition)) {
    condition <- as.character(condition)
    values <- unique(condition[!is.na(condition)])
    condition <- factor(condition, values[natural_order(values)])
  }
  data.frame(time = as.double(time), condition = condition)
}

#' First tick around an event and the one after the last
#' @noRd
psth_edges <- function(from, to, bin, of_trials, x) {
  resolution <- attr(x, "resolution", exact = TRUE)
  edge <- \(value, arg, default) {
    if (is.null(value) && of_trials) return(default)
    refuse_if(is.null(value), arg, "given, in seconds from the event", "NULL")
    seconds_to_ticks(check_number(value, arg), resolution, arg)
  }
  trials <- trial_ticks(x)
  first <- edge(from, "from", 0)
  last <- edge(to, "to", if (of_trials) {
    shortest <- min(trials$end - trials$start)
    first + max(0, (shortest - first) %/% bin) * bin
  })
  seconds <- \(ticks) exact(ticks_to_seconds(ticks, resolution))
  refuse_if(last <= first || (last - first) %% bin != 0, "to",
            sprintf("a whole number of bins of %s s after `from`, %s s", seconds(bin),
                    seconds(first)), paste(seconds(last), "s"))
  c(first, last)
}

#' Whether each of these intervals lies within the recording, or within one of its trials
#' @noRd
within_one <- function(x, from, to) {
  of <- stretches(x)
  at <- findInterval(from, of$start)
  at > 0L & to <= of$stop[pmax(at, 1L)]
}

#' Spikes around each event: `event` (number), `unit` (code), `ticks` from the event
#' @noRd
around_events <- function(x, events, edges) {
  ticks <- train_ticks(x)
  before <- findInterval(events + edges[[1L]], ticks, left.open = TRUE)
  n <- findInterval(events + edges[[2L]], ticks, left.open = TRUE) - before
  at <- sequence(n, before + 1)
  event <- rep(seq_along(events), n)
  list(event = event, unit = as.integer(.subset2(x, "unit"))[at],
       ticks = ticks[at] - events[event])
}

#' Spikes of all events, and the sums of squares of those of each, by bin, unit, condition
#' @noRd
event_counts <- function(spikes, condition, bin, n_bins, units, first) {
  cells <- n_bins * length(units) * nlevels(condition)
  cell <- (spikes$ticks - first) %/% bin + n_bins *
    (spikes$unit - 1 + length(units) * (as.integer(condition)[spikes$event] - 1)) + 1
  o <- order(cell, spikes$event, method = "radix")
  cell <- cell[o]
  event <- spikes$event[o]
  n <- length(o)
  first <- which(c(TRUE, cell[-1L] != cell[-n] | event[-1L] != event[-n])[seq_len(n)])
  run <- diff(c(first, n + 1))
  squares <- sum_by_unit(run^2, cell[first], cells)
  list(count = tabulate(cell, cells), squares = squares)
}

new_psth <- function(counts, table, spikes, bin, edges, units, by, left_out, resolution) {
  bins <- seq(edges[[1L]], edges[[2L]] - bin, by = bin)
  conditions <- levels(table$condition)
  events <- tabulate(table$condition, length(conditions))
  each <- length(bins) * length(units)
  n <- rep(events, each = each)
  seconds <- ticks_to_seconds(bin, resolution)
  variance <- pmax(0, counts$squares - counts$count^2 / n) / (n - 1)
  unit <- rep(rep(seq_along(units), each = length(bins)), length(conditions))
  condition <- rep(seq_along(conditions), each = each)
  out <- data.frame(unit = as_factor(unit, units))
  if (!is.null(by)) out[[by]] <- as_factor(condition, conditions)
  out$time <- rep(ticks_to_seconds(bins, resolution), length(units) * length(conditions))
  out$count <- counts$count
  out$rate <- counts$count / n / seconds
  out$se <- replace(sqrt(variance / n) / seconds, n <= 1, NA)
  out$events <- n
  new_table(out, "psth", about = list(
    bin_size = seconds, by = by,
    spikes = data.frame(event = spikes$event, unit = as_factor(spikes$unit, units),
                        time = ticks_to_seconds(spikes$ticks, resolution)),
    event_table = data.frame(event = seq_len(nrow(table)), time = table$time,
                             condition = table$condition),
    left_out = left_out
  ))
}

# ---- The class -----------------------------------------------------------------------

check_psth <- function(x, arg = rlang::caller_arg(x)) {
  by <- attr(x, "by", exact = TRUE)
  check_table(x, c("unit", by, "time", "count", "rate", "se", "events"), "psth", arg)
  spikes <- attr(x, "spikes", exact = TRUE)
  events <- attr(x, "event_table", exact = TRUE)
  sound <- is.factor(x$unit) && !anyNA(x$unit) && (is.null(by) || is.factor(x[[by]])) &&
    is.double(x$time) &&
    !anyNA(x$time) && is.double(x$rate) && is.double(x$se) && is.numeric(x$events) &&
    is.data.frame(spikes) && is.factor(spikes$unit) && is.numeric(spikes$time) &&
    is.numeric(spikes$event) && is.data.frame(events) && is.factor(events$condition) &&
    rlang::is_double(attr(x, "bin_size", exact = TRUE), n = 1L, finite = TRUE) &&
    rlang::is_scalar_integerish(attr(x, "left_out", exact = TRUE), finite = TRUE) &&
    all(spikes$event %in% seq_len(nrow(events)))
  refuse_changed(sound, arg, "psth")
}

#' @rdname psth
#' @param n Number of rows to print.
#' @param ... Not used.
#' @export
print.psth <- function(x, ..., n = 6L) {
  check_psth(x)
  n <- check_count(n, min = 0, infinite = TRUE)
  by <- attr(x, "by", exact = TRUE)
  events <- attr(x, "event_table", exact = TRUE)
  left_out <- attr(x, "left_out", exact = TRUE)
  bin_size <- attr(x, "bin_size", exact = TRUE)
  conditions <- counted(nlevels(events$condition), "condition")
  cat("<psth> ", counted(nlevels(x$unit), "unit"), ", ", counted(nrow(events), "event"),
      if (!is.null(by)) sprintf(" of %s (`%s`)", conditions, by),
      if (nrow(x)) sprintf(", %s to %s s in bins of %s s", exact(min(x$time)),
                           exact(max(x$time) + bin_size), exact(bin_size)), "\n", sep = "")
  if (left_out > 0) {
    cat(counted(left_out, "event"), " left out: without a condition, or with bins outside ",
        "of the recording or its trial\n", sep = "")
  }
  print_rows(x, n, "row")
  invisible(x)
}

#' Picture of a peri-stimulus time histogram
#'
#' Above, the spikes of single events, a row an event, by condition; below, the mean rate
#' with its standard error, a line a condition. A column for each unit, with its own axis of rates.
#' Of more than eight conditions those with the most events are drawn, and a line below the picture
#' says so.
#'
#' @param object A [psth()].
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param unit Names of units to draw, up to twelve; by default the four busiest around
#'   the events.
#' @param stimulus When a stimulus lasts, in seconds from the event: two numbers, its start and
#'   its end, between which the picture is shaded; `NULL` for none.
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For arguments out of range (`synfire_error_argument`), and where ggplot2 is not
#' installed.
#' @examplesIf rlang::is_installed("ggplot2")
#' x <- spike_trains(c(1.1, 1.15, 2.1, 2.3, 3.1), "A", start = 0, end = 4)
#' p <- psth(x, events = 1:3, from = -0.5, to = 0.5, bin_size = 0.1)
#' plot(p)
#' plot(p, stimulus = c(0, 0.2))
#' @exportS3Method ggplot2::autoplot
autoplot.psth <- function(object, ..., unit = NULL, stimulus = NULL) {
  check_no_dots(draws = "a peri-stimulus time histogram")
  check_psth(object)
  by <- attr(object, "by", exact = TRUE)
  spikes <- attr(object, "spikes", exact = TRUE)
  events <- attr(object, "event_table", exact = TRUE)
  stimulus <- check_stimulus(stimulus)
  if (nrow(object) == 0L) return(empty_picture("There is no unit", "nothing"))
  present <- levels(droplevels(object$unit))
  busy <- tabulate(factor(spikes$unit, present), length(present))
  shown <- panel_units(unit, present, busy, usual = 4L)
  # Each unit has its own axis of rates: beside a fast unit a slow one would be a flat line.
  panels <- c(paste("events", shown), paste("rate", shown))
  titles <- rlang::set_names(c(paste0(short_names(shown), "\nEvents"),
                               rep("Rate (Hz)", length(shown))), panels)
  panel <- \(kind, unit) factor(paste(kind, unit, recycle0 = TRUE), panels)
  # As many conditions as colours can tell apart: those with the most events.
  levels <- levels(events$condition)
  conditions <- levels[sort(utils::head(order(-tabulate(events$condition, length(levels))), 8L))]
  drawn <- events$condition %in% conditions
  marks <- spikes[spikes$unit %in% shown & drawn[spikes$event], , drop = FALSE]
  # Events of a condition are next to each other, the first ones on top.
  row <- integer(nrow(events))
  from_top <- order(events$condition, events$time)
  row[from_top[drawn[from_top]]] <- rev(seq_len(sum(drawn)))
  marks <- data.frame(unit = factor(marks$unit, shown), time = marks$time, row = row[marks$event],
                      condition = events$condition[marks$event],
                      panel = panel("events", marks$unit))
  of_drawn <- object$unit %in% shown & (is.null(by) | object[[by %||% "unit"]] %in% conditions)
  rates <- psth_steps(as.data.frame(object)[of_drawn, ], by, shown, conditions,
                      attr(object, "bin_size", exact = TRUE))
  rates$panel <- panel("rate", rates$unit)
  kinds <- rep(c("events", "events", "rate"), each = length(shown))
  whole <- data.frame(y = rep(c(0.5, sum(drawn) + 0.5, 0), each = length(shown)),
                      panel = panel(kinds, shown))
  # Bands of more conditions would cover each other.
  bands <- rates[!is.na(rates$low) & length(conditions) <= 4L, , drop = FALSE]
  labels <- short_names(conditions, 15L)
  before <- min(object$time, 0) < 0
  plot <- ggplot2::ggplot() +
    ggplot2::geom_segment(ggplot2::aes(x = .data$time, xend = .data$time, y = .data$row - 0.45,
                                       yend = .data$row + 0.45, colour = .data$condition),
                          data = marks, linewidth = if (nrow(marks) > 2000L) 0.2 else 0.4) +
    ggplot2::geom_ribbon(aes_from(x = "time", ymin = "low", ymax = "high", fill = "condition",
                                  group = "condition"),
                         data = bands, alpha = 0.25) +
    ggplot2::geom_line(aes_from(x = "time", y = "rate", colour = "condition"), data = rates) +
    ggplot2::geom_blank(aes_from(y = "y"), data = whole) +
    ggplot2::facet_wrap(~panel, nrow = 2L, scales = "free_y",
                        labeller = ggplot2::as_labeller(titles)) +
    ggplot2::scale_colour_manual(values = syn_palette(length(conditions)), limits = conditions,
                                 name = by, labels = labels, guide = legend_columns(labels),
                                 aesthetics = c("colour", "fill")) +
    ggplot2::scale_x_continuous(name = "Time from the event (s)",
                                breaks = \(limits) pretty(limits, if (length(shown) > 3L) 2 else 5),
                                guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::scale_y_continuous(name = NULL) +
    theme_synfire() +
    (if (length(shown) > 3L) small_panels(length(shown))) +
    legend_on_top(panel.spacing.x = ggplot2::unit(2, "mm"), strip.clip = "off") +
    (if (before) ggplot2::geom_vline(xintercept = 0, colour = syn_muted, linetype = "dotted"))
  if (!is.null(stimulus)) {
    # The layer that is behind all others.
    plot$layers <- c(list(ggplot2::annotate(
      "rect", xmin = stimulus[[1L]], xmax = stimulus[[2L]], ymin = -Inf, ymax = Inf,
      fill = syn_band_strong
    )), plot$layers)
  }
  words <- c(if (!all(drawn)) sprintf("%s of %s conditions, those with the most events.",
                                      commas(length(conditions)),
                                      commas(nlevels(events$condition))),
             if (before) "Dotted line: the event.",
             if (!is.null(stimulus)) "Shaded: the stimulus.",
             if (nrow(bands) > 0L) "Band: one standard error on either side of the rate.",
             if (length(shown) > 1L) "Each unit has its own axis of rates.")
  if (length(words)) plot <- plot + caption(words)
  if (is.null(by)) plot + ggplot2::theme(legend.position = "none") else plot
}

check_stimulus <- function(stimulus) {
  if (is.null(stimulus)) return(NULL)
  refuse_if(!is_plain_numeric(stimulus) || length(stimulus) != 2L || !all(is.finite(stimulus)) ||
              stimulus[[1L]] >= stimulus[[2L]], "stimulus",
            "two finite numbers, its start and its later end in seconds from the event",
            describe(stimulus))
  stimulus
}

#' Both ends of each bin, so that lines are steps
#' @noRd
psth_steps <- function(table, by, shown, conditions, bin_size) {
  twice <- rep(seq_len(nrow(table)), each = 2L)
  condition <- if (is.null(by)) rep(conditions, nrow(table)) else as.character(table[[by]])
  data.frame(
    unit = factor(table$unit, shown)[twice],
    condition = factor(condition, conditions)[twice],
    # The end of a bin is the start of the next one, not nearly so.
    time = round(table$time[twice] / bin_size + rep_len(0:1, length(twice)), 6) * bin_size,
    rate = table$rate[twice],
    low = pmax(0, table$rate - table$se)[twice], high = (table$rate + table$se)[twice]
  )
}
