# The machine that a benchmark ran on, and the memory of its process: `source("tools/machine.R")`
# in the folder of the package.

#' The name of the processor
cpu_name <- function() {
  info <- "/proc/cpuinfo"
  line <- if (file.exists(info)) grep("^model name", readLines(info), value = TRUE)
  if (length(line)) sub(".*: *", "", line[[1L]]) else R.version$platform
}

#' Memory of this process in MB: what it holds, or the most since `forget_peak()`; NA where Linux
#' does not say
memory <- function(what = c("VmRSS", "VmHWM")) {
  status <- "/proc/self/status"
  line <- if (file.exists(status)) grep(match.arg(what), readLines(status), value = TRUE)
  if (length(line)) as.numeric(gsub("[^0-9]", "", line)) / 1024 else NA_real_
}

#' TRUE where Linux can forget the peak
forget_peak <- function() {
  refs <- "/proc/self/clear_refs"
  if (file.exists(refs)) cat("5\n", file = refs)
  file.exists(refs)
}
