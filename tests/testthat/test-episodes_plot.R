skip_if_not_installed("ggplot2")

# Two chains, planted so that every occurrence is known: A B C every 100 ms, 20 times, and
# X Y in the second half only.
planted <- function() {
  start <- seq(0.1, 2, by = 0.1)
  late <- start[start > 1]
  spike_trains(
    c(start, start + 0.004, start + 0.012, late + 0.03, late + 0.033, 0.05),
    c(rep(c("A", "B", "C"), each = 20), rep(c("X", "Y"), each = length(late)), "noise"),
    start = 0, end = 3
  )
}
chains <- function() {
  c(episode(c("A", "B", "C"), c(0, 0.005), c(0.005, 0.010)), episode(c("X", "Y"), 0, 0.005))
}
found <- function() {
  mine_episodes(planted(), min_count = 5, intervals = rbind(c(0, 0.005), c(0.005, 0.010)),
                threads = 1)
}
marks <- function(plot, geom) {
  is_geom <- vapply(plot$layers, \(l) inherits(l$geom, geom), TRUE)
  lapply(plot$layers[is_geom], \(l) l$data)
}

test_that("counts are shown by size", {
  x <- chains()
  x$count <- c(7L, 3L)
  more <- c(x, x)
  more$count <- c(7L, 3L, 10L, 5L)
  more <- more[c(1, 2, 4), ]
  p <- ggplot2::autoplot(more)
  bars <- marks(p, "GeomRect")[[1L]]
  expect_equal(bars[c("size", "number")], data.frame(size = c(2L, 3L), number = c(2L, 1L)))
  spread <- marks(p, "GeomPoint")[[1L]]
  expect_equal(spread$least, c(3, 7))
  expect_equal(spread$most, c(5, 7))
  expect_silent(ggplot2::ggplot_build(p))
  expect_error(ggplot2::autoplot(chains()), "counted", class = "synfire_error_argument")
})

test_that("bars of numbers begin at 0, which is on the axis", {
  p <- ggplot2::autoplot(found(), type = "counts")
  expect_identical(unique(ggplot2::layer_data(p, 1L)$ymin), 0)
  axis <- ggplot2::ggplot_build(p)$layout$panel_params[[1L]]$y
  expect_identical(axis$get_labels()[[1L]], "0")
})

test_that("plot() draws and returns the plot", {
  path <- withr::local_tempfile(fileext = ".pdf")
  withr::with_pdf(path, p <- plot(found()))
  expect_s3_class(p, "ggplot")
  expect_gt(file.size(path), 0)
})

test_that("the largest episodes that differ are chosen", {
  x <- found()
  chosen <- x[synfire:::best_episodes(x, 2), ]
  expect_equal(chosen$units, list(c("A", "B", "C"), c("X", "Y")))
  # What is inside a chosen one is passed over.
  expect_equal(nrow(x[synfire:::best_episodes(x, 50), ]), 2L)
})

test_that("the raster draws every occurrence in the window as a line through its events", {
  p <- ggplot2::autoplot(found(), type = "raster", episodes = 2, from = 1.05, to = 1.35)
  lines <- marks(p, "GeomPath")[[1L]]
  expect_equal(as.vector(table(lines$episode)), c(9L, 6L))
  first <- lines[lines$group == lines$group[[1L]], ]
  expect_equal(first$time, c(1.1, 1.104, 1.112))
  # From the top: A, B, C, X, Y, then the unit without an episode.
  expect_equal(first$row, c(6, 5, 4))
  expect_match(levels(lines$episode), "A > B > C \\(3 units, 20 times\\)|X > Y", all = TRUE)
  expect_silent(ggplot2::ggplot_build(p))
})

test_that("an occurrence that the window cuts is not drawn", {
  p <- ggplot2::autoplot(found(), type = "raster", episodes = 1, from = 1.102, to = 1.25)
  expect_equal(marks(p, "GeomPath")[[1L]]$time, c(1.2, 1.204, 1.212))
})

