# What all of empirical dynamic modelling works on: the user's data frame, checked, as
# points in a state space, the rows of library and prediction, and the target of each row.

#' Check what the user gave and prepare it
#'
#' Rows are those of `x`, from 1. A *segment* is a stretch of rows that follow each other
#' in time; without `segments` all rows are one. Neither delay vectors nor targets reach
#' out of a segment, and delay vectors of the library not out of a pair of `lib` either.
#'
#' @param E,embedded Coordinates of a point are `E` lags of each column, or, `embedded`,
#'   the columns themselves.
#' @param lib,pred,valid_lib,segments,no_time As the user gave them.
#' @param ignore_nan Whether rows that miss a coordinate are left out; if not, they are an
#'   error.
#' @param targets Whether `target` may have several names, of which the first is predicted.
#' @return A list:
#'   * `points`: delay vectors of all rows, as the compiled code takes them; points_matrix()
#'     writes them out. `dims`, how many coordinates they have; `complete`, TRUE for rows
#'     that have all; `reach`, how many of each row are there, from the first on
#'   * `lib`: rows with all coordinates and with a row for their target; the target itself
#'     may be NA. `all_lib`, the same with those that `valid_lib` leaves out
#'   * `pred`: rows with all coordinates, to predict from, in the order of the pairs: not
#'     increasing where these are not, and twice where they overlap
#'   * `lib_pairs`, `pred_pairs` (lists of rows `from` and `to`) and `valid` (TRUE or FALSE
#'     for each row), the arguments checked
#'   * `target`: doubles [rows], the target `Tp` rows later in the segment, or NA
#'   * `frame`: data frame of the time column and `Observations`, what predictions are
#'     returned next to, and `place`, the row in it of the prediction from each of `pred`
#'   * `any`: `lib`, `pred` and `place` with rows of which a coordinate is missing
#'   * `observed` (doubles, the target at each row), `first` and `last` (of the segment of
#'     each row), `time`, `time_name`, `columns`, `target_name`, `targets` (all names that
#'     `target` has), `E`, `tau`, `Tp`
#' @noRd
edm_data <- function(x, columns = NULL, target = NULL, lib = NULL, pred = NULL, E = NULL,
                     tau = -1, Tp = 1, embedded = FALSE, valid_lib = NULL, segments = NULL,
                     no_time = FALSE, ignore_nan = TRUE, targets = FALSE) {
  ignore_nan <- check_flag(ignore_nan, "ignore_nan")
  series <- edm_series(x, columns, target, segments, no_time, targets)
  n <- length(series$first)
  embedded <- check_flag(embedded, "embedded")
  E <- edm_dimension(E, embedded, length(series$columns))
  tau <- edm_shift(tau, "tau")
  Tp <- edm_shift(Tp, "Tp")
  refuse_if(tau == 0 && !embedded && E > 1, "tau", "a lag in rows other than 0", "0",
            "`tau = -1` takes each row and the ones before it.")
  reach <- if (embedded) 0L else as.double(tau) * (E - 1L)
  lags <- if (embedded) 0 else as.double(tau) * (seq_len(E) - 1L)
  check_room(n, length(lags) * length(series$values), "E", "smaller")
  points <- list(values = series$values, lags = lags, first = series$first, last = series$last)
  dims <- length(lags) * length(series$values)
  reach_of <- .Call(r_edm_reach, points)
  complete <- reach_of == dims
  valid <- edm_mask(valid_lib, n)
  only_valid <- \(rows) if (is.null(valid_lib)) rows else rows[valid[rows]]
  lib <- edm_pairs(lib, "lib", n)
  pred <- edm_pairs(pred, "pred", n)
  rows <- library_rows(lib, reach, Tp, embedded, series)
  library <- kept(rows, complete[rows])
  windows <- prediction_windows(pred, reach, series)
  out <- prediction_frame(windows, Tp, series)
  if (!ignore_nan) check_complete(c(rows, out$from), points_matrix(points), series)
  keep <- complete[out$from]
  c(
    list(points = points, dims = dims, complete = complete, reach = reach_of,
         lib = only_valid(library), all_lib = library, pred = kept(out$from, keep),
         lib_pairs = lib, pred_pairs = pred, valid = valid,
         target = shifted(series$observed, Tp, series), frame = out$frame,
         place = kept(out$place, keep),
         any = list(lib = only_valid(rows), pred = out$from, place = out$place),
         E = E, tau = tau, Tp = Tp, embedded = embedded),
    series[c("observed", "first", "last", "time", "time_name", "columns", "target_name", "targets")]
  )
}

