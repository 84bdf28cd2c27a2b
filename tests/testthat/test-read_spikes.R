csv_file <- function(..., .env = parent.frame(), eol = "\n") {
  file <- withr::local_tempfile(fileext = ".csv", .local_envir = .env)
  con <- file(file, "wb")
  writeLines(c(...), con, sep = eol)
  close(con)
  file
}

raw_file <- function(bytes, .env = parent.frame()) {
  file <- withr::local_tempfile(.local_envir = .env)
  writeBin(bytes, file)
  file
}

# The folder of a temporary file is another one each time.
no_folder <- function(lines) {
  lines <- gsub("['\"]?[^ '\"]*[/\\\\]file[0-9a-f]+(\\.[a-z]+)?['\"]?", "FILE", lines)
  gsub("[^ ']*[/\\\\]FILE", "FILE", lines)
}

expect_file_error <- function(expr) {
  expr <- rlang::enquo(expr)
  expect_error(rlang::eval_tidy(expr), class = "synfire_error_file")
}

messages_of <- function(expr) {
  no_folder(conditionMessage(tryCatch(expr, error = identity)))
}

# ---- Tables ------------------------------------------------------------------------

test_that("columns are found by name, in any order, among others", {
  want <- spike_trains(c(0.1, 0.2), c("a", "b"))
  expect_identical(read_spikes(csv_file("time,unit", "0.1,a", "0.2,b")), want)
  expect_identical(read_spikes(csv_file("Unit\tTime", "a\t0.1", "b\t0.2")), want)
  expect_identical(read_spikes(csv_file("x;spike_time;neuron", "1;0.1;a", "2;0.2;b")), want)
  expect_identical(read_spikes(csv_file("amp,Electrode,id,Timestamps (s)",
                                        "9,a,1,0.1", "9,b,2,0.2")), want)
  expect_identical(read_spikes(csv_file("id,t", "a,0.1", "b,0.2")), want)
  expect_identical(read_spikes(csv_file("cluster_id|times", "a|0.1", "b|0.2")), want)
  expect_identical(read_spikes(csv_file("time   unit", "0.1   a", "0.2 b")), want)
  expect_identical(read_spikes(csv_file("# from the rig", "", "time,unit", "0.1,a", "0.2,b")), want)
})

test_that("columns are found by content without a header", {
  want <- spike_trains(c(0.1, 0.2), c("a", "b"))
  expect_identical(read_spikes(csv_file("0.1,a", "0.2,b")), want)
  expect_identical(read_spikes(csv_file("a,0.1", "b,0.2")), want)
  # Decimals tell a time from a number of a channel; so does never decreasing.
  expect_identical(read_spikes(csv_file("3,0.5", "1,0.2")), spike_trains(c(0.5, 0.2), c(3, 1)))
  expect_identical(read_spikes(csv_file("3,10", "1,20", "1,30")),
                   spike_trains(c(10, 20, 30), c(3, 1, 1)))
  expect_file_error(read_spikes(csv_file("1,10", "2,20", "3,30")))
  expect_identical(
    read_spikes(csv_file("1,10", "2,20", "3,30"), time_column = 2),
    spike_trains(c(10, 20, 30), 1:3)
  )
  expect_identical(
    read_spikes(csv_file("1,10,x", "2,20,y"), time_column = 2, unit_column = c(1, 3)),
    spike_trains(c(10, 20), c("1_x", "2_y"))
  )
  expect_identical(read_spikes(csv_file("a,0.1"), header = FALSE), spike_trains(0.1, "a"))
})

test_that("what R writes is read back", {
  x <- spike_trains(c(0.1, 0.25, 3), c("n 1", "n,2", "n \"3\""))
  plain <- as.data.frame(x)
  file <- withr::local_tempfile()
  write.csv(plain, file)
  expect_identical(as.data.frame(read_spikes(file))$time, plain$time)
  write.table(as.data.frame(spike_trains(c(0.1, 0.2), c("a", "b"))), file, sep = ",")
  expect_identical(read_spikes(file), spike_trains(c(0.1, 0.2), c("a", "b")))
  write.table(as.data.frame(spike_trains(c(0.1, 0.2), c("a", "b"))), file)
  expect_identical(read_spikes(file), spike_trains(c(0.1, 0.2), c("a", "b")))
  write.csv(plain[1:2, ], file, row.names = FALSE)
  expect_identical(levels(read_spikes(file)$unit), c("n 1", "n,2"))
})

test_that("time units are converted exactly", {
  file <- csv_file("time,unit", "1380.56,a", "2082.84,a")
  expect_identical(synfire:::train_ticks(read_spikes(file, time_unit = "ms")),
                   c(1380560, 2082840))
  expect_identical(read_spikes(file, time_unit = "us")$time, c(0.001381, 0.002083))
  expect_identical(read_spikes(file)$time, c(1380.56, 2082.84))
  samples <- csv_file("unit,time", "1,3", "2,30000")
  expect_identical(
    read_spikes(samples, time_unit = "samples", sampling_rate = 30000)$time, c(1e-4, 1)
  )
  expect_identical(synfire:::train_ticks(
    read_spikes(samples, time_unit = "samples", sampling_rate = 30000, resolution = 1 / 30000)
  ), c(3, 30000))
  expect_error(read_spikes(samples, time_unit = "samples"), class = "synfire_error_argument")
  expect_error(read_spikes(samples, sampling_rate = 30000), class = "synfire_error_argument")
  expect_error(read_spikes(samples, time_unit = "min"), class = "synfire_error_argument")
})

test_that("the header may say the unit of time, and the argument goes first", {
  for (name in c("time_ms", "Time (ms)", "spike_time [ms]", "time.ms", "Time in ms")) {
    expect_identical(read_spikes(csv_file(paste0(name, ",unit"), "1500,a"))$time, 1.5)
  }
  expect_identical(read_spikes(csv_file("time_us,unit", "1500,a"))$time, 0.0015)
  expect_identical(read_spikes(csv_file("Time (s),unit", "1.5,a"))$time, 1.5)
  expect_warning(x <- read_spikes(csv_file("time_ms,unit", "1.5,a"), time_unit = "s"), "ms")
  expect_identical(x$time, 1.5)
  expect_no_warning(read_spikes(csv_file("time_ms,unit", "1.5,a"), time_unit = "ms"))
})

test_that("units as numbers are ordered as numbers, and keep their spelling", {
  expect_identical(levels(read_spikes(csv_file("time,unit", "1,10", "2,9", "3,2"))$unit),
                   c("2", "9", "10"))
  expect_identical(levels(read_spikes(csv_file("time,unit", "1,010", "2,9"))$unit),
                   c("9", "010"))
})

