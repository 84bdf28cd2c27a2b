# What stands in a table of episodes decides what is counted, whatever other code did to it.

checked <- function() {
  x <- spike_trains(c(1, 4, 20, 24, 40, 43) / 1000, c("A", "B", "A", "B", "A", "C"))
  list(x = x, found = mine_episodes(x, 1, c(0, 0.005), threads = 1))
}

uses <- function(x) {
  list(
    \(f) count_episodes(x, f), \(f) episode_occurrences(x, f), \(f) episode_lags(x, f),
    \(f) episode_significance(f, x, n_surrogates = 1, threads = 1), summary, format, c
  )
}

test_that("rows that are not there leave a plain data frame", {
  made <- checked()
  n <- nrow(made$found)
  beyond <- made$found[seq_len(n + 2L), ]
  expect_identical(class(beyond), "data.frame")
  expect_null(attr(beyond, "recording"))
  expect_output(print(beyond), "NA")
  expect_error(count_episodes(made$x, beyond), "an `episodes` table",
               class = "synfire_error_argument")
  expect_s3_class(made$found[seq_len(n), ], "episodes")
  expect_identical(class(made$found[c(1, NA), ]), "data.frame")
})

test_that("a table that was changed is refused, with what is wrong", {
  skip_on_cran()
  made <- checked()
  changed <- function(change) {
    f <- plain_table(made$found)
    eval(substitute(change))
    about <- attributes(made$found)
    about$names <- names(f)
    attributes(f) <- about
    f
  }
  pair <- which(made$found$size == 2L)[[1L]]
  wrong <- list(
    "no column `units`" = changed(f$units <- NULL),
    "no column `episode`" = changed(names(f)[[1L]] <- "name"),
    "`units` is a character" = changed(f$units <- f$episode),
    "`units` are not names" = changed(f$units[[1L]] <- 1),
    "a unit is missing" = changed(f$units[[1L]] <- NA_character_),
    "there is no episode" = changed(f$units[[1L]] <- character()),
    "name is not that" = changed(f$units[[1L]] <- "B"),
    "name is not that" = changed(f$low[[pair]] <- 0.001),
    "name is not that" = changed(f$episode[[1L]] <- NA),
    "one fewer than its units" = changed(f$high[[pair]] <- c(0.005, 0.005)),
    "bounds are not numbers" = changed(f$low[[pair]] <- "0"),
    "bounds are not numbers" = changed(f$low[[pair]] <- structure(0, class = "integer64")),
    "not the number of units" = changed(f$size[[1L]] <- 7L),
    "not the number of units" = changed(f$size[[1L]] <- NA),
    "`count` is a character" = changed(f$count <- as.character(f$count))
  )
  for (i in seq_along(wrong)) {
    for (use in some_of(uses(made$x), i)) {
      expect_error(use(wrong[[i]]), names(wrong)[[i]], class = "synfire_error_argument")
    }
    expect_output(print(wrong[[i]]))
  }
})

test_that("tables are joined, and what else becomes of them is no table of episodes", {
  made <- checked()
  f <- made$found
  both <- rbind(f[1:2, ], f[3, ])
  expect_identical(both, f[1:3, ])
  expect_identical(c(f[1:2, ], f[3, ]), f[1:3, ])
  expect_identical(count_episodes(made$x, both)$count, f$count[1:3])
  joined <- merge(f, data.frame(episode = f$episode, note = seq_len(nrow(f))))
  expect_false(inherits(joined, "episodes"))
  expect_s3_class(subset(f, count > 1), "episodes")
  expect_s3_class(head(f, 2), "episodes")
  expect_identical(class(f[c("episode", "count")]), "data.frame")
})

test_that("names of episodes are those that mining spells", {
  withr::local_seed(4)
  stream <- random_stream(11, units = 3, spikes = 60, span = 80)
  found <- mined_by(stream, 2, max_size = 5)
  expect_gt(max(found$size), 2L)
  expect_identical(synfire:::episode_text(found$units, found$low, found$high), found$episode)
  expect_identical(synfire:::episode_text(list(), list(), list()), character())
})

