# Work cut into chunks whose results are files.
#
# Where the user's `plan()` has workers, they take the chunks themselves from a *queue*, a folder
# beside the results. So nobody hands out, a worker opens what it works on once, and the slow one
# takes fewer chunks. A queue has
#
#   owner            who made it, as a lock has it (utils-lock.R)
#   chunks.rds       all chunks
#   waiting/000002   an empty file for each chunk that nobody has taken
#   taken/000001-3   chunk 1, which worker 3 has taken
#   done/000001      its result, until the owner has read it
#
# A worker takes a chunk by renaming its file: of several that try, one succeeds, on file
# systems of networks as well. The owner starts workers, reads results, and puts back the chunk
# of a worker that died.

# Seconds after which a worker takes no more chunks; the owner then starts it anew. So workers
# end some time after their owner, on whatever machine, and before the limit of a job.
most_worker_seconds <- 600
# Tries of a chunk on the plan.
most_tries <- 2L

#' Whether the user's `plan()` has workers
#' @noRd
workers_planned <- function() {
  rlang::is_installed("future") && !inherits(future::plan(), "sequential")
}

planned_workers <- function() if (workers_planned()) future::nbrOfWorkers() else 1

#' Whether to ask a worker whether it has ended costs next to nothing
#'
#' Elsewhere it may be a job of a scheduler.
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
#' @param open Function of this package, of `arguments` and a number of `threads`, which a
#'   worker calls once; it reads what the chunks are about from files.
#' @param work Function of this package, of a chunk and what `open` gave.
#' @param threads A number, or `NULL` for what this process, or each worker, may use.
#' @param folder Where the queue may lie: all workers see it.
#' @param keep Called with each chunk, and what `work` returned, once that is there.
#' @return What `work` returned, in the order of `todo`.
#' @noRd
do_chunks <- function(todo, open, work, arguments, threads, folder,
                      keep = function(chunk, result) NULL) {
  if (length(todo) == 0L) return(list())
  step <- function() NULL
  if (rlang::is_installed("progressr")) step <- progressr::progressor(along = todo)
  queue <- new_queue(todo, \(chunk, result) {
    keep(chunk, result)
    step()
  })
  if (workers_planned()) {
    queue$folder <- make_queue(folder, todo)
    on.exit(remove_queue(queue$folder))
    queue$start <- \(worker) start_worker(queue$folder, worker, open, work, arguments, threads)
    empty_queue(queue)
  }
  left <- which(!queue$done)
  if (length(left) > 0L) held <- do.call(open, c(arguments, threads = check_threads(threads)))
  for (place in left) finish_chunk(queue, place, work(todo[[place]], held))
  queue$result
}

# ---- On a worker ---------------------------------------------------------------------

#' Start a worker, which takes chunks until there are none
#'
#' All that it is given is in the expression: each global would be one more message, which
#' is waited for.
#' @noRd
start_worker <- function(queue, worker, open, work, arguments, threads) {
  job <- rlang::expr(asNamespace("synfire")$take_chunks(!!queue, !!worker, !!open, !!work,
                                                        !!arguments, !!threads))
  future::future(job, substitute = FALSE, globals = FALSE, seed = NULL)
}

#' Do chunks of a queue; the machine may have other workers, and no user looks on
#' @return Places of the chunks that were done.
#' @noRd
take_chunks <- function(queue, worker, open, work, arguments, threads) {
  rlang::local_options(cli.progress_show_after = Inf)
  threads <- threads %||% min(check_threads(NULL), future::availableCores())
  owner <- lock_owner(queue)
  begun <- proc.time()[["elapsed"]]
  did <- integer()
  held <- NULL
  while (proc.time()[["elapsed"]] - begun < most_worker_seconds && !owner_is_gone(owner)) {
    place <- take_chunk(queue, worker)
    if (is.null(place)) break
    if (is.null(held)) {
      chunks <- readRDS(file.path(queue, "chunks.rds"))
      held <- do.call(open, c(arguments, threads = threads))
    }
    result <- work(chunks[[place]], held)
    # Without its folder nobody waits for it.
    if (!dir.exists(queue)) break
    give_result(queue, place, result)
    did <- c(did, place)
  }
  did
}

#' @return The place of a chunk that is now this worker's, or `NULL` where none is waiting.
#' @noRd
take_chunk <- function(queue, worker) {
  for (name in list.files(file.path(queue, "waiting"))) {
    to <- file.path(queue, "taken", paste0(name, "-", worker))
    renamed <- suppressWarnings(file.rename(file.path(queue, "waiting", name), to))
    # Over a network, the answer to a rename that was done may be that it failed.
    if (renamed || file.exists(to)) return(as.integer(name))
  }
}

give_result <- function(queue, place, result) {
  name_when_whole(queue_file(queue, "done", place), \(path) {
    saveRDS(list(result), path, compress = FALSE)
  })
}

# ---- The queue -----------------------------------------------------------------------

# What stands at the beginning of its name, which is a temporary one (utils-sealed_file.R).
queue_name <- "queue"

