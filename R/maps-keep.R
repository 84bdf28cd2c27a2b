# What is kept of a causal map in memory, and how much that takes.

#' Make a map of either kind in memory
#' @noRd
map_in_memory <- function(task) {
  sparse <- !is.null(task$top) || !is.null(task$rule$screen)
  needed <- check_map_memory(task, sparse)
  parameters <- task_parameters(task)
  budget <- task$rule$max_memory
  task$place$tables <- open_tables(task)
  on.exit(close_tables(task))
  E <- task$E %||% find_dimensions(task, task$targets)
  say_dimensions(E, task)
  task$E <- rlang::set_names(E, task$source$names[task$targets])
  mapped <- proc.time()[["elapsed"]]
  # What is left for the work; a little there is always.
  task$rule$max_memory <- max(budget - needed, budget / 4)
  links <- if (sparse) keep_links(task, budget)
  found <- map_kind(task$kind)$map(task, task$libraries, links$keep)
  ended <- proc.time()[["elapsed"]]
  elapsed <- c(dimensions = mapped - task$began, map = ended - mapped,
               total = ended - task$began,
               if (task$place$device == "gpu") unlist(found[c("neighbours", "correlations")]))
  about <- list(E = task$E, parameters = parameters, call = task$call, elapsed = elapsed,
                device = task$place$device, reasons = named_reasons(task))
  if (sparse) return(do.call(links$result, about, quote = TRUE))
  map_of_layers(found$layers, task, about)
}

#' A map of the matrices that were computed
#' @param about What new_causal_map() and new_smap_map() take besides them.
#' @noRd
map_of_layers <- function(layers, task, about) {
  names <- list(library = task$source$names[task$libraries],
                target = task$source$names[task$targets])
  if (task$kind == "smap_map") {
    layers <- lapply(layers, `dimnames<-`, names)
    return(do.call(new_smap_map, c(layers, about), quote = TRUE))
  }
  # The matrices get their attributes where they are: a copy of a large one may not fit.
  for (layer in names(layers)) .Call(r_map_dress, layers[[layer]], list(dimnames = names))
  empty <- do.call(new_causal_map, c(list(matrix(0, 0, 0)), layers[-1L], about), quote = TRUE)
  .Call(r_map_dress, layers$rho, attributes(empty)[names(attributes(empty)) != "dim"])
}

#' Keep the links of a map: those that reach `screen`, and the highest of each target
#' @return `keep`, for map_libraries(), and `result`, a function that makes a table of links.
#' @noRd
keep_links <- function(task, budget) {
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
    links <<- in_order_of_rho(links)
    links <<- links[seq_len(nrow(links)) - match(links$target, links$target) < top, ]
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
    check_budget(40 * (length(layers) + 1) * nrow(links), budget, "these links",
                 "Raise `screen`, or keep the `top` links of each target.")
  }
  result <- function(...) {
    prune()
    links <- links %||% passing_links(integer(), NULL, integer(), least, floors, top, layers, 0)
    links <- in_order_of_rho(links)
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
  places <- list(library = before + (at - 1) %% max(n, 1) + 1, target = (at - 1) %/% max(n, 1) + 1)
  new_frame(c(places, links), length(at))
}

in_order_of_rho <- function(links) links[order(links$target, -links$rho, links$library), ]

# ---- Memory --------------------------------------------------------------------------

#' Stop where a result is beyond memory, say what a large one takes
#' @return Bytes that it takes.
#' @noRd
check_map_memory <- function(task, sparse) {
  n <- length(task$libraries)
  m <- length(task$targets)
  layers <- length(map_kind(task$kind)$layers(task$rule))
  needed <- 8 * as.double(n) * m * layers
  if (sparse) needed <- if (is.null(task$top)) 0 else 40 * (layers + 1) * task$top * m
  advice <- if (sparse) "Lower `top`." else c(
    "`file = \"map.h5\"` writes the map while it grows.",
    if (task$kind == "causal_map") "`top = 10` keeps the strongest links of each target."
  )
  check_budget(needed, task$rule$max_memory,
               sprintf("a map of %s x %s series", commas(n), commas(m)), advice)
  if (needed >= 1e9) info("memory", "The map takes {bytes_text(needed)} of memory, and the work
                                at most {bytes_text(task$rule$max_memory)} with it.")
  needed
}
