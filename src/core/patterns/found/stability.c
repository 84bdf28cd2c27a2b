/* Computes the stability of patterns. Subsets of a pattern's items (or windows) are
   drawn at random, or all are taken where there are few, and the share of those that
   hold in no other window (have no other item in common) is counted. Other windows and
   items are first reduced to their largest parts, the witnesses, so that one subset is
   checked quickly. */
#include "core/patterns/found/stability.h"

#include <string.h>

#include "core/base/masks.h"
#include "core/base/parallel.h"
#include "core/patterns/windows.h"
#include "core/base/random.h"

enum { LOOK_EVERY = 64 };  /* subsets between two looks at the clock */

/* ---- subsets that do not survive ---- */

/* A subset of `members` survives unless one of some sets, the witnesses, holds it. */
typedef struct witnesses {
    uint32_t members, words;
    uint32_t n;
    uint64_t *mask;       /* [n * words] */
    uint32_t *bits;       /* [n] members of each, */
    uint32_t *order;      /* [n] and which have the most */
    size_t mask_room, bits_room, order_room;
    syn_budget *budget;   /* what they are taken from */
} witnesses;

static void witnesses_start(witnesses *w, uint32_t members)
{
    w->members = members;
    w->words = (members + 63) / 64;
    w->n = 0;
}

/* One more witness, empty so far; NULL without memory. */
static uint64_t *witnesses_add(witnesses *w)
{
    if (!syn_budget_grow_at(w->budget, &w->mask, &w->mask_room,
                            ((size_t)w->n + 1) * w->words, sizeof *w->mask))
        return NULL;
    uint64_t *mask = w->mask + (size_t)w->n++ * w->words;
    memset(mask, 0, w->words * sizeof *mask);
    return mask;
}

static int holds(const uint64_t *set, const uint64_t *subset, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (subset[i] & ~set[i])
            return 0;
    return 1;
}

/* Takes back the newest witness if another holds it, else those that it holds. */
static void witnesses_tidy(witnesses *w)
{
    uint32_t words = w->words, last = w->n - 1, kept = 0;
    const uint64_t *newest = w->mask + (size_t)last * words;
    for (uint32_t i = 0; i < last; i++)
        if (holds(w->mask + (size_t)i * words, newest, words)) {
            w->n = last;
            return;
        }
    for (uint32_t i = 0; i <= last; i++) {
        const uint64_t *mask = w->mask + (size_t)i * words;
        if (i < last && holds(newest, mask, words))
            continue;
        memmove(w->mask + (size_t)kept++ * words, mask, words * sizeof *mask);
        if (i == last)
            break;
    }
    w->n = kept;
}

static int survives(const witnesses *w, const uint64_t *subset)
{
    uint32_t bits = syn_set_bits(subset, w->words);
    for (uint32_t i = 0; i < w->n && w->bits[w->order[i]] >= bits; i++)
        if (holds(w->mask + (size_t)w->order[i] * w->words, subset, w->words))
            return 0;
    return 1;
}

/* ---- one pattern after the other ---- */

typedef struct pattern {
    const uint32_t *unit, *lag, *bin;
    uint32_t size, windows;
} pattern;

typedef struct worker {
    int busy;             /* with an item that took too long */
    witnesses w;
    uint64_t *held;       /* [bins * words of the largest pattern] zero between uses */
    uint32_t *slot;       /* [items] number of a witness from 1; zero between uses */
    uint32_t *item;       /* [longest] of a window */
    uint64_t *subset;     /* [words of the most members] */
    syn_random random;
    uint64_t total, done, survived;
} worker;

typedef struct stability {
    const syn_raster *raster;
    const syn_stability_options *options;
    syn_bin_windows windows;
    syn_budget *budget;
    pattern *pattern;     /* [n] */
    uint32_t size, most;  /* of a pattern: the largest size, the most windows */
    worker *worker;       /* [threads] */
    int threads;
    double *share[2];     /* of items, of windows */
    int kinds, kind[2];   /* which of them are wanted */
    size_t items;         /* patterns times kinds */
    uint8_t *done;        /* [items] */
} stability;

/* Looks at each window that holds an item: marks the item in its held[] or, without
   `mark`, takes what it holds as a witness, unless that is all, and clears it. */
