# Series that drive one another round a ring.
ring_series <- function(n = 12, steps = 150) {
  set.seed(5)
  x <- matrix(0, steps, n, dimnames = list(NULL, paste0("s", seq_len(n))))
  x[1, ] <- runif(n, 0.2, 0.8)
  for (t in seq_len(steps - 1)) {
    x[t + 1, ] <- x[t, ] * (3.7 - 3.6 * x[t, ] - 0.1 * x[t, c(n, seq_len(n - 1))])
  }
  x
}

map_path <- function(.env = parent.frame()) {
  testthat::skip_if_not_installed("hdf5r")
  withr::local_tempfile(fileext = ".h5", .local_envir = .env)
}

# Every number of a map as plain matrices, whether it is in a file or not.
map_numbers <- function(x) {
  layers <- map_layers(x)
  lapply(rlang::set_names(layers), \(layer) {
    do.call(rbind, map_blocks(x, \(rows, values) unclass(values), layer))
  })
}

expect_same_map <- function(object, expected) {
  expect_identical(map_numbers(object), map_numbers(expected))
  expect_identical(dimnames(object), dimnames(expected))
  expect_identical(attr(object, "E"), attr(expected, "E"))
}

# causal_map() without words about files.
quiet_map <- function(...) {
  suppressMessages(causal_map(...), classes = "synfire_message_file")
}

# A data set of an HDF5 file as it lies there.
h5_values <- function(file, name) {
  h5 <- hdf5r::H5File$new(file, mode = "r")
  on.exit(h5$close_all())
  h5[[name]]$read()
}
