# Kilosort and Phy folders.

read_phy <- function(file, resolution, sampling_rate, groups) {
  refuse_if(!is.null(groups) && !(is.character(groups) && length(groups) && !anyNA(groups)),
            "groups", "labels of clusters, such as \"good\"", describe(groups))
  times_file <- file.path(file, "spike_times.npy")
  clusters_file <- file.path(file, c("spike_clusters.npy", "spike_templates.npy"))
  clusters_file <- clusters_file[file.exists(clusters_file)]
  refuse_file_if(!file.exists(times_file) || length(clusters_file) == 0L, file,
                 "it is no Phy folder: it needs `spike_times.npy` and `spike_clusters.npy`")
  rate <- phy_sampling_rate(file, sampling_rate)
  samples <- read_npy(times_file)
  cluster <- read_npy(clusters_file[[1L]])
  check_spike_columns(file, samples, cluster)
  spikes <- list(ticks = round_to_ticks(samples, resolution, rate),
                 unit = unit_factor(cluster, length(cluster)))
  if (is.null(groups) || length(samples) == 0L) return(spikes)

  # The interval stays that of the whole recording.
  spikes$cover <- range(spikes$ticks)
  label <- phy_labels(file, levels(spikes$unit))
  unknown <- setdiff(groups, label)
  refuse_if(length(unknown), "groups",
            sprintf("among the labels of this folder: %s", some(sort(unique(label)), 12L)),
            encodeString(unknown[[1L]], quote = "\""))
  kept <- which(label %in% groups)
  code <- match(as.integer(spikes$unit), kept)
  keep <- !is.na(code)
  spikes$ticks <- spikes$ticks[keep]
  spikes$unit <- as_factor(code[keep], levels(spikes$unit)[kept])
  spikes
}

phy_sampling_rate <- function(folder, sampling_rate) {
  file <- file.path(folder, "params.py")
  known <- file.exists(file)
  pattern <- "^\\s*sample_rate\\s*=\\s*([0-9.eE+_]+)\\s*(#.*)?$"
  hit <- if (known) utils::tail(grep(pattern, text_lines(file), value = TRUE), 1L)
  said_rate(suppressWarnings(as.double(gsub("_", "", sub(pattern, "\\1", hit)))), sampling_rate,
            \(...) abort_file(folder, ...), by = "`params.py`",
            lacks = if (known) "its `params.py` has no line `sample_rate = ...`" else
              "it has no `params.py` that says the sampling rate")
}

#' Label of each cluster: by hand where given, else Kilosort's
#' @noRd
phy_labels <- function(folder, clusters) {
  label <- rep("unsorted", length(clusters))
  # Later tables win: a person overrules Kilosort.
  tables <- list(c("cluster_KSLabel.tsv", "KSLabel"), c("cluster_info.tsv", "group"),
                 c("cluster_groups.csv", "group"), c("cluster_group.tsv", "group"))
  for (table in tables) {
    file <- file.path(folder, table[[1L]])
    if (!file.exists(file)) next
    lines <- text_lines(file)
    fields <- strsplit(lines[nzchar(trimws(lines))], "\t", fixed = TRUE)
    if (length(fields) == 0L) next
    id_at <- match(TRUE, fields[[1L]] %in% c("cluster_id", "id"))
    label_at <- match(table[[2L]], fields[[1L]])
    refuse_file_if(is.na(id_at) || is.na(label_at), file,
                   sprintf("its header does not name `cluster_id` and `%s`", table[[2L]]))
    cell <- \(k) vapply(fields[-1L], \(row) if (length(row) >= k) row[[k]] else "", character(1))
    value <- trimws(cell(label_at))
    given <- nzchar(value)
    # Ids may be written as whole numbers or, by pandas, as 3.0.
    id <- sub("[.]0*$", "", trimws(cell(id_at)))[given]
    check_phy_ids(file, id, value[given], clusters)
    at <- match(clusters, id)
    label[!is.na(at)] <- value[given][at[!is.na(at)]]
  }
  label
}

#' Error where the labels of a table are of other clusters, or contradict each other
#'
#' Clusters without a spike that still have a label are left by Phy, so a few of them are no
#' sign of a wrong table.
#' @noRd
check_phy_ids <- function(file, id, label, clusters) {
  if (length(id) == 0L) return(invisible())
  refuse_file_if(!any(id %in% clusters), file,
                 sprintf("it labels %s (%s), and none of them has a spike (clusters: %s)",
                         counted(length(id), "cluster"), some(unique(id)), some(clusters)),
                 "It belongs to another sorting; leave `groups` out, or mend the table.")
  twice <- id[duplicated(id) & !duplicated(data.frame(id, label))]
  refuse_file_if(length(twice), file, sprintf("it gives cluster %s two labels", twice[[1L]]))
}
