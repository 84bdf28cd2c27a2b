# What vignette("recording-to-figure") shows where the recordings of the mouse and the songbird
# are not there, and in how many of ten recordings a sequence that was planted into the mouse's
# is found.
#
# In the folder of the package, with what `Rscript tools/get-data.R mouse songbird` fetches:
#
#   Rscript vignettes/recording-to-figure/precompute.R [shown] [planted]
#
# It writes read.txt, check.txt, find.txt, bird.txt, mouse.png and bird.png, from the code of the
# page itself, and planted.csv (`activations`, `recordings`, `found`), which takes a few minutes.

library(synfire)
source("tools/data.R")
options(cli.progress_show_after = Inf, width = 80)
folder <- "vignettes/recording-to-figure"
if (!dir.exists(folder)) stop("run this in the folder of the package")
data <- file.path(Sys.getenv("SYNFIRE_DATA"), "recordings")
file <- file.path(data, "mouse-A8604.nwb")
bird <- file.path(data, "songbird.txt")
for (one in c(file, bird)) if (!file.exists(one)) stop("SYNFIRE_DATA names no folder with ", one)
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

# What a chunk of the page draws, as a PNG file of few colours.
source("vignettes/pictures/few-colours.R")
draw_file <- function(label, height) {
  file <- file.path("vignettes/recording-to-figure", paste0(sub("-.*", "", label), ".bmp"))
  grDevices::bmp(file, width = 7.2, height = height, units = "in", res = 110, type = "cairo")
  printed(label)
  grDevices::dev.off()
  few_colours(file)
}

if ("shown" %in% asked) {
  library(ggplot2)
  source(file.path(folder, "figure.R"))
  for (label in c("read", "check", "find", "bird")) {
    writeLines(printed(label), file.path(folder, paste0(label, ".txt")))
  }
  draw_file("mouse", 5)
  draw_file("bird-figure", 9.3)
}

# Spikes of all units in sequence, `n` times, in the place of as many of their own.
planted_lags <- c(0, 0.012, 0.025)
plant <- function(x, n, lags = planted_lags, width = 0.002, participation = 0.8) {
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

# Whether an assembly has all units of the sequence, at its lags to within 5 ms.
is_sequence <- function(units, lags, names) {
  if (!setequal(units, names)) return(FALSE)
  off <- lags[match(names, units)] - planted_lags
  diff(range(off)) <= 0.005
}

if ("planted" %in% asked) {
  x <- read_spikes(file, trials = FALSE)
  rows <- lapply(c(50, 100, 200, 500), \(n) {
    set.seed(n)
    right <- replicate(10, {
      found <- find_assemblies(plant(x, n), n_surrogates = 39, max_lag = 0.2, threads = 2)
      any(unlist(Map(is_sequence, found$units, found$lags, list(levels(x$unit)))))
    })
    data.frame(activations = n, recordings = length(right), found = sum(right))
  })
  print(rows <- do.call(rbind, rows))
  utils::write.csv(rows, file.path("vignettes/recording-to-figure", "planted.csv"),
                   row.names = FALSE)
}
