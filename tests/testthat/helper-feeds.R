# Streams that are fed: a recording to be written, programs that write it badly, and what
# the stream must hold then.

# Spikes in ticks of a millisecond, in the order of time, no unit twice on a tick.
fed_recording <- function(seed, spikes = 300, span = 3000, units = 5) {
  withr::local_seed(seed)
  tick <- c(sample(span, spikes %/% 2, TRUE), sample(span, 5) + sample(80, spikes, TRUE))
  all <- unique(data.frame(tick = tick, unit = paste0("u", sample(units, length(tick), TRUE))))
  all[order(all$tick, all$unit), ]
}

fed_lines <- function(all) sprintf("%.3f,%s", all$tick / 1000, all$unit)

fed_stream <- function(window = 0.8, least = 3, ...) {
  episode_stream(c(0.001, 0.012), least, window, resolution = 1e-3, max_size = 3,
                 threads = 1, ...)
}

# What mining says of the spikes in the window that the stream has come to.
expect_window_of <- function(stream, all) {
  inside <- all[all$tick > stream$now - stream$window & all$tick <= stream$now, ]
  x <- spike_trains(inside$tick / 1000, inside$unit, start = -10, end = 1e4,
                    resolution = 1e-3)
  whole <- mine_episodes(x, stream$arguments$min_count, c(0.001, 0.012), max_size = 3,
                         threads = 1)
  testthat::expect_identical(as.data.frame(stream), as.data.frame(whole))
}

quietly <- function(code) {
  suppressMessages(code, classes = "synfire_message_feed")
}

add_bytes <- function(file, text) {
  con <- file(file, "ab")
  on.exit(close(con))
  writeBin(charToRaw(text), con)
}

# A feed from a port that is free, and the port.
socket_feed <- function(stream, ...) {
  for (port in sample(20000:60000, 20)) {
    feed <- tryCatch(feed_socket(stream, port, ...), synfire_error_argument = identity)
    if (inherits(feed, "stream_feed")) return(list(feed = feed, port = port))
    if (!grepl("cannot be opened", conditionMessage(feed))) stop(feed)
  }
  testthat::skip("no port is free")
}

connect <- function(port) {
  socketConnection("localhost", port, open = "wb", blocking = TRUE, timeout = 5)
}

# Updates until `done()`, at most so many seconds.
feed_until <- function(feed, done, seconds = 10) {
  testthat::expect_true(await(function() {
    if (done()) return(TRUE)
    update(feed)
    done()
  }, seconds))
}

# Updates until nothing is left to read or to count, without a wait.
update_all <- function(feed) {
  repeat {
    before <- list(feed$counts, feed$stream$updates, feed$source$done())
    update(feed)
    after <- list(feed$counts, feed$stream$updates, feed$source$done())
    if (identical(before, after)) return()
  }
}

# An HDF5 file of two data sets that grow, and rows appended to it: by a program that opens
# the file, tries again where a reader has it, and closes it.
begin_h5 <- function(file, unit = hdf5r::H5T_STRING$new(size = Inf)) {
  h5 <- hdf5r::H5File$new(file, mode = "w")
  group <- h5$create_group("spikes")
  grows <- \(name, type) group$create_dataset(name, dtype = type, chunk_dims = 256L,
    space = hdf5r::H5S$new("simple", dims = 0, maxdims = Inf))
  grows("time", hdf5r::h5types$H5T_NATIVE_DOUBLE)
  grows("unit", unit)
  h5$close_all()
}

append_h5 <- function(file, time, unit) {
  for (try in 1:500) {
    h5 <- tryCatch(hdf5r::H5File$new(file, mode = "r+"), error = \(e) NULL)
    if (inherits(h5, "H5File")) break
    Sys.sleep(0.01)
  }
  put <- function(name, values) {
    set <- h5[[name]]
    set[set$dims + seq_along(values)] <- values
  }
  put("spikes/time", time)
  put("spikes/unit", unit)
  h5$close_all()
}
