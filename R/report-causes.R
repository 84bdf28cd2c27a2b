# Which group drives which: cross mapping among the rates of their activations.

caused_most <- 6L     # groups, the surest ones
caused_bin <- 0.05    # seconds
caused_back <- 12L    # bins that an effect may come after its cause

#' Cross-map the activations of the surest groups
#'
#' There are as many surrogates as it takes for a p value of `alpha` after Holm's correction for
#' all pairs in both directions.
#'
#' @return A list: `links`, a data frame of all pairs, the surest first: `cause`, `effect`,
#'   `delay` (s), `rho`, `p` as it is and `p_holm`; and settings. Or a string, why it was not
#'   asked.
#' @noRd
test_causes <- function(found, threads, max_memory) {
  if (nrow(found) < 2L) return("there are fewer than two groups")
  x <- attr(found, "recording", exact = TRUE)
  resolution <- attr(x, "resolution", exact = TRUE)
  alpha <- attr(found, "alpha", exact = TRUE)
  some <- found[seq_len(min(nrow(found), caused_most)), ]
  bin <- ticks_to_seconds(max(1, round(caused_bin / resolution)), resolution)
  if (max(lengths_of_trials(x)) < bin) return(sprintf("no trial is as long as %s",
                                                      duration_text(bin)))
  rate <- activation_rate(some, bin, gap = caused_back, max_memory = max_memory)
  if (sum(!is.na(rate[, 1L])) < 200L) {
    return(sprintf("there are fewer than 200 bins of %s", duration_text(bin)))
  }
  pairs <- nrow(some) * (nrow(some) - 1)
  n <- ceiling(pairs / alpha * (1 - 1e-9)) - 1
  chance <- cause_surrogates(rate)
  map <- causal_map(rate, E = 1, Tp = -caused_back:0, n_surrogates = n,
                    surrogate = chance$surrogate, period = chance$period, threads = threads,
                    max_memory = max_memory)
  links <- as.data.frame(map)
  links <- data.frame(cause = as.character(links$cause), effect = as.character(links$effect),
                      delay = -links$lag * bin, rho = links$rho, p = links$p_value)
  links$p_holm <- stats::p.adjust(links$p, "holm")
  links <- links[order(links$p_holm, -links$rho), , drop = FALSE]
  rownames(links) <- NULL
  list(links = links, groups = nrow(some), of = nrow(found), pairs = pairs, n_surrogates = n,
       surrogate = chance$surrogate, bin = bin, alpha = alpha, bins = sum(!is.na(rate[, 1L])))
}

#' Surrogates that a series of rates can have
#'
#' Those of the same spectrum have no place for the gaps between trials. In trials of the same
#' length they have the same course over the trial, so that what all trials have in common is no
#' link.
#' @noRd
cause_surrogates <- function(rate) {
  trial <- attr(rate, "trial", exact = TRUE)
  if (!anyNA(rate[, 1L])) return(list(surrogate = "phase"))
  bins <- table(trial)
  period <- max(bins) + attr(rate, "gap", exact = TRUE)
  if (length(bins) >= 5L && min(bins) == max(bins) && period <= nrow(rate)) {
    return(list(surrogate = "seasonal", period = period))
  }
  list(surrogate = "shuffle")
}

# What they have of the series.
cause_chance <- c(phase = "with the same spectrum",
                  seasonal = "with the same course over the trial and the rest shuffled",
                  shuffle = "with its values shuffled")

#' @param tested What `test_causes()` gave.
#' @noRd
cause_words <- function(tested) {
  if (!is.list(tested)) return(sprintf("Which group drives which was not asked: %s.", tested))
  sure <- tested$links[which(tested$links$p_holm <= tested$alpha * (1 + 1e-9)), , drop = FALSE]
  whom <- if (tested$groups < tested$of) sprintf("the %d surest groups", tested$groups) else
    sprintf("the %d groups", tested$groups)
  if (all(is.na(tested$links$p_holm))) return(sprintf(
    "Among %s nothing can be told: activations are too few for cross mapping.", whom
  ))
  if (nrow(sure) == 0L) return(sprintf(paste(
    "Among %s no link was found: activations of none tell when those of another one were. A link",
    "too weak for this recording looks the same."
  ), whom))
  c(sprintf("Among %s, cross mapping of activations supports %s, directly or through others:", whom,
            counted(nrow(sure), "link")),
    paste0(and_list(sprintf("%s may drive %s%s", sure$cause, sure$effect, delay_text(sure$delay))),
           "."))
}

#' Of which pairs cross mapping says nothing
#' @noRd
untold_words <- function(tested) {
  untold <- sum(is.na(tested$links$p_holm))
  if (untold > 0L && untold < nrow(tested$links)) sprintf(
    "For %s of %s directions there is no answer, as activations are too few to tell.",
    commas(untold), commas(nrow(tested$links))
  )
}

delay_text <- function(delay) {
  ifelse(delay == 0, " within the same bin",
         sprintf(" by about %s", duration_text(pmax(delay, 1e-9))))
}

causes_section <- function(tested) {
  if (!is.list(tested) || all(is.na(tested$links$p_holm))) {
    return(list(paragraph(cause_words(tested))))
  }
  links <- utils::head(tested$links, 12L)
  p <- vapply(links$p_holm, \(p) if (is.na(p)) NA_character_ else format(signif(p, 2)), "")
  table <- data.frame(Cause = links$cause, Effect = links$effect,
                      Delay = duration_text(links$delay), rho = signif(links$rho, 2),
                      "p of all pairs together" = p, check.names = FALSE)
  list(
    paragraph(c(cause_words(tested), untold_words(tested))),
    html_table(table, paste(
      "What an effect does now tells what its cause did a delay before; rho is how well. Low values",
      "are usual, as activations are rare."
    )),
    paragraph("A link is no proof of a cause. A common input that reaches one group before the other",
              "one looks the same.")
  )
}

tested_causes <- function(tested) {
  if (is.null(tested)) return(NULL)
  question <- "Which group may drive which?"
  if (!is.list(tested)) return(not_asked(question, cause_words(tested)))
  list(question = question,
       looked_at = sprintf("%s of %s, %s in each direction", commas(tested$groups),
                           counted(tested$of, "group"), counted(tested$pairs / 2, "pair")),
       settings = sprintf("%s bins of %s, E = 1, delays of 0 to %s", commas(tested$bins),
                          duration_text(tested$bin), duration_text(caused_back * tested$bin)),
       chance = sprintf("%s of each series %s; p by Holm over all pairs, alpha %s",
                        counted(tested$n_surrogates, "surrogate"), cause_chance[[tested$surrogate]],
                        exact(tested$alpha)),
       result = paste(c(cause_words(tested), untold_words(tested)), collapse = " "))
}
