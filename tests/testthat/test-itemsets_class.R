argument_error <- "synfire_error_argument"

test_that("itemsets have a length, columns and names", {
  x <- four_itemsets()
  expect_s3_class(x, "itemsets")
  expect_length(x, 4L)
  expect_identical(x$size, c(1L, 2L, 2L, 3L))
  expect_identical(x$count, c(8L, 6L, 5L, 2L))
  expect_identical(x$support, c(0.4, 0.3, 0.25, 0.1))
  expect_identical(format(x), c("{tea}", "{bread, jam}", "{jam, tea}", "{bread, jam, tea}"))
  expect_identical(as.character(x), format(x))
  expect_identical(as.list(x)[[2L]], c("bread", "jam"))
  expect_error(x$duration, class = argument_error)
  expect_setequal(utils::.DollarNames(x, "s"), c("size", "support", "items", "runs"))
})

test_that("sets are chosen by number and by TRUE and FALSE", {
  x <- four_itemsets()
  expect_identical(format(x[c(4, 1, 4)]), format(x)[c(4, 1, 4)])
  expect_identical(x[c(4, 1, 4)]$count, c(2L, 8L, 2L))
  expect_identical(format(x[-2]), format(x)[-2])
  expect_identical(format(x[x$count > 5]), format(x)[1:2])
  expect_identical(x[], x)
  expect_identical(x[1:4], x)
  expect_length(x[0], 0L)
  expect_length(x[integer()], 0L)
  expect_length(x[rep(FALSE, 4)], 0L)
  expect_length(x[-(1:4)], 0L)
  expect_identical(format(x[c(0, 3)]), "{jam, tea}")
  expect_identical(format(x[0]), character())
  for (i in list(5, -5, c(-1, 1), NA, c(1, NA), 1.5, "tea", c(TRUE, FALSE), list(1))) {
    expect_error(x[i], class = argument_error)
  }
  expect_identical(attr(x[2], "transactions"), 20)
})

test_that("[ agrees with a list of sets, in any order and for mixed runs of sizes", {
  set.seed(1)
  sets <- replicate(200, sort(sample(letters, sample(5L, 1L))), simplify = FALSE)
  x <- hand_itemsets(sets, seq_along(sets), letters)
  expect_identical(as.list(x), sets)
  for (repeats in 1:20) {
    i <- sample(200L, sample(200L, 1L), replace = TRUE)
    expect_identical(as.list(x[i]), sets[i])
    expect_identical(x[i]$count, i)
    expect_identical(x[i]$size, lengths(sets[i]))
    expect_identical(format(x[i]), format(x)[i])
  }
  expect_identical(as.list(x[-(5:190)]), sets[-(5:190)])
})

test_that("head, tail and rev work", {
  x <- four_itemsets()
  expect_identical(head(x, 2), x[1:2])
  expect_identical(head(x, -1), x[1:3])
  expect_identical(tail(x, 1), x[4])
  expect_identical(format(rev(x)), rev(format(x)))
})

test_that("sort sorts by one column or several and leaves ties in order", {
  x <- four_itemsets()
  expect_identical(sort(x[4:1])$count, c(8L, 6L, 5L, 2L))
  expect_identical(sort(x, decreasing = FALSE)$count, c(2L, 5L, 6L, 8L))
  expect_identical(sort(x, by = "size")$count, c(2L, 6L, 5L, 8L))
  expect_identical(sort(x[c(1, 3, 2, 4)], by = "size")$count, c(2L, 5L, 6L, 8L))
  expect_identical(sort(x[c(1, 3, 2, 4)], by = c("size", "count"))$count,
                   c(2L, 6L, 5L, 8L))
  expect_error(sort(x, by = "duration"), class = argument_error)
  expect_error(sort(x, by = character()), class = argument_error)
  expect_error(sort(x, decreasing = NA), class = argument_error)
})

test_that("subset filters by columns and by items", {
  x <- four_itemsets()
  expect_identical(format(subset(x, size == 2)), c("{bread, jam}", "{jam, tea}"))
  expect_identical(subset(x, count > 5)$count, c(8L, 6L))
  least <- 6
  expect_identical((\(least) subset(x, count >= least))(3)$count, c(8L, 6L, 5L))
  expect_identical(subset(x, items = "bread")$count, c(6L, 2L))
  expect_identical(subset(x, items = c("tea", "bread"))$count, 2L)
  expect_length(subset(x, items = c("tea", "bread"), match = "any"), 4L)
  expect_identical(subset(x, size > 1, items = "tea")$count, c(5L, 2L))
  expect_length(subset(x[0], items = "tea"), 0L)
  expect_identical(subset(x), x)
  expect_error(subset(x, items = "milk"), class = argument_error)
  expect_error(subset(x, size), class = argument_error)
  expect_error(subset(x, TRUE), class = argument_error)
})

