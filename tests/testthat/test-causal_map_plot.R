skip_if_not_installed("ggplot2")

layer_data_of <- function(plot, geom) {
  at <- which(vapply(plot$layers, \(l) inherits(l$geom, geom), NA))
  lapply(at, \(k) plot$layers[[k]]$data)
}

test_that("cells of the heat map are the map, causes across and effects down", {
  map <- made_map(12)
  order <- synfire:::map_order(map)
  expect_setequal(order$rows, 1:12)
  expect_identical(order$rows, order$columns)
  cells <- layer_data_of(ggplot2::autoplot(map), "GeomRaster")[[1]]
  expected <- as.matrix(map)
  diag(expected) <- NA
  expected <- unname(expected[order$rows, order$columns])
  expect_equal(cells$value, expected[cbind(cells$y, cells$x)])
  labels <- ggplot2::autoplot(map)$labels
  expect_match(labels$caption, "self prediction, left out")
})

test_that("alike series are next to each other", {
  # Two blocks, interleaved.
  block <- rep(1:2, 10)
  rho <- 0.1 + 0.6 * outer(block, block, "==")
  dimnames(rho) <- rep(list(paste0("s", 1:20)), 2)
  order <- synfire:::map_order(map_of(rho))$rows
  expect_equal(length(rle(block[order])$lengths), 2)
  # Libraries and targets that are not the same have orders of their own.
  part <- synfire:::map_order(map_of(rho[1:8, ]))
  expect_equal(length(rle(block[part$rows])$lengths), 2)
  expect_equal(length(rle(block[part$columns])$lengths), 2)
})

test_that("of many series a sample is clustered, and the others are beside the nearest", {
  block <- rep(1:3, length.out = 600)
  rho <- 0.1 + 0.2 * outer(block, block, "==") + 0.3 * outer(block == 1, block == 1)
  dimnames(rho) <- rep(list(paste0("s", 1:600)), 2)
  map <- map_of(rho)
  order <- synfire:::map_order(map)
  expect_equal(order$sampled, 500)
  expect_setequal(order$rows, 1:600)
  expect_equal(length(rle(block[order$rows])$lengths), 3)
  expect_match(ggplot2::autoplot(map)$labels$caption, "clustering of 500 series")
})

test_that("pixels are means of pairs of two series", {
  map <- made_map(11)
  order <- list(rows = 11:1, columns = c(4:11, 1:3), sampled = 0L)
  pixels <- synfire:::map_pixels(map, order, most = 4)
  expect_equal(pixels$width, 3)
  rho <- as.matrix(map)
  diag(rho) <- NA
  rho <- rho[order$rows, order$columns]
  for (k in seq_len(nrow(pixels$frame))) {
    near <- \(at) which(abs(1:11 - at) < 1.5)
    expect_equal(pixels$frame$value[[k]],
                 mean(rho[near(pixels$frame$y[[k]]), near(pixels$frame$x[[k]])], na.rm = TRUE))
  }
  local_blocked_maps()
  expect_equal(synfire:::map_pixels(blocked_map(map), order, most = 4), pixels)
})

test_that("groups are kept together, in their order", {
  map <- made_map(12)
  groups <- factor(rep(c("x", "y", "z"), 4), c("z", "x", "y"))
  found <- synfire:::check_groups(groups, rownames(map))
  order <- synfire:::map_order(map, found)
  expect_equal(as.character(groups[order$rows]), rep(c("z", "x", "y"), each = 4))
  lines <- layer_data_of(ggplot2::autoplot(map, groups = groups), "GeomVline")[[1]]
  expect_equal(lines$xintercept, c(4.5, 8.5))
  named <- rev(stats::setNames(groups, rownames(map)))
  expect_equal(synfire:::check_groups(named, rownames(map)), found)
  expect_error(ggplot2::autoplot(map, groups = 1:3), "a group for each of 12 series",
               class = "synfire_error_argument")
})

test_that("degrees are numbers of links above the threshold", {
  map <- made_map(12)
  rho <- as.matrix(map)
  diag(rho) <- NA
  found <- synfire:::map_degrees(map, 0.4)
  expect_equal(found$degree$out, colSums(rho > 0.4, na.rm = TRUE))
  expect_equal(found$degree[["in"]], rowSums(rho > 0.4, na.rm = TRUE))
  expect_equal(found$links, sum(rho > 0.4, na.rm = TRUE))
  bars <- ggplot2::autoplot(map, "degree", threshold = 0.4)$data
  out <- bars[grepl("^Out", bars$way), ]
  expect_equal(sum(out$series), 12)
  expect_equal(sum(out$series * out$degree), found$links)
  # A twentieth, to within ties and the cells of a histogram.
  twentieth <- synfire:::map_degrees(map, NULL)
  expect_equal(twentieth$links / 132, 0.05, tolerance = 0.2)
  links <- synfire:::map_degrees(made_links(), NULL)
  expect_equal(links$degree$out, c(a = 1, b = 1, c = 2, d = 0))
  expect_equal(links$degree[["in"]], c(a = 2, b = 1, c = 1, d = 0))
})

test_that("only series beyond chance are hubs", {
  degree <- stats::setNames(c(rep(2:4, 33), 60), paste0("s", 1:100))
  found <- list(links = sum(degree), pairs = 9900)
  hubs <- synfire:::degree_hubs(degree, 0:60, 1, found)
  expect_equal(hubs$name, "s100")
  expect_equal(hubs$degree, 60)
  expect_equal(nrow(synfire:::degree_hubs(degree[-100], 0:60, 1, found)), 0)
})

