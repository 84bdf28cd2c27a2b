# The queue played through with measured times of chunks, for vignettes/performance.Rmd.
#
#   Rscript vignettes/clusters/simulate.R [FOLDER with chunks.csv, scaling.csv]
#
# Takes 10 s. A worker opens what it works on once and then takes chunks; each takes it a start
# and the time of its libraries. simulated.csv: how long the whole takes, and its efficiency:
# the time of the libraries alone, shared among all workers without a loss, by the time it
# takes.

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
out <- c(commandArgs(TRUE), folder)[[1L]]
ns <- asNamespace("synfire")

# ---- Times ---------------------------------------------------------------------------

chunks <- read.csv(file.path(out, "chunks.csv"))
runs <- read.csv(file.path(out, "scaling.csv"))
take <- median(chunks$wait, na.rm = TRUE)

# A map of 10,000 series, and the largest published one: on the CPU by the package's own
# estimate at the mean dimension, on GPUs as it was measured with two of them. To open it, all
# series are read.
series <- 101729
steps <- 8528
opened <- chunks[chunks$what == "open", ]
numbers <- vapply(strsplit(runs$size[match(opened$run, runs$run)], "[^0-9]+"),
                  \(size) prod(as.numeric(size[2:3])), 0)
opening <- coef(lm(opened$seconds ~ numbers))
read <- \(series, steps) opening[[1L]] + opening[[2L]] * series * steps
begin <- \(series, steps) {
  source <- list(n = series, steps = steps)
  ns$chunk_start_seconds(list(source = source, rule = list(max_memory = 3e10)), series)
}
brains <- read.csv(file.path(folder, "..", "paper-causal-maps", "brains.csv"))
# So large a map finds nearly all neighbours itself, also in a call that finds dimensions.
brains <- brains[brains$series == series & brains$steps == steps &
                   brains$phase %in% c("map", "call: map") & brains$libraries == series, ]
brain <- brains[nrow(brains), ]

estimate <- \(E, series, steps) ns$library_seconds(steps, E, series, 1)
on_cpu <- \(series, steps) {
  list(n = series, seconds = estimate(10.5, series, steps),
       estimate = estimate(20, series, steps), open = read(series, steps),
       start = begin(series, steps))
}
shapes <- list(
  "10,000 x 1,600 on CPUs" = on_cpu(10000, 1600),
  "101,729 x 8,528 on CPUs" = on_cpu(series, steps),
  "101,729 x 8,528 on GPUs" = list(n = series, open = read(series, steps),
                                   start = begin(series, steps),
                                   seconds = brain$seconds * brain$workers / series)
)

# ---- The queue -----------------------------------------------------------------------

#' When the last of these chunks is done
play <- function(sizes, shape, speed) {
  free <- shape$open / speed
  for (size in sizes) {
    k <- which.min(free)
    free[[k]] <- free[[k]] + take + (shape$start + size * shape$seconds) / speed[[k]]
  }
  max(free)
}

cuts <- list(
  static = \(shape, workers) rep(1, workers) * shape$n / workers,
  quarters = \(shape, workers) rep(shape$n / workers / 4, 4 * workers),
  queue = \(shape, workers) {
    cut <- ns$cut_chunks(seq_len(shape$n), shape$estimate %||% shape$seconds,
                         shape$start, workers = workers)
    lengths(lapply(cut, `[[`, "places"))
  }
)
`%||%` <- \(a, b) if (is.null(a)) b else a

speeds <- list(
  "all alike" = \(workers) rep(1, workers),
  "speeds vary by 5 %" = \(workers) pmax(0.5, rnorm(workers, 1, 0.05)),
  "one in eight half as fast" = \(workers) rep_len(c(0.5, rep(1, 7)), workers)
)

rows <- expand.grid(cut = names(cuts), speeds = names(speeds), workers = c(1, 2, 4, 8, 64, 512),
                    shape = names(shapes), stringsAsFactors = FALSE)
rows <- rows[rows$shape != names(shapes)[[1L]] | rows$workers <= 64, ]
played <- lapply(seq_len(nrow(rows)), \(k) {
  shape <- shapes[[rows$shape[[k]]]]
  set.seed(k)
  speed <- speeds[[rows$speeds[[k]]]](rows$workers[[k]])
  sizes <- cuts[[rows$cut[[k]]]](shape, rows$workers[[k]])
  end <- play(sizes, shape, speed)
  data.frame(chunks = length(sizes), largest = ceiling(max(sizes)),
             smallest = floor(min(sizes)), seconds = signif(end, 5),
             efficiency = round(shape$n * shape$seconds / sum(speed) / end, 4),
             library = signif(shape$seconds, 4), open = signif(shape$open, 4))
})
rows <- cbind(rows, do.call(rbind, played), take = signif(take, 3),
              machine = runs$machine[[1L]], date = format(Sys.Date()),
              synfire = format(utils::packageVersion("synfire")))
write.csv(rows, file.path(out, "simulated.csv"), row.names = FALSE)
print(rows[rows$workers %in% c(8, 512), 1:10], row.names = FALSE)
