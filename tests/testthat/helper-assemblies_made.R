# An assemblies table of what was planted, without a search: as new_assemblies() makes it.
made_assemblies <- function(x, truth = attr(x, "truth"), expected = 2) {
  ladder <- assembly_ladder(x, 1, NULL)
  resolution <- attr(x, "resolution")
  second <- ladder$bin * resolution
  of <- split(x$time, x$unit)
  groups <- lapply(seq_len(nrow(truth$assemblies)), \(k) {
    lag <- truth$assemblies$lags[[k]] / second
    units <- truth$assemblies$units[[k]][order(lag)]
    lag <- round(sort(lag))
    width <- rep(2 * round(truth$assemblies$width[[k]] / second / 2) + 1, length(lag))
    half <- width[[1L]] / 2 * second
    start <- truth$activations$time[truth$activations$assembly == k] + lag[[1L]] * second
    middle <- sort(start) + truth$assemblies$width[[k]] / 2
    spikes <- vapply(seq_along(units), \(m) {
      at <- middle + (lag[[m]] - lag[[1L]]) * second
      findInterval(at + half, of[[units[[m]]]]) - findInterval(at - half, of[[units[[m]]]])
    }, integer(length(middle)))
    list(unit = match(units, levels(x$unit)), lag = lag - lag[[1L]], width = width,
         tick = round(middle / resolution), spikes = matrix(spikes, length(middle)),
         expected = expected, score = 10)
  })
  window <- c(1, 3, 5, 9, 17, 33, 65, 129, 257) * second
  new_assemblies(list(groups = groups, score = rep(0, 19)), x, ladder, list(
    recording = x, max_lag = 1, alpha = 0.05, n_surrogates = 19, resamples = 0, segment = 10,
    window = window, maxima = matrix(0, length(window), 19), threads = 1, elapsed = 0, seed = NULL, call = NULL
  ))
}
