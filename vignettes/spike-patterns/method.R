# usage: Rscript vignettes/spike-patterns/method.R, with synfire and ggplot2 installed.
# Draws the figure of the method, vignettes/spike-patterns/method.png, from 80 ms of a
# real recording: five units of motor cortex while a monkey reaches and grasps (Brochier
# et al. 2018, Scientific Data 5, 180055, CC BY 4.0), in the bins of 5 ms that Porrmann et
# al. 2021 published: spade/movement_PGHF_raster.txt.gz, pairs of unit and bin, both from 0,
# which tools/get-data.R fetches.

library(synfire)
source("tools/data.R")
library(ggplot2)

bin_ms <- 5
window <- 4
first_bin <- 802
bins <- 16
chosen <- c(A = 11, B = 27, C = 41, D = 47, E = 78)

theme_figure <- synfire:::theme_synfire(10) +
  theme(panel.grid = element_blank(), plot.title = element_text(size = 11, face = "bold"),
        plot.subtitle = element_text(size = 9.5, colour = synfire:::syn_muted),
        axis.title = element_text(size = 9.5), legend.position = "none",
        plot.margin = margin(8, 12, 4, 8))
ink <- synfire:::syn_ink
quiet <- synfire:::syn_grid
colours <- scale_colour_manual(values = setNames(synfire:::syn_palette(5), names(chosen)),
                               aesthetics = c("colour", "fill"))

read_excerpt <- function() {
  file <- file.path(Sys.getenv("SYNFIRE_DATA"), "spade", "movement_PGHF_raster.txt.gz")
  if (!file.exists(file)) stop("SYNFIRE_DATA names no folder with spade/", basename(file))
  all <- utils::read.table(file, col.names = c("unit", "bin"))
  all$bin <- all$bin - first_bin
  # Units are numbered from 0 in the file, from 1 where people count them.
  all$unit <- names(chosen)[match(all$unit + 1, chosen)]
  all[!is.na(all$unit) & all$bin >= 0 & all$bin < bins, ]
}

row_of <- \(unit) length(chosen) + 1 - match(unit, names(chosen))
unit_axis <- function(labels) {
  scale_y_continuous(NULL, breaks = row_of(names(chosen)), labels = labels,
                     expand = expansion(add = 0.25))
}

draw_spikes <- function(spikes) {
  ggplot(spikes, aes((bin + 0.5) * bin_ms, row_of(unit))) +
    geom_vline(xintercept = (0:bins) * bin_ms, colour = quiet, linewidth = 0.3) +
    geom_segment(aes(xend = (bin + 0.5) * bin_ms, y = row_of(unit) - 0.38,
                     yend = row_of(unit) + 0.38, colour = unit), linewidth = 1.1) +
    unit_axis(sprintf("%s (unit %d)", names(chosen), chosen)) +
    scale_x_continuous("Time (ms)", breaks = seq(0, 80, 20), expand = expansion(add = 1)) +
    labs(title = "1  Spikes", subtitle = "80 ms of five units of motor cortex; lines every 5 ms")
}

# Every bin that holds a spike opens a window; those of the first pattern are outlined.
draw_bins <- function(spikes, opens, outlined) {
  frames <- data.frame(low = opens[outlined], high = pmin(opens[outlined] + window, bins))
  frames$top <- 5.62 + 0.1 * (seq_len(nrow(frames)) %% 2)
  ggplot(spikes, aes(bin + 0.5, row_of(unit))) +
    geom_tile(data = expand.grid(bin = 0:(bins - 1), unit = names(chosen)), fill = "white",
              colour = quiet, linewidth = 0.3) +
    geom_tile(aes(fill = unit), colour = "white", linewidth = 0.3) +
    geom_rect(aes(xmin = low + 0.04, xmax = high - 0.04, ymin = 1.18 - top + 5, ymax = top),
              data = frames, inherit.aes = FALSE, fill = NA, colour = ink, linewidth = 0.7) +
    geom_text(aes(opens + 0.5, 6.15, label = seq_along(opens)), size = 2.9, colour = ink,
              data = data.frame(opens), inherit.aes = FALSE) +
    unit_axis(names(chosen)) +
    scale_x_continuous("Bin (5 ms)", breaks = seq(0, bins - 1, 5) + 0.5,
                       labels = seq(0, bins - 1, 5), expand = expansion(add = 0.2)) +
    labs(title = "2  Bins, and a window that slides over them",
         subtitle = sprintf("A window of four bins opens at each bin with a spike; outlined: %s",
                            paste(outlined, collapse = ", ")))
}

