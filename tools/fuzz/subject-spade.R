# SPADE against its stages called one by one, in memory and in a folder, on several numbers
# of threads, saved, cut and drawn; surrogates by the methods that stay within windows.

spade_methods <- c("dither", "dither_refractory", "train_shift", "joint_isi", "isi_dither",
                   "isi_shuffle", "randomise", "bin_shuffle", "window_shuffle", "trial_shift",
                   "jitter", "sliding_shuffle")
spade_corrections <- c("BH", "none", "bonferroni", "sidak", "holm", "holm-sidak", "hochberg",
                       "hommel", "BY", "TSBH", "TSBKY")

# Arguments of surrogates that the method has a use for; rarely one that it has not.
draw_own_arguments <- function(method, bin) {
  intervals <- c("joint_isi", "isi_dither")
  args <- list()
  if (!method %in% c("isi_shuffle", "randomise", "bin_shuffle") || sometimes(0.03)) {
    args$dither <- bin * one_of(3, whole(1, 12), 0.5)
  }
  if (method %in% c("dither_refractory", intervals) || sometimes(0.02)) {
    args <- c(args, some_args(refractory = bin * one_of(1, 0, 0.3)))
  }
  if (method %in% intervals || sometimes(0.02)) {
    args <- c(args, some_args(truncation_limit = bin * whole(5, 60), n_bins = whole(1, 60),
                              sigma = bin * one_of(1, 0, 0.5), p = 0.8))
  }
  args
}

draw_stability <- function() {
  type <- some_args(type = one_of("intensional", "extensional"), p = 0.3)
  kinds <- if (length(type) > 0L) type$type else one_of(
    list("intensional", "extensional", c("intensional", "extensional"))
  )
  limits <- stats::setNames(vapply(kinds, function(kind) between(0, 1), 1), kinds)
  c(some_args(n_subsets = whole(1, 40), p = 0.8), type, some_args(threshold = limits))
}

draw_spade_call <- function(x) {
  bin <- tick_of(x) * whole(1, 6)
  min_spikes <- whole(2, 3)
  mining <- c(
    list(bin_size = bin, window_bins = whole(1, 6), min_spikes = min_spikes, min_count = whole(2, 5),
         max_spikes = one_of(5, min_spikes, Inf)),
    some_args(max_count = one_of(Inf, whole(5, 30)), min_units = whole(1, 3), p = 0.4)
  )
  method <- one_of(spade_methods)
  list(
    mining = mining,
    pattern = some_args(closed_within = one_of("all", "max_spikes"),
                        shifted_subsets = one_of("keep", "drop"),
                        engine = one_of("closure", "fpgrowth")),
    chance = c(list(n_surrogates = one_of(5, whole(1, 39), 0), surrogate = method),
               draw_own_arguments(method, bin),
               some_args(spectrum = one_of("#", "3d#"),
                         p_estimator = one_of("(k+1)/(n+1)", "k/n"))),
    tests = some_args(alpha = between(0.01, 0.9), correction = one_of(spade_corrections),
                      p = 0.8),
    reduction = c(list(one_of("combined", "subset", "superset", "covered_spikes", "none")),
                  some_args(h = whole(0, 3), k = whole(0, 3), l = whole(0, 3), p = 0.6)),
    stability = if (sometimes(0.4)) draw_stability()
  )
}

