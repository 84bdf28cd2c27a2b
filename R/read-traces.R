# Traces of calcium imaging, and any matrix of series, for causal maps.

#' Read traces of calcium imaging from a file
#'
#' Reads the traces that Suite2p and CaImAn write, and plain matrices in NumPy, HDF5 and
#' text files, into a matrix that [causal_map()] takes. For [ccm()] and the other
#' functions on a table of series, turn it into a data frame with `as.data.frame()`, and
#' give them `no_time = TRUE`, as no column holds the time.
#'
#' # Formats
#' | `format` | file | traces |
#' |---|---|---|
#' | `"suite2p"` | folder of one plane, with `F.npy` | `"F"` (default), `"spks"` |
#' | `"caiman"` | HDF5 file that `CNMF.save()` wrote | `"F_dff"` (default where it is there), `"C"`, `"S"` |
#' | `"npy"` | a NumPy array of two dimensions | |
#' | `"hdf5"` | a data set of two dimensions, which `dataset` names | |
#' | `"csv"` | a text table of numbers, as [read_spikes()] describes them | |
#'
#' * `"suite2p"`: a series is the fluorescence of a region (`F.npy`) minus `neuropil` times
#'   that around it (`Fneu.npy`), or with `trace = "spks"` its deconvolution (`spks.npy`).
#'   `iscell.npy` says which regions are cells; with `cells = FALSE` all are read. The frame
#'   rate is in `ops.npy`, which only Python can read: give it as `sampling_rate`.
#' * `"caiman"`: `/estimates/F_dff` is the relative change of the fluorescence, `C` the
#'   denoised trace, `S` the deconvolved activity. Where `/estimates/idx_components` lists
#'   the components that were accepted, only these are read unless `cells = FALSE`. The
#'   frame rate is `/params/data/fr`.
#' * `"npy"`, `"hdf5"`, `"csv"`: `series_in` says whether a column or a row is a series.
#'   By default the longer side is time, and a message says so. A table may have a header
#'   with the names of the series. A column called `time` or the like is not read as a
#'   series; it gives the sampling rate if its steps are equal to within a hundredth.
#'
#' Series are named by the number of the region or component that the program itself uses,
#' from 0: `roi_0`, `roi_12`.
#'
#' # Files that are too large for the memory
#' [causal_map()] reads an HDF5 file itself, a part at a time: `causal_map("traces.h5",
#' dataset = "estimates/C")`.
#'
#' @param file Path to the file, or to the folder of Suite2p.
#' @param format One of the formats above, or `NULL` to guess from the content.
#' @param trace Which traces to read of a Suite2p folder or a CaImAn file.
#' @param neuropil For Suite2p: how many times the fluorescence around a region is
#'   subtracted from that of the region; 0 for none. Suite2p's own default is 0.7.
#' @param cells For Suite2p and CaImAn: `TRUE` reads only the regions that the program or
#'   a person has classified as cells, `FALSE` reads all.
#' @param dataset For `"hdf5"`, the path of the data set, such as `"data/traces"`; by default
#'   the only matrix of numbers in the file.
#' @param series_in `"columns"` or `"rows"`: whether each series is a column or a row of a
#'   plain matrix. `NULL` takes the longer side of the matrix for time.
#' @param sampling_rate Frames in a second, where the file does not say it.
#'
#' @return A numeric matrix with a row for each step and a column for each series, and column
#'   names. Its attribute `sampling_rate` is the number of frames in a second, where that is
#'   known.
#'
#' @section Errors:
#' Errors about a file have the class `synfire_error_file`: no such file, one that is cut
#' short or damaged, parts that are missing, matrices of different sizes, text where numbers
#' must be, infinite values, a matrix with as many rows as columns and no `series_in`. Errors
#' about an argument have the class `synfire_error_argument`.
#'
#' @references
#' Pachitariu M, et al. (2017). Suite2p: beyond 10,000 neurons with standard two-photon
#' microscopy. *bioRxiv*, 061507. \doi{10.1101/061507}
#'
#' Giovannucci A, et al. (2019). CaImAn: an open source tool for scalable calcium imaging
#' data analysis. *eLife*, 8, e38173. \doi{10.7554/eLife.38173}
#'
#' @seealso [causal_map()]; [read_spikes()] for spikes.
#' @examples
#' file <- tempfile(fileext = ".csv")
#' writeLines(c("time,a,b", sprintf("%.1f,%.3f,%.3f", 0:49 / 10, sin(0:49), cos(0:49))), file)
#' x <- read_traces(file)
#' str(x)
#' causal_map(x, E_max = 3)
#' unlink(file)
#' @export
read_traces <- function(file, format = NULL, trace = NULL, neuropil = 0.7, cells = TRUE,
                        dataset = NULL, series_in = NULL, sampling_rate = NULL) {
  check_given(file = "the path of a file or a folder")
  given <- c(trace = !is.null(trace), neuropil = !missing(neuropil), cells = !missing(cells),
             dataset = !is.null(dataset), series_in = !is.null(series_in))
  check_path(file, "file", of = "a file or a folder")
  if (!is.null(format)) check_choice(format, names(traces_options))
  neuropil <- check_number(neuropil, min = 0)
  check_flag(cells)
  if (!is.null(dataset)) check_string(dataset)
  if (!is.null(series_in)) check_choice(series_in, c("columns", "rows"))
  if (!is.null(sampling_rate)) sampling_rate <- check_number(sampling_rate, above = 0)
  file <- path.expand(file)
  refuse_file_if(!file.exists(file), file, "there is no such file or folder", "Check the path.")
  fail <- failing(file)
  format <- traces_format(file, format, fail)
  check_taken(names(given)[given], format, traces_options,
              "left out for traces of format \"%s\"")
  if (!is.null(trace)) {
    check_choice(trace, if (format == "suite2p") c("F", "spks") else c("F_dff", "C", "S"))
  }
  read <- switch(
    format,
    suite2p = read_suite2p(file, trace %||% "F", neuropil, cells, fail),
    caiman = read_caiman(file, trace, cells, sampling_rate, fail),
    npy = read_npy_matrix(file, series_in, fail),
    hdf5 = read_hdf5_matrix(file, dataset, series_in, fail),
    csv = read_csv_matrix(file, series_in, fail)
  )
  value <- read$value
  if (length(value) == 0L) fail("it holds no traces")
  if (any(is.infinite(value))) {
    at <- which(is.infinite(value), arr.ind = TRUE)[1L, ]
    fail(sprintf("step %s of series %s is infinite", commas(at[[1L]]), commas(at[[2L]])))
  }
  colnames(value) <- read$names %||% paste0("V", seq_len(ncol(value)))
  attr(value, "sampling_rate") <- sampling_rate %||% read$rate
  value
}

