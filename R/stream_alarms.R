# Alarms of a stream: which episodes of the window occur more often than chance lets any
# episode occur. What chance gives is known from surrogates of the latest windows.

#' How alarms are raised, from the arguments of `episode_stream()`; `NULL` where none are
#'
#' @param window,resolution Of the stream; ticks and seconds.
#' @noRd
new_alarming <- function(per_hour, look, n, renew, surrogate, dither, window, resolution,
                         arguments, call = rlang::caller_env()) {
  given <- c(look = !is.null(look), n_surrogates = !is.null(n), renew = !is.null(renew))
  if (is.null(per_hour)) {
    if (any(given)) {
      abort_arg(names(which(given))[[1L]], "left out where `alarms` is NULL", "given",
                "Say by `alarms` how many false alarms an hour you accept.", call = call)
    }
    check_choice(surrogate, surrogate_methods, "surrogate", call = call)
    check_number(dither, "dither", above = 0, call = call)
    return(NULL)
  }
  per_hour <- check_number(per_hour, "alarms", above = 0, call = call)
  if (!is.null(arguments[["min_support"]])) {
    abort_arg("min_support", "left out with `alarms`", "given",
              "Give `min_count`: surrogates are mined with the same one.", call = call)
  }
  look <- if (is.null(look)) window else alarm_ticks(look, resolution, "look", call)
  renew <- if (is.null(renew)) look else alarm_ticks(renew, resolution, "renew", call)
  alpha <- per_hour * ticks_to_seconds(look, resolution) / 3600
  if (alpha >= 1) {
    abort_arg("alarms", sprintf("below %s, one at each look", short(signif(per_hour / alpha, 3))),
              exact(per_hour), "Accept fewer false alarms, or look more often.", call = call)
  }
  least <- ceiling(1 / alpha * (1 - 1e-9)) - 1
  n <- if (is.null(n)) max(ceiling(5 / alpha), 19) else n
  hint <- sprintf(paste("At each look a share of %s may be false, which fewer surrogates cannot",
                        "show. Accept more false alarms, or look less often."),
                  short(signif(alpha, 2)))
  if (is_plain_numeric(n) && length(n) == 1L && isTRUE(n < least)) {
    abort_arg("n_surrogates", sprintf("at least %s", commas(least)), exact(n), hint, call = call)
  }
  n <- check_count(n, "n_surrogates", max = 1e5, call = call)
  # What surrogates refuse is refused before the experiment begins.
  some <- new_spike_trains(c(0, window), factor(c("A", "A")), 0,
                           ticks_to_seconds(window, resolution), resolution)
  made <- surrogate_options(some, surrogate, dither, call = call)
  list(alpha = alpha, look = look, renew = renew, n = n, surrogate = surrogate,
       dither = dither, key = made$key, maxima = matrix(0L, 0L, n), made = 0, begun = NULL,
       next_look = NULL, looks = 0)
}

alarm_ticks <- function(seconds, resolution, arg, call) {
  seconds <- check_number(seconds, arg, above = 0, call = call)
  ticks <- seconds_to_ticks(seconds, resolution, arg, call)
  if (ticks < 1) abort_arg(arg, "at least one tick", paste(exact(seconds), "s"), call = call)
  ticks
}

no_alarms <- function() {
  data.frame(episode = character(), size = integer(), count = integer(), limit = double(),
             p = double(), since = double(), new = logical())
}

no_limits <- function() data.frame(size = integer(), chance = double(), limit = double())

#' A stream whose window has moved on, with its limits and alarms
#' @noRd
watch_stream <- function(object) {
  if (is.null(object$alarming)) return(object)
  object$alarms$new <- rep(FALSE, nrow(object$alarms))
  if (object$now - object$start < object$window) return(object)
  object$alarming <- renew_maxima(object)
  a <- object$alarming
  if (a$made < a$n || object$now < a$next_look) return(object)
  object$alarming$next_look <- (floor(object$now / a$look) + 1) * a$look
  object$alarming$looks <- a$looks + 1
  judged <- judge_counts(a$maxima, object$episodes, a$alpha,
                         object$arguments[["min_count"]])
  object$limits <- judged$limits
  object$alarms <- alarms_of(object, judged$p)
  object
}