test_that("line ends, byte order marks, quotes and blanks do not matter", {
  want <- spike_trains(c(0.1, 0.2), c("a", "b"))
  lines <- c("time,unit", "0.1,a", "0.2,b")
  expect_identical(read_spikes(csv_file(lines, eol = "\r\n")), want)
  expect_identical(read_spikes(csv_file(lines, eol = "\r")), want)
  expect_identical(read_spikes(csv_file("\"time\",\"unit\"", "\"0.1\",\"a\"", "0.2,\"b\"")), want)
  expect_identical(read_spikes(csv_file("time, unit", " 0.1, a ", "", "0.2 , b", "", "")), want)
  expect_identical(read_spikes(csv_file("time,unit,", "0.1,a,", "0.2,b,")), want)

  bom <- as.raw(c(0xef, 0xbb, 0xbf))
  text <- \(lines) charToRaw(paste0(paste(lines, collapse = "\n"), "\n"))
  expect_identical(read_spikes(raw_file(c(bom, text(lines)))), want)
  expect_identical(read_spikes(raw_file(c(bom, text(lines[-1])))), want)
  # No line end after the last row.
  expect_identical(read_spikes(raw_file(charToRaw("time,unit\n0.1,a\n0.2,b"))), want)
})

test_that("names of units in Latin-1 and UTF-8 come out as UTF-8", {
  utf8 <- raw_file(c(charToRaw("time,unit\n1,"), as.raw(c(0xc3, 0xa9)), charToRaw("\n")))
  latin <- raw_file(c(charToRaw("time,unit\n1,"), as.raw(0xe9), charToRaw("\n")))
  expect_identical(levels(read_spikes(utf8)$unit), "\u00e9")
  expect_identical(levels(read_spikes(latin)$unit), "\u00e9")
})

test_that("compressed files are read", {
  file <- withr::local_tempfile(fileext = ".csv.gz")
  con <- gzfile(file, "w")
  writeLines(c("time,unit", "0.1,a", "0.2,b"), con)
  close(con)
  expect_identical(read_spikes(file), spike_trains(c(0.1, 0.2), c("a", "b")))
  damaged <- raw_file(readBin(file, "raw", 12))
  expect_file_error(read_spikes(damaged))
})

test_that("decimal commas are read when said, and never guessed", {
  semicolon <- csv_file("time;unit", "0,5;a", "1,25;b")
  want <- spike_trains(c(0.5, 1.25), c("a", "b"))
  expect_identical(read_spikes(semicolon, decimal_mark = ","), want)
  expect_identical(read_spikes(csv_file("0,5;a", "1,25;b"), decimal_mark = ","), want)
  expect_identical(
    read_spikes(csv_file("time,unit", "\"0,5\",a", "\"1,25\",b"), decimal_mark = ",", sep = ";") |>
      try(silent = TRUE) |> inherits("try-error"), TRUE
  )
  expect_snapshot(cat(messages_of(read_spikes(semicolon))))
  expect_snapshot(cat(messages_of(read_spikes(csv_file("0,5;a", "1,25;b")))))
  expect_snapshot(cat(messages_of(read_spikes(csv_file("time,unit", "0,5,a", "1,25,b")))))
  expect_snapshot(cat(messages_of(read_spikes(csv_file("time,unit", "\"0,5\",a")))))
})

test_that("a part of the recording is what `[` gives", {
  file <- csv_file("time,unit", "0,a", "1,b", "2,a", "3,b")
  x <- read_spikes(file)
  expect_identical(read_spikes(file, from = 1, to = 2), x[time = c(1, 2)])
  expect_identical(read_spikes(file, from = 1), x[time = c(1, Inf)])
  expect_identical(read_spikes(file, to = 1), x[time = c(-Inf, 1)])
  expect_identical(attr(read_spikes(file, start = -1, end = 10), "end"), 10)
  expect_identical(attr(read_spikes(file, start = -1, end = 10, to = 5), "end"), 5)
  expect_error(read_spikes(file, from = 2, to = 1), class = "synfire_error_argument")
  expect_error(read_spikes(file, from = 20), class = "synfire_error_argument")
  expect_error(read_spikes(file, from = 1e-7), class = "synfire_error_argument")
  expect_error(read_spikes(file, start = 1), class = "synfire_error_argument")
})

test_that("a table that is none, or is damaged, is an error that says where", {
  says <- \(...) cat(messages_of(read_spikes(csv_file(...))))
  expect_snapshot(says("time,unit"))
  expect_snapshot(says("a,b", "c,d"))
  expect_snapshot(says("time,amplitude", "1,2"))
  expect_snapshot(says("time,unit,channel", "1,2,3"))
  expect_snapshot(says("unit,spike_time,timestamp", "1,2,3"))
  expect_snapshot(says("time", "1", "2"))
  expect_snapshot(says("It was a dark", "and stormy", "night;"))
  expect_snapshot(says("time,unit", "0.1,a", "x,b"))
  expect_snapshot(says("time,unit", "0.1,a", ",b", "NA,c"))
  expect_snapshot(says("time,unit", "0.1,a", "NaN,b", "Inf,c"))
  expect_snapshot(says("time,unit", "0.1,a", "0.2,", "0.3,NA"))
  expect_snapshot(says("time,unit", "0.1,a", "0.2"))
  expect_snapshot(says("time,unit", "0.1,a", "0.2,b,7,8"))
  expect_snapshot(says("time,unit", "0.1,\"a", "0.2,b"))
  expect_snapshot(says("", ""))
  # An open quote would swallow the rows up to the next one.
  expect_snapshot(says("time,unit", "0.1,a", "0.2,\"b", "0.3,\"c", "0.4,d"))
  expect_file_error(read_spikes(csv_file("time,unit", "0.1,a", "0x,b")))
})

test_that("damage far from the head is found too", {
  many <- sprintf("%d,n%d", 1:20000, 1:20000 %% 7)
  says <- \(...) cat(messages_of(read_spikes(csv_file("time,unit", many, ...))))
  expect_identical(nrow(read_spikes(csv_file("time,unit", many))), 20000L)
  expect_snapshot(says("9,n1", "oops,n1"))
  expect_snapshot(says("9,n1", "9"))
  # scan() alone would take this row for two.
  expect_snapshot(says("9,n1", "9,n2,10,n3"))
  expect_snapshot(says("9,n1", "9,n2,10"))
  expect_snapshot(says("9,n1", ",n2"))
  expect_snapshot(says("9,n1", "9,"))
  expect_snapshot(says("9,n1", "9,\"n2"))
  bytes <- c(charToRaw(paste0(c("time,unit", many), "\n", collapse = "")),
             as.raw(c(0x31, 0x2c, 0x00, 0x01, 0x0a)))
  expect_snapshot(cat(messages_of(read_spikes(raw_file(bytes)))))
})

