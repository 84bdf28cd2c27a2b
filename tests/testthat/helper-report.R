# What a page of report() is held against.

read_page <- function(file) paste(readLines(file, encoding = "UTF-8"), collapse = "\n")

# Tags of a page, each checked as a strict reader would; what is wrong, as text.
page_mistakes <- function(page) {
  void <- c("meta", "img", "br", "hr", "link", "input")
  body <- sub("<style>.*</style>", "<style></style>", page)
  tags <- regmatches(body, gregexpr("<[^>]*>", body))[[1]]
  tags <- tags[!grepl("^<!DOCTYPE html>$", tags)]
  shape <- "^</?[a-z][a-z0-9]*( [a-z-]+=\"[^\"<>]*\")*/?>$"
  wrong <- sprintf("a tag that is none: %s", tags[!grepl(shape, tags)])
  open <- character()
  for (tag in tags) {
    name <- sub("^</?([a-z0-9]+).*", "\\1", tag)
    if (name %in% void) next
    if (!startsWith(tag, "</")) {
      open <- c(open, name)
    } else if (length(open) == 0L || open[[length(open)]] != name) {
      return(c(wrong, sprintf("%s closes %s", tag, toString(tail(open, 1)))))
    } else {
      open <- open[-length(open)]
    }
  }
  text <- gsub("<[^>]*>", "", body)
  c(wrong, if (length(open)) sprintf("%s is left open", toString(open)),
    if (grepl("&(?!(amp|lt|gt|quot|#[0-9]+);)", text, perl = TRUE)) "an & that is not escaped",
    if (grepl(">", text, fixed = TRUE)) "a > that is not escaped")
}

attributes_of <- function(page, tag, name) {
  found <- regmatches(page, gregexpr(sprintf("<%s( [^>]*)?>", tag), page))[[1]]
  as.character(ifelse(grepl(sprintf(" %s=\"", name), found),
                      sub(sprintf(".* %s=\"([^\"]*)\".*", name), "\\1", found), NA))
}

# The text people read, a line for each block.
page_text_of <- function(page) {
  body <- sub(".*<body>", "", page)
  text <- gsub("</(p|li|td|th|h1|h2|h3|figcaption|caption|summary|pre)>", "\n", body)
  text <- gsub("<[^>]*>", "", text)
  for (k in 1:4) {
    text <- gsub(c("&lt;", "&gt;", "&quot;", "&amp;")[[k]], c("<", ">", "\"", "&")[[k]], text,
                 fixed = TRUE)
  }
  lines <- trimws(strsplit(text, "\n")[[1]])
  lines[nzchar(lines)]
}

# Everything that holds for any page.
expect_good_page <- function(file) {
  page <- read_page(file)
  expect_identical(page_mistakes(page), character())
  alts <- attributes_of(page, "img", "alt")
  expect_true(all(nchar(alts) > 30))
  expect_true(all(startsWith(attributes_of(page, "img", "src"), "data:image/png;base64,")))
  ids <- attributes_of(page, "section", "id")
  expect_false(anyDuplicated(ids) > 0)
  links <- attributes_of(page, "a", "href")
  expect_true(all(links %in% paste0("#", ids)))
  expect_false(grepl("<script|<link|@import|url\\(", page))
  text <- c(page_text_of(page), alts)
  said <- text[!startsWith(text, "report(x")]
  # Words that come of numbers or tables that are not there.
  expect_identical(grep("\\b(NA|NaN|Inf|NULL|TRUE|character\\(0\\))\\b", said, value = TRUE),
                   character())
  expect_identical(grep("(^|[^.0-9,])1 (units|spikes|pairs|groups|seconds|trials|intervals)\\b", text,
                        value = TRUE), character())
  expect_identical(grep(" [.,:;]|  |[.][.]", text, value = TRUE), character())
  invisible(text)
}

# Peaks of all pairs, counted one lag and window at a time.
slow_pair_evidence <- function(counts, plan) {
  lag <- attr(counts, "lag")
  units <- dimnames(counts)[[2]]
  rows <- list()
  for (a in seq_along(units)) for (b in seq_along(units)) if (a < b) {
    held <- counts[, a, b]
    for (k in seq_len(nrow(plan$widths))) for (at in -plan$lags:plan$lags) {
      i <- which(abs(lag - at * plan$seconds) < plan$seconds / 10)
      w <- plan$widths[k, ]
      inside <- seq(i - (w$width - 1) / 2, i + (w$width - 1) / 2)
      distance <- abs(seq_along(held) - i)
      beside <- distance >= w$from & distance <= w$far
      expected <- w$width * mean(held[beside])
      if (w$peak == "narrow") {
        # The parabola through the means near and far, on top.
        near <- distance >= w$from & distance <= w$near
        far <- beside & !near
        line <- solve(cbind(1, c(mean(distance[near]^2), mean(distance[far]^2))),
                      c(mean(held[near]), mean(held[far])))
        expected <- max(expected, w$width * sum(line * c(1, mean(distance[inside]^2))))
      }
      c <- sum(held[inside])
      share <- w$width / sum(beside)
      p <- pbeta(share / (1 + share), c, expected / share + 1)
      rows <- c(rows, list(data.frame(a = units[[a]], b = units[[b]], peak = w$peak, lag = lag[[i]],
                                      width = w$width * plan$seconds, count = c,
                                      expected = expected, evidence = -log10(p))))
    }
  }
  do.call(rbind, rows)
}
