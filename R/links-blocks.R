# Effects are searched in blocks, one after the other or by workers: each needs memory for its
# own series alone, and can be kept in a file, so that a long job can go on.

# Of the files. Raised whenever they, or what is found in the same series, change.
links_job_format <- 3L

# Seconds that a block takes at most, about, on one core; a GPU does more in the same time.
links_block_seconds <- c(cpu = 30, gpu = 6000)

# Blocks that a folder keeps of a short job, where there are as many effects of about equal work.
links_least_blocks <- 10

#' What is found where there is no link to test
#' @noRd
no_links_found <- function() {
  list(reason = character(), parties = list(),
       noisy = integer(), hidden = logical(),
       test = data.frame(delay = integer(), gain = double(), t = double(), p_value = double(),
                         alone = double(), first = double(), linear = logical(),
                         together = double(), p_together = double()))
}

#' Search all effects, and keep all blocks in a folder
#'
#' @param job A list: `source`, see map_source(); `links`, a data frame of `cause`, `effect` and
#'   `rho`, by effect; `rules`, the parameters of the search; `own`, of each series of the
#'   source, see own_coordinates(); `where`, see edm_place(), with `threads`.
#' @param folder As the user gave it.
#' @param threads A number, or `NULL` for what each worker may use.
#' @return A list, by link: `reason`, why it cannot be told, or NA; `parties` (numbers of
#'   series of the source) of the effects of those without a reason, and `test`, see
#'   search_links().
#' @noRd
links_in_folder <- function(job, folder, threads) {
  done <- work_in_folder(folder, new_links_job(job), \(todo, folder, there) {
    if (workers_planned()) return(search_apart(job, there, todo, folder, threads))
    keep <- \(found, block) write_chunk(found, block, folder, there$id)
    search_blocks(job, there$end, todo, keep)
  }, links_job_differences)
  join_blocks(done$parts)
}

#' @param end The last link of each block.
#' @param todo Numbers of blocks.
#' @param keep Called with what was found in a block, and its number.
#' @return What search_block() gives for each of `todo`.
#' @noRd
search_blocks <- function(job, end, todo = seq_along(end), keep = \(found, block) NULL) {
  held <- hold_links(job, end)
  size <- diff(c(0, end))
  bar <- common_bar("Testing links", sum(size[todo]))
  lapply(todo, \(block) {
    found <- search_block(block, held)
    keep(found, block)
    bar(size[[block]])
    found
  })
}

#' The same by the workers of the user's plan, which write the blocks
#' @param there The job that is in the folder.
#' @noRd
search_apart <- function(job, there, todo, folder, threads) {
  held <- hold_links(job, there$end)
  # A worker knows the series by this file alone.
  held$job$source <- NULL
  path <- tempfile(paste0("job.rds", temporary_mark), folder, ".tmp")
  on.exit(unlink(path))
  write_whole(c(held, folder = folder, id = there$id), path)
  do_chunks(todo, open_links, search_chunk, list(path), threads, folder)
}

#' What a worker searches
#' @param threads A number.
#' @noRd
open_links <- function(path, threads) {
  held <- read_whole(path)
  if (is.null(held)) {
    abort_about("folder", "A worker cannot read {.file {path}}.",
                i = "{.arg folder} must be on a file system that all workers share, and stay.")
  }
  held$job$where$threads <- threads
  held
}

search_chunk <- function(chunk, held) {
  found <- search_block(chunk, held)
  write_chunk(found, chunk, held$folder, held$id)
  found
}

#' What all blocks are searched with: `job`, `end`, `series`, `links`, by numbers of these, and
#' `pairs`, their sorted keys, see pair_key()
#' @noRd
hold_links <- function(job, end) {
  series <- standard_series(job$source, job$links, job$where$threads)
  column <- \(names) match(match(names, job$source$names), series$column)
  links <- list(from = column(job$links$cause), to = column(job$links$effect), rho = job$links$rho)
  list(job = job[c("source", "rules", "own", "where")], end = end, series = series, links = links,
       pairs = sort(pair_key(links$from, links$to)))
}

