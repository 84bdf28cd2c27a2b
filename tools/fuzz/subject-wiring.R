# Wirings of simulated series: what truth_links() says, against the slow search
# (tests/testthat/helper-wiring.R), and series of both simulators against their equations.

all_motifs <- c("pair", "chain", "feedback", "common_driver", "hidden_driver", "loop", "fan_in",
                "triangle")

# Arguments of wiring().
draw_wiring <- function() {
  one_of(draw_motifs, draw_link_matrix, draw_link_table)()
}

draw_motifs <- function() {
  motifs <- sample(all_motifs, whole(1, 4))
  x <- if (sometimes(0.3)) motifs else
    stats::setNames(vapply(motifs, function(motif) whole(0, 2), 0), motifs)
  args <- c(list(x = x), some_args(
    series = whole(1, 25), overlap = one_of(FALSE, TRUE), delay = one_of(2, 1:3, c(1, 7)),
    strength = one_of(0.1, c(0.01, 0.2)), size = one_of(4, c(chain = 5, loop = 3), 3), p = 0.4))
  if (sometimes(0.2)) args$hidden <- one_of("x01", 2, c("x02", "x03"))
  args
}

draw_link_matrix <- function() {
  n <- whole(1, 8)
  x <- matrix(rbinom(n^2, 1, between(0, 0.5)) * runif(n^2, 0, 1 / n), n)
  diag(x) <- 0
  args <- list(x = x)
  if (sometimes()) args$delay <- one_of(3, 1:2, matrix(sample(5, n^2, TRUE), n))
  if (sometimes(0.4)) args$hidden <- sample(n, whole(0, n))
  if (sometimes(0.2) && requireNamespace("Matrix", quietly = TRUE)) {
    args$x <- methods::as(methods::as(x, "generalMatrix"), "CsparseMatrix")
  }
  args
}

draw_link_table <- function() {
  n <- whole(2, 7)
  pairs <- expand.grid(cause = seq_len(n), effect = seq_len(n))
  pairs <- pairs[pairs$cause != pairs$effect, ]
  x <- pairs[sample(nrow(pairs), whole(0, nrow(pairs) %/% 2)), ]
  if (sometimes()) x$strength <- runif(nrow(x), 0, 1 / n)
  if (sometimes()) x$delay <- sample(4, nrow(x), TRUE)
  named <- sometimes(0.4)
  if (named) x[1:2] <- lapply(x[1:2], function(of) letters[of])
  c(list(x = x), some_args(series = if (named) letters[1:n] else n, hidden = 1, p = 0.5))
}

wiring_and_oracle <- function(w) {
  longest <- one_of(Inf, 1, 2, 3)
  found <- attempt("truth_links", list(w, max_length = longest))
  slow <- oracles()$slow_pairs(w, longest)
  if (refused(found)) return(finding("truth_links(): refused a wiring"))
  same(as.list(found), as.list(slow), "truth_links() and the slow search")
  table <- attempt("truth_links", list(w, max_length = longest, as = "matrix"))
  same(table[cbind(found$cause, found$effect)], as.character(found$link),
       "truth_links() as a matrix and as a table")
  same(sum(table != "none", na.rm = TRUE), nrow(found), "pairs in the matrix of truth_links()")
}

# What draws the same growth and start as a simulator with this seed.
drawn_start <- function(n, seed, least, spread, take = 0) {
  set.seed(seed)
  key <- synfire:::random_key()
  stream <- synfire:::sim_stream
  list(r = least + spread * synfire:::random_uniform(n, key, stream(2)),
       start = 0.1 + 0.8 * synfire:::random_uniform(n, key, stream(3, take)))
}

with_strengths <- function(w, strength) {
  w$links$strength[is.na(w$links$strength)] <- strength
  w
}

