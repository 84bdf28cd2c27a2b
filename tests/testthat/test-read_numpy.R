# NumPy arrays of records and archives, and the sortings of SpikeInterface.

spike_records <- function(sample, unit, segment) {
  record_bytes(list(sample_index = sample, unit_index = unit, segment_index = segment),
               c("<i8", "<i8", "<i8"))
}

sorting_folder <- function(info = paste0("{\"sampling_frequency\": 1000.0, \"unit_ids\": ",
                                         "[\"u10\", \"u2\", \"u3\"], \"num_segments\": 1}"),
                           spikes = spike_records(c(5, 7, 9, 9), c(0, 1, 0, 1), c(0, 0, 0, 0)),
                           .env = parent.frame()) {
  skip_if_not_installed("jsonlite")
  folder <- withr::local_tempfile(.local_envir = .env)
  dir.create(file.path(folder, "properties"), recursive = TRUE)
  writeLines(info, file.path(folder, "numpysorting_info.json"))
  writeBin(spikes, file.path(folder, "spikes.npy"))
  folder
}

npz_file <- function(arrays, packed = FALSE, .env = parent.frame()) {
  raw_file(npz_bytes(arrays, packed), .env = .env)
}

test_that("a NumPy folder of SpikeInterface is read with its properties", {
  folder <- sorting_folder()
  write_npy(file.path(folder, "properties/quality.npy"), c("good", "mua", "\u00e9"), "<U4")
  write_npy(file.path(folder, "properties/depth.npy"), c(1.5, 2.5, 3.5), "<f8")
  write_npy(file.path(folder, "properties/fine.npy"), c(1, 0, 1), "|b1")
  write_npy(file.path(folder, "properties/place.npy"), 1:6, "<i4", "(3, 2)")
  write_npy(file.path(folder, "properties/object.npy"), 0, "|O", bytes = 1:24)
  want <- spike_trains(
    c(0.005, 0.007, 0.009, 0.009), factor(c("u10", "u2", "u10", "u2"), c("u2", "u3", "u10")),
    unit_table = data.frame(unit = c("u2", "u3", "u10"), depth = c(2.5, 3.5, 1.5),
                            fine = c(FALSE, TRUE, TRUE), quality = c("mua", "\u00e9", "good"))
  )
  expect_identical(read_spikes(folder), want)
  expect_identical(read_spikes(folder, format = "numpy", sampling_rate = 1000), want)
  says <- \(...) cat(messages_of(read_spikes(folder, ...)))
  expect_snapshot(says(sampling_rate = 2000))
  expect_snapshot(says(time_unit = "ms"))
  expect_snapshot(says(segment = 2))
  expect_snapshot(says(format = "csv"))
})

test_that("segments are read one by one", {
  info <- "{\"sampling_frequency\": 10, \"unit_ids\": [4, 2], \"num_segments\": 2}"
  folder <- sorting_folder(info, spike_records(c(1, 2, 1), c(0, 1, 1), c(0, 0, 1)))
  expect_snapshot(cat(messages_of(read_spikes(folder))))
  expect_identical(read_spikes(folder, segment = 2), spike_trains(0.1, factor(2, c(2, 4))))
  expect_identical(read_spikes(folder, segment = 1),
                   spike_trains(c(0.1, 0.2), factor(c(4, 2), c(2, 4))))
})

test_that("a sorting without spikes, or without units, is a silent recording", {
  info <- "{\"sampling_frequency\": 10, \"unit_ids\": [%s], \"num_segments\": 1}"
  empty <- spike_records(numeric(), numeric(), numeric())
  for (units in c("4, 2", "")) {
    folder <- sorting_folder(sprintf(info, units), empty)
    expect_error(read_spikes(folder), "holds no spikes.*`start` and `end`", class = "synfire_error_file")
    x <- read_spikes(folder, start = 0, end = 5)
    expect_identical(levels(x$unit), if (nzchar(units)) c("2", "4") else character())
    expect_identical(nrow(x), 0L)
  }
})

test_that("a damaged folder of SpikeInterface is an error", {
  says <- \(...) cat(messages_of(read_spikes(sorting_folder(...))))
  expect_snapshot(says("{\"sampling_frequency\": 1000"))
  expect_snapshot(says("{\"unit_ids\": [1, 2], \"num_segments\": 1}"))
  expect_snapshot(says("{\"sampling_frequency\": 10, \"unit_ids\": [1, 1], \"num_segments\": 1}"))
  expect_snapshot(says("{\"sampling_frequency\": 10, \"unit_ids\": [1], \"num_segments\": 1}"))
  expect_snapshot(says("{\"sampling_frequency\": 10, \"unit_ids\": [1, 2]}"))
  expect_snapshot(says(spikes = npy_bytes(1:3, "<i4")))
  folder <- sorting_folder()
  expect_survives(file.path(folder, "spikes.npy"), \() read_spikes(folder))
  expect_survives(file.path(folder, "numpysorting_info.json"), \() read_spikes(folder))
})

