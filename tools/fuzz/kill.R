# Kills maps, and folders of direct links, patterns, surrogates and assemblies at random times,
# resumes them, and compares with what was not disturbed: Rscript tools/fuzz/kill.R [kills of each] [seed]
program <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]]))
source(file.path(program, "framework.R"))
load_subjects(program)
suppressPackageStartupMessages(library(synfire))
options(cli.progress_show_after = 1e9)
fuzz$before_call <- function(call) NULL
given <- as.numeric(commandArgs(TRUE))
wanted <- if (length(given) > 0) given[[1L]] else 100
seed <- if (length(given) > 1) given[[2L]] else floor(as.numeric(Sys.time())) %% 1e6
cat("seed", seed, "\n")
wrong <- 0
for (kind in c("map", "links", "patterns", "surrogates", "assemblies")) {
  kills <- cases <- 0
  started <- proc.time()[["elapsed"]]
  while (kills < wanted) {
    cases <- cases + 1
    once <- list(name = kind, run = function(world) {
      work <- draw_work(kind, size = 2)
      where <- file.path(world$folder, "kept")
      whole <- undisturbed(work, world$folder)
      if (refused(whole)) return()
      killed <- kill_work(work, where, 5)
      kills <<- kills + killed$kills
      if (!is.null(killed$wrong)) return(finding(killed$wrong))
      same(numbers_of(work, whole),
           numbers_of(work, do_work(work, where, other = killed$begun)), "killed and resumed")
    })
    for (found in run_case(once, seed, cases)) {
      wrong <- wrong + 1
      cat(kind, "case", cases, found$text, "\n")
    }
  }
  cat(sprintf("%s: killed %d times in %d cases, %.0f s\n", kind, kills, cases,
              proc.time()[["elapsed"]] - started))
}
cat(wrong, "results that differ\n")
quit(status = if (wrong > 0) 1L else 0L)
