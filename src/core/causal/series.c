/* Prepares the series of a causal map: libraries are measured and targets standardised,
   both in single precision, and the random libraries are drawn. */
#include "core/causal/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/measure.h"
#include "core/base/parallel.h"
#include "core/base/random.h"

/* Series that are made ready, each by one step of a parallel loop. */
typedef struct preparation {
    const double *value;     /* [n][steps] */
    uint32_t steps;
    float *to;               /* [n][steps], of libraries */
    const syn_map_targets *targets;
    uint32_t first;          /* number of the first target */
    unsigned char *missing;  /* [n] whether there is any NaN */
} preparation;

/* ---- libraries ---- */

static syn_status measure_library(void *context, size_t i, int worker)
{
    const preparation *p = context;
    const double *value = p->value + i * p->steps;
    float *to = p->to + i * p->steps;
    double origin;
    syn_measure m = syn_measure_of(&value, 1, p->steps, &origin);
    /* Single precision is best near 0; a whole number keeps ties as they are. */
    double middle = nearbyint(origin * m.scale);
    int missing = 0;
    (void)worker;
    for (uint32_t t = 0; t < p->steps; t++) {
        double x = syn_measured(&m, origin, value[t]);
        to[t] = (float)(m.step > 0 ? x : x - middle);
        missing |= isnan(value[t]);
    }
    p->missing[i] = (unsigned char)missing;
    return SYN_OK;
}

/* Runs `body` for each of `n` series; `missing` becomes whether any has a NaN. */
static syn_status prepare(preparation *p, uint32_t n, int threads, syn_body *body,
                          int *missing)
{
    p->missing = malloc((size_t)n + 1);
    if (!p->missing)
        return SYN_NO_MEMORY;
    syn_status status = syn_parallel_for(n, threads, NULL, "", body, p);
    for (uint32_t i = 0; status == SYN_OK && i < n; i++)
        *missing |= p->missing[i];
    free(p->missing);
    return status;
}

/* Steps that are library points of E_max dimensions; `step` has room for all. */
static uint32_t whole_points(const syn_map_layout *layout, int32_t *step)
{
    uint32_t n = 0, run = 0;
    for (uint32_t p = 0; p < layout->places; p++) {
        run = layout->step[p] < 0 ? 0 : run + 1;
        if (run >= layout->E_max && layout->use[p] & SYN_MAP_LIBRARY)
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
    int32_t *all;
    SYN_ARRAY(&out->memory, all, 2 * steps);
    uint32_t n = whole_points(layout, all);
    if (options->lib_size >= n)
        return SYN_OK;
    SYN_ARRAY(&out->memory, out->drawn, (size_t)out->n * steps);
    for (uint32_t i = 0; i < out->n; i++) {
        int32_t *step = memcpy(all + steps, all, n * sizeof *all);
        draw(step, n, options->lib_size, options->key, first + i, out->drawn + i * steps);
    }
    return SYN_OK;
}

syn_status syn_map_libraries_make(uint32_t n, const double *value, uint64_t first,
                                  const syn_map_layout *layout,
                                  const syn_map_options *options, syn_map_libraries *out)
{
    uint32_t steps = layout->steps;
    *out = (syn_map_libraries){.n = n, .steps = steps};
    SYN_ARRAY(&out->memory, out->value, (size_t)n * steps);
    preparation p = {.value = value, .steps = steps, .to = out->value};
    syn_status status = prepare(&p, n, options->threads, measure_library, &out->missing);
    if (status == SYN_OK && options->lib_size > 0)
        status = draw_points(layout, first, options, out);
    return status;
}

void syn_map_libraries_free(syn_map_libraries *libraries)
{
    syn_give_back(&libraries->memory);
    *libraries = (syn_map_libraries){0};
}

/* ---- targets ---- */

/* Sorts targets by E, and says where each begins: tile after tile of an E or, for a GPU,
   by number. The length of all of them. */
static size_t place_targets(syn_map_targets *t, int on_gpu)
{
    size_t tiles = 0, size = (size_t)t->steps * SYN_MAP_TILE;
    uint32_t place = 0;
    for (uint32_t e = 1; e <= SYN_MAP_DIMS; e++) {
        uint32_t lane = 0;
        for (uint32_t i = 0; i < t->n; i++) {
            if (t->E[i] != e)
                continue;
            t->target[place++] = i;
            t->begin[i] = on_gpu ? (size_t)i * t->steps : tiles * size + lane;
            lane = (lane + 1) % SYN_MAP_TILE;
            tiles += lane == 0;
        }
        tiles += lane > 0;
        t->group[e] = place;
    }
    return on_gpu ? (size_t)t->n * t->steps : tiles * size;
}

syn_status syn_map_targets_make(uint32_t n, uint32_t steps, const uint32_t *E, int on_gpu,
                                syn_map_targets *out)
{
    *out = (syn_map_targets){
        .n = n, .steps = steps, .stride = on_gpu ? 1 : SYN_MAP_TILE};
    SYN_ARRAY(&out->memory, out->E, n);
    SYN_ARRAY(&out->memory, out->target, n);
    SYN_ARRAY(&out->memory, out->begin, n);
    memcpy(out->E, E, n * sizeof *E);
    SYN_ARRAY(&out->memory, out->value, place_targets(out, on_gpu));
    return SYN_OK;
}

/* The mean of the `n` values that are there; no sum of them overflows on the way. */
static double mean_of(const double *value, uint32_t steps, double *n)
{
    double mean = 0, count = 0;
    for (uint32_t t = 0; t < steps; t++)
        count += !isnan(value[t]);
    for (uint32_t t = 0; t < steps; t++)
        if (!isnan(value[t]))
            mean += value[t] / count;
    *n = count;
    return mean;
}

static syn_status standardise(void *context, size_t i, int worker)
{
    const preparation *p = context;
    const double *value = p->value + i * p->steps;
    const syn_map_targets *t = p->targets;
    float *to = t->value + t->begin[p->first + i];
    double n, mean = mean_of(value, p->steps, &n);
    double sum = 0, low = INFINITY, high = -INFINITY;
    (void)worker;
    for (uint32_t s = 0; s < p->steps; s++) {
        if (isnan(value[s]))
            continue;
        low = value[s] < low ? value[s] : low;
        high = value[s] > high ? value[s] : high;
        sum += (value[s] - mean) * (value[s] - mean);
    }
    double deviation = high > low && sum > 0 ? sqrt(sum / n) : INFINITY;
    for (uint32_t s = 0; s < p->steps; s++)
        to[(size_t)s * t->stride] = (float)((value[s] - mean) / deviation);
    p->missing[i] = n < p->steps;
    return SYN_OK;
}

syn_status syn_map_targets_fill(syn_map_targets *targets, uint32_t first, uint32_t n,
                                const double *value, int threads)
{
    preparation p = {
        .value = value, .steps = targets->steps, .targets = targets, .first = first};
    return prepare(&p, n, threads, standardise, &targets->missing);
}

void syn_map_targets_free(syn_map_targets *targets)
{
    syn_give_back(&targets->memory);
    *targets = (syn_map_targets){0};
}
