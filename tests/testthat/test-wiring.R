links_of <- function(...) {
  links <- as.data.frame(wiring(...))
  paste(links$cause, links$effect)
}

test_that("each motif has the links that its name says", {
  expect_identical(links_of("pair"), "x01 x02")
  expect_identical(links_of("feedback"), c("x02 x01", "x01 x02"))
  expect_identical(links_of("chain"), c("x01 x02", "x02 x03"))
  expect_identical(links_of("chain", size = 4), c("x01 x02", "x02 x03", "x03 x04"))
  expect_identical(links_of("common_driver"), c("x01 x02", "x01 x03"))
  expect_identical(links_of("hidden_driver"), c("h01 x01", "h01 x02"))
  expect_identical(links_of("loop", size = 4), c("x04 x01", "x01 x02", "x02 x03", "x03 x04"))
  expect_identical(links_of("fan_in", size = c(fan_in = 4)), c("x01 x04", "x02 x04", "x03 x04"))
  expect_identical(links_of("triangle", size = 7), c("x01 x02", "x01 x03", "x02 x03"))
})

test_that("motifs have series of their own, one after the other", {
  w <- wiring(c(chain = 2, hidden_driver = 2, pair = 0, loop = 1), series = 17,
              size = c(chain = 4))
  links <- as.data.frame(w)
  expect_identical(w$series, c(sprintf("x%02d", 1:17), "h01", "h02"))
  expect_identical(w$hidden, rep(c(FALSE, TRUE), c(17, 2)))
  expect_identical(paste(links$cause, links$effect)[links$motif == "hidden_driver"],
                   c("h01 x09", "h01 x10", "h02 x11", "h02 x12"))
  expect_identical(links$copy[links$motif == "chain"], c(1L, 1L, 1L, 2L, 2L, 2L))
  expect_setequal(c(links$cause, links$effect), setdiff(w$series, c("x16", "x17")))
  expect_identical(length(wiring(c(chain = 2, hidden_driver = 2))$series), 12L)
  expect_identical(wiring(c("chain", "pair", "chain")), wiring(c(chain = 2, pair = 1)))
})

test_that("overlapping motifs share series drawn at random, and have each link once", {
  set.seed(1)
  for (series in c(6, 200)) {
    w <- wiring(c(chain = 60, fan_in = 30, hidden_driver = 5), series = series, overlap = TRUE,
                size = 4)
    links <- as.data.frame(w)
    expect_identical(length(w$series), as.integer(series + 5))
    expect_false(any(duplicated(links[1:2])))
    expect_true(all(links$cause != links$effect))
    members <- split(links, list(links$motif, links$copy), drop = TRUE)
    # Where few links were drawn twice, nearly all motifs are whole.
    whole <- vapply(members, function(m) nrow(m) == 3, NA)
    if (series == 200) {
      expect_gt(mean(whole), 0.9)
      taken <- vapply(members[whole], function(m) length(unique(c(m$cause, m$effect))), 0L)
      expect_true(all(taken == 4L))
      counts <- tabulate(match(c(links$cause, links$effect), w$series), 200)
      expect_gt(mean(counts > 0), 0.85)
    }
  }
  set.seed(3)
  a <- wiring(c(pair = 50), series = 100, overlap = TRUE)
  expect_false(identical(wiring(c(pair = 50), series = 100, overlap = TRUE), a))
  set.seed(3)
  expect_identical(wiring(c(pair = 50), series = 100, overlap = TRUE), a)
})

