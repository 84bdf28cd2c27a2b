# Mapping libraries block by block, so that neither a map nor the series it is made of need
# be held as a whole.
#
# Targets are kept in compiled code, as a *group*: all of them where memory allows, else as
# many as fit; and likewise surrogates of targets. Each group is mapped once for every
# *view*: a `Tp`, from whole or from small libraries. Blocks of libraries are the innermost
# loop but one, the views of a group the innermost.

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
map_dimensions <- function(source, columns, rule, split, place,
                           call = rlang::caller_env()) {
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
    found <- finish_status(found, "finding dimensions", limit_of = "steps", call = call)
    skill[, block] <- found$rho
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
open_tables <- function(task, call) {
  rule <- task$rule
  all <- seq_len(task$source$n)
  same <- identical(as.integer(task$libraries), all) && identical(as.integer(task$targets), all)
  if (task$kind != "causal_map" || task$place$device != "gpu" || !is.null(task$E) ||
      task$split || !same || !0 %in% rule$Tp || rule$tau != -1 || !is.null(rule$lib_sizes)) {
    return(NULL)
  }
  options <- map_options(rule, Tp = 0, gpus = gpus_of(task$place))
  finish_status(.Call(r_map_tables, task$source$steps, options), "this map", map_advice,
                call = call)
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

#' Map libraries to targets, block by block
#'
#' @param source From map_source().
#' @param libraries,targets Columns of the source.
#' @param E Dimensions of each target; `NA` where there are none, and so no skill.
#' @param rule From map_rule().
#' @param place List of `device`, `gpus` from 0, and perhaps `tables`, see open_tables().
#' @param keep Called for some of `libraries`, from the first to the last, with
#'   their columns and a list of double matrices, these libraries x targets: `rho` and, as
#'   rule_layers() says, `lag`, `p_value`, `convergence`. They are written anew for the
#'   next call, so whoever wants to keep them must copy them.
#' @param into A list of such matrices of all `libraries`, to be written in place instead of
#'   calling `keep`, for which the order of `libraries` is that of the rows. Columns of
#'   targets without dimensions are left as they are. Not used with surrogates.
#' @return Seconds that devices took: `neighbours` and `correlations`; 0 on the CPU.
#' @noRd
map_libraries <- function(source, libraries, targets, E, rule, place, keep, into = NULL,
                          call = rlang::caller_env()) {
  job <- rlang::env(source = source, libraries = libraries, targets = targets,
                    E = as.integer(E), rule = rule, gpus = gpus_of(place),
                    tables = place$tables, call = call,
                    into = if (rule$n_surrogates == 0) into, maps = NULL, group = 0L,
                    running = list(), spare = NULL, best = NULL, report = c(0, 0))
  plan <- map_plan(job)
  on.exit(close_maps(job))
  bar <- common_bar("Mapping", length(libraries) * max(1L, length(plan$groups)))
  for (stretch in pieces(length(libraries), plan$stretch)) {
    map_stretch(job, stretch, plan, keep, bar)
  }
  advance(job)
  if (!is.null(job$into)) drop_rows(job$into, libraries, rule)
  c(neighbours = job$report[[1L]], correlations = job$report[[2L]])
}

#' Map some libraries to all groups, and let them be kept
#' @param stretch Places among the libraries.
#' @noRd
map_stretch <- function(job, stretch, plan, keep, bar) {
  direct <- !is.null(job$into)
  values <- if (direct) job$into else
    map_values(job$values, length(stretch), length(job$targets), job$rule)
  if (!direct) job$values <- values
  before <- if (direct) stretch[[1L]] - 1 else 0
  finish <- function() {
    if (direct) return(invisible())
    if (job$rule$n_surrogates > 0) {
      .Call(r_map_p_values, values$p_value, values$rho, job$rule$n_surrogates)
    }
    columns <- job$libraries[stretch]
    keep(columns, drop_values(values, columns, job$targets, job$rule))
  }
  columns <- job$libraries[stretch]
  blocks <- library_blocks(columns, plan$block, job$rule)
  for (g in seq_along(plan$groups)) {
    open_group(job, g, plan$groups[[g]])
    for (b in seq_along(blocks)) {
      ends <- g == length(plan$groups) && b == length(blocks)
      map_block(job, columns[blocks[[b]]], before + blocks[[b]][[1L]] - 1,
                plan$groups[[g]], values,
                map_then(length(blocks[[b]]), bar, if (ends) finish))
    }
  }
  if (length(plan$groups) == 0L) finish()
  # Only with a single group is the next stretch begun before this one is kept.
  if (length(plan$groups) > 1L) advance(job)
}

#' What is to be done once a block of `n` libraries is mapped
#' @noRd
map_then <- function(n, bar, finish) {
  # The loop that asks for this goes on before it is done.
  force(n)
  force(finish)
  function() {
    bar(n)
    if (!is.null(finish)) finish()
  }
}

#' Runs of libraries; where points are drawn these are numbered one after the other
#' @noRd
library_blocks <- function(columns, each, rule) {
  if (is.null(rule$lib_sizes)) return(pieces(length(columns), each))
  runs <- split(seq_along(columns), cumsum(c(1, diff(columns) != 1)))
  unlist(lapply(unname(runs), \(run) {
    lapply(pieces(length(run), each), \(part) run[part])
  }), recursive = FALSE)
}

#' Sizes of blocks, and groups of targets, that fit in memory
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
  memory <- rule$max_memory - on_cpu * table_bytes(rule, steps, job$E)
  memory <- max(memory, rule$max_memory / 4)
  fits <- each(views) * n <= 0.9 * memory
  most <- if (fits) max(1, n) else max(1, floor(memory / 3 / each(views)))
  groups <- lapply(pieces(n, most), \(part) list(columns = known[part]))
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

#' Bytes of the neighbours of a library that threads keep, 32 MB each at most
#' @noRd
table_bytes <- function(rule, steps, E) {
  E <- unique(E[!is.na(E)])
  rule$threads * min(2^25, 8 * steps * sum(E + 2))
}

#' Seconds that a library takes on one thread, about
#' @noRd
library_seconds <- function(steps, E, targets, views) {
  views * (steps^2 * (E + 4) / 4e9 + targets * steps * (E + 1) / 1e9)
}

#' Matrices of NA, those that are there when they fit
#' @noRd
map_values <- function(there, n, m, rule) {
  if (!is.null(there) && nrow(there$rho) == n) return(there)
  lapply(rlang::set_names(rule_layers(rule)), \(layer) matrix(NA_real_, n, m))
}

# ---- Blocks --------------------------------------------------------------------------

#' Start a block of libraries at every view of a group
#'
#' @param row Where the block begins in `values`, from 0.
#' @param then Called once all of it is in `values`.
#' @noRd
map_block <- function(job, columns, row, group, values, then) {
  # All of these are looked at when the next block has been started.
  force(row)
  force(group)
  force(values)
  force(then)
  x <- series_of(job$source, columns)
  views <- job$maps
  for (k in seq_along(views)) {
    local({
      k <- k
      n <- length(columns)
      advance(job, views[[k]]$map, x, columns[[1L]] - 1, function(block) {
        add_view(job, block, views[[k]], k == 1L, group, n, row, values)
        if (k == length(views)) {
          count_surrogates(job, group, row, values)
          then()
        }
      })
    })
  }
}

#' Some columns of a source, for the compiled code: those of a matrix as they are
#'
#' A copy of many series takes as long as they take the compiled code.
#' @return List of `values`, a double matrix, and `run`: the columns from and to, from 0, that
#'   are meant, or NULL for all.
#' @noRd
series_of <- function(source, columns) {
  n <- length(columns)
  if (is.null(source$whole) || n == 0L || !all(diff(columns) == 1)) {
    return(list(values = source$read(columns)))
  }
  list(values = source$whole, run = c(columns[[1L]] - 1, columns[[n]]))
}

#' Give the next work to the device before what it has done is looked at
#'
#' It is made ready while the device is at work, in the memory of the block before, and waits
#' until the device goes on to it by itself. Only another view, which has targets of its own on
#' the device, is begun after that.
#'
#' @param map,x,first A block, whose series are `x`, from series_of(); without, none comes next.
#' @param then Called with the block once it is finished.
#' @noRd
advance <- function(job, map = NULL, x = NULL, first = 0, then = NULL) {
  done <- job$running
  begin <- function() {
    finish_status(.Call(r_map_begin, map, block), "this map", map_advice, call = job$call)
    job$running <- c(job$running, list(list(map = map, block = block, then = then)))
  }
  queued <- length(done) > 0L && identical(map, done[[1L]]$map)
  if (!is.null(map)) {
    block <- finish_status(.Call(r_map_prepare, map, x$values, x$run, first, job$spare),
                           "this map", map_advice, call = job$call)
  }
  drop_spare(job)
  if (queued) begin()
  for (one in done) {
    report <- finish_status(.Call(r_map_finish, one$map, one$block), "this map",
                            map_advice, call = job$call)
    job$report <- job$report + report[2:3]
    job$running <- job$running[-1L]
  }
  if (!is.null(map) && !queued) begin()
  for (one in done) {
    one$then(one$block)
    job$spare <- one$block
  }
}

drop_spare <- function(job) {
  if (!is.null(job$spare)) .Call(r_map_close, job$spare)
  job$spare <- NULL
}

map_advice <- "Lower `max_memory`, so that fewer targets and libraries are held at a time."

#' Write what a block found at a view where it is better than what is there
#'
#' Of surrogates that is a matrix of the job, which is used again for each block.
#' @param first Whether it is the first view.
#' @noRd
add_view <- function(job, block, view, first, group, n, row, values) {
  columns <- group$columns
  if (!is.null(group$surrogates)) {
    m <- length(columns) * length(group$surrogates)
    if (!identical(dim(job$best), as.integer(c(n, m)))) {
      job$best <- NULL
      job$best <- matrix(NA_real_, n, m)
    }
    .Call(r_map_best, block, view$Tp, first, job$best, NULL, 0, seq_len(m))
  } else if (view$small) {
    .Call(r_map_convergence, block, view$Tp, values$rho, values$lag, values$convergence,
          row, columns)
  } else if (is.null(values$lag)) {
    .Call(r_map_values, block, values$rho, row, columns)
  } else {
    .Call(r_map_best, block, view$Tp, first, values$rho, values$lag, row, columns)
  }
}

#' Of surrogates, how many are as good as the targets
#' @noRd
count_surrogates <- function(job, group, row, values) {
  if (is.null(group$surrogates)) return(invisible())
  .Call(r_map_count, job$best, group$surrogates[[1L]] == 1, values$rho, values$p_value, row,
        group$columns)
}

# ---- Groups --------------------------------------------------------------------------

#' Give the targets, or surrogates, of a group to the compiled code, once for each view
#' @noRd
open_group <- function(job, number, group) {
  if (job$group == number) return(invisible())
  advance(job)
  close_maps(job)
  rule <- job$rule
  E <- rep(job$E[group$columns], max(1L, length(group$surrogates)))
  for (view in group_views(rule, group)) {
    # Libraries are drawn among points of E_max dimensions, whatever group this is.
    E_max <- if (view$lib_size > 0) rule$E_max else max(E)
    options <- map_options(rule, E_max, view$Tp, view$lib_size, view$screen, job$gpus)
    tables <- if (view$Tp == 0) job$tables
    view$map <- finish_status(
      .Call(r_map_open, length(E), job$source$steps, E, options, tables), "these targets",
      map_advice, call = job$call
    )
    job$maps <- c(job$maps, list(view))
  }
  fill <- function(first, x) {
    for (view in job$maps) {
      finish_status(.Call(r_map_fill, view$map, first, x$values, x$run), "these targets",
                    map_advice, call = job$call)
    }
  }
  fill_group(job, group, fill)
  job$group <- number
}

#' Ways to map a group: Tp, library size (0: all), whether it is for comparison only
#' @noRd
group_views <- function(rule, group) {
  sizes <- rule$lib_sizes %||% Inf
  size <- sizes[[length(sizes)]]
  size <- if (is.finite(size)) size else 0
  all <- lapply(rule$Tp, \(Tp) {
    own <- is.null(group$surrogates)
    full <- list(Tp = Tp, lib_size = size, small = FALSE, screen = if (own) rule$screen)
    small <- if (own && length(sizes) > 1L) list(Tp = Tp, lib_size = sizes[[1L]], small = TRUE)
    c(list(full), if (!is.null(small)) list(small))
  })
  unlist(all, recursive = FALSE)
}

fill_group <- function(job, group, fill) {
  # A series, and what its surrogates are made with, take 100 bytes a step and less.
  values <- min(2^21, job$rule$max_memory / 1000)
  width <- max(1, floor(values / job$source$steps))
  for (part in pieces(length(group$columns), width)) {
    columns <- job$targets[group$columns[part]]
    if (is.null(group$surrogates)) {
      fill(part[[1L]] - 1, series_of(job$source, columns))
      next
    }
    make <- target_surrogates(job$source$read(columns), columns, job$E[group$columns[part]], job$rule)
    for (s in seq_along(group$surrogates)) {
      fill((s - 1) * length(group$columns) + part[[1L]] - 1,
           list(values = make(group$surrogates[[s]])))
    }
  }
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

close_maps <- function(job) {
  # The device stops before what it writes to goes.
  for (one in job$running) .Call(r_map_close, one$block)
  job$running <- list()
  drop_spare(job)
  for (view in job$maps) .Call(r_map_close, view$map)
  job$maps <- NULL
  job$group <- 0L
}

