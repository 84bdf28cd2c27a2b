test_that("random calls agree with the oracle", {
  for (seed in cases(60)) {
    x <- logistic_series(sample(25:60, 1), seed)
    n <- nrow(x)
    ties <- sample(c(TRUE, FALSE), 1)
    if (ties) x[-1] <- round(x[-1], 1)
    for (name in names(x)[-1]) x[[name]][sample(n, sample(0:2, 1))] <- NA
    columns <- sample(c("a", "b", "c"), sample(1:2, 1))
    cuts <- sort(sample(n, 4))
    arguments <- list(
      columns = columns, target = sample(c("a", "b", "c"), 1),
      lib = sample(list(c(1, n), cuts[c(1, 4)], c(1, n %/% 2, n %/% 2 + 4, n)), 1)[[1]],
      pred = sample(list(c(1, n), cuts[2:3], cuts), 1)[[1]],
      E = sample(1:4, 1), Tp = sample(-3:4, 1), tau = sample(c(-2, -1, 1), 1),
      exclusion_radius = sample(c(0, 0, 3), 1), valid_lib = stats::runif(n) < 0.9
    )
    if (seed %% 3 == 0) arguments$segments <- sort(sample(3, n, replace = TRUE))
    if (seed %% 5 == 0) {
      arguments$embedded <- TRUE
      arguments$E <- length(columns)
    }
    found <- tryCatch(
      suppressWarnings(do.call(simplex, c(list(x), arguments, threads = 1)),
                       classes = "synfire_warning_knn"),
      synfire_error_argument = identity
    )
    if (inherits(found, "error")) {
      expect_match(conditionMessage(found), "`(lib|knn)` must be")
      next
    }
    expect_series(found, do.call(oracle_series, c(list(x), arguments)))
  }
})

test_that("knn is E + 1 unless given", {
  x <- logistic_series(60)
  expect_series(simplex(x, "a", E = 2, knn = 7), oracle_series(x, "a", E = 2, knn = 7))
  expect_identical(simplex(x, "a", E = 2, knn = 0)$Predictions,
                   simplex(x, "a", E = 2, knn = 3)$Predictions)
  expect_identical(attr(simplex(x, "a b", E = 2), "parameters")$knn, 3L)
})

test_that("an exclusion radius that leaves nothing gives NA", {
  x <- logistic_series(30)
  found <- simplex(x, "a", E = 1, exclusion_radius = 30)
  expect_true(all(is.na(found$Predictions)))
  expect_false(any(is.nan(found$Predictions)))
  expect_identical(prediction_error(found)$rho, NA_real_)
})

test_that("of rows at equal distance those that come next in the shuffle are taken", {
  x <- data.frame(time = 1:7, x = c(0, 1, 0, 5, 0, 2, 0), y = 1:7)
  # From row 3, rows 1, 5 and 7 are at distance 0.
  found <- simplex(x, "x", "y", pred = c(3, 3), E = 1, Tp = 0, knn = 2)
  first <- c(1, 5, 7)[order(oracle_rank(c(1, 5, 7), 3))][1:2]
  expect_equal(found$Predictions, mean(first))
})

test_that("a missing target of a neighbour makes the prediction NA", {
  x <- data.frame(time = 1:8, x = c(0, 9, 0.1, 8, 0.2, 7, 0.3, 6))
  x$y <- c(NA, 2:8)
  found <- simplex(x, "x", "y", E = 1, Tp = 0)
  expect_identical(is.na(found$Predictions),
                   1:8 == 3)
})

