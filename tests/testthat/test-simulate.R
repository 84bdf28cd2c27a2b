# Spikes of `to` that follow a spike of `from` by more than `low` and at most `high`, as a
# share of the spikes of `from`: counted here from the times alone.
followed <- function(x, from, to, low, high) {
  tick <- train_ticks(x)
  a <- tick[x$unit == from]
  b <- tick[x$unit == to]
  rate <- round(1 / attr(x, "resolution"))
  mean(findInterval(a + round(high * rate), b) > findInterval(a + round(low * rate), b))
}

spikes_per_second <- function(x, unit) sum(x$unit %in% unit) / attr(x, "end")

test_that("set.seed() decides every simulation", {
  simulators <- list(
    \() simulate_sym26(duration = 5),
    \() simulate_culture(duration = 30),
    \() simulate_patterns(duration = 5, patterns = list(
      list(units = 1:3, lags = c(0, 0.004, 0.008), count = 10)
    ), jitter = 0.001)
  )
  for (simulate in simulators) {
    set.seed(11)
    x <- simulate()
    set.seed(11)
    expect_identical(simulate(), x)
    next_one <- simulate()
    expect_false(identical(next_one$time, x$time))
    expect_true(nrow(x) > 100)
  }
})

test_that("an argument of one part leaves the numbers of the others", {
  set.seed(3)
  plain <- simulate_sym26(duration = 5, chains = list())
  set.seed(3)
  chained <- simulate_sym26(duration = 5)
  expect_identical(setdiff(plain$time, chained$time), numeric())
  expect_gt(nrow(chained), nrow(plain))
})

test_that("the default Sym26 has the size and rates of the benchmark", {
  set.seed(1)
  x <- simulate_sym26()
  expect_s3_class(x, "spike_trains")
  expect_identical(levels(x$unit), LETTERS)
  expect_identical(attr(x, "start"), 0)
  expect_identical(attr(x, "end"), 60)
  # Five standard deviations of a Poisson number, more for the shared activations.
  expect_lt(abs(nrow(x) - 48800), 2500)
  chained <- unlist(eval(formals(simulate_sym26)$chains))
  for (unit in setdiff(LETTERS, chained)) {
    expect_lt(abs(sum(x$unit == unit) - 1200), 5 * sqrt(1200))
  }
})

test_that("the base rate follows the sine of the modulation", {
  set.seed(2)
  x <- simulate_sym26(duration = 400, chains = list(), modulation = 1, period = 10)
  expect_lt(abs(nrow(x) - 26 * 400 * 20), 5 * sqrt(26 * 400 * 20))
  for (unit in c("A", "K", "Z")) {
    phase <- (x$time[x$unit == unit] %% 10) / 10
    # |mean exp(2 pi i phase)| is half of the depth, 0.5 here, and near 0 without.
    depth <- 2 * Mod(mean(exp(2i * pi * phase)))
    expect_lt(abs(depth - 1), 0.06)
  }
  set.seed(2)
  flat <- simulate_sym26(duration = 400, chains = list(), modulation = 0)
  phase <- (flat$time[flat$unit == "A"] %% 10) / 10
  expect_lt(2 * Mod(mean(exp(2i * pi * phase))), 0.06)
})

test_that("background intervals are exponential", {
  set.seed(4)
  x <- simulate_sym26(duration = 300, chains = list(), modulation = 0)
  gaps <- diff(x$time[x$unit == "C"])
  expect_lt(abs(mean(gaps) * 20 - 1), 0.08)
  expect_lt(abs(sd(gaps) / mean(gaps) - 1), 0.08)
})

