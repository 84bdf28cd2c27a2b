# Who finds synapses that are known, who reports some where none can be, and how long it takes:
# find_synapses() beside Elephant's total spiking probability edges (TSPE) and a plain recipe.
#
#   sh bench/peers/install.sh                      first, for Elephant (else it is missing)
#   Rscript bench/synapses.R [full] [key=value ...]
#
#   full             the tables of vignette("error-rates"), about two hours; without it short
#                    parts of all recordings, which are printed, in some minutes
#   parts=truth,jittered,speed     only these tables
#   recordings=20 units|none       only recordings whose names match this
#   methods=synapses|TSPE          only methods whose names match this
#   copies=20        jittered copies of each recording
#   limit=1200       seconds after which Elephant is stopped at a recording
#   kept=FOLDER      networks are kept there, and a call that finds one takes it
#   out=FOLDER       where truth.csv, jittered.csv and speed.csv are written; `full` alone
#                    writes to vignettes/connections
#
# bench/synapses/recordings.R has the recordings, with seeds that were written down before any
# was seen, and methods.R the methods and scores. TSPE has no rule for what is a synapse: its
# calls are those of the threshold with the largest F1 of both signs, which a user cannot know,
# and its scores are an upper bound.
#
# truth.csv: `average_precision` over all ordered pairs, whatever the sign; `mcc` (Matthews'
# correlation) of calls, whatever the sign; `f1` of calls with the right sign, and `f1_strong`
# without synapses below 5 % (excitatory) and 15 % (inhibitory) of the threshold distance;
# `wrong`, the share of calls without a synapse of this sign; `recall` of both signs; `told`,
# FALSE where find_synapses() says that bursts leave it nothing to tell.
# jittered.csv: `copies` of recordings whose spikes were moved uniformly within windows of 20,
# 30 and 50 ms by turns, and how many of them report a `connection`, a pair with `common` input
# (or that is one cell), which is as wrong, or a `wide` peak, which such copies may keep;
# `itself`: connections of the recording as it is.
# speed.csv: Poisson trains of 5 Hz, an hour long; seconds of the median run.

library(synfire)
source("tools/machine.R")
options(cli.progress_show_after = Inf, width = 200)

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
theirs_py <- file.path(here, "peers", "theirs.py")
source(file.path(here, "..", "tools", "data.R"))
source(file.path(here, "peers", "worker.R"))
for (part in c("recordings", "methods")) source(file.path(here, "synapses", paste0(part, ".R")))

read_arguments <- function(arguments) {
  full <- "full" %in% arguments
  asked <- list(parts = "truth,jittered,speed", recordings = "", methods = "",
                copies = if (full) "20" else "2", limit = if (full) "1200" else "120",
                kept = tempfile("kept-"),
                out = if (full) file.path(here, "..", "vignettes", "connections") else "")
  for (argument in setdiff(arguments, "full")) {
    name <- sub("=.*", "", argument)
    if (!name %in% names(asked) || !grepl("=", argument)) stop("no such argument: ", argument)
    asked[[name]] <- sub("^[^=]*=", "", argument)
  }
  asked$parts <- strsplit(asked$parts, ",")[[1L]]
  for (name in c("copies", "limit")) asked[[name]] <- as.numeric(asked[[name]])
  # Without `full`, this share of each network, and hours that are so much shorter.
  c(asked, list(full = full, share = if (full) 1 else 0.1))
}

write_rows <- function(rows, name, asked) {
  table <- do.call(rbind, rows)
  doubles <- vapply(table, is.double, NA)
  table[doubles] <- lapply(table[doubles], signif, 3)
  if (nzchar(asked$out)) {
    dir.create(asked$out, showWarnings = FALSE, recursive = TRUE)
    utils::write.csv(cbind(table, machine = cpu_name(), date = format(Sys.Date()),
                           synfire = format(utils::packageVersion("synfire"))),
                     file.path(asked$out, paste0(name, ".csv")), row.names = FALSE, na = "")
  }
  table
}

matching <- function(names, pattern) grep(pattern, names, value = TRUE)

#' A result and the seconds that it took, or why there is none
attempt <- function(call) {
  gc(FALSE)
  took <- system.time(found <- tryCatch(call(), error = \(e) {
    list(said = gsub("\\s+", " ", cli::ansi_strip(conditionMessage(e))))
  }))
  list(found = found, seconds = took[["elapsed"]])
}

# ---- Known synapses ----------------------------------------------------------------------

load_truth <- function(name, asked) {
  if (name %in% names(simulated_by_others)) return(other_of(name, asked$share))
  file <- file.path(asked$kept, sprintf("%s-%g.rds", gsub("[^a-z0-9]+", "-", name), asked$share))
  if (file.exists(file)) return(readRDS(file))
  recording <- network_of(name, asked$share)
  saveRDS(recording, file)
  recording
}

