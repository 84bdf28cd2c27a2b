# Streams that are fed by a table that grows or over a socket, written in pieces of any
# length, out of order, with repeated and broken lines; compared with mining the window.

# ---- a recording and how it is written ----

# Rows in ticks of a millisecond, and the lines for them.
feed_drawn <- function() {
  n <- whole(1, 150)
  span <- whole(1, 2000)
  all <- unique(data.frame(tick = sample(span, n, TRUE),
                           unit = sample(c("a", "B 2", "c,1", "d\"q", "\u00fc"), n, TRUE)))
  disorder <- one_of(0, 3, 300)
  at <- all$tick + sample(0:disorder, nrow(all), TRUE)
  again <- all[sample(nrow(all), whole(0, nrow(all))), ]
  rows <- rbind(all, again)
  rows <- rows[order(c(at, again$tick + sample(0:1000, nrow(again), TRUE))), ]
  list(all = all, rows = rows)
}

# How the table is laid out: arguments of feed_file() and the text of rows.
feed_layout <- function() {
  unit_of_time <- one_of("s", "ms", "us", "samples")
  sep <- one_of(",", ";", "\t", "|", " ")
  mark <- if (sep == ",") "." else one_of(".", ",")
  per <- c(s = 1e-3, ms = 1, us = 1000, samples = 20)[[unit_of_time]]
  quoted <- function(unit) paste0("\"", gsub("\"", "\"\"", unit, fixed = TRUE), "\"")
  line <- function(rows) {
    time <- sprintf(if (unit_of_time == "s") "%.3f" else "%.0f", rows$tick * per)
    paste0(quoted(rows$unit), sep, sub(".", mark, time, fixed = TRUE), sep, "x")
  }
  header <- sometimes(0.5)
  list(
    line = line, sep = sep, header = if (header) paste(c("unit", "time", "more"), collapse = sep),
    args = c(
      list(time_unit = unit_of_time, decimal_mark = mark),
      if (unit_of_time == "samples") list(sampling_rate = 20000),
      if (header) some_args(header = TRUE) else list(header = FALSE),
      if (header && sometimes(0.5)) list(time_column = "time", unit_column = "unit") else
        list(time_column = 2, unit_column = 1),
      some_args(sep = sep)
    )
  )
}

feed_stream <- function(window) {
  episode_stream(rbind(c(0, 0.004), c(0.004, 0.012)), whole(1, 4), window / 1000,
                 resolution = 1e-3, max_size = 3, threads = 1)
}

feed_timing <- function(window) {
  c(list(every = whole(1, window) / 1000),
    some_args(slack = one_of(0, 0.003, 0.3), wait = one_of(0, 1000, Inf)))
}

# Some bytes of the lines, with lines between them that are none.
feed_pieces <- function(lines, broken) {
  junk <- c("nothing", "1.2.3", "", ",,", "\"open", "\"a\",\"b\" c", "NA,NA,NA", "  ")
  at <- sort(sample(0:length(lines), broken, TRUE))
  for (k in rev(at)) lines <- append(lines, sample(junk, 1), k)
  bytes <- charToRaw(paste0(lines, one_of("\n", "\r\n"), collapse = ""))
  cuts <- unique(sort(c(0, sample(length(bytes), min(length(bytes), whole(1, 8))), length(bytes))))
  lapply(seq_along(cuts)[-1], \(k) bytes[seq(cuts[[k - 1]] + 1, cuts[[k]])])
}

# ---- what must hold ----

feed_checked <- function(feed, drawn, broken) {
  s <- attempt("close", list(feed))
  if (refused(s)) return(finding(paste("a feed was not closed:", conditionMessage(s))))
  counts <- feed$counts
  if (sum(counts[c("spikes", "repeated", "too_late", "stray")]) != nrow(drawn$rows)) {
    finding(sprintf("of %d rows the feed counts %s", nrow(drawn$rows), toString(counts)))
  }
  if (counts[["spikes"]] > nrow(drawn$all)) finding("a spike counts twice")
  if (counts[["broken"]] > broken) finding("a sound line was left out")
  # What was left out as a stray row may be missing; rows far out of order look like that.
  if (counts[["stray"]] > 0) return()
  now <- s$now
  inside <- drawn$all[drawn$all$tick > now - s$window & drawn$all$tick <= now, ]
  x <- spike_trains(inside$tick / 1000, inside$unit, start = -10, end = 100, resolution = 1e-3)
  want <- mine_episodes(x, s$arguments$min_count, s$arguments$intervals, max_size = 3, threads = 1)
  same(ep_rows(s$episodes), ep_rows(want), "a stream that is fed and mining its window")
}