queue_file <- function(queue, state, place) file.path(queue, state, sprintf("%06d", place))

#' Make the folder of a queue, with all chunks waiting
#' @return Its path.
#' @noRd
make_queue <- function(folder, todo) {
  queue <- tempfile(paste0(queue_name, temporary_mark), folder, ".tmp")
  for (path in c(queue, file.path(queue, c("waiting", "taken", "done")))) dir.create(path)
  saveRDS(todo, file.path(queue, "chunks.rds"))
  me <- this_process()
  writeLines(enc2utf8(me), file.path(queue, "owner"))
  # A plan of one worker may have this process do the work.
  assign(queue, me, locks_held)
  if (!all(file.create(queue_file(queue, "waiting", seq_along(todo))))) {
    abort_write(queue, full_disk)
  }
  queue
}

remove_queue <- function(queue) {
  rm(list = queue, envir = locks_held)
  unlink(queue, recursive = TRUE)
}

#' What the owner knows of its queue
#' @noRd
new_queue <- function(todo, keep) {
  queue <- new.env(parent = emptyenv())
  queue$todo <- todo
  queue$keep <- keep
  queue$result <- vector("list", length(todo))
  queue$done <- logical(length(todo))
  queue$tries <- integer(length(todo))
  queue$running <- list()            # futures of workers, by their numbers
  queue$workers <- 0L                # that were started so far
  queue$broken <- FALSE              # whether the plan has lost a worker
  queue
}

#' Have workers do what is waiting, as far as they live
#' @noRd
empty_queue <- function(queue) {
  repeat {
    start_workers(queue)
    if (length(queue$running) > 0L) {
      wait_for_workers(queue)
    } else if (!anyone_waiting(queue) || !mend_plan(queue)) {
      return(invisible())
    }
  }
}

anyone_waiting <- function(queue) length(list.files(file.path(queue$folder, "waiting"))) > 0L

start_workers <- function(queue) {
  while (!queue$broken && anyone_waiting(queue) &&
           length(queue$running) < min(future::nbrOfWorkers(), sum(!queue$done))) {
    queue$workers <- queue$workers + 1L
    begun <- on_plan(queue$start(queue$workers))
    # Where the worker is not there, none is started until the plan is mended.
    if (is.null(begun)) queue$broken <- TRUE else
      queue$running[[as.character(queue$workers)]] <- begun
  }
}

#' Read results, until a worker ends
#' @noRd
wait_for_workers <- function(queue) {
  # Files of a network, and schedulers, are not looked at too often. To ask a worker whether
  # it has ended takes milliseconds.
  stay <- workers_stay()
  longest <- if (stay) 0.05 else 1
  ask_each <- if (stay) 1 else 5
  asked <- proc.time()[["elapsed"]]
  pause <- 0.01
  repeat {
    for (name in list.files(file.path(queue$folder, "done"), "^[0-9]+$")) {
      read_result(queue, as.integer(name))
    }
    now <- proc.time()[["elapsed"]]
    if (all(queue$done) || now - asked > ask_each) {
      # Where this cannot be found out, value() says why.
      ended <- vapply(queue$running, \(worker) !isFALSE(on_plan(future::resolved(worker))), NA)
      if (any(ended)) break
      asked <- now
    }
    Sys.sleep(pause)
    pause <- min(longest, 1.3 * pause)
  }
  for (worker in names(which(ended))) {
    did <- tryCatch(future::value(queue$running[[worker]]), FutureError = identity)
    queue$running[[worker]] <- NULL
    if (inherits(did, "FutureError")) {
      lose_worker(queue, worker, conditionMessage(did))
    } else {
      # A folder of a network may not list the last ones yet.
      for (place in did[!queue$done[did]]) read_result(queue, place)
      if (length(did) == 0L && anyone_waiting(queue)) queue$broken <- TRUE
    }
  }
}

read_result <- function(queue, place) {
  path <- queue_file(queue$folder, "done", place)
  finish_chunk(queue, place, readRDS(path)[[1L]])
  unlink(path)
}

finish_chunk <- function(queue, place, result) {
  queue$result[place] <- list(result)
  queue$done[[place]] <- TRUE
  queue$keep(queue$todo[[place]], result)
}

#' Put back the chunk that a worker had when it died
#' @noRd
lose_worker <- function(queue, worker, why) {
  taken <- list.files(file.path(queue$folder, "taken"), paste0("-", worker, "$"))
  place <- as.integer(sub("-.*", "", taken))
  place <- place[!queue$done[place] & !file.exists(queue_file(queue$folder, "done", place))]
  queue$tries[place] <- queue$tries[place] + 1L
  again <- queue$tries[place] < most_tries
  file.create(queue_file(queue$folder, "waiting", place[again]))
  # Who ends before it takes a chunk would do so again and again.
  if (length(place) == 0L) queue$broken <- TRUE
  warn_about("worker", "A worker failed.",
             x = escape_braces(sub("[.]*(\\s*\n|[.] ).*", ".", why)),
             i = if (any(again)) "Its chunk is done again." else
               if (length(place) > 0L) "Its chunk is done here instead.")
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
