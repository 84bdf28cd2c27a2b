# Independent programs in Python, for comparing results: pyEDM and Elephant, where the
# environment variable SYNFIRE_PEERS names a python that has them.

# The python for each peer, or NULL where it is not installed.
find_peers <- function(python = Sys.getenv("SYNFIRE_PEERS")) {
  has <- function(module) {
    if (!nzchar(python)) return(NULL)
    status <- suppressWarnings(system2(python, c("-c", shQuote(paste("import", module))),
                                       stdout = FALSE, stderr = FALSE))
    if (identical(status, 0L)) python
  }
  list(pyEDM = has("pyEDM"), elephant = has("elephant"))
}

# Runs a script of Python with `input`, a named list of numbers, strings, vectors, matrices
# and data frames. The script finds it as the dictionary `input` (data frames and matrices
# as dictionaries of columns) and assigns `output`: numbers, strings, lists and
# dictionaries of these, which come back as R's. NULL where Python failed or took longer
# than `limit` seconds: nothing to compare.
peer_call <- function(python, script, input, limit = 30) {
  folder <- tempfile("peer-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- function(name) file.path(folder, name)
  writeLines(as_json(input), file("input.json"))
  writeLines(c(
    "import json, math", "input = json.load(open('input.json'))", script,
    "def plain(v):",
    "    if hasattr(v, 'tolist'): v = v.tolist()",
    "    if isinstance(v, dict): return {str(k): plain(w) for k, w in v.items()}",
    "    if isinstance(v, (list, tuple, set)): return [plain(w) for w in v]",
    "    if isinstance(v, float) and not math.isfinite(v): return None",
    "    return v",
    "json.dump(plain(output), open('output.json', 'w'))"
  ), file("script.py"))
  ran <- processx::run(python, "script.py", wd = folder, timeout = limit,
                       error_on_status = FALSE, cleanup_tree = TRUE)
  if (!file.exists(file("output.json")) || !identical(ran$status, 0L)) return(NULL)
  jsonlite::read_json(file("output.json"), simplifyVector = TRUE)
}

# Text of JSON with all digits of doubles, which the writer of jsonlite rounds.
as_json <- function(x) {
  if (is.matrix(x)) x <- as.data.frame(x)
  if (is.list(x)) {
    parts <- vapply(x, as_json, "")
    if (is.null(names(x))) return(sprintf("[%s]", toString(parts)))
    return(sprintf("{%s}", toString(paste0("\"", names(x), "\": ", parts))))
  }
  if (is.factor(x)) x <- as.character(x)
  values <- if (is.character(x)) encodeString(x, quote = "\"") else
    if (is.logical(x)) tolower(x) else sprintf("%.17g", x)
  values[is.na(x) | is.numeric(x) & !is.finite(x)] <- "null"
  if (length(x) == 1L && is.null(names(x))) values else sprintf("[%s]", toString(values))
}
