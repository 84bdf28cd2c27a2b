# Sentences and the page of check_recording().

check_report <- function(x, arg = rlang::caller_arg(x)) {
  parts <- if (is.list(x)) unclass(x) else list()
  findings <- parts$findings
  sound <- is.data.frame(findings) && is.data.frame(parts$units) && is.matrix(parts$rates) &&
    is.double(parts$rates) && is.data.frame(parts$intervals) &&
    all(c("check", "severity", "n", "units", "message", "remedy") %in% names(findings)) &&
    is.character(findings$message) && is.character(findings$remedy) &&
    all(c("unit", "spikes", "rate") %in% names(parts$units)) &&
    is.factor(parts$units$unit) && is.numeric(parts$units$rate) &&
    ncol(parts$rates) == nrow(parts$units) && nrow(parts$rates) == check_pieces &&
    all(vapply(c("from", "to", "count"), \(name) is.numeric(parts$intervals[[name]]), NA)) &&
    rlang::is_double(parts$refractory, n = 1L, finite = TRUE) &&
    rlang::is_double(parts$duration, n = 1L, finite = TRUE) &&
    is.character(parts$looked_for) && rlang::is_string(parts$recording)
  refuse_if(!sound, arg, "what `check_recording()` gives", "one that was changed",
            "`as.data.frame()` gives a table of the findings to change.")
}

#' @rdname check_recording
#' @param row.names,optional,... As for any data frame.
#' @export
as.data.frame.recording_check <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_no_dots(but = frame_arguments)
  check_report(x)
  new_frame(as.list(x$findings), nrow(x$findings), row.names)
}

#' @rdname check_recording
#' @return `format()` gives the lines that are printed.
#' @export
format.recording_check <- function(x, ...) {
  check_report(x)
  width <- max(40L, min(getOption("width"), 100L))
  findings <- x$findings
  said <- unlist(lapply(seq_len(nrow(findings)), \(k) {
    label <- sprintf("%-9s", c(problem = "Problem", warning = "Warning",
                               note = "Note")[[findings$severity[[k]]]])
    text <- paste(findings$message[[k]], findings$remedy[[k]])
    wrap_prose(text, width, initial = label, prefix = strrep(" ", 9L))
  }))
  fine <- setdiff(x$looked_for, findings$check)
  c(sprintf("Recording: %s", x$recording), if (length(said)) said else "Nothing seems wrong.",
    if (length(fine)) strwrap(paste0("Looked for and not found: ", toString(fine), "."), width,
                              exdent = 2L),
    if (nrow(findings)) "plot() draws a page; as.data.frame() names all units.")
}

#' Lines of a text whose code in backticks is not cut
#' @noRd
wrap_prose <- function(text, ...) {
  code <- gregexpr("`[^`]*`", text)
  regmatches(text, code) <- lapply(regmatches(text, code), \(one) gsub(" ", "\001", one))
  gsub("\001", " ", strwrap(text, ...))
}

#' @rdname check_recording
#' @export
print.recording_check <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

