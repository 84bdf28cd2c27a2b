# The sections of a report: the results as HTML.

most_listed <- 200L     # units in a table
most_pictured <- 12L    # assemblies with a picture

#' A list of sections: `id`, `title`, `body`
#' @noRd
report_sections <- function(made, connections, pairs, causes, given) {
  section <- \(id, title, ...) list(id = id, title = title, body = list(...))
  sections <- list(
    section("quality", "The recording and its quality", quality_section(made)),
    section("rates", "Rates and intervals", rates_section(made)),
    section("raster", "Raster", raster_section(made)),
    section("assemblies", "Groups that fire together or in sequence",
            assemblies_section(made, given$by)),
    section("connections", "Connections: who excites or inhibits whom",
            connections_section(connections)),
    section("pairs", "Joint rates: pairs that fire together", pairs_section(pairs)),
    if (!is.null(causes)) section("causes", "Which group may drive which", causes_section(causes)),
    section("tested", "Everything that was tested",
            tested_section(made, connections, pairs, causes)),
    section("limits", "What this does not show", tag("aside", html_list(made$limits))),
    section("repeat", "How to repeat it", repeat_section(made, given))
  )
  sections[lengths(sections) > 0L]
}

no_spikes_text <- "There are no spikes to draw."

has_spikes <- function(x) any(!is.na(trial_of(x)))

# ---- Quality, rates, raster ----------------------------------------------------------

quality_section <- function(made) {
  check <- made$check
  findings <- check$findings
  said <- lapply(seq_len(nrow(findings)), \(k) {
    html(tag("strong", c(problem = "Problem. ", warning = "Warning. ",
                         note = "Note. ")[[findings$severity[[k]]]]),
         with_code(paste(findings$message[[k]], findings$remedy[[k]])))
  })
  fine <- setdiff(check$looked_for, findings$check)
  list(
    paragraph(recording_words(made$recording)), paragraph(check_words(check)),
    if (length(said)) html_list(said, "findings", findings$severity),
    if (length(fine)) paragraph(sprintf("Looked for and not found: %s.", check_list(fine))),
    if (has_spikes(made$recording)) html_figure(
      ggplot2::autoplot(check) + ggplot2::labs(title = NULL, subtitle = NULL),
      alt = paste("Four panels: the rate of all units together over the recorded time, the rate of",
                  "each unit over that time, a histogram of all intervals between spikes, and how",
                  "many units have at most which rate.", paste(rate_words(made), collapse = " ")),
      caption = "Intervals below the refractory period are red.", height = 7
    )
  )
}

rates_section <- function(made) {
  table <- made$intervals
  known <- is.finite(table$cv2) & made$check$units$rate > 0
  list(paragraph(rate_words(made), regularity_of_frames(made)),
       if (sum(known) >= 3L) html_figure(ggplot2::autoplot(table, type = "regularity"),
                                         alt = sprintf("CV2 of %s against their rates. %s",
                                                       counted(sum(known), "unit"),
                                                       paste(rate_words(made), collapse = " ")),
                                         width = 6, height = 3.6), unit_listing(made))
}

#' The table of units: in sight where it is short, else to be opened
#' @noRd
unit_listing <- function(made) {
  table <- made$intervals
  n <- nrow(table)
  if (n == 0L) return(NULL)
  shown <- if (n <= most_listed) seq_len(n) else sort(order(-table$spikes)[seq_len(most_listed)])
  out <- data.frame(as.character(table$unit), table$spikes, made$check$units$rate,
                    table$median * 1e3, table$cv2, table$lv, 100 * table$violation_share)[shown, ]
  names(out) <- c("Unit", "Spikes", "Rate (Hz)", "Median interval (ms)", "CV2", "LV",
                  sprintf("Below %s (%%)", duration_text(made$check$refractory)))
  title <- if (n == 1L) "The unit." else if (n <= most_listed) sprintf("All %s units.",
                                                                       commas(n)) else
    sprintf("The %s busiest of %s units; $intervals of the result has all.",
            commas(most_listed), commas(n))
  body <- html_table(out, title)
  if (n <= 20L) body else tag("details", tag("summary", "The table of units"), body)
}

