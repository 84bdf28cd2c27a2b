# Which episodes occur more often than chance lets them.

#' Are episodes more frequent than chance?
#'
#' Counts each episode in surrogates of the recording, in which spikes are where they are
#' by chance, and says which occur more often than that: p values, adjusted for how many
#' episodes there are. Episodes are only counted in surrogates, never mined anew.
#'
#' # What is compared
#' The non-overlapped count of an episode, as [count_episodes()] gives it, with the counts
#' in `n_surrogates` surrogates made by [surrogate_trains()]. What the surrogates keep is
#' what chance means. With `"joint_isi"`, the default, each unit keeps its rate, also as it
#' changes slowly, and about its inter-spike intervals, and loses what is more precise than
#' `dither`. Single units are counted, but not tested: surrogates keep their spikes.
#'
#' # Choosing surrogates
#' **`dither`** is three times the width of the widest delay interval of the episodes, if you
#' do not give it. A delay between two spikes that was in the interval then stays in it with a
#' probability of a sixth at most, and rates that change over longer times are kept. With a
#' shorter `dither` surrogates keep a part of the timing, and less is significant; with a
#' longer one bursts that all units share become significant.
#'
#' **`surrogate`** has to keep how regularly units fire. `"dither"` does not: spikes of a
#' regular unit come to lie in clumps, clumps make fewer occurrences that do not overlap, and
#' units that know nothing of each other seem to follow each other. In independent units of
#' 25 Hz whose intervals are a little more regular than those of a Poisson process (`lv` of
#' [isi_statistics()] 0.75), `"dither"` found a significant pair in 97 % of recordings of a
#' minute, and `"joint_isi"` in none. Take `"dither"` where units fire at a few Hz or like
#' Poisson processes. There it also finds a little more. `"train_shift"` keeps all intervals,
#' but hardly finds anything with the correction `"max"`: by some of its shifts units that
#' follow each other still do.
#'
#' Where units fire like a clock (`lv` below 0.1), the histogram of `"joint_isi"` reaches as
#' far as three of their intervals, if you give neither `truncation_limit` nor `n_bins`.
#'
#' # Corrections
#' `"max"`, the default, keeps the probability of any false discovery among the episodes of
#' a size at `alpha`, also when their counts depend on each other, as they do. Each count
#' becomes a score, `(count - m) / max(s, 1)`, with m and s the mean and the standard
#' deviation of the episode's counts in surrogates and recording together; the adjusted p
#' value is the share of surrogates whose largest score of that size reaches the episode's
#' (Westfall and Young 1993). A hundred surrogates are enough for that, whatever the number
#' of episodes.
#'
#' The others adjust the p values of all tested episodes together: `"none"`, those of
#' [stats::p.adjust()], `"sidak"`, `"holm-sidak"`, and the two-stage methods `"TSBH"` and
#' `"TSBKY"` (Benjamini, Krieger and Yekutieli 2006). With m episodes they need some
#' m / `alpha` surrogates before one episode by itself can be significant.
#'
#' # What a p value does not say
#' An episode of many units contains others: where A, B is more frequent than chance, so is
#' A, B, C, with any C. Look at the pairs first.
#'
#' # Episodes that were mined in the same recording
#' These were chosen by their counts, so that many are high by chance. With `"max"` surrogates
#' choose in the same way: some of them (two over `alpha`, less one; 39 for 0.05) are mined with
#' the `min_count` of `episodes`, and all that is found in any of them takes part in the largest
#' scores (the 300 of each size and surrogate whose counts are furthest above
#' [expected_counts()], where there are more). The adjusted p value is the larger of this one and
#' of that among the episodes of the table, so that it is 0.025 or more. The other corrections
#' do not know that episodes were chosen: for them mine one part of the recording and test in
#' another (`x`).
#'
#' # Memory
#' The counts of all episodes in all surrogates are held at a time, four bytes each, as far
#' as half of `max_memory` goes; beyond that episodes are taken in parts, for each of
#' which the same surrogates are made again.
#'
#' @param episodes An `episodes` table, from [mine_episodes()] or [episode()].
#' @param x The recording: [spike_trains()], or anything [as_spike_trains()] takes. By
#'   default the one that was mined.
#' @param n_surrogates Number of surrogates; with 0 nothing is tested.
#' @param surrogate How surrogates are made, and so what counts as chance: a `surrogate` of
#'   [surrogate_trains()].
#' @param dither How far spikes move, in seconds; `NULL` for three times the width of the
#'   widest interval of `episodes`. See Choosing surrogates.
#' @param ... Further arguments of that method, in seconds; see [surrogate_trains()]. Those
#'   of another method are errors.
#' @param alpha Level of significance, above 0 and below 1.
#' @param correction How p values are adjusted, see Corrections.
#' @param p_estimator With `k` of `n` surrogates counting as much as the recording:
#'   `"(k+1)/(n+1)"`, which counts the recording among its surrogates and is never 0
#'   (Phipson and Smyth 2010), or the share `"k/n"`.
#' @param device `"cpu"`, `"gpu"`, or `"auto"` for the faster of the two. The result is the
#'   same.
#' @param gpus Numbers of the GPUs to use: rows of `synfire_sitrep()$devices`; `NULL` for
#'   the first one. Several share the surrogates.
#' @param threads Number of threads; `NULL` for all that this process may use.
#' @param max_memory Bytes the work may hold, see Memory.
#'
#' @return A data frame of class `episode_significance` with a row for each episode, in the
#'   order of `episodes`:
#'   \describe{
#'     \item{episode, size, count}{as in `episodes`, counted in `x`}
#'     \item{mean, sd}{of its counts in surrogates}
#'     \item{lower, upper}{the middle 95 % of them: least counts that 2.5 % and 97.5 % of
#'       the surrogates do not exceed}
#'     \item{excess}{`count - mean`}
#'     \item{z}{`excess / sd`; `NA` where all surrogates count the same}
#'     \item{p}{share of surrogates that count as much or more; `NA` where not tested}
#'     \item{p_adjusted}{adjusted for the other episodes}
#'     \item{significant}{is it at most `alpha`?}
#'     \item{units, low, high}{lists, as in `episodes`}
#'   }
#'   Attributes: `recording`, `n_surrogates`, `surrogate` (list of method, parameters and
#'   key), `alpha`, `correction`, `p_estimator`, `maxima` (for `"max"`: the largest score
#'   of a size, a row, in each surrogate, a column), `below` (what an adjusted p value of 0
#'   is less than), `device`, `gpus`, `threads`, `elapsed` (s), `seed` (`.Random.seed` as it
#'   was before) and `call`. [set.seed()] decides all, with any number of threads and on any
#'   device.
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; work beyond
#' `max_memory` gives `synfire_error_budget`, a GPU that is not there or fails gives
#' `synfire_error_device`. A table without episodes is no error.
#'
#' @references
#' Westfall PH, Young SS (1993). *Resampling-based multiple testing*. Wiley.
#'
#' Phipson B, Smyth GK (2010). Permutation p-values should never be zero: calculating exact
#' p-values when permutations are randomly drawn. *Statistical Applications in Genetics and
#' Molecular Biology*, 9, 39. \doi{10.2202/1544-6115.1585}
#'
#' Benjamini Y, Krieger AM, Yekutieli D (2006). Adaptive linear step-up procedures that
#' control the false discovery rate. *Biometrika*, 93, 491-507.
#' \doi{10.1093/biomet/93.3.491}
#'
#' @seealso [autoplot.episode_significance()] for pictures, [mine_episodes()],
#'   [surrogate_trains()].
#' @examples
#' set.seed(1)
#' found <- mine_episodes(songbird, min_count = 16, intervals = c(0.02, 0.12), threads = 2)
#' tested <- episode_significance(found, n_surrogates = 100, threads = 2)
#' tested
#' summary(tested)
#' # The episodes themselves:
#' found[tested$significant, ]
#' @export
episode_significance <- function(episodes, x = attr(episodes, "recording"),
                                 n_surrogates = 1000, surrogate = "joint_isi",
                                 dither = NULL, ..., alpha = 0.05, correction = "max",
                                 p_estimator = c("(k+1)/(n+1)", "k/n"),
                                 device = c("cpu", "gpu", "auto"), gpus = NULL,
                                 threads = NULL, max_memory = 4e9) {
  begun <- check_given(episodes = "an `episodes` table")
  check_episodes(episodes)
  refuse_if(is.null(x), "x", "the recording to count in", "NULL",
            "These episodes do not know their recording; give it.")
  x <- as_spike_trains(x)
  codes <- episode_codes(episodes, x)
  n <- check_count(n_surrogates, "n_surrogates", min = 0, max = .Machine$integer.max)
  alpha <- check_alpha(alpha)
  correction <- check_correction(correction, c("max", corrections))
  p_estimator <- check_choice(p_estimator)
  device <- check_choice(device)
  check_place(device, gpus)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory, min = 1e7)
  seed <- current_seed()
  some <- n > 0 && nrow(episodes) > 0L
  check_choice(surrogate, surrogate_methods, "surrogate")
  made <- if (some) {
    width <- unlist(.subset2(episodes, "high")) - unlist(.subset2(episodes, "low"))
    check_surrogate(surrogate, dither, list(...), FALSE)
    # Without a step nothing is tested.
    scaled <- scaled_surrogates(x, surrogate, dither, list(...),
                                if (length(width)) max(width) else Inf)
    choose_surrogates(x, surrogate, scaled$dither, scaled$more)
  }
  if (some) check_surrogates_use(c(if (!missing(dither)) "dither", names(list(...))), made)

  started <- proc.time()[["elapsed"]]
  count <- count_episodes(x, episodes, threads = threads)$count
  place <- if (some) {
    surrogate_place(device, gpus, \() expected_null_seconds(x, codes, n, threads))
  }
  null <- if (some) {
    null_in_parts(x, made, codes, count, n, place, threads, max_memory)
  } else {
    no_null(length(count), n)
  }
  chosen <- if (some && correction == "max" && any(lengths(codes$units) > 1L)) {
    chosen_by_count(episodes, x)
  }
  if (!is.null(chosen)) {
    # Enough to say whether a p value is at most alpha.
    again <- min(n, 2 * ceiling(1 / alpha) - 1)
    null$chosen <- null_of_chosen(x, made, episodes, count, chosen, again, threads, max_memory)
  }
  new_significance(episodes, count, null, n, alpha, correction, p_estimator,
                   list(recording = x, n_surrogates = n, surrogate = made, alpha = alpha,
                        correction = correction, p_estimator = p_estimator, maxima = null$maximum,
                        device = if (is.null(place)) "cpu" else "gpu",
                        gpus = if (!is.null(place)) place + 1L, threads = threads,
                        elapsed = proc.time()[["elapsed"]] - started, seed = seed,
                        call = begun$call))
}

