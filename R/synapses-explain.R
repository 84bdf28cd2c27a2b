# Second stage: what other inputs of a unit explain.

# |z| from which the peak of a link itself is what it adds to later ones, else a box.
clear_z <- 8

# Links that explain are those up to so many times the false discovery rate.
link_rate <- 2

#' The pairs of all links once more, without what other links explain
#'
#' @return As `first_stage()`, and for each direction `via` (a unit by its place among those
#'   tested, or NA) and `explained`, the spikes that it explains in the window of the first stage.
#' @noRd
second_stage <- function(work, plan, first, false_discovery) {
  n <- length(first$judged$q)
  out <- c(first, list(via = rep(NA_integer_, n), explained = numeric(n), before = first$judged))
  links <- which(first$judged$q < link_rate * false_discovery)
  if (length(links) == 0L) return(out)
  pairs <- unique((links + 1L) %/% 2L)
  # Their spread is that of the first stage.
  options <- replace(first$options, "rest", 0)
  left <- work$explain(links_of(work, first$judged, links), pairs, c(options, list(
    smooth = first$options$hollow, before = round(plan$ms), after = round(2 * plan$ms),
    clear = clear_z
  )))
  at <- c(rbind(2L * pairs - 1L, 2L * pairs))
  for (name in setdiff(names(out$found), "spread")) out$found[[name]][at] <- left$found[[name]]
  out$via[at] <- replace(left$via, left$via < 0L, NA) + 1L
  out$explained[at] <- left$spikes
  out$judged <- judge_pairs(out$found, first$null, first$found$spread)
  out
}

links_of <- function(work, judged, links) {
  list(from = work$from[links], to = work$to[links], lo = judged$lo[links],
       count = judged$count[links], expected = judged$expected[links], z = judged$z[links])
}
