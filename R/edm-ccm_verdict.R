# The sentence about causes: supported, not supported, or cannot be told because ...
#
# What is measured is in edm-ccm_evidence.R; here is what follows from it, in this order:
#
#   obstacle      something about the series forbids any sentence about this direction
#   signs()       which of the signs of a cause are there
#   judge()       what follows: all signs, none, or something between

# ---- Obstacles -----------------------------------------------------------------------

#' What forbids a sentence about a direction, or NULL
#' @noRd
obstacle <- function(one, other) one$obstacle %||% step_obstacle(one, other)

step_obstacle <- function(one, other) {
  now <- one$together$now
  least <- verdict_rules$in_step
  if (abs(now) < least || lag_zero(one) < least || !isTRUE(lag_zero(other) >= least)) return(NULL)
  refusal("in step", paste(
    "%s and %s go in step (correlation %s, and each predicts the other without delay: rho",
    "%s and %s), so that each is a copy of the other and neither comes first"),
    one$names[["cause"]], one$names[["effect"]], two(now), two(lag_zero(one)),
    two(lag_zero(other)))
}

#' One series is the other, seen later
#' @noRd
copy_obstacle <- function(together, names) {
  if (abs(together$most) < verdict_rules$copy || together$lag == 0) return(NULL)
  refusal("copy", "%s is a copy of %s, seen %d rows earlier or later (correlation %s)",
          names[["effect"]], names[["cause"]], as.integer(abs(together$lag)),
          two(together$most))
}

row_obstacle <- function(rows, problem) {
  if (rows >= verdict_rules$rows) return(NULL)
  where <- if (max(problem$first) == 1) "" else sprintf(
    " (those with %s of their segment before them and after them)",
    counted(max(problem$lags), "row")
  )
  refusal("short", "only %s rows can be used%s, and a verdict takes %s", commas(rows), where,
          verdict_rules$rows)
}

slow_obstacle <- function(problem) {
  steps <- length(problem$cause) %/% problem$step
  if (steps >= verdict_rules$steps) return(NULL)
  refusal("short", paste(
    "%s and %s are so slow that they stay alike for %s: the recording has %s such steps, and a",
    "verdict takes %s"), problem$names[["cause"]], problem$names[["effect"]],
    counted(problem$step, "row"), steps, verdict_rules$steps)
}

lag_zero <- function(one) if (is.null(one$cross)) NA_real_ else one$cross$rho[[one$cross$now]]

refusal <- function(reason, text, ...) list(reason = reason, text = sprintf(text, ...))

self_obstacle <- function(problem) {
  if (!problem$own) return(NULL)
  refusal("itself", "the library is made of %s, so that %s predicts itself",
          problem$names[["effect"]], problem$names[["cause"]])
}

trait_obstacle <- function(traits, name) {
  reason <- trait_reasons(traits)
  if (is.na(reason)) return(NULL)
  switch(
    reason,
    constant = refusal(reason, "%s is constant or nearly always missing", name),
    counts = refusal(reason, paste(
      "%s of the values of %s are one and the same, so that its states look alike (for",
      "counts of spikes, take longer bins, a smoothed rate or units that fire more)"),
      whole_percent(traits$repeated), name),
    drift = refusal(reason, paste(
      "the level of %s changes over the recording (KPSS statistic %s, above %s), so that too few",
      "of its states come back; take differences, a longer recording or a stretch without drift"),
      name, two(traits$drift), two(verdict_rules$drift)),
    cycle = refusal(reason, paste(
      "%s goes round in %d rows with nothing beside (which explains %s of its variance), and",
      "all that goes round predicts it"), name, as.integer(traits$period),
      whole_percent(traits$explained))
  )
}

own_obstacle <- function(own, name, alpha) {
  if (own$p > alpha && own$rho < verdict_rules$linear) {
    return(refusal("linear", paste(
      "%s is predicted from its own past (rho %s) not clearly better than surrogates that keep its",
      "season and all that is linear (median %s, p %s), so that it does not show states in which a",
      "cause could be read"), name, two(own$rho), two(own$median), p_text(own$p)))
  }
  if (own$rho < verdict_rules$own) {
    refusal("noise", paste(
      "%s is poorly predicted from its own past (rho %s, and a verdict takes %s): noise hides",
      "its states"), name, two(own$rho), two(verdict_rules$own))
  }
}

whole_percent <- function(share) sprintf("%.0f %%", floor(100 * share))

# ---- What follows --------------------------------------------------------------------

#' Which signs of a cause a direction shows by itself
#' @noRd
signs <- function(one, alpha) {
  least <- least_signs(one)
  cross <- one$cross
  list(beyond = cross$p <= alpha && cross$rho[[cross$top]] >= verdict_rules$skill,
       before = lead(one) >= least[["ahead"]] && cross$agree,
       rises = rise(one) >= least[["rise"]], helps = helps(one))
}

#' Least signs of a cause: a slow series shows them less, and so does a common driver of it
#' @noRd
least_signs <- function(one) verdict_rules[[if (one$slow) "slow" else "fast"]]

