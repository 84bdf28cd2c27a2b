# Mapping libraries block by block, so that neither a map nor the series it is made of need
# be held as a whole.
#
# Here is what is decided beforehand: how many libraries make a *block*, how many blocks are
# kept at once (a *stretch*), and which targets, or surrogates of targets, fit in memory
# together (a *group*). The compiled code (glue/causal_map.c) maps each stretch to one group
# after the other, and each block once for every *view* of a group: a `Tp`, from whole or
# from small libraries.

map_dimensions_most <- 30       # of the compiled code
# A prime number: few series come back to where they were after eleven steps, and many of
# oscillating ones do so after eight.
map_screen_stride <- 11
block_seconds <- 2              # about, so that progress shows

#' What decides the numbers of a map, and what it may use
#'
#' @param E_max Most dimensions: of the search where there is one, else of what is given.
#' @param Tp Whole numbers; of several, each pair keeps its best.
#' @param lib_sizes `NULL` or two sizes, the second perhaps `Inf`.
#' @param n_surrogates,surrogate,period How many, and how [surrogate_series()] makes them.
#' @param screen `NULL`, or the rho that pairs must reach.
#' @param key Of random numbers; see random_key().
#' @param threads,max_memory These decide no numbers.
#' @param vector_bits For tests: 1 for portable code, 256 or 512 for registers that wide.
#' @noRd
map_rule <- function(E_max, tau = -1, Tp = 0, exclusion = 0, lib_sizes = NULL,
                     n_surrogates = 0, surrogate = NULL, period = NULL, screen = NULL,
                     precision = "float", key = c(0, 0), threads = 1, max_memory = 4e9,
                     vector_bits = 0) {
  # The nearest to 0 come first, and of two the earlier: a later one must be better.
  Tp <- Tp[order(abs(Tp), Tp)]
  list(E_max = E_max, tau = tau, Tp = Tp, exclusion = exclusion, lib_sizes = lib_sizes,
       n_surrogates = n_surrogates, surrogate = surrogate, period = period,
       screen = screen,
       precision = precision, key = key, threads = threads, max_memory = max_memory,
       vector_bits = vector_bits)
}

#' Options as the compiled code takes them
#' @noRd
map_options <- function(rule, E_max = rule$E_max, Tp = rule$Tp[[1L]], lib_size = 0,
                        screen = NULL, gpus = NULL) {
  c(list(E_max = E_max, Tp = Tp, lib_size = lib_size, screen = screen, gpus = gpus,
         stride = map_screen_stride, half = rule$precision == "half"),
    rule[c("tau", "exclusion", "threads", "vector_bits", "key")])
}

#' Which layers a map has, besides rho
#' @noRd
rule_layers <- function(rule) {
  c("rho", if (length(rule$Tp) > 1L) "lag", if (rule$n_surrogates > 0) "p_value",
    if (!is.null(rule$lib_sizes)) "convergence")
}

# ---- Dimensions ----------------------------------------------------------------------

#' Skill of each series at each number of dimensions
#'
#' @param columns Columns of the source.
#' @param rule From map_rule(), with one `Tp`.
#' @param split Whether the first half predicts the second one.
#' @return Double matrix, `E_max` x columns.
#' @noRd
map_dimensions <- function(source, columns, rule, split, place) {
  skill <- matrix(NA_real_, rule$E_max, length(columns))
  width <- min(16384, rule$max_memory / 4 / (24 * source$steps))
  if (place$device == "cpu") {
    width <- min(width, block_seconds * rule$threads /
                   library_seconds(source$steps, rule$E_max, 1, 1))
  }
  width <- max(1, rule$threads, floor(width))
  # A GPU takes no more memory than the series do, which are made ready batch by batch.
  whole <- if (place$device == "gpu" && identical(as.integer(columns), seq_len(source$n))) {
    source$whole
  }
  if (!is.null(whole)) width <- length(columns)
  bar <- common_bar("Finding dimensions", length(columns))
  # What is kept has the numbers of columns.
  tables <- if (all(diff(columns) == 1)) place$tables
  for (block in pieces(length(columns), width)) {
    found <- .Call(r_map_dimensions, whole %||% source$read(columns[block]),
                   map_options(rule, gpus = gpus_of(place)), split, tables,
                   columns[[block[[1L]]]] - 1)
    skill[, block] <- finish_status(found, "finding dimensions", limit_of = "steps")
    bar(length(block))
  }
  skill
}

