# A browser without a window, asked in Chrome's DevTools protocol over two pipes.

browser_program <- function() {
  found <- Sys.which(c("chromium", "chromium-browser", "google-chrome"))
  found[nzchar(found)][1]
}

skip_without_browser <- function() {
  testthat::skip_if(is.na(browser_program()), "needs Chromium (apt-get install chromium)")
}

# Opens a page; gives `value(code)`, what JavaScript says in it, `call()` for other methods of the
# protocol, and `close()`.
open_page <- function(url, seconds = 40) {
  testthat::skip_on_os("windows")
  testthat::skip_if_not_installed("jsonlite")
  skip_without_browser()
  folder <- tempfile("browser-")
  dir.create(folder)
  pipes <- file.path(folder, c("to", "from"))
  system2("mkfifo", pipes)
  from <- fifo(pipes[[2]], "rb", blocking = FALSE)
  system(sprintf(
    "exec '%s' --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage %s %s",
    browser_program(), paste0("--user-data-dir='", folder, "/profile'"),
    sprintf("--remote-debugging-pipe 3< '%s' 4> '%s'", pipes[[1]], pipes[[2]])
  ), wait = FALSE, ignore.stdout = TRUE, ignore.stderr = TRUE)
  to <- fifo(pipes[[1]], "wb", blocking = TRUE)
  id <- 0
  got <- raw()
  read_answer <- function() {
    end <- Sys.time() + seconds
    while (!any(got == as.raw(0))) {
      if (Sys.time() > end) testthat::skip("the browser does not answer")
      # That nothing is there to read is an error of this kind of connection.
      more <- tryCatch(readBin(from, "raw", 65536L), error = \(e) raw())
      got <<- c(got, more)
      if (length(more) == 0L) Sys.sleep(0.01)
    }
    at <- which(got == as.raw(0))[[1]]
    text <- rawToChar(got[seq_len(at - 1)])
    got <<- got[-seq_len(at)]
    jsonlite::fromJSON(text, simplifyVector = FALSE)
  }
  ask <- function(method, ..., session = NULL) {
    id <<- id + 1
    message <- c(list(id = id, method = method), if (...length()) list(params = list(...)),
                 if (!is.null(session)) list(sessionId = session))
    writeBin(c(charToRaw(jsonlite::toJSON(message, auto_unbox = TRUE)), as.raw(0)), to)
    flush(to)
    repeat {
      answer <- read_answer()
      if (identical(as.numeric(answer$id), id)) return(answer$result)
    }
  }
  target <- ask("Target.createTarget", url = url)$targetId
  session <- ask("Target.attachToTarget", targetId = target, flatten = TRUE)$sessionId
  list(
    value = \(code) ask("Runtime.evaluate", expression = code, session = session)$result$value,
    call = \(method, ...) ask(method, ..., session = session),
    close = function() {
      ask("Browser.close")
      close(to)
      close(from)
      unlink(folder, recursive = TRUE)
    }
  )
}
