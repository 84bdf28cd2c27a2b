# Axion spike lists: the export of the AxIS software. The first columns describe the
# recording, and run beside the spikes for as many rows as they need; spikes stand in the
# columns `Time (s)` and `Electrode`. A table about the wells may follow below.

is_axion <- function(lines) {
  lines <- lines[seq_len(min(length(lines), 50L))]
  !is.na(axion_header(lines)) && any(grepl("^\"?Investigator\"?\\s*,", lines))
}

#' Line with the names of the spikes' columns, or NA
#' @noRd
axion_header <- function(lines) {
  hit <- grep("(^|,)\\s*\"?Time \\(s\\)\"?\\s*,\\s*\"?Electrode\"?\\s*(,|$)", lines,
              ignore.case = TRUE)
  if (length(hit)) hit[[1L]] else NA_integer_
}

read_axion <- function(file, head, resolution, call) {
  at <- axion_header(head$lines)
  if (is.na(at)) {
    abort_file(file, "no line names the columns `Time (s)` and `Electrode`",
               "In AxIS, export the spike list as CSV.", call = call)
  }
  names <- tolower(split_line(head$lines[[at]], ","))
  time_at <- match("time (s)", names)
  what <- rep(list(NULL), time_at + 1L)
  what[[1L]] <- character()
  what[[time_at]] <- character()
  what[[time_at + 1L]] <- character()
  problem <- NULL
  columns <- withCallingHandlers(
    scan(file, what = what, sep = ",", quote = "\"", skip = at, quiet = TRUE, flush = TRUE,
         fill = TRUE, multi.line = FALSE, comment.char = "", strip.white = TRUE,
         na.strings = character()),
    warning = \(w) {
      problem <<- conditionMessage(w)
      rlang::cnd_muffle(w)
    }
  )
  if (!is.null(problem)) abort_file(file, problem, call = call)

  time_text <- columns[[time_at]]
  electrode <- columns[[time_at + 1L]]
  # The wells' table has text of its own in these columns.
  wells <- which(columns[[1L]] == "Well Information")
  n <- if (length(wells)) wells[[1L]] - 1L else length(time_text)
  row <- which(time_text[seq_len(n)] != "" | electrode[seq_len(n)] != "")
  line <- \(k) sprintf("line %s", commas(row[[k]] + at))

  time <- suppressWarnings(as.double(time_text[row]))
  bad <- which(is.na(time) & time_text[row] != "")
  if (length(bad)) {
    abort_file(file, sprintf("column `Time (s)` must hold times, but holds %s in %s",
                             encodeString(time_text[row][[bad[[1L]]]], quote = "\""),
                             line(bad[[1L]])), call = call)
  }
  check_file_times(time, file, "`Time (s)`", line, call)
  list(
    ticks = round_to_ticks(time, resolution),
    unit = file_units(electrode[row], file, "`Electrode`", line, call)
  )
}