#' Error where an argument is given that the surrogates do not use
#'
#' @param given Names of the arguments.
#' @noRd
check_surrogates_use <- function(given, made) {
  # Without a window, that of window shuffling is made from `dither`.
  of_window <- if (made$method == "window_shuffle" && !any(grepl("window", given))) "dither"
  unused <- setdiff(given, c(names(made$parameters), of_window))
  if (length(unused) == 0L) return(invisible())
  used <- names(made$parameters)
  abort_arg(unused[[1L]], sprintf("left out with `surrogate = \"%s\"`", made$method), "given",
            if (length(used)) sprintf("This method takes %s.", some(used)) else
              "This method takes no arguments.")
}

# ---- Counting ------------------------------------------------------------------------

null_quantiles <- c(lower = 0.025, upper = 0.975)

#' The null distribution of each episode, with its counts held for some at a time
#'
#' Episodes with the same beginning come together, as they are counted together.
#'
#' @param count Observed counts.
#' @return A list, by episode: `mean`, `sd`, `score`, `reached`, `quantile` (a column for
#'   each of `null_quantiles`); and `maximum` (sizes x surrogates).
#' @noRd
null_in_parts <- function(x, made, codes, count, n, place, threads, max_memory) {
  m <- length(count)
  size <- lengths(codes$units)
  trains <- trains_of(x)
  at_a_time <- max(1, floor(max_memory / 2 / (4 * n)))
  out <- no_null(m, n)
  out$maximum <- matrix(-Inf, max(size), n)
  rows <- if (m > at_a_time) prefix_order(codes) else seq_len(m)
  for (part in split(rows, (seq_len(m) - 1) %/% at_a_time)) {
    counts <- .Call(r_episode_null, trains, made, lapply(codes, `[`, part),
                    list(first = 0, n = n, threads = threads, max_memory = max_memory,
                         gpus = place))
    counts <- finish_status(counts, "counting in surrogates",
                            "Count on fewer threads, or in a shorter recording.",
                            limit_of = "spikes")
    summed <- .Call(r_null_summary, counts, count[part], size[part],
                    unname(null_quantiles), threads)
    summed <- finish_status(summed, "summing up surrogates")
    for (name in c("mean", "sd", "score", "reached")) out[[name]][part] <- summed[[name]]
    out$quantile[part, ] <- summed$quantile
    sizes <- seq_len(nrow(summed$maximum))
    out$maximum[sizes, ] <- pmax(out$maximum[sizes, , drop = FALSE], summed$maximum)
  }
  out
}