test_that("the window is chosen where occurrences of all episodes are dense", {
  p <- ggplot2::autoplot(found(), type = "raster", episodes = 2)
  limits <- p$coordinates$limits$x
  expect_gt(limits[[1L]], 0.95)
  expect_lte(limits[[2L]], 3)
  lines <- marks(p, "GeomPath")[[1L]]
  expect_true(all(table(lines$episode) > 0))
  # The second chain alone decides when it alone is drawn.
  only <- ggplot2::autoplot(found(), type = "raster", episodes = chains()[2, ])
  expect_gt(only$coordinates$limits$x[[1L]], 0.95)
  from <- ggplot2::autoplot(found(), type = "raster", from = 0.5)
  expect_equal(from$coordinates$limits$x[[1L]], 0.5)
})

test_that("episodes can be chosen by name, and order by level", {
  name <- "X -(0,0.005]-> Y"
  p <- ggplot2::autoplot(found(), type = "raster", episodes = name, order = "levels",
                         from = 1, to = 2)
  lines <- marks(p, "GeomPath")[[1L]]
  expect_equal(nlevels(lines$episode), 1L)
  rows <- match(c("X", "Y"), levels(planted()$unit))
  expect_equal(unique(lines$row), rows)
  expect_error(ggplot2::autoplot(found(), type = "raster", episodes = "Q -(0,1]-> R"),
               "not among", class = "synfire_error_argument")
})

test_that("hand-made episodes need a recording", {
  expect_error(ggplot2::autoplot(chains(), type = "raster"), "recording",
               class = "synfire_error_argument")
  p <- ggplot2::autoplot(chains(), type = "raster", episodes = 2, recording = planted())
  expect_equal(nlevels(marks(p, "GeomPath")[[1L]]$episode), 2L)
  expect_match(levels(marks(p, "GeomPath")[[1L]]$episode)[[1L]], "(3 units, 20 times)",
               fixed = TRUE)
  # Counts are those of the recording drawn.
  half <- planted()[time = c(0, 1.05)]
  p <- ggplot2::autoplot(found(), type = "raster", episodes = 1, recording = half)
  expect_match(levels(marks(p, "GeomPath")[[1L]]$episode), "10 times")
})

test_that("a window without occurrences still shows the spikes", {
  p <- ggplot2::autoplot(found(), type = "raster", from = 0, to = 0.09)
  expect_equal(nrow(marks(p, "GeomPath")[[1L]]), 0L)
  expect_equal(marks(p, "GeomSegment")[[1L]]$time, 0.05)
  expect_error(ggplot2::ggplot_build(p), NA)
  expect_error(ggplot2::autoplot(found(), type = "raster", from = 1, to = 0.5),
               class = "synfire_error_argument")
})

test_that("arguments are checked", {
  expect_error(ggplot2::autoplot(found(), type = "nothing"), class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(found(), type = "raster", episodes = 0),
               class = "synfire_error_argument")
  expect_error(ggplot2::autoplot(found(), "counts", bin = 3), class = "synfire_error_argument")
})

test_that("where there is nothing to draw, picture and message say so", {
  for (type in c("counts", "raster", "network", "lags")) {
    expect_message(p <- ggplot2::autoplot(found()[0, ], type = type), "There is no episode",
                   class = "synfire_message_empty")
    expect_s3_class(p, "ggplot")
  }
  single <- found()[found()$size == 1L, ]
  expect_message(ggplot2::autoplot(single, type = "raster"), "No episode has two units",
                 class = "synfire_message_empty")
  lags <- episode_lags(planted(), chains(), bins = 5)
  expect_message(ggplot2::autoplot(lags[0, ]), "There is no step")
  o <- episode_occurrences(planted(), chains())
  expect_message(ggplot2::autoplot(o[0, ]), "There is no occurrence")
})

