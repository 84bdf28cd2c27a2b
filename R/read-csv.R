# Tables of spikes: a row each, time and unit among the columns.
#
# The head of the file decides how it is read; then every row is cut into fields, counted,
# and its time and its unit are taken, a block of whole lines after the other.

read_csv <- function(file, head, about, sep, decimal_mark, header, fail) {
  layout <- csv_layout(file, head, about, sep, decimal_mark, header, fail)
  time_unit <- csv_time_unit(layout, about$time_unit)
  per_second <- units_per_second(time_unit, about$sampling_rate)

  text <- c(layout$unit, layout$trial$trial, layout$trial$doubt, layout$known)
  columns <- csv_columns(file, layout, text)
  columns <- judge_open_line(file, columns, layout, text)
  time <- columns$time
  line <- \(row) sprintf("row %s (line %s)", commas(row), commas(file_line(row, layout, columns)))
  if (columns$odd > 0) check_file_times(time, fail, layout$label(layout$time), line)
  of <- \(columns_of) columns$text[match(columns_of, text)]
  units <- Map(\(unit, k) file_units(unit, file, layout$label(k), line),
               of(layout$unit), layout$unit)
  unit <- join_units(units)
  list(
    ticks = round_to_ticks(time, about$resolution, per_second), unit = unit,
    trial = file_trial(layout$trial, of(c(layout$trial$trial, layout$trial$doubt)),
                       layout$label, fail),
    unit_table = known_of_units(unit, of(layout$known), layout$names[layout$known])
  )
}

#' The columns that hold one value for each unit, as a table of units, or `NULL`
#' @param text For each column the distinct `values` and the `code` of each row; no values
#'   where there were too many.
#' @noRd
known_of_units <- function(unit, text, names) {
  n <- nlevels(unit)
  code <- as.integer(unit)
  # Of one spike each, nothing shows that a value is the unit's and not the spike's.
  if (length(code) == n) return(NULL)
  columns <- lapply(rlang::set_names(text, names), \(one) {
    if (length(one$values) == 0L || length(one$values) > n) return(NULL)
    # The first value of each unit, as earlier ones come last.
    first <- integer(n)
    first[rev(code)] <- rev(one$code)
    if (all(one$code == first[code])) {
      utils::type.convert(clean_text(one$values)[first], as.is = TRUE, na.strings = c("NA", ""))
    }
  })
  columns <- columns[lengths(columns) > 0L]
  if (length(columns) == 0L) return(NULL)
  names(columns) <- make.unique(c("unit", names(columns)))[-1L]
  data.frame(unit = levels(unit), columns, check.names = FALSE)
}

#' Line on which row `row` of the data stands
#' @noRd
file_line <- function(row, layout, columns) row + layout$skip + sum(columns$blank < row)

csv_time_unit <- function(layout, time_unit) {
  said <- layout$said
  if (is.null(time_unit)) return(if (is.na(said)) "s" else said)
  if (!is.na(said) && said != time_unit) {
    warn_about("time_unit", paste0("Column ", escape_braces(layout$label(layout$time)),
                                   " is read in {.val {time_unit}}, as {.arg time_unit} says."),
               i = "Its name says {.val {said}}.")
  }
  time_unit
}

# ---- Layout ------------------------------------------------------------------------

