# What is true of simulated series: which links are direct, which lead through others, and
# which pairs share a driver.

#' What is known of the links between simulated series
#'
#' Two series may go together because one drives the other directly, because it does so
#' through others, or because a third drives both. `truth_links()` says which of these holds
#' for each pair of series of a simulation, so that the links that a method finds can be told
#' right from wrong.
#'
#' # Words
#' A *path* is a sequence of links from a cause to an effect, each from where the last one
#' ended; its *length* is how many links it has. Hidden series count like all others, but have no
#' rows of their own. For a cause and an effect, `link` is the first of these that holds:
#' * `"direct"`: there is a link from the cause to the effect;
#' * `"mediated"`: there is a path, but no link;
#' * `"shared_driver"`: there is no path, but a third series drives both: there is a path from
#'   it to the cause that does not lead through the effect, and one to the effect that does not
#'   lead through the cause;
#' * `"none"`: nothing of this.
#'
#' A direct link may be mediated as well: `through` then names those on the shortest other
#' path. And direct and mediated links may have a shared driver besides.
#'
#' A method that sees only the series of the result cannot tell apart what goes on
#' through hidden ones. A link that is mediated by hidden series alone looks direct
#' (`hidden_path`), and a pair that a hidden series drives, directly or through other hidden
#' ones, looks linked whatever else is taken into account (`hidden_driver`). Nobody should count
#' as a mistake that such a pair was found.
#'
#' @param x Result of [simulate_coupled_maps()], [simulate_calcium()] or
#'   [simulate_lorenz96()], or a [wiring()]. Choosing rows or columns of a result takes its
#'   wiring away: ask before.
#' @param max_length How many links a path may have at most. In a random graph nearly all
#'   pairs are joined by paths, of which the long ones carry next to nothing.
#' @param as `"table"`, or `"matrix"`: `link` alone, as a matrix `[cause, effect]`.
#'
#' @return A data frame with a row for each pair of a cause and an effect that `link` says
#'   something of, sorted by effect, then cause, and the columns
#'   * `cause`, `effect`: names of series of the result;
#'   * `link`: factor, `"direct"`, `"mediated"` or `"shared_driver"`. Pairs without a row
#'     are `"none"`;
#'   * `strength`: that of a direct link, otherwise `NA`;
#'   * `delay`: steps along the link; for a mediated one along the shortest path (of several
#'     the quickest). `NA` for a shared driver, and where the simulation has no steps;
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
  found <- wired_pairs(w, max_length)
  if (as == "table") named_pairs(found, w) else pair_matrix(found, w)
}

known_wiring <- function(x, call = rlang::caller_env()) {
  w <- if (inherits(x, "wiring")) x else attr(x, "wiring", exact = TRUE)
  if (!inherits(w, "wiring")) {
    abort_arg("x", "what a simulator of wired series gives, or a wiring", describe(x),
              "Choosing rows or columns takes the wiring away: ask before.", call = call)
  }
  check_wiring_parts(w, "x", call)
}

#' Error where other code has changed a wiring
#' @noRd
check_wiring_parts <- function(w, arg, call) {
  parts <- unclass(w)
  links <- parts$links
  n <- length(parts$series)
  ok <- is.list(parts) && is.data.frame(links) && is.character(parts$series) &&
    is.logical(parts$hidden) && length(parts$hidden) == n && n > 0L &&
    is.integer(links$cause) && is.integer(links$effect) && is.integer(links$delay) &&
    is.double(links$strength) &&
    all(c(links$cause, links$effect) %in% seq_len(n)) && !is.unsorted(links$effect)
  if (!isTRUE(ok)) {
    abort_arg(arg, "what `wiring()` gives", "one that was changed",
              "`as.data.frame()` gives a table to change.", call = call)
  }
  w
}

link_kinds <- c("direct", "mediated", "shared_driver")

