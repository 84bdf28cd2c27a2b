# MATLAB 7.3 files.

test_that("vectors of times and units are read, also as fields", {
  want <- spike_trains(c(0.1, 0.2, 0.3), c(1, 2, 1))
  values <- list(spike_times = matrix(c(0.1, 0.2, 0.3), 1), cluster = matrix(c(1, 2, 1), 1),
                 grid = diag(3))
  file <- mat_file(values)
  expect_identical(read_spikes(file), want)
  expect_identical(read_spikes(file, format = "matlab", time_unit = "ms")$time,
                   c(1e-4, 2e-4, 3e-4))
  fields <- rlang::set_names(values[1:2], c("s/time_ms", "s/unit"))
  expect_identical(read_spikes(mat_file(fields))$time, c(1e-4, 2e-4, 3e-4))
  two <- c(values, list(`other/unit` = 1:3))
  expect_snapshot(cat(messages_of(read_spikes(mat_file(two)))))
  expect_identical(read_spikes(mat_file(two), unit_column = "other/unit"),
                   spike_trains(c(0.1, 0.2, 0.3), 1:3))
  expect_survives(file, \() read_spikes(file), seed = 9)
})

cells_file <- function(cells, ..., .env = parent.frame()) {
  names(cells) <- sprintf("#refs#/%s", letters[seq_along(cells)])
  file <- h5_file(c(cells, list(...)), .env = .env)
  h5 <- hdf5r::H5File$new(file, mode = "r+")
  refs <- h5[["#refs#"]]
  links <- lapply(names(refs), refs$create_reference)
  for (k in which(lengths(cells) == 2 & vapply(cells, \(one) all(one == 0), NA))) {
    hdf5r::h5attr(refs[[letters[[k]]]], "MATLAB_empty") <- 1L
  }
  h5$create_dataset("spikes", robj = do.call(c, links), dims = c(length(cells), 1))
  h5$close_all()
  bytes <- readBin(file, "raw", file.size(file))
  raw_file(c(charToRaw(sprintf("%-512s", "MATLAB 7.3 MAT-file")), bytes), .env = .env)
}

test_that("a cell array has the times of a unit in each cell", {
  file <- cells_file(list(matrix(c(0.1, 0.3), 1), c(0, 0), matrix(0.2)))
  expect_identical(read_spikes(file), spike_trains(c(0.1, 0.3, 0.2), factor(c(1, 1, 3), 1:3)))
  expect_identical(read_spikes(file, time_column = "spikes", time_unit = "ms")$time,
                   c(1e-4, 2e-4, 3e-4))
  expect_snapshot(cat(messages_of(read_spikes(cells_file(list("text", matrix(1)))))))
  expect_survives(file, \() read_spikes(file), seed = 10)
})

test_that("MATLAB files that hold no spikes, or are older, are refused with what to do", {
  says <- \(file) cat(messages_of(read_spikes(file)))
  expect_snapshot(says(mat_file(list(a = diag(2), b = "text"))))
  expect_snapshot(says(mat_file(list(a = 1:3, b = 1:3))))
  expect_snapshot(says(raw_file(c(charToRaw("MATLAB 5.0 MAT-file"), raw(200)))))
})