#' The page of a check of a recording
#'
#' Four panels on one page: the rate of all units together over the recorded time; the
#' rate of each unit over that time, relative to its own highest, where units that drift
#' or are missing for a while show; the intervals of all units on a logarithmic axis,
#' with those below the refractory period in red; and how many units have at most which
#' mean rate. The findings stand above.
#'
#' @param object What [check_recording()] gives.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly.
#'   A page of 8 x 8 inches holds it.
#' @section Errors:
#' For objects that were changed (`synfire_error_argument`), and where ggplot2 is not
#' installed.
#' @examplesIf rlang::is_installed("ggplot2")
#' plot(check_recording(songbird))
#' @exportS3Method ggplot2::autoplot
autoplot.recording_check <- function(object, ...) {
  check_no_dots(draws = "the check of a recording")
  check_report(object)
  panels <- c(total = "Rate of all units (Hz) over recorded time (s)",
              units = "Rate of each unit over recorded time (s)",
              intervals = sprintf("Intervals between spikes (s; red: below %s ms)",
                                  exact(object$refractory * 1e3)),
              rates = "Units with at most this rate (Hz)")
  in_panel <- \(name, table) cbind(table, panel = factor(rep(panels[[name]], nrow(table)), panels))
  middle <- (seq_len(check_pieces) - 0.5) * object$duration / check_pieces
  total <- in_panel("total", data.frame(x = middle, y = rowSums(object$rates)))
  cells <- in_panel("units", relative_rates(object$rates, middle))
  cells$y <- cells$y - page_shift
  intervals <- object$intervals
  intervals <- in_panel("intervals", data.frame(
    low = log_place(intervals$from), high = log_place(intervals$to), y = intervals$count,
    short = intervals$to <= object$refractory * (1 + 1e-6)
  ))
  rate <- sort(object$units$rate[object$units$rate > 0])
  # The first step begins at no unit.
  rates <- in_panel("rates", data.frame(
    x = log_place(rep(rate, c(2L, rep(1L, length(rate)))[seq_along(rate)])),
    y = if (length(rate)) 0:length(rate) else integer()
  ))
  # What was seen, without what to do about it.
  seen <- if (nrow(object$findings) == 0L) "Nothing seems wrong." else
    unlist(lapply(object$findings$message, strwrap, width = 110, initial = "- ", prefix = "  "))
  ggplot2::ggplot() +
    ggplot2::geom_raster(aes_from(x = "x", y = "y", fill = "share"), data = cells) +
    ggplot2::scale_fill_gradientn(colours = c("white", syn_scale), limits = c(0, 1),
                                  breaks = c(0, 0.5, 1), labels = c("0", "half", "highest"),
                                  name = "Rate of a unit, relative to its highest") +
    ggplot2::geom_line(aes_from(x = "x", y = "y"), data = total,
                       colour = syn_colours[["blue"]], na.rm = TRUE) +
    ggplot2::geom_rect(ggplot2::aes(xmin = .data$low, xmax = .data$high, ymin = 0, ymax = .data$y),
                       data = intervals, colour = "white", linewidth = 0.2,
                       fill = syn_colours[ifelse(intervals$short, "vermilion", "blue")]) +
    ggplot2::geom_step(aes_from(x = "x", y = "y"), data = rates, colour = syn_colours[["blue"]]) +
    # The axis of counts and rates begins at 0.
    ggplot2::geom_blank(aes_from(y = "y"), data = data.frame(
      y = 0, panel = factor(panels[c("total", "intervals", "rates")], panels)
    )) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free", ncol = 2L) +
    ggplot2::labs(title = object$recording, subtitle = paste(seen, collapse = "\n"), x = NULL,
                  y = NULL) +
    page_axes(short_names(as.character(object$units$unit))) +
    theme_synfire() +
    ggplot2::theme(plot.title = ggplot2::element_text(size = 11), legend.position = "bottom",
                   legend.title = ggplot2::element_text(size = 9, vjust = 0.9),
                   legend.key.height = ggplot2::unit(3, "mm"),
                   plot.subtitle = ggplot2::element_text(size = 8))
}

# Panels share one scale, whose labels have to tell them apart. So logarithms, and rows of units,
# are drawn far below 0, where no time and no count comes near, and labels translate them back.
page_shift <- 1e9
log_place <- function(value) log10(value) - page_shift
is_shifted <- function(at) !is.na(at) & at < -page_shift / 2

#' Axes of the page: times, or powers of ten; counts and rates, or names of units
#' @noRd
page_axes <- function(units) {
  n <- length(units)
  named <- thin(n, 12L)
  list(
    ggplot2::scale_x_continuous(
      breaks = \(limits) {
        if (!is_shifted(limits[[1L]])) return(pretty(limits, 4))
        log_places(limits + page_shift) - page_shift
      },
      labels = \(at) short_numbers(ifelse(is_shifted(at), 10^(at + page_shift), at)),
      guide = ggplot2::guide_axis(check.overlap = TRUE)
    ),
    ggplot2::scale_y_continuous(
      breaks = \(limits) {
        if (is_shifted(limits[[1L]])) named - page_shift else whole_numbers(limits)
      },
      labels = \(at) if (any(is_shifted(at))) units[at + page_shift] else short_numbers(at),
      guide = ggplot2::guide_axis(check.overlap = TRUE)
    )
  )
}

#' Cells of the picture of all units over time: at most 300 rows
#' @noRd
relative_rates <- function(rates, middle) {
  n <- ncol(rates)
  if (n == 0L) return(data.frame(x = numeric(), y = numeric(), share = numeric()))
  group <- ceiling(seq_len(n) / ceiling(n / 300))
  rates <- t(rowsum(t(rates), group))
  highest <- apply(rates, 2L, max)
  share <- rates / rep(highest, each = nrow(rates))
  share[!is.finite(share)] <- 0
  data.frame(x = rep(middle, ncol(rates)),
             y = rep(tapply(seq_len(n), group, mean), each = nrow(rates)),
             share = as.vector(share))
}
