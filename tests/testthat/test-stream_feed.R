# Whatever a writer does, the stream must hold what mining says of the spikes it wrote.

test_that("a file that grows anyhow gives the window mined from scratch", {
  skip_unless_nightly()
  for (seed in 1:6) {
    all <- fed_recording(seed)
    withr::local_seed(seed)
    file <- withr::local_tempfile(fileext = ".csv")
    text <- paste0(c("time,unit", fed_lines(all), ""), collapse = "\n")
    bytes <- charToRaw(text)
    cuts <- c(0, sort(sample(length(bytes), 40)), length(bytes))
    feed <- quietly(feed_file(fed_stream(), file, every = sample(c(0.05, 0.1, 0.35), 1),
                              wait = sample(c(0, Inf), 1)))
    for (k in seq_along(cuts)[-1]) {
      # Any number of bytes: half lines, half numbers, nothing.
      add_bytes(file, rawToChar(bytes[seq_len(cuts[[k]] - cuts[[k - 1]]) + cuts[[k - 1]]]))
      quietly(update(feed))
    }
    s <- quietly(close(feed))
    expect_identical(s$now, max(all$tick) + 0)
    expect_window_of(s, all)
    expect_identical(feed$counts[["spikes"]], nrow(all) + 0)
    expect_identical(sum(feed$counts[c("repeated", "too_late", "stray", "broken")]), 0)
  }
})

test_that("updates end at whole multiples of `every`, whatever the pace of the writer", {
  skip_unless_nightly()
  all <- fed_recording(7)
  ends <- lapply(c(1, 30, 1000), function(lines_each) {
    file <- withr::local_tempfile()
    lines <- c("unit,time", sprintf("%s,%.3f", all$unit, all$tick / 1000))
    file.create(file)
    feed <- feed_file(fed_stream(), file, every = 0.1, wait = Inf)
    for (part in split(lines, (seq_along(lines) - 1) %/% lines_each)) {
      add_bytes(file, paste0(part, "\n", collapse = ""))
      quietly(update(feed))
    }
    expect_window_of(feed$stream, all)
    withr::defer(close(feed))
    feed$stream$history[names(feed$stream$history) != "seconds"]
  })
  expect_identical(ends[[2]], ends[[1]])
  expect_identical(ends[[3]], ends[[1]])
  expect_equal(ends[[1]]$end * 10, round(ends[[1]]$end * 10))
})

test_that("repeated, late and backward rows count once, and those too late are said", {
  skip_unless_nightly()
  for (seed in 11:16) {
    all <- fed_recording(seed)
    withr::local_seed(seed)
    # Rows come up to 200 ms out of order, and one of eight comes again later.
    again <- all[sample(nrow(all), nrow(all) %/% 8), ]
    written <- rbind(all, again)
    at <- c(all$tick + sample(0:200, nrow(all), TRUE), again$tick + sample(0:1500, nrow(again), TRUE))
    written <- written[order(at), ]
    file <- withr::local_tempfile()
    file.create(file)
    slack <- sample(c(0, 0.05, 0.2), 1)
    feed <- feed_file(fed_stream(0.5), file, every = 0.1, slack = slack, wait = Inf,
                      header = FALSE)
    for (part in split(fed_lines(written), (seq_len(nrow(written)) - 1) %/% 37)) {
      add_bytes(file, paste0(part, "\n", collapse = ""))
      quietly(update(feed))
    }
    s <- quietly(close(feed))
    expect_window_of(s, all)
    counts <- feed$counts
    # Each row is one of these, and no spike counts twice.
    expect_identical(sum(counts[c("spikes", "repeated", "too_late")]), nrow(written) + 0)
    expect_lte(counts[["spikes"]], nrow(all))
    if (slack == 0.2) expect_identical(counts[["late"]], 0)
  }
})

test_that("what is left out is counted and said", {
  skip_unless_nightly()
  file <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("time,unit", sprintf("%.3f,a", 1:30 / 10)), file)
  feed <- feed_file(fed_stream(1), file, every = 0.5, wait = 0)
  update_all(feed)
  said <- function(text) {
    add_bytes(file, text)
    cli::ansi_strip(gsub("\\s+", " ", paste(capture_messages(update_all(feed)), collapse = " ")))
  }
  text <- said("0.5,b\n3.1,a\n")
  expect_match(text, "came too late and is left out, the last at 0.5 s.*reached 3.1 s")
  text <- said("2.9,b\n3.5,a\n")
  expect_match(text, "after the block had been counted, and is counted all the same")
  text <- said("2.9,b\n3.6,a\n")
  expect_match(text, "1 spike so far came again")
  text <- said("3.7,a,x\n")
  expect_match(text, "line 38 .*\"3.7,a,x\" .it has 3 fields, not 2")
  expect_identical(said("x,a\n3.7,\n\n3.7,NA\n,a\nInf,a\n"), "")   # not yet the tenth
  text <- said("1e300,a\n\"3.7,a\n\"3.7\"7,a\n3.7,a,b\n3.\001,a\ny,a\n")
  expect_match(text, "11 lines so far")
  expect_identical(feed$counts[["without_unit"]], 1)
  # A header that a writer puts there once more when it comes back.
  expect_identical(said("time,unit\n3.9,a\n"), "")
  quietly(close(feed))
  expect_identical(feed$counts[["broken"]], 11)
  expect_identical(feed$counts[["too_late"]], 1)
  expect_identical(feed$counts[["late"]], 1)
  expect_identical(feed$counts[["repeated"]], 1)
})

