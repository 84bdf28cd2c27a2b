# Episodes: mining, counting, listing, streams and significance. The oracle lists every
# occurrence from the definitions; engines, threads, registers, memory, parts of a recording
# and changes that must not matter are compared with each other.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]])),
                 "..", "..", "tests", "testthat", "helper-episodes.R"), local = FALSE)

# ---- draws -------------------------------------------------------------------------------

# A recording for the oracle, a list as in helper-episodes.R, on a clock of milliseconds.
ep_draw_stream <- function(spikes = 60) {
  n_units <- whole(1, 5)
  kind <- one_of("poisson", "ties", "bursts", "one unit", "few")
  n <- if (kind == "few") whole(0, 4) else whole(2, spikes)
  offset <- one_of(0, -37, 1e6, -1e9, 2^41)
  span <- switch(kind, ties = whole(1, 12), bursts = whole(20, 200), whole(5, 150))
  tick <- floor(runif(n) * (span + 1))
  if (kind == "bursts") tick <- tick %/% 20 * 20 + tick %% 5
  names <- paste0(one_of("u", "\u00e9 ", ""), seq_len(n_units))
  unit <- sample(names, n, replace = TRUE)
  if (kind == "one unit") unit <- rep(names[[1L]], n)
  low <- vapply(seq_len(whole(1, 3)), function(i) if (sometimes()) whole(0, 9) else 0, 0)
  high <- low + vapply(low, function(i) whole(1, 12), 0)
  twice <- duplicated(cbind(low, high))
  bounds <- NULL
  if (sometimes(0.3)) {
    length <- whole(3, 30)
    begin <- seq(0, span, by = length + whole(0, 3))
    bounds <- data.frame(start = offset + begin, end = offset + begin + length)
  }
  ep_finish_stream(list(tick = offset + tick, unit = unit, names = names, bounds = bounds,
                     low = low[!twice], high = high[!twice]))
}

ep_finish_stream <- function(stream) {
  trials <- stream$bounds
  stream$x <- spike_trains(
    stream$tick / 1000, factor(stream$unit, stream$names),
    start = min(stream$tick, trials$start, Inf, if (length(stream$tick) == 0) 0) / 1000,
    end = max(stream$tick, trials$end, -Inf, if (length(stream$tick) == 0) 0) / 1000,
    resolution = 1e-3, trials = if (!is.null(trials)) trials / 1000
  )
  stream$trial <- stream_trials(stream)
  stream
}

# A random episode over the units and intervals of a stream.
ep_draw_episode <- function(stream, most = 5) {
  size <- whole(1, most)
  edges <- vapply(seq_len(size - 1), function(k) whole(1, length(stream$low)), 0)
  units <- stream$names[vapply(seq_len(size), function(k) whole(1, length(stream$names)), 0)]
  list(units = units, edges = edges, low = stream$low[edges], high = stream$high[edges])
}

ep_as_table <- function(episodes) {
  do.call(c, lapply(episodes, function(e) {
    if (length(e$units) == 1L) episode(e$units) else episode(e$units, e$low / 1000, e$high / 1000)
  }))
}

ep_draw_threads <- function() one_of(1, 2, 3, 16)
ep_draw_engine <- function() one_of("window", "state", "two-pass", "auto")

ep_mined <- function(x, args, ...) attempt("mine_episodes", utils::modifyList(
  c(list(x = x), args), list(...)))

# What must be equal, in vectors: comparing long lists takes its time.
ep_rows <- function(found) {
  if (refused(found)) return(found)
  out <- as.list(as.data.frame(found)[c("episode", "size", "count", "support")])
  c(out, lapply(as.list(found)[c("units", "low", "high")], unlist))
}

# ---- mining --------------------------------------------------------------------------------

