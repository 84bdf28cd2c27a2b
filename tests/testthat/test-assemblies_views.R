planted_views <- function(seed = 1, participation = 0.8, trials = NULL, count = 60) {
  set.seed(seed)
  x <- simulate_assemblies(duration = 120, units = 14, assemblies = c("synchrony", "sequence"),
                           size = 4, count = count, participation = participation)
  truth <- attr(x, "truth")
  if (!is.null(trials)) {
    x <- suppressMessages(spike_trains(x$time, as.character(x$unit), start = 0, end = 120,
                                       trials = trials, resolution = attr(x, "resolution")))
    attr(x, "truth") <- truth
  }
  x
}

trials_of_views <- function() {
  data.frame(start = seq(0, 110, 10), end = seq(8, 118, 10), light = rep(c("on", "off"), 6))
}

layers_of <- function(plot, geom) {
  built <- ggplot2::ggplot_build(plot)
  which <- vapply(plot$layers, \(l) inherits(l$geom, geom), NA)
  built$data[which]
}

test_that("spikes around activations are those of a slow search, of the trial alone", {
  for (trials in list(NULL, trials_of_views())) {
    x <- planted_views(1, trials = trials)
    a <- made_assemblies(x)
    got <- spikes_around(a, 2, -0.05, 0.1)
    times <- a$times[[2]]
    slow <- do.call(rbind, lapply(seq_along(times), \(k) {
      do.call(rbind, lapply(seq_along(a$units[[2]]), \(m) {
        own <- x$time[x$unit == a$units[[2]][[m]]]
        own <- own[own - times[[k]] >= -0.05 - 1e-9 & own - times[[k]] < 0.1 - 1e-9]
        if (!is.null(trials)) {
          at <- findInterval(times[[k]] + max(a$lags[[2]]) / 2, trials$start)
          own <- own[own >= trials$start[[at]] & own < c(trials$start, Inf)[[at + 1]]]
        }
        data.frame(activation = rep(k, length(own)), member = rep(m, length(own)), time = own)
      }))
    }))
    expect_gt(nrow(slow), 200)
    slow <- slow[order(slow$member, slow$activation, slow$time), ]
    expect_equal(got$time, slow$time)
    expect_identical(got$activation, slow$activation)
    expect_identical(got$member, slow$member)
  }
})

test_that("the moments at which the others fire are those of a slow search", {
  set.seed(4)
  ticks <- lapply(1:3, \(m) sort(sample(0:2000, 60)))
  lags <- c(0, 7, 12)
  widths <- c(5, 9, 5)
  got <- surprising_moments(ticks, lags, widths, 2000, 25)
  expect_length(got, 25)
  expect_gte(min(diff(got)), 9)
  score <- \(t) {
    sum(vapply(1:3, \(m) {
      n <- sum(ticks[[m]] - lags[[m]] > t - widths[[m]] / 2 &
                 ticks[[m]] - lags[[m]] < t + widths[[m]] / 2)
      min(6, -log(1 - stats::ppois(n - 1, 60 * widths[[m]] / 2000)))
    }, 0))
  }
  all <- vapply(seq(-20, 2010, by = 0.25), score, 0)
  own <- vapply(got, score, 0)
  # None left is better than one taken, unless near one that is as good.
  expect_gte(max(own), max(all) - 1e-9)
  left <- seq(-20, 2010, by = 0.25)[all > min(own) + 1e-9]
  near <- vapply(left, \(t) {
    taken <- got[abs(got - t) < 9 + 5]
    length(taken) > 0 && max(vapply(taken, score, 0)) >= score(t) - 1e-9
  }, NA)
  expect_true(all(near))
  expect_length(surprising_moments(list(numeric(), numeric()), c(0, 0), c(3, 3), 100, 5), 0)
})

test_that("a lag profile is not made of the spikes that found the activations", {
  x <- planted_views(2, participation = 0.9, count = 100)
  truth <- attr(x, "truth")
  # The last member is exchanged for a unit that has nothing to do with the assembly.
  stranger <- setdiff(levels(x$unit), unlist(truth$assemblies$units))[[1]]
  truth$assemblies$units[[1]][[4]] <- stranger
  a <- made_assemblies(x, truth)
  members <- lag_profiles(a, 1)$members
  strange <- match(stranger, a$units[[1]])
  expect_true(all(members$excess[-strange] > 0.4))
  expect_lt(abs(members$excess[[strange]]), 0.1)
  # Around activations that this unit was searched for, it would have a peak.
  found <- find_assemblies(x, max_lag = 0.15, n_surrogates = 19, threads = 1)
  profile <- lag_profiles(found, 1)
  expect_identical(nrow(profile$members), found$size[[1]])
  expect_true(all(profile$members$excess > 0.4))
})

