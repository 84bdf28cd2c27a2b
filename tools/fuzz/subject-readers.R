# Files: a drawn recording is written in each format and read back, whole and in part; then
# bytes of the file are changed, and the reader gives a sound recording or refuses.

# ---- writing ----

# Numbers with all the digits that a double has.
all_digits <- function(v) vapply(v, function(one) {
  short <- sprintf("%.15g", one)
  if (as.double(short) == one) short else sprintf("%.17g", one)
}, character(1))

ticks_of <- function(x) round(x$time / tick_of(x))

write_bytes <- function(file, bytes, packed = "no") {
  con <- switch(packed, no = base::file(file, "wb"), gzip = gzfile(file, "wb"),
                bzip2 = bzfile(file, "wb"), xz = xzfile(file, "wb"))
  on.exit(close(con))
  writeBin(bytes, con)
}

# A table of the spikes of `x`: list of the `file`, the `args` that read it, and whether it
# is `packed`.
write_table_of <- function(x, folder) {
  sep <- one_of(",", ";", "\t", "|", " ")
  decimal <- if (sep == "," || sometimes(0.7)) "." else ","
  time_unit <- one_of("s", "ms", "us")
  factor <- c(s = 1, ms = 1e3, us = 1e6)[[time_unit]]
  time <- sub(".", decimal, all_digits(x$time * factor), fixed = TRUE)
  unit <- as.character(x$unit)
  quote <- sometimes(0.3) || sep == " "
  if (quote) unit <- paste0("\"", gsub("\"", "\"\"", unit), "\"")
  if (sometimes(0.1)) time <- paste0("\"", time, "\"")
  rows <- order(runif(nrow(x)))
  if (sometimes()) rows <- seq_len(nrow(x))
  columns <- list(time = time[rows], unit = unit[rows])
  if (sometimes(0.3)) columns <- c(list(note = rep("\"a b\"", length(rows))), columns)
  if (sometimes(0.3)) columns <- columns[order(runif(length(columns)))]
  header <- sometimes(0.8)
  lines <- c(if (header) paste(names(columns), collapse = sep),
             do.call(paste, c(unname(columns), sep = sep)))
  if (sometimes(0.1)) lines <- c("# made at random", lines)
  if (sometimes(0.1)) lines <- append(lines, "", length(lines) - 1L)
  eol <- one_of("\n", "\r\n", "\r")
  text <- paste0(paste(lines, collapse = eol), if (sometimes(0.8)) eol)
  bytes <- charToRaw(enc2utf8(text))
  if (sometimes(0.1)) bytes <- c(as.raw(c(0xef, 0xbb, 0xbf)), bytes)
  packed <- one_of("no", "gzip", "bzip2", "xz")
  file <- file.path(folder, "spikes.csv")
  write_bytes(file, bytes, packed)
  args <- list(file = file, time_unit = time_unit, decimal_mark = decimal,
               time_column = if (!header) match("time", names(columns)),
               unit_column = if (!header) match("unit", names(columns)),
               sep = if (sometimes(0.3)) sep, header = if (sometimes(0.3)) header,
               format = if (sometimes(0.3)) "csv")
  known <- if (header && "note" %in% names(columns)) {
    one_value_each(x, data.frame(unit = levels(x$unit), note = "a b"))
  }
  list(file = file, args = args[lengths(args) > 0], packed = packed, trials = FALSE,
       text = TRUE, unit_table = known)
}

# The rows of a table of units that a table of spikes shows: of units with spikes, and only
# where one of them has several.
one_value_each <- function(x, table) {
  there <- levels(droplevels(x$unit))
  if (nrow(x) > length(there)) table[table$unit %in% there, , drop = FALSE]
}

write_samples_of <- function(x, folder) {
  file <- file.path(folder, "samples.csv")
  rate <- round(1 / tick_of(x))
  lines <- c("unit,time", sprintf("%s,%.0f", x$unit, ticks_of(x)))
  write_bytes(file, charToRaw(paste0(lines, "\n", collapse = "")))
  list(file = file, args = list(file = file, time_unit = "samples", sampling_rate = rate),
       packed = "no", trials = FALSE, text = TRUE)
}

write_axion_of <- function(x, folder) {
  file <- file.path(folder, "axion.csv")
  n <- nrow(x)
  before <- c("a plate, 3", "Description", rep("", n))[seq_len(n)]
  lines <- c("Investigator,,Time (s),Electrode,Amplitude(mV)",
             sprintf("\"%s\",,%s,%s,0.1", before, all_digits(x$time), x$unit),
             ",,,", "Well Information,,A1,A2", "Treatment,,1.5,2")
  write_bytes(file, charToRaw(paste0(lines, "\r\n", collapse = "")))
  list(file = file, args = list(file = file, format = if (sometimes(0.5)) "axion"),
       packed = "no", trials = FALSE, text = TRUE)
}

