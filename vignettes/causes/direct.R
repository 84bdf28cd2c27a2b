# How often direct_links() is wrong: systems of three series, and the pairs of wirings.R.
#
#   Rscript vignettes/causes/direct.R [runs] [cores]
#
# writes direct-systems.csv (a row for each wiring, family and noise) and direct-pairs.csv (a row
# for each kind of pair) beside this file. The systems have 1,000 steps; x is the first series, y
# the second and z the third. Partial cross mapping (Leng et al. 2020) is asked about the same
# links: x is read from y, and from what y says about z; a link is as direct as the partial
# correlation of x with the first given the second.
library(synfire)
here <- "vignettes/causes"
source(file.path(here, "wirings.R"))
arguments <- as.integer(commandArgs(TRUE))
runs <- if (length(arguments) > 0L) arguments[[1L]] else 20L
cores <- if (length(arguments) > 1L) arguments[[2L]] else 1L
threshold <- 0.1

systems <- list(
  chain = link_table(c(1L, 3L), c(3L, 2L)),
  "common driver" = link_table(c(3L, 3L), 1:2),
  "common driver, later" = link_table(c(3L, 3L), 1:2, 1:2),
  loop = link_table(c(1L, 3L, 2L), c(3L, 2L, 3L)),
  triangle = link_table(c(1L, 3L, 1L), c(3L, 2L, 2L)),
  lagged = link_table(c(1L, 3L), c(3L, 2L), c(2L, 3L)),
  "both ways" = link_table(c(1L, 2L, 3L), c(2L, 1L, 2L))
)

three_series <- function(wiring, family, noise, steps = 1000L) {
  x <- chaotic(\() run_system(3L, systems[[wiring]], steps, family))
  x <- seen_with_noise(x, noise)
  colnames(x) <- c("x", "y", "z")
  x
}

# ---- Partial cross mapping -----------------------------------------------------------

# What the delay vectors of `library` say about `target`, at the best of four lags, at the steps
# of the target.
read_from <- function(library, target, E = 3L) {
  data <- data.frame(time = seq_along(target), library, target)
  of_lag <- lapply(0:3, \(lag) {
    out <- simplex(data, columns = "library", target = "target", E = E, Tp = -lag,
                   threads = 1)
    out$Predictions[match(seq_along(target), out$time)]
  })
  of_lag[[which.max(vapply(of_lag, cor, 0, target, use = "complete.obs"))]]
}

partial_skill <- function(x, cause, effect, third) {
  read <- read_from(x[, effect], x[, cause])
  shadow <- read_from(x[, effect], x[, third])
  again <- read_from(shadow, x[, cause])
  now <- x[, cause]
  known <- complete.cases(now, read, again)
  left <- \(v) residuals(lm(v[known] ~ again[known]))
  if (sum(known) < 10L) return(0)
  cor(left(now), left(read))
}

# ---- Runs ----------------------------------------------------------------------------

any_link <- function(map) any(map[row(map) != col(map)] >= threshold, na.rm = TRUE)

one_system <- function(seed, wiring, family, noise) {
  set.seed(seed)
  x <- three_series(wiring, family, noise)
  map <- causal_map(x, E_max = 6, threads = 1)
  # No link is as high as the threshold: nothing is said.
  if (!any_link(map)) return(NULL)
  links <- as.data.frame(direct_links(map, x, threshold = threshold, threads = 1))
  true <- systems[[wiring]]
  links$true <- paste(links$cause, links$effect) %in%
    paste(colnames(x)[true$from], colnames(x)[true$to])
  links$partial <- mapply(\(cause, effect) {
    partial_skill(x, cause, effect, setdiff(colnames(x), c(cause, effect)))
  }, links$cause, links$effect)
  cbind(wiring, family, noise, links[c("cause", "effect", "rho", "link", "t", "true", "partial")])
}

one_pair <- function(seed, kind) {
  set.seed(seed)
  pair <- draw_pair(kind)
  x <- as.matrix(pair$data[c("x", "y")])
  map <- causal_map(x, E_max = 6, threads = 1)
  if (!any_link(map)) return(NULL)
  links <- as.data.frame(direct_links(map, x, threshold = threshold, threads = 1))
  links$true <- pair$truth[ifelse(links$cause == "x", "xy", "yx")]
  cbind(kind, links[c("link", "true")])
}

# Area under the ROC curve.
area <- function(score, true) {
  rank <- rank(score)
  (sum(rank[true]) - sum(true) * (sum(true) + 1) / 2) / (sum(true) * sum(!true))
}

in_parallel <- function(cases, f) {
  do.call(rbind, parallel::mclapply(seq_len(nrow(cases)), \(k) {
    do.call(f, c(list(1e6 + k), as.list(cases[k, , drop = FALSE])))
  }, mc.cores = cores))
}

cases <- expand.grid(run = seq_len(runs), wiring = names(systems), family = names(families),
                     noise = c(0, 0.02, 0.1), stringsAsFactors = FALSE)
found <- in_parallel(cases[-1L], one_system)
by <- split(found, found[c("wiring", "noise")], drop = TRUE)
table <- do.call(rbind, lapply(by, \(one) {
  direct <- one$link == "direct"
  # Partial cross mapping at the bound at which it finds 95 % of all direct links.
  one$partial[is.na(one$partial)] <- 0
  bound <- quantile(one$partial[one$true], 0.05)
  data.frame(
    wiring = one$wiring[[1L]], noise = one$noise[[1L]], systems = 3L * runs, steps = 1000L,
    direct = sum(one$true), found = round(100 * mean(direct[one$true]), 1),
    indirect = sum(!one$true), called_direct = round(100 * mean(direct[!one$true]), 1),
    area = round(area(ifelse(is.na(one$t), -Inf, one$t), one$true), 3),
    area_rho = round(area(one$rho, one$true), 3),
    area_partial = round(area(one$partial, one$true), 3),
    partial_called_direct = round(100 * mean(one$partial[!one$true] >= bound), 1)
  )
}))
table <- table[order(match(table$wiring, names(systems)), table$noise), ]
write.csv(table, file.path(here, "direct-systems.csv"), row.names = FALSE)
print(table, row.names = FALSE)

kinds <- expand.grid(run = seq_len(runs), kind = c(wiring_kinds, "weak chain"),
                     stringsAsFactors = FALSE)
pairs <- in_parallel(kinds[-1L], one_pair)
share <- \(of, among) if (any(among)) round(100 * mean(of[among]), 1) else NA
pair_table <- do.call(rbind, lapply(unique(kinds$kind), \(kind) {
  one <- pairs[pairs$kind == kind, ]
  data.frame(kind = kind, pairs = runs, links = nrow(one), without = sum(!one$true),
             called_direct = share(one$link == "direct", !one$true), with = sum(one$true),
             found = share(one$link == "direct", one$true),
             refused = share(one$link == "refused", rep(TRUE, nrow(one))))
}))
write.csv(pair_table, file.path(here, "direct-pairs.csv"), row.names = FALSE)
print(pair_table, row.names = FALSE)
