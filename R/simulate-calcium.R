# Recordings of calcium, with a wiring that is known.

#' Simulate a calcium recording of a larval zebrafish
#'
#' Neurons in regions of a brain, two frames a second, in one of two conditions between
#' which certain links change. It stands in for recordings of whole brains by light-sheet
#' microscopy: small, and with a wiring that is known. Or neurons that are wired as you
#' say.
#'
#' Every neuron has an activity that comes in bursts by itself (the map of Ricker 1954)
#' and is held down by what drives it,
#' \deqn{a_j(t+1) = a_j(t) \exp\left(r_j (1 - a_j(t)) - \sum_i w_{ij} (a_i(t) - 1)\right)}{
#' a[j](t + 1) = a[j](t) exp(r[j] (1 - a[j](t)) - sum of w[i, j] (a[i](t) - 1))}
#' with \eqn{r_j}{r[j]} uniform from 2.8 to 3.1. A frame is a step. A link with a delay of
#' \eqn{d} frames has \eqn{a_i(t + 1 - d)}{a[i](t + 1 - d)} instead. The mean of each
#' activity is about 1.
#'
#' Links, all of one strength: each neuron but the hubs has one cause in its own region.
#' The first neuron of each region is its hub: it drives eight of ten neurons of the
#' region, and one of ten elsewhere, drawn at random. With `condition = "stimulus"` the
#' hub of the first region drives, in addition, every neuron of the last one but its hub,
#' and the hub of the second region drives nothing outside its own.
#'
#' What the animal does is simulated as well. Two neurons of the last region, its second
#' and third, turn it to the left and to the right, and a turn halves from frame to frame:
#' \deqn{b(t+1) = b(t) / 2 + \tanh(a_{left}(t) - a_{right}(t))}{
#' b(t + 1) = b(t) / 2 + tanh(a[left](t) - a[right](t))}
#' with \eqn{b = 0} in the first frame. So which neurons drive the behaviour is known,
#' too.
#'
#' # From activity to what is seen
#' Without a `firing_rate`, activity itself makes the calcium jump. With one, a neuron
#' fires as a Poisson process whose rate in a frame is `firing_rate` times its activity,
#' and each spike makes the calcium rise and decay. At the time \eqn{s} after a spike its
#' calcium is \eqn{\exp(-s / decay) - \exp(-s / rise)}, divided by the highest value that this
#' takes, or just \eqn{\exp(-s / decay)} where `rise` is 0; so the calcium of a lone spike
#' reaches 1. It is looked at when a frame ends. Activity enters at the end of its frame,
#' and with a `rise` at its start. Where a neuron fires only a few spikes a frame, chance
#' hides most of its activity, and with it most links.
#'
#' Fluorescence follows the calcium \eqn{c}. Where there are spikes or saturation it is
#' \eqn{F = 1 + c}, or with a `half_saturation` \eqn{K} and the exponent `hill` \eqn{h},
#' as Hill (1910) has it,
#' \deqn{F = 1 + K \frac{c^h}{c^h + K^h}}{F = 1 + K c^h / (c^h + K^h)}
#' so that even a silent neuron is seen. Otherwise \eqn{F = c}. The result is
#' \eqn{F / F_{10} - 1}{F / F10 - 1}, where \eqn{F_{10}}{F10} is the trace's tenth
#' percentile, with noise. Before the first frame, activity and firing were steady at
#' their means.
#'
#' @param neurons Number of neurons, at least three a region; the first regions have one
#'   more where they cannot have as many each.
#' @param regions Names of two or more regions.
#' @param condition `"rest"` or `"stimulus"`. With the same seed (and the same other
#'   arguments) both are recordings of the same animal.
#' @param strength Strength of all links, from 0 to 1, but for those of a `wiring` that
#'   has strengths of its own.
#' @param decay Time constant of the decay of calcium, in seconds.
#' @param noise Standard deviation of the noise, as a share of that of each trace, and of
#'   that of the turning.
#' @param wiring `NULL` for the links described above, or which neuron drives which: a
#'   [wiring()], or what `wiring()` makes one of. The strengths of the links into a
#'   neuron together are at most 2; driven harder, neurons fall silent. Then there are no
#'   regions, conditions and turns, and `neurons` is left out.
#' @param frame_rate Frames in a second, in Hz. As a frame is a step of the activity,
#'   calcium decays over more steps where there are more frames.
#' @param firing_rate `NULL`, or the mean rate at which neurons spike, in Hz, at most
#'   1000.
#' @param rise Time constant of the rise of calcium, in seconds, shorter than `decay`; 0
#'   for a jump.
#' @param half_saturation Calcium at which the indicator shows half of what it can show,
#'   in multiples of a lone spike's (or of activity of 1); from 0.001 to 1e6, or `Inf` for
#'   an indicator that does not saturate.
#' @param hill Exponent of the saturation, from 0.5 to 5. The GCaMP6 indicators have
#'   about 2 to 3 (Chen et al. 2013).
#' @param spikes Whether the result has the attribute `spike_trains`; needs a
#'   `firing_rate`.
#' @inheritParams simulate_coupled_maps
#'
#' @return Numeric matrix `steps` x neurons, of at most 2 GB, of relative fluorescence,
#'   with the attributes `truth`, `delay` and `wiring` as [simulate_coupled_maps()] gives
#'   them (in this condition), and `frame_rate`, in Hz. Without a `wiring` also `region`
#'   (factor, an element a neuron), `hubs` (names, one for each region), `turning` (a
#'   number a frame, above 0 to the left) and `turned_by` (names of the neurons `left` and
#'   `right`). With `spikes = TRUE` also `spike_trains`: the spikes that were drawn, as
#'   [spike_trains()], with frame `k` from `(k - 1) / frame_rate` to `k / frame_rate`
#'   seconds. [set.seed()] decides all.
#' @references
#' Chen TW, Wardill TJ, Sun Y, et al. (2013). Ultrasensitive fluorescent proteins for
#' imaging neuronal activity. *Nature*, 499, 295-300. \doi{10.1038/nature12354}
#'
#' Hill AV (1910). The possible effects of the aggregation of the molecules of haemoglobin
#' on its dissociation curves. *Journal of Physiology*, 40, iv-vii.
#'
#' Ricker WE (1954). Stock and recruitment. *Journal of the Fisheries Research Board of
#' Canada*, 11, 559-623. \doi{10.1139/f54-039}
#'
#' Watanakeesuntorn W, Takahashi K, Ichikawa K, Park J, Sugihara G, Takano R, Haga J,
#' Pao GM (2020). Massively parallel causal inference of whole brain dynamics at single
#' neuron resolution. *ICPADS 2020*, 196-205. \doi{10.1109/ICPADS51040.2020.00035}
#' @seealso [wiring()], [truth_links()], [causal_map()], [simulate_coupled_maps()]
#' @examples
#' set.seed(1)
#' rest <- simulate_calcium(300)
#' set.seed(1)
#' stimulus <- simulate_calcium(300, condition = "stimulus")
#' table(attr(rest, "region"))
#' # Links that the stimulus makes and undoes:
#' table(attr(stimulus, "truth") - attr(rest, "truth"))
#' # The neurons that turn the fish, and how far it turns:
#' attr(rest, "turned_by")
#' range(attr(rest, "turning"))
#' # Chains and hidden drivers, seen through a slow, saturating indicator:
#' set.seed(1)
#' x <- simulate_calcium(300, wiring = c(chain = 3, hidden_driver = 2), frame_rate = 10,
#'                       firing_rate = 2, rise = 0.05, decay = 0.5, half_saturation = 5,
#'                       hill = 2, spikes = TRUE)
#' attr(x, "spike_trains")
#' head(truth_links(x))
#' @export
simulate_calcium <- function(steps = 1600, neurons = 60,
                             regions = c("tectum", "habenula", "pallium", "hindbrain"),
                             condition = c("rest", "stimulus"), strength = 0.2, decay = 1.5,
                             noise = 0.03, transient = 100, wiring = NULL, frame_rate = 2,
                             firing_rate = NULL, rise = 0, half_saturation = Inf, hill = 1,
                             spikes = FALSE) {
  call <- rlang::current_env()
  steps <- check_count(steps)
  own <- is.null(wiring)
  if (!own) refuse_regions(!missing(neurons), !missing(regions), !missing(condition), call)
  condition <- check_choice(condition)
  strength <- check_number(strength, min = 0, max = 1)
  noise <- check_number(noise, min = 0)
  transient <- check_count(transient, min = 0, max = 1e7)
  indicator <- check_indicator(decay, rise, half_saturation, hill, frame_rate, call)
  firing_rate <- check_firing_rate(firing_rate, spikes, call)
  region <- if (own) check_regions(neurons, regions, steps, call)
  key <- random_key()
  wiring <- if (own) {
    region_wiring(region, condition, strength, key, call)
  } else {
    wiring_of(wiring, strength, most_into = 2, call)
  }
  check_steps(steps, wiring, call)
  n <- length(wiring$series)
  if (spikes) {
    seconds <- steps / indicator$frame_rate
    check_spikes_expected(firing_rate * seconds * sum(!wiring$hidden), call)
  }
  # The two conditions are two recordings: other starts, other noise.
  take <- match(condition, c("rest", "stimulus"))
  activity <- run_wired(wiring, "ricker", 2.8 + 0.3 * random_uniform(n, key, sim_stream(2)),
                        0.1 + 0.8 * random_uniform(n, key, sim_stream(3, take)), steps,
                        transient, call)
  turning <- if (own) turning_of(activity, region, noise, key, take)
  seen <- see_calcium(activity, indicator, firing_rate, spikes, key, take)
  x <- with_wiring(with_noise(seen$trace, noise, key, sim_stream(4, take)), wiring, call)
  attr(x, "frame_rate") <- indicator$frame_rate
  if (own) {
    attr(x, "region") <- region
    attr(x, "hubs") <- colnames(x)[match(levels(region), region)]
  }
  attributes(x)[names(turning)] <- turning
  if (spikes) {
    attr(x, "spike_trains") <- drawn_trains(seen$times, colnames(x), steps,
                                            indicator$frame_rate, call)
  }
  x
}

