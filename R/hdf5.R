# HDF5 files through hdf5r. What is opened in a file is closed at once: while anything is
# open, so is the file, and closing all of it together takes hdf5r a tenth of a second.

#' Open an HDF5 file, with what can be done where that fails
#' @param patience Seconds to wait while another process has it.
#' @noRd
open_h5 <- function(file, mode, call, patience = 0) {
  until <- proc.time()[["elapsed"]] + patience
  repeat {
    h5 <- tryCatch(hdf5r::H5File$new(file, mode = mode), error = identity)
    if (inherits(h5, "H5File")) return(h5)
    locked <- grepl("unable to lock", conditionMessage(h5))
    if (!locked || proc.time()[["elapsed"]] >= until) break
    Sys.sleep(0.05)
  }
  if (locked) {
    abort_file(file, "it is in use by another process, or its file system has no locks",
               paste("Where nobody else writes to it, set the environment variable",
                     "HDF5_USE_FILE_LOCKING to FALSE before R starts."), call = call)
  }
  abort_file(file, "it is a damaged HDF5 file, or none", call = call)
}

#' Close a file, and what an error may have left open in it
#' @noRd
close_h5 <- function(h5) {
  if (h5$get_obj_count() > 1) h5$close_all() else h5$close()
}

#' What `f` makes of a data set
#' @noRd
with_set <- function(h5, name, f) {
  set <- h5[[name]]
  on.exit(set$close())
  f(set)
}

read_values <- function(h5, name) with_set(h5, name, \(set) set$read())

#' Write to some places of a data set with one dimension
#' @noRd
write_at <- function(h5, name, places, values) {
  with_set(h5, name, \(set) set[places] <- values)
}

#' Make a data set that is all written
#' @param type An HDF5 type; by default that of R.
#' @noRd
write_values <- function(h5, name, values, type = text_type(values)) {
  h5$create_dataset(name, enc_text(values), dtype = type, chunk_dims = NULL, gzip_level = NULL)$close()
}

read_attribute <- function(h5, name) {
  attribute <- h5$attr_open(name)
  on.exit(attribute$close())
  attribute$read()
}

read_attributes <- function(h5) {
  names <- hdf5r::h5attr_names(h5)
  lapply(rlang::set_names(names), read_attribute, h5 = h5)
}

write_attribute <- function(h5, name, value) {
  h5$create_attr(name, enc_text(value), dtype = text_type(value))$close()
}

#' The type of text in UTF-8; `NULL` for what is no text
#'
#' By default hdf5r writes text as ASCII, and then cannot read what is none.
#' @noRd
text_type <- function(x) {
  if (is.character(x)) hdf5r::H5T_STRING$new(size = Inf)$set_cset("UTF-8")
}

enc_text <- function(x) if (is.character(x)) enc2utf8(x) else x
