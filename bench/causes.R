# Who finds direct links, and what it costs: this package beside Granger causality,
# Tigramite's PCMCI+ and JAX-PCMCI, on the same series of known wiring.
#
#   sh bench/peers/install.sh                    first, for PCMCI+ (else it is missing)
#   Rscript bench/causes.R [full] [key=value ...]
#
#   full             all systems and both halves, an hour or two; without it a few systems
#                    of some kinds, which takes a minute. Large systems are asked for by name:
#                    kinds=large device=gpu systems=1 "methods=direct links; jax-pcmci"
#   kinds=lorenz; noisy var      only these kinds of systems or groups of kinds (sets.R of
#                    bench/causes has them), with semicolons between them; `full` has all
#   halves=training  training (systems with odd numbers) or held out (even), or both
#   systems=5        so many systems of each kind and half
#   methods=granger; direct links        only these
#   limit=600        seconds after which a program in Python is stopped at a system
#   device=gpu threads=16        what this package and JAX-PCMCI run on; the processor, one
#                    thread, where nothing is said
#   out=FILE         the table as CSV, in full; `full` alone writes vignettes/causes/kinds.csv
#   kept=FOLDER      what each method said of each system is kept there, and a call that
#                    finds it goes on with it
#
# bench/causes/ has the parts: kinds.R draws the systems, sets.R has all kinds and the sets
# of files, methods.R has the methods and their settings, score.R counts. PEERS and PYTHON
# are those of bench/peers/install.sh.
#
# Columns: `group`, `kind`, `half`, `method`; `systems`, how many there are, and `finished`,
# of how many this is; `result`, "done" or what became of the others; in percent, direct
# links `found`, pairs called direct of all without a link (`false`), of those that are
# `mediated`, and of those that have a driver in common (`shared`); `f1` of all ordered pairs
# of the kind; `auc` and `precision`, the areas under the curves of ROC and of precision and
# recall, means over systems; numbers of pairs; of pairs without their order those that have a
# link and are called, `pairs_found`, and those that are called of all without (`pairs_false`), both
# in percent; `wall` and `cpu`, mean seconds a system.

library(synfire)
options(cli.progress_show_after = Inf)

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
theirs_py <- file.path(here, "peers", "theirs.py")
source(file.path(here, "..", "vignettes", "causes", "wirings.R"))
source(file.path(here, "..", "vignettes", "causal-maps", "simulated.R"))
source(file.path(here, "peers", "worker.R"))
source(file.path(here, "..", "tools", "data.R"))
for (part in c("systems", "kinds", "sets", "score", "methods")) {
  source(file.path(here, "causes", paste0(part, ".R")))
}

# ---- What was asked for ----------------------------------------------------------------

methods <- list(
  "direct links" = \(x) direct_by(x, 0, asked$device, asked$threads),
  "direct links, Tp -3 to 0" = \(x) direct_by(x, -3:0, asked$device, asked$threads),
  "causal map" = \(x) map_by(x, asked$device, asked$threads),
  "granger" = granger,
  "pcmci+" = list(peer = "tigramite", test = "parcorr", again = 0, surrogates = 100),
  "pcmci+ neighbours" = list(peer = "tigramite", test = "cmiknn", again = 0,
                             surrogates = 100),
  "jax-pcmci" = list(peer = "jaxpcmci", conditions = 3)
)

read_arguments <- function(arguments) {
  full <- "full" %in% arguments
  asked <- list(
    kinds = if (full) paste(setdiff(names(all_kinds), "large"), collapse = ";") else
      "ricker; lorenz; var",
    halves = if (full) "training; held out" else "training",
    systems = if (full) "10" else "2",
    methods = "direct links; causal map; granger; pcmci+", limit = "600", device = "cpu",
    threads = "1",
    out = if (full) file.path(here, "..", "vignettes", "causes", "kinds.csv") else "",
    kept = tempfile("kept-")
  )
  for (argument in setdiff(arguments, "full")) {
    name <- sub("=.*", "", argument)
    known <- name %in% names(asked) && grepl("=", argument)
    if (!known) stop("no such argument: ", argument)
    asked[[name]] <- sub("^[^=]*=", "", argument)
  }
  for (name in c("kinds", "halves", "methods")) {
    asked[[name]] <- strsplit(asked[[name]], "; *")[[1L]]
  }
  for (name in c("systems", "limit", "threads")) asked[[name]] <- as.numeric(asked[[name]])
  known <- c(names(all_kinds), unlist(all_kinds), "training", "held out", names(methods))
  unknown <- setdiff(unlist(asked[c("kinds", "halves", "methods")]), known)
  if (length(unknown)) stop("no such kind, half or method: ", toString(unknown))
  asked$kinds <- unlist(lapply(asked$kinds, \(name) all_kinds[[name]] %||% name))
  asked
}

`%||%` <- function(a, b) if (is.null(a)) b else a

# ---- One method and one system ---------------------------------------------------------

#' A method of R: what it found, and seconds
call_here <- function(method, x) {
  gc(FALSE)
  began <- Sys.time()
  used <- system.time(found <- method(x), gcFirst = FALSE)
  list(found = found, wall = as.numeric(difftime(Sys.time(), began, units = "secs")),
       cpu = sum(used[c("user.self", "sys.self")]))
}

