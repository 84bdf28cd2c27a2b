# Activations of given assemblies in another recording.

#' Activations of assemblies in another recording
#'
#' Assemblies that were found in one recording are looked for in another one with the same units:
#' in the sleep after a session, in another task, under a drug. How often each is active there is
#' compared with what the units' own firing gives.
#'
#' # Method
#' An activation is what it was in the recording of `assemblies`: the members' lags and windows,
#' the weights that numbers of spikes have, and the threshold are those that were learnt there
#' (see [find_assemblies()]). Nothing is fitted to `x`, so that numbers of both recordings can be
#' compared, and a recording without any activation is as good as one with many. Population bursts
#' of `x` are left out, as they were in the first recording.
#'
#' The null is that the members fire in `x` as they do, but independently. Members are moved apart
#' in time in `n_surrogates` ways: in random order, each by one and a half to three and a half of
#' the widest windows from the one before it, around trials (by less in trials too short for that).
#' Rates that change over times longer than that remain, and time passes faster where other units
#' fire more, so that rates that rise and fall together raise `expected` as well. `expected` is
#' the mean number of activations, and p the share of ways (`x` itself is one) that have as many
#' as `x`. Each assembly has a p value of its own: use [stats::p.adjust()] where there are many.
#' The ways are the same in each call; no random numbers are drawn.
#'
#' # Reading the result
#' * `count` minus `expected` is what is more than chance; `rate` is that per second, and
#'   `rate_before` the same in the recording of `assemblies`. In that recording itself activations
#'   are those of `assemblies`, but assemblies were chosen there because they are active: expect
#'   fewer elsewhere. Events that assemblies were `locked_to` are not known here, neither in the
#'   recording of `assemblies` nor in `x`.
#' * Units must be the same cells. A drifting electrode loses an assembly as forgetting does:
#'   compare the rates and waveforms of members in both recordings.
#' * Replay may be faster than behaviour. Activations are looked for at the lags that were found, so
#'   an assembly that is played much faster is not counted. Those that are counted have a `speed` in
#'   `as.data.frame(what = "activations")`, here and where the assembly was found (see
#'   [find_assemblies()]): compare the medians of both. Activations near the speed of the lags are
#'   found more often than others, so that the true difference may be larger.
#' * What moves all members together within some windows (a stimulus, ripples) raises `count`
#'   above `expected`, as it does in [find_assemblies()]. In simulated recordings without the
#'   assembly p was 0.05 or less in 0 to 7 % where units were independent, at 0.5 to 10 Hz, and
#'   in 12 to 25 % for windows of 0.1 s and more where bursts or a rate were shared for some
#'   tenths of a second.
#'
#' @param x The other recording: [spike_trains()], or anything [as_spike_trains()] takes. Units
#'   are looked for by name. A unit that is silent in `x` must be among its units all the same:
#'   `spike_trains(time, factor(unit, levels = all_units))`.
#' @param assemblies What [find_assemblies()] gave, or rows of it.
#' @param n_surrogates In how many ways members are moved apart; p values are at least
#'   `1 / (n_surrogates + 1)`.
#' @param max_memory Bytes that the work may hold: some 100 for each spike of both recordings.
#' @return A data frame of classes `assembly_activations` and `assemblies` with a row for each of
#'   `assemblies`. `assembly`, `size`, `units`, `lags`, `widths`, `width` and `artefact` are theirs.
#'   Those of `x` are `count`, `expected`, `first_half`, `second_half`, `rate`, `rate_before`
#'   (activations per second beyond `expected`), `p`, `participation`, `times` and `spikes`, as
#'   [find_assemblies()] has them. Attributes: `recording` (`x`), `n_surrogates`, `left_out` and
#'   `bursts` (of `x`).
#'
#'   Whatever takes assemblies takes this: [activation_rate()], [as_spike_trains()], [psth()],
#'   the pictures of [autoplot.assemblies()] and `as.data.frame(what = "activations")` show
#'   activations in `x`.
#' @section Errors:
#' For members that are no units of `x`, which are named, for a camera whose frames are not those
#' of `assemblies` (`synfire_error_argument`), and for work beyond `max_memory`
#' (`synfire_error_budget`).
#' @references
#' Wilson MA, McNaughton BL (1994). Reactivation of hippocampal ensemble memories during sleep.
#' *Science*, 265, 676-679. \doi{10.1126/science.8036517}
#'
#' Peyrache A, Khamassi M, Benchenane K, Wiener SI, Battaglia FP (2009). Replay of rule-learning
#' related neural patterns in the prefrontal cortex during sleep. *Nature Neuroscience*, 12,
#' 919-926. \doi{10.1038/nn.2337}
#' @seealso [find_assemblies()].
#' @examples
#' set.seed(1)
#' x <- simulate_assemblies(duration = 120, units = 15, assemblies = c("synchrony", "sequence"),
#'                          size = 4, count = 60)
#' # The first minute as behaviour, the second one as sleep
#' found <- find_assemblies(x[time = c(0, 60)], max_lag = 0.1, n_surrogates = 19, threads = 2)
#' asleep <- assembly_activations(x[time = c(60, 120)], found)
#' asleep
#' summary(asleep)
#' activation_rate(asleep, 10)
#' @export
assembly_activations <- function(x, assemblies, n_surrogates = 99, max_memory = 4e9) {
  check_given(x = "a recording", assemblies = "what `find_assemblies()` gives")
  check_found_before(assemblies)
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  n <- check_count(n_surrogates, "n_surrogates", max = 1e6)
  max_memory <- check_memory(max_memory, min = 1e7)
  check_members_there(assemblies, x)
  before <- attr(assemblies, "recording", exact = TRUE)
  there <- assembly_bin(assemblies, x)
  check_same_frames(assemblies, x, there$bin)
  if (!is.null(attr(assemblies, "camera", exact = TRUE))) x <- first_frames(x, there$bin)
  in_bins <- \(seconds) as.integer(round(seconds / bin_seconds(assemblies)))
  groups <- Map(\(units, lags, widths) {
    list(unit = match(units, levels(before$unit)), there = match(units, levels(x$unit)),
         lag = in_bins(lags), width = in_bins(widths))
  }, unname(assemblies$units), assemblies$lags, assemblies$widths)
  found <- .Call(r_assembly_activations, list(from = trains_of(before), to = trains_of(x)), groups,
                 list(from = assembly_bin(assemblies, before), to = there,
                      lags = max(0L, unlist(lapply(groups, `[[`, "lag"))),
                      widest = max(1L, unlist(lapply(groups, `[[`, "width"))),
                      moves = n, max_memory = max_memory))
  found <- finish_status(found, "finding activations", "Take a shorter recording.",
                         limit_of = "spikes")
  new_assembly_activations(found, assemblies, x, n, there$bin)
}

