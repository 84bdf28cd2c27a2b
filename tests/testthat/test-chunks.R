# Work for workers: it dies, for good, of chunks `dies`, and where the file `once` is not
# there yet it dies of chunk 2, which it makes.
deadly <- function(chunk, once, dies, threads) {
  die <- function() {
    tools::pskill(Sys.getpid(), tools::SIGKILL)
    Sys.sleep(10)
  }
  if (Sys.getpid() != dies$master) {
    if (chunk == 2 && !file.exists(once)) {
      file.create(once)
      die()
    }
    if (chunk %in% dies$always) die()
  }
  list(chunk = chunk, threads = threads, pid = Sys.getpid())
}

do_deadly <- function(todo, always = numeric(), once = withr::local_tempfile(), ...) {
  do_chunks(todo, deadly, list(once, list(master = Sys.getpid(), always = always)), ...)
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
  broken <- function(chunk, threads) stop("chunk ", chunk, " is broken")
  expect_error(do_chunks(4, broken, list(), 1), "chunk 4 is broken")
  expect_error(with_workers(do_chunks(4, broken, list(), NULL)), "chunk 4 is broken")
})

test_that("settings that differ are named with both values", {
  before <- list(a = 1, b = "x", c = c(1, 2), d = NULL, gone = 3)
  expect_identical(setting_differences(before, before), character())
  expect_identical(
    setting_differences(before, list(a = 2, b = "x", c = 1, d = 1:2)),
    c("`a` is 1 there, not 2", "`c` is 1, 2 there, not 1", "`d` is NULL there, not 1, 2")
  )
})
