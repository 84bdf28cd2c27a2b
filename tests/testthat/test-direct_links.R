# direct_links() on systems whose wiring is known, against a slow search, and with bad input.

coupled <- function(wiring, steps = 400, seed = 1, delay = 1) {
  set.seed(seed)
  simulate_coupled_maps(steps, wiring, delay, noise = 0.02)
}

chain_of_three <- rbind(c(0, 0.2, 0), c(0, 0, 0.2), 0)

direct_of <- function(x, threshold = 0.1, ..., threads = 2) {
  map <- suppressMessages(causal_map(x, E_max = 5, threads = 2))
  direct_links(map, x, threshold = threshold, ..., threads = threads)
}

# "cause effect" of the links of a kind.
of_kind <- function(links, kind) {
  sort(with(as.data.frame(links)[links$link == kind, ], paste(cause, effect)))
}

numbers_of <- function(links) as.list(links)[names(links)]

bad_argument <- function(expr, text) {
  testthat::expect_error(expr, text, class = "synfire_error_argument")
}

# A result whose columns are others: what a user changes is a plain data frame.
with_columns <- function(x, ...) {
  changed <- as.list(as.data.frame(x))
  changed[...names()] <- list(...)
  attributes(changed) <- attributes(x)
  changed
}

# Every kind of link once; the sentences need no more than the table.
one_of_each_kind <- function() {
  all <- direct_of(coupled(rbind(chain_of_three, 0)[, c(1:3, 3)] * rep(c(1, 1, 1, 0), each = 4)),
                   threshold = -1)
  with_columns(all[order(all$link), ][seq_along(direct_link_kinds), ],
               link = factor(direct_link_kinds, direct_link_kinds),
               through = c(NA, NA, "m", "m, n", "m", NA, NA),
               reason = c(rep(NA, 6), "constant"))
}

test_that("links of a chain, a common driver and a triangle are told", {
  chain <- direct_of(coupled(chain_of_three))
  expect_identical(of_kind(chain, "direct"), c("x01 x02", "x02 x03"))
  expect_false("x01 x03" %in% of_kind(chain, "direct"))
  expect_identical(chain$delay[chain$link == "direct"], c(1L, 1L))
  driver <- direct_of(coupled(rbind(c(0, 0.25, 0.25), 0, 0)))
  expect_identical(of_kind(driver, "direct"), c("x01 x02", "x01 x03"))
  triangle <- direct_of(coupled(rbind(c(0, 0.1, 0.1), c(0, 0, 0.1), 0), 800))
  expect_identical(of_kind(triangle, "direct"), c("x01 x02", "x01 x03", "x02 x03"))
  late <- direct_of(coupled(chain_of_three, delay = 3), max_delay = 4)
  expect_identical(of_kind(late, "direct"), c("x01 x02", "x02 x03"))
  expect_identical(late$delay[late$link == "direct"], c(3L, 3L))
})

test_that("a mediated link names the series between", {
  chain <- direct_of(coupled(chain_of_three, 500))
  expect_identical(of_kind(chain, "mediated"), "x01 x03")
  expect_identical(chain$through[chain$link == "mediated"], "x02")
})

test_that("kinds follow from direct links, tests without parties and parties", {
  # 1 -> 2 -> 3 -> 4 and 1 -> 5; 5 and 2 share 1; 6 is explained by 3; 7 is nothing.
  from <- c(1, 2, 3, 1, 1, 1, 5, 6, 7)
  to <- c(2, 3, 4, 5, 3, 4, 2, 4, 4)
  direct <- rep(c(TRUE, FALSE), c(4, 5))
  parties <- list(1, 2, 3, 1, 2, 3, 1, 3, 3)
  found <- kinds_of_links(from, to, direct, alone = c(rep(TRUE, 8), FALSE), parties)
  expect_identical(found$kind,
                   c(rep("direct", 4), "mediated", "mediated", "common driver", "explained",
                     "unsupported"))
  expect_equal(found$through[5:8], list(2, 3, 1, 3))
  expect_identical(lengths(found$through)[c(1:4, 9)], rep(0L, 5))
})

test_that("a link that nothing else explains is unsupported, not explained", {
  found <- kinds_of_links(c(1, 3), c(2, 2), c(FALSE, FALSE), c(TRUE, TRUE), list(1, 1))
  expect_identical(found$kind, c("unsupported", "explained"))
  expect_equal(found$through, list(integer(), 1))
})

