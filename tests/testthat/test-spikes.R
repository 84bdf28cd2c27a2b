# What every entry in C does with lists of spikes that were made by hand.

# Two trials of 20 ticks, and a spike between them.
spikes_by_hand <- function() {
  list(tick = c(1, 3, 3, 7, 20, 31, 33, 37), unit = c(1L, 1L, 2L, 2L, 1L, 1L, 2L, 2L),
       trial = c(1L, 1L, 1L, 1L, NA, 2L, 2L, 2L), units = 2L, start = c(0, 30),
       stop = c(19, 49))
}

# All entries that read spikes, with sound arguments otherwise.
readers_of_spikes <- function() {
  x <- spike_trains(1:20 / 1000, rep(c("A", "B"), 10), resolution = 1e-3)
  made <- surrogate_options(x, "randomise")
  bounds <- list(low = 0, high = 5)
  named <- spelling(c("A", "B"), cbind(low = 0, high = 0.005))
  filters <- list(min_spikes = 1, max_spikes = Inf, min_units = 1, min_count = 1, max_count = Inf,
                  closed_within = "all")
  patterns <- pattern_options(3, filters, "closure", 1, 1e8)
  pair <- list(list(1:2), list(0), list(5))
  found <- list(window = 3L, size = 2L, unit = 0:1, lag = 0:1)
  mining <- list(min_count = 1, max_size = 3, engine = 0, threads = 1, max_memory = 1e8,
                 least_flag = 3, top = 2^53, distinct_units = 0L)
  gpu <- list(gpus = 0L, engine = 1, a = 0, b = 0, segments = 0, published = FALSE,
              compaction = 0, dedup = TRUE)
  reducing <- list(method = 0, h = 0, k = 0, l = 0, min_spikes = 2, min_count = 1,
                   max_memory = 1e8)
  judging <- list(intensional = TRUE, extensional = TRUE, subsets = 10, threads = 1,
                  max_memory = 1e8, key = c(1, 2))
  binned <- \(s) c(s, list(bin = 1))
  list(
    mine_episodes = \(s) .Call(r_mine_episodes, s, bounds, named, mining, NULL),
    count_episodes = \(s) .Call(r_count_episodes, s, pair[[1]], pair[[2]], pair[[3]], 1L),
    count_on_gpu = \(s) .Call(r_count_episodes_gpu, s, bounds, matrix(1:2, 1), matrix(1L), gpu,
                              1L),
    occurrences = \(s) .Call(r_episode_occurrences, s, pair[[1]], pair[[2]], pair[[3]], TRUE, 99),
    episode_null = \(s) .Call(r_episode_null, s, made, pair,
                              list(first = 0, n = 2, threads = 1, max_memory = 1e9, gpus = NULL)),
    surrogates = \(s) .Call(r_surrogate_trains, s, made,
                            list(n = 2, threads = 1, max_memory = 1e9)),
    spectrum = \(s) .Call(r_spectrum, s, made, patterns,
                          list(bin = 1, by_duration = FALSE, first = 0, n = 2, gpus = NULL)),
    mine_patterns = \(s) .Call(r_mine_patterns, binned(s), patterns, NULL),
    shares = \(s) .Call(r_pattern_shares, binned(s), 3, 1),
    windows = \(s) .Call(r_pattern_windows, binned(s), found, 99),
    reduction = \(s) .Call(r_reduce_patterns, binned(s), found, integer(), reducing),
    stability = \(s) .Call(r_pattern_stability, binned(s), found, judging)
  )
}

test_that("every entry refuses spikes that are not what all of them rely on", {
  spikes <- spikes_by_hand()
  at <- \(field, where, value) replace(spikes[[field]], where, value)
  wrong <- list(
    "its ticks" = list(tick = at("tick", 2, NaN)), "its ticks" = list(tick = at("tick", 2, 2.5)),
    "its ticks" = list(tick = at("tick", 8, 2^53)), "its ticks" = list(tick = at("tick", 1, -Inf)),
    "its ticks" = list(tick = as.integer(spikes$tick)),
    "its units" = list(unit = at("unit", 1, 0L)), "its units" = list(unit = at("unit", 8, 3L)),
    "its units" = list(unit = at("unit", 5, NA)), "its units" = list(unit = spikes$unit[-1]),
    "its units" = list(unit = as.double(spikes$unit)), "cannot be used" = list(units = 1L),
    "its units" = list(units = NA),
    "its order of spikes" = list(tick = at("tick", 4, 2)),
    "its order of spikes" = list(unit = at("unit", 2:3, 2:1)),
    "its trials" = list(trial = at("trial", 8, 3L)), "its trials" = list(trial = 1:2),
    "its spikes outside of their trials" = list(trial = at("trial", 5, 1L)),
    "its spikes outside of their trials" = list(trial = rev(spikes$trial)),
    "its spikes outside of their trials" = list(tick = at("tick", 1, -1)),
    "its spikes outside of their trials" = list(stop = c(19, 36)),
    "its units that fire twice on a tick" = list(unit = at("unit", 3, 1L)),
    "its starts and stops" = list(stop = c(30, 49)), "its starts and stops" = list(stop = 19),
    "its starts and stops" = list(start = c(30, 0)), "its starts and stops" = list(start = NULL),
    "its starts and stops" = list(start = c(-Inf, 30)),
    "its starts and stops" = list(stop = c(19, 49.5)),
    "its starts and stops" = list(start = c(0, 50), stop = c(19, 49))
  )
  readers <- readers_of_spikes()
  for (entry in names(readers)) {
    call <- readers[[entry]]
    expect_no_error(call(spikes))
    for (k in some_of(seq_along(wrong), match(entry, names(readers)))) {
      changed <- spikes
      changed[names(wrong[[k]])] <- wrong[[k]]
      expect_error(call(changed), names(wrong)[[k]], class = "synfire_error_argument",
                   label = paste(entry, "with wrong", deparse1(wrong[[k]])))
    }
    for (no in list(NULL, 1, spikes[1:5])) {
      expect_error(call(no), "cannot be used", class = "synfire_error_argument", label = entry)
    }
  }
})
