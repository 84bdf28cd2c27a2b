# Who finds direct links, and what it costs: this package beside correlation, Granger
# causality and Tigramite's PCMCI+, on the same series of known wiring, one core each.
#
#   sh bench/peers/install.sh                    first, for PCMCI+ (else it is missing)
#   Rscript bench/causes.R [full] [key=value ...]
#
#   full             the table of vignette("causes"), an hour or two; without it a small
#                    one, which is printed, in a minute
#   out=FOLDER       where rivals.csv is written; `full` alone writes to vignettes/causes
#   data=mixed,linear    only these kinds of series (bench/causes/systems.R has them all)
#   series=3,7       only systems of so many series
#   steps=500        only systems of so many steps
#   systems=20,10,5  so many systems of each sort, for each number of series
#   methods=granger;map   only these, with semicolons between them
#   limit=1200       seconds after which PCMCI+ is stopped at a system
#   neighbours=3x500:2,linear-7x500:1   how many systems of so many series and steps, and
#                    perhaps of one kind, are given to PCMCI+ with nearest neighbours,
#                    which takes minutes for each; no other systems are
#   kept=FOLDER      what each method said of each system is kept there, and a call that
#                    finds it goes on with it
#
# bench/causes/ has the parts: systems.R draws the systems, methods.R has the methods and
# their settings, score.R counts. PEERS and PYTHON are those of bench/peers/install.sh.
#
# Columns of rivals.csv: `data`, `series`, `steps`; `method`; `systems`, how many there
# are, and `finished`, of how many this is; `result`, "done" or what became of the others;
# `auc`, area under the ROC curve for direct links, mean over systems; in percent,
# `missed` direct links, and pairs called direct of those that are mediated, of those that
# have a driver in common (`shared`), and of all without a link (`false`); `false_links`,
# such pairs a system;
# numbers of pairs; `wall` and `cpu`, mean seconds a system. `compared` is "all", or
# "neighbours" for the rows that count only systems that PCMCI+ with nearest neighbours
# finished.

library(synfire)
options(cli.progress_show_after = Inf)

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
theirs_py <- file.path(here, "peers", "theirs.py")
source(file.path(here, "..", "vignettes", "causes", "wirings.R"))
source(file.path(here, "..", "vignettes", "causal-maps", "simulated.R"))
source(file.path(here, "peers", "worker.R"))
for (part in c("systems", "score", "methods")) {
  source(file.path(here, "causes", paste0(part, ".R")))
}

# ---- What was asked for ----------------------------------------------------------------

methods <- list(
  "correlation" = correlation, "lagged correlation" = lagged_correlation,
  "granger" = granger,
  "pcmci+ linear" = list(test = "parcorr", again = 0),
  "pcmci+ linear, all lags" = list(test = "parcorr", again = 1),
  "pcmci+ neighbours" = list(test = "cmiknn", again = 0), "map" = map_links,
  "direct links" = direct_links_found, "direct links, all pairs" = direct_links_all
)

read_arguments <- function(arguments) {
  full <- "full" %in% arguments
  asked <- list(
    out = if (full) file.path(here, "..", "vignettes", "causes") else "",
    data = toString(data_kinds), series = if (full) "3,7,20" else "3,7",
    steps = if (full) "500,1000" else "500", systems = if (full) "20,10,5" else "2",
    methods = paste(setdiff(names(methods), if (!full) "pcmci+ neighbours"),
                    collapse = "; "),
    limit = if (full) "1200" else "60",
    neighbours = "3x500:2,bursts-7x500:1,linear-7x500:1", kept = tempfile("kept-")
  )
  for (argument in setdiff(arguments, "full")) {
    name <- sub("=.*", "", argument)
    known <- name %in% names(asked) && grepl("=", argument)
    if (!known) stop("no such argument: ", argument)
    asked[[name]] <- sub("^[^=]*=", "", argument)
  }
  several <- \(text, between = ", *") strsplit(text, between)[[1L]]
  for (name in c("data", "neighbours")) asked[[name]] <- several(asked[[name]])
  asked$methods <- several(asked$methods, "; *")
  asked$neighbours <- stats::setNames(as.numeric(sub(".*:", "", asked$neighbours)),
                                      sub(":.*", "", asked$neighbours))
  for (name in c("series", "steps", "systems", "limit")) {
    asked[[name]] <- as.numeric(several(asked[[name]]))
  }
  asked$systems <- rep_len(asked$systems, length(asked$series))
  names(asked$systems) <- asked$series
  unknown <- c(setdiff(asked$data, data_kinds), setdiff(asked$methods, names(methods)))
  if (length(unknown)) stop("no such data or method: ", toString(unknown))
  asked
}

# ---- One method and one system ---------------------------------------------------------

#' A method of R: what it found, and seconds
call_here <- function(method, x) {
  gc(FALSE)
  began <- Sys.time()
  used <- system.time(found <- method(x), gcFirst = FALSE)
  list(found = found, wall = as.numeric(difftime(Sys.time(), began, units = "secs")),
       cpu = sum(used[c("user.self", "sys.self")]))
}

