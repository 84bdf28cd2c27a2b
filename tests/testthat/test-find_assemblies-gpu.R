independent <- function(units, duration, rate, seed, ...) {
  set.seed(seed)
  each <- stats::rpois(units, duration * rate)
  spike_trains(floor(stats::runif(sum(each), 0, duration) * 1e6) / 1e6,
               factor(rep(seq_len(units), each), levels = seq_len(units)), start = 0,
               end = duration, ...)
}

# Peaks on both devices are the same integers.
expect_same_peaks <- function(x, n, max_lag, segment, ...) {
  cpu <- peaks_of(x, max_lag, n, segment = segment, ...)
  gpu <- peaks_of(x, max_lag, n, segment = segment, ..., gpus = 0L)
  testthat::expect_gt(nrow(cpu$recording), 0)
  testthat::expect_gt(sum(vapply(cpu$surrogates, nrow, 0L)), 0)
  testthat::expect_identical(gpu, cpu)
  invisible(cpu)
}

test_that("without CUDA, a GPU is refused", {
  skip_if_not(is.na(gpu_survey()$name[1L]), "there is a GPU")
  x <- independent(3, 10, 5, 1)
  refused <- peaks_of(x, 0.05, 1, segment = 1, gpus = 0L)
  expect_s3_class(refused, "synfire_status")
  expect_identical(refused$status, "no_device")
  expect_error(find_assemblies(x, device = "gpu"), class = "synfire_error_device")
})

test_that("\"auto\" weighs what the CPU takes, and says what it took", {
  x <- independent(10, 60, 5, 1)
  of <- function(x, n = 99) assembly_seconds(x, assembly_ladder(x, 1, 10), n)
  # Measured on one thread: 0.02 s for this one, and 6 to 7 min for 500 units of 30 min.
  expect_gt(of(x), 0.005)
  expect_lt(of(x), 0.1)
  expect_gt(of(x, 9999), 50 * of(x))
  set.seed(1)
  large <- spike_trains(floor(stats::runif(4.5e6, 0, 1.8e9)) / 1e6, rep(seq_len(500), 9000),
                        start = 0, end = 1800)
  expect_gt(of(large), 200)
  expect_lt(of(large), 600)
  expect_identical(assembly_seconds(x[unit = "1"], assembly_ladder(x, 1, 10), 99), 0)
  skip_if_not(is.na(gpu_survey()$name[1L]), "there is a GPU")
  expect_message(found <- find_assemblies(x, n_surrogates = 19, device = "auto", threads = 1),
                 "Using the CPU: there is no GPU", class = "synfire_message_device")
  expect_identical(attr(found, "device"), "cpu")
  expect_null(attr(found, "gpus"))
})

test_that("peaks of surrogates and of the recording are those of the CPU", {
  skip_without_gpu()
  peaks <- expect_same_peaks(independent(6, 30, 12, 1), 5, 0.1, 4)
  expect_length(peaks$surrogates, 5)
  expect_same_peaks(independent(3, 30, 40, 2), 3, 1, 5)
  expect_same_peaks(independent(2, 30, 20, 3), 4, 0.05, 3, least = 1.5)
  # More spikes of a unit in a segment than two to a lane.
  expect_same_peaks(independent(4, 60, 30, 4), 3, 0.2, 20)
  # Planted coincidences, and what all units share.
  set.seed(5)
  expect_same_peaks(simulate_assemblies(duration = 60, units = 12, assemblies = "sequence",
                                        size = 4, count = 60, nuisances = "bursts"), 9, 0.2, 2)
})

test_that("segments shorter than the histogram go around on GPUs, too", {
  skip_without_gpu()
  expect_same_peaks(independent(5, 20, 20, 1), 4, 0.1, 0.2)
  expect_same_peaks(independent(4, 5, 60, 2), 4, 0.005, 0.01, least = 0.5)
  # A single segment, which all warps share.
  expect_same_peaks(independent(4, 20, 50, 3), 3, 0.1, 1e3)
})

