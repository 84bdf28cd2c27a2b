# HDF5 files through hdf5r. An object is closed as soon as it was read: while one is open, so is
# the file, and closing all of them together takes hdf5r a tenth of a second.
#
# The HDF5 library is trusted to read a file: it notices one that is cut short or has been
# overwritten. It does not notice every changed byte in the structure of a file, and could end R
# then; `h5dump` or `h5stat` look through a file that is in doubt.

#' Open an HDF5 file, with what can be done where that fails
#' @param patience Seconds to wait while another process has it.
#' @noRd
open_h5 <- function(file, mode, patience = 0) {
  until <- proc.time()[["elapsed"]] + patience
  repeat {
    h5 <- tryCatch(hdf5r::H5File$new(file, mode = mode), error = identity)
    if (inherits(h5, "H5File")) return(h5)
    locked <- grepl("unable to lock", conditionMessage(h5))
    if (!locked || proc.time()[["elapsed"]] >= until) break
    Sys.sleep(0.05)
  }
  if (locked) {
    abort_file(file, "it is open in another program, or its file system has no locks",
               paste("Close it there. Where nobody else writes to it, set the environment",
                     "variable HDF5_USE_FILE_LOCKING to FALSE before R starts."))
  }
  refuse_file_if(grepl("already open for|consistency flags", conditionMessage(h5)), file,
                 "it is open in another program, or was when that program ended",
                 "Close it there; after a crash `h5clear -s` frees it.")
  abort_file(file, "it is a damaged HDF5 file, or none")
}

#' Close a file, and what an error may have left open in it
#' @noRd
close_h5 <- function(h5) {
  if (h5$get_obj_count() > 1) h5$close_all() else h5$close()
}

#' Close what was only read: a file, or what is in it
#'
#' In a damaged file that may fail as well. What was read is right all the same, or there is
#' an error that says more.
#' @noRd
close_read <- function(h5) {
  try(if (inherits(h5, "H5File")) close_h5(h5) else h5$close(), silent = TRUE)
}

#' The value of code that calls the HDF5 library on the part `name` of a file
#'
#' Its own errors say nothing to whom has never seen its source.
#' @param fail Raises the error about the file, from what is wrong and a hint.
#' @noRd
h5_try <- function(code, name, fail) {
  tryCatch(withCallingHandlers(code, warning = \(w) {
    fail_if(grepl("integer precision lost", conditionMessage(w), fixed = TRUE), fail,
            sprintf("`%s` holds whole numbers beyond 2^53, which R cannot tell apart", name))
  }), error = \(e) {
    if (inherits(e, "synfire_error")) rlang::cnd_signal(e)
    said <- conditionMessage(e)
    fail_if(grepl("filter", said, ignore.case = TRUE) && grepl("regist|plugin|avail", said), fail,
            sprintf("`%s` is compressed by a filter that this HDF5 library does not have", name),
            paste("Install that filter and set HDF5_PLUGIN_PATH, or write the file with gzip",
                  "compression (`h5repack -f GZIP=4`)."))
    fail(sprintf("`%s` cannot be read: it is damaged, or a link that leads nowhere", name))
  })
}

#' Whether there is something, or a link, at a path whose other parts are there
#' @noRd
h5_has <- function(group, name, fail) h5_try(group$exists(name), name, fail)

#' What is at a place of a file, or NULL
#' @noRd
h5_open <- function(h5, name, fail) {
  name <- sub("^/", "", name)
  if (h5_has(h5, name, fail)) h5_try(h5[[name]], paste0("/", name), fail)
}

#' What `f` makes of what is at a place of a file that may be damaged
#' @noRd
h5_use <- function(h5, name, fail, f) {
  set <- h5_open(h5, name, fail)
  if (is.null(set)) fail(sprintf("it has no `%s`", name))
  on.exit(close_read(set))
  f(set)
}

#' Numbers or words of a data set of one dimension, or of any number of them
#'
#' Its type and size are looked at first: the library trusts them, and a damaged file may
#' say any.
#' @param kind Classes of types that will do.
#' @param at Places to read, of a data set of one dimension; `NULL` for all.
#' @param checked Whether this data set was looked at before.
#' @noRd
h5_read <- function(set, name, fail, kind = "numbers", at = NULL, checked = FALSE) {
  if (checked) return(h5_try(plain_numbers(h5_part(set, at)), name, fail))
  if (!inherits(set, "H5D")) fail(sprintf("`%s` is no data set", name))
  extent <- h5_extent(set, name, fail)
  type <- h5_type(set, name, fail)
  if (!type$kind %in% kind) fail(sprintf("`%s` must hold %s", name, kind[[1L]]))
  if (prod(extent) == 0) {
    return(switch(type$kind, numbers = double(), words = character(), flags = logical()))
  }
  check_stored(set, prod(extent), type, name, fail)
  h5_try(plain_numbers(if (is.null(at)) set$read() else h5_part(set, at)), name, fail)
}

#' Values of a data set at some places
#' @noRd
h5_part <- function(set, at) {
  first <- at[[1L]]
  last <- at[[length(at)]]
  # hdf5r looks at each place unless it sees the range.
  if (last - first + 1 == length(at)) set[first:last] else set[at]
}

