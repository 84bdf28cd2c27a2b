# What the sections of a report say, in sentences made from the results.

# ---- The recording -------------------------------------------------------------------

recording_words <- function(x) {
  n <- nlevels(x$unit)
  silent <- sum(tabulate(as.integer(x$unit), n) == 0L)
  start <- attr(x, "start", exact = TRUE)
  end <- attr(x, "end", exact = TRUE)
  areas <- unit_areas(x)
  c(
    if (n == 0L) "The recording has no units, so there is nothing to look at." else sprintf(
      "The recording has %s, which fired %s in %s, from %s to %s s.", counted(n, "unit"),
      counted(nrow(x), "spike"), time_words(end - start), short(start), short(end)
    ),
    if (silent > 0L) sprintf("%s no spike at all.", of_units(silent, n)),
    trial_words(x),
    if (!is.null(areas) && nlevels(areas) <= 12L) {
      sprintf("By area: %s.", and_list(sprintf("%s (%s)", levels(areas),
                                                commas_each(tabulate(areas)))))
    },
    sprintf("Times are kept in steps of %s.", step_text(attr(x, "resolution", exact = TRUE)))
  )
}

step_text <- function(v) if (v < 1e-3) paste(signif(v * 1e6, 3), "\u00B5s") else duration_text(v)

time_words <- function(v) paste(short(v), if (v == 1) "second" else "seconds")

trial_words <- function(x) {
  trials <- attr(x, "trials", exact = TRUE)
  if (is.null(trials)) return(NULL)
  length <- range(trials$end - trials$start)
  outside <- sum(is.na(trial_of(x)))
  more <- setdiff(names(trials), c("trial", "start", "end"))
  c(sprintf("It has %s of %s, %s together.", counted(nrow(trials), "trial"),
            if (diff(signif(length, 3)) == 0) time_words(signif(length[[1L]], 3)) else
              sprintf("%s to %s", short(signif(length[[1L]], 3)),
                      time_words(signif(length[[2L]], 3))),
            time_words(sum(trials$end - trials$start))),
    if (outside > 0L) sprintf("%s outside of the trials, and nothing below looks at %s.",
                              if (outside == 1L) "One spike lies" else
                                paste(commas(outside), "spikes lie"),
                              if (outside == 1L) "it" else "them"),
    if (length(more)) sprintf("The table of trials has the %s %s.",
                              if (length(more) == 1L) "column" else "columns",
                              and_list(sprintf("`%s`", utils::head(more, 12L)))))
}

check_words <- function(check) {
  kinds <- table(factor(check$findings$severity, c("problem", "warning", "note")))
  kinds <- kinds[kinds > 0L]
  if (length(kinds) == 0L) return("The check of the recording found nothing that seems wrong.")
  sprintf("The check of the recording found %s.",
          and_list(mapply(counted, as.vector(kinds), names(kinds))))
}

# ---- Rates and intervals -------------------------------------------------------------

rate_words <- function(made) {
  rate <- made$check$units$rate
  active <- rate[!is.na(rate) & rate > 0]
  table <- made$intervals
  irregular <- table$cv2[!is.na(table$cv2) & table$intervals >= 20L]
  if (length(active) == 0L) return("No unit has a rate, as there are no spikes to count.")
  c(if (length(active) == 1L) sprintf("The only unit with spikes fires at %s Hz.", hertz(active))
    else sprintf("Units with spikes fire at %s to %s Hz, and half of them at less than %s Hz.",
                 hertz(min(active)), hertz(max(active)), hertz(stats::median(active))),
    if (length(irregular) == 0L) {
      "No unit has the twenty intervals that it takes to say how regularly it fires."
    } else {
      sprintf(paste("How regularly units fire is measured by CV2, which is 0 for a clock, 1 for a",
                    "Poisson process and more for bursts: %s over %s with at least twenty",
                    "intervals."),
              if (length(irregular) == 1L) sprintf("it is %s", signif(irregular, 2)) else
                sprintf("its median is %s (%s to %s)", signif(stats::median(irregular), 2),
                        signif(min(irregular), 2), signif(max(irregular), 2)),
              counted(length(irregular), "unit"))
    })
}

