
test_that("functions of the version before say what took their place", {
  for (name in c("closed_itemsets", "optimal_dimensions", "as_incidence", "wiring",
                 "truth_links", "simulate_lorenz96", "simulate_calcium")) {
    gone <- getExportedValue("synfire", name)
    expect_error(gone(1, x = 2), "left the package.*\n.*", class = "synfire_error")
  }
})
