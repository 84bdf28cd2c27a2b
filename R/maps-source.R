# Series that are mapped: a matrix, a data frame, or a data set of an HDF5 file, all read
# in blocks of columns.

# Numbers held at once while a file is looked through.
source_block <- 2^20

#' Where series come from
#'
#' @param x Numeric matrix, steps x series; data frame of numeric columns; or the path of an
#'   HDF5 file with such a matrix, rows being steps as R sees them. Where a data set `names`
#'   lies next to it, which has a name for each column or else for each row, these
#'   are the series.
#' @param dataset Name of the data set in the file, or `NULL` for the only one it can be.
#' @param no_time Whether the first column of a data frame is a series, not the time.
#' @return `n` series of `steps` steps, their `names`, `read(columns)` which gives a double
#'   matrix steps x length(columns), and `id()`, a hash of all values and names: the same
#'   wherever the same series lie.
#' @noRd
map_source <- function(x, dataset = NULL, no_time = FALSE) {
  no_time <- check_flag(no_time, "no_time")
  refuse_if(no_time && !is.data.frame(x), "no_time", "left out when `x` is no data frame", "TRUE",
            "A matrix, and a data set in a file, hold series alone.")
  refuse_if(!is.null(dataset) && !is.character(x), "dataset", "left out when `x` is no file",
            describe(dataset))
  refuse_if(inherits(x, "spike_trains"), "x",
            "series: a matrix, a data frame or the path of an HDF5 file",
            "spike trains, which are times",
            "`bin_spikes(x, bin_size)` counts the spikes in bins.")
  if (inherits(x, c("ts", "zoo"))) x <- as.matrix(table_of_series(x, TRUE))
  source <- if (is.character(x) && is.null(dim(x)) && length(x) == 1L) {
    file_source(x, dataset)
  } else if (is.data.frame(x)) {
    frame_source(x, no_time)
  } else {
    matrix_source(x)
  }
  source$names <- source$names %||% paste0("V", seq_len(source$n))
  check_series_names(source$names)
  # Their product may be beyond the integers.
  source$n <- as.double(source$n)
  source$steps <- as.double(source$steps)
  source$id <- function() hash_source(source)
  source
}

matrix_source <- function(x) {
  refuse_if(!is.numeric(x) || length(dim(x)) != 2L || inherits(x, "integer64"), "x",
            paste("a numeric matrix of time steps (rows) and series (columns),",
                  "a data frame, or the path of an HDF5 file"), describe(x))
  # A sum is finite except for infinite values, missing ones and sums beyond all doubles.
  doubtful <- which(!is.finite(colSums(x)))
  for (column in doubtful) check_finite(x[, column], source_name(colnames(x), column))
  # A copy of many series takes as long as some of their maps.
  plain <- is.double(x) && is.null(dimnames(x))
  read <- function(columns) {
    if (plain && length(columns) == ncol(x) && !is.unsorted(columns, strictly = TRUE)) return(x)
    block <- x[, columns, drop = FALSE]
    dimnames(block) <- NULL
    if (!is.double(block)) storage.mode(block) <- "double"
    block
  }
  # Who needs all columns at once may take them as they are: a copy of a brain takes long.
  list(n = ncol(x), steps = nrow(x), names = colnames(x), whole = if (is.double(x)) x, read = read)
}

frame_source <- function(x, no_time) {
  if (!no_time) x <- without_time(x)
  fits <- \(column) is.numeric(column) && is.null(dim(column)) && !inherits(column, "integer64")
  other <- names(x)[!vapply(x, fits, NA)]
  refuse_if(length(other) > 0L, "x", "a data frame of numeric columns, one a series",
            paste("not numeric in", some(dQuote(other, FALSE))))
  for (name in names(x)) check_finite(x[[name]], name)
  list(n = length(x), steps = nrow(x), names = names(x), read = function(columns) {
    matrix(as.double(unlist(x[columns], use.names = FALSE)), nrow(x))
  })
}

