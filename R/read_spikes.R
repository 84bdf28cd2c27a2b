# Reading spikes: what the formats share. Each reader gives ticks and units;
# `build_spike_trains()` checks them and makes the object.

#' Read spikes from a file
#'
#' Reads tables (CSV, TSV), Neurodata Without Borders files (NWB 2), Axion spike lists,
#' and the folders of Kilosort and Phy.
#'
#' # Formats
#' * `"csv"`: a text table with a row for each spike, a column of times and one of units,
#'   in any order and among any others. Separated by comma, semicolon, tab, bar or
#'   space; plain or compressed with gzip, bzip2 or xz; with or without a header; lines
#'   that start with `#` are skipped at the top. With a header the columns are found by
#'   name: `time`, `times`, `timestamp`, `spike_time`, `t`; and `unit`, `neuron`,
#'   `cell`, `channel`, `electrode`, `cluster`, `id`, also in the plural, with `_id` or
#'   the like at the end, in upper or lower case. Without one they are found by content:
#'   the time is the only column of numbers, or the only one with decimals, or the only
#'   one that never decreases. Where more than one column fits, there is an error that
#'   asks for `time_column` and `unit_column`. A header like `time_ms` or `Time (s)`
#'   says the unit of time unless `time_unit` does.
#' * `"axion"`: the spike list that the AxIS software of Axion BioSystems exports as CSV,
#'   with `Time (s)` and `Electrode` to the right of the recording's description. Units
#'   are electrodes, named well first (`A1_11`).
#' * `"nwb"`: an NWB 2 file (HDF5, read through the package hdf5r). Times come from
#'   `/units`, trials from `/intervals/trials`. All units are kept, silent ones too.
#'   The bounds of trials and observation intervals are rounded to the nearest tick, as
#'   spikes are, so that a spike inside stays inside.
#' * `"phy"`: a folder with `spike_times.npy`, `spike_clusters.npy` and `params.py`, as
#'   Kilosort writes and Phy edits. Times are samples, divided by `sample_rate`. Where
#'   there is no `spike_clusters.npy`, `spike_templates.npy` is read.
#'
#' `NULL` guesses from the content: a folder is `"phy"`, HDF5 is `"nwb"`, and a text file
#' whose first line names `Investigator` or that has `Time (s)` and `Electrode` in an
#' Axion header is `"axion"`. Only the first 64 KiB are looked at before a file is
#' accepted, so that a large file of another kind is refused at once.
#'
#' # Time
#' Times become whole ticks of `resolution` seconds, the nearest one. Milliseconds,
#' microseconds and samples are converted with whole factors wherever these exist, not
#' through seconds: 1380.56 ms is tick 1380560 exactly. For sampled data
#' `resolution = 1 / sampling_rate` keeps the sampling clock itself.
#'
#' @param file Path to the file, or to the folder for `"phy"`.
#' @param format `"csv"`, `"axion"`, `"nwb"`, `"phy"`, or `NULL` to guess.
#' @param time_unit Unit of the times in a table: `"s"`, `"ms"`, `"us"`, or `"samples"`
#'   (with `sampling_rate`). By default what the header says, else seconds.
#' @param time_column,unit_column Columns of a table, by name or number; by default found
#'   as described. Several columns in `unit_column` together name a unit: channel 3,
#'   unit 1 becomes `3_1`. For NWB, `unit_column` is a column of `/units` that names the
#'   units (default `id`).
#' @param ... Not used; must be empty.
#' @param from,to Part of the recording to keep, in seconds, bounds included; the result
#'   is that of `x[time = c(from, to)]` on the whole file.
#' @param start,end Bounds of the observation interval, in seconds, as in
#'   [spike_trains()]. An NWB file that has observation intervals gives them.
#' @param resolution Length of a tick, in seconds.
#' @param sampling_rate Samples in a second, for `time_unit = "samples"`, and for a Phy
#'   folder without `params.py`.
#' @param sep Separator of a table; `NULL` to guess.
#' @param decimal_mark `"."` or `","`. A decimal comma is never guessed, as `1,234` may
#'   also be a thousand.
#' @param header Whether a table has a header; `NULL` to guess.
#' @param groups For Phy, the labels of clusters to keep, such as `"good"` or
#'   `c("good", "mua")`; `NULL` keeps all. Labels are those of `cluster_group.tsv` (or
#'   `cluster_info.tsv`), and for clusters that nobody labelled those of
#'   `cluster_KSLabel.tsv`, else `"unsorted"`.
#' @param trials For NWB, `FALSE` to leave trials out.
#'
#' @return A [spike_trains] object.
#'
#' @section Errors:
#' Errors about a file have the class `synfire_error_file`: no such file; a compressed
#' file that is cut short or damaged; binary content, no table, no rows; columns missing or ambiguous; rows with another number of fields;
#' times that are not numbers, or missing, with the number of such rows and the first;
#' missing units; decimal commas; an NWB file without units; arrays of another type,
#' shape or length than expected. Errors about an argument have the class
#' `synfire_error_argument`.
#'
#' @references
#' Rübel O, et al. (2022). The Neurodata Without Borders ecosystem for neurophysiological
#' data science. *eLife*, 11, e78362. \doi{10.7554/eLife.78362}
#'
#' Pachitariu M, Sridhar S, Pennington J, Stringer C (2024). Spike sorting with Kilosort4.
#' *Nature Methods*, 21, 914-921. \doi{10.1038/s41592-024-02232-7}
#'
#' Harris CR, et al. (2020). Array programming with NumPy. *Nature*, 585, 357-362.
#' \doi{10.1038/s41586-020-2649-2} (the `.npy` format is described in NumPy's manual)
#'
#' @examples
#' file <- tempfile(fileext = ".csv")
#' writeLines(c("neuron,time_ms", "A,1380.56", "B,1381.2", "A,1399"), file)
#' read_spikes(file)
#' read_spikes(file, time_unit = "ms", from = 1.38, to = 1.39)
#' unlink(file)
#' @export
read_spikes <- function(file, format = NULL, time_unit = c("s", "ms", "us", "samples"),
                        time_column = NULL, unit_column = NULL, ..., from = NULL,
                        to = NULL, start = NULL, end = NULL, resolution = 1e-6,
                        sampling_rate = NULL, sep = NULL, decimal_mark = ".",
                        header = NULL, groups = NULL, trials = TRUE) {
  call <- rlang::current_env()
  check_given(file = "the path of a file or a folder")
  check_no_dots()
  time_units <- c("s", "ms", "us", "samples")
  given <- c(
    time_unit = !missing(time_unit) && !identical(time_unit, time_units),
    time_column = !is.null(time_column), unit_column = !is.null(unit_column),
    sampling_rate = !is.null(sampling_rate), sep = !is.null(sep),
    decimal_mark = !identical(decimal_mark, "."), header = !is.null(header),
    groups = !is.null(groups), trials = !isTRUE(trials)
  )
  time_unit <- if (given[["time_unit"]]) check_choice(time_unit, time_units)
  check_path(file, "file", call, "a file or a folder")
  resolution <- check_resolution(resolution, call)
  if (!is.null(format)) check_choice(format, c("csv", "axion", "nwb", "phy"))
  if (!is.null(sampling_rate)) check_number(sampling_rate, above = 0)
  check_choice(decimal_mark, c(".", ","))
  check_flag(trials)
  if (!is.null(header)) check_flag(header)
  range <- check_time_range(from, to, resolution, call)

  file <- path.expand(file)
  if (!file.exists(file)) {
    abort_file(file, "there is no such file or folder", "Check the path.", call = call)
  }
  guess <- guess_format(file, format, call)
  check_options(given, guess$format, call)
  spikes <- switch(
    guess$format,
    csv = read_csv(file, guess$head, time_unit, time_column, unit_column, resolution,
                   sampling_rate, sep, decimal_mark, header, call),
    axion = read_axion(file, guess$head, resolution, call),
    nwb = read_nwb(file, unit_column, resolution, trials, range, call),
    phy = read_phy(file, resolution, sampling_rate, groups, call)
  )
  if (length(spikes$ticks) == 0L && is.null(spikes$cover) && (is.null(start) || is.null(end))) {
    abort_file(file, "it holds no spikes", "Give `start` and `end` to read it all the same.",
               call = call)
  }

  # The interval covers the whole recording, also where a reader has already left out
  # what lies outside `from` and `to`.
  seconds <- ticks_to_seconds(spikes$cover, resolution)
  all_start <- start %||% (if (length(seconds)) min(seconds))
  all_end <- end %||% (if (length(seconds)) max(seconds))
  x <- build_spike_trains(spikes$ticks, spikes$unit, start = all_start, end = all_end,
                          resolution = resolution, trials = spikes$trials, arg = "file",
                          call = call)
  if (is.null(range)) x else keep_time(x, range, call, "from, to")
}

