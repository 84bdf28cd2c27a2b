# The recordings that come with the package.

extdata <- function(name) system.file("extdata", name, package = "synfire", mustWork = TRUE)

test_that("the recordings of the package are those of their files", {
  expect_setequal(utils::data(package = "synfire")$results[, "Item"], c("mouse", "songbird"))
  expect_identical(suppressMessages(read_spikes(extdata("songbird.txt"))), songbird)
  skip_if_not_installed("hdf5r")
  expect_identical(suppressMessages(read_spikes(extdata("mouse-A8604.nwb"))), mouse)
})

test_that("the files of the package are the published ones", {
  sums <- tools::md5sum(c(extdata("songbird.txt"), extdata("mouse-A8604.nwb")))
  expect_identical(unname(sums),
                   c("f693a83d88ecd50f2b5a6b21a53f7ab5", "6a32c19e0e0f0ae654720476aedeb505"))
})

test_that("the help of the recordings gives their true sizes", {
  expect_identical(c(nlevels(songbird$unit), nrow(songbird)), c(74L, 3336L))
  expect_identical(setdiff(as.character(1:75), levels(songbird$unit)), "9")
  expect_identical(c(nlevels(mouse$unit), nrow(mouse)), c(3L, 21354L))
})
