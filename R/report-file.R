# Where a report is written: never over a file that is something else, and whole or not at all.

# In the first lines of every report.
report_mark <- "<meta name=\"generator\" content=\"synfire report\">"

#' The path of a report that can be written
#' @noRd
check_report_path <- function(file) {
  if (is.null(file)) return(tempfile("report-", fileext = ".html"))
  check_path(file, "file")
  file <- path.expand(file)
  folder <- normalizePath(dirname(file), "/", mustWork = FALSE)
  refuse_if(dir.exists(file) || !dir.exists(folder) || file.access(folder, 2L) != 0L, "file",
            "the path of a file, in a folder that can be written to", dQuote(file, FALSE))
  file <- file.path(folder, basename(file))
  refuse_if(!grepl("[.]html?$", file, ignore.case = TRUE), "file",
            "the path of a file whose name ends in .html", dQuote(file, FALSE),
            "Browsers tell pages by their names.")
  refuse_if(file.exists(file) && !is_report(file), "file",
            "the path of a new file, or of a report to replace",
            sprintf("that of a file that `report()` did not make, %s", dQuote(file, FALSE)),
            "Choose another name, or remove that file first.")
  file
}

#' Whether a file is a report, by its first lines
#' @noRd
is_report <- function(file) {
  head <- tryCatch(suppressWarnings(read_bytes(file, 0, 400)), error = \(e) raw())
  length(grepRaw(report_mark, head, fixed = TRUE)) > 0L
}

#' Write the page so that no half of it ever has its name
#' @noRd
write_report <- function(page, file) {
  drop_temporary(dirname(file), gsub("([][{}()+*^$|?.\\\\])", "\\\\\\1", basename(file)))
  bytes <- charToRaw(enc2utf8(page))
  name_when_whole(file, \(temporary) {
    write_checked(temporary, "wb", \(con) write_bytes(bytes, con), file)
    # Some network disks take all bytes and keep fewer.
    if (!identical(file.size(temporary), as.double(length(bytes)))) abort_write(file, full_disk)
  })
}

#' The page: head, what is on it, and the sections
#'
#' @param sections A list of `id`, `title` and `body`, HTML each.
#' @noRd
report_page <- function(title, made, short, sections) {
  style <- readLines(system.file("report", "page.css", package = "synfire"), encoding = "UTF-8")
  items <- vapply(sections, \(one) {
    tag("li", tag("a", one$title, href = paste0("#", one$id)))
  }, "")
  bodies <- vapply(sections, \(one) {
    tag("section", tag("h2", one$title), html(unlist(one$body)), id = one$id)
  }, "")
  paste0("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", report_mark,
         "\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
         tag("title", title), "\n<style>\n", paste(style, collapse = "\n"),
         "\n</style>\n</head>\n", "<body>\n<header>\n", tag("h1", title), "\n",
         tag("p", made, class = "made"), "\n", html(unlist(short)), "\n</header>\n",
         tag("nav", tag("ol", html(items)), "aria-label" = "Sections"), "\n<main>\n",
         paste0(bodies, collapse = "\n"), "\n</main>\n</body>\n</html>\n")
}
