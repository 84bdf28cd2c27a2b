# Leaves out pictures and most of the surrogates of pairs, which take most of the time.
local_light_pages <- function(env = parent.frame()) {
  local_function("can_write_pictures", \() FALSE, env)
  local_function("pair_surrogates", 39, env)
}

quick_report <- function(x, ..., seed = 1, full = FALSE, file = NULL, env = parent.frame()) {
  if (is.null(file)) file <- withr::local_tempfile(fileext = ".html", .local_envir = env)
  if (!full) local_light_pages()
  suppressMessages(report(x, ..., max_lag = 0.05, n_surrogates = 19, seed = seed, open = FALSE,
                          threads = 2, file = file))
}

# Four of twenty units fire within 2 ms of each other, forty times.
planted <- function() {
  set.seed(1)
  together <- sort(runif(40, 0, 19.9))
  members <- lapply(1:4, \(k) together + runif(40, 0, 0.002))
  others <- lapply(1:20, \(k) runif(40, 0, 20))
  time <- c(unlist(members), unlist(others))
  unit <- c(rep(1:4, each = 40), rep(1:20, each = 40))
  spike_trains(time, factor(unit, labels = sprintf("u%02d", 1:20)), start = 0, end = 20)
}

# The page of it with all pictures, which takes seconds and is made once.
full_report <- local({
  made <- NULL
  function() {
    x <- planted()
    if (is.null(made)) made <<- quick_report(x, full = TRUE, env = testthat::teardown_env())
    made
  }
})

test_that("the page is sound and holds what the functions give", {
  skip_if_not_installed("ggplot2")
  x <- planted()
  r <- full_report()
  text <- expect_good_page(r$file)
  expect_identical(r$check, check_recording(x, threads = 2))
  expect_identical(r$intervals, isi_statistics(x))
  set.seed(1)
  found <- find_assemblies(x, max_lag = 0.05, n_surrogates = 19, threads = 2)
  expect_identical(as.data.frame(r$assemblies), as.data.frame(found))
  expect_equal(nrow(found), 1)
  expect_true(any(grepl("^1 group of units fires together", text)))
  expect_true(all(found$units[[1]] %in% unlist(strsplit(text, "[ ,:]+"))))
  expect_true(any(startsWith(text, "The p value of a group is for the whole search")))
  expect_match(text, "report\\(x, max_lag = 0.05, n_surrogates = 19, seed = 1\\)", all = FALSE)
  hash <- rlang::hash(as.data.frame(x))
  expect_true(any(grepl(hash, text, fixed = TRUE)))
  expect_identical(r$tested$question[c(1, 3)], c("Is something wrong with the recording?",
                                               "Which groups fire together or in sequence?"))
  expect_match(r$tested$looked_at[[3]], "20 units, 190 pairs, 1,140 groups of three")
  expect_output(print(r), "1 assembly")
})

test_that("the seed decides the page, and the user's random numbers go on", {
  skip_if_not_installed("ggplot2")
  x <- planted()
  page_of <- function(r) sub("Made by[^<]*", "", read_page(r$file))
  set.seed(5)
  expected <- runif(1)
  set.seed(5)
  one <- page_of(quick_report(x, full = TRUE))
  expect_identical(runif(1), expected)
  expect_identical(page_of(full_report()), one)
  set.seed(5)
  expect_identical(quick_report(x, seed = NULL)$seed, floor(expected * 1e9))
})

test_that("names of units are text, whatever they are made of", {
  skip_if_not_installed("ggplot2")
  names <- c("<b>&\"", "</td>'`", "\u00FC\u4E2D", "<img src=x>", "a\001b", "%s {x} \\1", "&amp;", "-",
             as.character(9:20))
  x <- planted()
  x <- spike_trains(x$time, names[as.integer(x$unit)], start = 0, end = 20)
  r <- quick_report(x, title = "</title><b>")
  text <- expect_good_page(r$file)
  for (name in setdiff(names, "a\001b")) expect_true(name %in% text, label = name)
  expect_true("a\uFFFDb" %in% text)
  expect_false(grepl("<img src=x", read_page(r$file), fixed = TRUE))
})