# The stages as spade() has them; the first that refuses ends it.
spade_in_stages <- function(x, drawn, threads) {
  out <- list()
  stage <- function(name, function_name, args) {
    if (any(vapply(out, refused, NA))) return(NULL)
    out[[name]] <<- attempt(function_name, args)
  }
  use <- list(threads = threads)
  mined <- stage("mined", "mine_patterns", c(list(x), drawn$mining, drawn$pattern, use))
  tested <- drawn$chance$n_surrogates > 0
  if (tested && length(mined) > 0L) {
    closed <- drawn$pattern["closed_within"[!is.null(drawn$pattern$closed_within)]]
    stage("pvalues", "pvalue_spectrum", c(list(x), drawn$mining, drawn$chance, closed, use))
    stage("tests", "test_signatures",
          c(list(patterns = mined, pvalues = out$pvalues), drawn$tests))
    kept <- stage("significant", "significant_patterns", list(mined, out$tests))
  } else {
    kept <- if (tested && !refused(mined)) mined[0L] else mined
  }
  if (any(vapply(out, refused, NA))) return(out)
  threshold <- drawn$stability$threshold
  find_stability <- function() {
    args <- drawn$stability[setdiff(names(drawn$stability), "threshold")]
    stage("stability", "pattern_stability", c(list(kept), args, use))
  }
  stable <- if (!is.null(threshold)) find_stability()
  if (!is.null(threshold)) {
    enough <- rep(FALSE, length(kept))
    for (kind in names(threshold)) enough <- enough | stable[[kind]] > threshold[[kind]]
    kept <- kept[enough]
    stable <- stable[enough, ]
  }
  if (tested && length(kept) > 0L && !identical(drawn$reduction[[1L]], "none")) {
    args <- drawn$reduction
    names(args)[[1L]] <- "method"
    left <- stage("reduced", "reduce_patterns", c(list(kept, out$tests), args))
    # Patterns that are left keep their rows: names are unique here.
    stable <- if (!is.null(stable)) stable[match(format(left), format(kept)), ]
    kept <- left
  }
  if (!is.null(drawn$stability) && is.null(threshold)) stable <- find_stability()
  out$patterns <- kept
  out$stable <- stable
  out
}

# Results of R's own adjustment, where it has it.
check_corrections <- function(tests, correction) {
  known <- c(none = "none", bonferroni = "bonferroni", holm = "holm", hochberg = "hochberg",
             hommel = "hommel", BH = "BH", BY = "BY")
  if (is.null(tests) || !correction %in% names(known)) return()
  same(tests$p_adjusted[tests$tested],
       stats::p.adjust(tests$p[tests$tested], known[[correction]]),
       paste("adjusted p values and p.adjust:", correction), tolerance = 1e-12)
}

check_stages <- function(found, stages, drawn) {
  if (refused(found)) {
    if (!any(vapply(stages, refused, NA)) && inherits(found, "synfire_error_argument") &&
          drawn$chance$n_surrogates > 0 && length(stages$mined) > 0L) {
      finding(paste("spade() was refused, its stages were not:", conditionMessage(found)))
    }
    return()
  }
  for (one in stages) if (refused(one)) return(finding(paste(
    "a stage of spade() was refused, spade() was not:", conditionMessage(one)
  )))
  same(as.data.frame(found$mined), as.data.frame(stages$mined), "mined patterns")
  same(as.data.frame(found$patterns), as.data.frame(stages$patterns), "patterns left")
  same(attr(found$pvalues, "maxima"), attr(stages$pvalues, "maxima"), "maxima")
  if (!is.null(stages$tests)) {
    same(as.data.frame(found$tests), as.data.frame(stages$tests), "tests")
    same(attr(found$tests, "level"), attr(stages$tests, "level"), "the front")
    check_corrections(found$tests, attr(found$tests, "correction"))
  }
  if (!is.null(found$stability)) {
    same(as.list(found$stability[-1L]), as.list(stages$stable[-1L]), "stability")
  }
  if (drawn$chance$n_surrogates > 0) {
    same(found$significant - (if (is.null(found$unstable)) 0 else found$unstable) -
           found$explained, length(found), "patterns left and what the result says of them")
  }
}

# What a result is, without how it was made.
result_of <- function(found) {
  if (refused(found)) return(found)
  c(unclass(found)[c("p", "p_adjusted", "significant", "unstable", "explained")],
    list(patterns = as.data.frame(found, times = TRUE), mined = as.data.frame(found$mined),
         maxima = attr(found$pvalues, "maxima"), tests = as.data.frame(found$tests)))
}

