# Cross mapping as a table, and what it says in words.

#' @param skill What [cross_map()] returned for each of `maps`.
#' @param problems What `summary()` needs for the verdict on each.
#' @noRd
new_ccm <- function(maps, skill, sizes, samples, exclusion, surrogate, problems, chosen, begun) {
  names(skill) <- vapply(maps, \(map) map$direction, "")
  rho <- lapply(skill, mean_skill, sizes)
  means <- lapply(rho, \(r) r[, 1L])
  frame <- new_frame(c(list(LibSize = sizes), means), length(sizes))
  band <- if (!is.null(surrogate)) surrogate_bands(rho, sizes)
  parameters <- ccm_parameters(maps, samples = samples, exclusion_radius = exclusion,
                               surrogate = surrogate)
  new_edm(frame, "ccm", "Cross mapping", parameters, begun,
          samples = with_ends(sample_frame(skill), maps),
          convergence = with_ends(convergence_frame(skill, means, band), maps),
          surrogates = if (!is.null(band)) with_ends(band, maps), problems = problems,
          chosen = chosen)
}

#' A table whose first column is the direction, with its cause and its effect
#' @noRd
with_ends <- function(frame, maps) {
  at <- match(frame$direction, vapply(maps, `[[`, "", "direction"))
  # The library is of the effect, and predicts the cause.
  ends <- list(cause = vapply(maps, `[[`, "", "target_name")[at],
               effect = vapply(maps, \(map) map$columns[[1L]], "")[at])
  rlang::exec(plain_frame, !!!c(frame[1L], ends, frame[-1L]))
}

sample_frame <- function(skill) {
  column <- \(part) unlist(lapply(skill, part), use.names = FALSE)
  plain_frame(
    direction = rep(names(skill), vapply(skill, \(s) length(s$LibSize), 0L)),
    LibSize = column(\(s) s$LibSize), sample = column(\(s) sequence(rle(s$of)$lengths)),
    rho = column(\(s) s$rho[, 1L]), MAE = column(\(s) s$MAE[, 1L]),
    RMSE = column(\(s) s$RMSE[, 1L])
  )
}

#' Quantiles of the surrogates' skill, and the share of them that reach the target's
#' @noRd
surrogate_bands <- function(rho, sizes) {
  one <- function(name) {
    others <- rho[[name]][, -1L, drop = FALSE]
    limits <- apply(others, 1L, stats::quantile, c(0.05, 0.5, 0.95), na.rm = TRUE, names = FALSE)
    reach <- rowSums(others >= rho[[name]][, 1L], na.rm = TRUE)
    p <- (1 + reach) / (1 + rowSums(!is.na(others)))
    p[is.na(rho[[name]][, 1L])] <- NA_real_
    data.frame(direction = name, LibSize = sizes, low = limits[1L, ],
               median = limits[2L, ], high = limits[3L, ], p = p)
  }
  do.call(rbind, lapply(names(rho), one))
}

convergence_frame <- function(skill, means, band) {
  do.call(rbind, lapply(names(means), \(name) {
    rho <- means[[name]]
    first <- rho[[1L]]
    last <- rho[[length(rho)]]
    sizes <- as.double(skill[[name]]$LibSize[!duplicated(skill[[name]]$of)])
    # All rows of this direction may be asked for twice.
    once <- !duplicated(sizes)
    rank <- rank_correlation(sizes[once], rho[once])
    ends <- difference_interval(skill[[name]])
    plain_frame(
      direction = name, smallest = min(sizes), largest = max(sizes), rho_smallest = first,
      rho_largest = last, difference = last - first, low = ends[[1L]], high = ends[[2L]],
      tau = rank[[1L]], tau_p = rank[[2L]],
      p = utils::tail(c(NA_real_, band$p[band$direction == name]), 1L)
    )
  }))
}

