# ---- NumPy and Phy -----------------------------------------------------------------

test_that(".npy arrays of all plain types are read", {
  file <- withr::local_tempfile(fileext = ".npy")
  read <- \(value, descr, ...) {
    write_npy(file, value, descr, ...)
    synfire:::read_npy(file)
  }
  for (width in c(1, 2, 4)) {
    top <- 2^(8 * width - 1)
    signed <- c(0, 1, -1, top - 1, -top)
    unsigned <- c(0, 1, top - 1, top, 2 * top - 1)
    prefix <- if (width == 1) "|" else "<"
    expect_identical(read(signed, paste0(prefix, "i", width)), signed)
    expect_identical(read(unsigned, paste0(prefix, "u", width)), unsigned)
  }
  big <- c(0, 1, 2^31, 2^32, 2^32 + 2^31 + 5, 123456789012, 2^53 - 1)
  expect_identical(read(big, "<i8"), big)
  expect_identical(read(big, "<u8"), big)
  expect_identical(read(c(1.5, -2, 1e300), "<f8"), c(1.5, -2, 1e300))
  expect_identical(read(c(1.5, -2), "<f4"), c(1.5, -2))

  # A negative 64-bit integer has all high bits set.
  expect_identical(read(1, "<i8", bytes = rep(255, 8)), -1)
  expect_error(read(1, "<u8", bytes = rep(255, 8)), class = "synfire_error_file")
  expect_identical(read(numeric(), "<i8"), numeric())
  expect_identical(read(c(-1, -570, -2^40 - 3), "<i8"), c(-1, -570, -2^40 - 3))
})

test_that(".npy shapes and versions", {
  file <- withr::local_tempfile(fileext = ".npy")
  read <- \(...) {
    write_npy(file, 1:3, "<i4", ...)
    synfire:::read_npy(file)
  }
  expect_identical(read(shape = "(3, 1)"), c(1, 2, 3))
  expect_identical(read(shape = "(1, 3)"), c(1, 2, 3))
  expect_identical(read(version = 2L), c(1, 2, 3))
  expect_file_error(read(version = 3L))
  expect_file_error(read(shape = "(1, 3, 1)"))
  expect_file_error(read(shape = "()"))
  expect_file_error(read(shape = "(-3,)"))
  says <- \(...) cat(messages_of(read(...)))
  expect_snapshot(says(shape = "(3, 2)"))
  expect_snapshot(says(shape = "(4,)"))
  expect_snapshot(says(shape = "(1000000000000,)"))
  says_type <- \(descr) {
    write_npy(file, 1, descr, bytes = rep(0, 16))
    cat(messages_of(synfire:::read_npy(file)))
  }
  expect_snapshot(says_type(">i4"))
  expect_snapshot(says_type("<c8"))
  expect_snapshot(says_type("|O"))
})

test_that("a damaged .npy is an error wherever it is cut", {
  skip_unless_nightly()
  skip_on_cran()
  file <- withr::local_tempfile(fileext = ".npy")
  write_npy(file, 1:3, "<i4")
  whole <- readBin(file, "raw", 1e4)
  cut <- withr::local_tempfile()
  for (n in seq(0, length(whole) - 1L, by = 3)) {
    writeBin(whole[seq_len(n)], cut)
    expect_file_error(synfire:::read_npy(cut))
  }
  set.seed(8)
  for (k in 1:200) {
    bent <- whole
    bent[sample(length(bent), 3)] <- as.raw(sample(0:255, 3))
    writeBin(bent, cut)
    got <- tryCatch(synfire:::read_npy(cut), synfire_error_file = \(e) "refused")
    expect_true(identical(got, "refused") || is.double(got))
  }
})

phy_folder <- function(.env = parent.frame(), times = c(0, 30, 60000, 90), clusters = c(10, 2, 2, 7),
                       params = "sample_rate = 30000.") {
  folder <- withr::local_tempfile(.local_envir = .env)
  dir.create(folder)
  write_npy(file.path(folder, "spike_times.npy"), times, "<i8",
            sprintf("(%d, 1)", length(times)))
  write_npy(file.path(folder, "spike_clusters.npy"), clusters, "<i4")
  if (!is.null(params)) writeLines(c("dat_path = 'x.dat'", params), file.path(folder, "params.py"))
  folder
}