test_that("all windows with an excess are compared where they do not fit one list", {
  skip_without_gpu()
  peaks <- expect_same_peaks(independent(3, 60, 20, 1), 2, 1, 5, least = 1 / 1024)
  expect_gt(nrow(peaks$surrogates[[1]]), 3 * 1000)
})

test_that("trials and camera frames make the same peaks on both devices", {
  skip_without_gpu()
  x <- independent(5, 40, 15, 1)
  trials <- data.frame(start = c(0, 9, 22.5), end = c(8.5, 21, 40))
  expect_same_peaks(spike_trains(x$time, x$unit, start = 0, end = 40, trials = trials), 4, 0.1,
                    1.7)
  frames <- data.frame(time = round(x$time / 0.033) * 0.033, unit = x$unit)
  x <- spike_trains(frames$time, frames$unit, start = 0, end = 41)
  expect_gt(assembly_ladder(x, 0.5, 4)$bin, 1000)
  expect_same_peaks(x, 4, 0.5, 4, least = 0.5)
})

test_that("peaks beyond responses to events are the same on both devices", {
  skip_without_gpu()
  events <- c(6, 9:20, 22.5, 24, 28, 31, 33)
  expect_same_peaks(independent(6, 40, 12, 1), 4, 0.1, 4, locked_to = events)
})

test_that("memory in parts, devices twice and any first surrogate change no peak", {
  skip_without_gpu()
  x <- independent(20, 60, 8, 1)
  whole <- expect_same_peaks(x, 30, 0.1, 2)
  expect_identical(peaks_of(x, 0.1, 30, segment = 2, gpus = 0L, max_memory = 2e7), whole)
  expect_identical(peaks_of(x, 0.1, 30, segment = 2, gpus = c(0L, 0L)), whole)
  later <- peaks_of(x, 0.1, 3, from = 10, segment = 2, gpus = 0L)
  expect_identical(later$surrogates, whole$surrogates[11:13])
  refused <- peaks_of(x, 0.1, 3, segment = 2, gpus = 0L, max_memory = 1e6)
  expect_identical(refused$status, "over_budget")
})

test_that("40 units of 2 minutes have the same peaks on both devices", {
  skip_without_gpu()
  skip_on_cran()
  expect_same_peaks(independent(40, 120, 5, 1), 9, 1, 10)
})

test_that("find_assemblies() finds the same on both devices", {
  skip_without_gpu()
  set.seed(1)
  x <- simulate_assemblies(duration = 100, units = 15, assemblies = c("synchrony", "sequence"),
                           size = 4, count = 80)
  of <- function(device, gpus = NULL, ...) {
    set.seed(2)
    found <- find_assemblies(x, max_lag = 0.15, n_surrogates = 19, device = device, gpus = gpus,
                             threads = 2, ...)
    expect_identical(attr(found, "device"), device)
    attributes(found)[c("device", "gpus", "elapsed", "call")] <- NULL
    found
  }
  cpu <- of("cpu")
  expect_gt(nrow(cpu), 0)
  expect_identical(of("gpu"), cpu)
  expect_identical(of("gpu", gpus = c(1, 1)), cpu)
  expect_identical(of("gpu", max_memory = 5e7), cpu)
  set.seed(2)
  expect_message(auto <- find_assemblies(x, max_lag = 0.15, n_surrogates = 19, device = "auto",
                                         threads = 2), class = "synfire_message_device")
  expect_identical(as.data.frame(auto), as.data.frame(cpu))
})

test_that("Ctrl-C is an interrupt on a GPU", {
  skip_without_gpu()
  expect_interrupted(quote({
    set.seed(1)
    of <- \(units, duration) spike_trains(stats::runif(5 * units * duration) * duration,
                                          rep(seq_len(units), each = 5 * duration), start = 0,
                                          end = duration)
    find_assemblies(of(4, 20), max_lag = 0.1, n_surrogates = 19, device = "gpu", threads = 2)
    x <- of(400, 900)
    begin()
    find_assemblies(x, n_surrogates = 999, device = "gpu", threads = 2)
  }))
})