write_nwb_of <- function(x, folder) {
  file <- file.path(folder, "session.nwb")
  h5 <- hdf5r::H5File$new(file, mode = "w")
  on.exit(h5$close_all())
  hdf5r::h5attr(h5, "nwb_version") <- "2.6.0"
  group <- h5$create_group("units")
  o <- order(as.integer(x$unit), x$time)
  group$create_dataset("spike_times", x$time[o],
                       gzip_level = one_of(list(NULL, 4)), chunk_dims = NULL)
  group[["spike_times_index"]] <- cumsum(tabulate(x$unit, nlevels(x$unit)))
  group[["id"]] <- seq_len(nlevels(x$unit))
  group[["label"]] <- levels(x$unit)
  known <- data.frame(unit = levels(x$unit), id = seq_len(nlevels(x$unit)))
  if (sometimes(0.3)) {
    # Columns come back in the order of their names.
    known <- data.frame(unit = known$unit, area = rep_len(c("CA1", "CA3"), nrow(known)),
                        id = known$id)
    group[["area"]] <- known$area
  }
  trials <- attr(x, "trials")
  place <- one_of("trials", "epochs")
  if (!is.null(trials)) {
    table <- h5$create_group("intervals")$create_group(place)
    table[["start_time"]] <- trials$start
    table[["stop_time"]] <- trials$end
    if (!is.null(trials$condition)) table[["condition"]] <- trials$condition
  }
  asked <- if (sometimes(0.2)) FALSE else if (place != "trials" && !is.null(trials)) place
  list(file = file, args = list(file = file, unit_column = "label", trials = asked),
       packed = "no", trials = TRUE, text = FALSE, unit_table = known)
}

write_array <- function(file, value, width) {
  header <- sprintf("{'descr': '<i%d', 'fortran_order': False, 'shape': (%d,), }", width,
                    length(value))
  header <- paste0(sprintf("%-117s", header), "\n")
  low <- value %% 2^32
  words <- rbind(low %% 65536, low %/% 65536)
  if (width == 8) {
    high <- floor(value / 2^32) %% 2^32
    words <- rbind(words, high %% 65536, high %/% 65536)
  }
  con <- base::file(file, "wb")
  on.exit(close(con))
  writeBin(as.raw(c(0x93, utf8ToInt("NUMPY"), 1, 0, nchar(header), 0)), con)
  writeBin(charToRaw(header), con)
  words <- as.integer(ifelse(words > 32767, words - 65536, words))
  writeBin(words, con, size = 2L, endian = "little")
}

write_phy_of <- function(x, folder) {
  folder <- file.path(folder, "phy")
  dir.create(folder)
  rate <- round(1 / tick_of(x))
  write_array(file.path(folder, "spike_times.npy"), ticks_of(x), 8)
  write_array(file.path(folder, "spike_clusters.npy"), as.integer(x$unit), 4)
  labelled <- sometimes()
  if (labelled) {
    writeLines(c("cluster_id\tgroup", paste0(seq_len(nlevels(x$unit)), "\t",
                                             rep_len(c("good", "mua"), nlevels(x$unit)))),
               file.path(folder, "cluster_group.tsv"))
  }
  said <- sometimes()
  if (said) writeLines(sprintf("sample_rate = %.0f.", rate), file.path(folder, "params.py"))
  groups <- if (labelled && sometimes()) "good"
  damage <- file.path(folder, c("spike_times.npy", "spike_clusters.npy",
                                if (labelled) "cluster_group.tsv", if (said) "params.py"))
  list(file = one_of(damage), args = list(file = folder, groups = groups,
                                          sampling_rate = if (!said) rate),
       packed = "no", trials = FALSE, text = FALSE, numbered = TRUE)
}

# ---- what must come back ----