test_that("lags are drawn as histograms that hold every occurrence", {
  lags <- episode_lags(planted(), chains(), bins = 5)
  p <- ggplot2::autoplot(lags)
  data <- ggplot2::layer_data(p)
  expect_equal(length(unique(data$PANEL)), 3L)
  expect_equal(as.vector(tapply(data$ymax, data$PANEL, sum)), c(20, 20, 10))
  # A to B takes 4 ms: the fourth of five bins over (0, 5] ms holds all.
  first <- data[data$PANEL == 1, ]
  expect_equal(first$xmin[first$ymax == 20], 3)
  expect_equal(first$xmax[first$ymax == 20], 4)
  expect_equal(range(data$xmax[data$PANEL == 2]), c(6, 10))
  same <- ggplot2::autoplot(found(), type = "lags", episodes = 2, bins = 5)
  expect_equal(ggplot2::layer_data(same)$ymax, data$ymax)
})

test_that("occurrences are aligned to their first event", {
  o <- episode_occurrences(planted(), chains())
  p <- ggplot2::autoplot(o)
  segments <- marks(p, "GeomSegment")
  events <- ggplot2::layer_data(p, 1L)
  expect_equal(nrow(events), 20 * 3 + 10 * 2)
  expect_equal(sort(unique(round(events$x[events$PANEL == 1], 6))), c(0, 4, 12))
  expect_equal(sort(unique(round(events$x[events$PANEL == 2], 6))), c(0, 3))
  expect_setequal(marks(p, "GeomText")[[1L]]$unit, c("A", "B", "C", "X", "Y"))
  few <- ggplot2::autoplot(o, max_occurrences = 4)
  expect_equal(nrow(ggplot2::layer_data(few, 1L)), 4 * 3 + 4 * 2)
  # Rows of the table alone are enough.
  expect_equal(ggplot2::layer_data(ggplot2::autoplot(o[1:20, ]), 1L)$x, events$x[1:60])
})

test_that("of many episodes the first six have panels, and the picture says so", {
  pairs <- utils::combn(c("A", "B", "C", "X", "Y"), 2)
  chains <- lapply(1:8, \(k) episode(pairs[, k], 0, 0.05))
  chains <- do.call(c, chains)
  some <- ggplot2::autoplot(episode_occurrences(planted(), chains))
  expect_identical(nlevels(some$data$episode), 6L)
  expect_match(some$labels$caption, "The first 6 of 8 episodes.")
  lags <- episode_lags(planted(), chains, 5)
  p <- ggplot2::autoplot(lags)
  expect_identical(p$data$count, lags$count[lags$episode %in% unique(lags$episode)[1:6]])
  expect_match(p$labels$caption, "The first 6 of 8 episodes.")
})

test_that("chains of long names are short where they are written, and still different", {
  long <- \(unit) sprintf("probe-left-of-the-cortex-%s-good-cell", unit)
  few <- as.data.frame(planted())
  x <- spike_trains(few$time, long(few$unit), start = attr(planted(), "start"),
                    end = attr(planted(), "end"))
  chain <- episode(long(c("A", "B", "C")), 0, 0.02)
  expect_identical(synfire:::chain_names(chain), "..A.. > ..B.. > ..C..")
  expect_identical(synfire:::short_members(list(c("A", "B"), character(), "C")),
                   list(c("A", "B"), character(), "C"))
  p <- ggplot2::autoplot(episode_occurrences(x, chain))
  expect_identical(levels(p$data$episode), "..A.. > ..B.. > ..C..")
  # Names of nine letters that share nothing stay whole.
  expect_identical(synfire:::chain_names(list(units = list(c("left-cell", "other-one")))),
                   "left-cell > other-one")
})

test_that("names of episodes stay short and different", {
  x <- c(episode(LETTERS[1:9], 0, 0.005), episode(c("A", "B"), 0, 0.005),
         episode(c("A", "B"), 0.005, 0.010))
  expect_equal(synfire:::chain_names(x), c("A > B > C > ... > I", "A > B #2", "A > B #3"))
})

