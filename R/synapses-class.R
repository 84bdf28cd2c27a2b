# What a table of connections prints and says in words, and other tables made of it.

# ---- Printing ------------------------------------------------------------------------

#' "a -> b" where `a` excites `b`, "a -| b" where it inhibits it, "a -- b" without a direction
#' @noRd
pair_arrows <- function(x) {
  directed <- is.na(x$kind) | x$kind %in% c("connection", "explained")
  arrow <- ifelse(!directed | is.na(x$sign), "--", ifelse(x$sign > 0, "->", "-|"))
  paste(seen_names(x$from), arrow, seen_names(x$to))
}

#' Numbers of rows of each kind in words, NULL where there are none but connections
#' @noRd
other_kinds_text <- function(x) {
  n <- table(x$kind)[synapse_kinds[-1L]]
  words <- c(explained = "explained by others", `common input` = "with common input",
             `same cell` = "of the same cell", wide = "wide")
  n <- c(rlang::set_names(as.vector(n), words[names(n)]),
         "refused for too few spikes" = sum(is.na(x$kind)))
  n <- n[n > 0L]
  if (length(n)) paste(commas_each(n), names(n))
}

signs_text <- function(sign) {
  n <- c(sum(sign > 0), sum(sign < 0))
  kinds <- c("excitatory", "inhibitory")
  if (any(n == 0L)) return(paste0(if (sum(n) > 1L) "all ", kinds[n > 0L]))
  and_list(paste(commas_each(n), kinds))
}

synapses_title <- function(x) {
  about <- attributes(x)
  found <- connections_of(x)
  tested <- sum(about$units$tested)
  head <- if (nrow(x) < (about$rows %||% nrow(x))) sprintf("# %s:", rows_text(x, "pair")) else "#"
  also <- other_kinds_text(x)
  c(sprintf("%s %s among %s%s", head, counted(nrow(found), "connection"),
            if (tested < nrow(about$units)) sprintf("%s of %s", commas(tested),
                                                    counted(nrow(about$units), "unit")) else
              counted(tested, "unit"),
            if (nrow(found)) sprintf(": %s", signs_text(found$sign)) else ""),
    sprintf("# %s tested, lags up to %s, false discovery rate %s",
            counted(about$tests, "ordered pair"), duration_text(about$max_lag),
            exact(about$false_discovery)),
    if (!is.null(also)) sprintf("# also pairs: %s", toString(also)),
    if (!bursts_judged(x)) "# nearly all spikes are in bursts: what is not here cannot be told")
}

#' Whether the recording lets connections be told from bursts
#' @noRd
bursts_judged <- function(x) !isFALSE(attr(x, "bursts", exact = TRUE)$judged)

#' @rdname find_synapses
#' @param object What `find_synapses()` gave.
#' @param ... Not used; must be empty.
#' @return `format()` gives a line for each row: `"a -> b"` for excitation, `"a -| b"` for
#'   inhibition, `"a -- b"` where there is no direction.
#' @export
format.synapses <- function(x, ...) {
  begin_method(x)
  pair_arrows(x)
}

#' @rdname find_synapses
#' @param n How many pairs to print, or to speak of.
#' @export
print.synapses <- function(x, n = 10, ...) {
  begin_method(x)
  n <- check_count(n, min = 0, infinite = TRUE)
  cat(synapses_title(x), sep = "\n")
  rows <- plain_table(utils::head(x, n))
  if (nrow(rows)) {
    out <- data.frame(pair = pair_arrows(rows), lag = duration_text(rows$lag),
                      strength = strength_text(rows$strength),
                      `95 %` = interval_text(rows$strength_low, rows$strength_high),
                      q = ifelse(is.na(rows$q_value), "", p_text(rows$q_value)),
                      check.names = FALSE)
    note <- ifelse(is.na(rows$kind), paste("refused:", rows$reason), as.character(rows$kind))
    through <- !is.na(rows$via)
    note[through] <- paste0(note[through], ", through ", seen_names(rows$via[through]))
    print_left(out, list(kind = as.list(note)))
    more_line(nrow(x) - nrow(rows))
  }
  if (nrow(connections_of(x)) == 0L) {
    cat(words_wrapped(c(no_connection_words(x), power_words(x))), sep = "\n")
  }
  invisible(x)
}

#' Two digits, also where the second one is 0: "0.020"
#' @noRd
strength_text <- function(v) {
  text <- trimws(formatC(signif(v, 2), digits = 2, format = "fg", flag = "#"))
  ifelse(is.na(v), "", sub("[.]$", "", text))
}