maps_and_oracle <- function(w) {
  steps <- whole(1, 12)
  transient <- whole(0, 8)
  strength <- between(0, 0.3)
  set.seed(5)
  x <- attempt("simulate_coupled_maps", list(steps, w, strength = strength,
                                             transient = transient))
  if (refused(x)) return()
  from <- drawn_start(length(w$series), 5, 3.87, 0.13)
  slow <- oracles()$slow_maps(with_strengths(w, strength), "logistic", from$r, from$start,
                                   steps, transient)
  same(c(x), c(slow[, !w$hidden]), "coupled maps and their equation", 1e-6)
  same(colnames(x), w$series[!w$hidden], "names of the series that are seen")
  truth <- attr(x, "truth")
  same(sum(attr(x, "delay") > 0) >= sum(truth > 0), TRUE, "every link has a delay")
}

calcium_and_oracle <- function(w) {
  steps <- whole(2, 30)
  strength <- between(0, 0.4)
  args <- c(list(steps, wiring = w, strength = strength, noise = 0, transient = 4), some_args(
    frame_rate = one_of(2, 30, 0.7), decay = between(0.2, 3), rise = between(0, 0.19),
    half_saturation = one_of(Inf, between(0.1, 20)), hill = between(0.5, 4)))
  rate <- between(0.1, 20)
  set.seed(6)
  x <- attempt("simulate_calcium", c(args, list(firing_rate = rate, spikes = TRUE)))
  if (refused(x)) return()
  trains <- attr(x, "spike_trains")
  how <- utils::modifyList(list(frame_rate = 2, decay = 1.5, rise = 0, half_saturation = Inf,
                                hill = 1), args[intersect(names(args), c(
                                  "frame_rate", "decay", "rise", "half_saturation", "hill"))])
  slow <- oracles()
  for (unit in colnames(x)) {
    calcium <- slow$slow_calcium(trains$time[trains$unit == unit], steps, how$frame_rate, rate,
                                 how$decay, how$rise)
    seen <- slow$relative(slow$slow_fluorescence(calcium, how$half_saturation, how$hill))
    # Times of spikes were rounded to microseconds.
    same(unname(x[, unit]), seen, "calcium and what spikes leave", 1e-3 * (1 + max(abs(seen))))
  }
  set.seed(6)
  without <- attempt("simulate_calcium", c(args, list(firing_rate = rate)))
  same(c(without), c(x), "calcium with and without its spikes")
}

# Activity: calcium that is gone before the next frame.
activity_and_oracle <- function(w) {
  steps <- whole(2, 12)
  set.seed(7)
  x <- attempt("simulate_calcium", list(steps, wiring = w, decay = 1e-4, noise = 0,
                                        transient = 5))
  if (refused(x)) return()
  from <- drawn_start(length(w$series), 7, 2.8, 0.3, take = 1)
  slow <- oracles()$slow_maps(with_strengths(w, 0.2), "ricker", from$r, from$start, steps, 5)
  slow <- apply(slow[, !w$hidden, drop = FALSE], 2L, oracles()$relative)
  same(c(x), c(slow), "activity and its equation", 1e-5 * (1 + max(abs(slow))))
}

fuzz_subject("wiring",
  covers = list(
    wiring = c("x", "series", "strength", "delay", "hidden", "size", "overlap"),
    truth_links = c("x", "max_length", "as"),
    simulate_calcium = c("wiring", "frame_rate", "firing_rate", "rise", "half_saturation", "hill",
                         "spikes"),
    as.data.frame.wiring = c("row.names", "optional"),
    autoplot.wiring = c("groups", "links", "layout")
  ),
  run = function(world) {
    args <- draw_wiring()
    set.seed(4)
    w <- attempt("wiring", args)
    if (refused(w)) return()
    set.seed(4)
    same(attempt("wiring", args), w, "wirings of the same seed")
    attempt("print", list(w))
    if (sometimes(0.1)) attempt("autoplot", c(list(w), some_args(
      groups = rep_len(c("a", "b"), length(w$series)), links = whole(1, 5),
      layout = igraph::layout_in_circle)))
    links <- attempt("as.data.frame", list(w))
    again <- attempt("wiring", list(links[1:4], series = w$series, hidden = which(w$hidden)))
    if (!anyNA(links$strength)) same(as.data.frame(again)[1:4], links[1:4], "a wiring of its links")
    one_of(wiring_and_oracle, maps_and_oracle, calcium_and_oracle, activity_and_oracle)(w)
  }
)
