# Slow versions of wired series and of what is true of them.

# Coupled maps, one number after the other. `w`: a wiring with strengths. Steps x all series.
slow_maps <- function(w, kind, r, start, steps, transient = 0) {
  n <- length(start)
  past <- matrix(start, 1L)
  # The state `delay` steps before the next one; before the first step all are as at the start.
  before <- function(delay) past[max(1, nrow(past) + 1 - delay), ]
  f <- function(j, delay) r[[j]] * before(delay)[[j]] * (1 - before(delay)[[j]])
  for (t in seq_len(transient + steps)) {
    now <- vapply(seq_len(n), function(j) {
      links <- w$links[w$links$effect == j, ]
      from <- Map(function(i, delay, weight) {
        if (kind == "logistic") weight * f(i, delay) else weight * (before(delay)[[i]] - 1)
      }, links$cause, links$delay, links$strength)
      sum <- Reduce(`+`, from, 0)
      if (kind == "logistic") return((1 - sum(links$strength)) * f(j, 1) + sum)
      before(1)[[j]] * exp(r[[j]] * (1 - before(1)[[j]]) - sum)
    }, 0)
    past <- rbind(past, now, deparse.level = 0)
  }
  past[1 + transient + seq_len(steps), , drop = FALSE]
}

# Calcium at the end of each frame: what all spikes until then have left.
slow_calcium <- function(times, frames, frame_rate, firing_rate, decay, rise) {
  kernel <- function(age) exp(-age / decay) - if (rise > 0) exp(-age / rise) else 0
  highest <- if (rise > 0) {
    optimize(kernel, c(0, 10 * decay), maximum = TRUE, tol = 1e-10)$objective
  } else {
    1
  }
  vapply(seq_len(frames) / frame_rate, function(end) {
    rest <- decay * exp(-end / decay) - if (rise > 0) rise * exp(-end / rise) else 0
    (sum(kernel(end - times[times < end])) + firing_rate * rest) / highest
  }, 0)
}

slow_fluorescence <- function(calcium, half, hill) {
  1 + if (is.finite(half)) half * calcium^hill / (calcium^hill + half^hill) else calcium
}

relative <- function(f) f / quantile(f, 0.1, names = FALSE) - 1

# What two series of a wiring have to do with each other, looked up link by link.
slow_pairs <- function(w, max_length = Inf) {
  n <- length(w$series)
  links <- w$links
  link_at <- matrix(0L, n, n)
  link_at[cbind(links$cause, links$effect)] <- seq_len(nrow(links))
  # Links of the shortest paths from each series to `to`.
  far <- function(to, adjacent, through = rep(TRUE, n)) {
    d <- rep(Inf, n)
    d[to] <- 0
    repeat {
      before <- d
      for (e in which(adjacent)) {
        from <- row(adjacent)[e]
        at <- col(adjacent)[e]
        if ((at == to || through[at]) && d[at] + 1 < d[from]) d[from] <- d[at] + 1
      }
      if (identical(d, before)) break
    }
    d[d > max_length] <- Inf
    d[to] <- 0
    d
  }
  linked <- link_at > 0
  rows <- list()
  for (j in which(!w$hidden)) for (i in setdiff(which(!w$hidden), j)) {
    others <- linked
    others[i, j] <- FALSE
    to <- far(j, others)
    through <- drivers <- integer()
    delay <- NA_integer_
    if (is.finite(to[i])) {
      from <- far(i, t(others))
      through <- setdiff(which(from + to == to[i]), c(i, j))
      quick <- rep(Inf, n)
      quick[j] <- 0
      on <- c(i, through, j)
      for (k in on[order(to[on])][-1L]) {
        after <- which(others[k, ] & to == to[k] - 1)
        quick[k] <- min(quick[after] + links$delay[link_at[k, after]])
      }
      delay <- as.integer(quick[i])
    }
    without <- function(k) {
      left <- linked
      left[k, ] <- left[, k] <- FALSE
      left
    }
    both <- far(i, without(j)) + far(j, without(i))
    both[c(i, j)] <- Inf
    if (any(is.finite(both))) drivers <- which(both == min(both))
    direct <- link_at[i, j]
    hidden_path <- is.finite(far(j, others, w$hidden)[i])
    hidden_driver <- any(is.finite(far(i, without(j), w$hidden) + far(j, without(i), w$hidden)) &
                           w$hidden)
    if (direct == 0L && length(through) == 0L && length(drivers) == 0L) next
    kind <- if (direct > 0L) 1L else if (length(through)) 2L else 3L
    rows[[length(rows) + 1L]] <- list(
      cause = i, effect = j, kind = kind,
      strength = if (direct > 0L) links$strength[direct] else NA_real_,
      delay = if (direct > 0L) links$delay[direct] else delay,
      length = if (direct > 0L) 1L else if (length(through)) as.integer(to[i]) else NA_integer_,
      through = through, drivers = drivers, hidden_path = hidden_path,
      hidden_driver = hidden_driver
    )
  }
  column <- function(name, of) vapply(rows, `[[`, of, name)
  kinds <- c("direct", "mediated", "common driver")
  named <- function(name) {
    vapply(rows, function(row) {
      if (length(row[[name]])) paste(w$series[row[[name]]], collapse = ", ") else NA_character_
    }, "")
  }
  data.frame(
    cause = w$series[column("cause", 0L)], effect = w$series[column("effect", 0L)],
    link = factor(kinds[column("kind", 0L)], kinds), strength = column("strength", 0),
    delay = as.double(column("delay", 0L)), length = column("length", 0L),
    through = named("through"), drivers = named("drivers"),
    hidden_path = column("hidden_path", NA), hidden_driver = column("hidden_driver", NA)
  )
}
