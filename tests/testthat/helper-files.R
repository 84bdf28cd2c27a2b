# Files that tests make: text, bytes, NumPy arrays, zip archives, HDF5.

csv_file <- function(..., .env = parent.frame(), eol = "\n") {
  file <- withr::local_tempfile(fileext = ".csv", .local_envir = .env)
  con <- file(file, "wb")
  writeLines(c(...), con, sep = eol)
  close(con)
  file
}

raw_file <- function(bytes, .env = parent.frame()) {
  file <- withr::local_tempfile(.local_envir = .env)
  writeBin(bytes, file)
  file
}

# The folder of a temporary file is another one each time.
no_folder <- function(lines) {
  lines <- gsub("['\"]?[^ '\"]*[/\\\\]file[0-9a-f]+(\\.[a-z0-9]+)?['\"]?", "FILE", lines)
  gsub("[^ ']*[/\\\\]FILE", "FILE", lines)
}

expect_file_error <- function(expr) {
  expr <- rlang::enquo(expr)
  expect_error(rlang::eval_tidy(expr), class = "synfire_error_file")
}

messages_of <- function(expr) {
  no_folder(conditionMessage(tryCatch(expr, error = identity)))
}

# `read()` of a file gives what it should or an error about the file, whatever happens to its
# bytes: it is cut at some places, and some are changed.
expect_survives <- function(file, read, seed = 1, cuts = 6, changes = 12) {
  whole <- readBin(file, "raw", file.size(file))
  set.seed(seed)
  tries <- c(
    lapply(round(seq(0, length(whole) - 1, length.out = cuts)), \(n) whole[seq_len(n)]),
    replicate(changes, {
      at <- sample(length(whole), sample(3, 1))
      replace(whole, at, as.raw(sample(0:255, length(at), TRUE)))
    }, simplify = FALSE)
  )
  on.exit(writeBin(whole, file))
  for (bytes in some_of(tries)) {
    writeBin(bytes, file)
    got <- tryCatch(suppressMessages(read()), synfire_error = identity)
    expect_true(inherits(got, c("synfire_error", "spike_trains", "matrix")))
  }
}

# ---- NumPy ----

npy_bytes <- function(value, descr, shape = sprintf("(%d,)", length(value)),
                      version = 1L, bytes = NULL, order = "False") {
  quoted <- if (startsWith(descr, "[")) descr else paste0("'", descr, "'")
  header <- sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", quoted, order, shape)
  fixed <- 8L + if (version == 1L) 2L else 4L
  pad <- (64L - (fixed + nchar(header) + 1L) %% 64L) %% 64L
  header <- paste0(header, strrep(" ", pad), "\n")
  size <- writeBin(nchar(header), raw(), size = if (version == 1L) 2L else 4L, endian = "little")
  c(as.raw(c(0x93, utf8ToInt("NUMPY"), version, 0)), size, charToRaw(header),
    if (is.null(bytes)) number_bytes(value, descr) else as.raw(bytes))
}

number_bytes <- function(value, descr) {
  kind <- substr(descr, 2, 2)
  width <- as.integer(substring(descr, 3))
  if (kind == "f") return(writeBin(as.double(value), raw(), size = width, endian = "little"))
  if (kind == "U") {
    return(unlist(lapply(value, \(word) {
      letters <- c(utf8ToInt(enc2utf8(word)), integer(width))[seq_len(width)]
      writeBin(letters, raw(), endian = "little")
    })))
  }
  # Base 256; rounding down makes it the two's complement of what is negative.
  as.raw(unlist(lapply(value, \(v) v %/% 256^(seq_len(width) - 1) %% 256)))
}

# Records of a named list of columns, with their types.
record_bytes <- function(columns, types) {
  n <- length(columns[[1L]])
  rows <- lapply(seq_len(n), \(k) unlist(Map(\(one, type) number_bytes(one[[k]], type),
                                            columns, types)))
  descr <- sprintf("[%s]", toString(sprintf("('%s', '%s')", names(columns), types)))
  npy_bytes(seq_len(n), descr, bytes = as.raw(unlist(rows)))
}

write_npy <- function(file, ...) writeBin(npy_bytes(...), file)

# An archive as numpy.savez() writes it, or, where `packed`, numpy.savez_compressed().
npz_bytes <- function(arrays, packed = FALSE) {
  little <- \(v, width) as.raw(v %/% 256^(seq_len(width) - 1) %% 256)
  out <- raw()
  directory <- raw()
  for (name in names(arrays)) {
    plain <- arrays[[name]]
    file <- charToRaw(paste0(name, ".npy"))
    crc <- .Call(synfire:::r_crc32, 0, plain)
    stored <- if (packed) {
      # What zlib writes, without its header of two bytes and its sum of four.
      zlib <- memCompress(plain, "gzip")
      zlib[3:(length(zlib) - 4)]
    } else {
      plain
    }
    about <- c(little(if (packed) 8 else 0, 2), little(0, 4), little(crc, 4),
               little(length(stored), 4), little(length(plain), 4), little(length(file), 2))
    at <- length(out)
    out <- c(out, as.raw(c(0x50, 0x4b, 3, 4, 20, 0, 0, 0)), about, little(0, 2), file, stored)
    directory <- c(directory, as.raw(c(0x50, 0x4b, 1, 2, 20, 3, 20, 0, 0, 0)), about,
                   little(0, 12), little(at, 4), file)
  }
  n <- length(arrays)
  c(out, directory, as.raw(c(0x50, 0x4b, 5, 6, 0, 0, 0, 0)), little(n, 2), little(n, 2),
    little(length(directory), 4), little(length(out), 4), little(0, 2))
}

