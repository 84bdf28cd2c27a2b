# Causal maps made by the workers of the user's plan, each chunk of libraries a file.
#
# Beside `map.h5` there is the folder `map.h5.shards`: `0001.h5` and so on, each with some
# libraries, whole once it has that name; `job.rds`, what workers are to do; and
# `source.h5`, the series, unless they lie in a file already. A shard has the layers of a
# map, `rows`, the places of its libraries in the map, and the map's `synfire_id`.

# A chunk computes at least so many times as long as it takes to begin it, ...
least_chunk_work <- 4
# ... and at most for so many seconds, as that is what is lost with a worker.
most_chunk_seconds <- 600
# Each is a file. There are more of them only where they would take longer than that.
most_map_chunks <- 4096

shard_folder <- function(file) paste0(file, ".shards")

# ---- What is there -------------------------------------------------------------------

#' The shards of a map
#' @param head What read_map_head() gives of it.
#' @return `paths`; for each library `part`, the number of its shard, 0 for the file itself
#'   and NA where it is not mapped, and `row`, its row there; `missing`, which are not;
#'   `damaged`, paths of what is no shard of this map; `last`, the highest number.
#' @noRd
list_shards <- function(file, id, head) {
  done <- mapped_here(file, head)
  paths <- list.files(shard_folder(file), "^[0-9]{4,}[.]h5$", full.names = TRUE)
  rows <- lapply(paths, shard_rows, id = id)
  damaged <- vapply(rows, is.null, NA)
  out <- list(paths = paths[!damaged], damaged = paths[damaged],
              part = ifelse(done, 0L, NA_integer_), row = seq_along(done),
              last = max(0L, as.integer(sub("[.]h5$", "", basename(paths)))))
  for (k in seq_along(out$paths)) {
    there <- rows[!damaged][[k]]
    out$part[there] <- k
    out$row[there] <- seq_along(there)
  }
  out$missing <- which(is.na(out$part))
  out
}

#' Which libraries are mapped in the file itself
#'
#' Those of `done`, and those whose numbers are all there although `done` does not say so.
#' @noRd
mapped_here <- function(file, head) {
  done <- head$done == 1
  if (!head$layered || all(done)) return(done)
  sums <- with_sealed_h5(file, \(h5) with_set(h5, "check", \(set) as.vector(set[, 1L])))
  doubtful <- which(!done & sums != 0)
  done[doubtful] <- right_rows(file, head$about$synfire_layers, doubtful, doubtful,
                               length(head$targets))
  done
}

#' The places of a shard's libraries, `NULL` where it is none of the map
#' @noRd
shard_rows <- function(path, id) {
  rows <- if (seal_state(path) == "whole") {
    tryCatch(with_closing(hdf5r::H5File$new(path, mode = "r"), \(h5) {
      if (identical(read_attribute(h5, "synfire_id"), id)) read_values(h5, "rows")
    }), error = \(e) NULL)
  }
  if (is.null(rows)) {
    warn_about("file", "{.file {path}} is damaged, or of another map.",
               i = "Its libraries are taken as not mapped.")
  }
  rows
}

#' Stop where shards of another map are in the way of a new one
#' @noRd
check_no_shards <- function(file) {
  folder <- shard_folder(file)
  there <- list.files(folder, all.files = TRUE, no.. = TRUE)
  if (length(there) == 0L && (!file.exists(folder) || dir.exists(folder))) return(invisible())
  abort_arg("file", "a new file",
            sprintf("%s, which is not there, but %s, where its shards would go, is, with %s",
                    dQuote(file, FALSE), dQuote(folder, FALSE), some(dQuote(there, FALSE))),
            "Give another name, or move that folder elsewhere.")
}

#' Stop where a folder of shards is not ours alone: nothing in it is written over or removed
#' @noRd
check_shard_folder <- function(folder, damaged) {
  foreign <- foreign_files(folder, "[0-9]{4,}[.]h5|source[.]h5|job[.]rds", "none")
  # Only beside its job is a damaged shard known to be one of ours.
  if (!looks_sealed(file.path(folder, "job.rds"))) foreign <- c(foreign, basename(damaged))
  if (length(foreign) == 0L) return(invisible())
  abort_arg("file", "that of a map whose shards lie in a folder of their own",
            sprintf("one of which the folder %s holds %s", dQuote(folder, FALSE),
                    some(dQuote(foreign, FALSE))), "Move these files elsewhere.")
}