test_that("planted links of Sym26 are there, in their intervals", {
  set.seed(5)
  x <- simulate_sym26(
    duration = 200, rate = 5, chains = list(one = c("B", "D", "F", "H")),
    probability = 0.9, activation_rate = 4, modulation = 0
  )
  truth <- attr(x, "truth")
  expect_identical(truth$links$from, c("B", "D", "F"))
  expect_identical(truth$links$low, c(0, 0.005, 0.010))
  expect_identical(truth$links$high, c(0.005, 0.010, 0.015))
  for (k in 1:3) {
    link <- truth$links[k, ]
    # Chance alone gives 1 - exp(-rate * 0.005) of at most 5 percent.
    share <- followed(x, link$from, link$to, link$low, link$high)
    expect_gt(share, 0.3)
    expect_lt(followed(x, link$from, link$to, 0.1, 0.105), 0.15)
    at <- \(position) {
      s <- truth$spikes[truth$spikes$position == position, ]
      setNames(round(s$time * 1e6), s$occurrence)
    }
    from <- at(k)
    to <- at(k + 1)
    expect_true(all(names(to) %in% names(from)))
    delay <- to - from[names(to)]
    expect_true(all(delay > link$low * 1e6 & delay <= link$high * 1e6))
    # Uniform over the interval: mean 2.5 ms after its lower bound.
    expect_lt(abs(mean(delay) - link$low * 1e6 - 2500), 5 * 1443 / sqrt(length(delay)))
    expect_lt(abs(length(to) / length(from) - 0.9), 5 * sqrt(0.09 / length(from)))
  }
  # Every planted spike is a spike.
  expect_true(all(paste(truth$spikes$unit, round(truth$spikes$time * 1e6)) %in%
                    paste(x$unit, train_ticks(x))))
  expect_lt(abs(sum(truth$spikes$position == 1) - 800), 5 * sqrt(800))
})

test_that("spontaneous spikes fire the next neuron only when asked to", {
  share <- function(spontaneous) {
    set.seed(6)
    x <- simulate_sym26(duration = 100, rate = 5, chains = list(c("A", "B")),
                        delays = c(0.01, 0.02), probability = 1, activation_rate = 0,
                        spontaneous = spontaneous)
    followed(x, "A", "B", 0.01, 0.02)
  }
  expect_gt(share(TRUE), 0.99)
  expect_lt(share(FALSE), 0.2)
})

test_that("a culture bursts, with repeating orders", {
  set.seed(7)
  x <- simulate_culture(duration = 300)
  truth <- attr(x, "truth")
  expect_identical(nlevels(x$unit), 60L)
  expect_identical(attr(x, "resolution"), 4e-5)
  expect_identical(train_ticks(x), round(x$time * 25000))

  bursts <- truth$bursts
  expect_lt(abs(nrow(bursts) - 30), 5 * sqrt(30) * 0.6)
  expect_true(all(bursts$duration >= 0.2 & bursts$duration <= 1))
  expect_true(all(diff(bursts$start) >= 4))

  # The rate within bursts is tens of times that outside.
  within <- findInterval(x$time, bursts$start)
  inside <- within > 0 & x$time - bursts$start[pmax(within, 1)] < bursts$duration[pmax(within, 1)]
  time_inside <- sum(pmin(bursts$start + bursts$duration, 300) - bursts$start)
  expect_gt(sum(inside) / time_inside, 10 * sum(!inside) / (300 - time_inside))

  # First spikes of a burst come in the order of the latencies.
  first <- vapply(levels(x$unit), \(unit) {
    time <- x$time[x$unit == unit]
    after <- findInterval(bursts$start, time) + 1
    stats::median(time[after] - bursts$start, na.rm = TRUE)
  }, double(1))
  busy <- truth$channels$burst_spike_rate > 50
  expect_gt(cor(first[busy], truth$channels$latency[busy], method = "spearman"), 0.6)
})

test_that("background rates of a culture are as told", {
  set.seed(8)
  x <- simulate_culture(duration = 2000, burst_rate = 0, chains = list())
  rates <- attr(x, "truth")$channels$background_rate
  counts <- tabulate(x$unit, 60)
  expect_true(all(abs(counts - 2000 * rates) <= 5 * sqrt(2000 * rates) + 1))
  # Log-normal with spread 1: channels differ by far more than Poisson noise.
  expect_gt(sd(log(rates)), 0.6)
  expect_lt(sd(log(rates)), 1.4)
})

