# The processor that a benchmark ran on: `source("tools/machine.R")` in the folder of the package.
cpu_name <- function() {
  info <- "/proc/cpuinfo"
  line <- if (file.exists(info)) grep("^model name", readLines(info), value = TRUE)
  if (length(line)) sub(".*: *", "", line[[1L]]) else R.version$platform
}
