# What can be computed on a GPU gives there what the CPU gives, to the last digit; and where
# there is none, it is refused with an error that says so.

draw_gpus <- function(world) {
  if (world$gpus == 0) return(NULL)
  one_of(NULL, 1, c(1, 1), rep(world$gpus, 2), seq_len(world$gpus))
}

# Calls on the CPU and on a GPU from the same random numbers.
on_both <- function(name, args, world, what, ...) {
  seed <- whole(1, 1e6)
  of <- function(...) {
    all <- c(args, list(...))
    set.seed(seed)
    attempt(name, all)
  }
  gpu <- of(device = "gpu", gpus = draw_gpus(world), ...)
  if (!world$gpu) {
    if (!inherits(gpu, c("synfire_error_device", "synfire_error_argument"))) {
      finding(sprintf("%s() with device = \"gpu\" goes on without a GPU", name))
    }
    return(gpu)
  }
  cpu <- of(device = "cpu")
  # A budget that the CPU keeps to may be too small for a GPU, and the other way round.
  either <- inherits(cpu, "synfire_error_budget") || inherits(gpu, "synfire_error_budget")
  if (!either) same(gpu, cpu, what)
  gpu
}

draw_delays <- function(tick) {
  bounds <- lapply(seq_len(whole(1, 3)), function(k) {
    low <- one_of(0, whole(0, 60))
    c(low, low + whole(1, one_of(10, 100))) * tick
  })
  do.call(rbind, unique(bounds))
}

fuzz_subject("gpu", limit = 90, covers = list(
  mine_episodes = c("x", "min_count", "intervals", "max_size", "target", "engine", "device",
                    "gpus", "max_memory"),
  count_episodes = c("x", "episodes", "device", "engine", "gpus"),
  episode_significance = c("episodes", "n_surrogates", "surrogate", "dither", "device",
                           "gpus", "max_memory"),
  pvalue_spectrum = c("x", "bin_size", "window_bins", "min_spikes", "min_count", "max_spikes",
                      "max_count", "min_units", "n_surrogates", "surrogate", "dither",
                      "spectrum", "device", "gpus"),
  spade = c("x", "bin_size", "window_bins", "min_spikes", "min_count", "max_spikes",
            "n_surrogates", "dither", "device", "gpus"),
  mine_patterns = c("x", "bin_size", "window_bins", "min_spikes", "min_count", "max_spikes",
                    "max_count", "min_units", "closed_within", "shifted_subsets", "device",
                    "gpus", "threads", "max_memory"),
  frequent_itemsets = c("transactions", "min_count", "target", "min_size", "max_size",
                        "device", "gpus", "threads", "max_memory"),
  calibrate_gpu = c("x", "sizes", "episodes", "repeats", "gpu", "save"),
  episode_stream = c("intervals", "min_count", "window", "resolution"),
  update.episode_stream = c("new_spikes", "now")
), run = function(world) {
  what <- one_of("mine", "count", "significance", "maxima", "spade", "calibrate", "patterns",
                 "itemsets", "stream")
  patterns <- what %in% c("maxima", "spade", "patterns")
  x <- draw_recording(one_of(300, 40, if (patterns) 600 else 3000), one_of(6, 3, 40, 300))
  switch(what, mine = fuzz_mining_there(x, world), count = fuzz_counting_there(x, world),
         significance = fuzz_null_there(x, world), maxima = fuzz_maxima_there(x, world),
         spade = fuzz_spade_there(x, world), calibrate = fuzz_calibration(x, world),
         patterns = fuzz_patterns_there(x, world), itemsets = fuzz_itemsets_there(world),
         stream = fuzz_stream_there(x, world))
})

