# Every update is compared with mining the spikes of its window from scratch.

# A recording as plain vectors, in ticks of a millisecond, sorted by time: bursts, ties, and
# silence.
growing <- function(seed, spikes = 150, span = 2000, units = 5) {
  withr::local_seed(seed)
  tick <- c(sample(span, spikes %/% 2, TRUE), sample(span, 3) + sample(100, spikes, TRUE))
  all <- unique(data.frame(tick = tick, unit = paste0("u", sample(units, length(tick), TRUE))))
  all[order(all$tick), ]
}

in_window <- function(all, now, window) all[all$tick > now - window & all$tick <= now, ]

from_scratch <- function(inside, ..., max_size = 4) {
  x <- spike_trains(inside$tick / 1000, inside$unit, start = -1e3, end = 1e4,
                    resolution = 1e-3)
  mine_episodes(x, ..., max_size = max_size, threads = 1)
}

as_block <- function(rows) data.frame(time = rows$tick / 1000, unit = rows$unit)

# The change table by looking each episode up.
oracle_changes <- function(before, now) {
  names <- union(before$episode, now$episode)
  out <- data.frame(
    episode = names,
    before = before$count[match(names, before$episode)],
    now = now$count[match(names, now$episode)]
  )
  out <- out[is.na(out$before) | is.na(out$now) | out$before != out$now, ]
  out$status <- rep("risen", nrow(out))
  out$status[which(out$now < out$before)] <- "fallen"
  out$status[is.na(out$before)] <- "new"
  out$status[is.na(out$now)] <- "gone"
  out <- out[order(out$episode, method = "radix"), ]
  rownames(out) <- NULL
  out
}

by_name <- function(changes) {
  changes$status <- as.character(changes$status)
  out <- changes[order(changes$episode, method = "radix"),
                 c("episode", "before", "now", "status")]
  rownames(out) <- NULL
  out
}

bounds <- rbind(c(0, 0.004), c(0.004, 0.012))

test_that("however a recording is cut, each update is the window mined from scratch", {
  skip_on_cran()
  for (seed in cases(12)) {
    all <- growing(seed)
    withr::local_seed(seed)
    window <- sample(c(7, 60, 300, 1500, 5000), 1)
    # Cuts may be far apart, beyond the window, or on one spot: then nothing comes.
    cuts <- sort(c(sample(2100, sample(4:15, 1), TRUE), 2100))
    least <- sample(2:6, 1)
    s <- episode_stream(bounds, least, window / 1000, resolution = 1e-3, max_size = 4,
                        threads = 1)
    reached <- -Inf
    for (now in cuts) {
      before <- s$episodes
      block <- all[all$tick > reached & all$tick <= now, ]
      s <- update(s, as_block(block[sample(nrow(block)), ]), now = now / 1000)
      inside <- in_window(all, now, window)
      whole <- from_scratch(inside, least, bounds)
      expect_identical(as.data.frame(s), as.data.frame(whole))
      expect_identical(attr(s$episodes, "levels")[-1, ], attr(whole, "levels")[-1, ])
      held <- attr(s$episodes, "recording")
      expect_identical(held$time, inside$tick[order(inside$tick)] / 1000)
      expect_identical(by_name(s$changes), oracle_changes(before, s$episodes))
      reached <- now
    }
    expect_identical(nrow(s$history), length(cuts))
    expect_identical(s$history$end, cuts / 1000)
  }
})

# A stream that counts by what came and went, however short its window is.
always_moves_on <- function(...) {
  s <- episode_stream(..., resolution = 1e-3, threads = 1)
  s$always <- TRUE
  s
}