test_that("recordings with little in them have pages as well", {
  skip_if_not_installed("ggplot2")
  nothing <- spike_trains(numeric(), factor(character()), start = 0, end = 1)
  text <- expect_good_page(quick_report(nothing)$file)
  expect_true("The recording has no units, so there is nothing to look at." %in% text)
  silent <- spike_trains(numeric(), factor(character(), c("a", "b")), start = 0, end = 1)
  r <- quick_report(silent)
  text <- expect_good_page(r$file)
  expect_true("There are no spikes to draw." %in% text)
  expect_null(r$pairs)
  expect_true(any(grepl("fewer than two units have spikes", text)))
  text <- expect_good_page(quick_report(spike_trains(0.5, "a", start = 0, end = 1))$file)
  expect_true(any(grepl("^The recording has 1 unit, which fired 1 spike in 1 second", text)))
  set.seed(2)
  alone <- spike_trains(runif(100, 0, 9), "a", start = 0, end = 9)
  expect_true(any(grepl("there are fewer, so none were", expect_good_page(quick_report(alone)$file))))
  two <- spike_trains(c(runif(200, 0, 9), 0.1), rep(c("a", "b"), c(200, 1)), start = 0, end = 9)
  two <- spike_trains(two$time, factor(as.character(two$unit), c("a", "b", "mute")), start = 0,
                      end = 9)
  text <- expect_good_page(quick_report(two)$file)
  expect_true("1 unit without spikes, about which nothing can be said." %in% text)
  expect_true(any(grepl("shorter than a minute", text)))
})

test_that("trials and their conditions are on the page", {
  skip_if_not_installed("ggplot2")
  x <- planted()
  trials <- data.frame(start = 0:9 * 2, end = 0:9 * 2 + 1.9, cue = rep(c("left", "right"), 5))
  x <- suppressMessages(spike_trains(x$time, x$unit, start = 0, end = 20, trials = trials))
  r <- quick_report(x, by = "cue")
  text <- expect_good_page(r$file)
  expect_true(any(grepl("It has 10 trials of 1.9 seconds, 19 seconds together", text)))
  expect_identical(levels(r$activations$condition), c("left", "right"))
  expect_identical(sum(r$activations$count), sum(r$assemblies$count))
  first <- r$assemblies$times[[1]]
  left <- sum((first %/% 2) %% 2 == 0)
  expect_equal(r$activations$count[r$activations$condition == "left"][[1]], left)
  expect_equal(r$activations$seconds, rep(9.5, 2 * nrow(r$assemblies)))
  expect_true(any(grepl("No difference in this was tested", text)))
  # Code in sentences and tables is shown as code, or as it is.
  expect_false(any(grepl("`", text, fixed = TRUE)))
  expect_error(quick_report(x, by = "none"), "`by` must be", class = "synfire_error_argument")
  expect_error(quick_report(planted(), by = "cue"), "`by` must be NULL",
               class = "synfire_error_argument")
})

test_that("what was found before is taken, where it is of this recording", {
  skip_if_not_installed("ggplot2")
  local_light_pages()
  x <- planted()
  set.seed(3)
  found <- find_assemblies(x, max_lag = 0.02, n_surrogates = 19)
  file <- withr::local_tempfile(fileext = ".html")
  r <- suppressMessages(report(x, assemblies = found, open = FALSE, file = file))
  expect_identical(r$assemblies, found)
  expect_match(expect_good_page(file), "report(x, assemblies = found", fixed = TRUE, all = FALSE)
  expect_error(report(x[time = c(0, 10)], assemblies = found, open = FALSE),
               "another recording", class = "synfire_error_argument")
  expect_error(report(x, assemblies = found, max_lag = 1, open = FALSE), "`max_lag` must be",
               class = "synfire_error_argument")
})

test_that("of a camera's recording the page says what became of its frames", {
  skip_if_not_installed("ggplot2")
  set.seed(9)
  frame <- unlist(lapply(1:4, \(u) sort(sample(600, 80))))
  x <- spike_trains(frame / 30, rep(1:4, each = 80), start = 0, end = 20.1)
  set.seed(1)
  found <- find_assemblies(x, max_lag = 0.1, n_surrogates = 19)
  file <- withr::local_tempfile(fileext = ".html")
  suppressMessages(report(x, assemblies = found, open = FALSE, file = file))
  expect_lt(nrow(attr(found, "recording")), 320)
  text <- expect_good_page(file)
  expect_match(text, sprintf("leaves %d of 320 events", nrow(attr(found, "recording"))), all = FALSE)
  expect_match(text, "CV2 and LV say how long it does so", all = FALSE)
})

