# The program `make fuzz`: runs random cases in worker processes, watches for crashes,
# hangs and growing memory, and reports what was found. framework.R says how it is used.
#
# Rscript tools/fuzz/run.R [--covered]
#   SECONDS=120  SEED=  SUBJECT=one,or,more  CASE=  WORKERS=  SHRINK=10 (seconds a finding)
program <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]]))
program <- normalizePath(program)
source(file.path(program, "framework.R"))
load_subjects(program)

if ("--covered" %in% commandArgs(TRUE)) {
  found <- not_covered()
  for (name in found$missing) cat("no subject draws ", name, "\n", sep = "")
  for (name in found$unknown) cat("a subject names what is no argument: ", name, "\n", sep = "")
  n <- sum(lengths(found))
  cat(n, "arguments to cover\n")
  quit(status = if (n > 0) 1L else 0L)
}

setting <- function(name, default) {
  value <- Sys.getenv(name)
  if (nzchar(value)) value else default
}
seconds <- as.numeric(setting("SECONDS", 120))
seed <- as.numeric(setting("SEED", floor(as.numeric(Sys.time())) %% 1e6))
case <- as.numeric(setting("CASE", NA))
shrink <- as.numeric(setting("SHRINK", 10))
subjects <- strsplit(setting("SUBJECT", paste(names(fuzz$subjects), collapse = ",")), ",")[[1L]]
unknown <- setdiff(subjects, names(fuzz$subjects))
if (length(unknown) > 0 || length(subjects) == 0) {
  cat("No subject ", toString(unknown), ". There are: ", toString(names(fuzz$subjects)), "\n",
      sep = "")
  quit(status = 2L)
}
cores <- parallel::detectCores()
workers <- if (is.na(case)) as.integer(setting("WORKERS", cores)) else 1L
folder <- file.path(setting("BUILD", ".build"), "fuzz")
unlink(folder, recursive = TRUE)
dir.create(folder, recursive = TRUE)
folder <- normalizePath(folder)
# All of the workers' temporary files go with the run, also those of one that was killed.
scratch <- tempfile("fuzz-")
dir.create(scratch)
peers <- find_peers()
columns <- c("subject", "case", "seconds", "calls", "refusals", "findings", "memory")
cat(sprintf("seed %s, %s s, %d workers: %s\n", format(seed), format(seconds), workers,
            toString(subjects)))

# ---- workers ----