test_that("times in milliseconds that are taken for seconds are said, once", {
  skip_unless_nightly()
  file <- withr::local_tempfile()
  text <- sprintf("%d,%s", seq_len(600) * 40, c("a", "b", "c"))
  said <- function(...) {
    writeLines(c("time,unit", text[1:300]), file)
    feed <- feed_file(episode_stream(c(0.001, 0.012), 3, 200), file, every = 200, wait = 0, ...)
    first <- paste(capture_messages(update_all(feed)), collapse = " ")
    add_bytes(file, paste0(text[301:600], "\n", collapse = ""))
    second <- paste(capture_messages(update_all(feed)), collapse = " ")
    close(feed)
    c(first, second)
  }
  expect_identical(grepl("Units fire at 0.0", said()), c(TRUE, FALSE))
  expect_match(said()[[1L]], "time_unit")
  expect_false(any(grepl("Units fire", said(time_unit = "s"))))
  expect_false(any(grepl("Units fire", said(time_unit = "ms"))))
})

test_that("a half line is waited for; one that never ends is no spike", {
  skip_unless_nightly()
  file <- withr::local_tempfile()
  writeLines(c("time,unit", sprintf("%.3f,a", 1:30 / 10)), file)
  feed <- feed_file(fed_stream(1), file, every = 0.5, wait = 0)
  update_all(feed)
  add_bytes(file, "3.")
  update_all(feed)
  add_bytes(file, "25,b\n3.3")
  update_all(feed)
  expect_identical(sum(feed$counts), 31)
  # The writer dies, and its successor does not know.
  add_bytes(file, "3.4,b\n3.5,b\n")
  quietly(update_all(feed))
  expect_identical(feed$counts[c("spikes", "broken")], c(spikes = 32, broken = 1))
  # One that makes a sound line with the next, far ahead.
  add_bytes(file, "13.6,b\n3.7,b\n")
  quietly(update_all(feed))
  expect_identical(feed$counts[c("spikes", "stray")], c(spikes = 33, stray = 1))
  expect_identical(feed$stream$now, 3700)
  # A true silence is believed as soon as the next row bears it out, or none comes.
  add_bytes(file, "20,b\n20.1,b\n40,b\n")
  update(feed)
  expect_identical(feed$stream$now, 20000)
  update_all(feed)
  expect_identical(feed$stream$now, 40000)
  add_bytes(file, "40.1")
  update(feed)
  quietly(close(feed))
  expect_identical(feed$counts[["broken"]], 2)
  expect_match(feed$broken_first$why, "not written to its end")
})

test_that("a feed that is closed before the end of its file calls no line broken", {
  file <- withr::local_tempfile()
  writeLines(c("time,unit", sprintf("%.3f,a", 1:20000 / 10)), file)
  feed <- feed_file(fed_stream(1), file, every = 0.5)
  run_feed(feed, on_update = \(stream) FALSE)
  expect_gt(feed$source$unread(), 0)
  quietly(close(feed))
  expect_identical(feed$counts[["broken"]], 0)
})

test_that("a file may be renamed, cut short or written anew", {
  skip_unless_nightly()
  all <- fed_recording(21)
  lines <- fed_lines(all)
  n <- length(lines)
  part <- function(from, to) paste0(lines[from:to], "\n", collapse = "")
  folder <- withr::local_tempdir()
  file <- file.path(folder, "spikes.csv")
  cat("time,unit\n", part(1, 100), file = file, sep = "")
  feed <- feed_file(fed_stream(), file, every = 0.1, wait = Inf)
  update(feed)
  # Renamed with unread lines in it; the new one is there at once, with a header.
  add_bytes(file, part(101, 150))
  file.rename(file, paste0(file, ".1"))
  cat("time,unit\n", part(151, 200), file = file, sep = "")
  for (k in 1:4) quietly(update(feed))
  # In place: cut short, and two lines come again.
  cat("time,unit\n", part(199, 240), file = file, sep = "")
  suppressMessages(expect_message(for (k in 1:3) update(feed), "replaced or cut short"))
  # In place, longer than before.
  cat("time,unit\n", part(241, n), file = file, sep = "")
  for (k in 1:3) quietly(update(feed))
  # A program that writes all rows anew each time.
  cat("time,unit\n", part(241, n), "3.3,z\n", file = paste0(file, "~"), sep = "")
  file.rename(paste0(file, "~"), file)
  for (k in 1:3) quietly(update(feed))
  unlink(file)
  expect_message(for (k in 1:2) update(feed), "is gone")
  expect_no_message(update(feed))
  cat("time,unit\n", part(n - 30, n), "3.4,z\n", file = file, sep = "")
  for (k in 1:3) quietly(update(feed))
  s <- quietly(close(feed))
  expect_identical(feed$counts[["spikes"]], n + 2)
  expect_identical(feed$counts[["broken"]], 0)
  expect_identical(s$now, 3400)
  expect_window_of(s, data.frame(tick = c(all$tick, 3300, 3400),
                                 unit = c(all$unit, "z", "z")))
})

