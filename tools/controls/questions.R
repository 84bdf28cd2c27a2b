# The questions, one row each: what they change in a recording, and what must hold then.
#
#   impossible cause    series that are no cause of the others, nor caused by them. The mean of
#                       rho must not be above 0.03, and 7 % of p values at most are below
#                       0.05; of an analysis that gives verdicts, so many as it says itself.
#   nothing there       units that have nothing to do with each other: a claim as often as the
#                       analysis says, at most.
#   must not change     the same recording, told in another way: the same answer.
#   halves              what one half of a recording says of the other. Reported, not judged.
#
# Several draws of a question tell how much of what came out is luck. Of rho, the bound is
# 0.03 and what the standard error of the draws leaves open (a probability of 0.005). It may be
# below 0: where slow series are forecast without the rows around them, their mean is what is
# left, and it lies on the other side. Of rates, as many claims are accepted as a true rate gives with a probability of
# 0.999; p values of one draw depend on each other and count for as many as the spread among
# draws says.
surely <- 0.999

# ---- What is changed -------------------------------------------------------------------

half_of <- function(x) colnames(x)[seq_len(ncol(x)) %% 2L == 0L]
turn <- function(x, share) x[(seq_len(nrow(x)) - 1L + round(share * nrow(x))) %% nrow(x) + 1L, ,
                             drop = FALSE]
put <- function(data, values) {
  data$moved <- half_of(data$x)
  data$x[, data$moved] <- values
  data
}
# The share of its length that a series is shifted by: around one half.
share_of <- function(draw, draws) 0.5 + 0.4 * ((draw - 0.5) / draws - 0.5)

shifted <- function(data, draw, draws) {
  put(data, turn(data$x, share_of(draw, draws))[, half_of(data$x)])
}
reversed <- function(data, draw, draws) {
  put(data, turn(data$x, share_of(draw, draws))[rev(seq_len(nrow(data$x))), half_of(data$x)])
}
foreign <- function(data, draw, draws) {
  other <- turn(data$other, share_of(draw, draws))
  rows <- seq_len(min(nrow(data$x), nrow(other)))
  half <- half_of(data$x)
  data$x <- data$x[rows, , drop = FALSE]
  put(data, other[rows, rep_len(seq_len(ncol(other)), length(half))])
}

# Each spike of each unit in its trial.
stretches_of <- function(data) {
  trials <- data$trials
  if (is.null(trials)) trials <- data.frame(start = data$start, end = data$end)
  at <- findInterval(data$time, trials$start)
  list(start = trials$start[at], length = (trials$end - trials$start)[at],
       unit = paste(data$unit, at))
}
on_grid <- function(data, time) {
  data$time <- data$start + round((time - data$start) / data$grid) * data$grid
  data$time <- pmin(pmax(data$time, data$start), data$end)
  once <- !duplicated(data.frame(round(data$time, 9), data$unit))
  data$time <- data$time[once]
  data$unit <- data$unit[once]
  data
}
# Each unit is rotated, and its stretches are put into another order, so that no lag between
# two units lasts. A stretch is ten times as long as the analysis looks, but an eighth of a
# trial at most.
rotated <- function(data, draw, draws) {
  at <- stretches_of(data)
  units <- unique(at$unit)
  moved <- data$time
  for (k in seq_along(units)) {
    own <- which(at$unit == units[[k]])
    whole <- at$length[own[[1L]]]
    n <- min(100, max(8, whole %/% (10 * data$reach)))
    time <- (data$time[own] - at$start[own] + stats::runif(1L) * whole) %% whole
    stretch <- pmin(floor(time / whole * n), n - 1)
    moved[own] <- at$start[own] + time + (sample(n)[stretch + 1] - 1 - stretch) * whole / n
  }
  on_grid(data, moved)
}
# By up to five times what the analysis looks at, thrown back at the ends.
jittered <- function(data, draw, draws) {
  at <- stretches_of(data)
  most <- pmin(5 * data$reach, at$length / 2)
  moved <- abs(data$time - at$start + stats::runif(length(data$time), -1, 1) * most)
  on_grid(data, at$start + ifelse(moved > at$length, 2 * at$length - moved, moved))
}

