# Mining while the experiment runs: a window that slides over a growing recording.

#' Mine a recording while it grows
#'
#' `episode_stream()` sets up a stream, and `update()` hands it what was recorded since.
#' After each update the stream holds the frequent episodes of the last `window` seconds,
#' with their exact counts, and what rose and fell since the update before. Of the
#' recording it keeps these last seconds and nothing else.
#'
#' # A stream is a value
#' `update()` gives a new stream and leaves the old one as it is: write
#' `s <- update(s, block)`. So an update that ends in an error or in Ctrl-C costs
#' nothing: `s` is still the stream before it, and the same block can be given again. The
#' counts of the window are moved on in place, for speed: an update of a stream that is not
#' the newest one, or that was read from a file, first counts its whole window.
#'
#' # The window
#' The window is `(now - window, now]`: whole ticks, the early bound exclusive. The table is
#' the one [mine_episodes()] gives for its spikes, to the last digit; an occurrence counts
#' when all of it lies in the window. A recording that is younger than `window` is mined
#' from its beginning. Of a block longer than the window the last `window` seconds are
#' mined; cut it into shorter ones to have it mined from end to end. Silence moves the
#' window as well: say how far the recording has come by `now`.
#'
#' # Order, overlaps and late spikes
#' Blocks are expected in the order of time. They may overlap: a spike that was
#' given before (same unit, same tick) counts once. A spike may also come late, as long
#' as the window still reaches back to it; it is put in its place and the window mined with
#' it. A late spike that the window no longer reaches is an error, since it was missing
#' from results given before. New units may appear at any time; they come after those
#' known so far in the order of the levels.
#'
#' # Speed
#' An update makes no tables: `episodes` and `changes` are made when you look at them.
#' It counts again only what the spikes that came and went can have changed, so its
#' time depends on how many these are, and hardly on how long the window is.
#' Where they are more than a quarter of the window, mining it anew takes less time and
#' is done instead; so it is after a spike that came late. An update is also longer where
#' many episodes become frequent at once, as what they begin is then counted over the
#' whole window for the first time; a stream does some of that ahead of time, for episodes
#' that are about to become frequent. `vignette("performance")` has measured times,
#' `vignette("definitions")` the proof that the counts are exact. How often to update is
#' free: the table does not depend on how a recording is cut into blocks.
#'
#' This is what one core does, or with `device = "gpu"` one GPU, the first of `gpus`: the
#' counts stay there from one update to the next, and only what came and what changed
#' goes back and forth. It pays for long windows with many episodes, where an update of the CPU
#' takes more than some tenths of a millisecond; `"auto"` is the CPU here, which for shorter ones
#' is as fast and needs no GPU for as long as an experiment lasts. With an `engine` other than
#' `"window"` each changed window is mined anew.
#'
#' # Memory
#' A stream holds the spikes of its window, what follows each of them, where each frequent
#' episode ends, and the counts of all candidates; all within `max_memory`. A GPU also holds
#' two bytes for each spike, unit and interval, and up to twice that as room. Where there is
#' too little, each changed window is mined anew, as by [mine_episodes()]. What a stream
#' holds does not grow with the recording: `bench/stream_memory.R` runs 24 hours of 12 million
#' spikes with alarms, where the whole R process takes 195 MB after the first hour and after
#' the last.
#'
#' # Alarms
#' With `alarms` a stream says which episodes of the window occur more often than chance
#' lets any episode occur. Every `look` seconds of recording it takes a *look*: the window
#' as it is then is compared with `n_surrogates` surrogates of this very window
#' (`surrogate`, `dither`; see [surrogate_trains()]). Each is mined like the window, and its
#' largest count of each size is kept. Each episode of two or more units gets a p value, the
#' share of surrogates in which any episode of any size is as extreme. So it is adjusted for
#' all episodes that could have been found, and it does not matter that those in the table
#' were chosen by their counts. Episodes whose p value is at most `alarms` x `look` /
#' 3600 are alarms.
#'
#' Thus among an hour of looks at units that fire independently of each other, `alarms` of
#' them are expected to raise a false alarm, at most: however often the stream is updated
#' and however much the windows of neighbouring looks overlap, as expected numbers add up.
#' What that needs is that surrogates are what the window would be by chance.
#' `vignette("definitions")` has the proof, and `bench/stream_alarms.R` measures the rate.
#'
#' **When alarms come.** Surrogates are mined by threads of their own, which give way to the
#' updates. A look is judged by the first update that comes `judge_after` seconds of
#' recording later, or by the one that takes the next look; alarms and limits then are those
#' of the window that was looked at, and stand until the next look is judged. So the result
#' depends on the recording and the seed, and not on the speed of the computer. Updates stay
#' as short as without alarms, if the surrogates are mined within `judge_after`; else the
#' update that judges waits for them. Each takes about as long as [mine_episodes()] takes for
#' the window, less with `max_size`; `threads` of them are mined at a time. Choose `alarms`,
#' `look` and `max_size` so that `judge_after` is enough: looks twice as often need twice as
#' many surrogates in half the time. The first look comes when the window is full. A look
#' that is not judged when the recording ends stays so. Surrogates are mined on the CPU; the
#' threads together hold up to `max_memory` besides what the window takes. [set.seed()]
#' before `episode_stream()` decides all surrogates.
#'
#' **What chance is.** The rate holds for what the surrogates keep. Rates that rise and fall
#' together raise no alarms as long as they change slowly compared with `dither`.
#' `"joint_isi"` also keeps about the intervals of each unit, of the window that is looked at:
#' with `"dither"`, six units that fire every 160 ms with a jitter of 4 ms raised an alarm at
#' 54 of 60 looks where one in ten was stated, with `"joint_isi"` at 6. Episodes that repeat a
#' unit are not looked at, unless `distinct_units = FALSE`; they then tell of bursts.
#'
#' @param intervals,min_count As in [mine_episodes()]; `min_support` may be given in place of
#'   `min_count`, and counts against the spikes of each window.
#' @param window Length of the window, in seconds: a whole number of ticks, above 0.
#' @param ... For `episode_stream()` further arguments of [mine_episodes()], by name, such as
#'   `max_size`, `target`, `device`, `threads` or `max_memory`. With `units` all other
#'   units are left out as they come. For the methods not used; must be empty.
#' @param resolution Length of a tick, in seconds. Spike trains that are handed to
#'   `update()` must have the same.
#' @param history Number of updates that `history` and the picture reach back.
#' @param follow Number of episodes, from 0, that each update picks for the picture; see
#'   [autoplot.episode_stream()].
#' @param alarms How many false alarms an hour of recording you accept, above 0; `NULL` for
#'   no alarms. See Alarms.
#' @param look Seconds of recording from one look for alarms to the next; `NULL` for `window`.
#' @param n_surrogates Number of surrogates that a look compares with, enough for
#'   the p value that an alarm needs; `NULL` for five times as many.
#' @param judge_after Seconds of recording from a look to its alarms, from 0 to `look`;
#'   `NULL` for a quarter of `look`. With 0 the update that takes the look waits for its
#'   surrogates.
#' @param surrogate,dither How surrogates are made, and so what counts as chance: a
#'   `surrogate` of [surrogate_trains()] that takes no more than `dither`, in seconds; `NULL`
#'   for three times the width of the widest interval. [episode_significance()] says how to
#'   choose both.
#' @param object,x A stream.
#' @param new_spikes What was recorded since the last update: [spike_trains()] without
#'   trials, or anything [as_spike_trains()] takes, such as a data frame with the columns
#'   `time` (s) and `unit`; `NULL` for silence.
#' @param now How far the recording has come, in seconds: a whole number of ticks, at
#'   or after the last of `new_spikes` and what was reached before. By default the end
#'   of the observation interval of `new_spikes`, which without one is its last spike.
#'
#' @return An object of class `episode_stream`, a list with the elements
#'   \describe{
#'     \item{episodes}{the `episodes` table of the window, as from [mine_episodes()]; its
#'       attribute `recording` holds the spikes of the window}
#'     \item{changes}{a data frame with a row for each episode whose count is another than
#'       an update before: `episode`, `size`, `before`, `now`, `change` (`now - before`)
#'       and `status`, a factor: `"risen"`, `"fallen"`, `"new"` in the table (`before` and
#'       `change` are NA) or `"gone"` from it (`now` and `change` are NA). The largest
#'       changes come first; of one that is new or gone the least change it can have made
#'       counts}
#'     \item{alarms}{a data frame with a row for each alarm of the last look that was judged,
#'       the longest episodes first: `episode`, `size`, `count`, the `limit` of its size, `p`
#'       value, `since` (end of the window, in seconds, at the look that raised it first) and
#'       whether it is `new` with this update}
#'     \item{limits}{a data frame with a row for each size from 2 on: the largest count
#'       that `chance` gives (the median over the surrogates), and the `limit`, the least
#'       count that raises an alarm; NA where there are too few surrogates to tell}
#'     \item{history}{a data frame with a row for each of the last `history` updates: `end`
#'       of the window (s), `recorded` (seconds of recording that came with it, at most
#'       `window`), `spikes` in the window, `episodes` found, how many were `risen`,
#'       `fallen`, `new` and `gone`, how many `alarms` there are, and the `seconds` it took
#'       to compute}
#'   }
#'   `as.data.frame()` gives `episodes` as a plain data frame. `summary()` gives an object
#'   of class `summary.episode_stream`, a list with `updates`, `recorded` and `seconds`
#'   over all updates, `real_time_factor` (`recorded / seconds`: above 1 the stream keeps
#'   up; NA before the first update), `slowest` (what `history` says of the slowest of all
#'   updates), `device`, the `memory` that the window takes (bytes; NA where it is mined anew
#'   at each update), `title`, `looks` for alarms so far and how many of them are `false`
#'   by chance at most, as expected (both 0 without `alarms`). `format()` gives one string.
#'
#' @section Errors:
#' Every error about an argument has the class `synfire_error_argument`: names that are no
#' arguments of [mine_episodes()]; what [mine_episodes()] and [as_spike_trains()] refuse;
#' another resolution; trials; time that runs backwards; spikes that are too late; `alarms`
#' that so many surrogates cannot show.
#' Errors of the search are those of [mine_episodes()].
#'
#' @references
#' Cao Y, Patnaik D, Ponce S, Archuleta J, Butler P, Feng W, Ramakrishnan N (2011).
#' Parallel mining of neuronal spike streams on graphics processing units.
#' *International Journal of Parallel Programming*, 40, 605-632.
#' \doi{10.1007/s10766-011-0181-6}
#'
#' Westfall PH, Young SS (1993). *Resampling-based multiple testing*. Wiley.
#'
#' @seealso [autoplot.episode_stream()] for the counts over time, [mine_episodes()] for a
#'   recording that is complete.
#' @examples
#' s <- episode_stream(c(0.02, 0.12), min_count = 8, window = 5, threads = 2)
#' for (end in 1:22) {
#'   block <- songbird[songbird$time > end - 1 & songbird$time <= end, c("time", "unit")]
#'   s <- update(s, as.data.frame(block), now = end)
#' }
#' s
#' head(s$changes)
#' summary(s)$real_time_factor
#' @export
episode_stream <- function(intervals, min_count = NULL, window, ..., resolution = 1e-6,
                           history = 1000, follow = 10, alarms = NULL, look = NULL,
                           n_surrogates = NULL, judge_after = NULL,
                           surrogate = "joint_isi", dither = NULL) {
  call <- match.call()
  arguments <- list(...)
  check_mining_names(arguments)
  check_given(intervals = "delay intervals in seconds, such as `c(0.005, 0.010)`",
              window = "the length of the window in seconds")
  window <- check_number(window, above = 0)
  resolution <- check_resolution(resolution)
  window_ticks <- seconds_to_ticks(window, resolution, "window")
  refuse_if(window_ticks < 1, "window", "at least one tick", paste(exact(window), "s"),
            "Give it in seconds, or use a finer `resolution`.")
  history <- check_count(history, max = 1e6)
  follow <- check_count(follow, min = 0, max = 1000)
  units <- stream_units(arguments$units)
  if (identical(arguments[["device"]], "auto")) arguments$device <- "cpu"
  arguments$intervals <- intervals
  arguments$min_count <- min_count
  arguments$units <- NULL
  alarming <- new_alarming(alarms, look, n_surrogates, judge_after, surrogate, dither,
                           window_ticks, resolution, arguments)

  nothing <- new_spike_trains(numeric(), factor(character(), units), 0, 0, resolution)
  # What mining refuses is refused before the experiment begins.
  episodes <- tryCatch(mine_window(nothing, arguments), rlang_error = function(condition) {
    condition$call <- call
    rlang::cnd_signal(condition)
  })
  structure(list(episodes = episodes, changes = episode_changes(episodes, episodes),
                 history = double(),
                 alarms = data.frame(episode = character(), size = integer(), count = integer(),
                                     limit = double(), p = double(), since = double(),
                                     new = logical()),
                 limits = data.frame(size = integer(), chance = double(), limit = double()),
                 window = window_ticks, resolution = resolution, arguments = arguments,
                 counting = no_counting(arguments), only = !is.null(units), start = NULL,
                 now = NULL, updates = 0, recorded = 0, seconds = 0, slowest = NULL,
                 keep = history, followed = follow_nothing(follow),
                 notes = new.env(parent = emptyenv()), alarming = alarming, call = call),
            class = c("episode_stream", "synfire_result"))
}

