# Checks of what the functions for episodes share: tables of episodes, units, delays.

# ---- Tables of episodes --------------------------------------------------------------

#' Unit codes and tick bounds of a table of episodes
#' @noRd
episode_codes <- function(episodes, x) {
  check_episodes(episodes, "episodes")
  units <- .subset2(episodes, "units")
  sizes <- lengths(units)
  all <- enc2utf8(as.character(unlist(units, use.names = FALSE)))
  levels <- levels(.subset2(x, "unit"))
  code <- match(all, enc2utf8(levels))
  refuse_if(anyNA(code), "episodes", "episodes of units of the recording",
            paste0("one with \"", all[is.na(code)][[1L]], "\", which is none"),
            paste0("Its units are ", some(levels), "."))
  bounds <- check_bounds(as.double(unlist(.subset2(episodes, "low"))),
                         as.double(unlist(.subset2(episodes, "high"))), "episodes",
                         attr(x, "resolution", exact = TRUE))
  rows <- seq_along(units)
  unit_of <- factor(rep(rows, sizes), rows)
  edge_of <- factor(rep(rows, sizes - 1L), rows)
  list(units = unname(split(code, unit_of)), low = unname(split(as.double(bounds$low), edge_of)),
       high = unname(split(as.double(bounds$high), edge_of)))
}

# ---- Units -----------------------------------------------------------------------------

#' Names of units as text, UTF-8, or NULL where they are none
#' @noRd
unit_text <- function(units) {
  if (is.factor(units) || is_plain_numeric(units)) units <- as.character(units)
  ok <- is.character(units) && is.null(dim(units)) && length(units) > 0L && !anyNA(units)
  if (ok) enc2utf8(as.vector(units))
}

#' Unit names that occur among the levels of x
#' @noRd
check_units <- function(units, x, arg = rlang::caller_arg(units)) {
  names <- unit_text(units)
  if (is.null(names)) abort_arg(arg, "names of units", describe(units))
  levels <- enc2utf8(levels(x$unit))
  unknown <- setdiff(names, levels)
  refuse_if(length(unknown), arg, "names of units of the recording",
            paste0("\"", unknown[[1L]], "\", which is none"),
            paste0("Its units are ", some(levels), "."))
  unique(names)
}

# ---- Delays ------------------------------------------------------------------------------

#' Intervals as a matrix of seconds and a list of tick bounds
#' @noRd
check_intervals <- function(intervals, resolution) {
  must <- "c(low, high) in seconds, or a matrix with the columns low and high"
  seconds <- if (is.data.frame(intervals) && all(vapply(intervals, is_plain_numeric, NA))) {
    as.matrix(intervals)
  } else {
    intervals
  }
  refuse_if(is.data.frame(seconds) || !is.numeric(seconds) ||
              is.object(seconds) && !is.matrix(seconds), "intervals", must, describe(intervals))
  if (is.null(dim(seconds)) && length(seconds) == 2L) seconds <- matrix(seconds, 1L)
  if (!is.matrix(seconds) || ncol(seconds) != 2L || nrow(seconds) == 0L) {
    is <- if (is.matrix(seconds)) sprintf("a matrix of %d x %d", nrow(seconds), ncol(seconds))
    abort_arg("intervals", must, is %||% describe(intervals))
  }
  seconds <- matrix(as.double(seconds), ncol = 2L, dimnames = list(NULL, c("low", "high")))
  ticks <- check_bounds(seconds[, 1L], seconds[, 2L], "intervals", resolution)
  again <- which(duplicated(complex(real = ticks$low, imaginary = ticks$high)))
  refuse_if(length(again), "intervals", "different from each other",
            sprintf("the same in row %d as in an earlier row", again[[1L]]))
  list(seconds = seconds, ticks = ticks)
}

#' Bounds of delays in ticks: 0 <= low < high
#' @noRd
check_bounds <- function(low, high, arg, resolution) {
  must <- "intervals with 0 <= low < high, in seconds"
  bad <- which(!is.finite(low) | !is.finite(high) | low < 0 | low >= high)
  if (length(bad)) {
    k <- bad[[1L]]
    hint <- if (isTRUE(low[[k]] > high[[k]])) "The lower bound comes first."
    abort_arg(arg, must, paste0("(", format(low[[k]]), ", ", format(high[[k]]),
                                "] in interval ", k), hint)
  }
  ticks <- list(low = seconds_to_ticks(low, resolution, arg),
                high = seconds_to_ticks(high, resolution, arg))
  lapply(ticks, as.double)
}

# ---- Other arguments -----------------------------------------------------------------

#' The engine of `mine_episodes()`, with the variant of a published one
#'
#' @param given The name of an engine, or a list of the name and some of the others.
#' @return List of `engine`, `merge`, `compaction`, `dedup`.
#' @noRd
check_strategy <- function(given) {
  variants <- c("merge", "compaction", "dedup")
  given <- check_with_options(
    given, "engine", "engine", variants,
    sprintf("a name, or a list of a name and any of %s", toString(variants)),
    "For example `list(\"mtpe\", merge = \"published\")`."
  )
  list(engine = check_choice(given$engine, c("auto", union(cpu_engines, gpu_engines)), "engine"),
       merge = check_choice(given$merge %||% "exact", c("exact", "published"), "engine$merge"),
       compaction = check_choice(given$compaction %||% "count-once", gpu_compactions,
                                 "engine$compaction"),
       dedup = check_flag(given$dedup %||% TRUE, "engine$dedup"))
}

#' Error where a variant was asked for that is of another engine than the one that counts
#' @noRd
check_strategy_fits <- function(strategy, place) {
  engines <- list(merge = if (strategy$merge != "exact") c("mtpe", "hybrid", "two-pass"),
                  compaction = if (strategy$compaction != "count-once") "occurrence",
                  dedup = if (!strategy$dedup) "occurrence")
  for (variant in names(engines)) {
    of <- engines[[variant]]
    if (is.null(of) || place$device == "gpu" && place$engine %in% of) next
    abort_arg(paste0("engine$", variant), "left out with this engine",
              sprintf("given, and the engine is \"%s\" on the %s", place$engine,
                      toupper(place$device)),
              sprintf("It is for %s on a GPU.", some(dQuote(of, FALSE))))
  }
}