test_that("files that are no text are refused", {
  expect_snapshot(cat(messages_of(read_spikes(raw_file(raw())))))
  expect_snapshot(cat(messages_of(read_spikes(raw_file(as.raw(c(1:8, 200:255)))))))
  utf16 <- as.raw(c(0xff, 0xfe, 0x74, 0x00, 0x2c, 0x00))
  expect_snapshot(cat(messages_of(read_spikes(raw_file(utf16)))))
  set.seed(5)
  for (k in 1:50) {
    garbage <- raw_file(as.raw(sample(0:255, 2000, TRUE)))
    expect_file_error(read_spikes(garbage))
  }
  expect_file_error(read_spikes(file.path(tempdir(), "nobody-has-written-this.csv")))
})

test_that("printable garbage is an error, never a crash", {
  set.seed(6)
  for (k in 1:50) {
    text <- rawToChar(as.raw(sample(c(10, 32:126), 500, TRUE)))
    expect_error(read_spikes(csv_file(text)), class = "synfire_error")
  }
})

test_that("a huge file of another kind is refused from its head", {
  skip_on_cran()
  file <- withr::local_tempfile(fileext = ".csv")
  con <- file(file, "wb")
  seek(con, 2^31, rw = "write")
  writeBin(as.raw(0), con)
  close(con)
  skip_if(file.size(file) < 2^31, "no sparse files here")
  took <- system.time(expect_file_error(read_spikes(file)))[["elapsed"]]
  expect_lt(took, 1)
  took <- system.time(expect_file_error(read_spikes(file, format = "csv")))[["elapsed"]]
  expect_lt(took, 1)
  took <- system.time(expect_file_error(read_spikes(file, format = "nwb")))[["elapsed"]]
  expect_lt(took, 1)

  # Text without a single line end is no table either.
  long <- csv_file(strrep("0.1,a ", 20000))
  expect_snapshot(cat(messages_of(read_spikes(long))))
})

test_that("options a format would ignore are an error", {
  file <- csv_file("time,unit", "1,a")
  expect_snapshot(error = TRUE, read_spikes(file, groups = "good"))
  expect_snapshot(error = TRUE, read_spikes(file, trials = FALSE))
  expect_snapshot(error = TRUE, read_spikes(file, format = "xls"))
  expect_snapshot(error = TRUE, read_spikes(file, time_column = "when"))
  expect_snapshot(error = TRUE, read_spikes(file, time_column = 3))
  expect_snapshot(error = TRUE, read_spikes(file, unit_column = "time"))
  expect_snapshot(error = TRUE, read_spikes(file, sep = ",,"))
  expect_snapshot(error = TRUE, read_spikes(file, sep = ",", decimal_mark = ","))
  expect_error(read_spikes(file, tmie_unit = "ms"))
  expect_error(read_spikes(1), class = "synfire_error_argument")
})

test_that("the shared recordings are read", {
  x <- read_spikes(shared_data("episodes/tc89.csv.gz"), time_unit = "ms")
  expect_identical(nrow(x), 208277L)
  expect_identical(nlevels(x$unit), 59L)
  expect_identical(x$time[[1L]], 1.38056)
  y <- read_spikes(shared_data("episodes/axion_B3.csv.gz"), time_unit = "ms")
  expect_identical(c(nrow(y), nlevels(y$unit)), c(11322L, 16L))
})

test_that("a table of 20 MB takes less than two seconds", {
  skip_on_cran()
  skip_on_ci()
  set.seed(7)
  n <- 1e6
  x <- NULL
  file <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("time,neuron", sprintf("%.6f,channel%02d", cumsum(runif(n, 0, 1e-3)),
                                      sample(60, n, TRUE))), file)
  expect_gt(file.size(file), 18e6)
  # The best processor time of three: other processes must not fail the test.
  took <- replicate(3, system.time(x <<- read_spikes(file))[c("user.self", "sys.self")])
  expect_gt(nrow(x), 999000)
  expect_lt(min(colSums(took)), 2)
})

# ---- Axion -------------------------------------------------------------------------

axion_lines <- c(
  "Investigator,,Time (s),Electrode,Amplitude(mV)",
  "Recording Name,\"plate, 3\",0.01200,A1_22,0.03",
  "Description,,0.01304,A1_11,0.02",
  "Maestro Pro Settings,,0.01304,B2_11,0.02",
  ",,0.5,A1_22,0.04",
  ",,,",
  "Well Information,,A1,A2,A3",
  "Treatment,,1.5,2,3"
)

test_that("Axion spike lists are read, and the tables below are not", {
  file <- csv_file(axion_lines, eol = "\r\n")
  x <- read_spikes(file)
  expect_identical(x, spike_trains(c(0.012, 0.01304, 0.01304, 0.5),
                                   c("A1_22", "A1_11", "B2_11", "A1_22")))
  expect_identical(read_spikes(file, format = "axion", from = 0.013)$time, c(0.01304, 0.01304, 0.5))
  expect_error(read_spikes(file, time_unit = "ms"), class = "synfire_error_argument")
  # A plain table with these names is a table.
  expect_identical(read_spikes(csv_file("Time (s),Electrode", "1,a")), spike_trains(1, "a"))
})

test_that("damaged Axion lists are an error", {
  says <- \(lines, ...) cat(messages_of(read_spikes(csv_file(lines), format = "axion", ...)))
  expect_snapshot(says(sub("0.01304,A1_11", "soon,A1_11", axion_lines)))
  expect_snapshot(says(sub("0.01304,A1_11", "0.01304,", axion_lines)))
  expect_snapshot(says(sub("0.01304,A1_11", ",A1_11", axion_lines)))
  expect_snapshot(says(axion_lines[-1]))
  expect_snapshot(says(axion_lines[1]))
})

# ---- NumPy and Phy -----------------------------------------------------------------

