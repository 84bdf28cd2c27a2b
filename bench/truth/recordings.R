# The recordings of bench/truth.R. Each is decided by its seed, whatever else is measured.
#
# A case is a list of
#   title        what is in it
#   make         function(k) that gives the k-th recording, after set.seed()
#   planted      whether there are assemblies in it

all_kinds <- c("synchrony", "sequence", "jittered_sequence", "rate_synchrony", "rate_sequence")

# Backgrounds take turns.
turn <- function(k) c("poisson", "gamma", "lognormal")[[(k - 1) %% 3 + 1]]

five_kinds <- function(participation, nuisances = NULL) {
  function(k) {
    simulate_assemblies(1200, 50, all_kinds, participation = participation,
                        intervals = turn(k), nuisances = nuisances)
  }
}

# Sizes, counts, overlaps, participation and numbers of units over the whole range that is
# asked for.
any_assemblies <- function(k) {
  units <- c(50, 100, 200, 500)[[(k - 1) %% 4 + 1]]
  size <- sample(3:12, 5, replace = TRUE)
  while (sum(size) > units) size <- sample(3:12, 5, replace = TRUE)
  kind <- sample(all_kinds)
  # A long sequence of rates does not fit into 20 minutes more than 200 times.
  most <- ifelse(kind == "rate_sequence", 200, 500)
  simulate_assemblies(
    1200, units, kind, size = size, count = round(exp(stats::runif(5, log(20), log(most)))),
    participation = stats::runif(5, 0.6, 1), overlap = sample(0:2, 1), intervals = turn(k),
    nuisances = if (k %% 2 == 0) "all"
  )
}

# Small enough for the slowest rival.
small_recording <- function(participation, nuisances = NULL) {
  function(k) {
    simulate_assemblies(300, 30, all_kinds, size = 4, count = 100,
                        participation = participation, intervals = turn(k),
                        nuisances = nuisances)
  }
}

cases <- list(
  whole = list(title = "five kinds, 50 units, 20 min, participation 100 %",
               make = five_kinds(1), planted = TRUE),
  partial = list(title = "five kinds, 50 units, 20 min, participation 80 %",
                 make = five_kinds(0.8), planted = TRUE),
  hard = list(title = "five kinds, 50 units, 20 min, participation 80 %, all nuisances",
              make = five_kinds(0.8, "all"), planted = TRUE),
  any = list(title = "sizes 3 to 12, counts 20 to 500, participation 60 to 100 %, 50 to 500 units",
             make = any_assemblies, planted = TRUE),
  none = list(title = "no assembly, 50 units, 20 min, all nuisances", planted = FALSE,
              make = \(k) simulate_assemblies(1200, 50, character(), intervals = turn(k),
                                              nuisances = "all")),
  small = list(title = "five kinds, 30 units, 5 min, participation 100 %",
               make = small_recording(1), planted = TRUE),
  small_hard = list(title = "five kinds, 30 units, 5 min, participation 80 %, all nuisances",
                    make = small_recording(0.8, "all"), planted = TRUE),
  small_none = list(title = "no assembly, 30 units, 5 min, all nuisances", planted = FALSE,
                    make = \(k) simulate_assemblies(300, 30, character(), intervals = turn(k),
                                                    nuisances = "all"))
)

# Those of others.R come last, so that the others keep their seeds.
cases <- c(cases, other_cases)

seed_of <- function(case, k) 1000 * match(case, names(cases)) + k

#' The k-th recording of a case
make_recording <- function(case, k) {
  set.seed(seed_of(case, k))
  cases[[case]]$make(k)
}

#' A table that R and Python read: `time` in seconds and `unit`, its number from 1
write_recording <- function(x, file) {
  utils::write.csv(
    data.frame(time = sprintf("%.6f", x$time), unit = as.integer(x$unit)), file,
    row.names = FALSE, quote = FALSE
  )
}