raster_section <- function(made) {
  x <- made$recording
  if (!has_spikes(x)) return(list(paragraph(no_spikes_text)))
  n <- nlevels(x$unit)
  image <- !marks_fit(x)
  height <- min(9, 2 + 0.13 * n)
  near <- close_up(x)
  all <- sprintf("All %s of %s.%s%s", counted(nrow(x), "spike"), counted(n, "unit"),
                 if (image) " There are too many for marks, so colours say how many there are." else "",
                 if (n > 400L) " A row stands for several units." else "")
  list(
    html_figure(ggplot2::autoplot(x), alt = paste("A raster of the whole recording.", all),
                caption = all, height = height),
    if (!is.null(near)) html_figure(
      ggplot2::autoplot(near$x),
      alt = sprintf("A raster of %s of the recording, from %s s.", time_words(near$length),
                    short(attr(near$x, "start"))),
      caption = sprintf("A closer look: %s from the middle of the recording%s.",
                        time_words(near$length), near$units), height = min(9, 2 + 0.13 * near$n)
    )
  )
}

#' A stretch with some 1,500 spikes in the middle of the recording, of at most 100 units; NULL
#' where the whole recording is hardly longer
#' @noRd
close_up <- function(x) {
  units <- drawn_units(x, character(), NULL)
  y <- if (length(units) < nlevels(x$unit)) keep_units(x, rlang::quo(!!units)) else x
  if (nrow(y) < 4000) return(NULL)
  time <- y$time[!is.na(trial_of(y))]
  middle <- length(time) %/% 2
  span <- time[middle + 750L] - time[middle - 749L]
  # A round length reads better.
  length <- signif(span, 1)
  from <- time[[middle - 749L]]
  to <- min(from + length, attr(x, "end", exact = TRUE))
  if (to - from <= 100 * attr(x, "resolution", exact = TRUE)) return(NULL)
  inside <- y$time >= from & y$time <= to
  resolution <- attr(x, "resolution", exact = TRUE)
  near <- build_spike_trains(train_ticks(y)[inside], y$unit[inside], start = from, end = to,
                             resolution = resolution, unit_table = attr(y, "unit_table"),
                             quiet = TRUE)
  list(x = near, length = signif(to - from, 3), n = nlevels(y$unit),
       units = if (length(units) < nlevels(x$unit)) sprintf(
         "; %s of the %s units", commas(length(units)), commas(nlevels(x$unit))) else "")
}

# ---- Assemblies ----------------------------------------------------------------------

assemblies_section <- function(made, by) {
  found <- made$assemblies
  said <- list(paragraph(groups_words(made)), paragraph(searched_words(made)),
               paragraph(frames_words(found)), paragraph(bursts_left_out(found)))
  if (nrow(found) == 0L || length(made$searched) < 3L) return(said)
  shown <- utils::head(seq_len(nrow(found)), most_pictured)
  list(
    said, paragraph(shared_words(found)),
    html_table(plain_assemblies(found), paste(
      "Groups, the surest first. The p value is the probability that independent units give",
      "any group that stands out as much.", if (has_stability(found)) sprintf(
        "A stable member comes out again in %s resamples, each with four fifths of the recording.",
        stable_text(attr(found, "resamples", exact = TRUE)))
    ), "groups"),
    paragraph(stability_advice(found)),
    paragraph(if (nrow(found) > most_pictured) sprintf(
      "There are pictures of the first %d of the %s groups.", most_pictured, commas(nrow(found)))),
    lapply(shown, \(row) assembly_pictured(found, row)),
    assembly_overviews(found), condition_pictured(made, by)
  )
}

assembly_pictured <- function(found, row) {
  said <- assembly_sentence(found, row)
  one <- found[row, ]
  bare <- ggplot2::theme(strip.text = ggplot2::element_blank())
  height <- min(9, 1.6 + 0.42 * found$size[[row]])
  list(
    tag("h3", assembly_names(one)), paragraph(said),
    html_figure(ggplot2::autoplot(one) + bare,
                alt = paste("Spikes of the members around all activations, a band for each member.",
                            said), width = 7.5, height = height),
    html_figure(
      ggplot2::autoplot(one, type = "lags") + bare,
      alt = paste("How often each member fires when the other members do, a histogram of lags for",
                  "each member."),
      caption = paste("How often each member fires when the other members do. Its own spikes did",
                      "not decide which moments these are, so that a unit that has nothing to do",
                      "with the others has no peak here."),
      width = 7.5, height = height
    )
  )
}

#' A stretch of the recording with its activations, and activations over time
#' @noRd
assembly_overviews <- function(found) {
  drawn <- utils::head(found, 6L)
  which <- if (nrow(found) > 6L) " of the first six groups" else ""
  units <- nlevels(attr(found, "recording")$unit)
  list(
    tag("h3", "In the recording"),
    html_figure(
      ggplot2::autoplot(drawn, type = "raster"),
      alt = sprintf("A raster of a stretch with many activations%s, whose spikes are coloured.",
                    which),
      caption = sprintf("A stretch with many activations%s.", which),
      height = min(8, 3 + 0.12 * units)
    ),
    tag("h3", "Over time"),
    html_figure(
      ggplot2::autoplot(drawn, type = "time"),
      alt = paste0("Histograms of the times of activations", which, ". ", paste(
        vapply(seq_len(nrow(drawn)), \(k) {
          sprintf("Assembly %d: %s", found$assembly[[k]],
                  halves_text(found$first_half[[k]], found$second_half[[k]], found$expected[[k]]))
        }, ""), collapse = " ")),
      height = 1.2 + 1.1 * nrow(drawn)
    )
  )
}

