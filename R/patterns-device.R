# What the miner of patterns and itemsets is given, and which device it runs on.

#' Error where the arguments that name a device do not go together
#' @noRd
check_miner_place <- function(device, gpus, engine, folder = NULL) {
  check_place(device, gpus)
  if (device != "gpu") return(invisible())
  refuse_if(engine != "closure", "engine", "\"closure\" with `device = \"gpu\"`",
            describe(engine), "Leave `engine` out, or give `device = \"cpu\"`.")
  refuse_if(!is.null(folder), "device", "\"cpu\" or \"auto\" with a `folder`", describe(device),
            "Chunks of a folder are mined on the CPU.")
}

#' Where patterns are mined
#'
#' @param engine As it was checked.
#' @param estimate Function that gives what the C code estimates: seconds of one thread for
#'   the first two levels of the search, and for those below.
#' @return `NULL` for the CPU, or numbers of GPUs, from 0.
#' @noRd
miner_place <- function(device, gpus, engine, threads, estimate) {
  gpus <- check_place(device, gpus)
  if (device == "cpu") return(NULL)
  if (device == "auto") {
    survey <- gpu_survey()
    gpu <- survey$name[gpus[[1L]] + 1L]
    chosen <- if (engine != "closure") {
      list(device = "cpu", gpu = NA, why = "the engine runs there alone")
    } else if (is.na(gpu)) {
      list(device = "cpu", gpu = NA, why = sprintf("there is no GPU: %s", survey$reason))
    } else {
      c(sooner_miner(estimate(), threads, length(unique(gpus)), context_seconds()), gpu = gpu)
    }
    say_device(chosen$device, chosen$gpu, sprintf(": %s.", chosen$why))
    if (chosen$device == "cpu") return(NULL)
  }
  gpu_session$used <- TRUE
  gpus
}

#' Which device should be done sooner, and why, in words
#'
#' What a GPU takes was measured on an H200: 10 ms for a call, a three-hundredth of one
#' thread's time for the first two levels of the search, and a thirtieth for those below.
#'
#' @param seconds Of one thread, at the first two levels and below.
#' @param context Seconds that making a CUDA context takes; 0 where there is one.
#' @noRd
sooner_miner <- function(seconds, threads, gpus, context) {
  cpu <- sum(seconds) / threads
  gpu <- context + 0.01 + sum(seconds / c(300, 30)) / gpus
  list(device = if (gpu < cpu) "gpu" else "cpu",
       why = sprintf("the CPU would take %s, about, and a GPU %s", seconds_text(cpu),
                     seconds_text(gpu)))
}

#' The options of a search as those of its estimate
#' @noRd
to_estimate <- function(options) utils::modifyList(options, list(engine = 2, threads = 1L))

#' The spikes as the miner takes them
#'
#' @param bin Ticks of a bin.
#' @noRd
pattern_events <- function(x, bin) c(trains_of(x), list(bin = bin))

#' Options as the miner takes them
#'
#' @param parameters The `filters` of `pattern_search()`, with `closed_within`.
#' @noRd
pattern_options <- function(window, parameters, engine, threads, max_memory) {
  target <- if (parameters$closed_within == "max_spikes") "closed within" else "closed"
  with(parameters, miner_options(window, min_spikes, max_spikes, min_units, min_count,
                                 max_count, engine, target, threads, max_memory))
}

#' The same for patterns and itemsets: counts the core has no numbers for are capped
#' @noRd
miner_options <- function(window, min_spikes, max_spikes, min_units, min_count, max_count,
                          engine, target, threads, max_memory) {
  most <- .Machine$integer.max
  limit <- \(x) if (x > most) 2^32 - 1 else x
  list(window = window, min_spikes = min(min_spikes, most), max_spikes = limit(max_spikes),
       min_units = min(min_units, most), min_count = min(min_count, most),
       max_count = limit(max_count), engine = match(engine, c("closure", "fpgrowth")) - 1,
       target = match(target, c("closed", "closed within", "maximal", "frequent")) - 1,
       threads = threads, max_memory = max_memory, gpus = NULL)
}

#' Patterns, or the error of the search
#' @noRd
finish_patterns <- function(mined, parameters) {
  advice <- paste0(raise_to(mined, parameters$min_count, parameters$max_count),
                   ", raise `min_spikes`, or lower `max_spikes` or `window_bins`; ",
                   "`suggest_pattern_count()` suggests a `min_count` beyond chance.")
  finish_status(mined, "mining these patterns", advice, limit_of = "spikes")
}

#' "Raise `min_count` to 15 or more", as far as it is known what would do
#' @noRd
raise_to <- function(mined, given, most = Inf) {
  enough <- attr(mined, "enough", exact = TRUE)
  known <- !is.null(enough) && !is.na(enough) && enough > given && enough <= most
  paste0("Raise `min_count`", if (known) paste(" to", commas(enough), "or more"))
}
