# Files of electrode arrays.

test_that("the layout of the wave repositories is read with positions", {
  values <- list(spikes = c(0.5, 1, 0.25), sCount = c(2L, 0L, 1L), names = c("c2", "c10", "c1"),
                 epos = cbind(c(0, 42, 84), c(1, 2, 3)), `summary/duration` = 2)
  want <- spike_trains(c(0.5, 1, 0.25), factor(c("c2", "c2", "c1"), c("c1", "c2", "c10")),
                       start = 0, end = 2,
                       unit_table = data.frame(unit = c("c1", "c2", "c10"), x = c(84, 0, 42),
                                               y = c(3, 1, 2)))
  file <- h5_file(values)
  expect_identical(read_spikes(file), want)
  expect_identical(read_spikes(file, format = "waverepo"), want)
  # Without the end of the recording it is that of the spikes.
  other <- replace(values, "summary/duration", 0.75)
  expect_identical(attr(read_spikes(h5_file(other)), "end"), 1)
  expect_null(unit_table(read_spikes(h5_file(values[c("spikes", "sCount")]))))
  turned <- replace(values, "epos", list(t(values$epos)))
  expect_identical(read_spikes(h5_file(turned)), want)
  says <- \(...) cat(messages_of(read_spikes(h5_file(utils::modifyList(values, list(...))))))
  expect_snapshot(says(sCount = c(2L, 0L, 2L)))
  expect_snapshot(says(names = c("a", "a", "b")))
  expect_snapshot(says(epos = matrix(1:4, 2)))
  expect_snapshot(says(spikes = c(0.5, NaN, 1)))
  expect_survives(file, \() read_spikes(file))
})

test_that("the shared recording of a retina is read", {
  x <- read_spikes(shared_data("recordings/retina-1152.h5"))
  expect_identical(c(nrow(x), nlevels(x$unit)), c(664716L, 1152L))
  expect_identical(c(attr(x, "start"), attr(x, "end")), c(0, 1800))
  expect_identical(range(unit_table(x)$y), c(0, 2646))
})

spikes_of_maxwell <- data.frame(frameno = c(100, 120, 140, 160), channel = c(5L, 9L, 5L, 7L),
                                amplitude = -(1:4))
wired <- data.frame(channel = c(9L, 5L, -1L, 11L), electrode = c(900L, 500L, 3L, 1100L),
                    x = c(35, 17.5, 0, 52.5), y = c(2, 1, 0, 3))

test_that("spikes of MaxWell's older files are read", {
  file <- h5_file(list(`proc0/spikeTimes` = spikes_of_maxwell, mapping = wired))
  x <- read_spikes(file)
  expect_identical(x, spike_trains(
    c(0.005, 0.006, 0.007, 0.008), factor(c(5, 9, 5, 7), c(5, 7, 9, 11)),
    unit_table = data.frame(unit = c(5, 7, 9, 11), channel = c(5, 7, 9, 11),
                            electrode = c(500, NA, 900, 1100), x = c(17.5, NA, 35, 52.5),
                            y = c(1, NA, 2, 3))
  ))
  expect_survives(file, \() read_spikes(file), seed = 5)
})

maxwell_file <- function(wells, frames = TRUE, ..., .env = parent.frame()) {
  h5_file(unlist(unname(lapply(wells, \(well) {
    parts <- list(spikes = spikes_of_maxwell, `settings/mapping` = wired,
                  `settings/sampling` = 1e4)
    if (frames) parts$`groups/routed/frame_nos` <- 90:200
    other <- list(...)
    parts[names(other)] <- other
    rlang::set_names(parts, sprintf("wells/%s/%s", well, names(parts)))
  })), recursive = FALSE), .env = .env)
}

test_that("spikes of MaxWell's newer files are read, well by well", {
  one <- read_spikes(maxwell_file("well000/rec0000"))
  expect_identical(one$time, c(0.001, 0.003, 0.005, 0.007))
  expect_identical(names(unit_table(one)), c("unit", "channel", "electrode", "x", "y"))
  expect_identical(read_spikes(maxwell_file("well000/rec0000", frames = FALSE))$time,
                   c(0.01, 0.012, 0.014, 0.016))
  two <- read_spikes(maxwell_file(c("well001/rec0000", "well000/rec0000")))
  expect_identical(levels(two$unit), paste0(rep(c("well000_", "well001_"), each = 4), c(5, 7, 9, 11)))
  expect_identical(unit_table(two)$well, rep(c("well000", "well001"), each = 4))
  expect_identical(as.data.frame(two[unit = levels(two$unit)[5:8]])$time, one$time)
})