test_that("times are kept and continued", {
  x <- logistic_series(40)
  day <- as.Date("2024-02-01") + 7 * 0:39
  times <- list(day, as.POSIXct(day), as.POSIXct(day, tz = "UTC") + 0.5, 1:40, 1:40 / 4,
                format(day))
  for (time in times) {
    x$time <- time
    names(x)[[1]] <- "when"
    found <- simplex(x, "a", E = 2, Tp = 2)
    expect_identical(names(found)[[1]], "when")
    expect_identical(class(found$when), class(time))
    expect_identical(found$when[1:39], time[2:40])
    expect_identical(names(simplex(x[-1], "a", E = 2, no_time = TRUE))[[1]], "Time")
    names(x)[[1]] <- "time"
  }
  x$time <- day
  expect_identical(tail(simplex(x, "a", E = 2, Tp = 2)$time, 2), max(day) + c(7, 14))
  expect_identical(head(simplex(x, "a", E = 1, Tp = -2)$time, 2), min(day) - c(14, 7))
  x$time <- format(day)
  expect_identical(tail(simplex(x, "a", E = 2)$time, 1), format(max(day) + 7))
  x$time <- format(as.POSIXct(day, tz = "UTC") + 90)
  expect_identical(tail(simplex(x, "a", E = 2)$time, 1), "2024-11-07 00:01:30")
  x$time <- paste("sample", 1:40)
  expect_identical(tail(simplex(x, "a", E = 2)$time, 2), c("sample 40", NA))
  x$time <- factor(x$time)
  expect_identical(tail(simplex(x, "a", E = 2)$time, 2), c("sample 40", NA))
})

test_that("segments are never crossed", {
  x <- logistic_series(60)
  x$trial <- rep(c("u", "v", "w"), each = 20)
  x$time <- rep(1:20, 3)
  found <- simplex(x, "a", E = 3, Tp = 2, segments = "trial")
  expect_series(found, oracle_series(x, "a", E = 3, Tp = 2, segments = x$trial))
  expect_identical(found$time, rep(3:22, 3))
  # A trial is the same trial whatever stands next to it.
  other <- x
  other$a[x$trial == "v"] <- 100
  lib <- c(1, 20)
  expect_identical(simplex(x, "a", lib = lib, pred = c(41, 60), E = 3, segments = "trial"),
                   simplex(other, "a", lib = lib, pred = c(41, 60), E = 3,
                           segments = "trial"),
                   ignore_attr = TRUE)
  expect_identical(simplex(x, "a", E = 2, segments = x$trial)$Predictions,
                   simplex(x, "a", E = 2, segments = "trial")$Predictions)
})

test_that("generate feeds predictions back", {
  x <- logistic_series(80)
  found <- simplex(x, "a", lib = c(1, 60), pred = c(40, 60), E = 2, generate = 5)
  expect_identical(found$time, 60:65)
  expect_identical(found$Observations, x$a[60:65])
  expect_identical(found$Predictions[[1]], NA_real_)
  # By hand: the data end at row 60 and grow by what was predicted.
  grown <- x[1:60, c("time", "a")]
  for (step in 1:5) {
    one <- oracle_series(grown, "a", lib = c(1, 60), pred = rep(nrow(grown), 2), E = 2)
    expect_equal(found$Predictions[[step + 1]], one$Predictions[[2]])
    expect_equal(found$Pred_Variance[[step + 1]], one$Pred_Variance[[2]])
    grown <- rbind(grown, data.frame(time = 60 + step, a = one$Predictions[[2]]))
  }
  beyond <- simplex(x, "a", E = 2, generate = 3)
  expect_identical(beyond$time, 80:83)
  expect_identical(is.na(beyond$Observations), c(FALSE, TRUE, TRUE, TRUE))
  expect_equal(beyond$Predictions[[2]], tail(simplex(x, "a", E = 2)$Predictions, 1))
  x$a[80] <- NA
  expect_true(all(is.na(simplex(x, "a", E = 2, generate = 3)$Predictions)))
  expect_error(simplex(x, "a", "b", E = 2, generate = 3), class = "synfire_error_argument")
  expect_error(simplex(x, "a", E = 2, Tp = 2, generate = 3), class = "synfire_error_argument")
  expect_error(simplex(x, "a", E = 2, tau = 1, generate = 3),
               class = "synfire_error_argument")
  expect_error(simplex(x, "a", E = 2, pred = c(1, 30), generate = 3,
                       segments = rep(1:2, each = 40)), class = "synfire_error_argument")
})

