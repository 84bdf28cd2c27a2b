# Whether the tool that runs GPU kernels under checkers has a case for each of them. The
# tool is no part of the package, so it is there only beside the sources.
run_sanitize_tool <- function(...) {
  root <- test_path("..", "..")
  skip_if_not(file.exists(file.path(root, "tools", "sanitize-gpu.R")),
              "the sources are not there")
  skip_on_os("windows")
  root <- normalizePath(root)
  withr::local_dir(root)
  said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"),
                                   c("--vanilla", "tools/sanitize-gpu.R", ...),
                                   stdout = TRUE, stderr = TRUE, env = "R_TESTS="))
  list(said = said, status = attr(said, "status") %||% 0L)
}

test_that("every kernel of src/gpu has a case", {
  found <- run_sanitize_tool("--kernels")
  expect_identical(found$status, 0L, info = paste(found$said, collapse = "\n"))
})

test_that("a kernel that its case does not launch is a failure", {
  file <- withr::local_tempfile()
  # As the compiler writes gpu::fill(unsigned *, unsigned), and a longer name.
  writeLines("device _ZN3gpu4fillEPjj", file)
  expect_identical(run_sanitize_tool("--launched", file, "device")$status, 0L)
  writeLines("device _ZN3gpu10fill_tilesEPjj", file)
  found <- run_sanitize_tool("--launched", file, "device")
  expect_identical(found$status, 1L)
  expect_match(found$said, "the case device did not launch fill", all = FALSE)
})
