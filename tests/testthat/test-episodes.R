# A recording with chains planted among noise, and what is mined from it.
planted <- function(seed = 1, trials = FALSE) {
  random_stream(seed, units = 4, spikes = 60, span = 90, intervals = 2, trials = trials)
}

mine_again <- function(stream, ...) plain(mined_by(stream, 2, max_size = 4, ...))

with_trains <- function(stream) {
  stream$x <- stream_trains(stream)
  stream
}

test_that("the table says what was found and how", {
  x <- spike_trains(c(0.001, 0.004, 0.020, 0.024, 0.050), c("A", "B", "A", "B", "C"))
  found <- mine_episodes(x, min_count = 2, intervals = c(0, 0.005), threads = 1)
  expect_s3_class(found, c("episodes", "synfire_table", "data.frame"), exact = TRUE)
  expect_identical(as.data.frame(found)[1:4], data.frame(
    episode = c("A", "B", "A -(0,0.005]-> B"), size = c(1L, 1L, 2L), count = c(2L, 2L, 2L),
    support = c(2, 2, 2) / 5
  ))
  expect_identical(found$units, list("A", "B", c("A", "B")))
  expect_identical(found$low, list(numeric(), numeric(), 0))
  expect_identical(found$high, list(numeric(), numeric(), 0.005))
  expect_identical(attr(found, "recording"), x)
  expect_equal(unname(attr(found, "intervals")), matrix(c(0, 0.005), 1))
  expect_equal(attr(found, "min_count"), 2)
  expect_identical(attr(found, "threads"), 1L)
  expect_true(attr(found, "elapsed") >= 0)
  expect_gt(attr(found, "peak_memory"), 0)
  expect_true(is.call(attr(found, "call")))
  levels <- attr(found, "levels")
  # Nothing begins with B, so that no candidate has three units.
  expect_equal(levels$size, 1:2)
  expect_equal(levels$frequent, c(2, 1))
  expect_equal(levels$candidates, c(3, 4))
  expect_equal(levels$eliminated, c(0, 0))

  part <- found[found$size == 2, ]
  expect_s3_class(part, "episodes")
  expect_identical(attr(part, "recording"), x)
  expect_identical(attr(part, "levels"), levels)
  expect_identical(part$episode, "A -(0,0.005]-> B")
})

test_that("rows are sorted by size, count and name in every locale", {
  stream <- planted(4)
  stream$names <- c("b", "B", "a", "\u00e4")
  stream$unit <- stream$names[match(stream$unit, unique(stream$unit))]
  found <- mine_again(with_trains(stream))
  o <- order(found$size, -found$count, found$episode, method = "radix")
  expect_identical(o, seq_len(nrow(found)))
  expect_gt(anyDuplicated(found[c("size", "count")]), 0)
})

test_that("times shifted, or scaled together with the intervals, give the same table", {
  skip_on_cran()
  for (seed in cases(12)) {
    stream <- planted(seed, trials = NA)
    want <- mine_again(stream)
    shifted <- stream
    for (by in c(-1e9, 12345, 4e12)) {
      shifted$tick <- stream$tick + by
      if (!is.null(stream$bounds)) {
        shifted$bounds[c("start", "end")] <- stream$bounds[c("start", "end")] + by
      }
      expect_identical(mine_again(with_trains(shifted)), want)
    }
    scaled <- stream
    scaled$tick <- stream$tick * 7
    if (!is.null(stream$bounds)) scaled$bounds <- stream$bounds * 7
    scaled$low <- stream$low * 7
    scaled$high <- stream$high * 7
    scaled <- with_trains(scaled)
    # Names hold the bounds, so they are compared through an order that does not.
    got <- mined_by(scaled, 2, max_size = 4)
    base <- mined_by(stream, 2, max_size = 4)
    key <- function(x, by) {
      sort(as.character(mapply(
        \(u, l, h, n) paste(c(u, ticks_of(l) / by, ticks_of(h) / by, n), collapse = " "),
        x$units, x$low, x$high, x$count
      )))
    }
    expect_identical(key(got, 7), key(base, 1))
  }
})

test_that("a finer clock changes nothing", {
  for (seed in 21:26) {
    stream <- planted(seed)
    finer <- spike_trains(stream$tick / 1000, stream$unit, resolution = 1e-6)
    got <- mine_episodes(finer, 2, stream_intervals(stream), max_size = 4, distinct_units = FALSE)
    expect_identical(plain(got), mine_again(stream))
  }
})

