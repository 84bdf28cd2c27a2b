# Counter-based random numbers: a key drawn from R's generator and the number of a stream
# decide them, whatever thread or device draws.

#' Draw a key from R's generator, so that `set.seed()` decides everything
#' @return Two whole numbers of 32 bits.
#' @noRd
random_key <- function() .Call(r_random_key)

#' `n` numbers, uniform on (0, 1), of stream `stream` under `key`, after the first `skip`
#' @noRd
random_uniform <- function(n, key, stream, skip = 0) {
  .Call(r_random_uniform, n, key, stream, skip)
}

#' The first `n` whole numbers from 0 to `bound - 1` of a stream
#' @noRd
random_below <- function(n, bound, key, stream) {
  .Call(r_random_below, n, bound, key, stream)
}

#' R's random numbers as they stand, made if they have never been used
#' @noRd
current_seed <- function() {
  home <- globalenv()
  if (!exists(".Random.seed", home, inherits = FALSE)) stats::runif(1)
  get(".Random.seed", home, inherits = FALSE)
}
