# What methods of results have in common.

#' Error where a method was given further arguments, or a result that is not sound any more
#' @noRd
begin_method <- function(x, arg = rlang::caller_arg(x)) {
  check_no_dots(dots = parent.frame(), frame = sys.parent())
  check_sound(x, arg)
}

#' Error where a result was changed so that its methods would go astray
#' @noRd
check_sound <- function(x, arg) UseMethod("check_sound")

#' The title of a summary, and sentences of which some are items of a list
#' @noRd
print_words <- function(title, words) {
  cat(title, "", sep = "\n")
  for (one in words) cat(strwrap(one, width = min(getOption("width"), 90),
                                 exdent = if (startsWith(one, "- ")) 2 else 0), sep = "\n")
}

#' Bars from 0 to a `number`, in the colour of what is counted
#'
#' @param low,high Expressions of columns: where a bar begins and ends.
#' @param ... Further arguments of the layer.
#' @noRd
sky_bars <- function(low, high, ...) {
  ggplot2::geom_rect(ggplot2::aes(xmin = {{ low }}, xmax = {{ high }}, ymin = 0,
                                  ymax = .data$number), fill = syn_colours[["sky"]], ...)
}

#' Texts above bars
#'
#' @param x The name of the column that says where.
#' @noRd
bar_labels <- function(x, size = 3.2, ...) {
  ggplot2::geom_text(aes_from(x = x, y = "number", label = "label"), vjust = -0.5, size = size,
                     colour = syn_ink, ...)
}

#' The look of a histogram, whose bars say where they are by ticks of the axis
#' @noRd
theme_histogram <- function(...) {
  theme_synfire() +
    ggplot2::theme(panel.grid.major.x = ggplot2::element_blank(),
                   axis.ticks.x.bottom = ggplot2::element_line(colour = syn_muted), ...)
}

#' Titles of panels that stand for titles of axes
#' @noRd
large_strips <- function(...) {
  ggplot2::theme(strip.text = ggplot2::element_text(size = ggplot2::rel(1.1), colour = syn_ink,
                                                    ...),
                 panel.spacing.y = ggplot2::unit(5, "mm"))
}

#' Bands over the whole height of a picture, from `low` to `high`
#' @noRd
shaded_windows <- function(data, ...) {
  ggplot2::geom_rect(ggplot2::aes(xmin = .data$low, xmax = .data$high, ymin = -Inf, ymax = Inf),
                     data = data, fill = syn_band_strong, ...)
}

#' How many sets or episodes there are of each size, and how often they occur
#'
#' @param counts A list of counts, with sizes as its names.
#' @param what What is counted: the name of a column.
#' @noRd
counts_by_size <- function(counts, what) {
  column <- \(of, like) vapply(counts, of, like, USE.NAMES = FALSE)
  out <- data.frame(size = as.integer(names(counts)), n = lengths(counts, use.names = FALSE),
                    least = column(min, 0L), median = column(stats::median, 0),
                    most = column(max, 0L))
  names(out)[[2L]] <- what
  out
}