test_that("other names for the units rename the episodes and no more", {
  for (seed in cases(12)) {
    stream <- planted(seed)
    renamed <- stream
    renamed$names <- rev(c("x1", "x2", "x3", "x4"))
    renamed$unit <- renamed$names[match(stream$unit, stream$names)]
    want <- mined_by(stream, 2, max_size = 4)
    got <- mined_by(with_trains(renamed), 2, max_size = 4)
    key <- function(x, units) sort(paste(vapply(units, paste, "", collapse = " "), x$count,
                                         vapply(x$low, toString, ""), vapply(x$high, toString, "")))
    translated <- lapply(want$units, \(u) renamed$names[match(u, stream$names)])
    expect_identical(key(got, got$units), key(want, translated))
  }
})

test_that("a silent unit, a rare unit and the order of input change nothing", {
  for (seed in cases(12)) {
    stream <- planted(seed, trials = NA)
    want <- mine_again(stream)
    more <- stream
    more$names <- c("silent", stream$names, "zzz")
    expect_identical(mine_again(with_trains(more)), want)
    # One more spike on an occupied tick of a unit that stays below min_count.
    more$tick <- c(stream$tick, stream$tick[seq_len(min(1, length(stream$tick)))])
    more$unit <- c(stream$unit, rep("zzz", length(more$tick) - length(stream$tick)))
    expect_identical(mine_again(with_trains(more)), want)

    shuffled <- stream
    o <- withr::with_seed(seed, sample(length(stream$tick)))
    shuffled$tick <- c(stream$tick[o], stream$tick)
    shuffled$unit <- c(stream$unit[o], stream$unit)
    expect_identical(mine_again(with_trains(shuffled)), want)
    # The order of the levels decides how equal ticks are listed.
    shuffled$names <- rev(stream$names)
    expect_identical(mine_again(with_trains(shuffled)), want)
  }
})

test_that("a higher min_count gives the rows that reach it", {
  for (seed in 1:8) {
    stream <- planted(seed, trials = NA)
    all <- plain(mined_by(stream, 1, max_size = 3))
    for (min_count in 2:6) {
      some <- all[all$count >= min_count, ]
      rownames(some) <- NULL
      expect_identical(plain(mined_by(stream, min_count, max_size = 3)), some)
    }
  }
})

test_that("prefixes and suffixes of a frequent episode are at least as frequent", {
  fewer <- seen <- 0
  for (seed in 1:8) {
    found <- mined_by(planted(seed), 2, max_size = 4)
    id <- mapply(\(u, l, h) paste(c(u, l, h), collapse = " "), found$units, found$low, found$high)
    for (i in which(found$size > 1)) {
      n <- found$size[[i]]
      for (drop in c(1, n)) {
        edge <- min(drop, n - 1)
        inner <- paste(c(found$units[[i]][-drop], found$low[[i]][-edge], found$high[[i]][-edge]),
                       collapse = " ")
        fewer <- fewer + !isTRUE(found$count[[match(inner, id)]] >= found$count[[i]])
        seen <- seen + 1
      }
    }
  }
  expect_equal(fewer, 0)
  expect_gt(seen, 1000)
})

test_that("no occurrence crosses from one trial into the next", {
  # A ends the first trial, B begins the second, closer together than the interval allows.
  tick <- c(8, 10, 11, 12, 20, 22)
  unit <- c("A", "A", "B", "B", "A", "B")
  intervals <- c(0, 0.005)
  whole <- spike_trains(tick / 1000, unit, resolution = 1e-3)
  cut <- spike_trains(tick / 1000, unit, resolution = 1e-3,
                      trials = data.frame(start = c(0, 0.011), end = c(0.010, 0.030)))
  pair <- episode(c("A", "B"), 0, 0.005)
  expect_identical(count_episodes(whole, pair)$count, 2L)
  expect_identical(count_episodes(cut, pair)$count, 1L)
  for (engine in engines) {
    expect_identical(mine_episodes(whole, 2, intervals, engine = engine)$episode,
                     c("A", "B", "A -(0,0.005]-> B"))
    expect_identical(mine_episodes(cut, 2, intervals, engine = engine)$episode, c("A", "B"))
    got <- mine_episodes(cut, 1, intervals, engine = engine)
    expect_identical(got$count[got$episode == "A -(0,0.005]-> B"], 1L)
  }
  # Trials that touch: the tick on which both lie belongs to the later one.
  touching <- spike_trains(tick / 1000, unit, resolution = 1e-3,
                           trials = data.frame(start = c(0, 0.010), end = c(0.010, 0.030)))
  expect_identical(count_episodes(touching, pair)$count, 2L)
  expect_identical(episode_occurrences(touching, pair)$start, c(0.010, 0.020))
})

