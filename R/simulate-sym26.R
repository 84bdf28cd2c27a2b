# The benchmark of 26 neurons with two planted chains.

#' Simulate the Sym26 benchmark: 26 neurons with a short and a long chain
#'
#' Neurons `A` to `Z` fire as inhomogeneous Poisson processes at a base rate of 20 Hz.
#' Two chains are planted: neurons that fire one another with high probability, each
#' after a delay within one of three intervals, by turns. With the defaults there are
#' about 49,000 spikes in 60 s. Mining them with the intervals (0, 5], (5, 10] and
#' (10, 15] ms counts some 250,000 candidates at `min_count` 150, of which 12,000 are
#' frequent, and 30,000 at 300; `set.seed(1)` gives 265,395, 14,871 and 29,874.
#'
#' Each neuron fires by itself at `rate`, modulated by a slow sine of its own phase. In
#' addition a chain is activated `activation_rate` times per second: its first neuron
#' fires, and each neuron that fires as part of it fires the next one with the given
#' `probability`, once, after a delay uniform over its interval. Seen from the next
#' neuron, its rate is raised within the delay window after such a spike, which is
#' the model of the papers. Where `spontaneous` is `TRUE`, also spikes that are not part
#' of an activation fire the next neuron of the chain.
#'
#' @param duration Length of the recording, in seconds.
#' @param rate Base rate of each neuron, in Hz.
#' @param chains List of chains, each a character vector of neurons (`"A"` to `"Z"`). A
#'   neuron may be in several.
#' @param delays Two-column matrix (low, high) in seconds, a row for each interval: a
#'   delay is more than `low` and at most `high`. The links of a chain take the rows in
#'   turn. One interval may be given as `c(low, high)`.
#' @param probability Probability that a neuron of an active chain fires the next one.
#' @param activation_rate How often a chain is activated, in Hz: one number, one for each
#'   chain, or `NULL` for 11 and 24 Hz by turns.
#' @param spontaneous Whether spikes outside activations also fire the next neuron.
#' @param modulation Relative depth of the slow modulation of the base rate, from 0
#'   (none) to 1.
#' @param period Period of the modulation, in seconds.
#' @param resolution Length of a tick, in seconds; bounds of `delays` and `duration` must
#'   be whole ticks.
#'
#' @return [spike_trains()] with the attribute `truth`, a list: `links` (data frame
#'   `chain`, `from`, `to`, `low`, `high` in seconds, `probability`), `spikes` (data
#'   frame of the planted spikes: `chain`, `occurrence`, `position` in the chain, `unit`,
#'   `time` in seconds) and the `key` of the random numbers. [set.seed()] decides all.
#'
#' @references
#' Patnaik D, Sastry PS, Unnikrishnan KP (2008). Inferring neuronal network connectivity
#' from spike data: a temporal data mining approach. *Scientific Programming*, 16,
#' 49-77. \doi{10.3233/SPR-2008-0242}
#'
#' Cao Y, Patnaik D, Ponce S, Archuleta J, Butler P, Feng W, Ramakrishnan N (2011).
#' Parallel mining of neuronal spike streams on graphics processing units.
#' *International Journal of Parallel Programming*, 40, 605-632.
#' \doi{10.1007/s10766-011-0181-6}
#'
#' @seealso [simulate_culture()], [simulate_patterns()]
#' @examples
#' set.seed(1)
#' x <- simulate_sym26(duration = 10)
#' x
#' attr(x, "truth")$links
#' @export
simulate_sym26 <- function(duration = 60, rate = 20,
                           chains = list(short = LETTERS[1:3], long = LETTERS[6:17]),
                           delays = cbind(c(0, 0.005, 0.010), c(0.005, 0.010, 0.015)),
                           probability = 0.98, activation_rate = NULL, spontaneous = FALSE,
                           modulation = 0.5, period = 10, resolution = 1e-6) {
  duration <- check_number(duration, above = 0)
  rate <- check_number(rate, min = 0)
  chains <- check_chains(chains, LETTERS)
  delays <- check_delays(delays)
  probability <- check_probability(probability)
  activation_rate <- check_rates(
    if (is.null(activation_rate)) rep_len(c(11, 24), length(chains)) else activation_rate,
    length(chains), "activation_rate"
  )
  spontaneous <- check_flag(spontaneous)
  modulation <- check_probability(modulation)
  resolution <- check_resolution(resolution)
  period <- check_number(period, min = resolution)
  last_tick <- check_duration(duration, resolution)
  own <- duration * rate * (1 + modulation) * length(LETTERS)
  started <- duration * activation_rate + if (spontaneous) own else 0
  check_expected(own + sum(started * lengths(chains)), duration, "`rate` and `activation_rate`")

  key <- random_key()
  base <- lapply(seq_along(LETTERS), \(u) {
    time <- unit_arrivals(duration * rate * (1 + modulation), key, sim_stream(1, u)) /
      (rate * (1 + modulation))
    phase <- random_uniform(1, key, sim_stream(2, u))
    keep <- random_uniform(length(time), key, sim_stream(3, u)) * (1 + modulation) <
      1 + modulation * sinpi(2 * (time / period + phase))
    round_to_ticks(time[keep], resolution)
  })

  links <- chain_links(chains, delays, resolution)
  heads <- lapply(seq_along(chains), \(k) {
    heads <- chain_heads(duration, activation_rate[[k]], resolution, key, sim_stream(4, k))
    if (spontaneous) {
      member <- match(chains[[k]], LETTERS)
      for (position in seq_len(length(member) - 1L)) {
        tick <- base[[member[[position]]]]
        heads <- rbind(heads, data.frame(tick = tick, position = rep(position, length(tick))))
      }
    }
    heads
  })
  planted <- plant_chains(chains, links, heads, probability, last_tick, LETTERS, key, 5)

  simulated(c(unlist(base), planted$tick),
            c(rep(seq_along(base), lengths(base)), as.integer(planted$unit)), LETTERS, duration,
            resolution, chain_truth(links, planted, probability, resolution, key))
}
