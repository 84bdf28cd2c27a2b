# The analyses that are asked, one row each: what they take, and up to three functions of
# (data, arguments):
#   look    what comes out, to be compared with what comes out of a changed recording. A list:
#             `fixed`   named numbers that no random number has a part in
#             `chance`  named p values from `n` surrogates
#             `found`   names of what was found by chance's help
#             `seeded`  named numbers that are the same where the random numbers are
#   cross   data frame of pairs of which a question has replaced the cause or the effect:
#             `rho` and `p` (`NA`: it cannot be told), or `claim`
#   claims  logical, one for each test with the stated rate `alpha`: was anything found?
# `exact`: no random number has a part in what is `found` either. `slow`: asked less often.
# `reach` is the time in seconds that the analysis looks at: units that were moved by much
# more than this, each by itself, have nothing to do with each other.

called <- function(data, units) unname(data$names[as.character(units)])
off_diagonal <- function(data, table, columns) {
  names <- sprintf("%s > %s", called(data, table$cause), called(data, table$effect))
  unlist(lapply(columns, \(column) {
    stats::setNames(table[[column]], paste0(if (length(columns) > 1L) paste0(column, ", "), names))
  }))
}
crosses <- function(data, table) xor(table$cause %in% data$moved, table$effect %in% data$moved)

# ---- Series ----------------------------------------------------------------------------

# Steps until the slowest of the series has forgotten itself: so far the exclusion radius of
# all calls reaches, as neighbours in time are no evidence.
memory_of <- function(x) {
  most <- nrow(x) %/% 10L
  one <- function(v) {
    if (stats::var(v, na.rm = TRUE) == 0) return(0)
    r <- stats::acf(v, most, na.action = stats::na.pass, plot = FALSE)$acf[-1L]
    c(which(r < 0.1), most)[[1L]]
  }
  max(apply(x, 2L, one)) - 1
}

map_of <- function(data, args) {
  do.call(causal_map, c(list(data$x, exclusion_radius = data$radius, threads = 1), args))
}

ask_map <- list(
  kind = "series",
  look = function(data, args) {
    map <- as.data.frame(map_of(data, args))
    list(fixed = off_diagonal(data, map, "rho"), chance = off_diagonal(data, map, "p_value"),
         n = args$n_surrogates)
  },
  cross = function(data, args) {
    one <- utils::modifyList(args, list(Tp = 0, n_surrogates = 0))
    map <- as.data.frame(map_of(data, args))
    # The largest rho of several delays is above 0 by chance, which is for p values to know.
    at_one <- if (length(args$Tp) > 1L) as.data.frame(map_of(data, one)) else map
    data.frame(rho = at_one$rho[crosses(data, at_one)], p = map$p_value[crosses(data, map)])
  }
)

ccm_of <- function(data, first, second) {
  table <- data.frame(row = seq_len(nrow(data$x)), data$x, check.names = FALSE)
  found <- ccm(table, first, second, E = 3, samples = 10, n_surrogates = 99,
                                exclusion_radius = data$radius, threads = 1)
  as.data.frame(summary(found))
}

ask_ccm <- list(
  kind = "series",
  look = function(data, args) {
    # The same pair, whatever the order of the series.
    names <- colnames(data$x)[order(called(data, colnames(data$x)))]
    names <- setdiff(names, data$extra)
    s <- ccm_of(data, names[[1L]], names[[2L]])
    list(fixed = off_diagonal(data, transform(s, rho = rho_largest), "rho"),
         chance = off_diagonal(data, s, "p"), n = 99)
  },
  cross = function(data, args) {
    kept <- setdiff(colnames(data$x), data$moved)
    n <- min(2L, length(kept), length(data$moved))
    s <- do.call(rbind, Map(\(a, b) ccm_of(data, a, b), kept[seq_len(n)], data$moved[seq_len(n)]))
    data.frame(rho = s$rho_largest, p = s$p)
  }
)

links_of <- function(data) {
  map <- causal_map(data$x, E_max = 5, Tp = -3:0, exclusion_radius = data$radius, threads = 1)
  as.data.frame(direct_links(map, data$x, threads = 1))
}

ask_links <- list(
  kind = "series",
  exact = TRUE,
  # What its help says of pairs without a link: up to 0.8 %.
  alpha = 0.01,
  look = function(data, args) {
    found <- links_of(data)
    list(found = names(off_diagonal(data, found[found$link == "direct", ], "rho")))
  },
  cross = function(data, args) {
    found <- links_of(data)
    direct <- sum(found$link[crosses(data, found)] == "direct")
    moved <- length(data$moved)
    pairs <- 2 * moved * (ncol(data$x) - moved)
    data.frame(claim = rep(c(TRUE, FALSE), c(direct, pairs - direct)))
  }
)

