# Results in files: the numbers of a call in memory, whatever happened to the file in
# between. A byte that was changed is found, or what it was part of is computed again.

fuzz_subject("files", covers = list(
  causal_map = c("x", "E", "E_max", "tau", "Tp", "libraries", "targets", "validation",
                 "exclusion_radius", "lib_sizes", "n_surrogates", "surrogate", "screen",
                 "file", "max_memory", "threads"),
  open_causal_map = "file",
  direct_links = c("threshold", "alpha", "max_delay", "max_parties", "max_links",
                   "exclusion_radius", "threads", "folder"),
  mine_patterns = c("x", "bin_size", "window_bins", "min_spikes", "min_count", "max_spikes",
                    "min_units", "engine", "shifted_subsets", "threads", "folder"),
  pvalue_spectrum = c("x", "bin_size", "window_bins", "min_spikes", "min_count", "max_spikes",
                      "n_surrogates", "dither", "spectrum", "threads", "folder"),
  find_assemblies = c("x", "max_lag", "alpha", "n_surrogates", "segment", "locked_to",
                      "resamples", "threads", "folder")
), run = function(world) {
  work <- draw_work()
  where <- file.path(world$folder, "kept")
  memory <- undisturbed(work, world$folder)
  kept <- do_work(work, where)
  same(numbers_of(work, memory), numbers_of(work, kept), "in memory and in files")
  if (refused(memory) || refused(kept)) return()
  again <- do_work(work, where, other = TRUE)
  same(numbers_of(work, kept), numbers_of(work, again), "made and read again")
  if (work$kind == "map") files_read_in_parts(where, memory)
  # A map without links to explain leaves no files.
  if (!file.exists(where)) return()
  trouble <- one_of("lost", "changed byte", "cut", "company", "full disk", "foreign")
  switch(trouble,
    lost = files_lose(where),
    `changed byte` = files_change(where, work, kept),
    cut = files_cut(where),
    company = return(files_in_company(world, work, kept)),
    `full disk` = return(files_full_disk(world, work, kept)),
    foreign = return(files_foreign(world, work))
  )
  # HDF5 might crash on what was cut.
  resumed <- apart(numbers_of(work, do_work(work, where, other = TRUE, call = quiet_call)))
  files_judge(resumed, work, kept, trouble)
})

# Whatever came of it must be the numbers there were, or an error of ours.
files_judge <- function(resumed, work, kept, trouble) {
  if (identical(resumed, "crashed")) return(finding(paste("R crashed after:", trouble)))
  if (inherits(resumed, "error") && !refused(resumed)) {
    return(finding(paste("an error that is not ours after", trouble, conditionMessage(resumed))))
  }
  if (!refused(resumed)) same(numbers_of(work, kept), resumed, paste("resumed after:", trouble))
}

# Rows, columns and pairs are those of the whole.
files_read_in_parts <- function(where, memory) {
  map <- attempt("open_causal_map", list(where))
  whole <- as.matrix(memory)
  i <- sample(nrow(whole), whole(1, nrow(whole)), replace = TRUE)
  j <- sample(ncol(whole), whole(1, ncol(whole)), replace = TRUE)
  single <- \(x) readBin(writeBin(as.vector(x), raw(), size = 4), "numeric", length(x), size = 4)
  same(as.vector(map[i, j]), single(whole[i, j]), "part of a map")
  same(map[cbind(i[[1L]], j)], single(whole[cbind(i[[1L]], j)]), "pairs of a map")
}

files_of <- function(where) {
  if (dir.exists(where)) list.files(where, full.names = TRUE) else where
}

files_lose <- function(where) {
  chunks <- list.files(where, "^chunk", full.names = TRUE)
  unlink(chunks[sample(length(chunks), min(length(chunks), 3))])
}

files_change <- function(where, work, kept) {
  file <- sample(files_of(where), 1)
  bytes <- readBin(file, "raw", file.size(file))
  at <- sample(length(bytes), one_of(1, 5))
  bytes[at] <- xor(bytes[at], as.raw(2^whole(0, 7)))
  writeBin(bytes, file)
  if (work$kind != "map") return()
  read <- apart(tryCatch(numbers_of(work, suppressWarnings(
    find_function("open_causal_map")(where))), error = identity))
  # The file does not say its name: what is read must be right.
  files_judge(read, work, kept, "changed byte, read")
}

files_cut <- function(where) {
  file <- sample(files_of(where), 1)
  bytes <- readBin(file, "raw", file.size(file))
  writeBin(bytes[seq_len(floor(runif(1) * length(bytes)))], file)
}

# Two processes do the same work at the same time.
files_in_company <- function(world, work, kept) {
  where <- file.path(world$folder, "shared")
  jobs <- lapply(1:2, \(k) parallel::mcparallel({
    value <- do_work(work, where, call = quiet_call)
    if (inherits(value, "error")) class(value) else "done"
  }, silent = TRUE))
  ends <- suppressWarnings(parallel::mccollect(jobs))
  ok <- vapply(ends, \(end) identical(end, "done") || "synfire_error_locked" %in% end, NA)
  if (!all(ok)) finding("of two processes one stopped with another error than a lock")
  resumed <- do_work(work, where, other = TRUE, call = quiet_call)
  same(numbers_of(work, kept), numbers_of(work, resumed), "made by two processes")
}

# A limit on the size of files is met as a full disk is.
files_full_disk <- function(world, work, kept) {
  where <- file.path(world$folder, "full")
  script <- file.path(world$folder, "call.R")
  saved <- file.path(world$folder, "call.rds")
  answer <- file.path(world$folder, "answer")
  saveRDS(c(stats::setNames(work$args, names(work$args)), stats::setNames(list(where), work$where)),
          saved)
  writeLines(c(
    sprintf(".libPaths(c(%s))", toString(dQuote(.libPaths(), FALSE))),
    "suppressPackageStartupMessages(library(synfire))", sprintf("set.seed(%d)", work$seed),
    sprintf("r <- tryCatch(suppressMessages(do.call(%s, readRDS(%s))), error = identity)",
            work$name, dQuote(saved, FALSE)),
    sprintf("cat(if (inherits(r, 'error')) class(r) else 'done', file = %s)",
            dQuote(answer, FALSE))
  ), script)
  limit <- sprintf("trap '' XFSZ; ulimit -f %d; exec %s --vanilla %s", whole(1, 60),
                   shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script))
  status <- suppressWarnings(system2("sh", c("-c", shQuote(limit)), stdout = FALSE, stderr = FALSE))
  if (!file.exists(answer)) return(finding(sprintf("a full disk ended R (%d)", status)))
  end <- scan(answer, "", quiet = TRUE)
  if (!any(c("done", "synfire_error") %in% end)) {
    finding(paste("a full disk gave another error than ours:", toString(end)))
  }
  resumed <- do_work(work, where, call = quiet_call)
  same(numbers_of(work, kept), numbers_of(work, resumed), "resumed after a full disk")
}

# What is not ours stays as it is.
files_foreign <- function(world, work) {
  if (work$kind == "map") return()
  where <- file.path(world$folder, "mine")
  dir.create(where)
  name <- one_of("thesis.txt", "job.rds", "chunk-0001.rds", ".hidden", "chunk-1.rds.tmp")
  writeLines("mine", file.path(where, name))
  if (!refused(do_work(work, where))) finding(paste("a folder with", name, "was taken"))
  there <- list.files(where, all.files = TRUE, no.. = TRUE)
  if (!identical(there, name) || !identical(readLines(file.path(where, name)), "mine")) {
    finding(paste("a file of the user's own was touched:", name))
  }
}
