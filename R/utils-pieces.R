# Long vectors in runs that are worked on one after the other.

#' 1 to n in runs of up to `each`
#' @noRd
pieces <- function(n, each) {
  if (n == 0) return(list())
  lapply(seq.int(1, n, by = each), \(first) seq.int(first, min(first + each - 1, n)))
}

#' Where each group lies along an axis: `group`, `middle`, `end`
#' @noRd
group_runs <- function(groups) {
  runs <- rle(as.character(groups))
  end <- cumsum(runs$lengths)
  data.frame(group = runs$values, middle = end - (runs$lengths - 1) / 2, end = end + 0.5)
}
