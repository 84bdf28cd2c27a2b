# Names that functions had in the version before: each says what took its place.

#' A function that stops, and says what to call instead
#' @noRd
former <- function(instead) {
  force(instead)
  function(...) {
    abort_about("former", "This function left the package in version 0.9.0.", i = instead)
  }
}

#' Functions of version 0.8.0 that are gone
#'
#' Each stops with an error that says what to call instead. They will be removed in the next
#' version.
#'
#' @param ... Anything.
#' @return Nothing: they stop.
#' @examples
#' try(closed_itemsets())
#' @name former_functions
#' @keywords internal
NULL

#' @rdname former_functions
#' @export
closed_itemsets <- former("Call {.code frequent_itemsets(target = \"closed\")}.")

#' @rdname former_functions
#' @export
optimal_dimensions <- former("Call {.code embed_dimension()} with the same matrix or file.")

#' @rdname former_functions
#' @export
as_incidence <- former("{.code as_arules()} makes transactions, which hold a sparse matrix.")

#' @rdname former_functions
#' @export
wiring <- former("{.code simulate_coupled_maps()} takes a matrix of strengths.")

#' @rdname former_functions
#' @export
truth_links <- former("The matrix that {.code simulate_coupled_maps()} was given is the truth.")

#' @rdname former_functions
#' @export
simulate_lorenz96 <- former("{.code vignette(\"causal-maps\")} has its source.")

#' @rdname former_functions
#' @export
simulate_calcium <- former("{.code vignette(\"causal-maps\")} has its source.")
