# Finds a matrix of numbers in an HDF5 file.

#' Path of the data set to read, a matrix of numbers
#' @noRd
find_dataset <- function(h5, file, dataset, fail) {
  if (!is.null(dataset)) {
    path <- sub("^/+", "", check_string(dataset, "dataset"))
    # Of a group that is not there, this is an error.
    set <- tryCatch(h5[[path]], error = \(e) NULL)
    if (is_number_matrix(set, path, fail)) return(path)
  }
  fits <- number_matrices(h5, fail)
  hint <- if (length(fits) > 0L) paste0("There is ", some(dQuote(fits, FALSE)), ".")
  refuse_if(!is.null(dataset), "dataset", "the name of a data set of numbers with two dimensions",
            describe(dataset), hint)
  refuse_file_if(length(fits) == 0L, file, "it has no data set of numbers with two dimensions")
  refuse_if(length(fits) > 1L, "dataset", "given, as the file has several matrices", "NULL", hint)
  fits
}

#' What the data set `names` next to another one holds, or `NULL`
#' @noRd
source_names <- function(h5, path, fail) {
  beside <- sub("[^/]*$", "names", path)
  if (!h5_has(h5, beside, fail)) return(NULL)
  # What claims to be ASCII and is not cannot be read.
  refuse <- \(...) {
    fail(sprintf("the names in %s cannot be read", dQuote(beside, FALSE)),
         "Names must be text in ASCII or UTF-8, and be said to be that.")
  }
  names <- h5_use(h5, beside, refuse, \(set) {
    if (inherits(set, "H5D") && length(h5_extent(set, beside, refuse)) == 1L &&
        h5_type(set, beside, refuse)$kind == "words") h5_read(set, beside, refuse, "words")
  })
  if (!is.null(names)) enc2utf8(names)
}

#' @param set What is in a file, or `NULL`; it is closed.
#' @noRd
is_number_matrix <- function(set, path, fail) {
  on.exit(close_read(set))
  inherits(set, "H5D") && length(h5_extent(set, path, fail)) == 2L &&
    h5_type(set, path, fail)$kind == "numbers"
}

#' Paths of all matrices of numbers in a file
#'
#' What cannot be opened counts only where there is no matrix. hdf5r lists whole files as
#' well, but loses its way in damaged ones.
#' @noRd
number_matrices <- function(h5, fail) {
  found <- character()
  refusal <- NULL
  look <- function(group, above, depth) {
    for (name in h5_try(names(group), above, fail)) {
      path <- paste0(above, name)
      item <- tryCatch(h5_open(h5, path, fail), synfire_error_file = \(e) {
        refusal <<- refusal %||% e
        NULL
      })
      if (inherits(item, "H5Group")) {
        if (depth < deepest_group) look(item, paste0(path, "/"), depth + 1L)
        close_read(item)
      } else if (is_number_matrix(item, path, fail)) {
        found <<- c(found, path)
      }
    }
  }
  look(h5, "", 1L)
  if (length(found) == 0L && !is.null(refusal)) rlang::cnd_signal(refusal)
  found
}

# Groups within groups that are looked into: a group may hold itself.
deepest_group <- 20L
