# From any recording to one page that says what is in it, what was tested and how.

#' A report on a recording
#'
#' From any recording to one page in HTML: its quality, rates and intervals, a raster, which
#' groups of units fire together beyond chance, who excites or inhibits whom, which pairs have
#' joint rates, a table of everything that was tested, what this does not show, and how to
#' repeat it. The page is a single file with its pictures in it. It opens in any browser without
#' a network, prints well, and says in whole sentences what its numbers mean.
#'
#' # What is looked at
#' * The quality, by [check_recording()].
#' * Rates and intervals of each unit, by [isi_statistics()].
#' * Groups that fire together or in sequence, by [find_assemblies()]: over the recording, and
#'   over the trials and their conditions where there are some.
#' * Connections, excitatory and inhibitory, by [find_synapses()] with its defaults. Recordings
#'   whose times are known to more than a millisecond, such as those of a camera, are not asked.
#' * Joint rates of pairs, which are no wiring: pairs that fire together, at all lags up to 50
#'   bins (of 1 ms, or a frame of a camera). The lags of the spikes of each pair in a window are
#'   compared with those beside it. Narrow peaks, in windows of 1 and 5 bins, and wide ones, of
#'   25 bins, are told apart. Two units whose rates change together over tens of milliseconds
#'   have a wide peak and no narrow one: where the lags near a window hold more than those far
#'   from it, a parabola through both says how many are expected on top, and surrogates for
#'   narrow peaks shift each unit by itself by at most 25 bins, within pieces of 1000 bins. For
#'   wide peaks they shift it to any place within pieces of up to ten seconds, so that what
#'   units have in common over longer times is in what is beside the window. Frames of a camera
#'   have narrow peaks of one frame alone, and each unit is shifted to any place in the
#'   recording or trial. The p value is the share of surrogates in which any pair, at any lag,
#'   has as clear a peak of that kind, times the number of kinds. So it is corrected for all
#'   pairs, lags and widths: with independent units, the probability that any pair is reported
#'   is at most `alpha`. There are 199 surrogates of each kind, fewer where the recording has
#'   very many spikes, and as many as `alpha` needs. The busiest 200 units are taken, fewer
#'   where they have very many spikes.
#' * With `causes = TRUE`, which of the six surest groups drives which: [causal_map()] of their
#'   [activation_rate()] in bins of 50 ms, with `E = 1` and effects up to 12 bins after their
#'   cause. The p values are corrected by Holm's method for all pairs in both directions, and
#'   there are as many surrogates as that takes. They have the spectrum of the series; with trials
#'   of the same length, their course over the trial, with the rest shuffled; and with other
#'   trials they are shuffled as a whole.
#'
#' Where not all units fit into `max_memory`, assemblies are looked for among the busiest that
#' do, and the page says so.
#'
#' # Random numbers
#' All of them follow from `seed`, which stands on the page. By default it is drawn from R's
#' random numbers, so that [set.seed()] decides it.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param title What stands on top of the page; by default how many units there are.
#' @param by Name of a column of the trials of `x` with their conditions (see [trial_table()]),
#'   by which activations of assemblies are shown; `NULL` for none.
#' @param assemblies What [find_assemblies()] gave for `x`, where it has been called already;
#'   `NULL` to call it.
#' @param causes Whether to ask which group drives which.
#' @param seed A whole number that decides all random numbers; `NULL` draws one.
#' @param open Whether to show the page in a browser.
#' @param ... Arguments of [find_assemblies()], such as `max_lag`, `alpha` and `n_surrogates`.
#'   `alpha` is that of the pairs, too. All arguments after it are given by name.
#' @param file Path of the page, which ends in .html. An earlier report is replaced, any other
#'   file never. By default it is a temporary file, which goes with this session of R.
#' @param threads Number of threads; `NULL` for all that this process may use.
#' @param max_memory Bytes the work may hold.
#'
#' @return Invisibly, an object of class `recording_report`: a list of all that was
#'   computed for the page.
#'   * `file`: its path; `title`;
#'   * `recording`: `x`; `check`: what [check_recording()] gave; `intervals`: what
#'     [isi_statistics()] gave;
#'   * `assemblies`: what [find_assemblies()] gave;
#'     `searched`: names of the units that it looked at;
#'   * `connections`: what [find_synapses()] gave; `NULL` where it was not asked;
#'   * `pairs`: a data frame of pairs with joint rates, a row each, those with a narrow peak before
#'     those with a wide one alone, and the surest of each first: `reference`, `target`,
#'     which fires `lag` s later, `peak` (`"narrow"` or `"wide"`), `width` (s) of the window,
#'     `count` of lags in it, `expected` by those beside it, `evidence` (-log10 of its binomial
#'     probability) and `p`, corrected for all pairs; `NULL` where no pair could be tested;
#'     `correlograms`: the [cross_correlogram()] they are from;
#'   * `activations`: a data frame of activations by condition of the trials: `assembly`,
#'     `condition`, `trials`, `seconds`, `count`, `rate` (a minute); `NULL` without trials or
#'     assemblies;
#'   * `causes`: a data frame of all pairs of groups in both directions, the surest first:
#'     `cause`, `effect`, `delay` (s), `rho`, `p` and `p_holm`; `NULL` where it was not asked;
#'   * `tested`: the table on the page, a data frame; `limits`: sentences on what this does not
#'     show;
#'   * `seed`, `elapsed` (s), `call`.
#'
#'   `format()` gives the lines that `print()` shows.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`. Where the page cannot be
#' written there is a `synfire_error_write`; no half of a page is left, nor after Ctrl-C. The
#' package ggplot2 is needed.
#' @seealso [check_recording()], [find_assemblies()], [find_synapses()], [cross_correlogram()].
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' x <- songbird[unit = as.character(38:50)]
#' page <- report(x, max_lag = 0.1, n_surrogates = 19, threads = 2, open = FALSE)
#' page
#' page$pairs
#' @export
report <- function(x, title = NULL, by = NULL, assemblies = NULL, causes = FALSE, seed = NULL,
                   open = rlang::is_interactive(), ..., file = NULL, threads = NULL,
                   max_memory = 4e9) {
  check_given(x = "a recording")
  rlang::check_installed(c("ggplot2", "htmltools", "knitr"), "for a report.")
  call <- sys.call()
  env <- rlang::current_env()
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  if (!is.null(title)) title <- check_title(title)
  check_report_by(x, by)
  search <- check_search(list(...), assemblies, x)
  if (!is.null(seed)) seed <- check_count(seed, min = 0, max = .Machine$integer.max)
  causes <- check_flag(causes)
  open <- check_flag(open)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory, min = 1e7)
  file <- check_report_path(file)
  seed <- seed %||% floor(stats::runif(1) * 1e9)
  given <- list(file = file, title = title %||% default_title(x), by = by,
                assemblies = assemblies, causes = causes, search = search, seed = seed,
                threads = threads, max_memory = max_memory, call = call, env = env)
  made <- keep_random_state(write_results(report_results(x, given)), seed)
  cli::cli_inform(c(v = "The report is in {.file {made$file}}."))
  if (open) utils::browseURL(made$file)
  invisible(made)
}