#' Room on GPUs for neighbours that the search for dimensions finds and the map uses
#'
#' In a map of all series onto all of them, with `Tp = 0`, each has the same neighbours as in
#' the search for its dimensions, save for the last step. Other kinds of maps have no use for
#' them.
#'
#' @return For `place$tables`: a pointer, to be closed after the map, or NULL.
#' @noRd
open_tables <- function(task) {
  rule <- task$rule
  all <- seq_len(task$source$n)
  same <- identical(as.integer(task$libraries), all) && identical(as.integer(task$targets), all)
  if (task$kind != "causal_map" || task$place$device != "gpu" || !is.null(task$E) ||
      task$split || !same || !0 %in% rule$Tp || rule$tau != -1 || !is.null(rule$lib_sizes)) {
    return(NULL)
  }
  options <- map_options(rule, Tp = 0, gpus = gpus_of(task$place))
  finish_status(.Call(r_map_tables, task$source$steps, options), "this map", map_advice)
}

close_tables <- function(task) {
  if (!is.null(task$place$tables)) .Call(r_map_close, task$place$tables)
}

#' Dimensions of the first maximum of each column, `NA` without any
#' @noRd
first_maximum <- function(skill) {
  skill[is.na(skill)] <- -Inf
  at <- max.col(t(skill), "first")
  at[skill[cbind(at, seq_along(at))] == -Inf] <- NA
  at
}

# ---- The driver ----------------------------------------------------------------------

#' Map libraries to targets, block by block, in one call of the compiled code
#'
#' @param source From map_source().
#' @param libraries,targets Columns of the source.
#' @param E Dimensions of each target; `NA` where there are none, and so no skill.
#' @param rule From map_rule().
#' @param place List of `device`, `gpus` from 0, and perhaps `tables`, see open_tables().
#' @param keep Called for some of `libraries`, from the first to the last, with
#'   their columns and a list of double matrices, these libraries x targets: `rho` and, as
#'   rule_layers() says, `lag`, `p_value`, `convergence`. They are written anew for the
#'   next call, so whoever wants to keep them must copy them. `NULL` to get the matrices of
#'   all libraries as the result.
#' @return A list: `layers`, these matrices or `NULL`, and the seconds that GPUs took for
#'   `neighbours` and `correlations`.
#' @noRd
map_libraries <- function(source, libraries, targets, E, rule, place, keep = NULL) {
  job <- list(
    source = source, steps = source$steps, whole = source$whole,
    libraries = as.integer(libraries), targets = as.integer(targets), E = as.integer(E),
    rule = rule, Tp = as.integer(rule$Tp), layers = rule_layers(rule),
    n_surrogates = rule$n_surrogates, no_rho = without_rho(rule, libraries),
    no_p_value = rule$reasons[targets] %in% 3L, keep = keep, gpus = gpus_of(place),
    # A series, and what its surrogates are made with, take 100 bytes a step and less.
    fill = max(1, floor(min(2^21, rule$max_memory / 1000) / source$steps))
  )
  sizes <- rev(rule$lib_sizes %||% Inf)
  job$lib_size <- if (is.finite(sizes[[1L]])) sizes[[1L]] else 0
  job$small <- c(sizes, 0)[[2L]]
  plan <- map_plan(job)
  job$groups <- plan$groups
  job$stretches <- lapply(pieces(length(libraries), plan$stretch), \(stretch) {
    library_blocks(libraries[stretch], plan$block, rule)
  })
  job$read <- series_reader(job)
  bar <- common_bar("Mapping", length(libraries) * max(1L, length(plan$groups)))
  job$bar <- \(n, unused) bar(n)
  options <- map_options(rule, lib_size = job$lib_size, screen = rule$screen, gpus = job$gpus)
  finish_status(.Call(r_map, job, options, place$tables), "this map", map_advice)
}

map_advice <- "Lower `max_memory`, so that fewer targets and libraries are held at a time."

#' A function that gives some columns of the source, or a surrogate of each
#' @noRd
series_reader <- function(job) {
  made <- NULL
  function(columns, surrogate) {
    if (surrogate == 0L) return(job$source$read(columns))
    # What surrogates of the same targets are made with is kept from one to the next.
    if (!identical(made$columns, columns)) {
      E <- job$E[match(columns, job$targets)]
      made <<- list(columns = columns,
                    one = target_surrogates(job$source$read(columns), columns, E, job$rule))
    }
    made$one(surrogate)
  }
}

#' Sizes of blocks; where points are drawn, the libraries of a block are numbered one after
#' the other
#' @noRd
library_blocks <- function(columns, each, rule) {
  runs <- if (is.null(rule$lib_sizes)) length(columns) else
    tabulate(cumsum(c(1, diff(columns) != 1)))
  unlist(lapply(runs, \(n) lengths(pieces(n, each))))
}

