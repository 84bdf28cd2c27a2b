# Argument checks. Each error names the argument, what it must be, what it is, and,
# where that helps, what to do about it.

#' Raise an error about an argument
#'
#' @param arg Name of the argument, as the user typed it.
#' @param must What it must be, completing "`arg` must be ...".
#' @param is What it is instead.
#' @param hint What to do about it, or `NULL`.
#' @param call The user-facing call.
#' @noRd
abort_arg <- function(arg, must, is = NULL, hint = NULL, call = rlang::caller_env()) {
  # The parts are data, not templates: braces in a file name or unit must survive.
  bullets <- c(
    paste0("{.arg ", escape_braces(shorten(arg)), "} must be ", escape_braces(must), "."),
    if (!is.null(is)) c(x = paste0("It is ", escape_braces(is), ".")),
    if (!is.null(hint)) c(i = escape_braces(hint))
  )
  cli::cli_abort(bullets, class = c("synfire_error_argument", "synfire_error"), call = call)
}

#' Text as a template of cli, cut where it is too long to be read
#' @noRd
escape_braces <- function(text) {
  text <- shorten(printable(text))
  gsub("}", "}}", gsub("{", "{{", text, fixed = TRUE), fixed = TRUE)
}

#' Long text without its middle, as an argument may be a whole file
#' @noRd
shorten <- function(text, most = 1000L) {
  long <- !is.na(text) & nchar(text) > most
  cut <- text[long]
  half <- most %/% 2L
  text[long] <- sprintf("%s ... (%s characters) ... %s", substr(cut, 1L, half), commas(nchar(cut) - most),
                        substring(cut, nchar(cut) - half + 1L))
  text
}

#' Text that can be shown, whatever its bytes are
#' @noRd
printable <- function(text) {
  text <- enc2utf8(as.character(text))
  bad <- !validUTF8(text)
  text[bad] <- iconv(text[bad], "ASCII", "ASCII", sub = "byte")
  text
}

#' What a value is, in a few words, for the "It is ..." line of an error
#' @noRd
describe <- function(x) {
  if (missing(x)) return("missing")
  if (is.null(x)) return("NULL")
  if (is.data.frame(x)) return(sprintf("a data frame with %d columns", ncol(x)))
  if (is.function(x)) return("a function")
  if (is.environment(x)) return("an environment")
  if (is.language(x)) return("an unevaluated expression")
  if (is.object(x) && !is.factor(x) || isS4(x)) {
    return(sprintf("an object of class %s", class(x)[[1L]]))
  }
  if (is.list(x)) return(sprintf("a list of %d", length(x)))
  if (!is.atomic(x)) return(sprintf("of type %s", typeof(x)))
  if (is.matrix(x)) return(sprintf("a %s matrix of %d x %d", kind_of(x[0L]), nrow(x), ncol(x)))
  if (length(x) != 1L) return(sprintf("a %s vector of length %d", kind_of(x), length(x)))
  if (is.na(x) && !is.nan(x)) return("NA")
  if (is.character(x)) return(encodeString(shorten(printable(x), 300L), quote = "\""))
  if (is.factor(x)) return("a factor")
  format(x, digits = 10)
}

kind_of <- function(x) {
  if (is.factor(x)) return("factor")
  if (is.numeric(x)) return("numeric")
  class(x)[[1L]]
}

#' Whether a value holds numbers as R has them
#'
#' A class may hide another meaning: the doubles of `bit64::integer64` are no such numbers.
#' @noRd
is_plain_numeric <- function(x) is.numeric(x) && !is.object(x)

#' One finite number within [min, max]
#' @noRd
check_number <- function(x, arg = rlang::caller_arg(x), min = -Inf, max = Inf,
                         above = -Inf, call = rlang::caller_env()) {
  ok <- is_plain_numeric(x) && length(x) == 1L && is.finite(x) && x >= min && x <= max &&
    x > above
  if (!ok) abort_arg(arg, paste0("a finite number", bounds_text(min, max, above)),
                     describe(x), call = call)
  as.double(x)
}

#' One whole number within [min, max]; `Inf` where `infinite`
#' @noRd
check_count <- function(x, arg = rlang::caller_arg(x), min = 1, max = Inf,
                        infinite = FALSE, call = rlang::caller_env()) {
  ok <- is_plain_numeric(x) && length(x) == 1L && !is.na(x) && x >= min && x <= max &&
    (is.finite(x) && x == round(x) || infinite && x == Inf)
  if (!ok) abort_arg(arg, paste0("a whole number", bounds_text(min, max), if (infinite) ", or Inf"),
                     describe(x), call = call)
  as.double(x)
}

#' TRUE or FALSE
#' @noRd
check_flag <- function(x, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (!(is.logical(x) && length(x) == 1L && !is.na(x))) {
    abort_arg(arg, "TRUE or FALSE", describe(x), call = call)
  }
  x
}

#' One non-missing string
#' @noRd
check_string <- function(x, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (!(is.character(x) && length(x) == 1L && !is.na(x))) {
    abort_arg(arg, "one string", describe(x), call = call)
  }
  x
}

