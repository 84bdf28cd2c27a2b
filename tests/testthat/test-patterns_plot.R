skip_if_not_installed("ggplot2")

# A, B 5 ms later and C 15 ms later, 20 times, 100 ms apart; X with Y in the second half
# only, in one bin. Bins of 5 ms; spikes 1 to 2 ms into theirs. D never takes part.
planted_patterns <- function() {
  opens <- seq(0.1, 2, by = 0.1)
  late <- opens[opens > 1]
  spike_trains(
    c(opens + 0.001, opens + 0.006, opens + 0.017, late + 0.051, late + 0.052, 0.033),
    c(rep(c("A", "B", "C"), each = 20), rep(c("X", "Y"), each = length(late)), "D"),
    start = 0, end = 3
  )
}

# `sets` are lists of units and lags in bins, sorted by size.
made_patterns <- function(sets, occurrences, x = planted_patterns(), window = 4L) {
  units <- levels(x$unit)
  size <- rle(vapply(sets, \(s) length(s$units), 1L))
  items <- lapply(sets, \(s) as.integer(s$lags * length(units) + match(s$units, units) - 1))
  synfire:::new_itemsets(
    unlist(items), list(size = size$values, n = as.double(size$lengths)),
    as.integer(occurrences),
    list(units = units, window_bins = window, bin_size = 0.005, recording = x), "patterns"
  )
}
two_patterns <- function(...) {
  made_patterns(list(list(units = c("X", "Y"), lags = c(0, 0)),
                     list(units = c("A", "B", "C"), lags = c(0, 1, 3))), c(10, 20), ...)
}
layers <- function(plot, geom) {
  is_geom <- vapply(plot$layers, \(l) inherits(l$geom, geom), TRUE)
  lapply(plot$layers[is_geom], \(l) l$data)
}

test_that("the raster draws every occurrence's spikes at their units and lags", {
  p <- ggplot2::autoplot(two_patterns(), from = 1.05, to = 1.35)
  lines <- layers(p, "GeomPath")[[1L]]
  expect_equal(as.vector(table(lines$pattern)), c(9L, 4L))
  first <- lines[lines$group == lines$group[lines$unit == "A"][[1L]], ]
  expect_equal(first$time, c(1.101, 1.106, 1.117))
  # From the top: A, B, C, X, Y, then the unit without a pattern.
  expect_equal(first$row, c(6, 5, 4))
  pair <- lines[lines$unit %in% c("X", "Y"), ][1:2, ]
  expect_equal(pair$time, c(1.151, 1.152))
  expect_equal(pair$row, c(3, 2))
  expect_identical(layers(p, "GeomPoint")[[1L]], lines)
  expect_equal(levels(lines$pattern),
               c("A@0 B@1 C@3 (3 spikes, 20 times)", "X@0 Y@0 (2 spikes, 10 times)"))
  expect_silent(ggplot2::ggplot_build(p))
})

test_that("of several spikes in the bin the first is drawn", {
  x <- spike_trains(c(0.011, 0.012, 0.0145, 0.017, 0.019), c("A", "A", "A", "B", "B"),
                    start = 0, end = 0.1)
  one <- made_patterns(list(list(units = c("A", "B"), lags = c(0, 1))), 1, x)
  lines <- layers(ggplot2::autoplot(one, from = 0, to = 0.1), "GeomPath")[[1L]]
  expect_equal(lines$time, c(0.011, 0.017))
})

test_that("an occurrence that the stretch cuts is not drawn", {
  p <- ggplot2::autoplot(two_patterns(), patterns = 1, from = 1.102, to = 1.25)
  expect_equal(layers(p, "GeomPath")[[1L]]$time, c(1.201, 1.206, 1.217))
})

test_that("the stretch is chosen where occurrences of all patterns are dense", {
  p <- ggplot2::autoplot(two_patterns())
  limits <- p$coordinates$limits$x
  expect_gt(limits[[1L]], 0.95)
  expect_lte(limits[[2L]], 3)
  expect_true(all(table(layers(p, "GeomPath")[[1L]]$pattern) > 0))
  from <- ggplot2::autoplot(two_patterns(), from = 0.5)
  expect_equal(from$coordinates$limits$x[[1L]], 0.5)
})