#' How the table is laid out, from its first lines
#'
#' @return `sep`, `dec`, `skip` (lines before the data), `n_fields`; numbers of columns:
#'   `time`, `unit`, `trial` (as `find_trial()` gives), `known` (those that may belong to the
#'   table of units); `said` (unit of time the header says, or NA), `names`, `label` (names
#'   a column in messages), `bom`.
#' @noRd
csv_layout <- function(file, head, about, sep, decimal_mark, header, fail) {
  lines <- head$lines
  # A last line that may have been cut off does not say how the table is laid out.
  if (isTRUE(head$open) && sum(!grepl("^\\s*(#|$)", lines)) > 2L) lines <- lines[-length(lines)]
  skip <- 0L
  while (skip < length(lines) && grepl("^\\s*(#|$)", lines[[skip + 1L]])) skip <- skip + 1L
  lines <- lines[seq_len(length(lines) - skip) + skip]
  lines <- lines[!grepl("^\\s*$", lines)]
  lines <- lines[seq_len(min(length(lines), 200L))]
  if (length(lines) == 0L) fail("it has no rows")

  if (is.null(sep)) {
    sep <- guess_separator(lines, decimal_mark)
    refuse_file_if(is.null(sep), file,
                   paste("it is no table: no separator (comma, semicolon, tab, bar,",
                         "space) cuts its first lines into two or more fields"),
                   "A table has a row for each spike, with its time and its unit.")
  } else {
    check_separator(sep)
    if (sep == " ") sep <- ""
  }
  refuse_if(sep == decimal_mark, "decimal_mark", "another character than the separator",
            "a comma, as it is")

  fields <- split_lines(lines, sep)
  first <- fields[[1L]]
  if (is.null(header)) header <- has_header(fields, decimal_mark)
  rows <- if (header) fields[-1L] else fields
  if (header) skip <- skip + 1L
  refuse_file_if(length(rows) == 0L, file,
                 sprintf("it has a header (%s) and no rows", some(first, 8L)))

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
    abort_ragged(file, bad, bad + skip, widths[[bad]], length(names), sep)
  }
  refuse_file_if(n_fields < 2L, file,
                 "it has one column: a table of spikes needs times and units",
                 "For the times of one unit use `spike_trains(time, \"name\")`.")

  at <- if (header) find_columns(names, about$time_column, about$unit_column, fail) else
    columns_by_content(rows, about, decimal_mark, fail)
  at$trial <- find_trial(names, about$trial_column, c(at$time, at$unit))
  label <- \(k) if (header && nzchar(names[[k]])) paste0("`", names[[k]], "`") else k
  check_head_times(file, vapply(rows, `[[`, character(1), at$time), label(at$time),
                   decimal_mark, skip)
  c(at, list(sep = sep, dec = decimal_mark, skip = skip, n_fields = n_fields,
             known = known_columns(rows, names, at), names = names, label = label,
             bom = head$bom))
}

check_separator <- function(sep) {
  check_string(sep, "sep")
  refuse_if(!grepl("^[ -~\t]$", sep) || grepl("[\"#[:alnum:]+-]", sep), "sep",
            "one character that stands between fields, such as \",\" or \"\\t\"", describe(sep))
}

#' Columns of which the first rows hold one value for each unit
#' @noRd
known_columns <- function(rows, names, at) {
  rest <- setdiff(which(nzchar(names)), c(at$time, at$unit, unlist(at$trial)))
  column <- \(k) vapply(rows, `[[`, "", k)
  unit <- do.call(paste, c(lapply(at$unit, column), sep = "\t"))
  one_value <- \(k) !anyDuplicated(unique(data.frame(unit, value = column(k)))$unit)
  Filter(one_value, rest)
}

#' The separator that cuts the lines into equally many fields, at least two
#'
#' Those that hardly occur inside a field go first; a comma may be part of a number.
#' @noRd
guess_separator <- function(lines, decimal_mark) {
  lines <- lines[seq_len(min(length(lines), 50L))]
  candidates <- setdiff(c("\t", ";", ",", "|", ""), decimal_mark)
  widths <- lapply(candidates, \(sep) lengths(split_lines(lines, sep)))
  even <- vapply(widths, \(w) {
    w[[1L]] >= 2L && all(w == w[[1L]]) ||
      length(w) > 1L && w[[2L]] >= 2L && w[[1L]] == w[[2L]] - 1L && all(w[-1L] == w[[2L]])
  }, logical(1))
  if (any(even)) return(candidates[[which(even)[[1L]]]])
  # Ragged rows are still a table when most lines agree; the error then names the row.
  most <- vapply(widths, \(w) sum(w >= 2L & w == w[[1L]]) / length(w), numeric(1))
  if (max(most) >= 0.5 && length(lines) > 1L) candidates[[which.max(most)]] else NULL
}

