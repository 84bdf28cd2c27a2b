# A map with every layer, of which libraries are drawn at random.
full_map <- function(x, ..., threads = 1) {
  quiet_map(x, E_max = 3, Tp = c(-1, 0), lib_sizes = c(30, 80), n_surrogates = 3,
            surrogate = "shuffle", threads = threads, ...)
}

# Many blocks of few libraries.
small_blocks <- 1e6

test_that("a map in a file has the numbers and the attributes of one in memory", {
  x <- ring_series()
  set.seed(1)
  memory <- full_map(x)
  set.seed(1)
  file <- map_path()
  expect_silent(map <- full_map(x, file = file))
  expect_s3_class(map, c("causal_map_file", "causal_map"))
  stored <- map_numbers(map)
  expected <- map_numbers(memory)
  expect_identical(names(stored), c("rho", "lag", "p_value", "convergence"))
  expect_identical(stored[c("rho", "lag")], expected[c("rho", "lag")])
  # These are differences and shares of counts, in single precision there.
  expect_equal(stored, expected, tolerance = 1e-6)
  kept <- c("E", "parameters", "device")
  expect_equal(attributes(map)[kept], attributes(memory)[kept], tolerance = 0)
  expect_identical(dim(map), dim(memory))
  expect_identical(dimnames(map), dimnames(memory))
  expect_identical(attr(map, "call")[[1L]], quote(causal_map))
  expect_named(attr(map, "elapsed"), c("dimensions", "map", "total"))
  expect_gt(attr(map, "elapsed")[["map"]], 0)
  expect_same_map(open_causal_map(file), map)

  # For other programs.
  h5 <- hdf5r::H5File$new(file, mode = "r")
  withr::defer(h5$close_all())
  expect_identical(hdf5r::h5attr(h5, "synfire_version"),
                   as.character(utils::packageVersion("synfire")))
  expect_equal(hdf5r::h5attr(h5, "lib_sizes"), c(30, 80))
  expect_identical(h5[["rho"]]$get_type()$to_text(), hdf5r::h5types$H5T_IEEE_F32LE$to_text())
  expect_true(all(h5[["done"]]$read() == 1))
  expect_identical(h5[["targets"]]$read(), colnames(x))
})

test_that("parts of a map in a file are those of the matrix", {
  x <- ring_series()
  map <- quiet_map(x, E = 2, libraries = paste0("s", c(9, 2:6)), threads = 1, file = map_path())
  whole <- as.matrix(map)
  expect_identical(dim(whole), c(6L, 12L))
  expect_identical(rownames(whole), paste0("s", c(9, 2:6)))
  same <- function(part, expected) expect_identical(part, expected)
  same(map[2, 3], whole[2, 3])
  same(map["s3", ], whole["s3", ])
  same(map[, "s11"], whole[, "s11"])
  same(as.matrix(map[c(5, 1), c("s9", "s2", "s9")]), whole[c(5, 1), c("s9", "s2", "s9")])
  same(as.matrix(map[-1, -(2:9)]), whole[-1, -(2:9)])
  same(as.matrix(map[c(TRUE, FALSE), ]), whole[c(TRUE, FALSE), ])
  same(as.matrix(map[3, , drop = FALSE]), whole[3, , drop = FALSE])
  same(as.matrix(map[0, ]), whole[0, ])
  same(map[c(1, 70, 8)], whole[c(1, 70, 8)])
  same(map[cbind(c(6, 1, 6), c(2, 12, 3))], whole[cbind(c(6, 1, 6), c(2, 12, 3))])
  same(map[cbind("s4", "s8")], whole[cbind("s4", "s8")])
  same(map[is.na(whole) | whole > 0.9], whole[is.na(whole) | whole > 0.9])
  same(attr(map[, 3:2], "E"), c(s3 = 2L, s2 = 2L))
  expect_s3_class(map[1:2, ], "causal_map")
  expect_identical(map[], map)
  expect_error(map["s7", ], "\"s7\"", class = "synfire_error_argument")
  expect_error(map[, 13], "`j` must be names or numbers", class = "synfire_error_argument")
  expect_error(map[73], "beyond", class = "synfire_error_argument")
  expect_identical(t(map), t(whole))
})

