# Traces for causal maps.

suite2p_folder <- function(drop = NULL, iscell = c(1, 0, 1, 1), .env = parent.frame()) {
  folder <- withr::local_tempfile(.local_envir = .env)
  dir.create(folder)
  set.seed(1)
  traces <- matrix(round(runif(4 * 30), 3), 30)
  around <- matrix(round(runif(4 * 30), 3), 30)
  values <- list(F = traces, Fneu = around, spks = traces * 2)
  for (name in setdiff(names(values), drop)) {
    # A row of the file is a region: what is a column here.
    write_npy(file.path(folder, paste0(name, ".npy")), values[[name]], "<f8", "(4, 30)")
  }
  if (!"iscell" %in% drop) {
    write_npy(file.path(folder, "iscell.npy"), rbind(iscell, 0.5), "<f8",
              sprintf("(%d, 2)", length(iscell)))
  }
  list(path = folder, traces = traces, around = around)
}

test_that("a folder of Suite2p gives the traces of its cells", {
  made <- suite2p_folder()
  x <- read_traces(made$path, sampling_rate = 30)
  expect_equal(unname(x[, ]), (made$traces - 0.7 * made$around)[, c(1, 3, 4)])
  expect_identical(colnames(x), c("roi_0", "roi_2", "roi_3"))
  expect_identical(attr(x, "sampling_rate"), 30)
  all <- read_traces(made$path, cells = FALSE, neuropil = 0)
  expect_identical(unname(all[, ]), made$traces)
  expect_null(attr(all, "sampling_rate"))
  expect_identical(unname(read_traces(made$path, trace = "spks", cells = FALSE)[, ]),
                   2 * made$traces)
  expect_identical(dim(causal_map(x, E_max = 2)), c(3L, 3L))
})

test_that("a folder of Suite2p that lacks something says what", {
  says <- \(made, ...) cat(messages_of(read_traces(made$path, ...)))
  expect_snapshot(says(suite2p_folder("F")))
  expect_snapshot(says(suite2p_folder("Fneu")))
  expect_snapshot(says(suite2p_folder("iscell")))
  expect_snapshot(says(suite2p_folder(iscell = c(1, 0))))
  expect_snapshot(says(suite2p_folder(iscell = c(0, 0, 0, 0))))
  expect_identical(ncol(read_traces(suite2p_folder("Fneu")$path, neuropil = 0)), 3L)
  plane <- suite2p_folder()
  expect_snapshot(says(list(path = {
    above <- withr::local_tempfile()
    dir.create(file.path(above, "plane0"), recursive = TRUE)
    above
  })))
  for (name in c("F.npy", "Fneu.npy", "iscell.npy")) {
    expect_survives(file.path(plane$path, name), \() read_traces(plane$path), changes = 8)
  }
})

caiman_values <- list(
  `estimates/C` = matrix(c(1:5, 11:15, 21:25) + 0.5, 5), `estimates/F_dff` = "NoneType",
  `estimates/S` = matrix(1:15, 5), `estimates/idx_components` = c(0L, 2L),
  `params/data/fr` = 15
)

test_that("a file of CaImAn gives the accepted components", {
  file <- h5_file(caiman_values)
  x <- read_traces(file)
  expect_identical(unname(x[, ]), caiman_values[[1]][, c(1, 3)])
  expect_identical(colnames(x), c("roi_0", "roi_2"))
  expect_identical(attr(x, "sampling_rate"), 15)
  expect_identical(unname(read_traces(file, trace = "S", cells = FALSE)[, 2]), as.double(6:10))
  dff <- replace(caiman_values, 2, list(caiman_values[[1]] / 2))
  expect_identical(unname(read_traces(h5_file(dff))[, 1]), 1:5 / 2 + 0.25)
  # Only the accepted ones were kept.
  kept <- replace(caiman_values, 1, list(caiman_values[[1]][, 1:2]))
  expect_identical(colnames(read_traces(h5_file(kept))), c("roi_0", "roi_1"))
  says <- \(...) cat(messages_of(read_traces(...)))
  expect_snapshot(says(file, trace = "F_dff"))
  expect_snapshot(says(file, sampling_rate = 30))
  expect_snapshot(says(file, trace = "spks"))
  expect_snapshot(says(h5_file(replace(caiman_values, 4, list(7L)))))
  expect_survives(file, \() read_traces(file), seed = 3)
})

