# One process at a time works on a file or a folder of results.
#
# The lock of `path` is the folder `path.lock` with the file `owner`, which says who holds it.
# The folder is made under another name and then renamed. To rename a folder to the name of
# one that is there and not empty fails, on file systems of networks as well, and so of
# several processes one gets it, and no lock is without its owner.

# Locks that this process holds, and queues that it owns (utils-chunks.R).
locks_held <- new.env(parent = emptyenv())

#' Hold the lock of a path until the caller's function ends, however it ends
#'
#' A lock whose process is gone is taken over when that ran on this machine. What runs on
#' another one cannot be looked at, so the user decides.
#'
#' @param lock Path of the lock.
#' @param what What is locked, as users know it.
#' @param frame The function that holds it.
#' @noRd
hold_lock <- function(lock, what, frame = parent.frame()) {
  begun <- proc.time()[["elapsed"]]
  repeat {
    # An interrupt between taking it and saying so would leave a lock that nobody gives back.
    taken <- suspendInterrupts({
      taken <- take_lock(lock)
      if (taken) {
        give <- as.call(list(function() release_lock(lock)))
        do.call(on.exit, list(give, add = TRUE), envir = frame)
      }
      taken
    })
    if (taken) return(invisible())
    owner <- lock_owner(lock)
    gone <- !is.null(owner) && owner_is_gone(owner)
    if (gone) break_lock(lock, owner)
    # It may be given back, and a process that is being killed takes a moment to end.
    waited <- proc.time()[["elapsed"]] - begun
    if (!gone && waited > 1 || waited > 5) abort_locked(lock, owner, what)
    Sys.sleep(0.01)
  }
}

#' @return Whether this process has the lock now.
#' @noRd
take_lock <- function(lock) {
  fresh <- tempfile(paste0(basename(lock), temporary_mark), dirname(lock), ".tmp")
  on.exit(unlink(fresh, recursive = TRUE))
  me <- this_process()
  written <- dir.create(fresh, showWarnings = FALSE) &&
    tryCatch({
      writeLines(enc2utf8(me), file.path(fresh, "owner"))
      TRUE
    }, error = \(e) FALSE, warning = \(w) FALSE)
  if (!written) {
    open <- dir.exists(dirname(lock)) && file.access(dirname(lock), 2L) == 0L
    if (!open) abort_write(lock, "its folder is gone, or cannot be written to")
    if (dir.exists(fresh)) abort_write(lock, "its owner could not be written")
    # Another process has tidied it away.
    return(FALSE)
  }
  taken <- suppressWarnings(file.rename(fresh, lock))
  # Some systems put a folder into another of that name.
  taken <- taken && identical(lock_owner(lock), me)
  if (taken) assign(lock, me, locks_held)
  taken
}

release_lock <- function(lock) {
  mine <- locks_held[[lock]]
  if (is.null(mine)) return(invisible())
  rm(list = lock, envir = locks_held)
  if (identical(lock_owner(lock), mine)) remove_lock(lock)
}

remove_lock <- function(lock) {
  # Under another name first: half of a lock would have no owner.
  aside <- tempfile(paste0(basename(lock), temporary_mark), dirname(lock), ".tmp")
  if (!suppressWarnings(file.rename(lock, aside))) aside <- lock
  unlink(file.path(aside, "owner"))
  unlink(aside, recursive = TRUE)
}

#' Remove a lock whose owner is gone, unless another process has just done so
#' @noRd
break_lock <- function(lock, owner) {
  guard <- paste0(lock, "-break")
  # Who breaks locks holds this for a moment; of one that was killed then it is removed.
  if (!take_lock(guard)) {
    other <- lock_owner(guard)
    if (!is.null(other) && owner_is_gone(other)) remove_lock(guard)
    return(invisible())
  }
  on.exit(release_lock(guard))
  if (identical(lock_owner(lock), owner)) remove_lock(lock)
}

# ---- Who holds it --------------------------------------------------------------------

#' This process: what tells it from others, as lines of text
#' @noRd
this_process <- function() {
  c(Sys.info()[["nodename"]], Sys.getpid(), process_birth(Sys.getpid()),
    format(Sys.time(), "%Y-%m-%d %H:%M:%S %z"), basename(tempfile("")))
}

#' When a process was started, as the system counts it; "" where that is not known
#'
#' Numbers of processes are given again: this tells a process from a later one.
#' @noRd
process_birth <- function(pid) {
  read <- function(path) tryCatch(suppressWarnings(readLines(path, n = 1L)), error = \(e) "")
  stat <- read(sprintf("/proc/%s/stat", pid))
  boot <- read("/proc/sys/kernel/random/boot_id")
  if (length(stat) == 0L || !nzchar(stat) || length(boot) == 0L || !nzchar(boot)) return("")
  # The name of the program, in brackets, may hold anything.
  fields <- strsplit(sub("^.*[)] ", "", stat), " ", fixed = TRUE)[[1L]]
  # It has ended, but nobody has asked how.
  if (fields[[1L]] %in% c("Z", "X")) return("ended")
  paste(boot, fields[[20L]])
}

#' What the owner of a lock has written, or `NULL` where there is none
#' @noRd
lock_owner <- function(lock) {
  tryCatch(suppressWarnings(readLines(file.path(lock, "owner"), encoding = "UTF-8")),
           error = \(e) NULL)
}

#' Whether the process that holds a lock is known to have ended
#' @noRd
owner_is_gone <- function(owner) {
  if (length(owner) < 5L || owner[[1L]] != Sys.info()[["nodename"]]) return(FALSE)
  pid <- suppressWarnings(as.integer(owner[[2L]]))
  if (is.na(pid) || pid <= 0L) return(FALSE)
  if (pid == Sys.getpid()) {
    mine <- mget(ls(locks_held), locks_held)
    return(!any(vapply(mine, identical, NA, y = owner)))
  }
  if (!.Call(r_process_lives, pid)) return(TRUE)
  birth <- process_birth(pid)
  nzchar(birth) && nzchar(owner[[3L]]) && birth != owner[[3L]]
}

abort_locked <- function(lock, owner, what) {
  known <- length(owner) >= 5L
  here <- known && owner[[1L]] == Sys.info()[["nodename"]]
  who <- if (!known) "a process that did not say which it is" else
    sprintf("process %s on %s, since %s", owner[[2L]],
            if (here) "this machine" else dQuote(owner[[1L]], FALSE),
            sub(" [^ ]*$", "", owner[[4L]]))
  abort_about(
    "locked", "{.file {what}} is in use by another call.",
    x = escape_braces(paste0("It is held by ", who, ".")),
    i = if (here) "Wait until that has ended, or stop it: nothing that it has done is lost." else
      "Where that process does not run any more, remove the lock {.file {lock}}."
  )
}
