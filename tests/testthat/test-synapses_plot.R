# Pictures of connections.

layers_with <- function(plot, geom) {
  data <- ggplot2::ggplot_build(plot)$data
  data[vapply(plot$layers, \(layer) inherits(layer$geom, geom), NA)]
}

test_that("the matrix has a square for each ordered pair, and signs for what is no connection", {
  skip_if_not_installed("ggplot2")
  x <- made_synapses()
  p <- ggplot2::autoplot(x)
  squares <- p$layers[[1]]$data
  expect_identical(nrow(squares), 144L)
  m <- as.matrix(x)
  expect_identical(squares$strength, as.vector(m))
  # The first unit stands on top, those that a connection comes from in rows.
  drawn <- layers_with(p, "GeomRaster")[[1]]
  strong <- drawn[which.max(squares$strength), ]
  expect_equal(c(strong$x, strong$y), c(2, -1))
  expect_identical(nrow(layers_with(p, "GeomPoint")[[1]]), 4L)
  expect_match(p$labels$caption, "Grey: not tested")
  none <- ggplot2::autoplot(made_synapses(rows = integer()))
  expect_match(none$labels$caption, "No connection is supported")
  expect_no_error(ggplot2::ggplot_build(none))
})

test_that("connections of very many units are dots, and units that were not tested bands", {
  skip_if_not_installed("ggplot2")
  local_function("most_squares", 10L)
  p <- ggplot2::autoplot(made_synapses())
  dots <- layers_with(p, "GeomPoint")[[1]]
  expect_equal(dots$x, c(2, 3, 6, 7, 4))
  expect_equal(dots$y, -c(1, 2, 5, 6, 3))
  expect_length(layers_with(p, "GeomRect"), 2)
  expect_match(p$labels$caption, "Grey: not tested")
})

test_that("the scale of the matrix has the signs that are there", {
  skip_if_not_installed("ggplot2")
  limits <- \(rows) ggplot2::autoplot(made_synapses(rows = rows))$scales$get_scales("fill")$limits
  expect_equal(sign(limits(1:5)), c(-1, 1))
  expect_equal(sign(limits(1:3)), c(0, 1))
  expect_equal(sign(limits(4:5)), c(-1, 0))
})

test_that("the network has an arrow for each connection, by sign, on the probe where it is known", {
  skip_if_not_installed("igraph")
  p <- ggplot2::autoplot(made_synapses(), type = "network")
  lines <- layers_with(p, "GeomPath")
  expect_length(lines, 2)
  edges <- vapply(lines, \(l) length(unique(l$group)), 0L)
  expect_identical(edges, 3:2)
  expect_identical(unique(lines[[1]]$colour), "#D55E00")
  expect_identical(unique(lines[[2]]$colour), "#0072B2")
  # A bar at the end of inhibition.
  arrows <- lapply(p$layers[1:2], \(l) l$geom_params$arrow$angle)
  expect_identical(arrows, list(22, 90))
  expect_match(p$labels$caption, "5 connections. A bar at the end is inhibition.\nWithout a connection: 4 units more")
  expect_identical(nrow(layers_with(p, "GeomText")[[1]]), 7L)
  few <- ggplot2::autoplot(made_synapses(), type = "network", edges = 2)
  expect_match(few$labels$caption, "The clearest 2 of 5 connections.")
  placed <- ggplot2::autoplot(made_synapses(places = TRUE), type = "network")
  expect_match(placed$labels$caption, "Units stand where they lie")
  at <- layers_with(placed, "GeomText")[[1]]
  units <- attr(made_synapses(places = TRUE), "units")
  truth <- units[match(at$label, units$unit), ]
  expect_equal(cor(at$x, truth$x), 1)
  expect_equal(cor(at$y, truth$y), 1)
})

