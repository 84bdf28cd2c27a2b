test_that("scheduling, the oracle's own step, finds the largest set", {
  for (seed in cases(60)) {
    stream <- random_stream(seed, units = 2, spikes = 12, span = 30)
    found <- oracle_occurrences(stream, stream$names, stream$low[[1L]], stream$high[[1L]])
    if (nrow(found) > 10L) found <- found[seq_len(10L), , drop = FALSE]
    expect_identical(oracle_schedule(found[, 1L], found[, 2L]),
                     oracle_subsets(found[, 1L], found[, 2L]))
  }
})

test_that("every engine equals the oracle on small random streams", {
  skip_on_cran()
  mined <- 0
  for (seed in cases(200)) {
    kind <- seed %% 4
    stream <- random_stream(
      seed, units = c(1, 2, 4, 6)[[kind + 1]], spikes = c(12, 25, 40, 50)[[kind + 1]],
      span = c(10, 40, 80, 120)[[kind + 1]], intervals = c(3, 2, 2, 1)[[kind + 1]]
    )
    min_count <- if (kind < 2) 1 + seed %% 3 else 2 + seed %% 4
    max_size <- if (seed %% 5 == 0) Inf else 1 + seed %% 4
    want <- oracle_mine(stream, min_count, min(max_size, 5))
    for (engine in engines) {
      got <- mined_by(stream, min_count, max_size = min(max_size, 5), engine = engine,
                      threads = 1 + seed %% 2)
      label <- paste("engine", engine, "on stream", seed)
      expect_identical(plain(got), want$table, label = label)
      expect_identical(attr(got, "levels")$candidates, as.double(want$candidates),
                       label = paste("candidates of", label))
    }
    mined <- mined + nrow(want$table)
  }
  expect_gt(mined, 250)
})

test_that("no frequent episode is lost by going level by level", {
  longest <- 0
  for (seed in 301:340) {
    stream <- random_stream(seed, units = 2 + seed %% 2, spikes = 30, span = 25, intervals = 2,
                            longest = 4)
    want <- oracle_enumerate(stream, 2, 3)
    for (engine in engines) {
      expect_identical(plain(mined_by(stream, 2, max_size = 3, engine = engine, threads = 1)),
                       want$table, label = paste("engine", engine, "on stream", seed))
    }
    longest <- max(longest, want$table$size)
  }
  expect_equal(longest, 3)
})

# More units than one block of lanes holds, then more than a table is made for.
test_that("many units are counted like few", {
  skip_on_cran()
  for (units in c(33, 64, 65, 100)) {
    for (dense in c(TRUE, FALSE)) {
      stream <- withr::with_seed(units, list(
        tick = sample(if (dense) 150 else 3000, 400, replace = TRUE),
        unit = paste0("u", pmin(sample(units, 400, replace = TRUE),
                                sample(units, 400, replace = TRUE))),
        names = paste0("u", seq_len(units)), low = c(0, 3), high = c(4, 6)
      ))
      stream$trial <- rep(1L, 400)
      stream$x <- stream_trains(stream)
      want <- NULL
      for (engine in engines) {
        got <- mined_by(stream, 3, max_size = 4, engine = engine, threads = 2)
        want <- want %||% plain(got)
        expect_identical(plain(got), want)
      }
      for (i in round(seq(1, nrow(want), length.out = 40))) {
        edges <- match(ticks_of(got$low[[i]]), stream$low)
        expect_identical(
          want$count[[i]],
          oracle_count(stream, got$units[[i]], stream$low[edges], stream$high[edges])
        )
      }
    }
  }
})

test_that("many intervals are counted like one at a time", {
  stream <- random_stream(5, units = 5, spikes = 60, span = 120, trials = FALSE)
  stream$low <- c(0, 0, 1, 2, 3, 5, 8, 2, 0, 4)
  stream$high <- c(1, 9, 4, 3, 8, 9, 9, 9, 5, 6)
  all <- plain(mined_by(stream, 2, max_size = 2, engine = "window"))
  expect_identical(all, plain(mined_by(stream, 2, max_size = 2, engine = "state")))
  single <- lapply(seq_along(stream$low), function(k) {
    one <- stream
    one$low <- stream$low[[k]]
    one$high <- stream$high[[k]]
    plain(mined_by(one, 2, max_size = 2))
  })
  single <- unique(do.call(rbind, single))
  single <- single[order(single$size, -single$count, single$episode, method = "radix"), ]
  rownames(single) <- NULL
  expect_identical(all, single)
})

