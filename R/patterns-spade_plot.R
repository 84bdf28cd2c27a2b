# Pictures of significance: which signatures there are, which chance makes, and the front
# between them.

#' Plots of SPADE
#'
#' What [spade()] and its stages found. `"pvalues"` shows how likely chance makes each
#' signature, and on which side of the front those of the recording lie; `"spectrum"` how
#' many patterns have each. The other pictures are those of [autoplot.patterns()], of the
#' significant patterns alone: `"raster"`, a stretch of the recording with their spikes in
#' colour; `"dots"`, the occurrences of one of them aligned; `"hypergraph"`, which units they
#' share; `"participation"`, how many of them each unit takes part in; `"size"`,
#' `"counts"` and `"lags"`, how many spikes they have, how often they occur, and when
#' their spikes come; `"statistics"`, these four side by side.
#'
#' # The p value spectrum
#' A field is a signature: its number of occurrences from left to right, on a logarithmic
#' axis where they differ much, and its size from bottom to top. For `"3d#"` there is a panel
#' for each size, and durations go from bottom to top. The darker a field, the fewer
#' surrogates reach it; where there is none, no surrogate does. Marks are the signatures of
#' the recording. Those right of the line, the significance front, are significant; where
#' nothing is, the line is where a single one would be. There is no line where surrogates
#' are too few for any p value to be small enough.
#'
#' @param object What [spade()], [test_signatures()], [pvalue_spectrum()] or
#'   [pattern_spectrum()] gives.
#' @param type Which picture.
#' @param ... For `plot()`, passed on to `autoplot()`; for the pictures of patterns passed on
#'   to [autoplot.patterns()], such as `patterns`, `from` and `to`; else not used.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it invisibly.
#' @section Errors:
#' Where there are no p values, and where ggplot2 is not installed. Where [spade()] found no
#' pattern, the picture and a message say so.
#' @references
#' Torre E, Picado-Muino D, Denker M, Borgelt C, Gruen S (2013). Statistical evaluation of
#' synchronous spike patterns extracted by frequent item set mining. *Frontiers in
#' Computational Neuroscience*, 7, 132. \doi{10.3389/fncom.2013.00132}
#' @seealso [spade()], [autoplot.patterns()]
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' x <- simulate_patterns(duration = 30, units = 10, rate = 4)
#' found <- spade(x, bin_size = 0.005, window_bins = 8, min_count = 4, n_surrogates = 100,
#'                threads = 2)
#' plot(found)
#' plot(found, type = "spectrum")
#' plot(found, type = "raster")
#' @exportS3Method ggplot2::autoplot
autoplot.spade <- function(object, type = c("pvalues", "spectrum", "raster", "dots",
                                            "participation", "size", "counts", "lags",
                                            "hypergraph", "statistics"), ...) {
  rlang::check_installed("ggplot2", "to draw patterns.")
  type <- check_choice(type)
  check_sound(object, "object")
  shows_tests <- type %in% c("pvalues", "spectrum")
  if (shows_tests) check_no_dots()
  if (length(object$mined) == 0L) {
    return(empty_picture("No pattern passes the filters", "nothing"))
  }
  if (shows_tests) {
    if (type == "spectrum") return(plot_spectrum(object$spectrum, object$tests))
    refuse_if(is.null(object$tests), "object", "a result with p values", "without surrogates",
              "Ask for some with `n_surrogates`.")
    return(plot_pvalues(attr(object$tests, "pvalues"), object$tests))
  }
  if (length(object) == 0L) return(empty_picture("No pattern is significant", "nothing"))
  autoplot.patterns(object$patterns, type = type, ...)
}

#' @rdname autoplot.spade
#' @exportS3Method ggplot2::autoplot
autoplot.signature_tests <- function(object, ...) {
  check_no_dots(draws = "signatures")
  check_tests(object, "object")
  plot_pvalues(attr(object, "pvalues", exact = TRUE), object)
}

#' @rdname autoplot.spade
#' @exportS3Method ggplot2::autoplot
autoplot.pvalue_spectrum <- function(object, ...) {
  check_no_dots(draws = "signatures")
  check_pvalues(object, "object")
  plot_pvalues(object, NULL)
}

#' @rdname autoplot.spade
#' @exportS3Method ggplot2::autoplot
autoplot.pattern_spectrum <- function(object, ...) {
  check_no_dots(draws = "signatures")
  check_sound(object, "object")
  plot_spectrum(object, NULL)
}