test_that("a matrix, a sparse one and a table of links make the same wiring", {
  m <- matrix(c(0, 0, 0.3, 0.1, 0, 0, 0, 0.2, 0), 3, dimnames = rep(list(c("a", "b", "c")), 2))
  d <- matrix(c(9, 9, 3, 1, 9, 9, 9, 2, 9), 3)
  w <- wiring(m, delay = d, hidden = "b")
  expect_identical(as.data.frame(w)[1:4], data.frame(
    cause = c("c", "a", "b"), effect = c("a", "b", "c"), strength = c(0.3, 0.1, 0.2),
    delay = c(3L, 1L, 2L)
  ))
  table <- data.frame(effect = c("b", "c", "a"), cause = c("a", "b", "c"),
                      strength = c(0.1, 0.2, 0.3), delay = c(1, 2, 3))
  expect_identical(wiring(table, hidden = 2), w)
  table$effect <- factor(table$effect)
  expect_identical(wiring(table, series = c("a", "b", "c"), hidden = "b"), w)
  numbered <- data.frame(cause = 1:2, effect = 2:3)
  expect_identical(wiring(numbered)$series, c("x01", "x02", "x03"))
  expect_identical(wiring(numbered, series = 5)$series, sprintf("x%02d", 1:5))
  expect_identical(wiring(numbered, series = c("p", "q", "r"))$series, c("p", "q", "r"))
  expect_identical(as.data.frame(wiring(numbered, strength = 0.2))$strength, c(0.2, 0.2))
  expect_identical(nrow(as.data.frame(wiring(matrix(0, 2, 2)))), 0L)
  skip_if_not_installed("Matrix")
  sparse <- function(x) Matrix::sparseMatrix(i = row(x)[x > 0], j = col(x)[x > 0], x = x[x > 0],
                                             dimnames = dimnames(x))
  expect_identical(wiring(sparse(m), delay = sparse(d), hidden = "b"), w)
  expect_identical(as.data.frame(wiring(sparse(m) > 0))$strength, c(1, 1, 1))
})

test_that("strengths and delays are drawn from those that are given", {
  set.seed(2)
  links <- as.data.frame(wiring(c(chain = 200), strength = c(0.1, 0.2), delay = c(1, 4, 6)))
  expect_identical(sort(unique(links$strength)), c(0.1, 0.2))
  expect_true(all(abs(table(links$delay) - 400 / 3) < 5 * sqrt(400 * 2 / 9)))
  expect_identical(names(table(links$delay)), c("1", "4", "6"))
  expect_lt(abs(cor(links$strength, links$delay)), 0.2)
  expect_true(all(is.na(as.data.frame(wiring("chain"))$strength)))
})

test_that("a wiring without chance leaves R's random numbers alone", {
  set.seed(1)
  before <- .Random.seed
  wiring(c(chain = 3, hidden_driver = 2), series = 30, strength = 0.1, delay = 2)
  wiring(matrix(0, 2, 2))
  expect_identical(.Random.seed, before)
  wiring("chain", delay = 1:2)
  expect_false(identical(.Random.seed, before))
})

test_that("a wiring says what it is", {
  w <- wiring(c(chain = 20, hidden_driver = 3), delay = 2, strength = 0.25)
  expect_identical(format(w), c(
    "A wiring of 69 series (3 hidden) with 46 links", "Motifs: 20 chain, 3 hidden_driver",
    "Strength: 0.25. Delay: 2 steps."
  ))
  expect_output(print(w), "69 series")
  expect_identical(format(wiring("pair")), c(
    "A wiring of 2 series with 1 link", "Motifs: 1 pair",
    "Strength: the simulator's. Delay: 1 step."
  ))
  expect_identical(format(wiring(matrix(0, 1, 1))), "A wiring of 1 series with 0 links")
  expect_identical(row.names(as.data.frame(wiring("chain"), row.names = c("p", "q"))),
                   c("p", "q"))
})

