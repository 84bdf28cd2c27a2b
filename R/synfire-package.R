#' synfire: repeating patterns in spike trains and time series
#'
#' Recordings of many neurons at once hold firing patterns that repeat: chains in
#' which one unit follows another within a known delay. `synfire` reads a recording
#' ([read_spikes()], [spike_trains()]), finds every chain that repeats often enough
#' ([mine_episodes()]) and shows where it happened ([episode_occurrences()]).
#'
#' @section Threads:
#' Work is spread over the cores this process may use: those it is bound to and its
#' control group allows, capped by the environment variables `OMP_NUM_THREADS` and
#' `OMP_THREAD_LIMIT`. [synfire_sitrep()] says how many those are and what decided it.
#' A forked child (as [parallel::mclapply()] makes) computes on one thread. Results
#' never depend on the number of threads.
#'
#' @section GPUs:
#' Work on a GPU begins sooner after the first call: the process keeps some of the GPU's
#' memory for the next call, a sixteenth part of it and 8 GB at most. Work that needs
#' it, and `max_memory`, come first. It is given back when memory runs short, when the
#' package is unloaded and at the end of the process. A forked child cannot use GPUs.
#'
#' @section Random numbers:
#' Everything random follows [set.seed()]; results depend neither on the number of
#' threads nor on the device.
#'
#' @keywords internal
#' @importFrom rlang %||%
#' @useDynLib synfire, .registration = TRUE
"_PACKAGE"

.onUnload <- function(libpath) {
  .Call(r_let_go_all)
  .Call(r_release_gpu)
  .Call(r_threads_end)
  library.dynam.unload("synfire", libpath)
}
