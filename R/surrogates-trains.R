# Surrogates of spike trains: what a recording would look like if only so much of it were
# real.

#' Surrogates of spike trains
#'
#' Recordings that share certain properties with the one given and are random otherwise.
#' What is found as often in surrogates says no more than those properties do: that is how
#' patterns and episodes are tested.
#'
#' # What each method keeps
#' All keep the units, the interval, the trials, and the number of spikes of each unit in
#' each trial. Trials stay apart: spikes and intervals of one know nothing of another, and
#' a recording without trials is one trial. Spikes outside all trials are left out.
#'
#' | method | intervals between spikes | shortest interval | rate over time | bins with a spike |
#' |---|---|---|---|---|
#' | `"dither"` | no | no | beyond `dither` | no |
#' | `"dither_refractory"` | no | yes | beyond `dither` | about |
#' | `"joint_isi"` | about, also pairs | yes | beyond `dither` | about |
#' | `"isi_dither"` | about | yes | beyond `dither` | about |
#' | `"train_shift"` | yes | yes | beyond `dither` | about |
#' | `"trial_shift"` | yes | yes | beyond `dither` | about |
#' | `"isi_shuffle"` | yes, not their order | yes | no | about |
#' | `"window_shuffle"` | no | no | beyond `window` | yes |
#' | `"sliding_shuffle"` | no | no | beyond a few `window` | yes |
#' | `"bin_shuffle"` | no | no | no | yes |
#' | `"jitter"` | no | no | beyond `window` | no |
#' | `"randomise"` | no | no | no | no |
#'
#' *Beyond* means: a change of the rate that takes longer than that is kept. None keeps
#' when a unit fires relative to another one; that is what they are for. Where a shifted
#' train begins again, its last spike may come close to its first.
#'
#' * `"dither"`: each spike moves by a whole number of ticks, uniform from `-dither` to
#'   `dither`. What would leave the trial is mirrored at its end.
#' * `"dither_refractory"`: spike by spike in random order, each uniform over the places at
#'   most `dither` away that are inside the trial, without mirroring: a spike neither
#'   passes a neighbour, wherever that is by then, nor comes closer to it than
#'   `refractory`, or than the shortest interval of the unit where that is smaller.
#' * `"joint_isi"` (Gerstein 2004; Louis et al. 2010): every other spike of a unit, then
#'   those in between, move between their neighbours by whole bins of a histogram, by up
#'   to `dither`. The histogram is of pairs of successive intervals of the unit; the new
#'   pair has the same sum, and a probability that is proportional to its smoothed count.
#'   Pairs whose sum is `truncation_limit` or more, pairs that the histogram says nothing
#'   of, and the first and last spike of a trial move uniformly, as in
#'   `"dither_refractory"`.
#' * `"isi_dither"`: the same with the product of the counts of single intervals, as if
#'   successive intervals were independent.
#' * `"train_shift"`: all spikes of a unit move by one amount, uniform from `-dither` to
#'   `dither`; what leaves a trial at one end comes in again at the other.
#' * `"trial_shift"`: the same with an amount of its own for each trial of a unit, so that
#'   not even what a unit does at the same time of all trials is shared with another unit.
#'   It needs trials: with one of them it would be `"train_shift"`.
#' * `"isi_shuffle"`: the intervals of a unit in a trial, with that from the tick before
#'   the trial to the first spike, in random order; so the last spike stays.
#' * `"window_shuffle"`: the bins of each window of a unit and trial in random order. Spikes
#'   move with their bin and keep their place in it. Windows, and bins, begin where the
#'   trial does; the last window may be shorter, and a last bin that the trial cuts short
#'   stays where it is.
#' * `"sliding_shuffle"`: the bins of a window that opens with the trial in random order,
#'   then those of the window that opens one bin later, and so on up to the window that
#'   closes with the last whole bin. There are no borders between windows, but a bin may be
#'   carried along: it moves back by less than `window`, and forth by any number of bins,
#'   twice as many half as often or less. Of a window no shorter than the trial it is
#'   `"bin_shuffle"`.
#' * `"bin_shuffle"`: all whole bins of the trial in random order.
#' * `"jitter"`: the trial is cut into windows, and each spike is placed anew, uniform over
#'   the window that it lies in. The last window may be shorter.
#' * `"randomise"`: spikes uniform over the trial.
#'
#' Several spikes of a unit in a bin are one for [mine_patterns()]. Units that fire
#' regularly or keep a refractory period rarely have two spikes in a bin, and dithered they
#' do: fewer of their bins hold a spike, and patterns seem significant that are not.
#' Stella et al. (2022), who compare most of these methods, recommend `"trial_shift"`.
#'
#' Two spikes of a unit may come to share a tick with `"dither"`, `"jitter"` and
#' `"randomise"`. Both stay in the table; wherever the same unit twice on a tick is one spike,
#' they are one.
#'
#' # Elephant
#' Defaults are those of the Python package Elephant where it has them (`refractory` is
#' `refractory_period` there). Its methods are, by the names here,
#'
#' | Elephant | synfire |
#' |---|---|
#' | `dither_spikes` | `"dither"` |
#' | `dither_spikes_with_refractory_period`, or `dither_spikes` with a `refractory_period` |
#' `"dither_refractory"` |
#' | `jitter_spikes` | `"jitter"`; its `bin_size` is `window` |
#' | `joint_isi_dithering`, `isi_dithering` | `"joint_isi"`, `"isi_dither"` |
#' | `dither_spike_train`, `trial_shifting` | `"train_shift"`, `"trial_shift"` |
#' | `shuffle_isis` | `"isi_shuffle"` |
#' | `bin_shuffling`; with `sliding=True` | `"window_shuffle"`; `"sliding_shuffle"`. Its
#' `max_displacement` is half a `window`, in bins |
#' | `randomise_spikes` | `"randomise"` |
#'
#' The definitions are the same, with these differences. Elephant slides a window over
#' binned trains only, and not up to the last bin. It shifts a train without trials, drops what
#' leaves it, and redraws the place of a spike in its bin where it shuffles bins of spike times.
#' In joint-ISI dithering it leaves the first and last spike of a train, and trains of less than
#' three spikes, where they are; here they move, as otherwise short trials would hardly change.
#' Its whole bins can make an interval shorter than the refractory period by up to a bin, and its
#' spikes move one bin less back than forth; here they do not. Elephant's dithering clips or drops
#' what this one mirrors.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param n_surrogates Number of surrogates.
#' @param surrogate The method, which says what surrogates keep; see below. All functions of
#'   this package that test spikes against surrogates take these methods. Where nothing is
#'   said, patterns are tested with `"dither"`, the published method of SPADE, or with shifts,
#'   as [pvalue_spectrum()] explains, and episodes with `"joint_isi"`, as
#'   [episode_significance()] explains.
#' @param ... Not used; must be empty. All arguments after it are given by name.
#' @param dither How far a spike, train or trial moves at most, in seconds; at most the
#'   shortest trial. What is less than a tick of it is cut off. Methods with a `window` take
#'   theirs from it; `"isi_shuffle"`, `"bin_shuffle"` and `"randomise"` have no use for it.
#' @param refractory Least interval that `"dither_refractory"`, `"joint_isi"` and
#'   `"isi_dither"` leave between spikes of a unit, in seconds; a unit's own shortest
#'   interval where that is smaller.
#' @param bin_size For `"bin_shuffle"`, `"window_shuffle"` and `"sliding_shuffle"`: length of
#'   a bin, in seconds; a whole number of ticks.
#' @param window For `"window_shuffle"` and `"sliding_shuffle"`: length of the windows, in
#'   seconds; a whole number of bins, at least two. By default as many bins as fit into
#'   `dither`, twice. For `"jitter"`: the same, a whole number of ticks, at least two, and by
#'   default `dither`.
#' @param truncation_limit,n_bins,sigma For `"joint_isi"` and `"isi_dither"`: up to where
#'   the histogram of intervals reaches, in seconds; how many bins it has in each
#'   direction, at most 1,000 (a bin is rounded to whole ticks); and the standard deviation
#'   of the Gaussian that smooths it, in seconds, 0 for none.
#' @param threads Number of threads; `NULL` for all that the process may use.
#' @param max_memory Bytes that surrogates may take; 12 for each spike of each of them.
#'
#' @return A list of `n_surrogates` [spike_trains()] with the interval, trials, resolution
#'   and units of `x`. [set.seed()] decides them; a surrogate depends neither on `n_surrogates`
#'   nor on `threads`.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: for a recording
#' without a spike (in its trials); `dither` below a tick or beyond the shortest trial, or
#' shorter than a bin of the histogram of intervals; a `bin_size` or `window` that is not
#' whole ticks or bins; `"trial_shift"` without trials; and an argument that another method
#' has and `surrogate` has not, as it would change nothing.
#' Surrogates beyond `max_memory` give `synfire_error_budget`, beyond the machine's
#' `synfire_error_memory`.
#' @references
#' Gerstein GL (2004). Searching for significance in spatio-temporal firing patterns. *Acta
#' Neurobiologiae Experimentalis*, 64, 203-207.
#'
#' Louis S, Gerstein GL, Gruen S, Diesmann M (2010). Surrogate spike train generation
#' through dithering in operational time. *Frontiers in Computational Neuroscience*, 4, 127.
#' \doi{10.3389/fncom.2010.00127}
#'
#' Stella A, Bouss P, Palm G, Gruen S (2022). Comparing surrogates to evaluate precisely
#' timed higher-order spike correlations. *eNeuro*, 9, ENEURO.0505-21.2022.
#' \doi{10.1523/ENEURO.0505-21.2022}
#' @seealso [mine_patterns()], [mine_episodes()]; [surrogate_series()] for time series.
#' @examples
#' set.seed(1)
#' x <- mouse[time = c(0, 60)]
#' s <- surrogate_trains(x, 20, "dither_refractory", threads = 2)
#' s[[1]]
#' # As many spikes of each unit, which no longer keep their distance to other units.
#' identical(table(s[[1]]$unit), table(x$unit))
#'
#' # Rates that change over 100 ms and more are kept, and how many bins hold a spike.
#' surrogate_trains(x, 2, "window_shuffle", bin_size = 0.005, window = 0.1, threads = 2)
#' @export
surrogate_trains <- function(x, n_surrogates = 1,
                             surrogate = c("dither", "dither_refractory", "train_shift",
                                           "joint_isi", "isi_dither", "isi_shuffle",
                                           "randomise", "bin_shuffle", "window_shuffle",
                                           "trial_shift", "jitter", "sliding_shuffle"),
                             ..., dither = 0.015, refractory = 0.004, bin_size = NULL,
                             window = NULL, truncation_limit = 0.1, n_bins = 100,
                             sigma = 0.002, threads = NULL, max_memory = 4e9) {
  check_given(x = "a recording")
  check_no_dots()
  check_method(surrogate)
  surrogate <- check_choice(surrogate)
  given <- c(dither = !missing(dither), refractory = !missing(refractory),
             bin_size = !is.null(bin_size), window = !is.null(window),
             truncation_limit = !missing(truncation_limit), n_bins = !missing(n_bins),
             sigma = !missing(sigma))
  check_own_arguments(names(given)[given], surrogate)
  x <- as_spike_trains(x)
  n <- check_count(n_surrogates, "n_surrogates", max = .Machine$integer.max)
  options <- surrogate_options(x, surrogate, dither, refractory, bin_size, window,
                               truncation_limit, n_bins, sigma)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  made <- .Call(r_surrogate_trains, trains_of(x), options,
                list(n = n, threads = threads, max_memory = max_memory))
  made <- finish_status(made, "making these surrogates", "Make fewer at a time.",
                        limit_of = "spikes")
  levels <- levels(x$unit)
  lapply(made, \(one) spikes_like(x, one$tick, as_factor(one$unit, levels), sound = TRUE))
}

