# Series of which a map cannot say anything, and why: what it has no rho for, and what no p value.

# Limits of what is told; see `vignette("definitions-edm")`.
map_limits <- list(
  events = 20,  # fewer times away from its usual value: rho depends on a few rows
  pieces = 25,  # fewer stretches that are independent: no p value
  slow = 3      # a memory of so many steps, beyond which `exclusion_radius` is suggested
)

# What is wrong with a series; files hold the numbers.
map_reasons <- c("constant", "sparse", "pieces")

#' What stands in the way of each column of the source: a number of map_reasons, 0 for nothing
#'
#' Only what is among the libraries or targets of the task is looked at.
#'
#' @param said Whether slow series are to be told.
#' @noRd
task_reasons <- function(task, said = FALSE) {
  source <- task$source
  rule <- task$rule
  columns <- sort(union(task$libraries, task$targets))
  at_once <- !is.null(source$whole) && length(columns) == source$n
  parts <- if (at_once) list(columns) else series_pieces(source, columns)
  parts <- lapply(parts, \(part) {
    x <- if (at_once) source$whole else source$read(part)
    finish_status(.Call(r_series_activity, x, rule$threads), "the series of the map")
  })
  found <- \(trait) unlist(lapply(parts, `[[`, trait), use.names = FALSE)
  reasons <- integer(source$n)
  reasons[columns[found("events") < map_limits$events]] <- 2L
  reasons[columns[found("constant")]] <- 1L
  if (rule$n_surrogates > 0) {
    targets <- task$targets[reasons[task$targets] == 0L]
    for (part in series_pieces(source, targets)) {
      few <- independent_pieces(source$read(part), rule$threads) < map_limits$pieces
      reasons[part[few]] <- 3L
    }
  }
  if (said && rule$exclusion == 0) say_slow(found("memory")[!reasons[columns] %in% 1:2])
  reasons
}

#' Runs of columns that are read at once
#' @noRd
series_pieces <- function(source, columns) {
  lapply(pieces(length(columns), max(1, floor(source_block / source$steps))), \(part) columns[part])
}

#' How many stretches of each series are independent of each other, about
#'
#' Of what is left without the season: the number of rows over 1 + 2 times the sum of squared
#' autocorrelations at lags up to a tenth of the rows, as the correlation of two such series
#' varies as much as that of so many independent values (Bartlett 1935); times its share
#' of the variance, as all that goes round predicts the season.
#' @noRd
independent_pieces <- function(x, threads) {
  first <- rep(1L, nrow(x))
  traits <- traits_of_each(x, first, threads)
  period <- ifelse(traits$constant, 1L, pmax(traits$period, 1L))
  rest <- x - season_means(x, first, period, threads)
  vapply(seq_len(ncol(x)), \(j) pieces_of_rest(rest[, j], x[, j]), 0)
}

pieces_of_rest <- function(rest, x) {
  known <- !is.na(rest)
  n <- sum(known)
  x <- x[known] - mean(x[known])
  unit <- max(abs(x), 0)
  if (n < 10L || unit == 0) return(0)
  all <- sum((x / unit)^2)
  rest <- ifelse(known, (rest - mean(rest[known])) / unit, 0)
  lags <- length(rest) %/% 10
  size <- stats::nextn(length(rest) + lags)
  power <- Mod(stats::fft(c(rest, rep(0, size - length(rest)))))^2
  shared <- Re(stats::fft(power, inverse = TRUE))[seq_len(lags + 1)] / size
  if (shared[[1L]] < 1e-12 * all) return(0)
  n / (1 + 2 * sum((shared[-1L] / shared[[1L]])^2)) * shared[[1L]] / all
}

# ---- What follows --------------------------------------------------------------------

#' Whether a map has no rho of columns of the source
#' @noRd
without_rho <- function(rule, columns) rule$reasons[columns] %in% 1:2

# ---- Words ---------------------------------------------------------------------------

#' The reasons of a task for its map: a word each, named by series; NULL without any
#' @noRd
named_reasons <- function(task) {
  if (!any(task$rule$reasons > 0L)) return(NULL)
  columns <- sort(union(task$libraries, task$targets))
  numbered_reasons(task$rule$reasons[columns], task$source$names[columns])
}

numbered_reasons <- function(numbers, names) {
  there <- numbers > 0L
  if (any(there)) rlang::set_names(map_reasons[numbers[there]], names[there])
}

#' Of a part of a map
#' @noRd
part_reasons <- function(x, rows, columns) {
  reasons <- attr(x, "reasons", exact = TRUE)
  reasons <- reasons[names(reasons) %in% c(rows, columns)]
  if (length(reasons)) reasons
}

#' A line for each reason; x is a map, or a table of links
#' @noRd
reason_lines <- function(x) {
  reasons <- attr(x, "reasons", exact = TRUE)
  if (length(reasons)) names(reasons) <- short_names(names(reasons))
  line <- function(reason, one, many) {
    series <- names(reasons)[reasons == reason]
    if (length(series) == 0L) return(NULL)
    sprintf("%s: %s", sprintf(if (length(series) == 1L) one else many, commas(length(series))),
            some(series))
  }
  c(line("constant", "No rho for %s constant series", "No rho for %s constant series"),
    line("sparse", sprintf("No rho for %%s series with fewer than %d events", map_limits$events),
         sprintf("No rho for %%s series with fewer than %d events each", map_limits$events)),
    line("pieces", "No p value for %s target, whose values follow each other too slowly",
         "No p value for %s targets, whose values follow each other too slowly"))
}

#' @param memory Lags of the series' autocorrelation.
#' @noRd
say_slow <- function(memory) {
  slow <- memory >= map_limits$slow
  if (!any(slow)) return(invisible())
  radius <- ceiling(stats::median(memory[slow]))
  text <- sprintf("%s of %s series %s slowly: steps near each other are alike, whatever
                   drives them. `exclusion_radius = %.0f` leaves such neighbours out.",
                  commas(sum(slow)), commas(length(slow)),
                  if (sum(slow) == 1L) "changes" else "change", radius)
  # cli_inform() takes ten times as long: some milliseconds of every map.
  lines <- strwrap(text, cli::console_width() - 2)
  rlang::inform(c(i = paste(lines, collapse = "\n  ")),
                class = c("synfire_message_slow", "synfire_message"))
}

#' The task, told which series have no rho, or no p value
#' @noRd
with_reasons <- function(task) {
  task$rule$reasons <- task_reasons(task, said = task$kind == "causal_map")
  if (!is.null(task$E)) {
    task$E <- replace(task$E, without_rho(task$rule, task$targets), NA)
  }
  task
}
