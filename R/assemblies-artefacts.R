# Members that a sorter or a noisy channel makes: units of one cell, and a unit that has most
# of all spikes.

#' What about the members of each group is an artefact, as text, or NA
#'
#' @param members List of names of units.
#' @noRd
member_artefacts <- function(members, x, threads, max_memory) {
  if (length(members) == 0L) return(character())
  shared <- shares_of_members(unique(unlist(members)), x, threads, max_memory)
  spikes <- spikes_in_trials(x)
  noisy <- levels(x$unit)[has_most_spikes(spikes)]
  vapply(members, \(units) {
    same <- same_cells(shared, units)
    noise <- intersect(units, noisy)
    if (length(same$pairs) + length(noise) == 0L) return(NA_character_)
    left <- length(unique(same$cell[setdiff(units, noise)]))
    paste0(paste(c(same$pairs, if (length(noise)) {
      sprintf("%s has %s of all spikes", noise, percent(max(spikes) / sum(spikes)))
    }), collapse = "; "), if (left < 3L) sprintf(": %s left, no assembly", counted(left, "cell")))
  }, "", USE.NAMES = FALSE)
}

#' What shared_spikes() says of these units, and whether spikes of one are known to be those of
#' another: times on a grid of 0.5 ms and more do not tell one cell from two that fire together
#' @noRd
shares_of_members <- function(units, x, threads, max_memory) {
  ticks <- train_ticks(x)
  trial <- trial_of(x, ticks)
  inside <- !is.na(trial)
  step <- ticks_to_seconds(time_step(ticks[inside], trial[inside]),
                           attr(x, "resolution", exact = TRUE))
  own <- x[unit = units]
  share <- shared_spikes(own, step, threads, max_memory, off = 7e-4)
  if (is.null(share)) share <- matrix(0, nlevels(own$unit), nlevels(own$unit))
  dimnames(share) <- rep(list(levels(own$unit)), 2L)
  exact_times <- is.na(step) || step < 5e-4
  list(share = share, same = if (exact_times) 0.5 else 0.8,
       within = if (exact_times) "within 0.1 ms" else "on the same time step",
       some = if (exact_times) 0.1 else 0.8)
}

#' Which units of a group see one cell, or have spikes of each other
#'
#' @return `pairs`, in words, the largest share first; and for each unit its `cell`.
#' @noRd
same_cells <- function(shared, units) {
  share <- shared$share[units, units, drop = FALSE]
  cell <- stats::setNames(seq_along(units), units)
  share[lower.tri(share)] <- 0
  at <- which(share >= shared$some, arr.ind = TRUE)
  at <- at[order(-share[at]), , drop = FALSE]
  pairs <- vapply(seq_len(nrow(at)), \(k) {
    one <- share[at[k, 1L], at[k, 2L]]
    sprintf(if (one >= shared$same) "%s and %s see one cell (%s of spikes shared %s)" else
      "%s and %s may have spikes of each other (%s shared %s)", units[[at[k, 1L]]],
      units[[at[k, 2L]]], percent(one), shared$within)
  }, "")
  for (k in which(share[at] >= shared$same)) cell[cell == cell[[at[k, 2L]]]] <- cell[[at[k, 1L]]]
  list(pairs = pairs, cell = cell)
}

#' The artefacts of a group in its sentence: of very many the clearest, and the rest of the group
#' @noRd
artefact_text <- function(artefact) {
  if (length(artefact) == 0L || is.na(artefact)) return("")
  parts <- strsplit(artefact, "; ", fixed = TRUE)[[1L]]
  n <- length(parts)
  if (n > 5L) {
    parts <- c(parts[1:3], sprintf("%d more in the column `artefact`", n - 4L), parts[[n]])
  }
  sprintf(" Artefact of spike sorting: %s.", paste(parts, collapse = "; "))
}
