# One small valid call of each exported function and of each class' methods. A new function
# is added to make_small_calls(); then wrong calls of it are made (subject-wrong.R).

# Lists of arguments by the function's name; made once in a process, except the stream and
# the feeds, which each update changes.
small_calls <- function() {
  if (is.null(fuzz$small_calls)) fuzz$small_calls <- make_small_calls(small_results())
  fuzz$small_calls$update.episode_stream[[1L]] <- small_stream()
  for (name in c("update.stream_feed", "close.stream_feed", "run_feed")) {
    fuzz$small_calls[[name]][[1L]] <- small_feed(small_results())
  }
  fuzz$small_calls
}

small_stream <- function() {
  x <- small_results()$spike_trains
  update(synfire::episode_stream(c(0, 0.02), 5, 1), x[time = c(-Inf, 2)])
}

# Its table is too short to be read at once, so that no odd function is called by it.
small_feed <- function(r) {
  synfire::feed_file(synfire::episode_stream(c(0, 0.02), 1, 1), r$csv, wait = 60)
}

# A small result of each class, by the class' name.
small_results <- function() {
  if (is.null(fuzz$small_results)) fuzz$small_results <- make_small_results()
  fuzz$small_results
}

make_small_results <- function() {
  set.seed(1)
  r <- list()
  r$spike_trains <- synfire::simulate_patterns(4, 6, 5, list(list(
    units = 1:3, lags = c(0, 0.01, 0.02), count = 12)))
  r$episodes <- synfire::mine_episodes(r$spike_trains, 8, c(0, 0.02), max_size = 3)
  one <- r$episodes[lengths(r$episodes$units) > 1, ][1:2, ]
  r$episode_occurrences <- synfire::episode_occurrences(r$spike_trains, one)
  r$episode_lags <- synfire::episode_lags(r$spike_trains, one)
  r$episode_significance <- synfire::episode_significance(r$episodes, n_surrogates = 9)
  r$episode_stream <- update(synfire::episode_stream(c(0, 0.02), 5, 4), r$spike_trains)
  r$patterns <- synfire::mine_patterns(r$spike_trains, 0.01, 3, min_count = 4)
  r$pattern_occurrences <- synfire::pattern_occurrences(r$spike_trains, r$patterns)
  r$pattern_spectrum <- synfire::pattern_spectrum(r$patterns)
  r$pvalue_spectrum <- synfire::pvalue_spectrum(r$spike_trains, 0.01, 3, 2, 4,
                                                n_surrogates = 19)
  r$signature_tests <- synfire::test_signatures(
    synfire::mine_patterns(r$spike_trains, 0.01, 3, 2, 4), r$pvalue_spectrum)
  r$spade <- synfire::spade(r$spike_trains, 0.01, 3, 2, 4, n_surrogates = 19)
  r$assemblies <- synfire::find_assemblies(
    synfire::simulate_assemblies(40, 14, "synchrony", size = 4, count = 100),
    max_lag = 0.05, alpha = 0.5, n_surrogates = 19, threads = 1)
  r$assembly_activations <- synfire::assembly_activations(
    attr(r$assemblies, "recording"), r$assemblies, n_surrogates = 5)
  first <- sort(stats::runif(400, 0, 60))
  r$connected <- synfire::spike_trains(
    c(first, first[1:150] + 0.002, stats::runif(300, 0, 60)), rep(c("a", "b"), c(400, 450)),
    start = 0, end = 61)
  r$synapses <- synfire::find_synapses(r$connected, threads = 1)
  r$itemsets <- synfire::frequent_itemsets(
    list(c("a", "b", "c"), c("a", "b"), c("b", "c"), c("a", "c", "d")), 2)
  table <- data.frame(time = 1:60, x = logistic_map(60), y = rnorm(60))
  r$table <- table
  r$series <- as.matrix(table[, -1])
  r$ts <- stats::ts(table$x, start = 1900)
  r$zoo <- structure(table$x, index = as.Date("2020-01-01") + 1:60, class = "zoo")
  r$ccm <- synfire::ccm(table, "x", "y", E = 2, lib_sizes = c(20, 50), samples = 5)
  r$ccm_summary <- summary(r$ccm)
  r$ccm_lag <- synfire::ccm_lag(table, "x", "y", E = 2, Tp = -2:1, samples = 5)
  r$edm_prediction <- synfire::simplex(table, "x", E = 2)
  r$edm_skill <- synfire::embed_dimension(table, "x", E_max = 3)
  r$smap <- synfire::smap(table, "x", E = 2, theta = 1)
  r$multiview <- synfire::multiview(cbind(table, z = rnorm(60)), c("x", "y", "z"), "x",
                                    D = 2)
  r$causal_map <- synfire::causal_map(r$series, E = 2)
  r$causal_links <- synfire::causal_map(cbind(r$series, z = rnorm(60)), E = 2, top = 1)
  r$causal_map_comparison <- synfire::compare_maps(r$causal_map, r$causal_map)
  r$linked <- unclass(synfire::simulate_coupled_maps(
    120, rbind(c(0, 0.05, 0), c(0, 0, 0.05), 0)))[, ]
  r$linked_map <- synfire::causal_map(r$linked, E = 2)
  r$direct_links <- synfire::direct_links(r$linked_map, r$linked, threshold = -1)
  r$direct_links_comparison <- synfire::compare_maps(r$direct_links, r$direct_links)
  r$map_on_disk <- tempfile(fileext = ".h5")
  r$causal_map_file <- synfire::causal_map(r$series, E = 2, file = r$map_on_disk)
  r$smap_map <- synfire::smap_map(r$series, E = 2)
  r$smap_on_disk <- tempfile(fileext = ".h5")
  r$smap_map_file <- synfire::smap_map(r$series, E = 2, file = r$smap_on_disk)
  r$synfire_sitrep <- synfire::synfire_sitrep(test_devices = FALSE)
  r$binned_spikes <- synfire::bin_spikes(r$spike_trains, 0.05)
  r$cross_correlogram <- synfire::cross_correlogram(r$spike_trains, 0.005, 0.02)
  r$psth <- synfire::psth(r$spike_trains, 1:3, -0.1, 0.2, 0.05)
  r$isi_statistics <- synfire::isi_statistics(r$spike_trains)
  r$bursts <- synfire::bursts(r$spike_trains, 0.2)
  r$sttc <- synfire::sttc(r$spike_trains, 0.01)
  r$tuning_curve <- synfire::tuning_curve(
    r$spike_trains, data.frame(time = 0:40 / 10, value = sin(0:40)), breaks = 4)
  r$recording_check <- synfire::check_recording(r$spike_trains)
  # So short that a page is made at once.
  r$shortest <- synfire::spike_trains(c(0.1, 0.2, 0.3), c("a", "b", "a"), start = 0, end = 10)
  r$recording_report <- suppressMessages(synfire::report(r$shortest, open = FALSE, threads = 1))
  r$csv <- tempfile(fileext = ".csv")
  writeLines(c("time,unit", "0.5,A", "0.75,B", "1.5,A"), r$csv)
  r$stream_feed <- small_feed(r)
  r
}

