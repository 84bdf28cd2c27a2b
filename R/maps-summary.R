# What is most striking in a causal map: strong links, hubs, and pairs that are one-sided.

#' Summary of a causal map
#'
#' The strongest links, the hubs, and how far the two directions of a pair differ.
#'
#' @section Direction:
#' The target of a high rho is the cause, and the library the effect. All tables say `cause`
#' and `effect`. `reverse` is the rho of the other direction, from effect to cause.
#'
#' @param object What [causal_map()] returned.
#' @param n How many links, hubs and pairs.
#' @param direct What [direct_links()] returned for this map, or `NULL`.
#' @param x A summary.
#' @param ... Not used, must be empty.
#' @return A list of class `summary.causal_map`. Self prediction is left out but where it
#'   is named:
#' * `about`: the lines of `format()`.
#' * `pairs`, `missing`: numbers of pairs of two series, and of those without a rho.
#' * `skill`: mean rho, and its quantiles at 0, 25, 50, 75, 95 and 100 %, the inner ones to
#'   within 0.0005.
#' * `links`: data frame of the `n` highest rho: `cause`, `effect`, `rho`, `reverse` (`NA`
#'   where the map does not have it), and `lag`, `p_value` and `convergence` where it has.
#'   With `direct` also `link` and `through`, see [direct_links()], `NA` for links that it did
#'   not look at.
#' * `hubs`: data frame, a row a series: `series`, `E`, `drives`, the mean rho of it as a
#'   cause, over its effects; `driven`, as an effect, over its causes; `self`, the rho of
#'   its self prediction. Series that are easy to predict have high `drives` even where
#'   they drive nothing: compare with `self`.
#' * `asymmetry`: data frame of the `n` pairs that differ most between directions: `cause`,
#'   `effect`, `rho`, `reverse`, `difference`; `NULL` where no pair has both.
#' * `agreement`: `difference`, the mean of |rho - reverse| over pairs; `correlation` of
#'   the two, `NA` of one or two pairs; `series`, the number of series this is from, and `of`
#'   how many: of more than 2,000 it is from 2,000 at even steps, and so is `asymmetry`.
#' * `kinds`: with `direct`, what the named links are (`about` counts them in a line, too): a data
#'   frame of `named`, all links that [direct_links()] looked at, those with a rho from some bound
#'   on, and those with a p value of at most 0.05 where the map has these; `links`, their number;
#'   and the share of each kind, `direct` to `refused`. Give a part of the table of direct links for
#'   the shares of that part.
#'
#' For a table of links the parts are `about`, `pairs` (the number of links), `skill`,
#' `links` and `hubs`, where `drives` and `driven` are numbers of links.
#' @seealso [causal_map()], [autoplot.causal_map()].
#' @examples
#' x <- simulate_coupled_maps(steps = 300)
#' summary(causal_map(x, E_max = 5, threads = 2))
#' @export
summary.causal_map <- function(object, n = 5, ..., direct = NULL) {
  check_no_dots()
  check_whole_map(object, "object")
  check_direct(direct, object)
  n <- check_count(n)
  moments <- map_moments(object)
  both <- map_both_ways(object, n)
  new_map_summary(object, n, direct, moments$known + moments$missing, moments$missing,
                  skill_quantiles(moments), hub_frame(object, moments), asymmetry = both$pairs,
                  agreement = both$agreement)
}

#' @rdname summary.causal_map
#' @export
summary.causal_links <- function(object, n = 5, ..., direct = NULL) {
  check_no_dots()
  check_whole_map(object, "object")
  check_direct(direct, object)
  n <- check_count(n)
  series <- attr(object, "series", exact = TRUE)
  others <- object$effect != object$cause
  number <- \(names) tabulate(match(names[others], series), length(series))
  rho <- object$rho[others & !is.na(object$rho)]
  quantiles <- stats::quantile(rho, c(0, 0.25, 0.5, 0.75, 0.95, 1), na.rm = TRUE)
  hubs <- data.frame(series = series, E = series_dimensions(object, series),
                     drives = number(object$cause), driven = number(object$effect))
  new_map_summary(object, n, direct, sum(others), sum(others) - length(rho),
                  c(mean = mean_known(rho), quantiles), hubs)
}

