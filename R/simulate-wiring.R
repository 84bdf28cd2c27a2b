# Wirings: which series drive which others, how strongly and after how many steps.

#' Make a wiring for simulated series
#'
#' `wiring()` says which series drive which others. [simulate_coupled_maps()] and
#' [simulate_calcium()] make series that are wired so, and [truth_links()] says which
#' links a method should find in them and what may mislead it.
#'
#' # Motifs
#' `x` may be names of motifs, one motif for each, or numbers with these names:
#' `c(chain = 20, loop = 5)`. A motif has `size` series unless said otherwise:
#' * `"pair"`: one series drives another (two series).
#' * `"feedback"`: two series drive each other (two series).
#' * `"chain"`: the first drives the second, the second the third and so on. So the first
#'   drives the third through the second, and only through it.
#' * `"common_driver"`: the first drives all others, which have no links with each other.
#' * `"hidden_driver"`: the same, but the driver is hidden, so that the result has
#'   `size - 1` of these series.
#' * `"loop"`: a chain whose last series drives the first.
#' * `"fan_in"`: all but the last drive the last.
#' * `"triangle"`: the first drives the second and both drive the third (three series). So
#'   the first drives the third directly and through the second.
#'
#' Each motif takes series of its own unless `overlap = TRUE`. Then each motif takes
#' series drawn at random from all `series`, so that motifs share series and make up one
#' random graph, with longer paths and more shared drivers than the motifs alone have.
#' Where two motifs have the same link, it is made once. `wiring(c(pair = 200), series =
#' 100, overlap = TRUE)` is a random graph of (nearly) 200 links.
#'
#' @param x One of
#'   * names of motifs, or numbers of motifs with these names;
#'   * a square matrix of the strengths of links, `x[cause, effect]`, 0 where there is no
#'     link, which may be a sparse one of the package Matrix;
#'   * a data frame with a row for each link and the columns `cause` and `effect`, which
#'     give names or numbers of series, and where wanted `strength` and `delay`.
#' @param series For motifs, the number of series in the result; those that no motif takes
#'   have no links. By default as many as the motifs take. For a data frame, the number of
#'   all series or their names; by default those that have links. A matrix names its own.
#' @param strength Strength of the links of motifs or of a data frame without the column:
#'   one number, or several, from which each link's is drawn. `NULL`: the argument
#'   `strength` of the simulator decides. The simulators say what a strength means.
#' @param delay How many steps after its cause an effect follows, at least 1: one whole
#'   number for all links; several, from which each link's is drawn; or, where `x` is a
#'   matrix, a matrix of the same shape, `delay[cause, effect]`.
#' @param hidden Names or numbers of series that drive others like all series do, but are left
#'   out of the simulated result. Numbers count the series in the order in which they are made:
#'   those of the first motif come first, hidden drivers last.
#' @param size Number of series of each motif, at least 3: one for all, or numbers with
#'   the names of motifs, such as `c(chain = 5)`; 3 for those without. Motifs of two or
#'   three series have no other size.
#' @param overlap Whether motifs may share series.
#'
#' @return An object of class `wiring`. `as.data.frame()` gives its links: `cause` and
#'   `effect` (names), `strength` (`NA` where the simulator decides), `delay` (steps),
#'   `motif` (its name, `NA` without motifs) and `copy` (which of the motifs of that
#'   name). Random draws depend on [set.seed()].
#' @section Errors:
#' Every error has the class `synfire_error_argument`. There is one for motifs that do not
#' exist, links from a series to itself, two links with the same cause and effect,
#' strengths that are negative or not finite, delays that are not whole or below 1, motifs
#' that take more series than there are, and a wiring without any series that is not
#' hidden.
#' @seealso [simulate_coupled_maps()], [simulate_calcium()], [truth_links()]
#' @examples
#' wiring("chain")
#' set.seed(1)
#' brain <- wiring(c(chain = 4, common_driver = 3, hidden_driver = 3), series = 40,
#'                 delay = 1:3)
#' brain
#' head(as.data.frame(brain))
#' x <- simulate_coupled_maps(300, brain)
#' table(truth_links(x)$link)
#' # Two series, each of which drives the other, one of them after three steps:
#' wiring(rbind(c(0, 0.1), c(0.05, 0)), delay = rbind(c(1, 3), c(1, 1)))
#' @export
wiring <- function(x, series = NULL, strength = NULL, delay = 1, hidden = NULL, size = 3,
                   overlap = FALSE) {
  check_given(x = "names of motifs, a matrix or a data frame")
  size <- check_sizes(size)
  overlap <- check_flag(overlap)
  make_wiring(x, series, strength, delay, hidden, size, overlap, arg = "x",
              call = rlang::current_env())
}

