test_that("both conditions of a calcium recording differ in the links that were said", {
  condition <- function(which, ...) {
    set.seed(5)
    simulate_calcium(60, neurons = 20, condition = which, ...)
  }
  rest <- condition("rest")
  stimulus <- condition("stimulus")
  region <- attr(rest, "region")
  hubs <- attr(rest, "hubs")
  expect_identical(attr(stimulus, "region"), region)
  expect_identical(as.vector(table(region)), rep(5L, 4))
  expect_identical(hubs, c("n01", "n06", "n11", "n16"))
  at_rest <- attr(rest, "truth")
  expected <- at_rest
  expected["n01", setdiff(colnames(rest)[region == "hindbrain"], hubs)] <- 0.2
  expected["n06", region != "habenula"] <- 0
  expect_identical(attr(stimulus, "truth"), expected)
  expect_true(all(at_rest[, hubs] == 0))
  # Every other neuron has one cause in its region, besides the hubs.
  local <- at_rest[!rownames(at_rest) %in% hubs, !colnames(at_rest) %in% hubs]
  expect_true(all(colSums(local > 0) == 1))
  expect_false(any(rest == stimulus))
})

test_that("calcium decays with its time constant", {
  set.seed(6)
  plain <- \(decay) {
    set.seed(6)
    simulate_calcium(200, neurons = 8, regions = c("a", "b"), decay = decay, noise = 0)
  }
  # Undo the decay: what is left is the activity, the same for both but for its scale.
  activity <- \(x, decay) x[-1, 1] - exp(-0.5 / decay) * x[-200, 1]
  expect_equal(cor(activity(plain(1), 1), activity(plain(3), 3)), 1)
  expect_lt(cor(activity(plain(1), 1), activity(plain(3), 1)), 0.999)
})

test_that("two neurons of the last region turn the fish, as the equation says", {
  set.seed(8)
  x <- simulate_calcium(300, neurons = 9, regions = c("a", "b"), strength = 0, noise = 0)
  turned_by <- attr(x, "turned_by")
  expect_identical(turned_by, c(left = "n07", right = "n08"))
  # Activity but for its scale: the calcium that a frame adds to what is left of the last.
  added <- 1 + x[-1, turned_by] - exp(-0.5 / 1.5) * (1 + x[-300, turned_by])
  # The scale: without links the logarithm of growth is r - r a.
  activity <- apply(added, 2, \(u) {
    line <- coef(lm(log(u[-1] / u[-length(u)]) ~ u[-length(u)]))
    -u * line[[2]] / line[[1]]
  })
  turning <- attr(x, "turning")
  expect_identical(turning[[1]], 0)
  # Frames 3 on: activity is that of frames 2 on.
  expect_equal(turning[3:300],
               turning[2:299] / 2 + tanh(activity[-299, "n07"] - activity[-299, "n08"]))
  expect_true(any(turning > 0.5) && any(turning < -0.5))
})

test_that("turning has noise of its own, and both conditions other turns", {
  made <- function(noise, condition = "rest") {
    set.seed(9)
    simulate_calcium(2000, neurons = 12, noise = noise, condition = condition)
  }
  quiet <- made(0)
  noisy <- made(0.2)
  noise <- attr(noisy, "turning") - attr(quiet, "turning")
  expect_equal(sd(noise) / sd(attr(quiet, "turning")), 0.2, tolerance = 0.05)
  expect_lt(max(abs(cor(noise, c(noisy) - c(quiet) |> matrix(2000)))), 0.08)
  expect_false(any(attr(made(0.2, "stimulus"), "turning") == attr(noisy, "turning")))
  expect_identical(attr(simulate_calcium(1), "turning"), 0)
})

test_that("both conditions are those of earlier versions", {
  set.seed(11)
  x <- simulate_calcium(4, neurons = 9, regions = c("a", "b"), transient = 10,
                        condition = "stimulus")
  expect_identical(which(attr(x, "truth") > 0), c(10L, 13L, 19L, 20L, 28L, 30L, 37L, 38L, 55L,
                                                  60L, 62L, 64L, 69L, 70L, 73L, 78L, 80L))
  expect_equal(c(x[, c(1, 5, 9)]), c(
    0.55657602140777962, 0.12022641368436586, -0.046712136164543672,
    0.42182377391573367, 0.020886190356522765, 0.048906282415582925,
    0.21256537891293753, -0.007897386577756009, 0.68337065353408155,
    0.19769702188831498, -0.080921477890920024, 0.48709427524115551
  ), tolerance = 1e-8)
  expect_equal(attr(x, "turning"), c(0.0081026955863469641, -1.0113867332013684,
                                     0.14089723342388077, 0.95903079364562538),
               tolerance = 1e-8)
  # It drew as much of R's random numbers as it did.
  expect_equal(runif(1), 0.064689776627346873)
})

# Activity times a number: calcium is gone before the next frame.
activity_of <- function(...) 1 + simulate_calcium(..., decay = 1e-3, noise = 0)

