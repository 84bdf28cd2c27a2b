# What people expect beside the miners: spikes in bins, lags, intervals, bursts, events,
# tiles, and the check of a recording, each against a slow version
# (tests/testthat/helper-basics.R).

slow_basics <- function() {
  if (is.null(fuzz$slow_basics)) {
    env <- new.env(parent = globalenv())
    sys.source(file.path(fuzz$folder, "..", "..", "tests", "testthat", "helper-basics.R"), env)
    fuzz$slow_basics <- env
  }
  fuzz$slow_basics
}

# Few spikes near each other, and arguments in whole ticks.
draw_near <- function() {
  x <- draw_recording(40, 4)
  slow <- slow_basics()$ticks_of_recording(x)
  list(x = x, slow = slow, tick = tick_of(x), length = max(slow$end - slow$start))
}

basics_bins <- function(d) {
  bin <- whole(1, max(1, min(50, d$length)))
  if (d$length / bin > 3000) bin <- ceiling(d$length / 3000)
  gap <- whole(0, 3)
  sigma <- if (sometimes(0.3)) one_of(0.3, 2, 1e3) * bin * d$tick
  args <- c(list(d$x, bin * d$tick), some_args(gap = gap, max_memory = one_of(1e6, 1e9)),
            list(sigma = sigma))
  ours <- attempt("bin_spikes", args)
  if (refused(ours)) {
    if (any((d$slow$end - d$slow$start) %/% bin > 0)) finding("bin_spikes(): refused")
    return()
  }
  slow <- slow_basics()$slow_bins(d$x, bin)
  attempt("print", list(ours, n = whole(0, 9)))
  rows <- which(!is.na(attr(ours, "time")))
  counts <- unname(as.matrix(ours)[rows, , drop = FALSE])
  if (is.null(sigma)) {
    same(counts, slow, "counts in bins")
    sparse <- attempt("bin_spikes", list(d$x, bin * d$tick, sparse = TRUE))
    if (!refused(sparse)) same(unname(as.matrix(sparse)) + 0, slow + 0, "a sparse matrix")
    if (attr(ours, "left_out") != nrow(d$x) - sum(slow)) finding("spikes that were left out")
  } else {
    n <- (d$slow$end - d$slow$start) %/% bin
    trial <- rep(seq_along(n), n)
    smooth <- apply(slow, 2L, function(one) {
      unlist(lapply(split(one, trial), slow_basics()$slow_smooth, sigma / d$tick / bin))
    })
    same(counts, unname(matrix(smooth, nrow(slow))), "smoothed counts", 1e-9)
  }
  if (length(d$slow$start) > 1L && is.null(sigma)) {
    Tp <- whole(-3, 3)
    tau <- one_of(-1, -2, 1)
    map <- attempt("causal_map", list(ours, E = 2, tau = tau, Tp = Tp))
    used <- args$gap %||% 1
    several <- sum((d$slow$end - d$slow$start) %/% bin > 0) > 1L
    if (several && used < max(abs(c(tau, Tp))) && !refused(map)) {
      finding("causal_map() takes trials that are too near each other")
    }
  }
}

basics_lags <- function(d) {
  bin <- whole(1, 30)
  lags <- whole(0, 20)
  args <- list(d$x, bin * d$tick, lags * bin * d$tick)
  ours <- attempt("cross_correlogram", c(args, some_args(threads = whole(1, 4),
                                                         max_memory = one_of(1e6, 1e9))))
  if (refused(ours)) return()
  same(array(as.vector(ours[]), dim(ours)), slow_basics()$slow_correlogram(d$x, bin, lags),
       "lags of all pairs")
  table <- attempt("as.data.frame", list(ours))
  same(sum(table$count), sum(ours[]), "the table of lags")
  some <- some_args(reference = one_of(levels(d$x$unit)), target = one_of(levels(d$x$unit)))
  part <- attempt("as.data.frame", c(list(ours), some))
  chosen <- table$reference %in% (some$reference %||% levels(d$x$unit)) &
    table$target %in% (some$target %||% levels(d$x$unit))
  same(part$count, table$count[chosen], "a part of the table of lags")
  found <- attempt("summary", list(ours))
  u <- nlevels(d$x$unit)
  if (nrow(found) != u * (u - 1) / 2) finding("summary() has not a row for each pair")
  if (sometimes(0.1)) {
    attempt("autoplot", c(list(ours), some_args(
      type = one_of("pairs", "matrix"), reference = levels(d$x$unit)[[1L]],
      target = levels(d$x$unit)[[1L]], y = one_of("count", "rate"))))
  }
}

