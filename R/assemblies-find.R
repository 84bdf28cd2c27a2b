# Groups of units that fire together or in sequence, at whatever time scale.

#' Find cell assemblies
#'
#' Groups of three and more neurons that fire together, or one after the other, again and
#' again. The lags between them, and how precisely they are kept, are found out, from milliseconds
#' to a quarter of a second: there is no bin to choose and no count. Where units are independent,
#' anything at all is reported with a probability of at most `alpha`.
#'
#' # Reading the result
#' Each row is an assembly. Its members are `units`, in the order in which they fire; `lags` says
#' how long after the first one each of them does, and `widths` how precisely: a spike counts in a
#' window of this length around the lag.
#' * An *activation* is a moment at which the spikes in these windows speak for the assembly.
#'   `count` is how many there are, and `expected` how many there would be if the members fired as
#'   they do, but independently. So about `expected` of the `count` activations are chance: do not
#'   take a single one as a fact.
#' * `participation` is in which share of the activations each member fires; `first_half` and
#'   `second_half` say whether the assembly is there all the time.
#' * `p` is the probability that independent units give *any* assembly as clear as this one, of any
#'   units, lags, width and size. The whole search is in it, so that it needs no correction. It is
#'   at least `1 / (n_surrogates + 1)`.
#' * `score` is by how many standard deviations a group exceeds what surrogates have. It tells
#'   assemblies apart that no surrogate comes near, which all have the same p.
#' * `stability` says of each member in which share of the parts of the recording it comes out
#'   again, see Stability. Below one half, another recording would often miss it.
#' * `artefact` names members that a sorter made. Read it before you believe in the assembly.
#'
#' `summary()` says this in words. [autoplot.assemblies()] draws it; its `type = "lags"` is a fair
#' test of each member. What is missed, or reported by mistake, is in Limits.
#'
#' # What is tested
#' The lags between the spikes of every pair of units are counted in windows of 1, 3, 5, 9, 17,
#' ... 257 ms around all lags up to `max_lag`. (Where all times are those of frames or bins, it is
#' windows of 1, 3, 5, ... of them, up to 0.3 s.) The *excess* of a window is what it holds above
#' what is expected:
#' * from two widths of lags on either side of it, half a width away from it. What both units'
#'   rates do over times several times as long as the width is in those, too, and is no excess
#'   (as with the hollow kernels of Stark and Abeles 2009);
#' * from all pairs of units. The excess that pairs have on the whole at a lag and width, as a
#'   share of what is expected, is no evidence, nor is what these shares usually differ by: so
#'   population bursts and oscillations that all units share are no assemblies. Nothing is common
#'   where nothing says so: independent units are measured as their surrogates are, at low rates as
#'   well. With up to 14 units, pairs with much more excess than the others count for little in it,
#'   and with seven units and fewer it is left out;
#' * from the ends of trials: short lags have more places in a trial than long ones;
#' * and it is measured in standard deviations of counts of units whose spikes come in clumps
#'   as these units' do.
#'
#' Population bursts are left out before anything is counted: all moments (of 50 ms) at which four
#' in ten units fire more than usual, in recordings of twelve units and more. In bursts nearly all
#' units have coincidences at all lags, and what an assembly adds is lost among them.
#'
#' Groups are grown from the pairs with the largest excess, unit by unit: the next one is that
#' whose pairs with the members, at lags that agree, have most excess together. Groups that are
#' together rarely grow from moments: two units fire at a lag at some moments, most of them chance.
#' The unit that fires most at one lag from these moments is the third of a *chain*, and the moments
#' at which it does remain. They show the fourth, and so on, up to six units. The best groups of
#' the recording, at each width and size, and the best chain are compared with the best ones of
#' `n_surrogates` surrogates, in each of which every unit is shifted by itself within segments of
#' `segment` seconds, and which go through the same search, growth included. The `score` of a group
#' is how many standard deviations of what surrogates have at its width and size it is above their
#' mean; p is the share of surrogates in which any group has a score as high.
#'
#' Members are then decided one by one. A unit becomes a member where its pairs with members, or
#' its spikes around the activations of the others, have an excess of their own, of 5.5 standard
#' deviations, and a member of which neither its pairs nor the activations of the others say enough
#' is taken out. What a group explains is taken away, and the same search goes on with the rest,
#' until nothing passes what surrogates have. A group that shares half its members with one found
#' before, or half the spikes of its activations, is not reported. Nor is one whose members, half or
#' more, are those of another and whose activations, half or more, come at one shift from those of
#' the other: both are one motif, in which units fire twice.
#'
#' # Activations
#' The windows of the members are laid over the recording, without population bursts. At each
#' moment a member counts by what its spikes in its window speak for: the log of how much more
#' probable their number is at an activation than elsewhere, which is learnt from activations
#' found before, 6 at most. Moments with the highest sums are taken first, and none nearer than the
#' widest window to one that was taken. The threshold is where their number stands out most from
#' `expected`.
#'
#' `expected` is how many there are on average when the members are moved apart, in ten ways, around
#' trials: each by one and a half to two and a half of the widest windows from the one before it, in
#' random order. So what the members' rates do over longer times remains. These times pass faster,
#' by half at most, where all other units fire more, so that rates that rise and fall together raise
#' `expected` as well.
#'
#' Where a quarter or more of the activations follow another one at the same shift, within the span
#' of the assembly, members fire twice in each, and it is counted once; in a rhythm, where these are
#' followed in turn, all are counted.
#'
#' # Speed and order
#' Sequences of theta, replay and song are played faster at one time than at another. The table of
#' activations, `as.data.frame(x, what = "activations")`, has
#' * `speed`: 1 where the members fire at their lags, 2 where they do in half the time. It is the
#'   slope of a straight line through the lags and the times of the members' spikes. Spikes are
#'   looked for along lines of half to double the speed, and count by the probability that they
#'   belong to the line and not to the rest of what the member fires. So a speed is not held near 1
#'   by the windows, in which an activation has to be found;
#' * `order`: Kendall's rank correlation between the lags and the first spikes in the windows, 1
#'   where all members fire in the order of their lags, -1 where they fire in the reverse order.
#'
#' Both are `NA` where fewer than three members with different lags have spikes; a speed also where
#' half the members or fewer are on the line, at the ends of what is looked for, and where the
#' longest lag is no longer than `width`. Few of the activations that are chance have a speed: 1 to
#' 6 % of random moments had one. In simulations of six members with a jitter of 2 ms, 0.7 to 1.4
#' times as fast, the correlation with the planted speed was 0.97, 1.00 and 0.98 at spans of 60, 150
#' and 400 ms (medians of ten recordings each; 0.77 in the worst one). Where all activations had one
#' speed, the median was within 6 % of 1, and the standard deviation 4, 2 and 1 %, or 10 % at a span
#' of 150 ms with a jitter of 10 ms.
#'
#' `summary()` says by how much speeds vary where two halves of the members, every second one, agree
#' on it: jitter alone does not make them agree.
#'
#' # Stability
#' Would the same members come out of another recording of this length? The search is repeated in
#' `resamples` parts of the recording (subsamples). The recording is cut into 40 blocks of time, or
#' fewer, as no block is shorter than `max_lag`; trials are cut into blocks by themselves, and with
#' `locked_to` blocks begin at events. Each resample leaves out a fifth of the blocks, drawn at
#' random, but all blocks are left out equally often. No lag reaches over a gap. Pairs, groups,
#' growth and refinement are as in the search for members. Three things are those of the whole
#' recording: the surrogates, and so the bar that a group has to pass; what pairs have in common;
#' and how the spikes of a unit come in clumps. Only pairs within the assemblies that were found are
#' looked at, and only their members can be found again: so the resamples show which members get
#' lost, and not which others could come in.
#'
#' The `stability` of a member is the share of resamples with a group that is the same (half of its
#' members or more are in the assembly, at the same lags) and has this member. In a resample z
#' values are a tenth smaller and vary by about half a standard deviation. So members with much
#' evidence have a stability of 1, and members that just pass are in about half of the resamples.
#' In simulated recordings of 15 units at 3 Hz for two minutes, with an assembly of five that comes
#' 16, 18, 20, 22, 26 or 30 times, members that are found have a mean stability of 0.40, 0.58, 0.58,
#' 0.70, 0.87 and 0.97; the members are found in a share of 0.21, 0.38, 0.69, 0.95, 1 and 1 of these
#' recordings. Halves of the recording would say too little (0.13 to 0.68), and blocks drawn with
#' replacement too much of members that few recordings have (0.64 to 0.98), as their noise is drawn
#' twice. The resamples share most of their spikes: a cause that acts through all of the recording
#' (a stimulus, a common input, a unit that was sorted twice) is stable, too.
#'
#' # Responses to events
#' Units that respond to a stimulus one after the other have lags in common because of the
#' stimulus. With `locked_to` the null hypothesis knows how each unit responds: a *predictor*
#' (Perkel, Gerstein and Moore 1967) then changes how many coincidences are expected of a pair at a
#' lag. In the predictor, each event has the spikes that the second unit fired at the same times
#' after other events of the same condition, ten before it and ten after it. The predictor keeps
#' how the rate of each unit changes after an event on the mean, its peri-stimulus time histogram,
#' and loses what units do together in single trials. By the share by which a window of it holds
#' more than its sides, more is expected in the recording, too. Members are judged by spikes around
#' activations in the same way, and `expected` is how many activations there are when the members
#' are moved to other events. Responses of many units at once are no population bursts.
#'
#' Spikes belong to the last event before them. So events lie where responses begin: where units
#' fire before them, as before movements, give times so much earlier. Where no event comes for twice
#' as long as usual (and 2 s), spikes are exchanged between parts of that time. At least five events
#' of a condition are needed. Up to 20 the excess has to be larger, as a predictor of few events is
#' not sure.
#'
#' # Recordings of a camera
#' Calcium that is turned into events has one in each frame for as long as a neuron is active,
#' and ten events in a row are no ten spikes. Where all times are those of frames, 10 ms or more
#' apart, a run of successive frames of a unit is therefore one event, at its first frame, in the
#' recording and in the surrogates. Units of a camera that sees planes one after the other may each
#' have frames of their own. `print()` and `summary()` say so, and the attribute
#' `recording` holds these events.
#'
#' # Artefacts of spike sorting
#' A sorter may split one cell into two units, or put spikes of one unit into another. Such units
#' are together whenever the cell fires, and so they become members of one assembly. The column
#' `artefact` names them, as `print()` and `summary()` do:
#' * two members *see one cell* where half of the spikes of the slower one are within 0.1 ms of one
#'   of the other, at a lag of up to 0.7 ms, far more often than at lags just above;
#' * they *may have spikes of each other* where it is a tenth;
#' * a member has more spikes than all other units together (with ten units and more), as noise on
#'   a channel has.
#'
#' Times on a grid of 0.5 ms and more show less: two units see one cell where 80 % of the spikes
#' are shared, and shares below that are not named. Where fewer than three cells are left, the text
#' says that the group is no assembly. Leave out one of the units, and search again.
#'
#' # Relations
#' `as.data.frame(x, what = "relations")` has a row for each two assemblies (`assembly`, `other`)
#' with members in common: how many are `shared`, and the `relation`:
#' * `"same motif"`: at least half of the members of the smaller one, and half of the activations
#'   of the rarer one come at one `shift` (seconds from `assembly` to `other`) from those of the
#'   other. `together` is that share of the activations, beyond chance;
#' * `"reversed"`: at least three members, half or more of the smaller one, in reverse order, as in
#'   forward and reverse replay;
#' * `"subset"`: all members of the smaller one, at other lags or times;
#' * `"shares members"`: else.
#'
#' # Limits
#' Not found:
#' * Pairs. See [cross_correlogram()].
#' * Assemblies of which most units of the recording are members: what all do is taken for
#'   common. With fewer than eight units beside an assembly, this part is not estimated for its
#'   members. Record, or keep, units that are not in it.
#' * What comes rarely where units fire a lot: twelve units that fire together 20 times in 20
#'   minutes were found in 10 of 10 recordings at rates around 3 Hz; at 6 Hz, 28 times, in 2 of 4.
#'   Chains need a span of at most a quarter of `max_lag`, two units that fire together by
#'   chance at most 4,096 times in a window of 9 ms, and no `locked_to`. [spade()] with bins of some
#'   milliseconds finds rarer groups in pieces.
#' * What happens in population bursts alone. `print()` and `summary()` say which share of the time
#'   they take, and the attribute `bursts` when they are: look at spikes there by themselves.
#' * Activations that are much faster or slower than the lags, so that spikes leave the windows.
#'   Search the time at which they may come, such as sleep, by itself: `x[time = c(600, 900)]`.
#' * With `locked_to`, assemblies that follow every event: spikes that come in all trials at the
#'   same time, within a window, are the response of each member. Search without it, and compare.
#'
#' Found, but no assembly:
#' * A common input. Members need not drive each other: [find_synapses()] asks for that.
#' * Without `locked_to`, what is locked to a stimulus or a movement. `summary()` says where
#'   activations come at some times in trials, or after events, more than at others: give these
#'   events as `locked_to`.
#' * With `locked_to`, responses that vary together: where units respond more to some events than to
#'   others, because of attention, adaptation or different stimuli, all of them respond more in the
#'   same trials, and that is what is looked for. In simulations a shared gain with a coefficient of
#'   variation of 0.6 was not reported, and one of 1 was. Where it is the stimulus, give it as the
#'   `condition`. (Rates that are higher for much longer than a window lasts are no excess in any
#'   case, nor is what all pairs have in common.)
#' * With `locked_to`, responses that come sooner or later (a latency that units share makes a
#'   sequence in each trial), and responses that outlast the time up to the next event, where these
#'   times vary. Give the times at which responses begin.
#' * Units that keep a rhythm of the same period: they are together at a constant phase, and their
#'   lags are known up to whole periods. Surrogates forget the phase from one `segment` to the
#'   next, and a longer one is no remedy. Where rhythms last, look at what is found after each
#'   train was moved, by itself, by more than a period; `vignette("recordings-assemblies")` does
#'   so.
#' * Several electrodes that see one cell are together within a millisecond or two: see Artefacts
#'   of spike sorting. Units of one cell that are further apart, as of two distant electrodes on an
#'   axon, are not known to be an artefact: compare their waveforms.
#' * Rates that rise together in some units alone, over 10 to 500 ms, are an assembly here
#'   (Russo and Durstewitz 2017 call it so), whatever makes them rise. Their `widths` are long.
#' * A burst of all units, with seven units and fewer: what pairs have in common is not taken off,
#'   as an assembly may be all there is. Draw `type = "raster"`.
#'
#' Not sure:
#' * Single members. The p value says that there is an assembly, not that each of its members is
#'   one. Draw `type = "lags"`.
#' * `expected`. It may be wrong by a quarter; for windows of 0.1 s and more, where rates change
#'   together within a second, it may be a half or a third of the truth. Compare counts of
#'   conditions with each other rather than with `expected`.
#' * Speeds as such. Lags are known to a part of a window, so all speeds of an assembly may be too
#'   high or too low together: compare its activations with each other.
#' * Bins of 10 ms and more are taken for frames of a camera. Count spikes in finer ones, or give
#'   their times.
#'
#' # Memory and time
#' 50 units, 7 Hz and 20 minutes take about twelve seconds of one core with 99 surrogates, four of
#' them for the resamples. 1,152 units, 0.3 Hz and 30 minutes take seven minutes of two cores, and
#' about a minute of 16 cores with an H200. Time and memory grow with the number of pairs;
#' surrogates are made in batches that fit into `max_memory`. A GPU finds peaks while the processors
#' look for groups in those found before, and for the resamples; as groups take what they take,
#' `"auto"` weighs only how long the CPU would take for the peaks. With `locked_to` the processors
#' count the recording 21 times, also where a GPU finds the peaks of surrogates; and a spike takes
#' 600 bytes.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes. Trials are kept
#'   apart.
#' @param max_lag Longest lag between two members, in seconds. In short trials, and in short
#'   recordings, it is less, and so are the widths: the lag and three of the longest widths fit
#'   into half the length that most trials have. A message says so.
#' @param alpha Probability that anything is reported where units are independent.
#' @param n_surrogates Number of surrogates, at least `1 / alpha - 1`.
#' @param segment Length of the segments within which surrogates shift units, in seconds, at least
#'   twice `max_lag`; there are at most a million of them. Rates that change over longer times are
#'   kept by surrogates. `NULL` for a hundredth of the recording, 10 s at most, but no less than
#'   twice the sum of `max_lag` and 0.9 s: in shorter segments, and in shorter trials, surrogates
#'   vary less than the recording, and p values are too small.
#' @param locked_to Events that units may respond to, see Responses to events: `"trials"` for the
#'   starts of all trials of `x`; times in seconds; or a data frame with a column `time` and, if you
#'   like, a column `condition`, within which events are alike. Events outside of the recording and
#'   its trials, without a condition, or of a condition with fewer than five, are left out. `NULL`
#'   where no response is expected.
#' @param resamples Number of parts of the recording in which the members are looked for again, see
#'   Stability; a multiple of 5 leaves out all times equally often. 0 for none.
#' @param folder Path of a folder in which the surrogates of a long search are kept, made if it is
#'   not there, or `NULL`. Surrogates are then looked at in chunks of 16 and more, by the workers
#'   of the user's `future::plan()` where there are some (see [mine_patterns()]). The same call
#'   again goes on from the finished chunks (see [long_jobs]), with the surrogates that the job
#'   began with, whatever the seed is now. What the recording itself has is looked for in each
#'   call, so `alpha` and `resamples` may differ from call to call.
#' @param device `"cpu"`, `"gpu"`, which finds the peaks of pairs, of the recording and of all
#'   surrogates, or `"auto"` for the one that should be sooner done. Peaks are the same whole
#'   numbers on both, and so is the result.
#' @param gpus Numbers of the GPUs to use, also where `"auto"` chooses them: rows of
#'   `synfire_sitrep()$devices`; `NULL` for the first one. Several share the surrogates.
#' @param threads Number of threads, with a `folder` of each worker; `NULL` for all that this
#'   process may use.
#' @param max_memory Bytes the work, or each worker, may hold, see Memory; and as many on each GPU.
#'
#' @return A data frame of class `assemblies` with a row for each assembly, the surest first:
#'   \describe{
#'     \item{assembly}{its number}
#'     \item{size}{number of members}
#'     \item{units}{list: their names, in the order of their lags}
#'     \item{lags}{list: middle of each member's window, in seconds after that of the first one}
#'     \item{widths}{list: lengths of these windows, in seconds}
#'     \item{width}{the median of them}
#'     \item{count}{number of activations}
#'     \item{expected}{how many there are by chance, see Activations}
#'     \item{first_half, second_half}{activations in each half of the recording (of the time in
#'       trials)}
#'     \item{p, score}{see above; the highest score is first}
#'     \item{participation}{list: share of the activations in which each member has a spike in
#'       its window}
#'     \item{times}{list: times of the activations, in seconds: the middle of the first member's
#'       window}
#'     \item{spikes}{list: a matrix, activations x members, of numbers of spikes}
#'     \item{stability}{list: share of the resamples that have each member, see Stability; `NA`
#'       with `resamples = 0`}
#'     \item{artefact}{which members see one cell or are noise, in words, or `NA`; see Artefacts of
#'       spike sorting}
#'   }
#'   Attributes: `recording` (what was looked at), `camera` (`NULL`, or the length of a `frame` in
#'   seconds and how many `spikes` were given, see Recordings of a camera), `max_lag`, `alpha`,
#'   `n_surrogates`, `resamples`, `segment`, `locked_to` (`NULL`, or a data frame of the
#'   events with `time` and `condition`), `window` (widths that were looked at, in seconds),
#'   `left_out` (share of the time that is in population bursts), `bursts` (data frame with their
#'   `start` and `end`, in seconds), `maxima` (sizes x widths x surrogates: the largest evidence of
#'   each, see `vignette("definitions-significance")`), `chains` (surrogates: the largest evidence
#'   of a chain, `NA` where none were looked for), `best` (`score` and `p` of the best group,
#'   reported or not; `NULL` with less than three units or no spikes), `device`, `gpus`, `threads`,
#'   `elapsed` (s), `seed` (`.Random.seed` as it was before) and `call`. [set.seed()] decides all,
#'   with any number of threads and on each device.
#'
#'   `as.data.frame()` gives the table, or, with `what = "members"`, a row for each member, with
#'   `what = "activations"` a row for each activation (`assembly`, `time`, how many `members` fired,
#'   which `units` they are, `speed` and `order`, see Speed and order), with `what = "relations"` a
#'   row for each two assemblies that share members, see Relations.
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; work beyond `max_memory`
#' gives `synfire_error_budget`, a GPU that is not there or fails `synfire_error_device`, and lags
#' or segments too long for one `synfire_error_too_large`. A recording without an assembly is no
#' error.
#'
#' @references
#' Meinshausen N, Buehlmann P (2010). Stability selection. *Journal of the Royal Statistical Society
#' B*, 72, 417-473. \doi{10.1111/j.1467-9868.2010.00740.x}
#'
#' Perkel DH, Gerstein GL, Moore GP (1967). Neuronal spike trains and stochastic point processes.
#' II. Simultaneous spike trains. *Biophysical Journal*, 7, 419-440.
#' \doi{10.1016/S0006-3495(67)86597-4}
#'
#' Russo E, Durstewitz D (2017). Cell assemblies at multiple time scales with arbitrary lag
#' constellations. *eLife*, 6, e19428. \doi{10.7554/eLife.19428}
#'
#' Stark E, Abeles M (2009). Unbiased estimation of precise temporal correlations between spike
#' trains. *Journal of Neuroscience Methods*, 179, 90-100. \doi{10.1016/j.jneumeth.2008.12.029}
#'
#' Stella A, Bouss P, Palm G, Gruen S (2022). Comparing surrogates to evaluate precisely timed
#' higher-order spike correlations. *eNeuro*, 9, ENEURO.0505-21.2022.
#' \doi{10.1523/ENEURO.0505-21.2022}
#'
#' @seealso [assembly_activations()] for another recording, [autoplot.assemblies()] for pictures,
#'   [simulate_assemblies()], [mine_episodes()], [spade()].
#' @examples
#' set.seed(1)
#' x <- simulate_assemblies(duration = 60, units = 15, assemblies = c("synchrony", "sequence"),
#'                          size = 4, count = 60)
#' found <- find_assemblies(x, max_lag = 0.1, n_surrogates = 19, threads = 2)
#' found
#' summary(found)
#' as.data.frame(found, what = "members")
#' # Ten units respond to each second, one after the other: no assembly beyond that.
#' response <- as.vector(outer(1:59, 0.1 + 0.02 * 1:10, `+`)) + rnorm(590, sd = 0.01)
#' y <- spike_trains(c(x$time, response), c(as.character(x$unit), rep(1:10, each = 59)),
#'                   start = 0, end = 60)
#' find_assemblies(y, max_lag = 0.1, n_surrogates = 19, locked_to = 1:59, threads = 2)$units
#' @order 1
#' @export
find_assemblies <- function(x, max_lag = 1, alpha = 0.05, n_surrogates = 99, segment = NULL,
                            locked_to = NULL, resamples = 10, folder = NULL,
                            device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL,
                            max_memory = 4e9) {
  check_given(x = "a recording")
  call <- sys.call()
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  alpha <- check_alpha(alpha)
  n <- check_count(n_surrogates, "n_surrogates", max = 1e6)
  exceeded <- floor(alpha * (n + 1) * (1 + 1e-9)) - 1
  refuse_if(exceeded < 0, "n_surrogates", sprintf("at least %s, that is 1 / alpha - 1",
                                                  commas(ceiling(1 / alpha * (1 - 1e-9)) - 1)),
            exact(n))
  events <- locked_events(locked_to, x)
  resamples <- check_count(resamples, min = 0, max = 1e4)
  device <- check_choice(device)
  check_place(device, gpus)
  frame <- frame_ticks(x)
  ladder <- assembly_ladder(x, max_lag, segment, frame)
  # Frames so long are those of a camera, and no bins of spikes.
  camera <- if (frame * attr(x, "resolution") >= 0.01 * (1 - 1e-9)) {
    list(frame = ticks_to_seconds(frame, attr(x, "resolution")), spikes = nrow(x))
  }
  if (!is.null(camera)) x <- first_frames(x, frame)
  here <- check_threads(threads)
  max_memory <- check_memory(max_memory, min = 1e7)
  gpus <- surrogate_place(device, gpus,
                          \() assembly_seconds(x, ladder, n, !is.null(events)) / here)
  seed <- current_seed()
  trains <- trains_of(x)
  options <- c(ladder, list(events = events[c("tick", "kind")], first = 0, n = n, known = NULL,
                            key = random_key(), gpus = gpus, threads = here,
                            max_memory = max_memory))
  started <- proc.time()[["elapsed"]]
  if (!is.null(folder)) {
    done <- assembly_maxima_in_folder(folder, trains, attr(x, "resolution"), options, threads,
                                      seed)
    options[c("known", "key")] <- done[c("known", "key")]
    seed <- done$seed
  }
  found <- if (may_have_assemblies(trains)) {
    finish_assemblies(.Call(r_find_assemblies, trains,
                            c(options, list(exceeded = min(exceeded, n - 1),
                                            resamples = resamples))))
  }
  new_assemblies(found, x, ladder, list(
    recording = x, camera = camera, max_lag = ladder$max_lag, alpha = alpha, n_surrogates = n,
    resamples = resamples,
    segment = ticks_to_seconds(ladder$segment, attr(x, "resolution")),
    locked_to = events$table,
    window = ticks_to_seconds(found$width * ladder$bin, attr(x, "resolution")),
    maxima = found$maximum, chains = found$chains, left_out = found$left_out,
    bursts = burst_table(found$bursts, attr(x, "resolution")),
    best = if (!is.null(found$best)) {
      c(score = found$best, p = (sum(found$score >= found$best) + 1) / (n + 1))
    },
    device = if (is.null(gpus)) "cpu" else "gpu", gpus = if (!is.null(gpus)) gpus + 1L,
    threads = here,
    elapsed = proc.time()[["elapsed"]] - started, seed = seed, call = call
  ), max_memory)
}

