# Neurodata Without Borders 2: spike times of `/units`, tables of `/intervals`, and what is
# known of units and electrodes. HDF5 itself is hdf5r's; what is here is the schema's layout
# of ragged columns.

# Spikes held at once; of a range, a file with fewer is read whole.
nwb_block <- 2^22

read_nwb <- function(h5, fail, unit_column, resolution, trials, range, block = nwb_block) {
  if (!is.null(unit_column)) check_string(unit_column, "unit_column")
  open <- \(name) h5_open(h5, name, fail)
  units <- open("/units")
  fail_if(is.null(units), fail,
          if (h5_try(h5$attr_exists("nwb_version"), "/", fail)) {
            "it has no `/units`, so no sorted spikes"
          } else {
            "it is an HDF5 file without `/units`, so no NWB file with spikes"
          })
  on.exit(close_read(units), add = TRUE, after = FALSE)
  needed <- c("spike_times", "spike_times_index")
  fail_if(!inherits(units, "H5Group") ||
          !all(vapply(needed, \(name) h5_has(units, name, fail), logical(1))), fail,
          "its `/units` has no spike times (`spike_times` and `spike_times_index`)")

  times <- open("/units/spike_times")
  on.exit(close_read(times), add = TRUE, after = FALSE)
  if (!inherits(times, "H5D")) fail("`/units/spike_times` is no data set")
  n <- h5_extent(times, "/units/spike_times", fail)
  if (length(n) != 1L) fail("`/units/spike_times` must have one dimension")
  last <- h5_numbers(h5, "/units/spike_times_index", fail)
  # A column of ends, one a unit, that cuts the times into runs.
  fail_if(anyNA(last) || any(last != round(last)) || is.unsorted(c(0, last)) ||
          (length(last) > 0L && last[[length(last)]] != n) || (length(last) == 0L && n > 0), fail,
          "`/units/spike_times_index` does not fit `/units/spike_times`",
          "It must hold whole numbers that never decrease, the last one the number of spikes.")
  names <- nwb_unit_names(h5, units, unit_column, length(last), fail)

  spikes <- nwb_times(times, n, last, resolution, range, block, fail)
  place <- nwb_table_of_trials(h5, trials, fail)
  trial_table <- if (!is.null(place)) nwb_trials(h5, place, resolution, fail)
  observed <- nwb_observed(h5, resolution, fail)
  cover <- c(spikes$cover, observed,
             round_to_ticks(c(trial_table$start, trial_table$end), resolution))
  known <- nwb_unit_columns(h5, units, length(last), unit_column %||% "id", fail)
  named_units(spikes$code, names, known, ticks = spikes$ticks, trials = trial_table,
              cover = if (length(cover)) base::range(cover))
}

# ---- Spikes ------------------------------------------------------------------------

#' Ticks and unit numbers of the spikes within `range`, and the ticks all of them cover
#' @noRd
nwb_times <- function(times, n, last, resolution, range, block, fail) {
  limit <- if (is.null(range)) c(-Inf, Inf) else {
    ifelse(is.finite(range), round_to_ticks(range, resolution), range)
  }
  # The type and the size are looked at once.
  checked <- FALSE
  read <- \(at) {
    value <- as.double(h5_read(times, "/units/spike_times", fail, "numbers", at, checked))
    checked <<- TRUE
    fail_if(!all(is.finite(value)), fail,
            sprintf("`/units/spike_times` is not finite for some spikes, first number %s",
                    commas(at[!is.finite(value)][[1L]])))
    round_to_ticks(value, resolution)
  }
  if (!is.null(range) && n > block && search_pays(times, n, last, fail)) {
    found <- nwb_search(read, last, limit)
    if (!is.null(found)) return(found)
  }
  first <- 0
  ticks <- list()
  code <- list()
  cover <- NULL
  while (first < n) {
    until <- min(first + block, n)
    value <- read((first + 1):until)
    cover <- base::range(cover, value)
    keep <- which(value >= limit[[1L]] & value <= limit[[2L]])
    ticks[[length(ticks) + 1L]] <- value[keep]
    # Spike k (from 0) is of the first unit whose end lies beyond it.
    code[[length(code) + 1L]] <- findInterval(first + keep - 1, last) + 1L
    first <- until
  }
  list(ticks = as.double(unlist(ticks)), code = as.integer(unlist(code)), cover = cover)
}

#' Whether a search reads less than all: a look into a chunk unpacks all of it
#' @noRd
search_pays <- function(times, n, last, fail) {
  chunk <- h5_try(suppressWarnings(as.double(times$chunk_dims)), "/units/spike_times", fail)
  length(chunk) != 1L || is.na(chunk) || 4 * chunk * length(last) < n
}

