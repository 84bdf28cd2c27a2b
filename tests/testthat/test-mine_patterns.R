engines <- c("closure", "fpgrowth")

# What engines and threads have to agree on.
flat <- function(x) unclass(x)[c("items", "runs", "count")]

# Three times A, B 2 and C 5 bins later.
chain <- function() {
  begin <- c(0, 10, 20)
  spike_trains(c(begin, begin + 2, begin + 5) / 1000, rep(LETTERS[1:3], each = 3),
               resolution = 1e-3)
}

# `units` that fire in each of `bins` bins with probability `rate`, a bin a millisecond.
noise <- function(seed, units, bins, rate) {
  withr::local_seed(seed)
  at <- which(matrix(runif(units * bins) < rate, units), arr.ind = TRUE)
  spike_trains((at[, 2] - 1) / 1000, factor(at[, 1], seq_len(units)), start = 0,
               end = bins / 1000, resolution = 1e-3)
}

# The raster of `x` as the oracle takes it.
as_raster <- function(x, window, filters, bin = 1) {
  list(x = x, tick = round(x$time * 1000), unit = as.integer(x$unit),
       units = nlevels(x$unit), bounds = NULL, start = round(attr(x, "start") * 1000),
       bin = bin, window = window, filters = filters)
}

filters_of <- function(...) {
  utils::modifyList(list(min_spikes = 2, min_count = 2, max_spikes = Inf, max_count = Inf,
                         min_units = 1, closed_within = "all", shifted_subsets = "keep"),
                    list(...))
}

test_that("a chain is found with its lags", {
  for (engine in engines) {
    mined <- \(...) mined_lines(mine_patterns(chain(), 0.001, 6, ..., engine = engine))
    # A; B at 2; C at 5. B; C at 3. C; A at 5 (the next one), twice.
    all <- c("2 15 (2)", "1 11 (3)", "0 7 17 (3)")
    expect_setequal(mined(), all)
    expect_setequal(mined(min_spikes = 3), all[[3]])
    expect_setequal(mined(max_spikes = 2), all[1:2])
    expect_setequal(mined(max_spikes = 2, closed_within = "max_spikes"),
                    c(all[1:2], "0 7 (3)", "0 17 (3)"))
    expect_setequal(mined(min_count = 3), all[2:3])
    expect_setequal(mined(max_count = 2), all[[1]])
    expect_setequal(mined(shifted_subsets = "drop"), all[c(1, 3)])
    expect_setequal(mined(min_spikes = 1, min_count = 3), c(all[2:3], "2 (3)"))
    expect_setequal(mined(min_spikes = 4), character())
    expect_setequal(mined(min_units = 4), character())
    expect_setequal(mined(min_count = 4), character())
  }
})

test_that("engines find what all subsets of all windows give, in the order of the search", {
  skip_on_cran()
  for (seed in cases(300)) {
    raster <- random_raster(seed)
    expected <- oracle_patterns(raster)
    for (engine in engines) {
      expect_identical(mined_lines(mine_raster(raster, engine = engine)), expected,
                       label = paste(engine, "on raster", seed))
    }
  }
})

test_that("each window length agrees with the oracle", {
  for (window in c(1, 2, 64, 65, 130)) {
    for (seed in 1001:1012) {
      raster <- random_raster(seed, windows = window)
      expected <- oracle_patterns(raster)
      for (engine in engines) {
        expect_identical(mined_lines(mine_raster(raster, engine = engine)), expected,
                         label = paste(engine, "on raster", seed, "with window", window))
      }
    }
  }
})

test_that("units in more windows than words of a mask hold agree with the oracle", {
  skip_on_cran()
  for (bins in c(60, 70, 130, 500, 530, 1100)) {
    x <- noise(bins, 4, bins, 0.6)
    for (filters in list(filters_of(), filters_of(min_spikes = 1, min_count = 20),
                         filters_of(max_spikes = 3, closed_within = "max_spikes"),
                         filters_of(min_units = 3, max_count = 30, shifted_subsets = "drop"))) {
      raster <- as_raster(x, 2, filters)
      expected <- oracle_patterns(raster)
      expect_gt(length(expected), 0)
      for (engine in engines) {
        expect_identical(mined_lines(mine_raster(raster, engine = engine)), expected)
      }
    }
  }
})

