# A causal map on the ranks of an MPI job: rank 0 makes a queue, the others map.
#
#   mpirun -n 3 Rscript causal-map-mpi.R series.h5 map.h5
#   mpirun -n 3 Rscript causal-map-mpi.R series.h5 map.h5 gpu
#
# series.h5 holds a matrix, steps x series as R sees it. With "gpu" each rank uses
# the first GPU that it sees: have the scheduler give each its own. What else causal_map()
# takes is set below. The files, and the library with synfire, must be on a file system that
# all ranks see. Needs the packages Rmpi, snow, future and hdf5r. A job that was killed goes
# on from the finished chunks when it is started again, with any number of ranks.

library(Rmpi)
if (mpi.comm.rank(0) > 0) {
  # A worker, until rank 0 stops the cluster. It would print a line for each message.
  sink(nullfile())
  snow::workLoop(snow::makeMPImaster())
  mpi.quit()
}

map <- function(series, file, device = "cpu") {
  found <- synfire::causal_map(
    series, E_max = 20, device = device,
    threads = if (device == "cpu") 1,  # leave it out with one rank a machine
    file = file
  )
  print(found)
}

tryCatch(
  {
    cl <- snow::makeMPIcluster()
    future::plan(future::cluster, workers = cl)
    do.call(map, as.list(commandArgs(TRUE)))
    snow::stopCluster(cl)
  },
  error = function(e) {
    message("Error: ", conditionMessage(e))
    # Without MPI_Finalize, so that mpirun ends the ranks that wait for this one.
    quit(status = 1, runLast = FALSE)
  }
)
mpi.quit()
