# Mining frequent serial episodes.

#' Find frequent serial episodes
#'
#' An episode is a chain of units with a delay interval between each and the next: A, then
#' B more than 5 and at most 10 ms later, then C. `mine_episodes()` finds all episodes
#' that occur at least `min_count` times without overlapping, size by size.
#'
#' # What is counted
#' An occurrence of an episode is one spike per unit, with every delay `d` between
#' neighbouring spikes satisfying `low < d <= high`. Two occurrences do not overlap when
#' one ends strictly before the other starts. `count` is the largest number of pairwise
#' non-overlapped occurrences, and `support` is `count` divided by the number of spikes
#' mined. No occurrence crosses from one trial into another; spikes outside all trials
#' are left out. With `distinct_units = FALSE` units may repeat within an episode. The engines
#' agree to the last digit.
#'
#' Delays are compared as whole ticks of the recording's `resolution`, never as floating
#' point numbers.
#'
#' # Engines
#' * `"window"` keeps an episode as the list of its valid ends, each with the latest
#'   possible start. The newest valid predecessor always suffices, so one pass over the
#'   list counts all units that may follow; with few units, from a table of next
#'   occurrences in vector registers.
#' * `"state"` is the published CPU algorithm: a state machine with waiting lists per
#'   candidate (Algorithm 1 of Cao et al. 2011), repaired for equal time stamps.
#' * `"two-pass"` eliminates candidates by the upper bound of the same paper (PreElim)
#'   first.
#' * `"auto"` is `"window"`, the fastest in every measurement so far.
#'
#' # GPUs
#' With `device = "gpu"` NVIDIA GPUs do the work, with the same table as the result. The
#' first call of an R session makes a CUDA context, which takes a few tenths of a second.
#' `device = "auto"` weighs that against an estimate of the work, and says what it chose.
#' `"window"` is there for any number of units up to 65,000 and windows of any length.
#'
#' The other engines are the published strategies, to compare with. Each is exact, also
#' where the printed algorithm is not. They count episodes of up to 64 units.
#' * `"ptpe"`: a thread takes an episode and runs the state machine over the recording
#'   (per-thread per-episode, Cao et al. 2010).
#' * `"mtpe"`: several threads take an episode, each a segment of the recording
#'   (multiple threads per episode). The published merge looks, at each boundary, among
#'   as many machines as the episode has units for one whose first occurrence is the last
#'   one before the boundary, and has no answer where there is none. Here a segment is
#'   read again from the true state until the machines agree. `merge = "published"` also
#'   runs the published merge with its machines, for the time it takes and the number of
#'   episodes that it cannot put together.
#' * `"hybrid"`: MTPE for few episodes, PTPE for many: the former below `(a / size + b)`
#'   times the threads that the GPU runs at once. [calibrate_gpu()] finds a and b.
#' * `"two-pass"`: PreElim, then hybrid for the candidates it leaves (Cao et al. 2011).
#' * `"occurrence"`: a thread takes an occurrence and extends it by one unit; between two
#'   units the longer ones are brought together into one list. At last the largest set
#'   without overlaps is taken (Feng et al. 2011). `compaction` says how they are brought
#'   together, see below. `dedup = FALSE` keeps all occurrences that end together, as
#'   published; their number explodes in bursts.
#'
#' The values of `compaction` are the three published ways and two of ours. All give the
#' same counts.
#' * `"atomic-compact"` (AtomicCompact): the threads of a block add to a counter of the
#'   block, and the block once to the counter of the list. The order is lost, so the list
#'   is sorted by the ends before the largest set is taken.
#' * `"cudpp-compact"` (CudppCompact): each thread fills some places of its own in an array
#'   with gaps, and a prefix sum over all places closes the gaps.
#' * `"count-scan-write"` (CountScanWrite): a first search counts, a prefix sum gives each
#'   thread its place, and a second search writes.
#' * `"count-once"`, ours: the same with one search, whose result is remembered.
#' * `"one-counter"`, ours, for comparison: each thread that finds something adds to one
#'   counter of the whole list. The list is sorted.
#'
#' With `dedup = FALSE`, all but the two that sort track occurrences back from their last
#' unit, as published, so that they come in the order of their ends.
#'
#' Several GPUs (`gpus = 1:2`) share the candidates of each size, once there are enough of
#' them: with the engine `"window"` each keeps the lists of its share, and they exchange
#' what they find.
#'
#' # Memory
#' All threads share `max_memory`. The lists of one size are kept while they fit in it;
#' beyond that they are made anew when needed, and fewer threads work at a time, which takes
#' longer and gives the same table: what fits on one thread fits on any number. There is an
#' error when the episodes themselves, with their table, do not fit. On GPUs the same holds
#' for each, and for what it has free. A GPU counts with a table of what follows each spike
#' where that fits and pays. Without it, as with thousands of units or tens of millions of
#' spikes, it takes about 40 bytes for each spike. There is an error where the spikes, their
#' windows and two lists do not fit. The episodes of one size, 32 bytes each, may come on
#' top for a moment. A search
#' that is sure to take more than a
#' gigabyte says so before it starts.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param min_count Least number of non-overlapped occurrences, a whole number from 1.
#'   Give this or `min_support`.
#' @param intervals Delay intervals, in seconds: `c(low, high)`, or a matrix or data frame
#'   with the columns low and high and a row for each interval. `0 <= low < high`; bounds
#'   must be whole ticks. Intervals may overlap, but not repeat.
#' @param max_size Largest number of units in an episode, or `Inf`.
#' @param min_support Least support, above 0 and at most 1, in place of `min_count`.
#' @param units Units to mine, by name; `NULL` for all.
#' @param target `"frequent"` for all frequent episodes, `"closed"` for those that no
#'   frequent episode one unit longer contains with the same count, `"maximal"` for those
#'   that no frequent episode one unit longer contains at all. An episode contains
#'   another when it begins or ends with it. Both are judged among the sizes mined.
#' @param top Keep this many episodes of each size, those with the highest counts;
#'   `NULL` for all. Among equal counts those first in order of their names.
#' @param distinct_units `TRUE` for episodes in which no unit comes twice; `FALSE` for all.
#'   Chains such as 6 > 6 > 6 say that a unit fires in bursts, and fill the tables of real
#'   recordings. Counts do not change, only which episodes are listed; `target` and `top`
#'   choose among these. The engine `"window"` on a GPU counts the others as well, and leaves them
#'   out afterwards.
#' @param engine Who counts: `"auto"`, `"window"` or `"two-pass"` on both devices, `"state"`
#'   on the CPU, and on a GPU the published `"ptpe"`, `"mtpe"`, `"hybrid"` and `"occurrence"`,
#'   see Engines and GPUs. All give the same table. To compare variants of the published
#'   engines, a list of the name and any of these:
#'   * `merge = "published"`, for `"mtpe"`, `"hybrid"` and `"two-pass"` on a GPU, also runs the
#'     published merge, and adds the columns `unmatched` (episodes) and `published_seconds` to
#'     the attribute `levels`. By default `"exact"`.
#'   * `compaction`, for `"occurrence"`: `"count-once"`, the default, `"one-counter"`,
#'     `"atomic-compact"`, `"cudpp-compact"` or `"count-scan-write"`, see GPUs.
#'   * `dedup = FALSE`, for `"occurrence"`, keeps all occurrences as published.
#'
#'   For example `list("occurrence", compaction = "one-counter", dedup = FALSE)`.
#' @param device `"cpu"`, `"gpu"`, or `"auto"` for the faster of the two; see GPUs.
#' @param gpus Numbers of the GPUs to use: rows of `synfire_sitrep()$devices`; `NULL` for
#'   the first one.
#' @param threads Number of threads; `NULL` for all that this process may use.
#' @param max_memory Bytes that the search and its table may hold.
#'
#' @return A data frame of class `episodes` with a row for each episode, sorted by size,
#'   decreasing count and name (unit by unit, in the order of character codes):
#'   \describe{
#'     \item{episode}{its name, such as `A -(0.005,0.01]-> B`, bounds in seconds}
#'     \item{size}{number of units}
#'     \item{count}{non-overlapped occurrences}
#'     \item{support}{count divided by the number of spikes mined}
#'     \item{units}{list of character vectors, the units in order}
#'     \item{low, high}{lists of numeric vectors, the bounds in seconds of the delay
#'       before each unit but the first}
#'   }
#'   Attributes: `recording` (what was mined), `intervals`, `min_count`, `levels` (a data
#'   frame with the candidates counted, eliminated and found at each size; on a GPU also
#'   the `seconds` that a size took, of a published strategy those of its kernels, with
#'   `copy_seconds` for candidates on their way to the GPU and counts on their way back,
#'   and how many candidates `mtpe` counted), `engine`, `device`, `gpus` (a data frame:
#'   which took part, and the candidates that each counted; with the engine `"window"`
#'   what is done before there is enough to share, each does), `threads`, `elapsed` (s),
#'   `device_elapsed` (s; on a GPU, the part from the spikes being there to the episodes
#'   being back), `peak_memory` (bytes; on a GPU, its own) and `call`.
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; results or work
#' beyond `max_memory` give `synfire_error_budget`, a GPU that is not there or fails gives
#' `synfire_error_device`.
#'
#' @references
#' Cao Y, Patnaik D, Ponce S, Archuleta J, Butler P, Feng W, Ramakrishnan N (2011).
#' Parallel mining of neuronal spike streams on graphics processing units.
#' *International Journal of Parallel Programming*, 40, 605-632.
#' \doi{10.1007/s10766-011-0181-6}
#'
#' Feng W, Cao Y, Patnaik D, Ramakrishnan N (2011). Temporal data mining for neuroscience.
#' In *GPU Computing Gems, Emerald Edition*, chapter 15. Morgan Kaufmann.
#'
#' Patnaik D, Sastry PS, Unnikrishnan KP (2008). Inferring neuronal network connectivity
#' from spike data: a temporal data mining approach. *Scientific Programming*, 16,
#' 49-77. \doi{10.3233/SPR-2008-0242}
#'
#' @seealso [count_episodes()] for given episodes, [episode_occurrences()] for where they
#'   occur, [episode_lags()] for their delays, [autoplot.episodes()] for pictures,
#'   `vignette("episodes")` and `vignette("definitions")`. Pages in the sources have the engines on
#'   a GPU next to each other: `vignettes/paper-episodes.Rmd` and `paper-occurrences.Rmd`.
#' @examples
#' # Frames of 33 ms: delays of one to three frames
#' found <- mine_episodes(songbird, min_count = 14, intervals = c(0.02, 0.12), threads = 2)
#' found
#' summary(found)
#' found[found$size == max(found$size), ]
#' @export
mine_episodes <- function(x, min_count = NULL, intervals, max_size = Inf,
                          min_support = NULL, units = NULL,
                          target = c("frequent", "closed", "maximal"), top = NULL,
                          distinct_units = TRUE, engine = "auto",
                          device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL,
                          max_memory = 4e9) {
  begun <- check_given(x = "a recording",
                       intervals = "delay intervals in seconds, such as `c(0.005, 0.010)`")
  x <- as_spike_trains(x)
  if (!is.null(units)) x <- keep_units(x, rlang::new_quosure(check_units(units, x)))
  resolution <- attr(x, "resolution")
  intervals <- check_intervals(intervals, resolution)
  check_delays_fit(x, intervals$seconds)
  events <- trains_of(x, .subset2(x, "unit"))
  in_trials <- count_in_trials(events)
  min_count <- check_min_count(min_count, min_support, in_trials)
  max_size <- check_count(max_size, infinite = TRUE)
  target <- check_choice(target)
  if (!is.null(top)) top <- check_count(top)
  distinct_units <- check_flag(distinct_units)
  strategy <- check_strategy(engine)
  device <- check_choice(device)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  place <- choose_place(strategy$engine, device, gpus, events, intervals$ticks, min_count, max_size,
                        threads)
  check_strategy_fits(strategy, place)

  if (place$device == "cpu") announce_memory(events, intervals$ticks, min_count, max_memory)

  started <- proc.time()[["elapsed"]]
  mined <- .Call(
    r_mine_episodes, events, intervals$ticks, spelling(levels(x$unit), intervals$seconds),
    list(
      min_count = min(min_count, .Machine$integer.max),
      max_size = min(max_size, .Machine$integer.max),
      engine = match(place$engine, c("state", "two-pass", "window"), 3) - 1,
      threads = threads, max_memory = max_memory,
      least_flag = least_flag(target),
      top = min(as.double(top), 2^53), distinct_units = as.integer(distinct_units)
    ),
    if (place$device == "gpu") {
      gpu_request(place$engine, place$gpus, strategy$merge, strategy$compaction,
                  strategy$dedup)
    }
  )
  mined <- finish_status(
    mined, "mining these episodes",
    "Raise `min_count`, lower `max_size`, or mine fewer `units`.", limit_of = "spikes"
  )
  if (isTRUE(attr(mined, "gpu")$parted)) {
    info("memory", "The lists of this search took more than {bytes_text(max_memory)} of the GPU,
                    and were made part by part. That takes many times as long.",
         "A larger {.code max_memory} spares it.")
  }
  new_episodes(mined_columns(mined, in_trials), list(
    recording = x, intervals = intervals$seconds, min_count = min_count,
    levels = levels_frame(mined$levels, attr(mined, "gpu"), strategy$merge),
    gpus = gpus_frame(place, attr(mined, "gpu")),
    target = target, distinct_units = distinct_units, engine = place$engine,
    device = place$device, threads = threads, elapsed = proc.time()[["elapsed"]] - started,
    device_elapsed = if (place$device == "gpu") mined$levels$device_seconds,
    peak_memory = mined$levels$peak_memory, call = begun$call
  ))
}

