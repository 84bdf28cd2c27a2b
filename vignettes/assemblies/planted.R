# How many activations a sequence of the mouse's three units needs before find_assemblies() finds
# it. Writes planted.csv: `activations` in 18 minutes, `recordings`, and how many of them `found` it.
#
#   cd vignettes/assemblies; Rscript planted.R

library(synfire)

# Spikes of all units in sequence, `n` times, in the place of as many of their own.
planted_lags <- c(0, 0.012, 0.025)
plant <- function(x, n, width = 0.002, participation = 0.8) {
  units <- levels(x$unit)
  start <- stats::runif(n, attr(x, "start"), attr(x, "end") - 0.1)
  new <- data.frame(
    time = rep(start, length(units)) + rep(planted_lags, each = n) +
      stats::runif(n * length(units), 0, width),
    unit = rep(units, each = n)
  )
  new <- new[stats::runif(nrow(new)) < participation, ]
  old <- data.frame(time = x$time, unit = as.character(x$unit))
  gone <- lapply(units, \(unit) sample(which(old$unit == unit), sum(new$unit == unit)))
  all <- rbind(old[-unlist(gone), ], new)
  all <- all[order(all$time), ]
  spike_trains(all$time, all$unit, start = attr(x, "start"), end = attr(x, "end"))
}

# Whether an assembly has all units of the sequence, at its lags to within 5 ms.
is_sequence <- function(units, lags, names) {
  if (!setequal(units, names)) return(FALSE)
  diff(range(lags[match(names, units)] - planted_lags)) <= 0.005
}

x <- read_spikes(system.file("extdata", "mouse-A8604.nwb", package = "synfire"))
rows <- lapply(c(50, 100, 200, 500), \(n) {
  set.seed(n)
  right <- replicate(10, {
    found <- find_assemblies(plant(x, n), n_surrogates = 39, max_lag = 0.2, threads = 1)
    any(unlist(Map(is_sequence, found$units, found$lags, list(levels(x$unit)))))
  })
  data.frame(activations = n, recordings = length(right), found = sum(right),
             synfire = as.character(utils::packageVersion("synfire")), date = Sys.Date())
})
print(rows <- do.call(rbind, rows))
utils::write.csv(rows, "planted.csv", row.names = FALSE)
