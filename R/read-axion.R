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

read_axion <- function(file, head, resolution, fail) {
  at <- axion_header(head$lines)
  refuse_file_if(is.na(at), file, "no line names the columns `Time (s)` and `Electrode`",
                 "In AxIS, export the spike list as CSV.")
  names <- tolower(split_lines(head$lines[[at]], ",")[[1L]])
  time_at <- match("time (s)", names)
  # Rows have any number of fields, and the wells' table has text of its own in these columns.
  layout <- list(sep = ",", dec = ".", n_fields = 0, time = 0, skip = at, bom = head$bom)
  columns <- csv_columns(file, layout, c(1L, time_at, time_at + 1L), \(k) whole_column())
  time_text <- clean_text(columns$text[[2L]])
  electrode <- columns$text[[3L]]
  wells <- which(columns$text[[1L]] == "Well Information")
  n <- if (length(wells)) wells[[1L]] - 1L else length(time_text)
  row <- which(time_text[seq_len(n)] != "" | electrode[seq_len(n)] != "")
  line <- \(k) sprintf("line %s", commas(file_line(row[[k]], layout, columns)))

  time <- suppressWarnings(as.double(time_text[row]))
  bad <- which((is.na(time) | grepl("x", time_text[row], ignore.case = TRUE)) &
                 time_text[row] != "")
  refuse_file_if(length(bad), file,
                 sprintf("column `Time (s)` must hold times, but holds %s in %s",
                         encodeString(time_text[row][[bad[[1L]]]], quote = "\""), line(bad[[1L]])))
  check_file_times(time, fail, "`Time (s)`", line)
  unit <- list(values = unique(electrode[row]))
  unit$code <- match(electrode[row], unit$values)
  list(ticks = round_to_ticks(time, resolution), unit = file_units(unit, file, "`Electrode`", line))
}

#' A column of text that comes in pieces, as text
#' @noRd
whole_column <- function() {
  pieces <- list()
  list(add = \(text) pieces[[length(pieces) + 1L]] <<- text$values[text$code],
       all = \() as.character(unlist(pieces)))
}