test_that("patterns that are least to be expected and differ are chosen, or those given", {
  x <- planted_patterns()
  variants <- made_patterns(
    list(list(units = c("X", "Y"), lags = c(0, 0)), list(units = c("A", "B"), lags = c(0, 1)),
         list(units = c("A", "B", "C"), lags = c(0, 1, 3)),
         list(units = c("A", "B", "C"), lags = c(0, 1, 2))), c(10, 20, 20, 1), x
  )
  # 600 bins; A, B and C fire in 20, X and Y in 10 of them.
  expected <- 600 * c(10^2, 20^2, 20^3, 20^3) / 600^c(2, 2, 3, 3)
  found <- c(10, 20, 20, 1)
  surprise <- synfire:::pattern_surprise(variants, x)
  expect_equal(surprise, found * log(found / expected) - found + expected)
  expect_equal(synfire:::pattern_surprise(variants, x, at_once = 3), surprise)
  expect_equal(synfire:::best_patterns(variants, 3, x), c(3, 1))
  lines <- layers(ggplot2::autoplot(variants, patterns = variants[2], to = 0.3), "GeomPath")[[1L]]
  expect_equal(unique(lines$unit), c("A", "B"))
})

test_that("a pattern below expectation is no surprise", {
  busy <- spike_trains(rep(seq(0.001, 0.996, by = 0.005), 2), rep(c("A", "B"), each = 200),
                       start = 0, end = 1)
  x <- made_patterns(list(list(units = c("A", "B"), lags = c(0, 1))), 10, busy)
  expect_lt(synfire:::pattern_surprise(x, busy), 0)
})

test_that("patterns are counted in the recording that is drawn", {
  half <- planted_patterns()[time = c(0, 1.05)]
  p <- ggplot2::autoplot(two_patterns(), patterns = 1, recording = half)
  expect_match(levels(layers(p, "GeomPath")[[1L]]$pattern), "10 times")
  expect_error(
    ggplot2::autoplot(two_patterns(), recording = spike_trains(c(0, 1), c("Q", "R"))),
    "unit \"[AX]\"", class = "synfire_error_argument"
  )
})

test_that("among many units those of patterns get rows high enough for lines", {
  x <- planted_patterns()
  x <- spike_trains(x$time, factor(x$unit, c(levels(x$unit), 1:144)), start = 0, end = 3)
  p <- ggplot2::autoplot(two_patterns(x), others = Inf)
  expect_equal(p$scales$get_scales("y")$labels, c("A", "B", "C", "X", "Y"))
  rows <- sort(unique(layers(p, "GeomPath")[[1L]]$row))
  expect_equal(diff(rows), rep(8, 4))
  level <- ggplot2::autoplot(two_patterns(x), order = "levels", others = Inf, from = 1, to = 2)
  lines <- layers(level, "GeomPath")[[1L]]
  expect_equal(lines$row, match(lines$unit, levels(x$unit)))
})

test_that("the dots hold all spikes of the units in the windows, the pattern's marked", {
  opens <- seq(0.1, 0.5, by = 0.1)
  x <- spike_trains(
    c(opens, opens + 0.010, opens + 0.012, 0.112, 0.1199999, 0.120, 0.099999),
    c(rep(c("A", "B", "B"), each = 5), "A", "B", "A", "A"), start = 0, end = 1,
    resolution = 1e-7
  )
  one <- made_patterns(list(list(units = c("A", "B"), lags = c(0, 2))), 5, x)
  p <- ggplot2::autoplot(one, type = "dots")
  dots <- p$data[order(p$data$panel, p$data$row, p$data$time), ]
  a <- dots[dots$panel == "A", ]
  # 112 ms is in the window, 120 ms is the first tick after it, 99.9999 the last before.
  expect_equal(a$time, c(0, 12, 0, 0, 0, 0))
  expect_equal(a$own, c(TRUE, FALSE, rep(TRUE, 4)))
  expect_equal(a$row, c(1, 1:5))
  b <- dots[dots$panel == "B", ]
  expect_equal(b$time, c(10, 12, 19.9999, rep(c(10, 12), 4)))
  expect_equal(b$own, c(TRUE, TRUE, FALSE, rep(TRUE, 8)))
  expect_equal(unname(unlist(layers(p, "GeomRect")[[1L]][c("low", "high")])), c(0, 10, 5, 15))
  expect_silent(ggplot2::ggplot_build(p))
})

test_that("dots end with the trial", {
  x <- spike_trains(c(0.100, 0.105, 0.112), c("A", "B", "A"), start = 0, end = 1,
                    trials = data.frame(start = c(0.1, 0.111), end = c(0.11, 0.5)))
  one <- made_patterns(list(list(units = c("A", "B"), lags = c(0, 1))), 1, x)
  expect_equal(ggplot2::autoplot(one, type = "dots")$data$time, c(0, 5))
})

test_that("of many occurrences some are drawn, with their numbers", {
  x <- planted_patterns()
  found <- pattern_occurrences(x, two_patterns()[2])
  dots <- synfire:::dot_display(x, two_patterns()[2], found, most = 4)
  expect_equal(sort(unique(dots$row)), c(1, 7, 14, 20))
})

