# Maxima of surrogates in chunks whose results are kept in files: on many machines, and in
# many sittings, as mine_patterns() does with a folder.

# Of the files. Raised whenever they, or what comes of the same surrogates, change.
spectrum_format <- 4L

#' What surrogate_maxima() gives as `maxima`, chunk by chunk
#'
#' @param folder As the user gave it.
#' @param made What surrogate_options() gives; a job that is there has its own key.
#' @param threads A number, or `NULL` for what each worker may use.
#' @param seed R's random numbers before the key was drawn.
#' @return A list of `maxima`, `made` and `seed`: those that the job began with.
#' @noRd
maxima_in_folder <- function(folder, search, made, n, by_duration, place, threads, max_memory,
                             seed) {
  job <- list(format = spectrum_format, trains = search$trains, bin = search$bin,
              window = search$window, filters = search$filters, surrogate = made, n = n,
              by_duration = by_duration, first = seq(0, n - 1, by = ceiling(n / most_chunks)))
  identity <- job
  identity$surrogate$key <- NULL
  job <- c(job, list(id = rlang::hash(identity), seed = seed))
  done <- work_in_folder(folder, job, \(todo, folder, job) {
    do_chunks(todo, open_kept_surrogates, mine_surrogates,
              list(folder, job$id, place, max_memory), threads, folder)
  }, spectrum_differences)
  list(maxima = bind_maxima(done$parts), made = done$job$surrogate, seed = done$job$seed)
}

# ---- The job -------------------------------------------------------------------------

#' What a job that is there has otherwise, in words
#' @noRd
spectrum_differences <- function(there, job) {
  if (!is.list(there) || is.null(there$format) || is.null(there$by_duration)) {
    return("its job.rds is not one of surrogates")
  }
  if (!identical(there$format, job$format)) return("written by another version of synfire")
  settings <- \(job) {
    own <- job$surrogate$parameters
    # In seconds, and not that of the patterns.
    names(own)[names(own) == "window"] <- "shuffle_window"
    c(list(n_surrogates = job$n, spectrum = spectra[[1 + job$by_duration]],
           window_bins = job$window, closed_within = job$filters$closed_within %||% "all",
           surrogate = job$surrogate$method), own,
      job$filters[names(job$filters) != "closed_within"])
  }
  c(if (!identical(there$trains, job$trains)) "the recording differs",
    if (!identical(there$bin, job$bin)) sprintf("`bin_size` is %s ticks there, not %s",
                                                commas(there$bin), commas(job$bin)),
    setting_differences(settings(there), settings(job)))
}

# ---- A chunk -------------------------------------------------------------------------

#' Mine the surrogates of a chunk and write their maxima
#' @param held What `open_kept_surrogates()` gives.
#' @noRd
mine_surrogates <- function(chunk, held) {
  keep_surrogates(chunk, held, \(job, first, n) {
    surrogate_maxima(job, job$surrogate, n, job$by_duration, held$place, held$threads,
                     held$max_memory, first)$maxima
  })
}

#' Maxima of chunks, one below the other
#'
#' A chunk has as many sizes as its surrogates have use for; beyond, maxima are 0.
#' @noRd
bind_maxima <- function(parts) {
  sizes <- max(vapply(parts, \(part) dim(part)[[2L]], 0L))
  rows <- vapply(parts, nrow, 0L)
  out <- array(0L, c(sum(rows), sizes, dim(parts[[1L]])[-(1:2)]))
  before <- cumsum(rows) - rows
  for (k in seq_along(parts)) {
    at <- before[[k]] + seq_len(rows[[k]])
    of <- seq_len(dim(parts[[k]])[[2L]])
    if (length(dim(out)) == 3L) out[at, of, ] <- parts[[k]] else out[at, of] <- parts[[k]]
  }
  out
}
