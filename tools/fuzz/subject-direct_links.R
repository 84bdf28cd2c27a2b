# Direct links: against a slow search, kinds of maps and series, threads, and the GPU against
# the CPU; and how they are shown.

fuzz_subject("direct_links", limit = 60, covers = list(
  direct_links = c("map", "x", "threshold", "alpha", "max_delay", "max_parties", "max_links",
                   "exclusion_radius", "dataset", "no_time", "device", "gpus", "threads",
                   "folder", "max_memory"),
  autoplot.direct_links = c("mediated", "groups", "links", "layout"),
  print.direct_links = "n", summary.direct_links = "n", print.direct_links_comparison = "n",
  summary.causal_map = "direct", summary.causal_links = "direct",
  autoplot.causal_map = "direct", autoplot.causal_links = "direct",
  autoplot.direct_links_comparison = c("groups", "links", "layout")
), run = function(world) {
  x <- draw_linked_series()
  map <- attempt("causal_map", list(x, E = whole(1, 6), exclusion_radius = whole(0, 3),
                                    threads = 1))
  if (refused(map)) return()
  args <- draw_direct_links()
  call <- function(...) {
    attempt("direct_links", utils::modifyList(c(list(map, x), args), list(...)))
  }
  cpu <- call()
  same(plain_direct_links(call(threads = whole(2, 4))), plain_direct_links(cpu),
       "direct links with one and several threads")
  if (sometimes(0.2)) direct_links_within(call, cpu)
  if (sometimes(0.3)) direct_links_in_folder(call, cpu, world)
  if (sometimes(0.3)) direct_links_of_sources(map, x, args, cpu, world)
  if (world$gpu) direct_links_on_gpu(cpu, call, args, world)
  if (refused(cpu)) return()
  direct_links_follow(cpu)
  if (sometimes(0.5)) direct_links_and_oracle(cpu, map, x)
  show_direct_links(cpu)
  show_beside_maps(cpu, map, x)
})

# Coupled maps, mostly long enough for tests, some with other series or gaps.
draw_linked_series <- function() {
  n <- whole(2, 5)
  steps <- one_of(whole(100, 160), whole(20, 120), whole(160, 300))
  wiring <- matrix(rbinom(n^2, 1, 0.3) * one_of(0.2, 0.1, 0.05), n)
  diag(wiring) <- 0
  x <- synfire::simulate_coupled_maps(steps, wiring, noise = one_of(0.02, 0, 0.1))
  if (sometimes(0.4)) x[, whole(1, n)] <- as.double(draw_series(steps))
  if (sometimes(0.2)) x[, 1] <- sin(seq_len(steps) / 2) + rnorm(steps) / one_of(1, 5, 100)
  if (sometimes(0.2)) x[, 2] <- x[, 1] + rnorm(steps) * one_of(1e-3, 0)
  if (sometimes(0.2)) x[sample.int(length(x), ceiling(length(x) / 40))] <- NA
  colnames(x) <- sprintf("s%02d", seq_len(n))
  x
}

draw_direct_links <- function() {
  c(some_args(alpha = one_of(0.05, 0.3, 1e-6, 0, 1), max_delay = one_of(1, 2, 3, 7, 0),
              max_parties = whole(0, 9), max_links = one_of(Inf, whole(0, 12)),
              exclusion_radius = one_of(0, 1, 5, 1000), p = 0.4),
    threshold = one_of(-1, 0.3, 0, 0.7, 1.2), threads = 1)
}

# Within some memory: the same, or nothing.
direct_links_within <- function(call, cpu) {
  found <- call(max_memory = one_of(1e6, 2e8, whole(100000000, 101000000)))
  if (inherits(found, "synfire_error_budget")) return()
  same(plain_direct_links(found), plain_direct_links(cpu), "direct links within some memory")
}

