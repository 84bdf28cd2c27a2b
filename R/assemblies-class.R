# The table of assemblies: printing, what it says in words, other tables.

assemblies_columns <- c("assembly", "size", "units", "lags", "widths", "width", "count",
                        "expected", "first_half", "second_half", "p", "participation", "times",
                        "spikes")

check_assemblies_table <- function(x, arg = rlang::caller_arg(x)) {
  check_table(x, assemblies_columns, "find_assemblies", arg)
}

#' @export
check_sound.assemblies <- function(x, arg) check_assemblies_table(x, arg)

#' Members and lags of an assembly in one line
#' @noRd
lags_text <- function(units, lags) {
  paste0(paste0(seen_names(units), " +", signif(lags * 1e3, 4), collapse = ", "), " ms")
}

assemblies_title <- function(x) {
  about <- attributes(x)
  conditions <- nlevels(about$locked_to$condition)
  c(sprintf("# %s in %s", rows_text(x, "assembly", "assemblies"),
            counted(nlevels(about$recording$unit), "unit")),
    sprintf("# lags up to %s, %s, any false report with a probability of at most %s",
            duration_text(about$max_lag), counted(about$n_surrogates, "surrogate"),
            exact(about$alpha)),
    if (!is.null(about$camera)) sprintf(
      "# frames of %s: a run of frames of a unit is one event, %s of %s",
      duration_text(about$camera$frame), commas(nrow(about$recording)), commas(about$camera$spikes)
    ),
    bursts_words(about),
    if (!is.null(about$locked_to)) sprintf(
      "# beyond the response of each unit to %s%s", counted(nrow(about$locked_to), "event"),
      if (conditions > 1L) sprintf(" in %d conditions", conditions) else ""
    ))
}

#' What was not looked at
#' @noRd
bursts_words <- function(about) {
  if (NROW(about$bursts) == 0L) return(NULL)
  sprintf("# without %s, %s of the time", counted(nrow(about$bursts), "population burst"),
          percent(about$left_out))
}

#' @rdname find_assemblies
#' @param ... Not used; must be empty.
#' @export
format.assemblies <- function(x, ...) {
  check_assemblies_table(x)
  as.character(mapply(lags_text, x$units, x$lags, USE.NAMES = FALSE))
}

#' @rdname find_assemblies
#' @param n How many assemblies to print, or to speak of.
#' @export
print.assemblies <- function(x, n = 10, ...) {
  n <- check_count(n, min = 0, infinite = TRUE)
  check_assemblies_table(x)
  cat(assemblies_title(x), sep = "\n")
  rows <- print_assemblies(x, n, \(rows) {
    out <- data.frame(size = x$size[rows], width = duration_text(x$width[rows]),
                      count = x$count[rows], expected = signif(x$expected[rows], 3),
                      p = signif(x$p[rows], 3))
    if (has_stability(x)) out$stable <- paste(stable_members(x, rows), "of", x$size[rows])
    out
  })
  if (length(rows)) {
    rows <- rows[!is.na(x$artefact[rows])]
    cat(words_wrapped(sprintf("# sorting artefact in assembly %d: %s", x$assembly[rows],
                              x$artefact[rows])), sep = "\n")
  }
  if (nrow(x) == 0L) cat(strwrap(no_assembly_words(x), min(getOption("width"), 90)), sep = "\n")
  invisible(x)
}

#' The first rows of a table of assemblies, with columns from a function of rows and the members
#' @noRd
print_assemblies <- function(x, n, columns) {
  rows <- utils::head(seq_len(nrow(x)), n)
  if (length(rows)) {
    print_left(columns(rows), list("members and lags" = lapply(rows, \(row) {
      lags <- signif(x$lags[[row]] * 1e3, 4)
      comma <- rep(c("", ", "), c(1L, length(lags) - 1L))
      unit <- rep(c("", " ms"), c(length(lags) - 1L, 1L))
      paste0(comma, seen_names(x$units[[row]]), " +", lags, unit)
    })))
    more_line(nrow(x) - length(rows))
  }
  rows
}

# ---- In words ------------------------------------------------------------------------

