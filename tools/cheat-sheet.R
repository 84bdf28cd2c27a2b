# usage: Rscript tools/cheat-sheet.R. Draws the package on one page, man/figures/cheat-sheet.pdf and
# .png, with synfire installed.

library(synfire)
library(ggplot2)
source("vignettes/pictures/few-colours.R")
set.seed(1)
found <- find_assemblies(songbird)
delays <- c(0.02, 0.12)
chains <- mine_episodes(songbird, 13, delays)
counts <- bin_spikes(songbird, 0.1)
map <- causal_map(counts[, colSums(counts > 0) >= 60], E_max = 4, Tp = -3:0, exclusion_radius = 5)
x <- y <- 0.4
for (t in 1:399) {
  x[t + 1] <- 3.8 * x[t] * (1 - x[t])
  y[t + 1] <- y[t] * (3.7 - 3.7 * y[t] - 0.15 * x[t])
}
pair <- data.frame(time = 1:400, x = y, y = x)
patterns <- spade(mouse, 0.003, 8, min_spikes = 2, min_count = 100, n_surrogates = 199)

# A box: its title, its code, and its picture.
boxes <- list(
  list("Load", 'x <- read_spikes("file.nwb")
    # also tables, Phy, MATLAB ...
x <- as_spike_trains(table)
check_recording(x)
x[unit = c("1", "7")]
x[time = c(10, 20)]
x[trial = condition == "go"]
unit_table(x); trial_table(x)', autoplot(songbird)),
  list("Rates, intervals, pairs", "summary(x)
isi_statistics(x); bursts(x)
bin_spikes(x, 0.1)
psth(x, events)
tuning_curve(x, behaviour)
cross_correlogram(x)
sttc(x)
report(x)   # all on one page", autoplot(isi_statistics(mouse[unit = "191"]))),
  list("Assemblies", '# together or in sequence,
# at any time scale
a <- find_assemblies(x)
summary(a); plot(a)
plot(a, type = "raster")
assembly_activations(y, a)
activation_rate(a, 0.05)
psth(a, events)', autoplot(found, assemblies = 1)),
  list("Chains", '# delays between two bounds
d <- c(0.005, 0.015)
n <- suggest_min_count(x, d)
e <- mine_episodes(x, n, d)
t <- episode_significance(e)
plot(t, type = "network")
episode_occurrences(x, e)
episode_stream(d, n, 60)  # live',
       autoplot(episode_occurrences(songbird, chains[which.max(chains$size), ]))),
  list("Spike patterns", '# the same lags, to the bin
p <- spade(x, bin_size = 0.005,
           window_bins = 20,
           min_count = 10)
summary(p); plot(p)
plot(p, type = "raster")
mine_patterns(x, 0.005, 20)
frequent_itemsets(sets)', autoplot(patterns, type = "dots")),
  list("Connections", '# synapses, within milliseconds
s <- find_synapses(x)
summary(s)   # none found is
             # not none there
plot(s, type = "correlograms")
plot(s, type = "network")
as.matrix(s)', autoplot(find_synapses(mouse), type = "correlograms")),
  list("Causes: two series", 'summary(ccm(data, "x", "y", E = 3))
    # supported, not supported,
    # or why it cannot be told
ccm_lag(data, "x", "y", E = 3)
embed_dimension(data, "x")
simplex(); smap(); multiview()
predict_nonlinear(data, "x")',
       autoplot(ccm(pair, "x", "y", E = 3, samples = 20, both = FALSE, n_surrogates = 20))),
  list("Causes: many series", "m <- causal_map(traces)
    # map[effect, cause]
l <- direct_links(m, traces)
summary(l); plot(l)
compare_maps(m, m2)
smap_map(traces)
plot(m, groups = area)", autoplot(map)),
  list("Large, and exact", 'device = "gpu", gpus = 1:2
threads = 8, max_memory = 8e9
causal_map("in.h5", file = "m.h5")
    # the same call continues
future::plan(multisession)
set.seed(1)  # decides all numbers
synfire_sitrep()  # what is there', NULL)
)

draw_box <- function(box) {
  grid::grid.rect(width = 0.97, height = 0.95, gp = grid::gpar(col = "#B6BBC4", lwd = 1.5))
  text <- \(label, y, ...) grid::grid.text(label, 0.04, y, just = c("left", "top"),
                                           gp = grid::gpar(...))
  text(box[[1]], 0.93, fontface = "bold", fontsize = 13, col = synfire_colours()[["blue"]])
  text(box[[2]], 0.8, fontfamily = "mono", fontsize = 7.6, lineheight = 1.35)
  if (is.null(box[[3]])) return()
  plain <- box[[3]] + labs(title = NULL, subtitle = NULL, caption = NULL, x = NULL, y = NULL) +
    theme(legend.position = "none", axis.text.x = element_blank(), axis.text.y = element_blank(),
          axis.title.x = element_blank(), axis.title.y = element_blank(),
          axis.ticks = element_blank(), strip.text = element_blank(),
          strip.text.y.right = element_blank(), plot.background = element_blank())
  print(plain, vp = grid::viewport(x = 0.8, y = 0.43, width = 0.34, height = 0.78))
}

draw_page <- function() {
  grid::grid.newpage()
  grid::pushViewport(grid::viewport(width = 0.97, height = 0.95, layout = grid::grid.layout(
    4, 3, heights = grid::unit(c(1.6, 1, 1, 1), c("lines", "null", "null", "null"))
  )))
  title <- sprintf("synfire %s: library(synfire); songbird and mouse are recordings to try it on",
                   utils::packageVersion("synfire"))
  grid::grid.text(title, 0.01, 0.99, just = c("left", "top"), gp = grid::gpar(fontsize = 13))
  for (i in seq_along(boxes)) {
    grid::pushViewport(grid::viewport(layout.pos.row = 2 + (i - 1) %/% 3,
                                      layout.pos.col = 1 + (i - 1) %% 3))
    draw_box(boxes[[i]])
    grid::popViewport()
  }
}

size <- list(width = 11.7, height = 8.3)
do.call(grDevices::cairo_pdf, c("man/figures/cheat-sheet.pdf", size))
draw_page()
invisible(grDevices::dev.off())
picture <- "man/figures/cheat-sheet.bmp"
do.call(grDevices::bmp, c(picture, size, units = "in", res = 150, type = "cairo"))
draw_page()
invisible(grDevices::dev.off())
few_colours(picture)