#' All of a table that is taken to another recording
#' @noRd
check_found_before <- function(assemblies) {
  check_assemblies_table(assemblies)
  if (nrow(assemblies) == 0L) return(invisible())
  parts <- c(assemblies$lags, assemblies$widths, list(assemblies$count, assemblies$expected))
  about <- attributes(assemblies)
  size <- lengths(assemblies$units)
  sound <- inherits(about$recording, "spike_trains") &&
    is_plain_numeric(about$window) && all(about$window > 0) &&
    is_number(about$left_out) && about$left_out >= 0 &&
    all(vapply(parts, \(v) is_plain_numeric(v) && all(is.finite(v)), NA)) &&
    all(size %in% 2:64) && identical(size, lengths(assemblies$lags)) &&
    identical(size, lengths(assemblies$widths))
  refuse_if(!isTRUE(sound), "assemblies", "what `find_assemblies()` gives",
            "one whose parts were changed")
  check_spike_trains(about$recording, "assemblies")
}

#' @noRd
check_members_there <- function(assemblies, x) {
  there <- vapply(assemblies$units, \(units) all(units %in% levels(x$unit)), NA)
  lost <- setdiff(unlist(assemblies$units), levels(x$unit))
  refuse_if(length(lost) > 0L, "x",
            "a recording with all members among its units",
            sprintf("one without %s of %s", shown_units(lost),
                    some(tolower(assembly_names(assemblies, which(!there))))),
            paste("A silent unit is one, too: make `x` with",
                  "`spike_trains(time, factor(unit, levels = all_units))`. Or choose the rows of",
                  "assemblies whose members are there."))
}

#' What bin_seconds() gives, in ticks of a recording, and the steps of bursts there
#' @noRd
assembly_bin <- function(assemblies, x) {
  resolution <- attr(x, "resolution", exact = TRUE)
  bin <- max(1, round_to_ticks(bin_seconds(assemblies), resolution))
  list(bin = bin, step = max(1, round(0.05 / resolution / bin)) * bin)
}

#' Frames of a camera must be those of the assemblies; other times must be as fine as their bins
#' @noRd
check_same_frames <- function(assemblies, x, bin) {
  frame <- frame_ticks(x)
  camera <- attr(assemblies, "camera", exact = TRUE)
  off <- frame > 1.01 * bin || !is.null(camera) && frame > 0 && frame < 0.99 * bin
  refuse_if(off, "x", sprintf("a recording with times as fine as those of `assemblies` (%s)",
                              duration_text(bin_seconds(assemblies))),
            sprintf("one with a time every %s",
                    duration_text(ticks_to_seconds(frame, attr(x, "resolution", exact = TRUE)))))
}