#' Delay vectors as a matrix \[rows, dims\], NA where a lag leaves the segment
#' @noRd
points_matrix <- function(points) .Call(r_edm_points, points)

#' Stop where a row of library or prediction misses a coordinate
#' @noRd
check_complete <- function(rows, points, series) {
  missing <- which(is.na(points[rows, , drop = FALSE]), arr.ind = TRUE)
  if (nrow(missing) == 0L) return(invisible())
  first <- missing[order(rows[missing[, 1L]], missing[, 2L])[[1L]], ]
  column <- series$columns[[ceiling(first[[2L]] * length(series$columns) / ncol(points))]]
  abort_arg("ignore_nan", "TRUE where a row of `lib` or `pred` misses a coordinate",
            sprintf("FALSE, and row %d needs a value of \"%s\" that is missing",
                    rows[[first[[1L]]]], column),
            "With `ignore_nan = TRUE` such rows are left out.")
}

#' Stop where the library has no point
#'
#' @param given Whether the user could give `lib`.
#' @noRd
check_library <- function(data, given = TRUE) {
  n <- length(data$lib)
  refuse_if(n == 0L && length(data$all_lib), "valid_lib",
            "TRUE for at least one row that can be in the library",
            sprintf("FALSE for all %s of them", commas(length(data$all_lib))))
  if (n == 0L) {
    has <- "with at least one complete delay vector and a row for its target"
    rows <- sum(data$lib_pairs$to - data$lib_pairs$from + 1L)
    abort_arg(if (given) "lib" else "x", paste(if (given) "rows" else "a data frame", has),
              paste(counted(rows, "row"), "without any"),
              "The rows may be fewer than a delay vector takes, or hold missing values.")
  }
  invisible(data)
}

#' The number of neighbours that a library has: `knn`, or all its points with a warning
#' @noRd
library_knn <- function(data, knn) {
  check_library(data)
  n <- length(data$lib)
  if (knn <= n) return(knn)
  warn_about("knn", "The library has {counted(n, 'point')}: all of them are neighbours.",
             x = "`knn` is {commas(knn)}.", i = "Give more rows, or a smaller `E` or `knn`.",
             call = user_frame())
  n
}

# ---- Series --------------------------------------------------------------------------

#' The time, the columns and the target of a data frame
#' @noRd
edm_series <- function(x, columns, target, segments, no_time, targets) {
  no_time <- check_flag(no_time, "no_time")
  binned <- table_of_bins(x, segments)
  x <- table_of_series(binned$x, no_time)
  segments <- binned$segments
  check_frame(x)
  n <- .row_names_info(x, 2L)
  ends <- edm_segments(segments, x, n)
  data_names <- if (no_time) names(x) else names(x)[-1L]
  if (rlang::is_string(segments) && n > 1L) data_names <- setdiff(data_names, segments)
  refuse_if(length(data_names) == 0L, "x", "a data frame with a column besides the time",
            describe(x), "Without a column of times, `no_time = TRUE`.")
  columns <- edm_names(columns, data_names, "columns")
  target <- if (is.null(target)) columns[[1L]] else edm_names(target, data_names, "target")
  refuse_if(length(target) != 1L && !targets, "target", "the name of one column",
            describe(target))
  time <- if (no_time) seq_len(n) else edm_time(.subset2(x, 1L), n)
  check_edm_times(time, ends)
  values <- lapply(columns, \(name) edm_numbers(x, name, "columns", n))
  known <- match(target[[1L]], columns, 0L)
  observed <- if (known) values[[known]] else edm_numbers(x, target[[1L]], "target", n)
  c(ends, list(values = values, observed = observed, time = time,
               time_name = if (no_time) "Time" else names(x)[[1L]], columns = columns,
               target_name = target[[1L]], targets = target))
}

