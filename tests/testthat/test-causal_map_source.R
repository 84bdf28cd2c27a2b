write_h5 <- function(..., .env = parent.frame()) {
  file <- map_path(.env)
  h5 <- hdf5r::H5File$new(file, mode = "w")
  on.exit(h5$close_all())
  sets <- list(...)
  for (name in names(sets)) {
    if (grepl("/", name) && !h5$exists(dirname(name))) h5$create_group(dirname(name))
    h5[[name]] <- sets[[name]]
  }
  file
}

quiet_source <- function(...) {
  suppressMessages(map_source(...), classes = "synfire_message_file")
}

test_that("the same series are read from wherever they lie", {
  x <- ring_series(5, 40)
  x[3, 2] <- NA
  file <- write_h5("data/x" = x, "data/names" = colnames(x))
  turned <- write_h5(x = t(x), names = colnames(x))
  sources <- list(map_source(x), map_source(as.data.frame(x), no_time = TRUE),
                  quiet_source(file),
                  quiet_source(turned), quiet_source(file, "/data/x"))
  for (source in sources) {
    expect_identical(source$n, 5)
    expect_identical(source$steps, 40)
    expect_identical(source$names, colnames(x))
    for (columns in list(1:5, c(4, 2, 3), c(2, 5, 2), 3L)) {
      expect_equal(source$read(columns), unname(x[, columns, drop = FALSE]), tolerance = 0)
    }
  }
  # NaN of a file and NA of R are both missing.
  complete <- x
  complete[3, 2] <- 0
  ids <- vapply(list(map_source(complete), map_source(as.data.frame(complete), no_time = TRUE),
                     quiet_source(write_h5(x = complete, names = colnames(x)))),
                \(source) source$id(), "")
  expect_length(unique(ids), 1L)
  changed <- complete
  changed[7, 4] <- changed[7, 4] + 1e-12
  expect_false(map_source(changed)$id() == ids[[1L]])
  colnames(complete)[[2L]] <- "other"
  expect_false(map_source(complete)$id() == ids[[1L]])
})

test_that("whole numbers are series as well, and names are made where there are none", {
  whole <- matrix(1:60, 20)
  source <- map_source(whole)
  expect_identical(source$names, c("V1", "V2", "V3"))
  expect_identical(source$read(2:3), whole[, 2:3] + 0)
  expect_identical(quiet_source(write_h5(x = whole))$read(2:3), whole[, 2:3] + 0)
  expect_identical(quiet_source(write_h5(x = whole))$names, c("V1", "V2", "V3"))
})

test_that("what is read from a file is said", {
  file <- write_h5(x = matrix(0.5, 30, 4))
  expect_message(map_source(file), "30 steps of 4 series", class = "synfire_message_file")
  file <- write_h5(x = matrix(0.5, 30, 4), names = paste0("n", 1:30))
  expect_message(map_source(file), "4 steps of 30 series, a row each")
  # Names that fit neither way name nothing.
  file <- write_h5(x = matrix(0.5, 30, 4), names = letters[1:5])
  expect_identical(quiet_source(file)$names, paste0("V", 1:4))
})

test_that("what is no series is refused, with its name", {
  refused <- function(code, says) expect_error(code, says, class = "synfire_error_argument")
  x <- ring_series(3, 30)
  infinite <- x
  infinite[7, 2] <- -Inf
  refused(map_source(infinite), "-Inf in series \"s2\", step 7")
  refused(map_source(as.data.frame(infinite), no_time = TRUE), "-Inf in series \"s2\", step 7")
  source <- quiet_source(write_h5(x = infinite))
  refused(source$read(3:1), "-Inf in series \"V2\", step 7")
  expect_identical(source$read(c(1, 3)), unname(x[, c(1, 3)]))
  refused(map_source(x[, c(1, 1, 2)]), "one with several series \"s1\"")
  refused(map_source(unname(data.frame(x)) |> setNames(c("a", "", "b")), no_time = TRUE), "column 2")
  refused(map_source(data.frame(x, when = "now"), no_time = TRUE), "not numeric in \"when\"")
  refused(map_source(1:10), "a numeric matrix")
  refused(map_source(c("a.h5", "b.h5")), "path of an HDF5 file")
  refused(map_source(matrix("a")), "a numeric matrix")
  refused(map_source(x, "x"), "`dataset` must be left out")
  # A sum that is beyond the doubles is none of an infinite value.
  expect_identical(map_source(matrix(1e308, 5, 1))$read(1), matrix(1e308, 5, 1))
})

test_that("a file with several matrices, or none, says which there are", {
  x <- matrix(0.5, 10, 3)
  file <- write_h5(a = x, "g/b" = x, other = 1:3, words = matrix(letters[1:4], 2))
  expect_error(map_source(file), "\"a\", \"g/b\"", class = "synfire_error_argument")
  expect_error(map_source(file, "other"), "\"a\", \"g/b\"", class = "synfire_error_argument")
  expect_error(map_source(file, "none/there"), "\"a\"", class = "synfire_error_argument")
  expect_identical(quiet_source(file, "g/b")$dataset, "g/b")
  expect_error(map_source(write_h5(other = 1:3)), "no data set of numbers",
               class = "synfire_error_file")
  damaged <- withr::local_tempfile()
  writeLines("text", damaged)
  expect_error(map_source(damaged), "damaged HDF5 file, or none", class = "synfire_error_file")
  expect_error(map_source(file.path(damaged, "x")), "no such file",
               class = "synfire_error_file")
})

test_that("a matrix is found below groups, and what is damaged is named", {
  skip_if_not_installed("hdf5r")
  file <- withr::local_tempfile(fileext = ".h5")
  h5 <- hdf5r::H5File$new(file, mode = "w")
  inner <- h5$create_group("a")$create_group("b")
  inner[["x"]] <- matrix(runif(40), 10)
  # A group that holds itself ends the search all the same.
  inner$link_create_hard(h5, "a", "self")
  h5$close_all()
  expect_error(map_source(file), "several matrices", class = "synfire_error_argument")
  expect_identical(quiet_source(file, "a/b/x")$steps, 10)

  h5 <- hdf5r::H5File$new(file, mode = "r+")
  h5[["a/b"]]$link_delete("self")
  h5$link_create_soft("/nowhere", "gone")
  h5$close_all()
  expect_identical(quiet_source(file)$dataset, "a/b/x")

  h5 <- hdf5r::H5File$new(file, mode = "r+")
  h5$link_delete("a")
  h5$close_all()
  expect_error(map_source(file), "`/gone` cannot be read", class = "synfire_error_file")
})
