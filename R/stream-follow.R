# Which episodes a stream follows from update to update.
#
# The counts of all episodes at all updates would grow without bounds, so each update picks a
# few episodes, and their counts are noted from then on.

#' Episodes followed so far
#'
#' Each has a `slot`, its place in the rows of counts that `rows` holds one after the other:
#' 0 where it is not in the table. Before update `since` the slot was another one's. `id`
#' is its number in the tree of a view, 0 while it is not in there, and all episodes whose
#' serial number is below `fresh` have been looked at.
#' @noRd
follow_nothing <- function(most) {
  list(most = most, episode = character(), size = integer(), units = list(), slot = integer(),
       since = double(), id = integer(), serial = double(), fresh = 0, rows = integer())
}

#' Those followed, with `counts`, an integer matrix with a row for each update of the
#' history and a column for each episode: NA before it was followed
#' @noRd
shown_followed <- function(x) {
  followed <- .subset2(x, "followed")
  if (!is.null(followed$counts)) return(followed)
  n <- min(.subset2(x, "updates"), .subset2(x, "keep"))
  followed$counts <- counts_followed(followed, .subset2(x, "updates"), n)
  followed[c("most", "episode", "size", "units", "counts")]
}

#' @param updates How many updates there were with those of `rows`, the last of which `n`
#'   are.
#' @noRd
counts_followed <- function(followed, updates, n) {
  if (length(followed$slot) == 0L) return(matrix(0L, n, 0L))
  all <- matrix(followed$rows, ncol = n)
  counts <- t(all[followed$slot, , drop = FALSE])
  counts[outer(updates - n + seq_len(n), followed$since, `<`)] <- NA_integer_
  counts
}

#' Notes the counts of one update
#' @noRd
follow_on <- function(x, counted) {
  followed <- x$followed
  if (followed$most == 0) return(followed)
  followed <- if (is_view(counted$episodes)) {
    follow_view(followed, counted, x$updates + 1)
  } else {
    follow_table(followed, counted$episodes, x$updates + 1)
  }
  if (length(followed$episode) > 5 * followed$most || anyNA(followed$slot)) {
    followed <- give_slots(followed, x$updates, x$keep)
  }
  row <- integer(5 * followed$most)
  row[followed$slot] <- followed$now
  followed$now <- NULL
  followed$rows <- note(x$notes, "followed", followed$rows, row, x$keep)
  followed
}

follow_view <- function(followed, counted, update) {
  view <- counted$episodes
  # Numbers of another tree than before, or of another stream of the core.
  if (is.null(counted$tally)) followed[c("id", "fresh")] <- list(0L * followed$id, 0)
  if (!isTRUE(counted$same_tree)) followed <- find_followed(followed, view)
  id <- counted$strongest
  id <- id[!id %in% followed$id]
  if (length(id)) {
    chosen <- .Call(r_stream_names, view$tree, view$spelling, id)
    chosen$id <- id
    chosen$serial <- view$tree$serial[id + 1L]
    followed <- take_up(followed, chosen, update)
  }
  now <- view$count[followed$id + 1L]
  now[now < view$min_count] <- 0L
  followed$now <- now
  followed
}

follow_table <- function(followed, episodes, update) {
  followed[c("id", "fresh")] <- list(0L * followed$id, 0)
  some <- 20 * followed$most
  chosen <- distinct_rows(.subset2(episodes, "units"),
                          utils::head(strongest_rows(episodes, some), some), followed$most)
  chosen <- chosen[!.subset2(episodes, "episode")[chosen] %in% followed$episode]
  chosen <- lapply(c(episode = "episode", size = "size", units = "units"),
                   \(column) .subset2(episodes, column)[chosen])
  chosen$id <- integer(length(chosen$size))
  chosen$serial <- double(length(chosen$size))
  followed <- take_up(followed, chosen, update)
  now <- .subset2(episodes, "count")[match(followed$episode, .subset2(episodes, "episode"))]
  now[is.na(now)] <- 0L
  followed$now <- now
  followed
}

#' With those that were chosen, which have no slot yet
#' @noRd
take_up <- function(followed, chosen, update) {
  n <- length(chosen$id)
  for (column in names(chosen)) {
    followed[[column]] <- c(followed[[column]], chosen[[column]])
  }
  followed$slot <- c(followed$slot, rep(NA_integer_, n))
  followed$since <- c(followed$since, rep(update, n))
  followed
}

#' Without the episodes whose best count in the history lies longest back, where there are
#' too many; new ones get the slots that are free
#' @noRd
give_slots <- function(followed, updates, keep) {
  excess <- length(followed$episode) - 5 * followed$most
  if (excess > 0) {
    counts <- counts_followed(followed, updates, min(updates, keep))
    counts <- rbind(utils::tail(counts, keep - 1), followed$now, deparse.level = 0L)
    counts[is.na(counts)] <- 0L
    best <- max.col(t(counts), ties.method = "last")
    out <- order(best, method = "radix")[seq_len(excess)]
    for (column in c("episode", "size", "units", "id", "serial", "slot", "since", "now")) {
      followed[[column]] <- followed[[column]][-out]
    }
  }
  new <- which(is.na(followed$slot))
  followed$slot[new] <- setdiff(seq_len(5 * followed$most), followed$slot)[seq_along(new)]
  followed
}

#' Those followed, with their numbers in a tree that is another one than before
#' @noRd
find_followed <- function(followed, view) {
  serial <- view$tree$serial
  gone <- followed$id == 0L | serial[followed$id + 1L] != followed$serial
  followed$id[gone] <- 0L
  if (any(gone)) {
    # One that has gone may have come back under another number.
    came <- which(serial >= max(followed$fresh, 1)) - 1L
    names <- .Call(r_stream_names, view$tree, view$spelling, came)$episode
    back <- match(followed$episode[gone], names)
    followed$id[gone] <- ifelse(is.na(back), 0L, came[back])
  }
  followed$serial <- serial[followed$id + 1L]
  followed$fresh <- max(serial, 0) + 1
  followed
}

#' Rows of the episodes of two or more units, from the one with the most spikes on
#' @param n The first so many are enough.
#' @noRd
strongest_rows <- function(x, n = Inf) {
  size <- .subset2(x, "size")
  spikes <- size * as.double(.subset2(x, "count"))
  spikes[size < 2L] <- 0
  rows <- which(spikes > 0)
  if (length(rows) > n) {
    rank <- length(rows) - n + 1
    rows <- rows[spikes[rows] >= sort(spikes[rows], partial = rank)[[rank]]]
  }
  rows[order(-spikes[rows], method = "radix")]
}
