# How the counts of a stream move on with its window: by what came and went, where that is
# little, else by mining the window.

#' Who counts for a stream
#'
#' @return List: `state` is `NULL`, or an environment with the `pointer` to the window that
#'   the core or a GPU keeps, the number of `units` it has room for, and `stamp`, which tells
#'   whether it has been moved on since; `stamp` is the one it had after the last update
#'   of this stream. `possible`: whether they may keep a window at all.
#' @noRd
no_counting <- function(arguments, possible = TRUE) {
  engine <- arguments[["engine"]] %||% "auto"
  list(state = NULL, stamp = 0, possible = possible && engine %in% c("auto", "window"))
}

#' The episodes of a window that has moved on, and who counted them
#'
#' @return List: `episodes`, a table or a view, its number of `rows`; `counting`. Where the
#'   episodes before were a view of the same window, also `tally`, how many episodes there are and
#'   how many are of each `episode_status`. Where the episodes are a view, also `strongest`, the
#'   numbers of those to be followed, and whether their tree is the `same_tree` as before.
#' @noRd
count_window <- function(object, slid) {
  counting <- object$counting
  if (!slid$changed && !is_view(object$episodes)) {
    episodes <- object$episodes
    attr(episodes, "recording") <- slid$recording
    return(list(episodes = episodes, rows = nrow(episodes), counting = counting))
  }
  moved <- slid$gone + length(slid$come$tick)
  if (counting$possible && !is.null(slid$come) && is_little(object, moved, slid$spikes)) {
    counted <- move_on(object, slid)
    if (!is.null(counted)) return(counted)
    counting <- no_counting(object$arguments, possible = FALSE)
  } else {
    counting$state <- NULL
  }
  episodes <- mine_window(slid$recording, object$arguments)
  list(episodes = episodes, rows = nrow(episodes), counting = counting)
}

#' Whether counting what came and went takes less than mining the window. Tests say by
#' `object$always` that it shall be done in any case.
#' @noRd
is_little <- function(object, moved, here) {
  if (isTRUE(object$always)) here > 0 else 4 * moved <= here
}

#' Counts what came and went; `NULL` where memory is too short to keep a window
#' @noRd
move_on <- function(object, slid) {
  started <- wall_clock()
  x <- slid$recording
  arguments <- object$arguments
  intervals <- delays_of(object)
  check_delays_fit(x, intervals)
  state <- object$counting$state
  block <- slid$come
  units <- levels(.subset2(x, "unit"))
  min_count <- check_min_count(arguments[["min_count"]], arguments[["min_support"]], slid$spikes)
  # The buffers hold the window before this update, or already the one after it.
  known <- is_current(state, object$counting$stamp, length(units)) &&
    (is_kept_window(state, x) || is_kept_window(state, recording_of(object)))
  if (!known) {
    block <- list(tick = train_ticks(x), code = as.integer(.subset2(x, "unit")))
    state <- open_counting(object, x, block$tick)
    if (inherits(state, "synfire_status")) return(NULL)
  }
  if (!is_kept_window(state, x)) x <- keep_window(state, x)
  if (!identical(state$units_known, units)) {
    state$units_known <- units
    state$spelling <- spelling(units, intervals)
  }
  # Until the end of this update the state belongs to no stream.
  stamp <- state$stamp + 1
  state$stamp <- NA
  before <- if (known && is_view(object$episodes)) object$episodes
  found <- .Call(
    r_stream_update, state$pointer, block, max(slid$cut, -2^53), state$spelling, before,
    list(min_count = min(min_count, .Machine$integer.max), follow = object$followed$most,
         max_memory = stream_memory(object))
  )
  if (is_short_of_memory(found)) return(NULL)
  found <- finish_status(found, "mining the window",
                         "Raise `min_count`, lower `max_size`, or shorten `window`.")
  state$stamp <- stamp
  show <- list(max_size = state$max_size, least_flag = least_flag(about_of(object)$target),
               top = min(as.double(arguments[["top"]] %||% Inf), 2^53))
  view <- view_of(found, min_count, x, slid$spikes, state$spelling, about_of(object), show,
                  wall_clock() - started)
  counting <- list(state = state, stamp = stamp, possible = TRUE)
  # A table that leaves episodes out is made at once: what it shows says what has changed.
  if (show$least_flag < 3 || show$top < 2^53) {
    episodes <- shown_table(view, state)
    return(list(episodes = episodes, rows = nrow(episodes), counting = counting))
  }
  list(episodes = view, rows = found$tally[[1L]], counting = counting, strongest = found$strongest,
       tally = if (!is.null(before)) found$tally,
       same_tree = rlang::is_reference(found$tree, before$tree))
}

