# MATLAB files: a vector of times and one of units, or the times of each unit in a cell, in a
# structure of an array, or in a row of a matrix. Files of version 7.3 are HDF5 files;
# `mat5_variables()` reads older ones.

#' @param h5 The open file of version 7.3, or `NULL`.
#' @noRd
read_matlab <- function(h5, file, about, fail) {
  for (arg in c("time_column", "unit_column")) {
    refuse_if(is.numeric(about[[arg]]), arg, "the name of a variable", describe(about[[arg]]))
  }
  variables <- matlab_variables(if (is.null(h5)) mat5_variables(file, fail) else
    h5_variables(h5, h5, "/", fail))
  if (length(variables) == 0L) fail("it holds no variables")
  name <- about$time_column %||% time_variable(variables, about$unit_column, fail)
  name <- names(variables)[[pick_column(name, names(variables), "time_column", FALSE)]]
  node <- variables[[name]]
  if (node$kind == "cell") {
    if (!is_line(node)) {
      fail(sprintf("`%s` is a matrix of %s cells", name, paste(commas(node$dim), collapse = " x ")),
           "The times of each unit must lie in one cell, those of all trials on one clock.")
    }
    times <- lapply(node$items(seq_len(prod(node$dim))), \(one) {
      if (prod(one$dim) == 0) return(double())
      if (one$kind == "numbers") structure(one$read(), whole = one$whole)
    })
    if (any(vapply(times, is.null, NA))) fail(sprintf("`%s` has cells that hold no numbers", name))
    return(spikes_of_each(times, name, variables, about, fail))
  }
  fail_if(node$kind != "numbers", fail,
          sprintf("`%s` holds neither numbers nor cells. The file holds %s", name,
                  described(variables)), "Say another one with `time_column`.")
  if (is_line(node)) return(matlab_vectors(variables, name, about, fail))
  value <- matrix(node$read(), node$dim[[1L]])
  units_in <- lines_that_ascend(value)
  fail_if(length(units_in) != 1L, fail,
          sprintf("%s of `%s` could be the times of a unit, which ascend and end in NaN",
                  if (length(units_in)) "both a row and a column" else "neither a row nor a column",
                  name), "Save a cell array with the times of each unit in a cell.")
  times <- lapply(asplit(value, units_in), \(one) structure(one[!is.nan(one)], whole = node$whole))
  spikes_of_each(times, name, variables, about, fail)
}

# ---- Variables ---------------------------------------------------------------------

#' The variables of a file, those in structures as `structure/field`
#'
#' A node is a list with `kind`: `"numbers"` or `"words"`, which `read()` gives, and for numbers
#' whether they are `whole` by their type; `"cell"`, where `items()` gives the nodes at some
#' places; `"struct"`, with a node for each of its `fields`; or `"other"`. All but structures
#' have sizes, `dim`. A field of an array of structures, or of structures in cells, is a cell.
#' @param nodes As they are in the file.
#' @noRd
matlab_variables <- function(nodes, within = "", depth = 1L) {
  out <- list()
  for (name in names(nodes)) {
    node <- nodes[[name]]
    if (node$kind == "cell" && prod(node$dim) > 0 && depth < 5L) node <- turned_inside_out(node)
    path <- paste0(within, name)
    if (node$kind == "struct") {
      fields <- if (depth < 5L) matlab_variables(node$fields, paste0(path, "/"), depth + 1L)
      out <- c(out, fields)
    } else {
      out[[path]] <- node
    }
  }
  out
}

#' Structures in cells as a structure of cells
#' @noRd
turned_inside_out <- function(cell) {
  first <- cell$items(1L)[[1L]]
  if (first$kind != "struct") return(cell)
  fields <- lapply(rlang::set_names(names(first$fields)), \(name) {
    list(kind = "cell", dim = cell$dim, items = \(at) lapply(cell$items(at), \(one) {
      one$fields[[name]] %||% list(kind = "other", dim = c(0, 0))
    }))
  })
  list(kind = "struct", fields = fields)
}

#' The variables in a group of an HDF5 file, read when they are asked for
#' @param within The path of the group, which ends in a slash.
#' @noRd
h5_variables <- function(h5, group, within, fail, depth = 1L) {
  names <- h5_try(names(group), within, fail)
  # What cells hold lies apart.
  names <- setdiff(names, c("#refs#", "#subsystem#"))
  lapply(rlang::set_names(names), \(name) {
    path <- paste0(within, name)
    h5_use(h5, path, fail, \(set) {
      node <- h5_node(h5, set, path, fail, depth)
      if (!is.null(node$part)) node$read <- \() h5_use(h5, path, fail, node$part)
      node
    })
  })
}