#' Older versions of R have no such operator
#' @noRd
`%||%` <- function(x, y) if (is.null(x)) y else x

check_time_range <- function(from, to, resolution, call) {
  if (is.null(from) && is.null(to)) return(NULL)
  bound <- function(value, arg, default) {
    if (is.null(value)) return(default)
    if (is.numeric(value) && length(value) == 1L && is.infinite(value)) return(value)
    value <- check_number(value, arg, call = call)
    seconds_to_ticks(value, resolution, arg, call)
    value
  }
  range <- c(bound(from, "from", -Inf), bound(to, "to", Inf))
  if (range[[1L]] > range[[2L]]) {
    abort_arg("from", "at or before `to`",
              sprintf("%s s, and `to` is %s s", exact(range[[1L]]), exact(range[[2L]])),
              call = call)
  }
  range
}

#' Options that a format would ignore are an error: they show a misunderstanding
#' @noRd
check_options <- function(given, format, call) {
  used <- list(
    csv = c("time_unit", "time_column", "unit_column", "sampling_rate", "sep",
            "decimal_mark", "header"),
    axion = character(),
    nwb = c("unit_column", "trials"),
    phy = c("sampling_rate", "groups")
  )
  ignored <- setdiff(names(given)[given], used[[format]])
  if (length(ignored)) {
    of <- names(used)[vapply(used, \(args) ignored[[1L]] %in% args, logical(1))]
    abort_arg(ignored[[1L]], sprintf("left out for a file of format \"%s\"", format),
              "given",
              sprintf("It is for %s.", paste0("\"", of, "\"", collapse = " and ")),
              call = call)
  }
}