make_small_calls <- function(r) {
  x <- r$spike_trains
  table <- r$table
  transactions <- list(c("a", "b", "c"), c("a", "b"), c("b", "c"))
  calls <- list(
    as_arules = list(x = r$itemsets),
    as_spike_trains = list(x = list(A = c(1, 2), B = 1.5)),
    bin_spikes = list(x = x, bin_size = 0.05),
    bursts = list(x = x),
    check_recording = list(x = x),
    cross_correlogram = list(x = x, bin_size = 0.005, max_lag = 0.02),
    isi_statistics = list(x = x),
    psth = list(x = x, events = 1:3, from = -0.1, to = 0.2, bin_size = 0.05),
    sttc = list(x = x),
    activation_rate = list(x = r$assemblies, bin_size = 0.5),
    assembly_activations = list(x = attr(r$assemblies, "recording"), assemblies = r$assemblies,
                                n_surrogates = 3),
    report = list(x = r$shortest, open = FALSE),
    calibrate_gpu = list(x = x, sizes = 2:3, episodes = c(32, 64), repeats = 1, gpu = 1,
                         save = FALSE),
    causal_map = list(x = r$series, E = 2),
    ccm = list(x = table, columns = "x", target = "y", E = 2, lib_sizes = c(20, 50),
               samples = 3),
    ccm_lag = list(x = table, columns = "x", target = "y", E = 2, Tp = -1:1, samples = 3),
    direct_links = list(map = r$linked_map, x = r$linked, threshold = -1),
    compare_maps = list(a = r$causal_map, b = r$causal_map),
    count_episodes = list(x = x, episodes = r$episodes),
    expected_counts = list(x = r$episodes),
    suggest_min_count = list(x = x, intervals = c(0, 0.02), n_surrogates = 19),
    suggest_pattern_count = list(x = x, bin_size = 0.01, window_bins = 3, n_surrogates = 2),
    synfire_colours = list(n = 3), theme_synfire = list(base_size = 11),
    delay_embed = list(x = table, columns = "x", E = 2),
    embed_dimension = list(x = table, columns = "x", target = "y", E_max = 3),
    episode = list(units = c("A", "B"), low = 0, high = 0.01),
    episode_lags = list(x = x, episodes = r$episodes[1:2, ]),
    episode_occurrences = list(x = x, episodes = r$episodes[1:2, ]),
    episode_significance = list(episodes = r$episodes[1:3, ], n_surrogates = 5),
    episode_stream = list(intervals = c(0, 0.02), min_count = 5, window = 1),
    feed_file = list(stream = r$episode_stream, file = r$csv),
    feed_socket = list(stream = r$episode_stream, port = 47113),
    find_assemblies = list(x = x, max_lag = 0.01, n_surrogates = 19, segment = 1),
    find_synapses = list(x = r$connected),
    frequent_itemsets = list(transactions = transactions, min_count = 1),
    mine_episodes = list(x = x, min_count = 8, intervals = c(0, 0.02), max_size = 3),
    mine_patterns = list(x = x, bin_size = 0.01, window_bins = 3, min_count = 4),
    multiview = list(x = cbind(table, z = rev(table$y)), columns = c("x", "y", "z"),
                     target = "x", D = 2),
    open_causal_map = list(file = r$map_on_disk),
    pattern_occurrences = list(x = x, patterns = r$patterns),
    pattern_spectrum = list(patterns = r$patterns),
    pattern_stability = list(patterns = r$patterns, n_subsets = 3),
    predict_exclusion_radius = list(x = table, columns = "x", exclusion_radius = 0:2, E = 2),
    predict_interval = list(x = table, columns = "x", Tp_max = 3, E = 2),
    predict_nonlinear = list(x = table, columns = "x", theta = 1:2, E = 2),
    prediction_error = list(x = c(1, 2, 3), predicted = c(1, 2, 2.5)),
    pvalue_spectrum = list(x = x, bin_size = 0.01, window_bins = 3, min_spikes = 2, min_count = 4,
                           n_surrogates = 3),
    read_spikes = list(file = r$csv),
    reduce_patterns = list(patterns = r$patterns),
    # Either would end it alone, as the other may be replaced by Inf.
    run_feed = list(feed = r$stream_feed, seconds = 0.05, idle = 0.05),
    significant_patterns = list(patterns = r$spade$patterns, tests = r$signature_tests),
    simplex = list(x = table, columns = "x", E = 2),
    simulate_assemblies = list(duration = 5, units = 8, assemblies = c("synchrony", "sequence"),
                               size = 3, count = 4),
    simulate_coupled_maps = list(steps = 20, series = 4),
    simulate_culture = list(duration = 5, channels = 4),
    simulate_network = list(duration = 2, units = 3),
    simulate_patterns = list(duration = 2, units = 5),
    simulate_sym26 = list(duration = 2),
    smap = list(x = table, columns = "x", E = 2, theta = 1),
    smap_map = list(x = r$series, E = 2),
    spade = list(x = x, bin_size = 0.01, window_bins = 3, min_spikes = 2, min_count = 4,
                 n_surrogates = 3),
    spike_trains = list(time = c(1, 2, 3), unit = c("A", "B", "A")),
    surrogate_series = list(x = table$x, n_surrogates = 2),
    surrogate_trains = list(x = x, n_surrogates = 1),
    synfire_sitrep = list(),
    test_signatures = list(
      patterns = synfire::mine_patterns(x, 0.01, 3, 2, 4), pvalues = r$pvalue_spectrum)
  )
  c(calls, method_calls(r))
}