# Numbered from 0, they are what the core has.
surrogate_methods <- eval(formals(surrogate_trains)$surrogate)

# The arguments that each has a use for.
method_arguments <- local({
  intervals <- c("dither", "refractory", "truncation_limit", "n_bins", "sigma")
  list(dither = "dither", dither_refractory = c("dither", "refractory"),
       train_shift = "dither", joint_isi = intervals, isi_dither = intervals,
       isi_shuffle = character(), randomise = character(), bin_shuffle = "bin_size",
       window_shuffle = c("dither", "bin_size", "window"), trial_shift = "dither",
       jitter = c("dither", "window"), sliding_shuffle = c("dither", "bin_size", "window"))
})

# What Elephant calls them.
elephant_methods <- c(
  dither_spikes = "dither", dither_spikes_with_refractory_period = "dither_refractory",
  jitter_spikes = "jitter", randomise_spikes = "randomise", shuffle_isis = "isi_shuffle",
  joint_isi_dithering = "joint_isi", isi_dithering = "isi_dither",
  dither_spike_train = "train_shift", trial_shifting = "trial_shift",
  bin_shuffling = "window_shuffle"
)

#' How to make surrogates of `x`, checked
#'
#' Draws the key: call it once for all surrogates that belong together.
#' @return A list: what glue_surrogate_options() reads (`numbers` and `key`), then `method`
#'   and `parameters`, those of its arguments that matter, in seconds.
#' @noRd
surrogate_options <- function(x, method = "dither", dither = 0.015, refractory = 0.004,
                              bin_size = NULL, window = NULL, truncation_limit = 0.1,
                              n_bins = 100, sigma = 0.002) {
  method <- check_choice(method, surrogate_methods, "surrogate")
  trains <- trains_of(x)
  check_trains(x, trains, method)
  resolution <- attr(x, "resolution")
  ticks <- c(dither = 1, refractory = 0, bin = 1, window = 1, isi_bin = 1, isi_bins = 1,
             sigma = 0)
  takes <- method_arguments[[method]]
  parameters <- list()
  if ("dither" %in% takes && !"window" %in% takes) {
    ticks[["dither"]] <- check_dither(dither, trains, resolution)
    parameters$dither <- dither
  }
  if ("refractory" %in% takes) {
    refractory <- check_number(refractory, min = 0)
    # No interval of a unit is longer than a trial.
    ticks[["refractory"]] <- min(ceiling(raw_ticks(refractory, resolution) * (1 - 1e-9)),
                                 max(trains$stop - trains$start) + 1)
    parameters$refractory <- refractory
  }
  if ("n_bins" %in% takes) {
    ticks[c("isi_bin", "isi_bins", "sigma")] <-
      check_histogram(truncation_limit, n_bins, sigma, ticks[["dither"]], resolution)
    parameters <- c(parameters, list(truncation_limit = truncation_limit, n_bins = n_bins,
                                     sigma = sigma))
  }
  if ("bin_size" %in% takes) {
    most <- if (method == "sliding_shuffle") most_slides else .Machine$integer.max
    ticks[["bin"]] <- check_shuffled_bin(bin_size, trains, resolution, most)
    ticks[["window"]] <- ticks[["bin"]]
    parameters$bin_size <- bin_size
  }
  if ("window" %in% takes) {
    least <- if (method == "jitter") NULL else ticks[["bin"]]
    chosen <- check_shuffle_window(window, dither, least, trains, resolution)
    parameters$window <- ticks_to_seconds(chosen, resolution)
    # Longer ones than the longest trial are as good as that.
    whole <- ceiling((max(trains$stop - trains$start) + 1) / ticks[["bin"]]) * ticks[["bin"]]
    ticks[["window"]] <- min(chosen, whole)
  }
  list(numbers = c(list(method = match(method, surrogate_methods) - 1), as.list(ticks)),
       key = random_key(), method = method, parameters = parameters)
}

