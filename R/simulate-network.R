# Networks of spiking units whose synapses are known.

#' Simulate a network of spiking neurons
#'
#' Excitatory and inhibitory neurons with random synapses, in an input that fluctuates: a
#' recording on which methods that infer synapses from spikes can be tested, because each
#' synapse is known. By default 20 neurons are recorded for ten minutes, with some 40
#' synapses among them; `connectivity = 0` gives a recording without any synapse, in which
#' whatever is found is wrong.
#'
#' # Model
#' Leaky integrate-and-fire units with adaptation and currents of synapses. Potentials are in
#' units of the threshold distance: 0 at rest and after a spike, 1 at the threshold. The
#' potential \eqn{V} of a unit follows
#' \deqn{\tau_m dV/dt = -V + \mu + I_E + I_I + \sum_c l_c x_c(t) + b(t) - w + noise}{
#' tau_m dV/dt = -V + mu + I_E + I_I + sum of l_c x_c(t) + b(t) - w + noise}
#' in steps of 0.25 ms. \eqn{I_E} and \eqn{I_I} are the currents of synapses, which begin a
#' delay after a spike of the other unit and decay exponentially. \eqn{x_c} are inputs that all
#' units share, with loads \eqn{l_c} of their own, and \eqn{b} is the input of population
#' bursts. A spike raises the adaptation \eqn{w}, which decays with a time constant of 150 ms.
#' \eqn{\tau_m} differs between units by up to a quarter.
#'
#' All synapses of a unit are excitatory, or all are inhibitory (Dale's law). Strengths are
#' log-normal. The strength of a synapse is the peak of the postsynaptic potential: 0.1 means
#' that a spike takes a unit at rest by a tenth of the way to its threshold. The mean drive
#' \eqn{\mu} of each unit is tuned in 200 s before the recording, by stochastic approximation,
#' until it fires at its target rate in this network and input; the longest time scale of
#' `fluctuation` should not be longer.
#'
#' # What is hard to infer from
#' * `common_input` moves many units together. Fast fluctuations (`fluctuation = 0.005`) give
#'   peaks around zero lag that resemble synapses; slow ones hide weak synapses.
#' * `observed` less than `units`: most inputs of a recorded unit are not recorded.
#' * `strength_spread = 1` (as in cortex): most synapses are too weak to be seen.
#' * `burst_rate` above 0: most spikes are in bursts, in which all units fire together.
#'
#' @param duration Length of the recording, in seconds.
#' @param units Number of units of the network, at most 5,000.
#' @param observed Number of units that are recorded, named `u01`, `u02`, ...
#' @param inhibitory Share of inhibitory units, among those that are recorded and the others.
#' @param connectivity Probability of a synapse from one unit to another.
#' @param strength Median strength of excitatory and of inhibitory synapses, in units of the
#'   threshold distance: two numbers above 0, or one for both.
#' @param strength_spread Standard deviation of the logarithm of the strength. No strength is
#'   above 1.
#' @param delay Shortest and longest delay of a synapse, in seconds, from 0.00025 to 0.1;
#'   delays are uniform between them, in steps of 0.25 ms.
#' @param wiring `NULL` for random synapses, or a square matrix of strengths,
#'   `wiring[from, to]`, 0 where there is no synapse and negative for inhibition. It replaces
#'   `units`, `inhibitory`, `connectivity`, `strength` and `strength_spread`; its column
#'   names become the names of the units.
#' @param rate Median target rate of excitatory and of inhibitory units, in Hz: two numbers,
#'   or one for both.
#' @param rate_spread Standard deviation of the logarithm of the target rate over units.
#' @param common_input Mean and standard deviation over units of the load of each shared
#'   input, in units of the threshold distance; one number is the mean, and the standard
#'   deviation is half of it. A load is the standard deviation of this input in the drive of
#'   the unit.
#' @param fluctuation Time constants of the shared inputs that fluctuate (Ornstein-Uhlenbeck
#'   processes), in seconds, at least 0.001; `NULL` for none.
#' @param oscillation Frequencies of the shared inputs that oscillate, in Hz, at most 500;
#'   `NULL` for none. Their phase wanders by half a radian in a cycle.
#' @param burst_rate Population bursts per second. They last 60 to 250 ms.
#' @param burst_strength Median over units of the additional drive at the peak of a burst, in
#'   units of the threshold distance; log-normal over units and over bursts.
#' @param adaptation What a spike adds to the adaptation, in units of the threshold distance.
#' @param noise Standard deviation of the potential that is due to the noise of each unit.
#' @param membrane_time Mean membrane time constant, in seconds.
#' @param synaptic_time Time constants of excitatory and inhibitory currents, in seconds; one
#'   number is that of both.
#' @param refractory Refractory time, in seconds.
#' @param resolution Length of a tick, in seconds.
#'
#' @return [spike_trains()] with the attribute `truth`, a list:
#' * `synapses`: data frame `from`, `to`, `sign` (1 or -1), `strength` (negative for
#'   inhibition) and `delay` (seconds) of the synapses between recorded units;
#' * `wiring`: the same as a matrix of strengths, `wiring[from, to]`;
#' * `units`: data frame `unit`, `type` (`"excitatory"` or `"inhibitory"`), `rate` (the target,
#'   in Hz), `drive` (\eqn{\mu}{mu} as tuned) and `membrane_time`;
#' * `bursts`: data frame `start`, `duration` (seconds) and `size`, relative to the median;
#' * `hidden`: number of units that are not recorded; and `key`, that of the random numbers.
#'
#' [set.seed()] decides all; the number of threads has no part in it.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`. A network that fires more
#' than 200 million spikes ends with `synfire_error_too_large`.
#' @references
#' Endo D, Kobayashi R, Bartolo R, Averbeck BB, Sugase-Miyamoto Y, Hayashi K, Kawano K,
#' Richmond BJ, Shinomoto S (2021). A convolutional neural network for estimating synaptic
#' connectivity from spike trains. *Scientific Reports*, 11, 12087.
#' \doi{10.1038/s41598-021-91244-w}
#'
#' Polyak BT, Juditsky AB (1992). Acceleration of stochastic approximation by averaging. *SIAM
#' Journal on Control and Optimization*, 30, 838-855. \doi{10.1137/0330046}
#' @seealso [simulate_coupled_maps()] for series, [simulate_culture()] for bursts without
#'   synapses; [cross_correlogram()]
#' @examples
#' set.seed(1)
#' x <- simulate_network(duration = 60)
#' x
#' head(attr(x, "truth")$synapses)
#'
#' # A chain whose delays are seen in the correlograms:
#' chain <- rbind(c(0, 0.4, 0), c(0, 0, 0.4), 0)
#' x <- simulate_network(120, wiring = chain, delay = 0.003, rate = 10)
#' summary(cross_correlogram(x, 0.001, 0.01, threads = 2))
#'
#' # 50 of 500 neurons with log-normal strengths, as in Endo et al.:
#' \donttest{
#' x <- simulate_network(5, units = 500, observed = 50, strength = c(0.035, 0.15),
#'                       strength_spread = 0.9, rate = c(3, 8), common_input = 0.07,
#'                       fluctuation = c(0.006, 0.04))
#' }
#' @export
simulate_network <- function(duration = 600, units = 20, observed = units, inhibitory = 0.25,
                             connectivity = 0.1, strength = c(0.1, 0.25),
                             strength_spread = 0.3, delay = c(0.001, 0.003), wiring = NULL,
                             rate = 5, rate_spread = 0.5, common_input = c(0.12, 0.06),
                             fluctuation = 0.02, oscillation = NULL, burst_rate = 0,
                             burst_strength = 0.3, adaptation = 0.05, noise = 0.35,
                             membrane_time = 0.012, synaptic_time = c(0.0025, 0.005),
                             refractory = 0.002, resolution = 1e-6) {
  if (!is.null(wiring)) units <- nrow(check_strengths(wiring))
  units <- check_count(units, max = most_series)
  observed <- check_count(observed, max = units)
  resolution <- check_resolution(resolution)
  duration <- check_number(duration, above = 0)
  check_duration(duration, resolution)
  refuse_if(duration * units / network_step > most_updates, "duration",
            "so short that units take at most 1e12 steps of 0.25 ms",
            sprintf("%s s, for %s", exact(duration), counted(units, "unit")),
            "Make it shorter, or take fewer `units`.")
  key <- random_key()
  cells <- network_cells(
    units, observed, inhibitory, wiring, rate, rate_spread, membrane_time, key
  )
  check_expected(sum(cells$rate[seq_len(observed)]) * duration, duration, "`observed` and `rate`")
  synaptic_time <- check_pair(synaptic_time, "synaptic_time", 1e-4, 0.1)
  synapses <- network_synapses(cells, wiring, connectivity, strength, strength_spread, delay, key)
  inputs <- shared_inputs(units, common_input, fluctuation, oscillation, key)
  bursts <- network_bursts(units, duration, burst_rate, burst_strength, key)
  adaptation <- check_number(adaptation, min = 0, max = 10)
  noise <- check_number(noise, min = 0.05, max = 10)
  refractory <- check_number(refractory, min = 0, max = 0.1)

  found <- run_network(cells, synapses, inputs, bursts, synaptic_time, list(
    adaptation = adaptation, refractory = round(refractory / network_step), observed = observed,
    steps = ceiling(duration / network_step), key = key
  ), noise)
  ticks <- round_to_ticks(found$time * network_step, resolution)
  inside <- ticks <= check_duration(duration, resolution)
  levels <- as.character(cells$unit)[seq_len(observed)]
  cells$drive <- found$drive
  simulated(ticks[inside], found$unit[inside], levels, duration, resolution,
            network_truth(cells, synapses, bursts, levels, key))
}

