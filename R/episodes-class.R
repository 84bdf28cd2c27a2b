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
  if (!are_parts_of_one(parts)) return(out)
  out <- whole_again(out, parts[[1L]])
  # Episodes made one by one are no parts of something larger than what they make together.
  attr(out, "rows") <- max(attr(out, "rows", exact = TRUE), nrow(out))
  out
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
  # The longest episodes are what one looks for; the table itself starts with units.
  # Equal ones stay as they are, by name; sorting a million names takes seconds.
  broken <- !is.null(columns_of_episodes_fault(x))
  o <- if (broken) 0L else if (is_ordered(x)) seq_len(min(n, nrow(x))) else
    longest_rows(x$size, x$count, n)
  if (broken || any(lengths(x$units[o]) == 0L)) {
    print(plain_table(x))
    return(invisible(x))
  }
  cat(episodes_title(x), sep = "\n")
  if (nrow(x) > 0L) {
    more <- vapply(setdiff(names(x), episode_columns), \(name) is.atomic(x[[name]]), NA)
    shown <- data.frame(size = x$size[o], count = x$count[o], support = signif(x$support[o], 3))
    for (name in names(more)[more]) shown[[name]] <- shown_value(x[[name]][o])
    print_left(shown, list(episode = row_pieces(x, o)))
    more_line(nrow(x) - length(o), if (!is_ordered(x)) {
      "longest first here, shortest first in the table"
    })
  }
  invisible(x)
}

episodes_title <- function(x) {
  sizes <- max(x$size, 0L, na.rm = TRUE)
  if (is.null(attr(x, "min_count"))) return(paste("#", rows_text(x, "episode")))
  least <- attr(x, "min_count")
  kind <- paste(attr(x, "target"), "episode")
  c(sprintf("# %s of up to %s, at least %s each",
            rows_text(x, kind), counted(sizes, "unit"), counted(least, "occurrence")),
    delays_text(attr(x, "intervals")))
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
    list(title = episodes_title(object), surprising = surprising_episodes(object),
         by_size = by_size, levels = attr(object, "levels"),
         engine = attr(object, "engine"), device = attr(object, "device"),
         threads = attr(object, "threads"),
         elapsed = attr(object, "elapsed"), peak_memory = attr(object, "peak_memory")),
    class = "summary.episodes"
  )
}

#' The episodes least likely to be as frequent by chance, each of other units
#'
#' @return A data frame: `size`, `count`, `expected` and `surprise` as expected_counts() has
#'   them, and `episode` as it is printed; NULL where the recording is not known.
#' @noRd
surprising_episodes <- function(x, n = 5L, most = 1e6) {
  recording <- own_recording(x)
  if (is.null(recording) || anyNA(.subset2(x, "count"))) return(NULL)
  # Of more than a million the longest: all of them would take seconds.
  if (nrow(x) > most) x <- x[longest_rows(.subset2(x, "size"), .subset2(x, "count"), most), ]
  known <- unlist(.subset2(x, "units"), use.names = FALSE) %in% levels(recording$unit)
  if (!all(known) || !any(.subset2(x, "size") > 1L)) return(NULL)
  expected <- expected_episodes(x, recording)
  score <- surprise(.subset2(x, "count"), expected)
  score[.subset2(x, "size") < 2L] <- NA
  rows <- distinct_rows(.subset2(x, "units"), top_rows(score, 1000L), n)
  text <- vapply(row_pieces(x, rows), fit_pieces, "", room = 60L)
  data.frame(size = x$size[rows], count = x$count[rows], expected = signif(expected[rows], 3),
             surprise = signif(score[rows], 3), episode = text)
}

#' @export
print.summary.episodes <- function(x, ...) {
  cat(x$title, sep = "\n")
  if (!is.null(x$surprising)) {
    cat("\nLeast likely by chance, if units fired independently, each of other units\n")
    print_left(x$surprising[-5L], list(episode = as.list(x$surprising$episode)))
    cat("expected_counts() explains these columns; ",
        "episode_significance() tests against surrogates.\n", sep = "")
  }
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

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.episodes <- function(x, ...) {
  check_no_dots()
  check_episodes(x)
  tidy_frame(term = as.character(x$episode), size = x$size, estimate = x$count,
             support = x$support)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.episodes <- function(x, ...) {
  check_no_dots()
  check_episodes(x)
  tidy_frame(episodes = nrow(x), max_size = max(x$size, 0L),
             min_count = attr(x, "min_count", exact = TRUE) %||% NA_real_,
             elapsed = attr(x, "elapsed", exact = TRUE) %||% NA_real_)
}
