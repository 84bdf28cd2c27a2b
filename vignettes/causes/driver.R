# Where verdicts take a common driver for a cause, and what links they find there: the second table
# of vignette("error-rates-causes").
#
# In the folder of the package:
#
#   Rscript vignettes/causes/driver.R 60
#
# Pairs with a common driver and pairs with a link one way, of wirings.R, with links of the usual
# strength, 2 % of noise and 500 steps; then with one of these changed. Seeds are those of
# development: some of them were looked at before rules were fixed. Where series have 2,000 steps
# there are four pairs where elsewhere there are ten. Numbers of rows after that of pairs measure
# these alone. What has been done is kept in the folder that the environment variable CAUSES names,
# and a call goes on with it.

library(synfire)
source("vignettes/causes/wirings.R")
options(cli.progress_show_after = Inf)

arguments <- as.integer(commandArgs(TRUE))
most <- arguments[[1L]]
kept <- file.path(Sys.getenv("CAUSES", tempdir()), "driver")
dir.create(kept, recursive = TRUE, showWarnings = FALSE)

usual <- data.frame(changed = "nothing", factor = 1, noise = 0.02, steps = 500L)
conditions <- rbind(
  usual,
  transform(usual, changed = "links half as strong", factor = 0.5),
  transform(usual, changed = "links half as strong again", factor = 1.5),
  transform(usual, changed = "no noise", noise = 0),
  transform(usual, changed = "noise of 10 %", noise = 0.1),
  transform(usual, changed = "250 steps", steps = 250L),
  transform(usual, changed = "2,000 steps", steps = 2000L)
)

one_run <- function(kind, about, run) {
  set.seed(1000L * match(kind, wiring_kinds) + run)
  pair <- draw_pair(kind, about$steps, about$noise, about$factor)
  found <- summary(ccm(pair$data, "y", "x", E = 2, lib_sizes = Inf, threads = 1))
  data.frame(verdict = found$verdict, linked = unname(pair$truth), run = run)
}

measure <- function(k) {
  about <- conditions[k, ]
  file <- file.path(kept, paste0(k, ".rds"))
  if (file.exists(file)) return(readRDS(file))
  runs <- if (about$steps > 1000L) ceiling(0.4 * most) else most
  found <- lapply(c(driver = "common driver", link = "one way"), function(kind) {
    do.call(rbind, lapply(seq_len(runs), \(run) one_run(kind, about, run)))
  })
  share <- \(x) round(100 * mean(x), 1)
  link <- found$link[found$link$linked, ]
  said <- found$driver$verdict
  out <- data.frame(
    changed = about$changed, runs = runs,
    wrong = share(tapply(said == "supported", found$driver$run, any)),
    refused = share(said == "cannot be told"), supported = share(link$verdict == "supported"),
    link_refused = share(link$verdict == "cannot be told")
  )
  saveRDS(out, file)
  out
}

rows <- if (length(arguments) > 1L) arguments[-1L] else seq_len(nrow(conditions))
table <- do.call(rbind, lapply(rows, measure))
print(table, row.names = FALSE)
if (length(rows) == nrow(conditions)) {
  utils::write.csv(table, "vignettes/causes/errors-driver.csv", row.names = FALSE)
}
