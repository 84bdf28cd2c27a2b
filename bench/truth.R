# Who finds assemblies whose truth is known: find_assemblies(), spade(), Elephant's cell assembly
# detection (CAD; Russo & Durstewitz 2017) and principal and independent components
# (Lopes-dos-Santos, Ribeiro & Tort 2013) on the same recordings, one core each.
#
#   sh bench/peers/install.sh                   first, for Elephant (else it is missing)
#   Rscript bench/truth.R [quick|full] [key=value ...]
#
#   quick            two recordings of each case (default): half an hour, most of it CAD's
#   full             100 recordings of each large case and ten of each small one: hours
#   cases=whole,none only these cases (bench/truth/recordings.R and others.R have them; those of
#                    others.R are not what simulate_assemblies() makes)
#   methods=ours,cad only these (bench/truth/methods.R)
#   recordings=10    so many recordings of each case; recordings=12,6 so many of each in turn
#   limit=600        CPU seconds after which a method is stopped at a recording and bin
#   kept=FOLDER      what was found is kept there, and a call that finds it goes on with it
#   out=FOLDER       where the tables truth-*.csv are written; without it they are printed
#                    alone
#
# Rivals run on the small cases alone, unless `cases` and `methods` name others. Each of them
# has one run for each of several bins, of which are shown
#   best bin         for each kind the bin at which it finds most members: better than a user
#                    can do, who does not know the truth
#   all bins         what all bins found together, p values corrected for their number
# and their times are those of all bins together. A method that is stopped, or fails, at a recording
# and bin has found nothing there: `unfinished` counts these. PPSeq and convSeq are not compared: PyPI
# has neither.
#
# Columns: `case`; `method`, with `bins`; `false_rate`, how many false assemblies a recording
# are allowed, where the threshold of p is set for that (NA: as reported); `kind`; `planted`,
# how many; in percent, `recall` and `precision` of members, `exact` (assemblies with exactly
# the right members), `lags` (of members found, within the planted width), and of assemblies that were
# found `times_recall` and `times_precision`: activations that are found, and found ones that were
# planted (CAD gives no times).

library(synfire)
options(cli.progress_show_after = Inf, width = 160)

here <- normalizePath(dirname(sub("^--file=", "", grep("^--file=", commandArgs(),
                                                      value = TRUE))))
for (part in c("others", "recordings", "score", "methods")) {
  source(file.path(here, "truth", paste0(part, ".R")))
}

# ---- What was asked for ------------------------------------------------------------------

read_arguments <- function(arguments) {
  full <- "full" %in% arguments
  asked <- list(cases = toString(names(cases)), methods = toString(names(methods)),
                recordings = "", limit = if (full) "3600" else "600",
                kept = tempfile("kept-"), out = "")
  named <- setdiff(arguments, c("quick", "full"))
  for (argument in named) {
    name <- sub("=.*", "", argument)
    if (!name %in% names(asked) || !grepl("=", argument)) {
      stop("not known: ", argument, "; see the top of bench/truth.R")
    }
    asked[[name]] <- sub("^[^=]*=", "", argument)
  }
  words <- \(text) strsplit(gsub(" ", "", text), ",")[[1L]]
  cases <- words(asked$cases)
  list(cases = cases, methods = words(asked$methods),
       all_named = all(c("cases", "methods") %in% sub("=.*", "", named)),
       recordings = if (asked$recordings != "") {
         stats::setNames(rep_len(as.integer(words(asked$recordings)), length(cases)), cases)
       },
       full = full, limit = as.numeric(asked$limit), kept = asked$kept, out = asked$out)
}

recordings_of <- function(case, asked) {
  if (!is.null(asked$recordings)) return(asked$recordings[[case]])
  if (!asked$full) 2L else if (startsWith(case, "small")) 10L else 100L
}

methods_of <- function(case, asked) {
  if (asked$all_named || startsWith(case, "small")) asked$methods else
    intersect(asked$methods, "ours")
}

# ---- One method in one case --------------------------------------------------------------

#' The truth as score.R has it
planted_in <- function(x) {
  truth <- attr(x, "truth")
  of <- factor(truth$activations$assembly, levels = truth$assemblies$assembly)
  planted <- truth$assemblies
  planted$times <- unname(split(truth$activations$time, of))
  planted
}

#' What a method finds in the recordings of a case
#' @return A list with for each recording `planted` and `runs` (run_method()).
run_case <- function(case, method, n, asked) {
  lapply(seq_len(n), \(k) {
    x <- make_recording(case, k)
    file <- file.path(asked$kept, sprintf("%s-%d.csv", case, seed_of(case, k)))
    if (!file.exists(file)) write_recording(x, file)
    runs <- run_method(method, file, x, asked$limit, asked$kept)
    cat(sprintf("  %s, seed %d: %s\n", method, seed_of(case, k), paste(sprintf(
      "%s%d found (%s, %.1f s, cpu %.1f s)",
      ifelse(is.na(runs$bin), "", paste0(1000 * runs$bin, " ms: ")),
      vapply(runs$found, nrow, 1L), runs$result, runs$seconds, runs$cpu
    ), collapse = "; ")))
    list(planted = planted_in(x), runs = runs)
  })
}

