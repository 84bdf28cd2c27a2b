# A stream that is fed: how fast rows are taken in, and how long after a block is over the
# function that reacts to it is called (the closed loop), from a file and over a socket.
#
# Rscript bench/feeds.R        one thread; the writer is a second process

library(synfire)

delays <- c(0.005, 0.015)
every <- 0.1
units <- 60
rate <- 1170   # spikes a second, as a culture on 60 channels has

#' CPU seconds of this process for rows of a table that is there already, of which nothing
#' is frequent: with the feed, and for the updates alone
taken_in <- function(rows) {
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  time <- sort(runif(rows, 0, rows / rate))
  writeLines(c("time,unit", sprintf("%.6f,%d", time, sample(units, rows, TRUE))), file)
  stream <- episode_stream(delays, 1e6, 10, threads = 1)
  feed <- feed_file(stream, file, every = 1, wait = Inf)
  cpu <- sum(system.time(run_feed(feed, idle = 0))[1:2])
  close(feed)
  x <- read_spikes(file)
  ends <- seq(1, rows / rate)
  blocks <- lapply(ends, \(end) x[time = c(end - 1, end)])
  alone <- system.time(for (k in seq_along(ends)) {
    stream <- update(stream, blocks[[k]], now = ends[[k]])
  })
  c(rows = rows, megabytes = file.size(file) / 1e6, with_feed = cpu,
    updates_alone = sum(alone[1:2]))
}

# Writes spikes as they happen: their times are seconds by the clock since `began`.
writer <- quote({
  con <- if (is.character(to)) file(to, "ab") else
    socketConnection("localhost", to, open = "wb", blocking = TRUE)
  before <- as.numeric(Sys.time()) - began
  first <- before
  while (before < first + seconds) {
    Sys.sleep(0.005)
    now <- as.numeric(Sys.time()) - began
    time <- sort(runif(round(rate * (now - before)), before, now))
    lines <- sprintf("%.6f,%d\n", time, sample(units, length(time), TRUE))
    writeBin(charToRaw(paste(lines, collapse = "")), con)
    flush(con)
    before <- now
  }
})

#' Milliseconds from the end of each block, by the clock, to the call of a function
reactions <- function(feed, to, began, seconds = 10) {
  code <- tempfile(fileext = ".R")
  values <- list(to = to, began = began, seconds = seconds, rate = rate, units = units)
  dump("values", code, envir = environment())
  cat("invisible(list2env(values, globalenv()))\n", deparse(writer), file = code, sep = "\n",
      append = TRUE)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", code), wait = FALSE)
  late <- numeric()
  run_feed(feed, seconds = seconds + 3, idle = 3, on_update = function(stream) {
    end <- tail(stream$history$end, 1)
    late <<- c(late, as.numeric(Sys.time()) - began - end)
  })
  close(feed)
  # The first blocks wait until the layout of the table is known.
  1000 * quantile(late[-(1:3)], c(0.5, 0.99))
}

print(round(taken_in(7e5), 2))
stream <- episode_stream(delays, 20, 60, threads = 1)
began <- as.numeric(Sys.time())
file <- tempfile(fileext = ".csv")
invisible(file.create(file))
by_file <- reactions(feed_file(stream, file, every = every, wait = Inf, header = FALSE), file, began)
began <- as.numeric(Sys.time())
port <- 47000 + Sys.getpid() %% 1000
by_socket <- reactions(feed_socket(stream, port, every = every, wait = Inf), port, began)
print(round(rbind(file = by_file, socket = by_socket), 1))