test_that("every argument changes what is found", {
  x <- noise(3, 5, 60, 0.35)
  given <- filters_of()
  base <- oracle_patterns(as_raster(x, 3, given))
  changes <- list(
    list(min_spikes = 3), list(min_spikes = 1), list(min_count = 4), list(min_count = 1),
    list(max_spikes = 3), list(max_count = 6), list(min_units = 2), list(min_units = 3),
    list(max_spikes = 3, closed_within = "max_spikes"), list(shifted_subsets = "drop")
  )
  # This one has to differ from the same limit without it.
  expect_false(identical(oracle_patterns(as_raster(x, 3, filters_of(max_spikes = 3))),
                         oracle_patterns(as_raster(x, 3, do.call(filters_of, changes[[9]])))))
  for (engine in engines) {
    expect_identical(mined_lines(mine_raster(as_raster(x, 3, given), engine = engine)), base)
    for (change in changes) {
      raster <- as_raster(x, 3, do.call(filters_of, change))
      found <- mined_lines(mine_raster(raster, engine = engine))
      expect_false(identical(found, base), label = deparse(change))
      expect_identical(found, oracle_patterns(raster))
    }
    for (raster in list(as_raster(x, 1, given), as_raster(x, 2, given),
                        as_raster(x, 3, given, bin = 2))) {
      found <- mined_lines(mine_raster(raster, engine = engine))
      expect_false(identical(found, base))
      expect_identical(found, oracle_patterns(raster))
    }
  }
})

test_that("min_units is min_spikes unless given", {
  x <- spike_trains(c(0, 1, 10, 11) / 1000, "A", resolution = 1e-3)
  expect_identical(mined_lines(mine_patterns(x, 0.001, 2)), character())
  expect_identical(mined_lines(mine_patterns(x, 0.001, 2, min_units = 1)), "0 1 (2)")
  expect_identical(attr(mine_patterns(x, 0.001, 2, min_spikes = 3), "parameters")$min_units, 3)
})

test_that("ends of other patterns that occur as often are dropped, and no others", {
  begin <- c(0, 20, 40)
  x <- spike_trains(c(begin, begin + 2, begin + 5, 62, 65) / 1000,
                    rep(LETTERS[1:3], c(3, 3, 5))[c(1:9, 10, 11)], resolution = 1e-3)
  # C follows itself by 3 bins once more than it follows B: that end occurs more often.
  dropped <- mined_lines(mine_patterns(x, 0.001, 6, min_count = 3, min_units = 1,
                                       shifted_subsets = "drop"))
  expect_identical(dropped, "0 7 17 (3)")
  x <- spike_trains(c(begin, begin + 2, begin + 5, 62, 65) / 1000,
                    c(rep(LETTERS[1:3], each = 3), "B", "C"), resolution = 1e-3)
  dropped <- mined_lines(mine_patterns(x, 0.001, 6, min_count = 3, shifted_subsets = "drop"))
  expect_setequal(dropped, c("1 11 (4)", "0 7 17 (3)"))
  # What is found alone decides: without the longer one, its end stays.
  kept <- mined_lines(mine_patterns(chain(), 0.001, 6, min_count = 3, max_spikes = 2,
                                    shifted_subsets = "drop"))
  expect_identical(kept, "1 11 (3)")
  # Ends of ends, and all sizes between 1 and the longest left with none but that.
  begin <- c(0, 100, 200)
  x <- spike_trains(c(outer(begin, 0:6, `+`)) / 1000, rep(1:7, each = 3), resolution = 1e-3)
  found <- mine_patterns(x, 0.001, 7, min_spikes = 1, shifted_subsets = "drop")
  expect_identical(found$runs, list(size = 7L, n = 1))
  expect_identical(sum(mine_patterns(x, 0.001, 7, min_spikes = 1)$runs$n), 7)
})

test_that("what drop leaves out is what the definition leaves out", {
  skip_on_cran()
  some <- 0
  for (seed in 2001:2060) {
    raster <- random_raster(seed, windows = c(3, 4, 5, 8))
    raster$filters <- filters_of(min_spikes = 1, min_count = raster$filters$min_count)
    kept <- oracle_patterns(raster)
    if (length(kept) > 400L) next
    raster$filters$shifted_subsets <- "drop"
    expected <- oracle_patterns(raster)
    expect_identical(mined_lines(mine_raster(raster)), expected)
    some <- some + (length(expected) < length(kept))
  }
  expect_gt(some, 10)
})

