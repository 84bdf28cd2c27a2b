# Tables of episodes: their names, what makes them sound, how they print, and how often their
# episodes would occur by chance.

episode_columns <- c("episode", "size", "count", "support", "units", "low", "high")

#' @param columns List of the columns, in order.
#' @param about Attributes that say where they come from.
#' @noRd
new_episodes <- function(columns, about) {
  names(columns) <- episode_columns
  new_table(columns, "episodes", about)
}

# Counts that come from elsewhere may be noted.
#' @export
free_columns.episodes <- function(x) c("count", "support")

#' @export
is_sound_change.episodes <- function(x, out) is_whole_episodes(out)

#' @export
join_tables.episodes <- function(x, parts) {
  if (all(vapply(parts, inherits, NA, "episodes"))) do.call(c.episodes, unname(parts))
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
  bounds <- complex(real = as.double(unlist(low, use.names = FALSE)),
                    imaginary = as.double(unlist(high, use.names = FALSE)))
  known <- unique(bounds)
  pair <- match(bounds, known)
  arrows <- arrow_text(Re(known), Im(known))
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
  for (part in parts) check_episodes(part, "...")
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
    more_line(nrow(x) - length(o),
              if (!is_ordered(x)) "longest first here, shortest first in the table")
  }
  invisible(x)
}

episodes_title <- function(x) {
  sizes <- max(x$size, 0L, na.rm = TRUE)
  if (is.null(attr(x, "min_count"))) return(paste("#", rows_text(x, "episode")))
  least <- attr(x, "min_count")
  kind <- paste(attr(x, "target"), "episode")
  c(sprintf("# %s of up to %s, at least %s each", rows_text(x, kind), counted(sizes, "unit"),
            counted(least, "occurrence")), delays_text(attr(x, "intervals")))
}

