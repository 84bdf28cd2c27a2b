# usage: Rscript tools/site/check.R SOURCE SITE. Checks the built site: each page of the help and
# each article is there, no link is dead, no heading of an article is lost, every picture is
# sharp, no page needs a network, and a browser, where there is one, finds no page wider than a
# telephone. Prints what is wrong, and the totals last.
folders <- commandArgs(TRUE)
source_folder <- folders[[1L]]
site <- folders[[2L]]
wrong <- character()
count <- 0L
expect <- function(ok, ...) {
  count <<- count + length(ok)
  wrong <<- c(wrong, sprintf(...)[!ok])
}
at <- function(...) file.path(site, ...)

# ---- Pages -------------------------------------------------------------------------------

articles <- list.files(file.path(source_folder, "vignettes"), "[.]Rmd$", recursive = TRUE)
help <- Filter(\(file) !any(grepl("\\keyword{internal}", readLines(file), fixed = TRUE)),
               list.files(file.path(source_folder, "man"), "[.]Rd$", full.names = TRUE))
wanted <- c(at("index.html"), at("news", "index.html"), at("reference", "index.html"),
            at("articles", sub("[.]Rmd$", ".html", basename(articles))),
            at("reference", sub("[.]Rd$", ".html", basename(help))))
expect(file.exists(wanted), "%s is missing", wanted)

pages <- list.files(site, "[.]html$", recursive = TRUE, full.names = TRUE)
# A page that sends its reader to another one has nothing else to check.
read <- lapply(pages, xml2::read_html)
moved <- vapply(read, \(page) length(xml2::xml_find_all(page, "//meta[@http-equiv='refresh']")) > 0L,
                NA)
pages <- pages[!moved]
read <- stats::setNames(read[!moved], pages)
attributes_of <- function(page, path, name) xml2::xml_attr(xml2::xml_find_all(page, path), name)

# ---- Links -------------------------------------------------------------------------------

ids <- lapply(read, \(page) attributes_of(page, "//*[@id]", "id"))
names(ids) <- normalizePath(pages)
outside <- "^([a-z]+:|//)"
for (page in pages) {
  html <- read[[page]]
  loaded <- c(attributes_of(html, "//script[@src]", "src"), attributes_of(html, "//img[@src]", "src"),
              attributes_of(html, "//link[@rel='stylesheet']", "href"))
  needs <- grep("^(https?:|//|file:)", loaded, value = TRUE)
  expect(length(needs) == 0L, "%s loads %s", page, toString(needs))

  links <- unique(attributes_of(html, "//a[@href]", "href"))
  links <- c(links[!grepl(outside, links)], grep(outside, loaded, value = TRUE, invert = TRUE))
  # What follows # names a place on the page, in the letters of an address.
  parts <- regmatches(links, regexpr("#", links), invert = TRUE)
  path <- vapply(parts, `[[`, "", 1L)
  place <- vapply(parts, \(part) if (length(part) == 2L) utils::URLdecode(part[[2L]]) else "", "")
  to <- ifelse(nzchar(path), file.path(dirname(page), utils::URLdecode(path)), page)
  there <- file.exists(to)
  expect(there, "%s links to %s, which is not there", page, links)
  to <- normalizePath(to[there & nzchar(place)])
  place <- place[there & nzchar(place)]
  found <- mapply(\(file, id) is.null(ids[[file]]) || id %in% ids[[file]], to, place)
  expect(unlist(found), "%s links to %s#%s, which is not there", page, to, place)
}

# ---- Headings ----------------------------------------------------------------------------

# Letters alone: code, emphasis and quotation marks are drawn, not written.
letters_of <- function(text) gsub("[^[:alnum:]]", "", text)
for (article in articles) {
  page <- at("articles", sub("[.]Rmd$", ".html", basename(article)))
  if (!page %in% pages) next
  lines <- readLines(file.path(source_folder, "vignettes", article), encoding = "UTF-8")
  lines <- lines[cumsum(grepl("^```", lines)) %% 2L == 0L]
  written <- sub("\\{[^}]*\\}\\s*$", "", grep("^#{1,4} ", lines, value = TRUE))
  shown <- xml2::xml_text(xml2::xml_find_all(read[[page]], "//main//*[self::h1 or self::h2 or
                                             self::h3 or self::h4 or self::h5]"))
  lost <- !letters_of(written) %in% letters_of(shown)
  expect(!lost, "%s lost the heading %s", page, written)
}

# ---- Pictures ----------------------------------------------------------------------------

# pkgdown draws at 150 dots an inch, of at least 7 inches, and shows no more than the width of
# the text, 700 dots of 96 an inch.
for (page in pages) {
  images <- xml2::xml_find_all(read[[page]], "//main//img")
  files <- file.path(dirname(page), utils::URLdecode(xml2::xml_attr(images, "src")))
  use <- file.exists(files) & grepl("[.]png$", files)
  if (!any(use)) next
  # The width is the fifth number of a PNG file.
  dots <- vapply(files[use], \(file) readBin(file, "integer", 5L, endian = "big")[[5L]], 0L)
  width <- xml2::xml_attr(images[use], "width")
  share <- grepl("%$", width)
  width <- as.numeric(sub("%", "", width)) * ifelse(share, 7, 1)
  shown <- ifelse(is.na(width), 700, pmin(width, 700))
  expect(dots >= shown * 150 / 96 - 50, "%s: %s has %d dots for %g", page, basename(files[use]),
         dots, shown)
  # pkgdown gives the pictures of examples no words.
  if (dirname(page) == at("reference")) next
  expect(nzchar(xml2::xml_attr(images[use], "alt", default = "")), "%s: %s has no words for it",
         page, basename(files[use]))
}

# ---- A browser ---------------------------------------------------------------------------

# Shows a page at a width and waits until it and its scripts are there.
show <- function(browser, page, width) {
  browser$call("Emulation.setDeviceMetricsOverride", width = width, height = 800,
               deviceScaleFactor = 1, mobile = FALSE)
  url <- paste0("file://", normalizePath(page))
  browser$call("Page.navigate", url = url)
  loaded <- sprintf("location.href === '%s' && document.readyState === 'complete'", url)
  until <- Sys.time() + 30
  while (!isTRUE(browser$value(loaded)) && Sys.time() < until) Sys.sleep(0.02)
}

source("tests/testthat/helper-browser.R")
if (is.na(browser_program())) {
  cat("no Chromium here: no page was looked at\n")
} else {
  browser <- open_page("about:blank")
  for (width in c(360, 1200)) for (page in pages) {
    show(browser, page, width)
    wide <- browser$value("document.documentElement.scrollWidth")
    expect(wide <= width, "%s is %g dots wide on a screen of %g", page, wide, width)
  }
  hits <- browser$value("(() => { const field = document.getElementById('search-input');
    field.value = 'mine_episodes'; field.dispatchEvent(new Event('input'));
    return [...document.querySelectorAll('#search-results a')].map(a => a.href).join(' '); })()")
  expect(grepl("reference/mine_episodes.html", hits, fixed = TRUE),
         "the search does not find mine_episodes(): %s", hits)
  browser$close()
}

writeLines(wrong)
cat(sprintf("%d pages, %d passed, %d failed\n", length(pages), count - length(wrong),
            length(wrong)))
quit(status = as.integer(length(wrong) > 0L))
