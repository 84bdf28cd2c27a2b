# What vignette("error-rates-causes") shows and what takes more than a second to compute.
#
# In the folder of the package:
#
#   Rscript vignettes/causal-maps/precompute.R [PART ...]
#
# Parts: roc, noise, surrogates, screen, misses, verdicts; all of them if none is named. Each writes
# its tables, CSV, next to this file. The times of maps are those of
# vignette("paper-causal-maps").

library(synfire)
options(cli.progress_show_after = Inf)

folder <- "vignettes/causal-maps"
if (!dir.exists(folder)) stop("run this in the folder of the package")
source(file.path(folder, "simulated.R"))

write_table <- function(table, name) {
  doubles <- vapply(table, is.double, NA)
  table[doubles] <- lapply(table[doubles], signif, 5)
  utils::write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE)
}

# ---- Scores ----------------------------------------------------------------------------

# Scores [cause, effect] of a map: the skill of the effect, a row, at telling the cause.
cross_map <- function(x, ...) t(as.matrix(causal_map(x, E_max = 10, threads = 2, ...)))

correlation <- function(x) abs(stats::cor(x))

# The best correlation at any of some delays, cause first.
lagged_correlation <- function(x, most = 3) {
  n <- nrow(x)
  all <- lapply(0:most, \(lag) {
    abs(stats::cor(x[seq_len(n - lag), ], x[lag + seq_len(n - lag), ]))
  })
  do.call(pmax, all)
}

methods <- list(
  "cross mapping" = cross_map,
  "cross mapping, best of lags" = \(x) cross_map(x, Tp = -3:0),
  "correlation" = correlation,
  "correlation, best of lags" = lagged_correlation
)

systems <- list(
  "20 coupled maps" = \(steps, noise = 0) simulate_coupled_maps(steps, series = 20, noise = noise),
  "Lorenz ring of 12" = \(steps, noise = 0) simulate_lorenz96(steps, series = 12, noise = noise),
  "calcium, 40 neurons" = \(steps, noise = 0.03) simulate_calcium(steps, 40, noise = noise)
)

# Scores of links, and of what is none.
split_scores <- function(score, truth) {
  off <- row(truth) != col(truth)
  list(link = score[off & truth > 0], none = score[off & truth == 0])
}

# How often a link has the higher score of the two, of all pairs of a link and a non-link.
area <- function(scores) {
  mean(outer(scores$link, scores$none, `>`) + outer(scores$link, scores$none, `==`) / 2)
}

# Share of links without one back that have the higher score of the two directions.
directions <- function(score, truth) {
  one_way <- truth > 0 & t(truth) == 0
  mean(score[one_way] > t(score)[one_way])
}

# Share of links without one back whose best delay, of the two directions, is the earlier one.
delays <- function(x, truth) {
  map <- causal_map(x, E_max = 10, Tp = -5:5, threads = 2)
  one_way <- truth > 0 & t(truth) == 0
  lag <- t(attr(map, "lag"))
  c(mean(lag[one_way] < t(lag)[one_way]), mean(lag[one_way] == t(lag)[one_way]))
}

# Shares of links found at shares of false alarms; each recording has its own threshold.
curve <- function(scores, false = seq(0, 1, 0.02)) {
  threshold <- stats::quantile(scores$none, 1 - false, names = FALSE, type = 1)
  data.frame(false = false, found = vapply(threshold, \(at) mean(scores$link >= at), 0))
}

# ---- Parts -----------------------------------------------------------------------------

part_roc <- function(seeds = 1:20) {
  areas <- curves <- lags <- list()
  for (system in names(systems)) for (seed in seeds) {
    set.seed(seed)
    x <- systems[[system]](1000)
    truth <- attr(x, "truth")
    lag <- delays(x, truth)
    lags <- c(lags, list(data.frame(system = system, seed = seed, earlier = lag[[1L]],
                                    equal = lag[[2L]])))
    for (method in names(methods)) {
      score <- methods[[method]](x)
      scores <- split_scores(score, truth)
      areas <- c(areas, list(data.frame(system = system, seed = seed, method = method,
                                        links = length(scores$link), area = area(scores),
                                        directions = directions(score, truth))))
      curves <- c(curves, list(cbind(system = system, method = method, curve(scores))))
    }
  }
  write_table(do.call(rbind, areas), "areas")
  write_table(do.call(rbind, lags), "delays")
  curves <- do.call(rbind, curves)
  write_table(stats::aggregate(found ~ system + method + false, curves, mean), "curves")
}

