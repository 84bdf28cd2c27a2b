/* Simplex projection in many state spaces, each made of some of the coordinates. */
#include "core/edm/simplex/simplex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"

/* Pairs of rows up to which a view is the work of one thread, some 50 ms. */
static const double FEW_PAIRS = 1e7;

typedef struct views_job {
    const syn_points *points;
    const syn_rows *library, *predicted;
    const syn_views *views;
    syn_neighbour_options options;
    const double *target;
    const syn_watch *watch;   /* of a view */
    double *prediction;
} views_job;

/* What one view takes. */
typedef struct view_memory {
    double *coordinate;       /* [dims][rows] */
    double *prediction, *variance;
    uint32_t *library, *predicted;
    uint32_t *at;             /* of those predicted, their numbers among all */
} view_memory;

static int take_memory(const views_job *j, view_memory *m)
{
    size_t n = (size_t)j->predicted->n + 1;
    size_t coordinates = (size_t)j->views->dims * j->points->rows;
    m->coordinate = malloc((coordinates + 1) * sizeof *m->coordinate);
    m->prediction = malloc(n * sizeof *m->prediction);
    m->variance = malloc(n * sizeof *m->variance);
    m->library = malloc(((size_t)j->library->n + 1) * sizeof *m->library);
    m->predicted = malloc(n * sizeof *m->predicted);
    m->at = malloc(n * sizeof *m->at);
    return m->coordinate && m->prediction && m->variance && m->library && m->predicted &&
           m->at;
}

static void give_memory(view_memory *m)
{
    free(m->coordinate);
    free(m->prediction);
    free(m->variance);
    free(m->library);
    free(m->predicted);
    free(m->at);
}

/* The rows that have all coordinates, and their numbers in `at` unless that is NULL. */
static syn_rows complete_rows(const syn_points *p, const syn_rows *rows, uint32_t *to,
                              uint32_t *at)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        int all = 1;
        for (uint32_t d = 0; d < p->dims; d++)
            all = all && isfinite(p->coordinate[(size_t)d * p->rows + rows->row[i]]);
        if (!all)
            continue;
        if (at)
            at[n] = i;
        to[n++] = rows->row[i];
    }
    return (syn_rows){n, to};
}

static syn_status predict_view(const views_job *j, view_memory *m, size_t view)
{
    const syn_points *all = j->points;
    syn_points p = {all->rows, j->views->dims, m->coordinate, all->least};
    double *out = j->prediction + view * j->predicted->n;
    for (uint32_t d = 0; d < p.dims; d++) {
        uint32_t column = j->views->column[view * p.dims + d];
        memcpy(m->coordinate + (size_t)d * p.rows,
               all->coordinate + (size_t)column * p.rows, p.rows * sizeof(double));
    }
    syn_rows library = complete_rows(&p, j->library, m->library, NULL);
    syn_rows predicted = complete_rows(&p, j->predicted, m->predicted, m->at);
    for (uint32_t i = 0; i < j->predicted->n; i++)
        out[i] = NAN;
    if (library.n < j->options.k)
        return SYN_OK;
    syn_targets target = {1, j->target};
    syn_status status = syn_simplex(&p, &library, &predicted, &j->options, &target,
                                    j->watch, m->prediction, m->variance);
    for (uint32_t i = 0; i < predicted.n && status == SYN_OK; i++)
        out[m->at[i]] = m->prediction[i];
    return status;
}

static syn_status predict_item(void *context, size_t view, int worker)
{
    const views_job *j = context;
    view_memory m = {0};
    (void)worker;
    syn_status status = take_memory(j, &m) ? predict_view(j, &m, view) : SYN_NO_MEMORY;
    give_memory(&m);
    return status;
}

syn_status syn_simplex_views(const syn_points *points, const syn_rows *library,
                             const syn_rows *predicted, const syn_views *views,
                             const syn_neighbour_options *options, const double *target,
                             const syn_watch *watch, double *prediction)
{
    views_job j = {points, library, predicted, views, *options, target, NULL, prediction};
    if ((double)library->n * predicted->n <= FEW_PAIRS) {
        j.options.threads = 1;
        return syn_parallel_for(views->n, options->threads, watch, "views", predict_item,
                                &j);
    }
    syn_status status = SYN_OK;
    j.watch = watch;
    for (uint32_t v = 0; v < views->n && status == SYN_OK; v++)
        status = predict_item(&j, v, 0);
    return status;
}
