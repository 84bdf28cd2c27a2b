# What vignette("recording-to-figure") shows where the recording of the mouse is not there, and
# in how many of ten recordings a sequence that was planted into it is found.
#
# In the folder of the package, with what `Rscript tools/get-data.R mouse` fetches:
#
#   Rscript vignettes/recording-to-figure/precompute.R [shown] [planted]
#
# It writes read.txt, check.txt, find.txt and mouse.png, from the code of the page itself, and
# planted.csv (`activations`, `recordings`, `found`), which takes a few minutes.

library(synfire)
source("tools/data.R")
options(cli.progress_show_after = Inf, width = 80)
folder <- "vignettes/recording-to-figure"
if (!dir.exists(folder)) stop("run this in the folder of the package")
file <- file.path(Sys.getenv("SYNFIRE_DATA"), "recordings", "mouse-A8604.nwb")
if (!file.exists(file)) stop("SYNFIRE_DATA names no folder with recordings/mouse-A8604.nwb")
asked <- commandArgs(TRUE)
if (length(asked) == 0L) asked <- c("shown", "planted")

# The code of a chunk of the page.
chunk <- function(label) {
  page <- readLines("vignettes/recording-to-figure.Rmd")
  first <- grep(sprintf("^```[{]r %s[,}]", label), page)
  last <- first + which(page[-seq_len(first)] == "```")[[1L]]
  parse(text = page[seq(first + 1L, last - 1L)])
}

printed <- function(label) {
  utils::capture.output(for (one in chunk(label)) {
    value <- withVisible(eval(one, globalenv()))
    if (value$visible) print(value$value)
  })
}

if ("shown" %in% asked) {
  for (label in c("read", "check", "find")) {
    writeLines(printed(label), file.path(folder, paste0(label, ".txt")))
  }
  grDevices::png(file.path(folder, "mouse.png"), width = 7.2, height = 5, units = "in", res = 110,
                 type = "cairo")
  folder <- normalizePath(folder)
  printed("mouse")
  grDevices::dev.off()
}

# Spikes of all units in sequence, `n` times, in the place of as many of their own.
plant <- function(x, n, lags = c(0, 0.012, 0.025), width = 0.002, participation = 0.8) {
  units <- levels(x$unit)
  start <- stats::runif(n, attr(x, "start"), attr(x, "end") - 0.1)
  new <- data.frame(
    time = rep(start, length(units)) + rep(lags, each = n) +
      stats::runif(n * length(units), 0, width),
    unit = rep(units, each = n)
  )
  new <- new[stats::runif(nrow(new)) < participation, ]
  old <- data.frame(time = x$time, unit = as.character(x$unit))
  gone <- lapply(units, \(unit) sample(which(old$unit == unit), sum(new$unit == unit)))
  all <- rbind(old[-unlist(gone), ], new)
  all <- all[order(all$time), ]
  spike_trains(all$time, all$unit, start = attr(x, "start"), end = attr(x, "end"))
}

if ("planted" %in% asked) {
  x <- read_spikes(file, trials = FALSE)
  rows <- lapply(c(50, 100, 200, 500), \(n) {
    set.seed(n)
    right <- replicate(10, {
      found <- find_assemblies(plant(x, n), n_surrogates = 39, max_lag = 0.2, threads = 2)
      any(vapply(found$units, setequal, NA, levels(x$unit)))
    })
    data.frame(activations = n, recordings = length(right), found = sum(right))
  })
  print(rows <- do.call(rbind, rows))
  utils::write.csv(rows, file.path("vignettes/recording-to-figure", "planted.csv"),
                   row.names = FALSE)
}
