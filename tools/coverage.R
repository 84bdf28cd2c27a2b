# Which share of the lines of R/ and of src/core the tests run, a row for each room of R/ and each
# folder of src/; fails below 85 %. FILTER=pattern runs the test files whose names match.
options(covr.flags = c(CFLAGS = "-O1 --coverage", LDFLAGS = "--coverage"),
        # gcovr, below, adds up a source that is compiled once for each width of registers.
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

summary <- ".build/coverage.json"
status <- system2("gcovr", c("--root", file.path(folder, "src"), "--json-summary", summary,
                             file.path(folder, "src")), stderr = FALSE)
if (status != 0L) stop("gcovr failed")
files <- jsonlite::fromJSON(summary)$files
c_rooms <- data.frame(room = file.path("src", dirname(files$filename)),
                      run = files$line_covered, lines = files$line_total)

row <- function(room, run, lines) {
  cat(sprintf("%-28s %7s lines %6.1f %%\n", room, format(lines, big.mark = ","), 100 * run / lines))
}
for (room in unique(r$room)) row(room, sum(r$run[r$room == room]), sum(r$room == room))
for (room in sort(unique(c_rooms$room))) {
  of <- c_rooms[c_rooms$room == room, ]
  row(room, sum(of$run), sum(of$lines))
}
core <- c_rooms[startsWith(c_rooms$room, "src/core"), ]
row("all of R", sum(r$run), nrow(r))
row("all of src/core", sum(core$run), sum(core$lines))
share <- 100 * (sum(r$run) + sum(core$run)) / (nrow(r) + sum(core$lines))
cat(sprintf("R and core: %.1f %% of the lines, must be %d %%\n", share, least))
quit(status = as.integer(share < least))
