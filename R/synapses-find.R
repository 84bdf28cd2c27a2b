# Who connects to whom: connections between units from their correlograms.

#' Find monosynaptic connections
#'
#' Which pairs of neurons are connected, in which direction, and whether the first one excites
#' or inhibits the second: from the spike trains alone. A spike of a neuron that excites another
#' makes the other one fire more often for some milliseconds, some milliseconds later; after a
#' spike of one that inhibits it, the other one fires less often. The correlogram of the pair
#' (see [cross_correlogram()]) has a narrow peak or dip on one side of lag 0. Everything else that
#' makes peaks and dips, such as rates that rise together, oscillations, bursts, common input and
#' spikes that a sorter lost, is what the tests below are about.
#'
#' # What is tested
#' For each ordered pair, windows of 3 ms that begin half a bin to `max_lag` after lag 0. The
#' count of a window must differ from two baselines at once:
#' * *hollow*: a parabola in the lag that is fitted to the lags around the window, without it,
#'   with weights of a Gaussian (as the hollow kernels of Stark and Abeles 2009, and of English
#'   et al. 2017, which have no slope and curvature). Slow changes of both rates are in it. Its
#'   standard deviation (`scale`) is 20, 15 or 10 ms: the first one with which the bulk of all
#'   pairs is hardly wider than the null.
#' * *folded*: a line in the distance from lag 0 that is fitted to the lags on both sides, with a
#'   Gaussian of 3 ms. What is symmetric around lag 0, as common input and rates that rise
#'   together are, is in it, however fast.
#'
#' The evidence `z` of a window is the signed root of the deviance of two Poisson counts, for the
#' baseline that speaks less for a connection. The best window of each sign counts. A strong peak
#' is masked while the other direction and the other sign are tested, of whose baselines it
#' would be a part: otherwise each strong connection makes a dip on the other side.
#'
#' # Chance
#' No synapse acts at lags of some ten milliseconds, and noise there has the same causes as at
#' short lags. So the differences of each correlogram from its slow part at long lags, from 10,
#' 25 and 40 ms beyond `max_lag` on, are set on the slow part of the short lags, and tested as
#' the recording is. This null is never narrower than that of independent Poisson trains. The
#' tails of both are compared with a normal tail. The counts of pairs that share a rhythm vary
#' more at long lags than chance lets those of Poisson trains; the z of such a pair is divided by
#' the root of how much more they vary. What is left in the bulk of all pairs, most of which are
#' not connected, widens the null further (`inflation`). p values of all ordered pairs and both
#' signs give q values (Benjamini and Hochberg); pairs with q up to `false_discovery` are
#' called, and none are unless the smallest q is at most 0.4 of it. A peak needs 5 spikes in
#' its window, a dip 5 that chance would give.
#'
#' # What other neurons explain
#' Where A drives B, and B drives C, C fires after A. So the connections of the first round are
#' used to predict each other: what the other inputs of a target, with the correlograms of these
#' inputs and the source, give at each lag is taken from the correlogram of the pair, and the
#' rest is tested once more, in the same way. Pairs that pass no longer are `"explained"`, `via`
#' the unit that explains most. Only units that were recorded explain anything.
#'
#' # Kinds
#' \describe{
#'   \item{`"connection"`}{a peak or dip on one side, which no other recorded unit explains}
#'   \item{`"explained"`}{a peak or dip that other connections explain}
#'   \item{`"common input"`}{a sharp peak at lag 0 or on both sides of it. Pairs that excite each
#'     other with equal lags look the same, and so do gap junctions}
#'   \item{`"same cell"`}{more than a fifth of the spikes of the smaller unit have one of the other
#'     at the same time, or a hole around lag 0 shows that the sorter sees one of both spikes at
#'     a time}
#'   \item{`"wide"`}{both sides have more than the hollow baseline of 20 ms, and not more than
#'     the folded one: rates that rise and fall together, and no connection}
#' }
#' A row whose `kind` is `NA` is a pair that stands out, with too few spikes to be called a
#' connection; `reason` says how many are needed.
#'
#' # What this does not show
#' * That a pair that is not listed is not connected. The attribute `power` has the smallest
#'   strength that could have been found, for each pair. Most weak connections of long-tailed
#'   networks are below it.
#' * Hidden neurons. One that drives A and then B, some milliseconds later, makes a peak on one
#'   side, as a connection does. Of 100 neurons among 1,000, some calls are paths through
#'   others.
#' * Synapses slower than `max_lag`, or wider than some 6 ms: the baseline takes a part of them.
#'   Narrow ones of strength 0.3 are measured as 0.27 to 0.3.
#' * Connections in recordings nearly all of whose pairs of spikes are in population bursts. The
#'   attribute `bursts` says by how much leaving bursts out would help (`gain`); beyond 8 they are
#'   left out, a warning of class `synfire_warning_bursts` says so, and `judged` is `FALSE`.
#' * Anything at lag 0: the bin around it is never evidence of a connection.
#' * False discoveries are limited beside structure that the recording shows at other lags and in
#'   other pairs. With fewer than eight units the bulk is not known, and the Poisson trains decide.
#'
#' # Memory and time
#' Nearly all time is for counting the lags of all pairs. 200 units, an hour and 5 Hz take about
#' a second of one core, 1,000 such units some 20 seconds, and 2.5 GB; with an NVIDIA H200 these
#' took 3 seconds. A GPU counts lags and scans pairs; all other steps are the processor's.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes. Trials are kept
#'   apart; they, or a recording without trials, must last 0.1 s or more.
#' @param max_lag Last lag of a window, in seconds, from 0.003 to 0.03. Cultures may need 0.02.
#' @param bin_size Length of a bin of the correlograms, in seconds, from 0.0002 to 0.001. `NULL`
#'   for 0.5 ms, or a whole number of steps of the clock that is near: 1 ms where times are whole
#'   milliseconds.
#' @param false_discovery Share of wrong calls among all calls that is taken.
#' @param locations Data frame with the columns `unit`, `x` and `y`, in micrometres, for
#'   `distance`; `NULL` for the columns `x` and `y` of [unit_table()], if it has them.
#' @param device `"cpu"`, `"gpu"`, or `"auto"` for the one that should be sooner done. The numbers
#'   are the same to nine digits.
#' @param gpus Numbers of the GPUs to use: rows of `synfire_sitrep()$devices`; `NULL` for the first
#'   one.
#' @param threads Number of threads; `NULL` for all that this process may use. The result does not
#'   depend on it.
#' @param max_memory Bytes that the work may hold.
#'
#' @return A data frame of class `synapses`, connections first, then by `p_value`. It has a row for
#'   each ordered pair that is a connection, explained or refused, and for each unordered pair of
#'   the other kinds (`from` is the earlier unit):
#'   \describe{
#'     \item{from, to}{names of units}
#'     \item{kind}{see Kinds, a factor}
#'     \item{sign}{1 for more spikes, -1 for fewer; `NA` for `"same cell"`}
#'     \item{lag}{where the correlogram is farthest from its slow part within the window, in
#'       seconds; 0 for kinds without a direction}
#'     \item{width}{how long it stays beyond half of that, in seconds}
#'     \item{strength}{spikes of `to` that a spike of `from` adds (negative: takes away): (`count` -
#'       `baseline`) / spikes of `from`}
#'     \item{strength_low, strength_high}{its interval of 95 %, by the variance of both counts. Of
#'       160 planted connections of strength 0.02 to 0.15 it held 148}
#'     \item{count, baseline}{spikes in the window, and those expected there; in the second round,
#'       after what others explain, so that they need not be whole; around lag 0 for kinds without
#'       a direction. `"explained"` pairs have those of the first round, and its `z`}
#'     \item{z}{evidence, corrected by the bulk}
#'     \item{p_value, q_value}{of the second round. `NA` for `"same cell"`; those of `"common
#'       input"` are of the peak at lag 0, those of `"wide"` of its weaker side}
#'     \item{via}{of explained pairs: the unit that explains most}
#'     \item{distance}{between both, in micrometres; only where locations are known}
#'     \item{reason}{of refused pairs}
#'   }
#'   Attributes: `tests` (ordered pairs that were tested), `expected_false` (`false_discovery` times
#'   connections), `power` (matrix from x to), `units` (data frame: `unit`, `spikes` that were
#'   looked at, `rate` in Hz, `tested`, `reason`, `x`, `y`), `max_lag`, `bin_size`,
#'   `false_discovery`, `scale` (s), `inflation` (of excitatory and inhibitory evidence), `bursts`
#'   (list: `gain`, `share` of spikes in bursts, `judged`), `correlograms` (lags x rows, from
#'   -40 to 40 ms, of the first 20,000 rows), `baseline` (their slow part), `windows` (edges, in s),
#'   `device`, `gpus`, `threads`, `elapsed` (s) and `call`.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; among them are recordings of
#' fewer than two units, and those on a clock coarser than 1 ms. Work beyond `max_memory` gives
#' `synfire_error_budget` before anything is counted, and a GPU that is not there
#' `synfire_error_device`. A recording without a connection is no error.
#' @references
#' English DF, McKenzie S, Evans T, Kim K, Yoon E, Buzsaki G (2017). Pyramidal cell-interneuron
#' circuit architecture and dynamics in hippocampal networks. *Neuron*, 96, 505-520.
#' \doi{10.1016/j.neuron.2017.09.033}
#'
#' Kobayashi R, Kurita S, Kurth A, Kitano K, Mizuseki K, Diesmann M, Richmond BJ, Shinomoto S
#' (2019). Reconstructing neuronal circuitry from parallel spike trains. *Nature Communications*,
#' 10, 4468. \doi{10.1038/s41467-019-12225-2}
#'
#' Platkiewicz J, Saccomano Z, McKenzie S, English D, Amarasingham A (2021). Monosynaptic inference
#' via finely-timed spikes. *Journal of Computational Neuroscience*, 49, 131-157.
#' \doi{10.1007/s10827-020-00770-5}
#'
#' Ren N, Ito S, Hafizi H, Beggs JM, Stevenson IH (2020). Model-based detection of putative
#' synaptic connections from spike recordings with latency and type constraints. *Journal of
#' Neurophysiology*, 124, 1588-1604. \doi{10.1152/jn.00066.2020}
#'
#' Stark E, Abeles M (2009). Unbiased estimation of precise temporal correlations between spike
#' trains. *Journal of Neuroscience Methods*, 179, 90-100. \doi{10.1016/j.jneumeth.2008.12.029}
#' @seealso [cross_correlogram()], [find_assemblies()] for groups.
#' @examples
#' # A drives B, B drives C, and D inhibits C.
#' set.seed(1)
#' fire <- function(rate) sort(runif(rpois(1, 600 * rate), 0, 600))
#' after <- function(spikes, share, lag) spikes[runif(length(spikes)) < share] + lag
#' a <- fire(8)
#' d <- fire(10)
#' b <- sort(c(fire(6), after(a, 0.15, 0.002)))
#' c <- sort(c(fire(15), after(b, 0.2, 0.003)))
#' since <- c - c(-1, d)[findInterval(c, d) + 1]
#' c <- c[since < 0.002 | since > 0.005 | runif(length(c)) < 0.4]
#' x <- spike_trains(c(a, b, c, d), rep(c("A", "B", "C", "D"), lengths(list(a, b, c, d))),
#'                   start = 0, end = 601)
#' found <- find_synapses(x, threads = 2)
#' as.data.frame(found)[c("from", "to", "kind", "sign", "lag", "strength", "via")]
#' attr(found, "power")
#' @order 1
#' @export
find_synapses <- function(x, max_lag = 0.01, bin_size = NULL, false_discovery = 0.05,
                          locations = NULL, device = c("cpu", "gpu", "auto"), gpus = NULL,
                          threads = NULL, max_memory = 4e9) {
  started <- proc.time()[["elapsed"]]
  check_given(x = "a recording")
  call <- sys.call()
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  refuse_if(nlevels(x$unit) < 2L, "x", "a recording of two units or more",
            sprintf("one of %s", counted(nlevels(x$unit), "unit")))
  trains <- trains_of(x)
  plan <- synapse_plan(x, trains, max_lag, bin_size)
  false_discovery <- check_alpha(false_discovery, "false_discovery", "share of wrong calls")
  places <- check_locations(locations, x)
  device <- check_choice(device)
  check_place(device, gpus)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory, min = 1e7)
  bursts <- find_bursts(trains, plan)
  if (!bursts$judged) {
    warn_bursts(bursts)
    trains <- only_spikes(trains, which(!bursts$dropped))
  }
  units <- synapse_units(x, trains, places)
  check_synapse_memory(sum(units$tested), plan, trains, max_memory)
  place <- settle_place(device, check_gpus(gpus, device), synapse_seconds(units, x) / threads)
  work <- synapse_work(trains, which(units$tested), plan, place, threads, max_memory)
  first <- first_stage(work, plan)
  second <- second_stage(work, plan, first, false_discovery)
  new_synapses(second, work, units, x, plan, list(
    max_lag = max_lag, bin_size = plan$bin_size, false_discovery = false_discovery,
    bursts = bursts[c("gain", "share", "judged")], call = call, device = place$device,
    gpus = gpus_of(place), threads = threads, elapsed = proc.time()[["elapsed"]] - started
  ))
}

