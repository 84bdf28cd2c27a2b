# Cross mapping: the series that are mapped, and the skill of libraries of some sizes.

#' One or both directions: what [edm_data()] makes of each, with their names
#' @noRd
ccm_maps <- function(x, columns, target, E, Tp, tau, embedded, both, valid_lib, segments,
                     no_time, knn) {
  map <- function(columns, target, E, knn) {
    data <- edm_data(x, columns, target, E = E, tau = tau, Tp = Tp, embedded = embedded,
                     valid_lib = valid_lib, segments = segments, no_time = no_time,
                     targets = TRUE)
    data$lib <- mapped_rows(data)
    data$knn <- edm_knn(knn, data$E + 1L)
    data$direction <- paste0(data$columns[[1L]], ":", data$target_name)
    check_library(data, given = FALSE)
  }
  forward <- map(columns, target, E, knn)
  # A series that is mapped to itself has one direction.
  if (!both || identical(forward$columns, forward$targets)) return(list(forward))
  back <- map(forward$targets, forward$columns, if (!embedded) E, forward$knn)
  back$targets <- back$target_name
  maps <- list(forward, back)
  if (forward$direction != back$direction) return(maps)
  # Of the same first columns, all columns tell the directions apart.
  lapply(maps, \(map) {
    map$direction <- paste0(paste(map$columns, collapse = " "), ":", map$target_name)
    map
  })
}

#' Rows that can be in a library: complete ones whose target is a row of their segment
#' @noRd
mapped_rows <- function(data, valid = data$valid) {
  target <- seq_along(data$first) + data$Tp
  which(data$complete & valid & target >= data$first & target <= data$last)
}

#' The mapped rows of each prediction interval
#' @noRd
lag_libraries <- function(map, Tp) {
  rows <- which(map$complete & map$valid)
  before <- rows - map$first[rows]
  after <- map$last[rows] - rows
  libs <- lapply(Tp, \(lag) rows[(if (lag < 0L) before else after) >= abs(lag)])
  for (lag in Tp[lengths(libs) == 0L]) {
    map$Tp <- lag
    map$lib <- integer()
    map$all_lib <- mapped_rows(map, valid = TRUE)
    check_library(map, given = FALSE)
  }
  libs
}

#' Skill of all libraries in one direction
#' @param libs A list of rows: those of the libraries for the targets of each view.
#' @param targets Matrix \[rows, targets\] of what each row is to predict: the first view's
#'   come first, and all have as many.
#' @param sizes Library sizes; what is more than there are rows stands for all of them.
#' @param place Of edm_place().
#' @return A list of matrices `rho`, `MAE`, `RMSE` \[libraries, targets of a view\], the size
#'   `LibSize` of each library, and `of`, which of `sizes` it is; the second view's sizes
#'   come after those of the first.
#' @noRd
cross_map <- function(map, libs, targets, sizes, samples, exclusion, direction, place,
                      threads, key) {
  options <- list(k = map$knn, exclusion = exclusion, samples = samples,
                  direction = direction, threads = threads, gpus = gpus_of(place), key = key)
  pred <- if (length(libs) == 1L) libs[[1L]] else which(map$complete & map$valid)
  skill <- .Call(r_ccm, map$points, libs, pred, targets,
                 as.integer(pmin(sizes, .Machine$integer.max)), options)
  skill <- finish_status(skill, "cross mapping", "Take fewer `samples` or surrogates.")
  fitting <- unlist(lapply(libs, \(lib) pmin(sizes, length(lib))))
  libraries <- ifelse(fitting < rep(lengths(libs), each = length(sizes)), samples, 1)
  skill$of <- rep(seq_along(fitting), libraries)
  skill$LibSize <- as.integer(fitting[skill$of])
  skill
}

#' Seconds that all libraries take on the CPU, about
#' @noRd
ccm_seconds <- function(maps, libraries, targets, threads) {
  rows <- length(maps[[1L]]$lib)
  row <- 1e-10 * rows * maps[[1L]]$dims + libraries * (1.5e-7 + 5e-8 * targets)
  length(maps) * rows * row / threads
}

#' Surrogates of a target as it is seen from each row, a matrix \[rows, n\] or NULL
#' @noRd
surrogate_targets <- function(map, n, method, period) {
  if (n == 0) return(NULL)
  missing <- which(is.na(map$observed))
  refuse_if(method %in% c("phase", "twin") && length(missing), "surrogate",
            "\"shuffle\" or \"seasonal\" where a target has missing values",
            sprintf("\"%s\", and \"%s\" is missing in row %d", method, map$target_name,
                    missing[[1L]]))
  pieces <- lapply(unique(map$first), \(first) {
    rows <- which(map$first == first)
    series <- list(map$observed[rows], n, method)
    series$period <- period
    if (method == "twin") series[c("E", "tau")] <- list(max(map$E, 2L), map$tau)
    do.call(surrogate_series, series, quote = TRUE)
  })
  others <- do.call(rbind, pieces)
  apply(others, 2L, \(one) shifted(one, map$Tp, map))
}

#' What was used, for the attribute `parameters`
#' @noRd
ccm_parameters <- function(maps, ...) {
  first <- maps[[1L]]
  c(list(columns = first$columns, target = first$targets, E = first$E, tau = first$tau,
         Tp = first$Tp, knn = first$knn), list(...))
}

#' Mean rho of each library size, a matrix \[sizes, targets\]
#' @noRd
mean_skill <- function(skill, sizes) {
  by_size <- split(seq_along(skill$of), skill$of)
  out <- lapply(by_size, \(rows) apply(skill$rho[rows, , drop = FALSE], 2L, mean_known))
  matrix(unlist(out), length(sizes), byrow = TRUE)
}
