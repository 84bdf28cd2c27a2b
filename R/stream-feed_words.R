# What a feed says while it runs.

say_feed <- function(..., .envir = parent.frame()) {
  cli::cli_inform(c(i = paste(...)), class = "synfire_message_feed", .envir = .envir)
}

#' Says what went another way than expected: the first time, the tenth, the hundredth ...
#' @noRd
tell <- function(feed) {
  counts <- feed$counts
  grown <- floor(log10(counts + 0.5)) > floor(log10(feed$told + 0.5))
  for (kind in setdiff(names(counts)[grown], c("spikes", "without_unit"))) {
    say_feed(feed_words(feed, kind))
  }
  feed$told <- counts
  tell_slow(feed)
  waits <- floor(log10(max(feed$behind, 1)))
  if (waits > feed$told_behind) {
    say_feed(sprintf(paste(
      "%s s of the recording wait to be counted. Nothing is lost; a larger `every` or",
      "`min_count` makes updates fewer or faster."
    ), short(signif(feed$behind, 2))))
  }
  feed$told_behind <- max(waits, feed$told_behind)
}

#' Says once where the rate of units shows that times are not in seconds
#' @noRd
tell_slow <- function(feed) {
  spikes <- feed$counts[["spikes"]]
  each <- spikes / max(length(feed$units), 1)
  if (feed$looked_at_rates || each < 50) return()
  feed$looked_at_rates <- TRUE
  if (!is.null(feed$reading$time_unit)) return()
  seconds <- ticks_to_seconds(feed$seen - feed$first, feed$stream$resolution)
  tryCatch(check_slow(spikes, length(feed$units), seconds),
           synfire_warning_unlikely = \(w) say_feed(escape_braces(conditionMessage(w))))
}

feed_words <- function(feed, kind) {
  n <- feed$counts[[kind]]
  spikes <- counted(n, "spike")
  are <- if (n == 1) "is" else "are"
  seconds <- \(ticks) exact(ticks_to_seconds(ticks, feed$stream$resolution))
  text <- switch(
    kind,
    late = sprintf(paste(
      "%s so far came after the block had been counted, and %s counted all the same.",
      "A larger `slack` waits for such spikes. If the clock of the recording has begun anew,",
      "set up a new stream."
    ), spikes, are),
    repeated = sprintf("%s so far came again, and count%s once.", spikes,
                       if (n == 1) "s" else ""),
    too_late = sprintf(paste(
      "%s so far came too late and %s left out, the last at %s s: the stream has reached",
      "%s s, and its window does not reach back to there. If the clock of the recording",
      "has begun anew, set up a new stream."
    ), spikes, are, seconds(feed$too_late_at), seconds(feed$stream$now)),
    stray = sprintf(paste(
      "%s so far %s left out, more than a window ahead of the rows before and after:",
      "lines that run into one another may read like that."
    ), counted(n, "row"), are),
    broken = sprintf("%s so far %s no spike%s and left out: line %s of %s, %s (%s).",
                     counted(n, "line"), are, if (n == 1) "" else "s",
                     commas(feed$broken_first$line), feed$broken_first$name,
                     quoted_line(feed$broken_first$text), feed$broken_first$why)
  )
  escape_braces(text)
}

#' The beginning of a line, for a message
#' @noRd
quoted_line <- function(text) encodeString(substr(printable(text), 1L, 60L), quote = "\"")