test_that("a file that cannot stay open is found again by what stands before the place", {
  skip_unless_nightly()
  file <- withr::local_tempfile()
  source <- growing_file(file, keep_open = FALSE)
  text <- \() rawToChar(source$origins()[[1]]$rest)
  expect_identical(source$take(), 0L)
  add_bytes(file, "1,a\n2")
  source$take()
  file.copy(file, paste0(file, "~"))
  file.rename(paste0(file, "~"), file)
  add_bytes(file, ",b\n")
  source$take()
  expect_identical(text(), "1,a\n2,b\n")
  expect_identical(source$unread(), 0)
  writeLines("7,c", file)
  expect_message(source$take(), "was replaced")
  source$take()
  expect_identical(text(), "7,c\n")
  expect_identical(rawToChar(source$dropped()[[1]]$rest), "1,a\n2,b\n")
  source$close()
})

test_that("tables are read as read_spikes() reads them", {
  skip_unless_nightly()
  all <- fed_recording(31)
  file <- withr::local_tempfile()
  ways <- list(
    list(text = c("# made today", "", "Neuron;Time (ms);x",
                  sprintf("%s;%d,0;7", all$unit, all$tick)), decimal_mark = ","),
    list(text = sprintf("%d\t%s", all$tick, all$unit), time_unit = "ms"),
    list(text = sprintf("%d %s 1", all$tick * 20, all$unit), time_unit = "samples",
         sampling_rate = 20000, time_column = 1, unit_column = 2, sep = " ", header = FALSE),
    list(text = c("ch,t,nr", sprintf("\"%s\",%s,0", all$unit, all$tick / 1000)),
         unit_column = "ch", time_column = "t")
  )
  for (way in ways) {
    con <- file(file, "wb")
    writeLines(way$text, con, sep = "\r\n")
    close(con)
    args <- way[names(way) != "text"]
    feed <- do.call(feed_file, c(list(fed_stream(), file, every = 0.1), args))
    update(feed)
    s <- close(feed)
    expect_window_of(s, all)
    want <- do.call(read_spikes, c(list(file, resolution = 1e-3), args))
    expect_identical(feed$counts[["spikes"]], nrow(want) + 0)
    expect_setequal(levels(attr(s$episodes, "recording")$unit), levels(want$unit))
  }
})

test_that("a layout is not guessed from too few rows, nor never", {
  skip_unless_nightly()
  file <- withr::local_tempfile()
  cat("time,unit\n", file = file)
  feed <- feed_file(fed_stream(), file, wait = 0)
  update(feed)
  update(feed)
  expect_identical(sum(feed$counts), 0)
  add_bytes(file, "1,a\n")
  update(feed)
  update(feed)
  expect_identical(feed$counts[["spikes"]], 1)
  close(feed)

  writeLines(sprintf("%d,%d", 5:30, 5:30), file)
  feed <- feed_file(fed_stream(), file)
  expect_error(update(feed), "could be the times", class = "synfire_error_file")
  quietly(close(feed))
  for (bad in list(as.raw(c(0x1f, 0x8b, 8:20, 10, 10)), as.raw(c(0x89, 0x48, 0x44, 0x46, 10, 10)),
                   as.raw(c(0xff, 0xfe, 50, 0, 10, 0, 10)), as.raw(c(2, 3, 10, 3, 4, 10)))) {
    file.create(file)
    feed <- feed_file(fed_stream(), file, wait = 0)
    writeBin(bad, file)
    expect_error(update_all(feed), class = "synfire_error_file")
    quietly(close(feed))
  }
})

test_that("arguments are checked, and a closed feed says so", {
  skip_unless_nightly()
  s <- fed_stream()
  file <- withr::local_tempfile()
  file.create(file)
  wrong <- function(code) expect_error(code, class = "synfire_error_argument")
  wrong(feed_file(1, file))
  wrong(feed_file(s))
  wrong(feed_file(s, file, every = 0.9))
  wrong(feed_file(s, file, every = 0.0005))
  wrong(feed_file(s, file, slack = -1))
  wrong(feed_file(s, file, wait = NA))
  wrong(feed_file(s, file, time_unit = "h"))
  wrong(feed_file(s, file, header = 1))
  wrong(feed_socket(s))
  wrong(feed_socket(s, 0))
  wrong(feed_socket(s, 1e5))
  wrong(feed_socket(s, 50000, host = ""))
  wrong(feed_socket(s, 50000, time_unit = "samples"))
  expect_error(feed_file(s, tempdir()), class = "synfire_error_file")
  expect_message(close(feed_file(s, paste0(file, "no"))), "no .*yet")
  feed <- feed_file(s, file)
  wrong(run_feed(s))
  wrong(run_feed(feed, seconds = -1))
  wrong(run_feed(feed, on_update = 1))
  wrong(update(feed, on_update = "f"))
  wrong(update(feed, 3))
  expect_identical(close(feed), s)
  expect_identical(close(feed), s)
  expect_error(update(feed), "one that was closed", class = "synfire_error_argument")
  expect_output(print(feed), "closed")
})

# ---- HDF5 ------------------------------------------------------------------------------

