# Connections over which lines come. With a host, this is the program that calls; without
# one it is called, by one writer or by several.

# Writers that are connected at the same time; further ones wait.
most_writers <- 16L

#' @param listen The address of this computer at which to listen where there is no `host`.
#' @return A source, as of `growing_file()`.
#' @noRd
socket_source <- function(port, host, listen, layout) {
  server <- if (is.null(host)) open_server(port, listen)
  name <- if (is.null(host)) sprintf("port %d", port) else sprintf("%s:%d", host, port)
  this <- environment()
  shut <- function() {
    for (one in writers) one$link$close()
    if (!is.null(server)) server$close()
    writers <<- list()
    server <<- NULL
  }
  if (!is.null(server)) shut_when_lost(this)
  writers <- list()     # an origin each, with its link in it
  dropped <- list()
  total <- 0
  tried <- -Inf

  join <- function(link) {
    origin <- new_origin(name, layout)
    origin$link <- link
    writers <<- c(writers, list(origin))
    shut_when_lost(this)
    if (is.null(host)) say_feed("A writer has connected to {name}.") else
      say_feed("Connected to {name}.")
  }
  leave <- function(k) {
    suspendInterrupts({
      writers[[k]]$link$close()
      writers[[k]]$over <- TRUE
      dropped <<- c(dropped, writers[k])
      writers <<- writers[-k]
    })
    say_feed("The writer on {name} has gone; waiting for it to come back.")
  }
  let_in <- function() {
    called <- TRUE
    while (length(writers) < most_writers && called) suspendInterrupts({
      link <- server$accept()
      called <- !is.null(link)
      if (called) join(link)
    })
  }
  # A host that does not answer is not called again and again.
  call_host <- function() {
    if (length(writers) || wall_clock() < tried + 1) return()
    con <- tryCatch(
      socketConnection(host, port, blocking = FALSE, open = "rb", timeout = 2),
      error = \(e) NULL, warning = \(w) NULL
    )
    tried <<- wall_clock()
    if (!is.null(con)) join(connection_link(con))
  }
  read_from <- function(origin) {
    suspendInterrupts({
      bytes <- origin$link$read(feed_bytes)
      origin$rest <- c(origin$rest, bytes)
    })
    bytes
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
    wait = function(seconds) wait_for_links(c(list(server), lapply(writers, `[[`, "link")), seconds)
  )
}

#' A connection of R, or a socket of this package's, over which bytes come
#'
#' @return List: `read(n)`, up to so many bytes, none where there are none now, NULL where
#'   the other program has gone; `close()`.
#' @noRd
connection_link <- function(con) {
  read <- function(n) {
    if (!socketSelect(list(con), FALSE, 0)) return(raw())
    # A connection that was reset is one that has ended.
    bytes <- tryCatch(readBin(con, "raw", n), error = \(e) raw(), warning = \(w) raw())
    # What can be read, and gives nothing, has ended.
    if (length(bytes)) bytes
  }
  list(con = con, read = read, close = \() close(con))
}

socket_link <- function(socket) {
  list(socket = socket, read = \(n) .Call(r_receive, socket, n),
       close = \() .Call(r_shut, socket))
}

#' Waits until something comes over some links or somebody calls, at most so many seconds
#' @noRd
wait_for_links <- function(links, seconds) {
  sockets <- as.integer(unlist(lapply(links, `[[`, "socket")))
  connections <- Filter(Negate(is.null), lapply(links, `[[`, "con"))
  if (length(sockets)) .Call(r_await, sockets, seconds) else
    if (length(connections)) socketSelect(connections, FALSE, seconds) else Sys.sleep(seconds)
}

#' A server, a list of functions: `accept()` gives a link to the next program that has
#' called, or NULL; `close()`
#' @noRd
open_server <- function(port, listen) {
  socket <- .Call(r_listen, listen, port)
  if (socket == -2L) return(open_r_server(port, listen))
  if (socket < 0L) abort_port(port, listen)
  accept <- function() {
    made <- .Call(r_accept, socket)
    if (made >= 0L) socket_link(made)
  }
  list(socket = socket, accept = accept, close = \() .Call(r_shut, socket))
}

#' The same where R alone can listen, which it does at all addresses
#' @noRd
open_r_server <- function(port, listen) {
  refuse_if(listen != "0.0.0.0", "listen",
            "\"0.0.0.0\" on this system, where R listens at all addresses",
            encodeString(listen, quote = "\""),
            "Whoever can reach the port can send spikes then.")
  con <- tryCatch(serverSocket(port), error = \(e) abort_port(port, listen))
  accept <- function() {
    if (socketSelect(list(con), FALSE, 0)) {
      connection_link(socketAccept(con, blocking = FALSE, open = "rb"))
    }
  }
  list(con = con, accept = accept, close = \() close(con))
}

abort_port <- function(port, listen) {
  abort_arg("port", sprintf("one that is free at the address %s of this computer", listen),
            paste(port, "and cannot be opened"),
            paste("Another program or feed has it: `close()` that, or take another port. Or",
                  "this computer does not have that address."))
}
