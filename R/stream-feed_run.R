# A feed at work. Whatever is read or counted is first made and then put in its place at
# once, so that Ctrl-C finds a feed that is whole.

#' @rdname feed_file
#' @export
run_feed <- function(feed, seconds = Inf, idle = Inf, on_update = NULL, redraw = Inf) {
  check_given(feed = "a feed, as `feed_file()` and `feed_socket()` make it")
  check_feed(feed)
  seconds <- check_seconds(seconds)
  idle <- check_seconds(idle)
  redraw <- check_seconds(redraw)
  check_on_update(on_update)
  if (redraw < Inf) rlang::check_installed("ggplot2", "to draw a stream.")
  began <- wall_clock()
  feed$news <- began
  drawn <- -Inf
  shown <- -1
  tryCatch(
    repeat {
      did <- feed_step(feed, on_update, began + seconds)
      now <- wall_clock()
      news <- feed$stream$updates != shown && can_draw(feed$stream)
      if (news && redraw < Inf && now - drawn >= redraw) {
        # Of lines of one point ggplot2 says so.
        suppressMessages(plot(feed$stream))
        Sys.sleep(0.01)   # in which RStudio and other windows show it
        drawn <- wall_clock()
        shown <- feed$stream$updates
      }
      if (identical(did, FALSE) || now - began >= seconds) break
      if (did > 0) next
      if (now - feed$news >= idle) break
      feed$source$wait(min(0.02, max(began + seconds - now, 0)))
    },
    interrupt = \(condition) {
      say_feed("Stopped. The feed is whole: {.run run_feed()} goes on with it.")
    }
  )
  invisible(feed)
}

#' @rdname feed_file
#' @export
update.stream_feed <- function(object, ..., on_update = NULL) {
  check_no_dots()
  check_feed(object)
  check_on_update(on_update)
  feed_step(object, on_update)
  invisible(object)
}

#' @rdname feed_file
#' @export
close.stream_feed <- function(con, ...) {
  check_no_dots()
  feed <- con
  if (!feed$closed) {
    for (origin in feed$source$origins()) {
      # A table of so few rows that nothing shows how it is laid out must not stay open.
      tryCatch(take_lines(feed, origin, sure = TRUE),
               synfire_error = \(e) say_feed(escape_braces(conditionMessage(e))))
    }
    drop_half_lines(feed, all = TRUE)
    put(feed, settle_rows(feed, NULL, sure = TRUE))
    update_blocks(feed, NULL, Inf, all = TRUE)
    if (!is.null(feed$stopped)) say_feed(escape_braces(feed$stopped[["x"]]))
    tell(feed)
    feed$source$close()
    put(feed, list(behind = 0, closed = TRUE))
  }
  invisible(feed$stream)
}

#' Whether there is a line to draw
#' @noRd
can_draw <- function(stream) {
  length(stream$followed$episode) > 0L && nrow(stream$history) > 1L
}

#' Error unless a feed is one, and open
#' @noRd
check_feed <- function(feed, arg = rlang::caller_arg(feed)) {
  refuse_if(!inherits(feed, "stream_feed") || !is.environment(feed), arg,
            "a feed, as `feed_file()` and `feed_socket()` make it", describe(feed))
  check_stream(feed$stream, paste0(arg, "$stream"))
  refuse_if(feed$closed, arg, "a feed that is open", "one that was closed",
            "Make another one with `feed$stream`, which is the stream as it was left.")
}

check_on_update <- function(on_update) {
  refuse_if(!is.null(on_update) && !is.function(on_update), "on_update",
            "a function of one argument, the stream, or NULL", describe(on_update))
}

# ---- A step --------------------------------------------------------------------------

#' Reads once, and hands on what is over
#'
#' @param until By the clock; no further update begins then.
#' @return `FALSE` where `on_update` said so, else how many bytes were read and updates
#'   made.
#' @noRd
feed_step <- function(feed, on_update = NULL, until = Inf) {
  # While there are blocks to count, nothing is read, so that little is held in memory.
  looks <- is.null(feed$stopped) && length(feed$queue$tick) == 0L && is.null(next_end(feed))
  taken <- if (looks) read_on(feed) else 0
  quiet <- looks && taken == 0 && is_quiet(feed)
  if (quiet && length(feed$held$tick)) put(feed, settle_rows(feed, NULL, sure = TRUE))
  all <- quiet || !is.null(feed$stopped)
  updates <- update_blocks(feed, on_update, until, all)
  put(feed, pace(feed, taken))
  tell(feed)
  if (identical(updates, FALSE)) return(FALSE)
  if (!is.null(feed$stopped) && is.null(next_end(feed, all))) {
    abort_about("feed", "This feed cannot go on.", escape_braces(feed$stopped), call = NULL)
  }
  taken + updates
}

