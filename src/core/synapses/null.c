/* What the statistic gives without connections: differences from the slow part at long
   lags, set on the slow part at short ones. */
#include "core/synapses/null.h"

#include "core/base/parallel.h"

/* The least slow part of a bin, so that differences can be scaled. */
static const double LEAST = 1e-3;

typedef struct work {
    const syn_scan_tables *tables;
    const syn_smoother *smoother;
    const syn_lag_counts *counts;
    const syn_unit_pairs *pairs;
    const syn_null_options *o;
    const syn_scan_columns *out;
    double *room;  /* [threads * size] */
    size_t size;   /* counts, slow part and the room of the smoother */
} work;

static double set_on(const double *count, const double *slow, int32_t at, int32_t from)
{
    double moved = (count[from] - slow[from]) * sqrt(slow[at] / slow[from]);
    return slow[at] + moved > 0 ? slow[at] + moved : 0;
}

static syn_status null_pair(void *context, size_t p, int thread)
{
    const work *w = context;
    int32_t most = (int32_t)w->counts->lags, lags = (int32_t)w->tables->lags;
    double *count = w->room + (size_t)thread * w->size + most;
    double *slow = count + 2 * most + 1, *room = slow + most + 1;
    const int32_t *c = syn_lag_counts_of(w->counts, w->pairs->a[p], w->pairs->b[p]);
    for (int32_t t = -most; t <= most; t++)
        count[t] = c[t];
    syn_smooth(w->smoother, count, slow, room);
    for (int32_t t = -most; t <= most; t++)
        slow[t] = slow[t] > LEAST ? slow[t] : LEAST;
    for (uint32_t k = 0; k < w->o->shifts; k++) {
        double x[2][SYN_SCAN_MOST_LAGS + 1];
        const double *sides[2] = {x[0], x[1]};
        int32_t shift = (int32_t)w->o->shift[k];
        for (int32_t t = 1; t <= lags; t++) {
            x[0][t] = set_on(count, slow, t, t + shift);
            x[1][t] = set_on(count, slow, -t, -t - shift);
        }
        syn_scan_pair found;
        syn_scan_one(w->tables, sides, &found);
        syn_scan_store(&found, p * w->o->shifts + k, w->out);
    }
    return SYN_OK;
}

syn_status syn_null_pairs(const syn_scan_tables *tables, const syn_smoother *smoother,
                          const syn_lag_counts *counts, const syn_unit_pairs *pairs,
                          const syn_null_options *o, const syn_scan_columns *out,
                          syn_budget *budget, const syn_watch *watch)
{
    work w = {.tables = tables, .smoother = smoother, .counts = counts, .pairs = pairs,
              .o = o, .out = out,
              .size = 2 * (2 * (size_t)counts->lags + 1) + 2 * (size_t)smoother->stride};
    SYN_TAKE(budget, w.room, (size_t)o->threads * w.size);
    syn_status status =
        syn_parallel_for(pairs->n, o->threads, watch, "pairs", null_pair, &w);
    syn_budget_free(budget, w.room);
    return status;
}
