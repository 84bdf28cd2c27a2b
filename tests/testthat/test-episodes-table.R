# How the table holds its names and its units, low and high: names are spelt when asked
# for, rows share vectors, and from R 4.3 on these are made when asked for. None of this may
# be seen from R but in time and memory.

spelt <- function(x) as.character(episode_text(x$units, x$low, x$high))

delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))

# Some 15,000 rows: enough that subsets of most of them are not spelt at once.
many <- local({
  x <- withr::with_seed(1, simulate_sym26())
  mine_episodes(x, 150, delays, distinct_units = FALSE, threads = 2)
})
names_of_many <- spelt(many)

# The same names as a vector that nobody has looked at yet.
unseen <- function() many$episode[seq_len(nrow(many))]

test_that("names are spelt from the units and delays of their rows", {
  for (seed in cases(25)) {
    found <- mined_by(random_stream(seed, spikes = 60), 2, max_size = 4)
    want <- spelt(found)
    expect_identical(found$episode, want)
    expect_identical(Encoding(found$episode), Encoding(want))
    expect_identical(lengths(found$units), found$size)
    expect_identical(lengths(found$low), found$size - 1L)
    expect_identical(lengths(found$high), found$size - 1L)
  }
  expect_gt(nrow(many), 10000)
  expect_identical(unseen(), names_of_many)
})

test_that("rows left out leave the others as they are", {
  for (top in c(1, 5, 100)) {
    some <- mine_episodes(attr(many, "recording"), 150, delays, distinct_units = FALSE,
                          threads = 2, top = top)
    kept <- unlist(lapply(split(seq_len(nrow(many)), many$size), utils::head, top))
    expect_identical(as.data.frame(some), as.data.frame(many[kept, ]))
    expect_identical(some$episode, names_of_many[kept])
  }
  closed <- mine_episodes(attr(many, "recording"), 150, delays, distinct_units = FALSE,
                          threads = 2, target = "closed")
  expect_identical(closed$episode, spelt(closed))
})

test_that("elements of names are got in any order, one by one and all at once", {
  names <- unseen()
  at <- c(9000, 1, 9000, nrow(many), 2)
  for (i in at) expect_identical(names[[i]], names_of_many[[i]])
  expect_identical(vapply(at, \(i) names[[i]], ""), names_of_many[at])
  expect_identical(nchar(names), nchar(names_of_many))
  expect_identical(names, names_of_many)
  expect_error(names[[nrow(many) + 1]], "out of bounds")
})

test_that("subsets of names are those of a plain vector", {
  n <- nrow(many)
  some <- withr::with_seed(1, list(
    few = c(5, 5, n), none = integer(), logical = c(TRUE, FALSE, NA),
    negative = -(1:10), negative_many = -(1:(n - 3)), real = c(2.9, 7000.2),
    beyond = c(n + 1, NA, 3, 1e12), all = seq_len(n), reversed = n:1,
    shuffled = sample(n), drawn = sample(n, 2 * n, replace = TRUE),
    many_beyond = c(NA, seq_len(n) + 5L), many_real = c(1e12, NA, as.numeric(n:1) + 0.5),
    zeros = c(0, 1, 0, 2)
  ))
  for (kind in names(some)) {
    expect_identical(unseen()[some[[kind]]], names_of_many[some[[kind]]], label = kind)
    # Once more of a subset, and of names that have all been spelt.
    part <- unseen()[n:1][some[[kind]]]
    expect_identical(part, rev(names_of_many)[some[[kind]]], label = kind)
    seen <- unseen()
    order(seen, method = "radix")
    expect_identical(seen[some[[kind]]], names_of_many[some[[kind]]], label = kind)
  }
  expect_identical(anyNA(unseen()[c(seq_len(n), n + 1)]), TRUE)
  longer <- unseen()
  length(longer) <- n + 2
  expect_identical(longer, c(names_of_many, NA, NA))
})

test_that("R's functions see plain names", {
  plain <- names_of_many
  expect_true(identical(unseen(), plain))
  expect_identical(order(unseen(), method = "radix"), order(plain, method = "radix"))
  expect_identical(sort(unseen(), method = "radix"), sort(plain, method = "radix"))
  expect_identical(rev(unseen()), rev(plain))
  expect_identical(match(plain[c(7, 12000)], unseen()), c(7L, 12000L))
  expect_identical(match(unseen(), rev(plain)), nrow(many):1)
  expect_true(all(unseen() == plain))
  expect_identical(anyDuplicated(unseen()), 0L)
  expect_identical(unique(unseen()[c(seq_len(nrow(many)), 1:9)]), plain)
  expect_identical(paste0("<", unseen(), ">"), paste0("<", plain, ">"))
  expect_identical(grepl("-(0,0.005]-> A", unseen(), fixed = TRUE),
                   grepl("-(0,0.005]-> A", plain, fixed = TRUE))
  expect_identical(c(unseen(), "last"), c(plain, "last"))
  expect_identical(levels(factor(unseen(), plain)), plain)
  expect_identical(toupper(unseen()), toupper(plain))
  expect_output(str(unseen()), "chr")
})