# Most series of a wiring, and most steps that a link may take.
most_wired <- 1e6
most_delay <- 10000

#' What `wiring()` gives, for whoever calls it
#' @param arg What the user calls `x`.
#' @param key Drawn where it is first needed, so that a wiring without chance leaves R's
#'   random numbers alone.
#' @return List of class `wiring`: `links` (data frame, `cause` and `effect` as integers,
#'   by effect and cause), `series` (names of all) and `hidden` (logical, for each
#'   series).
#' @noRd
make_wiring <- function(x, series = NULL, strength = NULL, delay = 1, hidden = NULL,
                        size = check_sizes(3), overlap = FALSE, arg, call,
                        key = random_key()) {
  named <- is_plain_numeric(x) && is.null(dim(x)) && !is.null(names(x))
  made <- if (is.character(x) || named) {
    motif_wiring(check_motifs(x, arg, call), series, size, overlap, key, arg, call)
  } else if (is.data.frame(x)) {
    frame_wiring(x, series, arg, call)
  } else {
    matrix_wiring(x, series, strength, arg, call)
  }
  made$links$strength <- link_strengths(made$links, strength, key, call)
  made$links$delay <- link_delays(made$links, delay, is.data.frame(x), length(made$series),
                                  key, call)
  made$links <- by_effect(made$links)
  made$hidden <- made$hidden | hidden_series(hidden, made$series, call)
  if (all(made$hidden)) {
    abort_arg("hidden", "such that a series is left for the result", "all of them",
              call = call)
  }
  structure(made, class = "wiring")
}

by_effect <- function(links) {
  links <- links[order(links$effect, links$cause, method = "radix"), ]
  row.names(links) <- NULL
  links
}

#' Links without strength and delay
#' @noRd
new_links <- function(cause, effect, strength = NA_real_, motif = NA_character_, copy = NA) {
  n <- length(cause)
  new_frame(list(
    cause = as.integer(cause), effect = as.integer(effect),
    strength = rep_len(as.double(strength), n), delay = rep_len(1L, n),
    motif = rep_len(motif, n), copy = rep_len(as.integer(copy), n)
  ), n)
}

# ---- Matrices and tables of links -----------------------------------------------------

is_sparse <- function(x) inherits(x, "sparseMatrix")

#' What is not 0 in a square matrix, by column and row
#' @return List `cause`, `effect`, `value`; or `NULL` where it is no square matrix of
#'   numbers.
#' @noRd
matrix_entries <- function(x, call) {
  if (is_sparse(x)) {
    rlang::check_installed("Matrix", call = call)
    for (kind in c("dMatrix", "generalMatrix", "CsparseMatrix")) x <- methods::as(x, kind)
    found <- list(cause = x@i + 1L, effect = rep(seq_len(ncol(x)), diff(x@p)), value = x@x)
    return(if (nrow(x) == ncol(x)) lapply(found, `[`, is.na(x@x) | x@x != 0))
  }
  if (!is_plain_numeric(x) || !is.matrix(x) || nrow(x) != ncol(x)) return(NULL)
  at <- which(is.na(x) | x != 0)
  list(cause = (at - 1L) %% nrow(x) + 1L, effect = (at - 1L) %/% nrow(x) + 1L,
       value = as.double(x[at]))
}

#' What is wrong with a matrix of strengths, or NULL
#' @param found From matrix_entries().
#' @noRd
matrix_fault <- function(x, found) {
  if (is.null(found) || nrow(x) == 0L || nrow(x) > most_wired) return(describe(x))
  if (any(found$cause == found$effect)) return("one with a link from a series to itself")
  if (!all(is.finite(found$value))) return("one with a missing or infinite strength")
  if (any(found$value < 0)) return("one with a negative strength")
}

