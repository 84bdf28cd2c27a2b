# Which call of the user an error names.

#' The frame of the function that the user called, which errors name
#'
#' It is the innermost function on the way here that users can call. A function that C or a
#' handler of conditions called has no parent; the way goes on with the function before it.
#' @return An environment; NULL where an internal function was called by itself.
#' @noRd
user_frame <- function() {
  public <- public_functions()
  parents <- sys.parents()
  at <- sys.parent()
  while (at > 0L && !any(vapply(public, identical, NA, sys.function(at)))) {
    # What evaluates code in the frame of a later function has that as its parent.
    at <- if (parents[[at]] %in% seq_len(at - 1L)) parents[[at]] else at - 1L
  }
  if (at > 0L) sys.frame(at)
}

#' The functions of this package that users call, and its methods for generics that they call
#' @noRd
public_functions <- function() {
  space <- topenv()
  methods <- getNamespaceInfo(space, "S3methods")
  exported <- getNamespaceExports(space)
  own <- vapply(methods[, 1L], exists, NA, space, inherits = FALSE)
  internal <- own & !methods[, 1L] %in% exported
  # Code outside of the package may have registered functions, which have no names.
  named <- unlist(Filter(is.character, methods[!internal, 3L]))
  Filter(is.function, mget(c(exported, named), space, ifnotfound = list(NULL)))
}
