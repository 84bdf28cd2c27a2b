# What files of maps have to know of the two kinds of maps that they hold.

#' A kind of map
#'
#' @param kind `"causal_map"` or `"smap_map"`, the names of their functions and classes.
#' @return A list of `called`, its name in messages, and of functions: `layers(rule)`, names
#'   of what there is for each pair; `type(layer)`, the HDF5 type of these numbers;
#'   `parameters(task)`, what the map was made with; `map(task, libraries, keep, call)`, which
#'   maps some columns of the source to all targets and calls `keep` as map_libraries() does.
#' @noRd
map_kind <- function(kind) {
  switch(
    kind,
    causal_map = list(
      called = "causal map", layers = rule_layers, parameters = causal_parameters,
      # Computed in single precision.
      type = \(layer) if (layer == "lag") "H5T_STD_I32LE" else "H5T_IEEE_F32LE",
      map = \(task, libraries, keep, call) {
        map_libraries(task$source, libraries, task$targets, task$E, task$rule, task$place,
                      keep, call = call)
      }
    ),
    smap_map = list(
      called = "map of S-maps", layers = \(rule) smap_map_layers,
      parameters = smap_map_parameters, type = \(layer) "H5T_IEEE_F64LE",
      map = map_smap_libraries
    )
  )
}

#' What a map was made with, for its attribute `parameters`
#' @noRd
task_parameters <- function(task) map_kind(task$kind)$parameters(task)
