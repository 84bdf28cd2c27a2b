# Tables of spikes: a row each, time and unit among the columns.
#
# The head of the file decides how it is read; scan() then takes the two columns in one
# go. As scan() may take a long row for two short ones, rows are counted against lines.

read_csv <- function(file, head, time_unit, time_column, unit_column, resolution,
                     sampling_rate, sep, decimal_mark, header, call) {
  layout <- csv_layout(file, head, time_column, unit_column, sep, decimal_mark, header, call)
  time_unit <- csv_time_unit(layout, time_unit, call)
  per_second <- units_per_second(time_unit, sampling_rate, call)

  what <- rep(list(NULL), layout$n_fields)
  what[[layout$time]] <- double()
  what[layout$unit] <- list(character())
  columns <- csv_scan(file, layout, what, call)

  time <- columns[[layout$time]]
  line <- csv_line_namer(layout)
  check_file_times(time, file, layout$label(layout$time), line, call)
  units <- lapply(layout$unit, \(k) {
    file_units(columns[[k]], file, layout$label(k), line, call)
  })
  list(
    ticks = round_to_ticks(time, resolution, per_second),
    unit = if (length(units) > 1L) join_units(units) else units[[1L]]
  )
}

#' Row of data n, for a message, with the line it stands on when no line is blank
#' @noRd
csv_line_namer <- function(layout) {
  \(row) sprintf("row %s (line %s)", commas(row), commas(row + layout$skip))
}

csv_time_unit <- function(layout, time_unit, call) {
  said <- layout$said
  if (is.null(time_unit)) return(if (is.na(said)) "s" else said)
  if (!is.na(said) && said != time_unit) {
    cli::cli_warn(c(
      paste0("Column ", escape_braces(layout$label(layout$time)),
             " is read in {.val {time_unit}}, as {.arg time_unit} says."),
      i = "Its name says {.val {said}}."
    ), call = call)
  }
  time_unit
}

# ---- Layout ------------------------------------------------------------------------

#' How the table is laid out, from its first lines
#'
#' @return `sep`, `dec`, `skip` (lines before the data), `n_fields`, `time`, `unit`
#'   (numbers of columns), `said` (unit of time the header says, or NA), `label` (names a
#'   column in messages), `bom`.
#' @noRd
csv_layout <- function(file, head, time_column, unit_column, sep, decimal_mark, header,
                       call) {
  lines <- head$lines
  skip <- 0L
  while (skip < length(lines) && grepl("^\\s*(#|$)", lines[[skip + 1L]])) skip <- skip + 1L
  lines <- lines[seq_len(length(lines) - skip) + skip]
  lines <- lines[!grepl("^\\s*$", lines)]
  lines <- lines[seq_len(min(length(lines), 200L))]
  if (length(lines) == 0L) abort_file(file, "it has no rows", call = call)

  if (is.null(sep)) {
    sep <- guess_separator(lines)
    if (is.null(sep)) {
      abort_file(file, paste("it is no table: no separator (comma, semicolon, tab, bar,",
                             "space) cuts its first lines into two or more fields"),
                 "A table has a row for each spike, with its time and its unit.", call = call)
    }
  } else {
    check_string(sep, "sep", call)
    if (nchar(sep) != 1L) abort_arg("sep", "one character", describe(sep), call = call)
    if (sep == " ") sep <- ""
  }
  if (sep == decimal_mark) {
    abort_arg("decimal_mark", "another character than the separator", "a comma, as it is",
              call = call)
  }

  fields <- lapply(lines, split_line, sep = sep)
  first <- fields[[1L]]
  if (is.null(header)) header <- has_header(fields, decimal_mark)
  rows <- if (header) fields[-1L] else fields
  if (header) skip <- skip + 1L
  if (length(rows) == 0L) {
    abort_file(file, sprintf("it has a header (%s) and no rows", some(first, 8L)), call = call)
  }

  n_fields <- length(rows[[1L]])
  widths <- lengths(rows)
  names <- if (header) first else character(n_fields)
  if (header && length(names) == n_fields - 1L && all(widths == n_fields)) {
    # R writes row names under no header, quoted; other programs end each row with a
    # separator. A number in front is neither: it may be half of a decimal comma.
    if (all(vapply(rows, \(row) row[[n_fields]] == "", logical(1)))) {
      names <- c(names, "")
    } else if (all(grepl("^\\s*\"", lines[-1L])) ||
                 !any(is_number_text(vapply(rows, `[[`, character(1), 1L)))) {
      names <- c("", names)
    }
  }
  if (length(names) != n_fields || any(widths != n_fields)) {
    bad <- which(widths != length(names))[[1L]]
    abort_ragged(file, bad, bad + skip, widths[[bad]], length(names), sep, call)
  }
  if (n_fields < 2L) {
    abort_file(file, "it has one column: a table of spikes needs times and units",
               "For the times of one unit use `spike_trains(time, \"name\")`.", call = call)
  }

  fail <- \(what, hint) abort_file(file, what, hint, call = call)
  at <- if (header) {
    find_columns(names, time_column, unit_column, fail, call)
  } else {
    columns_by_content(rows, time_column, unit_column, decimal_mark, fail, call)
  }
  label <- \(k) if (header && nzchar(names[[k]])) paste0("`", names[[k]], "`") else k
  check_head_times(file, vapply(rows, `[[`, character(1), at$time), label(at$time),
                   decimal_mark, skip, call)
  list(sep = sep, dec = decimal_mark, skip = skip, n_fields = n_fields, time = at$time,
       unit = at$unit, said = at$said, label = label, bom = head$bom)
}

