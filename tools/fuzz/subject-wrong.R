# Wrong calls of every function and method: in a small valid call (small_calls.R), one
# argument after the other is replaced by each odd value, left out, replaced by a result of
# another function, or by a result that was tampered with. Right is a value, or an error of
# the package's own that names the argument; a value that can never be right is refused.

# Odd values (draw.R) that no argument may be.
never_valid <- c("function", "builtin", "environment", "s4", "expression", "call", "symbol",
                 "complex", "raw", "integer64", "unknown_class", "number_with_class",
                 "list_of_list", "no_columns")
text_values <- c("string", "bad_bytes", "empty_string", "NA_character", "no_string", "latin1", "factor")
many_values <- c("matrix", "matrix_na", "NaN", "many", "with_na", "with_names", "no_number", "list", "no_rows")
number_values <- c("minus_one", "zero", "fraction", "integer", "large_integer",
                   "beyond_integer", "huge", "tiny", "Inf", "-Inf")

# Values that an argument with this default cannot be.
refused_for <- function(default) {
  if (is.logical(default) && length(default) == 1L && !is.na(default)) {
    return(setdiff(names(odd_values()), "TRUE_"))
  }
  if (is.character(default)) return(c(never_valid, many_values, number_values, text_values,
                                      "NULL", "NA", "TRUE_", "date", "difftime", "formula"))
  if (is.numeric(default) && length(default) == 1L) {
    return(c(never_valid, text_values, many_values, "NULL", "NA", "TRUE_", "date", "difftime",
             "formula"))
  }
  never_valid
}

# Values that the kind of the default does not tell to be right: numbers of which there may
# be several, also to draw from, or none for no chains; no kinds for no assemblies; transactions of which there are none.
# A layout may be a function, and what is called after an update is one.
valid_after_all <- list(
  `causal_map(Tp)` = c("matrix", "many", "with_names"),
  `embed_dimension(tau)` = c("matrix", "many", "with_names"),
  `embed_dimension(Tp)` = c("matrix", "many", "with_names"),
  `simulate_culture(activation_rate)` = "no_number",
  `simulate_assemblies(assemblies)` = "no_string",
  `simulate_assemblies(count)` = "with_names",
  `simulate_coupled_maps(delay)` = "with_names",
  `simulate_network(rate)` = "with_names",
  `simulate_network(fluctuation)` = c("with_names", "no_number", "NULL"),
  `frequent_itemsets(transactions)` = "no_columns"
)

# Arguments that R's own generics have and that mean nothing in methods, and subscripts,
# where R's own rules and words are what users expect.
not_replaced <- c("row.names", "optional", "incomparables", "decreasing", "drop", "i", "j")

# Refused as they are: because a package or a device is missing, and to say what to use instead.
always_refused <- c("as_arules", "calibrate_gpu", "as.matrix.itemsets")

