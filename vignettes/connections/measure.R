# What vignette("error-rates") shows of real recordings.
#
# In the folder of the package, which has to be installed, with what tools/get-data.R fetches:
#
#   Rscript vignettes/connections/measure.R
#
# Tables are written beside this file: `recordings.csv`, a row for each recording; `found.csv`, all
# rows of find_synapses(); `correlograms.csv`, those of the clearest connections; `planted.csv`, what
# is found in forty recordings of example.R. Some seconds. The other tables are those of
# bench/synapses.R.

library(synfire)
source("tools/data.R")
here <- "vignettes/connections"
if (!dir.exists(here)) stop("run this in the folder of the package")

recording_file <- function(name) {
  file <- file.path(Sys.getenv("SYNFIRE_DATA"), name)
  if (!file.exists(file)) stop("SYNFIRE_DATA names no folder with ", name)
  file
}

recordings <- list(
  tc89 = list(name = "hippocampal culture tc89, electrodes",
              read = \() read_spikes(recording_file("episodes/tc89.csv.gz"), time_unit = "ms")),
  cortex = list(name = "cortical culture, day 20, electrodes",
                read = \() read_spikes(recording_file("episodes/culture-2-1-20.spk.txt.gz"))),
  wmaze = list(name = "rat hippocampus on a W maze, clusters",
               read = \() read_spikes(recording_file("recordings/wmaze.csv.gz")))
)
shown <- 4L

look <- function(key) {
  x <- recordings[[key]]$read()
  began <- proc.time()[["elapsed"]]
  found <- find_synapses(x, threads = 1)
  elapsed <- proc.time()[["elapsed"]] - began
  about <- attributes(found)
  n <- table(factor(found$kind, c("connection", "explained", "common input", "same cell", "wide")))
  sign <- found$sign[found$kind %in% "connection"]
  rows <- as.data.frame(found)
  clearest <- utils::head(rows[rows$kind %in% "connection", ][order(
    -abs(rows$z[rows$kind %in% "connection"])), ], shown)
  at <- match(paste(clearest$from, clearest$to), paste(rows$from, rows$to))
  lag <- (seq_len(nrow(about$correlograms)) - (nrow(about$correlograms) + 1) / 2) * about$bin_size
  near <- abs(lag) <= 0.02 + 1e-9
  bars <- do.call(rbind, lapply(seq_along(at), \(k) data.frame(
    recording = key, pair = format(found)[[at[[k]]]], sign = clearest$sign[[k]],
    ms = round(1e3 * lag[near], 3), count = about$correlograms[near, at[[k]]],
    base = round(about$baseline[near, at[[k]]], 1), low = round(1e3 * about$windows[at[[k]], 1], 3),
    high = round(1e3 * about$windows[at[[k]], 2], 3)
  )))
  # The unit with most spikes, which may be no unit.
  spikes <- table(x$unit)
  busiest <- names(spikes)[which.max(spikes)]
  with_it <- \(kind) sum(rows$kind %in% kind & (rows$from == busiest | rows$to == busiest))
  list(
    recordings = data.frame(
      recording = key, name = recordings[[key]]$name, units = nrow(about$units),
      tested = sum(about$units$tested), spikes = nrow(x),
      seconds = round(attr(x, "end") - attr(x, "start")), tests = about$tests,
      excitatory = sum(sign > 0), inhibitory = sum(sign < 0), explained = n[["explained"]],
      common = n[["common input"]], same = n[["same cell"]], wide = n[["wide"]],
      sharp = sum(rows$kind %in% "connection" & rows$lag < 0.0013 & rows$width < 0.0013),
      seen = signif(stats::median(about$power, na.rm = TRUE), 2),
      busiest = busiest, busiest_share = round(max(spikes) / nrow(x), 2),
      busiest_links = with_it("connection"), busiest_same = with_it("same cell"),
      elapsed = round(elapsed, 2)),
    found = data.frame(recording = key, rows[c("from", "to", "kind", "sign")],
                       ms = round(1e3 * rows$lag, 2), strength = signif(rows$strength, 3),
                       q = signif(rows$q_value, 2), via = rows$via),
    correlograms = bars
  )
}

all <- lapply(names(recordings), look)
for (name in names(all[[1L]])) {
  rows <- do.call(rbind, lapply(all, `[[`, name))
  utils::write.csv(rows, file.path(here, paste0(name, ".csv")), row.names = FALSE)
}

# ---- Planted ---------------------------------------------------------------------------------

source(file.path(here, "example.R"))
true <- c("n01 -> n02", "n02 -> n03", "n04 -> n05", "n06 -| n07")
planted <- do.call(rbind, lapply(1:40, \(seed) {
  set.seed(seed)
  spikes <- planted_circuit()$spikes
  found <- find_synapses(spike_trains(spikes$time, spikes$unit, start = 0, end = 600), threads = 1)
  called <- format(found)[found$kind %in% "connection"]
  is <- \(pair, kind) any(format(found) == pair & found$kind %in% kind)
  data.frame(seed, right = sum(true %in% called), wrong = sum(!called %in% true),
             explained = is("n01 -> n03", "explained"), common = is("n08 -- n09", "common input"),
             same = is("n10 -- n11", "same cell"))
}))
utils::write.csv(planted, file.path(here, "planted.csv"), row.names = FALSE)
