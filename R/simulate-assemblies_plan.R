# What assemblies are planted: their arguments, members, lags and spikes.

# For each kind: the width of a member's window, the shortest and longest step from one lag to
# the next, in seconds, and the mean number of spikes of a member in an activation.
assembly_kinds <- list(
  synchrony = list(width = 0.003, step = c(0, 0), spikes = 1),
  sequence = list(width = 0.002, step = c(0.005, 0.030), spikes = 1),
  jittered_sequence = list(width = 0.020, step = c(0.020, 0.060), spikes = 1),
  rate_synchrony = list(width = 0.200, step = c(0, 0), spikes = 3),
  rate_sequence = list(width = 0.200, step = c(0.100, 0.200), spikes = 3)
)

#' Each assembly as a list with its `kind` and what else was given
#' @noRd
check_assemblies <- function(assemblies) {
  if (is.character(assemblies) && !is.object(assemblies)) assemblies <- as.list(assemblies)
  refuse_if(!is.list(assemblies) || is.object(assemblies), "assemblies",
            "a character vector of kinds, or a list of assemblies", describe(assemblies))
  known <- c("kind", "units", "lags", "width", "count", "participation", "spikes")
  lapply(seq_along(assemblies), \(k) {
    one <- assemblies[[k]]
    arg <- sprintf("assemblies[[%d]]", k)
    if (is.character(one) && !is.object(one)) one <- list(kind = one)
    if (!is.list(one) || is.object(one) || is.null(names(one)) || !all(names(one) %in% known) ||
          anyDuplicated(names(one)) > 0L || !"kind" %in% names(one)) {
      abort_arg(arg, "a kind, or a list of `kind` and some of `units`, `lags`, `width`, `count`, `participation` and `spikes`",
                describe(one))
    }
    one$kind <- check_choice(one$kind, names(assembly_kinds), paste0(arg, "$kind"))
    one
  })
}

#' One number for all, or one for each of `n` assemblies
#' @noRd
check_each <- function(x, n, arg, min, max, whole) {
  must <- sprintf("one %s %s, or %d of them", if (whole) "whole number" else "number",
                  bounds_text(min, max), n)
  within <- n > 0L
  check_numbers(x, arg, c(1, n), if (within) min else -Inf, if (within) max else Inf, must,
                is.null(dim(x)) && (!whole || all(x == floor(x))))
}

#' Error where more spikes, or a longer course of rates, would be made than a simulator makes
#' @noRd
check_assembly_work <- function(assemblies, size, count, rate, duration) {
  planted <- vapply(seq_along(assemblies), \(k) {
    one <- assemblies[[k]]
    members <- if (is.null(one$units)) size[[k]] else length(one$units)
    times <- if (is_plain_numeric(one$count)) max(0, one$count, na.rm = TRUE) else count[[k]]
    spikes <- if (is_plain_numeric(one$spikes)) max(3, one$spikes, na.rm = TRUE) else 3
    members * times * spikes
  }, numeric(1))
  steps <- duration / rate_step
  check_expected(max(sum(rate) * duration + sum(planted), steps), duration,
                 "`rate`, `units` and `count`")
}

#' Numbers of the members of each assembly
#'
#' Units stand in a random order. An assembly takes `overlap` members of the one before it, and
#' then the next units that no other assembly has.
#' @noRd
draw_members <- function(assemblies, size, overlap, levels, key) {
  given <- lapply(seq_along(assemblies), \(k) {
    units <- assemblies[[k]]$units
    if (!is.null(units)) check_members(units, sprintf("assemblies[[%d]]$units", k), levels)
  })
  free <- setdiff(order(random_uniform(length(levels), key, sim_stream(40))), unlist(given))
  members <- list()
  for (k in seq_along(assemblies)) {
    if (!is.null(given[[k]])) {
      members[[k]] <- given[[k]]
      next
    }
    shared <- if (k > 1L && overlap > 0) {
      before <- members[[k - 1L]]
      refuse_if(overlap >= min(size[[k]], length(before) + 1L), "overlap",
                sprintf("less than the size of assembly %d and at most that of assembly %d", k,
                        k - 1L), format(overlap))
      before[order(random_uniform(length(before), key, sim_stream(41, k)))][seq_len(overlap)]
    }
    new <- size[[k]] - length(shared)
    refuse_if(new > length(free), "size",
              sprintf("so small that %d units are enough for all assemblies", length(levels)),
              toString(format(size)), "Give more `units`, or a larger `overlap`.")
    # In a random order, so that shared members are anywhere in a sequence.
    chosen <- c(shared, free[seq_len(new)])
    free <- free[-seq_len(new)]
    members[[k]] <- chosen[order(random_uniform(length(chosen), key, sim_stream(42, k)))]
  }
  members
}