test_that("names of columns may come in one string", {
  x <- logistic_series(40)
  names(x)[3] <- "b b"
  both <- simplex(x, c("a", "c"), E = 2)
  expect_identical(simplex(x, "a c", E = 2)$Predictions, both$Predictions)
  expect_identical(simplex(x, "a, c", E = 2)$Predictions, both$Predictions)
  expect_identical(attr(simplex(x, "b b", E = 2), "parameters")$columns, "b b")
  expect_identical(attr(simplex(x, "a,b b", E = 2), "parameters")$columns, c("a", "b b"))
})

test_that("the number of threads changes nothing", {
  x <- logistic_series(300)
  expect_identical(simplex(x, "a b", E = 2, threads = 1), simplex(x, "a b", E = 2, threads = 2),
                   ignore_attr = TRUE)
})

test_that("a constant series is predicted, without skill", {
  x <- data.frame(time = 1:20, x = 0.1)
  found <- simplex(x, E = 2)
  expect_equal(found$Predictions[-1], rep(0.1, 19))
  expect_equal(found$Pred_Variance[-1], rep(0, 19))
  expect_identical(prediction_error(found)$rho, NA_real_)
})

test_that("bad input is refused with what to do about it", {
  x <- logistic_series(40)
  refused <- function(expr, text) {
    expect_error(expr, text, class = "synfire_error_argument")
  }
  refused(simplex(x$a, "a", E = 2), "data.frame\\(time")
  refused(simplex(x[0, ], "a", E = 2), "with rows")
  refused(simplex(x["a"], "a", E = 2), "no_time = TRUE")
  refused(simplex(x, E = 2), "`columns` must be names.*missing")
  refused(simplex(x, 2, E = 2), "`columns` must be names")
  names(x)[3] <- "temperature"
  refused(simplex(x, "temprature", E = 2), "Did you mean \"temperature\"")
  refused(simplex(x, "a", "Temperature", E = 2), "Did you mean \"temperature\"")
  refused(simplex(x, "a", c("a", "c"), E = 2), "one column")
  refused(simplex(x, "time", E = 2), "`columns` must be names")
  refused(simplex(cbind(x, name = "z"), "name", E = 2), "numeric columns")
  refused(simplex(cbind(x, name = factor(x$a)), "a", "name", E = 2), "numeric columns")
  refused(simplex(cbind(x, x), "a", E = 2), "\"time\" twice")
  x$time[7] <- 3L
  refused(simplex(x, "a", E = 2), "time 3 again in row 7")
  x$time[7] <- 7L
  refused(simplex(x, "a"), "embed_dimension")
  for (E in list(0, -1, 1.5, NA, "2", 1:2, Inf)) refused(simplex(x, "a", E = E), "`E` must")
  refused(simplex(x, "a c", E = 3, embedded = TRUE), "`E` must be the number of columns")
  for (tau in list(0, 0.5, NA, "1", -Inf)) refused(simplex(x, "a", E = 2, tau = tau), "`tau`")
  for (Tp in list(0.5, NA, "1", Inf, 1:2, 1e7)) refused(simplex(x, "a", E = 2, Tp = Tp), "`Tp`")
  refused(simplex(x, "a", E = 2, lib = c(20, 1)), "from 20 to 1")
  refused(simplex(x, "a", E = 2, lib = c(0, 20)), "row 0")
  refused(simplex(x, "a", E = 2, pred = c(1, 41)), "row 41")
  for (rows in list(1, 1:3, c(1, NA), "a b", c(1.5, 4), TRUE, numeric())) {
    refused(simplex(x, "a", E = 2, lib = rows), "`lib` must be pairs")
  }
  for (mask in list(TRUE, rep(1, 40), rep(NA, 40))) {
    refused(simplex(x, "a", E = 2, valid_lib = mask), "`valid_lib` must be TRUE or FALSE")
  }
  refused(simplex(x, "a", E = 2, valid_lib = rep(FALSE, 40)), "FALSE for all 38 of them")
  refused(simplex(x, "a", E = 7, lib = c(1, 5)), "5 rows without any")
  for (knn in list(-1, 1.5, NA, "3")) refused(simplex(x, "a", E = 2, knn = knn), "`knn`")
  refused(simplex(x, "a", E = 2, exclusion_radius = -1), "`exclusion_radius`")
  refused(simplex(x, "a", E = 2, segments = 1:3), "`segments`")
  refused(simplex(x, "a", E = 2, segments = c(NA, 2:40)), "`segments`")
  refused(simplex(x, "a", E = 2, embedded = NA), "`embedded`")
  refused(simplex(x, "a", E = 2, no_time = "no"), "`no_time`")
  refused(simplex(x, "a", E = 2, generate = -1), "`generate`")
  refused(simplex(x[1:4, ], "a", E = 5), "at least one complete")
  refused(simplex(x, "a", E = 41), "at least one complete")
  refused(simplex(transform(x, a = NA_real_), "a", E = 1), "at least one complete")
})

