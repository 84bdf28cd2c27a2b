# MATLAB files of version 7.3, which are HDF5 files: vectors of times and units, or a cell
# array with the times of each unit.

read_matlab <- function(h5, about, fail) {
  variables <- matlab_variables(h5, fail)
  cells <- names(variables)[variables == "cell"]
  vectors <- names(variables)[variables == "numbers"]
  if (!is.null(about$time_column) || is.null(about$unit_column)) {
    # One cell array, or the one that the caller names, holds the times of each unit.
    wanted <- if (is.character(about$time_column)) about$time_column else
      if (length(cells) == 1L && is.null(about$unit_column)) cells
    if (length(wanted) == 1L && wanted %in% cells && is.null(about$unit_column)) {
      return(matlab_cells(h5, wanted, about, fail))
    }
  }
  if (length(vectors) == 0L) {
    fail(sprintf("it has no vectors of numbers; variables: %s",
                 if (length(variables)) some(names(variables), 12L) else "none"),
         "Save a vector of times and one of units, or a cell array with the times of each unit.")
  }
  # The last part of `spikes/times` is the name of the field.
  short <- basename(vectors)
  column <- \(given, arg) if (is.character(given)) pick_column(given, vectors, arg, TRUE) else
    given
  at <- find_columns(short, column(about$time_column, "time_column"),
                     column(about$unit_column, "unit_column"), fail)
  at$trial <- find_trial(short, column(about$trial_column, "trial_column"), c(at$time, at$unit))
  # A number of MATLAB is a double, also where it is a second, so its type says nothing.
  array_spikes(at, vectors, \(k) h5_numbers(h5, paste0("/", vectors[[k]]), fail), FALSE, about,
               fail)
}

#' The variables of a file, those in structures as `structure/field`
#' @return For each name `"numbers"`, a vector of them; `"cell"`; or `"other"`.
#' @noRd
matlab_variables <- function(h5, fail, within = "", depth = 0) {
  names <- if (within == "") h5_try(names(h5), "/", fail) else
    h5_use(h5, paste0("/", within), fail, \(group) h5_try(names(group), within, fail))
  # What cells hold lies apart.
  names <- setdiff(names, c("#refs#", "#subsystem#"))
  out <- character()
  for (name in paste0(within, if (nzchar(within)) "/", names)) {
    kind <- h5_use(h5, paste0("/", name), fail, \(set) {
      if (inherits(set, "H5Group")) return("group")
      if (!inherits(set, "H5D")) return("other")
      extent <- h5_extent(set, paste0("/", name), fail)
      if (sum(extent > 1) > 1L) return("other")
      switch(h5_type(set, paste0("/", name), fail)$kind, numbers = "numbers", links = "cell",
             "other")
    })
    out <- c(out, if (kind != "group") rlang::set_names(kind, name) else if (depth < 4) {
      matlab_variables(h5, fail, name, depth + 1)
    })
  }
  out
}

#' The times of each unit in a cell of their own, in the order of the cells
#' @noRd
matlab_cells <- function(h5, name, about, fail) {
  path <- paste0("/", name)
  times <- h5_use(h5, path, fail, \(set) h5_try({
    links <- set$read()
    cells <- links$dereference()
    lapply(cells, \(cell) {
      on.exit(close_read(cell))
      if (!inherits(cell, "H5D")) return(NULL)
      if (h5_type(cell, path, fail)$kind != "numbers") return(NULL)
      # An empty array is written as its two sizes, and marked.
      if (cell$attr_exists("MATLAB_empty")) return(double())
      as.double(h5_read(cell, path, fail))
    })
  }, path, fail))
  if (any(vapply(times, is.null, NA))) fail(sprintf("`%s` has cells that hold no numbers", path))
  time <- as.double(unlist(times))
  if (!all(is.finite(time))) fail(sprintf("`%s` is not finite for some spikes", path))
  per_second <- units_per_second(about$time_unit %||% "s", about$sampling_rate)
  c(list(ticks = round_to_ticks(time, about$resolution, per_second)),
    named_units(rep(seq_along(times), lengths(times)), number_labels(seq_along(times))))
}
