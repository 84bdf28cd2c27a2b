# Small calls that launch every GPU kernel, each about a second; for tools/sanitize-gpu.sh,
# which runs them under the checkers of CUDA.
#
# Rscript tools/sanitize-gpu.R [K/N] [CASE ...] all cases, or some by name; of these each Nth
#                                               alone, from the Kth on
# Rscript tools/sanitize-gpu.R --kernels        fails where a kernel of src/gpu has no case
# Rscript tools/sanitize-gpu.R --launched FILE [CASE ...]
#                                               fails where a case did not launch the kernels
#                                               that it is for; tools/launches.c wrote FILE
#
# A case names the kernels that it is for. A new kernel has to be added to one.
cases <- list()
case <- function(name, kernels, run) {
  cases[[name]] <<- list(kernels = strsplit(kernels, " ")[[1L]], run = run)
}

random_spikes <- function(n, units, end = 10, ...) {
  synfire::spike_trains(sort(round(stats::runif(n, 0, end), 4)), sample(units, n, TRUE),
                        start = 0, end = end, resolution = 1e-4, ...)
}
# What is kept from an earlier call would count as memory that was written to.
fresh_memory <- function() .Call(synfire:::r_release_gpu)

delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
mine <- function(x, min_count, intervals = delays, ...) {
  fresh_memory()
  synfire::mine_episodes(x, min_count, intervals, ..., distinct_units = FALSE, device = "gpu")
}

# ---- episodes ----

window <- "describe_events find_rows find_windows make_table list_units plan_units"
# The steps of a level: a kernel each where levels are large, or one for all.
steps <- "count_children number_children fill_level"
case("episodes", paste(window, "make_levels"), function() {
  x <- random_spikes(6000, 12)
  mine(x, 40, max_size = 4)
  # Ties, bursts and trials.
  mine(random_spikes(3000, 4, end = 0.5), 60, c(0, 0.002), max_size = 5)
  mine(random_spikes(2000, 6, trials = data.frame(start = c(0, 4), end = c(3, 9))), 9,
       max_size = 3)
})
case("pages", paste(window, "make_levels sweep_children"), function() {
  for (units in c(40, 100, 200, 520)) mine(random_spikes(5000, units), 8, c(0, 0.02), max_size = 3)
})
case("long-lists", paste(window, steps, "make_long_lists"), function() {
  mine(random_spikes(24000, 2, end = 20), 1000, c(0, 0.004), max_size = 3)
})
case("wide-windows", paste(sub("make_table ", "", window), "number_children fill_level",
                           "sweep_children"), function() {
  mine(random_spikes(68000, 30, end = 20), 900, c(0, 19.9), max_size = 2)
})
case("parts", paste(window, "make_levels sweep_children"), function() {
  x <- random_spikes(12000, 200)
  for (budget in c(3e6, 6e6, 2e7)) {
    tryCatch(mine(x, 12, max_size = 3, max_memory = budget),
             synfire_error_budget = function(e) cat("budget\n"))
  }
})
case("team", paste(window, steps, "make_lists merge_items"), function() {
  mine(random_spikes(12000, 120), 8, max_size = 3, gpus = c(1, 1))
})

# ---- streams ----

moving <- paste("append_events fill_rows move_episodes tell_host list_episodes",
                "count_candidates copy_all grow_lists")
follow_on_gpu <- function(x, intervals, min_count, window, block, ...) {
  fresh_memory()
  s <- synfire::episode_stream(intervals, min_count, window, ..., distinct_units = FALSE,
                               device = "gpu", resolution = attr(x, "resolution"),
                               threads = 1)
  s$always <- TRUE
  ends <- seq(0, attr(x, "end"), block)
  for (k in seq_along(ends)[-1L]) s <- stats::update(s, x[time = ends[k - 1:0]])
  s
}
case("stream", paste(moving, "move_candidates_of grow_ring renumber_all"), function() {
  x <- random_spikes(3000, 8)
  follow_on_gpu(x, c(0, 0.010), 8, 1, 0.25, max_size = 4)
  follow_on_gpu(x, delays, 12, 0.4, 0.2, max_size = 3)
})
case("stream-units", moving, function() {
  follow_on_gpu(random_spikes(4000, 70), c(0, 0.02), 6, 4, 1, max_size = 3)
})

