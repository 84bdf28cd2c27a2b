# Maps of S-maps in memory and in files: two matrices that know how they were made. What
# they have in common with causal maps goes through map_blocks() and map_layers().

#' @param rho,strength Double matrices, libraries x targets, with dimnames.
#' @param E,parameters,call,elapsed,device,reasons As in new_causal_map().
#' @noRd
new_smap_map <- function(rho, strength, ...) {
  structure(list(rho = rho, strength = strength), class = c("smap_map", "synfire_result"), ...)
}

# ---- What a map needs to be read (see map_blocks()) ----------------------------------

#' @export
dim.smap_map <- function(x) dim(.subset2(x, "rho"))

#' @export
dimnames.smap_map <- function(x) dimnames(.subset2(x, "rho"))

#' @export
map_layers.smap_map <- function(x) smap_map_layers

#' @export
map_part.smap_map <- function(x, layer, rows, columns) {
  .subset2(x, layer)[rows, columns, drop = FALSE]
}

#' @export
dim.smap_map_file <- function(x) unclass(x)$dim

#' @export
dimnames.smap_map_file <- function(x) unclass(x)$dimnames

#' @export
map_part.smap_map_file <- map_part.causal_map_file

#' @export
names.smap_map_file <- function(x) smap_map_layers

#' @export
length.smap_map_file <- function(x) length(smap_map_layers)

#' @export
`$.smap_map_file` <- function(x, name) x[[name]]

#' @export
`[[.smap_map_file` <- function(x, i, ...) {
  check_whole_map(x)
  layer <- if (is.numeric(i)) smap_map_layers[i] else i
  if (!rlang::is_string(layer) || !layer %in% smap_map_layers) return(NULL)
  map_part(x, layer, seq_len(nrow(x)), seq_len(ncol(x)))
}

# ---- Methods -------------------------------------------------------------------------

#' Maps of S-maps
#'
#' What [smap_map()] returns is a list of two matrices, libraries x targets, that knows how it
#' was made: `map$rho`, how well the history of a library predicts a target, and
#' `map$strength`, the mean partial derivative of the target by the library's present value.
#'
#' @param x,object What [smap_map()] returned, or [open_causal_map()] from its file.
#' @param i,j Rows (libraries) and columns (targets), names or numbers, of both matrices.
#' @param n How many rows and columns to print, or pairs in the summary.
#' @param diagonal Whether self prediction, the diagonal, is wanted too.
#' @param threshold Only pairs whose rho is above it.
#' @param max_links Only so many pairs, those with the highest rho, the highest first.
#' @param row.names Names for the rows of the table, or `NULL`.
#' @param optional Not used; R gives it to every method.
#' @param ... Not used, must be empty.
#'
#' @return
#' `print()` shows what it is, and the corner of both matrices; `format()` gives the lines
#' above. `map[i, j]` is a map of these libraries and targets.
#'
#' `as.data.frame()` gives a row for each pair: `library` and `target`, names; `rho`; and
#' `strength` (units of the target by units of the library). Libraries come in their order, and
#' the targets of each in theirs. With `threshold` or `max_links`, pairs without a rho are
#' left out.
#'
#' `summary()` gives a list of class `summary.smap_map`, self prediction left out where it is
#' not named: `about`, the lines of `format()`; `pairs` and `missing`, numbers of pairs, and of
#' those without a rho; `skill`, mean rho and its quantiles at 0, 25, 50, 75, 95 and
#' 100 %; `strength`, the same of strengths; `positive`, the share of strengths above 0;
#' `self`, the median rho of self prediction; and `links`, a data frame of the `n` pairs with
#' the highest rho, with `reverse`, the rho of the other direction.
#'
#' A map in a file is read in blocks, and as a whole only by `map$rho`, `map$strength` and
#' `as.data.frame()`.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`.
#' @seealso [smap_map()], [autoplot.smap_map()].
#' @examples
#' map <- smap_map(scale(simulate_coupled_maps(steps = 300)), E = 2, threads = 2)
#' summary(map)
#' as.data.frame(map, threshold = 0.3)
#' map[1, 2]$strength
#' @name smap_map_tables
NULL

