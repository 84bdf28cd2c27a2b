# A stream of a long window in small blocks: how many times faster than the recording it
# runs, how long its updates take, and what it holds after a long recording.
#
# Rscript bench/stream.R          one thread; 20 s of recording at each setting
# DEVICE=gpu Rscript bench/stream.R     the same on a GPU
# LONG=6000 Rscript bench/stream.R     and its memory over so many seconds

library(synfire)

device <- Sys.getenv("DEVICE", "cpu")
held <- function(s) unlist(.Call(synfire:::r_stream_about, s$counting$state$pointer))

#' The updates of `seconds` of recording in blocks of 0.1 s, once the window is full
follow <- function(x, intervals, min_count, window, seconds = 20, block = 0.1) {
  s <- episode_stream(intervals, min_count, window, resolution = attr(x, "resolution"),
                      distinct_units = FALSE, device = device, max_memory = 2e10, threads = 1)
  s <- update(s, x[time = c(0, window)])
  ends <- window + block * (0:(seconds / block))
  pieces <- lapply(seq_len(length(ends) - 1), \(k) x[time = ends[k + 0:1]])
  s <- update(s, pieces[[1]])   # counts the window once
  cpu <- vapply(pieces[-1], \(piece) {
    sum(system.time(s <<- update(s, piece), gcFirst = FALSE)[1:2])
  }, 0)
  wall <- tail(s$history$seconds, length(cpu))
  whole <- system.time(found <- mine_episodes(attr(s$episodes, "recording"), min_count, intervals,
                                              distinct_units = FALSE, threads = 1))
  stopifnot(identical(as.data.frame(found), as.data.frame(s)))
  ms <- \(x, p) round(1000 * quantile(x, p, names = FALSE), 2)
  data.frame(
    spikes = nrow(attr(s$episodes, "recording")), episodes = nrow(s$episodes),
    device = device, candidates = held(s)[["candidates"]], anew_ms = round(1000 * sum(whole[1:2])),
    factor = signif(block * length(wall) / sum(wall), 3),
    factor_cpu = signif(block * length(cpu) / sum(cpu), 3),
    median = ms(wall, 0.5), p99 = ms(wall, 0.99), cpu_median = ms(cpu, 0.5),
    cpu_p99 = ms(cpu, 0.99), MB = round(held(s)[["held"]] / 1e6)
  )
}

set.seed(1)
culture <- simulate_culture(duration = 621, burst_rate = 0.42)
least <- round(0.0043 * nrow(culture) * 600 / 621)
options(width = 160)
cat("milliseconds an update; factor: times faster than the recording, by the clock and by the",
    "processor's time; anew_ms: mining the window\n")
cat("60 channels, window of 600 s\n")
print(follow(culture, c(0.005, 0.015), least, 600), row.names = FALSE)

set.seed(2)
rows <- 1000 * 5 * 621
many <- spike_trains(sort(round(runif(rows, 0, 621), 4)), sample(1000, rows, TRUE), end = 621,
                     resolution = 1e-4)
cat("\n1,000 units at 5 Hz, window of 600 s\n")
print(follow(many, c(0.005, 0.015), 200, 600), row.names = FALSE)

long <- as.numeric(Sys.getenv("LONG", 0))
if (long > 0) {
  s <- episode_stream(c(0.005, 0.015), 300, 60, resolution = attr(culture, "resolution"),
                      history = 10, threads = 1)
  cat("\nwindow of 60 s; bytes that the stream holds\n")
  for (k in seq_len(long / 10)) {
    block <- culture[time = 10 * ((k - 1) %% 60) + c(0, 10)]
    spikes <- data.frame(time = block$time + 600 * ((k - 1) %/% 60), unit = block$unit)
    for (part in split(spikes, floor(spikes$time))) s <- update(s, part)
    if (k %% 60 == 0) {
      # Times take 8 bytes in their buffer, and units 4.
      buffers <- 1.5 * as.numeric(object.size(s$counting$state$time_buffer))
      cat(sprintf("%6.0f s: %.1f MB in the core, %.1f MB in R\n", 10 * k,
                  held(s)[["held"]] / 1e6, (as.numeric(object.size(s)) + buffers) / 1e6))
    }
  }
}