ep_against_oracle <- function() {
  stream <- ep_draw_stream(40)
  min_count <- whole(1, 5)
  max_size <- whole(1, 4)
  distinct <- sometimes(0.3)
  found <- ep_mined(stream$x, list(min_count = min_count, intervals = stream_intervals(stream),
                               max_size = max_size, distinct_units = distinct, engine = ep_draw_engine(),
                               threads = ep_draw_threads(), max_memory = one_of(1e9, 1e6)))
  if (refused(found)) return()
  want <- oracle_mine(stream, min_count, max_size)$table
  if (distinct) {
    units <- strsplit(want$episode, " -\\([^]]*\\]-> ")
    want <- want[!vapply(units, anyDuplicated, 0L), ]
  }
  row.names(want) <- NULL
  same(plain(found), want, "mining and the oracle")
}

# What must not matter to the result of one search.
ep_with_itself <- function() {
  stream <- ep_draw_stream(one_of(60, 400))
  args <- c(list(min_count = whole(2, 12), intervals = stream_intervals(stream),
                 max_size = one_of(4, 7, 2, 3, Inf), threads = 1, engine = "window",
                 max_memory = 3e7),
            if (sometimes(0.3)) list(target = one_of("closed", "maximal")),
            if (sometimes(0.3)) list(distinct_units = TRUE),
            if (sometimes(0.2)) list(top = whole(1, 9)))
  if (sometimes(0.2)) args$units <- sample(stream$names, whole(1, length(stream$names)))
  found <- ep_mined(stream$x, args)
  same(ep_rows(ep_mined(stream$x, args, engine = ep_draw_engine(), threads = ep_draw_threads())), ep_rows(found),
       "engines and threads")
  if (refused(found)) return()
  tight <- ep_mined(stream$x, args, max_memory = 10^between(6, 7.5), threads = ep_draw_threads())
  if (!refused(tight)) same(ep_rows(tight), ep_rows(found), "little memory and much")
  if (nrow(found) > 3000) return()
  counted <- attempt("count_episodes", list(attr(found, "recording"), found, threads = ep_draw_threads()))
  same(ep_rows(counted), ep_rows(found), "counting what was mined")
  changed <- ep_change_stream(stream)
  args$units <- changed$map(args$units)
  other <- ep_mined(changed$stream$x, args)
  if (refused(other)) return(finding(paste("a changed stream was refused:", changed$what)))
  if (is.null(args$top)) same(ep_rows(other)[c("size", "count")],
                              ep_rows(found)[c("size", "count")],
                              paste("a stream and the same,", changed$what))
}

# A stream with the same episodes: `map` gives the new names of units.
ep_change_stream <- function(stream) {
  map <- identity
  what <- one_of("moved in time", "renamed", "with a silent unit", "with a spike twice",
                 "in another order", "as one trial")
  if (what == "moved in time") {
    by <- one_of(1, 1000, -12345, 2^40)
    stream$tick <- stream$tick + by
    if (!is.null(stream$bounds)) stream$bounds <- stream$bounds + by
  } else if (what == "renamed") {
    new <- stats::setNames(rev(paste0("new", seq_along(stream$names))), stream$names)
    map <- function(units) if (!is.null(units)) unname(new[units])
    stream$unit <- unname(new[stream$unit])
    stream$names <- unname(new)
  } else if (what == "with a silent unit") {
    stream$names <- c("silent", stream$names)
  } else if (what == "with a spike twice" && length(stream$tick) > 0) {
    again <- sample.int(length(stream$tick), 1)
    stream$tick <- c(stream$tick, stream$tick[again])
    stream$unit <- c(stream$unit, stream$unit[again])
  } else if (what == "in another order") {
    o <- sample(length(stream$tick))
    stream$tick <- stream$tick[o]
    stream$unit <- stream$unit[o]
  } else if (what == "as one trial" && is.null(stream$bounds) && length(stream$tick) > 0) {
    stream$bounds <- data.frame(start = min(stream$tick), end = max(stream$tick))
  }
  list(stream = ep_finish_stream(stream), map = map, what = what)
}

# A support is a count of the events that are mined.
ep_by_support <- function() {
  stream <- ep_draw_stream()
  intervals <- stream_intervals(stream)
  share <- one_of(between(0.001, 0.5), 0.5, 1, 0.1)
  found <- ep_mined(stream$x, list(intervals = intervals, min_support = share, max_size = 3))
  all <- ep_mined(stream$x, list(min_count = 1, intervals = intervals, max_size = 3, max_memory = 1e8))
  if (refused(found) || refused(all)) return()
  same(ep_rows(found), ep_rows(all[all$support >= share, ]), "a least support and those that have it")
  whole_size <- ep_mined(stream$x, list(min_count = 1, intervals = intervals, max_size = 2))
  same(ep_rows(whole_size), ep_rows(all[all$size <= 2, ]), "a smaller max_size and those that small")
}