#' What each bin found, and all together: a list of lists for the functions of score.R
by_bins <- function(results) {
  bins <- results[[1L]]$runs$bin
  of_bin <- \(j) lapply(results, \(r) list(planted = r$planted, found = r$runs$found[[j]]))
  if (length(bins) == 1L) return(list("none" = of_bin(1L)))
  c(stats::setNames(lapply(seq_along(bins), of_bin), paste(1000 * bins, "ms")),
    list("all bins" = lapply(results, \(r) list(planted = r$planted,
                                                found = pool_bins(r$runs)))))
}

#' Rows by kind, at one rate of false assemblies, for the best bin and for all
kinds_at <- function(sets, rate) {
  at <- lapply(sets, \(results) {
    score_kinds(up_to(results, if (is.na(rate)) Inf else p_at_false_rate(results, rate)))
  })
  if (length(at) == 1L) return(cbind(bins = "none", at[[1L]]))
  single <- at[names(at) != "all bins"]
  best <- lapply(seq_len(nrow(single[[1L]])), \(i) {
    j <- which.max(vapply(single, \(s) s$recall[[i]], numeric(1)))
    cbind(bins = paste("best:", names(single)[[j]]), single[[j]][i, ])
  })
  rbind(do.call(rbind, best), cbind(bins = "all bins", at[["all bins"]]))
}

#' One row: recordings in which five, or at least four, are exactly right, and false ones
summary_row <- function(case, method, bins, results, runs) {
  scores <- lapply(results, \(r) score_recording(r$planted, r$found))
  number <- \(name) vapply(scores, `[[`, numeric(1), name)
  exact <- if (cases[[case]]$planted) exactly_right(results)
  planted <- vapply(results, \(r) nrow(r$planted), 1L)
  percent <- \(x) if (is.null(x)) NA_real_ else 100 * mean(x)
  # NA where a run was kept from another machine, whose seconds are not those of this one.
  total <- \(name) mean(vapply(runs, \(r) sum(r$runs[[name]]), numeric(1)), na.rm = TRUE)
  data.frame(
    case = case, method = methods[[method]]$title, bins = bins, recordings = length(results),
    all_exact = percent(if (!is.null(exact)) exact == planted),
    all_but_one = percent(if (!is.null(exact)) exact >= planted - 1),
    any_found = percent(number("found") > 0), any_false = percent(number("false") > 0),
    false = mean(number("false")), pieces = mean(number("pieces")),
    unfinished = sum(vapply(runs, \(r) sum(r$runs$result != "done"), 1L)),
    seconds = total("seconds"), cpu = total("cpu")
  )
}

# ---- All ---------------------------------------------------------------------------------

asked <- read_arguments(commandArgs(TRUE))
dir.create(asked$kept, showWarnings = FALSE, recursive = TRUE)
lacking <- Filter(Negate(is.null), sapply(asked$methods, missing_for, simplify = FALSE))
for (name in names(lacking)) cat(sprintf("%s: %s\n", methods[[name]]$title, lacking[[name]]))
asked$methods <- setdiff(asked$methods, names(lacking))

summaries <- kinds <- list()
for (case in asked$cases) {
  n <- recordings_of(case, asked)
  cat(sprintf("%s: %s; seeds %d to %d\n", case, cases[[case]]$title, seed_of(case, 1L),
              seed_of(case, n)))
  for (method in methods_of(case, asked)) {
    runs <- run_case(case, method, n, asked)
    sets <- by_bins(runs)
    for (bins in names(sets)) {
      summaries[[length(summaries) + 1L]] <- summary_row(case, method, bins, sets[[bins]], runs)
    }
    if (!cases[[case]]$planted) next
    for (rate in c(NA, 0.1, 1)) {
      kinds[[length(kinds) + 1L]] <- cbind(case = case, method = methods[[method]]$title,
                                           false_rate = rate, kinds_at(sets, rate))
    }
  }
}

show_table <- function(rows, name) {
  if (length(rows) == 0L) return(invisible())
  table <- do.call(rbind, rows)
  numbers <- vapply(table, is.double, logical(1))
  table[numbers] <- lapply(table[numbers], round, 1)
  cat("\n")
  print(table, row.names = FALSE)
  if (asked$out != "") {
    utils::write.csv(table, file.path(asked$out, paste0("truth-", name, ".csv")),
                     row.names = FALSE)
  }
}
show_table(summaries, "recordings")
show_table(kinds, "kinds")
