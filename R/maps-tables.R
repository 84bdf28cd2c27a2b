# Causal maps as matrices, as text and as tables of links.

#' Causal maps
#'
#' What [causal_map()] returns is a matrix of cross map skill that knows how it was made:
#' `map[i, j]` is rho, how well the history of series i predicts series j.
#'
#' # Which way it points
#' In convergent cross mapping the effect predicts its cause: a series keeps traces of what
#' drives it. A high `map[i, j]` supports that **j causes i**: the target, a column, is the
#' cause, and the library, a row, is the effect. All tables of links have the columns `cause`,
#' the series that was predicted (the target), and `effect`, the series from whose history it
#' was predicted (the library); graphs and pictures use the same two words.
#' High rho alone does not make a cause: it must rise with the library (`lib_sizes`), and
#' exceed that of surrogates (`n_surrogates`); see [ccm()] on both.
#'
#' @param x What [causal_map()] returned.
#' @param i,j,drop Rows (libraries) and columns (targets), as in any matrix. As long as the
#'   result is a matrix it is a causal map of these, with all that is known of them; what is
#'   no matrix is plain numbers. A table of links is indexed as a data frame.
#' @param n How many rows and columns, or links, to print.
#' @param diagonal Whether self prediction, the diagonal, is wanted too.
#' @param threshold Only links whose rho is above it.
#' @param alpha Only links whose p value is at most this, for maps made with `n_surrogates`.
#'   P values are those of single pairs: among many pairs some are small by chance.
#' @param max_links Only so many links, those with the highest rho.
#' @param row.names Names for the rows of the table, or `NULL`.
#' @param optional Not used; R gives it to every method.
#' @param ... Not used, must be empty.
#'
#' @return
#' `print()` shows what it is, and its corner; `format()` gives the lines above the corner.
#' `as.matrix()`, `t()`, and arithmetic and comparison give plain matrices.
#'
#' `as.data.frame()` gives a row for each pair: `cause` and `effect`, names; `rho`; and
#' where the map has them `lag` (the `Tp` with the highest rho, steps), `p_value` and
#' `convergence` (rho of the largest less that of the smallest library). Effects (rows of the
#' map) come in their order, and the causes (columns) of each in theirs; with `max_links` the
#' highest rho first.
#' With `threshold`, `alpha` or `max_links`, pairs without a rho are left out.
#'
#' A map in a file is read in blocks, and never as a whole, unless `as.matrix()` or
#' `as.data.frame()` is to return all of it.
#'
#' Attributes: `E`, the dimensions of each target, named; `lag`, `p_value` and
#' `convergence`, matrices, or `NULL`; `parameters`, `call`, `elapsed` (s: `dimensions`,
#' `map`, `total`) and `device`; and `reasons`, why series have no rho or no p value, or `NULL`.
#' @section Tables of links:
#' With `top` or `screen`, [causal_map()] returns only some pairs: a data frame of class
#' `causal_links`, with the columns of `as.data.frame()` above and the same attributes, and
#' with `series`, the names of all. `[` keeps the class as long as no column is lost;
#' `subset(links, rho > 0.5)` works as in any data frame.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: for `alpha` without p
#' values, and for more pairs than a data frame can hold.
#' @seealso [causal_map()], [summary.causal_map()], [autoplot.causal_map()],
#'   [as.igraph.causal_map()], [compare_maps()].
#' @examples
#' x <- matrix(0.4, 200, 3, dimnames = list(NULL, c("a", "b", "c")))
#' for (t in 1:199) {
#'   x[t + 1, "a"] <- 3.8 * x[t, "a"] * (1 - x[t, "a"])
#'   x[t + 1, "b"] <- x[t, "b"] * (3.5 - 3.5 * x[t, "b"] - 0.2 * x[t, "a"])
#'   x[t + 1, "c"] <- x[t, "c"] * (3.6 - 3.6 * x[t, "c"])
#' }
#' map <- causal_map(x, E_max = 5, threads = 2)
#' map
#' map["b", "a"] # b predicts a: a causes b
#' as.data.frame(map, threshold = 0.5)
#' @name causal_map_tables
#' @aliases causal_links
NULL

