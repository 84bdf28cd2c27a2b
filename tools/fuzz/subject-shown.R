# Printing, summing up, converting and drawing: every class, every type of picture, with
# results of all sizes, also empty ones. Nothing may stop with an error of R's own, and
# what is converted keeps its number of rows.

# A result of the class, from random data.
draw_result <- function(class) {
  x <- draw_recording(150, 5)
  tick <- tick_of(x)
  table <- draw_table(3, whole(25, 60))
  switch(class,
    spike_trains = x,
    episodes = attempt("mine_episodes", list(x, whole(1, 6), c(0, tick * whole(1, 40)),
                                             max_size = whole(1, 3), max_memory = 1e8)),
    episode_occurrences = with_episodes(x, "episode_occurrences"),
    episode_lags = with_episodes(x, "episode_lags", bins = whole(1, 30)),
    episode_significance = {
      found <- draw_result("episodes")
      if (refused(found)) found else attempt("episode_significance", list(
        utils::head(found, 30), n_surrogates = whole(1, 9), dither = tick * whole(1, 20)))
    },
    episode_stream = {
      stream <- attempt("episode_stream", list(
        c(0, tick * whole(1, 20)), whole(5, 9), tick * whole(50, 500), resolution = tick,
        history = whole(1, 50), follow = whole(1, 10)))
      if (refused(stream)) stream else attempt("update", list(stream, x))
    },
    patterns = draw_patterns(x),
    itemsets = attempt("frequent_itemsets", list(
      lapply(seq_len(whole(1, 12)), function(i) sample(letters[1:6], sample.int(5, 1))),
      whole(1, 3))),
    pattern_occurrences = with_patterns(x, "pattern_occurrences"),
    pattern_spectrum = with_patterns(x, "pattern_spectrum", spectrum = one_of("#", "3d#")),
    pvalue_spectrum = attempt("pvalue_spectrum", list(
      x, tick * whole(1, 5), whole(1, 6), 2, whole(2, 5), n_surrogates = whole(1, 20),
      dither = tick * whole(5, 30), max_spikes = 5, spectrum = one_of("#", "3d#"))),
    signature_tests = {
      bin <- tick * whole(1, 5)
      found <- attempt("mine_patterns", list(x, bin, 3, 2, 3, max_spikes = 4))
      chance <- attempt("pvalue_spectrum", list(x, bin, 3, 2, 3, max_spikes = 4,
                                                n_surrogates = 19, dither = bin * 5))
      if (refused(found)) found else if (refused(chance)) chance else
        attempt("test_signatures", list(found, chance))
    },
    spade = attempt("spade", list(x, tick * whole(1, 5), whole(1, 6), 2, whole(2, 5),
                                  max_spikes = 5, n_surrogates = whole(1, 19),
                                  dither = tick * whole(5, 30))),
    ccm = attempt("ccm", list(table, one_of("x", "w"), "v", E = whole(1, 3), samples = 3,
                              lib_sizes = one_of(20, c(8, 15, 20)),
                              n_surrogates = one_of(0, 5))),
    ccm_lag = attempt("ccm_lag", list(table, "u", "v", E = whole(1, 3), Tp = -1:1,
                                      samples = 2)),
    edm_prediction = attempt("simplex", list(table, "u", E = whole(1, 3), Tp = whole(0, 2))),
    edm_skill = attempt("embed_dimension", c(list(table, "u", E_max = whole(1, 4)),
                                             some_args(tau = -1:-3, Tp = 1:2, p = 0.3))),
    smap = attempt("smap", list(table, "u", E = whole(1, 3), theta = one_of(0, 1, 5))),
    multiview = attempt("multiview", list(table, c("u", "v", "w"), "u", D = whole(1, 3))),
    causal_map = attempt("causal_map", c(list(draw_matrix(), E = whole(1, 3)), some_args(
      n_surrogates = whole(1, 9), lib_sizes = c(10, 15)))),
    causal_links = attempt("causal_map", list(draw_matrix(), E = whole(1, 3), top = 1)),
    causal_map_comparison = {
      series <- draw_matrix()
      half <- ncol(series) %/% 2
      groups <- rep(c("a", "b"), c(half, ncol(series) - half))
      attempt("compare_maps", c(list(synfire::causal_map(series, E = 1),
                                     synfire::causal_map(series, E = 2)),
                                some_args(groups = groups)))
    },
    causal_map_file = attempt("causal_map", list(
      draw_matrix(), E = whole(1, 3), file = file.path(fuzz$world$folder, "map.h5"))),
    smap_map = attempt("smap_map", list(draw_matrix(), E = whole(1, 3))),
    smap_map_file = attempt("smap_map", list(
      draw_matrix(), E = whole(1, 3), file = file.path(fuzz$world$folder, "smap_map.h5"))),
    synapses = draw_connections(draw_connected()),
    synfire_sitrep = attempt("synfire_sitrep", list(test_devices = sometimes()))
  )
}

