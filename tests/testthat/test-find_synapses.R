options_for <- function(lags = 20, hollow = 12, folded = 3, mask = 4) {
  list(lags = lags, reach = 9, width = 3, guard = 1, pad = 2, rest = 0, hollow = hollow,
       folded = folded, mask = mask, gpus = NULL, threads = 2,
       max_memory = 1e9)
}

# A pair with a peak, a dip or nothing, as an array of counts.
made_counts <- function(lags, mean, peak = 0, at = 3, other = 0) {
  rate <- mean * (1 + 0.3 * cos((-lags:lags) / 8))
  rate[lags + 1 + at + 0:1] <- rate[lags + 1 + at + 0:1] + peak
  rate[lags + 1 - at - 0:1] <- rate[lags + 1 - at - 0:1] + other
  x <- stats::rpois(2 * lags + 1, pmax(rate, 0))
  array(c(rep(0L, length(x)), rev(x), x, rep(0L, length(x))), c(length(x), 2, 2))
}

test_that("windows, baselines and masks are those of the definition", {
  set.seed(1)
  cases <- list(c(40, 0, 0), c(40, 60, 0), c(40, -35, 0), c(40, 60, 50), c(2, 0, 0),
                c(0.05, 0, 0), c(400, 400, -300), c(10, 15, 0))
  for (case in cases) for (folded in c(3, 0)) for (mask in c(4, 0)) {
    counts <- made_counts(20, case[[1]], case[[2]], other = case[[3]])
    o <- options_for(folded = folded, mask = mask)
    found <- .Call(r_synapse_scan, counts, 0L, 1L, o)
    best <- slow_scan(counts[, 1, 2], o)
    for (sign in c("up", "down")) for (name in c("z", "count", "expected", "noise", "lo")) {
      expect_equal(as.double(found[[paste(sign, name, sep = "_")]]),
                   vapply(best, \(b) b[[sign]][[name]], 0), tolerance = 1e-8)
    }
  }
})

test_that("a pair turned round has the same result, turned round", {
  set.seed(2)
  for (peak in c(0, 80, -30)) {
    counts <- made_counts(20, 40, peak)
    one <- .Call(r_synapse_scan, counts, 0L, 1L, options_for())
    other <- .Call(r_synapse_scan, counts, 1L, 0L, options_for())
    for (name in setdiff(names(one), "spread")) expect_identical(rev(other[[name]]), one[[name]])
  }
  # Equal sides: neither direction is the first.
  counts <- made_counts(20, 40, 80)
  counts[, 1, 2] <- counts[, 2, 1] <- (counts[, 1, 2] + counts[, 2, 1])
  one <- .Call(r_synapse_scan, counts, 0L, 1L, options_for())
  for (name in setdiff(names(one), "spread")) expect_identical(rev(one[[name]]), one[[name]])
})

test_that("the null sets the noise of long lags on the slow part of short ones", {
  set.seed(3)
  counts <- made_counts(50, 30, 40)
  o <- c(options_for(), list(shift = c(9L, 25L), smooth = 12))
  found <- .Call(r_synapse_null, counts, 0L, 1L, o)
  for (k in 1:2) {
    best <- slow_scan(slow_null(counts[, 1, 2], 20, o$shift[[k]], 12), o)
    expect_equal(found$up[2 * k - 1:0], vapply(best, \(b) b$up[["z"]], 0), tolerance = 1e-8)
    expect_equal(found$down[2 * k - 1:0], vapply(best, \(b) b$down[["z"]], 0), tolerance = 1e-8)
  }
})

test_that("the spread compares windows at long lags with the slow part", {
  set.seed(4)
  counts <- made_counts(20, 30)
  o <- utils::modifyList(options_for(), list(rest = 11))
  count <- counts[, 1, 2]
  lags <- -20:20
  unit <- diag(41)
  values <- unlist(lapply(c(1, -1), \(side) vapply(0:2, \(k) {
    inside <- side * lags >= 11 + 3 * k & side * lags < 14 + 3 * k
    q <- rowSums(apply(unit, 1, \(one) (one - slow_part(one, 12))[inside]) |> t())
    slow <- sum(count[inside]) - sum(q * count)
    sum(q * count)^2 / (max(slow, 3e-3) * sum(q^2) / 3)
  }, 0)))
  found <- .Call(r_synapse_scan, counts, 0L, 1L, o)
  expect_equal(found$spread, mean(values), tolerance = 1e-8)
})

