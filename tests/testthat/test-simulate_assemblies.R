kinds <- c("synchrony", "sequence", "jittered_sequence", "rate_synchrony", "rate_sequence")
truth_of <- function(x) attr(x, "truth")

# How many spikes all units fire in each bin, and each unit: a matrix with a column a unit.
counts_by_unit <- function(x, bin) {
  bins <- ceiling(attr(x, "end") / bin)
  vapply(levels(x$unit), \(u) tabulate(floor(x$time[x$unit == u] / bin) + 1, bins), integer(bins))
}

test_that("set.seed() decides everything, and one part leaves the others as they are", {
  make <- \(...) {
    set.seed(5)
    simulate_assemblies(duration = 60, units = 30, count = 10, ...)
  }
  x <- make(nuisances = "all")
  expect_identical(make(nuisances = "all"), x)
  expect_false(identical(simulate_assemblies(60, 30, count = 10, nuisances = "all")$time, x$time))
  plain <- make()
  none <- make(assemblies = character())
  expect_gt(nrow(none), 1000)
  expect_identical(setdiff(none$time, plain$time), numeric())
  spikes <- truth_of(plain)$spikes
  expect_identical(nrow(plain), nrow(none) + nrow(spikes))
})

test_that("the truth says what was planted, in windows after lags", {
  set.seed(1)
  x <- simulate_assemblies(duration = 300, count = c(20, 30, 40, 50, 60),
                           size = c(3, 4, 5, 6, 12), participation = 0.8)
  truth <- truth_of(x)
  expect_identical(truth$assemblies$kind, kinds)
  expect_identical(truth$assemblies$size, c(3L, 4L, 5L, 6L, 12L))
  expect_identical(lengths(truth$assemblies$units), truth$assemblies$size)
  expect_identical(truth$assemblies$count, c(20L, 30L, 40L, 50L, 60L))
  expect_identical(anyDuplicated(unlist(truth$assemblies$units)), 0L)
  expect_true(all(truth$spikes$recorded))
  expect_true(all(paste(truth$spikes$unit, truth$spikes$time) %in% paste(x$unit, x$time)))
  steps <- list(c(0, 0), c(0.005, 0.030), c(0.020, 0.060), c(0, 0), c(0.100, 0.200))
  for (k in 1:5) {
    one <- truth$assemblies[k, ]
    at <- truth$activations[truth$activations$assembly == k, ]
    mine <- truth$spikes[truth$spikes$assembly == k, ]
    lags <- one$lags[[1]]
    expect_identical(lags[[1]], 0)
    expect_true(all(diff(lags) >= steps[[k]][[1]] & diff(lags) <= steps[[k]][[2]]))
    since <- mine$time - at$time[mine$activation] -
      lags[match(as.character(mine$unit), one$units[[1]])]
    expect_true(all(since > -1e-6 & since < one$width + 1e-6))
    # Uniform over the window.
    expect_lt(abs(mean(since) / one$width - 0.5), 5 * sqrt(1 / 12 / length(since)))
    expect_gt(min(diff(at$time)), 2 * (max(lags) + one$width))
    expect_true(min(at$time) >= 0 && max(at$time) + max(lags) + one$width <= 300)
    # Who took part is who fired.
    fired <- lapply(split(as.character(mine$unit), factor(mine$activation, at$activation)), unique)
    expect_true(all(mapply(setequal, fired, at$units)))
    shares <- length(unlist(at$units)) / (one$count * one$size)
    expect_lt(abs(shares - 0.8), 5 * sqrt(0.16 / (one$count * one$size)))
  }
  # Members of the kinds of rates fire three spikes on average, the others one.
  spikes <- tabulate(truth$spikes$assembly) / tapply(lengths(truth$activations$units),
                                                     truth$activations$assembly, sum)
  expect_equal(unname(spikes[1:3]), rep(1, 3), tolerance = 1e-12, ignore_attr = TRUE)
  expect_true(all(abs(spikes[4:5] - 3) < 0.5))
})

test_that("an assembly can be given in full, by numbers or names", {
  set.seed(2)
  x <- simulate_assemblies(
    duration = 100, units = 10, rate = 0, participation = 0.5, assemblies = list(
      list(kind = "sequence", units = c(3, 1, 7), lags = c(0, 0.01, 0.01), width = 0,
           count = 25, participation = 1, spikes = 1),
      list(kind = "synchrony", units = c("u03", "u09"), count = 40)
    )
  )
  truth <- truth_of(x)$assemblies
  expect_identical(truth$units, list(c("u03", "u01", "u07"), c("u03", "u09")))
  expect_identical(truth$lags, list(c(0, 0.01, 0.01), c(0, 0)))
  expect_identical(truth$width, c(0, 0.003))
  expect_identical(truth$participation, c(1, 0.5))
  mine <- \(unit) x$time[x$unit == unit]
  expect_equal(mine("u01"), mine("u07"))
  expect_length(mine("u01"), 25)
  expect_true(all(round(mine("u01") - 0.01, 6) %in% round(mine("u03"), 6)))
  expect_identical(nrow(x), nrow(truth_of(x)$spikes))
})