ask_responses <- list(
  kind = "series",
  look = function(data, args) {
    found <- as.data.frame(smap_map(data$x, E_max = 5, exclusion_radius = data$radius,
                                    threads = 1))
    found <- data.frame(cause = found$library, effect = found$target, rho = found$rho,
                        strength = found$strength)
    list(fixed = off_diagonal(data, found, c("rho", "strength")))
  }
)

# ---- Episodes --------------------------------------------------------------------------

# The count that the 40 most frequent pairs reach.
count_reached <- function(x, intervals) {
  pairs <- mine_episodes(x, 2, intervals, max_size = 2, distinct_units = TRUE,
                                          threads = 1)
  counts <- sort(pairs$count[pairs$size == 2L], decreasing = TRUE)
  max(2, c(counts, 2)[[min(40L, length(counts) + 1L)]])
}
mined <- function(x, least, intervals) {
  mine_episodes(x, least, intervals, max_size = 3, distinct_units = TRUE,
                                 threads = 1)
}
suggested <- function(x, intervals) {
  suggest_min_count(x, intervals, distinct_units = TRUE, threads = 1)
}
chain_names <- function(data, episodes) {
  vapply(seq_len(nrow(episodes)), \(k) {
    paste(called(data, episodes$units[[k]]), collapse = " ")
  }, "")
}

ask_episodes <- list(
  kind = "spikes", alpha = 0.05, slow = TRUE,
  reach = function(args) 2 * args$intervals[[2L]],
  look = function(data, args) {
    x <- to_trains(data)
    found <- mined(x, count_reached(x, args$intervals), args$intervals)
    tested <- episode_significance(found, x, n_surrogates = 99, threads = 1)
    names <- chain_names(data, found)
    list(fixed = stats::setNames(found$count, names),
         chance = stats::setNames(tested$p, names)[found$size > 1L], n = 99,
         found = names[tested$significant],
         seeded = c("suggested count" = as.double(suggested(x, args$intervals))))
  },
  claims = function(data, args) {
    x <- to_trains(data)
    found <- mined(x, as.double(suggested(x, args$intervals)), args$intervals)
    tested <- episode_significance(found, x, n_surrogates = 99, threads = 1)
    # The rate is that of any false one among those of a size.
    c(any(tested$significant & tested$size == 2L), any(tested$significant & tested$size == 3L))
  }
)

# The chains that raise an alarm at each look. Looks do not overlap, and each has a chance of
# 0.05 for a false alarm.
alarms_of <- function(data, args) {
  spikes <- data.frame(time = data$time, unit = data$unit)[order(data$time), ]
  ends <- round(seq(data$start + args$window, data$end, by = args$window), 6)
  least <- count_reached(to_trains(cut_to(data, args$window)), args$intervals)
  stream <- episode_stream(args$intervals, least, args$window, max_size = 3,
                           distinct_units = TRUE, alarms = 0.05 * 3600 / args$window,
                           look = args$window, judge_after = 0, threads = 1)
  block <- findInterval(spikes$time, c(-Inf, ends), left.open = TRUE)
  lapply(seq_along(ends), \(k) {
    stream <<- update(stream, spikes[block == k, ], now = ends[[k]])
    episodes <- stream$episodes
    chain_names(data, episodes[match(stream$alarms$episode, episodes$episode), ])
  })
}

ask_alarms <- list(
  kind = "spikes", alpha = 0.05,
  reach = function(args) 2 * args$intervals[[2L]],
  look = function(data, args) list(found = unique(unlist(alarms_of(data, args)))),
  claims = function(data, args) lengths(alarms_of(data, args)) > 0
)

# ---- Patterns, assemblies, connections, report -----------------------------------------

spade_of <- function(data, args) {
  do.call(spade, c(list(to_trains(data), n_surrogates = 99, threads = 1), args))
}

ask_spade <- list(
  kind = "spikes", alpha = 0.05,
  reach = function(args) args$bin_size * args$window_bins,
  look = function(data, args) {
    found <- spade_of(data, args)
    patterns <- as.data.frame(found)
    list(fixed = c(mined = attr(found$patterns, "mined")),
         # Without a pattern there is nothing to test.
         chance = if (!is.null(found$pvalues)) {
           stats::setNames(found$pvalues$p, paste(found$pvalues$size, found$pvalues$count))
         },
         n = 99,
         found = vapply(seq_len(nrow(patterns)), \(k) {
           paste(sort(called(data, patterns$units[[k]])), collapse = " ")
         }, ""))
  },
  claims = function(data, args) nrow(as.data.frame(spade_of(data, args))) > 0
)

