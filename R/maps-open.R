# Causal maps in files, of which only what is asked for is read.

#' Open a map in a file
#'
#' What [causal_map()] or [smap_map()] with `file` wrote, finished or not, as a map that reads
#' what is asked for. All that can be done with a map in memory can be done with it
#' (see [causal_map_tables] and [smap_map_tables]): it is read in blocks, and never held as a
#' whole, unless `as.matrix()` is to return all of it.
#'
#' @details
#' The file is HDF5, for any program that reads it. Data sets are shown here as R sees them;
#' where the last dimension is the fastest, as in Python, they are turned round.
#'
#' | data set | |
#' |---|---|
#' | `rho` | skill, libraries x targets, NaN where there is none: single precision in causal maps,
#' double in maps of S-maps |
#' | `lag`, `p_value`, `convergence` | the same shape, where asked for |
#' | `strength` | the same shape, in maps of S-maps |
#' | `done` | 1 for each library that is mapped; the rows of others hold nothing |
#' | `check` | sums of the layers, one after the other, libraries x groups of 2,048 targets |
#' | `E` | dimensions of targets, 0 before they are known |
#' | `libraries`, `targets` | names |
#' | `library_columns`, `target_columns` | their places among the series, from 1 |
#' | `library_reasons`, `target_reasons` | why there is no rho or no p value: 0 for no reason, 1
#' constant, 2 too few events, 3 too slow for p values |
#' | `elapsed` | seconds taken by finding dimensions, and by mapping |
#' | `E_check`, `elapsed_check` | sums of these two |
#'
#' A byte that has changed since it was written is found before it is believed. All that is
#' no number of the map is checked by a hash whenever the file is opened, which takes
#' milliseconds. Numbers are checked as they are read, 2,048 targets of a library at a time, so
#' a single pair costs the reading of that many. The call that made the map, made again, reads and
#' checks all that is there, and computes damaged libraries again, with a warning.
#'
#' The parameters, among them the random key, are attributes of the file, as are
#' `synfire_version`, `synfire_device` and `synfire_source`, a hash of the series.
#'
#' Where workers of a `future::plan()` made the map, its layers are in a folder next to the
#' file, of the same name with `.shards` added: files `0001.h5` and so on, each with the
#' data sets above of some libraries, and their places from 1 in `rows`. Move the
#' folder with the file. `source.h5` and `job.rds` in it are for workers alone, and not
#' needed once the map is finished.
#'
#' @param file Path of the file.
#' @return A map of the classes `causal_map_file` and `causal_map`, or `smap_map_file` and
#'   `smap_map`. Libraries that are not mapped yet are `NA`.
#' @section Errors:
#' A file that holds no such map, is damaged or in use by another process gives an error
#' of class `synfire_error_file`.
#' @seealso [causal_map()], [smap_map()]
#' @examplesIf rlang::is_installed("hdf5r")
#' file <- tempfile(fileext = ".h5")
#' x <- matrix(sin(1:200 * rep(c(0.31, 0.5, 0.7), each = 200)), 200,
#'             dimnames = list(NULL, c("a", "b", "c")))
#' causal_map(x, E_max = 4, threads = 2, file = file)
#' map <- open_causal_map(file)
#' map["a", c("b", "c")]
#' dim(map)
#' @export
open_causal_map <- function(file) {
  check_given(file = "the path of a file that causal_map() or smap_map() made")
  check_path(file, "file")
  rlang::check_installed("hdf5r", "to read maps from files.")
  if (dir.exists(file)) abort_file(file, "it is a folder")
  if (!file.exists(file)) abort_file(file, "there is no such file")
  file <- normalizePath(file, "/")
  head <- read_map_head(file)
  about <- head$about
  shards <- list_shards(file, about$synfire_id, head)
  if (length(head$E_doubtful) > 0L) abort_numbers(file, "its dimensions of targets")
  E <- rlang::set_names(as.integer(head$E), head$targets)
  E[which(E == 0L)] <- NA
  kind <- about$synfire_kind
  structure(
    list(
      file = file, paths = shards$paths, part = shards$part, row = shards$row,
      dim = c(length(head$libraries), length(head$targets)),
      dimnames = list(library = head$libraries, target = head$targets),
      layers = about$synfire_layers
    ),
    class = c(paste0(kind, "_file"), kind, "synfire_result"), E = E, parameters = head$parameters,
    call = tryCatch(str2lang(about$synfire_call), error = \(e) as.call(list(as.name(kind)))),
    elapsed = c(dimensions = head$elapsed[[1L]], map = head$elapsed[[2L]],
                total = sum(head$elapsed)),
    device = about$synfire_device, reasons = head$reasons
  )
}

