probing <- function(items, seconds, threads = 1) {
  capture.output(result <- parallel_probe(items, seconds, threads))
}

test_that("progress shows after the delay, and not before", {
  rlang::local_options(cli.progress_handlers_only = "logger")
  # The items that were done.
  shown_after <- function(delay) {
    rlang::local_options(cli.progress_show_after = delay)
    shown <- probing(800, 1e-3)
    added <- grep("added", shown, value = TRUE)
    expect_length(added, 1L)
    expect_length(grep("terminated", shown), 1L)
    expect_identical(cli::cli_progress_num(), 0L)
    as.numeric(sub(".* ([0-9]+)/800 .*", "\\1", added))
  }
  expect_gt(shown_after(0.4), shown_after(0))

  rlang::local_options(cli.progress_show_after = 5)
  expect_identical(probing(200, 1e-3), character())
  rlang::local_options(cli.progress_show_after = Inf)
  expect_identical(probing(200, 1e-3), character())
})

test_that("the delay is two seconds unless the option says otherwise", {
  skip_on_cran()
  rlang::local_options(cli.progress_handlers_only = "logger", cli.progress_show_after = NULL)
  shown <- probing(30, 0.08)
  added <- grep("added", shown, value = TRUE)
  expect_length(added, 1L)
  expect_gte(as.numeric(sub(".* ([0-9]+)/30 .*", "\\1", added)), 5)
})

test_that("a bar that cannot be drawn does not stop the work", {
  rlang::local_options(cli.progress_handlers_only = quote(no_index), cli.progress_show_after = 0)
  x <- parallel_probe(200, 1e-3)
  expect_identical(x$value, parallel_probe(200, 0)$value)
})

test_that("a line that a child has not finished is waited for", {
  lines <- withr::local_tempfile()
  expect_null(await_line(lines, "end", 0.05))
  cat("start 12 \nend ", file = lines)
  expect_identical(await_line(lines, "start", 0.05), "12")
  expect_null(await_line(lines, "end", 0.05))
  cat("interrupted 3.5", file = lines, append = TRUE)
  expect_null(await_line(lines, "end", 0.05))
  cat(" \n", file = lines, append = TRUE)
  expect_identical(await_line(lines, "end", 0.05), c("interrupted", "3.5"))
})

test_that("Ctrl-C is an interrupt", {
  skip_on_cran()
  for (threads in 1:2) {
    expect_interrupted(substitute({
      begin()
      synfire:::parallel_probe(30000, 1e-3, threads = THREADS)
    }, list(THREADS = threads)))
  }
})

test_that("interrupted work leaves nothing behind", {
  skip_on_cran()
  lines <- start_child(quote({
    options(cli.progress_handlers_only = "logger", cli.progress_show_after = 0)
    memory <- function() {
      cells <- gc()[1, 1]
      pages <- if (file.exists("/proc/self/statm")) scan("/proc/self/statm", quiet = TRUE)[[1]]
      log("round", cells, if (is.null(pages)) 0 else pages * 4096, cli::cli_progress_num())
    }
    for (round in 1:12) {
      system(sprintf("(sleep 0.25; kill -INT %d)", Sys.getpid()), wait = FALSE)
      outcome <- tryCatch(
        {
          synfire:::parallel_probe(1e6, 1e-4, threads = 1 + round %% 2)
          "finished"
        },
        interrupt = function(condition) "interrupted",
        error = function(condition) "failed"
      )
      if (outcome != "interrupted") log("bad", outcome)
      memory()
    }
    log("end", "done")
  }))
  expect_identical(await_line(lines, "end", 60), "done")
  rounds <- readLines(lines)
  expect_length(grep("^bad", rounds), 0L)
  rounds <- read.table(text = grep("^round", rounds, value = TRUE))
  expect_identical(nrow(rounds), 12L)
  # A round holds 12 MB outside R and a bar; from the fourth on everything is loaded.
  expect_lt(rounds$V3[[12]] - rounds$V3[[4]], 12e6)
  expect_lt(rounds$V2[[12]] - rounds$V2[[4]], 100)
  expect_true(all(rounds$V4 == 0))
})