test_that("chains of a culture are there", {
  set.seed(9)
  x <- simulate_culture(duration = 200, burst_rate = 0, background_rate = 0.5,
                        background_spread = 0)
  links <- attr(x, "truth")$links
  expect_identical(nrow(links), 15L)
  for (k in seq_len(nrow(links))) {
    expect_gt(followed(x, links$from[[k]], links$to[[k]], 0.005, 0.015), 0.5)
    expect_lt(followed(x, links$to[[k]], links$from[[k]], 0.005, 0.015), 0.2)
  }
})

test_that("planted patterns occur exactly", {
  set.seed(10)
  planted <- list(
    list(units = c(2, 5, 9), lags = c(0, 0.006, 0.006), count = 50),
    list(units = c("u01", "u02"), lags = c(0, 0.030), count = 20)
  )
  x <- simulate_patterns(duration = 30, units = 10, rate = 3, patterns = planted)
  truth <- attr(x, "truth")
  events <- paste(x$unit, train_ticks(x))
  for (k in 1:2) {
    times <- truth$patterns[[k]]$times
    expect_length(times, planted[[k]]$count)
    units <- truth$patterns[[k]]$units
    lags <- planted[[k]]$lags
    for (j in seq_along(units)) {
      expect_true(all(paste(units[[j]], round((times + lags[[j]]) * 1e6)) %in% events))
    }
    # Occurrences do not overlap.
    expect_true(all(diff(times) > max(lags)))
    # Chance would give none: the same pattern with one lag moved is not there.
    moved <- paste(units[[2]], round((times + lags[[2]] + 0.0017) * 1e6)) %in% events
    expect_lt(mean(moved), 0.2)
  }
  expect_identical(truth$patterns[[1]]$units, c("u02", "u05", "u09"))
  expect_identical(nrow(truth$spikes), 190L)
})

test_that("pattern background rates and jitter are as asked", {
  set.seed(12)
  rate <- c(1, 5, 20, 0)
  x <- simulate_patterns(duration = 200, units = 4, rate = rate, patterns = list())
  counts <- tabulate(x$unit, 4)
  expect_true(all(abs(counts - 200 * rate) <= 5 * sqrt(200 * rate)))
  expect_identical(counts[[4]], 0L)

  set.seed(13)
  x <- simulate_patterns(duration = 60, units = 2, rate = 0, jitter = 0.002, patterns = list(
    list(units = 1:2, lags = c(0, 0.010), count = 300)
  ))
  spikes <- attr(x, "truth")$spikes
  lag <- spikes$time[spikes$position == 2] - spikes$time[spikes$position == 1]
  expect_true(all(abs(lag - 0.010) <= 0.004 + 2e-6))
  # The difference of two uniforms of half width 2 ms has standard deviation 1.63 ms.
  expect_lt(abs(sd(lag) - 0.00163), 0.0003)
})

test_that("as many occurrences as fit are possible", {
  set.seed(14)
  full <- list(list(units = 1:2, lags = c(0, 0.009), count = 100))
  x <- simulate_patterns(duration = 1, units = 2, rate = 0, gap = 0.00099, resolution = 1e-5,
                         patterns = full)
  expect_identical(nrow(x), 200L)
  full[[1]]$count <- 101
  expect_error(
    simulate_patterns(duration = 1, units = 2, rate = 0, gap = 0.00099, resolution = 1e-5,
                      patterns = full),
    "at most 100, or they would overlap", class = "synfire_error_argument"
  )
})

test_that("nothing to simulate gives an empty recording", {
  expect_identical(nrow(simulate_sym26(duration = 1, rate = 0, chains = list())), 0L)
  expect_identical(nrow(simulate_sym26(duration = 1, rate = 0, activation_rate = 0)), 0L)
  x <- simulate_culture(duration = 1, background_rate = 0, burst_rate = 0, chains = list())
  expect_identical(nrow(x), 0L)
  expect_identical(nlevels(x$unit), 60L)
  expect_identical(nrow(simulate_patterns(duration = 1, rate = 0, patterns = list())), 0L)
  expect_identical(nrow(attr(simulate_sym26(1, chains = list()), "truth")$links), 0L)
})

