# What kind of pair each is, and the table of the result.

new_synapses <- function(first, work, units, x, plan, about) {
  judged <- first$judged
  from <- rbind(work$a, work$b) + 1L
  to <- rbind(work$b, work$a) + 1L
  rows <- which(judged$q <= about$false_discovery)
  name <- \(u) structure(work$units[u], levels = levels(x$unit), class = "factor")
  n <- work$n[from[rows]]
  extra <- judged$count[rows] - judged$expected[rows]
  slack <- 1.96 * sqrt(judged$count[rows] + judged$noise[rows] * judged$expected[rows])
  new_table(list(
    from = name(from[rows]), to = name(to[rows]),
    kind = factor(rep("connection", length(rows)), synapse_kinds),
    sign = ifelse(judged$up[rows], 1L, -1L),
    lag = (judged$lo[rows] + (plan$width - 1) / 2) * plan$bin_size,
    width = rep(plan$width * plan$bin_size, length(rows)), strength = extra / n,
    strength_low = (extra - slack) / n, strength_high = (extra + slack) / n,
    count = judged$count[rows], baseline = judged$expected[rows], z = judged$z[rows],
    p_value = judged$p[rows], q_value = judged$q[rows], via = name(rep(NA_integer_, length(rows))),
    distance = rep(NA_real_, length(rows)), reason = rep(NA_character_, length(rows))
  ), "synapses", c(list(tests = length(judged$p), units = units, scale = first$hollow / 1000,
                        inflation = c(excitatory = judged$bulk$up$scale,
                                      inhibitory = judged$bulk$down$scale)), about))
}

synapse_kinds <- c("connection", "explained", "common input", "same cell", "wide")
