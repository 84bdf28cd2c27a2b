# What vignette("recordings-assemblies") shows: assemblies in public recordings.
#
# In the folder of the package, which has to be installed, with what tools/get-data.R fetches:
#
#   Rscript vignettes/recordings-assemblies/measure.R [PART ...] [key=value ...]
#
#   found     what find_assemblies() finds in each recording and in each half of it alone
#   control   in how many shuffled songbirds, and simulated camera recordings, it finds anything
#             (all if none is named)
#
#   only=songbird,culture   these recordings alone; their rows replace those of before
#   shuffles=200            recordings of each kind in `control`
#
# Tables are written beside this file. `set.seed(1)` comes before each search. About ten minutes.

library(synfire)
options(cli.progress_show_after = Inf)
source("tools/data.R")
here <- "vignettes/recordings-assemblies"
if (!dir.exists(here)) stop("run this in the folder of the package")

given <- commandArgs(trailingOnly = TRUE)
setting <- function(name, default) {
  value <- sub(paste0("^", name, "="), "", grep(paste0("^", name, "="), given, value = TRUE))
  if (length(value)) value else default
}
parts <- given[!grepl("=", given)]
if (length(parts) == 0L) parts <- c("found", "control")

# ---- Recordings --------------------------------------------------------------------------

recording_file <- function(name) {
  file <- file.path(Sys.getenv("SYNFIRE_DATA"), name)
  if (!file.exists(file)) stop("SYNFIRE_DATA names no folder with ", name)
  file
}

songbird <- function() {
  spikes <- utils::read.table(recording_file("recordings/songbird.txt"))
  spike_trains(spikes[[2L]], sprintf("n%02d", spikes[[1L]]), start = 0, end = 22.233333)
}

# Trials are the stretches between gaps of 90 ms in which no unit fires.
motor_cortex <- function() {
  raster <- utils::read.table(recording_file("spade/movement_PGHF_raster.txt.gz"))
  at <- sort(unique(raster[[2L]]))
  trial <- cumsum(c(TRUE, diff(at) > 10))
  trials <- data.frame(start = tapply(at, trial, min) * 0.005,
                       end = tapply(at, trial, max) * 0.005 + 0.005)
  spike_trains(raster[[2L]] * 0.005, sprintf("u%03d", raster[[1L]]), trials = trials)
}

cockroach <- function() {
  kept <- new.env()
  load(recording_file("recordings/cockroach-terpi.rda"), kept)
  as_spike_trains(kept$e060817terpi)
}

retina <- function() read_spikes(recording_file("recordings/retina-1152.h5"))

# The hundred electrodes nearest to the middle of those that recorded.
retina_centre <- function() {
  x <- retina()
  place <- unit_table(x)
  away <- (place$x - stats::median(place$x))^2 + (place$y - stats::median(place$y))^2
  x[unit = as.character(place$unit[order(away)[1:100]])]
}

recordings <- list(
  songbird = list(name = "songbird, HVC, calcium", read = songbird, max_lag = 1),
  culture = list(name = "hippocampal culture tc89", max_lag = 1,
                 read = \() read_spikes(recording_file("episodes/tc89.csv.gz"), time_unit = "ms")),
  well = list(name = "culture in one well, axion B3", max_lag = 1,
              read = \() read_spikes(recording_file("episodes/axion_B3.csv.gz"),
                                     time_unit = "ms")),
  cortex = list(name = "macaque motor cortex, 36 reaches", read = motor_cortex, max_lag = 0.2),
  cockroach = list(name = "cockroach antennal lobe, 20 odour trials", read = cockroach,
                   max_lag = 1),
  mouse = list(name = "mouse A8604", max_lag = 1,
               read = \() read_spikes(recording_file("recordings/mouse-A8604.nwb"))),
  retina = list(name = "retinal waves, 100 of 1,152 electrodes", read = retina_centre,
                max_lag = 1)
)

# ---- Halves ------------------------------------------------------------------------------

