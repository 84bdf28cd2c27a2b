# The table that direct_links() returns: how it is made, printed and summed up.

#' @param links The links that were looked at: `cause`, `effect` and `rho`.
#' @param found What links_in_folder() gives.
#' @param series Names of the series that `found` has numbers of.
#' @param order Names of all series, in the order of the map.
#' @noRd
new_direct_links <- function(links, found, series, order, parameters, call, elapsed, device) {
  tested <- which(is.na(found$reason))
  verdict <- link_verdicts(match(links$cause, series)[tested], match(links$effect, series)[tested],
                           found, parameters$alpha)
  column <- \(value, missing) replace(rep(missing, nrow(links)), tested, value)
  test <- found$test
  columns <- list(
    cause = links$cause, effect = links$effect, rho = links$rho,
    link = factor(column(verdict$kind, "refused"), direct_link_kinds),
    delay = column(test$delay, NA_integer_),
    gain = column(test$gain, NA_real_), t = column(test$t, NA_real_),
    p_value = column(test$p_value, NA_real_), q_value = column(verdict$q_value, NA_real_),
    linear = column(test$linear, NA), together = column(test$together, NA_real_),
    through = column(listed_names(verdict$through, series), NA_character_),
    reason = replace(found$reason, tested, verdict$reason)
  )
  new_table(columns, "direct_links", list(series = order, parameters = parameters,
                                          call = call, elapsed = elapsed, device = device))
}

#' Names separated by commas, of each of a list of numbers; NA where there are none
#' @noRd
listed_names <- function(numbers, names) {
  n <- lengths(numbers)
  out <- rep(NA_character_, length(n))
  for (k in seq_len(max(n, 0L))) {
    has <- which(n >= k)
    name <- names[vapply(numbers[has], `[[`, 0L, k)]
    out[has] <- if (k == 1L) name else paste0(out[has], ", ", name)
  }
  out
}

# ---- Printing ------------------------------------------------------------------------

#' Tables of direct links
#'
#' @param x,object What [direct_links()] returned.
#' @param n How many links to print, or how many sentences; `Inf` for all.
#' @param ... Not used; must be empty.
#' @return `format()` gives two lines, `print()` shows the direct links first, those with the
#'   highest `t` first. `summary()` gives a list of class `summary.direct_links`: `about`, the
#'   lines of `format()`; `also`, lines about the delays of direct links, and the reasons of
#'   those that were refused; `kinds`, the number of links of each kind; `hubs`, a data frame of
#'   the series with a direct link: `series`, `drives` and `driven`, numbers of direct links,
#'   by `drives`; `sentences`, a data frame of the links: `cause`, `effect`, `link` and
#'   `said`, a sentence with the numbers.
#' @seealso [direct_links()], [autoplot.direct_links()].
#' @examples
#' wiring <- rbind(c(0, 0.2, 0), c(0, 0, 0.2), 0)
#' set.seed(1)
#' x <- simulate_coupled_maps(400, wiring, noise = 0.02)
#' links <- direct_links(causal_map(x, E = 3, threads = 2), x, threshold = 0.1, threads = 2)
#' summary(links)
#' @name direct_links_tables
NULL

#' @rdname direct_links_tables
#' @export
format.direct_links <- function(x, ...) {
  check_no_dots()
  parameters <- attr(x, "parameters", exact = TRUE)
  c(sprintf("Direct links: %s among %s", rows_text(x, "link"),
            counted(length(attr(x, "series", exact = TRUE)), "series", "series")),
    if (nrow(x) == 0L) no_link_text(x) else {
      sprintf("%s (%s; false discovery rate %s)", kinds_text(x),
              if (parameters$threshold <= -1) "all pairs" else {
                paste("rho of", format(parameters$threshold), "or more")
              }, format(parameters$alpha))
    })
}

