# A result with a column that was changed, or taken away (NULL), by code that knows nothing
# of our classes and leaves the class where it is.
changed_by_other_code <- function(x, column, value) {
  about <- attributes(x)
  parts <- unclass(x)
  parts[[column]] <- value
  about$names <- names(parts)
  attributes(parts) <- about
  parts
}