#' Where the skill of a large library less that of a small one lies for 95 % of pairs
#'
#' A thousand of each are as good as all.
#' @noRd
difference_interval <- function(skill) {
  of <- function(size) utils::head(stats::na.omit(skill$rho[skill$LibSize == size, 1L]), 1000L)
  ends <- range(skill$LibSize)
  if (ends[[1L]] == ends[[2L]]) return(c(NA_real_, NA_real_))
  pairs <- outer(of(ends[[2L]]), of(ends[[1L]]), `-`)
  stats::quantile(pairs, c(0.025, 0.975), names = FALSE)
}

#' Kendall's tau and its one-sided p value
#' @noRd
rank_correlation <- function(sizes, rho) {
  known <- !is.na(rho)
  if (sum(known) < 2L || length(unique(rho[known])) < 2L) return(c(NA_real_, NA_real_))
  # Ties make the p value an approximation, of which there is nothing to say.
  test <- suppressWarnings(
    stats::cor.test(sizes[known], rho[known], method = "kendall", alternative = "greater")
  )
  c(test$estimate[[1L]], test$p.value)
}

# ---- Words ---------------------------------------------------------------------------

#' Results of cross mapping
#'
#' What [ccm()] and [ccm_lag()] return, in words and as plain tables.
#'
#' @param x,object What [ccm()] or [ccm_lag()] returned, or its `summary()`.
#' @param alpha Largest p value of surrogates that counts: of the skill with which the effect
#'   predicts its own future, and of that with which it predicts the cause.
#' @param ... Not used, must be empty.
#' @return `summary()` of a `ccm` is a data frame of class `ccm_summary`: the attribute
#'   `convergence` of [ccm()], a row for each direction, with these columns:
#'   \describe{
#'   \item{verdict}{`"supported"`, `"not supported"` or `"cannot be told"`}
#'   \item{supported}{the same as `TRUE`, `FALSE` and `NA`}
#'   \item{reason}{a word for why it is not supported or cannot be told: `"constant"`, `"short"`,
#'     `"counts"`, `"drift"`, `"cycle"`, `"copy"`, `"itself"`, `"linear"`, `"noise"`, `"in step"`,
#'     `"nothing"`, `"driven"`, `"weak"`, `"delay"`, `"level"`, `"hidden"` or `"surrogates"`}
#'   \item{rows}{rows that could be used}
#'   \item{E, E_ties}{dimension in which the cause is predicted best, and those that were tried,
#'     as text}
#'   \item{own, own_p}{skill with which the effect predicts its own next row, and the p value
#'     of its surrogates}
#'   \item{lag, skill}{the `Tp` of at most 0 at which the cause is predicted best, in rows, and
#'     rho there}
#'   \item{skill_now, skill_future}{rho at a `Tp` of 0, and the highest one above 0}
#'   \item{over_now, over_future}{by how many standard errors the past is ahead of these}
#'   \item{gain}{how much closer to 1 each doubling of the library brings rho, as a share of what
#'     is missing}
#'   \item{helped, helped_by_two}{how much closer to a rho of 1 forecasts of the effect come once a
#'     value of the cause is known, and once two values in a row are, as shares of what is missing}
#'   \item{surrogate_p, surrogate}{p value of surrogates of the cause, and what these keep:
#'     `"phase"`, or phase and a season that was found}
#'   \item{drift, repeated, together}{KPSS statistic of the effect, share of its most common
#'     value, correlation of both series}
#'   \item{words}{the sentence}
#'   }
#'   Numbers that a verdict did not need are `NA`. A summary is decided by the [set.seed()]
#'   before [ccm()].
#'
#'   `summary()` of a `ccm_lag` has the same verdicts, after the columns `direction`, `cause`,
#'   `effect`, `best` (the `Tp` of those asked for with the highest rho, as the attribute says) and
#'   `rho` there. Its sentences begin with these two. After the same [set.seed()] the verdicts are
#'   those of `ccm()`, unless some `Tp` is beyond 5 rows: then verdicts look farther, too.
#'
#'   In a direction `x:y` the library was made of `x`, which is the `effect`, and predicted `y`,
#'   the `cause`. `print()` of a summary shows its words. `format()` gives the lines that `print()`
#'   shows above a table.
#' @references
#' Kwiatkowski D, Phillips PCB, Schmidt P, Shin Y (1992). Testing the null hypothesis of
#' stationarity against the alternative of a unit root. *Journal of Econometrics*, 54, 159-178.
#' \doi{10.1016/0304-4076(92)90104-Y}
#'
#' Ye H, Deyle ER, Gilarranz LJ, Sugihara G (2015). Distinguishing time-delayed causal
#' interactions using convergent cross mapping. *Scientific Reports*, 5, 14750.
#' \doi{10.1038/srep14750}
#' @seealso [ccm()], [ccm_lag()].
#' @name ccm_tables
#' @aliases ccm_summary
#' @examples
#' # White noise x drives y, three rows later:
#' set.seed(1)
#' x <- runif(300, 0.1, 0.9)
#' y <- rep(0.4, 3)
#' for (t in 3:299) y[t + 1] <- y[t] * (3.6 - 3.6 * y[t] - 0.3 * x[t - 2])
#' summary(ccm(data.frame(time = 1:300, x, y), "x", "y", E = 2, threads = 2))
NULL

