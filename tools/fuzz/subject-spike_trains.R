# Recordings: made in several ways, cut, changed by hand, and simulated.

# What is counted in a recording, for comparing two that must be the same.
counts_in <- function(x, tick) {
  list(
    episodes = attempt("mine_episodes", list(x, min_count = 1, intervals = c(0, 5 * tick),
                                             max_size = 2)),
    patterns = attempt("mine_patterns", list(x, bin_size = 4 * tick, window_bins = 3,
                                             min_spikes = 2, max_spikes = 3, min_count = 2)),
    occurrences = attempt("count_episodes", list(x, synfire::episode(
      levels(factor(x$unit))[c(1, 1)], 0, 10 * tick)))
  )
}

# As code changes a data frame that knows nothing of the class: columns and attributes
# are set, and everything else stays.
set_raw <- function(x, columns = list(), about = list()) {
  held <- attributes(x)
  held[names(about)] <- about
  parts <- unclass(x)
  attributes(parts) <- list(names = names(parts))
  parts[names(columns)] <- columns
  held$names <- names(parts)
  held$row.names <- seq_along(parts[[1L]])
  attributes(parts) <- held[lengths(held) > 0L]
  parts
}

# One of the ways, with the columns and bounds that it leaves.
tamper <- function(x) {
  n <- nrow(x)
  time <- x$time
  unit <- x$unit
  some <- if (n) 1 + floor(runif(3) * n) else integer()
  tick <- tick_of(x)
  switch(
    one_of("nothing", "order", "twice", "move", "missing", "far", "between", "level", "text",
           "codes", "levels", "fewer", "bounds", "clock", "trials", "units", "column", "integer", "class"),
    nothing = x,
    order = { o <- order(runif(n)); set_raw(x, list(time = time[o], unit = unit[o])) },
    twice = { o <- sort(c(seq_len(n), some)); set_raw(x, list(time = time[o], unit = unit[o])) },
    move = set_raw(x, list(time = time + one_of(-1, 1, 1e3) * tick)),
    missing = set_raw(x, list(time = replace(time, some, one_of(NA, NaN, Inf, -Inf)))),
    far = set_raw(x, list(time = replace(time, n, one_of(1e17, 1e300, 2^53 * tick)))),
    between = set_raw(x, list(time = replace(time, some, time[some] + tick / 3))),
    level = set_raw(x, list(unit = factor(unit, rev(levels(unit))))),
    text = set_raw(x, list(unit = as.character(unit))),
    codes = set_raw(x, list(unit = structure(replace(as.integer(unit), some, one_of(0L, -5L, 1000L, NA)),
                                             levels = levels(unit), class = "factor"))),
    levels = set_raw(x, list(unit = structure(as.integer(unit), class = "factor"))),
    fewer = set_raw(x, list(unit = unit[-1L])),
    bounds = set_raw(x, about = list(start = one_of(5 * tick, NA, Inf, "0", -1e300),
                                     end = one_of(-5 * tick, NULL, 7.3 * tick))),
    clock = set_raw(x, about = list(resolution = one_of(tick * 2, 0, -1, NA, 1e-300, 1L))),
    trials = set_raw(x, about = list(trials = one_of(list(
      1, data.frame(), data.frame(start = 0, end = 1), data.frame(trial = 1, start = NA, end = 2),
      data.frame(trial = 1:2, start = c(5, 0) * tick, end = c(9, 7) * tick)
    )))),
    units = set_raw(x, about = list(unit_table = one_of(list(
      1, data.frame(), data.frame(unit = "x"), data.frame(unit = rev(levels(unit)))
    )))),
    column = set_raw(x, list(rate = seq_len(n))),
    integer = set_raw(x, list(time = as.integer(pmin(time, 2e9)))),
    class = structure(one_of(list(list(), 1, "a", function(x) x, NULL, as.data.frame(x))),
                      class = class(x))
  )
}

