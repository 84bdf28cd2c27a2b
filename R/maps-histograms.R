# Pictures of causal maps in which series and pairs are counted.

# ---- Degrees -------------------------------------------------------------------------

plot_degrees <- function(x, threshold) {
  found <- map_degrees(x, threshold)
  if (is.null(found)) return(no_rho_picture())
  ways <- c(out = "Out-degree: effects of a cause", "in" = "In-degree: causes of an effect")
  width <- degree_width(unlist(found$degree, use.names = FALSE))
  from <- seq(0, max(unlist(found$degree)), by = width)
  both <- function(of) {
    parts <- lapply(names(ways), \(way) {
      part <- of(found$degree[[way]], from, width, found)
      part$way <- factor(rep(ways[[way]], nrow(part)), ways)
      part
    })
    do.call(rbind, parts)
  }
  hubs <- both(degree_hubs)
  ggplot2::ggplot(both(degree_bars), ggplot2::aes(x = .data$degree)) +
    ggplot2::geom_col(ggplot2::aes(y = .data$series), width = width * 0.9,
                      fill = syn_colours[["blue"]]) +
    (if (length(from) > 1L) ggplot2::geom_line(ggplot2::aes(y = .data$expected),
                                               colour = syn_muted, linewidth = 0.6)) +
    ggplot2::geom_point(ggplot2::aes(y = 0), data = hubs, size = 1.8,
                        colour = syn_colours[["vermilion"]]) +
    ggplot2::geom_text(
      ggplot2::aes(y = .data$series, label = .data$name), data = hubs[hubs$name != "", ],
      size = 2.9, vjust = -0.7, hjust = "inward", colour = syn_ink, check_overlap = TRUE
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$way), ncol = 1) +
    ggplot2::scale_x_continuous(name = "Links of a series", labels = commas_each,
                                breaks = count_breaks) +
    ggplot2::scale_y_continuous(
      name = "Number of series", labels = commas_each, breaks = count_breaks,
      expand = ggplot2::expansion(mult = c(0.02, 0.12))
    ) +
    ggplot2::labs(subtitle = sprintf("Links are %s: %s of %s pairs", found$what,
                                     commas(found$links), commas(found$pairs))) +
    theme_synfire() +
    without("panel.grid.major.x") +
    caption(paste0("Grey line: as many links, dealt out at random.",
                   if (nrow(hubs) > 0L) " Red: series beyond that."), reason_lines(x))
}

#' Links of each series above a threshold
#'
#' @return list(degree = list(out, in), named numbers; what, in words; links, pairs).
#' @noRd
map_degrees <- function(x, threshold) UseMethod("map_degrees")

#' @export
map_degrees.default <- function(x, threshold) {
  given <- !is.null(threshold)
  moments <- map_moments(x)
  if (moments$known == 0) return(NULL)
  threshold <- threshold %||% histogram_quantile(moments, 0.95)[[1L]]
  out <- double(ncol(x))
  parts <- pair_blocks(x, function(rows, rho) {
    link <- !is.na(rho) & rho > threshold
    out <<- out + colSums(link)
    rowSums(link)
  })
  degree <- list(out = rlang::set_names(out, colnames(x)),
                 "in" = rlang::set_names(unlist(parts), rownames(x)))
  what <- paste0(if (given) "" else "the highest twentieth, ",
                 sprintf("pairs with rho above %s", signif(threshold, 3)))
  list(degree = degree, what = what, links = sum(out), pairs = moments$known)
}

#' @export
map_degrees.causal_links <- function(x, threshold) {
  given <- !is.null(threshold)
  links <- map_links(x, list(threshold = threshold %||% -Inf, alpha = NULL, most = Inf))
  if (nrow(links) == 0L) return(NULL)
  series <- attr(x, "series", exact = TRUE)
  number <- \(names) rlang::set_names(tabulate(match(names, series), length(series)), series)
  list(degree = list(out = number(links$cause), "in" = number(links$effect)),
       what = if (given) sprintf("those with rho above %s", signif(threshold, 3)) else
         "those of the table",
       links = nrow(links), pairs = length(series) * (length(series) - 1))
}

#' A round width that suits most series; hubs may be far away from them
#' @noRd
degree_width <- function(degree) {
  most <- diff(stats::quantile(degree, c(0.05, 0.95), names = FALSE))
  width <- pretty(c(0, max(most / 12, max(degree) / 150)), 1)
  # Where no series has a link there is no width above 0.
  max(1, ceiling(c(width[width > 0], 1)[[1L]]))
}

#' How many links a series can have
#' @noRd
degree_others <- function(degree, found) max(1, round(found$pairs / length(degree)))

#' Bars, and what chance would make of them
#' @param from Where the bars begin, a `width` after the other.
#' @noRd
degree_bars <- function(degree, from, width, found) {
  others <- degree_others(degree, found)
  p <- found$links / found$pairs
  inside <- stats::pbinom(from + width - 1, others, p) - stats::pbinom(from - 1, others, p)
  data.frame(
    degree = from + (width - 1) / 2, series = tabulate(degree %/% width + 1, length(from)),
    expected = inside * length(degree)
  )
}

#' Series with more links than chance gives to any; the three largest with names
#' @noRd
degree_hubs <- function(degree, from, width, found) {
  limit <- stats::qbinom(1 - 0.001 / length(degree), degree_others(degree, found),
                         found$links / found$pairs)
  names(degree) <- short_names(names(degree))
  degree <- sort(degree[degree > limit], decreasing = TRUE)
  name <- rep("", length(degree))
  named <- seq_len(min(3L, length(degree)))
  # Those that are close share a label.
  close <- cumsum(c(TRUE, diff(degree[named]) < -0.08 * max(from)))[named]
  name[match(unique(close), close)] <- vapply(split(names(degree)[named], close), toString, "")
  bar <- degree %/% width * width
  series <- vapply(bar, \(b) sum(bar == b), 1)
  data.frame(degree = bar + (width - 1) / 2, series = series, name = name)
}

