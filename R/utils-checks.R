# Argument checks. Each error names the argument, what it must be, what it is, and,
# where that helps, what to do about it.

#' Raise an error about an argument
#'
#' @param arg Name of the argument, as the user typed it.
#' @param must What it must be, completing "`arg` must be ...".
#' @param is What it is instead.
#' @param hint What to do about it, or `NULL`.
#' @param call The frame of the function that the error names.
#' @noRd
abort_arg <- function(arg, must, is = NULL, hint = NULL, call = user_frame()) {
  # The parts are data, not templates: braces in a file name or unit must survive.
  bullets <- c(paste0("{.arg ", escape_braces(shorten(arg)), "} must be ", escape_braces(must),
                      "."), if (!is.null(is)) c(x = paste0("It is ", escape_braces(is), ".")),
               if (!is.null(hint)) c(i = escape_braces(hint)))
  abort_about("argument", bullets, call = call)
}

#' Raise an error about an argument if something is wrong with it
#'
#' The other arguments are evaluated only then, so they may take what is wrong for granted.
#'
#' @param wrong TRUE or FALSE.
#' @noRd
refuse_if <- function(wrong, arg, must, is = NULL, hint = NULL, call = user_frame()) {
  if (wrong) abort_arg(arg, must, is, hint, call)
}

#' Whether a value holds numbers as R has them
#'
#' A class may hide another meaning: the doubles of `bit64::integer64` are no such numbers.
#' @noRd
is_plain_numeric <- function(x) is.numeric(x) && !is.object(x)

is_number <- function(x) is_plain_numeric(x) && length(x) == 1L && !is.na(x)

#' One finite number within [min, max]
#' @noRd
check_number <- function(x, arg = rlang::caller_arg(x), min = -Inf, max = Inf,
                         above = -Inf, call = user_frame()) {
  ok <- is_number(x) && is.finite(x) && x >= min && x <= max && x > above
  if (!ok) abort_arg(arg, paste0("a finite number", bounds_text(min, max, above)),
                     describe(x), call = call)
  as.double(x)
}

#' One whole number within [min, max]; `Inf` where `infinite`
#' @noRd
check_count <- function(x, arg = rlang::caller_arg(x), min = 1, max = Inf,
                        infinite = FALSE, call = user_frame()) {
  ok <- is_number(x) && x >= min && x <= max &&
    (is.finite(x) && x == round(x) || infinite && x == Inf)
  if (!ok) abort_arg(arg, paste0("a whole number", bounds_text(min, max), if (infinite) ", or Inf"),
                     describe(x), call = call)
  as.double(x)
}

#' TRUE or FALSE
#' @noRd
check_flag <- function(x, arg = rlang::caller_arg(x), call = user_frame()) {
  refuse_if(!(is.logical(x) && length(x) == 1L && !is.na(x)), arg, "TRUE or FALSE", describe(x),
            call = call)
  x
}

#' One non-missing string
#' @noRd
check_string <- function(x, arg = rlang::caller_arg(x), call = user_frame()) {
  refuse_if(!(is.character(x) && length(x) == 1L && !is.na(x)), arg, "one string", describe(x),
            call = call)
  x
}

#' One of the strings that an argument may be
#'
#' @param choices By default those that the argument's own default lists. An argument that
#'   was left at that default is the first of them; `x` is then its name.
#' @noRd
check_choice <- function(x, choices = NULL, arg = rlang::caller_arg(x), call = user_frame()) {
  if (is.null(choices)) {
    choices <- eval(formals(sys.function(sys.parent()))[[as.character(substitute(x))]])
    if (identical(x, choices)) return(choices[[1L]])
  }
  if (!(is.character(x) && length(x) == 1L && !is.na(x) && x %in% choices)) {
    quoted <- paste0("\"", choices, "\"")
    last <- length(quoted)
    abort_arg(arg, paste(toString(quoted[-last]), "or", quoted[[last]]), describe(x), call = call)
  }
  as.character(x)
}

#' A choice by itself, or a list of it and options by their names, as a list with all names
#'
#' @param main The name of the choice, which may be left out.
#' @noRd
check_with_options <- function(given, arg, main, options, must, hint) {
  if (!is.list(given)) given <- list(given)
  names <- names(given) %||% rep("", length(given))
  names[names == ""] <- main
  sound <- sum(names == main) == 1L && !anyDuplicated(names) && all(names %in% c(main, options))
  refuse_if(!sound, arg, must, "another list", hint)
  rlang::set_names(given, names)
}