renamed <- function(data) {
  old <- names(data$names)
  new <- stats::setNames(sprintf("%s %d", sample(c("A", "unit,", "z"), length(old), TRUE),
                                 sample(length(old))), old)
  data$names <- stats::setNames(unname(data$names), new)
  if (data$kind == "spikes") {
    data$unit <- unname(new[data$unit])
    data$names <- data$names[order(names(data$names))]
  } else {
    colnames(data$x) <- new[colnames(data$x)]
    data$x <- data$x[, sample(ncol(data$x)), drop = FALSE]
  }
  data
}
in_any_order <- function(data) {
  order <- sample(length(data$time))
  data$time <- data$time[order]
  data$unit <- data$unit[order]
  data
}
with_silent <- function(data) {
  data$extra <- "A silent one"
  data$names <- c(stats::setNames(nm = data$extra), data$names)
  if (data$kind == "series") data$x <- cbind("A silent one" = 0, data$x)
  data
}
scaled <- function(by) {
  force(by)
  function(data) {
    data$x <- data$x * by
    data
  }
}
tenths <- function(data) {
  deviation <- apply(data$x, 2L, stats::sd, na.rm = TRUE)
  data$x <- round(sweep(data$x, 2L, ifelse(deviation > 0, deviation, 1), "/") * 10) / 10
  data
}
whole_tenths <- function(data) {
  data$x <- round(tenths(data)$x * 10)
  data
}
cut_half <- function(data, second) {
  if (data$kind == "series") {
    rows <- seq_len(nrow(data$x) %/% 2L)
    data$x <- data$x[if (second) nrow(data$x) %/% 2L + rows else rows, , drop = FALSE]
    return(data)
  }
  middle <- if (is.null(data$trials)) {
    round((data$start + data$end) / 2 / data$grid) * data$grid
  } else {
    half <- seq_len(nrow(data$trials)) > nrow(data$trials) %/% 2L
    data$trials <- data$trials[half == second, ]
    if (second) data$trials$start[[1L]] else utils::tail(data$trials$end, 1L)
  }
  keep <- if (second) data$time > middle else data$time <= middle
  data$time <- data$time[keep]
  data$unit <- data$unit[keep]
  if (second) data$start <- middle else data$end <- middle
  data
}

# ---- What must hold --------------------------------------------------------------------

percent <- function(share) sprintf("%.1f %%", 100 * share)
answer <- function(measure, out, bound, holds, hits = NULL, tests = NULL, rate = NA) {
  list(list(measure = measure, out = out, bound = bound, holds = holds, hits = hits,
            tests = tests, rate = rate))
}

# `hits` of `tests` in each draw, against a rate. Tests of a draw that depend on each other are
# fewer than they look: as many as their spread among draws speaks for.
judge_rate <- function(measure, hits, tests, rate, dependent = TRUE) {
  n <- sum(tests)
  if (n == 0) return(answer(measure, "nothing to test", "", TRUE, hits, tests, rate))
  share <- sum(hits) / n
  spread <- 1
  if (dependent && length(tests) > 2L) {
    expected <- max(share, rate) * (1 - max(share, rate))
    spread <- max(1, stats::var((hits / tests)[tests > 0]) * mean(tests[tests > 0]) / expected,
                  na.rm = TRUE)
  }
  counted <- max(1, round(n / spread))
  most <- stats::qbinom(surely, counted, rate) / counted
  answer(measure, sprintf("%s (%s of %s)", percent(share), format(sum(hits)), format(n)),
      sprintf("%s of %d independent", percent(most), counted), share <= most, hits, tests, rate)
}

