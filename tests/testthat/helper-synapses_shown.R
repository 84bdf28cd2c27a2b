# A result of find_synapses() with a row of each kind, made by hand: what printing, words, tables
# and pictures get. Correlograms are those of its own numbers.

made_synapses <- function(places = FALSE, judged = TRUE, rows = 1:10) {
  units <- data.frame(unit = sprintf("n%02d", 1:12), spikes = c(rep(6000L, 11), 40L),
                      rate = c(rep(10, 11), 40 / 600), tested = rep(c(TRUE, FALSE), c(11, 1)),
                      reason = rep(c(NA, "fewer than 100 spikes"), c(11, 1)))
  angle <- seq(0, 2 * pi, length.out = 13)[-13]
  units$x <- if (places) 100 * cos(angle) * c(1, 0.6) else NA_real_
  units$y <- if (places) 150 * sin(angle) * c(1, 0.6) else NA_real_
  columns <- data.frame(
    from = c("n01", "n02", "n05", "n06", "n03", "n01", "n08", "n09", "n01", "n02"),
    to = c("n02", "n03", "n06", "n07", "n04", "n03", "n10", "n11", "n10", "n12"),
    kind = factor(c(rep("connection", 5), "explained", "common input", "same cell", "wide", NA),
                  synapse_kinds),
    sign = c(1L, 1L, 1L, -1L, -1L, 1L, 1L, NA, 1L, 1L),
    lag = c(0.002, 0.0025, 0.0015, 0.003, 0.0035, 0.0045, 0, 0, 0, 0.002),
    width = c(0.001, 0.0015, 0.001, 0.004, 0.003, 0.002, 0.001, 0.0005, 0.02, 0.001),
    strength = c(0.12, 0.081, 0.034, -0.022, -0.017, 0.02, 0.05, 0.4, 0.03, 0.2)
  )
  columns$count <- as.integer(round(180 + 6000 * columns$strength))
  columns$baseline <- 180 + 0 * columns$lag
  half <- 1.96 * sqrt(columns$count + 30) / 6000
  columns$strength_low <- columns$strength - half
  columns$strength_high <- columns$strength + half
  columns$z <- (columns$count - 180) / sqrt(180)
  columns$p_value <- c(1e-12, 1e-10, 1e-7, 1e-6, 2e-5, 2e-4, 1e-9, 1e-20, 0.01, 0.001)
  columns$q_value <- pmin(1, columns$p_value * 20)
  columns$via <- c(rep(NA, 5), "n02", rep(NA, 4))
  if (places) {
    at <- \(u) as.matrix(units[match(u, units$unit), c("x", "y")])
    columns$distance <- sqrt(rowSums((at(columns$from) - at(columns$to))^2))
  }
  columns$reason <- c(rep(NA, 9), "n12 has 40 spikes, and 100 are needed")
  lag <- seq(-80, 80) * 0.0005
  slow <- vapply(seq_len(10), \(k) 28 + 6 * exp(-lag^2 / 2 / 0.015^2), lag)
  peaks <- vapply(seq_len(10), \(k) {
    area <- ifelse(is.na(columns$sign[[k]]), 1, columns$sign[[k]]) * abs(columns$strength[[k]])
    bump <- exp(-(lag - columns$lag[[k]])^2 / 2 / (columns$width[[k]] / 2)^2)
    area * 6000 * bump / sum(bump)
  }, lag)
  wave <- outer(seq_along(lag), seq_len(10), \(i, k) 4 * sin(i * 2.4 + k))
  power <- matrix(0.01 + 0.002 * outer(1:12, 1:12, \(i, j) (3 * i + j) %% 7), 12, 12,
                  dimnames = list(units$unit, units$unit))
  diag(power) <- power[, 12] <- power[12, ] <- NA
  if (!places) units$x <- units$y <- NULL
  columns <- columns[c(intersect(c(synapses_columns[1:15], "distance"), names(columns)), "reason")]
  keep <- rows
  synapses_table(columns[keep, ], list(
    tests = 110L, false_discovery = 0.05, expected_false = 0.05 * sum(keep <= 5), power = power,
    units = units, max_lag = 0.01, bin_size = 0.0005, scale = 0.02,
    inflation = c(excitatory = 1.04, inhibitory = 1),
    bursts = list(gain = if (judged) 1.4 else 12, share = if (judged) 0 else 0.74,
                  judged = judged),
    correlograms = (\(m) { storage.mode(m) <- "integer"; m })(
      pmax(round(slow + peaks + wave), 0)[, keep, drop = FALSE]),
    baseline = slow[, keep, drop = FALSE],
    windows = cbind(low = pmax(columns$lag - 0.00125, -0.001),
                    high = columns$lag + 0.00175)[keep, , drop = FALSE],
    call = quote(find_synapses(x)), elapsed = 0.1, device = "cpu"
  ))
}