# Each kind of register that this processor has counts rows alike.
ep_registers <- function() {
  lanes <- 32 * whole(1, 4)
  n <- whole(1, 300)
  next_event <- matrix(sample(c(0L, 1:9, 65535L), lanes * n, replace = TRUE), lanes)
  event <- cumsum(sample(1:3, n, replace = TRUE))
  start <- cummax(pmax(0, event - sample(0:6, n, replace = TRUE)))
  count <- function(kind) {
    .Call(synfire:::r_count_rows_check, kind, next_event, event, seq_len(n) - 1L, as.integer(start))
  }
  portable <- count(0L)
  for (kind in 1:2) {
    wide <- count(kind)
    if (!is.null(wide)) same(wide, portable, paste("registers of kind", kind, "and none"))
  }
}

# ---- given episodes ------------------------------------------------------------------------

ep_given <- function() {
  stream <- ep_draw_stream()
  some <- lapply(seq_len(whole(1, 6)), function(i) ep_draw_episode(stream))
  table <- ep_as_table(some)
  which <- one_of("nonoverlapped", "all")
  counted <- attempt("count_episodes", list(stream$x, table, threads = ep_draw_threads()))
  listed <- attempt("episode_occurrences", c(list(stream$x, table, which = which), some_args(
    max_occurrences = whole(1, 2000))))
  lags <- attempt("episode_lags", list(stream$x, table, bins = whole(1, 30)))
  if (refused(counted)) return()
  all <- lapply(some, function(e) oracle_occurrences(stream, e$units, e$low, e$high))
  want <- vapply(all, function(m) oracle_schedule(m[, 1L], m[, ncol(m)]), 0L)
  same(counted$count, want, "counts and the oracle")
  if (!refused(listed)) ep_check_listed(listed, table, all, want, which)
  if (!refused(lags)) ep_check_lags(lags, table, want)
}

ep_check_listed <- function(listed, table, all, want, which) {
  if (which == "all") want <- vapply(all, nrow, 0L)
  number <- rle(listed$occurrence == 1L)
  same(nrow(listed), sum(want), paste("occurrences listed,", which))
  at <- rep(seq_along(want), want)
  if (nrow(listed) != length(at)) return()
  for (i in seq_along(all)) {
    mine <- round(1000 * do.call(rbind, c(listed$times[at == i], list(numeric(0)))))
    if (length(mine) == 0L) next
    sorted <- function(m) m[do.call(order, as.data.frame(m)), , drop = FALSE]
    key <- function(m) do.call(paste, as.data.frame(m))
    if (which == "all") {
      same(unname(sorted(mine)), unname(sorted(all[[i]])), "all occurrences and the oracle")
    } else if (!all(key(mine) %in% key(all[[i]]))) {
      finding("an occurrence is listed that is none")
    } else if (nrow(mine) > 1 && any(mine[-1, 1] <= mine[-nrow(mine), ncol(mine)])) {
      finding("occurrences are listed that overlap")
    }
  }
}

ep_check_lags <- function(lags, table, want) {
  first <- !duplicated(table$episode)
  steps <- table$size[first] - 1
  same(sum(lags$count), sum((steps * want[first])[steps > 0]), "delays and occurrences")
}

# ---- streams ---------------------------------------------------------------------------------

