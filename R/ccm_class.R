# Cross mapping as a table, and what it says in words.

#' @param skill What [cross_map()] returned for each of `maps`.
#' @noRd
new_ccm <- function(maps, skill, sizes, samples, exclusion, surrogate, call, started) {
  names(skill) <- vapply(maps, \(map) map$direction, "")
  rho <- lapply(skill, mean_skill, sizes)
  means <- lapply(rho, \(r) r[, 1L])
  frame <- structure(c(list(LibSize = sizes), means), class = "data.frame",
                     row.names = .set_row_names(length(sizes)))
  band <- if (!is.null(surrogate)) surrogate_bands(rho, sizes)
  parameters <- ccm_parameters(maps, samples = samples, exclusion_radius = exclusion,
                               surrogate = surrogate)
  new_edm(frame, "ccm", "Cross mapping", parameters, call, started,
          samples = with_ends(sample_frame(skill), maps),
          convergence = with_ends(convergence_frame(skill, means, band), maps),
          surrogates = if (!is.null(band)) with_ends(band, maps))
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

mean_known <- function(x) if (all(is.na(x))) NA_real_ else mean(x, na.rm = TRUE)

#' Mean rho of each library size, a matrix \[sizes, targets\]
#' @noRd
mean_skill <- function(skill, sizes) {
  by_size <- split(seq_along(skill$of), skill$of)
  out <- lapply(by_size, \(rows) apply(skill$rho[rows, , drop = FALSE], 2L, mean_known))
  matrix(unlist(out), length(sizes), byrow = TRUE)
}

sample_frame <- function(skill) {
  column <- function(part) unlist(lapply(skill, \(s) part(s)), use.names = FALSE)
  plain_frame(
    direction = rep(names(skill), vapply(skill, \(s) length(s$LibSize), 0L)),
    LibSize = column(\(s) s$LibSize), sample = column(\(s) sequence(rle(s$of)$lengths)),
    rho = column(\(s) s$rho[, 1L]), MAE = column(\(s) s$MAE[, 1L]),
    RMSE = column(\(s) s$RMSE[, 1L])
  )
}

#' A data frame of columns that are known to be right, in a fraction of the time
#' @noRd
plain_frame <- function(...) {
  columns <- list(...)
  structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1L]])))
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
  number <- function(of) vapply(names(means), of, 0, USE.NAMES = FALSE)
  sizes <- lapply(skill, \(s) s$LibSize[!duplicated(s$of)])
  ends <- lapply(skill, difference_interval)
  rank <- lapply(names(means), \(name) {
    # All rows of this direction may be asked for twice.
    once <- !duplicated(sizes[[name]])
    rank_correlation(sizes[[name]][once], means[[name]][once])
  })
  names(rank) <- names(means)
  smallest <- number(\(name) means[[name]][[1L]])
  largest <- number(\(name) means[[name]][[length(means[[name]])]])
  plain_frame(
    direction = names(means), smallest = number(\(name) min(sizes[[name]])),
    largest = number(\(name) max(sizes[[name]])), rho_smallest = smallest,
    rho_largest = largest, difference = largest - smallest,
    low = number(\(name) ends[[name]][[1L]]), high = number(\(name) ends[[name]][[2L]]),
    tau = number(\(name) rank[[name]][[1L]]), tau_p = number(\(name) rank[[name]][[2L]]),
    p = number(\(name) utils::tail(c(NA_real_, band$p[band$direction == name]), 1L))
  )
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
  if (length(pairs) == 0L) return(c(NA_real_, NA_real_))
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
#' @param alpha Probability of an error that is taken: largest p value of what counts as
#'   support.
#' @param ... Not used, must be empty.
#' @return `summary()` of a `ccm` is a data frame of class `ccm_summary`: the attribute
#'   `convergence` of [ccm()], with the columns `supported` (logical, `NA` where there is
#'   too little to tell) and `words`. `summary()` of a `ccm_lag` is a
#'   data frame of class `ccm_summary` with `direction`, `cause`, `effect`, `best` (`Tp`),
#'   `rho`, `supported` and `words`. `supported` is `NA`, too, where the `cause` is among the
#'   columns that its library is made of. In a direction `x:y` the library was made of `x`, which is
#'   the `effect`, and predicted `y`, the `cause`. Their `print()` shows the words. `format()`
#'   gives the lines that `print()` shows above a table.
#' @seealso [ccm()], [ccm_lag()].
#' @name ccm_tables
#' @aliases ccm_summary
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
  check_whole_result(object, "LibSize", c("parameters", "convergence", "samples"), "object")
  alpha <- check_number(alpha, above = 0, max = 0.5)
  out <- attr(object, "convergence")
  samples <- attr(object, "samples")
  ends <- direction_ends(object)
  own <- ends$own[seq_len(nrow(out))]
  verdict <- lapply(seq_len(nrow(out)), \(k) {
    sizes <- length(unique(samples$LibSize[samples$direction == out$direction[[k]]]))
    if (own[[k]]) return(list(supported = NA))
    judge(out[k, ], sizes, alpha)
  })
  out$supported <- vapply(verdict, `[[`, NA, "supported")
  said <- out
  said$effect <- ends$library[seq_len(nrow(out))]
  out$words <- mapply(verdict_words, split(said, seq_len(nrow(out))),
                      lapply(verdict, `[[`, "against"), alpha, own, USE.NAMES = FALSE)
  new_table(out, "ccm_summary",
            list(closing = closing_words(out, !is.null(attr(object, "surrogates")))))
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

