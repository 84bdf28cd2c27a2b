test_that("the report explains the number of threads", {
  report <- threads_report()
  expect_named(report, c("openmp", "processors", "affinity", "cgroup", "omp_num_threads",
                         "omp_thread_limit", "forked", "threads"))
  expect_gte(report[["processors"]], 1L)
  expect_gte(report[["threads"]], 1L)
  expect_identical(report[["forked"]], 0L)
  limits <- report[c("processors", "affinity", "cgroup", "omp_num_threads", "omp_thread_limit")]
  expected <- if (report[["openmp"]] == 1L) min(limits[limits > 0L]) else 1L
  expect_identical(report[["threads"]], expected)
})

test_that("the environment caps the threads", {
  set <- function(...) {
    old <- Sys.getenv(c("OMP_NUM_THREADS", "OMP_THREAD_LIMIT"), NA, names = TRUE)
    Sys.unsetenv(names(old))
    do.call(Sys.setenv, list(...))
    on.exit({
      Sys.unsetenv(names(old))
      if (any(!is.na(old))) do.call(Sys.setenv, as.list(old[!is.na(old)]))
    })
    threads_report()
  }
  free <- set(SYNFIRE_UNRELATED = "1")
  expect_identical(free[["omp_num_threads"]], 0L)
  expect_identical(set(OMP_NUM_THREADS = "1")[["threads"]], 1L)
  expect_identical(set(OMP_THREAD_LIMIT = "1")[["threads"]], 1L)
  expect_identical(set(OMP_NUM_THREADS = "3,2")[["omp_num_threads"]], 3L)
  expect_identical(set(OMP_NUM_THREADS = "100000")[["threads"]], free[["threads"]])
  for (nonsense in c("many", "0", "-2", "", "2x")) {
    expect_identical(set(OMP_NUM_THREADS = nonsense)[["omp_num_threads"]], 0L)
  }
})

test_that("the quota of a control group is found", {
  root <- tempfile()
  write <- function(path, line) {
    dir.create(dirname(file.path(root, path)), recursive = TRUE, showWarnings = FALSE)
    writeLines(line, file.path(root, path))
  }
  processors <- function(...) {
    membership <- tempfile()
    writeLines(c(...), membership)
    .Call(r_cgroup_processors, membership, root)
  }
  write("jobs/a/cpu.max", "350000 100000")
  write("jobs/cpu.max", "max 100000")
  write("small/cpu.max", "200000 100000")
  write("small/inner/cpu.max", "800000 100000")
  write("tiny/cpu.max", "20000 100000")
  write("cpu,cpuacct/old/cpu.cfs_quota_us", "500000")
  write("cpu,cpuacct/old/cpu.cfs_period_us", "100000")
  write("cpu,cpuacct/free/cpu.cfs_quota_us", "-1")
  write("cpu,cpuacct/free/cpu.cfs_period_us", "100000")

  expect_identical(processors("0::/jobs/a"), 3L)
  expect_identical(processors("0::/jobs"), 0L)
  expect_identical(processors("0::/small/inner"), 2L)
  expect_identical(processors("0::/tiny"), 1L)
  expect_identical(processors("0::/"), 0L)
  expect_identical(processors("12:cpuset:/x", "4:cpu,cpuacct:/old", "1:name=systemd:/"), 5L)
  expect_identical(processors("4:cpu,cpuacct:/free"), 0L)
  expect_identical(processors("4:cpuset:/old"), 0L)
  expect_identical(processors("not a line of this kind"), 0L)
  expect_identical(.Call(r_cgroup_processors, tempfile(), root), 0L)

  # Inside a container the group's path is the host's, and the mount is the group.
  write("cpu.max", "400000 100000")
  expect_identical(processors("0::/host/path/of/container"), 4L)
})

test_that("threads are checked", {
  expect_identical(check_threads(NULL), threads_report()[["threads"]])
  expect_identical(check_threads(3), 3L)
  for (threads in list(0, -1, 1.5, NA, "2", c(1, 2), Inf, 1e6)) {
    expect_error(check_threads(threads), "`threads` must be a whole number",
                 class = "synfire_error_argument")
  }
})

test_that("each item runs once, whatever the number of threads", {
  one <- parallel_probe(5000, 0, threads = 1)
  expect_true(all(one$worker == 1L))
  expect_identical(one$value[[4]], random_uniform(1, c(1, 0), 3))
  for (threads in c(2, 3)) {
    many <- parallel_probe(5000, 0, threads = threads)
    expect_identical(many$value, one$value)
    expect_true(all(many$worker >= 1L & many$worker <= threads))
  }
  # More threads than items.
  expect_identical(parallel_probe(3, 0, threads = 8)$value, one$value[1:3])
  expect_identical(parallel_probe(0, 0, threads = 2)$value, numeric())
})

test_that("the loop outlives its slices of time", {
  # Three slices and more: items must be neither lost nor done twice between them.
  x <- parallel_probe(400, 1e-3, threads = 2)
  expect_identical(x$value, parallel_probe(400, 0, threads = 1)$value)
})

