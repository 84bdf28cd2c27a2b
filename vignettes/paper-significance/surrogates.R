# Parts of measure.R: what surrogates keep of a unit, and which spikes they lose to bins.

# A surrogate by `method` as the paper makes them: bins of 5 ms, a dither of 25 ms.
surrogate_of <- function(x, method, dither = 0.025, bin_size = 0.005) {
  how <- with_dither(method, dither)
  if (grepl("shuffle", method) && method != "isi_shuffle") how$bin_size <- bin_size
  if (method == "jitter") how <- list(window = 2 * dither)
  do.call(surrogate_trains, c(list(x, 1, method, threads = 1), how))[[1L]]
}

# Bins that hold a spike, a number each: the unit's code and the bin's.
bins_of <- function(x, bin_size = 0.005) {
  bin <- floor((x$time - attr(x, "start")) / bin_size + 1e-6)
  unique(as.integer(x$unit) * 1e8 + bin)
}

# Share of spikes that meet another of their unit in a bin, for each unit.
clipped_of <- function(x, bin_size = 0.005) {
  spikes <- tabulate(as.integer(x$unit), nlevels(x$unit))
  1 - tabulate(bins_of(x, bin_size) %/% 1e8, nlevels(x$unit)) / spikes
}

# The same table with a column for each surrogate, for what they have in `value`.
a_column_each <- function(table, value) {
  rows <- split(table, factor(table$surrogate, unique(table$surrogate)))
  columns <- lapply(rows, `[[`, value)
  cbind(rows[[1L]][setdiff(names(table), c("surrogate", value))], columns)
}

# Twenty units that fire at `rate` in 200 trials of half a second.
steady_units <- function(process, rate, units = 20, trials = 200, ...) {
  profile <- list(time = c(0, trials * 0.5), rate = rate)
  independent_units(process, rep(list(profile), units), trials, 0.5, ...)
}

processes <- list(
  poisson = \(rate, ...) steady_units("poisson", rate, ...),
  refractory = \(rate, dead = 0.0016, ...) steady_units("refractory", rate, dead = dead, ...),
  gamma = \(rate, cv = 0.75, ...) steady_units("gamma", rate, shape = 1 / cv^2, ...)
)

# ---- What surrogates keep --------------------------------------------------------------

# Density of intervals within trials, in bins of 1 ms up to 40 ms.
intervals_of <- function(x) {
  trials <- attr(x, "trials")
  trial <- findInterval(x$time, trials$start)
  intervals <- unlist(lapply(split(x$time, list(x$unit, trial), drop = TRUE), diff))
  at <- seq(0, 0.04, 0.001)
  counts <- tabulate(findInterval(intervals[intervals < 0.04], at), length(at) - 1L)
  data.frame(at = at[-1L] - 0.0005, value = counts / length(intervals) / 0.001)
}

# Correlograms of the surrogate of each unit with itself and with the unit, in Hz.
correlograms_of <- function(x, made) {
  units <- levels(x$unit)
  sums <- Reduce(`+`, lapply(units, \(unit) {
    a <- x$time[x$unit == unit]
    b <- made$time[made$unit == unit]
    pair <- spike_trains(c(a, b), rep(c("a", "b"), c(length(a), length(b))),
                         start = attr(x, "start"), end = attr(x, "end"),
                         trials = attr(x, "trials"))
    counts <- cross_correlogram(pair, bin_size = 0.001, max_lag = 0.05, threads = 1)
    cbind(auto = counts[, "b", "b"], cross = counts[, "a", "b"])
  }))
  lag <- seq(-0.05, 0.05, 0.001)
  # Pairs per reference spike and second of lag, where both can be in the trial.
  sums / nrow(x) / 0.001 / (1 - abs(lag) / 0.5)
}

rate_of <- function(x, trial = 0.4) {
  at <- seq(0, trial, 0.005)
  counts <- tabulate(findInterval(x$time %% trial, at), length(at) - 1L)
  data.frame(at = at[-1L] - 0.0025,
             value = counts / 0.005 / nrow(attr(x, "trials")) / nlevels(x$unit))
}

