# Direct links of a whole brain on GPUs: seconds and memory of the map and of direct_links(),
# and how many of the links they find. The series are simulated, so their wiring is known.
# Target: direct_links() on 53,053 x 1,450 values in at most 45 s of one H200 (`direct`).
#
#   Rscript bench/direct-links.R [key=value ...]
#
#   shape=10000x1450     series x steps; 53053x1450 is a published recording's, and takes 30
#                        GB of memory; drawing them takes 10 s and 1 GB of it
#   threshold=0.3        smallest rho of the links that are looked at, or several; one map
#                        serves all. With 0.1 these are a hundred times as many
#   max_links=1e6        look at so many links at most
#   gpus=1               so many GPUs; 0 for the processor
#   out=FILE             the rows, in full, as CSV, each as soon as it is measured; rows of a
#                        file that is there are kept
#
# The series are chaotic maps with two causes on average, drawn at random, whose links have a
# strength of 0.03, 0.06 or 0.1 and take one step, and with noise of 2 %. Their dimensions are
# looked for among 1 to 8.
#
# `map` and `direct` are seconds of the whole calls. `looked` says at how many links
# direct_links() looked, `passed` at how many of the true ones: no other can be found.
# `missed` are those of these that it did not call direct, `wrong` the links that it called
# direct though there is none, both as a share of the links looked at that have a link, and
# that have none. `peak_GB` is the most memory that the process had so far.

library(synfire)
source("tools/machine.R")
options(cli.progress_show_after = Inf)

read_arguments <- function(arguments) {
  asked <- list(shape = "10000x1450", threshold = "0.3", max_links = "Inf", gpus = "1",
                out = "")
  for (argument in arguments) {
    name <- sub("=.*", "", argument)
    if (!name %in% names(asked) || !grepl("=", argument)) {
      stop("no such argument: ", argument)
    }
    asked[[name]] <- sub("^[^=]*=", "", argument)
  }
  shape <- as.numeric(strsplit(asked$shape, "x", fixed = TRUE)[[1L]])
  list(series = shape[[1L]], steps = shape[[2L]], out = asked$out,
       threshold = as.numeric(strsplit(asked$threshold, ",", fixed = TRUE)[[1L]]),
       max_links = as.numeric(asked$max_links), gpus = as.numeric(asked$gpus))
}

#' Coupled logistic maps as simulate_coupled_maps() has them, which takes fewer series
#'
#' @return List: `x`, the series, and `truth`, the links as a table of `cause` and `effect`.
draw_series <- function(series, steps, noise = 0.02) {
  set.seed(1)
  # The place of a link among all pairs, row by row, without those of a series with itself.
  place <- sample(series * (series - 1), 2 * series) - 1
  from <- place %/% (series - 1) + 1
  to <- place %% (series - 1) + 1
  to <- to + (to >= from)
  strength <- sample(c(0.03, 0.06, 0.1), length(place), replace = TRUE)
  # The first cause of each effect, then the second of those that have one, and so on.
  rank <- stats::ave(to, to, FUN = seq_along)
  rounds <- lapply(split(seq_along(place), rank),
                   \(k) list(from = from[k], to = to[k], strength = strength[k]))
  own <- rep(1, series)
  for (k in rounds) own[k$to] <- own[k$to] - k$strength
  growth <- stats::runif(series, 3.87, 4)
  state <- stats::runif(series, 0.1, 0.9)
  names <- sprintf("x%0*d", nchar(series), seq_len(series))
  x <- matrix(0, steps, series, dimnames = list(NULL, names))
  transient <- 500
  for (step in seq_len(transient + steps)) {
    if (step > transient) x[step - transient, ] <- state
    brings <- growth * state * (1 - state)
    state <- own * brings
    for (k in rounds) state[k$to] <- state[k$to] + k$strength * brings[k$from]
  }
  for (j in seq_len(series)) {
    quiet <- x[, j]
    x[, j] <- quiet + stats::rnorm(steps, sd = noise * stats::sd(quiet))
  }
  list(x = x, truth = data.frame(cause = names[from], effect = names[to]))
}

#' One text for a link, the same in all tables
link_key <- function(table) paste(table$cause, table$effect)

score <- function(found, truth) {
  linked <- link_key(found) %in% link_key(truth)
  direct <- found$link == "direct"
  data.frame(looked = nrow(found), links = nrow(truth), passed = sum(linked),
             missed = mean(!direct[linked]), wrong = mean(direct[!linked]),
             refused = mean(found$link == "refused"))
}

write_row <- function(row, file) {
  if (!nzchar(file)) return(invisible())
  measured <- c("map", "direct", "missed", "wrong", "refused", "peak_GB")
  row[measured] <- lapply(row[measured], signif, 4)
  there <- if (file.exists(file)) utils::read.csv(file)
  utils::write.csv(rbind(there, row), file, row.names = FALSE)
}

asked <- read_arguments(commandArgs(TRUE))
here <- synfire_sitrep(test_devices = FALSE)
if (asked$gpus > nrow(here$devices)) {
  message("too few GPUs to measure: see synfire_sitrep()")
  quit(status = 0L)
}
device <- if (asked$gpus > 0) "gpu" else "cpu"
gpus <- if (asked$gpus > 0) seq_len(asked$gpus)
seconds <- \(run) system.time(run)[["elapsed"]]

# What is loaded late is loaded before anything is timed.
small <- draw_series(60, 300)$x
warm <- direct_links(causal_map(small, E_max = 3, device = device, gpus = gpus), small,
                     threshold = -1, max_links = 100, device = device, gpus = gpus)

drawn <- draw_series(asked$series, asked$steps)
x <- drawn$x
mapped <- seconds(map <- causal_map(x, E_max = 8, device = device, gpus = gpus,
                                    max_memory = 1e11))
message(sprintf("map: %.3g s", mapped))
rows <- lapply(asked$threshold, \(threshold) {
  took <- seconds(found <- direct_links(map, x, threshold, max_links = asked$max_links,
                                        device = device, gpus = gpus,
                                        max_memory = 1e11))
  message(sprintf("direct_links(), rho of at least %g, %d links: %.3g s", threshold,
                  nrow(found), took))
  row <- data.frame(
    series = asked$series, steps = asked$steps, gpus = asked$gpus, threshold = threshold,
    map = mapped, direct = took, score(found, drawn$truth), peak_GB = memory("VmHWM") / 1024,
    machine = if (asked$gpus > 0) here$devices$name[[1L]] else "processor",
    cores = here$threads, date = format(Sys.Date()),
    version = as.character(utils::packageVersion("synfire"))
  )
  write_row(row, asked$out)
  row
})
options(width = 160)
print(do.call(rbind, rows), row.names = FALSE, digits = 3)