test_that("all tests are those of a slow search", {
  for (case in 1:4) {
    x <- coupled(rbind(c(0, 0.2, 0.1, 0), c(0, 0, 0.2, 0), 0, 0), 130, seed = case)
    if (case == 2) x[c(20, 60, 61), 2] <- NA
    delay <- c(2, 3, 1, 6)[[case]]
    most <- c(5, 1, 2, 8)[[case]]
    radius <- c(0, 2, 0, 1)[[case]]
    pairs <- expand.grid(from = 1:4, to = 1:4)
    pairs <- pairs[pairs$from != pairs$to, ]
    names <- colnames(x)
    series <- standard_series(map_source(x), list(cause = names[pairs$from],
                                                  effect = names[pairs$to]), 2L)
    value <- cbind(series$value, series$time)
    clock <- lapply(series$clock, \(k) 4L + k)
    own <- c(2L, 4L, 2L, 3L)
    links <- list(from = pairs$from, to = pairs$to, gaps = series$gaps[pairs$from])
    found <- search_links(links, own, clock, delay, 0.05, most, \(jobs) {
      conditional_forecasts(value, jobs, radius, max(4, delay), list(gpus = NULL, threads = 2L))
    })$test
    slow <- oracle_direct_links(value, pairs, own, delay, 0.05, most, radius, clock)$test
    for (column in c("t", "gain", "delay")) {
      expect_equal(found[[column]], slow[[column]], tolerance = 1e-5)
    }
    for (column in c("p_value", "alone")) {
      expect_equal(found[[column]], slow[[column]], tolerance = 1e-4)
    }
  }
})

test_that("linear tests are those of nested linear models", {
  set.seed(1)
  x <- matrix(stats::rnorm(240 * 3), 240)
  for (t in 3:240) x[t, 1] <- x[t, 1] + 0.4 * x[t - 2, 2] + 0.3 * x[t - 1, 1]
  x[c(50, 51, 90), 3] <- NA
  found <- linear_tests(list(from = 2:3, group = c(1L, 1L)), 1L, list(NULL), x, 2L, 1L)
  lagged <- \(series, order) vapply(seq_len(order), \(lag) x[5:240 - lag, series], double(236))
  known <- stats::complete.cases(lagged(1, 4), lagged(2, 4), lagged(3, 4))
  y <- x[5:240, 1][known]
  past <- \(order, of = 1:3) do.call(cbind, lapply(of, lagged, order))[known, ]
  models <- lapply(2:4, \(order) stats::lm(y ~ past(order)))
  order <- which.min(vapply(models, stats::BIC, 0)) + 1
  model <- models[[order - 1]]
  left_out <- stats::residuals(model) / (1 - stats::hatvalues(model))
  expect_equal(found$error, mean(left_out^2))
  p <- vapply(2:3, \(cause) {
    stats::anova(stats::lm(y ~ past(order, setdiff(1:3, cause))), model)[["Pr(>F)"]][[2]]
  }, 0)
  expect_equal(found$test$p_value, p)
  expect_equal(stats::pnorm(found$test$t, lower.tail = FALSE), p)
  expect_identical(found$test$delay[[1]], 2L)
  # Who has an error that is enough already is not asked for it.
  residual <- mean(stats::residuals(model)^2)
  of <- \(enough) linear_tests(list(from = 2:3, group = c(1L, 1L)), 1L, list(NULL), x, 2L, 1L,
                               enough)
  expect_identical(of(residual * 1.0001), found)
  expect_identical(of(residual * 0.9999)$error, NA_real_)
  expect_identical(of(residual * 0.9999)$test$p_value, rep(NA_real_, 2))
})

test_that("linear forecasts say by how much each step is above them", {
  set.seed(3)
  x <- matrix(stats::rnorm(120), 60)
  x[20, 1] <- NA
  made <- linear_forecasts(list(from = 2L, group = 1L), 1L, list(2L), x, c(1L, 1L), 1L, TRUE)
  # The clock is the cause itself here, and what depends on others has no result.
  expect_true(all(is.na(made$missed)))
  made <- linear_forecasts(list(from = 2L, group = 1L), 1L, list(NULL), x, c(1L, 1L), 1L, TRUE)
  model <- stats::lm(x[-1, 1] ~ x[-60, ])
  left_out <- stats::residuals(model) / (1 - stats::hatvalues(model))
  expect_identical(which(is.na(made$missed)), c(1L, 20L, 21L))
  expect_equal(made$missed[-c(1, 20, 21)], unname(left_out))
})

test_that("series that depend on each other, or are too short, have no linear test", {
  set.seed(1)
  x <- matrix(stats::rnorm(200), 100)
  ask <- \(x) linear_tests(list(from = 2L, group = 1L), 1L, list(NULL), x, 2L, 1L)
  expect_false(is.na(ask(x)$error))
  for (bad in list(cbind(x[, 1], x[, 1]), x[1:14, ], x * NA, cbind(x[, 1], 0))) {
    expect_identical(ask(bad)$error, NA_real_)
    expect_identical(ask(bad)$test$p_value, NA_real_)
  }
})