#' @param path What messages call it.
#' @param known What `h5_contents()` has about it, or `NULL`.
#' @return A node; for numbers and words `part()`, which reads them while `set` is open.
#' @noRd
h5_node <- function(h5, set, path, fail, depth, known = NULL) {
  if (inherits(set, "H5Group") && depth < 5L) {
    within <- paste0(h5_try(set$get_obj_name(), path, fail), "/")
    return(list(kind = "struct", fields = h5_variables(h5, set, within, fail, depth + 1L)))
  }
  if (!inherits(set, "H5D")) return(list(kind = "other", dim = c(0, 0)))
  dim <- if (is.null(known)) h5_extent(set, path, fail) else
    h5_extent(set, path, fail, known$dim)
  type <- type_of_known(set, known) %||% h5_type(set, path, fail)
  if (type$kind == "links") {
    place <- h5_try(set$get_obj_name(), path, fail)
    return(list(kind = "cell", dim = dim, items = \(at) h5_items(h5, place, at, fail, depth + 1L)))
  }
  if (type$kind != "numbers") return(list(kind = "other", dim = dim))
  # An empty array is written as its sizes, and marked.
  empty <- prod(dim) <= 3 && h5_try(set$attr_exists("MATLAB_empty"), path, fail)
  numbers <- \(set) {
    if (empty || prod(dim) == 0) return(double())
    check_stored(set, prod(dim), type, path, fail)
    as.double(h5_try(plain_numbers(set$read_low_level()), path, fail))
  }
  words <- type$whole && type$size == 2 && h5_try(is_said_char(set), path, fail)
  list(kind = if (words) "words" else "numbers", dim = if (empty) c(0, 0) else dim,
       whole = type$whole && !empty,
       part = if (words) \(set) mat5_words(numbers(set), dim) else numbers)
}

#' What `h5_type()` gives for numbers whose class is known: to ask for their type takes long
#'
#' Numbers with a fraction have at least two bytes. Of whole ones that lie in one piece, the bytes
#' of all tell those of each.
#' @return `NULL` where it has to be asked for.
#' @noRd
type_of_known <- function(set, known) {
  whole <- identical(known$class, "H5T_INTEGER")
  if (!whole && !identical(known$class, "H5T_FLOAT")) return(NULL)
  size <- if (!whole) 2 else if (in_one_piece(set)) set$get_storage_size() / prod(known$dim)
  if (isTRUE(size %in% c(1, 2, 4, 8))) list(kind = "numbers", size = size, whole = whole)
}

#' Whether whole numbers of two bytes are said to be letters
#' @noRd
is_said_char <- function(set) {
  if (!set$attr_exists("MATLAB_class")) return(FALSE)
  # Of the classes of two bytes, int16 and uint16 have longer names. To read a name takes long.
  size <- set$attr_info_by_name("MATLAB_class", ".")$data_size
  size == 4 || size > 6 && identical(as.vector(read_attribute(set, "MATLAB_class")), "char")
}

#' Sizes and classes of all that cells may hold: one look takes less time than to ask each
#'
#' @param links Addresses of cells, as bytes.
#' @return A list, for each of `links`, of `class` and `dim`, or `NULL` where they are not known.
#' @noRd
h5_contents <- function(h5, links) {
  all <- with_set(h5, "#refs#", \(refs) refs$ls(detailed = TRUE))
  address <- colSums(matrix(as.integer(links), 8L) * 256^(0:7))
  at <- match(address, as.double(all$link$u$address))
  dims <- strsplit(all$dataset$dims[at], " x ", fixed = TRUE)
  Map(\(class, dim) if (!is.na(class)) list(class = class, dim = as.double(dim)),
      as.character(all$dataset$type_class)[at], dims)
}

#' What some cells of an HDF5 file hold
#'
#' To open one takes longer than to read it, so each is read at once.
#' @param at Places of a vector of cells; 1 of a matrix.
#' @noRd
h5_items <- function(h5, path, at, fail, depth) {
  h5_use(h5, path, fail, \(set) {
    places <- lapply(set$dims, \(n) if (n == 1) 1L else at)
    links <- h5_try(set$read(args = places), path, fail)
    cells <- h5_try(links$dereference(), path, fail)
    known <- if (length(cells) > 20L) tryCatch(h5_contents(h5, links$ref), error = \(e) NULL)
    lapply(seq_along(cells), \(k) {
      on.exit(close_read(cells[[k]]))
      node <- h5_node(h5, cells[[k]], path, fail, depth, if (!is.null(known)) known[[k]])
      if (!is.null(node$part)) {
        value <- node$part(cells[[k]])
        node$read <- \() value
      }
      node
    })
  })
}

