# Five units one after the other, `count` times in two minutes; the last of them takes part in a
# share `weak` of these. Fifteen units at 3 Hz. `trials`: of 10 s each, or none.
with_weak_member <- function(seed, count, weak, trials = FALSE) {
  set.seed(seed)
  times <- lapply(1:15, \(u) stats::runif(stats::rpois(1, 360), 0, 120))
  at <- stats::runif(count, 1, 119)
  for (m in 1:5) {
    own <- at[stats::runif(count) < if (m == 5) weak else 0.9]
    times[[m]] <- c(times[[m]], own + 0.02 * (m - 1) + stats::rnorm(length(own), sd = 0.002))
  }
  spike_trains(unlist(times), rep(letters[1:15], lengths(times)), start = 0, end = 120,
               resolution = 1e-4,
               trials = if (trials) data.frame(start = 10 * 0:11, end = 10 * 1:12 - 1))
}

find_stable <- function(x, ..., resamples = 20, threads = 1) {
  set.seed(1)
  find_assemblies(x, max_lag = 0.2, n_surrogates = 39, resamples = resamples, threads = threads,
                  ...)
}

# What was found, with other shares for the members of the first assembly.
with_shares <- function(found, shares) {
  about <- attributes(found)
  found <- unclass(found)
  found$stability[[1L]] <- shares
  attributes(found) <- about
  found
}

in_words <- function(x) gsub("\\s+", " ", paste(capture.output(print(x)), collapse = " "))

test_that("strong members come out again in all resamples, and weak ones in some", {
  strong <- weak <- few <- NULL
  for (seed in 1:8) {
    found <- find_stable(with_weak_member(seed, 40, 0.35))
    share <- rlang::set_names(found$stability[[1L]], found$units[[1L]])
    strong <- c(strong, share[letters[1:4]])
    weak <- c(weak, share["e"])
    rare <- find_stable(with_weak_member(seed, 20, 0.9))
    if (nrow(rare)) few <- c(few, rare$stability[[1L]])
  }
  expect_gt(mean(strong), 0.97)
  weak <- weak[!is.na(weak)]
  expect_gt(length(weak), 0)
  expect_gt(mean(weak), 0.15)
  expect_lt(mean(weak), 0.85)
  # Half of the recordings with so few have the assembly.
  expect_gt(mean(few), 0.3)
  expect_lt(mean(few), 0.8)
})

test_that("shares are of resamples, the same with any number of threads", {
  x <- with_weak_member(3, 24, 0.5)
  one <- find_stable(x, resamples = 7)
  two <- find_stable(x, resamples = 7, threads = 2)
  expect_identical(one$stability, two$stability)
  expect_identical(lengths(one$stability), one$size)
  share <- unlist(one$stability)
  expect_equal(share * 7, round(share * 7))
  expect_true(all(share >= 0 & share <= 1))
  expect_equal(attr(one, "resamples"), 7)
  # What is found does not depend on them.
  none <- find_stable(x, resamples = 0)
  but <- setdiff(names(one), "stability")
  expect_identical(as.data.frame(none)[but], as.data.frame(one)[but])
  expect_true(all(is.na(unlist(none$stability))))
  expect_identical(lengths(none$stability), none$size)
})

test_that("blocks are within trials, and begin at events", {
  x <- with_weak_member(5, 60, 0.9, trials = TRUE)
  found <- find_stable(x)
  expect_true(all(found$stability[[1L]] >= 0.95))
  locked <- find_stable(x, locked_to = "trials", resamples = 5)
  expect_true(all(locked$stability[[1L]] >= 0.8))
  many <- find_stable(with_weak_member(5, 60, 0.9), locked_to = seq(0.5, 118, 1.3), resamples = 5)
  expect_true(all(many$stability[[1L]] >= 0.8))
})

test_that("a recording of a few blocks has resamples, too", {
  set.seed(1)
  at <- seq(0.1, 2.8, length.out = 30)
  x <- spike_trains(c(at, at + 0.005, at + 0.01, stats::runif(60, 0, 3)),
                    rep(c("a", "b", "c", "d"), c(30, 30, 30, 60)), start = 0, end = 3)
  found <- suppressMessages(find_assemblies(x, n_surrogates = 19, resamples = 3, threads = 1))
  expect_true(all(unlist(found$stability) %in% ((0:3) / 3)))
})

test_that("print, summary, tables and pictures tell how stable members are", {
  x <- with_weak_member(2, 40, 0.35)
  found <- find_stable(x)
  size <- found$size[[1L]]
  shares <- replace(rep(1, size), 2L, 0.35)
  part <- with_shares(found, shares)
  expect_match(in_words(part), sprintf("stable.*%d of %d", size - 1L, size))
  words <- in_words(summary(part))
  expect_match(words, sprintf("%d of its %d members come out again in 19 or more of 20 resamples",
                              size - 1L, size))
  expect_match(words, sprintf("(least often %s, in 35 %%)", found$units[[1L]][[2L]]), fixed = TRUE)
  expect_match(words, "One member comes out again in fewer than half of the resamples")
  expect_identical(as.data.frame(part, what = "members")$stability, shares)
  words <- in_words(summary(with_shares(found, rep(1, size))))
  expect_match(words, "All members come out again in 19 or more of 20 resamples\\.")
  expect_no_match(words, "fewer than half")
  none <- find_stable(x, resamples = 0)
  expect_no_match(capture.output(print(none)), "stable")
  expect_no_match(capture.output(print(summary(none))), "resamples")
  again <- assembly_activations(x, found, n_surrogates = 5)
  expect_true(all(is.na(as.data.frame(again, what = "members")$stability)))
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::autoplot(found, type = "stability")
  expect_identical(picture$data$share, found$stability[[1L]])
  expect_silent(ggplot2::ggplot_build(picture))
  expect_message(ggplot2::autoplot(none, type = "stability"), "not known",
                 class = "synfire_message_empty")
})

test_that("the number of resamples is checked", {
  x <- with_weak_member(1, 40, 0.9)
  for (resamples in list(-1, 1.5, NA, "a", 1e5)) {
    expect_error(find_assemblies(x, resamples = resamples), "`resamples`",
                 class = "synfire_error_argument")
  }
})