#' Columns of numbers of a data set of records, each as doubles
#' @param columns Their names in the file.
#' @noRd
h5_read_records <- function(h5, name, columns, fail) {
  h5_use(h5, name, fail, \(set) {
    fail_if(!inherits(set, "H5D") || h5_type(set, name, fail)$kind != "tables", fail,
            sprintf("`%s` must hold records", name))
    extent <- h5_extent(set, name, fail)
    check_stored(set, prod(extent), h5_type(set, name, fail), name, fail)
    there <- h5_try({
      type <- set$get_type()
      on.exit(type$close())
      type$get_cpd_labels()
    }, name, fail)
    lost <- setdiff(columns, there)
    if (length(lost)) fail(sprintf("the records of `%s` have no `%s`", name, lost[[1L]]))
    if (prod(extent) == 0) return(lapply(rlang::set_names(columns), \(column) double()))
    records <- h5_try(as.list(set$read())[columns], name, fail)
    lapply(records, \(one) {
      one <- h5_try(plain_numbers(one), name, fail)
      if (!is.numeric(one)) fail(sprintf("the records of `%s` must hold numbers", name))
      as.double(one)
    })
  })
}

#' One number of a data set, NA where there is none
#' @noRd
h5_number <- function(h5, name, fail) {
  value <- h5_use(h5, name, fail, \(set) h5_read(set, name, fail))
  if (length(value)) as.double(value[[1L]]) else NA_real_
}

#' All numbers of a data set as doubles, or where `as_read` as integers where they are those
#' @noRd
h5_numbers <- function(h5, name, fail, as_read = FALSE) {
  value <- h5_use(h5, name, fail, \(set) h5_read(set, name, fail))
  if (as_read) as.vector(value) else as.double(value)
}

#' Values of a data set with `n` of them, or `NULL` where it is of another kind or shape
#' @noRd
h5_column <- function(group, name, path, n, fail) {
  set <- h5_try(group[[name]], path, fail)
  on.exit(close_read(set))
  kinds <- c("numbers", "words", "flags")
  if (!inherits(set, "H5D") || !identical(h5_extent(set, path, fail), as.double(n)) ||
        !h5_type(set, path, fail)$kind %in% kinds) {
    return(NULL)
  }
  value <- h5_read(set, path, fail, kinds)
  if (is.character(value)) clean_text(value) else if (is.factor(value)) as.character(value)
  else as.vector(value)
}

#' Error where so many values cannot lie in the bytes that a data set has in the file
#' @noRd
check_stored <- function(set, n, type, name, fail) {
  stored <- h5_try(as.double(set$get_storage_size()), name, fail)
  # The best compressors make it a thousandth; what was never written takes no room.
  fail_if(n * type$size > max(2^20, 2000 * stored), fail,
          sprintf("`%s` is damaged: %s values are said to lie in %s bytes", name, commas(n),
                  commas(stored)))
}

#' 64-bit integers of hdf5r as doubles, with a warning of bit64 where these are not exact
#' @noRd
plain_numbers <- function(value) {
  # hdf5r brings the package bit64 along, and with it this method of as.double().
  if (inherits(value, "integer64")) as.double(value) else value
}

#' Lengths of the dimensions of a data set
#' @param extent Where they are known already, and need their check only.
#' @noRd
h5_extent <- function(set, name, fail, extent = h5_try(as.double(set$dims), name, fail)) {
  fail_if(anyNA(extent) || any(extent < 0) || !chunks_fit(set, length(extent), name, fail), fail,
          sprintf("`%s` is damaged", name))
  extent
}

#' Whether the chunks that a data set is stored in have as many dimensions as itself
#'
#' The library trusts them to, and otherwise takes memory without end.
#' @noRd
chunks_fit <- function(set, n, name, fail) {
  # This is known sooner than whether there are chunks.
  if (in_one_piece(set)) return(TRUE)
  h5_try({
    how <- set$get_create_plist()
    on.exit(how$close())
    # One dimension more is asked for than there may be; a missing one is 0, the rest is not.
    chunk <- how$get_chunk(n + 1)
    anyNA(chunk) || sum(chunk > 0) == n
  }, name, fail)
}

#' Whether a data set lies in one piece: such a piece has a place in the file, and no chunks
#' @noRd
in_one_piece <- function(set) !is.null(tryCatch(set$get_offset(), error = \(e) NULL))

#' Kind of the values of a data set, their bytes, and whether their type is of whole numbers
#' @noRd
h5_type <- function(set, name, fail) {
  h5_try({
    type <- set$get_type()
    on.exit(type$close())
    class <- as.character(type$get_class())
    kind <- c(H5T_INTEGER = "numbers", H5T_FLOAT = "numbers", H5T_STRING = "words",
              H5T_ENUM = "flags", H5T_COMPOUND = "tables", H5T_REFERENCE = "links")[class]
    size <- as.double(type$get_size())
    # Words of any length lie elsewhere in the file, and here where.
    list(kind = if (is.na(kind)) "others" else kind[[1L]], size = if (is.finite(size)) size else 16,
         whole = class == "H5T_INTEGER")
  }, name, fail)
}

#' What `f` makes of a data set
#' @noRd
with_set <- function(h5, name, f) {
  set <- h5[[name]]
  on.exit(set$close())
  f(set)
}

read_values <- function(h5, name) with_set(h5, name, \(set) as.vector(set$read()))

#' Write to some places of a data set with one dimension
#' @noRd
write_at <- function(h5, name, places, values) {
  with_set(h5, name, \(set) set[places] <- values)
}

#' Make a data set that is all written
#' @param type An HDF5 type; by default that of R.
#' @noRd
write_values <- function(h5, name, values, type = text_type(values)) {
  h5$create_dataset(name, enc_text(values), dtype = type, chunk_dims = NULL,
                    gzip_level = NULL)$close()
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
