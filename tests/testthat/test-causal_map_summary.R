# A map whose values are known, with pairs of a series with itself, missing ones and ties:
# 600 libraries, so that threads share them.
made_map <- function(rows = 600, columns = 40) {
  set.seed(5)
  rho <- matrix(round(runif(rows * columns, -1, 1), 2), rows)
  rho[sample(length(rho), length(rho) %/% 100)] <- NA
  series <- paste0("s", seq_len(rows))
  dimnames(rho) <- list(series, rev(series)[seq_len(columns)])
  synfire:::new_causal_map(rho, E = rep(2L, columns), parameters = list(), call = NULL,
                           elapsed = c(total = 0), device = "cpu")
}

# All pairs of two series, library by library.
pairs_of <- function(map) {
  rho <- t(as.matrix(map))
  table <- data.frame(cause = rownames(rho)[row(rho)], effect = colnames(rho)[col(rho)],
                      rho = as.vector(rho))
  table[table$cause != table$effect & !is.na(table$rho), ]
}

test_that("the summary counts and averages all pairs of two series", {
  map <- made_map()
  pairs <- pairs_of(map)
  moments <- synfire:::map_moments(map)
  expect_equal(moments$known, nrow(pairs))
  expect_equal(moments$missing, 600 * 40 - 40 - nrow(pairs))
  expect_equal(moments$mean, mean(pairs$rho))
  expect_equal(moments$range, range(pairs$rho))
  of <- \(by, names) unname(tapply(pairs$rho, factor(by, names), mean))
  expect_equal(moments$library_mean, as.vector(of(pairs$effect, rownames(map))))
  expect_equal(moments$target_mean, as.vector(of(pairs$cause, colnames(map))))
  cell <- pmin(floor((pairs$rho + 1) * 2000), 3999) + 1
  expect_identical(moments$counts, as.double(tabulate(cell, 4000)))
  own <- match(rownames(map), colnames(map))
  expect_identical(moments$self, unname(as.matrix(map)[cbind(seq_len(600), own)]))
})

test_that("links of a map are those above the threshold, or the strongest", {
  map <- made_map()
  pairs <- pairs_of(map)
  row.names(pairs) <- NULL
  above <- pairs[pairs$rho > 0.5, ]
  row.names(above) <- NULL
  expect_identical(as.data.frame(map, threshold = 0.5), above)
  for (most in c(1, 25, 5000)) {
    strongest <- pairs[order(-pairs$rho, method = "radix")[seq_len(most)], ]
    row.names(strongest) <- NULL
    expect_identical(as.data.frame(map, max_links = most), strongest)
  }
  # Both a threshold and a number of links, which is more or less than there are above it.
  for (most in nrow(above) + -1:1) {
    strongest <- above[order(-above$rho, method = "radix")[seq_len(min(most, nrow(above)))], ]
    found <- as.data.frame(map, threshold = 0.5, max_links = most)
    expect_identical(found[order(-found$rho, method = "radix"), "rho"], strongest$rho)
    expect_identical(nrow(found), nrow(strongest))
  }
  expect_identical(nrow(as.data.frame(map, max_links = 1e6)), nrow(pairs))
  expect_identical(nrow(as.data.frame(map, threshold = 1)), 0L)
})

test_that("numbers of a whole map do not depend on threads", {
  map <- made_map()
  self <- synfire:::whole_self(synfire:::self_column(map))
  sums <- \(threads) .Call(synfire:::r_whole_sums, map, self, list(threads = threads))
  above <- \(threads) {
    .Call(synfire:::r_whole_above, map, self, c(0.2, Inf), list(threads = threads))
  }
  expect_identical(sums(3L), sums(1L))
  expect_identical(above(3L), above(1L))
})

test_that("a map without a rho has an empty summary", {
  map <- made_map(3, 3)
  map[] <- NA_real_
  moments <- synfire:::map_moments(map)
  expect_identical(moments$known, 0)
  expect_identical(moments$range, c(NA_real_, NA_real_))
  expect_identical(moments$library_mean, rep(NA_real_, 3))
  expect_identical(nrow(as.data.frame(map, threshold = -1)), 0L)
})
