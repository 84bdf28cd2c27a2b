test_that("a part of a map is a map of that part, with all that is known of it", {
  map <- made_map(6, lag = TRUE, p_value = TRUE, convergence = TRUE)
  part <- map[c("s4", "s1"), 2:4]
  expect_s3_class(part, "causal_map")
  expect_equal(dim(part), c(2L, 3L))
  expect_equal(as.matrix(part), as.matrix(map)[c(4, 1), 2:4])
  for (layer in c("lag", "p_value", "convergence")) {
    expect_equal(attr(part, layer), attr(map, layer)[c(4, 1), 2:4])
  }
  expect_equal(attr(part, "E"), c(s2 = 2L, s3 = 5L, s4 = 3L))
  expect_equal(attr(map[, c("s4", "s1")], "E"), c(s4 = 3L, s1 = 3L))
  for (about in c("parameters", "call", "elapsed", "device")) {
    expect_identical(attr(part, about), attr(map, about))
  }
  expect_equal(dim(map[-1, ]), c(5L, 6L))
  expect_equal(dim(map[c(TRUE, FALSE), ]), c(3L, 6L))
  expect_identical(map[], map)
})

test_that("what is no matrix is plain", {
  map <- made_map(6)
  plain <- as.matrix(map)
  expect_identical(attributes(plain), list(dim = c(6L, 6L), dimnames = dimnames(map)))
  expect_identical(map[2, ], plain[2, ])
  expect_identical(map[, 2], plain[, 2])
  expect_identical(map["s1", "s2"], plain["s1", "s2"])
  expect_identical(map[3:5], plain[3:5])
  expect_identical(map[map > 0.5], plain[plain > 0.5])
  expect_identical(map[cbind(1:2, 3:4)], plain[cbind(1:2, 3:4)])
  expect_s3_class(map[2, , drop = FALSE], "causal_map")
  expect_identical(t(map), t(plain))
  expect_identical(map - map, plain - plain)
  expect_identical(-map, -plain)
  expect_identical(round(map, 1), round(plain, 1))
  expect_error(map["nobody", 1])
})

test_that("a map is printed on one screen that says which way it points", {
  map <- made_map(12, lag = TRUE)
  out <- capture.output(print(map))
  expect_lte(length(out), 14)
  expect_match(out, "12 libraries x 12 targets", all = FALSE)
  expect_match(out, "j (column) may cause i (row)", fixed = TRUE, all = FALSE)
  expect_match(out, "E 2 to 5, median 3; tau -1, Tp 0", fixed = TRUE, all = FALSE)
  expect_match(out, "cpu, 1.3 s (dimensions 0.5 s, map 0.8 s)", fixed = TRUE, all = FALSE)
  expect_match(out, "With lag", all = FALSE)
  expect_match(out, "the first 6 x 6", all = FALSE)
  expect_false(any(grepl("the first", capture.output(print(map[1:2, 1:2])))))
  expect_equal(format(map), out[seq_along(format(map))])
})

test_that("the table has a row for each pair, in the order of the map", {
  map <- made_map(6, lag = TRUE, p_value = TRUE, convergence = TRUE)
  expect_equal(as.data.frame(map)[1:3], slow_links(map))
  all <- as.data.frame(map, diagonal = TRUE)
  expect_equal(all[1:3], slow_links(map, diagonal = TRUE))
  expect_named(all, c("cause", "effect", "rho", "lag", "p_value", "convergence"))
  at <- cbind(all$effect, all$cause)
  for (layer in c("lag", "p_value", "convergence")) {
    expect_equal(all[[layer]], attr(map, layer)[at])
  }
  expect_equal(as.data.frame(map[2:3, 3:6])[1:3], slow_links(map[2:3, 3:6]),
               ignore_attr = "row.names")
})

