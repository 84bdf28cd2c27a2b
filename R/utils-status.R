# How work in C that did not end well becomes an R condition.

#' Return a result, or raise what stopped it
#'
#' C entries return an object of class `synfire_status` when they did not finish; all
#' their memory is free by then, so raising is safe here.
#'
#' @param result What `.Call()` returned.
#' @param doing What the user asked for, completing "Not enough memory for ...".
#' @param advice How to need less, one sentence each; shown with memory errors and limits.
#' @param limit_of What is too large for `too_large`, in the plural ("spikes").
#' @param call The user-facing call.
#' @noRd
finish_status <- function(result, doing, advice = NULL, limit_of = "elements",
                          call = user_frame()) {
  if (!inherits(result, "synfire_status")) return(result)
  if (result$status == "interrupted") rlang::interrupt()
  needed <- result$needed
  limit <- result$limit
  hints <- if (length(advice) > 0L) rlang::set_names(escape_braces(advice), "i")
  doing <- escape_braces(doing)
  # What a device says goes before what is known here.
  reason <- if (nzchar(result$reason)) c(x = paste0(escape_braces(result$reason), "."))
  bullets <- switch(
    result$status,
    no_device = c(paste0("No GPU for ", doing, "."), reason,
                  i = "Use {.code device = \"cpu\"}; {.fn synfire_sitrep} says what there is."),
    no_memory = c(
      paste0("Not enough memory for ", doing, "."),
      if (!is.na(needed)) c(x = paste0("About ", bytes_text(needed), " could not be had.")),
      reason, hints
    ),
    over_budget = c(
      paste0("The memory budget is too small for ", doing, "."),
      reason %||% c(x = paste0(
        if (is.na(needed)) "More than the budget" else paste("About", bytes_text(needed)),
        " would be needed",
        if (is.na(limit)) "." else paste0("; {.arg max_memory} is ", bytes_text(limit), ".")
      )),
      hints, i = "Or raise {.arg max_memory} where the machine has more."
    ),
    too_large = c(
      paste0("The input is too large for ", doing, "."),
      reason %||% if (!is.na(limit)) c(x = paste0(
        "At most ", commas(limit), " ", escape_braces(limit_of), " can be handled",
        if (!is.na(needed)) paste0(", not ", commas(needed)), "."
      )),
      hints
    ),
    rlang::abort(paste0("Unexpected status \"", result$status, "\"."), .internal = TRUE)
  )
  kind <- c(no_device = "device", no_memory = "memory", over_budget = "budget",
            too_large = "too_large")[[result$status]]
  abort_about(kind, bullets, call = call)
}

#' Whether progress is written in lines, as output that goes into a file is
#'
#' The compiled code asks this as well.
#' @noRd
progress_in_lines <- function() {
  handlers <- c("cli.progress_handlers_only", "cli.progress_handlers_force")
  chosen <- !all(vapply(handlers, \(name) is.null(getOption(name)), NA))
  !chosen && !cli::is_dynamic_tty() && !identical(Sys.getenv("RSTUDIO"), "1")
}

#' Lines about the progress of work: one after ten seconds, then one a minute
#'
#' @return A function that adds to what is done.
#' @noRd
line_progress <- function(title, total, now = \() proc.time()[["elapsed"]]) {
  done <- 0
  began <- now()
  next_line <- began + max(10, getOption("cli.progress_show_after", 2))
  function(n) {
    done <<- done + n
    if (now() < next_line) return(invisible())
    next_line <<- now() + 60
    message(sprintf("%s, %.0f %%, after %.0f s", title, 100 * done / total, now() - began))
  }
}

#' A progress bar, and no other until `frame` ends; the function it gives adds to it
#'
#' Work that ends within 0.2 s has no bar, as making one takes as long as a small map.
#' @noRd
common_bar <- function(title, total, frame = parent.frame()) {
  # Its parts are too short for bars of their own.
  before <- options(cli.progress_show_after = Inf)
  do.call(on.exit, list(as.call(list(options, before)), add = TRUE, after = FALSE), envir = frame)
  began <- proc.time()[["elapsed"]]
  waiting <- 0
  tell <- NULL
  function(n) {
    waiting <<- waiting + n
    if (proc.time()[["elapsed"]] - began < 0.2) return(invisible())
    tell <<- tell %||% rlang::with_options(first_bar(title, total, frame), !!!before)
    tell(waiting)
    waiting <<- 0
  }
}

#' @return A function that adds to what is done, in lines or as a bar of cli.
#' @noRd
first_bar <- function(title, total, frame) {
  if (progress_in_lines()) return(line_progress(title, total))
  id <- cli::cli_progress_bar(title, total = total, .envir = frame)
  function(n) cli::cli_progress_update(n, id = id, .envir = frame)
}

# The progress bar calls cli from C, where it is found only once its namespace is loaded.
#' @importFrom cli cli_progress_bar
NULL

#' Refuse what the compiled code found not to be what it must be
#'
#' The last check of all, called from there: it sees what was changed behind an object's
#' back, and what a mistake in this package lets through.
#'
#' @param what What is wrong, in the words of the compiled code.
#' @noRd
refuse_given <- function(what) {
  abort_about(
    "argument", "What was given cannot be used: there is something wrong with its {what}.",
    i = "An object of synfire that other code changed is made anew by the function it is from.",
    i = "Otherwise this is a mistake in synfire: please report how it came about.", call = NULL
  )
}

#' Refuse an option that this package gave to its own compiled code
#'
#' The user's arguments are checked long before, so this is no fault of the user's, and no
#' `synfire_error`, which says what to do about an argument.
#'
#' @param name Of the option.
#' @param value What was given.
#' @param needed What it must be.
#' @noRd
refuse_option <- function(name, value, needed) {
  cli::cli_abort(c(
    "synfire made a mistake: it gave its compiled code an option {.arg {name}} that is wrong.",
    x = "It must be {needed}, and is {describe(value)}.",
    i = "Please report how this came about; your arguments are not to blame."
  ), class = "synfire_mistake", call = NULL)
}

#' The error of the compiled code where there is no memory
#' @noRd
refuse_memory <- function(needed) {
  finish_status(new_status("no_memory", needed), "this work", "Work on less at a time.",
                call = NULL)
}

#' Error for work that needs more than `max_memory`, raised before it begins
#' @noRd
check_budget <- function(needed, max_memory, doing, advice) {
  if (needed <= max_memory) return(invisible())
  finish_status(new_status("over_budget", needed, max_memory), doing, advice)
}

#' What the compiled code returns when it did not end well
#' @noRd
new_status <- function(status, needed = NA_real_, limit = NA_real_, reason = "") {
  structure(list(status = status, needed = needed, limit = limit, reason = reason),
            class = "synfire_status")
}