judge_impossible <- function(analysis, draws) {
  if ("claim" %in% names(draws[[1L]])) {
    hits <- vapply(draws, \(draw) sum(draw$claim), 0)
    return(judge_rate("claims", hits, vapply(draws, nrow, 0L), analysis$alpha))
  }
  rho <- vapply(draws, \(draw) mean(draw$rho, na.rm = TRUE), 0)
  known <- is.finite(rho)
  mean_rho <- if (sum(known) < 3L) {
    answer("mean rho", sprintf("told in %d draws", sum(known)), "", TRUE)
  } else {
    error <- stats::sd(rho[known]) / sqrt(sum(known))
    bound <- 0.03 + stats::qt(0.995, sum(known) - 1) * error
    answer("mean rho", sprintf("%.3f", mean(rho[known])), sprintf("%.3f", bound),
        mean(rho[known]) <= bound)
  }
  hits <- vapply(draws, \(draw) sum(draw$p <= 0.05 + 1e-9, na.rm = TRUE), 0L)
  tests <- vapply(draws, \(draw) sum(!is.na(draw$p)), 0L)
  c(mean_rho, judge_rate("p <= 0.05", hits, tests, 0.07))
}

judge_nothing <- function(analysis, draws) {
  judge_rate("claims", vapply(draws, sum, 0), lengths(draws), analysis$alpha, FALSE)
}

# The largest difference of named numbers; those that one has and the other has not differ.
difference <- function(a, b) {
  names <- union(names(a), names(b))
  if (length(names) == 0L) return(0)
  a <- a[names]
  b <- b[names]
  apart <- ifelse(is.na(a) & is.na(b), 0, abs(a - b))
  if (anyNA(apart)) Inf else max(apart)
}
overlap <- function(a, b) {
  if (length(union(a, b)) == 0L) 1 else length(intersect(a, b)) / length(union(a, b))
}
# p values from other surrogates: the largest difference, in its standard deviations.
p_apart <- function(a, b, n) {
  names <- intersect(names(a), names(b))
  a <- a[names]
  b <- b[names]
  middle <- pmin(pmax((a + b) / 2, 2 / n), 1 - 2 / n)
  c(0, abs(a - b) / sqrt(2 * middle * (1 - middle) / n))
}

judge_same <- function(question, analysis, before, after) {
  rows <- NULL
  extra <- grep("A silent one", names(after$fixed), value = TRUE)
  if (length(extra) > 0L) {
    told <- after$fixed[extra]
    told <- told[is.finite(told) & grepl("^[^,]* > |^rho", names(told))]
    if (length(told) > 0L) {
      rows <- answer("the silent one", sprintf("rho up to %.3f", max(abs(told))), "cannot be told",
                  FALSE)
    }
    after$fixed <- after$fixed[setdiff(names(after$fixed), extra)]
    after$chance <- after$chance[setdiff(names(after$chance), extra)]
  }
  if (!is.null(before$fixed)) {
    apart <- difference(before$fixed, after$fixed)
    rows <- c(rows, answer("numbers", if (is.finite(apart)) sprintf("differ by %.2g", apart) else
      sprintf("%d others", length(setdiff(names(before$fixed), names(after$fixed))) +
                length(setdiff(names(after$fixed), names(before$fixed)))),
      sprintf("%g", question$tolerance), apart <= question$tolerance))
  }
  if (!is.null(before$chance)) {
    rows <- c(rows, if (question$random) {
      apart <- p_apart(before$chance, after$chance, before$n)
      most <- stats::qnorm(1 - (1 - surely) / 2 / length(apart))
      answer("p values", sprintf("%.1f sd apart", max(apart)), sprintf("%.1f sd", most),
          max(apart, na.rm = TRUE) <= most)
    } else {
      apart <- difference(before$chance, after$chance)
      most <- if (question$tolerance > 0) 2 / before$n else 0
      answer("p values", sprintf("differ by %.2g", apart), sprintf("%.2g", most),
          apart <= most + 1e-9)
    })
  }
  if (!is.null(before$found)) {
    share <- overlap(before$found, after$found)
    other <- question$random && !isTRUE(analysis$exact)
    least <- if (other) 0.5 else 1
    # One of a few may be at the brink.
    holds <- if (other && length(union(before$found, after$found)) < 6L) NA else share >= least
    rows <- c(rows, answer("found", sprintf("%s of %d and %d in common", percent(share),
                                         length(before$found), length(after$found)),
                        percent(least), holds))
  }
  if (!is.null(before$seeded) && !question$random) {
    apart <- difference(before$seeded, after$seeded)
    rows <- c(rows, answer("counts", sprintf("differ by %.2g", apart), "0", apart == 0))
  }
  rows
}

