# The background of simulated assemblies: irregular firing whose rates change, and what dead
# time and spike sorting make of it.

# Rates are constant for this many seconds.
rate_step <- 0.005

# Strengths of the nuisances when they are asked for by name, and the largest that they may
# have.
nuisance_strengths <- c(common_rate = 0.3, bursts = 0.1, oscillation = 0.3, drift = 1,
                        dead_time = 0.002, lost = 0.5, swapped = 0.02)
strongest_nuisances <- c(common_rate = 3, bursts = 1, oscillation = 1, drift = 5,
                         dead_time = 1, lost = 1, swapped = 1)

#' Strengths of all nuisances, 0 for those that were not asked for
#' @noRd
check_nuisances <- function(nuisances) {
  known <- names(nuisance_strengths)
  strength <- 0 * nuisance_strengths
  if (is.null(nuisances)) return(strength)
  if (identical(nuisances, "all")) return(nuisance_strengths)
  by_name <- is.character(nuisances) && !is.object(nuisances)
  wanted <- if (by_name) nuisances else names(nuisances)
  refuse_if(!by_name && !is_plain_numeric(nuisances) || is.null(wanted) ||
              !all(wanted %in% known) || anyDuplicated(wanted) > 0L, "nuisances",
            sprintf("`NULL`, \"all\", or names or named strengths of %s",
                    paste0("`", known, "`", collapse = ", ")), describe(nuisances))
  if (by_name) {
    strength[wanted] <- nuisance_strengths[wanted]
    return(strength)
  }
  for (name in wanted) {
    strength[[name]] <- check_number(nuisances[[name]], sprintf("nuisances[[\"%s\"]]", name),
                                     min = 0, max = strongest_nuisances[[name]])
  }
  strength
}

#' Rates of units: log-normal around the given ones, cut off at a tenth and ten times
#' @noRd
spread_rates <- function(rate, spread, key) {
  if (spread == 0) return(rate)
  bound <- stats::pnorm(log(10) / spread)
  u <- random_uniform(length(rate), key, sim_stream(50))
  rate * exp(spread * stats::qnorm(1 - bound + u * (2 * bound - 1)))
}

#' Spikes of the background of all units
#'
#' Intervals have mean 1 on a time of each unit's own, which runs as fast as its rate is high:
#' this keeps how irregular they are when rates change.
#' @return Data frame as plant_assembly() has it, with NA for the assembly and the activation.
#' @noRd
background_spikes <- function(rate, intervals, nuisances, duration, resolution, key) {
  course <- rate_course(nuisances, duration, key)
  ticks <- lapply(seq_along(rate), \(u) {
    gain <- unit_gain(course, u, nuisances, key)
    total <- rate[[u]] * duration
    at <- renewal_arrivals(total, intervals, key, sim_stream(51, u)) / total
    passed <- c(0, cumsum(gain)) / sum(gain)
    step <- findInterval(at, passed, all.inside = TRUE)
    within <- (at - passed[step]) * sum(gain) / gain[step]
    round_to_ticks((step - 1 + within) * duration / length(gain), resolution)
  })
  n <- sum(lengths(ticks))
  data.frame(unit = rep(seq_along(rate), lengths(ticks)), tick = as.numeric(unlist(ticks)),
             assembly = rep(NA_integer_, n), activation = rep(NA_integer_, n))
}

#' How the rates of all units change together
#'
#' @return List: the `middle` of each step of time as a share of the recording, `common` (log of
#'   the rate that all follow), `swing` (factor of the oscillation), and `bursts` (data frame
#'   `first`, `last`, their steps). One step where no rate changes.
#' @noRd
rate_course <- function(nuisances, duration, key) {
  changes <- any(nuisances[c("common_rate", "bursts", "oscillation", "drift")] > 0)
  n <- if (changes) max(1, ceiling(duration / rate_step)) else 1
  middle <- (seq_len(n) - 0.5) / n
  common <- if (nuisances[["common_rate"]] > 0) {
    nuisances[["common_rate"]] * smooth_noise(middle * duration, duration, key, sim_stream(52))
  } else {
    numeric(n)
  }
  swing <- if (nuisances[["oscillation"]] > 0) {
    hertz <- 8 * exp(0.1 * smooth_noise(middle * duration, duration, key, sim_stream(53)))
    1 + nuisances[["oscillation"]] * sinpi(2 * cumsum(hertz) * duration / n)
  } else {
    rep(1, n)
  }
  bursts <- burst_times(duration, nuisances[["bursts"]], c(0.2, 1), key)
  list(middle = middle, common = common, swing = swing, bursts = data.frame(
    first = pmin(n, floor(bursts$start / duration * n) + 1),
    last = pmin(n, floor((bursts$start + bursts$duration) / duration * n) + 1)
  ))
}

#' Normal noise that changes smoothly from second to second
#' @noRd
smooth_noise <- function(at, duration, key, stream) {
  knots <- seq(0, ceiling(duration) + 1)
  stats::spline(knots, random_normal(length(knots), key, stream), xout = at)$y
}

