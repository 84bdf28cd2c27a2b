# The look all plots share.

# Okabe and Ito's colours, told apart with any common colour vision.
syn_colours <- c(blue = "#0072B2", orange = "#E69F00", green = "#009E73", vermilion = "#D55E00",
                 sky = "#56B4E9", purple = "#CC79A7", yellow = "#F0E442", black = "#000000")

syn_ink <- "#1B1F24"      # marks and text
syn_muted <- "#6B7280"    # what stands back: axes, context
syn_grid <- "#E5E7EB"
syn_band <- "#F4F1E8"     # trials; warm, apart from the blues of the scale
syn_band_strong <- "#EBE5D3"  # the same where it has a legend

# From few to many, even in lightness, so that it also reads in grey.
syn_scale <- c("#B9D6EA", "#82B7DA", "#3F8FC4", "#0B5A94", "#06284A")

#' Colours for `n` groups: the palette, then hues that go round
#' @noRd
syn_palette <- function(n) {
  base <- unname(syn_colours[c("blue", "orange", "green", "vermilion", "sky", "purple")])
  if (n <= length(base)) base[seq_len(n)] else grDevices::hcl.colors(n, "Dark 3")
}

#' The look of the pictures
#'
#' The theme and the colours of all pictures of this package, for pictures of your own.
#'
#' @param base_size Size of text, in points.
#' @param n How many colours; `NULL` for the named ones.
#' @param type `"groups"` for colours that tell groups apart, with any common colour vision
#'   up to six of them (Okabe and Ito's palette); `"counts"` for a scale from few to many,
#'   even in lightness, so that it also reads in grey.
#' @return `theme_synfire()`: a theme of ggplot2. `synfire_colours()`: colours as text; for
#'   `n = NULL` and `type = "groups"` named by colour.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`.
#' @references
#' Okabe M, Ito K (2008). *Color universal design: how to make figures and presentations
#' that are friendly to colorblind people*. <https://jfly.uni-koeln.de/color/>
#' @examplesIf rlang::is_installed("ggplot2")
#' found <- mine_episodes(songbird, 16, c(0.02, 0.12), threads = 2)
#' ggplot2::ggplot(found, ggplot2::aes(support, count, colour = factor(size))) +
#'   ggplot2::geom_point() +
#'   ggplot2::scale_colour_manual(values = synfire_colours(4)) +
#'   theme_synfire()
#' synfire_colours(4, "counts")
#' @export
theme_synfire <- function(base_size = 11) {
  rlang::check_installed("ggplot2", "for its themes.")
  base_size <- check_number(base_size, above = 0)
  ggplot2::theme_minimal(base_size = base_size) +
    ggplot2::theme(text = ggplot2::element_text(colour = syn_ink),
                   axis.text = ggplot2::element_text(colour = syn_muted),
                   axis.title = ggplot2::element_text(colour = syn_ink),
                   axis.ticks = ggplot2::element_line(colour = syn_grid),
                   axis.line.x.bottom = ggplot2::element_line(colour = syn_muted),
                   panel.grid.major = ggplot2::element_line(colour = syn_grid),
                   panel.grid.minor = ggplot2::element_blank(),
                   plot.background = ggplot2::element_rect(fill = "white", colour = NA),
                   plot.title.position = "plot", legend.position = "right",
                   strip.text = ggplot2::element_text(hjust = 0))
}

#' @rdname theme_synfire
#' @export
synfire_colours <- function(n = NULL, type = c("groups", "counts")) {
  type <- check_choice(type)
  if (is.null(n)) return(if (type == "groups") syn_colours else syn_scale)
  n <- check_count(n, max = 1e4)
  if (type == "groups") syn_palette(n) else grDevices::colorRampPalette(syn_scale)(n)
}

#' Aesthetics that are columns of the data: `aes_from(x = "time", colour = "unit")`
#' @noRd
aes_from <- function(...) {
  do.call(ggplot2::aes, lapply(list(...), \(column) rlang::expr(.data[[!!column]])))
}

#' A theme without the elements of these names
#' @noRd
without <- function(...) {
  do.call(ggplot2::theme, rlang::rep_named(c(...), list(ggplot2::element_blank())))
}

#' A legend above the picture, at its left end
#' @noRd
legend_on_top <- function(...) {
  ggplot2::theme(legend.position = "top", legend.justification = "left", ...)
}

#' A legend with as many columns as fit above a picture of 7 inches
#' @param ... For `guide_legend()`.
#' @noRd
legend_columns <- function(labels, ...) {
  columns <- max(1, min(length(labels), 90 %/% (max(nchar(labels), 0L) + 6)))
  ggplot2::guide_legend(ncol = columns, ...)
}

#' A picture without axes, such as a network, with words below it
#' @noRd
theme_network <- function(words = NULL) {
  list(ggplot2::coord_equal(clip = "off"), theme_synfire(),
       without("axis.text", "axis.title", "axis.line.x.bottom", "axis.ticks", "panel.grid.major"),
       # Words are as wide as the picture with its legend.
       ggplot2::theme(plot.caption.position = "plot"), if (!is.null(words)) caption(words))
}

#' Colours of groups, by name
#' @noRd
named_palette <- function(names) rlang::set_names(syn_palette(length(names)), names)

#' Breaks of an axis of whole numbers from 1 on, about `n`
#' @noRd
counting_breaks <- function(n) {
  \(limits) {
    breaks <- pretty(limits, n)
    breaks[breaks >= 1 & breaks == round(breaks) & breaks <= limits[[2L]]]
  }
}