static syn_status each_window(const syn_raster *r, worker *w, const pattern *p,
                              uint32_t k, int mark)
{
    uint32_t words = w->w.words;
    for (uint32_t i = r->unit_first[p->unit[k]]; i < r->unit_first[p->unit[k] + 1]; i++) {
        uint32_t at = r->unit_bin[i];
        int64_t number = r->number[at] - p->lag[k];
        while (at > 0 && r->number[at] > number)
            at--;
        if (r->number[at] != number)
            continue;
        uint64_t *held = w->held + (size_t)at * words;
        if (mark) {
            held[k / 64] |= (uint64_t)1 << k % 64;
        } else {
            uint32_t bits = syn_set_bits(held, words);
            if (bits > 0 && bits < p->size) {
                uint64_t *mask = witnesses_add(&w->w);
                if (!mask)
                    return syn_budget_refusal(w->w.budget);
                memcpy(mask, held, words * sizeof *mask);
                witnesses_tidy(&w->w);
            }
            memset(held, 0, words * sizeof *held);
        }
    }
    return SYN_OK;
}

/* What other windows hold of the items. */
static syn_status witnesses_of_items(const stability *s, worker *w, const pattern *p)
{
    witnesses_start(&w->w, p->size);
    if (p->windows < s->raster->bins && !witnesses_add(&w->w))
        return syn_budget_refusal(s->budget);
    for (uint32_t k = 0; k < p->size; k++)
        each_window(s->raster, w, p, k, 1);
    for (uint32_t k = 0; k < p->size; k++)
        SYN_TRY(each_window(s->raster, w, p, k, 0));
    return SYN_OK;
}

/* Marks in a witness for each item but the pattern's own that it is in window `i`. */
static syn_status note_items(const stability *s, worker *w, const pattern *p, uint32_t i)
{
    uint32_t n = syn_bin_windows_read(&s->windows, p->bin[i], w->item);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t *slot = &w->slot[w->item[k]];
        if (*slot == UINT32_MAX)
            continue;
        if (*slot == 0) {
            if (!witnesses_add(&w->w))
                return syn_budget_refusal(s->budget);
            *slot = w->w.n;
        }
        w->w.mask[(size_t)(*slot - 1) * w->w.words + i / 64] |= (uint64_t)1 << i % 64;
    }
    return SYN_OK;
}

/* The windows that hold each other item. */
static syn_status witnesses_of_windows(const stability *s, worker *w, const pattern *p)
{
    syn_status status = SYN_OK;
    witnesses_start(&w->w, p->windows);
    if (p->size < s->windows.items && !witnesses_add(&w->w))
        return syn_budget_refusal(s->budget);
    for (uint32_t k = 0; k < p->size; k++)
        w->slot[p->lag[k] * s->raster->units + p->unit[k]] = UINT32_MAX;
    for (uint32_t i = 0; i < p->windows && status == SYN_OK; i++)
        status = note_items(s, w, p, i);
    for (uint32_t i = 0; i < p->windows; i++) {
        uint32_t n = syn_bin_windows_read(&s->windows, p->bin[i], w->item);
        for (uint32_t k = 0; k < n; k++)
            w->slot[w->item[k]] = 0;
    }
    return status;
}

static void draw(worker *w)
{
    uint32_t words = w->w.words;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t low = syn_random_bits(&w->random);
        w->subset[i] = low | (uint64_t)syn_random_bits(&w->random) << 32;
    }
    if (w->w.members % 64)
        w->subset[words - 1] &= ((uint64_t)1 << w->w.members % 64) - 1;
}

static syn_status look_at_subsets(void *context, size_t item, int number)
{
    const stability *s = context;
    worker *w = &s->worker[number];
    size_t of = item / (size_t)s->kinds;
    int kind = s->kind[item % (size_t)s->kinds];
    double begun = syn_seconds();
    if (s->done[item])
        return SYN_OK;
    if (!w->busy) {
        const pattern *p = &s->pattern[of];
        SYN_TRY((kind == 0 ? witnesses_of_items : witnesses_of_windows)(s, w, p));
        /* Puts those with the most members first. */
        SYN_RENEW(w->w.budget, w->w.bits, w->w.bits_room, w->w.n);
        SYN_RENEW(w->w.budget, w->w.order, w->w.order_room, w->w.n);
        uint32_t placed = 0, less = w->w.members + 1;
        for (uint32_t i = 0; i < w->w.n; i++)
            w->w.bits[i] = syn_set_bits(w->w.mask + (size_t)i * w->w.words, w->w.words);
        while (placed < w->w.n) {
            uint32_t most = 0;
            for (uint32_t i = 0; i < w->w.n; i++)
                if (w->w.bits[i] < less && w->w.bits[i] > most)
                    most = w->w.bits[i];
            for (uint32_t i = 0; i < w->w.n; i++)
                if (w->w.bits[i] == most)
                    w->w.order[placed++] = i;
            less = most;
        }
        syn_random_start(&w->random, s->options->key, 2 * (uint64_t)of + (uint64_t)kind);
        w->done = w->survived = 0;
        w->total = s->options->subsets;
        if (w->w.members < 64 && (uint64_t)1 << w->w.members <= w->total)
            w->total = (uint64_t)1 << w->w.members;
    }
    int all = w->w.members < 64 && w->total == (uint64_t)1 << w->w.members;
    w->busy = 1;
    for (; w->done < w->total; w->done++) {
        if (w->done % LOOK_EVERY == LOOK_EVERY - 1 &&
            syn_seconds() - begun > SYN_SLICE_SECONDS)
            break;
        if (all)
            w->subset[0] = w->done;
        else
            draw(w);
        w->survived += (uint64_t)survives(&w->w, w->subset);
    }
    if (w->done < w->total)
        return SYN_UNFINISHED;
    w->busy = 0;
    s->share[kind][of] = (double)w->survived / (double)w->total;
    s->done[item] = 1;
    return SYN_OK;
}

