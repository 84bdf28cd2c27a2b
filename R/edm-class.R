# Tables of empirical dynamic modelling: what is predicted, and skill against a parameter.

#' @param frame Data frame.
#' @param class Class before "edm": "edm_prediction" or "edm_skill".
#' @param method What made it, for people: "Simplex".
#' @param parameters Named list of what was used, defaults filled in.
#' @param begun What check_given() returned.
#' @param ... More attributes.
#' @noRd
new_edm <- function(frame, class, method, parameters, begun, ...) {
  refuse_if(anyDuplicated(names(frame)), "x",
            "a data frame whose times have another name than a column of the result",
            sprintf("one where they are called \"%s\"", names(frame)[[1L]]))
  # What printing says of all rows; with millions it takes a while.
  error <- if (class == "edm_prediction") error_frame(frame$Observations, frame$Predictions)
  new_table(frame, c(class, "edm"),
            list(method = method, parameters = parameters, call = begun$call,
                 elapsed = proc.time()[["elapsed"]] - begun$began, error = error, ...))
}

#' A table of skill against one parameter, its first column
#' @noRd
new_edm_skill <- function(frame, parameters, begun) {
  best <- frame[c(which.max(frame$rho), NA)[[1L]], setdiff(names(frame), "rho"), drop = FALSE]
  new_edm(frame, "edm_skill", "Skill", parameters, begun,
          optimal = if (length(best) > 1L) unlist(best) else best[[1L]])
}

# What columns of tables of skill were called up to version 0.3.0.
former_columns <- c(theta = "Theta", exclusion_radius = "ExclusionRadius")

#' A column of a table of skill, also under the name that it had before
#' @noRd
skill_column <- function(x, name) {
  now <- if (rlang::is_string(name) && !name %in% names(x)) former_columns[name]
  if (is.null(now) || !now %in% names(x)) return(.subset2(x, name))
  warn_about("column", "The column {.field {name}} is called {.field {now}}, as in rEDM.",
             i = "A later version will not know the former name.")
  .subset2(x, now)
}

#' @export
`$.edm_skill` <- function(x, name) skill_column(x, name)

#' @export
`[[.edm_skill` <- function(x, i, ...) {
  if (...length()) NextMethod() else skill_column(x, i)
}

#' Stop where a result has lost what its methods need
#'
#' @param parts Names that it must have; `held`, attributes.
#' @noRd
check_whole_result <- function(x, parts = character(), held = character(), arg = "x") {
  lost <- c(setdiff(parts, names(x)), setdiff(held, names(attributes(x))))
  refuse_if(length(lost), arg, sprintf("a whole result of class %s", class(x)[[1L]]),
            sprintf("one without its %s", lost[[1L]]),
            "Verbs for tables may drop it: work on `as.data.frame()` of the result.")
}

