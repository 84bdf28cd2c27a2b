# Spikes counted in bins: from a recording to the matrix of series that the second half of
# the package takes.

#' Count spikes in bins
#'
#' `bin_spikes()` turns a recording into an ordinary matrix, time steps (rows) x units
#' (columns), of spike counts or of smoothed counts. [causal_map()], [ccm()], [simplex()]
#' and the other functions for time series take it as it is.
#'
#' # Bins
#' The first bin begins with the recording, or with each trial: bin k holds the ticks from
#' `start + (k - 1) * bin_size` to just before `start + k * bin_size`. A last bin that
#' ends with the recording or the trial also holds the spikes at its very end. If the end
#' of the recording or of a trial is shorter than a bin, it is left out with its spikes,
#' so that every row stands for the same length of time. `print()` says how many spikes
#' are left out. Trials shorter than a bin have no row. Spikes outside of all trials are
#' not counted.
#'
#' # Trials
#' Trials follow one another in the order of their time, with `gap` rows of `NA` between
#' them. [causal_map()] and [embed_dimension()] leave out delay vectors with a missing
#' value. With enough of these rows, no delay vector reaches from one trial into the next:
#' they need as many as the larger of |`tau`| and |`Tp`|, which is one by default, and
#' stop with an error where there are fewer. [ccm()] and the other functions that take
#' data frames learn the trials from the matrix and need no such rows. For other
#' functions, such as [stats::cor()], leave these rows out with `gap = 0`.
#'
#' # Smoothing
#' With `sigma`, each value becomes a mean of the counts around it in the same trial,
#' weighted by a Gaussian of this standard deviation that is cut off at five standard
#' deviations. Near the ends of a trial only the bins within the trial have weights, which
#' also sum to one, so that values do not fall off there. Divide by `bin_size` for a rate
#' in Hz.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param bin_size Length of a bin, in seconds; a whole number of ticks.
#' @param sigma Standard deviation of the Gaussian that smooths the counts, in seconds;
#'   `NULL` for the counts themselves.
#' @param sparse Whether to give a sparse matrix of class `dgCMatrix` (package Matrix),
#'   which holds only the counts that are not 0. It has no rows between trials, and cannot
#'   be smoothed.
#' @param gap Number of rows of `NA` between trials. Not used for a sparse matrix.
#' @param max_memory Bytes that the result may take: 4 for each count, 8 for each smoothed
#'   one; in a sparse matrix about 40 for each spike while it is made.
#' @return A matrix of class `binned_spikes`, rows in order of time, with a column for
#'   each unit of `x` under its name, silent ones too: integer counts, or doubles where
#'   smoothed. Attributes: `time`, where each bin begins, in seconds; `trial`, the label
#'   of each row's trial, `NA` between trials, or `NULL` without trials; `bin_size` and
#'   `sigma`, in seconds; `gap`; and `left_out`, how many spikes of the recording are in
#'   no bin. `as.data.frame()` gives a table of `time`, `trial` where there are trials,
#'   and a column for each unit, without the rows between trials; `as.matrix()` a matrix
#'   without attributes. A sparse matrix has the attributes `time` and `trial`.
#' @section Errors:
#' For a `bin_size` that is no whole number of ticks, or longer than the recording or all
#' of its trials (`synfire_error_argument`); for a matrix beyond `max_memory`
#' (`synfire_error_budget`).
#' @seealso [psth()] for counts around events, [mine_patterns()], which bins by itself.
#' @examples
#' x <- spike_trains(c(0.1, 0.2, 0.25, 0.9), c("A", "A", "B", "A"), start = 0, end = 1)
#' bin_spikes(x, 0.25)
#' as.data.frame(bin_spikes(x, 0.25, sigma = 0.1))
#'
#' # From spikes to causes
#' set.seed(1)
#' counts <- bin_spikes(mouse[time = c(0, 60)], 0.1, sigma = 0.1)
#' causal_map(counts, E = 3, threads = 2)
#' ccm(counts, colnames(counts)[1], colnames(counts)[2], E = 3, samples = 5, threads = 2)
#' @export
bin_spikes <- function(x, bin_size, sigma = NULL, sparse = FALSE, gap = 1, max_memory = 4e9) {
  check_given(x = "a recording", bin_size = "the length of a bin, in seconds")
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  bin <- check_bin_size(bin_size, attr(x, "resolution"))
  sparse <- check_flag(sparse)
  gap <- check_count(gap, min = 0, max = 1e6)
  if (!is.null(sigma)) sigma <- check_number(sigma, above = 0)
  refuse_if(sparse && !is.null(sigma), "sigma", "NULL for a sparse matrix", describe(sigma),
            "Smoothed counts are hardly ever 0: use `sparse = FALSE`.")
  max_memory <- check_memory(max_memory)
  if (sparse) rlang::check_installed("Matrix", "to make a sparse matrix.")
  bins <- bins_of(x, bin, if (sparse) 0 else gap)
  units <- nlevels(x$unit)
  bytes <- if (sparse) 40 * nrow(x) else bins$rows * units * if (is.null(sigma)) 4 else 8
  check_budget(bytes, max_memory, "this matrix",
               "Take longer bins, fewer units or a part of the time.")
  at <- bin_of_spikes(x, bins)
  if (sparse) return(sparse_counts(x, bins, at))
  structure(binned_counts(x, bins, at, sigma),
            class = c("binned_spikes", "synfire_result", "matrix", "array"),
            time = bins$time, trial = bins$trial, bin_size = bins$bin_size, sigma = sigma,
            gap = bins$gap, left_out = sum(is.na(at)))
}

