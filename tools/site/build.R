# usage: Rscript tools/site/build.R SOURCE SITE. Builds the site of the package, whose copy is
# in SOURCE, into SITE. Nothing is fetched, and no page needs a network.
folders <- commandArgs(TRUE)
site <- folders[[2L]]
options(pkgdown.internet = FALSE, cli.progress_show_after = Inf)
# Addresses of packages that are not installed would be asked for from CRAN.
utils::assignInNamespace("CRAN_urls", \() NULL, "downlit")

# A menu for each set of articles.
settings <- yaml::read_yaml(file.path(folders[[1L]], "_pkgdown.yml"))
title_of <- function(article) {
  lines <- readLines(file.path(folders[[1L]], "vignettes", paste0(article, ".Rmd")), 10L)
  yaml::yaml.load(sub("^title:", "", grep("^title:", lines, value = TRUE)[[1L]]))
}
menu <- function(set) {
  entries <- lapply(set$contents, \(article) {
    list(text = title_of(article), href = paste0("articles/", basename(article), ".html"))
  })
  list(text = set$title, menu = entries)
}
menus <- lapply(settings$articles, menu)
names(menus) <- paste0("set", seq_along(menus))
menus$reference <- list(text = "Reference", href = "reference/index.html")
menus$news <- list(text = "News", href = "news/index.html")
navbar <- list(structure = list(left = names(menus), right = list()), components = menus)

package <- pkgdown::as_pkgdown(folders[[1L]], override = list(navbar = navbar))
pkgdown::build_site(package, preview = FALSE, install = FALSE, new_process = FALSE, devel = FALSE)
# pkgdown finds its own pictures only inside of the package.
invisible(file.rename(package$dst_path, site))

# ---- Formulas ----------------------------------------------------------------------------

# Browsers draw MathML by themselves.
mathml <- function(formula) {
  text <- xml2::xml_text(xml2::read_html(paste0("<p>", formula, "</p>")))
  text <- gsub("^\\\\[(]|\\\\[)]$", "$", gsub("^\\\\\\[|\\\\\\]$", "$$", text))
  made <- system2("pandoc", c("-f", "markdown", "-t", "html", "--mathml"), input = text,
                  stdout = TRUE)
  sub("^<p>", "", sub("</p>$", "", paste(made, collapse = "\n")))
}

pages <- list.files(site, "[.]html$", recursive = TRUE, full.names = TRUE)
for (page in pages) {
  text <- paste(readLines(page, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  # The place of a logo, which the package has none of.
  text <- gsub('<img src="" class="logo"[^>]*>', "", text)
  spans <- gregexpr('<span class="math (inline|display)">[^<]*</span>', text)
  regmatches(text, spans) <- list(vapply(regmatches(text, spans)[[1L]], mathml, ""))
  writeLines(text, page, useBytes = TRUE)
}

# README links to it where the sources have it.
dir.create(file.path(site, "man", "figures"), recursive = TRUE, showWarnings = FALSE)
invisible(file.copy("man/figures/cheat-sheet.pdf", file.path(site, "man", "figures")))

# ---- Search ------------------------------------------------------------------------------

# A browser may not read a JSON file from a folder, but a script.
words_of <- function(page) {
  html <- xml2::read_html(page)
  main <- xml2::xml_find_first(html, "//main")
  if (inherits(main, "xml_missing")) return(NULL)
  title <- xml2::xml_text(xml2::xml_find_first(html, "//title"))
  path <- substring(page, nchar(site) + 2L)
  list(title = sub(" \u2022 .*", "", title), path = path,
       text = gsub("\\s+", " ", xml2::xml_text(main)))
}
words <- Filter(Negate(is.null), lapply(pages, words_of))
writeLines(paste0("const synfirePages = ", jsonlite::toJSON(words, auto_unbox = TRUE), ";"),
           file.path(site, "search.js"), useBytes = TRUE)
invisible(file.copy("/usr/share/javascript/lunr/lunr.min.js", site, overwrite = TRUE))