test_that("rows without a delay vector give an empty table", {
  found <- simplex(logistic_series(40), "a", E = 3, pred = c(1, 2))
  expect_identical(dim(found), c(0L, 4L))
  expect_output(print(found), "0 of 0 rows")
})

test_that("what is not finite counts as missing", {
  x <- logistic_series(40)
  gap <- x
  gap$a[c(9, 20)] <- NA
  x$a[c(9, 20)] <- c(Inf, NaN)
  found <- simplex(x, "a", E = 2)
  expect_identical(found$Predictions, simplex(gap, "a", E = 2)$Predictions)
  expect_false(any(is.nan(found$Observations)))
})

test_that("a table of predictions says what it is", {
  x <- logistic_series(60)
  found <- simplex(x, "a", E = 2)
  expect_s3_class(found, c("edm_prediction", "edm", "synfire_table", "data.frame"), exact = TRUE)
  expect_identical(attr(found, "parameters")[c("columns", "target", "E", "tau", "Tp")],
                   list(columns = "a", target = "a", E = 2L, tau = -1L, Tp = 1L))
  expect_identical(attr(found, "call"), quote(simplex(x = x, columns = "a", E = 2)))
  expect_type(attr(found, "elapsed"), "double")
  expect_output(print(found, n = 3), "Simplex: 59 of 60 rows predicted.*and 57 more rows")
  expect_identical(format(found)[[1]], paste0(
    "Simplex: 59 of 60 rows predicted, a -> a, E 2, tau -1, Tp 1, knn 3, ",
    "exclusion_radius 0"))
  summary <- summary(found)
  expect_identical(summary$predicted, 59L)
  expect_identical(summary$rho, prediction_error(found)$rho)
  expect_s3_class(found[2:5, ], "edm_prediction")
  expect_identical(attr(found[2:5, ], "parameters"), attr(found, "parameters"))
  expect_identical(class(found[c("time", "Predictions")]), "data.frame")
  expect_identical(found[, "time"], found$time)
  plain <- as.data.frame(found)
  expect_identical(sort(names(attributes(plain))), c("class", "names", "row.names"))
})