test_that("what is saved is plain, and comes back the same", {
  for (version in 2:3) {
    expect_identical(serialize(unseen(), NULL, version = version),
                     serialize(names_of_many, NULL, version = version))
  }
  found <- many[nrow(many):1, ]
  file <- withr::local_tempfile()
  saveRDS(found, file, compress = FALSE)
  expect_identical(readRDS(file), found)
  expect_identical(readRDS(file)$episode, rev(names_of_many))
})

test_that("names that are changed change nothing else", {
  names <- unseen()
  names[[3]] <- "other"
  names[9000] <- NA
  names[9001] <- ""
  want <- replace(replace(replace(names_of_many, 3, "other"), 9000, NA), 9001, "")
  expect_identical(names, want)
  expect_identical(names[nrow(many):1], rev(want))
  found <- many
  found$episode[[5]] <- "fifth"
  expect_identical(found$episode, replace(names_of_many, 5, "fifth"))
  names(names) <- seq_along(names)
  expect_identical(names[["9002"]], names_of_many[[9002]])
  expect_identical(many$episode, names_of_many)
})

# A list column whose vectors nobody has looked at yet, where R can leave them unmade, and the
# same column as a plain list.
unseen_list <- function(column) many[[column]][seq_len(nrow(many))]
plain_lists <- lapply(list(units = "units", low = "low", high = "high"),
                      \(column) lapply(seq_len(nrow(many)), \(i) many[[column]][[i]]))

test_that("list columns are plain lists to R's functions", {
  n <- nrow(many)
  for (column in names(plain_lists)) {
    plain <- plain_lists[[column]]
    expect_true(is.list(unseen_list(column)))
    expect_true(is.vector(unseen_list(column)))
    expect_identical(unseen_list(column), plain)
    expect_true(identical(plain, unseen_list(column)))
    expect_identical(length(unseen_list(column)), n)
    expect_identical(lengths(unseen_list(column)), lengths(plain))
    expect_identical(unlist(unseen_list(column)), unlist(plain))
    expect_identical(lapply(unseen_list(column), rev), lapply(plain, rev))
    expect_identical(vapply(unseen_list(column), length, 0L), lengths(plain))
    expect_identical(Map(paste, unseen_list(column)), Map(paste, plain))
    expect_identical(rapply(unseen_list(column), toString, how = "unlist"),
                     rapply(plain, toString, how = "unlist"))
    expect_identical(rev(unseen_list(column)), rev(plain))
    expect_identical(c(unseen_list(column), list(1)), c(plain, list(1)))
    expect_identical(match(plain[9000], unseen_list(column)), match(plain[9000], plain))
    expect_identical(unique(unseen_list(column)), unique(plain))
    expect_identical(duplicated(unseen_list(column)), duplicated(plain))
    triples <- which(many$size == 3L)
    expect_identical(do.call(rbind, unseen_list(column)[triples]), do.call(rbind, plain[triples]))
    expect_identical(split(unseen_list(column), many$size), split(plain, many$size))
    for (version in 2:3) {
      expect_identical(serialize(unseen_list(column), NULL, version = version),
                       serialize(plain, NULL, version = version))
    }
    expect_output(str(unseen_list(column), list.len = 2), sprintf("List of %d", n))
    longer <- unseen_list(column)
    length(longer) <- n + 2
    expect_identical(longer, c(plain, list(NULL, NULL)))
    expect_error(unseen_list(column)[[n + 1]], "out of bounds")
  }
})

test_that("subsets of list columns are those of a plain list", {
  n <- nrow(many)
  some <- withr::with_seed(1, list(
    few = c(5, 5, n), none = integer(), logical = c(TRUE, FALSE, NA), negative = -(1:10),
    beyond = c(n + 1, NA, 3, 1e12), reversed = n:1, drawn = sample(n, 2 * n, replace = TRUE),
    many_beyond = c(NA, seq_len(n) + 5L), many_real = c(1e12, NA, as.numeric(n:1) + 0.5)
  ))
  for (column in names(plain_lists)) {
    plain <- plain_lists[[column]]
    for (kind in names(some)) {
      at <- some[[kind]]
      expect_identical(unseen_list(column)[at], plain[at], label = kind)
      expect_identical(unseen_list(column)[n:1][at], rev(plain)[at], label = kind)
      seen <- unseen_list(column)
      unlist(seen)
      seen[[1L]]
      expect_identical(seen[at], plain[at], label = kind)
    }
  }
})

