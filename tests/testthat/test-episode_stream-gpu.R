# On a GPU every update is the one of the CPU, which test-episode_stream.R compares with
# mining the window.

# Bursts, ties and silence, in ticks of a millisecond.
living <- function(seed, spikes = 600, span = 3000, units = 6) {
  withr::local_seed(seed)
  bursts <- sample(span, 5)
  tick <- c(sample(span, spikes %/% 2, TRUE), sample(bursts, spikes, TRUE) +
              sample(60, spikes, TRUE))
  all <- unique(data.frame(tick = tick, unit = paste0("u", sample(units, length(tick), TRUE))))
  all[order(all$tick), ]
}
blocks_of <- function(all, cuts) {
  Map(\(from, to) {
    rows <- all[all$tick > from & all$tick <= to, ]
    list(spikes = data.frame(time = rows$tick / 1000, unit = rows$unit), now = to / 1000)
  }, cuts[-length(cuts)], cuts[-1L])
}
pair_of <- function(...) {
  lapply(c(cpu = "cpu", gpu = "gpu"), \(device) {
    s <- episode_stream(..., resolution = 1e-3, threads = 1, device = device)
    s$always <- TRUE
    s
  })
}
moved_on <- function(pair, block) {
  lapply(pair, \(s) update(s, block$spikes, now = block$now))
}
expect_same <- function(pair) {
  expect_identical(as.data.frame(pair$gpu), as.data.frame(pair$cpu))
  expect_identical(pair$gpu$changes, pair$cpu$changes)
}
counts_on_gpu <- function(s) {
  is.environment(s$counting$state) && !is.null(.Call(r_stream_about, s$counting$state$pointer))
}

test_that("each update on a GPU is that of the CPU", {
  skip_without_gpu()
  for (seed in 1:10) {
    withr::local_seed(seed)
    bounds <- list(c(0.002, 0.008), rbind(c(0, 0.004), c(0.004, 0.012)))[[sample(2, 1)]]
    pair <- pair_of(bounds, sample(3:12, 1), sample(c(60, 400, 1500, 5000), 1) / 1000,
                    max_size = sample(c(2, 4, 6), 1), distinct_units = sample(c(TRUE, FALSE), 1))
    cuts <- sort(unique(c(0, sample(3100, sample(10:40, 1)))))
    for (block in blocks_of(living(seed), cuts)) {
      pair <- moved_on(pair, block)
      expect_same(pair)
    }
    expect_true(counts_on_gpu(pair$gpu))
  }
})

test_that("counts stay right on a GPU when the least count follows the window", {
  skip_without_gpu()
  pair <- pair_of(c(0, 0.008), min_support = 0.01, window = 0.7, max_size = 4)
  for (block in blocks_of(living(3, units = 4), seq(0, 3100, 20))) {
    pair <- moved_on(pair, block)
    expect_same(pair)
  }
})

# 90 units, the first of which fire most.
many_units <- function(n = 60000) {
  withr::local_seed(9)
  all <- unique(data.frame(tick = sort(sample(4e4, n, TRUE)), unit = sprintf("u%03d",
                           pmin(90, 1L + rgeom(n, 0.06)))))
  all[order(all$tick), ]
}

test_that("long lists, many units and numbers that start anew are counted on a GPU", {
  skip_without_gpu()
  pair <- pair_of(rbind(c(0, 0.003), c(0.003, 0.007)), 100, 12, max_size = 4)
  for (block in blocks_of(many_units(), seq(0, 4e4, 250))) pair <- moved_on(pair, block)
  expect_same(pair)
  expect_gt(nrow(pair$gpu$episodes), 150)
})

test_that("streams on a GPU are values, live side by side and can be saved", {
  skip_without_gpu()
  blocks <- blocks_of(living(5), seq(0, 3000, 100))
  one <- pair_of(c(0.002, 0.008), 5, 1, max_size = 4)
  two <- pair_of(c(0, 0.004), 8, 0.5, max_size = 3)
  for (block in blocks[1:15]) {
    one <- moved_on(one, block)
    two <- moved_on(two, block)
  }
  expect_same(one)
  expect_same(two)
  file <- withr::local_tempfile()
  saveRDS(one$gpu, file)
  again <- list(cpu = one$cpu, gpu = readRDS(file))
  old <- one
  for (block in blocks[16:20]) {
    again <- moved_on(again, block)
    expect_same(again)
  }
  old <- moved_on(old, blocks[[16]])   # from an update before the newest
  expect_same(old)
})

test_that("a window beyond the memory is mined anew on the GPU", {
  skip_without_gpu()
  # Of 60,000 spikes 16 bits for each unit and interval, and twice that as room.
  pair <- pair_of(rbind(c(0, 0.003), c(0.003, 0.007)), 900, 40, max_size = 3,
                  max_memory = 2e7)
  for (block in blocks_of(many_units(), c(0, 3e4, 3.5e4, 4e4))) {
    pair <- moved_on(pair, block)
    expect_same(pair)
  }
  expect_false(counts_on_gpu(pair$gpu))
})

test_that("without a GPU a stream says so before the experiment", {
  skip_if(nrow(synfire_sitrep(test_devices = FALSE)$devices) > 0L, "there is a GPU")
  expect_error(episode_stream(c(0, 0.005), 5, 1, device = "gpu"),
               class = "synfire_error_device")
})
