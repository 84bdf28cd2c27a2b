# How a changed byte is found in the HDF5 files of maps, before HDF5 or anybody believes it.
#
# What HDF5 has to read before it can read numbers is never changed once a file is made, and
# neither are names and settings. A hash of all that, the *seal*, is in the user block, the
# first bytes of the file, with the places of what does change: it is looked at before a
# file is opened, as HDF5 may crash on damaged files. What changes is checked by sums that
# are kept in the file, as it is read: of each library, 2,048 targets at a time.

seal_block <- 1024  # bytes
seal_title <- "synfire causal map"

# First byte and length of where HDF5 notes that somebody writes to a file.
h5_flags <- c(seal_block + 20, 4)

# ---- The seal ------------------------------------------------------------------------

#' Make a sealed file, which has its name once it is whole
#' @param chunks Of the data set that has most of them.
#' @param write Function of the open file and its path for now, which returns where the data sets
#'   lie that will change: a list of what set_place() returns.
#' @noRd
create_sealed_h5 <- function(path, chunks, write, new = TRUE) {
  name_when_whole(path, new = new, \(path) {
    plan <- hdf5r::H5P_FILE_CREATE$new()
    plan$set_userblock(seal_block)
    # With one index block for all chunks of a data set, these lie one after the other.
    plan$set_istore_k(max(32, ceiling(chunks / 2)))
    h5 <- hdf5r::H5File$new(path, mode = "w-", file_create_pl = plan)
    places <- with_closing(h5, \(h5) write(h5, path))
    seal_h5(path, do.call(rbind, places))
  })
}

#' What `f` makes of an open file, which is closed then
#'
#' Closing writes what is still in memory. Where that fails, it is an error like any other.
#' @noRd
with_closing <- function(h5, f) {
  done <- closed <- FALSE
  on.exit({
    if (!done) closed <- !inherits(close_read(h5), "try-error")
    if (!closed) assign(basename(tempfile("")), h5, unclosed_files)
  })
  out <- f(h5)
  done <- TRUE
  close_h5(h5)
  closed <- TRUE
  out
}

# Files that could not be closed, on a full disk. R would collect them and close them once more,
# where HDF5 crashes.
unclosed_files <- new.env(parent = emptyenv())

#' Seal a file that is closed and whole
#' @param changing Matrix of two columns, where runs of bytes begin and how long they
#'   are, that are not part of it; or `NULL`.
#' @noRd
seal_h5 <- function(path, changing = NULL) {
  size <- file.size(path)
  changing <- unname(rbind(h5_flags, changing))
  places <- sprintf("%.0f %.0f\n", changing[, 1L], changing[, 2L])
  about <- paste(c(sprintf("%s %d\n%.0f bytes\n", seal_title, map_file_format, size), places),
                 collapse = "")
  text <- paste0(about, "seal ", seal_of(path, size, changing, about), "\n")
  con <- file(path, "r+b")
  on.exit(close(con))
  seek(con, 0, rw = "write")
  write_bytes(c(charToRaw(text), raw(seal_block - nchar(text))), con)
}

#' A hash of what does not change, and of what is said about it
#' @noRd
seal_of <- function(path, size, changing, about) {
  changing <- changing[order(changing[, 1L]), , drop = FALSE]
  from <- c(seal_block, changing[, 1L] + changing[, 2L])
  length <- c(changing[, 1L], size) - from
  rlang::hash(list(about, hash_bytes(path, length[length > 0], from[length > 0])))
}