# Cut, sorted, saved, as tables, and drawn.
check_uses <- function(found, folder) {
  n <- length(found)
  table <- as.data.frame(found)
  chosen <- sample.int(max(n, 1L), whole(0, min(n, 5)))[seq_len(min(n, whole(0, 5)))]
  chosen <- chosen[!is.na(chosen)]
  part <- attempt("[", list(found, chosen))
  rows <- table[chosen, , drop = FALSE]
  rownames(rows) <- NULL
  same(as.data.frame(part), rows, "some of a result, and rows of it")
  long <- attempt("as.data.frame", list(found, long = TRUE))
  same(unname(split(long$lag, factor(long$number, seq_len(n)))), unname(table$lags),
       "lags of the long table")
  same(long$p, table$p[long$number], "p values of the long table")
  file <- file.path(folder, "found.rds")
  saveRDS(found, file)
  same(result_of(readRDS(file)), result_of(found), "a result that was saved")
  for (name in c("print", "summary", "format")) attempt(name, list(found))
  types <- eval(formals(get("autoplot.spade", asNamespace("synfire")))$type)
  plot <- attempt("autoplot", list(found, type = one_of(types)))
  if (!refused(plot)) attempt("ggplot_build", list(plot))
  if (is.null(found$tests) || length(found$mined) < 2L) return()
  args <- list(pvalues = found$pvalues, alpha = found$parameters$alpha,
               correction = found$parameters$correction)
  turned <- found$mined[rev(seq_along(found$mined))]
  same(as.data.frame(attempt("test_signatures", c(list(turned), args))),
       as.data.frame(found$tests), "tests of patterns in another order")
  fewer <- attempt("test_signatures", c(list(found$mined[-1L]), args))
  if (!refused(fewer)) finding("test_signatures() took patterns that are not all")
}

# With little memory the answer is the same, or there is none.
check_little_memory <- function(mined) {
  seed <- whole(1, 1e6)
  under <- function(name, ...) {
    answer <- function(...) {
      # Drawn before the seed is set.
      args <- list(mined, ...)
      set.seed(seed)
      attempt(name, args)
    }
    little <- answer(..., max_memory = one_of(1e6, 1.1e6, 1.5e6, 3e6))
    if (!refused(little)) return(same(little, answer(...), paste(name, "with little memory")))
    if (!inherits(little, "synfire_error_budget")) finding("little memory is refused otherwise")
  }
  under("reduce_patterns")
  under("pattern_stability", n_subsets = 20, threads = whole(1, 16))
}

# What stays as it is when windows bound how far spikes go.
check_windows <- function(x) {
  tick <- tick_of(x)
  bin <- tick * whole(1, 6)
  method <- one_of("jitter", "sliding_shuffle")
  window <- if (method == "jitter") tick * whole(2, 60) else bin * whole(2, 12)
  args <- c(list(x, whole(1, 4), method, window = window),
            if (method == "sliding_shuffle") list(bin_size = bin), list(threads = whole(1, 3)))
  seed <- whole(1, 1e6)
  set.seed(seed)
  made <- attempt("surrogate_trains", args)
  if (refused(made)) return()
  set.seed(seed)
  args$threads <- 1
  same(made, attempt("surrogate_trains", args), "surrogates on other numbers of threads")
  trains <- synfire:::trains_of(x)
  first <- trains$start
  cells <- function(s, width) {
    own <- synfire:::trains_of(s)
    trial <- if (is.null(own$trial)) rep(1L, length(own$tick)) else own$trial
    inside <- !is.na(trial)
    data.frame(unit = own$unit, trial = trial,
               cell = (own$tick - first[trial]) %/% round(width / tick))[inside, ]
  }
  counted <- function(s) {
    if (method == "jitter") return(sort(do.call(paste, cells(s, window))))
    held <- cells(s, bin)
    held <- table(paste(held$unit, held$trial, held$cell))
    train <- sub(" [0-9]+$", "", names(held))
    sort(paste(train, held))
  }
  for (s in made) same(counted(s), counted(x), paste("what", method, "keeps"))
}