test_that("long lists with bursts and silence are given up only when hopeless", {
  # Early abort looks every 256 ends: counts just above and below min_count must survive.
  withr::local_seed(11)
  quiet <- sort(sample(2e5, 3000))
  burst <- as.vector(outer(sample(0:199, 60) * 1000, sample(900, 60), `+`))
  tick <- c(quiet, burst)
  stream <- list(tick = tick, unit = sample(c("a", "b", "c"), length(tick), replace = TRUE),
                 names = c("a", "b", "c"), low = c(0, 20), high = c(20, 60))
  stream$x <- stream_trains(stream)
  state <- mined_by(stream, 150, max_size = 4, engine = "state", threads = 2)
  expect_identical(plain(mined_by(stream, 150, max_size = 4, engine = "window")), plain(state))
  for (at in c(3, 10, 30)) {
    count <- state$count[state$size == 3][[at]]
    for (min_count in count + 0:1) {
      got <- plain(mined_by(stream, min_count, max_size = 3, engine = "window"))
      want <- plain(state[state$size <= 3 & state$count >= min_count, ])
      expect_identical(got, want)
    }
  }
})

test_that("a candidate may count one more than its prefix has left", {
  # The prefix is counted at 0, 30, 60 ...; only those at 10, 40, 70 ... are followed by C,
  # so that half way the candidate is one behind, and yet it ends with the same count.
  a <- 10 * (0:300)
  c <- 30 * (1:100) + 5
  x <- spike_trains(c(a, c) / 1000, rep(c("A", "C"), c(301, 100)), resolution = 1e-3)
  for (engine in engines) {
    found <- mine_episodes(x, 100, rbind(c(0, 0.005), c(0.015, 0.020)),
                           distinct_units = FALSE, engine = engine)
    expect_identical(found$count[found$episode == "A -(0.015,0.02]-> A"], 100L)
    expect_identical(found$count[found$episode == "A -(0.015,0.02]-> A -(0,0.005]-> C"], 100L)
  }
})

test_that("an occurrence is over after more than 65,535 events of other units", {
  for (gap in c(65533:65540, 131072)) {
    tick <- c(0, 100, seq_len(gap), gap + c(10, 110))
    unit <- c("A", "B", rep("C", gap), "A", "B")
    x <- spike_trains(tick / 1000, unit, resolution = 1e-3)
    found <- mine_episodes(x, 2, c(0, 0.2), max_size = 2, threads = 1)
    expect_identical(found$count[found$episode == "A -(0,0.2]-> B"], 2L)
  }
})

test_that("windows around 65,535 events are counted exactly", {
  for (reach in c(65532:65536, 70000)) {
    tick <- c(seq_len(70001), 1, 35000, 70002, 80000, 140000)
    unit <- rep(c("b", "a"), c(70001, 5))
    x <- spike_trains(tick / 1000, unit, resolution = 1e-3)
    intervals <- rbind(c(reach - 3, reach), c(0, 1)) / 1000
    mine <- function(engine) {
      # Delays of more than a minute are seldom meant, and a warning says so.
      expect_warning(
        found <- mine_episodes(x, 1, intervals, max_size = 3, distinct_units = FALSE,
                               engine = engine, threads = 2),
        "Delays of up to", class = "synfire_warning_unlikely"
      )
      found
    }
    window <- mine("window")
    expect_identical(plain(window), plain(mine("state")))
    expect_gt(nrow(window), 10)
  }
})

