# What is done with maps of S-maps: tables, summaries, pictures.

example_map <- function() smap_map(ring_series(5, 120), E = 2, threads = 1)

test_that("a map prints on one screen", {
  map <- example_map()
  lines <- capture.output(print(map))
  expect_lte(length(lines), 24L)
  expect_match(lines[[1L]], "Map of S-maps: 5 libraries x 5 targets", fixed = TRUE)
  expect_match(lines, "theta 2", all = FALSE)
  expect_identical(format(map), lines[1:5])
  few <- capture.output(print(map, n = 2))
  expect_match(few, "the first 2 x 2", all = FALSE)
  expect_identical(withVisible(print(map))$visible, FALSE) |> capture.output()
  expect_match(format(smap_map(ring_series(2, 60), E = 2, ridge = 0.5, threads = 1)),
               "ridge 0.5", all = FALSE)
})

test_that("parts of a map are maps", {
  map <- example_map()
  part <- map[c("s3", "s1"), -1]
  expect_s3_class(part, "smap_map")
  expect_identical(part$strength, map$strength[c("s3", "s1"), -1])
  expect_identical(attr(part, "E"), attr(map, "E")[-1])
  expect_identical(dim(map[2, ]), c(1L, 5L))
  expect_identical(map[], map)
  expect_error(map[2], "`map\\[i, \\]`", class = "synfire_error_argument")
  expect_error(map["s9", 1], "s9", class = "synfire_error_argument")
})

test_that("a table has a row for each pair", {
  map <- example_map()
  all <- as.data.frame(map)
  expect_named(all, c("library", "target", "rho", "strength"))
  expect_identical(nrow(all), 20L)
  at <- cbind(all$library, all$target)
  expect_identical(all$rho, map$rho[at])
  expect_identical(all$strength, map$strength[at])
  expect_identical(unique(all$library), colnames(map$rho))
  own <- as.data.frame(map, diagonal = TRUE)
  expect_identical(nrow(own), 25L)
  best <- as.data.frame(map, max_links = 3)
  expect_identical(best$rho, sort(all$rho, decreasing = TRUE)[1:3])
  above <- as.data.frame(map, threshold = 0.2)
  expect_identical(above$rho, all$rho[all$rho > 0.2])
  expect_identical(row.names(as.data.frame(map[1, 2], row.names = "one")), "one")
  expect_error(as.data.frame(map, threshold = "a"), class = "synfire_error_argument")
})

test_that("the summary is of the pairs of two series", {
  map <- example_map()
  found <- summary(map, n = 4)
  pairs <- as.data.frame(map)
  expect_identical(c(found$pairs, found$missing), c(20, 0))
  expect_equal(found$skill[["mean"]], mean(pairs$rho))
  expect_equal(found$strength, c(mean = mean(pairs$strength),
                                 quantile(pairs$strength, c(0, 0.25, 0.5, 0.75, 0.95, 1))))
  expect_equal(found$positive, mean(pairs$strength > 0))
  expect_equal(found$self, median(diag(map$rho)))
  best <- as.data.frame(map, max_links = 4)
  expect_identical(found$links[names(best)], best)
  expect_identical(found$links$reverse, map$rho[cbind(best$target, best$library)])
  expect_output(print(found), "Highest skill")
  expect_output(print(summary(smap_map(cbind(a = 1:9 * 0, b = 1), E = 1, threads = 1))),
                "2 pairs of two series, 2 without a rho")
})

test_that("pictures show skill and signed strength", {
  skip_if_not_installed("ggplot2")
  map <- example_map()
  skill <- ggplot2::autoplot(map)
  strength <- ggplot2::autoplot(map, type = "strength", groups = rep(c("a", "b"), c(2, 3)))
  drawn <- function(plot) ggplot2::layer_data(plot, 1)
  expect_identical(nrow(drawn(skill)), 25L)
  cells <- strength$layers[[1L]]$data
  expect_equal(sort(cells$value), sort(as.data.frame(map)$strength))
  colours <- drawn(strength)$fill
  # What is positive and what is negative have different sides of the scale.
  red <- \(colour) grDevices::col2rgb(colour)["red", ] > grDevices::col2rgb(colour)["blue", ]
  known <- !is.na(cells$value) & abs(cells$value) > 0.1
  expect_identical(unname(red(colours[known])), cells$value[known] > 0)
  expect_message(ggplot2::autoplot(smap_map(cbind(a = 1:9 * 0, b = 1), E = 1, threads = 1)),
                 "No rho of two series is known")
  expect_error(ggplot2::autoplot(map, groups = 1:3), class = "synfire_error_argument")
})

test_that("a map changed by hand is refused", {
  map <- example_map()
  broken <- map
  broken$strength <- NULL
  expect_error(print(broken), "changed since", class = "synfire_error_argument")
  broken <- map
  broken$rho <- broken$rho[-1, ]
  expect_error(summary(broken), "smap_map()", class = "synfire_error_argument")
  broken <- map
  broken$rho[] <- "a"
  expect_error(as.data.frame(broken), "matrix of numbers", class = "synfire_error_argument")
})