# ---- The two spectra -------------------------------------------------------------------

#' @param tests What test_signatures() gives, or NULL.
#' @noRd
plot_pvalues <- function(pvalues, tests) {
  fields <- level_fields(pvalues)
  marks <- if (!is.null(tests)) signature_marks(tests)
  if (nrow(fields) == 0L && NROW(marks) == 0L) return(no_signature_picture())
  step <- height_step(pvalues)
  n <- attr(pvalues, "n_surrogates", exact = TRUE)
  ggplot2::ggplot() +
    spectrum_fields(fields, fields$p, step) +
    ggplot2::scale_fill_gradientn(name = "p value", colours = rev(syn_scale), trans = "log10",
                                  limits = c(min(0.5,
                                                 surrogate_p(1, n, attr(pvalues, "p_estimator"))),
                                             1), labels = \(p) format_each(signif(p, 2)),
                                  guide = ggplot2::guide_colourbar(order = 2)) +
    front_line(tests, step) +
    (if (!is.null(marks)) spectrum_marks(marks)) +
    spectrum_axes(pvalues, c(fields$low, fields$high, marks$count)) +
    ggplot2::labs(subtitle = front_words(tests))
}

no_signature_picture <- function() empty_picture("There is no signature", "no spectrum")

plot_spectrum <- function(spectrum, tests) {
  if (nrow(spectrum) == 0L) return(no_signature_picture())
  fields <- as.data.frame(spectrum)
  fields$height <- field_height(spectrum)
  fields$low <- fields$high <- fields$count
  step <- height_step(spectrum)
  numbers <- ceiling(log10(max(fields$patterns)))
  ggplot2::ggplot() +
    spectrum_fields(fields, fields$patterns, step, outlined = diff(range(fields$count)) > 100) +
    ggplot2::scale_fill_gradientn(name = "Patterns", colours = syn_scale, trans = "log10",
                                  labels = commas_each, limits = c(1, 10^max(1, numbers)),
                                  aesthetics = c("fill", "colour")) +
    front_line(tests, step) +
    spectrum_axes(spectrum, fields$count) +
    ggplot2::labs(subtitle = front_words(tests))
}

#' From bottom to top: size, or duration in ms
#' @noRd
field_height <- function(x) if (is.null(x$duration)) x$size else 1000 * x$duration

#' How high a field is
#' @noRd
height_step <- function(x) {
  if (attr(x, "spectrum", exact = TRUE) == "#") 1 else 1000 * attr(x, "bin_size", exact = TRUE)
}

#' Signatures in a row that equally many surrogates reach, joined
#' @return Data frame `size`, `height`, `low`, `high` (occurrences), `p`.
#' @noRd
level_fields <- function(pvalues) {
  n <- nrow(pvalues)
  rows <- as.data.frame(pvalues)
  rows$height <- field_height(pvalues)
  same <- rows$size[-1L] == rows$size[-n] & rows$height[-1L] == rows$height[-n] &
    rows$reached[-1L] == rows$reached[-n]
  first <- if (n > 0L) which(c(TRUE, !same)) else integer()
  last <- c(first[-1L] - 1L, if (n > 0L) n)
  data.frame(size = rows$size[first], height = rows$height[first],
             low = rows$count[first], high = rows$count[last], p = rows$p[first])
}

#' @param outlined Whether fields are slivers, which outlines of their own colour keep in sight.
#' @noRd
spectrum_fields <- function(fields, value, step, outlined = FALSE) {
  fields$value <- value
  place <- ggplot2::aes(xmin = .data$low - 0.5, xmax = .data$high + 0.5,
                        ymin = .data$height - step / 2, ymax = .data$height + step / 2,
                        fill = .data$value)
  if (outlined) {
    place$colour <- place$fill
    return(ggplot2::geom_rect(place, data = fields, linewidth = 0.4))
  }
  ggplot2::geom_rect(place, data = fields, colour = if (nrow(fields) <= 1000L) "white",
                     linewidth = 0.1)
}

verdicts <- c("significant", "not significant", "not tested")

#' Signatures of the recording: data frame `size`, `height`, `count`, `verdict`
#' @noRd
signature_marks <- function(tests) {
  verdict <- ifelse(tests$significant, 1L, ifelse(tests$tested, 2L, 3L))
  data.frame(size = tests$size, height = field_height(tests), count = tests$count,
             verdict = factor(verdicts[verdict], verdicts))
}