#' @rdname episode_stream
#' @importFrom stats update
#' @export
update.episode_stream <- function(object, new_spikes = NULL, now = NULL, ...) {
  begin_method(object)
  began <- wall_clock()
  # Of a plain list, elements are taken without methods.
  x <- unclass(object)
  block <- read_block(x, new_spikes, now)
  slid <- slide_kept_window(x, block) %||% slide_window(x, block)
  counted <- count_window(x, slid)

  since <- if (is.null(x$now)) block$start else x$now
  x$changes <- changes_since(x, counted)
  x$episodes <- counted$episodes
  x$counting <- counted$counting
  x$start <- min(x$start, block$start)
  x$now <- block$now
  if (!is.null(x$alarming)) x <- unclass(watch_stream(structure(x, class = class(object))))
  x$followed <- follow_on(x, counted)
  tally <- counted$tally %||% c(counted$rows,
                                tabulate(.subset2(x$changes, "status"), length(episode_status)))
  recorded <- ticks_to_seconds(min(block$now - since, x$window), x$resolution)
  seconds <- max(wall_clock() - began, 1e-6)
  row <- c(ticks_to_seconds(block$now, x$resolution), recorded, slid$spikes, tally,
           length(.subset2(x$alarms, "episode")), seconds)
  x$history <- note(x$notes, "history", as_history(x$history), row, x$keep)
  x$updates <- x$updates + 1
  x$recorded <- x$recorded + recorded
  x$seconds <- x$seconds + seconds
  if (is.null(x$slowest) || seconds > seconds_of(x$slowest)) x$slowest <- row
  class(x) <- class(object)
  x
}