test_that("what is done with maps in memory is done with those in files", {
  x <- ring_series()
  file <- map_path()
  memory <- quiet_map(x, E_max = 3, threads = 1)
  map <- quiet_map(x, E_max = 3, threads = 1, file = file)
  expect_identical(as.data.frame(map), as.data.frame(memory))
  expect_identical(as.data.frame(map, max_links = 5), as.data.frame(memory, max_links = 5))
  parts <- c("links", "hubs", "asymmetry", "skill")
  expect_equal(unclass(summary(map))[parts], unclass(summary(memory))[parts])
  gaps <- quiet_map(x, E = c(NA, rep(2, 11)), threads = 1, file = map_path())
  expect_true(anyNA(gaps))
  expect_identical(is.na(gaps), is.na(as.matrix(gaps)))
  expect_identical(sum(gaps, na.rm = TRUE), sum(as.matrix(gaps), na.rm = TRUE))
  expect_identical(range(map), range(as.matrix(memory)))
  expect_identical(max(map, 7), 7)
  expect_identical(mean(map), mean(as.matrix(memory)))
  expect_identical(is.na(map), is.na(as.matrix(memory)))
  expect_false(anyNA(map))
  shown <- format(map)
  expect_identical(shown[1:2], format(memory)[1:2])
  expect_identical(shown[[length(shown)]], paste("In", normalizePath(file, "/")))
})

test_that("a killed map opens, has what was done, and goes on to the same numbers", {
  skip_on_cran()
  x <- ring_series(120, 400)
  file <- map_path()
  series <- withr::local_tempfile(fileext = ".rds")
  saveRDS(x, series)
  # The child stops for good in its third block: `when` it has written that but not said so,
  # or before it has written all of it.
  killed <- function(when) {
    unlink(file)
    lines <- start_child(substitute({
      x <- readRDS(SERIES)
      blocks <- 0
      stop_at_third <- function() {
        blocks <<- blocks + 1
        if (blocks < 3) return()
        log("start", Sys.getpid())
        Sys.sleep(60)
      }
      trace(FUNCTION, stop_at_third, where = asNamespace("synfire"), print = FALSE)
      set.seed(3)
      causal_map(x, E_max = 3, lib_sizes = c(50, 200), threads = 1, max_memory = 1e6,
                 file = FILE)
    }, list(SERIES = series, FILE = file, FUNCTION = when)))
    start <- await_line(lines, "start")
    expect_false(is.null(start), label = "the child did not get to its third block")
    kill_process(start[[1L]])
  }
  go_on <- function(...) {
    causal_map(x, E_max = 3, lib_sizes = c(50, 200), threads = 1, max_memory = small_blocks,
               file = file, ...)
  }
  reference <- map_path()
  set.seed(3)
  whole <- quiet_map(x, E_max = 3, lib_sizes = c(50, 200), threads = 2, file = reference)
  for (when in c("write_rows", "write_at")) {
    killed(when)
    part <- open_causal_map(file)
    done <- which(!is.na(rowSums(as.matrix(part))))
    if (when == "write_rows") {
      expect_gt(length(done), 1L)
      expect_lt(length(done), 120L)
      expect_match(format(part), sprintf("%d of 120 libraries so far", length(done)), all = FALSE)
    }
    expect_identical(as.matrix(part)[done, ], as.matrix(whole)[done, ])
    # The random numbers are those of the file.
    set.seed(99)
    expect_same_map(suppressMessages(go_on()), whole)
    for (set in c("rho", "convergence", "E", "done")) {
      expect_identical(h5_values(file, set), h5_values(reference, set))
    }
  }
  expect_message(go_on(), "All 120 libraries are mapped",
                 class = "synfire_message_file")
})

test_that("an interrupted map says how to go on", {
  x <- ring_series(160, 400)
  file <- map_path()
  blocks <- 0
  stop_at_third <- function() {
    blocks <<- blocks + 1
    if (blocks == 3) rlang::interrupt()
  }
  suppressMessages(trace("write_rows", bquote((.(stop_at_third))()),
                         where = asNamespace("synfire"), print = FALSE))
  said <- character()
  outcome <- tryCatch(
    withCallingHandlers(
      causal_map(x, E = 2, threads = 1, max_memory = small_blocks, file = file),
      synfire_message_file = \(m) {
        said <<- c(said, conditionMessage(m))
        rlang::cnd_muffle(m)
      }
    ),
    interrupt = \(i) "interrupted",
    finally = suppressMessages(untrace("write_rows", where = asNamespace("synfire")))
  )
  expect_identical(outcome, "interrupted")
  expect_match(said, "the same call goes on", all = FALSE)
  expect_message(
    map <- causal_map(x, E = 2, threads = 1, max_memory = small_blocks, file = file),
    "of 160 libraries are mapped", class = "synfire_message_file"
  )
  expect_same_map(map, quiet_map(x, E = 2, threads = 1))
})