test_that("a lag profile does without population bursts, as the search does", {
  a <- made_assemblies(planted_views(2))
  attr(a, "bursts") <- data.frame(start = c(10, 50), end = c(20, 55))
  attr(a, "left_out") <- 15 / 120
  time <- attr(a, "recording")$time
  burst <- (time >= 10 & time < 20) | (time >= 50 & time < 55)
  expect_gt(sum(burst), 20)
  expect_identical(in_bursts(time, a), burst)
  expect_identical(in_bursts(c(9.9, 10, 20, 60), a), c(FALSE, TRUE, FALSE, FALSE))
  without <- a
  attr(without, "recording") <- attr(a, "recording")[!burst, ]
  attr(without, "bursts") <- attr(a, "bursts")[0, ]
  expect_identical(member_trains(a, 1)$ticks, member_trains(without, 1)$ticks)
  expect_equal(member_trains(a, 1)$duration, 105)
})

test_that("coloured spikes of the raster are those that the table counts", {
  skip_if_not_installed("ggplot2")
  x <- planted_views(3)
  a <- made_assemblies(x)
  plot <- ggplot2::autoplot(a, type = "raster", from = 0, to = 120)
  coloured <- layers_of(plot, "GeomSegment")
  marks <- coloured[[length(coloured) - 1L]]
  expect_identical(nrow(marks), sum(unlist(a$spikes)))
  expect_setequal(unique(marks$colour), unname(synfire_colours()[c("blue", "orange")]))
  # Lines between the spikes would cross each other.
  expect_length(layers_of(plot, "GeomPath"), 0L)
  # A bar for each activation that has a spike.
  expect_identical(nrow(coloured[[length(coloured)]]),
                   sum(vapply(a$spikes, \(s) sum(rowSums(s) > 0), 0)) |> as.integer())
})

test_that("an assembly has one colour in all pictures", {
  skip_if_not_installed("ggplot2")
  a <- made_assemblies(planted_views(3))
  colour_of <- \(...) {
    points <- layers_of(ggplot2::autoplot(a, ...), "GeomPoint")
    unique(points[[2]]$colour)
  }
  both <- colour_of(type = "aligned")
  expect_length(both, 2)
  expect_identical(colour_of(type = "aligned", assemblies = 2), both[[2]])
  twelve <- a[rep(1, 12), ]
  twelve <- as.data.frame(twelve)
  twelve$assembly <- 1:12
  expect_length(unique(assembly_colours(twelve, 1:12)), 12)
})

test_that("all pictures are drawn, with trials and without, of one or of many", {
  skip_if_not_installed("ggplot2")
  for (trials in list(NULL, trials_of_views())) {
    a <- made_assemblies(planted_views(4, trials = trials))
    for (type in c("aligned", "raster", "lags", "time", "participation", "network")) {
      if (type == "network") skip_if_not_installed("igraph")
      expect_no_error(ggplot2::ggplot_build(ggplot2::autoplot(a, type = type)))
      one <- ggplot2::autoplot(a, type = type, assemblies = 2)
      expect_no_error(ggplot2::ggplot_build(one))
      expect_match(one$labels$caption, "1 of 2 assemblies", info = type)
    }
  }
})