test_that("pairs of a camera's recording are those of first frames", {
  skip_if_not_installed("ggplot2")
  set.seed(9)
  # Both are active for five frames at times that have nothing to do with each other.
  on <- function() sort(unique(c(outer(sample(2900, 60), 0:4, `+`))))
  frames <- list(on(), on(), on())
  x <- spike_trains(unlist(frames) / 30, rep(1:3, lengths(frames)), start = 0, end = 97)
  r <- quick_report(x)
  first <- lapply(frames, \(f) f[c(TRUE, diff(f) > 1)])
  expect_identical(sum(plain_array(r$correlograms)[, 1, 2]),
                   sum(abs(outer(first[[2]], first[[1]], `-`)) <= 25))
})

test_that("what is gravely wrong stands on top, bursts are spoken of, and checks have names", {
  skip_if_not_installed("ggplot2")
  set.seed(12)
  # Milliseconds, taken for seconds.
  x <- suppressWarnings(spike_trains(round(sort(runif(600, 0, 60)) * 1e6) / 1e3, rep(1:3, 200),
                                     start = 0, end = 60000))
  text <- expect_good_page(quick_report(x)$file)
  expect_true(any(grepl("found 1 problem.* Units fire every", text)))
  expect_true(any(grepl("warns of times in a wrong unit", text)))
  expect_true(any(grepl("^Looked for and not found: swapped columns, ", text)))
  expect_setequal(names(check_subjects), c(
    check_recording(planted())$looked_for, "drift", "trials", "presence", "synchrony"))
  y <- simulate_assemblies(duration = 40, units = 20, assemblies = character(),
                           nuisances = c(bursts = 0.3))
  r <- quick_report(y)
  bursts <- attr(r$assemblies, "bursts")
  expect_gt(nrow(bursts), 0)
  expect_true(any(grepl(sprintf("more than usual: %s, ", counted(nrow(bursts), "burst")),
                        expect_good_page(r$file))))
})

test_that("many units: the search takes as many as fit, and says so", {
  skip_if_not_installed("ggplot2")
  set.seed(4)
  x <- spike_trains(runif(1500, 0, 20), factor(sample(40, 1500, TRUE), 1:40), start = 0, end = 20)
  search <- find_assemblies
  # As if not more than twenty fitted.
  local_function("find_assemblies", rlang::new_function(formals(search), quote({
    if (nlevels(x$unit) > 20L) check_budget(2e9, 1e9, "a test", "Take fewer.")
    search(x, max_lag = max_lag, n_surrogates = n_surrogates)
  })))
  r <- quick_report(x)
  expect_true(length(r$searched) %in% 15:20)
  least <- min(table(x$unit)[r$searched])
  expect_gte(least, max(table(x$unit)[setdiff(levels(x$unit), r$searched)]))
  text <- expect_good_page(r$file)
  # On top, and where groups are listed; and among what was not looked at.
  expect_gte(sum(grepl(sprintf("Only the %d busiest of the 40 units", length(r$searched)), text)), 3)
  expect_false(any(grepl("busiest.*in pairs", text)))
})

test_that("pairs of some units alone are called so", {
  set.seed(4)
  x <- spike_trains(runif(1500, 0, 20), factor(sample(10, 1500, TRUE), 1:10), start = 0, end = 20)
  local_function("paired_units", function(x, spikes, ...) order(-spikes)[1:4])
  tested <- test_pairs(x, 0.05, 2, 1e9)
  expect_identical(tested$all, 6)
  expect_match(pair_words(tested)[[1]], "Only the 4 busiest of the 10 units with spikes were looked at")
  expect_match(pair_words(tested)[[2]], "of 6 pairs")
})

# ---- Files ----