check_tampered <- function(x) {
  y <- tamper(x)
  counted <- attempt("as_spike_trains", list(y))
  for (call in list(
    list("mine_episodes", list(y, 1, c(0, 5 * tick_of(x)))),
    list("mine_patterns", list(y, 4 * tick_of(x), 3, min_count = 2, max_spikes = 3)),
    list("surrogate_trains", list(y, 1, "train_shift", dither = tick_of(x)))
  )) {
    value <- attempt(call[[1]], call[[2]])
    if (!refused(value) && refused(counted)) {
      finding(sprintf("%s() takes a recording that as_spike_trains() refuses", call[[1]]))
    }
  }
  if (refused(counted)) return()
  about <- function(name) attr(y, name, exact = TRUE)
  honest <- attempt("spike_trains", list(
    .subset2(y, "time"), .subset2(y, "unit"), start = about("start"), end = about("end"),
    resolution = about("resolution"), trials = about("trials"), unit_table = about("unit_table")
  ))
  same(counted, honest, "a changed recording and an honest one")
}

# A recording in every way there is.
check_made <- function(args) {
  x <- attempt("spike_trains", args)
  if (refused(x)) return(x)
  more <- args[setdiff(names(args), c("time", "unit"))]
  o <- order(runif(length(args$time)))
  table <- data.frame(neuron = args$unit[o], t = args$time[o])
  same(attempt("as_spike_trains", c(list(table), more)), x, "a table in another order")
  same(attempt("as_spike_trains", c(list(split(args$time, args$unit)), more)), x, "a list")
  same(attempt("as_spike_trains", list(as.data.frame(x), like = x)), x, "like the same")
  units <- attempt("unit_table", list(x))
  same(attempt("unit_table<-", list(x, value = units)), x, "with its own table of units")
  if (!is.null(units) && nrow(units) > 0) {
    shuffled <- units[order(runif(nrow(units))), ]
    same(attempt("unit_table<-", list(x, value = shuffled)), x, "and that in another order")
  }
  own <- attempt("trial_table", list(x))
  if (!is.null(own)) {
    same(round(own[c("start", "end")] / tick_of(x)), round(on_time(args$trials) / tick_of(x)),
         "the bounds of trials")
  }
  twice <- lapply(args[c("time", "unit")], rep, 2)
  same(attempt("spike_trains", c(twice, more)), x, "each spike twice")
  x
}

# Bounds of trials in their order.
on_time <- function(trials) {
  trials <- trials[order(trials$start, trials$end), c("start", "end")]
  row.names(trials) <- NULL
  trials
}

# The same spikes with the trial of each, on the recording's clock and on that of trials.
check_trial_labels <- function(x) {
  trials <- attempt("trial_table", list(x))
  if (is.null(trials) || nrow(x) == 0) return()
  own <- list(unit = x$unit, start = attr(x, "start"), end = attr(x, "end"),
              resolution = tick_of(x), trials = trials, unit_table = unit_table(x))
  row <- findInterval(x$time, trials$start)
  row[row == 0 | x$time > trials$end[pmax(row, 1)]] <- NA
  label <- trials$trial[row]
  same(attempt("spike_trains", c(list(x$time, trial = label, trial_clock = "recording"), own)),
       x, "spikes that name their trial")
  inside <- !is.na(row)
  kept <- attempt("spike_trains", c(list(x$time[inside]), replace(own, "unit", list(x$unit[inside]))))
  own$unit <- own$unit[inside]
  ticks <- round((x$time - trials$start[row]) / tick_of(x))[inside]
  clock <- one_of("trial", "recording", NULL)
  y <- attempt("spike_trains", c(list(ticks * tick_of(x), trial = label[inside],
                                      trial_clock = clock), own))
  # On the recording's clock the same times may lie in their trials as well, elsewhere.
  if (!refused(y) && all(trials$start != 0) && !identical(clock, "recording")) {
    same(y, kept, "times from the start of trials")
  }
  check_laid_out(ticks * tick_of(x), x$unit[inside], label[inside], trials, tick_of(x))
}