test_that("activations by condition are counts over time", {
  skip_if_not_installed("ggplot2")
  trials <- trials_of_views()
  x <- planted_views(5, trials = trials)
  a <- made_assemblies(x)
  slow <- vapply(seq_len(nrow(trials)), \(k) {
    sum(a$times[[1]] >= trials$start[[k]] & a$times[[1]] < trials$end[[k]]) / 8
  }, 0)
  expect_gt(sum(slow > 0), 5)
  dots <- \(by) {
    plot <- ggplot2::autoplot(a, type = "condition", by = by, assemblies = 1)
    plot$data
  }
  expect_equal(dots("light")$rate, slow)
  expect_identical(as.character(dots("light")$condition), trials$light)
  expect_equal(dots(trials)$rate, slow)
  expect_error(dots("dark"), "`by` must be.*There is", class = "synfire_error_argument")
  expect_error(dots(NULL), "`by` must be given", class = "synfire_error_argument")
  expect_error(dots(trials[c("start", "end")]), "`by`", class = "synfire_error_argument")
  expect_error(dots(data.frame(start = 2, end = 1, x = 1)), "`by`",
               class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(made_assemblies(planted_views(5)), type = "condition",
                                 by = "light"), "no trials", class = "synfire_error_argument")
})

test_that("the network has a step from each member to the next", {
  skip_if_not_installed("igraph")
  x <- planted_views(6)
  unit_table(x) <- data.frame(unit = levels(x$unit), x = 1:14, y = 14:1)
  attr(x, "truth") <- attr(planted_views(6), "truth")
  a <- made_assemblies(x)
  graph <- igraph::as.igraph(a)
  expect_identical(igraph::ecount(graph), sum(a$size - 1L) |> as.double())
  ends <- igraph::as_data_frame(graph)
  expect_identical(ends$from, unlist(lapply(a$units, \(u) u[-4])))
  expect_identical(ends$to, unlist(lapply(a$units, \(u) u[-1])))
  expect_equal(ends$lag, unlist(lapply(a$lags, diff)))
  expect_identical(ends$count[[1]], as.double(sum(a$spikes[[1]][, 1] > 0 & a$spikes[[1]][, 2] > 0)))
  names <- igraph::V(graph)$name
  expect_identical(names, levels(x$unit)[levels(x$unit) %in% unlist(a$units)])
  expect_equal(igraph::V(graph)$x, match(names, levels(x$unit)))
  expect_identical(igraph::V(graph)$spikes, as.integer(table(x$unit)[names]))
  expect_identical(igraph::vcount(igraph::as.igraph(a[0, ])) |> as.double(), 0)
})

test_that("activations are a recording, and rates are its counts", {
  trials <- trials_of_views()
  a <- made_assemblies(planted_views(7))
  trains <- as_spike_trains(a)
  expect_identical(levels(trains$unit), c("Assembly 1", "Assembly 2"))
  expect_equal(trains$time[trains$unit == "Assembly 2"], a$times[[2]])
  expect_identical(attr(trains, "end"), 120)
  rate <- activation_rate(a, 0.5)
  expect_s3_class(rate, "activation_rate")
  expect_identical(dim(rate), c(240L, 2L))
  expect_identical(colnames(rate), c("Assembly 1", "Assembly 2"))
  expect_equal(attr(rate, "time"), (0:239) * 0.5)
  expect_equal(unname(as.matrix(rate)[, 1]),
               tabulate(floor(a$times[[1]] / 0.5) + 1, 240) / 0.5)
  expect_output(print(rate), "<activation_rate> 240 bins of 0.5 s, 2 assemblies, activations per")
  expect_s3_class(rate[1:10, ], "activation_rate")
  # Trials are kept apart.
  b <- made_assemblies(planted_views(7, trials = trials))
  rate <- activation_rate(b, 0.5, gap = 2)
  expect_identical(nrow(rate), 12L * 16L + 11L * 2L)
  expect_identical(sum(is.na(attr(rate, "time"))), 22L)
  expect_error(causal_map(rate, E = 2, Tp = -3:0), "gap = 3", class = "synfire_error_argument")
  expect_no_error(causal_map(rate, E = 2, Tp = -2:0, threads = 1))
  expect_identical(sum(psth(b, by = "light", bin_size = 0.5)$count) + attr(rate, "left_out"),
                   nrow(as_spike_trains(b)))
  expect_error(activation_rate(a[0, ], 0.5), "without", class = "synfire_error_argument")
  expect_error(activation_rate(a, 0), "`bin_size`", class = "synfire_error_argument")
  expect_error(activation_rate(1:3, 1), "`x`", class = "synfire_error_argument")
  expect_error(activation_rate(a, 0.001, max_memory = 1e6), class = "synfire_error_budget")
})