matrix_wiring <- function(x, series, strength, arg, call) {
  found <- matrix_entries(x, call)
  fault <- matrix_fault(x, found)
  if (!is.null(fault)) {
    abort_arg(arg, paste("a square matrix of strengths of at least 0, 0 on the diagonal, of at",
                         "most", commas(most_wired), "series; a table of links; or names of",
                         "motifs"),
              fault, call = call)
  }
  refuse_beside(series, "series", "a matrix", arg, call)
  refuse_beside(strength, "strength", "a matrix", arg, call)
  names <- colnames(x) %||% rownames(x) %||% series_names("x", nrow(x))
  list(links = new_links(found$cause, found$effect, found$value),
       series = check_names(names, arg, call), hidden = logical(length(names)))
}

#' Error where an argument was given that `x` already decides
#' @noRd
refuse_beside <- function(value, name, kind, arg, call) {
  if (is.null(value)) return(invisible())
  abort_arg(name, sprintf("NULL where `%s` is %s, which says it itself", arg, kind),
            describe(value), call = call)
}

check_names <- function(names, arg, call) {
  names <- as.character(names)
  if (anyNA(names) || anyDuplicated(names) || any(names == "")) {
    abort_arg(arg, "such that each series has a name of its own",
              "one in which series have the same name, or none", call = call)
  }
  names
}

frame_wiring <- function(x, series, arg, call) {
  lost <- setdiff(c("cause", "effect"), names(x))
  if (length(lost)) {
    abort_arg(arg, "a data frame with the columns `cause` and `effect`",
              sprintf("one without `%s`", lost[[1L]]), call = call)
  }
  ends <- lapply(list(cause = x$cause, effect = x$effect), \(of) {
    if (is.factor(of)) as.character(of) else of
  })
  names <- frame_series(ends, series, arg, call)
  ends <- lapply(ends, \(of) if (is.character(of)) match(of, names) else as.double(of))
  n <- length(names)
  bad <- vapply(ends, \(of) anyNA(of) || any(of < 1 | of > n | of != round(of)), NA)
  if (any(bad)) {
    abort_arg(sprintf("%s$%s", arg, names(ends)[bad][[1L]]), "names or numbers of series",
              sprintf("such that one is none of the %s", counted(n, "series", "series")),
              call = call)
  }
  if (any(ends$cause == ends$effect)) {
    abort_arg(arg, "a data frame of links from one series to another",
              "one with a link from a series to itself", call = call)
  }
  if (anyDuplicated(ends$cause + (ends$effect - 1) * length(names))) {
    abort_arg(arg, "a data frame with one row for each link",
              "one with two links of the same cause and effect", call = call)
  }
  strength <- x$strength %||% NA_real_
  if (!is.null(x$strength)) check_strengths(strength, paste0(arg, "$strength"), call)
  links <- new_links(ends$cause, ends$effect, strength)
  if (!is.null(x$delay)) links$delay <- check_delays_of(x$delay, paste0(arg, "$delay"), call)
  list(links = links, series = names, hidden = logical(length(names)))
}

#' Names of all series that a table of links may name
#' @noRd
frame_series <- function(ends, series, arg, call) {
  if (is.character(series)) return(check_names(series, "series", call))
  named <- vapply(ends, is.character, NA)
  if (!all(named | vapply(ends, is_plain_numeric, NA)) || any(named) != all(named)) {
    abort_arg(arg, "a data frame whose causes and effects are names, or numbers, of series",
              "one with something else", call = call)
  }
  if (all(named)) {
    if (!is.null(series)) {
      abort_arg("series", sprintf("the names of all series where `%s` has names", arg),
                describe(series), call = call)
    }
    found <- unique(c(rbind(ends$cause, ends$effect)))
    return(check_names(if (length(found)) found else "x01", arg, call))
  }
  n <- if (is.null(series)) max(0, unlist(ends), na.rm = TRUE) else series
  if (is.null(series) && !(n >= 1 && n <= most_wired && n == round(n))) {
    abort_arg(arg, sprintf("a data frame whose numbers of series are whole, from 1 to %s",
                           commas(most_wired)), "one with others", call = call)
  }
  series_names("x", check_count(n, "series", max = most_wired, call = call))
}

