# The embedding dimension of each of many series: phase 1 of a causal map on its own.

#' @rdname embed_dimension
#' @export
embed_dimension.default <- function(x, E_max = 20, tau = -1, Tp = 1,
                                    validation = c("loo", "split"), exclusion_radius = 0,
                                    dataset = NULL, device = c("cpu", "gpu", "auto"),
                                    gpus = NULL, threads = NULL, max_memory = 4e9, ...) {
  check_no_dots()
  source <- map_source(x, dataset)
  check_extent(source)
  rule <- map_rule(E_max = check_count(E_max, max = map_dimensions_most),
                   tau = check_map_tau(tau), Tp = edm_shift(Tp, "Tp"),
                   exclusion = edm_exclusion(exclusion_radius), threads = check_threads(threads),
                   max_memory = check_memory(max_memory))
  check_gap(x, rule$tau, rule$Tp)
  task <- list(source = source, libraries = integer(), targets = seq_len(source$n), E = NULL,
               rule = rule)
  place <- map_place(check_choice(device), gpus, task)
  split <- check_choice(validation) == "split"
  skill <- map_dimensions(source, task$targets, rule, split, place)
  E <- first_maximum(skill)
  found <- data.frame(series = source$names, E = E,
                      rho = skill[cbind(E, seq_along(E))], stringsAsFactors = FALSE)
  dimnames(skill) <- list(NULL, source$names)
  attr(found, "skill") <- t(skill)
  found
}
