# NumPy arrays (.npy): numbers, text, and records of these, little-endian.

#' What the header of an array says
#'
#' Versions 1 and 2 of the format. What it says is compared with the file before anything is
#' allocated.
#' @param fail Raises the error about the file, from what is wrong.
#' @param any_type Whether `NULL` is the answer for an array of a type that is not read.
#' @return `file`; `first`, the byte before the values; `n`, how many there are; `shape`;
#'   `by_column`, whether the first index runs fastest; `fields`, a data frame of the
#'   `name` (\"\" for a plain array), `kind` (i, u, f, b, U, S), `width` and `offset` of the
#'   parts of a value; `width` of all of it.
#' @noRd
npy_header <- function(file, fail, any_type = FALSE) {
  size <- file.size(file)
  con <- base::file(file, "rb")
  on.exit(close(con))
  magic <- readBin(con, "raw", min(8, size))
  if (length(magic) < 8L || !is_npy(magic)) fail("it is no NumPy array")
  version <- as.integer(magic[[7L]])
  if (!version %in% 1:2) fail(sprintf("it is of version %d; versions 1 and 2 are read", version))
  bytes <- if (version == 1L) {
    readBin(con, "integer", size = 2L, signed = FALSE, endian = "little")
  } else {
    readBin(con, "integer", size = 4L, endian = "little")
  }
  # A header that long is damage, and must not be allocated.
  damaged <- \(yes) if (yes) fail("its header is damaged")
  damaged(length(bytes) != 1L || is.na(bytes) || bytes < 1L || bytes > 1e6)
  text <- readBin(con, "raw", bytes)
  damaged(length(text) < bytes || any(text == as.raw(0) | text > as.raw(127)))
  text <- rawToChar(text)

  entry <- \(key, pattern) {
    found <- regmatches(text, regexec(sprintf("['\"]%s['\"]\\s*:\\s*%s", key, pattern), text))
    if (length(found[[1L]]) < 2L) NA_character_ else found[[1L]][[2L]]
  }
  shape <- entry("shape", "\\(([^)]*)\\)")
  damaged(is.na(shape))
  fields <- npy_fields(entry("descr", "(['\"][^'\"]*['\"]|\\[.*\\])"), fail, any_type)
  if (is.null(fields)) return(NULL)
  width <- sum(fields$width)
  extent <- strsplit(gsub("[L ]", "", shape), ",")[[1L]]
  whole <- all(grepl("^[0-9]{1,15}$", extent))
  if (!whole) fail(sprintf("its shape is (%s); one column is read", shape))
  extent <- as.double(extent)
  n <- prod(extent)
  first <- 8 + (if (version == 1L) 2 else 4) + bytes
  left <- size - first
  fail_if(left != n * width, fail,
          sprintf("it is %s: %s bytes for %s values of %d bytes",
                  if (left < n * width) "cut short" else "damaged", commas(left), commas(n),
                  width))
  list(file = file, first = first, n = n, shape = extent,
       by_column = identical(entry("fortran_order", "(True|False)"), "True"),
       fields = fields[nzchar(fields$kind), ], width = width)
}

#' @param descr The entry `descr` of a header: a type in quotes, or a list of fields.
#' @noRd
npy_fields <- function(descr, fail, any_type) {
  quoted <- "['\"]([^'\"]*)['\"]"
  refuse <- \(type) if (!any_type) fail(sprintf(
    "its type is %s; little-endian integers and floats of at most 8 bytes are read", type
  ))
  if (is.na(descr)) return(refuse("structured"))
  if (grepl("^\\[", descr)) {
    pair <- sprintf("\\(%s,\\s*%s\\)", quoted, quoted)
    pairs <- regmatches(descr, gregexpr(pair, descr))[[1L]]
    # What is left over is a field of several values, or of fields.
    if (length(pairs) == 0L || grepl("[^] ,[]", gsub(pair, "", descr))) {
      return(refuse("structured"))
    }
    name <- sub(pair, "\\1", pairs)
    type <- sub(pair, "\\2", pairs)
  } else {
    name <- ""
    type <- gsub("['\"]", "", descr)
  }
  known <- grepl("^([<][iu][248]|[|<][iu]1|[<]f[48]|[|]b1|[<]U[0-9]{1,4}|[|]S[0-9]{1,5})$", type)
  # Fields may be filled up to whole words, which has a name of no letters.
  room <- name == "" & grepl("^[|]V[0-9]{1,4}$", type) & length(name) > 1L
  if (!all(known | room)) return(refuse(encodeString(type[!known & !room][[1L]], quote = "\"")))
  width <- as.double(substring(type, 3L)) * ifelse(substr(type, 2L, 2L) == "U", 4, 1)
  data.frame(name = name, kind = ifelse(room, "", substr(type, 2L, 2L)), width = width,
             offset = cumsum(c(0, width))[seq_along(width)])
}

#' Values of a plain array, in the order in which they lie in the file
#' @param first,n The first one, counted from 1, and how many.
#' @noRd
npy_values <- function(head, fail, first = 1, n = head$n) {
  con <- base::file(head$file, "rb")
  on.exit(close(con))
  seek(con, head$first + (first - 1) * head$width)
  kind <- head$fields$kind
  if (kind %in% c("U", "S")) return(read_words(con, head$fields, n, fail))
  read_numbers(con, if (kind == "b") "u" else kind, head$width, n, fail)
}