feed_add <- function(file, bytes) {
  con <- file(file, "ab")
  writeBin(bytes, con)
  close(con)
}

feed_by_file <- function(world) {
  drawn <- feed_drawn()
  layout <- feed_layout()
  window <- whole(1, 600)
  broken <- one_of(0, 3)
  file <- file.path(world$folder, "grows.csv")
  feed <- attempt("feed_file", c(list(feed_stream(window), file), feed_timing(window), layout$args))
  if (refused(feed)) return(finding(paste("a feed was refused:", conditionMessage(feed))))
  # The first rows show the layout, and are sound.
  first <- drawn$rows[seq_len(min(25, nrow(drawn$rows))), ]
  feed_add(file, charToRaw(paste0(c(layout$header, layout$line(first)), "\n", collapse = "")))
  rest <- drawn$rows[-seq_len(nrow(first)), ]
  pieces <- if (nrow(rest)) feed_pieces(layout$line(rest), broken)
  for (piece in pieces) {
    feed_step_once(feed)
    feed_add(file, piece)
    if (sometimes(0.1)) file.rename(file, paste0(file, ".old")) && file.copy(paste0(file, ".old"), file)
  }
  feed$news <- -Inf   # as if nothing had come for long: a short table shows its layout
  for (k in 1:3) attempt("update", list(feed))
  feed_checked(feed, drawn, broken)
}

feed_step_once <- function(feed) {
  if (sometimes(0.5)) return(attempt("update", list(feed, on_update = one_of(NULL, \(s) FALSE))))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  attempt("run_feed", c(
    list(feed), one_of(list(seconds = 0), list(idle = 0), list(seconds = 0.01, idle = 0.005)),
    some_args(on_update = \(stream) nrow(stream$changes) < 3, redraw = one_of(0.5, 0))
  ))
}

feed_by_socket <- function(world) {
  drawn <- feed_drawn()
  window <- whole(1, 600)
  unit_of_time <- one_of("s", "ms", "samples")
  per <- c(s = 1e-3, ms = 1, samples = 20)[[unit_of_time]]
  called <- sometimes(0.5)
  server <- NULL
  for (try in 1:20) {
    port <- sample(20000:60000, 1)
    if (called) server <- tryCatch(serverSocket(port), error = \(e) NULL)
    if (called && is.null(server)) next
    feed <- attempt("feed_socket", c(
      list(feed_stream(window), port, time_unit = unit_of_time), feed_timing(window),
      if (called) list(host = "127.0.0.1") else some_args(listen = one_of("0.0.0.0", "127.0.0.1")),
      if (unit_of_time == "samples") list(sampling_rate = 20000)
    ))
    if (!refused(feed)) break
  }
  if (refused(feed)) return()
  writer <- if (!called) socketConnection("127.0.0.1", port, open = "wb", blocking = TRUE)
  feed_step_once(feed)
  if (called) {
    for (try in 1:20) {
      attempt("update", list(feed))
      if (socketSelect(list(server), FALSE, 0.1)) break
      feed$source$close()
      Sys.sleep(0.1)
    }
    writer <- tryCatch(socketAccept(server, open = "wb", blocking = TRUE, timeout = 5),
                       error = \(e) NULL)
    close(server)
    if (is.null(writer)) return(close(feed))
  }
  lines <- sprintf("%s,\"%s\"", format(drawn$rows$tick * per, trim = TRUE, scientific = FALSE,
                                       digits = 15),
                   gsub("\"", "\"\"", drawn$rows$unit, fixed = TRUE))
  broken <- one_of(0, 3)
  for (piece in feed_pieces(lines, broken)) {
    writeBin(piece, writer)
    feed_step_once(feed)
  }
  close(writer)
  end <- Sys.time() + 5
  while (length(feed$source$origins()) && Sys.time() < end) attempt("update", list(feed))
  feed_checked(feed, drawn, broken)
}

fuzz_subject("feeds",
  covers = list(
    feed_file = names(formals(synfire::feed_file)),
    feed_socket = names(formals(synfire::feed_socket)),
    run_feed = names(formals(synfire::run_feed)),
    update.stream_feed = "on_update"
  ),
  run = function(world) one_of(feed_by_file, feed_by_socket)(world)
)