test_that("an HDF5 file that is opened, appended to and closed feeds a stream", {
  skip_unless_nightly()
  skip_if_not_installed("hdf5r")
  all <- fed_recording(61)
  n <- nrow(all)
  code <- as.integer(sub("u", "", all$unit))
  for (words in c(TRUE, FALSE)) {
    file <- withr::local_tempfile(fileext = ".h5")
    feed <- quietly(feed_file(fed_stream(), file, every = 0.1, wait = Inf,
                              time_column = "/spikes/time", unit_column = "/spikes/unit",
                              time_unit = if (words) "s" else "ms"))
    update(feed)
    if (words) begin_h5(file) else begin_h5(file, hdf5r::h5types$H5T_NATIVE_INT32)
    unit <- if (words) all$unit else code
    time <- if (words) all$tick / 1000 else all$tick
    update(feed)
    for (part in split(seq_len(n), (seq_len(n) - 1) %/% 90)) {
      append_h5(file, time[part], unit[part])
      update(feed)
      update(feed)
      expect_identical(length(feed$pending$tick) + length(feed$held$tick) + feed$counts[["spikes"]],
                       max(part) + 0)
    }
    # The same rows again count once; a silence is one without a unit.
    append_h5(file, c(time[n - 1:0], if (words) 3.3), c(unit[n - 1:0], if (words) ""))
    quietly(update_all(feed))
    s <- quietly(close(feed))
    expect_identical(feed$counts[["repeated"]] + feed$counts[["too_late"]], 2)
    expect_identical(feed$counts[["spikes"]], n + 0)
    if (words) expect_window_of(s, all) else {
      expect_window_of(s, transform(all, unit = as.character(code)))
    }
  }
})

test_that("an HDF5 file that is locked, lacks its data sets or is replaced is said", {
  skip_unless_nightly()
  skip_if_not_installed("hdf5r")
  all <- fed_recording(62)
  file <- withr::local_tempfile(fileext = ".h5")
  feed <- quietly(feed_file(fed_stream(), file, every = 0.1, wait = Inf,
                            time_column = "spikes/time", unit_column = "spikes/unit"))
  said <- \(code) cli::ansi_strip(gsub("\\s+", " ", paste(capture_messages(code), collapse = " ")))
  h5 <- hdf5r::H5File$new(file, mode = "w")
  h5$close_all()
  expect_match(said(update(feed)), "has no `spikes/time`.*Waiting")
  expect_identical(said(update(feed)), "")
  begin_h5(file)
  append_h5(file, all$tick[1:200] / 1000, all$unit[1:200])
  expect_identical(said(update_all(feed)), "")
  begin_h5(file)
  append_h5(file, all$tick[-(1:190)] / 1000, all$unit[-(1:190)])
  expect_match(said(update_all(feed)), "was replaced or cut short")
  s <- quietly(close(feed))
  expect_identical(feed$counts[["spikes"]], nrow(all) + 0)
  expect_window_of(s, all)
  wrong <- function(...) {
    expect_error(feed_file(fed_stream(), file, ...), class = "synfire_error_argument")
  }
  wrong()
  wrong(time_column = "a")
  wrong(time_column = "a", unit_column = 2)
  wrong(time_column = "a", unit_column = "b", sep = ",")
  wrong(time_column = "a", unit_column = "b", header = TRUE)
  wrong(time_column = "a", unit_column = "b", time_unit = "samples")
})

test_that("a program that appends to an HDF5 file, dies and comes back loses nothing", {
  skip_unless_nightly()
  skip_on_cran()
  skip_if_not_installed("hdf5r")
  all <- fed_recording(63)
  n <- nrow(all)
  file <- withr::local_tempfile(fileext = ".h5")
  begin_h5(file)
  feed <- feed_file(fed_stream(), file, every = 0.1, wait = 0.1, slack = 0.1,
                    time_column = "spikes/time", unit_column = "spikes/unit")
  for (part in list(c(1, 150), c(141, n))) {
    child <- start_child(substitute({
      append_h5 <- APPEND
      for (at in seq(FIRST, LAST, by = 15)) {
        rows <- at:min(at + 14, LAST)
        append_h5(FILE, TICK[rows] / 1000, UNIT[rows])
        if (at %% 2 == 0) Sys.sleep(0.05)
      }
      log("end", 1)
      tools::pskill(Sys.getpid(), tools::SIGKILL)
    }, list(APPEND = append_h5, FIRST = part[[1]], LAST = part[[2]], FILE = file,
            TICK = all$tick, UNIT = all$unit)))
    quietly(feed_until(feed, \() !is.null(await_line(child, "end", 0.03)), 60))
  }
  quietly(run_feed(feed, idle = 0.3))
  s <- quietly(close(feed))
  expect_identical(feed$counts[["spikes"]], n + 0)
  expect_identical(sum(feed$counts[c("broken", "too_late", "stray")]), 0)
  expect_window_of(s, all)
})

# ---- Sockets ---------------------------------------------------------------------------