wired_pairs <- function(w, max_length) {
  n <- length(w$series)
  links <- w$links
  link_at <- matrix(0L, n, n)
  link_at[cbind(links$cause, links$effect)] <- seq_len(nrow(links))
  # Links of the shortest paths from each series to `to`.
  far <- function(to, adjacent, through = rep(TRUE, n)) {
    d <- rep(Inf, n)
    d[to] <- 0
    repeat {
      before <- d
      for (e in which(adjacent, arr.ind = FALSE)) {
        from <- (e - 1L) %% n + 1L
        at <- (e - 1L) %/% n + 1L
        if ((at == to || through[at]) && d[at] + 1 < d[from]) d[from] <- d[at] + 1
      }
      if (identical(d, before)) break
    }
    d[d > max_length] <- Inf
    d[to] <- 0
    d
  }
  linked <- link_at > 0
  rows <- list()
  for (j in which(!w$hidden)) for (i in setdiff(which(!w$hidden), j)) {
    others <- linked
    others[i, j] <- FALSE
    to <- far(j, others)
    through <- drivers <- integer()
    delay <- NA_integer_
    if (is.finite(to[i])) {
      from <- far(i, t(others))
      through <- setdiff(which(from + to == to[i]), c(i, j))
      quick <- rep(Inf, n)
      quick[j] <- 0
      on <- c(i, through, j)
      for (k in on[order(to[on])][-1L]) {
        after <- which(others[k, ] & to == to[k] - 1)
        quick[k] <- min(quick[after] + links$delay[link_at[k, after]])
      }
      delay <- as.integer(quick[i])
    }
    without <- function(k) {
      left <- linked
      left[k, ] <- left[, k] <- FALSE
      left
    }
    both <- far(i, without(j)) + far(j, without(i))
    both[c(i, j)] <- Inf
    if (any(is.finite(both))) drivers <- which(both == min(both))
    direct <- link_at[i, j]
    hidden_path <- is.finite(far(j, others, w$hidden)[i])
    hidden_driver <- any(is.finite(far(i, without(j), w$hidden) + far(j, without(i), w$hidden)) &
                           w$hidden)
    if (direct == 0L && length(through) == 0L && length(drivers) == 0L) next
    kind <- if (direct > 0L) 1L else if (length(through)) 2L else 3L
    rows[[length(rows) + 1L]] <- list(
      cause = i, effect = j, kind = kind,
      strength = if (direct > 0L) links$strength[direct] else NA_real_,
      delay = if (direct > 0L) links$delay[direct] else delay,
      length = if (direct > 0L) 1L else if (length(through)) as.integer(to[i]) else NA_integer_,
      through = through, drivers = drivers, hidden_path = hidden_path,
      hidden_driver = hidden_driver
    )
  }
  column <- \(name, of) vapply(rows, `[[`, of, name)
  list(cause = column("cause", 0L), effect = column("effect", 0L), kind = column("kind", 0L),
       strength = column("strength", 0), delay = column("delay", 0L),
       length = column("length", 0L), through = lapply(rows, `[[`, "through"),
       drivers = lapply(rows, `[[`, "drivers"), hidden_path = column("hidden_path", NA),
       hidden_driver = column("hidden_driver", NA))
}

named_pairs <- function(found, w) {
  listed <- \(sets) {
    out <- rep(NA_character_, length(sets))
    some <- lengths(sets) > 0L
    out[some] <- vapply(sets[some], \(set) paste(w$series[set], collapse = ", "), "")
    out
  }
  new_frame(list(
    cause = w$series[found$cause], effect = w$series[found$effect],
    link = structure(found$kind, levels = link_kinds, class = "factor"),
    strength = found$strength, delay = found$delay, length = found$length,
    through = listed(found$through), drivers = listed(found$drivers),
    hidden_path = found$hidden_path, hidden_driver = found$hidden_driver
  ), length(found$cause))
}

pair_matrix <- function(found, w, call = rlang::caller_env()) {
  seen <- which(!w$hidden)
  if (length(seen) > most_series) {
    abort_arg("as", sprintf("\"table\" for more than %s series", commas(most_series)),
              "\"matrix\"", call = call)
  }
  out <- matrix("none", length(seen), length(seen), dimnames = rep(list(w$series[seen]), 2L))
  diag(out) <- NA
  out[cbind(match(found$cause, seen), match(found$effect, seen))] <- link_kinds[found$kind]
  out
}

# ---- What simulators attach -------------------------------------------------------------

#' A result with its wiring: the attributes `truth`, `delay` and `wiring`
#'
#' Both matrices are `[cause, effect]`, of the series that are not hidden, and 0 where there
#' is no link; sparse where a dense one would be large.
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
  check_wiring_parts(x, "x", rlang::current_env())
  cat(format(x), sep = "\n")
  invisible(x)
}

#' @export
format.wiring <- function(x, ...) {
  links <- x$links
  hidden <- sum(x$hidden)
  said <- sprintf("A wiring of %s%s with %s", counted(length(x$series), "series", "series"),
                  if (hidden) sprintf(" (%s hidden)", commas(hidden)) else "",
                  counted(nrow(links), "link"))
  first <- !duplicated(links[c("motif", "copy")]) & !is.na(links$motif)
  motifs <- table(factor(links$motif[first], motif_names))
  motifs <- motifs[motifs > 0]
  c(said,
    if (length(motifs)) paste("Motifs:", toString(sprintf("%s %s", commas(motifs), names(motifs)))),
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