# ---- Motifs ----------------------------------------------------------------------------

motif_names <- c("pair", "feedback", "chain", "common_driver", "hidden_driver", "loop",
                 "fan_in", "triangle")
fixed_sizes <- c(pair = 2, feedback = 2, triangle = 3)

#' Links of a motif of `size` series; a hidden one is the last of them
#' @noRd
motif_links <- function(motif, size) {
  last <- size
  one <- seq_len(size - 1)
  switch(
    motif,
    pair = cbind(1, 2),
    feedback = cbind(1:2, 2:1),
    chain = cbind(one, one + 1),
    common_driver = cbind(1, one + 1),
    hidden_driver = cbind(last, one),
    loop = cbind(c(one, last), c(one + 1, 1)),
    fan_in = cbind(one, last),
    triangle = cbind(c(1, 2, 1), c(2, 3, 3))
  )
}

#' How many of each motif
#' @noRd
check_motifs <- function(x, arg, call) {
  counts <- if (is.character(x)) table(factor(x, unique(x))) else x
  names <- names(counts)
  unknown <- setdiff(if (is.character(x)) x else names, motif_names)
  if (length(x) == 0L || length(unknown) > 0L || anyDuplicated(names)) {
    abort_arg(arg, sprintf("names of motifs (%s), or numbers with these names, each once",
                           toString(motif_names)),
              if (length(unknown)) sprintf("one with \"%s\"", unknown[[1L]]) else describe(x),
              call = call)
  }
  for (k in seq_along(counts)) {
    check_count(as.double(counts[[k]]), sprintf("%s[[\"%s\"]]", arg, names[[k]]), min = 0,
                max = most_wired, call = call)
  }
  rlang::set_names(as.double(counts), names)
}

check_sizes <- function(size, call = rlang::caller_env()) {
  ok <- is_plain_numeric(size) && length(size) > 0L && all(is.finite(size)) &&
    all(size >= 3 & size == round(size) & size <= most_wired)
  flexible <- setdiff(motif_names, names(fixed_sizes))
  named <- ok && !is.null(names(size)) && all(names(size) %in% flexible) &&
    !anyDuplicated(names(size))
  if (!ok || !named && (length(size) > 1L || !is.null(names(size)))) {
    abort_arg("size", sprintf("a whole number of at least 3, or several with the names %s",
                              toString(flexible)), describe(size), call = call)
  }
  sizes <- rlang::set_names(rep(3, length(motif_names)), motif_names)
  sizes[if (named) names(size) else flexible] <- size
  sizes[names(fixed_sizes)] <- fixed_sizes
  sizes
}

motif_wiring <- function(counts, series, size, overlap, key, arg, call) {
  size <- size[names(counts)]
  hides <- names(counts) == "hidden_driver"
  visible <- size - hides
  taken <- if (overlap) max(visible) else sum(counts * visible)
  n <- if (is.null(series) && overlap) {
    abort_arg("series", "given where motifs overlap", "NULL", call = call)
  } else {
    check_count(series %||% max(1, taken), "series", max = most_wired, call = call)
  }
  if (taken > n) {
    abort_arg("series", sprintf("at least %s, as many as %s", commas(taken),
                                if (overlap) "the largest motif takes" else "the motifs take"),
              commas(n), if (!overlap) "With `overlap = TRUE` motifs share series.",
              call = call)
  }
  drivers <- sum(counts[hides])
  if (n + drivers > most_wired || sum(counts * size) > 100 * most_wired) {
    abort_arg(arg, sprintf("motifs of at most %s series", commas(most_wired)), "more of them",
              call = call)
  }
  before <- c(0, cumsum(counts * visible))
  links <- lapply(seq_along(counts), \(k) {
    members <- if (overlap) {
      drawn_members(counts[[k]], visible[[k]], n, key, k)
    } else {
      matrix(before[[k]] + seq_len(counts[[k]] * visible[[k]]), visible[[k]])
    }
    if (hides[[k]]) members <- rbind(members, n + seq_len(counts[[k]]))
    at <- motif_links(names(counts)[[k]], size[[k]])
    new_links(members[at[, 1L], ], members[at[, 2L], ], motif = names(counts)[[k]],
              copy = rep(seq_len(counts[[k]]), each = nrow(at)))
  })
  links <- do.call(rbind, links)
  links <- links[!duplicated(links$cause + (links$effect - 1) * (n + drivers)), ]
  list(links = links, hidden = rep(c(FALSE, TRUE), c(n, drivers)),
       series = c(series_names("x", n), if (drivers > 0) series_names("h", drivers)))
}