#' Time series of R (`ts`) and of the packages zoo and xts as a table, their times first
#' @noRd
table_of_series <- function(x, no_time) {
  if (!inherits(x, c("ts", "zoo"))) return(x)
  names <- colnames(x) %||% (if (NCOL(x) == 1L) "x" else paste0("V", seq_len(NCOL(x))))
  table <- as.data.frame(matrix(as.vector(x), NROW(x), dimnames = list(NULL, names)))
  if (no_time) return(table)
  time <- if (inherits(x, "ts")) as.double(stats::time(x)) else attr(x, "index", exact = TRUE)
  cbind(data.frame(time = time), table)
}

#' A data frame as R makes them, with names that can be told apart and shown
#' @noRd
check_frame <- function(x) {
  refuse_if(is.matrix(x), "x", "a data frame, its first column the time",
            sprintf("a matrix of %d rows and %d columns", nrow(x), ncol(x)),
            "`as.data.frame(x)` makes one, with `no_time = TRUE` if no column is the time.")
  if (!is.data.frame(x)) {
    hint <- if (is.numeric(x)) "`data.frame(time = seq_along(x), x = x)` makes one of a series."
    abort_arg("x", "a data frame, its first column the time", describe(x), hint)
  }
  if (nrow(x) == 0L) abort_arg("x", "a data frame with rows", "without any")
  names <- names(x)
  refuse_if(length(names) != length(x) || anyNA(names), "x",
            "a data frame with a name for each column", "without some of them")
  refuse_if(!all(is_text(names)), "x", "a data frame whose names are text",
            paste("one with the name", shown_bytes(names[!is_text(names)][[1L]])),
            "`names(x) <- iconv(names(x), \"latin1\", \"UTF-8\")` mends names in Latin-1.")
  refuse_if(anyDuplicated(names), "x", "a data frame with a different name for each column",
            sprintf("one with \"%s\" twice", names[[anyDuplicated(names)]]))
}

#' Whether strings are what their encoding says
#' @noRd
is_text <- function(x) Encoding(x) == "latin1" | validUTF8(x)

shown_bytes <- function(x) paste0("\"", iconv(x, "latin1", "ASCII", sub = "byte"), "\"")

#' The time of each row, of any class that has one value a row
#' @noRd
edm_time <- function(time, n) {
  if (inherits(time, "POSIXlt")) time <- as.POSIXct(time)
  if (!is.atomic(time) || is.raw(time) || !is.null(dim(time)) || length(time) != n) {
    is <- if (is.list(time)) "a list" else if (is.null(dim(time))) describe(time) else "a matrix"
    abort_arg("x", "a data frame whose first column, the time, has one value a row",
              paste("one where that is", is), "Without a column of times, `no_time = TRUE`.")
  }
  time
}

#' Names of columns; one string may hold several, parted by commas or blanks
#' @noRd
edm_names <- function(names, among, arg) {
  if (is.null(names)) {
    if (length(among) == 1L) return(among)
    abort_arg(arg, "names of columns of `x`", "missing", paste0("There are ", some(among), "."))
  }
  refuse_if(!is.character(names) || length(names) == 0L || anyNA(names), arg,
            "names of columns of `x`", describe(names))
  refuse_if(!all(is_text(names)), arg, "names of columns of `x`",
            shown_bytes(names[!is_text(names)][[1L]]),
            "It is no text in UTF-8: `iconv()` makes it one.")
  names <- enc2utf8(as.vector(names))
  if (length(names) == 1L && !names %in% among) {
    names <- trimws(strsplit(names, if (grepl(",", names)) "," else "[[:space:]]+")[[1L]])
    names <- names[nzchar(names)]
  }
  known <- names %in% among
  if (!all(known) || length(names) == 0L) {
    unknown <- if (length(names)) names[!known][[1L]] else ""
    near <- among[[which.min(utils::adist(unknown, among, ignore.case = TRUE))]]
    abort_arg(arg, "names of columns of `x`", sprintf("\"%s\", which is none", unknown),
              sprintf("Did you mean \"%s\"?", near))
  }
  names
}