#' Whether the core's window is the one that a stream had after its last update
#' @noRd
is_current <- function(state, stamp, units) {
  !is.null(state) && identical(state$stamp, stamp) && units <= state$units &&
    !is.null(.Call(r_stream_about, state$pointer))
}

#' Bytes that the window takes, in the core and in the buffers of its spikes; NA where the
#' window is mined
#' @noRd
held_memory <- function(state) {
  about <- if (!is.null(state)) .Call(r_stream_about, state$pointer)
  if (is.null(about)) return(NA_real_)
  about$held + 8 * length(state$time_buffer) + 4 * length(state$unit_buffer)
}

is_short_of_memory <- function(result) {
  inherits(result, "synfire_status") && result$status %in% c("no_memory", "over_budget")
}

# ---- The spikes of the window ----------------------------------------------------------

# A window may hold millions of spikes, of which an update changes a few hundred. Times and
# units stand in buffers of the state, twice as long as the window; each update appends
# to them, and the columns of the recording are stretches of the buffers, without a copy.

#' Keeps the spikes of a recording in new buffers; the recording whose columns are there
#' @noRd
keep_window <- function(state, x) {
  time <- .subset2(x, "time")
  unit <- .subset2(x, "unit")
  n <- length(time)
  fill_buffers(state, time, as.integer(unit), n)
  columns <- window_columns(state, n, levels(unit))
  structure(columns, class = class(x), row.names = .set_row_names(n),
            start = attr(x, "start"), end = attr(x, "end"), resolution = attr(x, "resolution"))
}

#' The last `n` spikes of the buffers
#' @noRd
window_columns <- function(state, n, levels) {
  from <- state$filled - n
  state$time <- .Call(r_window_vector, state$time_buffer, from, state$filled, NULL)
  state$unit <- .Call(r_window_vector, state$unit_buffer, from, state$filled, levels)
  list(time = state$time, unit = state$unit)
}

#' Whether the columns of a recording are the last stretches of the buffers
#' @noRd
is_kept_window <- function(state, x) {
  !is.null(state$time) && rlang::is_reference(.subset2(x, "time"), state$time) &&
    rlang::is_reference(.subset2(x, "unit"), state$unit)
}

#' What slide_window() gives, without looking at the spikes that stay; `NULL` where the
#' window is not the one in the buffers, or new spikes do not all come after those known
#' @noRd
slide_kept_window <- function(object, block) {
  state <- object$counting$state
  if (!is_current(state, object$counting$stamp, length(block$units))) return(NULL)
  old <- recording_of(object)
  if (!is_kept_window(state, old)) return(NULL)
  time <- state$time
  cut <- block$now - object$window
  o <- order(block$tick, block$code, method = "radix")
  block[c("tick", "code")] <- list(block$tick[o], block$code[o])
  block <- without_known(block, state, object$resolution)
  came <- length(block$tick)
  if (is.null(block) || came > 0L && block$tick[[1L]] <= cut) return(NULL)
  gone <- .Call(r_window_until, time, ticks_to_seconds(cut, object$resolution))
  n <- length(time) - gone + came
  if (n == 0 || !is_little(object, gone + came, n)) return(NULL)
  check_not_too_late(object, block$tick, cut)
  if (state$filled + came > length(state$time_buffer)) {
    fill_buffers(state, state$time, state$unit, n)
  }
  .Call(r_window_write, state$time_buffer, state$filled,
        ticks_to_seconds(block$tick, object$resolution))
  .Call(r_window_write, state$unit_buffer, state$filled, block$code)
  state$filled <- state$filled + came
  columns <- window_columns(state, n, block$units)
  list(recording = window_recording(object, block, columns$time, columns$unit),
       spikes = n, changed = gone > 0 || came > 0, cut = cut, gone = gone,
       come = list(tick = block$tick, code = block$code))
}

