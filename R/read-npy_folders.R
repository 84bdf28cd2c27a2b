# Folders with a NumPy array for each column of the spikes: ALF, as the International Brain
# Laboratory shares sorted spikes, and the binary format of the Open Ephys GUI.

#' Error unless each spike of a folder has a time, and a unit that is a whole number
#' @noRd
check_spike_columns <- function(folder, time, unit) {
  refuse_file_if(length(time) != length(unit), folder,
                 sprintf("it has %s spike times and %s clusters", commas(length(time)),
                         commas(length(unit))))
  refuse_file_if(!all(is.finite(time)) || !all(is.finite(unit)), folder,
                 "some spike times or clusters are not finite")
  refuse_file_if(any(unit != round(unit)), folder, "some clusters are no whole numbers")
}

# ---- ALF ---------------------------------------------------------------------------

#' Paths of the arrays of an ALF object, by the name of the attribute
#'
#' A file is named `object.attribute.npy`; a namespace may come before (`_ibl_`), and a
#' timescale or the like after (`spikes.times_ephysClock.npy`, `spikes.times.probe00.npy`).
#' @noRd
alf_files <- function(folder, object) {
  pattern <- sprintf("^(_[[:alnum:]]+_)?%s[.]([[:alnum:]]+)(_[^.]+)?([.][^.]+)*[.]npy$", object)
  files <- sort(list.files(folder, pattern))
  files <- files[!duplicated(sub(pattern, "\\2", files))]
  rlang::set_names(file.path(folder, files), sub(pattern, "\\2", files))
}

#' Times are in seconds; row k of the arrays of `clusters` is cluster k - 1
#' @noRd
read_alf <- function(folder, resolution, fail) {
  spikes <- alf_files(folder, "spikes")
  fail_if(!all(c("times", "clusters") %in% names(spikes)), fail,
          "it is no ALF folder: it needs `spikes.times.npy` and `spikes.clusters.npy`")
  time <- read_npy(spikes[["times"]])
  cluster <- read_npy(spikes[["clusters"]])
  check_spike_columns(folder, time, cluster)
  known <- npy_vectors(alf_files(folder, "clusters"))
  n <- unique(lengths(known))
  # Arrays of other lengths describe something else than these clusters.
  if (length(n) != 1L || any(cluster < 0 | cluster >= n)) {
    return(list(ticks = round_to_ticks(time, resolution),
                unit = unit_factor(cluster, length(cluster))))
  }
  named_units(cluster + 1, number_labels(seq_len(n) - 1), known,
              ticks = round_to_ticks(time, resolution))
}

# ---- Open Ephys --------------------------------------------------------------------

#' Spikes of all electrodes of a recording
#'
#' Each has a folder in `spikes`: `timestamps.npy` (s) and `clusters.npy`; before version 0.6
#' of the GUI `spike_times.npy` (samples) and `spike_clusters.npy`. `structure.oebin` says
#' the name and the sampling rate of each. Cluster 0 is of spikes that are not sorted.
#' @noRd
read_openephys <- function(folder, about, fail) {
  said <- read_json(file.path(folder, "structure.oebin"))$spikes
  if (!is.data.frame(said) || !is.character(said$folder)) fail("`structure.oebin` names no spikes")
  parts <- lapply(seq_len(nrow(said)), \(k) {
    place <- file.path(folder, "spikes", said$folder[[k]])
    old <- file.exists(file.path(place, "spike_times.npy"))
    files <- file.path(place, if (old) c("spike_times.npy", "spike_clusters.npy") else
      c("timestamps.npy", "clusters.npy"))
    lost <- basename(files[!file.exists(files)])
    refuse_file_if(length(lost), place, sprintf("it has no `%s`", lost[[1L]]))
    time <- read_npy(files[[1L]])
    cluster <- read_npy(files[[2L]])
    check_spike_columns(place, time, cluster)
    rate <- if (old) said_rate(said$sample_rate[k], about$sampling_rate, fail, "`structure.oebin`")
    used <- sort(unique(cluster))
    list(ticks = round_to_ticks(time, about$resolution, rate %||% 1),
         code = match(cluster, used), labels = number_labels(used),
         table = data.frame(cluster = used))
  })
  names(parts) <- make.unique(as.character(said$name %||% seq_along(parts)))
  wells_together(parts, fail, "electrode")
}
