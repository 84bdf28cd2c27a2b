# Two causal maps of the same series, as of one recording before and after.

#' Compare two causal maps of the same series
#'
#' What became of each link between two conditions, for example before and after a drug.
#' Differences are those of `b` less `a`: a positive one is a gain. Maps in files are read
#' in blocks, and nothing of the size of a map is kept.
#'
#' # What the test says
#' `summary()` tests for each group, by Wilcoxon's signed rank test, whether the mean rho of
#' its series changed: as causes, over their effects, and as effects, over their causes.
#' Each series counts once. P values are corrected by Holm's method over all of these.
#'
#' The test takes series as independent, and those of one recording are not: they share
#' what happened in it. A small p value says that the change of this pair of recordings is
#' common to the series of a group. It does not say that other animals or sessions show it:
#' for that compare several recordings, one number from each. Nor is a higher rho a stronger
#' influence: rho also depends on noise, on the length of recordings, and on E; give both
#' maps the same `E` and length.
#'
#' # Direct links
#' Of two tables that [direct_links()] returned for the same series, the result is a table with
#' a row for each link that is in one of them: `cause`, `effect`, `link_a` and `link_b` (its
#' kind, `"not tested"` where a table lacks it), `gain_a`, `gain_b`, and `change`: `"appeared"`,
#' `"vanished"`, `"kept"` (direct in both), `"cannot be told"` (direct in one, refused in the
#' other), `"never direct"`. A link may vanish because one recording is shorter or noisier, and
#' one that a table lacks counts as not direct there: give both calls of [direct_links()] the
#' same arguments. `plot()` draws what appeared, what vanished and what was kept.
#'
#' @param a,b Causal maps with the same libraries and the same targets, in any order; or two
#'   tables of direct links.
#' @param groups `NULL`, or a factor with the group of each series, in the order of `a` or
#'   named by series.
#' @param x,object A comparison.
#' @param n How many gains and losses.
#' @param type `"heatmap"`: differences of all pairs, as in [autoplot.causal_map()].
#'   `"scatter"`: rho of `b` against that of `a`; of more than 1,000 series those at even
#'   steps.
#' @param max_links Only so many pairs, those with the largest differences, up or down.
#' @param row.names Names for the rows of the table, or `NULL`.
#' @param optional Not used; R gives it to every method.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @return An object of class `causal_map_comparison`: list of `a`, `b`, `groups`, `labels`
#'   (what `a` and `b` were called) and `call`. `x[i, j]` is the matrix of differences.
#'
#' `as.data.frame()` gives a row for each pair of two series: `cause`, `effect`, `rho_a`,
#' `rho_b`, `difference`, and with groups `cause_group` and `effect_group`.
#'
#' `summary()` gives a list of class `summary.causal_map_comparison`: `overall`, named
#' numbers, of pairs that are known in both: `pairs`, means `rho_a`, `rho_b` and
#' `difference`, and `correlation` of the two; `gains` and `losses`, data frames as above;
#' `groups`, a row for each pair of groups: `cause`, `effect`, `pairs`, `rho_a`, `rho_b`,
#' `difference`; `tests`, a row for each group and `role` (`"cause"`, `"effect"`):
#' `series`, `rho_a`, `rho_b`, `difference`, means over series, `p_value` and `p_adjusted`.
#' @section Errors:
#' For maps of different series, and for `groups` that do not fit.
#' @references
#' Watanakeesuntorn W, Takahashi K, Ichikawa K, Park J, Sugihara G, Takano R, Haga J,
#' Pao GM (2020). Massively parallel causal inference of whole brain dynamics at single
#' neuron resolution. *IEEE 26th International Conference on Parallel and Distributed
#' Systems*, 196-205. \doi{10.1109/ICPADS51040.2020.00035}
#' @seealso [causal_map()], [autoplot.causal_map()].
#' @examples
#' # x1 drives the others, and later x4 does
#' set.seed(1)
#' early <- late <- matrix(0, 6, 6, dimnames = rep(list(paste0("x", 1:6)), 2))
#' early["x1", 2:3] <- 0.15
#' late["x4", 5:6] <- 0.15
#' before <- causal_map(simulate_coupled_maps(300, wiring = early), E = 2, threads = 2)
#' after <- causal_map(simulate_coupled_maps(300, wiring = late), E = 2, threads = 2)
#' change <- compare_maps(before, after, groups = rep(c("front", "back"), each = 3))
#' summary(change)
#' if (rlang::is_installed("ggplot2")) plot(change, type = "scatter")
#' @export
compare_maps <- function(a, b, groups = NULL) {
  check_given(a = "a causal map of all pairs", b = "a causal map of all pairs")
  label <- \(expr, default) if (is.symbol(expr)) as.character(expr) else default
  labels <- c(label(substitute(a), "a"), label(substitute(b), "b"))
  if (inherits(a, "direct_links") && inherits(b, "direct_links")) {
    refuse_if(!is.null(groups), "groups", "left out for direct links", describe(groups))
    return(compare_direct_links(a, b, labels))
  }
  check_map(a, "a")
  check_map(b, "b")
  if (!setequal(rownames(a), rownames(b)) || !setequal(colnames(a), colnames(b))) {
    other <- c(setdiff(rownames(a), rownames(b)), setdiff(colnames(a), colnames(b)),
               setdiff(rownames(b), rownames(a)), setdiff(colnames(b), colnames(a)))[[1L]]
    abort_arg("b", "a map of the same libraries and targets as `a`",
              sprintf("different: only one of them has \"%s\" there", other))
  }
  structure(list(a = a, b = b, groups = check_groups(groups, map_series(a)), labels = labels,
                 call = match.call()), class = c("causal_map_comparison", "synfire_result"))
}

