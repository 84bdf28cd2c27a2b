# What files of maps have to know of the two kinds of maps that they hold.

#' A kind of map
#'
#' @param kind `"causal_map"` or `"smap_map"`, the names of their functions and classes.
#' @return A list of `called`, its name in messages, and of functions: `layers(rule)`, names
#'   of the layers, which hold a number for each pair; `type(layer)`, the HDF5 type of these;
#'   `parameters(task)`, what the map was made with; `map(task, libraries, keep)`, which
#'   maps some columns of the source to all targets and calls `keep` as map_libraries() does.
#' @noRd
map_kind <- function(kind) {
  switch(
    kind,
    causal_map = list(
      called = "causal map", layers = rule_layers,
      parameters = c("steps", "E_given", "E_max", "tau", "Tp", "validation", "exclusion_radius",
                     "lib_sizes", "n_surrogates", "surrogate", "period", "screen", "top",
                     "precision", "key", "threads"),
      # Computed in single precision.
      type = \(layer) if (layer == "lag") "H5T_STD_I32LE" else "H5T_IEEE_F32LE",
      map = \(task, libraries, keep) {
        map_libraries(task$source, libraries, task$targets, task$E, task$rule, task$place, keep)
      }
    ),
    smap_map = list(
      called = "map of S-maps", layers = \(rule) smap_map_layers,
      parameters = c("steps", "E_given", "E_max", "tau", "Tp", "theta", "ridge",
                     "exclusion_radius", "key", "threads"),
      type = \(layer) "H5T_IEEE_F64LE", map = map_smap_libraries
    )
  )
}

#' The parameters that a map shows, by the names of arguments
#' @noRd
task_parameters <- function(task) {
  known <- c(task$rule, list(
    steps = task$source$steps, E_given = !is.null(task$E), top = task$top,
    validation = if (task$split) "split" else "loo", exclusion_radius = task$rule$exclusion
  ))
  names <- map_kind(task$kind)$parameters
  rlang::set_names(known[names], names)
}

smap_map_layers <- c("rho", "strength")

#' Seconds that a library takes, about
#' @noRd
smap_map_seconds <- function(task) {
  rule <- task$rule
  E <- task$E %||% rule$E_max
  groups <- length(unique(E))
  each <- groups * (3e-9 + 2e-11 * max(E, 1, na.rm = TRUE)^2) + 2.5e-11 * length(task$targets)
  task$source$steps^2 * each / if (task$place$device %||% "cpu" == "gpu") 200 else rule$threads
}

#' Map some columns of the source to all targets, block by block
#'
#' @param keep Called for some of `libraries`, from the first to the last, with
#'   their columns and a list of the matrices `rho` and `strength`, these libraries x targets;
#'   `NULL` to get those of all libraries as `layers` of the result.
#' @noRd
map_smap_libraries <- function(task, libraries, keep) {
  bar <- common_bar("Mapping", length(libraries))
  groups <- smap_groups(task)
  blank <- \(n) lapply(rlang::set_names(smap_map_layers),
                       \(layer) matrix(NA_real_, n, length(task$targets)))
  whole <- if (is.null(keep)) blank(length(libraries))
  for (block in pieces(length(libraries), smap_block(task))) {
    columns <- libraries[block]
    x <- read_smap_series(task, columns)
    values <- blank(length(columns))
    for (group in groups) {
      targets <- task$targets[group]
      y <- if (identical(targets, columns)) x else read_smap_series(task, targets)
      found <- smap_pairs(x, y, task$E[[group[[1L]]]], task)
      for (layer in smap_map_layers) values[[layer]][, group] <- found[[layer]]
    }
    for (layer in smap_map_layers) {
      values[[layer]][without_rho(task$rule, columns), ] <- NA_real_
      if (is.null(keep)) whole[[layer]][block, ] <- values[[layer]]
    }
    bar(length(block))
    if (!is.null(keep)) keep(columns, values)
  }
  list(layers = whole)
}

#' Places of targets that are predicted together: of one E, and as many as memory is for
#' @noRd
smap_groups <- function(task) {
  # A target and its panel, in R and in compiled code.
  most <- max(1, floor(task$rule$max_memory / 4 / (24 * task$source$steps)))
  groups <- split(seq_along(task$E), task$E)
  unlist(lapply(unname(groups), \(places) {
    lapply(pieces(length(places), most), \(part) places[part])
  }), recursive = FALSE)
}

#' Libraries of a block
#' @noRd
smap_block <- function(task) {
  bytes <- 16 * length(task$targets) + 8 * task$source$steps
  most <- max(1, floor(min(task$rule$max_memory / 8, 2^28) / bytes))
  max(1, min(ceiling(block_seconds / smap_map_seconds(task)), most, 1024))
}

#' Skill and strength of some libraries and targets
#' @param libraries,targets Double matrices, steps x series.
#' @noRd
smap_pairs <- function(libraries, targets, E, task) {
  rule <- task$rule
  options <- c(list(E = E, gpus = gpus_of(task$place)),
               rule[c("tau", "Tp", "theta", "ridge", "exclusion", "threads", "vector_bits")])
  finish_status(.Call(r_smap_pairs, libraries, targets, options), "this map", map_advice)
}

#' Series whose squares are within the range of a double
#' @noRd
read_smap_series <- function(task, columns) {
  x <- task$source$read(columns)
  first <- abs(x[1L, ])
  within <- max(x, -min(x, 0, na.rm = TRUE), na.rm = TRUE) <= edm_largest
  # The first value of a series may tell that its largest is not too small.
  for (j in which(!within | is.na(first) | first < 1 / edm_largest)) {
    most <- max(abs(x[, j]), 0, na.rm = TRUE)
    refuse_if(most > edm_largest || most > 0 && most < 1 / edm_largest, "x",
              sprintf("numbers from %g to %g in size", 1 / edm_largest, edm_largest),
              sprintf("%g in series \"%s\"", most, task$source$names[[columns[[j]]]]),
              "Squares of others are beyond what a computer holds: take another unit.")
  }
  x
}
