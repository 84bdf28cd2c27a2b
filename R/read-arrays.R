# Spikes of electrode arrays in HDF5 files: the layout of the repositories of retinal waves
# and cultures, and the files of MaxWell and of 3Brain.

# ---- Repositories of retinal waves and of cultures ---------------------------------

#' The layout of the repository of Eglen and others (2014)
#'
#' `/spikes` holds the times of all spikes in seconds, unit after unit; `/sCount` how many
#' each unit has; `/names` their names; `/epos` a row for each, with the position x, y of its
#' electrode in micrometres; `/summary/duration` the length of the recording in seconds.
#' @noRd
read_waverepo <- function(h5, about, fail) {
  time <- h5_numbers(h5, "/spikes", fail)
  count <- h5_numbers(h5, "/sCount", fail)
  n <- length(count)
  if (anyNA(count) || any(count < 0 | count != round(count)) || sum(count) != length(time)) {
    fail("`/sCount` does not say how many of the times in `/spikes` each unit has")
  }
  if (!all(is.finite(time))) fail("`/spikes` is not finite for some spikes")
  labels <- unit_names(if (h5_has(h5, "names", fail)) {
    h5_use(h5, "/names", fail, \(set) h5_read(set, "/names", fail, "words"))
  } else {
    seq_len(n)
  })
  if (is.null(labels) || length(labels) != n) fail("`/names` does not name each unit differently")
  ticks <- round_to_ticks(time, about$resolution)
  seconds <- if (h5_has_path(h5, "summary/duration", fail)) {
    h5_number(h5, "/summary/duration", fail)
  }
  # It says how long, and not from when.
  cover <- round_to_ticks(c(0, seconds), about$resolution)
  fits <- length(cover) == 2L && all(is.finite(cover)) && length(ticks) > 0L &&
    min(ticks) >= cover[[1L]] && max(ticks) <= cover[[2L]]
  named_units(rep(seq_len(n), count), labels, waverepo_positions(h5, n, fail), ticks = ticks,
              cover = if (fits) cover)
}

waverepo_positions <- function(h5, n, fail) {
  if (!h5_has(h5, "epos", fail)) return(NULL)
  value <- h5_use(h5, "/epos", fail, \(set) {
    if (!inherits(set, "H5D")) fail("`/epos` is no data set")
    extent <- h5_extent(set, "/epos", fail)
    fail_if(!identical(extent, c(n, 2)) && !identical(extent, c(2, n)), fail,
            "`/epos` does not have a position, x and y, for each unit")
    matrix(h5_read(set, "/epos", fail), extent[[1L]])
  })
  if (nrow(value) != n) value <- t(value)
  list(x = value[, 1L], y = value[, 2L])
}

# ---- MaxWell -----------------------------------------------------------------------

# Their chips sample at this rate; the older files do not say it.
maxwell_rate <- 20000

#' Spikes that a MaxOne or MaxTwo system detected
#'
#' A record of the spikes holds `frameno`, the number of the sample; `channel`, the
#' amplifier that saw it; and its `amplitude`. A record of the mapping says which `electrode`
#' is wired to a `channel`, and where that is: `x`, `y` in micrometres. Older files have one
#' recording, in `/proc0/spikeTimes` and `/mapping`; newer ones have recordings of wells, in
#' `/wells/well000/rec0000/spikes` and `settings/mapping`, with the rate in
#' `settings/sampling`. Samples count from when the system was started; where the file holds
#' the numbers of the samples of its traces, the first of these is time 0.
#' @noRd
read_maxwell <- function(h5, about, fail) {
  if (h5_has_path(h5, "proc0/spikeTimes", fail)) {
    return(wells_together(list(maxwell_part(h5, "/proc0/spikeTimes", "/mapping",
                                            maxwell_rate, NULL, about, fail)), fail))
  }
  fail_if(!h5_has(h5, "wells", fail), fail,
          "it has neither `/proc0/spikeTimes` nor `/wells`, so no detected spikes")
  groups <- \(path) sort(h5_use(h5, path, fail, \(group) {
    if (!inherits(group, "H5Group")) fail(sprintf("`%s` is no group", path))
    h5_try(names(group), path, fail)
  }))
  wells <- groups("/wells")
  parts <- lapply(rlang::set_names(wells), \(well) {
    recordings <- groups(paste0("/wells/", well))
    number <- which_segment(length(recordings), about$segment, fail)
    place <- paste("/wells", well, recordings[[number]], sep = "/")
    has <- \(name) h5_has_path(h5, paste0(place, "/", name), fail)
    if (!has("spikes")) return(NULL)
    rate <- said_rate(h5_number(h5, paste0(place, "/settings/sampling"), fail),
                      about$sampling_rate, fail, "`settings/sampling`")
    frames <- if (has("groups/routed/frame_nos")) paste0(place, "/groups/routed/frame_nos")
    maxwell_part(h5, paste0(place, "/spikes"), paste0(place, "/settings/mapping"), rate,
                 frames, about, fail)
  })
  wells_together(parts, fail)
}

