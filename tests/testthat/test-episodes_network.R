# A table with counts, by hand: a step that comes twice, one in two intervals, A to A.
small_table <- function() {
  x <- c(
    episode("A", numeric(), numeric()), episode("D", numeric(), numeric()),
    episode(c("A", "B"), 0, 0.005), episode(c("A", "B"), 0.005, 0.010),
    episode(c("A", "A"), 0, 0.005), episode(c("A", "B", "C"), 0, 0.005),
    episode(c("A", "B", "A", "B"), 0, 0.005)
  )
  x$count <- c(90L, 80L, 40L, 12L, 9L, 30L, 5L)
  x
}

edge <- function(steps, from, to, low) {
  steps[steps$from == from & steps$to == to & steps$low == low, ]
}

test_that("a step is a pair of units and an interval, whatever episodes it is in", {
  steps <- synfire:::episode_steps(small_table())
  expect_equal(nrow(steps), 5L)
  expect_false(any(duplicated(steps[c("from", "to", "low", "high")])))
  expect_equal(edge(steps, "A", "B", 0)[c("count", "episodes", "size")],
               data.frame(count = 40, episodes = 3L, size = 4L), ignore_attr = TRUE)
  expect_equal(edge(steps, "A", "B", 0.005)[c("high", "count", "episodes", "size")],
               data.frame(high = 0.010, count = 12, episodes = 1L, size = 2L),
               ignore_attr = TRUE)
  expect_equal(edge(steps, "A", "A", 0)$count, 9)
  expect_equal(edge(steps, "B", "C", 0)$count, 30)
  expect_equal(edge(steps, "B", "A", 0)[c("count", "episodes")],
               data.frame(count = 5, episodes = 1L), ignore_attr = TRUE)
})

test_that("units whose names look like pasted keys stay apart", {
  x <- c(episode(c("A B", "C"), 0, 0.005), episode(c("A", "B C"), 0, 0.005),
         episode(c("A 0", "1"), 0, 0.005), episode(c("A", "0 1"), 0, 0.005))
  expect_equal(nrow(synfire:::episode_steps(x)), 4L)
})

test_that("the graph has the steps as edges and the units as vertices", {
  skip_if_not_installed("igraph")
  g <- igraph::as.igraph(small_table())
  expect_true(igraph::is_directed(g))
  expect_setequal(igraph::V(g)$name, c("A", "B", "C", "D"))
  expect_equal(igraph::ecount(g), 5)
  expect_equal(igraph::degree(g, "D")[[1L]], 0)
  expect_equal(sum(igraph::which_loop(g)), 1)
  expect_equal(sum(igraph::which_multiple(g)), 1)
  expect_true(all(is.na(igraph::V(g)$spikes)))
  frame <- igraph::as_data_frame(g)
  expect_equal(frame$count[frame$from == "B" & frame$to == "C"], 30)
})

test_that("vertices follow the recording and know their spikes", {
  skip_if_not_installed("igraph")
  x <- spike_trains(c(0.001, 0.003, 0.021, 0.023, 0.030), c("Z", "A", "Z", "A", "silent"),
                    start = 0, end = 1)
  x <- spike_trains(x$time, factor(x$unit, c("Z", "silent", "A")), start = 0, end = 1)
  g <- igraph::as.igraph(mine_episodes(x, min_count = 2, intervals = c(0, 0.005), threads = 1))
  expect_equal(igraph::V(g)$name, c("Z", "A"))
  expect_equal(igraph::V(g)$spikes, c(2, 2))
  expect_equal(igraph::E(g)$count, 2)
})

test_that("uncounted episodes and tables of single units make graphs too", {
  skip_if_not_installed("igraph")
  g <- igraph::as.igraph(episode(c("A", "B"), 0, 0.005))
  expect_equal(igraph::E(g)$count, NA_real_)
  expect_equal(igraph::E(g)$episodes, 1)
  expect_equal(igraph::ecount(igraph::as.igraph(small_table()[1:2, ])), 0)
  expect_equal(igraph::vcount(igraph::as.igraph(small_table()[1:2, ])), 2)
  expect_equal(igraph::vcount(igraph::as.igraph(small_table()[0, ])), 0)
})

# ---- Drawing ----

test_that("the network draws the steps with the highest counts, those of chains first", {
  skip_if_not_installed("igraph")
  p <- ggplot2::autoplot(small_table(), type = "network", edges = 2)
  drawn <- unique(p$layers[[1L]]$data[c("from", "to", "low", "weight")])
  expect_setequal(paste(drawn$from, drawn$to), c("A B", "B C"))
  expect_equal(sort(drawn$weight), c(30, 40))
  expect_match(p$labels$caption, "2 of 5 steps")
  # A to A is frequenter than B to A, but no episode of three units has it.
  third <- ggplot2::autoplot(small_table(), type = "network", edges = 3)
  expect_true("B A" %in% with(third$layers[[1L]]$data, paste(from, to)))
})

