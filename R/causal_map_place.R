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
  if (device == "auto") {
    survey <- gpu_survey()
    device <- choose_map_device(map_seconds(task), survey$name[gpus[[1L]] + 1L],
                                survey$reason, context_seconds(), half)
  }
  need_gpu(device, call)
  if (device == "gpu") gpu_session$used <- TRUE
  list(device = device, gpus = gpus)
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

#' What `device = "auto"` picks, said in one line
#' @noRd
choose_map_device <- function(seconds, gpu, reason, context, half) {
  if (is.na(gpu)) {
    device <- if (half) "gpu" else "cpu"
    why <- paste("there is no GPU:", reason)
  } else if (half) {
    device <- "gpu"
    why <- "half precision runs there alone"
  } else {
    device <- sooner_device(seconds, context)
    why <- sooner_reason(seconds, context)
  }
  say_device(device, gpu, sprintf(": %s.", why))
  device
}
