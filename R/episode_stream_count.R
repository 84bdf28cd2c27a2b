# How the counts of a stream move on with its window: by what came and went, where that is
# little, else by mining the window.

#' Who counts for a stream
#'
#' @return List: `state` is `NULL`, or an environment with the `pointer` to the window that
#'   the core keeps, the number of `units` it has room for, and `stamp`, which tells
#'   whether it has been moved on since; `stamp` is the one it had after the last update
#'   of this stream. `possible`: whether the core may keep a window at all.
#' @noRd
no_counting <- function(arguments, possible = TRUE) {
  engine <- arguments[["engine"]] %||% "auto"
  device <- arguments[["device"]] %||% "cpu"
  list(state = NULL, stamp = 0,
       possible = possible && engine %in% c("auto", "window") && device == "cpu")
}

#' The episodes of a window that has moved on, and who counted them
#' @noRd
count_window <- function(object, slid) {
  if (!slid$changed) {
    episodes <- object$episodes
    attr(episodes, "recording") <- slid$recording
    return(list(episodes = episodes, counting = object$counting))
  }
  counting <- object$counting
  here <- nrow(slid$recording)
  moved <- slid$gone + length(slid$come$tick)
  if (counting$possible && !is.null(slid$come) && is_little(moved, here)) {
    counted <- move_on(object, slid)
    if (!is.null(counted)) return(counted)
    counting <- no_counting(object$arguments, possible = FALSE)
  } else {
    counting$state <- NULL
  }
  list(episodes = mine_window(slid$recording, object$arguments), counting = counting)
}

#' Whether counting what came and went takes less than mining the window
#' @noRd
is_little <- function(moved, here) 4 * moved <= here

#' Counts what came and went; `NULL` where memory is too short to keep a window
#' @noRd
move_on <- function(object, slid) {
  started <- wall_clock()
  x <- slid$recording
  check_delays_fit(x, attr(object$episodes, "intervals"), rlang::caller_env(2L))
  arguments <- object$arguments
  state <- object$counting$state
  block <- slid$come
  spikes <- nrow(x)
  min_count <- check_min_count(arguments[["min_count"]], arguments[["min_support"]], spikes)
  if (!is_current(state, object$counting$stamp, nlevels(.subset2(x, "unit")))) {
    block <- list(tick = train_ticks(x), code = as.integer(.subset2(x, "unit")))
    state <- open_counting(object, x, block$tick)
  }
  if (inherits(state, "synfire_status")) return(NULL)
  # Until the end of this update the state belongs to no stream.
  stamp <- state$stamp + 1
  state$stamp <- NA
  intervals <- attr(object$episodes, "intervals", exact = TRUE)
  target <- attr(object$episodes, "target", exact = TRUE)
  mined <- .Call(
    r_stream_update, state$pointer, block, max(slid$cut, -2^53),
    spelling(levels(.subset2(x, "unit")), intervals),
    list(min_count = min(min_count, .Machine$integer.max), least_flag = least_flag(target),
         top = min(as.double(arguments[["top"]] %||% Inf), 2^53),
         max_memory = arguments[["max_memory"]] %||% formals(mine_episodes)$max_memory)
  )
  if (is_short_of_memory(mined)) return(NULL)
  mined <- finish_status(mined, "mining the window",
                         "Raise `min_count`, lower `max_size`, or shorten `window`.")
  state$stamp <- stamp
  about <- attributes(object$episodes)
  about <- about[setdiff(names(about), c("names", "row.names", "class", "columns", "rows"))]
  about[c("recording", "min_count", "levels", "elapsed", "peak_memory")] <- list(
    x, min_count, levels_frame(mined$levels, NULL, "exact"), wall_clock() - started,
    mined$levels$peak_memory
  )
  list(episodes = new_episodes(mined_columns(mined, spikes), about),
       counting = list(state = state, stamp = stamp, possible = TRUE))
}

#' Whether the core's window is the one that a stream had after its last update
#' @noRd
is_current <- function(state, stamp, units) {
  !is.null(state) && identical(state$stamp, stamp) && units <= state$units &&
    !is.null(.Call(r_stream_about, state$pointer))
}

is_short_of_memory <- function(result) {
  inherits(result, "synfire_status") && result$status %in% c("no_memory", "over_budget")
}

#' An empty window in the core, for a stream whose window will hold the spikes of `x`
#' @noRd
open_counting <- function(object, x, tick) {
  arguments <- object$arguments
  intervals <- attr(object$episodes, "intervals", exact = TRUE)
  ticks <- check_intervals(intervals, object$resolution)$ticks
  units <- nlevels(.subset2(x, "unit"))
  pointer <- .Call(r_stream_open, ticks, list(
    units = units,
    max_size = min(arguments[["max_size"]] %||% Inf, .Machine$integer.max),
    distinct_units = as.integer(attr(object$episodes, "distinct_units", exact = TRUE)),
    events = length(tick), occupancy = occupancy(tick, ticks),
    max_memory = arguments[["max_memory"]] %||% formals(mine_episodes)$max_memory
  ))
  if (inherits(pointer, "synfire_status")) return(pointer)
  state <- new.env(parent = emptyenv())
  state$pointer <- pointer
  state$units <- units
  state$stamp <- 0
  state
}
