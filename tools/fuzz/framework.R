# What the subjects of `make fuzz` share.
#
# To cover a function, write tools/fuzz/subject-<name>.R. This is one, in full:
#
#   fuzz_subject("embedding", covers = list(delay_embed = c("x", "E", "tau")),
#     run = function(world) {
#       x <- draw_series()
#       E <- whole(1, 4)
#       tau <- one_of(-1, -2, 1)
#       ours <- attempt("delay_embed", list(x, E = E, tau = tau))
#       if (refused(ours)) return()
#       same(ours[[1]], slow_embedding(x, E, tau), "embedding and the slow one")
#     })
#
# `run` is called for one case after the other. A case is decided by the seed, the subject
# and the number of the case, as everything is drawn from R's generator, which is seeded
# before each case; so each case can be replayed:
#
#   make fuzz SEED=1 SUBJECT=embedding CASE=17
#
#   covers                 exported functions (or methods such as autoplot.episodes), and
#                          those of their arguments that the subject draws. What no subject
#                          covers is named by `Rscript tools/fuzz/run.R --covered`.
#   limit, most            seconds that a call may take (more is a finding), and how many
#                          cases there are at most.
#   attempt(name, args)    calls a function with a list of arguments. Gives its value, or
#                          the condition where the package refused with an error of its
#                          own; refused(value) tells which. Every other error, a warning of
#                          base R and a refusal after more than 10 s are findings.
#   same(a, b, what)       a finding where two values differ, or where only one was refused.
#                          Time taken, call, engine, threads, device and memory are left out.
#   finding(text)          a finding.
#   one_of(...), whole(low, high), sometimes(p), some_args(...), mostly(valid), and
#   draw_recording(), draw_series() ...   draws, in draw.R. The first value and the smallest
#                          number are the simplest: draws made with these are made simpler
#                          until the finding is gone, so that its report is short.
#   world                  list: seed, subject, case; folder (empty, for this case); gpu,
#                          gpus; peers (list of pyEDM and elephant: the python that has it,
#                          or NULL); see peers.R.

fuzz <- new.env()
fuzz$subjects <- list()

fuzz_subject <- function(name, covers, run, limit = 60, most = Inf) {
  fuzz$subjects[[name]] <- list(name = name, covers = covers, run = run, limit = limit,
                                most = most)
  invisible()
}

# Loads what subjects share, and the subjects, from the folder of this program.
load_subjects <- function(folder) {
  fuzz$folder <- folder
  shared <- c("draw.R", "peers.R", "shrink.R", "small_calls.R", "work.R")
  for (file in c(shared, list.files(folder, "^subject-.*[.]R$"))) {
    source(file.path(folder, file))
  }
  invisible(names(fuzz$subjects))
}

# The slow and obvious functions of the tests, from all of their helper files.
oracles <- function() {
  if (is.null(fuzz$oracles)) {
    env <- new.env(parent = asNamespace("synfire"))
    tests <- file.path(fuzz$folder, "..", "..", "tests", "testthat")
    for (file in list.files(tests, "^helper.*[.]R$", full.names = TRUE)) source(file, env)
    fuzz$oracles <- env
  }
  fuzz$oracles
}

# ---- one case ----

# A number that the seed, the subject and the case decide.
case_seed <- function(seed, subject, case) {
  text <- utf8ToInt(paste(seed, subject, case))
  Reduce(function(sum, letter) (sum * 131 + letter) %% 2147483629, text, seed %% 2147483629)
}

# Runs one case and gives its findings. `simpler` says which draws are made simpler, and
# how much (draw.R).
run_case <- function(subject, seed, case, simpler = integer()) {
  fuzz$findings <- list()
  fuzz$calls <- list()
  fuzz$counts <- c(calls = 0L, refusals = 0L)
  fuzz$draws <- 0L
  fuzz$simpler <- simpler
  folder <- tempfile("case-")
  dir.create(folder)
  set.seed(case_seed(seed, subject$name, case), kind = "Mersenne-Twister",
           normal.kind = "Inversion", sample.kind = "Rejection")
  fuzz$world <- c(fuzz$machine, list(seed = seed, subject = subject$name, case = case,
                                     folder = folder))
  tryCatch(
    subject$run(fuzz$world),
    error = function(e) {
      # A subject must not fail: either it is wrong, or a value is not what was promised.
      finding(paste0("the subject itself stopped: ", conditionMessage(e), "\n  in ",
                     paste(deparse(conditionCall(e), nlines = 3L), collapse = " ")))
    }
  )
  unlink(folder, recursive = TRUE)
  fuzz$findings
}

finding <- function(text, of = NULL) {
  fuzz$findings[[length(fuzz$findings) + 1L]] <- list(
    text = text, kind = kind_of_finding(text), subject = fuzz$world$subject,
    case = fuzz$world$case, seed = fuzz$world$seed,
    calls = if (is.null(of)) fuzz$calls else list(of), alone = !is.null(of)
  )
  invisible(FALSE)
}

