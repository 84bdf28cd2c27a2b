# The time scale of slow series: from it follow delay spacing, exclusion radius, and the steps in
# which a verdict counts.

#' Both directions with the delay spacing and the exclusion radius that were given, or else with
#' those of the data
#'
#' @param make A function of `tau` that gives maps as ccm_maps() does.
#' @return A list: `maps`; `exclusion`, in rows; `chosen`, names of what the data chose.
#' @noRd
maps_at_scale <- function(make, tau, exclusion_radius) {
  exclusion <- if (!is.null(exclusion_radius)) edm_exclusion(exclusion_radius)
  maps <- make(tau %||% -1)
  chosen <- c("tau", "exclusion_radius")[c(is.null(tau), is.null(exclusion))]
  if (length(chosen)) {
    one <- maps[[1L]]
    rows <- c(effect = series_memory(one$points$values[[1L]], one),
              cause = series_memory(one$observed, one))
    # Delay vectors leave most of a segment.
    most <- stats::median(one$last - one$first + 1) %/% (4 * one$E)
    step <- as.integer(max(1, min(round(sqrt(prod(rows))), most)))
    if (is.null(tau) && step > 1L && !one$embedded) maps <- make(-step)
    exclusion <- exclusion %||% if (max(rows) > 1) as.integer(3 * max(rows)) else 0L
    maps <- lapply(maps, \(map) c(map, list(step = if (is.null(tau)) step)))
  }
  list(maps = maps, exclusion = exclusion, chosen = chosen)
}

#' Are series slow, so that a row tells much of the next?
#' @noRd
is_slow <- function(problem) {
  if (problem$step > 1L) return(TRUE)
  least <- min(alike_at(1L, problem$series[, 1L], problem), alike_at(1L, problem$cause, problem))
  isTRUE(least >= verdict_rules$slow_alike)
}

#' Autocorrelation at a lag, of segments together; NA where it is unknown
#' @noRd
alike_at <- function(lag, x, ends) {
  suppressWarnings(stats::cor(x, shifted(x, lag, ends), use = "na.or.complete"))
}

#' Rows for which a series is like itself: the last lag before its autocorrelation is below 0.6
#'
#' The first power of two below is found, and then the place between it and the one before.
#' @param ends A list with `first` and `last`, of the segment of each row.
#' @noRd
series_memory <- function(x, ends) {
  most <- max(1, length(x) %/% 10)
  alike <- \(lag) isTRUE(alike_at(lag, x, ends) >= verdict_rules$alike)
  above <- 1
  while (above < most && alike(above)) above <- 2 * above
  below <- above / 2
  while (above - below > 1) {
    middle <- floor((below + above) / 2)
    if (alike(middle)) below <- middle else above <- middle
  }
  max(1, min(below, most))
}
