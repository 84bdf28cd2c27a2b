#include "core/causal_map.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"

/* ---- libraries ---- */

/* A series in round numbers: `centre` is a small multiple of 2^exponent, which is about
   as large as the values lie from their mean. */
typedef struct scale {
    double centre;
    int exponent;
} scale;

static scale scale_of(const double *value, uint32_t steps)
{
    double mean = 0, off = 0, n = 0;
    for (uint32_t t = 0; t < steps; t++)
        if (!isnan(value[t]))
            mean += (value[t] - mean) / ++n;
    for (uint32_t t = 0; t < steps; t++)
        if (!isnan(value[t]))
            off += fabs(value[t] - mean) / n;
    scale s = {mean, 0};
    if (!(off > 0 && off <= DBL_MAX))
        return s;
    frexp(off, &s.exponent);
    s.centre = ldexp(nearbyint(ldexp(mean, -s.exponent)), s.exponent);
    return s;
}

static void scale_library(const double *value, syn_map_libraries *out, uint32_t i)
{
    scale s = scale_of(value, out->steps);
    float *to = out->value + (size_t)i * out->steps;
    double least = ldexp(1e-6, -s.exponent);
    for (uint32_t t = 0; t < out->steps; t++) {
        to[t] = (float)ldexp(value[t] - s.centre, -s.exponent);
        out->missing |= isnan(value[t]);
    }
    out->floor[i] = least < FLT_MIN ? FLT_MIN : (float)least;
}

/* Steps that are library points of E_max dimensions; `step` has room for all. */
static uint32_t whole_points(const syn_map_layout *layout, int32_t *step)
{
    uint32_t n = 0, run = 0;
    for (uint32_t p = 0; p < layout->places; p++) {
        run = layout->step[p] < 0 ? 0 : run + 1;
        if (run > layout->lead && layout->use[p] & SYN_MAP_LIBRARY)
            step[n++] = layout->step[p];
    }
    return n;
}

/* The first `size` of a shuffle of the n steps. */
static void draw(int32_t *step, uint32_t n, uint32_t size, uint64_t key, uint64_t stream,
                 unsigned char *drawn)
{
    syn_random rng;
    syn_random_start(&rng, key, stream);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t at = i + (uint32_t)syn_random_below(&rng, n - i);
        int32_t one = step[at];
        step[at] = step[i];
        step[i] = one;
        drawn[one] = 1;
    }
}

static syn_status draw_points(const syn_map_layout *layout, uint64_t first,
                              const syn_map_options *options, syn_map_libraries *out)
{
    size_t steps = out->steps;
    int32_t *all = malloc(2 * steps * sizeof *all + 1), *step = all + steps;
    uint32_t n = all ? whole_points(layout, all) : 0;
    if (all && options->lib_size < n)
        out->drawn = calloc((size_t)out->n * steps + 1, 1);
    syn_status status =
        all && (out->drawn || options->lib_size >= n) ? SYN_OK : SYN_NO_MEMORY;
    for (uint32_t i = 0; out->drawn && i < out->n; i++) {
        memcpy(step, all, n * sizeof *all);
        draw(step, n, options->lib_size, options->key, first + i, out->drawn + i * steps);
    }
    free(all);
    return status;
}

syn_status syn_map_libraries_make(uint32_t n, const double *value, uint64_t first,
                                  const syn_map_layout *layout,
                                  const syn_map_options *options, syn_map_libraries *out)
{
    uint32_t steps = layout->steps;
    *out = (syn_map_libraries){.n = n, .steps = steps};
    out->value = malloc((size_t)n * steps * sizeof *out->value + 1);
    out->floor = malloc(n * sizeof *out->floor + 1);
    if (!out->value || !out->floor)
        return SYN_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        scale_library(value + (size_t)i * steps, out, i);
    return options->lib_size > 0 ? draw_points(layout, first, options, out) : SYN_OK;
}

void syn_map_libraries_free(syn_map_libraries *libraries)
{
    free(libraries->value);
    free(libraries->floor);
    free(libraries->drawn);
    *libraries = (syn_map_libraries){0};
}

/* ---- targets ---- */

syn_status syn_map_targets_make(uint32_t n, uint32_t steps, const uint32_t *E,
                                syn_map_targets *out)
{
    *out = (syn_map_targets){.n = n, .steps = steps};
    out->value = malloc((size_t)n * steps * sizeof *out->value + 1);
    out->E = malloc(n * sizeof *out->E + 1);
    out->target = malloc(n * sizeof *out->target + 1);
    if (!out->value || !out->E || !out->target)
        return SYN_NO_MEMORY;
    uint32_t place = 0;
    for (uint32_t e = 1; e <= SYN_MAP_DIMS; e++) {
        for (uint32_t i = 0; i < n; i++)
            if (E[i] == e)
                out->target[place++] = i;
        out->group[e] = place;
    }
    memcpy(out->E, E, n * sizeof *E);
    return SYN_OK;
}

/* Returns whether there is any NaN. */
static int standardise(const double *value, uint32_t steps, float *to)
{
    double mean = 0, sum = 0, low = INFINITY, high = -INFINITY, n = 0;
    for (uint32_t t = 0; t < steps; t++) {
        if (isnan(value[t]))
            continue;
        mean += (value[t] - mean) / ++n;
        low = value[t] < low ? value[t] : low;
        high = value[t] > high ? value[t] : high;
    }
    for (uint32_t t = 0; t < steps; t++)
        if (!isnan(value[t]))
            sum += (value[t] - mean) * (value[t] - mean);
    double deviation = high > low && sum > 0 ? sqrt(sum / n) : INFINITY;
    for (uint32_t t = 0; t < steps; t++)
        to[t] = (float)((value[t] - mean) / deviation);
    return n < steps;
}

void syn_map_targets_fill(syn_map_targets *targets, uint32_t first, uint32_t n,
                          const double *value)
{
    size_t steps = targets->steps;
    for (size_t i = 0; i < n; i++)
        targets->missing |= standardise(value + i * steps, targets->steps,
                                        targets->value + (first + i) * steps);
}

void syn_map_targets_free(syn_map_targets *targets)
{
    free(targets->value);
    free(targets->E);
    free(targets->target);
    *targets = (syn_map_targets){0};
}
