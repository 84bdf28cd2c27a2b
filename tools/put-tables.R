# Puts measurements into the tables that the vignettes and README.md read. In the folder of
# the package:
#
#   Rscript tools/put-tables.R FOLDER ...
#
# Looks in the folders, and in those within them, for CSV files with the names below. What
# was measured again replaces what was there, all else stays. Then writes the table and the
# line of README.md that are made from them (bench/peers/readme.R).
#
#   gpu, gpus, shapes, brains, cpu, threads   vignettes/paper-causal-maps/measure.R
#   episodes-gpu                              bench/episodes-gpu.R out=FOLDER/episodes-gpu.csv
#   direct-links                              bench/direct-links.R out=FOLDER/direct-links.csv

#' Where each table is, and the columns by which its measurements are known
map_keys <- c("device", "workers", "precision", "series", "steps")
tables <- c(
  lapply(stats::setNames(nm = c("gpu", "gpus", "shapes", "brains", "cpu", "threads")),
         \(name) list(folder = "vignettes/paper-causal-maps", keys = map_keys)),
  list("episodes-gpu" = list(folder = "vignettes/performance", keys = "work"),
       "direct-links" = list(folder = "vignettes/performance",
                             keys = c("series", "steps", "gpus", "threshold")))
)

read_text <- \(file) utils::read.csv(file, colClasses = "character")

#' The rows of two tables, of which later ones replace earlier ones
merge_tables <- function(old, new, keys) {
  if (is.null(old)) return(new)
  key <- \(table) do.call(paste, c(table[keys], sep = "\r"))
  columns <- union(names(old), names(new))
  all_columns <- function(table) {
    table[setdiff(columns, names(table))] <- NA_character_
    table[columns]
  }
  rbind(all_columns(old[!key(old) %in% key(new), ]), all_columns(new))
}

#' CSV of text, in which only what is no number is quoted
write_text <- function(table, file) {
  numbers <- vapply(table, \(column) {
    !anyNA(suppressWarnings(as.numeric(column[!is.na(column)])))
  }, NA)
  utils::write.csv(table, file, row.names = FALSE, quote = which(!numbers))
}

put_table <- function(name, folders) {
  found <- list.files(folders, sprintf("^%s[.]csv$", name), recursive = TRUE,
                      full.names = TRUE)
  if (length(found) == 0L) return(invisible())
  there <- file.path(tables[[name]]$folder, paste0(name, ".csv"))
  all <- Reduce(\(old, new) merge_tables(old, new, tables[[name]]$keys),
                lapply(found, read_text), if (file.exists(there)) read_text(there))
  write_text(all, there)
  message(there, ": ", nrow(all), " rows, with those of ", toString(found))
}

if (sys.nframe() == 0L) {
  folders <- commandArgs(TRUE)
  if (length(folders) == 0L || !file.exists("bench/peers/readme.R")) {
    stop("run this in the folder of the package: tools/put-tables.R FOLDER ...")
  }
  for (name in names(tables)) put_table(name, folders)
  status <- system2(file.path(R.home("bin"), "Rscript"), "bench/peers/readme.R")
  quit(status = status)
}
