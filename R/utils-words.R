# Numbers, names and objects in words, as messages and pictures show them.

#' Whole number for people: 208,277
#' @noRd
commas <- function(n) format(n, big.mark = ",", scientific = FALSE, trim = TRUE)

commas_each <- function(n) vapply(n, commas, character(1))

#' "1 spike", "2,000 spikes"
#' @noRd
counted <- function(n, one, many = paste0(one, "s")) paste(commas(n), if (n == 1) one else many)

#' "1 is", "1,234 are"
#' @noRd
they_are <- function(n) paste(commas(n), if (n == 1) "is" else "are")

#' The first few of many words: a, b, c and 7 more
#' @noRd
some <- function(words, n = 5L) {
  if (length(words) <= n + 1L) return(toString(words))
  sprintf("%s and %s more", toString(words[seq_len(n)]), commas(length(words) - n))
}

#' Long text without its middle, as an argument may be a whole file
#' @noRd
shorten <- function(text, most = 1000L) {
  long <- !is.na(text) & nchar(text) > most
  cut <- text[long]
  half <- most %/% 2L
  text[long] <- sprintf("%s ... (%s characters) ... %s", substr(cut, 1L, half),
                        commas(nchar(cut) - most),
                        substring(cut, nchar(cut) - half + 1L))
  text
}

#' Text that can be shown, whatever its bytes are
#' @noRd
printable <- function(text) {
  text <- enc2utf8(as.character(text))
  bad <- !validUTF8(text)
  text[bad] <- iconv(text[bad], "ASCII", "ASCII", sub = "byte")
  text
}

#' What a value is, in a few words, for the "It is ..." line of an error
#' @noRd
describe <- function(x) {
  if (missing(x)) return("missing")
  if (is.null(x)) return("NULL")
  if (is.data.frame(x)) return(sprintf("a data frame with %d columns", ncol(x)))
  if (is.function(x)) return("a function")
  if (is.environment(x)) return("an environment")
  if (is.language(x)) return("an unevaluated expression")
  if (is.object(x) && !is.factor(x) || isS4(x)) {
    return(sprintf("an object of class %s", class(x)[[1L]]))
  }
  if (is.list(x)) return(sprintf("a list of %d", length(x)))
  if (!is.atomic(x)) return(sprintf("of type %s", typeof(x)))
  if (is.matrix(x)) return(sprintf("a %s matrix of %d x %d", kind_of(x[0L]), nrow(x), ncol(x)))
  if (length(x) != 1L) return(sprintf("a %s vector of length %d", kind_of(x), length(x)))
  if (is.na(x) && !is.nan(x)) return("NA")
  if (is.character(x)) return(encodeString(shorten(printable(x), 300L), quote = "\""))
  if (is.factor(x)) return("a factor")
  format(x, digits = 10)
}

#' The columns of a table in words, or the kind of an object that is no table
#' @noRd
some_columns <- function(x) {
  if (!is.data.frame(x)) return(describe(x))
  sprintf("a data frame with the columns %s", if (ncol(x)) some(names(x), 12L) else "(none)")
}

kind_of <- function(x) {
  if (is.factor(x)) return("factor")
  if (is.numeric(x)) return("numeric")
  class(x)[[1L]]
}

#' Text as a template of cli, cut where it is too long to be read
#' @noRd
escape_braces <- function(text) {
  text <- shorten(printable(text))
  gsub("}", "}}", gsub("{", "{{", text, fixed = TRUE), fixed = TRUE)
}

bounds_text <- function(min, max, above = -Inf) {
  number <- function(v) format(v, big.mark = ",", digits = 10, scientific = v != 0 && abs(v) < 1e-4)
  if (is.finite(above) && is.finite(max)) {
    return(paste(" above", number(above), "and at most", number(max)))
  }
  if (is.finite(above)) return(paste(" above", number(above)))
  if (is.finite(min) && is.finite(max)) return(paste(" from", number(min), "to", number(max)))
  if (is.finite(min)) return(paste(" of at least", number(min)))
  if (is.finite(max)) return(paste(" of at most", number(max)))
  ""
}

format_each <- function(v) vapply(v, format, character(1), digits = 9, scientific = FALSE)

#' The first `n` of rows, passing over those that share most units with earlier ones
#' @noRd
distinct_rows <- function(units, rows, n) {
  best <- integer()
  taken <- character()
  for (row in rows) {
    if (length(best) == n) break
    own <- unique(units[[row]])
    if (length(best) > 0L && sum(own %in% taken) > length(own) / 2) next
    best <- c(best, row)
    taken <- c(taken, own)
  }
  best
}

seconds_text <- function(seconds) {
  if (seconds < 0.001) "under 1 ms"
  else if (seconds < 1) sprintf("%s ms", signif(1000 * seconds, 2))
  else sprintf("%s s", commas(signif(seconds, 2)))
}

#' A number of bytes for people
#' @noRd
bytes_text <- function(bytes) {
  units <- c("B", "kB", "MB", "GB", "TB", "PB")
  k <- if (bytes < 1000) 0 else min(floor(log10(bytes) / 3), length(units) - 1)
  paste(format(bytes / 1000^k, digits = 3), units[[k + 1]])
}

