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
  structure(rho, class = c("causal_map", "synfire_result", "matrix", "array"), E = E, lag = lag,
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
check_whole_map <- function(x, arg = "x") {
  # Other kinds of maps know themselves.
  wrong <- switch(class(x)[[1L]], causal_links = links_trouble(x),
                  causal_map_file = , smap_map_file = file_trouble(unclass(x)),
                  causal_map = matrix_trouble(x), smap_map = smap_map_trouble(x))
  if (is.null(wrong)) return(invisible())
  maker <- if (inherits(x, "smap_map")) "smap_map()" else "causal_map()"
  abort_arg(arg, paste("as", maker, "or open_causal_map() returned it"),
            paste("changed since:", wrong), "Take it from there again.")
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

#' What is wrong with a map in memory, `NULL` for nothing
#' @noRd
smap_map_trouble <- function(x) {
  parts <- unclass(x)
  if (!is.list(parts) || !all(smap_map_layers %in% names(parts))) {
    return("`rho` and `strength` are not both there")
  }
  for (layer in smap_map_layers) {
    m <- parts[[layer]]
    if (!is.numeric(m) || length(dim(m)) != 2L ||
        !identical(unname(lengths(dimnames(m))), dim(m))) {
      return(sprintf("its `%s` is no matrix of numbers with names of series", layer))
    }
  }
  if (!identical(dimnames(parts$rho), dimnames(parts$strength))) {
    return("`rho` and `strength` are not of the same series")
  }
}

#' Names of all series, whether library, target or both
#' @noRd
map_series <- function(x) union(rownames(x), colnames(x))

#' Names of all series of a map, in its order
#' @noRd
all_series <- function(map) {
  if (is.data.frame(map)) attr(map, "series", exact = TRUE) else map_series(map)
}

#' E of each of `series`, NA where it is no target
#' @noRd
series_dimensions <- function(x, series) {
  E <- attr(x, "E", exact = TRUE)
  if (is.null(E)) return(rep(NA_integer_, length(series)))
  unname(E[match(series, names(E) %||% colnames(x))])
}
