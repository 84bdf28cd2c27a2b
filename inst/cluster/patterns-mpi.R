# Spike patterns on the ranks of an MPI job: rank 0 makes a queue, the others mine.
#
#   mpirun -n 3 Rscript patterns-mpi.R recording.csv folder result.rds 3 25
#
# The numbers are min_spikes and min_count; what else mine_patterns() takes is set below.
# The folder, and the library with synfire, must be on a file system that all ranks see.
# Needs the packages Rmpi, snow and future. A job that was killed goes on from the chunks
# in its folder when it is started again, with any number of ranks.

library(Rmpi)
if (mpi.comm.rank(0) > 0) {
  # A worker, until rank 0 stops the cluster. It would print a line for each message.
  sink(nullfile())
  snow::workLoop(snow::makeMPImaster())
  mpi.quit()
}

mine <- function(recording, folder, result, min_spikes, min_count) {
  found <- synfire::mine_patterns(
    synfire::read_spikes(recording),
    bin_size = 0.005, window_bins = 20,
    min_spikes = as.numeric(min_spikes), min_count = as.numeric(min_count),
    threads = 1,  # leave it out with one rank a machine
    folder = folder
  )
  message(length(found$count), " patterns")
  saveRDS(found, result)
}

tryCatch(
  {
    cl <- snow::makeMPIcluster()
    future::plan(future::cluster, workers = cl)
    do.call(mine, as.list(commandArgs(TRUE)))
    snow::stopCluster(cl)
  },
  error = function(e) {
    message("Error: ", conditionMessage(e))
    # Without MPI_Finalize, so that mpirun ends the ranks that wait for this one.
    quit(status = 1, runLast = FALSE)
  }
)
mpi.quit()