#' The separator that cuts the lines into equally many fields, at least two
#'
#' Those that hardly occur inside a field go first; a comma may be part of a number.
#' @noRd
guess_separator <- function(lines) {
  lines <- lines[seq_len(min(length(lines), 50L))]
  candidates <- c("\t", ";", ",", "|", "")
  widths <- lapply(candidates, \(sep) lengths(lapply(lines, split_line, sep = sep)))
  even <- vapply(widths, \(w) {
    w[[1L]] >= 2L && all(w == w[[1L]]) ||
      length(w) > 1L && w[[2L]] >= 2L && w[[1L]] == w[[2L]] - 1L && all(w[-1L] == w[[2L]])
  }, logical(1))
  if (any(even)) return(candidates[[which(even)[[1L]]]])
  # Ragged rows are still a table when most lines agree; the error then names the row.
  most <- vapply(widths, \(w) sum(w >= 2L & w == w[[1L]]) / length(w), numeric(1))
  if (max(most) >= 0.5 && length(lines) > 1L) candidates[[which.max(most)]] else NULL
}

split_line <- function(line, sep) {
  scan(text = line, what = "", sep = sep, quote = "\"", quiet = TRUE, comment.char = "",
       strip.white = TRUE, na.strings = character(), encoding = "UTF-8") |>
    suppressWarnings()
}

is_number_text <- function(text, dec = ".") {
  text <- trimws(text)
  if (dec == ",") text <- sub(",", ".", text, fixed = TRUE)
  text %in% c("", "NA") | !is.na(suppressWarnings(as.double(text))) |
    tolower(text) %in% c("nan", "inf", "-inf")
}

has_header <- function(fields, dec) {
  first <- fields[[1L]]
  named <- parse_column_name(first)$bare
  if (any(named %in% time_names)) return(TRUE)
  if (any(is_number_text(first, dec) & first != "")) return(FALSE)
  # A decimal comma is a number nobody has announced yet, not a name.
  !any(grepl("^[-+]?[0-9]+,[0-9]+$", first))
}