start_worker <- function(folder, ..., show = FALSE) {
  dir.create(folder, showWarnings = FALSE)
  config <- list(program = program, seed = seed, folder = folder, columns = columns,
                 shrink = shrink, show = show, peers = peers, ...)
  file <- file.path(folder, "config.rds")
  saveRDS(config, file)
  unlink(file.path(folder, "now"))
  threads <- Sys.getenv("OMP_NUM_THREADS", as.character(max(1, cores %/% workers)))
  # A call that asks for far too much must be refused, not take the machine's memory. A
  # device's memory is counted in as well, so there is no limit with one.
  limit <- if (!file.exists("/dev/nvidiactl")) {
    sprintf("ulimit -v %d 2> /dev/null;", as.integer(2^20 * (8 + 0.2 * cores)))
  }
  processx::process$new(
    "/bin/sh",
    c("-c", paste(limit, "exec \"$@\""), "sh", file.path(R.home("bin"), "Rscript"),
      "--vanilla", file.path(program, "worker.R"), file),
    stdout = if (show) "" else NULL, stderr = file.path(folder, "stderr"),
    # Random calls name files and folders, too, which must not appear where this is run.
    wd = scratch,
    cleanup_tree = TRUE,
    env = c("current", OMP_NUM_THREADS = threads, TMPDIR = scratch,
            R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  )
}

read_now <- function(folder) {
  # A file that is not there is an error after a warning. The warning must not end the
  # reading: what it had opened would stay open.
  words <- tryCatch(suppressWarnings(scan(file.path(folder, "now"), what = "", quiet = TRUE)),
                    error = function(e) NULL)
  if (length(words) != 4L) return(NULL)
  list(subject = words[[1L]], case = as.numeric(words[[2L]]), since = as.numeric(words[[3L]]),
       limit = as.numeric(words[[4L]]))
}

last_words <- function(folder) {
  lines <- tryCatch(readLines(file.path(folder, "stderr"), warn = FALSE),
                    error = function(e) character())
  lines <- grep("^ *[0-9]+: |^$|^Possible|^An irr", lines, invert = TRUE, value = TRUE)
  paste(utils::tail(lines, 4L), collapse = " / ")
}

findings <- list()
keep <- function(found) {
  found$times <- 1L
  id <- paste(found$subject, found$kind)
  if (is.null(findings[[id]])) findings[[id]] <<- found
  else findings[[id]]$times <<- findings[[id]]$times + 1L
}

# What a worker was doing when it died or hung is a finding; the case is then passed over.
died <- function(folder, text) {
  now <- read_now(folder)
  if (is.null(now)) stop("A worker does not start: ", last_words(folder))
  call <- tryCatch(suppressWarnings(readRDS(file.path(folder, "call.rds"))),
                   error = function(e) NULL)
  text <- sprintf("%s in or after a call of %s()", text, call$name %||% "nothing")
  keep(list(text = text, kind = kind_of_finding(text), subject = now$subject, case = now$case,
            seed = seed, calls = if (!is.null(call)) list(call) else list(), alone = TRUE,
            died = TRUE))
  cat(paste(now$subject, now$case, round(as.numeric(Sys.time()) - now$since, 3), 0, 0, 1, NA,
            sep = "\t"), "\n", sep = "", append = TRUE, file = file.path(folder, "log"))
}

until <- as.numeric(Sys.time()) + seconds
first <- if (is.na(case)) seq_len(workers) else case
folders <- file.path(folder, paste0("worker-", seq_len(workers)))
start <- function(k) {
  start_worker(folders[[k]], subjects = subjects, first = first[[k]], step = workers,
               last = if (is.na(case)) Inf else case, until = until, show = !is.na(case))
}
running <- lapply(seq_len(workers), start)
while (any(!vapply(running, is.null, NA))) {
  Sys.sleep(0.1)
  for (k in which(!vapply(running, is.null, NA))) {
    worker <- running[[k]]
    now <- read_now(folders[[k]])
    hung <- worker$is_alive() && !is.null(now) &&
      as.numeric(Sys.time()) - now$since > now$limit
    if (worker$is_alive() && !hung) next
    worker$kill_tree()
    status <- worker$get_exit_status()
    if (hung) {
      died(folders[[k]], sprintf("R takes more than %s s", format(now$limit)))
    } else if (!identical(status, 0L)) {
      died(folders[[k]], sprintf("R ended with status %s (%s)", status,
                                 last_words(folders[[k]])))
    }
    again <- (hung || !identical(status, 0L)) && as.numeric(Sys.time()) < until
    running[k] <- list(if (again) start(k))
  }
}

logs <- file.path(folders, "log")
log <- do.call(rbind, lapply(logs[file.exists(logs)], utils::read.table, sep = "\t",
                             col.names = columns))
for (file in list.files(folders, "[.]finding$", full.names = TRUE)) keep(readRDS(file))
for (file in list.files(folders, "^again$", full.names = TRUE)) {
  for (id in sub("\t", " ", readLines(file))) {
    if (!is.null(findings[[id]])) findings[[id]]$times <- findings[[id]]$times + 1L
  }
}

# ---- calls that crash or hang, made smaller, each try in a process of its own ----

dies <- function(call, limit) {
  place <- file.path(folder, "one")
  worker <- start_worker(place, call = call)
  worker$wait(timeout = (limit + 2) * 1000)
  hung <- worker$is_alive()
  worker$kill_tree()
  hung || !identical(worker$get_exit_status(), 0L)
}
for (id in names(findings)) {
  found <- findings[[id]]
  if (!isTRUE(found$died) || length(found$calls) == 0L) next
  limit <- min(20, fuzz$subjects[[found$subject]]$limit)
  if (!dies(found$calls[[1L]], limit)) {
    findings[[id]]$text <- paste(found$text, "\n(This call alone does not do it.)")
    next
  }
  findings[[id]]$calls[[1L]] <- smaller_call(found$calls[[1L]], Sys.time() + 3 * shrink,
                                             function(call) dies(call, limit))
}

# ---- memory that grows ----

# One short case of each subject is repeated in a process of its own. After a first
# quarter, in which R and its packages find their size, each further quarter of the
# repetitions must add memory for a finding, and the last as much as those before.
grows <- function(used) {
  n <- length(used)
  if (n < 40 || anyNA(used)) return(FALSE)
  quarter <- vapply(split(used, ceiling(4 * seq_len(n) / n)), stats::median, 0)
  steps <- diff(quarter)
  all(steps > 1) && steps[[3L]] > 0.5 * steps[[1L]]
}
share <- min(10, 0.15 * seconds / length(subjects))
short <- log[log$seconds < share / 60 & log$findings == 0, ]
start_repeating <- function(name) {
  cases <- short$case[short$subject == name]
  chosen <- cases[[1L + seed %% length(cases)]]
  place <- file.path(folder, paste0("memory-", name))
  worker <- start_worker(place, repeats = list(subject = name, case = chosen),
                         until = as.numeric(Sys.time()) + 2 + share)
  list(name = name, case = chosen, worker = worker, file = file.path(place, "memory.rds"))
}
finish_repeating <- function(one) {
  one$worker$wait(timeout = 1000 * (60 + share))
  one$worker$kill_tree()
  if (!file.exists(one$file)) return()
  used <- readRDS(one$file)
  if (!grows(used)) return()
  keep(list(text = sprintf("Memory grows by %s MB in %d repetitions of a case",
                           format(diff(range(used)), digits = 3), length(used)),
            kind = "memory", subject = one$name, case = one$case, seed = seed,
            calls = list()))
}
# As many side by side as there are workers.
repeated <- if (is.na(case)) unique(short$subject) else character()
for (names in split(repeated, (seq_along(repeated) - 1L) %/% workers)) {
  for (one in lapply(names, start_repeating)) finish_repeating(one)
}

# ---- report ----

for (i in seq_along(findings)) {
  found <- findings[[i]]
  cat(sprintf("\n== finding %d: subject %s, seed %s, case %s", i, found$subject,
              format(seed), format(found$case)),
      if (found$times > 1L) sprintf(" (and %d times more)", found$times - 1L), "\n",
      found$text, "\n", sep = "")
  cat(sprintf("replay: make fuzz SEED=%s SUBJECT=%s CASE=%s\n", format(seed), found$subject,
              format(found$case)))
  if (length(found$calls) > 0L) {
    cat(as_code(found$calls, file.path(folder, sprintf("finding-%d.rds", i))), sep = "\n")
  }
}
count <- function(name, column) sum(log[[column]][log$subject == name])
of <- vapply(findings, function(found) found$subject, "")
table <- data.frame(
  subject = subjects,
  cases = vapply(subjects, function(name) sum(log$subject == name), 0L),
  calls = vapply(subjects, count, 0, "calls"),
  refusals = vapply(subjects, count, 0, "refusals"),
  findings = vapply(subjects, function(name) sum(of == name), 0L)
)
cat("\n")
print(table, row.names = FALSE)
cat(sprintf("seed %s: %d cases, %d findings\n", format(seed), nrow(log) %||% 0L,
            length(findings)))
unlink(scratch, recursive = TRUE)
quit(status = if (length(findings) > 0L || is.null(log)) 1L else 0L)