test_that("what is no data frame, column or number of R's is named", {
  x <- logistic_series(40)
  refused <- function(expr, text) {
    expect_error(expr, text, class = "synfire_error_argument")
  }
  big <- structure(as.double(1:40), class = "integer64")
  refused(simplex(), "`x` must be a data frame")
  refused(simplex(as.matrix(x), "a", E = 2), "a matrix of 40 rows and 4 columns")
  refused(simplex(mean, "a", E = 2), "a function")
  refused(simplex(globalenv(), "a", E = 2), "an environment")
  refused(simplex(x[0], "a", E = 2), "besides the time")
  refused(simplex(data.frame(), "a", E = 2), "with rows")
  refused(simplex(transform(x, a = big), "a", E = 2), "\"a\", which is of class integer64")
  refused(simplex(cbind(x, l = I(as.list(1:40))), "l", E = 2), "\"l\", which is list")
  x$m <- matrix(1:80, 40)
  refused(simplex(x, "m", E = 2), "\"m\", which is a matrix")
  x$m <- NULL
  unnamed <- x
  names(unnamed) <- NULL
  refused(simplex(unnamed, "a", E = 2), "a name for each column")
  short <- structure(list(time = 1:40, a = 1:9), class = "data.frame", row.names = 1:40)
  refused(simplex(short, "a", E = 2), "\"a\"")
  refused(simplex(cbind(t = I(as.list(1:40)), x["a"]), "a", E = 2), "one where that is a list")
  raw <- x
  names(raw)[[2]] <- "temp\xe9rature"
  refused(simplex(raw, "a", E = 2), "whose names are text")
  latin <- x
  names(latin)[[2]] <- iconv("temp\u00e9rature", "UTF-8", "latin1")
  expect_identical(simplex(latin, "temp\u00e9rature", E = 2)$Predictions,
                   simplex(x, "a", E = 2)$Predictions)
  refused(simplex(x, "temp\xe9", E = 2), "no text in UTF-8")
  refused(simplex(x, mean, E = 2), "a function")
  for (odd in list(mean, globalenv(), quote(a + b), y ~ x)) {
    refused(simplex(x, "a", E = 2, segments = odd), "`segments` must be")
  }
  refused(simplex(x, "a", E = structure(2, class = "integer64")), "`E` must")
  refused(simplex(x, "a", E = 2^31), "`E` must")
  refused(simplex(x, "a", E = 2, lib = structure(c(1, 9), class = "integer64")), "`lib`")
  refused(simplex(x, "a", E = 2, knn = 2^31), "`knn` must")
  refused(simplex(x, "a", E = 2, generate = 2^31), "`generate` must")
  refused(simplex(transform(x, a = a * 1e150), "a", E = 2), "another unit")
  refused(simplex(transform(x, a = a * 1e-150), "a", E = 2), "another unit")
  series <- cbind(time = x$time, a = stats::ts(x$a), b = I(x$b)) |> as.data.frame()
  expect_identical(simplex(series, "a", E = 2)$Predictions, simplex(x, "a", E = 2)$Predictions)
  x$time <- as.POSIXlt(as.Date("2020-01-01") + 0:39)
  expect_s3_class(simplex(x, "a", E = 2)$time, "POSIXct")
})

test_that("many segments and many pairs are cut", {
  n <- 20000
  x <- data.frame(time = seq_len(n), a = rep(c(0.1, 0.4, 0.2, 0.9), n / 4))
  pairs <- as.vector(rbind(seq(1, n, 2), seq(2, n, 2)))
  # With the square of their number this takes minutes.
  expect_no_error(edm_data(x, "a", E = 1, lib = pairs, segments = rep(seq_len(n / 4), each = 4)))
})

test_that("pairs of rows may overlap and come in any order", {
  for (seed in cases(30)) {
    x <- logistic_series(40, seed)
    if (seed %% 2) x$a <- round(x$a, 1)
    draw <- \() as.vector(replicate(sample(3, 1), sort(sample(40, 2))))
    arguments <- list(columns = c("a", "b")[seq_len(1 + seed %% 2)], lib = draw(), pred = draw(),
                      E = sample(1:3, 1), Tp = sample(-2:3, 1), tau = sample(c(-2, -1, 1), 1))
    if (seed %% 3 == 0) arguments$segments <- rep(1:3, c(13, 14, 13))
    found <- tryCatch(
      suppressWarnings(do.call(simplex, c(list(x), arguments)), classes = "synfire_warning_knn"),
      synfire_error_argument = identity
    )
    if (inherits(found, "error")) next
    expect_series(found, do.call(oracle_series, c(list(x), arguments)))
  }
  x <- logistic_series(40)
  expect_identical(simplex(x, "a", E = 2, lib = c(1, 20, 20, 40))$Predictions,
                   simplex(x, "a", E = 2, lib = c(1, 20, 2, 40))$Predictions)
  # Forecasts go on from the last row, wherever its pair stands.
  expect_identical(simplex(x, "a", E = 2, pred = c(30, 40, 1, 9), generate = 3)$Predictions,
                   simplex(x, "a", E = 2, generate = 3)$Predictions)
})