half_of <- function(x, which) {
  trials <- attr(x, "trials")
  if (!is.null(trials)) {
    n <- nrow(trials)
    return(x[trial = if (which == 1) seq_len(n %/% 2) else (n %/% 2 + 1):n])
  }
  bounds <- c(attr(x, "start"), attr(x, "end"))
  middle <- round(mean(bounds), 3)
  x[time = if (which == 1) c(bounds[[1L]], middle) else c(middle, bounds[[2L]])]
}

# Members of the assembly `row` of `a` that are together in one assembly of `b`, at lags that
# differ from those of `a` by one constant to within twice the wider window.
found_again <- function(a, row, b) {
  shared <- vapply(seq_len(nrow(b)), \(k) {
    both <- intersect(a$units[[row]], b$units[[k]])
    if (length(both) < 2L) return(0)
    i <- match(both, a$units[[row]])
    j <- match(both, b$units[[k]])
    off <- a$lags[[row]][i] - b$lags[[k]][j]
    sum(abs(off - stats::median(off)) <= 2 * pmax(a$widths[[row]][i], b$widths[[k]][j]) + 1e-9)
  }, 0)
  max(0, shared)
}

# ---- Tables ------------------------------------------------------------------------------

write_rows <- function(rows, name, only) {
  file <- file.path(here, paste0(name, ".csv"))
  if (file.exists(file)) {
    before <- utils::read.csv(file)
    if (!identical(names(before), names(rows)) && nrow(rows)) before <- before[0L, ]
    rows <- rbind(before[!before$recording %in% only, ], rows)
  }
  rows <- rows[order(match(rows$recording, names(recordings))), ]
  utils::write.csv(rows, file, row.names = FALSE)
}

# Spikes of the members around the activations of an assembly, in ms, and the windows.
aligned <- function(recording, found, row, margin) {
  x <- attr(found, "recording")
  range <- c(-margin, max(found$lags[[row]]) + margin)
  dots <- do.call(rbind, lapply(found$units[[row]], \(unit) {
    own <- x$time[x$unit == unit]
    do.call(rbind, lapply(seq_along(found$times[[row]]), \(k) {
      lag <- own - found$times[[row]][[k]]
      lag <- lag[lag >= range[[1L]] & lag <= range[[2L]]]
      if (length(lag)) data.frame(recording, assembly = row, unit, activation = k,
                                  ms = round(1e3 * lag, 1))
    }))
  }))
  dots
}

look <- function(key) {
  how <- recordings[[key]]
  x <- how$read()
  search <- function(x) {
    set.seed(1)
    find_assemblies(x, max_lag = how$max_lag)
  }
  found <- search(x)
  halves <- lapply(1:2, \(k) search(half_of(x, k)))
  rows <- seq_len(nrow(found))
  list(
    found = found,
    recordings = data.frame(
      recording = key, name = how$name, units = nlevels(x$unit), spikes = nrow(x),
      events = nrow(attr(found, "recording")),
      seconds = round(attr(x, "end") - attr(x, "start"), 1), max_lag = how$max_lag,
      assemblies = nrow(found), first_alone = nrow(halves[[1L]]),
      second_alone = nrow(halves[[2L]]), elapsed = signif(attr(found, "elapsed"), 2)),
    assemblies = if (nrow(found)) data.frame(
      recording = key, assembly = found$assembly, size = found$size,
      span_ms = vapply(found$lags, \(l) round(1e3 * max(l), 1), 0),
      width_ms = round(1e3 * found$width, 1), count = found$count,
      expected = signif(found$expected, 2), p = found$p, first_half = found$first_half,
      second_half = found$second_half,
      again_first = vapply(rows, \(row) found_again(found, row, halves[[1L]]), 0),
      again_second = vapply(rows, \(row) found_again(found, row, halves[[2L]]), 0)),
    members = if (nrow(found)) cbind(recording = key, as.data.frame(found, what = "members"))
  )
}

# ---- The songbird's renditions -----------------------------------------------------------

# Times at which most units of a set fire within `span` seconds, from their numbers alone and
# with no regard to order: highest first, none within `span` of another.
renditions <- function(x, numbers, span, least) {
  own <- x[as.integer(sub("n", "", x$unit)) %in% numbers, ]
  frame <- seq(0, attr(x, "end") - span, by = 1 / 30)
  units <- vapply(frame, \(t) {
    length(unique(own$unit[own$time >= t & own$time < t + span]))
  }, 0L)
  times <- NULL
  for (k in order(-units)) {
    if (units[[k]] < least) break
    if (all(abs(times - frame[[k]]) >= span)) times <- c(times, frame[[k]])
  }
  sort(times)
}