# ---- The brain of regions and hubs -----------------------------------------------------

check_regions <- function(neurons, regions, steps, call) {
  if (!(is.character(regions) && length(regions) >= 2L && !anyNA(regions) &&
          anyDuplicated(regions) == 0L)) {
    abort_arg("regions", "two or more different names", describe(regions), call = call)
  }
  n <- check_count(neurons, "neurons", min = 3 * length(regions), max = most_series,
                   call = call)
  factor(regions[sort(rep_len(seq_along(regions), n))], regions)
}

refuse_regions <- function(neurons, regions, condition, call) {
  given <- c(neurons = neurons, regions = regions, condition = condition)
  if (!any(given)) return(invisible())
  abort_arg(names(given)[given][[1L]], "left out where there is a `wiring`", "given",
            "A wiring says how many neurons there are, and has no regions.", call = call)
}

region_wiring <- function(region, condition, strength, key, call) {
  links <- strength * calcium_wiring(region, condition, key)
  dimnames(links) <- rep(list(series_names("n", length(region))), 2L)
  make_wiring(links, arg = "strength", call = call)
}

#' The attributes `turning` and `turned_by`
#' @noRd
turning_of <- function(activity, region, noise, key, take) {
  by <- which(as.integer(region) == nlevels(region))[2:3]
  turning <- turns(activity[, by, drop = FALSE])
  list(turning = c(with_noise(turning, noise, key, sim_stream(6, take))),
       turned_by = rlang::set_names(colnames(activity)[by], c("left", "right")))
}