test_that("neurons that are wired go on as the slow ones", {
  for (case in 1:3) {
    w <- wiring(c("triangle", "feedback", "hidden_driver"), delay = 1:3, strength = case / 5)
    n <- length(w$series)
    set.seed(case)
    x <- activity_of(12, wiring = w, transient = 7)
    set.seed(case)
    key <- random_key()
    slow <- slow_maps(w, "ricker", 2.8 + 0.3 * random_uniform(n, key, sim_stream(2)),
                      0.1 + 0.8 * random_uniform(n, key, sim_stream(3, 1)), 12, 7)
    for (j in 1:7) expect_equal(x[, j], 1 + relative(slow[, j]), tolerance = 1e-8)
    expect_identical(colnames(x), sprintf("x%02d", 1:7))
    expect_null(attr(x, "region"))
    expect_null(attr(x, "turning"))
  }
})

test_that("spikes come at the rate that activity says, and calcium is what they leave", {
  made <- function(...) {
    set.seed(4)
    simulate_calcium(800, wiring = "chain", noise = 0, ...)
  }
  set.seed(4)
  key <- random_key()
  w <- wiring("chain", strength = 0.2)
  activity <- slow_maps(w, "ricker", 2.8 + 0.3 * random_uniform(3, key, sim_stream(2)),
                        0.1 + 0.8 * random_uniform(3, key, sim_stream(3, 1)), 800, 100)
  for (how in list(list(5, 0.5, 0, Inf, 1), list(20, 0.8, 0.1, 4, 2), list(3, 1, 0.6, 0.5, 0.7))) {
    names(how) <- c("frame_rate", "decay", "rise", "half_saturation", "hill")
    x <- do.call(made, c(how, firing_rate = 4, spikes = TRUE))
    trains <- attr(x, "spike_trains")
    expect_identical(levels(trains$unit), colnames(x))
    expect_equal(attr(trains, "end"), 800 / how$frame_rate, tolerance = 1e-8)
    for (j in 1:3) {
      times <- trains$time[trains$unit == colnames(x)[[j]]]
      calcium <- slow_calcium(times, 800, how$frame_rate, 4, how$decay, how$rise)
      slow <- relative(slow_fluorescence(calcium, how$half_saturation, how$hill))
      # Times were rounded to microseconds.
      expect_equal(x[, j], slow, tolerance = 1e-4)
      count <- tabulate(floor(times * how$frame_rate) + 1, 800)
      expected <- 4 / how$frame_rate * activity[, j]
      expect_lt(abs(sum(count) - sum(expected)), 4 * sqrt(sum(expected)))
      # Poisson: the squares of what is off are as large as what is expected.
      off <- sum((count - expected)^2 / expected)
      expect_lt(abs(off - 800), 6 * sqrt(sum(2 + 1 / expected)))
    }
  }
})

test_that("the same spikes are drawn whether they are kept or not, and each neuron has its own", {
  made <- function(...) {
    set.seed(5)
    simulate_calcium(60, wiring = c(pair = 3), firing_rate = 3, ...)
  }
  kept <- made(spikes = TRUE)
  attr(kept, "spike_trains") <- NULL
  expect_identical(made(), kept)
  # With more neurons after them, those before stay as they are.
  set.seed(5)
  more <- simulate_calcium(60, wiring = wiring(c(pair = 3)), firing_rate = 3, noise = 0)
  expect_identical(unname(more[, ]), unname(made(noise = 0)[, ]))
})

test_that("an indicator that hardly saturates, or hardly rises, is as good as one that does not", {
  made <- function(...) {
    set.seed(6)
    simulate_calcium(100, wiring = "loop", noise = 0, ...)[, ]
  }
  expect_equal(made(rise = 1e-4), made(), tolerance = 1e-3)
  expect_equal(made(firing_rate = 5, rise = 1e-6), made(firing_rate = 5), tolerance = 1e-4)
  expect_equal(made(firing_rate = 5, half_saturation = 1e6), made(firing_rate = 5),
               tolerance = 1e-4)
  expect_gt(cor(made(rise = 0.8)[, 1], made()[, 1]), 0.3)
  # Saturation takes the peaks down.
  peak <- function(x) max(x[, 1]) / median(x[, 1] - min(x[, 1]))
  expect_lt(peak(made(firing_rate = 5, half_saturation = 1)), peak(made(firing_rate = 5)))
})

test_that("arguments of a calcium recording that cannot be are refused by name", {
  refused <- function(text, ...) {
    expect_error(simulate_calcium(10, ...), text, class = "synfire_error_argument")
  }
  refused("`regions` must be", regions = "all")
  refused("`neurons` must be", neurons = 11)
  refused("`condition` must be", condition = "sleep")
  refused("`condition` must be left out", wiring = "chain", condition = "stimulus")
  refused("`neurons` must be left out", wiring = "chain", neurons = 3)
  refused("`wiring` must be such that", wiring = wiring("fan_in", strength = 1.1))
  refused("`rise` must be below", rise = 1.5)
  refused("`rise` must be", rise = -1)
  refused("`frame_rate` must be", frame_rate = 0)
  refused("`half_saturation` must be", half_saturation = 0)
  refused("`half_saturation` must be", half_saturation = "none")
  refused("`hill` must be", hill = 10)
  refused("`firing_rate` must be", firing_rate = 0)
  refused("`spikes` must be FALSE without", spikes = TRUE)
  refused("`spikes` must be TRUE or FALSE", spikes = NA)
  expect_error(simulate_calcium(1e6, firing_rate = 1000, frame_rate = 1, spikes = TRUE),
               "`spikes` must be FALSE where", class = "synfire_error_argument")
})
