# What can be had of calcium traces: links found in traces as they are, deconvolved, and as events.
#
#   Rscript vignettes/causes/calcium.R [runs [first seed]]
#
# writes calcium.csv beside this file, a row for each kind of neurons, series and method. Seeds of
# development are odd, those of the page even.
library(synfire)
here <- "vignettes/causes"
source("vignettes/causal-maps/simulated.R")
arguments <- as.integer(commandArgs(TRUE))
runs <- if (length(arguments) > 0L) arguments[[1L]] else 4L
first <- if (length(arguments) > 1L) arguments[[2L]] else 2L

# Twelve neurons, of which nine have two causes each, one or two frames before.
drawn_wiring <- function() {
  wiring <- matrix(0, 12, 12)
  for (effect in 4:12) wiring[sample(effect - 1, 2), effect] <- runif(2, 0.2, 0.4)
  wiring
}

# Each gives `x`, traces; `truth`; `rate`, of frames; and `spikes` where there are any.
kinds <- list(
  "graded activity, 2 Hz" = function() {
    wiring <- drawn_wiring()
    list(x = simulate_calcium(1000, wiring = wiring, noise = 0.03), truth = wiring > 0, rate = 2)
  },
  "the same, 10 % noise" = function() {
    wiring <- drawn_wiring()
    list(x = simulate_calcium(1000, wiring = wiring, noise = 0.1), truth = wiring > 0, rate = 2)
  },
  "spikes of it, 2 Hz" = function() {
    wiring <- drawn_wiring()
    list(x = simulate_calcium(1000, wiring = wiring, firing_rate = 10, noise = 0.03),
         truth = wiring > 0, rate = 2)
  },
  "spiking network, 5 Hz" = function() {
    duration <- 600
    spikes <- simulate_network(duration, units = 12, connectivity = 0.15)
    frame <- \(u) tabulate(floor(spikes$time[spikes$unit == u] * 5) + 1, duration * 5)
    jump <- vapply(levels(spikes$unit), frame, double(duration * 5))
    x <- apply(jump, 2L, stats::filter, exp(-1 / 5 / 1.5), "recursive")
    x <- x + rnorm(length(x), sd = 0.1 * apply(x, 2L, stats::sd)[col(x)])
    list(x = x, truth = attr(spikes, "truth")$wiring != 0, rate = 5, spikes = spikes)
  }
)

# ---- Series ----------------------------------------------------------------------------

# Rises of a trace beyond its decay (which the indicator has, and who records knows).
rises <- function(x, decay) x - decay * c(x[[1L]], x[-length(x)])

# The activity that is never negative and explains the trace best (Friedrich et al. 2017).
activity <- function(x, decay) {
  x <- x - stats::quantile(x, 0.05)
  value <- weight <- first <- size <- numeric(length(x))
  n <- 0L
  for (t in seq_along(x)) {
    n <- n + 1L
    value[[n]] <- x[[t]]
    weight[[n]] <- size[[n]] <- 1
    first[[n]] <- t
    while (n > 1L && value[[n]] < decay^size[[n - 1L]] * value[[n - 1L]]) {
      by <- decay^size[[n - 1L]]
      total <- weight[[n - 1L]] + by^2 * weight[[n]]
      value[[n - 1L]] <- (weight[[n - 1L]] * value[[n - 1L]] + by * weight[[n]] * value[[n]]) /
        total
      weight[[n - 1L]] <- total
      size[[n - 1L]] <- size[[n - 1L]] + size[[n]]
      n <- n - 1L
    }
  }
  pool <- seq_len(n)
  fit <- unlist(lapply(pool, \(k) pmax(value[[k]], 0) * decay^(seq_len(size[[k]]) - 1)))
  pmax(fit - decay * c(fit[[1L]], fit[-length(fit)]), 0)
}

series <- list(
  traces = \(x, decay) x,
  "rises beyond the decay" = \(x, decay) apply(x, 2L, rises, decay),
  deconvolved = \(x, decay) apply(x, 2L, activity, decay),
  events = \(x, decay) {
    rise <- apply(x, 2L, rises, decay)
    1 * (rise > rep(apply(rise, 2L, \(r) stats::median(r) + 3 * stats::mad(r)), each = nrow(x)))
  }
)