#' Columns without a header: the time is the numbers that look like times
#' @noRd
columns_by_content <- function(rows, time_column, unit_column, dec, fail, call) {
  n <- length(rows[[1L]])
  if (!is.null(time_column) && !is.null(unit_column)) {
    none <- rep("", n)
    return(list(time = pick_column(time_column, none, "time_column", FALSE, call),
                unit = pick_column(unit_column, none, "unit_column", TRUE, call), said = NA))
  }
  columns <- lapply(seq_len(n), \(k) vapply(rows, `[[`, character(1), k))
  numeric <- vapply(columns, \(v) all(is_number_text(v, dec)), logical(1))
  comma <- vapply(columns, \(v) all(grepl("^[-+]?[0-9]+,[0-9]+$", v)), logical(1))
  none <- rep("", n)
  time <- if (!is.null(time_column)) {
    pick_column(time_column, none, "time_column", FALSE, call)
  } else {
    fits <- which(numeric)
    if (!is.null(unit_column)) {
      fits <- setdiff(fits, pick_column(unit_column, none, "unit_column", TRUE, call))
    }
    values <- lapply(columns, \(v) {
      suppressWarnings(as.double(if (dec == ",") sub(",", ".", v, fixed = TRUE) else v))
    })
    if (length(fits) > 1L) {
      decimals <- vapply(values[fits], \(v) any(v != round(v), na.rm = TRUE), logical(1))
      if (any(decimals)) fits <- fits[decimals]
    }
    if (length(fits) > 1L) {
      grows <- vapply(values[fits], \(v) {
        !is.unsorted(v[!is.na(v)]) && length(unique(v)) > length(v) / 2
      }, logical(1))
      if (any(grows)) fits <- fits[grows]
    }
    if (length(fits) != 1L) {
      if (any(comma)) abort_decimal_comma(fail)
      fail(sprintf("it has no header, and %s of its %d columns could be the times",
                   if (length(fits)) length(fits) else "none", n),
           "Say which one with `time_column` (and `unit_column`), by number.")
    }
    fits
  }
  unit <- if (!is.null(unit_column)) {
    pick_column(unit_column, none, "unit_column", TRUE, call)
  } else {
    setdiff(seq_len(n), time)
  }
  if (is.null(unit_column) && length(unit) != 1L) {
    fail(sprintf("it has no header, and %d of its %d columns could be the units",
                 length(unit), n),
         "Say which one with `unit_column`, by number.")
  }
  list(time = time, unit = unit, said = NA)
}

abort_decimal_comma <- function(fail) {
  fail("its times are written with a decimal comma", "Say `decimal_mark = \",\"`.")
}

check_head_times <- function(file, text, column, dec, skip, call) {
  bad <- !is_number_text(text, dec)
  if (!any(bad)) return(invisible())
  first <- which(bad)[[1L]]
  fail <- \(what, hint = NULL) abort_file(file, what, hint, call = call)
  if (dec == "." && grepl("^[-+]?[0-9]+,[0-9]+$", trimws(text[[first]]))) {
    abort_decimal_comma(fail)
  }
  abort_not_number(file, column, text[[first]], first, first + skip, call)
}

abort_not_number <- function(file, column, text, row, line, call) {
  abort_file(
    file, sprintf("column %s must hold times, but holds %s in row %s (line %s)", column,
                  encodeString(substr(text, 1L, 40L), quote = "\""),
                  commas(row), commas(line)),
    "Name another column with `time_column`, or drop these rows first.", call = call
  )
}

abort_ragged <- function(file, row, line, n, expected, sep, call) {
  abort_file(
    file, sprintf("row %s (line %s) has %s %s, not %s", commas(row),
                  commas(line), n, if (n == 1L) "field" else "fields",
                  expected),
    if (n > expected && sep == ",") {
      "A field with a comma in it must be quoted, also a number with a decimal comma."
    } else {
      "Each row needs the same number of fields."
    }, call = call
  )
}

# ---- Data --------------------------------------------------------------------------

csv_open <- function(file, layout) {
  if (!layout$bom || layout$skip > 0L) return(NULL)
  con <- gzfile(file, "rb")
  readBin(con, "raw", 3L)
  con
}

