# The page of inst/examples that shows a stream live.

page_folder <- function() system.file("examples", "stream", package = "synfire")

test_that("the page follows a file that grows, and stops", {
  skip_on_cran()
  skip_if_not_installed("shiny")
  skip_if_not_installed("ggplot2")
  x <- as.data.frame(simulate_sym26(duration = 6))
  file <- withr::local_tempfile(fileext = ".csv")
  write.csv(x[x$time < 4, ], file, row.names = FALSE, quote = FALSE)
  withr::local_options(synfire.file = file, synfire.window = 2, synfire.min_count = 30,
                       synfire.every = 0.5, synfire.alarms = 900)
  shiny::testServer(page_folder(), {
    session$elapse(250)
    expect_match(output$state, "window of 2 s up to 3.5 s")
    expect_match(output$strongest, "<table")
    write.table(x[x$time >= 4, ], file, sep = ",", append = TRUE, row.names = FALSE,
                col.names = FALSE, quote = FALSE)
    session$elapse(500)
    # Up to the last whole block, or to the last spike where this machine is slow.
    expect_match(output$state, "up to 5[.](5|9[0-9]+) s")
    expect_match(output$counts$src, "^data:image/png")
    expect_match(output$watched, "^$|first look")
    expect_match(output$alarms, "<table")
    session$setInputs(stop = 1)
    expect_match(output$state, "stopped")
    expect_true(feed$closed)
    expect_identical(feed$counts[["spikes"]], nrow(x) + 0)
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
