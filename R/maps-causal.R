# Causal maps: every series cross-mapped from every other.

#' Causal map: cross mapping among all of many series
#'
#' A series that drives another leaves its mark in the other's history, and so can be
#' predicted from the states of that other one ([ccm()], Sugihara et al. 2012). A causal
#' map has this skill for every pair of many series, such as all neurons of a brain: a
#' hundred on a laptop, tens of thousands on a GPU, with the same call
#' (Watanakeesuntorn et al. 2020, Takahashi et al. 2021).
#'
#' # What is computed
#' Phase 1: every target is predicted from its own delay vectors of 1 to `E_max` coordinates,
#' one step ahead. Its `E` is that of the first maximum of rho (see
#' [embed_dimension()]). Phase 2: `rho[i, j]` is Pearson's correlation of series `j`, the
#' *target*, with its prediction by simplex projection from the delay vectors of
#' series `i`, the *library*, in the `E` of the **target**, `Tp` steps ahead. Each step is
#' predicted from all others. The diagonal says how well series predict themselves.
#'
#' # Which way round
#' A high `rho[i, j]` supports that **j causes i**: the effect knows its cause. So a row
#' lists the causes of a series, and a column what it has effects on.
#'
#' # Delays
#' Of several `Tp`, each pair keeps the one with the highest rho, of equal ones the one
#' nearest 0, and the earlier of two such; the matrix `lag` says which. A cause is best
#' found at a `Tp` of 0 or below (Ye et al. 2015).
#'
#' # Convergence
#' With `lib_sizes = c(small, full)`, `rho` is that of `full` library points and the
#' matrix `convergence` is rho(full) - rho(small), at the best `Tp` of several. What is
#' causal converges: the more of the history there is to look up, the better the
#' prediction. Libraries of fewer points than there are have these drawn at random, for
#' each library series its own, and the same ones whatever the targets and other libraries.
#'
#' # Surrogates
#' With `n_surrogates = n`, each target is replaced by n series that are like it but know
#' nothing of the others, made by [surrogate_series()]. The matrix `p_value` holds the share
#' of these n + 1, the target itself among them, that are predicted at least as well
#' as the target is; with several `Tp`, each at its own best. By default surrogates are
#' the target itself from another start (`"shift"`), so that they keep all that makes it easy or
#' hard to predict. Between independent series, 4.1 to 6.1 % of the p values were then at most
#' 0.05: noise with memory, logistic maps, the Lorenz flow, seasons, bursts, and counts of spikes
#' at 0.2 to 4 a bin, 600 steps and 6,000 pairs each. A
#' target with fewer than 25 stretches that are independent of each other has no p
#' value (`NA`), since no surrogate is independent of it: random walks, oscillators that keep
#' their phase, and slow series that are short.
#'
#' # Series that cannot be mapped
#' A constant series has no rho, neither as a library nor as a target, nor with itself. The
#' same holds for a series with fewer than 20 events: most of its values are one and the
#' same, as in counts of a unit that hardly fires, and it leaves that value
#' fewer than 20 times, so that a few rows would decide rho. The attribute `reasons` says which
#' series these are, as do `print()`, `summary()` and the captions of plots.
#'
#' # Sparse results
#' `screen = r` finds only the pairs with rho of at least r. All pairs are first
#' predicted at every eleventh step, and those of which this leaves no chance to reach r go no
#' further. What passes is computed exactly, so no link that is found is wrong, but some that
#' reach r may be missed: hardly ever where series are chaotic, but many where they come back to
#' where they were every eleven steps. `vignette("definitions-edm")` has the rule and what was
#' counted. A GPU
#' goes on with all the targets that it holds side by side when one of them passes, so it may
#' find a link that the CPU's screen leaves out.
#'
#' `top = m` keeps the m highest rho of each target (column): what it most likely has an
#' effect on. Give both, and both hold. The links of a series with itself are left out of
#' either. With `screen` and `file` the map in the file holds whatever was computed: pairs that
#' the first pass left out are `NA`, and of the others some are below r.
#'
#' # Maps in files
#' With `file`, finished libraries are written to an HDF5 file (package hdf5r) while others
#' are mapped, and the result reads from it what is asked for; see [open_causal_map()].
#' After Ctrl-C, an error, a crash or a killed process, the same call goes on with what is
#' missing; [long_jobs] has the rule. Random numbers depend on a key that is kept in the
#' file, not on [set.seed()] again. The lock is `map.h5.lock` beside the file `map.h5`.
#'
#' With a `future::plan()` of workers, such a map is made by them, in chunks of
#' libraries; one that dies costs its chunk only. `vignette("clusters")` has examples for
#' this machine, Slurm and MPI.
#'
#' # Series in files
#' Of an HDF5 file rows are steps as R sees them; programs that count dimensions the other
#' way, such as Python's, show it turned round. Only a data set `names` next to the matrix, a name
#' a series, can say otherwise: where it has one for each row instead of each column,
#' rows are series. What is taken for steps and series is said. To turn a matrix round, read
#' it and give `t(x)`.
#'
#' # Precision
#' Computed in single precision. Against double precision, rho is off by 2e-6 or less in the
#' mean, and by more than 1e-5 only where distances to two neighbours are the same to within
#' rounding, and which one is nearer decides. The number of threads changes nothing. GPU and CPU
#' agree to 1e-5, and to 4e-7 or less in the mean; less well where fewer than some thirty points
#' are compared, or gaps leave few.
#'
#' `precision = "half"` keeps targets on the GPU in half of it, which makes predictions faster.
#' Against the CPU, rho is then off by 7e-6 to 8e-6 in the mean at 1,450 steps, and by 5e-6 from
#' 4,000 steps on. The most that was seen is 1.4e-4, among 4,900 pairs of logistic maps of 1,450
#' steps.
#'
#' # Memory of GPUs
#' A GPU works on as many libraries at a time as it has memory for. Where it searches for
#' dimensions and then maps all series to all of them (with `Tp = 0`, `tau = -1` and without
#' `lib_sizes`), it keeps the neighbours that it has found, in most of its free memory, until the
#' map is done: the map would find the same ones. It finds those again for which there is no
#' room, as 20 dimensions of a series take a kilobyte for each step. Results are the same either
#' way.
#'
#' @param x Numeric matrix, time steps (rows) x series (columns); a data frame, its first
#'   column the time and the others series, as in [simplex()]; or the path of an HDF5 file
#'   with such a matrix. Rows are taken as equal steps. `NA` are allowed: delay vectors
#'   with a missing value are left out, as in [simplex()].
#' @param E Dimensions of the targets: one whole number for all of them, one for each target, or
#'   several that are named by series. `NA` for a target leaves its column `NA`. By default
#'   phase 1 finds them.
#' @param E_max Most dimensions that phase 1 tries, up to 30.
#' @param tau Steps from a coordinate of a delay vector to the next; below 0 into the past.
#' @param Tp Steps from a delay vector to what it predicts; several for the best of
#'   each pair.
#' @param libraries,targets Which series to map from, and which to predict: names or
#'   numbers of columns. By default all.
#' @param validation How phase 1 predicts: `"loo"`, every step from all others, or `"split"`, the
#'   second half of the steps from the first half.
#' @param exclusion_radius Library points at most so many steps away from what is predicted
#'   are left out; with 0 still the point itself. Where that is 0 and series change slowly, a
#'   message suggests the median of the lags at which their autocorrelations fall below 1/e.
#' @param lib_sizes Two library sizes in steps, the second perhaps `Inf` for all there are;
#'   see below.
#' @param ... Not used; must be empty. All arguments after it are given by name.
#' @param n_surrogates Number of surrogates of each target; 0 for none.
#' @param surrogate,period How these are made: `surrogate` and `period` of
#'   [surrogate_series()]. `"twin"` uses the target's `E` and `tau`.
#' @param screen,top Keep only links of at least this rho, or the so many highest of each target;
#'   see below.
#' @param file Path of an HDF5 file that the map is written to as it grows, for maps
#'   beyond memory. The same call again goes on with what is in it; see [long_jobs].
#' @param dataset Name of the data set, where `x` is a file with several.
#' @param no_time Whether the first column of a data frame is a series as well. A matrix
#'   holds series alone.
#' @param device `"cpu"`, `"gpu"`, or `"auto"` for the one that should be sooner done.
#' @param gpus Numbers of the GPUs that share the work, from 1; by default the first.
#' @param precision `"float"`, or `"half"` on a GPU; see below.
#' @param max_memory Bytes that the map may take, its result included. Targets, surrogates
#'   and libraries beyond are worked on in parts. The memory of GPUs does not count.
#' @param threads Number of threads on the CPU, by default those this process may use.
#'
#' @return A numeric matrix of class `causal_map`, libraries x targets, with `NA` where there is
#'   no correlation: series that cannot be mapped, fewer than three steps to compare, more
#'   dimensions than steps allow. Attributes: `E` (integer, named by target); `lag` (steps),
#'   `p_value`, `convergence` (matrices of the same shape, or `NULL`); `parameters`, `call`,
#'   `elapsed` (seconds: `dimensions`, `map`, `total`, and of a GPU's kernels in the map
#'   `neighbours` and `correlations`), `device`; and `reasons`, `NULL` or a character vector
#'   named by series: `"constant"` and `"sparse"` for those without a rho, `"pieces"` for
#'   targets without a p value. With `top` or `screen`, a data
#'   frame of class `causal_links` instead, with the columns `cause` (the target), `effect` (the
#'   library), `rho` and as asked for `lag`, `p_value`, `convergence`; cause by cause, the
#'   highest rho first.
#'   With `file`, a map that reads from there what is asked for.
#'   [set.seed()] decides all that is random.
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: infinite values, with the
#' name of the series; unknown series; what is not a number of steps. A result beyond
#' `max_memory` gives `synfire_error_budget` before anything is computed (with `screen` alone,
#' once so many links are found), a machine that has
#' no memory for it `synfire_error_memory`, and a GPU that is not there or fails
#' `synfire_error_device`.
#'
#' @references
#' Bartlett MS (1935). Some aspects of the time-correlation problem in regard to tests of
#' significance. *Journal of the Royal Statistical Society*, 98, 536-543.
#'
#' Sugihara G, May R, Ye H, Hsieh C, Deyle E, Fogarty M, Munch S (2012). Detecting
#' causality in complex ecosystems. *Science*, 338, 496-500. \doi{10.1126/science.1227079}
#'
#' Takahashi K, Watanakeesuntorn W, Ichikawa K, Park J, Takano R, Haga J, Sugihara G, Pao GM
#' (2021). kEDM: a performance-portable implementation of empirical dynamic modeling using
#' Kokkos. *Practice and Experience in Advanced Research Computing*.
#' \doi{10.1145/3437359.3465571}
#'
#' Watanakeesuntorn W, Takahashi K, Ichikawa K, Park J, Sugihara G, Takano R, Haga J, Pao GM
#' (2020). Massively parallel causal inference of whole brain dynamics at single neuron
#' resolution. *26th International Conference on Parallel and Distributed Systems*, 196-205.
#'
#' Ye H, Deyle ER, Gilarranz LJ, Sugihara G (2015). Distinguishing time-delayed causal
#' interactions using convergent cross mapping. *Scientific Reports*, 5, 14750.
#' \doi{10.1038/srep14750}
#' @seealso [ccm()] for one pair, looked at closely; [embed_dimension()].
#' @examples
#' # x drives y, and y drives z
#' x <- y <- z <- 0.4
#' for (t in 1:299) {
#'   x[t + 1] <- x[t] * (3.8 - 3.8 * x[t])
#'   y[t + 1] <- y[t] * (3.6 - 3.6 * y[t] - 0.3 * x[t])
#'   z[t + 1] <- z[t] * (3.7 - 3.7 * z[t] - 0.3 * y[t])
#' }
#' series <- cbind(x, y, z)
#' map <- causal_map(series, E_max = 5, threads = 2)
#' map
#' attr(map, "E")
#' # The strongest link of each target, from another library than itself
#' causal_map(series, E = 2, top = 1, threads = 2)
#' @export
causal_map <- function(x, E = NULL, E_max = 20, tau = -1, Tp = 0, libraries = NULL,
                       targets = NULL, validation = c("loo", "split"),
                       exclusion_radius = 0, lib_sizes = NULL, ..., n_surrogates = 0,
                       surrogate = c("shift", "phase", "shuffle", "seasonal", "twin"),
                       period = NULL, screen = NULL, top = NULL,
                       precision = c("float", "half"), dataset = NULL, no_time = FALSE, file = NULL,
                       device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL,
                       max_memory = 4e9) {
  begun <- check_given(x = "a numeric matrix of time steps and series")
  check_no_dots()
  sides <- check_map_sides(x, dataset, no_time, libraries, targets, E, E_max)
  n_surrogates <- check_count(n_surrogates, min = 0, max = 1e5)
  validation <- check_choice(validation)
  given <- c(E_max = E_max != 20, validation = validation != "loo",
             surrogate = !identical(surrogate, eval(formals()$surrogate)),
             period = !is.null(period))
  if (n_surrogates > 0) surrogate <- check_choice(surrogate)
  check_map_unused(names(given)[given], sides$E, n_surrogates, surrogate)
  if (n_surrogates > 0) {
    period <- check_map_surrogates(surrogate, period, sides$source, sides$targets)
  }
  rule <- map_rule(
    E_max = attr(sides, "E_max"),
    tau = check_map_tau(tau), Tp = check_lags(Tp),
    exclusion = edm_exclusion(exclusion_radius), lib_sizes = check_map_sizes(lib_sizes),
    n_surrogates = n_surrogates, surrogate = if (n_surrogates > 0) surrogate,
    period = if (n_surrogates > 0) period,
    screen = if (!is.null(screen)) check_number(screen, min = -1, max = 1),
    precision = check_choice(precision), key = random_key(),
    threads = check_threads(threads),
    max_memory = check_memory(max_memory)
  )
  check_gap(x, rule$tau, rule$Tp)
  task <- c(sides, list(
    kind = "causal_map", rule = rule, split = validation == "split",
    top = if (!is.null(top)) check_count(top), threads = threads,
    call = begun$call, began = begun$began
  ))
  task <- with_reasons(task)
  device <- check_choice(device)
  task$place <- map_place(device, gpus, task)
  if (!is.null(file)) return(map_to_file(task, file))
  map_in_memory(task)
}
