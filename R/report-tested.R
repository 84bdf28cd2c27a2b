# The table of all questions that a report asks, and the limits of its answers.

# What `check_recording()` looks for, in words.
check_subjects <- c(columns = "swapped columns", "time unit" = "times in a wrong unit",
                    "time step" = "times on a coarse grid",
                    "silent units" = "units with hardly any spikes", rates = "improbable rates",
                    refractory = "intervals below the refractory period",
                    "shared spikes" = "spikes that two units share",
                    synchrony = "spikes of many units at the same instant",
                    presence = "units that come late or stop early", drift = "rates that drift",
                    gaps = "gaps without any spike", trials = "spikes outside of trials")

check_list <- function(checks) and_list(unname(check_subjects[checks]))

#' What was looked at, with which settings, against which chance, and what came out
#' @noRd
tested_table <- function(made, connections, pairs, causes) {
  rows <- list(tested_quality(made), tested_rates(made), tested_assemblies(made),
               tested_conditions(made), tested_connections(connections), tested_pairs(pairs),
               tested_causes(causes))
  do.call(rbind, lapply(rows, \(row) as.data.frame(row)))
}

tested_quality <- function(made) {
  looked <- made$check$looked_for
  list(question = "Is something wrong with the recording?",
       looked_at = sprintf("%s, for %s", counted(length(looked), "check"), check_list(looked)),
       settings = if ("refractory" %in% looked) {
         sprintf("refractory period of %s", duration_text(made$check$refractory))
       } else "those of `check_recording()`",
       chance = "thresholds, no p values", result = check_words(made$check))
}

tested_rates <- function(made) {
  list(question = "How fast and how regularly do units fire?",
       looked_at = sprintf("%s, %s", counted(nrow(made$intervals), "unit"),
                           counted(sum(made$intervals$intervals), "interval")),
       settings = "intervals within trials only, where there are trials",
       chance = "nothing is tested", result = "see the table of units")
}

tested_assemblies <- function(made) {
  found <- made$assemblies
  n <- length(made$searched)
  widths <- attr(found, "window", exact = TRUE)
  looked <- sprintf("%s, %s, %s", counted(n, "unit"), counted(choose(n, 2), "pair"),
                    counted(choose(n, 3), "group of three", "groups of three"))
  list(question = "Which groups fire together or in sequence?",
       looked_at = paste0(looked, if (length(widths)) sprintf(
         "; all lags up to %s; windows of %s", duration_text(attr(found, "max_lag")),
         and_list(duration_text(widths)))),
       settings = settings_text(found),
       chance = sprintf(paste(
         "%s, units shifted by themselves within segments of %s; p over all groups, lags and",
         "widths together, alpha %s"), counted(attr(found, "n_surrogates"), "surrogate"),
         duration_text(attr(found, "segment")), exact(attr(found, "alpha"))),
       result = paste(c(groups_words(made), frames_words(found), lowest_p(found)), collapse = " "))
}

#' The arguments of the search, by the attributes that keep them
#' @noRd
settings_text <- function(found) {
  names <- intersect(names(formals(find_assemblies)), names(attributes(found)))
  names <- setdiff(names, c("threads", "max_memory"))
  values <- lapply(names, \(name) attr(found, name, exact = TRUE))
  plain <- vapply(values, \(v) is.atomic(v) && length(v) == 1L, NA)
  toString(sprintf("%s = %s", names[plain],
                   vapply(values[plain], \(v) if (is.numeric(v)) exact(v) else as.character(v),
                          "")))
}

lowest_p <- function(found) {
  if (nrow(found) == 0L) return(NULL)
  n <- attr(found, "n_surrogates", exact = TRUE)
  p <- vapply(unique(range(found$p)), group_p_text, "", n = n)
  sprintf("The p values are %s.", paste(p, collapse = " to "))
}

tested_conditions <- function(made) {
  counts <- made$activations
  if (is.null(counts)) return(NULL)
  list(question = "When in the trials are groups active?",
       looked_at = sprintf("%s, %s of trials", counted(nrow(made$assemblies), "group"),
                           counted(nlevels(counts$condition), "condition")),
       settings = "activations as they were found", chance = "nothing is tested",
       result = "see the table of activations")
}

