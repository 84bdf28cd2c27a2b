# Lines of a table that grows: whole lines in, spikes out. The lines are cut and the
# numbers read by the reader of read_spikes(); here is what a table that is still being
# written needs besides: half lines, lines that are no spikes, and rows without a unit,
# which say how far the recording has come.

# So many rows show how a table is laid out.
layout_rows <- 20L

# A line of more bytes than this is no row of a table.
longest_fed_line <- 1048576L

#' What is left of an origin of lines (a file, or one connection), and how it is read
#'
#' `rest` holds the bytes that were read and make no whole line yet, `layout` how the
#' lines are cut, `NULL` until that is known, `line` the number of lines that were taken
#' apart, `bad` how many of the last ones in a row are broken, `in_time` whether a row has
#' come that is not late, and `over` whether nothing more can come.
#' @param name Names the origin in messages.
#' @noRd
new_origin <- function(name, layout = NULL) {
  list2env(list(name = name, rest = raw(), layout = layout, line = 0, bad = 0,
                in_time = FALSE, over = FALSE), parent = emptyenv())
}

#' How the lines of a socket are cut
#' @noRd
socket_layout <- function(time_unit, sampling_rate) {
  list(how = list(sep = utf8ToInt(","), dec = utf8ToInt("."), fields = 2L, time = 1L,
                  text = 2L),
       per_second = units_per_second(time_unit, sampling_rate), skip = 0L,
       header = NULL)
}

#' How the lines of a file are cut, from its first ones
#'
#' @param reading The arguments of `read_spikes()` that say how a table is laid out.
#' @return The layout, or `NULL` while the lines that are there do not show it yet.
#' @noRd
file_layout <- function(file, bytes, reading, sure) {
  bom <- begin_with_mark(bytes)
  if (bom) bytes <- bytes[-(1:3)]
  check_text(file, bytes)
  lines <- bytes_to_lines(bytes)
  first <- which(!grepl("^\\s*(#|$)", lines))
  # A header alone shows little.
  needed <- if (!sure) layout_rows else if (isFALSE(reading$header)) 1L else 2L
  if (length(first) < needed) return(NULL)
  about <- c(reading[c("time_unit", "time_column", "unit_column", "sampling_rate")],
             list(trial_column = NA))
  rows <- lines[utils::head(first, layout_rows)]
  alike <- alike_rows(rows, reading)
  layout <- csv_layout(file, list(lines = rows[alike], bom = bom), about, reading$sep,
                       reading$decimal_mark, reading$header, failing(file))
  headed <- layout$skip == 1L
  time_unit <- csv_time_unit(layout, reading$time_unit)
  list(
    how = list(sep = separator_code(layout$sep), dec = utf8ToInt(layout$dec),
               fields = layout$n_fields, time = layout$time, text = layout$unit),
    per_second = units_per_second(time_unit, reading$sampling_rate),
    skip = first[[1L]] - 1L + (headed && alike[[1L]]),
    # A writer that comes back may write it again.
    header = if (headed) rows[alike][[1L]]
  )
}

#' Which of the first rows of a table, a header among them, are alike, so that a broken one
#' does not say how the table is laid out
#' @noRd
alike_rows <- function(rows, reading) {
  often <- \(value) {
    n <- tabulate(match(value, unique(value)))
    n[match(value, unique(value))]
  }
  dec <- reading$decimal_mark
  seps <- reading$sep %||% setdiff(c("\t", ";", ",", "|", ""), dec)
  seps[seps == " "] <- ""
  cut <- lapply(seps, \(sep) split_lines(rows, sep))
  fit <- vapply(cut, \(fields) {
    width <- lengths(fields)
    mean(width > 1L & often(width) == max(often(width[width > 1L]), 0L))
  }, 0)
  fields <- cut[[c(which(fit >= 0.75), which.max(fit))[[1L]]]]
  width <- lengths(fields)
  usual <- width[[which.max(often(width) * (width > 1L))]]
  # R writes no name above the names of rows.
  even <- width == usual
  even[[1L]] <- even[[1L]] || width[[1L]] == usual - 1L
  if (!any(even)) return(rep(TRUE, length(rows)))
  head <- which(even)[[1L]]
  headed <- reading$header %||% has_header(fields[head], dec)
  kind <- vapply(fields, \(field) paste(is_number_text(field, dec), collapse = ""), "")
  data <- even & !(headed & seq_along(rows) == head)
  alike <- data
  alike[data] <- often(kind[data]) > max(often(kind[data]), 0L) / 2
  alike[[head]] <- alike[[head]] || headed
  alike
}

#' Place of the last LF, 0 without one
#' @noRd
last_lf <- function(bytes) max(0L, which(bytes == as.raw(10)))

