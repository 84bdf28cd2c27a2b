# The picture and the tables of vignette("error-rates"): which pairs of units four methods put
# together, in one simulated recording whose assemblies are known, and in a real one.
#
# In the folder of the package, a few minutes:
#
#   Rscript vignettes/questions/precompute.R [simulated] [songbird]
#
# It writes pairs-simulated.csv and pairs-songbird.csv (`method`, `first`, `second`: two units
# that the method links, the one that fires first, or is the cause, first), and
# units-simulated.csv and units-songbird.csv (`unit`, `assembly`: those of each assembly, in
# the order of the picture). The second recording is the songbird's, see tools/get-data.R.

library(synfire)
source("tools/data.R")
options(cli.progress_show_after = Inf)
folder <- "vignettes/questions"
if (!dir.exists(folder)) stop("run this in the folder of the package")
asked <- commandArgs(TRUE)
if (length(asked) == 0L) asked <- c("simulated", "songbird")

# ---- Links -------------------------------------------------------------------------------

links <- function(method, first, second) {
  pairs <- unique(data.frame(first = as.character(first), second = as.character(second)))
  pairs <- pairs[pairs$first != pairs$second, ]
  cbind(method = rep(method, nrow(pairs)), pairs)
}

# Each two units of a group, the one with the smaller lag first; both ways round for equal lags.
links_of_groups <- function(method, units, lags) {
  pairs <- do.call(rbind, Map(\(unit, lag) {
    both <- expand.grid(i = seq_along(unit), j = seq_along(unit))
    both <- both[both$i != both$j & lag[both$i] <= lag[both$j], ]
    data.frame(first = unit[both$i], second = unit[both$j])
  }, units, lags))
  links(method, pairs$first, pairs$second)
}

assembly_links <- function(x, max_lag) {
  set.seed(1)
  found <- find_assemblies(x, max_lag = max_lag, threads = 2)
  print(found)
  links_of_groups("assemblies", found$units, found$lags)
}

pattern_links <- function(x, bin, window_bins, min_count, dither) {
  set.seed(1)
  found <- spade(x, bin_size = bin, window_bins = window_bins, min_spikes = 3, max_spikes = 6,
                 min_count = min_count, n_surrogates = 500, surrogate = "dither",
                 dither = dither, threads = 2)
  print(found)
  found <- as.data.frame(found)
  links_of_groups("patterns", found$units, found$lags)
}

episode_links <- function(x, intervals, min_count, max_size, dither) {
  frequent <- mine_episodes(x, min_count = min_count, intervals = intervals,
                            max_size = max_size, distinct_units = TRUE, threads = 2)
  set.seed(1)
  tested <- episode_significance(frequent, n_surrogates = 500, dither = dither, threads = 2)
  print(tested)
  tested <- as.data.frame(tested)
  units <- tested$units[which(tested$significant)]
  links_of_groups("episodes", units, lapply(units, seq_along))
}

# Links that no surrogate reaches: by chance about one in `n + 1`.
map_links <- function(x, bin, radius, n = 499) {
  set.seed(1)
  map <- causal_map(bin_spikes(x, bin), E_max = 4, Tp = -3:0, exclusion_radius = radius,
                    n_surrogates = n, threads = 2)
  p <- attr(map, "p_value")
  at <- which(p <= 1.001 / (n + 1) & row(p) != col(p), arr.ind = TRUE)
  links("map", colnames(p)[at[, 2L]], rownames(p)[at[, 1L]])
}

write_table <- function(table, name) {
  utils::write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE)
}

# ---- Both recordings ---------------------------------------------------------------------

if ("simulated" %in% asked) {
  set.seed(5)
  x <- simulate_assemblies(300, 30, size = 4, count = 100, participation = 0.9)
  truth <- attr(x, "truth")$assemblies
  units <- data.frame(unit = unlist(truth$units), assembly = rep(truth$kind, truth$size))
  rest <- setdiff(levels(x$unit), units$unit)
  write_table(rbind(units, data.frame(unit = rest, assembly = "")), "units-simulated")
  steps <- seq(0, 0.025, 0.005)
  write_table(rbind(
    episode_links(x, cbind(steps, steps + 0.005), 60, 4, 0.05),
    pattern_links(x, 0.005, 12, 10, 0.025), assembly_links(x, 1), map_links(x, 0.2, 5)
  ), "pairs-simulated")
}

# Times are those of a camera, 30 frames a second, and what a burst leaves lasts several frames:
# the first of each run is taken.
if ("songbird" %in% asked) {
  file <- file.path(Sys.getenv("SYNFIRE_DATA"), "recordings", "songbird.txt")
  if (!file.exists(file)) stop("SYNFIRE_DATA names no folder with recordings/songbird.txt")
  x <- read_spikes(file)
  number <- as.numeric(levels(x$unit))
  write_table(data.frame(unit = levels(x$unit)[order(number)], assembly = ""), "units-songbird")
  spikes <- data.frame(frame = round(x$time * 30), unit = x$unit)
  spikes <- spikes[order(spikes$unit, spikes$frame), ]
  new <- c(TRUE, diff(as.integer(spikes$unit)) != 0 | diff(spikes$frame) > 1)
  spikes <- spikes[new, ]
  frames <- spike_trains(spikes$frame, spikes$unit, resolution = 1)
  seconds <- spike_trains(spikes$frame / 30, spikes$unit, resolution = 1e-6)
  steps <- 0:5
  write_table(rbind(
    episode_links(frames, cbind(steps, steps + 1), 8, 4, 15), pattern_links(frames, 1, 12, 6, 15),
    assembly_links(seconds, 1), map_links(frames, 3, 5)
  ), "pairs-songbird")
}
