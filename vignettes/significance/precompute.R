# What vignette("error-rates") shows and what takes more than some seconds to compute.
#
# In the folder of the package:
#
#   Rscript bench/spade-science.R                                    null, misfit, power
#   Rscript vignettes/significance/precompute.R                              recording
#
# The first writes the shares of recordings in which patterns are found, without any and with
# planted ones. The second, here, is about a real recording: motor cortex of a monkey that
# reaches and grasps (Brochier et al. 2018, Scientific Data 5, 180055, CC BY 4.0), in the bins
# of 5 ms that Porrmann et al. 2021 published: spade/movement_PGHF_raster.txt.gz, pairs of
# unit and bin, both from 0, which tools/get-data.R fetches.

library(synfire)
source("tools/data.R")
options(cli.progress_show_after = Inf)

folder <- "vignettes/significance"
if (!dir.exists(folder)) stop("run this in the folder of the package")
file <- file.path(Sys.getenv("SYNFIRE_DATA"), "spade", "movement_PGHF_raster.txt.gz")
if (!file.exists(file)) stop("SYNFIRE_DATA names no folder with spade/", basename(file))

raster <- utils::read.table(file, col.names = c("unit", "bin"))
x <- spike_trains((5 * raster$bin + 2) / 1000, raster$unit, start = 0, end = 4464 * 0.005,
                  resolution = 1e-3)[time = c(0, 5)]

rows <- lapply(c("randomise", "dither", "window_shuffle", "train_shift"), \(surrogate) {
  set.seed(1)
  how <- if (surrogate != "randomise") list(dither = 0.03)
  found <- do.call(spade, c(
    list(x, bin_size = 0.005, window_bins = 20, min_spikes = 3, min_count = 15, n_surrogates = 1000,
         surrogate = surrogate, reduction = "none", threads = 1), how
  ))
  if (surrogate == "window_shuffle") how$bin_size <- 0.005
  made <- do.call(surrogate_trains, c(list(x, 20, surrogate), how))
  bins <- \(x) nrow(unique(data.frame(x$unit, floor(x$time / 0.005 + 1e-6))))
  data.frame(surrogate = surrogate, spikes = nrow(x),
             bins = mean(vapply(made, bins, 0L)) / bins(x), found = length(found$mined),
             tests = attr(found$tests, "tests"), significant = length(found))
})
rows <- do.call(rbind, rows)
rows$bins <- signif(rows$bins, 3)
utils::write.csv(rows, file.path(folder, "recording.csv"), row.names = FALSE)
print(rows)