#' Error unless every argument without a default was given, each by the name it has here
#'
#' To be called first by a function that users call.
#'
#' @param ... What an argument must be, by its name; for the others "given".
#' @return List: the user's `call`, as match.call() gives it, and when it `began`.
#' @noRd
check_given <- function(..., call = rlang::caller_env()) {
  must <- list(...)
  frame <- sys.parent()
  given <- match.call(sys.function(frame), sys.call(frame), envir = parent.frame(2L))
  begun <- list(call = given, began = proc.time()[["elapsed"]])
  defaults <- formals(sys.function(frame))
  check_argument_names(names(sys.call(frame)), names(defaults))
  for (arg in names(defaults)[vapply(defaults, is.name, NA)]) {
    if (arg == "..." || !identical(defaults[[arg]], quote(expr = ))) next
    refuse_if(eval(call("missing", as.name(arg)), call), arg, must[[arg]] %||% "given", "missing")
  }
  invisible(begun)
}

#' Error unless `...` of the calling function is empty: a misspelt argument ends up there
#'
#' @param draws What the function draws with ggplot2, if it does.
#' @param but Names of arguments that may be in `...` all the same.
#' @param frame Number of the frame of that function.
#' @noRd
check_no_dots <- function(call = user_frame(), dots = rlang::caller_env(), draws = NULL,
                          but = NULL, frame = sys.parent()) {
  if (!is.null(draws)) rlang::check_installed("ggplot2", sprintf("to draw %s.", draws), call = call)
  n <- eval(quote(...length()), dots)
  if (n == 0L) return(invisible())
  given <- eval(quote(...names()), dots) %||% rep("", n)
  given <- given[!given %in% but]
  if (length(given) == 0L) return(invisible())
  name <- if (is.na(given[[1L]]) || given[[1L]] == "") "..." else given[[1L]]
  known <- setdiff(names(formals(sys.function(frame))), "...")
  check_argument_names(name, known)
  abort_arg(name, if (name == "...") "empty" else "an argument of this function",
            if (name == "...") paste(counted(n, "value"), "without a name") else "none",
            sprintf("Its arguments are %s.", toString(known)), call = call)
}

# What arguments were called before version 0.2.0.
former_arguments <- c(min_occ = "min_count", max_occ = "max_count", window = "window_bins",
                      n = "n_surrogates", surrogates = "n_surrogates", method = "surrogate")

# What Elephant calls the arguments of its functions for patterns.
elephant_arguments <- c(
  spiketrains = "`x`", binsize = "`bin_size`", winlen = "`window_bins`",
  n_surr = "`n_surrogates`", surr_method = "`surrogate`", stat_corr = "`correction`",
  min_neu = "`min_units`", psr_param = "`h`, `k` and `l`, of `spade()` in `reduction`",
  approx_stab_pars = "`stability`",
  refractory_period = "`refractory`", sliding = "`surrogate = \"sliding_shuffle\"`"
)

# Arguments that are gone, by one that their functions still have, and why.
dropped_arguments <- list(
  resume = c("file", "The same call goes on with what is in `file`."),
  h = c("reduction", "Give `reduction = list(\"combined\", h = 1)`."),
  k = c("reduction", "Give `reduction = list(\"combined\", k = 1)`."),
  l = c("reduction", "Give `reduction = list(\"combined\", l = 1)`."),
  closed_within = c("mining", "Give `mining = list(closed_within = \"max_spikes\")`."),
  shifted_subsets = c("mining", "Give `mining = list(shifted_subsets = \"drop\")`."),
  engine = c("mining", "Give `mining = list(engine = \"fpgrowth\")`.")
)

#' Error where an argument has the name that it had in earlier versions, or that Elephant
#' gives it
#'
#' @param given Names of arguments as the user typed them.
#' @param known Names that the arguments of the function have.
#' @noRd
check_argument_names <- function(given, known) {
  if (all(given %in% c(known, ""))) return(invisible())
  given <- setdiff(given, c(known, ""))
  former <- intersect(given, names(former_arguments)[former_arguments %in% known])
  refuse_if(length(former) > 0L, former[[1L]],
            sprintf("given as `%s`", former_arguments[[former[[1L]]]]),
            "the name that it had before version 0.2.0")
  dropped <- Filter(\(arg) dropped_arguments[[arg]][[1L]] %in% known,
                    intersect(given, names(dropped_arguments)))
  refuse_if(length(dropped) > 0L, dropped[[1L]], "left out", "given",
            dropped_arguments[[dropped[[1L]]]][[2L]])
  theirs <- intersect(given, names(elephant_arguments))
  refuse_if(length(theirs) > 0L, theirs[[1L]],
            sprintf("given as %s", elephant_arguments[[theirs[[1L]]]]), "what Elephant calls it")
}

