# Surrogates of find_assemblies() in chunks whose results are kept in files: on many machines,
# and in many sittings, as mine_patterns() does with a folder. They take nearly all of the
# time of a long search, and neither `alpha` nor `resamples` changes them.

# The version of these files. It is raised whenever they hold something else, or the same
# surrogates have other evidence.
assembly_job_format <- 1L

# A pair of units is counted once for all surrogates of a chunk.
least_in_chunk <- 16

#' Evidence of surrogates, chunk by chunk
#'
#' @param folder As the user gave it.
#' @param options Options of the search, as find_assemblies() makes them; a job that is there has
#'   its own key.
#' @param threads A number, or `NULL` for what each worker may use.
#' @param seed R's random numbers before the key was drawn.
#' @param trains What `trains_of()` gives.
#' @param resolution Seconds of a tick.
#' @return A list of `known`, all that `r_assembly_maxima` gives; `key` and `seed`, those that
#'   the job began with.
#' @noRd
assembly_maxima_in_folder <- function(folder, trains, resolution, options, threads, seed) {
  n <- options$n
  chunks <- if (may_have_assemblies(trains)) max(1, min(most_chunks, n %/% least_in_chunk)) else 0
  job <- list(format = assembly_job_format, trains = trains, resolution = resolution, n = n,
              options = options[c("bin", "max_lag", "lags", "widest", "segment", "step", "events")],
              first = floor((seq_len(chunks) - 1) / chunks * n))
  job <- c(job, list(id = rlang::hash(job), key = options$key, seed = seed))
  done <- work_in_folder(folder, job, \(todo, folder, job) {
    do_chunks(todo, open_kept_surrogates, find_assembly_maxima,
              list(folder, job$id, options$gpus, options$max_memory), threads, folder)
  }, assembly_differences)
  list(known = do.call(cbind, done$parts), key = done$job$key, seed = done$job$seed)
}

#' What a job that is there has otherwise, in words
#' @noRd
assembly_differences <- function(there, job) {
  if (!is.list(there) || is.null(there$format) || is.null(there$options$max_lag)) {
    return("its job.rds is not one of assemblies")
  }
  if (!identical(there$format, job$format)) return("written by another version of synfire")
  settings <- \(job) {
    list(n_surrogates = job$n, max_lag = job$options$max_lag,
         segment = ticks_to_seconds(job$options$segment, job$resolution))
  }
  of_recording <- c("trains", "resolution")
  c(if (!identical(there[of_recording], job[of_recording])) "the recording differs",
    if (!identical(there$options$events, job$options$events)) "`locked_to` differs",
    setting_differences(settings(there), settings(job)))
}

#' Find the evidence of a chunk of surrogates and write it
#' @param held What `open_kept_surrogates()` gives, its `place` the GPUs.
#' @noRd
find_assembly_maxima <- function(chunk, held) {
  keep_surrogates(chunk, held, \(job, first, n) {
    options <- c(job$options, list(key = job$key, first = first, n = n, gpus = held$place),
                 held[c("threads", "max_memory")])
    finish_assemblies(.Call(r_assembly_maxima, job$trains, options))
  })
}

# ---- With and without a folder ---------------------------------------------------------

#' Whether there is anything to look at: three units, and spikes in trials
#' @noRd
may_have_assemblies <- function(trains) trains$units > 2L && count_in_trials(trains) > 0L

#' A result of the core, or the error that it stands for
#' @noRd
finish_assemblies <- function(found) {
  finish_status(found, "finding assemblies",
                "Take fewer units with `x[unit = ]`, or a shorter `max_lag`.",
                limit_of = "spikes")
}