# ---- published strategies ----

case("ptpe", "find_machine_windows count_whole", function() {
  mine(random_spikes(800, 5), 12, max_size = 4, engine = "ptpe")
})
case("mtpe", "count_segments stitch_segments run_published concatenate_published judge_published", function() {
  for (merge in c("exact", "published")) {
    mine(random_spikes(1500, 4), 40, max_size = 3, engine = list("mtpe", merge = merge))
  }
})
case("two-pass", "bound_counts", function() {
  mine(random_spikes(800, 5), 12, max_size = 3, engine = "two-pass")
})
case("occurrence", paste("order_rows measure_begun begin_lists extend_by_counter",
                         "extend_sparse pack_sparse find_longer write_found take_disjoint"),
     function() {
  x <- random_spikes(800, 5)
  # More in a window than the sparse array has places for at first.
  burst <- random_spikes(300, 2, end = 0.5)
  for (how in synfire:::gpu_compactions) {
    for (dedup in c(TRUE, FALSE)) {
      mine(x, 12, max_size = 3, engine = list("occurrence", compaction = how, dedup = dedup))
      mine(burst, 9, c(0, 0.1), max_size = 3, engine = list("occurrence", compaction = how, dedup = dedup))
    }
  }
})
case("count", "count_segments count_whole", function() {
  x <- random_spikes(800, 5)
  found <- synfire::mine_episodes(x, 12, delays, max_size = 4, distinct_units = FALSE)
  for (engine in c("hybrid", "ptpe", "occurrence")) {
    synfire::count_episodes(x, found, device = "gpu", engine = engine)
  }
})

# ---- surrogates ----

# Every method, with the arguments that it takes; in pvalue_spectrum() bins are those of the
# patterns.
surrogates <- list(
  dither = list(dither = 0.02), dither_refractory = list(dither = 0.02),
  train_shift = list(dither = 0.02), joint_isi = list(dither = 0.02),
  isi_dither = list(dither = 0.02), isi_shuffle = list(), randomise = list(),
  bin_shuffle = list(bin_size = 0.005), window_shuffle = list(bin_size = 0.005, window = 0.05),
  sliding_shuffle = list(bin_size = 0.005, window = 0.05), jitter = list(window = 0.05),
  trial_shift = list(dither = 0.02)
)
null <- "make_units label_events find_beyond count_null gather_null"
for (method in names(surrogates)) local({
  method <- method
  own <- surrogates[[method]]
  trials <- if (method == "trial_shift") data.frame(start = c(0, 5), end = c(4, 10))
  case(paste0("null-", method), null, function() {
    x <- random_spikes(600, 5, trials = trials)
    found <- synfire::mine_episodes(x, 8, delays, max_size = 3, distinct_units = FALSE)
    args <- list(utils::head(found, 60), n_surrogates = 4, surrogate = method, device = "gpu")
    do.call(synfire::episode_significance, c(args, own))
  })
  case(paste0("maxima-", method), "make_trains set_bits find_items fill_rows search_maxima",
       function() {
    x <- random_spikes(500, 6, trials = trials)
    # Half a window of bins stands for the window.
    own <- list(dither = if (is.null(own$window)) own$dither else 0.025)
    for (spectrum in c("#", "3d#")) {
      args <- list(x, 0.005, 6, 2, 3, max_spikes = 5, n_surrogates = 3, surrogate = method,
                   spectrum = spectrum, device = "gpu")
      do.call(synfire::pvalue_spectrum, c(args, Filter(Negate(is.null), own)))
    }
  })
})
case("maxima-wide", "search_maxima", function() {
  # Units with more windows than masks hold, and windows of more than 32 bins.
  x <- random_spikes(2400, 4, end = 6)
  synfire::pvalue_spectrum(x, 0.005, 4, 2, 60, n_surrogates = 2, dither = 0.02, device = "gpu")
  x <- random_spikes(400, 4)
  synfire::pvalue_spectrum(x, 0.002, 50, 3, 5, n_surrogates = 2, dither = 0.02, device = "gpu")
})
case("spade", "search_maxima", function() {
  synfire::spade(random_spikes(500, 6), 0.005, 5, 2, 4, max_spikes = 5, n_surrogates = 4,
                 dither = 0.02, device = "gpu")
})