#' Lengths in ticks and in bins; a bin is a millisecond, or what the times are multiples of
#' where that is longer
#' @param frame What `frame_ticks()` gave.
#' @noRd
assembly_ladder <- function(x, max_lag, segment, frame = frame_ticks(x)) {
  resolution <- attr(x, "resolution")
  bin <- max(1, round(0.001 / resolution), frame)
  shortest <- ticks_to_seconds(bin, resolution)
  max_lag <- check_number(max_lag, min = shortest, max = 1e5 * shortest)
  whole <- diff(interval_ticks(x))
  longest <- common_length(x)
  widest <- max(shortest, min(0.3, longest / 12))
  max_lag <- lag_within(max_lag, max(shortest, longest / 2 - 3 * widest), widest, x)
  if (is.null(segment)) {
    # Lags and the sides of the widest window go around a shorter segment into themselves.
    reach <- max_lag + 3 * max(0.3, shortest)
    segment <- max(2 * reach, min(10, ticks_to_seconds(whole, resolution) / 100))
  }
  segment <- check_number(segment, min = 2 * max_lag, max = 1e9)
  # At most 1e9 bins, so that the core counts those of a segment in 31 bits.
  list(bin = bin, max_lag = max_lag, lags = floor(max_lag / resolution / bin * (1 + 1e-9)),
       widest = max(1, floor(widest / resolution / bin * (1 + 1e-9))),
       segment = max(min(round(segment / resolution), 1e9 * bin), ceiling(whole / 1e6)),
       step = max(1, round(0.05 / resolution / bin)) * bin)
}