# Findings whose texts differ in numbers and quoted words alone are of one kind.
kind_of_finding <- function(text) {
  text <- gsub("\"[^\"]*\"", "\"\"", text)
  text <- gsub("'[^']*'", "''", text)
  text <- gsub("\\s+", " ", gsub("0x[0-9a-f]+", "#", text))
  text <- gsub("[-+]?[0-9][0-9.,]*(e[-+]?[0-9]+)?", "#", text)
  substr(gsub("(#[ ,/]*)+", "#", text), 1L, 400L)
}

# ---- calls ----

refused <- function(value) inherits(value, "synfire_error")

# What a call prints is not shown. Findings begin with `about`.
attempt <- function(name, args = list(), about = paste0(name, "()")) {
  call <- list(name = name, args = args, about = about)
  fuzz$calls[[length(fuzz$calls) + 1L]] <- call
  fuzz$before_call(call)
  result <- call_once(call)
  fuzz$counts <- fuzz$counts + c(1L, refused(result$value))
  for (text in result$wrong) finding(text, of = call)
  result$value
}

# The value of a call (or the condition it stopped with), and what is wrong with how it
# ended.
call_once <- function(call) {
  wrong <- character()
  say <- function(what, condition) {
    text <- tryCatch(cli::ansi_strip(conditionMessage(condition)), error = function(e) "?")
    wrong <<- c(wrong, sprintf("%s: %s: %s", call$about, what, text))
  }
  env <- new.env(parent = globalenv())
  code <- call_with_names(call$name, call$args, env)
  started <- proc.time()[["elapsed"]]
  out <- file(nullfile(), "w")
  sinks <- sink.number()
  sink(out)
  on.exit({
    while (sink.number() > sinks) sink()
    close(out)
  })
  value <- withCallingHandlers(
    tryCatch(eval(code, env), error = identity, interrupt = identity),
    warning = function(w) {
      if (!inherits(w, "rlang_warning") || inherits(w, "lifecycle_warning")) {
        say("a warning that is not ours", w)
      }
      tryInvokeRestart("muffleWarning")
    },
    message = function(m) tryInvokeRestart("muffleMessage")
  )
  took <- proc.time()[["elapsed"]] - started
  if (inherits(value, "error")) {
    message <- tryCatch(cli::ansi_strip(conditionMessage(value)), error = function(e) "?")
    if (inherits(value, "rlib_error_package_not_found")) {
      class(value) <- c("synfire_error", class(value))
    } else if (!inherits(value, "synfire_error")) {
      say("an error that is not ours", value)
      class(value) <- c("synfire_error", class(value))
    } else if (grepl("internal error", message, fixed = TRUE)) {
      say("says 'internal error'", value)
    }
    # A search may work for long before it knows that memory does not suffice.
    if (took > 10 && inherits(value, "synfire_error_argument")) {
      wrong <- c(wrong, sprintf("%s: refused only after more than 10 s: %s", call$about,
                                message))
    }
  }
  list(value = value, wrong = unique(wrong))
}

# name(x = x, ...), where the values lie in `env`, so that conditions show a short call and
# values that are themselves code are passed as they are. An empty argument stays empty.
call_with_names <- function(name, args, env) {
  given <- names(args) %||% rep("", length(args))
  symbols <- lapply(seq_along(args), function(i) {
    if (is_empty_arg(args, i)) return(quote(expr = ))
    symbol <- if (nzchar(given[[i]])) given[[i]] else paste0("argument", i)
    assign(symbol, args[[i]], envir = env)
    as.name(symbol)
  })
  names(symbols) <- given
  fun <- as.name("the_function")
  assign("the_function", find_function(name), envir = env)
  as.call(c(fun, symbols))
}

`%||%` <- function(a, b) if (is.null(a)) b else a

is_empty_arg <- function(args, i) {
  is.symbol(args[[i]]) && identical(as.character(args[[i]]), "")
}

find_function <- function(name) {
  if (name %in% getNamespaceExports("synfire")) return(getExportedValue("synfire", name))
  for (package in c("ggplot2", "igraph", "stats", "utils", "graphics", "base")) {
    if (requireNamespace(package, quietly = TRUE) &&
          exists(name, envir = asNamespace(package), inherits = FALSE)) {
      return(get(name, envir = asNamespace(package)))
    }
  }
  stop("no function ", name)
}

# ---- comparing ----

# Names of attributes and elements that say how a result was made, not what it is.
how_made <- c("elapsed", "call", "engine", "threads", "device", "memory", "max_memory",
              "gpus", "row.names", "file", "folder", "seconds", "peak_memory",
              "mining_elapsed", "device_elapsed", "mtpe")