new_map_summary <- function(x, n, direct, pairs, missing, skill, hubs, ...) {
  links <- strong_links(x, n)
  counted_kinds <- if (!is.null(direct)) {
    at <- match(link_key(links), link_key(direct))
    links <- cbind(links, link = direct$link[at], through = direct$through[at])
    sprintf("Of %s looked at: %s", counted(nrow(direct), "link"), kinds_text(direct))
  }
  structure(list(about = c(format(x), counted_kinds), pairs = pairs, missing = missing,
                 skill = skill, links = links,
                 kinds = kinds_by_rho(x, direct), hubs = hubs, ..., n = n),
            class = "summary.causal_map")
}

#' Mean rho and its quantiles
#' @noRd
skill_quantiles <- function(moments) {
  c(mean = moments$mean, "0%" = moments$range[[1L]],
    histogram_quantile(moments, c(0.25, 0.5, 0.75, 0.95)), "100%" = moments$range[[2L]])
}

#' The n highest rho as `cause`, `effect`, `rho`, `reverse` and what else there is
#' @noRd
strong_links <- function(x, n) {
  limits <- list(threshold = NULL, alpha = NULL, most = n)
  links <- map_links(x, limits)
  more <- setdiff(names(links), c("cause", "effect", "rho"))
  out <- data.frame(cause = links$cause, effect = links$effect, rho = links$rho,
                    reverse = reverse_rho(x, links))
  cbind(out, links[more])
}

#' rho of the other direction of each link
#' @noRd
reverse_rho <- function(x, links) UseMethod("reverse_rho")

#' @export
reverse_rho.default <- function(x, links) {
  row <- match(links$cause, rownames(x))
  column <- match(links$effect, colnames(x))
  vapply(seq_along(row), \(k) {
    if (is.na(row[[k]]) || is.na(column[[k]])) return(NA_real_)
    map_part(x, "rho", row[[k]], column[[k]])[[1L]]
  }, 0)
}

#' @export
reverse_rho.causal_links <- function(x, links) {
  all <- plain_table(x)
  series <- attr(x, "series", exact = TRUE)
  number <- \(a, b) (match(a, series) - 1) * length(series) + match(b, series)
  all$rho[match(number(links$cause, links$effect), number(all$effect, all$cause))]
}

hub_frame <- function(x, moments) {
  series <- map_series(x)
  row <- match(series, rownames(x))
  column <- match(series, colnames(x))
  data.frame(series = series, E = series_dimensions(x, series),
             drives = moments$target_mean[column], driven = moments$library_mean[row],
             self = moments$self[row])
}

# ---- Both directions of a pair -------------------------------------------------------

#' Pairs with both directions, of at most `most` series
#'
#' @param n How many pairs, at most.
#' @return list(pairs, agreement): `pairs` as in summary.causal_map(), the most one-sided
#'   first; NULL where there is none. `agreement` is that of all pairs.
#' @noRd
map_both_ways <- function(x, n = Inf, most = 2000L) {
  all <- intersect(rownames(x), colnames(x))
  series <- all[even_steps(length(all), most)]
  square <- as.matrix(x[match(series, rownames(x)), match(series, colnames(x)), drop = FALSE])
  turned <- t(square)
  upper <- which(upper.tri(square) & !is.na(square + turned))
  if (length(upper) == 0L) {
    return(list(pairs = NULL, agreement = c(difference = NA, correlation = NA,
                                            series = length(series), of = length(all))))
  }
  forth <- square[upper]
  back <- turned[upper]
  difference <- abs(forth - back)
  agreement <- c(
    difference = mean(difference),
    # Each pair both ways round: which of the two is called first means nothing. That of one
    # pair is -1 whatever its numbers are.
    correlation = if (length(upper) < 3L) NA else {
      suppressWarnings(stats::cor(c(forth, back), c(back, forth)))
    },
    series = length(series), of = length(all)
  )
  at <- strongest(seq_along(difference), difference, min(n, length(difference)))
  row <- (upper[at] - 1L) %% length(series) + 1L
  column <- (upper[at] - 1L) %/% length(series) + 1L
  # The library of the higher rho is the effect.
  first <- forth[at] >= back[at]
  list(pairs = plain_frame(
    cause = series[ifelse(first, column, row)], effect = series[ifelse(first, row, column)],
    rho = pmax(forth[at], back[at]), reverse = pmin(forth[at], back[at]),
    difference = difference[at]
  ), agreement = agreement)
}