# Seconds of a step; most steps of units; seconds in which the drive is tuned; time constant of
# adaptation.
network_step <- 0.00025
most_updates <- 1e12
network_tuning <- 200
adaptation_time <- 0.15

# ---- What is drawn ---------------------------------------------------------------------

#' A matrix of strengths that a network may have
#' @noRd
check_strengths <- function(wiring) {
  fault <- if (!is_square(wiring)) {
    describe(wiring)
  } else if (!all(is.finite(wiring)) || any(abs(wiring) > 10)) {
    "one with a strength that is missing or beyond 10"
  } else if (any(diag(wiring) != 0)) {
    "one with a synapse from a unit to itself"
  } else if (any(mixed <- rowSums(wiring > 0) > 0 & rowSums(wiring < 0) > 0)) {
    sprintf("one in which unit %d excites and inhibits", which(mixed)[[1L]])
  }
  refuse_if(!is.null(fault), "wiring",
            paste("NULL or a square matrix of strengths from -10 to 10, 0 on the diagonal,",
                  "with one sign in each row"), fault)
  names <- colnames(wiring)
  refuse_if(!is.null(names) && (anyNA(names) || anyDuplicated(names) || any(names == "")),
            "wiring", "such that each unit has a name of its own",
            "one in which units have the same name, or none")
  wiring
}