test_that("no file but an earlier report is replaced, and no half of one is left", {
  skip_if_not_installed("ggplot2")
  x <- spike_trains(c(1, 2), "a", start = 0, end = 3)
  folder <- withr::local_tempdir()
  file <- file.path(folder, "page.html")
  writeLines("mine", file)
  expect_error(report(x, open = FALSE, file = file), "did not make", class = "synfire_error_argument")
  expect_identical(readLines(file), "mine")
  unlink(file)
  suppressMessages(report(x, open = FALSE, file = file))
  before <- read_page(file)
  suppressMessages(report(x, title = "Again", open = FALSE, file = file))
  expect_match(read_page(file), "<h1>Again</h1>", fixed = TRUE)
  local({
    local_function("write_checked", function(file, ...) {
      writeLines("half", file)
      rlang::interrupt()
    })
    third <- tryCatch(report(x, title = "Third", open = FALSE, file = file),
                      interrupt = \(e) "stopped")
    expect_identical(third, "stopped")
  })
  expect_match(read_page(file), "<h1>Again</h1>", fixed = TRUE)
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "page.html")
  for (bad in list(1, NA_character_, "", c("a.html", "b.html"), "page.pdf", folder,
                   file.path(folder, "none", "page.html"), strrep("page.html", 1000))) {
    expect_error(report(x, open = FALSE, file = bad), "`file` must be",
                 class = "synfire_error_argument")
  }
})

test_that("a full disk is an error, and the earlier page stays", {
  skip_if_not_installed("ggplot2")
  skip_on_cran()
  folder <- withr::local_tempdir()
  file <- file.path(folder, "page.html")
  writeLines(c("<!DOCTYPE html>", report_mark, "earlier"), file)
  before <- readLines(file)
  # A page is longer than eight blocks; what R holds back until it closes a file is not.
  for (size in c(1e5, 5000)) {
    said <- limited_child("-f 8", substitute({
      outcome <- tryCatch(asNamespace("synfire")$write_report(strrep("x", SIZE), FILE),
                          synfire_error_write = conditionMessage)
      cat(outcome)
    }, list(FILE = file, SIZE = size)))
    expect_match(paste(said, collapse = " "), "cannot be written.*disk is full")
    expect_identical(readLines(file), before)
    expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "page.html")
  }
})

test_that("wrong arguments are named", {
  skip_if_not_installed("ggplot2")
  x <- spike_trains(c(1, 2), "a", start = 0, end = 3)
  for (bad in list(list(title = 1), list(title = " "), list(by = "cue"), list(assemblies = 1), list(seed = 0.5),
                   list(open = NA), list(max_lags = 1), list(threads = 0), list(max_memory = 1),
                   list(alpha = 2), list(max_lag = "x"))) {
    expect_error(do.call(report, utils::modifyList(list(x, open = FALSE), bad)), paste0("`", names(bad), "`"),
                 class = "synfire_error_argument")
  }
  expect_error(report(), "`x` must be", class = "synfire_error_argument")
  expect_error(report("x.nwb"), "read_spikes", class = "synfire_error_argument")
})

# ---- Pairs ----

test_that("the evidence of pairs is that of a slow count", {
  set.seed(6)
  a <- sort(runif(300, 0, 30))
  x <- spike_trains(c(a, a[1:80] + 0.0071, runif(400, 0, 30)), rep(c("a", "b", "c"), c(300, 80, 400)),
                    start = 0, end = 30.1)
  plan <- pair_plan(x)
  counts <- cross_correlogram(x, plan$seconds, plan$reach * plan$seconds)
  slow <- slow_pair_evidence(counts, plan)
  for (peak in c("narrow", "wide")) {
    ours <- pair_evidence(counts, plan$lags, plan$widths[plan$widths$peak == peak, ])
    expect_true(nrow(ours) > 0 && all(ours$peak == peak))
    pairs <- paste(pmin(ours$reference, ours$target), pmax(ours$reference, ours$target))
    for (k in seq_len(nrow(ours))) {
      own <- slow[paste(slow$a, slow$b) == pairs[[k]] & slow$peak == peak, ]
      expect_equal(ours$evidence[[k]], max(own$evidence), tolerance = 1e-6)
      best <- own[which.max(own$evidence), ]
      expect_equal(unlist(ours[k, c("count", "expected", "width")]),
                   unlist(best[c("count", "expected", "width")]))
    }
    expect_identical(ours$reference[[1]], "a")
    expect_identical(ours$target[[1]], "b")
    if (peak == "narrow") {
      expect_equal(ours$lag[[1]], 0.007)
      expect_equal(ours$count[[1]], 80, tolerance = 0.1)
    }
  }
})

test_that("a parabola gives its own mean in a window", {
  w <- pair_widths[pair_widths$width == 5, ]
  of <- function(distance) mean(7 - 0.01 * distance^2)
  near <- seq(w$from, w$near)
  far <- seq(w$near + 1, w$far)
  expect_equal(parabola_top(of(near), of(far), w), of(-2:2))
})

