# The parts of a stream. An update notes counts alone; tables are made from these counts when
# somebody asks for a table, as most updates pass unseen.

# ---- Episodes ------------------------------------------------------------------------

#' What shows the episodes of a window that the core has counted
#'
#' `tree` and `count`, from `r_stream_update()`, are values: a stream that is not the
#' newest one keeps its own.
#' @param about What a table of the same stream has for attributes that stay.
#' @noRd
view_of <- function(found, min_count, recording, spikes, spelling, about, options, seconds) {
  list(tree = found$tree, count = found$count, min_count = min_count, recording = recording,
       spikes = spikes, spelling = spelling, about = about, options = options,
       elapsed = seconds, peak_memory = found$peak_memory)
}

is_view <- function(part) is.list(part) && !is.object(part)

#' The spikes in the window of a stream
#' @noRd
recording_of <- function(x) {
  part <- .subset2(x, "episodes")
  if (is_view(part)) part$recording else attr(part, "recording", exact = TRUE)
}

#' Delay intervals of a stream, in seconds
#' @noRd
delays_of <- function(x) about_of(x)$intervals

#' What a table of the stream has for attributes that stay from update to update
#' @noRd
about_of <- function(x) {
  part <- .subset2(x, "episodes")
  if (is_view(part)) return(part$about)
  about <- attributes(part)
  about[setdiff(names(about), c("names", "row.names", "class", "columns", "rows", "recording",
                                "min_count", "levels", "elapsed", "peak_memory"))]
}

#' The table of a view; a table as it is
#'
#' @param state What counts for the stream: it remembers the last table that was made, as
#'   the next one has most of its rows.
#' @noRd
shown_table <- function(part, state = NULL) {
  if (!is_view(part)) return(part)
  known <- state$table
  if (!is.null(known) && rlang::is_reference(known$count, part$count)) {
    episodes <- known$episodes
    attr(episodes, "recording") <- part$recording
    return(episodes)
  }
  mined <- .Call(r_stream_table, part$tree, part$count, part$min_count, part$spelling,
                 known$mined, part$options)
  mined <- finish_status(mined, "writing the table of the window", "")
  about <- c(part$about, list(recording = part$recording, min_count = part$min_count,
                              levels = levels_frame(mined$levels, NULL, "exact"),
                              elapsed = part$elapsed, peak_memory = part$peak_memory))
  episodes <- new_episodes(mined_columns(mined, part$spikes), about)
  if (!is.null(state)) {
    mined$tree <- part$tree
    attr(episodes, "recording") <- NULL
    state$table <- list(count = part$count, episodes = episodes, mined = mined)
    attr(episodes, "recording") <- part$recording
  }
  episodes
}

# ---- Changes -------------------------------------------------------------------------

episode_status <- c("risen", "fallen", "new", "gone")

#' The changes that an update made; between two views they are found when somebody looks
#' @noRd
changes_since <- function(x, counted) {
  before <- .subset2(x, "episodes")
  if (!is.null(counted$tally)) {
    now <- counted$episodes
    # A stream in a file has its spikes once.
    before["recording"] <- now["recording"] <- list(NULL)
    return(list(before = before, now = now))
  }
  state <- counted$counting$state
  episode_changes(shown_table(before, x$counting$state), shown_table(counted$episodes, state))
}

#' @noRd
changes_of <- function(x) {
  state <- .subset2(x, "counting")$state
  part <- .subset2(x, "changes")
  known <- state$changes
  if (!is.null(known) && rlang::is_reference(known$count, part$now$count)) return(known$changes)
  before <- shown_table(part$before, state)
  changes <- episode_changes(before, shown_table(part$now, state))
  state$changes <- list(count = part$now$count, changes = changes)
  changes
}

