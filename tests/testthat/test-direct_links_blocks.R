# direct_links() in blocks of effects, kept in a folder and gone on with.

# Twelve series in a ring, each driven by the one before it, and one that is constant.
ring_of_links <- function() {
  set.seed(1)
  ring <- matrix(0, 12, 12)
  ring[cbind(1:12, c(2:12, 1))] <- 0.2
  x <- simulate_coupled_maps(150, ring, noise = 0.02)
  x[, 7] <- 1
  x[3, 5] <- NA
  x
}

ring_map <- function(x) {
  set.seed(2)
  map_of(matrix(runif(144), 12, dimnames = list(colnames(x), colnames(x))), E = rep(3L, 12))
}

links_of <- function(x, map = ring_map(x), ..., threshold = 0.5, threads = 1) {
  suppressMessages(direct_links(map, x, threshold = threshold, ..., threads = threads),
                   classes = "synfire_message_folder")
}

numbers_of <- function(links) as.list(links)[names(links)]

chunk_files <- function(folder) list.files(folder, "^chunk-[0-9]{4}[.]rds$", full.names = TRUE)

test_that("blocks of any size, and a folder, change no digit", {
  x <- ring_of_links()
  whole <- links_of(x)
  expect_gt(sum(whole$link == "direct"), 3)
  expect_gt(sum(whole$reason %in% "constant"), 3)
  local({
    local_function("links_block_seconds", c(cpu = 1e-9, gpu = 1e-9))
    expect_identical(numbers_of(links_of(x, threads = 2)), numbers_of(whole))
  })
  folder <- file.path(withr::local_tempdir(), "new")
  kept <- links_of(x, folder = folder)
  expect_identical(numbers_of(kept), numbers_of(whole))
  about <- c("series", "parameters", "device", "columns")
  expect_identical(attributes(kept)[about], attributes(whole)[about])
  expect_gte(length(chunk_files(folder)), 9L)
  # A block whose effect is constant has nothing to test.
  alone <- file.path(withr::local_tempdir(), "alone")
  local({
    local_function("links_block_seconds", c(cpu = 1e-9, gpu = 1e-9))
    expect_identical(numbers_of(links_of(x, folder = alone)), numbers_of(whole))
  })
  expect_true(any(vapply(chunk_files(alone), \(f) nrow(readRDS(f)$found$test) == 0L, NA)))
})

test_that("effects are cut into blocks of about equal work", {
  links <- data.frame(effect = rep(letters[1:20], 1:20))
  cut <- \(steps, least = 1, device = "cpu") {
    cut_effects(list(links = links, source = list(steps = steps), where = list(device = device)),
                least)
  }
  last <- cumsum(1:20)
  expect_identical(cut(100), 210L)
  # An effect is never cut, however long it takes.
  expect_true(all(cut(1e7) %in% last))
  expect_gt(length(cut(1e7)), 15)
  some <- cut(6e4)
  expect_true(all(some %in% last))
  expect_identical(some[length(some)], 210L)
  seconds <- vapply(split(1:20, findInterval(last, some, left.open = TRUE)),
                    \(part) sum(effect_seconds(part, 6e4)), 0)
  expect_gt(length(seconds), 2)
  expect_true(all(seconds > 5 & seconds < 2 * 1000))
  expect_lt(length(cut(6e4, device = "gpu")), length(some))
  expect_identical(length(cut(100, least = 5)), 5L)
  expect_true(all(cut(100, least = 50) %in% last))
})

test_that("a search that was stopped goes on, and computes nothing again", {
  x <- ring_of_links()
  whole <- links_of(x)
  folder <- withr::local_tempdir()
  write <- write_chunk
  stop_at_fourth <- function(found, chunk, ...) {
    if (chunk == 4) stop("stopped here")
    write(found, chunk, ...)
  }
  local({
    local_function("write_chunk", stop_at_fourth)
    expect_message(expect_error(direct_links(ring_map(x), x, 0.5, threads = 1, folder = folder),
                                "stopped here"),
                   "Finished chunks stay", class = "synfire_message_folder")
  })
  expect_identical(length(chunk_files(folder)), 3L)
  times <- file.mtime(chunk_files(folder))
  expect_message(found <- direct_links(ring_map(x), x, 0.5, threads = 2, folder = folder),
                 "3 of 10 chunks are there", class = "synfire_message_folder")
  expect_identical(numbers_of(found), numbers_of(whole))
  expect_identical(file.mtime(chunk_files(folder)[1:3]), times)
  local_function("conditional_forecasts", \(...) stop("nothing is to be computed"))
  expect_message(found <- direct_links(ring_map(x), x, 0.5, folder = folder),
                 "nothing is done again", class = "synfire_message_folder")
  expect_identical(numbers_of(found), numbers_of(whole))
})

