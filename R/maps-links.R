# The pairs of a causal map as a table of links, all or the strongest.

#' Limits of what links are wanted: list `threshold` (or NULL), `alpha` (or NULL), `most`
#' @noRd
check_links <- function(x, threshold, alpha, max_links) {
  if (!is.null(threshold)) threshold <- check_number(threshold, "threshold")
  if (!is.null(alpha)) {
    alpha <- check_number(alpha, "alpha", min = 0, max = 1)
    layers <- if (is.data.frame(x)) names(x) else map_layers(x)
    refuse_if(!"p_value" %in% layers, "alpha", "NULL for a map without p values", describe(alpha),
              "Make the map with `n_surrogates`.")
  }
  most <- check_count(max_links, "max_links", infinite = TRUE)
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
  whole <- by_rho && is.null(limits$alpha) && identical(score, identity)
  self <- if (diagonal) rep(NA_integer_, nrow(x)) else self_column(x)
  bound <- limits$threshold %||% -Inf
  # Few maps have more pairs above a threshold than may be listed, and it takes a while to say
  # above which rho there are fewer. Without a threshold there are more.
  listed <- if (whole && is.double(x)) limits$most else Inf
  if (bound == -Inf && listed < Inf) {
    bound <- rho_of_most(x, listed)
    listed <- Inf
  }
  layers <- map_layers(x)
  pieces <- if (whole) map_pieces else map_blocks
  parts <- pieces(x, function(rows, ...) {
    values <- rlang::set_names(list(...), layers)
    by <- score(values$rho)
    at <- if (filtered) pairs_above(by, self[rows], bound, listed) else all_pairs(by, self[rows])
    if (is.null(at)) {
      bound <<- max(bound, rho_of_most(x, listed))
      at <- pairs_above(by, self[rows], bound)
    }
    if (!is.null(limits$alpha)) {
      at <- at[at_most(.subset(values$p_value, at), limits$alpha), , drop = FALSE]
    }
    by <- .subset(by, at)
    best <- strongest(seq_along(by), by, limits$most)
    # What is not above the last of so many will not be among them.
    if (length(best) == limits$most) bound <<- max(bound, by[best[length(best)]])
    at <- at[best, , drop = FALSE]
    c(list(cause = at[, 2L], effect = rows[at[, 1L]]), lapply(values, .subset, at))
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

#' Rows and columns of the pairs above a bound, row by row, without self prediction
#' @return A matrix; NULL where there are more than `most`.
#' @noRd
pairs_above <- function(values, self, bound, most = Inf) {
  at <- .Call(r_whole_above, values, whole_self(self), as.double(c(bound, most)),
              list(threads = check_threads(NULL)))
  do.call(cbind, finish_status(at, "listing the links of the map"))
}

#' The same of all pairs
#' @noRd
all_pairs <- function(values, self) {
  at <- cbind(row = rep(seq_len(nrow(values)), each = ncol(values)),
              column = rep(seq_len(ncol(values)), nrow(values)))
  at[is.na(self[at[, 1L]]) | at[, 2L] != self[at[, 1L]], , drop = FALSE]
}

#' @export
map_links.causal_links <- function(x, limits, diagonal = FALSE, score = identity) {
  series <- all_series(x)
  x <- plain_table(x)
  by <- score(x$rho)
  keep <- !is.na(by) & by > (limits$threshold %||% -Inf)
  if (!is.null(limits$alpha)) keep <- keep & at_most(x$p_value, limits$alpha)
  if (!diagonal) keep <- keep & x$cause != x$effect
  at <- which(keep)
  if (limits$most < Inf) {
    # Of equal links those that come first in a map come first here.
    at <- at[order(match(x$effect[at], series), match(x$cause[at], series))]
    at <- strongest(at, by, limits$most)
  }
  x <- x[at, , drop = FALSE]
  row.names(x) <- NULL
  x
}
