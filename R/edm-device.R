# Where empirical dynamic modelling of a few series is computed.

#' The device of a call, and the GPUs (from 0)
#'
#' @param device,gpus As the user gave them; `device` is already one of the choices.
#' @param seconds Seconds that the work takes on the CPU, about.
#' @return A list: `device`, `"cpu"` or `"gpu"`, and `gpus`. See `gpus_of()`.
#' @noRd
edm_place <- function(device, gpus, seconds, call = rlang::caller_env()) {
  gpus <- check_gpus(gpus, device, call = call)
  settle_place(device, gpus, seconds, call = call)
}