test_that("dimensions that were found are not searched again", {
  x <- ring_series()
  file <- map_path()
  map <- quiet_map(x, E_max = 3, threads = 1, file = file)
  h5 <- hdf5r::H5File$new(file, mode = "r+")
  E <- h5[["E"]][]
  found <- replace(rep(3L, 12), 5, 0L)
  h5[["E"]][] <- found
  h5[["E_check"]][] <- number_sums(found)
  h5[["done"]][] <- rep(0L, 12)
  h5[["check"]][, ] <- matrix(0, 12, 1)
  h5$close_all()
  part <- open_causal_map(file)
  expect_identical(unname(attr(part, "E")), replace(rep(3L, 12), 5, NA))
  expect_true(all(is.na(as.matrix(part))))
  again <- quiet_map(x, E_max = 3, threads = 1, file = file)
  expect_identical(unname(attr(again, "E")), replace(rep(3L, 12), 5, E[[5L]]))
})

test_that("a file of another map is refused, with what differs, and left as it is", {
  skip_on_cran()
  x <- ring_series()
  file <- map_path()
  map_it <- function(x, E_max = 3, ...) {
    quiet_map(x, E_max = E_max, ..., threads = 1, file = file)
  }
  # Without a file there is nothing to go on with, so it is begun.
  first <- map_it(x)
  before <- unname(tools::md5sum(file))
  refused <- function(job, says) expect_error(job, says, class = "synfire_error_argument")
  refused(map_it(x, E_max = 4), "`E_max` is 3 there, not 4")
  refused(map_it(x, tau = -2), "`tau` is -1 there, not -2")
  refused(map_it(x, Tp = c(-1, 0)), "`Tp` is 0 there, not")
  refused(map_it(x, validation = "split"), "`validation` is \"loo\" there, not \"split\"")
  refused(map_it(x, exclusion_radius = 3), "`exclusion_radius` is 0 there, not 3")
  refused(map_it(x, lib_sizes = c(20, 60)), "`lib_sizes` is NULL there, not 20, 60")
  refused(map_it(x, n_surrogates = 2), "`n_surrogates` is 0 there, not 2")
  refused(map_it(x, screen = 0.5), "`screen` is NULL there, not 0.5")
  refused(map_it(x, libraries = 1:3), "`libraries` differ")
  refused(map_it(x, targets = 3:1), "`targets` differ")
  refused(quiet_map(x, E = 2, file = file), "`E` differs")
  refused(map_it(x + 1), "the series differ")
  refused(quiet_map(x, E_max = 3, top = 2, file = file), "`top` must be NULL")
  expect_identical(unname(tools::md5sum(file)), before)
  # What decides nothing may change, and so may where the series lie.
  expect_same_map(quiet_map(as.data.frame(x), no_time = TRUE, E_max = 3, threads = 2, file = file,
                            max_memory = 1e8), first)

  writeLines("text", file)
  expect_error(map_it(x), "damaged HDF5 file, or none", class = "synfire_error_file")
  expect_identical(readLines(file), "text")
  h5 <- hdf5r::H5File$new(file, mode = "w")
  h5[["rho"]] <- x
  h5$close_all()
  expect_error(map_it(x), "holds no causal map", class = "synfire_error_file")
  expect_error(open_causal_map(file), "holds no causal map", class = "synfire_error_file")
  expect_error(open_causal_map(paste0(file, "x")), "no such file", class = "synfire_error_file")
  refused(quiet_map(x, file = file.path(file, "below.h5")), "`file` must be the path of a file")
})

test_that("series are read from an HDF5 file in blocks", {
  x <- ring_series(30, 200)
  input <- map_path()
  h5 <- hdf5r::H5File$new(input, mode = "w")
  h5[["x"]] <- x
  h5[["names"]] <- colnames(x)
  h5$close_all()
  map <- quiet_map(input, E_max = 3, threads = 1, max_memory = small_blocks, file = map_path())
  expect_same_map(map, quiet_map(x, E_max = 3, threads = 1))
})

test_that("a file that somebody has open is told from a damaged one", {
  skip_on_os("windows")
  x <- ring_series()
  file <- map_path()
  quiet_map(x, E = 1, threads = 1, file = file)
  lines <- start_child(substitute({
    h5 <- hdf5r::H5File$new(FILE, mode = "r+")
    log("start", Sys.getpid())
    Sys.sleep(60)
  }, list(FILE = file)))
  start <- await_line(lines, "start")
  expect_false(is.null(start))
  withr::defer(tools::pskill(as.integer(start[[1L]]), tools::SIGKILL))
  if (identical(Sys.getenv("HDF5_USE_FILE_LOCKING"), "FALSE")) skip("nothing is locked")
  expect_error(open_causal_map(file), "open in another program", class = "synfire_error_file")
})

