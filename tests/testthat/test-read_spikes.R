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
  expect_message(x <- read_spikes(raw_file(charToRaw("time,unit\n0.1,a\n0.2,b"))),
                 "has no line end")
  expect_identical(x, want)
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
  # Bounds between ticks go inwards: a spike before `from` never comes along.
  between <- read_spikes(file, from = 1e-7, to = 2 + 1e-7)
  expect_identical(between$time, c(1, 2))
  expect_identical(unlist(attributes(between)[c("start", "end")]), c(start = 1e-6, end = 2))
  expect_error(read_spikes(file, from = 1e-8, to = 2e-8), class = "synfire_error_argument")
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
  for (k in cases(50)) {
    garbage <- raw_file(as.raw(sample(0:255, 2000, TRUE)))
    expect_file_error(read_spikes(garbage))
  }
  expect_file_error(read_spikes(file.path(tempdir(), "nobody-has-written-this.csv")))
})

test_that("printable garbage is an error, never a crash", {
  set.seed(6)
  for (k in cases(50)) {
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
  expect_file_error(read_spikes(file))
  expect_file_error(read_spikes(file, format = "csv"))
  expect_file_error(read_spikes(file, format = "nwb"))

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

test_that("a table of many rows is read whole", {
  skip_on_cran()
  set.seed(7)
  n <- 2e5
  file <- withr::local_tempfile(fileext = ".csv")
  time <- sprintf("%.6f", cumsum(runif(n, 1e-5, 1e-3)))
  unit <- sprintf("channel%02d", sample(60, n, TRUE))
  writeLines(c("time,neuron", paste(time, unit, sep = ",")), file)
  x <- read_spikes(file)
  expect_identical(sprintf("%.6f", x$time), time)
  expect_identical(as.character(x$unit), unit)
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

# ---- Damage that R's own readers pass over -----------------------------------------

packed_file <- function(lines, connect, .env = parent.frame()) {
  file <- withr::local_tempfile(.local_envir = .env)
  con <- connect(file, "wb")
  writeLines(lines, con)
  close(con)
  file
}

test_that("a compressed table that is cut short or changed is an error", {
  skip_unless_nightly()
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
  skip_unless_nightly()
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
