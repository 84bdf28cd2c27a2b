# The look all plots share.

# Okabe and Ito's colours, told apart with any common colour vision.
syn_colours <- c(
  blue = "#0072B2", orange = "#E69F00", green = "#009E73", vermilion = "#D55E00",
  sky = "#56B4E9", purple = "#CC79A7", yellow = "#F0E442", black = "#000000"
)

syn_ink <- "#1B1F24"      # marks and text
syn_muted <- "#6B7280"    # what stands back: axes, context
syn_grid <- "#E5E7EB"
syn_band <- "#F4F1E8"     # trials; warm, apart from the blues of the scale

# From few to many, even in lightness, so that it also reads in grey.
syn_scale <- c("#B9D6EA", "#82B7DA", "#3F8FC4", "#0B5A94", "#06284A")

#' Colours for `n` groups: the palette, then hues that go round
#' @noRd
syn_palette <- function(n) {
  base <- unname(syn_colours[c("blue", "orange", "green", "vermilion", "sky", "purple")])
  if (n <= length(base)) base[seq_len(n)] else grDevices::hcl.colors(n, "Dark 3")
}

theme_synfire <- function(base_size = 11) {
  ggplot2::theme_minimal(base_size = base_size) +
    ggplot2::theme(
      text = ggplot2::element_text(colour = syn_ink),
      axis.text = ggplot2::element_text(colour = syn_muted),
      axis.title = ggplot2::element_text(colour = syn_ink),
      axis.ticks = ggplot2::element_line(colour = syn_grid),
      axis.line.x.bottom = ggplot2::element_line(colour = syn_muted),
      panel.grid.major = ggplot2::element_line(colour = syn_grid),
      panel.grid.minor = ggplot2::element_blank(),
      plot.background = ggplot2::element_rect(fill = "white", colour = NA),
      plot.title.position = "plot",
      legend.position = "right",
      strip.text = ggplot2::element_text(hjust = 0)
    )
}

#' Draw a picture, and give it
#' @noRd
draw <- function(plot) {
  print(plot)
  invisible(plot)
}

#' Whole numbers within limits, at most about `most` of them
#' @noRd
whole_breaks <- function(limits, most) {
  first <- max(1, ceiling(limits[[1L]]))
  last <- floor(limits[[2L]])
  if (last < first) return(first)
  (first - 1) + thin(last - first + 1, most)
}

#' Powers of ten, and between them 2 and 5 where the range is short
#' @noRd
log_breaks <- function(limits) {
  decades <- log10(limits[[2L]] / limits[[1L]])
  tens <- 10^(floor(log10(limits[[1L]])):ceiling(log10(limits[[2L]])))
  breaks <- if (decades > 3) tens else sort(c(outer(c(1, 2, 5), tens)))
  breaks[breaks >= max(1, limits[[1L]]) & breaks <= limits[[2L]]]
}
