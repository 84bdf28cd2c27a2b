# Which device counts, with which engine: the arguments of the functions that can use a GPU.

cpu_engines <- c("window", "state", "two-pass")
# In the order of the compiled code, after the window.
gpu_engines <- c("window", "ptpe", "mtpe", "hybrid", "two-pass", "occurrence")

# How the engine "occurrence" brings occurrences together, as in syn_gpu_compaction.
gpu_compactions <- c("count-once", "one-counter", "atomic-compact", "cudpp-compact",
                     "count-scan-write")

gpu_most <- 16           # GPUs that share a work

# What this process knows of its GPUs: whether it has made a CUDA context, which takes some
# tenths of a second, and which there are.
gpu_session <- new.env(parent = emptyenv())

#' What there is: a list of `name` (character, a device each) and `reason` for none
#' @noRd
gpu_survey <- function() {
  # Asking takes milliseconds. What is there stays there, but what is not may come.
  if (length(gpu_session$survey$name) == 0L) {
    raw <- .Call(r_sitrep, FALSE)
    gpu_session$survey <- list(name = raw$devices$name, reason = raw$gpu$reason)
  }
  gpu_session$survey
}

#' Numbers of GPUs, from 1, as CUDA counts them, from 0
#'
#' Where there is no GPU at all the numbers are passed on: the device itself says why. Every
#' function that has the argument `gpus` checks it here, with its own `device`.
#'
#' @param names Names of the GPUs there are.
#' @noRd
check_gpus <- function(gpus, device, names = gpu_survey()$name, arg = "gpus") {
  if (is.null(gpus)) return(0L)
  refuse_if(device == "cpu", arg, "NULL with `device = \"cpu\"`", describe(gpus),
            "Give `device = \"gpu\"`, or leave `gpus` out.")
  must <- sprintf("up to %d numbers of GPUs, from 1", gpu_most)
  ok <- is_plain_numeric(gpus) && length(gpus) > 0L && all(is.finite(gpus)) &&
    length(gpus) <= gpu_most && all(gpus >= 1 & gpus == round(gpus)) &&
    all(gpus <= .Machine$integer.max)
  if (!ok) abort_arg(arg, must, describe(gpus))
  missing <- gpus[gpus > length(names)]
  refuse_if(length(names) > 0L && length(missing) > 0L, arg, must,
            sprintf("%s, and there is no such GPU", describe(missing[[1L]])),
            sprintf("There %s %s.", if (length(names) == 1L) "is" else "are",
                    some(sprintf("%d: %s", seq_along(names), names))))
  as.integer(gpus) - 1L
}

#' The GPUs of a call, from 0, once it is certain that there are any where it asks for them
#' @noRd
check_place <- function(device, gpus) {
  gpus <- check_gpus(gpus, device)
  need_gpu(device)
  gpus
}

#' Error where the user asks for a GPU and there is none, also when there is nothing to do
#' @noRd
need_gpu <- function(device) {
  if (device != "gpu") return(invisible())
  survey <- gpu_survey()
  if (length(survey$name) > 0L) return(invisible())
  finish_status(new_status("no_device", reason = survey$reason), "this call")
}

#' What the compiled code has to know of the GPU: see glue_gpu_mine()
#'
#' @param segments Segments of MTPE; 0 for as many as fill the device.
#' @noRd
gpu_request <- function(engine, gpus, merge = "exact", compaction = "count-once",
                        dedup = TRUE, segments = 0) {
  calibrated <- engine %in% c("hybrid", "two-pass")
  fit <- if (calibrated) gpu_crossover(gpu_survey()$name[gpus[[1L]] + 1L]) else c(0, 0)
  gpu_session$used <- TRUE
  list(gpus = gpus, engine = match(engine, gpu_engines) - 1L, a = fit[[1L]], b = fit[[2L]],
       segments = segments, published = merge == "published",
       compaction = match(compaction, gpu_compactions) - 1L, dedup = dedup)
}

# ---- Choosing ------------------------------------------------------------------------

#' The device, the GPUs and the engine that mine
#'
#' @param engine,device,gpus As the user named them.
#' @return A list: `device`, `engine`, `gpus` (from 0).
#' @noRd
choose_place <- function(engine, device, gpus, events, ticks, min_count, max_size, threads) {
  gpus <- check_gpus(gpus, device)
  if (device == "auto") {
    seconds <- expected_seconds(events, ticks, min_count, max_size, threads)
    survey <- gpu_survey()
    return(c(choose_automatically(engine, seconds, survey$name[gpus[[1L]] + 1L],
                                  survey$reason, context_seconds()), list(gpus = gpus)))
  }
  offered <- if (device == "gpu") gpu_engines else cpu_engines
  if (engine == "auto") engine <- "window"
  refuse_if(!engine %in% offered, "engine", sprintf("one that runs with `device = \"%s\"`: %s",
                                                    device, some(dQuote(offered, FALSE))),
            describe(engine),
            sprintf("Or give `device = \"%s\"`.", setdiff(c("cpu", "gpu"), device)))
  need_gpu(device)
  list(device = device, engine = engine, gpus = gpus)
}