test_that("the asymmetry has a point for each pair, and squares when they are many", {
  p <- ggplot2::autoplot(made_map(12), "asymmetry")
  expect_equal(nrow(p$data), 66)
  expect_true(all(p$data$rho >= p$data$reverse))
  expect_length(layer_data_of(p, "GeomTile"), 0)
  names <- paste0("s", 1:110)
  many <- map_of(outer(1:110, 1:110, \(i, j) (i * 7 + j * 13) %% 17 / 17) |>
                   `dimnames<-`(list(names, names)))
  squares <- ggplot2::autoplot(many, "asymmetry")
  expect_length(layer_data_of(squares, "GeomTile"), 1)
  expect_silent(ggplot2::ggplot_build(squares))
})

test_that("dimensions are counted, and their skill is that of their series", {
  map <- made_map(12)
  p <- ggplot2::autoplot(map, "E")
  expect_equal(p$data$value[order(p$data$E)], c(3, 6, 3))
  skill <- layer_data_of(p, "GeomPointrange")[[1]]
  others <- as.matrix(map)
  diag(others) <- NA
  mean <- colMeans(others, na.rm = TRUE)[attr(map, "E") == 5]
  at <- skill$E == 5 & skill$by != "by themselves"
  expect_equal(unlist(skill[at, c("low", "middle", "high")], use.names = FALSE),
               unname(quantile(mean, c(0.25, 0.5, 0.75))))
  expect_equal(skill$middle[skill$by == "by themselves"], rep(0.97, 3))
})

test_that("arrows of the network go from cause to effect", {
  skip_if_not_installed("igraph")
  map <- made_map(12)
  p <- ggplot2::autoplot(map, "network", links = 9)
  curves <- layer_data_of(p, "GeomPath")[[1]]
  drawn <- unique(curves[c("from", "to", "weight")])
  top <- as.data.frame(map, max_links = 9)
  expect_equal(drawn, data.frame(from = top$cause, to = top$effect, weight = top$rho),
               ignore_attr = "row.names")
  expect_match(p$labels$caption, "from cause to effect. The 9 strongest")
  strong <- ggplot2::autoplot(map, "network", threshold = 0.6, links = 1000)
  expect_setequal(unique(layer_data_of(strong, "GeomPath")[[1]]$weight),
                  as.data.frame(map, threshold = 0.6)$rho)
  place <- cbind(1:12, (1:12)^2)
  rownames(place) <- rownames(map)
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(map, "network", layout = place)))
  expect_error(ggplot2::autoplot(map, "network", layout = 3), "`layout` must be a function",
               class = "synfire_error_argument")
  expect_silent(ggplot2::ggplot_build(
    ggplot2::autoplot(map, "network", groups = rep(c("a", "b"), 6))
  ))
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(made_links())))
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(made_links(), "degree")))
})

test_that("there is no picture of nothing", {
  one <- map_of(matrix(0.5, 1, 1, dimnames = list("a", "a")))
  none <- map_of(matrix(NA_real_, 3, 3, dimnames = rep(list(letters[1:3]), 2)),
                 E = rep(NA_integer_, 3))
  says <- c(heatmap = "No rho of two series is known", network = "No rho of two series is above 0",
            degree = "No rho of two series is known", asymmetry = "Of no pair", E = "No series")
  for (type in names(says)) {
    expect_message(p <- ggplot2::autoplot(none, type), says[[type]])
    expect_match(ggplot2::layer_data(p)$label, says[[type]])
    if (type != "E") expect_message(ggplot2::autoplot(one, type), says[[type]])
  }
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(one, "E")))
  expect_error(ggplot2::autoplot(one, "pie"), class = "synfire_error_argument")
})

test_that("maps read in blocks are drawn the same", {
  local_blocked_maps()
  map <- made_map(10)
  for (type in c("heatmap", "degree", "asymmetry", "E")) {
    a <- ggplot2::ggplot_build(ggplot2::autoplot(map, type))$data
    b <- ggplot2::ggplot_build(ggplot2::autoplot(blocked_map(map), type))$data
    expect_equal(a, b)
  }
})

test_that("three thousand series are drawn as at most 400 by 400 squares", {
  skip_on_cran()
  names <- paste0("s", 1:3000)
  map <- map_of(matrix(rep_len(sin(1:1e4), 9e6), 3000, dimnames = list(names, names)))
  built <- ggplot2::ggplot_build(ggplot2::autoplot(map))
  expect_lte(nrow(built$data[[1]]), 400^2)
})

test_that("pictures look as they did", {
  skip_if_not_installed("vdiffr")
  map <- made_map(12)
  groups <- rep(c("left", "middle", "right"), each = 4)
  vdiffr::expect_doppelganger("map", ggplot2::autoplot(map))
  vdiffr::expect_doppelganger("map-asymmetry", ggplot2::autoplot(map, "asymmetry"))
  before <- map
  rho <- as.matrix(map)
  rho[5:8, ] <- rho[5:8, ] - 0.2
  after <- map_of(rho)
  vdiffr::expect_doppelganger(
    "map-change", ggplot2::autoplot(compare_maps(before, after, groups = groups))
  )
})

test_that("degrees of a map whose pairs are all without links are drawn", {
  skip_if_not_installed("ggplot2")
  set.seed(1)
  x <- cbind(rnorm(30), rnorm(30))
  map <- causal_map(x, E = 3, threads = 2)
  degrees <- ggplot2::ggplot_build(plot(map, type = "degree", threshold = 1))
  expect_gt(nrow(degrees$data[[1L]]), 0)
})
