# Forecasts of empirical dynamic modelling: against the slow oracles of the tests, on other
# numbers of threads and other registers, in parts, and scaled.

# Pairs of rows, now and then in any order and overlapping.
draw_pairs <- function(n) {
  one_of(
    c(1, n), c(1, n %/% 2), c(n %/% 2 + 1, n), sort(sample.int(n, 2)),
    if (n >= 8) c(1, n %/% 3, n %/% 2, n) else c(1, n), sort(sample.int(n, min(4, 2 * (n %/% 2)))),
    as.vector(replicate(whole(1, 3), sort(sample.int(n, 2, replace = TRUE))))
  )
}

# Arguments that all functions of forecasts share, and the table in `x`.
draw_forecast <- function(x = draw_table(whole(1, 3), whole(12, 70))) {
  n <- nrow(x)
  if (sometimes(0.1)) x$time <- sort(sample.int(n, replace = TRUE))
  columns <- sample(names(x)[-1L], whole(1, min(2, ncol(x) - 1)))
  args <- c(
    list(x = x, columns = columns),
    some_args(
      target = one_of(names(x)[-1L]), lib = draw_pairs(n), pred = draw_pairs(n),
      tau = one_of(-1, 1, -2, 3), exclusion_radius = one_of(0, 1, 4, n),
      valid_lib = runif(n) < 0.85, segments = sort(sample.int(3, n, replace = TRUE)), p = 0.35
    )
  )
  if (sometimes(0.1)) args$no_time <- TRUE
  if (isTRUE(args$no_time)) args$x <- x[-1L]
  if (sometimes(0.1)) args$ignore_nan <- FALSE
  args
}

# The largest of what is known, as the scale of rounding.
size_of <- function(...) max(1e-300, abs(unlist(list(...))), na.rm = TRUE)

plain_columns <- function(table, columns) unclass(as.list(table)[columns])

fuzz_subject("simplex",
  covers = list(
    simplex = c("x", "columns", "target", "lib", "pred", "E", "Tp", "knn", "tau",
                "exclusion_radius", "embedded", "valid_lib", "no_time", "segments", "ignore_nan",
                "generate", "include_state", "threads"),
    delay_embed = c("x", "columns", "E", "tau", "segments", "no_time"),
    prediction_error = c("x", "predicted", "na_rm")
  ),
  run = function(world) {
    args <- draw_forecast()
    args <- c(args, list(E = whole(1, 5)), some_args(
      Tp = whole(-4, 5), knn = one_of(whole(0, 9), 60), embedded = TRUE, p = 0.4
    ))
    if (isTRUE(args$embedded)) args$E <- length(args$columns)
    found <- attempt("simplex", args)
    if (refused(found)) return(compare_refusal("simplex", args, found))
    compare_simplex(args, found)
    compare_state("simplex", args, found)
    compare_runs("simplex", args, found)
    compare_parts(args, found)
    compare_embedding(args, found)
    compare_error(found)
    compare_generated("simplex", args)
  }
)

# With ignore_nan = FALSE, a call is refused that would have left rows out, and no other.
compare_refusal <- function(name, args, found) {
  if (!isFALSE(args$ignore_nan)) return(invisible())
  if (!grepl("`ignore_nan` must be", cli::ansi_strip(conditionMessage(found)), fixed = TRUE)) {
    return(invisible())
  }
  args$ignore_nan <- TRUE
  if (refused(attempt(name, args))) return(invisible())
  used <- as.matrix(args$x[args$columns])
  same(all(is.finite(used)), FALSE, "refused for a value that is missing")
}

# What predictions were made from: rows and distances of the slow oracle, and the predictions
# again.
compare_state <- function(name, args, found) {
  kept <- attempt(name, c(args, list(include_state = TRUE)))
  state <- attr(kept, "state")
  attr(kept, "state") <- NULL
  same(kept, found, paste0(name, "() with its state and without"))
  k <- ncol(state$neighbours)
  slow <- oracles()$oracle_all_neighbours(unname(state$points), state$lib, state$pred, k,
                                             args$exclusion_radius %||% 0)
  same(state$neighbours, slow$row, paste0("neighbours of ", name, "() and the slow ones"))
  scale <- size_of(slow$distance)
  same(state$distances / scale, slow$distance / scale,
       paste0("distances of ", name, "() and the slow ones"), tolerance = 1e-12)
}

