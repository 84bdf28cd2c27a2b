# How often spade() finds patterns where there are none, and how often those that are there.
#
#   Rscript bench/spade-science.R [PART ...] [key=value ...]
#
#   null      recordings without patterns, with the surrogates that suit them: the share in
#             which anything is significant, which should be alpha, 0.05, or less
#   misfit    the same with every kind of surrogate, also those that do not suit
#   power     planted patterns of 3 to 8 spikes: the share that is found
#             (all three if none is named)
#
#   sets=400      recordings of each case, in place of the number each part has
#   cases=1,2     only these cases of a part
#   out=FOLDER    for the tables, CSV; else those of the vignette are written
#
# A recording has 10 trials of a second, and bins of 5 ms. Its units are independent, of the
# processes of vignettes/paper-significance/processes.R (a dead time of 4 ms; shape 4), and
# each trial has a step, in which all units fire at the `high` rate for `step` seconds,
# from 0.4 s on; without a step `high` is NA. Every recording is `set.seed()`'s, whatever
# else is measured, and those of a case are the same for all surrogates. Half an hour on
# one core in all.

library(synfire)
options(cli.progress_show_after = Inf)

alpha <- 0.05
bin_size <- 0.005
trials <- 10

# ---- Recordings ------------------------------------------------------------------------

source("vignettes/paper-significance/processes.R")

make_recording <- function(process, units, low, high, step) {
  profile <- step_profile(low, high, step, trials)
  independent_units(process, rep(list(profile), units), trials)
}

# ---- One case --------------------------------------------------------------------------

#' Whether anything is significant, by other estimators and corrections than spade()'s, too
#'
#' From how many surrogates reach each signature: p.adjust() and nothing of the package.
judge <- function(found, n) {
  reached <- found$tests$reached[found$tests$tested]
  any_at <- \(p, correction) any(stats::p.adjust(p, correction) <= alpha * (1 + 1e-9))
  c(found = length(found) > 0, tests = length(reached),
    none = any_at((reached + 1) / (n + 1), "none"),
    bonferroni = any_at((reached + 1) / (n + 1), "bonferroni"),
    share = any_at(reached / n, "BH"))
}

#' Shares of recordings in which something is found, with the bounds of a 95 % interval
count_false <- function(case, surrogate, sets) {
  n <- case$surrogates
  started <- proc.time()[["user.self"]]
  judged <- vapply(seq_len(sets), \(k) {
    set.seed(1000 * case$number + k)
    x <- make_recording(case$process, case$units, case$low, case$high, case$step)
    found <- spade(x, bin_size, case$window, min_count = case$min_count, n_surrogates = n,
                   surrogate = surrogate, alpha = alpha, reduction = "none", threads = 1)
    judge(found, n)
  }, double(5))
  false <- sum(judged["found", ])
  bounds <- stats::binom.test(false, sets)$conf.int
  data.frame(case, surrogate = surrogate, sets = sets,
             tests = mean(judged["tests", ]), false = false, share = false / sets,
             low95 = bounds[[1L]], high95 = bounds[[2L]],
             uncorrected = mean(judged["none", ]), bonferroni = mean(judged["bonferroni", ]),
             k_by_n = mean(judged["share", ]),
             seconds = (proc.time()[["user.self"]] - started) / sets)
}

# ---- Parts -----------------------------------------------------------------------------

# Rates such that chance makes a few signatures that some surrogates reach, and others not;
# as many surrogates as so many tests need.
rate_cases <- data.frame(
  units = c(20, 50, 100, 20, 50, 100),
  low = c(7, 3.5, 2, 4, 2, 1.2),
  high = c(NA, NA, NA, 15, 8, 5), step = c(NA, NA, NA, 0.2, 0.2, 0.2),
  window = 8, min_count = 2, surrogates = c(199, 99, 99)
)

part_null <- function(sets = 400, cases = NULL) {
  suits <- c(poisson = "dither", refractory = "trial_shift", gamma = "trial_shift")
  all <- do.call(rbind, lapply(names(suits), \(process) {
    cbind(process = process, rate_cases, surrogate = suits[[process]])
  }))
  fast <- data.frame(process = c("refractory", "gamma"), units = 20, low = 60, high = NA,
                     step = NA, window = 1, min_count = 10, surrogates = 199,
                     surrogate = "trial_shift")
  all <- rbind(all, fast)
  all$number <- seq_len(nrow(all))
  each_case(all, cases, "null", \(case) {
    count_false(case[names(case) != "surrogate"], case$surrogate, sets)
  })
}

