# Neurodata Without Borders 2: spike times of `/units`, trials of `/intervals/trials`.
# HDF5 itself is hdf5r's; what is here is the schema's layout of ragged columns.

# Spikes held at once while a range is cut out of a larger file.
nwb_block <- 2^22

read_nwb <- function(file, unit_column, resolution, trials, range, call,
                     block = nwb_block) {
  rlang::check_installed("hdf5r", "to read NWB files.", call = call)
  if (!is.null(unit_column)) check_string(unit_column, "unit_column", call)
  h5 <- open_given_h5(file, call)
  on.exit(close_read(h5))
  fail <- \(what, hint = NULL) abort_file(file, what, hint, call = call)
  open <- \(name) h5_open(h5, name, fail)
  if (is.null(units <- open("/units"))) {
    fail(if (h5_try(h5$attr_exists("nwb_version"), "/", fail)) {
      "it has no `/units`, so no sorted spikes"
    } else {
      "it is an HDF5 file without `/units`, so no NWB file with spikes"
    })
  }
  on.exit(close_read(units), add = TRUE, after = FALSE)
  needed <- c("spike_times", "spike_times_index")
  if (!inherits(units, "H5Group") || !all(vapply(needed, \(name) h5_has(units, name, fail), logical(1)))) {
    fail("its `/units` has no spike times (`spike_times` and `spike_times_index`)")
  }

  times <- open("/units/spike_times")
  on.exit(close_read(times), add = TRUE, after = FALSE)
  if (!inherits(times, "H5D")) fail("`/units/spike_times` is no data set")
  n <- h5_extent(times, "/units/spike_times", fail)
  if (length(n) != 1L) fail("`/units/spike_times` must have one dimension")
  last <- nwb_numbers(h5, "/units/spike_times_index", fail)
  # A column of ends, one a unit, that cuts the times into runs.
  if (anyNA(last) || any(last != round(last)) || is.unsorted(c(0, last)) ||
      (length(last) > 0L && last[[length(last)]] != n) || (length(last) == 0L && n > 0)) {
    fail("`/units/spike_times_index` does not fit `/units/spike_times`",
         "It must hold whole numbers that never decrease, the last one the number of spikes.")
  }
  unit_levels <- nwb_unit_names(h5, units, unit_column, length(last), fail)

  spikes <- nwb_times(times, n, last, resolution, range, block, fail)
  trial_table <- if (trials) nwb_trials(h5, resolution, fail)
  observed <- nwb_observed(h5, resolution, fail)
  cover <- c(spikes$cover, observed,
             round_to_ticks(c(trial_table$start, trial_table$end), resolution))
  o <- natural_order(unit_levels)
  list(
    ticks = spikes$ticks,
    unit = structure(match(spikes$code, o), levels = unit_levels[o], class = "factor"),
    trials = trial_table,
    cover = if (length(cover)) base::range(cover)
  )
}

#' Ticks and unit numbers of the spikes within `range`, and the ticks all of them cover
#'
#' Read in blocks, so that a short range of a long recording needs little memory.
#' @noRd
nwb_times <- function(times, n, last, resolution, range, block, fail) {
  limit <- if (is.null(range)) c(-Inf, Inf) else {
    ifelse(is.finite(range), round_to_ticks(range, resolution), range)
  }
  first <- 0
  ticks <- list()
  code <- list()
  cover <- NULL
  while (first < n) {
    until <- min(first + block, n)
    value <- as.double(h5_read(times, "/units/spike_times", fail, "numbers", first + 1, until))
    if (!all(is.finite(value))) {
      at <- which(!is.finite(value))
      fail(sprintf("`/units/spike_times` is not finite for some spikes, first number %s",
                   commas(first + at[[1L]])))
    }
    value <- round_to_ticks(value, resolution)
    cover <- base::range(cover, value)
    keep <- which(value >= limit[[1L]] & value <= limit[[2L]])
    ticks[[length(ticks) + 1L]] <- value[keep]
    # Spike k (from 0) is of the first unit whose end lies beyond it.
    code[[length(code) + 1L]] <- findInterval(first + keep - 1, last) + 1L
    first <- until
  }
  list(ticks = as.double(unlist(ticks)), code = as.integer(unlist(code)), cover = cover)
}