# The table by the slow oracle, row by row.
compare_simplex <- function(args, found) {
  oracle <- oracles()
  given <- args[setdiff(names(args), c("no_time", "threads", "ignore_nan"))]
  if (isTRUE(args$no_time)) given$x <- cbind(time = seq_len(nrow(args$x)), args$x)
  if (identical(given$knn, 0)) given$knn <- NULL
  if (length(given$columns) > 1L && is.null(given$knn)) given$knn <- given$E + 1
  slow <- do.call(oracle$oracle_series, given)
  parts <- c("Observations", "Predictions", "Pred_Variance")
  if (is.null(slow)) return(same(nrow(found), 0L, "simplex() and no rows"))
  for (part in parts) {
    scale <- size_of(slow$Observations, slow$Predictions)
    if (part == "Pred_Variance") scale <- scale^2
    same(found[[part]] / scale, slow[[part]] / scale, paste("simplex() and the slow one,", part),
         tolerance = 1e-9)
  }
}

# Threads never change a result.
compare_runs <- function(name, args, found) {
  for (threads in c(1, 2, 16)) {
    args$threads <- threads
    again <- attempt(name, args)
    same(found, again, sprintf("%s() with %d threads", name, threads))
  }
}

# Any rows to predict from give what they give among others; other names and a factor of
# 2^k change nothing else.
compare_parts <- function(args, found) {
  n <- nrow(args$x)
  if (is.null(args$pred) && n > 3) {
    some <- sort(sample.int(n, 2))
    part <- attempt("simplex", c(args, list(pred = some)))
    if (!refused(part)) {
      time <- names(part)[[1L]]
      if (is.null(args$segments) && !anyDuplicated(args$x[[time]])) {
        at <- match(part[[time]], found[[time]])
        known <- !is.na(part$Predictions)
        same(part$Predictions[known], found$Predictions[at][known], "a part of the rows")
      }
    }
  }
  renamed <- args
  names(renamed$x) <- paste0("other ", names(args$x))
  for (name in c("columns", "target")) {
    if (!is.null(args[[name]])) renamed[[name]] <- paste0("other ", args[[name]])
  }
  other <- attempt("simplex", renamed)
  if (!refused(other)) same(other$Predictions, found$Predictions, "columns with other names")
  # Distances that 1e-6 is nothing against are scaled with the data.
  used <- unique(c(args$columns, args$target))
  steps <- unlist(lapply(args$x[used], function(v) diff(sort(unique(v[is.finite(v)])))))
  if (length(steps) == 0L || min(steps) < 1e-4) return()
  scaled <- args
  scaled$x[used] <- lapply(args$x[used], function(v) v * 64)
  other <- attempt("simplex", scaled)
  if (!refused(other)) {
    same(other$Predictions / 64, found$Predictions, "a series times 64",
         tolerance = 1e-9 * size_of(found$Predictions))
  }
}

# delay_embed(), and a forecast from its table.
compare_embedding <- function(args, found) {
  given <- args[intersect(names(args), c("x", "columns", "E", "tau", "segments", "no_time"))]
  given$E <- whole(1, 4)
  table <- attempt("delay_embed", given)
  if (refused(table)) return()
  oracle <- oracles()
  segment <- cumsum(c(TRUE, diff(args$segments %||% rep(1, nrow(args$x))) != 0))
  slow <- lapply(args$columns, function(name) {
    v <- as.double(args$x[[name]])
    v[!is.finite(v)] <- NA
    do.call(rbind, lapply(split(v, segment), oracle$oracle_embed, given$E, args$tau %||% -1))
  })
  points <- unname(as.matrix(as.data.frame(table)[if (isTRUE(args$no_time)) TRUE else -1L]))
  same(points, do.call(cbind, slow), "delay_embed() and the slow one")
}

