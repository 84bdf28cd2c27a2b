# Oracles of the maxima of surrogates.

# What surrogate_maxima() gives, from all patterns of each of `made` (recordings). `bin` in
# seconds.
oracle_maxima <- function(made, bin, window, filters, by_duration = FALSE) {
  filters$shifted_subsets <- "keep"
  found <- lapply(made, function(x) {
    p <- do.call(mine_patterns, c(list(x, bin, window), filters, list(threads = 1)))
    size <- rep(p$runs$size, p$runs$n)
    lag <- p$items %/% length(attr(p, "units"))
    last <- tapply(lag, rep(seq_along(size), size), max)
    list(size = size, duration = as.integer(last), occ = p$count)
  })
  sizes <- max(0, unlist(lapply(found, `[[`, "size")) - filters$min_spikes + 1)
  out <- array(0L, c(length(made), sizes, if (by_duration) window))
  for (k in seq_along(found)) {
    for (z in seq_len(sizes)) {
      large <- found[[k]]$size >= filters$min_spikes + z - 1
      most <- \(which) max(0L, found[[k]]$occ[which])
      if (by_duration) {
        out[k, z, ] <- vapply(seq_len(window) - 1,
                              \(d) most(large & found[[k]]$duration == d), 0L)
      } else {
        out[k, z] <- most(large)
      }
    }
  }
  out
}

# A search for patterns as surrogate_maxima() takes it; `bin` in ticks.
search_of <- function(x, bin, window, filters) {
  list(x = x, trains = trains_of(x), bin = bin, window = window, filters = filters)
}

# Surrogates of a recording, and their maxima, from the same random numbers. `bin` in
# milliseconds, and ticks.
maxima_both <- function(x, bin, window, filters, n, by_duration = FALSE, ..., seed = 1,
                        method = "dither", dither = 0.002) {
  set.seed(seed)
  made <- own_surrogates(x, n, method, dither = dither, bin_size = bin / 1000)
  set.seed(seed)
  options <- surrogate_options(x, method, dither = dither, bin_size = bin / 1000)
  list(
    expected = oracle_maxima(made, bin / 1000, window, filters, by_duration),
    maxima = surrogate_maxima(search_of(x, bin, window, filters), options, n, by_duration,
                              ...)$maxima
  )
}
