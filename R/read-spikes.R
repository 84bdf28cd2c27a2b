# Reading spikes: what the formats share. Each reader gives ticks and units;
# `build_spike_trains()` checks them and makes the object.

#' Read spikes from a file
#'
#' Reads spikes, with what the file says of units and trials, from tables (CSV, TSV) and from
#' the formats of the field: Neurodata Without Borders, Kilosort and Phy, SpikeInterface,
#' Axion, MaxWell, 3Brain, MATLAB and others. [read_traces()] reads the traces of calcium
#' imaging.
#'
#' # Formats
#' | `format` | file | units | times | also read |
#' |---|---|---|---|---|
#' | `"csv"` | a text table with a row for each spike | a column | a column | trials, a table of units |
#' | `"axion"` | spike list of AxIS (Axion BioSystems), as CSV | electrodes | s | |
#' | `"nwb"` | Neurodata Without Borders 2 (HDF5) | `/units` | s | trials, table of units, electrodes |
#' | `"phy"` | folder of Kilosort or Phy | clusters | samples | labels (`groups`) |
#' | `"numpy"` | SpikeInterface's `SortingAnalyzer`, NumPy folder or `.npz`; pynapple's `.npz`; plain `.npy`, `.npz` | sorted units, or an array | samples, or as said | properties of units |
#' | `"alf"` | folder of the International Brain Laboratory | clusters | s | arrays of `clusters` |
#' | `"openephys"` | recording folder of the Open Ephys GUI, in its binary format | electrodes and clusters | s | |
#' | `"nev"` | events of Blackrock | electrodes and classes | samples | |
#' | `"waverepo"` | HDF5 of the retinal wave and culture repositories | `/names` | s | positions |
#' | `"maxwell"` | MaxOne and MaxTwo (HDF5) | channels | samples | electrodes, positions |
#' | `"3brain"` | BrainWave 4 and 5: BXR, BRW (HDF5) | channels | samples | rows and columns |
#' | `"matlab"` | MATLAB 5 to 7.3 | a vector, cells, structures | as said | trials, table of units |
#'
#' Files in HDF5 are read through the package hdf5r. `format = NULL` guesses from the
#' content, and only the first 64 KiB of a file that is no HDF5 are looked at for that, so
#' that a large file of another kind is refused at once.
#'
#' * `"csv"`: columns in any order and among any others; separated by comma, semicolon, tab,
#'   bar or space; plain or compressed with gzip, bzip2 or xz; with or without a header;
#'   lines that start with `#` are skipped at the top. With a header the columns are found by
#'   name: `time`, `times`, `timestamp`, `spike_time`, `t`; and `unit`, `neuron`,
#'   `cell`, `channel`, `electrode`, `cluster`, `id`, also in the plural, with `_id` or
#'   the like at the end, in upper or lower case. Without one they are found by content:
#'   the time is the only column of numbers, or the only one with decimals, or the only
#'   one that never decreases. Where more than one column fits, there is an error that
#'   asks for `time_column` and `unit_column`. A header like `time_ms` or `Time (s)`
#'   says the unit of time unless `time_unit` does. Further columns of a table with a header
#'   that hold one value for each unit (area, depth, quality) become the [unit_table()];
#'   others are left out.
#'   A last line without its line end may have been cut off, as the file was copied while it
#'   was written. When it is no row, or ends with the beginning of another unit's name, or
#'   with a time before that of the line above, it is left out with a warning; when it can
#'   be either, it is read, with a message.
#' * `"axion"`: `Time (s)` and `Electrode` to the right of the recording's description. Units
#'   are named well first (`A1_11`).
#' * `"nwb"`: times come from `/units`, trials from `/intervals/trials` with all columns that
#'   have one value for each trial, and tags. All units are kept, silent ones too. The table
#'   of units has the columns of `/units` with one value for each unit and, where each has
#'   one electrode, what is said of that (`electrode`, `location`, `group_name`, `x`, `y`,
#'   `z`, in the unit that the file uses). The bounds of trials and observation intervals are
#'   rounded to the nearest tick, as spikes are, so that a spike inside stays inside.
#'   Of a large file, `from` and `to` read a part around the range alone. The times of each
#'   unit must ascend for that, as they do in sound files; where the ones that are looked at
#'   do not, the whole file is read.
#' * `"phy"`: `spike_times.npy`, `spike_clusters.npy` and `params.py`, as Kilosort writes and
#'   Phy edits. Times are samples, divided by `sample_rate`. Where there is no
#'   `spike_clusters.npy`, `spike_templates.npy` is read.
#' * `"numpy"`: a folder with `numpysorting_info.json` and `spikes.npy`, or with
#'   `sorting_cached.npz`, as SpikeInterface's `sorting.save()` writes, or the `.npz` of its
#'   `NpzSortingExtractor`. Properties with one value for each unit become the table of
#'   units; of a `SortingAnalyzer`, saved as a folder, also its quality metrics (`snr`) and
#'   template metrics. A recording of several segments needs `segment`. The `.npz` of
#'   pynapple's `TsGroup` is read without its metadata. Any other `.npz` must hold an
#'   array of times and one of units, named as the columns of a table are; an `.npy` must be
#'   structured with such fields, or have two columns. Times that are whole numbers by their
#'   type need `time_unit`.
#' * `"alf"`: `spikes.times.npy` and `spikes.clusters.npy`. Arrays such as
#'   `clusters.depths.npy` become the table of units, and clusters without spikes are kept.
#' * `"openephys"`: the folder with `structure.oebin`; the spikes of all electrodes. With more
#'   than one, their names come first in those of the units. Cluster 0 is not sorted.
#' * `"nev"`: electrode 5, class 1 becomes unit `5_1`. Class 0 is not sorted, 255 is noise:
#'   `x[unit = class %in% 1:16]` keeps sorted units.
#' * `"waverepo"`: `/spikes` (s, unit after unit), `/sCount`, `/names` and `/epos`. The table
#'   of units has the positions `x` and `y`, in micrometres.
#' * `"maxwell"`: detected spikes, in `/proc0/spikeTimes` of older files and in
#'   `/wells/*/rec*/spikes` of newer ones. The table of units has `channel`, `electrode`, and
#'   `x`, `y` in micrometres. Time 0 is the first sample of the traces in the file; in files
#'   without these it is when the system was started. With several wells, units are named
#'   well first, and the table has a column `well`. Older files are sampled at 20 kHz.
#' * `"3brain"`: detected spikes, in `/3BResults/3BChEvents` of BrainWave 4 and in
#'   `/Well_*/SpikeTimes` of BrainWave 5. The table of units has `channel`, and `row` and
#'   `col` of its electrode, from 1. Wells are named as for MaxWell.
#' * `"matlab"`: the variables of a file that `save` wrote, in its default format or another
#'   one (`-v6`, `-v7`, `-v7.3`). Spikes may be (1) a vector of times and one of units, as long
#'   and named as the columns of a table are; (2) the times of each unit, in a cell array
#'   (`spikes{k}`) or in a field of an array of structures (`units(k).times`); (3) a matrix with
#'   the times of a unit in each row or column, filled up with NaN. Fields of structures are
#'   named as in `units/times`. Where one variable alone can be the times, it is read;
#'   otherwise an error lists all variables, and `time_column` says which one.
#'   Units are numbered in their order, unless one variable beside the times names them
#'   (`units(k).id`, or another one that `unit_column` says). What else lies there and has one
#'   value for each unit becomes the table of units. Times are in seconds unless the name or
#'   `time_unit` says otherwise; whole numbers need `time_unit`.
#'
#' # Trials
#' A column of a table, or an array, whose name is `trial`, `trials` or these with `_id`,
#' `_nr` or the like at the end names the trial of each spike; `trial_column` names another
#' one. From there on all is as with `trial` in [spike_trains()]: times count on the clock of
#' the recording or from the start of each trial, as `trial_clock` says or the times
#' themselves show; `trials` may be a data frame that says when each starts and ends. A
#' column that may number trials (`sweep`, `segment`, `epoch`, `block`, `repetition`, `run`)
#' and is neither used nor ruled out by `trial_column = NA` is an error.
#'
#' # Time
#' Times become whole ticks of `resolution` seconds, the nearest one. Milliseconds,
#' microseconds and samples are converted with whole factors wherever these exist, not
#' through seconds: 1380.56 ms is tick 1380560 exactly. For sampled data
#' `resolution = 1 / sampling_rate` keeps the sampling clock itself. Spikes of a unit that are
#' on the same tick count once; a message says how many are left out.
#'
#' @param file Path to the file, or to the folder for `"phy"`, `"numpy"`, `"alf"` and
#'   `"openephys"`.
#' @param format One of the formats above, or `NULL` to guess.
#' @param time_unit Unit of the times in a table, in plain NumPy arrays or in a MATLAB file:
#'   `"s"`, `"ms"`, `"us"`, or `"samples"` (with `sampling_rate`). By default what the name of
#'   the column says, else seconds.
#' @param time_column,unit_column,trial_column Columns of a table, by name or number; arrays
#'   of a NumPy file or variables of a MATLAB file, by name; by default found as described.
#'   Several in `unit_column` together name a unit: channel 3, unit 1 becomes `3_1`; several
#'   in `trial_column` a trial. `trial_column = NA` for none. For NWB, `unit_column` is a
#'   column of `/units` that names the units (default `id`).
#' @param ... Not used; must be empty.
#' @param from,to Part of the recording to keep, in seconds, bounds included; the result
#'   is that of `x[time = c(from, to)]` on the whole file.
#' @param start,end Bounds of the observation interval, in seconds, as in
#'   [spike_trains()]. A file that says how long it was recorded gives them.
#' @param resolution Length of a tick, in seconds; at least 1e-12.
#' @param sampling_rate Samples in a second, for `time_unit = "samples"`, and for files that
#'   do not say it.
#' @param sep Separator of a table; `NULL` to guess.
#' @param decimal_mark `"."` or `","`. A decimal comma is never guessed, as `1,234` may
#'   also be a thousand.
#' @param header Whether a table has a header; `NULL` to guess.
#' @param groups For Phy, the labels of clusters to keep, such as `"good"` or
#'   `c("good", "mua")`; `NULL` keeps all. Labels are those of `cluster_group.tsv` (or
#'   `cluster_info.tsv`), and for clusters that nobody labelled those of
#'   `cluster_KSLabel.tsv`, else `"unsorted"`.
#' @param trials A data frame of trials, as in [spike_trains()]. For NWB also `TRUE` for the
#'   trials of the file, `FALSE` to leave them out, or the name of another table of
#'   `/intervals`, such as `"epochs"`.
#' @param trial_clock,trial_window As in [spike_trains()], for spikes that name their trial.
#' @param segment Number of the segment or recording to read, from 1, of a SpikeInterface or
#'   MaxWell file that holds several.
#'
#' @return A [spike_trains] object.
#'
#' @section Errors:
#' HDF5 files are read by the HDF5 library, which notices a file that is cut short or was
#' overwritten, but not every change of its structure: a file in doubt goes through `h5dump`
#' first. Errors about a file have the class `synfire_error_file`: no such file; a file that is cut
#' short or damaged; binary content, no table, no rows; columns missing or ambiguous; a column
#' that may number trials; rows with another number of fields; times that are not numbers, or
#' missing, with the number of such rows and the first; missing units; decimal commas; an NWB
#' file without units; arrays of another type, shape or length than expected. Errors about an
#' argument have the class `synfire_error_argument`.
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
#' Buccino AP, et al. (2020). SpikeInterface, a unified framework for spike sorting.
#' *eLife*, 9, e61834. \doi{10.7554/eLife.61834}
#'
#' Viejo G, et al. (2023). Pynapple, a toolbox for data analysis in neuroscience. *eLife*, 12,
#' RP85786. \doi{10.7554/eLife.85786}
#'
#' Siegle JH, et al. (2017). Open Ephys: an open-source, plugin-based platform for multichannel
#' electrophysiology. *Journal of Neural Engineering*, 14, 045003.
#' \doi{10.1088/1741-2552/aa5eea}
#'
#' Eglen SJ, et al. (2014). A data repository and analysis framework for spontaneous neural
#' activity recordings in developing retina. *GigaScience*, 3, 3.
#' \doi{10.1186/2047-217X-3-3}
#'
#' @seealso [read_traces()] for the traces of calcium imaging.
#' @examples
#' file <- tempfile(fileext = ".csv")
#' writeLines(c("neuron,time_ms,area", "A,1380.56,CA1", "B,1381.2,CA3", "A,1399,CA1"), file)
#' x <- read_spikes(file)
#' x
#' unit_table(x)
#' read_spikes(file, from = 1.38, to = 1.39)
#' unlink(file)
#' @export
read_spikes <- function(file, format = NULL, time_unit = c("s", "ms", "us", "samples"),
                        time_column = NULL, unit_column = NULL, trial_column = NULL, ...,
                        from = NULL, to = NULL, start = NULL, end = NULL,
                        resolution = 1e-6, sampling_rate = NULL, sep = NULL,
                        decimal_mark = ".", header = NULL, groups = NULL, trials = TRUE,
                        trial_clock = NULL, trial_window = NULL, segment = NULL) {
  check_given(file = "the path of a file or a folder")
  check_no_dots()
  time_units <- c("s", "ms", "us", "samples")
  options <- mget(intersect(names(formals()), unlist(format_options)))
  usual <- list(time_unit = time_units, decimal_mark = ".", trials = TRUE)[names(options)]
  given <- names(options)[!mapply(identical, options, usual)]
  if (is.data.frame(trials)) given <- setdiff(given, "trials")
  time_unit <- if ("time_unit" %in% given) check_choice(time_unit, time_units)
  check_path(file, "file", of = "a file or a folder")
  resolution <- check_resolution(resolution)
  if (!is.null(format)) check_choice(format, names(format_options))
  if (!is.null(sampling_rate)) check_number(sampling_rate, above = 0)
  check_choice(decimal_mark, c(".", ","))
  if ("trials" %in% given) check_trials_choice(trials)
  if (!is.null(header)) check_flag(header)
  if (!is.null(segment)) segment <- check_count(segment)
  range <- check_time_range(from, to)

  file <- path.expand(file)
  refuse_file_if(!file.exists(file), file, "there is no such file or folder", "Check the path.")
  guess <- guess_format(file, format)
  if (!is.null(guess$h5)) on.exit(close_read(guess$h5))
  check_taken(given, guess$format, format_options,
              "left out for a file of format \"%s\"",
              \(formats) sprintf("It is for %s.", and_list(formats)))
  fail <- failing(file)
  about <- list(time_unit = time_unit, time_column = time_column, unit_column = unit_column,
                trial_column = trial_column, resolution = resolution,
                sampling_rate = sampling_rate, segment = segment)
  spikes <- switch(
    guess$format,
    csv = read_csv(file, guess$head, about, sep, decimal_mark, header, fail),
    axion = read_axion(file, guess$head, resolution, fail),
    nwb = read_nwb(guess$h5, fail, unit_column, resolution,
                   if (is.data.frame(trials)) FALSE else trials, range),
    phy = read_phy(file, resolution, sampling_rate, groups),
    numpy = read_numpy(file, about, fail),
    alf = read_alf(file, resolution, fail),
    openephys = read_openephys(file, about, fail),
    nev = read_nev(file, about, fail),
    waverepo = read_waverepo(guess$h5, about, fail),
    maxwell = read_maxwell(guess$h5, about, fail),
    `3brain` = read_3brain(guess$h5, about, fail),
    matlab = read_matlab(guess$h5, file, about, fail)
  )
  if (length(spikes$ticks) == 0L && is.null(spikes$cover) && (is.null(start) || is.null(end))) {
    fail("it holds no spikes", "Give `start` and `end` to read it all the same.")
  }
  if (is.data.frame(trials)) spikes$trials <- trials
  trial <- spikes[["trial"]]
  if (!is.null(trial)) {
    placed <- place_trials(spikes$ticks, trial, spikes[["trials"]], trial_clock, trial_window,
                           start, end, resolution)
    spikes[c("ticks", "trials")] <- placed[c("ticks", "trials")]
    start <- placed$start
    end <- placed$end
  } else {
    check_no_trial(trial_clock, trial_window)
  }

  # The interval covers the whole recording, also where a reader has already left out
  # what lies outside `from` and `to`.
  seconds <- ticks_to_seconds(spikes$cover, resolution)
  if (length(seconds) && is.data.frame(trials)) {
    seconds <- c(seconds, bounds_of(spikes[["trials"]]))
  }
  all_start <- start %||% (if (length(seconds)) min(seconds))
  all_end <- end %||% (if (length(seconds)) max(seconds))
  x <- build_spike_trains(spikes$ticks, spikes$unit, start = all_start, end = all_end,
                          resolution = resolution, trials = spikes$trials,
                          unit_table = spikes$unit_table, arg = "file")
  if (!is.null(time_unit) && is.null(trial)) {
    check_bounds_unit(x, start, end, units_per_second(time_unit, sampling_rate))
  }
  say_repeated(length(spikes$ticks), nrow(x), resolution)
  if (is.null(range)) x else keep_time(x, range, arg = "from, to")
}

