# Verdicts on pairs of flows.R: the table of kinds of vignette("error-rates-causes").
#
# In the folder of the package:
#
#   Rscript vignettes/causes/measure-flows.R fix 10      to fix the rules, odd seeds
#   Rscript vignettes/causes/measure-flows.R judge 10    what the page shows, even seeds
#
# So many pairs of 600 rows and of 1,000 are drawn of each kind. Kinds after the number measure
# these alone. What has been done is kept in the folder that the environment variable CAUSES names.

library(synfire)
source("vignettes/causes/flows.R")
options(cli.progress_show_after = Inf)

arguments <- commandArgs(TRUE)
purpose <- arguments[[1L]]
runs <- seq_len(as.integer(arguments[[2L]]))
kinds <- if (length(arguments) > 2L) arguments[-(1:2)] else flow_kinds
kept <- file.path(Sys.getenv("CAUSES", tempdir()), paste0("flows-", purpose))
dir.create(kept, recursive = TRUE, showWarnings = FALSE)

one_run <- function(kind, rows, run) {
  set.seed(10000L * match(kind, flow_kinds) + 2L * rows + 2L * run - (purpose == "fix"))
  pair <- draw_flow(kind, rows)
  found <- as.data.frame(summary(ccm(pair$data, "y", "x", E = 2, lib_sizes = Inf, threads = 1)))
  # Column y:x, the library made of y, is about x driving y.
  data.frame(kind = kind, rows_given = rows, run = run, linked = unname(pair$truth),
             found[setdiff(names(found), c("direction", "cause", "effect"))])
}

do_kind <- function(kind) {
  file <- file.path(kept, paste0(gsub("[, ]+", "-", kind), ".rds"))
  if (file.exists(file)) return(readRDS(file))
  made <- Map(\(rows, run) one_run(kind, rows, run), rep(c(600L, 1000L), each = length(runs)), runs)
  made <- do.call(rbind, made)
  saveRDS(made, file)
  made
}

in_words <- function(d) {
  share <- \(linked, said) round(100 * mean(d$verdict[d$linked == linked] == said), 1)
  why <- sort(table(d$reason[d$verdict == "cannot be told"]), decreasing = TRUE)
  data.frame(
    kind = d$kind[[1L]], rows = d$rows_given[[1L]], links = sum(d$linked),
    supported = share(TRUE, "supported"), missed = share(TRUE, "not supported"),
    null = sum(!d$linked), wrong = share(FALSE, "supported"),
    denied = share(FALSE, "not supported"),
    reasons = paste(names(utils::head(why, 3L)), collapse = ", ")
  )
}

every <- do.call(rbind, lapply(kinds, do_kind))
pool <- \(d, name) in_words(transform(d, kind = name))
each <- split(every, list(every$rows_given, factor(every$kind, unique(every$kind))))
pooled <- lapply(split(every, every$rows_given), pool, "all")
table <- do.call(rbind, c(lapply(each, in_words), pooled))
print(table, row.names = FALSE)
if (purpose == "judge" && length(kinds) == length(flow_kinds)) {
  utils::write.csv(table, "vignettes/causes/errors-flows.csv", row.names = FALSE)
}
