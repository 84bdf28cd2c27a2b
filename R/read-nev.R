# Blackrock's event files (NEV): spikes that were detected, and perhaps sorted, while recording.

#' A header says the bytes of itself (from byte 12), those of a packet (16) and the ticks in
#' a second (20); then packets follow. One holds its time (4 bytes, from version 3 of the
#' format on 8), a number (2) and a class (1). Numbers from 1 are electrodes, 0 and those
#' above are other events. Class 0 is not sorted, 255 noise.
#' @noRd
read_nev <- function(file, about, fail) {
  head <- readBin(file, "raw", 336L)
  size <- readBin(head[13:24], "integer", 3L, endian = "little")
  fail_if(length(head) < 336L || anyNA(size) || any(size < 1L) || size[[2L]] < 12L, fail,
          "its header is damaged, or cut short")
  wide <- if (as.integer(head[[9L]]) >= 3L) 8L else 4L
  n <- (file.size(file) - size[[1L]]) / size[[2L]]
  if (n < 0 || n != round(n)) fail("it is cut short: its last packet is not whole")
  packets <- npy_records(list(
    file = file, first = size[[1L]], n = n, width = size[[2L]],
    fields = data.frame(name = c("time", "electrode", "class"), kind = "u",
                        width = c(wide, 2L, 1L), offset = c(0, wide, wide + 2))
  ), fail)
  spike <- packets$electrode >= 1 & packets$electrode < 10000
  electrode <- packets$electrode[spike]
  class <- packets$class[spike]
  key <- electrode * 256 + class
  used <- sort(unique(key))
  named_units(match(key, used), paste(used %/% 256, used %% 256, sep = "_"),
              list(electrode = used %/% 256, class = used %% 256),
              ticks = round_to_ticks(packets$time[spike], about$resolution, size[[3L]]))
}