# Trials one after the other, and each with its own spikes.
check_laid_out <- function(time, unit, label, trials, tick) {
  longest <- max(round((trials$end - trials$start) / tick)) * tick
  y <- attempt("spike_trains", c(
    list(time, unit, resolution = tick, trial = label, trial_clock = "trial",
         trials = trials[setdiff(names(trials), c("start", "end"))]),
    some_args(trial_window = one_of(list(c(0, longest), c(-5 * tick, longest), c(0, 0), "x")))
  ))
  if (refused(y)) return()
  at <- trial_table(y)
  row <- findInterval(y$time, at$start)
  back <- round((y$time - at$start[row] + min(0, at$start[[1]])) / tick)
  shown <- order(back, row, as.integer(y$unit))
  given <- unique(data.frame(back = round(time / tick), row = match(label, at$trial),
                             unit = as.integer(unit)))
  given <- given[order(given$back, given$row, given$unit), ]
  same(list(back[shown], row[shown], as.integer(y$unit)[shown]),
       unname(as.list(given)), "trials laid one after the other")
}

# Milliseconds and samples instead of seconds.
check_units_of_time <- function(args) {
  x <- attempt("spike_trains", args)
  rate <- 1 / args$resolution
  if (refused(x) || abs(rate - round(rate)) > 1e-6) return()
  args$time <- round(args$time * rate)
  how <- list(time_unit = "samples", sampling_rate = round(rate))
  if (round(rate) == 1e3 && sometimes()) how <- list(time_unit = "ms")
  if (round(rate) == 1e6 && sometimes()) how <- list(time_unit = "us")
  same(attempt("spike_trains", c(args, how)), x, "times in another unit")
  attempt("spike_trains", c(args, some_args(time_unit = mostly("ms"), sampling_rate = odd_value())))
}

check_chosen <- function(x) {
  trials <- trial_table(x)
  if (is.null(trials)) return()
  rows <- which(runif(nrow(trials)) < 0.5)
  y <- attempt("[", list(x, trial = trials$trial[rows]))
  if (refused(y)) return()
  row <- findInterval(x$time, trials$start)
  inside <- row > 0 & x$time <= trials$end[pmax(row, 1)] & row %in% rows
  same(y$time, x$time[inside], "spikes of some trials")
  same(attempt("as_spike_trains", list(as.data.frame(y))), y, "some trials, and back")
}

check_cut <- function(x) {
  part <- sort(range(one_of(c(x$time, 0)), one_of(c(x$time, 1))))
  y <- attempt("[", list(x, time = part))
  if (!refused(y)) {
    inside <- x$time >= part[[1]] & x$time <= part[[2]]
    same(data.frame(time = y$time, unit = y$unit),
         data.frame(time = x$time[inside], unit = x$unit[inside]), "a part by time")
    attempt("summary", list(y))
  }
  units <- unique(vapply(1:2, function(k) one_of(levels(x$unit)), character(1)))
  y <- attempt("[", list(x, unit = units))
  if (!refused(y)) {
    keep <- x$unit %in% units
    same(y$time, x$time[keep], "times of some units")
    same(attempt("as_spike_trains", list(y)), y, "some units, checked")
  }
  rows <- which(runif(nrow(x)) < 0.5)
  same(x[rev(rows), ], x[rows, ], "rows in another order")
}