#' What intervals of a camera's recording are
#' @noRd
regularity_of_frames <- function(made) {
  if (is.null(attr(made$assemblies, "camera", exact = TRUE))) return(NULL)
  paste("These times are those of frames, in which a neuron that stays active has an event in each:",
        "CV2 and LV say how long it does so, and nothing of its spikes.")
}

hertz <- function(v) format(signif(v, 2), digits = 2, scientific = FALSE, trim = TRUE)

# ---- Assemblies ----------------------------------------------------------------------

#' Whom the search looked at, where that is not all
#' @noRd
searched_words <- function(made) {
  all <- nlevels(made$recording$unit)
  if (length(made$searched) == all) return(NULL)
  sprintf(paste("Only the %s busiest of the %s units were searched for assemblies: the others do",
                "not fit into `max_memory`. A group with a member among them cannot be found",
                "whole."), commas(length(made$searched)), commas(all))
}

#' What became of a recording of frames
#' @noRd
frames_words <- function(found) {
  camera <- attr(found, "camera", exact = TRUE)
  if (is.null(camera)) return(NULL)
  sprintf(paste("Times are those of frames of %s. For groups and pairs, a run of frames of a unit was",
                "taken as one event at its first frame, which leaves %s of %s."),
          duration_text(camera$frame), commas(nrow(attr(found, "recording", exact = TRUE))),
          counted(camera$spikes, "event"))
}

#' What became of population bursts
#' @noRd
bursts_left_out <- function(found) {
  bursts <- attr(found, "bursts", exact = TRUE)
  if (NROW(bursts) == 0L) return(NULL)
  sprintf(paste("Groups were not looked for in population bursts, in which four in ten units and more",
                "fire more than usual: %s, %s of the time."), counted(nrow(bursts), "burst"),
          percent(attr(found, "left_out", exact = TRUE)))
}

#' What was found, in one sentence or two
#' @noRd
groups_words <- function(made) {
  found <- made$assemblies
  n <- nrow(found)
  if (length(made$searched) < 3L) {
    return("Assemblies have at least three units, and there are fewer, so none were looked for.")
  }
  if (n == 0L) return(paste(assemblies_words(found, 0), collapse = " "))
  sizes <- range(found$size)
  sprintf("%s %s together or in sequence more often than chance explains; %s.",
          counted(n, "group of units", "groups of units"), if (n == 1L) "fires" else "fire",
          if (n == 1L) sprintf("it has %d members", sizes[[1L]]) else if (diff(sizes) == 0)
            sprintf("each has %d members", sizes[[1L]]) else
              sprintf("they have %d to %d members", sizes[[1L]], sizes[[2L]]))
}

#' The table of assemblies, in words that need no explanation
#' @noRd
plain_assemblies <- function(found) {
  n <- attr(found, "n_surrogates", exact = TRUE)
  part <- lapply(found$participation, \(share) unique(range(round(100 * share))))
  out <- data.frame(
    No. = as.character(found$assembly),
    "Members, and when each fires after the first" = format(found),
    "Each within" = vapply(found$widths, widths_text, ""), Activations = found$count,
    "By chance" = ifelse(found$expected >= 100, round(found$expected), signif(found$expected, 2)),
    "Members fire in" = vapply(part, \(v) paste(paste(v, collapse = " to "), "%"), ""),
    "First and second half" = sprintf("%s and %s", commas_each(found$first_half),
                                      commas_each(found$second_half)),
    p = vapply(found$p, group_p_text, "", n = n), check.names = FALSE
  )
  if (has_stability(found)) {
    out$Stable <- paste(stable_members(found, seq_len(nrow(found))), "of", found$size)
  }
  out
}

#' At most 0.01 where no surrogate was as high, else "0.02"
#' @noRd
group_p_text <- function(p, n) {
  sub("^at most", "\u2264", sub("^= ", "", search_p_text(p, n)))
}