test_that("assemblies share members with the one before when asked to", {
  set.seed(3)
  x <- simulate_assemblies(duration = 200, count = 20, size = c(3, 4, 5, 6, 7), overlap = 2)
  members <- truth_of(x)$assemblies$units
  for (k in 2:5) expect_length(intersect(members[[k]], members[[k - 1]]), 2)
  expect_identical(lengths(members), 3:7)
  expect_true(all(lengths(lapply(members, unique)) == 3:7))
})

test_that("rates are log-normal within their bounds, and what trains have", {
  set.seed(4)
  x <- simulate_assemblies(duration = 100, units = 400, assemblies = character(), rate = 5,
                           rate_spread = 1)
  rate <- truth_of(x)$units$rate
  expect_true(all(rate >= 0.5 & rate <= 50))
  expect_lt(abs(median(log(rate)) - log(5)), 0.3)
  expect_lt(abs(sd(log(rate)) - 0.95), 0.15)
  counts <- tabulate(x$unit, 400)
  expect_lt(max(abs(counts - 100 * rate) / sqrt(100 * rate)), 5.5)
  set.seed(4)
  given <- simulate_assemblies(duration = 100, units = 3, assemblies = character(),
                               rate = c(1, 20, 0))
  expect_identical(truth_of(given)$units$rate, c(1, 20, 0))
  expect_identical(sum(given$unit == "u03"), 0L)
})

test_that("intervals are as irregular as they are called, at any rate", {
  cv <- c(poisson = 1, gamma = 1 / sqrt(3), lognormal = 1.3)
  for (intervals in names(cv)) {
    set.seed(6)
    x <- simulate_assemblies(duration = 400, units = 5, assemblies = character(), rate = 30,
                             rate_spread = 0, intervals = intervals)
    gaps <- unlist(tapply(x$time, x$unit, diff))
    expect_lt(abs(mean(gaps) * 30 - 1), 0.03)
    expect_lt(abs(sd(gaps) / mean(gaps) - cv[[intervals]]), 0.04)
  }
})

test_that("rates change together over seconds, in bursts and with the oscillation", {
  make <- \(nuisances) {
    set.seed(7)
    simulate_assemblies(duration = 300, units = 40, assemblies = character(), rate = 20,
                        rate_spread = 0, nuisances = nuisances)
  }
  correlation <- function(x, bin) {
    r <- stats::cor(counts_by_unit(x, bin))
    mean(r[upper.tri(r)])
  }
  plain <- make(NULL)
  expect_lt(abs(correlation(plain, 1)), 0.02)
  common <- make(c(common_rate = 0.3))
  # Of the variance of a count, 20 are a Poisson number's and (0.3 x 20)^2 the common rate's,
  # for those who follow it by a factor of 1.
  expect_lt(abs(correlation(common, 1) - 36 / 56), 0.12)
  expect_lt(abs(nrow(common) - 40 * 300 * 20), 5 * sqrt(40 * 300 * 20))
  bursty <- make("bursts")
  population <- rowSums(counts_by_unit(bursty, 0.1))
  expect_lt(max(rowSums(counts_by_unit(plain, 0.1))) / mean(population), 1.8)
  expect_gt(max(population) / mean(population), 2.5)
  share <- mean(population > 2 * median(population))
  expect_true(share > 0.02 && share < 0.12)
  swing <- make(c(oscillation = 0.5))
  spectrum <- \(x) {
    counts <- rowSums(counts_by_unit(x, 0.01))
    power <- Mod(stats::fft(counts - mean(counts)))^2
    hertz <- (seq_along(counts) - 1) / 300
    c(mean(power[hertz > 6 & hertz < 10]), mean(power[hertz > 15 & hertz < 40]))
  }
  expect_gt(spectrum(swing)[[1]] / spectrum(swing)[[2]], 10)
  expect_lt(spectrum(plain)[[1]] / spectrum(plain)[[2]], 1.2)
})