# Arguments of simulate_assemblies() but those that all simulators have. Mostly few
# activations of few members: the recordings are short.
draw_assemblies <- function(odd) {
  nuisances <- c("common_rate", "bursts", "oscillation", "drift", "dead_time", "lost", "swapped")
  kinds <- c("synchrony", "sequence", "jittered_sequence", "rate_synchrony", "rate_sequence")
  full <- c(list(kind = one_of(kinds)), some_args(
    units = one_of(list(1:3, c("u02", "u05"))), width = odd(one_of(0, 0.01)), count = odd(2),
    participation = odd(one_of(0, 1)), spikes = odd(one_of(1, 4)), p = 0.3
  ))
  c(
    list(
      units = odd(whole(6, 30)), count = odd(whole(1, 3)), size = odd(whole(2, 3)),
      assemblies = one_of(list(character(), kinds[whole(1, 5)], kinds[1:2],
                               list(full, "synchrony")))
    ),
    some_args(
      participation = odd(runif(1)), overlap = odd(whole(0, 1)), rate = odd(one_of(0, 5, 40)),
      rate_spread = odd(one_of(0, 0.8, 3)), intervals = one_of("poisson", "gamma", "lognormal"),
      nuisances = one_of(list(NULL, "all", nuisances[whole(1, 7)], c(drift = 3),
                              c(lost = 1, swapped = 1), c(dead_time = 0.05), c(drift = 99))),
      p = 0.5
    )
  )
}

# Of simulate_network(), small networks: it tunes each for 200 s.
draw_network <- function(odd) {
  units <- whole(1, 12)
  chain <- matrix(0, 3, 3)
  chain[1, 2] <- 0.4
  chain[2, 3] <- one_of(-1, 0.1)
  c(list(units = odd(units)), some_args(
    observed = odd(whole(1, units)), inhibitory = odd(runif(1)), connectivity = odd(runif(1)),
    strength = odd(one_of(0.1, 1)), strength_spread = odd(one_of(0, 1)),
    delay = odd(one_of(0.001, 0.1)), wiring = one_of(list(NULL, chain)),
    rate = odd(one_of(1, 20)), rate_spread = odd(one_of(0, 1)),
    common_input = odd(one_of(0, 0.3)), fluctuation = one_of(list(NULL, 0.01, c(0.1, 5))),
    oscillation = one_of(list(NULL, 8, c(0.5, 100))), burst_rate = odd(one_of(0, 1)),
    burst_strength = odd(one_of(0, 1)), adaptation = odd(one_of(0, 0.3)),
    noise = odd(one_of(0.1, 1)), membrane_time = odd(0.02), synaptic_time = odd(0.02),
    refractory = odd(one_of(0, 0.01)), p = 0.3
  ))
}

