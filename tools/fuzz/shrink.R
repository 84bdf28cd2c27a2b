# Makes findings smaller, and writes them as code of R.

# A finding with simpler draws and fewer, smaller arguments that is still of its kind, found
# within `seconds`.
smaller_finding <- function(found, subject, seconds) {
  end <- Sys.time() + seconds
  found <- simpler_draws(found, subject, end)
  if (!found$alone) return(found)
  found$calls[[1L]] <- smaller_call(found$calls[[1L]], end, function(call) {
    wrong <- call_once(call)$wrong
    any(vapply(wrong, kind_of_finding, "") == found$kind)
  })
  found
}

# Draws are made simpler in blocks of halving size, down to each alone.
simpler_draws <- function(found, subject, end) {
  simpler <- integer()
  again <- function(simpler) {
    if (Sys.time() > end) return(NULL)
    findings <- run_case(subject, found$seed, found$case, simpler)
    Find(function(other) other$kind == found$kind, findings)
  }
  if (is.null(again(simpler))) {
    found$text <- paste(found$text, "\n(It did not happen again when the case was repeated.)")
    return(found)
  }
  size <- n <- fuzz$draws
  while (size >= 1 && n > 0) {
    for (first in seq(1, n, by = size)) {
      for (level in if (size == 1) c(30L, 3L, 1L) else 30L) {
        block <- as.character(seq(first, min(first + size - 1, n)))
        try_this <- simpler
        try_this[block] <- level
        smaller <- again(try_this)
        if (!is.null(smaller)) {
          found <- smaller
          simpler <- try_this
          break
        }
      }
    }
    size <- size %/% 2
  }
  found
}

# A call with fewer arguments and less data for which `still(call)` holds, before `end`.
smaller_call <- function(call, end, still) {
  holds <- function(call) Sys.time() < end && isTRUE(still(call))
  # Arguments back to their defaults, the last first.
  for (i in rev(seq_along(call$args))) {
    fewer <- call
    fewer$args <- call$args[-i]
    if (holds(fewer)) call <- fewer
  }
  for (i in seq_along(call$args)) {
    repeat {
      smaller <- Find(function(value) holds(with_arg(call, i, value)),
                      smaller_values(call$args, i))
      if (is.null(smaller)) break
      call <- with_arg(call, i, smaller)
    }
  }
  call
}

with_arg <- function(call, i, value) {
  call$args[[i]] <- value
  call
}

# Halves of a value with more than a few rows or elements, and all but one of few.
smaller_values <- function(args, i) {
  if (is_empty_arg(args, i)) return(list())
  x <- args[[i]]
  rows <- if (is.data.frame(x) || is.matrix(x)) nrow(x) else if (is.vector(x)) length(x) else 0
  if (rows < 2) return(list())
  first <- seq_len(rows %/% 2)
  keeps <- c(list(first, setdiff(seq_len(rows), first)),
             if (rows <= 12) lapply(seq_len(rows), function(row) -row))
  pick <- function(keep) {
    tryCatch(if (is.null(dim(x))) x[keep] else x[keep, , drop = FALSE], error = function(e) NULL)
  }
  values <- lapply(keeps, pick)
  Filter(function(value) !is.null(value) && NROW(value) < rows, values)
}

# ---- as code ----

# Lines of R that make the calls; what is too long to write is read from `file`, to which
# all arguments are saved.
as_code <- function(calls, file) {
  saved <- list()
  lines <- character()
  for (k in seq_along(calls)) {
    args <- calls[[k]]$args
    given <- names(args) %||% rep("", length(args))
    words <- vapply(seq_along(args), function(i) {
      if (is_empty_arg(args, i)) return("")
      code <- value_code(args[[i]])
      if (nchar(code) > 600) {
        slot <- sprintf("call%d_%s", k, if (nzchar(given[[i]])) given[[i]] else i)
        saved[[slot]] <<- args[[i]]
        code <- sprintf("saved$%s", slot)
      }
      if (nzchar(given[[i]])) paste(given[[i]], "=", code) else code
    }, "")
    lines <- c(lines, strwrap(sprintf("%s(%s)", calls[[k]]$name, toString(words)),
                              width = 90, exdent = 2))
  }
  if (length(saved) > 0) {
    saveRDS(saved, file)
    lines <- c(sprintf("saved <- readRDS(\"%s\")", file), lines)
  }
  c("library(synfire)", lines)
}

value_code <- function(x) {
  code <- function(x) paste(trimws(deparse(x, width.cutoff = 500L)), collapse = " ")
  if (inherits(x, "spike_trains")) {
    made <- tryCatch({
      parts <- list(time = x$time, unit = as.character(x$unit), start = attr(x, "start"),
                    end = attr(x, "end"), resolution = attr(x, "resolution"),
                    trials = attr(x, "trials"))
      parts$unit <- factor(parts$unit, levels = levels(x$unit))
      if (identical(do.call(synfire::spike_trains, parts), x)) parts
    }, error = function(e) NULL)
    if (!is.null(made)) {
      return(sprintf("spike_trains(%s)", paste(names(made), "=", vapply(made, code, ""),
                                               collapse = ", ")))
    }
  }
  if (is.language(x) && !inherits(x, "formula")) sprintf("quote(%s)", code(x)) else code(x)
}
