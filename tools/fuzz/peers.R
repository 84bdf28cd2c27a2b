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
  as_columns <- function(x) if (is.matrix(x)) as.data.frame(x) else x
  jsonlite::write_json(lapply(input, as_columns), file("input.json"), digits = I(17),
                       auto_unbox = TRUE, dataframe = "columns", na = "null", null = "null")
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