part_keeps <- function() {
  cases <- expand.grid(surrogate = c("original", all_methods), process = names(processes),
                       stringsAsFactors = FALSE)
  surrogate <- \(x, case) if (case$surrogate == "original") x else surrogate_of(x, case$surrogate)
  intervals <- each_recording(cases, 1, \(case, set) {
    set.seed(11)
    x <- processes[[case$process]](60)
    made <- surrogate(x, case)
    pairs <- correlograms_of(x, made)
    lag <- seq(-0.05, 0.05, 0.001)
    rbind(cbind(what = "interval", intervals_of(made)),
          data.frame(what = "auto", at = lag, value = pairs[, "auto"])[lag > 0, ],
          data.frame(what = "cross", at = lag, value = pairs[, "cross"]))
  })
  write_table(a_column_each(intervals, "value"), "keeps")

  one <- cases[cases$process == "gamma", ]
  rates <- each_recording(one, 1, \(case, set) {
    set.seed(12)
    profile <- step_profile(10, 80, 0.1, 1000, 0.4, 0.17)
    x <- independent_units("gamma", rep(list(profile), 20), 1000, 0.4, shape = 1 / 0.75^2)
    rate_of(surrogate(x, case))
  })
  write_table(a_column_each(rates, "value"), "keeps_rate")

  cvs <- merge(one, data.frame(cv = seq(0.4, 1.2, 0.1)))
  regularity <- each_recording(cvs, 1, \(case, set) {
    set.seed(13 + round(100 * case$cv))
    x <- processes$gamma(60, cv = case$cv)
    statistics <- isi_statistics(surrogate(x, case))
    data.frame(made_cv = mean(statistics$cv), made_cv2 = mean(statistics$cv2))
  })
  write_table(regularity, "keeps_cv")
}

# ---- Spikes that are lost to bins ------------------------------------------------------

part_clipping <- function() {
  kinds <- data.frame(process = c("poisson", "refractory", "gamma", "gamma"),
                      value = c(0, 0.004, 0.75, 0.5))
  cases <- merge(merge(kinds, data.frame(rate = c(10, 20, 40, 60, 80, 100))),
                 data.frame(surrogate = c("original", all_methods)))
  rows <- each_recording(cases, 1, \(case, set) {
    set.seed(round(case$rate + 1000 * case$value))
    x <- switch(case$process,
      poisson = processes$poisson(case$rate, trials = 100),
      refractory = processes$refractory(case$rate, dead = case$value, trials = 100),
      gamma = processes$gamma(case$rate, cv = case$value, trials = 100)
    )
    if (case$surrogate == "original") return(data.frame(clipped = mean(clipped_of(x)), moved = 0))
    made <- surrogate_of(x, case$surrogate)
    data.frame(clipped = mean(clipped_of(made)), moved = mean(!bins_of(x) %in% bins_of(made)))
  })
  write_table(rows, "clipping")
}

# The recordings that come with single spike times, not with bins.
real_recordings <- function() {
  cockroach <- new.env()
  load(recording_file("recordings/cockroach-terpi.rda"), cockroach)
  read <- \(name, ...) read_spikes(recording_file(name), ...)
  list(
    culture = read("episodes/tc89.csv.gz", time_unit = "ms"),
    well = read("episodes/axion_B3.csv.gz", time_unit = "ms"),
    mouse = read("recordings/mouse-A8604.nwb"),
    retina = read("recordings/retina-1152.h5"),
    cockroach = as_spike_trains(cockroach$e060817terpi)
  )
}

part_recordings <- function() {
  all <- real_recordings()
  cases <- expand.grid(surrogate = c("original", setdiff(all_methods, "trial_shift")),
                       recording = names(all), stringsAsFactors = FALSE)
  rows <- each_recording(cases, 1, \(case, set) {
    set.seed(14)
    x <- all[[case$recording]]
    made <- if (case$surrogate == "original") x else surrogate_of(x, case$surrogate)
    spikes <- tabulate(as.integer(x$unit), nlevels(x$unit))
    trials <- attr(x, "trials")
    length <- if (is.null(trials)) attr(x, "end") - attr(x, "start") else
      sum(trials$end - trials$start)
    table <- data.frame(unit = levels(x$unit), rate = spikes / length, value = clipped_of(made))
    # The sixty most active units; one of few spikes says little.
    table[order(-spikes)[seq_len(min(60L, nlevels(x$unit)))], ]
  })
  write_table(a_column_each(rows, "value"), "recordings")
}
