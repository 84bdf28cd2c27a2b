# Connections in a report: what find_synapses() says of the recording.

connection_question <- "Which units excite or inhibit which?"

#' What `find_synapses()` gives, or a string, why it was not asked
#'
#' The recording is taken as it is: a camera's frames are too long for connections, and their
#' clock is refused.
#' @noRd
test_connections <- function(x, threads, max_memory) {
  if (sum(spikes_in_trials(x) > 0) < 2L) return("fewer than two units have spikes")
  tryCatch(
    withCallingHandlers(
      find_synapses(x, threads = threads, max_memory = max_memory),
      # The page says it in its own words.
      synfire_warning_bursts = \(w) rlang::cnd_muffle(w)
    ),
    synfire_error_argument = \(e) refusal_of(e),
    synfire_error_budget = \(e) "the correlograms of all pairs do not fit into `max_memory`",
    synfire_error_too_large = \(e) "there are too many pairs of spikes"
  )
}

#' What an error says that the recording must be, as a reason
#' @noRd
refusal_of <- function(e) {
  must <- sub("(?s)[.]\n.*", "", conditionMessage(e), perl = TRUE)
  sub("^.x. must be ", "this is not ", gsub("[.]$", "", gsub("\\s+", " ", must)))
}

#' @param tested What `test_connections()` gave.
#' @noRd
connection_words <- function(tested) {
  if (!inherits(tested, "synapses")) return(sprintf("Connections were not tested: %s.", tested))
  found <- connections_of(tested)
  units <- attr(tested, "units", exact = TRUE)
  c(if (nrow(found)) sprintf(
      "%s among %s %s supported: %s. %s", counted(nrow(found), "connection"),
      counted(sum(units$tested), "unit"), if (nrow(found) == 1L) "is" else "are",
      signs_text(found$sign), false_words(tested)
    ) else no_connection_words(tested),
    power_words(tested, "`$connections` of the result"))
}

connections_section <- function(tested) {
  if (!inherits(tested, "synapses")) return(list(paragraph(connection_words(tested))))
  found <- connections_of(tested)
  shown <- min(nrow(found), 9L)
  list(
    paragraph(connection_words(tested)),
    if (shown > 0L) html_figure(
      ggplot2::autoplot(tested, type = "correlograms", n = shown),
      alt = paste("Cross-correlograms of connections:", and_list(utils::head(
        connection_phrases(clearest(found, tested, shown)), shown))),
      height = 1.4 + 2 * ceiling(shown / 3)
    ),
    if (nrow(found) > 1L && rlang::is_installed("igraph")) html_figure(
      ggplot2::autoplot(tested, type = "network"),
      alt = sprintf("A network of %s: arrows for excitation, bars for inhibition.",
                    counted(nrow(found), "connection")), height = 5
    ),
    if (nrow(found)) html_table(connection_table(utils::head(found, 25L)), paste0(
      "Connections, the surest first",
      if (nrow(found) > 25L) sprintf(": 25 of %s, all are in $connections of the result",
                                     commas(nrow(found))),
      ". Strength is how many spikes more (or fewer) the second unit fires for each spike of the",
      " first, with its 95 % interval. Expected is the slow baseline of the correlogram."
    )),
    paragraph(other_words(tested, 5L)),
    tag("h3", "What cannot be told"), html_list(untold_words_of(tested))
  )
}

connection_phrases <- function(rows) {
  sprintf("%s %s %s %s later", seen_names(rows$from), ifelse(rows$sign > 0, "excites", "inhibits"),
          seen_names(rows$to), duration_text(rows$lag))
}

connection_table <- function(rows) {
  data.frame(From = rows$from, To = rows$to, Effect = ifelse(rows$sign > 0, "excites", "inhibits"),
             Lag = duration_text(rows$lag), Strength = strength_text(rows$strength),
             "95 %" = interval_text(rows$strength_low, rows$strength_high),
             "Pairs of spikes" = round(rows$count), Expected = round(rows$baseline),
             q = sub("^< ", "\u2264 ", p_text(rows$q_value)), check.names = FALSE)
}

#' The row, in the table of all questions, of a question that could not be asked
#' @noRd
not_asked <- function(question, result) {
  list(question = question, looked_at = "nothing", settings = "none", chance = "none",
       result = result)
}

tested_connections <- function(tested) {
  if (!inherits(tested, "synapses")) {
    return(not_asked(connection_question, connection_words(tested)))
  }
  about <- attributes(tested)
  list(question = connection_question,
       looked_at = sprintf("%s, %s; peaks and dips", counted(sum(about$units$tested), "unit"),
                           counted(about$tests, "ordered pair")),
       settings = sprintf("lags up to %s, bins of %s, a baseline as slow as %s",
                          duration_text(about$max_lag), duration_text(about$bin_size),
                          duration_text(about$scale)),
       chance = sprintf(paste("correlograms of the recording itself at longer lags, moved to short",
                              "ones; false discovery rate %s over all pairs, lags and both signs"),
                        exact(about$false_discovery)),
       result = paste(connection_words(tested), collapse = " "))
}

#' What was not looked at, for the list below the table of questions
#' @noRd
unconnected_words <- function(tested) {
  if (!inherits(tested, "synapses")) return(connection_words(tested))
  out <- !attr(tested, "units", exact = TRUE)$tested
  c(sprintf("Connections that act more than %s later, and over gap junctions.",
            duration_text(attr(tested, "max_lag", exact = TRUE))),
    if (any(out)) sprintf("Connections of %s with too few spikes.", counted(sum(out), "unit")))
}
