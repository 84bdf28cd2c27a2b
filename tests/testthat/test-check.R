exported <- function() {
  names <- sort(getNamespaceExports("synfire"))
  rlang::set_names(lapply(names, \(name) getExportedValue("synfire", name)), names)
}

required <- function(f) {
  defaults <- formals(f)
  setdiff(names(defaults)[vapply(defaults, identical, NA, quote(expr = ))], "...")
}

test_that("each function names an argument that is missing, before it looks at others", {
  # A single unit has no delays.
  optional <- list(episode = c("low", "high"))
  functions <- exported()
  for (name in names(functions)) {
    needed <- setdiff(required(functions[[name]]), optional[[name]])
    for (arg in needed) {
      others <- setdiff(needed, arg)
      given <- rep(list(quote(stop("looked at"))), length(others))
      names(given) <- others
      expect_error(eval(as.call(c(functions[[name]], given))), sprintf("`%s`", arg),
                   class = "synfire_error_argument", label = paste(name, arg))
    }
  }
  expect_error(episode(c("A", "B"), high = 1), "`low`", class = "synfire_error_argument")
  expect_error(episode(c("A", "B"), 0), "`high`", class = "synfire_error_argument")
})

test_that("arguments about the machine come last, and in one order", {
  last <- c("file", "folder", "device", "gpus", "gpu", "threads", "max_memory")
  for (name in names(exported())) {
    # The first argument is what is read, also where it is a file; feed_file() reads its
    # second one into the first.
    arguments <- names(formals(exported()[[name]]))[-seq_len(1L + (name == "feed_file"))]
    there <- intersect(last, arguments)
    expect_identical(utils::tail(arguments, length(there)), there, label = name)
  }
})

test_that("words that mean one thing are the only ones for it", {
  for (name in names(exported())) {
    arguments <- names(formals(exported()[[name]]))
    expect_false(any(c("min_occ", "max_occ", "surrogates") %in% arguments), label = name)
  }
})

test_that("the names of earlier versions are answered with the names of today", {
  x <- spike_trains(1:9, rep(c("A", "B", "C"), 3))
  answered <- function(code, old, new) {
    expect_error(code, sprintf("`%s` must be given as `%s`", old, new), fixed = TRUE,
                 class = "synfire_error_argument")
  }
  answered(mine_patterns(x, 1, 3, min_occ = 2), "min_occ", "min_count")
  answered(mine_patterns(x, 1, 3, max_occ = 2), "max_occ", "max_count")
  # Which R would take for the beginning of the new name.
  answered(mine_patterns(x, 1, window = 3), "window", "window_bins")
  answered(spade(x, 1, 3, min_occ = 2), "min_occ", "min_count")
  answered(spade(x, 1, window = 3), "window", "window_bins")
  answered(pvalue_spectrum(x, 1, window = 3), "window", "window_bins")
  answered(reduce_patterns(1, min_occ = 2), "min_occ", "min_count")
  answered(surrogate_trains(x, n = 2), "n", "n_surrogates")
  answered(surrogate_trains(x, 2, method = "dither"), "method", "surrogate")
  answered(surrogate_series(1:9, n = 2), "n", "n_surrogates")
  answered(surrogate_series(1:9, 2, method = "phase"), "method", "surrogate")
  answered(ccm(data.frame(1:9), "a", "b", surrogates = 9), "surrogates", "n_surrogates")
  answered(causal_map(diag(9), surrogates = 9), "surrogates", "n_surrogates")
  wrapped <- function(...) mine_patterns(x, 1, 3, ...)
  answered(wrapped(min_occ = 2), "min_occ", "min_count")
  expect_error(causal_map(diag(9), file = "map.h5", resume = TRUE), "must be left out",
               class = "synfire_error_argument")
  expect_error(mine_patterns(x, 1, 3, min_counts = 2), "Its arguments are x, bin_size",
               class = "synfire_error_argument")
  expect_error(frequent_itemsets(list("a"), min_support = 2), "`min_count`",
               class = "synfire_error_argument")
})

test_that("an argument that is very long is cut in messages", {
  long <- strrep("a{b} ", 20000)
  x <- spike_trains(c(1, 2), "a")
  said <- list(
    quote(read_spikes(long)), quote(x[unit = long]), quote(surrogate_trains(x, surrogate = long)),
    quote(spike_trains(1, 1, start = long)),
    quote(mine_episodes(x, 2, c(0, 1), engine = long)), quote(read_spikes("x.csv", format = long))
  )
  # report() asks for ggplot2 before it looks at its arguments.
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    said <- c(said, quote(report(x, title = "t", by = long, open = FALSE)))
  }
  for (one in said) {
    message <- conditionMessage(tryCatch(eval(one), synfire_error = identity))
    expect_lt(nchar(message), 3000)
    expect_gt(nchar(message), 20)
  }
  expect_identical(shorten(c("abc", NA, strrep("x", 30)), 10),
                   c("abc", NA, "xxxxx ... (20 characters) ... xxxxx"))
})

test_that("a tick is at least a picosecond", {
  for (make in list(\(r) spike_trains(1, 1, resolution = r), \(r) simulate_sym26(resolution = r),
                    \(r) episode_stream(c(0, 1), 1, 1, resolution = r),
                    \(r) simulate_culture(resolution = r))) {
    expect_error(make(5e-13), "`resolution` must be a finite number of at least 1e-12",
                 class = "synfire_error_argument")
  }
  set.seed(1)
  x <- spike_trains(round(runif(200, 0, 5), 6), sample(4, 200, TRUE), resolution = 1e-12)
  expect_s3_class(find_assemblies(x, max_lag = 0.01, n_surrogates = 19), "assemblies")
})

test_that("an error names the function that the user called, also from code that others evaluate", {
  called <- \(code) conditionCall(tryCatch(code, synfire_error = identity))
  expect_identical(called(simplex(data.frame(time = 1:9, x = 1:9), "x", E = -1))[[1L]],
                   quote(simplex))
  given <- data.frame(time = 1:9, x = 1:9)
  expect_identical(called(do.call("simplex", list(given, "x", E = -1)))[[1L]], quote(simplex))
  expect_identical(called(rlang::eval_tidy(quote(simplex(given, "x", E = -1))))[[1L]],
                   quote(simplex))
  # No function of ours that users can call is on the way.
  expect_null(called(rlang::eval_tidy(quote(check_count("x")))))
  expect_null(called(eval(quote(check_count("x")))))
})