# Kept in a folder, and gone on with where some blocks are gone.
direct_links_in_folder <- function(call, cpu, world) {
  folder <- file.path(world$folder, "direct-links")
  unlink(folder, recursive = TRUE)
  made <- call(folder = folder)
  same(plain_direct_links(made), plain_direct_links(cpu), "direct links in a folder")
  if (refused(made)) return()
  chunks <- list.files(folder, "^chunk", full.names = TRUE)
  unlink(sample(chunks, whole(0, length(chunks))))
  resumed <- call(folder = folder, threads = whole(1, 3))
  same(plain_direct_links(resumed), plain_direct_links(cpu), "direct links that go on")
}

# The columns alone.
plain_direct_links <- function(links) {
  if (refused(links)) return("refused")
  as.list(links)[names(links)]
}

# The map in a file and as a table of links, the series in a table and in a file.
direct_links_of_sources <- function(map, x, args, cpu, world) {
  of <- function(what, ...) {
    found <- attempt("direct_links", c(list(...), args))
    same(plain_direct_links(found), plain_direct_links(cpu), paste("direct links of", what))
  }
  plain <- as.data.frame(x)
  of("a table with times", map, cbind(time = seq_len(nrow(x)) / one_of(1, 7), plain))
  of("a table without", map, plain, no_time = TRUE)
  E <- attr(map, "E")
  radius <- attr(map, "parameters")$exclusion_radius
  make <- list(x, E = E, exclusion_radius = radius, threads = 1)
  table <- attempt("causal_map", c(make, screen = -1))
  # Both keep all that is not NA; a rho below the screen is in neither.
  if (!refused(table)) of("a table of links", table, x)
  if (!requireNamespace("hdf5r", quietly = TRUE)) return()
  file <- file.path(world$folder, "direct-map.h5")
  series <- file.path(world$folder, "direct-series.h5")
  unlink(c(file, series))
  on_disk <- attempt("causal_map", c(make, file = file))
  if (!refused(on_disk)) of("a map in a file", on_disk, x)
  h5 <- hdf5r::H5File$new(series, "w")
  h5[["series"]] <- x
  h5[["names"]] <- colnames(x)
  h5$close_all()
  of("series of a file", map, series, dataset = "series")
}

# What must be so of the columns, whatever the series.
direct_links_follow <- function(links) {
  parameters <- attr(links, "parameters")
  # The linear test looks at all delays at once.
  p <- pmin(1, ifelse(links$linear, 1, parameters$max_delay) * stats::pnorm(-links$t))
  same(links$p_value, p, "p values and t", 1e-12)
  same(links$q_value, stats::p.adjust(p, "BH"), "q values and p values", 1e-12)
  # Links that would be direct, were it not for another reason, leave their numbers.
  kept <- links$reason %in% c("noise", "hidden")
  same(links$link == "direct" | kept,
       !is.na(p) & synfire:::looks_direct(links$q_value, links$t, links$linear, parameters$alpha),
       "direct links and q values")
  same(links$link == "refused", !is.na(links$reason), "refused links and reasons")
  same(links$link %in% c("mediated", "common driver", "explained") | links$reason %in% "noise",
       !is.na(links$through),
       "links through others, and the others")
}

# The oracle knows local forecasts alone, and no link that is left out as noise.
direct_links_and_oracle <- function(links, map, x) {
  tested <- which(!is.na(links$t))
  if (any(links$reason %in% "short") || length(tested) == 0 || nrow(x) > 160) return()
  parameters <- attr(links, "parameters")
  source <- synfire:::map_source(x, NULL, FALSE)
  series <- synfire:::standard_series(source, links, 1L)
  names <- source$names[series$column]
  clock <- lapply(series$clock, function(k) length(names) + k)
  E <- pmin(pmax(attr(map, "E")[names], 2), 4)
  found <- data.frame(from = match(links$cause, names), to = match(links$effect, names))[tested, ]
  slow <- oracles()$oracle_direct_links(
    cbind(series$value, series$time), found, E, parameters$max_delay, parameters$alpha,
    parameters$max_parties, parameters$exclusion_radius, clock)
  # A choice among delays, parties or thetas that rounding decides may go the other way.
  if (any(duplicated(signif(links$gain[tested], 4)))) return()
  again <- links$effect %in% links$effect[links$reason %in% "noise"]
  local <- !(links$linear | again)[tested]
  t <- cbind(links$t[tested], slow$test$t)[local, , drop = FALSE] / (1 + abs(slow$test$t[local]))
  same(t[, 1L], t[, 2L], "direct links and a slow search, t", 1e-4)
  same(links$delay[tested][local], as.integer(slow$test$delay)[local], "delays and a slow search")
}

