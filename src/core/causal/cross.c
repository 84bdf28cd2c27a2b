/* Cross-maps each library to all targets. For each library the neighbours of some
   hundred rows are found at a time, and then used to predict the targets, 16 side by
   side. Sums over the rows give the correlation. A first pass over a sample of the
   rows may leave out pairs whose correlation cannot be high enough. */

#include <math.h>
#include <string.h>

#include "core/causal/search.h"
#include "core/base/parallel.h"

enum { ROWS = 16 };                        /* rows searched between looks at the clock */
#define TABLE_BYTES ((size_t)32 << 20)     /* a table of neighbours at most */

/* Targets at places `first` to first + n - 1, all of E dimensions. */
typedef struct tile {
    uint32_t E, first, n;
    const float *value;          /* [steps][SYN_MAP_TILE] */
} tile;

enum { SAMPLE, EXACT };          /* passes over the tiles */

/* A library that a worker is busy with. Rows are gone through in chunks of what the table
   holds: first their neighbours are found, then the tiles are predicted. */
typedef struct worker {
    syn_map_search search;
    syn_map_table table;
    int busy, pass;
    uint32_t first;              /* row of the chunk */
    uint32_t found;              /* rows of it with neighbours in the table */
    uint32_t tile;               /* the next one to predict */
    syn_map_sums *sums;          /* [tiles] */
} worker;

typedef struct cross {
    const syn_map_targets *targets;
    const syn_map_libraries *libraries;
    const syn_map_options *options;
    const syn_map_kind *kind;
    syn_map_rows rows;
    uint32_t tiles;
    tile *tile;
    worker *worker;              /* [threads] */
    int threads;
    float *rho;
    syn_arrays memory;
} cross;

/* ---- targets, 16 side by side ---- */

static syn_status make_tiles(cross *c)
{
    const uint32_t *group = c->targets->group;
    size_t size = (size_t)c->targets->steps * SYN_MAP_TILE;
    for (uint32_t E = 1; E <= SYN_MAP_DIMS; E++)
        c->tiles += (group[E] - group[E - 1] + SYN_MAP_TILE - 1) / SYN_MAP_TILE;
    SYN_ARRAY(&c->memory, c->tile, c->tiles);
    if (!c->tile)
        return SYN_NO_MEMORY;
    const float *value = c->targets->value;
    tile *next = c->tile;
    for (uint32_t E = 1; E <= SYN_MAP_DIMS; E++)
        for (uint32_t at = group[E - 1]; at < group[E]; at += SYN_MAP_TILE) {
            uint32_t left = group[E] - at;
            *next++ = (tile){E, at, left < SYN_MAP_TILE ? left : SYN_MAP_TILE, value};
            value += size;
        }
    return SYN_OK;
}

/* ---- correlations ---- */

/* Whether the correlation may reach `screen`, as far as the rows of the sample tell. */
static int may_reach(double rho, double n, double screen)
{
    double points = n / SYN_MAP_SCREEN_POINTS - 3;
    if (isnan(rho) || points <= 0)
        return 1;
    return tanh(atanh(rho) + SYN_MAP_SCREEN_DEVIATIONS / sqrt(points)) >= screen;
}

static float *rho_of(const cross *c, const tile *t, size_t library, uint32_t i)
{
    return &c->rho[library * c->targets->n + c->targets->target[t->first + i]];
}

/* After the sample, pairs that go on have a correlation of 0 for the time being. */
static void finish_tile(const cross *c, const worker *w, size_t library, uint32_t number)
{
    const tile *t = &c->tile[number];
    const syn_map_sums *sums = &w->sums[number];
    int screened = !isnan(c->options->screen);
    for (uint32_t i = 0; i < t->n; i++) {
        float *rho = rho_of(c, t, library, i);
        double found =
            syn_map_correlation(sums->n[i], sums->p[i], sums->pp[i], sums->y[i],
                                sums->yy[i], sums->py[i]);
        if (w->pass == SAMPLE)
            *rho = may_reach(found, sums->n[i], c->options->screen) ? 0 : NAN;
        else if (!screened || !isnan(*rho))
            *rho = (float)found;
    }
}

static int goes_on(const cross *c, const worker *w, size_t library, const tile *t)
{
    if (isnan(c->options->screen) || w->pass == SAMPLE)
        return 1;
    for (uint32_t i = 0; i < t->n; i++)
        if (!isnan(*rho_of(c, t, library, i)))
            return 1;
    return 0;
}

/* ---- a library ---- */

