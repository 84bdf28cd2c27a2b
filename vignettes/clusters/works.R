# What the scripts of this page share: works, how their results are compared, and notes of when
# each chunk began and ended.

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

map <- \(x, ...) suppressMessages(synfire::causal_map(x, device = "cpu", ...))
map_numbers <- \(map) list(unname(as.matrix(map[])), unname(attr(map, "E")))

# `make` takes a list of settings, `call` what was made, a number of threads and the path of
# a file or folder, or NULL.
works <- list(
  # With all dimensions found.
  map = list(
    make = \(s) make_series(s$series, s$steps),
    call = \(x, s, threads, path) map(x, E_max = 20, file = path, threads = threads),
    numbers = map_numbers
  ),
  # Some libraries against all targets, whose dimensions are given.
  known = list(
    make = \(s) make_series(s$series, s$steps),
    call = \(x, s, threads, path) {
      map(x, E = rep_len(1:10, ncol(x)), libraries = seq_len(s$libraries), file = path,
          threads = threads)
    },
    numbers = map_numbers
  ),
  patterns = list(
    make = \(s) make_spikes(s$duration),
    call = \(x, s, threads, path) {
      synfire::mine_patterns(x, 0.003, 20, min_spikes = 4, min_count = 8, threads = threads,
                             folder = path)
    },
    numbers = \(found) list(found$count, found$items)
  )
)

fingerprint <- \(work, result) rlang::hash(works[[work]]$numbers(result))

# ---- Chunks --------------------------------------------------------------------------

#' Have workers note when each chunk, and the opening of a map, begins and ends
#'
#' The functions that do it travel to the workers, and so do these in their place.
#' @param log A file for each worker, whose names begin so.
note_chunks <- function(log) {
  for (name in c("hold_task", "map_chunk", "dimensions_of_chunk", "mine_chunk")) {
    did <- get(name, asNamespace("synfire"))
    noting <- rlang::inject(function(chunk, ...) {
      clock <- function() c(unclass(Sys.time()), sum(proc.time()[1:2]))
      begin <- clock()
      result <- (!!did)(chunk, ...)
      size <- if (is.list(chunk)) length(chunk$places) else 1L
      cat(!!name, Sys.getpid(), size, format(c(begin, clock()), digits = 15), "\n",
          file = paste0(!!log, Sys.getpid()), append = TRUE)
      result
    })
    environment(noting) <- baseenv()
    utils::assignInNamespace(name, noting, "synfire")
  }
}

#' @return A row a chunk; `wait` is the time since the worker's last chunk.
read_notes <- function(log) {
  columns <- c("what", "worker", "size", "begin", "cpu_begin", "end", "cpu_end")
  notes <- do.call(rbind, lapply(Sys.glob(paste0(log, "*")), read.table, col.names = columns))
  notes <- notes[order(notes$worker, notes$begin), ]
  before <- ave(notes$end, notes$worker, notes$what, FUN = \(end) c(NA, end[-length(end)]))
  data.frame(what = sub("hold_task", "open", sub("(_of)?_chunk", "", notes$what)),
             worker = match(notes$worker, unique(notes$worker)), size = notes$size,
             seconds = round(notes$end - notes$begin, 4), wait = round(notes$begin - before, 4),
             cpu = round(notes$cpu_end - notes$cpu_begin, 3))
}
