# The program `make controls`: asks every analysis questions whose answer is known to be no, or
# that must not change its answer, on recordings of others and on simulated ones. recordings.R,
# analyses.R and questions.R are the tables that are crossed here.
#
# Rscript tools/controls/run.R
#   SHORT=yes         fewer recordings and draws
#   RECORDING= ANALYSIS= QUESTION=   one or more by name, separated by bars (|)
#   WORKERS=2 BUILD=.build
# The table is written to controls.csv in the folder `controls` of BUILD.
program <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]]))
Sys.setenv(OMP_NUM_THREADS = "1")
options(cli.progress_show_after = Inf)
suppressPackageStartupMessages(library(synfire))
source(file.path(dirname(program), "data.R"))
for (file in c("recordings.R", "analyses.R", "questions.R")) source(file.path(program, file))
source(file.path(program, "..", "..", "vignettes", "causal-maps", "simulated.R"))

setting <- function(name, default = "") {
  value <- Sys.getenv(name)
  if (nzchar(value)) value else default
}
short <- nzchar(setting("SHORT"))
chosen <- function(table, name) {
  asked <- setting(name)
  if (!nzchar(asked)) return(table)
  asked <- strsplit(asked, "|", fixed = TRUE)[[1L]]
  if (!all(asked %in% names(table))) {
    cat("No ", tolower(name), " ", toString(setdiff(asked, names(table))), ". There are: ",
        paste(names(table), collapse = " | "), "\n", sep = "")
    quit(status = 2L)
  }
  table[asked]
}
asked_recordings <- chosen(recordings, "RECORDING")
asked_analyses <- chosen(analyses, "ANALYSIS")
asked_questions <- chosen(questions, "QUESTION")
draws_of <- function(question, analysis) {
  if (question$group == "impossible cause") return(if (short) 4L else 8L)
  if (isTRUE(analysis$slow)) 3L else if (short) 4L else 12L
}