test_that("the engines agree on a simulated recording, with 1 and 2 threads", {
  skip_on_cran()
  withr::local_seed(1)
  x <- simulate_sym26(duration = 12)
  intervals <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
  state <- mine_episodes(x, 60, intervals, engine = "state", threads = 2)
  expect_gt(sum(state$size >= 2), 100)
  for (engine in c("window", "two-pass")) {
    for (threads in 1:2) {
      got <- mine_episodes(x, 60, intervals, engine = engine, threads = threads)
      expect_identical(as.data.frame(got), as.data.frame(state))
      expect_identical(attr(got, "levels")$candidates, attr(state, "levels")$candidates)
    }
  }
  eliminated <- attr(mine_episodes(x, 60, intervals, engine = "two-pass"), "levels")$eliminated
  expect_gt(sum(eliminated), 0)
  expect_true(all(attr(state, "levels")$eliminated == 0))
  auto <- mine_episodes(x, 60, intervals)
  expect_identical(as.data.frame(auto), as.data.frame(state))
  expect_true(attr(auto, "engine") %in% engines)
})

test_that("a hippocampal culture has 13,166 frequent episodes", {
  spikes <- utils::read.csv(shared_data("episodes/tc89.csv.gz"))
  x <- spike_trains(spikes$time / 1000, spikes$neuron)
  one <- mine_episodes(x, 800, c(0.005, 0.015), distinct_units = FALSE, threads = 1)
  expect_identical(nrow(one), 13166L)
  expect_identical(sum(attr(one, "levels")$candidates[-1L]), 272676)
  two <- mine_episodes(x, 800, c(0.005, 0.015), distinct_units = FALSE, threads = 2)
  expect_identical(as.data.frame(two), as.data.frame(one))
  # The published algorithm takes far longer, so it sees a fifth of the recording.
  part <- x[time = c(0, 180)]
  window <- mine_episodes(part, 250, c(0.005, 0.015), distinct_units = FALSE, threads = 2)
  expect_gt(max(window$size), 2)
  for (engine in c("state", "two-pass")) {
    got <- mine_episodes(part, 250, c(0.005, 0.015), distinct_units = FALSE, engine = engine,
                         threads = 2)
    expect_identical(as.data.frame(got), as.data.frame(window))
  }
})

test_that("the engines agree on a multi-well recording", {
  spikes <- utils::read.csv(shared_data("episodes/axion_B3.csv.gz"))
  x <- spike_trains(spikes$time / 1000, spikes$neuron)
  intervals <- rbind(c(0, 0.01), c(0.01, 0.03), c(0, 0.03))
  window <- mine_episodes(x, 150, intervals, max_size = 3, threads = 2)
  expect_gt(sum(window$size > 1), 100)
  for (engine in c("state", "two-pass")) {
    got <- mine_episodes(x, 150, intervals, max_size = 3, engine = engine, threads = 2)
    expect_identical(as.data.frame(got), as.data.frame(window))
  }
})

test_that("little memory costs time and changes nothing", {
  withr::local_seed(2)
  x <- simulate_sym26(duration = 20)
  intervals <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
  plenty <- mine_episodes(x, 60, intervals, threads = 1)
  expect_gte(max(plenty$size), 3)
  expect_lte(attr(plenty, "peak_memory"), 4e9)
  # Without the table, then without the lists of the longer episodes as well, and in the
  # end on fewer threads.
  for (max_memory in c(1e8, 8e6, 1.6e6)) {
    for (threads in c(1, 2, 16)) {
      got <- mine_episodes(x, 60, intervals, threads = threads, max_memory = max_memory)
      expect_identical(as.data.frame(got), as.data.frame(plenty))
      expect_lte(attr(got, "peak_memory"), max_memory)
    }
  }
})

