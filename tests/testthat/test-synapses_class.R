# The table of connections: printing, words, other tables. What made_synapses() has is in
# helper-synapses_shown.R.

said <- function(x) gsub("\\s+", " ", paste(utils::capture.output(print(x)), collapse = " "))

test_that("printing fits on one screen and shows a row of each kind", {
  x <- made_synapses()
  lines <- utils::capture.output(print(x))
  expect_lte(max(nchar(lines)), 120)
  expect_length(lines, 14)
  expect_match(lines[[1]], "# 5 connections among 11 of 12 units: 3 excitatory and 2 inhibitory")
  expect_match(lines[[2]], "110 ordered pairs tested, lags up to 10 ms, false discovery rate 0.05")
  expect_match(lines, "n01 -> n02 .*2 ms .*0.12 .*0.11 to 0.13 .*connection$", all = FALSE)
  expect_match(lines, "n06 -\\| n07 .*-0.022", all = FALSE)
  expect_match(lines, "n01 -> n03 .*explained, through n02$", all = FALSE)
  expect_match(lines, "n08 -- n10 .*common input$", all = FALSE)
  expect_match(lines, "n02 -> n12 .*refused: n12 has 40", all = FALSE)
  expect_match(utils::capture.output(print(x, n = 2)), "and 8 more", all = FALSE)
  expect_identical(format(x)[c(1, 4, 7)], c("n01 -> n02", "n06 -| n07", "n08 -- n10"))
  expect_error(print(x, m = 3), "`m` must be", class = "synfire_error_argument")
})

test_that("a table of rows is a result that still knows its correlograms", {
  skip_if_not_installed("ggplot2")
  x <- made_synapses()
  some <- x[c(4, 2), ]
  expect_s3_class(some, "synapses")
  expect_identical(attr(some, "units"), attr(x, "units"))
  expect_match(said(some), "# 2 of 10 pairs: 2 connections among 11 of 12 units")
  bars <- synapse_correlograms(some, 12)$bars
  expect_identical(levels(bars$panel), c("n06 -| n07", "n02 -> n03"))
  all <- synapse_correlograms(x, 12)$bars
  expect_identical(bars$count[bars$panel == "n02 -> n03"], all$count[all$panel == "n02 -> n03"])
  expect_identical(class(x[c(1, NA), ]), "data.frame")
  expect_identical(class(x["from"]), "data.frame")
  x$note <- 1
  expect_s3_class(x, "synapses")
  x$strength <- 1
  expect_identical(class(x), "data.frame")
})

test_that("words say what is supported, what is not, and what cannot be told", {
  x <- made_synapses()
  text <- said(summary(x))
  expect_match(text, "5 connections are supported: 3 excitatory and 2 inhibitory")
  expect_match(text, "fewer than one of them is expected to be false")
  expect_match(text, "n01 excites n02 2 ms later: 0.12 extra spikes per spike .*900 where 180 are")
  expect_match(text, "n06 inhibits n07 3 ms later: 0.022 missing spikes per spike")
  expect_match(text, "Pairs that are not listed may be connected. In half of the tested pairs")
  expect_match(text, "explain: n01 -> n03 through n02")
  expect_match(text, "sorter split, or that two electrodes hear: n09 and n11")
  expect_match(text, "1 pair has only a wide peak: n01 and n10")
  expect_match(text, "Units that were not tested: 1 of 12 \\(fewer than 100 spikes\\)")
  expect_match(text, "n02 -> n12 \\(n12 has 40 spikes, and 100 are needed\\)")
  expect_match(text, "Hidden common input")
  expect_match(said(summary(x, n = 1)), "And 4 more")
  expect_false(grepl("\\b(NA|NULL|NaN)\\b", text))
  # Numbers as names are called units, and one sign alone is said so.
  columns <- as.data.frame(x)[1, ]
  expect_match(connection_sentence(transform(columns, from = "3", to = "7")),
               "^Unit 3 excites unit 7 2 ms later")
  expect_identical(signs_text(c(1, 1)), "all excitatory")
  expect_identical(signs_text(-1), "inhibitory")
})

test_that("none is not absent, and bursts are not judged", {
  none <- made_synapses(rows = integer())
  text <- said(none)
  expect_match(text, "# 0 connections among 11 of 12 units")
  expect_match(text, "No connection is supported among 110 ordered pairs")
  expect_match(text, "Pairs that are not listed may be connected")
  text <- said(summary(made_synapses(rows = integer(), judged = FALSE)))
  expect_match(text, "in which this cannot be told")
  expect_match(text, "Bursts: 74 % of the spikes")
  # No strength is promised where nothing is judged.
  expect_no_match(text, "would have been found")
  expect_match(said(made_synapses()[0, ]), "None of these rows is a connection")
  untested <- none
  attr(untested, "tests") <- 0
  expect_match(said(untested), "No pair of units could be tested")
  attr(untested, "units") <- attr(none, "units")[1, ]
  expect_match(said(untested), "the recording has one")
})

test_that("the matrix has strengths, 0 for none and NA for not tested", {
  x <- made_synapses()
  m <- as.matrix(x)
  expect_identical(dimnames(m), dimnames(attr(x, "power")))
  expect_identical(m["n01", "n02"], 0.12)
  expect_identical(m["n06", "n07"], -0.022)
  expect_identical(sum(m != 0, na.rm = TRUE), 5L)
  expect_true(all(is.na(diag(m))) && all(is.na(m["n12", ])))
  # A pair that is explained by others is no connection.
  expect_identical(m["n01", "n03"], 0)
  expect_identical(sum(as.matrix(x[0, ]), na.rm = TRUE), 0)
})

test_that("the graph has all units, and connections as edges", {
  skip_if_not_installed("igraph")
  graph <- igraph::as.igraph(made_synapses(places = TRUE))
  expect_equal(igraph::vcount(graph), 12)
  edges <- igraph::as_data_frame(graph)
  expect_identical(edges$from, c("n01", "n02", "n05", "n06", "n03"))
  expect_equal(edges$sign, c(1, 1, 1, -1, -1))
  expect_true(all(c("x", "y", "rate", "tested") %in% igraph::vertex_attr_names(graph)))
  expect_false("x" %in% igraph::vertex_attr_names(igraph::as.igraph(made_synapses())))
  expect_equal(igraph::ecount(igraph::as.igraph(made_synapses()[0, ])), 0)
})

test_that("tidy() and glance() speak as broom does", {
  skip_if_not_installed("generics")
  x <- made_synapses()
  tidied <- generics::tidy(x)
  expect_identical(tidied$estimate, x$strength)
  expect_identical(tidied$conf.low, x$strength_low)
  expect_identical(tidied$adj.p.value, x$q_value)
  expect_identical(tidied$term, format(x))
  glanced <- as.data.frame(generics::glance(x))
  expect_identical(nrow(glanced), 1L)
  expect_equal(unlist(glanced[c("connections", "excitatory", "inhibitory", "explained", "refused")]),
               c(connections = 5, excitatory = 3, inhibitory = 2, explained = 1, refused = 1))
  expect_identical(as.data.frame(generics::glance(x[0, ]))$connections, 0L)
})

test_that("a result that was changed by other code is refused by name", {
  less <- changed_by_other_code(made_synapses(), "sign", NULL)
  for (of in list(print, summary, format, as.matrix)) {
    expect_error(of(less), "without its column `sign`", class = "synfire_error_argument")
  }
  expect_error(check_synapses(data.frame(a = 1), "connections"), "`connections` must be",
               class = "synfire_error_argument")
})