csv_scan <- function(file, layout, what, call) {
  problem <- NULL
  read <- function(what) {
    con <- csv_open(file, layout)
    if (!is.null(con)) on.exit(close(con))
    withCallingHandlers(
      scan(con %||% file, what = what, sep = layout$sep, dec = layout$dec, quote = "\"",
           skip = layout$skip, quiet = TRUE, multi.line = FALSE, comment.char = "",
           strip.white = TRUE, na.strings = "NA"),
      warning = \(w) {
        problem <<- conditionMessage(w)
        rlang::cnd_muffle(w)
      }
    )
  }
  columns <- tryCatch(read(what), error = \(e) NULL)
  if (is.null(columns)) {
    # scan() takes no number in quotes, so the times come as text this time.
    what[[layout$time]] <- character()
    columns <- tryCatch(read(what), error = \(e) {
      problem <<- conditionMessage(e)
      NULL
    })
    if (!is.null(columns)) {
      columns[[layout$time]] <- csv_numbers(file, layout, columns[[layout$time]], call)
    }
  }
  if (!is.null(problem)) {
    if (holds_nul(file)) {
      abort_file(file, "it starts as a table, but holds binary data further on", call = call)
    }
    locate_ragged(file, layout, call)
    if (grepl("EOF", problem)) problem <- "a quote is opened and never closed"
    abort_file(file, problem, call = call)
  }
  n <- length(columns[[layout$time]])
  if (n != count_lines(file) - layout$skip) locate_ragged(file, layout, call)
  columns
}

#' Lines of a file, the last one also where no line end closes it
#' @noRd
count_lines <- function(file) {
  con <- gzfile(file, "rb")
  on.exit(close(con))
  n <- 0
  last <- as.raw(10)
  repeat {
    bytes <- readBin(con, "raw", 4194304L)
    if (length(bytes) == 0L) break
    n <- n + sum(bytes == as.raw(10))
    last <- bytes[[length(bytes)]]
  }
  n + (last != as.raw(10))
}

#' Error at the first row with another number of fields; nothing where there is none
#'
#' Blank lines are no rows. A line end within quotes is refused as well: a quote left open
#' by mistake would swallow spikes.
#' @noRd
locate_ragged <- function(file, layout, call) {
  con <- gzfile(file, "rt")
  on.exit(close(con))
  widths <- utils::count.fields(con, sep = layout$sep, quote = "\"", skip = layout$skip,
                                blank.lines.skip = FALSE, comment.char = "")
  blank <- !is.na(widths) & widths == 0L
  wrong <- which(is.na(widths) | (!blank & widths != layout$n_fields))
  if (length(wrong) == 0L) return(invisible())
  first <- wrong[[1L]]
  if (is.na(widths[[first]])) {
    abort_file(file, sprintf("a quoted field runs over the end of line %s",
                             commas(first + layout$skip)),
               "Close the quote on the same line.", call = call)
  }
  abort_ragged(file, first - sum(blank[seq_len(first)]), first + layout$skip,
               widths[[first]], layout$n_fields, layout$sep, call)
}

#' Times that came as text, or an error at the first row that is no number
#' @noRd
csv_numbers <- function(file, layout, text, call) {
  bad <- which(!is.na(text) & !is_number_text(text, layout$dec))
  if (length(bad)) {
    # A row of another length may have shifted the columns.
    locate_ragged(file, layout, call)
    abort_not_number(file, layout$label(layout$time), text[[bad[[1L]]]], bad[[1L]],
                     bad[[1L]] + layout$skip, call)
  }
  if (layout$dec == ",") text <- sub(",", ".", text, fixed = TRUE)
  suppressWarnings(as.double(text))
}

holds_nul <- function(file) {
  con <- gzfile(file, "rb")
  on.exit(close(con))
  repeat {
    bytes <- readBin(con, "raw", 4194304L)
    if (length(bytes) == 0L) return(FALSE)
    if (any(bytes == as.raw(0))) return(TRUE)
  }
}
