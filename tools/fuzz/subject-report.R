# Reports: any recording and any arguments give a page that is whole, or a refusal and no file;
# twice the same with the same seed, and foreign files stay as they are.

report_page_of <- function(file) {
  page <- paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  sub("Made by[^<]*", "", page)
}

check_report <- function(made, x, file) {
  page <- report_page_of(file)
  if (!endsWith(page, "</html>")) finding("a page without its end")
  inside <- gsub("<style>.*</style>|<[^>]*>", "", page)
  if (grepl("[<>]", inside)) finding("a < or > that is not escaped")
  if (grepl("\\b(NA|NaN|Inf|NULL)\\b", gsub("base64,[^\"]*", "", inside))) {
    units <- paste(levels(x$unit), collapse = " ")
    if (!grepl("NA|NaN|Inf|NULL", units)) finding("NA, NaN, Inf or NULL on a page")
  }
  names <- c("question", "looked_at", "settings", "chance", "result")
  same(names(made$tested), names, "columns of the table of tests")
  if (any(!nzchar(unlist(made$tested)))) finding("an empty cell in the table of tests")
}

fuzz_subject("report", limit = 120,
  covers = list(
    report = c("x", "title", "by", "assemblies", "causes", "seed", "open", "threads",
               "max_memory", "file"),
    format.recording_report = character(), print.recording_report = character()
  ),
  run = function(world) {
    x <- if (sometimes(0.7)) draw_recording(60, 6) else draw_for_assemblies()
    if (sometimes(0.2) && nlevels(x$unit) > 0L) {
      odd <- c("<b>&\"", "`x`", "</p>", "%d", "{x}", "\u00E9")
      levels(x$unit) <- make.unique(rep_len(odd, nlevels(x$unit)))
    }
    file <- file.path(world$folder, "page.html")
    foreign <- sometimes(0.1)
    if (foreign) writeLines("mine", file)
    trials <- names(attr(x, "trials"))
    args <- c(list(x, seed = whole(1, 1e6), open = FALSE, file = file), some_args(
      title = mostly(one_of("A title", "<&>")), by = mostly(one_of(trials, "none")),
      causes = one_of(FALSE, TRUE), max_memory = one_of(4e9, 1e7),
      max_lag = mostly(one_of(0.05, 0.3))
    ), list(alpha = 0.2, n_surrogates = 9))
    one <- attempt("report", c(args, list(threads = 1)))
    if (refused(one)) {
      if (file.exists(file) != foreign) finding("a refused report changes files")
      return()
    }
    if (foreign) return(finding("a file that is no report was replaced"))
    check_report(one, x, file)
    if (length(list.files(world$folder)) > 1L) finding("files beside the page")
    page <- report_page_of(file)
    attempt("print", list(one))
    if (sometimes(0.3)) {
      more <- attempt("report", c(args, list(threads = whole(2, 4))))
      if (!refused(more)) same(report_page_of(file), page, "the same page on several threads")
    }
    if (sometimes(0.2)) attempt("report", list(x, assemblies = one$assemblies, open = FALSE,
                                               seed = 1, file = file))
  }
)