#' Text below a picture that says what its lines and bands are
#' @noRd
caption <- function(...) {
  # Longer lines do not fit below a picture of 7 inches.
  lines <- strwrap(unlist(strsplit(as.character(c(...)), "\n", fixed = TRUE)), 90)
  list(ggplot2::labs(caption = paste(lines, collapse = "\n")),
       ggplot2::theme(plot.caption = ggplot2::element_text(colour = syn_muted)))
}

#' Draw a picture, and give it
#' @noRd
draw <- function(plot) {
  print(plot)
  invisible(plot)
}

#' Pictures of results
#'
#' `plot()` draws the picture that `ggplot2::autoplot()` makes of a result, and takes the same
#' arguments.
#'
#' @param x A result that has an `autoplot()` method.
#' @param ... Arguments of that method.
#' @return The picture, an object of ggplot2, invisibly.
#' @examplesIf rlang::is_installed("ggplot2")
#' plot(songbird)
#' @export
plot.synfire_result <- function(x, ...) {
  rlang::check_installed("ggplot2", "to draw results.")
  has_picture <- \(of) !is.null(utils::getS3method("autoplot", of, optional = TRUE,
                                                   envir = asNamespace("ggplot2")))
  refuse_if(!any(vapply(class(x), has_picture, NA)), "x", "a result that has a picture",
            describe(x), "`as.data.frame()` gives a table that any package can draw.")
  draw(ggplot2::autoplot(x, ...))
}
#' @rdname plot.synfire_result
#' @export
plot.synfire_table <- plot.synfire_result
#' @rdname plot.synfire_result
#' @export
plot.spike_trains <- plot.synfire_result
# Maps that an earlier version saved are of these classes alone, as are those that lost others.
#' @rdname plot.synfire_result
#' @export
plot.causal_map <- plot.synfire_result
#' @rdname plot.synfire_result
#' @export
plot.causal_links <- plot.synfire_result

#' A picture that says in words that there is nothing to draw, and a message
#'
#' @param why Such as "No episode is significant".
#' @param what Such as "no network".
#' @noRd
empty_picture <- function(why, what) {
  info("empty", "{why}: there is {what} to draw.")
  ggplot2::ggplot() +
    ggplot2::annotate("text", x = 0, y = 0, label = paste0(why, "."), colour = syn_muted) +
    ggplot2::theme_void()
}

#' Whole numbers within limits, at most about `most` of them
#' @noRd
whole_breaks <- function(limits, most) {
  first <- max(1, ceiling(limits[[1L]]))
  last <- floor(limits[[2L]])
  if (last < first) return(first)
  (first - 1) + thin(last - first + 1, most)
}

#' Powers of ten, and between them 2 and 5 where the range is short; 0 where it is within limits
#' @noRd
log_breaks <- function(limits) {
  ends <- log10(pmax(1, limits))
  tens <- 10^(floor(ends[[1L]]):ceiling(ends[[2L]]))
  breaks <- if (diff(ends) > 3) tens else sort(c(outer(c(1, 2, 5), tens)))
  breaks <- breaks[breaks >= 10^ends[[1L]] * (1 - 1e-9) & breaks <= limits[[2L]]]
  if (length(breaks) < 3L && ends[[1L]] > 0) {
    even <- pretty(limits, 4)
    breaks <- even[even >= limits[[1L]] & even <= limits[[2L]]]
  }
  if (limits[[1L]] <= 0) c(0, breaks) else breaks
}

#' A logarithmic axis of numbers of things that begins at 0, as bars do: that of log(1 + n)
#' @noRd
log_count_axis <- function(name, beyond = c(0, 0.1)) {
  ggplot2::scale_y_continuous(name = name, trans = "log1p", breaks = log_breaks,
                              labels = commas_each,
                              expand = ggplot2::expansion(mult = beyond))
}

#' Half way to white
#' @noRd
lighten <- function(colours) {
  mixed <- (grDevices::col2rgb(colours) + 255) / 2
  rlang::set_names(grDevices::rgb(mixed[1L, ], mixed[2L, ], mixed[3L, ], maxColorValue = 255),
                   names(colours))
}

#' A logarithmic axis of times or rates
#' @noRd
log_axis <- function(scale, name) {
  scale(name = name, trans = "log10", labels = short_numbers,
        breaks = \(limits) 10^log_places(log10(limits)),
        guide = ggplot2::guide_axis(check.overlap = TRUE))
}

#' Logarithms of round numbers between two logarithms: powers of ten where they are enough
#' @noRd
log_places <- function(ends) {
  tens <- seq(floor(ends[[1L]]), ceiling(ends[[2L]]))
  inside <- \(places) places[places >= ends[[1L]] - 1e-9 & places <= ends[[2L]] + 1e-9]
  # Of very many decades every other is enough.
  if (diff(ends) >= 2) return(inside(tens[thin(length(tens), 8L)]))
  places <- inside(log10(outer(c(1, 2, 5), 10^tens)))
  if (length(places) > 2L) return(places)
  even <- pretty(10^ends, 4)
  inside(log10(even[even > 0]))
}

#' Breaks of an axis of numbers of things, of which there are no halves
#' @noRd
whole_numbers <- function(limits) {
  breaks <- pretty(limits, 4)
  whole <- breaks[breaks == round(breaks)]
  if (length(whole) > 1L) whole else breaks
}

#' Numbers each as short as it is: 0.001, 10, 2,000
#' @noRd
short_numbers <- function(x) {
  vapply(x, \(v) format(signif(v, 6), big.mark = ",", scientific = FALSE, drop0trailing = TRUE),
         "")
}

#' Text of panels that are this many in a row
#' @noRd
small_panels <- function(n) {
  size <- if (n <= 6L) 8 else 6
  title <- ggplot2::element_text(size = size, margin = ggplot2::margin(1, 0, 1, 0))
  ggplot2::theme(axis.text = ggplot2::element_text(size = size), strip.text = title)
}