# Which arguments each format takes beside `sampling_rate`.
traces_options <- list(suite2p = c("trace", "neuropil", "cells"), caiman = c("trace", "cells"),
                       npy = "series_in", hdf5 = c("dataset", "series_in"), csv = "series_in")

traces_format <- function(file, format, fail) {
  folder <- dir.exists(file)
  if (!is.null(format)) {
    refuse_file_if(folder != (format == "suite2p"), file,
                   if (folder) "it is a folder" else "it is not a folder",
                   "Only the format \"suite2p\" is a folder, that of one plane.")
    return(format)
  }
  if (folder) return("suite2p")
  if (is_hdf5(file)) {
    rlang::check_installed("hdf5r", "to read HDF5 files.", call = user_frame())
    h5 <- open_h5(file, "r")
    on.exit(close_read(h5))
    return(if (h5_has_path(h5, "estimates/C", fail)) "caiman" else "hdf5")
  }
  if (is_npy(read_magic(file, 6L))) "npy" else "csv"
}

# ---- Suite2p -----------------------------------------------------------------------

#' The arrays of Suite2p hold a row for each region, one value a frame after the other
#' @noRd
read_suite2p <- function(folder, trace, neuropil, cells, fail) {
  path <- \(name) file.path(folder, paste0(name, ".npy"))
  if (!file.exists(path(trace))) {
    planes <- list.files(folder, "^(plane[0-9]+|combined)$")
    fail(sprintf("it is no folder of Suite2p: it has no `%s.npy`", trace),
         if (length(planes)) sprintf("Give the folder of one plane: %s.", some(planes)))
  }
  header <- \(name) {
    head <- npy_header(path(name), \(what, hint = NULL) abort_file(path(name), what, hint))
    refuse_file_if(!is_npy_matrix(head, c("f", "i", "u")) || head$by_column, path(name),
                   "it is no matrix of numbers with a row for each region")
    head
  }
  head <- header(trace)
  chosen <- seq_len(head$shape[[1L]])
  if (cells) {
    fail_if(!file.exists(path("iscell")), fail,
            "it has no `iscell.npy`", "Say `cells = FALSE` to read all regions.")
    chosen <- suite2p_cells(header("iscell"), head$shape[[1L]], path("iscell"))
  }
  value <- npy_rows(head, chosen, path(trace))
  if (trace == "F" && neuropil > 0) {
    fail_if(!file.exists(path("Fneu")), fail,
            "it has no `Fneu.npy`", "Say `neuropil = 0` to subtract nothing.")
    around <- header("Fneu")
    fail_if(!identical(around$shape, head$shape), fail,
            "its `F.npy` and `Fneu.npy` are of different sizes")
    value <- value - neuropil * npy_rows(around, chosen, path("Fneu"))
  }
  list(value = value, names = sprintf("roi_%d", as.integer(chosen - 1)))
}

