# How the chunks of a data set are stored in an HDF5 file, from the bytes themselves. The
# library trusts the header of a data set and the tree of its chunks, and reads beyond its
# memory, which ends R, where their sizes do not fit each other. What newer layouts say
# carries checksums, and is left to the library, as is what cannot be read at all.

# Blocks of a header, and nodes of a tree, that are looked at.
header_blocks <- 64L
tree_nodes <- 4096L

#' Whether the chunks of a data set are as large as its type and its chunk dimensions say
#' @noRd
chunks_are_sound <- function(set) {
  said <- said_of_chunks(set)
  if (is.null(said$dims)) return(TRUE)
  con <- base::file(set$get_filename(), "rb")
  on.exit(close(con))
  start <- start_of_hdf5(con)
  if (length(start) == 0L || !places_take_8_bytes(con, start)) return(TRUE)
  address <- as.double(set$obj_info()$addr)
  layout <- chunk_layout(layout_message(con, start, address), length(said$dims))
  if (is.null(layout)) return(TRUE)
  if (!is.na(said$size) && layout$dims[[length(layout$dims)]] != said$size) return(FALSE)
  # The tree of a data set to which nothing was written has the highest place of all.
  layout$tree >= 2^63 || tree_is_sound(con, start, layout, said$resizes)
}

#' What the library says of the chunks of a data set, or `NULL` where it has none
#' @return Lengths of a chunk; bytes of a value, `NA` where those in the file may be
#'   others; of each filter, whether it changes the number of bytes.
#' @noRd
said_of_chunks <- function(set) {
  how <- set$get_create_plist()
  on.exit(how$close())
  dims <- how$get_chunk(length(set$dims))
  if (anyNA(dims)) return(NULL)
  filters <- seq_len(as.integer(how$get_nfilters())) - 1L
  list(dims = dims, size = plain_size(set), resizes = vapply(filters, \(k) {
    # Of a filter that the library does not know, hdf5r has no name.
    filter <- tryCatch(as.character(how$get_filter(k)$filter), error = \(e) "")
    !identical(filter, "H5Z_FILTER_SHUFFLE")
  }, NA))
}

#' Bytes of a value in the file, `NA` for types whose values may lie elsewhere
#' @noRd
plain_size <- function(set) {
  type <- set$get_type(native = FALSE)
  on.exit(type$close())
  plain <- as.character(type$get_class()) %in% c("H5T_INTEGER", "H5T_FLOAT", "H5T_ENUM")
  if (plain) as.double(type$get_size()) else NA_real_
}

#' Whether places and lengths take 8 bytes in a file, as they nearly always do
#' @param start Bytes before all that is HDF5.
#' @noRd
places_take_8_bytes <- function(con, start) {
  head <- bytes_at(con, start, 16)
  sizes <- if (head[[9L]] < as.raw(2)) 14:15 else 10:11
  all(head[sizes] == as.raw(8))
}

#' Bytes of the message on the layout in the header of a data set, or `NULL`
#'
#' A header is a block of messages, one of which may say where another block is.
#' @param address Place of the header.
#' @noRd
layout_message <- function(con, start, address) {
  head <- bytes_at(con, start + address, 16)
  if (length(head) < 16L || head[[1L]] != as.raw(1)) return(NULL)
  blocks <- list(c(address + 16, little_number(head[9:12])))
  for (k in seq_len(header_blocks)) {
    if (k > length(blocks)) return(NULL)
    block <- bytes_at(con, start + blocks[[k]][[1L]], min(blocks[[k]][[2L]], 2^20))
    at <- 0
    while (at + 8 <= length(block)) {
      kind <- little_number(block[at + 1:2])
      size <- little_number(block[at + 3:4])
      if (at + 8 + size > length(block)) return(NULL)
      body <- block[at + 8 + seq_len(size)]
      if (kind == 8) return(body)
      if (kind == 16 && size >= 16) blocks <- c(blocks, list(little_numbers(body[1:16])))
      at <- at + 8 + size
    }
  }
}

#' What a message says of a layout in chunks, or `NULL` where it says it in another way
#' @param rank Dimensions of the data set.
#' @return Lengths of a chunk, the last one the bytes of a value; the place of the tree.
#' @noRd
chunk_layout <- function(message, rank) {
  # Version 3, in chunks, with a dimension for the bytes of a value.
  kind <- as.raw(c(3, 2, rank + 1))
  if (length(message) < 11 + 4 * (rank + 1) || any(message[1:3] != kind)) {
    return(NULL)
  }
  dims <- vapply(seq_len(rank + 1), \(k) little_number(message[7 + 4 * k + 1:4]), 1)
  list(dims = dims, tree = little_number(message[4:11]))
}

#' Whether all chunks of a tree begin where one may, and are as large as it takes
#' @param layout The value of [chunk_layout()].
#' @param resizes Of each filter, whether it changes the number of bytes.
#' @noRd
tree_is_sound <- function(con, start, layout, resizes) {
  nodes <- layout$tree
  level <- NULL
  looked <- 0
  while (length(nodes) > 0L && looked < tree_nodes) {
    nodes <- utils::head(nodes, tree_nodes - looked)
    looked <- looked + length(nodes)
    found <- lapply(nodes, \(at) chunk_node(con, start + at, length(layout$dims)))
    found <- found[lengths(found) > 0L]
    if (length(found) == 0L) return(TRUE)
    # A node that is no lower than the one above may lead in a circle.
    level <- if (is.null(level)) found[[1L]]$level else level - 1L
    sound <- vapply(found, \(node) {
      node$level == level && keys_are_sound(node, layout$dims, resizes)
    }, NA)
    if (!all(sound)) return(FALSE)
    nodes <- if (level > 0L) unlist(lapply(found, `[[`, "below"))
  }
  TRUE
}

#' A node of a tree of chunks, or `NULL` where there is none
#' @param n Dimensions of the data set, and one for the bytes of a value.
#' @return `level`, 0 where it holds chunks; `below`, the places of these or of nodes;
#'   `bytes`, `skipped`, of each chunk the bytes in the file and a bit for each filter
#'   that was skipped; `offsets`, where each begins in the data set, and the last ends.
#' @noRd
chunk_node <- function(con, at, n) {
  head <- bytes_at(con, at, 24)
  kind <- c(charToRaw("TREE"), as.raw(1))
  if (length(head) < 24L || any(head[1:5] != kind)) return(NULL)
  used <- little_number(head[7:8])
  # Keys of 8 bytes, then offsets, and between two keys a place.
  words <- n + 2
  bytes <- bytes_at(con, at + 24, 8 * (words * used + n + 1))
  if (length(bytes) < 8 * (words * used + n + 1)) return(NULL)
  key <- matrix(little_numbers(c(bytes, raw(8))), words)
  chunk <- seq_len(used)
  list(level = as.integer(head[[6L]]), below = key[words, chunk],
       bytes = key[1L, chunk] %% 2^32, skipped = key[1L, chunk] %/% 2^32,
       offsets = key[1L + seq_len(n), , drop = FALSE])
}

#' Whether the chunks of a node begin where one may, and are as large as it takes
#' @noRd
keys_are_sound <- function(node, dims, resizes) {
  if (any(dims == 0) || any(node$offsets %% dims != 0)) return(FALSE)
  if (node$level > 0L) return(TRUE)
  # What went through a filter may have any size; its decoder notices one that is wrong.
  resized <- rep(FALSE, length(node$bytes))
  for (k in which(resizes)) resized <- resized | node$skipped %/% 2^(k - 1) %% 2 == 0
  all(resized | node$bytes == prod(dims))
}
