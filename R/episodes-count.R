# Episodes written down by hand or mined elsewhere, and counting them.

#' Write down an episode
#'
#' Makes an episode by hand, to count it with [count_episodes()] or look for it with
#' [episode_occurrences()]. Several are joined by `c()`.
#'
#' @param units Units in order of firing: a character or numeric vector or a factor.
#'   Units may repeat.
#' @param low,high Bounds in seconds of the delay before each unit but the first, so one
#'   fewer than units, or a single number for all. A delay `d` has `low < d <= high`, with
#'   `0 <= low < high`.
#' @return An `episodes` table of one row, as [mine_episodes()] gives it, whose count and
#'   support are `NA`.
#' @section Errors:
#' Errors have the class `synfire_error_argument`.
#' @examples
#' c(
#'   episode(c("A", "B", "C"), low = 0.005, high = 0.010),
#'   episode(c("A", "A"), low = 0, high = 0.005)
#' )
#' @export
episode <- function(units, low, high) {
  if (missing(units)) abort_arg("units", "units in order of firing", "missing")
  names <- unit_text(units)
  refuse_if(is.null(names), "units", "at least one unit, none of them missing", describe(units))
  units <- names
  edges <- length(units) - 1L
  if (edges == 0L) {
    low <- high <- numeric()
  } else {
    low <- check_edges(low, "low", edges)
    high <- check_edges(high, "high", edges)
    bad <- which(low < 0 | low >= high)
    if (length(bad)) {
      k <- bad[[1L]]
      abort_arg("low", "at least 0 and below `high`",
                paste0(format(low[[k]]), " before unit ", k + 1L, ", where `high` is ",
                       format(high[[k]])))
    }
  }
  new_episodes(list(episode = episode_text(list(units), list(low), list(high)),
                    size = length(units), count = NA_integer_, support = NA_real_,
                    units = list(units), low = list(low), high = list(high)), list())
}

check_edges <- function(x, arg, edges) {
  ok <- !missing(x) && is_plain_numeric(x) && all(is.finite(x)) && length(x) %in% c(1L, edges)
  refuse_if(!ok, arg, paste0("one number of seconds, or ", edges, ", one before each unit ",
                             "but the first"), describe(x))
  rep_len(as.double(x), edges)
}

#' Count given episodes in a recording
#'
#' Counts the non-overlapped occurrences of chosen episodes, such as those mined from
#' another recording or written down with [episode()]; [mine_episodes()] defines the
#' count.
#'
#' A GPU pays off for many episodes of the same size: thousands, or a long recording.
#'
#' @inheritParams mine_episodes
#' @param episodes An `episodes` table from [mine_episodes()] or [episode()]. Bounds must
#'   be whole ticks of this recording.
#' @param engine Who counts on a GPU: `"auto"` is `"hybrid"`; [mine_episodes()] describes
#'   them. The CPU has one engine only.
#' @param device `"cpu"` or `"gpu"`.
#' @return The table `episodes`, in the same order, with `count` and `support` in `x`.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; a unit that is none
#' of the recording is one of them, a unit that is silent has count 0. A GPU that is not
#' there or fails gives `synfire_error_device`.
#' @inherit mine_episodes references
#' @examples
#' x <- spike_trains(c(0.001, 0.004, 0.020, 0.024), c("A", "B", "A", "B"))
#' count_episodes(x, episode(c("A", "B"), low = 0, high = 0.005))
#' @export
count_episodes <- function(x, episodes,
                           engine = c("auto", "ptpe", "mtpe", "hybrid", "occurrence"),
                           device = c("cpu", "gpu"), gpus = NULL, threads = NULL) {
  begun <- check_given(x = "a recording", episodes = "an `episodes` table")
  x <- as_spike_trains(x)
  codes <- episode_codes(episodes, x)
  threads <- check_threads(threads)
  device <- check_choice(device)
  engine <- check_choice(engine)
  refuse_if(device == "cpu" && engine != "auto", "engine", "\"auto\" with `device = \"cpu\"`",
            describe(engine), "Or give `device = \"gpu\"`.")
  gpus <- check_place(device, gpus)
  events <- trains_of(x)
  if (device == "gpu") {
    if (engine == "auto") engine <- "hybrid"
    count <- gpu_count_all(events, codes, gpu_request(engine, gpus))
  } else {
    count <- .Call(r_count_episodes, events, codes$units, codes$low, codes$high, threads)
    count <- finish_status(count, "counting these episodes",
                           "Count fewer episodes at a time.", limit_of = "spikes")
  }
  columns <- as.list(episodes)[episode_columns]
  columns$count <- count
  columns$support <- count / max(1, count_in_trials(events))
  new_episodes(columns, list(recording = x, engine = engine, device = device,
                             threads = threads, call = begun$call))
}
