# Spikes in NumPy's files: the sortings that SpikeInterface saves, and plain arrays of times
# and units.

read_numpy <- function(file, about, fail) {
  if (dir.exists(file)) {
    if (file.exists(file.path(file, "numpysorting_info.json"))) {
      return(read_sorting_folder(file, about))
    }
    if (is_analyzer(file)) {
      return(read_sorting_folder(file.path(file, "sorting"), about, file.path(file, "extensions")))
    }
    return(read_npz(file.path(file, "sorting_cached.npz"), file.path(file, "properties"), about))
  }
  if (is_zip(file)) return(read_npz(file, NULL, about))
  head <- npy_header(file, fail)
  columns <- npy_columns(head, fail, several = TRUE)
  fail_if(!is.list(columns) || length(columns) < 2L, fail,
          "it holds one column, and spikes need times and units",
          paste("Give the folder that it lies in, or read it with Python and write one file",
                "with `numpy.savez(file, time = ..., unit = ...)`."))
  names <- names(columns) %||% rep("", length(columns))
  if (any(nzchar(names))) {
    at <- find_columns(names, about$time_column, about$unit_column, fail)
  } else {
    rows <- lapply(seq_len(min(200L, length(columns[[1L]]))), \(row) {
      vapply(columns, \(one) format(one[[row]], digits = 15), "")
    })
    if (length(rows) == 0L) fail("it holds no spikes")
    at <- columns_by_content(rows, about, ".", fail)
  }
  at$trial <- find_trial(names, about$trial_column, c(at$time, at$unit))
  whole <- rep_len(head$fields$kind %in% c("i", "u"), length(columns))[[at$time]]
  array_spikes(at, names, \(k) columns[[k]], whole, about, fail)
}

is_zip <- function(file) identical(readBin(file, "raw", 4L), as.raw(c(0x50, 0x4b, 3, 4)))

# ---- SpikeInterface ----------------------------------------------------------------

#' The folder of `sorting.save(format = "numpy_folder")`
#'
#' `spikes.npy` holds a record for each spike: its sample, counted from the start of its
#' segment, its unit as a place among `unit_ids`, and its segment, both counted from 0.
#' @param extensions The folder in which an analyzer keeps what it computed, or `NULL`.
#' @noRd
read_sorting_folder <- function(folder, about, extensions = NULL) {
  fail <- \(what, hint = NULL) abort_file(folder, what, hint)
  info <- read_json(file.path(folder, "numpysorting_info.json"))
  file <- file.path(folder, "spikes.npy")
  if (!file.exists(file)) fail("it has no `spikes.npy`")
  file_fail <- failing(file)
  spikes <- npy_columns(npy_header(file, file_fail), file_fail)
  # Older versions shorten the names.
  field <- \(name) if (is.list(spikes)) spikes[[name]] %||% spikes[[sub("index", "ind", name)]]
  sample <- field("sample_index")
  unit <- field("unit_index")
  segment <- field("segment_index")
  if (!is.numeric(sample) || !is.numeric(unit) || !is.numeric(segment)) {
    file_fail("it has no fields `sample_index`, `unit_index` and `segment_index`")
  }
  labels <- unit_names(if (identical(info$unit_ids, list())) character() else info$unit_ids)
  if (is.null(labels)) fail("its `numpysorting_info.json` does not name each unit differently")
  if (!all(is.finite(unit)) || any(unit < 0 | unit >= length(labels) | unit != round(unit))) {
    file_fail(sprintf("some spikes are of a unit that is none of the %s in `unit_ids`",
                      commas(length(labels))))
  }
  check_sorting_options(about)
  n <- info$num_segments
  if (!is_plain_numeric(n) || length(n) != 1L || !is.finite(n) || !all(is.finite(segment))) {
    fail("it does not say how many segments it holds")
  }
  keep <- segment == which_segment(n, about$segment, fail) - 1
  rate <- said_rate(info$sampling_frequency, about$sampling_rate, fail, "`sampling_frequency`")
  sorting_spikes(sample[keep], unit[keep] + 1, labels, rate,
                 c(unit_properties(file.path(folder, "properties"), length(labels)),
                   analyzer_metrics(extensions, labels)), about, file_fail)
}