#' @rdname ccm_tables
#' @export
format.ccm <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, "LibSize", c("parameters", "convergence"))
  about <- attr(x, "convergence")
  c(paste0("Convergent cross mapping, ", parameters_text(x)),
    sprintf("%s: rho %s to %s%s%s", about$direction, two(about$rho_smallest),
            two(about$rho_largest),
            ifelse(is.na(about$tau), "", sprintf(", Kendall's tau %s (p %s)", two(about$tau),
                                                 p_text(about$tau_p))),
            ifelse(is.na(about$p), "", sprintf(", against surrogates p %s", p_text(about$p)))))
}

#' @rdname ccm_tables
#' @export
summary.ccm <- function(object, alpha = 0.05, ...) {
  check_no_dots()
  check_whole_result(object, "LibSize", c("parameters", "convergence", "problems"), "object")
  alpha <- check_number(alpha, above = 0, max = 0.5)
  about <- attr(object, "convergence")
  verdict_summary(about, object, about$p, alpha, attr(object, "parameters")$Tp,
                  "`ccm(Tp = )` with the delay found shows the convergence there.")
}

#' A table with the verdict on each of its rows, which are directions
#'
#' @param asked p values of surrogates that the user asked for, or `NA`.
#' @param Tp What was looked at; `elsewhere` is said if a supported delay is not among it.
#' @param before Words before the sentence of each row.
#' @noRd
verdict_summary <- function(out, object, asked, alpha, Tp, elsewhere, before = NULL) {
  found <- ccm_verdicts(attr(object, "problems"), asked, alpha)
  out[names(found)[names(found) != "said"]] <- found[names(found) != "said"]
  out$words <- if (is.null(before)) found$said else paste(before, found$said)
  missed <- any(out$supported %in% TRUE & !out$lag %in% Tp)
  parameters <- attr(object, "parameters")
  closing <- c(dimension_words(out, parameters$E), scale_words(parameters, attr(object, "chosen")),
               if (missed) elsewhere)
  new_table(out, "ccm_summary", list(closing = closing))
}

#' Which column each direction predicts, the cause, and which its library is made of
#'
#' @return A list of vectors: `cause`, `effect` (the first column of the library), `library`
#'   (all of its columns, in words), `own` (is the cause among them?).
#' @noRd
direction_ends <- function(x) {
  parameters <- attr(x, "parameters")
  made_of <- unname(parameters[c("columns", "target")])
  effect <- vapply(made_of, `[[`, "", 1L)
  list(cause = rev(effect), effect = effect,
       library = vapply(made_of, paste, "", collapse = " + "),
       own = mapply(`%in%`, rev(effect), made_of, USE.NAMES = FALSE))
}