# What may be done to a result whose class is kept.
tampered_with <- list(
  `no rows` = function(x) rows(x, 0L),
  `a row of NA` = function(x) rows(x, c(1L, NA)),
  `rows twice` = function(x) rows(x, rep(seq_len(row_count(x)), 2L)),
  `rows reversed` = function(x) rows(x, rev(seq_len(row_count(x)))),
  `a part less` = function(x) raw_parts(x, function(parts) parts[-1L]),
  `last part less` = function(x) raw_parts(x, function(parts) parts[-length(parts)]),
  `parts of text` = function(x) raw_parts(x, function(parts) lapply(parts, as_text)),
  `parts of NA` = function(x) raw_parts(x, function(parts) lapply(parts, to_na)),
  `parts of lists` = function(x) raw_parts(x, function(parts) lapply(parts, as.list)),
  `a part of NULL` = function(x) raw_parts(x, function(parts) c(parts[-1L], list(NULL))),
  `parts without names` = function(x) raw_parts(x, unname),
  `nothing but the class` = function(x) structure(list(), class = class(x)),
  `a number with the class` = function(x) structure(1, class = class(x)),
  `attributes removed` = function(x) attributes_as(x, function(value) NULL),
  `attributes of text` = function(x) attributes_as(x, function(value) "x"),
  `attributes NA` = function(x) attributes_as(x, to_na),
  `attributes negative` = function(x) attributes_as(x, function(value) {
    if (is.numeric(value)) -abs(value) - 1 else value
  }),
  `attributes shorter` = function(x) attributes_as(x, function(value) {
    if (length(value) > 1L) value[-1L] else value
  })
)
# The first few are what the verbs for tables do; methods must bear these.
by_rows <- names(tampered_with)[1:5]
as_text <- function(part) if (is.atomic(part)) as.character(part) else part
to_na <- function(part) {
  if (is.atomic(part) && length(part) > 0L) part[] <- NA
  part
}
row_count <- function(x) if (is.data.frame(x)) nrow(x) else NROW(unclass(x))
rows <- function(x, keep) {
  if (!is.data.frame(x)) return(NULL)
  columns <- lapply(unclass(x), function(column) column[keep])
  kept <- attributes(x)
  kept$row.names <- seq_along(columns[[1L]])
  attributes(columns) <- kept
  columns
}
raw_parts <- function(x, change) {
  kept <- attributes(x)
  if (!is.list(x)) return(NULL)
  parts <- unclass(x)
  attributes(parts) <- list(names = names(parts))
  parts <- change(parts)
  attributes(parts) <- c(list(names = names(parts)), kept[setdiff(names(kept), "names")])
  parts
}
attributes_as <- function(x, change) {
  held <- attributes(x)
  own <- setdiff(names(held), c("names", "class", "row.names", "dim", "dimnames"))
  for (name in own) attr(x, name) <- change(held[[name]])
  x
}

# Every wrong call there is: function, argument, kind and which.
wrong_calls <- function() {
  if (!is.null(fuzz$wrong_calls)) return(fuzz$wrong_calls)
  calls <- small_calls()
  grid <- lapply(names(calls), function(name) {
    method <- is_method(name)
    arguments <- setdiff(names(formals(method_or_function(name))), "...")
    # Another object than the method's goes to another method.
    first <- if (method) first_argument(name)
    replaced <- setdiff(arguments, c(first, not_replaced))
    is_result <- function(arg) is.object(calls[[name]][[arg]])
    objects <- if (method) first else Filter(is_result, names(calls[[name]]))
    required <- Filter(function(arg) {
      identical(formals(method_or_function(name))[[arg]], quote(expr = ))
    }, arguments)
    wrong <- rbind(
      data.frame(arg = "nothing", kind = "changed", which = "as it is"),
      expand.grid(arg = replaced, kind = "value", which = names(odd_values())),
      expand.grid(arg = if (!method) required, kind = "missing", which = "left out"),
      expand.grid(arg = if (takes_dots(name)) "...", kind = "unknown", which = "unknown"),
      expand.grid(arg = if (!method) required, kind = "foreign",
                  which = names(small_results())),
      expand.grid(arg = objects, kind = "tampered",
                  which = if (method) by_rows else names(tampered_with))
    )
    cbind(name = rep(name, nrow(wrong)), wrong)
  })
  fuzz$wrong_calls <- do.call(rbind, grid)
  fuzz$wrong_calls[] <- lapply(fuzz$wrong_calls, as.character)
  fuzz$wrong_calls
}

# Whether unknown arguments must be refused: R itself does so for functions without `...`,
# and R's own callers give some that mean nothing to print() and the like.
takes_dots <- function(name) {
  "..." %in% names(formals(method_or_function(name))) &&
    !generic_of(name) %in% c("[", "c", "rbind", "mean", "print", "format", "as.data.frame",
                             "as.matrix", "as.list", "as.character")
}
is_method <- function(name) name %in% user_methods()$name
method_or_function <- function(name) get(name, envir = asNamespace("synfire"))
first_argument <- function(name) setdiff(names(formals(method_or_function(name))), "...")[1L]
# Arguments without a name get that of the method's that they would be given to.
with_all_names <- function(args, name) {
  given <- names(args) %||% rep("", length(args))
  open <- given == ""
  given[open] <- setdiff(names(formals(method_or_function(name))), c("...", given))[seq_len(sum(open))]
  stats::setNames(args, given)
}
generic_of <- function(name) {
  methods <- user_methods()
  if (name %in% methods$name) methods$generic[match(name, methods$name)] else name
}