compare_error <- function(found) {
  y <- found$Observations
  p <- found$Predictions
  error <- attempt("prediction_error", list(y, p))
  same(error, attempt("prediction_error", list(as.data.frame(found))), "a table and its columns")
  known <- !is.na(y) & !is.na(p)
  if (any(known)) {
    size <- size_of(y, p)
    same(error$MAE / size, mean(abs(y - p)[known]) / size, "MAE", tolerance = 1e-12)
    same(error$RMSE / size, sqrt(mean(((y - p) / size)[known]^2)), "RMSE", tolerance = 1e-12)
  }
  whole <- attempt("prediction_error", list(y, p, na_rm = FALSE))
  if (!all(known)) same(anyNA(whole$MAE), TRUE, "na_rm = FALSE with a missing value")
}

# A series that grows by one forecast at a time.
compare_generated <- function(name, args) {
  args <- args[intersect(names(args), c("x", "columns", "lib", "E", "theta", "no_time",
                                        "exclusion_radius"))]
  # In longer data, pairs but the last may hold the row that was the end.
  if (any(utils::head(args$lib, -1L) == nrow(args$x))) return()
  args$columns <- args$columns[[1L]]
  args$E <- whole(1, 4)
  steps <- whole(1, 4)
  found <- attempt(name, c(args, list(generate = steps)))
  if (refused(found)) return()
  grown <- args
  grown$lib <- args$lib %||% c(1, nrow(args$x))
  table <- if (name == "smap") found$predictions else found
  grown$x <- args$x
  for (k in seq_len(steps)) {
    n <- nrow(grown$x)
    one <- attempt(name, c(grown, list(pred = c(n, n))))
    if (refused(one)) return()
    if (name == "smap") one <- one$predictions
    scale <- size_of(args$x[[args$columns]])
    got <- if (nrow(one)) one$Predictions[[nrow(one)]] else NA_real_
    # Where the data go on, the library may hold the row that is forecast.
    same(table$Predictions[[k + 1L]] / scale, got / scale,
         sprintf("%s(generate = ), step %d", name, k), tolerance = 1e-7)
    if (is.na(got)) return()
    row <- grown$x[n, , drop = FALSE]
    row[[args$columns]] <- got
    if (!isTRUE(args$no_time)) row[[1L]] <- n + 1
    grown$x <- rbind(grown$x, row)
  }
}

fuzz_subject("smap",
  covers = list(
    smap = c("x", "columns", "target", "lib", "pred", "E", "Tp", "knn", "tau", "theta",
             "exclusion_radius", "embedded", "ridge", "valid_lib", "no_time", "segments",
             "ignore_nan", "generate", "include_state", "device", "gpus", "threads"),
    predict_nonlinear = c("x", "columns", "target", "lib", "pred", "theta", "E", "Tp", "knn",
                          "tau", "exclusion_radius", "embedded", "ridge", "valid_lib",
                          "no_time", "segments", "ignore_nan", "device", "gpus", "threads")
  ),
  run = function(world) {
    args <- draw_forecast()
    args <- c(args, list(E = whole(1, 5), theta = one_of(0, 2, 0.3, 9, 25)), some_args(
      Tp = whole(-3, 4), knn = one_of(whole(0, 20), 70), ridge = one_of(0, 1e-6, 0.5), embedded = TRUE,
      p = 0.3
    ))
    if (isTRUE(args$embedded)) args$E <- length(args$columns)
    found <- attempt("smap", args)
    if (refused(found)) return(invisible())
    compare_runs("smap", args, found)
    compare_smap(args, found)
    compare_state("smap", args, found)
    compare_registers(args)
    compare_smap_devices(args, found, world)
    args$theta <- NULL
    theta <- sort(runif(3, 0, 5))
    skill <- attempt("predict_nonlinear", c(args, list(theta = theta)))
    if (!refused(skill)) {
      alone <- vapply(theta, function(one) {
        prediction_error(attempt("smap", c(args, list(theta = one)))$predictions)$rho
      }, 0)
      same(skill$rho, alone, "predict_nonlinear() and smap()", tolerance = 1e-12)
    }
    if (sometimes(0.3)) compare_generated("smap", c(args, list(theta = 1)))
  }
)

