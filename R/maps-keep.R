# What is kept of a causal map in memory, and how much that takes.

#' A causal map of the matrices that map_libraries() gave
#' @param ... As new_causal_map() takes them.
#' @noRd
map_of_layers <- function(layers, task, ...) {
  names <- list(library = task$source$names[task$libraries],
                target = task$source$names[task$targets])
  # The matrices get their attributes where they are: a copy of a large one may not fit.
  for (layer in names(layers)) .Call(r_map_dress, layers[[layer]], list(dimnames = names))
  empty <- do.call(new_causal_map, c(list(matrix(0, 0, 0), ...), layers[-1L]), quote = TRUE)
  .Call(r_map_dress, layers$rho, attributes(empty)[names(attributes(empty)) != "dim"])
}

#' Keep the links of a map: those that reach `screen`, and the highest of each target
#' @return `keep`, for map_libraries(), and `result`, a function that makes a table of links.
#' @noRd
keep_links <- function(task, budget, call) {
  m <- length(task$targets)
  top <- task$top %||% Inf
  least <- rep(task$rule$screen %||% -Inf, m)
  floors <- least
  layers <- rule_layers(task$rule)
  links <- NULL
  fresh <- 0
  seen <- 0
  prune <- function() {
    fresh <<- 0
    if (is.null(links) || is.infinite(top)) return(invisible())
    links <<- highest_links(links, top)
    last <- tapply(links$rho, factor(links$target, seq_len(m)), \(r) {
      if (length(r) == top) r[[top]] else NA
    })
    # A later library with the same rho does not displace an earlier one.
    floors <<- pmax(least, ifelse(is.na(last), -Inf, last))
  }
  keep <- function(columns, values) {
    new <- passing_links(columns, values, task$targets, least, floors, top, layers, seen)
    seen <<- seen + length(columns)
    links <<- rbind(links, new)
    fresh <<- fresh + nrow(new)
    if (fresh > min(top, 1e4) * m) prune()
    check_links_memory(nrow(links), length(layers), budget, call)
  }
  result <- function(...) {
    prune()
    links <- links %||% passing_links(integer(), NULL, integer(), least, floors, top, layers, 0)
    links <- links[order(links$target, -links$rho, links$library), ]
    names <- task$source$names
    do.call(new_causal_links, c(
      list(cause = names[task$targets[links$target]],
           effect = names[task$libraries[links$library]]),
      links[layers], list(series = names, ...)
    ), quote = TRUE)
  }
  list(keep = keep, result = result)
}

#' Links of a block that may be among those kept: places of library and target, layers
#' @param least Lowest rho of each target; `floors`, what rho must be above where it is
#'   higher than that; `top`, most links of a target.
#' @noRd
passing_links <- function(columns, values, targets, least, floors, top, layers, before) {
  n <- length(columns)
  at <- if (n > 0) {
    own <- match(targets, columns, nomatch = 0L)
    .Call(r_map_links, values$rho, least, floors, own, top)
  } else double()
  links <- lapply(rlang::set_names(layers), \(layer) values[[layer]][at])
  if (length(at) == 0L) links <- lapply(links, \(none) double())
  links <- c(list(library = before + (at - 1) %% max(n, 1) + 1,
                  target = (at - 1) %/% max(n, 1) + 1), links)
  structure(links, class = "data.frame", row.names = .set_row_names(length(at)))
}

#' The `top` highest of each target, of equal ones those of the first libraries
#' @noRd
highest_links <- function(links, top) {
  links <- links[order(links$target, -links$rho, links$library), ]
  first <- match(links$target, links$target)
  links[seq_len(nrow(links)) - first < top, ]
}

# ---- Memory --------------------------------------------------------------------------

#' Stop where a result is beyond memory, say what a large one takes
#' @return Bytes that it takes.
#' @noRd
check_map_memory <- function(task, sparse, call) {
  n <- length(task$libraries)
  m <- length(task$targets)
  layers <- length(map_kind(task$kind)$layers(task$rule))
  needed <- 8 * as.double(n) * m * layers
  if (sparse) needed <- if (is.null(task$top)) 0 else 40 * (layers + 1) * task$top * m
  if (needed > task$rule$max_memory) {
    advice <- c(
      if (!sparse) "`file = \"map.h5\"` writes the map while it grows.",
      if (!sparse && task$kind == "causal_map") {
        "`top = 10` keeps the strongest links of each target."
      },
      if (sparse) "Lower `top`."
    )
    over_budget(needed, task$rule$max_memory,
                sprintf("a map of %s x %s series", commas(n), commas(m)), advice, call)
  }
  if (needed >= 1e9) {
    cli::cli_inform(
      c(i = paste("The map takes {bytes_text(needed)} of memory, and the work at most",
                  "{bytes_text(task$rule$max_memory)} with it.")),
      class = "synfire_message_memory"
    )
  }
  needed
}

check_links_memory <- function(n, layers, budget, call) {
  needed <- 40 * (layers + 1) * as.double(n)
  if (needed > budget) {
    over_budget(needed, budget, "these links",
                "Raise `screen`, or keep the `top` links of each target.", call)
  }
}