#' What `device = "auto"` picks, said in one line
#'
#' @param seconds On the CPU, about.
#' @param gpu,reason Name of the GPU, or `NA` and why there is none.
#' @param context Seconds that making a CUDA context takes; 0 where there is one.
#' @noRd
choose_automatically <- function(engine, seconds, gpu, reason, context) {
  chosen <- if (engine == "auto") "window" else engine
  only <- if (!chosen %in% cpu_engines) "gpu" else if (!chosen %in% gpu_engines) "cpu"
  device <- tell_device(seconds, gpu, reason, context, only, "the engine runs there alone",
                        sprintf(" and the engine \"%s\"", chosen))
  list(device = device, engine = chosen)
}

#' The device of a call whose GPUs are checked
#'
#' @param gpus From check_gpus().
#' @param seconds Seconds that the work takes on the CPU, about; only asked for with `"auto"`.
#' @param half Whether the work needs half precision, which GPUs alone have.
#' @return A list: `device`, `"cpu"` or `"gpu"`, and `gpus`.
#' @noRd
settle_place <- function(device, gpus, seconds, half = FALSE) {
  if (device == "auto") {
    survey <- gpu_survey()
    device <- choose_device(seconds, survey$name[gpus[[1L]] + 1L], survey$reason,
                            context_seconds(), half)
  }
  need_gpu(device)
  if (device == "gpu") gpu_session$used <- TRUE
  list(device = device, gpus = gpus)
}

choose_device <- function(seconds, gpu, reason, context, half) {
  because <- if (is.na(gpu)) paste("there is no GPU:", reason) else
    "half precision runs there alone"
  tell_device(seconds, gpu, reason, context, if (half) "gpu", because)
}

#' Chooses a device, and tells the user which and why
#'
#' That is the device on which the call ends sooner, or the only one that can run it.
#'
#' @param only The device on which this runs alone, or `NULL`; and why, `because`.
#' @param with What is chosen beside the device, in words.
#' @noRd
tell_device <- function(seconds, gpu, reason, context, only, because, with = "") {
  if (is.null(only)) {
    only <- if (!is.na(gpu) && seconds > context + 0.005 + seconds / 100) "gpu" else "cpu"
    because <- if (is.na(gpu)) paste("there is no GPU:", reason) else {
      sprintf("on the CPU this takes %s, about, and %s", seconds_text(seconds),
              if (context > 0) "a GPU takes 0.4 s to get ready" else "the GPU is ready")
    }
  }
  say_device(only, gpu, sprintf("%s: %s.", with, because))
  only
}

#' Seconds that making a CUDA context takes; 0 where there is one
#' @noRd
context_seconds <- function() if (is.null(gpu_session$used)) 0.35 else 0

#' @param gpu Its name, or `NA`.
#' @param rest Of the sentence.
#' @noRd
say_device <- function(device, gpu, rest) {
  where <- if (device == "cpu") "the CPU" else if (is.na(gpu)) "the GPU" else
    sprintf("the GPU (%s)", gpu)
  info("device", escape_braces(paste0("Using ", where, rest)))
}

#' Seconds that the window engine will take on the CPU, about
#'
#' A spike of a typical frequent unit is followed by one of another within an interval
#' with the probability q. Chains of k units then occur n q^(k - 1) times, and are
#' candidates up to one unit more than are frequent. A candidate costs 0.4 ns a spike of
#' its first unit, measured. None is longer than there are spikes.
#' @noRd
expected_seconds <- function(events, ticks, min_count, max_size, threads) {
  inside <- if (is.null(events$trial)) TRUE else !is.na(events$trial)
  n <- tabulate(events$unit[inside], events$units)
  n <- n[n >= min_count]
  if (length(n) == 0L) return(0)
  duration <- max(1, diff(range(events$tick)))
  width <- mean(ticks$high - ticks$low)
  q <- mean(n) * width / duration
  size <- if (q < 1) 2 + floor(log(mean(n) / min_count) / log(1 / q)) else Inf
  sizes <- seq(2, max(2, min(size, max_size, sum(n), 50)))
  candidates <- sum(length(n)^sizes * length(ticks$low)^(sizes - 1))
  candidates * mean(n) * 0.4e-9 / threads
}

