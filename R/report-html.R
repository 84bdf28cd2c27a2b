# Pieces of a page: text that is safe in HTML, tables, lists, and pictures as part of the page.

#' Text that is HTML already, and is not escaped again
#' @noRd
html <- function(...) htmltools::HTML(paste0(..., collapse = ""))

#' Text as it is to be read: the signs of HTML are escaped
#'
#' Control characters may not be in a page at all.
#' @noRd
escape_html <- function(text) {
  if (inherits(text, "html")) return(text)
  text <- gsub("[\001-\010\013\014\016-\037\177]", "\uFFFD", printable(text), perl = TRUE)
  htmltools::htmlEscape(text)
}

#' An element
#'
#' @param ... Without names: its content, text or HTML. With names: its attributes.
#' @noRd
tag <- function(name, ...) {
  parts <- list(...)
  inside <- if (is.null(names(parts))) seq_along(parts) else which(names(parts) == "")
  parts[inside] <- lapply(parts[inside], \(part) if (!is.null(part)) html(escape_html(part)))
  html(as.character(htmltools::tag(name, parts)))
}

#' Sentences as a paragraph; what is between backticks is code
#' @noRd
paragraph <- function(...) {
  text <- paste(c(...), collapse = " ")
  if (nzchar(text)) tag("p", with_code(text))
}

with_code <- function(text) html(gsub("`([^`]*)`", "<code>\\1</code>", escape_html(text)))

html_list <- function(items, class = NULL, each = NULL) {
  items <- Map(\(item, own) tag("li", if (inherits(item, "html")) item else with_code(item),
                                class = own),
               items, each %||% list(NULL))
  tag("ul", html(unlist(items)), class = class)
}

#' A data frame as a table
#'
#' A column of short text, such as p values, stays on one line: long names beside it are broken, so
#' that all columns are in sight. On a narrow screen a row becomes a card, in which each cell shows
#' the name of its column.
#'
#' @param x Its columns are text or numbers, which stand on the right; names are the head.
#' @noRd
html_table <- function(x, caption, class = NULL) {
  numbers <- vapply(x, is.numeric, NA)
  x[!numbers] <- lapply(x[!numbers], \(v) if (anyNA(v)) ifelse(is.na(v), "\u2013", v) else v)
  short <- !numbers & vapply(x, \(column) all(nchar(column) <= 12L), NA)
  side <- ifelse(numbers, " class=\"number\"", ifelse(short, " class=\"brief\"", ""))
  text <- lapply(x, \(column) escape_html(if (is.numeric(column)) number_cells(column) else column))
  head <- sprintf("<th scope=\"col\"%s>%s</th>", side, escape_html(names(x)))
  column <- sprintf(" data-column=\"%s\"", escape_html(names(x)))
  cells <- vapply(seq_along(x), \(k) {
    sprintf("<td%s%s>%s</td>", side[[k]], column[[k]], text[[k]])
  }, character(nrow(x)))
  rows <- apply(matrix(cells, nrow(x)), 1L, paste0, collapse = "")
  tag("div", class = "wide", tag(
    "table", tag("caption", caption), tag("thead", tag("tr", html(head))),
    tag("tbody", html(sprintf("<tr>%s</tr>\n", rows))), class = class
  ))
}

#' Three significant digits, all those of whole numbers and of thousands, and a dash for what is
#' not known
#' @noRd
number_cells <- function(v) {
  v <- ifelse(abs(v) >= 1000, round(v), v)
  whole <- !is.na(v) & v == round(v)
  text <- vapply(signif(v, 3), \(one) format(one, big.mark = ",", digits = 3), "")
  text[whole] <- commas_each(v[whole])
  text[is.na(v)] <- "\u2013"
  text
}

# ---- Pictures ------------------------------------------------------------------------

#' Whether this R can draw pictures into files
#'
#' Where the libraries that draw are missing, as on some clusters, `capabilities("png")` can be
#' `TRUE`, and no device is opened.
#' @noRd
can_write_pictures <- function() {
  file <- tempfile(fileext = ".png")
  before <- grDevices::dev.list()
  current <- grDevices::dev.cur()
  tryCatch(suppressWarnings(open_png(file, 1, 1)), error = \(e) NULL)
  opened <- setdiff(grDevices::dev.list(), before)
  for (device in opened) grDevices::dev.off(device)
  if (current > 1L) grDevices::dev.set(current)
  unlink(file)
  length(opened) > 0L
}

open_png <- function(file, width, height) {
  type <- if (capabilities("cairo")) "cairo" else getOption("bitmapType")
  grDevices::png(file, width, height, units = "in", res = 170, type = type)
}

#' A picture with its text, or a sentence that there is none
#'
#' @param plot Called only where it can be drawn.
#' @param alt What is to be seen, for those who do not see it.
#' @param width,height In inches.
#' @noRd
html_figure <- function(plot, alt, caption = NULL, width = 9, height = 4.5) {
  if (!can_write_pictures()) {
    return(paragraph("There is no picture here, as this R cannot draw PNG files.", alt))
  }
  file <- tempfile(fileext = ".png")
  on.exit(unlink(file))
  draw_png(plot, file, width, height)
  tag("figure",
      tag("img", src = knitr::image_uri(file), alt = alt, width = round(width * 96),
          height = round(height * 96)),
      if (!is.null(caption)) tag("figcaption", with_code(caption)))
}

draw_png <- function(plot, file, width, height) {
  before <- grDevices::dev.cur()
  open_png(file, width, height)
  on.exit({
    grDevices::dev.off()
    if (before > 1L) grDevices::dev.set(before)
  })
  # ggplot2 speaks of lines through a single point, which very short recordings have.
  suppressMessages(print(plot))
}