# Blocks at random, some of them empty or with spikes on the last tick of the one before, in
# a stream that always counts by what came and went, or only where that is less.
ep_in_blocks <- function() {
  stream <- ep_draw_stream(one_of(120, 400))
  stream$bounds <- NULL
  # Delays that many spikes fit in.
  if (sometimes(0.3)) stream$high <- stream$high * whole(5, 40)
  stream <- ep_finish_stream(stream)
  x <- stream$x
  if (nrow(x) == 0L) return()
  window <- whole(1, one_of(20, 200))
  search <- c(
    list(intervals = stream_intervals(stream), max_size = one_of(1, 2, 3, 4)),
    if (sometimes(0.8)) list(min_count = whole(1, 6)) else list(min_support = one_of(0.05, 0.2)),
    some_args(target = one_of("closed", "maximal"), distinct_units = TRUE, top = whole(1, 9)))
  alarms <- if (is.null(search$min_support) && sometimes(0.4)) ep_draw_alarms(window)
  s <- attempt("episode_stream", c(
    search, alarms, list(window = window / 1000, resolution = 1e-3),
    some_args(history = whole(1, 5), follow = whole(0, 5), threads = ep_draw_threads(),
              units = stream$names, engine = ep_draw_engine(), device = one_of("cpu", "auto"))))
  if (refused(s)) return()
  s$always <- sometimes(0.7)
  ticks <- round(x$time * 1000)
  ends <- sort(unique(c(sample(seq(min(ticks), max(ticks)), whole(1, 30), replace = TRUE), max(ticks))))
  before <- -Inf
  for (end in ends) {
    part <- ticks > before & ticks <= end
    block <- data.frame(time = x$time[part], unit = as.character(x$unit[part]))
    last <- s
    s <- attempt("update", list(s, new_spikes = block, now = end / 1000))
    if (refused(s)) return(finding(paste("an update was refused:", conditionMessage(s))))
    before <- end
    recent <- ticks > end - window & ticks <= end
    units <- levels(attr(s$episodes, "recording")$unit)
    whole_window <- spike_trains(x$time[recent], factor(as.character(x$unit[recent]), units),
                                 start = (end - window) / 1000, end = end / 1000, resolution = 1e-3)
    want <- ep_mined(whole_window, search)
    same(ep_rows(s$episodes), ep_rows(want), "a stream and mining its window")
    if (!is.null(last$alarming$open) && s$alarming$looks > last$alarming$looks) {
      ep_check_alarms(s, last)
    }
  }
}

# A share of looks that may be false, and what else alarms take; some of it is refused.
ep_draw_alarms <- function(window) {
  look <- whole(1, window) / 1000
  c(list(alarms = between(0.02, 1.02) * 3600 / look, look = look),
    some_args(n_surrogates = whole(1, 40), judge_after = whole(0, window) / 1000,
              surrogate = one_of("dither", "dither_refractory", "train_shift", "joint_isi",
                                 "isi_dither", "isi_shuffle", "randomise", "trial_shift"),
              dither = whole(1, 12) / 1000))
}

# The largest counts of the surrogates of a look, each of them mined.
ep_look_maxima <- function(s, look) {
  x <- attr(look$episodes, "recording")
  n <- s$alarming$n
  if (nrow(x) == 0L) return(matrix(0, 0, n))
  how <- synfire:::keep_random_state(synfire:::window_surrogates(x, s$alarming))
  how$key <- synfire:::random_below(2, 2^32, s$alarming$key, look$number)
  made <- .Call(synfire:::r_surrogate_trains, synfire:::trains_of(x), how,
                list(n = n, threads = 1, max_memory = 1e8))
  each <- lapply(made, \(one) {
    again <- duplicated(complex(real = one$tick, imaginary = one$unit))
    y <- spike_trains(one$tick[!again] / 1000, levels(x$unit)[one$unit[!again]],
                      start = attr(x, "start"), end = attr(x, "end"), resolution = 1e-3)
    found <- do.call(mine_episodes, c(list(y, threads = 1), s$arguments[
      intersect(names(s$arguments), c("intervals", "min_count", "max_size", "distinct_units"))
    ]))
    vapply(seq_len(max(found$size, 0)), \(z) max(found$count[found$size == z]), 0)
  })
  matrix(vapply(each, \(one) c(one, rep(0, max(lengths(each)) - length(one))),
                double(max(lengths(each)))), ncol = n)
}