# ---- Arguments -----------------------------------------------------------------------

check_mining_names <- function(arguments) {
  if (length(arguments) == 0L) return(invisible())
  taken <- setdiff(names(formals(mine_episodes)), c("x", "min_count", "intervals"))
  given <- names(arguments) %||% rep("", length(arguments))
  must <- "further arguments of `mine_episodes()`, each once and by name"
  hint <- "They are listed in `?mine_episodes`."
  other <- setdiff(given, taken)
  refuse_if(length(other), "...", must, if (other[[1L]] == "") "without a name for some" else
                                          paste0("`", other[[1L]], "`, which is none"), hint)
  refuse_if(anyDuplicated(given), "...", must,
            paste0("`", given[duplicated(given)][[1L]], "` twice"))
}

#' Units to mine, which need not have fired yet
#' @noRd
stream_units <- function(units) {
  if (is.null(units)) return(NULL)
  names <- unit_text(units)
  if (is.null(names)) abort_arg("units", "names of units", describe(units))
  unique(names)
}

#' What an update brings, in ticks and unit codes of the stream
#'
#' @return List: `tick` and `code`, by tick; `units`, all levels there are now; `start` of
#'   what was recorded and `now`, in ticks.
#' @noRd
read_block <- function(object, new_spikes, now) {
  resolution <- object$resolution
  reached <- object$now
  if (!is.null(now)) now <- seconds_to_ticks(check_number(now), resolution, "now")
  silent <- is.null(new_spikes) || !inherits(new_spikes, "spike_trains") &&
    is.list(new_spikes) && length(unlist(new_spikes, use.names = FALSE)) == 0L
  refuse_if(silent && is.null(now), "now", "given, in seconds, when there are no spikes", "NULL")
  units <- levels(.subset2(recording_of(object), "unit"))
  if (is.null(new_spikes)) {
    block <- list(tick = numeric(), code = integer(), start = now, now = now)
  } else {
    block <- .Call(r_plain_block, new_spikes, clock_of(resolution), units) %||%
      block_of(block_trains(new_spikes, resolution, if (silent) now), units, object$only)
  }
  if (is.null(block$units)) block$units <- units
  last <- max(block$tick, -Inf)
  block$now <- if (is.null(now)) max(block$now, reached) else now
  if (block$now < max(last, reached)) {
    seconds <- exact(ticks_to_seconds(c(max(last, reached), block$now), resolution))
    abort_arg("now", sprintf("at or after %s s, %s", seconds[[1L]],
                             if (last >= max(reached, -Inf)) "the last of `new_spikes`" else
                               "which the stream has reached"), paste(seconds[[2L]], "s"))
  }
  block
}

