# A job of more than a hundred chunks that takes some milliseconds.
folder_recording <- function(units = 24) {
  set.seed(1)
  simulate_patterns(duration = 30, units = units, rate = 12, patterns = list())
}

mine_job <- function(x, folder = NULL, ..., min_count = 4, threads = 1) {
  mine_patterns(x, 0.005, 20, min_spikes = 3, min_count = min_count, threads = threads, ...,
                folder = folder)
}

found_in <- function(x) unclass(x)[c("items", "runs", "count")]

chunk_files <- function(folder) list.files(folder, "^chunk-[0-9]{4}[.]rds$", full.names = TRUE)

# Quiet about what is there.
resume <- function(...) suppressMessages(mine_job(...), classes = "synfire_message_folder")

test_that("a folder gives the patterns that one search gives, in their order", {
  x <- folder_recording()
  whole <- mine_job(x)
  folder <- withr::local_tempdir()
  expect_silent(pieces <- mine_job(x, folder))
  expect_gt(length(chunk_files(folder)), 10L)
  expect_identical(found_in(pieces), found_in(whole))
  kept <- c("units", "window", "bin_size", "recording", "parameters", "engine", "threads")
  expect_identical(attributes(pieces)[kept], attributes(whole)[kept])
  expect_gt(attr(pieces, "mining_elapsed"), 0)
  expect_gt(attr(pieces, "peak_memory"), 0)

  # Several sizes in each chunk, so that merging has something to interleave.
  expect_gt(length(whole$runs$size), 1L)
  first <- readRDS(chunk_files(folder)[[10L]])$found
  expect_gt(length(first$size), 1L)
})

test_that("so it does with trials, other engines, and what is dropped afterwards", {
  set.seed(2)
  x <- simulate_patterns(duration = 20, units = 8, rate = 10)
  trials <- data.frame(start = c(0, 5, 11), end = c(4, 10, 19))
  x <- spikes_outside(spike_trains(x$time, x$unit, 0, 20, trials = trials))
  for (engine in c("closure", "fpgrowth")) {
    for (shifted in c("keep", "drop")) {
      job <- \(folder) mine_job(x, folder, engine = engine, shifted_subsets = shifted,
                                closed_within = "max_spikes", max_spikes = 4)
      expect_identical(found_in(job(withr::local_tempdir())), found_in(job(NULL)))
    }
  }
})

test_that("so it does where there is little or nothing to find", {
  few <- spike_trains(c(0, 0.005, 0.1, 0.105), c("a", "b", "a", "b"), 0, 0.2)
  none <- spike_trains(numeric(), character(), 0, 1)
  for (x in list(few, none)) {
    for (min_count in c(2, 50)) {
      job <- \(folder) mine_patterns(x, 0.005, 4, min_count = min_count, threads = 1,
                                     folder = folder)
      expect_identical(found_in(job(withr::local_tempdir())), found_in(job(NULL)))
    }
  }
})

test_that("workers of a plan give the same, each with what it may use", {
  skip_on_cran()
  x <- folder_recording()
  folder <- withr::local_tempdir()
  pieces <- with_workers(mine_job(x, folder, threads = NULL))
  expect_identical(found_in(pieces), found_in(mine_job(x)))
  # future grants a worker one core, as it has started as many as there are.
  expect_identical(as.integer(attr(pieces, "threads")), 1L)
  # They did all of it.
  before <- file.mtime(chunk_files(folder))
  expect_message(resume <- mine_job(x, folder), "All [0-9]+ chunks",
                 class = "synfire_message_folder")
  expect_identical(found_in(resume), found_in(pieces))
  expect_identical(file.mtime(chunk_files(folder)), before)
})

test_that("the search is cut by the data alone, into chunks of about equal work", {
  cut <- \(x, window = 20) {
    share_chunks(pattern_events(x, 5000), window, 1)
  }
  work <- \(x, window = 20) .Call(r_pattern_shares, pattern_events(x, 5000), window, 1)
  empty <- spike_trains(numeric(), factor(character(), c("A", "B")), start = 0, end = 1)
  expect_identical(cut(empty), 0L)
  for (units in c(1, 10, 200)) {
    x <- folder_recording(units)
    for (window in c(1, 20)) {
      end <- cut(x, window)
      share <- work(x, window)
      expect_gte(length(share), units)
      expect_true(all(diff(c(0, end)) > 0))
      expect_identical(end[[length(end)]], length(share))
      expect_lte(length(end), most_chunks)
      chunk <- tapply(share, findInterval(seq_along(share), end, left.open = TRUE), sum)
      expect_lte(max(chunk), 2 * max(share, sum(share) / most_chunks))
    }
  }
})