maxwell_part <- function(h5, spikes, mapping, rate, frames, about, fail) {
  spikes <- h5_read_records(h5, spikes, c("frameno", "channel"), fail)
  wired <- h5_read_records(h5, mapping, c("channel", "electrode", "x", "y"), fail)
  wired <- as.data.frame(wired)
  wired <- wired[!is.na(wired$channel) & wired$channel >= 0 & !duplicated(wired$channel), ]
  # Spikes are also detected on channels that no electrode is wired to.
  channel <- sort(unique(c(wired$channel, spikes$channel)))
  fail_if(!all(is.finite(c(spikes$frameno, spikes$channel))), fail,
          "some spikes have no sample or no channel")
  zero <- if (is.null(frames)) 0 else h5_use(h5, frames, fail, \(set) {
    if (prod(h5_extent(set, frames, fail)) == 0) 0 else
      as.double(h5_read(set, frames, fail, at = 1))
  })
  at <- match(channel, wired$channel)
  list(ticks = round_to_ticks(spikes$frameno - zero, about$resolution, rate),
       code = match(spikes$channel, channel), labels = number_labels(channel),
       table = data.frame(channel = channel, electrode = wired$electrode[at],
                          x = wired$x[at], y = wired$y[at]))
}

# ---- 3Brain ------------------------------------------------------------------------

#' Spikes that BrainWave detected
#'
#' BrainWave 4: `/3BResults/3BChEvents/SpikeTimes` holds samples, `SpikeChIDs` places (from
#' 0) in the list of channels `/3BRecInfo/3BMeaStreams/Raw/Chs`, whose records hold the `Row`
#' and `Col` of an electrode, from 1. `/3BRecInfo/3BRecVars` has `SamplingRate` and
#' `NRecFrames`, the number of samples. BrainWave 5: each `/Well_*` has `SpikeTimes`, in
#' samples, and `SpikeChIdxs`, which number the electrodes row by row from 0; `StoredChIdxs`
#' lists those that were recorded. The rate is the attribute `SamplingRate` of the file, or
#' in its JSON `/ExperimentSettings`.
#' @noRd
read_3brain <- function(h5, about, fail) {
  if (h5_has(h5, "3BResults", fail)) return(read_brainwave4(h5, about, fail))
  rate <- brainwave5_rate(h5, about, fail)
  wells <- grep("^Well_", sort(h5_try(names(h5), "/", fail)), value = TRUE)
  parts <- lapply(rlang::set_names(wells, sub("^Well_", "", wells)), \(well) {
    has <- \(name) h5_has_path(h5, paste0(well, "/", name), fail)
    if (!has("SpikeTimes") || !has("SpikeChIdxs")) return(NULL)
    stored <- if (has("StoredChIdxs")) h5_numbers(h5, paste0("/", well, "/StoredChIdxs"), fail)
    side <- sqrt(length(stored))
    whole <- length(stored) > 0L && side == round(side) &&
      identical(sort(stored), seq_along(stored) - 1)
    brainwave_part(h5, paste0("/", well, "/", c("SpikeTimes", "SpikeChIdxs")), rate, about,
                   fail, channels = stored,
                   place = \(channel) if (whole) list(row = channel %/% side + 1,
                                                      col = channel %% side + 1))
  })
  wells_together(parts, fail)
}

read_brainwave4 <- function(h5, about, fail) {
  events <- "/3BResults/3BChEvents/"
  fail_if(!h5_has_path(h5, paste0(events, "SpikeTimes"), fail), fail,
          "it has no `/3BResults/3BChEvents/SpikeTimes`, so no detected spikes")
  has <- \(name) h5_has_path(h5, name, fail)
  variable <- \(name) if (has(paste0("/3BRecInfo/3BRecVars/", name))) {
    h5_number(h5, paste0("/3BRecInfo/3BRecVars/", name), fail)
  }
  rate <- said_rate(variable("SamplingRate"), about$sampling_rate, fail,
                    "`/3BRecInfo/3BRecVars/SamplingRate`")
  list_of <- "/3BRecInfo/3BMeaStreams/Raw/Chs"
  place <- if (has(list_of)) h5_read_records(h5, list_of, c("Row", "Col"), fail)
  part <- brainwave_part(
    h5, paste0(events, c("SpikeTimes", "SpikeChIDs")), rate, about, fail,
    channels = seq_along(place$Row) - 1,
    place = \(channel) if (!is.null(place)) list(row = place$Row[channel + 1],
                                                 col = place$Col[channel + 1])
  )
  frames <- variable("NRecFrames")
  all <- wells_together(list(part), fail)
  cover <- if (!is.null(frames)) round_to_ticks(c(0, frames), about$resolution, rate)
  if (all(is.finite(cover))) all$cover <- cover
  all
}

