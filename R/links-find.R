# Which links of a causal map are direct: forecasts of each effect with and without a
# cause, given what else drives it. How the parties of an effect are found is in
# links-search.R, what follows for a link in links-kinds.R.

#' Which links of a causal map are direct
#'
#' In a causal map everything that is upstream of a series leaves its mark: its direct
#' causes, the causes of these, and whatever shares a driver with it. This function
#' tells them apart. A cause is direct if the next value of the effect is forecast
#' better with the cause than without it, although the forecast already uses the past of
#' the effect and of all other series that were found to improve it.
#'
#' # What is computed
#' Links of the map with a rho of at least `threshold` are looked at; where there is none, the
#' table is empty, and says what the highest rho is. Each effect is
#' forecast one step ahead by an S-map from its own past (as many coordinates as its
#' `E`, from 2 to 4), its season and the time
#' where it has a season or drifts, and the past of its *parties*. At
#' first there are none. The link that improves the forecast most, at the best of
#' `max_delay` delays, becomes one, if the improvement is significant among all that
#' were tried; and so on, up to `max_parties`. Then each link has its test: that of a
#' party without this party, that of any other cause with all parties. The cause enters
#' each local model with its value and its square, but not the distances between states.
#' So a cause that adds nothing makes the forecast hardly worse, and one that adds a little
#' is found. A cause is tested at the steps at which it is known; what other causes miss
#' takes none of them away.
#'
#' Each forecast leaves its own row out. With e the error without the cause, and c what the
#' cause changes in the forecast, the mean of e c is what the squared error would fall by if
#' the coefficients of the cause were known and not estimated (Harvey, Leybourne and Newbold
#' 1998). `gain` is this mean as a share of the squared error, and `t` this mean over its
#' standard error, which allows for memory (Newey and West 1987). A direct link has a `t` of 3.5 or
#' more: no state is complete, and a cause that tells of the rest improves the forecast a little.
#' `p_value` is one-sided, times the number of delays that were tried; `q_value`
#' is the false discovery rate over all links that were tested (Benjamini and Hochberg 1995).
#'
#' # Noisy series
#' A series that is seen with noise does not screen off what drives it: in a chain of three,
#' the first then tells of the true value of the second, and looks like a direct cause of the
#' third. So each link that looks direct has its test again, given a better picture of each
#' other series in between: its forecast from two steps before and after, and from the cause
#' and the effect. A link that keeps less than three quarters of its `t`, or a `t` below 3, is
#' `"refused"` with the reason `"noise"`, if the pictures bring a fifth of its `gain` or more, given
#' the cause, and 0.6 times the share of its `t` that is left. Pictures of a series without noise
#' tell nothing that the series and the cause do not. The effect is then searched again without
#' the cause. Where a series between two others has observation noise of 5 to 50 %, 1 to 4 % of the
#' mediated links are called direct, and of 100 % 7 to 10 %; of the direct links it finds 81 to 94 %
#' in 1,000 steps and 69 to 83 % in 300 (chains and networks of logistic, Ricker and Henon maps and
#' of autoregressive series).
#'
#' # Series that go together within a step
#' Where the steps are longer than it takes a cause to act, as in blood flow or slow frames of
#' calcium, two series go together at the same step, and neither comes first. `together` is the
#' clearness of that: the t of the linear test of what the effect does beyond its forecast, by what
#' the cause does beyond its own past, given all other causes at that step. A pair that has no
#' direct link, and in which this is significant among all pairs, is `"undirected"`. One of the two
#' acts sooner than a step, or something that was not recorded acts on both.
#'
#' A driver that was not recorded makes series go together, too, and gives them links if it reaches
#' one sooner than the other. So a direct link whose `together` is above 2.5 and above 0.6 of its
#' `t` has its test again beside three other causes at the time of the effect and a step after
#' it: they tell of such a driver. A link that keeps less than three quarters of its `t` is
#' `"refused"` with the reason `"hidden"`. In systems with a driver that is not
#' recorded 3 to 11 % of the pairs without a link are still called direct
#' (`vignette("error-rates-causes")`).
#'
#' # Linear effects
#' Where a linear forecast of an effect from several steps of all its causes is better than the
#' local one, or worse by less than 1 % (of the squared error, each row left out of its own fit),
#' its links have the linear test: the F test of Granger (1969), given all other causes. The number
#' of steps, from `max_delay` to twice as many, is that with the lowest BIC. `linear` says which
#' test a link had; `t` of a linear test is the normal deviate that has its p value.
#'
#' Partial cross mapping (Leng et al. 2020) asks the same question of cross mapping
#' alone, and gives a number without an error rate. `vignette("error-rates-causes")` has both on
#' the same systems.
#'
#' # Weak links
#' What `threshold` leaves out is never found, and cannot explain other links. It saves
#' time and prevents no errors. So all pairs are tested where the map has 100 series or fewer.
#' In larger maps the threshold is 0.1; where links may take some steps, make such a map with
#' these: `causal_map(x, Tp = -3:0)` gives each pair the best of them.
#'
#' Where all series share waves, nearly all pairs pass a low threshold: of 999,000 pairs of
#' 1,000 neurons of a developing retina 648,000 pass 0.1, and 108,000 pass 0.3. There the
#' threshold, or `max_links`, decides how long you wait.
#'
#' # What it cannot see
#' A driver that is not among the series, where it does not show as above: two series that it drives
#' look linked. A stimulus that is repeated in every trial is such a driver. Subtract from each
#' series its mean response to the stimulus, and trust the links that remain;
#' `vignette("causes")` has an example. Which comes first within a step. A cause that acts after
#' more than `max_delay` steps. Two causes that are
#' copies of each other: one of them is called direct. In series without any noise the
#' past of an effect may hold all of its cause, and then forecasts do not need the cause
#' itself.
#'
#' # Long jobs
#' Effects do not depend on each other, so they are searched in blocks, one after the other;
#' only the false discovery rate is that of all links together. A block takes about half a
#' minute of one processor core, or twenty seconds of a large GPU. With `folder`, each finished
#' block is written there, and the same call again goes on with what is missing: after Ctrl-C,
#' an error, a crash or a killed process. It gives what one undisturbed call would have given,
#' to the last digit. The numbers of `threads` and workers may be others then, but no other
#' series, map, arguments or device; [long_jobs] has the rule. A short job is cut into ten blocks
#' for a folder, so that little of it is lost, too.
#'
#' With `folder` and a plan of the package future, its workers take the blocks:
#' `vignette("clusters")`. Each reads all series that have links from a file that lies in the
#' folder meanwhile, and uses the `threads` of the call, by default those that the plan grants it.
#'
#' Blocks also bound the memory: besides `map` and `x`, a call holds the series that have links in
#' standard units (8 bytes a value), a copy of those that a block needs, some 1,000 bytes a link,
#' and 100 MB: 1.9 GB for 53,053 series of 1,450 steps with 600,000 links. Blocks of a GPU are
#' larger, and take 56 bytes a value instead of 8: 5.6 GB. A worker needs no more.
#' Where this is beyond `max_memory`, the call stops before any link is tested.
#'
#' @param map What [causal_map()] returned for `x`, in memory, in a file or as a table
#'   of links.
#' @param x The series of the map, as given to [causal_map()].
#' @param threshold Smallest rho of the links that are looked at, see "Weak links". `NULL`: all
#'   pairs of up to 100 series, and 0.1 for more.
#' @param alpha Links with a `q_value` of at most this are direct.
#' @param max_delay Most steps that a cause takes to act, from 1. Each delay is one more
#'   trial.
#' @param max_parties Most causes that the forecast of an effect uses besides its own
#'   past.
#' @param ... Not used; must be empty. All arguments after it are given by name.
#' @param max_links Look at so many links at most: those with the highest rho.
#' @param exclusion_radius Rows at most so many steps away from what is forecast are left
#'   out of its model. `NULL`: as in the map.
#' @param dataset,no_time As in [causal_map()].
#' @param folder Path of a folder that keeps what is finished, for long jobs, or `NULL`;
#'   see Long jobs.
#' @inheritParams causal_map
#' @param device `"cpu"`, `"gpu"`, or `"auto"` for the one that should be sooner done.
#'   Both give the same links; `t` agrees to 1e-5 of it.
#' @param threads Number of threads on the CPU, by default those this process, or each worker,
#'   may use.
#' @param max_memory Bytes that the work may hold, see Long jobs; and as many on each worker. The
#'   memory of GPUs does not count.
#'
#' @return A data frame of class `direct_links` with a row for each link, effect by
#'   effect in the order of the map, the highest rho first:
#'   * `cause`, `effect`, and `rho` of the map.
#'   * `link`: `"direct"`; `"undirected"`, where the two go together within a step;
#'     `"mediated"`, where direct links lead from the cause to the effect through one or two
#'     others; `"common driver"`, where direct links lead to
#'     both from a third; `"explained"`, where the parties of the effect say all that
#'     the cause does, and none of these is so; `"unsupported"`, where the cause
#'     does not improve the forecast even without parties, or not significantly among all
#'     links; `"refused"`, where it cannot be told.
#'   * `delay`, in steps: the one at which the forecast improves most, `NA` without a test.
#'   * `gain`: the share of the mean squared error that the cause takes away at this
#'     delay. `t`, `p_value`, `q_value`: see above. `linear`: whether this is the linear test.
#'     `together`: how clearly the two go together within a step.
#'   * `through`: of mediated links, common drivers and explained links the others,
#'     separated by commas; of links refused for noise the noisy series.
#'   * `reason`: why a link was refused: `"constant"`, `"short"`, `"cycle"` (see
#'     [summary.ccm()]), `"in step"`, `"noise"` or `"hidden"`; the last two leave the numbers.
#'     It is `"short"`, too, where gaps, delays or the
#'     `exclusion_radius` leave too few rows for a test.
#'
#'   Attributes: `series` (names), `parameters` (among them `highest_rho` of two series of the
#'   map), `call`, `elapsed` (seconds), `device`.
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`: a
#' map of other series than those of `x`, or of another number of steps. Work beyond `max_memory`
#' gives `synfire_error_budget` before it begins, a GPU that is not there or fails
#' `synfire_error_device`, a machine without memory `synfire_error_memory`.
#'
#' @references
#' Allen DM (1974). The relationship between variable selection and data augmentation and a method
#' for prediction. *Technometrics*, 16, 125-127. \doi{10.1080/00401706.1974.10489157}
#'
#' Benjamini Y, Hochberg Y (1995). Controlling the false discovery rate.
#' *Journal of the Royal Statistical Society B*, 57, 289-300.
#' \doi{10.1111/j.2517-6161.1995.tb02031.x}
#'
#' Granger CWJ (1969). Investigating causal relations by econometric models and cross-spectral
#' methods. *Econometrica*, 37, 424-438. \doi{10.2307/1912791}
#'
#' Harvey DI, Leybourne SJ, Newbold P (1998). Tests for forecast encompassing. *Journal of Business
#' and Economic Statistics*, 16, 254-259. \doi{10.1080/07350015.1998.10524759}
#'
#' Leng S, Ma H, Kurths J, Lai YC, Lin W, Aihara K, Chen L (2020). Partial cross mapping
#' eliminates indirect causal influences. *Nature Communications*, 11, 2632.
#' \doi{10.1038/s41467-020-16238-0}
#'
#' Newey WK, West KD (1987). A simple, positive semi-definite, heteroskedasticity and
#' autocorrelation consistent covariance matrix. *Econometrica*, 55, 703-708.
#' \doi{10.2307/1913610}
#'
#' Sun J, Taylor D, Bollt EM (2015). Causal network inference by optimal causation
#' entropy. *SIAM Journal on Applied Dynamical Systems*, 14, 73-106.
#' \doi{10.1137/140956166}
#' @seealso [causal_map()] before it, [summary.direct_links()],
#'   [autoplot.direct_links()] and [compare_maps()] after it; `vignette("causes")`, and
#'   `vignette("error-rates-causes")`.
#' @examples
#' # x1 drives x2, and x2 drives x3: x1 and x3 are linked through x2.
#' wiring <- rbind(c(0, 0.2, 0), c(0, 0, 0.2), 0)
#' set.seed(1)
#' x <- simulate_coupled_maps(400, wiring, noise = 0.02)
#' map <- causal_map(x, E_max = 5, threads = 2)
#' direct_links(map, x, threads = 2)
#' @export
direct_links <- function(map, x, threshold = NULL, alpha = 0.01, max_delay = 3,
                         max_parties = 5, ..., max_links = Inf, exclusion_radius = NULL,
                         dataset = NULL, no_time = FALSE, folder = NULL,
                         device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL,
                         max_memory = 4e9) {
  begun <- check_given(map = "what causal_map() returned", x = "the series of the map")
  check_no_dots()
  refuse_if(!inherits(map, c("causal_map", "causal_links", "causal_map_file")) ||
              inherits(map, "smap_map"), "map", "what causal_map() returned", describe(map))
  check_whole_map(map, "map")
  source <- map_source(x, dataset, no_time)
  check_same_series(map, source)
  threshold <- threshold %||% if (length(all_series(map)) <= 100L) -1 else 0.1
  limits <- check_links(map, check_number(threshold), NULL, max_links)
  exclusion_radius <- exclusion_radius %||%
    attr(map, "parameters", exact = TRUE)$exclusion_radius %||% 0
  rules <- list(threshold = threshold, alpha = check_alpha(alpha),
                max_delay = check_count(max_delay, max = 100),
                max_parties = check_count(max_parties, max = 8), max_links = max_links,
                exclusion_radius = edm_exclusion(exclusion_radius))
  device <- check_choice(device)
  given_threads <- threads
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  limits$most <- min(limits$most, links_beyond(max_memory, map))
  links <- links_to_test(map, limits)
  links_of_each <- tabulate(match(links$effect, unique(links$effect)))
  seconds <- sum(effect_seconds(links_of_each, source$steps))
  where <- edm_place(device, gpus, seconds / threads)
  where$threads <- threads
  check_links_memory(links, source$steps, where$device, max_memory)
  job <- list(source = source, links = links, rules = rules, where = where,
              own = own_coordinates(series_dimensions(map, source$names)))
  # Where no link is looked at, a folder has nothing to keep.
  found <- if (nrow(links) == 0L) no_links_found() else if (is.null(folder)) {
    join_blocks(search_blocks(job, cut_effects(job, 1)))
  } else {
    links_in_folder(job, folder, given_threads)
  }
  parameters <- c(rules, list(steps = source$steps, highest_rho = highest_rho(map, links)))
  new_direct_links(links, found, source$names, all_series(map), parameters, begun$call,
                   proc.time()[["elapsed"]] - begun$began, where$device)
}

# ---- What is tested ------------------------------------------------------------------

#' Stop where `x` cannot be what the map was made from
#' @noRd
check_same_series <- function(map, source) {
  unknown <- setdiff(all_series(map), source$names)
  refuse_if(length(unknown) > 0L, "x", "the series that the map was made from",
            sprintf("without %s of its series: %s", commas(length(unknown)),
                    some(dQuote(unknown, FALSE))))
  steps <- attr(map, "parameters", exact = TRUE)$steps
  refuse_if(!is.null(steps) && steps != source$steps, "x",
            sprintf("of %s steps, as when the map was made", commas(steps)),
            sprintf("of %s", commas(source$steps)))
}

#' Links of the map with a rho of at least the threshold, by effect, the highest rho first
#' @noRd
links_to_test <- function(map, limits) {
  # Links above the threshold; those that have just this rho are looked at, too.
  limits$threshold <- limits$threshold - 1e-12
  links <- map_links(map, limits)[c("cause", "effect", "rho")]
  series <- all_series(map)
  links <- links[order(match(links$effect, series), -links$rho, match(links$cause, series)), ]
  row.names(links) <- NULL
  links
}

#' The highest rho between two series of a map, NA where none has one
#' @noRd
highest_rho <- function(map, links) {
  if (nrow(links) > 0L) return(max(links$rho))
  c(map_links(map, list(threshold = NULL, alpha = NULL, most = 1))$rho, NA)[[1L]]
}
