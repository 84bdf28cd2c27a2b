# Causal maps in memory: a matrix that knows how it was made, or a table of its links.
# Everything that reads a map does so through map_blocks(), whether it is in a file or not.

#' @param rho Double matrix, libraries x targets, with dimnames.
#' @param E Dimensions of each target, an integer named by target.
#' @param parameters List of what the map was made with.
#' @param elapsed Named double: `dimensions`, `map`, `total`, in seconds.
#' @param device What computed it, in words.
#' @param lag,p_value,convergence Matrices of the shape of `rho`, or `NULL`.
#' @noRd
new_causal_map <- function(rho, E, parameters, call, elapsed, device, lag = NULL,
                           p_value = NULL, convergence = NULL) {
  structure(rho, class = c("causal_map", "matrix", "array"), E = E, lag = lag,
            p_value = p_value, convergence = convergence, parameters = parameters,
            call = call, elapsed = elapsed, device = device)
}

#' @param library,target Names of series, a pair a link.
#' @param rho,lag,p_value,convergence A number a link; all but `rho` may be `NULL`.
#' @param series Names of all series of the map, in their order.
#' @noRd
new_causal_links <- function(library, target, rho, series, E, parameters, call, elapsed,
                             device, lag = NULL, p_value = NULL, convergence = NULL) {
  columns <- list(library = library, target = target, rho = rho, lag = lag,
                  p_value = p_value, convergence = convergence)
  columns <- columns[!vapply(columns, is.null, NA)]
  structure(columns, class = c("causal_links", "data.frame"),
            row.names = .set_row_names(length(rho)), series = series, E = E,
            parameters = parameters, call = call, elapsed = elapsed, device = device)
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

#' Calls `f` on blocks of libraries, from the first to the last
#'
#' A kind of map of its own needs this, map_layers(), dim(), dimnames(), `[` and the
#' attributes of new_causal_map() that are no matrices.
#'
#' @param f Function of `rows`, the numbers of the libraries, and then a plain double
#'   matrix, those libraries x all targets, for each of `layers`.
#' @param layers Some of map_layers(x).
#' @return List of what `f` returned.
#' @noRd
map_blocks <- function(x, f, layers = "rho") UseMethod("map_blocks")

#' @export
map_blocks.causal_map <- function(x, f, layers = "rho") {
  lapply(block_rows(dim(x)), \(rows) {
    do.call(f, c(list(rows), lapply(layers, \(layer) {
      if (layer == "rho") return(.subset(x, rows, seq_len(ncol(x)), drop = FALSE))
      attr(x, layer, exact = TRUE)[rows, , drop = FALSE]
    })))
  })
}

#' Runs of rows of about `values` numbers
#' @noRd
block_rows <- function(dim, values = 2e6) {
  each <- max(1, floor(values / max(1, dim[[2L]])))
  unname(split(seq_len(dim[[1L]]), (seq_len(dim[[1L]]) - 1) %/% each))
}
