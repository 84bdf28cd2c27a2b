/* Reduces overlapping patterns to those that the others do not explain. Patterns are
   ordered, pairs that share spikes are found (overlaps.h), and the tests of the chosen
   method decide which of the two is rejected. */
#include "core/patterns/found/reduction.h"

#include <stdlib.h>
#include <string.h>

#include "core/patterns/found/overlaps.h"

/* ---- patterns in their order ---- */

static int in_order(const void *a, const void *b)
{
    const syn_ranked_pattern *p = a, *q = b;
    if (p->size != q->size)
        return p->size > q->size ? -1 : 1;
    if (p->occurrences != q->occurrences)
        return p->occurrences > q->occurrences ? -1 : 1;
    for (uint32_t k = 0; k < p->size; k++) {
        if (p->lag[k] != q->lag[k])
            return p->lag[k] < q->lag[k] ? -1 : 1;
        if (p->unit[k] != q->unit[k])
            return p->unit[k] < q->unit[k] ? -1 : 1;
    }
    return p->number < q->number ? -1 : 1;
}

typedef struct ranked {
    uint32_t n;
    syn_ranked_pattern *pattern;  /* [n] */
    int64_t *opens;       /* the windows of all */
    size_t *item;         /* [n + 1] items of the patterns before */
    uint8_t *little;      /* [items] at item[p] + s - 1: little beyond s shared items */
    uint8_t *live;        /* [n] not rejected so far */
} ranked;

/* Patterns in order, all of them live. Freed by the caller, also after an error. */
static syn_status ranked_make(ranked *r, const syn_candidates *c, syn_budget *budget)
{
    memset(r, 0, sizeof *r);
    size_t items = 0, n = c->list.n;
    if (n > INT32_MAX)
        return SYN_TOO_LARGE;
    SYN_TAKE(budget, r->pattern, n + 1);
    SYN_TAKE(budget, r->opens, c->windows->n + 1);
    SYN_TAKE(budget, r->item, n + 1);
    SYN_TAKE(budget, r->live, n + 1);
    r->n = (uint32_t)n;
    memset(r->live, 1, n);
    for (size_t i = 0; i < c->windows->n; i++)
        r->opens[i] = c->raster->number[c->windows->bin[i]];
    const int64_t *opens = r->opens;
    for (uint32_t p = 0; p < r->n; p++) {
        r->pattern[p] = (syn_ranked_pattern){
            .unit = c->list.unit + items, .lag = c->list.lag + items, .number = p,
            .size = c->list.size[p], .occurrences = c->windows->count[p], .opens = opens};
        items += c->list.size[p];
        opens += c->windows->count[p];
    }
    qsort(r->pattern, n, sizeof *r->pattern, in_order);
    r->item[0] = 0;
    for (uint32_t p = 0; p < r->n; p++)
        r->item[p + 1] = r->item[p] + r->pattern[p].size;
    SYN_TAKE(budget, r->little, items + 1);
    return SYN_OK;
}

/* ---- signatures that are not significant ---- */

static int by_signature(const void *a, const void *b)
{
    const syn_signature *s = a, *t = b;
    if (s->size != t->size)
        return s->size < t->size ? -1 : 1;
    if (s->occurrences != t->occurrences)
        return s->occurrences < t->occurrences ? -1 : 1;
    return (s->duration > t->duration) - (s->duration < t->duration);
}

typedef struct filter {
    const syn_reduction_options *options;
    syn_signature *sorted;
    int by_duration;
} filter;

static syn_status filter_make(filter *f, syn_budget *budget)
{
    const syn_reduction_options *options = f->options;
    size_t n = options->listed;
    f->by_duration = n > 0 && options->signature[0].duration >= 0;
    SYN_TAKE(budget, f->sorted, n + 1);
    if (n > 0) {
        memcpy(f->sorted, options->signature, n * sizeof *f->sorted);
        qsort(f->sorted, n, sizeof *f->sorted, by_signature);
    }
    return SYN_OK;
}

/* Whether so many spikes so often, with the duration of `p`, are listed. */
static int is_listed(const filter *f, int64_t size, int64_t occurrences,
                     const syn_ranked_pattern *p)
{
    int32_t duration = f->by_duration ? (int32_t)p->lag[p->size - 1] : -1;
    if (f->options->listed == 0 || size > INT32_MAX || occurrences > INT32_MAX)
        return 0;
    syn_signature s = {.size = (int32_t)size, .occurrences = (int32_t)occurrences,
                       .duration = duration};
    return bsearch(&s, f->sorted, f->options->listed, sizeof s, by_signature) != NULL;
}

/* Whether `q` occurs too little beyond the occurrences of `p`. */
static int little_of_its_own(const filter *f, const syn_ranked_pattern *p,
                             const syn_ranked_pattern *q)
{
    const syn_reduction_options *o = f->options;
    int64_t occurrences = (int64_t)q->occurrences - p->occurrences + o->h;
    return occurrences < o->min_count ||
           is_listed(f, q->size, occurrences, q);
}

static int little_beyond(const filter *f, const syn_ranked_pattern *p, uint32_t shared)
{
    const syn_reduction_options *o = f->options;
    int64_t size = (int64_t)p->size - shared + o->k;
    return size < o->min_spikes || is_listed(f, size, p->occurrences, p);
}

/* ---- two patterns ---- */