test_that("counting what came and went gives what mining the window gives", {
  for (seed in cases(10)) {
    withr::local_seed(seed)
    all <- growing(seed, spikes = sample(c(60, 300), 1), units = sample(2:6, 1))
    window <- sample(c(9, 60, 300, 1500), 1)
    low <- sample(0:6, 3, TRUE) * (runif(3) < 0.6)
    delays <- unique(cbind(low, low + sample(12, 3, TRUE))) / 1000
    search <- list(
      list(min_count = sample(2:6, 1)), list(min_count = 2, distinct_units = TRUE),
      list(min_support = 0.02), list(min_count = 3, target = "closed")
    )[[sample(4, 1)]]
    # Some blocks end between two ticks with spikes, some hold nothing.
    cuts <- sort(unique(c(sample(2100, 40), 2100)))
    s <- do.call(always_moves_on, c(list(delays, window = window / 1000, max_size = 4), search))
    moved_on <- 0
    reached <- -Inf
    for (now in cuts) {
      s <- update(s, as_block(all[all$tick > reached & all$tick <= now, ]), now = now / 1000)
      inside <- in_window(all, now, window)
      whole <- do.call(from_scratch, c(list(inside, intervals = delays), search))
      expect_identical(as.data.frame(s), as.data.frame(whole))
      expect_identical(attr(s$episodes, "levels")[-1, ], attr(whole, "levels")[-1, ])
      expect_identical(attr(s$episodes, "recording")$time, inside$tick / 1000)
      moved_on <- moved_on + !is.null(s$counting$state)
      reached <- now
    }
    expect_gt(moved_on, 0)
  }
})

test_that("delays that hundreds of spikes fit in are counted as well", {
  for (seed in 1:3) {
    withr::local_seed(seed)
    units <- sample(2:4, 1)
    all <- unique(data.frame(tick = sample(1500, 1500, TRUE),
                             unit = paste0("u", sample(units, 1500, TRUE))))
    all <- all[order(all$tick), ]
    delays <- rbind(c(sample(c(0, 0.05, 0.099), 1), sample(c(0.1, 0.2), 1)))
    least <- sample(2:5, 1)
    s <- always_moves_on(delays, least, window = 0.9, max_size = 3)
    s <- update(s, as_block(all[all$tick <= 900, ]), now = 0.9)
    reached <- 900
    for (now in cumsum(c(900, sample(1:4, 60, TRUE)))[-1]) {
      s <- update(s, as_block(all[all$tick > reached & all$tick <= now, ]), now = now / 1000)
      whole <- from_scratch(in_window(all, now, 900), least, delays, max_size = 3)
      expect_identical(as.data.frame(s), as.data.frame(whole))
      reached <- now
    }
  }
})

test_that("a stream that others moved on, or that was in a file, counts on", {
  all <- growing(2)
  until <- function(s, from, to, by = 50) {
    for (now in seq(from + by, to, by = by)) {
      s <- update(s, as_block(all[all$tick > now - by & all$tick <= now, ]), now = now / 1000)
    }
    s
  }
  start <- until(always_moves_on(bounds, 3, 0.3, max_size = 4), 0, 500)
  kept <- as.data.frame(start)
  want <- as.data.frame(from_scratch(in_window(all, 1000, 300), 3, bounds))
  expect_identical(as.data.frame(until(start, 500, 1000)), want)
  expect_identical(as.data.frame(until(start, 500, 1000)), want)   # the window has moved
  expect_identical(as.data.frame(start), kept)
  again <- unserialize(serialize(start, NULL))
  expect_identical(as.data.frame(until(again, 500, 1000)), want)
  # The spikes are changed in place: the window in the core is no longer theirs.
  changed <- start
  recording <- attr(changed$episodes, "recording")
  attr(changed$episodes, "recording") <- recording[recording$unit != "u1", ]
  left <- all[all$unit != "u1" & all$tick > 350 & all$tick <= 500, ]
  expect_identical(as.data.frame(update(changed, now = 0.65)),
                   as.data.frame(from_scratch(left, 3, bounds)))
  changed <- until(changed, 500, 1000)
  expect_identical(as.data.frame(changed), want)
})

test_that("units may come in a stream that counts on, more than there was room for", {
  s <- always_moves_on(c(0, 0.003), 1, 0.04, max_size = 2)
  for (k in 1:80) {
    s <- update(s, data.frame(time = k / 1000, unit = paste0("u", k)))
  }
  expect_identical(s$history$spikes[41:80], rep(40L, 40))
  whole <- mine_episodes(data.frame(time = 41:80 / 1000, unit = paste0("u", 41:80)), 1,
                         c(0, 0.003), max_size = 2, threads = 1)
  expect_identical(as.data.frame(s)$episode, whole$episode)
})

