# ---- NWB ---------------------------------------------------------------------------

# What the reader itself gives, which holds so many spikes at once.
read_parts <- function(file, range, block) {
  h5 <- hdf5r::H5File$new(file, mode = "r")
  on.exit(h5$close_all())
  synfire:::read_nwb(h5, stop, NULL, 1e-6, TRUE, range, block = block)
}

test_that("units of an NWB file are read, silent ones too", {
  skip_on_cran()
  file <- write_nwb(unit_name = c("x", "y", "z"))
  x <- read_spikes(file)
  expect_identical(x, spike_trains(
    c(0.5, 1, 2, 0.25, 3), factor(c(4, 4, 4, 5, 5), levels = c(4, 5, 10)),
    unit_table = data.frame(unit = c(4, 5, 10), unit_name = c("x", "z", "y"))
  ))
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
  for (block in c(1, 7, 64)) for (range in list(NULL, c(2, 3), c(-1, 0), c(9.9, Inf))) {
    got <- read_parts(file, range, block)
    inside <- if (is.null(range)) TRUE else whole$time >= range[[1]] & whole$time <= range[[2]]
    part <- as.data.frame(whole)[inside, ]
    o <- order(got$ticks, got$unit)
    expect_equal(got$ticks[o] / 1e6, part$time)
    expect_identical(as.character(got$unit[o]), as.character(part$unit))
    expect_identical(got$cover, synfire:::interval_ticks(whole))
  }
})

test_that("observation intervals give the interval", {
  file <- write_nwb(obs_intervals = matrix(c(0, 5, 0, 5, 0, 6), 2),
                    obs_intervals_index = 1:3)
  expect_identical(attr(read_spikes(file), "end"), 6)
})

test_that("damaged NWB files are an error", {
  skip_unless_nightly()
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

  expect_snapshot(says(bent_nwb(\(h5) h5[["units"]]$link_delete("spike_times"))))
  expect_snapshot(says(bent_nwb(\(h5) {
    h5[["units"]]$link_delete("spike_times_index")
    h5[["units"]][["spike_times_index"]] <- c(3L, 3L, 9L)
  })))
  expect_snapshot(says(bent_nwb(\(h5) {
    h5[["units"]]$link_delete("spike_times")
    h5[["units"]][["spike_times"]] <- letters[1:5]
  })))
  expect_snapshot(says(bent_nwb(\(h5) h5$attr_delete("nwb_version")), from = 9))

  whole <- readBin(write_nwb(), "raw", 1e6)
  expect_file_error(read_spikes(raw_file(whole[1:600])))
})

test_that("a part of an NWB file that is no sound data set is named", {
  skip_on_cran()
  skip_if_not_installed("hdf5r")
  says <- \(file, ...) cat(messages_of(read_spikes(file, ...)))
  # A fractional end of a unit's spikes would give its neighbour one of them.
  expect_snapshot(says(bent_nwb(\(h5) {
    h5[["units"]]$link_delete("spike_times_index")
    h5[["units"]][["spike_times_index"]] <- c(2.5, 3, 5)
  })))
  expect_snapshot(says(bent_nwb(\(h5) {
    h5[["units"]]$link_delete("spike_times")
    h5[["units"]]$link_create_soft("/nowhere", "spike_times")
  })))
  expect_snapshot(says(bent_nwb(\(h5) {
    h5[["intervals/trials"]]$link_delete("stop_time")
    h5[["intervals/trials"]]$link_create_soft("/nowhere", "stop_time")
  }, trials = list(start_time = 0, stop_time = 4))))
  expect_snapshot(says(bent_nwb(\(h5) h5[["units"]]$create_group("names")), unit_column = "names"))
  expect_snapshot(says(write_nwb(trials = list(
    start_time = c(0, 2), stop_time = c(1, 3), id = c(5L, 5L)
  ))))
})

