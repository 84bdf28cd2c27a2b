# Feeding a stream of episodes: from a file that grows, or over a network.

#' Feed a stream while the experiment runs
#'
#' `feed_file()` reads a table of spikes while another program writes it; `feed_socket()`
#' takes spikes that another program sends. Either hands them to an [episode_stream()],
#' block by block. `run_feed()` does so until it is stopped, calls a function of yours
#' after each update, and draws the stream.
#'
#' # A feed changes in place
#' A stream is a value, and `update()` gives a new one. A feed remembers how far it has
#' read, so `update(feed)` and `run_feed(feed)` change the feed itself, and nothing has to
#' be assigned. `feed$stream` is the stream as it is now: `plot(feed$stream)`,
#' `feed$stream$changes`. `feed$counts` says what became of the rows that were read:
#' `spikes` handed to the stream, of these `late` ones; `repeated`,
#' `too_late`, `stray` and `broken` ones that were left out, and rows `without_unit`.
#' `feed$behind` estimates how many seconds of recording wait to be counted.
#' `update(feed)` reads at most 64 KiB, counts what it can and does not wait, which suits
#' a Shiny page or a loop of your own.
#'
#' # When a block is over
#' A block ends at a whole multiple of `every` seconds of the recording, so that the
#' result depends on the recording and not on the speed of this computer. A block is over,
#' and the stream is updated with it,
#' * when a spike has come that is more than `slack` seconds later than its end;
#' * when a row without a unit says that the recording has come so far;
#' * when nothing has come for `wait` seconds by the clock. What has come is then counted,
#'   up to the last spike; spikes of the same block that come later are counted as well.
#'
#' Only the writer knows how far a silent recording has come. Unless it writes a row
#' without a unit, the window stays where the last spike was. Blocks without a spike are
#' put together into one update.
#'
#' # Repeated, late and broken rows
#' * A spike that comes again (same unit, same tick) counts once.
#' * A spike of a block that is over is late. As long as the window reaches back to it, it
#'   is put in its place, as [episode_stream()] does, and counted as `late`. A `slack` as
#'   long as the rows are out of order avoids this. When the window does not reach back
#'   any more it is `too_late` and left out; so is a repeated spike that old.
#' * A line that is no spike is `broken` and left out: another number of fields, no number
#'   for a time, no unit. A header that is written again is none. A hundred broken lines in
#'   a row are no table any more: the feed ends in an error that names the last of them.
#' * Twenty rows in a row that are too late, each at or after the one before it, are a clock
#'   that has begun anew: the feed ends in an error that names the line. A stream has one
#'   clock, so feed the rest to a new stream. A file that is read again from its beginning,
#'   or a new connection, may repeat such rows.
#' * A line that has no end yet waits for it. A program that died within a line and comes
#'   back should begin with a line end, or the half line and the next one make one broken
#'   line. Two lines that have run into one another may also read as one time that is far
#'   ahead. So a row that is more than a window ahead of all before it counts only when
#'   the next row is not more than a window before it; else it is `stray` and left out.
#'
#' What becomes of a row depends on the rows before it and on the next one, and not on how
#' many of them came in one look: a file that is read in one look gives the same updates
#' and counts as one that is read while it grows, unless nothing came for `wait` seconds.
#'
#' A message says so for the first row of each kind, then for the tenth, the hundredth,
#' and so on. Every spike that was written as a whole line, and is neither too late nor
#' stray, counts exactly once: the table is that of [mine_episodes()] for the spikes of
#' the window.
#'
#' # A file
#' A table as [read_spikes()] reads it (comma, semicolon, tab, bar or blanks between the
#' fields; with or without a header), with lines that end in LF or CR LF. How it is laid
#' out is found from the first 20 rows, or from fewer when nothing comes for `wait`
#' seconds. The file need not be there yet. It may be renamed and begun anew, as programs
#' do that rotate their logs: the old one is read to its end, and then the new one from
#' its beginning (on Windows only the new one, as an open file could not be renamed
#' there). A file that was cut short, or written anew in place, is read from its
#' beginning; what comes again counts once.
#'
#' Compressed tables cannot be read while they grow.
#'
#' # An HDF5 file
#' Two data sets of one dimension, equally long, that grow: `time_column` and `unit_column`
#' are their paths, such as `"/spikes/time"`. Times are in `time_unit`, seconds unless it is
#' given; units are words or numbers, and an empty word says how far the recording has come.
#' The program that records must open the file, append, and close it again. While it has the
#' file open for writing, the HDF5 library lets nobody read; the feed waits, and reads when
#' the file is closed. In turn the program cannot open the file during the few milliseconds
#' in which the feed reads: it should then try again, as for any file that is locked. A file
#' that stays open for writing can only be read in the mode SWMR (single writer, multiple
#' readers) of the HDF5 library, which hdf5r does not offer. Let the program write a table
#' besides, or send the spikes to `feed_socket()`. NWB files, which keep the spikes of each
#' unit together, are not written as they come; read those with [read_spikes()] afterwards.
#'
#' # The protocol of a socket
#' Text over TCP, a line for each spike: the time, a comma, the unit, and LF or CR LF.
#' ```
#' 12.345678,A7
#' 12.345912,B3
#' 12.5,
#' ```
#' * The time is a decimal number in `time_unit`, such as `12.345678`, `1e-3` or `12`.
#' * The unit is any text without a comma, a quote or a line end, in UTF-8; or in double
#'   quotes, with quotes inside written twice.
#' * A line with an empty unit is no spike. It says that the recording has come so far:
#'   all spikes up to this time have been sent.
#' * There is no header and no line at the end, and nothing is sent back.
#' * Without a `host`, R listens: connect to `port` and write. When the connection breaks,
#'   connect again, and send once more what may not have arrived; repeated spikes count
#'   once. Up to 16 programs may be connected at a time. They must run on this computer:
#'   nobody else can connect. With `listen = "0.0.0.0"` R listens at all network addresses of
#'   this computer, or with one of them at that: whoever can reach the port can send spikes
#'   then, so choose a port that the firewall keeps closed to others. On Windows R can only
#'   listen at all of them, and `listen` must say so.
#' * With a `host`, the program there listens and R connects, again and again until it
#'   does.
#'
#' # When the stream is too slow
#' Nothing is read while there are blocks to count. So a writer that is faster than the
#' stream is slowed down by TCP, and a file just grows. Nothing is dropped, and memory
#' holds no more than the window, the block that is not over with the `slack` after it,
#' and 64 KiB of lines from each writer. A message says how many seconds of recording
#' wait, from 10 s on. For a file these are estimated from the bytes that are not read
#' yet; for a socket, whose unread bytes R cannot see, from the age of the last spike by
#' the clock, compared with the youngest that came before.
#'
#' # Closed loops
#' `run_feed(on_update = )` takes a function of one argument, the stream after an update.
#' It is called after each update, in order, before the next block is looked at. What is
#' new is in `stream$changes`. When it returns `FALSE`, `run_feed()` ends; all other
#' values mean nothing. While it works, the stream waits. When it ends in an error, so
#' does `run_feed()`; the update is done by then, and the feed can go on.
#'
#' # Stopping
#' Ctrl-C (in RStudio also the stop sign) ends `run_feed()` at any moment without harm:
#' `run_feed(feed)` goes on where it was. `close()` hands what was read and is not counted
#' yet to the stream, and closes the file or the connections.
#'
#' @param stream An [episode_stream()], new or already updated. Its `resolution` and its
#'   window hold.
#' @param file Path of a table, or of an HDF5 file, that grows.
#' @param port Number of the port, from 1 to 65535; below 1024 most systems ask for
#'   special rights.
#' @param host Name or address of the computer to connect to, or `NULL` to listen.
#' @param listen Where there is no `host`, the address at which R listens: `"127.0.0.1"` for
#'   programs on this computer alone, `"0.0.0.0"` for all that can reach it, or one of the
#'   numerical addresses (IPv4) that this computer has.
#' @param every Length of a block, in seconds of the recording: a whole number of ticks,
#'   at most the window of the stream.
#' @param slack How far out of order rows may come, in seconds of the recording: a whole
#'   number of ticks.
#' @param wait Seconds by the clock, without anything new, after which what has come is
#'   counted though its block is not over; `Inf` for never.
#' @param time_unit,time_column,unit_column,sampling_rate,sep,decimal_mark,header As in
#'   [read_spikes()]; of an HDF5 file `time_column` and `unit_column` are paths of data sets.
#' @param feed,object,x,con A feed.
#' @param seconds How long to run, in seconds by the clock; `Inf` until Ctrl-C.
#' @param idle Seconds by the clock without anything new after which `run_feed()` ends.
#' @param on_update A function that is called with the stream after each update, or
#'   `NULL`.
#' @param redraw Seconds by the clock between two pictures of the stream, as
#'   [autoplot.episode_stream()] draws it, on the current device (in RStudio the pane
#'   Plots); `Inf` for none.
#' @param ... Not used; must be empty.
#'
#' @return `feed_file()` and `feed_socket()` give a feed, an object of class
#'   `stream_feed`.
#'   `run_feed()`, `update()` and `print()` give it back invisibly, changed. `close()`
#'   gives the stream, invisibly. `format()` gives one string.
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: a stream that is
#' none; blocks longer than the window or no whole number of ticks; a port that is taken;
#' columns that are not there. Errors about a file have the class `synfire_error_file`: a
#' folder; compressed or binary; a table whose layout its first rows do not show. A
#' feed that was closed is an error (`synfire_error_argument`). What the search refuses is
#' an error of [mine_episodes()]; the feed keeps the spikes that are not counted then.
#' A clock that begins anew, and a table that is none any more, give
#' `synfire_error_feed`, again at each update: `close()` gives the stream up to there.
#' Messages have the class `synfire_message_feed`.
#'
#' @seealso [episode_stream()]; `vignette("episodes")`.
#' @examples
#' x <- as.data.frame(songbird)
#' file <- tempfile(fileext = ".csv")
#' write.csv(x[x$time <= 6, ], file, row.names = FALSE, quote = FALSE)
#'
#' stream <- episode_stream(c(0.02, 0.12), min_count = 8, window = 5, threads = 2)
#' feed <- feed_file(stream, file, every = 1)
#' update(feed)
#' feed
#'
#' # The recording goes on; a line comes twice, and one is no spike.
#' lines <- paste(x$time, x$unit, sep = ",")[x$time > 6]
#' cat(lines, lines[1], "6.5,A,", file = file, sep = "\n", append = TRUE)
#' risen <- function(stream) cat(sum(stream$changes$status == "risen"), "risen\n")
#' run_feed(feed, idle = 0.1, on_update = risen)
#' s <- close(feed)
#' feed$counts
#' s
#' unlink(file)
#' @export
feed_file <- function(stream, file, every = 0.5, slack = 0, wait = 1,
                      time_unit = c("s", "ms", "us", "samples"), time_column = NULL,
                      unit_column = NULL, sampling_rate = NULL, sep = NULL,
                      decimal_mark = ".", header = NULL) {
  check_given(stream = "a stream, as `episode_stream()` sets it up",
              file = "the path of a table that grows")
  time_units <- c("s", "ms", "us", "samples")
  own_unit <- !missing(time_unit) && !identical(time_unit, time_units)
  reading <- list(
    time_unit = if (own_unit) check_choice(time_unit, time_units),
    time_column = time_column, unit_column = unit_column, sampling_rate = sampling_rate,
    sep = sep, decimal_mark = check_choice(decimal_mark, c(".", ",")), header = header
  )
  check_reading(reading)
  check_path(file, "file")
  file <- path.expand(file)
  if (dir.exists(file)) abort_file(file, "it is a folder", "Give the path of a table.")
  feed <- new_feed(stream, every, slack, wait, basename(file))
  if (!file.exists(file)) say_feed("There is no {.file {file}} yet; waiting for it.")
  feed$reading <- reading
  feed$file <- file
  feed$source <- if (is_h5(file)) h5_source(file, reading) else growing_file(file)
  feed
}

