# Convergent cross mapping: which variable leaves its mark in the history of which.

#' Convergent cross mapping
#'
#' A variable that drives another leaves its mark in the other's history. If Y causes X,
#' the states of X, reconstructed from its lags, tell what Y was: X *cross-maps* Y. And the
#' more of X's history there is to look up, the better: the skill *converges* (Sugihara
#' et al. 2012). `ccm()` measures both, in both directions. [summary()] says in a sentence for
#' each direction whether the series support a cause, do not, or cannot tell it, and why.
#'
#' # Which way round
#' Column `x:y` of the result is the skill with which the library made of `x` predicts
#' `y`. It is about **y causing x**: the effect knows its cause. A skill that is high, or that
#' rises with the library, is not enough to say so: see the verdicts of `summary()`.
#' A series that is among the columns of its own library predicts itself; of such a direction
#' `summary()` says nothing about causes.
#'
#' # What is computed
#' A row can be in a library when its delay vector is complete, its target, the row `Tp`
#' later, is in the same segment of the data, and `valid_lib` allows it. For each library
#' size, `samples` libraries of so many of these rows are drawn without replacement. From
#' each library all of these rows are predicted by simplex projection (see [simplex()]),
#' never from themselves nor from rows within `exclusion_radius`, and the predictions are
#' compared with what was observed. There is only one library of all rows, and no chance in
#' it. [causal_map()] uses the same rows, for any `Tp` and `tau`; [simplex()] has fewer
#' where `Tp` is negative.
#'
#' Where the target of a neighbour is missing, so is the prediction, as in [simplex()].
#' pyEDM 2.5 leaves rows without a target out of the library instead, and takes neighbours
#' farther away.
#'
#' Each library is drawn from a random stream of its own: [set.seed()] decides all of them,
#' whatever the number of threads, and other library sizes change nothing.
#'
#' # Convergence
#' The attribute `convergence` is a data frame with a row for each direction:
#' \describe{
#'   \item{direction}{such as `"x:y"`}
#'   \item{cause, effect}{the series that is predicted, and that which the library is made of}
#'   \item{smallest, largest}{library sizes, of this direction}
#'   \item{rho_smallest, rho_largest}{mean skill there}
#'   \item{difference, low, high}{the latter minus the former, and the interval which
#'     holds that difference for 95 % of the pairs of a small and a large library}
#'   \item{tau, tau_p}{Kendall's rank correlation of mean skill and library size, and the
#'     probability that it is so high if the skill does not rise (one-sided)}
#'   \item{p}{with `n_surrogates`, their p value at the largest library, otherwise `NA`}
#' }
#' # Verdicts
#' `summary()` does not go by this table, which hangs on the library sizes that were asked for. It
#' looks at the two series again, at all lags from -8 to 8 rows (in slow series from -4 to 4 steps,
#' fewer in short replicates) and in up to five dimensions, for about a fifth of a second where
#' there are 500 rows. The verdict on a
#' direction is one of
#' * *supported*: the series support that y drives x, directly or through others. The skill is
#'   beyond that of surrogates; it is higher in the past of y than without a delay and in its
#'   future; it rises with the library as that of a cause does, which the skill under a common
#'   driver does not; and forecasts of x are much better once a value of y is known. Two series
#'   of which each shows all this of the other need less of the last. Of slow series less is asked,
#'   as a common driver shows less, too; there forecasts must not be worse.
#' * *not supported*: x does not predict y better than surrogates of y, or no better than follows
#'   from x driving y. This is not to say that there is no link: weak ones are missed.
#' * *cannot be told*, because of what the sentence names: too few rows, counts, a drift, a cycle,
#'   no states that a cause could be read from (noise, linear series), series in step, no delay
#'   that shows what comes first, a skill that levels off, or signs of a hidden driver of both.
#'
#' `vignette("causes")` has examples, `vignette("error-rates-causes")` counts wrong verdicts, and
#' `vignette("definitions-edm")` has the exact rules.
#'
#' # Slow series
#' Rows of a flow that was sampled often, of a trace or of a smoothed rate are much like the next
#' ones. Delay vectors of rows in a row then tell little more than one of them, and neighbours are
#' near in time rather than in state. Where `tau` is not given, delay vectors step over as many rows
#' as both series are alike for: until the autocorrelation falls below 0.6, the geometric mean of
#' both. Where `exclusion_radius` is not given, it is three times that of the slower series, and 0
#' where both change from row to row. Verdicts count in these steps. The attribute `parameters` and
#' `summary()` say what was taken.
#'
#' # Replicates
#' Many short series of the same system, such as plots, animals or trials, can serve as one
#' library (Clark et al. 2015, "multispatial" cross mapping). Stack them in one data frame, and
#' name in `segments` the column that tells them apart. Delay vectors and targets stay within
#' a replicate, libraries are drawn from the rows of all of them, and so neighbours come
#' from any. Verdicts take replicates of three rows and more, if there are enough of them: at
#' least 100 rows with as many rows of their replicate before and after them as there are lags to
#' look at (8, in replicates below 48 rows a sixth of these, and 1 or 2 in the shortest ones).
#'
#' # Surrogates
#' Two series that share a season or a trend predict one another without any cause. With
#' `n_surrogates`, the target is replaced by so many series that are like it but know nothing
#' of the other, made by [surrogate_series()], each segment by itself. The p value is the
#' share of them, the target itself among them, that are predicted at least as well.
#' The attribute `surrogates` is a data frame of `direction`, `cause`, `effect`, `LibSize`,
#' `low`, `median` and `high` (the 5, 50 and 95 % quantiles of their mean skill), and `p`.
#'
#' @inheritParams simplex
#' @param columns Names of the columns that the library is made of; several are embedded
#'   together.
#' @param target Name of the column to predict. The other direction makes the library of
#'   it, and predicts the first of `columns`. With several names, the first is predicted,
#'   and the library of the other direction is made of all of them, embedded together.
#' @param lib_sizes Library sizes in rows, from `knn + 1` to the number of rows of `x`. The
#'   first rows have no complete delay vector, so there are fewer that can be in a library:
#'   sizes above that, and `Inf`, stand for all of them, and `LibSize` says how many these
#'   are. Three numbers of which the third is less than the second are from, to and step, as
#'   in rEDM: `c(10, 70, 20)`. A string of numbers is as good. By default ten from smallest to
#'   largest.
#' @param samples Libraries of each size.
#' @param knn Number of neighbours in both directions; `NULL` or 0 stands for `E + 1`, and
#'   with `embedded` for one more than there are `columns`.
#' @param tau Delay in rows, below 0 for the past; see [simplex()]. `NULL` takes it from the data:
#'   see *Slow series*.
#' @param exclusion_radius Neighbours are more rows away than this; see [simplex()]. `NULL` takes it
#'   from the data: see *Slow series*.
#' @param valid_lib TRUE or FALSE for each row: may it be in the library, and be predicted?
#' @param both Whether to map from `target` to `columns` as well.
#' @param ... Not used; must be empty. All arguments after it are given by name.
#' @param n_surrogates Number of surrogates of each series that is predicted; 0 for none. A p
#'   value below 0.05 takes at least 20.
#' @param surrogate,period How these are made: `surrogate` and `period` of
#'   [surrogate_series()]. `"twin"` uses `E` and `tau`.
#' @param device `"cpu"`, `"gpu"`, or `"auto"` for the one that should be sooner done. Both
#'   draw the same libraries and find the same neighbours; skill differs by 1e-10 at most,
#'   where predictions differ by more than rounding.
#' @param gpus Numbers of the GPUs that share the work, from 1; by default the first.
#'
#' @return A data frame of class `ccm`: `LibSize` (of all rows, those of the direction that
#'   has more), and for each direction a column, such as `x:y` and `y:x`, with the mean of
#'   rho over the samples; `NA` where there is no correlation, as for constants. A series
#'   with itself has one direction, `x:x`. Attributes: `samples`, a data frame with a row for each
#'   library (`direction`, `cause`, `effect`, `LibSize`, `sample`, `rho`, `MAE`, `RMSE`);
#'   `convergence`;
#'   `surrogates` (or `NULL`); `problems`, the series as `summary()` needs them; `parameters`,
#'   `call`, `elapsed` (s). [as.data.frame()] gives the plain table.
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: what [simplex()]
#' refuses, and library sizes below `knn + 1` or above the number of rows of `x`.
#'
#' @references
#' Clark AT, Ye H, Isbell F, Deyle ER, Cowles J, Tilman GD, Sugihara G (2015). Spatial
#' convergent cross mapping to detect causal relationships from short time series. *Ecology*,
#' 96, 1174-1181. \doi{10.1890/14-1479.1}
#'
#' Sugihara G, May R, Ye H, Hsieh C, Deyle E, Fogarty M, Munch S (2012). Detecting
#' causality in complex ecosystems. *Science*, 338, 496-500. \doi{10.1126/science.1227079}
#'
#' Ebisuzaki W (1997). A method to estimate the statistical significance of a correlation
#' when the data are serially correlated. *Journal of Climate*, 10, 2147-2153.
#' @seealso [summary.ccm()] for the verdict, [ccm_lag()] for the skill at each delay,
#'   [embed_dimension()] to choose `E`, [surrogate_series()].
#' @examples
#' # x drives y, strongly; y drives x, weakly (Sugihara et al. 2012)
#' x <- y <- 0.4
#' for (t in 1:299) {
#'   x[t + 1] <- x[t] * (3.8 - 3.8 * x[t] - 0.02 * y[t])
#'   y[t + 1] <- y[t] * (3.5 - 3.5 * y[t] - 0.1 * x[t])
#' }
#' set.seed(1)
#' found <- ccm(data.frame(time = 1:300, x, y), "x", "y", E = 2, samples = 30, threads = 2)
#' found
#' summary(found)
#'
#' # 40 plots of 8 years each, none long enough by itself
#' plots <- lapply(1:40, \(plot) {
#'   x <- runif(1, 0.2, 0.8)
#'   y <- runif(1, 0.2, 0.8)
#'   for (t in 1:57) {
#'     x[t + 1] <- x[t] * (3.8 - 3.8 * x[t])
#'     y[t + 1] <- y[t] * (3.5 - 3.5 * y[t] - 0.3 * x[t])
#'   }
#'   data.frame(year = 1:8, plot, x = x[51:58], y = y[51:58])
#' })
#' summary(ccm(do.call(rbind, plots), "y", "x", E = 2, Tp = -1, segments = "plot",
#'             samples = 30, threads = 2))
#' @export
ccm <- function(x, columns, target, E = NULL, Tp = 0, tau = NULL, lib_sizes = NULL,
                samples = 100, knn = NULL, exclusion_radius = NULL, embedded = FALSE,
                both = TRUE, valid_lib = NULL, segments = NULL, no_time = FALSE,
                ..., n_surrogates = 0,
                surrogate = c("phase", "shuffle", "seasonal", "twin"), period = NULL,
                device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL) {
  begun <- check_given(x = "a data frame, its first column the time",
                       columns = "names of columns of `x`", target = "the name of a column of `x`")
  check_no_dots()
  device <- check_choice(device)
  scaled <- times_told_once(maps_at_scale(\(tau) {
    ccm_maps(x, columns, target, E, Tp, tau, embedded, check_flag(both), valid_lib, segments,
             no_time, knn)
  }, tau, exclusion_radius))
  maps <- scaled$maps
  exclusion <- scaled$exclusion
  sizes <- check_lib_sizes(lib_sizes, maps)
  samples <- check_count(samples, max = 1e6)
  n_surrogates <- check_count(n_surrogates, min = 0, max = 1e5)
  surrogate <- check_choice(surrogate)
  if (n_surrogates == 0) surrogate <- NULL
  refuse_if(!is.null(period) && !identical(surrogate, "seasonal"), "period",
            "left out without surrogates, and with those of another kind", "given")
  threads <- check_threads(threads)
  seconds <- ccm_seconds(maps, samples * length(sizes), 1 + n_surrogates, threads)
  place <- edm_place(device, gpus, seconds)
  key <- random_key()
  for (k in seq_along(maps)) {
    maps[[k]]$others <- surrogate_targets(maps[[k]], n_surrogates, surrogate, period)
  }
  skill <- lapply(seq_along(maps), \(k) {
    map <- maps[[k]]
    cross_map(map, list(map$lib), cbind(map$target, map$others), sizes, samples, exclusion,
              k - 1, place, threads, key)
  })
  problems <- lapply(maps, verdict_problem, exclusion, threads, key)
  new_ccm(maps, skill, sizes, samples, exclusion, surrogate, problems, scaled$chosen, begun)
}