test_that("edges end at the circles, not in them, and every unit has its label", {
  skip_if_not_installed("igraph")
  p <- ggplot2::autoplot(small_table(), type = "network")
  labels <- p$layers[[3L]]$data
  expect_setequal(labels$label, c("A", "B", "C"))
  circle <- p$layers[[2L]]$data
  radius <- max(circle$x[circle$unit == 1]) - mean(range(circle$x[circle$unit == 1]))
  lines <- p$layers[[1L]]$data
  for (i in seq_len(nrow(labels))) {
    distance <- sqrt((lines$x - labels$x[[i]])^2 + (lines$y - labels$y[[i]])^2)
    ends <- lines$from == labels$label[[i]] | lines$to == labels$label[[i]]
    expect_true(all(distance[ends] > 0.99 * radius))
  }
  expect_gt(min(dist(labels[c("x", "y")])), 2 * radius)
})

test_that("colour is the interval where there are several, else the count", {
  skip_if_not_installed("igraph")
  several <- ggplot2::autoplot(small_table(), type = "network")
  expect_equal(levels(several$layers[[1L]]$data$interval), c("(0, 5]", "(5, 10]"))
  expect_s3_class(several$scales$get_scales("colour"), "ScaleDiscrete")
  one <- ggplot2::autoplot(small_table()[c(3, 6), ], type = "network")
  expect_s3_class(one$scales$get_scales("colour"), "ScaleContinuous")
  expect_match(one$labels$caption, "Delay (0, 5] ms.", fixed = TRUE)
  expect_silent(ggplot2::ggplot_build(several))
  expect_silent(ggplot2::ggplot_build(one))
})

test_that("the strongest step is drawn last", {
  skip_if_not_installed("igraph")
  data <- ggplot2::layer_data(ggplot2::autoplot(small_table(), type = "network"), 1L)
  width <- tapply(data$linewidth, data$group, unique)
  expect_equal(unname(which.max(width)), length(width))
  expect_equal(nrow(unique(data[c("group", "linewidth")])), 5L)
})

test_that("steps with nearly the same count are nearly as wide", {
  skip_if_not_installed("igraph")
  x <- c(episode(c("A", "B"), 0, 0.005), episode(c("B", "C"), 0, 0.005),
         episode(c("C", "D"), 0, 0.005))
  x$count <- c(1074L, 1075L, 107L)
  data <- ggplot2::layer_data(ggplot2::autoplot(x, type = "network"), 1L)
  width <- sort(tapply(data$linewidth, data$group, unique))
  expect_equal(width[[2L]] / width[[3L]], 1, tolerance = 0.01)
  expect_lt(width[[1L]] / width[[3L]], 0.25)
})

test_that("names are no larger than their circles", {
  skip_if_not_installed("igraph")
  names_of <- function(units) {
    x <- c(episode(units[1:2], 0, 0.005), episode(units[2:3], 0, 0.005))
    x$count <- c(20L, 10L)
    p <- ggplot2::autoplot(x, type = "network")
    is_text <- vapply(p$layers, \(layer) inherits(layer$geom, "GeomText"), NA)
    text <- p$layers[[which(is_text)]]
    circle <- ggplot2::layer_data(p, which(is_text) - 1L)
    list(size = text$aes_params$size, y = text$data$y,
         top = as.vector(tapply(circle$y, circle$group, max)))
  }
  short <- names_of(c("A", "B", "C"))
  expect_true(all(short$y < short$top))
  long <- names_of(c("left hemisphere 1", "motor cortex 2", "somewhere else 3"))
  expect_true(all(long$y > long$top))
})

test_that("the layout is the same each time and leaves random numbers alone", {
  skip_if_not_installed("igraph")
  set.seed(5)
  before <- .Random.seed
  a <- ggplot2::autoplot(small_table(), type = "network")
  expect_identical(.Random.seed, before)
  set.seed(6)
  b <- ggplot2::autoplot(small_table(), type = "network")
  expect_equal(a$layers[[3L]]$data, b$layers[[3L]]$data)
  random <- ggplot2::autoplot(small_table(), type = "network", layout = igraph::layout_with_fr)
  again <- ggplot2::autoplot(small_table(), type = "network", layout = igraph::layout_with_fr)
  expect_equal(random$layers[[3L]]$data, again$layers[[3L]]$data)
})

