# The table that holds episodes: its names, printing and subsetting.

episode_columns <- c("episode", "size", "count", "support", "units", "low", "high")

#' @param columns List of the columns, in order.
#' @param about Attributes that say where they come from.
#' @noRd
new_episodes <- function(columns, about) {
  new_table(stats::setNames(columns, episode_columns), "episodes", about)
}

#' @export
rows_are_there.episodes <- function(x, class = x) is_whole_episodes(x)

arrow_text <- function(low, high) {
  sprintf(" -(%s,%s]-> ", exact(low), exact(high))
}

#' Names of episodes, from lists of their units and of their bounds
#' @noRd
episode_text <- function(units, low, high) {
  sizes <- lengths(units)
  out <- character(length(units))
  # Each pair of bounds is spelt once, as there are few; episodes of a size all together.
  bounds <- data.frame(low = as.double(unlist(low, use.names = FALSE)),
                       high = as.double(unlist(high, use.names = FALSE)))
  known <- unique(bounds)
  pair <- match(complex(real = bounds$low, imaginary = bounds$high),
                complex(real = known$low, imaginary = known$high))
  arrows <- arrow_text(known$low, known$high)
  before <- cumsum(c(0L, sizes - 1L))
  for (size in unique(sizes)) {
    rows <- which(sizes == size)
    name <- matrix(as.character(unlist(units[rows], use.names = FALSE)), nrow = size)
    text <- enc2utf8(name[1L, ])
    for (k in seq_len(size - 1L)) {
      text <- paste0(text, arrows[pair[before[rows] + k]], enc2utf8(name[k + 1L, ]))
    }
    out[rows] <- text
  }
  out
}

#' @export
c.episodes <- function(...) {
  parts <- list(...)
  for (part in parts) check_episodes(part, "...", rlang::current_env())
  columns <- lapply(episode_columns, function(name) {
    unlist(lapply(parts, `[[`, name), recursive = FALSE, use.names = FALSE)
  })
  out <- new_episodes(columns, list())
  # Of two searches, what the attributes say of one would be said of both.
  if (are_parts_of_one(parts)) whole_again(out, parts[[1L]]) else out
}

#' @export
format.episodes <- function(x, ...) {
  check_episodes(x)
  if (nrow(x) == 0L) return(character())
  sprintf("%s  (%s times)", x$episode, ifelse(is.na(x$count), "?", x$count))
}

#' @export
print.episodes <- function(x, n = 10, ...) {
  n <- check_count(n, min = 0, infinite = TRUE)
  if (!is_whole_episodes(x)) {
    print(plain_table(x))
    return(invisible(x))
  }
  cat(episodes_title(x), sep = "\n")
  if (nrow(x) > 0L) {
    # The longest episodes are what one looks for; the table itself starts with units.
    # Equal ones stay as they are, by name; sorting a million names takes seconds.
    o <- longest_rows(x$size, x$count, n)
    shown <- data.frame(size = x$size[o], count = x$count[o],
                        support = signif(x$support[o], 3), episode = short_names(x, o))
    print_left(shown)
    left <- nrow(x) - length(o)
    if (left > 0L) {
      cat(sprintf("... and %s more (longest first here, shortest first in the table)\n",
                  commas(left)))
    }
  }
  invisible(x)
}

#' The first `n` rows when the longest come first and, among them, the most frequent
#' @noRd
longest_rows <- function(size, count, n) {
  at_least <- rev(cumsum(rev(tabulate(size))))
  enough <- which(at_least >= n)
  rows <- if (length(enough)) which(size >= max(enough)) else seq_along(size)
  utils::head(rows[order(-size[rows], -count[rows], method = "radix")], n)
}

#' Names for the screen: one interval for all stands in the title
#' @noRd
short_names <- function(x, rows) {
  if (NROW(attr(x, "intervals")) != 1L) return(x$episode[rows])
  vapply(x$units[rows], paste, "", collapse = " -> ")
}

#' Print a data frame with its last column, text, left-aligned and cut to the screen
#' @noRd
print_left <- function(shown) {
  last <- ncol(shown)
  others <- utils::capture.output(print(shown[-last], row.names = FALSE))
  text <- c(names(shown)[[last]], shown[[last]])
  room <- max(20L, getOption("width") - max(nchar(others)) - 2L)
  cat(paste0(others, "  ", cli::ansi_strtrim(text, room)), sep = "\n")
}

episodes_title <- function(x) {
  sizes <- max(x$size, 0L, na.rm = TRUE)
  if (is.null(attr(x, "min_count"))) {
    return(sprintf("# %d episode%s", nrow(x), if (nrow(x) == 1L) "" else "s"))
  }
  intervals <- attr(x, "intervals")
  c(sprintf("# %s %s episodes of up to %d units, at least %s occurrences each",
            commas(nrow(x)), attr(x, "target"), sizes, commas(attr(x, "min_count"))),
    sprintf("# delays in s: %s", some(sprintf("(%s,%s]", exact(intervals[, 1L]),
                                                 exact(intervals[, 2L])))))
}

#' @export
summary.episodes <- function(object, ...) {
  check_no_dots()
  check_episodes(object)
  sizes <- sort(unique(object$size))
  each <- split(object$count, object$size)
  by_size <- data.frame(
    size = sizes, episodes = lengths(each, use.names = FALSE),
    least = vapply(each, min, 0L, USE.NAMES = FALSE),
    median = vapply(each, stats::median, 0, USE.NAMES = FALSE),
    most = vapply(each, max, 0L, USE.NAMES = FALSE)
  )
  structure(
    list(title = episodes_title(object), by_size = by_size, levels = attr(object, "levels"),
         engine = attr(object, "engine"), device = attr(object, "device"),
         threads = attr(object, "threads"),
         elapsed = attr(object, "elapsed"), peak_memory = attr(object, "peak_memory")),
    class = "summary.episodes"
  )
}

#' @export
print.summary.episodes <- function(x, ...) {
  cat(x$title, sep = "\n")
  cat("\nCounts by size\n")
  print(x$by_size, row.names = FALSE)
  if (!is.null(x$levels)) {
    cat("\nSearch\n")
    known <- !vapply(x$levels, anyNA, NA)
    print(x$levels[known], row.names = FALSE)
    where <- if (x$device == "gpu") "GPU" else {
      sprintf("%d thread%s", x$threads, if (x$threads == 1L) "" else "s")
    }
    cat(sprintf("\nengine \"%s\", %s, %s s, %s at most\n", x$engine, where,
                format(x$elapsed, digits = 3), bytes_text(x$peak_memory)))
  }
  invisible(x)
}