split_lines <- function(lines, sep) .Call(r_csv_fields, lines, separator_code(sep))

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
  if (all(first == "") || any(is_number_text(first, dec) & first != "")) return(FALSE)
  # A decimal comma is a number nobody has announced yet, not a name.
  !any(grepl(comma_number, first))
}

#' Columns without a header: the time is the numbers that look like times
#' @noRd
columns_by_content <- function(rows, about, dec, fail) {
  n <- length(rows[[1L]])
  given <- \(arg) if (!is.null(about[[arg]])) {
    pick_column(about[[arg]], rep("", n), arg, arg != "time_column")
  }
  trial <- if (!anyNA(about$trial_column)) given("trial_column")
  time <- given("time_column")
  unit <- given("unit_column")
  if (is.null(time)) {
    columns <- lapply(seq_len(n), \(k) vapply(rows, `[[`, character(1), k))
    numeric <- vapply(columns, \(v) all(is_number_text(v, dec)), logical(1))
    values <- lapply(columns, \(v) {
      suppressWarnings(as.double(if (dec == ",") sub(",", ".", v, fixed = TRUE) else v))
    })
    narrowed <- \(at, looks_like_time) {
      fits <- if (length(at) > 1L) at[vapply(values[at], looks_like_time, NA)]
      if (length(fits)) fits else at
    }
    time <- setdiff(which(numeric), c(trial, unit))
    time <- narrowed(time, \(v) any(v != round(v), na.rm = TRUE))
    time <- narrowed(time, \(v) {
      !is.unsorted(v[!is.na(v)]) && length(unique(v)) > length(v) / 2
    })
    comma <- which(vapply(columns, \(v) all(grepl(comma_number, v)), logical(1)))
    if (length(time) != 1L && length(comma)) abort_decimal_comma(columns[[comma[[1L]]]], fail)
    fail_if(length(time) != 1L, fail,
            sprintf("it has no header, and %s of its %d columns could be the times",
                    if (length(time)) length(time) else "none", n),
            "Say which one with `time_column` (and `unit_column`), by number.")
  }
  unit <- unit %||% setdiff(seq_len(n), c(time, trial))
  fail_if(length(unit) != 1L && is.null(about$unit_column), fail,
          sprintf("it has no header, and %d of its %d columns could be the units",
                  length(unit), n),
          "Say which one with `unit_column`, by number.")
  list(time = time, unit = unit, said = NA)
}

comma_number <- "^[-+]?[0-9]+,[0-9]+$"

#' @param text Numbers with a comma.
#' @noRd
abort_decimal_comma <- function(text, fail) {
  # 1,234 is a thousand to one person and one and a bit to another.
  fail_if(all(grepl("^[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+$", trimws(text))), fail,
          sprintf("its times hold commas, as in %s, which may part thousands or be decimal commas",
                  encodeString(text[[1L]], quote = "\"")),
          paste("Take them out of the file where they part thousands;",
                "say `decimal_mark = \",\"` only where they are decimal commas."))
  fail("its times are written with a decimal comma", "Say `decimal_mark = \",\"`.")
}

check_head_times <- function(file, text, column, dec, skip) {
  bad <- !is_number_text(text, dec)
  if (!any(bad)) return(invisible())
  first <- which(bad)[[1L]]
  comma <- text[bad & grepl("^[-+]?[0-9]+(,[0-9]+)+$", trimws(text))]
  if (dec == "." && text[[first]] %in% comma) {
    abort_decimal_comma(comma, failing(file))
  }
  abort_not_number(file, column, text[[first]], first, first + skip, dec)
}

