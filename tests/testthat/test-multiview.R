# Three coupled logistic maps, with noise on what is seen of them.
three_species <- function(n = 90, noise = 0.02) {
  set.seed(8)
  x <- y <- z <- rep(0.3, n)
  for (t in seq_len(n - 1)) {
    x[[t + 1]] <- x[[t]] * (3.7 - 3.7 * x[[t]] - 0.10 * y[[t]])
    y[[t + 1]] <- y[[t]] * (3.6 - 3.6 * y[[t]] - 0.05 * z[[t]] - 0.1 * x[[t]])
    z[[t + 1]] <- z[[t]] * (3.5 - 3.5 * z[[t]] - 0.10 * x[[t]])
  }
  seen <- \(v) v + rnorm(n, sd = noise)
  data.frame(year = 1900 + seq_len(n), x = seen(x), y = seen(y), z = seen(z))
}

# One view after the other, in the slow way. Rows of `lib` and `pred` are one pair each.
slow_multiview <- function(data, columns, target, lib, pred, D, E, tau = -1, Tp = 1,
                           k = D + 1, best = NULL, exclusion = 0, train_lib = TRUE,
                           choice = seq_len(E * length(columns))) {
  points <- do.call(cbind, lapply(columns, \(c) oracle_embed(data[[c]], E, tau)))
  names <- paste0(rep(columns, each = E), "(t", if (tau > 0) "+" else "-",
                  abs(tau) * (seq_len(E) - 1), ")")
  later <- function(row) ifelse(row >= 1 & row <= nrow(data), data[[target]][row], NA)
  goal <- vapply(seq_len(nrow(data)) + Tp, \(r) if (r < 1) NA_real_ else later(r), 1)
  inside <- function(rows, view) {
    keep <- rows + Tp >= 1 & rows + Tp <= max(rows)
    complete(rows[keep], view)
  }
  complete <- \(rows, view) rows[!is.na(rowSums(points[rows, view, drop = FALSE]))]
  views <- combn(choice, D)
  forecast <- function(view, rows) {
    out <- rep(NA_real_, nrow(data))
    at <- complete(rows, view)
    library <- inside(seq(lib[[1]], lib[[2]]), view)
    out[at] <- oracle_simplex(points[, view, drop = FALSE], library, at, goal, k,
                              exclusion)$predictions
    out[rows]
  }
  rank_rows <- if (train_lib) seq(lib[[1]], lib[[2]]) else seq(pred[[1]], pred[[2]])
  rho <- apply(views, 2, \(v) cor(forecast(v, rank_rows), goal[rank_rows], use = "complete.obs"))
  if (is.null(best)) best <- floor(sqrt(ncol(views)))
  top <- order(-rho)[seq_len(best)]
  rows <- seq(pred[[1]], pred[[2]])
  each <- vapply(top, \(j) forecast(views[, j], rows), double(length(rows)))
  mean <- apply(each, 1, \(p) if (all(is.na(p))) NA else mean(p, na.rm = TRUE))
  list(views = t(views[, top, drop = FALSE]), names = names, rho_rank = rho[top],
       rho = apply(each, 2, \(p) cor(p, goal[rows], use = "complete.obs")),
       MAE = apply(each, 2, \(p) mean(abs(p - goal[rows]), na.rm = TRUE)),
       RMSE = apply(each, 2, \(p) sqrt(mean((p - goal[rows])^2, na.rm = TRUE))),
       rows = rows, mean = mean, number = ncol(views))
}

expect_multiview <- function(found, slow, data, Tp) {
  D <- ncol(slow$views)
  view <- found$view
  expect_equal(unname(as.matrix(view[paste0("Col_", seq_len(D))])), slow$views)
  expect_equal(unname(as.matrix(view[paste0("name_", seq_len(D))])),
               matrix(slow$names[slow$views], ncol = D))
  expect_equal(view$rho_rank, slow$rho_rank)
  expect_equal(view[c("rho", "MAE", "RMSE")],
               data.frame(slow[c("rho", "MAE", "RMSE")]))
  expect_identical(attr(found, "views"), slow$number)
  table <- found$predictions
  expect_s3_class(table, "edm_prediction")
  at <- match(data$year[slow$rows] + Tp, table$year)
  expect_equal(table$Predictions[at], slow$mean)
  expect_true(all(is.na(table$Predictions[-at])))
}