# Each update on a GPU is the one of the CPU.
fuzz_stream_there <- function(x, world) {
  ticks <- round(x$time / tick_of(x))
  span <- max(ticks, 10) - min(ticks, 0)
  window <- max(1, round(span / whole(1, 12)))
  args <- c(list(draw_delays(tick_of(x)), draw_min_count(x), window * tick_of(x),
                 resolution = tick_of(x), max_size = whole(1, 4),
                 max_memory = one_of(4e9, 1e9, 3e7, 3e6)),
            some_args(target = one_of("closed", "maximal"), distinct_units = TRUE,
                      top = whole(1, 9), p = 0.3))
  there <- attempt("episode_stream", c(args, list(device = "gpu", gpus = draw_gpus(world))))
  if (!world$gpu && !inherits(there, c("synfire_error_device", "synfire_error_argument"))) {
    return(finding("a stream with device = \"gpu\" goes on without a GPU"))
  }
  here <- attempt("episode_stream", args)
  if (!world$gpu || refused(there) || refused(here)) return()
  there$always <- here$always <- sometimes(0.7)
  before <- -Inf
  for (end in sort(unique(c(sample(ticks, min(length(ticks), whole(1, 20))), max(ticks, 1))))) {
    part <- ticks > before & ticks <= end
    block <- data.frame(time = x$time[part], unit = as.character(x$unit[part]))
    call <- list(new_spikes = block, now = end * tick_of(x))
    before <- end
    here <- attempt("update", c(list(here), call))
    there <- attempt("update", c(list(there), call))
    either <- inherits(here, "synfire_error_budget") || inherits(there, "synfire_error_budget")
    if (either || refused(here)) return()
    if (refused(there)) return(finding(paste("an update was refused:", conditionMessage(there))))
    same(as.data.frame(there), as.data.frame(here), "a stream on a GPU and the CPU")
  }
}

# What is saved goes to a folder of this case.
fuzz_calibration <- function(x, world) {
  before <- Sys.getenv("R_USER_CACHE_DIR", NA)
  Sys.setenv(R_USER_CACHE_DIR = world$folder)
  on.exit(if (is.na(before)) Sys.unsetenv("R_USER_CACHE_DIR") else
    Sys.setenv(R_USER_CACHE_DIR = before))
  sizes <- sort(sample(2:9, whole(1, 3)))
  made <- attempt("calibrate_gpu", list(
    one_of(list(x, NULL)), sizes, c(1, whole(2, 3000)), repeats = whole(1, 3),
    gpu = max(1, whole(1, world$gpus)), save = sometimes(0.5)))
  if (refused(made)) {
    if (world$gpu && nrow(x) > 0 && !inherits(made, "synfire_error_argument")) {
      finding(paste("a GPU is not calibrated:", conditionMessage(made)))
    }
  } else if (!world$gpu || nrow(made) != 2 * length(sizes) || anyNA(made$ptpe)) {
    finding("a calibration without a GPU, or with missing times")
  } else if (anyNA(attr(made, "fit"))) {
    finding("a calibration without a rule")
  }
}

# So frequent that a few sizes are left; and of many spikes not all, which take too long on
# the CPU.
draw_min_count <- function(x) {
  most <- max(1, tabulate(x$unit, max(1, nlevels(x$unit))))
  max(if (nrow(x) > 100) 3 else 1, ceiling(most / whole(2, 6)))
}

fuzz_mining_there <- function(x, world) {
  args <- c(list(x, draw_min_count(x), draw_delays(tick_of(x)), max_size = whole(1, 4),
                 max_memory = one_of(5e7, 3e7, 1e7, 3e6, 1e6)),
            some_args(target = one_of("closed", "maximal"), p = 0.3))
  found <- on_both("mine_episodes", args, world, "episodes on a GPU and the CPU")
  if (!world$gpu || refused(found) || nrow(found) > 3000) return()
  # The engines that were published, by their variants.
  engine <- one_of("ptpe", "mtpe", "hybrid", "two-pass", "occurrence")
  variant <- if (engine == "occurrence") {
    some_args(compaction = one_of("count-once", "one-counter", "atomic-compact", "cudpp-compact",
                                  "count-scan-write"), dedup = FALSE)
  } else if (engine != "ptpe") {
    some_args(merge = one_of("published", "exact"))
  }
  args$max_memory <- 1e9
  there <- attempt("mine_episodes", c(args, list(engine = c(list(engine), variant), device = "gpu")))
  # Without `dedup` there may be more partial occurrences than there is room for.
  if (!inherits(there, "synfire_error_too_large")) {
    same(if (refused(there)) there else as.data.frame(there), as.data.frame(found),
         paste("episodes by", engine, "and by the window engine"))
  }
}