# Some units with enough spikes to be tested, of which the first may drive the second.
draw_connected <- function() {
  times <- lapply(seq_len(whole(2, 6)), \(u) stats::runif(whole(0, 900), 0, 60))
  driven <- times[[1L]][stats::runif(length(times[[1L]])) < between(0, 0.6)]
  times[[2L]] <- c(times[[2L]], driven + 0.002)
  synfire::spike_trains(unlist(times), rep(sprintf("u%d", seq_along(times)), lengths(times)),
                        start = 0, end = 61)
}
draw_connections <- function(x) {
  units <- levels(x$unit)
  attempt("find_synapses", c(list(x), some_args(locations = data.frame(
    unit = units, x = seq_along(units) * 20, y = stats::runif(length(units)) * 100))))
}

draw_patterns <- function(x) {
  attempt("mine_patterns", list(x, tick_of(x) * whole(1, 5), whole(1, 6), whole(1, 3),
                                whole(2, 5), max_spikes = 5, max_memory = 1e8))
}
with_episodes <- function(x, name, ...) {
  found <- attempt("mine_episodes", list(x, 2, c(0, tick_of(x) * whole(1, 40)), max_size = 2,
                                         max_memory = 1e8))
  if (refused(found)) return(found)
  attempt(name, list(x, found[seq_len(min(nrow(found), whole(0, 5))), ], ...))
}
with_patterns <- function(x, name, ...) {
  found <- draw_patterns(x)
  if (refused(found)) found else if (name == "pattern_occurrences") {
    attempt(name, list(x, found))
  } else attempt(name, list(found, ...))
}

# Further arguments of the methods of a class.
shown_args <- function(class, generic, object) {
  units <- if (class == "spike_trains") levels(object$unit) else "u1"
  series <- dimnames(object)[[1L]] %||% c("s1", "s2")
  types <- eval(method_formals("autoplot", object)$type)
  type <- if (!is.null(types)) list(type = one_of(types))
  switch(paste0(generic, ".", class),
    autoplot.spike_trains = some_args(
      order = one_of("levels", "rate", "place"),
      by = one_of(names(synfire::unit_table(object)), "area", "no column"),
      events = one_of(list(c(0.5, 1), data.frame(time = 0:1, end = 1:2))),
      max_marks = whole(1, 50), bins = whole(1, 50)),
    autoplot.synapses = c(type, some_args(n = whole(1, 20), edges = whole(1, 20),
                                          layout = one_of("circle", "kk"))),
    autoplot.episodes = c(type, some_args(
      connections = draw_connections(attr(object, "recording")),
      episodes = whole(1, 10), from = 0, to = 1, order = one_of("episodes", "levels", "rate"),
      edges = whole(1, 30), bins = whole(1, 30), recording = attr(object, "recording"),
      layout = one_of("circle", "kk"), others = one_of(0, 3, Inf), p = 0.3)),
    autoplot.episode_occurrences = some_args(max_occurrences = whole(1, 50)),
    autoplot.episode_significance = c(type, some_args(
      episodes = whole(1, 30), edges = whole(1, 30), layout = one_of("circle", "kk"),
      connections = draw_connections(draw_connected()))),
    autoplot.episode_stream = some_args(episodes = whole(1, 10)),
    autoplot.patterns = c(type, some_args(
      patterns = 1, from = 0, to = 1, others = one_of(0, 3, Inf),
      order = one_of("patterns", "levels", "rate"),
      recording = attr(object, "recording"), p = 0.3)),
    autoplot.causal_map = ,
    autoplot.causal_links = c(type, some_args(
      groups = stats::setNames(rep(c("a", "b"), length.out = length(series)), series),
      links = whole(1, 60), threshold = between(-1, 1), layout = one_of("circle", "kk"),
      p = 0.3)),
    autoplot.smap_map = ,
    autoplot.smap_map_file = c(type, some_args(
      groups = stats::setNames(rep(c("a", "b"), length.out = length(series)), series))),
    as.data.frame.smap_map = some_args(diagonal = TRUE, threshold = between(-1, 1),
                                       max_links = whole(1, 30)),
    as.igraph.causal_map = ,
    as.igraph.causal_links = some_args(threshold = between(-1, 1), alpha = between(0, 1),
                                       max_links = whole(1, 30), p = 0.4),
    as.data.frame.causal_map = some_args(diagonal = TRUE, threshold = between(-1, 1),
                                         alpha = between(0, 1), max_links = whole(1, 30)),
    as.data.frame.causal_map_comparison = some_args(max_links = whole(1, 30)),
    as.data.frame.patterns = ,
    as.data.frame.spade = some_args(times = TRUE),
    summary.ccm = ,
    summary.ccm_lag = some_args(alpha = between(0, 1)),
    `[.spike_trains` = some_args(unit = one_of(units), time = c(-Inf, Inf), p = 0.8),
    sort.itemsets = some_args(by = one_of("size", "count", "support")),
    subset.itemsets = some_args(condition = rep(c(TRUE, FALSE), length.out = length(object)),
                                items = one_of("a", "b"), match = one_of("all", "any")),
    subset.patterns = some_args(condition = rep(c(TRUE, FALSE), length.out = length(object)),
                                units = units, match = one_of("all", "any")),
    if (generic == "autoplot") type else
      if ("n" %in% names(method_formals(generic, object)) && sometimes()) {
        list(n = one_of(10, 0, 1, 3, Inf))
      } else list()
  )
}