test_that("the archive of SpikeInterface is read, packed or not, also in its folder", {
  arrays <- list(
    unit_ids = npy_bytes(c("b", "a"), "<U1"), num_segment = npy_bytes(2, "<i8"),
    sampling_frequency = npy_bytes(2e4, "<f8"),
    spike_indexes_seg0 = npy_bytes(c(20, 40, 60), "<i8"),
    spike_labels_seg0 = npy_bytes(c("b", "a", "b"), "<U1"),
    spike_indexes_seg1 = npy_bytes(100, "<i8"), spike_labels_seg1 = npy_bytes("a", "<U1")
  )
  want <- spike_trains(c(0.001, 0.002, 0.003), factor(c("b", "a", "b"), c("a", "b")))
  for (packed in c(FALSE, TRUE)) {
    file <- npz_file(arrays, packed)
    expect_identical(read_spikes(file, segment = 1), want)
    expect_identical(read_spikes(file, segment = 2)$time, 0.005)
    expect_survives(file, \() read_spikes(file, segment = 1), seed = 2 + packed)
  }
  folder <- withr::local_tempfile()
  dir.create(folder)
  writeBin(npz_bytes(arrays), file.path(folder, "sorting_cached.npz"))
  expect_identical(read_spikes(folder, segment = 1), want)
  expect_snapshot(cat(messages_of(read_spikes(npz_file(arrays[-4]), segment = 1))))
})

test_that("plain archives and records of times and units are read", {
  want <- spike_trains(c(0.5, 0.25, 3), c(7, 9, 7))
  arrays <- list(extra = npy_bytes(1:6, "<i4", "(2, 3)"), times = npy_bytes(c(0.5, 0.25, 3), "<f8"),
                 cluster = npy_bytes(c(7, 9, 7), "<u2"))
  for (packed in c(FALSE, TRUE)) expect_identical(read_spikes(npz_file(arrays, packed)), want)
  names(arrays)[2:3] <- c("when", "who")
  expect_identical(read_spikes(npz_file(arrays), time_column = "when", unit_column = "who"), want)
  records <- record_bytes(list(time = c(0.5, 0.25, 3), unit = c(7, 9, 7)), c("<f8", "<i4"))
  expect_identical(read_spikes(raw_file(records)), want)
  # A compiler fills records up to whole words.
  padded <- npy_bytes(1:2, "[('time', '<f8'), ('unit', '<i2'), ('', '|V6')]", bytes = unlist(lapply(
    c(0.5, 3), \(t) c(number_bytes(t, "<f8"), number_bytes(7, "<i2"), raw(6))
  )))
  expect_identical(read_spikes(raw_file(padded)), spike_trains(c(0.5, 3), c(7, 7)))
  wide <- c(0.5, 7, 0.25, 9, 3, 7)
  expect_identical(read_spikes(raw_file(npy_bytes(wide, "<f8", "(3, 2)"))), want)
  expect_identical(read_spikes(raw_file(npy_bytes(wide[c(1, 3, 5, 2, 4, 6)], "<f8", "(3, 2)",
                                                  order = "True"))), want)
  expect_identical(read_spikes(raw_file(npy_bytes(c(0.5, 7), "<f8", "(1, 2)")), time_column = 1),
                   spike_trains(0.5, 7))
  trials <- c(arrays[-1], list(trial = npy_bytes(c(1, 1, 2), "<i8")))
  names(trials)[1:2] <- c("time", "unit")
  x <- read_spikes(npz_file(trials), trial_clock = "trial")
  expect_identical(trial_table(x)$trial, 1:2)
})

test_that("whole numbers are never taken for seconds in silence", {
  file <- npz_file(list(time = npy_bytes(c(10, 20), "<i8"), unit = npy_bytes(1:2, "<i4")))
  expect_snapshot(cat(messages_of(read_spikes(file))))
  expect_identical(read_spikes(file, time_unit = "samples", sampling_rate = 1e4)$time,
                   c(0.001, 0.002))
  named <- npz_file(list(time_ms = npy_bytes(c(10, 20), "<i8"), unit = npy_bytes(1:2, "<i4")))
  expect_identical(read_spikes(named)$time, c(0.01, 0.02))
})

test_that("arrays that hold no spikes are refused", {
  says <- \(bytes, ...) cat(messages_of(read_spikes(raw_file(bytes), ...)))
  number <- npy_bytes(c(1.5, 2), "<f8")
  expect_snapshot(says(number))
  expect_snapshot(says(npz_bytes(list(a = number, b = number))))
  expect_snapshot(says(npz_bytes(list(time = number, unit = npy_bytes(1:3, "<i4")))))
  expect_snapshot(says(npz_bytes(list(time = npy_bytes(c(1, NaN), "<f8"), unit = number))))
  expect_snapshot(says(npz_bytes(list(time = number, unit = npy_bytes(c("a", ""), "<U1")))))
  expect_snapshot(says(npz_bytes(list(time = npy_bytes(c("a", "b"), "<U1"), unit = number))))
  expect_snapshot(says(npz_bytes(list(time = number, unit = number)), segment = 1))
  expect_snapshot(says(npy_bytes(1, "[('time', '<f8', (3,)), ('unit', '<i4')]", bytes = raw(28))))
  bytes <- npz_bytes(list(time = number, unit = number))
  expect_snapshot(says(head(bytes, -30)))
})
