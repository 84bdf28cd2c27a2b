# Causal maps in memory: a matrix that knows how it was made, or a table of its links.
# Everything that reads a map does so through map_blocks(), whether it is in a file or not.

#' @param rho Double matrix, libraries x targets, with dimnames.
#' @param E Dimensions of each target, an integer named by target.
#' @param parameters List of what the map was made with.
#' @param elapsed Named double: `dimensions`, `map`, `total`, in seconds.
#' @param device What computed it, in words.
#' @param lag,p_value,convergence Matrices of the shape of `rho`, or `NULL`.
#' @param reasons Why series have no rho or p value, a word named by each, or `NULL`.
#' @noRd
new_causal_map <- function(rho, E, parameters, call, elapsed, device, lag = NULL,
                           p_value = NULL, convergence = NULL, reasons = NULL) {
  structure(rho, class = c("causal_map", "matrix", "array"), E = E, lag = lag,
            p_value = p_value, convergence = convergence, parameters = parameters,
            call = call, elapsed = elapsed, device = device, reasons = reasons)
}

#' @param cause,effect Names of series, a pair a link: target and library.
#' @param rho,lag,p_value,convergence A number a link; all but `rho` may be `NULL`.
#' @param series Names of all series of the map, in their order.
#' @noRd
new_causal_links <- function(cause, effect, rho, series, E, parameters, call, elapsed,
                             device, lag = NULL, p_value = NULL, convergence = NULL,
                             reasons = NULL) {
  columns <- list(cause = cause, effect = effect, rho = rho, lag = lag,
                  p_value = p_value, convergence = convergence)
  columns <- columns[!vapply(columns, is.null, NA)]
  new_table(columns, "causal_links",
            list(series = series, E = E, parameters = parameters, call = call,
                 elapsed = elapsed, device = device, reasons = reasons))
}

# ---- Reading by blocks ---------------------------------------------------------------

map_layer_names <- c("rho", "lag", "p_value", "convergence")

#' What a map holds for each pair: "rho" and those of "lag", "p_value", "convergence"
#' @noRd
map_layers <- function(x) UseMethod("map_layers")

#' @export
map_layers.causal_map <- function(x) {
  map_layer_names[c(TRUE, vapply(map_layer_names[-1L], \(layer) {
    !is.null(attr(x, layer, exact = TRUE))
  }, NA))]
}

#' Some rows and columns of a layer, by their numbers: a matrix with their names
#' @noRd
map_part <- function(x, layer, rows, columns) UseMethod("map_part")

#' @export
map_part.causal_map <- function(x, layer, rows, columns) {
  .subset(if (layer == "rho") x else attr(x, layer, exact = TRUE), rows, columns, drop = FALSE)
}

#' Calls `f` on blocks of libraries, from the first to the last
#'
#' @param x A map, in memory or in a file.
#' @param f Function of the rows of a block, and of the matrix of each of `layers` there.
#' @param layers Some of map_layers(x).
#' @return List of what `f` returned.
#' @noRd
map_blocks <- function(x, f, layers = "rho") UseMethod("map_blocks")

#' @export
map_blocks.default <- function(x, f, layers = "rho") {
  columns <- seq_len(ncol(x))
  lapply(block_rows(dim(x)), \(rows) {
    do.call(f, c(list(rows), lapply(layers, \(layer) map_part(x, layer, rows, columns))))
  })
}

#' Runs of rows of at most about `values` numbers, 64 MB
#' @noRd
block_rows <- function(dim, values = 8e6) {
  each <- max(1, floor(values / max(1, dim[[2L]])))
  unname(split(seq_len(dim[[1L]]), (seq_len(dim[[1L]]) - 1) %/% each))
}

# ---- Made by hand --------------------------------------------------------------------

#' Stop where a map was changed by hand so that it is none any more
#' @param x A map in memory or in a file, of either kind, or a table of links.
#' @noRd
check_whole_map <- function(x, arg = "x", call = rlang::caller_env()) {
  # Other kinds of maps know themselves.
  wrong <- switch(class(x)[[1L]], causal_links = links_trouble(x),
                  causal_map_file = , smap_map_file = file_trouble(unclass(x)),
                  causal_map = matrix_trouble(x), smap_map = smap_map_trouble(x))
  if (is.null(wrong)) return(invisible())
  maker <- if (inherits(x, "smap_map")) "smap_map()" else "causal_map()"
  abort_arg(arg, paste("as", maker, "or open_causal_map() returned it"),
            paste("changed since:", wrong), "Take it from there again.", call = call)
}

