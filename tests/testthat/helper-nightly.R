# Parts of the tests that take too long for every change run with `make nightly`.

nightly <- function() nzchar(Sys.getenv("SYNFIRE_NIGHTLY"))

skip_unless_nightly <- function() {
  testthat::skip_if_not(nightly(), "runs with make nightly")
}

# The numbers of random cases: all of them with `make nightly`, the first third otherwise.
cases <- function(n) seq_len(if (nightly()) n else ceiling(n / 3))
