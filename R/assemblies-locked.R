# Events that responses of units are locked to.

#' Events of the recording, their kinds, and marks where no event comes for long
#'
#' Spikes move from an event to others of its kind, with all that comes up to the next one. So the
#' recording, or each trial, begins with a mark, unless with an event, and times twice as long as
#' those between events usually are (1 s at least) are cut by marks: kinds of their own.
#'
#' @return `NULL`, or `tick` (increasing), `kind` (from 1), and a `table` of the events.
#' @noRd
locked_events <- function(locked_to, x) {
  if (is.null(locked_to)) return(NULL)
  refuse_if(is.character(locked_to) && !identical(locked_to, "trials"), "locked_to",
            "NULL, \"trials\", or times of events in seconds", describe(locked_to))
  resolution <- attr(x, "resolution")
  by <- if (is.data.frame(locked_to) && "condition" %in% names(locked_to)) "condition"
  table <- check_events(if (!identical(locked_to, "trials")) locked_to, x, by, "locked_to")
  tick <- round_to_ticks(table$time, resolution)
  keep <- within_one(x, tick, tick) & !is.na(table$condition) & !duplicated(tick)
  keep <- keep & table$condition %in% names(which(table(table$condition[keep]) >= 5L))
  refuse_if(sum(keep) < 5L, "locked_to", "at least five events of a condition in the recording",
            sprintf("%d of %s in it", sum(keep), counted(nrow(table), "event")),
            "Events are in seconds. See whether events and spikes are on the same clock.")
  table <- table[keep, , drop = FALSE][order(tick[keep]), , drop = FALSE]
  rownames(table) <- NULL
  table$condition <- droplevels(table$condition)
  at <- data.frame(tick = sort(tick[keep]), kind = as.integer(table$condition))
  of <- stretches(x)
  usual <- max(stats::median(epoch_ticks(at$tick, of)), raw_ticks(1, resolution),
               recorded_length(x) / 1e6)
  mark <- \(at, tick, kind) {
    at <- rbind(at, data.frame(tick = tick, kind = rep(kind, length(tick))))
    at[order(at$tick), ]
  }
  at <- mark(at, setdiff(of$start, at$tick), nlevels(table$condition) + 1L)
  marks <- pmax(0, epoch_ticks(at$tick, of) %/% usual - 1)
  at <- mark(at, rep(at$tick, marks) + usual * sequence(marks), nlevels(table$condition) + 2L)
  list(tick = round(at$tick), kind = at$kind, table = table)
}

#' Ticks from each event to the next one, or to the end of its trial
#' @noRd
epoch_ticks <- function(tick, of) {
  pmin(c(tick[-1L], Inf), of$stop[findInterval(tick, of$start)]) - tick
}
