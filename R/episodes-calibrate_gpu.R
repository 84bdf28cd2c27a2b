# Where PTPE overtakes MTPE on this GPU.

#' Calibrate the hybrid GPU strategy
#'
#' Times the strategies PTPE (a thread per episode) and MTPE (several threads per episode)
#' for different numbers and sizes of episodes, finds for each size the number from which
#' PTPE should take over, and fits the rule that `engine = "hybrid"` of [mine_episodes()]
#' goes by: MTPE for fewer than `(a / size + b)` times the threads that the GPU runs at
#' once. That repeats figures 9 and 10 and table 1 of Cao et al. (2011) on a GPU of today.
#'
#' The episodes share all but their last unit with their neighbours, as candidates do.
#' Kernels are timed by the GPU's own clock; the first run of each is left out.
#'
#' # How the rule is found
#' All runs take part. For each size, PTPE takes over at the number of episodes that
#' makes the sum of `log(time)` over all numbers and runs smallest; between two numbers
#' that were timed, straight lines in logarithms say where. Each run by itself gives such
#' a number too, and their spread is the standard error. A size has no crossing where
#' changing over saves less than 1 % of the time, on average, or where half of the runs or
#' fewer agree that there is one. The fit of a and b is by least squares, each size
#' weighted by one over its squared standard error. Then the rule is compared with both
#' strategies alone: `cost` is how much longer than the faster of the two each takes, on
#' average over all that was timed. Where no size has a crossing, or one strategy alone
#' costs less than the rule, that becomes the rule: `a = 0, b = Inf` is MTPE throughout,
#' `a = 0, b = 0` PTPE throughout.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes; `NULL`
#'   for [simulate_sym26()].
#' @param sizes Sizes of episodes, in units, from 2 to 64.
#' @param episodes Numbers of episodes, up to a million. The crossing can only be found
#'   within their range; where there is one, it is near the number of threads that the
#'   GPU runs at once, some hundred thousand on a large one.
#' @param repeats How often each is timed.
#' @param gpu Number of the GPU: a row of `synfire_sitrep()$devices`.
#' @param save Whether to keep the fit for this kind of GPU in
#'   `tools::R_user_dir("synfire", "cache")`, where `"hybrid"` looks for it. Nothing is
#'   written there unless you ask for it.
#' @return A data frame of class `gpu_calibration` with the columns `size`, `episodes`,
#'   `ptpe` and `mtpe` (s, medians). Attributes: `runs`, the same for each `run`;
#'   `crossover`, a data frame with `size`, `episodes` (`NA` where there is no crossing),
#'   `capacity` (threads of PTPE the GPU runs at once), `share` (their quotient), `error`
#'   (standard error of the share) and `crossed` (runs with a crossing); `fit`, c(a, b),
#'   the rule; `fit_error`, their standard errors, `NA` for a strategy alone; `forms`, both
#'   forms that figure 10 of Cao et al. (2011) compares, a / N + b and a * N + b, with `a`,
#'   `b` and `left`, the share of the variance of the crossovers that the form does not
#'   explain (`NA` with fewer than three crossovers); `cost`,
#'   c(rule, mtpe, ptpe), the geometric mean of time over that of the faster strategy,
#'   less 1, where `rule` is the fitted one, `NA` without a crossing; `gpu`, its name. It
#'   has a print and a plot method.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; without a GPU there
#' is one of class `synfire_error_device`.
#' @references
#' Cao Y, Patnaik D, Ponce S, Archuleta J, Butler P, Feng W, Ramakrishnan N (2010).
#' Towards chip-on-chip neuroscience: fast mining of neuronal spike streams using graphics
#' hardware. *Proceedings of the 7th ACM International Conference on Computing
#' Frontiers*, 1-10. \doi{10.1145/1787275.1787277}
#'
#' Cao Y, Patnaik D, Ponce S, Archuleta J, Butler P, Feng W, Ramakrishnan N (2011).
#' Parallel mining of neuronal spike streams on graphics processing units.
#' *International Journal of Parallel Programming*, 40, 605-632.
#' \doi{10.1007/s10766-011-0181-6}
#' @seealso [mine_episodes()]. The sources have a page on this paper,
#'   `vignettes/paper-episodes.Rmd`.
#' @examplesIf nrow(synfire::synfire_sitrep(test_devices = FALSE)$devices) > 0
#' calibrate_gpu(sizes = 2:4, episodes = c(100, 10000), repeats = 3)
#' @export
calibrate_gpu <- function(x = NULL, sizes = 2:8, episodes = 2^c(6, 9, 12, 14:18),
                          repeats = 5, save = FALSE, gpu = 1) {
  x <- if (is.null(x)) simulate_sym26() else as_spike_trains(x)
  sizes <- check_counts(sizes, min = 2, max = 64)
  episodes <- check_counts(episodes, min = 1, max = 1e6)
  repeats <- check_count(repeats, max = 1000)
  gpu <- check_gpus(check_count(gpu), "gpu", arg = "gpu")
  save <- check_flag(save)
  events <- trains_of(x)
  refuse_if(count_in_trials(events) == 0, "x", "a recording with spikes", "one without any")
  ticks <- seconds_to_ticks(c(0, 0.005, 0.010, 0.015), attr(x, "resolution"), "x")
  ticks <- list(low = ticks[1:3], high = ticks[2:4])
  need_gpu("gpu")

  cells <- expand.grid(episodes = episodes, size = sizes)
  runs <- lapply(seq_len(nrow(cells)), function(i) {
    n <- cells$episodes[[i]]
    size <- cells$size[[i]]
    candidates <- random_candidates(n, size, events$units, 3L)
    counted <- lapply(c(ptpe = "ptpe", mtpe = "mtpe"), function(engine) {
      gpu_count(events, ticks, candidates$units, candidates$intervals,
                gpu_request(engine, gpu), times = repeats + 1L)
    })
    list2DF(list(size = rep(size, repeats), episodes = rep(n, repeats), run = seq_len(repeats),
                 ptpe = counted$ptpe$seconds[-1L], mtpe = counted$mtpe$seconds[-1L],
                 capacity = rep(counted$ptpe$report$capacity, repeats)))
  })
  out <- new_calibration(do.call(rbind, runs), gpu_survey()$name[[gpu + 1L]])
  fit <- attr(out, "fit")
  if (save) save_crossover(attr(out, "gpu"), fit[["a"]], fit[["b"]])
  out
}