#' At most `most` of 1..n, at even steps of 1, 2, 5, 10, 20, ...
#' @noRd
thin <- function(n, most) {
  if (n == 0L) return(integer())
  steps <- c(1, 2, 5) * rep(10^(0:9), each = 3L)
  seq.int(1L, n, by = steps[match(TRUE, n / steps <= most)])
}

#' At most `most` of 1 to n, evenly spread
#' @noRd
even_steps <- function(n, most) {
  if (n <= most) seq_len(n) else unique(round(seq(1, n, length.out = most)))
}

#' How many letters at their beginning, or at their end, all names have in common
#' @noRd
same_letters <- function(names, at_end = FALSE) {
  letters <- strsplit(names, "")
  if (at_end) letters <- lapply(letters, rev)
  common <- 0L
  most <- min(lengths(letters)) - 1L
  while (common < most &&
         length(unique(vapply(letters, `[[`, "", common + 1L))) == 1L) common <- common + 1L
  # A number is not torn apart: ch11, ch12 become 11, 12.
  while (common > 0L && grepl("[0-9]", letters[[1L]][[common]])) common <- common - 1L
  common
}

#' Names for axes and panels: of long ones, two dots are what all have in common at their ends, and
#' what is too much in the middle
#' @noRd
short_names <- function(names, most = 12L) {
  if (length(names) == 0L || max(nchar(names)) <= most) return(names)
  if (length(names) > 1L) {
    start <- same_letters(names)
    # Two dots for a letter or two would be no gain.
    if (start > 3L) names <- paste0("..", substring(names, start + 1L))
    end <- same_letters(names, at_end = TRUE)
    if (end > 3L) names <- paste0(substring(names, 1L, nchar(names) - end), "..")
  }
  cut <- ifelse(nchar(names) <= 2 * most, names,
                paste0(substring(names, 1L, most - 1L), "..",
                       substring(names, nchar(names) - most + 2L)))
  if (anyDuplicated(cut)) names else cut
}

#' The same for the members of chains or patterns, whose names stand in a row
#' @param units List of vectors of names.
#' @noRd
short_members <- function(units) {
  flat <- as.character(unlist(units, use.names = FALSE))
  known <- unique(flat)
  utils::relist(short_names(known, 8L)[match(flat, known)], lapply(units, as.character))
}

#' Text in UTF-8; what is not valid as such is taken for Latin-1
#' @noRd
clean_text <- function(text) {
  marked <- Encoding(text) == "latin1"
  text[marked] <- enc2utf8(text[marked])
  Encoding(text) <- "unknown"
  good <- validUTF8(text)
  Encoding(text[good]) <- "UTF-8"
  if (!all(good)) text[!good] <- iconv(text[!good], "latin1", "UTF-8")
  text
}

words_wrapped <- function(lines) {
  strwrap(lines, width = min(getOption("width"), 90L), exdent = 2L)
}

#' The units of an episode written out
#' @noRd
spell_units <- function(episode) {
  strsplit(episode, " -\\([^]]*\\]-> ")[[1L]]
}

#' A message of the class `synfire_message_ABOUT`, a line for each text
#' @param ... Templates of cli, whose names are those of `frame`.
#' @noRd
info <- function(about, ..., frame = rlang::caller_env()) {
  text <- c(...)
  cli::cli_inform(rlang::set_names(text, rep("i", length(text))),
                  class = c(paste0("synfire_message_", about), "synfire_message"),
                  .envir = frame)
}

#' Raise an error of class `synfire_error_<about>`; `...` are the bullets of cli
#' @noRd
abort_about <- function(about, ..., call = user_frame(), frame = rlang::caller_env()) {
  cli::cli_abort(c(...), class = c(paste0("synfire_error_", about), "synfire_error"), call = call,
                 .envir = frame)
}

#' Warn with class `synfire_warning_<about>`
#' @noRd
warn_about <- function(about, ..., call = NULL, frame = rlang::caller_env()) {
  cli::cli_warn(c(...), class = c(paste0("synfire_warning_", about), "synfire_warning"),
                call = call, .envir = frame)
}

#' "A", "A and B", "A, B and C"
#' @noRd
and_list <- function(words) {
  n <- length(words)
  if (n < 2L) return(as.character(words))
  paste(toString(words[-n]), "and", words[[n]])
}

#' Seconds for people: six significant digits, and no exponent where avoidable
#' @noRd
short <- function(v) format(signif(v, 6), big.mark = ",", digits = 6, trim = TRUE)

#' "12 ms", "0.5 s"
#' @noRd
duration_text <- function(seconds) {
  ifelse(seconds < 1, paste(signif(seconds * 1e3, 3), "ms"), paste(signif(seconds, 3), "s"))
}

#' Names as they are, those of which nothing would be seen in quotes
#' @noRd
seen_names <- function(units) {
  ifelse(nzchar(trimws(units)), units, encodeString(units, quote = "\""))
}

units_text <- function(units) {
  units <- seen_names(units)
  if (length(units) > 8L) return(some(units, 7L))
  paste(toString(units[-length(units)]), "and", units[[length(units)]])
}

#' "units 1, 2 and 3", as bare numbers could be anything
#' @noRd
units_said <- function(units) {
  numbers <- all(grepl("^[0-9.]+$", units))
  paste0(if (numbers) "units ", units_text(units))
}

p_text <- function(p) {
  ifelse(!is.na(p) & p < 0.001, "< 0.001", trimws(formatC(p, digits = 2L, format = "fg")))
}
