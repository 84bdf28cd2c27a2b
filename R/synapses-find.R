# Who connects to whom: connections between units from their correlograms.

#' Find monosynaptic connections
#'
#' @export
find_synapses <- function(x, max_lag = 0.01, bin_size = NULL, false_discovery = 0.05,
                          locations = NULL, device = c("cpu", "gpu", "auto"), gpus = NULL,
                          threads = NULL, max_memory = 4e9) {
  check_given(x = "a recording")
  call <- sys.call()
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  refuse_if(nlevels(x$unit) < 2L, "x", "a recording of two units or more",
            sprintf("one of %s", counted(nlevels(x$unit), "unit")))
  plan <- synapse_plan(x, max_lag, bin_size)
  false_discovery <- check_false_discovery(false_discovery)
  places <- check_locations(locations, x)
  device <- check_choice(device)
  check_place(device, gpus)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory, min = 1e7)
  started <- proc.time()[["elapsed"]]
  trains <- trains_of(x)
  bursts <- find_bursts(trains, plan)
  trains <- inside_trains(trains, bursts$dropped)
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
#' @return `bin` (ticks), `bin_size` (s); in bins: `lags` on each side and `long` lags for the
#'   null, `reach` (the last bin of a window), `width`, `guard`, `pad`, `shift`, `rest` (see
#'   core/synapses); `ms`, bins of a
#'   millisecond.
#' @noRd
synapse_plan <- function(x, max_lag, bin_size) {
  resolution <- attr(x, "resolution", exact = TRUE)
  max_lag <- check_number(max_lag, min = 0.003, max = 0.03)
  ticks <- train_ticks(x)
  frame <- max(1, frame_length(ticks[seq_len(min(length(ticks), 2e5))]))
  coarse <- frame * resolution > 0.001 * (1 + 1e-6)
  refuse_if(coarse, "x", "recorded on a clock of 1 ms or finer",
            sprintf("one whose times are %s ms apart", format(frame * resolution * 1e3, digits = 3)),
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
              paste(exact(length), "s")
            } else {
              sprintf("trials of %s s", exact(length))
            }), "Baselines of connections need lags of 40 ms and more.")
  bin_size <- ticks_to_seconds(bin, resolution)
  in_bins <- \(seconds) floor(seconds / bin_size * (1 + 1e-9) + 0.5)
  list(bin = bin, bin_size = bin_size, max_lag = max_lag, lags = in_bins(0.04),
       long = in_bins(max(0.11, max_lag + 0.1)), reach = floor(max_lag / bin_size * (1 + 1e-9)),
       width = in_bins(0.003), guard = ceiling(0.0005 / bin_size * (1 - 1e-9)),
       pad = floor(0.0025 / bin_size * (1 + 1e-9)), shift = in_bins(max_lag + null_shifts),
       rest = in_bins(max_lag + 0.005), ms = 0.001 / bin_size)
}

check_false_discovery <- function(false_discovery) {
  ok <- is_plain_numeric(false_discovery) && length(false_discovery) == 1L &&
    !is.na(false_discovery) && false_discovery > 0 && false_discovery < 1
  refuse_if(!ok, "false_discovery", "a number above 0 and below 1", describe(false_discovery),
            "It is the share of wrong calls that is taken, such as 0.05.")
  as.double(false_discovery)
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
    500 * pairs + 60 * length(trains$tick)
  check_budget(needed, max_memory, sprintf("the connections of %s", counted(n, "unit")),
               c("Take fewer units with `x[unit = ]`.", "Or longer bins."))
}

#' Seconds that one thread takes, about
#' @noRd
synapse_seconds <- function(units, x) {
  n <- units$spikes[units$tested]
  lags <- 0.08 / max(0.08, observed_seconds(x))
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
  at <- floor((trains$tick - trains$start[trial]) / width) + (cumsum(bins) - bins)[trial] + 1
  count <- tabulate(at[!is.na(at)], sum(bins))
  size <- sort(count[count > 0L])
  holds <- cumsum(as.double(size))^2 / cumsum(as.double(size)^2)
  best <- which.max(holds)
  gain <- holds[[best]] / holds[[length(holds)]]
  most <- max(size[[best]], 3 * stats::median(count) + 5)
  dropped <- count[at] > most
  list(gain = gain, share = mean(dropped, na.rm = TRUE), judged = gain <= most_gain,
       dropped = if (gain > most_gain) dropped)
}

# A gain beyond which nearly all pairs of spikes come from bursts.
most_gain <- 8

#' Spikes in trials that are not dropped
#' @noRd
inside_trains <- function(trains, dropped = NULL) {
  if (is.null(dropped)) return(trains)
  keep_spikes(trains, which(!dropped))
}

keep_spikes <- function(trains, keep) {
  trains$tick <- trains$tick[keep]
  trains$unit <- trains$unit[keep]
  # An element of NULL stays one.
  trains["trial"] <- list(trains$trial[keep])
  trains
}

#' The same recording of some units alone
#' @param units Their numbers, increasing.
#' @noRd
keep_units <- function(trains, units) {
  if (length(units) == trains$units) return(trains)
  number <- match(seq_len(trains$units), units)
  unit <- number[trains$unit]
  keep <- which(!is.na(unit))
  trains$unit <- unit
  trains <- keep_spikes(trains, keep)
  trains$units <- length(units)
  trains
}

