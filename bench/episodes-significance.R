# Tested episodes: 1,000 surrogates of Sym26 on one core, on all, and on GPUs.
#
# Rscript bench/episodes-significance.R    wall seconds of the whole call, medians of three

library(synfire)

#' Median seconds of three runs, the first of which also warms up
measure <- function(run) {
  run()
  median(replicate(3, system.time(run())[["elapsed"]]))
}

set.seed(1)
sym26 <- simulate_sym26()
delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
devices <- synfire_sitrep()$devices
rows <- list()
for (min_count in c(300, 254)) {
  found <- mine_episodes(sym26, min_count, delays)
  test <- function(...) {
    set.seed(2)
    episode_significance(found, sym26, 1000, ...)
  }
  one <- measure(\() test(threads = 1))
  all <- measure(\() test())
  gpu <- if (NROW(devices) > 0) measure(\() test(device = "gpu")) else NA
  if (!is.na(gpu)) {
    columns <- c("mean", "sd", "p", "p_adjusted")
    stopifnot(isTRUE(all.equal(as.data.frame(test())[columns],
                               as.data.frame(test(device = "gpu"))[columns])))
  }
  rows[[length(rows) + 1L]] <- data.frame(
    min_count, episodes = nrow(found), one_thread = one,
    threads = attr(test(), "threads"), all_threads = all, gpu
  )
}
print(do.call(rbind, rows), row.names = FALSE, digits = 3)