#' Whether nothing has come for so long that nothing is awaited
#' @noRd
is_quiet <- function(feed) wall_clock() - feed$news >= feed$wait

#' Puts parts of a feed in their places, all or none of them
#' @noRd
put <- function(feed, parts) {
  suspendInterrupts(for (name in names(parts)) assign(name, parts[[name]], envir = feed))
}

#' One look at the source, and the rows of the whole lines that are there then
#' @return How many bytes came.
#' @noRd
read_on <- function(feed) {
  taken <- feed$source$take()
  if (taken > 0) feed$news <- wall_clock()
  for (origin in c(feed$source$dropped(), feed$source$origins())) take_lines(feed, origin)
  drop_half_lines(feed)
  taken
}

#' Whole lines of an origin become pending spikes
#' @param sure Whether so many rows must do to show how the table is laid out.
#' @noRd
take_lines <- function(feed, origin, sure = is_quiet(feed) || origin$over) {
  whole <- last_lf(origin$rest)
  if (whole == 0 || !is.null(feed$stopped)) return()
  bytes <- origin$rest[seq_len(whole)]
  if (is.null(origin$layout)) {
    sure <- sure || whole >= feed_bytes
    origin$layout <- file_layout(feed$file, bytes, feed$reading, sure)
    if (is.null(origin$layout)) return()
  }
  if (origin$line == 0 && begin_with_mark(bytes)) bytes <- bytes[-(1:3)]
  rows <- rows_of_lines(bytes, origin$layout, origin$line, feed$stream$resolution)
  broken <- rows$broken
  no_table <- find_no_table(origin, rows)
  if (!is.null(no_table$stopped)) {
    rows <- lapply(rows[c("tick", "unit", "line")], `[`, rows$line < no_table$line)
    broken <- broken[broken$line <= no_table$line, ]
  }
  rest <- origin$rest[-seq_len(whole)]
  suspendInterrupts({
    taken <- settle_rows(feed, rows, origin)
    if (nrow(broken)) {
      taken$counts[["broken"]] <- taken$counts[["broken"]] + nrow(broken)
      taken$broken_first <- c(as.list(broken[1L, ]), name = origin$name)
    }
    taken["stopped"] <- list(taken$stopped %||% no_table$stopped)
    put(feed, taken)
    origin$bad <- no_table$bad
    origin$rest <- rest
    origin$line <- origin$line + rows$lines
  })
}

# So many lines in a row that are no spikes are no table any more.
most_broken_lines <- 100L

#' Whether what comes is no table any more
#'
#' @return List: `bad`, how many lines in a row are broken so far; and where these are too
#'   many, the last `line` that was looked at, and `stopped`, why the feed cannot go on.
#' @noRd
find_no_table <- function(origin, rows) {
  line <- c(rows$line, rows$broken$line)
  if (length(line) == 0L) return(list(bad = origin$bad))
  order <- order(line)
  broken <- rep(c(FALSE, TRUE), c(length(rows$line), nrow(rows$broken)))[order]
  place <- seq_along(broken)
  sound <- cummax(ifelse(broken, 0L, place))
  run <- ifelse(broken, place - sound + ifelse(sound == 0L, origin$bad, 0), 0)
  at <- match(most_broken_lines, run)
  if (is.na(at)) return(list(bad = run[[length(run)]]))
  last <- line[order][[at]]
  shown <- rows$broken[rows$broken$line == last, ]
  list(bad = most_broken_lines, line = last, stopped = c(
    x = sprintf("%s lines in a row are no spikes, up to line %s of %s: %s (%s).",
                most_broken_lines, commas(last), origin$name, quoted_line(shown$text), shown$why),
    i = paste("If the program has begun to write another kind of table there, let it write",
              "to another file, and make a feed for that. If the table is sound, say how it",
              "is laid out: `sep`, `decimal_mark`, `header`, `time_column`, `unit_column`.")
  ))
}

#' Lines without an end that will get none, or that no row of a table can be
#' @noRd
drop_half_lines <- function(feed, all = FALSE) {
  # Before the end of a file, the rest of the line is still to be read.
  if (!is.null(feed$stopped) || all && isTRUE(feed$source$unread() > 0)) return()
  for (origin in c(feed$source$dropped(), feed$source$origins())) {
    half <- length(origin$rest) > 0L && (all || origin$over)
    if (!half && length(origin$rest) <= longest_fed_line) next
    if (half && take_open_line(feed, origin)) next
    counts <- feed$counts
    counts[["broken"]] <- counts[["broken"]] + 1
    text <- bytes_to_lines(utils::head(origin$rest, 200L))[[1L]]
    suspendInterrupts({
      put(feed, list(counts = counts, broken_first = list(
        line = origin$line + 1, text = text, name = origin$name,
        why = if (half) "it was not written to its end" else "it is longer than 1 MiB"
      )))
      origin$rest <- raw()
    })
  }
  if (!all) feed$source$forget()
}

