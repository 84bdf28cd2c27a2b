# MATLAB files: version 7.3 (HDF5), and 5 to 7.

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

test_that("MATLAB files that hold no spikes are refused with what to do", {
  says <- \(file) cat(messages_of(read_spikes(file)))
  expect_snapshot(says(mat_file(list(a = diag(2), b = "text"))))
  expect_snapshot(says(mat_file(list(a = 1:3, b = 1:3))))
  expect_snapshot(says(raw_file(c(charToRaw("MATLAB 5.0 MAT-file"), raw(200)))))
})

# ---- Versions 5 to 7 ----

matlab_fixture <- function(name) test_path("fixtures", paste0(name, ".mat"))

test_that("files that SciPy wrote are read, whatever holds their spikes", {
  time <- c(0.1, 0.2, 0.25, 0.35, 0.8)
  ids <- c("3", "7", "12")
  want <- \(labels, levels = labels, table = NULL) {
    spike_trains(time, factor(labels[c(1, 3, 3, 1, 1)], levels), unit_table = table)
  }
  named <- c("7", "3", "12")
  expect_identical(read_spikes(matlab_fixture("vectors-v6")), want(named, c("7", "12")))
  for (name in c("cells-v7", "padded-v7")) {
    expect_identical(read_spikes(matlab_fixture(name)), want(as.character(1:3)))
  }
  expect_identical(read_spikes(matlab_fixture("structs-v7")), want(named, ids, data.frame(
    unit = ids, quality = c("mua", "good", "good"), depth = c(20, 10.5, 30)
  )))
  expect_identical(read_spikes(matlab_fixture("cellinfo-v7")), want(named, ids, data.frame(
    unit = ids, shankID = c(1, 1, 2), region = c("CA1", "CA1", "CA3")
  )))
  for (name in c("vectors-v6", "structs-v7", "padded-v7")) {
    file <- raw_file(readBin(matlab_fixture(name), "raw", 1e5))
    expect_survives(file, \() read_spikes(file), cuts = 30, changes = 60)
  }
})

mat5_file <- function(values, ..., .env = parent.frame()) {
  raw_file(mat5_bytes(values, ...), .env = .env)
}

test_that("both byte orders are read, packed or not", {
  values <- list(notes = "to", units = list(times = list(c(0.1, 0.3), numeric(), 0.2),
                                            name = list("a", "b", "c"), x = 3:1))
  want <- spike_trains(c(0.1, 0.3, 0.2), factor(c("a", "a", "c"), c("a", "b", "c")),
                       unit_table = data.frame(unit = c("a", "b", "c"), x = c(3, 2, 1)))
  for (endian in c("little", "big")) {
    for (packed in c(FALSE, TRUE)) {
      expect_identical(read_spikes(mat5_file(values, endian, packed)), want)
    }
  }
})

test_that("what may be several things is an error that lists the variables", {
  cells <- list(c(0.1, 0.3), 0.2)
  two <- mat5_file(list(a = cells, b = cells, rate = 30000, who = list("x", "y")))
  says <- \(...) cat(messages_of(read_spikes(...)))
  expect_snapshot(says(two))
  expect_snapshot(says(two, time_column = "c"))
  expect_snapshot(says(two, time_column = "who"))
  expect_snapshot(says(two, time_column = "a", unit_column = "rate"))
  expect_snapshot(says(two, time_column = "a", trial_column = "b"))
  expect_snapshot(says(two, time_column = 1))
  expect_identical(read_spikes(two, time_column = "b"), spike_trains(c(0.1, 0.3, 0.2), c(1, 1, 2)))
  expect_identical(read_spikes(two, time_column = "b", unit_column = "who"),
                   spike_trains(c(0.1, 0.3, 0.2), c("x", "x", "y")))
  # The name decides, where it can.
  expect_identical(read_spikes(mat5_file(list(spikes = cells, wave = cells))),
                   spike_trains(c(0.1, 0.3, 0.2), c(1, 1, 2)))
  expect_snapshot(says(mat5_file(list(spikes = cells, times = c(1, 2.5), units = c(1, 2)))))
})

