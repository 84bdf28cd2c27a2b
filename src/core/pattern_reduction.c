#include "core/pattern_reduction.h"

#include <stdlib.h>
#include <string.h>

#include "core/pattern_overlaps.h"

enum { POLL_EVERY = 1 << 20 };  /* comparisons: some milliseconds */

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
    syn_ranked_pattern *pattern;      /* [n] by rank */
    size_t *item;         /* [n + 1] items of the patterns before */
    uint8_t *little;      /* [items] at item[p] + s - 1: little beyond s shared items */
    size_t *begin;        /* [n + 1] windows of the patterns before, with `opens` */
    int64_t *opens;       /* the windows of each, increasing; NULL where not looked at */
    uint8_t *live;        /* [n] not rejected so far */
    uint32_t alive;
} ranked;

static void ranked_free(ranked *r)
{
    free(r->pattern);
    free(r->item);
    free(r->little);
    free(r->begin);
    free(r->opens);
    free(r->live);
}

static uint32_t duration_of(const syn_ranked_pattern *p)
{
    return p->lag[p->size - 1];
}

static void order_patterns(ranked *r, const syn_candidates *c)
{
    const uint32_t *unit = c->list.unit, *lag = c->list.lag;
    for (uint32_t p = 0; p < r->n; p++) {
        uint32_t size = c->list.size[p];
        r->pattern[p] = (syn_ranked_pattern){.unit = unit, .lag = lag, .size = size,
                                 .occurrences = (uint32_t)c->occurrences[p], .number = p};
        unit += size;
        lag += size;
    }
    qsort(r->pattern, r->n, sizeof *r->pattern, in_order);
    r->item[0] = 0;
    for (uint32_t p = 0; p < r->n; p++)
        r->item[p + 1] = r->item[p] + r->pattern[p].size;
}

/* Brings the numbers of the bins at which patterns open into their order. */
static syn_status order_windows(ranked *r, const syn_candidates *c)
{
    const syn_pattern_windows *w = c->windows;
    size_t *from = malloc(((size_t)r->n + 1) * sizeof *from);
    r->begin = malloc(((size_t)r->n + 1) * sizeof *r->begin);
    r->opens = malloc((w->n + 1) * sizeof *r->opens);
    if (!from || !r->begin || !r->opens) {
        free(from);
        return SYN_NO_MEMORY;
    }
    from[0] = 0;
    for (uint32_t p = 0; p < r->n; p++)
        from[p + 1] = from[p] + w->count[p];
    size_t at = 0;
    for (uint32_t p = 0; p < r->n; p++) {
        uint32_t number = r->pattern[p].number;
        r->begin[p] = at;
        for (size_t i = from[number]; i < from[number + 1]; i++)
            r->opens[at++] = c->raster->number[w->bin[i]];
    }
    r->begin[r->n] = at;
    free(from);
    return SYN_OK;
}

