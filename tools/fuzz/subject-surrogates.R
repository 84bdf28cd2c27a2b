# Surrogates of spike trains: what each method promises to keep, on any number of threads,
# for any number of surrogates.

# Trials of a recording, in ticks; without any the recording is one.
trial_bounds <- function(x) {
  tick <- attr(x, "resolution")
  trials <- attr(x, "trials")
  if (is.null(trials)) trials <- data.frame(start = attr(x, "start"), end = attr(x, "end"))
  bounds <- data.frame(start = round(trials$start / tick), end = round(trials$end / tick))
  # A tick that two trials share is the later one's.
  n <- nrow(bounds)
  shared <- which(bounds$end[-n] == bounds$start[-1L])
  bounds$end[shared] <- bounds$end[shared] - 1
  bounds
}

# Ticks, units and trials of the spikes that lie in trials, in order.
inside_trials <- function(x, bounds) {
  tick <- round(x$time / attr(x, "resolution"))
  trial <- findInterval(tick, bounds$start)
  inside <- trial > 0 & tick <= bounds$end[pmax(trial, 1)]
  out <- data.frame(tick, unit = as.integer(x$unit), trial)[inside, ]
  out[order(out$unit, out$trial, out$tick), ]
}

# Ticks of each unit and trial.
runs_of <- function(spikes) split(spikes$tick, paste(spikes$unit, spikes$trial))

draw_method <- function(x, bounds) {
  tick <- attr(x, "resolution")
  shortest <- min(bounds$end - bounds$start)
  longest <- max(bounds$end - bounds$start)
  method <- one_of("dither", "dither_refractory", "train_shift", "joint_isi", "isi_dither",
                   "isi_shuffle", "randomise", "bin_shuffle", "window_shuffle", "trial_shift",
                   "jitter", "sliding_shuffle")
  dither <- max(1, floor(runif(1) * min(shortest, 300)))
  bin <- max(1, floor(runif(1) * min(longest / 2, 40)))
  window <- bin * whole(2, 9)
  refractory <- whole(0, 12)
  n_bins <- whole(1, 60)
  args <- switch(
    method,
    dither = , train_shift = , trial_shift = list(dither = dither * tick),
    dither_refractory = list(dither = dither * tick, refractory = refractory * tick),
    joint_isi = , isi_dither = list(
      dither = dither * tick, refractory = refractory * tick, n_bins = n_bins,
      truncation_limit = n_bins * max(1, floor(runif(1) * dither)) * tick,
      sigma = one_of(0, 2 * tick, n_bins * tick / 2)),
    isi_shuffle = , randomise = list(), bin_shuffle = list(bin_size = bin * tick),
    window_shuffle = , sliding_shuffle = list(bin_size = bin * tick, window = window * tick),
    jitter = list(window = max(2, window) * tick)
  )
  list(method = method, args = args, dither = dither, refractory = refractory, bin = bin,
       window = if (method == "jitter") max(2, window) else window)
}

# Whether each place of `moved` is at most `far` from that of `own`, in order. Spikes that
# move by themselves may overtake each other, but sorted they are no further apart.
moved_within <- function(own, moved, far) {
  all(mapply(function(a, b) all(abs(sort(a) - sort(b)) <= far), own, moved))
}

shortest_of_unit <- function(own) {
  unit <- sub(" .*", "", names(own))
  gaps <- lapply(split(own, unit), function(runs) unlist(lapply(runs, function(t) diff(sort(t)))))
  vapply(gaps, function(g) if (length(g) > 0) min(g) else Inf, 0)
}

