# Assemblies: any recording and any arguments; on several threads and twice the same, and the
# table agrees with the recording.

# Few units and short, as surrogates are made.
draw_for_assemblies <- function() {
  if (sometimes(0.5)) return(draw_recording(60, 6))
  simulate_assemblies(duration = 20, units = whole(3, 14),
                      assemblies = one_of("synchrony", "sequence", "rate_synchrony"),
                      size = 3, count = one_of(whole(5, 20), 50),
                      nuisances = one_of(list(NULL, "all")))
}

# Events that responses may be locked to: few or many, of one kind or of several.
draw_events <- function(x) {
  if (sometimes(0.3)) return("trials")
  ends <- c(attr(x, "start"), attr(x, "end"))
  time <- stats::runif(whole(1, 60), ends[[1L]], ends[[2L]])
  if (sometimes(0.5)) return(time)
  data.frame(time = time, condition = sample(c("a", "b", NA), length(time), TRUE))
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
  relations <- as.data.frame(found, what = "relations")
  if (any(relations$shared < 1L) || anyDuplicated(relations[c("assembly", "other")])) {
    finding("a relation without shared members, or one twice")
  }
  same(nrow(as.data.frame(found, what = "members")), sum(found$size), "rows of members")
  activations <- as.data.frame(found, what = "activations")
  same(nrow(activations), sum(found$count), "rows of activations")
  if (any(abs(log2(activations$speed)) > 1, na.rm = TRUE)) finding("a speed not looked for")
  if (any(abs(activations$order) > 1, na.rm = TRUE)) finding("an order that is no correlation")
}

# In the recording itself activations are those of the table, unless events were known there; in
# others whatever there are.
check_elsewhere <- function(x, found) {
  here <- attempt("assembly_activations", list(x, found, n_surrogates = 5))
  if (!refused(here) && is.null(attr(found, "locked_to"))) {
    same(here$times, found$times, "activations in the recording itself")
    same(here$spikes, found$spikes, "spikes of these activations")
  }
  other <- if (sometimes(0.5)) draw_for_assemblies() else x[unit = levels(x$unit)]
  there <- attempt("assembly_activations", c(list(other, found), some_args(
    n_surrogates = mostly(whole(1, 12)), max_memory = one_of(1e7, 4e9))))
  if (refused(there)) return()
  same(there$count, lengths(there$times), "number of activations elsewhere")
  if (any(there$p <= 0 | there$p > 1)) finding("a p value that is none")
  attempt("print", list(there, n = mostly(whole(0, 5))))
  attempt("summary", list(there, n = mostly(whole(0, 5))))
  check_views(there)
}

# What is made of the table: activations as a recording and as rates, a network, pictures.
check_views <- function(found) {
  total <- sum(found$count)
  trains <- attempt("as_spike_trains", list(found))
  if (!refused(trains)) same(nrow(trains), total, "activations as spikes")
  bin <- attr(attr(found, "recording"), "resolution") * whole(1, 1e6)
  rate <- attempt("activation_rate", c(list(found, bin), some_args(
    gap = mostly(whole(0, 3)), max_memory = one_of(1e5, 4e9))))
  if (!refused(rate)) {
    counted <- sum(rate, na.rm = TRUE) * attr(rate, "bin_size") + attr(rate, "left_out")
    same(round(counted), total, "activations in bins and in none")
    same(dim(as.data.frame(rate)), c(sum(!is.na(attr(rate, "time"))),
                                     ncol(rate) + 1L + !is.null(attr(rate, "trial"))),
         "table of rates")
    attempt("print", list(rate))
  }
  if (requireNamespace("igraph", quietly = TRUE)) {
    graph <- attempt("as.igraph", list(found))
    if (!refused(graph)) {
      same(as.integer(igraph::ecount(graph)), sum(found$size - 1L), "steps of the network")
    }
  }
  if (sometimes(0.6)) draw_views(found)
}

draw_views <- function(found) {
  trials <- attr(attr(found, "recording"), "trials")
  epochs <- data.frame(start = c(0, 1), end = c(1, 3), kind = c("a", "b"))
  type <- one_of("aligned", "raster", "lags", "time", "condition", "participation",
                 "stability", "network")
  # What a type does not have is given now and then, and must be refused by name.
  given <- function(arg, of, ...) if (type == of || sometimes(0.05)) some_args(...)
  plot <- attempt("autoplot", c(
    list(found, type = type), some_args(assemblies = mostly(one_of(1, 1:2))),
    given("from", "raster", from = mostly(1)), given("to", "raster", to = mostly(3)),
    given("by", "condition", by = mostly(if (is.null(trials)) epochs else one_of(
      names(trials)[[1L]], "start", epochs))),
    given("layout", "network", layout = mostly(one_of(list(igraph::layout_in_circle))))
  ))
  if (!refused(plot)) attempt("ggplot_build", list(plot))
}

fuzz_subject("assemblies",
  covers = list(
    find_assemblies = c("x", "max_lag", "alpha", "n_surrogates", "segment", "locked_to",
                        "resamples", "device", "gpus", "threads", "max_memory"),
    print.assemblies = "n", summary.assemblies = "n", as.data.frame.assemblies = "what",
    autoplot.assemblies = c("type", "assemblies", "from", "to", "by", "layout"),
    activation_rate = c("x", "bin_size", "gap", "max_memory"), as_spike_trains.assemblies = "x",
    as.igraph.assemblies = "x", glance.assemblies = "x",
    assembly_activations = c("x", "assemblies", "n_surrogates", "max_memory"),
    print.assembly_activations = "n", summary.assembly_activations = "n",
    glance.assembly_activations = "x"
  ),
  run = function(world) {
    x <- draw_for_assemblies()
    alpha <- one_of(0.05, 0.5, 0.2)
    args <- c(list(x), some_args(
      max_lag = mostly(one_of(0.01, 0.05, 0.3, 2)), segment = mostly(one_of(5, 0.7, 100)),
      max_memory = one_of(1e7, 4e9), n_surrogates = mostly(whole(19, 30)),
      locked_to = mostly(draw_events(x)), resamples = mostly(one_of(0, 1, 5, 12))
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
    device <- one_of("gpu", "auto")
    gpus <- draw_gpus(world)
    set.seed(seed)
    there <- attempt("find_assemblies", c(args, list(device = device, gpus = gpus,
                                                     threads = threads)))
    if (device == "gpu" && !world$gpu && !inherits(there, "synfire_error_device")) {
      finding("find_assemblies() with device = \"gpu\" goes on without a GPU")
    }
    if (!refused(there)) same(as.data.frame(there), as.data.frame(one), "devices")
    attempt("print", list(one, n = mostly(whole(0, 5))))
    attempt("summary", list(one, n = whole(0, 5)))
    if (sometimes(0.3)) one <- attempt("[", list(one, sample.int(nrow(one)), TRUE))
    check_views(one)
    check_elsewhere(x, one)
  }
)