test_that("the table keeps what is within limits", {
  map <- made_map(8, p_value = TRUE)
  rho <- as.matrix(map)
  rho[2, 3] <- NA
  map <- map_of(rho, p_value = attr(map, "p_value"))
  all <- as.data.frame(map)
  expect_equal(nrow(all), 56)
  expect_equal(sum(is.na(all$rho)), 1)
  plain <- function(x) `row.names<-`(x, NULL)
  expect_equal(as.data.frame(map, threshold = 0.4), plain(all[which(all$rho > 0.4), ]))
  expect_equal(as.data.frame(map, alpha = 0.1),
               plain(all[which(all$p_value <= 0.1 & !is.na(all$rho)), ]))
  sorted <- all[order(-all$rho), ]
  for (n in c(1, 7, 55)) {
    expect_equal(as.data.frame(map, max_links = n), plain(sorted[seq_len(n), ]))
  }
  expect_equal(nrow(as.data.frame(map, max_links = 1000)), 55)
  expect_equal(nrow(as.data.frame(map, threshold = 2)), 0)
  expect_named(as.data.frame(map, threshold = 2), c("cause", "effect", "rho", "p_value"))
  expect_error(as.data.frame(made_map(3), alpha = 0.1), "map without p values",
               class = "synfire_error_argument")
  expect_error(as.data.frame(map, max_links = 0), class = "synfire_error_argument")
  expect_error(as.data.frame(map, threshhold = 0.1))
})

test_that("links are found in the same order whatever the blocks", {
  local_blocked_maps()
  # Ties all over.
  rho <- matrix(rep(c(0.1, 0.5, 0.3, 0.5), 25), 10, 10, dimnames = rep(list(letters[1:10]), 2))
  map <- map_of(rho)
  for (n in c(3, 20, 50)) {
    expect_identical(as.data.frame(blocked_map(map), max_links = n),
                     as.data.frame(map, max_links = n))
  }
  sorted <- slow_links(map)
  sorted <- sorted[order(-sorted$rho), ]
  expect_equal(as.data.frame(map, max_links = 20), sorted[1:20, ], ignore_attr = "row.names")
})

test_that("links print, are taken in part and become plain", {
  links <- made_links()
  out <- capture.output(print(links))
  expect_match(out, "4 links among 4 series", all = FALSE)
  expect_match(out, "the history of the effect predicts the cause", all = FALSE)
  strongest <- grep("^ +c +b +0.7", out)
  expect_length(strongest, 1)
  expect_match(out[[strongest - 1]], "cause effect")
  expect_match(capture.output(print(links, n = 1)), "and 3 more", all = FALSE)
  strong <- subset(links, rho > 0.55)
  expect_s3_class(strong, "causal_links")
  expect_equal(strong$effect, c("b", "a"))
  expect_equal(attr(strong, "series"), c("a", "b", "c", "d"))
  expect_identical(class(links[c("effect", "rho")]), "data.frame")
  expect_identical(links$rho, c(0.5, 0.7, 0.2, 0.6))
  plain <- as.data.frame(links)
  expect_identical(class(plain), "data.frame")
  expect_named(attributes(plain), c("names", "row.names", "class"))
})

test_that("the summary agrees with its definitions", {
  map <- made_map(12, lag = TRUE)
  rho <- as.matrix(map)
  other <- rho
  diag(other) <- NA
  about <- summary(map, n = 4)
  expect_equal(about$pairs, 132)
  expect_equal(about$missing, 0)
  expect_equal(about$skill[c("mean", "0%", "100%")],
               c(mean = mean(other, na.rm = TRUE), "0%" = min(other, na.rm = TRUE),
                 "100%" = max(other, na.rm = TRUE)))
  quantiles <- quantile(other, c(0.25, 0.5, 0.75, 0.95), na.rm = TRUE, type = 1)
  expect_lt(max(abs(about$skill[names(quantiles)] - quantiles)), 0.0005)
  expect_equal(about$hubs$series, paste0("s", 1:12))
  expect_equal(about$hubs$drives, unname(colMeans(other, na.rm = TRUE)))
  expect_equal(about$hubs$driven, unname(rowMeans(other, na.rm = TRUE)))
  expect_equal(about$hubs$self, rep(0.97, 12))
  expect_equal(about$hubs$E, unname(attr(map, "E")))
  top <- order(-other, na.last = NA)[1:4]
  expect_equal(about$links$rho, other[top])
  expect_equal(about$links$cause, colnames(rho)[col(rho)[top]])
  expect_equal(about$links$effect, rownames(rho)[row(rho)[top]])
  expect_equal(about$links$reverse, t(other)[top])
  expect_equal(about$links$lag, attr(map, "lag")[top])
})

