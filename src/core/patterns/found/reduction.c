/* Reduces overlapping patterns to those that the others do not explain. Patterns are
   ordered, pairs that share spikes are found (overlaps.h), and the tests of the chosen
   method decide which of the two is rejected. */
#include "core/patterns/found/reduction.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/masks.h"

/* A pattern of an ordered list, by rank from 0. */
typedef struct syn_ranked_pattern {
    const uint32_t *unit, *lag;  /* [size] lags not decreasing */
    uint32_t size, occurrences;
    uint32_t number;             /* in the list as it came */
    const int64_t *opens;        /* [occurrences] numbers of the bins at which its windows
                                    open, increasing */
} syn_ranked_pattern;

/* Called for patterns `first` and `second`, first < second by rank, where the second may
   occur `shift` bins after the first. */
typedef void syn_overlap_found(void *context, uint32_t first, uint32_t second,
                               int64_t shift);

/* ---- overlaps ----

   Finds pairs of patterns that share spikes. Each item of a pattern is a set of
   spikes. Sets of one unit that share enough spikes must meet in one of a few rare
   spikes, so that only sets that meet there are compared. */

enum {
    POLL_EVERY = 1 << 22, /* pairs of sets: some ten milliseconds */
    FOLD = 4              /* words */
};

/* An item of a pattern: a set of spikes of one unit. */
typedef struct spike_set {
    uint64_t fold[FOLD];  /* a bit for each spike; some share one */
    uint32_t rank, lag;
    uint32_t spare;  /* spikes that need not be in common */
    int32_t needed;  /* bits of the fold that have to be */
    uint32_t taken;  /* spikes met so far, the rarest ones */
} spike_set;

typedef struct search {
    const syn_ranked_pattern *pattern;
    const syn_raster *raster;
    const uint8_t *live;
    syn_overlap_found *found;
    void *context;
    const syn_watch *watch;
    syn_budget *budget;
    size_t work;

    spike_set *set;       /* sets of all units, unit after unit, by rank */
    size_t *first;        /* [units + 1] where those of a unit begin */
    spike_set *meeting;   /* [sets of a unit] those that meet in one spike */
    uint32_t *spike;      /* [spikes] of the sets, set after set, */
    uint32_t *holder;     /* [holders] and the sets of the spikes, spike after spike */
    size_t spikes, holders;
    size_t *place;        /* [spikes of a unit + 1] where the sets of a spike end */
    uint32_t *rarest;     /* [spikes of a unit] in order */
    size_t *bucket;       /* [sets of a unit + 2] to sort them */
} search;

static syn_status search_make(search *s, uint32_t n, int64_t least)
{
    /* The sets of patterns that occur often enough to meet, unit by unit. */
    const syn_ranked_pattern *p = s->pattern;
    uint32_t units = s->raster->units;
    SYN_TAKE_ZEROS(s->budget, s->first, (size_t)units + 2);
    for (uint32_t rank = 0; rank < n; rank++)
        for (uint32_t k = 0; k < p[rank].size && p[rank].occurrences >= least; k++)
            s->first[p[rank].unit[k] + 2]++;
    for (uint32_t u = 0; u < units; u++)
        s->first[u + 2] += s->first[u + 1];
    SYN_TAKE(s->budget, s->set, s->first[units + 1] + 1);
    for (uint32_t rank = 0; rank < n; rank++)
        for (uint32_t k = 0; k < p[rank].size && p[rank].occurrences >= least; k++)
            s->set[s->first[p[rank].unit[k] + 1]++] =
                (spike_set){.rank = rank, .lag = p[rank].lag[k],
                            .spare = (uint32_t)(p[rank].occurrences - least)};
    size_t sets = 0, spikes = 0;
    const uint32_t *fired = s->raster->unit_first;
    for (uint32_t u = 0; u < s->raster->units; u++) {
        size_t here = s->first[u + 1] - s->first[u];
        sets = here > sets ? here : sets;
        spikes = fired[u + 1] - fired[u] > spikes ? fired[u + 1] - fired[u] : spikes;
    }
    SYN_TAKE(s->budget, s->meeting, sets + 1);
    SYN_TAKE(s->budget, s->bucket, sets + 2);
    SYN_TAKE(s->budget, s->place, spikes + 1);
    SYN_TAKE(s->budget, s->rarest, spikes + 1);
    return SYN_OK;
}