test_that("wrong arguments are explained", {
  skip_on_cran()
  wrong <- function(expr, message, ...) {
    expect_error(expr, message, ..., class = "synfire_error_argument")
  }
  wrong(simulate_sym26(duration = 0), "`duration` must be a finite number above 0")
  wrong(simulate_sym26(rate = -1), "`rate` must be")
  wrong(simulate_sym26(probability = 1.1), "`probability` must be")
  wrong(simulate_sym26(modulation = 2), "`modulation` must be")
  wrong(simulate_sym26(chains = "A"), "`chains` must be a list")
  wrong(simulate_sym26(chains = list("A")), "`chains[[1]]` must be", fixed = TRUE)
  wrong(simulate_sym26(chains = list(c("A", "b"))), "unknown unit \"b\"")
  wrong(simulate_sym26(delays = c(0.005, 0)), "`delays` must be")
  wrong(simulate_sym26(delays = c(0, 1.5e-7)), "`delays` must be a whole number of ticks")
  wrong(simulate_sym26(activation_rate = 1:3), "`activation_rate` must be")
  wrong(simulate_sym26(spontaneous = NA), "`spontaneous` must be TRUE or FALSE")
  wrong(simulate_culture(channels = 0.5), "`channels` must be a whole number")
  wrong(simulate_culture(burst_duration = c(1, 0.2)), "`burst_duration` must be two numbers")
  wrong(simulate_culture(recruitment = c(0, 2)), "`recruitment` must be two numbers")
  wrong(simulate_patterns(rate = 1:3), "`rate` must be")
  wrong(simulate_patterns(patterns = 1), "`patterns` must be a list")
  pattern <- \(units, lags, occurrences) {
    simulate_patterns(patterns = list(list(units = units, lags = lags, count = occurrences)))
  }
  wrong(pattern(c(1, 99), c(0, 0.01), 5), "units` must be numbers from 1 to 20")
  wrong(pattern(1:2, c(0, 0.01, 0.02), 5), "lags` must be 2 increasing numbers")
  wrong(pattern(1:2, c(0.01, 0.02), 5), "lags` must be 2 increasing numbers")
  wrong(pattern(1:2, c(0, 0.01), 0), "count` must be a whole number")
  wrong(pattern(1:2, c(0, 0.01), 1e5), "or they would overlap")
})

test_that("the default culture has its size", {
  skip_on_cran()
  set.seed(1)
  x <- simulate_culture()
  expect_lt(abs(nrow(x) / 1.28e6 - 1), 0.25)
})

test_that("simulators refuse what they could not make, and name the argument", {
  skip_on_cran()
  refused <- \(expr) expect_error(expr, class = "synfire_error_argument")
  refused(simulate_sym26(1e9))
  refused(simulate_sym26(10, rate = 1e12))
  refused(simulate_sym26(10, activation_rate = 1e15))
  refused(simulate_sym26(10, period = 1e-300))
  refused(simulate_sym26(60, resolution = 1e300))
  refused(simulate_culture(1e9))
  refused(simulate_culture(10, burst_rate = 1e12))
  refused(simulate_culture(10, background_spread = 1e3))
  refused(simulate_culture(10, burst_spike_rate = 1e300))
  refused(simulate_culture(10, latency = 1e300))
  refused(simulate_patterns(10, rate = 1e10))
  refused(simulate_patterns(1e6, patterns = list(list(units = 1, lags = 0, count = 1e9))))
  number64 <- structure(1, class = "integer64")
  refused(simulate_patterns(10, rate = number64))
  refused(simulate_sym26(10, activation_rate = number64))
  refused(simulate_culture(10, recruitment = structure(c(0, 1), class = "integer64")))
  refused(simulate_patterns(10, patterns = list(list(units = sum, lags = 0, count = 1))))
  refused(simulate_sym26(10, chains = list(a = c("A", "B"), a = c("C", "D"))))
  refused(simulate_sym26(10, chains = list(function(x) x)))
  expect_snapshot(error = TRUE, simulate_culture(3600, burst_rate = 1e6))
})