abort_not_number <- function(file, column, text, row, line, dec) {
  abort_file(
    file, sprintf("column %s must hold times, but holds %s in row %s (line %s)", column,
                  encodeString(substr(text, 1L, 40L), quote = "\""),
                  commas(row), commas(line)),
    if (dec == "." && grepl("^[-+]?[0-9]+(,[0-9]+)+([.][0-9]*)?$", text)) {
      "Write numbers without a comma, or all with a decimal comma and `decimal_mark = \",\"`."
    } else {
      "Name another column with `time_column`, or drop these rows first."
    }
  )
}

abort_ragged <- function(file, row, line, n, expected, sep) {
  abort_file(
    file, sprintf("row %s (line %s) has %s %s, not %s", commas(row),
                  commas(line), n, if (n == 1L) "field" else "fields",
                  expected),
    if (n > expected && sep == ",") {
      "A field with a comma in it must be quoted, also a number with a decimal comma."
    } else {
      "Each row needs the same number of fields."
    }
  )
}

# ---- Data --------------------------------------------------------------------------

#' Times and units of all rows, or an error at the first row that is none
#'
#' @return `time` (NaN where missing), and how many are not finite (`odd`); `text`, for each
#'   column of text the `code` of each row among the distinct `values`; `blank`, for each
#'   blank line the number of rows above it; `open`, NULL, or of a last line without a line
#'   end its number, its text, and whether it is a row (`sound`).
#' @param collect Gives what collects column `k` of text, see `text_column()`.
#' @noRd
csv_columns <- function(file, layout, text, collect = \(k) text_column(k %in% layout$known)) {
  how <- list(sep = separator_code(layout$sep), dec = utf8ToInt(layout$dec),
              fields = layout$n_fields, time = layout$time, text = text)
  time <- list()
  columns <- lapply(text, collect)
  blank <- list()
  lines <- 0
  rows <- 0
  odd <- 0
  open <- NULL
  each_block(file, f = \(bytes, size) {
    first <- 1
    if (lines < layout$skip || (lines == 0 && layout$bom)) {
      first <- head_end(bytes, size, layout) + 1
      lines <<- layout$skip
    }
    got <- .Call(r_csv_rows, bytes, first, size, how)
    blank[[length(blank) + 1L]] <<- got$blank + rows
    rows <<- rows + got$n
    lines <<- lines + got$lines
    odd <<- odd + got$odd
    sound <- got$fault[[1L]] == 0
    # Where rows have any number of fields, as in Axion's lists, a last line is never cut short.
    if (layout$n_fields > 0 && !ends_line(bytes[[size]]) && length(got$blank) < got$lines) {
      open <<- list(line = lines, sound = sound, text = bytes[first:size])
    }
    if (!sound && (is.null(open) || rows == 0)) abort_row(file, layout, got, rows + 1, lines)
    time[[length(time) + 1L]] <<- got$time
    Map(\(column, text) column$add(text), columns, got$text)
  })
  list(time = as.double(unlist(time)), odd = odd, text = lapply(columns, \(one) one$all()),
       blank = as.double(unlist(blank)), open = open)
}

# ---- A last line without its end -------------------------------------------------------

#' The rows without a last one that was cut off, which is said
#'
#' A file that is still being written, or was copied only in part, may end within a line.
#' What can be known of such a line:
#' * it is no row: it was cut off, and is left out;
#' * its last field is a unit that no other row has, and begins the name of one that others
#'   have: it was cut off, and is left out, lest it make a unit that there is not;
#' * its last field is a time before the one above it, in a table in the order of time: the
#'   number was cut off, and the row is left out;
#' * its last field is a time, a unit that no other row has, or one whose name begins the
#'   name of another one: it may have been cut off, and the row stays;
#' * anything else: the row is whole.
#' @param columns What `csv_columns()` gives.
#' @noRd
judge_open_line <- function(file, columns, layout, text) {
  open <- columns$open
  n <- length(columns$time)
  if (is.null(open) || n < 2L) return(columns)
  fate <- if (!open$sound) "no row" else if (open$text[[length(open$text)]] == as.raw(34)) {
    "whole"   # a quote was closed
  } else if (layout$n_fields == layout$time) {
    open_time(columns$time)
  } else if (layout$n_fields %in% c(layout$unit, layout$trial$trial)) {
    one <- columns$text[[match(layout$n_fields, text)]]
    open_name(one$values[one$code[[n]]], one$values[unique(one$code[-n])])
  } else {
    "whole"
  }
  say_open_line(file, open, fate)
  if (open$sound && startsWith(fate, "no")) without_last_row(columns) else columns
}

