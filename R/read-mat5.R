# MATLAB files of versions 5 to 7, which are not HDF5: what `save` writes by default.
#
# A file is a sequence of elements: 4 bytes of type, 4 of length, and what they hold, filled up
# to whole 8 bytes. An element of at most 4 bytes may lie in the second half of its own tag. A
# variable is an element (type 14) that holds others: flags, sizes, name, values. Cells and
# structures hold variables. An element of type 15 is another one, compressed with zlib.
# MathWorks publishes the layout as "MAT-File Format".

# How the values of a part are stored, by its type.
mat_types <- list(
  type = c(1:7, 9L, 12L, 13L, 16:18),
  kind = c("i", "u", "i", "u", "i", "u", "f", "f", "i", "u", "u", "u", "u"),
  width = c(1L, 1L, 2L, 2L, 4L, 4L, 4L, 8L, 8L, 8L, 1L, 2L, 4L)
)

# Cells within cells that are looked into; no recording needs as many.
deepest_cell <- 20L

#' The variables of a file as nodes, named
#'
#' Values are read from the file, and become numbers only where they are asked for.
#' @return What `matlab_variables()` describes.
#' @noRd
mat5_variables <- function(file, fail) {
  con <- base::file(file, "rb")
  on.exit(close(con))
  head <- readBin(con, "raw", 128L)
  mark <- as.integer(head[127:128])
  endian <- if (identical(mark, utf8ToInt("IM"))) "little" else
    if (identical(mark, utf8ToInt("MI"))) "big" else fail("its first 128 bytes are damaged")
  left <- file.size(file) - 128
  out <- list()
  while (left > 0) {
    tag <- readBin(con, "integer", 2L, endian = endian)
    size <- mat5_size(tag[2L])
    left <- left - 8 - size
    if (is.na(left) || left < 0) fail("it is cut short, or damaged")
    fail_if(size > .Machine$integer.max, fail,
            "it has a variable of more than 2 GB", "Save it once more with `save(..., \"-v7.3\")`.")
    bytes <- readBin(con, "raw", size)
    if (tag[[1L]] == 15L) {
      inner <- inflate_element(bytes, endian, fail)
      tag <- inner$type
      bytes <- inner$bytes
    }
    # Other elements are MATLAB's own business.
    if (tag[[1L]] != 14L) next
    node <- mat5_node(list(bytes = bytes, endian = endian, fail = fail), 0, length(bytes))
    if (nzchar(node$name)) out[[node$name]] <- node
  }
  out
}

#' A length of 32 bits without a sign
#' @noRd
mat5_size <- function(value) if (is.na(value)) NA_real_ else value %% 2^32

#' What a compressed element holds
#'
#' R unpacks a stream of zlib only as a whole, and takes memory without end where the stream is
#' cut short. It unpacks a gzip file block by block. Both formats wrap the same bytes, in another
#' head and another check sum. So the bytes are wrapped as a gzip file, and zlib's check sum is
#' compared here.
#' @return `type` of the element in it, and its `bytes`.
#' @noRd
inflate_element <- function(bytes, endian, fail) {
  damaged <- \(yes) if (yes) fail("a compressed variable in it is damaged, or cut short",
                                  "Copy it once more from where it was made.")
  n <- length(bytes)
  damaged(n < 7L || bytes[[1L]] != as.raw(0x78))
  gzip <- tempfile()
  on.exit(unlink(gzip))
  writeBin(c(as.raw(c(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)), bytes[3:(n - 4L)], raw(8L)), gzip)
  con <- gzfile(gzip, "rb")
  on.exit(close(con), add = TRUE, after = FALSE)
  # It warns that the sum of gzip is missing.
  read <- \(n) suppressWarnings(tryCatch(readBin(con, "raw", n), error = \(e) raw()))
  tag <- read(8L)
  damaged(length(tag) < 8L)
  number <- readBin(tag, "integer", 2L, endian = endian)
  size <- mat5_size(number[[2L]])
  # Deflate makes a thousandth of a file at best.
  damaged(is.na(size) || size > min(1040 * n, .Machine$integer.max))
  inside <- read(size)
  sum <- as.integer(bytes[n - 3:0])
  damaged(length(inside) < size ||
            !identical(adler32(tag, inside), sum[c(2L, 4L)] + 256 * sum[c(1L, 3L)]))
  list(type = number[[1L]], bytes = inside)
}

#' The two halves of zlib's check sum, the high one first
#' @noRd
adler32 <- function(...) {
  low <- 1
  high <- 0
  for (bytes in list(...)) {
    # Parts so short that all sums are exact.
    for (first in seq(1, by = 2^21, length.out = ceiling(length(bytes) / 2^21))) {
      part <- as.double(bytes[first:min(length(bytes), first + 2^21 - 1)])
      n <- length(part)
      high <- (high + n * low + sum(part * (n:1))) %% 65521
      low <- (low + sum(part)) %% 65521
    }
  }
  c(high, low)
}

