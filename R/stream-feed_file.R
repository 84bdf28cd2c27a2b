# A file that grows, read from where it was left. The file stays open, so that what is
# written to it is read to the end also when it is renamed and another one takes its
# place. On Windows a file that is open cannot be renamed, so it is closed after each
# look.

# Bytes that a look at a source reads at most.
feed_bytes <- 65536L

# So many bytes before the place that was reached tell one file from another.
file_mark <- 512L

#' @return A source, a list of functions: `take()` reads what is new into the origins and
#'   gives how many bytes that were; `origins()`; `dropped()`, origins that nothing more
#'   comes from, until `forget()`; `unread()`, bytes that wait, or NA; `done()`, bytes
#'   that were read; `wait(seconds)`, at most, for something new; `close()`.
#' @param keep_open Whether the file stays open between two looks.
#' @noRd
growing_file <- function(file, keep_open = .Platform$OS.type != "windows") {
  this <- environment()
  con <- NULL
  at <- 0
  mark <- raw()
  gone <- FALSE
  origin <- new_origin(basename(file))
  dropped <- list()

  open <- function(next_con = open_file(file)) {
    suspendInterrupts({
      shut()
      con <<- next_con
      if (keep_open && !is.null(con)) shut_when_lost(this)
    })
  }
  shut <- function() {
    suspendInterrupts({
      if (!is.null(con)) close(con)
      con <<- NULL
    })
  }
  # What stands in a file behind the mark: NULL where the mark is not in its place.
  look <- function(con) {
    seek(con, at - length(mark))
    bytes <- readBin(con, "raw", length(mark) + feed_bytes)
    known <- seq_along(mark)
    if (identical(bytes[known], mark)) bytes[setdiff(seq_along(bytes), known)]
  }
  keep <- function(bytes) {
    suspendInterrupts({
      origin$rest <- c(origin$rest, bytes)
      at <<- at + length(bytes)
      mark <<- utils::tail(c(mark, bytes), file_mark)
    })
    length(bytes)
  }
  begin_anew <- function(next_con) {
    suspendInterrupts({
      if (!identical(con, next_con)) open(next_con)
      at <<- 0
      mark <<- raw()
      origin$over <- TRUE
      dropped <<- c(dropped, list(origin))
      origin <<- new_origin(basename(file))
    })
    say_feed("{.file {file}} was replaced or cut short, and is read from its beginning.",
             "Spikes that come again count once.")
    0L
  }
  # Whether another file has taken the place of the open one.
  look_again <- function() {
    size <- file.size(file)
    if (is.na(size)) {
      if (!gone) say_feed("{.file {file}} is gone; waiting for it to come back.")
      gone <<- TRUE
      return(0L)
    }
    gone <<- FALSE
    if (size == at) return(0L)
    fresh <- open_file(file)
    if (is.null(fresh)) return(0L)
    bytes <- look(fresh)
    if (!is.null(bytes)) {
      open(fresh)
      return(keep(bytes))
    }
    last <- look(con)
    if (length(last)) {
      close(fresh)
      return(keep(last))
    }
    begin_anew(fresh)
  }

  list(
    take = function() {
      if (is.null(con)) open()
      if (is.null(con)) return(0L)
      if (!keep_open) on.exit(shut())
      bytes <- look(con)
      if (is.null(bytes)) return(begin_anew(con))
      if (length(bytes)) keep(bytes) else look_again()
    },
    origins = function() list(origin),
    dropped = function() dropped,
    forget = function() dropped <<- list(),
    unread = function() max(0, file.size(file) - at, na.rm = TRUE),
    done = function() at,
    close = shut,
    wait = function(seconds) Sys.sleep(seconds)
  )
}

#' Closes what a source has open, when nobody has the source any more
#'
#' To be called each time after it was opened: of the functions that R calls then, those
#' that were registered last come first, and R's own warns of connections left open.
#' @noRd
shut_when_lost <- function(source) reg.finalizer(source, shut_source, onexit = TRUE)

shut_source <- function(source) source$shut()

#' An open file, or `NULL` where there is none yet
#' @noRd
open_file <- function(file) {
  if (!file.exists(file)) return(NULL)
  tryCatch(base::file(file, "rb"), error = \(e) NULL, warning = \(w) NULL)
}
