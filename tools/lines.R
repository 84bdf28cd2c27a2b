# Counts the code lines of each room, without blank lines and comments, and the arrows
# between the files of src/ and of R/: a file has an arrow to each file that it needs.
# A circle is a set of files of which each needs all others, directly or not. Then counts the words
# of the documents, by the menus of the site, and warns of a guide of 1,500 words or more.

lines_of <- function(file) {
  text <- readLines(file, warn = FALSE)
  if (grepl("[.][rR]$", file)) return(sum(!grepl("^\\s*(#|$)", text)))
  # A comment of C may go over several lines and stand beside code.
  whole <- gsub("/\\*.*?\\*/", "\n", paste(text, collapse = "\n"))
  sum(grepl("\\S", gsub("//.*", "", strsplit(whole, "\n")[[1L]])))
}

# ---- Who needs whom --------------------------------------------------------------------

# Files of src/ by the headers that they include; a header and its source are one.
includes <- function(files) {
  stem <- \(file) sub("[.](c|h|cu|cuh)$", "", file)
  needs <- lapply(files, \(file) {
    lines <- grep('^#include "', readLines(file.path("src", file), warn = FALSE), value = TRUE)
    setdiff(stem(sub('^#include "([^"]+)".*', "\\1", lines)), stem(file))
  })
  tapply(needs, stem(files), \(of) unique(unlist(of)), simplify = FALSE)
}

# Files of R/ by the functions and constants that they use of others.
uses <- function(files) {
  is_made <- \(e) is.call(e) && identical(e[[1L]], quote(`<-`)) && is.symbol(e[[2L]])
  made <- lapply(files, \(file) Filter(is_made, as.list(parse(file, keep.source = FALSE))))
  names_of <- \(of) vapply(of, \(e) as.character(e[[2L]]), "")
  home <- rlang::set_names(rep(files, lengths(made)), unlist(lapply(made, names_of)))
  used <- \(e) {
    value <- e[[3L]]
    is_function <- is.call(value) && identical(value[[1L]], quote(`function`))
    if (is_function) codetools::findGlobals(eval(value, baseenv())) else all.names(value)
  }
  needs <- lapply(seq_along(files), \(i) {
    setdiff(unname(home[intersect(unlist(lapply(made[[i]], used)), names(home))]), files[[i]])
  })
  rlang::set_names(needs, files)
}

# The sets of files that are in a circle.
circles <- function(needs) {
  ends <- \(from, seen = character()) {
    new <- setdiff(intersect(unlist(needs[from]), names(needs)), seen)
    if (length(new) == 0L) seen else ends(new, c(seen, new))
  }
  reach <- sapply(names(needs), ends, simplify = FALSE)
  inside <- names(needs)[mapply(\(file, of) file %in% of, names(needs), reach)]
  unique(lapply(inside, \(file) sort(Filter(\(other) file %in% reach[[other]], reach[[file]]))))
}

say_arrows <- function(what, needs) {
  found <- circles(needs)
  cat(sprintf("%-22s %5d files %6d arrows %3d circles", what, length(needs),
              sum(lengths(needs)), length(found)))
  cat(if (length(found)) sprintf(" of %s files", toString(lengths(found))), "\n", sep = "")
}

# ---- The rooms of R/ -------------------------------------------------------------------

# The rooms, which are the prefixes of files, from the lowest level on: a file uses files of
# its own room and of lower levels.
levels <- list("utils", "spikes", c("read", "surrogates", "simulate"),
               c("episodes", "patterns", "assemblies", "synapses", "edm"), "maps", "links", "stream", "report")

# The arrows that do not point down, as text.
arrows_up <- function(needs) {
  level <- stack(stats::setNames(levels, seq_along(levels)))
  room <- \(file) sub("-.*", "", basename(as.character(file)))
  height <- \(file) as.integer(level$ind[match(room(file), level$values)])
  arrows <- stack(needs)
  up <- room(arrows$values) != room(arrows$ind) & height(arrows$values) >= height(arrows$ind)
  sprintf("%s uses %s", arrows$ind[which(up)], arrows$values[which(up)])
}

if ("--rooms" %in% commandArgs(TRUE)) {
  files <- setdiff(list.files("R", "[.]R$", full.names = TRUE), "R/synfire-package.R")
  needs <- uses(files)
  writeLines(arrows_up(needs))
  writeLines(sprintf("%s need each other", vapply(circles(needs), toString, "")))
  unknown <- setdiff(sub("-.*", "", basename(files)), unlist(levels))
  writeLines(sprintf("no room is called %s", unknown))
  quit(status = 0L)
}

# ---- Tables ----------------------------------------------------------------------------

sources <- list.files("src", "[.](c|h|cu|cuh)$", recursive = TRUE)
room <- ifelse(grepl("/", sources), sub("/.*", "", sources), "")
files <- c(split(file.path("src", sources), room),
           list(R = list.files("R", "[.]R$", full.names = TRUE)))
counts <- vapply(files[c("R", "core", "glue", "gpu")], \(of) sum(vapply(of, lines_of, 0L)), 0L)
cat(sprintf("%-22s %7s lines\n", c(names(counts), "all"),
            format(c(counts, sum(counts)), big.mark = ",")), sep = "")
say_arrows("R", uses(files$R))
for (part in c("core", "gpu")) {
  of <- sources[room == part]
  say_arrows(part, includes(of))
  for (folder in sort(unique(dirname(of)))) say_arrows(folder, includes(of[dirname(of) == folder]))
}

words_of <- \(files) vapply(files, \(file) {
  length(scan(file, "", quote = "", comment.char = "", quiet = TRUE))
}, 0L)
say_words <- \(name, files) {
  cat(sprintf("%-22s %7s words in %d\n", name, format(sum(words_of(files)), big.mark = ","),
              length(files)))
}
menus <- if (requireNamespace("yaml", quietly = TRUE)) yaml::read_yaml("_pkgdown.yml")$articles
for (menu in menus) {
  pages <- file.path("vignettes", paste0(menu$contents, ".Rmd"))
  say_words(menu$title, pages[file.exists(pages)])
  if (menu$title == "Guides") {
    long <- Filter(\(words) words >= 1500L, words_of(pages[file.exists(pages)]))
    writeLines(sprintf("%s has %d words", names(long), long))
  }
}
say_words("README.md", "README.md")
say_words("man/", list.files("man", "[.]Rd$", full.names = TRUE))