test_that("more neighbours than the library has are all of it, with a warning", {
  x <- logistic_series(40)
  expect_warning(found <- simplex(x, "a", E = 2, lib = c(1, 12), pred = c(20, 40), knn = 30),
                 "has 10 points.*`knn` is 30", class = "synfire_warning_knn")
  expect_identical(found$Predictions,
                   simplex(x, "a", E = 2, lib = c(1, 12), pred = c(20, 40), knn = 10)$Predictions)
  expect_identical(attr(found, "parameters")$knn, 10L)
  # Also where the default is more.
  expect_warning(simplex(x, "a", E = 4, lib = c(1, 8), pred = c(20, 40)), "`knn` is 5",
                 class = "synfire_warning_knn")
})

test_that("include_state keeps what predictions were made from", {
  x <- logistic_series(50)
  x$a[20] <- NA
  found <- simplex(x, "a", "b", E = 3, Tp = 2, pred = c(31, 50, 10, 25), knn = 5,
                   exclusion_radius = 2, include_state = TRUE)
  state <- attr(found, "state")
  expect_named(state, c("neighbours", "distances", "lib", "pred", "target", "points"))
  expect_identical(colnames(state$points), c("a(t-0)", "a(t-1)", "a(t-2)"))
  points <- oracle_embed(x$a, 3)
  expect_identical(unname(state$points), points)
  expect_identical(state$pred, c(31:50, 10:19, 23:25))
  expect_identical(state$lib, setdiff(3:48, 20:22))
  expect_identical(state[1:2], setNames(
    oracle_all_neighbours(points, state$lib, state$pred, 5, 2), c("neighbours", "distances")))
  # The predictions again, by hand.
  weight <- exp(-state$distances / pmax(state$distances[, 1], 1e-6))
  value <- matrix(state$target[state$neighbours], ncol = 5)
  made <- rowSums(weight * value) / rowSums(weight)
  expect_equal(found$Predictions[!is.na(found$Predictions)], made[!is.na(made)])
  plain <- simplex(x, "a", "b", E = 3, Tp = 2)
  expect_null(attr(plain, "state"))
  # In a small library there are fewer.
  few <- simplex(x, "b", E = 1, lib = c(1, 6), exclusion_radius = 3, include_state = TRUE)
  expect_identical(rowSums(is.na(attr(few, "state")$neighbours)) > 0, 1:50 <= 5)
  expect_error(simplex(x, "b", E = 1, generate = 2, include_state = TRUE), "`include_state`",
               class = "synfire_error_argument")
  expect_error(simplex(x, "b", E = 1, include_state = NA), "TRUE or FALSE",
               class = "synfire_error_argument")
})