#' Whether a folder is that of SpikeInterface's `SortingAnalyzer`, which holds a sorting
#' @noRd
is_analyzer <- function(folder) {
  all(file.exists(file.path(folder, c("spikeinterface_info.json", "sorting/spikes.npy"))))
}

#' What an analyzer computed of each unit: signal-to-noise ratio, amplitude, widths
#' @noRd
analyzer_metrics <- function(extensions, labels) {
  files <- file.path(extensions, c("quality_metrics", "template_metrics"), "metrics.csv")
  tables <- lapply(files[file.exists(files)], \(file) {
    lines <- text_lines(file)
    table <- tryCatch(utils::read.csv(text = lines[-1L], header = FALSE,
                                      colClasses = c(V1 = "character")), error = \(e) NULL)
    names <- strsplit(lines[1L], ",", fixed = TRUE)[[1L]]
    refuse_file_if(is.null(table) || length(names) != length(table), file, "it is no table")
    rlang::set_names(as.list(table[match(labels, table$V1), -1L, drop = FALSE]), names[-1L])
  })
  do.call(c, tables)
}

#' @param properties A folder with an array for each column of the table of units, or `NULL`.
#' @noRd
read_npz <- function(file, properties, about) {
  fail <- failing(file)
  if (!file.exists(file)) fail("there is no such file")
  folder <- tempfile("npz")
  on.exit(unlink(folder, recursive = TRUE))
  members <- unpack_zip(file, folder, fail)
  members$array <- sub("[.]npy$", "", members$name)
  array <- \(name) npy_columns(npy_header(members$path[[match(name, members$array)]], fail), fail)
  if (all(c("unit_ids", "sampling_frequency", "num_segment") %in% members$array)) {
    return(npz_sorting(array, members$array, properties, about, fail))
  }
  if (all(c("t", "index", "keys") %in% members$array)) return(npz_pynapple(array, about, fail))
  arrays <- members[grepl("[.]npy$", members$name), ]
  heads <- lapply(rlang::set_names(arrays$path, arrays$array), npy_header, fail = fail,
                  any_type = TRUE)
  plain <- vapply(heads, \(head) {
    !is.null(head) && nrow(head$fields) == 1L && head$n == max(0, head$shape)
  }, NA)
  names <- names(heads)[plain]
  at <- find_columns(names, about$time_column, about$unit_column, fail)
  at$trial <- find_trial(names, about$trial_column, c(at$time, at$unit))
  whole <- heads[[names[[at$time]]]]$fields$kind %in% c("i", "u")
  array_spikes(at, names, \(k) array(names[[k]]), whole, about, fail)
}

#' What SpikeInterface's NpzSortingExtractor writes
#'
#' For each segment the samples of its spikes and the units that they are of, by name.
#' @noRd
npz_sorting <- function(array, arrays, properties, about, fail) {
  labels <- unit_names(array("unit_ids"))
  if (is.null(labels)) fail("its `unit_ids` do not name each unit differently")
  check_sorting_options(about)
  n <- array("num_segment")
  if (!is.numeric(n) || length(n) != 1L) fail("its `num_segment` is no number")
  number <- which_segment(n, about$segment, fail) - 1
  names <- paste0(c("spike_indexes_seg", "spike_labels_seg"), number)
  if (!all(names %in% arrays)) fail(sprintf("it has no `%s`", setdiff(names, arrays)[[1L]]))
  sample <- array(names[[1L]])
  unit <- array(names[[2L]])
  if (is.numeric(unit)) unit <- number_labels(unit)
  code <- match(unit, labels)
  fail_if(!is.numeric(sample) || length(sample) != length(code) || anyNA(code), fail,
          sprintf("`%s` does not name one of `unit_ids` for each spike", names[[2L]]))
  rate <- said_rate(array("sampling_frequency"), about$sampling_rate, fail,
                    "`sampling_frequency`")
  sorting_spikes(sample, code, labels, rate,
                 if (!is.null(properties)) unit_properties(properties, length(labels)),
                 about, fail)
}

