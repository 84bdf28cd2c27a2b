# Maps of S-maps in files: what was computed, to the last bit, however often it stopped.

test_that("a map in a file has the bits of one in memory", {
  x <- ring_series(8, 120)
  x[30, 2] <- NA
  file <- map_path()
  memory <- smap_map(x, E_max = 3, threads = 1)
  expect_silent(map <- smap_map(x, E_max = 3, threads = 1, file = file))
  expect_s3_class(map, c("smap_map_file", "smap_map"))
  expect_identical(map$rho, memory$rho)
  expect_identical(map[["strength"]], memory$strength)
  expect_identical(map$else_, NULL)
  kept <- c("E", "parameters", "device")
  expect_equal(attributes(map)[kept], attributes(memory)[kept], tolerance = 0)
  expect_identical(attr(map, "call")[[1L]], quote(smap_map))
  opened <- open_causal_map(file)
  expect_identical(opened$strength, memory$strength)
  expect_identical(dim(opened), c(8L, 8L))
  expect_identical(dimnames(opened), dimnames(memory))
  expect_identical(names(opened), c("rho", "strength"))
  expect_identical(as.data.frame(opened), as.data.frame(memory))
  expect_identical(as.data.frame(opened, max_links = 4), as.data.frame(memory, max_links = 4))
  part <- opened[c("s5", "s1"), -(1:3)]
  expect_identical(part$rho, memory[c(5, 1), 4:8]$rho)
  expect_identical(part$strength, memory[c(5, 1), 4:8]$strength)
  expect_identical(class(part), class(memory))
  parts <- c("pairs", "missing", "skill", "strength", "positive", "self", "links")
  expect_equal(unclass(summary(opened))[parts], unclass(summary(memory))[parts])
  expect_match(format(opened), basename(file), fixed = TRUE, all = FALSE)
})

test_that("a map goes on where it was stopped, with the same bits", {
  x <- ring_series(9, 100)
  whole <- smap_map(x, E_max = 3, threads = 1)
  file <- map_path()
  local_function("smap_block", \(task) 2)
  stop_after <- 2
  here <- synfire:::map_smap_libraries
  local({
    withr::defer(utils::assignInNamespace("map_smap_libraries", here, "synfire"))
    utils::assignInNamespace("map_smap_libraries", function(task, libraries, keep) {
      done <- 0
      here(task, libraries, keep = \(columns, values) {
        if (done == stop_after) stop("enough")
        done <<- done + 1
        keep(columns, values)
      })
    }, "synfire")
    expect_error(quiet_smap_map(x, E_max = 3, threads = 1, file = file), "enough")
  })
  half <- open_causal_map(file)
  expect_match(format(half), "4 of 9 libraries so far", all = FALSE)
  expect_identical(half$rho[1:4, ], whole$rho[1:4, ])
  expect_true(all(is.na(half$strength[5:9, ])))
  expect_message(map <- smap_map(x, E_max = 3, threads = 2, file = file), "4 of 9 libraries")
  expect_identical(map$rho, whole$rho)
  expect_identical(map$strength, whole$strength)
  expect_message(smap_map(x, E_max = 3, threads = 1, file = file), "nothing is done again")
})

test_that("a file of another call is refused, and neither kind takes the other's", {
  x <- ring_series(3, 60)
  file <- map_path()
  quiet_smap_map(x, E = 2, threads = 1, file = file)
  refused <- function(..., says) {
    expect_error(quiet_smap_map(..., threads = 1, file = file), says,
                 class = "synfire_error_argument")
  }
  refused(x, E = 2, theta = 3, says = "`theta` is 2 there, not 3")
  refused(x, E = 2, ridge = 0.1, says = "`ridge`")
  refused(x, E = 2, Tp = 0, says = "`Tp`")
  refused(x, E = 3, says = "`E` differs")
  refused(x, E = 2, libraries = 1:2, says = "`libraries` differ")
  refused(x + 1, E = 2, says = "the series differ")
  expect_error(quiet_map(x, E = 2, threads = 1, file = file), "it holds a map of S-maps")
  other <- map_path()
  quiet_map(x, E = 2, threads = 1, file = other)
  expect_error(quiet_smap_map(x, E = 2, threads = 1, file = other), "it holds a causal map")
})

test_that("a changed byte is found, and its library computed again", {
  skip_unless_nightly()
  x <- ring_series(5, 60)
  file <- map_path()
  map <- quiet_smap_map(x, E = 2, threads = 1, file = file)
  whole <- map$strength
  h5 <- hdf5r::H5File$new(file, mode = "r+")
  h5[["strength"]][3, 2] <- whole[3, 2] * (1 + 1e-9)
  h5$close_all()
  expect_error(open_causal_map(file)$strength, class = "synfire_error_file")
  expect_warning(again <- quiet_smap_map(x, E = 2, threads = 1, file = file), "s3",
                 class = "synfire_warning_file")
  expect_identical(again$strength, whole)
})

test_that("workers make the map that is made here", {
  skip_on_cran()
  local_function("chunk_start_seconds", \(...) 0)
  x <- ring_series(6, 80)
  whole <- smap_map(x, E_max = 3, threads = 1)
  file <- map_path()
  apart <- with_workers(quiet_smap_map(x, E_max = 3, threads = 1, file = file))
  expect_identical(apart$rho, whole$rho)
  expect_identical(apart$strength, whole$strength)
  expect_gt(length(list.files(paste0(file, ".shards"), "^[0-9]+[.]h5$")), 1L)
})
