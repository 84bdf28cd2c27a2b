# Parts of measure.R: what spade() finds of planted patterns, and where there are none.

# How many of the planted spikes each pattern has: the largest number of its units whose lags
# share one shift against the planted ones.
spikes_in_common <- function(patterns, units, lags) {
  table <- as.data.frame(patterns)
  at <- match(unlist(table$units), units)
  planted <- !is.na(at)
  row <- rep(seq_len(nrow(table)), lengths(table$units))[planted]
  shift <- unlist(table$lags)[planted] - lags[at[planted]]
  common <- integer(nrow(table))
  if (length(row) == 0L) return(common)
  shared <- table(paste(row, shift))
  of_row <- as.integer(sub(" .*", "", names(shared)))
  most <- tapply(as.integer(shared), of_row, max)
  common[as.integer(names(most))] <- most
  common
}

# Whether the planted pattern is among these as it is, and how many others there are.
found_of <- function(patterns, units, lags) {
  common <- spikes_in_common(patterns, units, lags)
  whole <- common == length(lags) & lengths(as.data.frame(patterns)$units) == length(lags)
  c(found = any(whole), others = sum(!whole), unrelated = sum(common < 2))
}

# ---- Synchrony (Torre et al. 2013) -----------------------------------------------------

part_synchrony <- function() {
  cases <- expand.grid(size = 2:10, count = 2:12)
  rows <- each_recording(cases, 25, \(case, set) {
    x <- simulate_patterns(duration = 3, units = 100, rate = 20, patterns = list(list(
      units = seq_len(case$size), lags = rep(0, case$size), count = case$count
    )))
    found <- spade(x, bin_size = 0.003, window_bins = 1, min_spikes = 2, n_surrogates = 199,
                   reduction = "none", threads = 1)
    units <- levels(x$unit)[seq_len(case$size)]
    reduced <- reduce_patterns(significant_patterns(found$mined, found$tests), found$tests)
    before <- found_of(found$patterns, units, rep(0, case$size))
    after <- found_of(reduced, units, rep(0, case$size))
    data.frame(found = before[["found"]], others = before[["others"]],
               unrelated = before[["unrelated"]], found_reduced = after[["found"]],
               others_reduced = after[["others"]], any_others = before[["others"]] > 0,
               any_others_reduced = after[["others"]] > 0)
  })
  write_table(mean_by_case(rows, c("size", "count")), "synchrony")
}

# ---- Durations (Stella et al. 2019) ----------------------------------------------------

part_durations <- function() {
  cases <- expand.grid(duration = c(0, 1, 2, 4, 8, 14, 19), count = c(4, 5, 6, 8),
                       spectrum = c("#", "3d#"), stringsAsFactors = FALSE)
  rows <- each_recording(cases, 16, \(case, set) {
    lags <- sort(c(0, case$duration %/% 2, case$duration))
    x <- simulate_patterns(duration = 10, units = 20, rate = 8, patterns = list(list(
      units = 1:3, lags = lags * 0.005, count = case$count
    )))
    found <- spade(x, bin_size = 0.005, window_bins = 20, min_count = 4, n_surrogates = 999,
                   spectrum = case$spectrum, reduction = "covered_spikes", threads = 1)
    result <- found_of(found$patterns, levels(x$unit)[1:3], lags)
    data.frame(found = result[["found"]], unrelated = result[["unrelated"]] > 0,
               tests = attr(found$tests, "tests"))
  })
  write_table(mean_by_case(rows, c("duration", "count", "spectrum")), "durations")
}

# ---- Stability against significance (Quaglio et al. 2017) ------------------------------

part_stability <- function() {
  cases <- expand.grid(size = c(3, 4, 5, 6, 8), count = c(3, 4, 5, 6, 8, 10))
  rows <- each_recording(cases, 25, \(case, set) {
    lags <- sort(c(0, 1, 3, 4, 6, 7, 7, 5)[seq_len(case$size)])
    x <- simulate_patterns(duration = 10, units = 30, rate = 12, patterns = list(list(
      units = seq_len(case$size), lags = lags * 0.005, count = case$count
    )))
    units <- levels(x$unit)[seq_len(case$size)]
    found <- spade(x, bin_size = 0.005, window_bins = 8, min_count = 3, n_surrogates = 199,
                   reduction = "none", threads = 1)
    significant <- significant_patterns(found$mined, found$tests)
    reduced <- reduce_patterns(significant, found$tests)
    stable <- pattern_stability(found$mined, threads = 1)
    common <- spikes_in_common(found$mined, units, lags)
    whole <- common == case$size & as.data.frame(found$mined)$size == case$size
    # Found by stability if a threshold exists that only patterns with a part of it pass.
    above <- \(value) {
      if (!any(whole)) return(FALSE)
      max(value[whole]) > max(value[common < 2], -Inf)
    }
    by_tests <- found_of(significant, units, lags)
    by_reduction <- found_of(reduced, units, lags)
    data.frame(mined = any(whole), significant = by_tests[["found"]],
               reduced = by_reduction[["found"]], intensional = above(stable$intensional),
               extensional = above(stable$extensional), others = by_tests[["others"]],
               others_reduced = by_reduction[["others"]],
               unrelated = by_tests[["unrelated"]] > 0)
  })
  write_table(mean_by_case(rows, c("size", "count")), "stability")
}