#' Whole numbers within [min, max], increasing
#' @noRd
check_counts <- function(x, arg = rlang::caller_arg(x), min, max) {
  ok <- is_plain_numeric(x) && length(x) > 0L && all(is.finite(x)) &&
    all(x == round(x) & x >= min & x <= max)
  if (!ok) abort_arg(arg, paste0("whole numbers", bounds_text(min, max)), describe(x))
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

#' Where the lines cross, and the rule that follows
#'
#' @param runs A data frame with a row for each `run` of each `size` and number of
#'   `episodes`: seconds of `ptpe` and `mtpe`, and the `capacity` for the size.
#' @noRd
new_calibration <- function(runs, gpu) {
  rows <- stats::aggregate(cbind(ptpe, mtpe) ~ episodes + size, runs, stats::median)
  crossover <- do.call(rbind, lapply(split(runs, runs$size), crossover_of))
  rownames(crossover) <- NULL
  fitted <- fit_crossover(crossover)
  cost <- cost_of_rule(rows, crossover, fitted$fit)
  # The first of equals, so that a rule is only given up for something better.
  best <- names(which.min(cost))
  if (best != "rule") {
    fitted <- list(fit = c(a = 0, b = c(mtpe = Inf, ptpe = 0)[[best]]),
                   error = c(a = NA_real_, b = NA_real_))
  }
  new_table(rows[c("size", "episodes", "ptpe", "mtpe")], "gpu_calibration",
            list(runs = runs[c("size", "episodes", "run", "ptpe", "mtpe")], crossover = crossover,
                 fit = fitted$fit, fit_error = fitted$error, forms = crossover_forms(crossover),
                 cost = cost, gpu = gpu))
}

#' The crossover of one size, from its runs
#' @noRd
crossover_of <- function(of) {
  episodes <- sort(unique(of$episodes))
  lead <- matrix(NA_real_, length(episodes), max(of$run))
  lead[cbind(match(of$episodes, episodes), of$run)] <- log(of$ptpe / of$mtpe)
  at <- crossing(episodes, rowMeans(lead))
  each <- apply(lead, 2L, \(one) crossing(episodes, one))
  each <- each[!is.na(each)]
  capacity <- of$capacity[[1L]]
  if (length(each) <= ncol(lead) / 2) at <- NA_real_
  error <- if (is.na(at)) NA_real_ else if (length(each) < 2L) 0 else
    stats::sd(each / capacity) / sqrt(length(each))
  data.frame(size = of$size[[1L]], episodes = at, capacity = capacity,
             share = at / capacity, error = error, crossed = length(each))
}

#' The number of episodes from which PTPE should take over
#'
#' With MTPE up to number i and PTPE from there on, the logarithms of time add up to those
#' of PTPE alone less the sum of the first i leads: that sum is largest at the best i. Its
#' lead is positive, the next one is not, and a straight line says where it is 0.
#'
#' @param lead log(time of PTPE / time of MTPE) at each number.
#' @param worth What changing over has to save on average, as a share of the time.
#' @return A number of episodes, or `NA` where one of the two is as good throughout.
#' @noRd
crossing <- function(episodes, lead, worth = 0.01) {
  n <- length(lead)
  saved <- cumsum(c(0, lead))
  i <- which.max(saved) - 1L
  if (saved[[i + 1L]] - max(0, saved[[n + 1L]]) < worth * n) return(NA_real_)
  part <- lead[[i]] / (lead[[i]] - lead[[i + 1L]])
  exp((1 - part) * log(episodes[[i]]) + part * log(episodes[[i + 1L]]))
}

#' Least squares of share = a / size + b, weighted; one size gives b alone
#'
#' No share is known to better than a hundredth of itself: runs may agree by accident.
#' @noRd
fit_crossover <- function(crossover, form = \(size) 1 / size) {
  known <- crossover[!is.na(crossover$share), ]
  none <- c(a = NA_real_, b = NA_real_)
  if (nrow(known) == 0L) return(list(fit = none, error = none))
  error <- sqrt(known$error^2 + (0.01 * known$share)^2)
  if (nrow(known) == 1L) {
    return(list(fit = c(a = 0, b = known$share), error = c(a = NA_real_, b = error)))
  }
  fit <- stats::lm.wfit(cbind(form(known$size), 1), known$share, 1 / error^2)
  spread <- sqrt(diag(chol2inv(fit$qr$qr[1:2, 1:2, drop = FALSE])))
  list(fit = stats::setNames(fit$coefficients, c("a", "b")),
       error = stats::setNames(spread, c("a", "b")),
       left = sum(fit$weights * fit$residuals^2) /
         sum(fit$weights * (known$share - stats::weighted.mean(known$share, fit$weights))^2))
}

#' The two forms that the papers fit: a / N + b, and a * N + b beside it
#'
#' @return A data frame: `form`, `a`, `b`, and `left`, the share of the variance of the
#'   crossovers that the form does not explain; `NA` with fewer than three crossovers.
#' @noRd
crossover_forms <- function(crossover) {
  forms <- list(`a / N + b` = \(size) 1 / size, `a * N + b` = identity)
  enough <- sum(!is.na(crossover$share)) > 2L
  rows <- lapply(forms, \(form) {
    if (enough) unlist(fit_crossover(crossover, form)[c("fit", "left")])
  })
  value <- \(name) unname(vapply(rows, \(row) if (enough) row[[name]] else NA_real_, 0))
  data.frame(form = names(forms), a = value("fit.a"), b = value("fit.b"), left = value("left"))
}

#' How much longer than the faster strategy the rule takes, MTPE alone and PTPE alone
#' @noRd
cost_of_rule <- function(rows, crossover, fit) {
  capacity <- crossover$capacity[match(rows$size, crossover$size)]
  few <- rows$episodes < (fit[["a"]] / rows$size + fit[["b"]]) * capacity
  over_best <- \(seconds) exp(mean(log(seconds / pmin(rows$ptpe, rows$mtpe)))) - 1
  c(rule = over_best(ifelse(few, rows$mtpe, rows$ptpe)), mtpe = over_best(rows$mtpe),
    ptpe = over_best(rows$ptpe))
}

#' @export
print.gpu_calibration <- function(x, ...) {
  fit <- signif(attr(x, "fit"), 3)
  error <- signif(attr(x, "fit_error"), 2)
  cat("# PTPE and MTPE on ", attr(x, "gpu"), "\n", sep = "")
  cat("# PTPE should take over at so many episodes:\n")
  crossover <- attr(x, "crossover")
  crossover$episodes <- ifelse(is.na(crossover$episodes), "none",
                               commas_each(round(crossover$episodes)))
  crossover$share <- signif(crossover$share, 3)
  print(crossover, row.names = FALSE)
  alone <- if (is.infinite(fit[["b"]])) "MTPE" else if (!any(fit != 0)) "PTPE"
  if (is.null(alone)) {
    known <- !is.na(error)
    cat(sprintf("# MTPE below f(N) = %s / N + %s of the threads the GPU runs at once\n",
                fit[["a"]], fit[["b"]]))
    cat(sprintf("# standard errors: %s\n",
                paste(c("a", "b")[known], error[known], collapse = ", ")))
  } else {
    cat("# no rule is better than", alone, "throughout\n")
  }
  forms <- attr(x, "forms")
  if (!anyNA(forms$left)) {
    cat(sprintf("# %s leaves %s %% of the variance of the crossovers\n", forms$form,
                signif(100 * forms$left, 2)), sep = "")
  }
  cost <- attr(x, "cost")
  cost <- sprintf("%s %s %%", c(rule = "the fit", mtpe = "MTPE alone", ptpe = "PTPE alone"),
                  signif(100 * cost, 2))[!is.na(cost)]
  cat("# longer than the faster of the two, on average:", paste(cost, collapse = ", "))
  cat("\n")
  invisible(x)
}

#' Plot a calibration of GPU strategies
#'
#' Time against the number of episodes, a panel a size; a line marks where PTPE should
#' take over.
#'
#' @param object From [calibrate_gpu()].
#' @param ... Not used.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it invisibly.
#' @exportS3Method ggplot2::autoplot
autoplot.gpu_calibration <- function(object, ...) {
  check_no_dots(draws = "a calibration")
  long <- data.frame(size = rep(object$size, 2L), episodes = rep(object$episodes, 2L),
                     strategy = rep(c("PTPE", "MTPE"), each = nrow(object)),
                     ms = 1000 * c(object$ptpe, object$mtpe))
  crossover <- attr(object, "crossover")
  crossover <- crossover[!is.na(crossover$episodes), ]
  panel <- ggplot2::as_labeller(\(size) paste(size, "units"))
  ggplot2::ggplot(long, aes_from(x = "episodes", y = "ms", colour = "strategy")) +
    ggplot2::geom_vline(aes_from(xintercept = "episodes"), data = crossover,
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
    caption("Dashed: from so many episodes on, one thread for an episode is better.")
}