#' What is said where verdicts took other dimensions than the user's
#' @noRd
dimension_words <- function(out, E) {
  known <- out[!is.na(out$E_ties), ]
  fits <- vapply(strsplit(known$E_ties, ", "), \(ties) as.character(E) %in% ties, NA)
  if (all(fits)) return(NULL)
  sprintf("`E = %d` was asked for; verdicts take the dimensions that predict best: %s.", E,
          paste(known$E_ties, "for", known$effect, collapse = "; "))
}

#' What is said where the data chose delay spacing or exclusion radius for slow series
#' @noRd
scale_words <- function(parameters, chosen) {
  slow <- c(tau = parameters$tau < -1, exclusion_radius = parameters$exclusion_radius > 0)
  said <- intersect(chosen, names(slow)[slow])
  if (length(said) == 0L) return(NULL)
  sprintf("The series are slow: %s from how long they are alike.", paste(
    sprintf("`%s = %d` was taken", said, unlist(parameters[said])), collapse = " and "))
}

#' @rdname ccm_tables
#' @export
print.ccm_summary <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, c("direction", "words"))
  cat(words_wrapped(c(paste0(x$direction, ": ", x$words), attr(x, "closing"))), sep = "\n")
  invisible(x)
}

# ---- Delays --------------------------------------------------------------------------

new_ccm_lag <- function(Tp, rho, parameters, problems, chosen, begun) {
  skill <- lapply(seq_len(ncol(rho)), \(k) unname(rho[, k]))
  frame <- new_frame(c(list(Tp = Tp), rlang::set_names(skill, colnames(rho))), length(Tp))
  # Of delays with the same skill the shortest.
  best <- apply(rho, 2L, \(r) if (all(is.na(r))) NA_integer_ else Tp[[order(-r, abs(Tp))[[1L]]]])
  new_edm(frame, "ccm_lag", "Cross mapping", parameters, begun, best = best,
          problems = problems, chosen = chosen)
}

#' @rdname ccm_tables
#' @export
format.ccm_lag <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, "Tp", c("parameters", "best"))
  best <- attr(x, "best")
  c(paste0("Cross mapping against Tp, ", parameters_text(x)),
    sprintf("%s: highest rho %s at Tp %s", names(best), short(lag_skill(x)), best))
}

#' The highest rho of each direction
#' @noRd
lag_skill <- function(x) {
  best <- attr(x, "best")
  vapply(names(best), \(name) x[[name]][match(best[[name]], x$Tp)], 0)
}

#' @rdname ccm_tables
#' @export
summary.ccm_lag <- function(object, alpha = 0.05, ...) {
  check_no_dots()
  check_whole_result(object, "Tp", c("parameters", "best", "problems"), "object")
  alpha <- check_number(alpha, above = 0, max = 0.5)
  best <- attr(object, "best")
  shown <- seq_along(best)
  ends <- direction_ends(object)
  out <- data.frame(direction = names(best), cause = ends$cause[shown],
                    effect = ends$effect[shown], best = unname(best),
                    rho = unname(lag_skill(object)))
  verdict_summary(out, object, rep(NA_real_, nrow(out)), alpha, object$Tp,
                  "`ccm_lag(Tp = )` with the delay of the verdict shows the skill there.",
                  lag_words(out, ends$library[shown]))
}

#' At which of the delays asked for the skill is highest
#' @noRd
lag_words <- function(out, library) {
  when <- ifelse(out$best > 0, sprintf(", in the future of %s", out$cause), "")
  ifelse(is.na(out$rho), "There is no skill at any of these Tp.",
         sprintf("Of these Tp, %s tells %s best at %s%s (rho %s).", library, out$cause, out$best,
                 when, two(out$rho)))
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.ccm <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, "LibSize", "convergence")
  about <- attr(x, "convergence")
  tidy_frame(term = about$direction, cause = about$cause, effect = about$effect,
             estimate = about$rho_largest, statistic = about$tau, p.value = about$tau_p,
             surrogate.p.value = about$p)
}
