engines <- c("closure", "fpgrowth")
targets <- c("closed", "maximal", "frequent")
flat <- function(x) unclass(x)[c("items", "runs", "count")]

# Transactions of whole numbers, some with repeats, some empty.
random_transactions <- function(seed) {
  withr::local_seed(seed)
  ids <- sample(c(sample(9L, 7L), sample(1e9L, 3L), .Machine$integer.max), sample(11L, 1L))
  often <- runif(length(ids), 0, 0.8)
  lapply(seq_len(sample(0:40, 1L)), function(t) {
    set <- ids[runif(length(ids)) < often]
    c(set, set[runif(length(set)) < 0.2])[sample.int(length(set))]
  })
}

test_that("baskets are counted", {
  baskets <- list(c("bread", "butter", "jam"), c("bread", "butter"), c("bread", "jam"),
                  c("bread", "butter", "tea"), "tea")
  # bread 0, butter 1, jam 2, tea 3
  for (engine in engines) {
    mined <- \(...) sort(mined_lines(frequent_itemsets(baskets, ..., engine = engine)))
    expect_identical(mined(2), sort(c("0 (4)", "0 1 (3)", "0 2 (2)", "3 (2)")))
    expect_identical(mined(2, target = "maximal"), sort(c("0 1 (3)", "0 2 (2)", "3 (2)")))
    expect_identical(mined(2, target = "frequent"),
                     sort(c("0 (4)", "1 (3)", "2 (2)", "3 (2)", "0 1 (3)", "0 2 (2)")))
    expect_identical(mined(2, min_size = 2), sort(c("0 1 (3)", "0 2 (2)")))
    expect_identical(mined(2, max_size = 1), sort(c("0 (4)", "3 (2)")))
    expect_identical(mined(1, max_size = 1, target = "maximal"), character())
    expect_identical(mined(3, target = "frequent"), sort(c("0 (4)", "1 (3)", "0 1 (3)")))
  }
})

test_that("engines find what all subsets of all transactions give", {
  skip_on_cran()
  for (seed in cases(150)) {
    sets <- random_transactions(seed)
    withr::with_seed(seed, {
      support <- sample(5L, 1L)
      min_size <- sample(3L, 1L)
      max_size <- sample(c(Inf, min_size + 0:2), 1L)
    })
    for (target in targets) {
      expected <- oracle_itemsets(sets, support, target, min_size, max_size)
      for (engine in engines) {
        found <- frequent_itemsets(sets, support, NULL, target, min_size, max_size, engine,
                                   threads = 1)
        expect_identical(mined_lines(found), expected,
                         label = paste(engine, target, "on transactions", seed))
      }
    }
    expect_identical(mined_lines(frequent_itemsets(sets, support)),
                     oracle_itemsets(sets, support))
  }
})

test_that("dense transactions, more than a mask's words hold, agree with the oracle", {
  for (n in c(63, 64, 65, 513, 1200)) {
    sets <- withr::with_seed(n, lapply(seq_len(n), \(t) which(runif(9) < 0.75)))
    for (target in targets) {
      expected <- oracle_itemsets(sets, n %/% 8, target)
      for (engine in engines) {
        expect_identical(mined_lines(frequent_itemsets(sets, n %/% 8, target = target, engine = engine)),
                         expected)
      }
    }
  }
})

test_that("threads and engines do not change the result", {
  sets <- withr::with_seed(1, lapply(1:400, \(t) which(runif(40) < 0.3)))
  for (target in targets) {
    one <- flat(frequent_itemsets(sets, 12, target = target, threads = 1))
    expect_gt(length(one$count), 1000)
    for (engine in engines) {
      for (threads in c(1, 2, 5)) {
        expect_identical(flat(frequent_itemsets(sets, 12, target = target, engine = engine,
                                                threads = threads)), one)
      }
    }
  }
})

