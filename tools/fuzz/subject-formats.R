# Formats that say more than times and units: a drawn recording is written in each, with
# segments, wells, trials and what is known of units, and read back; then bytes are changed.
# Writers of arrays and of HDF5 are those of the tests.

formats_env <- local({
  env <- new.env(parent = globalenv())
  sys.source(file.path(fuzz$folder, "..", "..", "tests", "testthat", "helper-files.R"), env)
  env
})

# What came back must be the recording with these units, and this is known of them.
with_units <- function(x, labels, known = NULL, ...) {
  codes <- as.integer(x$unit)
  levels <- levels(synfire::spike_trains(seq_along(labels), labels)$unit)
  if (!is.null(known)) known <- data.frame(unit = labels, known)
  list(time = x$time, unit = factor(labels[codes], levels = levels),
       resolution = tick_of(x), unit_table = known, ...)
}

# ---- NumPy ----

write_sorting_of <- function(x, folder) {
  labels <- levels(x$unit)
  rate <- round(1 / tick_of(x))
  n <- length(labels)
  # Spikes of another segment are not read.
  segments <- whole(1, 2)
  mine <- whole(1, segments)
  ticks <- c(ticks_of(x), if (segments > 1) 1:3)
  unit <- c(as.integer(x$unit) - 1, if (segments > 1) rep(0, 3))
  segment <- c(rep(mine - 1, nrow(x)), if (segments > 1) rep(2 - mine, 3))
  known <- data.frame(depth = seq_len(n) / 2, quality = rep_len(c("good", "mua"), n))
  kind <- one_of("folder", "npz", "packed")
  args <- list(segment = if (segments > 1) mine, format = if (sometimes(0.3)) "numpy",
               sampling_rate = if (sometimes(0.2)) rate)
  if (kind == "folder") {
    file <- file.path(folder, "sorting")
    dir.create(file.path(file, "properties"), recursive = TRUE)
    info <- list(sampling_frequency = rate, unit_ids = labels, num_segments = segments)
    jsonlite::write_json(info, file.path(file, "numpysorting_info.json"), auto_unbox = TRUE,
                         digits = NA)
    if (n == 1) {
      writeLines(sprintf("{\"sampling_frequency\": %.0f, \"unit_ids\": [\"%s\"], \"num_segments\": %d}",
                         rate, labels, segments), file.path(file, "numpysorting_info.json"))
    }
    writeBin(formats_env$record_bytes(
      list(sample_index = ticks, unit_index = unit, segment_index = segment),
      rep("<i8", 3)
    ), file.path(file, "spikes.npy"))
    writeBin(formats_env$npy_bytes(known$depth, "<f8"), file.path(file, "properties/depth.npy"))
    writeBin(formats_env$npy_bytes(known$quality, "<U4"), file.path(file, "properties/quality.npy"))
    damage <- file.path(file, c("spikes.npy", "numpysorting_info.json", "properties/quality.npy"))
  } else {
    npy <- formats_env$npy_bytes
    width <- sprintf("<U%d", max(nchar(labels)))
    arrays <- list(unit_ids = npy(labels, width), num_segment = npy(segments, "<i8"),
                   sampling_frequency = npy(rate, "<f8"))
    for (k in seq_len(segments)) {
      here <- segment == k - 1
      arrays[[paste0("spike_indexes_seg", k - 1)]] <- npy(ticks[here], "<i8")
      arrays[[paste0("spike_labels_seg", k - 1)]] <- npy(labels[unit[here] + 1], width)
    }
    file <- file.path(folder, "sorting.npz")
    writeBin(formats_env$npz_bytes(arrays, kind == "packed"), file)
    known <- NULL
    damage <- file
  }
  list(file = one_of(damage), args = c(list(file = file), args), packed = "no",
       want = with_units(x, labels, known))
}

write_arrays_of <- function(x, folder) {
  npy <- formats_env$npy_bytes
  file <- file.path(folder, "spikes.np")
  time_unit <- one_of("s", "ms", "us")
  time <- x$time * c(s = 1, ms = 1e3, us = 1e6)[[time_unit]]
  code <- as.integer(x$unit)
  names <- one_of(list(c("time", "unit"), c("t", "cluster_id"), c("when", "who")))
  bytes <- switch(
    one_of("npz", "packed", "records", "wide"),
    npz = formats_env$npz_bytes(rlang::set_names(list(npy(time, "<f8"), npy(code, "<i4")), names)),
    packed = formats_env$npz_bytes(rlang::set_names(list(npy(time, "<f8"), npy(code, "<u2")), names),
                                   packed = TRUE),
    records = formats_env$record_bytes(rlang::set_names(list(time, code), names), c("<f8", "<i2")),
    wide = {
      names <- NULL
      npy(as.vector(rbind(time, code)), "<f8", sprintf("(%d, 2)", length(time)))
    }
  )
  writeBin(bytes, file)
  asked <- is.null(names) || names[[1]] == "when" || sometimes(0.3)
  given <- if (is.null(names)) 1:2 else names
  list(file = file, packed = "no", want = with_units(x, as.character(seq_len(nlevels(x$unit))),
                                                     present = TRUE),
       args = list(file = file, time_unit = time_unit, time_column = if (asked) given[[1]],
                   unit_column = if (asked) given[[2]]))
}

