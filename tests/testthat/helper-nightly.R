# Parts of the tests that take too long for every change run with `make nightly`.

nightly <- function() nzchar(Sys.getenv("SYNFIRE_NIGHTLY"))

skip_unless_nightly <- function() {
  testthat::skip_if_not(nightly(), "runs with make nightly")
}

# The numbers of random cases: all of them with `make nightly`, the first third otherwise.
cases <- function(n) seq_len(if (nightly()) n else ceiling(n / 3))

# All of `x` with `make nightly`, every third otherwise: others from turn to turn.
some_of <- function(x, turn = 0) if (nightly()) x else x[(seq_along(x) + turn) %% 3 == 0]