# What smap() works on, by its own account of rows.
smap_problem <- function(args) {
  given <- args[intersect(names(args), names(formals(synfire:::edm_data)))]
  data <- do.call(synfire:::edm_data, given)
  data$points <- synfire:::points_matrix(data$points)
  knn <- args$knn %||% 0
  if (knn == 0) knn <- max(1, min(length(data$all_lib) - 1, length(data$lib)))
  c(data, list(k = min(knn, length(data$lib))))
}

# Fits by svd(), where the rows tell coefficients so well that two ways must agree.
compare_smap <- function(args, found) {
  data <- smap_problem(args)
  pred <- unique(data$pred)
  if (length(pred) > 12) pred <- sort(sample(pred, 12))
  if (length(pred) == 0) return()
  slow <- oracles()$oracle_smap(data$points, data$lib, pred, data$target, args$theta,
                                   data$k, args$exclusion_radius %||% 0, args$ridge %||% 0)
  at <- data$place[match(pred, data$pred)]
  slow_singular <- matrix(slow$singular[, , 1], length(pred))
  condition <- slow_singular[, 1] / apply(slow_singular, 1, min)
  well <- !is.na(condition) & condition < 1e5
  same(is.na(found$predictions$Predictions[at]), is.na(slow$predictions[, 1]),
       "smap() and the slow one, where there is none")
  scale <- size_of(data$observed, slow$predictions[well, 1])
  same(found$predictions$Predictions[at][well] / scale, slow$predictions[well, 1] / scale,
       "smap() and the slow one, predictions", tolerance = 1e-6)
  got <- unname(as.matrix(found$coefficients[-1L]))[at[well], , drop = FALSE]
  want <- matrix(slow$coefficients[, , 1], length(pred))[well, , drop = FALSE]
  if (!any(well)) return()
  # What each adds to a prediction: where all is 0, coefficients are rounding alone.
  adds <- c(1, apply(data$points, 2L, size_of))
  got <- sweep(got, 2L, adds, "*")
  want <- sweep(want, 2L, adds, "*")
  scale <- size_of(data$observed, want)
  same(got / scale, want / scale, "smap() and the slow one, coefficients", tolerance = 1e-6)
}

# The GPU makes the same models, where the rows tell them so well that two ways must agree.
compare_smap_devices <- function(args, cpu, world) {
  gpu <- on_device("smap", args, "gpu", draw_gpus(world), world)
  several <- args
  several$theta <- c(0, sort(runif(whole(1, 4), 0, 20)))
  skill <- on_device("predict_nonlinear", several, "gpu", draw_gpus(world), world)
  if (!world$gpu) return()
  values <- as.matrix(cpu$singular_values[-1L])
  well <- which(values[, 1] / values[, ncol(values)] < 1e5)
  for (part in c("Predictions", "Pred_Variance")) {
    scale <- size_of(cpu$predictions$Observations)^if (part == "Predictions") 1 else 2
    same(gpu$predictions[[part]][well] / scale, cpu$predictions[[part]][well] / scale,
         paste(part, "of smap() on a GPU and the CPU"), tolerance = 1e-7)
  }
  for (part in c("coefficients", "singular_values")) {
    got <- as.matrix(gpu[[part]][-1L])
    want <- as.matrix(cpu[[part]][-1L])
    same(is.na(got), is.na(want), paste(part, "on a GPU and the CPU, where there are none"))
    scale <- size_of(want[well, ])
    same(unname(got[well, ]) / scale, unname(want[well, ]) / scale,
         paste(part, "on a GPU and the CPU"), tolerance = 1e-6)
  }
  same(is.na(skill$rho), is.na(attempt("predict_nonlinear", several)$rho),
       "predict_nonlinear() on a GPU and the CPU, where there is no skill")
}