# ---- HDF5 ----

write_waves_of <- function(x, folder) {
  file <- file.path(folder, "waves.h5")
  o <- order(as.integer(x$unit), x$time)
  n <- nlevels(x$unit)
  known <- data.frame(x = seq_len(n) * 42, y = rev(seq_len(n)))
  formats_env$write_h5(file, list(spikes = x$time[o], sCount = tabulate(x$unit, n),
                                  names = levels(x$unit), epos = as.matrix(known)))
  list(file = file, args = list(file = file, format = if (sometimes(0.3)) "waverepo"),
       packed = "no", want = with_units(x, levels(x$unit), known))
}

write_array_of <- function(x, folder) {
  file <- file.path(folder, "array.h5")
  n <- nlevels(x$unit)
  channel <- seq_len(n) + whole(0, 5)
  rate <- round(1 / tick_of(x))
  zero <- whole(0, 1000)
  kind <- one_of("maxwell", "old maxwell", "brainwave 4", "brainwave 5")
  ticks <- ticks_of(x)
  code <- as.integer(x$unit)
  wired <- data.frame(channel = channel, electrode = channel * 10, x = channel / 2, y = -channel)
  recordings <- whole(1, 2)
  mine <- whole(1, recordings)
  if (kind == "maxwell") {
    values <- list()
    for (k in seq_len(recordings)) {
      place <- sprintf("wells/well000/rec%04d/", k)
      shift <- if (k == mine) zero else zero + 7
      values[[paste0(place, "spikes")]] <- data.frame(frameno = ticks + shift,
                                                      channel = channel[code], amplitude = 1)
      values[[paste0(place, "settings/mapping")]] <- wired
      values[[paste0(place, "settings/sampling")]] <- rate
      values[[paste0(place, "groups/routed/frame_nos")]] <- zero + 0:3
    }
    formats_env$write_h5(file, values)
    known <- wired
    args <- list(segment = if (recordings > 1) mine)
  } else if (kind == "old maxwell") {
    # 20 kHz, and a clock on which that is whole.
    formats_env$write_h5(file, list(
      `proc0/spikeTimes` = data.frame(frameno = ticks, channel = channel[code], amplitude = 1),
      mapping = wired
    ))
    known <- wired
    args <- list(resolution = 1 / 20000)
  } else if (kind == "brainwave 4") {
    channel <- seq_len(n) - 1
    known <- data.frame(channel = channel, row = 1, col = seq_len(n))
    formats_env$write_h5(file, list(
      `3BResults/3BChEvents/SpikeTimes` = ticks, `3BResults/3BChEvents/SpikeChIDs` = code - 1L,
      `3BRecInfo/3BRecVars/SamplingRate` = rate,
      `3BRecInfo/3BMeaStreams/Raw/Chs` = data.frame(Row = 1L, Col = seq_len(n))
    ))
    args <- list()
  } else {
    channel <- seq_len(n) - 1
    known <- data.frame(channel = channel)
    if (sqrt(n) == round(sqrt(n))) {
      known$row <- channel %/% sqrt(n) + 1
      known$col <- channel %% sqrt(n) + 1
    }
    formats_env$write_h5(file, list(`Well_A1/SpikeTimes` = ticks, `Well_A1/SpikeChIdxs` = code - 1L,
                                    `Well_A1/StoredChIdxs` = channel), list(SamplingRate = rate))
    args <- list()
  }
  want <- with_units(x, sprintf("%.0f", channel), known)
  if (kind == "old maxwell") {
    want$time <- ticks / 20000
    want$resolution <- 1 / 20000
  }
  list(file = file, args = c(list(file = file), args), packed = "no", want = want)
}