# ---- Arguments -----------------------------------------------------------------------

#' Lengths in bins
#'
#' @return `bin` (ticks), `bin_size` (s); in bins: `lags` on each side, of which `shown` are kept,
#'   and `long` lags for the null, `reach` (the last bin of a window), `width`, `guard`, `pad`,
#'   `shift`, `rest` (see core/synapses); `ms`, bins of a millisecond.
#' @noRd
synapse_plan <- function(x, trains, max_lag, bin_size) {
  resolution <- attr(x, "resolution", exact = TRUE)
  max_lag <- check_number(max_lag, min = 0.003, max = 0.03)
  frame <- max(1, frame_length(diff(utils::head(trains$tick, 2e5))))
  coarse <- frame * resolution > 0.001 * (1 + 1e-6)
  refuse_if(coarse, "x", "recorded on a clock of 1 ms or finer",
            sprintf("one whose times are %s ms apart",
                    exact(signif(frame * resolution * 1e3, 3))),
            "Connections act within milliseconds, which such times do not show.")
  shortest <- max(0.0002, frame * resolution)
  if (is.null(bin_size)) {
    # Bins of a whole number of steps of the clock hold equally many lags.
    bin <- round(frame * max(1, round(0.0005 / (frame * resolution))))
  } else {
    bin <- check_bin_size(bin_size, resolution)
    size <- ticks_to_seconds(bin, resolution)
    refuse_if(size < shortest * (1 - 1e-6) || size > 0.001 * (1 + 1e-9), "bin_size",
              sprintf("from %s to 0.001 s for this recording", exact(signif(shortest, 6))),
              paste(exact(size), "s"))
  }
  length <- common_length(x)
  refuse_if(length < 0.1, "x", "a recording with trials of 0.1 s or more",
            sprintf("one of %s", if (is.null(attr(x, "trials", exact = TRUE))) {
              paste(exact(signif(length, 6)), "s")
            } else {
              sprintf("trials of %s s", exact(signif(length, 6)))
            }), "Baselines of connections need lags of 40 ms and more.")
  bin_size <- ticks_to_seconds(bin, resolution)
  in_bins <- \(seconds) floor(seconds / bin_size * (1 + 1e-9) + 0.5)
  reach <- floor(max_lag / bin_size * (1 + 1e-9))
  list(bin = bin, bin_size = bin_size, max_lag = max_lag, lags = in_bins(max_lag + 0.04),
       shown = in_bins(0.04), long = in_bins(max(0.11, 2 * max_lag + 0.09)), reach = reach,
       width = min(reach, in_bins(0.003)), guard = ceiling(0.0005 / bin_size * (1 - 1e-9)),
       pad = floor(0.0025 / bin_size * (1 + 1e-9)), shift = in_bins(max_lag + null_shifts),
       rest = in_bins(max_lag + 0.005), ms = 0.001 / bin_size)
}

