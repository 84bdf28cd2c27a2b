# What the compiled code would report for a machine that is not this one.
raw_report <- function(threads = list(), gpu = list(), devices = list()) {
  report <- list(
    threads = list(
      openmp = 1L, processors = 16L, affinity = 8L, cgroup = 0L, omp_num_threads = 0L,
      omp_thread_limit = 0L, forked = 0L, threads = 8L
    ),
    gpu = list(
      built = TRUE, runtime = 13000L, driver = 12040L, architectures = "750,900,1200",
      reason = ""
    ),
    devices = list(
      device = 0L, name = "Example GPU", capability_major = 9L, capability_minor = 0L,
      multiprocessors = 132L, memory = 80 * 2^30, memory_free = 79.5 * 2^30,
      works = TRUE, trouble = ""
    )
  )
  report$threads[names(threads)] <- threads
  report$gpu[names(gpu)] <- gpu
  report$devices[names(devices)] <- devices
  report
}

no_devices <- list(
  device = integer(), name = character(), capability_major = integer(),
  capability_minor = integer(), multiprocessors = integer(), memory = double(),
  memory_free = double(), works = logical(), trouble = character()
)

because <- function(...) new_sitrep(raw_report(threads = list(...)))$threads_because

test_that("the report of this machine is complete and consistent", {
  report <- synfire_sitrep()
  expect_s3_class(report, "synfire_sitrep")
  expect_identical(report$version, as.character(utils::packageVersion("synfire")))
  expect_gte(report$threads, 1L)
  expect_lte(report$threads, min(report$limits, na.rm = TRUE))
  expect_named(
    report$limits,
    c("processors", "affinity", "cgroup", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT")
  )
  expect_type(report$cuda$built, "logical")
  # Either there are devices or there is a reason, never both, never neither.
  expect_identical(nrow(report$devices) == 0L, !is.na(report$cuda$reason))
  if (!report$cuda$built) expect_match(report$cuda$reason, "built without CUDA")
})

test_that("every device that is reported runs code", {
  report <- synfire_sitrep()
  skip_if(nrow(report$devices) == 0L, paste("no CUDA device here:", report$cuda$reason))
  expect_true(all(report$devices$works))
  expect_true(all(is.na(report$devices$trouble)))
  expect_true(all(report$devices$memory_free <= report$devices$memory))
  expect_true(all(report$devices$multiprocessors > 0L))
  untested <- synfire_sitrep(test_devices = FALSE)
  expect_true(all(is.na(untested$devices$works)))
  expect_identical(untested$devices$name, report$devices$name)
})

test_that("a forked child uses one thread and no device", {
  skip_on_os("windows")
  child <- parallel::mccollect(parallel::mcparallel(synfire_sitrep()))[[1]]
  expect_s3_class(child, "synfire_sitrep")
  expect_identical(nrow(child$devices), 0L)
  if (child$openmp) expect_identical(child$threads, 1L)
  if (child$openmp) expect_match(child$threads_because, "forked process")
  if (child$cuda$built) expect_match(child$cuda$reason, "forked process")
  expect_true(child$forked)
  expect_match(paste(format(child), collapse = " "), "Driver +not looked for")
})

test_that("test_devices is checked", {
  expect_error(synfire_sitrep(NA), "`test_devices` must be TRUE or FALSE")
  expect_error(synfire_sitrep("yes"), class = "synfire_error_argument")
})

test_that("what decided the number of threads is named", {
  expect_identical(because(), "the processors this process is bound to")
  expect_identical(because(affinity = 16L, threads = 16L), "the processors of this machine")
  expect_identical(
    because(cgroup = 3L, threads = 3L), "the processors its control group may use"
  )
  expect_identical(
    because(omp_num_threads = 2L, threads = 2L), "the environment variable OMP_NUM_THREADS"
  )
  expect_identical(
    because(omp_thread_limit = 2L, threads = 2L), "the environment variable OMP_THREAD_LIMIT"
  )
  # A variable above what there is decided nothing.
  expect_identical(because(omp_num_threads = 64L), "the processors this process is bound to")
  expect_match(because(openmp = 0L, threads = 1L), "without OpenMP")
  expect_match(because(forked = 1L, threads = 1L), "forked process")
})

test_that("limits that are not set are NA", {
  limits <- new_sitrep(raw_report())$limits
  expect_identical(unname(is.na(limits)), c(FALSE, FALSE, TRUE, TRUE, TRUE))
})

test_that("versions and capabilities are worded", {
  report <- new_sitrep(raw_report())
  expect_identical(report$cuda$runtime, "13.0")
  expect_identical(report$cuda$driver, "12.4")
  expect_identical(report$cuda$capabilities, c("7.5", "9.0", "12.0"))
  expect_identical(new_sitrep(raw_report(gpu = list(driver = 0L)))$cuda$driver, NA_character_)
  expect_identical(
    new_sitrep(raw_report(gpu = list(architectures = "")))$cuda$capabilities, character()
  )
})

test_that("the report prints in one screen, with and without devices", {
  skip_on_cran()
  show <- function(...) {
    report <- new_sitrep(raw_report(...))
    report[c("version", "r_version", "platform")] <- c("1.0.0", "4.1.0", "example")
    report
  }
  expect_snapshot(print(show()))
  expect_snapshot(print(show(
    threads = list(omp_num_threads = 2L, threads = 2L),
    gpu = list(driver = 0L, reason = "no NVIDIA driver is installed on this machine"),
    devices = no_devices
  )))
  expect_snapshot(print(show(
    threads = list(openmp = 0L, threads = 1L),
    gpu = list(
      built = FALSE, runtime = 0L, driver = 0L, architectures = "",
      reason = "synfire was built without CUDA"
    ),
    devices = no_devices
  )))
  expect_snapshot(print(show(
    devices = list(
      device = 0:1, name = c("Good GPU", "Bad GPU"), capability_major = c(9L, 8L),
      capability_minor = c(0L, 6L), multiprocessors = c(132L, 84L),
      memory = c(80, 24) * 2^30, memory_free = c(NA, 20 * 2^30), works = c(NA, FALSE),
      trouble = c("", "the device has no memory left")
    )
  )))
})

test_that("format gives the printed lines and print returns its argument invisibly", {
  report <- synfire_sitrep(test_devices = FALSE)
  printed <- capture.output(returned <- withVisible(print(report)))
  expect_identical(printed, strsplit(paste(format(report), collapse = "\n"), "\n")[[1]])
  expect_false(returned$visible)
  expect_identical(returned$value, report)
})
