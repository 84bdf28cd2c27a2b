# When assemblies are active, in which condition, and who takes part.

draw_activations <- function(x, rows, bins = 60) {
  labels <- assembly_label_levels(x, rows)
  recording <- attr(x, "recording", exact = TRUE)
  bounds <- interval_seconds(recording)
  dots <- panels_of(rows, labels, \(row, k) data.frame(time = x$times[[row]]))
  whole <- is.null(attr(recording, "trials", exact = TRUE))
  chance <- data.frame(level = x$expected[rows] / bins, panel = factor(labels, labels))
  ggplot2::ggplot(dots, aes_from(x = "time")) +
    trial_bands(recording) +
    ggplot2::geom_histogram(aes_from(fill = "panel"),
                            breaks = seq(bounds[[1L]], bounds[[2L]], length.out = bins + 1L)) +
    (if (whole) ggplot2::geom_hline(aes_from(yintercept = "level"), data = chance,
                                    linetype = "dashed", linewidth = 0.3, colour = syn_ink)) +
    assembly_scale(x, rows, labels, "fill", guide = "none") +
    ggplot2::facet_wrap(~panel, ncol = if (length(rows) > 6L) 2L else 1L, scales = "free_y") +
    ggplot2::scale_y_continuous(breaks = \(limits) {
      breaks <- pretty(c(0, limits[[2L]]), 3)
      breaks[breaks == round(breaks)]
    }) +
    ggplot2::labs(x = "Time (s)",
                  y = sprintf("Activations in %s", duration_text(diff(bounds) / bins))) +
    theme_synfire() +
    caption(if (whole) "Dashed: what chance gives, if it does so evenly." else
      "Bands: trials.", left_out_text(x, rows))
}

#' Trials as bands over the whole height
#' @noRd
trial_bands <- function(recording) {
  trials <- attr(recording, "trials", exact = TRUE)
  if (is.null(trials)) return(NULL)
  ggplot2::geom_rect(ggplot2::aes(xmin = .data$start, xmax = .data$end, ymin = -Inf, ymax = Inf),
                     data = trials[c("start", "end")], inherit.aes = FALSE,
                     fill = syn_band_strong)
}

# ---- Conditions ----------------------------------------------------------------------

#' Epochs with their condition
#'
#' @return List of `epochs`, a data frame `start`, `end` (seconds) and `condition` (factor), and
#'   `name`, what the condition is called.
#' @noRd
check_epochs <- function(by, recording) {
  trials <- attr(recording, "trials", exact = TRUE)
  if (is.data.frame(by)) {
    name <- setdiff(names(by), c("start", "end", "trial"))
    bounds <- by[["start"]]
    ends <- by[["end"]]
    sound <- is_plain_numeric(bounds) && is_plain_numeric(ends) && length(name) == 1L &&
      nrow(by) > 0L && all(is.finite(bounds)) && all(is.finite(ends)) && all(bounds < ends)
    refuse_if(!sound, "by",
              paste("a data frame of epochs with `start` and a later `end`, in seconds,",
                    "and one column with the condition"), some_columns(by))
    epochs <- by
  } else {
    refuse_if(is.null(trials), "by", "a data frame of epochs, as the recording has no trials",
              describe(by),
              "It has the columns `start` and `end`, in seconds, and the condition.")
    name <- check_string(by, "by")
    known <- setdiff(names(trials), c("start", "end"))
    refuse_if(!name %in% known, "by", "the name of a column of the trials with their conditions",
              encodeString(name, quote = "\""), sprintf("There is %s.", some(known)))
    epochs <- trials
  }
  value <- epochs[[name]]
  refuse_if(!is.atomic(value) || length(value) != nrow(epochs), "by",
            "a column with a value for each epoch", describe(value))
  condition <- value_factor(value)
  refuse_if(nlevels(condition) > 20L, "by", "a column with at most 20 different values",
            commas(nlevels(condition)))
  list(epochs = data.frame(start = as.double(epochs$start), end = as.double(epochs$end),
                           condition = condition), name = name)
}

#' Activations per second in each epoch
#' @noRd
epoch_rates <- function(times, epochs) {
  number <- findInterval(epochs$end, times, left.open = TRUE) -
    findInterval(epochs$start, times, left.open = TRUE)
  number / (epochs$end - epochs$start)
}