test_that("a unit with most of the spikes is divided", {
  set.seed(1)
  x <- simulate_patterns(duration = 30, units = 6, rate = c(60, 2, 2, 2, 2, 2),
                         patterns = list())
  folder <- withr::local_tempdir()
  pieces <- mine_patterns(x, 0.005, 10, 2, 3, threads = 1, folder = folder)
  expect_gt(length(chunk_files(folder)), 10L)
  for (engine in c("closure", "fpgrowth")) {
    folder <- withr::local_tempdir()
    found <- mine_patterns(x, 0.005, 10, 2, 3, threads = 1, folder = folder, engine = engine)
    expect_identical(found_in(found), found_in(pieces))
  }
  expect_identical(found_in(pieces), found_in(mine_patterns(x, 0.005, 10, 2, 3, threads = 1)))
})

test_that("a killed job goes on from its finished chunks", {
  skip_on_cran()
  x <- folder_recording()
  folder <- withr::local_tempdir()
  recording <- withr::local_tempfile(fileext = ".rds")
  saveRDS(x, recording)
  # The child stops for good when it has written its fourth chunk, but not named it yet: the
  # lock and the job were named before.
  lines <- start_child(substitute({
    x <- readRDS(RECORDING)
    files <- 0
    stop_at_sixth <- function() {
      files <<- files + 1
      if (files < 6) return()
      log("start", Sys.getpid())
      Sys.sleep(60)
    }
    trace("file.rename", stop_at_sixth, where = baseenv(), print = FALSE)
    mine_patterns(x, 0.005, 20, min_spikes = 3, min_count = 4, threads = 1, folder = FOLDER)
  }, list(RECORDING = recording, FOLDER = folder)))
  start <- await_line(lines, "start")
  expect_false(is.null(start), label = "the child did not get to its fourth chunk")
  tools::pskill(as.integer(start[[1L]]), tools::SIGKILL)

  finished <- chunk_files(folder)
  expect_length(finished, 3L)
  expect_length(list.files(folder, "[.]tmp$"), 1L)
  Sys.setFileTime(finished, "2020-01-01")
  expect_message(pieces <- mine_job(x, folder), "3 of [0-9]+ chunks are there",
                 class = "synfire_message_folder")
  expect_identical(found_in(pieces), found_in(mine_job(x)))
  expect_true(all(file.mtime(finished) == as.POSIXct("2020-01-01")))
  expect_length(list.files(folder, "[.]tmp$"), 0L)
})

test_that("a folder of another job is refused and left as it is", {
  x <- folder_recording(units = 6)
  folder <- withr::local_tempdir()
  mine_job(x, folder)
  before <- file.mtime(list.files(folder, full.names = TRUE))
  refused <- function(job, says) {
    expect_error(job, says, class = "synfire_error_argument")
  }
  mine <- function(x, bin_size = 0.005, window_bins = 20, min_spikes = 3, min_count = 4, ...) {
    mine_patterns(x, bin_size, window_bins, min_spikes, min_count, ..., threads = 1, folder = folder)
  }
  refused(mine(x, min_count = 5), "`min_count` is 4 there, not 5")
  refused(mine(x, min_spikes = 2), "`min_spikes` is 3 there, not 2; `min_units` is 3 there")
  refused(mine(x, min_units = 2), "`min_units` is 3 there, not 2")
  refused(mine(x, max_count = 9), "`max_count` is Inf there, not 9")
  refused(mine(x, max_spikes = 9), "`max_spikes` is Inf there, not 9")
  refused(mine(x, closed_within = "max_spikes"), "`closed_within` is \"all\" there")
  refused(mine(x, engine = "fpgrowth"), "`engine` is \"closure\" there")
  refused(mine(x, window_bins = 21), "`window_bins` is 20 there, not 21")
  refused(mine(x, bin_size = 0.004), "`bin_size` is 5,000 ticks there, not 4,000")
  refused(mine(x[-1, ]), "the recording differs")
  refused(mine(spike_trains(x$time, x$unit, -0.001, 30)), "the recording differs")
  expect_identical(file.mtime(list.files(folder, full.names = TRUE)), before)

  # What does not decide the result may change.
  expect_identical(found_in(resume(x, folder, threads = 1, max_memory = 1e9)),
                   found_in(mine_job(x)))
  expect_identical(found_in(resume(x, folder, shifted_subsets = "drop")),
                   found_in(mine_job(x, shifted_subsets = "drop")))
  expect_identical(file.mtime(list.files(folder, full.names = TRUE)), before)

  path <- file.path(folder, "job.rds")
  job <- read_whole(path)
  job$format <- job$format + 1L
  write_whole(job, path)
  refused(mine(x), "another version of synfire")
  bytes <- readBin(path, "raw", file.size(path))
  bytes[[200]] <- xor(bytes[[200]], as.raw(4))
  writeBin(bytes, path)
  refused(mine(x), "job.rds that is damaged")
  writeLines("job", path)
  refused(mine(x), "did not write")
  expect_identical(readLines(path), "job")
})

