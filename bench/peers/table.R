# The table of bench/peers/run.R: a row for each work and peer, printed and as CSV.

#' One row; `ours` and `theirs` are lists of two measurements, in the order in which they
#' were taken (`first`: ours first; `second`: the peer first), each a list of `wall` and
#' `cpu`, the seconds of each run; NULL where nothing was measured
peer_row <- function(title, peer, device, result, version = NA, ours = NULL, theirs = NULL,
                     ours_on = NA) {
  seconds <- \(side, which) {
    if (is.null(side)) return(NA_real_)
    stats::median(unlist(lapply(side, `[[`, which)))
  }
  ratio <- \(k) {
    if (is.null(ours) || is.null(theirs)) return(NA_real_)
    stats::median(theirs[[k]]$wall) / stats::median(ours[[k]]$wall)
  }
  data.frame(
    work = title, peer = peer, peer_version = version, device = device, ours_on = ours_on,
    peer_wall = seconds(theirs, "wall"), ours_wall = seconds(ours, "wall"),
    peer_cpu = seconds(theirs, "cpu"), ours_cpu = seconds(ours, "cpu"),
    times = seconds(theirs, "wall") / seconds(ours, "wall"),
    times_ours_first = ratio("first"), times_peer_first = ratio("second"),
    runs = if (is.null(theirs)) NA_integer_ else
      length(unlist(lapply(theirs, `[[`, "wall"))),
    result = result
  )
}

#' A number of seconds, or of times, in three digits
short <- function(x) {
  ifelse(is.na(x), "", ifelse(x >= 100, format(round(x), big.mark = ",", trim = TRUE),
                              formatC(x, digits = 3, format = "fg", flag = "#")))
}

#' How many times as fast we are, in words where the peer is ahead or did other work
times_text <- function(rows) {
  no_comparison <- is.na(rows$times) | startsWith(rows$result, "differs")
  ifelse(no_comparison, "", ifelse(rows$times < 1, paste(short(rows$times), "(peer ahead)"),
                                   short(rows$times)))
}

print_table <- function(rows) {
  shown <- data.frame(
    work = rows$work, peer = rows$peer, peer_s = short(rows$peer_wall),
    ours_s = short(rows$ours_wall), ours_on = ifelse(is.na(rows$ours_on), "", rows$ours_on),
    times = times_text(rows), result = rows$result
  )
  options(width = 200)
  print(shown, row.names = FALSE, right = FALSE)
}

machine_name <- function(device) {
  if (device == "gpu") return(synfire_sitrep(test_devices = FALSE)$devices$name[[1L]])
  info <- "/proc/cpuinfo"
  line <- if (file.exists(info)) grep("^model name", readLines(info), value = TRUE)
  if (length(line)) sub(".*: *", "", line[[1L]]) else R.version$platform
}

#' Writes the rows of one device with machine, date and version. What the file has from the
#' same machine and version and was not measured again stays; nothing is written where all
#' peers are missing, so that a machine without them leaves the tables of another alone.
write_table <- function(rows, device, folder) {
  rows <- rows[rows$device == device, ]
  if (all(startsWith(rows$result, "missing"))) return(invisible())
  numbers <- vapply(rows, is.double, NA)
  rows[numbers] <- lapply(rows[numbers], signif, 4)
  machine <- machine_name(device)
  rows$machine <- machine
  rows$date <- format(Sys.Date())
  rows$synfire <- as.character(utils::packageVersion("synfire"))
  kind <- if (device == "gpu") tolower(sub(".*[ -]", "", machine)) else "cpu"
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  file <- file.path(folder, sprintf("peers-%s.csv", kind))
  utils::write.csv(with_kept(rows, file), file, row.names = FALSE)
  invisible(file)
}

with_kept <- function(rows, file) {
  if (!file.exists(file)) return(rows)
  there <- utils::read.csv(file, colClasses = c(peer_version = "character", synfire = "character"))
  if (!identical(names(there), names(rows))) return(rows)
  again <- paste(there$work, there$peer) %in% paste(rows$work, rows$peer)
  alike <- there$machine == rows$machine[[1L]] & there$synfire == rows$synfire[[1L]]
  rbind(there[alike & !again, ], rows)
}
