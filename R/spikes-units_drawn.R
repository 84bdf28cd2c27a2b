# Which units a picture shows, and in which order or at which place, by the table of units.

#' Area of each unit, a factor named by unit, or NULL where the table of units has none
#' @noRd
unit_areas <- function(x) {
  table <- attr(x, "unit_table", exact = TRUE)
  at <- match(c("area", "brain_area", "region", "structure", "location"), tolower(names(table)))
  at <- at[!is.na(at)]
  if (length(at) == 0L) return(NULL)
  area <- as.character(table[[at[[1L]]]])
  known <- !is.na(area) & nzchar(area)
  if (!any(known)) return(NULL)
  area[!known] <- "not known"
  rlang::set_names(factor(area, unique(c(sort(area[known], method = "radix"), "not known"))) |>
                     droplevels(), as.character(table$unit))
}

#' Positions of all units, a matrix of `x` and `y` with units as row names, or NULL
#' @noRd
unit_places <- function(x) {
  table <- attr(x, "unit_table", exact = TRUE)
  at <- match(c("x", "y"), tolower(names(table)))
  if (anyNA(at)) return(NULL)
  if (!is_plain_numeric(table[[at[[1L]]]]) || !is_plain_numeric(table[[at[[2L]]]])) return(NULL)
  place <- cbind(x = as.double(table[[at[[1L]]]]), y = as.double(table[[at[[2L]]]]))
  rownames(place) <- as.character(table$unit)
  if (all(is.finite(place)) && nrow(place) > 0L) place
}

#' Units by area, then depth, then position, then as they are numbered
#' @noRd
units_in_place <- function(x) {
  units <- levels(.subset2(x, "unit"))
  keys <- place_keys(x)
  if (length(keys) == 0L) return(units)
  units[do.call(order, c(unname(lapply(keys, unname)), list(method = "radix")))]
}

#' What is known about where units are: a list of vectors, the most important first
#' @noRd
place_keys <- function(x) {
  table <- attr(x, "unit_table", exact = TRUE)
  depth <- match("depth", tolower(names(table)))
  place <- unit_places(x)
  keys <- list(unit_areas(x), if (!is.na(depth)) table[[depth]], place[, "y"], place[, "x"])
  keys[vapply(keys, \(key) length(key) == nlevels(.subset2(x, "unit")), NA)]
}

#' Error where units are to stand by their place, and nothing says where they are
#' @noRd
check_order_place <- function(x, order) {
  refuse_if(order == "place" && length(place_keys(x)) == 0L, "order",
            "\"levels\" or \"rate\" for units whose place is not known", "\"place\"",
            paste("Give the table of units a column `area` or `depth`, or `x` and `y` with a",
                  "number for every unit, see `unit_table()`."))
}

#' Group of each unit, by a column of the table of units: a factor, or NULL for no column
#' @noRd
unit_groups <- function(x, by, most = 20L) {
  if (is.null(by)) return(NULL)
  table <- attr(x, "unit_table", exact = TRUE)
  refuse_if(is.null(table), "by", "NULL for a recording without a table of units", describe(by),
            "Give it one with `unit_table(x) <- `.")
  by <- check_string(by, "by")
  refuse_if(!by %in% names(table), "by", "the name of a column of the table of units",
            describe(by), sprintf("The columns are %s.", some(names(table), 20L)))
  value <- table[[by]]
  wanted <- sprintf("a column with one value for each unit, and at most %d different ones", most)
  refuse_if(!is.atomic(value) || !is.null(dim(value)), "by", wanted,
            sprintf("\"%s\", with several for a unit", by))
  groups <- value_factor(value)
  refuse_if(nlevels(groups) > most, "by", wanted,
            sprintf("\"%s\", with %s", by, commas(nlevels(groups))),
            "To sort units by depth or position, use `order = \"place\"`.")
  groups
}

#' Values as a factor in their natural order; missing ones are "not known", the last
#' @noRd
value_factor <- function(value) {
  text <- as.character(value)
  known <- !is.na(text) & !is.na(value) & nzchar(text)
  values <- if (is.factor(value)) intersect(levels(value), text[known]) else unique(text[known])
  if (is.numeric(value)) values <- values[order(value[match(values, text)])]
  if (is.character(value)) values <- values[natural_order(values)]
  text[!known] <- "not known"
  factor(text, unique(c(values, if (!all(known)) "not known")))
}

#' The units of what was found and a sample of the others, at even steps
#'
#' @param first Units that are shown in any case.
#' @param others How many others; NULL for all of a few, and some of many.
#' @noRd
drawn_units <- function(x, first, others) {
  rest <- setdiff(units_in_place(x), first)
  if (is.null(others)) others <- if (length(rest) + length(first) <= 100L) Inf else 40
  c(first, rest[even_steps(length(rest), others)])
}

#' The recording with the units that are drawn, in the order in which they stand
#' @noRd
keep_drawn <- function(x, first, others, order) {
  units <- drawn_units(x, first, others)
  known <- levels(.subset2(x, "unit"))
  if (order != "episodes") units <- known[known %in% units]
  if (identical(units, known) || length(units) == 0L) x else keep_units(x, rlang::quo(units))
}

#' "Unit (1,152; 9 of the episodes, named, and 40 others)"
#' @noRd
units_title <- function(all, drawn, named, what) {
  if (drawn < all) sprintf("Unit (%s of the %s and %s of %s others)", commas(named), what,
                           commas(drawn - named), commas(all - named)) else
    if (named == drawn) "Unit" else
      sprintf("Unit (%s, those of the %s named)", commas(drawn), what)
}

# Panels of units side by side, as far as they can be read.
most_panels <- 12L

#' Names of the units to draw a panel of: those that were chosen, else the busiest
#' @param spikes Number of spikes of each of `units`.
#' @param usual How many of the busiest, where none was chosen.
#' @noRd
panel_units <- function(chosen, units, spikes, usual, most = most_panels,
                        arg = rlang::caller_arg(chosen)) {
  force(arg)
  if (is.null(chosen)) {
    busy <- order(-spikes)
    return(units[sort(busy[seq_len(min(usual, length(units)))])])
  }
  at <- chosen_units(chosen, units, arg)
  refuse_if(length(at) > most, arg, sprintf("at most %d units", most), commas(length(at)))
  units[at]
}

#' An axis with a row, or a column, for each unit, of which some have their names
#' @noRd
unit_axis <- function(units, what = "Unit", scale = ggplot2::scale_y_continuous) {
  n <- length(units)
  named <- thin(n, 40L)
  name <- if (n == length(named)) what else sprintf("%s (%s, some named)", what, commas(n))
  across <- identical(scale, ggplot2::scale_x_continuous)
  text <- ggplot2::element_text(size = if (n > 25L) 6 else 8)
  ends <- c(0.5, n + 0.5)
  list(scale(name = name, breaks = named, labels = short_names(units)[named],
             expand = ggplot2::expansion(add = min(0.6, 0.05 * n))),
       if (across) ggplot2::expand_limits(x = ends) else ggplot2::expand_limits(y = ends),
       if (across) ggplot2::theme(axis.text.x = text) else ggplot2::theme(axis.text.y = text))
}