check_text <- function(file, bytes) {
  starts <- \(...) begin_with(bytes, ...)
  refuse_file_if(starts(0x1f, 0x8b) || starts(0x42, 0x5a, 0x68) || starts(0xfd, 0x37, 0x7a), file,
                 "it is compressed, and cannot be read while it grows",
                 "Let the program that records write a plain table.")
  if (starts(0x89, 0x48, 0x44, 0x46)) {
    abort_file(file, "it has become an HDF5 file, and a table was expected",
               paste("Make the feed when the file is there, with `time_column` and",
                     "`unit_column`, the paths of its data sets."))
  }
  refuse_file_if(starts(0xff, 0xfe) || starts(0xfe, 0xff), file, "it is text in UTF-16",
                 "Write it in UTF-8.")
  refuse_file_if(is_binary(bytes), file, "it holds binary data, not a table", binary_hint(bytes))
}

#' Whole lines as text, without their ends
#' @noRd
bytes_to_lines <- function(bytes) {
  text <- rawToChar(bytes[bytes != as.raw(0)])
  Encoding(text) <- "bytes"
  clean_text(sub("\r$", "", strsplit(text, "\n", fixed = TRUE, useBytes = TRUE)[[1L]],
                 useBytes = TRUE))
}

# ---- Rows ----------------------------------------------------------------------------

#' The rows of whole lines
#'
#' @param bytes Lines, each with its end.
#' @param line Number of lines of the origin before these.
#' @return List: `tick`, `unit` and `line`, in the order of the lines, where a unit of ""
#'   marks a row without one; `broken`, the lines that are no rows, a data frame with `line`,
#'   `text` and `why`; `lines`, how many lines there were.
#' @noRd
rows_of_lines <- function(bytes, layout, line, resolution) {
  bytes <- one_line_end(bytes)
  ends <- which(bytes == as.raw(10))
  lines <- length(ends)
  from <- if (line < layout$skip) min(layout$skip - line, lines) else 0
  parts <- list()
  broken <- list()
  while (from < lines) {
    first <- if (from == 0) 1 else ends[[from]] + 1
    got <- .Call(r_csv_rows, bytes, first, length(bytes), layout$how)
    part <- sound_rows(got, layout, resolution)
    # Lines of blanks hold no row.
    row <- seq_len(got$n)
    at <- from + row + findInterval(row, got$blank + 1)
    part$line <- line + at[!row %in% part$bad]
    broken <- c(broken, Map(list, at[part$bad], part$why))
    parts <- c(parts, list(part))
    if (got$fault[[1L]] == 0) break
    from <- from + got$lines
    broken <- c(broken, list(list(from, row_fault(got$fault, layout))))
  }
  list(
    tick = as.double(unlist(lapply(parts, `[[`, "tick"))),
    unit = as.character(unlist(lapply(parts, `[[`, "unit"))),
    line = as.double(unlist(lapply(parts, `[[`, "line"))),
    broken = broken_lines(broken, bytes, ends, line, layout$header), lines = lines
  )
}

#' Bytes in which each line ends with LF: a CR alone counts as one
#' @noRd
one_line_end <- function(bytes) {
  cr <- which(bytes == as.raw(13))
  alone <- cr[bytes[cr + 1L] != as.raw(10)]
  bytes[alone] <- as.raw(10)
  bytes
}

#' Rows that have a time and, unless there is none at all, a unit
#' @noRd
sound_rows <- function(got, layout, resolution) {
  time <- got$time
  tick <- raw_ticks(time, resolution, layout$per_second)
  time[!is.finite(time) | abs(tick) >= 2^53] <- NaN
  text <- lapply(got$text, \(one) label_of_text(one$values)[one$code])
  missing <- Reduce(`|`, lapply(text, \(one) one %in% c("", "NA")))
  no_unit <- Reduce(`&`, lapply(text, \(one) one == ""))
  unit <- do.call(paste, c(text, sep = "_"))
  unit[no_unit] <- ""
  bad <- is.nan(time) | missing & !no_unit
  list(
    tick = round_to_ticks(time[!bad], resolution, layout$per_second), unit = unit[!bad],
    bad = which(bad),
    why = ifelse(is.nan(time[bad]), "it has no time that can be used", "it has no unit")
  )
}

row_fault <- function(fault, layout) {
  switch(fault[[1L]], "a quote is opened and not closed", "text follows a quoted field",
         "it holds binary data", "its time is not a number",
         sprintf("it has %s, not %s", counted(fault[[2L]], "field"), layout$how$fields))
}

broken_lines <- function(broken, bytes, ends, line, header) {
  at <- vapply(broken, `[[`, 0, 1L)
  text <- vapply(at, \(k) {
    first <- if (k == 1) 1 else ends[[k - 1]] + 1
    c(bytes_to_lines(bytes[first:min(ends[[k]], first + 200)]), "")[[1L]]
  }, "")
  out <- data.frame(line = line + at, text = text,
                    why = vapply(broken, `[[`, "", 2L))
  out <- if (is.null(header)) out else out[out$text != header, ]
  out[order(out$line), ]
}