test_that("mediated links are not called direct where the series between is noisy", {
  said <- vapply(1:6, \(seed) {
    x <- coupled(rbind(c(0, 0.3, 0), c(0, 0, 0.3), 0), 500, seed)
    x[, 2] <- x[, 2] + stats::rnorm(500, 0, 0.2 * stats::sd(x[, 2]))
    found <- direct_of(x, threshold = -1)
    expect_true(all(c("x01 x02", "x02 x03") %in% of_kind(found, "direct")))
    link <- found[found$cause == "x01" & found$effect == "x03", ]
    if (is.na(link$reason)) return(as.character(link$link))
    expect_identical(link$through, "x02")
    expect_lte(link$q_value, 0.01)
    expect_match(summary(found)$sentences$said, "x02 may be too noisy", all = FALSE)
    link$reason
  }, "")
  expect_gte(sum(said == "noise"), 5)
})

test_that("the tests beside pictures of another series are those of a slow search", {
  x <- coupled(rbind(c(0, 0.3, 0), c(0, 0, 0.3), 0), 150)
  x[, 2] <- x[, 2] + stats::rnorm(150, 0, 0.2 * stats::sd(x[, 2]))
  value <- matrix(scale(x), 150)
  forecast <- \(value, jobs, keep = FALSE) {
    conditional_forecasts(value, jobs, 0, 4, list(gpus = NULL, threads = 2L), keep)
  }
  links <- list(from = c(1, 2), to = c(3, 3), gaps = c(1, 1))
  found <- search_links(links, c(2L, 2L, 2L), vector("list", 3), 2, 0.05, 5,
                        \(jobs) forecast(value, jobs))
  asked <- list(link = 1L, other = 2)
  seen <- pictures_of_others(found$state, asked, value, forecast)
  slow <- oracle_pictures(value, 1, 2, 3, noise_thetas, 4)
  expect_equal(seen$value[, 4:5], unname(slow), tolerance = 1e-6)
  # The cause of the first link at its delay, and the state without it.
  lag <- found$test$delay[[1]] - 1
  party <- Filter(\(k) found$state$party$series[[k]] != 1, seq_along(found$state$party$series))
  party <- rbind(found$state$party$series, found$state$party$lag)[, party, drop = FALSE]
  state <- cbind(rbind(3, 0:1), party, party + rep(0:1, ncol(party)))
  pictures <- rbind(c(4, 5, 5), c(0, 0, 1))
  if (!2 %in% party) pictures <- cbind(pictures, c(2, 0))
  beside <- oracle_best_forecast(seen$value, 3, cbind(state, pictures), cbind(c(1, lag)),
                                 noise_thetas, 4)
  expect_equal(left_beside(found$state, found$test, 1L, seen$pictures, seen$value, forecast),
               beside$t, tolerance = 1e-5)
  given <- oracle_best_forecast(seen$value, 3, cbind(state, c(1, lag), c(1, lag + 1)), pictures,
                                noise_thetas, 4)
  expect_equal(brought_by(found$state, found$test, 1L, seen, forecast),
               given$gain[[which.max(given$t)]], tolerance = 1e-5)
})

test_that("how series go together is the test of a linear model of what pasts do not tell", {
  set.seed(2)
  x <- matrix(stats::rnorm(200 * 3), 200)
  for (t in 2:200) x[t, ] <- x[t, ] + 0.6 * x[t - 1, ]
  x[, 2] <- x[, 2] + 0.5 * x[, 1]
  x[30, 3] <- NA
  missed <- cbind(x[, 2] - mean(x[, 2]))
  state <- list(from = c(1L, 3L), group = c(1L, 1L), effect = 2L)
  found <- together_tests(state, vector("list", 3), x, missed, 2L)
  innovation <- \(v) {
    past <- \(order) vapply(seq_len(order), \(lag) c(rep(NA, lag), v[seq_len(200 - lag)]),
                            double(200))
    known <- stats::complete.cases(v, past(4))
    models <- lapply(1:4, \(order) stats::lm(v ~ past(order), subset = known))
    model <- models[[which.min(vapply(models, stats::BIC, 0))]]
    replace(rep(NA, 200), known, stats::residuals(model) / (1 - stats::hatvalues(model)))
  }
  now <- apply(x[, c(1, 3)], 2, innovation)
  before <- c(NA, missed[-200])
  model <- summary(stats::lm(missed ~ before + now))
  expect_equal(found$together, abs(model$coefficients[3:4, 3]), ignore_attr = TRUE)
  expect_equal(found$p_together, model$coefficients[3:4, 4], ignore_attr = TRUE)
})

