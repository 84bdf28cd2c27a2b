# A stream as a list and as a table, printed and summed up.

#' @rdname episode_stream
#' @param row.names Names for the rows of the table, or `NULL`.
#' @param optional Not used; R gives it to every method.
#' @export
as.data.frame.episode_stream <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_stream(x)
  check_no_dots(but = frame_arguments)
  as.data.frame(x$episodes, row.names)
}

#' @rdname episode_stream
#' @export
format.episode_stream <- function(x, ...) {
  check_stream(x)
  window <- paste(short(ticks_to_seconds(x$window, x$resolution)), "s")
  if (is.null(x$now)) return(sprintf("window of %s, no spikes yet", window))
  units <- levels(.subset2(recording_of(x), "unit"))
  last <- x$history
  last <- last[nrow(last), ]
  sprintf("window of %s up to %s s, %s spikes of %s units, %s episodes", window,
          exact(last$end), commas(last$spikes), commas(length(units)), commas(last$episodes))
}

stream_title <- function(x) {
  least <- x$arguments$min_count
  c(paste("<episode_stream>", format(x)), delays_text(delays_of(x)),
    if (is.null(least)) sprintf("# a support of at least %s each",
                                exact(x$arguments$min_support)) else
      sprintf("# at least %s each", counted(least, "occurrence")))
}

#' @rdname episode_stream
#' @param n Number of episodes and of changes to print.
#' @export
print.episode_stream <- function(x, ..., n = 6L) {
  check_no_dots()
  n <- check_count(n, min = 0)
  check_stream(x)
  cat(stream_title(x), sep = "\n")
  if (x$updates == 0) return(invisible(x))
  cat(pace_text(x$recorded / x$seconds), "\n", sep = "")
  rows <- distinct_rows(x$episodes$units, strongest_rows(x$episodes), n)
  if (length(rows)) {
    cat("\nStrongest episodes that differ (by the spikes they account for)\n")
    print_left(data.frame(size = x$episodes$size[rows], count = x$episodes$count[rows]),
               list(episode = row_pieces(x$episodes, rows)))
  }
  if (!is.null(x$alarming)) cat("\n", alarms_text(x), "\n", sep = "")
  if (nrow(x$alarms) > 0L) {
    shown <- utils::head(x$alarms, n)
    print_left(shown[c("size", "count", "limit", "p", "since")],
               list(episode = name_pieces(shown$episode)))
    more_line(nrow(x$alarms) - nrow(shown))
  }
  number <- table(x$changes$status)
  cat("\nSince the update before: ",
      paste(commas_each(as.vector(number)), names(number), collapse = ", "), "\n", sep = "")
  shown <- utils::head(x$changes, n)
  if (nrow(shown)) {
    print_left(shown[c("status", "before", "now")], list(episode = name_pieces(shown$episode)))
  }
  invisible(x)
}

#' @rdname episode_stream
#' @export
summary.episode_stream <- function(object, ...) {
  begin_method(object)
  structure(list(title = stream_title(object), updates = object$updates,
                 recorded = object$recorded, seconds = object$seconds,
                 real_time_factor = if (object$updates > 0) object$recorded / object$seconds else
                                      NA_real_, slowest = object$slowest,
                 device = about_of(object)$device, memory = held_memory(object$counting$state),
                 looks = object$alarming$looks %||% 0,
                 false = (object$alarming$looks %||% 0) * (object$alarming$alpha %||% 0)),
            class = "summary.episode_stream")
}

#' @export
print.summary.episode_stream <- function(x, ...) {
  cat(x$title, sep = "\n")
  if (x$updates == 0) return(invisible(x))
  cat(sprintf("\n%s: %s s of recording, computed in %s s on the %s\n",
              counted(x$updates, "update"), short(x$recorded),
              short(signif(x$seconds, 3)), toupper(x$device)))
  cat(pace_text(x$real_time_factor), "\n", sep = "")
  slow <- x$slowest
  cat(sprintf("slowest update: %s s for %s s of recording, %s spikes, %s episodes\n",
              short(signif(slow$seconds, 3)), short(slow$recorded), commas(slow$spikes),
              commas(slow$episodes)))
  if (!is.na(x$memory)) cat(sprintf("the window takes %s of memory\n", bytes_text(x$memory)))
  if (x$looks > 0) {
    cat(sprintf("%s for alarms, of which chance is expected to make %s false at most\n",
                counted(x$looks, "look"), short(signif(x$false, 3))))
  }
  invisible(x)
}

#' What a stream says of its alarms in one line
#' @noRd
alarms_text <- function(x) {
  a <- x$alarming
  if (a$looks == 0) {
    if (is.null(a$open)) return("No look for alarms yet: the window is not full")
    return(sprintf("The first look for alarms is judged at %s s",
                   exact(ticks_to_seconds(a$open$due, x$resolution))))
  }
  hourly <- a$alpha * 3600 / ticks_to_seconds(a$look, x$resolution)
  sprintf(paste("%s; chance (%s, dither = %s) is expected to raise a false one at %s looks",
                "an hour at most"),
          if (nrow(x$alarms) == 0L) "No alarms" else counted(nrow(x$alarms), "alarm"),
          a$surrogate, exact(a$dither), short(signif(hourly, 3)))
}

#' How a stream keeps up, in words
#' @noRd
pace_text <- function(factor) {
  if (factor > 1) {
    return(sprintf("keeps up, %s times faster than the recording", short(signif(factor, 3))))
  }
  sprintf(paste("does not keep up: takes %s times as long as the recording; update less",
                "often, raise `min_count` or shorten `window`"), short(signif(1 / factor, 3)))
}

#' An element of a stream as it is shown
#'
#' `episodes` may be held as a view (see `view_of()`), `changes` as the two tables or views
#' that they lie between, `history` and `slowest` as rows of numbers, and `followed` with
#' its counts as rows.
#' @noRd
stream_part <- function(x, name) {
  part <- .subset2(x, name)
  switch(name, episodes = shown_table(part, .subset2(x, "counting")$state),
         changes = if (is.data.frame(part)) part else changes_of(x),
         history = , slowest = if (is.double(part)) history_frame(part) else part,
         followed = shown_followed(x), part)
}

#' @export
`$.episode_stream` <- function(x, name) stream_part(x, name)

#' @export
`[[.episode_stream` <- function(x, i, ...) {
  stream_part(x, if (is.character(i)) i else names(x)[[i]])
}

#' @export
as.list.episode_stream <- function(x, ...) {
  sapply(names(x), \(name) stream_part(x, name), simplify = FALSE)
}
