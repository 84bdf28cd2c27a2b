# Folders of arrays (ALF, Open Ephys, SpikeInterface's analyzer), pynapple's archive, and NEV.

three_units <- function(units, levels = units, ...) {
  spike_trains(c(0.1, 0.2, 0.25, 0.35, 0.8), factor(units[c(1, 3, 3, 1, 1)], levels), ...)
}

npy_folder <- function(arrays, .env = parent.frame()) {
  folder <- withr::local_tempfile(.local_envir = .env)
  for (name in names(arrays)) {
    file <- file.path(folder, paste0(name, ".npy"))
    dir.create(dirname(file), recursive = TRUE, showWarnings = FALSE)
    writeBin(arrays[[name]], file)
  }
  folder
}

alf_arrays <- list(
  spikes.times = npy_bytes(c(0.1, 0.2, 0.25, 0.35, 0.8), "<f8"),
  spikes.clusters = npy_bytes(c(0, 2, 2, 0, 0), "<u2"),
  clusters.depths = npy_bytes(c(10.5, 20, 30), "<f8"), clusters.channels = npy_bytes(4:6, "<i8"),
  clusters.waveforms = npy_bytes(1:6, "<f4", "(3, 2)")
)

test_that("an ALF folder is read, with clusters that are silent", {
  want <- three_units(c("0", "1", "2"), unit_table = data.frame(
    unit = c("0", "1", "2"), channels = c(4, 5, 6), depths = c(10.5, 20, 30)
  ))
  folder <- npy_folder(alf_arrays)
  expect_identical(read_spikes(folder), want)
  expect_identical(read_spikes(folder, format = "alf"), want)
  renamed <- rlang::set_names(alf_arrays, c("_ibl_spikes.times_ephysClock.probe00",
                                            "_ibl_spikes.clusters", names(alf_arrays)[3:5]))
  expect_identical(read_spikes(npy_folder(renamed)), want)
  # Without arrays of clusters, those that fire are the units.
  expect_identical(read_spikes(npy_folder(alf_arrays[1:2])), three_units(c("0", "1", "2"),
                                                                         c("0", "2")))
  says <- \(...) cat(messages_of(read_spikes(...)))
  expect_snapshot(says(npy_folder(alf_arrays[-2])))
  expect_snapshot(says(npy_folder(replace(alf_arrays, 2, list(npy_bytes(1:4, "<u2"))))))
  expect_snapshot(says(folder, sampling_rate = 30000))
  expect_survives(file.path(folder, "spikes.clusters.npy"), \() read_spikes(folder))
  expect_survives(file.path(folder, "clusters.depths.npy"), \() read_spikes(folder))
})

openephys_folder <- function(said, arrays, .env = parent.frame()) {
  skip_if_not_installed("jsonlite")
  folder <- npy_folder(rlang::set_names(arrays, paste0("spikes/", names(arrays))), .env)
  writeLines(sprintf("{\"GUI version\": \"0.6.4\", \"spikes\": [%s]}", toString(said)),
             file.path(folder, "structure.oebin"))
  folder
}

test_that("spikes of Open Ephys are read, of one electrode or several", {
  said <- sprintf("{\"folder\": \"Detector-1/%s/\", \"name\": \"%s\", \"sample_rate\": 1000.0}",
                  c("T1", "T2"), c("T1", "T2"))
  arrays <- list(`Detector-1/T1/timestamps` = npy_bytes(c(0.1, 0.35, 0.8), "<f8"),
                 `Detector-1/T1/clusters` = npy_bytes(c(1, 1, 1), "<u2"),
                 `Detector-1/T2/timestamps` = npy_bytes(c(0.2, 0.25), "<f8"),
                 `Detector-1/T2/clusters` = npy_bytes(c(0, 0), "<u2"))
  one <- openephys_folder(said[1], arrays[1:2])
  expect_identical(read_spikes(one), spike_trains(c(0.1, 0.35, 0.8), 1, unit_table = data.frame(
    unit = "1", cluster = 1
  )))
  two <- openephys_folder(said, arrays)
  want <- spike_trains(c(0.1, 0.2, 0.25, 0.35, 0.8), c("T1_1", "T2_0", "T2_0", "T1_1", "T1_1"),
                       unit_table = data.frame(unit = c("T1_1", "T2_0"), electrode = c("T1", "T2"),
                                               cluster = c(1, 0)))
  expect_identical(read_spikes(two), want)
  # Before version 0.6 times were samples.
  arrays[c(1, 3)] <- list(npy_bytes(c(100, 350, 800), "<i8"), npy_bytes(c(200, 250), "<i8"))
  names(arrays) <- sub("timestamps", "spike_times", sub("/clusters", "/spike_clusters",
                                                        names(arrays)))
  expect_identical(read_spikes(openephys_folder(said, arrays)), want)
  says <- \(...) cat(messages_of(read_spikes(...)))
  expect_snapshot(says(openephys_folder(said, arrays[-2])))
  expect_snapshot(says(openephys_folder(character(), arrays)))
  expect_survives(file.path(two, "structure.oebin"), \() read_spikes(two))
})

