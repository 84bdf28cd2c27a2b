# Draws that subjects share. Each goes through drawn(), which makes it simpler when a
# finding is being made smaller: the first choice, the smallest number, no.

# The number of the draw decides whether it is made simpler; the generator of random
# numbers moves on the same way in any case.
drawn <- function(value, simpler) {
  fuzz$draws <- fuzz$draws + 1L
  level <- fuzz$simpler[as.character(fuzz$draws)]
  if (is.na(level)) value else simpler(value, level)
}

# One of the arguments, or of the elements where one vector or list is given. The first is
# the simplest. Only the argument that is drawn is evaluated.
one_of <- function(...) {
  n <- ...length()
  if (n == 1L) {
    values <- ..1
    return(values[[drawn(sample.int(length(values), 1L), function(value, level) 1L)]])
  }
  ...elt(drawn(sample.int(n, 1L), function(value, level) 1L))
}

sometimes <- function(p = 0.5) drawn(runif(1) < p, function(value, level) FALSE)

# A whole number; made simpler by halving its way to the lowest.
whole <- function(low, high) {
  drawn(low + floor(runif(1) * (high - low + 1)), function(value, level) {
    low + (value - low) %/% 2^level
  })
}

# A number between two; the rounded one is simpler.
between <- function(low, high) {
  drawn(runif(1, low, high), function(value, level) signif(value, 2))
}

# Each argument with probability `p`, as a list by name; those that are left out keep the
# function's default. some_args(E = whole(1, 5), tau = one_of(-1, 2))
some_args <- function(..., p = 0.5) {
  values <- eval(substitute(alist(...)))
  kept <- list()
  for (name in names(values)) {
    if (sometimes(p)) kept[name] <- list(eval(values[[name]], parent.frame()))
  }
  kept
}

# The value, or with a small probability one that is never valid, or seldom.
mostly <- function(value, p = 0.03) if (sometimes(p)) odd_value() else value

odd_value <- function() one_of(odd_values())

# Values that are wrong, or rarely right, for almost any argument.
odd_values <- function() {
  list(
    `NULL` = NULL, `NA` = NA, `NaN` = NaN, `Inf` = Inf, `-Inf` = -Inf, NA_character = NA_character_,
    minus_one = -1, zero = 0, fraction = 1.5, integer = 3L, large_integer = 2^31,
    beyond_integer = 2^53 + 2, huge = 1e300, tiny = 1e-300, string = "x", empty_string = "",
    no_string = character(0), no_number = numeric(0), TRUE_ = TRUE, list = list(),
    list_of_list = list(list(1)), `function` = function(x) x, builtin = sum,
    environment = new.env(), integer64 = structure(1, class = "integer64"),
    factor = factor("a"), date = as.Date("2020-01-01"), difftime = as.difftime(1, units = "secs"),
    matrix = matrix(1:4, 2), matrix_na = matrix(NA_real_, 2, 2), no_rows = data.frame(a = 1)[0, , drop = FALSE],
    no_columns = data.frame(), latin1 = `Encoding<-`("caf\xe9", "latin1"),
    bad_bytes = "caf\xe9\xff", s4 = methods::new("environment"), expression = expression(a + b),
    call = quote(a + b), symbol = quote(abc), formula = y ~ x, complex = 1i, raw = as.raw(1),
    many = as.numeric(1:1000), with_na = c(1, NA, 3), with_names = c(a = 1, b = 2),
    unknown_class = structure(list(1), class = "some_class"),
    number_with_class = structure(2, class = "some_class")
  )
}

# ---- recordings ----