test_that("threads and engines do not change the result", {
  for (job in list(list(noise(1, 40, 600, 0.05), 8, list(min_count = 4)),
                   list(noise(2, 20, 900, 0.2), 1, list(min_count = 8, min_spikes = 3)),
                   list(noise(3, 9, 400, 0.3), 3, list(min_count = 12, min_units = 2)),
                   list(noise(4, 12, 300, 0.15), 10, list(min_count = 3, max_spikes = 4)),
                   list(noise(4, 12, 300, 0.15), 10, list(min_count = 3, max_spikes = 4,
                                                          closed_within = "max_spikes")))) {
    mined <- function(engine, threads) {
      do.call(mine_patterns, c(list(job[[1]], 0.001, job[[2]]), job[[3]],
                               list(engine = engine, threads = threads)))
    }
    one <- mined("closure", 1)
    expect_gt(length(one), 300)
    expect_identical(flat(mined("closure", 2)), flat(one))
    expect_identical(flat(mined("fpgrowth", 1)), flat(one))
    expect_identical(flat(mined("fpgrowth", 2)), flat(one))
    expect_identical(flat(mined("closure", 7)), flat(one))
  }
})

test_that("the result says where it comes from, and is as large as its patterns", {
  x <- noise(5, 30, 300, 0.1)
  found <- mine_patterns(x, 0.002, 5, min_count = 3, max_spikes = 6, threads = 2)
  expect_s3_class(found, c("patterns", "itemsets", "synfire_result"), exact = TRUE)
  expect_named(unclass(found), c("items", "runs", "count"))
  expect_type(found$items, "integer")
  expect_type(found$count, "integer")
  expect_type(found$runs$size, "integer")
  expect_type(found$runs$n, "double")
  expect_false(is.unsorted(found$runs$size, strictly = TRUE))
  expect_length(found$count, sum(found$runs$n))
  expect_length(found$items, sum(found$runs$size * found$runs$n))
  about <- attributes(found)
  expect_identical(about$units, as.character(1:30))
  expect_identical(about$window_bins, 5L)
  expect_identical(about$bin_size, 0.002)
  expect_identical(about$recording, x)
  expect_identical(about$parameters, list(
    min_spikes = 2, min_count = 3, max_spikes = 6, max_count = Inf, min_units = 2,
    closed_within = "all", shifted_subsets = "keep"
  ))
  expect_identical(about$engine, "closure")
  expect_identical(about$threads, 2L)
  expect_gt(about$elapsed, 0)
  expect_gt(about$mining_elapsed, 0)
  expect_lte(about$mining_elapsed, about$elapsed + 0.02)
  # At its peak the search held at least what it found.
  expect_gte(about$peak_memory, 2 * (length(found$items) + length(found)))
  expect_identical(about$call, quote(mine_patterns(
    x = x, bin_size = 0.002, window_bins = 5, min_count = 3, max_spikes = 6, threads = 2
  )))
  expect_lt(as.numeric(object.size(flat(found))),
            4 * (length(found$items) + length(found)) + 5000)
})

test_that("what as_spike_trains() takes is a recording", {
  x <- chain()
  plain <- data.frame(time = x$time, unit = x$unit)
  expect_identical(flat(mine_patterns(plain, 0.001, 6)), flat(mine_patterns(x, 0.001, 6)))
})

test_that("a search beyond its memory stops, with advice that holds", {
  x <- noise(6, 18, 250, 0.7)
  for (engine in engines) {
    # Which parts of the search are done by then depends on the threads, and so does the advice.
    mined <- \(min_count) {
      mine_patterns(x, 0.001, 1, 2, min_count, max_memory = 2e6, engine = engine, threads = 2)
    }
    # What is left to search can only be guessed: the advice may have to be taken again,
    # more so where the search itself holds more than it finds.
    min_count <- 2
    for (try in seq_len(if (engine == "closure") 3 else 7)) {
      found <- tryCatch(mined(min_count), synfire_error_budget = identity)
      if (!inherits(found, "condition")) break
      text <- gsub("\\s+", " ", conditionMessage(found))
      expect_match(text, "`max_memory` is 2 MB")
      expect_match(text, "Raise `min_count` to [0-9,]+ or more, raise `min_spikes`, or lower")
      advice <- as.numeric(gsub(",", "", sub(".*`min_count` to ([0-9,]+).*", "\\1", text)))
      expect_gt(advice, min_count)
      min_count <- advice
    }
    expect_s3_class(found, "patterns")
    expect_gt(try, 1)
    # What the trees of FP-growth hold is not there for what is found.
    expect_gt(length(found), if (engine == "closure") 5000 else 500)
    expect_lte(attr(found, "peak_memory"), 2e6)
  }
})