part_noise <- function(seeds = 1:5) {
  cases <- expand.grid(seed = seeds, noise = c(0, 0.05, 0.1, 0.2),
                       steps = c(100, 200, 400, 800, 1600), system = names(systems),
                       stringsAsFactors = FALSE)
  cases$area <- vapply(seq_len(nrow(cases)), \(k) {
    case <- cases[k, ]
    set.seed(case$seed)
    x <- systems[[case$system]](case$steps, case$noise)
    area(split_scores(cross_map(x, Tp = -3:0), attr(x, "truth")))
  }, 0)
  write_table(stats::aggregate(area ~ noise + steps + system, cases, mean), "noise")
}

part_surrogates <- function(n = 199) {
  set.seed(1)
  x <- simulate_coupled_maps(600)
  seconds <- system.time(
    map <- causal_map(x, E_max = 10, n_surrogates = n, threads = 2)
  )[["elapsed"]]
  links <- as.data.frame(map)
  links <- links[links$cause != links$effect, ]
  links$link <- attr(x, "truth")[cbind(links$cause, links$effect)] > 0
  links$seconds <- seconds
  write_table(links[c("cause", "effect", "rho", "p_value", "link", "seconds")], "surrogates")
}

part_screen <- function() {
  set.seed(2)
  x <- simulate_calcium(neurons = 300)
  E <- attr(causal_map(x, E_max = 10, Tp = -1, threads = 2), "E")
  rho <- as.matrix(causal_map(x, E = E, Tp = -1, threads = 2))
  diag(rho) <- NA
  rows <- lapply(c(0.2, 0.3, 0.4, 0.5, 0.6), \(r) {
    got <- as.data.frame(causal_map(x, E = E, Tp = -1, screen = r, threads = 2))
    got <- match(got$effect, rownames(rho)) + (match(got$cause, colnames(rho)) - 1) * nrow(rho)
    there <- which(rho >= r)
    data.frame(screen = r, pairs = sum(!is.na(rho)), there = length(there),
               missed = length(setdiff(there, got)), false = length(setdiff(got, there)))
  })
  write_table(do.call(rbind, rows), "screen")
}

# What the screen misses (vignette("definitions-edm")): pairs of coupled maps that reach a
# threshold, through causal_map(); and pairs of maps that visit `bands` bands in turn, where
# the points compared are every eighth, or every eleventh as in causal_map(). Two minutes.
part_misses <- function() {
  made <- expand.grid(kind = c("plain", "noisy", "calcium"), steps = c(200, 400, 800, 1600),
                      seed = 1:25, stringsAsFactors = FALSE)
  coupled <- do.call(rbind, Map(count_misses, made$kind, made$steps, made$seed))
  coupled <- stats::aggregate(cbind(reached, missed) ~ kind + screen, coupled, sum)
  write_table(coupled, "misses")
  banded <- expand.grid(bands = c(2, 4, 8), every = c(8, 11))
  banded[c("reached", "missed")] <- t(mapply(count_banded, banded$bands, banded$every))
  write_table(banded, "misses_bands")
}

count_misses <- function(kind, steps, seed) {
  set.seed(seed)
  x <- simulate_coupled_maps(steps, series = 20, noise = if (kind == "noisy") 0.1 else 0)
  x <- matrix(as.numeric(unlist(x)), steps)
  if (kind == "calcium") x <- apply(x, 2L, stats::filter, 0.7, "recursive")
  E <- rep(3, ncol(x))
  rho <- unclass(causal_map(x, E = E, threads = 2))
  diag(rho) <- NA
  do.call(rbind, lapply(c(0.2, 0.3, 0.5, 0.8), \(r) {
    got <- as.data.frame(causal_map(x, E = E, screen = r, threads = 2))
    reached <- sum(rho >= r, na.rm = TRUE)
    data.frame(kind, screen = r, reached, missed = reached - nrow(got))
  }))
}

