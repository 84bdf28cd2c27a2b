skip_if_not_installed("ggplot2")

made_skill <- function(parameter, value, rho) {
  frame <- setNames(data.frame(value, rho), c(parameter, "rho"))
  synfire:::new_edm_skill(frame, list(columns = "x", target = "x"), list(call = quote(f()), began = 0))
}
made_predictions <- function(time = 2001:2012, ...) {
  frame <- data.frame(
    time, Observations = c(1, 3, 2, 5, 4, NA, 2, 1, 4, 3, 2, 1),
    Predictions = c(NA, 2.5, 2, 4, 4.5, 3, NA, NA, 3.5, 3, NA, 1.5),
    Pred_Variance = c(NA, 0.25, 1, 1, 0.25, 0.25, NA, NA, 1, 4, NA, 0.25)
  )
  names(frame)[[1]] <- "year"
  synfire:::new_edm(frame, "edm_prediction", "Simplex", list(columns = "fish", target = "fish"),
                    list(call = quote(f()), began = 0))
}
layers <- function(plot, geom) {
  is_geom <- vapply(plot$layers, \(l) inherits(l$geom, geom), TRUE)
  lapply(plot$layers[is_geom], \(l) if (is.data.frame(l$data)) l$data else plot$data)
}

test_that("skill is drawn against its parameter, the first best one marked", {
  object <- made_skill("E", 1:6, c(0.2, 0.7, 0.9, 0.9, NA, 0.6))
  p <- ggplot2::autoplot(object)
  points <- layers(p, "GeomPoint")
  expect_equal(points[[1]], data.frame(value = 1:6, rho = object$rho))
  expect_equal(points[[2]]$value, 3)
  expect_identical(p$labels$subtitle, "Best: E = 3, rho = 0.900")
  expect_identical(p$scales$get_scales("x")$name, "Embedding dimension E")
  expect_silent(ggplot2::ggplot_build(p))
  # No line at zero without values below it.
  expect_length(layers(p, "GeomHline"), 0)
})

test_that("no interval and no radius is best", {
  for (parameter in c("Tp", "ExclusionRadius")) {
    p <- ggplot2::autoplot(made_skill(parameter, 1:3, c(0.9, 0.3, -0.1)))
    expect_length(layers(p, "GeomPoint"), 1)
    expect_length(layers(p, "GeomHline"), 1)
    expect_null(p$labels$subtitle)
  }
})

test_that("the axis of skill begins at 0 unless skill is high all over", {
  limits <- function(rho) {
    p <- ggplot2::autoplot(made_skill("Theta", seq_along(rho), rho))
    p$scales$get_scales("y")$limits[[1]]
  }
  expect_identical(limits(c(0.3, 0.9)), 0)
  expect_identical(limits(c(0.8, 0.9)), 0.8)
  expect_identical(limits(c(-0.2, 0.9)), -0.2)
})

test_that("breaks of whole parameters are whole", {
  expect_identical(synfire:::skill_breaks(c(1, 4)), c(1, 2, 3, 4))
  expect_identical(synfire:::skill_breaks(c(0.6, 10.4)), as.double(1:10))
  expect_true(all(synfire:::skill_breaks(c(0, 0.5)) <= 0.5))
  expect_gt(length(synfire:::skill_breaks(c(0, 0.5))), 3)
})

test_that("observed and predicted are drawn over time, with a band that has gaps", {
  p <- ggplot2::autoplot(made_predictions())
  lines <- layers(p, "GeomLine")[[1]]
  expect_equal(lines$value[lines$what == "Predictions"], made_predictions()$Predictions)
  expect_equal(lines$time, rep(2001:2012, 2))
  band <- layers(p, "GeomRibbon")[[1]]
  expect_equal(band$time, c(2002:2006, 2009, 2010, 2012))
  expect_equal(band$low[1:2], c(2.5 - 0.5, 2 - 1))
  expect_equal(band$high[1:2], c(2.5 + 0.5, 2 + 1))
  expect_equal(as.vector(table(band$run)), c(5, 2, 1))
  expect_identical(p$scales$get_scales("y")$name, "fish")
  error <- prediction_error(made_predictions())
  expect_match(p$labels$subtitle, paste("rho =", signif(error$rho, 3)), fixed = TRUE)
  expect_silent(ggplot2::ggplot_build(p))
})

