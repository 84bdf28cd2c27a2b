# Which episodes a stream follows from update to update, and their picture.
#
# Counts of all episodes at all updates would grow without bounds, so each update picks a
# few, and their counts are noted from then on.

#' Plot a stream
#'
#' Draws how the counts of the strongest episodes went from update to update.
#'
#' # Which episodes
#' Strength is the number of spikes an episode accounts for, its size times its count; size
#' 1 is left out. At each update the `follow` strongest that differ are picked (one that
#' shares more than half of its units with stronger ones is passed over), and are followed
#' from there on: at most five times `follow` episodes, of which the one whose best
#' count lies longest back gives way. The picture shows those that were strongest at
#' any update, again passing over what a stronger one stands for: one that holds more than
#' half of its units, in the table at least at every other update that it is in itself. A
#' line begins when its episode is picked, and is interrupted where it is not in the
#' table, that is, as a rule, below `min_count`, the dashed line.
#'
#' @param object An [episode_stream()] that has been updated.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param episodes Number of episodes to draw.
#' @return `autoplot()` gives a ggplot object whose x axis is the end of the window in
#'   seconds; `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For a stream that has not followed an episode yet (`synfire_error_argument`), and where
#' ggplot2 is not installed.
#' @seealso [autoplot.episodes()] for pictures of the window: `plot(s$episodes)`.
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' x <- simulate_sym26(duration = 12)
#' s <- episode_stream(c(0.005, 0.010), min_count = 20, window = 4, threads = 2)
#' for (end in seq(0.5, 12, by = 0.5)) {
#'   block <- x[x$time > end - 0.5 & x$time <= end, ]
#'   s <- update(s, as.data.frame(block), now = end)
#' }
#' plot(s)
#' @exportS3Method ggplot2::autoplot
autoplot.episode_stream <- function(object, ..., episodes = 6) {
  rlang::check_installed("ggplot2", "to draw a stream.")
  check_no_dots()
  episodes <- check_count(episodes, max = 100)
  check_stream(object)
  followed <- object$followed
  refuse_if(length(followed$episode) == 0L, "object",
            "a stream that has followed an episode of two or more units",
            if (object$updates == 0) "one without an update" else "one without any",
            if (followed$most == 0) "Set it up with `follow` above 0.")
  shown <- lines_to_draw(followed, episodes)
  names <- chain_names(list(units = followed$units[shown], count = NA))
  end <- object$history$end
  lines <- data.frame(
    end = rep(end, length(shown)),
    count = as.vector(followed$counts[, shown, drop = FALSE]),
    episode = factor(rep(names, each = length(end)), names)
  )
  lines$count[lines$count == 0L] <- NA
  # The order of the legend is that of the lines where they end.
  final <- followed$counts[length(end), shown]
  lines$episode <- factor(lines$episode, names[order(-final, method = "radix")])
  colours <- rlang::set_names(syn_palette(length(names)), names)

  ggplot2::ggplot(lines, aes_from(x = "end", y = "count", colour = "episode")) +
    stream_threshold(object$arguments$min_count, end[[1L]]) +
    ggplot2::geom_line(linewidth = 0.8, na.rm = TRUE) +
    # Where there are gaps, a line may be a single point.
    ggplot2::geom_point(size = if (length(end) <= 60L) 1.4 else 0.5, na.rm = TRUE) +
    ggplot2::scale_colour_manual(name = NULL, values = colours) +
    ggplot2::scale_x_continuous(name = "End of the window (s)") +
    ggplot2::scale_y_continuous(
      name = "Count in the window", limits = c(0, NA),
      expand = ggplot2::expansion(mult = c(0, 0.05))
    ) +
    theme_synfire()
}

#' Columns of the followed counts: the strongest, each for what stronger ones do not show
#' @noRd
lines_to_draw <- function(followed, n) {
  there <- !is.na(followed$counts) & followed$counts > 0L
  peak <- apply(followed$counts, 2L, max, na.rm = TRUE) * followed$size
  rows <- order(-peak, method = "radix")
  drawn <- integer()
  for (row in rows[peak[rows] > 0]) {
    if (length(drawn) == n) break
    own <- unique(followed$units[[row]])
    alike <- drawn[vapply(followed$units[drawn], \(u) mean(own %in% u) > 0.5, NA)]
    shown <- rowSums(there[, alike, drop = FALSE]) > 0
    if (mean(shown[there[, row]]) >= 0.5) next
    drawn <- c(drawn, row)
  }
  drawn
}

#' The count below which episodes are not in the table; with `min_support` there is no one
#' @noRd
stream_threshold <- function(min_count, from) {
  if (is.null(min_count)) return(NULL)
  list(
    ggplot2::geom_hline(yintercept = min_count, colour = syn_muted, linetype = "dashed",
                        linewidth = 0.4),
    ggplot2::annotate("text", x = from, y = min_count, label = "min_count", hjust = 0,
                      vjust = 1.5, size = 3, colour = syn_muted)
  )
}

# ---- Following -----------------------------------------------------------------------

#' Episodes followed so far
#'
#' Each has a `slot`, its place in the rows of counts that `rows` holds one after the other:
#' 0 where it is not in the table. Before update `since` the slot was another one's. `id`
#' is its number in the tree of a view, 0 while it is not in there, and all episodes whose
#' serial number is below `fresh` have been looked at.
#' @noRd
follow_nothing <- function(most) {
  list(most = most, episode = character(), size = integer(), units = list(),
       slot = integer(), since = double(), id = integer(), serial = double(), fresh = 0,
       rows = integer())
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
