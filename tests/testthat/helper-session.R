# A simulated session: 30 units for 20 minutes, in blocks of rest and task, with three assemblies of
# which everything is known.
#
#   A1  five units in turn, 12 to 15 ms apart, to within 2 ms
#   A2  five units in turn, 40 ms apart, to within 20 ms
#   A3  four units within 3 ms
#
# How often A1 is activated changes chaotically from one step of four seconds to the next; what
# it did three steps ago drives A2. A3 is by itself, five times as often in task as in rest.

session_truth <- list(
  A1 = list(units = c("u03", "u17", "u08", "u29", "u22"), lags = c(0, 12, 25, 40, 52), width = 2),
  A2 = list(units = c("u12", "u05", "u27", "u16", "u19"), lags = c(0, 40, 80, 120, 160), width = 20),
  A3 = list(units = c("u09", "u14", "u25", "u30"), lags = c(0, 0, 0, 0), width = 3)
)

# How often each assembly is activated in each step (Hz), a matrix steps x assemblies.
session_drive <- function(blocks, duration, step) {
  links <- rbind(c(0, 0.3, 0), 0, 0)
  drive <- simulate_coupled_maps(duration / step, links, delay = 3, r = c(3.9, 3.8, 3.85))
  drive <- 1.5 * sweep(drive, 2, colMeans(drive), "/")
  task <- blocks$condition[findInterval(step * (seq_len(nrow(drive)) - 0.5), blocks$start)] == "task"
  drive[, 3] <- ifelse(task, 1, 0.2)
  drive
}

# Times of activations, and the spikes of the members that take part (four of five do).
session_assembly <- function(assembly, rate, step) {
  count <- stats::rpois(length(rate), rate * step)
  start <- rep(step * (seq_along(rate) - 1), count) + stats::runif(sum(count), 0, step)
  size <- length(assembly$units)
  spikes <- data.frame(
    unit = rep(assembly$units, each = length(start)),
    time = rep(start, size) + rep(assembly$lags, each = length(start)) / 1000 +
      stats::runif(size * length(start), 0, assembly$width / 1000)
  )
  spikes[stats::runif(nrow(spikes)) < 0.8, ]
}

make_session <- function(duration = 1200, units = 30, step = 4) {
  set.seed(22)
  blocks <- data.frame(start = seq(0, duration - 100, by = 100),
                       end = seq(100, duration, by = 100), condition = c("rest", "task"))
  drive <- session_drive(blocks, duration, step)
  planted <- lapply(1:3, \(k) session_assembly(session_truth[[k]], drive[, k], step))
  names <- sprintf("u%02d", seq_len(units))
  rate <- exp(stats::rnorm(units, log(3), 0.6))
  count <- stats::rpois(units, rate * duration)
  spikes <- rbind(data.frame(unit = rep(names, count), time = stats::runif(sum(count), 0, duration)),
                  do.call(rbind, planted))
  spikes <- spikes[spikes$time < duration, ]
  x <- spike_trains(spikes$time, factor(spikes$unit, names), start = 0, end = duration)
  list(recording = x, blocks = blocks)
}
