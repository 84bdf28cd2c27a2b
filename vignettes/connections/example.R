# A recording with connections of each kind, as two tables: spikes and positions of the units. Rates
# rise and fall together, so that all pairs have joint rates.

planted_circuit <- function(seconds = 600) {
  step <- 0.05
  pace <- exp(0.5 * as.vector(stats::filter(rnorm(seconds / step), rep(1, 6) / sqrt(6), circular = TRUE)))
  train <- function(hertz) {
    n <- rpois(length(pace), hertz * step * pace / mean(pace))
    sort(step * (rep(seq_along(pace), n) - 1) + runif(sum(n), 0, step))
  }
  follow <- function(times, share, delay, jitter = 0.0003) {
    times <- times[runif(length(times)) < share]
    times + delay + rnorm(length(times), 0, jitter)
  }
  unit <- rep(list(numeric()), 12)
  unit[[1]] <- train(10)
  unit[[2]] <- c(train(6), follow(unit[[1]], 0.25, 0.002))
  unit[[3]] <- c(train(6), follow(unit[[2]], 0.25, 0.0025))
  unit[[4]] <- train(8)
  unit[[5]] <- c(train(8), follow(unit[[4]], 0.08, 0.0015))
  unit[[6]] <- train(15)
  # After a spike of the sixth unit, seven of ten spikes of the seventh one are missing for 4 ms.
  unit[[7]] <- train(15)
  since <- unit[[7]] - c(-1, unit[[6]])[findInterval(unit[[7]], unit[[6]]) + 1]
  unit[[7]] <- unit[[7]][since > 0.005 | since < 0.001 | runif(length(since)) > 0.7]
  # One hidden unit drives two others, at the same delay; the next two hear the same neuron.
  hidden <- train(5)
  for (k in 8:9) unit[[k]] <- c(train(8), follow(hidden, 0.5, 0.003))
  unit[[10]] <- train(8)
  unit[[11]] <- c(train(5), follow(unit[[10]], 0.5, 0, 0.00005))
  unit[[12]] <- runif(60, 0, seconds)
  spikes <- data.frame(time = unlist(unit), unit = rep(sprintf("n%02d", 1:12), lengths(unit)))
  spikes <- spikes[spikes$time > 0 & spikes$time < seconds, ]
  list(spikes = spikes[order(spikes$time), ],
       places = data.frame(unit = sprintf("n%02d", 1:12), x = rep(c(0, 16, 32), 4),
                           y = rep(c(60, 40, 20, 0), each = 3)))
}
