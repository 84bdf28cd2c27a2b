# The recordings that are asked, one row each: what it is called, which files of the shared
# data it needs (none: it is simulated), how it is loaded, what was cut away, and which
# analyses fit, with their arguments.
#
# Spikes are a list: `time` (s), `unit`, `start`, `end`, `trials` (data frame `start`, `end`,
# or NULL), `grid` (seconds that all times are multiples of), `clock` ("s" or "ms") and
# `names` (what each unit was called before a question renamed it).
# Series are a list: `x` (matrix, time x series), `other` (a matrix to take foreign series
# from), `moved` (which series a question has replaced) and `names`.

as_spikes <- function(time, unit, start = min(time), end = max(time), trials = NULL,
                      grid = 1e-6) {
  unit <- as.character(unit)
  list(kind = "spikes", time = time, unit = unit, start = start, end = end, trials = trials,
       grid = grid, clock = "s", looks = 1L, names = stats::setNames(nm = sort(unique(unit))))
}

as_series <- function(x) {
  x <- matrix(as.double(as.matrix(x)), nrow(x), dimnames = list(NULL, colnames(x)))
  list(kind = "series", x = x, moved = NULL, names = stats::setNames(nm = colnames(x)))
}

from_trains <- function(x, ...) {
  as_spikes(x$time, x$unit, attr(x, "start"), attr(x, "end"), attr(x, "trials"), ...)
}

# `clock` is that of the times; `start` and `end` are in seconds with any.
to_trains <- function(data) {
  trials <- data$trials[c("start", "end")]
  spike_trains(
    data$time * if (data$clock == "ms") 1000 else 1,
    factor(data$unit, names(data$names)), if (is.null(trials)) round(data$start, 6),
    if (is.null(trials)) round(data$end, 6), trials = trials, time_unit = data$clock
  )
}

# Only the first seconds, and the busiest units.
cut_to <- function(data, seconds = Inf, units = Inf, without = character()) {
  data$end <- min(data$end, data$start + seconds)
  keep <- data$time <= data$end & !data$unit %in% without
  busiest <- names(sort(table(data$unit[keep]), decreasing = TRUE))
  keep <- keep & data$unit %in% utils::head(busiest, units)
  data$time <- data$time[keep]
  data$unit <- data$unit[keep]
  data$names <- stats::setNames(nm = sort(unique(data$unit)))
  data
}

# ---- How they are loaded ---------------------------------------------------------------

shared <- function(name) file.path(Sys.getenv("SYNFIRE_DATA"), name)
spikes_of <- function(name, ..., grid = 1e-6) {
  from_trains(read_spikes(shared(name), ...), grid = grid)
}
series_of <- function(name, columns = NULL) {
  x <- utils::read.csv(shared(name), check.names = FALSE)
  as_series(if (is.null(columns)) x else x[columns])
}
# Counts (or with `sigma` rates) of the busiest units.
counts_of <- function(data, bin_size, sigma = NULL, units = 8) {
  x <- bin_spikes(to_trains(cut_to(data, units = units)), bin_size, sigma = sigma)
  as_series(as.matrix(x))
}
activations_of <- function(data, bin_size) {
  found <- find_assemblies(to_trains(data), threads = 1)
  as_series(as.matrix(activation_rate(found, bin_size)))
}
songbird <- function() {
  x <- utils::read.table(shared("recordings/songbird.txt"))
  as_spikes(x[[2L]], sprintf("n%02d", x[[1L]]), 0, 22.233333, grid = 1 / 30)
}
movement <- function() {
  x <- utils::read.table(gzfile(shared("spade/movement_PGHF_raster.txt.gz")))
  as_spikes(x[[2L]] * 0.005 + 0.0025, sprintf("u%03d", x[[1L]]), 0, 22.32, grid = 0.005)
}
cockroach <- function() {
  there <- new.env()
  load(shared("recordings/cockroach-terpi.rda"), there)
  from_trains(as_spike_trains(there$e060817terpi))
}
# Units that fire every 160 ms, give or take 4 ms, each by itself.
regular <- function(seconds, units) {
  time <- replicate(units, cumsum(c(stats::runif(1, 0, 0.16),
                                    stats::rnorm(seconds / 0.16 + 20, 0.16, 0.004))))
  unit <- rep(sprintf("r%d", seq_len(units)), each = nrow(time))
  keep <- time < seconds
  as_spikes(round(time[keep], 6), unit[keep], 0, seconds)
}
autoregressive <- function(steps, series, memory) {
  one <- \(k) as.numeric(stats::filter(stats::rnorm(steps), memory, "recursive"))
  x <- vapply(seq_len(series), one, numeric(steps))
  as_series(`colnames<-`(x, sprintf("s%d", seq_len(series))))
}
# Counts of units of which each drives the next: most of them are 0, and many are equal.
driven_counts <- function(steps, units, rate) {
  x <- matrix(0, steps, units, dimnames = list(NULL, sprintf("c%d", seq_len(units))))
  for (t in seq_len(steps)[-1L]) {
    before <- c(rate, x[t - 1L, -units])
    x[t, ] <- stats::rpois(units, pmin(rate * exp(0.7 * (before - rate)), 4 * rate))
  }
  as_series(x)
}