# ---- causal maps ----

random_map <- function(steps, n, gaps = FALSE) {
  x <- matrix(stats::rnorm(steps * n), steps)
  x[-1, ] <- x[-1, ] + 0.8 * x[-steps, ]
  if (gaps) x[sample(length(x), 3 * n)] <- NA
  colnames(x) <- paste0("s", seq_len(n))
  x
}
map <- function(x, E, ..., libraries = 1:3) {
  fresh_memory()
  synfire::causal_map(x, E = E, ..., libraries = libraries, device = "gpu")
}
dims <- "lay_out find_tables fill_tiles find_moments"
case("map-rows", paste(dims, "correlate_rows"), function() {
  for (gaps in c(FALSE, TRUE)) for (precision in c("float", "half")) {
    map(random_map(150, 8, gaps), rep(1:4, 2), precision = precision)
    map(random_map(60, 70, gaps), 2, precision = precision)
  }
  for (tau in c(-3, 2)) map(random_map(80, 5), 1, tau = tau, Tp = -2, exclusion_radius = 4)
  x <- random_map(90, 5)
  x[] <- round(x)
  map(x, c(1, 3, 3, 6, 6))
})
case("map-planes", paste(dims, "correlate_lanes arrange_entries correlate_halves"), function() {
  for (gaps in c(FALSE, TRUE)) for (precision in c("float", "half")) {
    map(random_map(2000, 6, gaps), 2, precision = precision, libraries = 1:2)
  }
  map(random_map(200, 3), 30)
  map(random_map(4000, 3), 1, libraries = 1)
  map(random_map(8000, 3), 1, libraries = 1)
})
case("map-wide", paste(dims, "correlate_rows"), function() {
  for (gaps in c(FALSE, TRUE)) map(random_map(15000, 2, gaps), 1, libraries = 1)
})
case("map-layers", paste(dims, "correlate_rows"), function() {
  x <- random_map(80, 5)
  map(x, 2, Tp = -1:1, lib_sizes = c(20, Inf), n_surrogates = 3)
  map(x, 2, top = 2)
})
case("map-screen", paste(dims, "sample_table correlate_rows correlate_lanes"), function() {
  for (steps in c(400, 2000)) {
    x <- random_map(steps, 6)
    x[, 2] <- x[, 1] + 0.1 * x[, 2]
    map(x, 2, screen = 0.5, libraries = 1:2)
  }
})
case("map-after-search", paste("find_both add_skill", dims, "correlate_rows"), function() {
  for (gaps in c(FALSE, TRUE)) {
    fresh_memory()
    synfire::causal_map(random_map(120, 6, gaps), E_max = 8, device = "gpu")
  }
  # Pools that are full of ties.
  x <- random_map(700, 3)
  x[] <- stats::rpois(length(x), 0.1)
  fresh_memory()
  synfire::causal_map(x, E_max = 10, device = "gpu")
})
case("dimensions", "lay_out find_skill add_skill", function() {
  for (validation in c("loo", "split")) {
    synfire::embed_dimension(random_map(120, 4, TRUE), 8, validation = validation,
                                device = "gpu")
  }
  synfire::embed_dimension(random_map(100, 2), 30, tau = 1, validation = "split",
                     exclusion_radius = 3, device = "gpu")
  synfire::embed_dimension(random_map(15000, 1), 1, device = "gpu")
})
# ---- empirical dynamic modelling of a few series ----

