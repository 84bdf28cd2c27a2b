# The findings of check_recording(): each is a sentence about what was seen, and one about
# what to do.

#' One finding, a row; nothing where `n` is 0
#' @noRd
finding <- function(check, severity, n, units, message, remedy) {
  if (n == 0L) return(NULL)
  new_frame(list(check = check, severity = severity, n = n, units = list(as.character(units)),
                 message = message, remedy = remedy), 1L)
}

#' "unit 3", "units 3, 7 and 5 more"
#' @noRd
shown_units <- function(units) {
  paste(if (length(units) == 1L) "unit" else "units", some(as.character(units), 4L))
}

#' "1 unit has", "3 of 10 units have"
#' @noRd
of_units <- function(n, all, one = "has", many = "have") {
  if (n == 1L && all == 1L) return(paste("The only unit", one))
  if (n == all) return(sprintf("All %s units %s", commas(n), many))
  sprintf("%s of %s units %s", commas(n), commas(all), if (n == 1L) one else many)
}

percent <- function(share) paste(format(100 * share, digits = 2, scientific = FALSE), "%")

finding_columns <- function(seen) {
  n <- nrow(seen$units)
  swapped <- seen$spikes >= 20L && sum(seen$units$spikes > 0) >= seen$spikes / 2
  finding("columns", "problem", n * swapped, character(),
          sprintf("There are %s for %s.", counted(n, "unit"), counted(seen$spikes, "spike")),
          "See whether the columns of times and units were swapped when the recording was read.")
}

finding_time_unit <- function(seen) {
  known <- seen$units$median_isi[seen$units$intervals >= 10L]
  if (length(known) == 0L) return(NULL)
  typical <- stats::median(known)
  shortest <- stats::quantile(seen$isi, 0.01, names = FALSE)
  slow <- typical >= 5 && shortest >= 0.5
  finding(
    "time unit", "problem", length(known) * (slow || typical < 5e-4), character(),
    if (slow) sprintf(paste("Units fire every %s s as a rule, and hardly any interval is below",
                            "%s s: that is too slow for neurons."),
                      format(typical, digits = 2), format(shortest, digits = 2)) else
      sprintf("Units fire every %s ms as a rule: that is too fast for neurons.",
              format(typical * 1e3, digits = 2)),
    if (slow) paste("Make it once more with `time_unit = \"ms\"` if times are in milliseconds, or",
                    "with `sampling_rate` if they are numbers of samples.") else
      "Times may have been divided by 1000 once too often: they must be in seconds."
  )
}

finding_time_step <- function(seen) {
  if (seen$fine || !is.null(finding_time_unit(seen))) return(NULL)
  finding(
    "time step", "note", 1, character(),
    sprintf(paste("Times lie on a grid of %s ms, as in binned spikes or imaging, so that",
                  "refractory periods and artefacts cannot be judged."),
            format(seen$step * 1e3, digits = 3)),
    "Choose bins and windows that are multiples of this step."
  )
}

finding_silent <- function(seen) {
  units <- seen$units
  silent <- units$unit[units$spikes == 0]
  few <- units$unit[units$spikes > 0 & units$spikes < 10]
  rbind(
    finding("silent units", "note", length(silent), silent,
            sprintf("%s no spike: %s.", of_units(length(silent), nrow(units)),
                    shown_units(silent)),
            "They count as units in rates and thresholds. `x[unit = ]` leaves them out."),
    finding("silent units", "note", length(few), few,
            sprintf("%s fewer than ten spikes: %s.", of_units(length(few), nrow(units)),
                    shown_units(few)),
            "No statistics can be made of so few. `x[unit = ]` leaves them out.")
  )
}

#' The unit that has more spikes than all others together, where there are ten and more
#' @noRd
has_most_spikes <- function(spikes) {
  if (sum(spikes > 0) < 10L) return(integer())
  which(spikes > sum(spikes) / 2)
}

finding_rates <- function(seen) {
  units <- seen$units
  fast <- units$unit[which(units$rate > 200 & units$spikes >= 100)]
  top <- has_most_spikes(units$spikes)
  rbind(
    finding("rates", "warning", length(fast), fast,
            sprintf("%s a mean rate above 200 Hz: %s.", of_units(length(fast), nrow(units)),
                    shown_units(fast)),
            paste("Few neurons can do that. See whether it is noise, several neurons, or a wrong",
                  "time unit.")),
    finding("rates", "note", as.double(length(top)), units$unit[top],
            sprintf("Unit %s alone has %s of all spikes.", units$unit[top],
                    percent(units$spikes[top] / seen$spikes)),
            "See whether it is a noisy channel: it will be part of most patterns by chance.")
  )
}