#' Different series for each of `motifs` motifs, drawn at random
#' @return Matrix `visible` x `motifs`.
#' @noRd
drawn_members <- function(motifs, visible, n, key, kind) {
  stream <- \(try) sim_stream(10 + kind, try)
  # Of so few series, draws would seldom all be different.
  if (visible^2 > n) {
    return(vapply(seq_len(motifs), \(copy) {
      order(random_uniform(n, key, stream(copy)))[seq_len(visible)]
    }, numeric(visible)))
  }
  out <- matrix(0, visible, motifs)
  left <- seq_len(motifs)
  try <- 0
  while (length(left) > 0L) {
    drawn <- matrix(random_below(visible * length(left), n, key, stream(try)) + 1, visible)
    out[, left] <- drawn
    left <- left[apply(drawn, 2L, anyDuplicated) > 0L]
    try <- try + 1
  }
  out
}

# ---- Strengths, delays and hidden series ------------------------------------------------

check_strengths <- function(strength, arg, call) {
  ok <- is_plain_numeric(strength) && is.null(dim(strength)) &&
    all(is.finite(strength)) && all(strength >= 0)
  if (!ok) {
    abort_arg(arg, "finite numbers of at least 0", describe(strength), call = call)
  }
}

check_delays_of <- function(delay, arg, call) {
  ok <- is_plain_numeric(delay) && all(is.finite(delay)) &&
    all(delay >= 1 & delay == round(delay) & delay <= most_delay)
  if (!ok) {
    abort_arg(arg, sprintf("whole numbers of steps from 1 to %s", commas(most_delay)),
              describe(delay), call = call)
  }
  as.integer(delay)
}

#' One of `values` for each link, drawn at random
#' @noRd
drawn_values <- function(values, n, key, stream) {
  if (length(values) == 1L) return(rep(values, n))
  values[random_below(n, length(values), key, stream) + 1]
}

link_strengths <- function(links, strength, key, call) {
  if (is.null(strength)) return(links$strength)
  check_strengths(strength, "strength", call)
  if (length(strength) == 0L || !all(is.na(links$strength))) {
    must <- "one number or several"
    if (length(strength)) must <- "NULL where each link has its strength already"
    abort_arg("strength", must, describe(strength), call = call)
  }
  drawn_values(as.double(strength), nrow(links), key, sim_stream(7))
}

link_delays <- function(links, delay, has, n, key, call) {
  if (is.matrix(delay) || is_sparse(delay)) return(delays_of_matrix(links, delay, n, call))
  delay <- check_delays_of(delay, "delay", call)
  if (identical(delay, 1L)) return(links$delay)
  if (length(delay) == 0L || any(links$delay != 1L)) {
    abort_arg("delay", if (length(delay)) "1 where each link has its delay already" else
      "one whole number or several", describe(delay), call = call)
  }
  drawn_values(delay, nrow(links), key, sim_stream(8))
}

delays_of_matrix <- function(links, delay, n, call) {
  if (!identical(dim(delay), c(n, n))) {
    abort_arg("delay", sprintf("a matrix of %d x %d steps, `delay[cause, effect]`", n, n),
              describe(delay), call = call)
  }
  check_delays_of(as.vector(delay[cbind(links$cause, links$effect)]), "delay", call)
}

hidden_series <- function(hidden, series, call) {
  out <- logical(length(series))
  if (is.null(hidden)) return(out)
  at <- if (is.character(hidden)) match(hidden, series) else hidden
  if (!is_plain_numeric(at) || !all(at %in% seq_along(series))) {
    abort_arg("hidden", sprintf("NULL, or names or numbers of the %s",
                                counted(length(series), "series", "series")),
              describe(hidden), call = call)
  }
  out[at] <- TRUE
  out
}