test_that("names in any letters are kept, whatever their encoding", {
  x <- ring_series(4)
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  colnames(x) <- c(latin, "\u4e2d", "b c", "{d}")
  file <- map_path()
  map <- quiet_map(x, E_max = 2, threads = 1, file = file)
  expect_identical(colnames(map), enc2utf8(colnames(x)))
  expect_identical(names(attr(open_causal_map(file), "E")), enc2utf8(colnames(x)))
  expect_same_map(quiet_map(x, E_max = 2, threads = 1, file = file), map)
  expect_identical(unname(map["caf\u00e9", "\u4e2d"]), unname(as.matrix(map)[1, 2]))
})

# ---- Damage and company ----------------------------------------------------------------

# Whether a file with a changed byte is believed: what opening and reading it gives, in a
# process of its own, as HDF5 might crash.
read_damaged <- function(file, bytes, whole) {
  writeBin(bytes, file)
  job <- parallel::mcparallel({
    tryCatch(suppressWarnings({
      map <- open_causal_map(file)
      known <- identical(map_numbers(map), map_numbers(whole)) &&
        identical(attr(map, "E"), attr(whole, "E")) &&
        identical(dimnames(map), dimnames(whole)) &&
        identical(attr(map, "parameters"), attr(whole, "parameters"))
      if (known) "right" else "believed"
    }), synfire_error_file = \(e) "found", error = conditionMessage)
  }, silent = TRUE)
  suppressWarnings(parallel::mccollect(job)[[1L]]) %||% "crashed"
}

test_that("a byte that was changed in a map is found, wherever it is", {
  skip_unless_nightly()
  skip_on_cran()
  skip_on_os("windows")
  x <- ring_series()
  file <- map_path()
  set.seed(1)
  whole <- quiet_map(x, E_max = 3, Tp = c(-1, 0), threads = 1, file = file)
  bytes <- readBin(file, "raw", file.size(file))
  damaged <- map_path()
  set.seed(2)
  at <- c(sample(length(bytes), 60), length(bytes) - c(0, 10), 1, 30, 1025 + 0:24)
  outcome <- vapply(at, \(k) {
    read_damaged(damaged, replace(bytes, k, xor(bytes[[k]], as.raw(2^sample(0:7, 1)))), whole)
  }, "")
  expect_true(all(outcome %in% c("found", "right")),
              label = paste(at[!outcome %in% c("found", "right")], collapse = " "))
  expect_gt(mean(outcome == "found"), 0.6)
  # Cut short, or with something behind it.
  for (n in c(0, 100, 1024, 2000, length(bytes) - 1)) {
    expect_identical(read_damaged(damaged, bytes[seq_len(n)], whole), "found")
  }
  expect_identical(read_damaged(damaged, c(bytes, as.raw(1)), whole), "found")
})

test_that("a byte of the head that is no text is found like any other", {
  file <- map_path()
  quiet_map(ring_series(), E = 2, threads = 1, file = file)
  bytes <- readBin(file, "raw", file.size(file))
  text <- which(bytes[seq_len(seal_block)] != 0)
  # Of the title, the size, the places and the seal.
  for (at in round(seq(1, length(text), length.out = 12))) {
    writeBin(replace(bytes, text[[at]], as.raw(255)), file)
    expect_error(open_causal_map(file), class = "synfire_error_file")
  }
})

test_that("a full disk is an error that says so, whatever the HDF5 library says", {
  skip_on_cran()
  skip_if_not_installed("hdf5r")
  folder <- withr::local_tempdir()
  # Full before there is a file, and while there are numbers to write to it.
  for (blocks in c(8, 340)) {
    said <- limited_child(sprintf("-f %d", blocks), substitute({
      x <- matrix(sin(1:240 * rep(seq(0.3, 0.7, length.out = 240), each = 240)), 240)
      colnames(x) <- sprintf("s%03d", 1:240)
      outcome <- tryCatch(smap_map(x, E = 1, threads = 1, file = file.path(FOLDER, "map.h5")),
                          synfire_error_write = conditionMessage)
      cat(outcome)
    }, list(FOLDER = folder)))
    expect_match(paste(said, collapse = " "), "cannot be written.*disk is full")
  }
})