# ---- Joint rates ---------------------------------------------------------------------

#' @param tested What `test_pairs()` gave: a list, or why there is none.
#' @noRd
pair_words <- function(tested) {
  if (!is.list(tested)) return(sprintf("Joint rates of pairs were not tested: %s.", tested))
  narrow <- sum(tested$pairs$peak == "narrow")
  wide <- nrow(tested$pairs) - narrow
  have <- \(n) if (n == 1) "has" else "have"
  all <- counted(tested$all, "pair of units", "pairs of units")
  c(if (tested$units < tested$of) sprintf(
      "Only the %s busiest of the %s units with spikes were looked at in pairs.",
      commas(tested$units), commas(tested$of)),
    if (narrow + wide == 0L && tested$all == 1) sprintf(
      paste("The only pair of units has no joint rates: it does not stand out from what chance",
            "gives, at any lag up to %s."),
      duration_text(tested$max_lag)
    ) else if (narrow + wide == 0L) sprintf(
      "None of %s has joint rates: none stands out from what chance gives, at any lag up to %s.",
      all, duration_text(tested$max_lag)
    ),
    if (wide > 0L) sprintf(
      paste("%s of %s %s joint rates alone: both units fire within a window of %s more often than",
            "chance explains, because their rates change together over such times."),
      commas(wide), all, have(wide), duration_text(max(tested$widths))
    ),
    if (narrow > 0L) sprintf(
      paste("%s of %s also %s a narrow peak at a lag of up to %s: the second unit fires at that",
            "lag, within a window of %s or less, more often than chance and slower changes of both",
            "rates explain. A connection makes such a peak, but so do a common input, a rhythm, and",
            "a neuron that two channels hear."),
      commas(narrow), all, have(narrow), duration_text(tested$max_lag),
      duration_text(max(tested$widths[tested$peaks == "narrow"]))
    ),
    if (narrow + wide > 0.3 * tested$all && narrow + wide >= 3L) paste(
      "These are a large part of all pairs, as where a population fires in bursts, or where one",
      "signal is on many channels. This is what the population does as a whole. It says nothing about",
      "who is connected to whom."
    ))
}

#' @param n Surrogates; each kind of peak has as many for itself.
#' @noRd
pair_table <- function(pairs, n, kinds) {
  data.frame("First unit" = pairs$reference, "Second unit" = pairs$target,
             "Lag of the second" = duration_text(pairs$lag), Within = duration_text(pairs$width),
             Peak = pairs$peak, "Pairs of spikes" = pairs$count, Expected = pairs$expected,
             p = vapply(pairs$p, group_p_text, "", n = (n + 1) / kinds - 1), check.names = FALSE)
}

# ---- On top --------------------------------------------------------------------------

made_text <- function(made) {
  now <- as.POSIXlt(Sys.time(), "UTC")
  sprintf("Made by synfire %s on %d %s %d (UTC), in %s.", utils::packageVersion("synfire"),
          now$mday, month.name[[now$mon + 1L]], now$year + 1900L,
          time_words(max(1, round(made$elapsed))))
}

report_summary <- function(made) {
  problems <- made$check$findings$message[made$check$findings$severity == "problem"]
  said <- \(question) made$tested$result[made$tested$question == question]
  list(html_list(list(recording_words(made$recording)[[1L]],
                      paste(c(check_words(made$check), problems), collapse = " "),
                      paste(c(groups_words(made), searched_words(made)), collapse = " "),
                      # How strong a connection would have been seen is said in its section.
                      if (is.null(made$connections)) said(connection_question) else
                        connection_words(made$connections)[[1L]],
                      said(pair_question),
                      html("What this does not show is part of the result: see ",
                           tag("a", "the limits", href = "#limits"), "."))))
}

default_title <- function(x) sprintf("A recording of %s", counted(nlevels(x$unit), "unit"))

pair_question <- "Which pairs have joint rates?"
