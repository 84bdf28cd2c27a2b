# The pictures of a page that sources this file are PNG files of at most 256 colours, less
# than half as large as R's own and hardly to be told from them.

# Makes the PNG file of an uncompressed BMP file, as R's bmp() writes it.
few_colours <- function(path, ...) {
  image <- read_bmp(path)
  palette <- cut_boxes(image$colours, tabulate(image$pixels, nrow(image$colours)))
  made <- sub("[.]bmp$", ".png", path)
  write_png(made, matrix(palette$of[image$pixels], image$height), palette$colours)
  unlink(path)
  made
}

# The colours of a picture, a row of red, green and blue each, and which of them each pixel
# has, in columns from the top row to the bottom row.
read_bmp <- function(path) {
  bytes <- as.integer(readBin(path, "raw", file.size(path)))
  number <- \(at, n = 4L) sum(bytes[at + seq_len(n)] * 256^(seq_len(n) - 1L))
  width <- number(18L)
  height <- number(22L)
  size <- number(28L, 2L) / 8
  line <- 4 * ceiling(width * size / 4)
  # Rows come from the bottom, each filled up to whole words.
  data <- matrix(bytes[number(10L) + seq_len(line * height)], line)[, height:1, drop = FALSE]
  if (size == 1) {
    entries <- matrix(bytes[seq(55L, number(10L))], 4L)
    value <- colSums(entries[1:3, , drop = FALSE] * 256^(0:2))[data[seq_len(width), ] + 1L]
  } else {
    of <- \(channel) data[seq(channel, by = size, length.out = width), ]
    value <- of(1L) + 256 * of(2L) + 65536 * of(3L)
  }
  unique <- sort(unique(c(value)))
  list(width = width, height = height,
       colours = cbind(unique %/% 65536, unique %/% 256 %% 256, unique %% 256),
       pixels = t(matrix(match(value, unique), width)))
}

# Cuts boxes of colours in two, half way along their longest side, until there are `most` of
# them: first where long sides and many pixels meet. A box becomes the colour of most of its
# pixels, so that white stays white.
cut_boxes <- function(colours, count, most = 256L) {
  sides <- \(box) apply(colours[box, , drop = FALSE], 2L, \(v) diff(range(v)))
  weigh <- \(box) max(sides(box))^2 * sqrt(sum(count[box]))
  boxes <- list(seq_len(nrow(colours)))
  weight <- weigh(boxes[[1L]])
  while (length(boxes) < most && max(weight) > 0) {
    k <- which.max(weight)
    box <- boxes[[k]]
    along <- colours[box, which.max(sides(box))]
    low <- along <= (min(along) + max(along)) / 2
    boxes <- c(boxes[-k], list(box[low], box[!low]))
    weight <- c(weight[-k], weigh(box[low]), weigh(box[!low]))
  }
  of <- integer(nrow(colours))
  for (k in seq_along(boxes)) of[boxes[[k]]] <- k
  chosen <- vapply(boxes, \(box) box[which.max(count[box])], 0L)
  list(colours = colours[chosen, , drop = FALSE], of = of)
}

# Writes the indices of a palette, from 1 on, as the specification of PNG has it.
write_png <- function(path, index, palette) {
  word <- \(n) as.raw(n %/% 256^(3:0) %% 256)
  chunk <- \(name, data) {
    named <- c(charToRaw(name), data)
    c(word(length(data)), named, crc32(named))
  }
  # No row is filtered: differences of indices say nothing.
  rows <- as.raw(rbind(0L, t(index) - 1L))
  writeBin(c(
    as.raw(c(137, 80, 78, 71, 13, 10, 26, 10)),
    chunk("IHDR", c(word(ncol(index)), word(nrow(index)), as.raw(c(8, 3, 0, 0, 0)))),
    chunk("PLTE", as.raw(t(palette))),
    chunk("IDAT", memCompress(rows, "gzip")),
    chunk("IEND", raw())
  ), path)
}

# R has no function for this sum, but writes it at the end of each gzip file.
crc32 <- function(bytes) {
  file <- tempfile()
  on.exit(unlink(file))
  link <- gzfile(file, "wb")
  writeBin(bytes, link)
  close(link)
  rev(utils::head(utils::tail(readBin(file, "raw", file.size(file)), 8L), 4L))
}

if (capabilities("cairo")) {
  knitr::opts_chunk$set(dev = "bmp", dev.args = list(type = "cairo"),
                        fig.process = few_colours)
}