test_that("spikes outside all trials are not mined", {
  tick <- c(1, 2, 11, 12, 21, 22)
  x <- spikes_outside(spike_trains(
    tick / 1000, rep(c("A", "B"), 3), resolution = 1e-3,
    trials = data.frame(start = c(0, 0.020), end = c(0.005, 0.030))
  ))
  found <- mine_episodes(x, 1, c(0, 0.002))
  expect_identical(found$count, c(2L, 2L, 2L))
  expect_identical(found$support, c(2, 2, 2) / 4)
  expect_identical(nrow(mine_episodes(x, 3, c(0, 0.002))), 0L)
})

test_that("cutting a recording into trials never raises a count", {
  lower <- 0
  for (seed in cases(20)) {
    stream <- planted(seed)
    cut <- stream
    begin <- min(stream$tick) + 15 * 0:20
    cut$bounds <- data.frame(start = begin, end = begin + 14)
    whole <- plain(mined_by(stream, 1, max_size = 3))
    parts <- plain(mined_by(with_trains(cut), 1, max_size = 3))
    at <- match(parts$episode, whole$episode)
    expect_false(anyNA(at))
    expect_true(all(parts$count <= whole$count[at]))
    lower <- lower + sum(parts$count < whole$count[at])
  }
  expect_gt(lower, 0)
})

test_that("closed and maximal episodes are those the definition names", {
  closed_out <- maximal_out <- 0
  for (seed in cases(25)) {
    stream <- planted(seed, trials = NA)
    all <- mined_by(stream, 2, max_size = 4)
    id <- mapply(\(u, l, h) paste(c(u, ticks_of(l), ticks_of(h)), collapse = " "),
                 all$units, all$low, all$high)
    inner <- function(i, drop) {
      edge <- min(drop, all$size[[i]] - 1)
      paste(c(all$units[[i]][-drop], ticks_of(all$low[[i]][-edge]),
              ticks_of(all$high[[i]][-edge])), collapse = " ")
    }
    contained <- same <- rep(FALSE, nrow(all))
    for (i in which(all$size > 1)) {
      at <- match(c(inner(i, 1), inner(i, all$size[[i]])), id)
      contained[at] <- TRUE
      same[at] <- same[at] | all$count[at] == all$count[[i]]
    }
    closed <- mined_by(stream, 2, max_size = 4, target = "closed")
    maximal <- mined_by(stream, 2, max_size = 4, target = "maximal")
    expect_identical(closed$episode, all$episode[!same])
    expect_identical(closed$count, all$count[!same])
    expect_identical(maximal$episode, all$episode[!contained])
    closed_out <- closed_out + sum(same)
    maximal_out <- maximal_out + sum(contained & !same)
  }
  expect_gt(closed_out, 0)
  expect_gt(maximal_out, 0)
})

test_that("top keeps the highest counts of each size", {
  stream <- planted(3)
  all <- plain(mined_by(stream, 1, max_size = 3))
  for (k in c(1, 3, 1e6)) {
    got <- plain(mined_by(stream, 1, max_size = 3, top = k))
    want <- do.call(rbind, lapply(split(all, all$size), utils::head, k))
    rownames(want) <- NULL
    expect_identical(got, want)
  }
})

test_that("max_size stops where it says", {
  stream <- planted(3)
  all <- plain(mined_by(stream, 2, max_size = 5))
  expect_gte(max(all$size), 4L)
  for (size in 1:4) for (engine in engines) {
    expect_identical(plain(mined_by(stream, 2, max_size = size, engine = engine)),
                     all[all$size <= size, ])
  }
  expect_identical(nrow(attr(mined_by(stream, 2, max_size = 1), "levels")), 1L)
})

test_that("units are filtered before mining", {
  stream <- planted(3)
  kept <- stream$names[c(3, 1)]
  only <- stream
  only$tick <- stream$tick[stream$unit %in% kept]
  only$unit <- stream$unit[stream$unit %in% kept]
  only$names <- kept
  got <- mined_by(stream, 2, max_size = 4, units = kept)
  expect_identical(plain(got), mine_again(with_trains(only)))
  expect_equal(got$support, got$count / length(unique(paste(only$tick, only$unit))))
  all <- plain(mined_by(stream, 2, max_size = 4))
  inside <- !grepl(paste0("\\Q", stream$names[c(2, 4)], "\\E", collapse = "|"), all$episode,
                   perl = TRUE)
  expect_identical(plain(got)$episode, all$episode[inside])
})

