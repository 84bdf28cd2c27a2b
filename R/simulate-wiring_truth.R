# What is true of simulated series: which links are direct, which lead through others, and
# which pairs share a driver.

#' What is known of the links between simulated series
#'
#' Two series may go together because one drives the other directly, because it does so
#' through others, or because a third drives both. `truth_links()` says which of these
#' holds for each pair of series of a simulation, so that the links that a method finds
#' can be told right from wrong.
#'
#' # Words
#' A *path* is a sequence of links from a cause to an effect, each from where the last one
#' ended; its *length* is how many links it has. Hidden series count like all others, but
#' have no rows of their own. For a cause and an effect, `link` is the first of these that
#' holds:
#' * `"direct"`: there is a link from the cause to the effect;
#' * `"mediated"`: there is a path, but no link;
#' * `"common driver"`: there is no path, but a third series drives both: there is a path
#'   from it to the cause that does not lead through the effect, and one to the effect
#'   that does not lead through the cause;
#' * `"none"`: nothing of this.
#'
#' A direct link may be mediated as well: `through` then names those on the shortest other
#' path. And direct and mediated links may have a shared driver besides.
#'
#' A method that sees only the series of the result cannot tell apart what goes on
#' through hidden ones. A link that is mediated by hidden series alone looks direct
#' (`hidden_path`), and a pair that a hidden series drives, directly or through other
#' hidden ones, looks linked whatever else is taken into account (`hidden_driver`). Nobody
#' should count as a mistake that such a pair was found.
#'
#' @param x Result of [simulate_coupled_maps()], [simulate_calcium()] or
#'   [simulate_lorenz96()], or a [wiring()]. Choosing rows or columns of a result takes
#'   its wiring away, so call `truth_links()` before that.
#' @param max_length How many links a path may have at most. In a random graph nearly all
#'   pairs are joined by paths, of which the long ones carry next to nothing.
#' @param as `"table"`, or `"matrix"`: `link` alone, as a matrix `[cause, effect]`.
#'
#' @return A data frame with a row for each pair of a cause and an effect that `link` says
#'   something of, sorted by effect, then cause, and the columns
#'   * `cause`, `effect`: names of series of the result;
#'   * `link`: factor, `"direct"`, `"mediated"` or `"common driver"`. Pairs without a row
#'     are `"none"`;
#'   * `strength`: that of a direct link, otherwise `NA`;
#'   * `delay`: steps along the link; for a mediated one along the shortest path (of
#'     several the quickest). `NA` for a shared driver, and where the simulation has no
#'     steps;
#'   * `length`: links of the shortest path; `NA` for a shared driver;
#'   * `through`: names of all series on the shortest paths through others, hidden
#'     ones too, separated by `", "`; `NA` where there is no such path;
#'   * `drivers`: names of the shared drivers with the fewest links to cause and effect
#'     together, in the same way; `NA` where there is none;
#'   * `hidden_path`: whether some path leads through hidden series alone;
#'   * `hidden_driver`: whether a hidden series drives both through no visible series.
#'
#'   A matrix is a character matrix with `"none"` for pairs without a row and `NA` on its
#'   diagonal.
#' @seealso [wiring()]
#' @examples
#' # Direct and through another one:
#' truth_links(wiring("triangle"))
#' # A chain, and two series driven by one that nobody sees:
#' set.seed(1)
#' x <- simulate_coupled_maps(200, wiring(c("chain", "hidden_driver")))
#' truth_links(x)
#' truth_links(x, as = "matrix")
#' @export
truth_links <- function(x, max_length = Inf, as = c("table", "matrix")) {
  check_given(x = "a simulation or a wiring")
  w <- known_wiring(x)
  max_length <- check_count(max_length, min = 1, infinite = TRUE)
  as <- check_choice(as)
  found <- wired_pairs(w, max_length, rlang::current_env())
  if (as == "table") named_pairs(found, w) else pair_matrix(found, w)
}

