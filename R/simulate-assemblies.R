# Recordings with planted assemblies on a background that is as hard as real ones.

#' Simulate a recording with planted cell assemblies
#'
#' Groups of neurons that fire together or one after the other, again and again, at time
#' scales from milliseconds to a second, on a background of irregular firing; and, when asked
#' for, what makes real recordings hard: rates that change together, population bursts, an
#' oscillation, drift, dead time and spike sorting errors. What was planted is known, so that a
#' method can be tested on it.
#'
#' # Kinds of assemblies
#' The five kinds of Russo & Durstewitz (2017). In each activation a member that takes part
#' fires within a window that begins its lag after the activation, uniformly over the window's
#' width:
#'
#' | kind | lags | width of a window | spikes |
#' |---|---|---|---|
#' | `"synchrony"`: precise synchrony | 0 | 3 ms | 1 |
#' | `"sequence"`: precise sequence | steps of 5 to 30 ms | 2 ms | 1 |
#' | `"jittered_sequence"`: sequence with jitter | steps of 20 to 60 ms | 20 ms | 1 |
#' | `"rate_synchrony"`: rates that rise together | 0 | 200 ms | 3 on average |
#' | `"rate_sequence"`: rates that rise in turn | steps of 100 to 200 ms | 200 ms | 3 on average |
#'
#' Activations are drawn uniformly over the recording, those of one assembly at least twice its
#' length (last lag and width) apart from beginning to beginning. Different assemblies are
#' activated independently.
#'
#' # Nuisances
#' What is not an assembly, and must not be found as one. Each with its strength when it is
#' asked for by its name alone:
#' * `common_rate` (0.3): the logarithm of all rates follows one curve that changes over
#'   seconds, with this standard deviation; each unit follows it by a factor of its own, between
#'   a half and one and a half.
#' * `bursts` (0.1): population bursts per second. In a burst, which lasts 0.2 to 1 s, each unit
#'   fires at five times its rate with a probability of 0.8, drawn anew for each burst.
#' * `oscillation` (0.3): all rates swing by this share, at about 8 Hz and in phase.
#' * `drift` (1): the rate of each unit rises or falls exponentially over the recording, its
#'   logarithm by a number uniform between minus and plus this.
#' * `dead_time` (0.002): no unit fires twice within so many seconds. Spikes of the background
#'   give way to those of assemblies.
#' * `lost` (0.5): units stand in groups of four on an electrode (`u01` to `u04` and so on). A
#'   spike within 1 ms after one of another unit of its electrode is lost with this probability.
#' * `swapped` (0.02): share of spikes that are given to another unit of their electrode.
#'
#' Rates are scaled so that their mean over the recording is what `rate` says.
#'
#' @param duration Length of the recording, in seconds.
#' @param units Number of units, named `u01`, `u02`, ...
#' @param assemblies The kind of each assembly, a character vector (`character()` for none), or
#'   a list with for each assembly its kind, or a list of `kind` and any of: `units` (numbers or
#'   names), `lags` and `width` (seconds), `count`, `participation`, and `spikes` (mean number
#'   of a member's spikes in an activation, at least 1).
#' @param size Number of members, where an assembly has no `units`. This and the next two: one
#'   number, or one for each assembly.
#' @param count How often an assembly is activated.
#' @param participation Probability with which a member takes part in an activation.
#' @param overlap How many members an assembly shares with the one before it. All others are
#'   members of one assembly alone.
#' @param rate Background rate in Hz: the median over units, or the rate of each unit.
#' @param rate_spread Standard deviation of the logarithm of the rate over units, where `rate`
#'   is one number: log-normal rates, none below a tenth or above ten times of `rate`.
#' @param intervals Background intervals between spikes: `"poisson"`, `"gamma"` (order 3: more
#'   regular, coefficient of variation 0.58) or `"lognormal"` (less regular, 1.3).
#' @param nuisances `NULL` for none, `"all"`, some of their names, or a vector of strengths with
#'   their names, such as `c(drift = 2)`.
#' @param resolution Length of a tick, in seconds.
#'
#' @return [spike_trains()] with the attribute `truth`, a list:
#' * `assemblies`: data frame, a row an assembly: `assembly` (its number), `kind`, `size`,
#'   `units` and `lags` (list columns, in the order of lags; seconds), `width` (seconds),
#'   `count`, `participation` and `spikes`;
#' * `activations`: data frame `assembly`, `activation`, `time` (its beginning, in seconds) and
#'   `units` (list column: the members that took part);
#' * `spikes`: data frame of the planted spikes: `assembly`, `activation`, `unit`, `time` and
#'   `recorded` (`FALSE` for one that dead time or spike sorting took away);
#' * `units`: data frame `unit`, `rate` (of the background, in Hz) and `electrode`;
#' * `nuisances`: their strengths, and `key`, that of the random numbers.
#'
#' [set.seed()] decides all.
#'
#' @references
#' Russo E, Durstewitz D (2017). Cell assemblies at multiple time scales with arbitrary lag
#' constellations. *eLife*, 6, e19428. \doi{10.7554/eLife.19428}
#'
#' @seealso [simulate_patterns()], [simulate_culture()]
#' @examples
#' set.seed(1)
#' x <- simulate_assemblies(duration = 60, units = 20, assemblies = c("synchrony", "sequence"),
#'                          count = 30, participation = 0.8, nuisances = c("drift", "lost"))
#' x
#' attr(x, "truth")$assemblies
#' head(attr(x, "truth")$activations)
#' @export
simulate_assemblies <- function(duration = 1200, units = 50,
                                assemblies = c("synchrony", "sequence", "jittered_sequence",
                                               "rate_synchrony", "rate_sequence"),
                                size = 5, count = 200, participation = 1, overlap = 0,
                                rate = 5, rate_spread = 0.8,
                                intervals = c("poisson", "gamma", "lognormal"),
                                nuisances = NULL, resolution = 1e-6) {
  duration <- check_number(duration, above = 0)
  units <- check_count(units, max = 1e5)
  levels <- numbered_units("u", units)
  assemblies <- check_assemblies(assemblies)
  n <- length(assemblies)
  size <- check_each(size, n, "size", 2, units, TRUE)
  count <- check_each(count, n, "count", 1, 1e7, TRUE)
  participation <- check_each(participation, n, "participation", 0, 1, FALSE)
  overlap <- check_count(overlap, min = 0)
  rate_spread <- check_number(rate_spread, min = 0, max = 50)
  if (length(rate) > 1L) rate_spread <- 0
  rate <- check_rates(rate, units, "rate")
  intervals <- check_choice(intervals)
  nuisances <- check_nuisances(nuisances)
  resolution <- check_resolution(resolution)
  last_tick <- check_duration(duration, resolution)
  check_assembly_work(assemblies, size, count, rate, duration)

  key <- random_key()
  unit <- data.frame(unit = factor(levels, levels), rate = spread_rates(rate, rate_spread, key),
                     electrode = (seq_len(units) - 1L) %/% 4L + 1L)
  members <- draw_members(assemblies, size, overlap, levels, key)
  planned <- lapply(seq_len(n), \(k) {
    plan_assembly(assemblies[[k]], k, members[[k]], count[[k]], participation[[k]], resolution,
                  last_tick, key)
  })
  planted <- lapply(seq_len(n), \(k) plant_assembly(planned[[k]], k, last_tick, key))
  spikes <- rbind(do.call(rbind, lapply(planted, `[[`, "spikes")),
                  background_spikes(unit$rate, intervals, nuisances, duration, resolution, key))
  spikes <- record_spikes(spikes, unit$electrode, nuisances, resolution, key)
  seen <- spikes[spikes$recorded, ]
  seen <- seen[order(seen$tick, seen$seen), ]
  simulated(seen$tick, seen$seen, levels, duration, resolution,
            assembly_truth(planned, planted, spikes, unit, nuisances, resolution, key))
}