check_map <- function(x, arg) {
  if (!inherits(x, "causal_map")) {
    is <- if (inherits(x, "causal_links")) "a table of some links" else describe(x)
    abort_arg(arg, "a causal map of all pairs", is,
              if (inherits(x, "causal_links")) "Make it without `top` and `screen`.")
  }
  check_whole_map(x, arg)
}

#' Error unless a comparison still has its parts
#' @noRd
check_comparison <- function(x, arg = rlang::caller_arg(x)) {
  parts <- if (is.list(x)) unclass(x)
  fits <- inherits(parts$a, "causal_map") && inherits(parts$b, "causal_map") &&
    (is.null(parts$groups) || is.factor(parts$groups)) &&
    is.character(parts$labels) && length(parts$labels) == 2L
  refuse_if(!fits, arg, "as `compare_maps()` returned it", "one whose parts were changed",
            "Compare the maps again.")
  check_whole_map(parts$a, paste0(arg, "$a"))
  check_whole_map(parts$b, paste0(arg, "$b"))
}

# ---- Read as a map of differences ----------------------------------------------------

#' @export
dim.causal_map_comparison <- function(x) dim(x$a)

#' @export
dimnames.causal_map_comparison <- function(x) dimnames(x$a)

#' @export
map_layers.causal_map_comparison <- function(x) c("rho", "rho_a", "rho_b")

#' @export
map_blocks.causal_map_comparison <- function(x, f, layers = "rho") {
  row <- match(rownames(x$a), rownames(x$b))
  column <- match(colnames(x$a), colnames(x$b))
  map_blocks(x$a, function(rows, a) {
    b <- as.matrix(x$b[row[rows], column, drop = FALSE])
    values <- list(rho = b - a, rho_a = a, rho_b = b)
    do.call(f, c(list(rows), unname(values[layers])))
  })
}

#' @rdname compare_maps
#' @param i,j,drop Rows (libraries) and columns (targets), as in any matrix.
#' @export
`[.causal_map_comparison` <- function(x, i, j, drop = TRUE) {
  check_comparison(x)
  number <- function(index, names) {
    unname(rlang::set_names(seq_along(names), names)[index])
  }
  i <- if (missing(i)) seq_len(nrow(x)) else number(i, rownames(x))
  j <- if (missing(j)) seq_len(ncol(x)) else number(j, colnames(x))
  a <- as.matrix(x$a[i, j, drop = FALSE])
  b <- as.matrix(x$b[match(rownames(a), rownames(x$b)), match(colnames(a), colnames(x$b)),
                     drop = FALSE])
  (b - a)[, , drop = drop]
}

#' @rdname compare_maps
#' @export
as.data.frame.causal_map_comparison <- function(x, row.names = NULL, optional = FALSE, ...,
                                                max_links = Inf) {
  check_no_dots(but = frame_arguments)
  check_comparison(x)
  most <- check_count(max_links, infinite = TRUE)
  out <- difference_links(x, most, abs)
  if (!is.null(row.names)) row.names(out) <- row.names
  out
}

