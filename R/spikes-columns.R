# Finds the columns with times, units and trials in a table with any names.

#' Which columns hold time and unit, by name or as the caller says
#'
#' @return `time` (number), `unit` (numbers), `said` (unit of time or NA).
#' @noRd
find_columns <- function(names, time_column = NULL, unit_column = NULL, fail = NULL) {
  fail <- fail %||% \(what, hint) {
    abort_arg("x", "a table with a column of times and one of units",
              paste("one where", what), hint)
  }
  parsed <- parse_column_name(names)
  listed <- if (length(names)) some(encodeString(names, quote = "\""), 12L) else "none"
  only <- \(found, what, hint) {
    if (length(found) == 1L) return(found)
    fail(sprintf("%s a column of %s; columns: %s",
                 if (length(found)) "more than one name fits" else "no name fits", what, listed),
         hint)
  }

  time <- if (!is.null(time_column)) {
    pick_column(time_column, names, "time_column", FALSE)
  } else {
    found_time <- which(parsed$bare %in% time_names)
    # A plain name goes before a decorated one, such as `time` before `t`.
    plain <- found_time[tolower(names[found_time]) == "time"]
    only(if (length(plain) == 1L) plain else found_time, "times",
         "Say which one with `time_column`.")
  }
  unit <- if (!is.null(unit_column)) {
    pick_column(unit_column, names, "unit_column", TRUE)
  } else {
    found_unit <- setdiff(which(grepl(unit_name_pattern, parsed$bare)), time)
    if (length(found_unit) == 0L) {
      found_unit <- setdiff(which(parsed$bare %in% c("id", "ids", "label", "name")), time)
    }
    only(found_unit, "units", paste("Say which one with `unit_column`;",
                                    "several, such as channel and unit, together name a unit."))
  }
  refuse_if(time %in% unit, "unit_column", "another column than `time_column`", "the same")
  list(time = time, unit = unit, said = parsed$said[[time]])
}

#' Columns that name the trial of each spike, and others that may
#'
#' @param used Columns that are taken already.
#' @return `trial`, numbers of columns, none where nothing says that there are trials;
#'   `doubt`, numbers of those whose values `file_trial()` must look at.
#' @noRd
find_trial <- function(names, trial_column, used) {
  none <- \(at = integer()) list(trial = at, doubt = integer())
  if (length(trial_column) == 1L && is.atomic(trial_column) && is.na(trial_column)) return(none())
  if (!is.null(trial_column)) {
    at <- pick_column(trial_column, names, "trial_column", TRUE)
    refuse_if(any(at %in% used), "trial_column", "another column than those of times and units",
              "the same")
    return(none(at))
  }
  bare <- parse_column_name(names)$bare
  found <- setdiff(which(grepl(trial_name_pattern, bare)), used)
  may_be <- setdiff(which(grepl(like_trial_pattern, bare)), used)
  if (length(found) == 1L) return(list(trial = found, doubt = may_be))
  list(trial = integer(), doubt = sort(c(found, may_be)))
}

#' One factor from several: levels in the order of the first, then the second
#' @noRd
join_units <- function(parts) {
  out <- parts[[1L]]
  for (part in parts[-1L]) {
    code <- (as.integer(out) - 1) * nlevels(part) + as.integer(part)
    used <- sort(unique(code))
    labels <- paste(levels(out)[(used - 1) %/% nlevels(part) + 1],
                    levels(part)[(used - 1) %% nlevels(part) + 1], sep = "_")
    out <- as_factor(match(code, used), labels)
  }
  out
}

#' Number of `time_unit` in a second
#' @noRd
units_per_second <- function(time_unit, sampling_rate) {
  refuse_if(time_unit == "samples" && is.null(sampling_rate), "sampling_rate",
            "given, in Hz, for times in samples", "NULL")
  refuse_if(time_unit != "samples" && !is.null(sampling_rate), "sampling_rate",
            "left out unless times are in samples", sprintf("given with times in %s", time_unit),
            "Say `time_unit = \"samples\"`.")
  switch(time_unit, s = 1, ms = 1e3, us = 1e6, samples = sampling_rate)
}

time_names <- c("time", "times", "spiketime", "spiketimes", "timestamp", "timestamps", "t")

unit_name_pattern <- paste0(
  "^(spike)?(unit|neuron|cell|channel|chan|ch|electrode|elec|cluster|clu)s?",
  "(id|ids|name|label|number|no|nr|index)?$"
)

# What stands at the end of a column's name, and what `time_unit` that is.
time_suffix <- c(s = "s|sec|secs|second|seconds", ms = "ms|msec|msecs|millisecond|milliseconds",
                 us = "us|usec|usecs|\u00b5s|\u03bcs|microsecond|microseconds",
                 samples = "sample|samples")

#' Split a column's name into a bare name and the unit of time it says
#' @noRd
parse_column_name <- function(name) {
  bare <- tolower(trimws(name))
  said <- rep(NA_character_, length(bare))
  for (unit in names(time_suffix)) {
    pattern <- sprintf("[ _.(\\[/-]+(in[ _])?(%s)[])]?$", time_suffix[[unit]])
    hit <- is.na(said) & grepl(pattern, bare)
    bare[hit] <- sub(pattern, "", bare[hit])
    said[hit] <- unit
  }
  list(bare = gsub("[^[:alnum:]]", "", bare), said = said)
}

pick_column <- function(column, names, arg, several) {
  check_column(column, arg, several)
  at <- match(column, if (is.character(column)) names else seq_along(names))
  refuse_if(anyNA(at), arg,
            sprintf("among the columns: %s", some(encodeString(names, quote = "\""), 12L)),
            encodeString(as.character(column[is.na(at)][[1L]]), quote = "\""))
  twice <- names[duplicated(names)]
  refuse_if(anyDuplicated(at) || is.character(column) && any(names[at] %in% twice), arg,
            "columns told apart by name", "the same name more than once",
            "Give the number of the column.")
  at
}

check_column <- function(column, arg, several) {
  ok <- (is.character(column) || is_plain_numeric(column)) && length(column) >= 1L &&
    (several || length(column) == 1L) && !anyNA(column)
  refuse_if(!ok, arg, "the name or number of a column", describe(column))
}

#' Names of columns that number trials, and of those that may
#' @noRd
trial_name_pattern <- "^trials?(id|ids|name|label|number|num|no|nr|index|idx)?$"
like_trial_pattern <- paste0(
  "^(sweep|segment|epoch|episode|block|repetition|repeat|rep|run|presentation|session)s?",
  "(id|ids|name|label|number|num|no|nr|index|idx)?$"
)