test_that("what pynapple wrote is read", {
  file <- test_path("fixtures/pynapple.npz")
  expect_identical(read_spikes(file), three_units(c("7", "3", "12"), c("3", "7", "12"), start = 0,
                                                  end = 1))
  expect_snapshot(cat(messages_of(read_spikes(file, time_unit = "ms"))))
  expect_survives(raw_file(readBin(file, "raw", 1e5)), \() read_spikes(file))
})

test_that("what SpikeInterface's analyzer computed becomes the table of units", {
  skip_if_not_installed("jsonlite")
  folder <- test_path("fixtures/analyzer")
  x <- read_spikes(folder)
  expect_identical(as.vector(table(x$unit)), c(28L, 33L, 28L))
  known <- unit_table(x)
  expect_identical(names(known), c("unit", "main_channel_id", "num_spikes", "snr",
                                   "amplitude_median"))
  expect_equal(known$snr, c(4.72, 25.3, 12.9), tolerance = 0.01)
  expect_identical(as.integer(known$num_spikes), c(28L, 33L, 28L))
  expect_identical(nlevels(x[unit = snr > 5]$unit), 2L)
  copy <- withr::local_tempdir()
  file.copy(folder, copy, recursive = TRUE)
  copy <- file.path(copy, "analyzer")
  expect_survives(file.path(copy, "extensions/quality_metrics/metrics.csv"),
                  \() read_spikes(copy))
  zarr <- npy_folder(list(a = npy_bytes(1, "<f8")))
  writeLines("{}", file.path(zarr, ".zgroup"))
  expect_snapshot(cat(messages_of(read_spikes(zarr))))
})

# A NEV file with packets of 16 bytes.
nev_bytes <- function(time, electrode, class, wide = 4, version = 2) {
  little <- \(v, width) as.raw(v %/% 256^(seq_len(width) - 1) %% 256)
  packets <- Map(\(t, e, c) {
    packet <- c(little(t, wide), little(e, 2), little(c, 1))
    c(packet, raw(16 - length(packet)))
  }, time, electrode, class)
  c(charToRaw(if (version == 3) "BREVENTS" else "NEURALEV"), as.raw(c(version, 3, 0, 0)),
    little(336, 4), little(16, 4), little(30000, 4), little(30000, 4), raw(308), unlist(packets))
}

test_that("spikes of a NEV file are read, and its other events are not", {
  time <- c(3000, 6000, 7500, 10500, 24000, 100)
  electrode <- c(1, 9, 9, 1, 1, 0)
  class <- c(1, 0, 0, 1, 1, 1)
  want <- spike_trains(c(0.1, 0.2, 0.25, 0.35, 0.8), c("1_1", "9_0", "9_0", "1_1", "1_1"),
                       unit_table = data.frame(unit = c("1_1", "9_0"), electrode = c(1, 9),
                                               class = c(1, 0)))
  file <- raw_file(nev_bytes(time, electrode, class))
  expect_identical(read_spikes(file), want)
  expect_identical(read_spikes(raw_file(nev_bytes(time, electrode, class, 8, 3)), format = "nev"),
                   want)
  says <- \(bytes, ...) cat(messages_of(read_spikes(raw_file(bytes), ...)))
  expect_snapshot(says(head(nev_bytes(time, electrode, class), -3)))
  expect_snapshot(says(nev_bytes(1, 1, 1)[1:100]))
  expect_snapshot(says(charToRaw("time,unit\n1,2\n"), format = "nev"))
  expect_survives(file, \() read_spikes(file), cuts = 20, changes = 40)
})

test_that("spikes of a NEV file are those that neo reads", {
  x <- read_spikes(test_path("fixtures", "sorted.nev"))
  theirs <- utils::read.csv(test_path("fixtures", "sorted-nev.csv"))
  theirs <- theirs[order(theirs$tick, theirs$unit), ]
  ours <- data.frame(tick = round(x$time * 30000), unit = as.character(x$unit))
  ours <- ours[order(ours$tick, ours$unit), ]
  expect_identical(nrow(ours), 60L)
  expect_equal(ours, theirs, ignore_attr = TRUE)
})
