rates_of <- function(x) tabulate(x$unit, nlevels(x$unit)) / attr(x, "end")
truth_of <- function(x) attr(x, "truth")

test_that("set.seed() decides the network and its spikes, and threads have no part in it", {
  simulate <- function() {
    set.seed(7)
    simulate_network(20, units = 12, observed = 9, burst_rate = 0.2, oscillation = 8)
  }
  x <- simulate()
  expect_identical(simulate(), x)
  withr::with_envvar(c(OMP_NUM_THREADS = "1"), expect_identical(simulate(), x))
  expect_false(identical(simulate_network(20, units = 12, observed = 9)$time, x$time))
  expect_s3_class(x, "spike_trains")
  expect_identical(levels(x$unit), sprintf("u%02d", 1:9))
  expect_identical(c(attr(x, "start"), attr(x, "end")), c(0, 20))
})

test_that("a longer recording begins like a shorter one", {
  set.seed(3)
  short <- simulate_network(10, units = 10)
  set.seed(3)
  long <- simulate_network(15, units = 10)
  n <- sum(long$time <= 9.99)
  expect_identical(long$time[seq_len(n)], short$time[seq_len(n)])
})

test_that("units fire at their target rates", {
  set.seed(1)
  for (x in list(
    simulate_network(200), simulate_network(200, 30, connectivity = 0, oscillation = c(8, 40)),
    simulate_network(200, 15, burst_rate = 0.3, rate = c(3, 10)),
    simulate_network(40, 400, 40, inhibitory = 0.2, strength = c(0.035, 0.15),
                     strength_spread = 0.9, rate = c(3, 8))
  )) {
    target <- truth_of(x)$units$rate
    off <- abs(rates_of(x) - target)
    # The tuning has an error of its own, and inputs differ from stretch to stretch.
    expect_true(all(off < 0.15 * target + 5 * sqrt(target / attr(x, "end"))))
    expect_lt(abs(sum(rates_of(x)) / sum(target) - 1), 0.1)
  }
})

test_that("the truth has Dale's law, the strengths and the delays that were asked for", {
  set.seed(2)
  x <- simulate_network(1, units = 200, observed = 150, inhibitory = 0.2, connectivity = 0.2,
                        strength = c(0.1, 0.3), strength_spread = 0.5, delay = c(0.001, 0.004))
  truth <- truth_of(x)
  expect_identical(sum(truth$units$type == "inhibitory"), 30L)
  expect_identical(truth$hidden, 50L)
  synapses <- truth$synapses
  type <- truth$units$type[as.integer(synapses$from)]
  expect_identical(synapses$sign, ifelse(type == "inhibitory", -1L, 1L))
  expect_identical(sign(synapses$strength), as.double(synapses$sign))
  expect_true(all(synapses$from != synapses$to))
  expect_lt(abs(nrow(synapses) / (150 * 149) - 0.2), 5 * sqrt(0.16 / (150 * 149)))
  for (sign in c(1, -1)) {
    size <- abs(synapses$strength[synapses$sign == sign])
    expect_lt(abs(median(log(size)) - log(if (sign > 0) 0.1 else 0.3)), 0.1)
    expect_lt(max(size), 1 + 1e-12)
  }
  expect_setequal(round(synapses$delay / 0.00025), 4:16)
  expect_identical(unname(truth$wiring[cbind(synapses$from, synapses$to)]), synapses$strength)
  expect_identical(sum(truth$wiring != 0), nrow(synapses))
  expect_identical(nrow(truth_of(simulate_network(1, connectivity = 0))$synapses), 0L)
})

test_that("a synapse makes a peak, or a dip, after its delay, and none without it", {
  set.seed(5)
  wiring <- matrix(0, 4, 4, dimnames = rep(list(c("e", "to", "i", "apart")), 2))
  wiring["e", "to"] <- 0.5
  wiring["i", "to"] <- -0.8
  x <- simulate_network(600, wiring = wiring, delay = 0.004, rate = 10, rate_spread = 0,
                        common_input = 0)
  expect_identical(levels(x$unit), colnames(wiring))
  expect_identical(unname(truth_of(x)$wiring[, ]), unname(wiring))
  counts <- cross_correlogram(x, 0.001, 0.05, threads = 2)
  lag <- round(1000 * attr(counts, "lag"))
  # Extra spikes of `to` for a spike of `from`, at some lags in ms.
  extra <- function(from, to, lags) {
    base <- mean(counts[abs(lag) > 20, from, to])
    sum(counts[lag %in% lags, from, to] - base) / sum(x$unit == from)
  }
  expect_gt(extra("e", "to", 4:9), 0.15)
  expect_lt(abs(extra("e", "to", 0:3)), 0.02)
  expect_lt(extra("i", "to", 5:12), -0.03)
  expect_lt(abs(extra("i", "to", 0:3)), 0.02)
  for (from in c("e", "i")) expect_lt(abs(extra(from, "apart", 1:12)), 0.03)
  peak <- lag[which.max(counts[, "e", "to"])]
  expect_true(peak >= 4 && peak <= 7)
})

