# The order of series in heat maps: those with alike rows and columns next to each other.

#' Order of libraries and targets
#'
#' Where libraries and targets are the same series both have one order.
#'
#' @return list(rows, columns, sampled): `sampled` series have been clustered, 0 for all.
#' @noRd
map_order <- function(x, groups = NULL) {
  same <- setequal(rownames(x), colnames(x))
  profile <- map_profiles(x)
  if (same) {
    to_columns <- match(rownames(x), colnames(x))
    found <- order_profiles(cbind(profile$rows, profile$columns[to_columns, , drop = FALSE]))
    rows <- found$order
    columns <- to_columns[rows]
    sampled <- found$sampled
  } else {
    by_row <- order_profiles(profile$rows)
    by_column <- order_profiles(profile$columns)
    rows <- by_row$order
    columns <- by_column$order
    sampled <- max(by_row$sampled, by_column$sampled)
  }
  if (!is.null(groups)) {
    # order() leaves those of a group as they are.
    rows <- rows[order(as.integer(groups[rownames(x)[rows]]), method = "radix")]
    columns <- columns[order(as.integer(groups[colnames(x)[columns]]), method = "radix")]
  }
  list(rows = rows, columns = columns, sampled = sampled)
}

clustered_series <- 500L  # at most
profile_series <- 100L    # whose rho is the profile, of more series than that

#' What libraries and targets are compared by: their rho with others
#'
#' @return list(rows = matrix \[libraries, some targets\], columns = matrix \[targets, some
#'   libraries\]), without self prediction.
#' @noRd
map_profiles <- function(x) {
  some <- \(n) even_steps(n, if (n <= clustered_series) n else profile_series)
  columns <- some(ncol(x))
  rows <- some(nrow(x))
  parts <- pair_blocks(x, function(block, rho) {
    list(rows = rho[, columns, drop = FALSE], columns = t(rho[block %in% rows, , drop = FALSE]))
  })
  list(rows = do.call(rbind, lapply(parts, `[[`, "rows")),
       columns = do.call(cbind, lapply(parts, `[[`, "columns")))
}

#' @param profile Matrix, a row a series.
#' @return list(order, sampled).
#' @noRd
order_profiles <- function(profile) {
  n <- nrow(profile)
  if (n < 3L) return(list(order = seq_len(n), sampled = 0L))
  profile <- fill_profile(unname(profile))
  if (n <= clustered_series) return(list(order = cluster_order(profile), sampled = 0L))
  sample <- even_steps(n, clustered_series)
  leaf <- profile[sample[cluster_order(profile[sample, ])], ]
  nearest <- unlist(lapply(block_rows(c(n, nrow(leaf))), \(rows) {
    # The squared length of the profile itself is the same for all leaves.
    score <- 2 * tcrossprod(profile[rows, , drop = FALSE], leaf)
    max.col(score - rep(rowSums(leaf^2), each = length(rows)), ties.method = "first")
  }))
  list(order = order(nearest, method = "radix"), sampled = length(sample))
}

#' Ward's clustering: leaves in the order of its tree
#' @noRd
cluster_order <- function(profile) stats::hclust(stats::dist(profile), "ward.D2")$order

#' Missing values as the mean of their row: neither near to others nor far from them
#' @noRd
fill_profile <- function(profile) {
  gap <- which(is.na(profile), arr.ind = TRUE)
  mean <- rowMeans(profile, na.rm = TRUE)
  mean[is.na(mean)] <- 0
  profile[gap] <- mean[gap[, 1L]]
  profile
}