# What the method promises of the runs of one surrogate.
check_promise <- function(how, own, moved, bounds) {
  method <- how$method
  trial <- as.integer(sub(".* ", "", names(own)))
  unit <- sub(" .*", "", names(own))
  start <- bounds$start[trial]
  length <- bounds$end[trial] - start + 1
  bins <- function(runs, width) Map(function(t, s) (t - s) %/% width, runs, start)
  far <- if (method %in% c("dither", "dither_refractory", "joint_isi", "isi_dither")) how$dither
  # Joint-ISI dithering may move the neighbours of a spike first: each by itself counts.
  if (!is.null(far) && !moved_within(own, moved, far)) finding(paste(method, "moves further than `dither`"))
  if (method %in% c("dither_refractory", "joint_isi", "isi_dither")) {
    least <- pmin(how$refractory, shortest_of_unit(own)[unit])
    close <- mapply(function(t, apart) any(diff(sort(t)) < apart), moved, least)
    if (any(close)) finding(paste(method, "leaves spikes closer than `refractory`"))
  }
  if (method == "isi_shuffle") {
    gaps <- function(runs) Map(function(t, s) sort(diff(c(s - 1, sort(t)))), runs, start)
    same(unname(gaps(moved)), unname(gaps(own)), "the intervals that are shuffled")
  }
  if (method %in% c("train_shift", "trial_shift")) {
    offsets <- Map(function(a, b, s, n) {
      possible <- (b - a[[1L]]) %% n
      Filter(function(by) identical(sort((a - s + by) %% n), sort(b - s)), possible)
    }, own, moved, start, length)
    if (any(lengths(offsets) == 0)) finding(paste(method, "does not shift"))
  }
  if (method == "bin_shuffle") {
    same(unname(lapply(bins(moved, how$bin), function(b) sort(as.integer(table(b))))),
         unname(lapply(bins(own, how$bin), function(b) sort(as.integer(table(b))))),
         "spikes in the bins that are shuffled")
  }
  if (method %in% c("window_shuffle", "jitter")) {
    # A window keeps its spikes.
    same(unname(lapply(bins(moved, how$window), sort)), unname(lapply(bins(own, how$window), sort)),
         "the windows of spikes")
  }
  if (method %in% c("bin_shuffle", "window_shuffle", "sliding_shuffle")) {
    same(unname(Map(function(t, s) sort((t - s) %% how$bin), moved, start)),
         unname(Map(function(t, s) sort((t - s) %% how$bin), own, start)),
         "the places of spikes in their bins")
  }
}

fuzz_subject(
  "surrogates",
  covers = list(surrogate_trains = c("x", "n_surrogates", "surrogate", "dither", "refractory", "bin_size",
                                     "window", "truncation_limit", "n_bins", "sigma",
                                     "threads", "max_memory")),
  run = function(world) {
    x <- draw_recording(whole(2, 200), 5)
    bounds <- trial_bounds(x)
    how <- draw_method(x, bounds)
    n <- whole(1, 4)
    seed <- whole(1, 1e6)
    make <- function(x, n, threads, ...) {
      args <- c(list(x, unname(n), how$method), how$args, threads = unname(threads), ...)
      # The seed comes after all draws.
      set.seed(seed)
      attempt("surrogate_trains", args)
    }
    made <- make(x, n, one_of(1, 2, 16))
    if (refused(made)) return()
    if (length(made) != n) finding("so many surrogates were not asked for")
    same(make(x, n + whole(0, 3), one_of(1, 5))[seq_len(n)], made, "surrogates of another call")
    little <- make(x, n, 16, max_memory = 1e6)
    if (!refused(little)) same(little, made, "surrogates with little memory")
    own <- runs_of(inside_trials(x, bounds))
    for (s in made) {
      kept <- c("start", "end", "resolution", "trials", "class")
      same(attributes(s)[kept], attributes(x)[kept], "the attributes of a surrogate")
      same(levels(s$unit), levels(x$unit), "the units of a surrogate")
      moved <- inside_trials(s, bounds)
      if (nrow(moved) != nrow(s)) {
        finding("spikes of a surrogate lie outside trials")
        next
      }
      moved <- runs_of(moved)
      if (!identical(lengths(moved), lengths(own))) {
        finding("a surrogate has other numbers of spikes of a unit in a trial")
        next
      }
      if (is.unsorted(s$time)) finding("a surrogate is not sorted")
      check_promise(how, own, moved, bounds)
    }
  }
)
