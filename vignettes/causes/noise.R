# How often direct_links() calls a mediated link direct because the series between is noisy.
#
#   Rscript vignettes/causes/noise.R [runs] [cores]
#
# writes direct-noise.csv beside this file, a row for each length and share of noise, of the four
# kinds of systems "noise on one" of bench/causes/kinds.R: one series that lies between two others
# has so much observation noise, in shares of its standard deviation, and all others 2 %. Systems
# have even numbers, as those of the page. Granger causality is asked about the same series.
library(synfire)
options(cli.progress_show_after = Inf)
here <- "vignettes/causes"
source(file.path(here, "wirings.R"))
source("vignettes/causal-maps/simulated.R")
for (part in c("systems", "kinds", "score", "methods")) {
  source(file.path("bench/causes", paste0(part, ".R")))
}
arguments <- as.integer(commandArgs(TRUE))
runs <- if (length(arguments) > 0L) arguments[[1L]] else 10L
cores <- if (length(arguments) > 1L) arguments[[2L]] else 1L
methods <- list(direct = direct_by, granger = granger)

one_system <- function(kind, run, steps, noise) {
  system <- numbered_kind(kind, 2L * run, steps = steps, noise = noise)
  lapply(methods, \(method) score_links(method(system$x), system$wiring))
}

one_condition <- function(steps, noise) {
  cases <- expand.grid(kind = kinds[["noise on one"]], run = seq_len(runs),
                       stringsAsFactors = FALSE)
  found <- parallel::mclapply(seq_len(nrow(cases)), \(k) {
    one_system(cases$kind[[k]], cases$run[[k]], steps, noise)
  }, mc.cores = cores)
  pooled <- lapply(rlang::set_names(names(methods)), \(method) {
    pool_scores(do.call(rbind, lapply(found, `[[`, method)))
  })
  numbers <- lapply(pooled, \(of) round(unlist(of[c("found", "mediated", "false")]), 1))
  data.frame(steps, noise, systems = nrow(cases), pooled$direct[c("links", "mediated_pairs")],
             as.list(unlist(numbers)))
}

conditions <- expand.grid(noise = c(0.05, 0.1, 0.2, 0.5, 1), steps = c(300L, 1000L))
table <- do.call(rbind, Map(one_condition, conditions$steps, conditions$noise))
write.csv(table, file.path(here, "direct-noise.csv"), row.names = FALSE)
print(table, row.names = FALSE)