#' What pynapple's `TsGroup.save()` writes
#'
#' Times in seconds, `t`, the unit of each, `index`, the names of all units, `keys`, and the
#' intervals in which they were seen.
#' @noRd
npz_pynapple <- function(array, about, fail) {
  check_sorting_options(about, "pynapple")
  value <- lapply(rlang::set_names(c("t", "index", "keys", "start", "end")), array)
  labels <- if (is.numeric(value$keys)) number_labels(value$keys) else value$keys
  code <- match(value$index, value$keys)
  fail_if(anyDuplicated(labels) || length(code) != length(value$t) || anyNA(code), fail,
          "its `index` does not name one of `keys` for each time in `t`")
  if (!is.numeric(value$t) || !all(is.finite(value$t))) fail("some spike times are not finite")
  seen <- c(value$start, value$end)
  named_units(code, labels, ticks = round_to_ticks(value$t, about$resolution),
              cover = if (all(is.finite(seen))) round_to_ticks(range(seen), about$resolution))
}

#' Error for what a sorting says itself
#' @noRd
check_sorting_options <- function(about, of = "SpikeInterface") {
  for (arg in c("time_unit", "time_column", "unit_column", "trial_column")) {
    refuse_if(!is.null(about[[arg]]), arg, paste("left out for a sorting of", of), "given",
              "It is for plain arrays of times and units.")
  }
}

sorting_spikes <- function(sample, code, labels, rate, table, about, fail) {
  if (!all(is.finite(sample))) fail("some spike times are not finite")
  named_units(code, labels, table, ticks = round_to_ticks(sample, about$resolution, rate))
}

#' The properties of units that have one value for each of them
#' @noRd
unit_properties <- function(folder, n) {
  files <- list.files(folder, "[.]npy$", full.names = TRUE)
  columns <- npy_vectors(rlang::set_names(files, sub("[.]npy$", "", basename(files))))
  columns[lengths(columns) == n]
}

#' The arrays with one value a row among some files, named as these are
#' @noRd
npy_vectors <- function(files) {
  columns <- lapply(files, \(file) {
    fail <- failing(file)
    head <- npy_header(file, fail, any_type = TRUE)
    if (!is.null(head) && nrow(head$fields) == 1L && length(head$shape) == 1L) {
      value <- npy_columns(head, fail)
      if (head$fields$kind == "b") value == 1 else value
    }
  })
  columns[lengths(columns) > 0L]
}

#' Number of the segment to read, of `n`
#' @noRd
which_segment <- function(n, given, fail) {
  if (is.null(given)) {
    if (n == 1) return(1)
    fail(sprintf("it holds %s segments, and the times of each count from its own start",
                 commas(n)), "Say which one to read, as in `segment = 1`.")
  }
  refuse_if(given > n, "segment", sprintf("from 1 to %s", commas(n)), exact(given))
  given
}

# ---- Plain arrays ------------------------------------------------------------------

