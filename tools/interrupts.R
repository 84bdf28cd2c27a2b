# How long it takes from Ctrl-C to the prompt, in calls of R's side on large inputs.
#
#   Rscript tools/interrupts.R [LIBRARY] [TIMES] [NAME ...]
#
# A child process makes each call again and again, and gets the signal of Ctrl-C at a random
# moment of it. What counts is the processor time of the child from the signal on, so that a
# busy machine does not make it longer. The last column is the longest of all times, which
# should be below 0.5 s.
given <- commandArgs(TRUE)
library_path <- if (length(given) > 0L) given[[1L]] else ".build/library"
times <- if (length(given) > 1L) as.integer(given[[2L]]) else 10L

patterns <- quote({
  x <- simulate_patterns(duration = 60, units = 40, rate = 20)
  found <- mine_patterns(x, 0.005, 10, min_spikes = 3, min_count = 14)
})
transactions <- quote({
  items <- sprintf("item%03d", 1:200)
  baskets <- split(sample(items, 8e6, TRUE), rep(1:2e6, 4))
})
maps <- quote({
  x <- matrix(rnorm(40 * 1800), 40)
  m <- causal_map(x, E = 2)
  other <- causal_map(x + 0.5 * matrix(rnorm(length(x)), 40), E = 2)
})

calls <- list(
  patterns_table = list(patterns, quote(as.data.frame(found))),
  patterns_long = list(patterns, quote(as.data.frame(found, long = TRUE))),
  patterns_format = list(patterns, quote(format(found))),
  patterns_list = list(patterns, quote(as.list(found))),
  patterns_sort = list(patterns, quote(sort(found, by = c("n_units", "duration")))),
  patterns_units = list(patterns, quote(subset(found, units = c("u01", "u02")))),
  patterns_duplicated = list(patterns, quote(duplicated(found))),
  pattern_spectrum = list(patterns, quote(pattern_spectrum(found, "3d#"))),
  patterns_occurrences = list(patterns, quote(pattern_occurrences(x, found))),
  patterns_statistics = list(patterns, quote(print(autoplot(found, type = "statistics")))),
  patterns_hypergraph = list(patterns, quote(print(autoplot(found, type = "hypergraph")))),
  itemsets_lists = list(transactions, quote(frequent_itemsets(baskets, 1e5))),
  itemsets_names = list(transactions, quote(frequent_itemsets(unname(baskets), 1e5))),
  maps_compare = list(maps, quote(summary(compare_maps(m, other)))),
  maps_compare_plot = list(maps, quote(print(autoplot(compare_maps(m, other))))),
  map_summary = list(maps, quote(summary(m))),
  map_table = list(maps, quote(as.data.frame(m))),
  map_plot = list(maps, quote(print(autoplot(m)))),
  map_degree= list(maps, quote(print(autoplot(m, type = "degree"))))
)
wanted <- if (length(given) > 2L) given[-(1:2)] else names(calls)

# Seconds of processor that a process has had.
processor <- function(pid) {
  fields <- strsplit(sub(".*\\) ", "", readLines(sprintf("/proc/%s/stat", pid))), " ")[[1L]]
  sum(as.numeric(fields[12:13])) / 100
}

# Waits for a line of a child that begins with `word`; its other words.
await <- function(lines, word) {
  for (i in 1:6000) {
    found <- if (file.exists(lines)) grep(paste0("^", word, " "), readLines(lines, warn = FALSE),
                                          value = TRUE)
    if (length(found) > 0L) return(strsplit(found[[1L]], " ")[[1L]][-1L])
    Sys.sleep(0.01)
  }
  stop("the child does not answer: ", word)
}

child_of <- function(call, lines) {
  file <- tempfile(fileext = ".R")
  writeLines(c(
    sprintf("library(synfire, lib.loc = %s); suppressPackageStartupMessages(library(ggplot2))",
            dQuote(normalizePath(library_path), FALSE)),
    sprintf("say <- \\(...) cat(..., '\\n', file = %s, append = TRUE)", dQuote(lines, FALSE)),
    "options(cli.progress_show_after = 1e9); pdf(NULL); set.seed(1)", deparse(call[[1L]]),
    sprintf("work <- \\() %s", paste(deparse(call[[2L]]), collapse = "\n")),
    "took <- system.time(invisible(work()))[[1L]]; say('took', took, Sys.getpid())",
    sprintf("for (k in seq_len(%d)) {", times),
    "  invisible(gc())",
    # Between the signal and the answer nothing else is done, whenever the signal comes.
    "  tryCatch({ say(paste0('begun', k), 0); work(); say(paste0('done', k), 0); Sys.sleep(600) },",
    "           interrupt = \\(e) say(paste0('ended', k), sum(proc.time()[1:2])))",
    "}"
  ), file)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", file), stdout = FALSE,
          stderr = FALSE, wait = FALSE, env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":")))
}

slow <- 0
for (name in wanted) {
  lines <- tempfile()
  child_of(calls[[name]], lines)
  told <- await(lines, "took")
  took <- as.numeric(told[[1L]])
  pid <- told[[2L]]
  late <- double()
  for (k in seq_len(times)) {
    await(lines, paste0("begun", k))
    at <- processor(pid) + stats::runif(1) * took
    is_done <- \() any(startsWith(readLines(lines), paste0("done", k)))
    while (processor(pid) < at && !is_done()) Sys.sleep(0.005)
    # An interrupt that comes too late for the work waits for its end, and counts as well.
    counts <- !is_done()
    sent <- processor(pid)
    tools::pskill(as.integer(pid), tools::SIGINT)
    ended <- as.numeric(await(lines, paste0("ended", k))[[1L]])
    if (counts) late <- c(late, max(0, ended - sent))
  }
  longest <- if (length(late) > 0L) max(late) else NA
  slow <- slow + isTRUE(longest > 0.5)
  cat(sprintf("%-22s takes %6.2f s; from Ctrl-C to the prompt at most %5.2f s (%d of %d)\n", name,
              took, longest, length(late), times))
}
cat(sprintf("%d of %d calls take more than half a second\n", slow, length(wanted)))
if (slow > 0) quit(status = 1L)