#' What is kept as the truth
#'
#' @param planned,planted What plan_assembly() and plant_assembly() give, for each assembly.
#' @param spikes All spikes that were fired, as record_spikes() gives them.
#' @noRd
assembly_truth <- function(planned, planted, spikes, unit, nuisances, resolution, key) {
  column <- function(name) vapply(planned, \(p) p[[name]], numeric(1))
  names_of <- function(numbers) as.character(unit$unit)[numbers]
  activations <- rbind(
    data.frame(assembly = integer(), activation = integer(), tick = numeric()),
    do.call(rbind, lapply(planted, `[[`, "activations"))
  )
  took_part <- as.list(unlist(lapply(planted, `[[`, "took_part"), recursive = FALSE))
  spikes <- spikes[!is.na(spikes$assembly), ]
  row.names(spikes) <- NULL
  assemblies <- data.frame(
    assembly = seq_along(planned), kind = vapply(planned, \(p) p$kind, character(1)),
    size = lengths(lapply(planned, `[[`, "members"))
  )
  assemblies$units <- lapply(planned, \(p) names_of(p$members))
  assemblies$lags <- lapply(planned, \(p) ticks_to_seconds(p$lag_ticks, resolution))
  assemblies$width <- ticks_to_seconds(column("width_ticks"), resolution)
  assemblies$count <- as.integer(column("count"))
  for (name in c("participation", "spikes")) assemblies[[name]] <- column(name)
  activations$time <- ticks_to_seconds(activations$tick, resolution)
  activations$tick <- NULL
  activations$units <- lapply(took_part, names_of)
  list(
    assemblies = assemblies, activations = activations,
    spikes = data.frame(
      assembly = spikes$assembly, activation = spikes$activation, unit = unit$unit[spikes$unit],
      time = ticks_to_seconds(spikes$tick, resolution),
      recorded = spikes$recorded & spikes$seen == spikes$unit
    ),
    units = unit, nuisances = nuisances, key = key
  )
}
