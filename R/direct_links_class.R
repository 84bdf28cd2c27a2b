# The table that direct_links() returns: how it is made, printed and summed up.

new_direct_links <- function(links, found, series, order, parameters, call, elapsed, device) {
  n <- nrow(links)
  tested <- which(is.na(links$reason))
  column <- \(value, missing) replace(rep(missing, n), tested, value)
  test <- found$test
  # Rows that are missing may leave too few for a test.
  known <- !is.na(test$p_value)
  q <- stats::p.adjust(test$p_value, "BH")
  from <- match(links$cause, series)
  to <- match(links$effect, series)
  kinds <- kinds_of_links(from[tested][known], to[tested][known],
                          q[known] <= parameters$alpha,
                          test$alone[known] <= parameters$alpha, found$parties[known])
  kind <- rep(6L, n)
  kind[tested[known]] <- kinds$kind
  links$reason[tested[!known]] <- "short"
  through <- rep(NA_character_, n)
  through[tested[known]] <- vapply(kinds$through, \(k) {
    if (length(k)) toString(series[k]) else NA_character_
  }, "")
  columns <- list(
    cause = links$cause, effect = links$effect, rho = links$rho,
    link = factor(link_kinds[kind], link_kinds), delay = column(test$delay, NA_integer_),
    gain = column(test$gain, NA_real_), t = column(test$t, NA_real_),
    p_value = column(test$p_value, NA_real_), q_value = column(q, NA_real_),
    through = through, reason = links$reason
  )
  new_table(columns, "direct_links", list(series = order, parameters = parameters,
                                          call = call, elapsed = elapsed, device = device))
}
