# Neurodata Without Borders 2: spike times of `/units`, trials of `/intervals/trials`.
# HDF5 itself is hdf5r's; what is here is the schema's layout of ragged columns.

# Spikes held at once while a range is cut out of a larger file.
nwb_block <- 2^22

read_nwb <- function(file, unit_column, resolution, trials, range, call,
                     block = nwb_block) {
  rlang::check_installed("hdf5r", "to read NWB files.", call = call)
  if (!is.null(unit_column)) check_string(unit_column, "unit_column", call)
  h5 <- tryCatch(
    hdf5r::H5File$new(file, mode = "r"),
    error = \(e) abort_file(file, "it is a damaged HDF5 file", call = call)
  )
  on.exit(h5$close_all())
  fail <- \(what, hint = NULL) abort_file(file, what, hint, call = call)
  if (!h5$exists("units")) {
    fail(if (h5$attr_exists("nwb_version")) "it has no `/units`, so no sorted spikes" else
      "it is an HDF5 file without `/units`, so no NWB file with spikes")
  }
  units <- h5[["units"]]
  needed <- c("spike_times", "spike_times_index")
  if (!inherits(units, "H5Group") || !all(needed %in% names(units))) {
    fail("its `/units` has no spike times (`spike_times` and `spike_times_index`)")
  }

  times <- units[["spike_times"]]
  n <- prod(times$dims)
  if (length(times$dims) != 1L) fail("`/units/spike_times` must have one dimension")
  last <- nwb_numbers(units[["spike_times_index"]], "/units/spike_times_index", fail)
  # A column of ends, one a unit, that cuts the times into runs.
  if (is.unsorted(c(0, last)) || (length(last) > 0L && last[[length(last)]] != n) ||
      (length(last) == 0L && n > 0)) {
    fail("`/units/spike_times_index` does not fit `/units/spike_times`")
  }
  unit_levels <- nwb_unit_names(units, unit_column, length(last), fail)

  spikes <- nwb_times(times, n, last, resolution, range, block, fail)
  trial_table <- if (trials) nwb_trials(h5, resolution, fail)
  observed <- nwb_observed(units, resolution, fail)
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
    value <- nwb_numbers(times, "/units/spike_times", fail, first + 1, until)
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

nwb_unit_names <- function(units, unit_column, n, fail) {
  column <- unit_column %||% "id"
  if (!column %in% names(units)) {
    if (!is.null(unit_column)) {
      fail(sprintf("`/units` has no column \"%s\"; it has %s", column, some(names(units), 12L)),
           "Say another one with `unit_column`.")
    }
    return(number_labels(seq_len(n) - 1))
  }
  value <- units[[column]]
  if (!inherits(value, "H5D") || length(value$dims) != 1L || value$dims != n) {
    fail(sprintf("`/units/%s` does not have one value for each unit", column))
  }
  value <- nwb_plain(value$read())
  label <- if (is.numeric(value)) number_labels(as.double(value)) else enc2utf8(as.character(value))
  if (anyNA(label) || anyDuplicated(label)) {
    fail(sprintf("`/units/%s` does not name each unit differently", column),
         "Say another column with `unit_column`.")
  }
  label
}

nwb_trials <- function(h5, resolution, fail) {
  if (!h5$exists("intervals") || !h5[["intervals"]]$exists("trials")) return(NULL)
  table <- h5[["intervals/trials"]]
  if (!all(c("start_time", "stop_time") %in% names(table))) {
    fail("`/intervals/trials` has no `start_time` and `stop_time`",
         "Leave trials out with `trials = FALSE`.")
  }
  start <- nwb_numbers(table[["start_time"]], "/intervals/trials/start_time", fail)
  end <- nwb_numbers(table[["stop_time"]], "/intervals/trials/stop_time", fail)
  if (length(start) == 0L) return(NULL)
  if (length(start) != length(end) || !all(is.finite(c(start, end)))) {
    fail("`/intervals/trials` has trials without a start or a stop",
         "Leave trials out with `trials = FALSE`.")
  }
  id <- if ("id" %in% names(table)) nwb_plain(table[["id"]]$read()) else seq_along(start)
  data.frame(
    trial = id,
    start = ticks_to_seconds(round_to_ticks(start, resolution), resolution),
    end = ticks_to_seconds(round_to_ticks(end, resolution), resolution)
  )
}

#' First and last tick of the observation intervals, or NULL
#' @noRd
nwb_observed <- function(units, resolution, fail) {
  if (!"obs_intervals" %in% names(units)) return(NULL)
  value <- nwb_numbers(units[["obs_intervals"]], "/units/obs_intervals", fail)
  value <- value[is.finite(value)]
  if (length(value)) round_to_ticks(base::range(value), resolution)
}

#' Numbers of a data set as doubles, all or from `first` to `last`
#' @noRd
nwb_numbers <- function(set, name, fail, first = NULL, last = NULL) {
  if (!inherits(set, "H5D")) fail(sprintf("`%s` is no data set", name))
  if (prod(set$dims) == 0) return(double())
  value <- nwb_plain(if (is.null(first)) set$read() else set[first:last])
  if (!is.numeric(value)) fail(sprintf("`%s` must hold numbers", name))
  as.double(value)
}

#' 64-bit integers of hdf5r as doubles
#' @noRd
nwb_plain <- function(value) {
  # hdf5r brings the package bit64 along, and with it this method of as.double().
  if (inherits(value, "integer64")) as.double(value) else value
}