test_that("a planted pair is found, and units that share slow rates are not", {
  set.seed(7)
  a <- sort(runif(600, 0, 60))
  x <- spike_trains(c(a, a[1:200] - 0.012, runif(1000, 0, 60)),
                    rep(c("a", "b", "c"), c(600, 200, 1000)), start = -1, end = 61)
  tested <- test_pairs(x, 0.05, 2, 1e9)
  expect_identical(tested$pairs[c("reference", "target", "peak")],
                   data.frame(reference = "b", target = "a", peak = "narrow"))
  expect_equal(tested$pairs$lag, 0.012)
  # 199 surrogates of each of the two kinds.
  expect_equal(tested$pairs$p, 2 / 200)
  local_function("pair_surrogates", 39)
  false <- vapply(1:20, \(k) {
    rate <- rep(c(5, 40), 30)
    time <- unlist(lapply(1:5, \(u) unlist(lapply(1:60, \(s) s - 1 + runif(rpois(1, rate[[s]]))))))
    unit <- rep(1:5, length.out = length(time))[order(runif(length(time)))]
    y <- spike_trains(time, unit, start = 0, end = 60)
    nrow(test_pairs(y, 0.05, 2, 1e9)$pairs) > 0
  }, NA)
  # More than 4 of 20 have a probability of 0.003 where that of each is 0.05.
  expect_lte(sum(false), 4)
})

test_that("units that fire together within tens of milliseconds have wide peaks alone", {
  set.seed(13)
  # Six units fire around the same moments, each 12 ms before or after by itself; two at 4 ms as well.
  at <- runif(900, 1, 119)
  trains <- lapply(1:6, \(u) at + rnorm(900, 0, 0.012))
  trains[[2]][1:150] <- trains[[1]][1:150] + 0.004
  x <- spike_trains(unlist(trains), rep(letters[1:6], each = 900), start = 0, end = 120)
  pairs <- test_pairs(x, 0.05, 2, 1e9)$pairs
  expect_equal(nrow(pairs), 15)
  expect_identical(pairs$peak, rep(c("narrow", "wide"), c(1, 14)))
  expect_identical(unlist(pairs[1, c("reference", "target")], use.names = FALSE), c("a", "b"))
  expect_equal(pairs$lag[[1]], 0.004, tolerance = 0.26)
})

test_that("narrow peaks of a recurrent network are its connections, and are gone when spikes are jittered", {
  data <- shared_data("synapses/tspe_ex.csv.gz")
  truth <- utils::read.csv(shared_data("synapses/tspe_ex_truth.csv.gz"), na.strings = "nan")
  # Units that are named first: 190 pairs, all of which share the rhythm of the population.
  x <- read_spikes(data)
  x <- x[unit = as.character(0:19), time = c(1, 1801)]
  local_function("pair_surrogates", 39)
  set.seed(1)
  pairs <- test_pairs(x, 0.05, 2, 1e9)$pairs
  connected <- truth[truth$w != 0, ]
  known <- c(paste(connected$from, connected$to), paste(connected$to, connected$from))
  narrow <- pairs[pairs$peak == "narrow", ]
  expect_gt(nrow(pairs), 170)
  expect_gte(nrow(narrow), 5)
  expect_gte(mean(paste(narrow$reference, narrow$target) %in% known), 0.8)
  jittered <- vapply(1:2, \(k) {
    time <- pmin(pmax(x$time + runif(nrow(x), -0.05, 0.05), 1), 1801)
    y <- spike_trains(round(time, 6), x$unit, start = 1, end = 1801)
    any(test_pairs(y, 0.05, 2, 1e9)$pairs$peak == "narrow")
  }, NA)
  expect_lte(sum(jittered), 1)
})

