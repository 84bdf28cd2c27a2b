# Another R process that runs `code` (an expression; `log()` in it appends a line to a file
# and `lib` is where synfire is installed). Returns the path of that file at once; what the
# process prints is in a file of that name and `.said`.
start_child <- function(code) {
  testthat::skip_on_os("windows")
  path <- getNamespaceInfo("synfire", "path")
  if (!file.exists(file.path(path, "Meta", "package.rds"))) {
    testthat::skip("needs the installed package")
  }
  file <- tempfile(fileext = ".R")
  lines <- tempfile(fileext = ".log")
  writeLines(c(
    sprintf("log <- function(...) cat(..., \"\\n\", file = %s, append = TRUE)", dQuote(lines, FALSE)),
    sprintf("library(synfire, lib.loc = %s)", dQuote(dirname(path), FALSE)),
    deparse(code)
  ), file)
  system2(
    file.path(R.home("bin"), "Rscript"), c("--vanilla", file),
    stdout = paste0(lines, ".said"), stderr = FALSE, wait = FALSE,
    env = c("R_TESTS=", paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep)))
  )
  lines
}

# The lines of a file that have their ends: cat() writes word by word, so that the last line
# may be there in part.
whole_lines <- function(file) {
  if (!file.exists(file)) return(character())
  text <- readChar(file, file.size(file), useBytes = TRUE)
  strsplit(sub("[^\n]*$", "", text), "\n", fixed = TRUE)[[1L]]
}

# Waits until `done()`; whether that came before so many seconds had gone by.
await <- function(done, seconds = 20) {
  end <- Sys.time() + seconds
  while (!isTRUE(done())) {
    if (Sys.time() > end) return(FALSE)
    Sys.sleep(0.01)
  }
  TRUE
}

# Waits until the child has written a line that begins with `word`; gives the words after
# it, or NULL when that takes too long.
await_line <- function(lines, word, seconds = 20) {
  found <- character()
  await(function() {
    found <<- grep(paste0("^", word, " "), whole_lines(lines), value = TRUE)
    length(found) > 0L
  }, seconds)
  if (length(found) > 0L) strsplit(trimws(found[[1L]]), " +")[[1L]][-1L]
}

# Ends a process at once, and waits until it is gone.
kill_process <- function(process) {
  tools::pskill(as.integer(process), tools::SIGKILL)
  await(\() !.Call(synfire:::r_process_lives, as.numeric(process)))
}

# Ctrl-C must end `code` as an interrupt: an expression that calls `begin()` before long
# work. The signal is sent when the work has shown progress, so that the loops of the core
# are what it interrupts.
expect_interrupted <- function(code) {
  lines <- start_child(substitute({
    begin <- function() {
      options(cli.progress_handlers_only = "logger", cli.progress_show_after = 0)
      log("start", Sys.getpid())
    }
    outcome <- tryCatch(
      {
        CODE
        "finished"
      },
      interrupt = function(condition) "interrupted",
      error = function(condition) {
        paste0("failed:", gsub("[[:space:]]+", "_", conditionMessage(condition)))
      }
    )
    log("end", outcome)
  }, list(CODE = code)))
  process <- await_line(lines, "start", 60)
  testthat::expect_false(is.null(process), label = "the child did not start")
  said <- paste0(lines, ".said")
  shown <- await(\() any(grepl(" (added|updated)", whole_lines(said))), 60)
  testthat::expect_true(shown, label = "the work showed progress")
  tools::pskill(as.integer(process[[1L]]), tools::SIGINT)
  testthat::expect_identical(await_line(lines, "end", 60), "interrupted")
}

# Runs `code`, an expression, in a child with a limit of ulimit, such as "-f 8": files of 8
# blocks of 512 bytes at most; what it prints, and the status where it does not end in time.
limited_child <- function(limit, code, seconds = 60) {
  testthat::skip_if(grepl("-v", limit) && nzchar(Sys.getenv("ASAN_OPTIONS")),
                    "a checker needs all addresses")
  testthat::skip_on_os("windows")
  path <- getNamespaceInfo("synfire", "path")
  if (!file.exists(file.path(path, "Meta", "package.rds"))) {
    testthat::skip("needs the installed package")
  }
  file <- tempfile(fileext = ".R")
  writeLines(c(sprintf("library(synfire, lib.loc = %s)", dQuote(dirname(path), FALSE)),
               deparse(code)), file)
  run <- sprintf("trap '' XFSZ; ulimit %s; exec %s --vanilla %s", limit,
                 shQuote(file.path(R.home("bin"), "Rscript")), shQuote(file))
  suppressWarnings(system2("sh", c("-c", shQuote(run)), stdout = TRUE, stderr = TRUE,
                           timeout = seconds))
}
