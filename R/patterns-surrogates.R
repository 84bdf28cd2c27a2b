# Which surrogates spike patterns are compared with, where the user names no method.

# Patterns are made of bins that hold a spike. Where dithered spikes would fill fewer bins than
# this share of the bins that the recording fills, the method is another one.
enough_items <- 0.98

#' Surrogates that the patterns of a search are compared with
#'
#' @param search What pattern_search() gives. Shifts keep all patterns of a single unit, so that
#'   they are no surrogates where `min_units` is 1.
#' @param surrogate,dither As the user gave them; NULL for what fits the recording.
#' @param more List of further arguments of the method.
#' @return What surrogate_options() gives.
#' @noRd
pattern_surrogates <- function(search, surrogate, dither, more) {
  check_pattern_surrogate(surrogate, dither, more)
  x <- search$x
  bin_size <- ticks_to_seconds(search$bin, attr(x, "resolution", exact = TRUE))
  # Patterns stay in trains that move by less than a window. Trials move by different amounts,
  # and lose theirs.
  reach <- \(method) {
    bins <- if (method == "train_shift") max(3, search$window) else 3
    dither %||% min(max(0.015, bins * bin_size), lengths_of_trials(x))
  }
  method <- surrogate %||% "dither"
  why <- if (is.null(surrogate) && search$filters$min_units > 1) {
    why_not_dithered(x, search$bin, reach(method))
  }
  if (!is.null(why)) {
    method <- if (is.null(attr(x, "trials", exact = TRUE))) "train_shift" else "trial_shift"
    moved <- if (method == "trial_shift") "each trial of a unit" else "each unit"
    info("surrogate", "Surrogates are made by {.val {method}}, which moves {moved} as a whole by up
                  to {exact(reach(method))} s: {why}, so that too much would seem significant.")
  }
  choose_surrogates(x, method, reach(method), more, bin_size)
}

#' The method and its arguments; without a method there can be none of the latter
#' @noRd
check_pattern_surrogate <- function(surrogate, dither, more) {
  if (!is.null(surrogate)) return(check_surrogate(surrogate, dither, more, TRUE))
  if (!is.null(dither)) check_number(dither, "dither", above = 0)
  check_dots_known(more, further_arguments(binned = TRUE))
  if (length(more) == 0L) return(invisible())
  abort_arg("surrogate", sprintf("given where `%s` is, which is an argument of some methods",
                                 names(more)[[1L]]), "left out")
}

#' How many bins hold a spike when all spikes are dithered, as a share of those that do now
#'
#' This is the mean of all dithered recordings, so that no random number has a part in it.
#' Spikes near the end of a trial may leave it here. Of long recordings the first spikes are
#' looked at.
#' @param dither Seconds.
#' @noRd
items_of_dithered <- function(x, bin, dither) {
  trains <- trains_of(x)
  reach <- max(1, floor(raw_ticks(dither, attr(x, "resolution", exact = TRUE)) * (1 + 1e-9)))
  bins <- ceiling(2 * reach / bin) + 1
  trial <- trains$trial %||% rep(1L, length(trains$tick))
  use <- utils::head(which(!is.na(trial)), max(1e3, 4e6 %/% bins))
  if (length(use) == 0L) return(1)
  trial <- trial[use]
  at <- trains$tick[use] - trains$start[trial]
  own <- (trial * (trains$units + 1) + trains$unit[use]) * 2^32
  first <- floor((at - reach) / bin)
  # A tick counts for as long as the next one is away.
  there <- lapply(seq_len(bins + 1) - 1, \(k) {
    from <- pmax((first + k) * bin, at - reach)
    to <- pmin((first + k + 1) * bin, at + reach + 1)
    log1p(-pmax(to - from, 0) / (2 * reach + 1))
  })
  key <- unlist(lapply(seq_len(bins + 1) - 1, \(k) own + first + k))
  empty <- rowsum(unlist(there), match(key, unique(key)), reorder = FALSE)
  sum(1 - exp(empty)) / length(unique(own + floor(at / bin)))
}

#' Why spikes of `x` cannot be dithered, or NULL
#' @noRd
why_not_dithered <- function(x, bin, dither) {
  clocks <- names(clock_intervals(x))
  if (length(clocks) > 0L) {
    return(sprintf("%s %s like a clock, and would not with spikes that move by themselves",
                   shown_units(clocks), if (length(clocks) == 1L) "fires" else "fire"))
  }
  items <- items_of_dithered(x, bin, dither)
  if (items >= enough_items) return(NULL)
  sprintf("spikes that move by themselves fill %s fewer bins than the recording does",
          percent(1 - items))
}