#' Two numbers, or one for both
#' @noRd
check_pair <- function(x, arg, min, max) {
  check_numbers(x, arg, 1:2, min, max,
                sprintf("one or two numbers from %s to %s", exact(min), exact(max)),
                is.null(dim(x)))
}

#' The units: name, sign of their synapses, target rate and membrane time
#' @noRd
network_cells <- function(units, observed, inhibitory, wiring, rate, rate_spread, membrane_time,
                          key) {
  inhibitory <- check_probability(inhibitory)
  rate <- check_pair(rate, "rate", 0.01, 200)
  rate_spread <- check_number(rate_spread, min = 0, max = 3)
  membrane_time <- check_number(membrane_time, min = 0.001, max = 1)
  # Inhibitory units are drawn among the units that are recorded and among the others.
  seen <- seq_len(units) <= observed
  order <- stats::ave(random_uniform(units, key, sim_stream(60)), seen, FUN = rank)
  sign <- ifelse(order <= round(inhibitory * stats::ave(order, seen, FUN = length)), -1, 1)
  if (!is.null(wiring)) sign <- ifelse(rowSums(wiring < 0) > 0, -1, 1)
  data.frame(
    unit = colnames(wiring) %||% numbered_units("u", units), sign = sign,
    rate = pmin(rate[1.5 - sign / 2] *
                  exp(rate_spread * random_normal(units, key, sim_stream(61))), 500),
    membrane_time = membrane_time *
      (0.8 + 0.45 * random_uniform(units, key, sim_stream(62))),
    start = random_uniform(units, key, sim_stream(63))
  )
}

