#' What synfire can use on this machine
#'
#' Says which version runs, how many threads it will use and what decided that, whether
#' the package was built with CUDA, and which devices there are or why there are none.
#' The first thing to look at, and to send along, when something is slow or missing.
#'
#' @param test_devices Run a small kernel on each device and check what it wrote? The
#'   only way to be sure that a device works; it takes some tenths of a second and a few
#'   hundred megabytes of memory on each device for as long as this R session lasts.
#'
#' @return An object of class `synfire_sitrep`: a list of
#'   * `version`, `r_version`, `platform`;
#'   * `threads`: the number used by default;
#'   * `threads_because`: what decided it;
#'   * `limits`: a named integer vector of what was considered, `NA` where not set:
#'     `processors` (online), `affinity` (this process is bound to), `cgroup` (its control
#'     group may use, whole ones), `OMP_NUM_THREADS`, `OMP_THREAD_LIMIT`;
#'   * `openmp`: was the package built with OpenMP? `forked`: is this a forked process?
#'   * `cuda`: a list of `built`, `runtime` (version it was built with), `capabilities`
#'     (compute capabilities it was built for), `driver` (newest CUDA version that the
#'     driver supports, `NA` without one and in a forked process), `reason` (why there is
#'     no device, or `NA`);
#'   * `devices`: a data frame, a row a GPU: `gpu` (its number, from 1, as in the
#'     argument `gpus` of other functions),
#'     `name`, `capability`, `multiprocessors`, `memory` and `memory_free` (bytes),
#'     `works` (`NA` if not tested) and `trouble` (what went wrong, or `NA`).
#'
#' @examples
#' synfire_sitrep()
#' @export
synfire_sitrep <- function(test_devices = TRUE) {
  check_flag(test_devices)
  new_sitrep(c(list(threads = as.list(threads_report())), .Call(r_sitrep, test_devices)))
}

#' Word what the compiled code reports; apart from it so that any machine can be tested
#' @noRd
new_sitrep <- function(raw) {
  limits <- unlist(raw$threads[tolower(names(thread_limits))])
  limits <- rlang::set_names(replace(limits, limits <= 0L, NA), names(thread_limits))
  structure(
    list(
      version = as.character(utils::packageVersion("synfire")),
      r_version = as.character(getRversion()),
      platform = R.version$platform,
      threads = raw$threads$threads,
      threads_because = threads_because(raw$threads, limits),
      limits = limits,
      openmp = raw$threads$openmp == 1L,
      forked = raw$threads$forked == 1L,
      cuda = list(
        built = raw$gpu$built,
        runtime = cuda_version(raw$gpu$runtime),
        capabilities = capabilities_text(raw$gpu$architectures),
        driver = cuda_version(raw$gpu$driver),
        reason = na_if_empty(raw$gpu$reason)
      ),
      devices = devices_frame(raw$devices)
    ),
    class = "synfire_sitrep"
  )
}

# What may limit the threads, the most basic first: in the list of limits, and as a reason.
thread_limits <- list(
  processors = c("%s online", "the processors of this machine"),
  affinity = c("%s bound to", "the processors this process is bound to"),
  cgroup = c("%s by control group", "the processors its control group may use"),
  OMP_NUM_THREADS = c("OMP_NUM_THREADS %s", "the environment variable OMP_NUM_THREADS"),
  OMP_THREAD_LIMIT = c("OMP_THREAD_LIMIT %s", "the environment variable OMP_THREAD_LIMIT")
)

threads_because <- function(threads, limits) {
  if (threads$openmp != 1L) return("synfire was built without OpenMP")
  if (threads$forked == 1L) return("this is a forked process, which gets one thread")
  # A limit that is no lower than a more basic one decided nothing: the basic one did.
  for (limit in names(limits)) {
    if (identical(limits[[limit]], threads$threads)) return(thread_limits[[limit]][[2L]])
  }
  "the lowest of these limits"
}

cuda_version <- function(number) {
  if (number <= 0L) return(NA_character_)
  sprintf("%d.%d", number %/% 1000L, number %% 1000L %/% 10L)
}

# The compiler counts 9.0 as 900.
capabilities_text <- function(architectures) {
  codes <- suppressWarnings(as.integer(strsplit(architectures, ",", fixed = TRUE)[[1L]]))
  codes <- sort(unique(codes[!is.na(codes)]))
  sprintf("%d.%d", codes %/% 100L, codes %% 100L %/% 10L)
}

na_if_empty <- function(text) {
  text[!nzchar(text)] <- NA
  text
}

devices_frame <- function(devices) {
  data.frame(
    gpu = devices$device + 1L,
    name = devices$name,
    capability = sprintf("%d.%d", devices$capability_major, devices$capability_minor),
    multiprocessors = devices$multiprocessors,
    memory = devices$memory,
    memory_free = devices$memory_free,
    works = devices$works,
    trouble = na_if_empty(devices$trouble)
  )
}

#' @export
format.synfire_sitrep <- function(x, ...) {
  label <- function(name, text) paste(formatC(name, width = -8), text)
  c(
    sprintf("synfire %s on R %s (%s)", x$version, x$r_version, x$platform),
    label("Threads", sprintf("%d: %s", x$threads, x$threads_because)),
    label("", limits_text(x$limits)),
    label("OpenMP", if (x$openmp) "yes" else "no"),
    label("CUDA", cuda_text(x$cuda)),
    label("Driver", driver_text(x$cuda, x$forked)),
    label("Devices", devices_text(x))
  )
}

limits_text <- function(limits) {
  values <- ifelse(is.na(limits), "not set", as.character(limits))
  shown <- !is.na(limits) | startsWith(names(limits), "OMP")
  wording <- vapply(thread_limits[names(limits)], `[[`, "", 1L)
  paste0("(", paste(sprintf(wording, values)[shown], collapse = ", "), ")")
}

cuda_text <- function(cuda) {
  if (!cuda$built) return("not built in (reinstall with the CUDA toolkit on the PATH)")
  capabilities <- paste(cuda$capabilities, collapse = " ")
  paste0("built in, version ", cuda$runtime,
         if (nzchar(capabilities)) paste0(", for compute capability ", capabilities))
}

driver_text <- function(cuda, forked) {
  if (!is.na(cuda$driver)) return(paste("supports CUDA up to", cuda$driver))
  if (cuda$built && !forked) "none" else "not looked for"
}

devices_text <- function(x) {
  devices <- x$devices
  if (nrow(devices) == 0L) return(paste0("none: ", x$cuda$reason))
  gigabytes <- function(bytes) formatC(bytes / 2^30, format = "f", digits = 1)
  outcome <- ifelse(is.na(devices$works), "not tested",
                    ifelse(devices$works, "works", "does not work"))
  outcome <- ifelse(is.na(devices$trouble), outcome, paste0(outcome, ": ", devices$trouble))
  free <- ifelse(is.na(devices$memory_free), "", paste(gigabytes(devices$memory_free), "of "))
  lines <- sprintf(
    "%d: %s, compute capability %s, %d multiprocessors, %s%s GiB%s; %s",
    devices$gpu, devices$name, devices$capability, devices$multiprocessors, free,
    gigabytes(devices$memory), ifelse(nzchar(free), " free", ""), outcome
  )
  paste(lines, collapse = paste0("\n", strrep(" ", 9)))
}

#' @export
print.synfire_sitrep <- function(x, ...) {
  cat(format(x, ...), sep = "\n")
  invisible(x)
}