test_that("views, their ranks and their mean are those of the slow way", {
  data <- three_species()
  columns <- c("x", "y", "z")
  found <- multiview(data, columns, "x", c(1, 50), c(51, 90), E = 2)
  expect_multiview(found, slow_multiview(data, columns, "x", c(1, 50), c(51, 90), 3, 2),
                   data, 1)
  expect_identical(nrow(found$view), 4L)
  zero <- multiview(data, columns, "x", "1 50", "51 90", D = 0, E = 2, knn = 0, multiview = 0L)
  expect_identical(zero$view, found$view)

  found <- multiview(data, columns, "y", c(9, 60), c(40, 80), D = 2, E = 3, tau = -2, Tp = 2,
                     knn = 5, exclusion_radius = 2, multiview = 7)
  slow <- slow_multiview(data, columns, "y", c(9, 60), c(40, 80), 2, 3, -2, 2, 5, 7, 2)
  expect_multiview(found, slow, data, 2)

  found <- multiview(data, "x, z", "z", c(1, 45), c(46, 90), E = 2, train_lib = FALSE,
                     tau = 1, threads = 2)
  slow <- slow_multiview(data, c("x", "z"), "z", c(1, 45), c(46, 90), 2, 2, 1,
                         train_lib = FALSE)
  expect_multiview(found, slow, data, 1)

  found <- multiview(data, "x z", "y", c(5, 50), c(45, 90), D = 1, E = 2, Tp = -3)
  slow <- slow_multiview(data, c("x", "z"), "y", c(5, 50), c(45, 90), 1, 2, Tp = -3)
  expect_multiview(found, slow, data, -3)
})

test_that("without the target its lags are in no view", {
  data <- three_species()
  found <- multiview(data, c("x", "y", "z"), "y", c(1, 50), c(51, 90), E = 2,
                     exclude_target = TRUE)
  slow <- slow_multiview(data, c("x", "y", "z"), "y", c(1, 50), c(51, 90), 3, 2,
                         choice = c(1, 2, 5, 6))
  expect_multiview(found, slow, data, 1)
  expect_false(any(grepl("^y", unlist(found$view[c("name_1", "name_2")]))))
})

test_that("one view is a simplex forecast, and several average noise out", {
  data <- three_species(noise = 0.06)
  one <- multiview(data, c("x", "y"), "x", c(1, 50), c(51, 90))
  single <- simplex(data, c("x", "y"), "x", c(1, 50), c(51, 90), embedded = TRUE)
  expect_equal(one$predictions$Predictions, single$Predictions)
  expect_identical(one$predictions[1:2], single[1:2])
  expect_equal(one$view$rho, prediction_error(single)$rho)

  data <- three_species(n = 160, noise = 0.06)
  many <- multiview(data, c("x", "y", "z"), "x", c(1, 80), c(81, 160), E = 3)
  expect_gt(prediction_error(many$predictions)$rho, mean(many$view$rho))
})

test_that("missing values leave rows out, in each view its own", {
  data <- three_species()
  data$y[c(20, 70)] <- NA
  found <- multiview(data, c("x", "y"), "x", c(1, 50), c(51, 90), E = 2, D = 1, multiview = 4)
  slow <- slow_multiview(data, c("x", "y"), "x", c(1, 50), c(51, 90), 1, 2, best = 4)
  expect_multiview(found, slow, data, 1)
  expect_false(any(is.nan(found$predictions$Predictions)))
  expect_identical(sum(is.na(found$predictions$Predictions)), 1L)
  # A column that is all but unknown costs the others nothing.
  data$z[-(3:4)] <- NA
  rank_of_x <- function(columns) {
    view <- multiview(data, columns, "x", c(1, 50), c(51, 90), D = 1, multiview = 2)$view
    view$rho_rank[view$name_1 == "x(t-0)"]
  }
  expect_identical(rank_of_x(c("x", "y", "z")), rank_of_x(c("x", "y")))
  expect_warning(found <- multiview(data, c("z", "x"), "x", D = 2), "has 2 points",
                 class = "synfire_warning_knn")
  expect_identical(attr(found$predictions, "parameters")$knn, 2L)
})