#' @param score By what the largest are found, a function of the difference.
#' @noRd
difference_links <- function(x, most, score) {
  links <- map_links(x, list(threshold = NULL, alpha = NULL, most = most), score = score)
  out <- plain_frame(cause = links$cause, effect = links$effect, rho_a = links$rho_a,
                     rho_b = links$rho_b, difference = links$rho)
  if (!is.null(x$groups)) {
    out$cause_group <- unname(x$groups[out$cause])
    out$effect_group <- unname(x$groups[out$effect])
  }
  out
}

# ---- In words ------------------------------------------------------------------------

#' @rdname compare_maps
#' @export
format.causal_map_comparison <- function(x, ...) {
  check_no_dots()
  check_comparison(x)
  c(sprintf("Two causal maps of %s x %s: %s less %s", counted(nrow(x), "library", "libraries"),
            counted(ncol(x), "target"), x$labels[[2L]], x$labels[[1L]]),
    if (!is.null(x$groups)) sprintf("In %s", counted(nlevels(x$groups), "group")))
}

#' @rdname compare_maps
#' @export
print.causal_map_comparison <- function(x, ...) {
  cat(format(x), "summary() and autoplot() tell what changed; as.data.frame() lists it.",
      sep = "\n")
  invisible(x)
}

#' @rdname compare_maps
#' @export
summary.causal_map_comparison <- function(object, n = 5, ...) {
  check_no_dots()
  check_comparison(object)
  n <- check_count(n)
  series <- map_series(object)
  groups <- object$groups %||% rlang::set_names(factor(rep("all", length(series))), series)
  sums <- comparison_sums(object, groups)
  gains <- difference_links(object, n, identity)
  losses <- difference_links(object, n, \(d) -d)
  structure(
    list(about = format(object), labels = object$labels, overall = sums$overall,
         gains = gains[gains$difference > 0, ], losses = losses[losses$difference < 0, ],
         groups = sums$groups, tests = comparison_tests(sums$series)),
    class = "summary.causal_map_comparison"
  )
}

#' Means of pairs known in both maps: overall, of pairs of groups, and of series
#' @noRd
comparison_sums <- function(x, groups) {
  by_row <- groups[rownames(x)]
  by_column <- groups[colnames(x)]
  cells <- array(0, c(nlevels(groups), nlevels(groups), 3L))  # [effect, cause, known a b]
  target <- matrix(0, ncol(x), 3L)
  moment <- double(3L)  # sums of a a, b b, a b
  self <- self_column(x)
  parts <- map_blocks(x, function(rows, a, b) {
    on <- which(!is.na(self[rows]))
    a[cbind(on, self[rows][on])] <- NA_real_
    known <- !is.na(a) & !is.na(b)
    a[!known] <- 0
    b[!known] <- 0
    values <- list(known + 0, a, b)
    moment <<- moment + c(sum(a * a), sum(b * b), sum(a * b))
    target <<- target + vapply(values, colSums, double(ncol(x)))
    at <- sort(unique(as.integer(by_row[rows])))
    for (k in 1:3) {
      sums <- rowsum(t(rowsum(values[[k]], as.integer(by_row[rows]))), as.integer(by_column))
      cells[at, as.integer(rownames(sums)), k] <<-
        cells[at, as.integer(rownames(sums)), k] + t(sums)
    }
    matrix(vapply(values, rowSums, double(length(rows))), ncol = 3L)
  }, c("rho_a", "rho_b"))
  means <- function(sums) {
    data.frame(rho_a = quotient(sums[, 2L], sums[, 1L]), rho_b = quotient(sums[, 3L], sums[, 1L]))
  }
  one <- function(sums, names, role) {
    cbind(data.frame(series = names, group = groups[names], role = role), means(sums))
  }
  flat <- matrix(cells, ncol = 3L)
  labels <- levels(groups)
  list(
    overall = comparison_overall(colSums(flat), moment),
    groups = with_difference(cbind(
      data.frame(cause = rep(labels, each = length(labels)), effect = rep(labels, length(labels)),
                 pairs = flat[, 1L]), means(flat)
    )),
    series = rbind(one(target, colnames(x), "cause"),
                   one(do.call(rbind, parts), rownames(x), "effect"))
  )
}

