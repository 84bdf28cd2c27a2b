# usage: Rscript tools/guides.R [RECORDING...]. Takes the code of the guides as it is in the
# vignettes, puts another recording's file in the place of the guide's, runs it, and checks that
# each picture is drawn and each table filled. Without names all ten recordings are tried. Fewer
# surrogates than in the guides are made, and long searches take a part of the recording. Pictures
# go to .build/guides. The last line holds the totals. Two of the recordings are written by other
# programs, where they were installed by
#
#   python3 -m venv .build/peers/guides
#   .build/peers/guides/bin/pip install pynwb spikeinterface
library(synfire)
source("tools/data.R")
folder <- file.path(".build", "guides")
dir.create(folder, recursive = TRUE, showWarnings = FALSE)

# ---- Recordings --------------------------------------------------------------------------

# `read` is what a user writes in the place of the guide's line, `part` what the long searches are
# given, `delays` the bounds of the delays of chains, and `bin` the bin of spike patterns and `step`
# that of series, all in seconds. `refused` names the guides whose question the recording cannot
# answer: their error is the answer.
recording <- function(file, read, part = "", delays = c(0.005, 0.015), bin = 0.005, step = 1,
                      refused = character()) {
  list(file = file, read = read, part = part, delays = delays, bin = bin, step = step,
       refused = refused)
}
shared <- function(...) file.path(Sys.getenv("SYNFIRE_DATA"), ...)
recordings <- list(
  mouse = recording(shared("recordings", "mouse-A8604.nwb"),
                    'read_spikes(file, trials = "epochs")', bin = 0.003),
  songbird = recording(shared("recordings", "songbird.txt"),
                       "read_spikes(file, start = 0, end = 22.2333)", delays = c(0.02, 0.12),
                       bin = 0.04, step = 0.1, refused = "connections"),
  cockroach = recording(shared("recordings", "cockroach-terpi.rda"),
                        "as_spike_trains(get(load(file)))"),
  axion = recording(shared("episodes", "axion_B3.csv.gz"),
                    'read_spikes(file, time_unit = "ms")', "[time = c(40, 50)]", step = 0.2),
  culture = recording(shared("episodes", "tc89.csv.gz"), 'read_spikes(file, time_unit = "ms")',
                      "[time = c(100, 160)]"),
  dense = recording(shared("episodes", "culture-2-1-20.spk.txt.gz"), "read_spikes(file)",
                    "[time = c(1000, 1120)]"),
  wmaze = recording(shared("recordings", "wmaze.csv.gz"), "read_spikes(file)",
                    "[time = c(1000, 1060)]"),
  retina = recording(shared("recordings", "retina-1152.h5"), "read_spikes(file)",
                     "[time = c(0, 300), unit = unit_table(read_spikes(file))$unit[1:60]]",
                     delays = c(0.01, 0.05)),
  session = recording(file.path(folder, "session.nwb"), 'read_spikes(file, trials = "trials")',
                      step = 0.1),
  analyzer = recording(file.path(folder, "analyzer"), "read_spikes(file)")
)

python <- file.path(".build", "peers", "guides", "bin", "python")
if (file.exists(python)) {
  unlink(c(recordings$session$file, recordings$analyzer$file), recursive = TRUE)
  system2(python, c("-W", "ignore", file.path("tools", "guides.py"), folder), stderr = FALSE)
}

# ---- Guides ------------------------------------------------------------------------------

quoted <- function(units) paste0("c(", toString(dQuote(units, FALSE)), ")")
span <- function(from, to) sprintf("c(%.4g, %.4g)", from, to)

