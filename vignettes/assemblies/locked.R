# Measures what find_assemblies() makes of responses to events, with `locked_to` and without; run
# in this folder it writes locked.csv. One thread takes a quarter of an hour; widths, in
# milliseconds, may be given to do a part: Rscript locked.R 20 50
#
# Twenty units with 5 Hz beside their responses. Events come every 1.5 to 2.5 s. Units respond to
# each, one after the other, half a width apart (10 to 50 ms), with a number of spikes of a Poisson
# distribution and latencies of a normal one, of which `width` is the full width at half the
# height. The planted assembly: five units in a sequence of 60 ms at most, with a jitter of 5 ms,
# at times that the events have nothing to do with.
library(synfire)

responses <- function(seed, width, events, spikes, planted, units = 20) {
  set.seed(seed)
  at <- cumsum(c(1, runif(events - 1, 1.5, 2.5)))
  end <- ceiling(max(at) + 2)
  latency <- 0.05 + width / 2 + min(0.05, max(0.01, width / 2)) * (seq_len(units) - 1)
  own <- lapply(latency, \(l) {
    n <- rpois(events, spikes)
    c(runif(rpois(1, 5 * end), 0, end), rep(at, n) + rnorm(sum(n), l, width / 2.355))
  })
  members <- sort(sample(units, 5))
  start <- runif(planted, 0, end - 0.2)
  for (u in members) own[[u]] <- c(own[[u]], start + runif(1, 0, 0.06) + runif(planted, 0, 0.005))
  time <- unlist(own)
  inside <- time >= 0 & time <= end
  list(x = spike_trains(time[inside], rep(seq_len(units), lengths(own))[inside], start = 0,
                        end = end),
       events = at, members = as.character(members))
}

# Four of five members at least, and one other unit at most.
is_it <- function(units, members) sum(units %in% members) >= 4 && sum(!units %in% members) <= 1

measure <- function(cell, seeds) {
  one <- vapply(seeds, \(seed) {
    made <- responses(seed, cell$width / 1000, cell$events, cell$spikes, cell$planted)
    found <- find_assemblies(made$x, locked_to = if (cell$locked) made$events, threads = 1)
    c(reported = nrow(found) > 0, found = any(vapply(found$units, is_it, NA, made$members)))
  }, c(reported = NA, found = NA))
  data.frame(cell, recordings = length(seeds), as.list(rowSums(one)))
}

null <- expand.grid(width = c(20, 50, 100, 200, 500), events = c(100, 200), spikes = c(1, 3),
                    planted = 0, locked = c(FALSE, TRUE))
real <- expand.grid(width = unique(null$width), events = 150, spikes = 1, planted = c(40, 80),
                    locked = c(FALSE, TRUE))
cells <- rbind(null, real)
asked <- as.numeric(commandArgs(TRUE))
if (length(asked)) cells <- cells[cells$width %in% asked, ]
done <- do.call(rbind, lapply(seq_len(nrow(cells)), \(k) measure(cells[k, ], 2 * (1:6))))
before <- if (length(asked) && file.exists("locked.csv")) read.csv("locked.csv")
done <- rbind(before[!before$width %in% done$width, ], done)
done <- done[order(done$planted, done$width, done$events, done$spikes, done$locked), ]
write.csv(done, "locked.csv", row.names = FALSE)