#' Rows of `iscell.npy` with a 1 in front; a probability stands beside it
#' @noRd
suite2p_cells <- function(head, n, file) {
  refuse_file_if(head$shape[[1L]] != n, file,
                 sprintf("it has %s rows for %s regions", commas(head$shape[[1L]]), commas(n)))
  chosen <- which(npy_rows(head, seq_len(n), file)[1L, ] == 1)
  refuse_file_if(length(chosen) == 0L, file, "it takes no region for a cell",
                 "Say `cells = FALSE` to read all regions.")
  chosen
}

is_npy_matrix <- function(head, kinds) {
  length(head$shape) == 2L && nrow(head$fields) == 1L && head$fields$kind %in% kinds
}

#' Some rows of an array as the columns of a matrix
#' @noRd
npy_rows <- function(head, rows, file) {
  fail <- failing(file)
  length <- head$shape[[2L]]
  value <- matrix(0, length, length(rows))
  for (k in seq_along(rows)) {
    value[, k] <- npy_values(head, fail, (rows[[k]] - 1) * length + 1, length)
  }
  value
}

# ---- CaImAn ------------------------------------------------------------------------

#' CaImAn's matrices have a row for each component; hdf5r turns them over
#' @noRd
read_caiman <- function(file, trace, cells, sampling_rate, fail) {
  rlang::check_installed("hdf5r", "to read HDF5 files.", call = user_frame())
  h5 <- open_h5(file, "r")
  on.exit(close_read(h5))
  # What was not computed is there as the word NoneType.
  computed <- \(name, n) h5_has_path(h5, paste0("estimates/", name), fail) &&
    h5_use(h5, paste0("/estimates/", name), fail, \(set) {
      inherits(set, "H5D") && length(h5_extent(set, name, fail)) == n &&
        h5_type(set, name, fail)$kind == "numbers"
    })
  trace <- trace %||% (if (computed("F_dff", 2L)) "F_dff" else "C")
  if (!computed(trace, 2L)) fail(sprintf("it has no matrix `/estimates/%s`", trace))
  path <- paste0("/estimates/", trace)
  value <- h5_matrix(h5, path, fail)
  chosen <- seq_len(ncol(value))
  if (cells && computed("idx_components", 1L)) {
    accepted <- h5_numbers(h5, "/estimates/idx_components", fail)
    # A file without the others has only these.
    if (length(accepted) != length(chosen)) {
      fail_if(!all(accepted %in% (chosen - 1)), fail,
              sprintf("`/estimates/idx_components` names components that `%s` does not have", path))
      chosen <- accepted + 1
    }
  }
  said <- if (h5_has_path(h5, "params/data/fr", fail)) h5_number(h5, "/params/data/fr", fail)
  rate <- said_rate(said, sampling_rate, \(...) NULL)
  list(value = value[, chosen, drop = FALSE], names = sprintf("roi_%d", as.integer(chosen - 1)),
       rate = rate)
}

h5_matrix <- function(h5, path, fail) {
  h5_use(h5, path, fail, \(set) {
    extent <- h5_extent(set, path, fail)
    if (length(extent) != 2L) fail(sprintf("`%s` must have two dimensions", path))
    matrix(as.double(h5_read(set, path, fail)), extent[[1L]], extent[[2L]])
  })
}

# ---- Plain matrices ----------------------------------------------------------------