#' @rdname find_assemblies
#' @param object What `find_assemblies()` gave.
#' @return `summary()` says in words what was found, and what that means.
#' @export
summary.assemblies <- function(object, n = 5, ...) {
  begin_method(object)
  n <- check_count(n, min = 0, infinite = TRUE)
  structure(list(title = assemblies_title(object), words = assemblies_words(object, n)),
            class = "summary.assemblies")
}

#' @export
print.summary.assemblies <- function(x, ...) {
  print_words(x$title, x$words)
  invisible(x)
}

#' What it means that no assembly is there
#' @noRd
no_assembly_words <- function(x) {
  if ((attr(x, "rows", exact = TRUE) %||% 0L) > 0L) {
    return("None of the assemblies that were found is among these rows.")
  }
  best <- attr(x, "best", exact = TRUE)
  if (is.null(best)) return(not_looked_words(attr(x, "recording", exact = TRUE)))
  window <- attr(x, "window", exact = TRUE)
  none <- sprintf(paste(
    "No three units stand out together, at any lag up to %s and any width from %s to %s, from",
    "what chance gives in %s."
  ), duration_text(attr(x, "max_lag")), duration_text(min(0.001, window)),
  duration_text(max(0.001, window)), counted(attr(x, "n_surrogates"), "surrogate"))
  if (!is.finite(best[["score"]])) return(none)
  nearest <- signif(best[["p"]], 2)
  paste(none, if (best[["p"]] > attr(x, "alpha", exact = TRUE) * (1 + 1e-9)) {
    sprintf("What comes nearest has a p value of %s.", nearest)
  } else {
    sprintf(paste("A group has a p value of %s, but fewer than three of its units stand out when",
                  "each is looked at by itself."), nearest)
  })
}

#' Why nothing was looked for
#' @noRd
not_looked_words <- function(recording) {
  n <- nlevels(recording$unit)
  if (n < 3L) return(sprintf(paste(
    "Assemblies have at least three units. The recording has %s, so none were looked for;",
    "`cross_correlogram()` is for pairs."
  ), if (n == 0L) "none" else counted(n, "unit")))
  paste0("There are no spikes", if (!is.null(attr(recording, "trials"))) " in the trials",
         ", so there was nothing to look at.")
}

assemblies_words <- function(x, n) {
  if (nrow(x) == 0L) return(no_assembly_words(x))
  rows <- utils::head(seq_len(nrow(x)), n)
  spoilt <- sum(!is.na(x$artefact))
  c(sprintf("%s stand%s out from what chance gives%s.",
            counted(nrow(x), "group of units", "groups of units"), if (nrow(x) == 1L) "s" else "",
            if (spoilt == 0L) "" else {
              sprintf("; an artefact of spike sorting is in %s",
                      if (nrow(x) == 1L) "it" else paste(commas(spoilt), "of them"))
            }),
    vapply(rows, \(row) paste("-", assembly_sentence(x, row)), ""),
    if (nrow(x) > length(rows)) sprintf("And %s.", counted(nrow(x) - length(rows), "more", "more")),
    relation_words(x),
    if (spoilt > 0L) paste(
      "Units of one cell are together whatever the cell does, and count as two members. Keep",
      "one of them with `x[unit = ]`, leave out noise, and search again; `check_recording()`",
      "says more."),
    stability_advice(x),
    paste("The p values are for whole assemblies, over all units, lags and widths together. They",
          "do not say what makes the units fire together: each other, or a common input."))
}

#' One assembly in words
#' @noRd
assembly_sentence <- function(x, row) {
  lags <- x$lags[[row]]
  sprintf(paste("Assembly %d: %s fire %s, each within %s; %s activations where %s %s expected by",
                "chance (p %s). %s%s %s%s%s%s%s"), x$assembly[[row]], units_said(x$units[[row]]),
          if (max(lags) <= x$width[[row]]) "together" else
            sprintf("in sequence over %s", duration_text(max(lags))),
          widths_text(x$widths[[row]]), commas(x$count[[row]]), commas_short(x$expected[[row]]),
          if (round(x$expected[[row]], 1) == 1) "is" else "are",
          search_p_text(x$p[[row]], attr(x, "n_surrogates")),
          takes_part(x$units[[row]], x$participation[[row]]), stability_text(x, row),
          halves_text(x$first_half[[row]], x$second_half[[row]], x$expected[[row]]),
          speed_text(x, row), rhythm_text(x$times[[row]], max(lags)),
          locked_text(attr(x, "recording"), x$times[[row]], max(lags), attr(x, "locked_to")),
          artefact_text(x$artefact[row]))
}