#' Tables of empirical dynamic modelling
#'
#' What [simplex()] and the functions that sweep a parameter return are data frames that
#' know how they were made.
#'
#' @param x,object A table of predictions or of skill.
#' @param n How many rows to print.
#' @param ... For `[`, rows and columns; else not used, must be empty.
#'
#' @return
#' `format()` gives lines that say what it is, which `print()` shows above the first rows.
#' `summary()` gives a data frame of one row: for predictions their number and
#' [prediction_error()]; for skill the value of the parameter with the highest rho, the
#' first of several, and that rho. `[` keeps the class as long as no column is lost, and
#' `as.data.frame()` gives a plain data frame.
#'
#' Attributes: `parameters` (list, defaults filled in), `call`, `elapsed` (s); for skill
#' also `optimal`, that value of the parameter (`NA` if there is no skill at all); for
#' predictions with `include_state = TRUE` also `state` (see [simplex()]).
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`.
#' @seealso [simplex()], [embed_dimension()].
#' @examples
#' x <- data.frame(time = 1:200, x = sin(1:200 / 3) + cos(1:200 / 7))
#' found <- simplex(x, E = 3, threads = 2)
#' found
#' summary(found)
#' @name edm_tables
#' @aliases edm_prediction edm_skill
NULL

#' @rdname edm_tables
#' @export
format.edm_prediction <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, c("Observations", "Predictions"), "parameters")
  whole <- identical(attr(x, "rows", exact = TRUE), nrow(x))
  error <- (if (whole) attr(x, "error", exact = TRUE)) %||% prediction_error(x)
  c(sprintf("%s: %s of %s rows predicted, %s", attr(x, "method"),
            commas(sum(!is.na(x$Predictions))), commas(nrow(x)), parameters_text(x)),
    sprintf("rho %s, MAE %s, RMSE %s", edm_number(error$rho), edm_number(error$MAE),
            edm_number(error$RMSE)))
}

#' @rdname edm_tables
#' @export
format.edm_skill <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, "rho", "parameters")
  by <- setdiff(own_columns(x), "rho")
  best <- summary(x)
  at <- paste(by, vapply(best[by], edm_number, ""))
  against <- paste(c(toString(utils::head(by, -1L)), utils::tail(by, 1L))[c(length(by) > 1L, TRUE)],
                   collapse = " and ")
  c(sprintf("Skill against %s, %s", against, parameters_text(x)),
    sprintf("Highest rho %s at %s", edm_number(best$rho), toString(at)))
}

#' @rdname edm_tables
#' @export
print.edm <- function(x, n = 10, ...) {
  check_no_dots()
  n <- check_count(n, infinite = TRUE)
  cat(format(x), "", sep = "\n")
  print(first_rows(x, n), row.names = FALSE)
  if (nrow(x) > n) cat(sprintf("... and %s more rows\n", commas(nrow(x) - n)))
  invisible(x)
}

#' @rdname edm_tables
#' @export
summary.edm_prediction <- function(object, ...) {
  check_no_dots()
  check_whole_result(object, c("Observations", "Predictions"), arg = "object")
  cbind(data.frame(rows = nrow(object), predicted = sum(!is.na(object$Predictions))),
        prediction_error(object))
}

#' @rdname edm_tables
#' @export
summary.edm_skill <- function(object, ...) {
  check_no_dots()
  check_whole_result(object, "rho", arg = "object")
  best <- which.max(object$rho)
  if (length(best) == 0L) best <- NA_integer_
  out <- plain_table(object)[best, , drop = FALSE]
  row.names(out) <- NULL
  out
}

edm_number <- function(x) format(x, digits = 4)

#' "x -> y, E 3, tau -1, Tp 1"
#' @noRd
parameters_text <- function(x) {
  parameters <- attr(x, "parameters")
  single <- Filter(\(p) is.numeric(p) && length(p) == 1L, parameters)
  single <- single[setdiff(names(single), c("library", "predicted", own_columns(x)))]
  paste0(toString(parameters$columns), " -> ", toString(parameters$target),
         paste0(", ", names(single), " ", vapply(single, edm_number, ""), collapse = ""))
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.edm_skill <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, "rho")
  more <- own_columns(x)[-1L]
  tidy_frame(term = paste(names(x)[[1L]], format_each(x[[1L]])), value = x[[1L]],
             estimate = x$rho, tau = if ("tau" %in% more) x$tau, Tp = if ("Tp" %in% more) x$Tp)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.edm_prediction <- function(x, ...) {
  check_no_dots()
  about <- summary(x)
  tidy_frame(nobs = about$predicted, rho = about$rho, MAE = about$MAE, RMSE = about$RMSE)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.edm_skill <- function(x, ...) {
  check_no_dots()
  best <- summary(x)
  more <- own_columns(x)[-1L]
  tidy_frame(parameter = names(x)[[1L]], best = best[[1L]], rho = best$rho,
             tau = if ("tau" %in% more) best$tau, Tp = if ("Tp" %in% more) best$Tp)
}

#' @rdname tidiers
#' @exportS3Method generics::augment
augment.edm_prediction <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, c("Observations", "Predictions"))
  columns <- as.list(plain_table(x))[setdiff(names(x), "Predictions")]
  do.call(tidy_frame, c(columns, list(.fitted = x$Predictions,
                                      .resid = x$Observations - x$Predictions)))
}

two <- function(x) formatC(x, digits = 2L, format = "f")

short_number <- function(x) formatC(x, digits = 1L, format = "f")

mean_known <- function(x) if (all(is.na(x))) NA_real_ else mean(x, na.rm = TRUE)