#' The same for functions that pass on further arguments of the method, which are checked
#'
#' @param more List of further arguments of the method.
#' @param bin_size Where it is given, neither that nor a window is among `more`.
#' @noRd
choose_surrogates <- function(x, surrogate, dither, more, bin_size = NULL) {
  binned <- !is.null(bin_size)
  if (binned) check_dither_of_bins(dither, bin_size, surrogate)
  do.call(surrogate_options, c(
    list(x, surrogate, dither = dither), if (binned) list(bin_size = bin_size), more
  ), quote = TRUE)
}

#' The arguments of all methods that functions pass on in `...`
#' @noRd
further_arguments <- function(binned) {
  setdiff(unlist(method_arguments), c("dither", if (binned) c("bin_size", "window")))
}

#' The method, and that no argument is given that it has no use for
#'
#' @param dither As the user gave it.
#' @param binned Whether bins and windows are those of patterns.
#' @noRd
check_surrogate <- function(surrogate, dither, more, binned) {
  check_method(surrogate)
  check_choice(surrogate, surrogate_methods, "surrogate")
  check_dots_known(more, further_arguments(binned))
  given <- c(if (!is.null(dither)) "dither", names(more)[!vapply(more, is.null, NA)])
  check_own_arguments(given, surrogate)
}