#' A sorted block without the spikes in front that the window in the buffers has; `NULL`
#' where some of its spikes do not come after all of those
#' @noRd
without_known <- function(block, state, resolution) {
  time <- state$time
  last <- round_to_ticks(time[[length(time)]], resolution)
  if (length(block$tick) == 0L || block$tick[[1L]] > last) return(block)
  first <- ticks_to_seconds(block$tick[[1L]] - 1, resolution)
  tail <- seq.int(.Call(r_window_until, time, first) + 1, length.out = length(block$tick) + 1)
  tail <- tail[tail <= length(time)]
  early <- block$tick <= last
  known <- length(tail) == sum(early) && all(as.integer(state$unit[tail]) == block$code[early]) &&
    all(round_to_ticks(time[tail], resolution) == block$tick[early])
  if (!known) return(NULL)
  block[c("tick", "code")] <- list(block$tick[!early], block$code[!early])
  block
}

#' New buffers with the old window in front: vectors that stand in the old ones keep them
#' @noRd
fill_buffers <- function(state, time, unit, n) {
  state$time_buffer <- double(2 * n + 1024)
  state$unit_buffer <- integer(2 * n + 1024)
  .Call(r_window_write, state$time_buffer, 0, time)
  .Call(r_window_write, state$unit_buffer, 0, unit)
  state$filled <- length(time)
}

#' An empty window in the core, for a stream whose window will hold the spikes of `x`
#' @noRd
open_counting <- function(object, x, tick) {
  arguments <- object$arguments
  ticks <- check_intervals(delays_of(object), object$resolution)$ticks
  units <- nlevels(.subset2(x, "unit"))
  max_size <- min(arguments[["max_size"]] %||% Inf, .Machine$integer.max)
  pointer <- .Call(r_stream_open, ticks, list(
    units = units, max_size = max_size,
    distinct_units = as.integer(about_of(object)$distinct_units), events = length(tick),
    occupancy = occupancy(tick, ticks), max_memory = stream_memory(object)
  ), if (identical(arguments[["device"]], "gpu")) {
    gpu_request("window", check_gpus(arguments[["gpus"]], "gpu"))
  })
  if (inherits(pointer, "synfire_status")) return(pointer)
  state <- new.env(parent = emptyenv())
  state$pointer <- pointer
  state$units <- units
  state$max_size <- max_size
  state$stamp <- 0
  state
}

#' The recording of a window that ends where a block does
#' @noRd
window_recording <- function(object, block, time, unit) {
  from <- max(block$now - object$window, min(object$start, block$start))
  bounds <- ticks_to_seconds(c(from, block$now), object$resolution)
  structure(list(time = time, unit = unit), class = c("spike_trains", "data.frame"),
            row.names = .set_row_names(length(time)), start = bounds[[1L]], end = bounds[[2L]],
            resolution = object$resolution)
}

check_not_too_late <- function(object, new_tick, cut) {
  if (is.null(object$now)) return(invisible())
  late <- new_tick[new_tick <= min(cut, object$now)]
  if (length(late) == 0L) return(invisible())
  seconds <- exact(ticks_to_seconds(c(cut, min(late), object$now), object$resolution))
  abort_arg("new_spikes",
            sprintf("later than %s s, or spikes that the stream knows", seconds[[1L]]),
            sprintf("not, for %s of its spikes, the first at %s s", commas(length(late)),
                    seconds[[2L]]),
            sprintf(paste("The stream has reached %s s, and its window no longer reaches back to",
                          "them: give blocks in order, or leave these spikes out."),
                    seconds[[3L]]))
}