test_that("correlograms have the counts, the baseline, its band and the window of each pair", {
  skip_if_not_installed("ggplot2")
  x <- made_synapses()
  p <- ggplot2::autoplot(x, type = "correlograms")
  bars <- layers_with(p, "GeomCol")[[1]]
  expect_identical(length(unique(bars$PANEL)), 5L)
  # The clearest first: z of n01 -> n02 is the largest.
  counts <- attr(x, "correlograms")[, 1]
  lag <- seq(-80, 80) / 2
  near <- abs(lag) <= 25
  expect_equal(bars$y[bars$PANEL == 1], counts[near])
  expect_equal(bars$x[bars$PANEL == 1], lag[near])
  base <- layers_with(p, "GeomLine")[[1]]
  expect_equal(base$y[base$PANEL == 1], attr(x, "baseline")[near, 1])
  band <- layers_with(p, "GeomRibbon")[[1]]
  expect_equal(band$ymax[band$PANEL == 1], qpois(0.975, attr(x, "baseline")[near, 1]))
  windows <- layers_with(p, "GeomRect")[[1]]
  expect_equal(windows$xmin[[1]], 1e3 * attr(x, "windows")[1, 1], ignore_attr = TRUE)
  expect_setequal(unique(bars$fill), lighten(c("#D55E00", "#0072B2")))
  one <- ggplot2::autoplot(x, type = "correlograms", n = 1)
  expect_match(one$labels$caption, "1 of 5 connections")
  # An order of the user's is kept; without connections, all rows are drawn.
  expect_identical(levels(ggplot2::autoplot(x[5:1, ], type = "correlograms", n = 2)$data$panel),
                   c("n03 -| n04", "n06 -| n07"))
  other <- ggplot2::autoplot(x[6:10, ], type = "correlograms")
  expect_setequal(levels(other$data$panel),
                  c("n01 -> n03 (explained)", "n08 -- n10 (common input)", "n09 -- n11 (same cell)",
                    "n01 -- n10 (wide)", "n02 -> n12 (refused)"))
})

test_that("strength is drawn over distance where locations are known", {
  skip_if_not_installed("ggplot2")
  x <- made_synapses(places = TRUE)
  p <- ggplot2::autoplot(x, type = "distance")
  expect_equal(p$data$distance, x$distance[1:5])
  expect_equal(p$data$low, x$strength_low[1:5])
  expect_error(ggplot2::autoplot(made_synapses(), type = "distance"), "`type` must be",
               class = "synfire_error_argument")
})

test_that("where there is no connection, the picture and a message say so", {
  skip_if_not_installed("igraph")
  none <- made_synapses(places = TRUE, rows = integer())
  for (type in c("network", "correlograms", "distance")) {
    expect_message(p <- ggplot2::autoplot(none, type = type), "No connection is supported",
                   class = "synfire_message_empty")
    expect_silent(ggplot2::ggplot_build(p))
  }
  expect_message(ggplot2::autoplot(made_synapses(rows = integer(), judged = FALSE), "network"),
                 "cannot be told from bursts")
  expect_message(ggplot2::autoplot(made_synapses()[0, ], "network"), "No row of the table")
})

test_that("arguments are checked", {
  skip_if_not_installed("ggplot2")
  x <- made_synapses()
  for (bad in list(list(type = "raster"), list(n = 0), list(n = 101), list(edges = 0.5),
                   list(layout = 1), list(layout = igraph::layout_in_circle), list(links = 3))) {
    expect_error(do.call(ggplot2::autoplot, c(list(x), bad)), paste0("`", names(bad), "` must be"),
                 class = "synfire_error_argument")
  }
})

test_that("pictures look as they did", {
  skip_if_not_installed("vdiffr")
  skip_if_not_installed("igraph")
  # Other versions draw the same with other coordinates.
  skip_if(packageVersion("ggplot2")[, 1:2] != "3.4", "pictures were made with ggplot2 3.4")
  x <- made_synapses(places = TRUE)
  for (type in c("matrix", "network", "correlograms", "distance")) {
    vdiffr::expect_doppelganger(type, ggplot2::autoplot(x, type = type))
  }
})

# ---- Episodes ----

test_that("the network of episodes marks steps that are also connections", {
  skip_if_not_installed("igraph")
  found <- c(episode(c("n01", "n02"), 0, 0.005), episode(c("n01", "n02"), 0.005, 0.010),
             episode(c("n06", "n07"), 0, 0.005), episode(c("n01", "n12"), 0, 0.005),
             episode(c("n01", "n03"), 0, 0.005), episode(c("n01", "n01"), 0, 0.005))
  found$count <- 60L - 1:6
  connections <- made_synapses()
  # The peak at 2 ms lies in the first interval alone; inhibition and what is explained are none.
  expect_identical(steps_connected(episode_steps(found), connections),
                   c("yes", "no", "no", "not tested", "no", "not tested"))
  p <- ggplot2::autoplot(found, type = "network", connections = connections)
  drawn <- unique(p$layers[[1]]$data[c("from", "to", "low", "linked")])
  expect_identical(sum(drawn$linked == "yes"), 1L)
  expect_match(p$labels$caption, "1 of 4 tested steps is also a connection. Not tested: 2 steps.")
  expect_silent(ggplot2::ggplot_build(p))
  without <- ggplot2::autoplot(found, type = "network")
  expect_null(without$scales$get_scales("linetype"))
  expect_error(ggplot2::autoplot(found, connections = 1), "`connections` must be",
               class = "synfire_error_argument")
  other <- episode(c("A", "B"), 0, 0.005)
  other$count <- 5L
  expect_error(ggplot2::autoplot(other, connections = connections), "without the unit \"A\"",
               class = "synfire_error_argument")
})