#' @rdname feed_file
#' @export
feed_socket <- function(stream, port, host = NULL, every = 0.5, slack = 0, wait = 1,
                        time_unit = c("s", "ms", "us", "samples"), sampling_rate = NULL,
                        listen = "127.0.0.1") {
  check_given(stream = "a stream, as `episode_stream()` sets it up",
              port = "the number of a port, from 1 to 65535")
  port <- as.integer(check_count(port, max = 65535))
  if (!is.null(host)) {
    check_string(host)
    if (!nzchar(host)) abort_arg("host", "the name of a computer, or NULL", "\"\"")
  }
  check_listen(listen, is.null(host))
  time_unit <- check_choice(time_unit)
  if (!is.null(sampling_rate)) check_number(sampling_rate, above = 0)
  layout <- socket_layout(time_unit, sampling_rate)
  where <- if (is.null(host)) paste("port", port) else paste0(host, ":", port)
  feed <- new_feed(stream, every, slack, wait, where)
  feed$reading <- list(time_unit = if (!identical(time_unit, "s")) time_unit)
  feed$source <- socket_source(port, host, listen, layout)
  feed
}

check_listen <- function(listen, listens) {
  check_string(listen, "listen")
  part <- "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
  refuse_if(!grepl(sprintf("^%s([.]%s){3}$", part, part), listen), "listen",
            "an address of this computer, such as \"127.0.0.1\", or \"0.0.0.0\"",
            describe(listen))
  refuse_if(!listens && listen != "127.0.0.1", "listen", "left out with a `host`", "given",
            "With a `host` R connects, and does not listen.")
}