#' Positions of all units in micrometres, a matrix of `x` and `y`, or NULL
#' @noRd
check_locations <- function(locations, x) {
  if (is.null(locations)) return(unit_places(x))
  refuse_if(!is.data.frame(locations) || !all(c("unit", "x", "y") %in% names(locations)),
            "locations", "NULL, or a data frame with the columns `unit`, `x` and `y`",
            if (is.data.frame(locations)) some_columns(locations) else describe(locations))
  table <- check_unit_table(as.data.frame(locations)[c("unit", "x", "y")], levels(x$unit),
                            "locations")
  table <- table[seq_len(nlevels(x$unit)), ]
  for (name in c("x", "y")) {
    column <- table[[name]]
    refuse_if(!is_plain_numeric(column) || any(is.infinite(column)), sprintf("locations$%s", name),
              "a number for each unit, in micrometres, or NA", describe(column))
  }
  cbind(x = as.double(table$x), y = as.double(table$y))
}

#' Error before work that would need more than `max_memory`
#' @noRd
check_synapse_memory <- function(n, plan, trains, max_memory) {
  pairs <- as.double(n) * (n - 1) / 2
  few <- min(n, null_units)
  needed <- 4 * (2 * plan$lags + 1) * n^2 + 4 * (2 * plan$long + 1) * few^2 +
    1000 * pairs + 60 * length(trains$tick)
  check_budget(needed, max_memory, sprintf("the connections of %s", counted(n, "unit")),
               c("Take fewer units with `x[unit = ]`.", "Or longer bins."))
}

