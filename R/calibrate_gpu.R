# Where PTPE overtakes MTPE on this GPU.

#' Calibrate the hybrid GPU strategy
#'
#' Times the strategies PTPE (a thread per episode) and MTPE (several threads per episode)
#' for different numbers and sizes of episodes, finds for each size the number from which
#' PTPE is the faster one, and fits the rule that `engine = "hybrid"` of [mine_episodes()]
#' goes by: MTPE for fewer than `(a / size + b)` times the threads that the GPU runs at
#' once. That repeats figures 9 and 10 and table 1 of Cao et al. (2010) on a GPU of today.
#'
#' The episodes share all but their last unit with their neighbours, as candidates do.
#' Kernels are timed by the GPU's own clock; the first run of each is left out.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes; `NULL`
#'   for [simulate_sym26()].
#' @param sizes Sizes of episodes, in units, from 2 to 64.
#' @param episodes Numbers of episodes, up to a million.
#' @param repeats How often each is timed; the median counts.
#' @param gpu Number of the GPU: a row of `synfire_sitrep()$devices`.
#' @param save Whether to keep the fit for this kind of GPU in
#'   `tools::R_user_dir("synfire", "cache")`, where `"hybrid"` looks for it. Nothing is
#'   written there unless you ask for it.
#' @return A data frame of class `gpu_calibration` with the columns `size`, `episodes`,
#'   `ptpe` and `mtpe` (s). Attributes: `crossover`, a data frame with `size`, `episodes`
#'   (`NA` where the lines do not cross), `capacity` (threads of PTPE the GPU runs at
#'   once) and `share` (their quotient); `fit`, c(a, b); `gpu`, its name. It has a print
#'   and a plot method.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; without a GPU there
#' is one of class `synfire_error_device`.
#' @references
#' Cao Y, Patnaik D, Ponce S, Archuleta J, Butler P, Feng W, Ramakrishnan N (2010).
#' Towards chip-on-chip neuroscience: fast mining of neuronal spike streams using graphics
#' hardware. *Proceedings of the 7th ACM International Conference on Computing
#' Frontiers*, 1-10. \doi{10.1145/1787275.1787277}
#' @seealso [mine_episodes()]
#' @examplesIf nrow(synfire::synfire_sitrep(test_devices = FALSE)$devices) > 0
#' calibrate_gpu(sizes = 2:4, episodes = c(100, 10000), repeats = 3)
#' @export
calibrate_gpu <- function(x = NULL, sizes = 2:8, episodes = 2^(5:14), repeats = 5,
                          save = FALSE, gpu = 1) {
  call <- rlang::current_env()
  x <- if (is.null(x)) simulate_sym26() else as_spike_trains(x)
  sizes <- check_counts(sizes, min = 2, max = 64)
  episodes <- check_counts(episodes, min = 1, max = 1e6)
  repeats <- check_count(repeats, max = 1000)
  gpu <- check_gpus(check_count(gpu), "gpu", arg = "gpu", call = call)
  save <- check_flag(save)
  events <- trains_of(x)
  if (count_in_trials(events) == 0) {
    abort_arg("x", "a recording with spikes", "one without any")
  }
  ticks <- seconds_to_ticks(c(0, 0.005, 0.010, 0.015), attr(x, "resolution"), "x", call)
  ticks <- list(low = ticks[1:3], high = ticks[2:4])
  need_gpu("gpu", call)

  rows <- expand.grid(episodes = episodes, size = sizes)[c("size", "episodes")]
  rows$ptpe <- rows$mtpe <- rows$capacity <- NA_real_
  for (i in seq_len(nrow(rows))) {
    candidates <- random_candidates(rows$episodes[[i]], rows$size[[i]], events$units, 3L)
    for (engine in c("ptpe", "mtpe")) {
      counted <- gpu_count(events, ticks, candidates$units, candidates$intervals,
                           gpu_request(engine, gpu), times = repeats + 1L, call = call)
      rows[[engine]][[i]] <- stats::median(counted$seconds[-1L])
      rows$capacity[[i]] <- counted$report$capacity
    }
  }
  out <- new_calibration(rows, gpu_survey()$name[[gpu + 1L]])
  fit <- attr(out, "fit")
  if (save && !anyNA(fit)) save_crossover(attr(out, "gpu"), fit[["a"]], fit[["b"]])
  out
}

#' Whole numbers within [min, max], increasing
#' @noRd
check_counts <- function(x, arg = rlang::caller_arg(x), min, max, call = rlang::caller_env()) {
  ok <- is_plain_numeric(x) && length(x) > 0L && all(is.finite(x)) &&
    all(x == round(x) & x >= min & x <= max)
  if (!ok) abort_arg(arg, paste0("whole numbers", bounds_text(min, max)), describe(x), call = call)
  sort(unique(as.double(x)))
}