#' "0.10 to 0.14"
#' @noRd
interval_text <- function(low, high) {
  ifelse(is.na(low) | is.na(high), "", paste(strength_text(low), "to", strength_text(high)))
}

# ---- In words ------------------------------------------------------------------------

#' @rdname find_synapses
#' @return `summary()` says in words what is supported, what cannot be told and why, and how strong
#'   a connection would have been seen.
#' @export
summary.synapses <- function(object, n = 5, ...) {
  begin_method(object)
  n <- check_count(n, min = 0, infinite = TRUE)
  structure(list(title = synapses_title(object), supported = supported_words(object, n),
                 other = other_words(object, n), untold = untold_words_of(object)),
            class = "summary.synapses")
}

#' @export
print.summary.synapses <- function(x, ...) {
  check_no_dots()
  print_words(x$title, c(x$supported, if (length(x$other)) "", x$other, "", "What cannot be told",
                         paste("-", x$untold)))
  invisible(x)
}

#' "unit 3", "n03": a bare number could be anything
#' @noRd
unit_said <- function(unit) {
  ifelse(grepl("^[0-9.]+$", unit), paste("unit", unit), seen_names(unit))
}

#' The first letter of a sentence as a capital, unless it is that of a name
#' @noRd
from_unit <- function(text) sub("^unit ", "Unit ", text)

supported_words <- function(x, n) {
  found <- connections_of(x)
  if (nrow(found) == 0L) return(c(no_connection_words(x), power_words(x)))
  whole <- nrow(x) == (attr(x, "rows", exact = TRUE) %||% nrow(x))
  shown <- utils::head(found, n)
  c(sprintf("%s supported: %s.%s", they_are_connections(nrow(found)), signs_text(found$sign),
            if (whole) paste0(" ", false_words(x)) else ""),
    vapply(seq_len(nrow(shown)), \(k) paste("-", connection_sentence(shown[k, ])), ""),
    if (nrow(found) > nrow(shown)) sprintf("And %s.", counted(nrow(found) - nrow(shown), "more",
                                                              "more")),
    power_words(x))
}

#' How many connections are expected to be false
#' @noRd
false_words <- function(x) {
  n <- attr(x, "expected_false", exact = TRUE)
  sprintf("With a false discovery rate of %s, %s expected to be false.",
          percent(attr(x, "false_discovery", exact = TRUE)),
          if (n < 1) "fewer than one of them is" else if (round(n) == 1) "about one of them is" else
            sprintf("about %s of them are", commas(round(n))))
}

they_are_connections <- function(n) paste(counted(n, "connection"), if (n == 1) "is" else "are")

connection_sentence <- function(row) {
  extra <- row$sign > 0
  sprintf("%s %s %s %s later: %s %s spikes per spike (95 %%: %s), %s where %s are expected (q %s).",
          from_unit(unit_said(row$from)), if (extra) "excites" else "inhibits",
          unit_said(row$to), duration_text(row$lag), strength_text(abs(row$strength)),
          if (extra) "extra" else "missing",
          if (extra) interval_text(row$strength_low, row$strength_high) else
            interval_text(-row$strength_high, -row$strength_low),
          commas(round(row$count)), commas(round(row$baseline)),
          if (startsWith(p_text(row$q_value), "<")) p_text(row$q_value) else
            paste("=", p_text(row$q_value)))
}

#' Why there is no connection
#' @noRd
no_connection_words <- function(x) {
  if (any(attr(x, "rows", exact = TRUE) > nrow(x))) {
    return("None of these rows is a connection.")
  }
  units <- attr(x, "units", exact = TRUE)
  tests <- attr(x, "tests", exact = TRUE)
  if (nrow(units) < 2L) return(sprintf(
    "Connections are between two units, and the recording has %s.",
    if (nrow(units) == 0L) "none" else "one"))
  if (tests == 0) return("No pair of units could be tested, so nothing can be said.")
  if (!bursts_judged(x)) return(paste(
    "No connection is supported. This does not say that there is none: the recording is of a kind in",
    "which this cannot be told."))
  sprintf("No connection is supported among %s.", counted(tests, "ordered pair"))
}