test_that("closed sets give all others back", {
  sets <- random_transactions(12)
  expect_gt(length(sets), 10)
  closed <- frequent_itemsets(sets, 1)
  all <- frequent_itemsets(sets, 1, target = "frequent")
  expect_gt(length(all), length(closed))
  split_items <- \(x) split(x$items, rep(seq_along(x$count), rep(x$runs$size, x$runs$n)))
  larger <- split_items(closed)
  support <- vapply(split_items(all), function(set) {
    max(closed$count[vapply(larger, \(l) all(set %in% l), NA)])
  }, 0L, USE.NAMES = FALSE)
  expect_identical(support, all$count)
})

test_that("a least support is a share of all transactions, a least count a number of them", {
  sets <- list("a", c("a", "b"), c("a", "b"), character())
  least <- \(...) attr(frequent_itemsets(sets, ...), "parameters")$min_count
  expect_identical(least(min_support = 0.5), 2)
  expect_identical(least(min_support = 0.51), 3)
  expect_identical(least(min_support = 0.75), 3)
  expect_identical(least(min_support = 0.999), 4)
  expect_identical(least(min_support = 1e-9), 1)
  expect_identical(least(min_support = 1), 4)
  expect_identical(least(1), 1)
  expect_identical(least(3), 3)
  found <- frequent_itemsets(sets, min_support = 0.75)
  expect_identical(mined_lines(found), "0 (3)")
  expect_identical(found$support, 0.75)
  expect_identical(mined_lines(frequent_itemsets(sets, 1)), c("0 (3)", "0 1 (2)"))
  # 0.07 * 100 is a little above 7.
  many <- c(rep(list("a"), 7), rep(list("b"), 93))
  expect_identical(attr(frequent_itemsets(many, min_support = 0.07), "parameters")$min_count, 7)
})

test_that("repeated items count once, empty transactions are there", {
  sets <- list(c(5L, 5L, 7L), integer(), c(7L, 5L), c(7L, 7L, 7L))
  found <- frequent_itemsets(sets, 1)
  expect_identical(mined_lines(found), c("1 (3)", "0 1 (2)"))
  expect_identical(attr(found, "transactions"), 4)
  expect_identical(attr(found, "labels"), c("5", "7"))
})

test_that("item numbers up to 2^31 - 1 are fine", {
  found <- frequent_itemsets(list(c(0, 2^31 - 1), c(2^31 - 1, 12)), 1)
  expect_identical(attr(found, "labels"), c("0", "12", "2147483647"))
  expect_identical(sort(mined_lines(found)), sort(c("2 (2)", "0 2 (1)", "1 2 (1)")))
  expect_error(frequent_itemsets(list(2^31), 1), class = "synfire_error_argument")
})

test_that("no transactions hold nothing", {
  for (engine in engines) {
    for (sets in list(list(), list(character()), rep(list(integer()), 5))) {
      for (least in list(list(min_count = 1), list(min_support = 0.5))) {
        found <- do.call(frequent_itemsets, c(list(sets, engine = engine), least))
        expect_length(found, 0L)
        expect_identical(attr(found, "transactions"), as.double(length(sets)))
      }
    }
  }
})

test_that("the result says where it comes from", {
  sets <- list(c("a", "b"), "a")
  found <- frequent_itemsets(sets, min_support = 0.5, target = "frequent", max_size = 3, threads = 2)
  expect_s3_class(found, "itemsets")
  about <- attributes(found)
  expect_identical(about$target, "frequent")
  expect_identical(about$parameters, list(min_count = 1, min_size = 1, max_size = 3))
  expect_identical(about$engine, "closure")
  expect_identical(about$threads, 2L)
  expect_gte(about$elapsed, 0)
  expect_gte(about$mining_elapsed, 0)
  expect_gt(about$peak_memory, 0)
  expect_identical(about$call[[1]], quote(frequent_itemsets))
  expect_identical(attr(frequent_itemsets(sets, 1), "call"),
                   quote(frequent_itemsets(transactions = sets, min_count = 1)))
})

test_that("a search beyond its memory stops, with advice", {
  sets <- withr::with_seed(1, lapply(1:300, \(t) which(runif(20) < 0.7)))
  error <- expect_error(frequent_itemsets(sets, 2, max_memory = 1e6),
                        class = "synfire_error_budget")
  text <- gsub("\\s+", " ", conditionMessage(error))
  expect_match(text, "Raise `min_count` to [0-9,]+ or more, or lower `max_size`")
  expect_no_match(text, "closed")
  error <- expect_error(frequent_itemsets(sets, 2, target = "frequent", max_memory = 1e6),
                        class = "synfire_error_budget")
  expect_match(conditionMessage(error), "closed")
})