# ---- The table -------------------------------------------------------------------------

recording <- function(name, load, files = character(), cut = "", short = FALSE, ...) {
  list(name = name, load = load, files = files, cut = cut, short = short,
       analyses = list(...))
}
# Arguments of analyses that most recordings have in common.
map <- \(...) utils::modifyList(list(E_max = 5, n_surrogates = 99), list(...))
chains <- \(low = 0.005, high = 0.015) list(intervals = c(low, high))
alarms <- \(window = 10, low = 0.005, high = 0.015) {
  list(intervals = c(low, high), window = window)
}
bins <- \(bin_size = 0.005, window_bins = 10, min_count = 5) {
  list(bin_size = bin_size, window_bins = window_bins, min_count = min_count)
}
none <- list()

recordings <- list(
  # Simulated.
  recording("simulated assemblies", short = TRUE,
            \() from_trains(simulate_assemblies(60, 20, size = 4, count = 40)),
            episodes = chains(), alarms = alarms(), spade = bins(), assemblies = none,
            synapses = none,
            report = none, measures = none, feed = chains()),
  recording("simulated chains",
            \() from_trains(simulate_sym26(10)), episodes = chains(), alarms = alarms(2),
            spade = bins(window_bins = 5, min_count = 15),
            assemblies = list(max_lag = 0.1), synapses = none, measures = none),
  recording("simulated culture", \() from_trains(simulate_culture(60, 20)),
            episodes = chains(), alarms = alarms(), assemblies = none,
            synapses = none, report = none,
            measures = none),
  recording("simulated network", short = TRUE,
            \() from_trains(simulate_network(300, 15)), synapses = none, measures = none),
  recording("simulated clocks", short = TRUE, \() regular(60, 8),
            episodes = chains(), alarms = alarms(), spade = bins(), assemblies = none,
            synapses = none,
            measures = none),
  recording("simulated maps", short = TRUE,
            \() as_series(simulate_coupled_maps(800, series = 8)),
            causal_map = map(), ccm = none, direct_links = none, smap_map = none),
  recording("simulated weather", \() as_series(simulate_lorenz96(800, series = 8)),
            causal_map = map(), ccm = none, direct_links = none, smap_map = none),
  recording("simulated calcium", \() as_series(simulate_calcium(800, 12)[, 1:8]),
            causal_map = map(), ccm = none, direct_links = none, smap_map = none),
  recording("simulated noise, memory 0.95", short = TRUE, \() autoregressive(800, 8, 0.95),
            causal_map = map(), ccm = none, direct_links = none),
  recording("simulated walks", \() autoregressive(800, 8, 1), causal_map = map(),
            ccm = none, direct_links = none),
  recording("simulated counts", \() driven_counts(800, 8, 1),
            causal_map = map(), ccm = none, direct_links = none, smap_map = none),
  recording("simulated activations",
            \() activations_of(from_trains(simulate_assemblies(150, 25, count = 80)), 0.05),
            causal_map = map(E = 1, E_max = NULL, Tp = -12:0)),
  # Spikes of others.
  recording("tc89", \() cut_to(spikes_of("episodes/tc89.csv.gz", time_unit = "ms"), 30),
            "episodes/tc89.csv.gz", "first 30 s", episodes = chains(), alarms = alarms(5),
            assemblies = none, synapses = none, measures = none),
  recording("axion", short = TRUE,
            \() spikes_of("episodes/axion_B3.csv.gz", time_unit = "ms"),
            "episodes/axion_B3.csv.gz", episodes = chains(), alarms = alarms(5),
            assemblies = none, synapses = none, report = none, measures = none, feed = chains()),
  recording("culture, 20 days",
            \() cut_to(spikes_of("episodes/culture-2-1-20.spk.txt.gz"), 60),
            "episodes/culture-2-1-20.spk.txt.gz", "first 60 s", episodes = chains(),
            alarms = alarms(), assemblies = none, synapses = none, measures = none),
  recording("culture, 10 days",
            \() cut_to(spikes_of("episodes/culture-2-1-10.spk.txt.gz"), 60),
            "episodes/culture-2-1-10.spk.txt.gz", "first 60 s", episodes = chains(),
            alarms = alarms(), assemblies = none, synapses = none, measures = none),
  recording("mouse", \() cut_to(spikes_of("recordings/mouse-A8604.nwb"), 150),
            "recordings/mouse-A8604.nwb", "first 150 s", episodes = chains(),
            alarms = alarms(), spade = bins(), assemblies = none, synapses = none, measures = none),
  recording("retina", \() cut_to(spikes_of("recordings/retina-1152.h5"), 300, 30),
            "recordings/retina-1152.h5", "first 300 s, 30 busiest units",
            episodes = chains(), alarms = alarms(30), assemblies = none,
            synapses = none, measures = none),
  recording("songbird", short = TRUE, songbird, "recordings/songbird.txt",
            episodes = chains(0, 0.1), alarms = alarms(5, 0, 0.1),
            spade = bins(0.033333, 5, 7), assemblies = none, report = none,
            measures = none),
  recording("cockroach", cockroach, "recordings/cockroach-terpi.rda",
            episodes = chains(), spade = bins(min_count = 10), assemblies = none, synapses = none,
            measures = none),
  recording("w-maze",
            \() cut_to(spikes_of("recordings/wmaze.csv.gz"), 300, 24, "t0u20"),
            "recordings/wmaze.csv.gz", "first 300 s, without the cluster of noise",
            episodes = chains(), alarms = alarms(), spade = bins(), assemblies = none,
            synapses = none,
            report = none, measures = none, feed = chains()),
  recording("spycon", \() cut_to(spikes_of("synapses/spycon_ren.csv.gz"), 120),
            "synapses/spycon_ren.csv.gz", "first 120 s", episodes = chains(),
            alarms = alarms(), spade = bins(min_count = 3), assemblies = none,
            synapses = none, report = none,
            measures = none),
  recording("tspe", \() cut_to(spikes_of("synapses/tspe_ex.csv.gz"), 60, 30),
            "synapses/tspe_ex.csv.gz", "first 60 s, 30 busiest units",
            episodes = chains(), alarms = alarms(), spade = bins(), assemblies = none,
            synapses = none,
            measures = none),
  recording("movement", \() cut_to(movement(), units = 30),
            "spade/movement_PGHF_raster.txt.gz", "30 busiest units",
            episodes = chains(), alarms = alarms(5), spade = bins(window_bins = 4, min_count = 20),
            assemblies = none, measures = none),
  # Their counts and rates.
  recording("w-maze, counts of 100 ms", short = TRUE, \() {
    counts_of(cut_to(spikes_of("recordings/wmaze.csv.gz"), 150, without = "t0u20"), 0.1)
  }, "recordings/wmaze.csv.gz", "first 150 s, 8 units",
  causal_map = map(), ccm = none, direct_links = none, smap_map = none),
  recording("w-maze, rates of 200 ms", \() {
    counts_of(cut_to(spikes_of("recordings/wmaze.csv.gz"), 150, without = "t0u20"), 0.1, 0.2)
  }, "recordings/wmaze.csv.gz", "first 150 s, 8 units",
  causal_map = map(), ccm = none, direct_links = none),
  recording("tc89, counts of 100 ms",
            \() counts_of(cut_to(spikes_of("episodes/tc89.csv.gz", time_unit = "ms"), 150), 0.1),
            "episodes/tc89.csv.gz", "first 150 s, 8 units",
            causal_map = map(), ccm = none, direct_links = none),
  recording("retina, counts of 1 s",
            \() counts_of(cut_to(spikes_of("recordings/retina-1152.h5"), 1500), 1),
            "recordings/retina-1152.h5", "first 1,500 s, 8 units",
            causal_map = map(), ccm = none, direct_links = none),
  recording("songbird, frames", short = TRUE,
            \() counts_of(songbird(), 0.033333), "recordings/songbird.txt",
            "8 busiest units", causal_map = map(), ccm = none, direct_links = none,
            smap_map = none),
  recording("songbird, activations", \() activations_of(songbird(), 0.05),
            "recordings/songbird.txt",
            causal_map = map(E = 1, E_max = NULL, Tp = -6:0)),
  recording("tspe, counts of 20 ms",
            \() counts_of(cut_to(spikes_of("synapses/tspe_ex.csv.gz"), 30), 0.02),
            "synapses/tspe_ex.csv.gz", "first 30 s, 8 units",
            causal_map = map(), ccm = none, direct_links = none),
  # Rows between trials are missing, and ccm() has no surrogates then that stay as slow.
  recording("cockroach, counts of 50 ms", \() counts_of(cockroach(), 0.05),
            "recordings/cockroach-terpi.rda", causal_map = map()),
  # Series of others.
  recording("diamond", \() series_of("networks/diamond_0.csv.gz"),
            "networks/diamond_0.csv.gz", causal_map = map(), ccm = none,
            direct_links = none, smap_map = none),
  recording("mediator", \() series_of("networks/mediator_0.csv.gz"),
            "networks/mediator_0.csv.gz", causal_map = map(), ccm = none,
            direct_links = none),
  recording("lorenz", \() series_of("networks/lor_0.csv.gz"), "networks/lor_0.csv.gz",
            causal_map = map(), ccm = none, direct_links = none, smap_map = none),
  recording("three species", short = TRUE,
            \() series_of("edm/redm/block_3sp.csv", c("x_t", "y_t", "z_t")),
            "edm/redm/block_3sp.csv", causal_map = map(), ccm = none,
            direct_links = none, smap_map = none),
  recording("sardines", \() {
    series_of("edm/redm/sardine_anchovy_sst.csv", c("anchovy", "sardine", "sio_sst", "np_sst"))
  }, "edm/redm/sardine_anchovy_sst.csv", causal_map = map(), ccm = none,
  direct_links = none, smap_map = none),
  recording("all to all", \() series_of("edm/kedm/xmap_all_to_all_test_input.csv"),
            "edm/kedm/xmap_all_to_all_test_input.csv",
            causal_map = map(), direct_links = none)
)
names(recordings) <- vapply(recordings, \(one) one$name, "")