#' Says how many spikes of a file count once with another one
#' @noRd
say_repeated <- function(read, kept, resolution) {
  if (read == kept) return(invisible())
  info("repeated", "{counted(read - kept, 'spike')} of {commas(read)}
                    {cli::qty(read - kept)}{?is/are} on the tick of another spike of the same unit
                    and {?is/are} left out.",
       "A tick is {exact(resolution)} s, the {.arg resolution}.")
}

#' Starts and ends in a table of trials, as far as it has any
#' @noRd
bounds_of <- function(trials) {
  bounds <- unlist(lapply(c("start", "end"), \(name) {
    if (is_plain_numeric(trials[[name]])) trials[[name]]
  }))
  bounds[is.finite(bounds)]
}

check_trials_choice <- function(trials) {
  ok <- (is.logical(trials) || is.character(trials)) && length(trials) == 1L && !is.na(trials)
  refuse_if(!ok || !nzchar(trials), "trials",
            "TRUE, FALSE, the name of a table of intervals, or a data frame", describe(trials))
}

check_time_range <- function(from, to) {
  if (is.null(from) && is.null(to)) return(NULL)
  bound <- function(value, arg, default) {
    if (is.null(value)) return(default)
    if (is.numeric(value) && length(value) == 1L && is.infinite(value)) return(value)
    check_number(value, arg)
  }
  range <- c(bound(from, "from", -Inf), bound(to, "to", Inf))
  refuse_if(range[[1L]] > range[[2L]], "from", "at or before `to`",
            sprintf("%s s, and `to` is %s s", exact(range[[1L]]), exact(range[[2L]])))
  range
}

# Which arguments each format takes.
format_options <- local({
  columns <- c("time_unit", "time_column", "unit_column", "trial_column", "trial_clock",
               "trial_window", "sampling_rate")
  list(
    csv = c(columns, "sep", "decimal_mark", "header"),
    axion = character(),
    nwb = c("unit_column", "trials"),
    phy = c("sampling_rate", "groups"),
    numpy = c(columns, "segment"),
    alf = character(),
    openephys = "sampling_rate",
    nev = character(),
    waverepo = character(),
    maxwell = c("sampling_rate", "segment"),
    `3brain` = "sampling_rate",
    matlab = columns
  )
})