# Raised while memory outside R's heap is held: an error of R's, and its lack of memory.
fail_probing <- function(status) {
  result <- tryCatch(parallel_probe(1e5, 0, status = status), error = conditionMessage)
  expect_match(result, c("cannot be used", "cannot allocate")[[-status]])
}

test_that("no bar stays after errors of R's", {
  rlang::local_options(cli.progress_handlers_only = "logger", cli.progress_show_after = 0)
  for (status in c(-1, -2)) {
    shown <- capture.output(fail_probing(status))
    expect_length(grep("added", shown), 1L)
    expect_length(grep("terminated", shown), 1L)
    expect_identical(cli::cli_progress_num(), 0L)
  }
})

test_that("errors of R's leave no memory held until R collects garbage", {
  skip_if_not(file.exists("/proc/self/statm"))
  # In a process that has run other tests the heap of R grows and shrinks by itself.
  lines <- start_child(quote({
    pages <- function() scan("/proc/self/statm", quiet = TRUE)[[2L]] * 4096
    fail <- function(status) {
      tryCatch(synfire:::parallel_probe(1e5, 0, status = status), error = conditionMessage)
    }
    for (status in c(-1, -2)) fail(status)
    before <- pages()
    # Of 1.2 MB each.
    said <- c(vapply(1:60, \(k) fail(-1), ""), vapply(1:10, \(k) fail(-2), ""))
    log("grown", pages() - before, sum(grepl("cannot be used", said)),
        sum(grepl("cannot allocate", said)))
  }))
  grown <- as.numeric(await_line(lines, "grown", 60))
  expect_lt(grown[[1L]], 40e6)
  expect_identical(grown[2:3], c(60, 10))
})

test_that("no bar stays where R has no memory for the result", {
  skip_if(nzchar(Sys.getenv("ASAN_OPTIONS")), "a checker takes memory of its own")
  lines <- withr::with_envvar(c(R_MAX_VSIZE = "70Mb"), start_child(quote({
    options(cli.progress_handlers_only = "logger", cli.progress_show_after = 0)
    set.seed(1)
    x <- simulate_sym26(duration = 10)
    problem <- tryCatch(
      nrow(mine_episodes(x, 3, c(0, 0.015), max_size = 4, threads = 2)),
      error = conditionMessage
    )
    log("bars", cli::cli_progress_num(), gsub(" ", "_", problem))
  })))
  end <- await_line(lines, "bars", 60)
  expect_match(end[[2L]], "memory|allocate")
  expect_identical(end[[1L]], "0")
})

test_that("in a file progress is a line after ten seconds, then one a minute", {
  rlang::local_options(cli.progress_handlers_only = NULL, cli.dynamic = FALSE)
  withr::local_envvar(RSTUDIO = NA)
  expect_true(progress_in_lines())
  rlang::local_options(cli.dynamic = TRUE)
  expect_false(progress_in_lines())
  time <- 0
  tell <- line_progress("Mapping", 200, now = \() time)
  said <- character()
  while (time < 135) {
    time <- time + 1
    withCallingHandlers(tell(1), message = \(m) {
      said <<- c(said, conditionMessage(m))
      invokeRestart("muffleMessage")
    })
  }
  expect_identical(said, sprintf("Mapping, %d %%, after %d s\n", c(5L, 35L, 65L),
                                 c(10L, 70L, 130L)))
})

test_that("work of less than ten seconds leaves nothing in a file", {
  rlang::local_options(cli.progress_handlers_only = NULL, cli.dynamic = FALSE,
                       cli.progress_show_after = 0)
  withr::local_envvar(RSTUDIO = NA)
  said <- utils::capture.output(invisible(parallel_probe(400, 1e-3)), type = "message")
  expect_identical(said, character())
})
