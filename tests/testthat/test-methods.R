# What the methods of all classes share.

results <- function() {
  set.seed(1)
  x <- simulate_patterns(4, 6, 5, list(list(units = 1:3, lags = c(0, 0.01, 0.02),
                                            count = 12)))
  found <- mine_episodes(x, 8, c(0, 0.02), max_size = 2)
  patterns <- mine_patterns(x, 0.01, 3, min_spikes = 2, min_count = 4)
  chance <- pvalue_spectrum(x, 0.01, 3, 2, 4, n_surrogates = 19)
  list(
    x, summary(x), found, episode_occurrences(x, found[7, ]),
    episode_significance(found, n_surrogates = 5), patterns, pattern_spectrum(patterns),
    pattern_occurrences(x, patterns), chance, test_signatures(patterns, chance),
    spade(x, 0.01, 3, 2, 4, n_surrogates = 19),
    simplex(data.frame(time = 1:40, x = sin(1:40)), "x", E = 2)
  )
}

test_that("print() refuses numbers of rows that are none", {
  for (result in results()) {
    for (n in list("x", NA, NULL, -1, 1.5, c(1, 2), list(), structure(1, class = "integer64"))) {
      expect_error(print(result, n = n), "`n` must be", class = "synfire_error_argument",
                   label = paste(class(result)[[1L]], deparse(n)))
    }
    expect_output(print(result, n = Inf))
  }
})

test_that("arguments that pictures do not have are refused, and those they have checked", {
  skip_if_not_installed("ggplot2")
  x <- simulate_coupled_maps(steps = 60, series = 4)
  map <- causal_map(x, E = 2)
  found <- results()[[3L]]
  expect_error(plot(map, kind = "heatmap"), "`kind` must be an argument",
               class = "synfire_error_argument")
  # Also those that the type of picture does not use.
  for (bad in list(list(threshold = "x"), list(links = 0), list(layout = "circle"))) {
    expect_error(do.call(ggplot2::autoplot, c(list(map, type = "heatmap"), bad)),
                 paste0("`", names(bad), "` must be"), class = "synfire_error_argument")
  }
  for (bad in list(list(bins = 0), list(from = "x"), list(to = NA), list(episodes = "none"),
                   list(layout = 1), list(recording = 1))) {
    expect_error(do.call(ggplot2::autoplot, c(list(found, type = "counts"), bad)),
                 paste0("`", names(bad), "` must be"), class = "synfire_error_argument")
  }
  nowhere <- matrix(NaN, 4, 2, dimnames = list(colnames(x), NULL))
  skip_if_not_installed("igraph")
  expect_error(ggplot2::autoplot(map, type = "network", layout = nowhere), "finite",
               class = "synfire_error_argument")
})

test_that("objects that keep their class but not their parts are refused by name", {
  part_less <- function(x) {
    parts <- unclass(x)
    kept <- attributes(x)
    parts <- parts[-1L]
    attributes(parts) <- c(list(names = names(parts)), kept[setdiff(names(kept), "names")])
    parts
  }
  set.seed(1)
  x <- simulate_patterns(4, 6, 5, list(list(units = 1:3, lags = c(0, 0.01, 0.02),
                                            count = 12)))
  found <- mine_episodes(x, 8, c(0, 0.02), max_size = 2)
  stream <- update(episode_stream(c(0, 0.02), 5, 4), x)
  made <- list(
    mine_patterns(x, 0.01, 3, min_spikes = 2, min_count = 4),
    frequent_itemsets(list(c("a", "b"), c("a", "b", "c")), 1),
    episode_significance(found, n_surrogates = 5), episode_lags(x, found[7, ]), stream
  )
  for (object in made) {
    less <- part_less(object)
    for (generic in c("print", "summary", if (rlang::is_installed("ggplot2")) "plot")) {
      own <- utils::getS3method(generic, class(object)[[1L]], optional = TRUE)
      if (is.null(own) && !inherits(object, c("itemsets"))) next
      expect_error(do.call(generic, list(less)), "`(x|object)` must be",
                   class = "synfire_error_argument",
                   label = paste(generic, class(object)[[1L]]))
    }
  }
  expect_error(sort(part_less(made[[2L]])), "`x` must be", class = "synfire_error_argument")
  expect_error(update(part_less(stream), NULL, now = 5), "`object` must be a stream",
               class = "synfire_error_argument")
  number <- structure(1, class = class(made[[1L]]))
  expect_error(pattern_spectrum(number), "`patterns` must be", class = "synfire_error_argument")
})