#' A part of an element: its `type`, the byte `from` which it lies, its length `n`, and the
#' byte after it
#' @param box The `bytes` of a variable, their `endian`, and `fail`.
#' @param at,end Bytes before the part, and before the end of what it is a part of.
#' @noRd
mat5_part <- function(box, at, end) {
  damaged <- \() box$fail("a variable in it is damaged")
  if (at + 8 > end) damaged()
  tag <- readBin(box$bytes[at + 1:8], "integer", 2L, endian = box$endian)
  if (is.na(tag[[1L]]) || tag[[1L]] < 0L) damaged()
  short <- tag[[1L]] %/% 65536L
  # The second half of a short one is what it holds.
  n <- if (short > 0L) short else tag[[2L]]
  if (is.na(n) || n < 0L) damaged()
  from <- if (short > 0L) at + 4 else at + 8
  after <- if (short > 0L) at + 8 else from + 8 * ceiling(n / 8)
  # The last part of a variable may go without the bytes that fill it up.
  if (n > 4L && short > 0L || from + n > end) damaged()
  list(type = tag[[1L]] %% 65536L, from = from, n = n, after = min(after, end))
}

#' Numbers of a part as they are stored
#' @noRd
mat5_numbers <- function(box, part) {
  at <- match(part$type, mat_types$type)
  width <- mat_types$width[at]
  if (is.na(at) || part$n %% width != 0) box$fail("a variable in it is damaged")
  if (part$n == 0) return(double())
  bytes <- box$bytes[part$from + seq_len(part$n)]
  read_number_block(bytes, mat_types$kind[[at]], width, part$n / width, box$fail, box$endian)
}

mat5_text <- function(box, part) {
  bytes <- box$bytes[part$from + seq_len(part$n)]
  clean_text(rawToChar(bytes[bytes != as.raw(0)]))
}

#' One variable, cell or field as a node, with its `name`
#' @noRd
mat5_node <- function(box, at, end, depth = 1L) {
  other <- list(name = "", kind = "other", dim = c(0, 0))
  # An empty cell may be an element of no bytes.
  if (at == end) return(other)
  damaged <- \(yes) if (yes) box$fail("a variable in it is damaged")
  damaged(depth > deepest_cell)
  flags <- mat5_part(box, at, end)
  class <- bitwAnd(as.integer(mat5_numbers(box, flags)[1L]), 255L)
  damaged(is.na(class))
  sizes <- mat5_part(box, flags$after, end)
  # What MATLAB keeps in classes of its own (strings, tables) has no sizes.
  if (class > 16L) return(replace(other, "name", mat5_text(box, sizes)))
  dim <- mat5_numbers(box, sizes)
  damaged(length(dim) < 2L || any(dim < 0 | dim != round(dim)))
  label <- mat5_part(box, sizes$after, end)
  node <- list(name = mat5_text(box, label), dim = dim)
  n <- prod(dim)
  if (class == 1L) {
    items <- mat5_items(box, label$after, end, n, depth)
    return(c(node, kind = "cell", items = \(at) items[at]))
  }
  if (class == 2L) {
    fields <- mat5_fields(box, label$after, end, dim, depth)
    return(c(node, kind = "struct", fields = list(fields)))
  }
  # Sparse matrices, functions and objects hold no spikes.
  if (!class %in% c(4L, 6:15)) return(c(node, kind = "other"))
  values <- mat5_part(box, label$after, end)
  read <- \() mat5_numbers(box, values)
  if (class == 4L) return(c(node, kind = "words", read = \() mat5_words(read(), dim)))
  c(node, kind = "numbers", whole = class > 7L, read = \() {
    value <- read()
    damaged(length(value) != n)
    value
  })
}

#' Nodes that follow one another
#' @noRd
mat5_items <- function(box, at, end, n, depth) {
  # Each takes 8 bytes at least.
  if (8 * n > end - at) box$fail("a variable in it is damaged")
  items <- vector("list", n)
  for (k in seq_len(n)) {
    part <- mat5_part(box, at, end)
    if (part$type != 14L) box$fail("a variable in it is damaged")
    items[[k]] <- mat5_node(box, part$from, part$from + part$n, depth + 1L)
    at <- part$after
  }
  items
}

#' The fields of a structure; those of an array of structures as cells
#' @noRd
mat5_fields <- function(box, at, end, dim, depth) {
  width <- mat5_part(box, at, end)
  names <- mat5_part(box, width$after, end)
  width <- mat5_numbers(box, width)
  damaged <- length(width) != 1L || width < 1 || names$n %% width != 0
  if (damaged) box$fail("a variable in it is damaged")
  first <- seq(0, by = width, length.out = names$n / width)
  label <- vapply(first, \(at) mat5_text(box, list(from = names$from + at, n = width)), "")
  n <- prod(dim)
  items <- mat5_items(box, names$after, end, n * length(label), depth)
  rlang::set_names(lapply(seq_along(label), \(k) {
    mine <- items[k + length(label) * (seq_len(n) - 1)]
    if (n == 1) mine[[1L]] else list(kind = "cell", dim = dim, items = \(at) mine[at])
  }), label)
}

#' The rows of a matrix of letters
#' @noRd
mat5_words <- function(code, dim) {
  # In UTF-8 a letter may take several bytes, so that a line of them is one row.
  if (length(code) != prod(dim)) return(clean_text(rawToChar(as.raw(code[code < 256]))))
  rows <- asplit(matrix(code, dim[[1L]]), 1L)
  sub(" +$", "", vapply(rows, \(row) intToUtf8(row[row > 0]), ""))
}
