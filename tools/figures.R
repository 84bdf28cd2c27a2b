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