test_that("a socket takes lines, half lines, several writers and those that come back", {
  skip_unless_nightly()
  skip_on_cran()
  all <- fed_recording(41)
  text <- paste0(fed_lines(all), "\n")
  made <- socket_feed(fed_stream(), every = 0.1, wait = Inf, slack = 0.1)
  feed <- made$feed
  withr::defer(quietly(close(feed)))
  taken <- function(n) quietly(feed_until(feed, \() sum(feed$counts) + length(feed$pending$tick) +
                                            length(feed$held$tick) >= n))
  writer <- connect(made$port)
  writeBin(charToRaw(paste(text[1:100], collapse = "")), writer)
  writeBin(charToRaw("1.2"), writer)
  taken(100)
  # It dies within a line, and comes back with what it is not sure of.
  close(writer)
  quietly(feed_until(feed, \() feed$counts[["broken"]] == 1))
  writer <- connect(made$port)
  writeBin(charToRaw(paste(text[91:200], collapse = "")), writer)
  taken(100 + 1 + 110)
  # Two at a time, each with its own half lines.
  second <- connect(made$port)
  writeBin(charToRaw(substr(text[[201]], 1, 4)), writer)
  writeBin(charToRaw(text[[202]]), second)
  taken(100 + 1 + 110 + 1)
  writeBin(charToRaw(substring(text[[201]], 5)), writer)
  writeBin(charToRaw(paste(text[-(1:202)], collapse = "")), second)
  # The second says how far it has come.
  taken(nrow(all) + 11)
  writeBin(charToRaw("3.3,\n"), second)
  taken(nrow(all) + 12)
  close(writer)
  close(second)
  quietly(run_feed(feed, idle = 0.1))
  expect_identical(feed$counts[["spikes"]], nrow(all) + 0)
  expect_identical(feed$counts[["repeated"]], 10)
  expect_identical(feed$counts[["broken"]], 1)
})

test_that("a program at a socket that pauses, repeats, goes back, dies and comes back", {
  skip_unless_nightly()
  skip_on_cran()
  all <- fed_recording(44)
  n <- nrow(all)
  made <- socket_feed(fed_stream(), every = 0.1, wait = 0.2, slack = 0.1)
  feed <- made$feed
  withr::defer(quietly(close(feed)))
  for (part in list(c(1, 150), c(141, n))) {
    child <- start_child(substitute({
      con <- socketConnection("localhost", PORT, open = "wb", blocking = TRUE, timeout = 10)
      put <- function(text) writeBin(charToRaw(text), con)
      for (at in seq(FIRST, LAST, by = 10)) {
        put(paste0(LINES[at:min(at + 9, LAST)], "\n", collapse = ""))
        if (at %% 3 == 0) Sys.sleep(0.02)
        if (at %% 4 == 1) put(paste0(LINES[max(1, at - 5):at], "\n", collapse = ""))
      }
      put("2.9")     # and dies within a line
      log("end", 1)
      Sys.sleep(0.5)
      tools::pskill(Sys.getpid(), tools::SIGKILL)
    }, list(PORT = made$port, FIRST = part[[1]], LAST = part[[2]], LINES = fed_lines(all))))
    broken <- feed$counts[["broken"]] + 1
    quietly(feed_until(feed, \() feed$counts[["broken"]] == broken, 60))
  }
  quietly(run_feed(feed, idle = 0.3))
  s <- quietly(close(feed))
  expect_identical(feed$counts[["spikes"]], n + 0)
  expect_gt(feed$counts[["repeated"]], 10)
  expect_identical(feed$counts[["too_late"]] + feed$counts[["stray"]], 0)
  expect_window_of(s, all)
})

test_that("a feed listens to this computer alone unless it is told another address", {
  skip_unless_nightly()
  for (bad in list("localhost", "1.2.3", "256.1.1.1", 1, "")) {
    expect_error(feed_socket(fed_stream(), 50000, listen = bad), class = "synfire_error_argument")
  }
  expect_error(feed_socket(fed_stream(), 50000, host = "localhost", listen = "0.0.0.0"),
               "left out", class = "synfire_error_argument")
  skip_on_cran()
  skip_on_os("windows")
  # All of 127.0.0.0/8 is this computer on Linux, and another address than 127.0.0.1.
  skip_on_os("mac")
  reached <- function(port, address) {
    con <- tryCatch(suppressWarnings(socketConnection(address, port, open = "wb", timeout = 2)),
                    error = \(e) NULL)
    if (!is.null(con)) close(con)
    !is.null(con)
  }
  made <- socket_feed(fed_stream())
  expect_identical(c(reached(made$port, "127.0.0.1"), reached(made$port, "127.0.0.2")),
                   c(TRUE, FALSE))
  expect_error(feed_socket(fed_stream(), made$port), "cannot be opened")
  quietly(close(made$feed))
  expect_false(reached(made$port, "127.0.0.1"))
  made <- socket_feed(fed_stream(), listen = "0.0.0.0")
  expect_identical(c(reached(made$port, "127.0.0.1"), reached(made$port, "127.0.0.2")),
                   c(TRUE, TRUE))
  quietly(close(made$feed))
})

test_that("a socket that says how far it is moves the window in silence", {
  skip_unless_nightly()
  skip_on_cran()
  all <- fed_recording(42)
  made <- socket_feed(fed_stream(), every = 0.1, wait = Inf)
  feed <- made$feed
  writer <- connect(made$port)
  writeBin(charToRaw(paste0(fed_lines(all), "\n", collapse = "")), writer)
  writeBin(charToRaw("3.35,\n"), writer)
  quietly(feed_until(feed, \() identical(feed$stream$now, 3300)))
  expect_window_of(feed$stream, all)
  writeBin(charToRaw("3.400,\r\n"), writer)
  quietly(feed_until(feed, \() identical(feed$stream$now, 3400)))
  close(writer)
  quietly(close(feed))
  expect_identical(feed$counts[["without_unit"]], 2)
})