#' PCMCI+ with its own level of 0.01, a test of conditional independence (`test`), and
#' perhaps all lags tested again in its second phase (`again`); `said` is why there is
#' nothing
call_tigramite <- function(settings, x, limit) {
  given <- c(settings, series = ncol(x), tau_max = longest_delay, alpha = 0.01,
             surrogates = 100)
  took <- ask_once("tigramite", "pcmci", x, given, limit)
  if (!is.null(took$said)) return(took)
  list(found = read_pcmci(took$result, ncol(x)), wall = took$wall, cpu = took$cpu)
}

#' What a method says of a system, from what was kept of these very series or from now
measure <- function(name, system, key, asked) {
  file <- file.path(asked$kept, sprintf("%s-%s.rds", gsub("[^a-z]+", "-", name), key))
  if (file.exists(file)) {
    done <- readRDS(file)
    if (identical(done$x, system$x)) return(done)
  }
  method <- methods[[name]]
  done <- if (is.function(method)) call_here(method, system$x) else
    call_tigramite(method, system$x, asked$limit)
  done$x <- system$x
  if (!startsWith(done$said %||% "", "missing")) saveRDS(done, file)
  done
}

`%||%` <- function(a, b) if (is.null(a)) b else a

# ---- All of them -----------------------------------------------------------------------

#' A row for each method and system of one sort
measure_sort <- function(sort, asked) {
  rows <- list()
  size <- sprintf("%dx%d", sort$series, sort$steps)
  patient <- max(0, asked$neighbours[c(size, paste0(sort$data, "-", size))], na.rm = TRUE)
  for (number in seq_len(asked$systems[[as.character(sort$series)]])) {
    set.seed(number + 1000 * sort$series + 1e5 * match(sort$data, data_kinds) +
               sort$steps)
    system <- draw_system(sort$data, sort$series, sort$steps)
    key <- sprintf("%s-%d-%d-%d", sort$data, sort$series, sort$steps, number)
    for (name in asked$methods) {
      if (name == "pcmci+ neighbours" && number > patient) next
      done <- measure(name, system, key, asked)
      score <- if (is.null(done$found)) NA else score_links(done$found, system$wiring)
      rows <- c(rows, list(list(
        about = data.frame(sort, method = name, number = number), said = done$said,
        times = data.frame(wall = done$wall %||% NA, cpu = done$cpu %||% NA),
        score = score
      )))
    }
  }
  rows
}

#' The rows of one method as one row of the table
pool_method <- function(rows, compared) {
  finished <- vapply(rows, \(row) is.data.frame(row$score), NA)
  about <- rows[[1L]]$about
  about$number <- NULL
  bind <- \(part) do.call(rbind, lapply(rows[finished], `[[`, part))
  row <- data.frame(about, compared = compared, systems = length(rows),
                    finished = sum(finished))
  said <- unique(unlist(lapply(rows, `[[`, "said")))
  row$result <- if (length(said)) toString(said) else "done"
  if (!any(finished)) return(row)
  data.frame(row, pool_scores(bind("score")), as.list(colMeans(bind("times"))))
}

#' The table of one sort: all systems, and those that the slowest method finished
pool_sort <- function(rows) {
  of <- vapply(rows, \(row) row$about$method, "")
  number <- vapply(rows, \(row) row$about$number, 0)
  finished <- vapply(rows, \(row) is.data.frame(row$score), NA)
  all <- lapply(split(rows, factor(of, unique(of))), pool_method, compared = "all")
  slow <- number[of == "pcmci+ neighbours" & finished]
  few <- rows[number %in% slow]
  few <- split(few, factor(of[number %in% slow], unique(of)))
  bind_rows(c(all, lapply(Filter(length, few), pool_method, compared = "neighbours")))
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

write_rivals <- function(table, folder) {
  doubles <- vapply(table, is.double, NA)
  table[doubles] <- lapply(table[doubles], signif, 4)
  utils::write.csv(table, file.path(folder, "rivals.csv"), row.names = FALSE, na = "")
}

print_rivals <- function(table) {
  shown <- c("data", "series", "steps", "method", "finished", "auc", "missed", "mediated",
             "shared", "false", "cpu", "result")
  table <- table[table$compared == "all", intersect(shown, names(table))]
  doubles <- vapply(table, is.double, NA)
  table[doubles] <- lapply(table[doubles], signif, 3)
  options(width = 200)
  print(table, row.names = FALSE, right = FALSE)
}

asked <- read_arguments(commandArgs(TRUE))
dir.create(asked$kept, recursive = TRUE, showWarnings = FALSE)
sorts <- expand.grid(data = asked$data, steps = asked$steps, series = asked$series,
                     stringsAsFactors = FALSE)[c("data", "series", "steps")]
tables <- list()
for (k in seq_len(nrow(sorts))) {
  tables <- c(tables, list(pool_sort(measure_sort(sorts[k, ], asked))))
  table <- bind_rows(tables)
  if (nzchar(asked$out)) write_rivals(table, asked$out)
}
for (worker in as.list(workers)) stop_worker(worker)
print_rivals(table)