write_npy <- function(file, value, descr, shape = sprintf("(%d,)", length(value)),
                      version = 1L, bytes = NULL) {
  header <- sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
  fixed <- 8L + if (version == 1L) 2L else 4L
  pad <- (64L - (fixed + nchar(header) + 1L) %% 64L) %% 64L
  header <- paste0(header, strrep(" ", pad), "\n")
  con <- file(file, "wb")
  on.exit(close(con))
  writeBin(as.raw(c(0x93, utf8ToInt("NUMPY"), version, 0)), con)
  writeBin(nchar(header), con, size = if (version == 1L) 2L else 4L, endian = "little")
  writeBin(charToRaw(header), con)
  if (!is.null(bytes)) return(writeBin(as.raw(bytes), con))
  kind <- substr(descr, 2, 2)
  width <- as.integer(substr(descr, 3, 3))
  if (kind == "f") return(writeBin(as.double(value), con, size = width, endian = "little"))
  # Base 256, two's complement: as slow and plain as can be.
  for (v in value) {
    if (v < 0) v <- v + 256^width
    for (k in seq_len(width)) {
      writeBin(as.raw(v %% 256), con)
      v <- v %/% 256
    }
  }
}

test_that(".npy arrays of all plain types are read", {
  file <- withr::local_tempfile(fileext = ".npy")
  read <- \(value, descr, ...) {
    write_npy(file, value, descr, ...)
    synfire:::read_npy(file)
  }
  for (width in c(1, 2, 4)) {
    top <- 2^(8 * width - 1)
    signed <- c(0, 1, -1, top - 1, -top)
    unsigned <- c(0, 1, top - 1, top, 2 * top - 1)
    prefix <- if (width == 1) "|" else "<"
    expect_identical(read(signed, paste0(prefix, "i", width)), signed)
    expect_identical(read(unsigned, paste0(prefix, "u", width)), unsigned)
  }
  big <- c(0, 1, 2^31, 2^32, 2^32 + 2^31 + 5, 123456789012, 2^53 - 1)
  expect_identical(read(big, "<i8"), big)
  expect_identical(read(big, "<u8"), big)
  expect_identical(read(c(1.5, -2, 1e300), "<f8"), c(1.5, -2, 1e300))
  expect_identical(read(c(1.5, -2), "<f4"), c(1.5, -2))

  # A negative 64-bit integer has all high bits set.
  expect_identical(read(1, "<i8", bytes = rep(255, 8)), -1)
  expect_error(read(1, "<u8", bytes = rep(255, 8)), class = "synfire_error_file")
  expect_identical(read(numeric(), "<i8"), numeric())
})

test_that(".npy shapes and versions", {
  file <- withr::local_tempfile(fileext = ".npy")
  read <- \(...) {
    write_npy(file, 1:3, "<i4", ...)
    synfire:::read_npy(file)
  }
  expect_identical(read(shape = "(3, 1)"), c(1, 2, 3))
  expect_identical(read(shape = "(1, 3)"), c(1, 2, 3))
  expect_identical(read(version = 2L), c(1, 2, 3))
  expect_file_error(read(version = 3L))
  expect_file_error(read(shape = "(1, 3, 1)"))
  expect_file_error(read(shape = "()"))
  expect_file_error(read(shape = "(-3,)"))
  says <- \(...) cat(messages_of(read(...)))
  expect_snapshot(says(shape = "(3, 2)"))
  expect_snapshot(says(shape = "(4,)"))
  expect_snapshot(says(shape = "(1000000000000,)"))
  says_type <- \(descr) {
    write_npy(file, 1, descr, bytes = rep(0, 16))
    cat(messages_of(synfire:::read_npy(file)))
  }
  expect_snapshot(says_type(">i4"))
  expect_snapshot(says_type("<c8"))
  expect_snapshot(says_type("|O"))
})

test_that("a damaged .npy is an error wherever it is cut", {
  skip_on_cran()
  file <- withr::local_tempfile(fileext = ".npy")
  write_npy(file, 1:3, "<i4")
  whole <- readBin(file, "raw", 1e4)
  cut <- withr::local_tempfile()
  for (n in seq(0, length(whole) - 1L, by = 3)) {
    writeBin(whole[seq_len(n)], cut)
    expect_file_error(synfire:::read_npy(cut))
  }
  set.seed(8)
  for (k in 1:200) {
    bent <- whole
    bent[sample(length(bent), 3)] <- as.raw(sample(0:255, 3))
    writeBin(bent, cut)
    got <- tryCatch(synfire:::read_npy(cut), synfire_error_file = \(e) "refused")
    expect_true(identical(got, "refused") || is.double(got))
  }
})

phy_folder <- function(.env = parent.frame(), times = c(0, 30, 60000, 90), clusters = c(10, 2, 2, 7),
                       params = "sample_rate = 30000.") {
  folder <- withr::local_tempfile(.local_envir = .env)
  dir.create(folder)
  write_npy(file.path(folder, "spike_times.npy"), times, "<i8",
            sprintf("(%d, 1)", length(times)))
  write_npy(file.path(folder, "spike_clusters.npy"), clusters, "<i4")
  if (!is.null(params)) writeLines(c("dat_path = 'x.dat'", params), file.path(folder, "params.py"))
  folder
}

test_that("a Phy folder is read", {
  folder <- phy_folder()
  expect_identical(read_spikes(folder), spike_trains(c(0, 0.001, 2, 0.003), c(10, 2, 2, 7)))
  expect_identical(synfire:::train_ticks(read_spikes(folder, resolution = 1 / 30000)),
                   c(0, 30, 90, 60000))
  expect_identical(read_spikes(folder, format = "phy", from = 0.001, to = 0.003)$time,
                   c(0.001, 0.003))
  expect_identical(read_spikes(phy_folder(params = NULL), sampling_rate = 30000),
                   read_spikes(folder))
})

test_that("groups choose clusters, and people overrule Kilosort", {
  folder <- phy_folder()
  writeLines(c("cluster_id\tKSLabel", "2\tgood", "7\tgood", "10\tmua"),
             file.path(folder, "cluster_KSLabel.tsv"))
  good <- read_spikes(folder, groups = "good")
  expect_identical(levels(good$unit), c("2", "7"))
  # The interval stays that of the whole recording.
  expect_identical(attr(good, "start"), 0)
  writeLines(c("cluster_id\tgroup", "7\tnoise"), file.path(folder, "cluster_group.tsv"))
  expect_identical(levels(read_spikes(folder, groups = "good")$unit), "2")
  expect_identical(levels(read_spikes(folder, groups = c("mua", "noise"))$unit), c("7", "10"))
  expect_identical(nlevels(read_spikes(folder)$unit), 3L)
  expect_snapshot(error = TRUE, read_spikes(folder, groups = "great"))
  expect_error(read_spikes(folder, groups = 1), class = "synfire_error_argument")
  expect_identical(nrow(read_spikes(phy_folder(), groups = "unsorted")), 4L)
})

