# Simulated recordings whose planted structure is known.
#
# Everything random comes from numbered streams of the counter-based generator under one
# key, so a change of one argument leaves the numbers of all other parts as they were.

#' Stream number of the `index`-th sequence for one purpose
#' @noRd
sim_stream <- function(purpose, index = 0) purpose * 2^32 + index

#' Arrivals of a Poisson process of rate 1 on (0, total)
#' @noRd
unit_arrivals <- function(total, key, stream) {
  if (total <= 0) return(numeric())
  n <- ceiling(total + 10 * sqrt(total) + 20)
  repeat {
    at <- cumsum(-log(random_uniform(n, key, stream)))
    if (at[[n]] > total) return(at[at < total])
    n <- 2 * n
  }
}

#' Standard normal numbers: those after the first `skip` of the `of` numbers of a stream
#' @noRd
random_normal <- function(n, key, stream, skip = 0, of = n) {
  size <- random_uniform(n, key, stream, skip)
  angle <- random_uniform(n, key, stream, of + skip)
  sqrt(-2 * log(size)) * cospi(2 * angle)
}

#' Factors with a log-normal distribution, scaled so that their mean is exactly 1
#' @noRd
lognormal_factor <- function(n, sdlog, key, stream) {
  factor <- exp(sdlog * random_normal(n, key, stream))
  factor / mean(factor)
}

#' Occurrences of one chain
#'
#' Each row of `heads` begins an occurrence at some node; each node fires the next one
#' with a probability, after a delay that is uniform over the ticks of its interval.
#'
#' @param heads Data frame `tick`, `position` of the events that begin an occurrence.
#' @param nodes How many units the chain has.
#' @param low,high Interval of each link, in ticks.
#' @return Data frame `occurrence`, `position`, `tick`, heads included, by occurrence.
#' @noRd
run_chain <- function(heads, nodes, low, high, probability, last_tick, key, stream) {
  now <- data.frame(occurrence = seq_len(nrow(heads)), position = heads$position,
                    tick = heads$tick)
  steps <- list(now)
  for (step in seq_len(nodes - 1L)) {
    u <- random_uniform(2 * nrow(now), key, stream + step)
    fires <- u[seq_len(nrow(now))] < probability & now$position < nodes
    now <- now[fires, ]
    link <- now$position
    delay <- low[link] + 1 + floor(u[length(fires) + which(fires)] * (high[link] - low[link]))
    now$tick <- now$tick + delay
    now$position <- link + 1L
    now <- now[now$tick <= last_tick, ]
    if (nrow(now) == 0L) break
    steps[[step + 1L]] <- now
  }
  all <- do.call(rbind, steps)
  all <- all[order(all$occurrence, all$position), ]
  row.names(all) <- NULL
  all
}

#' Each chain's links as one data frame, in seconds and in ticks
#' @noRd
chain_links <- function(chains, delays, resolution) {
  if (length(chains) == 0L) {
    return(data.frame(chain = character(), from = character(), to = character(), low = numeric(),
                      high = numeric(), low_ticks = numeric(), high_ticks = numeric()))
  }
  ticks <- matrix(seconds_to_ticks(as.vector(delays), resolution, "delays"), ncol = 2L)
  links <- lapply(seq_along(chains), \(k) {
    units <- chains[[k]]
    row <- (seq_len(length(units) - 1L) - 1L) %% nrow(delays) + 1L
    data.frame(
      chain = names(chains)[[k]], from = units[-length(units)], to = units[-1L],
      low = delays[row, 1L], high = delays[row, 2L],
      low_ticks = ticks[row, 1L], high_ticks = ticks[row, 2L]
    )
  })
  do.call(rbind, links)
}

# Spikes that a simulator may be expected to make: they take some 100 bytes each.
most_spikes <- 2e8

#' Error where more spikes are to be expected than a simulator makes
#'
#' @param expected Spikes, or draws, to be expected.
#' @param others What besides `duration` decides that, for the hint.
#' @noRd
check_expected <- function(expected, duration, others) {
  refuse_if(!isTRUE(expected <= most_spikes), "duration",
            sprintf("so short that at most %s spikes are expected", commas(most_spikes)),
            sprintf("%s s, with %s expected", exact(duration), format(expected, digits = 3)),
            sprintf("Make it shorter, or lower %s.", others))
}

#' Last tick of a recording from 0 on
#' @noRd
check_duration <- function(duration, resolution) {
  ticks <- seconds_to_ticks(duration, resolution, "duration")
  refuse_if(ticks < 1, "duration", sprintf("at least a tick of %s s", exact(resolution)),
            sprintf("%s s", exact(duration)))
  ticks
}

#' Names "u01", "u02" ... for units
#' @noRd
numbered_units <- function(prefix, n) {
  sprintf("%s%0*d", prefix, max(2L, nchar(sprintf("%.0f", n))), seq_len(n))
}

