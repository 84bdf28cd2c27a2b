# The page of inst/examples that shows a stream live.

page_folder <- function() system.file("examples", "stream", package = "synfire")

# Looks until the page shows a text, at most 50 times; gives what it shows then.
look_until <- function(session, shown, text) {
  for (look in 1:50) {
    session$elapse(200)
    if (grepl(text, shown(), fixed = TRUE)) break
  }
  shown()
}

test_that("the page follows a file that grows, and stops", {
  skip_on_cran()
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  withr::local_seed(1)   # in one of 120 recordings the last look finds no alarm
  x <- as.data.frame(simulate_sym26(duration = 6))
  file <- withr::local_tempfile(fileext = ".csv")
  write.csv(x[x$time < 4, ], file, row.names = FALSE, quote = FALSE)
  withr::local_options(synfire.file = file, synfire.window = 2, synfire.min_count = 30,
                       synfire.every = 0.5, synfire.alarms = 900)
  shiny::testServer(page_folder(), {
    expect_shown <- \(text) {
      expect_match(look_until(session, \() output$state, text), text, fixed = TRUE)
    }
    feed$wait <- Inf   # whole blocks count, however slow this machine is
    expect_shown("window of 2 s up to 3.5 s")
    expect_match(output$strongest, "<table")
    write.table(x[x$time >= 4, ], file, sep = ",", append = TRUE, row.names = FALSE,
                col.names = FALSE, quote = FALSE)
    expect_shown("up to 5.5 s")
    expect_match(output$counts$src, "^data:image/png")
    expect_identical(output$watched, "")
    expect_match(output$alarms, "<table")
    feed$wait <- 0     # nothing more is awaited
    expect_shown(sprintf("up to %.15g s", max(x$time)))
    session$setInputs(stop = 1)
    expect_match(output$state, "stopped")
    expect_true(feed$closed)
    expect_identical(feed$counts[["spikes"]], nrow(x) + 0)
  })
})

test_that("a look that finds no episode is not taken for none", {
  skip_on_cran()
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  file <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("time,unit", sprintf("%.1f,%s", seq(0.1, 5, 0.1), c("A", "B"))), file)
  withr::local_options(synfire.file = file, synfire.window = 2, synfire.alarms = 900)
  shiny::testServer(page_folder(), {
    feed$wait <- Inf
    expect_match(look_until(session, \() output$state, "up to 4.5 s"), "up to 4.5 s")
    expect_identical(output$watched, "Nothing that chance does not explain.")
  })
})

test_that("a browser shows the page, and the page moves on by itself", {
  skip_on_cran()
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  skip_without_browser()
  port <- sample(20000:60000, 1)
  lines <- start_child(substitute({
    log("start", Sys.getpid())
    shiny::runApp(FOLDER, port = PORT, launch.browser = FALSE)
  }, list(FOLDER = page_folder(), PORT = port)))
  child <- await_line(lines, "start", 60)
  withr::defer(tools::pskill(as.integer(child[[1L]])))
  answers <- function() {
    con <- tryCatch(socketConnection("127.0.0.1", port, open = "rb", timeout = 1),
                    error = \(e) NULL, warning = \(w) NULL)
    if (!is.null(con)) close(con)
    !is.null(con)
  }
  await(answers)
  page <- open_page(sprintf("http://127.0.0.1:%d", port))
  withr::defer(page$close(), priority = "first")

  state <- function() {
    text <- page$value("document.getElementById('state').innerText")
    if (is.null(text)) return(NA)   # the page is not there yet
    at <- regmatches(text, regexec("up to ([0-9.]+) s, [0-9,]+ spikes", text))[[1]]
    as.numeric(at[2])
  }
  expect_true(await(\() state() >= 1.5))
  first <- state()
  expect_true(await(\() state() > first))
  expect_true(await(\() page$value("document.querySelector('#counts img').naturalWidth") > 100))
  expect_gt(page$value("document.querySelectorAll('#strongest tr').length"), 2)
  page$value("document.getElementById('stop').click()")
  expect_true(await(\() grepl("stopped", page$value("document.getElementById('state').innerText"))))
  last <- state()
  Sys.sleep(0.7)
  expect_identical(state(), last)
})