#' Whether a variable is a vector, not a matrix
#' @noRd
is_line <- function(node) sum(node$dim != 1) <= 1L

#' Variables in words, for messages
#' @noRd
described <- function(variables) {
  some(vapply(names(variables), \(name) {
    node <- variables[[name]]
    if (node$kind == "other") return(name)
    sprintf("%s (%s, %s)", name, node$kind, paste(commas(node$dim), collapse = " x "))
  }, ""), 12L)
}

# ---- Which of them hold spikes -----------------------------------------------------

#' The variable that holds the times, where there is one that can be nothing else
#' @noRd
time_variable <- function(variables, unit_column, fail) {
  kinds <- vapply(variables, `[[`, "", "kind")
  found <- c(time_cells(variables[kinds == "cell"]),
             time_vector(variables[kinds == "numbers"], unit_column))
  if (length(found) == 0L) {
    found <- names(Filter(\(node) !is_line(node) && is_padded(node),
                          variables[kinds == "numbers"]))
  }
  if (length(found) == 1L) return(found)
  fail(sprintf("%s. The file holds %s",
               if (length(found)) paste("several variables may be the times of spikes:",
                                        some(found)) else
                 "no variable is for certain the times of spikes", described(variables)),
       paste("Say `time_column`, the name of the times; where they are a vector, also",
             "`unit_column`, one as long that says of which unit each spike is."))
}

#' Names of the cells that may hold the times of each unit
#'
#' All hold vectors of numbers. Of several, those whose name says that they are times.
#' @noRd
time_cells <- function(cells) {
  fit <- vapply(cells, \(cell) {
    n <- prod(cell$dim)
    if (!is_line(cell) || n == 0) return(FALSE)
    # Of a large file not all are opened to see this.
    items <- cell$items(seq_len(min(n, 20)))
    sizes <- vapply(items, \(one) prod(one$dim), 0)
    numbers <- vapply(items, \(one) one$kind == "numbers" && is_line(one), NA)
    all(numbers | sizes == 0) && any(sizes > 1)
  }, NA)
  found <- names(cells)[fit]
  if (length(found) < 2L) return(found)
  said <- parse_column_name(basename(found))$bare %in% time_names |
    grepl("^(spikes?|spk|spks)(times?|trains?)?$", basename(found), ignore.case = TRUE)
  if (any(said)) found[said] else found
}

#' The name of the vector of times, if a vector of units is as long
#' @noRd
time_vector <- function(variables, unit_column) {
  lines <- Filter(is_line, variables)
  if (!all(unit_column %in% names(lines))) return(NULL)
  no_fit <- \(...) rlang::abort("", class = "synfire_no_fit")
  at <- tryCatch(find_columns(basename(names(lines)), NULL,
                              if (length(unit_column)) match(unit_column, names(lines)), no_fit),
                 synfire_no_fit = \(e) NULL)
  n <- vapply(lines, \(node) prod(node$dim), 0)
  if (!is.null(at) && all(n[at$unit] == n[[at$time]])) names(lines)[[at$time]]
}

#' Whether a matrix can be nothing but lines of times, filled up with NaN
#' @noRd
is_padded <- function(node) {
  if (length(node$dim) != 2L) return(FALSE)
  value <- matrix(node$read(), node$dim[[1L]])
  any(is.nan(value)) && length(lines_that_ascend(value)) == 1L
}

#' Whether times ascend, and NaN comes last, in each row (1) or in each column (2)
#' @noRd
lines_that_ascend <- function(value) {
  ascends <- \(v) {
    before <- v[-nrow(v), , drop = FALSE]
    after <- v[-1L, , drop = FALSE]
    all(is.nan(after) | (!is.nan(before) & after >= before))
  }
  c(1L, 2L)[c(ascends(t(value)), ascends(value))]
}

# ---- Spikes ------------------------------------------------------------------------

