# The recording of Porrmann et al. (2021): `source("bench/raster.R")` in the folder of the package,
# after tools/data.R.

bins <- 4464  # of the recording, 5 ms each

#' The recording, with copies of it stacked as further units, each shifted in a circle
read_raster <- function(copies = 1) {
  raster <- read.table(file.path(Sys.getenv("SYNFIRE_DATA"), "spade",
                                 "movement_PGHF_raster.txt.gz"))
  stacked <- lapply(seq_len(copies) - 1, \(copy) {
    data.frame(unit = raster[[1]] + 150 * copy,
               bin = (raster[[2]] + copy * bins %/% copies) %% bins)
  })
  stacked <- do.call(rbind, stacked)
  spike_trains((stacked$bin * 5 + 2) / 1000, stacked$unit, start = 0, end = bins * 0.005,
               resolution = 1e-3)
}