# Registers of other widths, and models made one or many at a time, give the same except for
# the last digits.
compare_registers <- function(args) {
  data <- smap_problem(args)
  data$pred <- sort(unique(data$pred))
  if (length(data$pred) == 0) return()
  at <- seq_along(data$pred)
  smap <- function(bits, way = 1) {
    .Call(synfire:::r_edm_smap, data$points, data$lib, data$pred, data$target,
          as.double(args$theta),
          list(k = data$k, exclusion = args$exclusion_radius %||% 0, threads = 1,
               gpus = NULL, ridge = args$ridge %||% 0, vector_bits = bits, way = way,
               shown = list(rows = length(at), place = at, at = at)))
  }
  simplex <- function(bits) {
    .Call(synfire:::r_edm_simplex, data$points, data$lib, data$pred, data$target,
          list(k = data$k, exclusion = args$exclusion_radius %||% 0, gpus = NULL,
               threads = 1, vector_bits = bits))
  }
  one <- smap(1)
  singular <- do.call(cbind, one$singular)
  well <- which(singular[, 1] / apply(singular, 1, min) < 1e5)
  near <- simplex(1)
  for (bits in c(1, 256, 512)) {
    for (way in 1:2) {
      other <- smap(bits, way)
      scale <- size_of(one$predictions[well, 1], data$observed)
      same(one$predictions[well, 1] / scale, other$predictions[well, 1] / scale,
           sprintf("smap() with %d bits, way %d", bits, way), tolerance = 1e-7)
      same(one$variance[well, 1] / scale^2, other$variance[well, 1] / scale^2,
           sprintf("variance of smap() with %d bits, way %d", bits, way), tolerance = 1e-7)
      most <- max(abs(singular[well, ]), 0, na.rm = TRUE)
      same(singular[well, ] / most,
           do.call(cbind, other$singular)[well, ] / most,
           sprintf("singular values of smap() with %d bits, way %d", bits, way),
           tolerance = 1e-7)
    }
    same(near, simplex(bits), sprintf("simplex() with %d bits", bits))
  }
}

fuzz_subject("edm_sweeps",
  covers = list(
    embed_dimension = "x",
    embed_dimension.data.frame = c("columns", "target", "lib", "pred", "E_max", "Tp", "tau",
                                   "exclusion_radius", "embedded", "valid_lib", "no_time",
                                   "segments", "ignore_nan", "validation", "threads"),
    predict_interval = c("x", "columns", "target", "lib", "pred", "Tp_max", "E", "knn", "tau",
                         "exclusion_radius", "embedded", "valid_lib", "no_time", "segments",
                         "ignore_nan", "threads"),
    predict_exclusion_radius = c("x", "columns", "target", "lib", "pred", "exclusion_radius",
                                 "E", "Tp", "knn", "tau", "embedded", "valid_lib", "no_time",
                                 "segments", "ignore_nan", "threads")
  ),
  run = function(world) {
    args <- draw_forecast()
    # NA with fewer library points than the `used` neighbours.
    rho <- function(..., used = NULL) {
      one <- attempt("simplex", utils::modifyList(args, list(...), keep.null = TRUE))
      few <- !is.null(used) && !refused(one) && attr(one, "parameters")$knn < used
      if (refused(one) || few) NA_real_ else prediction_error(one)$rho
    }
    compare <- function(skill, alone, what, name, given) {
      if (refused(skill)) return()
      same(skill$rho, alone, paste0(what, " and simplex()"), tolerance = 1e-8)
      given$threads <- 2
      same(skill, attempt(name, given), paste(what, "with two threads"))
    }
    more <- some_args(Tp = sample(-3:4, whole(1, 3)), validation = one_of("loo", "split"),
                      embedded = TRUE)
    given <- c(args, list(E_max = whole(1, 7)), more)
    if (is.null(more$embedded) && sometimes(0.3)) given$tau <- sample(c(-1, -2, 3), whole(1, 3))
    skill <- attempt("embed_dimension", given)
    halves <- if (identical(more$validation, "split") && is.null(args$lib) && is.null(args$pred)) {
      n <- nrow(args$x)
      list(lib = c(1, n %/% 2), pred = c(n %/% 2 + 1, n))
    }
    dims <- seq_len(min(given$E_max, if (isTRUE(more$embedded)) length(args$columns) else Inf))
    all <- expand.grid(E = dims, tau = given$tau %||% -1, Tp = more$Tp %||% 1)
    alone <- vapply(seq_len(nrow(all)), function(k) {
      columns <- if (isTRUE(more$embedded)) args$columns[seq_len(all$E[[k]])] else args$columns
      target <- args$target %||% args$columns[[1L]]
      do.call(rho, c(list(E = all$E[[k]], tau = all$tau[[k]], Tp = all$Tp[[k]],
                          embedded = isTRUE(more$embedded), columns = columns, target = target,
                          used = all$E[[k]] + 1), halves))
    }, 0)
    compare(skill, alone, "embed_dimension()", "embed_dimension", given)

    E <- whole(1, 4)
    knn <- some_args(knn = whole(0, 8), embedded = TRUE, p = 0.3)
    if (isTRUE(knn$embedded)) E <- length(args$columns)
    given <- c(args, list(Tp_max = whole(1, 5), E = E), knn)
    skill <- attempt("predict_interval", given)
    used <- attr(skill, "parameters")$knn
    alone <- vapply(seq_len(given$Tp_max), function(Tp) {
      do.call(rho, c(list(E = E, Tp = Tp, used = used), knn))
    }, 0)
    compare(skill, alone, "predict_interval()", "predict_interval", given)

    args$exclusion_radius <- NULL
    given <- c(args, list(E = E, exclusion_radius = sample.int(9, 3)), knn,
               some_args(Tp = whole(-2, 3)))
    skill <- attempt("predict_exclusion_radius", given)
    alone <- vapply(given$exclusion_radius, function(radius) {
      do.call(rho, c(list(E = E, exclusion_radius = radius, Tp = given$Tp %||% 1), knn))
    }, 0)
    compare(skill, alone, "predict_exclusion_radius()", "predict_exclusion_radius", given)
  }
)

