# Alarms of a stream: p values against the definition, the rate of false alarms on
# independent trains, and how late an alarm comes.

# Units that fire independently of each other; from `from` on, a, b and c also in a chain.
fired <- function(seconds, units = 8, rate = 10, chains = 0, from = seconds / 2) {
  time <- runif(rpois(1, units * rate * seconds), 0, seconds)
  unit <- sample(letters[seq_len(units)], length(time), TRUE)
  first <- runif(rpois(1, chains * (seconds - from)), from, seconds - 0.03)
  all <- data.frame(time = round(c(time, first, first + 0.01, first + 0.02), 3),
                    unit = c(unit, rep(c("a", "b", "c"), each = length(first))))
  all <- unique(all)
  all[order(all$time), ]
}

# A stream that was fed all of it in blocks; what each look found.
followed <- function(all, seconds, every, ..., window = 10, max_size = 3) {
  s <- episode_stream(c(0.005, 0.015), 3, window, resolution = 1e-3, threads = 1,
                      max_size = max_size, surrogate = "dither", dither = 0.03, ...)
  looks <- data.frame()
  ends <- round(seq(every, seconds, by = every), 3)
  block <- findInterval(all$time, c(0, ends), left.open = TRUE)
  for (k in seq_along(ends)) {
    before <- s$alarming$looks
    s <- update(s, all[block == k, ], now = ends[[k]])
    if (s$alarming$looks > before) {
      looks <- rbind(looks, data.frame(at = ends[[k]], alarms = nrow(s$alarms),
                                       new = sum(s$alarms$new)))
    } else {
      expect_false(any(s$alarms$new))
    }
  }
  list(stream = s, looks = looks)
}

test_that("p values and limits are those of the definition", {
  skip_unless_nightly()
  for (seed in 1:20) {
    withr::local_seed(seed)
    n <- sample(5:30, 1)
    maxima <- matrix(rpois(4 * n, c(40, 8, 3, 1)), 4)
    maxima[3:4, ][maxima[3:4, ] < 2] <- 0L
    table <- data.frame(size = c(1, 2, 2, 3, 5), count = c(90, rpois(2, 45), 9, 3))
    table <- table[order(table$size, -table$count), ]
    got <- synfire:::judge_counts(maxima, table, 0.2, 2)
    all <- rbind(maxima, 0)
    own <- vapply(1:5, \(z) max(table$count[table$size == z], 0), 0)
    # How large a share of surrogates and recording reaches a count of a size.
    share <- function(z, count) mean(c(all[z, ], own[[z]]) >= count)
    extreme <- vapply(seq_len(n), \(j) min(vapply(2:5, \(z) share(z, all[z, j]), 0)), 0)
    p <- function(z, count) {
      reach <- (1 + sum(all[z, ] >= count)) / (n + 1)
      (1 + sum(extreme <= reach + 1e-12)) / (n + 1)
    }
    expect_equal(got$p[table$size > 1],
                 mapply(p, table$size, table$count)[table$size > 1])
    expect_identical(is.na(got$p), table$size == 1)
    expect_identical(got$limits$size, 2:5)
    limit <- vapply(2:5, \(z) {
      counts <- 2:(max(all[z, ]) + 2)
      c(counts[vapply(counts, \(k) p(z, k), 0) <= 0.2 + 1e-12], NA)[[1L]]
    }, 0)
    expect_equal(got$limits$limit, limit)
    expect_equal(got$limits$chance, apply(all[2:5, ], 1, median))
  }
})

