# usage: Rscript tools/figures.R. Draws the picture of README.md into man/figures/, with synfire
# installed.

library(synfire)
set.seed(1)
found <- find_assemblies(songbird)
dir.create("man/figures", showWarnings = FALSE, recursive = TRUE)
ggplot2::ggsave("man/figures/songbird.png",
                ggplot2::autoplot(found, type = "raster", from = 8, to = 16),
                width = 7.2, height = 4.6, dpi = 150, bg = "white")