# Reached and missed among 300 pairs of series that do not know of each other.
count_banded <- function(bands, every, steps = 800, screen = 0.8) {
  set.seed(bands)
  around <- c(`2` = 3.63, `4` = 3.585, `8` = 3.572)[[as.character(bands)]]
  x <- replicate(25, {
    r <- around + stats::runif(1, -0.001, 0.001)
    state <- stats::runif(1, 0.2, 0.8)
    for (k in seq_len(500)) state <- r * state * (1 - state)
    for (k in seq_len(steps)) state[[k + 1L]] <- r * state[[k]] * (1 - state[[k]])
    state[seq_len(steps)]
  })
  pairs <- utils::combn(25, 2)
  found <- apply(pairs, 2L, \(pair) {
    data <- data.frame(time = seq_len(steps), a = x[, pair[[1L]]], b = x[, pair[[2L]]])
    said <- simplex(data, "a", "b", E = 2, Tp = 0, threads = 1)
    some <- seq(1, nrow(said), by = every)
    r <- stats::cor(said$Observations[some], said$Predictions[some], use = "complete.obs")
    bound <- tanh(atanh(r) + 3.5 / sqrt(length(some) / 2 - 3))
    all <- stats::cor(said$Observations, said$Predictions, use = "complete.obs")
    c(reached = all >= screen, missed = all >= screen && bound < screen)
  })
  rowSums(found, na.rm = TRUE)
}

# What leads from each series to each other one, by the wiring: the first of these that is so.
wired_as <- function(truth) {
  once <- truth > 0
  between <- once %*% once
  kind <- matrix("nothing of these", nrow(truth), ncol(truth))
  kind[crossprod(once) > 0] <- "common driver"
  kind[t(once)] <- "the other direction"
  kind[between + between %*% once > 0] <- "mediated"
  kind[once] <- "direct"
  kind
}

# What the links that a map of 200 series names are by the wiring.
part_verdicts <- function(seeds = c(2, 4)) {
  kinds <- c("direct", "mediated", "the other direction", "common driver", "nothing of these")
  networks <- list(
    "coupled maps" = \() simulate_coupled_maps(1000, series = 200, causes = 2, noise = 0.02),
    "strongly coupled maps" = \() {
      simulate_coupled_maps(1000, series = 200, causes = 2, strength = 0.2, noise = 0.02)
    },
    calcium = \() simulate_calcium(1000, 200)
  )
  counted <- list()
  for (network in names(networks)) for (seed in seeds) {
    set.seed(seed)
    x <- networks[[network]]()
    kind <- wired_as(attr(x, "truth"))
    map <- causal_map(x, E_max = 5, Tp = -3:0, n_surrogates = 99)
    rho <- t(as.matrix(map))
    pairs <- row(rho) != col(rho) & !is.na(rho)
    wired <- sum(kind[pairs] == "direct")
    direct <- direct_links(map, x)
    found <- matrix("not tested", 200, 200, dimnames = dimnames(rho))
    found[cbind(direct$cause, direct$effect)] <- as.character(direct$link)
    highest <- sort(rho[pairs], decreasing = TRUE)
    p <- t(attr(map, "p_value"))
    named <- list(
      "as many as are wired, of highest rho" = rho >= highest[[wired]], "rho >= 0.5" = rho >= 0.5,
      "rho >= 0.3" = rho >= 0.3, "p <= 0.05" = !is.na(p) & p <= 0.05,
      "called direct" = found == "direct", "called mediated" = found == "mediated",
      "called common driver" = found == "common driver"
    )
    counted <- c(counted, lapply(names(named), \(by) {
      here <- pairs & named[[by]]
      data.frame(network, named = by, wired, links = sum(here),
                 t(tabulate(match(kind[here], kinds), 5)),
                 called_direct = sum(found[here] == "direct"))
    }))
  }
  counted <- do.call(rbind, counted)
  names(counted)[5:9] <- chartr(" ", "_", kinds)
  sums <- stats::aggregate(. ~ named + network, counted, sum)
  write_table(sums[order(match(sums$network, names(networks)), match(sums$named, counted$named)), ],
              "verdicts")
}

asked <- commandArgs(TRUE)
parts <- list(roc = part_roc, noise = part_noise, surrogates = part_surrogates,
              screen = part_screen, misses = part_misses, verdicts = part_verdicts)
unknown <- setdiff(asked, names(parts))
if (length(unknown) > 0L) stop("no such part: ", paste(unknown, collapse = ", "))
for (part in if (length(asked)) asked else names(parts)) {
  message(part, ": ", format(system.time(parts[[part]]())[["elapsed"]], digits = 3), " s")
}
