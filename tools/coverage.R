# Which share of the lines of R/ and of src/core the tests run, a row for each room of R/ and each
# folder of src/; fails below 85 %. FILTER=pattern runs the test files whose names match.
options(covr.flags = c(CFLAGS = "-O1 --coverage", LDFLAGS = "--coverage"),
        # What gcov says is read below: a source is compiled once for each width of registers.
        covr.gcov = Sys.which("true"))
least <- 85
folder <- normalizePath(".build/coverage-source")
library <- file.path(dirname(folder), "coverage-library")
unlink(library, recursive = TRUE)

# Each test file is a process of its own, as in `make test`, and so counts by itself.
log <- ".build/coverage-tests.log"
tests <- sprintf("setwd('%s'); system2('Rscript', 'tools/test.R', stdout = '%s')", getwd(), log)
Sys.setenv(SYNFIRE_CUDA_ARCH = "none")
measured <- suppressWarnings(covr::package_coverage(folder, type = "none", code = tests,
                                                    install_path = library, clean = FALSE))
cat(utils::tail(readLines(log), 1L), "\n")

by_line <- covr::tally_coverage(measured, by = "line")
by_line <- by_line[startsWith(by_line$filename, "R/"), ]
r <- data.frame(room = sub("-.*", "", by_line$filename), run = by_line$value > 0)

# The lines of C that one object counted: file, line, how often it ran.
lines_of <- function(object) {
  said <- system2("gcov", c("--json-format", "--stdout", object), stdout = TRUE, stderr = FALSE)
  files <- jsonlite::fromJSON(said[[1L]], simplifyDataFrame = FALSE)$files
  do.call(rbind, lapply(files, \(of) {
    data.frame(file = rep(of$file, length(of$lines)),
               line = vapply(of$lines, `[[`, 0L, "line_number"),
               run = vapply(of$lines, \(line) line$count > 0, NA))
  }))
}
here <- setwd(file.path(folder, "src"))
counted <- do.call(rbind, lapply(list.files(".", "[.]gcda$", recursive = TRUE), lines_of))
setwd(here)
counted <- counted[!startsWith(counted$file, "/"), ]
# A line is run where any of the objects that hold it ran it.
c_lines <- stats::aggregate(run ~ file + line, counted, any)
c_lines$room <- file.path("src", dirname(c_lines$file))

row <- function(room, run, lines) {
  cat(sprintf("%-28s %7s lines %6.1f %%\n", room, format(lines, big.mark = ","), 100 * run / lines))
}
of_rooms <- function(lines) {
  for (room in sort(unique(lines$room))) {
    row(room, sum(lines$run[lines$room == room]), sum(lines$room == room))
  }
}
of_rooms(r)
of_rooms(c_lines)
core <- c_lines[startsWith(c_lines$room, "src/core"), ]
row("all of R", sum(r$run), nrow(r))
row("all of src/core", sum(core$run), nrow(core))
share <- 100 * mean(c(r$run, core$run))
cat(sprintf("R and core: %.1f %% of the lines, must be %d %%\n", share, least))
quit(status = as.integer(share < least))
