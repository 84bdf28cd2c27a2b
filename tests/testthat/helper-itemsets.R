# Patterns and itemsets made by hand, and where patterns occur by the definition.

# `sets`: a list of named vectors, lags named by units; or, without `window`, of labels.
hand_patterns <- function(sets, count, units = sort(unique(names(unlist(sets)))),
                          window = 10L, bin_size = 0.005, recording = NULL) {
  items <- lapply(sets, \(s) sort(as.integer(s * length(units) + match(names(s), units) - 1)))
  hand_sets(items, count, class = "patterns", about = list(
    units = units, window_bins = window, bin_size = bin_size, recording = recording,
    parameters = list(min_spikes = 1, min_count = 1), engine = "closure", threads = 2,
    elapsed = 1.5, mining_elapsed = 1.25, peak_memory = 2e6
  ))
}

hand_itemsets <- function(sets, count, labels = sort(unique(unlist(sets)))) {
  hand_sets(lapply(sets, \(s) sort(match(s, labels)) - 1L), count, about = list(
    labels = labels, transactions = 20, target = "closed",
    parameters = list(min_count = 2, min_size = 1, max_size = Inf)
  ))
}

hand_sets <- function(items, count, ..., about) {
  runs <- rle(lengths(items))
  new_itemsets(as.integer(unlist(items)),
               list(size = runs$values, n = as.double(runs$lengths)),
               as.integer(count), ..., about = about)
}

five_patterns <- function(...) {
  hand_patterns(list(
    c(A = 0, B = 3), c(B = 0, A = 2), c(A = 0, A = 1, C = 4), c(C = 0, B = 1, A = 5),
    c(A = 0, B = 0, C = 0, A = 7)
  ), c(9, 12, 5, 7, 3), ...)
}

four_itemsets <- function() {
  hand_itemsets(list("tea", c("jam", "bread"), c("tea", "jam"), c("bread", "jam", "tea")),
                c(8, 6, 5, 2))
}

# Opening times of the windows of one pattern, in ticks: each bin of each trial in turn.
oracle_opens <- function(tick, unit, units, lags, width, starts, ends) {
  out <- numeric()
  for (t in seq_along(starts)) {
    inside <- tick >= starts[[t]] & tick <= ends[[t]]
    if (t < length(starts)) inside <- inside & tick < starts[[t + 1L]]
    bin <- floor((tick[inside] - starts[[t]]) / width)
    fired <- paste(bin, unit[inside])
    for (b in sort(unique(bin))) {
      if (all(paste(b + lags, units) %in% fired)) out <- c(out, starts[[t]] + b * width)
    }
  }
  out
}