finding_refractory <- function(seen) {
  units <- seen$units
  # One short interval in a few is no pattern.
  bad <- which(seen$fine & units$violation_share > 0.01 & units$violations >= 5L)
  judged <- sum(units$intervals >= 10L)
  worst <- bad[order(-units$violation_share[bad])]
  nearly_all <- length(bad) >= 0.5 * judged && length(bad) >= 5L
  finding(
    "refractory", "warning", length(bad), units$unit[worst],
    sprintf("%s more than 1 %% of intervals below %s ms, up to %s: %s.",
            of_units(length(bad), nrow(units)), exact(seen$refractory * 1e3),
            percent(max(units$violation_share[bad])), shown_units(units$unit[worst])),
    if (nearly_all) {
      paste("This is usual for channels that were not sorted, which hear several neurons.",
            if (seen$trials) "Sorted units should not be like this." else
              paste("In sorted units, see whether trials were laid over one another: give",
                    "the `trial` of each spike."))
    } else {
      paste("These may be several neurons in one unit, or noise, unless they are known to",
            "burst. Leave them out, or see whether results stand without them.")
    }
  )
}

finding_shared <- function(seen) {
  share <- seen$pairs
  if (is.null(share)) return(NULL)
  units <- seen$units$unit
  share[lower.tri(share)] <- 0
  exact_times <- is.na(seen$step) || seen$step < 1e-4
  within <- if (exact_times) "within 0.1 ms" else "on the same time step"
  one <- \(which_pairs, severity, message, remedy) {
    at <- which(which_pairs, arr.ind = TRUE)
    at <- at[order(-share[at]), , drop = FALSE]
    pair <- sprintf("%s and %s (%s)", units[at[, 1L]], units[at[, 2L]],
                    vapply(share[at], percent, ""))
    finding("shared spikes", severity, nrow(at), unique(units[t(at)]),
            sprintf(message, counted(nrow(at), "pair"),
                    if (nrow(at) == 1L) "has" else "have", within, some(pair, 3L)), remedy)
  }
  rbind(one(share >= if (seen$fine) 0.5 else 0.8, "problem",
            "%s of units %s most spikes in common, %s: %s.",
            paste("This is one neuron sorted twice, or one signal on two channels.",
                  "Keep one unit of each pair, or patterns of the two will be found",
                  "everywhere.")),
        one(share >= 0.1 & share < 0.5 & seen$fine, "warning",
            "%s of units %s 10 to 50 %% of the spikes of the slower one in common, %s: %s.",
            paste("Spikes of one may have been given to the other (neighbouring channels,",
                  "cross-talk), unless the cells are coupled. See their",
                  "`cross_correlogram()`.")))
}

finding_synchrony <- function(seen) {
  n <- seen$synchrony$n
  worst <- which.max(n)
  finding(
    "synchrony", "warning", length(n), character(),
    sprintf(paste("On %s five or more units fire at once, far more than the spikes around",
                  "make likely: %s units at %s s."), counted(length(n), "tick"),
            commas(n[[worst]]), exact(seen$synchrony$tick[[worst]])),
    paste("Stimulation, movement or switching gives such artefacts on many channels.",
          "Look at the raw signal there, and take these spikes out if it is one.")
  )
}

finding_presence <- function(seen) {
  units <- seen$units
  ends <- seen$ends
  # An interval that reaches beyond all spikes is another finding.
  head <- ends$head - (seen$gaps$head %||% 0)
  tail <- ends$tail - (seen$gaps$tail %||% 0)
  away <- pmax(head, tail)
  part <- which(units$spikes >= 50L & away > 0.25 * seen$duration & away > 3 * ends$longest)
  worst <- part[which.max(away[part])]
  late <- head[worst] > tail[worst]
  finding(
    "presence", "warning", length(part), units$unit[part],
    sprintf(paste("%s missing for more than a quarter of the recording: %s. Unit %s %s at",
                  "%s s."), of_units(length(part), nrow(units), "is", "are"),
            shown_units(units$unit[part]), units$unit[worst], if (late) "begins" else "ends",
            short(if (late) units$first[worst] else units$last[worst])),
    paste("The sorter may have lost the neuron, or found it late. Surrogates and tests take",
          "units to be there all the time: cut the recording with `x[time = ]`, or leave",
          "these units out.")
  )
}