test_that("min_support is a count for the spikes at hand", {
  x <- spike_trains((1:10) / 1000, rep(c("A", "B"), c(3, 7)), resolution = 1e-3)
  for (support in c(0.3, 0.1 + 0.2, 0.7, 0.05, 1)) {
    got <- mine_episodes(x, intervals = c(0, 0.001), min_support = support)
    all <- mine_episodes(x, 1, c(0, 0.001))
    # 0.1 + 0.2 is above 0.3, which is what 3 of 10 spikes have.
    expect_identical(plain(got), plain(all[all$support >= support, ]), label = support)
    expect_true(all(got$support >= support))
  }
})

test_that("given episodes are counted alike together and one by one", {
  # Few children of a wide window are looked for by unit, many of a narrow one together.
  for (case in list(list(31, 0, 3), list(32, 2, 60), list(33, 0, 1), list(34, 5, 12))) {
    stream <- random_stream(case[[1]], units = 6, spikes = 200, span = 400)
    wide <- cbind(c(0, case[[2]]), c(2, case[[3]])) / 1000
    found <- mine_episodes(stream$x, 1, wide[!duplicated(wide), , drop = FALSE],
                           max_size = 3, engine = "state", threads = 1)
    some <- round(seq(1, nrow(found), length.out = min(nrow(found), 25)))
    expect_identical(count_episodes(stream$x, found, threads = 2)$count, found$count)
    for (i in some) {
      expect_identical(count_episodes(stream$x, found[i, ])$count, found$count[i])
    }
    expect_identical(count_episodes(stream$x, found[c(some, rev(some)), ])$count,
                     found$count[c(some, rev(some))])
  }
})

test_that("given episodes are counted like mined ones", {
  for (seed in 1:10) {
    stream <- planted(seed, trials = NA)
    found <- mined_by(stream, 1, max_size = 3)
    again <- count_episodes(stream$x, found, threads = 1 + seed %% 2)
    expect_s3_class(again, "episodes")
    expect_identical(as.data.frame(again), as.data.frame(found))
  }
  # A longer one than any frequent episode, repeated units, and unequal intervals.
  stream <- planted(51)
  units <- rep(stream$names[[1]], 3)
  by_hand <- c(episode(units, c(0, 0.002), c(0.009, 0.011)), episode(stream$names[[2]]),
               episode(stream$names[c(1, 2, 1, 2, 1)], 0, 0.05))
  got <- count_episodes(stream$x, by_hand)
  expect_identical(got$episode, by_hand$episode)
  expect_identical(got$count, c(
    oracle_count(stream, units, c(0, 2), c(9, 11)),
    oracle_count(stream, stream$names[[2]], numeric(), numeric()),
    oracle_count(stream, stream$names[c(1, 2, 1, 2, 1)], rep(0, 4), rep(50, 4))
  ))
  expect_gt(min(got$count), 0)
  expect_equal(got$support, got$count / nrow(stream$x))
})

test_that("episodes written by hand are spelt like mined ones", {
  one <- episode(c("A", "B", "A"), c(0, 0.005), c(0.005, 0.010))
  expect_identical(one$episode, "A -(0,0.005]-> B -(0.005,0.01]-> A")
  expect_identical(one$size, 3L)
  expect_true(is.na(one$count) && is.na(one$support))
  expect_identical(one$units, list(c("A", "B", "A")))
  both <- c(one, episode(7))
  expect_s3_class(both, "episodes")
  expect_identical(both$episode, c(one$episode, "7"))
  expect_identical(both$low, list(c(0, 0.005), numeric()))
  expect_null(attr(both, "recording"))
})

test_that("an empty table of episodes has no counts and no occurrences", {
  stream <- planted(1)
  none <- mined_by(stream, 1e6)
  expect_identical(nrow(none), 0L)
  expect_identical(nrow(count_episodes(stream$x, none)), 0L)
  expect_identical(nrow(episode_occurrences(stream$x, none)), 0L)
  expect_output(print(none), "0 frequent episodes")
})

test_that("recordings with nothing or little in them give the documented tables", {
  none <- spike_trains(numeric(), character(), start = 0, end = 1)
  silent <- spike_trains(numeric(), factor(character(), c("A", "B")), start = 0, end = 1)
  single <- spike_trains(0.5, "A")
  for (engine in engines) {
    for (x in list(none, silent)) {
      found <- mine_episodes(x, 1, c(0, 0.005), engine = engine)
      expect_identical(nrow(found), 0L)
      expect_identical(lengths(as.list(found[c("episode", "count", "units")])),
                       c(episode = 0L, count = 0L, units = 0L))
    }
    found <- mine_episodes(single, 1, c(0, 0.005), engine = engine)
    expect_identical(found$episode, "A")
    expect_identical(found$support, 1)
    train <- spike_trains((0:9) / 1000, "A", resolution = 1e-3)
    found <- mine_episodes(train, 1, c(0, 0.001), distinct_units = FALSE, engine = engine)
    expect_identical(found$size, 1:10)
    expect_identical(found$count, 10L %/% 1:10)
  }
})