#' @rdname causal_map_tables
#' @export
`[.causal_map` <- function(x, i, j, ..., drop = TRUE) {
  check_whole_map(x)
  if (nargs() - (!missing(drop)) < 3L) return(if (missing(i)) x else map_pairs(x, i))
  rows <- map_places(i, rownames(x), "i", "libraries")
  columns <- map_places(j, colnames(x), "j", "targets")
  parts <- lapply(rlang::set_names(map_layers(x)), \(layer) map_part(x, layer, rows, columns))
  rho <- parts$rho[, , drop = drop]
  if (!is.matrix(rho)) return(rho)
  do.call(new_causal_map, c(list(rho), part_about(x, rows, columns), parts[-1L]), quote = TRUE)
}

#' What a part of a map knows of how it was made
#' @noRd
part_about <- function(x, rows, columns) {
  about <- attributes(x)[c("E", "parameters", "call", "elapsed", "device")]
  about$E <- about$E[columns]
  c(about, list(reasons = part_reasons(x, rownames(x)[rows], colnames(x)[columns])))
}

#' Numbers of the rows or columns that an index means
#' @noRd
map_places <- function(index, names, arg, what) {
  if (missing(index)) return(seq_along(names))
  if (is.factor(index)) index <- as.character(index)
  places <- if (is.character(index)) match(index, names) else seq_along(names)[index]
  refuse_if(anyNA(places), arg, paste("names or numbers of", what, "of this map"),
            if (is.character(index)) some(dQuote(index[is.na(places)], FALSE)) else
              "beyond them, or NA")
  places
}

#' rho of pairs: of an index matrix, or of numbers that count along columns
#' @noRd
map_pairs <- function(x, index) UseMethod("map_pairs")

#' @export
map_pairs.causal_map <- function(x, index) as.matrix(x)[index]

#' @rdname causal_map_tables
#' @export
as.matrix.causal_map <- function(x, ...) {
  check_no_dots()
  check_whole_map(x)
  if (is.numeric(x)) {
    attributes(x) <- list(dim = dim(x), dimnames = dimnames(x))
    return(x)
  }
  all <- matrix(NA_real_, nrow(x), ncol(x), dimnames = dimnames(x))
  map_blocks(x, \(rows, rho) all[rows, ] <<- rho)
  all
}

#' @rdname causal_map_tables
#' @export
t.causal_map <- function(x) t(as.matrix(x))

#' @export
Ops.causal_map <- function(e1, e2) {
  plain <- function(x) if (inherits(x, "causal_map")) as.matrix(x) else x
  if (missing(e2)) return(get(.Generic)(plain(e1)))
  get(.Generic)(plain(e1), plain(e2))
}

#' @export
Math.causal_map <- function(x, ...) get(.Generic)(as.matrix(x), ...)

# ---- As text -------------------------------------------------------------------------

#' @rdname causal_map_tables
#' @export
format.causal_map <- function(x, ...) {
  check_no_dots()
  check_whole_map(x)
  c(sprintf("Causal map: %s x %s", counted(nrow(x), "library", "libraries"),
            counted(ncol(x), "target")),
    "map[i, j] is rho, how well the history of i predicts j. High: j (column) may cause i (row).",
    map_about_lines(x, map_layers(x)[-1L]))
}

#' How a map was made, in words
#' @param more Names of what there is besides rho.
#' @noRd
map_about_lines <- function(x, more) {
  E <- attr(x, "E", exact = TRUE)
  made <- c(dimensions_text(E), map_parameters_text(attr(x, "parameters", exact = TRUE)))
  c(if (length(made)) paste(made, collapse = "; "),
    device_text(attr(x, "device", exact = TRUE), attr(x, "elapsed", exact = TRUE)),
    if (length(more)) paste("With", toString(more)), reason_lines(x))
}

#' "E 1 to 7, median 3"
#' @noRd
dimensions_text <- function(E) {
  E <- E[!is.na(E)]
  if (length(E) == 0L) return(NULL)
  if (min(E) == max(E)) return(paste("E", E[[1L]]))
  sprintf("E %d to %d, median %s", min(E), max(E), format(stats::median(E)))
}

map_parameters_text <- function(parameters) {
  number <- function(name) {
    value <- parameters[[name]]
    if (!is.numeric(value) || length(value) == 0L) return(NULL)
    if (length(value) == 1L) return(paste(name, format(value)))
    paste(name, format(min(value)), "to", format(max(value)))
  }
  surrogates <- parameters[["n_surrogates"]]
  used <- c(number("tau"), number("Tp"),
            if (isTRUE(parameters$exclusion_radius > 0)) number("exclusion_radius"),
            number("theta"), if (isTRUE(parameters$ridge > 0)) number("ridge"),
            number("lib_sizes"), if (isTRUE(surrogates > 0)) number("n_surrogates"),
            number("screen"), number("top"),
            if (identical(parameters$precision, "half")) "half precision")
  if (length(used)) toString(used)
}