test_that("which assembly drives which is found from a raw recording", {
  set.seed(11)
  duration <- 250
  first <- sort(runif(125, 1, duration - 1))
  after <- first[runif(125) < 0.8]
  second <- after + runif(length(after), 0.15, 0.4)
  third <- runif(125, 1, duration - 1)
  spikes <- \(times, units, step) {
    data.frame(time = rep(times, each = 4) + rep(step * 0:3, length(times)) +
                 runif(4 * length(times), 0, 0.002), unit = rep(units, length(times)))
  }
  names <- sprintf("n%02d", 1:24)
  noise <- data.frame(time = runif(24 * 3 * duration, 0, duration),
                      unit = sample(names, 24 * 3 * duration, TRUE))
  all <- rbind(noise, spikes(first, names[1:4], 0), spikes(second, names[5:8], 0.01),
               spikes(third, names[9:12], 0.005))
  x <- suppressMessages(spike_trains(all$time, all$unit, start = 0, end = duration))
  found <- find_assemblies(x, max_lag = 0.1, n_surrogates = 19, threads = 1)
  expect_setequal(lapply(found$units, sort), list(names[1:4], names[5:8], names[9:12]))
  at <- match(c("n01", "n05", "n09"), vapply(found$units, min, ""))
  map <- causal_map(activation_rate(found, 0.05), E = 1, Tp = -10:0, n_surrogates = 39,
                    threads = 1)
  rho <- as.matrix(map)[at, at]
  # Row: what is driven. The second follows the first.
  expect_identical(which(rho == max(rho[row(rho) != col(rho)]), arr.ind = TRUE)[1, ] |> unname(),
                   c(2L, 1L))
  p <- attr(map, "p_value")[at, at]
  expect_equal(p[2, 1], 1 / 40)
  expect_gt(p[1, 2], p[2, 1])
  lag <- attr(map, "lag")[at, at]
  expect_true(lag[2, 1] %in% -8:-3)
})

test_that("no assembly is said in a sentence, and rows keep the class", {
  x <- planted_views(8)
  a <- made_assemblies(x)
  expect_s3_class(a[2, ], "assemblies")
  expect_identical(attr(a[2, ], "recording"), attr(a, "recording"))
  expect_output(print(a[2, ]), "# 1 of 2 assemblies in 14 units")
  expect_output(print(a[0, ]), "None of the assemblies")
  none <- find_assemblies(spike_trains(1:3, c("a", "b", "c"), start = 0, end = 10),
                          n_surrogates = 19)
  expect_output(print(none), "# 0 assemblies.*No three units stand out")
  expect_s3_class(as.data.frame(a), "data.frame", exact = TRUE)
  skip_if_not_installed("generics")
  expect_identical(as.data.frame(generics::glance(a))$activations, sum(a$count))
  expect_identical(generics::glance(a[0, ])$max_size, 0L)
})

test_that("arguments of pictures are for their type", {
  skip_if_not_installed("ggplot2")
  a <- made_assemblies(planted_views(9))
  for (arg in c("from", "to", "by")) {
    expect_error(do.call(ggplot2::autoplot, c(list(a, type = "time"), rlang::set_names(list(1), arg))),
                 sprintf("`%s` must be left out", arg), class = "synfire_error_argument")
  }
  expect_error(ggplot2::autoplot(a, type = "raster", from = 5, to = 2), "`from`",
               class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(a, type = "network", layout = "circle"), "`layout`",
               class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(a, assemblies = 1:13), "`assemblies`",
               class = "synfire_error_argument")
  expect_message(empty <- ggplot2::autoplot(a[0, ], type = "lags"), "nothing to draw",
                 class = "synfire_message_empty")
  expect_silent(ggplot2::ggplot_build(empty))
})

test_that("activations beyond the ends of the recording stay apart", {
  a <- made_assemblies(planted_views(2))[1, ]
  resolution <- attr(attr(a, "recording"), "resolution")
  parts <- unclass(a)
  parts$times[[1]] <- c(-0.2, -0.1, 5, 120.1, 120.3)
  a <- structure(parts, class = class(a))
  trains <- as_spike_trains(a)
  expect_identical(trains$time, c(0, resolution, 5, 120 - resolution, 120))
  expect_identical(ticks_between(numeric(), c(0, 9)), numeric())
  expect_identical(ticks_between(c(-1, 0, 4), c(0, 9)), c(0, 1, 4))
})
