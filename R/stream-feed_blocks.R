# From rows, in the order in which they were written, to finished blocks, in the order of
# time. What has come and is in no finished block yet is `pending`: ticks, and codes of
# the units in `units`.

# So many rows in a row that are more than a window late, one after the other in the order
# of time, are a clock that has begun anew.
restart_rows <- 20L

#' Settles which rows count, whatever the looks were in which they came
#'
#' Rows that count wait in the `queue`; each is looked at in the order of the lines, and
#' knows of those before it alone, and of the next one.
#' @param rows List: `tick`, `unit`, "" where the row says how far the recording is, and
#'   `line`; or NULL.
#' @param sure Whether no further row is expected.
#' @noRd
settle_rows <- function(feed, rows, origin = NULL, sure = FALSE) {
  rows <- if (is.null(rows)) feed$held else Map(c, feed$held, rows[names(feed$held)])
  far <- far_ahead(rows$tick, feed$latest, feed$stream$window, sure)
  held <- lapply(rows, `[`, far$held)
  rows <- lapply(rows, `[`, !far$stray & !far$held)
  restart <- find_restart(feed, rows, origin)
  counts <- feed$counts
  counts[["stray"]] <- counts[["stray"]] + sum(far$stray)
  if (!is.null(restart$stopped)) {
    rows <- lapply(rows, utils::head, restart$rows)
    held <- lapply(held, `[`, 0L)
  }
  list(queue = list(tick = c(feed$queue$tick, rows$tick), unit = c(feed$queue$unit, rows$unit)),
       latest = max(feed$latest, rows$tick), held = held, counts = counts,
       back = restart$back, stopped = restart$stopped)
}

#' Whether the clock of the recording has begun anew
#'
#' What was written before and comes again from its beginning, as it may in a file that is
#' written anew or over a new connection, is no such clock.
#' @return List: `back`, the rows in a row that are more than a window late, so far: their
#'   number `n`, the `line` and the `tick` of the first, the latest time before, and the
#'   `last` tick; `stopped`, why the feed cannot go on, or NULL, and then after how many
#'   `rows`.
#' @noRd
find_restart <- function(feed, rows, origin) {
  back <- feed$back
  n <- length(rows$tick)
  if (n == 0L || is.null(origin)) return(list(back = back))
  latest <- cummax(c(feed$latest, rows$tick))[seq_len(n)]
  late <- rows$tick <= latest - feed$stream$window
  if (!any(late)) {
    origin$in_time <- TRUE
    return(list(back = replace(back, "n", 0)))
  }
  late <- late & (origin$in_time | cumsum(!late) > 0)
  origin$in_time <- origin$in_time || !all(late)
  before <- c(back$last, rows$tick)[seq_len(n)]
  joined <- late & c(back$n > 0, late)[seq_len(n)] & rows$tick >= before - feed$slack
  place <- seq_len(n)
  first <- cummax(ifelse(joined, 0L, place))
  run <- ifelse(late, place - first + ifelse(first == 0L, back$n, 1L), 0)
  at <- match(restart_rows, run, n)
  if (run[[at]] > 0 && first[[at]] > 0L) {
    back[c("line", "tick", "latest")] <- list(rows$line[[first[[at]]]],
                                              rows$tick[[first[[at]]]], latest[[first[[at]]]])
  }
  back$n <- run[[at]]
  back$last <- rows$tick[[at]]
  list(back = back, stopped = if (back$n == restart_rows) restart_words(feed, back, origin),
       rows = at)
}

restart_words <- function(feed, back, origin) {
  seconds <- \(tick) exact(ticks_to_seconds(tick, feed$stream$resolution))
  c(x = sprintf("The clock of %s begins anew at line %s: its times fall from %s s to %s s.",
                origin$name, commas(back$line), seconds(back$latest), seconds(back$tick)),
    i = paste("A stream has one clock: `close()` this feed, write to another file from",
              "there on, and feed it to a new stream. Rows that are sorted by unit look",
              "like that too: sort them by time."))
}

#' Hands on the rows of the queue up to the first one with which a block is over
#'
#' So what is counted with a block depends on the order of rows, and not on how many of
#' them came in one look.
#' @noRd
accept_rows <- function(feed) {
  queue <- feed$queue
  spike <- queue$unit != ""
  up_to <- \(value, of, sum) sum(c(value, replace(queue$tick, !of, value)))[-1L]
  reached <- feed$stream$now %||%
    block_begin(up_to(min(feed$pending$tick, Inf), spike, cummin), feed$every)
  over <- over_limit(feed, up_to(feed$seen, spike, cummax), up_to(feed$said, !spike, cummax))
  taken <- seq_len(match(TRUE, over > reached, length(spike)))
  rows <- lapply(queue, `[`, taken)
  spike <- spike[taken]
  units <- unique(c(feed$units, rows$unit[spike]))
  tick <- c(feed$pending$tick, rows$tick[spike])
  code <- c(feed$pending$code, match(rows$unit[spike], units))
  again <- duplicated(complex(real = tick, imaginary = code))
  order <- order(tick[!again], code[!again], method = "radix")
  counts <- feed$counts
  counts[["repeated"]] <- counts[["repeated"]] + sum(again)
  counts[["without_unit"]] <- counts[["without_unit"]] + sum(!spike)
  list(pending = list(tick = tick[!again][order], code = code[!again][order]),
       queue = lapply(queue, `[`, -taken), units = units,
       first = min(feed$first, rows$tick), seen = max(feed$seen, rows$tick[spike]),
       said = max(feed$said, rows$tick[!spike]), counts = counts)
}