# Autoregressive series whose noise agrees at the same step.
within_step <- function(steps = 600, seed = 1) {
  set.seed(seed)
  noise <- matrix(stats::rnorm(steps * 4), steps)
  noise[, 2] <- noise[, 2] + 0.6 * noise[, 1]
  noise[, 3] <- noise[, 3] + 0.6 * noise[, 2]
  x <- noise
  for (t in 2:steps) x[t, ] <- noise[t, ] + 0.4 * x[t - 1, ]
  colnames(x) <- letters[1:4]
  x
}

test_that("series that go together within a step have an undirected link, and both rows say so", {
  for (seed in 1:3) {
    links <- direct_of(within_step(seed = seed), threshold = -1)
    expect_identical(of_kind(links, "undirected"), c("a b", "b a", "b c", "c b"))
    expect_identical(of_kind(links, "direct"), character())
  }
  said <- summary(links)$sentences
  expect_identical(sum(said$link == "undirected"), 2L)
  expect_match(said$said[[1]], "go together within a step")
  expect_match(capture.output(print(links)), "together", all = FALSE)
  # Where one row of a pair was looked at, it speaks for both.
  rho <- matrix(0.5, 4, 4, dimnames = list(letters[1:4], letters[1:4]))
  rho["a", "b"] <- 0.1
  one <- direct_links(map_of(rho, E = rep(2L, 4)), within_step(), threshold = 0.3, threads = 2)
  expect_true("b a" %in% of_kind(one, "undirected") || "a b" %in% of_kind(one, "undirected"))
})

test_that("a pair with a direct link is not undirected, and both rows have to say it", {
  from <- c(1, 2, 3, 4, 5, 6)
  to <- c(2, 1, 4, 3, 6, 7)
  p <- c(1e-9, 1e-9, 1e-9, 0.5, 1e-9, NA)
  none <- rep(FALSE, 6)
  expect_identical(pair_together(from, to, none, p, 0.01), c(TRUE, TRUE, FALSE, FALSE, TRUE, FALSE))
  expect_identical(pair_together(from, to, replace(none, 2, TRUE), p, 0.01),
                   c(FALSE, FALSE, FALSE, FALSE, TRUE, FALSE))
})

test_that("a driver that was not recorded makes no direct link where others tell of it", {
  seeds <- cases(8)
  said <- vapply(seeds, \(seed) {
    set.seed(seed)
    steps <- 1000
    driver <- stats::filter(stats::rnorm(steps + 4), 0.9, "recursive")
    x <- matrix(stats::rnorm(steps * 6), steps)
    late <- c(1, 1, 2, 2, 3, 3)
    for (j in 1:6) x[, j] <- x[, j] + 0.8 * driver[4 - late[[j]] + seq_len(steps)]
    colnames(x) <- letters[1:6]
    links <- direct_of(x, threshold = -1)
    hidden <- links$reason %in% "hidden"
    c(direct = sum(links$link == "direct"), hidden = sum(hidden),
      through = sum(!is.na(links$through[hidden])))
  }, double(3))
  expect_identical(sum(said["through", ]), 0)
  expect_gt(sum(said["hidden", ]), 1.3 * length(seeds))
  expect_lt(sum(said["direct", ]), sum(said["hidden", ]))
})

test_that("p and q follow from t", {
  links <- direct_of(coupled(chain_of_three), threshold = -1, max_delay = 4)
  expect_equal(links$p_value, pmin(1, 4 * stats::pnorm(-links$t)))
  expect_equal(links$q_value, stats::p.adjust(links$p_value, "BH"))
  expect_identical(links$link == "direct",
                   links$q_value <= 0.01 & links$t >= 3.5 & is.na(links$reason))
  strict <- direct_of(coupled(chain_of_three), threshold = -1, alpha = 1e-300)
  expect_identical(of_kind(strict, "direct"), character())
})

test_that("threads, kinds of maps and sources of series change nothing", {
  x <- coupled(chain_of_three, 300)
  map <- causal_map(x, E = 3, threads = 2)
  links <- direct_links(map, x, threshold = 0.1, threads = 1)
  same <- \(found) expect_identical(numbers_of(found), numbers_of(links))
  same(direct_links(map, x, threshold = 0.1, threads = 2))
  same(direct_links(map, data.frame(time = 1:300 / 10, x), threshold = 0.1, threads = 2))
  same(direct_links(map, as.data.frame(x), threshold = 0.1, no_time = TRUE, threads = 2))
  table <- causal_map(x, E = 3, screen = 0.1, threads = 2)
  expect_s3_class(table, "causal_links")
  same(direct_links(table, x, threshold = 0.1, threads = 2))
  skip_if_not_installed("hdf5r")
  file <- withr::local_tempfile(fileext = ".h5")
  series <- withr::local_tempfile(fileext = ".h5")
  h5 <- hdf5r::H5File$new(series, "w")
  h5[["series"]] <- x
  h5[["names"]] <- colnames(x)
  h5$close_all()
  on_disk <- suppressMessages(causal_map(x, E = 3, file = file, threads = 2))
  same(direct_links(on_disk, x, threshold = 0.1, threads = 2))
  same(direct_links(open_causal_map(file), series, threshold = 0.1, dataset = "series",
                    threads = 2))
})