# ---- Checks --------------------------------------------------------------------------

#' Error where a method has the name that Elephant gives it
#' @noRd
check_method <- function(x) {
  hint <- if (identical(x, "bin_shuffling")) {
    "What Elephant does with `sliding=True` is \"sliding_shuffle\"."
  }
  check_not_elephant(x, elephant_methods, "surrogate", hint)
}

#' Error unless arguments are some that surrogates have, each once
#' @noRd
check_dots_known <- function(more, known) {
  given <- names(more) %||% rep("", length(more))
  check_argument_names(given, known)
  wrong <- c(setdiff(given, known), given[duplicated(given)])
  refuse_if(length(wrong), "...", sprintf("arguments of the surrogates: %s", toString(known)),
            if (!nzchar(wrong[[1L]])) "without a name" else
              sprintf(if (wrong[[1L]] %in% known) "`%s` twice" else "`%s`", wrong[[1L]]))
}

#' Error where an argument is given that the method has no use for
#' @noRd
check_own_arguments <- function(given, method) {
  check_taken(given, method, method_arguments,
              "left out with `surrogate = \"%s\"`, which has no use for it",
              \(methods) sprintf("It is an argument of %s.", toString(methods)))
  refuse_if(all(c("dither", "window") %in% given), "dither", "left out where `window` is given",
            "given", "It is where the length of the windows comes from otherwise.")
}