test_that("ignore_nan = FALSE stops where a coordinate is missing", {
  x <- logistic_series(40)
  same <- \(...) expect_identical(simplex(x, ..., ignore_nan = FALSE)$Predictions,
                                  simplex(x, ...)$Predictions)
  same("a", E = 3)
  x$a[20] <- NA
  refused <- function(expr, text = "row 20 needs a value of \"a\"") {
    expect_error(expr, text, class = "synfire_error_argument")
  }
  refused(simplex(x, "a", E = 3, ignore_nan = FALSE))
  refused(simplex(x, "b a", E = 3, lib = c(1, 9), ignore_nan = FALSE))
  refused(simplex(x, c("b", "a"), embedded = TRUE, pred = c(1, 9), ignore_nan = FALSE))
  refused(embed_dimension(x, "a", ignore_nan = FALSE))
  refused(embed_dimension(x, c("a", "b"), ignore_nan = FALSE))
  refused(predict_interval(x, "a", E = 2, ignore_nan = FALSE))
  refused(predict_exclusion_radius(x, "a", E = 2, ignore_nan = FALSE))
  refused(predict_nonlinear(x, "a", E = 2, ignore_nan = FALSE))
  refused(smap(x, "a", E = 2, ignore_nan = FALSE))
  refused(multiview(x, c("a", "b"), "b", E = 2, ignore_nan = FALSE), "row 21 needs a value of \"a\"")
  refused(simplex(x, "a", E = 2, ignore_nan = NA), "TRUE or FALSE")
  # Rows that are not asked for, and targets, may miss values; so may lags beyond the data.
  same("a", E = 3, lib = c(1, 15), pred = c(23, 40))
  same("b", "a", E = 2)
  expect_identical(multiview(x, c("c", "b"), "b", E = 3, ignore_nan = FALSE)$view,
                   multiview(x, c("c", "b"), "b", E = 3)$view)
})

test_that("times may stand still, with a message, but not come back", {
  # Months that know of their year alone.
  x <- data.frame(Year = rep(1932:1937, each = 12), logistic_series(72)[-1])
  expect_message(found <- simplex(x, "a", E = 3), "row 2 has 1932",
                 class = "synfire_message_times")
  rows <- simplex(x[-1], "a", E = 3, no_time = TRUE)
  expect_identical(found$Predictions, rows$Predictions)
  expect_identical(found$Year[1:20], x$Year[3:22])
  messages <- function(expr) {
    told <- 0
    withCallingHandlers(expr, synfire_message_times = \(m) {
      told <<- told + 1
      invokeRestart("muffleMessage")
    })
    told
  }
  expect_identical(messages(embed_dimension(x, "a", Tp = 1:3)), 1)
  expect_identical(messages(embed_dimension(x, c("a", "b"), E_max = 3)), 1)
  expect_identical(messages(predict_interval(x, "a", E = 2)), 1)
  expect_identical(messages(ccm(x, "a", "b", E = 2, samples = 2)), 1)
  expect_identical(messages(ccm_lag(x, "a", "b", E = 2)), 1)
  expect_identical(messages(multiview(x, c("a", "b"), E = 2)), 1)
  expect_identical(messages(simplex(transform(x, Year = 1:72), "a", E = 2)), 0)
  # Trials stacked one on another.
  x$Year <- rep(1:12, 6)
  expect_error(simplex(x, "a", E = 3), "time 1 again in row 13.*segments.*no_time",
               class = "synfire_error_argument")
  x$plot <- rep(1:6, each = 12)
  expect_identical(messages(simplex(x, "a", E = 3, segments = "plot")), 0)
  x$Year <- NA
  expect_identical(messages(simplex(x, "a", E = 3)), 0)
})

test_that("the state of a table without predictions is empty", {
  x <- logistic_series(20)
  found <- simplex(x, "a", E = 5, pred = c(1, 3), include_state = TRUE)
  expect_identical(dim(attr(found, "state")$neighbours), c(0L, 6L))
  expect_false(any(!is.na(found$Predictions)))
  found <- smap(x, "a", E = 5, pred = c(1, 3), include_state = TRUE)
  expect_identical(dim(attr(found, "state")$distances)[[1]], 0L)
})

test_that("times whose name is a column of the result are refused", {
  for (name in c("Observations", "Predictions", "Pred_Variance")) {
    x <- stats::setNames(data.frame(as.double(1:30), sin(1:30)), c(name, "a"))
    expect_error(simplex(x, "a", E = 2, threads = 1), name, class = "synfire_error_argument")
    expect_error(smap(x, "a", E = 2, generate = 3, threads = 1), name,
                 class = "synfire_error_argument")
  }
})