measure_truth <- function(asked) {
  rows <- list()
  for (name in matching(c(names(simulated_by_others), names(networks)), asked$recordings)) {
    recording <- load_truth(name, asked)
    for (method in matching(names(methods), asked$methods)) {
      done <- attempt(\() methods[[method]](recording, asked$limit))
      found <- done$found
      about <- data.frame(recording = name, units = nlevels(recording$x$unit),
                          seconds_recorded = attr(recording$x, "end"),
                          spikes = nrow(recording$x), method = method,
                          result = if (is.null(found$said)) "done" else found$said)
      none <- list(score = empty(recording$x), sign = NA * empty(recording$x))
      score <- score_synapses(if (is.null(found$said)) found else none, recording$truth,
                              name %in% names(networks))
      if (!is.null(found$said)) score[-(1:3)] <- NA
      row <- cbind(about, score, told = if (is.null(found$told)) NA else found$told,
                   seconds = if (is.null(found$seconds)) done$seconds else found$seconds)
      rows <- c(rows, list(row))
      message(sprintf("%s, %s: AP %.3f, MCC %.3f, F1 %.3f, %s calls, wrong %.3f, %.1f s %s", name,
                      method, row$average_precision, row$mcc, row$f1, row$calls, row$wrong,
                      row$seconds, if (row$result == "done") "" else row$result))
      write_rows(rows, "truth", asked)
    }
  }
  write_rows(rows, "truth", asked)
}

# ---- Nothing there -----------------------------------------------------------------------

jitter_windows <- c(0.02, 0.03, 0.05)

measure_jittered <- function(asked) {
  rows <- list()
  for (name in matching(names(recorded), asked$recordings)) {
    x <- on_own_clock(recorded[[name]]())
    itself <- attempt(\() suppressWarnings(find_synapses(x)))
    there <- is.data.frame(itself$found)
    set.seed(213)
    # A recording that is refused is not asked again.
    said <- lapply(seq_len(if (there) asked$copies else 0L), \(k) {
      window <- jitter_windows[[(k - 1L) %% length(jitter_windows) + 1L]]
      copy <- surrogate_trains(x, 1, "jitter", window = window)[[1L]]
      attempt(\() suppressWarnings(find_synapses(copy)))
    })
    kinds <- lapply(said, \(one) if (is.data.frame(one$found)) one$found$kind)
    refused <- unlist(lapply(c(list(itself), said), \(one) {
      if (!is.data.frame(one$found)) one$found$said
    }))
    connections <- vapply(kinds, \(kind) sum(kind %in% "connection"), 0L)
    with_kind <- \(which) sum(vapply(kinds, \(kind) any(kind %in% which), NA))
    row <- data.frame(
      recording = name, units = nlevels(x$unit), spikes = nrow(x),
      itself = if (there) sum(itself$found$kind %in% "connection") else NA,
      copies = sum(vapply(said, \(one) is.data.frame(one$found), NA)),
      connection = sum(connections > 0),
      common = with_kind(c("common input", "same cell")), wide = with_kind("wide"),
      connections = sum(connections),
      seconds = stats::median(vapply(said, `[[`, 0, "seconds")),
      refused = if (length(refused)) refused[[1L]] else NA
    )
    message(sprintf("%s: of %d copies %d report connections, %d common input, %.1f s %s", name,
                    row$copies, row$connection, row$common, row$seconds,
                    if (is.na(row$refused)) "" else row$refused))
    rows <- c(rows, list(row))
    write_rows(rows, "jittered", asked)
  }
  write_rows(rows, "jittered", asked)
}

# ---- Speed -------------------------------------------------------------------------------

measure_speed <- function(asked) {
  report <- synfire_sitrep(test_devices = FALSE)
  places <- list("one core" = list(threads = 1), "all cores" = list(threads = report$threads))
  if (NROW(report$devices) > 0) places[["1 GPU"]] <- list(device = "gpu", gpus = 1)
  rows <- list()
  for (units in if (asked$full) c(200, 1000) else c(50, 200)) {
    x <- poisson_trains(units, hour * asked$share)
    for (place in names(places)) {
      seconds <- numeric()
      while (length(seconds) < 5 && sum(seconds) < 60) {
        done <- attempt(\() do.call(find_synapses, c(list(x), places[[place]])))
        if (!is.data.frame(done$found)) break
        seconds <- c(seconds, done$seconds)
      }
      row <- data.frame(
        units = units, seconds_recorded = hour * asked$share, spikes = nrow(x), place = place,
        threads = if (is.null(places[[place]]$threads)) report$threads else places[[place]]$threads,
        seconds = stats::median(seconds), runs = length(seconds),
        result = if (length(seconds)) "done" else done$found$said
      )
      message(sprintf("%d units, %s: %.2f s (%d runs) %s", units, place, row$seconds, row$runs,
                      row$result))
      rows <- c(rows, list(row))
      write_rows(rows, "speed", asked)
    }
  }
  write_rows(rows, "speed", asked)
}

asked <- read_arguments(commandArgs(TRUE))
dir.create(asked$kept, showWarnings = FALSE, recursive = TRUE)
measures <- list(truth = measure_truth, jittered = measure_jittered, speed = measure_speed)
for (part in asked$parts) {
  table <- measures[[part]](asked)
  shown <- setdiff(names(table), c("pairs", "result", "refused", "seconds_recorded"))
  cat("\n")
  print(table[shown], row.names = FALSE)
}
for (worker in as.list(workers)) stop_worker(worker)