test_that("damaged numbers and dimensions are computed again when a map is resumed", {
  skip_unless_nightly()
  skip_on_cran()
  x <- ring_series()
  file <- map_path()
  map_it <- \(...) quiet_map(x, E_max = 3, Tp = c(-1, 0), threads = 1, file = file, ...)
  whole <- map_numbers(map_it())
  change <- function(name, at) {
    bytes <- readBin(file, "raw", file.size(file))
    h5 <- hdf5r::H5File$new(file, mode = "r")
    place <- h5[[name]]$get_offset() + at
    h5$close_all()
    bytes[[place]] <- xor(bytes[[place]], as.raw(1))
    writeBin(bytes, file)
  }
  for (where in list(c("rho", 101), c("lag", 53), c("check", 9), c("done", 3))) {
    change(where[[1L]], as.integer(where[[2L]]))
    if (where[[1L]] != "done") {
      expect_error(as.matrix(open_causal_map(file)[, 1:12]), "damaged.*made again",
                   class = "synfire_error_file")
      expect_warning(again <- map_it(), "computed again",
                     class = "synfire_warning_file")
    } else {
      expect_false(anyNA(as.matrix(open_causal_map(file))))
      again <- map_it()
    }
    expect_identical(map_numbers(again), whole)
    expect_no_warning(map_it())
  }
  E <- attr(map_it(), "E")
  change("E", 5)
  expect_error(open_causal_map(file), "dimensions", class = "synfire_error_file")
  expect_warning(again <- map_it(), "found again", class = "synfire_warning_file")
  expect_identical(attr(again, "E"), E)
  expect_identical(map_numbers(again), whole)
  change("elapsed", 3)
  expect_true(anyNA(attr(open_causal_map(file), "elapsed")))
})

test_that("large maps lie in tiles, and their numbers are found again", {
  withr::local_seed(1)
  file <- map_path()
  n <- 130
  m <- 4100
  task <- list(kind = "causal_map",
               source = list(names = paste0("s", 1:m), id = \() "series", steps = 10),
               libraries = 1:n, targets = 1:m, E = rep(1L, m), rule = map_rule(1, Tp = 0:1),
               split = FALSE, place = list(device = "cpu"), call = quote(causal_map()), id = "map",
               kind = "causal_map")
  task$rule$reasons <- integer(m)
  create_map_file(file, task, FALSE)
  values <- list(rho = matrix(as.double(round(runif(n * m) * 2^20)) / 2^20, n),
                 lag = matrix(as.double(sample(-5:5, n * m, TRUE)), n))
  values$rho[7, 4000] <- NA
  with_sealed_h5(file, mode = "r+", \(h5) for (rows in list(101:130, 1:100)) {
    write_rows(h5, rows, lapply(values, \(v) v[rows, ]), rows, m)
    write_at(h5, "done", rows, rep(1L, length(rows)))
  })
  map <- open_causal_map(file)
  expect_identical(unname(as.matrix(map)), values$rho)
  expect_identical(unname(as.matrix(map[c(130, 3), c(4100, 1, 2049)])),
                   values$rho[c(130, 3), c(4100, 1, 2049)])
  expect_identical(unname(map[, 2048]), values$rho[, 2048])
  expect_identical(unname(attr(map[5:6, ], "lag")), values$lag[5:6, ])
  expect_true(all(right_rows(file, c("rho", "lag"), 1:n, 1:n, m)))
})

test_that("of two processes that make the same map one does, and the other says why not", {
  skip_on_cran()
  x <- ring_series(20)
  file <- map_path()
  expect_identical(mean(replicate(2, {
    unlink(file)
    series <- withr::local_tempfile(fileext = ".rds")
    saveRDS(x, series)
    go <- withr::local_tempfile()
    children <- lapply(1:2, \(seed) start_child(substitute({
      x <- readRDS(SERIES)
      log("ready", 1)
      while (!file.exists(GO)) Sys.sleep(0.001)
      set.seed(SEED)
      log("end", tryCatch({
        suppressMessages(causal_map(x, E = 2, n_surrogates = 20, surrogate = "shuffle",
                                    threads = 1, file = FILE))
        "made"
      }, synfire_error_locked = \(e) "locked",
      error = \(e) gsub(" ", "_", conditionMessage(e))))
    }, list(SERIES = series, GO = go, FILE = file, SEED = seed))))
    for (child in children) await_line(child, "ready")
    file.create(go)
    ends <- vapply(children, \(child) await_line(child, "end")[[1L]], "")
    key <- attr(open_causal_map(file), "parameters")$key
    seed <- which(vapply(1:2, \(seed) {
      set.seed(seed)
      identical(as.double(random_key()), as.double(key))
    }, NA))
    set.seed(seed)
    memory <- causal_map(x, E = 2, n_surrogates = 20, surrogate = "shuffle", threads = 1)
    all(ends %in% c("made", "locked")) && "made" %in% ends &&
      isTRUE(all.equal(map_numbers(open_causal_map(file)), map_numbers(memory),
                       tolerance = 1e-6))
  })), 1)
})