test_that("whether a search keeps to max_memory does not depend on threads", {
  set.seed(3)
  x <- simulate_patterns(2, 300, 8)
  for (engine in engines) {
    # A thread counts 150,000 items: sixteen of them would take 20 MB.
    mined <- \(threads) {
      mine_patterns(x, 5e-4, 500, min_spikes = 4, min_count = 12, engine = engine,
                    threads = threads, max_memory = 1e7)
    }
    one <- mined(1)
    many <- mined(16)
    expect_identical(flat(many), flat(one))
    expect_lte(attr(many, "peak_memory"), 1e7)
  }
})

test_that("what is compared for shifted subsets is counted in max_memory", {
  x <- noise(6, 18, 250, 0.7)
  mined <- \(...) mine_patterns(x, 0.001, 1, min_count = 15, threads = 2, ...)
  expect_s3_class(mined(max_memory = 3e6), "patterns")
  expect_error(mined(max_memory = 3e6, shifted_subsets = "drop"),
               "comparing these patterns", class = "synfire_error_budget")
})

test_that("a window longer than the recording, or than all trials, is refused", {
  x <- spike_trains(c(0, 0.010, 0.019), c("A", "B", "A"), start = 0, end = 0.019,
                    resolution = 1e-3)
  expect_s3_class(mine_patterns(x, 0.005, 4), "patterns")
  expect_error(mine_patterns(x, 0.005, 5), "recording, which has 4 bins of 0.005 s",
               class = "synfire_error_argument")
  expect_error(pvalue_spectrum(x, 0.005, 5), "5 bins", class = "synfire_error_argument")
  trials <- data.frame(start = c(0, 0.010), end = c(0.009, 0.019))
  x <- spike_trains(x$time, x$unit, start = 0, end = 0.019, resolution = 1e-3,
                    trials = trials)
  expect_s3_class(mine_patterns(x, 0.005, 2), "patterns")
  expect_error(mine_patterns(x, 0.005, 3), "longest trial, which has 2 bins",
               class = "synfire_error_argument")
})

test_that("published results on a recording of motor cortex are repeated", {
  x <- movement_raster()
  jobs <- list(list(88, 2, "job0_supp88_zmin2_neu2", engines),
               list(10, 5, "job3_supp10_zmin5_neu5", "closure"),
               list(10, 6, "job4_supp10_zmin6_neu6", "closure"))
  for (job in jobs) {
    file <- paste0("spade/movement_PGHF_", job[[3]], ".txt.gz")
    expected <- sort(readLines(shared_data(file)), method = "radix")
    for (engine in job[[4]]) {
      found <- mine_patterns(x, 0.005, 20, min_spikes = job[[2]], min_count = job[[1]],
                             engine = engine, threads = 2)
      expect_identical(sort(published_lines(found), method = "radix"), expected)
    }
  }
})

test_that("Ctrl-C stops a long search", {
  skip_on_cran()
  for (engine in engines) {
    expect_interrupted(substitute({
      x <- LONG
      begin()
      synfire::mine_patterns(x, 0.001, 20, min_spikes = 3, min_count = 3, engine = ENGINE,
                             threads = 2)
    }, list(ENGINE = engine, LONG = long_recording)))
  }
})