no_null <- function(m, n) {
  list(mean = rep(NA_real_, m), sd = rep(NA_real_, m), score = rep(NA_real_, m),
       reached = rep(NA_integer_, m),
       quantile = matrix(NA_integer_, m, length(null_quantiles),
                         dimnames = list(NULL, names(null_quantiles))),
       maximum = matrix(0, 0L, n))
}

#' Rows in which episodes that begin alike stand together
#' @noRd
prefix_order <- function(codes) {
  steps <- mapply(function(units, low, high) {
    paste(units, c(paste(low, high), "")[seq_along(units)], collapse = " ")
  }, codes$units, codes$low, codes$high)
  order(steps, method = "radix")
}

# ---- Device --------------------------------------------------------------------------

#' Seconds on the CPU, about: measured, 60 ns to make and place a spike, and 3 ns for each
#' spike that is looked at behind it
#' @noRd
expected_null_seconds <- function(x, codes, n, threads) {
  low <- unlist(codes$low)
  high <- unlist(codes$high)
  known <- !duplicated(cbind(low, high))
  rate <- nrow(x) / max(1, diff(interval_ticks(x)))
  inside <- rate * sum(high[known] - low[known])
  n * nrow(x) * (60 + 3 * inside) * 1e-9 / threads
}

# ---- Judging -------------------------------------------------------------------------