#' New spikes as spike trains on the clock of the stream
#' @noRd
block_trains <- function(new_spikes, resolution, silent_at) {
  if (inherits(new_spikes, "spike_trains")) {
    x <- check_spike_trains(new_spikes, "new_spikes", once = TRUE)
  } else {
    at <- if (!is.null(silent_at)) ticks_to_seconds(silent_at, resolution)
    x <- tryCatch(
      as_spike_trains(new_spikes, resolution = resolution, start = at, end = at),
      synfire_error_argument = function(condition) {
        condition["call"] <- list(NULL)   # a name from in here would say nothing
        cli::cli_abort("{.arg new_spikes} must be spikes that {.fn as_spike_trains} takes.",
                       class = c("synfire_error_argument", "synfire_error"),
                       parent = condition, call = user_frame())
      }
    )
  }
  refuse_if(attr(x, "resolution", exact = TRUE) != resolution, "new_spikes",
            sprintf("on the clock of the stream, with ticks of %s s", exact(resolution)),
            sprintf("on one with ticks of %s s", exact(attr(x, "resolution", exact = TRUE))),
            "Set up the stream with the `resolution` of the recording.")
  refuse_if(!is.null(attr(x, "trials", exact = TRUE)), "new_spikes", "without trials",
            "cut into trials",
            "`as.data.frame(new_spikes)[c(\"time\", \"unit\")]` leaves them out.")
  x
}

