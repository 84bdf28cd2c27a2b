# Mining spike patterns: unit sets with fixed lags that come back.

#' Find spike patterns
#'
#' A spike pattern is a set of spikes at fixed distances: A fires, B two bins later, C
#' five bins after A. `mine_patterns()` finds all of them that come back at least
#' `min_count` times within a window, of any units and any lags. That is the pattern search
#' of SPADE, the detection of spike patterns by Torre et al. (2013), Quaglio et al. (2017)
#' and Stella et al. (2019), and has nothing to do with the SPADE algorithm for sequences
#' by Zaki (2001), which shares its name.
#'
#' # What is counted
#' * A *bin* holds the ticks from `start + k * bin_size` up to, and without, the next
#'   bin's, with `start` of the recording or of the trial. Several spikes of a unit in a
#'   bin are one. The last bin may be cut short by the end of the data.
#' * A *window* of `window_bins` bins opens at every bin that holds a spike. At the end of the
#'   recording, and of a trial, windows are cut short rather than left out. No window
#'   reaches from one trial into the next; spikes outside all trials are left out.
#' * An *item* is a unit at a *lag*, the number of bins from the opening of the window,
#'   from 0 to `window_bins - 1`. A unit at two lags is two items, two spikes, but one unit.
#' * A *pattern* is a set of items with at least one at lag 0. Its *occurrences* are the
#'   windows that hold all its items, and maybe more.
#' * A pattern is *closed* when no larger set of items has as many occurrences. What is
#'   not closed says nothing that the larger set does not say, so only closed patterns are
#'   found: of those, all with `min_spikes` to `max_spikes` items, `min_count` to `max_count`
#'   occurrences and at least `min_units` units.
#'
#' Whether a pattern is closed does not depend on the filters: a pattern of three spikes
#' that one of four always accompanies is not closed, also with `max_spikes = 3`. With
#' `closed_within = "max_spikes"` only sets of up to `max_spikes` items count as larger
#' ones, so that the pattern of three is found.
#'
#' A pattern that follows from another one by leaving out its first spikes has windows of
#' its own, which open later. `shifted_subsets = "drop"` leaves it out when it occurs as
#' often as the other one: precisely, a pattern goes when another one that was found, with
#' as many occurrences, contains it once both are shifted so that their last spikes meet.
#' This is what the Python package Elephant does. There, `min_units` is called `min_neu`,
#' and is 1 by default. Here it is `min_spikes`, as in the benchmarks of Porrmann et al.
#' (2021).
#'
#' Filters that no pattern can pass in this recording, such as more units than there are,
#' give a result without patterns.
#'
#' # Engines
#' Both give the same patterns in the same order, with any number of threads.
#' * `"closure"` goes from closed set to closed set, root by root (a root is the rarest
#'   unit at lag 0), in the windows of the root as bit masks, and leaves out branches in
#'   which too few units are left. It keeps nothing but what is found.
#' * `"fpgrowth"` is the published method of Porrmann et al. (2021): FP-growth with the
#'   filters inside the miner. Units at lag 0 come last in its trees, so that sets without
#'   one are not grown. It is there to compare with.
#'
#' # GPUs
#' `device = "gpu"` mines on one or several GPUs with the engine `"closure"`, and gives the
#' same patterns in the same order. It pays where the search takes long: a thousand units
#' for half an hour. Then most of the time goes into pairs of items, whose windows are
#' compared with all other items; few of these pairs lead to a pattern.
#'
#' Roots are dealt out to the GPUs, as many at a time as fit. A root that needs more room
#' than a GPU has, or leads to sets of more than 256 spikes, is left to the CPU, where it
#' takes `threads`. `device = "auto"` first estimates what the CPU would take, in some
#' milliseconds: from a few roots the search goes down along ways drawn at random, and what
#' a set on the way took to be made counts once for each way that could have been gone
#' instead (Knuth 1975). The GPU mines where that is longer than it needs itself, going by
#' measurements on an H200: 10 ms for a call, 0.35 s more for the first one of a session,
#' and a three-hundredth of one thread's time for pairs, a thirtieth for larger sets. Both
#' times are in a message of the class `synfire_message_device`.
#'
#' # Memory
#' The result is held as flat arrays, two bytes for each item and each pattern where all
#' numbers are below 65,536, else four: millions of patterns take tens of megabytes, until
#' [as.data.frame()] makes a table of them. R reads the arrays where the search left them.
#' They become plain vectors of four bytes a number, and stay that, when what is done with
#' them needs it, such as arithmetic with all of `x$items`, or [saveRDS()]. The search
#' stops with an error when it would pass `max_memory`, and says what `min_count`
#' would have kept to it, going by what had been found. A GPU holds no more than
#' `max_memory` either, and mines in more and smaller parts where that is little.
#'
#' # Long jobs and clusters
#' With a `folder` the search is cut into chunks with about equal work, up to 128, and what
#' is found in each is written to a file there. The result is the same,
#' pattern for pattern.
#'
#' A job that was stopped, killed or failed goes on from its finished chunks when the same
#' call is made again; [long_jobs] has the rule. `shifted_subsets` may differ then, as it does
#' not change what is found in a chunk. The folder takes as much space as the result.
#'
#' With the package future, chunks are mined by the workers of
#' `future::plan()`, which must see the folder and have synfire installed:
#'
#' ```r
#' library(future)
#' # Four processes on this machine.
#' plan(multisession, workers = 4)
#' # Jobs of a Slurm cluster, a chunk each.
#' plan(future.batchtools::batchtools_slurm, resources = list(ncpus = 8, walltime = 3600))
#' # The ranks of an MPI job: see the script that this names.
#' system.file("cluster", "patterns-mpi.R", package = "synfire")
#' found <- mine_patterns(x, 0.005, 20, min_spikes = 3, min_count = 10, folder = "movement")
#' ```
#'
#' A worker uses the `threads` that are given, else what `future::availableCores()` grants
#' it: one with `multisession`, those of its job with Slurm. The ranks of an MPI job do not
#' know of each other, so give `threads` where several share a machine. A worker that dies
#' costs the chunk that it was at, which is done again (`vignette("clusters")`). Without
#' a plan the chunks are mined one after the other in this process. A root is never
#' divided: where one unit fires far more than the others, most of the work can be a single
#' chunk's, and `threads` help more than workers. With the package progressr, progress is
#' reported chunk by chunk.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param bin_size Length of a bin, in seconds; a whole number of ticks of the recording's
#'   `resolution`.
#' @param window_bins Length of the windows, in bins, from 1 (synchrony alone) to those of
#'   the recording, or of the longest trial. The number of units times `window_bins` must be
#'   below 2^31.
#' @param min_spikes,max_spikes Least and largest number of spikes (items) of a pattern;
#'   `max_spikes` may be `Inf`.
#' @param min_count,max_count Least and largest number of occurrences; `max_count` may be
#'   `Inf`.
#' @param min_units Least number of different units of a pattern; at most `max_spikes`.
#' @param closed_within `"all"` for patterns that no larger set of items replaces, or
#'   `"max_spikes"` for those that no larger set of up to `max_spikes` items replaces.
#' @param shifted_subsets `"keep"` or `"drop"` patterns that are the end of another one
#'   with as many occurrences.
#' @param ... Not used; must be empty. All arguments after it are given by name.
#' @param engine Who searches, see Engines.
#' @param folder Path of a folder for the results of chunks, made if it is not there, or
#'   `NULL` to search at once; see Long jobs and clusters, and [long_jobs].
#' @param device `"cpu"`, `"gpu"`, or `"auto"` for the one that should be sooner done; see
#'   GPUs. With a `folder` the CPU mines.
#' @param gpus Numbers of the GPUs to use: rows of `synfire_sitrep()$devices`; `NULL` for
#'   the first one. Several share the roots.
#' @param threads Number of threads, with a `folder` of each worker; `NULL` for all that
#'   the process may use.
#' @param max_memory Bytes the search may hold, what it finds included. With a `folder` it
#'   holds for each worker, and then for the result and the largest chunk together; what
#'   has been mined stays in the folder when that is too much.
#'
#' @return An object of class `patterns` (and `itemsets`), sorted by size, that is a list
#'   of
#'   \describe{
#'     \item{items}{integer vector, the items of all patterns one after the other,
#'       increasing within a pattern; an item is `lag * n + unit - 1`, with the lag in
#'       bins, and the place of the unit among the `n` units}
#'     \item{runs}{list of `size` (integer) and `n` (double): `n[k]` patterns in a row have
#'       `size[k]` items}
#'     \item{count}{integer vector, the number of occurrences of each pattern}
#'   }
#'   with the attributes `units` (their labels), `window_bins`, `bin_size` (s), `mined`
#'   (how many patterns were found), `recording` (where), `parameters` (a list:
#'   `min_spikes`, `min_count`, `max_spikes`, `max_count`, `min_units`, `closed_within`,
#'   `shifted_subsets`), `engine`, `device` (`"cpu"` or `"gpu"`), `threads`, `elapsed` (s;
#'   `mining_elapsed` is the part of it spent in the search), `peak_memory` (bytes held by the
#'   search) and `call`. With a `folder`, `threads` is that of a worker, `mining_elapsed` the sum
#'   of all chunks, whenever they were mined, and `peak_memory` that of the worst chunk.
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`. A search beyond
#' `max_memory` gives `synfire_error_budget`, one that the machine has no memory for
#' `synfire_error_memory`, and a recording of 2^31 - 1 spikes or more
#' `synfire_error_too_large`. `device = "gpu"` gives `synfire_error_device` where there is
#' no GPU, or it fails. A `folder` that cannot be read by a worker, or changes while
#' it is used, gives `synfire_error_folder`.
#'
#' @references
#' Torre E, Picado-Muino D, Denker M, Borgelt C, Gruen S (2013). Statistical evaluation of
#' synchronous spike patterns extracted by frequent item set mining. *Frontiers in
#' Computational Neuroscience*, 7, 132. \doi{10.3389/fncom.2013.00132}
#'
#' Quaglio P, Yegenoglu A, Torre E, Endres DM, Gruen S (2017). Detection and evaluation of
#' spatio-temporal spike patterns in massively parallel spike train data with SPADE.
#' *Frontiers in Computational Neuroscience*, 11, 41. \doi{10.3389/fncom.2017.00041}
#'
#' Stella A, Quaglio P, Torre E, Gruen S (2019). 3d-SPADE: significance evaluation of
#' spatio-temporal patterns of various temporal extents. *BioSystems*, 185, 104022.
#' \doi{10.1016/j.biosystems.2019.104022}
#'
#' Porrmann F, Pilz S, Stella A, Kleinjohann A, Denker M, Hagemeyer J, Rueckert U (2021).
#' Acceleration of the SPADE method using a custom-tailored FP-growth implementation.
#' *Frontiers in Neuroinformatics*, 15, 723406. \doi{10.3389/fninf.2021.723406}
#'
#' @seealso [frequent_itemsets()] for the same search in transactions of any kind;
#'   [simulate_patterns()] for recordings to try it on.
#' @examples
#' # A, B 2 ms later and C 5 ms later, four times; D at random.
#' begin <- c(0.010, 0.043, 0.071, 0.100)
#' x <- spike_trains(
#'   c(begin, begin + 0.002, begin + 0.005, 0.020, 0.044, 0.090),
#'   rep(c("A", "B", "C", "D"), c(4, 4, 4, 3)), resolution = 1e-3
#' )
#' found <- mine_patterns(x, bin_size = 0.001, window_bins = 10, min_spikes = 3, min_count = 3,
#'                        threads = 2)
#' found
#'
#' # B and C alone are the end of that.
#' length(mine_patterns(x, 0.001, 10, min_count = 3, threads = 2))
#' length(mine_patterns(x, 0.001, 10, min_count = 3, shifted_subsets = "drop", threads = 2))
#'
#' # In chunks, whose results stay in a folder.
#' folder <- tempfile("job")
#' mine_patterns(x, 0.001, 10, min_count = 3, threads = 2, folder = folder)
#' list.files(folder)
#' @export
mine_patterns <- function(x, bin_size, window_bins, min_spikes = 2, min_count = 2,
                          max_spikes = Inf, max_count = Inf, min_units = min_spikes, ...,
                          closed_within = c("all", "max_spikes"),
                          shifted_subsets = c("keep", "drop"),
                          engine = c("closure", "fpgrowth"), folder = NULL,
                          device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL,
                          max_memory = 4e9) {
  begun <- check_given(x = "a recording", bin_size = "the length of a bin in seconds",
                       window_bins = "the length of the windows in bins")
  check_no_dots()
  search <- pattern_search(x, bin_size, window_bins, min_spikes, min_count, max_spikes, max_count,
                           min_units)
  parameters <- c(search$filters, list(closed_within = check_choice(closed_within),
                                       shifted_subsets = check_choice(shifted_subsets)))
  engine <- check_choice(engine)
  device <- check_choice(device)
  check_miner_place(device, gpus, engine, folder)
  here <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  events <- c(search$trains, list(bin = search$bin))
  place <- NULL
  if (is.null(folder)) {
    options <- pattern_options(search$window, parameters, engine, here, max_memory)
    mine <- \(options) finish_patterns(.Call(r_mine_patterns, events, options, NULL), parameters)
    place <- miner_place(device, gpus, engine, here, \() mine(to_estimate(options)))
    options["gpus"] <- list(place)
    mined <- mine(options)
  } else {
    mined <- mine_in_folder(folder, events, search$window, parameters, engine, threads, max_memory)
  }
  units <- levels(search$x$unit)
  if (parameters$shifted_subsets == "drop") mined <- drop_shifted(mined, length(units), max_memory)
  new_itemsets(mined$items, mined[c("size", "n")], mined$count,
               list(units = units, window_bins = as.integer(search$window),
                    bin_size = search$bin_size, mined = length(mined$count), recording = search$x,
                    parameters = parameters, engine = engine,
                    device = if (is.null(place)) "cpu" else "gpu",
                    threads = mined$threads %||% here,
                    elapsed = proc.time()[["elapsed"]] - begun$began,
                    mining_elapsed = mined$mining_elapsed, peak_memory = mined$peak_memory,
                    call = begun$call), class = "patterns")
}

#' Patterns without those that are the end of another one with as many occurrences
#' @noRd
drop_shifted <- function(mined, units, max_memory) {
  if (length(mined$count) == 0L) return(mined)
  left <- .Call(r_drop_shifted, mined$items, mined$size, mined$n, mined$count, units, max_memory)
  left <- finish_status(left, "comparing these patterns",
                        "Raise `min_count`, or use `shifted_subsets = \"keep\"`.",
                        limit_of = "patterns")
  some <- left$n > 0
  mined$items <- left$items
  mined$count <- left$count
  mined$size <- left$size[some]
  mined$n <- left$n[some]
  mined
}

