# What is kept of a GPU between calls, and what becomes of it.

kept <- function() .Call(r_release_gpu)

few_spikes <- function() {
  set.seed(1)
  spike_trains(sort(round(runif(3000, 0, 10), 4)), sample(6, 3000, TRUE), start = 0, end = 10,
               resolution = 1e-4)
}

mine <- function(x, ..., intervals = c(0, 0.005)) {
  mine_episodes(x, 30, intervals, max_size = 4, device = "gpu", ...)
}

test_that("without a GPU nothing is kept", {
  skip_if(nrow(synfire_sitrep(test_devices = FALSE)$devices) > 0L, "there is a GPU")
  expect_identical(kept(), 0)
})

test_that("memory is kept from call to call, is given back when asked, and changes nothing", {
  skip_without_gpu()
  x <- few_spikes()
  kept()
  first <- mine(x)
  again <- mine(x)
  expect_identical(as.data.frame(again), as.data.frame(first))
  expect_identical(attr(again, "peak_memory"), attr(first, "peak_memory"))
  bytes <- kept()
  expect_gt(bytes, 0)
  expect_lte(bytes, 2^30 + 2^26)
  expect_identical(kept(), 0)
  expect_identical(as.data.frame(mine(x)), as.data.frame(first))
})

test_that("what is kept stays within max_memory", {
  skip_without_gpu()
  x <- few_spikes()
  kept()
  whole <- mine(x)
  host <- 5e6  # page-locked, which is the host's
  tight <- mine(x, max_memory = 1e7)
  expect_identical(as.data.frame(tight), as.data.frame(whole))
  expect_lte(kept(), 1e7 * 17 / 16 + host)
})

test_that("a forked child neither uses nor frees what its parent keeps", {
  skip_without_gpu()
  skip_on_os("windows")
  x <- few_spikes()
  before <- mine(x)
  said <- parallel::mclapply(1:2, function(i) {
    error <- tryCatch(mine(x), synfire_error_device = identity)
    c(class(error)[[1L]], kept())
  }, mc.cores = 2)
  expect_identical(said, rep(list(c("synfire_error_device", "0")), 2))
  expect_identical(as.data.frame(mine(x)), as.data.frame(before))
  expect_gt(kept(), 0)
})

test_that("memory that an interrupted call gave back is used by nobody too early", {
  skip_without_gpu()
  x <- few_spikes()
  before <- mine(x)
  for (i in 1:3) {
    expect_error(mine(x, max_memory = 1e6, intervals = cbind(0, seq_len(40) / 1000)),
                 class = "synfire_error_budget")
    expect_identical(as.data.frame(mine(x)), as.data.frame(before))
  }
})
