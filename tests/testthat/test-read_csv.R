# What tables say of trials and units, beside the spikes themselves.

test_that("a column of trials is found, named, or ruled out", {
  lines <- c("trial,time,unit", "1,0.1,a", "1,0.4,b", "2,0.2,a", "10,0.3,a")
  expect_message(x <- read_spikes(csv_file(lines)), class = "synfire_message_trials")
  expect_identical(trial_table(x)$trial, c(1L, 2L, 10L))
  expect_identical(synfire:::trial_of(x), c(1L, 1L, 2L, 3L))
  other <- csv_file(sub("trial", "stimulus", lines))
  expect_null(trial_table(read_spikes(other)))
  expect_identical(suppressMessages(read_spikes(other, trial_column = "stimulus")), x)
  expect_identical(suppressMessages(read_spikes(csv_file(lines[-1]), trial_column = 1,
                                                time_column = 2, unit_column = 3)), x)
  flat <- spike_trains(c(0.1, 0.4, 0.2, 0.3), c("a", "b", "a", "a"))
  expect_identical(read_spikes(csv_file(lines), trial_column = NA), flat)
})

test_that("the trials of a table are those of spike_trains()", {
  set.seed(1)
  trial <- sample(3, 60, TRUE)
  time <- round(runif(60), 3)
  unit <- sample(c("a", "b"), 60, TRUE)
  file <- csv_file("time_ms,unit,Trial_ID", sprintf("%s,%s,%d", 1000 * time, unit, trial))
  known <- data.frame(trial = 1:3, start = c(0, 2, 4), end = c(1, 3, 5), condition = c("x", "y", "x"))
  for (args in list(list(trial_clock = "trial"), list(trials = known, trial_clock = "trial"),
                    list(trial_clock = "trial", trial_window = c(-1, 2)))) {
    expect_identical(do.call(read_spikes, c(list(file), args)),
                     do.call(spike_trains, c(list(time, unit, trial = trial), args)))
  }
  bounds <- data.frame(start = 0, end = 2)
  expect_identical(read_spikes(file, trial_column = NA, trials = bounds),
                   spike_trains(time, unit, trials = bounds))
  expect_error(read_spikes(file, trial_column = "time_ms"), class = "synfire_error_argument")
  expect_error(read_spikes(file, trial_column = NA, trial_clock = "trial"),
               class = "synfire_error_argument")
})

test_that("a column that may number trials is never passed over", {
  says <- \(...) cat(messages_of(read_spikes(csv_file(...))))
  expect_snapshot(says("time,unit,sweep", "1,a,1", "2,a,2"))
  expect_snapshot(says("time,unit,trial,trials", "1,a,1,1", "2,a,1,2"))
  expect_snapshot(says("time,unit,block,trial", "1,a,1,1", "2,a,1,2", "3,a,2,1", "4,a,2,2"))
  same <- csv_file("time,unit,session", "1,a,4", "2,b,4")
  expect_null(trial_table(read_spikes(same)))
  nested <- csv_file("time,unit,block,trial", "1,a,1,1", "2,a,1,2", "1,a,2,1", "2,a,2,2")
  x <- read_spikes(nested, trial_column = c("block", "trial"), trial_clock = "trial")
  expect_identical(as.character(trial_table(x)$trial), c("1_1", "1_2", "2_1", "2_2"))
})

test_that("a spike without a trial lies outside of all", {
  file <- csv_file("time,unit,trial", "1,a,1", "2,b,1", "3,a,", "4,a,2", "5,b,2", "6,a,NA")
  x <- suppressMessages(read_spikes(file, trial_clock = "recording"))
  expect_identical(synfire:::trial_of(x), c(1L, 1L, NA, 2L, 2L, NA))
})

test_that("columns with one value for each unit become the table of units", {
  file <- csv_file("time,unit,area,depth,amplitude,empty", "1,u2,CA1,10.5,3,", "2,u10,CA3,20,4,",
                   "3,u2,CA1,10.5,5,", "4,u10,CA3,20,4,")
  want <- data.frame(unit = factor(c("u2", "u10"), c("u2", "u10")), area = c("CA1", "CA3"),
                     depth = c(10.5, 20), empty = NA)
  expect_identical(unit_table(read_spikes(file)), want)
  # A value that changes far from the head is none of a unit.
  many <- sprintf("%d,u%d,x", 1:5000, 1:5000 %% 3)
  expect_identical(unit_table(read_spikes(csv_file("time,unit,kind", many)))$kind, rep("x", 3))
  expect_null(unit_table(read_spikes(csv_file("time,unit,kind", many, "5001,u1,y"))))
  pair <- csv_file("time,channel,unit,side", "1,1,1,l", "2,1,2,r", "3,1,1,l", "4,1,2,r")
  expect_identical(unit_table(read_spikes(pair, unit_column = c("channel", "unit")))$side,
                   c("l", "r"))
})

test_that("a column of too many values is let go", {
  column <- synfire:::text_column(few = TRUE)
  n <- synfire:::most_values
  column$add(list(code = 1:10, values = letters[1:10]))
  expect_identical(column$all()$code, 1:10)
  column$add(list(code = seq_len(n), values = as.character(seq_len(n))))
  column$add(list(code = 1L, values = "a"))
  expect_null(column$all())
})

