# Connections over which lines come. With a host, this is the program that calls; without
# one it is called, by one writer or by several.

# Writers that are connected at the same time; further ones wait.
most_writers <- 16L

#' @return A source, as of `growing_file()`.
#' @noRd
socket_source <- function(port, host, layout, call) {
  server <- if (is.null(host)) open_server(port, call)
  name <- if (is.null(host)) sprintf("port %d", port) else sprintf("%s:%d", host, port)
  this <- environment()
  shut <- function() {
    for (one in writers) close(one$con)
    if (!is.null(server)) close(server)
    writers <<- list()
    server <<- NULL
  }
  if (!is.null(server)) shut_when_lost(this)
  writers <- list()     # an origin each, with its connection in it
  dropped <- list()
  total <- 0
  tried <- -Inf

  join <- function(con) {
    origin <- new_origin(name, layout)
    origin$con <- con
    writers <<- c(writers, list(origin))
    shut_when_lost(this)
    if (is.null(host)) say_feed("A writer has connected to {name}.") else
      say_feed("Connected to {name}.")
  }
  leave <- function(k) {
    suspendInterrupts({
      close(writers[[k]]$con)
      writers[[k]]$over <- TRUE
      dropped <<- c(dropped, writers[k])
      writers <<- writers[-k]
    })
    say_feed("The writer on {name} has gone; waiting for it to come back.")
  }
  let_in <- function() {
    while (length(writers) < most_writers && socketSelect(list(server), FALSE, 0)) {
      suspendInterrupts(join(socketAccept(server, blocking = FALSE, open = "rb")))
    }
  }
  # A host that does not answer is not called again and again.
  call_host <- function() {
    if (length(writers) || wall_clock() < tried + 1) return()
    con <- tryCatch(
      socketConnection(host, port, blocking = FALSE, open = "rb", timeout = 2),
      error = \(e) NULL, warning = \(w) NULL
    )
    tried <<- wall_clock()
    if (!is.null(con)) join(con)
  }
  read_from <- function(origin) {
    if (!socketSelect(list(origin$con), FALSE, 0)) return(raw())
    suspendInterrupts({
      # A connection that was reset is one that has ended.
      bytes <- tryCatch(readBin(origin$con, "raw", feed_bytes), error = \(e) raw(),
                        warning = \(w) raw())
      origin$rest <- c(origin$rest, bytes)
    })
    # What can be read, and gives nothing, has ended.
    if (length(bytes)) bytes
  }

  list(
    take = function() {
      if (is.null(server)) call_host() else let_in()
      taken <- 0
      for (k in rev(seq_along(writers))) {
        bytes <- read_from(writers[[k]])
        taken <- taken + length(bytes)
        if (is.null(bytes)) leave(k)
      }
      total <<- total + taken
      taken
    },
    origins = function() writers,
    dropped = function() dropped,
    forget = function() dropped <<- list(),
    unread = function() NA_real_,
    done = function() total,
    close = shut,
    wait = function(seconds) {
      listened <- c(if (!is.null(server)) list(server), lapply(writers, `[[`, "con"))
      if (length(listened)) socketSelect(listened, FALSE, seconds) else Sys.sleep(seconds)
    }
  )
}

open_server <- function(port, call) {
  tryCatch(serverSocket(port), error = \(e) {
    abort_arg("port", "one that is free on this computer", paste(port, "and cannot be opened"),
              "Another program, or another feed, has it: `close()` that, or take another port.",
              call = call)
  })
}
