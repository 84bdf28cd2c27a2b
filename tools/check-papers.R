# Lists the figures and tables of the papers that the package builds on, each with its
# place in our pages, and fails where a page leaves one out without a reason.
#
#   Rscript tools/check-papers.R [page ...]        all pages, or those that are named
#
# The page vignettes/paper-NAME.Rmd draws its first table from paper-NAME/figures.csv, with
# a row for each figure or table of its papers: `paper`, `item` ("Figure 9"), `shows` (what
# the paper shows there), `place` (the label of our chunk that redraws it, or empty),
# `verdict` and `why` (one line). The list goes to the standard output, what is wrong to the
# standard error, and then the exit status is 1.

# The papers that each page must cover, as patterns for the column `paper`.
pages <- list(
  episodes = c("Cao.* 2010", "Cao.* 2011"),
  occurrences = "Feng.* 201[12]",
  `spike-patterns` = "Porrmann.* 2021",
  `causal-maps` = "Watanakeesuntorn.* 2020",
  significance = c("Torre.* 2013", "Quaglio.* 2017", "Stella.* 2019", "Stella.* 2022")
)
# The figures and tables that the papers number; each needs a row with just that `item`.
numbered <- list(
  `Cao.* 2011` = c(paste("Figure", 1:16), paste("Table", 1:2)),
  `Feng.* 201[12]` = paste0("Figure 15.", 1:5),
  `Porrmann.* 2021` = c(paste("Figure", 1:6), paste("Table", 1:9)),
  `Watanakeesuntorn.* 2020` = c(paste("Figure", 1:10), paste("Table", 1:2))
)
columns <- c("paper", "item", "shows", "place", "verdict", "why")
verdicts <- c("holds", "holds in part", "does not hold", "cannot be judged")

# The chunks of R code of a page: a data frame of `label`, `options` and `code` (one string).
read_chunks <- function(lines) {
  heads <- grep("^```\\{r[ ,}]", lines)
  ends <- grep("^```\\s*$", lines)
  options <- sub("^```\\{r[ ,]*(.*)\\}\\s*$", "\\1", lines[heads])
  code <- vapply(heads, \(head) {
    paste(lines[seq(head + 1L, length.out = min(ends[ends > head]) - head - 1L)],
          collapse = "\n")
  }, "")
  label <- sub("[, ].*$", "", options)
  # An option that stands first is no label.
  label[grepl("^[[:alnum:]._]+ *=", options)] <- ""
  data.frame(label, options, code)
}

# Chunks that never show what they make.
is_hidden <- function(chunks) {
  grepl("\\b(eval|include) *= *(FALSE|F)\\b", chunks$options)
}

# Says which rows of the table break a rule, each with its paper and item.
check_rows <- function(table, chunks) {
  say <- \(rows, what) {
    sprintf("row %d (%s, %s): %s", rows, table$paper[rows], table$item[rows], what)
  }
  given <- lapply(table, nzchar)
  lost <- which(given$place & !table$place %in% chunks$label)
  hidden <- which(given$place & table$place %in% chunks$label[is_hidden(chunks)])
  unknown <- which(!table$verdict %in% verdicts)
  c(
    say(which(!given$paper | !given$item | !given$shows), "paper, item or shows is empty"),
    say(which(!given$place & !given$why), "has neither a place nor a reason (why)"),
    say(lost, sprintf("the page has no chunk '%s'", table$place[lost])),
    say(hidden, sprintf("the chunk '%s' shows nothing", table$place[hidden])),
    say(unknown, sprintf("the verdict '%s' is none of: %s", table$verdict[unknown],
                         paste(verdicts, collapse = ", "))),
    say(grep("\n", table$why), "the reason takes more than one line")
  )
}

# Whether a chunk that is shown makes a table of the figures, and the page reads its folder.
draws_table <- function(chunks, folder) {
  code <- gsub("(^|\n)\\s*#[^\n]*", "\\1", chunks$code)
  any(!is_hidden(chunks) & grepl("\\bfigures\\b", code) & grepl("kable(", code, fixed = TRUE)) &&
    any(grepl(folder, code, fixed = TRUE))
}