#' Numbers of a column, with NA for all that is not finite
#' @noRd
edm_numbers <- function(x, name, arg, rows) {
  values <- .subset2(x, name)
  # A time series and I() are numbers all the same.
  if (inherits(values, c("ts", "AsIs"))) values <- unclass(values)
  if (!is_plain_numeric(values) || !is.null(dim(values)) || length(values) != rows) {
    kind <- if (!is.null(dim(values))) "a matrix" else if (is.object(values)) {
      paste("of class", class(values)[[1L]])
    } else {
      kind_of(values)
    }
    abort_arg(arg, "names of numeric columns", sprintf("\"%s\", which is %s", name, kind))
  }
  values <- as.double(values)
  most <- max(values, -min(values), 0)
  if (!is.finite(most)) {
    values[!is.finite(values)] <- NA_real_
    most <- max(abs(values), 0, na.rm = TRUE)
  }
  refuse_if(most > edm_largest || most > 0 && most < 1 / edm_largest, arg,
            sprintf("columns of numbers from %g to %g in size", 1 / edm_largest, edm_largest),
            sprintf("\"%s\", the largest of which is %g", name, most),
            "Squares of others are beyond what a computer holds: take another unit.")
  values
}

#' Numbers whose squares, and sums of them, are within the range of a double
#' @noRd
edm_largest <- 1e140

#' First and last row of the segment of each row
#' @noRd
edm_segments <- function(segments, x, n) {
  if (is.null(segments)) return(list(first = rep(1L, n), last = rep(n, n)))
  if (rlang::is_string(segments) && n > 1L) {
    segments <- x[[edm_names(segments, names(x), "segments")]]
  }
  if (!is.atomic(segments) || length(segments) != n || anyNA(segments)) {
    is <- if (is.atomic(segments) && anyNA(segments)) "missing somewhere" else describe(segments)
    abort_arg("segments", sprintf("a column of `x` or a vector of length %d", n), is)
  }
  runs <- rle(as.integer(factor(segments)))$lengths
  last <- cumsum(runs)
  list(first = rep(last - runs + 1L, runs), last = rep(last, runs))
}

#' Tell of a time that several rows in a row have, and stop where it comes back later
#'
#' The clock may be coarser than the rows, such as years where these are months. But where a
#' time comes back after others, trials are stacked.
#' @noRd
check_edm_times <- function(time, ends) {
  # Numbers that rise are all different; only where they do not is the search worth its time.
  if (!is.character(time) && isFALSE(is.unsorted(unclass(time), strictly = TRUE))) {
    return(invisible())
  }
  one <- one_segment(ends)
  again <- which(duplicated(if (one) time else data.frame(ends$first, time)) & !is.na(time))
  if (length(again) == 0L) return(invisible())
  same <- time[again - 1L] == time[again]
  back <- again[is.na(same) | !same]
  refuse_if(length(back), "x", "a data frame whose times do not come back",
            sprintf("one with the time %s again in row %d", format(time[[back[[1L]]]]),
                    back[[1L]]),
            paste("For trials, `segments` names the column that tells them apart. If the",
                  "first column is no time, `no_time = TRUE` takes rows as steps."))
  text <- sprintf("Some rows have the same time: row %d has %s, as the row before it.",
                  again[[1L]], format(time[[again[[1L]]]]))
  info("times", escape_braces(text), "Rows count as steps, in the order they have.")
}

#' Prepare the same data several times, and tell of its times but once
#' @noRd
times_told_once <- function(expr) {
  told <- FALSE
  withCallingHandlers(expr, synfire_message_times = \(m) {
    if (told) invokeRestart("muffleMessage")
    told <<- TRUE
  })
}

#' Values `by` rows later in the same segment
#' @noRd
shifted <- function(values, by, ends) {
  n <- length(values)
  if (!one_segment(ends)) {
    row <- seq_len(n) + by
    row[row < ends$first | row > ends$last] <- NA
    return(values[row])
  }
  gone <- rep(values[NA_integer_], min(abs(by), n))
  kept <- between(1L + max(by, 0L), n + min(by, 0L))
  if (by < 0) c(gone, values[kept]) else c(values[kept], gone)
}

#' Whether all rows are in one segment, as most often
#' @noRd
one_segment <- function(ends) ends$last[[1L]] == length(ends$last)

# ---- Arguments -----------------------------------------------------------------------

edm_dimension <- function(E, embedded, columns) {
  if (embedded) {
    refuse_if(!is.null(E) && check_count(E, "E") != columns, "E",
              "the number of columns where these are `embedded`, or left out",
              sprintf("%d with %d columns", as.integer(E), columns))
    return(columns)
  }
  refuse_if(is.null(E), "E", "given, the number of lags", "missing",
            "`embed_dimension()` finds one that predicts well.")
  as.integer(check_count(E, "E", max = 1000))
}