#' Seconds that one thread takes, about
#' @noRd
synapse_seconds <- function(units, x) {
  n <- units$spikes[units$tested]
  lags <- 0.1 / max(0.1, observed_seconds(x))
  1.5e-9 * lags * sum(n)^2 / 2 + 8e-6 * length(n)^2 / 2
}

# ---- Spikes and units ----------------------------------------------------------------

#' Population bursts, and whether the rest of the recording says more without them
#'
#' With r spikes in a bin, the number of pairs grows as r^2, and what a pair says about single
#' connections does not. So (sum of r)^2 / (sum of r^2) says how much a set of bins holds.
#' @return `gain`: how many times more the best set of bins holds than all of them; `share` of
#'   the spikes outside of it; `judged`: whether bursts leave enough; `dropped`, where they do
#'   not: whether each spike is left out.
#' @noRd
find_bursts <- function(trains, plan) {
  none <- list(gain = 1, share = 0, judged = TRUE, dropped = NULL)
  if (count_in_trials(trains) == 0L) return(none)
  trial <- trains$trial %||% 1L
  width <- max(1, round(0.02 / plan$bin_size)) * plan$bin
  bins <- (trains$stop - trains$start) %/% width + 1
  # Whole numbers are cut off towards 0, which is downwards here.
  before <- cumsum(bins) - bins + 1 - trains$start / width
  at <- as.integer(trains$tick / width + before[trial] + 1e-9)
  count <- tabulate(at, sum(bins))
  size <- sort(count[count > 0L])
  holds <- cumsum(as.double(size))^2 / cumsum(as.double(size)^2)
  best <- which.max(holds)
  gain <- holds[[best]] / holds[[length(holds)]]
  most <- max(size[[best]], 3 * stats::median(count) + 5)
  list(gain = gain, share = sum(count[count > most]) / sum(count), judged = gain <= most_gain,
       dropped = if (gain > most_gain) count[at] > most)
}

