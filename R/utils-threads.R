# How many threads work uses.

#' What decided the number of threads
#' @return Named integers; 0 where a limit is not set.
#' @noRd
threads_report <- function() .Call(r_threads_report)

#' The `threads` argument of the functions that compute
#'
#' `NULL` stands for what this process may use. A number is taken as it is, even beyond
#' that: whoever writes it knows the machine.
#' @noRd
check_threads <- function(threads, arg = rlang::caller_arg(threads)) {
  if (is.null(threads)) return(threads_report()[["threads"]])
  as.integer(check_count(threads, arg, min = 1, max = 1024))
}

#' The `max_memory` argument of the functions that compute: bytes
#' @noRd
check_memory <- function(max_memory, min = 1e6) {
  check_number(max_memory, "max_memory", min = min, max = 2^53)
}

#' A loop of known length, for the tests of threads, interrupts and progress
#'
#' @param items How many steps.
#' @param seconds How long each computes.
#' @param fail_at Step (from 0) that ends the loop with `status`, or -1.
#' @return A list: which `worker` had each item, and a random `value` of its own.
#' @noRd
parallel_probe <- function(items, seconds, threads = 1, fail_at = -1, status = 0) {
  result <- .Call(r_parallel_probe, items, seconds, threads, fail_at, status)
  finish_status(result, "a probe", "Probe less.")
}