reduced <- function(x) {
  if (is.environment(x) || is.function(x)) return(NULL)
  held <- attributes(x)
  held <- held[setdiff(names(held), c(how_made, "names", "dim", "dimnames"))]
  held <- lapply(held[sort(names(held) %||% character())], reduced)
  values <- x
  attributes(values) <- NULL
  if (is.list(values)) {
    names(values) <- names(x)
    values <- lapply(values[setdiff(names(values) %||% seq_along(values), how_made)], reduced)
  }
  list(values = values, names = names(x), dim = dim(x), dimnames = dimnames(x), held = held)
}

same <- function(a, b, what, tolerance = 0) {
  if (refused(a) != refused(b)) {
    which <- if (refused(a)) a else b
    return(finding(sprintf("%s: %s was refused, the other not: %s", what,
                           if (refused(a)) "the first" else "the second",
                           cli::ansi_strip(conditionMessage(which)))))
  }
  if (refused(a)) return(invisible(TRUE))
  where <- difference(reduced(a), reduced(b), tolerance)
  if (is.null(where)) return(invisible(TRUE))
  finding(sprintf("%s: differ %s", what, where))
}

# Where two reduced values differ first, in words; NULL where they do not.
difference <- function(a, b, tolerance, path = "") {
  at <- function(...) paste0(if (nzchar(path)) paste0("in ", path, ", "), ...)
  if (is.list(a) && is.list(b)) {
    if (length(a) != length(b)) return(at("lengths ", length(a), " and ", length(b)))
    if (!identical(names(a), names(b))) return(at("names"))
    for (i in seq_along(a)) {
      name <- names(a)[i] %||% i
      step <- if (name %in% c("values", "held")) "" else paste0("$", name)
      found <- difference(a[[i]], b[[i]], tolerance, paste0(path, step))
      if (!is.null(found)) return(found)
    }
    return(NULL)
  }
  if (is.numeric(a) && is.numeric(b)) {
    if (length(a) != length(b)) return(at("lengths ", length(a), " and ", length(b)))
    unlike <- is.na(a) != is.na(b) | !is.na(a) & !is.na(b) & a != b &
      !(abs(a - b) <= tolerance)
    if (!any(unlike)) return(NULL)
    first <- which(unlike)[[1L]]
    return(at(sprintf("at %d of %d values, first at %d: %s and %s", sum(unlike), length(a),
                      first, format(a[[first]], digits = 15),
                      format(b[[first]], digits = 15))))
  }
  if (identical(a, b)) return(NULL)
  if (length(a) == length(b) && is.atomic(a) && is.atomic(b)) {
    first <- which(!mapply(identical, a, b))[1L]
    if (!is.na(first)) return(at(sprintf("at %d: %s and %s", first, a[[first]], b[[first]])))
  }
  at("kinds ", typeof(a), " of ", length(a), " and ", typeof(b), " of ", length(b))
}

# ---- what is covered ----

# Every argument that some subject must draw: those of exported functions, and those that
# methods for users have beside their generic's.
all_arguments <- function() {
  exports <- setdiff(sort(getNamespaceExports("synfire")), "update")
  own <- lapply(exports, function(name) names(formals(getExportedValue("synfire", name))))
  names(own) <- exports
  methods <- user_methods()
  extra <- lapply(seq_len(nrow(methods)), function(i) {
    method <- get(methods$name[[i]], envir = asNamespace("synfire"))
    # Those of a primitive, such as `[`, are not to be asked for.
    general <- args(find_function(methods$generic[[i]]))
    general <- if (!is.null(general)) formals(general)
    setdiff(names(formals(method)), c(names(general), "x", "i", "j", "drop"))
  })
  names(extra) <- methods$name
  all <- lapply(c(own, extra[methods$generic != "plot"]), setdiff, "...")
  all[lengths(all) > 0L]
}

# The methods that users call, as a table of generic, class and name. plot() passes all on
# to autoplot().
user_methods <- function() {
  table <- getNamespaceInfo("synfire", "S3methods")
  generic <- sub("^.*::", "", table[, 1L])
  called <- c("[", "as.character", "as.data.frame", "as.list", "as.matrix", "as.igraph",
              "autoplot", "c", "close", "duplicated", "embed_dimension", "format", "mean",
              "plot", "print", "rbind", "sort", "subset", "summary", "t", "unique", "update")
  out <- data.frame(generic, class = table[, 2L], name = paste0(generic, ".", table[, 2L]))
  out <- out[generic %in% called & !startsWith(out$class, "summary."), ]
  out[order(out$name), ]
}

# "function(argument)" for each that no subject draws.
not_covered <- function() {
  drawn <- unlist(lapply(fuzz$subjects, function(subject) {
    unlist(lapply(names(subject$covers), function(name) {
      paste0(name, "(", subject$covers[[name]], ")")
    }))
  }))
  needed <- all_arguments()
  needed <- unlist(lapply(names(needed), function(name) paste0(name, "(", needed[[name]], ")")))
  # An argument that a subject names and that no longer exists is a mistake as well.
  of_exports <- sub("[(].*", "", drawn) %in% getNamespaceExports("synfire")
  list(missing = setdiff(needed, drawn), unknown = setdiff(drawn[of_exports], needed))
}
