# What `make peers` says: bench/peers, which is in the sources and not in the package.
peers_script <- function(name) {
  path <- test_path("..", "..", "bench", "peers", name)
  skip_if_not(file.exists(path), "the sources are not here")
  normalizePath(path)
}

works <- function() {
  names <- new.env()
  sys.source(peers_script("works.R"), names)
  names
}

# What run.R prints and writes with these arguments: a list of `said` and `csv` (the files).
# The variables are `env`, as NAME=VALUE.
run_peers <- function(arguments, env, envir = parent.frame()) {
  testthat::skip_on_os("windows")
  library_folder <- dirname(getNamespaceInfo("synfire", "path"))
  out <- withr::local_tempdir(.local_envir = envir)
  said <- system2(
    file.path(R.home("bin"), "Rscript"),
    c("--vanilla", peers_script("run.R"), "cpu", arguments, paste0("out=", out)),
    stdout = TRUE, stderr = FALSE,
    env = c("R_TESTS=", "SYNFIRE_DATA=", env,
            paste0("R_LIBS=", paste(c(library_folder, .libPaths()), collapse = ":")))
  )
  list(said = said, csv = list.files(out, full.names = TRUE))
}

test_that("results that are not the same are said to differ", {
  skip_unless_nightly()
  peers <- works()
  same <- peers$agreement(1:3, c(1, 2, 3 + 1e-5), 1e-4)
  expect_true(same$same)
  expect_identical(same$text, "same to 1e-05")
  other <- peers$agreement(1:3, c(1, 2, 3.1), 1e-4)
  expect_false(other$same)
  expect_identical(other$text, "differs by 0.1")
  expect_match(peers$agreement(1:3, 1:2, 1)$text, "^differs: 2 numbers, not 3")
  expect_match(peers$agreement(1:2, c(1, NA), 1)$text, "^differs: missing")
})

test_that("one pattern, one count or one item that is another is found", {
  skip_unless_nightly()
  peers <- works()
  set.seed(3)
  n <- rep(100, 4)
  x <- spike_trains(runif(sum(n), 0, 5), factor(rep(1:4, n)), start = 0, end = 5,
                    resolution = 1e-3)
  ours <- peers$flat_patterns(mine_patterns(x, 0.01, 3, 2, 3), 4)
  expect_gt(ours$n, 20)
  shuffled <- list(n = ours$n, sizes = rev(ours$sizes), counts = rev(ours$counts),
                   items = rev(ours$items))
  expect_true(peers$same_patterns(ours, shuffled)$same)
  fewer <- list(n = ours$n - 1, sizes = ours$sizes[-1], counts = ours$counts[-1],
                items = ours$items[-seq_len(ours$sizes[[1]])])
  expect_match(peers$same_patterns(ours, fewer)$text, "^differs: .* patterns, not")
  for (part in c("counts", "items")) {
    wrong <- ours
    wrong[[part]][[2]] <- wrong[[part]][[2]] + 1
    expect_identical(peers$same_patterns(ours, wrong)$text, "differs: other patterns")
  }
})

test_that("maps may differ by rounding, not by more", {
  skip_unless_nightly()
  peers <- works()
  set.seed(4)
  ours <- matrix(runif(400), 20)
  expect_true(peers$same_map(ours, ours + 1e-6)$same)
  on_diagonal <- ours
  diag(on_diagonal) <- NA
  expect_true(peers$same_map(ours, on_diagonal)$same)
  expect_false(peers$same_map(ours, t(ours))$same)
  expect_false(peers$same_map(ours, ours * (runif(400) > 0.1))$same)
})