#' The same, of a file in which the times of each unit ascend
#'
#' The place of a time is guessed from the first and the last spike of the unit; what lies
#' around is read, and more of it until both bounds are reached.
#' @param read Gives the ticks at some places, which follow one another.
#' @param margin Spikes read before and after the guess.
#' @return `NULL` where it turns out that the times of some unit do not ascend.
#' @noRd
nwb_search <- function(read, last, limit, margin = 2048) {
  first <- c(0, last[-length(last)]) + 1
  filled <- which(last >= first)
  first <- first[filled]
  last <- last[filled]
  at <- sort(unique(c(first, last)))
  ends <- read(at)
  lowest <- ends[match(first, at)]
  highest <- ends[match(last, at)]
  if (any(lowest > highest)) return(NULL)
  found <- Map(\(first, last, lowest, highest) {
    if (highest < limit[[1L]] || lowest > limit[[2L]]) return(double())
    place <- \(tick) first + (last - first) *
      min(max((tick - lowest) / max(1, highest - lowest), 0), 1)
    from <- max(first, floor(place(limit[[1L]])) - margin)
    to <- min(last, ceiling(place(limit[[2L]])) + margin)
    ticks <- read(from:to)
    step <- margin
    while (from > first && ticks[[1L]] >= limit[[1L]]) {
      step <- 2 * step
      before <- max(first, from - step)
      ticks <- c(read(before:(from - 1)), ticks)
      from <- before
    }
    while (to < last && ticks[[length(ticks)]] <= limit[[2L]]) {
      step <- 2 * step
      after <- min(last, to + step)
      ticks <- c(ticks, read((to + 1):after))
      to <- after
    }
    if (is.unsorted(c(lowest, ticks, highest))) return(NULL)
    ticks[ticks >= limit[[1L]] & ticks <= limit[[2L]]]
  }, first, last, lowest, highest)
  if (any(vapply(found, is.null, NA))) return(NULL)
  list(ticks = as.double(unlist(found)), code = rep(filled, lengths(found)),
       cover = c(min(lowest), max(highest)))
}

# ---- Units -------------------------------------------------------------------------

nwb_unit_names <- function(h5, units, unit_column, n, fail) {
  column <- unit_column %||% "id"
  name <- paste0("/units/", column)
  if (!h5_has(units, column, fail)) {
    fail_if(!is.null(unit_column), fail,
            sprintf("`/units` has no column \"%s\"; it has %s", column,
                    some(printable(h5_try(names(units), "/units", fail)), 12L)),
            "Say another one with `unit_column`.")
    return(number_labels(seq_len(n) - 1))
  }
  value <- h5_use(h5, name, fail, \(set) {
    fail_if(!inherits(set, "H5D") || !identical(h5_extent(set, name, fail), as.double(n)), fail,
            sprintf("`%s` does not have one value for each unit", name))
    h5_read(set, name, fail, c("numbers", "words"))
  })
  unit_names(value) %||% fail(sprintf("`%s` does not name each unit differently", name),
                              "Say another column with `unit_column`.")
}

#' The columns of `/units` with one value for each unit, and those of their electrodes
#' @noRd
nwb_unit_columns <- function(h5, units, n, names_are, fail) {
  if (n == 0) return(NULL)
  known <- nwb_scalar_columns(units, "/units", n, c(names_are, "spike_times"), fail)
  row <- nwb_electrode_of(h5, units, n, fail)
  if (is.null(row)) return(known)
  place <- "general/extracellular_ephys/electrodes"
  if (!h5_has_path(h5, place, fail)) return(known)
  electrodes <- h5_open(h5, place, fail)
  on.exit(close_read(electrodes))
  if (!inherits(electrodes, "H5Group") || !h5_has(electrodes, "id", fail)) return(known)
  id <- h5_numbers(h5, paste0("/", place, "/id"), fail, as_read = TRUE)
  fail_if(any(row < 0 | row >= length(id) | row != round(row)), fail,
          "`/units/electrodes` names rows that the table of electrodes does not have")
  of_them <- nwb_scalar_columns(electrodes, paste0("/", place), length(id), "id", fail)
  twice <- names(of_them) %in% names(known)
  names(of_them)[twice] <- paste0("electrode_", names(of_them)[twice])
  c(known, lapply(c(list(electrode = id), of_them), `[`, row + 1))
}

#' Row (from 0) of the electrode of each unit, or `NULL` unless each has one
#' @noRd
nwb_electrode_of <- function(h5, units, n, fail) {
  if (!h5_has(units, "electrodes", fail)) return(NULL)
  row <- h5_numbers(h5, "/units/electrodes", fail)
  if (length(row) != n) return(NULL)
  if (h5_has(units, "electrodes_index", fail) &&
        !identical(h5_numbers(h5, "/units/electrodes_index", fail), as.double(seq_len(n)))) {
    return(NULL)
  }
  row
}

#' Columns of a table of the schema that have one value for each of its `n` rows
#'
#' A column with an index beside it has any number of values in a row. Links to other parts
#' of the file are left out.
#' @param but Columns that are known already.
#' @noRd
nwb_scalar_columns <- function(group, path, n, but, fail) {
  names <- h5_try(names(group), path, fail)
  ragged <- sub("_index$", "", grep("_index$", names, value = TRUE))
  names <- setdiff(names, c(but, ragged, paste0(ragged, "_index"), "electrodes", "obs_intervals"))
  columns <- lapply(rlang::set_names(names), \(name) {
    h5_column(group, name, paste0(path, "/", name), n, fail)
  })
  names(columns) <- printable(names)
  columns[lengths(columns) > 0L]
}

