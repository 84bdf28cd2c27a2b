draw <- function(p) {
  # PDF needs no graphics library of the system.
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file, 8, 5)
  on.exit(grDevices::dev.off())
  suppressMessages(print(p))
  invisible(file.size(file))
}

layer_of <- function(p, geom) {
  hit <- vapply(p$layers, \(layer) inherits(layer$geom, geom), logical(1))
  p$layers[hit]
}

test_that("few spikes are marks, many are an image", {
  skip_if_not_installed("ggplot2")
  x <- spike_trains(c(0.5, 1, 2), c("a", "b", "a"), start = 0, end = 3)
  p <- ggplot2::autoplot(x)
  marks <- layer_of(p, "GeomSegment")[[1L]]$data
  expect_identical(marks$time, x$time)
  expect_identical(marks$low + marks$high, c(2, 4, 2))
  expect_length(layer_of(p, "GeomRaster"), 0L)
  q <- ggplot2::autoplot(x, max_marks = 2)
  expect_length(layer_of(q, "GeomSegment"), 0L)
  expect_length(layer_of(q, "GeomRaster"), 1L)
  expect_no_warning(draw(p))
  expect_no_warning(draw(q))
})

test_that("few units with many spikes are an image, not black rows", {
  skip_if_not_installed("ggplot2")
  set.seed(4)
  busy <- spike_trains(runif(6000, 0, 600), sample(3, 6000, TRUE), start = 0, end = 600)
  expect_length(layer_of(ggplot2::autoplot(busy), "GeomRaster"), 1L)
  expect_length(layer_of(ggplot2::autoplot(busy, max_marks = Inf), "GeomSegment"), 1L)
  calm <- spike_trains(runif(6000, 0, 600), sample(30, 6000, TRUE), start = 0, end = 600)
  expect_length(layer_of(ggplot2::autoplot(calm), "GeomSegment"), 1L)
})

test_that("the image counts every spike in its cell", {
  set.seed(1)
  for (n_units in c(1, 5, 900)) {
    x <- spike_trains(round(runif(500, -3, 7), 3), sample(n_units, 500, TRUE),
                      start = -3, end = 7)
    row <- synfire:::unit_rows(x)
    image <- synfire:::raster_counts(x, row, bins = 20)
    expect_identical(sum(image$cells$spikes, na.rm = TRUE), nrow(x))
    expect_identical(image$group, max(1, ceiling(nlevels(x$unit) / 400)))
    # Oracle: count the spikes of one cell.
    cell <- image$cells[which.max(image$cells$spikes), ]
    half <- image$width * 1e-6 / 2
    inside <- abs(x$time + 5e-7 - cell$time) < half + 1e-9 &
      abs(row[as.integer(x$unit)] - cell$row) <= (image$group - 1) / 2
    expect_identical(sum(inside), cell$spikes)
  }
})

test_that("units are rows as levels or by rate", {
  x <- spike_trains(1:6, c("a", "b", "b", "c", "c", "c"))
  expect_identical(synfire:::unit_rows(x), c(a = 1L, b = 2L, c = 3L))
  y <- x[unit = c("c", "a", "b")]
  expect_identical(synfire:::unit_rows(y), c(c = 1L, a = 2L, b = 3L))
  expect_identical(synfire:::unit_rows(y, "rate"), c(c = 3L, a = 1L, b = 2L))
})

test_that("units are thinned out where there are many", {
  expect_identical(synfire:::thin(3, 40), c(1, 2, 3))
  expect_identical(synfire:::thin(59, 40), seq(1, 59, by = 2))
  expect_length(synfire:::thin(0, 40), 0L)
  for (n in c(1, 40, 41, 399, 12345)) expect_lte(length(synfire:::thin(n, 40)), 40)

  skip_if_not_installed("ggplot2")
  x <- spike_trains(1:100, 1:100)
  p <- ggplot2::ggplot_build(ggplot2::autoplot(x))
  expect_lte(length(p$layout$panel_params[[1L]]$y$get_labels()), 40)
})

