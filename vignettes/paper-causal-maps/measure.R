# The measurements shown in vignette("paper-causal-maps").
#
# In the folder of the package:
#
#   Rscript vignettes/paper-causal-maps/measure.R OUT_FOLDER [PART ...]
#
# Each part runs bench/causal-map.R in a process of its own, which writes each row to
# OUT_FOLDER as soon as it is measured, with the machine, the date and the version:
#
#   threads           1, 2, 4, ... threads, as many as there are cores     half a minute
#   cpu               by series and by steps, on all cores                 a minute
#   gpu               by series and by steps, on one GPU                   half a minute
#   gpus              one GPU and two, on three shapes                     half a minute
#   brain-1450-half, brain-1450-float, brain-3780-half, brain-3780-float, brain-8528-half,
#   brain-8528-float  the three published recordings in full, on all GPUs: 10 s to 3 minutes
#                     each; the largest takes 95 GB of memory
#
# Without a PART all of them. The numbers on the page were taken on a machine with two
# H200 and 32 cores; the tables name machine and date. Parts that need GPUs say so where
# there are none.

arguments <- commandArgs(TRUE)
bench <- "bench/causal-map.R"
if (length(arguments) == 0L || !file.exists(bench)) {
  stop("run this in the folder of the package: measure.R OUT_FOLDER [PART ...]")
}
folder <- arguments[[1L]]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

here <- synfire::synfire_sitrep(test_devices = FALSE)
cores <- here$threads
threads <- unique(c(2^(0:floor(log2(cores))), cores))
gpus <- nrow(here$devices)

#' What a brain is measured with: the search belongs to the first precision
brain <- function(shape, precision) {
  c("gpu", paste0("shapes=", shape), paste0("gpus=", gpus), paste0("precision=", precision),
    paste0("phases=", if (precision == "half") "search,map" else "map"))
}

parts <- list(
  threads = c("cpu", "shapes=500x1600", paste0("threads=", paste(threads, collapse = ","))),
  cpu = c("cpu", "shapes=by-N,by-L", paste0("threads=", cores)),
  gpu = c("gpu", "shapes=by-N,by-L", "precision=float"),
  gpus = c("gpu", "shapes=1000x1600,10000x1600,53053x1450", "precision=float",
           paste0("gpus=", paste(seq_len(gpus), collapse = ","))),
  "brain-1450-half" = brain("53053x1450", "half"),
  "brain-1450-float" = brain("53053x1450", "float"),
  "brain-3780-half" = brain("92538x3780", "half"),
  "brain-8528-half" = brain("101729x8528", "half"),
  "brain-3780-float" = brain("92538x3780", "float"),
  "brain-8528-float" = brain("101729x8528", "float")
)

asked <- if (length(arguments) > 1L) arguments[-1L] else names(parts)
unknown <- setdiff(asked, names(parts))
if (length(unknown)) stop("no such part: ", paste(unknown, collapse = ", "))
for (part in asked) {
  started <- proc.time()[["elapsed"]]
  table <- if (startsWith(part, "brain")) "brains" else part
  status <- system2(file.path(R.home("bin"), "Rscript"),
                    c(bench, parts[[part]], paste0("out=", file.path(folder, table), ".csv")))
  message(sprintf("%s: status %d, %.0f s", part, status, proc.time()[["elapsed"]] - started))
}