#' How strong a connection would have been seen
#'
#' @param where What has it for each pair, as it is called there.
#' @noRd
power_words <- function(x, where = "`attr(x, \"power\")`") {
  power <- attr(x, "power", exact = TRUE)
  power <- power[!is.na(power)]
  if (length(power) == 0L || !bursts_judged(x)) return(NULL)
  of <- stats::quantile(power, c(0.1, 0.5, 0.9), names = FALSE)
  text <- strength_text(of)
  sprintf(paste(
    "Pairs that are not listed may be connected. In half of the tested pairs a connection of %s extra",
    "spikes per spike would have been found; in the best tenth one of %s, in the worst tenth only one",
    "of %s. Weaker connections are not ruled out. %s has this number for each pair."
  ), text[[2L]], text[[1L]], text[[3L]], where)
}

#' The pairs that are no connection, but something
#' @noRd
other_words <- function(x, n) {
  x <- plain_table(x)
  of <- \(kind) x[x$kind %in% kind, , drop = FALSE]
  names <- \(rows) some(paste(seen_names(rows$from), "and", seen_names(rows$to)), max(n, 1))
  explained <- of("explained")
  common <- of("common input")
  same <- of("same cell")
  wide <- of("wide")
  c(
    if (nrow(explained)) sprintf(paste(
      "%s a peak that the connections of another unit explain: %s. %s."
    ), pairs_have(nrow(explained)), some(sprintf(
      "%s through %s", pair_arrows(explained), seen_names(explained$via)), max(n, 1)),
    if (nrow(explained) == 1L) "It adds no connection of its own" else
      "They add no connections of their own"),
    if (nrow(common)) sprintf(paste(
      "%s a sharp peak at lag 0 or on both sides of it: %s. A common input does this, and so does a",
      "gap junction; a direction cannot be told."), pairs_have(nrow(common)), names(common)),
    if (nrow(same)) sprintf(paste(
      "%s as one neuron does that the sorter split, or that two electrodes hear: %s. Look at",
      "their waveforms before anything else is made of them."),
      if (nrow(same) == 1L) "1 pair fires" else paste(commas(nrow(same)), "pairs fire"),
      names(same)),
    if (nrow(wide)) sprintf(paste(
      "%s only a wide peak: %s. Their rates change together; that is no connection."),
      pairs_have(nrow(wide)), names(wide))
  )
}

pairs_have <- function(n) paste(counted(n, "pair"), if (n == 1) "has" else "have")

#' What the table does not say, and why
#' @noRd
untold_words_of <- function(x) {
  about <- attributes(x)
  refused <- plain_table(x)[is.na(x$kind), , drop = FALSE]
  out <- !about$units$tested
  bursts <- about$bursts
  c(
    if (!bursts_judged(x)) sprintf(paste(
      "Bursts: %s of the spikes fall into population bursts, in which nearly all pairs of spikes",
      "lie, and their rhythm makes peaks as narrow as those of connections. Spikes in bursts were",
      "left out, and most connections cannot be seen without them. Whether two units are connected",
      "cannot be told from this recording."), percent(bursts$share)),
    if (any(out)) sprintf("Units that were not tested: %s of %s (%s).", commas(sum(out)),
                          commas(length(out)), untested_text(about$units)),
    if (nrow(refused)) sprintf("Pairs that stand out, with too few spikes to be sure: %s.", some(
      sprintf("%s (%s)", pair_arrows(refused), refused$reason), 3L)),
    sharp_words(connections_of(x)),
    paste("Hidden common input: a neuron that was not recorded, and reaches both units with",
          "different delays, makes the same peak as a connection."),
    sprintf(paste(
      "Synapses that act more than %s later or over many milliseconds, gap junctions, and weak ones",
      "(see the strengths above)."), duration_text(about$max_lag)),
    if (about$tests > 0 && sum(about$units$tested) < 8L) paste(
      "With fewer than eight units, what all pairs have in common cannot be told from what",
      "connections do.")
  )
}

#' Connections that may be one axon
#' @noRd
sharp_words <- function(found) {
  sharp <- found[found$sign > 0 & found$lag < 0.0013 & found$width < 0.0013, , drop = FALSE]
  if (nrow(sharp) == 0L) return(NULL)
  sprintf(paste(
    "One axon: %s within about a millisecond of lag 0, and no wider: %s. Two electrodes that hear",
    "the same axon make such peaks as well, and so do spikes that overlap."),
    if (nrow(sharp) == 1L) "1 connection has its peak" else
      paste(commas(nrow(sharp)), "connections have their peaks"), some(pair_arrows(sharp)))
}

