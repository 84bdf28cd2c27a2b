# What the scripts of this page share: two works, how their results are compared, and a
# queue that notes when each chunk began and ended.

#' Chaotic series, smoothed as calcium is
make_series <- function(series, steps) {
  set.seed(1)
  x <- matrix(0, steps, series)
  state <- runif(series, 0.1, 0.9)
  r <- runif(series, 3.87, 4)
  level <- state
  for (t in seq_len(steps)) {
    state <- r * state * (1 - state)
    level <- 0.7 * level + state
    x[t, ] <- level
  }
  x
}

#' Units that fire at random: nothing but the search is to take time
make_spikes <- function(duration) {
  set.seed(2)
  synfire::simulate_patterns(duration = duration, units = 100, rate = 30)
}

works <- list(
  map = list(
    make = \(size) make_series(size, 1600),
    call = \(x, where, ...) {
      synfire::causal_map(x, E_max = 20, file = where, device = "cpu", ...)
    },
    whole = \(x, ...) synfire::causal_map(x, E_max = 20, device = "cpu", ...),
    numbers = \(map) list(unname(as.matrix(map[])), unname(attr(map, "E")))
  ),
  patterns = list(
    make = make_spikes,
    call = \(x, where, ...) mine(x, folder = where, ...),
    whole = \(x, ...) mine(x, ...),
    numbers = \(found) list(found$count, found$items)
  )
)

mine <- function(x, ...) {
  synfire::mine_patterns(x, 0.003, 20, min_spikes = 4, min_count = 8, ...)
}

fingerprint <- function(work, result) rlang::hash(works[[work]]$numbers(result))

# ---- Chunks --------------------------------------------------------------------------

ns <- asNamespace("synfire")
put <- \(name, value) utils::assignInNamespace(name, value, "synfire")
now <- \() unclass(Sys.time())

#' Have workers write down what processor time each chunk takes them
#'
#' Clocks on the wall say little where a machine has other things to do.
#' @param log A file for each worker, by its process.
note_on_worker <- function(log) {
  old <- asNamespace("synfire")$on_worker
  utils::assignInNamespace("on_worker", \(work, arguments, threads) {
    before <- sum(proc.time()[1:2])
    result <- old(work, arguments, threads)
    cat(rlang::hash(arguments[[1L]]), sum(proc.time()[1:2]) - before, "\n", sep = " ",
        file = paste0(log, Sys.getpid()), append = TRUE)
    result
  }, "synfire")
  TRUE
}

read_worker_notes <- function(log) {
  files <- Sys.glob(paste0(log, "*"))
  notes <- lapply(files, read.table, col.names = c("id", "cpu"))
  unlink(files)
  do.call(rbind, notes)
}

#' Have the queue note when each chunk began, where, and when it was back
notes <- new.env()
`%||%` <- \(a, b) if (is.null(a)) b else a
note_chunks <- function() {
  notes$begun <- notes$ended <- list()
  start <- notes$start <- notes$start %||% ns$start_chunk
  finish <- notes$finish <- notes$finish %||% ns$finish_chunk
  put("start_chunk", \(chunk, work, ...) {
    at <- now()
    cpu <- sum(proc.time()[1:2])
    begun <- start(chunk, work, ...)
    notes$begun[[length(notes$begun) + 1L]] <- data.frame(
      phase = if (identical(work, ns$dimensions_of_chunk)) "dimensions" else "work",
      size = if (is.list(chunk)) length(chunk$places) else 1L,
      worker = begun$node %||% NA, begin = at, cpu_out = sum(proc.time()[1:2]) - cpu,
      id = rlang::hash(chunk)
    )
    begun
  })
  put("finish_chunk", \(queue, place, ...) {
    at <- now()
    notes$ended[[length(notes$ended) + 1L]] <- data.frame(
      end = at, id = rlang::hash(queue$todo[[place]])
    )
    finish(queue, place, ...)
  })
}

#' @param cpu What read_worker_notes() gives, or NULL.
noted_chunks <- function(from, cpu = NULL) {
  occasion <- \(x) transform(x, k = ave(seq_along(id), id, FUN = seq_along))
  # A chunk of dimensions and one of the map may look alike; they end in this order.
  chunks <- merge(occasion(do.call(rbind, notes$begun)), occasion(do.call(rbind, notes$ended)))
  chunks <- if (is.null(cpu)) transform(chunks, cpu = NA) else merge(chunks, occasion(cpu))
  chunks <- chunks[order(chunks$begin), ]
  transform(chunks[c("phase", "size", "worker", "begin", "end", "cpu", "cpu_out")],
            begin = begin - from, end = end - from)
}