test_that("the strongest driver of a chain is its beginning", {
  # s1 drives s2: the library s2 tells the target s1.
  map <- map_of(rbind(c(1, 0.1), c(0.8, 1)) |> `dimnames<-`(rep(list(c("s1", "s2")), 2)))
  about <- summary(map)
  expect_equal(about$links[1, c("cause", "effect", "rho", "reverse")],
               data.frame(cause = "s1", effect = "s2", rho = 0.8, reverse = 0.1))
  expect_equal(about$asymmetry$cause, "s1")
  expect_equal(about$hubs$drives, c(0.8, 0.1))
  expect_match(capture.output(print(about)), "s1 +s2 0.8", all = FALSE)
})

test_that("one-sided pairs agree with their definition", {
  map <- made_map(9)
  rho <- as.matrix(map)
  slow <- list()
  for (i in 1:8) for (j in (i + 1):9) {
    cause <- if (rho[i, j] >= rho[j, i]) j else i
    effect <- if (cause == j) i else j
    slow[[length(slow) + 1]] <- data.frame(
      cause = paste0("s", cause), effect = paste0("s", effect), rho = rho[effect, cause],
      reverse = rho[cause, effect], difference = rho[effect, cause] - rho[cause, effect]
    )
  }
  slow <- do.call(rbind, slow)
  about <- summary(map, n = 36)
  key <- \(x) x[order(x$cause, x$effect), ]
  expect_equal(key(about$asymmetry), key(slow), ignore_attr = "row.names")
  expect_false(is.unsorted(-about$asymmetry$difference))
  expect_equal(about$agreement[["difference"]], mean(slow$difference))
  expect_equal(about$agreement[["correlation"]],
               cor(c(slow$rho, slow$reverse), c(slow$reverse, slow$rho)))
  expect_equal(about$agreement[["series"]], 9)
})

test_that("maps read in blocks give the same", {
  local_blocked_maps()
  map <- made_map(10, lag = TRUE, p_value = TRUE)
  blocked <- blocked_map(map)
  expect_identical(as.matrix(blocked), as.matrix(map))
  expect_identical(format(blocked), format(map))
  expect_equal(summary(blocked), summary(map))
  expect_identical(as.data.frame(blocked, alpha = 0.3), as.data.frame(map, alpha = 0.3))
  expect_identical(capture.output(print(blocked)), capture.output(print(map)))
  other <- blocked_map(map_of(as.matrix(map)^2))
  expect_equal(summary(compare_maps(blocked, other))[-(1:2)],
               summary(compare_maps(map, map_of(as.matrix(map)^2)))[-(1:2)])
})

test_that("libraries and targets need not be the same", {
  map <- made_map(8)[c("s7", "s2"), c("s2", "s3", "s4", "s7")]
  about <- summary(map)
  expect_equal(about$pairs, 6)
  expect_setequal(about$hubs$series, c("s7", "s2", "s3", "s4"))
  expect_equal(about$hubs$driven[about$hubs$series == "s3"], NA_real_)
  expect_equal(nrow(about$asymmetry), 1)
  expect_equal(about$links$reverse[about$links$cause == "s3"], rep(NA_real_, 2))
})

test_that("maps of one series, or without a rho, say so", {
  one <- map_of(matrix(0.5, 1, 1, dimnames = list("a", "a")))
  expect_equal(dim(one[1, 1, drop = FALSE]), c(1L, 1L))
  expect_equal(nrow(as.data.frame(one)), 0)
  expect_equal(as.data.frame(one, diagonal = TRUE)$rho, 0.5)
  expect_match(capture.output(print(summary(one))), "0 pairs of two series", all = FALSE)
  none <- map_of(matrix(NA_real_, 3, 3, dimnames = rep(list(letters[1:3]), 2)),
                 E = rep(NA_integer_, 3))
  about <- summary(none)
  expect_equal(about$missing, 6)
  expect_true(all(is.na(about$skill)))
  expect_false(any(is.nan(unlist(about$hubs[-1]))))
  expect_match(capture.output(print(about)), "6 without a rho", all = FALSE)
  expect_match(capture.output(print(none)), "NA NA NA", all = FALSE)
  expect_equal(nrow(as.data.frame(none, threshold = -1)), 0)
})