# ---- The job -------------------------------------------------------------------------

#' Write what workers have to know but travels badly
#' @return The folder.
#' @noRd
prepare_shards <- function(file, task, shards) {
  folder <- shard_folder(file)
  if (!dir.exists(folder) && !dir.create(folder, showWarnings = FALSE)) {
    abort_write(folder, "the folder could not be made")
  }
  check_shard_folder(folder, shards$damaged)
  unlink(shards$damaged)
  drop_temporary(folder, ".*")
  source <- task$source
  if (is.null(source$file)) {
    copy <- file.path(folder, "source.h5")
    if (seal_state(copy) != "whole") {
      create_sealed_h5(copy, 1, new = FALSE, \(h5, path) write_source(source, h5))
    }
    source <- list(file = copy, dataset = "values")
  }
  kept <- c("id", "kind", "libraries", "targets", "E", "rule", "split", "place")
  write_whole(c(task[kept], list(source = source[c("file", "dataset")])),
              file.path(folder, "job.rds"))
  folder
}

write_source <- function(source, h5) {
  write_values(h5, "names", source$names)
  dims <- c(source$steps, source$n)
  h5$create_dataset("values", dtype = hdf5r::h5types$H5T_IEEE_F64LE,
                    space = hdf5r::H5S$new("simple", dims = dims, maxdims = dims),
                    chunk_dims = NULL, gzip_level = NULL)$close()
  with_set(h5, "values", \(set) {
    for (columns in pieces(source$n, max(1, floor(most_written / source$steps)))) {
      set[, columns] <- source$read(columns)
    }
  })
  list()
}

#' The task of a worker
#' @noRd
read_task <- function(folder, id, threads) {
  task <- read_job(folder, id, "file")
  if (seal_state(task$source$file) == "damaged") abort_seal(task$source$file)
  task$source <- suppressMessages(map_source(task$source$file, task$source$dataset),
                                  classes = "synfire_message_file")
  task$rule$threads <- threads
  task
}

#' Cut libraries, or targets, into chunks for a queue
#'
#' The cut depends on the workers, so a job that goes on may be cut in another way. The
#' numbers of a library do not depend on its chunk.
#'
#' @param places Among the libraries or targets.
#' @param seconds That each takes a worker, about.
#' @param start Seconds that it takes to begin a chunk, about.
#' @param first Number of the first chunk.
#' @return List of chunks, each a list of `number` and `places`; the largest come first.
#' @noRd
cut_chunks <- function(places, seconds, start, first = 1, workers = planned_workers()) {
  n <- length(places)
  workers <- min(n, workers)
  most <- max(1, floor(most_chunk_seconds / seconds))
  least <- min(max(1, ceiling(least_chunk_work * start / seconds)), most)
  repeat {
    sizes <- chunk_sizes(n, workers, least, most)
    if (length(sizes) <= max(most_map_chunks, workers) || least == most) break
    least <- min(2 * least, most)
  }
  end <- cumsum(sizes)
  lapply(seq_along(sizes), \(k) {
    list(number = first - 1 + k, places = places[seq(end[[k]] - sizes[[k]] + 1, end[[k]])])
  })
}

#' How many libraries each chunk has
#'
#' Half of what is left is shared evenly among the workers, then half of the rest, and so
#' on (factoring; Hummel, Schonberg and Flynn 1992). So most of the work is in a few large
#' chunks, and the last ones are small: whoever is slow takes fewer of them, and all
#' workers end at about the same time.
#'
#' @param least,most Libraries of a chunk. There may be fewer than `least` where there are
#'   not enough to give each worker so many, or where more would be too many.
#' @noRd
chunk_sizes <- function(n, workers, least, most) {
  sizes <- numeric()
  while (n > 0) {
    # The last of these would be too small if they were halved once more.
    rounds <- if (n < 2 * least * workers) ceiling(n / most / workers) else 2
    now <- min(ceiling(n / rounds), most * workers)
    sizes <- c(sizes, now %/% workers + (seq_len(workers) <= now %% workers))
    n <- n - now
  }
  sort(sizes[sizes > 0], decreasing = TRUE)
}

