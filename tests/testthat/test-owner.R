test_that("matrices that something else holds are not written in place", {
  held <- list(rho = matrix(0, 2, 2))
  .Call(r_map_dress, held$rho, list(one = 1))
  expect_identical(attr(held$rho, "one"), 1)
  copy <- held$rho
  expect_error(.Call(r_map_dress, held$rho, list(names = letters)), "held elsewhere too")
  expect_identical(attributes(copy), list(dim = c(2L, 2L), one = 1))
})

test_that("what R keeps is freed once, and unloading frees the rest", {
  skip_on_cran()
  lines <- start_child(quote({
    trains <- spike_trains(1:50 / 10, rep(c("A", "B"), 25), resolution = 0.1)
    mine <- \() mine_patterns(trains, 0.1, 3, threads = 1)
    kept <- mine()
    closed <- mine()
    rm(closed)
    gc()
    found <- mine()
    unloadNamespace("synfire")
    rm(kept, found)
    gc()
    log("end", "done")
  }))
  expect_identical(await_line(lines, "end", 60), "done")
})