part_misfit <- function(sets = 50, cases = NULL) {
  methods <- setdiff(eval(formals(surrogate_trains)$method), "train_shift")
  all <- data.frame(
    process = c("poisson", "poisson", "poisson", "refractory", "gamma", "gamma"),
    units = 20, low = c(7, 4, 4, 60, 60, 20), high = c(NA, 15, 60, NA, NA, 60),
    step = c(NA, 0.2, 0.02, NA, NA, 0.2), window = c(8, 8, 8, 1, 1, 1),
    min_count = c(2, 2, 2, 10, 10, 5), surrogates = 399
  )
  all$number <- 100 + seq_len(nrow(all))
  each_case(all, cases, "misfit", \(case) {
    do.call(rbind, lapply(methods, \(method) count_false(case, method, sets)))
  })
}

# A pattern of so many spikes among 20 units, and what of it spade() reports. Jitter moves
# spikes to other bins, so that parts of the pattern occur more often than all of it.
part_power <- function(sets = 30, cases = NULL) {
  all <- rbind(expand.grid(count = c(3:8, 10, 12), size = 3:8, jitter = 0),
               expand.grid(count = c(4, 6, 8, 10, 14, 20), size = 3:8, jitter = 0.0015))
  all$number <- 200 + seq_len(nrow(all))
  each_case(all, cases, "power", \(case) {
    lags <- c(0, 1, 3, 4, 6, 7, 7, 5)[seq_len(case$size)]
    planted <- list(units = seq_len(case$size), lags = sort(lags) * bin_size,
                    count = case$count)
    seen <- vapply(seq_len(sets), \(k) {
      set.seed(1000 * case$number + k)
      x <- simulate_patterns(duration = 10, units = 20, rate = 12, patterns = list(planted),
                             jitter = case$jitter)
      compare(spade(x, bin_size, window_bins = 8, min_count = 3, n_surrogates = 99, alpha = alpha,
                    threads = 1), sort(lags))
    }, double(4))
    data.frame(case, sets = sets, whole = mean(seen["whole", ]), part = mean(seen["part", ]),
               reported = sum(seen["reported", ]), true = sum(seen["true", ]))
  })
}

#' What is reported of a pattern of the first units at some lags
#'
#' `whole`: it, just so. `part`: it, or three spikes or more of it. `true`: how many of the
#' `reported` patterns have at least three of its spikes at the right distances.
compare <- function(found, lags) {
  table <- as.data.frame(found)
  shared <- vapply(seq_len(nrow(table)), \(k) {
    unit <- match(table$units[[k]], levels(attr(found$mined, "recording")$unit))
    planted <- unit <= length(lags)
    # Spikes at their distances have one shift in common.
    shift <- table$lags[[k]][planted] - lags[unit[planted]]
    if (length(shift) == 0L) 0L else max(table(shift))
  }, 0L)
  exact <- shared == length(lags) & table$size == length(lags)
  c(whole = any(exact), part = any(shared >= 3), reported = nrow(table),
    true = sum(shared >= 3))
}

# ---- Running ---------------------------------------------------------------------------

#' Cases of a part, one after the other; what is done is on the screen and in the file
each_case <- function(all, cases, name, measure) {
  rows <- NULL
  for (k in if (is.null(cases)) seq_len(nrow(all)) else cases) {
    new <- measure(all[k, , drop = FALSE])
    rows <- rbind(rows, new)
    doubles <- vapply(new, is.double, NA)
    new[doubles] <- lapply(new[doubles], signif, 3)
    print(new[setdiff(names(new), "number")], row.names = FALSE)
    write_table(rows[setdiff(names(rows), "number")], name)
  }
}

write_table <- function(table, name) {
  doubles <- vapply(table, is.double, NA)
  table[doubles] <- lapply(table[doubles], signif, 4)
  utils::write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE)
}

arguments <- commandArgs(trailingOnly = TRUE)
named <- grepl("=", arguments)
given <- sub("^[^=]*=", "", arguments[named])
names(given) <- sub("=.*", "", arguments[named])
parts <- list(null = part_null, misfit = part_misfit, power = part_power)
chosen <- if (all(named)) names(parts) else arguments[!named]
unknown <- c(setdiff(chosen, names(parts)), setdiff(names(given), c("sets", "cases", "out")))
if (length(unknown) > 0L) stop("no such part or key: ", toString(unknown))
folder <- if ("out" %in% names(given)) given[["out"]] else "vignettes/significance"
if (!dir.exists(folder)) stop("no such folder: ", folder)
numbers <- \(key) as.numeric(strsplit(given[[key]], ",")[[1L]])
options <- list()
if ("sets" %in% names(given)) options$sets <- numbers("sets")
if ("cases" %in% names(given)) options$cases <- numbers("cases")
for (part in chosen) do.call(parts[[part]], options)