test_that("links are in order, and limits keep the highest", {
  x <- coupled(chain_of_three)
  links <- direct_of(x, threshold = -1)
  expect_identical(nrow(links), 6L)
  expect_identical(links$effect, rep(c("x01", "x02", "x03"), each = 2))
  expect_true(all(tapply(links$rho, links$effect, \(rho) !is.unsorted(-rho))))
  expect_true(all(direct_of(x, threshold = 0.2)$rho >= 0.2))
  two <- direct_of(x, threshold = -1, max_links = 2)
  expect_setequal(two$rho, sort(links$rho, decreasing = TRUE)[1:2])
})

test_that("equal links are the same in a map and in its table", {
  x <- coupled(chain_of_three)
  # Two series that are alike have links of the same rho.
  x <- cbind(x, x04 = x[, "x01"])
  map <- causal_map(x, E = 2, threads = 1)
  table <- causal_map(x, E = 2, screen = -1, threads = 1)
  numbers <- \(of, ...) {
    links <- direct_links(of, x, threshold = -1, ..., threads = 1)
    as.list(links)[names(links)]
  }
  expect_identical(numbers(table), numbers(map))
  for (n in 1:3) expect_identical(numbers(table, max_links = n), numbers(map, max_links = n))
})

test_that("some missing values hide no link", {
  x <- coupled(chain_of_three, 600)
  set.seed(2)
  x[sample(length(x), 30)] <- NA
  links <- direct_of(x)
  expect_identical(of_kind(links, "direct"), c("x01 x02", "x02 x03"))
})

test_that("a series with long gaps hides no link of others", {
  x <- coupled(rbind(chain_of_three, 0)[, c(1:3, 3)] * rep(c(1, 1, 1, 0), each = 4), 500)
  links <- direct_of(x, threshold = -1)
  set.seed(5)
  x[sample(500, 350), 4] <- NA
  gaps <- direct_of(x, threshold = -1)
  expect_identical(of_kind(gaps, "direct"), c("x01 x02", "x02 x03"))
  among <- \(links) subset(as.data.frame(links), cause != "x04" & effect != "x04")$t
  expect_equal(among(gaps), among(links))
})

test_that("sentences and tables give p and q, and quote names that are numbers", {
  x <- coupled(chain_of_three)
  colnames(x) <- 1:3
  links <- direct_of(x, threshold = -1)
  said <- summary(links)$sentences$said
  expect_match(said[[1]], '^The recording supports a direct link from "[12]" to "[23]", 1 step')
  expect_match(said[[6]], "does not improve .* significantly [(]p [0-9.]+, q [0-9.]+[)]")
  expect_identical(in_words(c("1, 12", "x1", "a, 3", NA, "1b")),
                   c('"1", "12"', "x1", 'a, "3"', NA, "1b"))
  shown <- utils::capture.output(print(links))
  expect_match(shown, "< 0.001", all = FALSE)
})

test_that("series that allow no sentence are refused with the reason", {
  x <- coupled(chain_of_three, 300)
  set.seed(3)
  x <- cbind(x, flat = 1.5, short = replace(x[, 1], 90:300, NA),
             cycle = sin(2 * pi * (1:300) / 12) + stats::rnorm(300, sd = 0.01),
             twin = x[, 1] + stats::rnorm(300, sd = 1e-4))
  # A made map, so that each pair is looked at.
  rho <- matrix(0.95, 7, 7, dimnames = list(colnames(x), colnames(x)))
  links <- direct_links(map_of(rho, E = rep(3L, 7)), x, threads = 2)
  reason <- \(cause, effect) links$reason[links$cause == cause & links$effect == effect]
  for (other in c("x02", "x03")) {
    for (name in c("flat", "short", "cycle")) {
      is <- c(flat = "constant", short = "short", cycle = "cycle")[[name]]
      expect_identical(c(reason(name, other), reason(other, name)), c(is, is))
    }
  }
  expect_identical(c(reason("x01", "twin"), reason("twin", "x01")), rep("in step", 2))
  expect_identical(reason("x01", "x02"), NA_character_)
  refused <- links$link == "refused"
  expect_identical(refused, !is.na(links$reason))
  expect_true(all(is.na(links[refused, c("delay", "gain", "t", "p_value", "q_value")])))
})