known_wiring <- function(x, call = rlang::caller_env()) {
  w <- if (inherits(x, "wiring")) x else attr(x, "wiring", exact = TRUE)
  if (!inherits(w, "wiring")) {
    abort_arg("x", "what a simulator of wired series gives, or a wiring", describe(x),
              "Choosing rows or columns takes the wiring away: call `truth_links()` before that.", call = call)
  }
  check_wiring_parts(w, "x", call)
}

#' Error where other code has changed a wiring
#' @noRd
check_wiring_parts <- function(w, arg, call) {
  parts <- unclass(w)
  ok <- is.list(parts) && is.data.frame(parts$links) && is.character(parts$series) &&
    length(parts$series) > 0L && !anyNA(parts$series) && is.logical(parts$hidden) &&
    length(parts$hidden) == length(parts$series) && !anyNA(parts$hidden) &&
    are_links(parts$links, length(parts$series))
  if (!ok) {
    abort_arg(arg, "what `wiring()` gives", "one that was changed",
              "`as.data.frame()` gives a table to change.", call = call)
  }
  w
}

are_links <- function(links, series) {
  is.integer(links$cause) && is.integer(links$effect) && is.integer(links$delay) &&
    is.double(links$strength) && is.character(links$motif) && is.integer(links$copy) &&
    all(c(links$cause, links$effect) %in% seq_len(series)) && !is.unsorted(links$effect) &&
    all(is.na(links$strength) | links$strength >= 0) &&
    all(is.na(links$delay) | links$delay %in% seq_len(most_delay))
}

truth_kinds <- c("direct", "mediated", "common driver")

# Most pairs that `truth_links()` lists: they take some 100 bytes each.
most_pairs <- 2e7

#' Links by effect, as the compiled code takes them
#' @noRd
links_by_effect <- function(w) {
  links <- w$links
  # A link without a delay is one of which nobody asks how long it takes.
  delay <- replace(links$delay, is.na(links$delay), 1L)
  list(first = c(0L, cumsum(tabulate(links$effect, length(w$series)))),
       cause = links$cause - 1L, delay = delay, strength = links$strength)
}

#' Pairs with a link, a path or a driver
#' @return List of columns; `through` and `drivers` hold the numbers of series of all
#'   pairs one after the other, `n_through` and `n_drivers` how many each pair has.
#' @noRd
wired_pairs <- function(w, max_length, call, most = most_pairs) {
  found <- .Call(r_wired_pairs, links_by_effect(w), list(
    hidden = as.integer(w$hidden), longest = min(max_length, .Machine$integer.max),
    most_pairs = most
  ))
  found <- finish_status(found, "the links of all pairs",
                         "A smaller `max_length` leaves out long paths.",
                         limit_of = "pairs", call = call)
  direct <- found$link > 0L
  found$kind <- 3L - (found$n_through > 0L)
  found$kind[direct] <- 1L
  found$strength <- rep(NA_real_, length(direct))
  found$strength[direct] <- w$links$strength[found$link]
  found$delay[direct] <- w$links$delay[found$link]
  found$delay[found$kind == 3L | anyNA(w$links$delay)] <- NA
  found$length[direct] <- 1L
  found$length[found$kind == 3L] <- NA
  found
}

named_pairs <- function(found, w) {
  listed <- \(series, n) joined_names(w$series[series], n)
  new_frame(list(
    cause = w$series[found$cause], effect = w$series[found$effect],
    link = structure(found$kind, levels = truth_kinds, class = "factor"),
    strength = found$strength, delay = found$delay, length = found$length,
    through = listed(found$through, found$n_through),
    drivers = listed(found$drivers, found$n_drivers),
    hidden_path = found$hidden_path > 0L, hidden_driver = found$hidden_driver > 0L
  ), length(found$cause))
}