#' A whole number of rows of either sign
#' @noRd
edm_shift <- function(rows, arg) as.integer(check_count(rows, arg, min = -1e6, max = 1e6))

#' The `knn` argument: `default` for NULL and 0
#' @noRd
edm_knn <- function(knn, default) {
  if (is.null(knn)) return(as.integer(default))
  knn <- check_count(knn, "knn", min = 0, max = 2^30)
  as.integer(if (knn == 0) default else knn)
}

edm_exclusion <- function(exclusion_radius) {
  as.integer(check_count(exclusion_radius, "exclusion_radius", min = 0, max = 2^30))
}

edm_mask <- function(valid_lib, n) {
  if (is.null(valid_lib)) return(rep(TRUE, n))
  if (!is.logical(valid_lib) || length(valid_lib) != n || anyNA(valid_lib)) {
    is <- if (is.logical(valid_lib) && anyNA(valid_lib)) "missing somewhere"
    abort_arg("valid_lib", sprintf("TRUE or FALSE for each of the %d rows", n),
              is %||% describe(valid_lib))
  }
  valid_lib
}

#' Pairs of rows, `from` and `to`, from numbers or from a string of numbers
#' @noRd
edm_pairs <- function(rows, arg, n) {
  if (is.null(rows)) return(list(from = 1L, to = n))
  must <- "pairs of rows, c(first, last) or c(first, last, first, last)"
  given <- rows
  if (rlang::is_string(rows)) rows <- numbers_of_text(rows)
  refuse_if(!is_plain_numeric(rows) || length(rows) == 0L || length(rows) %% 2L != 0L ||
              anyNA(rows) || any(rows != round(rows)), arg, must, describe(given))
  from <- rows[c(TRUE, FALSE)]
  to <- rows[c(FALSE, TRUE)]
  if (any(from > to)) {
    k <- which(from > to)[[1L]]
    abort_arg(arg, must, sprintf("from %s to %s", exact_row(from[[k]]), exact_row(to[[k]])),
              "The first row comes first.")
  }
  refuse_if(any(rows < 1 | rows > n), arg, sprintf("rows of `x`, from 1 to %d", n),
            paste("row", exact_row(rows[rows < 1 | rows > n][[1L]])))
  list(from = as.integer(from), to = as.integer(to))
}

#' Numbers that are given as text, as in rEDM
#' @noRd
numbers_of_text <- function(text) {
  suppressWarnings(as.numeric(strsplit(trimws(text), "[,[:space:]]+")[[1L]]))
}

exact_row <- function(row) format(row, scientific = FALSE, trim = TRUE)

# ---- Rows ----------------------------------------------------------------------------

#' Cut pairs of rows, in any order, where a segment ends
#' @noRd
cut_pairs <- function(pairs, series) {
  if (one_segment(series)) return(pairs)
  first <- findInterval(pairs$from, unique(series$first))
  parts <- findInterval(pairs$to, unique(series$first)) - first + 1L
  segment <- sequence(parts, first)
  list(from = pmax.int(rep(pairs$from, parts), unique(series$first)[segment]),
       to = pmin.int(rep(pairs$to, parts), unique(series$last)[segment]))
}

#' Rows in increasing order, each once, and where each of `rows` is among them
#' @noRd
in_order <- function(rows) {
  if (!is.unsorted(rows, strictly = TRUE)) return(list(rows = rows, at = seq_along(rows)))
  once <- sort(unique(rows))
  list(rows = once, at = match(rows, once))
}

#' The elements of x that are to stay; as a rule all of them, which need no copy
#' @noRd
kept <- function(x, keep) if (all(keep)) x else x[keep]

between <- function(from, to) {
  keep <- from <= to
  if (length(keep) == 1L && keep) return(from:to)
  sequence(to[keep] - from[keep] + 1L, from[keep])
}