test_that("a damaged Phy folder is an error", {
  skip_on_cran()
  says <- \(folder, ...) cat(messages_of(read_spikes(folder, ...)))
  empty <- withr::local_tempfile()
  dir.create(empty)
  expect_snapshot(says(empty))
  expect_snapshot(says(phy_folder(clusters = 1:3)))
  expect_snapshot(says(phy_folder(params = NULL)))
  expect_snapshot(says(phy_folder(params = "rate = 3")))
  expect_snapshot(says(phy_folder(), sampling_rate = 25000))
  expect_snapshot(says(phy_folder(times = numeric(), clusters = numeric())))
  expect_snapshot(says(phy_folder(), format = "csv"))
  expect_snapshot(says(file.path(phy_folder(), "spike_times.npy")))
})

# ---- NWB ---------------------------------------------------------------------------

write_nwb <- function(times = list(c(0.5, 1, 2), numeric(), c(0.25, 3)), ids = c(4L, 10L, 5L),
                      trials = NULL, ..., units = TRUE, .env = parent.frame()) {
  skip_if_not_installed("hdf5r")
  file <- withr::local_tempfile(fileext = ".nwb", .local_envir = .env)
  h5 <- hdf5r::H5File$new(file, mode = "w")
  on.exit(h5$close_all())
  hdf5r::h5attr(h5, "nwb_version") <- "2.6.0"
  if (units) {
    group <- h5$create_group("units")
    group[["spike_times"]] <- as.double(unlist(times))
    group[["spike_times_index"]] <- as.integer(cumsum(lengths(times)))
    group[["id"]] <- ids
    extra <- list(...)
    for (name in names(extra)) group[[name]] <- extra[[name]]
  }
  if (!is.null(trials)) {
    group <- h5$create_group("intervals")$create_group("trials")
    for (name in names(trials)) group[[name]] <- trials[[name]]
  }
  file
}

test_that("units of an NWB file are read, silent ones too", {
  skip_on_cran()
  file <- write_nwb(unit_name = c("x", "y", "z"))
  x <- read_spikes(file)
  expect_identical(x, spike_trains(c(0.5, 1, 2, 0.25, 3),
                                   factor(c(4, 4, 4, 5, 5), levels = c(4, 5, 10))))
  expect_identical(levels(read_spikes(file, unit_column = "unit_name")$unit), c("x", "y", "z"))
  expect_identical(nrow(read_spikes(file, unit_column = "unit_name")[unit = "x"]), 3L)
})

test_that("trials of an NWB file are read and rounded as spikes are", {
  # Bounds that are not whole ticks, and a spike right on one.
  edge <- 1.0000004
  file <- write_nwb(times = list(c(edge, 2)), ids = 0L, trials = list(
    start_time = c(0, edge), stop_time = c(edge, 2.5), id = c(11L, 12L)
  ))
  x <- read_spikes(file)
  expect_identical(attr(x, "trials"),
                   data.frame(trial = c(11L, 12L), start = c(0, 1), end = c(1, 2.5)))
  expect_identical(synfire:::trial_of(x), c(2L, 2L))
  expect_identical(attr(x, "start"), 0)
  expect_null(attr(read_spikes(file, trials = FALSE), "trials"))
})

test_that("a range of an NWB file is what `[` gives", {
  skip_on_cran()
  file <- write_nwb(trials = list(start_time = c(0, 2), stop_time = c(1.5, 4)))
  x <- read_spikes(file)
  expect_identical(read_spikes(file, from = 0.5, to = 2), x[time = c(0.5, 2)])
  expect_identical(read_spikes(file, to = 0.3), x[time = c(-Inf, 0.3)])
  # Also where blocks cut through units.
  set.seed(9)
  times <- replicate(7, sort(runif(sample(0:40, 1), 0, 10)), simplify = FALSE)
  file <- write_nwb(times, ids = 0:6)
  whole <- spike_trains(unlist(times), factor(rep(0:6, lengths(times)), levels = 0:6))
  expect_identical(read_spikes(file), whole)
  for (block in c(1, 7, 64)) for (range in list(NULL, c(2, 3))) {
    got <- synfire:::read_nwb(file, NULL, 1e-6, TRUE, range, NULL, block = block)
    part <- if (is.null(range)) whole else whole[time = range]
    expect_identical(spike_trains(got$ticks / 1e6, got$unit), spike_trains(part$time, part$unit))
    expect_identical(got$cover, synfire:::interval_ticks(whole))
  }
})

test_that("observation intervals give the interval", {
  file <- write_nwb(obs_intervals = matrix(c(0, 5, 0, 5, 0, 6), 2),
                    obs_intervals_index = 1:3)
  expect_identical(attr(read_spikes(file), "end"), 6)
})

test_that("damaged NWB files are an error", {
  skip_on_cran()
  skip_if_not_installed("hdf5r")
  says <- \(file, ...) cat(messages_of(read_spikes(file, ...)))
  expect_snapshot(says(write_nwb(units = FALSE)))
  expect_snapshot(says(write_nwb(ids = c(1L, 1L, 2L))))
  expect_snapshot(says(write_nwb(), unit_column = "name"))
  expect_snapshot(says(write_nwb(times = list(1, NaN, 2))))
  expect_snapshot(says(write_nwb(trials = list(start_time = 1, stop_time = NaN))))
  expect_snapshot(says(write_nwb(trials = list(start_time = 1))))
  expect_snapshot(says(write_nwb(trials = list(start_time = c(1, 2), stop_time = c(3, 4)))))
  expect_snapshot(says(write_nwb(), time_unit = "ms"))
  expect_snapshot(says(csv_file("time,unit", "1,a"), format = "nwb"))

  bent <- \(change, .env = parent.frame()) {
    file <- write_nwb(.env = .env)
    h5 <- hdf5r::H5File$new(file, mode = "r+")
    change(h5)
    h5$close_all()
    file
  }
  expect_snapshot(says(bent(\(h5) h5[["units"]]$link_delete("spike_times"))))
  expect_snapshot(says(bent(\(h5) {
    h5[["units"]]$link_delete("spike_times_index")
    h5[["units"]][["spike_times_index"]] <- c(3L, 3L, 9L)
  })))
  expect_snapshot(says(bent(\(h5) {
    h5[["units"]]$link_delete("spike_times")
    h5[["units"]][["spike_times"]] <- letters[1:5]
  })))
  expect_snapshot(says(bent(\(h5) h5$attr_delete("nwb_version")), from = 9))

  whole <- readBin(write_nwb(), "raw", 1e6)
  expect_file_error(read_spikes(raw_file(whole[1:600])))
})