#' The rows of each trial, or of the recording
#'
#' @return `start` (ticks) and `n` (bins) of each trial, `whole` (whether its end is the
#'   end of its last bin), `offset` (rows before it); `rows` in all; `bin` in ticks;
#'   `gap`; `time` and `trial` of each row.
#' @noRd
bins_of <- function(x, bin, gap) {
  resolution <- attr(x, "resolution", exact = TRUE)
  trials <- attr(x, "trials", exact = TRUE)
  of <- stretches(x)
  start <- of$start
  length <- of$stop - start
  n <- length %/% bin
  refuse_if(all(n == 0), "bin_size",
            sprintf("at most %s s, the length of the %s",
                    exact(ticks_to_seconds(max(length), resolution)),
                    if (is.null(trials)) "recording" else "longest trial"),
            paste(exact(ticks_to_seconds(bin, resolution)), "s"))
  # Between trials that have rows.
  between <- ifelse(n > 0 & cumsum(n > 0) > 1, gap, 0)
  offset <- cumsum(between) + cumsum(n) - n
  rows <- sum(between) + sum(n)
  refuse_if(rows >= 2^31, "bin_size", "such that there are fewer than 2^31 bins",
            sprintf("%s s, for %s bins", exact(ticks_to_seconds(bin, resolution)), commas(rows)))
  row <- sequence(n, offset + 1)
  time <- rep(NA_real_, rows)
  time[row] <- ticks_to_seconds(rep(start, n) + (sequence(n) - 1) * bin, resolution)
  trial <- if (!is.null(trials)) trials$trial[rep(NA_integer_, rows)]
  if (!is.null(trials)) trial[row] <- trials$trial[rep(seq_along(n), n)]
  list(start = start, n = n, whole = length %% bin == 0, offset = offset, rows = rows, bin = bin,
       bin_size = ticks_to_seconds(bin, resolution), gap = gap, time = time, trial = trial)
}

#' The row of each spike, NA for those in no bin
#' @noRd
bin_of_spikes <- function(x, bins) {
  ticks <- train_ticks(x)
  trial <- trial_of(x, ticks)
  at <- (ticks - bins$start[trial]) %/% bins$bin
  n <- bins$n[trial]
  end <- bins$whole[trial] & ticks == bins$start[trial] + n * bins$bin
  at[which(end)] <- n[which(end)] - 1
  at[which(at >= n)] <- NA
  at + bins$offset[trial] + 1
}