#' The longest lag that is looked at: in surrogates a lag and its sides go around the end of a
#' trial, and come back as other lags if they are longer than half of it
#' @noRd
lag_within <- function(max_lag, most, widest, x) {
  if (max_lag <= most * (1 + 1e-9)) return(max_lag)
  what <- if (is.null(attr(x, "trials", exact = TRUE))) "The recording is" else "Trials are"
  cli::cli_inform(c(i = paste(
    "{what} {duration_text(common_length(x))} long, so lags are looked at up to",
    "{duration_text(most)} and not {duration_text(max_lag)}, in windows of up to",
    "{duration_text(widest)}."
  )))
  most
}

#' Seconds that one thread takes for the peaks of pairs, about
#'
#' A pair of spikes within reach takes 2 ns in the recording, and one in the same segment
#' 0.7 ns, once for all surrogates; each of them then takes 0.012 ns a lag and segment, or 1 ns
#' a pair of spikes where these are few, and 1 ns a window. Measured. Where responses are known,
#' 20 shifts of the recording are counted as well.
#'
#' @param ladder What `assembly_ladder()` gave.
#' @noRd
assembly_seconds <- function(x, ladder, n, locked = FALSE) {
  spikes <- as.double(tabulate(x$unit, nlevels(x$unit)))
  pairs <- length(spikes) * (length(spikes) - 1) / 2
  of_both <- (sum(spikes)^2 - sum(spikes^2)) / 2
  bins <- max(1, diff(interval_ticks(x)) / ladder$bin)
  segments <- max(1, bins * ladder$bin / ladder$segment)
  half <- c(0, 2^(0:14))
  half <- half[2 * half + 1 <= ladder$widest]
  windows <- sum(2 * floor(ladder$lags / pmax(1, half / 2)) + 1)
  lags <- 2 * (ladder$lags + 6 * max(half) + 4) + 1
  added <- min(0.012e-9 * lags * segments * pairs, 1e-9 * of_both / segments)
  of_both * (2e-9 * min(1, lags / bins) * (1 + 20 * locked) + 0.7e-9 / segments) +
    n * (added + 1e-9 * windows * pairs)
}