static void start_pass(const cross *c, worker *w, int pass)
{
    w->pass = pass;
    w->tile = 0;
    memset(w->sums, 0, c->tiles * sizeof *w->sums);
    if (w->first == 0 && w->found > 0)
        return;  /* the table has all rows, from the pass before */
    w->first = 0;
    w->found = 0;
}

/* Goes on with a chunk; at its end, with the next one or the next pass. */
static void next_part(const cross *c, worker *w, size_t library)
{
    uint32_t left = c->rows.n - w->first;
    uint32_t rows = left < w->table.room ? left : w->table.room;
    if (w->found < rows) {
        for (uint32_t n = 0; n < ROWS && w->found < rows; n++, w->found++)
            c->kind->neighbours(&w->search, c->rows.place[w->first + w->found], &w->table,
                                w->found);
        w->table.rows = w->found;
    } else if (w->tile < c->tiles) {
        const tile *t = &c->tile[w->tile];
        uint32_t every = w->pass == SAMPLE ? c->options->stride : 1;
        if (goes_on(c, w, library, t))
            c->kind->predict(&w->table, t->E, every, t->value, &w->sums[w->tile]);
        w->tile++;
    } else if (w->first + rows < c->rows.n) {
        w->first += rows;
        w->found = 0;
        w->tile = 0;
    } else {
        for (uint32_t i = 0; i < c->tiles; i++)
            finish_tile(c, w, library, i);
        w->busy = w->pass == SAMPLE;
        if (w->busy)
            start_pass(c, w, EXACT);
    }
}

static syn_status map_library(void *context, size_t item, int number)
{
    cross *c = context;
    worker *w = &c->worker[number];
    double until = syn_seconds() + SYN_SLICE_SECONDS;
    if (!w->busy) {
        int screened = !isnan(c->options->screen);
        syn_map_search_start(&w->search, c->libraries, (uint32_t)item);
        w->busy = 1;
        w->first = 0;
        w->found = 0;
        start_pass(c, w, screened ? SAMPLE : EXACT);
    }
    while (w->busy) {
        if (syn_seconds() > until)
            return SYN_UNFINISHED;
        next_part(c, w, item);
    }
    return SYN_OK;
}

/* ---- all of them ---- */

/* Rows of a table, a whole number of samples of the screen. */
static uint32_t rows_of_table(const cross *c, const unsigned char *wanted)
{
    size_t each = 0, rows;
    for (uint32_t e = 0; e < SYN_MAP_DIMS; e++)
        each += wanted[e] ? (e + 2) * sizeof(syn_map_neighbour) : 0;
    rows = TABLE_BYTES / (each + 1);
    if (rows >= c->rows.n)
        return c->rows.n;
    return (uint32_t)(rows > c->options->stride ? rows - rows % c->options->stride
                                                : c->options->stride);
}

static syn_status make_workers(cross *c, const syn_map_layout *layout)
{
    unsigned char wanted[SYN_MAP_DIMS];
    for (uint32_t e = 0; e < SYN_MAP_DIMS; e++)
        wanted[e] = c->targets->group[e + 1] > c->targets->group[e];
    SYN_ARRAY(&c->memory, c->worker, (size_t)c->threads);
    for (int i = 0; i < c->threads; i++) {
        worker *w = &c->worker[i];
        SYN_ARRAY(&c->memory, w->sums, c->tiles);
        SYN_TRY(syn_map_search_make(layout, c->options, wanted, &c->memory, &w->search));
        SYN_TRY(syn_map_table_make(wanted, rows_of_table(c, wanted), &c->memory,
                                   &w->table));
    }
    return SYN_OK;
}

syn_status syn_map_cross(const syn_map_targets *targets,
                         const syn_map_libraries *libraries, const syn_map_layout *layout,
                         const syn_map_options *options, const syn_watch *watch,
                         float *rho)
{
    cross c = {
        .targets = targets, .libraries = libraries, .options = options, .rho = rho};
    c.kind = syn_map_fastest(options->vector_bits);
    c.threads = options->threads > 1 ? options->threads : 1;
    if ((uint32_t)c.threads > libraries->n)
        c.threads = libraries->n > 0 ? (int)libraries->n : 1;
    syn_status status = make_tiles(&c);
    SYN_NEXT(status, syn_map_rows_make(layout, &c.memory, &c.rows));
    SYN_NEXT(status, make_workers(&c, layout));
    SYN_NEXT(status, syn_parallel_for(libraries->n, c.threads, watch, "libraries",
                                      map_library, &c));
    syn_give_back(&c.memory);
    return status;
}