#' @param about Attributes.
#' @noRd
new_significance <- function(episodes, count, null, n, alpha, correction, p_estimator,
                             about) {
  size <- .subset2(episodes, "size")
  tested <- size >= 2L & !is.na(null$reached)
  p <- p_adjusted <- rep(NA_real_, length(count))
  p[tested] <- surrogate_p(null$reached[tested], n, p_estimator)
  p_adjusted[tested] <- if (correction == "max") {
    adjusted_by_maxima(null, size, which(tested), n, p_estimator)
  } else {
    adjust_p(p[tested], correction, alpha)
  }
  excess <- count - null$mean
  columns <- list(
    episode = .subset2(episodes, "episode"), size = size, count = count, mean = null$mean,
    sd = null$sd, lower = null$quantile[, 1L], upper = null$quantile[, 2L], excess = excess,
    z = ifelse(null$sd > 0, excess / null$sd, NA_real_), p = p, p_adjusted = p_adjusted,
    significant = tested & !is.na(p_adjusted) & reaches(p_adjusted, alpha),
    units = .subset2(episodes, "units"), low = .subset2(episodes, "low"),
    high = .subset2(episodes, "high")
  )
  about$below <- zero_bound(p[tested], p_adjusted[tested], n, alpha, correction)
  new_table(columns, "episode_significance", about)
}

#' What an adjusted p value of 0 is less than, for the screen
#' @noRd
zero_bound <- function(p, p_adjusted, n, alpha, correction) {
  least <- 1 / (n + 1)
  if (correction == "max" || !any(p_adjusted == 0)) return(least)
  max(adjust_p(pmax(p, least), correction, alpha)[p_adjusted == 0])
}

#' p values of some episodes, adjusted by the largest score of a size
#' @noRd
adjusted_by_maxima <- function(null, size, rows, n, p_estimator) {
  p <- surrogate_p(reached_by_maxima(null, size, rows), n, p_estimator)
  if (is.null(null$chosen)) return(p)
  again <- reached_by_maxima(null$chosen, size, rows)
  pmax(p, surrogate_p(again, ncol(null$chosen$maximum), p_estimator))
}

#' How many surrogates have a score of that size as high as each of some episodes
#' @noRd
reached_by_maxima <- function(null, size, rows) {
  reached <- integer(length(rows))
  for (z in unique(size[rows])) {
    own <- size[rows] == z
    reached[own] <- count_reaching(null$maximum[z, ], null$score[rows[own]])
  }
  reached
}

