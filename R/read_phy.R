# Kilosort and Phy folders, and the NumPy arrays in them.

read_phy <- function(file, resolution, sampling_rate, groups, call) {
  if (!is.null(groups) && !(is.character(groups) && length(groups) && !anyNA(groups))) {
    abort_arg("groups", "labels of clusters, such as \"good\"", describe(groups), call = call)
  }
  times_file <- file.path(file, "spike_times.npy")
  clusters_file <- file.path(file, c("spike_clusters.npy", "spike_templates.npy"))
  clusters_file <- clusters_file[file.exists(clusters_file)]
  if (!file.exists(times_file) || length(clusters_file) == 0L) {
    abort_file(file, "it is no Phy folder: it needs `spike_times.npy` and `spike_clusters.npy`",
               call = call)
  }
  rate <- phy_sampling_rate(file, sampling_rate, call)
  samples <- read_npy(times_file, call)
  cluster <- read_npy(clusters_file[[1L]], call)
  if (length(samples) != length(cluster)) {
    abort_file(file, sprintf("it has %s spike times and %s clusters", commas(length(samples)),
                             commas(length(cluster))), call = call)
  }
  if (!all(is.finite(samples)) || !all(is.finite(cluster))) {
    abort_file(file, "some spike times or clusters are not finite", call = call)
  }
  if (any(cluster != round(cluster))) {
    abort_file(file, "some clusters are no whole numbers", call = call)
  }
  spikes <- list(ticks = round_to_ticks(samples, resolution, rate),
                 unit = unit_factor(cluster, length(cluster), call = call))
  if (is.null(groups) || length(samples) == 0L) return(spikes)

  # The interval stays that of the whole recording.
  spikes$cover <- range(spikes$ticks)
  label <- phy_labels(file, levels(spikes$unit), call)
  unknown <- setdiff(groups, label)
  if (length(unknown)) {
    abort_arg("groups", sprintf("among the labels of this folder: %s",
                                some(sort(unique(label)), 12L)),
              encodeString(unknown[[1L]], quote = "\""), call = call)
  }
  kept <- which(label %in% groups)
  code <- match(as.integer(spikes$unit), kept)
  keep <- !is.na(code)
  spikes$ticks <- spikes$ticks[keep]
  spikes$unit <- structure(code[keep], levels = levels(spikes$unit)[kept], class = "factor")
  spikes
}

phy_sampling_rate <- function(folder, sampling_rate, call) {
  file <- file.path(folder, "params.py")
  said <- NA_real_
  if (file.exists(file)) {
    lines <- text_lines(file, call)
    pattern <- "^\\s*sample_rate\\s*=\\s*([0-9.eE+_]+)\\s*(#.*)?$"
    hit <- grep(pattern, lines, value = TRUE)
    if (length(hit)) {
      number <- gsub("_", "", sub(pattern, "\\1", hit[[length(hit)]]))
      said <- suppressWarnings(as.double(number))
    }
  }
  if (is.null(sampling_rate)) {
    if (!is.finite(said) || said <= 0) {
      abort_file(folder, if (file.exists(file)) {
        "its `params.py` has no line `sample_rate = ...`"
      } else {
        "it has no `params.py` that says the sampling rate"
      }, "Give `sampling_rate`, in Hz.", call = call)
    }
    return(said)
  }
  if (!is.na(said) && said != sampling_rate) {
    abort_arg("sampling_rate", sprintf("left out, or %s as `params.py` says", exact(said)),
              exact(sampling_rate), call = call)
  }
  sampling_rate
}