#' Patterns are made of bins: spikes that stay in theirs are no surrogate
#' @noRd
check_dither_of_bins <- function(dither, bin_size, method) {
  # Where the shuffling of bins has windows of `dither`, those are checked.
  takes <- method_arguments[[method]]
  if (!"dither" %in% takes || "bin_size" %in% takes) return(invisible())
  dither <- check_number(dither, "dither")
  least <- if (method == "jitter") 2 * bin_size else bin_size
  refuse_if(dither < least * (1 - 1e-9), "dither",
            sprintf("at least %s, %s s", if (method == "jitter") "two bins" else "a bin",
                    exact(least)), paste(exact(dither), "s"),
            "Most spikes would stay in their bins, and surrogates have the same patterns.")
}

check_trains <- function(x, trains, method) {
  refuse_if(method == "trial_shift" && is.null(attr(x, "trials")), "x",
            "a recording with trials for `surrogate = \"trial_shift\"`", "one without",
            "Use \"train_shift\", or give `spike_trains()` its `trials`.")
  refuse_if(nrow(x) == 0L, "x", "a recording with spikes", "one without")
  refuse_if(count_in_trials(trains) == 0L, "x", "a recording with spikes in its trials",
            sprintf("one with %s spikes outside them", commas(nrow(x))))
}