# The arguments of the method that the object's class has or inherits.
method_formals <- function(generic, object) {
  methods <- user_methods()
  name <- intersect(paste0(generic, ".", class(object)), methods$name)
  if (length(name) > 0L) formals(method_or_function(name[[1L]]))
}

fuzz_subject("shown",
  covers = list(
    autoplot.causal_links = c("type", "groups", "threshold", "links", "layout"),
    autoplot.causal_map = c("type", "groups", "threshold", "links", "layout"),
    autoplot.causal_map_comparison = "type", autoplot.edm_prediction = "type",
    autoplot.episode_occurrences = "max_occurrences",
    autoplot.episode_significance = c("type", "episodes", "edges", "layout", "connections"),
    autoplot.episode_stream = "episodes",
    autoplot.episodes = c("type", "episodes", "from", "to", "order", "others", "edges",
                          "layout", "bins", "connections", "recording"),
    autoplot.itemsets = "type", autoplot.multiview = "type",
    autoplot.patterns = c("type", "patterns", "from", "to", "order", "others", "recording"),
    autoplot.synapses = c("type", "n", "edges", "layout"), autoplot.smap = "type", autoplot.smap_map = c("type", "groups"), autoplot.spade = "type",
    autoplot.spike_trains = c("order", "by", "events", "max_marks", "bins"),
    as.data.frame.causal_map = c("diagonal", "threshold", "alpha", "max_links"),
    as.data.frame.causal_map_comparison = "max_links",
    as.data.frame.smap_map = c("diagonal", "threshold", "max_links"),
    as.data.frame.patterns = "times", as.data.frame.spade = "times",
    as.igraph.causal_links = c("threshold", "alpha", "max_links"),
    as.igraph.causal_map = c("threshold", "alpha", "max_links"),
    `[.spike_trains` = c("time", "unit"), sort.itemsets = "by",
    subset.itemsets = c("condition", "items", "match"),
    subset.patterns = c("condition", "units", "match"),
    compare_maps = c("a", "b", "groups"), as_arules = "x",
    print.causal_links = "n", print.causal_map = "n", print.edm = "n",
    print.episode_lags = "n", print.episode_occurrences = "n", print.episode_significance = "n",
    print.episode_stream = "n", print.episodes = "n", print.itemsets = "n",
    print.pattern_occurrences = "n", print.pattern_spectrum = "n",
    print.pvalue_spectrum = "n", print.signature_tests = "n", print.smap = "n",
    print.smap_map = "n", summary.smap_map = "n",
    print.spade = "n", print.spike_trains = "n", summary.causal_links = "n",
    summary.causal_map = "n", summary.causal_map_comparison = "n", summary.ccm = "alpha",
    summary.ccm_lag = "alpha",
    print.synapses = "n", summary.synapses = "n", summary.episode_significance = "n", synfire_sitrep = "test_devices"
  ),
  run = function(world) {
    methods <- user_methods()
    methods <- methods[!methods$generic %in% c("autoplot", "update", "rbind", "c"), ]
    class <- one_of(setdiff(unique(methods$class), c("gpu_calibration", "edm", "ccm_summary",
                                                      "synfire_table")))
    object <- draw_result(class)
    # Other subjects make what is not drawn here.
    if (is.null(object) || refused(object)) return()
    if (inherits(object, "itemsets")) attempt("as_arules", list(object))
    of_class <- methods$generic[methods$class %in% class(object)]
    for (generic in unique(c("print", "summary", "plot", one_of(of_class)))) {
      if (!generic %in% of_class) next
      name <- if (generic == "plot") "autoplot" else generic
      args <- c(list(object), shown_args(class, name, object))
      attempt(generic, args, paste0(generic, ".", class, "()"))
    }
  }
)