#' Episodes in groups that differ in the last unit alone
#' @noRd
random_candidates <- function(n, size, units, intervals) {
  prefix <- (seq_len(n) - 1L) %/% units + 1L
  draw <- \(from, columns) matrix(sample(from, max(prefix) * columns, replace = TRUE),
                                  max(prefix), columns)[prefix, , drop = FALSE]
  list(units = cbind(draw(units, size - 1L), (seq_len(n) - 1L) %% units + 1L),
       intervals = draw(intervals, size - 1L))
}

#' Where the lines cross, and the rule that follows, from times and capacities
#' @noRd
new_calibration <- function(rows, gpu) {
  crossover <- do.call(rbind, lapply(split(rows, rows$size), function(of) {
    data.frame(size = of$size[[1L]], episodes = crossing(of$episodes, of$ptpe, of$mtpe),
               capacity = of$capacity[[1L]])
  }))
  rownames(crossover) <- NULL
  crossover$share <- crossover$episodes / crossover$capacity
  new_table(rows[c("size", "episodes", "ptpe", "mtpe")], "gpu_calibration",
            list(crossover = crossover, fit = fit_crossover(crossover), gpu = gpu))
}

#' The number of episodes from which PTPE is the faster one for good, straight lines
#' between the logarithms of what was timed; NA where there is no such number
#' @noRd
crossing <- function(episodes, ptpe, mtpe) {
  lead <- log(ptpe / mtpe)
  slower <- which(lead > 0)
  if (length(slower) == 0L || max(slower) == length(lead)) return(NA_real_)
  i <- max(slower)
  part <- lead[[i]] / (lead[[i]] - lead[[i + 1L]])
  exp((1 - part) * log(episodes[[i]]) + part * log(episodes[[i + 1L]]))
}

#' Least squares of share = a / size + b; one size gives b alone
#' @noRd
fit_crossover <- function(crossover) {
  known <- crossover[!is.na(crossover$share), ]
  if (nrow(known) == 0L) return(c(a = NA_real_, b = NA_real_))
  if (nrow(known) == 1L) return(c(a = 0, b = known$share))
  fit <- stats::lm.fit(cbind(1 / known$size, 1), known$share)$coefficients
  c(a = fit[[1L]], b = fit[[2L]])
}

#' @export
print.gpu_calibration <- function(x, ...) {
  fit <- attr(x, "fit")
  cat("# PTPE and MTPE on ", attr(x, "gpu"), "\n", sep = "")
  cat("# PTPE is faster from so many episodes on:\n")
  crossover <- attr(x, "crossover")
  crossover$episodes <- ifelse(is.na(crossover$episodes), "never or always",
                               commas_each(round(crossover$episodes)))
  crossover$share <- signif(crossover$share, 3)
  print(crossover, row.names = FALSE)
  cat(if (anyNA(fit)) "# no fit: the lines do not cross\n"
      else sprintf("# MTPE below f(N) = %s / N + %s of the threads the GPU runs at once\n",
                   signif(fit[["a"]], 3), signif(fit[["b"]], 3)))
  invisible(x)
}

#' Plot a calibration of GPU strategies
#'
#' Time against the number of episodes, a panel a size; a line marks where PTPE becomes
#' the faster one.
#'
#' @param object,x From [calibrate_gpu()].
#' @param ... Not used.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it invisibly.
#' @exportS3Method ggplot2::autoplot
autoplot.gpu_calibration <- function(object, ...) {
  rlang::check_installed("ggplot2", "to draw a calibration.")
  check_no_dots()
  long <- data.frame(
    size = rep(object$size, 2L), episodes = rep(object$episodes, 2L),
    strategy = rep(c("PTPE", "MTPE"), each = nrow(object)),
    ms = 1000 * c(object$ptpe, object$mtpe)
  )
  crossover <- attr(object, "crossover")
  crossover <- crossover[!is.na(crossover$episodes), ]
  panel <- ggplot2::as_labeller(\(size) paste(size, "units"))
  ggplot2::ggplot(long, ggplot2::aes(.data$episodes, .data$ms, colour = .data$strategy)) +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$episodes), data = crossover,
                        colour = syn_muted, linetype = 2) +
    ggplot2::geom_line() +
    ggplot2::geom_point(size = 1) +
    ggplot2::facet_wrap("size", labeller = panel) +
    ggplot2::scale_x_log10() +
    ggplot2::scale_y_log10() +
    ggplot2::scale_colour_manual(values = unname(syn_colours[c("blue", "orange")])) +
    ggplot2::labs(title = paste("One thread or several for an episode on", attr(object, "gpu")),
                  x = "Episodes", y = "Time (ms)", colour = NULL) +
    theme_synfire() +
    caption("Dashed: from so many episodes on, one thread for an episode is faster.")
}

#' @rdname autoplot.gpu_calibration
#' @export
plot.gpu_calibration <- function(x, ...) draw(autoplot.gpu_calibration(x, ...))