# ---- What chance gives ---------------------------------------------------------------

#' The maxima of surrogates, those that are due made from the window as it is now
#' @noRd
renew_maxima <- function(object) {
  a <- object$alarming
  if (is.null(a$begun)) {
    a$begun <- object$now
    a$next_look <- ceiling(object$now / a$look) * a$look
  }
  # Over `renew` all are made anew. Where updates are farther apart than that, all are of
  # this window.
  due <- floor(a$n * (object$now - a$begun) / a$renew) - a$made
  if (due <= 0) return(a)
  at <- (a$made + seq_len(min(due, a$n)) - 1) %% a$n + 1
  most <- window_maxima(object, length(at))
  if (nrow(most) > nrow(a$maxima)) {
    a$maxima <- rbind(a$maxima, matrix(0L, nrow(most) - nrow(a$maxima), a$n))
  }
  a$maxima[, at] <- 0L
  a$maxima[seq_len(nrow(most)), at] <- most
  a$made <- a$made + due
  a
}

#' The largest count of each size, a row, in `n` surrogates of the window, a column; 0
#' where nothing occurs `min_count` times
#' @noRd
window_maxima <- function(object, n) {
  a <- object$alarming
  x <- attr(object$episodes, "recording", exact = TRUE)
  if (nrow(x) == 0L) return(matrix(0L, 0L, n))
  arguments <- object$arguments
  arguments$top <- 1
  arguments$target <- NULL
  # What takes milliseconds takes longer on several threads, which wait for each other.
  if (nrow(x) < 1e5) arguments$threads <- 1
  how <- surrogate_options(x, a$surrogate, a$dither)
  how$key <- random_below(2, 2^32, a$key, a$made)
  made <- .Call(r_surrogate_trains, trains_of(x), how, list(
    n = n, threads = check_threads(arguments[["threads"]]),
    max_memory = arguments[["max_memory"]] %||% formals(mine_episodes)$max_memory
  ))
  made <- finish_status(made, "making the surrogates of the window",
                        "Let `renew` be longer, so that fewer are made at a time.",
                        limit_of = "spikes")
  levels <- levels(.subset2(x, "unit"))
  found <- lapply(made, \(one) {
    unit <- structure(one$unit, levels = levels, class = "factor")
    found <- mine_window(new_spike_trains(one$tick, unit, attr(x, "start"), attr(x, "end"),
                                          object$resolution), arguments)
    largest_counts(found)
  })
  out <- matrix(0L, max(lengths(found)), n)
  for (k in seq_len(n)) out[seq_along(found[[k]]), k] <- found[[k]]
  out
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
  list(p = p, limits = data.frame(
    size = tested, chance = apply(padded[tested, seq_len(n), drop = FALSE], 1L, stats::median),
    limit = limit
  ))
}

#' The episodes whose p value is small enough, the longest first
#' @noRd
alarms_of <- function(object, p) {
  rows <- which(!is.na(p) & reaches(p, object$alarming$alpha))
  x <- object$episodes
  rows <- rows[order(-x$size[rows], p[rows], -x$count[rows], method = "radix")]
  now <- ticks_to_seconds(object$now, object$resolution)
  at <- match(x$episode[rows], object$alarms$episode)
  since <- object$alarms$since[at]
  since[is.na(at)] <- now
  data.frame(episode = x$episode[rows], size = x$size[rows], count = x$count[rows],
             limit = object$limits$limit[match(x$size[rows], object$limits$size)],
             p = p[rows], since = since, new = is.na(at))
}