fuzz_subject("spade", covers = list(
  spade = c("x", "bin_size", "window_bins", "min_spikes", "min_count", "max_spikes", "max_count",
            "min_units", "n_surrogates", "surrogate", "dither", "alpha", "correction",
            "spectrum", "p_estimator", "reduction", "stability", "mining", "device",
            "gpus", "threads", "max_memory", "folder"),
  pvalue_spectrum = c("x", "bin_size", "window_bins", "min_spikes", "min_count", "max_spikes",
                      "max_count", "min_units", "n_surrogates", "surrogate", "dither",
                      "spectrum", "p_estimator", "closed_within", "device", "gpus", "threads",
                      "max_memory", "folder"),
  test_signatures = c("patterns", "pvalues", "alpha", "correction"),
  significant_patterns = c("patterns", "tests"),
  reduce_patterns = c("patterns", "non_significant", "method", "h", "k", "l", "min_spikes",
                      "min_count", "max_memory"),
  pattern_stability = c("patterns", "n_subsets", "delta", "epsilon", "type", "threads",
                        "max_memory"),
  pattern_spectrum = c("patterns", "spectrum"),
  suggest_pattern_count = setdiff(names(formals(synfire::suggest_pattern_count)), "..."),
  as.data.frame.patterns = "long", as.data.frame.spade = "long"
), run = function(world) {
  x <- draw_recording(150, 5)
  if (sometimes(0.2)) return(check_windows(x))
  drawn <- draw_spade_call(x)
  seed <- whole(1, 1e6)
  call_spade <- function(...) {
    # Drawn before the seed is set.
    args <- c(list(x), drawn$mining, drawn$chance, drawn$tests,
              if (length(drawn$pattern) || sometimes()) list(mining = drawn$pattern),
              list(reduction = if (length(drawn$reduction) == 1L && sometimes()) {
                drawn$reduction[[1L]]
              } else {
                drawn$reduction
              }),
              if (!is.null(drawn$stability)) list(stability = drawn$stability), ...)
    set.seed(seed)
    attempt("spade", args)
  }
  found <- call_spade(threads = 1, some_args(max_memory = one_of(1e9, 1e6), p = 0.1))
  set.seed(seed)
  stages <- spade_in_stages(x, drawn, threads = 2)
  check_stages(found, stages, drawn)
  if (refused(found)) return()
  again <- one_of("threads", "folder", "gpu", "gpus", "parameters")
  same_result <- function(other, what) same(result_of(other), result_of(found), what)
  if (again == "threads") same_result(call_spade(threads = whole(2, 5)), "on other threads")
  if (again == "folder") {
    folder <- file.path(world$folder, "job")
    first <- call_spade(folder = folder, threads = 1)
    same_result(first, "in a folder")
    if (!refused(first)) same_result(call_spade(folder = folder), "resumed in a folder")
    if (drawn$chance$n_surrogates > 0) {
      alone <- attempt("pvalue_spectrum", c(
        list(x), drawn$mining, drawn$chance, list(folder = file.path(world$folder, "alone")),
        some_args(max_memory = 1e9, device = one_of("cpu", "auto"), gpus = 1)
      ))
    }
  }
  if (again == "gpu") {
    gpu <- call_spade(device = one_of("gpu", "auto"))
    if (world$gpu) same_result(gpu, "on a GPU")
  }
  if (again == "gpus") {
    gpu <- call_spade(device = "cpu", gpus = one_of(1, 2))
    if (!refused(gpu) && drawn$chance$n_surrogates > 0) finding("gpus without a GPU taken")
  }
  if (again == "parameters") {
    given <- found$parameters
    given$mining <- given[c("closed_within", "shifted_subsets", "engine")]
    given$reduction <- c(list(given$reduction), given[c("h", "k", "l")])
    given <- given[setdiff(names(given), c(names(given$mining), "h", "k", "l", "shuffle_window"))]
    set.seed(seed)
    same_result(attempt("spade", c(list(x), given)), "called with its parameters")
  }
  check_uses(found, world$folder)
  attempt("pattern_spectrum", c(list(found$mined), some_args(spectrum = one_of("#", "3d#"))))
  attempt("pattern_stability", c(list(found$patterns), some_args(
    delta = between(0.01, 0.9), epsilon = between(0.05, 0.5), type = "intensional",
    threads = whole(1, 3)
  )))
  attempt("reduce_patterns", c(list(found$mined[seq_len(min(200, length(found$mined)))]),
    some_args(min_spikes = whole(1, 4), min_count = whole(1, 6),
              non_significant = data.frame(size = 2:3, count = 2:3))))
  attempt("suggest_pattern_count", c(
    list(x), drawn$mining[intersect(names(drawn$mining),
                                    c("bin_size", "window_bins", "min_spikes", "min_units"))],
    list(n_surrogates = whole(1, 4), surrogate = drawn$chance$surrogate),
    drawn$chance["dither"][!is.null(drawn$chance$dither)],
    some_args(threads = whole(1, 3), max_memory = 1e9)
  ))
  check_little_memory(found$mined)
})