#' The factor by which the rate of a unit differs from its mean, in each step; any scale
#' @noRd
unit_gain <- function(course, u, nuisances, key) {
  follows <- 0.5 + random_uniform(1, key, sim_stream(54, u))
  drift <- nuisances[["drift"]] * (2 * random_uniform(1, key, sim_stream(55, u)) - 1)
  gain <- exp(follows * course$common + drift * course$middle) * course$swing
  n <- length(gain)
  recruited <- random_uniform(nrow(course$bursts), key, sim_stream(56, u)) < 0.8
  burst <- course$bursts[recruited, ]
  # A burst begins at its first step and is over after its last one; bursts may overlap.
  within <- cumsum(tabulate(burst$first, n + 1L) - tabulate(burst$last + 1, n + 1L))[seq_len(n)]
  # A rate of exactly zero has no time of its own.
  pmax(gain * ifelse(within > 0, 5, 1), 1e-9)
}

#' Arrivals on (0, total) with intervals of mean 1
#'
#' They begin 20 intervals before, so that 0 is any moment between two of them.
#' @noRd
renewal_arrivals <- function(total, intervals, key, stream) {
  if (intervals == "poisson") return(unit_arrivals(total, key, stream))
  if (total <= 0) return(numeric())
  n <- ceiling(total + 15 * sqrt(total + 20) + 60)
  repeat {
    at <- cumsum(switch(
      intervals,
      gamma = stats::qgamma(random_uniform(n, key, stream), 3, 3),
      lognormal = {
        s <- sqrt(log(1 + 1.3^2))
        exp(s * random_normal(n, key, stream) - s^2 / 2)
      }
    )) - 20
    if (at[[n]] > total) return(at[at > 0 & at < total])
    n <- 2 * n
  }
}

# ---- What dead time and the spike sorter leave -------------------------------------------

#' Which spikes are recorded, and as whose
#'
#' @param spikes Data frame `unit`, `tick`, `assembly` (NA in the background), `activation`.
#' @return The same with `recorded` and `seen`, the unit that the spike sorter names.
#' @noRd
record_spikes <- function(spikes, electrode, nuisances, resolution, key) {
  spikes$recorded <- rep(TRUE, nrow(spikes))
  spikes$seen <- spikes$unit
  dead <- round_to_ticks(nuisances[["dead_time"]], resolution)
  if (dead > 0) spikes$recorded <- after_dead_time(spikes, dead)
  if (nuisances[["lost"]] > 0) {
    spikes <- lose_coincidences(spikes, electrode, nuisances[["lost"]], resolution, key)
  }
  if (nuisances[["swapped"]] > 0) {
    spikes <- swap_spikes(spikes, electrode, nuisances[["swapped"]], key)
  }
  spikes
}

#' Which spikes are fired in spite of the dead time; those of assemblies come first
#' @noRd
after_dead_time <- function(spikes, dead) {
  fired <- logical(nrow(spikes))
  for (rows in split(seq_len(nrow(spikes)), spikes$unit)) {
    rows <- rows[order(spikes$tick[rows])]
    planted <- rows[!is.na(spikes$assembly[rows])]
    planted <- planted[spaced(spikes$tick[planted], dead)]
    other <- rows[is.na(spikes$assembly[rows])]
    if (length(planted) > 0L) {
      near <- findInterval(spikes$tick[other], spikes$tick[planted])
      ticks <- c(-Inf, spikes$tick[planted], Inf)
      clear <- spikes$tick[other] - ticks[near + 1L] >= dead &
        ticks[near + 2L] - spikes$tick[other] >= dead
      other <- other[clear]
    }
    fired[planted] <- TRUE
    fired[other[spaced(spikes$tick[other], dead)]] <- TRUE
  }
  fired
}

#' Which of some sorted ticks remain when each silences those less than `dead` after it
#' @noRd
spaced <- function(tick, dead) {
  kept <- seq_along(tick)
  repeat {
    close <- which(diff(tick[kept]) < dead)
    # Of ticks that follow one another closely, only the first of a row is sure to stay.
    first <- close[!(close - 1L) %in% close]
    if (length(first) == 0L) break
    kept <- kept[-(first + 1L)]
  }
  seq_along(tick) %in% kept
}

#' Loses spikes that closely follow one of another unit of their electrode
#' @noRd
lose_coincidences <- function(spikes, electrode, share, resolution, key) {
  rows <- which(spikes$recorded)
  rows <- rows[order(electrode[spikes$unit[rows]], spikes$tick[rows], spikes$unit[rows])]
  n <- length(rows)
  if (n < 2L) return(spikes)
  unit <- spikes$unit[rows]
  # The latest spike of another unit is the one before a run of spikes of this unit.
  begins <- c(TRUE, unit[-1L] != unit[-n])
  before <- c(NA, rows)[which(begins)[cumsum(begins)]]
  close <- !is.na(before) & electrode[spikes$unit[before]] == electrode[unit] &
    spikes$tick[rows] - spikes$tick[before] <= round_to_ticks(0.001, resolution)
  lost <- close & random_uniform(n, key, sim_stream(57)) < share
  spikes$recorded[rows[which(lost)]] <- FALSE
  spikes
}

#' Gives spikes to another unit of their electrode
#' @noRd
swap_spikes <- function(spikes, electrode, share, key) {
  n <- nrow(spikes)
  neighbours <- tabulate(electrode)[electrode[spikes$unit]]
  swapped <- random_uniform(n, key, sim_stream(58)) < share & neighbours > 1L
  place <- (spikes$unit - 1L) %% 4L
  further <- 1L + floor(random_uniform(n, key, sim_stream(59)) * (neighbours - 1L))
  other <- spikes$unit - place + (place + further) %% neighbours
  spikes$seen[swapped] <- as.integer(other[swapped])
  spikes
}
