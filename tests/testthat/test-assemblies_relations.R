# A recording of `n` units at `rate` with a motif at `times`: members `units` fire `lags` later,
# and once more after `again` seconds (0: not).
with_motif <- function(times, units, lags, again = 0 * lags, n = 24, rate = 3, duration = 200,
                       jitter = 5e-4, more = NULL) {
  all <- length(times) * length(units)
  of <- \(lag) rep(times, each = length(units)) + lag + rnorm(all, 0, jitter)
  twice <- rep(again > 0, length(times))
  time <- c(of(lags), of(lags + again)[twice], runif(n * rate * duration, 0, duration))
  unit <- c(rep(units, length(times)), rep(units, length(times))[twice],
            sample(sprintf("n%02d", seq_len(n)), n * rate * duration, TRUE))
  suppressMessages(spike_trains(c(time, more$time), c(unit, as.character(more$unit)), start = -1,
                                end = duration + 1))
}

names_of <- function(k) sprintf("n%02d", k)

test_that("moments that come together are those of a slow search", {
  set.seed(1)
  a <- sort(runif(60, 0, 100))
  b <- sort(c(a[1:40] + 0.3 + runif(40, 0, 0.01), runif(30, 0, 100)))
  both <- come_together(a, b, 0.01, 2, 100)
  shift <- outer(b, a, `-`)
  slow <- vapply(sort(shift[abs(shift) <= 2]), \(s) sum(shift >= s & shift <= s + 0.01), 0)
  chance <- 60 * 70 * 0.01 / 100
  expect_equal(both$share, (max(slow) - chance) / (60 - chance))
  expect_lt(abs(both$shift - 0.305), 0.005)
  expect_equal(come_together(b, a, 0.01, 2, 100)$share, both$share)
  expect_lt(come_together(a, sort(runif(60, 0, 100)), 0.01, 2, 100)$share, 0.2)
  expect_identical(come_together(a, numeric(), 0.01, 2, 100)$share, 0)
  # Where moments are dense, all come together by chance.
  expect_identical(come_together(a, a + 0.3, 2, 2, 100)$share, 0)
})

test_that("order is reversed where it is known", {
  wide <- rep(0.01, 4)
  lags <- c(0, 0.02, 0.05, 0.09)
  expect_true(is_reversed(lags, rev(lags), wide, wide))
  expect_true(is_reversed(lags, rev(lags) / 2, wide / 2, wide / 2))
  expect_false(is_reversed(lags, lags, wide, wide))
  expect_false(is_reversed(lags, rev(lags), wide * 20, wide * 20))
  expect_false(is_reversed(lags[1:2], rev(lags[1:2]), wide[1:2], wide[1:2]))
  expect_false(is_reversed(lags, lags[c(2, 1, 4, 3)], wide, wide))
})

test_that("forward and reverse replay are two assemblies, and the table says so", {
  set.seed(2)
  lags <- c(0, 0.02, 0.045, 0.07, 0.1)
  units <- names_of(1:5)
  times <- sort(runif(160, 1, 199))
  back <- sort(runif(160, 1, 199))
  more <- data.frame(time = rep(back, each = 5) + rev(lags) + rnorm(800, 0, 5e-4), unit = units)
  x <- with_motif(times, units, lags, more = more)
  found <- find_assemblies(x, max_lag = 0.3, n_surrogates = 19, threads = 1)
  expect_identical(lapply(found$units, sort), list(units, units))
  relations <- as.data.frame(found, what = "relations")
  expect_identical(relations$relation, "reversed")
  expect_identical(relations$shared, 5L)
  expect_identical(c(relations$assembly, relations$other), 1:2)
  expect_true(is.na(relations$shift))
  expect_output(print(summary(found)), "Assembly 2 is assembly 1 in reverse order \\(5 members\\)")
  expect_identical(nrow(as.data.frame(found[1, ], what = "relations")), 0L)
})

