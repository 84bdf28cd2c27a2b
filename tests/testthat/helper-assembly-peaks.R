# Peaks of the first `n` surrogates of a recording, and, as list n + 1, of the recording: a row
# each of list, pair, rung, lag (bins) and z. `...` are options of r_assembly_peaks().
assembly_peaks <- function(x, n, max_lag, segment, gpus = NULL, ..., seed = 1) {
  force(x)
  set.seed(seed)
  options <- utils::modifyList(
    c(assembly_ladder(x, max_lag, segment),
      list(least = 2560, from = 0, n = n, table = TRUE, key = random_key(), threads = 2,
           max_memory = 4e9)),
    list(...))
  made <- .Call(r_assembly_peaks, trains_of(x), c(options, list(gpus = gpus)))
  made <- finish_status(made, "finding peaks")
  if (is.null(made$peak)) return(made)
  made$peak <- `colnames<-`(t(made$peak), c("list", "pair", "rung", "lag", "z"))
  made
}
