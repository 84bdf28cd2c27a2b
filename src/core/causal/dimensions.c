/* Finds the dimension in which each series predicts itself best. The neighbours for
   all dimensions are found together, row by row, and the correlations of predictions
   and observations are computed for each dimension. */
#include "core/causal/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/causal/search.h"
#include "core/base/parallel.h"

enum { CHUNK = 32 };  /* rows whose neighbours are kept */

/* Predictions in one E and what was observed. */
typedef struct skill {
    double n, p, pp, y, yy, py;
} skill;

/* A library that a worker is busy with. */
typedef struct worker {
    syn_map_search search;
    syn_map_table table;         /* of CHUNK rows */
    uint32_t row;                /* the next one; 0 before the first */
    skill skill[SYN_MAP_DIMS];
} worker;

typedef struct sweep {
    const syn_map_libraries *libraries;
    const syn_map_options *options;
    const syn_map_kind *kind;
    syn_map_rows rows;
    worker *worker;              /* [threads] */
    int threads;
    float *rho;
} sweep;

static void add_pair(skill *s, double p, double y)
{
    s->n++;
    s->p += p;
    s->pp += p * p;
    s->y += y;
    s->yy += y * y;
    s->py += p * y;
}

/* As in core/causal/cross.c: libraries are scaled to a deviation of about 1. */
static float correlation(const skill *s)
{
    double p = s->pp - s->p * s->p / s->n, y = s->yy - s->y * s->y / s->n;
    if (!(s->n >= 3 && p > SYN_MAP_ROUNDING * fmax(s->pp, s->n) &&
          y > SYN_MAP_ROUNDING * fmax(s->yy, s->n)))
        return NAN;
    double rho = (s->py - s->p * s->y / s->n) / sqrt(p * y);
    return (float)(rho > 1 ? 1 : rho < -1 ? -1 : rho);
}

static void predict_rows(worker *w, uint32_t e, const float *value)
{
    uint32_t k = e + 2;
    const syn_map_neighbour *near = w->table.of[e];
    for (uint32_t row = 0; row < w->table.rows; row++, near += k) {
        if (near->target == SYN_MAP_NOWHERE)
            continue;
        double estimate = 0, weights = 0, seen = value[w->table.observed[row]];
        for (uint32_t j = 0; j < k; j++) {
            estimate += (double)near[j].weight * value[near[j].target];
            weights += near[j].weight;
        }
        estimate /= weights;  /* 1 except for rounding */
        if (!isnan(estimate) && !isnan(seen))
            add_pair(&w->skill[e], estimate, seen);
    }
}

static void next_rows(const sweep *s, worker *w, const float *value)
{
    uint32_t left = s->rows.n - w->row;
    w->table.rows = left < CHUNK ? left : CHUNK;
    for (uint32_t i = 0; i < w->table.rows; i++)
        s->kind->neighbours(&w->search, s->rows.place[w->row + i], &w->table, i);
    for (uint32_t e = 0; e < s->options->E_max; e++)
        predict_rows(w, e, value);
    w->row += w->table.rows;
}

static void start(const sweep *s, worker *w, uint32_t i)
{
    syn_map_search_start(&w->search, s->libraries, i);
    memset(w->skill, 0, sizeof w->skill);
}

static syn_status sweep_library(void *context, size_t item, int number)
{
    sweep *s = context;
    worker *w = &s->worker[number];
    const float *value = s->libraries->value + item * s->libraries->steps;
    double until = syn_seconds() + SYN_SLICE_SECONDS;
    if (w->row == 0)
        start(s, w, (uint32_t)item);
    while (w->row < s->rows.n) {
        if (syn_seconds() > until)
            return SYN_UNFINISHED;
        next_rows(s, w, value);
    }
    for (uint32_t e = 0; e < s->options->E_max; e++)
        s->rho[item * s->options->E_max + e] = correlation(&w->skill[e]);
    w->row = 0;
    return SYN_OK;
}

static syn_status make_workers(sweep *s, const syn_map_layout *layout)
{
    unsigned char wanted[SYN_MAP_DIMS] = {0};
    memset(wanted, 1, s->options->E_max);
    s->worker = calloc((size_t)s->threads, sizeof *s->worker);
    syn_status status = s->worker ? SYN_OK : SYN_NO_MEMORY;
    for (int i = 0; i < s->threads && status == SYN_OK; i++) {
        worker *w = &s->worker[i];
        status = syn_map_search_make(layout, s->options, wanted, &w->search);
        if (status == SYN_OK)
            status = syn_map_table_make(wanted, CHUNK, &w->table);
    }
    return status;
}

static void free_workers(sweep *s)
{
    for (int i = 0; s->worker && i < s->threads; i++) {
        syn_map_search_free(&s->worker[i].search);
        syn_map_table_free(&s->worker[i].table);
    }
    free(s->worker);
}

syn_status syn_map_dimensions(const syn_map_libraries *libraries,
                              const syn_map_layout *layout,
                              const syn_map_options *options, const syn_watch *watch,
                              float *rho)
{
    sweep s = {.libraries = libraries, .options = options, .rho = rho};
    s.kind = syn_map_fastest(options->vector_bits);
    s.threads = options->threads > 1 ? options->threads : 1;
    if ((uint32_t)s.threads > libraries->n)
        s.threads = libraries->n > 0 ? (int)libraries->n : 1;
    syn_status status = syn_map_rows_make(layout, &s.rows);
    if (status == SYN_OK)
        status = make_workers(&s, layout);
    if (status == SYN_OK)
        status = syn_parallel_for(libraries->n, s.threads, watch, "libraries",
                                  sweep_library, &s);
    free_workers(&s);
    syn_map_rows_free(&s.rows);
    return status;
}