test_that("a failing item ends the loop with its status", {
  for (threads in 1:2) {
    expect_error(parallel_probe(100, 1e-4, threads, fail_at = 40, status = 2),
                 class = "synfire_error_memory")
    expect_error(parallel_probe(100, 1e-4, threads, fail_at = 40, status = 3),
                 class = "synfire_error_budget")
    expect_error(parallel_probe(100, 1e-4, threads, fail_at = 40, status = 4),
                 class = "synfire_error_too_large")
    outcome <- tryCatch(parallel_probe(100, 1e-4, threads, fail_at = 40, status = 1),
                        interrupt = \(condition) "interrupted")
    expect_identical(outcome, "interrupted")
  }
  # This ends early: all of these items would take hours.
  expect_error(parallel_probe(1e7, 1e-3, 2, fail_at = 10, status = 2))
})

test_that("a forked child computes after its parent used threads", {
  skip_on_os("windows")
  # Without the fork handler the child waits for ever for worker threads that only its
  # parent has, which is what the time limit below notices.
  before <- parallel_probe(200, 1e-3, threads = 2)
  if (length(unique(before$worker)) < 2L) skip("the parent got one thread only")
  job <- parallel::mcparallel({
    x <- parallel_probe(200, 1e-4, threads = 2)
    list(value = x$value, workers = unique(x$worker), report = threads_report())
  })
  result <- parallel::mccollect(job, wait = FALSE, timeout = 10)
  if (is.null(result)) {
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
  }
  expect_false(is.null(result), label = "the child hangs")
  expect_identical(result[[1]]$value, before$value)
  expect_identical(result[[1]]$workers, 1L)
  expect_identical(result[[1]]$report[["forked"]], 1L)
  expect_identical(result[[1]]$report[["threads"]], 1L)
  # The parent keeps its threads. On a busy machine one may come when all is done.
  workers <- 0
  for (try in 1:5) {
    if (workers < 2) workers <- length(unique(parallel_probe(200, 1e-3, threads = 2)$worker))
  }
  expect_identical(workers, 2L)
})

test_that("threads that cannot be had are done without", {
  skip_on_os(c("windows", "mac", "solaris"))
  skip_if(nzchar(Sys.getenv("ASAN_OPTIONS")), "a checker needs all addresses")
  # Under this limit on memory there is no room for the stacks of so many threads.
  path <- dirname(getNamespaceInfo("synfire", "path"))
  file <- withr::local_tempfile(fileext = ".R")
  writeLines(c(
    sprintf("library(synfire, lib.loc = %s)", dQuote(path, FALSE)),
    "for (threads in c(2, 200, 3, 200)) {",
    "  x <- synfire:::parallel_probe(400, 1e-4, threads = threads)",
    "  cat(length(x$value), length(unique(x$worker)) <= threads, '')",
    "}"
  ), file)
  command <- sprintf("ulimit -v 800000 && exec %s --vanilla %s",
                     shQuote(file.path(R.home("bin"), "Rscript")), shQuote(file))
  # The variable R_TESTS names a file that is not there.
  out <- withr::with_envvar(
    c(R_TESTS = "", R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep)),
    suppressWarnings(system2("sh", c("-c", shQuote(command)), stdout = TRUE, stderr = TRUE))
  )
  expect_identical(utils::tail(out, 1), strrep("400 TRUE ", 4))
})

test_that("little work is done on the thread that asks for it", {
  skip_if_not(file.exists("/proc/self/task"), "threads are counted on Linux alone")
  skip_if(threads_report()[["threads"]] < 2L, "there is one thread")
  # A process of its own: threads that were there before stay.
  lines <- start_child(quote({
    there <- function() length(list.files("/proc/self/task"))
    set.seed(1)
    mine <- function(spikes, end, min_count, threads = 2) {
      x <- spike_trains(runif(spikes, 0, end), sample(60, spikes, TRUE), start = 0, end = end,
                        resolution = 1e-4)
      mine_episodes(x, min_count, c(0, 0.01), max_size = 3, device = "cpu",
                    threads = threads)
    }
    mine(900, 3, 4, threads = 1)   # what comes with loading the package is there now
    before <- there()
    found <- nrow(mine(900, 3, 4))
    small <- there() - before
    mine(2e5, 600, 400)
    log("counted", found, small, there() - before)
  }))
  counted <- as.numeric(await_line(lines, "counted", 60))
  expect_length(counted, 3)
  expect_gt(counted[[1L]], 60)
  expect_identical(counted[[2L]], 0)
  expect_identical(counted[[3L]], 1)
})

test_that("no thread outlives the package", {
  skip_if_not(file.exists("/proc/self/task"), "threads are counted on Linux alone")
  skip_if(threads_report()[["threads"]] < 2L, "there is one thread")
  lines <- start_child(quote({
    there <- function() length(list.files("/proc/self/task"))
    before <- there()
    synfire:::parallel_probe(64, 1e-4, threads = 4)
    meanwhile <- there() - before
    unloadNamespace("synfire")
    log("counted", meanwhile, there() - before)
  }))
  expect_identical(await_line(lines, "counted", 60), c("3", "0"))
})