test_that("an NWB file behind a user block is read", {
  file <- write_nwb()
  bytes <- readBin(file, "raw", 1e6)
  expect_identical(read_spikes(raw_file(c(raw(1024), bytes))), read_spikes(file))
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
  skip_if_not(await(\() file.exists(ready)), "no other process could be started")
  said <- messages_of(read_spikes(file))
  unlink(ready)
  expect_match(said, "open in another program")
  expect_match(said, "HDF5_USE_FILE_LOCKING")
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

test_that("what a file knows of units and their electrodes becomes their table", {
  place <- "general/extracellular_ephys/electrodes"
  electrodes <- list(id = 10:13, location = c("CA1", "CA1", "CA3", "DG"), x = c(0, 1, 2, 3))
  names(electrodes) <- paste0(place, "/", names(electrodes))
  file <- write_nwb(quality = c("good", "mua", "good"), location = c("a", "b", "c"),
                    good = c(TRUE, FALSE, TRUE), waveform_mean = matrix(1:6, 2),
                    electrodes = c(3L, 0L, 2L), electrodes_index = 1:3, more = electrodes)
  expect_identical(unit_table(read_spikes(file)), data.frame(
    unit = factor(c(4, 5, 10)), good = c(TRUE, TRUE, FALSE), location = c("a", "c", "b"),
    quality = c("good", "good", "mua"), electrode = c(13L, 12L, 10L),
    electrode_location = c("DG", "CA3", "CA1"), x = c(3, 2, 0)
  ))
  # Several electrodes of a unit say nothing about where it is.
  many <- write_nwb(electrodes = c(3L, 0L, 2L), electrodes_index = c(0L, 2L, 3L),
                    more = electrodes)
  expect_null(unit_table(read_spikes(many)))
  beyond <- write_nwb(electrodes = c(3L, 0L, 4L), more = electrodes)
  expect_snapshot(cat(messages_of(read_spikes(beyond))))
})

test_that("any table of intervals gives trials, with all that it says of them", {
  epochs <- list(`intervals/epochs/start_time` = c(5, 0), `intervals/epochs/stop_time` = c(6, 4),
                 `intervals/epochs/id` = c(7L, 8L), `intervals/epochs/start` = c("a", "b"),
                 `intervals/epochs/tags` = c("wake", "run", "rest"),
                 `intervals/epochs/tags_index` = c(2L, 3L))
  file <- write_nwb(trials = list(start_time = 0, stop_time = 4, condition = "left"),
                    more = epochs)
  expect_identical(trial_table(read_spikes(file)),
                   data.frame(trial = 1L, start = 0, end = 4, condition = "left"))
  want <- data.frame(trial = c(8L, 7L), start = c(0, 5), end = c(4, 6), start.1 = c("b", "a"),
                     tags = c("rest", "wake, run"))
  for (name in c("epochs", "intervals/epochs", "/intervals/epochs")) {
    expect_identical(trial_table(read_spikes(file, trials = name)), want)
  }
  expect_snapshot(cat(messages_of(read_spikes(file, trials = "epoch"))))
  expect_snapshot(cat(messages_of(read_spikes(file, trials = 1))))
  own <- data.frame(start = 0, end = 2)
  expect_identical(trial_table(suppressMessages(read_spikes(file, trials = own)))$end, 2)
})

test_that("a short range of a file is found without reading all of it", {
  set.seed(3)
  times <- lapply(1:20, \(k) sort(runif(2000, 0, 100)))
  file <- write_nwb(times, ids = 0:19)
  h5 <- hdf5r::H5File$new(file, mode = "r")
  withr::defer(h5$close_all())
  set <- h5[["units/spike_times"]]
  seen <- 0
  last <- cumsum(lengths(times))
  found <- synfire:::nwb_search(\(at) {
    seen <<- seen + length(at)
    synfire:::round_to_ticks(set[at], 1e-6)
  }, last, c(40, 41) * 1e6, margin = 64)
  inside <- lapply(times, \(one) round(one[one >= 40 & one <= 41] * 1e6))
  expect_identical(found$ticks, unlist(inside))
  expect_identical(found$code, rep(1:20, lengths(inside)))
  expect_identical(found$cover, round(range(unlist(times)) * 1e6))
  # Two ends of each unit, what is inside, and what is around that.
  expect_lt(seen, 0.15 * max(last))
  # Also where a unit fires all its spikes at one end of the recording.
  burst <- c(seq(0, 1, length.out = 1000), 99, 100)
  ticks <- round(burst * 1e6)
  for (margin in c(1, 8)) for (limit in list(c(0.2, 0.3), c(0.9, 99.5), c(50, 60), c(-Inf, 0.5))) {
    found <- synfire:::nwb_search(\(at) ticks[at], length(ticks), limit * 1e6, margin)
    expect_identical(found$ticks, ticks[burst >= limit[1] & burst <= limit[2]])
  }
})

test_that("a file whose times do not ascend is read whole", {
  times <- list(c(1, 5, 2, 9, 3, 8, 4, 7, 6, 10), c(3, 3.5))
  file <- write_nwb(times, ids = 1:2)
  for (range in list(c(2, 4), c(6, 20), c(0, 3))) {
    got <- read_parts(file, range, 2)
    expect_setequal(got$ticks / 1e6, Filter(\(t) t >= range[1] & t <= range[2], unlist(times)))
  }
})

test_that("trials of zero length are left out, and that is said", {
  file <- write_nwb(trials = list(start_time = c(0, 2, 2), stop_time = c(2, 2, 4), id = 4:6))
  expect_message(x <- read_spikes(file), "1 of 3 trials in `/intervals/trials` has a length of zero")
  expect_identical(trial_table(x), data.frame(trial = c(4L, 6L), start = c(0, 2), end = c(2, 4)))
  none <- write_nwb(trials = list(start_time = c(1, 2), stop_time = c(1, 2)))
  expect_error(read_spikes(none), "a length above zero", class = "synfire_error_file")
})

test_that("intervals other than trials are offered by name", {
  spans <- list(`intervals/tones/start_time` = c(0, 1), `intervals/tones/stop_time` = c(0.4, 2))
  file <- write_nwb(more = spans)
  expect_message(read_spikes(file), "no trials, but other intervals: tones.*trials = \"tones\"",
                 class = "synfire_message_trials")
  expect_identical(trial_table(suppressMessages(read_spikes(file, trials = "tones")))$start, c(0, 1))
  expect_no_message(read_spikes(file, trials = FALSE))
})
