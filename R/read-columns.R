# Which columns of a table hold times, units and trials.

#' The trial of each spike of a file, `NULL` without trials
#'
#' @param at What `find_trial()` gives.
#' @param text For each of these columns the distinct `values` and the `code` of each row.
#' @param label Names a column in messages.
#' @noRd
file_trial <- function(at, text, label, fail) {
  n <- length(at$trial)
  doubt <- text[n + seq_along(at$doubt)]
  # What is the same in all rows tells nothing apart.
  several <- lengths(lapply(doubt, `[[`, "values")) > 1L
  if (n == 0L) {
    if (!any(several)) return(NULL)
    names <- vapply(at$doubt[several], label, "")
    fail(sprintf("column %s may number trials", paste(names, collapse = " and ")),
         sprintf(paste("Say `trial_column = %s`, or `trial_column = NA` where all times count on",
                       "one clock and there are no trials."),
                 encodeString(gsub("`", "", names[[1L]]), quote = "\"")))
  }
  for (k in which(several)) {
    one <- text[[1L]]
    pairs <- one$code + length(one$values) * (doubt[[k]]$code - 1)
    fail_if(n == 1L && length(unique(pairs)) > length(one$values), fail,
            sprintf("column %s starts again in each %s", label(at$trial), label(at$doubt[[k]])),
            sprintf("Both together name a trial: `trial_column = c(%s, %s)`.",
                    encodeString(gsub("`", "", label(at$doubt[[k]])), quote = "\""),
                    encodeString(gsub("`", "", label(at$trial)), quote = "\"")))
  }
  parts <- lapply(text[seq_len(n)], \(one) {
    values <- label_of_text(one$values)
    levels <- unique(values)
    as_factor(match(values, levels)[one$code], levels)
  })
  empty <- Reduce(`|`, lapply(text[seq_len(n)], \(one) (one$values %in% c("", "NA"))[one$code]))
  trial <- join_units(parts)
  values <- levels(trial)
  number <- suppressWarnings(as.integer(values))
  if (!anyNA(number[!values %in% c("", "NA")]) && all(is.na(number) | number == values)) {
    values <- number
  }
  replace(values[as.integer(trial)], empty, NA)
}

#' Labels of units and trials as a file has them; "72.0" is 72, as programs write whole numbers
#' that went through a table of doubles
#' @noRd
label_of_text <- function(text) sub("^([-+]?[0-9]+)[.]0+$", "\\1", clean_text(text))

#' Units of a file as a factor, or an error with the count and the first row
#' @param unit Their text, as distinct `values` and the `code` of each row.
#' @noRd
file_units <- function(unit, file, column, line) {
  # Few units, many spikes: look at each distinct one once.
  values <- unit$values
  empty <- values %in% c("", "NA")
  at <- unit$code
  rows <- if (any(empty)) which(empty[at])
  refuse_file_if(any(empty), file,
                 sprintf("column %s is empty in %s of %s rows, first in %s", column,
                         commas(length(rows)), commas(length(at)), line(rows[[1L]])),
                 "Drop these rows, or name the unit.")
  shown <- label_of_text(values)
  levels <- unique(shown)
  levels <- levels[natural_order(levels)]
  as_factor(match(shown, levels)[at], levels)
}

#' Error unless all times of a file are finite
#' @noRd
check_file_times <- function(time, fail, column, line) {
  bad <- !is.finite(time)
  if (any(bad)) fail(sprintf("column %s is missing or not finite in %s of %s rows, first in %s",
                             column, commas(sum(bad)), commas(length(time)),
                             line(which(bad)[[1L]])), "Drop these rows first.")
}
