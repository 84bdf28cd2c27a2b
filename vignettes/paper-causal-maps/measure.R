# The measurements shown in vignette("paper-causal-maps").
#
# In the folder of the package:
#
#   Rscript vignettes/paper-causal-maps/measure.R OUT_FOLDER [PART ...]
#
# Each part writes a table of its name to OUT_FOLDER, with the machine, the date and the
# version; without a PART all of them are run:
#
#   once              neighbours once for each library, or for each target  10 s
#   behaviour         which neurons turn a simulated fish, for 20 seeds     a minute
#   threads           1, 2, 4, ... threads, as many as there are cores      a minute
#   cpu               by series and by steps, on all cores                  a minute
#   core              by steps, on one thread                               10 minutes
#   gpu               by series and by steps, on one GPU                    half a minute
#   gpus              one GPU and two, on three shapes                      a minute
#   shapes            whole calls on three shapes, on one GPU and on all    2 minutes
#   brain-1450-half, brain-1450-float, brain-3780-half, brain-3780-float, brain-8528-half,
#   brain-8528-float  whole calls of the three published recordings, on one GPU: 10 s to 6
#                     minutes each, the largest with 95 GB of memory. Table: brains
#   all-1450-half and so on: the same, on all GPUs of the machine
#
# All but the first two run bench/causal-map.R in a process of its own, which writes each
# row as soon as it is measured, and keeps rows that are in the table already. The times
# on the page were taken on a machine with two H200 and 32 cores. Parts that need a GPU
# say so where there is none.

library(synfire)
options(cli.progress_show_after = Inf)

arguments <- commandArgs(TRUE)
bench <- "bench/causal-map.R"
if (length(arguments) == 0L || !file.exists(bench)) {
  stop("run this in the folder of the package: measure.R OUT_FOLDER [PART ...]")
}
source("vignettes/causal-maps/simulated.R")
folder <- arguments[[1L]]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

here <- synfire_sitrep(test_devices = FALSE)
cores <- here$threads
gpus <- nrow(here$devices)

write_table <- function(rows, name) {
  model <- if (file.exists("/proc/cpuinfo")) {
    sub(".*: *", "", grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[[1L]])
  } else NA
  rows <- cbind(rows, machine = model, cores = cores, date = format(Sys.Date()),
                version = as.character(utils::packageVersion("synfire")))
  doubles <- vapply(rows, is.double, NA)
  rows[doubles] <- lapply(rows[doubles], signif, 5)
  utils::write.csv(rows, file.path(folder, paste0(name, ".csv")), row.names = FALSE)
}

# ---- Neighbours once, or again for each target -----------------------------------------

#' A map of all pairs in one call; and in a call for each target, with neighbours anew
measure_once <- function() {
  seconds <- \(run) system.time(run())[["elapsed"]]
  causal_map(simulate_coupled_maps(100), E = 2)  # loads what loads late
  rows <- lapply(c(25, 50, 100, 200), \(n) {
    set.seed(1)
    x <- simulate_coupled_maps(1600, series = n)
    E <- rep_len(1:20, n)
    together <- seconds(\() causal_map(x, E = E))
    apart <- seconds(\() for (j in seq_len(n)) causal_map(x, E = E[[j]], targets = j))
    data.frame(series = n, steps = 1600, together = together, apart = apart)
  })
  write_table(do.call(rbind, rows), "once")
}

# ---- Behaviour -------------------------------------------------------------------------

