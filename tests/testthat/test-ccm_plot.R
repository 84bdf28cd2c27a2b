skip_if_not_installed("ggplot2")

coupled <- function(n = 120) {
  x <- y <- 0.4
  for (t in seq_len(n - 1)) {
    x[[t + 1]] <- x[[t]] * (3.8 - 3.8 * x[[t]] - 0.02 * y[[t]])
    y[[t + 1]] <- y[[t]] * (3.5 - 3.5 * y[[t]] - 0.1 * x[[t]])
  }
  data.frame(time = seq_len(n), x, y)
}
mapped <- function(..., data = coupled()) {
  set.seed(1)
  ccm(data, "x", "y", E = 2, lib_sizes = c(10, 30, 60, 100), samples = 20, ..., threads = 2)
}
layers <- function(plot, geom) {
  is_geom <- vapply(plot$layers, \(l) inherits(l$geom, geom), TRUE)
  lapply(plot$layers[is_geom], \(l) if (is.data.frame(l$data)) l$data else plot$data)
}

test_that("curves are the means, in a band of the samples", {
  found <- mapped()
  p <- ggplot2::autoplot(found)
  curves <- layers(p, "GeomLine")[[1]]
  expect_equal(curves$rho, c(found[["x:y"]], found[["y:x"]]))
  expect_equal(curves$at, rep(found$LibSize, 2))
  band <- layers(p, "GeomRibbon")[[1]]
  samples <- attr(found, "samples")
  one <- samples$rho[samples$direction == "y:x" & samples$LibSize == 30]
  row <- band[band$direction == "y:x" & band$at == 30, ]
  expect_equal(c(row$low, row$high), unname(quantile(one, c(0.025, 0.975))))
  expect_identical(nrow(band), 8L)
  expect_s3_class(p$facet, "FacetNull")
  expect_silent(ggplot2::ggplot_build(p))
})

test_that("the legend names the cause that a direction tests", {
  p <- ggplot2::autoplot(mapped())
  expect_identical(unname(p$scales$get_scales("colour")$labels),
                   c("x predicts y: does y drive x?", "y predicts x: does x drive y?"))
  odd <- setNames(coupled(), c("time", "a:b", "c"))
  found <- ccm(odd, "a:b", "c", E = 2, lib_sizes = c(10, 50), samples = 5, threads = 2)
  p <- ggplot2::autoplot(found)
  expect_identical(p$scales$get_scales("colour")$labels[[1]],
                   "a:b predicts c: does c drive a:b?")
  expect_silent(ggplot2::ggplot_build(p))
})

test_that("with surrogates each direction has a panel, with their band", {
  found <- mapped(n_surrogates = 20)
  p <- ggplot2::autoplot(found)
  expect_s3_class(p$facet, "FacetWrap")
  null <- layers(p, "GeomRibbon")[[1]]
  expect_equal(null[c("low", "median", "high")],
               attr(found, "surrogates")[c("low", "median", "high")])
  built <- ggplot2::ggplot_build(p)
  expect_identical(nrow(built$layout$layout), 2L)
  expect_identical(p$scales$get_scales("colour")$guide, "none")
})

test_that("one direction, and a size without skill, are drawn", {
  p <- ggplot2::autoplot(mapped(both = FALSE))
  expect_identical(levels(p$data$direction), "x:y")
  expect_silent(ggplot2::ggplot_build(p))
  constant <- coupled()
  constant$y <- 1
  p <- ggplot2::autoplot(mapped(data = constant))
  expect_true(all(is.na(p$data$rho[p$data$direction == "x:y"])))
  expect_silent(ggplot2::ggplot_build(p))
  expect_error(ggplot2::autoplot(mapped(both = FALSE, data = constant)),
               "skill for at least one LibSize", class = "synfire_error_argument")
})