test_that("the summary of links counts them", {
  about <- summary(made_links())
  expect_equal(about$hubs$drives, c(1, 1, 2, 0))
  expect_equal(about$hubs$driven, c(2, 1, 1, 0))
  expect_equal(about$links$cause, c("c", "c", "b", "a"))
  expect_equal(about$links$reverse, c(NA, 0.2, NA, 0.6))
  expect_equal(about$skill[["mean"]], 0.5)
  expect_match(capture.output(print(about)), "number of links", all = FALSE)
})

test_that("graphs point from cause to effect", {
  skip_if_not_installed("igraph")
  map <- made_map(6, lag = TRUE, p_value = TRUE)
  graph <- igraph::as.igraph(map)
  expect_true(igraph::is_directed(graph))
  expect_equal(igraph::ecount(graph), 30)
  expect_equal(igraph::V(graph)$name, rownames(map))
  expect_equal(igraph::V(graph)$E, unname(attr(map, "E")))
  edges <- igraph::as_data_frame(graph)
  at <- cbind(edges$to, edges$from)
  expect_equal(edges$weight, as.matrix(map)[at])
  expect_equal(edges$lag, attr(map, "lag")[at])
  expect_equal(edges$p_value, attr(map, "p_value")[at])
  expect_error(igraph::as.igraph(map, threshold = NULL), "`threshold` must be",
               class = "synfire_error_argument")
  few <- igraph::as.igraph(map, max_links = 3, threshold = 0.2)
  expect_equal(igraph::E(few)$weight, as.data.frame(map, max_links = 3)$rho)
  expect_equal(igraph::ecount(igraph::as.igraph(map, alpha = 0.2)),
               nrow(as.data.frame(map, alpha = 0.2)))
  expect_equal(igraph::ecount(igraph::as.igraph(map_of(-as.matrix(map)))), 0)
  links <- igraph::as.igraph(made_links(), alpha = 0.1)
  expect_equal(igraph::V(links)$name, c("a", "b", "c", "d"))
  expect_equal(igraph::as_edgelist(links), cbind(c("b", "c", "c"), c("a", "b", "a")))
})

test_that("many series are summed up", {
  skip_on_cran()
  names <- paste0("s", 1:3000)
  map <- map_of(matrix(rep_len(sin(1:1e4), 9e6), 3000, dimnames = list(names, names)))
  about <- summary(map)
  expect_equal(about$agreement[["series"]], 2000)
  expect_equal(about$agreement[["of"]], 3000)
  expect_match(capture.output(print(about)), "2,000 of 3,000 series, at even steps", all = FALSE)
})

test_that("maps that were changed by hand are refused by every method", {
  skip_if_not_installed("ggplot2")
  x <- ring_series(4)
  map <- causal_map(x, E = 2, threads = 1)
  links <- causal_map(x, E = 2, top = 2, threads = 1)
  changed <- list(
    structure("a", class = "causal_map"), unname(map), `attr<-`(map, "lag", 1:3),
    `attr<-`(map, "E", 1), structure(list(), class = c("causal_map_file", "causal_map")),
    `attr<-`(links, "series", NULL), `attr<-`(links, "series", "s1"),
    structure(list(library = "a"), class = c("causal_links", "data.frame"), row.names = 1L)
  )
  changed <- c(changed, list(changed_by_other_code(links, "rho", as.character(links$rho))))
  for (one in changed) {
    for (method in list(print, summary, format, plot)) {
      expect_error(method(one), "returned it", class = "synfire_error_argument")
    }
    expect_error(compare_maps(one, map), class = "synfire_error_argument")
  }
  expect_error(map["s1", "s9"], "s9", class = "synfire_error_argument")
  expect_error(map[5, ], "beyond", class = "synfire_error_argument")
  expect_error(compare_maps(), "`a` must be", class = "synfire_error_argument")
  expect_error(open_causal_map(), "`file` must be", class = "synfire_error_argument")
})