#' "cpu, 1.3 s (dimensions 0.5 s, map 0.8 s)"
#' @noRd
device_text <- function(device, elapsed) {
  seconds <- function(s) paste(format(s, digits = 2, big.mark = ","), "s")
  parts <- elapsed[intersect(c("dimensions", "map"), names(elapsed))]
  parts <- parts[!is.na(parts) & parts > 0]
  total <- c(elapsed["total"], NA)[[1L]]
  each <- if (length(parts) > 1L) {
    sprintf(" (%s)", paste(names(parts), vapply(parts, seconds, ""), collapse = ", "))
  }
  words <- c(device, if (!is.na(total)) paste0(seconds(total), each))
  if (length(words)) toString(words)
}

#' @rdname causal_map_tables
#' @export
print.causal_map <- function(x, n = 6, ...) {
  n <- check_count(n)
  cat(format(x), "", sep = "\n")
  corner <- as.matrix(x[head_of(nrow(x), n), head_of(ncol(x), n), drop = FALSE])
  print(round(corner, 3), na.print = "NA")
  corner_line(x, n)
  invisible(x)
}

head_of <- function(length, n) seq_len(min(n, length))

corner_line <- function(x, n) {
  if (n >= nrow(x) && n >= ncol(x)) return(invisible())
  cat(sprintf("... the first %d x %d; summary() and autoplot() show the whole\n",
              min(n, nrow(x)), min(n, ncol(x))))
}

# ---- As a table ----------------------------------------------------------------------

#' @rdname causal_map_tables
#' @export
as.data.frame.causal_map <- function(x, row.names = NULL, optional = FALSE, ...,
                                     diagonal = FALSE, threshold = NULL, alpha = NULL,
                                     max_links = Inf) {
  check_no_dots(but = frame_arguments)
  check_whole_map(x)
  check_flag(diagonal)
  limits <- check_links(x, threshold, alpha, max_links)
  all <- is.null(threshold) && is.null(alpha) && max_links == Inf
  refuse_if(all && prod(dim(x)) > .Machine$integer.max, "x",
            "a map of at most 2,147,483,647 pairs, or a part of it",
            sprintf("one of %s", commas(prod(dim(x)))),
            "Give `threshold` or `max_links`, or take part of it, as x[1:1000, ].")
  out <- map_links(x, limits, diagonal)
  if (!is.null(row.names)) row.names(out) <- row.names
  out
}

#' @rdname causal_map_tables
#' @export
format.causal_links <- function(x, ...) {
  check_no_dots()
  check_whole_map(x)
  c(sprintf("Causal map: %s among %s", rows_text(x, "link"),
            counted(length(attr(x, "series", exact = TRUE)), "series", "series")),
    "rho is how well the history of the effect predicts the cause.",
    map_about_lines(x, setdiff(names(x), c("cause", "effect", "rho"))))
}

#' @rdname causal_map_tables
#' @export
print.causal_links <- function(x, n = 10, ...) {
  n <- check_count(n, infinite = TRUE)
  cat(format(x), "", sep = "\n")
  # The strongest are what one looks for, unless the user put them into an order.
  n <- min(n, nrow(x))
  shown <- if (is_ordered(x)) seq_len(n) else {
    best <- top_rows(x$rho, n)
    c(best, if (length(best) < n) utils::head(which(is.na(x$rho)), n - length(best)))
  }
  columns <- lapply(rlang::set_names(names(x)), \(name) .subset2(x, name)[shown])
  print(round_numbers(new_frame(columns, length(shown))), row.names = FALSE)
  more_line(nrow(x) - n, if (!is_ordered(x)) "highest rho first here")
  invisible(x)
}

round_numbers <- function(frame, digits = 3) {
  number <- vapply(frame, is.double, NA)
  frame[number] <- lapply(frame[number], round, digits)
  frame
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.causal_map <- function(x, ...) {
  check_whole_map(x)
  links <- as.data.frame(x, ...)
  do.call(tidy_frame, c(
    list(term = paste(links$cause, links$effect, sep = " > "), cause = links$cause,
         effect = links$effect, estimate = links$rho, p.value = links$p_value),
    as.list(links)[setdiff(names(links), c("cause", "effect", "rho", "p_value"))]
  ))
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.causal_links <- tidy.causal_map