test_that("an interrupted search gives its memory back", {
  skip_on_cran()
  lines <- start_child(substitute({
    pages <- function() {
      if (file.exists("/proc/self/statm")) scan("/proc/self/statm", quiet = TRUE)[[2]] else 0
    }
    x <- LONG
    for (round in 1:10) {
      system(sprintf("(sleep 0.5; kill -INT %d)", Sys.getpid()), wait = FALSE)
      outcome <- tryCatch(
        {
          synfire::mine_patterns(x, 0.001, 20, min_spikes = 3, min_count = 3, threads = 2)
          "finished"
        },
        interrupt = function(condition) "interrupted",
        error = function(condition) "failed"
      )
      if (outcome != "interrupted") log("bad", outcome)
      gc()
      log("round", pages() * 4096)
    }
    log("end", "done")
  }, list(LONG = long_recording)))
  expect_identical(await_line(lines, "end", 60), "done")
  rounds <- readLines(lines)
  expect_length(grep("^bad", rounds), 0L)
  held <- read.table(text = grep("^round", rounds, value = TRUE))$V2
  # Half a second finds tens of megabytes.
  expect_lt(held[[10]] - held[[4]], 2e7)
})

test_that("bad arguments of mine_patterns() are named", {
  skip_on_cran()
  x <- chain()
  expect_snapshot(error = TRUE, {
    mine_patterns()
    mine_patterns(1:10, 0.001, 5)
    mine_patterns(x)
    mine_patterns(x, window_bins = 5)
    mine_patterns(x, 0, 5)
    mine_patterns(x, -0.001, 5)
    mine_patterns(x, NA, 5)
    mine_patterns(x, Inf, 5)
    mine_patterns(x, "5 ms", 5)
    mine_patterns(x, c(0.001, 0.002), 5)
    mine_patterns(x, 0.0015, 5)
    mine_patterns(x, 1e-15, 5)
    mine_patterns(x, 1e300, 5)
    mine_patterns(x, 0.001)
    mine_patterns(x, 0.001, 0)
    mine_patterns(x, 0.001, -1)
    mine_patterns(x, 0.001, 2.5)
    mine_patterns(x, 0.001, NA)
    mine_patterns(x, 0.001, Inf)
    mine_patterns(x, 0.001, 715827883)
    mine_patterns(x, 0.001, 5, min_spikes = 0)
    mine_patterns(x, 0.001, 5, min_spikes = -2)
    mine_patterns(x, 0.001, 5, min_spikes = 1.5)
    mine_patterns(x, 0.001, 5, min_spikes = NA)
    mine_patterns(x, 0.001, 5, min_spikes = Inf)
    mine_patterns(x, 0.001, 5, min_count = 0)
    mine_patterns(x, 0.001, 5, min_count = -1)
    mine_patterns(x, 0.001, 5, min_count = 0.1)
    mine_patterns(x, 0.001, 5, min_count = NA)
    mine_patterns(x, 0.001, 5, min_count = Inf)
    mine_patterns(x, 0.001, 5, min_spikes = 3, max_spikes = 2)
    mine_patterns(x, 0.001, 5, max_spikes = 2.5)
    mine_patterns(x, 0.001, 5, max_spikes = NA)
    mine_patterns(x, 0.001, 5, max_spikes = -Inf)
    mine_patterns(x, 0.001, 5, min_count = 3, max_count = 2)
    mine_patterns(x, 0.001, 5, max_count = 0)
    mine_patterns(x, 0.001, 5, max_count = NA)
    mine_patterns(x, 0.001, 5, min_units = 0)
    mine_patterns(x, 0.001, 5, min_units = NULL)
    mine_patterns(x, 0.001, 5, min_units = 1.5)
    mine_patterns(x, 0.001, 5, min_units = NA)
    mine_patterns(x, 0.001, 5, max_spikes = 3, min_units = 4)
    mine_patterns(x, 0.001, 5, closed_within = "none")
    mine_patterns(x, 0.001, 5, shifted_subsets = TRUE)
    mine_patterns(x, 0.001, 5, engine = "apriori")
    mine_patterns(x, 0.001, 5, threads = 0)
    mine_patterns(x, 0.001, 5, max_memory = 10)
    mine_patterns(x, 0.001, 5, max_memory = NA)
  })
  for (code in expression(mine_patterns(x, 0, 5), mine_patterns(x, 0.001, 0),
                          mine_patterns(x, 0.001, 5, min_count = 0), mine_patterns(1, 1, 1))) {
    expect_error(eval(code), class = "synfire_error_argument")
  }
})