test_that("skill against the delay has its peaks marked", {
  found <- ccm_lag(coupled(), "x", "y", E = 2, Tp = -3:3, threads = 2)
  p <- ggplot2::autoplot(found)
  points <- layers(p, "GeomPoint")
  expect_equal(points[[1]]$rho, c(found[["x:y"]], found[["y:x"]]))
  expect_equal(points[[2]]$at, unname(attr(found, "best")))
  expect_equal(points[[2]]$rho, c(max(found[["x:y"]]), max(found[["y:x"]])))
  expect_silent(ggplot2::ggplot_build(p))
})

# Pictures must not change with the last digits of a skill.
made_ccm <- function(surrogates = FALSE) {
  size <- c(10, 30, 60, 100)
  rho <- list("fish:sea" = c(0.1, 0.5, 0.7, 0.75), "sea:fish" = c(0.05, 0.1, -0.05, 0))
  samples <- do.call(rbind, lapply(names(rho), \(d) {
    data.frame(direction = d, LibSize = rep(size, each = 3), sample = 1:3,
               rho = rep(rho[[d]], each = 3) + c(-0.2, 0, 0.1))
  }))
  null <- do.call(rbind, lapply(names(rho), \(d) {
    data.frame(direction = d, LibSize = size, low = -0.2, median = 0.05, high = 0.3, p = 0.1)
  }))
  frame <- data.frame(LibSize = size, rho, check.names = FALSE)
  synfire:::new_edm(frame, "ccm", "Cross mapping", list(columns = "fish", target = "sea"),
                    list(call = quote(f()), began = 0), samples = samples, surrogates = if (surrogates) null)
}
made_lag <- function() {
  frame <- data.frame(Tp = -3:2, "fish:sea" = c(0.1, 0.4, 0.8, 0.5, 0.2, 0.1),
                      "sea:fish" = c(-0.1, 0, 0.1, 0.2, 0.3, NA), check.names = FALSE)
  synfire:::new_edm(frame, "ccm_lag", "Cross mapping", list(columns = "fish", target = "sea"),
                    list(call = quote(f()), began = 0), best = c("fish:sea" = -1L, "sea:fish" = 1L))
}

test_that("pictures look as they did", {
  skip_if_not_installed("vdiffr")
  vdiffr::expect_doppelganger("ccm", ggplot2::autoplot(made_ccm()))
  vdiffr::expect_doppelganger("ccm-surrogates", ggplot2::autoplot(made_ccm(TRUE)))
  vdiffr::expect_doppelganger("ccm-lag", ggplot2::autoplot(made_lag()))
})

test_that("long names of series are shortened to what tells them apart", {
  names <- paste0("mouse-A8604-probe-imec0-cluster-", c("001", "202"))
  x <- stats::setNames(coupled_maps(40, 0.1, 0.1)[1:3], c("time", names))
  said <- synfire:::direction_labels(ccm(x, names[[1]], names[[2]], E = 2, samples = 2))
  expect_setequal(said, c("..001 predicts ..202: does ..202 drive ..001?",
                          "..202 predicts ..001: does ..001 drive ..202?"))
})

test_that("a result without rows has no skill to draw", {
  skip_if_not_installed("ggplot2")
  found <- ccm(coupled_maps(40, 0.1, 0.1), "x", "y", E = 2, samples = 2)
  expect_error(ggplot2::autoplot(found[0, ]), "without any", class = "synfire_error_argument")
  lags <- ccm_lag(coupled_maps(40, 0.1, 0.1), "x", "y", E = 2, Tp = 0:1)
  expect_error(ggplot2::autoplot(lags[0, ]), "without any", class = "synfire_error_argument")
})

test_that("a direction without skill is drawn without a band", {
  skip_if_not_installed("ggplot2")
  found <- made_ccm(TRUE)
  null <- attr(found, "surrogates")
  null[null$direction == "fish:sea", c("low", "median", "high")] <- NA
  attr(found, "surrogates") <- null
  found <- changed_by_other_code(found, "fish:sea", rep(NA_real_, nrow(found)))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(print(ggplot2::autoplot(found)))
})