test_that("a part of an NWB file that is no sound data set is named", {
  skip_on_cran()
  skip_if_not_installed("hdf5r")
  says <- \(file, ...) cat(messages_of(read_spikes(file, ...)))
  bent <- \(change, ..., .env = parent.frame()) {
    file <- write_nwb(..., .env = .env)
    h5 <- hdf5r::H5File$new(file, mode = "r+")
    change(h5)
    h5$close_all()
    file
  }
  # A fractional end of a unit's spikes would give its neighbour one of them.
  expect_snapshot(says(bent(\(h5) {
    h5[["units"]]$link_delete("spike_times_index")
    h5[["units"]][["spike_times_index"]] <- c(2.5, 3, 5)
  })))
  expect_snapshot(says(bent(\(h5) {
    h5[["units"]]$link_delete("spike_times")
    h5[["units"]]$link_create_soft("/nowhere", "spike_times")
  })))
  expect_snapshot(says(bent(\(h5) {
    h5[["intervals/trials"]]$link_delete("stop_time")
    h5[["intervals/trials"]]$link_create_soft("/nowhere", "stop_time")
  }, trials = list(start_time = 0, stop_time = 4))))
  expect_snapshot(says(bent(\(h5) h5[["units"]]$create_group("names")), unit_column = "names"))
  expect_snapshot(says(write_nwb(trials = list(
    start_time = c(0, 2), stop_time = c(1, 3), id = c(5L, 5L)
  ))))
})

test_that("an NWB file behind a user block is read", {
  file <- write_nwb()
  bytes <- readBin(file, "raw", 1e6)
  expect_identical(read_spikes(raw_file(c(raw(1024), bytes))), read_spikes(file))
  matlab <- c(charToRaw(sprintf("%-512s", "MATLAB 7.3 MAT-file, Platform: GLNXA64")), bytes)
  expect_snapshot(cat(messages_of(read_spikes(raw_file(matlab)))))
  expect_snapshot(cat(messages_of(read_spikes(raw_file(c(charToRaw("MATLAB 5.0"), raw(200)))))))
})

test_that("an NWB file that another program has open is called that", {
  skip_on_cran()
  skip_if(identical(Sys.getenv("HDF5_USE_FILE_LOCKING"), "FALSE"), "files are not locked")
  file <- write_nwb()
  ready <- withr::local_tempfile()
  # The other one ends by itself, whatever happens here.
  code <- sprintf(paste(
    "h5 <- hdf5r::H5File$new('%s', mode = 'r+'); file.create('%s');",
    "for (k in 1:200) if (file.exists('%s')) Sys.sleep(0.1) else break"
  ), file, ready, ready)
  system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), wait = FALSE,
          stdout = FALSE, stderr = FALSE)
  for (k in 1:200) if (file.exists(ready)) break else Sys.sleep(0.1)
  skip_if_not(file.exists(ready), "no other process could be started")
  said <- messages_of(read_spikes(file))
  unlink(ready)
  expect_match(said, "open in another program")
  expect_match(said, "HDF5_USE_FILE_LOCKING")
})

test_that("a changed byte of an NWB file is an error of ours or the same recording", {
  skip_if_not_installed("hdf5r")
  # Places that crashed R, or gave messages of the HDF5 library, are among these.
  file <- write_nwb(unit_name = c("x", "y", "z"), trials = list(start_time = 0, stop_time = 4))
  whole <- readBin(file, "raw", 1e6)
  set.seed(10)
  for (k in 1:30) {
    bent <- whole
    bent[sample(length(bent), 1)] <- as.raw(sample(0:255, 1))
    got <- tryCatch(read_spikes(raw_file(bent)), synfire_error = \(e) NULL)
    expect_true(is.null(got) || inherits(got, "spike_trains"))
  }
})

# ---- Damage that R's own readers pass over -----------------------------------------

packed_file <- function(lines, connect, .env = parent.frame()) {
  file <- withr::local_tempfile(.local_envir = .env)
  con <- connect(file, "wb")
  writeLines(lines, con)
  close(con)
  file
}

test_that("a compressed table that is cut short or changed is an error", {
  skip_on_cran()
  set.seed(11)
  lines <- c("time,unit", sprintf("%.6f,u%d", sort(runif(200, 0, 100)), sample(9, 200, TRUE)))
  for (connect in list(gzfile, bzfile, xzfile)) {
    file <- packed_file(lines, connect)
    want <- read_spikes(file)
    expect_identical(nrow(want), 200L)
    whole <- readBin(file, "raw", 1e5)
    for (n in unique(c(round(seq(2, length(whole) - 1, length.out = 15)), length(whole) - 1:4))) {
      expect_file_error(read_spikes(raw_file(whole[seq_len(n)])))
    }
    for (k in 1:20) {
      bent <- whole
      at <- sample(20:length(bent), 1)
      bent[at] <- xor(bent[at], as.raw(2^sample(0:7, 1)))
      got <- tryCatch(read_spikes(raw_file(bent)), synfire_error_file = \(e) want)
      expect_identical(got, want)
    }
  }
})

test_that("a compressed table of several members is read, and each is checked", {
  lines <- c("time,unit", sprintf("%d.5,u%d", 1:300, 1:300 %% 7))
  want <- read_spikes(csv_file(lines))
  parts <- list(lines[1:100], character(), lines[101:301])
  for (connect in list(gzfile, bzfile)) {
    members <- lapply(parts, \(part) readBin(packed_file(part, connect), "raw", 1e5))
    expect_identical(read_spikes(raw_file(unlist(members))), want)
    bent <- members
    bent[[1]][60] <- xor(bent[[1]][60], as.raw(1))
    expect_file_error(read_spikes(raw_file(unlist(bent))))
    cut <- unlist(members)
    expect_file_error(read_spikes(raw_file(cut[seq_len(length(cut) - 5)])))
  }
  # A header of a member may stand by chance where none begins.
  expect_identical(synfire:::member_starts(as.raw(c(0, 0x1f, 0x8b, 8, rep(0, 20)))), 2L)
})