#' The synapses, by the unit that they come from: `from`, `to`, `strength`, and `delay` in steps
#' @noRd
network_synapses <- function(cells, wiring, connectivity, strength, strength_spread, delay, key) {
  connectivity <- check_probability(connectivity)
  strength <- check_pair(strength, "strength", 1e-6, 1)
  strength_spread <- check_number(strength_spread, min = 0, max = 3)
  delay <- round(check_pair(delay, "delay", network_step, 0.1) / network_step)
  refuse_if(delay[[1L]] > delay[[2L]], "delay", "two numbers in increasing order",
            toString(exact(delay * network_step)))
  n <- nrow(cells)
  linked <- if (is.null(wiring)) {
    # Column i of the matrix of draws has the units that unit i may excite or inhibit.
    matrix(random_uniform(n^2, key, sim_stream(64)), n) < connectivity & !diag(n)
  } else {
    t(wiring != 0)
  }
  pairs <- which(linked, arr.ind = TRUE)
  from <- pairs[, 2L]
  to <- pairs[, 1L]
  sign <- cells$sign[from]
  size <- strength[1.5 - sign / 2] *
    exp(strength_spread * random_normal(length(from), key, sim_stream(65)))
  data.frame(
    from = from, to = to,
    strength = if (is.null(wiring)) sign * pmin(size, 1) else wiring[cbind(from, to)],
    delay = delay[[1L]] + floor(random_uniform(length(from), key, sim_stream(66)) *
                                  (delay[[2L]] - delay[[1L]] + 1))
  )
}

#' Inputs that units share, as the compiled code takes them
#' @noRd
shared_inputs <- function(units, common_input, fluctuation, oscillation, key) {
  if (is_plain_numeric(common_input) && length(common_input) == 1L) {
    common_input <- common_input * c(1, 0.5)
  }
  common_input <- check_pair(common_input, "common_input", 0, 10)
  several <- function(x, arg, min, max) {
    if (is.null(x)) return(double())
    must <- sprintf("NULL, or at most 100 numbers from %s to %s", exact(min), commas(max))
    check_numbers(x, arg, min(length(x), 100L), min, max, must, is.null(dim(x)))
  }
  fluctuation <- several(fluctuation, "fluctuation", 0.001, 1e6)
  oscillation <- several(oscillation, "oscillation", 0.001, 500)
  n <- length(fluctuation) + length(oscillation)
  kept <- exp(-network_step / fluctuation)
  load <- common_input[[1L]] + common_input[[2L]] * random_normal(n * units, key, sim_stream(67))
  list(
    swings = rep(0:1, c(length(fluctuation), length(oscillation))),
    pace = c(kept, 2 * pi * oscillation * network_step),
    wander = c(sqrt(1 - kept^2), 0.5 * sqrt(oscillation * network_step)), load = load
  )
}