test_that("a surrogate keeps each unit's spikes in each piece, and nothing between units", {
  set.seed(8)
  x <- suppressMessages(spike_trains(
    runif(500, 0, 10), sample(3, 500, TRUE), start = 0, end = 10,
    trials = data.frame(start = c(0, 4, 7), end = c(4, 6.5, 10))
  ))
  trains <- trains_of(x)
  pieces <- pair_pieces(trains, 1e6)
  expect_equal(pieces$n, c(4, 2, 3))
  expect_true(all(pieces$n * pieces$long <= trains$stop - trains$start + 1))
  places <- spikes_in_pieces(trains, pieces)
  expect_equal(range(table(places$cell)), range(table(places$from, as.integer(x$unit)[places$spike])))
  in_pieces <- function(moved) {
    table(findInterval(moved$tick, sort(unique(places$from))), as.integer(moved$unit), moved$trial)
  }
  kept <- !is.na(trains$trial)
  inside <- lapply(trains[c("tick", "unit", "trial")], \(v) v[kept])
  y <- shifted_units(trains, places, 1000)
  expect_identical(in_pieces(y), in_pieces(inside))
  expect_false(is.unsorted(y$tick))
  expect_gt(mean(abs(y$tick - inside$tick)), 0)
  # A spike is at most 25 bins from where it was, or on the other side of its piece.
  z <- shifted_units(trains, places, 1000, 25)
  expect_identical(in_pieces(z), in_pieces(inside))
  middle <- trains$tick - places$from[match(seq_along(trains$tick), places$spike)]
  a <- which(kept & trains$unit == 1 & middle > 1e5 & middle < 6e5)
  apart <- vapply(trains$tick[a], \(t) min(abs(z$tick[z$unit == 1] - t)), 0)
  expect_lte(max(apart), 25000)
})

test_that("two spikes years apart need no memory for the time between them", {
  x <- spike_trains(c(0, 3e8), c("a", "b"))
  places <- spikes_in_pieces(trains_of(x), pair_pieces(trains_of(x), 1e7))
  expect_identical(places$cells, 2L)
  expect_equal(nrow(test_pairs(x, 0.05, 1, 1e8)$pairs), 0)
})

test_that("units of a songbird that are moved by themselves have no pairs beyond the stated rate", {
  song <- read_spikes(shared_data("recordings/songbird.txt"))
  frame <- frame_ticks(song)
  x <- first_frames(song, frame)
  at <- round(train_ticks(x) / frame)
  length <- diff(range(at)) + 1
  local_function("pair_surrogates", 19)
  found <- vapply(1:5, \(k) {
    set.seed(k)
    moved <- (at - min(at) + sample(length, nlevels(x$unit), TRUE)[as.integer(x$unit)]) %% length
    y <- spike_trains(round(moved * frame / 1e6, 6), x$unit, start = 0, end = length * frame / 1e6)
    nrow(test_pairs(y, 0.05, 1, 1e9)$pairs) > 0
  }, NA)
  # More than 2 of 5 have a probability of 0.001 where that of each is 0.05.
  expect_lte(sum(found), 2)
})

# ---- Connections ----

test_that("connections have a section of their own, with pictures and what cannot be told", {
  skip_if_not_installed("igraph")
  x <- planted()
  local_function("test_connections", \(...) made_synapses())
  r <- quick_report(x, full = TRUE)
  text <- expect_good_page(r$file)
  expect_s3_class(r$connections, "synapses")
  expect_true("Connections: who excites or inhibits whom" %in% text)
  expect_true("Joint rates: pairs that fire together" %in% text)
  # In the section, on top and in the table of questions.
  expect_equal(sum(grepl("^5 connections among 11 units are supported: 3 excitatory and 2 ", text)), 3)
  expect_match(text, "^Cross-correlograms of connections: n01 excites n02 2 ms later, ", all = FALSE)
  expect_match(text, "^A network of 5 connections", all = FALSE)
  expect_match(text, "^Hidden common input", all = FALSE)
  expect_match(text, "n01 -> n03 through n02", all = FALSE, fixed = TRUE)
  expect_true("0.071 to 0.091" %in% text || any(grepl("^0[.][0-9]+ to 0[.][0-9]+$", text)))
  expect_match(text, "^A connection is what chance, slower changes", all = FALSE)
  expect_true(connection_question %in% r$tested$question)
  expect_output(print(r), "5 connections")
})

test_that("a recording that is not asked for connections says why", {
  skip_if_not_installed("ggplot2")
  set.seed(2)
  camera <- spike_trains(sample(600, 200, TRUE) / 30, rep(c("a", "b"), 100), start = 0, end = 20.1)
  said <- test_connections(camera, 1, 1e9)
  expect_match(said, "^this is not recorded on a clock of 1 ms or finer$")
  expect_match(connection_words(said), "^Connections were not tested: this is not recorded on")
  alone <- spike_trains(1:3, "a", start = 0, end = 9)
  expect_identical(test_connections(alone, 1, 1e9), "fewer than two units have spikes")
  r <- quick_report(camera)
  expect_null(r$connections)
  expect_output(print(r), "connections were not tested")
  expect_match(expect_good_page(r$file), "^Connections were not tested", all = FALSE)
})