test_that("a feed connects to a host, and again when that comes back", {
  skip_unless_nightly()
  skip_on_cran()
  all <- fed_recording(43)
  text <- paste0(fed_lines(all), "\n")
  server <- NULL
  for (port in sample(20000:60000, 20)) {
    server <- tryCatch(serverSocket(port), error = \(e) NULL)
    if (!is.null(server)) break
  }
  skip_if(is.null(server))
  withr::defer(close(server))
  feed <- feed_socket(fed_stream(), port, host = "127.0.0.1", every = 0.1, time_unit = "s")
  quietly(update(feed))
  for (part in list(text[1:150], text[140:length(text)])) {
    con <- socketAccept(server, blocking = TRUE, open = "wb", timeout = 10)
    writeBin(charToRaw(paste(part, collapse = "")), con)
    close(con)
    quietly(run_feed(feed, seconds = 3))
  }
  expect_identical(feed$counts[["repeated"]], 11)
  s <- quietly(close(feed))
  expect_window_of(s, all)
  expect_identical(feed$counts[["spikes"]], nrow(all) + 0)
})

# ---- Running ---------------------------------------------------------------------------

test_that("a function is called after each update, may end the run, and may fail", {
  skip_unless_nightly()
  all <- fed_recording(51)
  file <- withr::local_tempfile()
  writeLines(c("time,unit", fed_lines(all)), file)
  feed <- feed_file(fed_stream(), file, every = 0.1, wait = Inf)
  ends <- numeric()
  run_feed(feed, on_update = function(stream) {
    ends <<- c(ends, stream$now)
    length(ends) < 3
  })
  expect_identical(ends, feed$stream$history$end * 1000)
  expect_length(ends, 3)
  expect_error(run_feed(feed, on_update = function(stream) stop("no stimulus")), "no stimulus")
  expect_identical(feed$stream$updates, 4)
  expect_identical(run_feed(feed, idle = 0, on_update = function(stream) NULL), feed)
  s <- close(feed)
  expect_window_of(s, all)
  expect_identical(feed$counts[["spikes"]], nrow(all) + 0)
})

test_that("run_feed() ends, draws, and says what waits", {
  skip_unless_nightly()
  skip_if_not_installed("ggplot2")
  all <- fed_recording(52)
  file <- withr::local_tempfile()
  writeLines(c("time,unit", fed_lines(all)), file)
  feed <- feed_file(fed_stream(), file, every = 0.1, wait = Inf)
  folder <- withr::local_tempdir()
  grDevices::pdf(file.path(folder, "%d.pdf"), onefile = FALSE)
  # Without `redraw` nothing is drawn: the first page is that of the plot after it.
  run_feed(feed, idle = 0.05)
  graphics::plot.new()
  expect_length(list.files(folder), 1)
  run_feed(feed, idle = 0.05, redraw = 0)
  grDevices::dev.off()
  expect_gte(length(list.files(folder)), 2)
  expect_identical(feed$behind, (max(all$tick) - feed$stream$now) / 1000)
  # Without this bound it would not end.
  run_feed(feed, seconds = 0.1)
  # A lot more is written than one look reads.
  more <- data.frame(tick = 4000 + seq_len(20000), unit = "u1")
  add_bytes(file, paste0(fed_lines(more), "\n", collapse = ""))
  expect_message(update(feed), "wait to be counted")
  expect_gt(feed$behind, 10)
  expect_output(print(feed), "wait to be counted")
  quietly(run_feed(feed, idle = 0))
  expect_lt(feed$behind, 0.2)
  close(feed)
})

test_that("Ctrl-C leaves a feed that is whole", {
  skip_unless_nightly()
  skip_on_cran()
  all <- fed_recording(53, spikes = 3000, span = 30000)
  file <- withr::local_tempfile()
  result <- withr::local_tempfile()
  writeLines(c("time,unit", fed_lines(all)), file)
  lines <- start_child(substitute({
    stream <- episode_stream(c(0.001, 0.012), 3, 0.8, resolution = 1e-3, max_size = 3,
                             threads = 1)
    feed <- feed_file(stream, file, every = 0.05, wait = 0.2)
    for (k in 1:5) {
      log(paste0("start", k), Sys.getpid())
      run_feed(feed, idle = if (k == 5) 0.5 else Inf,
               on_update = if (k < 5) function(stream) Sys.sleep(0.002))
    }
    close(feed)
    saveRDS(list(stream = feed$stream, counts = feed$counts), result)
    log("end", 1)
  }, list(file = file, result = result)))
  for (k in 1:4) {
    start <- await_line(lines, paste0("start", k), 60)
    Sys.sleep(0.1)
    tools::pskill(as.integer(start[[1L]]), tools::SIGINT)
  }
  expect_false(is.null(await_line(lines, "end", 60)))
  out <- readRDS(result)
  expect_identical(out$counts[["spikes"]], nrow(all) + 0)
  expect_window_of(out$stream, all)
})