#' Cross mapping with a delay
#'
#' A cause comes before its effect. If Y causes X, the states of X tell best what Y was
#' some time before: the skill of `x:y` is highest at a `Tp` of 0 or below, the delay of the
#' effect. If Y drives X so strongly that both go in step, X seems to drive Y as well. The
#' skill of that direction is highest at a positive `Tp`, and no cause acts from the future
#' (Ye et al. 2015).
#'
#' The order of time alone supports no cause: a common driver that reaches Y first and then X
#' leads to a negative `Tp` as well. So [summary()] says at which `Tp` the skill is highest, and
#' then gives the same verdict on each direction as `summary()` of what [ccm()] returns.
#'
#' @inheritParams ccm
#' @param Tp Prediction intervals, in rows: whole numbers, each once.
#' @param lib_size Library size in rows; `Inf` for all there are at each `Tp`.
#' @param samples Libraries of that size at each `Tp`; of all rows there is but one.
#'
#' @return A data frame of class `ccm_lag`: `Tp`, and for each direction a column, such as
#'   `x:y` and `y:x`, with the mean of rho over the samples. The attribute `best` names the
#'   `Tp` of the highest rho of each direction, the one nearest 0 of several (`NA` without
#'   any); `problems`, the series as `summary()` needs them for its verdicts.
#' @inheritSection ccm Errors
#' @references Ye H, Deyle ER, Gilarranz LJ, Sugihara G (2015). Distinguishing
#'   time-delayed causal interactions using convergent cross mapping. *Scientific Reports*,
#'   5, 14750. \doi{10.1038/srep14750}
#' @seealso [ccm()], [summary.ccm_lag()] for the verdict.
#' @examples
#' # x drives y, two rows later
#' x <- y <- c(0.4, 0.3, 0.6)
#' for (t in 3:299) {
#'   x[t + 1] <- x[t] * (3.8 - 3.8 * x[t])
#'   y[t + 1] <- y[t] * (3.5 - 3.5 * y[t] - 0.3 * x[t - 1])
#' }
#' found <- ccm_lag(data.frame(time = 1:300, x, y), "y", "x", E = 2, threads = 2)
#' found
#' summary(found)
#' @export
ccm_lag <- function(x, columns, target, E = NULL, Tp = -5:5, tau = NULL, lib_size = Inf,
                    samples = 100, knn = NULL, exclusion_radius = NULL, embedded = FALSE,
                    both = TRUE, valid_lib = NULL, segments = NULL, no_time = FALSE,
                    device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL) {
  begun <- check_given(x = "a data frame, its first column the time",
                       columns = "names of columns of `x`", target = "the name of a column of `x`")
  device <- check_choice(device)
  Tp <- check_lags(Tp)
  both <- check_flag(both)
  lib_size <- check_count(lib_size, infinite = TRUE)
  samples <- check_count(samples, max = 1e6)
  threads <- check_threads(threads)
  key <- random_key()
  scaled <- times_told_once(maps_at_scale(\(tau) {
    ccm_maps(x, columns, target, E, Tp[[1L]], tau, embedded, both, valid_lib, segments, no_time,
             knn)
  }, tau, exclusion_radius))
  maps <- scaled$maps
  exclusion <- scaled$exclusion
  libs <- lapply(maps, lag_libraries, Tp)
  size <- vapply(seq_along(Tp), \(k) {
    at_lag <- Map(\(map, libs) list(knn = map$knn, lib = libs[[k]], first = map$first), maps, libs)
    check_lib_sizes(lib_size, at_lag, "lib_size")
  }, 0)
  seconds <- length(Tp) * ccm_seconds(maps, samples, 1, threads)
  place <- edm_place(device, gpus, seconds)
  rho <- vapply(seq_along(maps), \(k) {
    map <- maps[[k]]
    targets <- points_matrix(list(values = list(map$observed), lags = as.double(Tp),
                                  first = map$first, last = map$last))
    skill <- cross_map(map, libs[[k]], targets, max(size), samples, exclusion, k - 1, place,
                       threads, key)
    mean_skill(skill, seq_along(Tp))
  }, double(length(Tp)))
  dim(rho) <- c(length(Tp), length(maps))
  parameters <- ccm_parameters(maps, samples = samples, exclusion_radius = exclusion)
  colnames(rho) <- vapply(maps, `[[`, "", "direction")
  problems <- lapply(maps, \(map) {
    # Verdicts look at lags as far away as these.
    map$Tp <- Tp[[which.max(abs(Tp))]]
    verdict_problem(map, exclusion, threads, key)
  })
  new_ccm_lag(Tp, rho, parameters[names(parameters) != "Tp"], problems, scaled$chosen, begun)
}