# The value that goes in, or `skip` where there is none for this call.
skip <- new.env()
replacement <- function(row, args) {
  switch(row$kind,
    value = odd_values()[[row$which]],
    foreign = small_results()[[row$which]],
    tampered = tampered_with[[row$which]](args[[row$arg]]) %||% skip
  )
}

fuzz_subject("wrong", covers = list(), limit = 20, run = function(world) {
  calls <- wrong_calls()
  # All of them once, in an order that the seed decides; then pairs.
  set.seed(world$seed)
  order <- sample(nrow(calls))
  set.seed(world$seed + world$case)
  row <- calls[order[(world$case - 1) %% nrow(calls) + 1], ]
  args <- small_calls()[[row$name]]
  if (is_method(row$name) && !generic_of(row$name) %in% c("[", "c", "rbind")) {
    args <- with_all_names(args, row$name)
  }
  if (world$case > nrow(calls)) args <- second_value(args, row)
  about <- sprintf("%s(), `%s` %s", row$name, row$arg,
                   if (row$kind == "value") "replaced" else row$kind)
  if (row$kind == "missing") {
    args[row$arg] <- NULL
  } else if (row$kind == "changed") {
    value <- attempt(generic_of(row$name), args, about)
    if (refused(value) && !row$name %in% always_refused) {
      finding(sprintf("%s: refused: %s", about, conditionMessage(value)))
    }
    return()
  } else if (row$kind == "unknown") {
    args$unknown_argument <- 1
  } else {
    new <- replacement(row, args)
    if (identical(new, skip)) return()
    args[row$arg] <- list(new)
  }
  value <- attempt(generic_of(row$name), args, about)
  call <- fuzz$calls[[length(fuzz$calls)]]
  if (world$case > nrow(calls)) return()
  if (refused(value)) {
    check_names_argument(value, row, about, call)
  } else if (must_refuse(row)) {
    finding(sprintf("%s: accepted \"%s\"", about, row$which), of = call)
  }
})

# One more argument that is wrong.
second_value <- function(args, row) {
  arguments <- names(formals(method_or_function(row$name)))
  others <- setdiff(arguments, c("...", names(args)[[1L]], row$arg, not_replaced))
  if (length(others) > 0L) args[one_of(others)] <- list(odd_value())
  args
}

# The argument, or one of the others of the function where both must fit together.
check_names_argument <- function(value, row, about, call) {
  if (!inherits(value, "synfire_error_argument")) return()
  text <- cli::ansi_strip(conditionMessage(value))
  quoted <- unlist(regmatches(text, gregexpr("`[^`]+`", text)))
  named <- unlist(regmatches(quoted, gregexpr("[A-Za-z_.]+", quoted)))
  own <- names(formals(method_or_function(row$name)))
  right <- if (row$which %in% never_valid || row$kind == "missing") row$arg else own
  if (row$kind == "unknown") return()
  if (any(c("x", "object") %in% right)) right <- c(right, "x", "object")
  if (!any(right %in% named)) {
    finding(sprintf("%s: the error does not name it: %s", about, text), of = call)
  }
}

must_refuse <- function(row) {
  if (row$kind %in% c("missing", "unknown")) return(TRUE)
  if (row$kind != "value") return(FALSE)
  default <- formals(method_or_function(row$name))[[row$arg]]
  default <- tryCatch(eval(default), error = function(e) NULL)
  !row$which %in% valid_after_all[[paste0(row$name, "(", row$arg, ")")]] &&
    !(row$arg %in% c("layout", "on_update") && row$which %in% c("function", "builtin")) &&
    row$which %in% refused_for(default)
}