test_that("time is drawn as what it is, and by row where it is only a name", {
  dates <- as.Date("2001-01-01") + 0:11
  p <- ggplot2::autoplot(made_predictions(dates))
  expect_equal(p$data$time[1:12], dates)
  p <- ggplot2::autoplot(made_predictions(as.POSIXct(dates)))
  expect_s3_class(p$scales$get_scales("x"), "ScaleContinuousDatetime")
  p <- ggplot2::autoplot(made_predictions(month.abb))
  expect_equal(p$data$time[1:12], 1:12)
  scale <- p$scales$get_scales("x")
  expect_identical(scale$labels, month.abb[scale$breaks])
  expect_silent(ggplot2::ggplot_build(p))
})

test_that("pairs that are known are drawn against each other", {
  p <- ggplot2::autoplot(made_predictions(), type = "scatter")
  known <- is.finite(made_predictions()$Predictions) & is.finite(made_predictions()$Observations)
  expect_equal(p$data$observed, made_predictions()$Observations[known])
  expect_equal(p$data$predicted, made_predictions()$Predictions[known])
  expect_identical(p$coordinates$limits$x, p$coordinates$limits$y)
})

test_that("a multiview forecast is drawn without a band", {
  n <- 60
  x <- Reduce(\(x, i) 3.8 * x * (1 - x), 2:n, 0.3, accumulate = TRUE)
  many <- multiview(data.frame(t = 1:n, x = x), "x", D = 2, E = 3)
  p <- ggplot2::autoplot(many)
  expect_length(layers(p, "GeomRibbon"), 0)
  expect_equal(p$data$value[p$data$what == "Predictions"], many$predictions$Predictions)
  expect_silent(ggplot2::ggplot_build(p))
})

circle <- function() {
  x <- data.frame(time = 1:80, x = sin(1:80 / 8), y = cos(1:80 / 8))
  smap(x, c("x", "y"), "x", lib = c(1, 40), pred = c(41, 80), theta = 3, embedded = TRUE)
}

test_that("coefficients of an S-map are drawn over time, a panel for each", {
  found <- circle()
  p <- ggplot2::autoplot(found)
  expect_identical(levels(p$data$name), c("C0", "dx/dx", "dx/dy"))
  expect_equal(p$data$value, unlist(found$coefficients[-1], use.names = FALSE))
  expect_equal(p$data$time, rep(as.double(found$coefficients$time), 3))
  expect_identical(nrow(ggplot2::ggplot_build(p)$layout$layout), 3L)
  series <- ggplot2::autoplot(found, type = "series")
  expect_equal(series$data, ggplot2::autoplot(found$predictions)$data)
  expect_error(ggplot2::autoplot(found, type = "raster"), "`type` must be",
               class = "synfire_error_argument")
})

test_that("of very many coefficients the largest are drawn, with names that fit", {
  name <- paste0("\u2202", strrep("channel-", 5), "7")
  slopes <- as.data.frame(matrix(rep(1:41 / 10, each = 4), 4))
  names(slopes) <- c("C0", sprintf("%s/%s(t-%d)", name, name, 1:40))
  p <- synfire:::plot_coefficients(cbind(time = 1:4, slopes))
  labels <- levels(p$data$name)
  expect_length(labels, 12L)
  expect_identical(unique(p$data$value), 30:41 / 10)
  expect_identical(labels[[12]], "d/dchannel-..nel-7(t-40)")
  expect_match(p$labels$subtitle, "12 of 41 coefficients")
  expect_identical(max(ggplot2::ggplot_build(p)$layout$layout$COL), 3L)
})