matrix_trouble <- function(x) {
  if (!is.numeric(x) || length(dim(x)) != 2L) return("it is no matrix of numbers")
  names <- dimnames(x)
  named <- \(k) length(names[[k]]) == dim(x)[[k]] && !anyNA(names[[k]])
  if (!named(1L) || !named(2L)) return("its series have no names")
  for (layer in map_layer_names[-1L]) {
    of <- attr(x, layer, exact = TRUE)
    if (!is.null(of) && !(is.numeric(of) && identical(dim(of), dim(x)))) {
      return(sprintf("its %s is no matrix of the same size", layer))
    }
  }
  E <- attr(x, "E", exact = TRUE)
  if (!is.null(E) && !(is.numeric(E) && length(E) == ncol(x))) {
    return("its E is not one number for each target")
  }
}

file_trouble <- function(x) {
  needed <- c("file", "paths", "part", "row", "dim", "dimnames", "layers")
  if (!is.list(x) || !all(needed %in% names(x))) return("parts of it are missing")
  fits <- is.character(x$file) && length(x$file) == 1L && length(x$dim) == 2L &&
    identical(as.double(lengths(x$dimnames)), as.double(x$dim)) &&
    length(x$part) == x$dim[[1L]] && length(x$row) == x$dim[[1L]]
  if (!fits) "its parts do not fit together"
}

links_trouble <- function(x) {
  if (!is.data.frame(x) || !all(c("cause", "effect", "rho") %in% names(x))) {
    return("its columns `cause`, `effect` and `rho` are not all there")
  }
  more <- intersect(names(x), map_layer_names)
  if (!all(vapply(plain_table(x)[more], is.numeric, NA))) return("its numbers are none")
  series <- attr(x, "series", exact = TRUE)
  # Of millions of links some tell: contents and names only go apart together.
  some <- if (nrow(x) > 1e5) even_steps(nrow(x), 1e5) else seq_len(nrow(x))
  if (!is.character(series) || !all(c(x$cause[some], x$effect[some]) %in% series)) {
    return("it does not name all series")
  }
}

# ---- As a matrix ---------------------------------------------------------------------

#' Causal maps
#'
#' What [causal_map()] returns is a matrix of cross map skill that knows how it was made:
#' `map[i, j]` is rho, how well the history of series i predicts series j.
#'
#' # Which way it points
#' In convergent cross mapping the effect predicts its cause: a series keeps traces of what
#' drives it. A high `map[i, j]` says that **j causes i**: the target, a column, is the
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
map_places <- function(index, names, arg, what, call = rlang::caller_env()) {
  if (missing(index)) return(seq_along(names))
  if (is.factor(index)) index <- as.character(index)
  places <- if (is.character(index)) match(index, names) else seq_along(names)[index]
  if (anyNA(places)) {
    abort_arg(arg, paste("names or numbers of", what, "of this map"),
              if (is.character(index)) some(dQuote(index[is.na(places)], FALSE)) else
                "beyond them, or NA", call = call)
  }
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
    "map[i, j] is rho, how well the history of i predicts j. High: j (column) causes i (row).",
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
  total <- if ("total" %in% names(elapsed)) elapsed[["total"]] else NA
  words <- c(
    device,
    if (!is.na(total)) {
      paste0(seconds(total), if (length(parts) > 1L) {
        sprintf(" (%s)", paste(names(parts), vapply(parts, seconds, ""), collapse = ", "))
      })
    }
  )
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
  check_frame_dots()
  check_whole_map(x)
  check_flag(diagonal)
  limits <- check_links(x, threshold, alpha, max_links)
  if (is.null(threshold) && is.null(alpha) && max_links == Inf) check_all_pairs(x)
  out <- map_links(x, limits, diagonal)
  if (!is.null(row.names)) row.names(out) <- row.names
  out
}

#' Stop where a table of all pairs would have more rows than R's tables can
#' @noRd
check_all_pairs <- function(x, call = rlang::caller_env()) {
  if (prod(dim(x)) <= .Machine$integer.max) return(invisible())
  abort_arg("x", "a map of at most 2,147,483,647 pairs, or a part of it",
            sprintf("one of %s", commas(prod(dim(x)))),
            "Give `threshold` or `max_links`, or take part of it, as x[1:1000, ].", call)
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
