# What bench/causes.R counts, which is in the sources and not in the package.
rivals_script <- function(...) {
  path <- test_path("..", "..", ...)
  skip_if_not(file.exists(path), "the sources are not here")
  normalizePath(path)
}

rivals_parts <- function() {
  names <- new.env()
  sys.source(rivals_script("vignettes", "causes", "wirings.R"), names)
  sys.source(rivals_script("vignettes", "causal-maps", "simulated.R"), names)
  for (part in c("systems.R", "kinds.R", "sets.R", "score.R", "methods.R")) {
    sys.source(rivals_script("bench", "causes", part), names)
  }
  names
}

wiring_of <- function(n, from, to) {
  wiring <- matrix(FALSE, n, n)
  wiring[cbind(from, to)] <- TRUE
  wiring
}

# Each pair of one that is and one that is not, one after the other.
slow_area <- function(score, yes) {
  score[is.na(score)] <- -Inf
  wins <- 0
  for (a in score[yes]) for (b in score[!yes]) wins <- wins + (a > b) + (a == b) / 2
  wins / (sum(yes) * sum(!yes))
}

# The share of links among all pairs that score at least as much, for each link.
slow_precision <- function(score, yes) {
  score[is.na(score)] <- -Inf
  mean(vapply(score[yes], \(least) mean(yes[score >= least]), 0))
}

# Whether a walk of any length leads from one to the other, by trying all of them.
slow_paths <- function(wiring) {
  n <- nrow(wiring)
  reached <- matrix(FALSE, n, n)
  for (from in seq_len(n)) {
    at <- wiring[from, ]
    for (step in seq_len(n)) {
      reached[from, ] <- reached[from, ] | at
      at <- vapply(seq_len(n), \(to) any(wiring[at, to]), NA)
    }
  }
  reached
}

test_that("areas under the curves are those of all pairs, tied or without score", {
  skip_unless_nightly()
  parts <- rivals_parts()
  set.seed(1)
  for (k in 1:50) {
    n <- sample(3:30, 1)
    yes <- seq_len(n) %in% sample(n, sample(n - 1, 1))
    score <- sample(c(round(rnorm(n), sample(0:3, 1)), NA), n)
    expect_equal(parts$area_under_roc(score, yes), slow_area(score, yes))
    expect_equal(parts$area_under_pr(score, yes), slow_precision(score, yes))
  }
  expect_identical(parts$area_under_roc(c(1, 2, 3, 4), c(FALSE, FALSE, TRUE, TRUE)), 1)
  expect_identical(parts$area_under_roc(c(4, 3, 2, 1), c(FALSE, FALSE, TRUE, TRUE)), 0)
  expect_identical(parts$area_under_roc(rep(1, 4), c(FALSE, FALSE, TRUE, TRUE)), 0.5)
  expect_identical(parts$area_under_roc(1:3, rep(TRUE, 3)), NA_real_)
})

test_that("pairs are direct, mediated, backwards, shared or unrelated", {
  skip_unless_nightly()
  parts <- rivals_parts()
  words <- \(wiring) {
    kind <- parts$kinds_of_pairs(wiring)
    expect_true(all(is.na(diag(kind))))
    c(t(kind))[!is.na(t(kind))]
  }
  # Row by row: 1 to 2, 1 to 3, 2 to 1, 2 to 3, 3 to 1, 3 to 2.
  expect_identical(words(wiring_of(3, 1:2, 2:3)),
                   c("direct", "mediated", "backwards", "direct", rep("backwards", 2)))
  expect_identical(words(wiring_of(3, c(1, 1), 2:3)),
                   c("direct", "direct", "backwards", "shared", "backwards", "shared"))
  expect_identical(words(wiring_of(3, c(1, 2, 1), c(2, 3, 3))),
                   c("direct", "direct", "backwards", "direct", "backwards", "backwards"))
  expect_identical(words(wiring_of(3, 1:3, c(2, 3, 1))),
                   c("direct", "mediated", "mediated", "direct", "direct", "mediated"))
  expect_identical(words(wiring_of(3, 1, 2)),
                   c("direct", "unrelated", "backwards", rep("unrelated", 3)))
  # A driver reaches both through others as well.
  far <- parts$kinds_of_pairs(wiring_of(5, c(1, 2, 1, 4), c(2, 3, 4, 5)))
  expect_identical(far[3, 5], "shared")
  expect_identical(far[1, 5], "mediated")
})

test_that("paths are all walks, loops included", {
  skip_unless_nightly()
  parts <- rivals_parts()
  set.seed(2)
  for (k in 1:30) {
    n <- sample(2:9, 1)
    wiring <- matrix(runif(n^2) < runif(1, 0.05, 0.4), n)
    diag(wiring) <- FALSE
    expect_identical(parts$paths(wiring), slow_paths(wiring))
  }
})