#' What is said where a series is predicted from its own states
#' @noRd
own_words <- function(cause) {
  sprintf("%s predicts itself there, which says nothing of causes.", cause)
}

#' What speaks against a direction; nothing where it is supported
#' @noRd
judge <- function(row, sizes, alpha) {
  none <- is.na(row$rho_largest)
  against <- c(
    if (none) "there is no skill to speak of: predictions or observations are constant or too few",
    if (!none && sizes < 4L) {
      "fewer than four library sizes cannot tell whether it converges"
    },
    if (!none && sizes >= 4L && !isTRUE(row$tau > 0 && row$tau_p <= alpha)) {
      sprintf("it does not rise steadily (Kendall's tau %s, p %s)", two(row$tau),
              p_text(row$tau_p))
    },
    if (!none && sizes > 1L && !isTRUE(row$low > 0)) {
      sprintf("the rise is within what single libraries differ by (%s to %s)", two(row$low),
              two(row$high))
    },
    if (!none && row$rho_largest <= 0) "the skill is not positive",
    if (!none && isTRUE(row$p > alpha)) {
      sprintf("surrogates are predicted as well (p %s)", p_text(row$p))
    }
  )
  # Too few sizes leave it open, unless something else speaks against it.
  open <- !none && sizes < 4L && length(against) == 1L
  list(supported = if (length(against) == 0L) TRUE else if (open) NA else FALSE,
       against = against)
}

verdict_words <- function(row, against, alpha, own) {
  skill <- sprintf("%s cross-maps %s with rho %s from %s rows and %s from %s.",
                   row$effect, row$cause, two(row$rho_smallest), commas(row$smallest),
                   two(row$rho_largest), commas(row$largest))
  if (is.na(row$rho_largest)) skill <- sprintf("%s does not cross-map %s.", row$effect, row$cause)
  if (own) return(paste(skill, own_words(row$cause)))
  if (isTRUE(row$supported)) {
    tested <- if (is.na(row$p)) "" else {
      sprintf(", and is beyond that of surrogates (p %s)", p_text(row$p))
    }
    return(sprintf(
      paste("%s The skill rises with the library (Kendall's tau %s, p %s; by %s, %s to %s)%s.",
            "This supports that %s causes %s."),
      skill, two(row$tau), p_text(row$tau_p), two(row$difference), two(row$low),
      two(row$high), tested, row$cause, row$effect
    ))
  }
  verdict <- if (is.na(row$supported)) "It is open whether" else "This does not support that"
  sprintf("%s %s %s causes %s: %s.", skill, verdict, row$cause, row$effect,
          paste(against, collapse = "; "))
}