test_that("units change no link", {
  x <- coupled(chain_of_three, 200)
  map <- causal_map(x, E = 3, threads = 2)
  links <- direct_links(map, x, threshold = 0.1, threads = 2)
  for (unit in c(1e-300, 1e-9, 1e200)) {
    other <- direct_links(map, x * unit, threshold = 0.1, threads = 2)
    expect_equal(numbers_of(other), numbers_of(links), tolerance = 1e-6)
  }
})

test_that("rows that are missing one by one leave too few for a test", {
  x <- coupled(chain_of_three, 300)
  x[seq(1, 300, 2), 1] <- NA
  x[seq(2, 300, 2), 2] <- NA
  rho <- matrix(0.5, 3, 3, dimnames = list(colnames(x), colnames(x)))
  links <- direct_links(map_of(rho, E = rep(3L, 3)), x, threads = 2)
  expect_identical(unique(links$reason), "short")
  expect_identical(unique(as.character(links$link)), "refused")
  shown <- utils::capture.output(print(links))
  expect_match(shown, "6 refused", all = FALSE)
  expect_match(shown, "^ *cause effect rho +link reason$", all = FALSE)
  expect_match(summary(links)$sentences$said, "too few rows can be used")
  expect_true(all(is.na(links$delay)))
})

test_that("a common season or trend is no link", {
  set.seed(4)
  season <- sin(2 * pi * (1:480) / 24)
  x <- cbind(a = season, b = season, c = season) + stats::rnorm(1440, sd = 0.5)
  expect_identical(of_kind(direct_of(x, threshold = -1), "direct"), character())
  trend <- 1:480 / 100
  x <- cbind(a = trend, b = trend, c = trend) + stats::rnorm(1440, sd = 0.5)
  expect_identical(of_kind(direct_of(x, threshold = -1), "direct"), character())
})

test_that("errors name the argument", {
  x <- coupled(chain_of_three, 150)
  map <- causal_map(x, E = 2, threads = 2)
  bad_argument(direct_links(), "map")
  bad_argument(direct_links(map), "`x`")
  bad_argument(direct_links(unclass(map), x), "`map` must be what causal_map\\(\\) returned")
  bad_argument(direct_links(smap_map(x, E = 2, threads = 2), x), "`map`")
  other <- x
  colnames(other)[[2]] <- "y"
  bad_argument(direct_links(map, other), "`x`.*x02")
  bad_argument(direct_links(map, x[-1, ]), "`x` must be of 150 steps.*149")
  bad_argument(direct_links(x, map), "numeric matrix of 150 x 3")
  bad_argument(direct_links(map, spike_trains(1:5, rep("a", 5))), "`x`.*spike trains.*bin_spikes")
  bad_argument(direct_links(map, x, alpha = 0), "`alpha`")
  bad_argument(direct_links(map, x, alpha = 1), "`alpha`")
  bad_argument(direct_links(map, x, max_delay = 0), "`max_delay`")
  bad_argument(direct_links(map, x, max_delay = 101), "`max_delay`")
  bad_argument(direct_links(map, x, max_parties = 0), "`max_parties`")
  bad_argument(direct_links(map, x, max_parties = 9), "`max_parties`")
  bad_argument(direct_links(map, x, max_links = -1), "`max_links`")
  bad_argument(direct_links(map, x, exclusion_radius = -1), "`exclusion_radius`")
  bad_argument(direct_links(map, x, device = "tpu"), "`device`")
  bad_argument(direct_links(map, x, threads = 0), "`threads`")
  expect_error(direct_links(map, x, 0.1, 0.05, 3, 5, 7), class = "synfire_error_argument")
})