fuzz_subject("multiview",
  covers = list(multiview = c(
    "x", "columns", "target", "lib", "pred", "D", "E", "tau", "Tp", "knn", "exclusion_radius",
    "multiview", "train_lib", "exclude_target", "valid_lib", "segments", "no_time",
    "ignore_nan", "threads"
  )),
  run = function(world) {
    args <- draw_forecast(draw_table(whole(2, 4), whole(20, 60)))
    args$columns <- sample(setdiff(names(args$x), if (isTRUE(args$no_time)) "" else "time"),
                           whole(1, ncol(args$x) - 1 - !isTRUE(args$no_time)) + 1)
    args <- c(args, some_args(D = whole(0, 3), E = whole(1, 3), Tp = whole(-2, 3),
                              knn = one_of(whole(0, 6), 40), multiview = one_of(whole(0, 4), 90),
                              train_lib = FALSE, exclude_target = TRUE, p = 0.4))
    found <- attempt("multiview", args)
    if (refused(found)) return(invisible())
    same(found, attempt("multiview", c(args, list(threads = 2))), "multiview() with two threads")
    compare_views(args, found)
  }
)

# Each view is a forecast of simplex() from columns of delay_embed().
compare_views <- function(args, found) {
  n <- nrow(args$x)
  x <- if (isTRUE(args$no_time)) cbind(time = seq_len(n), args$x) else args$x
  target <- args$target %||% args$columns[[1L]]
  lags <- attempt("delay_embed", c(
    list(x = x, columns = args$columns, E = args$E %||% 1),
    args[intersect(names(args), c("tau", "segments"))]
  ))
  table <- data.frame(as.data.frame(lags), the_target = x[[target]], check.names = FALSE)
  rows <- args[intersect(names(args), c("lib", "pred"))]
  if (length(rows) == 0L) rows <- list(lib = c(1, n %/% 2), pred = c(n %/% 2 + 1, n))
  D <- sum(grepl("^Col_", names(found$view)))
  names <- as.matrix(found$view[paste0("name_", seq_len(D))])
  knn <- attr(found$predictions, "parameters")$knn
  forecast <- lapply(seq_len(nrow(names)), function(k) {
    one <- attempt("simplex", c(
      list(x = table, columns = unname(names[k, ]), target = "the_target", embedded = TRUE,
           knn = knn),
      rows, args[intersect(names(args), c("Tp", "exclusion_radius", "valid_lib", "segments"))]
    ))
    if (refused(one) || attr(one, "parameters")$knn < knn) rep(NA_real_, nrow(found$predictions)) else one$Predictions
  })
  mean <- rowMeans(do.call(cbind, forecast), na.rm = TRUE)
  mean[is.nan(mean)] <- NA
  scale <- size_of(mean)
  same(found$predictions$Predictions / scale, mean / scale, "multiview() and simplex()",
       tolerance = 1e-10)
  rho <- vapply(forecast, function(p) {
    prediction_error(found$predictions$Observations, p)$rho
  }, 0)
  same(found$view$rho, rho, "rho of views and of simplex()", tolerance = 1e-8)
}