with_difference <- function(frame) {
  frame$difference <- frame$rho_b - frame$rho_a
  frame
}

comparison_overall <- function(total, moment) {
  n <- total[[1L]]
  mean <- quotient(total[2:3], n)
  spread <- quotient(moment, n) - c(mean^2, prod(mean))
  correlation <- if (n > 2 && all(spread[1:2] > 1e-14)) {
    spread[[3L]] / sqrt(spread[[1L]] * spread[[2L]])
  } else NA_real_
  c(pairs = n, rho_a = mean[[1L]], rho_b = mean[[2L]], difference = mean[[2L]] - mean[[1L]],
    correlation = correlation)
}

#' A paired test for each group and role, over series
#' @noRd
comparison_tests <- function(series) {
  series <- with_difference(series[!is.na(series$rho_a), ])
  parts <- split(series, list(series$group, factor(series$role, c("cause", "effect"))), drop = TRUE)
  out <- do.call(rbind, lapply(parts, \(part) {
    # Ties and zeros make the p value an approximation, of which there is nothing to say.
    p <- if (all(part$difference == 0)) 1 else
      suppressWarnings(stats::wilcox.test(part$difference)$p.value)
    data.frame(group = part$group[[1L]], role = part$role[[1L]], series = nrow(part),
               rho_a = mean(part$rho_a), rho_b = mean(part$rho_b),
               difference = mean(part$difference), p_value = p)
  }))
  if (is.null(out)) return(NULL)
  row.names(out) <- NULL
  out$p_adjusted <- stats::p.adjust(out$p_value, "holm")
  out
}

#' @rdname compare_maps
#' @export
print.summary.causal_map_comparison <- function(x, ...) {
  check_no_dots()
  cat(x$about, "", sep = "\n")
  overall <- x$overall
  if (overall[["pairs"]] == 0) {
    cat("No pair has a rho in both.\n")
    return(invisible(x))
  }
  cat(sprintf("Mean rho %.3f in a (%s), %.3f in b (%s), correlation of the two %s, %s\n",
              overall[["rho_a"]], x$labels[[1L]], overall[["rho_b"]], x$labels[[2L]],
              two(overall[["correlation"]]), counted(overall[["pairs"]], "pair")))
  print_part("Largest gains", x$gains)
  print_part("Largest losses", x$losses)
  if (nrow(x$groups) > 1L) {
    largest <- order(-abs(x$groups$difference), method = "radix")
    shown <- utils::head(x$groups[largest, ], 10L)
    print_part(if (nrow(shown) < nrow(x$groups)) "Groups that changed most" else "Groups", shown)
  }
  tests <- x$tests
  tests[c("p_value", "p_adjusted")] <- lapply(tests[c("p_value", "p_adjusted")], p_text)
  print_part("Groups as causes and as effects (Wilcoxon's signed rank test, Holm's correction)",
             tests)
  cat("", strwrap(paste(
    "The test takes series as independent, which those of one recording are not: it speaks of",
    "these recordings, not of other animals or sessions. See ?compare_maps."
  ), width = min(getOption("width"), 90L)), sep = "\n")
  invisible(x)
}

print_part <- function(title, frame) {
  if (NROW(frame) == 0L) return()
  cat("", title, sep = "\n")
  print_table(frame)
}

# ---- Two tables of direct links -------------------------------------------------------

#' What became of each link between two tables of direct links
#'
#' @return See compare_maps().
#' @noRd
compare_direct_links <- function(a, b, labels) {
  series <- attr(a, "series", exact = TRUE)
  refuse_if(!setequal(series, attr(b, "series", exact = TRUE)), "b",
            "direct links among the same series as `a`", "of other series")
  keys <- union(link_key(a), link_key(b))
  in_a <- match(keys, link_key(a))
  in_b <- match(keys, link_key(b))
  of <- \(name) ifelse(is.na(in_a), as.character(b[[name]])[in_b], as.character(a[[name]])[in_a])
  kind <- \(x, at) factor(ifelse(is.na(at), "not tested", as.character(x$link[at])),
                          c(direct_link_kinds, "not tested"))
  out <- list(cause = of("cause"), effect = of("effect"), link_a = kind(a, in_a),
              link_b = kind(b, in_b), gain_a = a$gain[in_a], gain_b = b$gain[in_b])
  direct_a <- out$link_a == "direct"
  direct_b <- out$link_b == "direct"
  change <- ifelse(direct_a, ifelse(direct_b, "kept", "vanished"),
                   ifelse(direct_b, "appeared", "never direct"))
  refused <- out$link_a == "refused" | out$link_b == "refused"
  out$change <- factor(ifelse(direct_a != direct_b & refused, "cannot be told", change),
                       c("appeared", "vanished", "kept", "cannot be told", "never direct"))
  order <- order(out$change, -pmax(out$gain_a, out$gain_b, na.rm = TRUE))
  new_table(lapply(out, `[`, order), "direct_links_comparison",
            list(series = series, labels = labels))
}