#' A matrix with steps in rows
#' @noRd
turned <- function(value, series_in, file) {
  n <- dim(value)
  if (is.null(series_in)) {
    refuse_file_if(n[[1L]] == n[[2L]], file,
                   sprintf("it has as many rows as columns, %s", commas(n[[1L]])),
                   "Say what a series is: `series_in = \"columns\"` or `\"rows\"`.")
    series_in <- if (n[[1L]] > n[[2L]]) "columns" else "rows"
    n <- sort(n)
    info("file", "The longer side of {.file {basename(file)}} is taken for time: {commas(n[[2L]])}
                  step{cli::qty(n[[2L]])}{?s} of {commas(n[[1L]])} series.")
  }
  if (series_in == "rows") t(value) else value
}

read_npy_matrix <- function(file, series_in, fail) {
  read_magic(file, 1L)
  head <- npy_header(file, fail)
  if (!is_npy_matrix(head, c("f", "i", "u", "b"))) fail("it is no matrix of numbers")
  value <- npy_values(head, fail)
  value <- matrix(value, head$shape[[1L]], head$shape[[2L]], byrow = !head$by_column)
  list(value = turned(value, series_in, file))
}

read_hdf5_matrix <- function(file, dataset, series_in, fail) {
  rlang::check_installed("hdf5r", "to read HDF5 files.", call = user_frame())
  if (!is_hdf5(file)) fail("it is not an HDF5 file")
  h5 <- open_h5(file, "r")
  on.exit(close_read(h5))
  path <- find_dataset(h5, file, dataset, fail)
  value <- turned(h5_matrix(h5, paste0("/", path), fail), series_in, file)
  names <- source_names(h5, path, fail)
  list(value = value, names = if (length(names) == ncol(value)) names)
}

read_csv_matrix <- function(file, series_in, fail) {
  head <- read_head(file)
  lines <- head$lines[!grepl("^\\s*(#|$)", head$lines)]
  if (length(lines) == 0L) fail("it has no rows")
  sep <- guess_separator(lines, ".") %||% ","
  first <- split_lines(lines[[1L]], sep)[[1L]]
  header <- !all(is_number_text(first))
  text <- csv_matrix_text(file, sep, length(first), header, fail)
  value <- suppressWarnings(as.double(text))
  bad <- which(is.na(value) & !text %in% c("", "NA", "NaN") | grepl("x", text, fixed = TRUE))
  if (length(bad)) {
    at <- bad[[1L]] - 1
    fail(sprintf("row %s, column %s must hold a number, but holds %s",
                 commas(at %/% length(first) + 1), commas(at %% length(first) + 1),
                 encodeString(substr(clean_text(text[[at + 1]]), 1L, 40L), quote = "\"")))
  }
  value <- matrix(value, ncol = length(first), byrow = TRUE)
  if (!header) return(list(value = turned(value, series_in, file)))
  refuse_if(identical(series_in, "rows"), "series_in",
            "\"columns\" for a table whose header names its columns", "\"rows\"")
  parsed <- parse_column_name(first)
  time <- which(parsed$bare %in% time_names)
  one <- length(time) == 1L
  series <- if (one) -time else seq_along(first)
  list(value = value[, series, drop = FALSE],
       rate = if (one) rate_of_steps(value[, time], parsed$said[[time]]),
       names = make.unique(ifelse(nzchar(first), first, paste0("V", seq_along(first))))[series])
}

#' The fields of all rows, one row after the other
#' @noRd
csv_matrix_text <- function(file, sep, n, header, fail) {
  parts <- list()
  rows <- 0
  each_block(file, f = \(bytes, size) {
    mark <- rows == 0 && begin_with_mark(bytes)
    bytes <- bytes[seq_len(size - 3 * mark) + 3 * mark]
    if (is_binary(bytes)) fail("it starts as a table, but holds binary data")
    lines <- lines_of(bytes)
    lines <- lines[!grepl("^\\s*(#|$)", lines)]
    fields <- split_lines(lines, sep)
    bad <- which(lengths(fields) != n)
    fail_if(length(bad), fail,
            sprintf("row %s has %s, not %s", commas(rows + bad[[1L]] - header),
                    counted(length(fields[[bad[[1L]]]]), "field"), commas(n)),
            "Each row needs the same number of fields.")
    if (rows == 0 && header) fields <- fields[-1L]
    rows <<- rows + length(lines)
    parts[[length(parts) + 1L]] <<- unlist(fields)
  })
  as.character(unlist(parts))
}

#' Steps in a second, where the times of a column are equally far apart; else `NULL`
#' @noRd
rate_of_steps <- function(time, said) {
  step <- diff(time) / c(s = 1, ms = 1e3, us = 1e6)[if (is.na(said)) "s" else said]
  if (length(step) == 0L || anyNA(step) || any(step <= 0)) return(NULL)
  middle <- stats::median(step)
  if (max(abs(step - middle)) <= 0.01 * middle) 1 / mean(step)
}