basics_tiles <- function(d) {
  reach <- whole(0, 40)
  ours <- attempt("sttc", c(list(d$x, reach * d$tick),
                            some_args(threads = whole(1, 4), max_memory = one_of(1e6, 1e9))))
  if (refused(ours) || d$length > 3000 || d$length == 0) return()
  same(as.matrix(ours), slow_basics()$slow_sttc(d$x, reach), "spike time tiling", 1e-9)
  attempt("print", list(ours, n = whole(0, 9)))
  if (sometimes(0.1)) attempt("autoplot", list(ours))
}

basics_intervals <- function(d) {
  refractory <- whole(0, 30)
  ours <- attempt("isi_statistics", c(list(d$x), some_args(refractory = refractory * d$tick)))
  how <- c(whole(0, 20), whole(0, 20), whole(0, 60), whole(0, 20))
  how[[2L]] <- how[[2L]] + how[[1L]]
  min_spikes <- whole(2, 4)
  found <- attempt("bursts", list(
    d$x, max_start = how[[1L]] * d$tick, max_within = how[[2L]] * d$tick,
    min_between = how[[3L]] * d$tick, min_duration = how[[4L]] * d$tick, min_spikes = min_spikes
  ))
  if (refused(ours) || refused(found)) return()
  slow <- slow_basics()
  spikes <- integer()
  for (u in seq_len(d$slow$units)) {
    isi <- unlist(slow$slow_intervals(d$x, u))
    same(ours$intervals[[u]], length(isi), "number of intervals")
    if (length(isi)) {
      same(ours$median[[u]], stats::median(isi), "median interval", 1e-9 * max(isi))
    }
    for (k in seq_along(d$slow$start)) {
      t <- d$slow$tick[d$slow$unit == u & d$slow$trial %in% k]
      runs <- slow$slow_bursts(t, how[[1L]], how[[2L]], how[[3L]], how[[4L]], min_spikes)
      spikes <- c(spikes, vapply(runs, function(b) diff(b) + 1, 0))
    }
  }
  same(as.double(found$spikes), as.double(spikes), "bursts")
  for (one in list(ours, found)) attempt("print", list(one, n = whole(0, 9)))
  if (sometimes(0.1)) {
    type <- one_of("intervals", "rates", "regularity")
    attempt("autoplot", c(list(ours, type = type), some_args(unit = levels(d$x$unit)[[1L]])))
    attempt("autoplot", list(found))
  }
}

basics_tuning <- function(d) {
  inside <- c(d$slow$start, d$slow$end)
  n <- whole(2, 12)
  ticks <- min(inside) + whole(-5, 5) + cumsum(c(0, vapply(2:n, function(i) whole(1, 60), 0)))
  value <- vapply(seq_len(n), function(i) one_of(whole(-3, 3), between(-3, 3), NA), 0)
  edges <- one_of(list(seq(-3, 3, by = 1), c(-2, 0, 0.5)))
  most <- whole(1, 80)
  args <- list(d$x, data.frame(time = ticks * d$tick, speed = value),
               breaks = if (sometimes(0.2)) whole(1, 9) else edges,
               sigma = if (sometimes(0.2)) between(0.1, 2),
               max_gap = if (sometimes(0.8)) most * d$tick)
  ours <- attempt("tuning_curve", args)
  if (refused(ours) || d$length > 3000) return()
  if (length(args$breaks) > 1L && !is.null(args$max_gap) && all(d$slow$end > d$slow$start)) {
    slow <- slow_basics()$slow_tuning(d$x, ticks, value, edges, most)
    same(as.double(ours$count), as.double(slow$count), "spikes by value")
    same(ours$seconds[seq_along(slow$ticks)] / d$tick, as.double(slow$ticks), "occupancy", 1e-6)
  }
  attempt("print", list(ours, n = whole(0, 9)))
  if (sometimes(0.1)) {
    attempt("autoplot", c(list(ours), some_args(type = one_of("curves", "image"),
                                                unit = levels(d$x$unit)[[1L]])))
  }
}