test_that("repeated sets are found among sets of all sizes", {
  x <- four_itemsets()
  expect_identical(duplicated(x[c(1, 2, 1, 4, 3, 2, 2)]),
                   c(FALSE, FALSE, TRUE, FALSE, FALSE, TRUE, TRUE))
  expect_identical(unique(x[c(1, 2, 1, 4, 3, 2, 2)]), x[c(1, 2, 4, 3)])
  set.seed(2)
  sets <- replicate(300, sort(sample(letters[1:6], sample(3L, 1L))), simplify = FALSE)
  expect_identical(duplicated(hand_itemsets(sets, 1:300)), duplicated(sets))
})

test_that("sets of the same items can be put together", {
  x <- four_itemsets()
  y <- c(x[3:4], sort(x)[1:2], x[0])
  expect_identical(format(y), format(x)[c(3, 4, 1, 2)])
  expect_identical(y$count, x$count[c(3, 4, 1, 2)])
  back <- y[c(3, 4, 1, 2)]
  expect_output(print(back), "no\\. size.*\n +1 ")
  expect_identical(as.data.frame(back), as.data.frame(x))
  p <- five_patterns()
  q <- structure(p, engine = "fpgrowth")
  expect_null(attr(c(p, q), "engine"))
  expect_identical(attr(c(p, q), "threads"), 2)
  expect_identical(unique(c(p, q))$count, p$count)
  expect_error(c(x, p), class = argument_error)
  expect_error(c(x, 1), class = argument_error)
  expect_error(c(p, five_patterns(bin_size = 0.001)), class = argument_error)
  expect_error(c(x, hand_itemsets(list("milk"), 1)), class = argument_error)
})

test_that("as.data.frame gives a row for each set", {
  expect_identical(
    as.data.frame(four_itemsets()),
    structure(list(
      items = list("tea", c("bread", "jam"), c("jam", "tea"), c("bread", "jam", "tea")),
      size = c(1L, 2L, 2L, 3L), count = c(8L, 6L, 5L, 2L), support = c(0.4, 0.3, 0.25, 0.1)
    ), class = "data.frame", row.names = 1:4)
  )
  expect_identical(dim(as.data.frame(four_itemsets()[0])), c(0L, 4L))
})

test_that("print fits a screen and shows the largest sets first, or those sorted first", {
  expect_snapshot(four_itemsets())
  expect_snapshot(print(sort(four_itemsets()), n = 2))
  expect_snapshot(print(four_itemsets()[0]))
  many <- hand_itemsets(as.list(sample(letters, 1000, replace = TRUE)), 1:1000)
  expect_length(capture.output(print(many)), 13L)
})

test_that("summary counts by size", {
  s <- summary(four_itemsets())
  expect_identical(s$by_size, data.frame(size = 1:3, itemsets = c(1L, 2L, 1L),
                                         least = c(8L, 5L, 2L), median = c(8, 5.5, 2),
                                         most = c(8L, 6L, 2L)))
  expect_snapshot(s)
  expect_identical(nrow(summary(four_itemsets()[0])$by_size), 0L)
})

test_that("an S4 class of the same name is shown its own way", {
  # As arules has one, with methods for its own generics.
  methods::setClass("itemsets", representation(n = "numeric"), where = globalenv())
  on.exit(methods::removeClass("itemsets", where = globalenv()))
  theirs <- methods::new("itemsets", n = 42)
  expect_output(print(theirs), "An object of class \"itemsets\"")
  methods::setGeneric("itemset_test", function(x) "any", where = globalenv())
  on.exit(methods::removeGeneric("itemset_test", where = globalenv()), add = TRUE)
  methods::setMethod("itemset_test", "itemsets", function(x) "theirs", where = globalenv())
  expect_identical(itemset_test(theirs), "theirs")
  expect_identical(itemset_test(four_itemsets()), "any")
  expect_identical(itemset_test(five_patterns()), "any")
})

test_that("many sets are printed, summed up, cut, sorted and left out", {
  skip_on_cran()
  n <- 2e5
  items <- rep(c(0L, 5L, 11L, 1L, 6L, 13L, 19L), n / 2)
  x <- new_itemsets(items, list(size = rep(3:4, n / 2), n = rep(1, n)), rep(1:1000, n / 1000),
                    list(units = letters[1:5], window_bins = 4L, bin_size = 0.001), "patterns")
  expect_lt(length(capture.output(print(x))), 40)
  expect_no_error(summary(x))
  few <- x[c(1, n)]
  sorted <- sort(x, by = c("count", "size"))
  kept <- subset(x, n_units >= 3 & duration < 0.003, units = "b")
  expect_identical(format(few), c("a@0 a@1 b@2", "b@0 b@1 d@2 e@3"))
  expect_identical(c(sorted$count[[1L]], sorted$size[c(1L, 100L)]), c(1000L, 4L, 4L))
  expect_length(kept, 0L)
  expect_length(unique(x), 2L)
})

test_that("more sets than are looked at at once have the columns of each of them", {
  few <- five_patterns()
  i <- withr::with_seed(3, sample(5L, 2e5, replace = TRUE))
  for (x in list(few[sort(i)], few[i])) {
    of <- if (identical(x$size, sort(x$size))) sort(i) else i
    expect_identical(x$size, few$size[of])
    expect_identical(x$n_units, few$n_units[of])
    expect_identical(x$duration, few$duration[of])
    expect_identical(format(x), format(few)[of])
    expect_length(unique(x), 5L)
    expect_length(subset(x, units = c("B", "C")), sum(of %in% c(4, 5)))
    expect_identical(format(x[c(65536:65537, 2e5)]), format(few)[of[c(65536:65537, 2e5)]])
  }
})

