# Connections: any recording and any arguments; on several threads, with other names, and the
# table agrees with the recording.

# Enough spikes that something is tested, as a rule.
draw_for_synapses <- function() {
  if (sometimes(0.4)) return(draw_recording(60, 6))
  end <- whole(20, 120)
  trains <- lapply(seq_len(whole(2, 9)), \(u) runif(rpois(1, one_of(2, 8, 30) * end), 0, end))
  # Some follow others.
  for (k in seq_len(whole(0, 4))) {
    pair <- sample(length(trains), 2, replace = TRUE)
    by <- trains[[pair[[1L]]]]
    by <- by[runif(length(by)) < runif(1)]
    trains[[pair[[2L]]]] <- c(trains[[pair[[2L]]]], by + one_of(0, 0.001, 0.004, 0.03))
  }
  digits <- one_of(6, 3, 4)
  spikes <- data.frame(time = round(unlist(trains), digits),
                       unit = rep(seq_along(trains), lengths(trains)))
  spikes <- unique(spikes[spikes$time <= end, ])
  spike_trains(spikes$time, spikes$unit, start = 0, end = end)
}

check_synapses <- function(x, found, false_discovery) {
  units <- attr(found, "units")
  same(as.character(units$unit), levels(x$unit), "units")
  n <- sum(units$tested)
  same(as.double(attr(found, "tests")), as.double(n * (n - 1)), "tests")
  same(dim(attr(found, "power")), rep(nlevels(x$unit), 2L), "power")
  if (sum(!is.na(attr(found, "power"))) != n * (n - 1)) finding("power of pairs not tested")
  same(ncol(attr(found, "correlograms")), nrow(found), "correlograms")
  same(dim(attr(found, "baseline")), dim(attr(found, "correlograms")), "baselines")
  if (anyDuplicated(paste(found$from, found$to))) finding("a pair is there twice")
  if (any(as.character(found$from) == as.character(found$to))) finding("a unit with itself")
  calls <- found[found$kind %in% "connection", ]
  if (any(calls$q_value > false_discovery * (1 + 1e-9))) finding("q of a connection")
  if (any(sign(calls$strength) != calls$sign)) finding("sign of a connection")
  if (any(calls$strength_low > calls$strength | calls$strength_high < calls$strength)) {
    finding("interval of a strength")
  }
  if (any(is.na(found$kind) != !is.na(found$reason))) finding("a reason without need, or none")
  if (any(is.na(found$via) == (found$kind %in% "explained"))) finding("via")
  if (is.unsorted(as.integer(found$kind), na.rm = TRUE)) finding("order of rows")
}

draw_locations <- function(x) {
  units <- levels(x$unit)
  mostly(data.frame(unit = units, x = runif(length(units), 0, 1000),
                    y = one_of(list(runif(length(units)), rep(NA_real_, length(units))))))
}

fuzz_subject("synapses",
  covers = list(
    find_synapses = c("x", "max_lag", "bin_size", "false_discovery", "locations", "device",
                      "gpus", "threads", "max_memory")
  ),
  run = function(world) {
    x <- draw_for_synapses()
    args <- c(list(x), some_args(
      max_lag = mostly(one_of(0.003, 0.005, 0.01, 0.02, 0.03)),
      bin_size = mostly(one_of(0.0005, 0.001, 0.0002, 0.0004)),
      false_discovery = mostly(one_of(0.05, 0.2, 0.001)), locations = draw_locations(x),
      max_memory = one_of(1e7, 4e9)
    ))
    one <- suppressWarnings(attempt("find_synapses", c(args, list(threads = 1))))
    if (refused(one)) return()
    check_synapses(x, one, attr(one, "false_discovery"))
    more <- suppressWarnings(attempt("find_synapses", c(args, list(threads = whole(2, 4)))))
    if (!refused(more)) same(as.data.frame(more), as.data.frame(one), "threads")
    device <- one_of("gpu", "auto")
    there <- suppressWarnings(attempt("find_synapses", c(args, list(
      device = device, gpus = draw_gpus(world), threads = 2))))
    if (device == "gpu" && !world$gpu && !inherits(there, "synfire_error_device")) {
      finding("find_synapses() with device = \"gpu\" goes on without a GPU")
    }
    if (!refused(there)) {
      same(paste(there$from, there$to, there$kind), paste(one$from, one$to, one$kind), "devices")
    }
  }
)