#' A NumPy array of records as a list of vectors, one a field
#' @noRd
npy_records <- function(head, fail) {
  con <- base::file(head$file, "rb")
  on.exit(close(con))
  seek(con, head$first)
  fields <- head$fields
  # An empty file has its columns as well.
  parts <- lapply(fields$kind, \(kind) list(if (kind %in% c("U", "S")) character() else double()))
  left <- head$n
  while (left > 0) {
    now <- min(left, ceiling(npy_block / head$width))
    bytes <- matrix(readBin(con, "raw", now * head$width), head$width)
    if (ncol(bytes) < now) fail("it is cut short")
    for (k in seq_len(nrow(fields))) {
      field <- as.vector(bytes[fields$offset[[k]] + seq_len(fields$width[[k]]), ])
      parts[[k]][[length(parts[[k]]) + 1L]] <- if (fields$kind[[k]] %in% c("U", "S")) {
        read_words(field, fields[k, ], now, fail)
      } else {
        read_number_block(field, sub("b", "u", fields$kind[[k]]), fields$width[[k]], now, fail)
      }
    }
    left <- left - now
  }
  rlang::set_names(lapply(parts, unlist), fields$name)
}

#' An array of one column: shape (n,), (n, 1) or (1, n), or (n, m) where `several`
#'
#' @return A vector; records give a list of vectors, one a field, and several columns a list
#'   of vectors without names.
#' @noRd
npy_columns <- function(head, fail, several = FALSE) {
  shape <- head$shape
  # Among several columns, a row is one spike.
  wide <- length(shape) == 2L && head$n > 0 && (if (several) shape[[2L]] > 1 else !any(shape == 1))
  fail_if(!length(shape) %in% 1:2 || (wide && !several), fail,
          sprintf("its shape is (%s); one column is read", toString(commas(shape))))
  if (nrow(head$fields) > 1L || nzchar(head$fields$name[[1L]])) return(npy_records(head, fail))
  value <- npy_values(head, fail)
  if (!wide) return(value)
  value <- matrix(value, if (head$by_column) shape[[1L]] else shape[[2L]])
  lapply(seq_len(shape[[2L]]), \(k) if (head$by_column) value[, k] else value[k, ])
}

#' A file with one column of numbers, as doubles
#'
#' Integers beyond 2^53 are an error, as a double would not hold them.
#' @noRd
read_npy <- function(file) {
  fail <- failing(file)
  # Whether it can be opened at all.
  read_magic(file, 1L)
  head <- npy_header(file, fail)
  fail_if(any(head$fields$kind %in% c("U", "S")) || nrow(head$fields) > 1L, fail,
          "it holds text or records; a column of numbers is read")
  as.double(npy_columns(head, fail))
}

#' Words of a fixed number of letters
#' @param con A connection, or bytes.
#' @noRd
read_words <- function(con, field, n, fail) {
  if (n == 0) return(character())
  if (field$width == 0) return(rep("", n))
  bytes <- readBin(con, "raw", n * field$width)
  if (length(bytes) < n * field$width) fail("it is cut short")
  if (field$kind == "U") {
    letters <- matrix(readBin(bytes, "integer", length(bytes) / 4, size = 4L, endian = "little"),
                      field$width / 4)
    if (anyNA(letters) || any(letters < 0 | letters > 0x10ffff)) fail("its text is damaged")
  } else {
    letters <- matrix(as.integer(bytes), field$width)
  }
  # Few names, many spikes: each distinct one is looked at once.
  key <- do.call(paste, as.data.frame(t(letters)))
  first <- which(!duplicated(key))
  words <- vapply(first, \(k) {
    one <- letters[, k]
    intToUtf8(one[seq_len(max(0L, which(one != 0L)))])
  }, character(1))
  if (anyNA(words)) fail("its text is damaged")
  words[match(key, key[first])]
}

# Values read at once: R reads less than 2 GB in one go, and stops between them.
npy_block <- 2^22

read_numbers <- function(con, kind, width, n, fail, block = npy_block) {
  out <- double(n)
  at <- 0
  while (at < n) {
    part <- read_number_block(con, kind, width, min(n - at, block), fail)
    out[at + seq_along(part)] <- part
    at <- at + length(part)
  }
  out
}

read_number_block <- function(con, kind, width, n, fail, endian = "little") {
  take <- \(what, n, size, signed = TRUE) {
    v <- readBin(con, what, n, size = size, signed = signed, endian = endian)
    if (length(v) < n) fail("it is cut short")
    v
  }
  if (kind == "f") return(take("double", n, width))
  if (width < 4L) return(as.double(take("integer", n, width, signed = kind == "i")))
  # The smallest 32-bit integer is R's NA; it is a value like any other here.
  signed32 <- \(v) {
    v <- as.double(v)
    v[is.na(v)] <- -2^31
    v
  }
  unsigned32 <- \(v) {
    v <- signed32(v)
    v + 2^32 * (v < 0)
  }
  if (width == 4L) {
    v <- take("integer", n, 4L)
    return(if (kind == "i") signed32(v) else unsigned32(v))
  }
  halves <- take("integer", 2 * n, 4L)
  lower <- rep(c(TRUE, FALSE) == (endian == "little"), n)
  low <- unsigned32(halves[lower])
  high <- if (kind == "i") signed32(halves[!lower]) else unsigned32(halves[!lower])
  v <- high * 2^32 + low
  if (any(abs(v) > 2^53)) fail("it holds integers beyond 2^53, more than a double keeps apart")
  v
}