test_that("matrices are read where it is clear which of their sides is time", {
  wide <- rbind(c(0.1, 0.3, 0.7), c(0.05, NaN, NaN))
  want <- spike_trains(c(0.1, 0.3, 0.7, 0.05), c(1, 1, 1, 2))
  expect_identical(read_spikes(mat5_file(list(st = wide, lfp = diag(3)))), want)
  expect_identical(read_spikes(mat5_file(list(st = t(wide)))), want)
  says <- \(...) cat(messages_of(read_spikes(...)))
  # Times without a NaN could be anything.
  expect_snapshot(says(mat5_file(list(st = wide[, c(1, 1)] + 1))))
  expect_snapshot(says(mat5_file(list(st = diag(3))), time_column = "st"))
  expect_snapshot(says(mat5_file(list(st = matrix(1:4 / 8, 2))), time_column = "st"))
})

test_that("whole numbers need a unit of time", {
  values <- list(spike_times = 30 * (1:12), cluster = rep(1:2, 6))
  expect_snapshot(cat(messages_of(read_spikes(mat5_file(values)))))
  expect_snapshot(cat(messages_of(read_spikes(mat5_file(list(st = list(1:12, 3)))))))
  expect_identical(read_spikes(mat5_file(values), time_unit = "samples", sampling_rate = 100)$time,
                   3 * (1:12) / 10)
  expect_identical(read_spikes(mat5_file(list(st_ms = list(1:12, 3))))$time[1:2], c(1, 2) / 1000)
})

test_that("damaged files of MATLAB say so", {
  says <- \(bytes) cat(messages_of(read_spikes(raw_file(bytes))))
  bytes <- mat5_bytes(list(t = 1:9 / 8, unit = 1:9), packed = TRUE)
  expect_snapshot(says(head(bytes, -5)))
  expect_snapshot(says(replace(bytes, 160, xor(bytes[[160]], as.raw(255)))))
  expect_snapshot(says(replace(bytes, 127:128, as.raw(0))))
  # A stream that was cut before it was put into the file.
  expect_snapshot(says(c(bytes[1:132], as.raw(c(20, 0, 0, 0)), bytes[137:156])))
  expect_snapshot(says(bytes[1:128]))
})

test_that("one look at all cells tells what asking each of them tells", {
  skip_if_not_installed("hdf5r")
  file <- withr::local_tempfile(fileext = ".mat")
  h5 <- hdf5r::H5File$new(file, mode = "w")
  withr::defer(try(h5$close_all(), silent = TRUE))
  refs <- h5$create_group("#refs#")
  types <- hdf5r::h5types
  text <- hdf5r::H5T_STRING$new(size = 4)
  put <- function(name, values, type, class, ...) {
    set <- refs$create_dataset(name, robj = values, dtype = type, ...)
    set$create_attr("MATLAB_class", robj = class,
                    dtype = if (nchar(class) == 4) text else hdf5r::H5T_STRING$new(size = Inf))
  }
  kinds <- list(types$H5T_NATIVE_DOUBLE, types$H5T_NATIVE_FLOAT, types$H5T_NATIVE_INT16,
                types$H5T_NATIVE_UINT16, types$H5T_NATIVE_INT8)
  classes <- c("double", "single", "int16", "uint16", "int8")
  n <- 30
  for (k in seq_len(n)) {
    kind <- (k - 1) %% 5 + 1
    times <- matrix(as.double(sort(sample(120, 6 + k %% 3))), 1)
    # In one piece, or in chunks that are compressed.
    whole <- list(chunk_dims = NULL, gzip_level = NULL)
    do.call(put, c(list(paste0("t", k), times, kinds[[kind]], classes[[kind]]),
                   if (k %% 4) whole else list(chunk_dims = c(1, 6), gzip_level = 4)))
    do.call(put, c(list(paste0("n", k), matrix(utf8ToInt(sprintf("cell%02d", k)), 1),
                        types$H5T_NATIVE_UINT16, "char"), whole))
  }
  links <- function(letter) {
    all <- lapply(seq_len(n), \(k) refs$create_reference(paste0(letter, k)))
    h5$create_dataset(c(t = "units/times", n = "units/name")[[letter]], robj = do.call(c, all),
                      dims = c(n, 1))
  }
  h5$create_group("units")
  links("t")
  links("n")
  h5$close_all()
  fast <- read_spikes(file, format = "matlab", time_unit = "ms")
  expect_setequal(levels(fast$unit), sprintf("cell%02d", seq_len(n)))
  local_function("h5_contents", function(...) stop("not known"))
  expect_identical(read_spikes(file, format = "matlab", time_unit = "ms"), fast)
})