test_that("a program that pauses, repeats, goes back, dies and comes back loses nothing", {
  skip_unless_nightly()
  skip_on_cran()
  all <- fed_recording(54)
  file <- withr::local_tempfile(fileext = ".csv")
  feed <- quietly(feed_file(fed_stream(), file, every = 0.1, wait = 0.05))
  write_part <- quote({
    con <- file(path, "ab")
    put <- function(text) {
      writeBin(charToRaw(text), con)
      flush(con)
    }
    if (first == 1) put("time,unit\n") else put("\n")
    for (at in seq(first, last, by = 10)) {
      put(paste0(lines[at:min(at + 9, last)], "\n", collapse = ""))
      if (at %% 3 == 0) Sys.sleep(0.02)
      if (at %% 4 == 1) put(paste0(lines[max(1, at - 5):at], "\n", collapse = ""))
    }
    put("2.9")     # and dies within a line
    log("end", 1)
    tools::pskill(Sys.getpid(), tools::SIGKILL)
  })
  n <- nrow(all)
  for (part in list(c(1, 150), c(141, n))) {
    child <- start_child(substitute(
      {
        path <- PATH
        lines <- LINES
        first <- FIRST
        last <- LAST
        CODE
      },
      list(PATH = file, LINES = fed_lines(all), FIRST = part[[1]], LAST = part[[2]],
           CODE = write_part)
    ))
    quietly(feed_until(feed, \() !is.null(await_line(child, "end", 0.03)), 60))
  }
  quietly(run_feed(feed, idle = 0.2))
  s <- quietly(close(feed))
  expect_identical(feed$counts[["spikes"]], n + 0)
  expect_identical(feed$counts[["broken"]], 2)
  expect_identical(feed$counts[["too_late"]] + feed$counts[["stray"]], 0)
  expect_window_of(s, all)
})

# ---- The same file, however it is read ---------------------------------------------------

# What a feed has come to, but for the seconds that updates took.
fed_result <- function(feed) {
  s <- quietly(close(feed))
  list(table = as.data.frame(s), now = s$now, counts = feed$counts,
       history = s$history[names(s$history) != "seconds"])
}

# The result of a file that is read as bytes up to each of `cuts` are there.
fed_in_looks <- function(bytes, cuts, ..., stream = fed_stream()) {
  file <- tempfile(fileext = ".csv")
  file.create(file)
  on.exit(unlink(file))
  feed <- feed_file(stream, file, every = 0.1, wait = Inf, ...)
  for (part in split(bytes, findInterval(seq_along(bytes), cuts + 1))) {
    add_bytes(file, rawToChar(part))
    quietly(update(feed))
  }
  fed_result(feed)
}

test_that("one look, many looks and reading at once give the same", {
  skip_unless_nightly()
  compared <- 0
  for (seed in 71:82) {
    all <- fed_recording(seed)
    withr::local_seed(seed)
    # Rows out of order, rows that come again, some far too late, silences and broken lines.
    rows <- rbind(all, all[sample(nrow(all), 40), ])
    at <- order(rows$tick + sample(c(0, 0, 30, 250), nrow(rows), TRUE))
    rows <- rows[c(at, if (seed %% 3 == 0) sample(10)), ]
    lines <- fed_lines(rows)
    for (k in sample(length(lines), 8)) {
      lines <- append(lines, sample(c("x,u1", "1.5", "1.2,u1,u2", ",", "0.1,NA", "\"1,u1"), 1), k)
    }
    for (k in sort(sample(length(lines), 5), decreasing = TRUE)) {
      time <- suppressWarnings(as.numeric(sub(",.*", "", lines[[k]])))
      if (!is.na(time)) lines <- append(lines, sprintf("%.3f,", time), k)
    }
    end <- sample(c("\n", "\r\n"), 1)
    text <- paste0(c(if (seed %% 2) "time,unit", lines), end, collapse = "")
    bytes <- charToRaw(text)
    slack <- sample(c(0, 0.05), 1)
    one <- fed_in_looks(bytes, numeric(), slack = slack)
    expect_gt(one$counts[["broken"]], 0)
    for (cuts in c(3, 40, 400)) {
      expect_identical(fed_in_looks(bytes, sort(sample(length(bytes), cuts)), slack = slack), one)
    }
    # Without the broken lines and those of no unit, and as far as rows were in time.
    if (one$counts[["too_late"]] + one$counts[["stray"]] > 0) next
    file <- withr::local_tempfile(fileext = ".csv")
    writeLines(c("time,unit", fed_lines(rows)), file)
    x <- suppressMessages(read_spikes(file, resolution = 1e-3, end = 100))
    window <- x[time = c(max((one$now - 799) / 1000, min(x$time)), one$now / 1000)]
    expect_identical(one$table, as.data.frame(mine_episodes(window, 3, c(0.001, 0.012),
                                                            max_size = 3, threads = 1)))
    compared <- compared + 1
  }
  expect_gt(compared, 3)
})