#' One of the strings that an argument may be
#'
#' @param choices By default those that the argument's own default lists. An argument that
#'   was left at that default is the first of them.
#' @noRd
check_choice <- function(x, choices = NULL, arg = rlang::caller_arg(x),
                         call = rlang::caller_env()) {
  if (is.null(choices)) {
    choices <- eval(formals(sys.function(sys.parent()))[[arg]])
    if (identical(x, choices)) return(choices[[1L]])
  }
  if (!(is.character(x) && length(x) == 1L && !is.na(x) && x %in% choices)) {
    quoted <- paste0("\"", choices, "\"")
    last <- length(quoted)
    abort_arg(arg, paste(toString(quoted[-last]), "or", quoted[[last]]), describe(x),
              call = call)
  }
  as.character(x)
}

#' Error unless every argument without a default was given, each by the name it has here
#'
#' To be called first by a function that users call.
#'
#' @param ... What an argument must be, by its name; for the others "given".
#' @noRd
check_given <- function(..., call = rlang::caller_env()) {
  must <- list(...)
  frame <- sys.parent()
  defaults <- formals(sys.function(frame))
  check_argument_names(names(sys.call(frame)), names(defaults), call)
  needed <- names(defaults)[vapply(defaults, identical, logical(1), quote(expr = ))]
  for (arg in setdiff(needed, "...")) {
    if (eval(call("missing", as.name(arg)), call)) {
      abort_arg(arg, must[[arg]] %||% "given", "missing", call = call)
    }
  }
}

#' Error unless `...` of the calling function is empty: a misspelt argument ends up there
#' @noRd
check_no_dots <- function(call = rlang::caller_env(), dots = rlang::caller_env()) {
  n <- eval(quote(...length()), dots)
  if (n == 0L) return(invisible())
  name <- eval(quote(...names()), dots)
  name <- if (is.null(name) || is.na(name[[1L]]) || name[[1L]] == "") "..." else name[[1L]]
  known <- setdiff(names(formals(sys.function(sys.parent()))), "...")
  check_argument_names(name, known, call)
  abort_arg(name, if (name == "...") "empty" else "an argument of this function",
            if (name == "...") paste(counted(n, "value"), "without a name") else "none",
            sprintf("Its arguments are %s.", toString(known)), call = call)
}

# What arguments were called before version 0.2.0.
former_arguments <- c(
  min_occ = "min_count", max_occ = "max_count", window = "window_bins",
  n = "n_surrogates", surrogates = "n_surrogates", method = "surrogate"
)

# What Elephant calls the arguments of its functions for patterns.
elephant_arguments <- c(
  spiketrains = "`x`", binsize = "`bin_size`", winlen = "`window_bins`",
  n_surr = "`n_surrogates`", surr_method = "`surrogate`", stat_corr = "`correction`",
  min_neu = "`min_units`", psr_param = "`h`, `k` and `l`",
  approx_stab_pars = "`stability`",
  refractory_period = "`refractory`", sliding = "`surrogate = \"sliding_shuffle\"`"
)

# Arguments that are gone, by one that their functions still have, and why.
dropped_arguments <- list(
  resume = c("file", "The same call goes on with what is in `file`.")
)

#' Error where an argument has the name that it had in earlier versions, or that Elephant
#' gives it
#'
#' @param given Names of arguments as the user typed them.
#' @param known Names that the arguments of the function have.
#' @noRd
check_argument_names <- function(given, known, call = rlang::caller_env()) {
  given <- setdiff(given, c(known, ""))
  if (length(given) == 0L) return(invisible())
  former <- intersect(given, names(former_arguments)[former_arguments %in% known])
  if (length(former) > 0L) {
    abort_arg(former[[1L]], sprintf("given as `%s`", former_arguments[[former[[1L]]]]),
              "the name that it had before version 0.2.0", call = call)
  }
  dropped <- Filter(\(arg) dropped_arguments[[arg]][[1L]] %in% known,
                    intersect(given, names(dropped_arguments)))
  if (length(dropped) > 0L) {
    abort_arg(dropped[[1L]], "left out", "given",
              dropped_arguments[[dropped[[1L]]]][[2L]], call = call)
  }
  theirs <- intersect(given, names(elephant_arguments))
  if (length(theirs) > 0L) {
    abort_arg(theirs[[1L]], sprintf("given as %s", elephant_arguments[[theirs[[1L]]]]),
              "what Elephant calls it", call = call)
  }
}

#' Error unless a table of ours still has these columns, each as long as the table
#'
#' Other code can change a data frame and keep its class.
#'
#' @param from The function that made the table.
#' @noRd
check_table <- function(x, columns, from, arg = rlang::caller_arg(x),
                        call = rlang::caller_env()) {
  parts <- if (is.list(x)) unclass(x)
  lost <- setdiff(columns, names(parts))
  if (is.data.frame(x) && length(lost) == 0L &&
        all(lengths(parts[columns]) == .row_names_info(x, 2L))) {
    return(invisible(x))
  }
  abort_arg(arg, sprintf("what `%s()` gives", from),
            if (length(lost)) sprintf("one without its column `%s`", lost[[1L]]) else
              "one whose columns were changed",
            "`as.data.frame()` gives a table to change.", call = call)
}

bounds_text <- function(min, max, above = -Inf) {
  number <- function(v) format(v, big.mark = ",", digits = 10, scientific = v != 0 && abs(v) < 1e-4)
  if (is.finite(above) && is.finite(max)) {
    return(paste(" above", number(above), "and at most", number(max)))
  }
  if (is.finite(above)) return(paste(" above", number(above)))
  if (is.finite(min) && is.finite(max)) return(paste(" from", number(min), "to", number(max)))
  if (is.finite(min)) return(paste(" of at least", number(min)))
  if (is.finite(max)) return(paste(" of at most", number(max)))
  ""
}