# The recording `x` as a file of a kind holds it.
held_by <- function(x, made) {
  unit <- if (isTRUE(made$numbered)) as.integer(x$unit) else as.character(x$unit)
  if (made$trials) {
    known <- synfire::spike_trains(seq_len(nlevels(x$unit)), levels(x$unit))
    unit <- factor(unit, levels(known$unit))
  }
  trials <- attr(x, "trials")
  if (!made$trials || identical(made$args$trials, FALSE)) trials <- NULL
  if (!is.null(trials)) trials$trial <- NULL
  args <- list(x$time, unit, resolution = tick_of(x), trials = trials,
               unit_table = made$unit_table)
  bounds <- made$args[c("start", "end")]
  y <- attempt("spike_trains", c(args, bounds[lengths(bounds) > 0]))
  if (refused(y) || is.null(made$args$groups)) return(y)
  odd <- levels(y$unit)[as.integer(levels(y$unit)) %% 2 == 1]
  if (length(odd)) y[unit = odd] else NULL
}

# One to three bytes are changed, or bytes are left out, put in, or cut off.
damaged <- function(bytes) {
  n <- length(bytes)
  if (n < 2) return(bytes)
  at <- whole(1, n)
  switch(
    one_of("bit", "bytes", "cut", "gap", "double", "zeros"),
    bit = replace(bytes, at, xor(bytes[at], as.raw(2^whole(0, 7)))),
    bytes = replace(bytes, 1 + floor(runif(3) * n), as.raw(floor(runif(3) * 256))),
    cut = bytes[seq_len(at - 1)],
    gap = bytes[-(at:min(n, at + whole(0, 20)))],
    double = c(bytes[seq_len(at)], bytes[at:n]),
    zeros = replace(bytes, at:min(n, at + whole(0, 50)), as.raw(0))
  )
}

# A recording that a damaged file gave must be a sound one.
check_sound <- function(y, what) {
  if (refused(y)) return(invisible())
  again <- attempt("as_spike_trains", list(y))
  if (refused(again)) finding(sprintf("%s: gives a recording that is not sound", what))
}

with_bounds <- function(made, x) {
  made$args <- made$args[lengths(made$args) > 0]
  made$args$resolution <- tick_of(x)
  if (sometimes(0.3)) {
    made$args$start <- attr(x, "start")
    made$args$end <- attr(x, "end")
  }
  made
}

read_in_part <- function(made, got, x, kind) {
  if (refused(got)) return()
  part <- sort(range(one_of(x$time), one_of(x$time)))
  same(attempt("read_spikes", c(made$args, list(from = part[[1]], to = part[[2]])), kind),
       attempt("[", list(got, time = part)), paste(kind, "in part"))
}

# The HDF5 library is trusted to notice a file that is cut short, and no more.
#
# @param read The function that reads, with the arguments of `made`.
read_damaged <- function(made, got, kind, read = "read_spikes") {
  bytes <- readBin(made$file, "raw", file.size(made$file))
  hdf5 <- length(bytes) > 8 && identical(bytes[2:4], charToRaw("HDF"))
  for (k in 1:6) {
    bent <- if (hdf5) bytes[seq_len(whole(0, length(bytes) - 1))] else damaged(bytes)
    writeBin(bent, made$file)
    y <- attempt(read, made$args, paste(kind, "damaged"))
    if (read == "read_spikes") check_sound(y, paste(kind, "damaged"))
    if (made$packed != "no" && !refused(y)) same(y, got, paste("damaged", made$packed))
  }
}

fuzz_subject("readers",
  covers = list(read_spikes = c(
    "file", "format", "time_unit", "time_column", "unit_column", "from", "to", "start", "end",
    "resolution", "sampling_rate", "sep", "decimal_mark", "header", "groups", "trials"
  )),
  run = function(world) {
    x <- draw_recording(one_of(20, 60, 200))
    rate <- 1 / tick_of(x)
    # A table says nothing of a unit without spikes.
    whole_rate <- rate >= 1 && rate == round(rate)
    kinds <- c("table", "axion", if (requireNamespace("hdf5r", quietly = TRUE)) "nwb",
               if (whole_rate) c("samples", "phy"))
    kind <- one_of(kinds)
    if (nrow(x) == 0) return()
    write <- switch(kind, table = write_table_of, axion = write_axion_of, nwb = write_nwb_of,
                    samples = write_samples_of, phy = write_phy_of)
    made <- write(x, world$folder)
    made <- with_bounds(made, x)
    want <- held_by(x, made)
    got <- attempt("read_spikes", made$args, kind)
    if (!is.null(want) && is.null(made$args$groups)) same(got, want, paste(kind, "read back"))
    if (!is.null(made$args$groups) && !refused(got) && !is.null(want)) {
      same(as.data.frame(got)$time, as.data.frame(want)$time, "spikes of good clusters")
    }
    read_in_part(made, got, x, kind)
    read_damaged(made, got, kind)
  }
)
