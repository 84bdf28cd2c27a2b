# How tables of results are printed: which rows, in which order, cut where.

test_that("text that does not fit is left out in the middle", {
  pieces <- c("A", paste0(" > ", LETTERS[2:9]))
  expect_identical(fit_pieces(pieces, 40), "A > B > C > D > E > F > G > H > I")
  expect_identical(fit_pieces(pieces, 26), "A > B > C ... > G > H > I")
  expect_identical(fit_pieces(pieces, 11), "A ... > I")
  for (room in 5:40) expect_lte(nchar(fit_pieces(pieces, room)), room)
  expect_identical(fit_pieces(c("{a", ", b", ", c", ", dddddddddddd", ", e}"), 14), "{a, b ... e}")
  expect_identical(fit_pieces("alone", 3), as.character(cli::ansi_strtrim("alone", 3)))
})

test_that("delays of an episode are in ms, and what their bounds mean is said", {
  one <- c(episode(c("A", "B", "A"), c(0, 0.005), c(0.005, 0.0125)), episode("B", 0, 1))
  expect_identical(vapply(row_pieces(one, 1:2), paste, "", collapse = ""),
                   c("A -[0-5 ms]-> B -[5-12.5 ms]-> A", "B"))
  expect_identical(name_pieces(one$episode), row_pieces(one, 1:2))
  x <- spike_trains(c(0.001, 0.004, 0.020, 0.024), c("A", "B", "A", "B"))
  expect_output(print(mine_episodes(x, 2, c(0, 0.005))), "more than 0 and at most 5 ms")
  several <- mine_episodes(x, 2, cbind(c(0, 0.005), c(0.005, 0.01)))
  expect_output(print(several), "delays: 0-5, 5-10 ms.*A -\\[0-5 ms\\]-> B")
})

test_that("titles of a part say of how many, and the user's order stays", {
  set.seed(1)
  x <- simulate_sym26(5)
  found <- mine_episodes(x, 30, c(0, 0.005), max_size = 2)
  expect_output(print(found), sprintf("# %s frequent", nrow(found)))
  expect_output(print(head(found)), sprintf("# 6 of %s frequent episodes of up to 1 unit,", nrow(found)))
  ordered <- found[order(found$episode), ]
  shown <- utils::capture.output(print(ordered, n = 3))
  expect_identical(sub(".* ", "", shown[4:6]), sub(".* ", "", ordered$episode[1:3]))
  expect_false(any(grepl("longest first", shown)))
  patterns <- mine_patterns(x, 0.005, 3, min_spikes = 2, 20)
  expect_output(print(head(patterns)), sprintf("# 6 of %s spike patterns", commas(length(patterns))))
  expect_output(print(patterns[3:1]), "\n +1 .*\n +2 .*\n +3 ")
  tested <- episode_significance(found, n_surrogates = 9)
  by_count <- tested[order(tested$count), ]
  first <- by_count$count[!is.na(by_count$p)][[1L]]
  expect_output(print(by_count, n = 1), sprintf("\n +2 +%d ", first))
})

test_that("the largest values of many are found without sorting them", {
  set.seed(1)
  for (v in list(runif(2e5), sample(5L, 2e5, TRUE), c(rep(1, 2e5), 2), seq_len(2e5),
                 ifelse(runif(2e5) < 0.5, NA, 1), rep(NA_real_, 2e5))) {
    want <- which(!is.na(v))
    want <- want[order(-v[want], method = "radix")]
    for (n in c(0, 1, 10, 999)) expect_identical(top_rows(v, n), utils::head(want, n))
  }
})

test_that("printing makes text of the rows it shows alone", {
  skip_on_cran()
  n <- 1e6
  name <- rep("A -(0,0.005]-> B", n)
  many <- new_table(list(episode = name, occurrence = seq_len(n), trial = rep(NA, n),
                         start = as.double(seq_len(n)), end = as.double(seq_len(n)),
                         times = vector("list", n)), "episode_occurrences")
  before <- gc(reset = TRUE)
  shown <- utils::capture.output(print(many))
  expect_lt(length(shown), 40)
  # Megabytes of vectors.
  expect_lt(gc()[2, 6] - before[2, 6], 20)
})