warn_bursts <- function(bursts) {
  warn_about(
    "bursts", "Nearly all pairs of spikes of this recording are in population bursts.",
    x = "{.val {round(100 * bursts$share)}} % of the spikes are in bursts, and are left out.",
    i = "What is found are connections. That a pair is not found says nothing."
  )
}

# A gain beyond which nearly all pairs of spikes come from bursts.
most_gain <- 8

only_spikes <- function(trains, keep) {
  trains$tick <- trains$tick[keep]
  trains$unit <- trains$unit[keep]
  # An element of NULL stays one.
  trains["trial"] <- list(trains$trial[keep])
  trains
}

#' The same recording of some units alone
#' @param units Their numbers, increasing.
#' @noRd
only_units <- function(trains, units) {
  if (length(units) == trains$units) return(trains)
  number <- match(seq_len(trains$units), units)
  trains <- only_spikes(trains, which(!is.na(number)[trains$unit]))
  trains$unit <- number[trains$unit]
  trains$units <- length(units)
  trains
}

# Fewer spikes say next to nothing about any pair, and their null is not that of others.
least_spikes <- 100

#' @return A data frame with a row for each unit: `unit`, `spikes`, `rate`, `tested`, `reason`,
#'   `x`, `y`.
#' @noRd
synapse_units <- function(x, trains, places) {
  spikes <- tabulate_units(trains)
  tested <- spikes >= least_spikes
  reason <- ifelse(tested, NA_character_, sprintf("%s, and %d are needed", counted_each(spikes),
                                                  least_spikes))
  data.frame(unit = levels(x$unit),
             spikes = spikes, rate = spikes / observed_seconds(x), tested = tested,
             reason = reason, x = if (is.null(places)) NA_real_ else places[, "x"],
             y = if (is.null(places)) NA_real_ else places[, "y"], row.names = NULL)
}

