# Computes the results that a report shows, in the order of its sections.

#' All results, and how far the work is on the way
#' @noRd
report_results <- function(x, given) {
  started <- proc.time()[["elapsed"]]
  tell <- report_progress(if (given$causes) 8 else 7)
  tell("the quality of the recording")
  made <- list(file = given$file, title = given$title, recording = x)
  made$check <- check_recording(x, threads = given$threads, max_memory = given$max_memory)
  tell("rates and intervals")
  made$intervals <- isi_statistics(x)
  tell("assemblies")
  made <- c(made, searched_assemblies(x, given))
  made$activations <- activations_by_condition(made$assemblies, given$by)
  tell("connections")
  connections <- test_connections(x, given$threads, given$max_memory)
  made$connections <- if (inherits(connections, "synapses")) connections
  tell("joint rates of pairs")
  pairs <- test_pairs(events_looked_at(x, made$assemblies), attr(made$assemblies, "alpha"),
                      given$threads, given$max_memory)
  made$pairs <- if (is.list(pairs)) pairs$pairs
  made$correlograms <- if (is.list(pairs)) pairs$counts
  causes <- NULL
  if (given$causes) {
    tell("which group may drive which")
    causes <- test_causes(made$assemblies, given$threads, given$max_memory)
  }
  made$causes <- if (is.list(causes)) causes$links
  made$tested <- tested_table(made, connections, pairs, causes)
  made$limits <- limits_of(made, pairs)
  tell("pictures")
  sections <- report_sections(made, connections, pairs, causes, given)
  tell("the page")
  made <- c(made, list(seed = given$seed, elapsed = proc.time()[["elapsed"]] - started,
                       call = given$call))
  list(made = made, sections = sections)
}

#' The object that `report()` gives, once its page is written
#' @noRd
write_results <- function(results) {
  made <- results$made
  page <- report_page(made$title, made_text(made), report_summary(made), results$sections)
  write_report(page, made$file)
  structure(made, class = "recording_report")
}

#' Says which section is made; the function it gives is called before each
#' @noRd
report_progress <- function(steps, frame = parent.frame()) {
  if (progress_in_lines()) {
    line <- line_progress("Making the report", steps)
    go_on <- \(n, what) line(n)
  } else {
    id <- cli::cli_progress_bar(
      format = "{cli::pb_spin} Making the report: {cli::pb_status} ({cli::pb_elapsed})",
      total = steps, .envir = frame
    )
    go_on <- \(n, what) cli::cli_progress_update(n, status = what, id = id, .envir = frame)
  }
  done <- 0
  function(what) {
    go_on(done, what)
    done <<- 1
  }
}

# ---- Assemblies ----------------------------------------------------------------------

#' Assemblies among all units, or among as many of the busiest as fit into memory
#' @noRd
searched_assemblies <- function(x, given) {
  if (!is.null(given$assemblies)) {
    return(list(assemblies = given$assemblies, searched = levels(x$unit)))
  }
  spikes <- spikes_in_trials(x)
  chosen <- seq_along(spikes)
  repeat {
    all <- length(chosen) == nlevels(x$unit)
    units <- levels(x$unit)[chosen]
    y <- if (all) x else keep_units(x, rlang::quo(!!units))
    args <- c(list(y), given$search, given[c("threads", "max_memory")])
    fewer <- floor(0.85 * min(length(chosen), sum(spikes > 0)))
    found <- if (fewer < 3) do.call(find_assemblies, args) else tryCatch(
      do.call(find_assemblies, args), synfire_error_budget = \(e) NULL,
      synfire_error_too_large = \(e) NULL
    )
    if (!is.null(found)) break
    chosen <- sort(utils::head(order(-spikes), fewer))
  }
  # do.call() writes the whole recording into it.
  of <- if (all) quote(x) else quote(x[unit = searched])
  attr(found, "call") <- as.call(c(list(as.name("find_assemblies"), of), given$search))
  list(assemblies = found, searched = units)
}

#' What groups and pairs are looked for in: of a camera's recording, the first frame of each run
#' @noRd
events_looked_at <- function(x, found) {
  if (is.null(attr(found, "camera", exact = TRUE))) return(x)
  first_frames(x, frame_ticks(x))
}

#' How often each assembly is active in the trials of each condition
#' @noRd
activations_by_condition <- function(found, by) {
  if (nrow(found) == 0L) return(NULL)
  x <- attr(found, "recording", exact = TRUE)
  if (is.null(attr(x, "trials", exact = TRUE))) return(NULL)
  condition <- droplevels(check_events(NULL, x, by)$condition)
  a <- as_spike_trains(found)
  trial <- trial_of(a)
  levels <- levels(condition)
  counts <- table(a$unit, factor(condition[trial], levels))
  seconds <- as.vector(tapply(lengths_of_trials(x), condition, sum))
  out <- expand.grid(condition = factor(levels, levels), assembly = found$assembly)
  out <- data.frame(assembly = out$assembly, condition = out$condition,
                    trials = rep(as.vector(table(condition)), nrow(found)),
                    seconds = rep(seconds, nrow(found)), count = as.vector(t(counts)))
  out$rate <- 60 * out$count / out$seconds
  out
}
