# Assemblies: any recording and any arguments; on several threads and twice the same, and the
# table agrees with the recording.

# Few units and short, as surrogates are made.
draw_for_assemblies <- function() {
  if (sometimes(0.5)) return(draw_recording(60, 6))
  simulate_assemblies(duration = 20, units = whole(3, 8),
                      assemblies = one_of("synchrony", "sequence", "rate_synchrony"),
                      size = 3, count = whole(5, 20), nuisances = one_of(list(NULL, "all")))
}

check_assemblies <- function(x, found) {
  if (anyDuplicated(unlist(lapply(found$units, sort))) && nrow(found) == 1L) {
    finding("a unit is twice in an assembly")
  }
  for (row in seq_len(nrow(found))) {
    if (found$size[[row]] < 3L) finding("an assembly of fewer than three units")
    same(found$count[[row]], length(found$times[[row]]), "number of activations")
    same(found$count[[row]], found$first_half[[row]] + found$second_half[[row]], "halves")
    if (found$lags[[row]][[1L]] != 0 || is.unsorted(found$lags[[row]])) finding("order of lags")
    far <- any(diff(found$times[[row]]) < max(found$widths[[row]]) * (1 - 1e-6))
    if (far) finding("activations nearer than the widest window")
  }
  same(nrow(as.data.frame(found, what = "members")), sum(found$size), "rows of members")
  same(nrow(as.data.frame(found, what = "activations")), sum(found$count), "rows of activations")
}

fuzz_subject("assemblies",
  covers = list(
    find_assemblies = c("x", "max_lag", "alpha", "n_surrogates", "segment", "device",
                        "gpus", "threads", "max_memory"),
    print.assemblies = "n", summary.assemblies = "n", as.data.frame.assemblies = "what",
    autoplot.assemblies = c("type", "assemblies", "from", "to")
  ),
  run = function(world) {
    x <- draw_for_assemblies()
    alpha <- one_of(0.05, 0.5, 0.2)
    args <- c(list(x), some_args(
      max_lag = mostly(one_of(0.01, 0.05, 0.3, 2)), segment = mostly(one_of(5, 0.7, 100)),
      max_memory = one_of(1e7, 4e9), n_surrogates = mostly(whole(19, 30))
    ), list(alpha = alpha))
    if (is.null(args$n_surrogates)) args$n_surrogates <- 19
    seed <- whole(1, 1e6)
    threads <- whole(2, 4)
    set.seed(seed)
    one <- attempt("find_assemblies", c(args, list(threads = 1)))
    if (refused(one)) return()
    check_assemblies(x, one)
    set.seed(seed)
    more <- attempt("find_assemblies", c(args, list(threads = threads)))
    if (!refused(more)) same(as.data.frame(more), as.data.frame(one), "threads")
    set.seed(seed)
    there <- attempt("find_assemblies", c(args, list(
      device = "gpu", gpus = draw_gpus(world), threads = threads)))
    if (!world$gpu && !inherits(there, "synfire_error_device")) {
      finding("find_assemblies() with device = \"gpu\" goes on without a GPU")
    }
    if (!refused(there)) same(as.data.frame(there), as.data.frame(one), "devices")
    attempt("print", list(one, n = mostly(whole(0, 5))))
    attempt("summary", list(one, n = whole(0, 5)))
    if (sometimes(0.1)) {
      attempt("autoplot", c(list(one), some_args(type = one_of("aligned", "raster", "time"),
                                                 assemblies = mostly(1), from = 1, to = 3)))
    }
  }
)