#' Why a table of links is empty
#' @noRd
no_link_text <- function(x) {
  if (attr(x, "rows", exact = TRUE) > 0L) return("No link is left in this part of the table.")
  parameters <- attr(x, "parameters", exact = TRUE)
  highest <- parameters$highest_rho
  if (is.na(highest)) return("No two series of the map have a rho, so no link was tested.")
  sprintf(paste("No link was tested: the highest rho of the map between two series is %s, and",
                "`threshold` is %s."), format(floor(highest * 1000) / 1000),
          format(parameters$threshold))
}

#' @rdname direct_links_tables
#' @export
print.direct_links <- function(x, n = 10, ...) {
  check_no_dots()
  n <- min(check_count(n, infinite = TRUE), nrow(x))
  cat(strwrap(format(x), exdent = 2L), if (nrow(x) > 0L) "", sep = "\n")
  if (nrow(x) == 0L) return(invisible(x))
  shown <- if (is_ordered(x)) seq_len(n) else utils::head(clear_order(x), n)
  columns <- c("cause", "effect", "rho", "link", "delay", "gain", "t", "q_value",
               if ("undirected" %in% x$link) "together", "through", "reason")
  columns <- intersect(columns, names(x))
  frame <- new_frame(lapply(rlang::set_names(columns), \(name) .subset2(x, name)[shown]), n)
  # Refused links have no numbers, and the others no reason.
  frame <- round_numbers(frame[vapply(frame, \(v) n == 0L || !all(is.na(v)), NA)])
  if ("q_value" %in% names(frame)) frame$q_value <- p_text(.subset2(x, "q_value")[shown])
  print(frame, row.names = FALSE)
  more_line(nrow(x) - n, if (!is_ordered(x)) kinds_order)
  invisible(x)
}

kinds_order <- "by kind, then by t"

#' Rows by kind, and within by t
#' @noRd
clear_order <- function(x) {
  order(x$link, -ifelse(x$link == "undirected", x$together, x$t), method = "radix")
}

#' Which rows are undirected links, of both rows of a pair the first
#' @noRd
first_of_pairs <- function(x) {
  undirected <- x$link == "undirected"
  pair <- paste(pmin(x$cause, x$effect), pmax(x$cause, x$effect), sep = "\r")
  undirected & !duplicated(paste(undirected, pair))
}

#' @rdname direct_links_tables
#' @export
summary.direct_links <- function(object, n = 10, ...) {
  check_no_dots()
  n <- check_count(n, infinite = TRUE)
  # A sentence tells of both rows of a pair that has no direction.
  all <- clear_order(object)
  all <- all[(object$link != "undirected")[all] | first_of_pairs(object)[all]]
  rows <- utils::head(all, n)
  direct <- object$link == "direct"
  series <- attr(object, "series", exact = TRUE)
  number <- \(names) tabulate(match(names[direct], series), length(series))
  hubs <- data.frame(series = series, drives = number(object$cause), driven = number(object$effect))
  hubs <- hubs[hubs$drives + hubs$driven > 0, ]
  hubs <- hubs[order(-hubs$drives, -hubs$driven), ]
  row.names(hubs) <- NULL
  some <- plain_table(object)[rows, ]
  delays <- table(object$delay[direct])
  reasons <- table(object$reason)
  also <- c(
    if (length(delays) > 0L) sprintf(
      "Direct links by delay in steps: %s.",
      paste0(names(delays), " (", commas(as.vector(delays)), ")", collapse = ", ")
    ),
    if (length(reasons) > 0L) sprintf("Refused: %s.", counts_text(reasons[order(-reasons)]))
  )
  structure(
    list(about = format(object), also = also,
         kinds = table(object$link), hubs = hubs,
         sentences = data.frame(some[c("cause", "effect", "link")],
                                said = link_sentences(some), row.names = NULL),
         left = length(all) - length(rows)),
    class = "summary.direct_links"
  )
}