#' Whether a file is sealed and unchanged: "whole", "damaged", or "none" without a seal
#' @noRd
seal_state <- function(path) {
  head <- tryCatch(suppressWarnings(read_bytes(path, 0, seal_block)), error = \(e) raw())
  if (length(head) < seal_block) return("none")
  # All of it is plain text; where a byte is not, R would not even read the numbers beside it.
  head[head > as.raw(126L)] <- charToRaw("?")
  lines <- strsplit(rawToChar(head[head != 0]), "\n", fixed = TRUE, useBytes = TRUE)[[1L]]
  title <- sprintf("%s %d", seal_title, map_file_format)
  if (length(lines) < 3L || !identical(lines[[1L]], title)) return("none")
  seal <- lines[[length(lines)]]
  about <- lines[-length(lines)]
  size <- suppressWarnings(as.double(sub(" bytes$", "", about[[2L]])))
  runs <- suppressWarnings(as.double(unlist(strsplit(about[-(1:2)], " ", fixed = TRUE,
                                                     useBytes = TRUE))))
  if (is.na(size) || size != file.size(path) || anyNA(runs) || length(runs) %% 2 != 0L) {
    return("damaged")
  }
  changing <- matrix(runs, ncol = 2L, byrow = TRUE)
  there <- tryCatch(seal_of(path, size, changing, paste0(about, "\n", collapse = "")),
                    error = \(e) "")
  if (identical(seal, paste("seal", there))) "whole" else "damaged"
}

#' What `f` makes of a file whose seal is whole, or that has none
#' @noRd
with_sealed_h5 <- function(path, f, mode = "r") {
  if (seal_state(path) == "damaged") abort_seal(path)
  with_closing(open_h5(path, mode), f)
}

abort_seal <- function(path) {
  abort_file(path, "it is damaged: bytes of it were changed, added or cut off since it was made",
             "Take it from a copy, or remove it and make the map again.")
}

#' Where a data set lies in its file: first byte and length
#'
#' For a data set that was made last, in a file that is flushed.
#' @noRd
set_place <- function(h5, name, path) {
  set <- h5[[name]]
  on.exit(set$close())
  bytes <- as.double(set$get_storage_size())
  chunk <- set$chunk_dims
  if (anyNA(chunk)) return(c(as.double(set$get_offset()), bytes))
  # Chunks come last in the file, one after the other: as is seen from the first and the last.
  from <- file.size(path) - bytes
  dims <- as.double(set$dims)
  last <- (ceiling(dims / chunk) - 1) * chunk + 1
  mark <- 2019
  set[1, 1] <- mark
  set[last[[1L]], last[[2L]]] <- mark
  h5$flush()
  type <- set$get_type()
  size <- as.double(type$get_size())
  expected <- writeBin(if (type$get_class() == "H5T_INTEGER") as.integer(mark) else mark,
                       raw(), size = size, endian = "little")
  found <- vapply(c(from, from + bytes - prod(chunk) * size), \(at) {
    identical(read_bytes(path, at, size), expected)
  }, NA)
  if (!all(found)) {
    abort_write(path, "this version of the HDF5 library orders files in a way that is not known")
  }
  c(from, bytes)
}

# ---- Sums ----------------------------------------------------------------------------

# Their place among these is part of the sums of layers.
summed_layers <- c("rho", "lag", "p_value", "convergence", "strength")

#' Sums of the rows of a layer, a column for each group of targets
#' @param layers All that the map has: with strengths, they are in double precision.
#' @param places Of the libraries, from 1.
#' @noRd
layer_sums <- function(values, layer, layers, places) {
  storage.mode(values) <- "double"
  .Call(r_row_sums, values, as.double(places), match(layer, summed_layers),
        map_file_tile[[2L]], "strength" %in% layers)
}

#' Sums of single numbers, of the dimensions of targets and of times
#' @noRd
number_sums <- function(values) {
  as.vector(.Call(r_row_sums, matrix(as.double(values)), as.double(seq_along(values)), 0, 1, FALSE))
}

#' Columns of the data set `check` that are of a layer
#' @noRd
check_columns <- function(layer, layers, targets) {
  groups <- ceiling(targets / map_file_tile[[2L]])
  (match(layer, layers) - 1) * groups + seq_len(groups)
}

# Of the files. Raised whenever they, or the numbers in them, change.
map_file_format <- 4L

# A compromise between reading libraries and reading targets.
map_file_tile <- c(64, 2048)
