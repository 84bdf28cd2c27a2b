# Peaks of a recording and of its surrogates from `from` on, see r_assembly_peaks(). `...` are
# other options of it.
assembly_peaks <- function(x, n, max_lag, segment, gpus = NULL, ..., seed = 1) {
  force(x)
  set.seed(seed)
  options <- utils::modifyList(
    c(assembly_ladder(x, max_lag, segment),
      list(least = 2560, from = 0, n = n, tables = TRUE, key = random_key(), threads = 2,
           max_memory = 4e9)),
    list(...))
  finish_status(.Call(r_assembly_peaks, trains_of(x), c(options, list(gpus = gpus))),
                "finding peaks")
}