test_that("pictures look as they did", {
  skip_if_not_installed("vdiffr")
  skip_if_not_installed("igraph")
  # Other versions draw the same with other coordinates.
  skip_if(packageVersion("ggplot2")[, 1:2] != "3.4", "pictures were made with ggplot2 3.4")
  vdiffr::expect_doppelganger("counts", ggplot2::autoplot(found()))
  vdiffr::expect_doppelganger(
    "raster", ggplot2::autoplot(found(), type = "raster", episodes = 2, from = 1.05, to = 1.35)
  )
  vdiffr::expect_doppelganger("lags", ggplot2::autoplot(episode_lags(planted(), chains(), 5)))
  vdiffr::expect_doppelganger(
    "network", ggplot2::autoplot(found(), type = "network",
                                 layout = cbind(x = 1:5, y = c(1, 2, 1, 3, 3)) |>
                                   `rownames<-`(c("A", "B", "C", "X", "Y")))
  )
})

test_that("among many units those of the episodes get higher rows", {
  few <- synfire:::episode_rows(planted(), chains(), "episodes", tall = TRUE)
  expect_equal(few$height, rep(1, 6))
  expect_equal(few$unit[order(-few$y)][1:5], c("A", "B", "C", "X", "Y"))
  x <- spike_trains(planted()$time, factor(planted()$unit, c(levels(planted()$unit), 1:60)),
                    start = 0, end = 3)
  many <- synfire:::episode_rows(x, chains(), "episodes", tall = TRUE)
  tall <- many$unit %in% c("A", "B", "C", "X", "Y")
  expect_equal(unique(many$height[tall]), 3)
  expect_equal(unique(many$height[!tall]), 1)
  # Rows lie side by side, without gaps.
  o <- order(many$y)
  expect_equal(diff(many$y[o]), (many$height[o][-1] + many$height[o][-66]) / 2)
  expect_equal(min(many$y - many$height / 2), 0.5)
  p <- ggplot2::autoplot(chains(), type = "raster", episodes = 2, recording = x)
  expect_equal(p$scales$get_scales("y")$labels, c("A", "B", "C", "X", "Y"))
  expect_silent(ggplot2::ggplot_build(p))
})

test_that("of many units a raster draws those of the episodes and some of the others", {
  skip_if_not_installed("ggplot2")
  set.seed(1)
  n <- 300
  x <- spike_trains(
    c(1:20 / 2, 1:20 / 2 + 0.003, stats::runif(900, 0, 11)),
    factor(c(rep("a", 20), rep("b", 20), sample(1:n, 900, TRUE)), c(1:n, "a", "b")), 0, 11
  )
  table <- data.frame(unit = levels(x$unit), x = seq_len(n + 2), y = 0,
                      area = rep(c("V1", "CA1"), length.out = n + 2))
  unit_table(x) <- table
  found <- mine_episodes(x, 15, c(0, 0.005), threads = 1)
  rows <- \(...) {
    plot <- ggplot2::autoplot(found, type = "raster", ...)
    diff(plot$coordinates$limits$y)
  }
  expect_identical(length(drawn_units(x, c("a", "b"), NULL)), 42L)
  expect_identical(drawn_units(x, "a", 0), "a")
  expect_setequal(drawn_units(x, "a", Inf), levels(x$unit))
  # By area, and in it by position.
  others <- drawn_units(x, c("a", "b"), Inf)[-(1:2)]
  expect_identical(others[c(1, n / 2, n / 2 + 1)], c("2", "300", "1"))
  expect_lt(rows(), rows(others = Inf))
  expect_match(ggplot2::autoplot(found, type = "raster")$scales$get_scales("y")$name,
               "2 of the episodes and 40 of 300 others")
  expect_error(rows(others = -1), "`others` must be", class = "synfire_error_argument")
  skip_if_not_installed("igraph")
  network <- ggplot2::autoplot(found, type = "network")
  expect_match(network$labels$caption, "where they lie")
  expect_identical(network$scales$get_scales("fill")$name, "Area")
})

test_that("theme and colours are there for other pictures", {
  skip_if_not_installed("ggplot2")
  expect_s3_class(theme_synfire(14), "theme")
  expect_identical(synfire_colours(3), unname(synfire_colours()[c("blue", "orange", "green")]))
  expect_length(unique(synfire_colours(9, "counts")), 9L)
  expect_error(synfire_colours(0), "`n` must be", class = "synfire_error_argument")
  expect_error(theme_synfire(-1), "`base_size` must be", class = "synfire_error_argument")
})
