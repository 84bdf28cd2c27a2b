# Tables of results in the hands of others, what chance makes of episodes and patterns, and
# the look of pictures.

# What people do to a table, as functions of it.
tb_handling <- list(
  function(x) x[sample(nrow(x), whole(0, nrow(x)), replace = sometimes()), ],
  function(x) x[c(seq_len(nrow(x)), NA), ], function(x) x[sample(names(x), whole(1, length(x)))],
  function(x) { x$more <- seq_len(nrow(x)); x },
  function(x) { x[[one_of(names(x))]] <- NULL; x },
  function(x) { names(x)[[whole(1, length(x))]] <- "renamed"; x },
  function(x) rbind(x, x), function(x) rbind(x, as.data.frame(x)),
  function(x) do.call(rbind, split(x, rep(1:2, length.out = nrow(x)))),
  function(x) merge(x, data.frame(more = 1:2)), function(x) cbind(x, more = 1),
  function(x) transform(x, more = 1), function(x) utils::head(x, whole(0, 5)),
  function(x) x[order(x[[1L]]), ], function(x) data.frame(x, row.names = NULL)
)

tb_contract <- function() {
  x <- draw_result(one_of("episodes", "episode_occurrences", "episode_lags",
                          "episode_significance", "pattern_occurrences", "pattern_spectrum",
                          "signature_tests", "ccm", "edm_prediction", "edm_skill",
                          "causal_links"))
  if (refused(x) || nrow(x) == 0L) return()
  for (step in seq_len(whole(1, 3))) {
    out <- one_of(tb_handling)(x)
    ours <- inherits(out, "synfire_table")
    if (!is.data.frame(out)) return(finding("a table became something else"))
    if (!ours && any(setdiff(class(x), "data.frame") %in% class(out))) {
      return(finding("a table is neither whole nor plain"))
    }
    attempt("print", list(out))
    if (!ours || nrow(out) == 0L) return()
    x <- out
  }
}

# The expected count of one episode, the busy period by numerical integration.
tb_expected_chain <- function(units, low, high, rates, stretches) {
  rate <- unname(rates[units])
  if (length(units) == 1L) return(rate * sum(stretches))
  if (any(rate == 0)) return(0)
  until <- 1 / rate[[1L]]
  often <- rate[[1L]]
  span <- 0
  for (k in seq_along(low)) {
    width <- high[[k]] - low[[k]]
    s <- rate[[k + 1L]]
    wait <- stats::integrate(function(t) exp(-(s + often) * t), 0, width, rel.tol = 1e-10)$value +
      exp(-(s + often) * width) / s
    hit <- 1 / (often * wait) - s / often
    until <- until + low[[k]] + 1 / s + (1 - hit) / (hit * often)
    late <- stats::integrate(function(t) t * s * exp(-s * t), 0, width, rel.tol = 1e-10)$value
    span <- span + low[[k]] + late / -expm1(-s * width)
    often <- s * -expm1(-often * width)
  }
  sum(pmax(0, stretches - span)) / until
}

tb_expected <- function() {
  x <- draw_recording(whole(20, 150), whole(1, 5))
  tick <- tick_of(x)
  found <- attempt("mine_episodes", list(x, 1, c(0, tick * whole(1, 40)), max_size = whole(1, 3),
                                         max_memory = 1e8))
  if (refused(found) || nrow(found) == 0L) return()
  found <- found[sample(nrow(found), min(nrow(found), 20)), ]
  got <- attempt("expected_counts", c(list(found), some_args(recording = x, p = 0.5)))
  if (refused(got)) return()
  trials <- attr(x, "trials")
  start <- if (is.null(trials)) attr(x, "start") else trials$start
  end <- if (is.null(trials)) attr(x, "end") else trials$end
  inside <- vapply(x$time, function(t) any(start <= t & t <= end), NA)
  if (sum(end - start) < 100 * tick) return()
  rates <- table(x$unit[inside]) / sum(end - start)
  rates <- stats::setNames(as.vector(rates), names(rates))
  want <- vapply(seq_len(nrow(found)), function(i) {
    tb_expected_chain(found$units[[i]], found$low[[i]], found$high[[i]], rates, end - start)
  }, 0)
  same(got$expected, want, "expected counts and their oracle", tolerance = 1e-4)
  same(got$excess, got$count - got$expected, "excess and its meaning")
  patterns <- draw_patterns(x)
  if (!refused(patterns)) attempt("expected_counts", list(patterns))
}

# Whether the message of a call says so.
tb_nothing_beyond <- function(seed, args) {
  set.seed(seed)
  said <- tryCatch(do.call(synfire::suggest_min_count, args), message = conditionMessage)
  is.character(said) && grepl("None beyond chance", said, fixed = TRUE)
}

tb_suggest <- function() {
  x <- draw_recording(150, 5)
  tick <- tick_of(x)
  args <- c(list(x, c(0, tick * whole(1, 40)), alpha = one_of(0.05, 0.2, 0.5),
                 method = one_of("surrogates", "independent")),
            some_args(n_surrogates = whole(1, 30), surrogate = one_of("dither", "train_shift"),
                      dither = tick * whole(5, 50), distinct_units = sometimes(),
                      threads = whole(1, 3), max_memory = 1e8))
  seed <- whole(1, 1e6)
  set.seed(seed)
  got <- attempt("suggest_min_count", args)
  if (refused(got)) return()
  if (got < 2 || got != round(got)) return(finding("the count suggested is no count"))
  args$threads <- 1
  set.seed(seed)
  same(attempt("suggest_min_count", args), got, "counts suggested with the same seed")
  larger <- utils::modifyList(args, list(alpha = args$alpha * 1.9))
  set.seed(seed)
  more <- attempt("suggest_min_count", larger)
  # Where nothing is beyond chance, the smallest count that is looked at is suggested.
  if (!refused(more) && more > got && !tb_nothing_beyond(seed, args)) {
    finding("a larger alpha, and a higher count is suggested")
  }
}

tb_look <- function() {
  n <- whole(1, 40)
  colours <- attempt("synfire_colours", list(n, type = one_of("groups", "counts")))
  if (!refused(colours)) same(length(colours), as.integer(n), "colours and how many were asked for")
  attempt("theme_synfire", some_args(base_size = between(4, 30)))
}

fuzz_subject("tables",
  covers = list(
    expected_counts = c("x", "recording"), theme_synfire = "base_size",
    suggest_min_count = setdiff(names(formals(synfire::suggest_min_count)), "..."),
    synfire_colours = c("n", "type")
  ),
  run = function(world) one_of(tb_contract, tb_expected, tb_suggest, tb_look)()
)