#' @rdname compare_maps
#' @export
print.direct_links_comparison <- function(x, n = 10, ...) {
  check_no_dots()
  n <- min(check_count(n, infinite = TRUE), nrow(x))
  labels <- attr(x, "labels", exact = TRUE)
  cat(sprintf("Direct links in %s (a) and %s (b), of %s\n", labels[[1L]], labels[[2L]],
              counted(length(attr(x, "series", exact = TRUE)), "series", "series")))
  changes <- table(x$change)
  cat(paste(commas(as.vector(changes)), names(changes), collapse = ", "), "", sep = "\n")
  print(round_numbers(first_rows(x, n)), row.names = FALSE)
  more_line(nrow(x) - n)
  invisible(x)
}

# ---- Pictures -------------------------------------------------------------------------

#' @rdname compare_maps
#' @exportS3Method ggplot2::autoplot
autoplot.causal_map_comparison <- function(object, type = c("heatmap", "scatter"), ...) {
  check_no_dots(draws = "causal maps")
  check_comparison(object)
  type <- check_choice(type)
  labels <- object$labels
  switch(type, scatter = plot_two_maps(object),
         heatmap = heat_map(object, object$groups, difference_fill, "Grey",
                            subtitle = sprintf("%s less %s", labels[[2L]], labels[[1L]])))
}

#' Blue for losses, red for gains, white for no change; the outermost 0.5 % share a colour
#' @param least The end of the scale is at least that.
#' @noRd
difference_fill <- function(difference, name = "Difference\n(rho)", least = 0.01) {
  difference <- difference[!is.na(difference)]
  nearly <- max(stats::quantile(abs(difference), 0.995, names = FALSE), least)
  most <- max(pretty(c(0, nearly), 4L))
  beyond <- max(abs(difference)) > most
  breaks <- most * c(-1, -0.5, 0, 0.5, 1)
  ggplot2::scale_fill_gradientn(
    name = name, limits = c(-most, most), breaks = breaks,
    colours = c("#06284A", "#0072B2", "#7FB8DA", "#FAFAFA", "#EBA97C", "#D55E00", "#6B2E00"),
    na.value = "#A3A8B0", oob = \(x, range = c(0, 1), ...) pmin(pmax(x, -most), most),
    labels = paste0(ifelse(breaks > 0, "+", ""), signif(breaks, 3),
                    ifelse(beyond & breaks == most, " or more", ""),
                    ifelse(beyond & breaks == -most, " or less", ""))
  )
}

plot_two_maps <- function(x, most = 1000L) {
  rows <- even_steps(nrow(x), most)
  columns <- even_steps(ncol(x), most)
  a <- as.matrix(x$a[rows, columns, drop = FALSE])
  b <- a + x[rows, columns, drop = FALSE]
  other <- outer(rownames(a), colnames(a), `!=`) & !is.na(a) & !is.na(b)
  if (!any(other)) return(no_rho_picture())
  pairs <- data.frame(a = a[other], b = b[other])
  limits <- range(pairs)
  ggplot2::ggplot(pairs, ggplot2::aes(x = .data$a, y = .data$b)) +
    pair_layers(nrow(pairs), limits) +
    ggplot2::geom_abline(slope = 1, intercept = 0, colour = syn_muted, linewidth = 0.4) +
    ggplot2::coord_fixed(xlim = limits, ylim = limits) +
    ggplot2::labs(x = sprintf("Skill in %s (rho)", x$labels[[1L]]),
                  y = sprintf("Skill in %s (rho)", x$labels[[2L]])) +
    theme_synfire() +
    caption("A pair above the line has gained.", if (max(dim(x)) > most) {
      sprintf("Pairs of %s series, at even steps.", commas(max(length(rows), length(columns))))
    })
}
