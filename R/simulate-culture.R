# A bursting culture on a multielectrode array.

#' Simulate a culture of neurons on a multielectrode array
#'
#' A culture fires in population bursts: every ten seconds or so most channels fire
#' together for less than a second, each with a latency of its own that is much the
#' same in every burst. Between bursts channels fire at low rates that differ widely.
#' With the defaults: 60 channels, one hour, about 1.28 million spikes.
#'
#' Background: independent Poisson processes with log-normal rates. Bursts: start after
#' independent intervals (a dead time of 40 percent of the mean and an exponential rest),
#' last a time uniform between two bounds, and recruit each channel with a probability of
#' its own; a recruited channel fires after its latency, with some jitter, at a
#' rate that falls linearly to zero over the burst and whose mean over the burst
#' is log-normal over channels. Chains: as in [simulate_sym26()], activated at a constant rate
#' within bursts and outside.
#'
#' @param duration Length of the recording, in seconds.
#' @param channels Number of channels, named `ch01`, `ch02`, ...
#' @param background_rate Mean rate of a channel between bursts, in Hz.
#' @param background_spread Standard deviation of the logarithm of that rate over
#'   channels.
#' @param burst_rate Population bursts per second.
#' @param burst_duration Shortest and longest burst, in seconds.
#' @param burst_spike_rate Mean rate of a channel within a burst, in Hz.
#' @param burst_spread Standard deviation of the logarithm of that rate over channels.
#' @param recruitment Lowest and highest probability of a channel to take part in a
#'   burst.
#' @param latency Longest mean latency of a channel after the beginning of a burst, in
#'   seconds; latencies are uniform from 0 to this.
#' @param latency_jitter Standard deviation of the latency from burst to burst, in
#'   seconds.
#' @param chains List of chains of channels, or `NULL` for three chains of six channels
#'   (as many as there are channels for).
#' @param delays,probability As in [simulate_sym26()].
#' @param activation_rate How often a chain is activated, in Hz: one number, or one for
#'   each chain.
#' @param resolution Length of a tick, in seconds; by default a sample at 25 kHz.
#'
#' @return [spike_trains()] with the attribute `truth`, a list: `links`, `spikes` and
#'   `key` as in [simulate_sym26()], `bursts` (data frame `start`, `duration` in seconds)
#'   and `channels` (data frame `unit`, `background_rate`, `burst_spike_rate` in Hz,
#'   `recruitment`, `latency` in seconds). [set.seed()] decides all.
#'
#' @references
#' Wagenaar DA, Pine J, Potter SM (2006). An extremely rich repertoire of bursting
#' patterns during the development of cortical cultures. *BMC Neuroscience*, 7, 11.
#' \doi{10.1186/1471-2202-7-11}
#'
#' @seealso [simulate_sym26()], [simulate_patterns()]
#' @examples
#' set.seed(1)
#' x <- simulate_culture(duration = 60)
#' x
#' attr(x, "truth")$bursts
#' @export
simulate_culture <- function(duration = 3600, channels = 60, background_rate = 0.5,
                             background_spread = 1, burst_rate = 0.1,
                             burst_duration = c(0.2, 1), burst_spike_rate = 93,
                             burst_spread = 0.8, recruitment = c(0.6, 1),
                             latency = 0.06, latency_jitter = 0.002, chains = NULL,
                             delays = c(0.005, 0.015), probability = 0.95,
                             activation_rate = 3, resolution = 4e-5) {
  duration <- check_number(duration, above = 0)
  channels <- check_count(channels, max = 1e5)
  background_rate <- check_number(background_rate, min = 0)
  background_spread <- check_number(background_spread, min = 0, max = 50)
  burst_rate <- check_number(burst_rate, min = 0)
  burst_duration <- check_range(burst_duration, "burst_duration", 1e9)
  burst_spike_rate <- check_number(burst_spike_rate, min = 0)
  burst_spread <- check_number(burst_spread, min = 0, max = 50)
  recruitment <- check_range(recruitment, "recruitment", 1)
  latency <- check_number(latency, min = 0, max = 1e9)
  latency_jitter <- check_number(latency_jitter, min = 0, max = 1e9)
  units <- numbered_units("ch", channels)
  if (is.null(chains)) {
    chains <- lapply(seq_len(min(3, channels %/% 6)), \(k) units[6 * (k - 1) + 1:6])
  }
  chains <- check_chains(chains, units)
  delays <- check_delays(delays)
  probability <- check_probability(probability)
  activation_rate <- check_rates(activation_rate, length(chains), "activation_rate")
  resolution <- check_resolution(resolution)
  last_tick <- check_duration(duration, resolution)
  in_bursts <- duration * burst_rate * channels * (1 + burst_spike_rate * max(burst_duration))
  check_expected(duration * background_rate * channels + in_bursts +
                   duration * sum(activation_rate * lengths(chains)), duration,
                 "`channels`, `background_rate`, `burst_rate` and the other rates")

  key <- random_key()
  channel <- data.frame(
    unit = factor(units, units),
    background_rate = background_rate *
      lognormal_factor(channels, background_spread, key, sim_stream(10)),
    burst_spike_rate = burst_spike_rate *
      lognormal_factor(channels, burst_spread, key, sim_stream(11)),
    recruitment = recruitment[[1L]] + (recruitment[[2L]] - recruitment[[1L]]) *
      random_uniform(channels, key, sim_stream(12)),
    latency = latency * random_uniform(channels, key, sim_stream(13))
  )

  # Each part is one Poisson process of rate 1 on operational time, laid out over
  # channels, or over pairs of burst and channel: where an arrival falls says both whose
  # spike it is and when.
  expected <- duration * channel$background_rate
  background <- spread_arrivals(expected, key, sim_stream(14))
  background_time <- background$within * duration

  bursts <- burst_times(duration, burst_rate, burst_duration, key)
  pairs <- nrow(bursts) * channels
  of_channel <- rep(seq_len(channels), nrow(bursts))
  of_burst <- rep(seq_len(nrow(bursts)), each = channels)
  recruited <- random_uniform(pairs, key, sim_stream(17)) < channel$recruitment[of_channel]
  onset <- bursts$start[of_burst] + channel$latency[of_channel] +
    latency_jitter * random_normal(pairs, key, sim_stream(18))
  expected <- recruited * channel$burst_spike_rate[of_channel] * bursts$duration[of_burst]
  burst <- spread_arrivals(expected, key, sim_stream(19))
  # The inverse of the distribution function of a linearly falling rate.
  burst_time <- onset[burst$part] +
    bursts$duration[of_burst[burst$part]] * (1 - sqrt(1 - burst$within))

  links <- chain_links(chains, delays, resolution)
  heads <- lapply(seq_along(chains), \(k) {
    chain_heads(duration, activation_rate[[k]], resolution, key, sim_stream(20, k))
  })
  planted <- plant_chains(chains, links, heads, probability, last_tick, units, key, 21)

  ticks <- c(round_to_ticks(c(background_time, burst_time), resolution), planted$tick)
  unit <- c(background$part, of_channel[burst$part], as.integer(planted$unit))
  inside <- ticks >= 0 & ticks <= last_tick
  simulated(ticks[inside], unit[inside], units, duration, resolution,
            chain_truth(links, planted, probability, resolution, key, bursts = bursts,
                        channels = channel))
}

#' Poisson arrivals over parts with given expected numbers
#' @return List: the `part` of each arrival and how far `within` it, from 0 to 1.
#' @noRd
spread_arrivals <- function(expected, key, stream) {
  bounds <- c(0, cumsum(expected))
  at <- unit_arrivals(bounds[[length(bounds)]], key, stream)
  part <- findInterval(at, bounds, left.open = FALSE)
  list(part = part, within = (at - bounds[part]) / expected[part])
}

burst_times <- function(duration, burst_rate, burst_duration, key) {
  n <- if (burst_rate > 0) ceiling(3 * duration * burst_rate + 20) else 0
  start <- cumsum((0.4 - 0.6 * log(random_uniform(n, key, sim_stream(15)))) / burst_rate)
  start <- start[start < duration]
  length <- burst_duration[[1L]] + (burst_duration[[2L]] - burst_duration[[1L]]) *
    random_uniform(length(start), key, sim_stream(16))
  data.frame(start = start, duration = length)
}

check_range <- function(x, arg, max) {
  check_numbers(x, arg, 2L, 0, max,
                paste("two numbers in increasing order, from 0 to", commas(max)),
                x[[1L]] <= x[[2L]])
}