#' Raise an error about a file
#'
#' @param what Completes "Cannot read FILE: ...".
#' @noRd
abort_file <- function(file, what, hint = NULL, call = rlang::caller_env()) {
  cli::cli_abort(
    c(
      paste0("Cannot read {.file ", escape_braces(file), "}."),
      x = escape_braces(paste0(toupper(substr(what, 1, 1)), substring(what, 2), ".")),
      if (!is.null(hint)) c(i = escape_braces(hint))
    ),
    class = c("synfire_error_file", "synfire_error"), call = call
  )
}

head_bytes <- 65536L

guess_format <- function(file, format, call) {
  if (dir.exists(file)) {
    if (!is.null(format) && format != "phy") {
      abort_file(file, "it is a folder", "Only the format \"phy\" is a folder.", call = call)
    }
    return(list(format = "phy"))
  }
  if (identical(format, "phy")) {
    abort_file(file, "it is not a folder",
               "For \"phy\" give the folder that holds `spike_times.npy`.", call = call)
  }
  magic <- read_magic(file, 20L, call)
  hdf5 <- is_hdf5(file)
  if (hdf5 && identical(magic[1:10], charToRaw("MATLAB 7.3"))) {
    abort_file(file, "it is a MATLAB 7.3 file", matlab_hint, call = call)
  }
  if (identical(format, "nwb") || (is.null(format) && hdf5)) {
    if (!hdf5) abort_file(file, "it is not an HDF5 file, as NWB files are", call = call)
    return(list(format = "nwb"))
  }
  head <- read_head(file, call)
  if (is.null(format)) format <- if (is_axion(head$lines)) "axion" else "csv"
  list(format = format, head = head)
}

matlab_hint <- "In MATLAB, write a table with a column of times and one of units (`writetable`)."

#' Whether the signature of HDF5 stands where it may: at 0, 512, 1024, 2048 ...
#' @noRd
is_hdf5 <- function(file) {
  signature <- as.raw(c(0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a))
  con <- base::file(file, "rb")
  on.exit(close(con))
  at <- 0
  while (at + 8 <= file.size(file)) {
    seek(con, at)
    if (identical(readBin(con, "raw", 8L), signature)) return(TRUE)
    at <- max(512, 2 * at)
  }
  FALSE
}