test_that("a table says who is the same, who differs, who is too slow and who is missing", {
  skip_unless_nightly()
  skip_on_cran()
  peers <- works()
  # In the place of Python, a program that speaks as theirs.py does. What it answers depends
  # on the peer that it is asked to be.
  fake <- withr::local_tempfile(fileext = ".R", lines = c(
    "arguments <- commandArgs(TRUE)",
    "link <- socketConnection(port = as.integer(arguments[[2]]), open = 'r+', blocking = TRUE)",
    "writeLines('ready\\t1.0', link)",
    "repeat {",
    "  request <- readLines(link, 1)",
    "  if (!length(request)) break",
    "  folder <- strsplit(request, '\\t')[[1]][[2]]",
    "  if (arguments[[3]] == 'fastccm') Sys.sleep(60)",
    "  rho <- as.numeric(Sys.getenv('RHO')) + 0.01 * (arguments[[3]] == 'kedm')",
    "  writeBin(rho, file.path(folder, 'result'))",
    "  writeLines('done\\t2,2,2\\t2,2,2', link)",
    "}"
  ))
  rho <- peers$rho_of(simplex(peers$ar_series(), "x", E = 3))
  folder <- withr::local_tempdir()
  for (peer in c("pyEDM", "kedm", "fastccm")) dir.create(file.path(folder, peer))
  done <- run_peers(c(shQuote("works=^simplex"), "limit=2"), c(
    paste0("PEERS=", folder), sprintf("RHO=%.17g", rho),
    paste0("PYTHON=", shQuote(paste(file.path(R.home("bin"), "Rscript"), "--vanilla", fake)))
  ))
  table <- read.csv(done$csv)
  result <- setNames(table$result, table$peer)
  expect_match(result[["pyEDM"]], "^same")
  expect_identical(result[["kedm"]], "differs by 0.01")
  expect_identical(result[["fastccm"]], "stopped after 2 s")
  expect_identical(result[["rEDM"]], "missing: not installed")
  expect_equal(table$peer_wall[table$peer == "pyEDM"], 2)
  expect_true(all(is.na(table$times[table$peer %in% c("fastccm", "rEDM")])))
  expect_true(all(table$date == format(Sys.Date())), all(nzchar(table$machine)))
  # Other work is no comparison, so nothing says how many times as fast it was done.
  line <- grep("^ simplex.*kedm", done$said, value = TRUE)
  expect_match(line, "1 thread +differs by 0.01")
})

test_that("without peers the table says so and leaves the CSVs alone", {
  skip_unless_nightly()
  skip_on_cran()
  done <- run_peers(shQuote("works=^simplex"), paste0("PEERS=", withr::local_tempdir()))
  lines <- grep("^ simplex", done$said, value = TRUE)
  expect_length(lines, 5)
  expect_match(lines, "missing: not installed")
  expect_match(done$said, "no peer is installed: sh bench/peers/install.sh", all = FALSE)
  expect_identical(done$csv, character())
})

test_that("README says what was measured", {
  skip_unless_nightly()
  lines <- new.env()
  sys.source(peers_script("readme.R"), lines)
  root <- dirname(dirname(dirname(peers_script("readme.R"))))
  readme <- readLines(file.path(root, "README.md"))
  expect_identical(lines$with_table(readme, lines$readme_lines(file.path(root, "vignettes"))),
                   readme)
  # Work that was not the same is not in the table; the next program takes its place.
  cpu <- read.csv(file.path(root, "vignettes", "performance", "peers-cpu.csv"))
  gpu <- read.csv(file.path(root, "vignettes", "performance", "peers-h200.csv"))
  table <- lines$readme_table(cpu, gpu)
  expect_gt(length(table), 8)
  expect_match(table, "Elephant", all = FALSE)
  other <- cpu
  other$result[other$peer == "elephant"] <- "differs: other patterns"
  expect_no_match(lines$readme_table(other, gpu), "Elephant")
  expect_match(lines$readme_table(other, gpu), "`mine_patterns.*PyFIM", all = FALSE)
  # Neither is what an old version did.
  cpu$synfire <- "0.2.0"
  gpu$synfire <- "0.9.0"
  expect_match(lines$readme_table(cpu, gpu)[-(1:2)], "GPU")
  # works= of a row chooses its work alone.
  shown <- lines$readme_works
  known <- c(cpu$work, gpu$work)
  expect_true(all(mapply(\(again, work) {
    all(grep(again, known, value = TRUE) == work)
  }, shown$again, shown$work)))
})

test_that("README shows the fastest of the programs that did the same", {
  skip_unless_nightly()
  lines <- new.env()
  sys.source(peers_script("readme.R"), lines)
  rows <- data.frame(
    work = "ccm, one direction, E 3, 10 sizes x 100 samples",
    peer = c("pyEDM", "kedm", "fastccm", "Algorithm 1"), peer_version = "1.0", device = "cpu",
    peer_wall = 1:4, ours_wall = 9, peer_cpu = c(4, 3, 2, 1), ours_cpu = c(8, 7, 6, 5),
    times = 1, result = c("same", "same", "differs by 1", "same"), date = "2026-11-28",
    synfire = "0.9.0", machine = "X"
  )
  table <- lines$readme_table(rows, rows[0, ])
  expect_length(table, 3)
  expect_match(table[[3]], "| kEDM 1.0, single | 3 s | 7 s (0.9.0, double) |", fixed = TRUE)
  notes <- paste(lines$readme_notes(rows, rows[0, ]), collapse = " ")
  expect_match(notes, "ahead in: .*pyEDM.*kEDM")
  expect_no_match(notes, "FastCCM")
})
