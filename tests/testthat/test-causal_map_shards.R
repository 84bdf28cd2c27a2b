# A map with random numbers, so that what workers do must not depend on where they do it.
shard_map <- function(x, file, ..., seed = 7) {
  set.seed(seed)
  quiet_map(x, E_max = 3, Tp = c(-1, 0), lib_sizes = c(30, 80), threads = 1, file = file, ...)
}

# Chunks of a small map are as many as those of a large one: 16 libraries and two workers
# give chunks of 4, 4, 2, 2, 1, 1, 1 and 1.
many_chunks <- function(.env = parent.frame()) {
  local_function("chunk_start_seconds", \(...) 0, .env)
}

shards_of <- function(file) list.files(paste0(file, ".shards"), "^[0-9]+[.]h5$", full.names = TRUE)

test_that("two workers make the map that is made here", {
  skip_on_cran()
  many_chunks()
  x <- ring_series(16)
  file <- map_path()
  whole <- shard_map(x, map_path())
  expect_silent(apart <- with_workers(shard_map(x, file)))
  expect_same_map(apart, whole)
  expect_identical(attr(apart, "parameters"), attr(whole, "parameters"))
  expect_length(shards_of(file), 8L)
  expect_identical(as.matrix(apart[c(16, 1, 5), 3:2]), as.matrix(whole[c(16, 1, 5), 3:2]))
  expect_identical(apart[cbind(c(16, 1), c(3, 4))], whole[cbind(c(16, 1), c(3, 4))])
  # They did all of it, from series in a file as well.
  input <- file.path(paste0(file, ".shards"), "source.h5")
  before <- file.mtime(shards_of(file))
  expect_same_map(shard_map(input, file), whole)
  expect_identical(file.mtime(shards_of(file)), before)
})

test_that("a worker that is killed costs its chunk, which is done again", {
  skip_on_cran()
  skip_on_os("windows")
  many_chunks()
  x <- ring_series(16)
  whole <- shard_map(x, map_path())
  file <- map_path()
  # A worker dies of chunk 3, once.
  once <- withr::local_tempfile()
  local_function("map_chunk", rlang::inject(function(chunk, task) {
    if (chunk$number == 3 && !file.exists(!!once)) {
      file.create(!!once)
      tools::pskill(Sys.getpid(), tools::SIGKILL)
      Sys.sleep(10)
    }
    (!!map_chunk)(chunk, task)
  }))
  expect_warning(apart <- with_workers(shard_map(x, file)), "A worker failed",
                 class = "synfire_warning_worker")
  expect_same_map(apart, whole)
  expect_length(shards_of(file), 8L)
  expect_length(list.files(paste0(file, ".shards"), "[.]tmp$"), 0L)
})

test_that("a map that was begun by workers is finished here, and the other way round", {
  skip_on_cran()
  many_chunks()
  x <- ring_series(16)
  whole <- shard_map(x, map_path())
  file <- map_path()
  with_workers(shard_map(x, file))
  lost <- shards_of(file)[c(2, 7)]
  kept <- setdiff(shards_of(file), lost)
  file.remove(lost)
  Sys.setFileTime(kept, "2020-01-01")
  part <- open_causal_map(file)
  expect_identical(unname(which(is.na(rowSums(as.matrix(part))))), c(5:8, 15L))
  expect_match(format(part), "11 of 16 libraries so far", all = FALSE)
  expect_message(
    again <- causal_map(x, E_max = 3, Tp = c(-1, 0), lib_sizes = c(30, 80), threads = 1,
                        file = file),
    "11 of 16 libraries are mapped"
  )
  expect_same_map(again, whole)
  expect_true(all(file.mtime(kept) == as.POSIXct("2020-01-01")))

  # Begun here: three libraries are taken back.
  file <- map_path()
  shard_map(x, file)
  h5 <- hdf5r::H5File$new(file, mode = "r+")
  h5[["done"]][c(2, 5, 6)] <- rep(0L, 3)
  h5[["rho"]][c(2, 5, 6), ] <- matrix(9, 3, 16)
  h5$close_all()
  expect_same_map(with_workers(shard_map(x, file, seed = 8)), whole)
  expect_length(shards_of(file), 2L)
})

test_that("damaged shards, and those of another map, are told and done again", {
  skip_unless_nightly()
  skip_on_cran()
  many_chunks()
  x <- ring_series(16)
  whole <- shard_map(x, map_path())
  file <- map_path()
  with_workers(shard_map(x, file))
  other <- map_path()
  with_workers(shard_map(x + 1, other))
  bytes <- readBin(shards_of(file)[[3L]], "raw", 1000)
  writeBin(bytes, shards_of(file)[[3L]])
  file.copy(shards_of(other)[[5L]], shards_of(file)[[5L]], overwrite = TRUE)
  damaged <- shards_of(file)[c(3, 5)]
  expect_warning(
    expect_warning(part <- open_causal_map(file), "0003.h5", class = "synfire_warning_file"),
    "0005.h5", class = "synfire_warning_file"
  )
  expect_identical(sum(is.na(part[, 1])), 3L)
  suppressWarnings(again <- shard_map(x, file), "synfire_warning_file")
  expect_same_map(again, whole)
  expect_false(any(file.exists(damaged)))
  expect_silent(open_causal_map(file))

  # Without its file, a folder belongs to a map that nobody knows.
  file.remove(file)
  expect_error(shard_map(x, file), "where its shards", class = "synfire_error_argument")
  expect_gt(length(shards_of(file)), 0L)
})