report_halves <- function(first, second) {
  rows <- NULL
  both <- intersect(names(first$fixed), names(second$fixed))
  if (length(both) > 2L) {
    r <- suppressWarnings(stats::cor(first$fixed[both], second$fixed[both], use = "complete.obs",
                                     method = "spearman"))
    rows <- answer("numbers", sprintf("rank correlation %.2f of %d", r, length(both)), "", NA)
  }
  if (!is.null(first$found)) {
    rows <- c(rows, answer("found", sprintf("%s of %d and %d in common",
                                         percent(overlap(first$found, second$found)),
                                         length(first$found), length(second$found)), "", NA))
  }
  rows
}

# ---- The table -------------------------------------------------------------------------

impossible <- function(name, change) {
  list(name = name, group = "impossible cause", of = "series", change = change)
}
nothing <- function(name, change) {
  list(name = name, group = "nothing there", of = "spikes", change = change)
}
# `random`: other random numbers meet the units. `from`: what the answer is compared with,
# where it is not the recording as it is.
same <- function(name, change, of = c("spikes", "series"), random = FALSE, tolerance = 0,
                 from = NULL, only = NULL) {
  list(name = name, group = "must not change", of = of, change = change, random = random,
       tolerance = tolerance, from = from, only = only)
}

questions <- list(
  impossible("shifted by half", shifted),
  impossible("reversed in time", reversed),
  impossible("of another recording", foreign),
  nothing("units rotated", rotated),
  nothing("spikes jittered", jittered),
  same("another seed", identity, random = TRUE),
  same("milliseconds", \(data) within(data, clock <- "ms"), "spikes"),
  same("rows in another order", in_any_order, "spikes"),
  same("renamed", renamed, random = TRUE, tolerance = 1e-9),
  same("a silent one added", with_silent, random = TRUE, tolerance = 1e-9),
  same("a file in many looks", \(data) within(data, looks <- 40L), "spikes", only = "feed"),
  same("times 1e-6", scaled(1e-6), "series", tolerance = 1e-4),
  same("times 1e6", scaled(1e6), "series", tolerance = 1e-4),
  same("tenths as whole numbers", whole_tenths, "series", tolerance = 1e-4, from = tenths),
  list(name = "halves", group = "halves", of = c("spikes", "series"))
)
names(questions) <- vapply(questions, \(one) one$name, "")

# ---- What is known to be wrong ------------------------------------------------------------

# Answers that are wrong, and why. They are shown as KNOWN, and count neither as passed nor as
# failed. Whoever mends one takes its line out.
known <- list(
  list(
    analysis = "assemblies", question = c("units rotated", "spikes jittered"),
    recordings = c("culture, 10 days", "tspe"),
    why = paste("pairs of few spikes are scored by other statistics in the recording than in",
                "surrogates, and bursts of all units keep their rhythm when units are moved")
  ),
  list(
    analysis = "assemblies", question = c("renamed", "a silent one added"),
    recordings = c("culture, 20 days", "retina"),
    why = "other surrogates come to other members of groups that are near the bar"
  ),
  list(
    analysis = "smap_map", question = c("times 1e-6", "times 1e6"),
    recordings = "w-maze, counts of 100 ms",
    why = "counts have many S-maps that fit alike, and which is the smallest depends on the unit"
  ),
  list(
    analysis = "causal_map", question = c("times 1e-6", "times 1e6"),
    recordings = "w-maze, rates",
    why = "smooth rates have neighbours that are as near as single precision can tell"
  )
)

is_known <- function(analysis, question, recording) {
  any(vapply(known, \(one) {
    analysis == one$analysis && question %in% one$question &&
      any(startsWith(recording, one$recordings))
  }, NA))
}
