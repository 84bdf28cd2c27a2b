# tools/get-data.R, which is no part of the package, fetches from a mirror made here.
get_data_tool <- function(.env = parent.frame()) {
  root <- test_path("..", "..")
  skip_if_not(file.exists(file.path(root, "tools", "get-data.R")), "the sources are not there")
  withr::local_dir(root, .local_envir = .env)
  tool <- new.env()
  sys.source(file.path("tools", "get-data.R"), tool)
  tool
}

md5_of_lines <- function(tool, ...) tool$md5_of(tool$lines_to_bytes(c(...)))

# A mirror: the lines of each address, below a folder that stands for its host.
local_mirror <- function(files, .env = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = .env)
  for (url in names(files)) {
    file <- sub("^https://[^/]+", folder, url)
    dir.create(dirname(file), recursive = TRUE, showWarnings = FALSE)
    writeLines(files[[url]], file)
  }
  paste0("file://", folder)
}

# What the tool says of one source with these parts, and whether all of it is there.
fetched <- function(tool, parts, mirror, folder) {
  tool$sources <- list(made = list(about = "made here", licence = "none", cite = "nobody",
                                   parts = parts))
  said <- utils::capture.output(whole <- tool$get_source("made", folder, mirror))
  list(whole = whole, said = said)
}

test_that("a file with the right MD5 is fetched, kept, and not fetched again", {
  tool <- get_data_tool()
  url <- "https://example.org/some/where/a.csv"
  mirror <- local_mirror(setNames(list(c("x", "1")), url))
  folder <- withr::local_tempdir()
  parts <- list(tool$one_part(url, c("edm/a.csv" = md5_of_lines(tool, "x", "1"))))
  first <- fetched(tool, parts, mirror, folder)
  expect_true(first$whole)
  expect_match(first$said, "fetched: .*edm/a.csv [(]MD5 of the file itself[)]", all = FALSE)
  expect_match(first$said, "licence: none", all = FALSE)
  expect_match(first$said, "cite: nobody", all = FALSE)
  expect_identical(readLines(file.path(folder, "edm", "a.csv")), c("x", "1"))
  unlink(sub("^file://", "", mirror), recursive = TRUE)
  again <- fetched(tool, parts, mirror, folder)
  expect_true(again$whole)
  expect_match(again$said, "there already: .*a.csv", all = FALSE)
  # What somebody changed is not what was fetched.
  writeLines("y", file.path(folder, "edm", "a.csv"))
  expect_false(fetched(tool, parts, mirror, folder)$whole)
})

test_that("a file that is missing or has another MD5 is named and not kept", {
  tool <- get_data_tool()
  url <- "https://example.org/a.csv"
  folder <- withr::local_tempdir()
  parts <- list(tool$one_part(url, c("a.csv" = md5_of_lines(tool, "x"))))
  missing <- fetched(tool, parts, local_mirror(list()), folder)
  expect_false(missing$whole)
  expect_match(missing$said, "MISSING: file://.*/a.csv: ", all = FALSE)
  wrong <- fetched(tool, parts, local_mirror(setNames(list("z"), url)), folder)
  expect_false(wrong$whole)
  expect_match(wrong$said, "MISSING: https://example.org/a.csv: a.csv has the MD5 .*, not ",
               all = FALSE)
  expect_length(list.files(folder, recursive = TRUE), 0)
})

test_that("the first of several addresses that gives the right file is taken", {
  tool <- get_data_tool()
  urls <- sprintf("https://example.org/%s.csv", c("none", "other", "right"))
  mirror <- local_mirror(setNames(list("z", "x"), urls[2:3]))
  folder <- withr::local_tempdir()
  parts <- list(tool$one_part(urls, c("a.csv" = md5_of_lines(tool, "x"))))
  expect_true(fetched(tool, parts, mirror, folder)$whole)
  expect_identical(readLines(file.path(folder, "a.csv")), "x")
})

test_that("what cannot be converted is said, and compressed files are checked as text", {
  tool <- get_data_tool()
  url <- "https://example.org/a.txt"
  mirror <- local_mirror(setNames(list("no spikes"), url))
  folder <- withr::local_tempdir()
  md5 <- c("episodes/a.csv.gz" = md5_of_lines(tool, "time,neuron", "1.50,A"))
  stops <- list(tool$one_part(url, md5, \(file) stop("no channel")))
  expect_match(fetched(tool, stops, mirror, folder)$said,
               "it cannot be converted: no channel", all = FALSE)
  makes <- list(tool$one_part(url, md5, \(file) tool$spikes_to_csv(0.0015, "A")))
  expect_true(fetched(tool, makes, mirror, folder)$whole)
  expect_true(fetched(tool, makes, mirror, folder)$whole)
  expect_identical(readLines(file.path(folder, "episodes", "a.csv.gz")),
                   c("time,neuron", "1.50,A"))
})