#' Whether most activations follow the one before after the same time, shorter than the longest
#' lag: then lags are known up to that time alone
#' @noRd
rhythm_text <- function(times, longest) {
  apart <- diff(times)
  apart <- apart[apart < longest]
  if (length(apart) < 10L || length(apart) < length(times) / 3) return("")
  period <- stats::median(apart)
  if (mean(abs(apart - period) <= period / 6) < 0.5) return("")
  sprintf(paste(" Many follow each other after about %s: a rhythm, in which a member that comes a",
                "whole period later cannot be told from one that comes earlier."),
          duration_text(period))
}

#' Whether activations come at some times after events, or in trials, more than at others
#' @param events Table of events, or `NULL` where they are not known.
#' @noRd
locked_text <- function(recording, times, longest, events = NULL) {
  trials <- trial_ticks(recording)
  if (is.null(trials) && is.null(events) || length(times) < 10L) return("")
  resolution <- attr(recording, "resolution")
  start <- events$time %||% ticks_to_seconds(trials$start, resolution)
  length <- ticks_to_seconds(epoch_ticks(round_to_ticks(start, resolution),
                                         stretches(recording)), resolution)
  # An activation that begins late in a trial is not whole.
  room <- if (is.null(events)) min(length) - longest else stats::median(length)
  at <- findInterval(times, start)
  after <- (times - c(NA, start)[at + 1L])[c(FALSE, length >= room)[at + 1L]]
  after <- after[after <= room]
  if (room <= 0 || length(after) < 10L) return("")
  p <- suppressWarnings(stats::ks.test(after, "punif", 0, room)$p.value)
  if (p >= 0.001) return("")
  quarter <- duration_text(stats::quantile(after, c(0.25, 0.75)))
  sprintf(if (is.null(events)) {
    paste(" They come at some times in a trial more than at others (half of them from %s to %s",
          "after its start): what happens in all trials may make them. `locked_to = \"trials\"`",
          "tells.")
  } else {
    paste(" They come at some times after an event more than at others (half of them from %s to",
          "%s after it), but the response of each unit by itself does not explain them.")
  }, quarter[[1L]], quarter[[2L]])
}

commas_short <- function(v) if (v >= 100) commas(round(v)) else format(signif(v, 2))

search_p_text <- function(p, n) {
  paste(if (p <= 1 / (n + 1) * (1 + 1e-9)) "at most" else "=", signif(p, 2))
}

#' "5 ms", "33 to 100 ms"
#' @noRd
widths_text <- function(widths) {
  ends <- unique(duration_text(range(widths)))
  if (length(ends) == 2L && all(endsWith(ends, " ms"))) ends[[1L]] <- sub(" ms", "", ends[[1L]])
  paste(ends, collapse = " to ")
}

takes_part <- function(units, share) {
  percent <- round(100 * share)
  if (diff(range(percent)) <= 10) {
    return(sprintf("Each member fires in about %d %% of them.", round(mean(percent))))
  }
  units <- seen_names(units)
  sprintf("Members fire in %d %% (%s) to %d %% (%s) of them.", min(percent),
          units[[which.min(percent)]], max(percent), units[[which.max(percent)]])
}

#' Whether both halves of the recording have their share
#' @noRd
halves_text <- function(first, second, expected) {
  if (first + second == 0L) return("")
  p <- stats::binom.test(first, first + second)$p.value
  sprintf("Its activations are %s in the first and %s in the second half of the recording%s.",
          commas(first), commas(second),
          if (p >= 0.01) "" else if (min(first, second) <= expected / 2) {
            ": only one half has more than chance"
          } else ", which is uneven")
}

# ---- Other tables --------------------------------------------------------------------