check_simulated <- function() {
  seed <- whole(1, 1e6)
  name <- one_of("simulate_sym26", "simulate_patterns", "simulate_culture",
                 "simulate_assemblies", "simulate_network")
  resolution <- one_of(1e-3, 1e-4, 4e-5, 1e-6)
  odd <- function(value) if (sometimes(0.04)) one_of(0, 1e9, 1e300, -1, NA) else value
  shared <- list(duration = odd(whole(1, 5)), resolution = odd(resolution))
  chained <- some_args(delays = one_of(list(c(0.001, 0.01), cbind(c(0, 0.002), c(0.002, 0.004)))),
                       probability = one_of(0, 0.5, 1), p = 0.4)
  own <- switch(
    name,
    simulate_sym26 = c(chained, some_args(
      rate = odd(one_of(0, 5, 20)), chains = one_of(list(list(), list(c("A", "B")), LETTERS)),
      activation_rate = odd(one_of(0, 3)), spontaneous = sometimes(), modulation = odd(runif(1)),
      period = odd(one_of(10, 0.5)), p = 0.4
    )),
    simulate_patterns = some_args(
      units = odd(whole(1, 30)), rate = odd(one_of(0, 5)), jitter = odd(one_of(0, 0.001, 1)),
      gap = odd(one_of(0, 0.001, 0.1)), patterns = one_of(list(list(), list(list(
        units = 1:2, lags = c(0, 0.004), count = 3
      )))), p = 0.4
    ),
    simulate_culture = c(chained, some_args(
      channels = odd(whole(1, 20)), background_rate = odd(one_of(0, 1)),
      background_spread = odd(one_of(0, 1)), burst_rate = odd(one_of(0, 0.5)),
      burst_duration = odd(one_of(list(c(0.1, 0.2), c(0, 0), c(2, 30)))),
      burst_spike_rate = odd(one_of(0, 20)), burst_spread = odd(one_of(0, 1)),
      recruitment = odd(one_of(list(c(0, 1), c(1, 1)))), latency = odd(one_of(0, 0.1)),
      latency_jitter = odd(one_of(0, 0.01)), chains = one_of(list(NULL, list())),
      activation_rate = odd(one_of(0, 3)), p = 0.4
    )),
    simulate_assemblies = draw_assemblies(odd), simulate_network = draw_network(odd)
  )
  args <- c(shared, own)
  state <- get(".Random.seed", globalenv())
  on.exit(assign(".Random.seed", state, globalenv()))
  set.seed(seed)
  x <- attempt(name, args)
  set.seed(seed)
  same(attempt(name, args), x, "the same seed")
  if (refused(x)) return()
  same(attempt("as_spike_trains", list(x)), x, "a simulated recording, checked")
  truth <- attr(x, "truth")$spikes
  if (name == "simulate_network") {
    synapses <- attr(x, "truth")$synapses
    if (!all(c(levels(synapses$from), levels(synapses$to)) %in% levels(x$unit))) {
      finding("simulate_network(): a synapse of a unit that is not there")
    }
    return()
  }
  # Spikes that dead time and spike sorting took away are marked.
  if (!is.null(truth$recorded)) truth <- truth[truth$recorded, ]
  missing <- !paste(truth$time, truth$unit) %in% paste(x$time, x$unit)
  if (any(missing)) finding(sprintf("%s(): %d planted spikes are not there", name, sum(missing)))
}

fuzz_subject("spike_trains",
  covers = list(
    spike_trains = c("time", "unit", "start", "end", "resolution", "trials",
                     "unit_table", "trial", "trial_clock", "trial_window", "time_unit",
                     "sampling_rate"),
    unit_table = "x", "unit_table<-" = c("x", "value"), trial_table = "x",
    as_spike_trains = "x", "[.spike_trains" = "trial",
    as.data.frame.spike_trains = "stringsAsFactors",
    simulate_sym26 = c("duration", "rate", "chains", "delays", "probability",
                       "activation_rate", "spontaneous", "modulation", "period", "resolution"),
    simulate_patterns = c("duration", "units", "rate", "patterns", "jitter", "gap",
                          "resolution"),
    simulate_culture = c("duration", "channels", "background_rate", "background_spread",
                         "burst_rate", "burst_duration", "burst_spike_rate", "burst_spread",
                         "recruitment", "latency", "latency_jitter", "chains", "delays",
                         "probability", "activation_rate", "resolution"),
    simulate_assemblies = c("duration", "units", "assemblies", "size", "count",
                            "participation", "overlap", "rate", "rate_spread", "intervals",
                            "nuisances", "resolution"),
    simulate_network = c("duration", "units", "observed", "inhibitory", "connectivity",
                         "strength", "strength_spread", "delay", "wiring", "rate",
                         "rate_spread", "common_input", "fluctuation", "oscillation",
                         "burst_rate", "burst_strength", "adaptation", "noise",
                         "membrane_time", "synaptic_time", "refractory", "resolution")
  ),
  run = function(world) {
    if (sometimes(0.2)) return(check_simulated())
    args <- draw_spikes(one_of(30, 100))
    x <- check_made(args)
    if (refused(x)) return()
    plain <- attempt("as.data.frame", list(x, stringsAsFactors = sometimes()))
    same(attempt("as_spike_trains", list(plain)), x, "there and back")
    check_units_of_time(args)
    check_trial_labels(x)
    check_chosen(x)
    check_cut(x)
    check_tampered(x)
  }
)