test_that("where memory is too short to keep a window, the window is mined", {
  all <- growing(3)
  s <- always_moves_on(bounds, 4, 1, max_size = 4)
  s <- update(s, as_block(all[all$tick <= 900, ]), now = 0.9)
  block <- synfire:::read_block(s, as_block(all[all$tick > 900 & all$tick <= 1000, ]), 1)
  short <- s
  short$counting <- synfire:::no_counting(s$arguments)
  short$arguments$max_memory <- 1e4
  expect_null(synfire:::move_on(short, synfire:::slide_window(short, block)))
  s$counting$possible <- FALSE
  s <- update(s, as_block(all[all$tick > 900 & all$tick <= 1000, ]), now = 1)
  expect_false(s$counting$possible)
  whole <- from_scratch(in_window(all, 1000, 1000), 4, bounds)
  expect_identical(as.data.frame(s), as.data.frame(whole))
})

test_that("a stream of many units visits windows and counts the same", {
  for (seed in 1:2) {
    all <- growing(seed, spikes = 900, units = 100)
    s <- always_moves_on(bounds, 3, 0.3, max_size = 4)
    for (now in seq(50, 2000, by = 50)) {
      s <- update(s, as_block(all[all$tick > now - 50 & all$tick <= now, ]), now = now / 1000)
      whole <- from_scratch(in_window(all, now, 300), 3, bounds)
      expect_identical(as.data.frame(s), as.data.frame(whole))
    }
    expect_false(is.null(s$counting$state))
  }
})

test_that("what a stream holds is that of its window, however long the recording", {
  withr::local_seed(8)
  minute <- growing(8, spikes = 1500, span = 60000)
  held <- numeric()
  s <- episode_stream(bounds, 2, 5, resolution = 1e-3, max_size = 4, threads = 1,
                      history = 20)
  s$always <- TRUE   # counts by what came and went
  # Bursts make episodes come and go.
  for (now in c(seq(0.5, 100, by = 0.5), seq(102, 500, by = 2), 7200 + 1:50 / 2)) {
    last <- s$history$end[nrow(s$history)]
    last <- max(last, now - 2, 0)
    turn <- 60000 * (now * 1000 - 1) %/% 60000
    block <- minute[minute$tick + turn > last * 1000 & minute$tick + turn <= now * 1000, ]
    block$tick <- block$tick + turn
    s <- update(s, as_block(block), now = now)
    held <- c(held, summary(s)$memory)
  }
  expect_false(anyNA(held))
  early <- max(held[seq_len(length(held) %/% 4)])
  expect_lte(max(held), 1.3 * early)
  expect_lt(as.numeric(object.size(s)), 1e6)
  whole <- from_scratch(in_window(rbind(minute, transform(minute, tick = tick + 7.2e6)),
                                  7225000, 5000), 2, bounds)
  expect_identical(as.data.frame(s), as.data.frame(whole))
})

test_that("an update goes on from what the last one has counted", {
  all <- growing(2)
  s <- episode_stream(bounds, 4, 1, resolution = 1e-3, max_size = 4, threads = 1)
  s <- update(s, as_block(all[all$tick <= 1000, ]), now = 1)
  s <- update(s, as_block(all[all$tick > 1000 & all$tick <= 1010, ]), now = 1.01)
  state <- s$counting$state
  for (now in seq(1020, 1100, by = 10)) {
    s <- update(s, as_block(all[all$tick > now - 10 & all$tick <= now, ]), now = now / 1000)
    expect_true(rlang::is_reference(s$counting$state, state))
  }
  expect_gt(s$counting$stamp, 5)
})

test_that("columns of the window are vectors like any others", {
  buffer <- as.double(1:20)
  times <- .Call(synfire:::r_window_vector, buffer, 5, 9, NULL)
  units <- .Call(synfire:::r_window_vector, rep(1:2, 5), 2, 6, c("a", "b"))
  expect_identical(times, c(6, 7, 8, 9))
  expect_identical(units, factor(c("a", "b", "a", "b")))
  .Call(synfire:::r_window_write, buffer, 9, c(100, 101))
  expect_identical(times + 0, c(6, 7, 8, 9))
  times[[2]] <- -1
  expect_identical(times, c(6, -1, 8, 9))
  expect_identical(buffer[6:11], c(6, 7, 8, 9, 100, 101))
  expect_identical(unserialize(serialize(units, NULL)), factor(c("a", "b", "a", "b")))
  expect_identical(.Call(synfire:::r_window_until, c(1, 2, 2, 3), 2), 3)
})

