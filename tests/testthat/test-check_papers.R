# The rule that each figure and table of the papers has a place in our pages. It is no part
# of the package, so it is there only beside the sources.
check_papers_tool <- function() {
  file <- test_path("..", "..", "tools", "check-papers.R")
  skip_if_not(file.exists(file), "the sources are not there")
  tool <- new.env()
  sys.source(file, tool)
  tool
}

good_page <- c(
  "```{r setup, include = FALSE}",
  "figures <- read.csv(file.path(\"paper-occurrences\", \"figures.csv\"))",
  "```",
  "```{r table, echo = FALSE}", "knitr::kable(figures)", "```",
  "```{r windows, eval = has_plots}", "plot(1)", "```"
)
good_rows <- data.frame(
  paper = "Feng et al. 2012", item = c("Figure 1", "Figure 2"), shows = "times",
  place = c("windows", ""), verdict = c("holds", "cannot be judged"),
  why = c("", "it draws hardware of 2011")
)

# The problems of a folder of vignettes with this page and this table.
problems_of <- function(page = good_page, rows = good_rows, extras = "paper-occurrences$",
                        numbered = c("Figure 1", "Figure 2")) {
  tool <- check_papers_tool()
  tool$numbered <- list(`Feng.* 201[12]` = numbered)
  vignettes <- withr::local_tempdir()
  dir.create(file.path(vignettes, "paper-occurrences"))
  writeLines(page, file.path(vignettes, "paper-occurrences.Rmd"))
  utils::write.csv(rows, file.path(vignettes, "paper-occurrences", "figures.csv"),
                   row.names = FALSE)
  writeLines(extras, file.path(vignettes, ".install_extras"))
  utils::capture.output(problems <- tool$check_papers("occurrences", vignettes))
  problems
}

test_that("a page whose rows all have a place or a reason passes and is listed", {
  expect_length(problems_of(), 0)
  tool <- check_papers_tool()
  chunks <- tool$read_chunks(good_page)
  expect_identical(chunks$label, c("setup", "table", "windows"))
  expect_identical(tool$is_hidden(chunks), c(TRUE, FALSE, FALSE))
  expect_output(tool$list_rows("occurrences", good_rows), "Figure 2 | - | cannot be judged",
                fixed = TRUE)
})

test_that("each figure that the paper numbers needs a row of its own", {
  problems <- problems_of(numbered = c("Figure 1", "Figure 12"))
  expect_match(problems, "has no row of its own for Figure 12$")
  expect_identical(lengths(check_papers_tool()$numbered),
                   c(`Cao.* 2011` = 18L, `Feng.* 201[12]` = 5L, `Porrmann.* 2021` = 15L,
                     `Watanakeesuntorn.* 2020` = 12L))
})

test_that("a row with neither a place nor a reason is named", {
  rows <- good_rows
  rows$why[[2]] <- " "
  expect_match(problems_of(rows = rows),
               "row 2 (Feng et al. 2012, Figure 2): has neither a place nor a reason",
               fixed = TRUE)
})

test_that("a place that is no chunk of the page, or one that shows nothing, is named", {
  rows <- good_rows
  rows$place[[2]] <- "burst"
  expect_match(problems_of(rows = rows), "row 2 .*: the page has no chunk 'burst'$")
  rows$place[[2]] <- "setup"
  expect_match(problems_of(rows = rows), "row 2 .*: the chunk 'setup' shows nothing$")
  unlabelled <- sub("r windows, ", "r, ", good_page)
  expect_match(problems_of(unlabelled), "no chunk 'windows'")
})

test_that("a verdict of no known kind, an empty cell and a long reason are named", {
  rows <- good_rows
  rows$verdict[[1]] <- "Holds"
  expect_match(problems_of(rows = rows), "row 1 .*the verdict 'Holds' is none of: holds, ")
  rows <- good_rows
  rows$shows[[2]] <- ""
  expect_match(problems_of(rows = rows), "row 2 .*paper, item or shows is empty")
  rows <- good_rows
  rows$why[[1]] <- "one\ntwo"
  expect_match(problems_of(rows = rows), "row 1 .*more than one line")
})

test_that("a paper without a row is named", {
  rows <- good_rows
  rows$paper <- "Feng et al. 2010"
  expect_match(problems_of(rows = rows), "has no row of the paper Feng et al. 201[12]",
               fixed = TRUE, all = FALSE)
  expect_match(problems_of(rows = good_rows[0, ]), "has no row of the paper", all = FALSE)
})

test_that("a page that does not draw its table is named", {
  hidden <- sub("r table, echo = FALSE", "r table, include = FALSE", good_page)
  expect_match(problems_of(hidden), "does not draw the table")
  comment <- sub("knitr::kable(figures)", "# knitr::kable(figures)", good_page, fixed = TRUE)
  expect_match(problems_of(comment), "does not draw the table")
  elsewhere <- sub("paper-occurrences", "gpu-strategies", good_page)
  expect_match(problems_of(elsewhere), "does not draw the table")
})

test_that("other columns, a folder that is not carried, a missing file are named", {
  expect_match(problems_of(rows = good_rows[-6]), "has columns paper, item, .*, not ")
  expect_match(problems_of(extras = "paper-episodes$"), "no line for paper-occurrences$")
  tool <- check_papers_tool()
  expect_match(tool$check_papers("episodes", withr::local_tempdir()), "is missing$")
  expect_identical(tool$check_papers("episode"), "there is no page 'episode'")
})

test_that("the script ends with status 1 and says why", {
  check_papers_tool()
  script <- normalizePath(test_path("..", "..", "tools", "check-papers.R"))
  said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"),
                                   c("--vanilla", script, "nothing"), stdout = TRUE,
                                   stderr = TRUE))
  expect_identical(attr(said, "status"), 1L)
  expect_identical(as.character(said), "there is no page 'nothing'")
})
