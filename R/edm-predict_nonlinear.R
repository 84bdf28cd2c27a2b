# Skill of S-maps against how local they are.

#' Skill of S-maps against theta
#'
#' How well [smap()] predicts with each `theta`. At `theta = 0` the model is the same
#' everywhere; if skill rises as near points weigh more, the dynamics depend on the state
#' they are in, which no linear model does (Sugihara 1994). Distances are computed once for
#' all `theta`.
#'
#' @inheritParams smap
#' @param theta Values to try, at least 0; by default those of rEDM. For a curve that
#'   begins with the linear model, let them begin with 0.
#'
#' @return A table ([edm_tables]) with the columns `Theta` and `rho`, Pearson's correlation of predictions and observations ([prediction_error()]); `NA`
#'   where there is none. The attribute `optimal` is the `theta` of the first maximum.
#'
#' @inheritSection simplex Errors
#' @inherit smap references
#' @seealso [smap()], [embed_dimension()].
#' @examples
#' logistic <- Reduce(\(x, i) 3.8 * x * (1 - x), 1:299, 0.3, accumulate = TRUE)
#' x <- data.frame(time = 1:300, x = logistic)
#' predict_nonlinear(x, "x", theta = 0:9, E = 2, threads = 2)
#' @export
predict_nonlinear <- function(x, columns = NULL, target = NULL, lib = NULL, pred = NULL,
                              theta = c(0.01, 0.1, 0.3, 0.5, 0.75, 1, 1.5, 2:9), E = NULL,
                              Tp = 1, knn = NULL, tau = -1, exclusion_radius = 0,
                              embedded = FALSE, ridge = 0, valid_lib = NULL,
                              no_time = FALSE, segments = NULL, ignore_nan = TRUE,
                              device = c("cpu", "gpu", "auto"), gpus = NULL,
                              threads = NULL) {
  check_given(x = "a data frame, its first column the time")
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  device <- check_choice(device)
  if (!is_plain_numeric(theta) || length(theta) == 0L || !all(is.finite(theta)) || any(theta < 0)) {
    abort_arg("theta", "finite numbers of at least 0", describe(theta))
  }
  data <- edm_data(x, columns, target, lib, pred, E, tau, Tp, embedded, valid_lib, segments,
                   no_time, ignore_nan)
  knn <- smap_knn(knn, data)
  exclusion <- edm_exclusion(exclusion_radius)
  ridge <- check_number(ridge, min = 0)
  threads <- check_threads(threads)
  where <- smap_where(device, gpus, threads, data, length(theta))
  fit <- smap_at(data$points, data$lib, data$pred, data$target, as.double(theta), knn,
                 exclusion, ridge, where, local = FALSE)
  observed <- data$target[data$pred]
  rho <- apply(fit$predictions, 2L, \(predicted) edm_rho(observed, predicted))
  parameters <- skill_parameters(data, knn = knn, exclusion_radius = exclusion,
                                 ridge = ridge)
  new_edm_skill(data.frame(Theta = theta, rho = rho), parameters, call, started)
}