test_that("whole numbers of R are numbers, wherever one is asked for", {
  x <- spike_trains(c(1, 2, 4, 5), c("A", "B", "A", "B"), resolution = 1)
  same <- function(a, b) expect_identical(as.data.frame(a), as.data.frame(b))
  for (engine in engines) {
    same(mine_episodes(x, 1L, 0:1, 3L, engine = engine, threads = 1L, top = 2L),
         mine_episodes(x, 1, c(0, 1), 3, engine = engine, threads = 1, top = 2))
  }
  same(mine_episodes(x, 1L, data.frame(low = 0:1, high = 1:2)),
       mine_episodes(x, 1, cbind(0:1 + 0, 1:2 + 0)))
  same(count_episodes(x, episode(c("A", "B"), 0L, 1L)),
       count_episodes(x, episode(c("A", "B"), 0, 1)))
  s <- update(episode_stream(0:1, 1L, 10L, resolution = 1L), data.frame(time = 1:2, unit = 1:2),
              now = 3L)
  expect_identical(s$episodes$count, c(1L, 1L, 1L))
})

test_that("what a table cannot hold is refused before C sees it", {
  x <- checked()$x
  refused <- function(code, what) expect_error(code, what, class = "synfire_error_argument")
  odd <- structure(c(0, 1), class = "integer64")
  refused(mine_episodes(x, 1, odd), "integer64")
  refused(mine_episodes(x, 1, sum), "a function")
  refused(mine_episodes(x, 1, data.frame(low = "0", high = "1")), "intervals")
  refused(mine_episodes(x, 1, c(0, 0.005), units = globalenv()), "an environment")
  refused(episode(c("A", "B"), 0, structure(1, class = "integer64")), "integer64")
  refused(episode(sum, 0, 1), "a function")
  refused(episode_stream(odd, 1, 1), "integer64")
  refused(mine_episodes(intervals = c(0, 1)), "`x`")
  refused(count_episodes(x), "`episodes`")
  refused(episode_occurrences(x), "`episodes`")
  refused(episode_lags(x), "`episodes`")
  refused(episode_significance(), "`episodes`")
})

test_that("arguments of another engine, or of other surrogates, are refused", {
  made <- checked()
  refused <- function(code, what) expect_error(code, what, class = "synfire_error_argument")
  mine <- \(...) mine_episodes(made$x, 1, c(0, 0.005), engine = list("window", ...))
  refused(mine(merge = "published"), "engine.merge")
  refused(mine(compaction = "one-counter"), "engine.compaction")
  refused(mine(dedup = FALSE), "engine.dedup")
  test <- function(...) episode_significance(made$found, n_surrogates = 2, threads = 1, ...)
  refused(test(surrogate = "randomise", dither = 0.01), "`dither`")
  refused(test(surrogate = "dither", refractory = 0.001), "`refractory`")
  refused(test(surrogate = "no such"), "`surrogate`")
  expect_s3_class(test(surrogate = "dither", dither = 0.01), "episode_significance")
  expect_s3_class(test(surrogate = "randomise"), "episode_significance")
})

test_that("names in another encoding are the same names", {
  name <- iconv("\u00e9", "UTF-8", "latin1")
  x <- spike_trains(c(1, 2, 10, 11) / 1000, c(name, "B", name, "B"))
  found <- mine_episodes(x, 1, c(0, 0.005))
  expect_identical(count_episodes(x, found)$count, found$count)
  for (as in list(name, "\u00e9")) {
    expect_identical(count_episodes(x, episode(c(as, "B"), 0, 0.005))$count, 2L)
    expect_identical(mine_episodes(x, 1, c(0, 0.005), units = as)$episode, "\u00e9")
  }
})

test_that("the compiled code refuses spikes that are not what they must be", {
  x <- checked()$x
  events <- synfire:::trains_of(x)
  mine <- function(...) {
    changed <- utils::modifyList(events, list(...))
    .Call(synfire:::r_count_episodes, changed, list(1:2), list(0), list(5000), 1L)
  }
  expect_identical(mine(), 2L)
  n <- length(events$tick)
  refused <- function(...) {
    expect_error(mine(...), "cannot be used", class = "synfire_error_argument")
  }
  refused(unit = rep(4L, n))
  refused(unit = as.double(events$unit))
  refused(unit = events$unit[-1L])
  refused(units = 1L)
  refused(tick = rev(events$tick))
  refused(tick = replace(events$tick, 2L, NaN))
  refused(tick = replace(events$tick, n, 1e17))
  refused(tick = as.integer(events$tick))
  refused(trial = rev(seq_len(n)))
  refused(trial = 1:2)
  refused(tick = rep(1, n), unit = rev(seq_len(3L))[rep(1:3, 2)])
})
