# A recording with planted assemblies, and another one of the same units with `count` of the same.
two_recordings <- function(count, seed = 1, kinds = c("synchrony", "sequence"), duration = 120) {
  set.seed(seed)
  x <- simulate_assemblies(duration = duration, units = 14, assemblies = kinds, size = 4,
                           count = 80, participation = 0.95)
  truth <- attr(x, "truth")$assemblies
  again <- lapply(seq_len(nrow(truth)), \(k) {
    list(kind = truth$kind[[k]], units = truth$units[[k]], lags = truth$lags[[k]],
         width = truth$width[[k]], count = count[[k]])
  })
  rate <- attr(x, "truth")$units$rate
  list(x = x, y = simulate_assemblies(duration = duration, units = 14, rate = rate,
                                      assemblies = again[count > 0], participation = 0.95),
       found = find_assemblies(x, max_lag = 0.1, n_surrogates = 19, threads = 1))
}

row_of <- function(found, truth, k) {
  which(vapply(found$units, setequal, NA, truth$assemblies$units[[k]]))
}

test_that("more, fewer and no activations are counted, at their times", {
  of <- two_recordings(c(160, 20))
  truth <- attr(of$y, "truth")
  a <- assembly_activations(of$y, of$found)
  expect_s3_class(a, c("assembly_activations", "assemblies"), exact = FALSE)
  expect_identical(a$units, of$found$units)
  for (k in 1:2) {
    row <- row_of(a, truth, k)
    expect_gt(a$count[[row]] - a$expected[[row]], 0.75 * c(160, 20)[[k]])
    expect_lt(a$count[[row]] - a$expected[[row]], 1.1 * c(160, 20)[[k]])
    expect_equal(a$p[[row]], 1 / 100)
    lag <- truth$assemblies$lags[[k]][match(a$units[[row]][[1]], truth$assemblies$units[[k]])]
    planted <- truth$activations$time[truth$activations$assembly == k] + lag
    near <- vapply(planted, \(t) min(abs(a$times[[row]] - t)) < 0.01, NA)
    expect_gt(mean(near), 0.75)
    expect_equal(a$rate[[row]], (a$count[[row]] - a$expected[[row]]) / 120, tolerance = 0.01)
    expect_identical(a$first_half[[row]], sum(a$times[[row]] < 60))
  }
  none <- assembly_activations(two_recordings(c(0, 0))$y, of$found, n_surrogates = 39)
  expect_lt(max(none$count), 5)
  expect_gt(min(none$p), 0.05)
  expect_identical(attr(none, "n_surrogates"), 39)
})

test_that("in the recording of the assemblies activations are those of the table", {
  of <- two_recordings(c(0, 0), seed = 2)
  a <- assembly_activations(of$x, of$found)
  expect_equal(a$times, of$found$times)
  expect_identical(a$spikes, of$found$spikes)
  expect_equal(a$participation, of$found$participation)
  expect_equal(a$rate_before, (of$found$count - of$found$expected) /
                 (120 * (1 - attr(of$found, "left_out"))))
  expect_identical(as.data.frame(assembly_activations(of$x, of$found[2, ]))$times[[1]],
                   of$found$times[[2]])
})

test_that("members that are moved by themselves have about the expected number", {
  count <- expected <- p <- NULL
  of <- two_recordings(c(150, 150), seed = 3, kinds = c("rate_synchrony", "jittered_sequence"))
  expect_identical(nrow(of$found), 2L)
  for (seed in 1:10) {
    set.seed(seed)
    y <- as.data.frame(of$y)
    by <- runif(14, 5, 115)
    moved <- (y$time + by[as.integer(of$y$unit)]) %% 120
    z <- spike_trains(moved, of$y$unit, start = 0, end = 120)
    a <- assembly_activations(z, of$found)
    count <- c(count, a$count)
    expected <- c(expected, a$expected)
    p <- c(p, a$p)
  }
  expect_gt(sum(expected), 30)
  expect_lt(abs(sum(count) - sum(expected)), 4 * sqrt(sum(expected)))
  expect_lte(sum(p <= 0.05), 4)
  whole <- assembly_activations(of$y, of$found)
  expect_equal(whole$p, c(0.01, 0.01))
})

