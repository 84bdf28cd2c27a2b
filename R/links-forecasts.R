# Conditional forecasts: what direct_links() is made of.

#' Forecast effects one step ahead, without and with one more series
#'
#' @param series Double matrix, steps x series, standardised, with `NA` where missing.
#' @param jobs A list of integers `effect` (columns of `series`), doubles `theta`, integer
#'   matrices `coordinate` and `candidate` with two rows, the column of `series` and the lag
#'   in steps (0 for the present value), and where those of each job begin, from 0 and with
#'   their number at the end: `coordinate_start` and `candidate_start`, one longer than
#'   `effect`. A job has 1 to 24 coordinates and any number of candidates.
#' @param exclusion Rows at most so many steps away are left out of a fit.
#' @param reach The largest lag of the call; all jobs have rows from step `reach + 1` on.
#' @param where A list of `gpus` (numbers from 0, or `NULL` for the CPU) and `threads`.
#' @return A list: `rows` and `error`, the mean squared error without a candidate, of each job;
#'   `gain`, the share by which the candidate lowers it, and `t`, the mean fall of squared
#'   errors by its standard error, of each candidate. `NA` where there is none.
#' @noRd
conditional_forecasts <- function(series, jobs, exclusion, reach, where,
                                  call = rlang::caller_env()) {
  out <- .Call(r_forecast, series, jobs, c(list(exclusion = exclusion, reach = reach), where))
  finish_status(out, "these forecasts", call = call)
}