#' @rdname find_assemblies
#' @param row.names,optional As for any data frame.
#' @param what Which table: `"assemblies"`, `"members"`, `"activations"` or `"relations"`.
#' @export
as.data.frame.assemblies <- function(x, row.names = NULL, optional = FALSE, ...,
                                     what = c("assemblies", "members", "activations",
                                              "relations")) {
  check_no_dots(but = frame_arguments)
  what <- check_choice(what)
  check_assemblies_table(x)
  if (what == "assemblies") return(as.data.frame.synfire_table(x, row.names))
  flat <- \(parts) as.double(unlist(parts))
  out <- switch(what, relations = assembly_relations(x), members = {
    list(assembly = rep(x$assembly, x$size), unit = as.character(unlist(x$units)),
         lag = flat(x$lags), width = flat(x$widths), participation = flat(x$participation),
         stability = flat(x$stability %||% rep(NA_real_, sum(x$size))))
  }, activations = {
    fired <- unlist(lapply(x$spikes, \(s) {
      lapply(seq_len(nrow(s)), \(k) colnames(s)[s[k, ] > 0])
    }), recursive = FALSE)
    played <- lapply(seq_len(nrow(x)), \(row) speed_and_order(x, row))
    list(assembly = rep(x$assembly, lengths(x$times)), time = flat(x$times),
         members = lengths(fired), units = as.list(fired),
         speed = flat(lapply(played, `[[`, "speed")),
         order = flat(lapply(played, `[[`, "order")))
  })
  new_frame(out, length(out$assembly), row.names)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.assemblies <- function(x, ...) {
  begin_method(x)
  tidy_frame(term = format(x), size = x$size, width = x$width, estimate = x$count,
             expected = x$expected, p.value = x$p)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.assemblies <- function(x, ...) {
  begin_method(x)
  tidy_frame(assemblies = nrow(x), max_size = max(x$size, 0L),
             members = length(unique(unlist(x$units))), activations = sum(x$count),
             max_lag = attr(x, "max_lag", exact = TRUE), alpha = attr(x, "alpha", exact = TRUE),
             n_surrogates = attr(x, "n_surrogates", exact = TRUE))
}

assembly_label_levels <- function(x, rows) {
  vapply(rows, \(row) {
    sprintf("Assembly %d (%s)", x$assembly[[row]], counted(x$count[[row]], "activation"))
  }, "")
}

#' "Assembly 1", the name of an assembly wherever it stands beside others
#' @noRd
assembly_names <- function(x, rows = seq_len(nrow(x))) sprintf("Assembly %d", x$assembly[rows])

#' What `of` gives for each drawn assembly, one below the other, with its label as the `panel`
#'
#' @param of Function of a row of `x`, and its place among those drawn, that gives a data frame.
#' @noRd
panels_of <- function(rows, labels, of) {
  do.call(rbind, lapply(seq_along(rows), \(k) {
    part <- of(rows[[k]], k)
    cbind(part, panel = rep(factor(labels[[k]], labels), nrow(part)))
  }))
}

#' "6 of 20 assemblies: ...", for captions, or NULL where all are drawn
#' @noRd
left_out_text <- function(x, rows) {
  if (length(rows) == nrow(x)) return(NULL)
  sprintf("%d of %d assemblies; `assemblies` chooses others.", length(rows), nrow(x))
}

#' The colour of each of these assemblies, the same in all pictures of a result
#' @noRd
assembly_colours <- function(x, rows) {
  base <- syn_palette(6L)
  darker <- grDevices::rgb(t(grDevices::col2rgb(base)) * 0.5, maxColorValue = 255)
  colours <- c(base, darker)
  k <- (x$assembly[rows] - 1L) %% length(colours) + 1L
  if (anyDuplicated(k)) k <- (seq_along(rows) - 1L) %% length(colours) + 1L
  colours[k]
}

#' @param values One for each of the assemblies drawn, such as their labels.
#' @noRd
assembly_scale <- function(x, rows, values, aesthetics = "colour", ...) {
  ggplot2::scale_colour_manual(values = rlang::set_names(assembly_colours(x, rows), values),
                               limits = values, aesthetics = aesthetics, ...)
}