# The arguments of spike_trains(): times and units with the kinds of trouble that
# recordings have. Times are whole ticks.
draw_spikes <- function(spikes = 200, units = 6) {
  kind <- one_of("poisson", "ties", "bursts", "one spike", "no spike", "regular", "far",
                 "negative")
  resolution <- one_of(1e-3, 1e-6, 4e-5, 0.1, 1)
  n_units <- whole(1, units)
  n <- whole(2, spikes)
  if (kind == "one spike") n <- 1
  if (kind == "no spike") n <- 0
  gap <- switch(kind, ties = 3, bursts = 40, 20)
  tick <- floor(runif(n) * n * gap)
  if (kind == "bursts") tick <- floor(tick / 200) * 200 + floor(rexp(n, 0.3))
  if (kind == "regular") tick <- seq_len(n) * gap
  if (kind == "far") tick <- tick + floor(one_of(1e9, 1e12, 2^45))
  if (kind == "negative") tick <- tick - floor(n * gap / 2)
  # Far from zero, doubles of seconds tell only coarse ticks apart.
  if (kind == "far") resolution <- max(resolution, 1e-3)
  labels <- sprintf(one_of("%d", "u%d", "unit %d"), seq_len(n_units))
  unit <- factor(labels[1 + floor(runif(n) * n_units)], levels = labels)
  # Some units never fire.
  if (sometimes(0.2)) unit <- factor(unit, levels = c(labels, "silent"))
  args <- list(time = tick * resolution, unit = unit, resolution = resolution)
  last <- if (n > 0) range(tick) else c(0, 100)
  if (n == 0 || sometimes(0.3)) {
    args$start <- (last[[1]] - whole(0, 50)) * resolution
    args$end <- (last[[2]] + whole(0, 50)) * resolution
  }
  if (n > 1 && diff(last) > 8 && sometimes(0.25)) args$trials <- draw_trials(last, resolution)
  if (sometimes(0.25)) args$unit_table <- draw_units(levels(unit))
  args
}

# What is known of these units, in any order, and of one that never fires.
draw_units <- function(units) {
  units <- c(units, if (sometimes()) "unknown to the rest")
  units <- units[order(runif(length(units)))]
  data.frame(area = rep_len(c("CA1", "CA3"), length(units)), unit = units,
             depth = seq_along(units))
}

# Two to four trials, some of which touch, between the first and last tick.
draw_trials <- function(range, resolution) {
  cuts <- sort(unique(round(range[[1]] + runif(2 * whole(1, 4)) * diff(range))))
  n <- length(cuts) %/% 2
  if (n == 0) return(NULL)
  touching <- sometimes(0.3)
  start <- if (touching) cuts[-length(cuts)] else cuts[2 * seq_len(n) - 1]
  end <- if (touching) cuts[-1] else cuts[2 * seq_len(n)]
  trials <- data.frame(start = start, end = end) * resolution
  if (sometimes()) trials$condition <- rep_len(c("go", "stop"), nrow(trials))
  trials
}

# A spike_trains object.
draw_recording <- function(spikes = 200, units = 6) {
  do.call(synfire::spike_trains, draw_spikes(spikes, units))
}

# The length of a tick of a recording, in seconds.
tick_of <- function(x) attr(x, "resolution")

# ---- series ----

# One series of `n` steps.
draw_series <- function(n = whole(5, 120)) {
  kind <- one_of("logistic", "noise", "ties", "constant", "trend", "tiny", "huge", "counts",
                 "walk", "sine")
  noise <- rnorm(n)
  x <- switch(kind,
    logistic = logistic_map(n), noise = noise, ties = round(noise), constant = rep(1.5, n),
    trend = seq_len(n) + noise / 10, tiny = noise * 1e-300, huge = noise * 1e150,
    counts = rpois(n, 0.7), walk = cumsum(noise), sine = sin(seq_len(n) / 3)
  )
  missing <- runif(n) < 0.1
  if (sometimes(0.15)) x[missing] <- NA
  x
}

logistic_map <- function(n, r = 3.8) {
  x <- runif(1, 0.1, 0.9)
  for (i in seq_len(n)) x[[i + 1]] <- r * x[[i]] * (1 - x[[i]])
  x[-1]
}

# A matrix with a series in each column; pairs of neighbours are coupled.
draw_matrix <- function(series = whole(2, 6), n = whole(20, 120)) {
  x <- vapply(seq_len(series), function(i) as.double(draw_series(n)), double(n))
  if (series > 1 && sometimes(0.5)) {
    ahead <- c(x[1, 1], x[-n, 1])
    x[, 2] <- x[, 2] + ahead
  }
  colnames(x) <- if (sometimes()) paste0("s", seq_len(series))
  x
}

# A data frame as simplex() and the like take it: a column of time, then the series.
draw_table <- function(series = whole(1, 4), n = whole(20, 120)) {
  x <- draw_matrix(series, n)
  colnames(x) <- letters[23 - series + seq_len(series)]
  data.frame(time = seq_len(n), x)
}