# What methods need beside the object, by the name of the method.
method_extras <- function(r) {
  list(
    `[.spike_trains` = list(time = c(0, 1)), `[.itemsets` = list(1:2), `[.spade` = list(1),
    `[.smap_map` = list(1, 1:2),
    `[.binned_spikes` = list(1:2, 1), `[.cross_correlogram` = list(1, 1, 2),
    rbind.spike_trains = list(r$spike_trains), rbind.synfire_table = list(r$episodes),
    `[.synfire_table` = list(1:2, 1:3), c.episodes = list(r$episodes),
    c.itemsets = list(r$itemsets), update.episode_stream = list(r$spike_trains[time = c(2.5, Inf)])
  )
}

# A call of each method in NAMESPACE that users call; the function is the generic's name,
# the entry's name that of the method.
method_calls <- function(r) {
  methods <- user_methods()
  extras <- method_extras(r)
  children <- c(edm = "edm_prediction", synfire_table = "episodes", synfire_result = "spade",
                default = "series")
  calls <- list()
  for (i in seq_len(nrow(methods))) {
    class <- methods$class[[i]]
    object <- r[[if (class %in% names(children)) children[[class]] else class]]
    # A data frame has its own call, by the name of the generic.
    if (is.null(object) && !class %in% c("gpu_calibration", "data.frame")) {
      stop("small_results() has no ", class)
    }
    if (is.null(object)) next
    calls[[methods$name[[i]]]] <- c(list(object), extras[[methods$name[[i]]]])
  }
  calls
}