assemblies_of <- function(data, args) {
  do.call(find_assemblies, c(list(to_trains(data), threads = 1), args))
}
# Pairs of units that are members of the same one.
pairs_within <- function(data, units) {
  unique(unlist(lapply(units, \(u) {
    if (length(u) > 1L) utils::combn(sort(called(data, u)), 2L, paste, collapse = " ")
  })))
}

ask_assemblies <- list(
  kind = "spikes", alpha = 0.05,
  reach = function(args) if (is.null(args$max_lag)) 1 else args$max_lag,
  look = function(data, args) {
    found <- assemblies_of(data, args)
    list(found = pairs_within(data, found$units), seeded = c(activations = sum(found$count)))
  },
  claims = function(data, args) nrow(assemblies_of(data, args)) > 0
)

connections_of <- function(data) {
  found <- suppressWarnings(find_synapses(to_trains(data), threads = 1))
  as.data.frame(found)[found$kind %in% "connection", ]
}

ask_synapses <- list(
  kind = "spikes", alpha = 0.05, exact = TRUE, reach = \(args) 0.01,
  look = function(data, args) {
    found <- connections_of(data)
    list(found = sprintf("%s > %s (%+d)", called(data, found$from), called(data, found$to),
                         found$sign))
  },
  # The false discovery rate is that of any false one where there is no connection.
  claims = function(data, args) nrow(connections_of(data)) > 0
)

report_of <- function(data) {
  file <- tempfile(fileext = ".html")
  on.exit(unlink(file))
  report(to_trains(data), file = file, open = FALSE, threads = 1)
}

ask_report <- list(
  kind = "spikes", alpha = 0.05, reach = \(args) 1, slow = TRUE,
  look = function(data, args) {
    found <- report_of(data)
    list(found = pairs_within(data, Map(c, found$pairs$reference, found$pairs$target)))
  },
  claims = function(data, args) {
    found <- report_of(data)
    c(nrow(found$pairs) > 0, nrow(found$assemblies) > 0,
      any(found$connections$kind %in% "connection"))
  }
)

# What has no chance in it: rates, intervals, and pairs of units.
ask_measures <- list(
  kind = "spikes",
  look = function(data, args) {
    x <- to_trains(data)
    together <- sttc(x, threads = 1)
    pairs <- which(upper.tri(together), arr.ind = TRUE)
    name <- called(data, rownames(together))
    both <- apply(cbind(name[pairs[, 1L]], name[pairs[, 2L]]), 1L, \(p) {
      paste(sort(p), collapse = " ")
    })
    intervals <- isi_statistics(x)
    list(fixed = c(
      stats::setNames(together[pairs], both),
      unlist(lapply(setdiff(names(intervals), "unit"), \(column) {
        stats::setNames(intervals[[column]], paste(column, called(data, intervals$unit)))
      }))
    ))
  }
)

# The table of a stream that reads the recording from a file which grows.
ask_feed <- list(
  kind = "spikes",
  look = function(data, args) {
    x <- to_trains(data)
    order <- order(data$time)
    lines <- sprintf("%.6f,%s\n", data$time[order], data$unit[order])
    bytes <- charToRaw(paste(c("time,unit\n", lines), collapse = ""))
    ends <- c(sort(sample.int(length(bytes), data$looks - 1L)), length(bytes))
    file <- tempfile(fileext = ".csv")
    on.exit(unlink(file))
    stream <- episode_stream(args$intervals, count_reached(x, args$intervals),
                             ceiling(data$end - data$start) + 1, max_size = 3,
                             distinct_units = TRUE, threads = 1)
    feed <- feed_file(stream, file, every = 1, wait = Inf)
    con <- base::file(file, "wb")
    for (k in seq_along(ends)) {
      writeBin(bytes[seq.int(c(0, ends)[[k]] + 1, ends[[k]])], con)
      flush(con)
      # An update reads 64 KiB, and counts what is over.
      for (again in seq_len(2 + length(bytes) %/% 65536 * (k == length(ends)))) {
        update(feed)
      }
    }
    close(con)
    found <- close(feed)$episodes
    list(fixed = stats::setNames(found$count, chain_names(data, found)))
  }
)

analyses <- list(causal_map = ask_map, ccm = ask_ccm, direct_links = ask_links,
                 smap_map = ask_responses, episodes = ask_episodes, alarms = ask_alarms,
                 spade = ask_spade, assemblies = ask_assemblies, synapses = ask_synapses,
                 report = ask_report, measures = ask_measures, feed = ask_feed)