#' Rows whose time is more than a window ahead of all before, unless the next row confirms
#' it
#'
#' A line that was not written to its end and the line after it may together read as one
#' time far ahead, which would end all blocks up to there. So such a row counts only when
#' the next one is no more than a window before it. The last row of all is held back until
#' there is a next one, or until none is expected any more (`sure`).
#' @param seen The latest time before these, -Inf before the first row of all.
#' @noRd
far_ahead <- function(tick, seen, window, sure) {
  n <- length(tick)
  stray <- held <- logical(n)
  followed <- c(tick[-1L] >= tick[-n] - window, NA)[seq_len(n)]
  repeat {
    counted <- replace(tick, stray | held, -Inf)
    latest <- cummax(c(seen, counted))[seq_len(n)]
    ahead <- tick > latest + window & !stray & !held
    doubt <- which(ahead & !(followed %in% TRUE))
    if (length(doubt) == 0L) break
    if (doubt[[1L]] < n) stray[[doubt[[1L]]]] <- TRUE else {
      if (sure) break
      held[[n]] <- TRUE
    }
  }
  list(stray = stray, held = held)
}

# ---- Blocks --------------------------------------------------------------------------

#' Where the next update of the stream is to end, in ticks; `NULL` while no block is over
#'
#' Blocks end at whole multiples of `every`. One is over when a spike has come that is
#' more than `slack` later than its end, or a row without a unit that says so. Blocks
#' without a spike are put together to one update.
#' @param all Whether nothing more is awaited: what has come is then a block as it is.
#' @noRd
next_end <- function(feed, all = FALSE) {
  every <- feed$every
  reached <- feed$stream$now
  tick <- feed$pending$tick
  if (is.null(reached)) {
    if (length(tick) == 0L) return(NULL)
    reached <- block_begin(tick[[1L]], every)
  }
  limit <- over_limit(feed, feed$seen, feed$said)
  last <- max(feed$seen, feed$said)
  fresh <- tick[tick > reached]
  if (length(fresh) && block_begin(fresh[[1L]], every) + every <= limit) {
    begin <- block_begin(fresh[[1L]], every)
    return(if (begin > reached) begin else begin + every)
  }
  if (limit > reached) return(limit)
  if (all && (last > reached || length(tick))) max(last, reached)
}

#' The end of the last block that is over
#' @param seen,said The latest spike, and what rows without a unit say.
#' @noRd
over_limit <- function(feed, seen, said) {
  floor(pmax(seen - feed$slack - 1, said) / feed$every) * feed$every
}

#' The multiple of `every` before a tick
#' @noRd
block_begin <- function(tick, every) ceiling(tick / every) * every - every

#' The stream after one more block, and what is pending then
#' @noRd
hand_over <- function(feed, end) {
  stream <- feed$stream
  tick <- feed$pending$tick
  mine <- tick <= end
  fate <- late_spikes(feed, end)
  taken <- which(mine)[fate == "new"]
  now <- ticks_to_seconds(end, stream$resolution)
  block <- NULL
  if (length(taken)) {
    first <- tick[taken[[1L]]]
    from <- min(first, stream$now %||% block_begin(first, feed$every))
    unit <- structure(feed$pending$code[taken], levels = feed$units, class = "factor")
    start <- ticks_to_seconds(from, stream$resolution)
    block <- new_spike_trains(tick[taken], unit, start, now, stream$resolution)
  }
  counts <- feed$counts
  counts[["spikes"]] <- counts[["spikes"]] + length(taken)
  counts[["late"]] <- counts[["late"]] + sum(tick[taken] <= stream$now %||% -Inf)
  counts[["repeated"]] <- counts[["repeated"]] + sum(fate == "known")
  counts[["too_late"]] <- counts[["too_late"]] + sum(fate == "too late")
  left <- tick[mine][fate == "too late"]
  list(stream = update(stream, block, now = now),
       pending = lapply(feed$pending, `[`, !mine), counts = counts,
       too_late_at = if (length(left)) left[[length(left)]] else feed$too_late_at)
}

#' What becomes of each pending spike up to `end`: "new", "known" to the window, "too
#' late"
#' @noRd
late_spikes <- function(feed, end) {
  stream <- feed$stream
  tick <- feed$pending$tick[feed$pending$tick <= end]
  fate <- rep("new", length(tick))
  late <- which(tick <= stream$now %||% -Inf)
  if (length(late) == 0L) return(fate)
  window <- attr(stream$episodes, "recording", exact = TRUE)
  recent <- .subset2(window, "time") >= ticks_to_seconds(tick[[1L]], stream$resolution)
  unit <- .subset2(window, "unit")
  known <- complex(
    real = round_to_ticks(.subset2(window, "time")[recent], stream$resolution),
    imaginary = match(levels(unit), feed$units, 0L)[as.integer(unit)[recent]]
  )
  key <- complex(real = tick[late], imaginary = feed$pending$code[late])
  fate[late[tick[late] <= end - stream$window]] <- "too late"
  fate[late[key %in% known]] <- "known"
  fate
}