# ---- Checks --------------------------------------------------------------------------

#' Library sizes, increasing; those that no direction can have, as the most rows that one has
#' @noRd
check_lib_sizes <- function(lib_sizes, maps, arg = "lib_sizes") {
  least <- max(vapply(maps, \(map) map$knn, 0L)) + 1L
  rows <- vapply(maps, \(map) length(map$lib), 0L)
  most <- min(rows)
  refuse_if(least > most, "x", sprintf("long enough for libraries of at least %d rows", least),
            sprintf("good for %d", most), "Take a smaller `E` or `knn`.")
  if (is.null(lib_sizes)) return(unique(round(seq(least, most, length.out = 10L))))
  given <- lib_sizes
  if (rlang::is_string(lib_sizes)) lib_sizes <- numbers_of_text(lib_sizes)
  whole <- is_plain_numeric(lib_sizes) && length(lib_sizes) > 0L && !anyNA(lib_sizes) &&
    all(lib_sizes == round(lib_sizes))
  if (!whole) abort_arg(arg, "whole numbers of rows", describe(given))
  # As in rEDM, three numbers may be the first, the last and the step.
  steps <- length(lib_sizes) == 3L && lib_sizes[[3L]] >= 1 && lib_sizes[[3L]] < lib_sizes[[2L]] &&
    lib_sizes[[1L]] <= lib_sizes[[2L]] && is.finite(lib_sizes[[2L]])
  if (steps) lib_sizes <- seq(lib_sizes[[1L]], lib_sizes[[2L]], by = lib_sizes[[3L]])
  refuse_if(any(lib_sizes < least), arg,
            sprintf("at least %d, one more than the neighbours", least),
            exact_row(min(lib_sizes)))
  n <- length(maps[[1L]]$first)
  refuse_if(any(lib_sizes > n & lib_sizes < Inf), arg,
            sprintf("at most %s, the rows of `x`", commas(n)),
            exact_row(max(lib_sizes[lib_sizes < Inf])), "`Inf` stands for all of them.")
  sort(unique(pmin(as.double(lib_sizes), max(rows))))
}

check_lags <- function(Tp, arg = "Tp") {
  whole <- is_plain_numeric(Tp) && length(Tp) > 0L && all(is.finite(Tp)) &&
    all(Tp == round(Tp)) && all(abs(Tp) <= 1e6)
  refuse_if(!whole, arg, "whole numbers of rows from -1,000,000 to 1,000,000", describe(Tp))
  refuse_if(anyDuplicated(Tp), arg, "different from each other",
            sprintf("%d twice", Tp[duplicated(Tp)][[1L]]))
  as.integer(Tp)
}