test_that("a day of the dense culture is kept without a known MD5 if its lines are spikes", {
  tool <- get_data_tool()
  url <- "https://example.org/2-1-33.spk.txt.bz2"
  folder <- withr::local_tempdir()
  part <- tool$one_part(url, c("episodes/a.spk.txt.gz" = NA_character_), tool$convert_dense)
  # A mirror that has these lines, compressed.
  mirror_of <- function(lines, .env = parent.frame()) {
    mirror <- local_mirror(setNames(list(""), url), .env)
    con <- bzfile(file.path(sub("^file://", "", mirror), "2-1-33.spk.txt.bz2"), "wb")
    writeLines(lines, con)
    close(con)
    mirror
  }
  for (lines in list(c("0.2 1", "0.1 1"), c("0.1 61"), c("0.1 1 2"), "<html>")) {
    wrong <- fetched(tool, list(part), mirror_of(lines), folder)
    expect_false(wrong$whole)
    expect_match(wrong$said, "it cannot be converted", all = FALSE)
  }
  expect_length(list.files(folder, recursive = TRUE), 0)
  lines <- c("0.06012 56", "0.06160 49")
  right <- fetched(tool, list(part), mirror_of(lines), folder)
  expect_true(right$whole)
  expect_match(right$said, paste("MD5 as it came:", md5_of_lines(tool, lines)), all = FALSE)
  expect_identical(readLines(file.path(folder, "episodes", "a.spk.txt.gz")), lines)
  expect_match(fetched(tool, list(part), mirror_of(lines), folder)$said, "there already",
               all = FALSE)
})

test_that("a text export, a spike list and windows of patterns are converted", {
  tool <- get_data_tool()
  text_of <- \(bytes) strsplit(rawToChar(bytes), "\n")[[1]]
  export <- withr::local_tempfile(lines = c(
    "ch_1_unit_0\tch_2_unit_0\tSweep_Start", "16.671360\t1.000000\t0.000000", " \t16.671360\t "
  ))
  expect_identical(text_of(tool$convert_culture(export)[[1]]),
                   c("time,neuron", "1000.00,ch_2", "16671.36,ch_1", "16671.36,ch_2"))
  list <- withr::local_tempfile(lines = c(
    "Investigator,,Time (s),Electrode,Amplitude(mV)", "Name,x,0.20000,B3_22,1",
    ",,0.10000,B3_11,1", ",,0.15000,A1_11,1", "Well Information"
  ))
  expect_identical(text_of(tool$convert_well(list)[[1]]),
                   c("time,neuron", "100.00,B3_11", "200.00,B3_22"))
  # Unit 0 fires in bins 0 and 2, unit 1 in bin 2; then 20 empty bins, and unit 1.
  windows <- withr::local_tempfile(lines = c("0 2 22 ", "0 20 ", "20 "))
  expect_identical(text_of(tool$convert_cortex(windows)[[2]]), c("0 0", "0 2", "1 2", "1 22"))
})

test_that("each source has addresses, MD5s, a licence and a citation", {
  tool <- get_data_tool()
  for (source in tool$sources) {
    expect_true(all(nzchar(c(source$about, source$licence, source$cite))))
    for (part in source$parts) {
      expect_match(part$urls, "^https://")
      # Days 33 to 35 of the dense culture alone have no MD5.
      unknown <- is.na(part$md5) & grepl("culture-2-1-3[345]", names(part$md5))
      expect_true(all(unknown | grepl("^[0-9a-f]{32}$", part$md5)))
      expect_true(is.function(part$convert))
    }
  }
})

test_that("what is fetched is what the tests are run with", {
  tool <- get_data_tool()
  for (part in unlist(lapply(tool$sources, `[[`, "parts"), recursive = FALSE)) {
    for (name in names(part$md5)[!is.na(part$md5)]) {
      expect_true(tool$is_there(shared_data(name), part$md5[[name]]), label = name)
    }
  }
})

test_that("the script fails where a home is out of reach or a name is unknown", {
  tool <- get_data_tool()
  folder <- withr::local_tempdir()
  run <- \(...) suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c("--vanilla", "tools/get-data.R", ...),
    stdout = TRUE, stderr = TRUE
  ))
  nowhere <- run("songbird", paste0("to=", folder), paste0("home=file://", folder, "/none"))
  expect_identical(attr(nowhere, "status"), 1L)
  expect_match(nowhere, "MISSING: ", all = FALSE)
  expect_identical(nowhere[[length(nowhere)]], paste("0 of 1 are in", folder))
  expect_match(run("nothing"), "no such data or key: nothing; there are culture, ", all = FALSE)
})

test_that("recordings are looked for where SYNFIRE_DATA says, in data-raw, then beside", {
  script <- normalizePath(test_path("..", "..", "tools", "data.R"), mustWork = FALSE)
  skip_if_not(file.exists(script), "the sources are not there")
  folder <- normalizePath(withr::local_tempdir())
  dir.create(file.path(folder, "package"))
  withr::local_dir(file.path(folder, "package"))
  found <- function(given = "") {
    withr::local_envvar(SYNFIRE_DATA = given)
    sys.source(script, new.env())
    Sys.getenv("SYNFIRE_DATA")
  }
  expect_identical(found(), "")
  dir.create(file.path(folder, "shared", "data"), recursive = TRUE)
  expect_identical(found(), file.path(folder, "shared", "data"))
  dir.create("data-raw")
  expect_identical(found(), file.path(folder, "package", "data-raw"))
  expect_identical(found("/elsewhere"), "/elsewhere")
})