# The chunks of each guide that ask about a recording, and the words of them that are about the
# guide's own one, each with the words that a user puts in their place. `x` is the recording, and
# `about` says what is asked of it.
guides <- list(
  "ten-minutes" = list(
    chunks = c("load", "tables", "songbird", "check", "check-bird", "raster", "raster-mouse",
               "rates", "drift", "isi", "isi-picture", "psth", "correlograms", "sttc"),
    words = \(x, about) c(
      'c("38", "45", "46", "47")' = quoted(busiest(x, 4)),
      '"45"' = dQuote(busiest(x, 2)[[2]], FALSE),
      "c(600, 610)" = span(middle(x), middle(x) + 10),
      "bin_size = 10" = paste("bin_size =", min(10, signif(longest(x) / 10, 1))),
      "diff(times) > 1" = "diff(times) > quantile(diff(times), 0.99)",
      # The spikes after a silence begin a trial, where there are trials.
      "from = -0.5" = paste("from =", if (is.null(trial_table(x))) -0.5 else 0),
      "cross_correlogram(mouse" =
        sprintf("cross_correlogram(mouse[unit = %s]", quoted(busiest(x, 5)))
    )
  ),
  episodes = list(
    chunks = c("load", "suggest", "test", "network", "counts", "control", "occurrences", "aligned",
               "raster", "own", "stream"),
    words = \(x, about) c(
      "episode_significance(found," = "episode_significance(found, n_surrogates = 100,",
      "n_surrogates = 200, threads" = "n_surrogates = 40, threads",
      "dither = 3" = paste("dither =", min(3, longest(x) / 2)),
      "surrogate_trains(x, 3," = "surrogate_trains(x, 1,",
      "c(0.02, 0.12)" = deparse(about$delays),
      "from = 4, to = 6" = sprintf("from = %g, to = %g", middle(x), middle(x) + 2),
      'episode(c("38", "45", "47", "46")' =
        sprintf("episode(%s", quoted(rep_len(busiest(x, 3), 4))),
      "low = rep(0.02, 3), high = rep(0.12, 3)" =
        sprintf("low = rep(%g, 3), high = rep(%g, 3)", about$delays[[1]], about$delays[[2]]),
      "seq(0.5, 22, by = 0.5)" =
        sprintf("seq(%g, %g, by = 0.5)", start_of(x) + 0.5, start_of(x) + 10)
    )
  ),
  "spike-patterns" = list(
    chunks = c("load", "spade", "pvalues", "dots", "summary"),
    words = \(x, about) c("bin_size = 0.003" = paste("bin_size =", about$bin))
  ),
  assemblies = list(
    chunks = c("load", "summary", "aligned", "raster", "lags", "activations", "halves",
               "stability"),
    words = \(x, about) c(
      "find_assemblies(x," = "find_assemblies(x, n_surrogates = 39,",
      "find_assemblies(half," = "find_assemblies(half, n_surrogates = 39,",
      "from = 10, to = 16" = sprintf("from = %g, to = %g", middle(x), middle(x) + 6),
      "c(0, 11.1)" = span(start_of(x), middle(x)),
      "c(11.1, 22.2333)" = span(middle(x), end_of(x))
    )
  ),
  connections = list(chunks = c("load", "mouse", "summary", "matrix"), words = \(x, about) NULL),
  causes = list(
    chunks = c("load", "ccm", "links", "pair-picture", "direct-picture"),
    words = \(x, about) c(
      "read_spikes(file)" = sprintf("read_spikes(file)[unit = %s]", quoted(busiest(x, 6))),
      "bin_size = 1" = paste("bin_size =", about$step),
      '"6", "206"' = toString(dQuote(busiest(x, 2), FALSE)),
      "plot(drive)" = "plot(pair)"
    )
  )
)

busiest <- function(x, n) utils::head(names(sort(table(x$unit), decreasing = TRUE)), n)
start_of <- function(x) min(x$time)
end_of <- function(x) max(x$time)
longest <- function(x) {
  trials <- trial_table(x)
  if (is.null(trials)) end_of(x) - start_of(x) else max(trials$end - trials$start)
}
middle <- function(x) round((start_of(x) + end_of(x)) / 2, 1)

# The code of a guide: a character vector, named by chunk.
code_of <- function(guide) {
  script <- tempfile(fileext = ".R")
  knitr::purl(file.path("vignettes", paste0(guide, ".Rmd")), script, documentation = 1L,
              quiet = TRUE)
  lines <- readLines(script)
  heading <- "^## ----([^,]*?)(,.*)?-+$"
  chunk <- cumsum(grepl(heading, lines, perl = TRUE))
  code <- vapply(split(lines, chunk), \(part) paste(part[-1L], collapse = "\n"), "")
  names(code) <- sub(heading, "\\1", grep(heading, lines, value = TRUE, perl = TRUE), perl = TRUE)
  code
}

# The chunks about a recording, with the user's words. What the guide does not say any more is an
# error.
adapted <- function(guide, name) {
  about <- recordings[[name]]
  file <- about$file
  part <- if (guide == "ten-minutes") "" else about$part
  line <- paste0(about$read, part)
  x <- suppressMessages(eval(str2lang(line)))
  code <- code_of(guide)
  chunks <- guides[[guide]]$chunks
  stopifnot("a chunk of the guide has another name" = chunks %in% names(code))
  code <- code[chunks]
  words <- guides[[guide]]$words(x, about)
  for (word in names(words)) {
    if (!any(grepl(word, code, fixed = TRUE))) stop(guide, " does not say ", word)
    code <- gsub(word, words[[word]], code, fixed = TRUE)
  }
  code <- gsub("file <- system[.]file[(][^)]*[)]", sprintf('file <- "%s"', file), code)
  gsub("read_spikes[(]file[^)]*[)]", gsub("\\", "\\\\", line, fixed = TRUE), code)
}