#' Change of rates over ten pieces: the ratio of the last three to the first three, and
#' how steadily they rise
#' @noRd
trend_of <- function(rates) {
  pieces <- 10L
  coarse <- rowsum(rates, rep(seq_len(pieces), each = check_pieces / pieces))
  early <- colSums(coarse[1:3, , drop = FALSE])
  late <- colSums(coarse[8:10, , drop = FALSE])
  steady <- apply(coarse, 2L, \(one) {
    if (length(unique(one)) < 2L) return(0)
    stats::cor(one, seq_along(one), method = "spearman")
  })
  list(ratio = late / early, steady = as.double(steady))
}

finding_drift <- function(seen) {
  if (!"drift" %in% seen$looked_for) return(NULL)
  units <- seen$units
  trend <- trend_of(seen$rates)
  strong <- abs(trend$steady) >= 0.9 & (trend$ratio >= 3 | trend$ratio <= 1 / 3)
  drifts <- which(units$spikes >= 100L & strong)
  all <- trend_of(matrix(rowSums(seen$rates)))
  together <- abs(all$steady) >= 0.85 && (all$ratio >= 2 || all$ratio <= 0.5)
  rbind(
    finding("drift", "warning", nrow(units) * together, character(),
            sprintf(paste("The rate of all units together %s steadily, by a factor of %s from the",
                          "first to the last third."), if (all$ratio > 1) "rises" else "falls",
                    format(max(all$ratio, 1 / all$ratio), digits = 2)),
            paste("Tests that take rates to be constant find too much. Use surrogates that keep",
                  "slow changes, such as `\"dither\"` or `\"window_shuffle\"`, or a part of the",
                  "recording.")),
    finding("drift", "note", length(drifts), units$unit[drifts],
            sprintf("%s a rate that rises or falls steadily, threefold or more: %s.",
                    of_units(length(drifts), nrow(units)), shown_units(units$unit[drifts])),
            paste("Electrodes that move do this as well as neurons. Use surrogates that keep slow",
                  "changes of rates, such as `\"dither\"`."))
  )
}

finding_gaps <- function(seen) {
  gaps <- seen$gaps
  if (length(gaps$length) < 20L) return(NULL)
  # Recordings with bursts have several long pauses.
  usual <- sort(gaps$length, decreasing = TRUE)[[3L]]
  long <- \(v) v > max(1, 5 * usual, 50 * seen$duration / seen$spikes)
  inner <- which(long(gaps$length) & gaps$length > 0.01 * seen$duration)
  longest <- inner[which.max(gaps$length[inner])]
  wide <- c(head = gaps$head, tail = gaps$tail)
  wide <- wide[long(wide) & wide > 0.05 * seen$duration]
  rbind(
    finding("gaps", "warning", length(inner), character(),
            sprintf("No unit fires for %s s, from %s s of recorded time on%s.",
                    short(gaps$length[longest]), short(gaps$start[longest]),
                    if (length(inner) > 1L) "; there is another such gap" else ""),
            paste("The recording may have been stopped, or several put together. Give the parts as",
                  "`trials`, so that rates and surrogates leave the gap out.")),
    finding("gaps", "note", length(wide), character(),
            sprintf("The observation interval has no spike for %s.",
                    paste(c(head = sprintf("its first %s s", short(gaps$head)),
                            tail = sprintf("its last %s s", short(gaps$tail)))[names(wide)],
                          collapse = " and ")),
            "If nothing was recorded then, give the true `start` and `end`: rates are too low.")
  )
}

finding_trials <- function(seen) {
  all <- seen$outside + seen$spikes
  finding(
    "trials", if (seen$outside > all / 2) "warning" else "note", seen$outside, character(),
    sprintf("%s of %s spikes %s outside of all trials, and no analysis uses them.",
            commas(seen$outside), commas(all), if (seen$outside == 1L) "lies" else "lie"),
    "See whether trials and spikes are on the same clock, if that is not meant."
  )
}

# Pieces of the recorded time for rates; drift compares fewer.
check_pieces <- 50L