test_that("units are looked for by name, whatever their order and the clock", {
  of <- two_recordings(c(60, 60), seed = 4)
  a <- assembly_activations(of$y, of$found)
  other <- spike_trains(of$y$time, factor(as.character(of$y$unit), rev(levels(of$y$unit))),
                        start = 0, end = 120)
  b <- assembly_activations(other, of$found)
  expect_equal(b$times, a$times)
  expect_identical(b$p, a$p)
  fine <- spike_trains(of$y$time, of$y$unit, start = 0, end = 120,
                       resolution = attr(of$y, "resolution") / 10)
  expect_lt(max(abs(assembly_activations(fine, of$found)$count - a$count)), 3)
  # Later, and cut into trials.
  later <- spike_trains(of$y$time + 1000, of$y$unit, start = 1000, end = 1120)
  expect_equal(lapply(assembly_activations(later, of$found)$times, \(t) t - 1000), a$times,
               tolerance = 1e-6)
  cut <- spike_trains(of$y$time, of$y$unit, start = 0, end = 120,
                      trials = data.frame(start = c(0, 60), end = c(40, 120))) |>
    suppressMessages()
  b <- assembly_activations(cut, of$found)
  expect_true(all(unlist(b$times) < 40.1 | unlist(b$times) > 59.9))
  expect_lt(abs(sum(b$count) / sum(a$count) - 100 / 120), 0.1)
})

test_that("members that are not there are named, silent ones are no error", {
  of <- two_recordings(c(60, 60), seed = 5)
  lost <- of$found$units[[1]][[2]]
  rest <- setdiff(levels(of$y$unit), lost)
  expect_error(assembly_activations(of$y[unit = rest], of$found),
               sprintf("without unit %s of assembly 1", lost), class = "synfire_error_argument")
  expect_no_error(assembly_activations(of$y[unit = rest], of$found[2, ]))
  y <- of$y[unit = rest]
  silent <- spike_trains(y$time, factor(as.character(y$unit), levels(of$y$unit)), start = 0,
                         end = 120)
  a <- assembly_activations(silent, of$found)
  expect_equal(a$participation[[1]][[2]], 0)
  nothing <- spike_trains(numeric(), factor(character(), levels(of$y$unit)), start = 0, end = 10)
  a <- assembly_activations(nothing, of$found)
  expect_identical(a$count, c(0L, 0L))
  expect_identical(a$p, c(1, 1))
  expect_identical(nrow(assembly_activations(of$y, of$found[0, ])), 0L)
  expect_error(assembly_activations(of$y, 1), "`assemblies`", class = "synfire_error_argument")
  expect_error(assembly_activations(1, of$found), "`x`", class = "synfire_error_argument")
  for (part in c("recording", "window", "left_out")) {
    changed <- of$found
    attr(changed, part) <- "x"
    expect_error(assembly_activations(of$y, changed), "`assemblies`",
                 class = "synfire_error_argument")
  }
  expect_error(assembly_activations(of$y, of$found, n_surrogates = 0), "`n_surrogates`",
               class = "synfire_error_argument")
  rows <- unique(data.frame(time = round(of$y$time / 0.02) * 0.02, unit = of$y$unit))
  frames <- spike_trains(rows$time, rows$unit, start = 0, end = 121)
  expect_error(assembly_activations(frames, of$found), "a time every 20 ms",
               class = "synfire_error_argument")
})

test_that("activations elsewhere are printed, said, and drawn as assemblies are", {
  of <- two_recordings(c(60, 0), seed = 9)
  a <- assembly_activations(of$y, of$found)
  expect_output(print(a), "activations of 2 assemblies in another recording: 14 units, 120 s")
  expect_output(print(a, n = 1), "1 more")
  expect_output(print(summary(a)), "1 of 2 assemblies is more active")
  expect_output(print(summary(a, n = 1)), "And 1 more")
  expect_s3_class(a[1, ], "assembly_activations")
  expect_identical(sum(activation_rate(a, 1)) |> as.integer(), sum(a$count))
  expect_identical(nrow(as.data.frame(a, what = "activations")), sum(a$count))
  expect_identical(attr(as_spike_trains(a), "end"), 120)
  skip_if_not_installed("generics")
  expect_identical(as.data.frame(generics::glance(a))$activations, sum(a$count))
  expect_identical(as.data.frame(generics::tidy(a))$p.value, a$p)
  skip_if_not_installed("ggplot2")
  expect_true(all(is.na(unlist(a$participation[a$count == 0]))))
  for (type in c("aligned", "raster", "lags", "time", "participation")) {
    expect_no_error(ggplot2::ggplot_build(ggplot2::autoplot(a, type = type)))
    expect_message(ggplot2::autoplot(a[a$count == 0, ], type = type), "no activation",
                   class = "synfire_message_empty")
  }
})