test_that("a min_count nothing reaches gives an empty table, however large", {
  stream <- planted(1)
  for (min_count in c(61, 2^31, 2^40)) {
    found <- mined_by(stream, min_count)
    expect_identical(nrow(found), 0L)
    expect_s3_class(found, "episodes")
  }
})

test_that("spikes near the ends of the clock are counted", {
  far <- 2^53 - 100
  for (offset in c(-far, far - 50)) {
    x <- synfire:::new_spike_trains(
      offset + c(0, 3, 10, 13, 20, 26), factor(rep(c("A", "B"), 3)), offset, offset + 50, 1
    )
    found <- mine_episodes(x, 2, c(0, 5))
    expect_identical(found$count[found$episode == "A -(0,5]-> B"], 2L)
  }
  # An interval longer than the recording, up to the longest a clock can hold.
  x <- spike_trains(c(0, 1, 2, 3), c("A", "B", "A", "B"), resolution = 1,
                    trials = data.frame(start = c(0, 2), end = c(1, 3)))
  expect_identical(count_episodes(x, episode(c("A", "B"), 0, 2^53 - 2))$count, 2L)
  expect_identical(count_episodes(x, episode(c("B", "A"), 0, 2^53 - 2))$count, 0L)
})

test_that("Ctrl-C stops mining", {
  skip_on_cran()
  for (engine in engines) {
    expect_interrupted(substitute({
      set.seed(1)
      x <- simulate_sym26()
      begin()
      mine_episodes(x, MIN_COUNT, rbind(c(0, 0.005), c(0.005, 0.01), c(0.01, 0.015)),
                    engine = ENGINE, threads = 2)
    }, list(ENGINE = engine, MIN_COUNT = if (engine == "window") 40 else 150)))
  }
})

# Whether an episode of the table begins or ends one that is a unit longer.
within_longer <- function(found) {
  part <- \(row, out) list(found$units[[row]][-out], found$low[[row]][-max(1, out - 1)],
                           found$high[[row]][-max(1, out - 1)])
  longer <- which(found$size > 1L)
  inner <- c(lapply(longer, \(row) part(row, 1L)),
             lapply(longer, \(row) part(row, found$size[[row]])))
  text <- \(parts) paste(vapply(parts, deparse1, ""), collapse = " ")
  own <- vapply(seq_len(nrow(found)), \(row) {
    text(list(found$units[[row]], found$low[[row]], found$high[[row]]))
  }, "")
  own %in% vapply(inner, text, "")
}

test_that("with distinct_units no unit comes twice, and counts are the same", {
  repeated <- 0
  for (seed in 1:6) {
    stream <- random_stream(seed, units = 4, spikes = 90)
    all <- mined_by(stream, 2, max_size = 4)
    differ <- vapply(all$units, \(u) !anyDuplicated(u), NA)
    repeated <- repeated + sum(!differ)
    for (engine in c("state", "two-pass", "window")) {
      some <- mined_by(stream, 2, max_size = 4, engine = engine, distinct_units = TRUE)
      expect_identical(as.data.frame(some), as.data.frame(all[differ, ]))
    }
    # The largest and the best of these, not of all.
    best <- mined_by(stream, 2, max_size = 4, distinct_units = TRUE, top = 2)
    want <- unlist(lapply(split(which(differ), all$size[differ]), utils::head, 2))
    expect_identical(best$episode, all$episode[want])
    maximal <- mined_by(stream, 2, max_size = 4, distinct_units = TRUE, target = "maximal")
    expect_identical(maximal$episode, some$episode[!within_longer(some)])
  }
  expect_gt(repeated, 50)
  expect_error(mine_episodes(stream$x, 2, c(0, 0.005), distinct_units = NA), "`distinct_units`",
               class = "synfire_error_argument")
})

test_that("episodes that were made one by one are printed with their number", {
  made <- c(episode(c("A", "B"), 0.005, 0.01), episode(c("B", "C"), 0.005, 0.01))
  expect_output(print(made), "^# 2 episodes")
  expect_output(print(made[1, ]), "^# 1 of 2 episodes")
})
