# Alarms of a stream: which episodes of the window occur more often than chance lets any
# episode occur. What chance gives is known from surrogates of the same window.

#' How alarms are raised, from the arguments of `episode_stream()`; `NULL` where none are
#'
#' @param window,resolution Of the stream; ticks and seconds.
#' @noRd
new_alarming <- function(per_hour, look, n, judge_after, surrogate, dither, window,
                         resolution, arguments) {
  given <- c(look = !is.null(look), n_surrogates = !is.null(n),
             judge_after = !is.null(judge_after))
  if (is.null(per_hour)) {
    refuse_if(any(given), names(which(given))[[1L]], "left out where `alarms` is NULL", "given",
              "Say by `alarms` how many false alarms an hour you accept.")
    check_choice(surrogate, surrogate_methods, "surrogate")
    if (!is.null(dither)) check_number(dither, "dither", above = 0)
    return(NULL)
  }
  per_hour <- check_number(per_hour, "alarms", above = 0)
  refuse_if(!is.null(arguments[["min_support"]]), "min_support", "left out with `alarms`",
            "given", "Give `min_count`: surrogates are mined with the same one.")
  look <- if (is.null(look)) window else alarm_ticks(look, resolution, "look")
  judge_after <- if (is.null(judge_after)) floor(look / 4) else {
    judging_ticks(judge_after, look, resolution)
  }
  alpha <- per_hour * ticks_to_seconds(look, resolution) / 3600
  refuse_if(alpha >= 1, "alarms",
            sprintf("below %s, one at each look", short(signif(per_hour / alpha, 3))),
            exact(per_hour), "Accept fewer false alarms, or look more often.")
  least <- ceiling(1 / alpha * (1 - 1e-9)) - 1
  n <- if (is.null(n)) max(ceiling(5 / alpha), 19) else n
  hint <- sprintf(paste("At each look a share of %s may be false, which fewer surrogates cannot",
                        "show. Accept more false alarms, or look less often."),
                  short(signif(alpha, 2)))
  refuse_if(is_plain_numeric(n) && length(n) == 1L && isTRUE(n < least), "n_surrogates",
            sprintf("at least %s", commas(least)), exact(n), hint)
  n <- check_count(n, "n_surrogates", max = 1e5)
  # What surrogates refuse is refused before the experiment begins.
  some <- new_spike_trains(c(0, window), factor(c("A", "A")), 0,
                           ticks_to_seconds(window, resolution), resolution)
  if (is.null(dither)) {
    delays <- check_intervals(arguments$intervals, resolution)$seconds
    dither <- min(dithered_widths * max(delays[, 2L] - delays[, 1L]),
                  ticks_to_seconds(window, resolution))
  }
  made <- surrogate_options(some, surrogate, dither)
  list(alpha = alpha, look = look, judge_after = judge_after, n = n, surrogate = surrogate,
       dither = dither, key = made$key, next_look = NULL, open = NULL, looks = 0)
}

alarm_ticks <- function(seconds, resolution, arg) {
  seconds <- check_number(seconds, arg, above = 0)
  ticks <- seconds_to_ticks(seconds, resolution, arg)
  if (ticks < 1) abort_arg(arg, "at least one tick", paste(exact(seconds), "s"))
  ticks
}

#' When a look is judged, in ticks
#' @noRd
judging_ticks <- function(seconds, look, resolution) {
  seconds <- check_number(seconds, "judge_after", min = 0)
  ticks <- seconds_to_ticks(seconds, resolution, "judge_after")
  refuse_if(ticks > look, "judge_after",
            sprintf("at most `look`, %s s", exact(ticks_to_seconds(look, resolution))),
            paste(exact(seconds), "s"), "A look is judged before the next one begins.")
  ticks
}

#' A stream whose window has moved on, with its limits and alarms
#' @noRd
watch_stream <- function(object) {
  if (is.null(object$alarming)) return(object)
  object$alarms$new <- rep(FALSE, nrow(object$alarms))
  if (object$now - object$start < object$window) return(object)
  a <- object$alarming
  # Looks lie at whole multiples of `look`, or with the first update after one.
  a$next_look <- a$next_look %||% (ceiling(object$now / a$look) * a$look)
  object$alarming <- a
  looks <- object$now >= a$next_look
  if (!is.null(a$open) && (looks || object$now >= a$open$due)) object <- judge_look(object)
  if (looks) object <- begin_look(object)
  if (looks && a$judge_after == 0) object <- judge_look(object)
  object
}

# ---- A look --------------------------------------------------------------------------

# A look sets its window aside and lets surrogates of that very window be mined while the
# stream goes on. They are compared when `judge_after` seconds of recording have passed, so
# that the result depends on the recording and not on the speed of this computer.

#' The window set aside, and its surrogates begun
#' @noRd
begin_look <- function(object) {
  a <- object$alarming
  a$next_look <- (floor(object$now / a$look) + 1) * a$look
  a$open <- list(episodes = object$episodes, now = object$now, number = a$looks,
                 due = object$now + a$judge_after)
  a$open$work <- begin_surrogates(object, a$open)
  object$alarming <- a
  object
}

#' The window that was set aside, compared with its surrogates
#' @noRd
judge_look <- function(object) {
  a <- object$alarming
  maxima <- look_maxima(object, a$open)
  judged <- judge_counts(maxima, a$open$episodes, a$alpha, object$arguments[["min_count"]])
  object$limits <- judged$limits
  object$alarms <- alarms_of(object, a$open, judged$p)
  a["open"] <- list(NULL)
  a$looks <- a$looks + 1
  object$alarming <- a
  object
}