#' By how many standard errors the past is ahead of both the present and the future
#' @noRd
lead <- function(one) min(one$cross$over_now, one$cross$over_future)

#' Gain of a doubling of the library, over the skill
#' @noRd
rise <- function(one) {
  gain <- one$gain$gain
  if (is.na(gain)) -Inf else gain / one$cross$rho[[one$cross$top]]
}

#' Does one value of the cause, once it is known, help to forecast the effect?
#'
#' A cause acts by its values, so that two in a row help little more than one. What merely has a
#' driver in common with the effect shows what the driver did by the step from one to the next.
#' @noRd
helps <- function(one, least = least_signs(one)[["helped"]]) {
  by <- one$helped
  if (is.null(by) || anyNA(by)) return(FALSE)
  by[["one"]] >= if (one$slow) least else max(least, verdict_rules$single * by[["two"]])
}

#' Do both directions show the signs of a cause, where less rise and less help are enough?
#'
#' Two series that drive each other tell much of each other already by their own past.
#' @noRd
mutual <- function(one, other, alpha) {
  shows <- function(one, other) {
    if (is.null(one$cross) || one$slow || !is.null(obstacle(one, other))) return(FALSE)
    found <- signs(one, alpha)
    found$beyond && found$before && rise(one) >= verdict_rules$mutual[["rise"]] &&
      helps(one, verdict_rules$mutual[["helped"]])
  }
  shows(one, other) && shows(other, one)
}

#' @param asked p value of surrogates that the user asked for, or NA.
#' @return A list: `verdict`, `reason` (one word, NA where supported) and `said`.
#' @noRd
judge <- function(one, other, asked, alpha) {
  against <- obstacle(one, other)
  if (!is.null(against)) return(refuse(one, against))
  found <- signs(one, alpha)
  if (all(unlist(found))) return(support(one, asked, alpha))
  if (mutual(one, other, alpha)) return(support(one, asked, alpha, mutual = TRUE))
  # Whether the other direction would be supported by itself.
  alone <- !is.null(other$cross) && is.null(obstacle(other, one)) &&
    all(unlist(signs(other, alpha)))
  absent <- absence(one, other, alone)
  if (is.null(absent)) return(refuse(one, unclear(one, found, alpha)))
  list(verdict = "not supported", reason = absent$reason, said = sprintf(
    "This does not support that %s drives %s. %s; %s.", one$names[["cause"]],
    one$names[["effect"]], skill_text(one), absent$text))
}

#' What shows that there is no link, or NULL
#' @param supported Is the other direction supported, by its own signs?
#' @noRd
absence <- function(one, other, supported) {
  cross <- one$cross
  skill <- cross$rho[[cross$top]]
  gain <- one$gain$gain
  nothing <- verdict_rules$nothing
  # Noise could hide a link, and a cause without states of its own cannot be told.
  states <- is.null(other$obstacle) && min(one$own$rho, other$own$rho) >= nothing[["own"]]
  # Weak links of slow series have no skill, either; but without a link the other is in the way.
  in_the_way <- !one$slow || isTRUE(one$helped[["one"]] <= nothing[["helped"]])
  if (states && cross$p > nothing[["p"]] && skill < nothing[["skill"]] &&
        isTRUE(gain < nothing[["gain"]]) && in_the_way) {
    return(refusal("nothing", paste(
      "surrogates of %s have as much (median of their highest %s, p %s), and it does not rise with",
      "the library (%s)"), one$names[["cause"]], two(cross$median), p_text(cross$p),
      gain_text(gain)))
  }
  level <- isTRUE(gain <= max(verdict_rules$no_rise * skill, nothing[["gain"]]))
  behind <- lead(one) <= verdict_rules$behind
  if (supported && in_the_way && (behind || level && lead(one) < verdict_rules$not_ahead)) {
    refusal("driven", paste(
      "that comes from the other direction, in which the signs of a cause are there: the past",
      "of %s is not predicted better than its present (rho %s) and future (%s)%s"),
      one$names[["cause"]], two(cross$rho[[cross$now]]), two(cross$rho[[cross$future]]),
      if (level) sprintf(", and the skill does not rise with the library (%s)", gain_text(gain))
      else "")
  }
}

#' Why a verdict is left open where the series would allow one
#' @noRd
unclear <- function(one, found, alpha) {
  cross <- one$cross
  cause <- one$names[["cause"]]
  skill <- cross$rho[[cross$top]]
  if (cross$p > alpha && skill >= verdict_rules$skill) {
    return(refusal("weak", "surrogates of %s are predicted as well (median %s, p %s)", cause,
                   two(cross$median), p_text(cross$p)))
  }
  if (!found$beyond) {
    return(refusal("weak", paste(
      "a rho of %s is too little to go by: a verdict takes %s or more, and surrogates of %s have a",
      "median of %s (p %s)"), two(floor(100 * skill) / 100), two(verdict_rules$skill), cause,
      two(cross$median), p_text(cross$p)))
  }
  if (!found$before) {
    return(refusal("delay", paste(
      "no delay shows clearly what comes first: rho is %s in the past of %s (%s), %s without a",
      "delay and %s in its future (%s), as with a common driver or synchrony%s"),
      two(cross$rho[[cross$past]]), cause, lag_text(cross$lags[[cross$past]]),
      two(cross$rho[[cross$now]]), two(cross$rho[[cross$future]]),
      lag_text(cross$lags[[cross$future]]),
      if (cross$agree) "" else ", and dimensions that predict as well disagree on it"))
  }
  if (!found$rises) {
    return(refusal("level", paste(
      "the skill levels off: %s, and for a cause of this skill that has to be %s or more. A",
      "common driver does that, and so do noise and many steps between"),
      gain_text(one$gain$gain), whole_percent(least_signs(one)[["rise"]] * skill)))
  }
  hidden_driver(one)
}