test_that("a table may begin with broken lines, which are said with their numbers", {
  skip_unless_nightly()
  lines <- sprintf("%.3f,u%d", 1:60 / 10, 1:3)
  for (header in c(TRUE, FALSE)) {
    for (broken in list(1L, 2L, 5L, c(1L, 4L, 19L), 20L)) {
      text <- c(if (header) "time,unit", lines)
      if (header) broken <- broken + 1L
      for (k in broken) text <- append(text, c("1.2", "x,u1", "1,u1,u2")[[1 + k %% 3]], k - 1L)
      # No header tells words from a time that is none.
      if (!header && text[[1]] == "x,u1") text[[1]] <- ","
      bytes <- charToRaw(paste0(text, "\n", collapse = ""))
      one <- fed_in_looks(bytes, numeric())
      expect_identical(one$counts[c("spikes", "broken")],
                       c(spikes = 60, broken = length(broken) + 0))
      expect_identical(fed_in_looks(bytes, seq(7, length(bytes), by = 7)), one)
    }
  }
  file <- withr::local_tempfile()
  writeLines(c("time,unit", lines[1:3], "3.1", lines[-(1:3)]), file)
  feed <- feed_file(fed_stream(), file, wait = 0)
  said <- paste(capture_messages(update(feed)), collapse = " ")
  expect_match(gsub("\\s+", " ", said), "line 5 of .*\"3.1\" .it has 1 field, not 2")
  quietly(close(feed))
})

test_that("a last line without its end is taken by the rule of read_spikes()", {
  skip_unless_nightly()
  begin <- "time,unit\n1,u1\n2,u2\n3,u12\n4,u3\n"
  file <- withr::local_tempfile(fileext = ".csv")
  for (last in c("4.5,u", "4.5,u1", "4.5,u2", "4.", "4.5,", "4.5,\"u2\"", "4.5,\"u2")) {
    cat(begin, last, file = file, sep = "")
    feed <- feed_file(fed_stream(), file, wait = 0)
    update(feed)
    suppressMessages(close(feed))
    x <- suppressWarnings(suppressMessages(read_spikes(file)))
    expect_identical(feed$counts[["spikes"]], nrow(x) + 0)
    expect_identical(sort(feed$units), sort(levels(x$unit)))
  }
})

test_that("a clock that begins anew ends a feed, in one look and in many", {
  skip_unless_nightly()
  all <- fed_recording(83)
  lines <- c("time,unit", fed_lines(all))
  bytes <- charToRaw(paste0(c(lines, lines[-1]), "\n", collapse = ""))
  file <- withr::local_tempfile()
  results <- lapply(list(numeric(), seq(11, length(bytes), by = 11)), function(cuts) {
    file.create(file)
    feed <- feed_file(fed_stream(), file, every = 0.1, wait = Inf)
    failed <- NULL
    for (part in split(bytes, findInterval(seq_along(bytes), cuts + 1))) {
      add_bytes(file, rawToChar(part))
      failed <- tryCatch(quietly(update(feed)), synfire_error_feed = identity)
      if (inherits(failed, "condition")) break
    }
    again <- expect_error(update(feed), class = "synfire_error_feed")
    expect_identical(conditionMessage(again), conditionMessage(failed))
    expect_match(gsub("\\s+", " ", conditionMessage(failed)),
                 sprintf("begins anew at line %d: its times fall from %s s to %s s",
                         length(lines) + 1L, format(max(all$tick) / 1000),
                         format(min(all$tick) / 1000)))
    c(fed_result(feed), conditionMessage(failed))
  })
  expect_identical(sub(basename(file), "", results[[2]]), sub(basename(file), "", results[[1]]))
  expect_identical(results[[1]]$now, max(all$tick) + 0)
  expect_identical(results[[1]]$counts[["spikes"]], nrow(all) + 0)
})

test_that("a table that becomes another one ends a feed, in one look and in many", {
  skip_unless_nightly()
  all <- fed_recording(84)
  other <- sprintf("2026-01-01,%d", seq_len(150))
  # As many broken lines, but never a hundred in a row, are left out.
  mixed <- c(fed_lines(all)[1:30], rbind(fed_lines(all)[31:180], other))
  for (text in list(c("time,unit", fed_lines(all), other), c("time,unit", mixed))) {
    bytes <- charToRaw(paste0(text, "\n", collapse = ""))
    file <- withr::local_tempfile()
    results <- lapply(list(numeric(), seq(501, length(bytes), by = 501)), function(cuts) {
      file.create(file)
      feed <- feed_file(fed_stream(), file, every = 0.1, wait = Inf)
      failed <- NULL
      for (part in split(bytes, findInterval(seq_along(bytes), cuts + 1))) {
        add_bytes(file, rawToChar(part))
        failed <- tryCatch(quietly(update(feed)), synfire_error_feed = conditionMessage)
        if (is.character(failed)) break
      }
      c(fed_result(feed), if (is.character(failed)) gsub("\\s+", " ", failed))
    })
    expect_identical(results[[2]], results[[1]])
    if (identical(text[-1], mixed)) {
      expect_identical(results[[1]]$counts[c("spikes", "broken")], c(spikes = 180, broken = 150))
    } else {
      expect_match(results[[1]][[5]], sprintf("100 lines in a row are no spikes, up to line %d of",
                                              nrow(all) + 101L))
      expect_identical(results[[1]]$counts[c("spikes", "broken")],
                       c(spikes = nrow(all) + 0, broken = 100))
    }
  }
})