#' @export
summary.episodes <- function(object, ...) {
  begin_method(object)
  about <- c("levels", "engine", "device", "threads", "elapsed", "peak_memory")
  structure(c(list(title = episodes_title(object), surprising = surprising_episodes(object),
                   by_size = counts_by_size(split(object$count, object$size), "episodes")),
              rlang::set_names(attributes(object)[about], about)), class = "summary.episodes")
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
  print_surprising(x$surprising, "episode_significance()")
  cat("\nCounts by size\n")
  print(x$by_size, row.names = FALSE)
  if (!is.null(x$levels)) {
    cat("\nSearch\n")
    print(x$levels[!vapply(x$levels, anyNA, NA)], row.names = FALSE)
    cat(sprintf("\nengine \"%s\", %s, %s s, %s at most\n", x$engine,
                if (x$device == "gpu") "GPU" else counted(x$threads, "thread"),
                format(x$elapsed, digits = 3), bytes_text(x$peak_memory)))
  }
  invisible(x)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.episodes <- function(x, ...) {
  begin_method(x)
  tidy_frame(term = as.character(x$episode), size = x$size, estimate = x$count,
             support = x$support)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.episodes <- function(x, ...) {
  begin_method(x)
  tidy_frame(episodes = nrow(x), max_size = max(x$size, 0L),
             min_count = attr(x, "min_count", exact = TRUE) %||% NA_real_,
             elapsed = attr(x, "elapsed", exact = TRUE) %||% NA_real_)
}

#' Error unless `x` is a sound table of episodes
#'
#' Other code can change a data frame without our methods. What stands in `units`, `low`
#' and `high` decides what is counted; the name has to say the same.
#' @noRd
check_episodes <- function(x, arg = rlang::caller_arg(x)) {
  refuse_if(missing(x) || !inherits(x, "episodes"), arg, "an `episodes` table", describe(x),
            "Make one with `mine_episodes()` or `episode()`.")
  fault <- columns_of_episodes_fault(x) %||% rows_of_episodes_fault(x)
  refuse_if(!is.null(fault), arg, "a sound `episodes` table",
            paste0("one that was changed: ", fault$is),
            fault$hint %||% paste("Take rows with `[`, and make new episodes with",
                                  "`episode()`; `c()` joins tables."))
  invisible(x)
}

#' @export
check_sound.episodes <- function(x, arg) check_episodes(x, arg)

#' What is wrong with the columns, or NULL
#' @noRd
columns_of_episodes_fault <- function(x) {
  if (!is.list(x)) return(list(is = paste0("it is ", describe(unclass(x)))))
  lost <- setdiff(episode_columns, names(x))
  if (length(lost)) return(list(is = sprintf("it has no column `%s`", lost[[1L]])))
  n <- .row_names_info(x, 2L)
  first <- \(names, wrong, is = \(name, v) sprintf("its `%s` is %s", name, describe(v))) {
    for (name in names) {
      column <- .subset2(x, name)
      if (wrong(column)) return(list(is = is(name, column)))
    }
  }
  first(episode_columns, \(v) length(v) != n, \(name, v) {
    sprintf("its column `%s` has %s values for %s rows", name, commas(length(v)), commas(n))
  }) %||%
    first(c("units", "low", "high"), Negate(is.list)) %||%
    first(c("size", "count", "support"), \(v) {
      !is_plain_numeric(v) && !(is.logical(v) && all(is.na(v)))
    }) %||%
    first("episode", Negate(is.character))
}

#' What is wrong with the rows, or NULL
#' @noRd
rows_of_episodes_fault <- function(x) {
  units <- .subset2(x, "units")
  low <- .subset2(x, "low")
  high <- .subset2(x, "high")
  size <- .subset2(x, "size")
  n <- lengths(units)
  fault <- \(is, bad, hint = NULL) {
    if (any(bad)) list(is = sprintf("%s in row %s", is, commas(which(bad)[[1L]])), hint = hint)
  }
  no <- \(column, is) !vapply(column, is, NA)
  # Each check takes for granted that the checks before it found nothing.
  fault("there is no episode", n == 0L,
        "Such a row is one that was asked for and is not there: take fewer.") %||%
    fault("its `units` are not names", no(units, is.character)) %||%
    fault("its bounds are not numbers", no(low, is_plain_numeric) | no(high, is_plain_numeric)) %||%
    fault("its `low` and `high` are not one fewer than its units",
          lengths(low) != n - 1L | lengths(high) != n - 1L) %||%
    (if (anyNA(unlist(units, use.names = FALSE))) list(is = "a unit is missing")) %||%
    fault("its `size` is not the number of units", is.na(size) | size != n) %||%
    fault("its name is not that of its units and delays",
          !(.subset2(x, "episode") == episode_text(units, low, high)) %in% TRUE)
}

#' Whether a table of episodes has all its columns, and no row that is not there
#' @noRd
is_whole_episodes <- function(x) {
  # Not by its units, which would all be made for this.
  is.null(columns_of_episodes_fault(x)) && !anyNA(.subset2(x, "size"))
}

#' @export
expected_counts.episodes <- function(x, recording = attr(x, "recording", exact = TRUE)) {
  check_episodes(x)
  recording <- counted_recording(recording)
  whole_again(with_excess(as.list(x), expected_episodes(x, recording)), x)
}

expected_episodes <- function(x, recording) {
  check_units_known(unlist(.subset2(x, "units"), use.names = FALSE), recording, "episodes")
  rates <- observed_rates(recording)
  stretches <- lengths_of_trials(recording)
  units <- .subset2(x, "units")
  sizes <- lengths(units)
  out <- double(length(units))
  for (size in unique(sizes)) {
    rows <- which(sizes == size)
    flat <- \(name, n) matrix(unlist(.subset2(x, name)[rows], use.names = FALSE), nrow = n)
    rate <- matrix(rates[flat("units", size)], nrow = size)
    out[rows] <- expected_chains(rate, flat("low", size - 1L), flat("high", size - 1L), stretches)
  }
  out
}

#' Expected counts of chains of one size
#'
#' @param rate Matrix of rates in Hz, a column a chain and a row a unit.
#' @param low,high Matrices of bounds in seconds, with a row less.
#' @param stretches Seconds of each trial.
#' @noRd
expected_chains <- function(rate, low, high, stretches) {
  # `until`: mean time until a valid end of the first k units; `often`: how often these
  # end; `span`: how long they last.
  until <- 1 / rate[1L, ]
  often <- rate[1L, ]
  span <- numeric(ncol(rate))
  for (k in seq_len(nrow(rate) - 1L)) {
    width <- high[k, ] - low[k, ]
    here <- rate[k + 1L, ]
    hit <- hit_while_open(often, here, width)
    until <- until + low[k, ] + 1 / here + (1 - hit) / (hit * often)
    span <- span + low[k, ] + mean_delay(here, width)
    often <- here * -expm1(-often * width)
  }
  if (nrow(rate) == 1L) return(rate[1L, ] * sum(stretches))
  count <- double(ncol(rate))
  for (seconds in unique(stretches)) {
    count <- count + sum(stretches == seconds) * pmax(0, seconds - span) / until
  }
  # A unit that never fires takes for ever.
  count[is.na(count)] <- 0
  count
}

#' Probability that a spike comes while windows of one width, which open at random, follow
#' each other without a gap
#'
#' One less the Laplace transform of the busy period of a queue with a fixed service time.
#' @noRd
hit_while_open <- function(opens, spikes, width) {
  both <- (opens + spikes) * width
  spikes * -expm1(-both) / (spikes + opens * exp(-both))
}

#' Mean delay of the first spike in a window that has one
#' @noRd
mean_delay <- function(rate, width) {
  x <- rate * width
  ifelse(x < 1e-4, width / 2, 1 / rate - width / expm1(pmax(x, 1e-4)))
}

#' "A > B > C", the middle of long ones left out; with "(size, count)" where asked for
#' @noRd
chain_names <- function(x, count = FALSE) {
  names <- vapply(short_members(.subset2(x, "units")), cut_middle, "", most = 6L, first = 3L,
                  sep = " > ")
  if (count && !anyNA(.subset2(x, "count"))) {
    names <- sprintf("%s (%d units, %s times)", names, .subset2(x, "size"),
                     commas_each(.subset2(x, "count")))
  }
  # Episodes with the same units differ in their intervals.
  told_apart(names)
}

#' "(5, 15]", in milliseconds
#' @noRd
interval_names <- function(low, high) {
  ms <- \(v) trimws(format_each(signif(1000 * v, 9)))
  sprintf("(%s, %s]", ms(low), ms(high))
}

#' Rows of the largest episodes that differ from each other
#' @noRd
best_episodes <- function(x, n) {
  units <- .subset2(x, "units")
  size <- .subset2(x, "size")
  if (is_ordered(x)) return(utils::head(which(size >= 2L), n))
  rows <- order(-size, -.subset2(x, "count"), .subset2(x, "episode"), method = "radix")
  rows <- rows[size[rows] >= 2L]
  distinct_rows(units, rows, n)
}