check_members <- function(units, arg, levels) {
  if (is_plain_numeric(units)) units <- levels[match(units, seq_along(levels))]
  if (is.factor(units)) units <- as.character(units)
  ok <- is.character(units) && length(units) >= 2L && all(units %in% levels) &&
    anyDuplicated(units) == 0L
  refuse_if(!ok, arg, sprintf("two or more different numbers from 1 to %d, or names of units",
                              length(levels)), describe(units))
  match(units, levels)
}

#' One assembly with everything that is drawn or given, times in ticks
#' @noRd
plan_assembly <- function(one, k, members, count, participation, resolution, last_tick, key) {
  arg <- function(name) sprintf("assemblies[[%d]]$%s", k, name)
  kind <- assembly_kinds[[one$kind]]
  n <- length(members)
  lags <- if (is.null(one$lags)) {
    u <- random_uniform(n - 1L, key, sim_stream(43, k))
    steps <- kind$step[[1L]] + (kind$step[[2L]] - kind$step[[1L]]) * u
    round_to_ticks(c(0, cumsum(steps)), resolution)
  } else {
    check_member_lags(one$lags, n, arg("lags"), resolution)
  }
  width <- check_number(one$width %||% kind$width, arg("width"), min = 0, max = 1e9)
  width <- round_to_ticks(width, resolution)
  count <- check_count(one$count %||% count, arg("count"), max = 1e7)
  participation <- check_probability(one$participation %||% participation, arg("participation"))
  spikes <- check_number(one$spikes %||% kind$spikes, arg("spikes"), min = 1, max = 1e4)
  span <- lags[[n]] + width
  most <- floor((last_tick - span) / (2 * span + 1)) + 1
  refuse_if(span > last_tick || count > most, if (is.null(one$count)) "count" else arg("count"),
            sprintf("at most %.0f for assembly %d, or its activations would be too close",
                    max(0, most), k), format(count), "Give a longer `duration`.")
  list(kind = one$kind, members = members, lag_ticks = lags, width_ticks = width, span = span,
       count = count, participation = participation, spikes = spikes)
}

check_member_lags <- function(lags, n, arg, resolution) {
  ticks <- seconds_to_ticks(lags, resolution, arg)
  refuse_if(length(ticks) != n || ticks[[1L]] != 0 || is.unsorted(ticks), arg,
            sprintf("%d increasing numbers of seconds, the first one 0", n),
            paste(format(lags), collapse = ", "))
  ticks
}

#' When assembly `k` is activated, who takes part, and their spikes
#'
#' @return List: `activations` (data frame `assembly`, `activation`, `tick`), `took_part`
#'   (numbers of units, for each activation) and `spikes` (data frame `unit`, `tick`,
#'   `assembly`, `activation`).
#' @noRd
plant_assembly <- function(plan, k, last_tick, key) {
  n <- plan$count
  size <- length(plan$members)
  begin <- spaced_ticks(n, last_tick - plan$span, 2 * plan$span + 1, key, sim_stream(44, k))
  takes_part <- matrix(random_uniform(n * size, key, sim_stream(45, k)) < plan$participation, n)
  # One spike, and as many more as a Poisson number says.
  more <- if (plan$spikes > 1) {
    stats::qpois(random_uniform(n * size, key, sim_stream(46, k)), plan$spikes - 1)
  }
  spikes <- takes_part * (1 + (more %||% 0))
  cell <- rep(seq_along(spikes), spikes)
  activation <- as.integer((cell - 1L) %% n) + 1L
  member <- (cell - 1L) %/% n + 1L
  within <- floor(random_uniform(length(cell), key, sim_stream(47, k)) * (plan$width_ticks + 1))
  list(
    activations = data.frame(assembly = rep(k, n), activation = seq_len(n), tick = begin),
    took_part = lapply(seq_len(n), \(a) plan$members[takes_part[a, ]]),
    spikes = data.frame(
      unit = plan$members[member], tick = begin[activation] + plan$lag_ticks[member] + within,
      assembly = rep(k, length(cell)), activation = activation
    )
  )
}