test_that("recordings of a well are read one by one, and what is missing is said", {
  file <- maxwell_file(c("well000/rec0000", "well000/rec0001"))
  says <- \(...) cat(messages_of(read_spikes(...)))
  expect_snapshot(says(file))
  expect_identical(nrow(read_spikes(file, segment = 2)), 4L)
  expect_snapshot(says(h5_file(list(`wells/well000/rec0000/settings/sampling` = 1e4))))
  expect_snapshot(says(maxwell_file("well000/rec0000", `settings/mapping` = wired[c("channel", "x", "y")])))
  expect_snapshot(says(maxwell_file("well000/rec0000", spikes = 1:3)))
  expect_snapshot(says(maxwell_file("well000/rec0000"), sampling_rate = 5))
  expect_snapshot(says(h5_file(list(`proc0/other` = 1))))
  file <- maxwell_file("well000/rec0000")
  expect_survives(file, \() read_spikes(file), seed = 6)
})

brainwave4 <- list(
  `3BResults/3BChEvents/SpikeTimes` = c(10, 20, 30),
  `3BResults/3BChEvents/SpikeChIDs` = c(0L, 2L, 0L),
  `3BRecInfo/3BRecVars/SamplingRate` = 1e4, `3BRecInfo/3BRecVars/NRecFrames` = 40,
  `3BRecInfo/3BMeaStreams/Raw/Chs` = data.frame(Row = c(1L, 1L, 2L), Col = c(1L, 2L, 1L))
)

test_that("spikes of BrainWave 4 are read", {
  file <- h5_file(brainwave4)
  want <- spike_trains(
    c(0.001, 0.002, 0.003), factor(c(0, 2, 0), 0:2), start = 0, end = 0.004,
    unit_table = data.frame(unit = 0:2, channel = c(0, 1, 2), row = c(1, 1, 2), col = c(1, 2, 1))
  )
  expect_identical(read_spikes(file), want)
  few <- h5_file(brainwave4[1:3])
  expect_identical(levels(read_spikes(few)$unit), c("0", "2"))
  says <- \(values, ...) cat(messages_of(read_spikes(h5_file(values), ...)))
  expect_snapshot(says(brainwave4[1:2]))
  expect_identical(read_spikes(h5_file(brainwave4[1:2]), sampling_rate = 1e4)$time, want$time)
  expect_snapshot(says(brainwave4, sampling_rate = 1e3))
  expect_snapshot(says(replace(brainwave4, 2, list(c(0L, 3L, 0L)))))
  expect_snapshot(says(replace(brainwave4, 2, list(c(0L, 3L)))))
  expect_snapshot(says(brainwave4[3:5] |> c(list(`3BResults/x` = 1))))
  expect_survives(file, \() read_spikes(file), seed = 7)
})

test_that("spikes of BrainWave 5 are read", {
  well <- list(SpikeTimes = c(10, 20, 30), SpikeChIdxs = c(0L, 2L, 0L), StoredChIdxs = 0:3)
  values <- rlang::set_names(well, paste0("Well_A1/", names(well)))
  file <- h5_file(values, list(SamplingRate = 1e4))
  want <- data.frame(unit = factor(0:3), channel = c(0, 1, 2, 3), row = c(1, 1, 2, 2),
                     col = c(1, 2, 1, 2))
  x <- read_spikes(file)
  expect_identical(x$time, c(0.001, 0.002, 0.003))
  expect_identical(unit_table(x), want)
  skip_if_not_installed("jsonlite")
  said <- c(values, list(ExperimentSettings = "{\"TimeConverter\": {\"FrameRate\": 10000.0}}"))
  expect_identical(read_spikes(h5_file(said)), x)
  says <- \(...) cat(messages_of(read_spikes(h5_file(...))))
  expect_snapshot(says(values))
  expect_snapshot(says(c(values, list(ExperimentSettings = "{\"TimeConverter\""))))
  # Of a part of the array, the places are not known.
  part <- replace(values, 3, list(c(0L, 2L)))
  expect_identical(names(unit_table(read_spikes(h5_file(part, list(SamplingRate = 1e4))))),
                   c("unit", "channel"))
  expect_survives(file, \() read_spikes(file), seed = 8)
})

test_that("an HDF5 file of no known layout is called that", {
  says <- \(values, ...) cat(messages_of(read_spikes(h5_file(values), ...)))
  expect_snapshot(says(list(`a/b` = 1, c = 2)))
  expect_snapshot(says(list(`estimates/C` = matrix(1:4, 2))))
  expect_snapshot(says(list(a = 1), format = "csv"))
  expect_snapshot(says(list(a = 1), format = "maxwell"))
  expect_snapshot(cat(messages_of(read_spikes(csv_file("time,unit", "1,a"), format = "3brain"))))
})