test_that("every row has the fields of the header, whatever follows", {
  many <- sprintf("%d.5,A", 1:300)
  says <- \(...) cat(messages_of(read_spikes(csv_file("time,unit", many, ...))))
  # Two rows in one, and a blank line that makes their number right again.
  expect_snapshot(says("301.5,A,0.25,7", "302.5,A", ""))
  expect_snapshot(says("", "301.5,A,0.25,7"))
  expect_snapshot(says("301.5,\"A\"B"))
  expect_snapshot(says("301.5,\"A\nB\""))
  expect_snapshot(says("# the end"))
  expect_snapshot(says("301.5,A,"))
  expect_snapshot(says("0x1F,A"))
  expect_snapshot(says("", "3e,A"))
  expect_snapshot(says("\"1,234\",A"))
  expect_identical(nrow(read_spikes(csv_file("time,unit", many, "   ", "", "301.5,A"))), 301L)
})

test_that("quotes, other columns, and separators at the end keep rows apart", {
  want <- spike_trains(c(0.1, 0.2), c("a,1", "b \"2\""))
  expect_identical(read_spikes(csv_file("note,time,unit", "\"x,y\",0.1,\"a,1\"",
                                        "\"z\",0.2,\"b \"\"2\"\"\"")), want)
  expect_identical(read_spikes(csv_file("time\tunit", "0.1\ta 5\"", "0.2\tb'")),
                   spike_trains(c(0.1, 0.2), c("a 5\"", "b'")))
  expect_identical(read_spikes(csv_file("time,unit,,", "0.1,a,,", "0.2,b,,")),
                   spike_trains(c(0.1, 0.2), c("a", "b")))
  expect_identical(read_spikes(csv_file("time,unit", "0.1,a", "0.2,b", eol = "\r\r\n")),
                   spike_trains(c(0.1, 0.2), c("a", "b")))
})

test_that("what a block of a large table cuts is put together", {
  skip_on_cran()
  set.seed(12)
  n <- 3e5
  unit <- sample(c("\u00e9", "b", "long name"), n, TRUE)
  lines <- c("time,unit", sprintf("%d.25,%s", seq_len(n), unit))
  want <- spike_trains(seq_len(n) + 0.25, factor(unit, levels(read_spikes(csv_file(lines[1:50]))$unit)))
  for (eol in c("\n", "\r\n", "\r")) expect_identical(read_spikes(csv_file(lines, eol = eol)), want)
  lines[250000] <- "1,2,3"
  expect_match(messages_of(read_spikes(csv_file(lines))), "(line 250,000)", fixed = TRUE)
})

test_that("commas that may part thousands are never called decimal", {
  says <- \(...) cat(messages_of(read_spikes(csv_file("time,unit", ...))))
  expect_snapshot(says("\"1,234\",A", "\"12,345\",B"))
  expect_snapshot(says("\"1,234.5\",A", "\"12,345\",B"))
  expect_snapshot(says("\"1,23\",A", "\"12,345\",B"))
})

test_that("a file or a folder that cannot be read is called that", {
  expect_error(read_spikes(), class = "synfire_error_argument")
  rds <- withr::local_tempfile()
  saveRDS(1:10, rds)
  expect_snapshot(cat(messages_of(read_spikes(rds))))
  save(rds, file = rds)
  expect_snapshot(cat(messages_of(read_spikes(rds))))
  skip_on_os("windows")
  closed <- csv_file("time,unit", "1,a")
  Sys.chmod(closed, "000")
  skip_if(file.access(closed, 4) == 0, "this user may read all")
  expect_match(messages_of(read_spikes(closed)), "cannot be opened")
})

test_that("labels of clusters that are not there, or contradict each other, are an error", {
  labels <- \(..., .env = parent.frame()) {
    folder <- phy_folder(.env = .env)
    writeLines(c("cluster_id\tgroup", ...), file.path(folder, "cluster_group.tsv"))
    folder
  }
  says <- \(...) cat(messages_of(read_spikes(labels(...), groups = "good")))
  expect_snapshot(says("20\tgood", "21\tmua"))
  expect_snapshot(says("2\tgood", "2\tmua"))
  # Phy also keeps labels of clusters that were merged away, and pandas writes 2.0.
  expect_identical(levels(read_spikes(labels("2.0\tgood", "99\tgood"), groups = "good")$unit), "2")
  expect_snapshot(says("2\tgood\x01"))
})

test_that(".npy with bytes to spare, or in several blocks, is told apart", {
  file <- withr::local_tempfile(fileext = ".npy")
  write_npy(file, 1:100, "<i8")
  read <- \() synfire:::read_npy(file)
  expect_identical(read(), as.double(1:100))
  con <- file(file, "rb")
  readBin(con, "raw", file.size(file) - 800)
  expect_identical(synfire:::read_numbers(con, "i", 8L, 100, stop, block = 7), as.double(1:100))
  close(con)
  writeBin(c(readBin(file, "raw", 1e4), raw(8)), file)
  expect_snapshot(cat(messages_of(read())))
})

test_that("heaps of words that the HDF5 library would not come back from are noticed", {
  skip_if_not_installed("hdf5r")
  file <- write_nwb(unit_name = c("x", "y", "z"))
  expect_true(synfire:::heaps_are_sound(file))
  bytes <- readBin(file, "raw", 1e6)
  heap <- grepRaw("GCOL", bytes, fixed = TRUE)
  # The first object turned into free room of no length.
  bytes[heap + 16 + 0:15] <- as.raw(0)
  expect_file_error(read_spikes(raw_file(bytes), unit_column = "unit_name"))
  expect_s3_class(read_spikes(raw_file(bytes)), "spike_trains")
})

# The bytes of a file in which the free blocks of each heap of names lead in a circle: the
# first one leads to itself.
circling <- function(bytes) {
  for (heap in grepRaw("HEAP", bytes, fixed = TRUE, all = TRUE)) {
    number <- \(at) sum(as.integer(bytes[at + 0:7]) * 256^(0:7))
    block <- heap + 16 + 0:7
    bytes[number(heap + 24) + number(heap + 16) + 1:8] <- bytes[block]
  }
  bytes
}

# The bytes of a file in which data sets with 3 values, stored in chunks, have no dimension.
without_dimension <- function(bytes) {
  extent <- as.raw(c(1, 1, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, rep(255, 8)))
  replace(bytes, grepRaw(extent, bytes, fixed = TRUE, all = TRUE) + 1L, as.raw(0))
}