#' The series of a data frame, whose first column is the time, as it is in `simplex()`
#' @noRd
without_time <- function(x) {
  refuse_if(length(x) < 2L, "x", "a data frame of the time and one series or more", describe(x),
            "Without a column of times, `no_time = TRUE`.")
  time <- edm_time(x[[1L]], nrow(x))
  refuse_if(anyNA(time) || is.unsorted(time, strictly = TRUE), "x",
            "a data frame whose first column, the time, increases from row to row",
            sprintf("one where `%s` does not", names(x)[[1L]]),
            "If it is a series, say `no_time = TRUE`.")
  info("time", escape_braces(sprintf("The first column of `x`, `%s`, is the time; series: %s.",
                                          names(x)[[1L]], some(names(x)[-1L]))))
  x[-1L]
}

check_finite <- function(column, name) {
  infinite <- is.infinite(column)
  refuse_if(any(infinite), "x", "finite, or NA",
            sprintf("%g in series \"%s\", step %s", column[infinite][[1L]], name,
                    commas(which(infinite)[[1L]])))
}

check_series_names <- function(names) {
  refuse_if(anyNA(names) || any(names == ""), "x", "of series that all have a name, or none",
            sprintf("without a name in column %s",
                    commas(which(is.na(names) | names == "")[[1L]])))
  refuse_if(anyDuplicated(names), "x", "of series with different names",
            paste("one with several series", dQuote(names[duplicated(names)][[1L]], FALSE)))
}

source_name <- function(names, column) {
  if (is.null(names)) paste0("V", column) else names[[column]]
}

hash_source <- function(source) {
  width <- max(1, floor(source_block / source$steps))
  hashes <- vapply(seq(1, max(1, source$n), by = width), \(first) {
    rlang::hash(source$read(seq(first, min(first + width - 1, source$n))))
  }, "")
  rlang::hash(list(source$steps, source$names, hashes))
}

# ---- HDF5 ----------------------------------------------------------------------------

file_source <- function(x, dataset) {
  check_path(x, "x")
  file <- x
  rlang::check_installed("hdf5r", "to read HDF5 files.", call = user_frame())
  if (!file.exists(file) || dir.exists(file)) abort_file(file, "there is no such file")
  file <- normalizePath(file, "/")
  h5 <- open_h5(file, "r")
  on.exit(close_read(h5))
  fail <- failing(file)
  path <- find_dataset(h5, file, dataset, fail)
  dims <- h5_use(h5, path, fail, \(set) {
    dims <- h5_extent(set, path, fail)
    check_stored(set, prod(dims), h5_type(set, path, fail), path, fail)
    dims
  })
  names <- source_names(h5, path, fail)
  across <- !is.null(names) && length(names) != dims[[2L]] && length(names) == dims[[1L]]
  if (across) dims <- rev(dims)
  if (length(names) != dims[[2L]]) names <- NULL
  how <- if (across) ", a row each"
  info("file", "Series in {.file {file}}: {.val {path}} holds {commas(dims[[1L]])}
           step{cli::qty(dims[[1L]])}{?s} of {commas(dims[[2L]])} series{how}.")
  list(n = dims[[2L]], steps = dims[[1L]], names = names, file = file, dataset = path,
       read = \(columns) read_columns(file, path, columns, across, names))
}

read_columns <- function(file, path, columns, across, names) {
  h5 <- open_h5(file, "r")
  on.exit(close_read(h5))
  fail <- failing(file)
  # hdf5r reads each column once, and is fastest in order.
  there <- sort(unique(columns))
  values <- h5_use(h5, path, fail, \(set) {
    h5_try(plain_numbers(if (across) set[there, ] else set[, there]), path, fail)
  })
  # Without a copy where it can be.
  if (!is.double(values)) storage.mode(values) <- "double"
  others <- length(values) / length(there)
  dim(values) <- if (across) c(length(there), others) else c(others, length(there))
  if (across) values <- t(values)
  if (!identical(as.integer(there), as.integer(columns))) {
    values <- values[, match(columns, there), drop = FALSE]
  }
  for (k in which(!is.finite(colSums(values)))) {
    check_finite(values[, k], source_name(names, columns[[k]]))
  }
  values
}
