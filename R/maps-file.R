# Causal maps, and maps of S-maps, in HDF5 files, written while they are computed.
#
# A file is made with all its space and closed before anything is computed. From then on only
# numbers are written to places that are known already, and `done` is set for
# libraries whose numbers were handed to the operating system: whenever a process is
# killed, the file can be opened, and what is `done` is right.
#
#   rho, lag, p_value, convergence,  libraries x targets as R sees them; what is not asked
#   strength                         for is not there, nor is any of them where workers
#                                    keep the map in shards (maps-shards.R)
#   check                            sums of these numbers, libraries x groups of targets,
#                                    layer after layer (maps-seal.R)
#   done                             a byte a library, 1 once it is mapped
#   E                                dimensions of targets, 0 before they are known
#   E_check, elapsed_check           sums of E, unless it was given, and of elapsed
#   libraries, targets               names; library_columns, target_columns: their numbers
#   library_reasons, target_reasons  why there is no rho, or no p value; see map_reasons
#   elapsed                          seconds: finding dimensions, mapping
#   attributes                       each of the parameters, and those named synfire_*

# Of a layer, as HDF5 has them in one index.
most_tiles <- 6e4

# Series whose dimensions are lost when a process is killed, at most.
dimension_block <- 256

#' What code does, with errors of HDF5 in words of ours
#' @noRd
with_h5_errors <- function(file, code) {
  withCallingHandlers(code, error = \(e) {
    says <- conditionMessage(e)
    if (inherits(e, "synfire_error") || !grepl("HDF5-API", says, fixed = TRUE)) return()
    # The library does not always pass on what the system said.
    full <- grepl("No space left|File too large|[Qq]uota exceeded", says) || !has_room(file, 2^20)
    reason <- regmatches(says, regexpr("error message = '[^']*'", says))
    abort_write(file, if (full) full_disk else {
      paste(c("the HDF5 library could not do it", sub("^error message = ", "", reason)),
            collapse = ": ")
    })
  })
}

#' Whether so many bytes can be written next to a file
#' @noRd
has_room <- function(file, bytes) {
  beside <- tempfile(paste0(basename(file), temporary_mark), dirname(file), ".tmp")
  on.exit(unlink(beside))
  parts <- pieces(bytes, 2^20)
  write <- \(con) for (part in parts) writeBin(raw(length(part)), con)
  tryCatch({
    write_checked(beside, "wb", write, file)
    TRUE
  }, synfire_error_write = \(e) FALSE, warning = \(w) FALSE)
}

# ---- Making one ----------------------------------------------------------------------

create_map_file <- function(file, task, sharded) {
  n <- length(task$libraries)
  m <- length(task$targets)
  # A disk that is full while the library makes a file can end R. More bytes than a file takes
  # before there are numbers in it:
  sums <- n * ceiling(m / map_file_tile[[2L]]) * length(map_kind(task$kind)$layers(task$rule))
  head <- 2^17 + 8 * sums + (n + m) * (32 + max(nchar(task$source$names, "bytes")))
  if (!has_room(file, head)) abort_write(file, full_disk)
  create_sealed_h5(file, tile_number(n, m), \(h5, path) {
    write_attributes(h5, task)
    changing <- write_head(h5, task)
    h5$flush()
    places <- lapply(changing, set_place, h5 = h5, path = path)
    if (!sharded) {
      layers <- create_layers(h5, task, n, path)
      places <- c(places, layers, list(set_place(h5, "check", path)))
    }
    places
  })
}

#' All that a file holds beside the layers
#' @return Names of the data sets that change later.
#' @noRd
write_head <- function(h5, task) {
  sides <- task[c("libraries", "targets")]
  columns <- rlang::set_names(lapply(sides, as.integer), c("library_columns", "target_columns"))
  reasons <- rlang::set_names(lapply(sides, \(side) task$rule$reasons[side]),
                              c("library_reasons", "target_reasons"))
  sets <- c(
    lapply(sides, \(side) task$source$names[side]), columns, reasons,
    list(elapsed = c(0, 0), elapsed_check = number_sums(c(0, 0)),
         done = integer(length(sides$libraries)),
         E = as.integer(task$E %||% integer(length(sides$targets)))),
    if (is.null(task$E)) list(E_check = double(length(sides$targets)))
  )
  types <- list(elapsed = hdf5r::h5types$H5T_IEEE_F32LE, done = hdf5r::h5types$H5T_STD_U8LE)
  for (set in names(sets)) {
    write_values(h5, set, sets[[set]], types[[set]] %||% text_type(sets[[set]]))
  }
  c("elapsed", "elapsed_check", "done", if (is.null(task$E)) c("E", "E_check"))
}

