# Fetches the public recordings and test data behind tests, benchmarks and figures, each from
# its home, checks it and puts it into data-raw/, where those look for it.
#
#   Rscript tools/get-data.R [NAME ...] [to=FOLDER] [home=URL]
#
#   NAME      culture, well, dense, cortex, mouse, retina, songbird, cockroach, redm, kedm; all
#             of them if none is named
#   to=       another folder than data-raw/
#   home=     a mirror: it stands for https:// and the host of every address, as in
#             home=file:///media/mirror
#
# None of it is ours: what is fetched is printed with its licence and what to cite. Nothing
# but R is needed. Every file has a known MD5, of the file as it was published where we keep
# it as it is, else of what it was converted into (of the text before it is compressed, as
# compressed bytes differ between machines). A file with another MD5 is not kept, one that is
# there already is not fetched again. Days 33 to 35 of the dense culture are the exception: their
# MD5 was never known to us, so it is printed, and their lines are checked. Exit status 1 if
# anything is missing in the end.

options(timeout = max(600, getOption("timeout")))
source(file.path("tools", "get-data-sources.R"), local = TRUE)

# ---- Fetching --------------------------------------------------------------------------

# The address on a mirror: `home` instead of https:// and the host.
on_mirror <- function(url, home) {
  if (nzchar(home)) sub("^https://[^/]+", sub("/+$", "", home), url) else url
}

# The path of the file that `url` gave, or the reason why it gave none.
fetch <- function(url) {
  file <- tempfile("fetched-")
  reason <- tryCatch(
    if (utils::download.file(url, file, quiet = TRUE, mode = "wb") != 0) "it did not end well",
    error = conditionMessage, warning = conditionMessage
  )
  if (is.null(reason)) list(file = file) else list(reason = paste0(url, ": ", reason))
}

# ---- Checking and keeping --------------------------------------------------------------

md5_of <- function(bytes) {
  file <- tempfile("md5-")
  on.exit(unlink(file))
  writeBin(bytes, file)
  unname(tools::md5sum(file))
}

read_bytes <- function(file) readBin(file, "raw", file.size(file))

# What a file holds, without its compression.
plain_bytes <- function(file) {
  if (!grepl("[.]gz$", file)) return(read_bytes(file))
  memDecompress(read_bytes(file), "gzip")
}

# `md5` is NA where it is not known.
is_there <- function(file, md5) {
  file.exists(file) && (is.na(md5) || identical(md5_of(plain_bytes(file)), md5))
}

# Writes beside the file first, so that what has its name is whole.
keep <- function(bytes, file) {
  dir.create(dirname(file), recursive = TRUE, showWarnings = FALSE)
  partial <- paste0(file, ".partial")
  if (grepl("[.]gz$", file)) {
    con <- gzfile(partial, "wb")
    writeBin(bytes, con)
    close(con)
  } else {
    writeBin(bytes, partial)
  }
  file.rename(partial, file)
}

# Goes through the addresses of a source until one gives files with the right MD5s; gives
# the reasons why not, or none.
get_part <- function(part, folder, home) {
  reasons <- character()
  for (url in part$urls) {
    got <- fetch(on_mirror(url, home))
    if (is.null(got$file)) {
      reasons <- c(reasons, got$reason)
      next
    }
    made <- tryCatch(part$convert(got$file), error = conditionMessage)
    unlink(got$file)
    if (is.character(made)) {
      reasons <- c(reasons, sprintf("%s: it cannot be converted: %s", url, made))
      next
    }
    found <- vapply(made, md5_of, "")
    wrong <- !is.na(part$md5) & found != part$md5
    if (!any(wrong)) {
      Map(keep, made, file.path(folder, names(part$md5)))
      if (anyNA(part$md5)) cat(sprintf("  MD5 as it came: %s\n", found))
      return(character())
    }
    reasons <- c(reasons, sprintf("%s: %s has the MD5 %s, not %s", url,
                                  names(part$md5)[wrong], found[wrong], part$md5[wrong]))
  }
  reasons
}

# One source; whether all of it is there in the end.
get_source <- function(name, folder, home) {
  source <- sources[[name]]
  cat(sprintf("%s: %s\n  licence: %s\n  cite: %s\n", name, source$about, source$licence,
              source$cite))
  reasons <- unlist(lapply(source$parts, \(part) {
    files <- file.path(folder, names(part$md5))
    if (all(mapply(is_there, files, part$md5))) {
      cat(sprintf("  there already: %s\n", files), sep = "")
      return(character())
    }
    reasons <- get_part(part, folder, home)
    if (length(reasons) == 0L) cat(sprintf("  fetched: %s (%s)\n", files, part$checked), sep = "")
    reasons
  }))
  if (length(reasons) > 0L) cat(sprintf("  MISSING: %s\n", reasons), sep = "")
  if (!is.null(source$note)) cat("  note:", source$note, "\n")
  length(reasons) == 0L
}

if (sys.nframe() == 0L) {
  given <- commandArgs(trailingOnly = TRUE)
  named <- grepl("=", given)
  keys <- list(to = "data-raw", home = "")
  keys[sub("=.*", "", given[named])] <- sub("^[^=]*=", "", given[named])
  chosen <- if (all(named)) names(sources) else given[!named]
  unknown <- c(setdiff(chosen, names(sources)), setdiff(names(keys), c("to", "home")))
  if (length(unknown) > 0L) {
    stop("no such data or key: ", toString(unknown), "; there are ", toString(names(sources)))
  }
  whole <- vapply(chosen, get_source, NA, folder = keys$to, home = keys$home)
  cat(sprintf("%d of %d are in %s\n", sum(whole), length(whole), keys$to))
  quit(status = if (all(whole)) 0L else 1L)
}
