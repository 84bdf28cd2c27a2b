# The kinds of links that `direct_links()` told apart, as maps show them.

#' Stop where `direct` is not from such a map
#' @noRd
check_direct <- function(direct, map) {
  if (is.null(direct)) return(invisible())
  refuse_if(!inherits(direct, "direct_links"), "direct", "what direct_links() returned",
            describe(direct))
  refuse_if(!setequal(attr(direct, "series", exact = TRUE), all_series(map)), "direct",
            "what direct_links() returned for this map", "of other series")
}

#' How many links there are of each kind, the kinds without any left out
#' @noRd
kinds_text <- function(x) counts_text(table(x$link))

direct_link_kinds <- c("direct", "undirected", "mediated", "common driver", "explained",
                       "unsupported", "refused")

# What the word says, and what it leaves open.
direct_means <- paste("Direct: through no series of the recording. A driver that is not among the",
                      "series, such as a stimulus in every trial, can look like this, and a link",
                      "that was not found may exist.")

#' Direct and mediated links within limits, the strongest first
#' @noRd
direct_map_links <- function(direct, limits) {
  found <- plain_table(direct)
  found <- found[found$link %in% c("direct", "mediated") & found$rho > limits$threshold, ]
  found <- found[order(-found$rho), ]
  utils::head(found, limits$most)
}

# The rho from which on the kinds of links are counted.
kinds_rho <- c(0.1, 0.3, 0.5, 0.7, 0.9)

#' The kinds of the links that a map names, by its rho and its p values, or NULL
#' @return Data frame `named`, `links` and the share of each kind, a row for each rule.
#' @noRd
kinds_by_rho <- function(map, direct) {
  if (is.null(direct) || nrow(direct) == 0L) return(NULL)
  bounds <- kinds_rho[kinds_rho > min(direct$rho) & kinds_rho <= max(direct$rho)]
  named <- c(list(rep(TRUE, nrow(direct))), lapply(bounds, \(bound) direct$rho >= bound))
  names(named) <- c("all", sprintf("rho >= %s", bounds))
  layers <- if (is.data.frame(map)) names(map) else map_layers(map)
  if ("p_value" %in% layers) {
    significant <- map_links(map, list(threshold = NULL, alpha = 0.05, most = Inf))
    named[["p <= 0.05"]] <- link_key(direct) %in% link_key(significant)
  }
  links <- vapply(named, sum, 0L)
  shares <- lapply(rlang::set_names(direct_link_kinds), \(kind) {
    vapply(named, \(by) mean(direct$link[by] == kind), 0, USE.NAMES = FALSE)
  })
  rlang::exec(plain_frame, named = names(named), links = unname(links), !!!shares)[links > 0L, ]
}

link_key <- function(links) paste(links$cause, links$effect, sep = "\r")

#' @param n Table of counts; those of 0 are left out.
#' @noRd
counts_text <- function(n) {
  n <- n[n > 0]
  paste(commas(as.vector(n)), names(n), collapse = ", ")
}
