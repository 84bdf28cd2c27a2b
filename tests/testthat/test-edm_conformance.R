# Results of rEDM 2.0.2 and kEDM on their own test data.

redm <- function(name) {
  read.csv(shared_data(file.path("edm", "redm", paste0(name, ".csv"))), check.names = FALSE)
}

kedm <- function(name) {
  read.csv(shared_data(file.path("edm", "kedm", paste0(name, ".csv"))), check.names = FALSE)
}

# Printed with six decimals.
expect_projection <- function(found, valid, tolerance = 1e-6) {
  expect_equal(nrow(found), nrow(valid))
  expect_equal(found[[1]], valid$Time)
  for (column in c("Observations", "Predictions", "Pred_Variance")) {
    expect_identical(is.na(found[[column]]), is.na(valid[[column]]))
    expect_lte(max(abs(found[[column]] - valid[[column]]), na.rm = TRUE), tolerance)
  }
}

test_that("simplex() gives rEDM's predictions", {
  x <- redm("block_3sp")
  expect_projection(simplex(x, "x_t", "x_t", lib = c(1, 100), pred = c(101, 195), E = 3),
                    redm("Smplx_E3_block_3sp_valid"))
  expect_projection(simplex(x, "x_t y_t z_t", "x_t", lib = "1 99", pred = "100 198",
                            E = 3, embedded = TRUE),
                    redm("Smplx_E3_embd_block_3sp_valid"))
  expect_projection(simplex(x, "x_t", "y_t", lib = c(1, 100), pred = c(50, 80), E = 3,
                            Tp = -2),
                    redm("Smplx_negTp_block_3sp_valid"))
})

test_that("embed_dimension() and predict_interval() give rEDM's skill", {
  found <- embed_dimension(redm("LorenzData1000"), "V1", "V1", lib = c(1, 500),
                           pred = c(501, 800), E_max = 12, Tp = 15, tau = -5,
                           exclusion_radius = 20)
  valid <- redm("EmbedDim_valid")
  expect_identical(found$E, valid$E)
  expect_lte(max(abs(found$rho - valid$rho)), 1e-6)

  found <- predict_interval(redm("block_3sp"), "x_t", "x_t", lib = c(1, 150),
                            pred = c(151, 198), Tp_max = 15, E = 3)
  valid <- redm("PredictInterval_valid")
  expect_identical(found$Tp, valid$Tp)
  expect_lte(max(abs(found$rho - valid$rho)), 1e-6)
})

test_that("embed_dimension() gives kEDM's skill", {
  # kEDM predicts no row beyond the data: the last point is row 499.
  found <- embed_dimension(kedm("TentMap_rEDM"), "TentMap", lib = c(1, 100),
                           pred = c(201, 499), E_max = 20)
  expect_lte(max(abs(found$rho - kedm("TentMap_rEDM_validation")$rho)), 1e-5)
})

test_that("simplex() gives kEDM's leave-one-out predictions", {
  found <- simplex(kedm("simplex_test_data"), E = 2, no_time = TRUE)
  valid <- kedm("simplex_full_lib_test_validation")$Predictions
  expect_lte(max(abs(found$Predictions[-1] - valid)), 1e-5)
})

test_that("simplex() gives kEDM's cross map", {
  x <- redm("sardine_anchovy_sst")
  for (E in 2:5) {
    valid <- kedm(paste0("anchovy_sst_validation_E", E))[[1]]
    # kEDM leaves out the last E - 1 rows.
    rows <- c(1, nrow(x) - E + 1)
    found <- simplex(x, "anchovy", "np_sst", lib = rows, pred = rows, E = E)
    predicted <- found$Predictions[-1]
    expect_length(predicted, length(valid))
    # Printed with six decimals.
    expect_lte(max(abs(predicted - valid) - 1.2e-5 * abs(valid)), 1e-6)
  }
})

test_that("embed_dimension() and simplex() give kEDM's all-to-all cross map", {
  x <- kedm("xmap_all_to_all_test_input")
  valid_E <- kedm("xmap_all_to_all_test_validation_e")$E
  valid_rho <- kedm("xmap_all_to_all_test_validation_rho")
  E <- vapply(names(x), \(name) {
    attr(embed_dimension(x, name, E_max = 20, no_time = TRUE), "optimal")
  }, 0L)
  expect_identical(unname(E), valid_E)
  rho <- outer(seq_along(x), seq_along(x), Vectorize(\(i, j) {
    found <- simplex(x, names(x)[[i]], names(x)[[j]], E = E[[j]], Tp = 0, no_time = TRUE)
    prediction_error(found)$rho
  }))
  expect_lte(max(abs(rho - as.matrix(valid_rho))), 1e-5)
})
