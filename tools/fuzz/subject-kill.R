# Work that is killed again and again, at random times, and each time resumed, is in the end
# what it would have been. `Rscript tools/fuzz/kill.R 100` does so a hundred times.

fuzz_subject("kill", covers = list(
  causal_map = c("x", "file"), mine_patterns = c("x", "folder"),
  pvalue_spectrum = c("x", "folder"), direct_links = c("map", "x", "folder"),
  find_assemblies = c("x", "folder")
), run = function(world) {
  work <- draw_work(size = whole(1, 5))
  where <- file.path(world$folder, "kept")
  whole <- undisturbed(work, world$folder)
  if (refused(whole)) return()
  killed <- kill_work(work, where, whole(1, 4))
  if (!is.null(killed$wrong)) return(finding(killed$wrong))
  resumed <- do_work(work, where, other = killed$begun)
  same(numbers_of(work, whole), numbers_of(work, resumed), "killed and resumed")
})

# Begins the work `times` times and kills it at a random moment of what it would take.
# Gives how often it was killed, whether what was begun has its random numbers, and what
# was wrong.
kill_work <- function(work, where, times, signal = tools::SIGKILL) {
  started <- proc.time()[["elapsed"]]
  spent <- file.path(dirname(where), "spent")
  apart(do_work(work, spent, call = quiet_call))
  takes <- proc.time()[["elapsed"]] - started
  unlink(c(spent, paste0(spent, ".shards")), recursive = TRUE)
  kills <- 0
  for (k in seq_len(times)) {
    job <- parallel::mcparallel(do_work(work, where, call = quiet_call), silent = TRUE)
    Sys.sleep(runif(1) * takes)
    tools::pskill(job$pid, signal)
    end <- suppressWarnings(parallel::mccollect(job)[[1L]])
    if (is.null(end)) kills <- kills + 1
    if (inherits(end, "error") && !inherits(end, "synfire_error")) {
      return(list(kills = kills, wrong = paste("not ours:", conditionMessage(end))))
    }
    if (refused(end)) {
      return(list(kills = kills, wrong = paste("refused:", conditionMessage(end))))
    }
  }
  # Without anything begun the random numbers are those of the next call.
  list(kills = kills, begun = file.exists(if (dir.exists(where)) file.path(where, "job.rds")
                                          else where))
}