test_that("the largest counts of surrogates are those of mining them", {
  skip_unless_nightly()
  withr::local_seed(1)
  all <- fired(12)
  for (max_size in c(2, 3, Inf)) {
    for (distinct in c(FALSE, TRUE)) {
      s <- followed(all, 12, 1, alarms = 720, look = 1, judge_after = 1, n_surrogates = 9,
                    max_size = max_size, distinct_units = distinct)$stream
      look <- s$alarming$open
      x <- attr(look$episodes, "recording")
      expect_identical(nrow(x), sum(all$time > 2))
      how <- synfire:::surrogate_options(x, "dither", 0.03)
      how$key <- synfire:::random_below(2, 2^32, s$alarming$key, look$number)
      tick <- .Call(synfire:::r_surrogate_trains, synfire:::trains_of(x), how,
                    list(n = 9, threads = 1, max_memory = 1e8))
      got <- synfire:::look_maxima(s, look)
      expect_identical(ncol(got), 9L)
      for (k in 1:9) {
        one <- spike_trains(tick[[k]]$tick / 1000, levels(x$unit)[tick[[k]]$unit],
                            start = 0, end = 12, resolution = 1e-3)
        found <- mine_episodes(one, 3, c(0.005, 0.015), max_size = max_size,
                               distinct_units = distinct, threads = 1)
        most <- c(tapply(found$count, factor(found$size, seq_len(nrow(got))), max))
        most[is.na(most)] <- 0
        expect_equal(got[, k], unname(most))
      }
    }
  }
})

test_that("a look is judged when it is said, by the window that it saw", {
  skip_unless_nightly()
  withr::local_seed(8)
  all <- fired(24, units = 5, chains = 6, from = 12)
  follow <- function(judge_after, threads = 1) {
    withr::local_seed(3)
    s <- episode_stream(c(0.005, 0.015), 3, 8, resolution = 1e-3, threads = threads,
                        max_size = 3, dither = 0.03, alarms = 360, look = 2,
                        judge_after = judge_after, n_surrogates = 19)
    lapply(seq(0.5, 24, by = 0.5), function(end) {
      s <<- update(s, all[all$time > end - 0.5 & all$time <= end, ], now = end)
    })
  }
  now <- follow(0)
  later <- follow(1)
  last <- follow(2)
  looks <- vapply(now, \(s) s$alarming$looks, 0)
  expect_identical(vapply(later, \(s) s$alarming$looks, 0), c(0, 0, looks[1:46]))
  expect_identical(vapply(last, \(s) s$alarming$looks, 0), c(0, 0, 0, 0, looks[1:44]))
  # The same surrogates, limits and alarms; only later.
  what <- \(s) s[c("limits", "alarms")]
  expect_identical(lapply(later[3:48], what), lapply(now[1:46], what))
  expect_identical(lapply(last[5:48], what), lapply(now[1:44], what))
  expect_gt(nrow(now[[48]]$alarms), 0)
  # Nor does it matter how many threads there are.
  expect_identical(lapply(follow(1, 2), what), lapply(later, what))
})

test_that("a look outlives a file, a fork and an interrupt of its stream", {
  skip_unless_nightly()
  withr::local_seed(9)
  all <- fired(14, units = 5)
  s <- followed(all, 12, 1, alarms = 360, look = 2, judge_after = 2, n_surrogates = 19)$stream
  expect_false(is.null(s$alarming$open))
  rest <- all[all$time > 12 & all$time <= 14, ]
  want <- update(s, rest, now = 14)[c("limits", "alarms", "episodes")]
  want$episodes <- as.data.frame(want$episodes)
  parts <- function(s) {
    s <- update(s, rest, now = 14)
    list(limits = s$limits, alarms = s$alarms, episodes = as.data.frame(s$episodes))
  }
  expect_identical(s$alarming$looks, 0)
  expect_identical(update(s, rest, now = 14)$alarming$looks, 1)
  file <- withr::local_tempfile()
  saveRDS(s, file)
  expect_identical(parts(readRDS(file)), want)
  skip_on_os("windows")
  job <- parallel::mcparallel(parts(s))
  expect_identical(unname(parallel::mccollect(job, timeout = 60)), list(want))
})