condition_pictured <- function(made, by) {
  counts <- made$activations
  if (is.null(counts)) return(NULL)
  p <- activation_psth(made$assemblies, by)
  table <- data.frame(Assembly = counts$assembly, Condition = as.character(counts$condition),
                      Trials = counts$trials, Seconds = signif(counts$seconds, 4),
                      Activations = counts$count, "Per minute" = signif(counts$rate, 3),
                      check.names = FALSE)
  list(
    tag("h3", "In the trials"),
    paragraph(
      sprintf("This is when groups are active over the time of the trials, %s.",
              if (is.null(by)) "all trials together" else
                sprintf("by the column `%s` of the trials", by)),
      "No difference in this was tested."
    ),
    html_table(if (is.null(by)) table[-2L] else table, "Activations in trials."),
    if (!is.null(by)) html_figure(
      ggplot2::autoplot(utils::head(made$assemblies, 6L), type = "condition", by = by),
      alt = sprintf("Activations per second in each trial, by the column %s of the trials.", by)
    ),
    if (!is.null(p)) html_figure(
      ggplot2::autoplot(p),
      caption = "An event is the start of a trial.",
      alt = paste("Activations in single trials, and their rate over the time of the trials, for",
                  "up to four groups."), height = 5
    )
  )
}

# ---- Joint rates ---------------------------------------------------------------------

pairs_section <- function(tested) {
  if (!is.list(tested) || nrow(tested$pairs) == 0L) return(list(paragraph(pair_words(tested))))
  n <- nrow(tested$pairs)
  first <- utils::head(tested$pairs, 9L)
  list(
    paragraph(pair_words(tested)),
    html_figure(
      draw_pairs(first, tested),
      alt = paste("Cross-correlograms:", and_list(sprintf(
        "%s to %s, highest at %s", first$reference, first$target, duration_text(first$lag)))),
      caption = if (n > nrow(first)) sprintf("The surest %d of %s pairs.", nrow(first), commas(n)),
      height = 1.2 + 2 * ceiling(nrow(first) / 3)
    ),
    html_table(pair_table(utils::head(tested$pairs, 25L), tested$n_surrogates,
                          length(unique(tested$peaks))), paste0(
      "Pairs of units, those with narrow peaks first, and the surest of each kind before others",
      if (n > 25L) sprintf(": 25 of %s, all are in $pairs of the result", commas(n)),
      ". Pairs of spikes are those with lags in the window, and expected are as many as the lags",
      " beside it make likely. The p value is corrected for all pairs, lags and widths. It is the",
      " probability that chance gives any pair with as clear a peak",
      if ("narrow" %in% tested$pairs$peak && !is.null(tested$piece)) sprintf(
        "; for narrow peaks, chance keeps all that is slower than %s",
        duration_text(2 * tested$shift)),
      "."
    ))
  )
}

#' Lag histograms of some pairs with the window that stands out
#' @noRd
draw_pairs <- function(pairs, tested) {
  counts <- tested$counts
  lag <- attr(counts, "lag", exact = TRUE)
  bin <- tested$bin
  units <- dimnames(counts)[[2L]]
  # A strip of the picture has room for some thirty letters.
  cut <- \(name) ifelse(nchar(name) <= 30L, name, paste0(
    substr(name, 1L, 14L), "...", substring(name, nchar(name) - 12L)))
  apart <- ifelse(nchar(paste(pairs$reference, pairs$target)) > 26L, "\n", " ")
  labels <- make.unique(sprintf("%s%sto %s", cut(pairs$reference), apart, cut(pairs$target)))
  near <- abs(lag) <= tested$max_lag + bin / 2
  bars <- do.call(rbind, lapply(seq_len(nrow(pairs)), \(k) {
    data.frame(lag = lag[near] * 1e3, pair = factor(labels[[k]], labels),
               count = plain_array(counts)[
      near, match(pairs$reference[[k]], units), match(pairs$target[[k]], units)])
  }))
  windows <- data.frame(low = (pairs$lag - pairs$width / 2) * 1e3,
                        high = (pairs$lag + pairs$width / 2) * 1e3, pair = factor(labels, labels),
                        level = pairs$expected * bin / pairs$width)
  ggplot2::ggplot(bars) +
    shaded_windows(windows) +
    ggplot2::geom_col(aes_from(x = "lag", y = "count"), fill = syn_colours[["blue"]],
                      width = bin * 1e3, colour = syn_colours[["blue"]], linewidth = 0.1) +
    ggplot2::geom_segment(aes_from(x = "low", xend = "high", y = "level", yend = "level"),
                          data = windows, colour = syn_colours[["vermilion"]], linewidth = 0.8) +
    ggplot2::facet_wrap(~pair, scales = "free_y", ncol = 3L) +
    ggplot2::labs(x = "Lag of the second unit (ms)", y = "Pairs of spikes") +
    theme_synfire() +
    caption("Shaded: the window that stands out. Red: what the lags beside it make likely.")
}

