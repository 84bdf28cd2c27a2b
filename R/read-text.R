# The bytes of a text file, plain or compressed, in blocks of whole lines. A compressed
# file that is cut short or changed is an error: R's own connections end there in silence.

text_block <- 4194304L

# The head of a file, from which its format is guessed.
head_bytes <- 65536L

# A line of more is no row of a table, and must not fill the memory.
longest_line <- 2^26

#' Raise an error about a file if something is wrong with it, as refuse_file_if() does
#' @param fail Raises the error, from what is wrong and a hint.
#' @noRd
fail_if <- function(wrong, fail, what, hint = NULL) if (wrong) fail(what, hint)

#' Call `f` with one block of whole lines after the other
#'
#' @param f Takes a raw vector and how many of its bytes are whole lines.
#' @noRd
each_block <- function(file, f) {
  source <- text_source(file)
  on.exit(source$close())
  rest <- raw()
  repeat {
    bytes <- source$read(text_block)
    if (length(bytes) == 0L) break
    bytes <- c(rest, bytes)
    cut <- last_line_end(bytes)
    rest <- if (cut == 0) bytes else bytes[seq_len(length(bytes) - cut) + cut]
    refuse_file_if(length(rest) > longest_line, file,
                   sprintf("one of its lines is longer than %s bytes, so it is no table",
                           commas(longest_line)))
    if (cut > 0) f(bytes, cut)
  }
  if (length(rest)) f(rest, length(rest))
  invisible()
}

#' Place of the last byte that surely ends a line; 0 without one
#' @noRd
last_line_end <- function(bytes) {
  # Line ends are near the end of nearly every block.
  from <- pmax(1L, length(bytes) - c(1024L, 65536L))
  for (first in unique(c(from, 1L))) {
    end <- bytes[first:length(bytes)]
    at <- which(end == as.raw(10))
    # A CR at the very end may be half of CR LF.
    if (length(at) == 0L) at <- which(end[-length(end)] == as.raw(13))
    if (length(at)) return(at[[length(at)]] + first - 1)
  }
  0
}

#' Bytes of a file, decompressed
#'
#' @return `read(n)`, up to n bytes, none at the end, and an error there when the file is
#'   cut short or changed; `close()`.
#' @noRd
text_source <- function(file) {
  magic <- read_magic(file, 6L)
  damaged <- \() abort_file(
    file, "it is compressed, and cut short or damaged",
    "Copy it once more from where it was made, or unpack it to see what is left."
  )
  if (begin_with(magic, 0x42, 0x5a, 0x68)) {
    return(bzip2_source(file, damaged, \() abort_file(
      file, "it is compressed with bzip2 and larger than 2 GB", "Unpack it first."
    )))
  }
  whole <- if (begin_with(magic, 0x1f, 0x8b)) \(crc, n) gzip_is_whole(file, crc, n)
  xz <- begin_with(magic, 0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00)
  connection_source(if (xz || !is.null(whole)) gzfile(file, "rb") else base::file(file, "rb"),
                    damaged, whole)
}

#' The first bytes of a file, or an error where it cannot be opened
#' @noRd
read_magic <- function(file, n) {
  opened <- tryCatch(base::file(file, "rb"), error = identity, warning = identity)
  refuse_file_if(!inherits(opened, "connection"), file, "it cannot be opened",
                 "Check that you may read it.")
  on.exit(close(opened))
  readBin(opened, "raw", n)
}

#' @param whole `NULL`, or whether the CRC-32 and the number of all bytes are right.
#' @noRd
connection_source <- function(con, damaged, whole) {
  crc <- 0
  total <- 0
  list(
    read = \(n) {
      # R warns of damage in some formats, and gives what came before it.
      bytes <- tryCatch(readBin(con, "raw", n), warning = \(w) damaged(), error = \(e) damaged())
      if (!is.null(whole)) {
        crc <<- .Call(r_crc32, crc, bytes)
        total <<- total + length(bytes)
        if (length(bytes) == 0L && !whole(crc, total)) damaged()
      }
      bytes
    },
    close = \() close(con)
  )
}

#' Each stream is unpacked in memory, as that is where R finds damage
#' @noRd
bzip2_source <- function(file, damaged, too_large) {
  if (file.size(file) >= 2^31) too_large()
  packed <- readBin(file, "raw", file.size(file))
  # A stream begins with the digits of pi, or with those of its square root when empty.
  digits <- \(code) grepRaw(c(as.raw(code)), packed, fixed = TRUE, all = TRUE)
  first <- sort(c(digits(c(0x31, 0x41, 0x59, 0x26, 0x53, 0x59)),
                  digits(c(0x17, 0x72, 0x45, 0x38, 0x50, 0x90)))) - 4L
  first <- first[first == 1L | first > 14L]
  first <- first[vapply(first, \(k) identical(packed[k + 0:2], charToRaw("BZh")), logical(1))]
  if (length(first) == 0L || first[[1L]] != 1L) damaged()
  last <- c(first[-1L] - 1L, length(packed))
  at <- 0L
  list(
    read = \(n) {
      while (at < length(first)) {
        at <<- at + 1L
        bytes <- tryCatch(memDecompress(packed[first[[at]]:last[[at]]], "bzip2"),
                          error = \(e) damaged())
        if (length(bytes)) return(bytes)
      }
      raw()
    },
    close = \() NULL
  )
}

