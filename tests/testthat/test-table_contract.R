# Every result that is a table, through everything that people do to tables: what comes out
# is a whole object of the same class, or a plain data frame (R/utils-tables.R).

tables <- local({
  made <- NULL
  function() {
    if (is.null(made)) made <<- make_tables()
    made
  }
})

make_tables <- function() {
  set.seed(1)
  x <- simulate_patterns(4, 6, 5, list(list(units = 1:3, lags = c(0, 0.01, 0.02),
                                            count = 12)))
  found <- mine_episodes(x, 8, c(0, 0.02), max_size = 2)
  patterns <- mine_patterns(x, 0.01, 3, min_spikes = 2, 4)
  chance <- pvalue_spectrum(x, 0.01, 3, 2, 4, n_surrogates = 19)
  wave <- data.frame(time = 1:60, x = sin(1:60), y = cos(1:60 / 2))
  cross <- ccm(wave, "x", "y", E = 2, samples = 3, lib_sizes = c(10, 20, 30))
  list(
    episodes = found, occurrences = episode_occurrences(x, found[7:8, ]),
    lags = episode_lags(x, found[7, ], bins = 4),
    significance = episode_significance(found, n_surrogates = 9),
    windows = pattern_occurrences(x, patterns[1:3]), spectrum = pattern_spectrum(patterns),
    chance = chance, tests = test_signatures(patterns, chance),
    links = causal_map(simulate_coupled_maps(steps = 60, series = 4), E = 2, top = 2),
    forecast = simplex(wave, "x", E = 2), skill = embed_dimension(wave, "x", E_max = 4),
    ccm = cross, ccm_lag = ccm_lag(wave, "x", "y", E = 2, Tp = -1:1, samples = 2),
    words = summary(cross), intervals = isi_statistics(x),
    bursts = bursts(x, max_start = 0.5, max_within = 0.5),
    tuning = tuning_curve(x, data.frame(time = 0:4, speed = c(1, 3, 2, 5, 4)), breaks = 3)
  )
}

# A function of a table, by what it is called in the message of a failure.
handling <- list(
  "rows" = \(x) x[2:1, ],
  "rows again" = \(x) x[c(1, 1, 2), ],
  "no row" = \(x) x[0L, ],
  "rows that are not there" = \(x) x[c(1, NA), ],
  "rows beyond" = \(x) x[nrow(x) + 0:1, ],
  "first column" = \(x) x[1],
  "columns turned round" = \(x) x[rev(names(x))],
  "without its last column" = \(x) x[-length(x)],
  "$<- of a new column" = \(x) { x$mark <- seq_len(nrow(x)); x },
  "$<- of its own" = \(x) { x[[1L]] <- NA; x },
  "$<- NULL" = \(x) { x[[2L]] <- NULL; x },
  "[<- of a cell" = \(x) { x[1, 1] <- NA; x },
  "names<-" = \(x) { names(x)[[1L]] <- "renamed"; x },
  "rbind" = \(x) rbind(x, x),
  "rbind of parts" = \(x) do.call(rbind, split(x, seq_len(nrow(x)) > 1)),
  "rbind with a plain one" = \(x) rbind(x, as.data.frame(x)),
  "merge" = \(x) merge(x, data.frame(number = 1:2)),
  "cbind" = \(x) cbind(x, number = 1),
  "data.frame" = \(x) data.frame(x, number = 1),
  "transform" = \(x) transform(x, number = 1),
  "within" = \(x) within(x, number <- 1),
  "subset" = \(x) subset(x, seq_len(nrow(x)) > 1),
  "head" = \(x) utils::head(x, 2),
  "order" = \(x) x[order(x[[2L]]), ],
  "as.data.frame" = \(x) as.data.frame(x, row.names = paste0("r", seq_len(nrow(x))),
                                       optional = TRUE, stringsAsFactors = FALSE)
)

# Sound: whole and of its class, or of no class of ours.
expect_sound <- function(out, x, label) {
  expect_true(is.data.frame(out), label = paste(label, "gives a data frame"))
  ours <- inherits(out, "synfire_table")
  if (ours) {
    about <- setdiff(names(attributes(x)), c("names", "row.names"))
    kept <- identical(attributes(out)[about], attributes(x)[about])
    # Two of them together forget where they are from.
    expect_true(kept || inherits(out, "episodes"), label = paste(label, "knows the same"))
  } else {
    expect_false(any(class(out) %in% class(x)[seq_len(length(class(x)) - 1L)]),
                 label = paste(label, "is plain"))
  }
  expect_output(print(out), label = paste(label, "prints"))
  expect_s3_class(as.data.frame(out), "data.frame")
  if (ours && nrow(out) > 0L) expect_no_error(format(out))
}

test_that("a table is whole or plain, whatever base R does to it", {
  skip_on_cran()
  for (class in names(tables())) {
    x <- tables()[[class]]
    for (what in names(handling)) {
      out <- handling[[what]](x)
      expect_sound(out, x, sprintf("%s of %s", what, class))
    }
  }
})