check_title <- function(title) {
  title <- check_string(title)
  if (nzchar(trimws(title))) return(title)
  abort_arg("title", "a string with something to read, or NULL",
            encodeString(title, quote = "\""))
}

check_report_by <- function(x, by) {
  if (is.null(by)) return(invisible())
  refuse_if(is.null(attr(x, "trials", exact = TRUE)), "by", "NULL for a recording without trials",
            describe(by))
  condition <- check_events(NULL, x, by)$condition
  refuse_if(nlevels(condition) > 12L, "by",
            "the name of a column of the trials with at most twelve values",
            sprintf("\"%s\", with %s", by, commas(nlevels(condition))))
}

#' Arguments for `find_assemblies()`, by their names
#' @noRd
check_search <- function(search, assemblies, x) {
  known <- setdiff(names(formals(find_assemblies)), c("x", "threads", "max_memory"))
  names <- names(search) %||% rep("", length(search))
  check_argument_names(names, known)
  wrong <- setdiff(names, known)
  refuse_if(length(wrong) || anyDuplicated(names),
            if (length(wrong) && nzchar(wrong[[1L]])) wrong[[1L]] else "...",
            "an argument of `report()` or of `find_assemblies()`, given once by its name",
            if (length(wrong) && nzchar(wrong[[1L]])) "none" else "something else",
            sprintf("Those of `find_assemblies()` are %s.", toString(known)))
  if (is.null(assemblies)) return(search)
  refuse_if(!inherits(assemblies, "assemblies"), "assemblies",
            "NULL, or what `find_assemblies()` gives", describe(assemblies))
  check_assemblies_table(assemblies, "assemblies")
  refuse_if(length(search), names[[1L]], "left out where `assemblies` is given", "given")
  looked_at <- events_looked_at(x, assemblies)
  refuse_if(!identical(fingerprint(attr(assemblies, "recording", exact = TRUE)),
                       fingerprint(looked_at)), "assemblies",
            "what `find_assemblies()` gave for `x`", "that of another recording")
  search
}

# ---- The class -----------------------------------------------------------------------

#' @rdname report
#' @export
format.recording_report <- function(x, ...) {
  x <- unclass(x)
  c(sprintf("<recording_report> %s", x$file), sprintf("  %s", format(x$recording)),
    sprintf("  %s of the check of the recording", counted(nrow(x$check$findings), "finding")),
    sprintf("  %s", counted(nrow(x$assemblies), "assembly", "assemblies")),
    sprintf("  %s", if (is.null(x$connections)) "connections were not tested" else
                      counted(nrow(connections_of(x$connections)), "connection")),
    sprintf("  %s", if (is.null(x$pairs)) "joint rates of pairs were not tested" else
                      paste(counted(nrow(x$pairs), "pair"), "with joint rates")),
    "$assemblies, $connections, $pairs, $check, $tested ... hold what was computed; seed and call are there, too")
}

#' @rdname report
#' @export
print.recording_report <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}