test_that("pairs of a population that fires together are no wiring", {
  pairs <- data.frame(reference = "a", target = "b", peak = rep("wide", 190))
  tested <- list(pairs = pairs, units = 20, of = 20, all = 190, max_lag = 0.05,
                 widths = c(0.001, 0.005, 0.025), peaks = c("narrow", "narrow", "wide"))
  said <- paste(pair_words(tested), collapse = " ")
  expect_match(said, "190 of 190 pairs of units have joint rates alone")
  expect_match(said, "It says nothing about who is connected to whom")
  tested$pairs <- pairs[0, ]
  expect_match(pair_words(tested), "None of 190 pairs of units has joint rates")
})

# ---- Pieces of pages ----

test_that("short text stays on one line beside long names, which are broken", {
  page <- html_table(data.frame(unit = strrep("channel_", 12), p = "at most 0.01", n = 3), "A table.")
  expect_match(page, "<td data-column=\"unit\">channel_", fixed = TRUE)
  expect_match(page, "<td class=\"brief\" data-column=\"p\">at most 0.01</td>", fixed = TRUE)
  expect_match(page, "<td class=\"number\" data-column=\"n\">3</td>", fixed = TRUE)
  style <- readLines(system.file("report", "page.css", package = "synfire"))
  expect_true(all(c("td { overflow-wrap: anywhere; }", "td.brief { white-space: nowrap; }") %in% style))
})

test_that("an R that cannot draw gives a page without pictures", {
  skip_if_not_installed("ggplot2")
  local_function("can_write_pictures", function() FALSE)
  r <- quick_report(planted())
  expect_match(expect_good_page(r$file), "this R cannot draw PNG files", all = FALSE)
  expect_false(grepl("<img", read_page(r$file)))
})

test_that("whether this R can draw is tried, and no device of the user's is closed for it", {
  own <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(own)
  withr::defer(grDevices::dev.off())
  devices <- list(grDevices::dev.list(), grDevices::dev.cur())
  can_write_pictures()
  expect_identical(list(grDevices::dev.list(), grDevices::dev.cur()), devices)
  # As R says it where its libraries for pictures are missing, and goes on.
  local_function("open_png", function(file, width, height) warning("failed to load cairo DLL"))
  expect_false(can_write_pictures())
  expect_identical(list(grDevices::dev.list(), grDevices::dev.cur()), devices)
})

test_that("a browser shows the page with all its pictures", {
  skip_on_cran()
  skip_if_not_installed("ggplot2")
  skip_without_browser()
  r <- full_report()
  page <- open_page(paste0("file://", r$file))
  withr::defer(page$close(), priority = "first")
  # A busy machine may take a while for eight pictures.
  there <- "document.readyState === 'complete' && [...document.images].every(i => i.complete)"
  await(\() isTRUE(page$value(there)), 30)
  pictures <- length(attributes_of(read_page(r$file), "img", "src"))
  expect_gte(pictures, 4)
  expect_equal(page$value("[...document.images].filter(i => i.naturalWidth > 100).length"), pictures)
  expect_identical(page$value("document.querySelector('h1').innerText"), "A recording of 20 units")
  expect_true(page$value("document.documentElement.scrollWidth <= window.innerWidth"))
})

test_that("which group drives which can be asked of trials, equal or not", {
  skip_if_not_installed("ggplot2")
  set.seed(3)
  x <- simulate_assemblies(duration = 60, units = 12, assemblies = c("synchrony", "sequence"), size = 4,
                           count = 60)
  cut <- function(start, end) {
    suppressMessages(spike_trains(x$time, x$unit, start = 0, end = 60, resolution = attr(x, "resolution"),
                                  trials = data.frame(start = start, end = end)))
  }
  set.seed(1)
  for (y in list(x, cut(0:11 * 5, 0:11 * 5 + 4.5), cut(0:4 * 12, c(4, 15, 29, 48, 60)))) {
    found <- find_assemblies(y, max_lag = 0.1, n_surrogates = 19, threads = 2)
    expect_equal(nrow(found), 2)
    tested <- test_causes(found, 2, 1e9)
    trials <- attr(y, "trials")
    expect_identical(tested$surrogate, if (is.null(trials)) "phase" else if (nrow(trials) == 12)
      "seasonal" else "shuffle")
    expect_equal(nrow(tested$links), 2)
  }
  rate <- activation_rate(found, 0.05, gap = 12)
  expect_identical(cause_surrogates(rate), list(surrogate = "shuffle"))
  equal <- activation_rate(find_assemblies(cut(0:11 * 5, 0:11 * 5 + 4.5), max_lag = 0.1,
                                           n_surrogates = 19), 0.05, gap = 12)
  # Ninety bins of each trial, and twelve between two of them.
  expect_identical(cause_surrogates(equal)$period, 102)
  season <- (seq_len(nrow(equal)) - 1) %% 102 + 1
  expect_true(all(is.na(equal[season > 90, ])) && !anyNA(equal[season <= 90, ]))
})

