# How often a stream raises a false alarm where nothing is there, how soon a true one where
# chains begin, and what alarms cost: the time of updates of a long window.
#
# Rscript bench/stream_alarms.R        some minutes; RUNS=30 for fewer recordings
# CULTURE=60 Rscript bench/stream_alarms.R   the updates of a culture in real time, for so
#                                            many seconds, with alarms and without

library(synfire)

runs <- as.numeric(Sys.getenv("RUNS", 300))
culture <- as.numeric(Sys.getenv("CULTURE", 0))
letter <- letters[1:8]

# ---- recordings in which no unit knows of another one ----------------------------------

spikes <- function(time, unit) {
  all <- unique(data.frame(time = round(time, 3), unit = unit))
  all[order(all$time), ]
}

# Rates differ from unit to unit, and do not change.
steady <- function(seconds, rate = 8) {
  n <- rpois(1, 8 * rate * seconds)
  spikes(runif(n, 0, seconds), sample(letter, n, TRUE, prob = 1:8))
}

# All rates rise and fall together, threefold, within seconds and within a window.
together <- function(seconds) {
  n <- rpois(1, 8 * 16 * seconds)
  time <- runif(n, 0, seconds)
  phase <- runif(2, 0, 2 * pi)
  gain <- (1 + 0.5 * sin(2 * pi * time / 1.3 + phase[1])) *
    (1 + 0.5 * sin(2 * pi * time / 17 + phase[2])) / 2.25
  keep <- runif(n) < gain
  spikes(time[keep], sample(letter, sum(keep), TRUE, prob = 1:8))
}

# Units fire bursts of 2 to 5 spikes, 4 to 10 ms apart, each on its own.
bursting <- function(seconds) {
  n <- rpois(1, 8 * 2.5 * seconds)
  first <- runif(n, 0, seconds - 0.05)
  unit <- sample(letter, n, TRUE, prob = 1:8)
  more <- sample(1:4, n, TRUE)
  later <- lapply(more, \(k) cumsum(runif(k, 0.004, 0.010)))
  spikes(c(first, rep(first, more) + unlist(later)), c(unit, rep(unit, more)))
}

# Units fire every 160 ms with a jitter of 4 ms.
regular <- function(seconds) {
  each <- lapply(letter, \(unit) {
    time <- cumsum(rnorm(ceiling(seconds / 0.15), 0.16, 0.004)) - runif(1, 0, 0.16)
    data.frame(time = time, unit = unit)
  })
  all <- do.call(rbind, each)
  all <- all[all$time > 0 & all$time < seconds, ]
  spikes(all$time, all$unit)
}

with_chains <- function(all, seconds, chains) {
  first <- runif(rpois(1, chains * seconds / 2), seconds / 2, seconds - 0.03)
  spikes(c(all$time, first, first + 0.01, first + 0.02),
         c(all$unit, rep(c("a", "b", "c"), each = length(first))))
}

# ---- streams ---------------------------------------------------------------------------

# Share of looks with an alarm, and when the first one of a > b > c came after the middle.
follow <- function(all, seconds, every, ..., dither = 0.03) {
  s <- episode_stream(c(0.005, 0.015), 3, 10, resolution = 1e-3, threads = 1, max_size = 3,
                      dither = dither, ...)
  ends <- round(seq(every, seconds, by = every), 3)
  block <- findInterval(all$time, c(0, ends), left.open = TRUE)
  looks <- raised <- 0
  first <- NA
  chain <- "a -(0.005,0.015]-> b -(0.005,0.015]-> c"
  for (k in seq_along(ends)) {
    before <- s$alarming$looks
    s <- update(s, all[block == k, ], now = ends[[k]])
    if (s$alarming$looks == before) next
    looks <- looks + 1
    raised <- raised + (nrow(s$alarms) > 0)
    if (is.na(first) && ends[[k]] > seconds / 2 && chain %in% s$alarms$episode) {
      first <- ends[[k]] - seconds / 2
    }
  }
  c(share = raised / looks, looks = looks, first = first)
}

