# Printing tables of results: which rows come first, and how a row fits the width of the screen.

#' "1,234 episodes"; of some rows of a result "6 of 1,234 episodes"
#' @noRd
rows_text <- function(x, one, many = paste0(one, "s")) {
  all <- attr(x, "rows", exact = TRUE) %||% nrow(x)
  if (nrow(x) == all) return(counted(all, one, many))
  sprintf("%s of %s", commas(nrow(x)), counted(all, one, many))
}

#' Whether the user put the rows into an order, which printing and drawing then keep
#' @noRd
is_ordered <- function(x) isTRUE(attr(x, "ordered", exact = TRUE))

#' The first rows, as a plain data frame; `[` would take a while with millions
#' @noRd
first_rows <- function(x, n, columns = names(x)) {
  n <- min(n, nrow(x))
  new_frame(lapply(rlang::set_names(columns), \(name) .subset2(x, name)[seq_len(n)]), n)
}

#' Numbers of the `n` largest values, the largest first, equal ones in their order
#'
#' Values are not sorted but compared with one that about enough of them reach.
#' @return Integer; those of missing values are not among them.
#' @noRd
top_rows <- function(v, n) {
  rows <- NULL
  if (length(v) > 1e5 && n <= 1000) {
    some <- sort(v[seq.int(1, length(v), length.out = 20000)], decreasing = TRUE)
    at <- ceiling(100 + 4 * n * 20000 / length(v))
    if (at <= length(some)) {
      rows <- which(v > some[[at]])
      # Where many values are equal, the first of them are enough.
      if (length(rows) < n) rows <- c(rows, utils::head(which(v == some[[at]]), n))
      if (length(rows) < n) rows <- NULL
    }
  }
  rows <- rows %||% which(!is.na(v))
  # Sorting a million to take some thousands is slow; a partial sort finds where to cut.
  if (n > 1000 && n < length(rows)) rows <- rows[v[rows] >= -sort(-v[rows], partial = n)[[n]]]
  utils::head(rows[order(-v[rows], method = "radix")], n)
}

#' The first `n` rows when the largest sizes come first and, in them, the highest counts
#' @noRd
longest_rows <- function(size, count, n) {
  if (anyNA(size)) size[is.na(size)] <- 0L
  at_least <- rev(cumsum(rev(tabulate(size))))
  enough <- which(at_least >= n)
  least <- if (length(enough)) max(enough) else 1L
  longer <- if (least < length(at_least)) which(size > least)
  rows <- longer[order(-size[longer], -count[longer], method = "radix")]
  equal <- if (at_least[[least]] < length(size) || least < length(at_least)) {
    which(size == least)
  } else {
    seq_along(size)
  }
  best <- top_rows(if (length(equal) < length(size)) count[equal] else count, n - length(rows))
  # Without counts there is nothing to choose by.
  if (length(best) < min(length(equal), n - length(rows))) {
    best <- c(best, which(is.na(count[equal])))
  }
  utils::head(c(rows, equal[best], if (least == 1L) which(size < 1L)), n)
}

#' Print the first `n` rows of a table, and how many more there are
#' @noRd
print_rows <- function(x, n, noun, digits = 3) {
  if (nrow(x) > 0L && n > 0) print(first_rows(x, n), row.names = FALSE, digits = digits)
  more_line(nrow(x) - n, noun = noun)
}

#' The last line of a table that is cut: "... and 24 more (longest first here)"
#' @noRd
more_line <- function(left, order = NULL, noun = NULL) {
  if (left <= 0) return(invisible())
  cat("... and ", commas(left), " more", if (!is.null(noun)) paste0(" ", noun, if (left != 1) "s"),
      if (!is.null(order)) sprintf(" (%s)", order), "\n", sep = "")
}

#' Print a data frame and after it a column of text, left-aligned, each as wide as fits
#'
#' @param shown Data frame of the other columns.
#' @param last List of one element: what each row says, in pieces that may be left out, a
#'   character vector a row, by the name of the column.
#' @noRd
print_left <- function(shown, last) {
  others <- utils::capture.output(print(shown, row.names = FALSE))
  room <- max(20L, getOption("width") - max(nchar(others)) - 2L)
  text <- vapply(last[[1L]], fit_pieces, "", room = room)
  cat(paste0(others, "  ", c(names(last), text)), sep = "\n")
}