#' Names of each of several sets in one text: "x01, x02"; `NA` for a set of none
#' @param names Those of the first set, then those of the second and so on.
#' @param n How many each set has.
#' @noRd
joined_names <- function(names, n) {
  out <- rep(NA_character_, length(n))
  out[n == 1L] <- names[rep(n, n) == 1L]
  several <- rep(n, n) > 1L
  sets <- split(names[several], rep(seq_along(n), n)[several])
  out[n > 1L] <- vapply(sets, paste, "", collapse = ", ", USE.NAMES = FALSE)
  out
}

pair_matrix <- function(found, w, call = rlang::caller_env()) {
  seen <- which(!w$hidden)
  if (length(seen) > most_series) {
    abort_arg("as", sprintf("\"table\" for more than %s series", commas(most_series)),
              "\"matrix\"", call = call)
  }
  out <- matrix("none", length(seen), length(seen), dimnames = rep(list(w$series[seen]), 2L))
  diag(out) <- NA
  out[cbind(match(found$cause, seen), match(found$effect, seen))] <- truth_kinds[found$kind]
  out
}

# ---- What simulators attach -------------------------------------------------------------

#' A result with its wiring: the attributes `truth`, `delay` and `wiring`
#'
#' Both matrices are `[cause, effect]`, of the series that are not hidden, and 0 where
#' there is no link; sparse where a dense one would be large.
#' @noRd
with_wiring <- function(x, w, call) {
  attr(x, "truth") <- link_matrix(w, w$links$strength, call)
  attr(x, "delay") <- link_matrix(w, as.double(w$links$delay), call)
  attr(x, "wiring") <- w
  x
}

link_matrix <- function(w, values, call) {
  seen <- which(!w$hidden)
  names <- w$series[seen]
  at <- cbind(match(w$links$cause, seen), match(w$links$effect, seen))
  both <- !is.na(at[, 1L]) & !is.na(at[, 2L])
  at <- at[both, , drop = FALSE]
  if (length(seen) > most_series) {
    rlang::check_installed("Matrix", "to hold the truth of so many series.", call = call)
    return(Matrix::sparseMatrix(i = at[, 1L], j = at[, 2L], x = values[both], repr = "C",
                                dims = rep(length(seen), 2L), dimnames = list(names, names)))
  }
  out <- matrix(0, length(seen), length(seen), dimnames = list(names, names))
  out[at] <- values[both]
  out
}

# ---- Methods ----------------------------------------------------------------------------

#' @export
print.wiring <- function(x, ...) {
  check_no_dots()
  cat(format(x), sep = "\n")
  invisible(x)
}

#' @export
format.wiring <- function(x, ...) {
  check_no_dots()
  check_wiring_parts(x, "x", rlang::current_env())
  links <- x$links
  hidden <- sum(x$hidden)
  said <- sprintf("A wiring of %s%s with %s", counted(length(x$series), "series", "series"),
                  if (hidden) sprintf(" (%s hidden)", commas(hidden)) else "",
                  counted(nrow(links), "link"))
  first <- !duplicated(links[c("motif", "copy")]) & !is.na(links$motif)
  motifs <- table(factor(links$motif[first], motif_names))
  motifs <- motifs[motifs > 0]
  c(said,
    if (length(motifs)) {
      paste("Motifs:", toString(sprintf("%s %s", commas(motifs), names(motifs))))
    },
    if (nrow(links)) sprintf("Strength: %s. Delay: %s.", range_text(links$strength),
                             range_text(links$delay, " step")))
}

#' "0.1", or "0.1 to 0.3"
#' @noRd
range_text <- function(v, unit = "") {
  if (anyNA(v)) return(if (unit == "") "the simulator's" else "not in steps")
  ends <- unique(range(v))
  text <- paste(format(ends, digits = 3, trim = TRUE), collapse = " to ")
  paste0(text, unit, if (unit != "" && max(ends) > 1) "s")
}

#' @export
as.data.frame.wiring <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_no_dots()
  check_wiring_parts(x, "x", rlang::current_env())
  links <- x$links
  links$cause <- x$series[links$cause]
  links$effect <- x$series[links$effect]
  if (!is.null(row.names)) row.names(links) <- row.names
  links
}
