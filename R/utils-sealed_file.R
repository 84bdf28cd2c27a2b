# Files of results that are whole, or not there; and that say so when a byte of them has changed.
#
# A sealed file is an object as saveRDS() writes it, and after it a line of text: the mark
# and a hash of all bytes before it. The hash is looked at before anything else is: what
# is damaged is never given to readRDS(), which some of it would crash.

seal_mark <- "\nsynfire sealed "
seal_length <- nchar(seal_mark) + 32L

# What stands in the names of files that are being written, so that they are known as ours.
temporary_mark <- "-synfire-"

#' Give a file the name `path` once it is whole
#'
#' @param write Writes what is to be there to the path it is given.
#' @param new Whether a file of that name must not be there yet: it is never replaced.
#' @noRd
name_when_whole <- function(path, write, new = FALSE) {
  temporary <- tempfile(paste0(basename(path), temporary_mark), dirname(path), ".tmp")
  on.exit(unlink(temporary))
  write(temporary)
  named <- if (new) give_new_name(temporary, path) else
    suppressWarnings(file.rename(temporary, path))
  if (!named) {
    why <- if (new && file.exists(path)) "another file of that name has come to be there" else
      "it could not be given its name"
    abort_write(path, why)
  }
}

#' Rename without replacing what has that name
#' @noRd
give_new_name <- function(from, to) {
  if (suppressWarnings(file.link(from, to))) return(TRUE)
  # Some file systems have no links.
  !file.exists(to) && suppressWarnings(file.rename(from, to))
}

#' Remove what killed processes have left of files that they were writing
#' @param names Of these files, as a regular expression.
#' @noRd
drop_temporary <- function(folder, names) {
  pattern <- sprintf("^(%s)%s[0-9a-f]+[.]tmp$", names, temporary_mark)
  unlink(list.files(folder, pattern, full.names = TRUE, all.files = TRUE), recursive = TRUE)
}

# ---- Writing -------------------------------------------------------------------------

#' Write an object so that no half of it ever has the name `path`
#' @noRd
write_whole <- function(object, path) {
  name_when_whole(path, \(temporary) {
    write_checked(temporary, "wb", \(con) saveRDS(object, con), path)
    mark <- charToRaw(paste0(seal_mark, hash_bytes(temporary, file.size(temporary))))
    write_checked(temporary, "ab", \(con) write_bytes(mark, con), path)
  })
}

#' Write to a connection, and error where not all of it reached the system
#' @noRd
write_checked <- function(file, mode, write, path) {
  con <- tryCatch(suppressWarnings(file(file, mode)), error = \(e) {
    abort_write(path, "no file could be made there")
  })
  closed <- FALSE
  on.exit(if (!closed) suppressWarnings(close(con)))
  tryCatch(write(con), error = \(e) abort_write(path, full_disk))
  # What is still in hand is written now; only this says whether that went well.
  closed <- TRUE
  if (!identical(suppressWarnings(close(con)), 0L)) abort_write(path, full_disk)
}

#' Write bytes, and error where fewer of them reach the system, of which R only warns
#' @noRd
write_bytes <- function(bytes, con) {
  tryCatch(writeBin(bytes, con), warning = \(w) stop(conditionMessage(w)))
}

full_disk <- "the disk is full, or a limit on the size of files or on your space is reached"

#' @param why Completes "It cannot be written: ...".
#' @noRd
abort_write <- function(path, why) {
  abort_about(c("write", "folder", "file"), "{.file {path}} cannot be written.",
              x = escape_braces(paste0(toupper(substr(why, 1, 1)), substring(why, 2), ".")),
              i = "See to that and make the same call again: what is finished stays there.")
}

# ---- Reading -------------------------------------------------------------------------

#' What a sealed file holds, or `NULL` where it is none, or damaged
#' @noRd
read_whole <- function(path) {
  if (!looks_sealed(path)) return(NULL)
  size <- file.size(path)
  tryCatch(suppressWarnings({
    expected <- paste0(seal_mark, hash_bytes(path, size - seal_length))
    mark <- read_bytes(path, size - seal_length, seal_length)
    if (identical(mark, charToRaw(expected))) readRDS(path)
  }), error = \(e) NULL)
}

#' Whether a file has a mark of a sealed one, damaged or not
#' @noRd
looks_sealed <- function(path) {
  size <- file.size(path)
  if (is.na(size) || dir.exists(path) || size <= seal_length) return(FALSE)
  mark <- tryCatch(suppressWarnings(read_bytes(path, size - seal_length, nchar(seal_mark))),
                   error = \(e) raw())
  identical(mark, charToRaw(seal_mark))
}

read_bytes <- function(path, from, n) {
  con <- file(path, "rb")
  on.exit(close(con))
  seek(con, from)
  readBin(con, "raw", n)
}

#' Hash of some bytes of a file, block by block
#'
#' @param n How many bytes from `from` on; several runs one after the other.
#' @noRd
hash_bytes <- function(path, n, from = 0) {
  con <- file(path, "rb")
  on.exit(close(con))
  hash <- ""
  for (run in seq_along(n)) {
    seek(con, from[[run]])
    left <- n[[run]]
    while (left > 0) {
      bytes <- readBin(con, "raw", min(left, 2^20))
      if (length(bytes) == 0L) stop("a file that is too short")
      hash <- rlang::hash(list(hash, bytes))
      left <- left - length(bytes)
    }
  }
  rlang::hash(list(hash, n))
}
