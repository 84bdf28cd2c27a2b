# What the miner finds lies outside R's heap; here it must pass for plain integer vectors.

# Transactions of 16 items with more closed sets than blocks first have room for. With
# `pad`, one more transaction of so many items that nothing else holds.
many_sets <- function(pad = 0L) {
  sets <- withr::with_seed(7, lapply(1:150, \(t) which(runif(16) < 0.6)))
  if (pad > 0L) c(sets, list(16L + seq_len(pad))) else sets
}

mined_store <- function(sets, min_count = 2) {
  found <- frequent_itemsets(sets, min_count, threads = 1)
  list(items = found$items, count = found$count, sizes = found$size)
}

inspected <- function(x) paste(capture.output(.Internal(inspect(x))), collapse = " ")
is_stored <- \(x) grepl("mined (items|count)", inspected(x))
word_bits <- \(x) as.integer(sub(".*blocks of (\\d+)-bit.*", "\\1", inspected(x)))

# A plain copy, number by number.
plain <- function(x) vapply(seq_along(x), \(i) x[[i]], 0L)

test_that("numbers are the same one by one, in pieces, in any order and in memory", {
  for (pad in c(0L, 70000L)) {
    store <- mined_store(many_sets(pad))
    expect_gt(length(store$count), 3000)
    for (x in store[c("items", "count")]) {
      expect_true(is_stored(x))
      expect_identical(word_bits(x), if (pad == 0L) 16L else 32L)
      one_by_one <- plain(x)
      # sum() reads pieces of 512 numbers.
      expect_identical(sum(x), sum(one_by_one))
      expect_identical(range(one_by_one), c(min(x), max(x)))
      i <- withr::with_seed(1, sample(length(x)))
      expect_identical(x[i], one_by_one[i])
      expect_identical(rev(x), rev(one_by_one))
      expect_identical(x[c(NA, 1, length(x), length(x) + 1)],
                       c(NA, one_by_one[c(1, length(x))], NA))
      expect_identical(x[-1], one_by_one[-1])
      expect_true(is_stored(x))
      expect_identical(x + 0L, one_by_one)
      expect_match(inspected(x), "materialised")
      expect_identical(plain(x), one_by_one)
    }
  }
})

test_that("what is stored is what was found", {
  sets <- many_sets()
  store <- mined_store(sets)
  expect_identical(store$sizes, sort(store$sizes))
  ends <- cumsum(store$sizes)
  for (k in withr::with_seed(2, sample(length(ends), 200))) {
    items <- store$items[seq(ends[k] - store$sizes[k] + 1, ends[k])] + 1L
    expect_identical(items, sort(unique(items)))
    expect_identical(sum(vapply(sets, \(s) all(items %in% s), NA)), store$count[k])
  }
})

test_that("words are as wide as the largest number needs", {
  wide <- function(items) {
    mined_store(list(seq_len(items), c(1L, items - 1L, items), c(2L, items)))
  }
  for (items in c(65535L, 65536L)) {
    store <- wide(items)
    expect_identical(word_bits(store$items), if (items == 65535L) 16L else 32L)
    expect_identical(plain(store$items), c(items, 2L, items, 1L, items - 1L, items) - 1L)
    expect_identical(plain(store$count), c(3L, 2L, 2L))
  }
  for (times in c(65535L, 65536L)) {
    store <- mined_store(c(rep(list(1:2), times - 1L), list(2L)), 1)
    expect_identical(word_bits(store$count), if (times == 65535L) 16L else 32L)
    expect_identical(plain(store$items), c(1L, 0L, 1L))
    expect_identical(plain(store$count), c(times, times - 1L))
  }
})

test_that("nothing found is two empty vectors", {
  store <- mined_store(list(1:3, 4:6), 2)
  expect_identical(store$items, integer())
  expect_identical(store$count, integer())
})