#' The first lines of a text file, or an error saying why it is none
#'
#' @return `lines`, whole ones only; `bom`, whether a byte order mark came first (it is
#'   taken off); `all`, whether that is the whole file.
#' @noRd
read_head <- function(file, call) {
  if (file.size(file) == 0) abort_file(file, "it is empty", call = call)
  source <- text_source(file, call)
  on.exit(source$close())
  bytes <- source$read(head_bytes)
  if (length(bytes) == 0L) {
    abort_file(file, "it is compressed, and what it holds is empty", call = call)
  }
  code <- as.integer(bytes[seq_len(min(3L, length(bytes)))])
  if (identical(code[1:2], c(255L, 254L)) || identical(code[1:2], c(254L, 255L))) {
    abort_file(file, "it is text in UTF-16", "Save it as UTF-8.", call = call)
  }
  if (is_binary(bytes)) {
    abort_file(file, "it holds binary data, not a table", binary_hint(bytes), call = call)
  }
  bom <- identical(code, c(239L, 187L, 191L))
  if (bom) bytes <- bytes[-(1:3)]
  all <- length(bytes) + 3L * bom < head_bytes
  bytes <- bytes[seq_len(min(length(bytes), head_bytes))]
  text <- rawToChar(bytes)
  Encoding(text) <- "bytes"
  lines <- strsplit(text, "\r\n|\n|\r", useBytes = TRUE)[[1L]]
  if (!all) {
    if (length(lines) < 2L) {
      abort_file(file, sprintf("its first %s bytes hold no line end, so it is no table",
                               commas(head_bytes)), call = call)
    }
    lines <- lines[-length(lines)]
  }
  list(lines = clean_text(lines), bom = bom, all = all)
}

#' What to do with a file that is no text
#' @noRd
binary_hint <- function(bytes) {
  starts <- \(...) {
    code <- as.raw(c(...))
    identical(bytes[seq_along(code)], code)
  }
  if (starts(0x93, utf8ToInt("NUMPY"))) return("This is a NumPy array: give the folder it lies in.")
  if (starts(utf8ToInt("MATLAB"))) return(matlab_hint)
  if (starts(utf8ToInt("RDX"))) {
    return("R saved this file: `load()` it, and give what it holds to `as_spike_trains()`.")
  }
  if (starts(0x58, 0x0a) || starts(0x41, 0x0a)) {
    return("R saved this file: `readRDS()` it, and give what it holds to `as_spike_trains()`.")
  }
  "Tables must be text; NWB files and Phy folders are read as well."
}

is_binary <- function(bytes) any(bytes < as.raw(9) | (bytes > as.raw(13) & bytes < as.raw(32)))

#' Text in UTF-8; what is not valid as such is taken for Latin-1
#' @noRd
clean_text <- function(text) {
  marked <- Encoding(text) == "latin1"
  text[marked] <- enc2utf8(text[marked])
  Encoding(text) <- "unknown"
  good <- validUTF8(text)
  Encoding(text[good]) <- "UTF-8"
  if (!all(good)) text[!good] <- iconv(text[!good], "latin1", "UTF-8")
  text
}

# ---- Columns -----------------------------------------------------------------------

time_names <- c("time", "times", "spiketime", "spiketimes", "timestamp", "timestamps", "t")

unit_name_pattern <- paste0(
  "^(spike)?(unit|neuron|cell|channel|chan|ch|electrode|elec|cluster|clu)s?",
  "(id|ids|name|label|number|no|nr|index)?$"
)

# What stands at the end of a column's name, and what `time_unit` that is.
time_suffix <- c(
  s = "s|sec|secs|second|seconds", ms = "ms|msec|msecs|millisecond|milliseconds",
  us = "us|usec|usecs|\u00b5s|\u03bcs|microsecond|microseconds",
  samples = "sample|samples"
)

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

