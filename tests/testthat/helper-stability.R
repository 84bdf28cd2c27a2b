# Oracle for pattern_stability(): all subsets, one after the other. `windows`: list of the
# items of each window; `items`: those of the pattern; `all`: those that there can be.
oracle_stability <- function(windows, items, all) {
  held <- which(vapply(windows, \(w) all(items %in% w), NA))
  subsets <- function(x) {
    lapply(seq_len(2^length(x)) - 1, \(s) x[s %/% 2^(seq_along(x) - 1) %% 2 == 1])
  }
  extent <- \(some) which(vapply(windows, \(w) all(some %in% w), NA))
  intent <- \(some) sort(Reduce(intersect, windows[some], all))
  c(intensional = mean(vapply(subsets(items), \(s) identical(extent(s), held), NA)),
    extensional = mean(vapply(subsets(held), \(s) identical(intent(s), sort(items)), NA)))
}
