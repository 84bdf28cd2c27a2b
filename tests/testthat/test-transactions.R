argument_error <- "synfire_error_argument"
parts <- \(x) as_transactions_parts(x, "transactions")

# The transactions as sets of labels.
sets_of <- function(p) {
  lapply(seq_len(length(p$first) - 1L), \(t) {
    sort(unique(p$labels[p$item[seq_len(p$first[t + 1L] - p$first[t]) + p$first[t]] + 1L]))
  })
}

test_that("lists of names are read, with labels in one order everywhere", {
  p <- parts(list(c("b", "a", "b"), character(), c("B", "a"), NULL))
  expect_identical(p$first, c(0, 3, 3, 5, 5))
  expect_identical(p$labels, c("B", "a", "b"))
  expect_identical(p$item, c(2L, 1L, 2L, 0L, 1L))
  expect_identical(p$items, 3L)
  expect_identical(sets_of(p), list(c("a", "b"), character(), sort(c("B", "a")), character()))
})

test_that("factors are read by their labels, whatever their codes", {
  p <- parts(list(factor("z", c("y", "z")), factor(c("y", "a")), c("z", "a")))
  expect_identical(sets_of(p), list("z", c("a", "y"), c("a", "z")))
})

test_that("whole numbers are items up to 2^31 - 1, sorted as numbers", {
  p <- parts(list(c(10, 9), 2147483647, 1L, integer(), 100000))
  expect_identical(p$labels, c("1", "9", "10", "100000", "2147483647"))
  expect_identical(p$item, c(2L, 1L, 4L, 0L, 3L))
  expect_identical(p$first, c(0, 2, 3, 4, 4, 5))
})

test_that("no transactions and empty ones are fine", {
  none <- list(first = 0, item = integer(), items = 0L, labels = character())
  expect_identical(parts(list()), none)
  expect_identical(parts(data.frame()), none)
  expect_identical(parts(list(NULL, character()))$first, c(0, 0, 0))
  expect_identical(parts(matrix(FALSE, 0, 2))$first, 0)
  expect_identical(parts(matrix(FALSE, 2, 0))$first, c(0, 0, 0))
  expect_length(frequent_itemsets(list(), 1, threads = 1), 0L)
  expect_length(frequent_itemsets(list(character()), 1, threads = 1), 0L)
})

test_that("matrices have a row for each transaction", {
  m <- matrix(c(TRUE, FALSE, TRUE, TRUE, FALSE, FALSE), 2,
              dimnames = list(NULL, c("z", "a", "q")))
  expected <- list(first = c(0, 2, 3), item = c(0L, 1L, 1L), items = 3L,
                   labels = c("z", "a", "q"))
  expect_identical(parts(m), expected)
  expect_identical(parts(2.5 * m), expected)
  expect_identical(parts(unname(m))$labels, c("1", "2", "3"))
  expect_error(parts(matrix("a")), class = argument_error)
  expect_error(parts(cbind(a = TRUE, a = TRUE)), "different names", class = argument_error)
})

test_that("sparse matrices of all kinds are read as their dense ones", {
  skip_if_not_installed("Matrix")
  set.seed(1)
  for (k in cases(10)) {
    m <- matrix(stats::rbinom(42, 1, 0.3), 6, dimnames = list(NULL, letters[1:7]))
    expected <- parts(m)
    sparse <- Matrix::Matrix(m, sparse = TRUE)
    for (class in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix", "lMatrix", "nMatrix")) {
      expect_identical(parts(methods::as(sparse, class)), expected)
    }
  }
  zero <- Matrix::sparseMatrix(i = 1:2, j = 1:2, x = c(0, 1))
  expect_identical(parts(zero)$first, c(0, 0, 1))
  twice <- Matrix::sparseMatrix(i = c(1, 1), j = c(2, 2), x = c(1, 1), repr = "T")
  expect_identical(parts(twice)$item, 1L)
  expect_identical(parts(Matrix::Diagonal(3))$item, 0:2)
  expect_identical(parts(Matrix::Matrix(c(0, 1, 1, 0), 2, sparse = TRUE))$item, 1:0)
})

test_that("data frames give an item for each TRUE and each value", {
  p <- parts(data.frame(new = c(TRUE, FALSE, TRUE), colour = factor(c("r", "g", "r")),
                        size = c("L", "L", "S")))
  expect_identical(p$labels, c("colour=g", "colour=r", "new", "size=L", "size=S"))
  expect_identical(sets_of(p), list(c("colour=r", "new", "size=L"), c("colour=g", "size=L"),
                                    c("colour=r", "new", "size=S")))
  expect_error(parts(data.frame(a = 1:2)), "cut", class = argument_error)
})

test_that("what is missing is told of with its transaction", {
  skip_if_not_installed("Matrix")
  sparse <- Matrix::sparseMatrix(i = c(1, 3), j = c(1, 2), x = c(1, NA))
  for (x in list(list("a", "b", NA), list("a", "b", c("c", NA)), list(1, 2:3, c(4, NA)),
                 list("a", "b", factor(c("c", NA))), matrix(c(TRUE, FALSE, NA), 3),
                 matrix(c(1, 0, NaN), 3), data.frame(a = c(TRUE, TRUE, NA)),
                 data.frame(a = letters[1:4], b = c("x", "y", NA, NA)), sparse)) {
    expect_error(parts(x), "NA in transaction 3", class = argument_error)
  }
})

test_that("what holds no items is told of with its transaction", {
  expect_error(parts(list("a", 1)), "numbers in transaction 2", class = argument_error)
  expect_error(parts(list(1, 1.5)), "1.5 in transaction 2", class = argument_error)
  expect_error(parts(list(1, c(2, 2^31))), "2147483648 in transaction 2", class = argument_error)
  expect_error(parts(list(1, Inf)), "Inf in transaction 2", class = argument_error)
  expect_error(parts(list(1, TRUE)), "TRUE in transaction 2", class = argument_error)
  expect_error(parts(list("a", list("b"))), "transaction 2", class = argument_error)
  expect_error(parts("a"), "list", class = argument_error)
  expect_error(parts(NULL), "NULL", class = argument_error)
  expect_error(frequent_itemsets(), "transactions", class = argument_error)
})

test_that("a repeated item counts once, an empty transaction holds nothing", {
  x <- frequent_itemsets(list(c("a", "a", "b"), character(), "a"), 1, threads = 1)
  expect_identical(x$count[match("{a}", format(x))], 2L)
  expect_identical(attr(x, "transactions"), 3)
})

test_that("arules' transactions are read as the list they came from", {
  skip_if_not_installed("arules")
  baskets <- list(c("b", "a"), character(), c("a", "c"), c("c", "a", "b"))
  expect_identical(sets_of(parts(methods::as(baskets, "transactions"))),
                   lapply(baskets, sort))
})