# ---- What a call gives -------------------------------------------------------------------

# A device for the pictures of a call; without any it leaves no file.
open_device <- function(file) {
  grDevices::png(file, width = 7.2, height = 4.6, units = "in", res = 100)
}
blank <- file.path(folder, "blank.png")
open_device(blank)
grid::grid.newpage()
invisible(grDevices::dev.off())

# What a result says that found nothing. Tables made of it are empty, and need no other reason.
said_none <- "^# 0 |^No |none of them"

# Runs a call as a user would who pastes it: a character vector of what is wrong.
run_call <- function(call, envir, file, guide) {
  text <- character()
  open_device(file)
  tryCatch({
    value <- withVisible(eval(call, envir))
    if (value$visible) text <- utils::capture.output(print(value$value))
  }, finally = grDevices::dev.off())
  # A picture of nothing says why.
  if (file.exists(file)) return(if (file.size(file) < 2 * file.size(blank)) "a blank picture")
  guide$none <- guide$none || any(grepl(said_none, text))
  empty <- any(grepl("data frame with 0|^<0 rows>|^character\\(0\\)", text))
  if (empty && !guide$none) paste("nothing in a table:", toString(text))
}

run_chunk <- function(code, envir, file, guide) {
  calls <- parse(text = code)
  unlist(lapply(seq_along(calls), \(i) {
    run_call(calls[[i]], envir, sprintf("%s-%d.png", file, i), guide)
  }))
}

# A guide about a recording: what is wrong, or character(). The first error ends a guide.
run_guide <- function(guide, name) {
  wrong <- character()
  envir <- new.env()
  state <- new.env()
  state$none <- FALSE
  code <- adapted(guide, name)
  failed <- NULL
  for (chunk in names(code)) {
    note <- function(text) wrong <<- c(wrong, paste0(chunk, ": ", text))
    tryCatch(
      withCallingHandlers(
        utils::capture.output(said <- run_chunk(
          code[[chunk]], envir, file.path(folder, paste(name, guide, chunk, sep = "-")), state
        )),
        warning = \(w) {
          note(paste("warning:", conditionMessage(w)))
          invokeRestart("muffleWarning")
        },
        message = \(m) invokeRestart("muffleMessage")
      ),
      error = \(e) failed <<- conditionMessage(e)
    )
    if (!is.null(failed)) break
    for (text in said) note(text)
  }
  refused <- guide %in% recordings[[name]]$refused
  if (refused && is.null(failed)) note("no refusal")
  if (!refused && !is.null(failed)) note(failed)
  wrong
}

# ---- All of them -------------------------------------------------------------------------

asked <- commandArgs(TRUE)
if (length(asked) == 0L) asked <- names(recordings)
stopifnot(asked %in% names(recordings))
totals <- c(passed = 0L, failed = 0L, skipped = 0L)
for (name in asked) {
  if (!file.exists(recordings[[name]]$file)) {
    why <- if (name %in% c("session", "analyzer")) python else recordings[[name]]$file
    cat(sprintf("%-10s skipped: %s is not there\n", name, why))
    totals[["skipped"]] <- totals[["skipped"]] + length(guides)
    next
  }
  unlink(list.files(folder, paste0("^", name, "-.*[.]png$"), full.names = TRUE))
  for (guide in names(guides)) {
    set.seed(1)
    seconds <- system.time(wrong <- run_guide(guide, name))[["elapsed"]]
    pictures <- list.files(folder, paste(name, guide, ".*[.]png$", sep = "-"))
    result <- if (length(wrong) == 0L) "passed" else "failed"
    totals[[result]] <- totals[[result]] + 1L
    cat(sprintf("%-10s %-15s %s %2d pictures %5.1f s\n", name, guide, result, length(pictures),
                seconds))
    cat(sprintf("  %s\n", wrong), sep = "")
  }
}
cat(sprintf("%d passed, %d failed, %d skipped\n", totals[["passed"]], totals[["failed"]],
            totals[["skipped"]]))
quit(status = as.integer(totals[["failed"]] > 0L))