test_that("workers of a plan find the same, and go on with what is there", {
  skip_on_cran()
  x <- ring_of_links()
  whole <- links_of(x)
  folder <- withr::local_tempdir()
  apart <- with_workers(links_of(x, folder = folder, threads = NULL))
  expect_identical(numbers_of(apart), numbers_of(whole))
  # What they read the series from is gone, and all blocks are there.
  expect_identical(sort(list.files(folder)), sort(c("job.rds", basename(chunk_files(folder)))))
  expect_identical(length(chunk_files(folder)), 10L)
  unlink(chunk_files(folder)[c(2, 9)])
  times <- file.mtime(chunk_files(folder))
  expect_identical(numbers_of(with_workers(links_of(x, folder = folder), 3)), numbers_of(whole))
  expect_identical(file.mtime(chunk_files(folder))[-c(2, 9)], times)
  # A job that workers began is finished here, by what they wrote.
  unlink(chunk_files(folder)[[4]])
  expect_identical(numbers_of(links_of(x, folder = folder)), numbers_of(whole))
  # Without a folder this process does all.
  local_function("search_apart", \(...) stop("no worker is to be asked"))
  expect_identical(numbers_of(with_workers(links_of(x), 1)), numbers_of(whole))
})

test_that("a worker that cannot read the series says so", {
  expect_error(open_links(withr::local_tempfile(), 1), "A worker cannot read",
               class = "synfire_error_folder")
})

test_that("work beyond max_memory is refused before it begins", {
  x <- ring_of_links()
  map <- ring_map(x)
  whole <- links_of(x, map)
  local_function("conditional_forecasts", \(...) stop("nothing is to be computed"))
  least <- links_work_bytes + link_bytes * nrow(whole) + 16 * 150 * 12
  folder <- file.path(withr::local_tempdir(), "new")
  budget <- function(...) {
    expect_error(links_of(x, map, ..., folder = folder), "raise `threshold`",
                 class = "synfire_error_budget")
  }
  budget(max_memory = least - 1)
  budget(max_memory = 1e6)
  expect_false(dir.exists(folder))
  expect_error(links_of(x, map, max_memory = least), "nothing is to be computed")
  expect_error(links_of(x, map, max_memory = "much"), "`max_memory`",
               class = "synfire_error_argument")
  # Where no link is looked at, none takes memory.
  expect_identical(nrow(links_of(x, map, threshold = 2, max_memory = 1e6)), 0L)
  # Of a map with more pairs than links fit, no more are listed than show that.
  expect_identical(links_beyond(1e4, map), 11)
  expect_identical(links_beyond(1e6, map), Inf)
  local_function("check_links_memory", \(links, ...) stop(nrow(links), " links"))
  local_function("link_bytes", 1e4)
  expect_error(links_of(x, map, threshold = -1, max_memory = 1e6), "101 links")
})

test_that("a damaged block is searched again, with a warning", {
  skip_unless_nightly()
  x <- ring_of_links()
  folder <- withr::local_tempdir()
  whole <- links_of(x, folder = folder)
  writeBin(raw(10), chunk_files(folder)[[2]])
  expect_warning(found <- links_of(x, folder = folder), "damaged",
                 class = "synfire_warning_folder")
  expect_identical(numbers_of(found), numbers_of(whole))
})

test_that("another job, and a folder that is in use, are errors that say so", {
  x <- ring_of_links()
  map <- ring_map(x)
  folder <- withr::local_tempdir()
  links_of(x, map, folder = folder)
  before <- tools::md5sum(list.files(folder, full.names = TRUE))
  refused <- function(text, ...) {
    expect_error(links_of(..., folder = folder), text, class = "synfire_error_argument")
  }
  refused("the series differ", x + 1e-9, map)
  refused("`alpha` is 0.01 there, not 0.1", x, map, alpha = 0.1)
  refused("`max_delay` is 3 there, not 2", x, map, max_delay = 2)
  refused("`threshold` is 0.5 there, not 0.6", x, map, threshold = 0.6)
  refused("`max_links` is Inf there, not 9", x, map, max_links = 9)
  refused("`max_parties` is 5 there, not 4", x, map, max_parties = 4)
  refused("`exclusion_radius` is 0 there, not 1", x, map, exclusion_radius = 1)
  other <- map
  other[1, 2] <- 0.99
  refused("the map differs", x, other)
  other <- map
  attr(other, "E")[[3]] <- 2L
  refused("the map differs", x, other)
  expect_identical(tools::md5sum(list.files(folder, full.names = TRUE)), before)
  hold_lock(file.path(folder, folder_lock), folder)
  expect_error(links_of(x, map, folder = folder), "in use by another call",
               class = "synfire_error_locked")
  expect_error(links_of(x, map, folder = 3), "`folder`", class = "synfire_error_argument")
  writeLines("mine", file.path(withr::local_tempdir() -> own, "notes.txt"))
  expect_error(links_of(x, map, folder = own), "notes.txt", class = "synfire_error_argument")
  spikes <- withr::local_tempdir()
  mine_patterns(simulate_patterns(2, units = 3, rate = 10, patterns = list()), 0.005, 10,
                folder = spikes, threads = 1)
  expect_error(links_of(x, map, folder = spikes), "not one of direct links",
               class = "synfire_error_argument")
})