test_that("what is called is counted by kind, and pooled over systems", {
  skip_unless_nightly()
  parts <- rivals_parts()
  # 1 drives 2 and 3, and 2 drives 4.
  wiring <- wiring_of(4, c(1, 1, 2), c(2, 3, 4))
  called <- wiring_of(4, c(1, 1, 2, 3, 4), c(2, 4, 3, 2, 4))
  one <- parts$score_links(list(score = called + 0, called = called), wiring)
  columns <- c("direct", "direct_called", "mediated", "mediated_called", "backwards",
               "backwards_called", "shared", "shared_called", "unrelated")
  counts <- unlist(one[columns])
  expect_equal(unname(counts), c(3, 1, 1, 1, 4, 0, 4, 2, 0))
  # Of 3 links and 9 others, 1 and 3 have a score.
  scores <- c(1, 0, 0, 1, 1, 1, rep(0, 6))
  expect_equal(one$auc, slow_area(scores, rep(c(TRUE, FALSE), c(3, 9))))
  perfect <- parts$score_links(list(score = wiring + 0, called = wiring), wiring)
  both <- parts$pool_scores(rbind(one, perfect))
  expect_equal(both$found, 100 * 4 / 6)
  expect_equal(both$mediated, 50)
  expect_equal(both$shared, 25)
  expect_equal(both$false, 100 * 3 / 18)
  expect_equal(both$false_links, 3)
  # Four of six links, and three others.
  expect_equal(both$f1, 2 * 4 / (2 * 4 + 2 + 3))
  expect_equal(both$auc, mean(c(one$auc, 1)))
  expect_equal(unlist(both[c("links", "mediated_pairs", "shared_pairs", "other_pairs")]),
               c(links = 6, mediated_pairs = 2, shared_pairs = 8, other_pairs = 18))
})

test_that("no pair of a kind gives no share of it", {
  skip_unless_nightly()
  parts <- rivals_parts()
  wiring <- wiring_of(2, 1, 2)
  row <- parts$score_links(list(score = wiring + 0, called = !wiring), wiring)
  expect_identical(parts$pool_scores(row)$mediated, NA_real_)
  # The diagonal is called here, and is no pair.
  expect_equal(parts$pool_scores(row)$false_links, 1)
})

test_that("Granger's F is that of two fits, with and without the cause", {
  skip_unless_nightly()
  parts <- rivals_parts()
  set.seed(3)
  x <- parts$run_linear(7, parts$draw_links(7), 200)
  order <- parts$order_by_bic(x, 3:6)
  fits <- vapply(3:6, \(k) {
    now <- x[7:200, ]
    past <- do.call(cbind, lapply(1:k, \(lag) x[7:200 - lag, ]))
    residuals <- residuals(lm(now ~ past))
    log(det(crossprod(residuals) / 194)) + log(194) / 194 * 49 * k
  }, 0)
  expect_identical(order, (3:6)[[which.min(fits)]])
  found <- parts$granger(x)
  rows <- (order + 1):200
  past <- \(k) vapply(seq_len(order), \(lag) x[rows - lag, k], double(length(rows)))
  for (pair in list(c(1, 2), c(4, 3), c(7, 6))) {
    others <- do.call(cbind, lapply(setdiff(1:7, pair[[1]]), past))
    y <- x[rows, pair[[2]]]
    slow <- anova(lm(y ~ others), lm(y ~ others + past(pair[[1]])))
    expect_equal(found$score[pair[[1]], pair[[2]]], slow$F[[2]])
  }
  expect_false(any(diag(found$called)))
})

test_that("Granger causality finds the direction of a strong link", {
  skip_unless_nightly()
  parts <- rivals_parts()
  set.seed(4)
  x <- cbind(a = rnorm(300), b = 0, c = rnorm(300))
  for (t in 4:300) x[t, "b"] <- x[t - 2, "a"] + 0.3 * rnorm(1)
  truth <- wiring_of(3, 1, 2)
  expect_identical(unname(parts$granger(x)$called), truth)
})

test_that("a pair without a p value is not called, and a map's rho is of cause and effect", {
  parts <- rivals_parts()
  p <- matrix(c(NA, 1e-9, NA, NA), 2)
  expect_identical(parts$by_p_values(p), wiring_of(2, 2, 1))
  set.seed(5)
  x <- simulate_coupled_maps(300, rbind(c(0, 0.1), c(0, 0)))
  found <- parts$map_by(x)
  links <- as.data.frame(causal_map(x, threads = 1))
  expect_gt(found$score[1, 2], found$score[2, 1])
  expect_equal(found$score["x01", "x02"],
               links$rho[links$cause == "x01" & links$effect == "x02"])
  expect_false(any(found$called))
})