#' Which columns hold time and unit, by name or as the caller says
#'
#' @return `time` (number), `unit` (numbers), `said` (unit of time or NA).
#' @noRd
find_columns <- function(names, time_column = NULL, unit_column = NULL,
                         fail = NULL, call = rlang::caller_env()) {
  fail <- fail %||% \(what, hint) {
    abort_arg("x", "a table with a column of times and one of units",
              paste("one where", what), hint, call = call)
  }
  parsed <- parse_column_name(names)
  listed <- if (length(names)) some(encodeString(names, quote = "\""), 12L) else "none"

  time <- if (!is.null(time_column)) {
    pick_column(time_column, names, "time_column", FALSE, call)
  } else {
    found_time <- which(parsed$bare %in% time_names)
    # A plain name goes before a decorated one, such as `time` before `t`.
    if (length(found_time) > 1L) {
      exact_hit <- found_time[tolower(names[found_time]) == "time"]
      if (length(exact_hit) == 1L) found_time <- exact_hit
    }
    if (length(found_time) != 1L) {
      fail(sprintf("%s a column of times; columns: %s",
                   if (length(found_time)) "more than one name fits" else "no name fits", listed),
           "Say which one with `time_column`.")
    }
    found_time
  }
  unit <- if (!is.null(unit_column)) {
    pick_column(unit_column, names, "unit_column", TRUE, call)
  } else {
    found_unit <- setdiff(which(grepl(unit_name_pattern, parsed$bare)), time)
    if (length(found_unit) == 0L) {
      found_unit <- setdiff(which(parsed$bare %in% c("id", "ids", "label", "name")), time)
    }
    if (length(found_unit) != 1L) {
      fail(sprintf("%s a column of units; columns: %s",
                   if (length(found_unit)) "more than one name fits" else "no name fits", listed),
           paste("Say which one with `unit_column`;",
                 "several, such as channel and unit, together name a unit."))
    }
    found_unit
  }
  if (time %in% unit) {
    abort_arg("unit_column", "another column than `time_column`", "the same", call = call)
  }
  list(time = time, unit = unit, said = parsed$said[[time]])
}

pick_column <- function(column, names, arg, several, call) {
  ok <- (is.character(column) || (is.numeric(column) && !is.object(column))) &&
    length(column) >= 1L && (several || length(column) == 1L) && !anyNA(column)
  if (!ok) abort_arg(arg, "the name or number of a column", describe(column), call = call)
  at <- if (is.character(column)) match(column, names) else {
    match(column, seq_along(names))
  }
  if (anyNA(at)) {
    abort_arg(arg, sprintf("among the columns: %s",
                           some(encodeString(names, quote = "\""), 12L)),
              encodeString(as.character(column[is.na(at)][[1L]]), quote = "\""), call = call)
  }
  if (anyDuplicated(at) || (is.character(column) && any(names[at] %in% names[duplicated(names)]))) {
    abort_arg(arg, "columns told apart by name", "the same name more than once",
              "Give the number of the column.", call = call)
  }
  at
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
    out <- structure(match(code, used), levels = labels, class = "factor")
  }
  out
}

#' Units of a file as a factor, or an error with the count and the first row
#' @param unit Their text, as distinct `values` and the `code` of each row.
#' @noRd
file_units <- function(unit, file, column, line, call) {
  # Few units, many spikes: look at each distinct one once.
  values <- unit$values
  empty <- values %in% c("", "NA")
  at <- unit$code
  if (any(empty)) {
    rows <- which(empty[at])
    abort_file(file, sprintf("column %s is empty in %s of %s rows, first in %s", column,
                             commas(length(rows)), commas(length(at)), line(rows[[1L]])),
               "Drop these rows, or name the unit.", call = call)
  }
  shown <- clean_text(values)
  levels <- unique(shown)
  levels <- levels[natural_order(levels)]
  structure(match(shown, levels)[at], levels = levels, class = "factor")
}

#' Error unless all times of a file are finite
#' @noRd
check_file_times <- function(time, file, column, line, call) {
  bad <- !is.finite(time)
  if (any(bad)) {
    abort_file(file, sprintf("column %s is missing or not finite in %s of %s rows, first in %s",
                             column, commas(sum(bad)), commas(length(time)),
                             line(which(bad)[[1L]])),
               "Drop these rows first.", call = call)
  }
}

#' Number of `time_unit` in a second
#' @noRd
units_per_second <- function(time_unit, sampling_rate, call) {
  if (time_unit == "samples" && is.null(sampling_rate)) {
    abort_arg("sampling_rate", "given, in Hz, for times in samples", "NULL", call = call)
  }
  if (time_unit != "samples" && !is.null(sampling_rate)) {
    abort_arg("sampling_rate", "left out unless times are in samples",
              sprintf("given with times in %s", time_unit),
              "Say `time_unit = \"samples\"`.", call = call)
  }
  switch(time_unit, s = 1, ms = 1e3, us = 1e6, samples = sampling_rate)
}