#' The columns of the table, from what the core found among so many spikes
#' @noRd
mined_columns <- function(mined, spikes) {
  columns <- mined[c("episode", "size", "count")]
  columns$support <- mined$count / max(1, spikes)
  c(columns, mined[c("units", "low", "high")])
}

#' The least flag of episodes that are left out, as the core has it
#' @noRd
least_flag <- function(target) c(frequent = 3, closed = 2, maximal = 1)[[target]]

#' What was done at each size
#'
#' @param gpu What the GPUs report of each size, or `NULL`.
#' @noRd
levels_frame <- function(levels, gpu, merge) {
  out <- list2DF(list(size = seq_along(levels$frequent), candidates = levels$candidates,
                      eliminated = levels$eliminated, frequent = levels$frequent,
                      seconds = gpu$seconds %||% rep(NA_real_, length(levels$frequent))))
  if (is.null(gpu)) return(out)
  out$copy_seconds <- gpu$copy_seconds
  out$mtpe <- gpu$segmented
  if (merge == "published") {
    out[c("unmatched", "published_seconds")] <- gpu[c("unmatched", "published_seconds")]
  }
  out
}

#' Names and bounds the rows are written with, and the order of the names in the C locale
#' @noRd
spelling <- function(units, seconds) {
  arrows <- arrow_text(seconds[, "low"], seconds[, "high"])
  rank <- \(text) match(seq_along(text), order(text, method = "radix")) - 1L
  units <- enc2utf8(as.character(units))
  list(units, seconds[, "low"], seconds[, "high"], arrows, rank(units), rank(arrows))
}