report <- function(name, stated, make, every, ...) {
  found <- vapply(seq_len(runs), \(seed) {
    set.seed(seed)
    follow(make(30), 30, every, ...)
  }, double(3))
  mean <- mean(found["share", ])
  error <- sd(found["share", ]) / sqrt(runs)
  cat(sprintf("%-58s stated %.3f measured %.3f (95%% from %.3f to %.3f), %s looks\n", name,
              stated, mean, mean - 1.96 * error, mean + 1.96 * error,
              format(sum(found["looks", ]), big.mark = ",")))
}

rates <- function() {
  cat(sprintf("Share of looks that raise an alarm where there is nothing, %d recordings\n", runs))
  report("steady rates, a look a window", 0.1, steady, 10, alarms = 36, look = 10,
         n_surrogates = 39)
  report("steady rates, five looks a window", 0.1, steady, 2, alarms = 180, look = 2,
         n_surrogates = 39)
  report("steady rates, five looks a window, a smaller share", 0.02, steady, 2, alarms = 36,
         look = 2, n_surrogates = 149)
  report("rates that rise and fall together", 0.1, together, 2, alarms = 180, look = 2,
         n_surrogates = 39)
  report("bursting units", 0.1, bursting, 2, alarms = 180, look = 2, n_surrogates = 39)
  report("bursting units, trains shifted", 0.1, bursting, 2, alarms = 180, look = 2,
         n_surrogates = 39, surrogate = "train_shift", dither = 0.1)
  report("bursting units that may repeat, dithered", 0.1, bursting, 2, alarms = 180, look = 2,
         n_surrogates = 39, distinct_units = FALSE, surrogate = "dither")
  report("regular units", 0.1, regular, 2, alarms = 180, look = 2, n_surrogates = 39)
  report("regular units, dithered", 0.1, regular, 2, alarms = 180, look = 2, n_surrogates = 39,
         surrogate = "dither")
}

power <- function() {
  cat("\nSeconds from when a chain begins until its alarm (window 10 s, looks every 2 s)\n")
  for (chains in c(1, 2, 4)) {
    first <- vapply(seq_len(ceiling(runs / 10)), \(seed) {
      set.seed(1000 + seed)
      follow(with_chains(steady(60), 60, chains), 60, 0.5, alarms = 36, look = 2,
             n_surrogates = 149)[["first"]]
    }, 0)
    cat(sprintf("%d a second: median %.1f s, 90 %% within %.1f s, missed in %d of %d\n", chains,
                median(first, na.rm = TRUE), quantile(first, 0.9, na.rm = TRUE),
                sum(is.na(first)), length(first)))
  }
}

# ---- the time of updates ---------------------------------------------------------------

# Blocks of 0.1 s, each handed over when the recording has come so far.
updates <- function(x, min_count, ...) {
  s <- episode_stream(c(0.005, 0.015), min_count, 600, resolution = attr(x, "resolution"),
                      distinct_units = FALSE, threads = 1, ...)
  s <- update(s, x[time = c(0, 600)])
  ends <- 600 + 0.1 * (0:round(culture / 0.1))
  pieces <- lapply(seq_len(length(ends) - 1), \(k) x[time = ends[k + 0:1]])
  s <- update(s, pieces[[1]])   # counts the window once, and is the first look
  began <- proc.time()[["elapsed"]]
  for (k in seq_along(pieces)[-1]) {
    Sys.sleep(max(0, 0.1 * (k - 2) - (proc.time()[["elapsed"]] - began)))
    s <- update(s, pieces[[k]])
  }
  wall <- tail(s$history$seconds, length(pieces) - 1)
  data.frame(updates = length(wall), looks = s$alarming$looks %||% 0,
             surrogates = s$alarming$n %||% 0,
             as.list(round(1000 * quantile(wall, c(0.5, 0.9, 0.99, 1)), 1)),
             below_20_ms = mean(wall < 0.02), check.names = FALSE)
}
`%||%` <- function(a, b) if (is.null(a)) b else a

if (culture > 0) {
  set.seed(1)
  x <- simulate_culture(duration = 601 + culture, burst_rate = 0.42)
  least <- round(0.0043 * nrow(x) * 600 / (601 + culture))
  options(width = 120)
  cat("Milliseconds an update, culture of 60 channels, window of 600 s, blocks of 0.1 s\n")
  print(cbind(alarms = c("none", "a look every 30 s"), rbind(
    updates(x, least), updates(x, least, alarms = 20, look = 30, judge_after = 30)
  )), row.names = FALSE)
} else {
  rates()
  power()
}