block_of <- function(x, units, only) {
  own <- levels(.subset2(x, "unit"))
  if (!only) units <- c(units, setdiff(own, units))
  tick <- train_ticks(x)
  code <- match(own, units)[as.integer(.subset2(x, "unit"))]
  bounds <- interval_ticks(x)
  if (only) {
    tick <- tick[!is.na(code)]
    code <- code[!is.na(code)]
  }
  list(tick = tick, code = code, units = units, start = bounds[[1L]], now = bounds[[2L]])
}

# ---- The window ----------------------------------------------------------------------

#' The window moved on to the end of a block
#'
#' Times are compared as they stand: one is made from its tick alone, and a later tick
#' has a later time.
#' @return List: the `recording` in the window; has it `changed`? Where the spikes that
#'   are new all come after those known, `come` has their ticks and codes; `gone` is the
#'   number of those that left, and `cut` the last tick before the window.
#' @noRd
slide_window <- function(object, block) {
  resolution <- object$resolution
  old <- recording_of(object)
  check_spike_trains(old, "attr(object$episodes, \"recording\")", once = TRUE)
  time <- .subset2(old, "time")
  code <- as.integer(.subset2(old, "unit"))
  cut <- block$now - object$window
  # As a rule all spikes of a block are later than those known. Otherwise those from the
  # first of the block on are merged with it; the rest is never looked at.
  first <- min(block$tick, block$now + 1)
  at <- findInterval(ticks_to_seconds(c(cut, first - 1), resolution), time)
  gone <- at[[1L]]
  before <- at[[2L]]
  tail <- if (before < length(time)) seq.int(before + 1L, length(time))
  tail_tick <- round_to_ticks(time[tail], resolution)

  new <- !complex(real = block$tick, imaginary = block$code) %in%
    complex(real = tail_tick, imaginary = code[tail])
  check_not_too_late(object, block$tick[new], cut)
  new <- new & block$tick > cut
  still <- tail_tick > cut
  changed <- gone > 0L || any(new)
  if (changed) {
    body <- if (gone < before) seq.int(gone + 1L, before)
    tick <- c(tail_tick[still], block$tick[new])
    merged <- c(code[tail][still], block$code[new])
    o <- order(tick, merged, method = "radix")
    time <- c(time[body], ticks_to_seconds(tick[o], resolution))
    code <- c(code[body], merged[o])
  }
  last <- if (length(tail_tick)) tail_tick[[length(tail_tick)]] else -Inf
  in_order <- before == length(time) || all(block$tick[new] >= last)
  list(recording = window_recording(object, block, time,
                                    structure(code, levels = block$units, class = "factor")),
       spikes = length(time), changed = changed, cut = cut, gone = gone + sum(!still),
       come = if (in_order) list(tick = block$tick[new], code = block$code[new]))
}
