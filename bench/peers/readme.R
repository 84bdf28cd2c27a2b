# Writes README.md's table of peers from the tables of the vignettes, so that it says what was
# measured. In the folder of the package, after `make peers`:
#
#   Rscript bench/peers/readme.R

#' The works that README shows: the argument works= that measures each again, and our precision
readme_works <- data.frame(
  kind = c(rep("cpu", 6), rep("gpu", 2)),
  work = c("patterns, at least 25 times, 3 spikes", "SPADE of 5 s, 20 surrogates",
           "cross-correlograms of 325 pairs", "ccm, one direction, E 3, 10 sizes x 100 samples",
           "dimensions of 100 series, E 1 to 20", "map of 100 series of 1,600 steps, E 5",
           "smap, E 20, theta 2, 128,000 rows",
           "S-maps of 100 x 100 series, 8,000 steps, E 5, theta 2"),
  again = c("least.25", "^SPADE", "^cross", "^ccm,.one", "^dimensions.of.100",
            "^map.of.100.s.*E.5", "^smap.*128", "^S-maps.*8,000"),
  says = c("`mine_patterns()`: 1.6 million patterns of 150 units in 22 s",
           "`spade()` of 5 s of that, 20 surrogates", "`cross_correlogram()` of 325 pairs",
           "`ccm()`, 1,600 rows, 10 x 100 libraries",
           "`embed_dimension()` of 100 series of 1,600 steps", "`causal_map()` of these",
           "`smap()`, 128,000 rows, E 20",
           "`smap_map()`, 100 x 100 series of 8,000 steps"),
  precision = c("", "", "", ", double", ", single", ", single",
                rep(", double, GPU", 2))
)
readme_peers <- c(elephant = "Elephant %s", pyfim = "PyFIM %s", pyEDM = "pyEDM %s, double",
                  cppEDM = "cppEDM (pyEDM %s), double", rEDM = "rEDM %s, double",
                  kedm = "kEDM %s, single", fastccm = "FastCCM %s, single")
# Rows of synfire before this version are left out.
readme_since <- "0.8.0"

readme_seconds <- \(x) paste(trimws(formatC(signif(x, 2), digits = 2, format = "fg")), "s")

#' The rows of peers that did the same work, with the seconds that count: the processor's, as
#' other programs share it, and those of the clock beside a GPU
comparable <- function(table) {
  table <- table[table$peer %in% names(readme_peers) & !is.na(table$times) &
                   !startsWith(table$result, "differs"), ]
  on_cpu <- table$device == "cpu"
  table$theirs <- ifelse(on_cpu, table$peer_cpu, table$peer_wall)
  table$ours <- ifelse(on_cpu, table$ours_cpu, table$ours_wall)
  table
}

#' A row for each work, beside the fastest program
readme_table <- function(cpu, gpu) {
  tables <- list(cpu = comparable(cpu), gpu = comparable(gpu))
  rows <- Map(\(kind, work, again, says, precision) {
    row <- tables[[kind]]
    row <- row[row$work == work & package_version(row$synfire) >= readme_since, ]
    if (nrow(row) == 0L) return(NULL)
    row <- row[which.min(row$theirs), ]
    sprintf("| %s | `%s` | %s | %s | %s (%s%s) | %s |", says, again,
            sprintf(readme_peers[[row$peer]], row$peer_version), readme_seconds(row$theirs),
            readme_seconds(row$ours), row$synfire, precision, row$date)
  }, readme_works$kind, readme_works$work, readme_works$again, readme_works$says,
  readme_works$precision)
  c("| work | `works=` | fastest other program | its time | synfire | measured |",
    "|---|---|---|---|---|---|", unlist(rows, use.names = FALSE))
}

#' Where the times are from, and the works in which another program is ahead
readme_notes <- function(cpu, gpu) {
  all <- rbind(comparable(cpu), comparable(gpu))
  ahead <- all[all$theirs < all$ours, ]
  with_gpu <- any(package_version(gpu$synfire) >= readme_since)
  ahead <- sprintf("%s (%s, %s, synfire %s)", ahead$work,
                   sprintf(readme_peers[ahead$peer], ahead$peer_version),
                   ifelse(ahead$device == "cpu", "processor", "GPU"), ahead$synfire)
  strwrap(c(
    sprintf(paste0("Processor seconds on one thread of an %s, which other work shared%s. `make ",
                   "peers TORCH=yes PEERS_ARGS=\"cpu works=^SPADE limit=900\"` measures the row ",
                   "of `^SPADE` again."), cpu$machine[[1L]],
            if (with_gpu) paste("; rows of a GPU: seconds of the clock on one", gpu$machine[[1L]])
            else ""),
    if (length(ahead)) paste0("Another program is ahead in: ", paste(ahead, collapse = "; "), ".")
  ), 100)
}

#' Whole brains of the page paper-causal-maps that were mapped in full, in one call
brain_lines <- function(brains) {
  calls <- brains[brains$libraries == brains$series & brains$phase == "call", ]
  calls <- calls[order(calls$workers, calls$seconds), ]
  sizes <- c(max(calls$series), min(calls$series))
  calls <- calls[match(sizes, calls$series), ]
  count <- \(n) trimws(format(n, big.mark = ","))
  took <- sprintf("%s series of %s steps took %s on %s %s in %s precision (%s, %s)",
                  count(calls$series), count(calls$steps),
                  ifelse(calls$seconds < 100, readme_seconds(calls$seconds),
                         sprintf("%.0f s", calls$seconds)),
                  ifelse(calls$workers == 1, "one", calls$workers), calls$machine,
                  ifelse(calls$precision == "half", "half", "single"), calls$version, calls$date)
  c("", strwrap(sprintf(paste(
    "Whole brains, simulated, each series mapped onto all others by a process whose GPU was warm",
    "from an earlier call: %s (`vignettes/paper-causal-maps/brains.csv`)."),
    paste(took, collapse = "; ")), 100))
}

marks <- c("<!-- bench/peers/readme.R writes the lines down to the next mark -->",
           "<!-- end -->")

#' README with the table between the marks
with_table <- function(lines, table) {
  at <- match(marks, lines)
  if (anyNA(at)) stop("README.md has lost its marks")
  c(lines[seq_len(at[[1L]])], table, lines[at[[2L]]:length(lines)])
}

#' All that stands between the marks, from the tables of the vignettes
readme_lines <- function(vignettes) {
  read <- \(...) utils::read.csv(file.path(vignettes, ...))
  cpu <- read("performance", "peers-cpu.csv")
  gpu <- read("performance", "peers-h200.csv")
  c(readme_table(cpu, gpu), "", readme_notes(cpu, gpu),
    brain_lines(read("paper-causal-maps", "brains.csv")))
}

if (sys.nframe() == 0L) {
  writeLines(with_table(readLines("README.md"), readme_lines("vignettes")), "README.md")
}
