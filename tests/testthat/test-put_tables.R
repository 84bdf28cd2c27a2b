# The tool that puts measurements into the tables of the vignettes. It is no part of the
# package, so it is there only beside the sources.
put_tables_tool <- function() {
  file <- test_path("..", "..", "tools", "put-tables.R")
  skip_if_not(file.exists(file), "the sources are not there")
  tool <- new.env()
  sys.source(file, tool)
  tool
}

test_that("what was measured again replaces what was there, and all else stays", {
  tool <- put_tables_tool()
  table <- \(steps, phase, seconds) {
    data.frame(device = "gpu", steps = steps, phase = phase, seconds = seconds)
  }
  old <- rbind(table("1450", c("search", "map"), c("2", "7")), table("3780", "map", "50"))
  new <- cbind(table("1450", "call", "5"), cores = "32")
  merged <- tool$merge_tables(old, new, c("device", "steps"))
  expect_identical(merged$steps, c("3780", "1450"))
  expect_identical(merged$seconds, c("50", "5"))
  expect_identical(merged$cores, c(NA, "32"))
  expect_identical(tool$merge_tables(NULL, new, "steps"), new)
})

test_that("tables are found below the folders given, and keep their numbers", {
  tool <- put_tables_tool()
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  dir.create("vignettes/performance", recursive = TRUE)
  dir.create("results/round", recursive = TRUE)
  lines <- c("\"work\",\"ms\",\"version\"", "\"Sym26, 150\",1.250,\"0.5.0\"")
  writeLines(lines, "results/round/episodes-gpu.csv")
  expect_message(tool$put_table("episodes-gpu", "results"), "1 rows")
  expect_identical(readLines("vignettes/performance/episodes-gpu.csv"), lines)
  writeLines(sub("1.250", "0.75", lines), "results/round/episodes-gpu.csv")
  suppressMessages(tool$put_table("episodes-gpu", "results"))
  expect_identical(readLines("vignettes/performance/episodes-gpu.csv"),
                   sub("1.250", "0.75", lines))
})
