# How often a stream raises a false alarm where nothing is there, and how soon a true one
# where chains begin: many recordings, one seed each, drawn once.
#
# Rscript bench/stream_alarms.R        some minutes; RUNS=20 for fewer recordings

library(synfire)

runs <- as.numeric(Sys.getenv("RUNS", 60))

# Ten units that fire independently of each other, at rates that differ; from the middle
# on, `chains` times a second, three of them one after the other.
recording <- function(seed, seconds, chains = 0) {
  set.seed(seed)
  time <- runif(rpois(1, 80 * seconds), 0, seconds)
  unit <- sample(letters[1:10], length(time), TRUE, prob = 1:10)
  first <- sort(runif(rpois(1, chains * seconds / 2), seconds / 2, seconds - 0.03))
  all <- unique(data.frame(time = round(c(time, first, first + 0.01, first + 0.02), 3),
                           unit = c(unit, rep(c("a", "b", "c"), each = length(first)))))
  all[order(all$time), ]
}

# Share of looks with an alarm, and when the first one came after the middle.
follow <- function(all, seconds, every, ...) {
  s <- episode_stream(c(0.005, 0.015), 3, 10, resolution = 1e-3, threads = 1, max_size = 3,
                      dither = 0.03, ...)
  ends <- round(seq(every, seconds, by = every), 3)
  block <- findInterval(all$time, c(0, ends), left.open = TRUE)
  looks <- raised <- 0
  first <- NA
  for (k in seq_along(ends)) {
    before <- s$alarming$looks
    s <- update(s, all[block == k, ], now = ends[[k]])
    if (s$alarming$looks == before) next
    looks <- looks + 1
    raised <- raised + (nrow(s$alarms) > 0)
    if (is.na(first) && ends[[k]] > seconds / 2 && "c" %in% unlist(lapply(
      strsplit(s$alarms$episode[s$alarms$size == 3], "->"), \(e) trimws(e[[3]])))) {
      first <- ends[[k]] - seconds / 2
    }
  }
  c(share = raised / looks, looks = looks, first = first,
    seconds = stats::median(s$history$seconds))
}

report <- function(name, stated, found) {
  mean <- mean(found["share", ])
  error <- sd(found["share", ]) / sqrt(ncol(found))
  cat(sprintf("%-52s stated %.3f measured %.3f (95%% from %.3f to %.3f), %d looks\n", name,
              stated, mean, mean - 1.96 * error, mean + 1.96 * error,
              sum(found["looks", ])))
}

cat("Share of looks that raise an alarm, on independent trains\n")
each <- \(...) vapply(seq_len(runs), \(seed) follow(recording(seed, 60), 60, ...), double(4))
report("look and surrogates every window, of that window", 0.1,
       each(10, alarms = 36, look = 10, renew = 10, n_surrogates = 39))
report("five looks a window, surrogates since the last look", 0.1,
       each(0.5, alarms = 180, look = 2, n_surrogates = 39))
report("ten looks a window, surrogates of one window", 0.05,
       each(0.5, alarms = 180, look = 1, renew = 10, n_surrogates = 99))

cat("\nSeconds from when a chain begins until its alarm (window 10 s, looks every 1 s)\n")
for (chains in c(1, 2, 4)) {
  found <- vapply(seq_len(ceiling(runs / 4)), \(seed) {
    follow(recording(1000 + seed, 60, chains), 60, 0.5, alarms = 72, look = 1, renew = 10,
           n_surrogates = 249)
  }, double(4))
  cat(sprintf("%d a second: median %.1f s, 90 %% within %.1f s, missed in %d of %d\n", chains,
              median(found["first", ], na.rm = TRUE),
              quantile(found["first", ], 0.9, na.rm = TRUE), sum(is.na(found["first", ])),
              ncol(found)))
}
