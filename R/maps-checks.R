# Arguments of causal maps.

check_extent <- function(source) {
  refuse_if(source$n == 0 || source$steps == 0, "x",
            "time steps (rows) of at least one series (columns)",
            sprintf("%s x %s", commas(source$steps), commas(source$n)))
}

#' Columns that `libraries` or `targets` name
#' @noRd
check_map_series <- function(which, names, arg = rlang::caller_arg(which)) {
  if (is.null(which)) return(seq_along(names))
  must <- "names or numbers of series, each once"
  if (is.character(which)) {
    at <- match(which, names)
    if (anyNA(at)) {
      unknown <- which[is.na(at)][[1L]]
      near <- names[which.min(utils::adist(unknown, names, ignore.case = TRUE))]
      abort_arg(arg, must, sprintf("%s, which is none", encodeString(unknown, quote = "\"")),
                if (length(near)) sprintf("Did you mean \"%s\"?", near))
    }
  } else {
    ok <- is_plain_numeric(which) && all(is.finite(which)) && all(which == round(which)) &&
      all(which >= 1 & which <= length(names))
    refuse_if(!ok, arg, must, describe(which),
              sprintf("Numbers are from 1 to %s.", commas(length(names))))
    at <- as.integer(which)
  }
  if (length(at) == 0L) abort_arg(arg, must, "empty")
  refuse_if(anyDuplicated(at), arg, must, sprintf("\"%s\" twice", names[at[anyDuplicated(at)]]))
  at
}

#' What a map is made of: the series, and which of them are libraries and targets
#'
#' @return A list: `source`, numbers of `libraries` and `targets`, and `E`, the dimensions of
#'   each target or `NULL`; the attribute `E_max`, the most dimensions that are searched or given.
#' @noRd
check_map_sides <- function(x, dataset, no_time, libraries, targets, E, E_max) {
  source <- map_source(x, dataset, no_time)
  check_extent(source)
  libraries <- check_map_series(libraries, source$names, "libraries")
  targets <- check_map_series(targets, source$names, "targets")
  E_max <- check_count(E_max, "E_max", max = map_dimensions_most)
  E <- check_map_E(E, source$names[targets])
  structure(list(source = source, libraries = libraries, targets = targets, E = E),
            E_max = if (is.null(E)) E_max else max(1L, E, na.rm = TRUE))
}

#' Dimensions of each target, or NULL
#' @noRd
check_map_E <- function(E, names) {
  if (is.null(E)) return(NULL)
  must <- sprintf("whole numbers from 1 to %d", map_dimensions_most)
  if (!is.atomic(E) || is.object(E)) abort_arg("E", must, describe(E))
  if (is.logical(E) && all(is.na(E))) storage.mode(E) <- "integer"
  known <- E[!is.na(E)]
  ok <- is.numeric(E) && length(E) > 0L && all(known == round(known)) &&
    all(known >= 1 & known <= map_dimensions_most)
  if (!ok) abort_arg("E", must, describe(E))
  if (!is.null(names(E)) && length(E) > 1L) {
    missing <- setdiff(names, names(E))
    refuse_if(length(missing), "E", "named by all targets",
              paste("without", some(dQuote(missing, FALSE))))
    E <- E[names]
  }
  refuse_if(!length(E) %in% c(1L, length(names)), "E",
            sprintf("one number, or one for each of the %s targets", commas(length(names))),
            describe(E))
  rep_len(as.integer(unname(E)), length(names))
}

check_map_tau <- function(tau) {
  tau <- edm_shift(tau, "tau")
  refuse_if(tau == 0, "tau", "a number of steps other than 0", "0",
            "`tau = -1` takes each step and the ones before it.")
  tau
}

check_map_sizes <- function(lib_sizes) {
  if (is.null(lib_sizes)) return(NULL)
  ok <- is_plain_numeric(lib_sizes) && length(lib_sizes) == 2L && !anyNA(lib_sizes) &&
    all(lib_sizes == round(lib_sizes)) && lib_sizes[[1L]] >= 3 &&
    lib_sizes[[1L]] < lib_sizes[[2L]] && (lib_sizes[[2L]] == Inf || lib_sizes[[2L]] < 2^31)
  if (!ok) {
    abort_arg("lib_sizes", "two numbers of steps, a small one of at least 3 and a larger one",
              if (length(lib_sizes) == 2L) paste(format(lib_sizes, trim = TRUE), collapse = " and ")
              else describe(lib_sizes),
              "`Inf` stands for all steps there are.")
  }
  as.double(lib_sizes)
}

#' Stop where an argument was given that what else was given leaves unused
#'
#' @param given Names of the arguments that the user gave.
#' @noRd
check_map_unused <- function(given, E, n_surrogates, surrogate) {
  unused <- function(arg, why, hint) {
    if (arg %in% given) abort_arg(arg, paste("left out", why), "given", hint)
  }
  if (!is.null(E)) {
    searched <- "They say how the dimensions of targets are found: leave out one or the other."
    unused("E_max", "where `E` is given", searched)
    unused("validation", "where `E` is given", searched)
  }
  if (n_surrogates == 0) {
    hint <- "Say how many there are to be, such as `n_surrogates = 99`."
    unused("surrogate", "without `n_surrogates`", hint)
    unused("period", "without `n_surrogates`", hint)
  } else if (surrogate != "seasonal") {
    unused("period", sprintf("with `surrogate = \"%s\"`", surrogate),
           "It is for seasonal surrogates.")
  }
}

#' The `period`, where targets can have such surrogates
#' @noRd
check_map_surrogates <- function(surrogate, period, source, targets) {
  refuse_if(source$steps < 2, "n_surrogates", "0 for series of a single step", "more")
  if (surrogate == "seasonal") {
    refuse_if(is.null(period), "period", "the number of steps of a season's round", "NULL",
              "Give it, such as 12 for months.")
    return(check_count(period, "period", min = 2, max = source$steps))
  }
  if (surrogate %in% c("phase", "twin")) {
    for (part in pieces(length(targets), max(1, floor(2^22 / source$steps)))) {
      missing <- which(is.na(colSums(source$read(targets[part]))))
      if (length(missing)) {
        others <- "\"shift\", \"shuffle\" or \"seasonal\" where a target has missing values"
        abort_arg("surrogate", others, sprintf("\"%s\", and \"%s\" has some", surrogate,
                                               source$names[[targets[part[[missing[[1L]]]]]]]))
      }
    }
  }
  NULL
}

# ---- The device -----------------------------------------------------------------------

#' The device that maps, and the GPUs (from 0)
#' @noRd
map_place <- function(device, gpus, task) {
  gpus <- check_gpus(gpus, device)
  half <- task$rule$precision == "half"
  refuse_if(half && device == "cpu", "precision", "\"float\" on the CPU", "\"half\"",
            "Half precision needs a GPU: `device = \"gpu\"`.")
  settle_place(device, gpus, map_seconds(task), half)
}

#' Seconds that a task takes on the CPU, about
#' @noRd
map_seconds <- function(task) {
  rule <- task$rule
  steps <- task$source$steps
  views <- length(rule$Tp) * (1 + !is.null(rule$lib_sizes) + rule$n_surrogates)
  search <- if (is.null(task$E)) length(task$targets) * library_seconds(steps, rule$E_max, 1, 1)
  map <- length(task$libraries) * library_seconds(steps, rule$E_max, length(task$targets), views)
  sum(search, map) / rule$threads
}