#' The first event of each run of successive frames of a unit
#' @noRd
first_frames <- function(x, frame) {
  ticks <- train_ticks(x)
  o <- order(x$unit, ticks)
  again <- c(FALSE, diff(ticks[o]) < 1.5 * frame & diff(as.integer(x$unit)[o]) == 0L)
  x[sort(o[!again]), ]
}

#' @param found What the core found; `NULL` where there was nothing to look at.
#' @noRd
new_assemblies <- function(found, x, ladder, about, max_memory = 4e9) {
  groups <- distinct_groups(lapply(found$groups, in_order_of_time, x), x, ladder$bin)
  resolution <- attr(x, "resolution")
  seconds <- function(bins) ticks_to_seconds(bins * ladder$bin, resolution)
  n <- about$n_surrogates
  scores <- vapply(groups, \(g) g$score, 0)
  surest <- order(-scores)
  groups <- groups[surest]
  scores <- scores[surest]
  p <- (vapply(scores, \(score) sum(found$score >= score), 0) + 1) / (n + 1)
  groups <- lapply(groups, counted_once, x, ladder$bin)
  units <- lapply(groups, \(g) levels(x$unit)[g$unit])
  new_table(c(list(assembly = seq_along(groups), size = lengths(units), units = units,
                   lags = lapply(groups, \(g) seconds(g$lag)),
                   widths = lapply(groups, \(g) seconds(g$width)),
                   width = vapply(groups, \(g) stats::median(seconds(g$width)), 0)),
              activation_columns(groups, x, p = p, score = scores),
              list(stability = lapply(groups, \(g) {
                if (about$resamples == 0) rep(NA_real_, length(g$unit)) else
                  g$named / about$resamples
              }), artefact = member_artefacts(units, x, about$threads, max_memory))),
            "assemblies", about)
}