test_that("a map goes on with another cut and another number of workers", {
  skip_on_cran()
  many_chunks()
  x <- ring_series(16)
  whole <- shard_map(x, map_path())
  file <- map_path()
  # Begun in four chunks of four for each of two workers, as by an earlier version.
  local({
    local_function("chunk_sizes", \(n, ...) rep(2, n / 2))
    with_workers(shard_map(x, file))
  })
  expect_length(shards_of(file), 8L)
  kept <- shards_of(file)[c(1, 6)]
  file.remove(setdiff(shards_of(file), kept))
  Sys.setFileTime(kept, "2020-01-01")
  # New chunks have new numbers.
  expect_same_map(with_workers(shard_map(x, file), workers = 3), whole)
  expect_true(all(file.mtime(kept) == as.POSIXct("2020-01-01")))
  numbered <- as.integer(sub("[.]h5$", "", basename(shards_of(file))))
  expect_identical(numbered, c(1L, 6L, 7:15))
})

sizes <- \(...) lengths(lapply(cut_chunks(...), `[[`, "places"))

test_that("chunks are large first and small last, and cover all libraries", {
  set.seed(1)
  for (k in cases(200)) {
    n <- sample(400, 1)
    workers <- sample(40, 1)
    least <- sample(20, 1)
    most <- least + sample(0:30, 1)
    cut <- chunk_sizes(n, min(n, workers), least, most)
    expect_identical(sum(cut), as.numeric(n))
    expect_false(is.unsorted(-cut))
    expect_lte(max(cut), most)
    # Each worker gets one, and none is smaller than it must be.
    expect_gte(length(cut), min(n, workers))
    expect_true(all(cut >= floor(least / 2)) || length(cut) == min(n, workers))
  }
  expect_identical(sizes(5:1004, 0.01, 0.1), c(500L, 250L, 125L, 63L, 62L))
  expect_identical(sizes(5:1004, 0.01, 100), 1000L)
  expect_identical(sizes(1:25, 60, 0.1), c(10L, 8L, 4L, 2L, 1L))
  expect_identical(sizes(1:25, 60, 1000), c(10L, 8L, 7L))
  expect_identical(sizes(1:7, 1e6, 0.1), rep(1L, 7))
  chunks <- cut_chunks(c(2, 3, 8), 1e6, 1, first = 9)
  expect_identical(chunks, list(list(number = 9, places = 2), list(number = 10, places = 3),
                                list(number = 11, places = 8)))
  expect_identical(cut_chunks(integer(), 1, 1), list())
  expect_identical(sizes(1:3, 0.01, 1, workers = Inf), c(1L, 1L, 1L))
  # Files are not too many, unless chunks would take too long.
  expect_lte(length(cut_chunks(1:1e5, 0.5, 0)), most_map_chunks)
  expect_identical(sizes(1:5000, 600, 0), rep(1L, 5000))
  skip_on_cran()
  expect_identical(with_workers(sizes(1:1000, 0.01, 1)), c(500L, 500L))
})

test_that("the queue ends together where workers differ, and equal shares do not", {
  # When `workers`, of these speeds, have done chunks of these sizes, each taken in turn.
  ends <- function(cut, speed) {
    free <- numeric(length(speed))
    for (size in cut) {
      k <- which.min(free)
      free[[k]] <- free[[k]] + size / speed[[k]]
    }
    free
  }
  speed <- c(1, 1, 1, 1, 1, 1, 0.5, 0.5)
  best <- 1600 / sum(speed)
  expect_gt(max(ends(rep(200, 8), speed)), 1.7 * best)
  expect_lt(max(ends(chunk_sizes(1600, 8, 5, Inf), speed)), 1.05 * best)
})

test_that("the example for MPI runs on three ranks", {
  x <- ring_series(16)
  file <- map_path()
  input <- map_path()
  h5 <- hdf5r::H5File$new(input, mode = "w")
  h5[["x"]] <- x
  h5[["names"]] <- colnames(x)
  h5$close_all()
  expect_identical(run_mpi("causal-map-mpi.R", 3, c(input, file)), 0L)
  expect_same_map(open_causal_map(file), quiet_map(x, threads = 1))
  expect_length(shards_of(file), 2L)
})