test_that("as many looks raise a false alarm as is said, in windows that share nothing", {
  skip_unless_nightly()
  skip_on_cran()
  withr::local_seed(20)
  seconds <- 1500
  got <- followed(fired(seconds), seconds, 5, alarms = 36, look = 10, n_surrogates = 19)
  looks <- nrow(got$looks)
  expect_gt(looks, 140)
  false <- sum(got$looks$alarms > 0)
  # One in ten; neither more nor far fewer.
  expect_lte(false, qbinom(0.999, looks, 0.1))
  expect_gte(false, qbinom(0.001, looks, 0.1))
  expect_equal(summary(got$stream)$false, 0.1 * got$stream$alarming$looks)
})

test_that("nor do looks at windows that overlap raise more", {
  skip_unless_nightly()
  skip_on_cran()
  # Looks of one recording depend on each other, recordings do not.
  shares <- vapply(1:8, function(seed) {
    withr::local_seed(seed)
    looks <- followed(fired(50, units = 5), 50, 0.5, alarms = 360, look = 1,
                      n_surrogates = 29, window = 5)$looks
    mean(looks$alarms > 0)
  }, 0)
  expect_lte(mean(shares) - qt(0.999, 7) * sd(shares) / sqrt(8), 0.1)
  expect_lte(mean(shares), 0.2)
})

test_that("chains that begin raise an alarm within a part of a window", {
  skip_unless_nightly()
  withr::local_seed(4)
  all <- fired(34, units = 5, chains = 4, from = 24)
  got <- followed(all, 34, 0.5, alarms = 72, look = 1, n_surrogates = 99,
                  window = 8)
  alarms <- got$stream$alarms
  chain <- "a -(0.005,0.015]-> b -(0.005,0.015]-> c"
  expect_identical(alarms$episode[[1L]], chain)
  expect_gt(alarms$since[[1L]], 24)
  expect_lte(alarms$since[[1L]], 28)
  expect_gte(alarms$count[[1L]], alarms$limit[[1L]])
  expect_true(all(alarms$p <= 0.02))
  expect_identical(tail(got$stream$history$alarms, 1), nrow(alarms))
  expect_output(print(got$stream), "1 look an hour|looks an hour")
  expect_output(print(summary(got$stream)), "for alarms")
})

test_that("a stream with alarms is a value, and set.seed() decides its surrogates", {
  skip_unless_nightly()
  withr::local_seed(5)
  all <- fired(16)
  run <- function(seed) {
    withr::with_seed(seed, followed(all, 16, 1, alarms = 360, look = 1,
                                    n_surrogates = 12))$stream
  }
  s <- run(1)
  expect_identical(run(1)$limits, s$limits)
  expect_identical(run(1)$alarms, s$alarms)
  expect_false(identical(run(2)$alarming$key, s$alarming$key))
  again <- lapply(1:2, \(k) update(update(s, now = 17), now = 18)[c("alarms", "limits")])
  expect_identical(again[[1L]], again[[2L]])
  expect_identical(nrow(s$limits), 2L)
})

test_that("no alarm is raised before the window is full and a look is judged", {
  skip_unless_nightly()
  withr::local_seed(6)
  all <- fired(15, chains = 20, from = 1)
  early <- followed(all[all$time <= 9.5, ], 9.5, 0.5, alarms = 360, look = 1,
                    n_surrogates = 12)
  expect_identical(nrow(early$looks), 0L)
  expect_output(print(early$stream), "the window is not full")
  # The first spike, which comes after 0 s, begins the recording; so the first look is at
  # 10.5 s, for 10 s are not full by then.
  first <- followed(all, 11, 0.5, alarms = 360, look = 1, n_surrogates = 12,
                    judge_after = 1)$stream
  expect_output(print(first), "first look for alarms is judged at 12 s")
  s <- followed(all, 15, 0.5, alarms = 360, look = 1, n_surrogates = 12, judge_after = 1)
  expect_identical(s$looks$at[[1L]], 12)
  expect_gt(s$looks$alarms[[1L]], 0)
  # A silence longer than the window: nothing occurs, in surrogates neither.
  silent <- update(update(s$stream, now = 40), now = 41)
  expect_identical(nrow(silent$alarms), 0L)
  expect_true(all(silent$limits$chance == 0))
})