check_chains <- function(chains, units) {
  refuse_if(!is.list(chains) || is.object(chains), "chains",
            "a list with a character vector of units for each chain", describe(chains))
  if (is.null(names(chains))) names(chains) <- sprintf("chain%d", seq_along(chains))
  refuse_if(anyNA(names(chains)) || any(names(chains) == "") || anyDuplicated(names(chains)),
            "chains", "a list with a different name for each chain, or without names",
            "without a name for some, or with a name twice")
  for (k in seq_along(chains)) {
    chain <- chains[[k]]
    unknown <- if (is.character(chain)) setdiff(chain, units)
    refuse_if(!is.character(chain) || length(chain) < 2L || length(unknown) > 0L,
              sprintf("chains[[%d]]", k), "a character vector of two or more simulated units",
              if (length(unknown) > 0L) {
                sprintf("with the unknown unit %s", encodeString(unknown[[1L]], quote = "\""))
              } else {
                describe(chain)
              },
              sprintf("The units are \"%s\" to \"%s\".", units[[1L]], units[[length(units)]]))
  }
  chains
}

check_delays <- function(delays) {
  if (is_plain_numeric(delays) && is.null(dim(delays)) && length(delays) == 2L) {
    delays <- matrix(delays, 1L)
  }
  ok <- is_plain_numeric(delays) && is.matrix(delays) && ncol(delays) == 2L &&
    nrow(delays) > 0L && all(is.finite(delays)) && all(delays[, 1L] >= 0) &&
    all(delays[, 1L] < delays[, 2L])
  refuse_if(!ok, "delays", "a matrix of two columns (low, high) in seconds with 0 <= low < high",
            describe(delays))
  matrix(as.double(delays), ncol = 2L)
}

#' Numbers from `min` to `max`, as many as one of `lengths`, repeated up to the last of these
#' @param more What else must hold.
#' @noRd
check_numbers <- function(x, arg, lengths, min, max, must, more = TRUE) {
  ok <- is_plain_numeric(x) && length(x) %in% lengths && all(is.finite(x)) &&
    all(x >= min & x <= max) && more
  refuse_if(!ok, arg, must, describe(x))
  rep_len(as.double(x), lengths[[length(lengths)]])
}

#' One non-negative number for all, or one for each
#' @noRd
check_rates <- function(x, n, arg) {
  check_numbers(x, arg, c(1, n), 0, Inf, sprintf("one number of at least 0, or %d of them", n))
}

check_probability <- function(x, arg = rlang::caller_arg(x)) {
  check_number(x, arg, min = 0, max = 1)
}

#' A simulated recording with its truth
#' @noRd
simulated <- function(ticks, unit, levels, duration, resolution, truth) {
  x <- build_spike_trains(ticks, as_factor(as.integer(unit), levels),
                          start = 0, end = duration, resolution = resolution)
  attr(x, "truth") <- truth
  x
}

#' Planted spikes of all chains, and the table that says so
#' @noRd
plant_chains <- function(chains, links, heads, probability, last_tick, levels, key, purpose) {
  planted <- lapply(seq_along(chains), \(k) {
    mine <- links[links$chain == names(chains)[[k]], ]
    run <- run_chain(heads[[k]], length(chains[[k]]), mine$low_ticks, mine$high_ticks,
                     probability, last_tick, key, sim_stream(purpose, 1000 * k))
    cbind(chain = rep(names(chains)[[k]], nrow(run)), run,
          unit = chains[[k]][run$position])
  })
  none <- data.frame(chain = character(), occurrence = integer(), position = integer(),
                     tick = numeric(), unit = character())
  planted <- do.call(rbind, c(list(none), planted))
  planted$unit <- factor(planted$unit, levels)
  planted
}

#' What a simulator of chains keeps as its truth
#' @noRd
chain_truth <- function(links, planted, probability, resolution, key, ...) {
  links <- links[c("chain", "from", "to", "low", "high")]
  row.names(links) <- NULL
  links$probability <- rep(probability, nrow(links))
  spikes <- data.frame(
    chain = planted$chain, occurrence = planted$occurrence, position = planted$position,
    unit = planted$unit, time = ticks_to_seconds(planted$tick, resolution)
  )
  list(links = links, spikes = spikes, ..., key = key)
}

#' Activations of a chain by a Poisson process, from its first unit on
#' @noRd
chain_heads <- function(duration, rate, resolution, key, stream) {
  time <- unit_arrivals(duration * rate, key, stream) / rate
  data.frame(tick = round_to_ticks(time, resolution), position = rep(1L, length(time)))
}

#' Random ticks from 0 to `last`, in order and at least `apart` from each other
#'
#' Sorted uniform draws on the ticks that the distances leave are exactly such places.
#' @noRd
spaced_ticks <- function(n, last, apart, key, stream) {
  free <- last - (n - 1) * apart
  floor(sort(random_uniform(n, key, stream)) * (free + 1)) + (seq_len(n) - 1) * apart
}