test_that("counts are those of the definition", {
  for (seed in cases(15)) {
    stream <- random_stream(seed, trials = FALSE)
    if (length(stream$tick) < 5L) next
    window <- 25
    s <- episode_stream(stream_intervals(stream), 2, window / 1000, resolution = 1e-3,
                        max_size = 4, distinct_units = FALSE, threads = 1)
    o <- order(stream$tick)
    reached <- -Inf
    for (now in unique(stream$tick[o])[c(FALSE, FALSE, TRUE)]) {
      here <- stream$tick > reached & stream$tick <= now
      s <- update(s, data.frame(time = stream$tick[here] / 1000, unit = stream$unit[here]))
      seen <- stream
      inside <- stream$tick > now - window & stream$tick <= now
      seen$tick <- stream$tick[inside]
      seen$unit <- stream$unit[inside]
      seen$trial <- rep(1L, sum(inside))
      expect_identical(plain(s), plain(oracle_mine(seen, 2, 4)$table))
      reached <- now
    }
  }
})

test_that("overlapping blocks and late spikes give the same as blocks in order", {
  for (seed in cases(8)) {
    all <- growing(seed)
    withr::local_seed(seed)
    window <- 400
    s <- episode_stream(bounds, 3, window / 1000, resolution = 1e-3, max_size = 4,
                        threads = 1)
    late <- all[0, ]
    reached <- 0
    for (now in seq(100, 2000, by = 100)) {
      again <- all[all$tick > now - 250 & all$tick <= reached, ]
      fresh <- all[all$tick > reached & all$tick <= now, ]
      held_back <- runif(nrow(fresh)) < 0.1
      # What is held back comes with the next block, where others come again.
      s <- update(s, as_block(rbind(fresh[!held_back, ], late, again)), now = now / 1000)
      missing <- fresh[held_back, ]
      given <- all[!paste(all$tick, all$unit) %in% paste(missing$tick, missing$unit), ]
      whole <- from_scratch(in_window(given, now, window), 3, bounds)
      expect_identical(as.data.frame(s), as.data.frame(whole))
      late <- missing
      reached <- now
    }
  }
})

test_that("a late spike that the window has left is an error, a repeated one is none", {
  s <- episode_stream(c(0, 0.005), 1, 1, threads = 1)
  s <- update(s, data.frame(time = c(0.5, 1.5, 1.9), unit = c("A", "B", "A")), now = 2)
  expect_identical(s$history$spikes, 2L)
  # Between 1 and 2 s everything can still come; the window then begins after 1.6 s.
  s2 <- update(s, data.frame(time = c(1.5, 1.7, 2.5), unit = c("B", "C", "A")), now = 2.6)
  expect_identical(attr(s2$episodes, "recording")$time, c(1.7, 1.9, 2.5))
  expect_error(update(s, data.frame(time = c(1.5, 2.5), unit = "C"), now = 2.6), "1.6 s",
               class = "synfire_error_argument")
  expect_error(update(s, data.frame(time = 1, unit = "A")), "give blocks in order",
               class = "synfire_error_argument")
  # The early bound of the window is outside, the tick after it inside.
  expect_identical(update(s, data.frame(time = 1.000001, unit = "A"))$history$spikes, c(2L, 3L))
})