show_direct_links <- function(links) {
  n <- one_of(10, 1, 3, Inf)
  utils::capture.output(print(links), print(links, n = n), print(summary(links)))
  found <- attempt("summary", list(links, n = n))
  if (!refused(found)) {
    same(nrow(found$sentences), as.integer(min(n, nrow(links))), "sentences of a summary")
    if (anyNA(found$sentences$said)) finding("a link has no sentence")
    utils::capture.output(print(found))
  }
  names <- attr(links, "series")
  args <- some_args(mediated = one_of(TRUE, FALSE), links = whole(1, 9),
                    groups = stats::setNames(rep(c("a", "b"), length.out = length(names)), names),
                    layout = one_of("circle", "kk"), p = 0.4)
  attempt("autoplot", c(list(links), args))
}

# The map that they are from, whole and as a table of links, and some of the links again.
show_beside_maps <- function(links, map, x) {
  table <- attempt("causal_map", list(x, E = attr(map, "E"), screen = -1, threads = 1))
  for (of in list(map, table)) {
    if (refused(of)) next
    found <- attempt("summary", list(of, direct = links))
    if (!refused(found)) {
      at <- match(paste(found$links$cause, found$links$effect), paste(links$cause, links$effect))
      same(found$links$link, links$link[at], "kinds of links in the summary of a map")
      if (nrow(links) > 0L) {
        same(found$kinds$direct[[1L]], mean(links$link == "direct"), "the share of direct links")
      }
      utils::capture.output(print(found))
    }
    attempt("autoplot", list(of, type = "network", direct = links))
  }
  if (nrow(links) == 0L) return()
  some <- links[sort(sample.int(nrow(links), whole(1, nrow(links)))), ]
  change <- attempt("compare_maps", list(links, some))
  if (refused(change)) return()
  same(nrow(change), nrow(links), "links that are compared")
  kept <- paste(change$cause, change$effect) %in% paste(some$cause, some$effect)
  same(change$link_b == "not tested", !kept, "links that one table lacks")
  utils::capture.output(print(change, n = one_of(1, 3, Inf)))
  names <- attr(links, "series")
  args <- some_args(links = whole(1, 9), layout = igraph::layout_in_circle,
                    groups = stats::setNames(rep(c("a", "b"), length.out = length(names)), names),
                    p = 0.4)
  picture <- attempt("autoplot", c(list(change), args))
  none <- all(change$change == "never direct")
  same(refused(picture), none, "no picture where nothing is direct")
}

# Links may differ where a p value is at a bound; t agrees to rounding.
direct_links_on_gpu <- function(cpu, call, args, world) {
  gpu <- call(device = "gpu", gpus = whole(1, world$gpus))
  if (refused(gpu) || refused(cpu)) {
    return(same(plain_direct_links(gpu), plain_direct_links(cpu),
                "direct links on a GPU and the CPU"))
  }
  alpha <- args$alpha %||% 0.05
  near <- function(p) {
    bounds <- c(alpha, alpha / seq_len(nrow(cpu)))
    any(abs(outer(p[!is.na(p)], bounds, `-`)) < 1e-6)
  }
  if (near(c(cpu$p_value, cpu$q_value))) return()
  for (what in c("cause", "effect", "rho", "link", "delay", "through", "reason")) {
    same(gpu[[what]], cpu[[what]], paste("direct links on a GPU and the CPU,", what))
  }
  same(gpu$t / (1 + abs(cpu$t)), cpu$t / (1 + abs(cpu$t)), "t on a GPU and the CPU", 1e-5)
}