# ---- Tested, and how to repeat -------------------------------------------------------

tested_section <- function(made, connections, pairs, causes) {
  table <- made$tested
  table[] <- lapply(table, gsub, pattern = "`", replacement = "", fixed = TRUE)
  names(table) <- c("Question", "What was looked at", "Settings", "Chance", "Result")
  list(html_table(table, "A row for each question."), tag("h3", "What was not looked at"),
       html_list(not_tested(made, connections, pairs, causes)))
}

repeat_section <- function(made, given) {
  version <- as.character(utils::packageVersion("synfire"))
  code <- c("library(synfire)", "# x is the recording", report_code(made, given))
  list(
    paragraph(sprintf("Made with synfire %s on %s.", version, R.version.string),
              "The same call on the same recording gives the same page, with any number of threads."),
    tag("pre", tag("code", paste(code, collapse = "\n"))),
    paragraph("Whether a recording is the same one: `rlang::hash(as.data.frame(x))` gives",
              sprintf("`%s`.", rlang::hash(as.data.frame(made$recording)))),
    if (!is.null(given$assemblies)) paragraph(
      "The groups had been found before, with the random numbers that `attr(found, \"seed\")` keeps."),
    tag("h3", "To cite"),
    html_list(report_citations(version))
  )
}

#' The call with what its arguments were
#' @noRd
report_code <- function(made, given) {
  args <- c(if (given$title != default_title(made$recording)) list(title = given$title),
            if (!is.null(given$by)) list(by = given$by), if (given$causes) list(causes = TRUE),
            if (is.null(given$assemblies)) given$search else list(assemblies = quote(found)),
            list(seed = given$seed))
  before <- if (!is.null(given$assemblies)) {
    paste("found <-", short_code(attr(given$assemblies, "call", exact = TRUE)))
  }
  c(before, short_code(as.call(c(list(as.name("report"), quote(x)), args))))
}

#' Code in lines; what is as long as a recording is cut
#' @noRd
short_code <- function(code) {
  lines <- deparse(code, width.cutoff = 80L)
  if (length(lines) <= 10L) lines else c(lines[1:9], "...")
}

report_citations <- function(version) c(
  sprintf("The synfire authors (2026). synfire: Repeating Patterns in Spike Trains and Time Series. R package version %s.", version),
  paste("Groups: Russo E, Durstewitz D (2017). Cell assemblies at multiple time scales with",
        "arbitrary lag constellations. eLife, 6, e19428. doi:10.7554/eLife.19428"),
  paste("What is beside a window as what chance gives: Stark E, Abeles M (2009). Unbiased estimation",
        "of precise temporal correlations between spike trains. Journal of Neuroscience Methods,",
        "179, 90-100. doi:10.1016/j.jneumeth.2008.12.029"),
  paste("Connections: the same; English DF, McKenzie S, Evans T, Kim K, Yoon E, Buzsaki G (2017).",
        "Pyramidal cell-interneuron circuit architecture and dynamics in hippocampal networks.",
        "Neuron, 96, 505-520. doi:10.1016/j.neuron.2017.09.033"),
  paste("CV2: Holt GR, Softky WR, Koch C, Douglas RJ (1996). Journal of Neurophysiology, 75,",
        "1806-1814. LV: Shinomoto S, Shima K, Tanji J (2003). Neural Computation, 15, 2823-2842.")
)

#' How activations lie in trials, NULL where that cannot be told
#' @noRd
activation_psth <- function(found, by) {
  x <- attr(found, "recording", exact = TRUE)
  trials <- trial_ticks(x)
  if (is.null(trials) || nrow(trials) < 2L) return(NULL)
  shortest <- min(trials$end - trials$start)
  bin <- ticks_to_seconds(max(1, shortest %/% 40), attr(x, "resolution", exact = TRUE))
  tryCatch(psth(as_spike_trains(found), bin_size = bin, by = by),
           synfire_error_argument = \(e) NULL)
}