# ---- Checks --------------------------------------------------------------------------

#' The search for patterns that a user asks for, checked
#'
#' @param warn Whether to warn of bins that are long for the recording.
#' @return List: the recording `x`, its `trains` as trains_of() gives them, `bin_size` in seconds,
#'   `bin` in ticks, `window` in bins, and `filters`.
#' @noRd
pattern_search <- function(x, bin_size, window_bins, min_spikes, min_count, max_spikes, max_count,
                           min_units, warn = TRUE) {
  x <- as_spike_trains(x)
  bin <- check_bin_size(bin_size, attr(x, "resolution"))
  window <- check_window(window_bins, x, bin)
  min_spikes <- check_count(min_spikes)
  min_count <- check_count(min_count)
  max_spikes <- check_most(max_spikes, "max_spikes", min_spikes, "min_spikes")
  max_count <- check_most(max_count, "max_count", min_count, "min_count")
  min_units <- check_count(min_units)
  refuse_if(min_units > max_spikes, "min_units",
            paste0("at most `max_spikes`, ", commas(max_spikes)), commas(min_units),
            "A pattern has no more units than spikes.")
  filters <- list(min_spikes = min_spikes, min_count = min_count, max_spikes = max_spikes,
                  max_count = max_count, min_units = min_units)
  check_bins_fit(x, bin, window, filters, warn)
  list(x = x, trains = trains_of(x), bin_size = as.double(bin_size), bin = bin, window = window,
       filters = filters)
}

#' The number of bins of a window, checked against the recording
#' @noRd
check_window <- function(window, x, bin) {
  window <- check_count(window, "window_bins")
  of <- stretches(x)
  bins <- ceiling((max(of$stop - of$start) + 1) / bin)
  refuse_if(window > bins, "window_bins",
            sprintf("at most as long as %s, which has %s of %s s",
                    if (is.null(trial_ticks(x))) "the recording" else "the longest trial",
                    counted(bins, "bin"), exact(ticks_to_seconds(bin, attr(x, "resolution")))),
            counted(window, "bin"),
            "Use a shorter window, or shorter bins. It is a number of bins, not seconds.")
  units <- nlevels(x$unit)
  most <- .Machine$integer.max
  refuse_if(window * max(1, units) > most, "window_bins",
            sprintf("at most %s bins with %s units", commas(most %/% max(1, units)),
                    commas(units)), commas(window),
            "Use a shorter window, longer bins, or fewer units.")
  window
}

#' A whole number, or Inf, not below another argument
#' @noRd
check_most <- function(x, arg, least, least_arg) {
  x <- check_count(x, arg, infinite = TRUE)
  refuse_if(x < least, arg, sprintf("at least `%s`, %s", least_arg, commas(least)), commas(x))
  x
}
