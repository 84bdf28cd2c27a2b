# Zip archives, in which NumPy keeps several arrays (.npz).

#' The files in an archive
#'
#' @param fail Raises the error about the file, from what is wrong.
#' @return A data frame: `name` and `size`, the bytes unpacked.
#' @noRd
zip_members <- function(file, fail) {
  members <- tryCatch(utils::unzip(file, list = TRUE), error = \(e) NULL, warning = \(w) NULL)
  # Deflate makes a thousandth of a file at best.
  if (NROW(members) == 0L || anyNA(members$Length) ||
        sum(members$Length) > 1040 * (file.size(file) + 1)) {
    fail("it is a damaged zip archive, or one that is cut short",
         "Copy it once more from where it was made.")
  }
  data.frame(name = clean_text(members$Name), size = members$Length)
}

#' What `f` makes of a file in an archive
#'
#' @param member A row of `zip_members()`.
#' @param f Takes the path of the unpacked file.
#' @noRd
with_member <- function(file, member, fail, f) {
  folder <- tempfile("unzipped")
  on.exit(unlink(folder, recursive = TRUE))
  dir.create(folder)
  path <- tryCatch(utils::unzip(file, member$name, exdir = folder, junkpaths = TRUE),
                   error = \(e) NULL, warning = \(w) NULL)
  if (length(path) != 1L || !identical(as.double(file.size(path)), as.double(member$size))) {
    fail(sprintf("`%s` in it is damaged", member$name),
         "Copy the file once more from where it was made.")
  }
  f(path)
}
