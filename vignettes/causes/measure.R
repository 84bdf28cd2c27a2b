# How often verdicts on causes are wrong: the table of vignette("error-rates-causes").
#
# In the folder of the package:
#
#   Rscript vignettes/causes/measure.R fix 40        to fix the rules
#   Rscript vignettes/causes/measure.R judge 200     what the page shows
#
# The first draws pairs with seeds of its own; the bounds in `verdict_rules` (R/edm-ccm_evidence.R)
# were chosen by looking at such pairs, and at pairs of seeds from 700,001 on, which had shown how
# often an earlier set of rules was wrong. The second draws from seeds that were chosen when the
# rules were fixed, so that no rule has seen its pairs; no rule is changed after it. Names of kinds
# after the number measure these alone. What has been done is kept in the folder that the environment
# variable CAUSES names, in a temporary one without it, and a call goes on with it. A pair takes
# about a seventh of a second on one core, so the whole table takes seven minutes.
#
# A verdict is wrong when it says
#   "supported" for a direction in which nothing leads from the one series to the other, neither
#   directly nor through others (false), or
#   "not supported" for a direction in which something does (missed).
# A run counts as wrong when one of its two directions is. wirings.R says what the truth is; for
# series in step each direction that was wired counts.

library(synfire)
source("vignettes/causes/wirings.R")
options(cli.progress_show_after = Inf)

arguments <- commandArgs(TRUE)
purpose <- arguments[[1L]]
runs <- as.integer(arguments[[2L]])
kinds <- if (length(arguments) > 2L) arguments[-(1:2)] else c(wiring_kinds, "weak chain")
first_seed <- c(fix = 0L, judge = 1300000L)[[purpose]]
kept <- file.path(Sys.getenv("CAUSES", tempdir()), purpose)
dir.create(kept, recursive = TRUE, showWarnings = FALSE)

one_run <- function(kind, run) {
  set.seed(first_seed + 1000L * match(kind, c(wiring_kinds, "weak chain")) + run)
  pair <- draw_pair(kind)
  found <- summary(ccm(pair$data, "y", "x", E = 2, lib_sizes = Inf, threads = 1))
  # Column y:x, the library made of y, is about x driving y.
  found <- as.data.frame(found)
  data.frame(kind = kind, run = run, direction = c("x drives y", "y drives x"),
             linked = unname(pair$truth),
             found[setdiff(names(found), c("direction", "words", "cause", "effect"))])
}

do_kind <- function(kind) {
  file <- file.path(kept, paste0(gsub(" ", "-", kind), ".rds"))
  done <- if (file.exists(file)) readRDS(file)
  for (run in setdiff(seq_len(runs), done$run)) {
    done <- rbind(done, one_run(kind, run))
    if (run %% 10L == 0L) saveRDS(done, file)
  }
  saveRDS(done, file)
  done[done$run <= runs, ]
}

in_words <- function(d) {
  wrong <- with(d, (verdict == "supported" & !linked) | (verdict == "not supported" & linked))
  share <- function(x) round(100 * mean(x), 1)
  each_run <- function(x) share(tapply(x, d$run, any))
  reasons <- sort(table(d$reason[d$verdict == "cannot be told"]), decreasing = TRUE)
  data.frame(
    kind = d$kind[[1L]], runs = length(unique(d$run)), wrong = each_run(wrong),
    false = each_run(d$verdict == "supported" & !d$linked),
    missed = each_run(d$verdict == "not supported" & d$linked),
    refused = share(d$verdict == "cannot be told"),
    links = sum(d$linked), links_supported = share(d$verdict[d$linked] == "supported"),
    links_refused = share(d$verdict[d$linked] == "cannot be told"),
    reasons = paste(names(utils::head(reasons, 3L)), collapse = ", ")
  )
}

table <- do.call(rbind, lapply(kinds, \(kind) in_words(do_kind(kind))))
print(table, row.names = FALSE)
if (purpose == "judge" && length(kinds) == length(wiring_kinds) + 1L) {
  utils::write.csv(table, "vignettes/causes/errors.csv", row.names = FALSE)
}