test_that("base functions take them for plain vectors", {
  found <- mined_store(many_sets())
  values <- lapply(found, plain)
  for (row in c("items", "count")) {
    fresh <- \() mined_store(many_sets())[[row]]
    expect_true(identical(fresh(), values[[row]]))
    expect_true(all.equal(fresh(), values[[row]]))
    expect_identical(sort(fresh()), sort(values[[row]]))
    expect_identical(order(fresh()), order(values[[row]]))
    expect_identical(tabulate(fresh()), tabulate(values[[row]]))
    expect_identical(rep(fresh(), 2), rep(values[[row]], 2))
    expect_identical(c(fresh(), 1L), c(values[[row]], 1L))
    expect_identical(unique(fresh()), unique(values[[row]]))
    expect_identical(as.double(fresh()), as.double(values[[row]]))
    expect_identical(matrix(fresh(), 1L), matrix(values[[row]], 1L))
    expect_identical(anyNA(fresh()), FALSE)
    expect_identical(length(fresh()), length(values[[row]]))
    expect_identical(capture.output(str(fresh())), capture.output(str(values[[row]])))
    expect_identical(object.size(fresh()), object.size(values[[row]]))
  }
})

test_that("a copy that is changed leaves the original where it lies", {
  x <- mined_store(many_sets())$count
  y <- x
  y[2] <- NA
  expect_true(is_stored(x))
  expect_false(is_stored(y))
  expect_identical(which(is.na(y)), 2L)
  expect_identical(y[-2], x[-2])
  x[[1]] <- -1L
  expect_identical(c(x[[1]], x[-1]), c(-1L, plain(x)[-1]))
})

test_that("each vector outlives the other one", {
  values <- lapply(mined_store(many_sets()), plain)
  for (row in c("items", "count")) {
    x <- mined_store(many_sets())[[row]]
    gc()
    expect_true(is_stored(x))
    expect_identical(plain(x), values[[row]])
    y <- x + 0L
    gc()
    expect_identical(plain(x), values[[row]])
  }
})

test_that("a file with them can be read without this package", {
  store <- mined_store(many_sets())[c("items", "count")]
  file <- withr::local_tempfile(fileext = ".rds")
  out <- withr::local_tempfile(fileext = ".rds")
  saveRDS(store, file)
  code <- sprintf("x <- readRDS('%s'); saveRDS(list(lapply(x, sum), loadedNamespaces()), '%s')",
                  normalizePath(file, "/"), normalizePath(out, "/", mustWork = FALSE))
  script <- withr::local_tempfile(lines = code, fileext = ".R")
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), env = "R_TESTS=")
  child <- readRDS(out)
  expect_identical(child[[1]], lapply(store, sum))
  expect_false("synfire" %in% child[[2]])
  expect_identical(readRDS(file), lapply(store, plain))
  expect_identical(unserialize(serialize(mined_store(many_sets())$items, NULL)),
                   plain(store$items))
})

test_that("the library can go before what it found", {
  lines <- start_child(quote({
    found <- frequent_itemsets(list(1:3, 2:3, 3L), 1)
    items <- found$items
    in_memory <- found$count
    in_memory[[1]] <- in_memory[[1]]
    rm(found)
    unloadNamespace("synfire")
    gc()
    outcome <- tryCatch(sum(items), error = function(condition) "refused")
    rm(items)
    gc()
    log("end", outcome, sum(in_memory))
  }))
  expect_identical(await_line(lines, "end"), c("refused", "6"))
})

test_that("what is dropped, and what is stopped, leaves no memory behind", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/status"))
  resident <- function() {
    lines <- readLines("/proc/self/status")
    as.numeric(gsub("\\D", "", lines[startsWith(lines, "VmRSS")])) / 1024
  }
  sets <- withr::with_seed(1, lapply(1:300, \(t) which(runif(20) < 0.7)))
  frequent <- function(max_memory) {
    tryCatch(frequent_itemsets(sets, 2, target = "frequent", threads = 1, max_memory = max_memory),
             synfire_error_budget = \(e) "stopped")
  }
  expect_identical(frequent(8e6), "stopped")
  found <- length(frequent(1e9)$items)
  times <- ceiling(200e6 / (2 * found))
  before <- resident()
  for (k in seq_len(times)) frequent(1e9)
  for (k in 1:50) frequent(8e6)
  expect_lt(resident() - before, 90)
})