test_that("events are lines, and bands until they end", {
  skip_if_not_installed("ggplot2")
  x <- spike_trains(1:9, "a")
  p <- ggplot2::autoplot(x, events = c(2, 4))
  expect_identical(layer_of(p, "GeomSegment")[[1L]]$data$start, c(2, 4))
  expect_identical(nrow(layer_of(p, "GeomRect")[[1L]]$data), 0L)
  p <- ggplot2::autoplot(x, events = data.frame(time = c(2, 4), end = c(3, 4)))
  expect_identical(layer_of(p, "GeomRect")[[1L]]$data$end, 3)
  expect_identical(p$labels$caption, "Red lines: 2 events. Bands: until they end.")
  expect_no_warning(draw(p))
  expect_error(ggplot2::autoplot(x, events = data.frame(time = 2, end = 1)), "`events` must be",
               class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(x, events = "a"), "`events` must be",
               class = "synfire_error_argument")
})

test_that("trials are marked", {
  skip_if_not_installed("ggplot2")
  x <- spike_trains(1:9, "a", trials = data.frame(trial = c("one", "two"), start = c(0, 6),
                                                  end = c(5, 9)))
  p <- ggplot2::autoplot(x)
  bands <- layer_of(p, "GeomRect")[[1L]]$data
  expect_identical(bands$start, c(0, 6))
  expect_identical(bands$end, c(5, 9))
  built <- ggplot2::ggplot_build(p)$layout$panel_params[[1L]]
  expect_identical(built$x.sec$get_labels(), c("one", "two"))
  expect_no_warning(draw(p))
})

test_that("extremes are drawn without a warning", {
  skip_if_not_installed("ggplot2")
  one <- spike_trains(1, "a")
  none <- spike_trains(numeric(), character(), start = 0, end = 1)
  silent <- spike_trains(numeric(), factor(character(), levels = "a"), start = 0, end = 1)
  negative <- spike_trains(c(-5, -1), c("a", "b"))
  same <- spike_trains(rep(0, 50), 1:50)
  for (x in list(one, none, silent, negative, same)) {
    expect_no_warning(draw(ggplot2::autoplot(x)))
    expect_no_warning(draw(ggplot2::autoplot(x, max_marks = 0)))
  }
})

test_that("a million spikes are drawn", {
  skip_if_not_installed("ggplot2")
  skip_on_cran()
  set.seed(2)
  x <- spike_trains(runif(1e6, 0, 900), sample(60, 1e6, TRUE))
  expect_no_error(draw(ggplot2::autoplot(x)))
})

test_that("plot() draws and gives the plot back", {
  skip_if_not_installed("ggplot2")
  x <- spike_trains(c(0.5, 1, 2), c("a", "b", "a"))
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  p <- withVisible(plot(x, order = "rate"))
  grDevices::dev.off()
  expect_false(p$visible)
  expect_s3_class(p$value, "ggplot")
  expect_gt(file.size(file), 1000)
})

test_that("arguments are checked", {
  skip_if_not_installed("ggplot2")
  x <- spike_trains(1, "a")
  expect_snapshot(error = TRUE, ggplot2::autoplot(x, order = "size"))
  expect_snapshot(error = TRUE, ggplot2::autoplot(x, max_marks = -1))
  expect_snapshot(error = TRUE, ggplot2::autoplot(x, bins = 0))
  expect_error(ggplot2::autoplot(x, bin = 3))
})

test_that("colours are told apart", {
  expect_identical(anyDuplicated(synfire:::syn_palette(6)), 0L)
  expect_identical(anyDuplicated(synfire:::syn_palette(20)), 0L)
  expect_length(synfire:::syn_palette(0), 0L)
})

three_areas <- function(n = 9, spikes = 200) {
  set.seed(1)
  spike_trains(
    runif(n * spikes, 0, 20), rep(seq_len(n), each = spikes), start = 0, end = 20,
    unit_table = data.frame(
      unit = seq_len(n), area = rep_len(c("V1", "LGN", "SC"), n), depth = rev(seq_len(n)),
      good = rep_len(c(TRUE, NA), n), layer = factor(rep_len(1:2, n), 2:1)
    )
  )
}

test_that("units stand by place, from top to bottom", {
  x <- three_areas(6)
  row <- synfire:::unit_rows(x, "place")
  # LGN, SC, V1; the smaller depth, which is the higher number, first.
  expect_identical(names(sort(row, decreasing = TRUE)), c("5", "2", "6", "3", "4", "1"))
  expect_identical(names(row), levels(x$unit))
  skip_if_not_installed("ggplot2")
  unit_table(x) <- NULL
  expect_snapshot(ggplot2::autoplot(x, order = "place"), error = TRUE)
})