#' Error unless a table of ours still has these columns, each as long as the table
#'
#' Other code can change a data frame and keep its class.
#'
#' @param from The function that made the table.
#' @noRd
check_table <- function(x, columns, from, arg = rlang::caller_arg(x)) {
  parts <- if (is.list(x)) unclass(x)
  lost <- setdiff(columns, names(parts))
  if (is.data.frame(x) && length(lost) == 0L &&
        all(lengths(parts[columns]) == .row_names_info(x, 2L))) {
    return(invisible(x))
  }
  abort_arg(arg, sprintf("what `%s()` gives", from),
            if (length(lost)) sprintf("one without its column `%s`", lost[[1L]]) else
              "one whose columns were changed", "`as.data.frame()` gives a table to change.")
}

#' Stop where a table of ours was changed
#' @param from The function that makes such tables.
#' @noRd
refuse_changed <- function(sound, arg, from) {
  refuse_if(!sound, arg, sprintf("what `%s()` gives", from), "one that was changed",
            "`as.data.frame()` gives a table to change.")
}

#' One string that the system can take as a path
#' @noRd
check_path <- function(path, arg, call = user_frame(), of = "a file") {
  must <- paste("one string, the path of", of)
  refuse_if(is.character(path) && length(path) == 1L && !is.na(path) &&
              is.na(nchar(path, "chars", allowNA = TRUE)), arg, must,
            "text with bytes that are none in its encoding", call = call)
  check_string(path, arg, call = call)
  if (!nzchar(path)) abort_arg(arg, must, "\"\"", call = call)
  refuse_if(nchar(path, "bytes") > 4095L, arg, must,
            sprintf("text of %s bytes, which no path has", commas(nchar(path, "bytes"))),
            call = call)
}

#' Stop where a matrix of doubles would take too much
#'
#' @param arg The argument that decides it, which has to be `smaller`.
#' @noRd
check_room <- function(rows, columns, arg, smaller, most = 4e9) {
  bytes <- 8 * as.double(rows) * columns
  refuse_if(bytes > most, arg,
            sprintf("%s for a result of at most %s", smaller, bytes_text(most)),
            sprintf("such that %s would be needed", bytes_text(bytes)))
}

#' Raise an error about a file
#'
#' @param what Completes "Cannot read FILE: ...".
#' @noRd
abort_file <- function(file, what, hint = NULL, call = user_frame()) {
  # It may name parts of a damaged file.
  what <- printable(what)
  abort_about("file", paste0("Cannot read {.file ", escape_braces(file), "}."),
              x = escape_braces(paste0(toupper(substr(what, 1, 1)), substring(what, 2), ".")),
              if (!is.null(hint)) c(i = escape_braces(hint)), call = call)
}

#' A function that raises an error about this file, for readers of its parts
#' @noRd
failing <- function(file) \(what, hint = NULL) abort_file(file, what, hint)

#' Raise an error about a file if something is wrong with it, as refuse_if() does
#' @noRd
refuse_file_if <- function(wrong, file, what, hint = NULL, call = user_frame()) {
  if (wrong) abort_file(file, what, hint, call)
}

check_min_count <- function(min_count, min_support, events) {
  refuse_if(is.null(min_count) == is.null(min_support), "min_count",
            "given, or else `min_support`",
            if (is.null(min_count)) "missing, and so is `min_support`" else
              "given together with `min_support`")
  if (!is.null(min_count)) return(check_count(min_count, "min_count"))
  refuse_if(is_number(min_support) && min_support > 1, "min_support",
            "a share, above 0 and at most 1", describe(min_support),
            "Give a number of them as `min_count`.")
  min_support <- check_number(min_support, "min_support", max = 1, above = 0)
  least_count(min_support, events)
}

#' Groups as a factor named by series, or NULL
#' @noRd
check_groups <- function(groups, series) {
  if (is.null(groups)) return(NULL)
  wanted <- sprintf("a group for each of %s, in their order or named", counted(
    length(series), "series", "series"))
  refuse_if(!is.atomic(groups) || is.null(names(groups)) && length(groups) != length(series),
            "groups", wanted, describe(groups))
  at <- if (is.null(names(groups))) seq_along(series) else match(series, names(groups))
  missing <- is.na(at) | is.na(groups[at])
  refuse_if(any(missing), "groups", wanted,
            sprintf("without one for \"%s\"", series[missing][[1L]]))
  groups <- if (is.factor(groups)) groups else factor(groups, unique(groups))
  rlang::set_names(droplevels(groups[at]), series)
}

#' The least count, from 1, whose quotient reaches `share`, as the quotient is computed
#' @noRd
least_count <- function(share, of) {
  count <- max(1, ceiling(share * of) - 1)
  while (count / max(1, of) < share) count <- count + 1
  count
}
