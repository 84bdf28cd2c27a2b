# Fingerprints of recordings: they show whether two results come from the same recording,
# where a result does not keep its recording.

#' What tells a recording from another
#'
#' @return A list: `units` and `spikes`, how many there are; `start` and `end` (s); `hash` of
#'   all that surrogates are made of. Names of units decide nothing, so they are not part
#'   of it.
#' @noRd
fingerprint <- function(x) {
  list(units = nlevels(.subset2(x, "unit")), spikes = length(.subset2(x, "time")),
       start = attr(x, "start", exact = TRUE), end = attr(x, "end", exact = TRUE),
       hash = rlang::hash(trains_of(x)))
}

#' The fingerprint of the recording in which patterns were mined, NULL where it is gone
#' @noRd
fingerprint_of <- function(patterns) {
  recording <- own_recording(patterns)
  if (!is.null(recording)) fingerprint(recording)
}

#' Whether an attribute is a fingerprint, or there is none: earlier versions had none
#' @noRd
is_fingerprint <- function(x) {
  number <- \(v) is_number(v) && is.finite(v)
  is.null(x) || (is.list(x) && all(vapply(x[c("units", "spikes", "start", "end")], number, NA)) &&
                   rlang::is_string(x$hash))
}

#' Warn where patterns and what they are put together with are of different recordings
#'
#' @param mine,its Fingerprints of the patterns, and of `arg`; NULL where not known.
#' @noRd
warn_other_recording <- function(mine, its, arg) {
  if (is.null(mine) || is.null(its) || mine$hash == its$hash) return(invisible())
  said <- \(f) sprintf("%s of %s from %s to %s s", counted(f$spikes, "spike"),
                       counted(f$units, "unit"), exact(f$start), exact(f$end))
  warn_about(
    "recording", "{.arg {arg}} and {.arg patterns} are of different recordings.",
    x = if (said(mine) == said(its)) {
      "Both recordings have {said(mine)}, but the spikes are at other times or of other units."
    } else {
      "That of {.arg {arg}} has {said(its)}; that of {.arg patterns} has {said(mine)}."
    },
    i = "A p value says how rare a signature is by chance in the recording it was made for.",
    call = user_frame()
  )
}
