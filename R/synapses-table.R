# The table of connections: what it is made of, and how its correlograms belong to its rows.

synapse_kinds <- c("connection", "explained", "common input", "same cell", "wide")

synapses_columns <- c("from", "to", "kind", "sign", "lag", "width", "strength", "strength_low",
                      "strength_high", "count", "baseline", "z", "p_value", "q_value", "via",
                      "reason")

#' The result of `find_synapses()`
#'
#' Units are named in it, as in other tables of results, and without locations there are no
#' distances. Correlograms belong to rows, which may be chosen and put into another order. So they
#' are named by the pair, and looked up by it.
#'
#' @param columns Named list of the columns, or a data frame.
#' @param about Attributes. `correlograms` and `baseline` (lags x rows) and `windows` (rows x 2)
#'   in the order of the rows.
#' @noRd
synapses_table <- function(columns, about) {
  if (!any(is.finite(about$units$x))) columns$distance <- about$units$x <- about$units$y <- NULL
  keys <- synapse_keys(columns$from, columns$to)
  # Of very many rows the first ones have correlograms.
  for (name in c("correlograms", "baseline")) {
    colnames(about[[name]]) <- utils::head(keys, ncol(about[[name]]))
  }
  rownames(about$windows) <- keys
  new_table(columns, "synapses", about)
}

synapse_keys <- function(from, to) paste(from, to, sep = " -> ")

#' @export
check_sound.synapses <- function(x, arg) check_synapses(x, arg)

#' Error for what is no table of connections
#' @noRd
check_synapses <- function(x, arg = rlang::caller_arg(x)) {
  refuse_if(!inherits(x, "synapses"), arg, "what `find_synapses()` gives", describe(x))
  check_table(x, synapses_columns, "find_synapses", arg)
}

#' The connections alone, as a plain table
#' @noRd
connections_of <- function(x) {
  x <- plain_table(x)
  x[x$kind %in% "connection", , drop = FALSE]
}