#' Episodes whose counts differ between two tables
#' @noRd
episode_changes <- function(before, now) {
  before <- compared_parts(before)
  now <- compared_parts(now)
  at <- match(now$episode, before$episode)
  count <- before$count[at]
  other <- which(is.na(at) | count != now$count)
  left <- rep(TRUE, length(before$count))
  left[at] <- FALSE
  left <- which(left)
  old <- c(count[other], before$count[left])
  new <- c(now$count[other], rep(NA_integer_, length(left)))
  change <- new - old
  status <- 2L - (change > 0L)
  status[is.na(old)] <- 3L
  status[is.na(new)] <- 4L
  # What is not in a table occurs less than min_count times.
  least <- change
  least[status == 3L] <- new[status == 3L] - before$min_count + 1
  least[status == 4L] <- old[status == 4L] - now$min_count + 1
  o <- order(-abs(least), method = "radix")
  structure(list(episode = c(now$episode[other], before$episode[left])[o],
                 size = c(now$size[other], before$size[left])[o], before = old[o], now = new[o],
                 change = change[o],
                 status = structure(status[o], levels = episode_status, class = "factor")),
            class = "data.frame", row.names = .set_row_names(length(o)))
}

#' What is compared of a table, as a plain list: methods of tables take their time
#' @noRd
compared_parts <- function(x) {
  list(episode = .subset2(x, "episode"), size = .subset2(x, "size"),
       count = .subset2(x, "count"), min_count = attr(x, "min_count", exact = TRUE))
}

# ---- History -------------------------------------------------------------------------

# A row of numbers for each update, one after the other in one vector.
history_columns <- c("end", "recorded", "spikes", "episodes", episode_status, "alarms", "seconds")

history_frame <- function(rows) {
  width <- length(history_columns)
  n <- length(rows) / width
  columns <- lapply(seq_len(width), \(k) rows[seq.int(k, by = width, length.out = n)])
  names(columns) <- history_columns
  whole <- setdiff(history_columns, c("end", "recorded", "seconds"))
  columns[whole] <- lapply(columns[whole], as.integer)
  list2DF(columns, n)
}

#' The rows of a history, which may be a data frame that was put in by hand
#' @noRd
as_history <- function(history) {
  if (is.double(history)) return(history)
  as.double(t(as.matrix(history[history_columns])))
}

seconds_of <- function(row) {
  if (is.double(row)) row[[length(history_columns)]] else row$seconds
}

#' A row more than `old` has, the last `most` of them
#'
#' Rows stand in a buffer of `notes`, and streams have stretches of it: the newest stream
#' appends to the buffer, any other one begins a buffer of its own.
#' @noRd
note <- function(notes, name, old, row, most) {
  width <- length(row)
  if (width == 0L) return(old)
  log <- notes[[name]]
  held <- length(old)
  if (is.null(log) || !rlang::is_reference(log$last, old) ||
        log$filled + width > length(log$buffer)) {
    log <- list(buffer = vector(typeof(row), 2 * held + 64 * width), filled = held)
    .Call(r_window_write, log$buffer, 0, old)
  }
  .Call(r_window_write, log$buffer, log$filled, row)
  log$filled <- log$filled + width
  n <- min(held + width, most * width)
  log$last <- .Call(r_window_vector, log$buffer, log$filled - n, log$filled, NULL)
  notes[[name]] <- log
  log$last
}

#' Error unless a stream has its parts: the class stays when one is changed by hand
#' @noRd
check_stream <- function(x, arg = rlang::caller_arg(x)) {
  parts <- if (is.list(x)) unclass(x)
  number <- \(v) is_number(v) && is.finite(v)
  frame <- \(v) is.data.frame(v) || is_view(v)
  sound <- frame(parts$episodes) && frame(parts$changes) && is.environment(parts$notes) &&
    (is.double(parts$history) || is.data.frame(parts$history)) &&
    is.data.frame(parts$alarms) && is.list(parts$arguments) && is.list(parts$followed) &&
    number(parts$window) && number(parts$resolution) && number(parts$updates) &&
    number(parts$recorded) && number(parts$seconds) && number(parts$keep)
  refuse_if(!sound, arg, "a stream as `episode_stream()` and `update()` make it",
            "one that was changed", "Set it up again with `episode_stream()`.")
}

#' @export
check_sound.episode_stream <- function(x, arg) check_stream(x, arg)

#' Mining with the arguments of a stream, without the spikes in the call that is kept
#' @noRd
mine_window <- function(recording, arguments) {
  # Of a value that is code itself, mining says that it is none that it takes.
  as_given <- lapply(arguments, \(value) if (is.language(value)) call("quote", value) else value)
  eval(rlang::call2("mine_episodes", x = quote(recording), !!!as_given))
}

#' Seconds, finer than `proc.time()` tells them
#' @noRd
wall_clock <- function() as.double(Sys.time())
