# Measures how well as.data.frame(what = "activations") tells the speed of activations; run in this
# folder it writes speed.csv. One thread takes two to three minutes.
#
# Thirty units for 10 minutes (bench/truth/others.R); six of them fire in sequence 150 times, with
# some `jitter` and over some `span` (both in milliseconds): 0.7 to 1.4 times as fast, or always at
# the same speed.
library(synfire)
source("../../bench/truth/others.R")

sequence_of <- function(cell) {
  speed <- if (cell$varies) exp(runif(150, log(0.7), log(1.4))) else rep(1, 150)
  others_recording(600, rates_of(30), list(
    group("sequence", sample(30, 6), seq(0, cell$span / 1000, length.out = 6),
          apart_times(150, 600, 1), cell$jitter / 1000, speed = speed)
  ))
}

#' The planted speed of each activation of the first assembly, NA where none was planted
planted_speed <- function(found, truth) {
  middle <- found$times[[1]] + max(found$lags[[1]]) / 2
  planted <- truth$activations$time + max(truth$assemblies$lags[[1]]) / 2
  nearest <- vapply(middle, \(t) which.min(abs(planted - t)), 0L)
  off <- abs(planted[nearest] - middle)
  ifelse(off < max(found$lags[[1]]), truth$activations$speed[nearest], NA)
}

measure <- function(cell, seed) {
  set.seed(seed)
  x <- sequence_of(cell)
  found <- find_assemblies(x, threads = 1)
  got <- log(subset(as.data.frame(found, what = "activations"), assembly == 1)$speed)
  planted <- log(planted_speed(found, attr(x, "truth")))
  known <- !is.na(got) & !is.na(planted)
  line <- if (cell$varies) coef(lm(got ~ planted))[[2L]] else NA
  data.frame(cell, seed, activations = found$count[[1]], known = mean(!is.na(got)),
             correlation = if (cell$varies) cor(got[known], planted[known]) else NA, slope = line,
             median = exp(median(got - planted, na.rm = TRUE)),
             sd = sd(got - planted, na.rm = TRUE),
             said = any(grepl("times as fast as usual", summary(found)$words)))
}

cells <- rbind(expand.grid(span = c(60, 150, 400), jitter = 2, varies = c(TRUE, FALSE)),
               data.frame(span = 150, jitter = 10, varies = FALSE))
done <- do.call(rbind, lapply(seq_len(nrow(cells)), \(k) {
  do.call(rbind, lapply(2 * (1:10), \(seed) measure(cells[k, ], seed)))
}))
done[-(1:3)] <- lapply(done[-(1:3)], \(v) if (is.numeric(v)) signif(v, 4) else v)
write.csv(done, "speed.csv", row.names = FALSE)