#' Search the effects of a block
#' @param held What hold_links() gives.
#' @noRd
search_block <- function(block, held) {
  job <- held$job
  series <- held$series
  rows <- seq(c(0, held$end)[[block]] + 1, held$end[[block]])
  links <- lapply(held$links, `[`, rows)
  used <- sort(unique(c(links$from, links$to)))
  times <- sort(unique(unlist(series$clock[used])))
  value <- series$value[, used, drop = FALSE]
  if (length(times) > 0L) value <- cbind(value, series$time[, times, drop = FALSE])
  clock <- lapply(series$clock[used], \(clock) length(used) + match(clock, times))
  rules <- job$rules
  forecast <- \(value, jobs, keep = FALSE) {
    conditional_forecasts(value, jobs, rules$exclusion_radius, max(most_own, rules$max_delay),
                          list(gpus = gpus_of(job$where), threads = job$where$threads), keep)
  }
  related <- \(a, b) is_among(pair_key(used[a], used[b]), held$pairs)
  from <- match(links$from, used)
  to <- match(links$to, used)
  reason <- link_obstacles(from, to, links$rho, value, series$reason[used])
  open <- is.na(reason)
  some <- list(from = from[open], to = to[open], gaps = series$gaps[used][from[open]])
  found <- settle_links(some, job$own[series$column[used]], clock,
                        c(rules, threads = job$where$threads), related, value,
                        forecast)
  found$parties <- lapply(found$parties, \(party) series$column[used[party]])
  found$noisy <- series$column[used[found$noisy]]
  c(list(reason = reason), found)
}

#' Whether numbers are among many sorted ones, which `%in%` would hash at each call
#' @noRd
is_among <- function(x, sorted) {
  at <- findInterval(x, sorted)
  at > 0L & sorted[pmax(at, 1L)] == x
}

join_blocks <- function(parts) {
  each <- \(name) lapply(parts, `[[`, name)
  list(reason = unlist(each("reason")), test = do.call(rbind, each("test")),
       noisy = unlist(each("noisy")), hidden = unlist(each("hidden")),
       parties = do.call(c, lapply(parts, \(part) part$parties[part$group])))
}

#' Cut the effects into blocks of about equal work
#'
#' This must not depend on threads, so that a job can go on with more or fewer.
#'
#' @param least How many blocks, at least, where the work can be cut so.
#' @return The last link of each block.
#' @noRd
cut_effects <- function(job, least) {
  last <- which(!duplicated(job$links$effect, fromLast = TRUE))
  seconds <- effect_seconds(diff(c(0, last)), job$source$steps)
  most <- links_block_seconds[[job$where$device]]
  blocks <- min(max(ceiling(sum(seconds) / most), least), length(last))
  block <- pmax(1, ceiling((cumsum(seconds) - seconds / 2) / sum(seconds) * blocks))
  last[diff(c(block, Inf)) > 0]
}

# ---- Memory --------------------------------------------------------------------------

# Bytes of a link, with all that is found of it, and of work in progress, at most.
link_bytes <- 1000
links_work_bytes <- 1e8

# Bytes of a value of the series that have links: in standard units, and in a block, where those of
# a GPU have most series, and what these do beyond their pasts.
links_value_bytes <- c(cpu = 16, gpu = 64)

#' As many links as are beyond this memory, where the map may have so many
#' @noRd
links_beyond <- function(max_memory, map) {
  beyond <- floor(max_memory / link_bytes) + 1
  if (prod(dim(map)) > beyond) beyond else Inf
}

#' Stop where links, and the series that have them, are beyond memory
#' @noRd
check_links_memory <- function(links, steps, device, max_memory) {
  if (nrow(links) == 0L) return(invisible())
  series <- length(unique(c(links$cause, links$effect)))
  needed <- links_work_bytes + link_bytes * nrow(links) +
    links_value_bytes[[device]] * steps * series
  check_budget(needed, max_memory, sprintf("testing %s", counted(nrow(links), "link")),
               "Look at fewer links: raise `threshold`, or give `max_links`.")
}

# ---- The job in a folder -------------------------------------------------------------