test_that("positions of electrodes can be given", {
  skip_if_not_installed("igraph")
  place <- rbind(C = c(300, 100), A = c(100, 100), B = c(100, 300))
  p <- ggplot2::autoplot(small_table(), type = "network", layout = place)
  at <- p$layers[[3L]]$data
  expect_equal(at$x[match(c("A", "B", "C"), at$label)], c(-1, -1, 1))
  expect_equal(at$y[match(c("A", "B", "C"), at$label)], c(-1, 1, -1))
  expect_error(ggplot2::autoplot(small_table(), type = "network", layout = place[-1, ]),
               "without \"C\"", class = "synfire_error_argument")
  expect_error(
    ggplot2::autoplot(small_table(), type = "network", layout = \(g) matrix(0, 1, 1)),
    class = "synfire_error_argument"
  )
  expect_error(ggplot2::autoplot(small_table(), type = "network", layout = sum),
               "`layout` must be a function that can lay out a graph", class = "synfire_error_argument")
  # Also of a picture that has no use for it.
  for (none in list(data.frame(), matrix(1, 3, 3), matrix("a", 3, 2))) {
    expect_error(ggplot2::autoplot(small_table(), layout = none), "`layout` must be",
                 class = "synfire_error_argument")
  }
})

test_that("a common beginning of names is left out, numbers stay whole", {
  shorten_labels <- function(names, what = "units", radius = 0.08) {
    synfire:::shorten_labels(names, radius, what)
  }
  expect_equal(shorten_labels(c("ch_12A", "ch_15A")),
               list(labels = c("12A", "15A"),
                    left_out = "Names of units begin with \"ch_\"."))
  expect_equal(shorten_labels(c("m1-cell-01-good", "m1-cell-02-good"), "series"),
               list(labels = c("01", "02"), left_out = paste(
                 "Names of series begin with \"m1-cell-\" and end with \"-good\"."
               )))
  expect_null(shorten_labels(c("A", "AB"))$left_out)
  expect_equal(shorten_labels(c("unit", "unit7"))$labels, c("t", "t7"))
  expect_equal(shorten_labels("ch_1")$labels, "ch_1")
})

test_that("numbers stand for long names of a small network, and its caption explains them", {
  units <- paste0(c("prefrontal", "hippocampus", "striatum")[(1:26 - 1) %% 3 + 1], "_probe_cluster_",
                  sprintf("%04d", 1:26 * 37))
  few <- synfire:::shorten_labels(units, 0.05)
  expect_identical(few$labels, as.character(1:26))
  expect_match(few$left_out, "^Numbers: 1=prefrontal.*, 26=hippocampus.*[.]$")
  # Of many units, some keep shorter names, and the caption says that others have none.
  many <- synfire:::shorten_labels(c(units, letters), 0.02)
  expect_lte(max(nchar(many$labels)), 12L)
  expect_identical(many$left_out, "Names that would cover others are left out.")
  # Names that fit into their circles stay.
  expect_identical(synfire:::shorten_labels(letters, 0.05)$labels, letters)
  skip_if_not_installed("ggplot2")
  place <- cbind(x = c(-1, 1), y = 0)
  layers <- synfire:::node_layers(place, 0.05, c("hippocampus", "striatum"))
  built <- ggplot2::ggplot_build(ggplot2::ggplot() + layers)
  reach <- range(built$data[[3L]]$x)
  expect_true(reach[[1L]] < -1.1 && reach[[2L]] > 1.1)
})

test_that("a network needs a step", {
  skip_if_not_installed("igraph")
  for (rows in list(1:2, integer())) {
    expect_message(drawn <- ggplot2::autoplot(small_table()[rows, ], type = "network"),
                   "(no network|nothing) to draw", class = "synfire_message_empty")
    expect_s3_class(drawn, "ggplot")
  }
})

test_that("arrows are no longer than the steps between close neighbours", {
  skip_if_not_installed("ggplot2")
  place <- rbind(a = c(0, 0), b = c(0.02, 0), c = c(1, 1))
  steps <- data.frame(from = c("a", "a"), to = c("b", "c"))
  curves <- synfire:::edge_curves(steps, place, synfire:::map_radius(place))
  arrow <- synfire:::edge_arrows(curves)
  drawn <- curves[curves$edge == 1, ]
  mm <- 50 * sqrt(diff(range(drawn$x))^2 + diff(range(drawn$y))^2)
  # The last edge is drawn first.
  length <- as.numeric(arrow$length)
  expect_identical(length[[1L]], 2.2)
  expect_lt(length[[2L]], 0.7 * mm)
  expect_gt(length[[2L]], 0.5 * mm)
})
