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

read_axion <- function(file, head, resolution) {
  at <- axion_header(head$lines)
  refuse_file_if(is.na(at), file, "no line names the columns `Time (s)` and `Electrode`",
                 "In AxIS, export the spike list as CSV.")
  names <- tolower(split_lines(head$lines[[at]], ",")[[1L]])
  time_at <- match("time (s)", names)
  lists <- axion_columns(file, c(1L, time_at, time_at + 1L), at, head$bom)
  time_text <- clean_text(lists$text[[2L]])
  electrode <- lists$text[[3L]]
  # The wells' table has text of its own in these columns.
  wells <- which(lists$text[[1L]] == "Well Information")
  n <- if (length(wells)) wells[[1L]] - 1L else length(time_text)
  row <- which(time_text[seq_len(n)] != "" | electrode[seq_len(n)] != "")
  line <- \(k) sprintf("line %s", commas(lists$line[[row[[k]]]] + at))

  time <- suppressWarnings(as.double(time_text[row]))
  bad <- which((is.na(time) | grepl("x", time_text[row], ignore.case = TRUE)) &
                 time_text[row] != "")
  if (length(bad)) {
    abort_file(file, sprintf("column `Time (s)` must hold times, but holds %s in %s",
                             encodeString(time_text[row][[bad[[1L]]]], quote = "\""),
                             line(bad[[1L]])))
  }
  check_file_times(time, file, "`Time (s)`", line)
  unit <- list(values = unique(electrode[row]))
  unit$code <- match(electrode[row], unit$values)
  list(
    ticks = round_to_ticks(time, resolution),
    unit = file_units(unit, file, "`Electrode`", line)
  )
}

#' Text of some columns, and the line of each row, counted from the header
#' @noRd
axion_columns <- function(file, columns, skip, bom) {
  layout <- list(skip = skip, bom = bom)
  how <- list(sep = utf8ToInt(","), dec = utf8ToInt("."), fields = 0, time = 0, text = columns)
  text <- list()
  line <- list()
  lines <- 0
  begun <- FALSE
  each_block(file, f = \(bytes, size) {
    first <- if (begun) 1 else head_end(bytes, size, layout) + 1
    begun <<- TRUE
    got <- .Call(r_csv_rows, bytes, first, size, how)
    if (got$fault[[1L]] != 0) {
      abort_row(file, layout, got, length(unlist(line)) + got$n + 1, lines + got$lines + skip)
    }
    text[[length(text) + 1L]] <<- lapply(got$text, \(one) one$values[one$code])
    # Blank lines are no rows.
    line[[length(line) + 1L]] <<- lines + setdiff(seq_len(got$lines),
                                                 got$blank + seq_along(got$blank))
    lines <<- lines + got$lines
  })
  list(text = lapply(seq_along(columns), \(k) as.character(unlist(lapply(text, `[[`, k)))),
       line = as.double(unlist(line)))
}