test_that("the window ends where the recording does, also in silence", {
  x <- spike_trains(c(0.1, 0.2, 0.9), c("A", "B", "A"), start = 0, end = 1)
  s <- update(episode_stream(c(0, 0.2), 1, 0.5, threads = 1), x)
  expect_identical(s$history$end, 1)
  expect_identical(s$history$recorded, 0.5)   # of the second, the window is mined
  expect_identical(attr(s$episodes, "recording")$time, 0.9)
  s <- update(s, now = 1.399999)
  expect_identical(nrow(s$changes), 0L)
  expect_identical(nrow(s$episodes), 1L)
  expect_identical(attr(attr(s$episodes, "recording"), "end"), 1.399999)
  s <- update(s, data.frame(time = numeric(), unit = character()), now = 1.4)
  expect_identical(nrow(s$episodes), 0L)
  expect_identical(as.character(s$changes$status), "gone")
  s <- update(s, list(A = numeric(), C = 1.45))
  expect_identical(s$history$end, c(1, 1.399999, 1.4, 1.45))
  expect_identical(s$episodes$episode, "C")
  s <- update(s, now = 100)
  expect_identical(nrow(s$episodes), 0L)
  expect_equal(s$history$recorded, c(0.5, 0.399999, 0.000001, 0.05, 0.5))
})

test_that("units may appear at any time, and those not asked for never do", {
  s <- episode_stream(c(0, 0.005), 1, 10, threads = 1)
  s <- update(s, list(b = 0.001))
  s <- update(s, data.frame(time = c(0.002, 0.003), unit = c("a", "b")))
  s <- update(s, data.frame(time = 0.004, unit = factor("c", c("c", "silent"))))
  recording <- attr(s$episodes, "recording")
  expect_identical(levels(recording$unit), c("b", "a", "c", "silent"))
  expect_identical(as.character(recording$unit), c("b", "a", "b", "c"))
  whole <- mine_episodes(data.frame(time = (1:4) / 1000, unit = c("b", "a", "b", "c")), 1,
                         c(0, 0.005), threads = 1)
  expect_identical(as.data.frame(s), as.data.frame(whole))

  s <- episode_stream(c(0, 0.005), 1, 10, units = c("c", "a"), threads = 1)
  s <- update(s, data.frame(time = (1:4) / 1000, unit = c("b", "a", "b", "c")))
  expect_identical(s$episodes$episode, c("a", "c", "a -(0,0.005]-> c"))
  expect_identical(s$episodes$support, rep(0.5, 3))
  expect_identical(levels(attr(s$episodes, "recording")$unit), c("c", "a"))
})

test_that("arguments reach the search", {
  all <- growing(3)
  inside <- in_window(all, 1500, 1000)
  stream <- function(..., max_size = 4) {
    s <- episode_stream(bounds, window = 1, resolution = 1e-3, ..., max_size = max_size,
                        threads = 1)
    as.data.frame(update(s, as_block(all[all$tick <= 1500, ]), now = 1.5))
  }
  scratch <- function(...) as.data.frame(from_scratch(inside, intervals = bounds, ...))
  expect_identical(stream(min_support = 0.02), scratch(min_support = 0.02))
  expect_identical(stream(min_count = 3, max_size = 2, top = 4),
                   scratch(min_count = 3, max_size = 2, top = 4))
  expect_identical(stream(min_count = 3, target = "maximal"),
                   scratch(min_count = 3, target = "maximal"))
  expect_identical(stream(min_count = 3, engine = "state"), scratch(min_count = 3))
})

test_that("an update leaves the old stream as it was", {
  s <- update(episode_stream(c(0, 0.005), 1, 1, threads = 1), list(A = 0.1, B = 0.102))
  # All but the core's window, which moves on, and the buffers that streams share.
  values <- \(s) unclass(s)[!names(s) %in% c("counting", "notes")]
  before <- unserialize(serialize(values(s), NULL))
  later <- update(s, list(A = 1.5))
  expect_identical(values(s), before)
  expect_identical(nrow(later$history), 2L)
  # Also where an update notes counts alone, of which tables are made when somebody looks.
  all <- growing(6)
  s <- always_moves_on(bounds, 3, 0.5, max_size = 4, history = 5, follow = 2)
  shown <- \(s) as.list(s)[c("episodes", "changes", "history", "followed", "slowest")]
  kept <- list()
  for (now in seq(50, 2000, by = 50)) {
    s <- update(s, as_block(all[all$tick > now - 50 & all$tick <= now, ]), now = now / 1000)
    looked <- if (now %% 100 == 0) unserialize(serialize(shown(s), NULL))
    kept <- c(kept, list(list(s = s, looked = looked, now = now)))
  }
  for (one in kept) {
    expect_identical(as.data.frame(one$s), as.data.frame(
      from_scratch(in_window(all, one$now, 500), 3, bounds)
    ))
    before <- if (one$now > 50) kept[[match(one$now - 50, sapply(kept, `[[`, "now"))]]$s
    if (!is.null(before)) {
      expect_identical(by_name(one$s$changes), oracle_changes(before$episodes, one$s$episodes))
    }
    if (!is.null(one$looked)) expect_identical(shown(one$s), one$looked)
    expect_identical(tail(one$s$history$end, 1), one$now / 1000)
    again <- unserialize(serialize(one$s, NULL))
    expect_identical(shown(again), shown(one$s))
  }
  # The spikes are held once, not in the call as well.
  expect_identical(as.list(attr(s$episodes, "call"))$x, quote(recording))
})

