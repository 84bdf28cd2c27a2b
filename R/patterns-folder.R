# Mining in chunks whose results are kept in files: on many machines, and in many sittings.

# Of the files. Raised whenever they, or what is found in the same spikes, change.
job_format <- 3L

#' Mine chunk by chunk, as the user's `plan()` has it
#'
#' @param folder As the user gave it.
#' @param events What `pattern_events()` gives.
#' @param window,parameters,engine,max_memory As `pattern_options()` takes them.
#' @param threads The same, or `NULL` for what each worker may use.
#' @return What `r_mine_patterns` gives for all shares, and the `threads` of a worker;
#'   `mining_elapsed` is the sum of all chunks, `peak_memory` that of the worst one.
#' @noRd
mine_in_folder <- function(folder, events, window, parameters, engine, threads, max_memory) {
  job <- new_job(events, window, parameters, engine)
  done <- work_in_folder(folder, job, differences = job_differences, report = report_found,
                         work = \(todo, folder, job) {
    # The last ones first: they have the most work, and so may be more than a fair share.
    rev(do_chunks(rev(todo), open_kept_job, mine_chunk, list(folder, job$id, max_memory), threads,
                  folder))
  })
  merge_chunks(done$folder, done$job, done$parts, max_memory)
}

# ---- The job -------------------------------------------------------------------------

#' What decides the result, and where it is cut
#' @noRd
new_job <- function(events, window, parameters, engine) {
  # Those of shifted patterns are dropped once all are there.
  parameters <- parameters[setdiff(names(parameters), "shifted_subsets")]
  # Names of units decide nothing: recordings that differ in these alone are the same.
  events$unit <- as.integer(events$unit)
  # Engines share the work of a unit out in ways of their own.
  job <- list(format = job_format, events = events, window = window, parameters = parameters,
              engine = engine, end = share_chunks(events, window, parameters$min_count))
  c(job, id = rlang::hash(job))
}

#' Cut the shares of the search into chunks of about equal work
#'
#' This must depend on the data alone, so that a job can go on under another plan.
#'
#' @return For each chunk, how many shares there are up to its last one.
#' @noRd
share_chunks <- function(events, window, min_count) {
  least <- min(min_count, .Machine$integer.max)
  work <- finish_status(.Call(r_pattern_shares, events, window, least), "cutting this search",
                        limit_of = "spikes")
  if (sum(work) == 0) return(length(work))
  chunks <- min(sum(work > 0), most_chunks)
  chunk <- pmax(1, ceiling((cumsum(work) - work / 2) / sum(work) * chunks))
  which(diff(c(chunk, Inf)) > 0)
}

#' What a job that is there has otherwise, in words
#' @noRd
job_differences <- function(there, job) {
  if (!is.list(there) || is.null(there$format)) return("its job.rds is of something else")
  if (!identical(there$format, job$format)) return("written by another version of synfire")
  settings <- \(job) {
    c(list(window_bins = job$window, engine = job$engine), job$parameters)
  }
  spikes <- setdiff(names(job$events), "bin")
  c(
    if (!identical(there$events[spikes], job$events[spikes])) "the recording differs",
    if (!identical(there$events$bin, job$events$bin)) {
      sprintf("`bin_size` is %s ticks there, not %s", commas(there$events$bin),
              commas(job$events$bin))
    },
    setting_differences(settings(there), settings(job))
  )
}

# ---- A chunk -------------------------------------------------------------------------

#' Mine a chunk and write what is found
#' @param held What `open_kept_job()` gives.
#' @return What `merge_chunks()` has to know of it beforehand.
#' @noRd
mine_chunk <- function(chunk, held) {
  job <- held$job
  options <- pattern_options(job$window, job$parameters, job$engine, held$threads, held$max_memory)
  found <- .Call(r_mine_patterns, job$events, options, as.double(c(0, job$end)[chunk + 0:1]))
  found <- finish_patterns(found, job$parameters)
  found$threads <- held$threads
  write_chunk(found, chunk, held$folder, job$id)
  report_found(found)
}

report_found <- function(found) found[c("size", "n", "peak_memory", "mining_elapsed", "threads")]

# ---- All chunks ----------------------------------------------------------------------

#' The patterns of all chunks: by size, then chunk by chunk
#'
#' Within a size, patterns are ordered as the shares are, so this is the order in which
#' they are found at once. Holds the result and a chunk at a time.
#' @noRd
merge_chunks <- function(folder, job, reports, max_memory) {
  each <- \(field) lapply(reports, `[[`, field)
  sizes <- sort(unique(unlist(each("size"))))
  n <- matrix(0, length(reports), length(sizes))
  for (k in seq_along(reports)) n[k, match(reports[[k]]$size, sizes)] <- reports[[k]]$n
  words <- n * rep(sizes, each = nrow(n))
  check_merged(n, words, folder, max_memory)
  items <- integer(sum(words))
  count <- integer(sum(n))
  # Where the patterns of a chunk (row) and size (column) begin.
  before <- \(x) array(cumsum(x) - x, dim(x))
  first <- before(n)
  first_word <- before(words)
  for (k in seq_along(reports)) {
    found <- read_chunk(k, folder, job)
    if (is.null(found)) {
      abort_about("folder",
                  "{.file {chunk_path(folder, k)}} was changed while its folder was in use.",
                  i = "Make the same call again: what is damaged is done again.")
    }
    from <- cumsum(n[k, ]) - n[k, ]
    from_word <- cumsum(words[k, ]) - words[k, ]
    for (s in seq_along(sizes)) {
      for (piece in pieces(n[k, s], most_copied)) {
        count[first[k, s] + piece] <- found$count[from[[s]] + piece]
      }
      for (piece in pieces(words[k, s], most_copied)) {
        items[first_word[k, s] + piece] <- found$items[from_word[[s]] + piece]
      }
    }
  }
  list(items = items, size = sizes %||% integer(), n = colSums(n), count = count,
       peak_memory = max(unlist(each("peak_memory"))),
       mining_elapsed = sum(unlist(each("mining_elapsed"))),
       threads = max(unlist(each("threads"))))
}

# R makes vectors of the places it copies from and to.
most_copied <- 2^18

#' Stop where the patterns of all chunks do not fit
#' @noRd
check_merged <- function(n, words, folder, max_memory) {
  needed <- 4 * (sum(n + words) + max(0, rowSums(n + words)))
  if (needed <= max_memory) return(invisible())
  abort_about(
    "budget", "The memory budget is too small for the {commas(sum(n))} patterns of all chunks.",
    x = "About {bytes_text(needed)} would be needed; {.arg max_memory} is
         {bytes_text(max_memory)}.",
    i = "All chunks are finished and stay in {.file {folder}}: the same call with a larger
         {.arg max_memory} merges them without mining again."
  )
}
