/* Causal maps: dimensions and cross maps on one thread and on four. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/causal/map.h"

enum { SERIES = 12, STEPS = 150, E_MAX = 4 };

static void check_map(const double *value, syn_map_options options)
{
    static float dimensions[2][SERIES * E_MAX], rho[2][SERIES * SERIES];
    uint32_t E[SERIES];
    for (uint32_t i = 0; i < SERIES; i++)
        E[i] = 1 + i % E_MAX;
    for (int k = 0; k < 2; k++) {
        options.threads = k ? TEST_THREADS : 1;
        syn_map_layout layout;
        syn_map_libraries libraries;
        syn_map_targets targets;
        CHECK(syn_map_layout_make(STEPS, &options, 0, &layout) == SYN_OK);
        CHECK(syn_map_libraries_make(SERIES, value, 0, &layout, &options, &libraries) ==
              SYN_OK);
        CHECK(syn_map_targets_make(SERIES, STEPS, E, 0, &targets) == SYN_OK);
        CHECK(syn_map_targets_fill(&targets, 0, SERIES, value, options.threads) ==
              SYN_OK);
        CHECK(syn_map_dimensions(&libraries, &layout, &options, NULL, dimensions[k]) ==
              SYN_OK);
        CHECK(syn_map_cross(&targets, &libraries, &layout, &options, NULL, rho[k]) ==
              SYN_OK);
        syn_map_targets_free(&targets);
        syn_map_libraries_free(&libraries);
        syn_map_layout_free(&layout);
    }
    CHECK(memcmp(dimensions[0], dimensions[1], sizeof dimensions[0]) == 0);
    CHECK(memcmp(rho[0], rho[1], sizeof rho[0]) == 0);
}

void test_causal_map(void)
{
    static double value[SERIES * STEPS];
    for (int i = 0; i < SERIES; i++) {
        double x = 0.2 + 0.6 * draw_share();
        for (int t = 0; t < STEPS; t++) {
            x = 3.7 * x * (1 - x);
            value[i * STEPS + t] = x;
        }
    }
    for (int t = 40; t < 60; t++)
        value[t] = NAN;
    syn_map_options options = {.E_max = E_MAX, .tau = -1, .stride = 11, .screen = NAN};
    check_map(value, options);
    options.exclusion = 4;
    options.tau = 2;
    options.lib_size = 50;
    check_map(value, options);
}
