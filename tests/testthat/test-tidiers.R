test_that("tidy(), glance() and augment() speak as broom does", {
  skip_if_not_installed("generics")
  set.seed(1)
  x <- simulate_patterns(4, 6, 5, list(list(units = 1:3, lags = c(0, 0.01, 0.02),
                                            count = 12)))
  found <- mine_episodes(x, 8, c(0, 0.02), max_size = 2)
  tested <- episode_significance(found, n_surrogates = 9)
  patterns <- mine_patterns(x, 0.01, 3, min_spikes = 2, 4)
  wave <- data.frame(time = 1:60, x = sin(1:60), y = cos(1:60 / 2))
  cross <- ccm(wave, "x", "y", E = 2, samples = 3, lib_sizes = c(10, 20, 30, 40))
  map <- causal_map(simulate_coupled_maps(steps = 60, series = 4), E = 2)
  links <- causal_map(simulate_coupled_maps(steps = 60, series = 4), E = 2, top = 2)
  forecast <- simplex(wave, "x", E = 2)
  skill <- embed_dimension(wave, "x", E_max = 4)
  spades <- spade(x, 0.01, 3, 2, 4, n_surrogates = 19)
  for (one in list(found, tested, patterns, spades, spades$tests, cross, map, links, skill)) {
    tidied <- generics::tidy(one)
    expect_true(all(c("term", "estimate") %in% names(tidied)), label = class(one)[[1L]])
    expect_identical(anyDuplicated(names(tidied)), 0L)
    expect_false(inherits(tidied, "synfire_table"))
  }
  expect_identical(generics::tidy(found)$estimate, found$count)
  expect_identical(generics::tidy(tested)$adj.p.value, tested$p_adjusted)
  expect_identical(generics::tidy(cross)$p.value, attr(cross, "convergence")$tau_p)
  expect_identical(generics::tidy(map, max_links = 2)$estimate,
                   as.data.frame(map, max_links = 2)$rho)
  expect_identical(nrow(generics::tidy(spades)), length(spades))
  smapped <- smap(wave, "x", E = 2)
  for (one in list(found, tested, patterns, spades, forecast, smapped, skill)) {
    expect_identical(nrow(generics::glance(one)), 1L, label = class(one)[[1L]])
  }
  expect_equal(generics::glance(forecast)$rho, prediction_error(forecast)$rho)
  searched <- embed_dimension(wave, "x", E_max = 3, tau = -1:-2)
  expect_identical(as.list(generics::tidy(searched))[c("value", "tau", "Tp", "estimate")],
                   list(value = searched$E, tau = searched$tau, Tp = searched$Tp,
                        estimate = searched$rho))
  expect_identical(generics::glance(searched)$tau, attr(searched, "optimal")[["tau"]])
  augmented <- generics::augment(forecast)
  expect_identical(augmented$.resid, forecast$Observations - forecast$Predictions)
  expect_identical(names(generics::augment(smapped)), names(augmented))
  expect_error(generics::tidy(found, n = 1), class = "synfire_error_argument")
})
