# How often members come out again in parts of the recording, in words.

# A member is called stable that so large a share of the resamples has.
stable_share <- 0.95

has_stability <- function(x) {
  !is.null(x[["stability"]]) && (attr(x, "resamples", exact = TRUE) %||% 0) > 0
}

#' How many members of each assembly are stable
#' @noRd
stable_members <- function(x, rows) {
  vapply(x$stability[rows], \(share) sum(share >= stable_share - 1e-9), 0L)
}

#' "19 of 20", "all 5": in how many resamples a stable member is, at least
#' @noRd
stable_text <- function(n) {
  least <- ceiling(stable_share * n - 1e-9)
  if (least == n) sprintf("all %d", n) else sprintf("%d or more of %d", least, n)
}

#' " 6 of its 7 members come out again in 19 or more of 20 resamples (least often e, in 35 %)."
#' @noRd
stability_text <- function(x, row) {
  if (!has_stability(x)) return("")
  share <- x$stability[[row]]
  stable <- stable_members(x, row)
  least <- which.min(share)
  sprintf(" %s out again in %s resamples%s.",
          if (stable == x$size[[row]]) {
            "All members come"
          } else if (stable > 1L) {
            sprintf("%d of its %d members come", stable, x$size[[row]])
          } else {
            sprintf("%s of its %d members comes", if (stable) "One" else "None", x$size[[row]])
          },
          stable_text(attr(x, "resamples")),
          if (stable == x$size[[row]]) "" else {
            sprintf(" (least often %s, in %d %%)", seen_names(x$units[[row]][least]),
                    round(100 * share[[least]]))
          })
}

#' What to do about members that seldom come out again
#' @noRd
stability_advice <- function(x) {
  if (!has_stability(x)) return(NULL)
  seldom <- sum(unlist(x$stability) < 0.5)
  if (seldom == 0L) return(NULL)
  sprintf(paste("%s out again in fewer than half of the resamples, each with four fifths of the",
                "recording: another recording of this length would often miss %s."),
          if (seldom == 1L) "One member comes" else sprintf("%d members come", seldom),
          if (seldom == 1L) "it" else "them")
}
