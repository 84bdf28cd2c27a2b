# A causal map on the nodes of a Slurm cluster, a job a chunk of libraries.
#
#   Rscript causal-map-slurm.R series.h5 map.h5
#   Rscript causal-map-slurm.R series.h5 map.h5 gpu
#
# Run it where jobs may be submitted, and where it may go on until all is done, such as on a
# login node in screen or tmux, or in a small job of its own. It does next to no work itself.
# series.h5 holds a matrix, steps x series as R sees it. The files, this folder and the library
# with synfire must be on a file system that all nodes see. Needs the packages
# future.batchtools and hdf5r. Start it again to go on where it was stopped.

arguments <- commandArgs(TRUE)
device <- if (length(arguments) > 2) arguments[[3]] else "cpu"

# What a job gets; slurm.tmpl turns it into options of sbatch.
resources <- list(cpus = 8, memory = "16G", minutes = 60)
if (device == "gpu") resources$gpus <- 1

template <- Sys.getenv("SLURM_TEMPLATE",
                       system.file("cluster", "slurm.tmpl", package = "synfire"))
future::plan(future.batchtools::batchtools_slurm, template = template, workers = 64,
             resources = resources)

# Without `threads`, each job uses the cores that Slurm gives it.
map <- synfire::causal_map(arguments[[1]], E_max = 20, device = device,
                           file = arguments[[2]])
print(map)
