# What the argument `threshold` of direct_links() costs: direct links that it leaves out, links
# that the test misses, and seconds.
#
#   Rscript vignettes/causes/threshold.R [runs]
#
# writes direct-threshold.csv beside this file, a row for each kind of series, map and threshold.
# The wirings are those of bench/causes/systems.R, 20 series of 1,000 steps. One map is that of
# Tp = 0, the other has for each pair the best of Tp = -3:0: links take 1 to 3 steps.
library(synfire)
here <- "vignettes/causes"
source(file.path(here, "wirings.R"))
source("vignettes/causal-maps/simulated.R")
source("bench/causes/systems.R")
arguments <- as.integer(commandArgs(TRUE))
runs <- if (length(arguments) > 0L) arguments[[1L]] else 4L
thresholds <- c(0, 0.1, 0.2, 0.3)
kinds <- list("chaotic maps" = c("mixed", "rivals", "bursts"), linear = "linear",
              calcium = "calcium", spikes = "spikes")

#' Neurons seen through an indicator; a link has a strength of 0.2 to 0.5
run_calcium <- function(series, links, steps, spikes) {
  strength <- delay <- matrix(0, series, series)
  at <- cbind(links$from, links$to)
  strength[at] <- runif(nrow(at), 0.2, 0.5)
  delay[at] <- links$delay
  x <- simulate_calcium(steps, wiring = strength, delay = delay, noise = 0,
                        firing_rate = if (spikes) 10)
  matrix(x, steps)
}

draw_system <- function(data, series, steps) {
  repeat {
    links <- draw_links(series)
    x <- switch(data, linear = run_linear(series, links, steps),
                calcium = , spikes = run_calcium(series, links, steps, data == "spikes"),
                run_system(series, links, steps, data))
    if (is_lively(x)) break
  }
  wiring <- matrix(FALSE, series, series)
  wiring[cbind(links$from, links$to)] <- TRUE
  x <- seen_with_noise(x, runif(1, 0, 0.1))
  colnames(x) <- rownames(wiring) <- colnames(wiring) <- sprintf("s%02d", seq_len(series))
  list(x = x, wiring = wiring)
}

one_threshold <- function(threshold, map, x, wiring) {
  rho <- t(map[])
  diag(rho) <- NA
  looked <- !is.na(rho) & rho >= threshold
  called <- wiring & FALSE
  seconds <- 0
  if (any(looked)) {
    used <- system.time(found <- direct_links(map, x, threshold = threshold, threads = 1))
    seconds <- sum(used[c("user.self", "sys.self")])
    direct <- found[found$link == "direct", ]
    called[cbind(match(direct$cause, colnames(x)), match(direct$effect, colnames(x)))] <- TRUE
  }
  data.frame(threshold, direct = sum(wiring), left_out = sum(wiring & !looked),
             missed = sum(wiring & looked & !called), found = sum(wiring & called),
             pairs = sum(!wiring) - ncol(x), called_direct = sum(!wiring & called),
             links = sum(looked), cpu = seconds)
}

one_system <- function(seed, kind, data) {
  set.seed(seed)
  system <- draw_system(data, 20L, 1000L)
  of_map <- function(Tp, name) {
    map <- causal_map(system$x, Tp = Tp, threads = 1)
    rows <- lapply(thresholds, one_threshold, map, system$x, system$wiring)
    cbind(kind, Tp = name, systems = 1L, do.call(rbind, rows))
  }
  rbind(of_map(0, "0"), of_map(-3:0, "-3:0"))
}

cases <- expand.grid(run = seq_len(runs), data = unlist(kinds, use.names = FALSE),
                     stringsAsFactors = FALSE)
kind_of <- rep(names(kinds), lengths(kinds))[match(cases$data, unlist(kinds))]
found <- do.call(rbind, Map(one_system, 9e6 + seq_along(kind_of), kind_of, cases$data))
table <- aggregate(. ~ kind + Tp + threshold, found, sum)
share <- \(of, among) round(100 * table[[of]] / table[[among]], 1)
for (of in c("left_out", "missed", "found")) table[[of]] <- share(of, "direct")
table$called_direct <- share("called_direct", "pairs")
for (of in c("links", "cpu")) table[[of]] <- round(table[[of]] / table$systems, 2)
table <- table[order(match(table$kind, names(kinds)), table$Tp, table$threshold), ]
write.csv(table, file.path(here, "direct-threshold.csv"), row.names = FALSE)
print(table, row.names = FALSE)
