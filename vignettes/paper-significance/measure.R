# What vignette("paper-significance") shows and what takes longer than building the page.
#
# In the folder of the package, which has to be installed:
#
#   Rscript vignettes/paper-significance/measure.R [PART ...] [key=value ...]
#
#   synchrony    what is found of a planted synchronous pattern, by its size and count
#   durations    the same of a pattern of three spikes by its duration, 2d and 3d spectrum
#   stability    the same by significance and by stability
#   keeps        what surrogates keep: intervals, correlograms, rates, regularity
#   clipping     spikes that share a bin with another of their unit, by rate and process
#   recordings   the same in real recordings
#   false        false positives of regular units whose rates change, by surrogate
#   cortex       significant patterns of motor cortex, by surrogate and spectrum
#   load         seconds for mining, stability and surrogates, by number of units
#                (all if none is named)
#
#   cores=2      processes side by side; `load` runs in one
#   share=1      share of the recordings of each part, to try it out
#   out=FOLDER   for the tables; else they are written beside this file
#
# Every recording is `set.seed()`'s, so that tables can be made again; except for the seconds
# of `load` they are the same on any machine. `recordings` and `cortex` need what
# tools/get-data.R fetches. About half an hour on one core, and a minute on 32.

library(synfire)
source("tools/data.R")
options(cli.progress_show_after = Inf)
here <- "vignettes/paper-significance"
if (!dir.exists(here)) stop("run this in the folder of the package")
source(file.path(here, "processes.R"))
source(file.path(here, "detection.R"))
source(file.path(here, "surrogates.R"))

# ---- Arguments -------------------------------------------------------------------------

parts <- c("synchrony", "durations", "stability", "keeps", "clipping", "recordings", "false",
           "cortex", "load")
given <- commandArgs(trailingOnly = TRUE)
named <- grepl("=", given)
keys <- list(cores = "2", share = "1", out = here)
keys[sub("=.*", "", given[named])] <- sub("^[^=]*=", "", given[named])
chosen <- if (all(named)) parts else given[!named]
unknown <- c(setdiff(chosen, parts), setdiff(names(keys), c("cores", "share", "out")))
if (length(unknown) > 0L) stop("no such part or key: ", toString(unknown))
cores <- as.integer(keys$cores)
share <- as.numeric(keys$share)

# ---- Running ---------------------------------------------------------------------------

# How many recordings are made of a case that has `sets` of them.
sets_of <- function(sets) max(1L, round(share * sets))

# The rows that `measure(case, set)` gives for each row of `cases` and each of `sets`
# recordings, one below the other, cases side by side. Recording k of case c has a seed of
# its own.
each_recording <- function(cases, sets, measure, side_by_side = cores) {
  jobs <- expand.grid(set = seq_len(sets_of(sets)), case = seq_len(nrow(cases)))
  rows <- parallel::mclapply(seq_len(nrow(jobs)), \(j) {
    case <- cases[jobs$case[[j]], , drop = FALSE]
    set.seed(1000 * jobs$case[[j]] + jobs$set[[j]])
    cbind(case, measure(case, jobs$set[[j]]), row.names = NULL)
  }, mc.cores = side_by_side, mc.preschedule = FALSE)
  failed <- vapply(rows, inherits, NA, "try-error")
  if (any(failed)) stop(rows[failed][[1L]])
  do.call(rbind, rows)
}

# Means of all columns that are no part of the case, and the number of recordings.
mean_by_case <- function(rows, case) {
  key <- do.call(paste, c(rows[case], sep = "\r"))
  key <- factor(key, unique(key))
  values <- rows[setdiff(names(rows), case)]
  means <- vapply(values, \(v) as.double(tapply(v, key, mean, na.rm = TRUE)),
                  double(nlevels(key)))
  cbind(rows[!duplicated(key), case, drop = FALSE], sets = as.vector(table(key)),
        matrix(means, nlevels(key), dimnames = list(NULL, names(values))), row.names = NULL)
}

machine_name <- function() {
  file <- "/proc/cpuinfo"
  lines <- if (file.exists(file)) grep("^model name", readLines(file), value = TRUE)
  if (length(lines) > 0L) sub("^[^:]*: *", "", lines[[1L]]) else Sys.info()[["machine"]]
}

write_table <- function(table, name) {
  doubles <- vapply(table, is.double, NA)
  table[doubles] <- lapply(table[doubles], signif, 4)
  table$machine <- machine_name()
  table$date <- format(Sys.Date())
  table$synfire <- format(utils::packageVersion("synfire"))
  utils::write.csv(table, file.path(keys$out, paste0(name, ".csv")), row.names = FALSE)
  cat(sprintf("%s: %d rows, %.1f s\n", name, nrow(table), proc.time()[["elapsed"]]))
}

for (part in chosen) get(paste0("part_", part))()
