# Work for workers: it dies, for good, of chunks `dies`, and where the file `once` is not
# there yet it dies of chunk 2, which it makes.
deadly <- function(chunk, held) {
  die <- function() {
    tools::pskill(Sys.getpid(), tools::SIGKILL)
    Sys.sleep(10)
  }
  if (Sys.getpid() != held$master) {
    if (chunk == 2 && !file.exists(held$once)) {
      file.create(held$once)
      die()
    }
    if (chunk %in% held$always) die()
  }
  list(chunk = chunk, threads = held$threads, pid = Sys.getpid())
}

hold <- function(once, dies, threads) {
  c(list(once = once, threads = threads), dies)
}

do_deadly <- function(todo, always = numeric(), once = withr::local_tempfile(), ...,
                      folder = withr::local_tempdir()) {
  done <- do_chunks(todo, hold, deadly, list(once, list(master = Sys.getpid(), always = always)),
                    folder = folder, ...)
  expect_length(list.files(folder, all.files = TRUE, no.. = TRUE), 0L)
  done
}

test_that("chunks are done here without a plan, in order", {
  kept <- list()
  done <- do_deadly(c(3, 1, 2), threads = 1,
                    keep = \(chunk, result) kept[[length(kept) + 1L]] <<- c(chunk, result$chunk))
  expect_identical(vapply(done, `[[`, 0, "chunk"), c(3, 1, 2))
  expect_identical(kept, list(c(3, 3), c(1, 1), c(2, 2)))
  expect_identical(unique(vapply(done, `[[`, 0L, "pid")), Sys.getpid())
  expect_identical(do_deadly(numeric(), threads = 1), list())
})

test_that("a chunk whose worker dies is done again there, and at last here", {
  skip_on_cran()
  skip_on_os("windows")
  kept <- numeric()
  expect_warning(
    expect_warning(
      expect_warning(
        done <- with_workers({
          before <- future::plan("list")
          done <- do_deadly(1:8, always = 5, threads = NULL, keep = \(chunk, result) {
            kept <<- c(kept, chunk)
          })
          # New workers, but the plan that the user set.
          expect_equal(future::plan("list"), before)
          done
        }),
        "Its chunk is done again", class = "synfire_warning_worker"
      ),
      "Its chunk is done again", class = "synfire_warning_worker"
    ),
    "Its chunk is done here", class = "synfire_warning_worker"
  )
  expect_identical(vapply(done, `[[`, 0L, "chunk"), 1:8)
  expect_identical(sort(kept), as.numeric(1:8))
  pid <- vapply(done, `[[`, 0L, "pid")
  expect_identical(which(pid == Sys.getpid()), 5L)
  # A worker may use one thread, as there are as many as cores were found.
  expect_identical(as.integer(done[[1L]]$threads), 1L)
})

test_that("an error of a chunk is raised", {
  skip_on_cran()
  broken <- function(chunk, held) stop("chunk ", chunk, " is broken")
  folder <- withr::local_tempdir()
  give <- \(threads) do_chunks(4, function(threads) threads, broken, list(), threads, folder)
  expect_error(give(1), "chunk 4 is broken")
  expect_error(with_workers(give(NULL)), "chunk 4 is broken")
  expect_length(list.files(folder, all.files = TRUE, no.. = TRUE), 0L)
})

# ---- The queue -----------------------------------------------------------------------

local_queue <- function(todo, .env = parent.frame()) {
  folder <- make_queue(tempdir(), todo)
  withr::defer(remove_queue(folder), envir = .env)
  folder
}

# What a worker does, in this process.
take <- function(queue, worker, open = function(threads) threads,
                 work = function(chunk, held) 10 * chunk) {
  take_chunks(queue, worker, open, work, list(), 1)
}

test_that("each chunk is taken once, in order, and what it is about is opened once", {
  folder <- local_queue(c(7, 8, 9))
  expect_identical(take_chunk(folder, 1), 1L)
  opened <- 0
  did <- take(folder, 2, open = function(threads) opened <<- opened + 1)
  expect_identical(did, 2:3)
  expect_identical(opened, 1)
  expect_identical(sort(list.files(file.path(folder, "taken"))),
                   c("000001-1", "000002-2", "000003-2"))
  expect_identical(lapply(queue_file(folder, "done", 2:3), readRDS), list(list(80), list(90)))
  expect_null(take_chunk(folder, 3))
  expect_identical(take(folder, 3), integer())
})

test_that("a chunk whose rename is said to have failed, but was done, is the worker's", {
  folder <- local_queue(1)
  # No file is renamed to the name of a folder.
  dir.create(file.path(folder, "taken", "000001-4"))
  expect_identical(take_chunk(folder, 4), 1L)
})

test_that("workers end when their time is over, their owner gone, or the queue removed", {
  folder <- local_queue(1:3)
  local_function("most_worker_seconds", 0)
  expect_identical(take(folder, 1), integer())
  local_function("most_worker_seconds", 600)
  # It says another process of this number made it, which has ended.
  owner <- readLines(file.path(folder, "owner"))
  writeLines(c(owner[-5], "other"), file.path(folder, "owner"))
  expect_identical(take(folder, 1), integer())
  writeLines(owner, file.path(folder, "owner"))
  did <- take(folder, 1, work = function(chunk, held) unlink(folder, recursive = TRUE))
  expect_identical(did, integer())
  expect_false(dir.exists(folder))
})

test_that("where workers take no chunks, they are done here", {
  skip_on_cran()
  local_function("start_worker", \(...) future::future(integer(), seed = NULL))
  folder <- withr::local_tempdir()
  expect_identical(with_workers(do_chunks(1:3, \(threads) 0, \(chunk, held) chunk, list(), 1,
                                          folder)),
                   as.list(1:3))
})

test_that("a plan of one worker, which is this process, does the work", {
  skip_on_cran()
  folder <- withr::local_tempdir()
  done <- with_workers(do_deadly(c(3, 1), threads = 1, folder = folder), workers = 1)
  expect_identical(vapply(done, `[[`, 0, "chunk"), c(3, 1))
})

test_that("workers that end early are started again", {
  skip_on_cran()
  # Each takes a chunk and ends.
  local_function("start_worker", \(queue, worker, ...) {
    future::future({
      place <- synfire:::take_chunk(queue, worker)
      synfire:::give_result(queue, place, place)
      place
    }, seed = NULL)
  })
  folder <- withr::local_tempdir()
  done <- with_workers(do_chunks(1:5, identity, identity, list(), 1, folder))
  expect_identical(done, as.list(1:5))
})

# ---- What differs --------------------------------------------------------------------

test_that("settings that differ are named with both values", {
  before <- list(a = 1, b = "x", c = c(1, 2), d = NULL, gone = 3)
  expect_identical(setting_differences(before, before), character())
  expect_identical(
    setting_differences(before, list(a = 2, b = "x", c = 1, d = 1:2)),
    c("`a` is 1 there, not 2", "`c` is 1, 2 there, not 1", "`d` is NULL there, not 1, 2")
  )
})