# ---- Asymmetry -----------------------------------------------------------------------

plot_asymmetry <- function(x) {
  both <- map_both_ways(x)
  pairs <- both$pairs
  if (NROW(pairs) == 0L) {
    return(empty_picture("Of no pair both directions are known", "nothing"))
  }
  limits <- range(pairs$rho, pairs$reverse)
  named <- utils::head(pairs, 3L)
  names <- short_members(list(named$cause, named$effect))
  named$name <- paste(names[[1L]], names[[2L]], sep = " > ")
  # Labels are to the right of their points, or to the left near the right end.
  named$side <- ifelse(named$rho > limits[[1L]] + 0.85 * diff(limits), 1.12, -0.12)
  ggplot2::ggplot(pairs, ggplot2::aes(x = .data$rho, y = .data$reverse)) +
    pair_layers(nrow(pairs), limits) +
    ggplot2::geom_abline(slope = 1, intercept = 0, colour = syn_muted, linewidth = 0.4) +
    ggplot2::geom_point(data = named, colour = syn_colours[["vermilion"]], size = 1.8) +
    ggplot2::geom_text(
      ggplot2::aes(label = .data$name, hjust = .data$side), data = named, size = 3,
      colour = syn_ink, check_overlap = TRUE
    ) +
    ggplot2::coord_fixed(xlim = limits, ylim = limits, clip = "off") +
    ggplot2::labs(x = "Stronger direction (rho)", y = "Weaker direction (rho)",
                  subtitle = paste(agreement_words(both$agreement), collapse = "\n")) +
    theme_synfire() +
    caption("On the line both directions are alike. Named: cause > effect.")
}

#' Points, or where they are too many their number in squares
#' @noRd
pair_layers <- function(n, limits) {
  if (n <= 5000L) {
    alpha <- if (n > 1000L) 0.35 else 0.7
    return(ggplot2::geom_point(colour = syn_colours[["blue"]], alpha = alpha, size = 1.3,
                               shape = 16))
  }
  list(
    ggplot2::geom_bin2d(binwidth = rep(max(diff(limits), 1e-9) / 100, 2L)),
    ggplot2::scale_fill_gradientn(name = "Pairs", colours = syn_scale, trans = "log10",
                                  breaks = log_breaks, labels = commas_each)
  )
}

# ---- Dimensions ----------------------------------------------------------------------

plot_dimensions <- function(x) {
  moments <- map_moments(x)
  E <- series_dimensions(x, colnames(x))
  if (all(is.na(E))) return(empty_picture("No series has an E", "nothing"))
  panels <- c("Number of series", "Skill (rho)")
  number <- as.data.frame(table(E = E), responseName = "value")
  number$E <- as.integer(as.character(number$E))
  number$panel <- factor(panels[[1L]], panels)
  own <- moments$self[match(colnames(x), rownames(x))]
  skill <- rbind(skill_by_dimension(E, moments$target_mean, "by others, mean"),
                 skill_by_dimension(E, own, "by themselves"))
  if (!is.null(skill)) skill$panel <- factor(panels[[2L]], panels)
  ggplot2::ggplot(number, ggplot2::aes(x = .data$E)) +
    ggplot2::geom_col(ggplot2::aes(y = .data$value), fill = syn_colours[["blue"]], width = 0.8) +
    (if (!is.null(skill)) {
      ggplot2::geom_pointrange(
        ggplot2::aes(y = .data$middle, ymin = .data$low, ymax = .data$high, colour = .data$by),
        data = skill, position = ggplot2::position_dodge(width = 0.4), size = 0.35
      )
    }) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 1, scales = "free_y",
                        strip.position = "left") +
    ggplot2::scale_colour_manual(
      name = "Predicted", values = c("by others, mean" = syn_colours[["vermilion"]],
                                     "by themselves" = syn_colours[["black"]])
    ) +
    ggplot2::scale_x_continuous(name = "Dimensions E of a series", breaks = count_breaks) +
    ggplot2::expand_limits(y = 0) +
    ggplot2::scale_y_continuous(name = NULL, labels = \(v) format(v, big.mark = ",", trim = TRUE)) +
    theme_synfire() +
    legend_on_top(strip.placement = "outside", panel.spacing.y = ggplot2::unit(5, "mm"),
                  strip.text.y.left = ggplot2::element_text(hjust = 0.5, size = 11),
                  panel.grid.major.x = ggplot2::element_blank()) +
    (if (!is.null(skill)) caption("Points and bars: median and middle half of the series."))
}

count_breaks <- function(limits) {
  breaks <- unique(round(pretty(limits, 5)))
  breaks[breaks >= limits[[1L]] & breaks <= limits[[2L]]]
}

#' Median and quartiles of the skill of the series of each E
#' @noRd
skill_by_dimension <- function(E, rho, by) {
  known <- !is.na(E) & !is.na(rho)
  if (!any(known)) return(NULL)
  quartiles <- vapply(split(rho[known], E[known]), stats::quantile, double(3L),
                      c(0.25, 0.5, 0.75), names = FALSE)
  data.frame(E = as.integer(colnames(quartiles)), low = quartiles[1L, ],
             middle = quartiles[2L, ], high = quartiles[3L, ], by = by, row.names = NULL)
}

no_rho_picture <- function() empty_picture("No rho of two series is known", "no map")