draw_conditions <- function(x, rows, by) {
  recording <- attr(x, "recording", exact = TRUE)
  refuse_if(is.null(by), "by", "given where `type` is \"condition\"", "NULL",
            "It is a column of `trial_table()`, or a data frame of epochs.")
  about <- check_epochs(by, recording)
  labels <- assembly_label_levels(x, rows)
  rates <- panels_of(rows, labels, \(row, k) {
    data.frame(condition = about$epochs$condition,
               rate = epoch_rates(x$times[[row]], about$epochs))
  })
  chance <- data.frame(rate = x$expected[rows] / sum(lengths_of_trials(recording)),
                       panel = factor(labels, labels))
  ggplot2::ggplot(rates, aes_from(x = "condition", y = "rate")) +
    ggplot2::geom_hline(aes_from(yintercept = "rate"), data = chance,
                        linetype = "dashed", linewidth = 0.3, colour = syn_ink) +
    ggplot2::geom_point(aes_from(colour = "panel"), alpha = 0.5, size = 1.4, shape = 16,
                        position = ggplot2::position_jitter(width = 0.12, height = 0, seed = 1)) +
    ggplot2::stat_summary(fun.data = mean_and_se, geom = "pointrange", colour = syn_ink,
                          size = 0.35, position = ggplot2::position_nudge(x = 0.28)) +
    assembly_scale(x, rows, labels, guide = "none") +
    ggplot2::facet_wrap(~panel, scales = "free_y") +
    ggplot2::expand_limits(y = 0) +
    ggplot2::labs(x = about$name, y = "Activations per second") +
    theme_synfire() +
    caption("A dot is an epoch or trial. Black: their mean with its standard error.",
            "Dashed: what chance gives in the whole recording.", left_out_text(x, rows))
}

#' @noRd
mean_and_se <- function(v) {
  se <- if (length(v) > 1L) stats::sd(v) / sqrt(length(v)) else 0
  data.frame(y = mean(v), ymin = mean(v) - se, ymax = mean(v) + se)
}

# ---- Participation -------------------------------------------------------------------

draw_participation <- function(x, rows, most = 400L) {
  labels <- assembly_names(x, rows)
  cells <- panels_of(rows, labels, \(row, k) {
    which <- even_steps(x$count[[row]], most)
    spikes <- x$spikes[[row]][which, , drop = FALSE]
    name <- sprintf("%s (%d %%)", short_names(x$units[[row]]),
                    round(100 * x$participation[[row]]))
    data.frame(place = rep(seq_along(which), ncol(spikes)),
               member = rep(paste(k, name), each = length(which)),
               order = rep(seq_len(ncol(spikes)), each = length(which)),
               spikes = pmin(as.vector(spikes), 3L))
  })
  known <- unique(cells[order(cells$panel, -cells$order), "member"])
  cells$member <- factor(cells$member, known)
  cells$spikes <- factor(cells$spikes, 0:3)
  ggplot2::ggplot(cells, aes_from(x = "place", y = "member", fill = "spikes")) +
    ggplot2::geom_raster(show.legend = TRUE) +
    ggplot2::facet_wrap(~panel, scales = "free") +
    ggplot2::scale_fill_manual(name = "Spikes",
                               values = c(`0` = "#F1F3F5", `1` = syn_scale[[2L]],
                                          `2` = syn_scale[[3L]], `3` = syn_scale[[5L]]),
                               labels = c("none", "1", "2", "3 or more"), drop = FALSE) +
    ggplot2::scale_x_continuous(expand = c(0, 0), breaks = \(limits) whole_breaks(limits, 5)) +
    ggplot2::scale_y_discrete(labels = \(v) sub("^[0-9]+ ", "", v)) +
    ggplot2::labs(x = if (any(x$count[rows] > most)) {
      sprintf("Activation, in the order of time (%d of more, at even steps)", most)
    } else "Activation, in the order of time", y = NULL) +
    theme_synfire() +
    legend_on_top(panel.grid.major = ggplot2::element_blank()) +
    caption("In brackets: in how many of all activations the member fires.",
            left_out_text(x, rows))
}