#' How far a fish turns in each frame
#' @param activity Matrix of steps x the neurons that turn it to the left and to the
#'   right.
#' @return Matrix of one column.
#' @noRd
turns <- function(activity) {
  push <- tanh(activity[, 1L] - activity[, 2L])
  before <- c(0, push[-length(push)])
  matrix(stats::filter(before, 0.5, "recursive"))
}

#' Links of the neurons of regions
#' @return Matrix of 0 and 1 [cause, effect].
#' @noRd
calcium_wiring <- function(region, condition, key) {
  n <- length(region)
  of <- as.integer(region)
  hub <- match(levels(region), region)
  same <- outer(of, of, `==`)
  local <- same
  local[hub, ] <- local[, hub] <- FALSE
  links <- draw_causes(local, 1, key)
  reach <- matrix(random_uniform(n * length(hub), key, sim_stream(5)), length(hub))
  links[hub, ] <- reach < ifelse(same[hub, ], 0.8, 0.1)
  if (condition == "stimulus") {
    links[hub[[1L]], of == max(of)] <- 1
    links[hub[[2L]], of != 2L] <- 0
  }
  links[, hub] <- 0
  links
}

# ---- Spikes, calcium and fluorescence ----------------------------------------------------

check_indicator <- function(decay, rise, half_saturation, hill, frame_rate, call) {
  decay <- check_number(decay, above = 0, max = 1e6, call = call)
  rise <- check_number(rise, min = 0, call = call)
  if (rise >= decay) {
    abort_arg("rise", sprintf("below `decay`, which is %s s", exact(decay)),
              sprintf("%s s", exact(rise)), call = call)
  }
  if (!identical(half_saturation, Inf)) {
    half_saturation <- check_number(half_saturation, min = 1e-3, max = 1e6, call = call)
  }
  list(decay = decay, rise = rise, half_saturation = half_saturation,
       hill = check_number(hill, min = 0.5, max = 5, call = call),
       frame_rate = check_number(frame_rate, min = 1e-3, max = 1e5, call = call))
}

check_firing_rate <- function(firing_rate, spikes, call) {
  check_flag(spikes, call = call)
  if (!is.null(firing_rate)) {
    return(check_number(firing_rate, above = 0, max = 1000, call = call))
  }
  if (spikes) {
    abort_arg("spikes", "FALSE without a `firing_rate`", "TRUE",
              "Spikes are drawn where there is a rate, such as `firing_rate = 2`.",
              call = call)
  }
  NULL
}