#' Rows of the library: delay vectors do not leave their pair, nor targets the segment
#'
#' The rest is as in rEDM, as numbers can only be the same if the library is. With a
#' positive `Tp` the pair given last ends `Tp` rows earlier, while targets may lie after the
#' other ones; with a negative `Tp` each begins `-Tp - 1` rows after its first delay vector.
#' A row in several pairs is there once.
#' @noRd
library_rows <- function(pairs, reach, Tp, embedded, series) {
  pairs <- cut_pairs(pairs, series)
  lead <- max(-reach, 0L) + if (Tp < 0L && !embedded) -Tp - 1L else 0L
  tail <- max(reach, 0L) + max(Tp, 0L) * (seq_along(pairs$to) == length(pairs$to))
  rows <- between(pmax.int(pairs$from + lead, series$first[pairs$from] - Tp),
                  pmin.int(pairs$to - tail, series$last[pairs$from] - Tp))
  if (length(pairs$from) == 1L) rows else in_order(rows)$rows
}

#' Pairs of rows to predict from, without those at the ends of a segment where the delay
#' vector leaves it
#' @noRd
prediction_windows <- function(pairs, reach, series) {
  pairs <- cut_pairs(pairs, series)
  from <- pmax.int(pairs$from, series$first[pairs$from] + max(-reach, 0L))
  to <- pmin.int(pairs$to, series$last[pairs$to] - max(reach, 0L))
  list(from = from[from <= to], to = to[from <= to])
}

#' The table predictions are returned in: for each window its rows and those `Tp` after
#' (before, if negative)
#' @noRd
prediction_frame <- function(windows, Tp, series) {
  sizes <- windows$to - windows$from + 1L
  shown <- sizes + abs(Tp)
  from <- windows$from + min(Tp, 0L)
  before <- cumsum(c(0L, shown))[seq_along(sizes)]
  first <- series$first[windows$from]
  last <- series$last[windows$from]
  # Only the first and the last rows of a window can be beyond its segment.
  early <- pmax.int(first - from, 0L)
  late <- pmax.int(from + shown - 1L - last, 0L)
  outside <- c(between(before + 1L, before + early),
               between(before + shown - late + 1L, before + shown))
  window <- rep(rep(seq_along(sizes), 2L), c(early, late))
  row <- between(from, from + shown - 1L)
  time <- times_at(series$time, row, outside, first[window], last[window])
  row[outside] <- NA
  frame <- list(time, series$observed[row])
  names(frame) <- c(series$time_name, "Observations")
  list(frame = new_frame(frame, length(row)), from = between(windows$from, windows$to),
       place = between(before + 1L + max(Tp, 0L), before + sizes + max(Tp, 0L)))
}

#' Times of rows, continued by the first step of a segment beyond its ends
#'
#' @param outside Which rows are beyond their segment, whose ends are `first` and `last`.
#' @noRd
times_at <- function(time, row, outside, first, last) {
  if (length(outside) == 0L) return(time[row])
  if (is.factor(time)) time <- as.character(time)
  later <- row[outside] > last
  edge <- ifelse(later, last, first)
  steps <- row[outside] - edge
  second <- time[pmin.int(first + 1L, last)]
  row[outside] <- edge
  out <- time[row]
  out[outside] <- if (is.character(time)) {
    text_beyond(time[edge], time[first], second, steps)
  } else {
    beyond <- time[edge] + (second - time[first]) * steps
    if (is.integer(time)) as.integer(beyond) else beyond
  }
  out
}

#' Times as text: dates go on, with or without a time of day; what else it may be does not
#' @noRd
text_beyond <- function(edge, begin, second, steps) {
  for (form in c("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")) {
    parse <- \(text) as.POSIXct(strptime(text, form, tz = "UTC"))
    all <- c(edge, begin, second)
    if (!identical(format(parse(all), form), all)) next
    days <- difftime(parse(second), parse(begin), units = "days")
    return(format(parse(edge) + days * steps, form))
  }
  rep(NA_character_, length(steps))
}

# ---- The device ----------------------------------------------------------------------

#' The device of a call, and the GPUs (from 0)
#'
#' @param device,gpus As the user gave them; `device` is already one of the choices.
#' @param seconds Seconds that the work takes on the CPU, about.
#' @return A list: `device`, `"cpu"` or `"gpu"`, and `gpus`. See `gpus_of()`.
#' @noRd
edm_place <- function(device, gpus, seconds) {
  gpus <- check_gpus(gpus, device)
  settle_place(device, gpus, seconds)
}