test_that("what other inputs explain is taken away as defined", {
  set.seed(5)
  n <- 4
  counts <- array(0L, c(41, n, n))
  for (a in 1:(n - 1)) for (b in (a + 1):n) {
    one <- made_counts(20, 50, if (b == a + 1) 60 else 10, at = 2 + b)
    counts[, a, b] <- one[, 1, 2]
    counts[, b, a] <- one[, 2, 1]
  }
  links <- data.frame(from = c(1, 2, 3, 4), to = c(2, 3, 4, 1), lo = c(3L, 4L, 5L, 2L),
                      count = c(300, 310, 280, 100), expected = c(150, 160, 150, 140),
                      z = c(12, 6, 9, -5))
  spikes <- c(1000, 900, 800, 700)
  o <- c(options_for(), list(smooth = 12, before = 1, after = 2, clear = 8))
  given <- list(as.integer(links$from - 1), as.integer(links$to - 1), links$lo, links$count,
                links$expected, links$z)
  pairs <- which(upper.tri(diag(n)), arr.ind = TRUE)
  found <- .Call(r_synapse_explain, counts, spikes, given, as.integer(pairs[, 1] - 1),
                 as.integer(pairs[, 2] - 1), o)
  for (p in seq_len(nrow(pairs))) {
    left <- slow_residual(counts, links, spikes, pairs[p, 1], pairs[p, 2], o)
    best <- slow_scan(left, o)
    expect_equal(found$found$up_z[2 * p - 1:0], vapply(best, \(b) b$up[["z"]], 0),
                 tolerance = 1e-7)
    expect_equal(found$found$down_expected[2 * p - 1:0],
                 vapply(best, \(b) b$down[["expected"]], 0), tolerance = 1e-7)
  }
  expect_true(all(found$via %in% c(-1L, 0:3)))
})

test_that("the floor of the null is that of independent Poisson trains", {
  set.seed(6)
  n <- 60
  pairs <- pairs_of(n)
  for (max_lag in c(5, 10, 20)) {
    counts <- array(0L, c(161, n, n))
    for (a in 1:(n - 1)) counts[, a, (a + 1):n] <- stats::rpois(161 * (n - a), 90)
    z <- .Call(r_synapse_scan, counts, pairs$a, pairs$b,
               list(lags = 80, reach = 2 * max_lag, width = 6, guard = 1, pad = 5, rest = 0,
                    hollow = 30, folded = 6, mask = 4, gpus = NULL, threads = 2,
                    max_memory = 1e9))
    q <- stats::quantile(c(z$up_z, -z$down_z), null_levels, names = FALSE)
    expect_equal(q, poisson_quantiles(max_lag / 1000)$up, tolerance = 0.06)
  }
})

test_that("p values and z are inverse to each other", {
  q <- poisson_quantiles(0.01)$up
  p <- c(0.1, 0.01, 1e-5, 1e-20)
  expect_equal(tail_p(tail_z(p, q), q), p)
  expect_equal(tail_p(q, q), c(0.9, 0.5, 0.1, 0.03))
  expect_false(is.unsorted(rev(tail_p(seq(-5, 10, 0.1), q))))
  # Many zeros make quantiles equal.
  expect_equal(tail_p(c(-1, 0, 3), c(0, 0, 2, 2.5))[2:3] < 1, c(TRUE, TRUE))
  bulk <- list(scale = 1.2, shift = 0.1, middle = 1)
  expect_equal(from_bulk(to_bulk(3, bulk, 1.1), bulk, 1.1), 3)
})

test_that("planted pairs are what they are", {
  set.seed(7)
  found <- find_synapses(connected_recording(), threads = 2)
  expect_s3_class(found, c("synapses", "data.frame"), exact = FALSE)
  links <- as.data.frame(found)[found$kind %in% "connection", ]
  planted <- c("A B", "B C", "I T")
  expect_true(all(planted %in% paste(links$from, links$to)))
  # One false call among so many is no surprise.
  expect_lte(nrow(links), 4L)
  links <- links[paste(links$from, links$to) %in% planted, ]
  ab <- row_of(found, "A", "B")
  expect_equal(ab$sign, 1L)
  expect_equal(ab$lag, 0.002)
  expect_true(ab$strength_low < 0.3 && ab$strength_high > 0.27)
  expect_equal(row_of(found, "I", "T")$sign, -1L)
  ac <- row_of(found, "A", "C")
  expect_equal(as.character(ac$kind), "explained")
  expect_equal(as.character(ac$via), "B")
  expect_equal(as.character(row_of(found, "P", "Q")$kind), "common input")
  expect_equal(as.character(row_of(found, "S", "R")$kind), "same cell")
  expect_true(is.na(row_of(found, "S", "R")$sign))
  expect_false(is.unsorted(as.integer(found$kind)))
  # The table and its attributes agree.
  expect_equal(attr(found, "tests"), 90)
  expect_equal(attr(found, "expected_false"), 0.05 * sum(found$kind %in% "connection"))
  expect_equal(dim(attr(found, "correlograms")), c(161L, nrow(found)))
  expect_equal(dim(attr(found, "baseline")), c(161L, nrow(found)))
  power <- attr(found, "power")
  expect_true(all(is.na(diag(power))) && all(power[row(power) != col(power)] > 0))
  expect_true(all(abs(links$strength) > 0.5 * power[cbind(as.character(links$from),
                                                          as.character(links$to))]))
})