test_that("a Phy folder is read", {
  folder <- phy_folder()
  expect_identical(read_spikes(folder), spike_trains(c(0, 0.001, 2, 0.003), c(10, 2, 2, 7)))
  expect_identical(synfire:::train_ticks(read_spikes(folder, resolution = 1 / 30000)),
                   c(0, 30, 90, 60000))
  expect_identical(read_spikes(folder, format = "phy", from = 0.001, to = 0.003)$time,
                   c(0.001, 0.003))
  expect_identical(read_spikes(phy_folder(params = NULL), sampling_rate = 30000),
                   read_spikes(folder))
})

test_that("groups choose clusters, and people overrule Kilosort", {
  folder <- phy_folder()
  writeLines(c("cluster_id\tKSLabel", "2\tgood", "7\tgood", "10\tmua"),
             file.path(folder, "cluster_KSLabel.tsv"))
  good <- read_spikes(folder, groups = "good")
  expect_identical(levels(good$unit), c("2", "7"))
  # The interval stays that of the whole recording.
  expect_identical(attr(good, "start"), 0)
  writeLines(c("cluster_id\tgroup", "7\tnoise"), file.path(folder, "cluster_group.tsv"))
  expect_identical(levels(read_spikes(folder, groups = "good")$unit), "2")
  expect_identical(levels(read_spikes(folder, groups = c("mua", "noise"))$unit), c("7", "10"))
  expect_identical(nlevels(read_spikes(folder)$unit), 3L)
  expect_snapshot(error = TRUE, read_spikes(folder, groups = "great"))
  expect_error(read_spikes(folder, groups = 1), class = "synfire_error_argument")
  expect_identical(nrow(read_spikes(phy_folder(), groups = "unsorted")), 4L)
})

test_that("a damaged Phy folder is an error", {
  skip_on_cran()
  says <- \(folder, ...) cat(messages_of(read_spikes(folder, ...)))
  empty <- withr::local_tempfile()
  dir.create(empty)
  expect_snapshot(says(empty))
  expect_snapshot(says(phy_folder(clusters = 1:3)))
  expect_snapshot(says(phy_folder(params = NULL)))
  expect_snapshot(says(phy_folder(params = "rate = 3")))
  expect_snapshot(says(phy_folder(), sampling_rate = 25000))
  expect_snapshot(says(phy_folder(times = numeric(), clusters = numeric())))
  expect_snapshot(says(phy_folder(), format = "csv"))
  expect_snapshot(says(file.path(phy_folder(), "spike_times.npy")))
})

test_that("labels of clusters that are not there, or contradict each other, are an error", {
  labels <- \(..., .env = parent.frame()) {
    folder <- phy_folder(.env = .env)
    writeLines(c("cluster_id\tgroup", ...), file.path(folder, "cluster_group.tsv"))
    folder
  }
  says <- \(...) cat(messages_of(read_spikes(labels(...), groups = "good")))
  expect_snapshot(says("20\tgood", "21\tmua"))
  expect_snapshot(says("2\tgood", "2\tmua"))
  # Phy also keeps labels of clusters that were merged away, and pandas writes 2.0.
  expect_identical(levels(read_spikes(labels("2.0\tgood", "99\tgood"), groups = "good")$unit), "2")
  expect_snapshot(says("2\tgood\x01"))
})

test_that(".npy with bytes to spare, or in several blocks, is told apart", {
  file <- withr::local_tempfile(fileext = ".npy")
  write_npy(file, 1:100, "<i8")
  read <- \() synfire:::read_npy(file)
  expect_identical(read(), as.double(1:100))
  con <- file(file, "rb")
  readBin(con, "raw", file.size(file) - 800)
  expect_identical(synfire:::read_numbers(con, "i", 8L, 100, stop, block = 7), as.double(1:100))
  close(con)
  writeBin(c(readBin(file, "raw", 1e4), raw(8)), file)
  expect_snapshot(cat(messages_of(read())))
})