test_that("units are grouped by a column of their table", {
  skip_if_not_installed("ggplot2")
  x <- three_areas(6)
  groups <- synfire:::unit_groups(x, "area")
  expect_identical(levels(groups), c("LGN", "SC", "V1"))
  row <- synfire:::unit_rows(x, "levels", groups)
  expect_identical(row, c("1" = 1L, "2" = 5L, "3" = 3L, "4" = 2L, "5" = 6L, "6" = 4L))
  expect_identical(levels(synfire:::unit_groups(x, "layer")), c("2", "1"))
  expect_identical(levels(synfire:::unit_groups(x, "depth")), as.character(1:6))
  expect_identical(as.character(synfire:::unit_groups(x, "good")),
                   rep(c("TRUE", "not known"), 3))

  for (most in c(Inf, 0)) {
    p <- ggplot2::autoplot(x, by = "area", max_marks = most)
    expect_identical(layer_of(p, "GeomHline")[[1L]]$data$yintercept, c(2.5, 4.5))
    built <- ggplot2::ggplot_build(p)$layout$panel_params[[1L]]
    expect_identical(built$y.sec$get_labels(), c("V1", "SC", "LGN"))
    expect_no_warning(draw(p))
  }
  marks <- layer_of(ggplot2::autoplot(x, by = "area"), "GeomSegment")[[1L]]$data
  expect_identical(as.character(marks$group), unit_table(x)$area[as.integer(x$unit)])
})

test_that("a column that cannot group units is refused", {
  skip_if_not_installed("ggplot2")
  x <- three_areas(21, spikes = 1)
  expect_snapshot(error = TRUE, {
    ggplot2::autoplot(x, by = "aera")
    ggplot2::autoplot(x, by = 2)
    ggplot2::autoplot(x, by = "depth")
    ggplot2::autoplot(spike_trains(1, "a"), by = "area")
  })
})

test_that("long names are short on axes, and still different", {
  short_names <- synfire:::short_names
  expect_identical(short_names(c("a", "b12345678901")), c("a", "b12345678901"))
  units <- sprintf("probe_B_shank_%02d_cluster_%s_good", c(0, 1, 10), c("A", "B", "C"))
  expect_identical(short_names(units),
                   c("..00_cluster_A..", "..01_cluster_B..", "..10_cluster_C.."))
  expect_identical(short_names(strrep("x", 40)), paste0(strrep("x", 11), "..", strrep("x", 11)))
  # Where what is cut is all that tells them apart, names stay whole.
  twins <- paste0("a", strrep("x", 20), 1:2, strrep("x", 20), c("yb", "zb"))
  expect_identical(anyDuplicated(short_names(twins)), 0L)
  expect_identical(short_names(character()), character())

  skip_if_not_installed("ggplot2")
  x <- spike_trains(1:3, units)
  axis <- ggplot2::ggplot_build(ggplot2::autoplot(x))$layout$panel_params[[1L]]$y
  expect_identical(axis$get_labels(), short_names(units))
})

test_that("plotly names the unit and the time of marks, and of the cells of an image", {
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("plotly")
  x <- spike_trains(c(0.5, 1.25, 2), c("left", "right", "left"), start = 0, end = 3)
  text_of <- function(p) {
    made <- plotly::ggplotly(p, tooltip = c("unit", "x", "fill"))
    unlist(lapply(made$x$data, `[[`, "text"))
  }
  expect_setequal(stats::na.omit(text_of(ggplot2::autoplot(x))), c(
    "time: 0.50<br />unit: left", "time: 1.25<br />unit: right", "time: 2.00<br />unit: left"
  ))
  cells <- text_of(ggplot2::autoplot(x, max_marks = 0, bins = 3))
  expect_match(cells, "unit: left", all = FALSE)
  expect_match(cells, "unit: right", all = FALSE)
  # A row of an image may be several units.
  many <- spike_trains(rep(1:2, 401), rep(sprintf("u%03d", 1:401), each = 2), start = 0, end = 3)
  cells <- ggplot2::autoplot(many, max_marks = 0, bins = 3)$layers[[1L]]$data
  expect_identical(unique(cells$unit[cells$row == 1.5]), "u001 to u002")
  expect_identical(unique(cells$unit[cells$row == max(cells$row)]), "u401")
})
