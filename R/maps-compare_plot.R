# Pictures of what changed between two causal maps.

#' @rdname compare_maps
#' @exportS3Method ggplot2::autoplot
autoplot.causal_map_comparison <- function(object, type = c("heatmap", "scatter"), ...) {
  rlang::check_installed("ggplot2", "to draw causal maps.")
  check_no_dots()
  check_comparison(object)
  call <- rlang::current_env()
  type <- check_choice(type)
  switch(type, heatmap = plot_differences(object, call), scatter = plot_two_maps(object, call))
}

#' @rdname compare_maps
#' @export
plot.causal_map_comparison <- function(x, ...) draw(autoplot.causal_map_comparison(x, ...))

plot_differences <- function(x, call) {
  order <- map_order(x, x$groups)
  cells <- map_pixels(x, order)
  if (all(is.na(cells$value))) abort_no_rho(call)
  heat_map(x, cells, order, x$groups) +
    difference_fill(cells$value) +
    ggplot2::labs(
      subtitle = sprintf("%s less %s", x$labels[[2L]], x$labels[[1L]]),
      caption = map_caption(x, cells, order, "Grey")
    )
}

#' Blue for losses, red for gains, white for no change; the outermost 0.5 % share a colour
#' @param least The end of the scale is at least that.
#' @noRd
difference_fill <- function(difference, name = "Difference\n(rho)", least = 0.01) {
  difference <- difference[!is.na(difference)]
  nearly <- max(stats::quantile(abs(difference), 0.995, names = FALSE), least)
  most <- max(pretty(c(0, nearly), 4L))
  beyond <- max(abs(difference)) > most
  breaks <- most * c(-1, -0.5, 0, 0.5, 1)
  ggplot2::scale_fill_gradientn(
    name = name, limits = c(-most, most), breaks = breaks,
    colours = c("#06284A", "#0072B2", "#7FB8DA", "#FAFAFA", "#EBA97C", "#D55E00", "#6B2E00"),
    na.value = "#A3A8B0", oob = \(x, range = c(0, 1), ...) pmin(pmax(x, -most), most),
    labels = paste0(ifelse(breaks > 0, "+", ""), signif(breaks, 3),
                    ifelse(beyond & breaks == most, " or more", ""),
                    ifelse(beyond & breaks == -most, " or less", ""))
  )
}

plot_two_maps <- function(x, call, most = 1000L) {
  rows <- even_steps(nrow(x), most)
  columns <- even_steps(ncol(x), most)
  a <- as.matrix(x$a[rows, columns, drop = FALSE])
  b <- a + x[rows, columns, drop = FALSE]
  other <- outer(rownames(a), colnames(a), `!=`) & !is.na(a) & !is.na(b)
  if (!any(other)) abort_no_rho(call)
  pairs <- data.frame(a = a[other], b = b[other])
  limits <- range(pairs)
  ggplot2::ggplot(pairs, ggplot2::aes(x = .data$a, y = .data$b)) +
    pair_layers(nrow(pairs), limits) +
    ggplot2::geom_abline(slope = 1, intercept = 0, colour = syn_muted, linewidth = 0.4) +
    ggplot2::coord_fixed(xlim = limits, ylim = limits) +
    ggplot2::labs(
      x = sprintf("Skill in %s (rho)", x$labels[[1L]]),
      y = sprintf("Skill in %s (rho)", x$labels[[2L]]),
      caption = paste(c("A pair above the line has gained.", if (max(dim(x)) > most) {
        sprintf("Pairs of %s series, at even steps.", commas(max(length(rows), length(columns))))
      }), collapse = "\n")
    ) +
    theme_synfire() +
    ggplot2::theme(plot.caption = ggplot2::element_text(colour = syn_muted))
}
