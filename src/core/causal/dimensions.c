/* Finds the dimension in which each series predicts itself best. The neighbours for
   all dimensions are found together, row by row, and the correlations of predictions
   and observations are computed for each dimension. */

#include <math.h>
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
    syn_arrays memory;
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

static syn_status sweep_library(void *context, size_t item, int number)
{
    sweep *s = context;
    worker *w = &s->worker[number];
    const float *value = s->libraries->value + item * s->libraries->steps;
    double until = syn_seconds() + SYN_SLICE_SECONDS;
    if (w->row == 0) {
        syn_map_search_start(&w->search, s->libraries, (uint32_t)item);
        memset(w->skill, 0, sizeof w->skill);
    }
    while (w->row < s->rows.n) {
        if (syn_seconds() > until)
            return SYN_UNFINISHED;
        next_rows(s, w, value);
    }
    for (uint32_t e = 0; e < s->options->E_max; e++) {
        const skill *of = &w->skill[e];
        s->rho[item * s->options->E_max + e] =
            (float)syn_map_correlation(of->n, of->p, of->pp, of->y, of->yy, of->py);
    }
    w->row = 0;
    return SYN_OK;
}

static syn_status make_workers(sweep *s, const syn_map_layout *layout)
{
    unsigned char wanted[SYN_MAP_DIMS] = {0};
    memset(wanted, 1, s->options->E_max);
    SYN_ARRAY(&s->memory, s->worker, (size_t)s->threads);
    for (int i = 0; i < s->threads; i++) {
        worker *w = &s->worker[i];
        SYN_TRY(syn_map_search_make(layout, s->options, wanted, &s->memory, &w->search));
        SYN_TRY(syn_map_table_make(wanted, CHUNK, &s->memory, &w->table));
    }
    return SYN_OK;
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
    syn_status status = syn_map_rows_make(layout, &s.memory, &s.rows);
    SYN_NEXT(status, make_workers(&s, layout));
    SYN_NEXT(status, syn_parallel_for(libraries->n, s.threads, watch, "libraries",
                                      sweep_library, &s));
    syn_give_back(&s.memory);
    return status;
}