# Sets of every size up to 4, with units at several lags, out of order of size.
random_patterns <- function(n = 300, units = 6, window = 5, resort = FALSE) {
  sets <- lapply(seq_len(n), \(i) {
    size <- sample(2:4, 1)
    sort(c(sample(units, 1) - 1L, sample(units:(units * window - 1L), size - 1)))
  })
  if (!resort) sets <- sets[order(lengths(sets))]
  runs <- rle(lengths(sets))
  x <- synfire:::new_itemsets(
    as.integer(unlist(sets)), list(size = runs$values, n = as.double(runs$lengths)),
    sample(3:40, n, replace = TRUE),
    list(units = LETTERS[seq_len(units)], window_bins = window, bin_size = 0.002), "patterns"
  )
  list(x = x, sets = sets)
}

test_that("histograms count every pattern", {
  for (resort in c(FALSE, TRUE)) {
    set.seed(7)
    made <- random_patterns(resort = resort)
    units <- lapply(made$sets, \(s) unique(s %% 6) + 1)
    bars <- ggplot2::autoplot(made$x, type = "participation")$data
    expect_equal(bars$label, LETTERS[1:6])
    expect_equal(bars$number, as.vector(table(unlist(units))))
    # In parts or at once.
    expect_equal(synfire:::participation_counts(made$x, at_once = 7), bars$number)

    bars <- layers(ggplot2::autoplot(made$x, type = "size"), "GeomRect")[[1L]]
    expect_equal(bars$low + 0.35, 2:4)
    expect_equal(bars$number, as.vector(table(lengths(made$sets))))

    p <- ggplot2::autoplot(made$x, type = "lags")
    lags <- lapply(made$sets, \(s) s %/% 6)
    after <- table(factor(unlist(lapply(lags, \(l) l[-1])), 0:4))
    last <- table(factor(vapply(lags, max, 1), 0:4))
    expect_equal(p$data$number, c(as.vector(after), as.vector(last)))
    expect_equal(p$data$lag, rep(c(0, 2, 4, 6, 8), 2))
    expect_equal(synfire:::lag_counts(made$x, at_once = 7), synfire:::lag_counts(made$x))
    expect_silent(ggplot2::ggplot_build(p))
  }
})

test_that("occurrences are counted one by one where they are few, in ranges where many", {
  set.seed(8)
  made <- random_patterns()
  bars <- layers(ggplot2::autoplot(made$x, type = "counts"), "GeomRect")[[1L]]
  counts <- table(made$x$count)
  expect_equal(bars$low + 0.5, as.numeric(names(counts)))
  expect_equal(bars$high - bars$low, rep(1, length(counts)))
  expect_equal(bars$number, as.vector(counts))
  built <- ggplot2::layer_data(ggplot2::autoplot(made$x, type = "counts"), 1L)
  expect_identical(unique(built$ymin), 0)

  ranges <- synfire:::count_ranges(made$x, most = 10)
  expect_equal(ranges$low, seq(3, 38, by = 5))
  expect_equal(ranges$number,
               as.vector(table(findInterval(made$x$count, ranges$low))))
})

test_that("itemsets have pictures of their own", {
  sets <- synfire:::new_itemsets(
    c(0L, 1L, 0L, 1L, 2L), list(size = c(1L, 3L), n = c(2, 1)), c(5L, 3L, 2L),
    list(labels = c("bread", "butter", "milk", "beer"), transactions = 6)
  )
  bars <- layers(ggplot2::autoplot(sets), "GeomRect")[[1L]]
  expect_equal(bars$number, c(2, 1))
  bars <- ggplot2::autoplot(sets, type = "participation")$data
  expect_equal(bars$label, c("bread", "butter", "milk", "beer"))
  expect_equal(bars$number, c(2, 2, 1, 0))
  bars <- layers(ggplot2::autoplot(sets, type = "counts"), "GeomRect")[[1L]]
  expect_equal(bars$low, c(1.5, 2.5, 4.5))
  expect_error(ggplot2::autoplot(sets, type = "raster"), class = "synfire_error_argument")
})

test_that("plot() draws and returns the plot", {
  path <- withr::local_tempfile(fileext = ".pdf")
  withr::with_pdf(path, p <- plot(two_patterns()))
  expect_s3_class(p, "ggplot")
  expect_gt(file.size(path), 0)
})

test_that("arguments are checked", {
  x <- two_patterns()
  expect_error(ggplot2::autoplot(x, type = "nothing"), class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(x, order = "size"), class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(x, pattern = 3), class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(x, patterns = 0), "patterns", class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(x, from = 1, to = 0.5), class = "synfire_error_argument")
  none <- x[0L]
  for (type in c("raster", "size", "lags")) {
    expect_message(ggplot2::autoplot(none, type = type), "There is no pattern",
                   class = "synfire_message_empty")
  }
  expect_error(ggplot2::autoplot(x, patterns = none), "at least one",
               class = "synfire_error_argument")
  attr(x, "recording") <- NULL
  expect_error(ggplot2::autoplot(x), "recording", class = "synfire_error_argument")
  expect_s3_class(ggplot2::autoplot(x, type = "size"), "ggplot")
  silent <- planted_patterns()[time = c(2.5, 3)]
  expect_error(ggplot2::autoplot(x, type = "dots", recording = silent), "does not",
               class = "synfire_error_argument")
})

