# Where the data of get-data.R come from: a list with an element each.
#
# `about`, `licence` and `cite` are printed. Each of `parts` is fetched from the first of its
# `urls` that gives the right files; `convert` takes the path of what was fetched and gives
# the bytes of each file (a list, in the order of `md5`). `checked` says what the MD5 is of.

raw_url <- function(repository, commit, path) {
  path <- gsub(" ", "%20", path, fixed = TRUE)
  sprintf("https://raw.githubusercontent.com/%s/%s/%s", repository, commit, path)
}

# ---- Converters ------------------------------------------------------------------------

as_it_is <- function(file) list(read_bytes(file))

lines_to_bytes <- function(lines) charToRaw(paste0(paste(lines, collapse = "\n"), "\n"))

# Milliseconds to two digits and the unit, by time, then unit.
spikes_to_csv <- function(seconds, unit) {
  o <- order(seconds, unit, method = "radix")
  list(lines_to_bytes(c("time,neuron", sprintf("%.2f,%s", 1000 * seconds[o], unit[o]))))
}

# A NeuroExplorer text export: a column of seconds for each channel, of different lengths.
convert_culture <- function(file) {
  table <- utils::read.delim(file, colClasses = "character", check.names = FALSE)
  channels <- table[grepl("_unit_", names(table), fixed = TRUE)]
  names(channels) <- sub("_unit_.*", "", names(channels))
  seconds <- lapply(channels, \(column) as.double(column[grepl("[0-9]", column)]))
  spikes_to_csv(unlist(seconds, use.names = FALSE), rep(names(seconds), lengths(seconds)))
}

# An Axion spike list: well B3. Its first columns are about the recording.
convert_well <- function(file) {
  con <- gzfile(file)
  on.exit(close(con))
  lines <- readLines(con, warn = FALSE)
  head <- grep("Time \\(s\\),Electrode", lines)[[1L]]
  at <- match(c("Time (s)", "Electrode"), strsplit(lines[[head]], ",")[[1L]])
  fields <- strsplit(lines[-seq_len(head)], ",")
  fields <- fields[lengths(fields) >= max(at)]
  electrode <- vapply(fields, `[[`, "", at[[2L]])
  ours <- grepl("^B3_", electrode)
  spikes_to_csv(as.double(vapply(fields[ours], `[[`, "", at[[1L]])), electrode[ours])
}

# A day of a dense culture: a line a spike, its time in seconds and its electrode, in order.
convert_dense <- function(file) {
  bytes <- memDecompress(read_bytes(file), "bzip2")
  spikes <- utils::read.table(text = rawToChar(bytes), colClasses = c("numeric", "integer"))
  if (ncol(spikes) != 2L || is.unsorted(spikes[[1L]]) || any(!spikes[[2L]] %in% 0:60)) {
    stop("it has other lines than a time and an electrode, in order")
  }
  list(bytes)
}

# The windows of Porrmann et al., and the raster they were cut from. An item is the unit times
# 20 and the offset; a window opens at each bin with a spike, so the next one opens at the
# smallest offset above 0. Between two trials, where there is none, 20 bins are empty.
convert_cortex <- function(file) {
  bytes <- read_bytes(file)
  windows <- lapply(strsplit(readLines(file), " ", fixed = TRUE), as.integer)
  step <- vapply(windows, \(items) {
    offset <- items %% 20L
    if (any(offset > 0L)) min(offset[offset > 0L]) else 20L
  }, 0L)
  opens <- cumsum(c(0L, utils::head(step, -1L)))
  items <- unlist(windows)
  spikes <- unique(data.frame(unit = items %/% 20L,
                              bin = rep(opens, lengths(windows)) + items %% 20L))
  spikes <- spikes[order(spikes$unit, spikes$bin), ]
  list(bytes, lines_to_bytes(paste(spikes$unit, spikes$bin)))
}

# ---- Sources ---------------------------------------------------------------------------

published <- "MD5 of the file itself"
converted <- "MD5 of what it was converted into; that of the original is not known to us"

one_part <- function(urls, md5, convert = as_it_is, checked = published) {
  list(urls = urls, md5 = md5, convert = convert, checked = checked)
}

# Files that are kept as they are, each a part: from `urls(name)` to `folder/name`.
many_parts <- function(folder, md5, urls) {
  lapply(names(md5), \(name) {
    one_part(urls(name), stats::setNames(md5[[name]], file.path(folder, name)))
  })
}