# A number that the words decide.
seed_by <- function(...) {
  words <- utf8ToInt(paste(...))
  set.seed(Reduce(\(sum, letter) (sum * 131 + letter) %% 2147483629, words, 0),
           kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
}

is_there <- function(recording) all(file.exists(shared(recording$files)))
load_one <- function(recording) {
  seed_by("recording", recording$name)
  recording$load()
}
# The series of the next recording, which know nothing of this one, without rows between trials.
other_series <- function(recording) {
  with_series <- Filter(\(one) "causal_map" %in% names(one$analyses) && is_there(one), recordings)
  at <- match(recording$name, names(with_series))
  x <- load_one(with_series[[at %% length(with_series) + 1L]])$x
  x[stats::complete.cases(x), , drop = FALSE]
}

# ---- One analysis of one recording -----------------------------------------------------

words_of <- function(error) {
  paste("stopped:", gsub("\\s+", " ", cli::ansi_strip(conditionMessage(error))))
}

# The rows of one question, or one row that says how it stopped.
ask <- function(question, recording, analysis, name, data, args, look) {
  started <- sum(proc.time()[1:2])
  where <- c(recording$name, name, question$name)
  drawn <- function(ask) {
    n <- draws_of(question, analysis)
    lapply(seq_len(n), \(draw) {
      seed_by(where, draw)
      ask(question$change(data, draw, n), args)
    })
  }
  rows <- tryCatch(switch(question$group,
    "impossible cause" = judge_impossible(analysis, drawn(analysis$cross)),
    "nothing there" = judge_nothing(analysis, drawn(analysis$claims)),
    "must not change" = {
      before <- if (is.null(question$from)) look(identity, "as it is") else {
        look(question$from, paste("from", question$name))
      }
      after <- look(question$change, question$name, if (question$random) 2 else 1)
      judge_same(question, analysis, before, after)
    },
    halves = report_halves(look(\(data) cut_half(data, FALSE), "first half"),
                           look(\(data) cut_half(data, TRUE), "second half"))
  ), error = function(e) {
    answer("it runs", words_of(e), "", if (question$group == "halves") NA else FALSE)
  })
  seconds <- sum(proc.time()[1:2]) - started
  lapply(rows, \(one) c(list(recording = recording$name, cut = recording$cut, analysis = name,
                             question = question$name, group = question$group,
                             seconds = seconds / length(rows)), one))
}

asks <- function(question, analysis, name) {
  if (!analysis$kind %in% question$of) return(FALSE)
  if (!is.null(question$only) || name == "feed") return(identical(question$only, name))
  part <- switch(question$group, "impossible cause" = "cross", "nothing there" = "claims", "look")
  !is.null(analysis[[part]])
}

ask_all <- function(recording, name) {
  analysis <- analyses[[name]]
  args <- recording$analyses[[name]]
  data <- load_one(recording)
  if (data$kind == "series") {
    data$radius <- memory_of(data$x)
    data$other <- other_series(recording)
  } else if (!is.null(analysis$reach)) {
    data$reach <- analysis$reach(args)
  }
  seen <- list()
  # The answer for a recording is found once.
  look <- function(change, id, stream = 1) {
    if (is.null(seen[[id]])) {
      seed_by("change", recording$name)
      changed <- change(data)
      seed_by(recording$name, name, stream)
      seen[[id]] <<- analysis$look(changed, args)
    }
    seen[[id]]
  }
  fits <- Filter(\(question) asks(question, analysis, name), asked_questions)
  rows <- unlist(lapply(fits, ask, recording, analysis, name, data, args, look),
                 recursive = FALSE, use.names = FALSE)
  show(rows)
  rows
}

# ---- Lines -----------------------------------------------------------------------------

verdict <- function(r) {
  if (is.na(r$holds)) return("reported")
  if (r$holds) return("holds")
  if (is_known(r$analysis, r$question, r$recording)) "KNOWN" else "FAILS"
}
shape <- "%-27s %-12s %-24s %-14s %-36s %-22s %-8s %6s\n"
show <- function(rows) {
  lines <- vapply(rows, \(r) {
    sprintf(shape, r$recording, r$analysis, r$question, r$measure, substr(r$out, 1L, 160L),
            r$bound, verdict(r), sprintf("%.1f", r$seconds))
  }, "")
  cat(lines, sep = "")
}

# A rate is judged on all recordings together, too, but for those that are known to be wrong.
pooled <- function(rows) {
  rows <- Filter(\(r) length(r$tests) > 0L && !is_known(r$analysis, r$question, r$recording), rows)
  ids <- vapply(rows, \(r) paste(r$analysis, r$question, r$measure), "")
  unlist(lapply(unique(ids), \(id) {
    part <- rows[ids == id]
    if (length(part) < 2L) return(NULL)
    one <- part[[1L]]
    hits <- unlist(lapply(part, `[[`, "hits"))
    tests <- unlist(lapply(part, `[[`, "tests"))
    judged <- judge_rate(one$measure, hits, tests, one$rate, one$group != "nothing there")
    lapply(judged, \(r) c(list(recording = "all together", cut = "", analysis = one$analysis,
                               question = one$question, group = one$group, seconds = 0), r))
  }), recursive = FALSE)
}

# ---- All of it -------------------------------------------------------------------------

if (short) asked_recordings <- Filter(\(one) one$short, asked_recordings)
absent <- Filter(\(one) !is_there(one), asked_recordings)
for (one in absent) cat("skipped, as ", toString(one$files), " is not there: ", one$name, "\n", sep = "")
there <- setdiff(names(asked_recordings), names(absent))
cells <- do.call(rbind, lapply(there, \(name) {
  fit <- intersect(names(recordings[[name]]$analyses), names(asked_analyses))
  if (short) fit <- Filter(\(one) !isTRUE(analyses[[one]]$slow), fit)
  if (length(fit) > 0L) data.frame(recording = name, analysis = fit)
}))
workers <- as.integer(setting("WORKERS", min(2L, parallel::detectCores())))
cat(sprintf(shape, "recording", "analysis", "question", "measure", "what came out", "bound",
            "verdict", "CPU s"))
rows <- parallel::mclapply(seq_len(NROW(cells)), \(k) {
  recording <- recordings[[cells$recording[[k]]]]
  name <- cells$analysis[[k]]
  tryCatch(suppressMessages(ask_all(recording, name)), error = function(e) {
    stopped <- answer("it loads", words_of(e), "", FALSE)
    rows <- lapply(stopped, \(r) c(list(recording = recording$name, cut = "", analysis = name,
                                        question = "", group = "", seconds = 0), r))
    show(rows)
    rows
  })
}, mc.cores = workers, mc.preschedule = FALSE)
died <- which(vapply(rows, \(r) !is.list(r) || is.null(r), NA))
for (k in died) {
  rows[[k]] <- list(list(recording = cells$recording[[k]], cut = "", analysis = cells$analysis[[k]],
                         question = "", group = "", seconds = 0, measure = "it runs",
                         out = "the process ended", bound = "", holds = FALSE))
  show(rows[[k]])
}
rows <- unlist(rows, recursive = FALSE)
together <- pooled(rows)
show(together)
rows <- c(rows, together)

column <- \(name, type) vapply(rows, \(r) r[[name]], type)
holds <- column("holds", NA)
table <- data.frame(
  recording = column("recording", ""), cut = column("cut", ""), analysis = column("analysis", ""),
  group = column("group", ""), question = column("question", ""), measure = column("measure", ""),
  out = column("out", ""), bound = column("bound", ""),
  verdict = vapply(rows, verdict, ""), seconds = round(column("seconds", 0), 2)
)
folder <- file.path(setting("BUILD", ".build"), "controls")
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
utils::write.csv(table, file.path(folder, "controls.csv"), row.names = FALSE)
failed <- which(table$verdict == "FAILS")
spared <- sum(table$verdict == "KNOWN")
if (length(failed) > 0L) {
  cat("\nwhat failed:\n")
  show(rows[failed])
}
cat(sprintf("%.0f s of CPU; the table is in %s\n", sum(table$seconds),
            file.path(folder, "controls.csv")))
cat(sprintf("%d passed, %d failed, %d skipped\n", sum(holds, na.rm = TRUE), length(failed),
            length(absent) + spared))
quit(status = if (length(failed) > 0L) 1L else 0L)
