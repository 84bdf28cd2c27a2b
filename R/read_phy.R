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
    lines <- readLines(file, warn = FALSE, n = 1000L)
    pattern <- "^\\s*sample_rate\\s*=\\s*([0-9.eE+_]+)\\s*(#.*)?$"
    hit <- grep(pattern, lines, value = TRUE)
    if (length(hit)) {
      number <- gsub("_", "", sub(pattern, "\\1", hit[[length(hit)]]))
      said <- suppressWarnings(as.double(number))
    }
  }
  if (is.null(sampling_rate)) {
    if (is.na(said) || said <= 0) {
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
    lines <- readLines(file, warn = FALSE, encoding = "UTF-8")
    fields <- strsplit(sub("^\ufeff", "", lines[nzchar(lines)]), "\t", fixed = TRUE)
    if (length(fields) == 0L) next
    id_at <- match(TRUE, fields[[1L]] %in% c("cluster_id", "id"))
    label_at <- match(table[[2L]], fields[[1L]])
    if (is.na(id_at) || is.na(label_at)) {
      abort_file(file, sprintf("its header does not name `cluster_id` and `%s`", table[[2L]]),
                 call = call)
    }
    cell <- \(k) vapply(fields[-1L], \(row) if (length(row) >= k) row[[k]] else "",
                        character(1))
    value <- cell(label_at)
    at <- match(clusters, cell(id_at)[nzchar(value)])
    label[!is.na(at)] <- value[nzchar(value)][at[!is.na(at)]]
  }
  label
}

# ---- NumPy arrays ------------------------------------------------------------------

#' A one-column NumPy array as doubles
#'
#' Versions 1 and 2 of the format; little-endian integers and floats; shape (n,), (n, 1)
#' or (1, n). Integers beyond 2^53 are an error, as a double would not hold them.
#' @noRd
read_npy <- function(file, call = rlang::caller_env()) {
  con <- base::file(file, "rb")
  on.exit(close(con))
  fail <- \(what) abort_file(file, what, call = call)

  magic <- readBin(con, "raw", 8L)
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
  if (left < n * width) {
    fail(sprintf("it is cut short: %s bytes for %s values of %d bytes", commas(left), commas(n),
                 width))
  }
  read_numbers(con, substr(descr, 2L, 2L), width, n, fail)
}

read_numbers <- function(con, kind, width, n, fail) {
  take <- \(what, n, size, signed = TRUE) {
    readBin(con, what, n, size = size, signed = signed, endian = "little")
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