#' What decides the result, and where it is cut
#' @noRd
new_links_job <- function(job) {
  out <- list(format = links_job_format, series = job$source$id(),
              map = rlang::hash(list(as.list(job$links), job$own)),
              parameters = c(job$rules, device = job$where$device),
              end = cut_effects(job, links_least_blocks))
  c(out, id = rlang::hash(out))
}

#' What a job that is there has otherwise, in words
#' @noRd
links_job_differences <- function(there, job) {
  if (!is.list(there) || is.null(there$map)) return("its job.rds is not one of direct links")
  if (!identical(there$format, job$format)) return("written by another version of synfire")
  settings <- setting_differences(there$parameters, job$parameters)
  c(
    if (!identical(there$series, job$series)) "the series differ",
    settings,
    # With other settings other links are looked at.
    if (length(settings) == 0L && !identical(there$map, job$map)) "the map differs"
  )
}

#' The series that have links, in standard units, and their clocks
#'
#' @return A list: `column`, numbers of these series in the source; `value`, a matrix of
#'   steps x series; `clock`, for each series the columns of the matrix `time` that tell it
#'   the time; `reason`, why a series allows no sentence, or NA; `gaps`, the same number for
#'   series that are missing in the same steps.
#' @noRd
standard_series <- function(source, links, threads) {
  column <- which(source$names %in% c(links$cause, links$effect))
  value <- matrix(0, source$steps, length(column))
  first <- rep(1L, source$steps)
  traits <- season <- list()
  gaps <- character()
  for (some in pieces(length(column), max(1, floor(standard_block / source$steps)))) {
    x <- source$read(column[some])
    part <- traits_of_each(x, first, threads)
    seasonal <- which(part$period > 0L)
    traits <- c(traits, list(part))
    # A text that is the same for series that miss the same steps.
    gaps <- c(gaps, apply(is.na(x), 2L, \(gone) if (any(gone)) rlang::hash(which(gone)) else ""))
    season <- c(season, list(season_means(x[, seasonal, drop = FALSE], first,
                                          part$period[seasonal], threads)))
    value[, some] <- in_standard_units(x, threads)
  }
  traits <- do.call(rbind, traits)
  clocks <- series_clocks(do.call(cbind, season), traits, threads)
  reason <- trait_reasons(traits)
  # Forecasts can do with counts, whose states look alike, and know of drifts.
  reason[reason %in% c("counts", "drift")] <- NA_character_
  reason[traits$known < verdict_rules$rows] <- "short"
  list(column = column, value = value, time = clocks$time, clock = clocks$of, reason = reason,
       gaps = match(gaps, unique(gaps)))
}

# Numbers of the series that are read at a time.
standard_block <- 2^23

#' What is known of the next value of series from the time alone
#'
#' Their seasons one step later, and the time itself where series drift: what two series have
#' in common because of these is no link.
#'
#' @param season Matrix of steps x those series that have one.
#' @return A list: `time`, a matrix with a column for each season, and for the time; `of`,
#'   the numbers of its columns for each series.
#' @noRd
series_clocks <- function(season, traits, threads) {
  steps <- nrow(season)
  seasonal <- which(traits$period > 0L)
  of <- vector("list", nrow(traits))
  of[seasonal] <- as.list(seq_len(ncol(season)))
  drifts <- which(traits$drift > verdict_rules$drift)
  of[drifts] <- lapply(of[drifts], c, ncol(season) + 1L)
  later <- rbind(season[-1L, , drop = FALSE], rep(NA_real_, ncol(season)))
  time <- cbind(later, if (length(drifts) > 0L) as.double(seq_len(steps)))
  list(time = in_standard_units(time, threads), of = of)
}

most_own <- 4L

#' How many coordinates of its own past each effect is forecast from
#' @noRd
own_coordinates <- function(E) as.integer(pmin(pmax(ifelse(is.na(E), 3, E), 2), most_own))

#' Seconds that the search for each effect takes on one core, from how many links it has
#' @noRd
effect_seconds <- function(links, steps) {
  # An effect is forecast some 15 times, and each link some 5 times at each delay; beside pictures
  # of other series, those that look direct some 50 times.
  (15 + 5 * links) * 2.5e-9 * steps^2
}