#' @rdname direct_links_tables
#' @export
print.summary.direct_links <- function(x, ...) {
  check_no_dots()
  cat(strwrap(c(x$about, x$also), exdent = 2L), "", sep = "\n")
  for (said in x$sentences$said) cat(strwrap(said, exdent = 2L), sep = "\n")
  more_line(x$left, kinds_order)
  if (nrow(x$hubs) > 0L) {
    cat("\nSeries with most direct links:\n")
    print(utils::head(x$hubs, 5L), row.names = FALSE)
  }
  if (any(x$kinds > 0L)) cat("", strwrap(direct_means), sep = "\n")
  invisible(x)
}

# ---- Sentences -----------------------------------------------------------------------

#' A sentence about each link
#' @noRd
link_sentences <- function(links) {
  for (column in c("cause", "effect", "through")) {
    # Names that are numbers would be read as numbers of something.
    links[[column]] <- gsub("(^|, )([0-9.]+)(?=$|, )", "\\1\"\\2\"", links[[column]], perl = TRUE)
  }
  vapply(seq_len(nrow(links)), \(k) link_sentence(as.list(links[k, ])), "")
}

link_sentence <- function(link) {
  numbers <- sprintf("(p %s, q %s)", p_text(link$p_value), p_text(link$q_value))
  given <- sprintf(
    "once the past of %s is known, that of %s adds nothing significant to the forecast of %s %s.",
    link$through, link$cause, link$effect, numbers
  )
  switch(
    as.character(link$link),
    direct = paste0(sprintf(paste(
      "The recording supports a direct link from %s to %s, %s later: the past of %s takes away",
      "%.1f %% of the squared error of the forecast (t %s, q %s)."),
      link$cause, link$effect, counted(link$delay, "step"), link$cause, 100 * link$gain,
      short_number(link$t), p_text(link$q_value)),
      if (isTRUE(link$together > link$t)) sprintf(paste(
        " They go together within a step more clearly (t %s), so the one may act sooner, or",
        "something that was not recorded acts on both."), short_number(link$together))),
    undirected = sprintf(paste(
      "%s and %s go together within a step, and which drives the other cannot be told: their pasts",
      "leave a correlation at the same step (t %s). One may act sooner than a step, or something",
      "that was not recorded on both."),
      link$cause, link$effect, short_number(link$together)),
    mediated = sprintf(paste(
      "The recording supports a link from %s to %s through %s, and no direct one was found: %s"),
      link$cause, link$effect, link$through, given),
    `common driver` = sprintf(paste(
      "The recording supports that %s and %s are both driven by %s, and no direct link from %s to",
      "%s was found: %s"),
      link$cause, link$effect, link$through, link$cause, link$effect, given),
    explained = sprintf(paste(
      "%s by itself improves the forecast of %s, but no direct link was found: %s"),
      link$cause, link$effect, given),
    unsupported = sprintf(paste(
      "No link from %s to %s was found: %s past does not improve the forecast of %s significantly",
      "%s. A common driver, the other direction or too weak a link look like this."),
      link$cause, link$effect, if (isTRUE(link$rho >= 0.1)) {
        sprintf("%s can be read from %s (rho %s), but its", link$cause, link$effect, two(link$rho))
      } else {
        "its"
      }, link$effect, numbers),
    refused = sprintf("It cannot be told whether a link from %s to %s is direct, because %s.",
                      link$cause, link$effect, refusal_text(link$reason, link$through))
  )
}

refusal_text <- function(reason, noisy) {
  switch(
    reason,
    constant = "one of them is constant or nearly always missing",
    short = paste("too few rows can be used: the series are short, or much is missing, or",
                  "`exclusion_radius` leaves none"),
    cycle = "one of them goes round with nothing beside, and all that goes round predicts it",
    `in step` = "they go in step, so that each is a copy of the other and neither comes first",
    noise = sprintf("%s may be too noisy to show all that acts through it", noisy),
    hidden = paste("something that was not recorded may drive both: they go together within a step,",
                   "and others at the time of the effect tell much of what the cause does")
  )
}