#' Numbers of libraries in a block, and in a stretch of blocks, and groups of targets, that
#' fit in memory
#'
#' A group is a list of `columns` (places among the targets) and the numbers of
#' `surrogates`, NULL for the targets themselves.
#' @noRd
map_plan <- function(job) {
  rule <- job$rule
  steps <- job$source$steps
  known <- which(!is.na(job$E))
  n <- length(known)
  views <- length(rule$Tp) * (1 + !is.null(rule$lib_sizes))
  # All targets at once, even if little is left beside them: each group finds all neighbours
  # again.
  # The processor has sums for each thread.
  on_cpu <- is.null(job$gpus)
  each <- \(views) 4 * steps * views + on_cpu * 48 * rule$threads
  # Each thread keeps the neighbours of a library, 32 MB at most.
  tables <- rule$threads * min(2^25, 8 * steps * sum(unique(job$E[known]) + 2))
  memory <- rule$max_memory - on_cpu * tables
  memory <- max(memory, rule$max_memory / 4)
  fits <- each(views) * n <= 0.9 * memory
  most <- if (fits) max(1, n) else max(1, floor(memory / 3 / each(views)))
  groups <- lapply(pieces(n, most), \(part) list(columns = known[part], surrogates = NULL))
  if (rule$n_surrogates > 0) {
    # More of them at once are worth it until finding neighbours takes little of the time.
    room <- min(floor(memory / 2 / each(length(rule$Tp))), 2^15)
    at_once <- max(1, min(rule$n_surrogates, floor(room / max(1, n))))
    groups <- c(groups, unlist(lapply(pieces(rule$n_surrogates, at_once), \(numbers) {
      lapply(pieces(n, most), \(part) {
        list(columns = known[part], surrogates = numbers)
      })
    }), recursive = FALSE))
  }
  size <- \(g) length(g$columns) * max(1L, length(g$surrogates))
  width <- max(1, vapply(groups, size, 0))
  held <- vapply(groups, \(g) {
    size(g) * each(if (is.null(g$surrogates)) views else length(rule$Tp))
  }, 0)
  spare <- max(memory - max(0, held), memory / 10)
  layers <- length(rule_layers(rule))
  # What a library takes: its series, in R, and in two blocks ready for the search; its skill in
  # single precision, twice, as one block is made while another is looked at; and that of
  # surrogates in R's.
  bytes <- 28 * steps + width * (8 + if (rule$n_surrogates > 0) 8 else 0)
  block <- min(spare / 3, if (on_cpu) 2^26 else 2^30) / bytes
  if (on_cpu) {
    seconds <- library_seconds(steps, max(1L, job$E, na.rm = TRUE), width, views)
    block <- min(block, max(4 * rule$threads, block_seconds * rule$threads / seconds))
  }
  # The more a device has in hand, the less it waits at the end of each block.
  block <- max(1, min(floor(block), if (on_cpu) 1024 else 4096))
  stretch <- block
  if (length(groups) > 1L) {
    stretch <- floor(spare / 3 / (8 * layers * max(1, length(job$targets))))
    stretch <- max(1, min(stretch, length(job$libraries)))
    block <- min(block, stretch)
  }
  list(groups = groups, block = block, stretch = stretch)
}

#' Seconds that a library takes on one thread, about
#' @noRd
library_seconds <- function(steps, E, targets, views) {
  views * (steps^2 * (E + 4) / 4e9 + targets * steps * (E + 1) / 1e9)
}

#' A function that makes surrogate `number` of each column of x
#'
#' They depend on the column of the source and on the key alone.
#' @noRd
target_surrogates <- function(x, columns, E, rule) {
  makers <- lapply(seq_len(ncol(x)), \(j) {
    surrogate_maker(x[, j], rule$surrogate, rule$period, max(E[[j]], 2L), rule$tau)
  })
  # Streams of libraries have low numbers.
  keys <- lapply(columns, \(column) random_below(2, 2^32, rule$key, 2^52 + column))
  function(number) {
    vapply(seq_along(makers), \(j) makers[[j]](keys[[j]], number), double(nrow(x)))
  }
}

#' The best dimensions of some columns of the source; `NA` where there are none
#' @noRd
find_dimensions <- function(task, columns) {
  rule <- task$rule
  rule$Tp <- 1
  rule$precision <- "float"
  E <- first_maximum(map_dimensions(task$source, columns, rule, task$split, task$place))
  replace(E, without_rho(rule, columns), NA)
}

say_dimensions <- function(E, task) {
  steps <- task$source$steps
  searched <- is.null(task$E)
  n <- if (searched) sum(is.na(E) & !without_rho(task$rule, task$targets)) else
    sum(steps - (E - 1) * abs(task$rule$tau) < E + 1, na.rm = TRUE)
  if (n == 0 || !searched && task$kind != "causal_map") return(invisible())
  info("dimensions", if (searched) {
    "No number of dimensions predicts {commas(n)} of {commas(length(E))}
     target{cli::qty(length(E))}{?s}: {cli::qty(n)}{?it is/they are} too short or full of gaps,
     and {?its column is/their columns are} NA."
  } else {
    "{commas(n)} target{cli::qty(n)}{?s} {?has/have} more dimensions than {commas(steps)} steps
     allow: {cli::qty(n)}{?its column is/their columns are} NA."
  })
}
