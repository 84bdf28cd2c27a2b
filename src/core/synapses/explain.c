/* What the other inputs of a unit explain of its correlograms.

   Correlograms without their slow part are needed of pairs that a link connects, and of
   the source of one with the source of another. They are worked out once, and kept by
   number; then each pair has its own sum. */
#include "core/synapses/explain.h"

#include <string.h>

#include "core/base/parallel.h"

typedef struct work {
    syn_scan_work *scan;
    const syn_scan_links *links;
    const syn_explain_options *o;
    const syn_explained *explained;
    int32_t *link;     /* [from * units + to] number of the link, or -1 */
    int32_t *first;    /* [units + 1] where the links into a unit begin in `into` */
    int32_t *into;     /* [links] */
    int32_t *slot;     /* [a * units + b], a < b: number of the pair's fast part, or -1 */
    int32_t *pair;     /* [slots] the place in `slot` */
    size_t slots;
    double *fast;      /* [slots * (2 lags + 1)] */
    double *kernel;    /* [links * (reach + 1)] spikes of `to` a spike of `from` */
    double *room;      /* [threads * size] */
    size_t size;
} work;

/* Bins of the peak of a link: from <= t < to. */
static void peak_of(const work *w, int32_t link, int32_t *from, int32_t *to)
{
    int32_t lo = w->links->lo[link];
    int32_t end = lo + (int32_t)(w->scan->tables.width + w->o->after) + 1;
    *from = lo - (int32_t)w->o->before > 1 ? lo - (int32_t)w->o->before : 1;
    *to = end <= (int32_t)w->o->reach ? end : (int32_t)w->o->reach + 1;
}

static size_t place_of(const work *w, int32_t a, int32_t b)
{
    size_t units = w->scan->counts.units;
    return a < b ? (size_t)a * units + (size_t)b : (size_t)b * units + (size_t)a;
}

/* ---- what is needed ---- */

static void need(work *w, int32_t a, int32_t b)
{
    int32_t *slot = w->slot + place_of(w, a, b);
    if (*slot < 0)
        *slot = (int32_t)w->slots++;
}

static void need_inputs(work *w, int32_t from, int32_t to)
{
    for (int32_t i = w->first[to]; i < w->first[to + 1]; i++) {
        int32_t by = w->links->from[w->into[i]];
        if (by != from)
            need(w, from, by);
    }
}

static syn_status list_links(work *w, syn_budget *budget)
{
    const syn_scan_links *l = w->links;
    size_t units = w->scan->counts.units;
    SYN_TAKE(budget, w->link, units * units + 1);
    SYN_TAKE(budget, w->slot, units * units + 1);
    SYN_TAKE_ZEROS(budget, w->first, units + 2);
    SYN_TAKE(budget, w->into, l->n + 1);
    memset(w->link, -1, units * units * sizeof *w->link);
    memset(w->slot, -1, units * units * sizeof *w->slot);
    for (size_t i = 0; i < l->n; i++)
        w->first[l->to[i] + 2]++;
    for (size_t u = 0; u < units; u++)
        w->first[u + 2] += w->first[u + 1];
    for (size_t i = 0; i < l->n; i++) {
        w->link[(size_t)l->from[i] * units + (size_t)l->to[i]] = (int32_t)i;
        w->into[w->first[l->to[i] + 1]++] = (int32_t)i;
        need(w, l->from[i], l->to[i]);
    }
    for (size_t p = 0; p < w->scan->pairs.n; p++) {
        need_inputs(w, w->scan->pairs.a[p], w->scan->pairs.b[p]);
        need_inputs(w, w->scan->pairs.b[p], w->scan->pairs.a[p]);
    }
    return SYN_OK;
}

/* ---- the fast parts ---- */

/* Replaces the peak of a link, which is no part of what changes slowly. */
static void take_peak(const work *w, int32_t from, int32_t to, double *count, int sign)
{
    int32_t link = w->link[(size_t)from * w->scan->counts.units + (size_t)to], t, end;
    if (link < 0)
        return;
    for (peak_of(w, link, &t, &end); t < end; t++)
        count[sign * t] = w->links->expected[link] / w->scan->tables.width;
}

static syn_status fast_pair(void *context, size_t item, int thread)
{
    const work *w = context;
    int32_t lags = (int32_t)w->scan->counts.lags;
    size_t length = 2 * (size_t)lags + 1, units = w->scan->counts.units;
    double *count = w->room + (size_t)thread * w->size + lags;
    double *room = count + lags + 1, *fast = w->fast + item * length + lags;
    int32_t a = (int32_t)((size_t)w->pair[item] / units);
    int32_t b = (int32_t)((size_t)w->pair[item] % units);
    const int32_t *c = syn_lag_counts_of(&w->scan->counts, a, b);
    for (int32_t t = -lags; t <= lags; t++)
        count[t] = c[t];
    take_peak(w, a, b, count, 1);
    take_peak(w, b, a, count, -1);
    syn_smooth(&w->scan->smoother, count, fast, room);
    for (int32_t t = -lags; t <= lags; t++)
        fast[t] = c[t] - fast[t];
    return SYN_OK;
}

