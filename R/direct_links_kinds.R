# What follows for a link from its test, and what forbids any sentence about it.

direct_link_kinds <- c("direct", "mediated", "common driver", "explained", "unsupported", "refused")

#' Why a link cannot be told, or NA
#'
#' @param series From standard_series().
#' @noRd
link_obstacles <- function(links, series) {
  of <- vapply(series$obstacle, \(why) why$reason %||% NA_character_, "")
  # Forecasts can do with counts, whose states look alike, and know of drifts.
  of[of %in% c("counts", "drift")] <- NA_character_
  reason <- of[match(links$effect, series$names)]
  cause <- of[match(links$cause, series$names)]
  reason[is.na(reason)] <- cause[is.na(reason)]
  open <- which(is.na(reason))
  reason[open[links_in_step(links[open, ], series)]] <- "in step"
  reason
}

#' Whether cause and effect go together so closely that neither comes first
#' @noRd
links_in_step <- function(links, series) {
  close <- which(links$rho >= verdict_rules$in_step)
  from <- match(links$cause[close], series$names)
  to <- match(links$effect[close], series$names)
  together <- vapply(seq_along(close), \(k) {
    stats::cor(series$value[, from[[k]]], series$value[, to[[k]]],
               use = "na.or.complete")
  }, 0)
  seq_along(links$rho) %in% close[abs(together) >= verdict_rules$in_step]
}

#' The kind of each link, and through whom
#'
#' @param from,to Numbers of series of the tested links.
#' @param direct Whether each is direct.
#' @param alone Whether its cause improves the forecast without parties.
#' @param parties Numbers of the parties of its effect.
#' @return A list: `kind`, places in `direct_link_kinds`, and `through`, numbers of series of
#'   each.
#' @noRd
kinds_of_links <- function(from, to, direct, alone, parties) {
  reached <- reached_by(from[direct], to[direct], max(from, to, 0L))
  n <- length(from)
  kind <- ifelse(direct, 1L, ifelse(alone, 4L, 5L))
  through <- rep(list(integer()), n)
  for (k in which(!direct & alone)) {
    others <- setdiff(parties[[k]], from[[k]])
    # It is significant by itself, but not among all links.
    if (length(others) == 0L) {
      kind[[k]] <- 5L
      next
    }
    # Those through which the cause reaches the effect, and those that drive both.
    between <- others[others %in% reached(from[[k]])]
    above <- others[vapply(others, \(other) from[[k]] %in% reached(other), NA)]
    kind[[k]] <- if (length(between)) 2L else if (length(above)) 3L else 4L
    through[[k]] <- if (length(between)) between else if (length(above)) above else others
  }
  list(kind = kind, through = through)
}

#' A function that gives the series to which one or two direct links lead from a series
#' @noRd
reached_by <- function(from, to, n) {
  effects <- vector("list", n)
  by <- split(to, from)
  effects[as.integer(names(by))] <- by
  \(series) c(effects[[series]], unlist(effects[effects[[series]]]))
}