test_that("four histograms stand side by side, each with its own numbers", {
  set.seed(9)
  x <- random_patterns()$x
  p <- ggplot2::autoplot(x, type = "statistics")
  bars <- split(p$data, p$data$panel)
  expect_identical(bars[[1L]]$number, synfire:::count_ranges(x)$number)
  expect_identical(bars[[2L]]$number, synfire:::size_counts(x)$number)
  expect_identical(bars[[3L]]$number, synfire:::lag_counts(x)$spikes)
  expect_identical(bars[[4L]]$number, synfire:::participation_counts(x))
  # One axis for all: each panel says what it counts.
  expect_identical(substr(names(bars), 1, 8), c("Patterns", "Patterns", "Later sp", "Patterns"))
  expect_identical(p$scales$get_scales("y")$name, "Number")
  expect_silent(ggplot2::ggplot_build(p))
})

test_that("the hypergraph draws each pattern around its units", {
  skip_if_not_installed("igraph")
  x <- planted_patterns()
  three <- made_patterns(
    list(list(units = c("X", "Y"), lags = c(0, 0)), list(units = c("A", "B"), lags = c(0, 1)),
         list(units = c("A", "B", "C"), lags = c(0, 1, 3))), c(10, 20, 20), x
  )
  p <- ggplot2::autoplot(three, type = "hypergraph", patterns = three)
  areas <- layers(p, "GeomPolygon")[[1L]]
  names <- layers(p, "GeomText")[[1L]]
  expect_setequal(names$label, c("A", "B", "C", "X", "Y"))
  sets <- list(c("X", "Y"), c("A", "B"), c("A", "B", "C"))
  # A convex area holds a point if that is on the same side of all edges.
  holds <- function(area, x, y) {
    n <- nrow(area)
    after <- c(seq_len(n)[-1L], 1L)
    side <- (area$x[after] - area$x) * (y - area$y) - (area$y[after] - area$y) * (x - area$x)
    all(side >= 0) || all(side <= 0)
  }
  lines <- layers(p, "GeomSegment")[[1L]]
  for (k in 1:3) {
    area <- areas[areas$pattern == levels(areas$pattern)[[k]], ]
    own <- names[names$label %in% sets[[k]], ]
    for (i in seq_len(nrow(own))) expect_true(holds(area, own$x[[i]], own$y[[i]]))
    ends <- lines[lines$pattern == levels(areas$pattern)[[k]], ]
    expect_setequal(paste(ends$xend, ends$yend), paste(own$x, own$y))
    expect_true(holds(area, ends$x[[1L]], ends$y[[1L]]))
  }
  # The larger one holds the smaller one, and is drawn first.
  inner <- areas[areas$pattern == levels(areas$pattern)[[2L]], ]
  outer <- areas[areas$pattern == levels(areas$pattern)[[3L]], ]
  for (i in seq_len(nrow(inner))) expect_true(holds(outer, inner$x[[i]], inner$y[[i]]))
  expect_identical(as.character(areas$pattern[[1L]]), levels(areas$pattern)[[3L]])
  expect_match(p$labels$caption, "3 patterns, 5 of 6 units.", fixed = TRUE)
  # One unit alone, and the caller's random numbers.
  set.seed(4)
  one <- made_patterns(list(list(units = c("A", "A"), lags = c(0, 2))), 3, x)
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(one, type = "hypergraph")))
  drawn <- runif(1)
  set.seed(4)
  expect_identical(runif(1), drawn)
  expect_error(ggplot2::autoplot(three, type = "hypergraph", from = 1), "`from` must be left out",
               class = "synfire_error_argument")
})

test_that("pictures look as they did", {
  skip_if_not_installed("vdiffr")
  # Other versions draw the same with other coordinates.
  skip_if(packageVersion("ggplot2")[, 1:2] != "3.4", "pictures were made with ggplot2 3.4")
  x <- two_patterns()
  vdiffr::expect_doppelganger("raster", ggplot2::autoplot(x, from = 1.05, to = 1.35))
  vdiffr::expect_doppelganger("dots", ggplot2::autoplot(x, type = "dots"))
  if (rlang::is_installed("igraph")) {
    vdiffr::expect_doppelganger("hypergraph", ggplot2::autoplot(x, type = "hypergraph"))
  }
  set.seed(9)
  many <- random_patterns()$x
  for (type in c("participation", "size", "counts", "lags", "statistics")) {
    vdiffr::expect_doppelganger(type, ggplot2::autoplot(many, type = type))
  }
})