# ---- Other packages --------------------------------------------------------------------

test_that("transactions go to arules and its itemsets come back the same", {
  skip_if_not_installed("arules")
  x <- four_itemsets()
  a <- as_arules(x)
  expect_true(methods::validObject(a))
  expect_identical(arules::labels(arules::items(a)), c("{tea}", "{bread,jam}", "{jam,tea}",
                                                       "{bread,jam,tea}"))
  expect_identical(arules::quality(a)$count, x$count)
  expect_identical(arules::quality(a)$support, x$support)
  p <- as_arules(five_patterns())
  expect_identical(arules::quality(p)$count, five_patterns()$count)
  expect_identical(dim(p@items), c(5L, 30L))
  expect_identical(arules::labels(arules::items(p))[[4L]], "{C@0,B@1,A@5}")
  expect_identical(length(as_arules(x[0])), 0L)
  expect_error(as_arules(1), class = argument_error)
  expect_error(as_arules(), class = argument_error)
  baskets <- list(c("b", "a"), character(), c("a", "c"), c("c", "a", "b"))
  theirs <- methods::as(baskets, "transactions")
  mined <- arules::apriori(theirs, list(support = 1 / 4, target = "closed frequent itemsets"),
                           control = list(verbose = FALSE))
  ours <- frequent_itemsets(theirs, 1)
  as_rows <- \(a) sort(paste(arules::labels(arules::items(a)), arules::quality(a)$count))
  expect_identical(as_rows(as_arules(ours)), as_rows(mined))
})

test_that("sets whose parts were changed by hand are refused", {
  x <- spike_trains(c(0, 10, 20, 2, 12, 22) / 1000, rep(c("A", "B"), each = 3),
                    resolution = 1e-3)
  found <- mine_patterns(x, 0.001, 5, threads = 1)
  changed <- function(part, value) {
    out <- unclass(found)
    out[[part]] <- value
    structure(out, class = class(found))
  }
  without <- function(name, value) `attr<-`(found, name, value)
  wrong <- list(changed("items", 1:9), changed("count", 1:9), changed("runs", list()),
                changed("items", found$items + 100L), changed("items", as.double(found$items)),
                changed("runs", list(size = 1L, n = NA_real_)), without("units", NULL),
                without("window_bins", "a"), without("bin_size", NULL))
  for (sets in wrong) {
    expect_error(pattern_spectrum(sets), "was changed", class = "synfire_error_argument")
    expect_error(pattern_occurrences(x, sets), class = "synfire_error_argument")
    expect_error(as_arules(sets), class = "synfire_error_argument")
  }
})

test_that("parts of sets, and tables of them, are asked for by their names", {
  sets <- frequent_itemsets(list(c("a", "b"), "a"), 1, threads = 1)
  expect_identical(sets[["size"]], sets$size)
  expect_error(sets[[1]], "`x[i]` chooses sets", fixed = TRUE, class = "synfire_error_argument")
  expect_error(as.matrix(sets), "as.data.frame", class = "synfire_error_argument")
  expect_identical(format(head(sets, 1)), format(sets[1]))
  expect_identical(format(head(sets, -1)), format(sets[1]))
  expect_identical(format(tail(sets, 1)), format(sets[2]))
  expect_identical(length(tail(sets, 0)), 0L)
  expect_error(head(sets, "a"), class = "synfire_error_argument")
  expect_error(subset(sets, items = mean), "a function", class = "synfire_error_argument")
})

test_that("a missing number among the items asked for is named", {
  x <- frequent_itemsets(list(c("a", "b"), c("b", "c")), 1, threads = 1)
  expect_error(subset(x, items = c(NA_real_, 1)), "`items` must be",
               class = "synfire_error_argument")
})

test_that("sets are cut alike in pieces of any length", {
  sets <- frequent_itemsets(lapply(1:40, \(k) letters[unique(c(k %% 5, k %% 7, k %% 3)) + 1L]), 2)
  mixed <- sets[rev(seq_along(sets))]
  values <- stats::setNames(seq_along(mixed$items), letters[mixed$items + 1L])
  expected <- unname(split(values, rep(seq_along(mixed), mixed$size)))
  for (at_once in c(1, 3, 7, 1e6)) {
    expect_identical(synfire:::split_sets(mixed, values, at_once), expected)
  }
  expect_identical(synfire:::split_sets(mixed[0L], values[0L]), list())
})

test_that("what the vectors of a list hold is told of all and of each", {
  x <- list(c("a", "b"), factor("a"), 1:2, 3, integer(), NA, list(1), TRUE, Sys.Date(), NULL,
            structure("a", class = "name"))
  expect_identical(synfire:::item_kinds(x), vapply(x, synfire:::item_kind, ""))
  expect_identical(synfire:::item_kinds(x[c(1, 1)]), c("text", "text"))
  expect_identical(synfire:::item_kinds(list()), character())
})