#' Ranks of the two neurons that turn the fish, by the map and by correlation, and how
#' well turning is predicted from the two that the map puts first
measure_behaviour <- function(seeds = 1:20, frames = 1600, learnt = 1000) {
  rows <- lapply(seeds, \(seed) {
    set.seed(seed)
    x <- simulate_calcium(frames)
    drivers <- attr(x, "turned_by")
    fish <- cbind(x, turning = attr(x, "turning"))
    # What is predicted later is not looked at here.
    seen <- fish[seq_len(learnt), ]
    map <- causal_map(seen, E_max = 10, Tp = -1, libraries = "turning",
                      targets = colnames(x))
    rho <- as.matrix(map)["turning", ]
    linear <- abs(stats::cor(seen[-learnt, colnames(x)], seen[-1L, "turning"]))[, 1L]
    first <- names(sort(-rho))[1:2]
    data <- data.frame(frame = seq_len(frames), fish)
    skill <- function(columns) {
      error <- function(E, pred) {
        found <- simplex(data, columns, "turning", lib = c(1, learnt), pred = pred, E = E)
        prediction_error(found$Observations, found$Predictions)$rho
      }
      E <- which.max(vapply(1:5, error, 0, pred = c(1, learnt)))
      error(E, c(learnt + 1, frames))
    }
    data.frame(seed = seed, neurons = ncol(x), map_first = rank(-rho)[[drivers[[1L]]]],
               map_second = rank(-rho)[[drivers[[2L]]]],
               cor_first = rank(-linear)[[drivers[[1L]]]],
               cor_second = rank(-linear)[[drivers[[2L]]]],
               rho_driver = min(rho[drivers]),
               rho_other = max(rho[setdiff(names(rho), drivers)]),
               skill_map = skill(first), skill_own = skill("turning"))
  })
  write_table(do.call(rbind, rows), "behaviour")
}

# ---- What the benchmark measures -------------------------------------------------------

brains <- c("53053x1450", "92538x3780", "101729x8528")

#' What the brains are measured with on some GPUs: a list named PLACE-STEPS-PRECISION
brain_parts <- function(place, workers) {
  parts <- expand.grid(shape = brains, precision = c("half", "float"),
                       stringsAsFactors = FALSE)
  arguments <- Map(\(shape, precision) {
    c("gpu", paste0("shapes=", shape), paste0("gpus=", workers),
      paste0("precision=", precision), "phases=call")
  }, parts$shape, parts$precision)
  stats::setNames(arguments, paste(place, sub(".*x", "", parts$shape), parts$precision,
                                   sep = "-"))
}

run_bench <- function(part, of) {
  table <- if (grepl("-", part)) "brains" else part
  system2(file.path(R.home("bin"), "Rscript"),
          c(bench, of, paste0("out=", file.path(folder, table), ".csv")))
}

by_commas <- \(x) paste(x, collapse = ",")
threads <- unique(c(2^(0:floor(log2(cores))), cores))
benches <- list(
  threads = c("cpu", "shapes=500x1600", "phases=search,map",
              paste0("threads=", by_commas(threads))),
  cpu = c("cpu", "shapes=by-N,by-L", "phases=search,map", paste0("threads=", cores)),
  core = c("cpu", "shapes=1000x200,1000x400,1000x800,1000x1600,1000x3200",
           "phases=search,map", "threads=1"),
  gpu = c("gpu", "shapes=by-N,by-L", "precision=float", "phases=search,map"),
  gpus = c("gpu", "shapes=1000x1600,10000x1600,53053x1450", "precision=float",
           "phases=search,map", paste0("gpus=", by_commas(seq_len(gpus)))),
  shapes = c("gpu", "phases=call", paste0("gpus=", by_commas(unique(c(1, gpus)))))
)
benches <- c(benches, brain_parts("brain", 1), if (gpus > 1) brain_parts("all", gpus))

# ---- Here it begins --------------------------------------------------------------------

parts <- c(list(once = measure_once, behaviour = measure_behaviour),
           lapply(stats::setNames(nm = names(benches)), \(part) {
             \() run_bench(part, benches[[part]])
           }))
asked <- if (length(arguments) > 1L) arguments[-1L] else names(parts)
unknown <- setdiff(asked, names(parts))
if (length(unknown)) stop("no such part: ", by_commas(unknown))
for (part in asked) {
  started <- proc.time()[["elapsed"]]
  parts[[part]]()
  message(sprintf("%s: %.0f s", part, proc.time()[["elapsed"]] - started))
}