test_that("Ctrl-C in an update leaves the stream that was", {
  skip_on_cran()
  expect_interrupted(quote({
    set.seed(1)
    x <- simulate_culture(duration = 120, burst_rate = 0.5)
    s <- update(episode_stream(c(0.005, 0.015), 4000, 120, threads = 1,
                               resolution = attr(x, "resolution")), x[time = c(0, 1)])
    kept <- s
    # Hours of work.
    s$arguments$min_count <- 10
    rows <- nrow(s$history)
    begin()
    tryCatch(
      {
        s <- update(s, x[time = c(1, 120)])
      },
      interrupt = function(condition) {
        same <- identical(s$episodes, kept$episodes) && nrow(s$history) == rows
        if (same) rlang::interrupt() else stop("the stream has changed")
      }
    )
  }))
})

test_that("what is held has a bound", {
  withr::local_seed(4)
  s <- episode_stream(c(0, 0.01), 5, 0.5, history = 20, follow = 3, max_size = 3, threads = 1)
  for (k in 1:60) {
    # Other units rise all the time.
    time <- k / 10 - sort(runif(200, 0, 0.1))
    s <- update(s, data.frame(time = time, unit = paste0("u", (k %/% 5) %% 6 + sample(4, 200, TRUE))),
                now = k / 10)
    if (k == 30) size <- object.size(s)
    followed <- s$followed
    expect_lte(length(followed$episode), 15L)
    expect_identical(dim(followed$counts), c(min(k, 20L), length(followed$episode)))
    # What is noted is the count of the table.
    now <- s$episodes$count[match(followed$episode, s$episodes$episode)]
    now[is.na(now)] <- 0L
    expect_identical(followed$counts[nrow(followed$counts), ], now)
  }
  expect_identical(nrow(s$history), 20L)
  expect_equal(s$history$end, 41:60 / 10)
  expect_identical(s$updates, 60)
  expect_lt(as.numeric(object.size(s)), 1.3 * as.numeric(size))
  # The strongest is always followed, unless one that shares its units is stronger.
  best <- synfire:::strongest_rows(s$episodes)[[1L]]
  expect_true(s$episodes$episode[[best]] %in% s$followed$episode)
})

test_that("the strongest rows are those with the most spikes", {
  found <- from_scratch(growing(1), 2, bounds)
  spikes <- found$size * found$count
  all <- synfire:::strongest_rows(found)
  expect_setequal(all, which(found$size > 1))
  expect_false(is.unsorted(-spikes[all]))
  few <- synfire:::strongest_rows(found, 5)
  expect_gte(length(few), 5L)
  expect_identical(few, all[seq_along(few)])
})

test_that("the largest changes come first", {
  s <- episode_stream(c(0, 0.001), 3, 1, max_size = 1, threads = 1)
  blocks <- list(rep(c("a", "b", "c", "d"), c(10, 9, 3, 4)), rep(c("a", "b", "e", "d"), c(4, 10, 9, 4)))
  for (k in 1:2) {
    n <- length(blocks[[k]])
    s <- update(s, data.frame(time = k + seq_len(n) / 1000, unit = blocks[[k]]), now = k + 0.5)
  }
  expect_identical(s$changes$episode, c("e", "a", "b", "c"))
  expect_identical(s$changes$before, c(NA, 10L, 9L, 3L))
  expect_identical(s$changes$change, c(NA, -6L, 1L, NA))
  expect_identical(as.character(s$changes$status), c("new", "fallen", "risen", "gone"))
  expect_identical(unlist(s$history[2, c("risen", "fallen", "new", "gone")]),
                   c(risen = 1L, fallen = 1L, new = 1L, gone = 1L))
})