# ---- Intervals ---------------------------------------------------------------------

#' Where the table of trials is, or `NULL` for none
#' @param trials `FALSE`, `TRUE` for the table `trials` where there is one, or the name of
#'   another.
#' @noRd
nwb_table_of_trials <- function(h5, trials, fail) {
  if (isFALSE(trials)) return(NULL)
  name <- if (isTRUE(trials)) "trials" else sub("^/?(intervals/)?", "", trials)
  there <- h5_has(h5, "intervals", fail)
  place <- paste0("/intervals/", name)
  if (there && h5_has(h5, paste0("intervals/", name), fail)) return(place)
  tables <- if (there) h5_use(h5, "/intervals", fail, \(group) {
    printable(h5_try(names(group), "/intervals", fail))
  })
  if (isTRUE(trials)) {
    if (length(tables)) {
      tell_trials("The file has no trials, but other intervals: %s.",
                  sprintf("%s. `trials = \"%s\"` reads these as trials", some(tables, 12L),
                          tables[[1L]]))
    }
    return(NULL)
  }
  fail(sprintf("it has no `%s`", place),
       if (length(tables)) sprintf("`/intervals` has %s.", some(tables, 12L)) else
         "It has no intervals at all: leave `trials` out.")
}

nwb_trials <- function(h5, place, resolution, fail) {
  table <- h5_open(h5, place, fail)
  on.exit(close_read(table))
  leave_out <- "Leave trials out with `trials = FALSE`."
  fail_if(!inherits(table, "H5Group") || !h5_has(table, "start_time", fail) ||
            !h5_has(table, "stop_time", fail), fail,
          sprintf("`%s` has no `start_time` and `stop_time`", place), leave_out)
  column <- \(name, ...) h5_numbers(h5, paste0(place, "/", name), fail, ...)
  start <- column("start_time")
  end <- column("stop_time")
  if (length(start) == 0L) return(NULL)
  fail_if(length(start) != length(end) || !all(is.finite(c(start, end))), fail,
          sprintf("`%s` has trials without a start or a stop", place), leave_out)
  id <- if (h5_has(table, "id", fail)) column("id", as_read = TRUE) else seq_along(start)
  fail_if(length(id) != length(start) || anyNA(id) || anyDuplicated(id), fail,
          sprintf("`%s/id` does not number each trial differently", place), leave_out)
  start <- round_to_ticks(start, resolution)
  end <- round_to_ticks(end, resolution)
  fail_if(any(abs(c(start, end)) >= 2^53), fail,
          sprintf("`%s` has times beyond 2^53 ticks of `resolution`", place), leave_out)
  long <- end > start
  o <- order(start)
  o <- o[long[o]]
  fail_if(any(end < start) || any(end[o][-length(o)] > start[o][-1L]), fail,
          sprintf("`%s` has intervals that overlap, or end before they start", place),
          leave_out)
  if (!any(long)) fail(sprintf("no trial of `%s` has a length above zero", place), leave_out)
  if (!all(long)) {
    tell_trials("%s a length of zero, and the recording is read without.", sprintf(
      "%s of %s in `%s` %s", commas(sum(!long)), counted(length(long), "trial"), place,
      if (sum(!long) == 1L) "has" else "have"))
  }
  known <- nwb_scalar_columns(table, place, length(start), c("id", "start_time", "stop_time"),
                              fail)
  known <- c(known, nwb_ragged_words(h5, table, place, length(start), fail))
  names(known) <- make.unique(c("trial", "start", "end", names(known)))[-(1:3)]
  trials <- list(trial = id, start = ticks_to_seconds(start, resolution),
                 end = ticks_to_seconds(end, resolution))
  out <- as.data.frame(c(trials, known), optional = TRUE, stringsAsFactors = FALSE)[long, ,
                                                                                    drop = FALSE]
  rownames(out) <- NULL
  out
}

#' The tags of each interval, joined by commas
#' @noRd
nwb_ragged_words <- function(h5, table, place, n, fail) {
  if (!h5_has(table, "tags", fail) || !h5_has(table, "tags_index", fail)) return(NULL)
  last <- h5_numbers(h5, paste0(place, "/tags_index"), fail)
  path <- paste0(place, "/tags")
  words <- h5_use(h5, path, fail, \(set) h5_read(set, path, fail, "words"))
  if (length(last) != n || anyNA(last) || is.unsorted(c(0, last)) || last[[n]] != length(words)) {
    fail(sprintf("`%s_index` does not fit `%s`", path, path))
  }
  row <- factor(findInterval(seq_along(words) - 1, last) + 1L, levels = seq_len(n))
  list(tags = unname(vapply(split(clean_text(words), row), toString, "")))
}

#' First and last tick of the observation intervals, or NULL
#' @noRd
nwb_observed <- function(h5, resolution, fail) {
  if (!h5_has(h5, "units/obs_intervals", fail)) return(NULL)
  value <- h5_numbers(h5, "/units/obs_intervals", fail)
  value <- value[is.finite(value)]
  if (length(value)) round_to_ticks(base::range(value), resolution)
}