series <- function(n, kind = "noise") {
  x <- switch(kind, noise = stats::rnorm(n), counts = stats::rpois(n, 0.4),
              # Rows that single precision does not tell apart.
              alike = stats::rbinom(n, 1, 0.5) + stats::rnorm(n, sd = 1e-9),
              map = Reduce(\(x, i) 3.8 * x * (1 - x), seq_len(n - 1), 0.3, accumulate = TRUE))
  y <- c(0, utils::head(x, -1)) + stats::rnorm(n, sd = 0.1)
  data.frame(time = seq_len(n), x = x, y = y)
}
kinds <- c("noise", "counts", "map", "alike")
# Libraries of 4,096 points and more are filtered in single precision.
case("simplex", "search_exactly project_rows make_delay_vectors", function() {
  for (kind in kinds) {
    x <- series(700, kind)
    x$x[c(20, 300)] <- NA
    fresh_memory()
    for (E in c(1, 5)) synfire::simplex(x, "x", E = E, knn = 9, device = "gpu")
    synfire::simplex(x, "x", "y", E = 3, knn = 200, exclusion_radius = 5, device = "gpu")
  }
})
case("simplex-long", paste("find_ranges fill_tiles filter_rows choose_nearest begin_rows",
                           "gather_lost project_rows number_twins sort_tiles"), function() {
  for (kind in kinds) for (E in c(2, 20)) {
    fresh_memory()
    synfire::simplex(series(4600, kind), "x", E = E, device = "gpu")
  }
})
case("sweeps", paste("fill_sweep_tiles begin_dimensions filter_dimensions choose_dimensions",
                     "gather_lost sort_tiles search_exactly"), function() {
  for (kind in kinds) for (n in c(600, 4600)) {
    fresh_memory()
    synfire::embed_dimension(series(n, kind), "x", E_max = 6, device = "gpu")
  }
  synfire::predict_interval(series(500), "x", Tp_max = 3, E = 2, device = "gpu")
})
case("multiview", "count_complete", function() {
  synfire::multiview(series(300), c("x", "y"), "x", D = 2, E = 3, device = "gpu")
})
case("smap", paste("smap_centre smap_gather smap_gather_predicted smap_look smap_conclude",
                   "smap_multiply smap_solve smap_spread_again"), function() {
  for (kind in kinds) for (E in c(1, 3, 8, 20)) {
    fresh_memory()
    x <- series(300, kind)
    x$x[50] <- NA
    synfire::smap(x, "x", E = E, theta = 2, exclusion_radius = 3, device = "gpu")
  }
  synfire::predict_nonlinear(series(200), "x", E = 2, device = "gpu")
})
case("smap-lists", "smap_look_up smap_add_listed smap_solve", function() {
  synfire::smap(series(500), "x", E = 3, theta = 2, knn = 30, device = "gpu")
})
case("ccm", paste("ccm_gather ccm_sort_tiles ccm_direct ccm_members ccm_walk",
                  "ccm_search_rest ccm_weigh ccm_predict"), function() {
  for (kind in kinds) {
    fresh_memory()
    synfire::ccm(series(900, kind), "x", "y", E = 3, lib_sizes = c(20, 400, 800),
                 samples = 70, device = "gpu")
  }
  synfire::ccm(series(5000), "x", "y", E = 2, lib_sizes = c(30, 4500), samples = 3,
               device = "gpu")
  synfire::ccm_lag(series(300), "x", "y", E = 2, Tp = -2:2, device = "gpu")
})
case("smap-map", paste("prepare_libraries make_features lay_out_targets survey_distances",
                       "sum_products solve_rows refine_rows add_columns add_partial add_slopes",
                       "sum_predictions"), function() {
  for (gaps in c(FALSE, TRUE)) for (E in c(1, 4, 9)) {
    fresh_memory()
    synfire::smap_map(random_map(150, 6, gaps), E = E, device = "gpu")
  }
  x <- random_map(120, 4)
  x[] <- round(x)
  synfire::smap_map(x, E = 2, theta = 8, device = "gpu")
})
case("forecasts", paste("find_forecast_rows lay_out_forecasts survey_distances",
                        "sum_products solve_forecasts compare_forecasts"), function() {
  lagged <- function(n) rbind(sample(6L, n, TRUE), sample(0:2, n, TRUE))
  for (gaps in c(FALSE, TRUE)) for (dims in c(3L, 9L, 17L, 24L)) {
    fresh_memory()
    m <- 40L
    jobs <- list(effect = c(1L, 6L), theta = c(2, 0), coordinate_start = c(0, dims, 2 * dims),
                 coordinate = lagged(2L * dims), candidate_start = c(0, m, m),
                 candidate = lagged(m))
    synfire:::conditional_forecasts(random_map(150, 6, gaps), jobs, exclusion = 1, reach = 2,
                                    list(gpus = 0L, threads = 1L))
  }
})

