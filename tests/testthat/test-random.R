words <- function(...) as.numeric(paste0("0x", c(...)))
hex <- function(x) sprintf("%04x%04x", x %/% 65536, x %% 65536)

test_that("Philox gives the published known answers", {
  # The vectors for philox4x32 with 10 rounds that come with Random123.
  expect_identical(hex(.Call(r_philox, numeric(4), numeric(2))),
                   c("6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"))
  expect_identical(hex(.Call(r_philox, rep(2^32 - 1, 4), rep(2^32 - 1, 2))),
                   c("408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"))
  expect_identical(
    hex(.Call(r_philox, words("243f6a88", "85a308d3", "13198a2e", "03707344"),
              words("a4093822", "299f31d0"))),
    c("d16cfe09", "94fdcceb", "5001e420", "24126ea1")
  )
})

test_that("a stream is the cipher at (position, stream) under the key", {
  key <- c(123456789, 4000000000)
  stream <- 5 + 7 * 2^32
  block <- \(position) .Call(r_philox, c(position, 0, 5, 7), key)
  word <- c(block(0), block(1))
  # The first word is the low half; the lowest 11 of the 64 bits are dropped.
  double <- function(low, high) (high * 2^21 + low %/% 2^11) / 2^53
  expect_identical(random_uniform(4, key, stream),
                   double(word[c(1, 3, 5, 7)], word[c(2, 4, 6, 8)]))
})

test_that("set.seed() decides the key, and the key moves R's generator on", {
  set.seed(7)
  a <- random_key()
  b <- random_key()
  set.seed(7)
  expect_identical(random_key(), a)
  expect_identical(random_key(), b)
  expect_false(identical(a, b))
  set.seed(8)
  expect_false(identical(random_key(), a))
  expect_true(all(a >= 0 & a < 2^32 & a == floor(a)))
})

test_that("numbers are uniform and streams differ", {
  key <- c(1, 2)
  x <- random_uniform(1e5, key, 0)
  expect_true(all(x > 0 & x < 1))
  # Chi-squared of 100 cells: 99 degrees of freedom, far below 1e-6 beyond 180.
  expect_lt(sum((tabulate(ceiling(x * 100), 100) - 1000)^2 / 1000), 180)
  expect_lt(abs(cor(x[-1], x[-1e5])), 0.02)
  expect_lt(abs(cor(x, random_uniform(1e5, key, 1))), 0.02)
  expect_lt(abs(cor(x, random_uniform(1e5, c(2, 2), 0))), 0.02)
  expect_lt(abs(cor(x, random_uniform(1e5, c(1, 3), 0))), 0.02)
  expect_identical(x[1:10], random_uniform(10, key, 0))
  expect_identical(random_uniform(0, key, 0), numeric())
})

test_that("whole numbers are uniform below any bound", {
  key <- c(3, 4)
  expect_identical(random_below(5, 1, key, 0), numeric(5))
  x <- random_below(6e4, 6, key, 0)
  expect_setequal(x, 0:5)
  expect_lt(sum((tabulate(x + 1, 6) - 1e4)^2 / 1e4), 35)
  # Three quarters of 2^64: 64 bits modulo the bound would give half of the numbers below
  # a third of it.
  large <- random_below(1e4, 1.5 * 2^63, key, 1)
  expect_lt(abs(mean(large < 2^62) - 1 / 3), 0.03)
})
