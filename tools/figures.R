# usage: Rscript tools/figures.R. Draws the pictures of README.md into man/figures/, with
# synfire installed.

library(synfire)
set.seed(1)
x <- simulate_sym26()
intervals <- cbind(low = c(0, 0.005, 0.010), high = c(0.005, 0.010, 0.015))
found <- mine_episodes(x, min_count = 300, intervals = intervals)

dir.create("man/figures", showWarnings = FALSE, recursive = TRUE)
save <- function(name, plot, width, height) {
  ggplot2::ggsave(file.path("man/figures", name), plot, width = width, height = height,
                  dpi = 110, bg = "white")
}
save("raster.png", ggplot2::autoplot(found, type = "raster", episodes = 2), 7.6, 4.4)
save("network.png", ggplot2::autoplot(found, type = "network", edges = 22), 7.6, 3.2)

set.seed(3)
x <- simulate_patterns(
  duration = 60, units = 60, rate = 6, jitter = 0.0015,
  patterns = list(
    list(units = c(4, 17, 9, 31, 22, 40), lags = c(0, 10, 15, 25, 40, 50) / 1000,
         count = 60),
    list(units = c(50, 12, 45, 7, 28), lags = c(0, 0, 20, 35, 45) / 1000, count = 70),
    list(units = c(36, 58, 20, 2), lags = c(0, 15, 20, 40) / 1000, count = 80)
  )
)
found <- mine_patterns(x, bin_size = 0.005, window_bins = 12, min_spikes = 3, min_count = 12)
save("patterns.png", ggplot2::autoplot(found), 7.6, 4.8)

set.seed(3)
x <- simulate_assemblies(600, 40, c("synchrony", "sequence", "rate_sequence"), size = c(5, 6, 5),
                         count = c(120, 120, 80))
found <- find_assemblies(x)
save("assemblies.png", ggplot2::autoplot(found, type = "raster"), 7.6, 4.8)

# The coupled logistic maps of Sugihara et al. (2012): y hardly acts on x, x drives y.
n <- 400
fish <- data.frame(time = seq_len(n), x = 0.4, y = 0.2)
for (t in seq_len(n)[-1]) {
  x <- fish$x[t - 1]
  y <- fish$y[t - 1]
  fish$x[t] <- x * (3.8 - 3.8 * x - 0.02 * y)
  fish$y[t] <- y * (3.5 - 3.5 * y - 0.1 * x)
}
drive <- ccm(fish, "x", "y", E = 2, lib_sizes = c(10, 20, 40, 80, 160, 300), samples = 50,
             n_surrogates = 50)
save("ccm.png", ggplot2::autoplot(drive), 7.6, 3.6)

set.seed(4)
source("vignettes/causal-maps/simulated.R")
x <- simulate_calcium()
map <- causal_map(x, E_max = 10, Tp = -1)
save("causal-map.png", ggplot2::autoplot(map, groups = attr(x, "region")), 6.4, 5.6)
