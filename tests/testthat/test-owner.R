test_that("matrices that something else holds are not written in place", {
  x <- random_series(20, 2, 17)
  block <- mapped_block(x)$block
  held <- list(rho = matrix(0, 2, 2), p = matrix(0, 2, 2))
  .Call(r_map_values, block, held$rho, 0, 1:2)
  expect_false(all(held$rho == 0))
  shared <- "held elsewhere too"
  copy <- before <- held$rho
  before <- before + 0
  expect_error(.Call(r_map_values, block, held$rho, 0, 1:2), shared)
  expect_error(.Call(r_map_best, block, 0, TRUE, held$rho, NULL, 0, 1:2), shared)
  expect_error(.Call(r_map_convergence, block, 0, before, NULL, held$rho, 0, 1:2), shared)
  expect_error(.Call(r_map_count, x[1:2, ], TRUE, before, held$rho, 0, 1:2), shared)
  expect_error(.Call(r_map_p_values, held$rho, before, 1), shared)
  expect_error(.Call(r_map_store, x[1:2, ], held$rho, 0, 1:2), shared)
  expect_error(.Call(r_map_dress, held$rho, list(names = letters)), shared)
  expect_identical(copy, before)
})

test_that("what R keeps is freed once, and unloading frees the rest", {
  skip_on_cran()
  lines <- start_child(quote({
    x <- matrix(stats::rnorm(40), 20)
    open <- function() {
      .Call(synfire:::r_map_open, 2, 20, c(1L, 1L),
            synfire:::map_options(synfire:::map_rule(1)), NULL)
    }
    kept <- open()
    closed <- open()
    .Call(synfire:::r_map_close, closed)
    .Call(synfire:::r_map_close, closed)
    open()
    found <- mine_patterns(spike_trains(1:50 / 10, rep(c("A", "B"), 25), resolution = 0.1),
                           0.1, 3, threads = 1)
    unloadNamespace("synfire")
    rm(kept, closed, found)
    gc()
    log("end", "done")
  }))
  expect_identical(await_line(lines, "end", 60), "done")
})
