# All kinds of systems: those that kinds.R draws, and sets of files.
#
#   networks         diamond, mediator, v, fork (3 or 4 series of 4,000 steps) and lor
#                    (Lorenz 96, 10 x 1,000), five of each, in networks/ of the folder that
#                    SYNFIRE_DATA names (tools/data.R)
#   causaldynamics   coupled systems of the benchmark of that name, which dynamics.py writes
#                    into .build/dynamics
#
# A file holds a column a series. Beside it lies its truth, without a header: a line a link,
# cause, effect, and what this does not read, counted from 0.

dynamics_folder <- file.path(".build", "dynamics")
networks <- c("diamond", "mediator", "v", "fork", "lor")
dynamics <- c("coupled", "coupled, confounded")
all_kinds <- c(kinds, list(networks = networks, causaldynamics = dynamics))

# The thirty kinds: links that act within a step have no direction to be found.
counted_groups <- setdiff(names(kinds), "too slow")

group_of <- function(kind) {
  names(all_kinds)[vapply(all_kinds, \(some) kind %in% some, NA)]
}

#' A set of files has no halves
halves_of <- function(kind, halves) if (kind %in% unlist(kinds)) halves else "all"

#' One system of a kind by its number, or of a set by its place there; NULL where its file is
#' absent
numbered_system <- function(kind, number) {
  if (kind %in% unlist(kinds)) return(numbered_kind(kind, number))
  number <- number %/% 2L - 1L
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
  links <- as.matrix(utils::read.csv(truth, header = FALSE))[, 1:2, drop = FALSE] + 1L
  wiring <- matrix(FALSE, ncol(x), ncol(x), dimnames = list(colnames(x), colnames(x)))
  wiring[links] <- TRUE
  diag(wiring) <- FALSE
  list(x = x, wiring = wiring)
}
