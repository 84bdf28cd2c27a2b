# An HDF5 file that grows by a program that opens it, appends, and closes it again. Of a
# file that is open for writing the HDF5 library lets nobody read, so the file is opened
# for each look, and closed. What is new is handed on as lines, as a socket gives them.

# Rows that a look at a file reads at most.
feed_h5_rows <- 4096L

#' @param time,unit Paths of two data sets in the file, which are equally long.
#' @return A source, as of `growing_file()`.
#' @noRd
growing_h5 <- function(file, time, unit, layout) {
  at <- 0            # rows that were read
  last <- NULL       # the last of them
  total <- 0
  seen <- NULL       # size and time of the file when all of it had been read
  gone <- paste(file, "is gone; waiting for it to come back.")
  waiting <- if (file.exists(file)) "" else gone   # which was said already
  name <- basename(file)
  origin <- new_origin(name, layout)
  dropped <- list()

  # Why there is nothing to read: once, and again when it is something else.
  say_waiting <- function(why) {
    if (!identical(why, waiting)) {
      waiting <<- why
      if (nzchar(why)) say_feed(escape_braces(why))
    }
    0L
  }
  begin_anew <- function() {
    suspendInterrupts({
      at <<- 0
      last <<- NULL
      origin$over <- TRUE
      dropped <<- c(dropped, list(origin))
      origin <<- new_origin(name, layout)
    })
    say_feed("{.file {file}} was replaced or cut short, and is read from its beginning.",
             "Spikes that come again count once.")
  }
  keep <- function(rows, state) {
    n <- length(rows$time)
    bytes <- charToRaw(paste0(lines_of_rows(rows), collapse = ""))
    suspendInterrupts({
      origin$rest <- c(origin$rest, bytes)
      at <<- at + n
      if (n > 0) last <<- lapply(rows[c("time", "unit")], utils::tail, 1L)
      total <<- total + length(bytes)
      if (at == rows$of) seen <<- state
    })
    length(bytes)
  }

  list(
    take = function() {
      state <- file.info(file, extra_cols = FALSE)[c("size", "mtime")]
      if (is.na(state$size)) return(say_waiting(gone))
      if (identical(state, seen)) return(0L)
      rows <- tryCatch(h5_rows_after(file, time, unit, at, last), synfire_error = identity)
      if (inherits(rows, "synfire_error")) {
        return(say_waiting(paste(conditionMessage(rows), "Waiting for that to change.")))
      }
      say_waiting("")
      if (!rows$same) begin_anew()
      if (rows$same) keep(rows, state) else 1L
    },
    origins = function() list(origin),
    dropped = function() dropped,
    forget = function() dropped <<- list(),
    unread = function() NA_real_,
    done = function() total,
    close = function() NULL,
    wait = function(seconds) Sys.sleep(seconds)
  )
}

#' Rows `at + 1` and on of two data sets
#'
#' @param last The row `at` as it was when it was read.
#' @return List: `time` and `unit`; `of`, how many rows there are; `same`, whether `last` is
#'   still in its place.
#' @noRd
h5_rows_after <- function(file, time, unit, at, last) {
  fail <- function(what, hint = NULL) abort_file(file, what, hint, call = NULL)
  # To look for damage takes longer the longer the file is, and is done at the first look.
  known <- at > 0
  h5 <- open_h5(file, "r")
  on.exit(close_read(h5))
  length_of <- function(path) {
    if (!h5_has_path(h5, path, fail)) fail(sprintf("it has no `%s`", path))
    h5_use(h5, path, fail, \(set) {
      if (!inherits(set, "H5D")) fail(sprintf("`%s` is no data set", path))
      prod(h5_extent(set, path, fail))
    })
  }
  # A program may close the file when it has appended to one of the two alone.
  n <- min(length_of(time), length_of(unit))
  read <- \(path, kind, rows) h5_use(h5, path, fail, \(set) {
    h5_read(set, path, fail, kind = kind, at = rows, checked = known)
  })
  rows_at <- function(rows) {
    list(time = as.vector(read(time, "numbers", rows)),
         unit = as.vector(read(unit, c("words", "numbers"), rows)))
  }
  same <- at == 0 || n >= at && identical(rows_at(at), last)
  rows <- if (same && n > at) seq.int(at + 1, min(n, at + feed_h5_rows))
  c(if (length(rows)) rows_at(rows) else list(time = double(), unit = character()),
    of = n, same = same)
}

#' Rows as lines of the protocol of sockets
#' @noRd
lines_of_rows <- function(rows) {
  unit <- rows$unit
  unit <- if (is.numeric(unit)) format(unit, trim = TRUE, digits = 17, scientific = FALSE) else {
    paste0("\"", gsub("\"", "\"\"", unit, fixed = TRUE), "\"")
  }
  sprintf("%.17g,%s\n", rows$time, unit)
}

#' Whether a file is HDF5, or, where there is none yet, is called so
#' @noRd
is_h5 <- function(file) {
  if (!file.exists(file) || file.size(file) == 0) {
    return(grepl("[.](h5|hdf5|hdf|nwb)$", file, ignore.case = TRUE))
  }
  con <- base::file(file, "rb")
  on.exit(close(con))
  identical(readBin(con, "raw", 4L), as.raw(c(0x89, 0x48, 0x44, 0x46)))
}

#' What the arguments of a feed say about an HDF5 file
#' @noRd
h5_source <- function(file, reading) {
  rlang::check_installed("hdf5r", "to read HDF5 files.", call = user_frame())
  for (name in c("time_column", "unit_column")) {
    path <- reading[[name]]
    refuse_if(!is.character(path) || length(path) != 1L, name,
              "the path of a data set in this HDF5 file, such as \"/spikes/time\"",
              describe(path))
  }
  for (name in c("sep", "header")) {
    refuse_if(!is.null(reading[[name]]), name, "left out for an HDF5 file", "given",
              "It is for tables of text.")
  }
  layout <- socket_layout(reading$time_unit %||% "s", reading$sampling_rate)
  growing_h5(file, reading$time_column, reading$unit_column, layout)
}