test_that("each kind has its sentence", {
  links <- one_of_each_kind()
  found <- summary(links)
  expect_s3_class(found, "summary.direct_links")
  expect_identical(as.character(found$sentences$link), direct_link_kinds)
  expect_identical(as.vector(found$kinds), rep(1L, 7))
  expect_match(found$also[[1]], "Direct links by delay in steps: [1-3] [(]1[)]")
  expect_identical(found$also[[2]], "Refused: 1 constant.")
  part <- c("supports a direct link from .*, [0-9]+ steps? later: .* takes away -?[0-9]+[.][0-9] %",
            "go together within a step, and which drives the other cannot be told: .* [(]t [0-9.]+[)]",
            "supports a link from .* through m, and no direct one was found: once the past of m is",
            "supports that .* are both driven by m, n, and no direct link .* was found: once the past",
            "by itself improves .* but no direct link was found: once the past of m is known",
            "^No link .* was found: .* past does not improve .*weak a link look like this",
            "cannot be told .* constant")
  for (k in 1:7) expect_match(found$sentences$said[[k]], part[[k]])
  for (reason in c("constant", "short", "cycle", "in step", "hidden")) {
    other <- with_columns(links, reason = c(rep(NA, 6), reason))
    said <- summary(other)$sentences$said[[7]]
    expect_match(said, "^It cannot be told whether .*, because [a-z].*[.]$")
  }
  said <- \(...) summary(with_columns(links, ...))$sentences$said
  all <- \(value) rep(value, length(direct_link_kinds))
  expect_no_match(said(together = all(0))[[1]], "within a step")
  expect_match(said(together = all(99))[[1]], "together within a step more clearly [(]t 99[.0]*[)]")
  expect_match(said(rho = all(0.5))[[6]], "can be read from .* [(]rho 0.50[)], but its past does not")
  expect_match(said(rho = all(0.05))[[6]], "was found: its past does not improve")
  expect_identical(nrow(summary(links, n = 2)$sentences), 2L)
  shown <- paste(utils::capture.output(print(summary(links, n = 2))), collapse = "\n")
  expect_match(shown, "5 more")
  expect_match(shown, "Series with most direct links")
  expect_match(gsub("\\s+", " ", shown), "a link that was not found may exist", fixed = TRUE)
})

test_that("the summary of a map counts the kinds of the links that it names", {
  set.seed(2)
  x <- coupled(chain_of_three, 500)
  map <- causal_map(x, E = 3, n_surrogates = 19, threads = 2)
  links <- direct_links(map, x, threshold = -1, threads = 2)
  kinds <- summary(map, direct = links)$kinds
  expect_identical(names(kinds), c("named", "links", direct_link_kinds))
  expect_identical(kinds$named[[1]], "all")
  expect_identical(kinds$links[[1]], 6L)
  expect_equal(kinds$direct[[1]], 2 / 6)
  expect_equal(rowSums(kinds[-(1:2)]), rep(1, nrow(kinds)), ignore_attr = TRUE)
  for (k in grep("rho", kinds$named)) {
    named <- links[links$rho >= as.numeric(sub("rho >= ", "", kinds$named[[k]])), ]
    expect_identical(kinds$links[[k]], nrow(named))
    expect_equal(kinds$direct[[k]], mean(named$link == "direct"))
  }
  p <- attr(map, "p_value")[cbind(links$effect, links$cause)]
  last <- kinds[nrow(kinds), ]
  expect_identical(last$named, "p <= 0.05")
  expect_identical(last$links, sum(p <= 0.05))
  expect_equal(last$mediated, mean(links$link[p <= 0.05] == "mediated"))
  shown <- paste(utils::capture.output(print(summary(map, direct = links))), collapse = "\n")
  expect_match(shown, "Of the links that the map names, found .%.*rho >= .*may exist")
  # A table of links, a part of the direct ones, and none.
  table <- causal_map(x, E = 3, screen = 0, threads = 2)
  some <- summary(table, direct = subset(links, rho > 0.3))$kinds
  expect_identical(some$links[[1]], sum(links$rho > 0.3))
  expect_null(summary(map)$kinds)
  expect_null(summary(map, direct = subset(links, rho > 2))$kinds)
})

test_that("tables are printed, cut and subset", {
  links <- direct_of(coupled(chain_of_three), threshold = -1)
  lines <- format(links)
  expect_match(lines[[1]], "6 links among 3 series")
  expect_match(lines[[2]], "2 direct.*all pairs; false discovery rate 0.01")
  shown <- utils::capture.output(expect_identical(print(links, n = 1), links))
  expect_match(shown, "x02", all = FALSE)
  expect_match(shown, "5 more", all = FALSE)
  expect_no_match(shown, "reason|through")
  direct <- subset(links, link == "direct")
  expect_s3_class(direct, "direct_links")
  expect_identical(nrow(direct), 2L)
  expect_s3_class(links[links$t > 3, ], "direct_links")
  hubs <- summary(links)$hubs
  expect_identical(hubs$series, c("x02", "x01", "x03"))
  expect_equal(hubs$drives, c(1, 1, 0))
  expect_equal(hubs$driven, c(1, 0, 1))
  utils::capture.output(print(subset(links, t > 1e9)))
  expect_identical(nrow(summary(subset(links, t > 1e9))$sentences), 0L)
})

