# A small simulated brain for vignette("causal-maps") and vignette("paper-causal-maps"):
# neurons in four regions, in each a hub that drives many, seen as calcium twice a second.

# Links [cause, effect]: most neurons have one local cause; hubs reach their region and beyond.
brain_links <- function(region, condition) {
  n <- length(region)
  hub <- match(levels(region), region)
  links <- matrix(0, n, n)
  for (effect in setdiff(seq_len(n), hub)) {
    near <- setdiff(which(region == region[[effect]]), c(hub, effect))
    links[near[sample(length(near), 1L)], effect] <- 1
  }
  own <- outer(levels(region), as.character(region), `==`)
  links[hub, ] <- matrix(runif(n * length(hub)), length(hub)) < ifelse(own, 0.8, 0.1)
  if (condition == "stimulus") {
    links[hub[[1L]], region == "hindbrain"] <- 1
    links[hub[[2L]], region != "habenula"] <- 0
  }
  links[, hub] <- 0
  links
}

# A matrix of frames x neurons, with the attributes `truth` [cause, effect], `region`, `hubs`
# and `turning`, the movement that two neurons of the last region steer (`turned_by`).
simulate_brain <- function(steps = 1600, neurons = 60, condition = "rest", strength = 0.2,
                           noise = 0.03, decay = 1.5, frame_rate = 2) {
  regions <- c("tectum", "habenula", "pallium", "hindbrain")
  region <- factor(regions[sort(rep_len(1:4, neurons))], regions)
  links <- strength * brain_links(region, condition)
  growth <- 2.8 + 0.3 * runif(neurons)
  # The conditions are two recordings: other starts, other noise.
  if (condition == "stimulus") runif(1)
  state <- 0.1 + 0.8 * runif(neurons)
  activity <- matrix(0, steps, neurons)
  for (t in seq(-99, steps)) {
    state <- state * exp(growth * (1 - state) - drop((state - 1) %*% links))
    if (t > 0) activity[t, ] <- state
  }
  noisy <- \(x) x + rnorm(length(x), sd = noise * sd(x))
  kept <- exp(-1 / frame_rate / decay)
  calcium <- apply(activity, 2, stats::filter, kept, "recursive", init = 1 / (1 - kept))
  x <- apply(calcium, 2, \(trace) noisy(trace / quantile(trace, 0.1) - 1))
  names <- sprintf("n%02d", seq_len(neurons))
  dimnames(x) <- list(NULL, names)
  dimnames(links) <- list(names, names)
  by <- which(region == "hindbrain")[2:3]
  push <- tanh(activity[, by[[1L]]] - activity[, by[[2L]]])
  turning <- stats::filter(c(0, push[-steps]), 0.5, "recursive")
  structure(x, truth = links, region = region, hubs = names[match(regions, region)],
            turning = noisy(c(turning)), turned_by = setNames(names[by], c("left", "right")))
}