#' Pieces of text as one, those in the middle left out where they do not fit
#' @noRd
fit_pieces <- function(pieces, room) {
  text <- paste(pieces, collapse = "")
  width <- cli::ansi_nchar(pieces, "width")
  n <- length(pieces)
  if (sum(width) <= room || n < 3L) return(as.character(cli::ansi_strtrim(text, room)))
  gap <- " ... "
  # By turns one more from the front and one more from the end, as long as they fit.
  front <- back <- 1L
  left <- room - nchar(gap) - width[[1L]] - width[[n]]
  repeat {
    from_front <- front <= back
    piece <- if (from_front) front + 1L else n - back
    if (front + back >= n - 1L || width[[piece]] > left) break
    left <- left - width[[piece]]
    if (from_front) front <- front + 1L else back <- back + 1L
  }
  end <- sub("^[ ,]+", "", paste(pieces[(n - back + 1L):n], collapse = ""))
  text <- paste0(paste(pieces[seq_len(front)], collapse = ""), gap, end)
  as.character(cli::ansi_strtrim(text, room))
}

#' How many episodes or patterns the rows are of, or NULL where it takes long to say: the
#' first occurrence of each is there unless rows were chosen
#' @noRd
kinds_of_rows <- function(x, column) {
  all <- attr(x, "rows", exact = TRUE)
  if (nrow(x) == (all %||% -1L)) return(sum(.subset2(x, "occurrence") == 1L))
  if (nrow(x) <= 1e6) length(unique(.subset2(x, column)))
}

#' "# 40 occurrences of 2 episodes"
#' @noRd
occurrences_title <- function(x, of) {
  kinds <- kinds_of_rows(x, of)
  paste0("# ", rows_text(x, "occurrence"), if (!is.null(kinds)) paste(" of", counted(kinds, of)))
}

#' A column that the user added, as it is printed
#' @noRd
shown_value <- function(v) if (is.double(v) && !is.object(v)) signif(v, 3) else v

# ---- Episodes ------------------------------------------------------------------------

#' Episodes for the screen, in pieces: a unit, then each further one with its delay in ms
#'
#' @param delays Whether delays are said; one that is common to all is in the title.
#' @noRd
episode_pieces <- function(units, low, high, delays = TRUE) {
  ms <- \(v) format_each(signif(1000 * v, 9))
  lapply(seq_along(units), \(i) {
    n <- length(units[[i]])
    if (n < 2L) return(as.character(units[[i]]))
    arrow <- if (delays) sprintf(" -[%s-%s ms]-> ", ms(low[[i]]), ms(high[[i]])) else " > "
    c(units[[i]][[1L]], paste0(arrow, units[[i]][-1L]))
  })
}

#' The same of names of episodes, as the column `episode` has them
#' @noRd
name_pieces <- function(names) {
  known <- unique(names)
  parts <- lapply(known, \(name) {
    arrows <- regmatches(name, gregexpr("-\\([^],]*,[^]]*\\]->", name))[[1L]]
    bounds <- strsplit(gsub("^-\\(|\\]->$", "", arrows), ",", fixed = TRUE)
    bound <- \(k) vapply(bounds, \(b) as.double(b[[k]]), 0)
    episode_pieces(list(spell_units(name)), list(bound(1L)), list(bound(2L)))[[1L]]
  })
  parts[match(names, known)]
}

#' The pieces of some rows of a table of episodes
#' @noRd
row_pieces <- function(x, rows) {
  episode_pieces(.subset2(x, "units")[rows], .subset2(x, "low")[rows],
                 .subset2(x, "high")[rows], NROW(attr(x, "intervals", exact = TRUE)) != 1L)
}

#' What delays there are, and what their bounds mean
#' @noRd
delays_text <- function(intervals) {
  ms <- \(v) format_each(signif(1000 * v, 9))
  if (nrow(intervals) == 1L) {
    return(sprintf("# each delay is more than %s and at most %s ms", ms(intervals[, 1L]),
                   ms(intervals[, 2L])))
  }
  sprintf("# delays: %s ms; a delay is more than the lower and at most the upper bound",
          some(sprintf("%s-%s", ms(intervals[, 1L]), ms(intervals[, 2L]))))
}
