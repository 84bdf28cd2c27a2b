# Simplex projection on a GPU gives what it gives on the CPU: the same neighbours, and numbers
# that agree to within rounding. Libraries are small and large, as they are searched in
# different ways there.

# One column of what spikes and fields look like, some of it hard for a search.
draw_hard_series <- function(n) {
  x <- one_of(rnorm(n), cumsum(rnorm(n)), rpois(n, 0.2) + 0, sin(seq_len(n) / whole(3, 40)),
              rep(one_of(0, 0.1, -7), n), rnorm(n) * (runif(n) < 0.05),
              rep_len(rnorm(whole(2, 300)), n), sample(0:9, n, TRUE) / 10,
              seq_len(n) + rnorm(n), rep_len(rep(rnorm(9), each = 60), n))
  x <- x * one_of(1, 1, 1e-90, 1e90, 0.3) + one_of(0, 0, 1e6)
  if (sometimes(0.2)) x[sample(n, min(n, 5))] <- NA
  x
}

# The call on both devices; `numbers` gets what is compared of a result.
on_both_nearly <- function(name, args, world, numbers) {
  gpus <- draw_gpus(world)
  gpu <- attempt(name, c(args, list(device = "gpu", gpus = gpus)))
  if (!world$gpu) {
    if (!inherits(gpu, c("synfire_error_device", "synfire_error_argument"))) {
      finding(sprintf("%s() with device = \"gpu\" goes on without a GPU", name))
    }
    return(invisible())
  }
  cpu <- attempt(name, c(args, list(device = "cpu")))
  what <- sprintf("%s() on a GPU and the CPU", name)
  if (refused(cpu) || refused(gpu)) return(same(gpu, cpu, what))
  for (part in names(numbers(cpu))) {
    same(numbers(gpu)[[part]], numbers(cpu)[[part]], paste0(what, ", ", part),
         tolerance = 1e-9)
  }
}

forecast_numbers <- function(found) {
  size <- size_of(found$Observations, found$Predictions)
  list(predictions = found$Predictions / size, variance = found$Pred_Variance / size^2)
}

fuzz_subject("edm-gpu", limit = 90, covers = list(
  simplex = c("device", "gpus"), embed_dimension.data.frame = c("device", "gpus"),
  predict_interval = c("device", "gpus"), predict_exclusion_radius = c("device", "gpus"),
  multiview = c("device", "gpus")
), run = function(world) {
  n <- one_of(whole(5, 60), whole(100, 900), if (world$gpu) whole(4100, 9000) else 40)
  x <- data.frame(time = seq_len(n), a = draw_hard_series(n), b = draw_hard_series(n),
                  c = draw_hard_series(n))
  common <- c(list(x = x, columns = "a"), some_args(
    target = "b", exclusion_radius = one_of(1, 9, n %/% 3), tau = one_of(-2, 1, 3),
    lib = c(1, n %/% 2), pred = sort(sample.int(n, 2)), p = 0.3
  ))
  E <- one_of(whole(1, 5), whole(1, 30))
  knn <- some_args(knn = one_of(whole(1, 9), whole(1, 200)), p = 0.3)
  switch(
    one_of("simplex", "dimension", "interval", "radius", "views"),
    simplex = on_both_nearly("simplex", c(common, list(E = E, Tp = whole(-2, 3)), knn),
                             world, forecast_numbers),
    dimension = on_both_nearly("embed_dimension", c(common, list(E_max = whole(1, 9))),
                               world, \(found) found["rho"]),
    interval = on_both_nearly("predict_interval", c(common, list(E = E, Tp_max = 3), knn),
                              world, \(found) found["rho"]),
    radius = {
      common$exclusion_radius <- c(0, whole(1, n))
      on_both_nearly("predict_exclusion_radius", c(common, list(E = E), knn), world,
                     \(found) found["rho"])
    },
    views = {
      common$columns <- c("a", "b", "c")
      common$x <- utils::head(x, 900)
      common[c("lib", "pred")] <- NULL
      on_both_nearly("multiview", c(common, list(D = whole(1, 3), E = whole(1, 2)), knn),
                     world, \(found) c(found$view["rho_rank"], forecast_numbers(
                       cbind(as.data.frame(found$predictions), Pred_Variance = 0))))
    }
  )
})