test_that("without rows the first half of the data forecasts the second", {
  data <- three_species(91)
  halves <- multiview(data, c("x", "y"), "x", c(1, 45), c(46, 91), E = 2)
  expect_identical(multiview(data, c("x", "y"), "x", E = 2)$view, halves$view)
  expect_identical(multiview(data, c("x", "y"), "x", E = 2)$predictions$Predictions,
                   halves$predictions$Predictions)
})

test_that("pyEDM's views are these", {
  # What pyEDM 2.5 gives, printed with six decimals.
  x <- read.csv(shared_data("edm/redm/block_3sp.csv"), check.names = FALSE)
  x[c(21, 71), 5] <- NA
  x[151, 2] <- NA
  found <- multiview(x, c("x_t", "y_t", "z_t"), "x_t", E = 2, D = 2, multiview = 15)
  best <- found$view[found$view$name_1 == "x_t(t-0)" & found$view$name_2 == "z_t(t-0)", ]
  expect_equal(best$rho, 0.876921, tolerance = 1e-6)
  expect_equal(best$RMSE, 0.396597, tolerance = 1e-5)
  expect_equal(found$predictions$Predictions[2:3], c(0.507114, 0.291212), tolerance = 1e-5)
  expect_identical(sum(is.na(found$predictions$Predictions)), 1L)
})

test_that("as.data.frame() gives the predictions", {
  found <- multiview(three_species(), c("x", "y"), "x")
  expect_identical(as.data.frame(found), as.data.frame(found$predictions))
})

test_that("a constant column, whose neighbours are those in time, is no view", {
  data <- data.frame(t = 1:60, x = sin(1:60 / 9), flat = 1)
  found <- multiview(data, c("x", "flat"), "x", D = 1, multiview = 2)
  expect_identical(found$view$name_1, c("x(t-0)", "flat(t-0)"))
  expect_identical(is.na(found$view$rho_rank), c(FALSE, TRUE))
})

test_that("what is printed says what was averaged", {
  found <- multiview(three_species(), c("x", "y", "z"), "x", c(1, 50), c(51, 90), E = 2)
  expect_output(print(found), "Mean of the best 4 of 20 views")
  expect_output(print(found), "x(t-0)", fixed = TRUE)
  expect_identical(summary(found)$averaged, 4L)
  expect_equal(summary(found)$rho, prediction_error(found$predictions)$rho)
})

test_that("wrong arguments are explained", {
  wrong <- function(expr, message, ...) {
    expect_error(expr, message, ..., class = "synfire_error_argument")
  }
  data <- three_species(30)
  call <- \(...) multiview(data, c("x", "y"), "x", ...)
  wrong(call(D = 3), "`D` must be at most the 2 coordinates there are")
  wrong(call(D = "2"), "`D` must be a whole number")
  wrong(call(D = 0.5), "`D` must be a whole number")
  wrong(call(E = 30, D = 20, tau = -1), "at most a million views")
  wrong(call(multiview = -1), "`multiview` must be a whole number")
  wrong(call(train_lib = NA), "`train_lib` must be TRUE or FALSE")
  wrong(multiview(data, "x", "x", exclude_target = TRUE), "other columns than `target`")
  wrong(multiview(data, c("x", "q"), "x"), "\"q\"")
})

test_that("more views than there are are all of them, with a warning", {
  data <- three_species()
  expect_warning(found <- multiview(data, c("x", "y"), "x", c(1, 50), c(51, 90), E = 2,
                                    multiview = 99),
                 "Only 6 views", class = "synfire_warning_views")
  expect_identical(found$view,
                   multiview(data, c("x", "y"), "x", c(1, 50), c(51, 90), E = 2, multiview = 6)$view)
  expect_equal(found$view$CAE, found$view$MAE * 39)
})

test_that("views may be forecast at pairs of rows that overlap", {
  data <- three_species()
  found <- multiview(data, c("x", "y"), "x", c(1, 50), c(60, 90, 51, 70), E = 2)
  plain <- multiview(data, c("x", "y"), "x", c(1, 50), c(51, 90), E = 2)
  at <- match(found$predictions$year, plain$predictions$year)
  known <- !is.na(found$predictions$Predictions)
  expect_equal(found$predictions$Predictions[known], plain$predictions$Predictions[at][known])
  expect_identical(sum(known), 31L + 20L)
})
