# Which device mines patterns and itemsets.

#' Error where the arguments that name a device do not go together
#' @noRd
check_miner_place <- function(device, gpus, engine, folder = NULL, call = rlang::caller_env()) {
  check_place(device, gpus, call)
  if (device != "gpu") return(invisible())
  if (engine != "closure") {
    abort_arg("engine", "\"closure\" with `device = \"gpu\"`", describe(engine),
              "Leave `engine` out, or give `device = \"cpu\"`.", call)
  }
  if (!is.null(folder)) {
    abort_arg("device", "\"cpu\" or \"auto\" with a `folder`", describe(device),
              "Chunks of a folder are mined on the CPU.", call)
  }
}

#' Where patterns are mined
#'
#' @param engine As it was checked.
#' @param seconds Function that gives how long the CPU would take, about.
#' @return `NULL` for the CPU, or numbers of GPUs, from 0.
#' @noRd
miner_place <- function(device, gpus, engine, seconds, call = rlang::caller_env()) {
  if (device == "auto" && engine != "closure") {
    say_device("cpu", NA, ": the engine runs there alone.")
    return(NULL)
  }
  surrogate_place(device, gpus, seconds, call)
}

#' Seconds that mining takes on the CPU, about
#'
#' Pairs of a root and another item that happen often enough by chance are followed: the
#' windows of each are compared with all items, 2.4e10 of these comparisons a second and
#' thread, measured. What comes of patterns that are there not by chance is not counted.
#'
#' @param n Spikes of each unit, or transactions with each item.
#' @param bins Bins there are, or transactions.
#' @param window Bins of a window; 1 for transactions.
#' @noRd
mining_seconds <- function(n, bins, window, min_count, threads) {
  some <- as.double(n[n >= min_count])
  if (length(some) == 0L) return(0)
  # Of very many units a thousand stand for all.
  if (length(some) > 1000L) some <- sort(some)[even_steps(length(some), 1000)]
  items <- sum(n >= min_count) * window
  times <- sum(n >= min_count) / length(some)
  together <- outer(some, some) / max(1, bins)
  followed <- sum(together[together + 3 * sqrt(together) >= min_count])
  seen <- sum(n)^2 / max(1, bins) * window / 1e9
  (followed * times^2 * window * items / 2 / 2.4e10 + seen) / threads
}