/* Orders the spikes that some set holds by how many do; returns how many there are. */
static uint32_t order_spikes(search *s, uint32_t unit)
{
    size_t sets = s->first[unit + 1] - s->first[unit];
    uint32_t fired = s->raster->unit_first[unit + 1] - s->raster->unit_first[unit];
    memset(s->bucket, 0, (sets + 2) * sizeof *s->bucket);
    for (uint32_t i = 0; i < fired; i++)
        s->bucket[s->place[i] + 1]++;
    uint32_t held = fired - (uint32_t)s->bucket[1];
    s->bucket[1] = 0;
    for (size_t k = 1; k <= sets; k++)
        s->bucket[k + 1] += s->bucket[k];
    for (uint32_t i = 0; i < fired; i++)
        if (s->place[i] > 0)
            s->rarest[s->bucket[s->place[i]]++] = i;
    return held;
}

/* Lists the sets of each spike, those of spike i up to place[i]. */
static void list_holders(search *s, uint32_t unit)
{
    uint32_t fired = s->raster->unit_first[unit + 1] - s->raster->unit_first[unit];
    size_t before = 0;
    for (uint32_t i = 0; i < fired; i++) {
        size_t here = s->place[i];
        s->place[i] = before;
        before += here;
    }
    const uint32_t *spike = s->spike;
    for (size_t e = s->first[unit]; e < s->first[unit + 1]; e++)
        for (uint32_t i = 0; i < s->pattern[s->set[e].rank].occurrences; i++)
            s->holder[s->place[*spike++]++] = (uint32_t)(e - s->first[unit]);
}

/* The sets that have not met in as many spikes as they can spare meet in this one: those
   of live patterns first. Sets `*live` to how many these are, and returns all. */
static uint32_t gather(search *s, uint32_t unit, uint32_t spike, uint32_t *live)
{
    spike_set *all = s->set + s->first[unit];
    size_t begin = spike > 0 ? s->place[spike - 1] : 0, end = s->place[spike];
    uint32_t met = 0;
    *live = 0;
    for (size_t i = begin; i < end; i++) {
        spike_set *set = &all[s->holder[i]];
        if (set->taken > set->spare)
            continue;
        set->taken++;
        if (s->live[set->rank]) {
            s->meeting[met++] = s->meeting[*live];
            s->meeting[(*live)++] = *set;
        } else {
            s->meeting[met++] = *set;
        }
    }
    return met;
}

/* Tells of a pair, if it is one of two patterns. */
static void tell(const search *s, const spike_set *a, const spike_set *b)
{
    if (a->rank > b->rank) {
        const spike_set *swap = a;
        a = b;
        b = swap;
    }
    if (a->rank < b->rank && (s->live[a->rank] || s->live[b->rank]))
        s->found(s->context, a->rank, b->rank, (int64_t)a->lag - (int64_t)b->lag);
}

static int32_t common_bits(const uint64_t *a, const uint64_t *b)
{
    uint32_t bits = 0;
    for (int word = 0; word < FOLD; word++)
        bits += syn_bits(a[word] & b[word]);
    return (int32_t)bits;
}

/* Compares the sets that meet in a spike. A bit that one fold has and the other has not
   is a spike, or more, that they have not in common. */
static syn_status compare_meeting(search *s, uint32_t unit, uint32_t met, uint32_t live)
{
    for (uint32_t i = 0; i < live; i++) {
        const spike_set *a = &s->meeting[i];
        for (uint32_t k = i + 1; k < met; k++) {
            const spike_set *b = &s->meeting[k];
            int32_t needed = a->needed > b->needed ? a->needed : b->needed;
            if (common_bits(a->fold, b->fold) >= needed)
                tell(s, a, b);
        }
        s->work += met - i;
        if (s->work >= POLL_EVERY) {
            s->work = 0;
            if (syn_poll(s->watch, "units", unit, s->raster->units) != SYN_OK)
                return SYN_INTERRUPTED;
        }
    }
    return SYN_OK;
}