#' Label of each cluster: by hand where given, else Kilosort's
#' @noRd
phy_labels <- function(folder, clusters, call) {
  label <- rep("unsorted", length(clusters))
  # Later tables win: a person overrules Kilosort.
  tables <- list(c("cluster_KSLabel.tsv", "KSLabel"), c("cluster_info.tsv", "group"),
                 c("cluster_groups.csv", "group"), c("cluster_group.tsv", "group"))
  for (table in tables) {
    file <- file.path(folder, table[[1L]])
    if (!file.exists(file)) next
    lines <- text_lines(file, call)
    fields <- strsplit(lines[nzchar(trimws(lines))], "\t", fixed = TRUE)
    if (length(fields) == 0L) next
    id_at <- match(TRUE, fields[[1L]] %in% c("cluster_id", "id"))
    label_at <- match(table[[2L]], fields[[1L]])
    if (is.na(id_at) || is.na(label_at)) {
      abort_file(file, sprintf("its header does not name `cluster_id` and `%s`", table[[2L]]),
                 call = call)
    }
    cell <- \(k) vapply(fields[-1L], \(row) if (length(row) >= k) row[[k]] else "",
                        character(1))
    value <- trimws(cell(label_at))
    given <- nzchar(value)
    # Ids may be written as whole numbers or, by pandas, as 3.0.
    id <- sub("[.]0*$", "", trimws(cell(id_at)))[given]
    check_phy_ids(file, id, value[given], clusters, call)
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
check_phy_ids <- function(file, id, label, clusters, call) {
  if (length(id) == 0L) return(invisible())
  if (!any(id %in% clusters)) {
    abort_file(file, sprintf("it labels %s (%s), and none of them has a spike (clusters: %s)",
                             counted(length(id), "cluster"), some(unique(id)), some(clusters)),
               "It belongs to another sorting; leave `groups` out, or mend the table.",
               call = call)
  }
  twice <- id[duplicated(id) & !duplicated(data.frame(id, label))]
  if (length(twice)) {
    abort_file(file, sprintf("it gives cluster %s two labels", twice[[1L]]), call = call)
  }
}

#' Lines of a small text file, in UTF-8 and without a byte order mark
#' @noRd
text_lines <- function(file, call) {
  if (dir.exists(file)) abort_file(file, "it is a folder", call = call)
  if (file.size(file) > longest_line) {
    abort_file(file, sprintf("it has more than %s bytes, so it is no table of labels",
                             commas(longest_line)), call = call)
  }
  bytes <- read_magic(file, file.size(file), call)
  if (is_binary(bytes)) abort_file(file, "it holds binary data, not text", call = call)
  if (identical(bytes[1:3], as.raw(c(0xef, 0xbb, 0xbf)))) bytes <- bytes[-(1:3)]
  clean_text(strsplit(rawToChar(bytes), "\r\n|\n|\r", useBytes = TRUE)[[1L]])
}

# ---- NumPy arrays ------------------------------------------------------------------

#' A one-column NumPy array as doubles
#'
#' Versions 1 and 2 of the format; little-endian integers and floats; shape (n,), (n, 1)
#' or (1, n). Integers beyond 2^53 are an error, as a double would not hold them.
#' @noRd
read_npy <- function(file, call = rlang::caller_env()) {
  magic <- read_magic(file, 8L, call)
  con <- base::file(file, "rb")
  on.exit(close(con))
  fail <- \(what) abort_file(file, what, call = call)

  readBin(con, "raw", 8L)
  if (length(magic) < 8L || !identical(magic[1:6], as.raw(c(0x93, utf8ToInt("NUMPY"))))) {
    fail("it is no NumPy array")
  }
  version <- as.integer(magic[[7L]])
  if (!version %in% 1:2) fail(sprintf("it is of version %d; versions 1 and 2 are read", version))
  size <- if (version == 1L) {
    readBin(con, "integer", size = 2L, signed = FALSE, endian = "little")
  } else {
    readBin(con, "integer", size = 4L, endian = "little")
  }
  # A header that long is damage, and must not be allocated.
  if (length(size) != 1L || is.na(size) || size < 1L || size > 1e6) fail("its header is damaged")
  bytes <- readBin(con, "raw", size)
  if (length(bytes) < size || any(bytes == as.raw(0) | bytes > as.raw(127))) {
    fail("its header is damaged")
  }
  text <- rawToChar(bytes)

  entry <- \(key, pattern) {
    found <- regmatches(text, regexec(sprintf("['\"]%s['\"]\\s*:\\s*%s", key, pattern), text))
    if (length(found[[1L]]) < 2L) NA_character_ else found[[1L]][[2L]]
  }
  descr <- entry("descr", "['\"]([^'\"]*)['\"]")
  shape <- entry("shape", "\\(([^)]*)\\)")
  if (is.na(shape)) fail("its header is damaged")
  if (is.na(descr) || !grepl("^([<][iu][248]|[|<][iu]1|[<]f[48])$", descr)) {
    fail(sprintf("its type is %s; little-endian integers and floats of at most 8 bytes are read",
                 if (is.na(descr)) "structured" else encodeString(descr, quote = "\"")))
  }
  extent <- strsplit(gsub("[L ]", "", shape), ",")[[1L]]
  whole <- length(extent) %in% 1:2 && all(grepl("^[0-9]{1,15}$", extent))
  extent <- if (whole) as.double(extent) else NA
  n <- prod(extent)
  if (!whole || (length(extent) == 2L && !any(extent == 1) && n > 0)) {
    fail(sprintf("its shape is (%s); one column is read", shape))
  }
  width <- as.integer(substr(descr, 3L, 3L))
  # Compared with the file before anything is allocated.
  left <- file.size(file) - (8L + if (version == 1L) 2L else 4L) - size
  if (left != n * width) {
    fail(sprintf("it is %s: %s bytes for %s values of %d bytes",
                 if (left < n * width) "cut short" else "damaged", commas(left), commas(n),
                 width))
  }
  read_numbers(con, substr(descr, 2L, 2L), width, n, fail)
}

# Values read at once: R reads less than 2 GB in one go, and stops between them.
npy_block <- 2^22

read_numbers <- function(con, kind, width, n, fail, block = npy_block) {
  out <- double(n)
  at <- 0
  while (at < n) {
    part <- read_number_block(con, kind, width, min(n - at, block), fail)
    out[at + seq_along(part)] <- part
    at <- at + length(part)
  }
  out
}

read_number_block <- function(con, kind, width, n, fail) {
  take <- \(what, n, size, signed = TRUE) {
    v <- readBin(con, what, n, size = size, signed = signed, endian = "little")
    if (length(v) < n) fail("it is cut short")
    v
  }
  if (kind == "f") return(take("double", n, width))
  if (width < 4L) return(as.double(take("integer", n, width, signed = kind == "i")))
  # The smallest 32-bit integer is R's NA; it is a value like any other here.
  signed32 <- \(v) {
    v <- as.double(v)
    v[is.na(v)] <- -2^31
    v
  }
  unsigned32 <- \(v) {
    v <- signed32(v)
    v + 2^32 * (v < 0)
  }
  if (width == 4L) {
    v <- take("integer", n, 4L)
    return(if (kind == "i") signed32(v) else unsigned32(v))
  }
  halves <- take("integer", 2 * n, 4L)
  odd <- rep(c(TRUE, FALSE), n)
  low <- unsigned32(halves[odd])
  high <- if (kind == "i") signed32(halves[!odd]) else unsigned32(halves[!odd])
  v <- high * 2^32 + low
  if (any(abs(v) > 2^53)) fail("it holds integers beyond 2^53, more than a double keeps apart")
  v
}