test_that("decimal numbers are those that R reads", {
  set.seed(4)
  text <- c(sprintf("%.*f", sample(0:12, 3000, TRUE), runif(3000, -1e4, 1e5)),
            sprintf("%.17g", runif(1000) * 10^sample(-9:9, 1000, TRUE)),
            "5.", ".5", "-.5", "+1.5", "-0", "000123456789012345678", "999999999999999999",
            "1234567890123456789", "0.1234567890123456789", "1e-3")
  bytes <- charToRaw(paste0(text, ",a\n", collapse = ""))
  how <- list(sep = utf8ToInt(","), dec = utf8ToInt("."), fields = 2, time = 1L, text = 2L)
  expect_identical(.Call(synfire:::r_csv_rows, bytes, 1, length(bytes), how)$time,
                   as.double(text))
  for (bad in c(".", "-", "+", "1.2.3", "1,5", "--1", "1-", "0x1", "1e")) {
    expect_file_error(read_spikes(csv_file("time;unit", paste0(bad, ";a")), sep = ";"))
  }
})

test_that("lines that are cut in one go give the fields of those cut step by step", {
  set.seed(6)
  pieces <- c("a", "b c", "1.5", "", "\"q\"", "\"x,y\"", "\"d\"\"d\"", " ", "\u00e9")
  for (sep in c(",", ";", "\t", "|", "")) {
    glue <- if (sep == "") " " else sep
    lines <- replicate(150, paste(sample(pieces, sample(1:4, 1), TRUE), collapse = glue))
    want <- .Call(synfire:::r_csv_fields, lines, synfire:::separator_code(sep))
    # A line of blanks is no row.
    lines <- lines[lengths(want) > 0]
    want <- want[lengths(want) > 0]
    for (eol in c("\n", "\r\n", "\r")) {
      bytes <- charToRaw(paste0(enc2utf8(lines), eol, collapse = ""))
      how <- list(sep = synfire:::separator_code(sep), dec = utf8ToInt("."), fields = 0, time = 0L,
                  text = 1:4)
      got <- .Call(synfire:::r_csv_rows, bytes, 1, length(bytes), how)
      expect_identical(got$n, as.double(length(lines)))
      for (k in 1:4) {
        value <- vapply(want, \(row) if (length(row) < k) "" else row[[k]], "")
        expect_identical(enc2utf8(`Encoding<-`(got$text[[k]]$values[got$text[[k]]$code], "UTF-8")),
                         value)
      }
    }
  }
})

test_that("a last line that was cut off makes no unit and no spike, and is said", {
  file <- withr::local_tempfile(fileext = ".csv")
  read <- function(...) {
    cat(..., file = file, sep = "")
    read_spikes(file)
  }
  begin <- "time,unit\n1,u1\n2,u2\n3,u12\n4,u3\n"
  for (last in c("4.5,u", "4.", "4.5,", "4.5,\"u2")) {
    expect_warning(x <- read(begin, last), "line 6, has no line end", class = "synfire_warning_file")
    expect_identical(levels(x$unit), c("u1", "u2", "u3", "u12"))
    expect_identical(nrow(x), 4L)
  }
  # The name of a unit that another one begins with; else the row is whole.
  expect_message(x <- read(begin, "4.5,u1"), "may have been cut off", class = "synfire_message_file")
  expect_identical(nrow(x), 5L)
  expect_message(x <- read(begin, "4.5,v"), "may have been cut off")
  expect_identical(nlevels(x$unit), 5L)
  expect_no_message(expect_no_warning(x <- read(begin, "4.5,u2")))
  expect_identical(nrow(x), 5L)
  expect_no_message(expect_no_warning(x <- read(begin, "4.5,\"u1\"")))
  # A time at the end of a line, in the order of time or not.
  begin <- "unit,time\nu1,1\nu2,2\nu1,3\nu2,40\n"
  expect_warning(x <- read(begin, "u1,4"), "before that of the line above")
  expect_identical(nrow(x), 4L)
  expect_message(x <- read(begin, "u1,41"), "may have been cut off")
  expect_identical(nrow(x), 5L)
  expect_warning(x <- read(begin, "u1,"), "is no row")
  expect_identical(nrow(x), 4L)
  # A long file, whose head does not hold its end; and a broken line that has its end.
  long <- paste0(c("time,unit", sprintf("%d,u%d", 1:9000, 1:3)), "\n", collapse = "")
  expect_warning(x <- read(long, "9001"), "line 9,002, has no line end")
  expect_identical(nrow(x), 9000L)
  expect_error(read(long, "9001\n"), "line 9,002", class = "synfire_error_file")
})

test_that("spikes that are there twice are said", {
  file <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("time,unit", "1,a", "1,a", "1,b", "2.0000001,a", "2,a"), file)
  expect_message(x <- read_spikes(file), "2 spikes of 5 are on the tick of another",
                 class = "synfire_message_repeated")
  expect_identical(nrow(x), 3L)
  expect_message(read_spikes(file, resolution = 1e-7), "1 spike of 5 is on the tick")
})

test_that("whole numbers written with a decimal point name units and trials as numbers do", {
  time <- c(0.1, 0.3, 1.1, 1.4)
  want <- spike_trains(time, c(72, 7, 72, 7))
  rows <- paste(time, c("72.0", "7.0", "72.0", "7.00"), c("1.0", "1.0", "2.0", "2.0"), sep = ",")
  x <- suppressMessages(read_spikes(csv_file("time,unit,trial", rows), trial_clock = "recording"))
  expect_identical(levels(x$unit), c("7", "72"))
  expect_identical(trial_table(x)$trial, 1:2)
  expect_identical(x$unit, want$unit)
  names <- levels(read_spikes(csv_file("time,unit", "1,1.5", "2,v2.0", "3,2.0"))$unit)
  expect_setequal(names, c("1.5", "v2.0", "2"))
})

test_that("units of the songbird are called by their numbers", {
  x <- read_spikes(shared_data("recordings/songbird.txt"))
  expect_true(all(grepl("^[0-9]+$", levels(x$unit))))
  expect_gt(nrow(x[unit = 72]), 0)
})
