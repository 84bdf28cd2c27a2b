# Compares the direct links of two recordings.

#' What became of each link between two tables of direct links
#'
#' @return See compare_maps().
#' @noRd
compare_direct_links <- function(a, b, labels, call) {
  series <- attr(a, "series", exact = TRUE)
  if (!setequal(series, attr(b, "series", exact = TRUE))) {
    abort_arg("b", "direct links among the same series as `a`", "of other series", call = call)
  }
  keys <- union(link_key(a), link_key(b))
  in_a <- match(keys, link_key(a))
  in_b <- match(keys, link_key(b))
  of <- \(name) ifelse(is.na(in_a), as.character(b[[name]])[in_b],
                       as.character(a[[name]])[in_a])
  kind <- \(x, at) factor(ifelse(is.na(at), "not tested", as.character(x$link[at])),
                          c(direct_link_kinds, "not tested"))
  out <- list(cause = of("cause"), effect = of("effect"), link_a = kind(a, in_a),
              link_b = kind(b, in_b), gain_a = a$gain[in_a], gain_b = b$gain[in_b])
  out$change <- factor(link_changes(out$link_a, out$link_b),
                       c("appeared", "vanished", "kept", "cannot be told", "never direct"))
  order <- order(out$change, -pmax(out$gain_a, out$gain_b, na.rm = TRUE))
  new_table(lapply(out, `[`, order), "direct_links_comparison",
            list(series = series, labels = labels))
}

link_changes <- function(a, b) {
  direct_a <- a == "direct"
  direct_b <- b == "direct"
  change <- ifelse(direct_a & direct_b, "kept", ifelse(direct_b, "appeared",
                   ifelse(direct_a, "vanished", "never direct")))
  ifelse(direct_a != direct_b & (a == "refused" | b == "refused"), "cannot be told", change)
}

#' @rdname compare_maps
#' @export
print.direct_links_comparison <- function(x, n = 10, ...) {
  check_no_dots()
  n <- min(check_count(n, infinite = TRUE), nrow(x))
  labels <- attr(x, "labels", exact = TRUE)
  cat(sprintf("Direct links in %s (a) and %s (b), of %s\n", labels[[1L]], labels[[2L]],
              counted(length(attr(x, "series", exact = TRUE)), "series", "series")))
  changes <- table(x$change)
  cat(paste(commas(as.vector(changes)), names(changes), collapse = ", "), "", sep = "\n")
  shown <- first_rows(x, n)
  print(round_numbers(shown), row.names = FALSE)
  more_line(nrow(x) - n)
  invisible(x)
}
