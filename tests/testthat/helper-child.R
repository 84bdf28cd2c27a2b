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

# Waits until the child has written a line that begins with `word`; gives the words after
# it, or NULL when that takes too long.
await_line <- function(lines, word, seconds = 20) {
  end <- Sys.time() + seconds
  while (Sys.time() < end) {
    found <- if (file.exists(lines)) readLines(lines, warn = FALSE) else character()
    found <- found[startsWith(found, paste0(word, " "))]
    if (length(found) > 0L) return(strsplit(trimws(found[[1L]]), " +")[[1L]][-1L])
    Sys.sleep(0.02)
  }
  NULL
}
