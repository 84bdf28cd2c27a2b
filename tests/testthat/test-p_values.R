adjust <- function(p, correction, alpha = 0.05) synfire:::adjust_p(p, correction, alpha)

# The step-up method with the number of true nulls given, from its definition.
oracle_step_up <- function(p, level, nulls) {
  o <- order(p)
  passed <- which(p[o] <= seq_along(p) * level / nulls)
  seq_along(p) %in% o[seq_len(max(0L, passed))]
}

# p values of Benjamini and Hochberg (1995), in Benjamini, Krieger and Yekutieli (2006).
clinical <- c(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
              0.4262, 0.5719, 0.6528, 0.7590, 1.000)

test_that("the published example rejects 4 in one stage, and 8 in two", {
  expect_identical(sum(adjust(clinical, "BH") <= 0.05), 4L)
  expect_identical(sum(adjust(clinical, "TSBKY") <= 0.05), 8L)
  expect_identical(sum(adjust(clinical, "bonferroni") <= 0.05), 3L)
})

test_that("adjusted values are those of the R package multtest", {
  # Its mt.rawp2adjp() with alpha = 0.05, as recorded in the tests of statsmodels.
  p <- c(0.001, 0.002, 0.003, 0.004, 0.005, 0.05, 0.06, 0.07, 0.08, 0.09)
  expect_equal(adjust(p, "TSBH"), c(
    rep(0.005, 5), 0.04166666666666667, 0.04285714285714286, 0.04375, 0.04444444444444445, 0.045
  ), tolerance = 1e-14)
  expect_equal(adjust(p, "sidak"), c(
    0.00995511979025177, 0.01982095664805061, 0.02959822305108317, 0.03928762649718986,
    0.04888986953422814, 0.4012630607616213, 0.4613848859051006, 0.5160176928207072,
    0.5656115457763677, 0.6105838818818925
  ), tolerance = 1e-13)
  expect_equal(adjust(p, "holm-sidak"), c(
    0.00995511979025177, 0.0178566699880266, 0.02374950634358763, 0.02766623106147537,
    0.02962749064373438, rep(0.2262190625000001, 5)
  ), tolerance = 1e-13)
  p <- c(0.00031612, 0.0003965, 0.00048442, 0.00051932, 0.00101436, 0.00121506, 0.0014516,
         0.00265684, 0.00430043, 0.01743686, 0.02080285, 0.02785414, 0.0327198, 0.03494679,
         0.04206808, 0.08067095, 0.23882767, 0.28352304, 0.36140401, 0.43565145, 0.44866768,
         0.45368782, 0.48282088, 0.49223781, 0.55451638, 0.6207473, 0.71847853, 0.72424145,
         0.85950263, 0.89032747)
  expect_equal(adjust(p, "TSBH")[c(1, 5, 9, 15, 30)],
               c(0.00272643, 0.00425271, 0.01003433666666667, 0.058895312, 0.623229229),
               tolerance = 1e-13)
})

test_that("two stages reject what their definition rejects, whatever the order", {
  withr::local_seed(1)
  for (k in cases(200)) {
    p <- c(stats::runif(sample(0:10, 1), 0, 0.02), stats::runif(sample(1:12, 1)))
    p <- sample(p)
    for (case in list(list("TSBH", 1), list("TSBKY", 1.05))) {
      level <- 0.05 / case[[2L]]
      first <- oracle_step_up(p, level, length(p))
      left <- sum(!first)
      expected <- if (left %in% c(0L, length(p))) first else oracle_step_up(p, level, left)
      expect_identical(adjust(p, case[[1L]]) <= 0.05, expected)
    }
  }
})

test_that("every correction keeps the order, never lowers below two stages, and takes none", {
  p <- c(0.2, 0.001, 0.001, 0.9, 0.03)
  for (correction in synfire:::corrections) {
    adjusted <- adjust(p, correction)
    expect_false(is.unsorted(adjusted[order(p)]))
    expect_true(all(adjusted <= 1))
    expect_identical(adjust(double(), correction), double())
  }
  expect_identical(adjust(p, "none"), p)
  expect_equal(adjust(p, "sidak"), 1 - (1 - p)^5)
})

test_that("a p value that suffices is significant alone, and hardly more is not", {
  for (correction in synfire:::corrections) {
    enough <- synfire:::sufficient_p(7, correction, 0.05)
    others <- rep(0.99, 6)
    expect_lte(adjust(c(enough, others), correction)[[1L]], 0.05 + 1e-15)
    expect_gt(adjust(c(enough * 1.001, others), correction)[[1L]], 0.05)
  }
})

test_that("both estimators", {
  expect_identical(synfire:::surrogate_p(c(0, 3, 19), 19, "k/n"), c(0, 3, 19) / 19)
  expect_identical(synfire:::surrogate_p(c(0, 3, 19), 19, "(k+1)/(n+1)"), c(1, 4, 20) / 20)
})