test_that("bad arguments of itemsets are named", {
  sets <- list(c("a", "b"), "a")
  expect_snapshot(error = TRUE, {
    frequent_itemsets()
    frequent_itemsets(sets)
    frequent_itemsets(sets)
    frequent_itemsets(sets, 1, min_support = 0.5)
    frequent_itemsets(sets, min_support = 0)
    frequent_itemsets(sets, min_support = 2)
    frequent_itemsets(1:3, 1)
    frequent_itemsets(list("a", NA), 1)
    frequent_itemsets(list("a", 1), 1)
    frequent_itemsets(list(1.5), 1)
    frequent_itemsets(sets, 0)
    frequent_itemsets(sets, -1)
    frequent_itemsets(sets, 1.5)
    frequent_itemsets(sets, NA)
    frequent_itemsets(sets, Inf)
    frequent_itemsets(sets, "1")
    frequent_itemsets(sets, 1:2)
    frequent_itemsets(sets, 1, min_size = 0)
    frequent_itemsets(sets, 1, min_size = NA)
    frequent_itemsets(sets, 1, max_size = 1.5)
    frequent_itemsets(sets, 1, min_size = 3, max_size = 2)
    frequent_itemsets(sets, 1, target = "all")
    frequent_itemsets(sets, 1, engine = "eclat")
    frequent_itemsets(sets, 1, threads = 0)
    frequent_itemsets(sets, 1, max_memory = 1)
  })
})

test_that("long transactions are mined in one piece", {
  for (engine in c("closure", "fpgrowth")) {
    # With the square of the length this takes minutes.
    found <- frequent_itemsets(list(seq_len(2e5)), 1, engine = engine, threads = 1)
    expect_identical(found$items, seq_len(2e5) - 1L)
    # Items that are in the same transactions stay together.
    nested <- list(seq_len(2000), seq_len(1000), seq(500, 2000))
    found <- frequent_itemsets(nested, 1, engine = engine, threads = 1)
    expect_identical(found$size, c(501L, 1000L, 1501L, 2000L))
    expect_identical(found$count, c(3L, 2L, 2L, 1L))
    alone <- frequent_itemsets(nested, 1, target = "frequent", max_size = 1, engine = engine,
                               threads = 1)
    expect_identical(sort(alone$count, decreasing = TRUE),
                     rep(3:1, c(501, 1499, 0)))
  }
  expect_length(frequent_itemsets(nested, 1, target = "maximal", threads = 1), 1)
})

test_that("what transactions take before the search is counted in max_memory", {
  expect_error(frequent_itemsets(list(seq_len(1e5)), 1, max_memory = 1e6), "max_memory",
               class = "synfire_error_budget")
})

test_that("the entry in C refuses what R should never pass", {
  options <- miner_options(1, 1, Inf, 1, 1, Inf, "closure", "closed", 1, 1e8)
  mined <- function(first, item, items = 3) .Call(r_mine_itemsets, first, item, items, options)
  expect_identical(mined(c(0, 2, 3), c(0L, 2L, 2L))$n, c(1, 1))
  expect_error(mined(c(0L, 2L), 0:1), "cannot be used")
  expect_error(mined(numeric(), 0:1), "cannot be used")
  expect_error(mined(c(0, 3), 0:1), "cannot be used")
  expect_error(mined(c(0, 2, 1), 0:1), "cannot be used")
  expect_error(mined(c(0, NaN), 0:1), "cannot be used")
  expect_error(mined(c(-1, 1), 0:1), "cannot be used")
  expect_error(mined(c(0, 2), c(0, 1)), "cannot be used")
  expect_error(mined(c(0, 2), c(0L, 3L)), "cannot be used")
  expect_error(mined(c(0, 2), c(0L, NA)), "cannot be used")
  expect_error(mined(c(0, 2), 0:1, -1), "cannot be used")
  expect_error(mined(c(0, 2), 0:1, NA), "cannot be used")
})