test_that("what is no wiring is refused by name", {
  refused <- function(expr, text) expect_error(expr, text, class = "synfire_error_argument")
  refused(wiring(), "`x` must be names of motifs")
  refused(wiring("ring"), "\"ring\"")
  refused(wiring(c(chain = -1)), "chain.*must be a whole number")
  refused(wiring(c(chain = 1, chain = 2)), "each once")
  refused(wiring(character()), "`x` must be names")
  refused(wiring(1:3), "`x` must be a square matrix")
  refused(wiring(NULL), "`x` must be a square matrix")
  refused(wiring(matrix(-0.1, 2, 2)), "`x` must be a square matrix")
  refused(wiring(matrix(c(0, NA, 0, 0), 2)), "`x` must be a square matrix")
  refused(wiring(diag(2)), "`x` must be a square matrix")
  refused(wiring(matrix(0, 2, 2), series = 2), "`series` must be NULL where `x` is a matrix")
  refused(wiring(matrix(0, 2, 2), strength = 1), "`strength` must be NULL where")
  refused(wiring(matrix(0, 2, 2), delay = matrix(1, 3, 3)), "`delay` must be a matrix of 2 x 2")
  refused(wiring(rbind(0:1, 0), delay = matrix(0, 2, 2)), "`delay` must be whole numbers")
  refused(wiring("chain", delay = 0), "`delay` must be whole numbers")
  refused(wiring("chain", delay = 1.5), "`delay` must be whole numbers")
  refused(wiring("chain", strength = -1), "`strength` must be finite")
  refused(wiring("chain", strength = numeric()), "`strength` must be one number")
  refused(wiring("chain", series = 2), "`series` must be at least 3")
  refused(wiring(c(chain = 2), overlap = TRUE), "`series` must be given")
  refused(wiring("chain", overlap = TRUE, series = 2), "`series` must be at least 3")
  refused(wiring("chain", size = 2), "`size` must be")
  refused(wiring("chain", size = c(pair = 3)), "`size` must be")
  refused(wiring("chain", hidden = "x04"), "`hidden` must be")
  refused(wiring("pair", hidden = 1:2), "`hidden` must be such that")
  table <- data.frame(cause = 1, effect = 2)
  refused(wiring(table[1]), "one without `effect`")
  refused(wiring(rbind(table, table)), "two links of the same")
  refused(wiring(data.frame(cause = 1, effect = 1)), "to itself")
  refused(wiring(data.frame(cause = 1, effect = 1.5)), "whole|numbers of series")
  refused(wiring(data.frame(cause = "a", effect = "b"), series = "a"), "none of the 1 series")
  refused(wiring(data.frame(cause = "a", effect = 1)), "names, or numbers")
  refused(wiring(cbind(table, delay = 2), delay = 3), "`delay` must be 1 where")
  refused(wiring(cbind(table, strength = 2), strength = 3), "`strength` must be NULL where")
  w <- wiring("chain")
  w$series <- NULL
  refused(print(w), "`x` must be what")
})

test_that("the error for a matrix says what is wrong with it", {
  wrong <- function(x, what) {
    expect_error(wiring(x), what, class = "synfire_error_argument")
  }
  wrong(rbind(c(1, 1), 0), "a link from a series to itself")
  wrong(rbind(c(0, NA), 0), "a missing or infinite strength")
  wrong(rbind(c(0, -1), 0), "a negative strength")
  wrong(matrix(0, 2, 3), "a numeric matrix of 2 x 3")
})

test_that("a picture of a wiring has an arrow for each link, dashed where a series is hidden", {
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("igraph")
  set.seed(1)
  w <- wiring(c(chain = 1, hidden_driver = 1), strength = c(0.05, 0.1))
  picture <- ggplot2::autoplot(w)
  drawn <- ggplot2::ggplot_build(picture)$data[[1]]
  expect_length(unique(drawn$group), 4)
  expect_length(unique(drawn$group[drawn$linetype == "42"]), 2)
  expect_length(unique(drawn$colour), 2)
  expect_match(picture$labels$caption, "Dashed: from or to a hidden series.", fixed = TRUE)
  # Without strengths all arrows look alike; the caption counts those that are left out.
  plain <- ggplot2::autoplot(wiring("triangle"), links = 2)
  expect_length(unique(ggplot2::ggplot_build(plain)$data[[1]]$colour), 1)
  expect_match(plain$labels$caption, "Not drawn: 1 link.", fixed = TRUE)
  expect_error(ggplot2::autoplot(wiring(matrix(0, 2, 2))), "`object` must be a wiring with links",
               class = "synfire_error_argument")
  expect_error(plot(w, groups = "a"), "`groups` must be", class = "synfire_error_argument")
})
