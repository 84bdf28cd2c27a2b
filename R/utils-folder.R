# Jobs whose results are kept in files: on many machines, and in many sittings.
#
# A folder holds `job.rds`, what is done and how it is cut, and `chunk-0001.rds` and so on,
# what was found. Each is a sealed file, so what is there is whole; it is read with suspicion
# all the same, as disks fill and people copy. `job.lock` is there while a process works on
# it. Nothing else may lie in the folder: what is not ours is never written to or removed.

#' Long jobs that are kept in files
#'
#' The `folder` of [mine_patterns()], [pvalue_spectrum()], [spade()], [find_assemblies()] and
#' [direct_links()], and the `file` of [causal_map()] and [smap_map()], keep on disk what a call
#' has finished, so that a long job can go on after it was stopped. All of them follow the same
#' rules.
#'
#' * Where nothing is there yet, the call begins the job.
#' * Where the same job is there, the call goes on with what is missing, and says how much
#'   is finished. So after Ctrl-C, an error, a crash or a killed process, make the same
#'   call again, or start the same script again. The result is what one undisturbed call
#'   would have given, and random numbers are those that the job began with, whatever the
#'   seed is now. When all is there, nothing is computed again.
#' * Where something else is there, such as a job of another recording or with other
#'   arguments, the call stops with an error that says what differs. It neither changes nor
#'   removes anything.
#'
#' Arguments that do not change the result may differ from call to call: `threads`,
#' `max_memory`, and the workers of `future::plan()`, of which there may be more or fewer:
#' they take chunks of what is missing from a queue. What is there is checked: a part that has
#' changed since it was written is computed again, with a warning. While a call
#' works on a job it holds a lock; another call that wants the same job at that time stops
#' with an error of class `synfire_error_locked`, which says which process works on it.
#' The folder must not hold any other files.
#'
#' To begin a job anew, give another folder or file, or remove the old one.
#' @seealso `vignette("clusters")` for work on many machines.
#' @name long_jobs
NULL

# More workers than this cannot all be busy. There are fewer where spikes are few.
most_chunks <- 128

