# The spike time tiling coefficient of all pairs of units.

#' Spike time tiling coefficient
#'
#' How strongly two units fire together, that is, within `dt` of each other, for all pairs
#' of units. The coefficient lies between -1 and 1; it is about 0 for independent units,
#' and 1 for a unit with itself. Unlike the correlation index and similar measures, it
#' depends little on the rates of the units (Cutts and Eglen 2014).
#'
#' Around each spike lies a tile that reaches `dt` to both sides. For two units A and B,
#' let TA be the share of the recorded time that lies under tiles of A, and PA the share
#' of the spikes of A that lie under tiles of B; TB and PB likewise. The coefficient is
#' `((PA - TB) / (1 - PA * TB) + (PB - TA) / (1 - PB * TA)) / 2`. A fraction whose
#' denominator is 0 counts as 1. A spike that is exactly `dt` away lies under the tile.
#'
#' With trials, a tile ends where its trial ends, shares are of the time and the spikes
#' within trials, and only spikes of the same trial fire together.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param dt How far a tile reaches to each side of a spike, in seconds; a whole number of
#'   ticks.
#' @inheritParams cross_correlogram
#' @param max_memory Bytes that the work may take: 20 for each pair, and some 40 for each
#'   spike.
#' @return A symmetric matrix of class `sttc`, units x units, with names; `NA` for units
#'   without spikes or, where there are trials, without spikes in them. `[`, arithmetic and
#'   `as.matrix()` give plain matrices. The attribute `dt` is in seconds.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`. A result beyond
#' `max_memory` gives `synfire_error_budget`.
#' @references
#' Cutts CS, Eglen SJ (2014). Detecting pairwise correlations in spike trains: an
#' objective comparison of methods and application to the study of retinal waves. *Journal
#' of Neuroscience*, 34, 14288-14303. \doi{10.1523/JNEUROSCI.2767-14.2014}
#' @seealso [autoplot.sttc()] for a picture; [cross_correlogram()].
#' @examples
#' set.seed(1)
#' a <- sort(runif(500, 0, 60))
#' x <- spike_trains(c(a, a + 0.004, runif(500, 0, 60)), rep(c("A", "B", "C"), each = 500))
#' sttc(x, dt = 0.005, threads = 2)
#' @export
sttc <- function(x, dt = 0.005, threads = NULL, max_memory = 4e9) {
  check_given(x = "a recording")
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  resolution <- attr(x, "resolution")
  dt <- check_number(dt, min = 0)
  reach <- seconds_to_ticks(dt, resolution, "dt")
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  n <- nlevels(x$unit)
  trains <- trains_of(x)
  doing <- "spike time tiling coefficients"
  advice <- "Take fewer units with `x[unit = ]`."
  # The coefficients themselves are made of a few matrices of doubles.
  check_budget(32 * n^2, max_memory, doing, advice)
  near <- .Call(r_tiling_near, trains,
                list(reach = reach, threads = threads, max_memory = max_memory))
  near <- matrix(finish_status(near, doing, advice, limit_of = "spikes"), n, n)
  share <- near / tabulate_units(trains)
  tiled <- tiled_share(x, trains, reach)
  half <- (share - rep(tiled, each = n)) / (1 - share * rep(tiled, each = n))
  half[share * rep(tiled, each = n) == 1] <- 1
  half[is.nan(half)] <- NA
  out <- (half + t(half)) / 2
  structure(out, dimnames = list(levels(x$unit), levels(x$unit)), dt = dt,
            class = c("sttc", "synfire_result", "matrix", "array"))
}

#' @rdname sttc
#' @param ... Not used.
#' @export
as.matrix.sttc <- function(x, ...) plain_array(x)

#' @export
`[.sttc` <- function(x, ...) as.matrix(x)[...]

#' @export
Ops.sttc <- function(e1, e2) {
  plain <- \(v) if (inherits(v, "sttc")) as.matrix(v) else v
  if (missing(e2)) get(.Generic)(plain(e1)) else get(.Generic)(plain(e1), plain(e2))
}

#' @rdname sttc
#' @param n Number of rows and columns to print.
#' @export
print.sttc <- function(x, ..., n = 8L) {
  n <- check_count(n, min = 0, infinite = TRUE)
  cat("<sttc> ", counted(nrow(x), "unit"), ", tiles of ", exact(attr(x, "dt", exact = TRUE)),
      " s to each side of a spike\n", sep = "")
  shown <- seq_len(min(n, nrow(x)))
  if (length(shown)) print(round(as.matrix(x)[shown, shown, drop = FALSE], 3))
  more_line(nrow(x) - length(shown), noun = "unit")
  invisible(x)
}

#' Share of the time in trials, or in the recording, that lies under tiles of each unit
#' @noRd
tiled_share <- function(x, trains, reach) {
  n <- nlevels(x$unit)
  isi <- intervals_of(x)
  trial <- trains$trial %||% rep(1L, length(trains$tick))
  inside <- which(!is.na(trial))
  o <- inside[order(trains$unit[inside], method = "radix")]
  unit <- trains$unit[o]
  run <- unit + n * (trial[o] - 1)
  first <- o[!duplicated(run)]
  last <- o[!duplicated(run, fromLast = TRUE)]
  of <- stretches(x)
  before <- pmin(trains$tick[first] - of$start[trial[first]], reach)
  after <- pmin(of$stop[trial[last]] - trains$tick[last], reach)
  covered <- sum_by_unit(pmin(isi$interval, 2 * reach), isi$unit, n) +
    sum_by_unit(before, trains$unit[first], n) + sum_by_unit(after, trains$unit[last], n)
  covered / sum(of$stop - of$start)
}