test_that("the real-time factor is recorded seconds by computing seconds", {
  s <- episode_stream(c(0, 0.005), 1, 2, threads = 1)
  expect_identical(summary(s)$real_time_factor, NA_real_)
  for (k in 1:5) s <- update(s, data.frame(time = k - 0.5, unit = "A"), now = k)
  about <- summary(s)
  expect_equal(about$recorded, sum(s$history$recorded))
  expect_equal(about$recorded, 4.5)    # from the first spike on
  expect_equal(about$seconds, sum(s$history$seconds))
  expect_equal(about$real_time_factor, about$recorded / about$seconds)
  expect_identical(about$slowest$seconds, max(s$history$seconds))
  expect_identical(about$slowest$end, s$history$end[which.max(s$history$seconds)])
})

test_that("a stream prints on a screen", {
  s <- episode_stream(c(0, 0.005), 2, 1, threads = 1)
  expect_snapshot(print(s))
  expect_snapshot(summary(s))
  block <- \(shift) {
    list(A = shift + c(0.1, 0.2, 0.3), B = shift + c(0.102, 0.203, 0.304), C = shift + 0.4)
  }
  s <- update(s, block(0))
  s <- update(s, list(B = c(1.101, 1.2), C = c(1.102, 1.202)), now = 1.25)
  # Times differ from run to run, and so does which update is the slowest.
  s$recorded <- 2
  s$seconds <- 0.016
  s$slowest <- s$history[1L, ]
  s$slowest$seconds <- 0.012
  expect_snapshot(print(s))
  expect_snapshot(summary(s))
  s$seconds <- 8
  expect_snapshot(summary(s))
  expect_identical(format(s), "window of 1 s up to 1.25 s, 7 spikes of 3 units, 3 episodes")
  expect_length(capture.output(print(s, n = 0)), 6L)
})

test_that("bad arguments are named", {
  ok <- c(0, 0.005)
  expect_snapshot(error = TRUE, {
    episode_stream(ok, 2)
    episode_stream(min_count = 2, window = 1)
    episode_stream(ok, window = 1)
    episode_stream(ok, 2, min_support = 0.1, window = 1)
    episode_stream(c(0.005, 0), 2, 1)
    episode_stream(ok, 0, 1)
    episode_stream(ok, 2, 0)
    episode_stream(ok, 2, "60 s")
    episode_stream(ok, 2, Inf)
    episode_stream(ok, 2, 1e-7)
    episode_stream(ok, 2, 0.0015, resolution = 1e-3)
    episode_stream(ok, 2, 1, resolution = 0)
    episode_stream(ok, 2, 1, x = 1)
    episode_stream(ok, 2, 1, "window")
    episode_stream(ok, 2, 1, windows = 2)
    episode_stream(ok, 2, 1, top = 1, top = 2)
    episode_stream(ok, 2, 1, max_size = 0)
    episode_stream(ok, 2, 1, target = "all")
    episode_stream(ok, 2, 1, units = NA)
    episode_stream(ok, 2, 1, history = 0)
    episode_stream(ok, 2, 1, follow = -1)
  })
})

test_that("bad spikes are named, and nothing is lost", {
  s <- update(episode_stream(c(0, 0.005), 2, 1, threads = 1), list(A = 5))
  expect_snapshot(error = TRUE, {
    update(s)
    update(s, 1:3)
    update(s, "spikes.csv")
    update(s, data.frame(time = NA, unit = "A"))
    update(s, data.frame(a = 6, b = "A"))
    update(s, list(A = 6), now = 5.5)
    update(s, now = 4)
    update(s, list(A = 6), now = "late")
    update(s, list(A = 6), now = 6.0000005)
    update(s, list(A = 3.5))
    update(s, spike_trains(6, "A", resolution = 1e-3))
    update(s, spike_trains(6, "A", trials = data.frame(start = 5, end = 7)))
    update(s, list(A = 6), until = 6)
    print(s, n = -1)
  })
})