# Fewer spikes say next to nothing about any pair, and their null is not that of others.
least_spikes <- 100

#' @return A data frame with a row for each unit: `unit`, `spikes`, `rate`, `tested`, `reason`,
#'   `x`, `y`.
#' @noRd
synapse_units <- function(x, trains, places) {
  unit <- if (is.null(trains$trial)) trains$unit else trains$unit[!is.na(trains$trial)]
  spikes <- tabulate(unit, trains$units)
  tested <- spikes >= least_spikes
  reason <- ifelse(tested, NA_character_, sprintf("%s, and %d are needed", counted_each(spikes),
                                                  least_spikes))
  data.frame(unit = structure(seq_len(trains$units), levels = levels(x$unit), class = "factor"),
             spikes = spikes, rate = spikes / observed_seconds(x), tested = tested,
             reason = reason, x = if (is.null(places)) NA_real_ else places[, "x"],
             y = if (is.null(places)) NA_real_ else places[, "y"], row.names = NULL)
}

counted_each <- function(n) vapply(n, \(one) counted(one, "spike"), "")

# ---- Counting and scanning -----------------------------------------------------------

# Units among which the null is looked at: some 1,500 pairs.
null_units <- 55L

#' What all steps share: counts, pairs, and how a device counts and scans
#'
#' This is the one place that chooses the device.
#' @param units Numbers of the units that are tested.
#' @return `units`; `n` (spikes of each); `counts` (lags x units x units); `a` and `b` (units of
#'   each pair, from 0, by their place in `units`); `long`, the same of few units at long lags;
#'   functions `scan` and `null` of options.
#' @noRd
synapse_work <- function(trains, units, plan, place, threads, max_memory) {
  trains <- keep_units(trains, units)
  if (place$device == "gpu") {
    finish_status(new_status("no_device", reason = "Connections are not counted on GPUs yet"),
                  "this call")
  }
  counts <- count_lags(trains, plan$bin, plan$lags, threads, max_memory)
  rank <- rank_units(trains, counts)
  few <- if (length(units) > null_units) {
    sort(rank[round(seq(1, length(rank), length.out = null_units))])
  } else {
    seq_along(units)
  }
  long <- c(list(counts = count_lags(keep_units(trains, few), plan$bin, plan$long, threads,
                                     max_memory)), pairs_of(length(few)))
  all_pairs <- pairs_of(length(units))
  limits <- list(threads = threads, max_memory = max_memory)
  n <- as.double(tabulate_units(trains))
  list(units = units, n = n, few = pair_numbers(few, length(units)), counts = counts, a = all_pairs$a,
       b = all_pairs$b, limits = limits,
       scan = \(options, a = all_pairs$a, b = all_pairs$b) {
         finish_status(.Call(r_synapse_scan, counts, a, b, c(options, limits)),
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

tabulate_units <- function(trains) {
  unit <- if (is.null(trains$trial)) trains$unit else trains$unit[!is.na(trains$trial)]
  tabulate(unit, trains$units)
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
  tied <- which(n %in% n[duplicated(n)])
  weight <- seq_len(dim(counts)[[1L]])^2
  own <- others <- numeric(length(n))
  for (u in tied) {
    own[[u]] <- sum(counts[, u, u] * weight)
    others[[u]] <- sum(rowSums(counts[, u, , drop = FALSE]) * weight)
  }
  order(n, own, others)
}

# ---- Stages --------------------------------------------------------------------------

# Standard deviations of the hollow baseline that are tried, in ms, and how much wider than
# the null the bulk of all pairs may be for one to be taken before the last.
hollow_widths <- c(20, 15, 10)
most_inflation <- 1.15

scan_options <- function(plan, hollow, folded = 3, mask = 4, rest = plan$rest) {
  c(plan[c("lags", "reach", "width", "guard", "pad")],
    list(rest = rest, hollow = hollow * plan$ms, folded = folded * plan$ms, mask = mask))
}

#' z without connections, at one width of the hollow baseline
#' @noRd
null_of <- function(work, options, plan, spread = 1) {
  z <- work$null(c(options, list(shift = as.integer(plan$shift), smooth = options$hollow)))
  # Those of a pair are side by side.
  each <- 2L * length(plan$shift)
  z <- lapply(z, `/`, sqrt(if (length(spread) > 1L) rep(spread[work$few], each = each) else 1))
  poisson <- poisson_quantiles(plan$max_lag)
  n <- length(z$up)
  if (n == 0L) return(c(poisson, few = 1.15))
  list(up = null_quantiles(z$up, poisson$up), down = null_quantiles(-z$down, poisson$down),
       few = 1 + 0.15 * (1 - enough_nulls(n)))
}

#' All pairs beside the widest hollow baseline that leaves no structure in their bulk
#' @noRd
first_stage <- function(work, plan) {
  for (hollow in hollow_widths) {
    options <- scan_options(plan, hollow)
    found <- work$scan(options)
    found$spread <- excess_spread(found$spread,
                                  2 * (plan$lags + 1 - plan$rest) %/% plan$width)
    null <- null_of(work, options, plan, found$spread)
    judged <- judge_pairs(found, null, found$spread)
    if (max(judged$bulk$up$scale, judged$bulk$down$scale) <= most_inflation) break
  }
  list(hollow = hollow, options = options, found = found, null = null, judged = judged)
}