nwb_unit_names <- function(h5, units, unit_column, n, fail) {
  column <- unit_column %||% "id"
  name <- paste0("/units/", column)
  if (!h5_has(units, column, fail)) {
    if (!is.null(unit_column)) {
      fail(sprintf("`/units` has no column \"%s\"; it has %s", column,
                   some(printable(h5_try(names(units), "/units", fail)), 12L)),
           "Say another one with `unit_column`.")
    }
    return(number_labels(seq_len(n) - 1))
  }
  value <- h5_use(h5, name, fail, \(set) {
    if (!inherits(set, "H5D") || !identical(h5_extent(set, name, fail), as.double(n))) {
      fail(sprintf("`%s` does not have one value for each unit", name))
    }
    h5_read(set, name, fail, c("numbers", "words"))
  })
  label <- if (is.numeric(value)) number_labels(as.double(value)) else clean_text(value)
  if (anyNA(label) || any(label == "") || anyDuplicated(label)) {
    fail(sprintf("`%s` does not name each unit differently", name),
         "Say another column with `unit_column`.")
  }
  label
}

nwb_trials <- function(h5, resolution, fail) {
  place <- "/intervals/trials"
  if (!h5_has(h5, "intervals", fail) || !h5_has(h5, "intervals/trials", fail)) return(NULL)
  has <- \(column) h5_has(h5, paste0("intervals/trials/", column), fail)
  leave_out <- "Leave trials out with `trials = FALSE`."
  if (!h5_use(h5, place, fail, \(table) inherits(table, "H5Group")) ||
      !has("start_time") || !has("stop_time")) {
    fail("`/intervals/trials` has no `start_time` and `stop_time`", leave_out)
  }
  start <- nwb_numbers(h5, "/intervals/trials/start_time", fail)
  end <- nwb_numbers(h5, "/intervals/trials/stop_time", fail)
  if (length(start) == 0L) return(NULL)
  if (length(start) != length(end) || !all(is.finite(c(start, end)))) {
    fail("`/intervals/trials` has trials without a start or a stop", leave_out)
  }
  id <- if (has("id")) nwb_numbers(h5, "/intervals/trials/id", fail, as_read = TRUE) else
    seq_along(start)
  if (length(id) != length(start) || anyNA(id) || anyDuplicated(id)) {
    fail("`/intervals/trials/id` does not number each trial differently", leave_out)
  }
  bounds <- round_to_ticks(c(start, end), resolution)
  if (any(abs(bounds) >= 2^53)) {
    fail("`/intervals/trials` has times beyond 2^53 ticks of `resolution`", leave_out)
  }
  data.frame(
    trial = id,
    start = ticks_to_seconds(round_to_ticks(start, resolution), resolution),
    end = ticks_to_seconds(round_to_ticks(end, resolution), resolution)
  )
}

#' First and last tick of the observation intervals, or NULL
#' @noRd
nwb_observed <- function(h5, resolution, fail) {
  if (!h5_has(h5, "units/obs_intervals", fail)) return(NULL)
  value <- nwb_numbers(h5, "/units/obs_intervals", fail)
  value <- value[is.finite(value)]
  if (length(value)) round_to_ticks(base::range(value), resolution)
}

#' Numbers of a data set as doubles, or where `as_read` as integers where they are those
#' @noRd
nwb_numbers <- function(h5, name, fail, as_read = FALSE) {
  value <- h5_use(h5, name, fail, \(set) h5_read(set, name, fail))
  if (as_read) as.vector(value) else as.double(value)
}