fuzz_subject("series",
  covers = list(
    surrogate_series = c("x", "n_surrogates", "surrogate", "period", "spline", "alpha", "E",
                         "tau", "recurrence"),
    simulate_coupled_maps = c("steps", "wiring", "delay", "series", "causes", "strength", "r",
                              "noise", "transient")
  ),
  run = function(world) {
    if (sometimes(0.6)) surrogates_of(draw_series(whole(2, 90))) else simulated()
  }
)

# What a surrogate keeps.
surrogates_of <- function(x) {
  method <- one_of("shuffle", "phase", "seasonal", "twin", "shift")
  args <- c(list(x = x, n_surrogates = whole(1, 4), surrogate = method), switch(method,
    seasonal = c(some_args(period = whole(2, 12), p = 0.9),
                 some_args(spline = TRUE, alpha = one_of(0, 1e-3, size_of(x)), p = 0.3)),
    twin = some_args(E = whole(1, 4), tau = one_of(-1, 1, -2), recurrence = between(0.01, 1)),
    if (sometimes(0.1)) some_args(period = whole(2, 12), E = whole(1, 4))
  ))
  again <- function(args) {
    set.seed(7)
    attempt("surrogate_series", args)
  }
  made <- again(args)
  if (refused(made)) return()
  same(dim(made), c(length(x), as.integer(args$n_surrogates)), "rows and columns of surrogates")
  same(made, again(args), "surrogates of the same seed")
  args$n_surrogates <- args$n_surrogates + 2
  same(made, again(args)[, seq_len(ncol(made)), drop = FALSE], "surrogates among more of them")
  scale <- size_of(x)
  for (k in seq_len(ncol(made))) {
    one <- made[, k]
    if (method == "shuffle") same(sort(one), sort(as.double(x)), "the values of a shuffle")
    if (method == "twin") same(all(one %in% x), TRUE, "the values of twins")
    if (method == "phase") {
      same(Mod(fft(one / scale)), Mod(fft(x / scale)), "the spectrum", tolerance = 1e-9 * length(x))
    }
    if (method %in% c("shuffle", "seasonal")) same(is.na(one), is.na(x), "missing values")
    if (method == "seasonal" && (args$alpha %||% 0) == 0 && is.null(args$spline)) {
      same(mean(one / scale, na.rm = TRUE), mean(x / scale, na.rm = TRUE), "the mean",
           tolerance = 1e-9)
    }
  }
}

simulated <- function() {
  n <- whole(1, 5)
  wiring <- matrix(runif(n * n, 0, 1 / n) * rbinom(n * n, 1, 0.7), n)
  diag(wiring) <- 0
  delay <- one_of(whole(1, 4), matrix(sample(4, n * n, TRUE), n))
  args <- c(list(steps = whole(1, 40)), if (sometimes()) list(wiring = wiring, delay = delay), some_args(
    series = whole(1, 12), causes = whole(0, 3), strength = between(0, 0.4),
    r = between(1, 4), noise = between(0, 1), transient = whole(0, 60)
  ))
  again <- function() {
    set.seed(3)
    attempt("simulate_coupled_maps", args)
  }
  made <- again()
  if (refused(made)) return()
  same(made, again(), "a simulation of the same seed")
  same(nrow(made), as.integer(args$steps), "rows of a simulation")
  same(all(is.finite(made)), TRUE, "all values are finite")
  same(dim(attr(made, "truth")), rep(ncol(made), 2L), "the truth of a simulation")
  if (is.null(args$noise)) same(all(made >= 0 & made <= 1), TRUE, "coupled maps lie between 0 and 1")
}