#' The reasons why units were not tested
#' @noRd
untested_text <- function(units) {
  reason <- units$reason[!units$tested]
  # Units differ in their numbers of spikes, which are not told one by one.
  few <- grepl("^[0-9,]+ spikes?, and [0-9,]+ are needed[.]?$", reason)
  reason[few] <- sub("^.*and ([0-9,]+) are.*$", "fewer than \\1 spikes", reason[few])
  reason <- ifelse(is.na(reason), "not said", sub("[.]$", "", reason))
  n <- sort(table(reason), decreasing = TRUE)
  if (length(n) <= 3L) return(paste(names(n), collapse = "; "))
  paste(c(names(n)[1:2], sprintf("and %s", counted(length(n) - 2L, "other reason"))),
        collapse = "; ")
}

# ---- Other tables --------------------------------------------------------------------

#' @rdname find_synapses
#' @return `as.matrix()` gives the strengths of connections, `[from, to]`: 0 where none was found,
#'   `NA` where the pair was not tested, as a unit with itself. It has the shape of the truth of a
#'   simulated network, with which it can be compared.
#' @export
as.matrix.synapses <- function(x, ...) {
  begin_method(x)
  power <- attr(x, "power", exact = TRUE)
  found <- connections_of(x)
  out <- ifelse(is.na(power), NA_real_, 0)
  out[cbind(match(found$from, rownames(out)), match(found$to, colnames(out)))] <- found$strength
  out
}

#' Network of connections
#'
#' A directed graph with a vertex for each unit of the recording and an edge for each connection
#' that [find_synapses()] found. A unit without an edge was tested without a finding, or could not
#' be tested (`tested`).
#'
#' @param x What [find_synapses()] gave.
#' @param ... Not used; must be empty.
#' @return An igraph graph. Vertex attributes: `name`, the unit; `spikes`, `rate` (Hz), `tested`;
#'   and `x` and `y`, where locations are known. Edge attributes: `sign`, `lag` and `width` (s),
#'   `strength` with its interval `strength_low` and `strength_high`, `z`, `p_value` and `q_value`.
#'   Strengths of inhibition are negative, which some functions of igraph do not take as weights.
#' @section Errors:
#' Where igraph is not installed.
#' @seealso [autoplot.synapses()] with `type = "network"` to draw it.
#' @examplesIf rlang::is_installed("igraph")
#' set.seed(1)
#' a <- sort(runif(3000, 0, 300))
#' b <- c(a[runif(3000) < 0.3] + 0.002, runif(2000, 0, 300))
#' x <- spike_trains(c(a, b), rep(c("a", "b"), c(3000, length(b))), start = 0, end = 301)
#' found <- find_synapses(x, threads = 2)
#' graph <- igraph::as.igraph(found)
#' igraph::E(graph)$strength
#' @exportS3Method igraph::as.igraph
as.igraph.synapses <- function(x, ...) {
  rlang::check_installed("igraph", "to make a network of connections.")
  begin_method(x)
  found <- connections_of(x)
  edges <- found[c("from", "to", "sign", "lag", "width", "strength", "strength_low",
                   "strength_high", "z", "p_value", "q_value")]
  units <- attr(x, "units", exact = TRUE)
  vertices <- units[intersect(c("unit", "spikes", "rate", "tested", "x", "y"), names(units))]
  names(vertices)[[1L]] <- "name"
  igraph::graph_from_data_frame(edges, directed = TRUE, vertices = vertices)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.synapses <- function(x, ...) {
  begin_method(x)
  tidy_frame(term = format(x), from = x$from, to = x$to, kind = as.character(x$kind),
             lag = x$lag, estimate = x$strength, conf.low = x$strength_low,
             conf.high = x$strength_high, statistic = x$z, p.value = x$p_value,
             adj.p.value = x$q_value)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.synapses <- function(x, ...) {
  begin_method(x)
  about <- attributes(x)
  found <- connections_of(x)
  n <- table(x$kind)
  tidy_frame(units = nrow(about$units), tested = sum(about$units$tested), tests = about$tests,
             connections = nrow(found), excitatory = sum(found$sign > 0),
             inhibitory = sum(found$sign < 0), explained = n[["explained"]],
             common_input = n[["common input"]], same_cell = n[["same cell"]], wide = n[["wide"]],
             refused = sum(is.na(x$kind)),
             smallest_seen = stats::median(about$power, na.rm = TRUE),
             false_discovery = about$false_discovery, max_lag = about$max_lag,
             bin_size = about$bin_size)
}