write_matlab_of <- function(x, folder) {
  file <- file.path(folder, "spikes.mat")
  time_unit <- one_of("s", "ms", "us")
  within <- one_of("", "s/")
  time <- x$time * c(s = 1, ms = 1e3, us = 1e6)[[time_unit]]
  values <- list(time = matrix(time, 1), unit = matrix(as.double(as.integer(x$unit)), 1))
  if (requireNamespace("hdf5r", quietly = TRUE) && sometimes()) {
    formats_env$write_h5(file, rlang::set_names(values, paste0(within, names(values))))
    bytes <- readBin(file, "raw", file.size(file))
    bytes <- c(charToRaw(sprintf("%-512s", "MATLAB 7.3 MAT-file")), bytes)
  } else {
    bytes <- formats_env$mat5_bytes(if (within == "") values else list(s = values),
                                    one_of("little", "big"), sometimes())
  }
  writeBin(bytes, file)
  list(file = file, packed = "no",
       want = with_units(x, as.character(seq_len(nlevels(x$unit))), present = TRUE),
       args = list(file = file, time_unit = time_unit,
                   unit_column = if (sometimes(0.3)) paste0(within, "unit")))
}

# ---- Tables with trials ----

write_trials_of <- function(x, folder) {
  file <- file.path(folder, "trials.csv")
  labels <- one_of(list(c("1", "2", "3"), c("a", "b"), c("7")))
  trial <- labels[1 + floor(runif(nrow(x)) * length(labels))]
  name <- one_of("trial", "Trial_ID", "sweep")
  clock <- one_of("trial", "recording")
  span <- range(x$time)
  window <- c(floor(span[[1]]), ceiling(span[[2]]))
  args <- list(trial_column = if (name == "sweep" || sometimes(0.3)) name, trial_clock = clock)
  if (clock == "trial" && sometimes(0.4)) args$trial_window <- window
  if (sometimes(0.3)) {
    args$trials <- data.frame(trial = labels, condition = rev(labels))
    if (sometimes() && diff(window) > 0) {
      args$trials$start <- seq_along(labels) * (diff(window) + 1)
      args$trials$end <- args$trials$start + diff(window)
      args$trial_window <- NULL
    }
  }
  lines <- c(sprintf("%s,time,unit", name),
             sprintf("%s,%s,\"%s\"", trial, all_digits(x$time), x$unit))
  writeLines(lines, file)
  number <- if (labels[[1]] == "a") trial else as.integer(trial)
  want <- c(with_units(x, levels(x$unit), present = TRUE), list(trial = number),
            args[intersect(names(args), c("trial_clock", "trial_window", "trials"))])
  list(file = file, args = c(list(file = file), args), packed = "no", want = want)
}

fuzz_subject("formats",
  covers = list(read_spikes = c("file", "format", "time_unit", "time_column", "unit_column",
                                "trial_column", "trials", "trial_clock", "trial_window", "segment",
                                "sampling_rate", "resolution", "from", "to")),
  run = function(world) {
    x <- draw_recording(one_of(20, 60))
    if (nrow(x) == 0) return()
    h5 <- requireNamespace("hdf5r", quietly = TRUE)
    kind <- one_of(c("arrays", "trials", "sorting", "matlab", if (h5) c("waves", "array")))
    write <- switch(kind, arrays = write_arrays_of, trials = write_trials_of,
                    sorting = write_sorting_of, waves = write_waves_of, array = write_array_of,
                    matlab = write_matlab_of)
    made <- write(x, world$folder)
    made$args <- made$args[lengths(made$args) > 0]
    made$args$resolution <- made$args$resolution %||% tick_of(x)
    # Of units without spikes some formats say nothing.
    if (isTRUE(made$want$present)) made$want$unit <- droplevels(made$want$unit)
    made$want$present <- NULL
    want <- attempt("spike_trains", made$want[lengths(made$want) > 0])
    got <- attempt("read_spikes", made$args, kind)
    same(got, want, paste(kind, "read back"))
    if (kind != "trials") read_in_part(made, got, got, kind)
    read_damaged(made, got, kind)
  }
)

# ---- Traces ----