#' Ticks that a spike may move
#' @noRd
check_dither <- function(dither, trains, resolution) {
  dither <- check_number(dither, "dither")
  raw <- raw_ticks(dither, resolution)
  # A rounding of the division, and no more.
  ticks <- floor(raw + 1e-5)
  refuse_if(ticks < 1, "dither", sprintf("at least a tick of %s s", exact(resolution)),
            paste(exact(dither), "s"))
  shortest <- min(trains$stop - trains$start)
  most <- min(shortest, .Machine$integer.max)
  what <- if (most < shortest) "2^31 - 1 ticks" else
    if (is.null(trains$trial)) "the length of the recording" else "the length of the shortest trial"
  refuse_if(ticks > most, "dither",
            sprintf("at most %s, %s s", what, exact(ticks_to_seconds(most, resolution))),
            paste(exact(dither), "s"))
  ticks
}

#' Ticks and number of the bins of the histogram of intervals, and sigma in bins
#' @noRd
check_histogram <- function(truncation_limit, n_bins, sigma, dither, resolution) {
  truncation_limit <- check_number(truncation_limit, above = 0)
  n_bins <- check_count(n_bins, max = 1000)
  sigma <- check_number(sigma, min = 0, max = truncation_limit)
  bin <- max(1, round(raw_ticks(truncation_limit, resolution) / n_bins))
  refuse_if(bin > dither, "n_bins",
            "so large that a bin of the histogram is no longer than `dither`",
            sprintf("%s, which makes bins of %s s", commas(n_bins),
                    exact(ticks_to_seconds(bin, resolution))), "Spikes move by whole bins of it.")
  c(bin, n_bins, raw_ticks(sigma, resolution) / bin)
}

# A window that slides draws once for each bin; so many take half a second.
most_slides <- 2^27

check_shuffled_bin <- function(bin_size, trains, resolution, most) {
  refuse_if(is.null(bin_size), "bin_size", "the length of a bin in seconds", "NULL",
            "For bins of 5 ms, `bin_size = 0.005`.")
  bin <- check_bin_size(bin_size, resolution)
  longest <- max(trains$stop - trains$start) + 1
  refuse_if(longest < 2 * bin, "bin_size",
            "so short that a trial, or the recording, has two bins or more",
            paste(exact(bin_size), "s"), "Else there is nothing to shuffle.")
  refuse_if(longest / bin > most, "bin_size",
            sprintf("so long that a trial has at most %s bins", commas(most)),
            paste(exact(bin_size), "s"))
  bin
}

#' Ticks of the windows in which bins are shuffled, or spikes jittered
#' @param bin Ticks of a bin; NULL for windows without.
#' @noRd
check_shuffle_window <- function(window, dither, bin, trains, resolution) {
  if (is.null(window)) {
    if (is.null(bin)) return(max(2, check_dither(dither, trains, resolution)))
    dither <- check_number(dither, above = 0)
    window <- 2 * floor(raw_ticks(dither, resolution) / bin * (1 + 1e-9)) * bin
    refuse_if(window <= 0, "bin_size", "at most `dither`, or `window` given",
              sprintf("%s s, and `dither` is %s s", exact(ticks_to_seconds(bin, resolution)),
                      exact(dither)))
    return(min(window, 2^53))
  }
  window <- check_number(window, above = 0)
  ticks <- seconds_to_ticks(window, resolution, "window")
  unit <- bin %||% 1
  refuse_if(ticks %% unit != 0 || ticks < 2 * unit, "window",
            if (is.null(bin)) sprintf("at least two ticks of %s s", exact(resolution)) else
              sprintf("a whole number of bins of %s s, at least two",
                      exact(ticks_to_seconds(bin, resolution))), paste(exact(window), "s"))
  ticks
}