#' Population bursts from the beginning of tuning on, and how much each unit takes part
#' @return List: `table` (data frame `start` and `duration` in seconds, the recording begins at
#'   0, and `size`), `load` of each unit.
#' @noRd
network_bursts <- function(units, duration, burst_rate, burst_strength, key) {
  burst_rate <- check_number(burst_rate, min = 0, max = 20)
  burst_strength <- check_number(burst_strength, min = 0, max = 10)
  check_expected(burst_rate * duration, duration, "`burst_rate`")
  start <- if (burst_rate > 0) {
    unit_arrivals((duration + network_tuning) * burst_rate, key, sim_stream(68)) / burst_rate
  }
  n <- length(start)
  list(
    table = data.frame(
      start = as.double(start) - network_tuning,
      duration = 0.06 + 0.19 * random_uniform(n, key, sim_stream(68, 1)),
      size = exp(0.3 * random_normal(n, key, sim_stream(68, 2)))
    ),
    load = burst_strength * exp(0.5 * random_normal(units, key, sim_stream(69)))
  )
}

# ---- The run ---------------------------------------------------------------------------

#' Peak of the potential that a current of 1 at its beginning gives
#' @param membrane,synaptic Time constants.
#' @noRd
peak_potential <- function(membrane, synaptic) {
  ratio <- synaptic / membrane
  # Both go to exp(-1) where the time constants are the same.
  ifelse(abs(ratio - 1) < 1e-6, exp(-1), ratio^(1 / (1 - ratio)))
}

run_network <- function(cells, synapses, inputs, bursts, synaptic_time, options, noise) {
  leak <- -expm1(-network_step / cells$membrane_time)
  time <- synaptic_time[ifelse(synapses$strength > 0, 1L, 2L)]
  jump <- synapses$strength / peak_potential(cells$membrane_time[synapses$to], time)
  kept <- exp(-network_step / c(synaptic_time, adaptation_time))
  tuning <- network_tuning / network_step
  found <- .Call(
    r_spiking_network,
    list(first = c(0L, cumsum(tabulate(synapses$from, nrow(cells)))), to = synapses$to - 1L,
         delay = as.integer(synapses$delay), jump = jump),
    list(leak = leak, kick = noise * sqrt(leak * (2 - leak)), target = cells$rate * network_step,
         start = cells$start),
    c(inputs, list(
      burst_start = (bursts$table$start + network_tuning) / network_step,
      burst_length = bursts$table$duration / network_step, burst_size = bursts$table$size,
      burst_load = bursts$load
    )),
    c(options, list(
      keeps_excitation = kept[[1L]], keeps_inhibition = kept[[2L]], keeps_adaptation = kept[[3L]],
      drive = 0.6, slope = 1.5, early = 5 / network_step, tuning = tuning, most_spikes = most_spikes
    ))
  )
  finish_status(found, "the simulated network", "Make `duration` shorter, or `observed` smaller.",
                limit_of = "spikes")
}

network_truth <- function(cells, synapses, bursts, levels, key) {
  n <- length(levels)
  seen <- synapses[synapses$from <= n & synapses$to <= n, ]
  wiring <- matrix(0, n, n, dimnames = list(from = levels, to = levels))
  wiring[cbind(seen$from, seen$to)] <- seen$strength
  unit <- factor(levels, levels)
  table <- bursts$table[bursts$table$start >= 0, ]
  row.names(table) <- NULL
  list(
    synapses = data.frame(
      from = unit[seen$from], to = unit[seen$to], sign = as.integer(sign(seen$strength)),
      strength = seen$strength, delay = seen$delay * network_step
    ),
    wiring = wiring,
    units = data.frame(
      unit = unit, type = ifelse(cells$sign[seq_len(n)] > 0, "excitatory", "inhibitory"),
      cells[seq_len(n), c("rate", "drive", "membrane_time")]
    ),
    bursts = table, hidden = nrow(cells) - n, key = key
  )
}
