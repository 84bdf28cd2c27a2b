# usage: Rscript tools/make-data.R. Makes the recordings of data/ from the files in
# inst/extdata, by the reader that a user would take.
library(synfire)

songbird <- read_spikes("inst/extdata/songbird.txt")
mouse <- read_spikes("inst/extdata/mouse-A8604.nwb")
for (name in c("songbird", "mouse")) {
  save(list = name, file = file.path("data", paste0(name, ".rda")), compress = "xz", version = 3)
}