spectrum_marks <- function(marks) {
  size <- if (nrow(marks) <= 60L) 2.2 else if (nrow(marks) <= 300L) 1.4 else 0.9
  list(
    ggplot2::geom_point(aes_from(x = "count", y = "height", colour = "verdict",
                                 shape = "verdict"), data = marks, size = size, stroke = 0.6,
                        fill = "white"),
    # One legend for both, as these are alike in all else.
    ggplot2::scale_shape_manual(name = "In the recording", limits = verdicts, drop = FALSE,
                                values = c(16, 21, 4), guide = ggplot2::guide_legend(order = 1)),
    ggplot2::scale_colour_manual(name = "In the recording", limits = verdicts, drop = FALSE,
                                 values = c(syn_colours[["vermilion"]], syn_ink, syn_muted),
                                 guide = ggplot2::guide_legend(order = 1,
                                                               override.aes = list(size = 2.2)))
  )
}

#' A line through the fields from which on patterns are significant
#' @noRd
front_line <- function(tests, step) {
  if (is.null(tests)) return(NULL)
  pvalues <- attr(tests, "pvalues", exact = TRUE)
  least <- attr(tests, "parameters", exact = TRUE)$min_spikes
  sizes <- seq(least, max(least, tests$size, pvalues$size))
  if (attr(tests, "spectrum", exact = TRUE) == "#") {
    at <- data.frame(size = NA, height = sizes, low = significance_front(tests, sizes))
  } else {
    bins <- seq_len(attr(tests, "window_bins", exact = TRUE)) - 1L
    at <- expand.grid(duration = bins, size = sizes)
    at$height <- at$duration * step
    at$low <- significance_front(tests, at$size, at$duration)
  }
  if (any(is.infinite(at$low))) return(NULL)
  # Each field has a lower and an upper corner, and the path climbs through both.
  ends <- at[rep(seq_len(nrow(at)), each = 2L), ]
  ends$height <- ends$height + c(-step, step) / 2
  if (anyNA(at$size)) ends$size <- NULL
  ggplot2::geom_path(ggplot2::aes(x = .data$low - 0.5, y = .data$height), data = ends,
                     colour = syn_colours[["vermilion"]], linewidth = 0.7, lineend = "round")
}

front_words <- function(tests) {
  if (is.null(tests)) return(NULL)
  level <- attr(tests, "level", exact = TRUE)
  pvalues <- attr(tests, "pvalues", exact = TRUE)
  n <- attr(pvalues, "n_surrogates", exact = TRUE)
  least <- surrogate_p(0, n, attr(pvalues, "p_estimator", exact = TRUE))
  how <- sprintf("alpha = %s, %s of %s", exact(attr(tests, "alpha")), attr(tests, "correction"),
                 counted(attr(tests, "tests"), "test"))
  if (!reaches(least, level)) {
    return(sprintf("Too few surrogates for any to be significant: %s (%s)", commas(n), how))
  }
  sprintf("Right of the line: significant (%s; p at most %s)", how, short_p(level))
}

#' Axes, and for durations a panel for each size
#' @noRd
spectrum_axes <- function(x, occurrences) {
  by_duration <- attr(x, "spectrum", exact = TRUE) == "3d#"
  wide <- max(occurrences) > 6 * min(occurrences)
  list(
    ggplot2::scale_x_continuous(name = if (wide) "Occurrences (logarithmic)" else "Occurrences",
                                trans = if (wide) "log10" else "identity", labels = commas_each,
                                breaks = if (wide) log_breaks else
                                           \(limits) unique(round(pretty(limits, 7))),
                                expand = ggplot2::expansion(mult = c(0.01, 0.04))),
    if (by_duration) {
      ggplot2::scale_y_continuous(name = "Duration (ms)",
                                  expand = ggplot2::expansion(mult = 0.02))
    } else {
      ggplot2::scale_y_continuous(name = "Size (spikes in the pattern)",
                                  breaks = \(limits) whole_breaks(limits, 20L),
                                  expand = ggplot2::expansion(add = 0.1))
    },
    if (by_duration) ggplot2::facet_wrap(
      ggplot2::vars(.data$size), labeller = ggplot2::as_labeller(\(size) paste(size, "spikes"))
    ),
    theme_synfire(),
    ggplot2::theme(panel.grid.major = ggplot2::element_blank(),
                   plot.subtitle = ggplot2::element_text(size = 9, colour = syn_muted),
                   axis.ticks.x.bottom = ggplot2::element_line(colour = syn_muted))
  )
}