# Alarms by going through the surrogates of a look one by one. `last` is the stream before.
ep_check_alarms <- function(s, last) {
  n <- s$alarming$n
  look <- last$alarming$open
  found <- look$episodes
  maxima <- ep_look_maxima(last, look)
  same(synfire:::look_maxima(last, look) + 0, maxima, "largest counts and mining surrogates")
  sizes <- max(nrow(maxima), found$size, 1)
  most <- rbind(maxima, matrix(0, sizes - nrow(maxima), n))
  own <- vapply(seq_len(sizes), \(z) max(0, found$count[found$size == z]), 0)
  extreme <- vapply(seq_len(n), \(j) {
    min(1, vapply(seq_len(sizes)[-1], \(z) mean(c(most[z, ], own[[z]]) >= most[z, j]), 0))
  }, 0)
  p <- mapply(\(size, count) {
    (1 + sum(extreme <= (1 + sum(most[size, ] >= count)) / (n + 1) + 1e-12)) / (n + 1)
  }, found$size, found$count)
  raised <- found$size > 1 & p <= s$alarming$alpha + 1e-12
  by_name <- \(name, p) list(sort(name), as.double(p)[order(name)])
  same(by_name(s$alarms$episode, s$alarms$p),
       by_name(found$episode[raised], unlist(p)[raised]), "alarms and their definition")
}

# ---- significance ----------------------------------------------------------------------------

ep_tested <- function() {
  stream <- ep_draw_stream(80)
  found <- ep_mined(stream$x, list(min_count = whole(1, 4), intervals = stream_intervals(stream),
                               max_size = 3, max_memory = 1e8))
  if (refused(found) || nrow(found) == 0L) return()
  some <- found[sort(sample(nrow(found), min(nrow(found), whole(1, 40)))), ]
  seed <- whole(1, 1000)
  surrogate <- one_of("dither", "randomise", "isi_shuffle", "train_shift", "bin_shuffle",
                      "isi_dither", "joint_isi", "dither_refractory")
  args <- c(
    list(some, n_surrogates = whole(0, 25), surrogate = surrogate),
    switch(surrogate, randomise = , isi_shuffle = list(),
           bin_shuffle = list(bin_size = whole(1, 5) / 1000),
           if (sometimes(0.7)) list(dither = whole(1, 20) / 1000)),
    some_args(alpha = one_of(0.05, 0.5), p_estimator = one_of("(k+1)/(n+1)", "k/n"),
              correction = one_of("max", "none", "BH", "holm", "TSBH"), x = stream$x)
  )
  test <- function(...) {
    args <- utils::modifyList(args, list(...))
    set.seed(seed)
    attempt("episode_significance", args)
  }
  one <- test(threads = 1)
  if (refused(one)) return()
  same(one$count, some$count, "observed counts and those mined")
  several <- test(threads = ep_draw_threads(), max_memory = one_of(4e9, 1e7))
  if (!refused(several)) same(several, one, "significance on one thread and on several")
  ep_check_tested(one, args$n_surrogates, args$alpha %||% 0.05)
  ep_surrogates_one_by_one(one, stream, args, seed)
}

ep_check_tested <- function(x, n, alpha) {
  p <- x$p[!is.na(x$p)]
  if (any(p < 0 | p > 1) || any(x$p_adjusted < 0 | x$p_adjusted > 1, na.rm = TRUE)) {
    finding("a p value is outside 0 to 1")
  }
  if (any(x$size < 2L & !is.na(x$p))) finding("a single unit was tested")
  if (n == 0 && !all(is.na(x$p))) finding("something was tested against no surrogates")
}

# The same surrogates, made one by one and counted.
ep_surrogates_one_by_one <- function(one, stream, args, seed) {
  n <- args$n_surrogates
  if (n == 0 || n > 8 || args$surrogate %in% c("bin_shuffle")) return()
  set.seed(seed)
  how <- attr(one, "surrogate")$parameters
  made <- attempt("surrogate_trains", c(list(stream$x, n, args$surrogate), how))
  if (refused(made)) return()
  counts <- vapply(made, function(y) attempt("count_episodes", list(y, args[[1L]]))$count,
                   integer(nrow(one)))
  dim(counts) <- c(nrow(one), n)
  same(one$mean, rowMeans(counts), "mean in surrogates, counted one by one", 1e-9)
}

# ---- wrong calls -------------------------------------------------------------------------------