# ---- Parts -------------------------------------------------------------------------------

part_found <- function() {
  only <- strsplit(setting("only", toString(names(recordings))), ", ?")[[1L]]
  looked <- lapply(only, look)
  names(looked) <- only
  for (name in c("recordings", "assemblies", "members")) {
    write_rows(do.call(rbind, lapply(looked, `[[`, name)), name, only)
  }
  if ("culture" %in% only) {
    found <- looked$culture$found
    write_rows(do.call(rbind, lapply(utils::head(seq_len(nrow(found)), 2L), \(row) {
      aligned("culture", found, row, 0.03)
    })), "aligned", "culture")
  }
  if ("songbird" %in% only) {
    found <- looked$songbird$found
    x <- attr(found, "recording")
    utils::write.csv(data.frame(time = round(x$time, 4), unit = as.integer(sub("n", "", x$unit))),
                     file.path(here, "song.csv"), row.names = FALSE)
    known <- list(fast = renditions(x, 38:67, 0.4, 12), slow = renditions(x, 1:25, 0.6, 10))
    utils::write.csv(data.frame(sequence = rep(names(known), lengths(known)),
                                time = round(unlist(known), 3), span = rep(c(0.4, 0.6), lengths(known))),
                     file.path(here, "renditions.csv"), row.names = FALSE)
    utils::write.csv(as.data.frame(found, what = "activations")[c("assembly", "time", "members")],
                     file.path(here, "activations.csv"), row.names = FALSE)
  }
}

# Each unit's events turned around segments of `seconds`, each by itself.
shuffled <- function(seconds) {
  x <- songbird()
  frame <- round(x$time * 30)
  length <- round(seconds * 30)
  segment <- frame %/% length
  of <- paste(x$unit, segment)
  by <- stats::setNames(sample.int(length, length(unique(of)), TRUE), unique(of))
  room <- pmin(length, 667 - segment * length)
  moved <- segment * length + (frame - segment * length + by[of]) %% room
  once <- !duplicated(paste(x$unit, moved))
  spike_trains(moved[once] / 30, as.character(x$unit)[once], start = 0, end = 22.233333)
}

# Sixty units whose events last some frames and whose rates rise and fall together.
camera <- function() {
  frames <- 1800
  song <- exp(3 * stats::filter(stats::rnorm(frames), rep(1 / 30, 30), circular = TRUE))
  rows <- do.call(rbind, lapply(1:60, \(unit) {
    rate <- exp(stats::runif(1, log(0.2), log(3))) / 30
    onset <- which(stats::runif(frames) < pmin(0.9, rate * song / mean(song)))
    frame <- unique(unlist(lapply(onset, \(k) k + 0:stats::rgeom(1, 0.35))))
    if (length(frame)) data.frame(unit, frame = frame[frame < frames])
  }))
  spike_trains(rows$frame / 30, rows$unit, start = 0, end = 60)
}

part_control <- function() {
  n <- as.integer(setting("shuffles", "200"))
  kinds <- list(`songbird, shuffled within 2 s` = list(make = \() shuffled(2)),
                `songbird, shuffled within 3.5 s` = list(make = \() shuffled(3.5)),
                `the same, searched with segment = 11` = list(make = \() shuffled(3.5), segment = 11),
                `songbird, shuffled within 4 s` = list(make = \() shuffled(4)),
                `simulated camera, rates in common` = list(make = camera))
  rows <- do.call(rbind, lapply(names(kinds), \(kind) {
    any <- vapply(seq_len(n), \(k) {
      set.seed(k)
      nrow(find_assemblies(kinds[[kind]]$make(), segment = kinds[[kind]]$segment)) > 0
    }, NA)
    data.frame(kind, recordings = n, with_any = sum(any))
  }))
  utils::write.csv(rows, file.path(here, "control.csv"), row.names = FALSE)
}

for (part in parts) switch(part, found = part_found(), control = part_control(),
                           stop("not known: ", part))
