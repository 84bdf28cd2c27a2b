# The pairs of a causal map as a table of links, all or the strongest.

#' Limits of what links are wanted: list `threshold` (or NULL), `alpha` (or NULL), `most`
#' @noRd
check_links <- function(x, threshold, alpha, max_links, call = rlang::caller_env()) {
  if (!is.null(threshold)) {
    threshold <- check_number(threshold, "threshold", call = call)
  }
  if (!is.null(alpha)) {
    alpha <- check_number(alpha, "alpha", min = 0, max = 1, call = call)
    layers <- if (is.data.frame(x)) names(x) else map_layers(x)
    if (!"p_value" %in% layers) {
      abort_arg("alpha", "NULL for a map without p values", describe(alpha),
                "Make the map with `n_surrogates`.", call = call)
    }
  }
  most <- check_count(max_links, "max_links", infinite = TRUE, call = call)
  list(threshold = threshold, alpha = alpha, most = most)
}

#' The links of a map within limits
#'
#' @param limits As check_links() gives them. A p value that is not known is no small one.
#' @param score What is limited and sorted by, a function of rho.
#' @return Data frame `cause` (the target), `effect` (the library), `rho` and the other
#'   layers. In the order of libraries and, within, of targets; or, with a largest number, the
#'   highest score first.
#' @noRd
map_links <- function(x, limits, diagonal = FALSE, score = identity) UseMethod("map_links")

#' @export
map_links.default <- function(x, limits, diagonal = FALSE, score = identity) {
  by_rho <- !is.null(limits$threshold) || limits$most < Inf
  filtered <- by_rho || !is.null(limits$alpha)
  plain <- is.null(limits$alpha) && !diagonal && identical(score, identity)
  if (is.double(x) && by_rho && plain) return(links_in_memory(x, limits))
  layers <- map_layers(x)
  self <- self_column(x)
  columns <- ncol(x)
  bound <- limits$threshold %||% -Inf
  parts <- map_blocks(x, function(rows, ...) {
    # The targets of a library are next to each other only after turning it.
    values <- rlang::set_names(lapply(list(...), \(m) as.vector(t(m))), layers)
    by <- score(values$rho)
    keep <- if (filtered) !is.na(by) & by > bound else rep(TRUE, length(by))
    if (!is.null(limits$alpha)) keep <- keep & at_most(values$p_value, limits$alpha)
    if (!diagonal) keep[na_left_out((seq_along(rows) - 1) * columns + self[rows])] <- FALSE
    at <- strongest(which(keep), by, limits$most)
    # What is not above the last of so many will not be among them.
    if (length(at) == limits$most) bound <<- max(bound, by[at[length(at)]])
    c(list(cause = (at - 1) %% columns + 1, effect = rows[(at - 1) %/% columns + 1]),
      lapply(values, `[`, at))
  }, layers)
  bind <- function(column) unlist(lapply(parts, `[[`, column), use.names = FALSE)
  out <- lapply(rlang::set_names(c("cause", "effect", layers)), bind)
  if (limits$most < Inf) {
    out <- lapply(out, `[`, strongest(seq_along(out$rho), score(out$rho), limits$most))
  }
  out$cause <- colnames(x)[out$cause]
  out$effect <- rownames(x)[out$effect]
  rlang::exec(plain_frame, !!!out)
}

#' The same for a map in memory, where C finds the pairs
#' @noRd
links_in_memory <- function(x, limits) {
  bound <- limits$threshold %||% -Inf
  if (limits$most < Inf) bound <- max(bound, rho_of_most(x, limits$most))
  at <- finish_status(
    .Call(r_whole_above, x, whole_self(self_column(x)), as.double(bound),
          list(threads = check_threads(NULL))),
    "listing the links of the map"
  )
  places <- cbind(at$row, at$column)
  values <- lapply(rlang::set_names(map_layers(x)), \(layer) {
    if (layer == "rho") .subset(x, places) else attr(x, layer, exact = TRUE)[places]
  })
  out <- c(list(cause = at$column, effect = at$row), values)
  if (limits$most < Inf) {
    out <- lapply(out, `[`, strongest(seq_along(out$rho), out$rho, limits$most))
  }
  out$cause <- colnames(x)[out$cause]
  out$effect <- rownames(x)[out$effect]
  rlang::exec(plain_frame, !!!out)
}

#' @export
map_links.causal_links <- function(x, limits, diagonal = FALSE, score = identity) {
  x <- plain_table(x)
  by <- score(x$rho)
  keep <- !is.na(by) & by > (limits$threshold %||% -Inf)
  if (!is.null(limits$alpha)) keep <- keep & at_most(x$p_value, limits$alpha)
  if (!diagonal) keep <- keep & x$cause != x$effect
  at <- which(keep)
  if (limits$most < Inf) at <- strongest(at, by, limits$most)
  x <- x[at, , drop = FALSE]
  row.names(x) <- NULL
  x
}

#' At most `most` of `at`: all in their order, or those with the highest scores, sorted
#' @noRd
strongest <- function(at, by, most) {
  if (most == Inf) return(at)
  if (length(at) > most) {
    # Sorting a million to take ten is slow; a partial sort finds where to cut.
    limit <- -sort(-by[at], partial = most)[[most]]
    at <- at[by[at] >= limit]
  }
  at <- at[order(-by[at], method = "radix")]
  at[seq_len(min(most, length(at)))]
}

at_most <- function(p, alpha) !is.na(p) & p <= alpha

na_left_out <- function(x) x[!is.na(x)]

#' The column of each library as a target, NA where it is none
#' @noRd
self_column <- function(x) match(rownames(x), colnames(x))

#' Calls `f` on blocks of one layer as map_blocks() does, self prediction NA
#' @noRd
pair_blocks <- function(x, f, layer = "rho") {
  self <- self_column(x)
  map_blocks(x, function(rows, values) {
    known <- which(!is.na(self[rows]))
    values[cbind(known, self[rows][known])] <- NA_real_
    f(rows, values)
  }, layer)
}