test_that("plain matrices are read, whichever side is time", {
  value <- matrix(c(1.5, 2, 3, 4, 5, 6, 7, 8), 4)
  file <- raw_file(npy_bytes(t(value), "<f8", "(4, 2)"))
  expect_message(x <- read_traces(file), "4 steps of 2 series", class = "synfire_message_file")
  expect_identical(unname(x[, ]), value)
  expect_identical(colnames(x), c("V1", "V2"))
  expect_silent(y <- read_traces(file, series_in = "rows"))
  expect_identical(unname(y[, ]), t(value))
  turned <- raw_file(npy_bytes(value, "<f8", "(2, 4)"))
  expect_identical(suppressMessages(read_traces(turned)), x)
  by_column <- raw_file(npy_bytes(value, "<f8", "(4, 2)", order = "True"))
  expect_identical(suppressMessages(read_traces(by_column)), x)
  h5 <- h5_file(list(`data/x` = value, `data/names` = c("a", "b")))
  expect_identical(unname(read_traces(h5, series_in = "columns")[, ]), value)
  expect_identical(colnames(read_traces(h5, dataset = "data/x", series_in = "columns")),
                   c("a", "b"))
  square <- raw_file(npy_bytes(1:4, "<i4", "(2, 2)"))
  expect_snapshot(cat(messages_of(read_traces(square))))
  expect_survives(file, \() read_traces(file), seed = 4)
})

test_that("tables are read, and their time is no series", {
  x <- read_traces(csv_file("time_ms,a,b", "0,1,2", "20,3,NA", "40,5,6.5"))
  expect_identical(unname(x[, ]), cbind(c(1, 3, 5), c(2, NA, 6.5)))
  expect_identical(attributes(x)[c("dimnames", "sampling_rate")],
                   list(dimnames = list(NULL, c("a", "b")), sampling_rate = 50))
  uneven <- read_traces(csv_file("time;a;b", "0;1;2", "20;3;1", "50;5;6.5"))
  expect_null(attr(uneven, "sampling_rate"))
  expect_identical(unname(suppressMessages(read_traces(csv_file("1 2", "3 4", "5 6")))[, 1]),
                   c(1, 3, 5))
  says <- \(...) cat(messages_of(read_traces(csv_file(...))))
  bytes <- c(charToRaw("a,b\n1,"), as.raw(c(0xad, 0x85)), charToRaw("\n"))
  expect_file_error(read_traces(raw_file(bytes)))
  expect_snapshot(says("a,b", "1,x"))
  expect_snapshot(says("a,b", "1,2", "3"))
  expect_snapshot(says("a,b"))
  expect_snapshot(says("a,b", "1,Inf", "2,3"))
  expect_snapshot(cat(messages_of(read_traces(csv_file("a,b", "1,2"), series_in = "rows"))))
})

test_that("what read_traces() cannot take is refused", {
  says <- \(...) cat(messages_of(read_traces(...)))
  file <- csv_file("a,b", "1,2", "2,2", "3,1")
  expect_snapshot(says())
  expect_snapshot(says(file, trace = "C"))
  expect_snapshot(says(file, format = "suite2p"))
  expect_snapshot(says(file, format = "npy"))
  expect_snapshot(says(file, format = "hdf5"))
  expect_snapshot(says(file, neuropil = -1))
  expect_snapshot(says(suite2p_folder()$path, format = "csv"))
  expect_file_error(read_traces(file.path(tempdir(), "nobody-has-written-this")))
})

test_that("chunks that went through some filters, all or none are read", {
  file <- h5_file(list())
  h5 <- hdf5r::H5File$new(file, mode = "r+")
  set.seed(1)
  # In most chunks deflate makes noise no smaller, and is skipped.
  value <- matrix(rnorm(3000), 300)
  value[1:150, ] <- 0
  for (level in c(0, 9)) {
    h5$create_dataset(paste0("x", level), value, chunk_dims = c(2, 1), gzip_level = level)
  }
  # After a change of its size, the last chunk of a data set may no longer be there.
  longer <- hdf5r::H5S$new("simple", dims = dim(value), maxdims = c(Inf, Inf))
  shorter <- h5$create_dataset("shorter", dtype = hdf5r::h5types$H5T_NATIVE_DOUBLE,
                               space = longer, chunk_dims = c(7, 3), gzip_level = 9)
  shorter[1:300, 1:10] <- value
  shorter$set_extent(c(290, 8))
  h5$close_all()
  read <- \(name) unname(read_traces(file, dataset = name, series_in = "columns")[, ])
  expect_identical(read("x0"), value)
  expect_identical(read("x9"), value)
  expect_identical(read("shorter"), value[1:290, 1:8])
})