# The folders beside the page that its code reads from, and that an installed copy of the
# vignettes would not have.
left_behind <- function(chunks, vignettes) {
  code <- paste(chunks$code, collapse = "\n")
  folders <- basename(list.dirs(vignettes, recursive = FALSE))
  read <- folders[vapply(folders, \(folder) grepl(sprintf("[\"']%s[\"'/]", folder), code), NA)]
  file <- file.path(vignettes, ".install_extras")
  patterns <- if (file.exists(file)) readLines(file, warn = FALSE) else character()
  carried <- vapply(read, \(folder) {
    any(vapply(patterns[nzchar(patterns)], grepl, NA, x = folder, perl = TRUE))
  }, NA)
  read[!carried]
}

# One page: its `table`, or NULL, and the `problems` in words.
check_page <- function(page, vignettes) {
  folder <- paste0("paper-", page)
  source <- file.path(vignettes, paste0(folder, ".Rmd"))
  csv <- file.path(vignettes, folder, "figures.csv")
  missing <- c(source, csv)[!file.exists(c(source, csv))]
  if (length(missing) > 0L) return(list(problems = paste(missing, "is missing")))
  table <- utils::read.csv(csv, colClasses = "character", na.strings = character(),
                           encoding = "UTF-8")
  table[] <- lapply(table, trimws)
  if (!identical(names(table), columns)) {
    return(list(problems = sprintf("%s has columns %s, not %s", csv, toString(names(table)),
                                   toString(columns))))
  }
  chunks <- read_chunks(readLines(source, warn = FALSE, encoding = "UTF-8"))
  needed <- pages[[page]]
  covered <- vapply(needed, \(paper) any(grepl(paper, table$paper)), NA)
  lost <- unlist(lapply(intersect(needed, names(numbered)), \(paper) {
    setdiff(numbered[[paper]], table$item[grepl(paper, table$paper)])
  }))
  list(table = table, problems = c(
    sprintf("%s has no row of its own for %s", csv, lost),
    sprintf("%s: %s", csv, check_rows(table, chunks)),
    sprintf("%s has no row of the paper %s", csv, gsub(".* ", " et al. ", needed[!covered],
                                                      fixed = TRUE)),
    if (!draws_table(chunks, folder)) sprintf("%s does not draw the table of %s", source, csv),
    sprintf("%s has no line for %s", file.path(vignettes, ".install_extras"),
            left_behind(chunks, vignettes))
  ))
}

# Prints the rows of a page, a line each.
list_rows <- function(page, table) {
  place <- ifelse(nzchar(table$place), table$place, "-")
  cat(sprintf("%s | %s | %s | %s | %s\n", page, table$paper, table$item, place, table$verdict),
      sep = "")
}

# The problems of all pages in `vignettes` that are asked for, after the list of their rows.
check_papers <- function(asked = names(pages), vignettes = "vignettes") {
  unknown <- setdiff(asked, names(pages))
  if (length(unknown) > 0L) return(sprintf("there is no page '%s'", unknown))
  checked <- lapply(asked, check_page, vignettes = vignettes)
  for (k in seq_along(asked)) {
    if (!is.null(checked[[k]]$table)) list_rows(asked[[k]], checked[[k]]$table)
  }
  table <- do.call(rbind, lapply(checked, `[[`, "table"))
  if (!is.null(table)) {
    known <- grepl("^(Figure|Table) [0-9.]+$", table$item)
    drawn <- nzchar(table$place) & table$verdict != "cannot be judged"
    cat(sprintf("%d numbered figures and tables, of which our pages redraw and judge %d\n",
                sum(known), sum(known & drawn)))
    cat(sprintf("%d other items, of which they draw and judge %d\n", sum(!known),
                sum(!known & drawn)))
  }
  unlist(lapply(checked, `[[`, "problems"))
}

if (sys.nframe() == 0L) {
  asked <- commandArgs(TRUE)
  problems <- check_papers(if (length(asked) > 0L) asked else names(pages))
  if (length(problems) > 0L) {
    writeLines(problems, stderr())
    quit(status = 1L)
  }
}
