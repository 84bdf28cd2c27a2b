# What faults.sh runs: for each call a process per fault, and one without as the answer.
given <- commandArgs(TRUE)
scratch <- given[[1L]]
most <- as.integer(given[[2L]])

series <- "x <- matrix(runif(4000), 400, 10); d <- as.data.frame(x);"
spikes <- "x <- simulate_patterns(duration = 20, units = 8, rate = 12);"
calls <- c(
  mine_episodes = paste(spikes, "f <- \\() mine_episodes(x, 60, c(0, 0.05),",
                        "max_size = 3, threads = 2)"),
  count_episodes = paste(spikes, "e <- mine_episodes(x, 90, c(0, 0.05), max_size = 2);",
                         "f <- \\() count_episodes(x, e)"),
  mine_patterns = paste(spikes, "f <- \\() mine_patterns(x, 0.005, 10, 2, 4, threads = 2)"),
  surrogate_trains = paste(spikes, "f <- \\() { set.seed(1); surrogate_trains(x, 5,",
                           "dither = 0.02, threads = 2) }"),
  pvalue_spectrum = paste(spikes, "f <- \\() { set.seed(1); pvalue_spectrum(x, 0.005, 6, 2, 3,",
                          "n_surrogates = 8, dither = 0.02, threads = 2) }"),
  frequent_itemsets = paste("t <- replicate(200, sample(letters, 6), simplify = FALSE);",
                            "f <- \\() frequent_itemsets(t, 5)"),
  simplex = paste(series, "f <- \\() simplex(d, \"V2\", E = 3)"),
  smap = paste(series, "f <- \\() smap(d, \"V2\", E = 3, theta = 2)"),
  ccm = paste(series, "f <- \\() { set.seed(1); ccm(d, \"V2\", \"V3\", E = 3,",
              "lib_sizes = c(20, 100), samples = 10) }"),
  surrogate_series = paste(series, "f <- \\() { set.seed(1); surrogate_series(x[, 1], 20) }"),
  embed_dimension = paste(series, "f <- \\() embed_dimension(x, E_max = 5, threads = 2)"),
  causal_map = paste(series, "f <- \\() { set.seed(1); causal_map(x, E_max = 3, Tp = c(-1, 0),",
                     "n_surrogates = 3, lib_sizes = c(50, 200), threads = 2) }"),
  causal_map_top = paste(series, "f <- \\() causal_map(x, E = 2, top = 2, threads = 2)")
)
wanted <- if (length(given) > 2L) given[-(1:2)] else names(calls)

# Runs the call in a process of its own. Gives "right", "memory", "other: ..." or "crashed".
answer <- file.path(scratch, "answer.rds")
run_call <- function(name, nth, on, limit = NULL) {
  script <- file.path(scratch, "call.R")
  when <- file.path(scratch, "now")
  count <- file.path(scratch, "count")
  said <- file.path(scratch, "said")
  unlink(c(when, count, said))
  truth <- file.path(scratch, paste0(name, ".rds"))
  writeLines(c(
    "suppressPackageStartupMessages(library(synfire)); set.seed(3)", calls[[name]],
    "plain <- \\(r) { for (a in c('call', 'elapsed', 'mining_elapsed', 'peak_memory', 'threads',",
    "  'seed', 'memory')) attr(r, a) <- NULL",
    "  for (p in 'predictions') if (is.list(r) && is.data.frame(r[[p]]))",
    "    attr(r[[p]], 'elapsed') <- NULL; r }",
    # What is loaded late is loaded now.
    "try(suppressMessages(f()), silent = TRUE)",
    "try(rlang::abort('x'), silent = TRUE); try(synfire:::finish_status(structure(list(",
    "  status = 'no_memory', needed = 1, limit = NA, reason = ''), class = 'synfire_status'),",
    "  'a'), silent = TRUE)", "invisible(gc())",
    sprintf("invisible(file.create(%s))", dQuote(when, FALSE)),
    "r <- tryCatch(suppressMessages(f()), error = identity)",
    sprintf("invisible(file.remove(%s))", dQuote(when, FALSE)),
    if (nth == 0 && is.null(limit)) sprintf("saveRDS(plain(r), %s)", dQuote(truth, FALSE)),
    sprintf("w <- if (!inherits(r, 'error')) { if (isTRUE(all.equal(plain(r), readRDS(%s),",
            dQuote(truth, FALSE)),
    "  tolerance = 0))) 'right' else 'WRONG' } else if (inherits(r, 'synfire_error_memory'))",
    "  'memory' else if (grepl('cannot allocate', conditionMessage(r))) 'memory of R' else",
    "  paste('other:', class(r)[[1]], substr(gsub('\\\\s+', ' ', conditionMessage(r)), 1, 100))",
    sprintf("writeLines(w, %s)", dQuote(said, FALSE))
  ), script)
  env <- c(if (nth > 0) c(paste0("LD_PRELOAD=", file.path(scratch, "failing.so"))),
           paste0("FAULT_WHEN=", when), paste0("FAULT_NTH=", nth),
           paste0("FAULT_ON=", as.integer(on)), paste0("FAULT_COUNT=", count))
  command <- sprintf("%sexec env %s %s --vanilla %s",
                     if (is.null(limit)) "" else sprintf("ulimit -v %d; ", limit),
                     paste(env, collapse = " "), shQuote(file.path(R.home("bin"), "Rscript")),
                     shQuote(script))
  status <- suppressWarnings(system2("sh", c("-c", shQuote(command)), stdout = FALSE,
                                     stderr = file.path(scratch, "errors"), timeout = 120))
  # Without any memory R cannot even say so in the call: it then ends as scripts do.
  errors <- paste(readLines(file.path(scratch, "errors"), warn = FALSE), collapse = " ")
  ended <- status == 1 && grepl("allocate|memory", errors)
  list(is = if (file.exists(said)) readLines(said)[[1L]] else if (ended) "memory of R" else
         paste("CRASHED, status", status, substr(errors, 1, 200)),
       requests = if (file.exists(count)) as.numeric(readLines(count)) else NA)
}

bad <- 0
for (name in wanted) {
  ends <- character()
  first <- run_call(name, 0, FALSE)
  if (first$is != "right") {
    cat(name, "without a fault:", first$is, "\n")
    bad <- bad + 1
    next
  }
  all <- run_call(name, 1e9, FALSE)$requests
  half <- most %/% 2
  points <- unique(c(seq_len(min(half, all)), round(seq(1, max(1, all), length.out = half))))
  for (nth in points) {
    for (on in c(FALSE, TRUE)) {
      end <- run_call(name, nth, on)$is
      ends <- c(ends, sub(":.*", "", end))
      if (!end %in% c("right", "memory", "memory of R")) {
        bad <- bad + 1
        cat(sprintf("%s, request %d%s: %s\n", name, nth, if (on) " and all after it" else "", end))
      }
    }
  }
  for (limit in c(400, 500, 700) * 1024) {
    end <- run_call(name, 0, FALSE, limit)
    # With little memory R itself may not start.
    if (startsWith(end$is, "WRONG") || startsWith(end$is, "other")) {
      bad <- bad + 1
      cat(sprintf("%s, %d MB in all: %s\n", name, limit %/% 1024, end$is))
    }
  }
  counts <- table(ends)
  cat(sprintf("%s: %s requests; %s\n", name, format(all, big.mark = ","),
              toString(paste(counts, names(counts)))))
}
cat(bad, "findings\n")
quit(status = if (bad > 0) 1L else 0L)
