# From rows, in the order in which they were written, to finished blocks, in the order of
# time. What has come and is in no finished block yet is `pending`: ticks, and codes of
# the units in `units`.

#' Takes rows in
#'
#' @param rows List: `tick` and `unit`, "" where the row says how far the recording is.
#' @noRd
accept_rows <- function(feed, rows, sure = FALSE) {
  rows <- list(tick = c(feed$held$tick, rows$tick), unit = c(feed$held$unit, rows$unit))
  far <- far_ahead(rows$tick, max(feed$seen, feed$said), feed$stream$window, sure)
  held <- lapply(rows, `[`, far$held)
  rows <- lapply(rows, `[`, !far$stray & !far$held)

  spike <- rows$unit != ""
  said <- max(feed$said, rows$tick[!spike])
  seen <- max(feed$seen, rows$tick[spike])
  units <- unique(c(feed$units, rows$unit[spike]))
  tick <- c(feed$pending$tick, rows$tick[spike])
  code <- c(feed$pending$code, match(rows$unit[spike], units))
  again <- duplicated(complex(real = tick, imaginary = code))
  order <- order(tick[!again], code[!again], method = "radix")
  counts <- feed$counts
  counts[["repeated"]] <- counts[["repeated"]] + sum(again)
  counts[["stray"]] <- counts[["stray"]] + sum(far$stray)
  counts[["without_unit"]] <- counts[["without_unit"]] + sum(!spike)
  list(pending = list(tick = tick[!again][order], code = code[!again][order]),
       units = units, first = min(feed$first, rows$tick), seen = seen, said = said,
       held = held, counts = counts)
}

#' Rows whose time is more than a window ahead of all before, unless the next row confirms
#' it
#'
#' A line that was not written to its end and the line after it may together read as one
#' time far ahead, which would end all blocks up to there. So such a row counts only when
#' the next one is no more than a window before it. The last row of all is held back until
#' there is a next one, or until none is expected any more (`sure`).
#' @param seen The latest time before these.
#' @noRd
far_ahead <- function(tick, seen, window, sure) {
  n <- length(tick)
  stray <- held <- logical(n)
  if (!is.finite(seen)) return(list(stray = stray, held = held))
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
  over <- max(feed$seen - feed$slack - 1, feed$said)
  tick <- feed$pending$tick
  if (is.null(reached)) {
    if (length(tick) == 0L) return(NULL)
    reached <- block_begin(tick[[1L]], every)
  }
  limit <- floor(over / every) * every
  last <- max(feed$seen, feed$said)
  fresh <- tick[tick > reached]
  if (length(fresh) && block_begin(fresh[[1L]], every) + every <= limit) {
    begin <- block_begin(fresh[[1L]], every)
    return(if (begin > reached) begin else begin + every)
  }
  if (limit > reached) return(limit)
  if (all && (last > reached || length(tick))) max(last, reached)
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