#' Say what a big search takes before it starts
#'
#' What is certain: windows, the lists of single units and, where the core makes one, the table of
#' next occurrences. The lists of episodes come on top and depend on what is found.
#' @noRd
announce_memory <- function(events, intervals, min_count, max_memory) {
  # Fewer bytes than that for each spike and interval are nothing to talk about.
  if (length(events$tick) * length(intervals$low) * 64 * ceiling(events$units / 32) < 1e9) {
    return(invisible())
  }
  certain <- min(certain_memory(events, intervals, min_count, max_memory), max_memory)
  if (certain < 1e9) return(invisible())
  info("memory", paste("Mining {commas(length(events$tick))} spikes takes at least",
                       "{bytes_text(certain)} of memory, and at most {bytes_text(max_memory)}."))
}

#' Bytes that a search holds whatever it finds
#'
#' The core makes the table of next occurrences where it pays: window.c decides by the same
#' rule. Units below `min_count` are left out before anything else.
#' @noRd
certain_memory <- function(events, intervals, min_count, max_memory) {
  spikes <- tabulate(events$unit, events$units)
  units <- sum(spikes >= min_count)
  n <- sum(spikes[spikes >= min_count])
  pairs <- length(intervals$low)
  bytes <- n * (8 * pairs + 16)
  table <- n * 64 * pairs * ceiling(units / 32)
  if (n == 0 || table > max_memory / 2) return(bytes)
  occupancy <- occupancy(events$tick, intervals) * n / length(events$tick)
  if (2 * ceiling(units / 32) > occupancy + 4) bytes else bytes + table
}

#' How many spikes follow one within an interval on average, of the widest interval: some
#' spikes, at even steps, stand for all
#' @noRd
occupancy <- function(tick, intervals) {
  if (length(tick) == 0L) return(0)
  at <- tick[even_steps(length(tick), 1e4)]
  within <- findInterval(outer(at, intervals$high, `+`), tick) -
    findInterval(outer(at, intervals$low, `+`), tick)
  max(colMeans(matrix(within, length(at))))
}