#' Scores of episodes among what is mined in surrogates as they were in the recording
#'
#' Each of `n` surrogates is mined with the same least count, and all that is found in any of
#' them, or in the recording, is counted in all of them. So the recording is one of n + 1
#' that are treated alike.
#' @param made As from surrogate_options(); surrogates with keys of their own are made.
#' @param chosen List: `units`, `sizes`, `min_count`, `intervals` (s), `distinct_units`.
#' @return As r_null_summary() gives it: `score` of each episode, and `maximum`, the largest of
#'   a size (row) in each surrogate (column).
#' @noRd
null_of_chosen <- function(x, made, episodes, count, chosen, n, threads, max_memory) {
  trains <- trains_of(x)
  given <- list(first = 0, n = 1, threads = threads, max_memory = max_memory)
  keys <- lapply(seq_len(n), \(k) {
    made$key <- random_below(2, 2^32, made$key, k)
    made
  })
  known <- .subset2(episodes, "episode")
  bar <- common_bar("Choosing episodes in surrogates", 2 * n)
  mined <- lapply(keys, \(how) {
    spikes <- .Call(r_surrogate_trains, trains, how, given[-1L])
    spikes <- finish_status(spikes, "making surrogates", "Test in a shorter recording.",
                            limit_of = "spikes")[[1L]]
    found <- mine_surrogate(spikes, x, chosen, threads, max_memory)
    bar(1)
    found[!.subset2(found, "episode") %in% known, ]
  })
  others <- do.call(c, mined)
  others <- others[!duplicated(.subset2(others, "episode")), ]
  codes <- Map(c, episode_codes(episodes, x), episode_codes(others, x))
  counts <- vapply(keys, \(how) {
    one <- .Call(r_episode_null, trains, how, codes, c(given, list(gpus = NULL)))
    bar(1)
    finish_status(one, "counting in surrogates", "Test in a shorter recording.",
                  limit_of = "spikes")[, 1L]
  }, integer(length(codes$units)))
  count <- c(count, count_episodes(x, others, threads = threads)$count)
  summed <- .Call(r_null_summary, matrix(counts, ncol = n), count, lengths(codes$units),
                  unname(null_quantiles), threads)
  summed <- finish_status(summed, "summing up surrogates")
  list(score = summed$score[seq_along(known)], maximum = summed$maximum)
}

#' What is frequent in a surrogate, of each size the likeliest to have a high score
#' @noRd
mine_surrogate <- function(spikes, x, chosen, threads, max_memory, most = 300L) {
  levels <- levels(.subset2(x, "unit"))
  one <- new_spike_trains(spikes$tick, structure(spikes$unit, levels = levels, class = "factor"),
                          attr(x, "start", exact = TRUE), attr(x, "end", exact = TRUE),
                          attr(x, "resolution", exact = TRUE), attr(x, "trials", exact = TRUE))
  # What mining says of long delays or much memory it has said of the recording.
  found <- suppressWarnings(suppressMessages(
    mine_episodes(one, chosen$min_count, chosen$intervals, units = chosen$units,
                  max_size = max(chosen$sizes), distinct_units = chosen$distinct_units,
                  threads = threads, max_memory = max_memory)
  ))
  found <- found[.subset2(found, "size") %in% chosen$sizes, ]
  size <- .subset2(found, "size")
  if (!any(tabulate(size) > most)) return(found)
  expected <- expected_episodes(found, x)
  rows <- order(size, (expected - .subset2(found, "count")) / sqrt(expected + 1))
  found[rows[sequence(rle(size[rows])$lengths) <= most], ]
}

#' How `episodes` were chosen by their counts in `x`; NULL where they were not
#' @noRd
chosen_by_count <- function(episodes, x) {
  min_count <- attr(episodes, "min_count", exact = TRUE)
  recording <- own_recording(episodes)
  intervals <- attr(episodes, "intervals", exact = TRUE)
  if (is.null(min_count) || is.null(intervals) || is.null(recording)) return(NULL)
  units <- levels(.subset2(recording, "unit"))
  # Of the units mined, the same spikes.
  same <- identical(attr(recording, "resolution"), attr(x, "resolution")) &&
    all(units %in% levels(.subset2(x, "unit"))) &&
    identical(.subset2(recording, "time"), .subset2(x, "time")[.subset2(x, "unit") %in% units])
  if (!same) return(NULL)
  list(units = units, min_count = min_count, intervals = intervals,
       sizes = setdiff(.subset2(episodes, "size"), 1L),
       distinct_units = isTRUE(attr(episodes, "distinct_units", exact = TRUE)))
}