sparse_counts <- function(x, bins, at) {
  inside <- !is.na(at)
  counts <- Matrix::sparseMatrix(i = at[inside], j = as.integer(x$unit)[inside],
                                 x = rep(1, sum(inside)), dims = c(bins$rows, nlevels(x$unit)),
                                 dimnames = list(NULL, levels(x$unit)), repr = "C")
  attr(counts, "time") <- bins$time
  attr(counts, "trial") <- bins$trial
  counts
}

#' A column a unit, so that no table as large as the result is needed beside it
#' @noRd
binned_counts <- function(x, bins, at, sigma) {
  units <- levels(x$unit)
  kept <- !is.na(at)
  at <- split(as.integer(at[kept]), x$unit[kept])
  trials <- which(bins$n > 0)
  between <- which(is.na(bins$time))
  counts <- matrix(if (is.null(sigma)) 0L else 0, bins$rows, length(units),
                   dimnames = list(NULL, units))
  weights <- if (!is.null(sigma)) gaussian_weights(sigma / bins$bin_size, max(bins$n))
  for (u in seq_along(units)) {
    count <- tabulate(at[[u]], bins$rows)
    if (!is.null(sigma)) {
      for (k in trials) {
        rows <- seq.int(bins$offset[[k]] + 1, length.out = bins$n[[k]])
        count[rows] <- smooth_counts(as.double(count[rows]), weights)
      }
    }
    count[between] <- NA
    counts[, u] <- count
  }
  counts
}

#' Weights at distances of -k to k bins
#' @param sigma Standard deviation in bins.
#' @noRd
gaussian_weights <- function(sigma, most) {
  # Rounding of `sigma` must not add a bin.
  reach <- min(ceiling(5 * sigma - 1e-9), most - 1)
  exp(-0.5 * (seq.int(-reach, reach) / sigma)^2)
}

#' Means with these weights, which are made to sum to one where some lie beyond the ends
#' @noRd
smooth_counts <- function(count, weights) {
  reach <- (length(weights) - 1L) / 2L
  inside <- reach + seq_along(count)
  around <- \(v) {
    padded <- c(numeric(reach), v, numeric(reach))
    as.double(stats::filter(padded, weights))[inside]
  }
  around(count) / around(rep(1, length(count)))
}

# ---- The class -----------------------------------------------------------------------

#' @rdname bin_spikes
#' @param row.names,optional,... As for any data frame.
#' @export
as.matrix.binned_spikes <- function(x, ...) plain_array(x)

#' @rdname bin_spikes
#' @export
as.data.frame.binned_spikes <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_no_dots(but = frame_arguments)
  time <- attr(x, "time", exact = TRUE)
  trial <- attr(x, "trial", exact = TRUE)
  rows <- which(!is.na(time))
  plain <- as.matrix(x)
  columns <- lapply(seq_len(ncol(plain)), \(u) plain[rows, u])
  names(columns) <- colnames(plain)
  new_frame(c(list(time = time[rows]), if (!is.null(trial)) list(trial = trial[rows]), columns),
            length(rows), row.names)
}

#' @export
`[.binned_spikes` <- function(x, i, j, ..., drop = TRUE) {
  plain <- as.matrix(x)
  if (nargs() - (!missing(drop)) < 3L) return(if (missing(i)) plain else plain[i])
  out <- plain[i, j, drop = drop]
  if (!is.matrix(out)) return(out)
  about <- attributes(x)
  if (!missing(i)) {
    about$time <- about$time[i]
    about$trial <- about$trial[i]
  }
  about[c("dim", "dimnames")] <- attributes(out)[c("dim", "dimnames")]
  attributes(out) <- about
  out
}

#' @export
t.binned_spikes <- function(x) t(as.matrix(x))