static syn_status search_unit(search *s, uint32_t unit)
{
    size_t needed = 0;
    for (size_t e = s->first[unit]; e < s->first[unit + 1]; e++)
        needed += s->pattern[s->set[e].rank].occurrences;
    if (s->first[unit + 1] - s->first[unit] < 2)
        return SYN_OK;
    SYN_RENEW(s->budget, s->spike, s->spikes, needed);
    SYN_RENEW(s->budget, s->holder, s->holders, needed);
    /* Lists the spikes of each set of a unit, and counts in place[spike] how many sets
       hold each. */
    const syn_raster *r = s->raster;
    const uint32_t *bin = r->unit_bin + r->unit_first[unit];
    uint32_t fired = r->unit_first[unit + 1] - r->unit_first[unit];
    uint32_t *spike = s->spike;
    memset(s->place, 0, ((size_t)fired + 1) * sizeof *s->place);
    for (size_t e = s->first[unit]; e < s->first[unit + 1]; e++) {
        spike_set *set = &s->set[e];
        const syn_ranked_pattern *p = &s->pattern[set->rank];
        uint32_t at = 0;
        for (uint32_t i = 0; i < p->occurrences; i++) {
            at = syn_raster_seek(r, bin, at, fired, p->opens[i] + set->lag);
            *spike++ = at;
            s->place[at]++;
            set->fold[at / 64 % FOLD] |= (uint64_t)1 << at % 64;
        }
        set->needed = -(int32_t)set->spare;
        for (int word = 0; word < FOLD; word++)
            set->needed += (int32_t)syn_bits(set->fold[word]);
    }
    uint32_t held = order_spikes(s, unit);
    list_holders(s, unit);
    for (uint32_t i = 0; i < held; i++) {
        uint32_t live, met = gather(s, unit, s->rarest[i], &live);
        SYN_TRY(compare_meeting(s, unit, met, live));
    }
    return SYN_OK;
}

/* Calls `found` at least once for each two of the `n` patterns and each shift at which
   they share an item and `least` windows or more, and possibly for other pairs and
   shifts. Pairs of two patterns with live[rank] == 0 may be left out; `found` may set
   that to 0.

   An item of a pattern is a set of spikes of its unit, one for each window. Two patterns
   that occur together so often have items of one unit whose sets have as many spikes in
   common. Then they have one in common among those that the fewest sets hold: of c spikes
   the first c - least + 1. So only sets that meet in such a spike are looked at.

   SYN_OVER_BUDGET, SYN_NO_MEMORY, or SYN_INTERRUPTED by the watch. */
static syn_status find_overlaps(const syn_ranked_pattern *pattern, uint32_t n,
                                const syn_raster *raster, int64_t least,
                                const uint8_t *live, syn_overlap_found *found,
                                void *context, syn_budget *budget, const syn_watch *watch)
{
    search s = {.pattern = pattern, .raster = raster, .live = live, .found = found,
                .context = context, .budget = budget, .watch = watch};
    syn_status status = search_make(&s, n, least);
    for (uint32_t u = 0; u < raster->units && status == SYN_OK; u++) {
        s.work += POLL_EVERY / 16;
        status = search_unit(&s, u);
    }
    SYN_GIVE(s.budget, s.set, s.first, s.meeting, s.spike, s.holder, s.place, s.rarest,
             s.bucket);
    return status;
}

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
    return occurrences < o->min_count || is_listed(f, q->size, occurrences, q);
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
        status = find_overlaps(c.r.pattern, c.r.n, patterns->raster, options->min_count,
                               c.r.live, compare, &c, budget, watch);
    }
    for (uint32_t p = 0; p < c.r.n && status == SYN_OK; p++)
        keep[c.r.pattern[p].number] = c.r.live[p];
    syn_budget_free(budget, c.f.sorted);
    SYN_GIVE(budget, c.r.pattern, c.r.opens, c.r.item, c.r.little, c.r.live);
    return status;
}
