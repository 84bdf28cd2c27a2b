# The recordings of bench/synapses.R.
#
# Parameters and seeds of the networks were written down before any method had seen one of
# them. A recording is a list: `x`, `truth` (strengths [from, to], 0 without a synapse; NULL
# where it is not known) and `max_lag` (s) that methods are told.

# ---- Networks of this package ------------------------------------------------------------

hour <- 3600
cortex <- function(duration) {
  list(206, duration, 1000, 100, inhibitory = 0.2, connectivity = 0.1, strength = c(0.035, 0.15),
       strength_spread = 0.9, delay = c(0.001, 0.004), rate = c(3, 8), rate_spread = 0.6,
       common_input = c(0.07, 0.05), fluctuation = c(0.006, 0.04))
}
networks <- list(
  "20 units, a" = list(
    201, hour, 20, inhibitory = 0.5, connectivity = 0.1, strength = c(0.12, 0.3), rate = 6,
    rate_spread = 0.4, common_input = c(0.1, 0.1), fluctuation = 0.007
  ),
  "20 units, b" = list(
    202, hour, 20, inhibitory = 0.4, connectivity = 0.13, strength = c(0.09, 0.2), rate = 8,
    common_input = c(0.15, 0.08), fluctuation = c(0.012, 0.08), membrane_time = 0.015,
    refractory = 0.003
  ),
  "50 units, a" = list(
    203, hour, 50, inhibitory = 0.25, connectivity = 0.1, strength = c(0.1, 0.25), rate = 5,
    rate_spread = 0.4, common_input = c(0.1, 0.06), fluctuation = c(0.004, 0.04),
    membrane_time = 0.01
  ),
  "50 units, b" = list(
    204, hour, 50, inhibitory = 0.3, connectivity = 0.15, strength = c(0.07, 0.2),
    strength_spread = 0.6, rate = 6, common_input = c(0.1, 0.15), fluctuation = c(0.02, 0.2),
    membrane_time = 0.018, synaptic_time = c(0.002, 0.006)
  ),
  "100 of 1,000, bursts" = list(
    205, hour, 1000, 100, inhibitory = 0.2, connectivity = 0.035, strength = c(0.09, 0.28),
    strength_spread = 0.5, delay = c(0.001, 0.005), rate = c(1.8, 5), rate_spread = 0.4,
    common_input = c(0.06, 0.05), fluctuation = 0.04, burst_rate = 0.35, burst_strength = 0.3,
    adaptation = 0.25, noise = 0.5, refractory = 0.003
  ),
  "100 of 1,000, 30 min" = cortex(hour / 2), "100 of 1,000, 2 h" = cortex(2 * hour),
  # Without any synapse.
  "none, fast" = list(
    207, hour, 30, connectivity = 0, rate = 6, common_input = c(0.2, 0.15),
    fluctuation = c(0.003, 0.03)
  ),
  "none, slow" = list(
    208, hour / 2, 50, connectivity = 0, common_input = c(0.2, 0.15),
    fluctuation = c(0.008, 0.1, 1)
  ),
  "none, rhythms" = list(
    209, hour / 2, 50, connectivity = 0, rate = 6, common_input = c(0.15, 0.15),
    fluctuation = NULL, oscillation = c(8, 45)
  ),
  "none, bursts" = list(
    210, hour, 50, connectivity = 0, rate = 2, rate_spread = 0.6, burst_rate = 0.4,
    burst_strength = 1.5, adaptation = 0.2
  ),
  "none, drift" = list(
    211, hour / 2, 40, connectivity = 0, common_input = c(0.1, 0.4), fluctuation = c(0.5, 60)
  )
)

#' A network; `share` of its duration is simulated
network_of <- function(name, share = 1) {
  given <- networks[[name]]
  given[[2L]] <- given[[2L]] * share
  set.seed(given[[1L]])
  x <- do.call(simulate_network, given[-1L])
  list(x = x, truth = attr(x, "truth")$wiring, max_lag = 0.01)
}

# ---- Simulations of others ---------------------------------------------------------------

# The synapses of the second one act more slowly.
simulated_by_others <- list("spycon, Ren et al." = list("spycon_ren", 0.01),
                            "TSPE's example" = list("tspe_ex", 0.02))

other_of <- function(name, share = 1) {
  file <- shared("synapses", simulated_by_others[[name]][[1L]])
  table <- utils::read.csv(paste0(file, ".csv.gz"))
  units <- sort(unique(table$unit))
  table <- table[table$time <= share * max(table$time), ]
  tick <- if (name == "TSPE's example") 1e-3 else 1e-6
  x <- spike_trains(table$time, factor(table$unit, units), start = 0,
                    end = ceiling(max(table$time)), resolution = tick)
  links <- utils::read.csv(paste0(file, "_truth.csv.gz"))
  links <- links[!is.na(links$w), ]
  truth <- matrix(0, length(units), length(units), dimnames = list(units, units))
  truth[cbind(match(links$from, units), match(links$to, units))] <- links$w
  list(x = x, truth = truth, max_lag = simulated_by_others[[name]][[2L]])
}

# ---- Recordings --------------------------------------------------------------------------

shared <- function(...) file.path(Sys.getenv("SYNFIRE_DATA"), ...)

#' Only the units that fire most
busiest <- function(x, n) {
  x[unit = names(utils::head(sort(table(x$unit), decreasing = TRUE), n))]
}

recorded <- list(
  "mouse hippocampus" = \() read_spikes(shared("recordings", "mouse-A8604.nwb")),
  "rat in a W-maze" = \() {
    x <- read_spikes(shared("recordings", "wmaze.csv.gz"))
    x[unit = setdiff(levels(x$unit), "t0u20")]  # the cluster of noise
  },
  "cockroach antennal lobe" = \() {
    there <- new.env()
    load(shared("recordings", "cockroach-terpi.rda"), there)
    as_spike_trains(there$e060817terpi)
  },
  "retina, 150 busiest" = \() busiest(read_spikes(shared("recordings", "retina-1152.h5")), 150),
  "songbird, camera" = \() {
    x <- utils::read.table(shared("recordings", "songbird.txt"))
    spike_trains(x[[2L]], x[[1L]], start = 0, end = 22.233333)
  },
  "cortical slice" = \() read_spikes(shared("episodes", "tc89.csv.gz"), time_unit = "ms"),
  "human culture" = \() read_spikes(shared("episodes", "axion_B3.csv.gz"), time_unit = "ms"),
  "rat culture, 10 days" = \() read_spikes(shared("episodes", "culture-2-1-10.spk.txt.gz")),
  "rat culture, 20 days" = \() read_spikes(shared("episodes", "culture-2-1-20.spk.txt.gz"))
)

#' A recording on the clock of its own times, which surrogates then keep
on_own_clock <- function(x) {
  for (tick in c(1e-3, 1e-4)) {
    steps <- as.numeric(x$time) / tick
    whole <- is.null(attr(x, "trials")) && attr(x, "resolution") < tick &&
      all(abs(steps - round(steps)) < 1e-6)
    if (!whole) next
    bounds <- c(floor(attr(x, "start") / tick), ceiling(attr(x, "end") / tick)) * tick
    return(spike_trains(round(steps) * tick, x$unit, start = bounds[[1L]], end = bounds[[2L]],
                        resolution = tick))
  }
  x
}

#' Poisson trains for measuring time
poisson_trains <- function(units, seconds, rate = 5) {
  set.seed(212)
  n <- stats::rpois(units, rate * seconds)
  spike_trains(stats::runif(sum(n), 0, seconds), rep(seq_len(units), n), start = 0, end = seconds)
}