test_that("a list column that is changed changes nothing else", {
  for (column in names(plain_lists)) {
    plain <- plain_lists[[column]]
    list <- unseen_list(column)
    list[[3]] <- "other"
    list[9000] <- list(NULL)
    list[[9001]][[1]] <- 7
    want <- plain
    want[[3]] <- "other"
    want[9000] <- list(NULL)
    want[[9001]][[1]] <- 7
    expect_identical(list, want)
    expect_identical(unseen_list(column), plain)
    names(list) <- seq_along(list)
    expect_identical(list[["9002"]], plain[[9002]])
  }
})

test_that("tables go through base R, tibble and dplyr with their list columns", {
  n <- nrow(many)
  plain <- as.data.frame(lapply(unclass(as.data.frame(many))[c("size", "count")], identity))
  plain[names(plain_lists)] <- plain_lists
  columns <- names(plain)
  fresh <- \() as.data.frame(many[seq_len(n), ])[columns]
  expect_identical(fresh(), plain)
  o <- order(plain$count)
  expect_identical(fresh()[o, ], plain[o, ])
  expect_identical(utils::head(fresh(), 3), utils::head(plain, 3))
  expect_identical(rbind(fresh(), fresh()), rbind(plain, plain))
  expect_identical(many[many$size > 2, ]$units, plain$units[plain$size > 2])
  skip_if_not_installed("dplyr")
  expect_identical(dplyr::filter(fresh(), size > 3), dplyr::filter(plain, size > 3))
  expect_identical(dplyr::arrange(fresh(), count), dplyr::arrange(plain, count))
  expect_identical(dplyr::mutate(fresh(), n = lengths(units)),
                   dplyr::mutate(plain, n = lengths(units)))
  expect_identical(dplyr::bind_rows(fresh(), fresh()), dplyr::bind_rows(plain, plain))
  skip_if_not_installed("tibble")
  expect_identical(tibble::as_tibble(fresh()), tibble::as_tibble(plain))
})

test_that("rows share their vectors until one of them is changed", {
  for (column in c("units", "low", "high")) {
    address <- vapply(many[[column]], rlang::obj_address, "")
    value <- vapply(many[[column]], paste, "", collapse = "\r")
    expect_identical(match(address, address), match(value, value))
  }
  twin <- which(duplicated(many$units) & duplicated(many$low))[[1]]
  deep <- unserialize(serialize(as.data.frame(many), NULL))
  changed <- many
  changed$units[[twin]][[1]] <- "other"
  changed$low[[twin]][[1]] <- -1
  changed$high[[twin]] <- changed$high[[twin]] + 1
  for (column in c("units", "low", "high")) {
    expect_false(identical(changed[[column]][[twin]], deep[[column]][[twin]]))
    expect_identical(changed[[column]][-twin], deep[[column]][-twin])
  }
  lapply(many$units, function(units) {
    units[[1]] <- "other"
    units
  })
  part <- many[c(twin, twin), ]
  part$units[[1]][[1]] <- "other"
  expect_identical(part$units[[2]], deep$units[[twin]])
  expect_identical(as.data.frame(many), deep)
})

test_that("the screen shows the longest and most frequent of a large table", {
  o <- order(-many$size, -many$count, method = "radix")
  for (n in c(0, 1, 10, 500, nrow(many), Inf)) {
    expect_identical(longest_rows(many$size, many$count, n), utils::head(o, n))
  }
  expect_identical(longest_rows(c(2L, NA, 1L), c(5L, NA, 6L), 10), c(1L, 3L, 2L))
  first <- fit_pieces(row_pieces(many, o[[1]])[[1L]], 50)
  expect_match(first, "ms\\]-> [A-Z] \\.\\.\\. -\\[")
  expect_output(print(many), first, fixed = TRUE)
  by_size <- summary(many)$by_size
  expect_identical(by_size$episodes, as.vector(table(many$size)))
  expect_identical(by_size$median, as.vector(tapply(many$count, many$size, stats::median)))
})

test_that("a table that outlives the package is no danger", {
  lines <- start_child(quote({
    x <- spike_trains(rep(1:300, each = 3) / 100 + c(0, 0.001, 0.002), rep(c("A", "B", "C"), 300))
    found <- mine_episodes(x, 50, c(0, 0.005), threads = 1)
    names <- found$episode
    unloadNamespace("synfire")
    rm(found)
    gc()
    said <- tryCatch(nchar(names[[1L]]), error = function(condition) 0)
    rm(names)
    gc()
    log("alive", said)
  }))
  expect_false(is.null(await_line(lines, "alive")))
})