test_that("the strength of a synapse is the peak of its potential", {
  for (synaptic in c(0.0025, 0.005, 0.012)) {
    t <- seq(0, 0.1, 1e-6)
    potential <- if (synaptic == 0.012) t / 0.012 * exp(-t / 0.012) else
      synaptic / (0.012 - synaptic) * (exp(-t / 0.012) - exp(-t / synaptic))
    expect_equal(peak_potential(0.012, synaptic), max(potential), tolerance = 1e-6)
  }
})

test_that("shared inputs make units fire together, each at its own time scale", {
  together <- function(x, from, to) {
    counts <- cross_correlogram(x, 0.002, 0.3, threads = 2)
    lag <- abs(attr(counts, "lag"))
    pairs <- which(upper.tri(diag(nlevels(x$unit))), arr.ind = TRUE)
    sum(apply(pairs, 1, \(p) mean(counts[lag >= from & lag <= to, p[[1]], p[[2]]]) /
                mean(counts[lag > 0.25, p[[1]], p[[2]]]))) / nrow(pairs)
  }
  set.seed(6)
  simulate <- function(...) simulate_network(300, 8, connectivity = 0, rate = 10, ...)
  expect_lt(abs(together(simulate(common_input = 0), 0, 0.01) - 1), 0.03)
  expect_gt(together(simulate(common_input = 0.2, fluctuation = 0.02), 0, 0.01), 1.2)
  slow <- simulate(common_input = 0.2, fluctuation = 0.2)
  expect_gt(together(slow, 0.05, 0.08), 1.1)
  swings <- simulate(common_input = 0.2, fluctuation = NULL, oscillation = 10)
  expect_gt(together(swings, 0, 0.01), together(swings, 0.045, 0.055) + 0.1)
  set.seed(6)
  x <- simulate(burst_rate = 0.3, burst_strength = 1)
  bursts <- truth_of(x)$bursts
  inside <- findInterval(x$time, bursts$start) > 0 &
    x$time < c(0, bursts$start + bursts$duration)[findInterval(x$time, bursts$start) + 1]
  expect_gt(mean(inside), 3 * sum(bursts$duration) / 300)
})

test_that("the refractory time and adaptation are in the intervals", {
  set.seed(8)
  x <- simulate_network(60, 10, connectivity = 0, rate = 30, refractory = 0.005)
  intervals <- unlist(tapply(x$time, x$unit, diff))
  expect_gt(min(intervals), 0.005 - 0.00026)
  spread <- function(adaptation) {
    set.seed(9)
    x <- simulate_network(100, 6, connectivity = 0, rate = 20, common_input = 0,
                          adaptation = adaptation)
    mean(tapply(x$time, x$unit, \(t) sd(diff(t)) / mean(diff(t))))
  }
  # Adaptation makes firing more regular.
  expect_lt(spread(0.3), spread(0) - 0.1)
})

test_that("arguments that cannot be are refused by name", {
  refused <- function(expr, text) expect_error(expr, text, class = "synfire_error_argument")
  refused(simulate_network(0), "`duration` must be")
  refused(simulate_network(1e9, 1000), "`duration` must be")
  refused(simulate_network(1, units = 5001), "`units` must be")
  refused(simulate_network(1, units = 10, observed = 11), "`observed` must be")
  refused(simulate_network(1, inhibitory = 2), "`inhibitory` must be")
  refused(simulate_network(1, connectivity = -1), "`connectivity` must be")
  refused(simulate_network(1, strength = c(0.1, -0.1)), "`strength` must be")
  refused(simulate_network(1, delay = c(0.003, 0.001)), "`delay` must be")
  refused(simulate_network(1, delay = 0), "`delay` must be")
  refused(simulate_network(1, rate = 0), "`rate` must be")
  refused(simulate_network(1, common_input = "much"), "`common_input` must be")
  refused(simulate_network(1, fluctuation = 0), "`fluctuation` must be")
  refused(simulate_network(1, oscillation = 600), "`oscillation` must be")
  refused(simulate_network(1, burst_rate = -1), "`burst_rate` must be")
  refused(simulate_network(1, noise = 0), "`noise` must be")
  refused(simulate_network(1, synaptic_time = 1), "`synaptic_time` must be")
  refused(simulate_network(1, refractory = -1), "`refractory` must be")
  refused(simulate_network(1, wiring = matrix(0.1, 2, 2)), "synapse from a unit to itself")
  refused(simulate_network(1, wiring = matrix(0, 2, 3)), "`wiring` must be")
  mixed <- rbind(c(0, 0.1, -0.1), 0, 0)
  refused(simulate_network(1, wiring = mixed), "excites and inhibits")
  named <- matrix(0, 2, 2, dimnames = list(NULL, c("a", "a")))
  refused(simulate_network(1, wiring = named), "a name of its own")
})

test_that("one unit is a network, and all synapses may be absent", {
  set.seed(1)
  x <- simulate_network(5, units = 1)
  expect_identical(levels(x$unit), "u01")
  expect_gt(nrow(x), 5)
  expect_identical(nrow(truth_of(x)$synapses), 0L)
})

test_that("Ctrl-C ends a simulation", {
  expect_interrupted(quote({
    begin()
    simulate_network(1e5, units = 1000, rate = 0.5)
  }))
})