#' @rdname smap_map_tables
#' @export
`[.smap_map` <- function(x, i, j, ...) {
  check_whole_map(x)
  if (nargs() < 3L) {
    if (missing(i)) return(x)
    abort_arg("j", "given, which targets", "missing", "`map[i, ]` takes all targets.")
  }
  rows <- map_places(i, rownames(x), "i", "libraries")
  columns <- map_places(j, colnames(x), "j", "targets")
  parts <- lapply(smap_map_layers, \(layer) map_part(x, layer, rows, columns))
  do.call(new_smap_map, c(parts, part_about(x, rows, columns)), quote = TRUE)
}

#' @rdname smap_map_tables
#' @export
format.smap_map <- function(x, ...) {
  check_no_dots()
  check_whole_map(x)
  c(sprintf("Map of S-maps: %s x %s", counted(nrow(x), "library", "libraries"),
            counted(ncol(x), "target")),
    "rho[i, j]: how well the history of i (row) predicts j (column).",
    "strength[i, j]: mean change of j with the present value of i.",
    map_about_lines(x, NULL))
}

#' @rdname smap_map_tables
#' @export
format.smap_map_file <- function(x, ...) c(NextMethod(), map_file_line(x))

#' @rdname smap_map_tables
#' @export
print.smap_map <- function(x, n = 6, ...) {
  check_no_dots()
  n <- check_count(n)
  cat(format(x), sep = "\n")
  corner <- x[head_of(nrow(x), n), head_of(ncol(x), n)]
  cat("\n$rho\n")
  print(round(corner$rho, 3), na.print = "NA")
  cat("\n$strength\n")
  print(signif(corner$strength, 3), na.print = "NA")
  corner_line(x, n)
  invisible(x)
}

#' @rdname smap_map_tables
#' @export
as.data.frame.smap_map <- function(x, row.names = NULL, optional = FALSE, ...,
                                   diagonal = FALSE, threshold = NULL, max_links = Inf) {
  check_no_dots(but = frame_arguments)
  as_smap_pairs(as.data.frame.causal_map(x, row.names, diagonal = diagonal, threshold = threshold,
                                         max_links = max_links))
}

#' Pairs as maps of S-maps call them: `library`, `target`, `rho`, `strength`
#' @noRd
as_smap_pairs <- function(links) {
  rlang::set_names(links[c("effect", "cause", "rho", "strength")],
                   c("library", "target", "rho", "strength"))
}

# ---- Summary -------------------------------------------------------------------------

#' @rdname smap_map_tables
#' @export
summary.smap_map <- function(object, n = 5, ...) {
  check_no_dots()
  check_whole_map(object, "object")
  n <- check_count(n)
  moments <- map_moments(object)
  strength <- pair_values(object, "strength")
  links <- as_smap_pairs(map_links(object, list(threshold = NULL, alpha = NULL, most = n)))
  links$reverse <- reverse_rho(object, list(cause = links$target, effect = links$library))
  p <- c(0, 0.25, 0.5, 0.75, 0.95, 1)
  structure(
    list(
      about = format(object), pairs = moments$known + moments$missing,
      missing = moments$missing,
      skill = skill_quantiles(moments),
      strength = c(mean = mean_known(strength), stats::quantile(strength, p, na.rm = TRUE)),
      positive = mean_known(strength > 0),
      self = stats::median(moments$self, na.rm = TRUE), links = links
    ),
    class = "summary.smap_map"
  )
}

#' All known values of a layer but self prediction; of more than a million, some
#' @noRd
pair_values <- function(x, layer, most = 1e6) {
  every <- max(1, ceiling(prod(dim(x)) / most))
  parts <- pair_blocks(x, \(rows, values) values[seq(1, length(values), by = every)], layer)
  values <- unlist(parts, use.names = FALSE)
  values[!is.na(values)]
}

#' @rdname smap_map_tables
#' @export
print.summary.smap_map <- function(x, ...) {
  check_no_dots()
  cat(x$about, "", pairs_line(x), sep = "\n")
  if (!is.na(x$self)) cat(sprintf("rho of self prediction: median %s\n", two(x$self)))
  if (x$pairs <= x$missing) return(invisible(x))
  cat(spread_line("rho", two(x$skill)),
      spread_line("strength", vapply(x$strength, \(v) format(signif(v, 3)), "")), sep = "\n")
  cat(sprintf("%.0f %% of the strengths are positive\n", 100 * x$positive))
  cat("\nHighest skill\n")
  print_table(x$links)
  cat("\nA strength is a response, not yet a cause: see ?smap_map.\n")
  invisible(x)
}