#' Spikes from vectors of equal length
#'
#' @param at Numbers of those that hold `time`, `unit` and `trial`; `said`, the unit of time
#'   that a name says, or NA.
#' @param names Their names, \"\" for none.
#' @param get Gives one of them.
#' @param whole Whether the times are whole numbers by their type.
#' @noRd
array_spikes <- function(at, names, get, whole, about, fail) {
  label <- \(k) if (nzchar(names[[k]])) sprintf("`%s`", names[[k]]) else as.character(k)
  refuse_if(!is.null(about$segment), "segment", "left out for arrays of times and units", "given",
            "It is for the sortings of SpikeInterface.")
  time <- get(at$time)
  if (!is.numeric(time)) fail(sprintf("column %s must hold times, but holds text", label(at$time)))
  column <- \(k) {
    value <- get(k)
    fail_if(length(value) != length(time), fail,
            sprintf("%s has %s values, and %s has %s", label(at$time), commas(length(time)),
                    label(k), commas(length(value))))
    values <- unique(value)
    list(code = match(value, values),
         values = if (is.numeric(values)) number_labels(values) else values)
  }
  row <- \(k) sprintf("row %s", commas(k))
  check_file_times(time, fail, label(at$time), row)
  per_second <- said_per_second(at$said, whole, paste("column", label(at$time)), about, fail)
  units <- lapply(at$unit, \(k) {
    one <- column(k)
    bad <- which(one$values %in% c("", "NA", "NaN", "Inf", "-Inf"))
    fail_if(length(bad), fail,
            sprintf("column %s is empty or not finite, first in %s", label(k),
                    row(match(bad[[1L]], one$code))))
    levels <- one$values[natural_order(one$values)]
    as_factor(match(one$values, levels)[one$code], levels)
  })
  trial <- c(at$trial$trial, at$trial$doubt)
  list(ticks = round_to_ticks(time, about$resolution, per_second),
       unit = join_units(units),
       trial = file_trial(at$trial, lapply(trial, column), label, fail))
}

# ---- What readers share ------------------------------------------------------------

#' How many units of time make a second, as the caller says or the name of the times does
#'
#' @param said Unit of time that a name says, or NA.
#' @param whole Whether the times are whole numbers, which are samples more often than seconds.
#' @param label Names the times.
#' @noRd
said_per_second <- function(said, whole, label, about, fail) {
  time_unit <- about$time_unit %||% (if (!is.na(said)) said)
  fail_if(is.null(time_unit) && whole, fail,
          sprintf("%s holds whole numbers, and nothing says of what", label),
          paste("Say `time_unit = \"samples\"` with `sampling_rate`, or \"s\", \"ms\" or \"us\"."))
  units_per_second(time_unit %||% "s", about$sampling_rate)
}

#' Units that a file names, in natural order, with what it says of them
#'
#' @param code The place of each spike's unit among `labels`.
#' @param columns A list of what is known of the units, or `NULL`.
#' @param ... What else is known of the spikes, such as their `ticks`.
#' @return A list of `...`, `unit` and `unit_table`, as `build_spike_trains()` takes them.
#' @noRd
named_units <- function(code, labels, columns = NULL, ...) {
  o <- natural_order(labels)
  table <- if (length(columns)) {
    names(columns) <- make.unique(c("unit", names(columns)))[-1L]
    table <- data.frame(unit = labels, columns, check.names = FALSE, stringsAsFactors = FALSE)
    table[o, , drop = FALSE]
  }
  list(unit = as_factor(match(code, o), labels[o]),
       unit_table = table, ...)
}

#' Values as names of units, or `NULL` where they do not name each differently
#' @noRd
unit_names <- function(values) {
  labels <- if (is.numeric(values)) number_labels(values) else
    if (is.character(values)) clean_text(values)
  if (!anyNA(labels) && !anyDuplicated(labels) && all(nzchar(labels))) labels
}

#' Samples in a second, as a file says and as the user does
#' @param fail Raises the error where neither says it, from what `lacks`.
#' @param by What says it, in the words of messages.
#' @noRd
said_rate <- function(said, given, fail, name = NULL, by = "the file",
                      lacks = sprintf("%s does not say the sampling rate", name)) {
  if (!is_plain_numeric(said) || length(said) != 1L || !is.finite(said) || said <= 0) {
    return(given %||% fail(lacks, "Give `sampling_rate`, in Hz."))
  }
  refuse_if(!is.null(given) && given != said, "sampling_rate",
            sprintf("left out, or %s as %s says", exact(said), by), exact(given))
  as.double(said)
}

#' A small JSON file as a list
#' @noRd
read_json <- function(file) {
  rlang::check_installed("jsonlite", "to read JSON.", call = user_frame())
  text <- paste(text_lines(file), collapse = "\n")
  value <- tryCatch(jsonlite::fromJSON(text), error = \(e) NULL)
  if (!is.list(value)) abort_file(file, "it is no JSON, or damaged")
  value
}