test_that("what PCMCI+ says is read link by link", {
  skip_unless_nightly()
  parts <- rivals_parts()
  size <- c(3, 3, parts$longest_delay + 1)
  p <- array(1, size)
  value <- array(0, size)
  graph <- array(0, size)
  # 1 drives 2 after two steps; 3 and 1 are linked at once, with no direction; 2 drives 3
  # at once.
  p[1, 2, 3] <- 1e-8
  p[3, 1, 1] <- p[1, 3, 1] <- 1e-20
  p[2, 3, 1] <- 1e-4
  # Of two links with the same p value, that with the larger statistic is surer, whatever
  # its sign.
  p[3, 2, 4] <- p[2, 1, 2] <- 0.2
  value[3, 2, 4] <- -0.3
  value[2, 1, 2] <- 0.1
  graph[1, 2, 3] <- graph[2, 3, 1] <- 1
  flat <- \(x) c(aperm(x, 3:1))
  found <- parts$read_pcmci(c(flat(p), flat(value), flat(graph)), 3)
  expect_identical(found$called, wiring_of(3, c(1, 2), c(2, 3)))
  order <- order(found$score, decreasing = TRUE)[1:4]
  expect_identical(arrayInd(order, c(3, 3)), rbind(1:2, 2:3, 3:2, 2:1))
})

test_that("direct links of this package are scored by t, other pairs come after them", {
  skip_unless_nightly()
  parts <- rivals_parts()
  x <- parts$numbered_kind("ricker", 1)$x
  n <- ncol(x)
  found <- parts$direct_by(x)
  map <- causal_map(x, threads = 1)
  table <- direct_links(map, x, threads = 1)
  at <- cbind(match(table$cause, colnames(x)), match(table$effect, colnames(x)))
  tested <- !is.na(table$t)
  expect_gt(sum(found$called), 0)
  expect_equal(found$score[at[tested, ]], table$t[tested])
  expect_identical(found$called[at], table$link == "direct")
  expect_identical(sum(found$called), sum(table$link == "direct"))
  scored <- matrix(FALSE, n, n)
  scored[at[tested, ]] <- TRUE
  others <- found$score[!scored & row(scored) != col(scored)]
  expect_true(all(others < min(table$t[tested])))
  # Where no link is looked at, nothing is called.
  expect_false(any(parts$direct_by(x[1:30, 1:2])$called))
})

test_that("systems are drawn again from their number, and none goes round or in step", {
  skip_unless_nightly()
  parts <- rivals_parts()
  for (kind in unlist(parts$kinds)) {
    system <- parts$numbered_kind(kind, 1, steps = 400)
    n <- ncol(system$x)
    expect_gte(n, 3)
    expect_identical(nrow(system$x), if (kind == "var, 300 steps") 300L else 400L)
    expect_true(all(is.finite(system$x)))
    expect_identical(dim(system$wiring), c(n, n))
    expect_gte(sum(system$wiring), if (startsWith(kind, "hidden")) 1 else 2)
    expect_false(any(diag(system$wiring)))
    expect_identical(!is.null(system$noisy), startsWith(kind, "noisy "))
    expect_identical(parts$numbered_kind(kind, 1, steps = 400), system)
  }
  expect_false(parts$is_lively(cbind(runif(300), rep(1:2, 150))))
  x <- runif(300)
  expect_false(parts$is_lively(cbind(x, x + rnorm(300, sd = 0.01))))
  expect_true(parts$is_lively(cbind(x, runif(300))))
})

test_that("a small table is measured, and what is not installed is said to be missing", {
  skip_unless_nightly()
  skip_on_cran()
  skip_on_os("windows")
  root <- dirname(dirname(rivals_script("bench", "causes.R")))
  out <- withr::local_tempdir()
  libraries <- c(dirname(getNamespaceInfo("synfire", "path")), .libPaths())
  said <- system2(
    file.path(R.home("bin"), "Rscript"),
    c("--vanilla", file.path(root, "bench", "causes.R"), shQuote("kinds=weak var; diamond"),
      "systems=2", paste0("out=", file.path(out, "kinds.csv")),
      shQuote("methods=granger; pcmci+")),
    stdout = TRUE, stderr = FALSE,
    env = c("R_TESTS=", paste0(c("PEERS=", "SYNFIRE_DATA="), withr::local_tempdir()),
            paste0("R_LIBS=", paste(libraries, collapse = ":")))
  )
  table <- read.csv(file.path(out, "kinds.csv"))
  # The files of the other kind are absent.
  expect_identical(table$kind, c("weak var", "weak var"))
  expect_identical(table$method, c("granger", "pcmci+"))
  expect_identical(table$finished, c(2L, 0L))
  expect_identical(table$result, c("done", "missing: not installed"))
  expect_gt(table$auc[[1]], 0.9)
  expect_true(is.na(table$auc[[2]]))
  expect_match(said, "granger +2 ", all = FALSE)
})
