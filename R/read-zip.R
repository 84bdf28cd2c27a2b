# Zip archives, in which NumPy keeps several arrays (.npz).

#' The files in an archive
#'
#' @param fail Raises the error about the file, from what is wrong.
#' @return A data frame: `name`; `packed`, whether it is compressed; `at`, the byte before
#'   it; `stored` and `size`, its bytes in the archive and unpacked; `crc`.
#' @noRd
zip_members <- function(file, fail) {
  damaged <- \(yes) if (anyNA(yes) || any(yes)) {
    fail("it is a damaged zip archive, or one that is cut short",
         "Copy it once more from where it was made.")
  }
  total <- file.size(file)
  con <- base::file(file, "rb")
  on.exit(close(con))
  # The end of the directory, with room for a comment after it.
  at <- max(0, total - 65557)
  seek(con, at)
  bytes <- readBin(con, "raw", total - at)
  end <- utils::tail(grepRaw(as.raw(c(0x50, 0x4b, 5, 6)), bytes, fixed = TRUE, all = TRUE), 1L)
  damaged(length(end) == 0L || length(bytes) < end + 21)
  n <- bytes_number(bytes, end + 10, 2L)
  size <- bytes_number(bytes, end + 12, 4L)
  at <- bytes_number(bytes, end + 16, 4L)
  if (n == 65535 || at == 2^32 - 1) fail("it is a zip archive of more than 4 GB")
  damaged(at + size > total)
  seek(con, at)
  directory <- readBin(con, "raw", size)
  members <- vector("list", n)
  at <- 1
  for (k in seq_len(n)) {
    damaged(at + 45 > size || !identical(directory[at + 0:3], as.raw(c(0x50, 0x4b, 1, 2))))
    number <- \(from, width) bytes_number(directory, at + from, width)
    name <- directory[at + 45 + seq_len(number(28, 2L))]
    damaged(anyNA(name) || any(name == as.raw(0)))
    members[[k]] <- data.frame(
      name = clean_text(rawToChar(name)), flags = number(8, 2L), method = number(10, 2L),
      crc = number(16, 4L), stored = number(20, 4L), size = number(24, 4L),
      header = number(42, 4L)
    )
    at <- at + 46 + number(28, 2L) + number(30, 2L) + number(32, 2L)
  }
  members <- do.call(rbind, members)
  damaged(length(members) == 0L)
  if (any(members$flags %% 2 == 1)) fail("it is a zip archive with a password")
  if (!all(members$method %in% c(0, 8))) fail("it is compressed in a way that NumPy never uses")
  # The best that this compression can do is a thousandth.
  damaged(members$header + members$stored > total | members$size > 1040 * members$stored + 1040)
  members$at <- vapply(members$header, \(at) {
    seek(con, at)
    local <- readBin(con, "raw", 30L)
    damaged(length(local) < 30L || !identical(local[1:4], as.raw(c(0x50, 0x4b, 3, 4))))
    at + 30 + bytes_number(local, 27, 2L) + bytes_number(local, 29, 2L)
  }, 0)
  members$packed <- members$method == 8
  damaged(members$at + members$stored > total | !members$packed & members$stored != members$size)
  members[c("name", "packed", "at", "stored", "size", "crc")]
}

#' A whole number of `width` bytes, the lowest first, `NA` beyond the end
#' @noRd
bytes_number <- function(bytes, at, width) {
  part <- as.integer(bytes[at + seq_len(width) - 1])
  sum(part * 256^(seq_len(width) - 1))
}

#' What `f` makes of a file in an archive, whose bytes are checked first
#'
#' @param member A row of `zip_members()`.
#' @param f Takes the path of a file, and where in it the member lies: the byte before it,
#'   and its size.
#' @noRd
with_member <- function(file, member, fail, f) {
  damaged <- \() fail(sprintf("`%s` in it is damaged", member$name),
                      "Copy the file once more from where it was made.")
  con <- base::file(file, "rb")
  on.exit(close(con))
  seek(con, member$at)
  if (!member$packed) {
    if (!identical(copied_crc(con, NULL, member$size), member$crc)) damaged()
    return(f(file, member$at, member$size))
  }
  # The same bytes between a header and an end make a file of gzip, which checks itself.
  packed <- tempfile()
  plain <- tempfile()
  on.exit(unlink(c(packed, plain)), add = TRUE)
  out <- base::file(packed, "wb")
  writeBin(as.raw(c(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)), out)
  copied_crc(con, out, member$stored)
  halves <- c(member$crc %% 65536, member$crc %/% 65536, member$size %% 65536,
              member$size %/% 65536)
  writeBin(as.integer(ifelse(halves > 32767, halves - 65536, halves)), out, size = 2L,
           endian = "little")
  close(out)
  source <- connection_source(gzfile(packed, "rb"), damaged,
                              \(crc, n) crc == member$crc && n == member$size)
  out <- base::file(plain, "wb")
  tryCatch({
    left <- member$size
    # One read more, which finds the end and checks it.
    while (length(bytes <- source$read(text_block)) > 0L) {
      left <- left - length(bytes)
      if (left < 0) damaged()
      writeBin(bytes, out)
    }
  }, finally = {
    source$close()
    close(out)
  })
  f(plain, 0, member$size)
}

#' CRC-32 of the next bytes of a connection, which are copied to another one or to none
#' @noRd
copied_crc <- function(con, out, size) {
  crc <- 0
  while (size > 0) {
    bytes <- readBin(con, "raw", min(size, text_block))
    if (length(bytes) == 0L) return(-1)
    crc <- .Call(r_crc32, crc, bytes)
    if (!is.null(out)) writeBin(bytes, out)
    size <- size - length(bytes)
  }
  crc
}