/* The fast part of a pair at lag 0, and by which sign lags of b after a go on from it. */
static const double *fast_of(const work *w, int32_t a, int32_t b, int *sign)
{
    size_t length = 2 * (size_t)w->scan->counts.lags + 1;
    *sign = a < b ? 1 : -1;
    return w->fast + (size_t)w->slot[place_of(w, a, b)] * length + w->scan->counts.lags;
}

/* ---- kernels ---- */

static void make_kernel(const work *w, int32_t link)
{
    const syn_scan_links *l = w->links;
    double *kernel = w->kernel + (size_t)link * (w->o->reach + 1);
    double extra = l->count[link] - l->expected[link];
    double spikes = w->o->spikes[l->from[link]];
    if (!(spikes > 0))
        return;
    if (fabs(l->z[link]) <= w->o->clear) {
        for (uint32_t k = 0; k < w->scan->tables.width; k++)
            kernel[l->lo[link] + (int32_t)k] = extra / w->scan->tables.width / spikes;
        return;
    }
    int sign;
    const double *fast = fast_of(w, l->from[link], l->to[link], &sign);
    int32_t t, end;
    for (peak_of(w, link, &t, &end); t < end; t++)
        if (fast[sign * t] * extra > 0)
            kernel[t] = fast[sign * t] / spikes;
}

/* ---- what is left of a pair ---- */

/* Takes what one input of `to` explains from x[t], and returns what that was in the
   window that begins at `lo`, if that is not 0. */
static double take_input(const work *w, int32_t from, int32_t link, double *x, int32_t lo)
{
    int sign;
    int32_t lags = (int32_t)w->scan->tables.lags, width = (int32_t)w->scan->tables.width;
    const double *fast = fast_of(w, from, w->links->from[link], &sign);
    const double *kernel = w->kernel + (size_t)link * (w->o->reach + 1);
    double inside = 0;
    for (int32_t l = 1; l <= (int32_t)w->o->reach; l++) {
        double h = kernel[l];
        if (h == 0)
            continue;
        for (int32_t t = 1; t <= lags; t++)
            x[t] -= h * fast[sign * (t - l)];
        for (int32_t t = lo; lo > 0 && t < lo + width; t++)
            inside += h * fast[sign * (t - l)];
    }
    return inside;
}

static void take_inputs(const work *w, int32_t from, int32_t to, double *x, size_t at)
{
    int32_t own = w->link[(size_t)from * w->scan->counts.units + (size_t)to];
    int32_t lo = own < 0 ? 0 : w->links->lo[own];
    double sign = own >= 0 && w->links->z[own] < 0 ? -1 : 1;
    w->explained->via[at] = -1;
    w->explained->spikes[at] = 0;
    for (int32_t i = w->first[to]; i < w->first[to + 1]; i++) {
        int32_t link = w->into[i], by = w->links->from[link];
        if (by == from)
            continue;
        double inside = take_input(w, from, link, x, lo);
        if (sign * inside > sign * w->explained->spikes[at]) {
            w->explained->via[at] = by;
            w->explained->spikes[at] = inside;
        }
    }
    for (uint32_t t = 1; t <= w->scan->tables.lags; t++)
        x[t] = x[t] > 0 ? x[t] : 0;
}

static syn_status explain_pair(void *context, size_t p, int thread)
{
    (void)thread;
    const work *w = context;
    double x[2][SYN_SCAN_MOST_LAGS + 1];
    int32_t a = w->scan->pairs.a[p], b = w->scan->pairs.b[p];
    syn_scan_sides(w->scan, p, x);
    take_inputs(w, a, b, x[0], 2 * p);
    take_inputs(w, b, a, x[1], 2 * p + 1);
    syn_scan_one(w->scan, x, p);
    return SYN_OK;
}

/* ---- all of it ---- */

static syn_status make_fast(work *w, syn_budget *budget)
{
    size_t units = w->scan->counts.units, length = 2 * (size_t)w->scan->counts.lags + 1;
    SYN_TAKE(budget, w->pair, w->slots + 1);
    for (size_t i = 0; i < units * units; i++)
        if (w->slot[i] >= 0)
            w->pair[w->slot[i]] = (int32_t)i;
    SYN_TAKE(budget, w->fast, w->slots * length + 1);
    w->size = length + 2 * (size_t)w->scan->smoother.stride;
    SYN_TAKE(budget, w->room, (size_t)w->scan->threads * w->size);
    return syn_parallel_for(w->slots, w->scan->threads, w->scan->watch, "pairs",
                            fast_pair, w);
}

syn_status syn_explain_pairs(syn_scan_work *scan, const syn_scan_links *links,
                             const syn_explain_options *o,
                             const syn_explained *explained)
{
    syn_budget *budget = &scan->budget;
    work w = {.scan = scan, .links = links, .o = o, .explained = explained};
    SYN_TRY(list_links(&w, budget));
    SYN_TRY(make_fast(&w, budget));
    SYN_TAKE_ZEROS(budget, w.kernel, links->n * (o->reach + 1) + 1);
    for (size_t l = 0; l < links->n; l++)
        make_kernel(&w, (int32_t)l);
    return syn_parallel_for(scan->pairs.n, scan->threads, scan->watch, "pairs",
                            explain_pair, &w);
}