test_that("rows that are there keep the class, and what is changed loses it", {
  together <- c("spectrum", "chance", "tests")
  for (class in names(tables())) {
    x <- tables()[[class]]
    keeps <- \(what) inherits(handling[[what]](x), "synfire_table")
    expect_identical(keeps("rows"), !class %in% together, label = class)
    expect_true(keeps("$<- of a new column"), label = class)
    for (what in c("rows that are not there", "$<- of its own", "names<-", "as.data.frame",
                   "without its last column", "rbind with a plain one", "merge")) {
      expect_false(keeps(what), label = paste(what, class))
    }
    expect_identical(keeps("rbind of parts"), !class %in% together, label = class)
  }
  x <- tables()$episodes
  x$count <- x$count * 2L
  expect_s3_class(x, "episodes")
  x$count <- as.character(x$count)
  expect_identical(class(x), "data.frame")
  x <- tables()$episodes
  expect_identical(attr(rbind(x[1:3, ], x[4:5, ]), "recording"), attr(x, "recording"))
  other <- mine_episodes(attr(x, "recording"), 20, c(0, 0.02), max_size = 1)
  expect_identical(class(rbind(x, other)), class(x))
  expect_null(attr(rbind(x, other), "recording"))
})

test_that("rows are numbered from 1, and given names are kept", {
  for (class in c("episodes", "occurrences", "links", "forecast")) {
    x <- tables()[[class]]
    expect_identical(attr(x[3:2, ], "row.names"), 1:2)
    expect_identical(row.names(handling[["as.data.frame"]](x))[[1L]], "r1")
  }
  expect_error(as.data.frame(tables()$episodes, tims = TRUE), "`tims` must be",
               class = "synfire_error_argument")
})

test_that("the verbs of dplyr leave a table whole or plain", {
  skip_on_cran()
  skip_if_not_installed("dplyr")
  verbs <- list(
    filter = \(x) dplyr::filter(x, dplyr::row_number() > 1),
    slice = \(x) dplyr::slice(x, 2:1),
    arrange = \(x) dplyr::arrange(x, dplyr::desc(.data[[names(x)[[2L]]]])),
    mutate = \(x) dplyr::mutate(x, number = 1),
    "mutate of its own" = \(x) dplyr::mutate(x, "{names(x)[[1L]]}" := NA),
    select = \(x) dplyr::select(x, 1),
    "select of all" = \(x) dplyr::select(x, dplyr::everything()),
    rename = \(x) dplyr::rename(x, renamed = 1),
    relocate = \(x) dplyr::relocate(x, 2),
    bind_rows = \(x) dplyr::bind_rows(x, x),
    bind_cols = \(x) dplyr::bind_cols(x, number = rep(1, nrow(x))),
    group_by = \(x) dplyr::group_by(x, .data[[names(x)[[1L]]]]),
    ungroup = \(x) dplyr::ungroup(dplyr::group_by(x, .data[[names(x)[[1L]]]])),
    summarise = \(x) dplyr::summarise(x, n = dplyr::n()),
    left_join = \(x) dplyr::left_join(x, dplyr::distinct(as.data.frame(x)[1]), by = names(x)[[1L]])
  )
  `:=` <- rlang::`:=`
  for (class in names(tables())) {
    x <- tables()[[class]]
    for (verb in names(verbs)) expect_sound(verbs[[verb]](x), x, paste(verb, class))
  }
  found <- tables()$episodes
  expect_s3_class(dplyr::filter(found, size == 2), "episodes")
  expect_s3_class(dplyr::mutate(found, rate = count / 4), "episodes")
  expect_identical(dplyr::arrange(found, count)$count, sort(found$count))
})

# The generics alone, where dplyr is not installed.
test_that("what dplyr calls keeps to the contract", {
  for (class in names(tables())) {
    x <- tables()[[class]]
    expect_sound(dplyr_row_slice.synfire_table(x, c(1L, NA)), x, class)
    expect_sound(dplyr_col_modify.synfire_table(x, list(number = 1)), x, class)
    plain <- dplyr_reconstruct.synfire_table(x, x)
    expect_identical(class(plain), "data.frame")
    expect_identical(names(attributes(plain)), c("names", "row.names", "class"))
  }
})

test_that("tibbles and data.tables are made of every result", {
  set.seed(1)
  x <- simulate_patterns(4, 6, 5)
  patterns <- mine_patterns(x, 0.01, 3, min_spikes = 2, 3)
  series <- simulate_coupled_maps(steps = 60, series = 4)
  map <- causal_map(series, E = 2)
  wave <- data.frame(time = 1:60, x = sin(1:60), y = cos(1:60 / 2))
  all <- c(tables(), list(
    patterns, frequent_itemsets(list(c("a", "b"), "a"), 1),
    spade(x, 0.01, 3, 2, 3, n_surrogates = 9), map, compare_maps(map, causal_map(series, E = 1)),
    smap(wave, "x", E = 2), multiview(wave, c("x", "y"), "x"),
    update(episode_stream(c(0, 0.02), 5, 4), x)
  ))
  for (one in all) {
    want <- as.data.frame(one)
    expect_identical(dim(data.frame(one)), dim(want))
    if (rlang::is_installed("tibble")) {
      tibble <- tibble::as_tibble(one)
      expect_s3_class(tibble, c("tbl_df", "tbl", "data.frame"), exact = TRUE)
      expect_identical(as.list(tibble), as.list(want))
      expect_identical(sort(names(attributes(tibble))), c("class", "names", "row.names"))
    }
    if (rlang::is_installed("data.table")) {
      table <- data.table::as.data.table(one)
      expect_s3_class(table, c("data.table", "data.frame"), exact = TRUE)
      expect_identical(as.list(table), as.list(want))
    }
  }
  if (rlang::is_installed("tibble")) {
    expect_identical(nrow(tibble::as_tibble(patterns, long = TRUE)),
                     nrow(as.data.frame(patterns, long = TRUE)))
  }
})
