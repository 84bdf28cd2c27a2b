# Where a causal map is computed.

#' The device that maps, and the GPUs (from 0)
#' @noRd
map_place <- function(device, gpus, task, call = rlang::caller_env()) {
  gpus <- check_gpus(gpus, device, call = call)
  half <- task$rule$precision == "half"
  if (half && device == "cpu") {
    abort_arg("precision", "\"float\" on the CPU", "\"half\"",
              "Half precision needs a GPU: `device = \"gpu\"`.", call = call)
  }
  settle_place(device, gpus, map_seconds(task), half, call)
}

#' Seconds that a task takes on the CPU, about
#' @noRd
map_seconds <- function(task) {
  rule <- task$rule
  steps <- task$source$steps
  views <- length(rule$Tp) * (1 + !is.null(rule$lib_sizes) + rule$n_surrogates)
  search <- if (is.null(task$E)) length(task$targets) * library_seconds(steps, rule$E_max, 1, 1)
  map <- length(task$libraries) *
    library_seconds(steps, rule$E_max, length(task$targets), views)
  sum(search, map) / rule$threads
}