test_that("shared members, subsets and motifs that come together are told apart", {
  set.seed(3)
  x <- simulate_assemblies(duration = 120, units = 14, assemblies = list(
    list(kind = "sequence", units = 1:5, count = 60),
    list(kind = "sequence", units = c(3:4, 7:9), count = 60),
    list(kind = "sequence", units = 2:4, count = 60)
  ))
  a <- made_assemblies(x)
  relations <- as.data.frame(a, what = "relations")
  expect_identical(relations$assembly, c(1L, 1L, 2L))
  expect_identical(relations$other, c(2L, 3L, 3L))
  expect_identical(relations$relation[1], "shares members")
  expect_true(relations$relation[2] %in% c("subset", "reversed"))
  expect_identical(relations$shared, c(2L, 3L, 2L))
  expect_true(all(relations$together < 0.5))
  # The third one is made to come 50 ms after each activation of the first one.
  parts <- unclass(a)
  parts$times[[3]] <- parts$times[[1]] + 0.05
  b <- structure(parts, class = class(a))
  relations <- as.data.frame(b, what = "relations")
  expect_identical(relations$relation[2], "same motif")
  expect_lt(abs(relations$shift[2] - 0.05), 0.005)
  expect_match(paste(relation_words(b), collapse = " "),
               "Assemblies 1 and 3 are one motif: they share 3 members, and the second one comes")
})

test_that("a motif in which units fire twice is one row with one activation each time", {
  set.seed(2)
  times <- sort(runif(150, 1, 199))
  lags <- cumsum(c(0, runif(5, 0.005, 0.03)))
  again <- c(0.015, 0.03, 0.06, 0.03, 0.015, 0.06)
  x <- with_motif(times, names_of(1:6), lags, again)
  found <- find_assemblies(x, max_lag = 0.5, n_surrogates = 19, threads = 1)
  expect_identical(nrow(found), 1L)
  expect_setequal(found$units[[1]], names_of(1:6))
  expect_lt(abs(found$count - 150), 20)
})

test_that("groups that come at one shift from a better one are left out", {
  x <- with_motif(seq(1, 199, by = 1.3), names_of(1:4), c(0, 0.01, 0.02, 0.03))
  bin <- round(0.001 / attr(x, "resolution"))
  ticks <- round(sort(runif(100, 1, 199)) / attr(x, "resolution"))
  group <- function(tick, unit) {
    list(unit = unit, lag = c(0L, 10L, 20L, 30L), width = rep(3L, 4), tick = tick,
         spikes = matrix(1L, length(tick), 4))
  }
  first <- group(ticks, 1:4)
  expect_true(is_same_motif(group(ticks + 15 * bin, 1:4), list(first), x, bin))
  expect_true(is_same_motif(group(ticks[1:60] + 15 * bin, c(1:2, 9:10)), list(first), x, bin))
  # One member alone is shared; or activations come at any time after.
  expect_false(is_same_motif(group(ticks + 15 * bin, c(1, 9:11)), list(first), x, bin))
  expect_false(is_same_motif(group(sort(ticks + sample(500, 100, TRUE) * bin), 1:4), list(first),
                             x, bin))
  expect_false(is_same_motif(first, list(), x, bin))
})

test_that("second activations of a motif are left out, rhythms and chance are not", {
  x <- with_motif(10, names_of(1:3), c(0, 0.01, 0.02), rate = 1)
  bin <- round(0.001 / attr(x, "resolution"))
  group <- function(tick) {
    list(lag = c(0L, 10L, 20L), width = rep(5L, 3), tick = sort(tick),
         spikes = matrix(1L, length(tick), 3))
  }
  once <- sort(runif(100, 1, 199)) / attr(x, "resolution")
  expect_identical(counted_once(group(once), x, bin), group(once))
  twice <- c(once, once[1:70] + 15 * bin)
  expect_identical(counted_once(group(twice), x, bin)$tick, once)
  # Those at which more members fire stay.
  stronger <- group(c(once, once + 15 * bin))
  stronger$spikes[stronger$tick %in% once, 1] <- 0L
  expect_identical(counted_once(stronger, x, bin)$tick, sort(once + 15 * bin))
  rhythm <- unlist(lapply(once[1:20], \(t) t + 25 * bin * 0:7))
  expect_length(counted_once(group(rhythm), x, bin)$tick, 160)
  expect_identical(counted_once(group(numeric()), x, bin)$tick, numeric())
})