#' Knowing the cause helps too little, or two of its values in a row do more than one
#' @noRd
hidden_driver <- function(one) {
  cause <- one$names[["cause"]]
  effect <- one$names[["effect"]]
  if (anyNA(one$helped)) {
    return(refusal("hidden", paste(
      "a driver that both have would do the same, and %s is known at all lags in too few rows",
      "to see whether it is one"), cause))
  }
  if (one$slow) {
    return(refusal("hidden", paste(
      "forecasts of %s get worse once %s is known (%s of what is missing to a rho of 1 is added),",
      "as with series that merely resemble each other"), effect, cause,
      whole_percent(-one$helped[["one"]])))
  }
  closer <- paste("%s may merely follow a driver that both have: forecasts of %s come %s closer",
                  "to a rho of 1 once one value of %s is known")
  by <- lapply(one$helped, closer_by)
  if (one$helped[["one"]] < least_signs(one)[["helped"]]) {
    return(refusal("hidden", paste0(closer, ", and for a cause that has to be %s or more"), cause,
                   effect, by$one, cause, whole_percent(least_signs(one)[["helped"]])))
  }
  refusal("hidden", paste0(
    closer, ", and %s once two in a row are. A cause acts by its values; what a common driver did ",
    "shows in the step from one value of %s to the next"), cause, effect, by$one, cause, by$two,
    cause)
}

#' ", and forecasts of y come 60 % closer to a rho of 1 once x is known"
#' @noRd
help_text <- function(one) {
  if (anyNA(one$helped) || one$helped[["one"]] < 0.01) return("")
  sprintf(", and forecasts of %s come %s closer to a rho of 1 once %s is known",
          one$names[["effect"]], closer_by(one$helped[["one"]]), one$names[["cause"]])
}

closer_by <- function(share) if (share < 0.01) "no" else whole_percent(share)

gain_text <- function(gain) {
  if (is.na(gain)) return("there are too few rows to see it rise")
  if (gain < 0.01) return("larger libraries do not bring rho closer to 1")
  sprintf("each doubling of the library brings rho %s closer to 1", whole_percent(gain))
}

lag_text <- function(lag) sprintf("Tp %d", as.integer(lag))

# ---- Sentences -----------------------------------------------------------------------

#' "y tells best what x was 3 rows before, rho 0.90 with E 3"
#' @noRd
skill_text <- function(one) {
  cross <- one$cross
  lag <- cross$lags[[cross$top]]
  when <- if (lag == 0) "is at the same time" else {
    sprintf("was %d row%s before", as.integer(-lag), if (lag == -1) "" else "s")
  }
  sprintf("%s tells best what %s %s, with rho %s (E %d)", one$names[["effect"]],
          one$names[["cause"]], when, two(cross$rho[[cross$top]]), cross$E)
}

support <- function(one, asked, alpha, mutual = FALSE) {
  if (isTRUE(asked > alpha)) {
    return(refuse(one, refusal(
      "surrogates", "the surrogates asked for are predicted as well (p %s)", p_text(asked)
    )))
  }
  cross <- one$cross
  list(verdict = "supported", reason = NA_character_, said = sprintf(
    paste("This supports that %s drives %s, directly or through others. %s; surrogates",
          "of %s have a median of %s (p %s). The past is ahead of the present (%s) and the",
          "future (%s) by %s and %s standard errors; %s%s.%s"),
    one$names[["cause"]], one$names[["effect"]], skill_text(one), one$names[["cause"]],
    two(cross$median), p_text(cross$p), two(cross$rho[[cross$now]]),
    two(cross$rho[[cross$future]]), short_number(cross$over_now),
    short_number(cross$over_future), gain_text(one$gain$gain),
    help_text(one),
    if (mutual) paste0(" Each series shows this of the other, where a common driver would reach ",
                       "one of them first.") else ""))
}

refuse <- function(one, why) {
  tells <- c("weak", "delay", "level", "hidden", "surrogates")
  told <- !is.null(one$cross) && why$reason %in% tells
  found <- if (told) paste0(" ", skill_text(one), ".") else ""
  list(verdict = "cannot be told", reason = why$reason, said = sprintf(
    "It cannot be told whether %s drives %s, because %s.%s", one$names[["cause"]],
    one$names[["effect"]], why$text, found))
}