counted_each <- function(n) vapply(n, \(one) counted(one, "spike"), "")

# ---- Counting and scanning -----------------------------------------------------------

# Units among which the null is looked at: some 1,500 pairs.
null_units <- 55L

# Pairs that a processor scans in some hundredths of a second.
few_pairs <- 10000L

#' What all steps share: counts, pairs, and how a device counts and scans
#'
#' This is the one place that chooses the device.
#' @param units Numbers of the units that are tested.
#' @return `units`; `n` (spikes of each); `counts` (lags x units x units); `a` and `b` (units of
#'   each pair, from 0, by their place in `units`); `from` and `to` (the same for each direction,
#'   two for a pair); `few` (numbers of the pairs whose long lags are counted); `limits`; and
#'   functions that scan pairs, also those of the null, those around lag 0, and what other inputs
#'   leave of some.
#' @noRd
synapse_work <- function(trains, units, plan, place, threads, max_memory) {
  trains <- only_units(trains, units)
  gpus <- gpus_of(place)
  counts <- count_lags(trains, plan$bin, plan$lags, threads, max_memory, gpus)
  rank <- rank_units(trains, counts)
  few <- if (length(units) > null_units) {
    sort(rank[round(seq(1, length(rank), length.out = null_units))])
  } else {
    seq_along(units)
  }
  long <- c(list(counts = count_lags(only_units(trains, few), plan$bin, plan$long, threads,
                                     max_memory, gpus)), pairs_of(length(few)))
  all_pairs <- pairs_of(length(units))
  limits <- list(threads = threads, max_memory = max_memory)
  n <- as.double(tabulate_units(trains))
  list(units = units, n = n, few = pair_numbers(few, length(units)), counts = counts,
       a = all_pairs$a, b = all_pairs$b, from = c(rbind(all_pairs$a, all_pairs$b)),
       to = c(rbind(all_pairs$b, all_pairs$a)), limits = limits,
       scan = \(options, a = all_pairs$a, b = all_pairs$b) {
         # To give a GPU all counts takes longer than a processor takes for some pairs.
         where <- list(gpus = if (length(a) > few_pairs) gpus)
         finish_status(.Call(r_synapse_scan, counts, a, b, c(options, limits, where)),
                       "looking at pairs")
       },
       centre = \(options) {
         finish_status(.Call(r_synapse_centre, counts, all_pairs$a, all_pairs$b,
                             c(options, limits)), "looking at lag 0")
       },
       explain = \(links, pairs, options) {
         finish_status(.Call(r_synapse_explain, counts, n, links, all_pairs$a[pairs],
                             all_pairs$b[pairs], c(options, limits)),
                       "looking at other inputs", "Take fewer units with `x[unit = ]`.")
       },
       null = \(options) {
         finish_status(.Call(r_synapse_null, long$counts, long$a, long$b, c(options, limits)),
                       "looking at long lags")
       })
}

#' All pairs of n units, from 0, the first one being the earlier
#' @noRd
pairs_of <- function(n) {
  if (n < 2L) return(list(a = integer(), b = integer()))
  list(a = rep(seq_len(n - 1L) - 1L, (n - 1L):1L), b = sequence((n - 1L):1L, seq_len(n - 1L)))
}

#' Numbers of the pairs of some of n units among all pairs
#' @noRd
pair_numbers <- function(few, n) {
  pairs <- pairs_of(length(few))
  a <- few[pairs$a + 1L]
  (a - 1) * n - a * (a - 1) / 2 + few[pairs$b + 1L] - a
}

#' Units in an order that neither their names nor their order decide: by spikes, then by their
#' own correlogram, then by that with all others
#' @noRd
rank_units <- function(trains, counts) {
  n <- tabulate_units(trains)
  weight <- seq_len(dim(counts)[[1L]])^2
  tied <- \(key) which(key %in% key[duplicated(key)])
  own <- others <- numeric(length(n))
  for (u in tied(n)) own[[u]] <- sum(counts[, u, u] * weight)
  for (u in tied(paste(n, own))) others[[u]] <- sum(rowSums(counts[, u, , drop = FALSE]) * weight)
  order(n, own, others)
}
