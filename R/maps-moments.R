# Numbers of a whole map, which is read block by block.

#' The column of each library as a target, NA where it is none
#' @noRd
self_column <- function(x) match(rownames(x), colnames(x))

#' Calls `f` on blocks of one layer as map_blocks() does, self prediction NA
#' @noRd
pair_blocks <- function(x, f, layer = "rho") {
  self <- self_column(x)
  map_blocks(x, function(rows, values) {
    known <- which(!is.na(self[rows]))
    values[cbind(known, self[rows][known])] <- NA_real_
    f(rows, values)
  }, layer)
}

at_most <- function(p, alpha) !is.na(p) & p <= alpha

#' At most `most` of `at`: all in their order, or those with the highest scores, sorted
#' @noRd
strongest <- function(at, by, most) if (most == Inf) at else at[top_rows(by[at], most)]

histogram_cells <- 4000L  # of rho from -1 to 1

#' Means, extremes and a histogram of all pairs, in one pass
#'
#' @return list(known, missing, mean, range, library_mean, target_mean, self, counts).
#' @noRd
map_moments <- function(x) {
  self_at <- self_column(x)
  target_sum <- target_known <- double(ncol(x))
  counts <- double(histogram_cells)
  parts <- map_pieces(x, function(rows, rho) {
    self <- self_at[rows]
    on <- which(!is.na(self))
    found <- finish_status(
      .Call(r_whole_sums, rho, whole_self(self), list(threads = check_threads(NULL))),
      "looking at all pairs of the map"
    )
    target_known <<- target_known + found$column_known
    target_sum <<- target_sum + found$column_sum
    counts <<- counts + found$counts
    own <- rep(NA_real_, length(rows))
    own[on] <- .subset(rho, cbind(on, self[on]))
    list(self = own, sum = found$row_sum, known = found$row_known,
         pairs = prod(dim(rho)) - length(on), range = found$range)
  })
  bind <- \(part) unlist(lapply(parts, `[[`, part), use.names = FALSE)
  known <- sum(target_known)
  ends <- bind("range")
  list(known = known, missing = sum(bind("pairs")) - known,
       mean = if (known > 0) sum(target_sum) / known else NA_real_,
       range = if (known > 0) range(ends, na.rm = TRUE) else c(NA_real_, NA_real_),
       library_mean = quotient(bind("sum"), bind("known")),
       target_mean = unname(quotient(target_sum, target_known)), self = bind("self"),
       counts = counts)
}

#' Calls `f` as map_blocks() does, but on all of a map in memory at once: work in C needs no
#' copy of it
#' @noRd
map_pieces <- function(x, f, layers = "rho") {
  if (!is.double(x)) return(map_blocks(x, f, layers))
  list(do.call(f, c(list(seq_len(nrow(x)), x), attributes(x)[layers[-1L]])))
}

#' Columns of self prediction as C takes them: from 0, or -1
#' @noRd
whole_self <- function(self) ifelse(is.na(self), -1L, as.integer(self) - 1L)

#' A rho that at least `most` pairs are above, though hardly more; -Inf where there are fewer
#' @noRd
rho_of_most <- function(x, most) {
  from_here <- rev(cumsum(rev(map_moments(x)$counts)))
  cell <- sum(from_here >= most)
  if (cell <= 1L) return(-Inf)
  # A little less, as rounding may have put a pair into the cell.
  (cell - 1) / (histogram_cells / 2) - 1 - 1e-9
}

#' NA rather than NaN where nothing is known
#' @noRd
quotient <- function(sum, known) {
  out <- sum / known
  out[is.nan(out)] <- NA_real_
  out
}

histogram_quantile <- function(moments, p) {
  names <- paste0(100 * p, "%")
  if (moments$known == 0) return(rlang::set_names(rep(NA_real_, length(p)), names))
  cell <- findInterval(p * moments$known, cumsum(moments$counts), left.open = TRUE) + 1L
  middle <- (pmin(cell, histogram_cells) - 0.5) / (histogram_cells / 2) - 1
  # The middle of a cell may be beyond what there is.
  rlang::set_names(pmin(pmax(middle, moments$range[[1L]]), moments$range[[2L]]), names)
}