/* Patterns in order, all of them live. Freed by the caller, also after an error. */
static syn_status ranked_make(ranked *r, const syn_candidates *c, int with_windows)
{
    memset(r, 0, sizeof *r);
    if (c->list.n > INT32_MAX)
        return SYN_TOO_LARGE;
    r->n = (uint32_t)c->list.n;
    size_t items = 0, n = r->n;
    for (size_t p = 0; p < n; p++)
        items += c->list.size[p];
    r->pattern = malloc((n + 1) * sizeof *r->pattern);
    r->item = malloc((n + 1) * sizeof *r->item);
    r->little = malloc(items + 1);
    r->live = malloc(n + 1);
    if (!r->pattern || !r->item || !r->little || !r->live)
        return SYN_NO_MEMORY;
    memset(r->live, 1, n);
    r->alive = r->n;
    order_patterns(r, c);
    return with_windows ? order_windows(r, c) : SYN_OK;
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

static syn_status filter_make(filter *f, const syn_reduction_options *options)
{
    size_t n = options->listed;
    f->options = options;
    f->by_duration = n > 0 && options->signature[0].duration >= 0;
    f->sorted = malloc((n + 1) * sizeof *f->sorted);
    if (!f->sorted)
        return SYN_NO_MEMORY;
    if (n > 0) {
        memcpy(f->sorted, options->signature, n * sizeof *f->sorted);
        qsort(f->sorted, n, sizeof *f->sorted, by_signature);
    }
    return SYN_OK;
}

static int is_listed(const filter *f, int64_t size, int64_t occurrences,
                     uint32_t duration)
{
    if (f->options->listed == 0 || size > INT32_MAX || occurrences > INT32_MAX)
        return 0;
    syn_signature s = {.size = (int32_t)size, .occurrences = (int32_t)occurrences,
                       .duration = f->by_duration ? (int32_t)duration : -1};
    return bsearch(&s, f->sorted, f->options->listed, sizeof s, by_signature) != NULL;
}

/* Whether `q` occurs too little beyond the occurrences of `p`. */
static int little_of_its_own(const filter *f, const syn_ranked_pattern *p,
                             const syn_ranked_pattern *q)
{
    const syn_reduction_options *o = f->options;
    int64_t occurrences = (int64_t)q->occurrences - p->occurrences + o->h;
    return occurrences < o->min_occ ||
           is_listed(f, q->size, occurrences, duration_of(q));
}

static int little_beyond(const filter *f, const syn_ranked_pattern *p, uint32_t shared)
{
    const syn_reduction_options *o = f->options;
    int64_t size = (int64_t)p->size - shared + o->k;
    return size < o->min_spikes || is_listed(f, size, p->occurrences, duration_of(p));
}

static void fill_little(ranked *r, const filter *f)
{
    for (uint32_t p = 0; p < r->n; p++)
        for (uint32_t s = 1; s <= r->pattern[p].size; s++)
            r->little[r->item[p] + s - 1] =
                (uint8_t)little_beyond(f, &r->pattern[p], s);
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
    if (r->little[r->item[p] + shared - 1])
        drop |= DROP_FIRST;
    if (r->little[r->item[q] + shared - 1])
        drop |= DROP_SECOND;
    if (drop != (DROP_FIRST | DROP_SECOND))
        return drop;
    return covered_one(f, &r->pattern[p], &r->pattern[q]);
}

/* Whether at least `least` windows of `q` open `shift` bins after one of `p`. */
static int meet(const ranked *r, uint32_t p, uint32_t q, int64_t shift, int64_t least)
{
    const int64_t *a = r->opens + r->begin[p], *a_end = r->opens + r->begin[p + 1];
    const int64_t *b = r->opens + r->begin[q], *b_end = r->opens + r->begin[q + 1];
    while (a_end - a >= least && b_end - b >= least) {
        int64_t apart = *a + shift - *b;
        least -= apart == 0;
        if (least == 0)
            return 1;
        a += apart <= 0;
        b += apart >= 0;
    }
    return 0;
}

static void drop_pattern(ranked *r, uint32_t p)
{
    r->live[p] = 0;
    r->alive--;
}

/* Rejects what the overlap of `p` with a pattern after it rejects. A contained pattern
   occurs wherever the larger one does, so that their windows need not be compared. */
static void compare(ranked *r, const filter *f, uint32_t p, const syn_overlap *at)
{
    uint32_t q = at->rank;
    int nested = at->shared == r->pattern[q].size;
    if (!nested && f->options->method != SYN_REDUCTION_COMBINED)
        return;
    int drop = nested ? nested_verdict(r, f, p, q)
                      : crossing_verdict(r, f, p, q, at->shared);
    if (!r->live[p])
        drop &= ~DROP_FIRST;
    if (!r->live[q])
        drop &= ~DROP_SECOND;
    if (drop == 0)
        return;
    if (nested ? r->pattern[p].occurrences < f->options->min_occ
               : !meet(r, p, q, at->shift, f->options->min_occ))
        return;
    if (drop & DROP_FIRST)
        drop_pattern(r, p);
    if (drop & DROP_SECOND)
        drop_pattern(r, q);
}

/* Compares `p` with the patterns after it that are in `index`; returns how many there
   were. */
static size_t compare_with_all(ranked *r, const filter *f, syn_overlaps *o,
                               const syn_unit_index *index, uint32_t p)
{
    size_t work = 0;
    uint32_t found;
    syn_overlaps_begin(o, index, p);
    while ((found = syn_overlaps_more(o)) > 0) {
        work += found;
        for (uint32_t i = 0; i < found; i++) {
            syn_overlap at = syn_overlaps_take(o, i);
            if (r->live[p] || r->live[at.rank])
                compare(r, f, p, &at);
        }
    }
    return work;
}

/* Compares each pattern with those after it. What a pair rejects does not depend on what
   was rejected before, so a rejected pattern has to be compared with live ones only. */
static syn_status compare_all(ranked *r, const filter *f, syn_unit_index *all,
                              syn_unit_index *live, syn_overlaps *o,
                              const syn_watch *watch)
{
    size_t work = POLL_EVERY;
    uint32_t tidied = r->n;
    for (uint32_t p = 0; p < r->n; p++) {
        if (work >= POLL_EVERY) {
            work = 0;
            if (syn_poll(watch, "patterns", p, r->n) != SYN_OK)
                return SYN_INTERRUPTED;
        }
        if (r->alive < tidied / 2) {
            syn_unit_index_tidy(live, r->live);
            tidied = r->alive;
        }
        syn_unit_index_pass(all, p);
        syn_unit_index_pass(live, p);
        work += 1 + compare_with_all(r, f, o, r->live[p] ? all : live, p);
    }
    return SYN_OK;
}

static syn_status reduce(ranked *r, const filter *f, const syn_candidates *c,
                         const syn_watch *watch)
{
    syn_unit_index all, live = {.entry = NULL};
    syn_overlaps overlaps = {.shared = NULL};
    syn_status status = syn_unit_index_make(&all, r->pattern, r->n, c->raster->units);
    if (status == SYN_OK)
        status = syn_unit_index_make(&live, r->pattern, r->n, c->raster->units);
    if (status == SYN_OK)
        status = syn_overlaps_make(&overlaps, &all, c->window);
    if (status == SYN_OK)
        status = compare_all(r, f, &all, &live, &overlaps, watch);
    syn_overlaps_free(&overlaps);
    syn_unit_index_free(&live);
    syn_unit_index_free(&all);
    return status;
}

syn_status syn_reduce_patterns(const syn_candidates *patterns,
                               const syn_reduction_options *options,
                               const syn_watch *watch, uint8_t *keep)
{
    ranked r;
    filter f = {.sorted = NULL};
    syn_status status =
        ranked_make(&r, patterns, options->method == SYN_REDUCTION_COMBINED);
    if (status == SYN_OK)
        status = filter_make(&f, options);
    if (status == SYN_OK) {
        fill_little(&r, &f);
        status = reduce(&r, &f, patterns, watch);
    }
    for (uint32_t p = 0; p < r.n && status == SYN_OK; p++)
        keep[r.pattern[p].number] = r.live[p];
    free(f.sorted);
    ranked_free(&r);
    return status;
}