draw_transactions <- function(spikes, opens, pattern, outlined) {
  held <- do.call(rbind, lapply(seq_along(opens), \(w) {
    inside <- spikes[spikes$bin >= opens[[w]] & spikes$bin < opens[[w]] + window, ]
    data.frame(window = w, lag = inside$bin - opens[[w]], unit = inside$unit)
  }))
  place <- \(lag, unit) lag * 5.6 + match(unit, names(chosen))
  held$own <- held$window %in% outlined &
    paste(held$unit, held$lag) %in% paste(pattern$unit, pattern$lag)
  grid <- expand.grid(window = seq_along(opens), lag = seq_len(window) - 1,
                      unit = names(chosen))
  ggplot(held, aes(place(lag, unit), -window)) +
    geom_tile(data = grid, fill = "white", colour = quiet, linewidth = 0.3) +
    geom_tile(aes(fill = unit), colour = "white", linewidth = 0.3) +
    geom_tile(data = held[held$own, ], fill = NA, colour = ink, linewidth = 0.7, width = 0.9,
              height = 0.9) +
    geom_text(aes(label = unit), size = 2.5, colour = "white", fontface = "bold") +
    scale_y_continuous("Window", breaks = -seq_along(opens), labels = seq_along(opens),
                       expand = expansion(add = 0.15)) +
    scale_x_continuous("Lag of the item: time since the window opened",
                       breaks = (seq_len(window) - 1) * 5.6 + 3,
                       labels = paste((seq_len(window) - 1) * bin_ms, "ms"),
                       expand = expansion(add = 0.2)) +
    labs(title = "3  Transactions: the items of each window",
         subtitle = "An item is a unit at a lag; outlined, four items that three windows share")
}

draw_patterns <- function(table, names) {
  ggplot(table, aes(lag * bin_ms, row_of(unit))) +
    geom_hline(yintercept = row_of(names(chosen)), colour = quiet, linewidth = 0.3) +
    geom_path(aes(group = pattern), colour = ink, linewidth = 0.6) +
    geom_point(aes(colour = unit), size = 3.4) +
    facet_wrap(vars(pattern), nrow = 1, labeller = as_labeller(setNames(names, seq_along(names)))) +
    unit_axis(names(chosen)) +
    scale_x_continuous("Lag (ms)", breaks = (seq_len(window) - 1) * bin_ms,
                       limits = c(-2, (window - 1) * bin_ms + 2)) +
    theme_figure +
    theme(panel.spacing.x = unit(6, "mm"), strip.text = element_text(size = 9)) +
    labs(title = "4  Closed patterns, with their lags",
         subtitle = "Three or more spikes, twice or more often; no larger one is as frequent")
}

spikes <- read_excerpt()
x <- spike_trains((spikes$bin + 0.5) * bin_ms / 1000, spikes$unit, start = 0,
                  end = bins * bin_ms / 1000)
found <- mine_patterns(x, bin_size = bin_ms / 1000, window_bins = window, min_spikes = 3, min_count = 2)
found <- found[order(-lengths(as.data.frame(found)$units), -as.data.frame(found)$count)]
times <- pattern_occurrences(x, found)
opens <- sort(unique(spikes$bin))
times$window <- match(round(times$time * 1000 / bin_ms), opens)
table <- synfire:::pattern_table(found)
windows <- split(times$window, times$pattern)
names <- vapply(windows, \(w) sprintf("%d times: windows\n%s", length(w),
                                      paste(w, collapse = ", ")), "")

grDevices::png("vignettes/spike-patterns/method.png", width = 1500, height = 1080, res = 150,
               type = "cairo")
grid::grid.newpage()
grid::pushViewport(grid::viewport(layout = grid::grid.layout(2, 2, heights = c(0.42, 0.58))))
panel <- function(plot, row, column) {
  print(plot + theme_figure + colours,
        vp = grid::viewport(layout.pos.row = row, layout.pos.col = column))
}
panel(draw_spikes(spikes), 1, 1)
panel(draw_bins(spikes, opens, windows[[1]]), 1, 2)
panel(draw_transactions(spikes, opens, table[table$pattern == 1, ], windows[[1]]), 2, 1)
panel(draw_patterns(table, names), 2, 2)
invisible(grDevices::dev.off())