#' Data sets of all layers, with space for all numbers but none of them written
#' @return Where each lies in the file.
#' @noRd
create_layers <- function(h5, task, n, path) {
  dims <- c(n, length(task$targets))
  kind <- map_kind(task$kind)
  layers <- kind$layers(task$rule)
  groups <- ceiling(dims[[2L]] / map_file_tile[[2L]])
  write_values(h5, "check", matrix(0, n, groups * length(layers)))
  tile <- map_tile(dims[[1L]], dims[[2L]])
  lapply(layers, \(layer) {
    plan <- hdf5r::H5P_DATASET_CREATE$new()
    plan$set_alloc_time(hdf5r::h5const$H5D_ALLOC_TIME_EARLY)
    plan$set_fill_time(hdf5r::h5const$H5D_FILL_TIME_NEVER)
    if (any(tile < dims)) plan$set_chunk(tile)
    h5$create_dataset(layer, dtype = hdf5r::h5types[[kind$type(layer)]], chunk_dims = NULL,
                      space = hdf5r::H5S$new("simple", dims = dims, maxdims = dims),
                      gzip_level = NULL, dataset_create_pl = plan)$close()
    h5$flush()
    set_place(h5, layer, path)
  })
}

#' Libraries and targets of a tile: more libraries where targets are few, or tiles too many
#' @noRd
map_tile <- function(n, m) {
  columns <- min(m, map_file_tile[[2L]])
  rows <- max(ceiling(prod(map_file_tile) / columns),
              ceiling(n * ceiling(m / columns) / most_tiles))
  as.double(c(min(n, rows), columns))
}

tile_number <- function(n, m) prod(ceiling(c(n, m) / map_tile(n, m)))

write_attributes <- function(h5, task) {
  parameters <- task_parameters(task)
  about <- list(
    synfire_format = map_file_format, synfire_id = task$id,
    synfire_version = as.character(utils::packageVersion("synfire")),
    synfire_source = task$source$id(), synfire_device = task$place$device,
    synfire_kind = if (task$kind != "causal_map") task$kind,
    synfire_layers = map_kind(task$kind)$layers(task$rule),
    synfire_parameters = names(parameters),
    # With data in it, as do.call() makes them, a call is cut short.
    synfire_call = paste(deparse(task$call, nlines = 50L), collapse = "\n")
  )
  all <- c(about, parameters)
  # HDF5 has no attributes without a value.
  for (name in names(all)[lengths(all) > 0L]) {
    write_attribute(h5, name, all[[name]])
  }
}

# ---- Going on with one ---------------------------------------------------------------

#' What is known of a map from its file
#' @noRd
read_map_head <- function(file) {
  state <- seal_state(file)
  if (state == "damaged") abort_seal(file)
  # Without a seal it may be any file, and damaged.
  h5 <- open_h5(file, "r")
  on.exit(close_read(h5))
  fail <- failing(file)
  known <- \(name) h5_try(if (h5$attr_exists(name)) read_attribute(h5, name), "/", fail)
  format <- known("synfire_format")
  if (is.null(format)) fail("it holds no causal map")
  ours <- is.numeric(format) && identical(as.integer(format), map_file_format)
  if (state == "none" || !ours) {
    made <- known("synfire_version")
    fail(if (ours) {
      "its first bytes were changed since it was made"
    } else {
      paste("its causal map was made by synfire", made, "in a format of another version")
    })
  }
  about <- read_attributes(h5)
  about$synfire_kind <- about$synfire_kind %||% "causal_map"
  sets <- c("libraries", "targets", "library_columns", "target_columns", "E", "done",
            "library_reasons", "target_reasons")
  head <- lapply(rlang::set_names(sets), read_values, h5 = h5)
  head$reasons <- head_reasons(head)
  head$about <- about
  head$layered <- h5$exists("rho")
  head$parameters <- rlang::set_names(about[about$synfire_parameters], about$synfire_parameters)
  head$elapsed <- read_summed(h5, "elapsed", NA)$values
  if (!isTRUE(head$parameters$E_given)) head[c("E", "E_doubtful")] <- read_summed(h5, "E", 0L)
  head
}

head_reasons <- function(head) {
  series <- c(head$libraries, head$targets)
  own <- !duplicated(series)
  numbers <- c(head$library_reasons, head$target_reasons)
  reasons <- numbered_reasons(numbers[own], series[own])
  reasons[order(c(head$library_columns, head$target_columns)[own][numbers[own] > 0L])]
}

#' Numbers that change while a map is made, with a sum of each in another data set: `values`,
#' `missing` in place of wrong ones, and which of these cannot be believed, `doubtful`
#' @noRd
read_summed <- function(h5, set, missing) {
  values <- read_values(h5, set)
  sums <- read_values(h5, paste0(set, "_check"))
  right <- sums == number_sums(values)
  # One without a sum was being written when its process was killed.
  list(values = replace(values, !right, missing), doubtful = which(!right & sums != 0))
}

write_summed <- function(h5, set, values, places = seq_along(values)) {
  write_at(h5, set, places, values[places])
  write_at(h5, paste0(set, "_check"), places, number_sums(values)[places])
}

