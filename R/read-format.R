# Which format a file is of: its first bytes, and what is in it.

#' The format of a file
#'
#' @return `format`; for text `head`, its first lines; for HDF5 `h5`, the open file.
#' @noRd
guess_format <- function(file, format) {
  if (dir.exists(file)) return(list(format = folder_format(file, format)))
  refuse_file_if(!is.null(format) && format %in% setdiff(folder_formats, "numpy"), file,
                 "it is not a folder", "Give the folder that holds the arrays (`.npy`).")
  magic <- read_magic(file, 20L)
  if (is_hdf5(file)) return(hdf5_format(file, format, magic))
  starts <- \(text) begin_with(magic, charToRaw(text))
  if ((starts("NEURALEV") || starts("BREVENTS")) && (is.null(format) || format == "nev")) {
    return(list(format = "nev"))
  }
  refuse_file_if(identical(format, "nev"), file, "it is no NEV file of Blackrock")
  if (starts("MATLAB") && (is.null(format) || format == "matlab")) return(list(format = "matlab"))
  refuse_file_if(!is.null(format) && format %in% names(hdf5_formats), file,
                 if (format == "matlab") "it is no MATLAB file" else
                   sprintf("it is not an HDF5 file, as %s files are", hdf5_formats[[format]]))
  numpy <- is_npy(magic) || is_zip(file)
  refuse_file_if(identical(format, "numpy") && !numpy, file,
                 "it is neither a NumPy array nor an archive of these")
  if (numpy && (is.null(format) || format == "numpy")) return(list(format = "numpy"))
  head <- read_head(file)
  if (is.null(format)) format <- if (is_axion(head$lines)) "axion" else "csv"
  list(format = format, head = head)
}

folder_format <- function(folder, format) {
  has <- \(...) any(file.exists(file.path(folder, c(...))))
  numpy <- has("numpysorting_info.json", "sorting_cached.npz") || is_analyzer(folder)
  if (is.null(format)) {
    if (numpy) return("numpy")
    if (has("structure.oebin")) return("openephys")
    if (length(alf_files(folder, "spikes"))) return("alf")
    refuse_file_if(has("F.npy") && !has("spike_times.npy"), folder,
                   "it is a Suite2p folder, which holds traces and no spikes",
                   "Read it with `read_traces()`.")
    refuse_file_if(has(".zgroup", "zarr.json"), folder, "it is a folder of Zarr, which is not read",
                   paste("In Python, SpikeInterface saves it as a folder that is read:",
                         "`analyzer.save_as(format=\"binary_folder\", folder=\"analyzer\")`."))
    return("phy")
  }
  refuse_file_if(!format %in% folder_formats, folder, "it is a folder",
                 sprintf("Only these formats are folders: %s.",
                         toString(dQuote(folder_formats, FALSE))))
  refuse_file_if(format == "numpy" && !numpy, folder,
                 paste("it is no folder of SpikeInterface: it has neither",
                       "`numpysorting_info.json` nor `sorting_cached.npz`"))
  format
}

folder_formats <- c("phy", "numpy", "alf", "openephys")

# Their names in messages.
hdf5_formats <- c(nwb = "NWB", waverepo = "these", maxwell = "MaxWell", `3brain` = "3Brain",
                  matlab = "MATLAB")

#' @param magic The first bytes of the file.
#' @noRd
hdf5_format <- function(file, format, magic) {
  refuse_file_if(!is.null(format) && !format %in% names(hdf5_formats), file,
                 sprintf("it is an HDF5 file, and none of format \"%s\"", format),
                 "Leave `format` out, and the right one is found.")
  rlang::check_installed("hdf5r", "to read HDF5 files.", call = user_frame())
  h5 <- open_h5(file, "r")
  if (is.null(format)) {
    # Closed by the caller once it has it, and here where there is an error before.
    format <- tryCatch(
      if (begin_with(magic, charToRaw("MATLAB 7.3"))) "matlab" else layout_of_h5(h5, file),
      error = \(e) {
        close_read(h5)
        rlang::cnd_signal(e)
      }
    )
  }
  list(format = format, h5 = h5)
}

layout_of_h5 <- function(h5, file) {
  fail <- failing(file)
  names <- h5_try(names(h5), "/", fail)
  if ("units" %in% names || h5_try(h5$attr_exists("nwb_version"), "/", fail)) return("nwb")
  if (all(c("spikes", "sCount") %in% names)) return("waverepo")
  if (any(c("proc0", "wells") %in% names)) return("maxwell")
  if ("3BResults" %in% names || any(grepl("^Well_", names))) return("3brain")
  fail_if("estimates" %in% names, fail,
          "it is a file of CaImAn, which holds traces", "Read it with `read_traces()`.")
  fail(sprintf("it is an HDF5 file of no layout that is known here; it holds %s",
               if (length(names)) some(printable(names), 8L) else "nothing"),
       "Read it with hdf5r, and give times and units to `spike_trains()`.")
}

#' Whether the signature of HDF5 stands where it may: at 0, 512, 1024, 2048 ...
#' @noRd
is_hdf5 <- function(file) {
  signature <- as.raw(c(0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a))
  con <- base::file(file, "rb")
  on.exit(close(con))
  at <- 0
  while (at + 8 <= file.size(file)) {
    seek(con, at)
    if (identical(readBin(con, "raw", 8L), signature)) return(TRUE)
    at <- max(512, 2 * at)
  }
  FALSE
}

#' The first lines of a text file, or an error saying why it is none
#'
#' @return `lines`, whole ones only; `bom`, whether a byte order mark came first (it is
#'   taken off); `all`, whether that is the whole file; `open`, whether the last of these
#'   lines has no line end.
#' @noRd
read_head <- function(file) {
  if (file.size(file) == 0) abort_file(file, "it is empty")
  source <- text_source(file)
  on.exit(source$close())
  bytes <- source$read(head_bytes)
  refuse_file_if(length(bytes) == 0L, file, "it is compressed, and what it holds is empty")
  refuse_file_if(begin_with(bytes, 0xff, 0xfe) || begin_with(bytes, 0xfe, 0xff), file,
                 "it is text in UTF-16", "Save it as UTF-8.")
  refuse_file_if(is_binary(bytes), file, "it holds binary data, not a table", binary_hint(bytes))
  bom <- begin_with_mark(bytes)
  if (bom) bytes <- bytes[-(1:3)]
  all <- length(bytes) + 3L * bom < head_bytes
  bytes <- bytes[seq_len(min(length(bytes), head_bytes))]
  lines <- lines_of(bytes)
  refuse_file_if(!all && length(lines) < 2L, file,
                 sprintf("its first %s bytes hold no line end, so it is no table",
                         commas(head_bytes)))
  list(lines = if (all) lines else lines[-length(lines)], bom = bom, all = all,
       open = all && !ends_line(bytes[[length(bytes)]]))
}

#' What to do with a file that is no text
#' @noRd
binary_hint <- function(bytes) {
  if (begin_with(bytes, charToRaw("RDX"))) {
    return("R saved this file: `load()` it, and give what it holds to `as_spike_trains()`.")
  }
  if (begin_with(bytes, 0x58, 0x0a) || begin_with(bytes, 0x41, 0x0a)) {
    return("R saved this file: `readRDS()` it, and give what it holds to `as_spike_trains()`.")
  }
  "Tables must be text; NWB files and Phy folders are read as well."
}