ep_wrong <- function() {
  stream <- ep_draw_stream(20)
  x <- stream$x
  intervals <- stream_intervals(stream)
  found <- ep_mined(x, list(min_count = 1, intervals = intervals, max_size = 2))
  if (refused(found)) return()
  table <- utils::head(found, 20)
  if (sometimes() && nrow(table) > 0L) {
    column <- one_of(names(table))
    table <- tryCatch({
      if (sometimes()) table[[column]][[whole(1, nrow(table))]] <- odd_value()
      else table[[column]] <- odd_value()
      table
    }, error = function(e) table)
  }
  one_of(
    attempt("mine_episodes", list(
      mostly(x), min_count = mostly(2, 0.3), intervals = mostly(intervals, 0.3),
      max_size = mostly(3, 0.2), units = mostly(NULL, 0.2), target = mostly("frequent", 0.2),
      top = mostly(NULL, 0.2), device = mostly("cpu", 0.1),
      threads = mostly(1, 0.2), max_memory = mostly(1e7, 0.2),
      engine = one_of(mostly("auto", 0.2), list(mostly("mtpe", 0.2), merge = mostly("exact", 0.2)),
                      list("occurrence", compaction = mostly("count-once", 0.2),
                           dedup = mostly(TRUE, 0.2))), gpus = mostly(NULL, 0.2),
      min_support = mostly(NULL, 0.1))),
    attempt("count_episodes", list(mostly(x), mostly(table, 0.2), threads = mostly(1, 0.3),
                                   device = mostly("cpu", 0.1), engine = mostly("auto", 0.2),
                                   gpus = mostly(NULL, 0.2))),
    attempt("episode_occurrences", list(mostly(x), table, which = mostly("all", 0.3),
                                        max_occurrences = mostly(100, 0.3))),
    attempt("episode_lags", list(x, table, bins = mostly(5, 0.5))),
    attempt("episode", list(mostly(c("a", "b"), 0.4), mostly(0, 0.4), mostly(1, 0.4))),
    attempt("episode_stream", list(mostly(intervals, 0.3), mostly(2, 0.3), mostly(0.1, 0.3),
                                   resolution = mostly(1e-3, 0.2), history = mostly(5, 0.3),
                                   follow = mostly(2, 0.3), units = mostly(NULL, 0.3),
                                   alarms = mostly(NULL, 0.3), look = mostly(NULL, 0.2),
                                   n_surrogates = mostly(NULL, 0.2),
                                   judge_after = mostly(NULL, 0.2),
                                   surrogate = mostly("dither", 0.2),
                                   dither = mostly(0.005, 0.2))),
    {
      s <- episode_stream(intervals, 1, 0.1, resolution = 1e-3)
      attempt("update", list(s, mostly(data.frame(time = 1, unit = "a"), 0.5), now = mostly(2, 0.4)))
    },
    attempt("episode_significance", list(
      table, mostly(x, 0.1), n_surrogates = mostly(2, 0.3), surrogate = mostly("dither", 0.3),
      dither = mostly(0.005, 0.3), alpha = mostly(0.05, 0.3), correction = mostly("max", 0.3),
      p_estimator = mostly("k/n", 0.3), device = mostly("cpu", 0.1), gpus = mostly(NULL, 0.1),
      threads = mostly(1, 0.2), max_memory = mostly(1e7, 0.2)))
  )
}

fuzz_subject("episodes",
  covers = list(
    mine_episodes = names(formals(synfire::mine_episodes)),
    count_episodes = names(formals(synfire::count_episodes)),
    episode_occurrences = names(formals(synfire::episode_occurrences)),
    episode_lags = names(formals(synfire::episode_lags)),
    episode = names(formals(synfire::episode)),
    episode_stream = setdiff(names(formals(synfire::episode_stream)), "..."),
    update.episode_stream = c("new_spikes", "now"),
    episode_significance = setdiff(names(formals(synfire::episode_significance)), "...")
  ),
  run = function(world) {
    one_of(ep_against_oracle, ep_with_itself, ep_by_support, ep_registers, ep_given,
           ep_in_blocks, ep_tested, ep_wrong)()
  }
)