matlab_vectors <- function(variables, time, about, fail) {
  lines <- Filter(\(node) node$kind == "numbers" && is_line(node), variables)
  number <- \(given, arg) if (is.character(given)) pick_column(given, names(lines), arg, TRUE) else
    given
  # The last part of `spikes/times` is the name of the field.
  at <- find_columns(basename(names(lines)), match(time, names(lines)),
                     number(about$unit_column, "unit_column"), fail)
  at$trial <- find_trial(basename(names(lines)), number(about$trial_column, "trial_column"),
                         c(at$time, at$unit))
  times <- lines[[at$time]]$read()
  array_spikes(at, names(lines), \(k) if (k == at$time) times else lines[[k]]$read(),
               in_whole_numbers(times, lines[[at$time]]$whole), about, fail)
}

#' Whether times are whole numbers, and so are hardly seconds
#'
#' The numbers of MATLAB are doubles, also where they are samples or milliseconds.
#' @noRd
in_whole_numbers <- function(times, by_type) {
  by_type || length(times) >= 10L && all(times == round(times), na.rm = TRUE)
}

#' Spikes from the times of each unit
#'
#' What lies beside them and has one value for each of several units is known of the units.
#' @param name The variable that the times are from.
#' @noRd
spikes_of_each <- function(times, name, variables, about, fail) {
  refuse_if(!is.null(about$trial_column) && !anyNA(about$trial_column), "trial_column",
            "left out where each unit has its times apart", "given",
            "Save a vector each of times, of units and of trials.")
  time <- as.double(unlist(times))
  if (!all(is.finite(time))) fail(sprintf("`%s` is not finite for some spikes", name))
  whole <- in_whole_numbers(time, any(vapply(times, \(one) isTRUE(attr(one, "whole")), NA)))
  per_second <- said_per_second(parse_column_name(basename(name))$said, whole,
                                sprintf("`%s`", name), about, fail)
  n <- length(times)
  known <- units_beside(variables, name, n, about$unit_column, fail)
  named_units(rep(seq_len(n), lengths(times)), known$labels, known$table,
              ticks = round_to_ticks(time, about$resolution, per_second))
}

#' Names of units whose times lie apart, and what else is said of each
#'
#' That lies beside their times, in the same structure. Beside a variable that is in none, a
#' name of the units may.
#' @param times The variable with their times.
#' @return `labels`, and a list of columns, `table`.
#' @noRd
units_beside <- function(variables, times, n, unit_column, fail) {
  if (!is.null(unit_column)) {
    at <- pick_column(unit_column, names(variables), "unit_column", FALSE)
    labels <- unit_names(value_of_each(variables[[at]], n))
    fail_if(is.null(labels), fail,
            sprintf("`%s` does not name each of %s differently", names(variables)[[at]],
                    counted(n, "unit")))
  } else {
    labels <- NULL
    at <- 0L
  }
  if (n == 1L) return(list(labels = labels %||% "1"))
  place <- sub("[^/]*$", "", times)
  beside <- setdiff(which(startsWith(names(variables), place)),
                    c(at, match(times, names(variables))))
  known <- lapply(variables[beside], value_of_each, n = n)
  known <- known[lengths(known) > 0L]
  names(known) <- substring(names(known), nchar(place) + 1L)
  bare <- parse_column_name(basename(names(known)))$bare
  for (pattern in if (is.null(labels)) c(unit_name_pattern, "^(u?ids?|labels?|names?)$")) {
    hit <- grep(pattern, bare)
    if (is.null(labels) && length(hit) == 1L) {
      labels <- unit_names(known[[hit]])
      if (!is.null(labels)) known <- known[-hit]
    }
  }
  list(labels = labels %||% number_labels(seq_len(n)), table = if (nzchar(place)) known)
}

#' The values of a variable that has one for each of `n` units, or `NULL`
#' @noRd
value_of_each <- function(node, n) {
  size <- prod(node$dim)
  if (node$kind == "numbers" && is_line(node) && size == n) return(node$read())
  if (node$kind == "words" && n > 1L && node$dim[[1L]] == n) return(node$read())
  if (node$kind != "cell" || size != n) return(NULL)
  one_value <- \(item) {
    if (item$kind == "numbers" && prod(item$dim) == 1) return(item$read())
    if (item$kind == "words") paste(item$read(), collapse = " ")
  }
  if (length(one_value(node$items(1L)[[1L]])) != 1L) return(NULL)
  values <- lapply(node$items(seq_len(n)), one_value)
  # Text and numbers, or nothing for some, are no column.
  if (all(lengths(values) == 1L) && length(unique(lapply(values, is.character))) == 1L) {
    unlist(values)
  }
}