#' Takes the last line of a file that has no line end, where it is whole as far as can be
#' known; read_spikes() goes by the same rule
#' @return Whether it was taken.
#' @noRd
take_open_line <- function(feed, origin) {
  how <- origin$layout$how
  if (is.null(feed$file) || is.null(how) || origin$over) return(FALSE)
  rows <- rows_of_lines(c(origin$rest, as.raw(10)), origin$layout, origin$line,
                        feed$stream$resolution)
  if (length(rows$tick) != 1L) return(FALSE)
  known <- setdiff(c(feed$units, feed$queue$unit, feed$held$unit), "")
  fate <- if (origin$rest[[length(origin$rest)]] == as.raw(34)) "whole" else
    if (how$fields == how$time) open_time(c(feed$latest, rows$tick)) else
      if (how$fields %in% how$text) open_name(rows$unit, known) else "whole"
  if (startsWith(fate, "no")) return(FALSE)
  say_open_line(feed$file, list(line = rows$line, text = origin$rest), fate, NULL)
  suspendInterrupts({
    put(feed, settle_rows(feed, rows, origin))
    origin$rest <- raw()
  })
  TRUE
}

#' Updates of the stream for all blocks that are over, with all rows of the queue
#' @return How many there were, or `FALSE` where `on_update` ended them.
#' @noRd
update_blocks <- function(feed, on_update, until, all) {
  n <- 0
  repeat {
    waits <- length(feed$queue$tick) > 0L
    end <- next_end(feed, all && !waits)
    if (is.null(end) && !waits) return(n)
    if (is.null(end)) {
      put(feed, accept_rows(feed))
      next
    }
    put(feed, hand_over(feed, end))
    n <- n + 1
    if (!is.null(on_update) && identical(on_update(feed$stream), FALSE)) return(FALSE)
    if (wall_clock() >= until) return(n)
  }
}

#' How many seconds of recording wait to be counted
#'
#' Of a file that grows, the unread bytes are as many seconds as those read before. What
#' waits in a network is not seen: while there is more than was read, the age of the last
#' spike is compared with the least age that a spike of this feed had.
#' @noRd
pace <- function(feed, taken) {
  last <- feed$latest
  if (!is.finite(last)) return(list())
  in_seconds <- \(ticks) ticks_to_seconds(ticks, feed$stream$resolution)
  first <- min(feed$first, last)
  reached <- feed$stream$now %||% first
  behind <- max(0, in_seconds(last - reached))
  unread <- feed$source$unread()
  done <- feed$source$done()
  age <- wall_clock() - in_seconds(last)
  youngest <- min(feed$youngest, age)
  more <- if (is.na(unread)) {
    if (taken >= feed_bytes) max(0, age - youngest) else 0
  } else {
    unread * in_seconds(last - first) / max(done, 1)
  }
  list(behind = behind + more, youngest = youngest)
}

# ---- What it shows -------------------------------------------------------------------

#' @rdname feed_file
#' @export
format.stream_feed <- function(x, ...) {
  sprintf("%s in blocks of %s s%s", x$name,
          exact(ticks_to_seconds(x$every, x$stream$resolution)),
          if (x$closed) ", closed" else "")
}

#' @rdname feed_file
#' @export
print.stream_feed <- function(x, ...) {
  check_no_dots()
  cat("<stream_feed> ", format(x), "\n", sep = "")
  counts <- x$counts
  cat(sprintf("# %s counted", counted(counts[["spikes"]], "spike")))
  if (counts[["late"]] > 0) cat(",", commas(counts[["late"]]), "of them late")
  out <- counts[c("repeated", "too_late", "stray", "broken")]
  if (any(out > 0)) {
    names(out) <- c("repeated", "too late", "stray", "broken")
    out <- out[out > 0]
    cat("; left out: ", paste(commas_each(out), names(out), collapse = ", "), sep = "")
  }
  cat(sprintf("\n# %s s of the recording wait to be counted\n",
              short(signif(x$behind, 2))))
  cat("# ", format(x$stream), "\n", sep = "")
  invisible(x)
}

#' Seconds by the clock, from 0, or Inf
#' @noRd
check_seconds <- function(x, arg = rlang::caller_arg(x)) {
  refuse_if(!is_number(x) || x < 0, arg, "a number of seconds, from 0, or Inf", describe(x))
  as.double(x)
}