test_that("files that the HDF5 library would take memory for without end are refused", {
  bytes <- readBin(write_nwb(), "raw", 1e6)
  skip_if(is.null(grepRaw("HEAP", bytes, fixed = TRUE)), "this HDF5 writes in another way")
  matrix <- withr::local_tempfile(fileext = ".h5")
  h5 <- hdf5r::H5File$new(matrix, mode = "w")
  h5[["x"]] <- diag(5)
  h5$close_all()
  files <- c(raw_file(circling(bytes)), raw_file(without_dimension(bytes)),
             raw_file(circling(readBin(matrix, "raw", 1e6))))
  expect_identical(vapply(files, synfire:::name_heaps_are_sound, NA, USE.NAMES = FALSE),
                   c(FALSE, TRUE, FALSE))
  said <- limited_child("-v 4000000", bquote({
    refusal <- function(code) {
      tryCatch({
        code
        cat("read\n")
      }, error = function(e) cat(class(e)[[1L]], "\n"))
    }
    refusal(read_spikes(.(files[[1L]])))
    refusal(read_spikes(.(files[[2L]])))
    refusal(causal_map(.(files[[3L]])))
    refusal(open_causal_map(.(files[[3L]])))
  }))
  expect_identical(trimws(said), rep("synfire_error_file", 4))
})

test_that("free blocks between names are followed where a file begins later, or is cut off", {
  bytes <- readBin(write_nwb(), "raw", 1e6)
  sound <- \(bytes) synfire:::name_heaps_are_sound(raw_file(bytes))
  skip_if(sound(circling(bytes)), "this HDF5 writes in another way")
  expect_true(sound(bytes))
  expect_false(sound(c(raw(512), circling(bytes))))
  heap <- utils::tail(grepRaw("HEAP", bytes, fixed = TRUE, all = TRUE), 1L)
  for (n in c(3, 15, 31, 60)) expect_true(sound(bytes[seq_len(heap + n)]))
  expect_true(sound(charToRaw("HEAP and no HDF5")))
})

test_that("free blocks may be many, in any order, and lead into a circle late", {
  blocks <- function(places) {
    heap <- raw(16 * 64)
    for (k in seq_along(places)[-1L]) {
      heap[places[[k - 1L]] + 1:2] <- as.raw(places[[k]] %/% c(1, 256) %% 256)
    }
    con <- file(raw_file(heap), "rb")
    on.exit(close(con))
    synfire:::free_blocks_end(con, 0, length(heap), places[[1L]])
  }
  places <- 16 * c(5, 3, 40, 8, 21, 2, 60, 33, 17)
  expect_true(blocks(c(places, 1)))
  expect_true(blocks(c(places, 0)))
  expect_true(blocks(c(places, 2000)))
  for (k in seq_along(places)) expect_false(blocks(c(places, places[[k]])))
})

# The path of an NWB file that makes the HDF5 library divide by zero, NULL where this
# library writes files in another way.
dividing_nwb <- function(.env = parent.frame()) {
  file <- write_nwb(.env = .env)
  h5 <- hdf5r::H5File$new(file, mode = "r+")
  h5[["units"]]$link_delete("spike_times")
  h5[["units"]]$create_dataset("spike_times", c(1, 2, 3, 4, 5), chunk_dims = 77,
                               gzip_level = NULL)
  h5$close_all()
  bytes <- readBin(file, "raw", 1e6)
  # How the values lie: version 3, in chunks, two sizes; a place; the sizes.
  sizes <- grepRaw(as.raw(c(77, 0, 0, 0, 8, 0, 0, 0)), bytes, fixed = TRUE)
  if (length(sizes) == 0L || any(bytes[sizes - 11:9] != as.raw(c(3, 2, 2)))) return(NULL)
  # Version 2 has its sizes elsewhere, and there is a zero.
  raw_file(replace(bytes, sizes - 11L, as.raw(2)), .env = .env)
}

test_that("R survives a file for which the HDF5 library divides by zero", {
  skip_if_not_installed("hdf5r")
  file <- dividing_nwb()
  skip_if(is.null(file), "this version of HDF5 writes files in another way")
  # In a process of its own, as the library keeps such a file open.
  lines <- start_child(bquote({
    refusal <- function(code) {
      tryCatch({
        code
        "none"
      }, error = function(e) paste(class(e)[[1L]], conditionMessage(e)))
    }
    for (k in 1:2) {
      said <- c(refusal(read_spikes(.(file))), refusal(causal_map(.(file))))
      log("said", gsub("\\s+", " ", said))
    }
  }))
  said <- await_line(lines, "said")
  expect_identical(sum(said == "synfire_error_file"), 2L)
  expect_match(paste(said, collapse = " "), "`/units/spike_times` cannot be read: it is damaged")
})

test_that("the guard against divisions by zero can be nested, and goes with what it guards", {
  guarded <- \() {
    on <- .Call(synfire:::r_guard_division, TRUE)
    .Call(synfire:::r_guard_division, on)
    on
  }
  expect_false(guarded())
  inside <- synfire:::guard_division(c(synfire:::guard_division(guarded()), guarded()))
  expect_identical(inside, c(TRUE, TRUE))
  expect_false(guarded())
  expect_error(synfire:::guard_division(stop("in here")), "in here")
  expect_false(guarded())
})

test_that("numbers of 64 bits that R cannot tell apart are an error of ours", {
  skip_if_not_installed("hdf5r")
  file <- write_nwb()
  h5 <- hdf5r::H5File$new(file, mode = "r+")
  h5[["units"]]$link_delete("spike_times_index")
  h5[["units"]]$create_dataset("spike_times_index", 2^60 + 2^20 * 0:2,
                               dtype = hdf5r::h5types$H5T_STD_I64LE)
  h5$close_all()
  expect_snapshot(cat(messages_of(read_spikes(file))))
})

test_that("an Axion list with bytes that are no UTF-8 is an error of ours", {
  lines <- sub("A1_22", "A1_\xe92", axion_lines, useBytes = TRUE)
  expect_identical(levels(read_spikes(csv_file(lines))$unit)[[1]], "A1_11")
  bent <- sub("0.012", "\xf00.1", axion_lines, useBytes = TRUE)
  expect_file_error(read_spikes(csv_file(bent)))
})

test_that("decimal commas are never taken for separators", {
  file <- withr::local_tempfile(fileext = ".csv")
  # Every row has as many commas as bars.
  writeLines(c("0,5|A", "0,75|B", "1,25|A"), file)
  x <- read_spikes(file, time_unit = "s", decimal_mark = ",")
  expect_identical(x$time, c(0.5, 0.75, 1.25))
})

test_that("a path that is no text, and a time unit that is none, are refused", {
  refused <- \(code, says) expect_error(code, says, class = "synfire_error_argument")
  refused(read_spikes("caf\xe9\xff"), "`file` must be one string")
  refused(read_spikes(""), "`file` must be one string")
  refused(read_spikes(csv_file("time,unit", "1,a"), time_unit = NULL), "`time_unit` must be")
})