#' The GPUs that took part, and what the window engine counted on each
#' @noRd
gpus_frame <- function(place, report) {
  if (place$device == "cpu") return(NULL)
  gpus <- place$gpus + 1L
  list2DF(list(gpu = gpus, name = gpu_survey()$name[gpus],
               candidates = report$candidates %||% rep(NA_real_, length(gpus))))
}

# ---- The crossover of MTPE and PTPE ----------------------------------------------------

crossover_file <- function() {
  file.path(tools::R_user_dir("synfire", "cache"), "gpu-crossover.csv")
}

#' The fits that were saved, or `NULL`; a file that holds something else is no reason to fail
#' @noRd
saved_crossovers <- function() {
  file <- crossover_file()
  if (!file.exists(file)) return(NULL)
  known <- tryCatch(utils::read.csv(file), error = \(e) NULL, warning = \(w) NULL)
  ok <- is.data.frame(known) && all(c("name", "a", "b") %in% names(known)) &&
    is.numeric(known$a) && is.numeric(known$b)
  # MTPE throughout is b = Inf.
  if (ok) known[is.finite(known$a) & !is.na(known$b) & known$b > -Inf, c("name", "a", "b")]
}

#' a and b of f(N) = a / N + b for a GPU, by name: as calibrated, or what fits most
#' @noRd
gpu_crossover <- function(name) {
  default <- c(0, 1)  # from there on PTPE fills the GPU and MTPE makes a single segment
  known <- saved_crossovers()
  row <- match(name, known$name)
  if (is.na(row)) default else as.double(c(known$a[[row]], known$b[[row]]))
}

#' Written aside and then renamed, so that nobody ever reads half of it
#' @noRd
save_crossover <- function(name, a, b) {
  file <- crossover_file()
  known <- saved_crossovers()
  known <- rbind(known[known$name != name, ], data.frame(name = name, a = a, b = b))
  dir.create(dirname(file), recursive = TRUE, showWarnings = FALSE)
  aside <- tempfile("gpu-crossover-", dirname(file))
  on.exit(unlink(aside))
  saved <- tryCatch({
    utils::write.csv(known, aside, row.names = FALSE)
    file.rename(aside, file)
  }, error = \(e) FALSE, warning = \(w) FALSE)
  if (!saved) {
    warn_about("calibration", "The calibration could not be saved in {.file {file}}.",
               i = "`engine = \"hybrid\"` goes on as before.")
  }
}

# ---- Given episodes --------------------------------------------------------------------

#' Count episodes of one size on GPUs
#'
#' @param units,intervals Integer matrices, a row an episode: codes of units, and of the
#'   rows of `ticks`.
#' @param ticks List of `low` and `high`, in ticks.
#' @param request From gpu_request().
#' @param times Count so many times, for the time it takes.
#' @return A list: `count`, `seconds` (of the kernels, each time), `published_seconds` (of
#'   the published merge, where it is asked for), `report`.
#' @noRd
gpu_count <- function(events, ticks, units, intervals, request, times = 1L) {
  storage.mode(units) <- storage.mode(intervals) <- "integer"
  counted <- .Call(r_count_episodes_gpu, events, ticks, units, intervals, request,
                   as.integer(times))
  finish_status(counted, "counting these episodes", "Count fewer episodes at a time.",
                limit_of = "spikes")
}

#' Count episodes of any size on GPUs
#'
#' @param codes From episode_codes().
#' @noRd
gpu_count_all <- function(events, codes, request) {
  sizes <- lengths(codes$units)
  count <- integer(length(sizes))
  single <- sizes == 1L
  if (any(single)) {
    counted <- .Call(r_count_episodes, events, codes$units[single], codes$low[single],
                     codes$high[single], 1L)
    count[single] <- finish_status(counted, "counting these episodes")
  }
  for (size in setdiff(unique(sizes), 1L)) {
    rows <- which(sizes == size)
    low <- matrix(unlist(codes$low[rows]), length(rows), byrow = TRUE)
    high <- matrix(unlist(codes$high[rows]), length(rows), byrow = TRUE)
    name <- paste(low, high)
    known <- which(!duplicated(name))
    counted <- gpu_count(events, list(low = low[known], high = high[known]),
                         matrix(unlist(codes$units[rows]), length(rows), byrow = TRUE),
                         matrix(match(name, name[known]), length(rows)), request)
    count[rows] <- counted$count
  }
  count
}

gpus_of <- function(place) if (place$device == "gpu") place$gpus

#' Where surrogates are mined
#'
#' @param seconds Function that gives how long the CPU would take, about.
#' @return NULL for the CPU, or numbers of GPUs, from 0.
#' @noRd
surrogate_place <- function(device, gpus, seconds) {
  gpus <- check_place(device, gpus)
  gpus_of(settle_place(device, gpus, seconds()))
}