test_that("long series have pictures in which something can be seen", {
  set.seed(1)
  n <- 6000
  long <- made_predictions()[rep(1, n), ]
  long$year <- seq_len(n)
  long$Observations <- rnorm(n)
  long$Predictions <- long$Observations + 1
  p <- synfire:::plot_series(long)
  rows <- range(p$data$time)
  # From the middle, with as many turns as can be told apart.
  expect_true(rows[[1]] > n / 2 - 200 && rows[[2]] < n / 2 + 200 && diff(rows) > 200)
  expect_match(p$labels$subtitle, "of 6,000 rows, from the middle")
  expect_identical(synfire:::readable_rows(sin(1:900 / 20)), 1:900)
  expect_length(synfire:::readable_rows(sin(1:9000 / 200)), 5000L)
  counted <- synfire:::plot_scatter(long)
  expect_s3_class(counted$layers[[2]]$stat, "StatBin2d")
  expect_equal(sum(ggplot2::layer_data(counted, 2)$count), n)
  # A point for each piece of the rows of an S-map.
  slopes <- synfire:::plot_coefficients(data.frame(time = 1:1500, C0 = 1:1500))
  expect_equal(slopes$data$value, seq(3, 1498, by = 5))
  expect_equal(slopes$data$time, seq(1, 1500, by = 5))
  band <- layers(slopes, "GeomRibbon")[[1]]
  expect_equal(unname(c(band$low[[1]], band$high[[1]])), c(1.2, 4.8))
  expect_match(slopes$labels$caption, "the median of 5 rows")
})

test_that("nothing to draw is an error", {
  expect_error(ggplot2::autoplot(made_skill("E", 1:2, c(NA_real_, NA))), "skill for at least one E",
               class = "synfire_error_argument")
  none <- made_predictions()
  none <- changed_by_other_code(none, "Predictions", rep(NA_real_, nrow(none)))
  expect_error(ggplot2::autoplot(none), "at least one prediction",
               class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(made_predictions(), type = "lines"), "`type` must be",
               class = "synfire_error_argument")
})

test_that("pictures look as they did", {
  skip_if_not_installed("vdiffr")
  vdiffr::expect_doppelganger(
    "skill", ggplot2::autoplot(made_skill("E", 1:6, c(0.2, 0.7, 0.9, 0.88, NA, 0.6)))
  )
  vdiffr::expect_doppelganger(
    "interval", ggplot2::autoplot(made_skill("Tp", 1:6, c(0.9, 0.7, 0.3, 0.1, -0.1, 0.05)))
  )
  vdiffr::expect_doppelganger("series", ggplot2::autoplot(made_predictions()))
  slopes <- data.frame(year = 2001:2012, C0 = c(NA, 1:5, NA, 3:7) / 4,
                       a = c(NA, 5:1, NA, 1:5), b = -c(NA, 1, 3, 2, 4, 1, NA, 2, 2, 1, 3, 1))
  names(slopes)[3:4] <- paste0("\u2202fish/\u2202", c("fish(t-0)", "fish(t-1)"))
  made <- structure(list(predictions = made_predictions(), coefficients = slopes),
                    class = "smap")
  vdiffr::expect_doppelganger("coefficients", ggplot2::autoplot(made))
  vdiffr::expect_doppelganger("scatter", ggplot2::autoplot(made_predictions(), "scatter"))
})

test_that("skill of E and tau is a map, with a panel for each Tp", {
  wave <- data.frame(time = 1:80, x = sin(1:80 / 5) + cos(1:80 / 2))
  found <- embed_dimension(wave, "x", E_max = 3, tau = -1:-2, Tp = 1:2)
  p <- ggplot2::autoplot(found)
  cells <- ggplot2::layer_data(p, 1)
  expect_identical(nrow(cells), 12L)
  expect_length(unique(cells$PANEL), 2)
  best <- attr(found, "optimal")
  expect_match(p$labels$subtitle, sprintf("Best: E = %d, tau = %d, Tp = %d", best[["E"]],
                                          best[["tau"]], best[["Tp"]]))
  expect_identical(nrow(ggplot2::layer_data(p, 2)), 1L)
  p <- ggplot2::autoplot(embed_dimension(wave, "x", E_max = 30, Tp = 1:3))
  expect_match(p$labels$subtitle, "Best: E = .*, Tp = .*, rho")
  expect_identical(p$scales$get_scales("y")$name, "Prediction interval Tp (rows)")
  expect_lte(length(synfire:::some_levels(as.character(1:30))), 12)
})