test_that("filters beyond what there can be give no patterns, not an error", {
  huge <- 2^40
  expect_length(mine_patterns(chain(), 0.001, 6, min_count = huge), 0L)
  expect_length(mine_patterns(chain(), 0.001, 6, min_spikes = huge), 0L)
  expect_length(mine_patterns(chain(), 0.001, 6, min_units = huge), 0L)
  all <- flat(mine_patterns(chain(), 0.001, 6))
  expect_identical(flat(mine_patterns(chain(), 0.001, 6, max_spikes = huge)), all)
  expect_identical(flat(mine_patterns(chain(), 0.001, 6, max_count = huge)), all)
  expect_identical(flat(mine_patterns(chain(), 0.001, 6, max_memory = 2^53)), all)
})

test_that("registers of any width give the same", {
  of_width <- function(x, bin, window, parameters, bits) {
    options <- pattern_options(window, parameters, "closure", 2, 1e9)
    options$vector_bits <- bits
    found <- .Call(r_mine_patterns, pattern_events(x, bin), options, NULL)
    list(found$items[], found$size, found$n, found$count[])
  }
  # Some tens, some hundreds and some thousand windows of a unit.
  for (bins in c(60, 400, 3000)) {
    x <- noise(bins, if (bins > 1000) 6 else 12, bins, 0.4)
    for (within in c("all", "max_spikes")) {
      for (least in c(4, bins / 10)) {
        parameters <- filters_of(min_spikes = 2, min_units = 2, min_count = least, max_spikes = 5)
        parameters$closed_within <- within
        all <- lapply(c(1, 256, 512), \(bits) of_width(x, 1, 3, parameters, bits))
        expect_gt(length(all[[1]][[4]]), 0)
        expect_identical(all[[2]], all[[1]])
        expect_identical(all[[3]], all[[1]])
      }
    }
  }
})

test_that("the entries in C refuse what R should never pass", {
  skip_on_cran()
  events <- pattern_events(chain(), 1)
  parameters <- filters_of()
  options <- pattern_options(6, parameters, "closure", 1, 1e8)
  mined <- .Call(r_mine_patterns, events, options, NULL)
  expect_identical(sum(mined$n), 3)
  parts <- lapply(0:2, \(root) .Call(r_mine_patterns, events, options, c(root, root + 1)))
  expect_identical(sum(vapply(parts, \(part) sum(part$n), 0)), 3)
  refused <- function(code) {
    expect_error(code, "cannot be used", label = deparse(substitute(code)))
  }
  with <- function(x, at, value) {
    x[[at]] <- value
    x
  }
  refused(.Call(r_mine_patterns, NULL, options, NULL))
  refused(.Call(r_mine_patterns, events[1:4], options, NULL))
  refused(.Call(r_mine_patterns, events, options, c(-1, 4)))
  refused(.Call(r_mine_patterns, events, options, c(2, 1)))
  refused(.Call(r_mine_patterns, events, options, c(NaN, 1)))
  refused(.Call(r_mine_patterns, events, options, 0:1))
  for (name in names(options)) {
    most <- if (name != "max_memory") 1e300
    for (value in list(NULL, NA, NaN, -1, 0.5, "1", c(1, 1), most)) {
      if (name == "max_memory" && identical(value, 0.5)) next
      expect_error(.Call(r_mine_patterns, events, with(options, name, value), NULL),
                   paste0("option `", name, "` that is wrong"), class = "synfire_mistake")
    }
  }
  refused(.Call(r_mine_patterns, with(events, "tick", as.integer(events$tick)), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "tick", rev(events$tick)), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "tick", events$tick[-1]), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "tick", events$tick + NaN), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "tick", events$tick - 1), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "unit", as.integer(events$unit) + 1L), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "unit", as.integer(events$unit) + 0), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "trial", rep(2L, 9)), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "trial", 1L), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "units", NA), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "start", NULL), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "start", -Inf), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "bin", 0), options, NULL))
  refused(.Call(r_mine_patterns, with(events, "bin", NaN), options, NULL))
  refused(.Call(r_drop_shifted, mined$items, mined$size, mined$n + 1, mined$count, 3L, 1e9))
  refused(.Call(r_drop_shifted, mined$items, rev(mined$size), mined$n, mined$count, 3L, 1e9))
  refused(.Call(r_drop_shifted, mined$items[-1], mined$size, mined$n, mined$count, 3L, 1e9))
  refused(.Call(r_drop_shifted, mined$items, mined$size, mined$n, mined$count, 0L, 1e9))
  refused(.Call(r_drop_shifted, mined$items, mined$size, mined$n, NULL, 3L, 1e9))
})
