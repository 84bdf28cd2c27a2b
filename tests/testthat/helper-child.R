# Another R process that runs `code` (an expression; `log()` in it appends a line to a file
# and `lib` is where synfire is installed). Returns the path of that file at once.
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
    stdout = FALSE, stderr = FALSE, wait = FALSE,
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

# Waits until the child has written a line that begins with `word`; gives the words after
# it, or NULL when that takes too long.
await_line <- function(lines, word, seconds = 20) {
  end <- Sys.time() + seconds
  while (Sys.time() < end) {
    found <- whole_lines(lines)
    found <- found[startsWith(found, paste0(word, " "))]
    if (length(found) > 0L) return(strsplit(trimws(found[[1L]]), " +")[[1L]][-1L])
    Sys.sleep(0.02)
  }
  NULL
}

# Seconds from Ctrl-C to the end of a child that runs `code`, an expression that logs
# "start" with its process id before the work and evaluates to the work's value. The best
# of three, as a busy machine answers late now and then; each time the work must end as
# an interrupt.
time_to_stop <- function(code, wait) {
  best <- Inf
  for (try in 1:3) {
    lines <- start_child(substitute({
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
      log("end", outcome, format(as.numeric(Sys.time()), digits = 15))
    }, list(CODE = code)))
    start <- await_line(lines, "start")
    testthat::expect_false(is.null(start), label = "the child did not start")
    Sys.sleep(wait)
    sent <- as.numeric(Sys.time())
    tools::pskill(as.integer(start[[1L]]), tools::SIGINT)
    end <- await_line(lines, "end")
    testthat::expect_false(is.null(end), label = "the child did not stop")
    testthat::expect_identical(end[[1L]], "interrupted")
    best <- min(best, as.numeric(end[[2L]]) - sent)
    if (best < 0.5) break
  }
  best
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