# ---- gzip --------------------------------------------------------------------------

#' Whether a gzip file is whole: its CRC-32 and length are those of what came out of it
#'
#' @param crc,total CRC-32 and number of the bytes that came out of it.
#' @noRd
gzip_is_whole <- function(file, crc, total) {
  size <- file.size(file)
  if (size < 18) return(FALSE)
  said <- gzip_trailers(file, size)
  identical(said$crc, crc) && said$length == total %% 2^32 ||
    gzip_members_fit(file, size)
}

#' CRC-32 and length, modulo 2^32, that stand in front of each of some places of a file
#' @noRd
gzip_trailers <- function(file, ends) {
  con <- base::file(file, "rb")
  on.exit(close(con))
  words <- vapply(ends, \(end) {
    seek(con, end - 8)
    halves <- readBin(con, "integer", 4L, size = 2L, signed = FALSE, endian = "little")
    c(halves[[1L]] + 65536 * halves[[2L]], halves[[3L]] + 65536 * halves[[4L]])
  }, numeric(2))
  data.frame(crc = words[1L, ], length = words[2L, ])
}

#' Whether the members of a gzip file follow one another without a gap
#'
#' Each ends in its CRC-32 and length, and the next one begins with a header.
#' @noRd
gzip_members_fit <- function(file, size) {
  said <- gzip_trailers(file, c(gzip_headers(file), size))
  con <- gzfile(file, "rb")
  on.exit(close(con))
  for (k in seq_len(nrow(said))) {
    crc <- 0
    left <- said$length[[k]]
    while (left > 0) {
      bytes <- readBin(con, "raw", min(left, text_block))
      if (length(bytes) == 0L) return(FALSE)
      crc <- .Call(r_crc32, crc, bytes)
      left <- left - length(bytes)
    }
    if (crc != said$crc[[k]]) return(FALSE)
  }
  length(readBin(con, "raw", 1L)) == 0L
}

#' Number of bytes in front of each member but the first
#' @noRd
gzip_headers <- function(file) {
  con <- base::file(file, "rb")
  on.exit(close(con))
  found <- numeric()
  before <- 0
  rest <- raw()
  repeat {
    bytes <- c(rest, readBin(con, "raw", text_block))
    if (length(bytes) <= length(rest)) break
    at <- member_starts(bytes)
    found <- c(found, before + at - 1)
    keep <- min(length(bytes), 9L)
    before <- before + length(bytes) - keep
    rest <- bytes[seq_len(keep) + length(bytes) - keep]
  }
  found <- unique(found)
  found[found >= 18]
}

#' Where ten bytes stand that may be the header of a member
#' @noRd
member_starts <- function(bytes) {
  n <- length(bytes)
  if (n < 10L) return(integer())
  at <- which(bytes[seq_len(n - 9L)] == as.raw(0x1f))
  at[bytes[at + 1L] == as.raw(0x8b) & bytes[at + 2L] == as.raw(8) &
       bytes[at + 3L] < as.raw(32) & bytes[at + 8L] %in% as.raw(c(0, 2, 4)) &
       (bytes[at + 9L] < as.raw(14) | bytes[at + 9L] == as.raw(255))]
}

# ---- What bytes are ----

#' Whether bytes begin with these codes
#' @noRd
begin_with <- function(bytes, ...) {
  code <- as.raw(c(...))
  length(bytes) >= length(code) && identical(bytes[seq_along(code)], code)
}

#' Whether they begin with the byte order mark of UTF-8
#' @noRd
begin_with_mark <- function(bytes) begin_with(bytes, 0xef, 0xbb, 0xbf)

#' Whether they begin as a NumPy array does
#' @noRd
is_npy <- function(bytes) begin_with(bytes, 0x93, charToRaw("NUMPY"))

ends_line <- function(byte) byte %in% as.raw(c(10, 13))

is_binary <- function(bytes) any(bytes < as.raw(9) | (bytes > as.raw(13) & bytes < as.raw(32)))

#' Number of bytes of the byte order mark and the lines in front of the data
#' @noRd
head_end <- function(bytes, size, layout) {
  mark <- if (layout$bom) 3 else 0
  if (layout$skip == 0L) return(mark)
  # The head of a file was read from its first 64 KiB.
  first <- bytes[seq_len(min(size, head_bytes + 4L))]
  cr <- first == as.raw(13)
  lf <- first == as.raw(10)
  # CR LF is one line end, at its LF.
  ends <- which(lf | cr & !c(lf[-1L], FALSE))
  if (length(ends) < layout$skip) size else ends[[layout$skip]]
}

#' Lines of a small text file, in UTF-8 and without a byte order mark
#' @noRd
text_lines <- function(file) {
  refuse_file_if(dir.exists(file), file, "it is a folder")
  refuse_file_if(file.size(file) > longest_line, file,
                 sprintf("it has more than %s bytes, so it is no table of labels",
                         commas(longest_line)))
  bytes <- read_magic(file, file.size(file))
  refuse_file_if(is_binary(bytes), file, "it holds binary data, not text")
  lines_of(if (begin_with_mark(bytes)) bytes[-(1:3)] else bytes)
}

#' Lines of bytes, in UTF-8
#' @noRd
lines_of <- function(bytes) {
  clean_text(strsplit(rawToChar(bytes), "\r\n|\n|\r", useBytes = TRUE)[[1L]])
}