closing_words <- function(out, tested) {
  c(
    if (nrow(out) == 2L && isTRUE(all(out$supported))) {
      paste("Both directions are supported: each causes the other, or one drives the other",
            "so strongly that they go in step. ccm_lag() helps to tell.")
    },
    if (!tested && any(out$supported %in% TRUE)) {
      paste("A shared season or trend is not ruled out: `n_surrogates = 100` tests against",
            "series that are alike and unrelated.")
    }
  )
}

#' @rdname ccm_tables
#' @export
print.ccm_summary <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, c("direction", "words"))
  words <- c(paste0(x$direction, ": ", x$words), attr(x, "closing"))
  cat(strwrap(words, width = min(getOption("width"), 90L), exdent = 2L), sep = "\n")
  invisible(x)
}

two <- function(x) formatC(x, digits = 2L, format = "f")

p_text <- function(p) {
  ifelse(!is.na(p) & p < 0.001, "< 0.001", formatC(p, digits = 2L, format = "fg"))
}

# ---- Delays --------------------------------------------------------------------------

new_ccm_lag <- function(Tp, rho, parameters, call, started) {
  frame <- structure(c(list(Tp = Tp), lapply(seq_len(ncol(rho)), \(k) unname(rho[, k]))),
                     names = c("Tp", colnames(rho)), class = "data.frame",
                     row.names = .set_row_names(length(Tp)))
  best <- apply(rho, 2L, \(r) best_lag(Tp, r))
  new_edm(frame, "ccm_lag", "Cross mapping", parameters, call, started, best = best)
}

best_lag <- function(Tp, rho) {
  if (all(is.na(rho))) return(NA_integer_)
  first <- order(-rho, abs(Tp))[[1L]]
  Tp[[first]]
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
summary.ccm_lag <- function(object, ...) {
  check_no_dots()
  check_whole_result(object, "Tp", c("parameters", "best"), "object")
  best <- attr(object, "best")
  ends <- direction_ends(object)
  rho <- unname(lag_skill(object))
  out <- data.frame(direction = names(best), cause = ends$cause[seq_along(best)],
                    effect = ends$effect[seq_along(best)], best = unname(best), rho = rho,
                    supported = ifelse(is.na(rho), NA, rho > 0 & best <= 0))
  own <- ends$own[seq_along(best)]
  out$supported[own] <- NA
  said <- out
  said$effect <- ends$library[seq_along(best)]
  out$words <- mapply(lag_words, split(said, seq_len(nrow(out))), own, USE.NAMES = FALSE)
  new_table(out, "ccm_summary")
}

lag_words <- function(row, own) {
  if (is.na(row$rho)) return("There is no skill at any delay.")
  skill <- sprintf("%s predicts %s best at Tp %d (rho %s).", row$effect, row$cause, row$best,
                   two(row$rho))
  if (own) return(paste(skill, own_words(row$cause)))
  if (row$rho <= 0) return(paste(skill, "The skill is not positive: nothing is supported."))
  if (row$best > 0) {
    return(sprintf(
      paste("%s That is the future of %s, which cannot be a cause: this does not support",
            "that %s causes %s, and speaks for %s following %s."),
      skill, row$cause, row$cause, row$effect, row$cause, row$effect
    ))
  }
  when <- if (row$best == 0) "without a delay" else sprintf("after %d row%s", -row$best,
                                                            if (row$best == -1) "" else "s")
  sprintf("%s In the order of time this agrees with %s causing %s %s.", skill, row$cause,
          row$effect, when)
}
