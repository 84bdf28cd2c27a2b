# S-maps between all pairs of many series.

#' Map of S-maps: skill and strength among all of many series
#'
#' Predicts every series from the delay vectors of every other one by an S-map ([smap()],
#' Sugihara 1994), and says of each pair how well that works and how strongly the predicted
#' series, the *target*, answers to the present value of the other, the *library*: the mean
#' partial derivative (Deyle et al. 2016). All pairs of a hundred series of 8,000 steps take a
#' minute of one processor core, or an eighth of a second of a large GPU.
#'
#' # What is computed
#' A row of a library x is a step t whose delay vector
#' \eqn{z_t = (x_t, x_{t + \tau}, \dots, x_{t + (E - 1) \tau})} is known and whose target
#' lies within the series. For each row p and each target y, the model
#' \eqn{y_{t + Tp} \approx c_{p0} + c_{p1} x_t + \dots + c_{pE} x_{t + (E - 1) \tau}} is
#' fitted to all rows t that are more than `exclusion_radius` steps away from p. A row
#' at distance d from p has the weight \eqn{\exp(-\theta d / \bar d)}, with the mean
#' distance \eqn{\bar d} of these rows; squared errors count with squared weights, and of
#' several solutions the shortest is taken. This is the model of [smap()] for
#' the two series, and `ridge` is that of [smap()], too.
#'
#' The rows of the library are not always those of [smap()], which keeps to rEDM's: where `tau`
#' and `Tp` are both positive, or `Tp` is below -1, `smap()` leaves out rows at the ends whose
#' target is within the series. Then skill differs a little, by 1e-5 to 1e-3 in series of some
#' hundred steps.
#'
#' * `rho[i, j]` is Pearson's correlation of target j with its predictions from library i.
#' * `strength[i, j]` is the mean of \eqn{c_{p1}} over all rows p: by how much target j is
#'   higher `Tp` steps later, where library i is higher by one, all else in its delay vector
#'   being the same. It has units of the target by units of the library.
#'
#' Where targets differ in `E`, each is predicted from delay vectors with as many
#' coordinates as it has dimensions. The diagonal is self prediction: for `Tp = 1`,
#' its strength is the mean derivative of a series by its own last value.
#'
#' # What the strength means
#' With `Tp = 1` it is the response of the target's next value to the library's present
#' one, along the states that were visited: above 0 the target rises with the library, below
#' 0 it falls. Positive and negative responses at different times cancel in the mean;
#' [smap()] gives them for each time. A series has strengths of all sizes only in its own
#' units: to compare pairs, give `scale(x)`, so that a strength is in standard deviations.
#'
#' A strength is no proof of a cause. The delay vectors are those of the library alone, so
#' what a common cause does to both series is part of it, and so is what reaches
#' the target through others. Look at strengths where `rho` is high, and take direction and
#' cause from [causal_map()], where the *effect* predicts its cause. For partial derivatives
#' by several series at once, give these series to [smap()] as `columns` with
#' `embedded = TRUE`, as Deyle et al. (2016) do.
#'
#' # Missing values
#' Rows with a missing coordinate are left out. Rows whose target is missing count for the
#' mean distance and not for the fit, as in [smap()]. Series that are
#' missing at the same steps are predicted together; each other pattern of gaps among the
#' targets takes as long as one more library.
#'
#' # Precision
#' Computed in double precision. Where the rows are the same, predictions agree with those of
#' [smap()] to 1e-7 of the target's standard deviation, rho to 1e-7, and strengths to 1e-6 of the
#' standard deviation of the target by that of the library. Neither the number of threads, nor
#' which other series there are, nor an interruption changes a digit; another kind of processor
#' may change the last ones. A GPU gives the same to 1e-7 for rho, and to 1e-6 for strengths
#' in these units; differences are around 1e-11.
#'
#' All targets of a library share its weights, and what each library row adds to a
#' prediction does not depend on the target, so that predictions of all targets are one
#' product of matrices.
#'
#' @inheritParams causal_map
#' @param Tp Steps from a delay vector to what it predicts. With 1, `strength` is the
#'   derivative of the target's next value by the library's present one; with 0, of values at
#'   the same step.
#' @param theta How much near states weigh more, at least 0. With 0 there is one linear model
#'   for all states, and rows at the mean distance weigh as much as all others; with 2,
#'   the default, a row at the mean distance has a weight of 0.14, so that models
#'   are local but still rest on many rows. [predict_nonlinear()] shows which `theta`
#'   predicts a series best; for many chaotic series that is between 1 and 4.
#' @param ridge What squared coefficients cost, at least 0; see [smap()].
#' @param file Path of an HDF5 file that the map is written to as it grows, for maps
#'   beyond memory, as in [causal_map()]: the same call again goes on with what is in it
#'   ([long_jobs]), and [open_causal_map()] opens it. Such a map is made by the workers of a
#'   `future::plan()`, if there are any.
#' @param max_memory Bytes that the map may take, its result included. Targets beyond are
#'   worked on in parts.
#'
#' @return A list of class `smap_map` with the double matrices `rho` and `strength`, libraries x
#'   targets, named by series; see [smap_map_tables]. `NA` stands where there is none:
#'   for a library or target that is constant or has fewer than 20 events (see
#'   [causal_map()]), and for a library with fewer than two rows; rho with fewer than three steps
#'   to compare. Attributes: `E` (integer, named by
#'   target), `parameters`, `call`, `elapsed` (seconds: `dimensions`, `map`, `total`) and
#'   `device`; and `reasons`, as in [causal_map()]. With `file`, a map of class `smap_map_file`
#'   that reads from there what is asked for.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: infinite values, and values
#' whose squares are beyond what a computer holds, with the name of the series; unknown
#' series; what is not a number of steps. A result beyond `max_memory` gives
#' `synfire_error_budget` before anything is computed, a machine that has
#' no memory for it `synfire_error_memory`, and a GPU that is not there or fails
#' `synfire_error_device`.
#' @references
#' Deyle ER, May RM, Munch SB, Sugihara G (2016). Tracking and forecasting ecosystem
#' interactions in real time. *Proceedings of the Royal Society B* 283:20152258.
#' \doi{10.1098/rspb.2015.2258}
#'
#' Sugihara G (1994). Nonlinear forecasting for the classification of natural
#' time series. *Philosophical Transactions of the Royal Society A* 348:477-495.
#' \doi{10.1098/rsta.1994.0106}
#' @seealso [smap()] for one pair, time by time; [causal_map()] for causes.
#' @examples
#' x <- scale(simulate_coupled_maps(steps = 300))
#' map <- smap_map(x, E = 2, threads = 2)
#' map
#' map$strength
#' # The pairs with the highest skill
#' as.data.frame(map, max_links = 3)
#' @export
smap_map <- function(x, E = NULL, E_max = 20, tau = -1, Tp = 1, theta = 2,
                     libraries = NULL, targets = NULL, ridge = 0, exclusion_radius = 0, ...,
                     dataset = NULL, no_time = FALSE, file = NULL,
                     device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL,
                     max_memory = 4e9) {
  begun <- check_given(x = "a numeric matrix of time steps and series")
  check_no_dots()
  sides <- check_map_sides(x, dataset, no_time, libraries, targets, E, E_max)
  check_map_unused(if (E_max != 20) "E_max", sides$E, 0, NULL)
  rule <- map_rule(E_max = attr(sides, "E_max"), tau = check_map_tau(tau),
                   Tp = edm_shift(Tp, "Tp"), exclusion = edm_exclusion(exclusion_radius),
                   threads = check_threads(threads), max_memory = check_memory(max_memory))
  rule$theta <- check_number(theta, min = 0)
  rule$ridge <- check_number(ridge, min = 0)
  check_gap(x, rule$tau, rule$Tp)
  task <- c(sides, list(kind = "smap_map", rule = rule, split = FALSE, threads = threads,
                        call = begun$call, began = begun$began))
  task <- with_reasons(task)
  seconds <- smap_map_seconds(task) * length(task$libraries)
  task$place <- edm_place(check_choice(device), gpus, seconds)
  if (!is.null(file)) return(map_to_file(task, file))
  map_in_memory(task)
}