test_that("the number of threads does not decide what fits, with every engine", {
  skip_on_cran()
  stream <- random_stream(7, units = 5, spikes = 300, span = 200, trials = FALSE)
  mine <- function(engine, threads, max_memory) {
    got <- .Call(synfire:::r_mine_episodes, synfire:::trains_of(stream$x),
                 list(as.double(stream$low), as.double(stream$high)),
                 synfire:::spelling(stream$names, cbind(low = as.double(stream$low),
                                                        high = as.double(stream$high))),
                 list(min_count = 5, max_size = 4, threads = threads, max_memory = max_memory,
                      engine = match(engine, c("state", "two-pass", "window")) - 1,
                      least_flag = 3, top = 2^53, distinct_units = 0), NULL)
    if (inherits(got, "synfire_status")) got$status else as.list(got)[c("size", "count")]
  }
  for (engine in engines) {
    outcome <- character()
    for (max_memory in c(3e5, 4.5e5, 4.6e5, 4.7e5, 5e5, 7e5, 1e7)) {
      one <- mine(engine, 1, max_memory)
      for (threads in c(2, 5, 64)) {
        expect_identical(mine(engine, threads, max_memory), one,
                         label = paste(engine, threads, max_memory))
      }
      outcome <- c(outcome, if (is.character(one)) one else "fits")
    }
    expect_setequal(outcome, c("over_budget", "fits"))
  }
})

test_that("more episodes than fit are an error, with every engine", {
  skip_on_cran()
  stream <- list(tick = rep(1:60, 8), unit = rep(letters[1:8], each = 60), names = letters[1:8],
                 low = 0, high = 3)
  stream$x <- stream_trains(stream)
  for (engine in engines) {
    expect_error(mined_by(stream, 1, engine = engine, threads = 2, max_memory = 5e6),
                 class = "synfire_error_budget")
  }
})

# What the rows mean: a lane that is free at an end's start and has a next occurrence
# scores one and is busy up to and including that occurrence.
rows_oracle <- function(distance, event, row, start) {
  lanes <- nrow(distance)
  hits <- integer(lanes)
  free_from <- numeric(lanes)
  for (i in seq_along(row)) {
    distance_here <- distance[, row[[i]] + 1L]
    hit <- free_from <= start[[i]] & distance_here > 0
    free_from[hit] <- event[[row[[i]] + 1L]] + distance_here[hit] + 1
    hits <- hits + hit
  }
  as.integer(hits)
}

test_that("all implementations of the rows count the same", {
  run <- function(bits, distance, event, row, start) {
    .Call(synfire:::r_count_rows_check, bits, distance, event, row, start)
  }
  withr::local_seed(3)
  for (blocks in 1:4) for (round in cases(12)) {
    far <- c(3L, 40L, 60000L)[[1 + round %% 3]]
    rows <- 300L
    event <- sort(sample(rows * max(1L, far %/% 10L), rows))
    span <- sample(0:min(far, 5000L), rows, replace = TRUE)
    start <- as.integer(cummax(pmax(0, event - span)))
    row <- which(event - start < 5500) - 1L
    distance <- matrix(sample(far, blocks * 32 * rows, replace = TRUE), ncol = rows)
    distance[sample(length(distance), length(distance) / 3)] <- 0L
    want <- rows_oracle(distance, event, row, start[row + 1L])
    expect_gt(sum(want), 0)
    for (bits in c(1L, 256L, 512L)) {
      expect_identical(run(bits, distance, event, row, start[row + 1L]), want)
    }
  }
})

test_that("a lane is free again after any number of events", {
  for (jump in c(100, 101, 65535:65540, 65636:65638, 131072, 1e6)) {
    event <- as.integer(c(0, jump))
    distance <- matrix(100L, 32, 2)
    want <- rep(if (jump > 100) 2L else 1L, 32)
    for (bits in c(1L, 256L, 512L)) {
      got <- .Call(synfire:::r_count_rows_check, bits, distance, event, 0:1, event)
      expect_identical(got, want)
    }
  }
})

test_that("the farthest distance and span a row may hold do not wrap", {
  # An end whose span and next occurrence add up to 65,534, the most the engine lets in.
  event <- c(30000L, 65534L, 65535L, 65600L)
  distance <- matrix(0L, 32, 4)
  distance[1, ] <- c(35533L, 5L, 5L, 5L)
  distance[2, ] <- c(1L, 0L, 7L, 7L)
  start <- c(0L, 65533L, 65534L, 65600L)
  want <- rows_oracle(distance, event, 0:3, start)
  expect_identical(want[1:3], c(3L, 3L, 0L))
  for (bits in c(1L, 256L, 512L)) {
    got <- .Call(synfire:::r_count_rows_check, bits, distance, event, 0:3, start)
    expect_identical(got, want)
  }
})
