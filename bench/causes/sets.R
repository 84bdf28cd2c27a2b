# All kinds of systems: those that kinds.R draws, and sets of files.
#
#   networks         diamond, mediator, v, fork (3 or 4 series of 4,000 steps) and lor
#                    (Lorenz 96, 10 x 1,000), five of each, in networks/ of the folder that
#                    SYNFIRE_DATA names (tools/data.R)
#   causaldynamics   coupled systems of the benchmark of that name, which dynamics.py writes
#                    into .build/dynamics
#   large            200 and 1000 series of 2,000 steps: for a GPU
#
# A file holds a column a series. Beside it lies its truth, without a header: a line a link,
# cause, effect, and what this does not read, counted from 0.

dynamics_folder <- file.path(".build", "dynamics")
networks <- c("diamond", "mediator", "v", "fork", "lor")
all_kinds <- c(kinds, list(networks = networks, causaldynamics = "coupled",
                           large = c("200 series", "1000 series")))

# The thirty kinds: links that act within a step have no direction to be found.
counted_groups <- setdiff(names(kinds), "too slow")

group_of <- function(kind) {
  names(all_kinds)[vapply(all_kinds, \(some) kind %in% some, NA)]
}

#' A set has no halves
halves_of <- function(kind, halves) if (kind %in% unlist(kinds)) halves else "all"

#' One system of a kind by its number, or of a set by its place there; NULL where its file is
#' absent
numbered_system <- function(kind, number) {
  if (kind %in% unlist(kinds)) return(numbered_kind(kind, number))
  number <- number %/% 2L - 1L
  if (kind %in% all_kinds$large) {
    set.seed(number)
    return(draw_many(as.integer(sub(" .*", "", kind))))
  }
  if (kind %in% networks) {
    path <- file.path(Sys.getenv("SYNFIRE_DATA"), "networks", kind)
    return(read_system(sprintf("%s_%d.csv.gz", path, number), paste0(path, "_gt.csv")))
  }
  path <- file.path(dynamics_folder, sprintf("%s_%d", kind, number))
  read_system(paste0(path, ".csv.gz"), paste0(path, "_gt.csv"))
}

read_system <- function(series, truth) {
  if (!file.exists(series)) {
    message("left out, as its file is absent: ", basename(series))
    return(NULL)
  }
  x <- as.matrix(utils::read.csv(series))
  links <- utils::read.csv(text = readLines(truth, warn = FALSE), header = FALSE)
  links <- as.matrix(links)[, 1:2, drop = FALSE] + 1L
  wiring <- matrix(FALSE, ncol(x), ncol(x), dimnames = list(colnames(x), colnames(x)))
  wiring[links] <- TRUE
  diag(wiring) <- FALSE
  list(x = x, wiring = wiring)
}

#' Half of the series are coupled logistic maps, and the others autoregressive: each has two
#' causes among its own sort
draw_many <- function(series, steps = 2000L) {
  half <- series %/% 2L
  maps <- simulate_coupled_maps(steps, series = half, strength = 0.1, noise = 0.02)
  to <- rep(3:half, each = 2L)
  from <- unlist(lapply(3:half, \(k) sample.int(k - 1L, 2L)))
  links <- link_table(from, to, sample(3L, length(to), replace = TRUE))
  wiring <- matrix(FALSE, 2L * half, 2L * half)
  wiring[seq_len(half), seq_len(half)] <- attr(maps, "truth") > 0
  wiring[half + cbind(from, to)] <- TRUE
  x <- cbind(matrix(maps, steps), run_linear(half, links, steps))
  colnames(x) <- rownames(wiring) <- colnames(wiring) <- sprintf("s%04d", seq_len(2L * half))
  list(x = x, wiring = wiring)
}