#' Seconds that a chunk takes beside the time of its libraries, about
#'
#' @param targets Of these many series, all numbers are made ready for the search, and read
#'   for each chunk where workers do not hold them.
#' @noRd
chunk_start_seconds <- function(task, targets) {
  each <- if (holds_series(task)) 1e-8 else 6e-8
  0.03 + each * task$source$steps * targets
}

#' Whether a worker holds all series in memory: where they are a small part of it
#' @noRd
holds_series <- function(task) series_bytes(task$source) <= task$rule$max_memory / 4

series_bytes <- function(source) 8 * source$n * source$steps

#' Seconds that a library takes a worker, about
#' @noRd
worker_seconds <- function(task, targets) {
  if (targets > 1 && task$kind == "smap_map") return(smap_map_seconds(task))
  rule <- task$rule
  steps <- task$source$steps
  E <- if (is.null(task$E)) rule$E_max else max(1L, task$E, na.rm = TRUE)
  views <- length(rule$Tp) * (1 + !is.null(rule$lib_sizes) + rule$n_surrogates)
  if (task$place$device == "gpu") {
    return(views * (5e-12 * steps^2 + 4e-13 * targets * steps * (E + 1)))
  }
  library_seconds(steps, E, targets, views) / rule$threads
}

# ---- Workers -------------------------------------------------------------------------

#' Into shards, on the workers of the user's plan where there are some
#' @noRd
fill_apart <- function(file, task, shards) {
  # Not held open: workers that are started meanwhile would inherit its lock.
  with_file <- \(f) with_closing(open_h5(file, "r+", patience = 10), f)
  clock <- new_clock(with_file)
  folder <- prepare_shards(file, task, shards)
  arguments <- list(folder, task$id)
  task$E <- fill_dimensions(with_file, task, clock, find = \(todo, keep) {
    do_chunks(cut_chunks(todo, worker_seconds(task, 1), chunk_start_seconds(task, 0)),
              read_task, dimensions_of_chunk, arguments, task$threads, folder,
              \(chunk, found) keep(chunk$places, found))
  })
  prepare_shards(file, task, shards)
  targets <- length(task$targets)
  chunks <- cut_chunks(shards$missing, worker_seconds(task, targets),
                       chunk_start_seconds(task, targets), shards$last + 1)
  do_chunks(chunks, hold_task, map_chunk, arguments, task$threads, folder,
            \(chunk, done) clock("map"))
  # What killed workers left.
  drop_temporary(folder, ".*")
}

dimensions_of_chunk <- function(chunk, task) find_dimensions(task, task$targets[chunk$places])

#' The task of a worker, with all series in memory where it holds them
#'
#' Each chunk needs all targets.
#' @noRd
hold_task <- function(folder, id, threads) {
  task <- c(read_task(folder, id, threads), folder = folder)
  source <- task$source
  if (holds_series(task)) {
    held <- matrix_source(source$read(seq_len(source$n)))
    task$source[c("whole", "read")] <- held[c("whole", "read")]
    task$rule$max_memory <- task$rule$max_memory - series_bytes(source)
  }
  task
}

#' A chunk of libraries, as a shard
#' @noRd
map_chunk <- function(chunk, task) {
  path <- file.path(task$folder, sprintf("%04d.h5", chunk$number))
  libraries <- task$libraries[chunk$places]
  targets <- length(task$targets)
  with_h5_errors(path, create_sealed_h5(path, tile_number(length(libraries), targets),
                                        \(h5, path) {
    write_attribute(h5, "synfire_id", task$id)
    write_values(h5, "rows", as.integer(chunk$places))
    layers <- create_layers(h5, task, length(libraries), path)
    keep <- function(columns, values) {
      at <- match(columns, libraries)
      write_rows(h5, at, values, chunk$places[at], targets)
    }
    map_kind(task$kind)$map(task, libraries, keep)
    layers
  }))
  TRUE
}
