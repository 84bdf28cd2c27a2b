# The picture and the table of vignette("error-rates"): which pairs of units each method links.

method_names <- c(episodes = "Episodes: mine_episodes()", patterns = "Spike patterns: spade()",
                  map = "Causal map: causal_map()", assemblies = "Assemblies: find_assemblies()")

kind_names <- c(synchrony = "Synchrony within 3 ms", sequence = "Sequence, within 2 ms",
                jittered_sequence = "Sequence, within 20 ms",
                rate_synchrony = "Rates rise together, 200 ms",
                rate_sequence = "Rates rise in turn, 200 ms")

# A square for each method: a row is the first unit (or cause) of a pair, a column the second.
# `units` has the order of units, and the groups, which are outlined. Above each square is how
# many pairs it shows, and below and beside it are the numbers of units.
draw_pairs <- function(pairs, units) {
  order <- as.character(units$unit)
  pairs$x <- match(pairs$second, order)
  pairs$y <- match(pairs$first, order)
  titles <- paste0(method_names, "\n", said_of_pairs(pairs, units))
  pairs$method <- factor(titles[match(pairs$method, names(method_names))], titles)
  empty <- data.frame(method = factor(titles, titles))
  numbers <- seq(0, length(order), by = 10)[-1L]
  plot <- ggplot2::ggplot(pairs) +
    ggplot2::geom_blank(data = empty) +
    ggplot2::geom_tile(ggplot2::aes(x, y), fill = synfire_colours()[["blue"]]) +
    ggplot2::facet_wrap(~method) +
    ggplot2::scale_x_continuous(limits = c(0.5, length(order) + 0.5), expand = c(0, 0),
                                breaks = numbers, name = "Second unit, or effect") +
    ggplot2::scale_y_reverse(limits = c(length(order) + 0.5, 0.5), expand = c(0, 0),
                             breaks = numbers, name = "First unit, or cause") +
    ggplot2::coord_fixed() +
    theme_synfire() +
    ggplot2::theme(panel.border = ggplot2::element_rect(fill = NA, colour = "#6B7280"),
                   panel.spacing = ggplot2::unit(12, "pt"))
  groups <- group_places(units)
  if (nrow(groups) == 0L) return(plot)
  plot +
    ggplot2::geom_rect(ggplot2::aes(xmin = from, xmax = to, ymin = from, ymax = to), groups,
                       fill = NA, colour = synfire_colours()[["vermilion"]], linewidth = 0.6) +
    ggplot2::geom_text(ggplot2::aes(x = ifelse(left, from - 0.4, to + 0.4), y = (from + to) / 2,
                                    label = name, hjust = as.numeric(left)), groups, size = 2.8,
                       colour = "#1B1F24")
}

# Where each group stands in the order of units, and whether there is room for its name on the
# left alone.
group_places <- function(units) {
  at <- split(seq_len(nrow(units)), factor(units$assembly, setdiff(units$assembly, "")))
  to <- vapply(at, max, 1) + 0.5
  data.frame(from = vapply(at, min, 1) - 0.5, to = to, name = unname(kind_names[names(at)]),
             left = to > 0.5 * nrow(units))
}

# How many pairs each method links, and how many of them are of one group.
said_of_pairs <- function(pairs, units) {
  counts <- count_pairs(pairs, units)[names(method_names)]
  all <- colSums(counts)
  groups <- setdiff(units$assembly, "")
  if (length(groups) == 0L) return(paste(all, "pairs"))
  own <- all - unlist(counts[nrow(counts), ])
  of <- sum(choose(table(units$assembly)[groups], 2))
  sprintf("%d of %d pairs of a group, %d others", own, of, all - own)
}

# How many of the pairs of each group a method links, and how many pairs of others.
count_pairs <- function(pairs, units) {
  group <- stats::setNames(units$assembly, units$unit)
  either <- unique(data.frame(method = pairs$method, a = pmin(pairs$first, pairs$second),
                              b = pmax(pairs$first, pairs$second)))
  own <- group[either$a] == group[either$b] & group[either$a] != ""
  of <- factor(ifelse(own, kind_names[group[either$a]], "Pairs of no group"),
               c(kind_names, "Pairs of no group"))
  counts <- table(of, factor(either$method, names(method_names)))
  data.frame(group = rownames(counts), unclass(counts), row.names = NULL)
}