# ---- What chance gives ---------------------------------------------------------------

#' Work on the surrogates of a look, as a pointer; `NULL` where the window is empty
#' @noRd
begin_surrogates <- function(object, look) {
  a <- object$alarming
  x <- attr(look$episodes, "recording", exact = TRUE)
  if (nrow(x) == 0L) return(NULL)
  arguments <- object$arguments
  # The units of this window say how; the stream's own key says which.
  how <- keep_random_state(window_surrogates(x, a))
  how$key <- random_below(2, 2^32, a$key, look$number)
  work <- .Call(
    r_largest_start, trains_of(x), how,
    check_intervals(attr(look$episodes, "intervals", exact = TRUE), object$resolution)$ticks,
    list(n = a$n, min_count = min(arguments[["min_count"]], .Machine$integer.max),
         max_size = min(arguments[["max_size"]] %||% Inf, .Machine$integer.max),
         distinct_units = as.integer(attr(look$episodes, "distinct_units", exact = TRUE)),
         threads = check_threads(arguments[["threads"]]), max_memory = stream_memory(object))
  )
  finish_surrogates(work)
}

window_surrogates <- function(x, a) {
  scaled <- scaled_surrogates(x, a$surrogate, a$dither, list())
  made <- do.call(surrogate_options, c(list(x, a$surrogate, a$dither), scaled$more))
  made[c("numbers", "method")]
}

#' The largest count of each size, a row, in the surrogates of a look, a column; 0 where
#' nothing occurs `min_count` times
#' @noRd
look_maxima <- function(object, look) {
  n <- object$alarming$n
  if (is.null(look$work)) return(matrix(0L, 0L, n))
  memory <- stream_memory(object)
  found <- .Call(r_largest_wait, look$work, n, memory)
  # A stream that was read from a file, or that a forked process has, begins anew.
  if (is.null(found)) found <- .Call(r_largest_wait, begin_surrogates(object, look), n, memory)
  finish_surrogates(found)
}

finish_surrogates <- function(result) {
  finish_status(result, "the surrogates of the window",
                "Raise `min_count`, lower `max_size`, or shorten `window`.", limit_of = "spikes")
}

stream_memory <- function(object) {
  object$arguments[["max_memory"]] %||% formals(mine_episodes)$max_memory
}

#' The largest count of each size in a table
#' @noRd
largest_counts <- function(episodes) {
  size <- .subset2(episodes, "size")
  out <- integer(max(size, 0L))
  # Within a size the most frequent one comes first.
  first <- !duplicated(size)
  out[size[first]] <- .subset2(episodes, "count")[first]
  out
}

# ---- What is more than chance gives --------------------------------------------------

#' The p value of each episode, adjusted for all episodes of all sizes, and the least count
#' of each size that is significant
#'
#' Each surrogate has, for each size, a share of all that reach its largest count; the
#' least of its shares says how extreme it is. An episode is as extreme as the share of its
#' own count is, and its p value is the share of surrogates as extreme.
#'
#' @param maxima Largest counts, a row a size, a column a surrogate.
#' @noRd
judge_counts <- function(maxima, episodes, alpha, min_count) {
  n <- ncol(maxima)
  best <- largest_counts(episodes)
  sizes <- max(nrow(maxima), length(best), 1L)
  padded <- matrix(0, sizes, n + 1)
  padded[seq_len(nrow(maxima)), seq_len(n)] <- maxima
  padded[seq_along(best), n + 1] <- best
  tested <- seq_len(sizes)[-1L]
  least <- rep(1, n)
  for (z in tested) {
    share <- (n + 2 - rank(padded[z, ], ties.method = "min")) / (n + 1)
    least <- pmin(least, share[seq_len(n)])
  }
  least <- sort(least)
  p_of <- function(z, count) {
    share <- (1 + count_reaching(padded[z, seq_len(n)], count)) / (n + 1)
    (1 + findInterval(share * (1 + 1e-9), least)) / (n + 1)
  }
  size <- .subset2(episodes, "size")
  count <- .subset2(episodes, "count")
  p <- rep(NA_real_, length(size))
  for (z in unique(size[size >= 2L])) p[size == z] <- p_of(z, count[size == z])
  limit <- vapply(tested, \(z) {
    counts <- sort(unique(c(min_count, pmax(padded[z, seq_len(n)] + 1, min_count))))
    counts[reaches(p_of(z, counts), alpha)][1L]
  }, 0)
  list(p = p,
       limits = data.frame(size = tested, chance = apply(padded[tested, seq_len(n), drop = FALSE],
                                                         1L, stats::median), limit = limit))
}

#' The episodes of a look whose p value is small enough, the longest first
#' @noRd
alarms_of <- function(object, look, p) {
  rows <- which(!is.na(p) & reaches(p, object$alarming$alpha))
  x <- look$episodes
  rows <- rows[order(-x$size[rows], p[rows], -x$count[rows], method = "radix")]
  at <- match(x$episode[rows], object$alarms$episode)
  since <- object$alarms$since[at]
  since[is.na(at)] <- ticks_to_seconds(look$now, object$resolution)
  data.frame(episode = x$episode[rows], size = x$size[rows], count = x$count[rows],
             limit = object$limits$limit[match(x$size[rows], object$limits$size)],
             p = p[rows], since = since, new = is.na(at))
}