test_that("directions without an answer are counted, and are dashes in the table", {
  links <- data.frame(cause = c("Assembly 1", "Assembly 2"), effect = c("Assembly 2", "Assembly 1"),
                      delay = c(0.25, NA), rho = c(0.8, NA), p = c(0.01, NA), p_holm = c(0.01, NA))
  tested <- list(links = links, groups = 2, of = 2, alpha = 0.05)
  page <- paste(unlist(causes_section(tested)), collapse = "\n")
  expect_match(page, "For 1 of 2 directions there is no answer", fixed = TRUE)
  expect_match(page, "Assembly 1 may drive Assembly 2", fixed = TRUE)
  expect_match(page, "supports 1 link, directly or through others", fixed = TRUE)
  expect_false(grepl("NA", page, fixed = TRUE))
  expect_length(gregexpr("\u2013</td>", page, fixed = TRUE)[[1]], 3)
  tested$links[2, 3:6] <- c(0.1, 0.2, 0.6, 0.6)
  none <- cause_words(utils::modifyList(tested, list(alpha = 0.001)))
  expect_match(none, "no link was found: .* A link too weak for this recording looks the same[.]$")
  expect_false(grepl("no answer", paste(unlist(causes_section(tested)), collapse = ""), fixed = TRUE))
  tested$links$p_holm <- NA
  untold <- paste(unlist(causes_section(tested)), collapse = "")
  expect_match(untold, "nothing can be told", fixed = TRUE)
  expect_false(grepl("no link|<table", untold))
})

test_that("which group drives which is asked where that is wanted", {
  skip_if_not_installed("ggplot2")
  local_light_pages()
  set.seed(11)
  first <- sort(runif(120, 1, 149))
  second <- first[runif(120) < 0.8] + 0.25
  third <- runif(120, 1, 149)
  at <- list(first, second, third)
  time <- unlist(lapply(at, \(t) rep(t, each = 3)))
  unit <- unlist(lapply(1:3, \(k) rep(3 * k - 2:0, length(at[[k]]))))
  time <- time + runif(length(time), 0, 0.002)
  x <- spike_trains(c(time, runif(24 * 150, 0, 150)), c(unit, rep(1:24, 150)), start = 0, end = 150)
  found <- find_assemblies(x, max_lag = 0.05, n_surrogates = 19, threads = 2)
  name <- sprintf("Assembly %d", match(c("1", "4", "7"), vapply(found$units, \(one) min(one), "")))
  file <- withr::local_tempfile(fileext = ".html")
  r <- suppressMessages(report(x, assemblies = found, causes = TRUE, open = FALSE, threads = 2,
                               file = file))
  text <- expect_good_page(file)
  expect_equal(nrow(r$causes), 6)
  expect_identical(r$causes$cause[[1]], name[[1]])
  expect_identical(r$causes$effect[[1]], name[[2]])
  expect_equal(r$causes$delay[[1]], 0.25, tolerance = 0.21)
  expect_identical(r$causes$p_holm, p.adjust(r$causes$p, "holm"))
  # One in twenty such recordings has a small p value where there is no link.
  expect_lte(r$causes$p_holm[[1]], 0.05)
  expect_true(all(r$causes$rho[-1] < 0.1 * r$causes$rho[[1]]))
  expect_true(any(grepl(sprintf("%s may drive %s by about", name[[1]], name[[2]]), text)))
  expect_true("Which group may drive which" %in% text)
  alone <- planted()
  r <- quick_report(alone, causes = TRUE)
  expect_null(r$causes)
  expect_true(any(grepl("there are fewer than two groups", expect_good_page(r$file))))
})
