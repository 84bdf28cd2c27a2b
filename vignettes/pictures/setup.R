# What the guides share: sharp pictures, and words that fit the page. A guide runs where the packages
# that draw and read its files are installed, and is only text elsewhere.
knitr::opts_chunk$set(
  collapse = TRUE, comment = "#>", fig.width = 7.2, fig.height = 4.2, dpi = 150, fig.retina = 1,
  out.width = "100%",
  eval = all(vapply(c("ggplot2", "igraph", "hdf5r"), requireNamespace, NA, quietly = TRUE))
)
source("pictures/few-colours.R")
options(width = 88, cli.progress_show_after = Inf)