test_that("rates drift, each in its own direction", {
  set.seed(8)
  x <- simulate_assemblies(duration = 400, units = 60, assemblies = character(), rate = 20,
                           rate_spread = 0, nuisances = c(drift = 1))
  halves <- counts_by_unit(x, 200)
  # A drift of d over the recording makes the halves differ by a factor of about exp(d / 2).
  change <- 2 * log(halves[2, ] / halves[1, ])
  expect_true(all(abs(change) < 1.15))
  expect_gt(diff(range(change)), 1.4)
  expect_lt(abs(mean(change)), 0.4)
})

test_that("dead time leaves no short interval, and spikes of assemblies go first", {
  set.seed(9)
  x <- simulate_assemblies(duration = 100, units = 25, rate = 40, rate_spread = 0, count = 40,
                           nuisances = c(dead_time = 0.004))
  expect_gte(min(unlist(tapply(x$time, x$unit, diff))), 0.004 - 1e-9)
  truth <- truth_of(x)$spikes
  expect_true(all(truth$recorded[truth$assembly <= 3]))
  # Spikes of one unit in one activation of a rate assembly can be too close themselves.
  expect_gt(mean(truth$recorded), 0.9)
  expect_lt(mean(truth$recorded), 1)
})

test_that("spike sorting loses near coincidences on an electrode alone", {
  set.seed(10)
  x <- simulate_assemblies(duration = 400, units = 8, assemblies = character(), rate = 20,
                           rate_spread = 0, nuisances = c(lost = 1))
  expect_identical(truth_of(x)$units$electrode, rep(1:2, each = 4))
  near <- \(a, b) {
    t <- x$time[x$unit == b]
    from <- x$time[x$unit == a]
    sum(findInterval(from + 9e-4, t) - findInterval(from - 9e-4, t))
  }
  expect_identical(near("u01", "u03"), 0L)
  # 400 s at 20 Hz, and 1.8 ms at 20 Hz around each, of which lost spikes take a little.
  expect_lt(abs(near("u01", "u05") - 288 * 0.9), 5 * sqrt(288))
})

test_that("spike sorting gives spikes to another unit of the electrode, as many as asked for", {
  set.seed(11)
  x <- simulate_assemblies(
    duration = 400, units = 7, rate = 0, nuisances = c(swapped = 0.2), assemblies = list(
      list(kind = "synchrony", units = c(1, 7), count = 2000, width = 0)
    )
  )
  truth <- truth_of(x)$spikes
  expect_lt(abs(mean(!truth$recorded) - 0.2), 5 * sqrt(0.16 / 4000))
  counts <- table(x$unit)
  expect_true(all(abs(counts[c("u02", "u03", "u04")] - 400 / 3) < 5 * sqrt(400 / 3)))
  expect_true(all(abs(counts[c("u05", "u06")] - 200) < 5 * sqrt(200)))
  expect_identical(sum(counts), 4000L)
  alone <- simulate_assemblies(duration = 50, units = 5, assemblies = character(), rate = 20,
                               nuisances = c(swapped = 1))
  expect_gt(sum(alone$unit == "u05"), 0)
})

test_that("wrong arguments are named, with what they must be", {
  wrong <- \(..., says) {
    expect_error(simulate_assemblies(...), says, class = "synfire_error_argument")
  }
  wrong(assemblies = "chain", says = "assemblies\\[\\[1\\]\\][$]kind")
  wrong(assemblies = 1, says = "assemblies")
  wrong(assemblies = list(list(units = 1:3)), says = "kind")
  wrong(assemblies = list(list(kind = "sequence", units = c(1, 99))), says = "units")
  wrong(assemblies = list(list(kind = "sequence", units = c(1, 1))), says = "units")
  wrong(assemblies = list(list(kind = "sequence", units = 1:2, lags = c(0.1, 0))), says = "lags")
  wrong(assemblies = list(list(kind = "sequence", width = -1)), says = "width")
  wrong(assemblies = list(list(kind = "sequence", spikes = 0.5)), says = "spikes")
  wrong(size = 12, says = "size")
  wrong(size = 1, says = "size")
  wrong(size = c(3, 4), says = "size")
  wrong(count = 1.5, says = "count")
  wrong(duration = 20, says = "at most [0-9]+ for assembly 2")
  wrong(duration = 0.1, says = "count")
  wrong(participation = 2, says = "participation")
  wrong(overlap = 5, says = "overlap")
  wrong(nuisances = "noise", says = "nuisances")
  wrong(nuisances = c(drift = 9), says = "drift")
  wrong(nuisances = 0.3, says = "nuisances")
  wrong(intervals = "normal", says = "intervals")
  wrong(rate = c(1, 2), says = "rate")
  wrong(duration = 1e9, says = "duration")
})