redm_files <- c(
  "CCM_anch_sst_valid.csv" = "bef3f512aac4d4efee7b479e2e7902e7",
  "EmbedDim_valid.csv" = "ecf8431409d14345d4fa5c41fb5faf58",
  "LorenzData1000.csv" = "772605f3d58afb7c9ac37acd92494f9b",
  "PredictInterval_valid.csv" = "3f50c8dd4ce2448a91a5b3b534958d2e",
  "SMap_circle_E2_embd_valid.csv" = "94ab752f92df1664306e5b6e47d6ff63",
  "SMap_circle_E4_valid.csv" = "4c9073fb362a511b677e19a5f182bf19",
  "Smplx_E3_block_3sp_valid.csv" = "adeba1f64be12ff4f7f62b23422f94c6",
  "Smplx_E3_embd_block_3sp_valid.csv" = "7145c5d0d40c974bb73178c1d5decdd6",
  "Smplx_negTp_block_3sp_valid.csv" = "c56ab23006135f23bd3f9606ca4c6ac0",
  "block_3sp.csv" = "86d8a5b0c76e2260abbb975faa619abf",
  "circle.csv" = "24195c0875725e24d5e1cd0a1909900a",
  "sardine_anchovy_sst.csv" = "ebc2e1b4cb36e58460eaf294e00461e5"
)

kedm_files <- c(
  "TentMap_rEDM.csv" = "5afba50624261a46b310671339fe4ce7",
  "TentMap_rEDM_validation.csv" = "40b6876644c21b648e28c9392af6014a",
  "anchovy_sst_validation_E2.csv" = "c8c423af4415ec20a99529fe94ca8317",
  "anchovy_sst_validation_E3.csv" = "363f5363453c9950e76641717a0fe9e3",
  "anchovy_sst_validation_E4.csv" = "6367a37aecb9380a2fbc3cf9ba6ab331",
  "anchovy_sst_validation_E5.csv" = "4f21520edcd1baad25258fbecbc99279",
  "logistic_map.csv" = "bef40a8b731ebd8a0847de844fad7417",
  "simplex_full_lib_test_validation.csv" = "2f6556bc85b8ccb8f321f24f2a225811",
  "simplex_test_data.csv" = "ae2b0da29a448c217d317045d4463857",
  "smap_valid_logistic_map.csv" = "7e63ec1a75940e31a748f09c29655813",
  "xmap_all_to_all_test_input.csv" = "49faa518127ec01e06789b9e8e64deec",
  "xmap_all_to_all_test_validation_e.csv" = "1320285ad75d393979bc411af95b3357",
  "xmap_all_to_all_test_validation_rho.csv" = "98b222e7fc881922161d674c0858cba7"
)