fuzz_subject("traces",
  covers = list(read_traces = c("file", "format", "trace", "neuropil", "cells", "dataset",
                                "series_in", "sampling_rate")),
  run = function(world) {
    steps <- whole(3, 40)
    n <- whole(1, 6)
    traces <- matrix(round(rnorm(steps * n), 2), steps)
    h5 <- requireNamespace("hdf5r", quietly = TRUE)
    kind <- one_of(c("npy", "suite2p", "csv", if (h5) c("hdf5", "caiman")))
    made <- switch(kind, npy = traces_npy(traces, world$folder),
                   suite2p = traces_suite2p(traces, world$folder),
                   csv = traces_csv(traces, world$folder),
                   hdf5 = traces_hdf5(traces, world$folder),
                   caiman = traces_caiman(traces, world$folder))
    made$packed <- "no"
    made$args <- made$args[lengths(made$args) > 0]
    rate <- one_of(list(NULL, 30))
    if (is.null(made$rate)) made$args$sampling_rate <- rate
    if (sometimes(0.3)) made$args$format <- kind
    got <- attempt("read_traces", made$args, kind)
    if (refused(got)) {
      finding(sprintf("%s: a sound file was refused: %s", kind, conditionMessage(got)))
    } else {
      same(unname(as.matrix(got)[, , drop = FALSE]), made$want, paste(kind, "read back"))
      same(attr(got, "sampling_rate"), made$rate %||% rate, paste(kind, "rate"))
    }
    read_damaged(made, got, kind, "read_traces")
  }
)

traces_npy <- function(traces, folder) {
  file <- file.path(folder, "traces.npy")
  rows <- sometimes()
  shape <- sprintf("(%d, %d)", if (rows) ncol(traces) else nrow(traces),
                   if (rows) nrow(traces) else ncol(traces))
  order <- one_of("False", "True")
  value <- if (rows) t(traces) else traces
  writeBin(formats_env$npy_bytes(if (order == "True") as.vector(value) else as.vector(t(value)),
                                 "<f8", shape, order = order), file)
  list(file = file, want = traces,
       args = list(file = file, series_in = if (rows) "rows" else "columns"))
}

traces_suite2p <- function(traces, folder) {
  folder <- file.path(folder, "plane0")
  dir.create(folder)
  n <- ncol(traces)
  around <- traces[, rev(seq_len(n)), drop = FALSE] / 4
  cell <- rep_len(c(1, 0, 1), n)
  put <- \(name, value) writeBin(
    formats_env$npy_bytes(as.vector(value), "<f8", sprintf("(%d, %d)", ncol(value), nrow(value))),
    file.path(folder, paste0(name, ".npy"))
  )
  put("F", traces)
  put("Fneu", around)
  put("spks", traces + 1)
  put("iscell", rbind(cell, 0.5))
  cells <- sometimes(0.7)
  trace <- one_of(list(NULL, "F", "spks"))
  neuropil <- one_of(0.7, 0, 0.25)
  chosen <- if (cells) which(cell == 1) else seq_len(n)
  want <- if (identical(trace, "spks")) traces + 1 else traces - neuropil * around
  list(file = file.path(folder, one_of("F.npy", "Fneu.npy", "spks.npy", "iscell.npy")),
       want = want[, chosen, drop = FALSE],
       args = list(file = folder, trace = trace, neuropil = neuropil,
                   cells = if (!cells || sometimes()) cells))
}

traces_csv <- function(traces, folder) {
  file <- file.path(folder, "traces.csv")
  time <- sometimes()
  columns <- if (time) cbind(seq_len(nrow(traces)) / 4, traces) else traces
  names <- c(if (time) "time", sprintf("cell %d", seq_len(ncol(traces))))
  # One column has no separator that would show that it is a table.
  lines <- c(paste(names, collapse = ","), apply(columns, 1, paste, collapse = ","))
  writeLines(lines, file)
  list(file = file, want = traces, args = list(file = file), rate = if (time) 4)
}

traces_hdf5 <- function(traces, folder) {
  file <- file.path(folder, "traces.h5")
  rows <- sometimes()
  several <- sometimes()
  formats_env$write_h5(file, c(list(`data/x` = if (rows) t(traces) else traces),
                               if (several) list(other = diag(2))))
  list(file = file, want = traces,
       args = list(file = file, dataset = if (several) "data/x",
                   series_in = if (rows) "rows" else "columns"))
}

traces_caiman <- function(traces, folder) {
  file <- file.path(folder, "results.hdf5")
  n <- ncol(traces)
  accepted <- seq(1, n, by = 2)
  formats_env$write_h5(file, list(
    `estimates/C` = traces, `estimates/S` = traces + 1, `estimates/F_dff` = "NoneType",
    `estimates/idx_components` = accepted - 1L, `params/data/fr` = 12.5
  ))
  trace <- one_of(list(NULL, "C", "S"))
  cells <- sometimes(0.7)
  want <- if (identical(trace, "S")) traces + 1 else traces
  list(file = file, want = want[, if (cells) accepted else seq_len(n), drop = FALSE], rate = 12.5,
       args = list(file = file, trace = trace, cells = if (!cells || sometimes()) cells))
}