/* ---- all of them ---- */

static syn_status worker_make(const stability *s, worker *w)
{
    uint32_t members = s->size > s->most ? s->size : s->most;
    size_t words = ((size_t)s->size + 63) / 64;
    syn_budget *b = w->w.budget = s->budget;
    SYN_TAKE(b, w->subset, (size_t)members / 64 + 1);
    SYN_TAKE_ZEROS(b, w->held, s->raster->bins * words + 1);
    SYN_TAKE_ZEROS(b, w->slot, (size_t)s->windows.items + 1);
    SYN_TAKE(b, w->item, (size_t)s->windows.longest + 1);
    return SYN_OK;
}

/* Looks at all patterns that are not done. */
static syn_status look_at_patterns(stability *s, const syn_watch *watch)
{
    SYN_TAKE_ZEROS(s->budget, s->worker, (size_t)s->threads);
    syn_status status = SYN_OK;
    for (int i = 0; i < s->threads && status == SYN_OK; i++)
        status = worker_make(s, &s->worker[i]);
    SYN_NEXT(status, syn_parallel_for(s->items, s->threads, watch, "patterns",
                                      look_at_subsets, s));
    for (int i = 0; s->worker && i < s->threads; i++) {
        worker *w = &s->worker[i];
        SYN_GIVE(w->w.budget, w->w.mask, w->w.bits, w->w.order);
        SYN_GIVE(s->budget, w->held, w->slot, w->item, w->subset);
    }
    syn_budget_free(s->budget, s->worker);
    s->worker = NULL;
    return status;
}

static syn_status stability_make(stability *s, const syn_pattern_list *list,
                                 const syn_pattern_windows *windows)
{
    size_t items = 0, bins = 0;
    s->items = list->n * (size_t)s->kinds;
    SYN_TAKE(s->budget, s->pattern, list->n + 1);
    SYN_TAKE_ZEROS(s->budget, s->done, s->items + 1);
    for (size_t p = 0; p < list->n; p++) {
        s->pattern[p] = (pattern){.unit = list->unit + items, .lag = list->lag + items,
                                  .bin = windows->bin + bins, .size = list->size[p],
                                  .windows = windows->count[p]};
        items += list->size[p];
        bins += windows->count[p];
        s->size = list->size[p] > s->size ? list->size[p] : s->size;
        s->most = windows->count[p] > s->most ? windows->count[p] : s->most;
    }
    return syn_bin_windows_measure(&s->windows, s->raster, s->options->window, s->budget);
}

syn_status syn_pattern_stability(const syn_raster *raster, const syn_pattern_list *list,
                                 const syn_pattern_windows *windows,
                                 const syn_stability_options *options,
                                 syn_budget *budget, const syn_watch *watch,
                                 double *intensional, double *extensional)
{
    stability s = {.raster = raster, .options = options, .budget = budget,
                   .threads = options->threads, .share = {intensional, extensional}};
    for (int kind = 0; kind < 2; kind++)
        if (s.share[kind])
            s.kind[s.kinds++] = kind;
    syn_status made = stability_make(&s, list, windows);
    syn_status status = made == SYN_OK ? look_at_patterns(&s, watch) : made;
    /* What is too much for many threads at a time may do for fewer. */
    while (status == SYN_OVER_BUDGET && made == SYN_OK && s.threads > 1) {
        s.threads /= 2;
        status = look_at_patterns(&s, watch);
    }
    syn_bin_windows_free(&s.windows);
    SYN_GIVE(budget, s.pattern, s.done);
    return status;
}