test_that("neither threads nor the order and names of units decide anything", {
  set.seed(8)
  x <- connected_recording(300)
  one <- find_synapses(x, threads = 1)
  more <- find_synapses(x, threads = 3)
  expect_identical(as.data.frame(more), as.data.frame(one))
  other <- rev(levels(x$unit))
  turned <- spike_trains(x$time, factor(as.character(x$unit), other), start = 0, end = 301)
  turned <- as.data.frame(find_synapses(turned, threads = 2))
  directed <- as.data.frame(one)[one$kind %in% c("connection", "explained"), ]
  for (row in seq_len(nrow(directed))) {
    same <- row_of(turned, directed$from[[row]], directed$to[[row]])
    expect_equal(same[c("kind", "sign", "lag", "strength", "z", "q_value")],
                 directed[row, c("kind", "sign", "lag", "strength", "z", "q_value")],
                 ignore_attr = TRUE)
  }
  named <- x
  levels(named$unit) <- paste("unit", 11:20)
  named <- as_spike_trains(named, like = x)
  expect_equal(as.data.frame(find_synapses(named, threads = 1))$z, one$z)
})

test_that("other clocks and origins give the same connections", {
  set.seed(9)
  x <- connected_recording(600)
  key <- \(f) sort(paste(f$from, f$to, f$sign)[f$kind %in% "connection"])
  wanted <- key(find_synapses(x, threads = 2))
  moved <- spike_trains(x$time + 1000, x$unit, start = 1000, end = 1601)
  expect_equal(key(find_synapses(moved, threads = 2)), wanted)
  fine <- spike_trains(x$time, x$unit, start = 0, end = 601, resolution = 1e-7)
  expect_equal(key(find_synapses(fine, threads = 2)), wanted)
  # Whole milliseconds: many spikes share a time.
  coarse <- unique(data.frame(time = round(x$time, 3), unit = x$unit))
  coarse <- spike_trains(coarse$time, coarse$unit, start = 0, end = 601)
  found <- find_synapses(coarse, threads = 2)
  expect_equal(attr(found, "bin_size"), 0.001)
  expect_equal(key(found), wanted)
  # A clock of 30 kHz.
  sampled <- spike_trains(round(x$time * 3e4) / 3e4, x$unit, start = 0, end = 601)
  expect_equal(key(find_synapses(sampled, threads = 2)), wanted)
})

test_that("no spike pairs with one of another trial", {
  set.seed(10)
  trials <- data.frame(trial = 1:300, start = 0:299 * 2, end = 0:299 * 2 + 1)
  x <- suppressMessages({
    full <- connected_recording(600)
    spike_trains(full$time, full$unit, start = 0, end = 601, trials = trials)
  })
  found <- find_synapses(x, threads = 2)
  inside <- suppressMessages(full[full$time %% 2 <= 1 & full$time < 600, ])
  # Trials pushed together would add pairs; alone, each has its own.
  counts <- cross_correlogram(x, bin_size = 0.0005, max_lag = 0.04, threads = 1)
  expect_equal(attr(found, "correlograms")[, "A -> B"], counts[, "A", "B"], ignore_attr = TRUE)
  expect_true(all(c("A B", "B C") %in% paste(found$from, found$to)[found$kind %in% "connection"]))
  expect_equal(sum(attr(found, "units")$spikes), nrow(inside))
})

test_that("silent units, few spikes and identical trains are no trouble", {
  set.seed(11)
  a <- poisson_train(5, 300)
  b <- poisson_train(5, 300)
  x <- as_recording(list(a = a, twin = a, b = b, one = 7, silent = numeric()), 300)
  found <- find_synapses(x, threads = 2)
  expect_equal(as.character(row_of(found, "a", "twin")$kind), "same cell")
  expect_equal(nrow(found), 1L)
  units <- attr(found, "units")
  expect_equal(units$tested, c(TRUE, TRUE, TRUE, FALSE, FALSE))
  expect_equal(units$reason[4:5], c("1 spike, and 100 are needed", "0 spikes, and 100 are needed"))
  expect_true(all(is.na(attr(found, "power")["one", ])))
  none <- find_synapses(as_recording(list(a = numeric(), b = numeric()), 10), threads = 1)
  expect_equal(nrow(none), 0L)
  expect_equal(attr(none, "tests"), 0L)
  expect_equal(nrow(find_synapses(as_recording(list(a = a, b = b), 300), threads = 1)), 0L)
  fast <- as_recording(lapply(c(a = 3000, b = 3000, c = 20), poisson_train, 10), 10)
  expect_equal(nrow(find_synapses(fast, threads = 1)), 0L)
})