# ---- assemblies ----

case("synapses", "count_lags scan_pairs", function() {
  find <- function(x, ...) {
    fresh_memory()
    synfire::find_synapses(x, ..., device = "gpu", threads = 2)
  }
  # So many units that pairs are scanned there, and one that follows another, so that windows
  # are masked.
  x <- random_spikes(22000, 150, end = 60)
  first <- x$time[x$unit == levels(x$unit)[[1L]]] + 0.003
  x <- synfire::spike_trains(c(x$time, first), c(as.integer(x$unit), rep(151L, length(first))),
                             start = 0, end = 61, resolution = 1e-4)
  find(x)
  trials <- data.frame(start = c(0, 30), end = c(29, 60))
  find(random_spikes(4000, 6, end = 60, trials = trials), max_lag = 0.02, gpus = c(1, 1))
})
case("assemblies", "find_peaks draw_shifts gather_peaks", function() {
  find <- function(x, ...) {
    fresh_memory()
    synfire::find_assemblies(x, n_surrogates = 19, ..., device = "gpu", threads = 2)
  }
  find(random_spikes(3000, 12), max_lag = 0.05)
  # Lags that go around segments more than once, and trials.
  find(random_spikes(600, 5, end = 4), max_lag = 0.5, segment = 1)
  trials <- data.frame(start = c(0, 4), end = c(3, 9))
  find(random_spikes(2000, 10, trials = trials), max_lag = 0.1, gpus = c(1, 1))
})

# ---- patterns ----

found <- paste("set_pattern_bits count_pattern_items list_pattern_items fill_pattern_rows",
               "search_patterns name_segments place_streams count_found sort_found")
case("patterns", found, function() {
  mine <- \(...) synfire::mine_patterns(..., device = "gpu")
  mine(random_spikes(500, 6), 0.005, 5, 2, 4)
  # Long lists of windows, windows of more than 32 bins, and more units than a word has bits.
  mine(random_spikes(2400, 4, end = 6), 0.005, 4, 2, 60)
  mine(random_spikes(400, 4), 0.002, 50, 3, 5)
  mine(random_spikes(1500, 80), 0.005, 10, 2, 3, max_memory = 1e8)
})
case("itemsets", "search_patterns", function() {
  sets <- lapply(1:60, \(k) sample(40, 5))
  sets[1:4] <- list(1:40)
  for (target in c("closed", "maximal")) {
    synfire::frequent_itemsets(sets, 3, target = target, min_size = 2, device = "gpu")
  }
  synfire::frequent_itemsets(sets[-(1:4)], 3, target = "frequent", device = "gpu")
})

case("device", "fill", function() synfire::synfire_sitrep(test_devices = TRUE))

# ---- what is run ----