open_time <- function(time) {
  n <- length(time)
  if (!is.finite(time[[n]])) return("no row")
  if (time[[n]] < time[[n - 1L]] && !is.unsorted(time[-n])) "no time" else "may be cut"
}

#' @param name Of the last line; `others`, those of all others.
#' @noRd
open_name <- function(name, others) {
  begins <- any(startsWith(others, name) & others != name)
  if (name %in% others) {
    if (begins) "may be cut" else "whole"
  } else if (begins) "no unit" else "may be cut"
}

say_open_line <- function(file, open, fate, call = user_frame()) {
  if (fate == "whole") return(invisible())
  shown <- encodeString(substr(clean_text(rawToChar(open$text)), 1L, 60L), quote = "\"")
  line <- sprintf("The last line of %s, line %s, has no line end", basename(file),
                  commas(open$line))
  if (fate == "may be cut") {
    info("file", escape_braces(sprintf("%s: %s. It is read as it is, and may have been cut off.",
                                       line, shown)))
    return(invisible())
  }
  why <- c(`no row` = "is no row", `no unit` = "ends with the beginning of the name of a unit",
           `no time` = "ends with a time before that of the line above")[[fate]]
  warn_about("file", escape_braces(sprintf("%s and %s: %s. It was cut off, and is left out.", line,
                                           why, shown)),
             i = "If it is whole, write a line end after it.", call = call)
}

without_last_row <- function(columns) {
  columns$odd <- columns$odd - !is.finite(columns$time[[length(columns$time)]])
  columns$time <- columns$time[-length(columns$time)]
  columns$text <- lapply(columns$text, \(one) {
    if (is.null(one)) return(NULL)
    one$code <- one$code[-length(one$code)]
    used <- sort(unique(one$code))
    list(code = match(one$code, used), values = one$values[used])
  })
  columns
}

separator_code <- function(sep) if (sep == "") 0L else utf8ToInt(sep)

# A column of more values than this says nothing of units.
most_values <- 1e5

#' A column of text that comes in pieces, kept as codes
#' @param few Whether it is of no use, and let go, once it has too many values.
#' @noRd
text_column <- function(few) {
  values <- character()
  codes <- list()
  lost <- FALSE
  list(
    add = \(text) {
      if (lost) return()
      values <<- unique(c(values, text$values))
      lost <<- few && length(values) > most_values
      codes[[length(codes) + 1L]] <<- match(text$values, values)[text$code]
      if (lost) codes <<- list()
    },
    all = \() if (!lost) list(code = as.integer(unlist(codes)), values = values)
  )
}

#' @param got What was found: the fault and the number of fields of row `row`.
#' @noRd
abort_row <- function(file, layout, got, row, line) {
  where <- sprintf("row %s (line %s)", commas(row), commas(line))
  switch(
    got$fault[[1L]],
    abort_file(file, sprintf("a quote is opened in %s and not closed there", where),
               "Close the quote on the same line."),
    abort_file(file, sprintf("text follows a quoted field in %s", where),
               "A quote inside a quoted field must be written twice."),
    abort_file(file, sprintf("it starts as a table, but holds binary data in line %s",
                             commas(line))),
    abort_not_number(file, layout$label(layout$time), clean_text(got$found), row, line,
                     layout$dec),
    abort_ragged(file, row, line, got$fault[[2L]], layout$n_fields, layout$sep)
  )
}
