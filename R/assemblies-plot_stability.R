# The picture of how often members come out again.

draw_stability <- function(x, rows) {
  if (!has_stability(x)) {
    return(empty_picture("How stable members are is not known, as `resamples` is 0",
                         "nothing"))
  }
  labels <- assembly_names(x, rows)
  dots <- panels_of(rows, labels, \(row, k) {
    member <- paste(k, short_names(x$units[[row]]))
    data.frame(share = x$stability[[row]], member = factor(member, rev(member)))
  })
  ggplot2::ggplot(dots, aes_from(x = "share", y = "member")) +
    ggplot2::geom_vline(xintercept = stable_share, linetype = "dashed", linewidth = 0.3,
                        colour = syn_ink) +
    ggplot2::geom_segment(ggplot2::aes(x = 0, xend = .data$share, yend = .data$member,
                                       colour = .data$panel), linewidth = 0.4) +
    ggplot2::geom_point(aes_from(colour = "panel"), size = 2.2, shape = 16) +
    assembly_scale(x, rows, labels, guide = "none") +
    ggplot2::facet_wrap(~panel, scales = "free_y") +
    ggplot2::scale_x_continuous(limits = c(0, 1)) +
    ggplot2::scale_y_discrete(labels = \(v) sub("^[0-9]+ ", "", v)) +
    ggplot2::labs(x = sprintf("Share of %d resamples that have the member",
                              attr(x, "resamples")), y = NULL) +
    theme_synfire() +
    caption("Each resample is four fifths of the recording. Members are in the order of lags.",
            sprintf("From the dashed line on: %s.", stable_text(attr(x, "resamples"))),
            left_out_text(x, rows))
}