kernels_there <- function() {
  files <- list.files("src/gpu", "[.]cuh?$", full.names = TRUE, recursive = TRUE)
  text <- unlist(lapply(files, function(file) {
    lines <- readLines(file)
    # The bounds may have brackets within brackets.
    gsub("__launch_bounds__ *([(](?:[^()]++|(?1))*[)])", " ", paste(lines, collapse = " "),
         perl = TRUE)
  }))
  found <- regmatches(text, gregexpr("__global__ void +[a-z_0-9]+", text))
  unique(sub(".* ", "", unlist(found)))
}

#' Prints what is wrong, and ends with a status that says whether something is
conclude <- function(complaints, all_well) {
  cat(complaints, all_well, sep = "\n")
  quit(status = if (length(complaints) > 0L) 1L else 0L)
}

check_kernels <- function() {
  there <- kernels_there()
  named <- unique(unlist(lapply(cases, `[[`, "kernels")))
  conclude(c(sprintf("no case is for the kernel %s", setdiff(there, named)),
             sprintf("there is no kernel %s", setdiff(named, there))),
           sprintf("%d kernels, %d cases", length(there), length(cases)))
}

#' @param file Lines "CASE KERNEL", with the kernels' names as the compiler writes them: each
#'   part of a name comes after its length, and after the last comes E, or I for a template.
#' @param ran Names of the cases that were run.
check_launches <- function(file, ran) {
  lines <- strsplit(unique(readLines(file)), " ", fixed = TRUE)
  by <- vapply(lines, `[[`, "", 1L)
  written <- vapply(lines, `[[`, "", 2L)
  launched <- function(kernel, names) {
    any(grepl(sprintf("%d%s[EI]", nchar(kernel), kernel), names))
  }
  missed <- lapply(ran, \(name) {
    kernels <- cases[[name]]$kernels
    here <- vapply(kernels, launched, NA, names = written[by == name])
    sprintf("the case %s did not launch %s", name, kernels[!here])
  })
  there <- kernels_there()
  seen <- vapply(there, launched, NA, names = written)
  never <- if (setequal(ran, names(cases))) there[!seen]
  conclude(c(unlist(missed), sprintf("no case launched the kernel %s", never)),
           sprintf("%d of %d kernels were launched by %d cases", sum(seen), length(there),
                   length(ran)))
}

run_case <- function(name) {
  set.seed(1)
  fresh_memory()
  Sys.setenv(CASE = name)
  started <- proc.time()[["elapsed"]]
  failed <- FALSE
  tryCatch(suppressMessages(cases[[name]]$run()), error = function(e) {
    failed <<- TRUE
    cat(name, "failed:", conditionMessage(e), "\n")
  })
  cat(sprintf("%-24s %6.1f s\n", name, proc.time()[["elapsed"]] - started))
  failed
}

#' The cases named, or all
chosen <- function(names_given) {
  unknown <- setdiff(names_given, names(cases))
  if (length(unknown) > 0L) stop("no such case: ", toString(unknown))
  if (length(names_given) > 0L) names_given else names(cases)
}

asked <- commandArgs(TRUE)
if (identical(asked, "--kernels")) check_kernels()
if (identical(asked[1L], "--launched")) check_launches(asked[[2L]], chosen(asked[-(1:2)]))
if (nrow(synfire::synfire_sitrep(test_devices = FALSE)$devices) == 0L) stop("There is no GPU.")
part <- grep("^[0-9]+/[0-9]+$", asked, value = TRUE)
wanted <- chosen(setdiff(asked, part))
if (length(part) > 0L) {
  dealt <- as.numeric(strsplit(part, "/", fixed = TRUE)[[1L]])
  wanted <- wanted[seq_along(wanted) %% dealt[[2L]] == dealt[[1L]] %% dealt[[2L]]]
}
failed <- vapply(wanted, run_case, NA)
quit(status = if (any(failed)) 1L else 0L)