test_that("pictures are made of direct and mediated links", {
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("igraph")
  links <- one_of_each_kind()
  picture <- ggplot2::autoplot(links)
  expect_s3_class(picture, "ggplot")
  expect_match(picture$labels$caption,
               paste("supports a direct link,\ndashed where .*,\nwithout a head where two go",
                     "together within a step.*Not drawn: 1 common driver"))
  drawn <- ggplot2::ggplot_build(picture)$data[[1]]
  heads <- vapply(split(as.numeric(picture$layers[[1]]$geom_params$arrow$length), 1:3), sum, 0)
  expect_identical(sum(heads == 0), 1L)
  expect_identical(length(unique(drawn$group)), 3L)
  plain <- ggplot2::autoplot(links, mediated = FALSE)
  expect_match(plain$labels$caption, "Not drawn: 1 mediated")
  expect_s3_class(ggplot2::ggplot_build(picture), "ggplot_built")
  bad_argument(ggplot2::autoplot(links, mediated = NA), "`mediated`")
})

test_that("a map without a rho of at least the threshold gives an empty table that says so", {
  x <- coupled(chain_of_three, 150)
  map <- causal_map(x, E = 2, threads = 2)
  full <- direct_links(map, x, threshold = -1, threads = 2)
  best <- max(map[][row(map[]) != col(map[])])
  none <- direct_links(map, x, threshold = 2)
  expect_identical(attr(none, "parameters")$highest_rho, best)
  expect_identical(none[], full[0, ], ignore_attr = TRUE)
  expect_identical(class(none), class(full))
  expect_identical(vapply(none, typeof, ""), vapply(full, typeof, ""))
  said <- sprintf("the highest rho of the map between two series is %s, and `threshold` is 2",
                  format(floor(best * 1000) / 1000))
  expect_match(format(none), said, fixed = TRUE, all = FALSE)
  # Lines are broken where they are full.
  shown <- function(x) gsub("\\s+", " ", paste(capture.output(print(x)), collapse = " "))
  expect_match(shown(none), said, fixed = TRUE)
  expect_match(shown(summary(none)), said, fixed = TRUE)
  expect_identical(nrow(summary(none)$sentences), 0L)
  folder <- withr::local_tempdir()
  expect_identical(numbers_of(direct_links(map, x, threshold = 2, folder = folder)),
                   numbers_of(none))
  change <- compare_maps(full, none)
  expect_true(all(change$link_b == "not tested"))
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("igraph")
  picture <- ggplot2::autoplot(none)
  expect_match(gsub("\\s+", " ", picture$data$said), said, fixed = TRUE)
  expect_s3_class(ggplot2::ggplot_build(picture), "ggplot_built")
  refused <- ggplot2::autoplot(subset(one_of_each_kind(), link == "refused"))
  expect_match(refused$data$said, "1 refused")
  expect_match(format(full[0, ]), "No link is left", all = FALSE)
})

test_that("a map without any rho gives an empty table that says so", {
  x <- coupled(chain_of_three, 150)
  nothing <- map_of(matrix(NA_real_, 3, 3, dimnames = rep(list(colnames(x)), 2)), E = rep(2L, 3))
  none <- direct_links(nothing, x)
  expect_identical(nrow(none), 0L)
  expect_match(format(none), "No two series of the map have a rho", all = FALSE)
})

test_that("a picture of two tables shows what appeared, vanished and was kept", {
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("igraph")
  a <- one_of_each_kind()
  b <- with_columns(a, link = factor(c("refused", "direct", "direct", rep("unsupported", 4)),
                                     direct_link_kinds))
  change <- compare_maps(a, b)
  picture <- ggplot2::autoplot(change)
  drawn <- unique(picture$layers[[1]]$data[c("from", "to", "change", "dashed")])
  expect_identical(as.character(drawn$change), c("appeared", "appeared", "cannot be told"))
  expect_identical(drawn$dashed, c(FALSE, FALSE, TRUE))
  expect_match(picture$labels$caption,
               "From a \\(a\\) to b \\(b\\).*found in one of them alone.*Dashed: refused in one")
  expect_s3_class(ggplot2::ggplot_build(picture), "ggplot_built")
  one <- ggplot2::autoplot(change, links = 1)
  expect_match(one$labels$caption, "Not drawn: 2 links")
  expect_error(ggplot2::autoplot(compare_maps(subset(a, link == "refused"), a[0, ])),
               "`object`", class = "synfire_error_argument")
})

test_that("mediated links are grey and dashed, and captions say what is drawn", {
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("igraph")
  x <- coupled(chain_of_three, 500)
  map <- causal_map(x, E_max = 5, threads = 2)
  links <- direct_links(map, x, threads = 2)
  drawn <- ggplot2::ggplot_build(ggplot2::autoplot(links))$data[[1]]
  looks <- unique(drawn[c("group", "colour", "linetype")])
  expect_identical(looks$colour[looks$linetype == "42"], syn_muted)
  expect_false(syn_muted %in% looks$colour[looks$linetype == "solid"])
  caption <- ggplot2::autoplot(map, type = "network", direct = links)$labels$caption
  expect_match(caption, "All 3 direct or mediated links with a rho above 0.*ones are dashed")
})