# ---- Methods ---------------------------------------------------------------------------

# Each gives a matrix [cause, effect]: TRUE where a link is called direct.
methods <- list(
  "direct_links()" = function(x) {
    map <- suppressMessages(causal_map(x, E_max = 5, Tp = -3:0, threads = 1))
    found <- as.data.frame(direct_links(map, x, threads = 1))
    of_kind <- function(kind) {
      said <- matrix(FALSE, ncol(x), ncol(x), dimnames = list(colnames(x), colnames(x)))
      said[as.matrix(found[found$link == kind, c("cause", "effect")])] <- TRUE
      said
    }
    structure(of_kind("direct"), undirected = of_kind("undirected"))
  },
  # F of three lags of the cause, given those of all series.
  Granger = function(x) {
    n <- ncol(x)
    lags <- stats::embed(x, 4)
    then <- lags[, seq_len(n)]
    before <- cbind(1, lags[, -seq_len(n)])
    residual <- \(design, y) sum(qr.resid(qr(design), y)^2)
    degrees <- nrow(before) - ncol(before)
    p <- matrix(NA, n, n)
    for (effect in seq_len(n)) {
      full <- residual(before, then[, effect])
      for (cause in setdiff(seq_len(n), effect)) {
        less <- residual(before[, -(1 + cause + 0:2 * n)], then[, effect])
        p[cause, effect] <- stats::pf((less - full) / 3 / (full / degrees), 3, degrees,
                                      lower.tail = FALSE)
      }
    }
    q <- p
    q[] <- stats::p.adjust(p, "BH")
    !is.na(q) & q <= 0.05
  }
)

connections <- function(spikes) {
  found <- as.data.frame(suppressMessages(find_synapses(spikes, threads = 1)))
  found <- found[found$kind == "connection", ]
  called <- matrix(FALSE, nlevels(spikes$unit), nlevels(spikes$unit),
                   dimnames = list(levels(spikes$unit), levels(spikes$unit)))
  called[cbind(as.character(found$from), as.character(found$to))] <- TRUE
  called
}

# ---- Counts ----------------------------------------------------------------------------

# `said`: TRUE where a link is called direct, and with an attribute `undirected` where only a pair
# without its order is.
count <- function(kind, what, method, said, truth) {
  off <- row(truth) != col(truth)
  either <- \(of) (of | t(of))[upper.tri(of)]
  undirected <- attr(said, "undirected")
  pairs <- either(if (is.null(undirected)) said else said | undirected)
  data.frame(kind, series = what, method, links = sum(truth[off]),
             found = sum(said & truth & off), pairs = sum(!truth & off),
             false = sum(said & !truth & off), linked = sum(either(truth)),
             linked_found = sum(pairs & either(truth)), apart = sum(!either(truth)),
             apart_false = sum(pairs & !either(truth)))
}

counted <- list()
for (kind in names(kinds)) for (seed in first + 2L * (seq_len(runs) - 1L)) {
  set.seed(seed)
  one <- kinds[[kind]]()
  decay <- exp(-1 / one$rate / 1.5)
  for (what in names(series)) for (method in names(methods)) {
    x <- series[[what]](matrix(one$x, nrow(one$x), dimnames = dimnames(one$x)), decay)
    colnames(x) <- sprintf("n%02d", seq_len(ncol(x)))
    counted <- c(counted, list(count(kind, what, method, methods[[method]](x), one$truth)))
  }
  if (!is.null(one$spikes)) {
    counted <- c(counted, list(count(kind, "spikes", "find_synapses()", connections(one$spikes),
                                     one$truth)))
  }
}
counted <- do.call(rbind, counted)
sums <- stats::aggregate(. ~ method + series + kind, counted, sum)
sums <- sums[order(match(sums$kind, names(kinds)), match(sums$series, c(names(series), "spikes")),
                   sums$method), names(counted)]
print(transform(sums, found_pc = 100 * found / links, false_pc = 100 * false / pairs), digits = 3)
utils::write.csv(sums, file.path(here, "calcium.csv"), row.names = FALSE)