#' @export
dim.causal_map_file <- function(x) unclass(x)$dim

#' @export
dimnames.causal_map_file <- function(x) unclass(x)$dimnames

#' @export
length.causal_map_file <- function(x) prod(dim(x))

# In R's eyes it is a list; these would look at its elements.

#' @export
Summary.causal_map_file <- function(..., na.rm = FALSE) {
  plain <- lapply(list(...), \(x) if (inherits(x, "causal_map")) as.matrix(x) else x)
  do.call(.Generic, c(plain, na.rm = na.rm))
}

#' @export
is.na.causal_map_file <- function(x) is.na(as.matrix(x))

#' @export
anyNA.causal_map_file <- function(x, recursive = FALSE) anyNA(as.matrix(x))

#' @export
mean.causal_map_file <- function(x, ...) mean(as.matrix(x), ...)

#' @export
map_layers.causal_map_file <- function(x) unclass(x)$layers

#' @export
map_part.causal_map_file <- function(x, layer, rows, columns) {
  values <- read_layer(x, layer, rows, columns)
  dimnames(values) <- Map(`[`, dimnames(x), list(rows, columns))
  values
}

#' @rdname causal_map_tables
#' @export
format.causal_map_file <- function(x, ...) c(NextMethod(), map_file_line(x))

#' Where a map lies, and how much of it there is
#' @noRd
map_file_line <- function(x) {
  mapped <- sum(!is.na(unclass(x)$part))
  paste0(
    "In ", unclass(x)$file,
    if (mapped < nrow(x)) sprintf(", %s of %s libraries so far", commas(mapped), commas(nrow(x)))
  )
}

# ---- Reading -------------------------------------------------------------------------

#' Some rows and columns of a layer
#' @return Plain double matrix, NA where there is nothing.
#' @noRd
read_layer <- function(x, layer, rows, columns) {
  x <- unclass(x)
  values <- matrix(NA_real_, length(rows), length(columns))
  if (length(columns) == 0L) return(values)
  part <- x$part[rows]
  for (p in unique(part[!is.na(part)])) {
    at <- which(part == p)
    path <- if (p == 0L) x$file else x$paths[[p]]
    values[at, ] <- read_part(path, layer, x$layers, x$row[rows[at]], rows[at], columns,
                              x$dim[[2L]])
  }
  values
}

#' @export
map_pairs.causal_map_file <- function(x, index) {
  if (is.logical(index)) index <- which(index)
  if (is.matrix(index) && ncol(index) == 2L) {
    rows <- map_places(index[, 1L], rownames(x), "i", "libraries")
    columns <- map_places(index[, 2L], colnames(x), "i", "targets")
  } else {
    refuse_if(!is.numeric(index) || anyNA(index) || any(index < 1 | index > length(x)), "i",
              "numbers of pairs of this map", "something else, or beyond them")
    rows <- (index - 1) %% nrow(x) + 1
    columns <- (index - 1) %/% nrow(x) + 1
  }
  out <- double(length(rows))
  for (part in split(seq_along(rows), rows)) {
    out[part] <- read_layer(x, "rho", rows[[part[[1L]]]], columns[part])
  }
  out
}