#' What the columns and the values are called: those of activation_rate() are no spikes
#' @noRd
binned_words <- function(x) {
  if (inherits(x, "activation_rate")) {
    list(class = "activation_rate", from = "activation_rate", axis = "Assembly",
         one = "assembly", many = "assemblies", values = "activations per second",
         event = "activation", legend = "Activations\nper second")
  } else {
    list(class = "binned_spikes", from = "bin_spikes", axis = "Unit", one = "unit",
         many = "units", values = "spike counts", event = "spike",
         legend = sprintf("Spikes in\n%s s%s", exact(attr(x, "bin_size", exact = TRUE)),
                          if (is.null(attr(x, "sigma", exact = TRUE))) "" else ",\nsmoothed"))
  }
}

#' @export
format.binned_spikes <- function(x, ...) {
  words <- binned_words(x)
  trial <- attr(x, "trial", exact = TRUE)
  sigma <- attr(x, "sigma", exact = TRUE)
  time <- attr(x, "time", exact = TRUE)
  paste(c(sprintf("%s of %s s", counted(sum(!is.na(time)), "bin"),
                  exact(attr(x, "bin_size", exact = TRUE))),
          counted(ncol(x), words$one, words$many),
          if (!is.null(trial)) counted(length(unique(trial[!is.na(time)])), "trial"),
          if (is.null(sigma)) words$values else
            sprintf("%s smoothed over %s s", words$values, exact(sigma))), collapse = ", ")
}

#' @rdname bin_spikes
#' @param n Number of rows to print.
#' @export
print.binned_spikes <- function(x, ..., n = 6L) {
  n <- check_count(n, min = 0, infinite = TRUE)
  words <- binned_words(x)
  cat("<", words$class, "> ", format(x), "\n", sep = "")
  units <- seq_len(min(ncol(x), 8L))
  shown <- as.data.frame(x[, units, drop = FALSE])
  rows <- min(n, nrow(shown))
  if (rows > 0L) print(shown[seq_len(rows), , drop = FALSE], row.names = FALSE, digits = 3)
  more <- c(if (nrow(shown) > rows) counted(nrow(shown) - rows, "row"),
            if (ncol(x) > length(units)) counted(ncol(x) - length(units), words$one, words$many))
  if (length(more)) cat("... and ", paste(more, collapse = " and "), " more\n", sep = "")
  left_out <- attr(x, "left_out", exact = TRUE)
  if (left_out > 0) {
    cat(counted(left_out, words$event), if (left_out == 1) "is" else "are",
        "in no bin: outside of trials, or after the last whole bin\n")
  }
  invisible(x)
}

# ---- What takes it -------------------------------------------------------------------

#' A matrix of binned spikes as the data frame that models take, with its trials as
#' segments
#'
#' @param segments What the user gave.
#' @return A list of `x` and `segments`, anything else as it was given.
#' @noRd
table_of_bins <- function(x, segments = NULL) {
  if (!inherits(x, "binned_spikes")) return(list(x = x, segments = segments))
  if (!is.null(attr(x, "trial", exact = TRUE))) segments <- segments %||% "trial"
  list(x = as.data.frame(x), segments = segments)
}

#' Error where delay vectors of binned spikes could reach from one trial into the next
#' @noRd
check_gap <- function(x, tau, Tp) {
  trial <- attr(x, "trial", exact = TRUE)
  if (!inherits(x, "binned_spikes") || length(unique(trial[!is.na(trial)])) < 2L) {
    return(invisible())
  }
  gap <- attr(x, "gap", exact = TRUE)
  needed <- max(abs(c(tau, Tp)))
  refuse_if(gap < needed, "x",
            sprintf(paste("binned with %s of `NA` between trials or more, for these",
                          "`tau` and `Tp`"), counted(needed, "row")),
            sprintf("binned with %s", commas(gap)),
            sprintf("Bin once more: `bin_spikes(x, bin_size, gap = %s)`.", commas(needed)))
}