fuzz_counting_there <- function(x, world) {
  found <- attempt("mine_episodes", list(x, draw_min_count(x), draw_delays(tick_of(x)),
                                         max_size = whole(1, 4), max_memory = 1e8))
  if (refused(found) || nrow(found) == 0) return()
  some <- found[sort(sample.int(nrow(found), min(nrow(found), 200))), ]
  seed <- whole(1, 1e6)
  engine <- one_of("auto", "ptpe", "mtpe", "hybrid", "occurrence")
  there <- attempt("count_episodes", list(x, some, device = "gpu", engine = engine,
                                          gpus = draw_gpus(world)))
  if (world$gpu) same(there$count, some$count, "counts on a GPU and those that were mined")
  else if (!refused(there)) finding("count_episodes() goes on without a GPU")
}

fuzz_null_there <- function(x, world) {
  tick <- tick_of(x)
  found <- attempt("mine_episodes", list(x, draw_min_count(x), draw_delays(tick),
                                         max_size = whole(1, 4), max_memory = 1e8))
  if (refused(found)) return()
  on_both("episode_significance", c(
    list(utils::head(found, whole(1, 150)), n_surrogates = whole(1, 20)),
    draw_surrogate(tick)
  ), world, "significance on a GPU and the CPU")
}

draw_surrogate <- function(tick) {
  list(surrogate = one_of("dither", "dither_refractory", "train_shift", "joint_isi",
                          "isi_dither", "isi_shuffle", "randomise", "bin_shuffle",
                          "window_shuffle", "trial_shift"),
       dither = tick * whole(2, 40))
}

# Small sets, so that the CPU is not at it for hours.
draw_filters <- function(x) {
  list(bin_size = tick_of(x) * whole(1, 6), window_bins = one_of(whole(1, 8), whole(1, 70)),
       min_spikes = whole(2, 3), min_count = max(2, ceiling(nrow(x) / whole(30, 80))),
       max_spikes = whole(3, 4))
}

fuzz_maxima_there <- function(x, world) {
  on_both("pvalue_spectrum", c(
    list(x), draw_filters(x), list(n_surrogates = whole(1, 12)), draw_surrogate(tick_of(x)),
    some_args(max_count = whole(8, 40), min_units = whole(1, 2), spectrum = "3d#", p = 0.3)
  ), world, "maxima on a GPU and the CPU")
}

fuzz_spade_there <- function(x, world) {
  on_both("spade", c(list(x), draw_filters(x), list(
    n_surrogates = whole(0, 12), dither = tick_of(x) * whole(2, 30)
  )), world, "SPADE on a GPU and the CPU")
}

# Items and counts, in their order; what a search held or took may differ.
draw_miner <- function() {
  list(threads = one_of(1, 2, 16), max_memory = one_of(1e9, 1e9, 3e7, 5e6))
}

fuzz_patterns_there <- function(x, world) {
  on_both("mine_patterns", c(
    list(x), draw_filters(x), draw_miner(),
    some_args(max_count = whole(8, 40), min_units = whole(1, 2), closed_within = "max_spikes",
              shifted_subsets = "drop", p = 0.3)
  ), world, "patterns on a GPU and the CPU")
}

fuzz_itemsets_there <- function(world) {
  items <- whole(1, one_of(9, 40, 200))
  sets <- lapply(seq_len(whole(1, 200)), function(k) {
    sample.int(items, min(items, 1 + stats::rpois(1, one_of(2, 3, 5))))
  })
  if (sometimes(0.3)) sets <- c(sets, rep(list(seq_len(items)), whole(1, 3)))
  args <- c(list(sets, max(3, ceiling(length(sets) / whole(5, 30)))), draw_miner(),
            some_args(min_size = whole(1, 3), p = 0.4))
  target <- one_of("closed", "maximal", "frequent")
  # All subsets of what comes together often may be very many.
  if (target == "frequent" || sometimes(0.3)) args$max_size <- whole(3, 5)
  on_both("frequent_itemsets", c(args, list(target = target)), world,
          "itemsets on a GPU and the CPU")
}