test_that("units of one cell and noise among the members are named", {
  set.seed(6)
  lags <- c(0, 0.022, 0.026, 0.034)
  x <- with_motif(sort(runif(100, 1, 199)), names_of(1:4), lags)
  own <- as.data.frame(x)[c("time", "unit")]
  with_copy <- function(of, name, moved = 0) {
    copy <- own[own$unit == of, ]
    data.frame(time = copy$time + moved, unit = name)
  }
  look <- function(...) {
    all <- rbind(own, ...)
    y <- spike_trains(all$time, as.character(all$unit), start = -1, end = 202)
    find_assemblies(y, n_surrogates = 19, threads = 1)
  }
  clean <- look()
  expect_identical(clean$artefact, NA_character_)
  expect_no_match(paste(capture.output(print(clean), summary(clean)), collapse = " "), "artefact")
  member <- look(with_copy("n02", "n30"))
  expect_match(member$artefact,
               "^n02 and n30 see one cell \\(100 % of spikes shared within 0.1 ms\\)$")
  expect_output(print(member), "sorting artefact in assembly 1: n02 and n30 see one cell")
  expect_output(print(summary(member)), "an artefact of spike\\s+sorting is in it")
  expect_output(print(summary(member)), "Keep one\\s+of them")
  shifted <- look(with_copy("n02", "n30", 4e-4))
  expect_match(shifted$artefact, "see one cell")
  # A copy and one that is 244 ms late are two cells at most.
  late <- look(with_copy("n09", "n30"), with_copy("n09", "n31", 0.244))
  row <- which(vapply(late$units, \(u) "n31" %in% u, NA))
  expect_match(late$artefact[[row]], "2 cells left, no assembly")
  expect_true(is.na(late$artefact[[which(vapply(late$units, \(u) "n01" %in% u, NA))]]))
})

test_that("artefacts are told from the share of spikes and the number of cells", {
  set.seed(7)
  x <- with_motif(100, names_of(1:3), c(0, 0.01, 0.02), n = 12)
  noise <- data.frame(time = runif(40000, 0, 200), unit = "noise")
  all <- rbind(as.data.frame(x)[c("time", "unit")], noise)
  y <- spike_trains(all$time, as.character(all$unit), start = -1, end = 202)
  said <- member_artefacts(list(c("n01", "n02", "n03"), c("n01", "n02", "noise"),
                                c("n01", "n02", "n03", "noise")), y, 1, 4e9)
  expect_identical(is.na(said), c(TRUE, FALSE, FALSE))
  expect_match(said[[2]], "^noise has 8[0-9] % of all spikes: 2 cells left, no assembly$")
  expect_match(said[[3]], "^noise has 8[0-9] % of all spikes$")
  expect_identical(member_artefacts(list(), y, 1, 4e9), character())
  # Some spikes of another unit.
  one <- all[all$unit == "n05", ]
  some <- data.frame(time = one$time[runif(nrow(one)) < 0.3], unit = "n06")
  all <- rbind(all, some)
  z <- spike_trains(all$time, as.character(all$unit), start = -1, end = 202)
  expect_match(member_artefacts(list(c("n05", "n06", "n07")), z, 1, 4e9),
               "^n0[56] and n0[56] may have spikes of each other \\([123][0-9] % shared")
  # Times that are those of a coarse grid do not tell so few.
  grid <- unique(data.frame(time = round(all$time, 3), unit = all$unit))
  w <- spike_trains(grid$time, as.character(grid$unit), start = -1, end = 202)
  expect_identical(member_artefacts(list(c("n05", "n06", "n07")), w, 1, 4e9), NA_character_)
})

test_that("the sentence of a group names the clearest of very many artefacts", {
  pairs <- sprintf("n%d and n%d see one cell", 1:8, 2:9)
  said <- synfire:::artefact_text(paste(pairs, collapse = "; "))
  expect_match(said, "n3 and n4 see one cell; 4 more in the column `artefact`; n8 and n9 see one cell[.]$")
  expect_identical(synfire:::artefact_text(pairs[[1]]),
                   " Artefact of spike sorting: n1 and n2 see one cell.")
})