sources <- list(
  culture = list(
    about = "hippocampal culture TC89, 59 channels, 911 s (example of the R package sjemea)",
    licence = "GPL, version 2 or later",
    cite = "Eglen SJ, sjemea: analysis of multielectrode array data (R package)",
    parts = list(one_part(
      raw_url("sje30/sjemea", "12be130c5a4f68749821c0d192b3ce3b8e7cecbe",
              "inst/examples/TC89_DIV15_A.nexTimestamps"),
      c("episodes/tc89.csv.gz" = "d02cecdbe14395a4d1c4a2b60a8eff20"), convert_culture,
      converted
    ))
  ),
  well = list(
    about = "well B3 of an Axion plate, 16 electrodes, 62 s (example of the R package meaRtools)",
    licence = "GPL, version 3 or later",
    cite = "Gelfman S et al. (2018), PLoS Computational Biology 14, e1006506",
    # One of its three days; the MD5 tells which.
    parts = list(one_part(
      raw_url("igm-team/meaRtools",
              c("049f1b52e16648c77d97a2fcbeb1230f318a8ada",
                "7448cc61873d418d368258316803e00e26266477",
                "7263d2e3fa66e904d8bf5f5ec04ada3dc4b0ad74"),
              sprintf("meaRtools/inst/extdata/exampleRecording_1012016_plate1_DIV%d_spike_list.csv.gz",
                      c(1L, 3L, 4L))),
      c("episodes/axion_B3.csv.gz" = "227c6a0e2e93645e3cf617e0ec30b616"), convert_well, converted
    ))
  ),
  dense = list(
    about = "dense cortical culture, batch 2, culture 1, days 10, 20 and 33 to 35, 60 electrodes",
    licence = "none is stated; the archive asks that the article is cited",
    cite = "Wagenaar DA, Pine J, Potter SM (2006), BMC Neuroscience 7, 11",
    parts = Map(\(day, md5) one_part(
      sprintf(paste0("https://neurodatasharing.bme.gatech.edu/development-data/simple-text/",
                     "daily/spont/dense/2-1-%d.spk.txt.bz2"), day),
      stats::setNames(md5, sprintf("episodes/culture-2-1-%d.spk.txt.gz", day)), convert_dense,
      if (is.na(md5)) "its MD5 is not known to us; its lines were checked" else converted
    ), c(10L, 20L, 33L, 34L, 35L),
    c("b22988c1530b4a2a62418bd3a9867c77", "44111f7ca36963ed1b82a80043fdca53", NA, NA, NA))
  ),
  cortex = list(
    about = "motor cortex of a monkey, 150 units, 22 s in bins of 5 ms (data of the program FPG)",
    licence = "MIT (FPG); CC BY 4.0 (the recording)",
    cite = paste("Porrmann F et al. (2021), Frontiers in Neuroinformatics 15, 723406;",
                 "Brochier T et al. (2018), Scientific Data 5, 180055"),
    note = paste("what FPG itself finds in them (spade/movement_PGHF_job*) has no public home;",
                 "the tests that compare with it are skipped"),
    parts = list(one_part(
      raw_url("fporrmann/FPG", "6a96d65c96775819fddad93d04140ed06393d7d0",
              "PythonModule/datasets/movement_PGHF.txt"),
      c("spade/movement_PGHF_windows.txt.gz" = "c2b4c2edda51c5821d7f7354dcee5644",
        "spade/movement_PGHF_raster.txt.gz" = "71af9d6c31b395ba2be1eddebe5bcc13"),
      convert_cortex, "MD5 of the published windows, and of the raster made from them"
    ))
  ),
  mouse = list(
    about = "session A8604-211122 of a mouse as NWB, 3 units (test data of pynapple)",
    licence = "MIT",
    cite = "Viejo G et al. (2023), eLife 12, RP85786",
    parts = list(one_part(
      raw_url("pynapple-org/pynapple", "77e4805331713ccd57b5070ae5be8cd3e54e709c",
              "tests/nwbfilestest/phy/pynapplenwb/A8604-211122.nwb"),
      c("recordings/mouse-A8604.nwb" = "6a32c19e0e0f0ae654720476aedeb505")
    ))
  ),
  retina = list(
    about = "retinal waves at P11, 1,152 units, 1,800 s as HDF5 (waverepo)",
    licence = "GPL 2",
    cite = paste("Maccione A et al. (2014), Journal of Physiology 592, 1545-1563;",
                 "Eglen SJ et al. (2014), GigaScience 3, 3"),
    # One of its five recordings of that age; the MD5 tells which.
    parts = list(one_part(
      raw_url("sje30/waverepo", "3afd205079a2836609ef1965527a5ab295120723",
              sprintf("hdf5/Maccione2014/Maccione2014_P11_%s_bursts_filtered.h5",
                      c("m1r2_Spkts", "m2r1_SpkTs", "m2r2_SpkTs", "AllPhases_Spikes",
                        "14May12_spont_day1_1_SpkTs_12"))),
      c("recordings/retina-1152.h5" = "ae7f7daa7de314c9d2bd14df432444d9")
    ))
  ),
  songbird = list(
    about = "HVC of a singing zebra finch, 74 units, 22 s (demo of PPSeq.jl)",
    licence = "MIT",
    cite = paste("Mackevicius EL et al. (2019), eLife 8, e38471;",
                 "Williams AH et al. (2020), Advances in Neural Information Processing Systems 33"),
    parts = list(one_part(
      raw_url("lindermanlab/PPSeq.jl", "0bb556a2232bb8e0ebf7dfe43b9962111d94410e",
              "demo/data/songbird_spikes.txt"),
      c("recordings/songbird.txt" = "f693a83d88ecd50f2b5a6b21a53f7ab5")
    ))
  ),
  cockroach = list(
    about = "antennal lobe of a cockroach, 3 units, 20 trials (R package STAR)",
    licence = "GPL, version 2 or later",
    cite = "Pouzat C, Chaffiol A (2009), Journal of Neuroscience Methods 181, 119-144",
    parts = list(one_part(
      raw_url("cran/STAR", "60eb34c63c43c5888f0e33981089450eb5800023",
              "data/e060817terpi.rda"),
      c("recordings/cockroach-terpi.rda" = "87c0d53d18ebf826bad1248435190eee"),
      checked = "MD5 of the file itself, as in the package's own list"
    ))
  ),
  redm = list(
    about = "series and expected results of rEDM's own tests",
    licence = "BSD, 2 clauses",
    cite = "Park J, Smith C, Sugihara G, Deyle E, rEDM: empirical dynamic modeling (R package)",
    parts = many_parts("edm/redm", redm_files, \(name) {
      under <- if (grepl("valid", name)) "tests/testthat/fixtures" else "inst/extdata"
      raw_url("SugiharaLab/rEDM", "324cf2aee1b24977a487c48a9db3534af319a161",
              file.path(under, name))
    })
  ),
  kedm = list(
    about = "series and expected results of kEDM's own tests",
    licence = "MIT",
    cite = paste("Takahashi K et al. (2021), kEDM, Practice and Experience in Advanced",
                 "Research Computing"),
    # As they are today, or as they were.
    parts = many_parts("edm/kedm", kedm_files, \(name) {
      raw_url("keichi/kEDM", c("HEAD", "e4f08ce9fe0a1c5525d440344658fd95cd9dc781",
                               "cdc9519720f7e3798b2fa5b57d06e98db19e3e6c"),
              file.path("test", name))
    })
  )
)