test_that("damaged chunks are mined again, with a warning", {
  skip_unless_nightly()
  x <- folder_recording(units = 6)
  folder <- withr::local_tempdir()
  whole <- found_in(mine_job(x, folder))
  file <- chunk_files(folder)
  other <- withr::local_tempdir()
  mine_job(x, other, min_count = 5)
  damages <- list(
    "cut short" = function(path) {
      bytes <- readBin(path, "raw", file.size(path))
      writeBin(bytes[seq_len(length(bytes) %/% 2)], path)
    },
    "a byte changed" = function(path) {
      bytes <- readBin(path, "raw", file.size(path))
      at <- length(bytes) %/% 2
      bytes[[at]] <- xor(bytes[[at]], as.raw(1))
      writeBin(bytes, path)
    },
    empty = function(path) file.create(path),
    "something else" = function(path) saveRDS(1:3, path),
    "another chunk" = function(path) file.copy(file[[2L]], path, overwrite = TRUE),
    "of another job" = function(path) file.copy(chunk_files(other)[[1L]], path, overwrite = TRUE)
  )
  for (damage in names(damages)) {
    damages[[damage]](file[[1L]])
    Sys.setFileTime(file, "2020-01-01")
    expect_warning(pieces <- resume(x, folder), "chunk-0001.rds",
                   class = "synfire_warning_folder", label = damage)
    expect_identical(found_in(pieces), whole, label = damage)
    again <- file.mtime(file) > as.POSIXct("2020-01-02")
    expect_identical(which(again), 1L, label = damage)
  }
  # Without its job.rds a folder's chunks are of a job that nobody knows.
  file.remove(file.path(folder, "job.rds"))
  before <- tools::md5sum(file)
  expect_error(resume(x, folder), "no job.rds", class = "synfire_error_argument")
  expect_identical(tools::md5sum(file), before)
})

test_that("what killed writers left is never read, and goes", {
  x <- folder_recording(units = 6)
  folder <- withr::local_tempdir()
  left <- file.path(folder, c("job.rds-synfire-1a2b.tmp", "chunk-0002.rds-synfire-3c4d.tmp"))
  file.create(left)
  expect_identical(found_in(mine_job(x, folder)), found_in(mine_job(x)))
  expect_false(any(file.exists(left)))
  expect_length(list.files(folder, all.files = TRUE, no.. = TRUE),
                length(chunk_files(folder)) + 1L)
})

test_that("a folder with files of the user's own is refused, and they stay", {
  x <- folder_recording(units = 3)
  for (name in c("thesis.txt", "chunk-0001.csv", "notes.tmp", "job.rds.bak", ".hidden")) {
    folder <- withr::local_tempdir()
    writeLines("mine", file.path(folder, name))
    withr::with_dir(folder, {
      expect_error(mine_job(x, "."), name, fixed = TRUE, class = "synfire_error_argument")
      expect_error(pvalue_spectrum(x, 0.005, 4, folder = "."), name, fixed = TRUE,
                   class = "synfire_error_argument")
    })
    expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), name)
    expect_identical(readLines(file.path(folder, name)), "mine")
  }
  # Of our names, but not ours: files, or folders in their place.
  folder <- withr::local_tempdir()
  saveRDS(1, file.path(folder, "job.rds"))
  expect_error(mine_job(x, folder), "did not write", class = "synfire_error_argument")
  expect_identical(readRDS(file.path(folder, "job.rds")), 1)
  for (name in c("job.rds", "chunk-0001.rds")) {
    folder <- withr::local_tempdir()
    dir.create(file.path(folder, name))
    expect_error(mine_job(x, folder), name, class = "synfire_error_argument")
  }
  # Beside a job of ours too; what is advised names our files alone.
  folder <- withr::local_tempdir()
  mine_job(x, folder)
  refusal <- expect_error(mine_job(x, folder, min_count = 5), "min_count")
  expect_no_match(conditionMessage(refusal), "recursive")
  advice <- sub(".*(unlink\\(.*full.names = TRUE\\)\\)).*", "\\1",
                gsub("\\s+", " ", conditionMessage(refusal)))
  writeLines("mine", file.path(folder, "thesis.txt"))
  expect_error(mine_job(x, folder), "thesis.txt", class = "synfire_error_argument")
  eval(parse(text = advice))
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "thesis.txt")
})

