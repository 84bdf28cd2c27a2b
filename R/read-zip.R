# Zip archives, in which NumPy keeps several arrays (.npz).

#' Unpacks an archive into a folder
#'
#' @param folder A new folder, which the caller removes.
#' @param fail Raises the error about the file, from what is wrong.
#' @return A data frame: `name`, as in the archive, and `path`, of the unpacked file.
#' @noRd
unpack_zip <- function(file, folder, fail) {
  members <- tryCatch(utils::unzip(file, list = TRUE), error = \(e) NULL, warning = \(w) NULL)
  # Deflate makes a thousandth of a file at best.
  fail_if(NROW(members) == 0L || anyNA(members$Length) || !all(validUTF8(members$Name)) ||
            sum(members$Length) > 1040 * (file.size(file) + 1), fail,
          "it is a damaged zip archive, or one that is cut short",
          "Copy it once more from where it was made.")
  dir.create(folder)
  path <- file.path(folder, basename(members$Name))
  tryCatch(utils::unzip(file, exdir = folder, junkpaths = TRUE), error = \(e) NULL,
           warning = \(w) NULL)
  name <- clean_text(members$Name)
  lost <- which(!file.exists(path) | file.size(path) != members$Length)
  fail_if(length(lost) > 0L, fail,
          sprintf("`%s` in it is damaged", name[[lost[[1L]]]]),
          "Copy the file once more from where it was made.")
  data.frame(name = name, path = path)
}