test_that("what alarms cannot be is refused before the experiment", {
  skip_unless_nightly()
  stream <- function(...) episode_stream(c(0, 0.005), window = 10, ...)
  refused <- function(..., says) {
    expect_error(stream(...), says, class = "synfire_error_argument")
  }
  refused(2, alarms = 0, says = "alarms")
  refused(2, alarms = "1", says = "alarms")
  refused(2, alarms = 4000, says = "look more often")
  refused(2, look = 1, says = "alarms")
  refused(2, judge_after = 1, says = "alarms")
  refused(2, n_surrogates = 100, says = "alarms")
  refused(2, alarms = 36, look = 10, n_surrogates = 8, says = "at least 9")
  refused(2, alarms = 36, look = 0, says = "look")
  refused(2, alarms = 36, look = 1e-7, says = "tick")
  refused(2, alarms = 36, judge_after = -1, says = "judge_after")
  refused(2, alarms = 36, judge_after = 11, says = "at most `look`, 10 s")
  refused(2, alarms = 36, judge_after = 1e-7, says = "tick")
  refused(2, alarms = 36, surrogate = "nothing", says = "surrogate")
  refused(2, alarms = 36, dither = 20, says = "dither")
  refused(min_support = 0.1, alarms = 36, says = "min_count")
  s <- stream(2, alarms = 36)
  expect_identical(s$alarming$n, 50)
  expect_identical(s$alarming$look, 1e7)
  expect_identical(s$alarming$judge_after, 2.5e6)
})

test_that("units that fire like clocks raise no more alarms than is said", {
  skip_unless_nightly()
  # Every 160 ms with a jitter of 4 ms; six units that know nothing of each other.
  clocks <- function(seconds) {
    each <- lapply(letters[1:6], \(unit) {
      time <- cumsum(rnorm(ceiling(seconds / 0.13), 0.16, 0.004)) - runif(1, 0, 0.16)
      data.frame(time = round(time[time > 0 & time < seconds], 3), unit = unit)
    })
    all <- unique(do.call(rbind, each))
    all[order(all$time), ]
  }
  looks_with_alarm <- function(seed, surrogate) {
    withr::local_seed(seed)
    all <- clocks(60)
    s <- episode_stream(c(0.005, 0.015), 3, 10, resolution = 1e-3, threads = 1, max_size = 3,
                        alarms = 36, look = 10, n_surrogates = 19, judge_after = 0,
                        surrogate = surrogate)
    expect_equal(s$alarming$dither, 0.03)
    sum(vapply(1:6, \(k) {
      s <<- update(s, all[all$time > 10 * (k - 1) & all$time <= 10 * k, ], now = 10 * k)
      nrow(s$alarms) > 0
    }, NA))
  }
  alarms <- vapply(1:6, looks_with_alarm, 0, "joint_isi")
  # One in ten is said; 36 looks raise more than 10 with a probability of 0.001.
  expect_lte(sum(alarms), 10)
  dithered <- vapply(1:3, looks_with_alarm, 0, "dither")
  expect_gt(mean(dithered) / 6, 0.5)
})

test_that("streams show no chains of one unit unless they are asked for", {
  skip_unless_nightly()
  time <- seq(0.01, 9.9, by = 0.01)
  show <- function(...) {
    s <- episode_stream(c(0.005, 0.015), 5, 10, resolution = 1e-3, threads = 1, max_size = 3, ...)
    update(s, data.frame(time = time, unit = "12"), now = 10)$episodes$size
  }
  expect_identical(show(), 1L)
  expect_identical(show(distinct_units = FALSE), 1:3)
})
