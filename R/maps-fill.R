# Fills the file of a map: begins it or goes on with it, and computes what is not there.

#' Map to a file, or go on with one
#'
#' @param task What causal_map() or smap_map() is to do: list of `kind` (see map_kind()),
#'   `source`, `libraries` and `targets` (columns), `E` (or `NULL`), `rule`, `split`, `place`,
#'   `threads` (or `NULL`), `top`, `call`.
#' @return What open_causal_map() gives.
#' @noRd
map_to_file <- function(task, file) {
  rlang::check_installed("hdf5r", "to write maps to files.", call = user_frame())
  refuse_if(!is.null(task$top), "top", "NULL with `file`", describe(task$top),
            "A file holds all pairs; as.data.frame(map, max_links = ) takes the strongest.")
  file <- check_map_path(file)
  hold_lock(paste0(file, ".lock"), file)
  names <- gsub("([][{}()+*^$|?.\\\\])", "\\\\\\1", basename(file))
  drop_temporary(dirname(file), paste0(names, c("", "[.]lock", "[.]lock-break"), collapse = "|"))
  with_h5_errors(file, {
    if (!file.exists(file)) {
      check_no_shards(file)
      task$id <- rlang::hash(list(task$source$id(), task_parameters(task), Sys.time(),
                                  this_process()))
      create_map_file(file, task, sharded = workers_planned())
    } else {
      task <- same_task(file, task)
    }
    fill_map_file(file, task)
  })
  open_causal_map(file)
}

#' The task with the random key and the identity of the file it goes on with
#' @noRd
same_task <- function(file, task) {
  head <- read_map_head(file)
  differs <- task_differences(head, task)
  refuse_if(length(differs) > 0L, "file", "a new file, or that of this very map",
            paste0(dQuote(file, FALSE), ", of another one: ", paste(differs, collapse = "; ")),
            "Give another file, or remove this one and its map.")
  task$rule$key <- head$parameters$key
  task$id <- head$about$synfire_id
  task
}

#' What a map that is there has otherwise, in words
#' @noRd
task_differences <- function(there, task) {
  if (there$about$synfire_kind != task$kind) {
    return(sprintf("it holds a %s", map_kind(there$about$synfire_kind)$called))
  }
  # The key is that of the file, and threads decide nothing.
  now <- task_parameters(task)
  now <- now[setdiff(names(now), c("key", "threads", "E_given"))]
  given <- !is.null(task$E)
  same_E <- given == there$parameters$E_given && (!given || identical(as.integer(task$E), there$E))
  c(
    if (!identical(task$source$id(), there$about$synfire_source)) "the series differ",
    if (!identical(as.integer(task$libraries), there$library_columns)) "`libraries` differ",
    if (!identical(as.integer(task$targets), there$target_columns)) "`targets` differ",
    if (!same_E) "`E` differs",
    setting_differences(c(there$parameters, device = there$about$synfire_device),
                        c(now, device = task$place$device))
  )
}

#' Do what is not done yet, here or on the workers of the user's plan
#' @noRd
fill_map_file <- function(file, task) {
  whole <- FALSE
  on.exit(if (!whole && file.exists(file)) {
    info("file", "What is done stays in {.file {file}}: the same call goes on from there.")
  })
  head <- read_map_head(file)
  shards <- list_shards(file, task$id, head)
  forget_damaged(file, head)
  shards <- check_done(file, task, shards)
  say_what_is_mapped(file, length(shards$missing), length(task$libraries))
  if (length(shards$missing) > 0L || any(head$E == 0L, na.rm = TRUE)) {
    fill <- if (workers_planned() || !head$layered) fill_apart else fill_here
    fill(file, task, shards)
  }
  whole <- TRUE
}

#' Dimensions that cannot be believed are found again
#' @noRd
forget_damaged <- function(file, head) {
  n <- length(head$E_doubtful)
  if (n == 0L) return(invisible())
  warn_damaged(file, sprintf("The dimensions of %s", counted(n, "target")), "found")
  with_sealed_h5(file, mode = "r+", \(h5) for (set in c("E", "E_check")) {
    write_at(h5, set, head$E_doubtful, integer(n))
  })
}

#' Look at all numbers that are there, and take damaged ones as not there
#' @return `shards` without them.
#' @noRd
check_done <- function(file, task, shards) {
  layers <- map_kind(task$kind)$layers(task$rule)
  damaged <- list()
  for (part in unique(shards$part[!is.na(shards$part)])) {
    places <- which(shards$part == part)
    path <- if (part == 0L) file else shards$paths[[part]]
    right <- right_rows(path, layers, shards$row[places], places, length(task$targets))
    damaged <- c(damaged, list(places[!right]))
  }
  damaged <- sort(unlist(damaged))
  if (length(damaged) == 0L) return(shards)
  names <- task$source$names[task$libraries[damaged]]
  warn_damaged(file, paste(if (length(names) > 1L) "The numbers of the libraries" else
    "The numbers of the library", some(dQuote(names, FALSE))), "computed")
  own <- damaged[shards$part[damaged] == 0L]
  if (length(own) > 0L) {
    with_sealed_h5(file, mode = "r+", \(h5) write_at(h5, "done", own, integer(length(own))))
  }
  shards$part[damaged] <- NA
  shards$missing <- which(is.na(shards$part))
  shards
}

warn_damaged <- function(file, what, done) {
  warn_about("file", "{.file {file}} is damaged: bytes of it were changed since it was made.",
             i = escape_braces(paste(what, "are", done, "again.")))
}

#' Into the file itself, which is in nobody else's hands meanwhile
#' @noRd
fill_here <- function(file, task, shards) {
  with_sealed_h5(file, mode = "r+", \(h5) {
    clock <- new_clock(\(f) f(h5))
    task$place$tables <- open_tables(task)
    on.exit(close_tables(task))
    task$E <- fill_dimensions(\(f) f(h5), task, clock, find = \(todo, keep) {
      for (block in pieces(length(todo), dimension_block)) {
        places <- todo[block]
        keep(places, find_dimensions(task, task$targets[places]))
      }
    })
    keep <- function(columns, values) {
      rows <- match(columns, task$libraries)
      write_rows(h5, rows, values, rows, length(task$targets))
      h5$flush()
      write_at(h5, "done", rows, rep(1L, length(rows)))
      h5$flush()
      clock("map")
    }
    map_kind(task$kind)$map(task, task$libraries[shards$missing], keep)
  })
}

say_what_is_mapped <- function(file, missing, n) {
  if (missing == n) return(invisible())
  info("file", if (missing == 0L) {
    "All {commas(n)} libraries are mapped in {.file {file}}; nothing is done again."
  } else {
    "{commas(n - missing)} of {commas(n)} libraries are mapped in {.file {file}}; mapping the
     other {commas(missing)}."
  })
}

check_map_path <- function(file) {
  check_path(file, "file")
  folder <- normalizePath(dirname(file), "/", mustWork = FALSE)
  refuse_if(!dir.exists(folder) || file.access(folder, 2L) != 0L || dir.exists(file), "file",
            "the path of a file, in a folder that can be written to", dQuote(file, FALSE))
  file <- file.path(folder, basename(file))
  refuse_if(file.exists(file) && file.access(file, 2L) != 0L, "file",
            "a file that can be written to", dQuote(file, FALSE))
  file
}