# ---- Filling one ---------------------------------------------------------------------

#' Find the dimensions that are not known yet
#'
#' @param with_file Calls a function with the open file.
#' @param find Function of places among the targets, and of another one to call with some
#'   of these places and their dimensions.
#' @return Dimensions of all targets.
#' @noRd
fill_dimensions <- function(with_file, task, clock, find) {
  E <- task$E %||% with_file(\(h5) read_summed(h5, "E", 0L)$values)
  todo <- which(!is.na(E) & E == 0L)
  if (length(todo) > 0L) {
    find(todo, function(places, found) {
      E[places] <<- found
      with_file(\(h5) {
        write_summed(h5, "E", E, places)
        h5$flush()
      })
      clock("dimensions")
    })
  }
  say_dimensions(E, task)
  E
}

# Numbers that hdf5r is given at once, as it copies them.
most_written <- 2^18

#' @param rows Where the rows of each matrix of `values` go; `places`, those of these
#'   libraries in the map.
#' @noRd
write_rows <- function(h5, rows, values, places, targets) {
  each <- max(1, floor(most_written / max(1, ncol(values$rho))))
  for (layer in names(values)) {
    with_set(h5, layer, \(set) {
      for (part in pieces(length(rows), each)) {
        block <- values[[layer]][part, , drop = FALSE]
        if (layer == "lag") storage.mode(block) <- "integer"
        set[rows[part], ] <- block
      }
    })
    with_set(h5, "check", \(set) {
      set[rows, check_columns(layer, names(values), targets)] <-
        layer_sums(values[[layer]], layer, names(values), places)
    })
  }
}

#' A clock that adds the seconds since it was last asked to a phase in the file
#' @noRd
new_clock <- function(with_file) {
  last <- proc.time()[["elapsed"]]
  function(phase) {
    now <- proc.time()[["elapsed"]]
    place <- match(phase, c("dimensions", "map"))
    with_file(\(h5) {
      seconds <- read_summed(h5, "elapsed", 0)$values
      seconds[[place]] <- seconds[[place]] + now - last
      write_summed(h5, "elapsed", seconds)
    })
    last <<- now
  }
}

# ---- Reading numbers -----------------------------------------------------------------

#' Some rows of a layer in a file or shard, and which of them have the numbers that were written
#'
#' @param rows In its data sets; `places` of these libraries in the map.
#' @param groups Groups of targets, from 1, that follow each other.
#' @noRd
stored_rows <- function(h5, layer, layers, rows, places, groups, targets) {
  width <- map_file_tile[[2L]]
  columns <- seq((groups[[1L]] - 1) * width + 1, min(groups[[length(groups)]] * width, targets))
  # hdf5r is fast with runs, and reads each place once.
  of <- seq(min(rows), max(rows))
  if (length(of) > 4 * length(rows)) of <- sort(unique(rows))
  read <- \(name, columns) {
    with_set(h5, name, \(set) set[of, columns, drop = FALSE])[match(rows, of), , drop = FALSE]
  }
  values <- read(layer, columns)
  sums <- read("check", check_columns(layer, layers, targets)[groups])
  list(values = values, first = columns[[1L]],
       right = rowSums(layer_sums(values, layer, layers, places) != sums) == 0)
}

#' Which rows of a file or shard have the numbers that were written
#' @noRd
right_rows <- function(path, layers, rows, places, targets) {
  groups <- seq_len(ceiling(targets / map_file_tile[[2L]]))
  right <- with_sealed_h5(path, \(h5) lapply(block_rows(c(length(rows), targets)), \(block) {
    Reduce(`&`, lapply(layers, \(layer) {
      stored_rows(h5, layer, layers, rows[block], places[block], groups, targets)$right
    }))
  }))
  as.logical(unlist(right))
}

#' Numbers of a file or shard, of which all are checked that are read
#' @noRd
read_part <- function(path, layer, layers, rows, places, columns, targets) {
  refuse_file_if(!file.exists(path), path,
                 "it was there when the map was opened, and is not any more")
  group <- (columns - 1) %/% map_file_tile[[2L]] + 1
  values <- matrix(NA_real_, length(rows), length(columns))
  with_sealed_h5(path, \(h5) for (g in unique(group)) {
    for (block in block_rows(c(length(rows), map_file_tile[[2L]]))) {
      there <- stored_rows(h5, layer, layers, rows[block], places[block], g, targets)
      if (!all(there$right)) abort_numbers(path, paste("numbers of", layer))
      wanted <- columns[group == g] - there$first + 1
      values[block, group == g] <<- there$values[, wanted, drop = FALSE]
    }
  })
  values[is.nan(values)] <- NA
  values
}

abort_numbers <- function(path, what) {
  abort_file(path, paste("it is damaged:", what, "were changed since they were written"),
             "The call that made the map, made again, computes these again.")
}