basics_events <- function(d) {
  bin <- whole(1, 20)
  from <- whole(-30, 30)
  to <- from + bin * whole(1, 6)
  inside <- c(d$slow$tick, d$slow$start, d$slow$end)
  events <- vapply(seq_len(whole(1, 8)), function(i) one_of(inside) + whole(-5, 5), 0)
  table <- data.frame(time = events * d$tick, side = sample(c("l", "r"), length(events), TRUE))
  by <- if (sometimes()) "side"
  given <- if (is.null(by) && sometimes()) table$time else table
  ours <- attempt("psth", list(d$x, events = given, from = from * d$tick, to = to * d$tick,
                               bin_size = bin * d$tick, by = by))
  slow <- slow_basics()$slow_psth(d$x, events, from, to, bin)
  if (refused(ours)) {
    if (any(slow$keep)) finding("psth(): refused")
    return()
  }
  side <- if (is.null(by)) rep("all", length(events)) else table$side
  counts <- unlist(lapply(sort(unique(side[slow$keep])), function(one) {
    as.vector(apply(slow$counts[slow$keep & side == one, , , drop = FALSE], 2:3, sum))
  }))
  same(as.double(ours$count), as.double(counts), "spikes around events")
  attempt("print", list(ours, n = whole(0, 9)))
  if (sometimes(0.1)) attempt("autoplot", c(list(ours), some_args(
    unit = levels(d$x$unit)[[1L]], stimulus = one_of(list(c(0, 0.1), c(1, 0))))))
  # Trials by themselves.
  attempt("psth", list(d$x, bin_size = bin * d$tick))
}

basics_check <- function(d) {
  report <- attempt("check_recording", c(list(d$x), some_args(
    refractory = one_of(0, 0.002, 0.5), threads = whole(1, 3), max_memory = one_of(1e6, 1e9))))
  if (refused(report)) return(finding("check_recording(): refused a recording"))
  attempt("print", list(report))
  same(report$units$spikes, attempt("isi_statistics", list(d$x))$spikes, "spikes of units")
  known <- c("columns", "time unit", "time step", "silent units", "rates", "refractory",
             "shared spikes", "synchrony", "presence", "drift", "gaps", "trials")
  if (!all(c(report$findings$check, report$looked_for) %in% known)) finding("an unknown check")
  if (!all(report$findings$check %in% report$looked_for)) {
    finding("a finding of what was not looked for")
  }
  if (sometimes(0.1)) attempt("autoplot", list(report))
}

fuzz_subject("basics",
  covers = list(
    bin_spikes = c("x", "bin_size", "sigma", "sparse", "gap", "max_memory"),
    print.binned_spikes = "n", print.psth = "n", autoplot.psth = c("unit", "stimulus"),
    as.data.frame.cross_correlogram = c("reference", "target"),
    autoplot.cross_correlogram = c("type", "reference", "target", "y"),
    cross_correlogram = c("x", "bin_size", "max_lag", "threads", "max_memory"),
    sttc = c("x", "dt", "threads", "max_memory"),
    isi_statistics = c("x", "refractory"), print.isi_statistics = "n", print.sttc = "n",
    autoplot.isi_statistics = c("type", "unit"), print.bursts = "n",
    tuning_curve = c("x", "behaviour", "breaks", "sigma", "max_gap"), print.tuning_curve = "n",
    autoplot.tuning_curve = c("type", "unit"),
    bursts = c("x", "max_start", "max_within", "min_between", "min_duration", "min_spikes"),
    psth = c("x", "events", "from", "to", "bin_size", "by"),
    check_recording = c("x", "refractory", "threads", "max_memory")
  ),
  run = function(world) {
    d <- draw_near()
    one_of(basics_bins, basics_lags, basics_tiles, basics_intervals, basics_events,
           basics_check, basics_tuning)(d)
  }
)
