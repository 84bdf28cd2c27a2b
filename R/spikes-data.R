# The recordings that come with the package; tools/make-data.R makes them from inst/extdata.

#' A songbird's premotor neurons
#'
#' Neurons in the nucleus HVC of a zebra finch that sings, which are known to fire in sequences.
#' The spikes were deconvolved from a film of calcium indicators with 30 frames a second, so all
#' times are multiples of a thirtieth of a second, and delays shorter than that are unknown.
#'
#' @format [spike_trains()] of 74 units (`"1"` to `"75"`, without `"9"`), with 3,336 spikes in
#'   22.2 s. The original file is
#'   `system.file("extdata", "songbird.txt", package = "synfire")`: columns unit and time (s),
#'   separated by tabs, without a header.
#' @source The demo data of PPSeq.jl (<https://github.com/lindermanlab/PPSeq.jl>, file
#'   `demo/data/songbird_spikes.txt`), under the MIT licence, copyright 2020 by Alex H.
#'   Williams, Anthony Degleris and Scott W. Linderman. The whole licence is in
#'   `system.file("extdata", "LICENCES.txt", package = "synfire")`.
#' @references
#' Mackevicius EL, Bahle AH, Williams AH, Gu S, Denisenko NI, Goldman MS, Fee MS (2019).
#' Unsupervised discovery of temporal sequences in high-dimensional datasets, with applications
#' to neuroscience. eLife 8, e38471. \doi{10.7554/eLife.38471}
#'
#' Williams AH, Degleris A, Wang Y, Linderman SW (2020). Point process models for sequence
#' detection in high-dimensional neural spike trains. Advances in Neural Information Processing
#' Systems 33.
#' @seealso [mouse], a recording with an electrode.
#' @examples
#' songbird
#' plot(songbird)
"songbird"

#' Three units of a mouse
#'
#' Units of a mouse, recorded with a silicon probe, and sorted with Phy. Times are known to a
#' thirtieth of a millisecond.
#'
#' @format [spike_trains()] of 3 units (`"6"`, `"191"` and `"206"`), with 21,354 spikes in
#'   1,087 s. The original file, in the format Neurodata Without Borders (NWB), is
#'   `system.file("extdata", "mouse-A8604.nwb", package = "synfire")`. Its reader,
#'   [read_spikes()], needs the package hdf5r.
#' @source The test data of pynapple (<https://github.com/pynapple-org/pynapple>, session
#'   `A8604-211122`), under the MIT licence, copyright by the pynapple authors. The whole licence
#'   is in `system.file("extdata", "LICENCES.txt", package = "synfire")`.
#' @references
#' Viejo G, Levenstein D, Skromne Carrasco S, Mehrotra D, Mahallati S, Vite GR, Denny H, Sjulson L,
#' Battaglia FP, Peyrache A (2023). Pynapple, a toolbox for data analysis in neuroscience. eLife
#' 12, RP85786. \doi{10.7554/eLife.85786}
#' @seealso [songbird], a recording of many units.
#' @examples
#' mouse
#' isi_statistics(mouse)
"mouse"