# ---- Words ---------------------------------------------------------------------------

#' @rdname summary.causal_map
#' @export
print.summary.causal_map <- function(x, ...) {
  check_no_dots()
  cat(x$about, "", pairs_line(x), sep = "\n")
  if (x$pairs <= x$missing) return(invisible(x))
  cat(spread_line("rho", two(x$skill)), "", "Strongest links", sep = "\n")
  print_table(x$links)
  print_kinds(x$kinds)
  what <- if (is.integer(x$hubs$drives)) "number of links" else "mean rho over the others"
  cat(sprintf("\nHubs: what drives most, and what is driven most (%s)\n", what))
  print_table(side_by_side(x$hubs, x$n))
  if (NROW(x$asymmetry) > 0L) {
    cat("\nMost one-sided pairs\n")
    print_table(x$asymmetry)
    cat(agreement_words(x$agreement), sep = "\n")
  }
  cat("\nHigh rho alone makes no cause: see `lib_sizes` and `n_surrogates`", "in ?causal_map.\n")
  invisible(x)
}

spread_line <- function(what, of) {
  sprintf("%s %s to %s, mean %s, median %s, 95 %% are below %s", what, of[["0%"]],
          of[["100%"]], of[["mean"]], of[["50%"]], of[["95%"]])
}

pairs_line <- function(x) {
  paste0(counted(x$pairs, "pair"), " of two series",
         if (x$missing > 0) sprintf(", %s without a rho", commas(x$missing)))
}

#' The shares in per cent, the kinds without any left out
#' @noRd
print_kinds <- function(kinds) {
  if (is.null(kinds)) return(invisible())
  share <- kinds[-(1:2)]
  share <- share[vapply(share, \(one) any(one > 0), NA)]
  cat("\nOf the links that the map names, found (%)\n")
  print_table(cbind(kinds[1:2], round(100 * share, 1)))
  cat(strwrap(direct_means), sep = "\n")
}

print_table <- function(frame) {
  frame <- round_numbers(frame)
  row.names(frame) <- NULL
  print(frame, row.names = FALSE)
}

#' The largest drivers on the left, what is driven most on the right
#' @noRd
side_by_side <- function(hubs, n) {
  top <- \(by) utils::head(order(-by, na.last = NA, method = "radix"), n)
  left <- hubs[top(hubs$drives), ]
  right <- hubs[top(hubs$driven), ]
  rows <- seq_len(min(nrow(left), nrow(right)))
  data.frame(cause = left$series[rows], drives = left$drives[rows], "|" = "|",
             effect = right$series[rows], driven = right$driven[rows], check.names = FALSE)
}

agreement_words <- function(agreement) {
  correlation <- agreement[["correlation"]]
  c(sprintf("The two directions of a pair differ by %s on average%s.",
            two(agreement[["difference"]]),
            if (is.na(correlation)) "" else paste0(", correlation ", two(correlation))),
    if (agreement[["series"]] < agreement[["of"]]) {
      sprintf("From the pairs of %s of %s series, at even steps.",
              commas(agreement[["series"]]), commas(agreement[["of"]]))
    })
}