test_that("every byte of a folder may be changed, and no change is believed", {
  x <- folder_recording(units = 4)
  folder <- withr::local_tempdir()
  whole <- found_in(mine_job(x, folder, min_count = 3))
  file <- chunk_files(folder)[[1L]]
  bytes <- readBin(file, "raw", file.size(file))
  set.seed(4)
  for (at in c(1:20, sample(length(bytes), 60), length(bytes) - 0:5)) {
    changed <- bytes
    changed[[at]] <- xor(changed[[at]], as.raw(2^sample(0:7, 1)))
    writeBin(changed, file)
    expect_null(read_whole(file))
  }
  expect_warning(again <- resume(x, folder, min_count = 3), "chunk-0001")
  expect_identical(found_in(again), whole)
})

test_that("a folder that cannot be made or written to is an error", {
  x <- folder_recording(units = 3)
  file <- withr::local_tempfile()
  file.create(file)
  for (folder in c(file, file.path(file, "below"))) {
    expect_error(mine_job(x, folder), "`folder` must be a folder that can be made",
                 class = "synfire_error_argument")
  }
  for (folder in list(1, NA_character_, character(), c("a", "b"))) {
    expect_error(mine_job(x, folder), "`folder` must be one string",
                 class = "synfire_error_argument")
  }
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  Sys.chmod(folder, "555")
  if (file.access(folder, 2) == 0L) skip("this user may write everywhere")
  expect_error(mine_job(x, folder), "`folder` must be", class = "synfire_error_argument")
})

test_that("an error leaves finished chunks, and says so", {
  skip_on_cran()
  x <- folder_recording()
  job <- \(...) mine_patterns(x, 0.005, 20, min_spikes = 2, min_count = 2, threads = 1, ...)
  whole <- job()
  # Each chunk fits into this, all together do not.
  folder <- withr::local_tempdir()
  expect_error(job(folder = folder, max_memory = 5e6), "patterns of all chunks",
               class = "synfire_error_budget")
  file <- chunk_files(folder)
  Sys.setFileTime(file, "2020-01-01")
  pieces <- suppressMessages(job(folder = folder))
  expect_identical(found_in(pieces), found_in(whole))
  expect_true(all(file.mtime(file) == as.POSIXct("2020-01-01")))

  # Few chunks, of which the largest does not fit into this.
  set.seed(1)
  x <- simulate_patterns(duration = 1.2, units = 20, rate = 50, patterns = list())
  job <- \(...) mine_patterns(x, 0.005, 30, min_spikes = 2, min_count = 3, threads = 1, ...)
  whole <- job()
  folder <- withr::local_tempdir()
  job(folder = folder)
  smallest <- order(file.size(chunk_files(folder)))[[1L]]
  file.remove(chunk_files(folder)[-smallest])
  said <- character()
  hear <- function(message) {
    said <<- c(said, conditionMessage(message))
    rlang::cnd_muffle(message)
  }
  expect_error(
    withCallingHandlers(job(folder = folder, max_memory = 1e6), synfire_message_folder = hear),
    "raise `max_memory`", class = "synfire_error_budget"
  )
  expect_match(said, "1 of [0-9]+ chunks are there", all = FALSE)
  expect_match(said, "Finished chunks stay", all = FALSE)
  expect_true(sprintf("chunk-%04d.rds", smallest) %in% basename(chunk_files(folder)))
  expect_identical(found_in(suppressMessages(job(folder = folder))), found_in(whole))
})

test_that("the example for MPI runs on three ranks", {
  x <- folder_recording(units = 4)
  files <- withr::local_tempdir()
  recording <- file.path(files, "recording.csv")
  utils::write.csv(data.frame(time = x$time, unit = x$unit), recording, row.names = FALSE)
  result <- file.path(files, "result.rds")
  status <- run_mpi("patterns-mpi.R", 3, c(recording, file.path(files, "job"), result, 3, 2))
  expect_identical(status, 0L)
  whole <- mine_patterns(read_spikes(recording), 0.005, 20, 3, 2, threads = 1)
  expect_identical(found_in(readRDS(result)), found_in(whole))
  expect_gt(length(whole$count), 0L)
})

test_that("a folder whose name is no text is refused", {
  x <- spike_trains(c(1, 2), c("A", "B"))
  for (folder in c("caf\xe9\xff", "")) {
    expect_error(mine_patterns(x, 0.01, 3, folder = folder), "`folder` must be one string",
                 class = "synfire_error_argument")
  }
})

test_that("names of units do not make another job", {
  x <- folder_recording(10)
  renamed <- spike_trains(x$time, factor(x$unit, labels = paste0("n", 1:10)), attr(x, "start"),
                          attr(x, "end"))
  folder <- withr::local_tempdir()
  found <- mine_job(x, folder)
  expect_identical(found_in(resume(renamed, folder)), found_in(found))
  job <- readRDS(file.path(folder, "job.rds"))
  expect_identical(class(job$events$unit), "integer")
})