# ---- False positives by surrogate (Stella et al. 2022) ---------------------------------

all_methods <- c("dither", "dither_refractory", "isi_dither", "joint_isi", "trial_shift",
                 "train_shift", "window_shuffle", "sliding_shuffle", "jitter", "isi_shuffle",
                 "bin_shuffle", "randomise")

# What spade() is told of a method besides its name: these have no use for a dither.
with_dither <- function(surrogate, dither) {
  if (surrogate %in% c("isi_shuffle", "bin_shuffle", "randomise")) return(list())
  list(dither = dither)
}

# Trials of half a second in which each unit's rate rises for 0.15 s at a time of its own.
# Mean rates go from 8 to 70 Hz. The processes are those of the paper's artificial data.
rising_units <- function(process, units = 20, trials = 35) {
  rates <- rising_rates(units)
  profiles <- lapply(rates, \(rate) {
    step_profile(rate / 1.2, 5 / 3 * rate / 1.2, 0.15, trials, 0.5, stats::runif(1, 0.05, 0.3))
  })
  if (process == "gamma") {
    independent_units("gamma", profiles, trials, 0.5, shape = 1 / 0.75^2)
  } else {
    independent_units("refractory", profiles, trials, 0.5, dead = 0.0016)
  }
}

rising_rates <- function(units = 20) exp(seq(log(8), log(70), length.out = units))

part_false <- function() {
  cases <- expand.grid(surrogate = setdiff(all_methods, "train_shift"),
                       process = c("refractory", "gamma"), stringsAsFactors = FALSE)
  rows <- each_recording(cases, 6, \(case, set) {
    set.seed(5000 + set)  # the same recordings for all surrogates
    x <- rising_units(case$process)
    found <- do.call(spade, c(
      list(x, bin_size = 0.005, window_bins = 6, min_count = 10, n_surrogates = 499,
           surrogate = case$surrogate, threads = 1), with_dither(case$surrogate, 0.025)
    ))
    units <- levels(x$unit)
    inside <- as.data.frame(found)$units
    data.frame(unit = units, rate = rising_rates(), patterns = length(found),
               significant = found$significant, any = length(found) > 0,
               with_unit = vapply(units, \(unit) sum(vapply(inside, \(u) unit %in% u, NA)), 0L))
  })
  case <- c("surrogate", "process")
  one <- rows[rows$unit == rows$unit[[1L]], ]
  write_table(mean_by_case(one[c(case, "patterns", "significant", "any")], case), "false")
  write_table(mean_by_case(rows[c(case, "unit", "rate", "with_unit")], c(case, "unit", "rate")),
              "false_units")
}

# ---- Motor cortex ----------------------------------------------------------------------

# 150 units of the motor cortex of a monkey that reaches and grasps (Brochier et al. 2018),
# in bins of 5 ms (Porrmann et al. 2021).
motor_cortex <- function() {
  raster <- utils::read.table(recording_file("spade/movement_PGHF_raster.txt.gz"),
                              col.names = c("unit", "bin"))
  spike_trains((5 * raster$bin + 2) / 1000, raster$unit, start = 0, end = 4464 * 0.005,
               resolution = 1e-3)
}

recording_file <- function(name) {
  file <- file.path(Sys.getenv("SYNFIRE_DATA"), name)
  if (!file.exists(file)) stop("SYNFIRE_DATA names no folder with ", name)
  file
}

part_cortex <- function() {
  x <- motor_cortex()[time = c(0, 5)]
  cases <- expand.grid(surrogate = setdiff(all_methods, "trial_shift"),
                       spectrum = c("#", "3d#"), stringsAsFactors = FALSE)
  rows <- each_recording(cases, 1, \(case, set) {
    set.seed(1)
    found <- do.call(spade, c(
      list(x, bin_size = 0.005, window_bins = 20, min_count = 15, n_surrogates = 1000,
           surrogate = case$surrogate, spectrum = case$spectrum, threads = 1),
      with_dither(case$surrogate, 0.03)
    ))
    data.frame(mined = length(found$mined), tests = attr(found$tests, "tests"),
               significant = found$significant, reported = length(found))
  })
  write_table(rows, "cortex")
}

# ---- How long it takes (Quaglio et al. 2017) -------------------------------------------

part_load <- function() {
  cases <- expand.grid(units = c(20, 40, 80, 120), rate = c(5, 10))
  rows <- each_recording(cases, 3, \(case, set) {
    x <- simulate_patterns(duration = 10, units = case$units, rate = case$rate,
                           patterns = list(list(units = 1:4, lags = c(0, 1, 3, 4) * 0.005,
                                                count = 10)))
    seconds <- \(code) system.time(code)[["elapsed"]]
    mining <- seconds(found <- mine_patterns(x, 0.005, 8, min_count = 3, threads = 1))
    stability <- seconds(pattern_stability(found, threads = 1))
    surrogates <- seconds(pvalue_spectrum(x, 0.005, 8, min_count = 3, n_surrogates = 100,
                                          threads = 1))
    data.frame(patterns = length(found), mining, stability, surrogates)
  }, side_by_side = 1L)
  write_table(mean_by_case(rows, c("units", "rate")), "load")
}
