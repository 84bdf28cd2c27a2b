# Runs cases of the subjects in turn until its time is over, and writes down what it is
# doing, so that the supervisor (run.R) knows it even after a crash. The only argument is a
# file with what to do; it lies in the folder to which the worker writes
#   now         subject, case, since when, seconds it may take
#   call.rds    the call that is running, or ran last
#   log         a line for each case that ended
#   *.finding   what was found
config <- readRDS(commandArgs(TRUE)[[1L]])
source(file.path(config$program, "framework.R"))
load_subjects(config$program)
suppressPackageStartupMessages(library(synfire))
options(cli.progress_show_after = 1e9, warn = 1, nwarnings = 50)
grDevices::pdf(NULL)

in_folder <- function(name) file.path(config$folder, name)
rss <- function() {
  pages <- tryCatch(suppressWarnings(scan("/proc/self/statm", quiet = TRUE))[[2L]],
                    error = function(e) NA)
  pages * 4096 / 2^20
}
gpus <- nrow(synfire_sitrep(test_devices = FALSE)$devices)
fuzz$machine <- list(gpu = gpus > 0, gpus = gpus, peers = config$peers)
fuzz$before_call <- function(call) {
  if (isTRUE(config$show)) {
    file <- in_folder(sprintf("call-%d.rds", length(fuzz$calls)))
    cat(as_code(list(call), file)[-1L], sep = "\n")
  }
  say_now(fuzz$world$subject, fuzz$world$case, fuzz$subjects[[fuzz$world$subject]]$limit)
  saveRDS(call, in_folder("call.rds"), compress = FALSE)
}
say_now <- function(subject, case, limit) {
  writeLines(paste(subject, case, as.numeric(Sys.time()), limit), in_folder("now"))
}

# One call alone, to see whether it ends.
if (!is.null(config$call)) {
  fuzz$before_call <- function(call) NULL
  call_once(config$call)
  quit(status = 0L)
}

# The same case again and again, to see whether memory grows.
if (!is.null(config$repeats)) {
  subject <- fuzz$subjects[[config$repeats$subject]]
  used <- numeric()
  while (as.numeric(Sys.time()) < config$until) {
    run_case(subject, config$seed, config$repeats$case)
    gc()
    used <- c(used, rss())
  }
  saveRDS(used, in_folder("memory.rds"))
  quit(status = 0L)
}

# A finding is saved before it is made smaller, as that may crash.
seen <- character()
keep_finding <- function(found, subject) {
  if (found$kind %in% seen) {
    cat(paste(found$subject, found$kind, sep = "\t"), "\n", sep = "", append = TRUE,
        file = in_folder("again"))
    return()
  }
  seen <<- c(seen, found$kind)
  file <- tempfile("", config$folder, ".finding")
  saveRDS(found, file)
  saveRDS(smaller_finding(found, subject, config$shrink), file)
}

done <- if (file.exists(in_folder("log"))) {
  utils::read.table(in_folder("log"), sep = "\t", col.names = config$columns)
}
spent <- next_case <- stats::setNames(numeric(length(config$subjects)), config$subjects)
for (name in config$subjects) {
  mine <- done[done$subject == name, ]
  spent[[name]] <- sum(mine$seconds)
  next_case[[name]] <- max(config$first, mine$case + config$step)
}

# Whether the supervisor is gone, killed perhaps: then nobody would read what is found.
# Linux says who the parent is, as the second word after the name in brackets.
parent <- function() {
  tryCatch(sub("^.*[)] [A-Z] ([0-9]+) .*", "\\1",
               suppressWarnings(readLines("/proc/self/stat"))[[1L]]),
           error = function(e) "")
}
supervisor <- parent()

# The subject that had the least time has its turn.
while (as.numeric(Sys.time()) < config$until && parent() == supervisor) {
  most <- vapply(config$subjects, function(name) fuzz$subjects[[name]]$most, 0)
  open <- next_case <= pmin(most, config$last)
  if (!any(open)) break
  name <- names(which.min(spent[open]))
  subject <- fuzz$subjects[[name]]
  case <- next_case[[name]]
  say_now(name, case, subject$limit)
  started <- proc.time()[["elapsed"]]
  findings <- run_case(subject, config$seed, case)
  seconds <- proc.time()[["elapsed"]] - started
  counts <- fuzz$counts
  for (found in findings) keep_finding(found, subject)
  cat(paste(name, case, round(seconds, 3), counts[[1L]], counts[[2L]], length(findings),
            round(rss(), 1), sep = "\t"), "\n", sep = "", append = TRUE,
      file = in_folder("log"))
  spent[[name]] <- spent[[name]] + max(seconds, 0.001)
  next_case[[name]] <- case + config$step
}
