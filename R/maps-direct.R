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

direct_link_kinds <- c("direct", "mediated", "common driver", "explained", "unsupported", "refused")

#' Direct and mediated links within limits, the strongest first
#' @noRd
direct_map_links <- function(direct, limits, series) {
  found <- plain_table(direct)
  found <- found[found$link %in% c("direct", "mediated") & found$rho > limits$threshold, ]
  found <- found[order(-found$rho), ]
  utils::head(found, limits$most)
}

#' The line of a summary that counts the kinds of links, or NULL
#' @noRd
direct_line <- function(direct) {
  if (is.null(direct)) return(NULL)
  sprintf("Of %s looked at: %s", counted(nrow(direct), "link"), kinds_text(direct))
}

#' A table of links with the kind of each, and through whom
#' @noRd
with_kinds <- function(links, direct) {
  if (is.null(direct)) return(links)
  at <- match(link_key(links), link_key(direct))
  cbind(links, link = direct$link[at], through = direct$through[at])
}

link_key <- function(links) paste(links$cause, links$effect, sep = "\r")

#' @param n Table of counts; those of 0 are left out.
#' @noRd
counts_text <- function(n) {
  n <- n[n > 0]
  paste(commas(as.vector(n)), names(n), collapse = ", ")
}