#' Columns on the activations of groups: `...` are those after `second_half`
#' @noRd
activation_columns <- function(groups, x, ...) {
  early <- vapply(groups, \(g) first_half(x, g$tick), 0)
  count <- vapply(groups, \(g) length(g$tick), 0L)
  list(count = count, expected = vapply(groups, \(g) g$expected, 0),
       first_half = as.integer(early), second_half = as.integer(count - early), ...,
       participation = lapply(groups, \(g) {
         if (length(g$tick)) unname(colMeans(g$spikes > 0)) else rep(NA_real_, length(g$unit))
       }),
       times = lapply(groups, \(g) ticks_to_seconds(g$tick, attr(x, "resolution"))),
       spikes = lapply(groups, `[[`, "spikes"))
}

#' A group of the core with its activations in order of time, and names of its units
#' @noRd
in_order_of_time <- function(g, x) {
  colnames(g$spikes) <- levels(x$unit)[g$unit]
  keep_activations(g, order(g$tick))
}

#' Population bursts in seconds
#' @param bursts Matrix: a column for each, with its first tick and the one after it; or `NULL`.
#' @noRd
burst_table <- function(bursts, resolution) {
  bursts <- bursts %||% matrix(0, 2L, 0L)
  data.frame(start = ticks_to_seconds(bursts[1L, ], resolution),
             end = ticks_to_seconds(bursts[2L, ], resolution))
}

#' How many ticks are in the first half of the recorded time
#' @noRd
first_half <- function(x, tick) {
  start <- stretches(x)$start
  length <- stretches(x)$stop - start
  half <- sum(length) / 2
  before <- cumsum(length) - length
  k <- max(1L, which(before <= half))
  sum(tick < start[[k]] + half - before[[k]])
}