enum { DROP_FIRST = 1, DROP_SECOND = 2 };

static int covered_one(const filter *f, const syn_ranked_pattern *p,
                       const syn_ranked_pattern *q)
{
    int64_t l = f->options->l;
    int covers = ((int64_t)p->size - l) * p->occurrences >=
                 ((int64_t)q->size - l) * q->occurrences;
    return covers ? DROP_SECOND : DROP_FIRST;
}

/* What is rejected where `p` contains `q`. */
static int nested_verdict(const ranked *r, const filter *f, uint32_t p, uint32_t q)
{
    const syn_ranked_pattern *larger = &r->pattern[p], *smaller = &r->pattern[q];
    syn_reduction_method method = f->options->method;
    int drop = 0;
    if (method == SYN_REDUCTION_COVERED_SPIKES)
        return covered_one(f, larger, smaller);
    if (method != SYN_REDUCTION_SUBSET && r->little[r->item[p] + smaller->size - 1])
        drop |= DROP_FIRST;
    if (method != SYN_REDUCTION_SUPERSET && little_of_its_own(f, larger, smaller))
        drop |= DROP_SECOND;
    return drop == (DROP_FIRST | DROP_SECOND) ? covered_one(f, larger, smaller) : drop;
}

/* What is rejected where `p` and `q` share some items and each has others. */
static int crossing_verdict(const ranked *r, const filter *f, uint32_t p, uint32_t q,
                            uint32_t shared)
{
    int drop = 0;
    if (f->options->method != SYN_REDUCTION_COMBINED)
        return 0;
    if (r->little[r->item[p] + shared - 1])
        drop |= DROP_FIRST;
    if (r->little[r->item[q] + shared - 1])
        drop |= DROP_SECOND;
    if (drop != (DROP_FIRST | DROP_SECOND))
        return drop;
    return covered_one(f, &r->pattern[p], &r->pattern[q]);
}

/* Items of `p`, `shift` bins earlier, that `q` has. */
static uint32_t shared_items(const syn_ranked_pattern *p, const syn_ranked_pattern *q,
                             int64_t shift)
{
    uint32_t i = 0, k = 0, shared = 0;
    while (i < p->size && k < q->size) {
        int64_t apart = p->lag[i] - shift - q->lag[k];
        if (apart == 0)
            apart = (int64_t)p->unit[i] - q->unit[k];
        shared += apart == 0;
        i += apart <= 0;
        k += apart >= 0;
    }
    return shared;
}

/* Whether at least `least` windows of `q` open `shift` bins after one of `p`. */
static int meet(const syn_ranked_pattern *p, const syn_ranked_pattern *q, int64_t shift,
                int64_t least)
{
    const int64_t *a = p->opens, *a_end = a + p->occurrences;
    const int64_t *b = q->opens, *b_end = b + q->occurrences;
    while (least > 0 && a_end - a >= least && b_end - b >= least) {
        int64_t apart = *a + shift - *b;
        least -= apart == 0;
        a += apart <= 0;
        b += apart >= 0;
    }
    return least <= 0;
}

typedef struct reduction {
    ranked r;
    filter f;
} reduction;

/* Rejects what the overlap of pattern `p` with `q` at `shift` rejects. That does not
   depend on what was rejected before, so overlaps may come in any order and twice. */
static void compare(void *context, uint32_t p, uint32_t q, int64_t shift)
{
    reduction *c = context;
    const syn_ranked_pattern *first = &c->r.pattern[p], *second = &c->r.pattern[q];
    uint32_t shared = shared_items(first, second, shift);
    int drop = shared == second->size ? nested_verdict(&c->r, &c->f, p, q)
                                      : crossing_verdict(&c->r, &c->f, p, q, shared);
    if (!c->r.live[p])
        drop &= ~DROP_FIRST;
    if (!c->r.live[q])
        drop &= ~DROP_SECOND;
    if (drop == 0 || !meet(first, second, shift, c->f.options->min_count))
        return;
    if (drop & DROP_FIRST)
        c->r.live[p] = 0;
    if (drop & DROP_SECOND)
        c->r.live[q] = 0;
}

syn_status syn_reduce_patterns(const syn_candidates *patterns,
                               const syn_reduction_options *options, syn_budget *budget,
                               const syn_watch *watch, uint8_t *keep)
{
    reduction c = {.f = {.options = options}};
    syn_status status = ranked_make(&c.r, patterns, budget);
    SYN_NEXT(status, filter_make(&c.f, budget));
    if (status == SYN_OK) {
        for (uint32_t p = 0; p < c.r.n; p++)
            for (uint32_t s = 1; s <= c.r.pattern[p].size; s++)
                c.r.little[c.r.item[p] + s - 1] =
                    (uint8_t)little_beyond(&c.f, &c.r.pattern[p], s);
        status = syn_find_overlaps(c.r.pattern, c.r.n, patterns->raster,
                                   options->min_count, c.r.live, compare, &c, budget,
                                   watch);
    }
    for (uint32_t p = 0; p < c.r.n && status == SYN_OK; p++)
        keep[c.r.pattern[p].number] = c.r.live[p];
    syn_budget_free(budget, c.f.sorted);
    SYN_GIVE(budget, c.r.pattern, c.r.opens, c.r.item, c.r.little, c.r.live);
    return status;
}
