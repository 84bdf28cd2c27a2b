skip_if_not_installed("ggplot2")

planted_result <- function(...) {
  withr::with_seed(2, spade(planted_recording(), 0.005, 8, min_count = 4, n_surrogates = 60,
                            threads = 1, ...))
}
layer_of <- function(plot, geom) {
  is_geom <- vapply(plot$layers, \(l) inherits(l$geom, geom), TRUE)
  lapply(plot$layers[is_geom], \(l) l$data)
}

test_that("fields cover every listed signature once, with its p value", {
  for (spectrum in c("#", "3d#")) {
    found <- planted_result(spectrum = spectrum)
    p <- ggplot2::autoplot(found)
    fields <- layer_of(p, "GeomRect")[[1L]]
    listed <- found$pvalues
    height <- if (spectrum == "#") listed$size else 1000 * listed$duration
    covered <- vapply(seq_len(nrow(listed)), \(k) {
      own <- which(fields$size == listed$size[[k]] & fields$height == height[[k]] &
                     fields$low <= listed$count[[k]] & fields$high >= listed$count[[k]])
      stopifnot(length(own) == 1L)
      fields$p[[own]]
    }, 0)
    expect_identical(covered, listed$p)
    expect_identical(sum(fields$high - fields$low + 1), as.double(nrow(listed)))
    expect_silent(ggplot2::ggplot_build(p))
  }
})

test_that("marks say what became of each signature, on the right side of the front", {
  found <- planted_result()
  p <- ggplot2::autoplot(found$tests)
  marks <- layer_of(p, "GeomPoint")[[1L]]
  expect_identical(marks$verdict == "significant", found$tests$significant)
  expect_identical(marks$verdict == "not tested", !found$tests$tested)
  front <- layer_of(p, "GeomPath")[[1L]]
  for (k in seq_len(nrow(marks))) {
    here <- front$low[abs(front$height - marks$height[[k]]) < 0.6][[2L]]
    expect_identical(marks$count[[k]] >= here, found$tests$significant[[k]])
  }
  expect_match(p$labels$subtitle, "Right of the line: significant (alpha = 0.05, BH of",
               fixed = TRUE)
})

test_that("with too few surrogates there is no line", {
  few <- withr::with_seed(2, spade(planted_recording(), 0.005, 8, min_count = 4, n_surrogates = 1,
                                   threads = 1))
  p <- ggplot2::autoplot(few)
  expect_length(layer_of(p, "GeomPath"), 0)
  expect_match(p$labels$subtitle, "Too few surrogates for any to be significant: 1 \\(alpha")
  expect_silent(ggplot2::ggplot_build(p))
})

test_that("the spectra are drawn on their own", {
  found <- planted_result(spectrum = "3d#")
  for (p in list(ggplot2::autoplot(found$spectrum), ggplot2::autoplot(found, type = "spectrum"))) {
    expect_identical(layer_of(p, "GeomRect")[[1L]]$value, found$spectrum$patterns)
    expect_silent(ggplot2::ggplot_build(p))
  }
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(found$pvalues)))
})

test_that("patterns are drawn as those of a search are", {
  skip_on_cran()
  found <- planted_result()
  skip_if_not_installed("igraph")
  for (type in c("raster", "dots", "participation", "size", "counts", "lags", "hypergraph",
                 "statistics")) {
    expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(found, type = type)))
  }
  lines <- layer_of(ggplot2::autoplot(found, type = "raster", from = 0, to = 20), "GeomPath")[[1L]]
  expect_identical(nrow(lines), 5L * 30L)
})

test_that("what cannot be drawn is said", {
  skip_on_cran()
  bad <- function(x, message, ...) {
    expect_error(ggplot2::autoplot(x, ...), message, class = "synfire_error_argument")
  }
  without <- spade(planted_recording(), 0.005, 8, min_count = 4, n_surrogates = 0, threads = 1)
  bad(without, "without surrogates")
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(without, type = "spectrum")))
  none <- spade(planted_recording(), 0.005, 8, min_count = 400, threads = 1)
  for (type in c("pvalues", "spectrum", "raster")) {
    expect_message(empty <- ggplot2::autoplot(none, type = type), "No pattern passes the filters",
                   class = "synfire_message_empty")
    expect_silent(ggplot2::ggplot_build(empty))
  }
  bad(planted_result(), "type", type = "pie")
  bad(planted_result(), "`from` must be left out with `type = \"size\"`", type = "size", from = 1)
  bad(planted_result(), "`patterns` must be left out", type = "lags", patterns = 2)
  bad(planted_result(), "`order` must be left out", type = "dots", order = "rate")
})
