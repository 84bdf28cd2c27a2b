two_maps <- function() {
  a <- made_map(8)
  rho <- as.matrix(a)
  rho[, "s2"] <- rho[, "s2"] + 0.2
  rho["s5", ] <- rho["s5", ] - 0.1
  rho[1, 4] <- NA
  list(a = a, b = map_of(rho))
}

test_that("differences are those of the second map less the first", {
  m <- two_maps()
  d <- as.matrix(m$b) - as.matrix(m$a)
  change <- compare_maps(m$a, m$b)
  expect_equal(change[], d)
  expect_equal(change["s1", c("s2", "s3")], d["s1", c("s2", "s3")])
  expect_equal(change[2:3, 1:4], d[2:3, 1:4])
  long <- as.data.frame(change)
  expect_equal(nrow(long), 56)
  at <- cbind(long$effect, long$cause)
  expect_equal(long$rho_a, as.matrix(m$a)[at])
  expect_equal(long$rho_b, as.matrix(m$b)[at])
  expect_equal(long$difference, d[at])
  few <- as.data.frame(change, max_links = 3)
  diag(d) <- NA
  expect_equal(abs(few$difference), sort(abs(d), decreasing = TRUE)[1:3])
})

test_that("series are matched by name, whatever their order", {
  m <- two_maps()
  turned <- m$b[8:1, c(3:8, 1:2)]
  expect_equal(compare_maps(m$a, turned)[], compare_maps(m$a, m$b)[])
  same <- \(x) x[c("overall", "gains", "losses", "groups", "tests")]
  expect_equal(same(summary(compare_maps(m$a, turned))), same(summary(compare_maps(m$a, m$b))))
})

test_that("the summary agrees with its definitions", {
  m <- two_maps()
  groups <- rep(c("left", "right"), each = 4)
  about <- summary(compare_maps(m$a, m$b, groups = groups), n = 3)
  a <- as.matrix(m$a)
  b <- as.matrix(m$b)
  diag(a) <- NA
  a[is.na(b)] <- b[is.na(a)] <- NA
  d <- b - a
  expect_equal(about$overall,
               c(pairs = 55, rho_a = mean(a, na.rm = TRUE), rho_b = mean(b, na.rm = TRUE),
                 difference = mean(d, na.rm = TRUE), correlation = cor(c(a), c(b), "complete")))
  expect_equal(about$gains$difference, sort(d, decreasing = TRUE)[1:3])
  expect_true(all(about$gains$cause == "s2"))
  expect_equal(about$losses$difference, sort(d)[1:3])
  expect_true(all(about$losses$effect == "s5"))
  left <- 1:4
  within <- about$groups[about$groups$cause == "left" & about$groups$effect == "left", ]
  expect_equal(within$pairs, 11)
  cell <- about$groups[about$groups$cause == "right" & about$groups$effect == "left", ]
  expect_equal(cell$pairs, 16)
  expect_equal(cell$rho_a, mean(a[left, -left], na.rm = TRUE))
  expect_equal(cell$rho_b, mean(b[left, -left], na.rm = TRUE))
  expect_equal(cell$difference, mean(d[left, -left], na.rm = TRUE))
  test <- about$tests[about$tests$group == "right" & about$tests$role == "effect", ]
  change <- rowMeans(d[-left, ], na.rm = TRUE)
  expect_equal(test$series, 4)
  expect_equal(test$difference, mean(change))
  expect_equal(test$p_value, suppressWarnings(wilcox.test(change)$p.value))
  expect_equal(about$tests$p_adjusted, p.adjust(about$tests$p_value, "holm"))
  out <- capture.output(print(about))
  expect_match(out, "not of other animals", all = FALSE)
  expect_match(out, "Largest gains", all = FALSE)
})

test_that("maps that are equal have not changed", {
  m <- made_map(6)
  about <- summary(compare_maps(m, m))
  expect_equal(about$overall[c("difference", "correlation")], c(difference = 0, correlation = 1))
  expect_equal(about$tests$p_value, c(1, 1))
  expect_equal(nrow(about$gains) + nrow(about$losses), 0)
  expect_no_error(capture.output(print(about)))
})

test_that("maps that do not fit are refused", {
  m <- made_map(6)
  expect_error(compare_maps(m, m[1:5, ]), "only one of them has \"s6\"",
               class = "synfire_error_argument")
  expect_error(compare_maps(m, made_links()), "table of some links",
               class = "synfire_error_argument")
  expect_error(compare_maps(as.matrix(m), m), class = "synfire_error_argument")
  expect_error(compare_maps(m, m, groups = 1:3), "a group for each of 6 series",
               class = "synfire_error_argument")
  expect_error(compare_maps(m, m, groups = c(s1 = "a")), "without one for \"s2\"",
               class = "synfire_error_argument")
})

test_that("names of the maps are those they were called by", {
  normal <- hypoxia <- made_map(4)
  change <- compare_maps(normal, hypoxia)
  expect_match(capture.output(print(change)), "hypoxia less normal", all = FALSE)
  expect_match(format(compare_maps(made_map(4), made_map(4))), "b less a")
})

test_that("maps without a pair in common say so", {
  none <- map_of(matrix(NA_real_, 3, 3, dimnames = rep(list(letters[1:3]), 2)))
  change <- compare_maps(none, none)
  expect_match(capture.output(print(summary(change))), "No pair", all = FALSE)
  skip_if_not_installed("ggplot2")
  expect_message(ggplot2::autoplot(change), "No rho")
  expect_message(ggplot2::autoplot(change, "scatter"), "No rho")
})

test_that("a comparison whose parts were changed is refused", {
  change <- compare_maps(made_map(4), made_map(4))
  without <- \(part) structure(unclass(change)[setdiff(names(change), part)], class = class(change))
  swapped <- change
  swapped$b <- made_links()
  attr(swapped$b, "names") <- NULL
  for (bad in list(without("a"), without("b"), without("labels"), swapped,
                   structure(1, class = class(change)))) {
    refused <- \(code) expect_error(code, "must be as", class = "synfire_error_argument")
    refused(print(bad))
    refused(summary(bad))
    refused(as.data.frame(bad))
    refused(bad[1, 2])
    skip_if_not_installed("ggplot2")
    refused(ggplot2::autoplot(bad))
  }
})