check_spikes_expected <- function(expected, call) {
  if (expected <= most_spikes) return(invisible())
  abort_arg("spikes", sprintf("FALSE where more than %s are expected", commas(most_spikes)),
            sprintf("TRUE, with %s expected", format(expected, digits = 3)),
            "Take fewer `steps` or a lower `firing_rate`.", call = call)
}

#' What is seen of neurons, without noise
#' @param activity Matrix of steps x neurons.
#' @return List of `trace`, a matrix like `activity`, and `times` of spikes, in frames, a
#'   vector for each neuron where they are to be kept.
#' @noRd
see_calcium <- function(activity, indicator, firing_rate, keep, key, take) {
  lit <- !is.null(firing_rate) || is.finite(indicator$half_saturation)
  times <- if (keep) vector("list", ncol(activity))
  for (j in seq_len(ncol(activity))) {
    calcium <- if (is.null(firing_rate)) {
      calcium_of_activity(activity[, j], indicator)
    } else {
      at <- rescaled_spikes(activity[, j] * (firing_rate / indicator$frame_rate), key,
                            sim_stream(6 + take, j))
      if (keep) times[[j]] <- at
      calcium_of_spikes(at, nrow(activity), firing_rate, indicator)
    }
    fluorescence <- if (lit) 1 + shown(calcium, indicator) else calcium
    activity[, j] <- fluorescence / stats::quantile(fluorescence, 0.1) - 1
  }
  list(trace = activity, times = times)
}

#' Times of a Poisson process whose expected number in each frame is known, in frames
#' @noRd
rescaled_spikes <- function(expected, key, stream) {
  before <- c(0, cumsum(expected))
  n <- length(expected)
  arrivals <- unit_arrivals(before[[n + 1L]], key, stream)
  frame <- findInterval(arrivals, before, all.inside = TRUE)
  frame - 1 + (arrivals - before[frame]) / expected[frame]
}

#' A sum that decays from frame to frame with a time constant, in seconds
#' @param jump What each frame adds.
#' @param level The sum before the first frame.
#' @noRd
decaying <- function(jump, time_constant, level, frame_rate) {
  kept <- exp(-1 / frame_rate / time_constant)
  c(stats::filter(jump, kept, "recursive", init = level))
}

#' What a lone spike's calcium reaches before it is divided by it
#' @noRd
highest_rise <- function(decay, rise) {
  at <- log(decay / rise) * decay * rise / (decay - rise)
  exp(-at / decay) - exp(-at / rise)
}

calcium_of_activity <- function(activity, indicator) {
  rate <- indicator$frame_rate
  # The level that steady activity of 1 would have led to before the first frame.
  level <- \(time_constant) 1 / (1 - exp(-1 / rate / time_constant))
  sum_of <- \(time_constant) decaying(activity, time_constant, level(time_constant), rate)
  if (indicator$rise == 0) return(sum_of(indicator$decay))
  at_end <- \(time_constant) exp(-1 / rate / time_constant) * sum_of(time_constant)
  (at_end(indicator$decay) - at_end(indicator$rise)) /
    highest_rise(indicator$decay, indicator$rise)
}

calcium_of_spikes <- function(at, frames, firing_rate, indicator) {
  rate <- indicator$frame_rate
  frame <- floor(at) + 1
  left <- (frame - at) / rate
  sum_of <- \(time_constant) {
    jump <- numeric(frames)
    jump[unique(frame)] <- rowsum(exp(-left / time_constant), frame, reorder = FALSE)
    decaying(jump, time_constant, firing_rate * time_constant, rate)
  }
  if (indicator$rise == 0) return(sum_of(indicator$decay))
  (sum_of(indicator$decay) - sum_of(indicator$rise)) /
    highest_rise(indicator$decay, indicator$rise)
}

#' Fluorescence that calcium adds
#' @noRd
shown <- function(calcium, indicator) {
  half <- indicator$half_saturation
  calcium <- pmax(calcium, 0)
  if (is.infinite(half)) calcium else half / (1 + (half / calcium)^indicator$hill)
}

#' Spikes that were drawn, as spike trains
#' @noRd
drawn_trains <- function(times, names, steps, frame_rate, call) {
  resolution <- 1e-6
  end <- ticks_to_seconds(ceiling(steps / frame_rate / resolution), resolution)
  build_spike_trains(
    round_to_ticks(unlist(times) / frame_rate, resolution),
    structure(rep(seq_along(times), lengths(times)), levels = names, class = "factor"),
    start = 0, end = end, resolution = resolution, call = call
  )
}