#' What can be said of arguments for a table before there is one
#' @noRd
check_reading <- function(reading) {
  given <- function(name, check, ...) {
    if (!is.null(reading[[name]])) check(reading[[name]], name, ...)
  }
  given("time_column", check_column, several = FALSE)
  given("unit_column", check_column, several = TRUE)
  given("sampling_rate", check_number, above = 0)
  given("header", check_flag)
  if (!is.null(reading$sep)) check_separator(reading$sep)
  if (!is.null(reading$time_unit)) units_per_second(reading$time_unit, reading$sampling_rate)
}

#' A feed without a source: what is pending, how far time has come, what was counted
#' @noRd
new_feed <- function(stream, every, slack, wait, name) {
  refuse_if(!inherits(stream, "episode_stream"), "stream",
            "a stream, as `episode_stream()` sets it up", describe(stream))
  check_stream(stream, "stream")
  resolution <- stream$resolution
  every <- seconds_to_ticks(check_number(every, above = 0), resolution, "every")
  slack <- seconds_to_ticks(check_number(slack, min = 0), resolution, "slack")
  if (every < 1 || every > stream$window) {
    window <- exact(ticks_to_seconds(stream$window, resolution))
    abort_arg("every", paste("at least one tick, and at most the window of the stream,",
                             window, "s"),
              paste(exact(ticks_to_seconds(every, resolution)), "s"))
  }
  feed <- list(
    stream = stream, counts = no_counts(), behind = 0, name = name, every = every,
    slack = slack, wait = check_seconds(wait, "wait"),
    pending = list(tick = numeric(), code = integer()), units = character(),
    held = list(tick = numeric(), unit = character(), line = numeric()),
    queue = list(tick = numeric(), unit = character()), latest = -Inf, seen = -Inf,
    said = -Inf, back = list(n = 0, line = 0, tick = 0, latest = 0, last = 0), stopped = NULL,
    news = wall_clock(), first = Inf, youngest = Inf, too_late_at = NA_real_,
    broken_first = NULL, told = no_counts(), told_behind = 0, looked_at_rates = FALSE,
    closed = FALSE
  )
  structure(list2env(feed, parent = emptyenv()), class = "stream_feed")
}

no_counts <- function() {
  c(spikes = 0, late = 0, repeated = 0, too_late = 0, stray = 0, broken = 0, without_unit = 0)
}