#' Do the chunks of a job in a folder that are not there
#'
#' The folder is locked until the caller's function ends.
#' @param work Does the chunks `todo` of the job; gives for each what `report` gives for what
#'   was found in it.
#' @return A list of `folder`, its path; `job`, the one that is there; and `parts`, by chunk.
#' @noRd
work_in_folder <- function(folder, job, work, differences, report = identity,
                           frame = parent.frame()) {
  folder <- check_folder(folder)
  hold_lock(file.path(folder, folder_lock), folder, frame)
  job <- open_job(folder, job, differences)
  chunks <- seq_along(job$end %||% job$first)
  parts <- lapply(chunks, report_chunk, folder = folder, job = job, report = report)
  todo <- chunks[vapply(parts, is.null, NA)]
  say_what_is_there(folder, todo, length(chunks))
  whole <- length(todo) == 0L
  on.exit(if (!whole) info("folder", "Finished chunks stay in {.file {folder}}: the same call goes
                                      on from there."))
  # The spikes do not travel with a chunk but are read from the folder.
  if (!whole) parts[todo] <- work(todo, folder, job)
  whole <- TRUE
  list(folder = folder, job = job, parts = parts)
}

# ---- The job -------------------------------------------------------------------------

#' The job in a folder: what is there if it is the same one, else it is written
#'
#' For who holds the lock of the folder.
#'
#' @param differences Function that says in words what a job that is there has otherwise.
#' @noRd
open_job <- function(folder, job, differences) {
  # What killed writers left.
  drop_temporary(folder, paste(folder_names, lock_names, queue_name, sep = "|"))
  path <- file.path(folder, "job.rds")
  if (!file.exists(path)) {
    chunks <- list.files(folder, "^chunk-[0-9]+[.]rds$")
    refuse_folder(length(chunks) > 0L, folder,
                  paste("which holds", some(dQuote(chunks, FALSE)),
                        "but no job.rds that says what they are of"),
                  "Give another folder, or move these files elsewhere.")
    write_whole(job, path)
    return(job)
  }
  refuse_folder(!looks_sealed(path), folder,
                "with a job.rds that this version of synfire did not write",
                "Give another folder.")
  there <- read_whole(path)
  refuse_folder(is.null(there), folder, "with a job.rds that is damaged")
  differs <- differences(there, job)
  refuse_folder(length(differs) > 0L, folder,
                paste0("of another one: ", paste(differs, collapse = "; ")))
  there
}

refuse_folder <- function(wrong, folder, is, advice = advice_for(folder)) {
  refuse_if(wrong, "folder", "new, empty, or the folder of this very job",
            paste0(dQuote(folder, FALSE), ", ", is), advice)
}

#' What a user may do to use a folder of ours for another job: only our files are named
#' @noRd
advice_for <- function(folder) {
  paste0("Give another folder, or remove the files of that job, and no others, by ",
         "`unlink(list.files(", dQuote(folder, FALSE),
         ", \"^(job|chunk-[0-9]+)[.]rds$\", full.names = TRUE))`.")
}

# ---- A chunk -------------------------------------------------------------------------

chunk_path <- function(folder, chunk) file.path(folder, sprintf("chunk-%04d.rds", chunk))

#' The job, as a worker reads it
#' @noRd
read_job <- function(folder, id, arg = "folder") {
  job <- read_whole(file.path(folder, "job.rds"))
  if (!is.list(job) || !identical(job$id, id)) {
    abort_about(arg, "A worker cannot read the job in {.file {folder}}.",
                i = "{.arg {arg}} must be on a file system that all workers share, and stay.")
  }
  job
}

#' A kept job, and the `place` (`NULL`, or GPUs) where chunks of its surrogates are done
#' @noRd
open_kept_surrogates <- function(folder, id, place, max_memory, threads) {
  c(open_kept_job(folder, id, max_memory, threads), list(place = place))
}

#' Do a chunk of surrogates, and write what is found
#'
#' @param held What `open_kept_surrogates()` gives.
#' @param find Function of the job, the number of the first surrogate, from 0, and how many
#'   there are.
#' @noRd
keep_surrogates <- function(chunk, held, find) {
  job <- held$job
  first <- job$first[[chunk]]
  found <- find(job, first, c(job$first, job$n)[[chunk + 1L]] - first)
  write_chunk(found, chunk, held$folder, job$id)
  found
}

write_chunk <- function(found, chunk, folder, id) {
  write_whole(list(id = id, chunk = chunk, found = found), chunk_path(folder, chunk))
}

#' What chunks of a job are done from, and with
#' @param threads A number.
#' @noRd
open_kept_job <- function(folder, id, max_memory, threads) {
  list(job = read_job(folder, id), folder = folder, max_memory = max_memory, threads = threads)
}

#' What was found in a chunk, or `NULL` where its file is not there or damaged
#' @noRd
read_chunk <- function(chunk, folder, job) {
  there <- read_whole(chunk_path(folder, chunk))
  ours <- is.list(there) && identical(there$id, job$id) && identical(there$chunk, chunk)
  if (ours) there$found
}

#' What is known of a chunk that is there, else `NULL`
#' @param report Function that picks that from what was found.
#' @noRd
report_chunk <- function(chunk, folder, job, report = identity) {
  if (!file.exists(chunk_path(folder, chunk))) return(NULL)
  found <- read_chunk(chunk, folder, job)
  if (is.null(found)) {
    warn_about("folder", "{.file {chunk_path(folder, chunk)}} is damaged, or of another job.",
               i = "It is done again.")
    return(NULL)
  }
  report(found)
}

# ---- Files ---------------------------------------------------------------------------

folder_lock <- "job.lock"

# Regular expressions of what lies in a folder of ours.
folder_names <- "job[.]rds|chunk-[0-9]{4,}[.]rds"
lock_names <- "job[.]lock(-break)?"

# What systems put into folders of their own accord.
system_names <- "[.]DS_Store|[.]nfs.*|Thumbs[.]db|desktop[.]ini|lost[+]found"

#' The path of a folder that exists, can be written to and holds nothing but our files
#' @noRd
check_folder <- function(folder) {
  check_path(folder, "folder", of = "a folder")
  if (!dir.exists(folder)) dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  refuse_if(!dir.exists(folder) || file.access(folder, 2L) != 0L, "folder",
            "a folder that can be made or written to", dQuote(folder, FALSE))
  folder <- normalizePath(folder, "/")
  foreign <- foreign_files(folder, folder_names, lock_names)
  refuse_if(length(foreign) > 0L, "folder",
            "new, empty, or one that holds nothing but the files of such a job",
            paste0(dQuote(folder, FALSE), ", which holds ", some(dQuote(foreign, FALSE))),
            "Give the path of a new folder, which is then made.")
  folder
}

#' Names in a folder that are not ours
#' @param files,locks Regular expressions of the names of our files, and of our locks.
#' @noRd
foreign_files <- function(folder, files, locks) {
  there <- list.files(folder, all.files = TRUE, no.. = TRUE)
  temporary <- sprintf("(%s|%s|%s)%s[0-9a-f]+[.]tmp", files, locks, queue_name, temporary_mark)
  matches <- \(pattern) grepl(sprintf("^(%s)$", pattern), there)
  is_folder <- dir.exists(file.path(folder, there))
  ours <- matches(files) & !is_folder | matches(locks) & is_folder | matches(temporary) |
    matches(system_names)
  there[!ours]
}

# ---- Messages to the user ------------------------------------------------------------

say_what_is_there <- function(folder, todo, chunks) {
  if (length(todo) == chunks) return(invisible())
  info("folder", if (length(todo) == 0L) {
    "All {chunks} chunks are there in {.file {folder}}; nothing is done again."
  } else {
    "{chunks - length(todo)} of {chunks} chunks are there in {.file {folder}}; doing the
     other{?s} {length(todo)}."
  })
}
