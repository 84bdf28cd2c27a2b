# Writes README.md's table of peers from the tables of the vignettes, so that it says what was
# measured. In the folder of the package, after `make peers`:
#
#   Rscript bench/peers/readme.R

#' The works that README shows, and beside whom
readme_works <- data.frame(
  kind = c(rep("cpu", 7), rep("gpu", 3)),
  work = c("episodes of Sym26, at least 300 times", "patterns, at least 25 times, 3 spikes",
           "SPADE of 5 s, 20 surrogates", "cross-correlograms of 325 pairs",
           "ccm, E 3, 10 sizes x 100 samples", "dimensions of 100 series, E 1 to 20",
           "map of 100 series, E 5", "simplex, E 20, 128,000 rows",
           "smap, E 20, theta 2, 128,000 rows",
           "S-maps of 100 x 100 series, 8,000 steps, E 5, theta 2"),
  peer = c("Algorithm 1", "elephant", "elephant", "elephant", "pyEDM", "kedm",
           "fastccm-double", "fastccm", "fastccm", "fastccm"),
  says = c("29,848 episodes counted in 49,510 spikes",
           "1.6 million patterns of 150 units in 22 s", "SPADE of 5 s of that, 20 surrogates",
           "cross-correlograms of 325 pairs", "`ccm()`, 1,600 rows, 10 x 100 libraries",
           "dimensions of 100 series of 1,600 steps", "causal map of these",
           "`simplex()`, 128,000 rows, E 20", "`smap()`, 128,000 rows, E 20",
           "`smap_map()`, 100 x 100 series of 8,000 steps")
)
readme_peers <- c("Algorithm 1" = "Algorithm 1 (Cao et al. 2011)", elephant = "Elephant",
                  pyEDM = "pyEDM", kedm = "kEDM", fastccm = "FastCCM",
                  "fastccm-double" = "FastCCM")

readme_table <- function(cpu, gpu) {
  seconds <- \(x) paste(trimws(formatC(signif(x, 2), digits = 2, format = "fg")), "s")
  rows <- Map(\(kind, work, peer, says) {
    table <- if (kind == "gpu") gpu else cpu
    row <- table[table$work == work & table$peer == peer, ]
    if (nrow(row) != 1L || is.na(row$times) || startsWith(row$result, "differs")) return(NULL)
    sprintf("| %s | %s | %s | %s%s |", says, readme_peers[[peer]], seconds(row$peer_wall),
            seconds(row$ours_wall), if (kind == "cpu") "" else paste0(" (", row$ours_on, ")"))
  }, readme_works$kind, readme_works$work, readme_works$peer, readme_works$says)
  c(sprintf("%s, one core of an %s; the last three rows on one %s:", max(cpu$date, gpu$date),
            gsub("[(](R|TM)[)]", "", cpu$machine[[1L]]), gpu$machine[[1L]]),
    "", "| work | other program | its time | synfire |", "|---|---|---|---|",
    unlist(rows, use.names = FALSE))
}

#' The largest brain of vignette("paper-causal-maps") that was mapped in full
brain_line <- function(brains) {
  brains <- brains[brains$libraries == brains$series, ]
  size <- brains$series * brains$steps
  brains <- brains[size == max(size), ]
  # Whole calls, or where there are none a search and a map.
  calls <- brains[brains$phase == "call", ]
  maps <- if (nrow(calls) > 0L) calls else brains[brains$phase == "map", ]
  map <- maps[order(maps$workers, maps$seconds)[[1L]], ]
  search <- if (nrow(calls) > 0L) 0 else min(brains$seconds[brains$phase == "search"])
  count <- \(n) format(n, big.mark = ",")
  several <- map$workers > 1
  where <- sprintf("%s %s%s", if (several) map$workers else "one", map$machine,
                   if (several) "s" else "")
  c("", sprintf("A whole brain, %s simulated series of %s steps, each mapped onto all others: %.0f s on",
                count(map$series), count(map$steps), search + map$seconds),
    sprintf("%s, in %s precision (`vignette(\"paper-causal-maps\")`).", where,
            if (map$precision == "half") "half" else "single"))
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
  c(readme_table(read("performance", "peers-cpu.csv"), read("performance", "peers-h200.csv")),
    brain_line(read("paper-causal-maps", "brains.csv")))
}

if (sys.nframe() == 0L) {
  writeLines(with_table(readLines("README.md"), readme_lines("vignettes")), "README.md")
}
