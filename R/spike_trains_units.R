# The units of a recording: names, natural order, numbers of them for people.

#' Units as a factor without missing values
#' @noRd
unit_factor <- function(unit, n, arg = "unit", call = rlang::caller_env()) {
  plain <- is.character(unit) || is.factor(unit) || (is.numeric(unit) && !is.object(unit))
  if (!plain) {
    abort_arg(arg, "a factor, character or numeric vector",
              if (is.object(unit)) sprintf("of class %s", class(unit)[[1L]]) else describe(unit),
              call = call)
  }
  if (length(unit) != n) {
    if (length(unit) != 1L) {
      abort_arg(arg, sprintf("as long as `time` (%s), or of length 1", commas(n)),
                sprintf("of length %s", commas(length(unit))), call = call)
    }
    if (is.factor(unit)) unit <- unit[rep(1L, n)] else unit <- rep(unit, n)
  }
  if (is.factor(unit)) {
    missing_unit <- is.na(levels(unit))[as.integer(unit)]
    missing_unit[is.na(unit)] <- TRUE
  } else if (is.numeric(unit)) {
    missing_unit <- !is.finite(unit)
  } else {
    missing_unit <- is.na(unit)
  }
  if (any(missing_unit)) {
    abort_arg(arg, "given for each spike",
              sprintf("missing for %s of %s spikes, the first in row %d",
                      commas(sum(missing_unit)), commas(n), which(missing_unit)[[1L]]),
              "Drop these rows first, or name the unit.", call = call)
  }
  if (is.factor(unit)) {
    levels <- levels(unit)
    known <- levels[!is.na(levels)]
    shown <- clean_text(known)
    if (anyNA(levels) || anyDuplicated(shown)) {
      return(factor(shown[match(as.character(unit), known)], levels = unique(shown)))
    }
    return(structure(as.integer(unit), levels = shown, class = "factor"))
  }
  if (is.numeric(unit)) {
    values <- sort(unique(as.double(unit)))
    labels <- number_labels(values)
    # Numbers equal to 15 digits share a label, so they are one unit.
    code <- match(labels, unique(labels))[match(unit, values)]
    return(structure(code, levels = unique(labels), class = "factor"))
  }
  unit <- clean_text(as.vector(unit))
  values <- unique(unit)
  values <- values[natural_order(values)]
  structure(match(unit, values), levels = values, class = "factor")
}

#' Labels without an exponent where the number is whole: 100000, not 1e+05
#' @noRd
number_labels <- function(values) {
  whole <- !is.na(values) & values == round(values) & abs(values) < 1e15
  out <- as.character(values)
  out[whole] <- sprintf("%.0f", values[whole] + 0)
  out
}

#' Order in which runs of digits count as numbers, the same in every locale
#'
#' Labels that are all plain numbers are ordered as numbers, so that -2 comes before -1.
#' @noRd
natural_order <- function(labels) {
  if (length(labels) == 0L) return(integer())
  plain <- "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$"
  if (all(grepl(plain, labels))) {
    return(order(as.double(labels), labels, method = "radix"))
  }
  at <- gregexpr("[0-9]+", labels)
  digits <- regmatches(labels, at)
  width <- max(0L, nchar(unlist(digits)))
  pad <- \(run) {
    run <- sub("^0+(?=.)", "", run, perl = TRUE)
    paste0(strrep("0", width - nchar(run)), run)
  }
  key <- labels
  regmatches(key, at) <- lapply(digits, pad)
  order(key, labels, method = "radix")
}

#' Whole number for people: 208,277
#' @noRd
commas <- function(n) format(n, big.mark = ",", scientific = FALSE, trim = TRUE)

#' "1 spike", "2,000 spikes"
#' @noRd
counted <- function(n, one, many = paste0(one, "s")) paste(commas(n), if (n == 1) one else many)