# ---- HDF5 ----

# Writes the values of a list named by paths; groups are made on the way.
write_h5 <- function(file, values, attributes = list()) {
  h5 <- hdf5r::H5File$new(file, mode = "w")
  on.exit(h5$close_all())
  for (path in names(values)) {
    parts <- strsplit(path, "/", fixed = TRUE)[[1L]]
    for (k in seq_along(parts)[-length(parts)]) {
      group <- paste(parts[seq_len(k)], collapse = "/")
      if (!h5$exists(group)) h5$create_group(group)
    }
    h5[[path]] <- values[[path]]
  }
  for (name in names(attributes)) hdf5r::h5attr(h5, name) <- attributes[[name]]
}

h5_file <- function(values, attributes = list(), .env = parent.frame()) {
  skip_if_not_installed("hdf5r")
  file <- withr::local_tempfile(fileext = ".h5", .local_envir = .env)
  write_h5(file, values, attributes)
  file
}

# The same as MATLAB has it: with 512 bytes of its own in front.
mat_file <- function(values, ..., .env = parent.frame()) {
  file <- h5_file(values, ..., .env = .env)
  bytes <- readBin(file, "raw", file.size(file))
  raw_file(c(charToRaw(sprintf("%-512s", "MATLAB 7.3 MAT-file, Platform: GLNXA64")), bytes),
           .env = .env)
}

write_nwb <- function(times = list(c(0.5, 1, 2), numeric(), c(0.25, 3)), ids = c(4L, 10L, 5L),
                      trials = NULL, ..., units = TRUE, more = list(), .env = parent.frame()) {
  values <- if (units) {
    extra <- list(...)
    names(extra) <- sprintf("units/%s", names(extra))
    c(list(`units/spike_times` = as.double(unlist(times)),
           `units/spike_times_index` = as.integer(cumsum(lengths(times))), `units/id` = ids),
      extra)
  }
  if (!is.null(trials)) names(trials) <- sprintf("intervals/trials/%s", names(trials))
  h5_file(c(values, trials, more), list(nwb_version = "2.6.0"), .env = .env)
}

# Changes an NWB file that is open for that.
bent_nwb <- function(change, ..., .env = parent.frame()) {
  file <- write_nwb(..., .env = .env)
  h5 <- hdf5r::H5File$new(file, mode = "r+")
  change(h5)
  h5$close_all()
  file
}

# ---- MATLAB 5 to 7 ----

# Numbers, text, lists (cells) and named lists (structures) as `save -v6` lays them out, or
# where `packed`, `save -v7`.
mat5_bytes <- function(values, endian = "little", packed = FALSE) {
  int <- \(v, size = 4) writeBin(as.integer(v), raw(), size = size, endian = endian)
  fill <- \(bytes, to) c(bytes, raw(-length(bytes) %% to))
  part <- \(type, bytes) if (length(bytes) > 0 && length(bytes) <= 4) {
    # A short one lies in its own tag.
    c(int(type + 65536 * length(bytes)), fill(bytes, 4))
  } else {
    c(int(c(type, length(bytes))), fill(bytes, 8))
  }
  matrix_of <- function(value, name = "") {
    struct <- is.list(value) && !is.null(names(value))
    class <- if (struct) 2 else if (is.list(value)) 1 else if (is.character(value)) 4 else 6
    dim <- if (struct) c(1, 1) else if (is.character(value)) c(1, nchar(value)) else
      if (is.matrix(value)) dim(value) else c(1, length(value))
    inside <- c(part(6, int(c(class, 0))), part(5, int(dim)), part(1, charToRaw(name)))
    inner <- \(one) matrix_of(one)
    inside <- c(inside, if (struct) {
      width <- max(nchar(names(value))) + 1
      c(part(5, int(width)), part(1, unlist(lapply(names(value), \(one) {
        c(charToRaw(one), raw(width - nchar(one)))
      }))), unlist(lapply(value, inner)))
    } else if (class == 1) {
      unlist(lapply(value, inner))
    } else if (class == 4) {
      part(4, int(utf8ToInt(value), 2))
    } else {
      part(9, writeBin(as.double(value), raw(), endian = endian))
    })
    c(int(c(14, length(inside))), inside)
  }
  elements <- Map(\(value, name) {
    bytes <- matrix_of(value, name)
    if (!packed) return(bytes)
    zlib <- memCompress(bytes, "gzip")
    c(int(c(15, length(zlib))), zlib)
  }, values, names(values))
  head <- charToRaw(sprintf("%-124s", "MATLAB 5.0 MAT-file, written by a test"))
  c(head, int(256, 2), charToRaw(if (endian == "little") "IM" else "MI"),
    unlist(elements, use.names = FALSE))
}
