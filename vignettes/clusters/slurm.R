# Makes a causal map by jobs of Slurm, kills it and resumes it, for vignettes/performance.Rmd.
#
#   sh tools/slurm-here.sh start /tmp/slurm 4; export SLURM_CONF=/tmp/slurm/slurm.conf
#   Rscript vignettes/clusters/slurm.R [out=FOLDER] [map=600] [jobs=4]
#   sh tools/slurm-here.sh stop /tmp/slurm
#
# Needs the package future.batchtools and a Slurm that takes jobs: this one, or that of a
# cluster. Takes some minutes. One job is cancelled, which costs its chunk; later the process
# that made the call is killed, and started again. slurm.csv: what happened, after how many
# seconds, and whether the map is in the end that of the plain call, bit by bit.

arguments <- commandArgs(TRUE)
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
folder <- normalizePath(folder)
settings <- list(out = folder, map = "600", jobs = "4", role = "driver")
for (given in strsplit(arguments, "=")) settings[[given[[1L]]]] <- given[[2L]]
source(file.path(folder, "works.R"))
options(cli.progress_show_after = Inf)
now <- \() unclass(Sys.time())

# ---- The calling process -------------------------------------------------------------

size <- list(series = as.numeric(settings$map), steps = 1600)

make_call <- function() {
  saveRDS(Sys.getpid(), "pid.rds")
  future::plan(future.batchtools::batchtools_slurm,
               template = system.file("cluster", "slurm.tmpl", package = "synfire"),
               workers = as.integer(settings$jobs),
               resources = list(cpus = 1, memory = "1G", minutes = 30))
  note_chunks(file.path(getwd(), "chunks-"))
  works$map$call(works$map$make(size), size, 1, "map.h5")
  file.create("ended")
}

if (settings$role == "caller") {
  make_call()
  quit()
}

# ---- What is done to it --------------------------------------------------------------

rows <- list()
note <- function(what, detail = "") {
  rows[[length(rows) + 1L]] <<- data.frame(
    seconds = round(now() - began, 1), what = what, detail = format(detail),
    jobs = as.integer(settings$jobs), series = as.integer(settings$map),
    slurm = sub("^slurm[^0-9]*", "", system2("sbatch", "--version", stdout = TRUE)),
    batchtools = format(utils::packageVersion("future.batchtools")),
    date = format(Sys.Date()), synfire = format(utils::packageVersion("synfire"))
  )
  cat(sprintf("%6.1f s  %s %s\n", now() - began, what, format(detail)))
  write.csv(do.call(rbind, rows), file.path(settings$out, "slurm.csv"), row.names = FALSE)
}

jobs <- function(...) {
  system2("squeue", c("-h", "-u", Sys.info()[["user"]], "-o", "%i", ...), stdout = TRUE)
}
# Others of this user are none of ours.
others <- jobs()
running <- \() setdiff(jobs("-t", "running"), others)
shards <- \() length(list.files("map.h5.shards", "^[0-9]+[.]h5$"))
until <- function(true, seconds = 600) {
  from <- now()
  while (!true()) {
    if (now() - from > seconds) stop("waited in vain", call. = FALSE)
    Sys.sleep(0.2)
  }
}

start <- function(log) {
  unlink("pid.rds")
  system2(file.path(R.home("bin"), "Rscript"),
          c(shQuote(file.path(folder, "slurm.R")), shQuote("role=caller"),
            paste0(c("map=", "jobs="), settings[c("map", "jobs")])),
          stdout = log, stderr = log, wait = FALSE)
  until(\() file.exists("pid.rds"))
}

work <- tempfile("slurm", tmpdir = Sys.getenv("SLURM_WORK", tempdir()))
dir.create(work)
dir.create(settings$out, showWarnings = FALSE, recursive = TRUE)
settings$out <- normalizePath(settings$out)
setwd(work)
began <- now()
whole <- fingerprint("map", works$map$call(works$map$make(size), size, 1, NULL))
note("the plain call, one thread, has ended")

began <- now()
start("first.log")
note("the calling process is there")
until(\() length(running()) > 0L)
note("jobs at work", length(running()))
victim <- running()[[1L]]
system2("scancel", c("--signal=KILL", victim))
note("a job is killed: number", victim)
until(\() shards() > 0L)
note("shards there", shards())
tools::pskill(readRDS("pid.rds"), tools::SIGKILL)
note("the calling process is killed; shards there", shards())
left <- setdiff(jobs(), others)
if (length(left) > 0L) system2("scancel", left)
until(\() length(running()) == 0L)
left <- shards()
start("second.log")
note("it is started again; shards there", left)
until(\() file.exists("ended"))
note("it has ended; shards there", shards())
map <- suppressMessages(synfire::open_causal_map("map.h5"))
note("same as the plain call", identical(fingerprint("map", map), whole))
cat(readLines("first.log"), readLines("second.log"), sep = "\n")

print(read_notes(file.path(getwd(), "chunks-")))