test_that("without a GPU the stream says so before the experiment", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  expect_error(episode_stream(c(0, 0.005), 2, 1, device = "gpu"), class = "synfire_error_device")
})

test_that("a GPU gives the same stream", {
  skip_without_gpu()
  all <- growing(5, spikes = 3000, units = 30)
  on <- function(device) {
    s <- episode_stream(bounds, 8, 0.5, resolution = 1e-3, max_size = 4,
                        device = device, threads = 1)
    lapply(seq(100, 2000, by = 100), \(now) {
      s <<- update(s, as_block(all[all$tick > now - 100 & all$tick <= now, ]), now = now / 1000)
      list(as.data.frame(s), s$changes, s$history[names(s$history) != "seconds"])
    })
  }
  expect_identical(on("gpu"), on("cpu"))
})

test_that("the picture draws the counts that were noted", {
  skip_if_not_installed("ggplot2")
  s <- episode_stream(c(0, 0.005), 2, 1, threads = 1)
  expect_error(ggplot2::autoplot(s), "without an update", class = "synfire_error_argument")
  # A > B all the time, C > D in the second half only, where A > B falls silent once.
  for (k in 1:8) {
    time <- k / 2 - c(0.4, 0.3, 0.2)
    s <- update(s, list(
      A = time[k != 6], B = time[k != 6] + 0.001, C = time[k > 4] + 0.05, D = time[k > 4] + 0.052
    ), now = k / 2)
  }
  p <- ggplot2::autoplot(s)
  lines <- p$data
  expect_setequal(levels(lines$episode), c("A > B", "C > D"))
  expect_identical(lines$count[lines$episode == "C > D"], c(NA, NA, NA, NA, 3L, 6L, 6L, 6L))
  expect_identical(lines$count[lines$episode == "A > B"], c(3L, 6L, 6L, 6L, 6L, 3L, 3L, 6L))
  expect_identical(unique(lines$end), 1:8 / 2)
  expect_silent(ggplot2::ggplot_build(p))
  expect_identical(levels(ggplot2::autoplot(s, episodes = 1)$data$episode), "A > B")
  path <- withr::local_tempfile(fileext = ".pdf")
  withr::with_pdf(path, plot(s))
  expect_gt(file.size(path), 0)
  expect_error(ggplot2::autoplot(s, episodes = 0), class = "synfire_error_argument")
  none <- update(episode_stream(c(0, 0.005), 2, 1, follow = 0, threads = 1), list(A = 1))
  expect_error(ggplot2::autoplot(none), "follow", class = "synfire_error_argument")
  quiet <- update(episode_stream(c(0, 0.005), 2, 1, threads = 1), list(A = 1))
  expect_message(p <- ggplot2::autoplot(quiet), "No episode of two or more units was frequent")
  expect_s3_class(p, "ggplot")
})

test_that("an episode that took over is drawn beside the one it is a part of", {
  followed <- list(
    size = c(3L, 2L, 2L), units = list(c("A", "B", "C"), c("B", "C"), c("A", "B")),
    counts = cbind(c(9L, 9L, 0L, 0L, 0L), c(10L, 10L, 10L, 10L, 10L), c(9L, 9L, 0L, 0L, 9L))
  )
  # A > B shares its units with A > B > C, and is there without it only once in three.
  expect_identical(synfire:::lines_to_draw(followed, 5), 1:2)
  expect_identical(synfire:::lines_to_draw(followed, 1), 1L)
})

test_that("arguments that are code are refused as such", {
  for (code in list(quote(a + b), quote(abc))) {
    expect_error(episode_stream(code, 5, 1), "`intervals` must be", class = "synfire_error_argument")
    expect_error(episode_stream(c(0, 0.01), code, 1), "`min_count` must be",
                 class = "synfire_error_argument")
    expect_error(episode_stream(c(0, 0.01), 5, 1, max_size = code), "`max_size` must be",
                 class = "synfire_error_argument")
  }
})