tested_pairs <- function(pairs) {
  if (!is.list(pairs)) return(not_asked(pair_question, pair_words(pairs)))
  list(question = pair_question,
       looked_at = sprintf("%s, %s; %s in each direction; windows of %s",
                           counted(pairs$units, "unit"), counted(pairs$all, "pair"),
                           counted(pairs$lags, "lag"), and_list(duration_text(pairs$widths))),
       settings = sprintf("lags up to %s in steps of %s; what is expected in a window is what those beside it hold",
                          duration_text(pairs$max_lag), duration_text(pairs$bin)),
       chance = sprintf(paste("%s for each kind of peak, units shifted by themselves%s; p over all pairs,",
                              "lags and widths together, alpha %s"),
                        counted(pairs$n_surrogates, "surrogate"), shift_words(pairs),
                        exact(pairs$alpha)),
       result = paste(pair_words(pairs), collapse = " "))
}

shift_words <- function(pairs) {
  if (is.null(pairs$piece)) return(" to any place in the recording or trial")
  sprintf(": for narrow peaks by at most %s, for wide ones to any place within pieces of about %s",
          duration_text(pairs$shift), duration_text(pairs$piece))
}

#' What nobody looked at, so that nobody takes it for absent
#' @noRd
not_tested <- function(made, connections, pairs, causes) {
  left <- setdiff(names(check_subjects), c(
    made$check$looked_for, if (is.null(attr(made$recording, "trials"))) "trials"))
  x <- made$recording
  spikes <- tabulate(as.integer(x$unit), nlevels(x$unit))
  silent <- sum(spikes == 0L)
  untested <- if (is.list(pairs)) sum(spikes > 0L) - pairs$units
  c(if (length(left)) sprintf("Checks that this recording is too short or too coarse for: %s.",
                              check_list(left)), bursts_left_out(made$assemblies),
    searched_words(made),
    unconnected_words(connections),
    if (isTRUE(untested > 0)) sprintf("Joint rates of the %s with fewest spikes.",
                                      counted(untested, "unit")),
    if (silent > 0L) sprintf("%s without spikes, about which nothing can be said.",
                             counted(silent, "unit")),
    sprintf("Groups whose members fire more than %s apart.",
            duration_text(attr(made$assemblies, "max_lag"))),
    paste("Chains that repeat with delays that vary (`mine_episodes()`), and exact patterns of",
          "spikes (`spade()`)."), "Whether rates change with a stimulus (`psth()`).",
    if (is.list(causes)) "Which unit drives which (`causal_map()`)." else
      "Which unit or group drives which (`causal_map()`).")
}

# ---- Limits --------------------------------------------------------------------------

#' Sentences on what the results do not show, those of this recording first
#' @noRd
limits_of <- function(made, pairs) {
  x <- made$recording
  found <- made$assemblies
  findings <- made$check$findings
  grave <- unique(findings$check[findings$severity != "note"])
  c(
    if (length(grave)) sprintf(
      "The check of the recording warns of %s. Results are as good as the recording is.",
      check_list(grave)),
    if (observed_seconds(x) < 60) paste(
      "The recording is shorter than a minute. What is rare, slow or weak cannot be found in so",
      "little, and that something was not found says little."),
    if (nlevels(x$unit) < 11L && nlevels(x$unit) > 2L) paste(
      "There are few units, so that what all of them do together cannot be told from what a",
      "group does."),
    if (!is.null(attr(x, "trials", exact = TRUE))) paste(
      "Units that respond to the same stimulus one after the other are found as a group, although",
      "none of them drives another one."),
    if (nrow(found) > 0L) c(
      paste("That units fire together does not say that they drive each other. A common input",
            "makes groups as well."),
      paste("The p value of a group is for the whole search: it says that there is a group. It does",
            "not say that each of its members is one."),
      if (any(vapply(found$lags, max, 0) <= 0.002)) paste(
        "Members that fire within a millisecond or two of each other may be one neuron that several",
        "electrodes hear."),
      paste("About as many activations as are expected by chance are chance: no single activation",
            "is a fact.")
    ),
    if (NROW(made$connections) > 0L) paste(
      "A connection is what chance, slower changes of rates and the other recorded units do not",
      "explain. A neuron that was not recorded, and reaches both units with different delays, looks",
      "the same."),
    if (is.list(pairs) && nrow(pairs$pairs) > 0L) paste(
      "Joint rates are no wiring. What the whole population does, a common input, and channels that",
      "hear the same neuron give peaks of cross-correlograms as well."),
    paste("What was not found may be there: too rare, too weak, over longer times, or spread over",
          "neurons that were not recorded."),
    paste("P values hold for this one analysis. If settings were tried until something was found,",
          "they do not: say which were tried, or confirm the result in another recording.")
  )
}
