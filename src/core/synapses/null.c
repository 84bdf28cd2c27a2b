/* What the statistic gives without connections: differences from the slow part at long
   lags, set on the slow part at short ones. */
#include "core/synapses/null.h"

#include "core/base/parallel.h"

/* The least slow part of a bin, so that differences can be scaled. */
static const double LEAST = 1e-3;

typedef struct work {
    syn_scan_work *scan;
    const int *shift;  /* [shifts] */
    uint32_t shifts;
    double *room;      /* [threads * size] */
    size_t size;       /* counts, slow part and the room of the smoother */
} work;

static double set_on(const double *count, const double *slow, int32_t at, int32_t from)
{
    double moved = (count[from] - slow[from]) * sqrt(slow[at] / slow[from]);
    return slow[at] + moved > 0 ? slow[at] + moved : 0;
}

static syn_status null_pair(void *context, size_t p, int thread)
{
    const work *w = context;
    const syn_scan_work *s = w->scan;
    int32_t most = (int32_t)s->counts.lags, lags = (int32_t)s->tables.lags;
    double *count = w->room + (size_t)thread * w->size + most;
    double *slow = count + 2 * most + 1, *room = slow + most + 1;
    const int32_t *c = syn_lag_counts_of(&s->counts, s->pairs.a[p], s->pairs.b[p]);
    for (int32_t t = -most; t <= most; t++)
        count[t] = c[t];
    syn_smooth(&s->smoother, count, slow, room);
    for (int32_t t = -most; t <= most; t++)
        slow[t] = slow[t] > LEAST ? slow[t] : LEAST;
    for (uint32_t k = 0; k < w->shifts; k++) {
        double x[2][SYN_SCAN_MOST_LAGS + 1];
        for (int32_t t = 1; t <= lags; t++) {
            x[0][t] = set_on(count, slow, t, t + w->shift[k]);
            x[1][t] = set_on(count, slow, -t, -t - w->shift[k]);
        }
        syn_scan_one(s, x, p * w->shifts + k);
    }
    return SYN_OK;
}

syn_status syn_null_pairs(syn_scan_work *scan, const int *shift, uint32_t shifts)
{
    work w = {.scan = scan, .shift = shift, .shifts = shifts,
              .size = 2 * (2 * (size_t)scan->counts.lags + 1) +
                      2 * (size_t)scan->smoother.stride};
    SYN_TAKE(&scan->budget, w.room, (size_t)scan->threads * w.size);
    return syn_parallel_for(scan->pairs.n, scan->threads, scan->watch, "pairs", null_pair,
                            &w);
}
