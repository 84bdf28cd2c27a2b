# Takes and gives back a lock, as a call of the user does.
locked <- function(lock, code = NULL) {
  hold_lock(lock, "map.h5")
  force(code)
}

test_that("a lock is held until the call ends, however it does", {
  lock <- file.path(withr::local_tempdir(), "map.h5.lock")
  locked(lock, expect_true(dir.exists(lock)))
  expect_false(dir.exists(lock))
  expect_error(locked(lock, stop("an error")), "an error")
  tryCatch(locked(lock, rlang::interrupt()), interrupt = \(i) NULL)
  locked(lock, expect_error(locked(lock), "in use by another call.*this machine",
                            class = "synfire_error_locked"))
  expect_identical(list.files(dirname(lock), all.files = TRUE, no.. = TRUE), character())
})

test_that("of several processes one has it; of one that was killed it is taken over", {
  skip_on_cran()
  lock <- file.path(withr::local_tempdir(), "map.h5.lock")
  lines <- start_child(substitute({
    f <- function() {
      asNamespace("synfire")$hold_lock(LOCK, "map.h5")
      log("start", Sys.getpid())
      Sys.sleep(60)
    }
    f()
  }, list(LOCK = lock)))
  pid <- await_line(lines, "start")
  expect_false(is.null(pid))
  expect_error(locked(lock), paste("process", pid), class = "synfire_error_locked")
  kill_process(pid)
  expect_identical(locked(lock, "taken"), "taken")
  expect_identical(list.files(dirname(lock), all.files = TRUE, no.. = TRUE), character())
})

test_that("owners that may live are left alone, those that cannot are not", {
  lock <- file.path(withr::local_tempdir(), "map.h5.lock")
  left <- function(owner) {
    dir.create(lock)
    writeLines(owner, file.path(lock, "owner"))
  }
  me <- this_process()
  left(replace(me, 1, "another-machine"))
  expect_error(locked(lock), "another-machine.*remove the lock", class = "synfire_error_locked")
  unlink(lock, recursive = TRUE)
  # A number that was given again: to this process, or to one that began at another time.
  left(replace(me, 5, "earlier"))
  expect_identical(locked(lock, 1), 1)
  if (nzchar(me[[3L]])) {
    left(replace(replace(me, 2, "1"), 3, "boot 0"))
    expect_identical(locked(lock, 1), 1)
    expect_false(owner_is_gone(replace(replace(me, 2, "1"), 3, process_birth(1))))
  }
  # One that has lost its owner is nobody's.
  skip_on_os("windows")
  dir.create(lock)
  expect_identical(locked(lock, 1), 1)
})