#' A program in Python, with its own level of 0.01; `said` is why there is nothing
call_peer <- function(settings, x, asked) {
  given <- c(settings[names(settings) != "peer"], series = ncol(x), tau_max = longest_delay,
             alpha = 0.01)
  took <- ask_once(settings$peer, "pcmci", x, given, asked$limit, asked$device,
                   asked$threads)
  if (!is.null(took$said)) return(took)
  list(found = read_pcmci(took$result, ncol(x)), wall = took$wall, cpu = took$cpu)
}

#' What a method says of a system, from what was kept of these very series or from now
measure <- function(name, system, key, asked) {
  file <- sprintf("%s-%s.rds", gsub("[^a-z0-9]+", "-", name), gsub("[^a-z0-9]+", "-", key))
  file <- file.path(asked$kept, file)
  if (file.exists(file)) {
    done <- readRDS(file)
    if (identical(done$x, system$x)) return(done)
  }
  method <- methods[[name]]
  done <- if (is.function(method)) call_here(method, system$x) else
    call_peer(method, system$x, asked)
  done$x <- system$x
  if (!startsWith(done$said %||% "", "missing")) saveRDS(done, file)
  done
}

# ---- All of them -----------------------------------------------------------------------

#' The rows of one kind and half: one for each method; NULL where its files are absent
measure_kind <- function(kind, half, asked) {
  numbers <- 2 * seq_len(asked$systems) - (half == "training")
  systems <- lapply(numbers, \(number) numbered_system(kind, number))
  systems <- Filter(Negate(is.null), systems)
  if (length(systems) == 0L) return(NULL)
  rows <- lapply(asked$methods, \(name) {
    done <- lapply(seq_along(systems), \(k) {
      measure(name, systems[[k]], paste(kind, numbers[[k]]), asked)
    })
    about <- data.frame(group = group_of(kind), kind = kind, half = half, method = name)
    cbind(about, pool_method(done, lapply(systems, `[[`, "wiring")))
  })
  bind_rows(rows)
}

#' All that a method said of several systems as one row
pool_method <- function(done, wirings) {
  finished <- !vapply(done, \(one) is.null(one$found), NA)
  said <- unique(unlist(lapply(done, `[[`, "said")))
  row <- data.frame(systems = length(done), finished = sum(finished),
                    result = if (length(said)) toString(said) else "done")
  if (!any(finished)) return(row)
  score <- Map(\(one, wiring) score_links(one$found, wiring), done[finished],
               wirings[finished])
  times <- vapply(done[finished], \(one) c(wall = one$wall, cpu = one$cpu), double(2L))
  cbind(row, pool_scores(do.call(rbind, score)), as.list(rowMeans(times)))
}

#' Rows one below the other, NA where one lacks a column
bind_rows <- function(rows) {
  columns <- unique(unlist(lapply(rows, names)))
  filled <- lapply(rows, \(row) {
    row[setdiff(columns, names(row))] <- NA
    row[columns]
  })
  do.call(rbind, unname(filled))
}

#' In how many of the thirty kinds this package is best, or as good as the best in two digits
say_best <- function(table) {
  counted <- table[!is.na(table$f1) & table$group %in% counted_groups, ]
  for (part in split(counted, counted$half)) {
    by_kind <- split(part, part$kind)
    best <- vapply(by_kind, \(kind) {
      ours <- kind$f1[kind$method == "direct links"]
      length(ours) == 1L && round(ours, 2) >= round(max(kind$f1), 2)
    }, NA)
    cat(sprintf("%s: direct_links() has the best F1, or as good a one, in %d of %d kinds\n",
                part$half[[1L]], sum(best), length(best)))
  }
}

print_kinds <- function(table) {
  shown <- c("kind", "half", "method", "finished", "found", "false", "mediated", "f1", "auc",
             "precision", "cpu", "result")
  shown <- table[intersect(shown, names(table))]
  doubles <- vapply(shown, is.double, NA)
  shown[doubles] <- lapply(shown[doubles], signif, 3)
  options(width = 200, max.print = 1e5)
  print(shown, row.names = FALSE, right = FALSE)
  if ("f1" %in% names(table)) say_best(table)
}

write_kinds <- function(table, file) {
  doubles <- vapply(table, is.double, NA)
  table[doubles] <- lapply(table[doubles], signif, 4)
  utils::write.csv(table, file, row.names = FALSE, na = "")
}

asked <- read_arguments(commandArgs(TRUE))
dir.create(asked$kept, recursive = TRUE, showWarnings = FALSE)
tables <- list()
for (kind in asked$kinds) {
  for (half in halves_of(kind, asked$halves)) {
    tables <- c(tables, list(measure_kind(kind, half, asked)))
    if (nzchar(asked$out)) write_kinds(bind_rows(Filter(length, tables)), asked$out)
  }
}
for (worker in as.list(workers)) stop_worker(worker)
print_kinds(bind_rows(Filter(length, tables)))
