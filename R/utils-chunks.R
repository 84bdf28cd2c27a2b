# Work cut into chunks whose results are files: done on the workers of the user's plan
# where there are some, and again where a worker died.

#' Whether the user's `plan()` has workers
#' @noRd
workers_planned <- function() {
  rlang::is_installed("future") && !inherits(future::plan(), "sequential")
}

planned_workers <- function() if (workers_planned()) future::nbrOfWorkers() else 1

#' Whether workers stay from chunk to chunk, and to ask one whether it has finished costs
#' next to nothing
#'
#' Elsewhere a chunk may be a job of a scheduler.
#' @noRd
workers_stay <- function() {
  !workers_planned() || inherits(future::plan(), c("cluster", "multicore"))
}

#' Do each of `todo`
#'
#' A chunk whose worker died is done once more on the plan, then here. Any other error of a
#' chunk is raised here.
#'
#' @param todo Chunks, in the order in which they are begun.
#' @param work Function of this package, of a chunk, `arguments`, and a number of `threads`.
#' @param threads A number, or `NULL` for what this process, or each worker, may use.
#' @param keep Called with each chunk, and what `work` returned, once that is there.
#' @return What `work` returned, in the order of `todo`.
#' @noRd
do_chunks <- function(todo, work, arguments, threads, keep = function(chunk, result) NULL) {
  if (length(todo) == 0L) return(list())
  step <- function() NULL
  if (rlang::is_installed("progressr")) step <- progressr::progressor(along = todo)
  queue <- new_queue(todo, \(chunk, result) {
    keep(chunk, result)
    step()
  })
  if (workers_planned()) {
    queue$start <- \(chunk) start_chunk(chunk, work, arguments, threads)
    empty_queue(queue)
  }
  for (place in which(!queue$done)) {
    finish_chunk(queue, place, do.call(work, c(list(todo[[place]]), arguments,
                                               threads = check_threads(threads))))
  }
  queue$result
}

#' Give a chunk to a worker; what it is about, the worker reads from files
#'
#' All that it is given is in the expression: each global would be one more message, which
#' is waited for.
#' @noRd
start_chunk <- function(chunk, work, arguments, threads) {
  job <- rlang::expr(asNamespace("synfire")$on_worker(
    !!work, !!c(list(chunk), arguments), !!threads
  ))
  future::future(job, substitute = FALSE, globals = FALSE, seed = NULL)
}

#' On a worker, which shares its machine with others and has no user to look on
#' @noRd
on_worker <- function(work, arguments, threads) {
  rlang::local_options(cli.progress_show_after = Inf)
  threads <- threads %||% min(check_threads(NULL), future::availableCores())
  do.call(work, c(arguments, threads = threads))
}

# ---- The queue -----------------------------------------------------------------------

# Tries of a chunk on the plan.
most_tries <- 2L

new_queue <- function(todo, keep) {
  queue <- new.env(parent = emptyenv())
  queue$todo <- todo
  queue$keep <- keep
  queue$result <- vector("list", length(todo))
  queue$done <- logical(length(todo))
  queue$tries <- integer(length(todo))
  queue$waiting <- seq_along(todo)   # places in `todo`
  queue$running <- list()            # futures, by place
  queue$broken <- FALSE              # whether the plan has lost a worker
  queue
}

#' Do what is waiting, as far as workers live
#' @noRd
empty_queue <- function(queue) {
  while (length(queue$waiting) > 0L || length(queue$running) > 0L) {
    fill_workers(queue)
    if (length(queue$running) > 0L) {
      collect_chunks(queue)
    } else if (length(queue$waiting) > 0L && !mend_plan(queue)) {
      return(invisible())
    }
  }
}

fill_workers <- function(queue) {
  while (length(queue$waiting) > 0L && !queue$broken &&
           length(queue$running) < future::nbrOfWorkers()) {
    place <- queue$waiting[[1L]]
    begun <- on_plan(queue$start(queue$todo[[place]]))
    if (is.null(begun)) {
      # The worker that was to take it is not there: begin no more until the plan is mended.
      queue$broken <- TRUE
      return(invisible())
    }
    queue$waiting <- queue$waiting[-1L]
    queue$running[[as.character(place)]] <- begun
  }
}

#' Wait for chunks that end, and take what they give
#' @noRd
collect_chunks <- function(queue) {
  ended <- character()
  # Whoever has finished waits until it is asked. A scheduler is not asked too often.
  longest <- if (workers_stay()) 0.05 else 1
  pause <- 0.01
  repeat {
    for (name in names(queue$running)) {
      # Where this cannot be found out, value() says why.
      if (isFALSE(on_plan(future::resolved(queue$running[[name]])))) next
      ended <- c(ended, name)
    }
    if (length(ended) > 0L) break
    Sys.sleep(pause)
    pause <- min(longest, 1.3 * pause)
  }
  for (name in ended) {
    place <- as.integer(name)
    given <- tryCatch(list(future::value(queue$running[[name]])), FutureError = identity)
    queue$running[[name]] <- NULL
    if (inherits(given, "FutureError")) {
      lose_chunk(queue, place, conditionMessage(given))
    } else {
      finish_chunk(queue, place, given[[1L]])
    }
  }
}

finish_chunk <- function(queue, place, result) {
  queue$result[place] <- list(result)
  queue$done[[place]] <- TRUE
  queue$keep(queue$todo[[place]], result)
}

lose_chunk <- function(queue, place, why) {
  queue$tries[[place]] <- queue$tries[[place]] + 1L
  again <- queue$tries[[place]] < most_tries
  if (again) queue$waiting <- c(queue$waiting, place)
  warn_about("worker", "A worker failed.",
             x = escape_braces(sub("[.]*(\\s*\n|[.] ).*", ".", why)),
             i = if (again) "Its chunk is done again." else "Its chunk is done here instead.")
}

#' Have the user's plan start its workers anew
#' @return Whether there is hope: not when that has just been done.
#' @noRd
mend_plan <- function(queue) {
  state <- c(sum(queue$done), sum(queue$tries))
  if (!queue$broken || identical(state, queue$mended)) return(FALSE)
  queue$mended <- state
  queue$broken <- FALSE
  tryCatch(
    {
      future::plan(future::plan("list"), substitute = FALSE)
      TRUE
    },
    error = \(e) FALSE
  )
}

#' A value, or `NULL` where the worker or the way to it failed
#' @noRd
on_plan <- function(value) tryCatch(value, FutureError = \(e) NULL)

# ---- What differs --------------------------------------------------------------------

#' Which settings a job that is there has otherwise, in words
#' @param before,now Named lists.
#' @noRd
setting_differences <- function(before, now) {
  before <- before[names(now)]
  changed <- !mapply(identical, before, now)
  words <- function(x) {
    if (is.atomic(x) && length(x) > 1L) return(toString(format(x, trim = TRUE, digits = 10)))
    describe(x)
  }
  sprintf("`%s` is %s there, not %s", names(now)[changed],
          vapply(before[changed], words, ""), vapply(now[changed], words, ""))
}