#' @param found What the core found.
#' @noRd
new_assembly_activations <- function(found, assemblies, x, n, bin) {
  groups <- lapply(found$groups, \(g) counted_once(in_order_of_time(g, x), x, bin))
  columns <- unclass(plain_table(assemblies))[c("assembly", "size", "units", "lags", "widths",
                                                "width")]
  before <- attributes(assemblies)
  per_second <- \(of, x, left_out) {
    (of$count - of$expected) / (observed_seconds(x) * (1 - left_out))
  }
  own <- activation_columns(groups, x, p = vapply(groups, \(g) g$score, 0))
  rates <- list(rate = per_second(own, x, found$left_out),
                rate_before = per_second(assemblies, before$recording, before$left_out))
  new_table(c(columns, own, rates, list(artefact = assemblies$artefact)),
            c("assembly_activations", "assemblies"),
            list(recording = x, n_surrogates = n, left_out = found$left_out,
                 bursts = burst_table(found$bursts, attr(x, "resolution", exact = TRUE)),
                 window = before$window, camera = before$camera))
}

# ---- In words ------------------------------------------------------------------------

activations_title <- function(x) {
  about <- attributes(x)
  c(sprintf("# activations of %s in another recording: %s, %s",
            rows_text(x, "assembly", "assemblies"),
            counted(nlevels(about$recording$unit), "unit"),
            duration_text(observed_seconds(about$recording))),
    sprintf("# expected where members fire independently, moved apart in %s",
            counted(about$n_surrogates, "way")), bursts_words(about))
}

#' @rdname assembly_activations
#' @param n How many assemblies to print, or to speak of.
#' @param ... Not used; must be empty.
#' @export
print.assembly_activations <- function(x, n = 10, ...) {
  n <- check_count(n, min = 0, infinite = TRUE)
  check_table(x, c(assemblies_columns, "rate", "rate_before"), "assembly_activations", "x")
  cat(activations_title(x), sep = "\n")
  print_assemblies(x, n, \(rows) {
    data.frame(count = x$count[rows], expected = signif(x$expected[rows], 3),
               rate = signif(round(x$rate[rows], 4), 3),
               rate_before = signif(round(x$rate_before[rows], 4), 3), p = signif(x$p[rows], 3))
  })
  invisible(x)
}

#' @rdname assembly_activations
#' @param object What `assembly_activations()` gave.
#' @return `summary()` says in words how active assemblies are.
#' @export
summary.assembly_activations <- function(object, n = 5, ...) {
  check_no_dots()
  n <- check_count(n, min = 0, infinite = TRUE)
  check_table(object, c(assemblies_columns, "rate", "rate_before"), "assembly_activations",
              "object")
  rows <- utils::head(seq_len(nrow(object)), n)
  active <- sum(object$p <= 0.05)
  words <- c(
    sprintf("%s of %s %s more active than chance gives, with a p value of 0.05 or less each.",
            commas(active), counted(nrow(object), "assembly", "assemblies"),
            if (active == 1L) "is" else "are"),
    vapply(rows, \(row) paste("-", activity_sentence(object, row)), ""),
    if (nrow(object) > length(rows)) {
      sprintf("And %s.", counted(nrow(object) - length(rows), "more", "more"))
    }
  )
  structure(list(title = activations_title(object), words = words),
            class = "summary.assemblies")
}

#' One assembly in the other recording in words
#' @noRd
activity_sentence <- function(x, row) {
  sprintf(paste("Assembly %d (%s): %s where %s %s expected by chance (p %s); beyond chance %s a",
                "second, and %s where it was found.%s%s"), x$assembly[[row]],
          units_said(x$units[[row]]), counted(x$count[[row]], "activation"),
          commas_short(x$expected[[row]]), if (round(x$expected[[row]], 1) == 1) "is" else "are",
          search_p_text(x$p[[row]], attr(x, "n_surrogates")), format(signif(x$rate[[row]], 2)),
          format(signif(x$rate_before[[row]], 2)), speed_text(x, row),
          artefact_text(x$artefact[row]))
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.assembly_activations <- function(x, ...) {
  begin_method(x)
  tidy_frame(assemblies = nrow(x), active = sum(x$p <= 0.05), activations = sum(x$count),
             n_surrogates = attr(x, "n_surrogates", exact = TRUE))
}
