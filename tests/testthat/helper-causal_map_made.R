# Causal maps made by hand, for tests of what is done with maps.

# Four groups around a ring, with series 3 and 5 driving all others.
made_map <- function(n = 12, lag = FALSE, p_value = FALSE, convergence = FALSE) {
  at <- seq_len(n)
  apart <- abs(outer(at, at, "-"))
  apart <- pmin(apart, n - apart)
  # Numbers that look random, and are the same everywhere.
  noise <- outer(at, at, \(i, j) ((i * 37 + j * 59 + i * j * 11) %% 101) / 1010)
  rho <- 0.5 * exp(-apart / 3) + noise
  rho[, intersect(c(3, 5), at)] <- rho[, intersect(c(3, 5), at)] + 0.3
  diag(rho) <- 0.97
  names <- paste0("s", at)
  dimnames(rho) <- list(names, names)
  layer <- function(wanted, values) if (wanted) matrix(values, n, n, dimnames = dimnames(rho))
  map_of(rho, layer(lag, -(seq_len(n * n) %% 4)), layer(p_value, (seq_len(n * n) %% 50) / 50),
         layer(convergence, noise))
}

map_of <- function(rho, ..., E = NULL) {
  if (is.null(E)) E <- rep_len(c(3L, 2L, 5L, 3L), ncol(rho))
  synfire:::new_causal_map(
    rho, stats::setNames(E, colnames(rho)), list(E_max = 20, tau = -1, Tp = 0),
    quote(causal_map(x)), c(dimensions = 0.5, map = 0.8, total = 1.31), "cpu", ...
  )
}

made_links <- function() {
  synfire:::new_causal_links(
    c("b", "c", "a", "c"), c("a", "b", "c", "a"), c(0.5, 0.7, 0.2, 0.6), c("a", "b", "c", "d"),
    c(a = 1L, b = 2L, c = 3L, d = 4L), list(tau = -1, Tp = 0, top = 2), quote(causal_map(x)),
    c(total = 1), "cpu", p_value = c(0.01, 0.02, 0.5, 0.03)
  )
}

# A map that is nowhere as a whole: whoever reads it gets it in blocks of three libraries.
blocked_map <- function(map) {
  about <- attributes(map)[c("E", "parameters", "call", "elapsed", "device")]
  out <- structure(list(map = map), class = c("blocked_map", "causal_map"))
  attributes(out) <- c(attributes(out), about)
  out
}

local_blocked_maps <- function(frame = parent.frame()) {
  methods <- list(
    dim = \(x) dim(unclass(x)$map),
    dimnames = \(x) dimnames(unclass(x)$map),
    "[" = \(x, i, j, ..., drop = TRUE) unclass(x)$map[i, j, drop = drop],
    map_layers = \(x) synfire:::map_layers(unclass(x)$map),
    map_part = \(x, layer, rows, columns) {
      synfire:::map_part(unclass(x)$map, layer, rows, columns)
    },
    map_blocks = function(x, f, layers = "rho") {
      map <- unclass(x)$map
      rows <- seq_len(nrow(map))
      lapply(unname(split(rows, (rows - 1) %/% 3)), \(rows) {
        do.call(f, c(list(rows), lapply(layers, \(layer) {
          values <- if (layer == "rho") as.matrix(map) else attr(map, layer)
          unname(values[rows, , drop = FALSE])
        })))
      })
    }
  )
  for (name in names(methods)) {
    registerS3method(name, "blocked_map", methods[[name]], asNamespace("synfire"))
  }
}

# The obvious way, pair after pair.
slow_links <- function(map, diagonal = FALSE) {
  rows <- list()
  for (i in rownames(map)) for (j in colnames(map)) {
    if (i == j && !diagonal) next
    rows[[length(rows) + 1]] <- data.frame(cause = j, effect = i, rho = as.matrix(map)[i, j])
  }
  do.call(rbind, rows)
}
