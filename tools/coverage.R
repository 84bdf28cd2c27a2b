# Which share of the lines of R/ and of src/core the tests run, a row for each room of R/ and each
# folder of src/; fails where either is below 85 %. FILTER=pattern runs the test files whose names
# match, MINUTES=20 begins no further file after so long and says how many are left out.
# All files run in one process, because tracing all functions takes half a minute; R code that
# tests run in processes of their own is not counted, compiled code is.
least <- 85
folder <- normalizePath(".build/coverage-source")
library <- file.path(dirname(folder), "coverage-library")

# ---- The process that runs the tests -----------------------------------------------------

run_tests <- function(files) {
  end <- Sys.time() + 60 * as.numeric(Sys.getenv("MINUTES", "Inf"))
  told <- lapply(files, \(file) {
    if (Sys.time() > end) return(NULL)
    cat(file, "\n")
    as.data.frame(testthat::test_dir(
      "tests/testthat", filter = sub("^test-(.*)[.]R$", "^\\1$", file), package = "synfire",
      load_package = "installed", reporter = "silent", stop_on_failure = FALSE
    ))[c("nb", "failed", "skipped", "error")]
  })
  all <- do.call(rbind, told)
  cat(sprintf("%d of %d test files: %d expectations, %d failed, %d tests skipped\n",
              sum(lengths(told) > 0L), length(files), sum(all$nb), sum(all$failed + all$error),
              sum(all$skipped)))
}

lines_of_r <- function() {
  files <- list.files("tests/testthat", "^test-.*[.]R$")
  files <- grep(Sys.getenv("FILTER"), files, value = TRUE)
  # Short ones first: those that are left out are few.
  times <- utils::read.csv("tests/times.csv")
  files <- files[order(times$seconds[match(files, times$file)], na.last = FALSE)]
  code <- tempfile(fileext = ".R")
  dput(files, code)
  writeLines(c("(", deparse(run_tests), ")(", readLines(code), ")"), code)
  lines <- covr::tally_coverage(covr::environment_coverage(asNamespace("synfire"), code),
                                by = "line")
  data.frame(room = sub("-.*", "", basename(lines$filename)), file = basename(lines$filename),
             line = lines$line, run = lines$value > 0)
}

asked <- commandArgs(TRUE)
if (length(asked) == 1L) {
  source("tools/data.R")
  library("synfire", lib.loc = library, character.only = TRUE)
  saveRDS(lines_of_r(), asked)
  quit(status = 0L)
}

# ---- Install, run, count -----------------------------------------------------------------

unlink(library, recursive = TRUE)
dir.create(library)
makevars <- tempfile()
writeLines(c("CFLAGS = -O1 --coverage", "LDFLAGS = --coverage"), makevars)
Sys.setenv(R_MAKEVARS_USER = makevars, SYNFIRE_CUDA_ARCH = "none", TESTTHAT_PARALLEL = "false",
           # The counters of compiled code are shared by all threads, which wait for each other.
           OMP_NUM_THREADS = "1",
           R_LIBS = paste(c(library, .libPaths()), collapse = .Platform$path.sep))
log <- ".build/coverage-tests.log"
r <- file.path(R.home("bin"), "R")
stopifnot(system2(r, c("CMD", "INSTALL", "--with-keep.source", "--no-docs", "--no-test-load", "-l",
                       library, folder), stdout = log, stderr = log) == 0L)
lines <- ".build/coverage-lines.rds"
system2(file.path(R.home("bin"), "Rscript"), c("tools/coverage.R", lines), stdout = log,
        stderr = log)
cat(utils::tail(readLines(log), 1L), "\n")
r <- readRDS(lines)
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
quit(status = as.integer(100 * min(mean(r$run), mean(core$run)) < least))