test_that("independent units, and units whose rates change together, have no connections", {
  set.seed(12)
  quiet <- as_recording(stats::setNames(lapply(rep(6, 12), poisson_train, 600), letters[1:12]),
                        600)
  expect_equal(sum(find_synapses(quiet, threads = 2)$kind %in% "connection"), 0L)
  # Rates that all share, changing within some milliseconds.
  t <- seq(0, 600, 0.001)
  noise <- stats::filter(stats::rnorm(length(t)), exp(-(0:30) / 4), sides = 1)
  noise[is.na(noise)] <- 0
  rate <- pmax(0, 15 * (1 + 0.8 * noise / stats::sd(noise)))
  shared <- lapply(1:12, \(u) {
    at <- which(stats::runif(length(t)) < rate * 0.001)
    t[at] + stats::runif(length(at), 0, 0.001)
  })
  found <- find_synapses(as_recording(stats::setNames(shared, letters[1:12]), 601), threads = 2)
  expect_equal(sum(found$kind %in% "connection"), 0L)
  expect_gt(sum(found$kind %in% "wide"), 20)
})

test_that("a hole that a sorter leaves is no inhibition", {
  set.seed(13)
  a <- poisson_train(20, 600)
  b <- poisson_train(20, 600)
  nearest <- vapply(b, \(t) min(abs(t - a)), 0)
  b <- b[nearest > 0.0015]
  found <- find_synapses(as_recording(list(a = a, b = b), 600), threads = 1)
  expect_equal(as.character(found$kind), "same cell")
})

test_that("bursts that hold nearly all pairs of spikes are said", {
  set.seed(14)
  bursts <- seq(1, 590, 15)
  trains <- lapply(1:12, \(u) sort(c(poisson_train(0.5, 600),
                                     rep(bursts, 8) + stats::rexp(8 * length(bursts), 100))))
  x <- as_recording(stats::setNames(trains, letters[1:12]), 601)
  expect_warning(found <- find_synapses(x, threads = 1), class = "synfire_warning_bursts")
  about <- attr(found, "bursts")
  expect_false(about$judged)
  expect_gt(about$gain, 8)
})

test_that("distances come from locations or from the table of units", {
  set.seed(15)
  x <- connected_recording(300)
  units <- levels(x$unit)
  places <- data.frame(unit = units, x = seq_along(units) * 30, y = seq_along(units) * 40)
  found <- find_synapses(x, locations = places, threads = 1)
  expect_equal(row_of(found, "A", "B")$distance, 50)
  unit_table(x) <- places
  expect_equal(find_synapses(x, threads = 1)$distance, found$distance)
  places$x[[1]] <- NA
  expect_true(is.na(row_of(find_synapses(x, locations = places, threads = 1), "A", "B")$distance))
})

test_that("arguments are checked by name", {
  x <- as_recording(list(a = c(1, 2), b = c(1, 3)), 10)
  refused <- \(code, arg) {
    e <- expect_error(code, class = "synfire_error_argument")
    expect_match(conditionMessage(e), arg, fixed = TRUE)
  }
  refused(find_synapses(), "`x`")
  refused(find_synapses(x[unit = "a"]), "`x`")
  for (bad in list(0.001, 0.05, NA, "a", c(0.01, 0.02))) {
    refused(find_synapses(x, max_lag = bad), "max_lag")
  }
  for (bad in list(0.0001, 0.002, 0, "a", 0.00050001234)) {
    refused(find_synapses(x, bin_size = bad), "bin_size")
  }
  for (bad in list(0, 1, -1, NA, "a")) {
    refused(find_synapses(x, false_discovery = bad), "false_discovery")
  }
  refused(find_synapses(x, locations = 1), "locations")
  refused(find_synapses(x, locations = data.frame(unit = "a", x = 1, y = 2)), "locations")
  places <- data.frame(unit = c("a", "b"), x = "p", y = 2)
  refused(find_synapses(x, locations = places), "locations$x")
  refused(find_synapses(x, device = "tpu"), "device")
  refused(find_synapses(x, gpus = 1), "gpus")
  refused(find_synapses(x, threads = 0), "threads")
  refused(find_synapses(x, max_memory = 1), "max_memory")
  camera <- spike_trains(rep(seq(0.04, 40, 0.04), 2), rep(c("a", "b"), each = 1000), start = 0,
                         end = 41)
  refused(find_synapses(camera), "recorded on a clock of 1 ms")
  refused(find_synapses(as_recording(list(a = 0.01, b = 0.02), 0.05)), "0.1 s or more")
  set.seed(16)
  many <- as_recording(stats::setNames(lapply(rep(5, 200), poisson_train, 30), 1:200), 30)
  expect_error(find_synapses(many, max_memory = 1e7), class = "synfire_error_budget")
})