#' @param sets Names of the data sets of samples and of channels.
#' @param channels All that were recorded, or none.
#' @param place Gives the columns of the table of units for some channels.
#' @noRd
brainwave_part <- function(h5, sets, rate, about, fail, channels, place) {
  sample <- h5_numbers(h5, sets[[1L]], fail)
  channel <- h5_numbers(h5, sets[[2L]], fail)
  fail_if(length(sample) != length(channel) || !all(is.finite(c(sample, channel))), fail,
          sprintf("`%s` does not name a channel for each of `%s`", sets[[2L]], sets[[1L]]))
  fail_if(length(channels) && !all(channel %in% channels), fail,
          sprintf("`%s` names channels that were not recorded", sets[[2L]]))
  all <- sort(unique(c(channels, channel)))
  list(ticks = round_to_ticks(sample, about$resolution, rate), code = match(channel, all),
       labels = number_labels(all),
       table = as.data.frame(c(list(channel = all), place(all))))
}

brainwave5_rate <- function(h5, about, fail) {
  attribute <- "SamplingRate"
  said <- if (h5_try(h5$attr_exists(attribute), "/", fail)) {
    as.double(h5_try(read_attribute(h5, attribute), "/", fail))[1L]
  } else if (h5_has(h5, "ExperimentSettings", fail)) {
    rlang::check_installed("jsonlite", "to read the settings of BrainWave.", call = user_frame())
    text <- h5_use(h5, "/ExperimentSettings", fail, \(set) {
      h5_read(set, "/ExperimentSettings", fail, "words")
    })
    settings <- tryCatch(jsonlite::fromJSON(text[[1L]]), error = \(e) {
      fail("its `/ExperimentSettings` is no JSON, or damaged")
    })
    if (is.list(settings) && is.list(settings$TimeConverter)) settings$TimeConverter$FrameRate
  }
  said_rate(said, about$sampling_rate, fail, "`SamplingRate`")
}

# ---- Wells -------------------------------------------------------------------------

#' The spikes of all wells; with more than one the well comes first in the name of a unit
#' @param parts For each well `ticks`, `code`, `labels` and `table`, or `NULL`.
#' @param of What a part is, the name of its column in the table of units.
#' @noRd
wells_together <- function(parts, fail, of = "well") {
  parts <- parts[lengths(parts) > 0L]
  if (length(parts) == 0L) fail("none of its wells has detected spikes")
  if (length(parts) > 1L) {
    for (well in names(parts)) {
      n <- length(parts[[well]]$labels)
      parts[[well]]$labels <- paste(rep(well, n), parts[[well]]$labels, sep = "_")
      column <- rlang::set_names(list(rep(well, n)), of)
      parts[[well]]$table <- cbind(as.data.frame(column), parts[[well]]$table)
    }
  }
  get <- \(name) unlist(lapply(parts, `[[`, name), use.names = FALSE)
  sizes <- vapply(parts, \(part) length(part$labels), 0L)
  shift <- cumsum(c(0L, sizes))[seq_along(sizes)]
  code <- unlist(Map(\(part, by) part$code + by, parts, shift), use.names = FALSE)
  tables <- lapply(parts, `[[`, "table")
  columns <- Reduce(intersect, lapply(tables, names))
  table <- do.call(rbind, unname(lapply(tables, `[`, columns)))
  named_units(as.integer(code), get("labels"), as.list(table), ticks = as.double(get("ticks")))
}

#' Whether there is something at a path whose parts may be missing
#' @noRd
h5_has_path <- function(h5, path, fail) {
  parts <- strsplit(sub("^/", "", path), "/", fixed = TRUE)[[1L]]
  for (k in seq_along(parts)) {
    if (!h5_has(h5, paste(parts[seq_len(k)], collapse = "/"), fail)) return(FALSE)
  }
  TRUE
}
